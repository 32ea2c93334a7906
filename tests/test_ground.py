"""Units, element-wise operations, ranges and the registry of formulas."""

import math

import altair as alt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright import ops, ranges, units
from scaleright.formulas import POSITIVE, closed_form

finite = st.floats(-1e9, 1e9)


@given(a=finite, b=finite)
def test_operations_agree_on_floats_and_arrays(a, b):
    for name in ("maximum", "minimum"):
        operation = getattr(ops, name)
        assert operation(np.array([a]), b)[0] == operation(a, b)
    assert ops.where(np.array([a > b]), a, b)[0] == ops.where(a > b, a, b)
    assert ops.ceil(np.array([a]))[0] == ops.ceil(a) and ops.floor(np.array([a]))[0] == ops.floor(a)


def test_a_row_of_a_chart_may_be_told_apart():
    x = alt.datum.x
    assert str(ops.where(x > 1, float("inf"), np.float64(2.5))) == "if((datum.x > 1),(1 / 0),2.5)"
    assert str(ops.where(True, x, 0)) == "datum.x"


@given(value=st.floats(1e-6, 1e12), digits=st.integers(2, 5))
def test_significant_digits_are_kept(value, digits):
    assert float(units.significant(value, digits).replace(",", "")) == pytest.approx(
        value, rel=0.5 * 10 ** (1 - digits) * 1.01
    )


def test_units_say_what_a_person_would():
    assert units.usd(0) == "$0"
    assert units.usd(0.004) == "$0.004"
    assert units.usd(999_999) == "$1.00 million"
    assert units.si(999.6, "W") == "1.00 kW"
    assert units.duration(59) == "59.0 s"
    assert units.duration(0) == "0 s"
    assert [units.usd(v) for v in (0.495, 0.5, 0.35, 0.05, 0.0123, 0.09996, 0.9996, -0.25)] == [
        "$0.495",
        "$0.50",
        "$0.35",
        "$0.05",
        "$0.0123",
        "$0.10",
        "$1.00",
        "−$0.25",
    ]
    assert units.duration(4.2e-8) == "42.0 ns" and units.duration(3e-6) == "3.00 µs"


@given(best=st.floats(1, 100), below=st.floats(0, 1), above=st.floats(0, 50))
def test_draws_stay_in_their_range(best, below, above):
    inputs = ranges.Range(best - below, best, best + above)
    drawn = ranges.draws(500, x=inputs)["x"]
    assert inputs.low <= drawn.min() and drawn.max() <= inputs.high


def test_draws_of_an_input_do_not_depend_on_the_others():
    one, two = ranges.Range(1, 2, 3), ranges.Range(5, 6, 9)
    assert (ranges.draws(50, a=one)["a"] == ranges.draws(50, b=two, a=one)["a"]).all()
    assert (ranges.draws(50, a=one)["a"] != ranges.draws(50, b=one)["b"]).any()


def test_the_mean_of_the_draws_is_that_of_the_pert_distribution():
    drawn = ranges.draws(200_000, price=ranges.Range(1.0, 2.0, 6.0))["price"]
    assert drawn.mean() == pytest.approx((1 + 4 * 2 + 6) / 6, rel=5e-3)


def test_ends_of_the_interval_are_those_of_drawn_inputs():
    generator = np.random.default_rng(3)
    drawn = {
        name: np.exp(generator.normal(0, spread / 1.645, 200_000))
        for name, spread in (("a", 0.3), ("b", 0.5))
    }
    ends = {
        name: (float(np.exp(-spread)), 1.0, float(np.exp(spread)))
        for name, spread in (("a", 0.3), ("b", 0.5))
    }
    assert ranges.interval(lambda a, b: a * b, **ends) == pytest.approx(
        np.quantile(drawn["a"] * drawn["b"], [0.05, 0.95]), rel=0.02
    )


def test_percentiles_are_in_order():
    inputs = {"a": ranges.Range(1, 2, 3), "b": ranges.Range(10, 20, 40)}
    found = ranges.monte_carlo(lambda a, b: a * b, **inputs)
    assert found.p5 < found.p50 < found.p95


@pytest.mark.parametrize("ends", [(3, 2, 4), (1, math.nan, 4), (1, 2, math.inf)])
def test_a_range_that_is_none_is_refused(ends):
    with pytest.raises(ValueError, match="low <= best <= high"):
        ranges.Range(*ends)


def test_a_formula_declares_a_domain_for_every_argument():
    with pytest.raises(TypeError, match="domains given for"):
        closed_form(a=POSITIVE)(lambda a, b: a)


def test_an_infinite_number_is_said_by_its_sign():
    assert (units.significant(float("inf")), units.significant(-float("inf"))) == ("∞", "−∞")
