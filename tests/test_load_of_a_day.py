"""A day of traffic: the simulation against queueing theory, the closed form against the simulation,
and what both refuse.
"""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scaleright.chapters.load_of_a_day.simulated import Rules, simulated
from scaleright.inference import traffic
from scaleright.inference.day import seats_needed
from scaleright.inference.engine_events import Request, Steps
from scaleright.inference.engine_tables import engines_in

from refresh import traces
from refresh.tables import RefreshError

TICK_S = 1e-3


class Clock:
    """An engine without physics: a token takes a tick, whatever else runs; prompts take nothing."""

    budget, most = 1e9, math.inf

    def __init__(self, seats: int):
        self.seats = seats

    def plain_s(self, running, context):
        return TICK_S

    def grows_s(self, running):
        return 0.0

    def mixed_s(self, beside, context, chunk, before, length):
        return 0.0


def queue(rate: float, services_s: np.ndarray, seed: int) -> list[Request]:
    """Requests that come at random and take so long, in a clock's ticks."""
    gaps = np.random.default_rng(seed).exponential(1 / rate, len(services_s))
    tokens = np.maximum(np.rint(services_s / TICK_S).astype(int), 1) + 1
    return [Request(float(at), 1, 0, int(n)) for at, n in zip(np.cumsum(gaps), tokens, strict=True)]


def waits_s(run) -> np.ndarray:
    return np.array([request.begun_s - request.arrival_s for request in run.requests])


def erlang_c(servers: int, offered: float) -> float:
    """Probability that all of some servers are busy [erlang1917]."""
    blocked = 1.0
    for n in range(1, servers + 1):
        blocked = offered * blocked / (n + offered * blocked)
    return servers * blocked / (servers - offered * (1 - blocked))


@pytest.mark.parametrize("servers, load", [(1, 0.7), (2, 0.8), (5, 0.8), (20, 0.9)])
def test_waiting_agrees_with_erlang(servers, load):
    count, mean = 60_000, 1.0
    services = np.random.default_rng(1).exponential(mean, count)
    run = simulated(Clock(1), queue(load * servers / mean, services, 2), Rules(servers))
    expected = erlang_c(servers, load * servers) * mean / (servers * (1 - load))
    assert waits_s(run).mean() == pytest.approx(expected, rel=0.12)
    assert (waits_s(run) > TICK_S).mean() == pytest.approx(
        erlang_c(servers, load * servers), abs=0.03
    )


@pytest.mark.parametrize("load", [0.5, 0.8])
def test_one_engine_of_equal_requests_agrees_with_pollaczek_and_khinchine(load):
    run = simulated(Clock(1), queue(load, np.ones(40_000), 3), Rules(1))  # M/D/1
    assert waits_s(run).mean() == pytest.approx(load / (2 * (1 - load)), rel=0.06)


def test_one_engine_of_mixed_requests_agrees_with_pollaczek_and_khinchine():
    services = np.where(np.random.default_rng(4).random(60_000) < 0.9, 0.5, 5.5)  # M/G/1
    load = 0.6
    run = simulated(Clock(1), queue(load, services, 5), Rules(1))
    expected = load * (services**2).mean() / (2 * (1 - load))
    assert waits_s(run).mean() == pytest.approx(expected, rel=0.1)


def test_as_many_are_there_as_little_says():
    services = np.random.default_rng(6).exponential(1.0, 20_000)
    run = simulated(Clock(4), queue(6.0, services, 7), Rules(2))
    mean_s = np.mean([one.end_s - one.arrival_s for one in run.requests])
    rate = len(run.requests) / run.until_s
    there = [running + waiting for _, _, _, running, waiting in run.seen]
    assert np.mean(there) == pytest.approx(rate * mean_s, rel=0.1)


@pytest.fixture(scope="module")
def engine() -> Steps:
    one, load = engines_in("Llama-3.3-70B", "H100 SXM")[1][0], traffic.load_of("conversation")
    return Steps(one, int(float(one.batch_at(1 / 30, load))))


def test_a_full_engine_writes_what_the_steady_state_says(engine):
    load = traffic.load_of("conversation")
    at = engine.curve.at(float(engine.seats), load)
    run = simulated(engine, traffic.requests("conversation", [20.0], 600.0), Rules(2))
    assert run.utilization(at.requests_per_s * load.output_tokens) == pytest.approx(0.98, abs=0.05)
    assert run.quantile("tpot_s", 0.5) == pytest.approx(at.tpot_s, rel=0.1)


RULES = {
    "plain": Rules(3),
    "scaled": Rules(2, wanted=lambda now: 2 + int(now > 300) - int(now > 900), startup_s=120.0),
    "taken away": Rules(3, interruptions_per_hour=20.0, startup_s=60.0, seed=1),
}


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_every_request_ends_once_and_after_it_came(engine, rules):
    coming = traffic.requests("conversation", [7.0, 12.0, 5.0], 600.0)
    waiting = [Request(0.0, 1000, 0, 200) for _ in range(300)]
    run = simulated(engine, coming, rules, waiting)
    every = [*run.requests, *run.waited]
    assert len(run.requests) == len(coming) and len(run.waited) == 300
    assert all(one.arrival_s <= one.begun_s <= one.first_s <= one.end_s for one in every)
    assert all(not math.isnan(one.end_s) for one in every)
    assert run.paid_s >= run.busy_s > 0
    assert (
        run.interrupted == sum(one.restarts > 0 for one in every)
        or run.interrupted > 0
        or (not any(one.restarts for one in every))
    )


def test_a_seed_gives_the_same_day(engine):
    def day():
        coming = traffic.requests("code completion", [4.0], 600.0, seed=5)
        return simulated(engine, coming, RULES["taken away"])

    first, again = day(), day()
    assert [one.end_s for one in first.requests] == [one.end_s for one in again.requests]
    assert first.paid_s == again.paid_s and first.events == again.events


def test_more_engines_never_make_most_requests_wait_longer(engine):
    late = [
        simulated(engine, traffic.requests("conversation", [8.0], 900.0), Rules(many)).quantile(
            "ttft_s", 0.95
        )
        for many in (2, 3, 5)
    ]
    assert late[0] > late[1] >= late[2]


def test_work_that_waits_fills_the_valley_and_delays_few(engine):
    coming = traffic.requests("conversation", [4.0], 1200.0)
    alone = simulated(engine, [*map(fresh, coming)], Rules(2))
    waiting = [Request(0.0, 1000, 0, 200) for _ in range(1500)]
    both = simulated(engine, coming, Rules(2, spare=12), waiting)
    assert both.output_tokens > 1.2 * alone.output_tokens
    assert both.quantile("ttft_s", 0.95) < 2.0


def test_an_engine_that_starts_is_paid_from_its_order(engine):
    rules = Rules(1, wanted=lambda now: 2, startup_s=300.0)
    run = simulated(engine, traffic.requests("conversation", [2.0], 900.0), rules)
    ready = [(now, many) for now, many, *_ in run.seen]
    assert max(many for now, many in ready if now < 300) == 1
    assert any(many == 2 for now, many in ready if now > 360)
    assert run.paid_s == pytest.approx(2 * run.until_s, rel=0.01)


@pytest.mark.parametrize(
    "many, coming, words",
    [
        (0, [Request(0.0, 10, 0, 5)], "engines = 0: a fleet of less than one whole engine"),
        (1, [Request(5.0, 10, 0, 5), Request(1.0, 10, 0, 5)], "request 2 comes at 1 s, before"),
        (1, [Request(0.0, 10, 0, 0)], "request 1 has a prompt of 10 and an answer of 0 tokens"),
    ],
)
def test_what_cannot_be_is_refused_by_the_row(many, coming, words):
    with pytest.raises(ValueError, match=words):
        simulated(Clock(1), coming, Rules(many))


@pytest.mark.parametrize(
    "rows, words",
    [
        ("2023-11-16 18:17:05.0,10,5\n2023-11-16 18:17:03.0,10,5\n", "request 2: comes 2 s before"),
        ("2023-11-16 18:17:05.0,10,0\n", "request 1: a prompt of 10 and an answer of 0 tokens"),
    ],
)
def test_an_import_refuses_a_trace_by_its_row(tmp_path: Path, rows, words):
    file = tmp_path / traces.FILES["azure_code"]
    file.parent.mkdir()
    file.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n" + rows, encoding="utf-8")
    with pytest.raises(RefreshError, match=words):
        [*traces.rows(tmp_path, "azure_code")]


@given(st.floats(1.0, 6.0))
def test_a_day_has_its_mean_and_its_peak(peak):
    day = [traffic.load_at(float(hour), peak) for hour in range(24)]
    assert np.mean(day) == pytest.approx(1.0, rel=1e-4)
    assert max(day) == pytest.approx(peak)
    assert min(day) == pytest.approx(peak * math.exp(-2 * traffic.concentration(peak)))


@given(st.floats(0.1, 1e4), st.floats(0, 5), st.floats(0, 3), st.floats(0, 3))
def test_bunches_take_more_seats_and_patience_fewer(offered, patience, less, more):
    few, many = sorted((less, more))
    assert offered <= seats_needed(offered, patience, few) <= seats_needed(offered, patience, many)
    assert seats_needed(offered, patience, few) <= seats_needed(offered, 0.0, few)


def test_a_larger_service_is_steadier_until_bunches_rule():
    over = [seats_needed(size, 0.0, 0.05) / size for size in (10.0, 100.0, 1e5)]
    assert over[0] > over[1] > over[2] > 1 + traffic.NINETEEN_OF_TWENTY * 0.05**0.5 - 1e-3


@given(st.floats(0, 100), st.floats(0.5, 1))
def test_engines_are_whole(needed, available):
    found = traffic.whole_engines(needed, available)
    assert found == int(found) >= 1 and found * available >= needed - 1e-6


def test_bunching_falls_with_the_window_and_is_read_between_them():
    for name in traffic.TRACES:
        values = traffic.bunching(name)
        assert list(values) == sorted(values, reverse=True)
        assert traffic.bunching_in(values, traffic.WINDOWS_S[3]) == pytest.approx(values[3])
        assert values[4] <= traffic.bunching_in(values, 12.0) <= values[3]


@settings(max_examples=20)
@given(st.floats(0.5, 20.0), st.integers(0, 5))
def test_traffic_has_the_rate_that_is_asked_for(rate, seed):
    made = traffic.requests("conversation", [rate, rate], 3600.0, seed)
    times = [one.arrival_s for one in made]
    assert times == sorted(times)
    assert len(made) / 7200 == pytest.approx(rate, rel=0.05, abs=0.1)
    assert min(one.output_tokens for one in made) >= 1


def test_traces_are_those_that_are_known():
    assert [len(traffic.hour_of(name).arrival_s) for name in traffic.TRACES] == [19366, 8819, 12031]
    with pytest.raises(LookupError, match="conversation"):
        traffic.hour_of("conversatoin")


NEEDED = [("conversation", 7.0), ("conversation", 17.0), ("long conversation", 1.2)]


@pytest.mark.parametrize("name, rate", NEEDED)
def test_the_closed_form_asks_for_as_many_engines_as_the_simulation(engine, name, rate):
    load, patience_s = traffic.load_of(name), 2.0
    seats = int(float(engine.curve.batch_at(1 / 30, load)))
    steps = Steps(engine.curve, seats)
    at = steps.curve.at(float(seats), load)
    service_s = seats / at.requests_per_s
    window = traffic.bunching_in(traffic.bunching(name), service_s + patience_s)
    needed = math.ceil(seats_needed(rate * service_s, patience_s / service_s, window) / seats)
    coming = traffic.requests(name, [rate], 3000.0)

    def enough(engines: int) -> bool:
        found = simulated(steps, list(map(fresh, coming)), Rules(engines))
        return (waits_s(found) > patience_s).mean() <= 0.05

    assert enough(needed + 1) and not (needed > 2 and enough(needed - 2))


def fresh(request: Request) -> Request:
    return Request(
        request.arrival_s, request.new_tokens, request.cached_tokens, request.output_tokens
    )
