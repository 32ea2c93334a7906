"""What must be true of renting, owning and breaking even."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright.costs import break_even as even
from scaleright.costs import own, rent
from scaleright.costs.ownership import ELECTRICITY, Ownership, setting_factors

money, watts = st.floats(10, 1e5), st.floats(0, 2000)
shares, rates, years, hours = st.floats(0, 1), st.floats(0, 0.4), st.floats(0.5, 10), st.floats(0, 24)
OWNED = dict(price_usd=money, resale_share=shares, years=years, cost_of_capital=rates, hours_per_day=hours, busy_watts=watts, idle_watts=st.floats(0, 10), pue=st.floats(1, 2), usd_per_kwh=st.floats(0, 0.6))


@given(**OWNED)
def test_parts_of_owning_add_up_and_none_is_negative(**terms):
    bill = own.owned_usd_per_year(**terms, facility_usd_per_year=10.0, maintenance_share=0.05, people_usd_per_year=3.0)
    assert bill.total == pytest.approx(math.fsum(bill.parts().values()))
    assert all(part >= -1e-9 * terms["price_usd"] for part in bill.parts().values())


@given(rate=st.floats(1e-7, 0.5), span=years)
def test_capital_makes_later_money_worth_less(rate, span):
    assert own.annuity_years(rate, span) < own.annuity_years(0.0, span) == span


@given(rate=st.floats(1e-6, 1e-4), span=years)
def test_the_annuity_of_nearly_free_capital_is_nearly_the_years(rate, span):
    assert own.annuity_years(rate, span) == pytest.approx(span, rel=1e-3)


@given(rent_usd=st.floats(0.2, 20), fixed=st.floats(10, 1e5), busy=st.floats(50, 1000), price=st.floats(0, 0.15))
def test_at_the_break_even_hours_owning_costs_what_renting_costs(rent_usd, fixed, busy, price):
    h = even.break_even_hours_per_day(rent_usd, fixed, busy, 20.0, 1.2, price)
    if h <= 24:
        owned = fixed + own.energy_kwh_per_year(h, busy, 20.0, 1.2) * price
        assert owned == pytest.approx(rent.rent_usd_per_year(rent_usd, h))
        assert even.break_even_usd_per_hour(h, fixed, busy, 20.0, 1.2, price) == pytest.approx(rent_usd)


@given(price=money, resale=shares, span=years, running=st.floats(0, 1e4), rate=rates)
def test_the_two_views_of_breaking_even_agree(price, resale, span, running, rate):
    """Owning for the planned years and selling costs, today, what the even yearly cost is worth over those years."""
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
    gap = even.spent_until_usd(36.0, 2000.0, 300.0, 0.0) - even.owned_until_usd(36.0, 2000.0, 0.5, 2.0, 300.0, 0.0)
    assert gap == pytest.approx(even.resale_usd(36.0, 2000.0, 0.5, 2.0))


@given(baseline=st.integers(0, 50), burst=st.integers(0, 50), h=hours)
def test_a_fleet_that_owns_nothing_pays_rent_for_every_hour(baseline, burst, h):
    bill = even.fleet_usd_per_year(0, baseline, burst, h, 2.0, 9000.0, 700.0, 70.0, 1.3, 0.1)
    assert bill.owned_usd == bill.power_usd == 0
    assert bill.rent_usd == pytest.approx(rent.rent_usd_per_year(2.0, 24.0) * baseline + rent.rent_usd_per_year(2.0, h) * burst)


def test_a_million_scenarios_are_one_call():
    prices, loads = np.linspace(0.1, 10, 1000)[:, None], np.linspace(0, 24, 1000)[None, :]
    terms = Ownership.build(np.float64(1500.0), 450.0, prices / 20, setting_factors("home"), 2.0)
    assert terms.owned_usd_per_year(loads).total.shape == (1000, 1000)


@pytest.mark.parametrize("setting", ELECTRICITY)
def test_cheap_typical_and_dear_are_in_that_order(setting):
    cost = [Ownership.typical("H100 SXM", setting, years=4.0, end=end).owned_usd_per_year(12.0).total for end in ("cheap", "typical", "dear")]
    assert cost == sorted(cost)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: rent.compute_usd(1e20, 1e15, 40, 2.0), ("utilization = 40", "above 0 to 1", "0.4 (40 %)")),
        (lambda: rent.rent_usd_per_year(-1.0, 5.0), ("usd_per_hour = -1", "0 or more")),
        (lambda: rent.rent_usd_per_year(1.0, 25.0), ("hours_per_day = 25", "0 to 24")),
        (lambda: rent.rent_usd_per_year(float("nan"), 5.0), ("usd_per_hour = nan",)),
        (lambda: own.energy_kwh_per_year(5.0, 100.0, 0.0, 0.9), ("pue = 0.9", "1 to 10")),
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
