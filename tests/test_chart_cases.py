"""One graph read at several cases: rows of tables, bars and tornados; and what a page says where
there is no number.
"""

import re

import pandas as pd
import pytest
from chart_samples import case_of, model_in, parameter, svg_of, texts_of
from scaleright import charts
from scaleright.charts.displays import row_set
from scaleright.ops import item, where
from scaleright.outputs import ANSWER_MIME, TABLE_MIME
from scaleright.quantity import choose, given
from scaleright.ranges import Ends
from vega import signal_texts

NOW = {"price": 2.0, "load": 0.4, "chips": 8, "chip": "A"}
SPEEDS = {"A": {"speed": 10.0}, "B": {"speed": 20.0}, "C": "C is not sold."}
ROWS = pd.DataFrame({"chip": ["A", "B", "C"], "price": [1.0, 5.0, 2.0]})


@pytest.fixture
def case(live):
    return live.given


@pytest.fixture
def unit(case):
    """Price of a unit on a chip: none on C."""
    return case.price / choose(SPEEDS, case.chip).speed


def test_a_table_has_the_same_quantities_at_the_case_of_each_row(live, case, unit):
    cells = {"on": case.chip, "unit": unit / case.load, "left": where(unit > 0.2, "dear", "cheap")}
    shown = charts.table(
        ROWS.assign(**cells), "Units", {"unit": "usd"}, along=(case.chip, case.price)
    )
    lines = [line.split() for line in str(shown).split("\n")[2:]]
    assert lines == [["A", "$0.25", "cheap"], ["B", "$0.625", "dear"], ["C", "–", "cheap"]]
    data = shown.bundle[TABLE_MIME]["data"]
    assert [row["unit"] for row in data] == [0.25, 0.625, None]
    (rows,) = model_in(shown)["rows"]
    assert rows["values"] == row_set(live, "rows1")["values"]
    field = re.findall(r'data-sr-cell="rows1 1 (\w+)"', shown.markup)[1]
    (texts,) = signal_texts(
        [NOW | {"load": 0.5}],
        live.signals.expressions,
        [f"join(pluck(data('rows1'),'{field}'),' ')"],
        [rows],
    )
    assert texts == ["$0.20 $0.50 –"]


def test_a_table_spreads_cases_of_two_kinds_over_rows_and_columns(live, case, unit):
    at = pd.DataFrame({"at": ["half", "full"], "load": [0.5, 1.0]})
    every = ROWS.assign(on=ROWS["chip"]).merge(at, how="cross")[
        ["on", "chip", "price", "at", "load"]
    ]
    cells, along = every.assign(unit=unit / case.load), (case.chip, case.price, case.load)
    shown = charts.table(cells, "Units", {"unit": "usd"}, along=along, across="at")
    lines = [line.split() for line in str(shown).split("\n")[1:]]
    assert lines[:3] == [["on", "half", "full"], ["A", "$0.20", "$0.10"], ["B", "$0.50", "$0.25"]]
    assert shown.bundle[TABLE_MIME]["data"][1] == {"on": "B", "half": 0.5, "full": 0.25}
    places = re.findall(r'data-sr-cell="rows1 (\d) \w+">([^<]*)<', shown.markup)
    live = [field.get("live") for field in shown.bundle[TABLE_MIME]["schema"]["fields"]]
    assert [live[1]["places"], live[2]["places"]] == [[0, 2, 4], [1, 3, 5]]
    assert [said for _, said in sorted(places)] == ["$0.20", "$0.10", "$0.50", "$0.25", "–", "–"]


def test_lines_of_options_have_the_same_quantity_at_the_case_of_each_row(live, case, unit):
    rows = ROWS.merge(pd.DataFrame({"load": [0.1, 1.0]}), how="cross")
    along = case.chip, case.price, case.load
    lines = charts.lines(rows, "load", "chip", "usd", "load", "USD", unit / case.load, along=along)
    assert {"A", "B"} <= {*texts_of(lines)} and "NaN" not in svg_of(lines)
    assert "C" not in texts_of(lines)  # which has no number


def test_bars_say_of_each_option_what_it_costs_or_why_it_does_not(live, case, unit):
    label = where(unit > 0, charts.phrase("{unit:usd} each"), "not sold")
    bars = charts.bars(ROWS, "chip", unit, "usd", "USD", along=(case.chip, case.price), label=label)
    assert {"$0.10 each", "$0.25 each", "not sold"} <= {*texts_of(bars)}


def test_a_line_ends_where_there_is_no_number_and_stays_unseen_where_there_is_none(live, case):
    known = where(case.load < case.price / 10, case.chips * case.load, float("nan"))
    rows = pd.DataFrame({"load": [0.1, 0.3, 0.5]})

    line = charts.lines(rows, "load", {"bill": known}, "usd", "load", "USD", along=case.load)
    for price, unseen in ((4.0, False), (0.05, True)):
        shown = svg_of(line, price=price)
        assert "NaN" not in shown
        assert ('opacity="0"' in re.search(r"<text[^>]*>bill</text>", shown)[0]) == unseen


def test_a_tornado_moves_each_input_in_the_graph_of_the_result(live, case, unit):
    level = given("level", 1.0)  # no parameter of the page: moved here alone
    ends = {
        "price": Ends(case.price, case.price / 2, case.price * 2),
        "level": Ends(level, 0.5, 3.0),
        "chip": Ends(case.chip, "C", "B"),
    }
    tornado = charts.tornado(ends, unit, "number 2", "unit", result=unit * level)
    said = {*texts_of(tornado)}
    assert {"0.10 to 0.40", "0.10 to 0.60", "0.10 to 0.20, and none at an end"} <= said
    assert "0.20 to 1.2" in texts_of(tornado, price=4.0)
    assert "none" in texts_of(tornado, chip="C")


def test_a_sentence_has_another_where_it_does_not_hold(live, case, unit):
    shown = charts.sentence(
        "A unit costs {unit:usd}.", provided=unit > 0, otherwise="{case.chip} makes none."
    )
    assert str(shown) == "A unit costs $0.20."
    parts = re.findall(r'data-sr-when="(!?)\w+"( hidden)?', shown.markup)
    assert parts == [("", ""), ("!", " hidden")]
    assert "makes none" not in shown.bundle["text/html"], "no notebook hides it"
    card = charts.answer_card(
        "{unit:usd}", provided=unit > 99, otherwise="dear at {case.price:usd}"
    )
    machine = card.bundle[ANSWER_MIME]
    assert "dear at" in card.bundle["text/html"] and "$0.20" not in card.bundle["text/html"]
    assert machine["text"] == "dear at $2.00" and list(machine["quantities"]) == ["price"]
    beneath = {"range": "{unit:usd} to $1", "otherwise": "dear at {case.price:usd}"}
    dear = charts.answer_card("{unit:usd}", provided=unit > 99, **beneath)
    cheap = charts.answer_card("{unit:usd}", provided=unit > 0, **beneath)
    assert "Range" not in str(dear) and "Range: $0.20 to $1." in str(cheap)
    hidden = [
        re.findall(r'"sr-beneath" data-sr-when="\w+"( hidden)?>', of.markup) for of in (dear, cheap)
    ]
    assert hidden == [[" hidden"], [""]]


def test_what_stays_at_the_defaults_names_what_it_depends_on(live, case, unit):
    shown = charts.at_defaults(charts.sentence("As it was."), unit, case.price)
    assert 'data-sr-of="price chip"' in shown.markup
    assert "At the chapter's defaults." in shown.markup


def test_a_page_is_told_once_how_a_quantity_is_computed_and_keeps_each_way_to_say_it(live, case):
    bill = case.price * 1234.5
    first, second = charts.sentence("{bill:usd}"), charts.sentence("{bill:usd 6}")
    assert [entry["name"] for entry in model_in(first)["defined"]] == ["bill", "bill_text"]
    assert [entry["name"] for entry in model_in(second)["defined"]] == ["bill_as", "bill_as_text"]
    again = charts.sentence("{bill:usd}")
    assert model_in(again)["defined"] == [] and bill.value == 2469.0


def test_a_choice_brings_what_the_case_leaves_open():
    prices = {"A": {"usd": 2.0, "watts": 7}, "B": {"usd": 3.0, "watts": 9}}
    chip = parameter("chip", "B", choices=("A", "B"))
    price = parameter("price", None, low=0, high=9)
    case = case_of(chip, price)
    case.filled = lambda price: case_of(chip, parameter("price", price, low=0, high=9))
    found = charts.controls(case).follow("chip", prices, price="usd")
    assert found.case.price == 3.0 == found.given.price.value
    follow = {"A": {"price": 2.0}, "B": {"price": 3.0}}
    assert found.payload(["chip"], [])["follow"] == {"chip": follow}


def test_a_row_that_nothing_heads_is_not_shown(live):
    chips = {"A": {"sold": ["x", "y"]}, "B": {"sold": ["z", ""]}}
    rank, chip = given("rank", 0), given("chip", "B")
    rows = pd.DataFrame({"rank": range(2)}).assign(name=item(choose(chips, chip).sold, rank))
    shown = charts.table(rows, "Sold", along=rank)
    assert str(shown).splitlines() == ["Sold", "name", "z"]
    assert shown.bundle["text/html"].count("<tr hidden>") == 1
