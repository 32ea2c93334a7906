"""Routing between tiers of models: the closed forms against counting, and what must be true of
every way.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright.decisions import routing
from scaleright.decisions.routing import Check, Tier, Traffic, alone, cascade, routed

shares = st.floats(0.02, 0.98)
prices = st.floats(1e-5, 10.0)
rising = st.lists(shares, min_size=3, max_size=3).map(sorted)
CHECK = Check(0.8, 0.2, 0.1, 0.3)
TIERS = {0: Tier(1.0, 1.0), 1: Tier(4.0, 2.0), 2: Tier(20.0, 5.0)}


def traffic_of(levels: list[list[float]], nested: float = 0.3) -> Traffic:
    """Three tiers at some levels of difficulty, all as frequent."""
    return Traffic([1 / len(levels)] * len(levels), [*zip(*levels, strict=True)], nested)


@given(small=shares, large=shares, nested=st.floats(0.0, 1.0))
def test_only_one_of_two_is_right_as_often_as_rates_differ(small, large, nested):
    of = small, large, nested
    assert routing.gained_share(*of) - routing.lost_share(*of) == pytest.approx(large - small)


@given(small=shares, large=shares, nested=st.floats(0.0, 1.0))
def test_the_nested_share_is_found_again_from_its_own_count(small, large, nested):
    small, large = sorted((small, large))
    lost = routing.lost_share(small, large, nested)
    assert routing.nested_share(small, large, lost) == pytest.approx(nested, abs=1e-9)


@given(false_alarm=shares, odds=st.floats(1.01, 100.0))
def test_a_threshold_moves_both_rates_and_not_the_odds(false_alarm, odds):
    caught = routing.caught_at(false_alarm, odds)
    assert routing.check_odds(caught, false_alarm) == pytest.approx(odds, rel=1e-6)
    assert caught >= false_alarm


@given(levels=st.lists(rising, min_size=1, max_size=3), nested=st.floats(0.0, 1.0))
def test_two_tiers_in_closed_form_are_the_cascade(levels, nested):
    traffic = traffic_of(levels, nested)
    way = cascade(traffic, {0: TIERS[0], 2: TIERS[2]}, CHECK)
    flags = CHECK.caught, CHECK.false_alarm
    usd = TIERS[0].usd, CHECK.usd, *[TIERS[2].usd] * 2
    saved = routing.saved_usd(traffic.right(0), *flags, *usd)
    lost = routing.quality_lost(*traffic.pair(0, 2), *flags)
    assert way.usd == pytest.approx(TIERS[2].usd - saved)
    assert way.right == pytest.approx(traffic.right(2) - lost)


@given(levels=st.lists(rising, min_size=1, max_size=3))
def test_shares_of_a_way_add_up_and_its_right_ones_are_a_share(levels):
    traffic = traffic_of(levels)
    for make in (cascade, routed):
        way = make(traffic, TIERS, CHECK)
        assert sum(way.shares) == pytest.approx(1.0)
        assert -1e-9 <= way.right <= 1 + 1e-9


@given(levels=st.lists(rising, min_size=1, max_size=3))
def test_a_perfect_check_on_nested_failures_is_as_right_as_the_largest_tier(levels):
    way = cascade(traffic_of(levels, 1.0), TIERS, Check(1.0, 0.0, 0.0, 0.0))
    assert way.right == pytest.approx(traffic_of(levels).right(2))


@given(levels=st.lists(rising, min_size=1, max_size=2))
def test_at_once_is_dearer_and_no_slower_and_as_right(levels):
    one, other = (cascade(traffic_of(levels), TIERS, CHECK, at_once) for at_once in (False, True))
    assert other.usd >= one.usd
    assert other.seconds <= one.seconds + 1e-12
    assert other.late_s <= one.late_s
    assert other.right == pytest.approx(one.right)


@given(gained=shares, small=shares, odds=st.floats(1.1, 50), large=prices, error=prices)
def test_no_other_threshold_costs_less(gained, small, odds, large, error):
    gained, lost = gained * (1 - small), 0.2 * small

    def total(alarm):
        caught = routing.caught_at(alarm, odds)
        lost_right = routing.quality_lost(gained, lost, caught, alarm)
        return error * lost_right - routing.saved_usd(small, caught, alarm, 0.0, 0.0, large, large)

    best = routing.best_false_alarm(odds, small, gained, lost, large, error)
    every = [total(alarm) for alarm in np.linspace(0.0, 1.0, 201)]
    assert total(best) <= min(every) + 1e-9 * (large + error)


@given(gained=shares, small=shares, error_part=st.floats(0.0, 3.0))
def test_the_cascade_wins_below_the_error_that_pays(gained, small, error_part):
    of = (small, 0.8, 0.2, 0.1, 0.05, 2.0, 2.0)
    lost = 0.1
    even = routing.error_usd_that_pays(gained, lost, *of)
    if not 0 < even < math.inf:
        return
    error = error_part * even
    worse = routing.quality_lost(gained, lost, 0.8, 0.2)
    cheaper = routing.saved_usd(*of) - error * worse > 0
    assert cheaper == (error_part < 1) or error_part == pytest.approx(1.0)


def test_a_way_agrees_with_drawing_a_million_requests():
    levels, nested = [[0.7, 0.8, 0.9], [0.3, 0.5, 0.8]], 0.4
    way = cascade(traffic_of(levels, nested), TIERS, CHECK)
    draw, count = np.random.default_rng(1), 1_000_000
    rates = np.array(levels)[draw.integers(2, size=count)]
    shared = draw.random(count)[:, None] < rates
    right = np.where(draw.random(count)[:, None] < nested, shared, draw.random((count, 3)) < rates)
    flagged = draw.random((count, 3)) < np.where(right, CHECK.false_alarm, CHECK.caught)
    end = np.where(~flagged[:, 0], 0, np.where(~flagged[:, 1], 1, 2))
    assert right[np.arange(count), end].mean() == pytest.approx(way.right, abs=2e-3)
    spent = np.array([1.1, 5.2, 25.2])[end]
    assert spent.mean() == pytest.approx(way.usd, rel=5e-3)
    taken = np.array([1.3, 3.6, 8.6])[end]
    assert taken.mean() == pytest.approx(way.seconds, rel=5e-3)
    assert way.late_s == np.quantile(taken, 0.95)


def test_a_router_that_guesses_mixes_tiers_and_a_sure_one_needs_no_large_answer_in_vain():
    traffic = traffic_of([[0.5, 0.6, 0.8]], 1.0)
    pair = {0: TIERS[0], 2: TIERS[2]}
    guess = routed(traffic, pair, Check(0.5, 0.5, 0.0, 0.0))
    assert guess.right == pytest.approx((traffic.right(0) + traffic.right(2)) / 2)
    sure = routed(traffic, pair, Check(1.0, 0.0, 0.0, 0.0))
    assert sure.right == pytest.approx(traffic.right(2))
    assert sure.usd == pytest.approx(0.5 * TIERS[0].usd + 0.5 * TIERS[2].usd)


def test_one_tier_is_what_it_is():
    way = alone(traffic_of([[0.5, 0.6, 0.8]]), 1, TIERS[1])
    assert (way.usd, way.right, way.seconds, way.late_s) == (4.0, 0.6, 2.0, 2.0)
    assert way.total_usd(10.0) == pytest.approx(8.0)


@pytest.mark.parametrize(
    "formula, values, said",
    [
        ("saved_usd", (0.5, 0.8, 0.2, 1.0, 0.0, 0.0, 1.0), "large_usd = 0 is outside its domain"),
        ("best_false_alarm", (0.5, 0.6, 0.2, 0.0, 1.0, 1.0), "odds = 0.5 is outside its domain"),
        ("lost_share", (60.0, 0.8, 0.0), "did you mean 0.6"),
    ],
)
def test_a_bad_value_is_refused(formula, values, said):
    with pytest.raises(ValueError, match=said):
        getattr(routing, formula)(*values)


def test_errors_that_cost_nothing_never_pay_for_the_large_model_where_it_is_dearer():
    flags = itertools.product((0.5, 0.9), (0.05, 0.3))
    for caught, false_alarm in flags:
        assert (
            routing.best_false_alarm(
                routing.check_odds(caught, false_alarm), 0.6, 0.3, 0.0, 1.0, 0.0
            )
            == 0.0
        )


@given(levels=st.lists(rising, min_size=1, max_size=3), nested=st.floats(0.0, 1.0))
def test_what_reaches_a_tier_ends_there_or_goes_on(levels, nested):
    traffic = traffic_of(levels, nested)
    way = cascade(traffic, TIERS, CHECK)
    first, sent, last = way.reaching
    assert (first, last) == (1.0, pytest.approx(way.shares[2]))
    assert sent == pytest.approx(way.shares[1] + way.shares[2], abs=1e-9)
    assert cascade(traffic, TIERS, CHECK, at_once=True).reaching == (1.0, 1.0, 1.0)
    straight = routed(traffic, TIERS, CHECK)
    assert straight.reaching == pytest.approx(straight.shares)
