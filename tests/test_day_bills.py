"""What a day costs each way to run its fleet, what a year of it spends, and what is refused."""

from dataclasses import replace

import pytest
from built import BOOK
from cases import defaults, quantities
from hypothesis import given
from hypothesis import strategies as st
from scaleright.chapters.load_of_a_day.evidence import shapes
from scaleright.chapters.load_of_a_day.simulated import DayCase, day_simulated, peak_with, peaks
from scaleright.costs.day_bills import (
    BASE,
    FIXED,
    SCALED,
    YearAhead,
    bill_change_per_year,
    day_bill,
    days_until_spent,
    spent_usd,
)
from scaleright.costs.day_choices import DayChoices, require_engine
from scaleright.parameters import validate
from scaleright.press.texts import declared

USUAL = defaults("load_of_a_day") | {
    "accelerator": "H100 SXM",
    "scaling": BASE,
    "cached_share": 0.0,
    "contract": "reserved",
}


@pytest.fixture(scope="module")
def tables():
    return DayChoices.of(("Llama-3.3-70B", "Llama-3.1-8B"), ("H100 SXM",))


@pytest.fixture(scope="module")
def at(tables):
    """The bill of a day, of the usual case but for some parameters."""

    def bill_of(**other):
        case = quantities(USUAL | other)
        fleet = tables.fleet(case)
        return day_bill(fleet, tables.hours.rents(case), case), case

    return bill_of


def test_a_day_that_is_flat_gains_nothing_by_scaling(at):
    bill, _ = at(peak_to_mean=1.0)
    hours = {name: float(of.engine_hours.value) for name, of in bill.plans.items()}
    assert hours[FIXED] == hours[SCALED] == hours[BASE]


def test_a_steeper_day_takes_more_engines_and_leaves_more_idle(at):
    (flat, _), (steep, _) = at(peak_to_mean=1.2, scaling=FIXED), at(peak_to_mean=2.3, scaling=FIXED)
    assert steep.fleet.peak.value > flat.fleet.peak.value
    assert steep.utilization.value < flat.utilization.value < 1


def test_the_day_is_paid_for_as_its_plan_says(at):
    bill, _ = at()
    fixed, scaled, base = (bill.plans[name] for name in (FIXED, SCALED, BASE))
    assert fixed.engine_hours.value == 24 * bill.fleet.peak.value
    assert scaled.engine_hours.value == sum(one.value for one in bill.fleet.hourly)
    assert base.usd_per_day.value < scaled.usd_per_day.value  # reserved hours are cheaper
    assert bill.best[0].value == BASE
    tokens = (
        bill.output_tokens.value if hasattr(bill.output_tokens, "value") else bill.output_tokens
    )
    assert bill.usd_per_million().value == pytest.approx(base.usd_per_day.value / tokens * 1e6)


def test_hours_that_are_all_full_leave_no_room_for_more(at):
    assert [at(waiting_share=share)[0].idle_tokens.value > 0 for share in (0.0, 0.9)] == [
        True,
        False,
    ]


def test_without_a_contract_that_binds_a_base_is_what_scaling_is(at):
    bill, _ = at(contract="on demand")
    assert bill.plans[BASE].usd_per_day.value == bill.plans[SCALED].usd_per_day.value
    assert bill.saving.value > 0.1


def test_work_that_waits_takes_fewer_engines_for_as_many_tokens(at):
    (now, _), (later, _) = at(), at(waiting_share=0.5)
    assert later.fleet.peak.value < now.fleet.peak.value
    assert later.utilization.value > now.utilization.value
    assert later.utilization.value <= 0.96


def test_spot_holds_a_few_more_engines(at):
    (plain, _), (taken, _) = at(contract="spot"), at(contract="spot", interruptions_per_day=24.0)
    assert taken.fleet.peak.value > plain.fleet.peak.value


@pytest.mark.parametrize("other", [{}, {"contract": "spot"}, {"least_engines": 9}])
def test_engines_that_stand_by_are_there_every_hour_and_paid(at, other):
    """With so many lost the fleet is the one that it was, hour by hour; their price is theirs."""
    (none, _), (two, _) = at(**other), at(spare_engines=2, **other)
    least = other.get("least_engines", 1)
    for before, after in zip(none.fleet.hourly, two.fleet.hourly, strict=True):
        assert after.value == max(before.value + 2, least) or before.value == least
        assert after.value >= before.value
    needed = two.fleet.engine.needed(two.fleet.traffic.peak_per_s).value
    assert two.fleet.peak.value - 2 >= needed
    if not other:
        assert two.best[1].value - none.best[1].value == pytest.approx(two.spare_usd.value)


def test_an_hour_takes_as_many_engines_whether_the_time_to_start_is_a_control_or_not(at):
    bill, _ = at(requests_per_day=1e9, peak_to_mean=4.0)
    fixed = replace(bill.fleet, ahead_h=1 / 6)
    assert [of.value for of in fixed.hourly] == [of.value for of in bill.fleet.hourly]


def test_a_price_that_a_contract_holds_does_not_move_the_year(at):
    for contract, scaling, moves in (
        ("one year", FIXED, False),
        ("one year", SCALED, True),
        ("on demand", FIXED, True),
    ):
        bill, case = at(contract=contract, scaling=scaling, price_change_per_year=-0.3)
        year = YearAhead.of(bill.chosen, case)
        assert (year.change_per_year.value < bill_change_per_year(0.05, 0.0) - 1e-9) == moves
        assert (year.low.value < year.high.value) == moves


@given(st.floats(1, 1e6), st.floats(-0.6, 5), st.floats(1, 2000))
def test_a_budget_lasts_as_long_as_it_takes_to_spend_it(usd, change, length):
    spent = spent_usd(usd, change, length)
    assert days_until_spent(usd, change, spent) == pytest.approx(length, rel=1e-4)


@given(st.floats(1, 1e6), st.floats(1, 1e9))
def test_growth_passes_a_budget_earlier(usd, budget):
    first, later = (days_until_spent(usd, change, budget) for change in (0.5, 0.0))
    assert first <= later == pytest.approx(budget / usd)


def test_a_falling_bill_may_never_pass_a_budget():
    assert days_until_spent(100.0, -0.5, 1e6) == float("inf")


def test_the_simulated_peak_keeps_the_promise_of_the_closed_form(at):
    bill, _ = at()
    fleet = bill.fleet
    case = DayCase("Llama-3.3-70B", "H100 SXM", "conversation", 0.0, fleet, 600.0)
    asked = int(fleet.peak.value)
    seen = peak_with(case, asked)
    assert seen.late < 0.05 and seen.late_ttft_s < 2.0 and seen.late_tpot_s < 1.3 / 30
    assert peak_with(case, asked - 2).late > 0.05
    found = peaks(case, 4.0)
    assert found["late_ttft_s"].iloc[0] > found["late_ttft_s"].iloc[-1]
    assert found["busy"].is_monotonic_decreasing
    day = day_simulated(case, most=8000)
    assert day.paid_hours == pytest.approx(day.asked_hours, rel=0.1)
    assert day.run.quantile("ttft_s", 0.95) < 2.0


def test_bursts_of_seconds_are_served_as_promised_as_well(at):
    bill, _ = at(trace="code completion", requests_per_day=3e5)
    case = DayCase("Llama-3.3-70B", "H100 SXM", "code completion", 0.0, bill.fleet)
    assert peak_with(case, int(bill.fleet.peak.value)).late < 0.05


def test_nobody_served_is_nothing_simulated(at):
    bill, _ = at(pace_tokens_per_s=500.0)
    case = DayCase("Llama-3.3-70B", "H100 SXM", "conversation", 0.0, bill.fleet)
    assert not bill.fleet.served.value
    assert peak_with(case, 1) is None and day_simulated(case) is None and peaks(case, 1.0).empty


def test_the_cheapest_accelerator_is_sought_among_those_that_serve():
    validate(declared("load_of_a_day", BOOK), {"model": "DeepSeek-V3.1"})


def test_an_engine_that_serves_is_let_through():
    require_engine("Llama-3.3-70B", "H100 SXM", "conversation", "what fits", None, 30.0, 2.0)


def test_the_shape_of_a_day_says_how_its_hours_vary_within_two_fifths():
    found = shapes()
    assert (found["error"].abs() < 0.4).all() and found["error"].abs().median() < 0.25
