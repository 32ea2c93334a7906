"""What must be true of renting, owning and breaking even."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright import market, power, ranges
from scaleright.costs import break_even as even
from scaleright.costs import own, rent
from scaleright.costs.ownership import ELECTRICITY, Ownership, setting_factors, setting_usd_per_kwh
from scaleright.costs.uncertainty import WORDS, UncertainBreakEven, chip_ends, setting_ends

money, watts = st.floats(10, 1e5), st.floats(0, 2000)
shares, rates, years, hours = (
    st.floats(0, 1),
    st.floats(0, 0.4),
    st.floats(0.5, 10),
    st.floats(0, 24),
)
OWNED = dict(
    price_usd=money,
    resale_share=shares,
    years=years,
    cost_of_capital=rates,
    hours_per_day=hours,
    busy_watts=watts,
    idle_watts=st.floats(0, 10),
    pue=st.floats(1, 2),
    usd_per_kwh=st.floats(0, 0.6),
)


@given(**OWNED)
def test_parts_of_owning_add_up_and_none_is_negative(**terms):
    bill = own.owned_usd_per_year(
        **terms, facility_usd_per_year=10.0, maintenance_share=0.05, people_usd_per_year=3.0
    )
    assert bill.total == pytest.approx(math.fsum(bill.parts().values()))
    assert all(part >= -1e-9 * terms["price_usd"] for part in bill.parts().values())


@given(rate=st.floats(1e-7, 0.5), span=years)
def test_capital_makes_later_money_worth_less(rate, span):
    assert own.annuity_years(rate, span) < own.annuity_years(0.0, span) == span


@given(rate=st.floats(1e-6, 1e-4), span=years)
def test_the_annuity_of_nearly_free_capital_is_nearly_the_years(rate, span):
    assert own.annuity_years(rate, span) == pytest.approx(span, rel=1e-3)


@given(
    rent_usd=st.floats(0.2, 20),
    fixed=st.floats(10, 1e5),
    busy=st.floats(50, 1000),
    price=st.floats(0, 0.15),
)
def test_at_the_break_even_hours_owning_costs_what_renting_costs(rent_usd, fixed, busy, price):
    h = even.break_even_hours_per_day(rent_usd, fixed, busy, 20.0, 1.2, price)
    if h <= 24:
        owned = fixed + power.energy_kwh_per_year(h, busy, 20.0, 1.2) * price
        assert owned == pytest.approx(rent.rent_usd_per_year(rent_usd, h))
        assert even.break_even_usd_per_hour(h, fixed, busy, 20.0, 1.2, price) == pytest.approx(
            rent_usd
        )


@given(price=money, resale=shares, span=years, running=st.floats(0, 1e4), rate=rates)
def test_the_two_views_of_breaking_even_agree(price, resale, span, running, rate):
    """Owning for the planned years and selling costs, today, what the even yearly cost is worth
    over those years.
    """
    today = even.owned_until_usd(12 * span, price, max(resale, 1e-6), span, running, rate)
    yearly = own.fixed_usd_per_year(price, max(resale, 1e-6), span, rate) + running
    assert today == pytest.approx(yearly * own.annuity_years(rate, span), rel=1e-6)


@given(price=st.floats(100, 1e5), saving=st.floats(-100, 1e4), rate=rates)
def test_what_is_saved_until_the_payback_is_worth_the_price(price, saving, rate):
    months = even.payback_months(price, saving, rate)
    if months < 600:
        assert even.rented_until_usd(months, saving * 12, rate) == pytest.approx(price, rel=1e-6)
    else:
        assert saving <= 0 or even.rented_until_usd(600, saving * 12, rate) < price


def test_selling_ends_owning_cheaper_by_what_the_machine_fetches():
    gap = even.spent_until_usd(36.0, 2000.0, 300.0, 0.0) - even.owned_until_usd(
        36.0, 2000.0, 0.5, 2.0, 300.0, 0.0
    )
    assert gap == pytest.approx(even.resale_usd(36.0, 2000.0, 0.5, 2.0))


@given(baseline=st.integers(0, 50), burst=st.integers(0, 50), h=hours)
def test_a_fleet_that_owns_nothing_pays_rent_for_every_hour(baseline, burst, h):
    bill = even.fleet_usd_per_year(0, baseline, burst, h, 2.0, 9000.0, 700.0, 70.0, 1.3, 0.1)
    assert bill.owned_usd == bill.power_usd == 0
    assert bill.rent_usd == pytest.approx(
        rent.rent_usd_per_year(2.0, 24.0) * baseline + rent.rent_usd_per_year(2.0, h) * burst
    )


def test_a_million_scenarios_are_one_call():
    prices, loads = np.linspace(0.1, 10, 1000)[:, None], np.linspace(0, 24, 1000)[None, :]
    terms = Ownership.build(
        np.float64(1500.0), 450.0, prices / 20, setting_factors("home") | {"service_years": 2.0}
    )
    assert terms.owned_usd_per_year(loads).total.shape == (1000, 1000)


@pytest.mark.parametrize("setting", ELECTRICITY)
def test_cheap_typical_and_dear_are_in_that_order(setting):
    cost = [
        Ownership.typical("H100 SXM", setting, years=4.0, end=end).owned_usd_per_year(12.0).total
        for end in ("cheap", "typical", "dear")
    ]
    assert cost == sorted(cost)


@pytest.mark.parametrize(
    "call, words",
    [
        (
            lambda: rent.compute_usd(1e20, 1e15, 40, 2.0),
            ("utilization = 40", "above 0 to 1", "0.4 (40 %)"),
        ),
        (lambda: rent.rent_usd_per_year(-1.0, 5.0), ("usd_per_hour = -1", "0 or more")),
        (lambda: rent.rent_usd_per_year(1.0, 25.0), ("hours_per_day = 25", "0 to 24")),
        (lambda: rent.rent_usd_per_year(float("nan"), 5.0), ("usd_per_hour = nan",)),
        (lambda: power.energy_kwh_per_year(5.0, 100.0, 0.0, 0.9), ("pue = 0.9", "1 to 10")),
        (lambda: rent.rent_usd_per_year(np.array([1.0, -3.0]), 5.0), ("usd_per_hour = -3",)),
    ],
)
def test_a_value_out_of_its_domain_is_refused_with_what_is_allowed(call, words):
    with pytest.raises(ValueError) as refused:
        call()
    assert all(word in str(refused.value) for word in words)


def test_unknown_names_offer_the_nearest():
    with pytest.raises(LookupError, match="unknown setting 'home lab'; nearest: home"):
        Ownership.typical("H100 SXM", "home lab")
    with pytest.raises(LookupError, match="RTX 4090"):
        Ownership.typical("RTX 4091", "home")


# how far the break-even may be off


def uncertain(name: str = "H100 SXM", setting: str = "data center") -> UncertainBreakEven:
    offer, place = market.offer(name), setting_ends(setting)
    shared = {
        factor: place[f"typical {factor}"]
        for factor in ("service_years", "value_kept_per_year", "cost_of_capital")
    }
    values = {
        "usd_per_hour": offer.rent_usd_per_hour,
        "chip_usd": offer.chip_usd,
        "usd_per_kwh": setting_usd_per_kwh(setting),
    }
    return UncertainBreakEven(values | shared, chip_ends(name), place)


def test_the_uncertain_break_even_is_the_typical_one_at_its_best():
    case = uncertain()
    typical = Ownership.typical("H100 SXM", "data center")
    assert case.hours() == pytest.approx(
        typical.break_even_hours_per_day(case.values["usd_per_hour"])
    )
    low, high = case.interval()
    assert low < case.hours() < high


def test_propagation_agrees_with_drawing_at_random():
    """First-order propagation of 90 % ends against Monte Carlo with log-normal inputs of the same
    ends.
    """
    case, generator = uncertain(), np.random.default_rng(1)
    ends = {name: values for name, values in case.ends().items() if name != "rest"}
    drawn = {}
    for name, (low, best, high) in ends.items():
        z = generator.standard_normal(100_000) / 1.645
        drawn[name] = best * np.where(
            z > 0, (high / best) ** z, (max(low, 1e-3 * best) / best) ** -z
        )
    drawn["value_kept_per_year"] = np.minimum(
        drawn["value_kept_per_year"], 0.98
    )  # no machine gains value
    p5, p95 = np.percentile(case.hours(**drawn), (5, 95))
    low, high = ranges.interval(case.hours, **ends)
    assert low == pytest.approx(p5, rel=0.15) and high == pytest.approx(p95, rel=0.15)


def test_swings_reach_no_further_than_the_interval_by_much_and_name_every_input():
    case = uncertain("RTX 4090", "home")
    swings, (low, high) = case.swings(), case.interval()
    assert {swing.name for swing in swings} == set(WORDS)
    assert all(
        low <= end <= high
        for swing in swings
        for end in (swing.result_at_low, swing.result_at_high)
    )


@pytest.mark.parametrize(
    "rent, words",
    [
        (24.0, ("above every listing", "8-chip node it is 3 a chip")),
        (12.0, None),
        (6.0, None),
        (200.0, ("above every listing", "allowed: up to")),
    ],
)
def test_the_rent_of_a_node_is_refused(rent, words):
    if words is None:
        assert market.check_rent(rent, "H100 SXM") == rent
    else:
        with pytest.raises(ValueError) as refused:
            market.check_rent(rent, "H100 SXM")
        assert all(word in str(refused.value) for word in words)


def test_an_offer_says_which_figure_to_give():
    with pytest.raises(ValueError, match="give rent_usd_per_hour"):
        market.offer("MI355X")
    with pytest.raises(ValueError, match="give chip_usd"):
        market.offer("TPU v5p", rent_usd_per_hour=4.0)
    assert "days behind the newest listings" in market.listing_age("TPU v5e")


def test_value_kept_goes_through_the_stated_resale_shares():
    for setting in ("home", "data center"):
        share = market.cost_factor("resale_share_after_4_years", setting).best
        two = market.cost_factor("resale_share_after_2_years", setting).best
        assert share < two
        years, kept = (
            setting_factors(setting)[name] for name in ("service_years", "value_kept_per_year")
        )
        assert kept**years <= two
    assert setting_factors("home")["value_kept_per_year"] ** 4 == pytest.approx(
        market.cost_factor("resale_share_after_4_years", "home").best
    )


def test_free_capital_makes_the_building_cheaper():
    dear, free = (
        Ownership.typical("H100 SXM", "data center", cost_of_capital=rate).facility_usd_per_year
        for rate in (0.1, 0.0)
    )
    assert free < dear
