"""What must be true of renting, owning and breaking even."""

import math
from dataclasses import replace

import cases
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright import market, power, quantity, ranges
from scaleright.catalog import accelerator
from scaleright.costs import break_even as even
from scaleright.costs import break_even as rent
from scaleright.costs import owned_hours
from scaleright.costs import uncertainty as doubt
from scaleright.costs.owned_hours import OwnedHour, owned_terms
from scaleright.costs.ownership import (
    ELECTRICITY,
    Ownership,
    crew_usd_per_hour,
    setting_factors,
    years_since_release,
)
from scaleright.power import WORK
from scaleright.quantity.graph import value_of

money, watts = st.floats(10, 1e5), st.floats(0, 2000)
shares, rates, years, hours = (
    st.floats(0, 1),
    st.floats(0, 0.4),
    st.floats(0.5, 10),
    st.floats(0, 24),
)
DRAWN = {"busy_watts": 900.0, "idle_watts": 300.0, "most_watts": 1000.0}
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
    bill = even.owned_usd_per_year(
        **terms,
        facility_usd_per_year=10.0,
        maintenance_share=0.05,
        insurance_and_tax_share=0.01,
        people_usd_per_year=3.0,
    )
    assert bill.total == pytest.approx(math.fsum(bill.parts().values()))
    assert all(part >= -1e-9 * terms["price_usd"] for part in bill.parts().values())


@given(rate=st.floats(1e-7, 0.5), span=years)
def test_capital_makes_later_money_worth_less(rate, span):
    assert even.annuity_years(rate, span) < even.annuity_years(0.0, span) == span


@given(rate=st.floats(1e-6, 1e-4), span=years)
def test_the_annuity_of_nearly_free_capital_is_nearly_the_years(rate, span):
    assert even.annuity_years(rate, span) == pytest.approx(span, rel=1e-3)


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
    yearly = even.fixed_usd_per_year(price, max(resale, 1e-6), span, rate) + running
    assert today == pytest.approx(yearly * even.annuity_years(rate, span), rel=1e-6)


@given(price=st.floats(100, 1e5), saving=st.floats(-100, 1e4), rate=rates)
def test_what_is_saved_until_the_payback_is_worth_the_price(price, saving, rate):
    months = even.payback_months(price, saving, rate)
    if months < 600:
        assert even.rented_until_usd(months, saving * 12, rate) == pytest.approx(price, rel=1e-6)
    else:
        assert saving <= 0 or even.rented_until_usd(600, saving * 12, rate) < price


@given(baseline=st.integers(0, 50), burst=st.integers(0, 50), h=hours)
def test_a_fleet_that_owns_nothing_pays_rent_for_every_hour(baseline, burst, h):
    bill = even.fleet_usd_per_year(0, baseline, burst, h, 2.0, 3.0, 9000.0, 700.0, 70.0, 1.3, 0.1)
    assert bill.owned_usd == bill.power_usd == 0
    assert bill.rent_usd == pytest.approx(
        rent.rent_usd_per_year(2.0, 24.0) * baseline + rent.rent_usd_per_year(3.0, h) * burst
    )


def test_a_million_scenarios_are_one_call():
    prices, loads = np.linspace(0.1, 10, 1000)[:, None], np.linspace(0, 24, 1000)[None, :]
    terms = Ownership.build(
        np.float64(1500.0),
        DRAWN,
        1.0,
        prices / 20,
        setting_factors("home") | {"service_years": 2.0},
    )
    assert terms.owned_usd_per_year(loads).total.shape == (1000, 1000)


@pytest.mark.parametrize("setting", ELECTRICITY)
def test_cheap_typical_and_dear_are_in_that_order(setting):
    cost = [
        Ownership.typical("H100 SXM", setting, years=4.0, end=end).owned_usd_per_year(12.0).total
        for end in ("cheap", "typical", "dear")
    ]
    assert cost == sorted(cost)


def test_unknown_names_offer_the_nearest():
    with pytest.raises(LookupError, match="unknown setting 'home lab'; nearest: home"):
        Ownership.typical("H100 SXM", "home lab")
    with pytest.raises(LookupError, match="RTX 4090"):
        Ownership.typical("RTX 4091", "home")


# how far the break-even may be off


def chosen(name: str = "H100 SXM", setting: str = "data center"):
    """A case of quantities at usual terms, and its chip."""
    values = {"accelerator": name, "setting": setting, **doubt.usual_terms()[setting]}
    values |= market.sold_chips(name)[name] | {"rent_usd_per_hour": 0.0, "hours_per_day": 5.0}
    values |= {"contract": "on demand", "seller": "median"}
    case = cases.quantities(values)
    return case, doubt.chip_terms(name), market.Hours([name]).rents(case).hour


def test_the_doubtful_break_even_is_the_typical_one_at_its_best():
    of = chosen()
    (hours, ends), (low, high) = doubt.doubts(*of), doubt.break_even_range(*of)
    typical = Ownership.typical("H100 SXM", "data center")
    rent = market.hour("H100 SXM").usd
    assert hours.value == pytest.approx(typical.break_even_hours_per_day(rent), rel=1e-5)
    assert low.value < hours.value < high.value and len(ends) == 6 + len(doubt.TOGETHER)


def test_propagation_agrees_with_drawing_at_random():
    """First-order propagation of 90 % ends against Monte Carlo with log-normal inputs of the same
    ends.
    """
    hours, ends = doubt.doubts(*chosen())
    ends = {name: end for name, end in ends.items() if name not in doubt.TOGETHER}
    generator, drawn = np.random.default_rng(1), {}
    for end in ends.values():
        low, best, high = map(value_of, (end.low, end.parameter, end.high))
        z = generator.standard_normal(100_000) / 1.645
        drawn[quantity.graph.parameter(end.parameter)] = best * np.where(
            z > 0, (high / best) ** z, (max(low, 1e-3 * best) / best) ** -z
        )
    usual, kept = doubt.usual_terms()["data center"], "value_kept_per_year"
    most = 0.98 / usual[kept]  # no machine gains value
    drawn[f"{kept}_over_best"] = np.minimum(drawn[f"{kept}_over_best"], most)
    p5, p95 = np.percentile(quantity.evaluate([hours], drawn)[0], (5, 95))
    low, high = (end.value for end in ranges.interval_of(hours, ends.values()))
    assert low == pytest.approx(p5, rel=0.15) and high == pytest.approx(p95, rel=0.15)


@pytest.mark.parametrize("setting", ELECTRICITY)
def test_the_range_of_an_owned_year_lies_within_all_at_their_ends(setting):
    found = doubt.owned_fixed_range("H100 SXM", setting)
    ends = accelerator("H100 SXM").require("purchase_usd")
    cheap, dear = (
        Ownership.typical("H100 SXM", setting, chip_usd=usd, end=end).fixed_usd_per_year
        for usd, end in zip(ends, ("cheap", "dear"), strict=True)
    )
    typical = Ownership.typical("H100 SXM", setting).fixed_usd_per_year
    assert cheap < found.low < found.best < found.high < dear
    assert found.best == pytest.approx(typical)


def test_rents_ahead_move_once_no_contract_fixes_them():
    case, chip, hour = chosen()

    def low_and_high(years, fixed):
        ends = doubt.doubts(case, chip, hour, fixed)[1]["rents of the years ahead"]
        return quantity.evaluate([ends.low, ends.high], {"years": years})

    assert low_and_high(3.0, 3.0) == pytest.approx([1.0, 1.0])
    (loose_low, loose), (low, high) = low_and_high(5.0, 0.0), low_and_high(5.0, 3.0)
    assert loose_low < low < 1.0 < high < loose


def test_a_walk_that_a_contract_holds_for_a_time_spreads_as_one_that_is_drawn():
    """The mean over the years of a walk that counts from the end of a term, against the formula."""
    steps, years, fixed = 200, 5.0, 2.0
    moves = np.random.default_rng(1).standard_normal((20_000, steps)) * np.sqrt(years / steps)
    walk = moves.cumsum(axis=1)
    held = np.where(np.arange(steps) * years / steps >= fixed, walk, 0.0).mean(axis=1)
    of_a_year = np.exp(1.645)
    low, high = market.history.Drift(1 / of_a_year, 1.0, of_a_year, 1).mean_over(years, fixed)
    assert np.log(high) == pytest.approx(1.645 * held.std(), rel=0.03)
    assert low == pytest.approx(1 / high)


def test_at_home_a_chip_for_servers_stands_in_a_data_center():
    for name, place in (("RTX 4090", "home"), ("H100 SXM", "data center")):
        case, chip, hour = chosen(name, "home")
        house = doubt.housed(case, chip)
        assert house.setting.value == place
        terms, typical = doubt.chosen_terms(house, chip), Ownership.typical(name, place)
        assert terms.pue.value == typical.pue
        assert terms.fixed_usd_per_year.value == pytest.approx(typical.fixed_usd_per_year, rel=1e-5)
        ranges_there = doubt.break_even_range(house, chip, hour)
        there = doubt.break_even_range(*chosen(name, place))
        assert [end.value for end in ranges_there] == pytest.approx([end.value for end in there])
        assert house.moved.value == (place != "home")
        dear = quantity.at(house.usd_per_kwh, usd_per_kwh=0.7)
        assert dear.value == (0.7 if place == "home" else house.usd_per_kwh.value)


@pytest.mark.parametrize("name, setting", [("H100 SXM", "data center"), ("RTX 5090", "home")])
@pytest.mark.parametrize("load", [0.1, 1.0])
@pytest.mark.parametrize("work", WORK)
def test_an_owned_hour_is_a_year_of_owning_over_its_hours(name, setting, load, work):
    hour = OwnedHour.of(owned_terms(name, setting), work == "training", load)
    year = Ownership.typical(name, setting, work=work).owned_usd_per_year(24 * load)
    assert hour.usd * 24 * 365.25 == pytest.approx(year.total, rel=1e-5)
    assert hour.power * 24 * 365.25 == pytest.approx(year.power_usd, rel=1e-5)
    wide = doubt.owned_fixed_range(name, setting)
    assert hour.low == pytest.approx(wide.low / 8766 + hour.power, rel=1e-5)
    assert hour.high == pytest.approx(wide.high / 8766 + hour.power, rel=1e-5)


def test_an_hour_of_a_chip_that_nobody_sells_has_no_price(monkeypatch):
    def unsold(name):
        return replace(accelerator(name), purchase_usd=None)

    assert 0.5 < OwnedHour.of(owned_terms("H100 SXM", "data center"), training=True).usd < 3.0
    monkeypatch.setattr(owned_hours, "accelerator", unsold)
    assert np.isnan(OwnedHour.of(owned_terms("H100 SXM", "data center"), training=True).usd)


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


def test_a_chip_that_the_catalog_has_no_price_of_asks_for_one():
    with pytest.raises(ValueError, match="give chip_usd"):
        market.sold_chips("TPU v4")
    assert market.sold_chips("TPU v4", 9e3)["TPU v4"] == {"chip_usd": 9e3}
    with pytest.raises(ValueError, match="no tdp_watts for TPU v5p"):
        market.sold_chips("TPU v5p", 9e3)
    assert "days behind the newest listings" in market.hour("TPU v5e", "one year").age


@pytest.mark.parametrize("setting, ages", [("home", (2, 4)), ("data center", (2, 4, 6))])
def test_a_new_chip_keeps_the_stated_resale_shares(setting, ages):
    factors = setting_factors(setting)
    kept, *wear = (factors[name] for name in ("value_kept_per_year", "early_wear", "late_wear"))
    for age in ages:
        share = market.cost_factor(f"resale_share_after_{age}_years", setting).best
        assert even.resale_share(kept, 0.0, float(age), *wear) == pytest.approx(share)


@given(
    kept=st.floats(0.3, 1),
    age=st.floats(0, 12),
    first=st.floats(0, 8),
    then=st.floats(0, 8),
    early=st.floats(0, 2),
    late=st.floats(0, 4),
)
def test_selling_twice_loses_what_one_owner_loses(kept, age, first, then, early, late):
    left = even.resale_share(kept, age, first, early, late)
    left *= even.resale_share(kept, age + first, then, early, late)
    assert left == pytest.approx(even.resale_share(kept, age, first + then, early, late))


def test_an_old_chip_has_less_left_than_a_new_one():
    old, new = (
        Ownership.build(30_000.0, DRAWN, age, 0.08, setting_factors("data center"))
        for age in (4.0, 0.0)
    )
    assert old.resale_share < 0.7 * new.resale_share
    assert old.fixed_usd_per_year > new.fixed_usd_per_year
    assert years_since_release("A100 SXM 80GB") > years_since_release("H100 SXM") > 4
    assert years_since_release("Rubin") == 0.0


def test_network_storage_insurance_and_taxes_are_paid_for():
    def terms(most_watts=1000.0, **changed):
        factors = setting_factors("data center") | changed
        return Ownership.build(30_000.0, DRAWN | {"most_watts": most_watts}, 1.0, 0.08, factors)

    usual = terms()
    assert usual.facility_usd_per_year == pytest.approx(2 * terms(500.0).facility_usd_per_year)
    taxed = terms(sales_tax_share=0.1)
    assert taxed.price_usd == pytest.approx(1.1 * usual.price_usd)
    assert taxed.price_usd * taxed.resale_share == pytest.approx(
        usual.price_usd * usual.resale_share
    )
    insured = terms(insurance_and_tax_share_per_year=0.02)
    bill = insured.owned_usd_per_year(12.0)
    assert bill.insurance_and_tax_usd == pytest.approx(0.02 * insured.price_usd)
    stored = setting_factors("data center")["host_usd"]
    assert stored > 0 and terms(host_usd=0.0).price_usd == usual.price_usd - stored


def test_the_crew_that_is_left_out_follows_the_power():
    least, most = crew_usd_per_hour(1000.0)
    assert 0 < least < most and crew_usd_per_hour(2000.0)[0] == pytest.approx(2 * least)


def test_free_capital_makes_the_building_cheaper():
    dear, free = (
        Ownership.typical("H100 SXM", "data center", cost_of_capital=rate).facility_usd_per_year
        for rate in (0.1, 0.0)
    )
    assert free < dear
