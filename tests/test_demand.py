"""The utilization of a chapter's engines from a reader's traffic: one with that of a day."""

from types import SimpleNamespace

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st
from scaleright.costs.serving import load_spread
from scaleright.inference.day import Traffic, day_fleet
from scaleright.inference.demand import (
    FIRST_TOKEN_S,
    STARTUP_S,
    UNKNOWN,
    Busy,
    Demand,
    kinds,
    peak_spread,
    requests_of,
)
from scaleright.inference.lengths import Load
from scaleright.inference.node_speed import Engines, NodeSpeed, node_speed
from scaleright.inference.traffic import load_of, trace_terms
from scaleright.quantity import at, evaluate, given
from scaleright.ranges import Ends

LOAD, PACE = Load(2000, 500), 30.0
SERVED = {
    ("Llama-3.3-70B", "H100 SXM"),
    ("Llama-3.1-8B", "L40S"),
    ("gpt-oss-120b", "B200"),
    ("DeepSeek-V3.1", "H200 SXM"),
}
ENGINES = {pair: Engines.of(*([of] for of in pair)) for pair in sorted(SERVED)}


def busy(
    of: str = "conversation",
    requests: float = 2e5,
    contract: str | None = "reserved",
    pair: tuple[str, str] = ("Llama-3.3-70B", "H100 SXM"),
) -> tuple[Busy, NodeSpeed]:
    """How busy an engine is that is taken for some traffic, of which 40 % was set before."""
    case = SimpleNamespace(
        traffic=given("traffic", of),
        requests_per_day=given("requests_per_day", requests),
        peak_to_mean=given("peak_to_mean", kinds()[of]["peak_to_mean"]),
    )
    demand = Demand.of(case, contract)
    speed = node_speed(ENGINES[pair], *pair, "usual", LOAD, given("pace", PACE), demand)
    return demand.busy(speed.seated, LOAD, given("utilization", 0.4)), speed


@pytest.mark.parametrize("pair", sorted(SERVED))
@pytest.mark.parametrize("contract", ["reserved", "on demand", "spot"])
def test_utilization_is_that_of_the_load_of_a_day(pair, contract):
    for of, requests in (("steady", 1e7), ("conversation", 2e5), ("code completion", 1e7)):
        found, _ = busy(of, requests, contract, pair)
        row = kinds()[of]
        long = LOAD.input_tokens * row["long_over_mean"]
        asked = LOAD, long, row["bunching"], PACE, FIRST_TOKEN_S
        traffic = Traffic(requests, 0.0, row["peak_to_mean"], *asked)
        up = found.demand.available
        day = day_fleet(ENGINES[pair], (*pair, "usual"), traffic, STARTUP_S, 1.0, up)
        hours = day.fixed_hours if contract == "reserved" else day.scaled_hours
        assert found.share.value == pytest.approx(day.utilization(hours).value, rel=1e-5)
        assert found.fleet.engine.chips.value == pytest.approx(day.engine.chips.value)
        assert found.fleet.peak.value == day.peak.value


def test_traffic_that_is_known_is_served_by_the_engine_that_serves_it_where_it_is_not():
    pair = "DeepSeek-V3.1", "B200"
    engines, pace = Engines.of(*([of] for of in pair)), given("pace", PACE)
    unknown = node_speed(engines, *pair, "usual", LOAD, pace)
    case = SimpleNamespace(
        traffic=given("traffic", "conversation"),
        requests_per_day=given("requests_per_day", 2e7),
        peak_to_mean=given("peak_to_mean", 1.4),
    )
    demand = Demand.of(case, "reserved")
    known = node_speed(engines, *pair, "usual", LOAD, pace, demand)
    assert known.chips.value == pytest.approx(unknown.chips.value, rel=0.01)
    assert known.tokens_per_s.value == pytest.approx(unknown.tokens_per_s.value, rel=0.01)
    found = demand.busy(known.seated, LOAD, given("utilization", 0.4))
    fleet, each = found.fleet, found.fleet.engine
    assert each.reading.value > 0  # other chips read its prompts, in whole groups for all engines
    chips, groups = fleet.peak * each.chips, fleet.peak * each.reading / each.group
    assert groups.value == pytest.approx(round(groups.value), abs=1e-6)
    # what the paid chips write at this share of their full speed is what is asked for
    written = chips * known.tokens_per_s * found.share * 86400
    assert written.value == pytest.approx(2e7 * LOAD.output_tokens, rel=1e-6)


def test_where_the_traffic_is_unknown_the_utilization_is_as_set_and_nothing_else_changes():
    found, speed = busy(UNKNOWN)
    plain = node_speed(
        ENGINES["Llama-3.3-70B", "H100 SXM"], "Llama-3.3-70B", "H100 SXM", "usual", LOAD, PACE
    )
    assert (found.share.value, found.standing.value) == (0.4, 0.4)
    assert speed.tokens_per_s.value == pytest.approx(plain.tokens_per_s.value)
    assert evaluate([found.share], {"utilization": 0.7, "requests_per_day": 1.0}) == [0.7]


def test_known_traffic_leaves_nothing_of_what_was_set_and_a_chart_may_set_its_own():
    found, _ = busy()
    assert evaluate([found.share], {"utilization": 0.9}) == [found.share.value]
    assert at(1 / found.share, load=0.5) == 2.0


def test_traffic_below_what_one_engine_serves_still_pays_for_one():
    found, _ = busy(requests=100.0)
    assert found.fleet.peak.value == 1 and 0 < found.share.value < 0.001
    half = evaluate([found.share], {"requests_per_day": 50.0})[0]
    assert half == pytest.approx(found.share.value / 2)


def test_hours_that_are_given_back_are_busier_and_owned_ones_are_not():
    (paid, _), (loose, _), (owned, _) = (busy(contract=of) for of in ("reserved", "spot", None))
    assert loose.share.value > paid.share.value == owned.share.value
    assert loose.standing.value < loose.share.value
    assert loose.standing.value == pytest.approx(paid.share.value, rel=0.15)  # spot holds more


def test_the_spread_is_that_of_the_traffic_and_not_of_the_guess():
    found, _ = busy(requests=1e7)
    guess = Ends(found.share, found.share / load_spread(), found.share * load_spread())
    ends = found.ends(guess)
    low, middle, high = (of.value for of in (ends.low, found.share, ends.high))
    assert low < middle < high
    peak = 1 + 0.4 * peak_spread()
    assert low == pytest.approx(evaluate([found.share], {"peak_to_mean": peak})[0], rel=1e-6)
    set_, _ = busy(UNKNOWN)
    ends = set_.ends(Ends(set_.share, set_.share / 2, set_.share * 2))
    assert (ends.low.value, ends.high.value) == (0.2, 0.8)
    steady, _ = busy("steady")
    ends = steady.ends(guess)
    assert ends.low.value == ends.high.value == steady.share.value


def test_a_faster_engine_makes_a_fleet_of_one_no_cheaper_and_a_large_one_nearly_so_much():
    speed = given("speed_in_practice", 1.0)
    for of, requests, left in (("conversation", 100.0, 0.5), ("conversation", 1e8, 1.0)):
        found, _ = busy(of, requests)
        assert found.at_speed(1.0).value == pytest.approx(1.0)
        twice = evaluate([found.at_speed(speed)], {"speed_in_practice": 2.0})[0]
        assert twice == pytest.approx(left, rel=0.03)
    assert busy(UNKNOWN)[0].at_speed(2.0).value == 1.0


@drawn(
    st.sampled_from([name for name in kinds() if name != UNKNOWN]),
    st.floats(1.0, 1e9),
    st.floats(1.0, 4.0),
)
def test_utilization_lies_between_nothing_and_full_and_falls_with_the_peak(of, requests, peak):
    found = FOUND["on demand"].share, FOUND["reserved"].share
    case = {"traffic": of, "requests_per_day": requests, "peak_to_mean": peak}
    scaled, fixed = (evaluate([share], case)[0] for share in found)
    assert 0 < fixed <= 0.95 + 1e-6 and fixed <= scaled * (1 + 1e-9) <= 0.95 + 1e-5
    more = evaluate([found[1]], case | {"peak_to_mean": peak * 1.2})[0]
    assert more <= fixed * (1 + 1e-9)


FOUND = {contract: busy(contract=contract)[0] for contract in ("on demand", "reserved")}


def test_what_is_like_a_published_hour_is_served_as_the_load_of_a_day_serves_it():
    for of, chip, spare in (
        ("conversation", "B200", 0.0),
        ("long conversation", "H200 SXM", 0.0),
        ("conversation", "H200 SXM", 2.0),
    ):
        terms, pair = trace_terms(of), ("Llama-3.3-70B", chip)
        engines = Engines.of(*([of] for of in pair))
        case = SimpleNamespace(
            traffic=given("traffic", of),
            requests_per_day=given("requests_per_day", 1e6),
            peak_to_mean=given("peak_to_mean", 1.4),
            ttft_s=given("ttft_s", 3.0),
            spare_engines=given("spare_engines", spare),
        )
        demand = Demand.of(case, "on demand")
        lengths = (terms[name] for name in ("input_tokens", "output_tokens", "cached_share"))
        load = requests_of(case.traffic, *lengths)
        speed = node_speed(engines, *pair, "usual", load, given("pace", PACE), demand)
        asked = terms["long_tokens"], terms["bunching"], given("pace", PACE), 3.0
        traffic = Traffic(1e6, 0.0, 1.4, load_of(of), *asked)
        day = day_fleet(engines, (*pair, "usual"), traffic, STARTUP_S, spare_engines=spare)
        fleet = demand.fleet(speed.seated, load)
        assert fleet.peak.value == day.peak.value > spare
        paid = demand.busy(speed.seated, load, 0.4).share
        of_day = day.utilization(day.scaled_hours)
        assert paid.value == pytest.approx(of_day.value, rel=1e-3)
        for name in ("chips", "seats", "requests_per_s", "ttft_s", "filled"):
            mine, others = (getattr(one.engine, name).value for one in (fleet, day))
            assert mine == pytest.approx(others, rel=1e-3), name
