"""What must be true of commitments, of spot capacity, and of a job that is interrupted."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scaleright.costs import commitment as com
from scaleright.training import goodput

money, ratios, shares = st.floats(0.05, 50), st.floats(0.1, 1.2), st.floats(0.01, 1)
changes, terms = st.floats(-0.8, 1.0), st.floats(0.1, 5)
intervals, checkpoints, restarts, mtbfs = (
    st.floats(10, 1e5),
    st.floats(0.1, 600),
    st.floats(0, 3600),
    st.floats(600, 1e8),
)


# commitment


@given(price=money, ratio=ratios, change=changes, years=terms)
def test_at_the_break_even_use_a_commitment_saves_nothing(price, ratio, change, years):
    used = com.break_even_used_share(ratio, change, years)
    assume(0 < used <= 1)
    paid = price * ratio * years * 8766
    assert com.commitment_value_usd(price, ratio, used, change, years) == pytest.approx(
        0, abs=1e-9 * paid
    )


@given(price=money, ratio=ratios, used=shares)
def test_without_a_change_of_prices_the_dearer_hour_of_use_loses(price, ratio, used):
    value = com.commitment_value_usd(price, ratio, used)
    saved_per_hour = price - com.committed_usd_per_used_hour(price, ratio, used)
    assert value == pytest.approx(saved_per_hour * used * 8766, abs=1e-9 * price * 8766)
    assert com.break_even_used_share(ratio) == ratio


@given(ratio=ratios, years=terms, change=st.floats(-0.8, -0.01))
def test_falling_prices_ask_for_more_use_and_the_more_the_longer(ratio, years, change):
    stable, falling, longer = (
        com.break_even_used_share(ratio, c, y)
        for c, y in ((0.0, years), (change, years), (change, years + 1))
    )
    assert stable < falling < longer


@given(change=changes, years=terms)
def test_the_mean_price_is_the_mean_of_the_price(change, years):
    edges = np.linspace(0, years, 20_001)
    middle = (1 + change) ** ((edges[:-1] + edges[1:]) / 2)
    assert com.mean_price_over_first(change, years) == pytest.approx(middle.mean(), rel=1e-6)


@pytest.mark.parametrize("change", [-1e-5, -1e-9, 0.0, 1e-9, 1e-5, 1.001e-4])
def test_the_mean_of_a_price_that_hardly_moves_is_smooth(change):
    assert com.mean_price_over_first(change, 1.0) == pytest.approx(1 + change / 2, rel=1e-8)


@given(change=changes, count=st.integers(1, 6), term=terms)
def test_a_renewed_commitment_pays_the_prices_of_the_days_on_which_it_is_renewed(
    change, count, term
):
    prices = [(1 + change) ** (term * renewal) for renewal in range(count)]
    assume(count * term <= 10)
    assert com.renewed_price_over_first(change, count * term, term) == pytest.approx(
        math.fsum(prices) / count
    )


def test_of_a_term_that_is_not_needed_to_its_end_all_is_paid():
    assert com.renewed_price_over_first(0.0, 1.5, 1.0) == pytest.approx(2 / 1.5)
    assert com.renewed_price_over_first(1e-8, 3.0, 1.0) == pytest.approx(1 + 1e-8, abs=1e-14)


def test_a_year_at_60_percent_pays_unless_prices_halve():
    """10,000 USD of hours a year, by hand: committed 6,000; at half the price on the last day, on
    demand costs 7,213.
    """
    assert com.mean_price_over_first(-0.5, 1.0) == pytest.approx(0.5 / math.log(2))
    assert com.commitment_value_usd(10_000 / 8766, 0.6, 1.0, -0.5) == pytest.approx(
        10_000 * (0.5 / math.log(2) - 0.6)
    )
    assert (
        com.commitment_value_usd(10_000 / 8766, 0.6, 0.8, -0.5)
        < 0
        < com.commitment_value_usd(10_000 / 8766, 0.6, 0.8)
    )


# spot


@given(price=money, interval=intervals, restart=restarts)
def test_spot_without_interruptions_costs_its_price(price, interval, restart):
    assert com.spot_usd_per_useful_hour(price, 0.0, 0.0, interval, restart) == pytest.approx(price)
    assert com.spot_usd_per_serving_hour(price, 0.0, restart) == price


@given(price=money, ratio=st.floats(0.1, 0.99), restart=st.floats(1, 3600))
def test_at_the_break_even_interruptions_serving_on_spot_costs_the_on_demand_price(
    price, ratio, restart
):
    rate = com.break_even_interruptions(ratio, restart)
    assert com.spot_usd_per_serving_hour(price * ratio, rate, restart) == pytest.approx(price)


@given(
    price=money, rate=st.floats(0.001, 5), checkpoint=st.floats(1, 300), restart=st.floats(10, 1800)
)
def test_training_on_spot_loses_what_was_done_since_the_last_checkpoint_on_top(
    price, rate, checkpoint, restart
):
    interval = goodput.best_checkpoint_interval_s(checkpoint, 3600 / rate)
    assert com.spot_usd_per_useful_hour(
        price, rate, checkpoint, interval, restart
    ) > com.spot_usd_per_serving_hour(price, rate, restart)


@pytest.mark.parametrize("ratio", [1.0, 1.1, 3.26, 40 / 0.01])
def test_spot_that_is_as_dear_as_on_demand_or_dearer_is_never_worth_it(ratio):
    assert com.break_even_interruptions(ratio, 60.0) == 0


def test_a_job_that_never_reaches_a_checkpoint_has_no_price():
    assert com.spot_usd_per_useful_hour(1.0, 1e4, 0.0, 1e6, 60.0) == math.inf


# goodput


@given(
    checkpoint=checkpoints,
    mtbf=mtbfs,
    restart=restarts,
    factor=st.sampled_from([0.2, 0.5, 0.7, 1.4, 2.0, 5.0]),
)
def test_the_best_interval_beats_its_neighbors(checkpoint, mtbf, restart, factor):
    assume(checkpoint < mtbf / 2)
    best = goodput.best_checkpoint_interval_s(checkpoint, mtbf)
    assert goodput.useful_share(best, checkpoint, restart, mtbf) >= goodput.useful_share(
        factor * best, checkpoint, restart, mtbf
    )


@given(checkpoint=checkpoints, mtbf=mtbfs)
def test_the_best_interval_is_as_good_as_a_search_finds(checkpoint, mtbf):
    assume(checkpoint < mtbf / 2)
    grid = goodput.best_checkpoint_interval_s(checkpoint, mtbf) * np.geomspace(0.1, 10, 4001)
    searched = goodput.useful_share(grid, checkpoint, 0.0, mtbf).max()
    assert (
        goodput.useful_share(
            goodput.best_checkpoint_interval_s(checkpoint, mtbf), checkpoint, 0.0, mtbf
        )
        > 0.999 * searched
    )


@given(interval=intervals, checkpoint=checkpoints, restart=restarts)
def test_without_interruptions_only_checkpoints_cost_time(interval, checkpoint, restart):
    assert goodput.useful_share(interval, checkpoint, restart, math.inf) == pytest.approx(
        interval / (interval + checkpoint)
    )


@given(interval=intervals, checkpoint=checkpoints, restart=restarts, mtbf=mtbfs)
def test_a_useful_share_is_a_share_and_falls_with_interruptions(
    interval, checkpoint, restart, mtbf
):
    often, seldom = (
        goodput.useful_share(interval, checkpoint, restart, time) for time in (mtbf, 2 * mtbf)
    )
    assert 0 <= often <= seldom <= 1


def test_the_expected_time_is_that_of_many_random_runs():
    """A job of a hundred segments, interrupted at random, simulated directly."""
    interval, checkpoint, restart, mtbf = 1000.0, 50.0, 200.0, 3000.0
    draw, total = np.random.default_rng(7), 0.0
    for _ in range(20_000):  # segments, each until it is done
        while (at := draw.exponential(mtbf)) < interval + checkpoint:
            total += at
            while (again := draw.exponential(mtbf)) < restart:
                total += again
            total += restart
        total += interval + checkpoint
    assert 20_000 * interval / total == pytest.approx(
        goodput.useful_share(interval, checkpoint, restart, mtbf), rel=0.01
    )


def test_the_short_segment_is_smooth_where_its_series_begins():
    below, above = (
        goodput.useful_share(1000.0, 1e-9, 0.0, 1000.0 / x)
        for x in (1e-3 * (1 - 1e-9), 1e-3 * (1 + 1e-9))
    )
    assert below == pytest.approx(above, rel=1e-11)
