"""The first token of a day: one answer for one engine at one load, and how long prompts wait for
each other.
"""

import math

import numpy as np
import pytest
import simpy
from hypothesis import given
from hypothesis import strategies as st
from scaleright.inference.day import DayEngine, Traffic
from scaleright.inference.engine_events import Engine, Request, Steps
from scaleright.inference.engine_tables import engines_in
from scaleright.inference.first_token import late_reading_wait_s, reading_wait_s
from scaleright.inference.serving import steady
from scaleright.inference.traffic import hour_of, load_of, trace_terms


def first_tokens(curve, running: int, trace: str, count: int = 3000) -> np.ndarray:
    """Times to the first token of one simulated engine at which so many clients each send a request
    when the one before is answered, the first and last fifth of them left out [s].
    """
    of, draw = hour_of(trace), np.random.default_rng(0)
    which = draw.integers(0, len(of.arrival_s), count)
    cached, sent = of.cached_tokens[which], list[Request]()
    fresh, writes = of.input_tokens[which] - cached, of.output_tokens[which]
    env, coming = simpy.Environment(), iter(range(count))

    def send(after_s: float) -> None:
        place = next(coming, None)
        if place is None:
            return

        def come(_) -> None:
            request = Request(env.now, int(fresh[place]), int(cached[place]), int(writes[place]))
            sent.append(request)
            engine.take(request)

        env.timeout(after_s).callbacks.append(come)

    engine = Engine(env, Steps(curve, running), lambda *_: send(float(draw.uniform(0, 0.04))))
    for _ in range(running):
        send(float(draw.uniform(0, 5)))
    env.run()
    return np.array([one.ttft_s for one in sent[count // 5 : -count // 5]])


@pytest.mark.parametrize("running", [4, 16])
@pytest.mark.parametrize("trace", ["conversation", "long conversation"])
def test_one_engine_at_one_load_has_one_first_token(trace, running):
    """The simulation of the day, the closed form of the day and the serving model."""
    found, known = engines_in("Llama-3.3-70B", "H100 SXM")
    load = load_of(trace)
    closed = float(known[0].at(float(running), load).ttft_s)
    assert first_tokens(known[0], running, trace).mean() == pytest.approx(closed, rel=0.1)
    assert float(steady(found[0], load, running).ttft_s) == pytest.approx(closed, rel=0.05)


def engine_with(ttft_s: float, trace: str = "long conversation") -> DayEngine:
    """The day's engine of a promised first token."""
    terms, load = trace_terms(trace), load_of(trace)
    curve = engines_in("Llama-3.3-70B", "H100 SXM")[1][0]
    of = load, terms["long_tokens"], terms["bunching"]
    return DayEngine.of(curve, Traffic(1e5, 0.0, 1.4, *of, 30.0, ttft_s))


def test_long_prompts_bound_how_full_an_engine_may_be():
    tight, loose = engine_with(4.0), engine_with(16.0)
    assert 0 < tight.filled < loose.filled < 1
    assert tight.ttft_s <= 4.0 and tight.kept and loose.kept
    assert tight.needed(1.0) > loose.needed(1.0)
    assert not engine_with(1.0).kept and engine_with(1.0).ttft_s > 1.0


def test_short_prompts_hardly_wait_for_each_other():
    short, long = engine_with(2.0, "conversation"), engine_with(16.0)
    curve = engines_in("Llama-3.3-70B", "H100 SXM")[1][0]
    for one, name, most in ((short, "conversation", 1.2), (long, "long conversation", 3.0)):
        load, terms = load_of(name), trace_terms(name)
        fresh = terms["long_tokens"] * (1 - load.cached_share)
        longer = float(curve.prompt_s(fresh) - curve.prompt_s(load.new_tokens))
        alone = float(curve.at(one.seats, load).ttft_s) + longer
        assert 1 <= one.ttft_s / alone < most


@given(st.floats(0.06, 0.94), st.floats(0.01, 10), st.floats(0, 3), st.floats(1, 5))
def test_busier_engines_more_spread_and_clumps_make_prompts_wait_longer(busy, each, varies, clumps):
    for wait_s in (reading_wait_s, late_reading_wait_s):
        at = wait_s(busy, each, varies, clumps)
        assert at >= 0
        assert wait_s(min(busy * 1.05, 0.99), each, varies, clumps) > at
        assert wait_s(busy, each, varies + 0.1, clumps) > at
        assert wait_s(busy, each, varies, clumps + 0.1) > at


def test_the_late_one_of_exponential_services_waits_as_a_queue_of_one_server_has_it():
    busy = 0.7  # M/M/1: a share `busy` waits, and exponentially
    assert late_reading_wait_s(busy, 1.0, 1.0, 1.0) == pytest.approx(
        math.log(20 * busy) / (1 - busy)
    )
    assert reading_wait_s(busy, 1.0, 1.0, 1.0) == pytest.approx(busy / (1 - busy))
