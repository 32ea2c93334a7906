"""How a run of few requests ends: as a simulated scheduler has it, and what must be true."""

from dataclasses import replace

import numpy as np
import pytest
from engine_cases import LLAMA
from engine_simulated import simulated
from hypothesis import given, settings
from hypothesis import strategies as st
from scaleright.inference.lengths import Load
from scaleright.inference.serving import EVEN, drawn, offline, steady, thinning

ALONE = replace(LLAMA, software="SGLang 0.5.9")


def even(prompt: int, answer: int, many: int) -> tuple[np.ndarray, np.ndarray]:
    """Lengths of so many requests, drawn evenly from one token to twice their means."""
    draw = np.random.default_rng(7)
    return tuple(np.ceil(2 * mean * draw.uniform(0, 1, many)) for mean in (prompt, answer))


@pytest.mark.parametrize("engine", [LLAMA, ALONE])
@pytest.mark.parametrize("clients, rounds", [(16, 5), (64, 5), (64, 1)])
def test_a_whole_run_is_as_fast_as_a_simulated_scheduler_has_it(engine, clients, rounds):
    """Its last requests included, whether prompts are read apart or beside answers."""
    reads, writes = even(500, 500, clients * rounds)
    first = engine is ALONE
    found = simulated(engine, reads, writes, clients, reads_first=first, skip=0, to_the_end=True)
    load = Load(reads.mean(), writes.mean(), 0.0, EVEN, EVEN)
    run = offline(engine, load, len(reads), clients)
    assert run.output_tokens_per_s == pytest.approx(found.speed, rel=0.1)
    assert run.output_tokens_per_s < 0.95 * steady(engine, load, clients).output_tokens_per_s


@pytest.mark.parametrize("clients", [16, 64])
def test_prompts_that_are_read_apart_hold_answers_up_as_a_simulated_scheduler_has_it(clients):
    reads, writes = even(1000, 200, 10 * clients)
    found = simulated(ALONE, reads, writes, clients, reads_first=True)
    point = steady(ALONE, Load(reads.mean(), writes.mean(), 0.0, EVEN, EVEN), clients)
    assert point.output_tokens_per_s == pytest.approx(found.speed, rel=0.1)
    beside = steady(LLAMA, point.load, clients)
    assert point.tpot_s > point.plain_step.total and point.token_step.host_s > 0
    assert point.rhythm.carrying == pytest.approx(beside.rhythm.carrying, rel=0.2)


def test_requests_that_stay_together_have_no_prompt_between_their_tokens():
    together = steady(ALONE, Load(1024, 128), 32, alike=True)
    assert together.tpot_s == together.plain_step.total < steady(ALONE, Load(1024, 128), 32).tpot_s
    assert together.output_tokens_per_s == steady(ALONE, Load(1024, 128), 32).output_tokens_per_s


def test_a_long_run_is_as_fast_as_a_server():
    load = Load(500, 500, 0.0, EVEN, EVEN)
    speeds = [offline(LLAMA, load, rounds * 64, 64).output_tokens_per_s for rounds in (1, 2, 5, 50)]
    assert speeds == sorted(speeds)
    assert speeds[-1] == pytest.approx(steady(LLAMA, load, 64).output_tokens_per_s, rel=0.03)


@settings(max_examples=60)
@given(requests=st.integers(1, 400), running=st.integers(1, 500), variation=st.floats(0, 2.0))
def test_no_work_is_lost_and_no_more_run_than_may(requests, running, variation):
    full, thin, left = thinning(requests, running, variation)
    assert full * min(running, requests) + thin * left == pytest.approx(requests)
    assert full >= 0 and thin > 0 and left <= min(running, requests) * (1 + 1e-9)
    lengths = drawn(requests, variation)
    assert lengths.mean() == pytest.approx(1.0) and np.all(np.diff(lengths) >= 0)


@pytest.mark.parametrize("variation", [0.3, EVEN, 0.8, 1.5])
def test_lengths_spread_as_widely_as_they_should(variation):
    assert drawn(20_000, variation).std() == pytest.approx(variation, rel=0.02)


def test_the_last_of_many_even_lengths_ends_last():
    """All at once, the longest sets the end; even lengths reach twice their mean."""
    full, thin, left = thinning(1000, 1000, EVEN)
    assert (full, round(thin, 2), round(left)) == (0.0, 2.0, 500)
