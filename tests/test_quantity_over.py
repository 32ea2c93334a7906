"""Candidates as rows: a page and Python take the best of the same ones."""

import numpy as np
import pytest
from chart_samples import case_of, parameter
from scaleright import charts
from scaleright.charts.displays import row_set
from scaleright.ops import item, where
from scaleright.quantity import at, derived, evaluate, given, over
from scaleright.quantity.lists import place_of_least
from vega import signal_texts


@pytest.fixture
def live():
    return charts.controls(case_of(parameter("load", 10.0, low=1.0, high=100.0)))


@pytest.fixture
def best(live):
    """The cheapest of four batches that a load fills, and what it costs."""
    batch = given("batch", 1.0)
    cost = where(batch <= live.given.load, 200 / batch + batch, float("nan"))
    each = over("batches", {batch: [1.0, 5.0, 20.0, 50.0]}, {"cost": cost, "batch": batch})
    place = place_of_least(each["cost"])
    return {"usd": item(each["cost"], place), "batch": item(each["batch"], place)}


def test_the_best_of_rows_follows_the_case(best):
    assert (best["batch"].value, best["usd"].value) == (5.0, 45.0)
    loads = np.array([1.0, 30.0, 0.5])
    batches, usd = evaluate([best["batch"], best["usd"]], {"load": loads})
    assert batches.tolist()[:2] == [1.0, 20.0] and usd.tolist()[:2] == [201.0, 30.0]
    assert np.isnan(usd[2])


def test_a_page_finds_the_same(live, best):
    names = [live.signal(best[name], name) for name in ("batch", "usd")]
    sets = [row_set(live, name) for name in live.signals.rows]
    cases = [{"load": load} for load in (1.0, 10.0, 30.0, 99.0)]
    there = signal_texts(cases, live.signals.expressions, names, sets)
    here = [evaluate(best.values(), case) for case in cases]
    assert [[float(x) for x in row] for row in there] == [[b, u] for u, b in here]


def test_rows_are_told_once_and_a_chart_alone_has_their_values(live, best):
    usd = best["usd"]
    said = charts.sentence("It costs {usd:usd}.")
    bars = charts.bars({"best": usd, "twice": 2 * usd}, "what", "usd", "usd", "USD")
    shown = charts.show(bars, alt="The best and twice as much.")
    assert said.markup.count('"rows":[{"name":"batches"') == 1
    spec = next(value for kind, value in shown.bundle.items() if "vegalite" in kind)
    lists = [of for of in spec["params"] if isinstance(of.get("value"), list)]
    assert lists and not any("data(" in of.get("expr", "") for of in spec["params"])
    assert "rows" not in spec["usermeta"]["scaleright"]


def test_rows_are_of_the_page_alone(live, best):
    with pytest.raises(ValueError, match="batches"):
        at(best["usd"], load=3.0)
    load = live.given.load
    with pytest.raises(ValueError, match="no rows of another chart can give load"):
        charts.lines({"x": [1, 2]}, "x", {"usd": best["usd"]}, "usd", "x", "y", along=load)


def test_rows_of_another_case_share_no_list_with_these():
    """Two cases of a page in one process: what is the same in both stands in rows of its own."""
    batch, load = given("batch", 1.0), given("load", 10.0)
    rows = {batch: [1.0, 2.0]}
    one = over("rows", rows, {"same": 2 * batch, "cost": load / batch})
    other = over("rows", rows, {"same": 2 * batch, "cost": given("load", 20.0) / batch})
    for made in (one, other):
        assert len({id(listed.operation.rows) for listed in made.values()}) == 1
    assert one["same"].operation.rows is not other["same"].operation.rows


def test_what_is_derived_of_a_row_is_that_of_each_row_and_nobody_elses():
    chip, rent = given("chip", 1.0), given("rent", 2.0)
    load = derived("load", chip / 10)
    bill = over("chips", {chip: [1.0, 2.0, 5.0]}, {"bill": rent / load})["bill"]
    assert bill.value.tolist() == pytest.approx([20.0, 10.0, 4.0])
    assert evaluate([bill[1]], {"rent": 4.0}) == [20.0]
    assert bill.inputs == (rent,)
