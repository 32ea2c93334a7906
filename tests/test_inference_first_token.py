"""The time to the first token: waiting as a simulated scheduler has it, and what must be true."""

from dataclasses import replace

import engine_cases
import numpy as np
import pytest
from engine_simulated import simulated
from hypothesis import given, settings
from hypothesis import strategies as st
from scaleright import catalog
from scaleright.inference.deployment import Deployment
from scaleright.inference.first_token import (
    AHEAD,
    FRONT_S,
    LAUNCHED_S,
    TOKENIZED_S,
    burst_s,
    first_token_s,
    front_s,
    launching,
    stays_together,
)
from scaleright.inference.lengths import Load
from scaleright.inference.serving import slots, steady

LLAMA = replace(engine_cases.LLAMA, software="SGLang 0.5.9")
QWEN = Deployment(
    catalog.model("Qwen3-235B-A22B"),
    catalog.accelerator("H100 SXM"),
    "FP8",
    tensor=8,
    software="SGLang 0.5.9",
)


def requests(prompt: int, answer: int, many: int, spread: float) -> tuple[np.ndarray, np.ndarray]:
    """Lengths of so many requests, drawn within a share of their means on either side."""
    draw = np.random.default_rng(3)
    reads = np.round(prompt * draw.uniform(1 - spread, 1 + spread, many))
    return reads, np.round(answer * draw.uniform(1 - spread, 1 + spread, many))


def way_s(point) -> float:
    """The way of a first token, and the host [s]."""
    return front_s(point.load.input_tokens, point.batch, point.plain_step.total)


def waits(point) -> float:
    """What a first token takes beside the way and the step that is launched ahead [s]."""
    return point.ttft_s - way_s(point) - AHEAD * point.plain_step.total


def test_requests_of_one_length_stay_together_where_prompts_are_read_first():
    """As a simulated scheduler has it; with lengths drawn they part, whatever is read first."""
    clients, prompt, answer = 32, 1024, 128
    alike, unlike = (requests(prompt, answer, 8 * clients, spread) for spread in (0.0, 0.5))
    convoy = simulated(LLAMA, *alike, clients, reads_first=True, away_s=FRONT_S).ttft_s
    together = steady(LLAMA, Load(prompt, answer), clients, requests=10 * clients, alike=True)
    assert together.ttft_s - way_s(together) == pytest.approx(convoy, rel=0.1)
    calm = waits(steady(LLAMA, Load(prompt, answer), clients))
    for first in (True, False):
        parted = simulated(LLAMA, *unlike, clients, reads_first=first, away_s=FRONT_S).ttft_s
        assert calm == pytest.approx(parted, rel=0.25) and parted < convoy / 5
    assert stays_together(LLAMA, True) and not stays_together(LLAMA, False)
    assert not stays_together(replace(LLAMA, software="vLLM 0.17.0"), True)


@pytest.mark.parametrize("crowd", [1.5, 3.0])
def test_who_finds_no_slot_waits_as_long_as_a_simulated_scheduler_has_it(crowd):
    few = replace(LLAMA, max_sequences=16)
    load, clients = Load(800, 120), int(16 * crowd)
    reads, writes = requests(800, 120, 10 * clients, 0.5)
    assert slots(few, load) == 16
    found = simulated(few, reads, writes, clients, slots=16, reads_first=True)
    point = steady(few, Load(reads.mean(), writes.mean(), 0.0, 0.29, 0.29), clients)
    assert waits(point) == pytest.approx(found.ttft_s, rel=0.1)
    assert point.queue_s > 0.8 * found.ttft_s


def test_a_burst_is_read_step_after_step_as_a_simulated_scheduler_does():
    clients = 40
    reads, writes = requests(2000, 400, clients + 1, 0.0)
    found = simulated(LLAMA, reads, writes, clients, skip=0)
    point = steady(LLAMA, Load(2000, 400), clients, requests=clients)
    assert point.ttft_s - way_s(point) == pytest.approx(found.ttft_s, rel=0.12)


def test_prompts_take_no_less_than_their_launches_where_no_graph_is_captured():
    floor = LAUNCHED_S * QWEN.model.layers
    assert launching(QWEN, 1.0) == floor and launching(LLAMA, 1.0) == 0
    assert launching(replace(QWEN, software="vLLM 0.17.0"), 1.0) == 0
    short, none = steady(QWEN, Load(100, 200), 1), replace(QWEN, software="")
    assert short.ttft_s == pytest.approx(floor + FRONT_S + 100 * TOKENIZED_S)
    assert steady(none, Load(100, 200), 1).ttft_s < short.ttft_s


@settings(max_examples=80)
@given(parts=st.tuples(*[st.floats(0, 10)] * 3), running=st.floats(1, 4096), more=st.floats(0, 5))
def test_no_more_of_anything_brings_the_first_token_sooner(parts, running, more):
    queue, rest, step = parts
    front = front_s(1000.0, running, step)
    at = first_token_s(queue, rest, step, running, 0.1, front, 0.2)
    assert at >= queue + rest + 0.2 + front >= queue + rest + 0.2 + FRONT_S
    assert first_token_s(queue + more, rest, step, running + more, 0.1, front, 0.2) >= at
    assert first_token_s(queue, rest, step + more, running, 0.1, front, 0.2 + more) >= at
    assert burst_s(step, 2.0 + more, front) >= burst_s(step, 2.0, front)
    assert (
        front
        <= front_s(1000.0 + more, running + more, step + more)
        <= front + 1e-3 * more + (more + 5e-6 * more)
    )


@given(clients=st.integers(1, 400), prompt=st.integers(10, 8000), more=st.floats(1.05, 3))
def test_more_clients_and_longer_prompts_never_bring_it_sooner(clients, prompt, more):
    point = steady(LLAMA, Load(prompt, 200), clients)
    assert steady(LLAMA, Load(prompt, 200), clients * more).ttft_s >= point.ttft_s * 0.995
    assert steady(LLAMA, Load(prompt * more, 200), clients).ttft_s >= point.ttft_s * 0.995
