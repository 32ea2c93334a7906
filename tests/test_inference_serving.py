"""A server in its steady state: what must hold of any operating point, and what is refused."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from engine_cases import DEEPSEEK, LLAMA
from engine_simulated import simulated
from hypothesis import given, settings
from hypothesis import strategies as st
from scaleright import catalog
from scaleright.inference.curves import curves
from scaleright.inference.deployment import Deployment
from scaleright.inference.first_token import AHEAD, FRONT_S, TOKENIZED_S, front_s
from scaleright.inference.lengths import Load, Speculation, tokens_per_step
from scaleright.inference.serving import engine_step, steady


@settings(max_examples=60)
@given(
    reads=st.floats(1, 60_000),
    writes=st.floats(1, 20_000),
    concurrency=st.floats(1, 3000),
    cached=st.floats(0, 1),
)
def test_littles_law_holds_at_every_load(reads, writes, concurrency, cached):
    """Requests in the system are their rate times the time that each spends there; the step under
    way is all that comes on top.
    """
    point = steady(LLAMA, Load(reads, writes, cached), concurrency)
    reading_s = point.queue_s + point.rhythm.prompt_steps * point.mixed_step.total
    front = front_s(reads, point.batch, point.plain_step.total)
    rest = point.ttft_s - front - reading_s
    assert point.requests_per_s * (point.request_s - front - rest) == pytest.approx(
        concurrency, rel=1e-6
    )
    under_way = rest - AHEAD * min(point.batch - 1, 1.0) * point.plain_step.total
    assert -1e-9 <= under_way <= max(point.mixed_step.total, point.plain_step.total)


@settings(max_examples=60)
@given(reads=st.floats(1, 60_000), writes=st.floats(1, 20_000), concurrency=st.floats(1, 500))
def test_a_step_holds_no_more_tokens_than_the_engine_allows(reads, writes, concurrency):
    point = steady(LLAMA, Load(reads, writes), concurrency)
    assert 0 <= point.rhythm.share <= 1
    assert point.rhythm.requests * (writes - 1 + reads) <= LLAMA.chunk_tokens * (1 + 1e-9)


def test_one_request_alone_waits_for_nobody():
    point = steady(LLAMA, Load(1000, 1000), 1)
    assert point.tpot_s == pytest.approx(point.plain_step.total) and point.queue_s == 0
    assert point.ttft_s == pytest.approx(point.mixed_step.total + FRONT_S + 1000 * TOKENIZED_S)


def test_parts_sum_and_times_are_linear_in_the_slowdowns():
    ones = {"matmul": 1.0}
    point, slower = (
        steady(LLAMA, Load(2000, 300), 64, slowdowns=ones),
        steady(LLAMA, Load(2000, 300), 64, slowdowns={"matmul": 3.0}),
    )
    for step, slow in ((point.step, slower.step), (point.token_step, slower.token_step)):
        assert step.total == pytest.approx(sum(step.parts().values()))
        assert slow.total == pytest.approx(step.total + 2 * step.matmul_s)
    assert slower.ttft_s > point.ttft_s and slower.batch == point.batch


def test_arrays_are_many_operating_points():
    many = steady(LLAMA, Load(1000, 1000), np.array([1.0, 50.0, 5000.0]))
    for index, concurrency in enumerate((1.0, 50.0, 5000.0)):
        one = steady(LLAMA, Load(1000, 1000), concurrency)
        assert many.ttft_s[index] == pytest.approx(one.ttft_s)
        assert many.output_tokens_per_s[index] == pytest.approx(one.output_tokens_per_s)
    assert many.queue_s[1] == 0 < many.queue_s[2]


def test_throughput_and_time_per_token_rise_with_the_batch():
    points = steady(LLAMA, Load(1000, 1000), 2.0 ** np.arange(10))
    assert (np.diff(points.output_tokens_per_s) > 0).all() and (np.diff(points.tpot_s) > 0).all()


def test_long_answers_are_met_more_often_than_they_are_asked_for():
    even, spread = Load(1000, 500), Load(1000, 500, input_cv=1.0, output_cv=1.0)
    draws = np.random.default_rng(6).lognormal(size=(2, 2_000_000))
    reads, writes = 1000 * draws[0] / draws[0].mean(), 500 * draws[1] / draws[1].mean()
    spreads = (
        reads.std() / reads.mean(),
        writes.std() / writes.mean(),
        np.corrcoef(reads, writes)[0, 1],
    )
    drawn = Load(reads.mean(), writes.mean(), 0.0, *spreads)
    assert drawn.context == pytest.approx(
        (writes * (reads + writes / 2)).mean() / writes.mean(), rel=1e-6
    )
    assert drawn.prompt_context == pytest.approx((reads**2).mean() / (2 * reads.mean()), rel=1e-6)
    assert drawn.length == pytest.approx(
        (writes * (reads + writes)).mean() / writes.mean(), rel=1e-6
    )
    assert even.context == 1250 and steady(LLAMA, spread).batch < steady(LLAMA, even).batch


def test_an_engine_that_never_evicts_runs_fewer_sequences():
    load = Load(1000, 4000)
    assert (
        steady(replace(LLAMA, software="TensorRT-LLM 1.2", kv_precision="BF16"), load).batch
        < steady(LLAMA, load).batch
    )


def test_a_cache_of_prefixes_saves_reading_and_keeps_looking_back():
    cold, warm = (steady(LLAMA, Load(8000, 200, share), 32) for share in (0.0, 0.9))
    way_s = front_s(8000.0, 32.0, cold.plain_step.total)
    assert warm.ttft_s - way_s < (cold.ttft_s - way_s) / 3
    assert warm.output_tokens_per_s > 1.5 * cold.output_tokens_per_s
    assert warm.plain_step.total == cold.plain_step.total


def test_multi_token_prediction_pays_at_small_batches():
    plain = steady(DEEPSEEK, Load(1024, 1024), 4)
    guessed = steady(DEEPSEEK, Load(1024, 1024, speculation=Speculation(1, 0.85)), 4)
    assert 1.2 < plain.tpot_s / guessed.tpot_s < 1.85
    assert guessed.output_tokens_per_s > plain.output_tokens_per_s
    never = steady(DEEPSEEK, Load(1024, 1024, speculation=Speculation(3, 0.0)), 4)
    assert never.tpot_s > plain.tpot_s


def test_tokens_per_step_is_the_sum_of_chances():
    for guesses in range(6):
        for acceptance in (0.0, 0.3, 0.9, 1.0):
            assert tokens_per_step(guesses, acceptance) == pytest.approx(
                sum(acceptance**k for k in range(guesses + 1))
            )


def test_what_is_refused_and_what_is_offered():
    big = Deployment(
        catalog.model("Llama-3.1-405B"), catalog.accelerator("H100 SXM"), "BF16", tensor=8
    )
    with pytest.raises(
        ValueError,
        match=(
            r"8 x H100 SXM: no request of 2,000 tokens fits beside the weights; nearest that fits:"
            r" 16 chips"
        ),
    ):
        steady(big, Load(1000, 1000))
    with pytest.raises(ValueError, match=r"batch = 100,000, allowed: \d+ sequences of the load"):
        steady(LLAMA, Load(1000, 1000), batch=100_000)
    with pytest.raises(
        ValueError,
        match=r"Llama-3.1-70B: input_tokens \+ output_tokens = 201,000, allowed: 131,072",
    ):
        steady(LLAMA, Load(200_000, 1000))
    with pytest.raises(
        ValueError, match="steady: concurrency = 0 is outside its domain, allowed: 1 or more"
    ):
        steady(LLAMA, Load(1000, 1000), 0)
    with pytest.raises(
        ValueError,
        match=r"Load: cached_share = 50 is outside its domain, allowed: 0 to 1; did you mean 0.5",
    ):
        Load(1000, 1000, 50)
    with pytest.raises(ValueError, match="Speculation: acceptance = 80"):
        Speculation(2, 80)
    with pytest.raises(ValueError, match="tensor = 6 does not divide heads = 64; nearest: 4 or 8"):
        steady(replace(LLAMA, tensor=6), Load(1000, 1000))


def test_no_number_of_an_operating_point_is_lost():
    point = steady(LLAMA, Load(1, 1), np.array([1.0, 7.0, 1e4]))
    numbers = [
        value
        for value in (getattr(point, field.name) for field in fields(point))
        if isinstance(value, (float, np.ndarray))
    ]
    assert len(numbers) > 4
    assert all(np.isfinite(number).all() for number in numbers)
    assert math.isfinite(point.step.total[0])


@pytest.mark.parametrize(
    "prompt, answer, clients, shape, rounds",
    [
        (1000, 200, 32, 12, 10),
        (300, 200, 64, 12, 10),
        (12000, 150, 8, 12, 10),
        (400, 60, 64, 1, 20),  # most steps carry prompts
        (400, 60, 256, 1, 20),
    ],
)
def test_a_simulated_scheduler_agrees(prompt, answer, clients, shape, rounds):
    draw = np.random.default_rng(6)
    many = rounds * clients
    of = draw.uniform(0.5, 1.5, many) if shape == 12 else draw.exponential(1.0, many)
    reads = np.maximum(np.round(prompt * of), 1.0)
    writes = np.round(answer * draw.uniform(0.5, 1.5, many))
    speed, ttft_s, tpot_s, itl_s = simulated(LLAMA, reads, writes, clients)
    spread = shape**-0.5, 12**-0.5
    point = steady(LLAMA, Load(reads.mean(), writes.mean(), 0.0, *spread), clients)
    assert point.output_tokens_per_s == pytest.approx(speed, rel=0.04)
    assert point.tpot_s == pytest.approx(tpot_s, rel=0.03)
    assert point.itl_s == pytest.approx(itl_s, rel=0.05 if shape == 1 else 0.02)
    step_s = point.plain_step.total
    way_s = front_s(reads.mean(), clients, step_s) + AHEAD * step_s
    # here a request arrives as a step ends; the model has it wait for a running one
    assert ttft_s < point.ttft_s - way_s < 1.4 * ttft_s


def test_the_first_engine_of_vllm_reads_prompts_in_steps_of_their_own():
    first = replace(LLAMA, software="vLLM 0.5.4")
    point = steady(first, Load(1000, 200), 32, slowdowns={})
    beat = point.rhythm
    alone = engine_step(first, point.load, beat.beside, {})
    prompts = engine_step(
        first, point.load, 0.0, {}, prefill_tokens=beat.chunk, prefill_context=500.0
    )
    assert point.mixed_step.total == pytest.approx(alone.total + prompts.total)
    with pytest.raises(ValueError, match="steps of their own"):
        curves([first])
