"""Quantities: a number and how it was computed, read in Python, on arrays and by Vega."""

import gc
import math
import pickle

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from scaleright import catalog, ops
from scaleright.charts import say
from scaleright.charts.expressions import settled
from scaleright.costs.tokens import usd_per_million_tokens
from scaleright.inference.curves import Curve, curves
from scaleright.inference.deployment import Deployment
from scaleright.inference.engine_tables import curve_at, figures
from scaleright.inference.lengths import Load
from scaleright.inference.nodes import fastest
from scaleright.ops import where
from scaleright.quantity import (
    Quantity,
    at,
    choose,
    compiled,
    evaluate,
    given,
    least,
    look_up,
    over,
    readings,
)
from scaleright.quantity.graph import _NODES, in_order, parameter
from scaleright.quantity.readings import literal
from vega import signals

CHIPS = {
    "A": {"watts": 700, "usd": 3e4, "maker": "X", "pace": [1.0, 2.0, 4.0]},
    "B": {"watts": 300, "usd": 1e4 / 3, "maker": "Y", "pace": [8.0, 16.0, 32.0]},
    "C": "C is not sold.",
}


def test_equal_quantities_are_one_and_are_forgotten_with_their_last_use():
    gc.collect()  # those of other tests
    before = len(_NODES)
    price, load = given("price", 2.0), given("load", 0.5)
    assert price / load is price / load and price / load is not load / price
    assert 2 * price is not 2.0 * price is not given("price", 3.0) * 2.0
    bill = (price / load) * (price / load)
    assert [node.value for node in in_order([bill])] == [2.0, 0.5, 4.0, 16.0]
    del price, load, bill
    gc.collect()
    assert len(_NODES) == before


def test_a_quantity_decides_no_branch_and_is_no_list():
    price = given("price", 2.0)
    with pytest.raises(TypeError, match=r"where\(condition, this, that\)"):
        bool(price > 1)
    with pytest.raises(TypeError, match="not iterable"):
        list(price)


def test_numbers_behave_as_on_a_page():
    none = given("none", 0)
    assert (1 / none).value == math.inf and (-1 / none).value == -math.inf
    assert math.isnan((none / none).value) and math.isnan(ops.sqrt(none - 1).value)
    assert (given("chips", 2) ** -1).value == 0.5
    assert (given("pace", -7.0) % 5).value == 3.0


def test_a_formula_takes_quantities_and_says_which_is_outside_its_domain():
    price, pace, load = given("price", 2.0), given("pace", 100.0), given("load", 0.4)
    found = usd_per_million_tokens(price, pace, load)
    assert found.value == usd_per_million_tokens(2.0, 100.0, 0.4)
    with pytest.raises(ValueError, match=r"load|utilization"):
        usd_per_million_tokens(price, pace, given("load", 40.0))
    assert math.isnan(usd_per_million_tokens(price, pace * math.nan, load).value)


def test_a_row_follows_its_choice_and_a_hole_says_why():
    chip = choose(CHIPS, given("chip", "A"))
    assert (chip.usd.value, chip.maker.value, chip.there.value) == (3e4, "X", True)
    every = {"chip": np.array(["A", "B", "C"])}
    usd, watts, there, why = evaluate([chip.usd, 2 * chip.watts, chip.there, chip.why], every)
    assert usd[:2].tolist() == [3e4, 3333.333] and math.isnan(usd[2])
    assert watts[:2].tolist() == [1400.0, 600.0] and math.isnan(watts[2])
    assert there.tolist() == [True, True, False] and why.tolist() == ["", "", "C is not sold."]
    place = given("place", 2.0)
    assert evaluate([chip.pace[place]], {"chip": np.array(["A", "B"])})[0].tolist() == [4.0, 32.0]


def test_two_choices_pick_a_row_together():
    rent = choose(
        {("A", "spot"): {"usd": 1.0}, ("A", "year"): {"usd": 2.0}, ("B", "spot"): "Not offered."},
        given("chip", "A"),
        given("contract", "spot"),
    )
    assert evaluate([rent.usd], {"contract": "year"}) == [2.0]
    assert evaluate([rent.why], {"chip": "B"}) == ["Not offered."]


def test_a_page_finds_a_row_by_one_choice_after_the_other_where_that_is_shorter():
    chips, years = [f"a chip with a long name {at}" for at in range(9)], ["2024", "2025", "2026"]
    rows = {
        (c, y): {"usd": 9.5 + 3 * i + j} for i, c in enumerate(chips) for j, y in enumerate(years)
    }
    rows.pop((chips[4], "2025"))
    rent = choose(rows, given("chip", chips[0]), given("year", "2024"), otherwise="Not listed.")
    told = compiled({"usd": rent.usd, "missing": ops.where(rent.there, 0, 1)}).signals
    assert "".join(told.values()).count(chips[0]) == 1
    cases = [{"chip": chips[at], "year": year} for at, year in ((8, "2026"), (4, "2025"))]
    (first, second) = signals(cases, told, ["usd", "missing"])
    assert first == [35.5, 0.0] and math.isnan(second[0]) and second[1] == 1.0
    assert evaluate([rent.usd], cases[0]) == [35.5]


def test_a_page_has_the_same_rows_whether_a_process_found_or_unpickled_them():
    """Every NaN that is unpickled is another object, and equal to no other."""
    found = {
        name: {"usd": usd, "pace": [1.0, math.nan]}
        for name, usd in {"A": 2.0, "B": math.nan, "C": math.nan}.items()
    }
    chip = given("chip", "A")
    own, theirs = (
        [choose(rows, chip)[column] for column in ("usd", "pace")]
        for rows in (found, pickle.loads(pickle.dumps(found)))
    )
    assert all(one is other for one, other in zip(own, theirs, strict=True))


def test_lists_of_a_table_may_be_of_different_lengths():
    made = choose({"A": {"by": [1.0]}, "B": {"by": [2.0, 3.0]}}, given("chip", "A")).by
    (found,) = evaluate([made], {"chip": np.array(["A", "B"])})
    assert found[1].tolist() == [2.0, 3.0] and found[0, 0] == 1.0 and math.isnan(found[0, 1])


def test_a_choice_may_be_a_number_which_the_page_writes_as_python_does():
    rows = {10: {"tokens": 400.0}, 0.5: {"tokens": 900.0}}
    speed = given("speed", 10)
    tokens = choose(rows, speed).tokens
    assert tokens.value == 400.0
    assert evaluate([tokens], {"speed": np.array([10, 0.5])})[0].tolist() == [400.0, 900.0]
    told = compiled({"tokens": tokens}).signals
    assert signals([{"speed": 10}, {"speed": 0.5}], told, ["tokens"]) == [[400.0], [900.0]]


def test_a_table_may_lack_rows_if_it_is_told_what_to_say_then():
    year = given("year", "2025")
    table = {("A", "2025"): {"usd": 2.0, "new": True}, ("B", "2026"): {"usd": 3.0, "new": True}}
    rent = choose(table, given("chip", "A"), year, otherwise="Not listed.")
    usd, why = evaluate([rent.usd, rent.why], {"chip": np.array(["A", "B"])})
    assert usd[0] == 2.0 and math.isnan(usd[1]) and why.tolist() == ["", "Not listed."]
    with pytest.raises(LookupError, match=r"row of the table 'B\|2025'"):
        choose(table, "B", year)
    assert evaluate([rent.new], {"year": "2026"}) == [False]
    told = {"usd": rent.usd + 0.0, "there": ops.where(rent.why == "Not listed.", 1, 0)}
    cases = [{"chip": "A", "year": "2025"}, {"chip": "A", "year": "2026"}]
    (first, second) = signals(cases, compiled(told).signals, list(told))
    assert first == [2.0, 0.0] and math.isnan(second[0]) and second[1] == 1.0


@pytest.mark.parametrize(
    "wrong, says",
    [
        (lambda: choose(CHIPS, given("chip", "D")), "row of the table 'D'"),
        (lambda: choose(CHIPS, given("chip", "A")).wats, "watts"),
        (lambda: choose({"A": {"a": 1}, "B": {"b": 1}}, "A"), r"columns \['b'\] and \['a'\]"),
        (lambda: evaluate([given("price", 2.0) + 1], {"pric": 1.0}), "price"),
        (lambda: compiled({"x": given("price", 2.0) + 1}, along={"pric": "x"}), "price"),
    ],
)
def test_what_is_unknown_is_refused_with_the_nearest(wrong, says):
    with pytest.raises((LookupError, ValueError, AttributeError), match=says):
        wrong()


def test_the_least_is_the_first_of_equals_and_none_where_there_is_no_number():
    price, pace = given("price", 2.0), given("pace", 4.0)
    name, value = least({"b": price * 2, "a": pace, "c": math.nan * price})
    assert (name.value, value.value) == ("b", 4.0)
    words, values = evaluate([name, value], {"pace": np.array([4.0, 3.0]), "price": math.nan})
    assert words.tolist() == ["a", "a"] and values.tolist() == [4.0, 3.0]
    nothing, nan = least({"a": price * math.nan})
    assert nothing.value == "" and math.isnan(nan.value)
    told = {"first": ops.where(name == "b", 1, 0), "none": ops.where(nothing == "", 1, 0)}
    found = compiled(told).signals
    cases = [{"price": 2.0, "pace": 4.0}, {"price": 2.0, "pace": 3.0}]
    assert signals(cases, found, list(told)) == [[1.0, 1.0], [0.0, 1.0]]


# ---- on the page

PARAMETERS = {"x": 2.5, "y": 0.4, "z": 3.0, "flag": True, "chip": "A"}


OPERATIONS = (
    lambda a, b, c: a + b,
    lambda a, b, c: a - b,
    lambda a, b, c: a * b,
    lambda a, b, c: a / b,
    lambda a, b, c: ops.maximum(a, b),
    lambda a, b, c: ops.minimum(a, b),
    lambda a, b, c: least({"a": a, "b": b, "c": 1.0})[1],
    lambda a, b, c: ops.where(a < b, c, b),
    lambda a, b, c: ops.ceil(a) - ops.floor(a),
    lambda a, b, c: ops.log2(abs(a) + 1),
    lambda a, b, c: ops.cube_root(abs(a)),
    lambda a, b, c: ops.item([1.5, 2.5, 7.0], ops.minimum(ops.floor(abs(a)), 2.0)),
    lambda a, b, c: choose(CHIPS, given("chip", "A")).usd * a,
    lambda a, b, c: ops.where(given("flag", True) & (a > 1), a, -a),
)


@st.composite
def grown(draw: st.DrawFn) -> list[Quantity]:
    """Quantities of up to forty operations, each on any that there are before it."""
    found = [given(name, PARAMETERS[name]) for name in "xyz"]
    for operation in draw(st.lists(st.sampled_from(OPERATIONS), min_size=12, max_size=40)):
        places = st.integers(0, len(found) - 1)
        found.append(operation(*(found[draw(places)] for _ in range(3))))
    return found[3:]


CASES = [
    PARAMETERS,
    {"x": 0.1, "y": 7.0, "z": -3.0, "flag": False, "chip": "B"},
    {"x": 1e6, "y": 1e-3, "z": 0.0, "flag": True, "chip": "C"},
]


def same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9) or (math.isnan(a) and math.isnan(b))


@settings(max_examples=25)
@drawn(grown())
def test_floats_arrays_and_vega_agree(graphs):
    wanted = {f"wanted_{index}": graph + 0.0 for index, graph in enumerate(graphs)}
    known = {name for node in in_order(wanted.values()) if (name := parameter(node))}
    cases = [{name: case[name] for name in known} for case in CASES]
    alone = [evaluate(wanted.values(), case) for case in cases]
    together = evaluate(
        wanted.values(), {name: np.array([case[name] for case in cases]) for name in known}
    )
    found = compiled(wanted)
    assert not found.formulas
    for index, written in enumerate(signals(cases, found.signals, list(wanted))):
        for place, (name, text) in enumerate(zip(wanted, written, strict=True)):
            value = alone[index][place]
            assert same(np.broadcast_to(together[place], len(cases))[index], value), name
            assert same(text, value), (name, found.signals)


def test_what_is_used_twice_is_computed_once_and_columns_that_are_read_travel_once():
    chip, load = choose(CHIPS, given("chip", "A")), given("load", 0.4)
    both = chip.usd / load
    found = compiled({"first": both + chip.watts, "second": both * 2})
    assert list(found.signals.values()) == [
        "[30000,3333.333,0/0]",
        '({"A":0,"B":1,"C":2})',
        "q2[chip]",
        "(q1[q3] / load)",
        "[700,300,0/0]",
        "(q4 + q5[q3])",
        "(q4 * 2)",
    ]
    assert list(found.signals) == ["q1", "q2", "q3", "q4", "q5", "first", "second"]


def test_along_an_axis_only_what_depends_on_it_is_a_formula_of_the_rows():
    price, load = given("price", 2.0), given("load", 0.4)
    found = compiled({"cost": (price + 1) * (price + 1) / load}, along={"load": "x"})
    assert found.signals == {"q1": "(price + 1)"}
    assert found.formulas == {"cost": "((q1 * q1) / datum.x)"}


# ---- the deepest formula of the book

TENSOR = (2, 4, 8)
NAMES = ("H100 SXM", "H200", "B200")


@pytest.fixture(scope="module")
def engines() -> dict[str, list[Curve]]:
    """Curves of three engines on each of three chips."""
    model = catalog.model("Llama-3.1-70B")
    return {
        name: curves([Deployment(model, catalog.accelerator(name), tensor=t) for t in TENSOR])
        for name in NAMES
    }


def test_the_engine_of_a_pace_is_the_librarys_own_at_any_case(engines):
    case = {"chip": "H100 SXM", "pace": 30.0, "input_tokens": 2000, "output_tokens": 500}
    chip, pace, reads, writes = (given(name, value) for name, value in case.items())
    told = {
        name: {f"{key} {i}": of for i in range(3) for key, of in figures(engines[name][i]).items()}
        for name in NAMES
    }
    row = choose(told, chip)
    chosen = [curve_at(row, i) for i in range(3)]
    best = fastest(chosen, Load(reads, writes), 1 / pace)
    wanted = {"rate": best.tokens_per_s, "first_s": best.ttft_s, "kept": best.kept}
    found = compiled(wanted).signals
    assert len(found) < 600 and sum(map(len, found.values())) < 30_000
    others = [{}, {"chip": "B200", "pace": 110.0}, {"chip": "H200", "input_tokens": 90_000}]
    cases = [case | other for other in others]
    for now, written in zip(cases, signals(cases, found, list(wanted)), strict=True):
        known = fastest(
            engines[now["chip"]], Load(now["input_tokens"], now["output_tokens"]), 1 / now["pace"]
        )
        librarys = [known.tokens_per_s, known.ttft_s, known.kept]
        assert evaluate(wanted.values(), now) == librarys
        assert written == pytest.approx(librarys, rel=1e-9)


def test_a_quantity_at_another_case_follows_what_is_left():
    chips, price, mode = given("chips", 4.0), given("price", 2.0), given("mode", "all")
    share = look_up({"all": 1.0, "half": 0.5}, mode)
    bill = where(mode == "all", chips * price, chips * price * share + 1)
    half = at(bill, mode="half")
    assert half.value == evaluate([bill], {"mode": "half"})[0] == 5.0
    assert evaluate([half], {"price": 3.0}) == [7.0]
    assert compiled({"half": half}).signals == {"half": "(((chips * price) * 0.5) + 1)"}
    assert at(bill, chips=price).value == 4.0
    assert at(bill, mode="half", chips=2.0, price=1.0) == 2.0
    with pytest.raises(LookupError, match="mode"):
        at(bill, model="half")


@pytest.mark.parametrize("shapes", [((40_000,), (40_000,)), ((300, 1), (1, 300))])
def test_many_cases_give_in_parts_what_they_give_at_once(shapes, monkeypatch):
    price, load, other = given("price", 2.0), given("load", 0.5), given("other", 1.0)
    batch = given("batch", 1.0)
    each = over("batches", {batch: [1.0, 2.0, 5.0]}, {"usd": price / load / batch}, when=load > 0.3)
    wanted = [price / load, 2 * price, load + 1, other + 1, each["usd"], each["usd"][2]]
    wanted += [where(load > 0.5, "busy", "idle"), where(other > 1, other * 1, price), price * 0 + 1]
    case = {
        "price": np.linspace(1.0, 9.0, max(shapes[0])).reshape(shapes[0]),
        "load": np.linspace(0.1, 1.0, max(shapes[1])).reshape(shapes[1]),
        "other": 3.0,
    }
    parts = evaluate(wanted, case)
    monkeypatch.setattr(readings, "_AT_ONCE", 10**6)
    for found, whole in zip(parts, evaluate(wanted, case), strict=True):
        assert np.shape(found) == np.shape(whole)
        assert np.asarray(found).dtype == np.asarray(whole).dtype
        assert np.array_equal(found, whole, equal_nan=np.asarray(whole).dtype.kind == "f")


def test_a_large_constant_has_the_digits_that_the_page_is_given():
    """Every float beyond 1e15 is a whole number, and still means seven digits."""
    share = given("share", 0.5)
    work = share * 849119809123456789.0
    (told,) = signals(
        [{"share": 0.25}], {"work": settled(compiled({"work": work}).signals["work"])}, ["work"]
    )
    assert told == [evaluate([work], {"share": 0.25})[0]]
    assert (share * 123456789.0).value == 61728394.5


def test_no_number_is_written_so_that_the_interpreter_of_pages_reads_it():
    assert literal(math.nan) == "(0 / 0)"
    assert literal([math.nan, math.inf], short=True) == "[0/0,1/0]"


def test_a_notebook_shows_value_unit_and_formula(live):
    case = live.given
    bill = case.price * case.chips
    assert repr(case.price).startswith("2 USD per hour")
    assert repr(bill) == "16 = price * chips"
    say(bill, "usd")
    assert repr(bill) == "16 USD = price * chips"
    assert repr(where(bill > 10, "dear", "cheap")) == "dear"


def test_a_long_column_of_lists_is_packed_and_read_alike_on_the_page_and_here():
    from scaleright.quantity.packed import graded

    rows = {
        f"{n}": {"times": [graded(1e-4 * (n + 1) * 1.3**k) for k in range(40)]} for n in range(60)
    }
    chip, place = given("chip", "7"), given("place", 3.0)
    row = choose(rows | {"none": "no such"}, chip)
    found = row.times[place]
    told = compiled({"found": found}).signals
    assert "parseInt" in told["found"] and sum(map(len, told.values())) < 60 * 40 * 4
    cases = [
        {"chip": "0", "place": 39.0},
        {"chip": "59", "place": 0.0},
        {"chip": "none", "place": 1.0},
    ]
    for case, (page,) in zip(cases, signals(cases, told, ["found"]), strict=True):
        (here,) = evaluate([found], case)
        assert page == here or (math.isnan(page) and math.isnan(here))
    assert at(found, chip="7").value == pytest.approx(found.value, rel=1e-7)
    with pytest.raises(TypeError, match="packed"):
        _ = row.times + 1
