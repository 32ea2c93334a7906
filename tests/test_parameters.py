"""Parameter lines: one declaration, checked before any work, and wrong values answered with what
was meant.
"""

import shutil
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright import charts
from scaleright.outputs import TABLE_MIME
from scaleright.parameters import Case, DeclarationError, ParameterError, parse, validate
from scaleright.press import Book, PressError
from scaleright.press.execute import load
from scaleright.press.texts import declared

SOURCE = """
# The reader's case.
usd_per_hour: float = 2.40   # rent of one accelerator [USD/h] (0.05..15)
utilization: float = 0.40    # share of paid hours at work [1] (0.01..1)
tokens: int = 1_000          # tokens of a request (1..1e9)
plan: str = "own"            # what to do (own | rent | hybrid)
chips: int = 8               # chips of a node (1 | 2 | 4 | 8)
spot: bool = False           # whether the hardware may vanish
day: str = "2026-09-29"      # day of the prices (date 2022-09-01..today)
resale: float | None = None  # price at the end (see Why), if known [USD] (0..1e6)
"""
PARAMETERS = parse(SOURCE)


def refusal(**given) -> str:
    with pytest.raises(ParameterError) as caught:
        validate(PARAMETERS, given)
    return str(caught.value)


def test_a_line_says_everything_about_its_parameter():
    price, *_, resale = PARAMETERS
    assert (price.name, price.type, price.default, price.unit, price.low, price.high) == (
        "usd_per_hour",
        "float",
        2.4,
        "USD/h",
        0.05,
        15.0,
    )
    assert price.meaning == "rent of one accelerator"
    assert resale.optional
    assert resale.default is None
    assert resale.meaning == "price at the end (see Why), if known"


def test_text_from_the_command_line_becomes_typed_values():
    given = {
        "usd_per_hour": "3",
        "tokens": "1e6",
        "spot": "yes",
        "chips": "4",
        "resale": "none",
        "plan": "rent",
        "day": date(2023, 4, 7),
    }
    expected = {
        "usd_per_hour": 3.0,
        "tokens": 1_000_000,
        "spot": True,
        "chips": 4,
        "resale": None,
        "plan": "rent",
        "day": "2023-04-07",
    }
    values = validate(PARAMETERS, given)
    assert values == expected
    assert [type(v) for v in values.values()] == [float, int, bool, int, type(None), str, str]


@pytest.mark.parametrize(
    "given, says",
    [
        ({"utilisation": 0.5}, ["utilisation: no such parameter", "nearest: utilization"]),
        ({"tokens": "many"}, ["tokens = 'many'", "a whole number", "1 to 1,000,000,000"]),
        ({"tokens": 1.5}, ["tokens = 1.5", "a whole number"]),
        ({"usd_per_hour": True}, ["usd_per_hour = True", "a finite number"]),
        ({"usd_per_hour": "nan"}, ["finite number"]),
        ({"usd_per_hour": float("inf")}, ["finite number"]),
        ({"usd_per_hour": 0}, ["usd_per_hour = 0", "outside 0.05 to 15 USD/h"]),
        ({"plan": "rnt"}, ["plan = 'rnt'", "nearest: rent"]),
        ({"chips": 3}, ["chips = 3", "1, 2, 4, 8"]),
        ({"spot": "perhaps"}, ["true or false"]),
        ({"plan": None}, ["plan = None", "needs a value"]),
        ({"utilization": 40}, ["did you mean 0.4 (40 %)?"]),
        ({"usd_per_hour": 24}, ["looks like the price of an 8-GPU node: per GPU 3.00"]),
        ({"usd_per_hour": 240}, ["outside 0.05 to 15 USD/h"]),
        ({"usd_per_hour": -2}, ["usd_per_hour = -2: outside 0.05 to 15 USD/h"]),
        (
            {"usd_per_hour": "2.5 EUR"},
            ["usd_per_hour = '2.5 EUR'", "allowed: 0.05 to 15", "prices are in US dollars (USD)"],
        ),
        ({"usd_per_hour": "€2"}, ["prices are in US dollars (USD)"]),
        ({"usd_per_hour": "2.5 USD/h"}, ["write the plain number in USD/h: 2.5"]),
        ({"usd_per_hour": "2,40"}, ["write the plain number in USD/h: 2.4"]),
        ({"tokens": "1000 tokens"}, ["write the plain number: 1000"]),
        ({"tokens": "2k"}, ["tokens = '2k': needs a whole number", "write the plain number: 2000"]),
        ({"tokens": "5 million tokens"}, ["write the plain number: 5000000"]),
        ({"tokens": "1 000"}, ["write the plain number: 1000"]),
        ({"tokens": "1_000"}, ["write the plain number: 1000"]),
        ({"usd_per_hour": "3 dollars an hour"}, ["usd_per_hour = '3 dollars an hour': needs"]),
        ({"tokens": "$1000"}, ["tokens = '$1000': needs a whole number"]),
        ({"utilization": "40"}, ["did you mean 0.4 (40 %)?"]),
        (
            {"usd_per_hour": "cheap"},
            ["usd_per_hour = 'cheap': needs a finite number; allowed: 0.05 to 15"],
        ),
        (
            {"day": "2126-01-01"},
            ["day = '2126-01-01': lies in the future", "allowed: a day from 2022-09-01 to today"],
        ),
        ({"day": "29.09.2026"}, ["needs a date written YYYY-MM-DD", "2022-09-01 to today"]),
        ({"day": "2026-13-01"}, ["needs a date written YYYY-MM-DD"]),
        ({"day": "2021-01-01"}, ["day = '2021-01-01': outside 2022-09-01 to today"]),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_allowed(given, says):
    message = refusal(**given)
    assert all(part in message for part in says), message


@pytest.mark.parametrize(
    "given",
    [
        {"tokens": "0x10"},
        {"tokens": "1e999"},
        {"tokens": "1.2.3"},
        {"tokens": "1,5"},
        {"tokens": "0b11 tokens"},
        {"tokens": "9" * 400},
        {"utilization": "400%"},
        {"utilization": "200 %"},
        {"usd_per_hour": "3 USD/year"},
        {"usd_per_hour": "3 cents"},
        {"usd_per_hour": "1e-400"},
        {"usd_per_hour": "900 USD/h"},
        {"usd_per_hour": "\u0663"},
        {"usd_per_hour": "\uff15"},
    ],
)
def test_what_was_meant_is_offered_only_where_it_is_sure(given):
    message = refusal(**given)
    assert "write the plain" not in message and "did you mean" not in message, message


def test_what_the_pages_own_fields_write_is_accepted():
    given = {
        "usd_per_hour": "$2.50",
        "tokens": "1,000,000",
        "utilization": "40 %",
        "resale": "$ 1,200.5",
    }
    (change,) = parse("change: float = 0.1  # change of prices [1] (-0.6..0.6)")
    assert (
        validate([change], {"change": "−15 %"})
        == validate([change], {"change": "-15 %"})
        == {"change": -0.15}
    )
    assert validate(PARAMETERS, given) == {
        "usd_per_hour": 2.5,
        "tokens": 1_000_000,
        "utilization": 0.4,
        "resale": 1200.5,
    }


def test_all_wrong_values_are_reported_together():
    assert len(refusal(utilization=40, plan="rnt", hours=1).splitlines()) == 3


def test_a_name_of_the_catalog_may_be_an_alias_and_a_wrong_one_gets_the_nearest():
    (chip,) = parse('chip: str = "h100"  # what computes (accelerators)')
    assert chip.catalog == "accelerators" and "H100 SXM" in chip.choices
    assert validate([chip], {"chip": "h100"}) == {"chip": "H100 SXM"}
    with pytest.raises(
        ParameterError, match=r"(?i)chip = 'H1000': unknown accelerator; nearest: .*H100"
    ):
        validate([chip], {"chip": "H1000"})


@given(st.floats(0.01, 1.0))
def test_values_within_bounds_pass_unchanged(share):
    assert validate(PARAMETERS, {"utilization": share}) == {"utilization": share}
    assert validate(PARAMETERS, {"utilization": repr(share)}) == {"utilization": share}


@pytest.mark.parametrize(
    "line, says",
    [
        ("price = 2.0", "expected name: float|int|str|bool"),
        ("price: float = 2.0  # price [USD]", "(low..high)"),
        ("price: float = 2.0  # price (0..3)", "[unit]"),
        ("price: float = 9.0  # price [USD] (0..3)", "price = 9: outside 0 to 3 USD"),
        ("price: float = 2.0  # price [USD] (3..0)", "finite bounds low..high"),
        ("price: float = cost()  # price [USD] (0..3)", "no plain value"),
        # papermill's inspection would not see it
        ("price: float = 2.0  # price, a=b [USD] (0..3)", "expected name"),
        ("plan: str = 'a'  # plan (b | c)", "plan = 'a'"),
        ("day: str = '2026-09-29'  # day (date 2022-09-01..tomorrow)", "(date first..last)"),
        ("day: str = '2021-09-29'  # day (date 2022-09-01..today)", "outside 2022-09-01 to today"),
        ("table: int = 1  # count (0..3)", "taken"),
        ("a: int = 1  # one (0..3)\na: int = 2  # two (0..3)", "line 2"),
        ("# nothing", "declares nothing"),
    ],
)
def test_a_malformed_line_is_named_with_what_is_expected(line, says):
    with pytest.raises(DeclarationError) as caught:
        parse(line, "tiny, parameters cell")
    assert str(caught.value).startswith("tiny, parameters cell") and says in str(caught.value)


def test_a_case_hands_out_values_and_shows_them():
    case = Case(PARAMETERS, validate(PARAMETERS, {p.name: p.default for p in PARAMETERS}))
    assert case.usd_per_hour == 2.4 and case["usd_per_hour"].high == 15
    assert list(case.table().columns) == ["parameter", "value", "unit", "allowed", "meaning"]
    assert "<caption>Your case</caption>" in case._repr_html_()
    assert "usd_per_hour = 2.4 USD/h" in repr(case)
    carried = charts.parameters_table(case).bundle[TABLE_MIME]["data"]
    assert {row["parameter"]: row["value"] for row in carried} == case.values, (
        "as numbers, for machines"
    )
    with pytest.raises(AttributeError, match="nearest: usd_per_hour"):
        case.usd_per_hours


def test_a_case_outside_a_notebook_says_so():
    from scaleright.parameters import case

    with pytest.raises(RuntimeError, match="inside a notebook"):
        case()


def test_papermills_own_inspection_reads_the_same_lines(book, tmp_path):
    """So that `papermill --help-notebook` tells the reader the same; its pattern has no `|
    None`.
    """
    import papermill

    for place in (book, Book(Path(__file__).resolve().parents[1])):
        for chapter in place.chapters():
            seen = papermill.inspect_notebook(load(place.text(chapter)))
            plain = [p for p in declared(chapter, place) if not p.optional]
            assert [(p.name, p.type) for p in plain] == [
                (s["name"], s["inferred_type_name"]) for s in seen.values()
            ]
            # papermill reads one line; a declaration may go on below it
        told = {p.name: seen[p.name]["help"] for p in plain}
        assert all(p.meaning in told[p.name] or p.meaning.startswith(told[p.name]) for p in plain)


def test_a_chapter_without_a_parameters_cell_is_named(book):
    shutil.copy(book.text("tiny"), book.text("bare"))
    book.text("bare").write_text(book.text("bare").read_text().replace(":tags: [parameters]\n", ""))
    with pytest.raises(PressError, match="bare: no cell is tagged parameters"):
        declared("bare", book)
    with pytest.raises(PressError, match="unknown chapter 'tin'; nearest: tiny"):
        declared("tin", book)


def test_a_comment_below_a_declaration_continues_it():
    short, long = parse(
        "# of the chapter\n"
        "hours: float = 8  # use [h/day] (0..24)\n"
        "model: str = 'b'  # the model that we serve\n"
        "#     (a | b |\n"
        "#     c)\n"
    )
    assert (short.meaning, short.high) == ("use", 24)
    assert (long.meaning, long.choices) == ("the model that we serve", ("a", "b", "c"))
