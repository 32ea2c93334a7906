"""Time of an engine's step by kind of work: what other tools get wrong, what must be true of any
step, and published steps.
"""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scaleright import catalog
from scaleright.collectives import network
from scaleright.inference.deployment import Deployment
from scaleright.inference.phases import (
    EXPANDED_SHARE,
    KINDS,
    StepSeconds,
    quick_all_reduce_seconds,
    step_parts,
    step_seconds,
    waited_kernels,
)
from scaleright.roofline import MEMORY_SHARE, speeds
from scaleright.transformer import decode_bytes_per_step, kv_bytes_per_token

MODELS = {
    name: catalog.model(name)
    for name in (
        "Llama-2-70B",
        "Llama-3.1-8B",
        "DeepSeek-V3",
        "DeepSeek-V3.2",
        "gpt-oss-120b",
        "Llama-4-Scout",
        "Qwen3-235B-A22B",
    )
}
H100, H200, B200 = (catalog.accelerator(name) for name in ("H100 SXM", "H200 SXM", "B200"))
LLAMA = Deployment(MODELS["Llama-2-70B"], H100, tensor=8)
DEEPSEEK = Deployment(MODELS["DeepSeek-V3"], H200, "FP8", tensor=8, expert=8)
GROUPS = replace(DEEPSEEK, tensor=1, attention_data=8)
ALL = [
    LLAMA,
    DEEPSEEK,
    GROUPS,
    replace(GROUPS, expert=1),
    replace(LLAMA, tensor=2, pipeline=4),
    Deployment(MODELS["gpt-oss-120b"], H100, "MXFP4"),
    Deployment(MODELS["DeepSeek-V3.2"], B200, "NVFP4", tensor=4),
    Deployment(MODELS["Llama-4-Scout"], H100, tensor=4, expert=4),
    Deployment(MODELS["Llama-3.1-8B"], catalog.accelerator("L40S"), "INT4"),
    Deployment(MODELS["Llama-3.1-8B"], catalog.accelerator("MI300X"), "INT8"),
]


def total(d, *work, **more):
    return float(sum(step_parts(d, *work, **more).values()))


@pytest.mark.parametrize("d", ALL, ids=lambda d: f"{d.model.name} {d.precision}")
def test_parts_are_finite_not_negative_and_one_array_is_many_numbers(d):
    batch, context = (
        np.array([0.0, 1.0, 7.0, 256.0, 4096.0]),
        np.array([0.0, 1.0, 5000.0, 900.0, 30_000.0]),
    )
    prompts, seen = (
        np.array([8192.0, 0.0, 100.0, 0.0, 4096.0]),
        np.array([4096.0, 0.0, 50.0, 0.0, 2000.0]),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        many = step_parts(d, batch, context, prompts, seen)
    assert tuple(many) == KINDS
    for kind, value in many.items():
        assert np.isfinite(value).all() and (np.asarray(value) >= 0).all(), kind
        alone = [
            step_parts(d, *work)[kind] for work in zip(batch, context, prompts, seen, strict=True)
        ]
        assert np.broadcast_to(value, 5) == pytest.approx(np.array(alone, dtype=float)), kind
    assert many["cache"][0] == 0
    assert many["attention"][1] == 0
    assert many["attention"][3] == 0
    assert np.broadcast_to(many["sequences"], 5)[0] == 0


def test_a_step_is_the_sum_of_its_parts_and_linear_in_the_slowdowns():
    plain = step_seconds(LLAMA, 32, 1000, 256, 128)
    assert plain.total == pytest.approx(sum(plain.parts().values()))
    assert tuple(plain.parts()) == tuple(f"{kind}_s" for kind in KINDS)
    for kind in KINDS:
        slow = step_seconds(LLAMA, 32, 1000, 256, 128, slowdowns={kind: 3.0})
        assert slow.total - plain.total == pytest.approx(2 * getattr(plain, f"{kind}_s"))
    assert isinstance(plain, StepSeconds)


def test_layouts_in_arrays_are_the_layouts_alone():
    tensor, pipeline = np.array([1, 2, 4, 8]), np.array([8, 4, 2, 1])
    together = step_seconds(replace(LLAMA, tensor=tensor, pipeline=pipeline), 64, 2000, 512, 256)
    alone = [
        step_seconds(replace(LLAMA, tensor=t, pipeline=p), 64, 2000, 512, 256).total
        for t, p in zip(tensor.tolist(), pipeline.tolist(), strict=True)
    ]
    assert together.total == pytest.approx(np.array(alone, dtype=float))
    experts = np.array([1, 2, 4, 8])
    spread = step_seconds(replace(GROUPS, expert=experts), 64, 2000)
    assert spread.total == pytest.approx(
        np.array(
            [
                float(step_seconds(replace(GROUPS, expert=e), 64, 2000).total)
                for e in experts.tolist()
            ]
        )
    )


@given(
    batch=st.integers(1, 2000),
    context=st.integers(1, 30_000),
    prompt=st.integers(0, 8192),
    which=st.sampled_from(ALL),
)
@settings(max_examples=60)
def test_more_work_never_takes_less_time(batch, context, prompt, which):
    seconds = total(which, batch, context, prompt, prompt / 2)
    assert total(which, 2 * batch, context, prompt, prompt / 2) > seconds
    assert total(which, batch, 2 * context, prompt, prompt / 2) >= seconds
    # a prompt may hide the launches, no more
    assert total(which, batch, context, prompt + 512, prompt / 2) >= 0.999 * seconds
    assert total(which, batch, context, prompt, prompt / 2, 3) >= seconds


@pytest.mark.parametrize(
    "d, share",
    [(LLAMA, 8), (replace(LLAMA, kv_precision="FP8"), 16), (replace(LLAMA, tensor=16), 8)],
)
def test_a_step_reads_the_cache_once(d, share):
    one, two = (step_parts(d, 64, context)["cache"] for context in (10_000, 20_000))
    bytes_s = (
        64 * 10_000 * kv_bytes_per_token(d.model) / share / (MEMORY_SHARE * H100.memory_bytes_per_s)
    )
    assert two - one == pytest.approx(bytes_s, rel=0.05) and one == pytest.approx(bytes_s, rel=0.05)


@pytest.mark.parametrize(
    "name, precision",
    [("Llama-3.1-8B", "BF16"), ("Llama-3.1-8B", "FP8"), ("Qwen3-235B-A22B", "FP8")],
)
@pytest.mark.parametrize("batch", [1, 16, 64])
def test_weights_are_read_once_and_of_experts_those_that_some_token_visits(name, precision, batch):
    parts = step_parts(Deployment(MODELS[name], H100, precision), batch, 1)
    model = MODELS[name]
    # the output head stays in 16 bit
    ends = model.vocab * model.hidden * (2 - (2 if precision == "BF16" else 1))
    bytes_s = (decode_bytes_per_step(model, batch, precision) + ends) / speeds(
        H100
    ).memory_bytes_per_s
    assert parts["matmul"] + parts["grouped"] == pytest.approx(bytes_s, rel=0.12)


def test_a_mixture_of_experts_is_no_dense_model_in_decode():
    few, many = (step_parts(DEEPSEEK, batch, 1)["grouped"] for batch in (1, 512))
    assert 8 < many / few < 33  # at most 1 of 32 experts of a rank for a token, all of them for 512


def test_experts_spread_by_rank_wait_for_the_busiest():
    even = step_parts(replace(GROUPS, expert=1), 64, 1)["grouped"]
    assert 1.02 < step_parts(GROUPS, 64, 1)["grouped"] / even < 1.6
    assert step_parts(GROUPS, 64, 1)["expert"] > 0 == step_parts(DEEPSEEK, 64, 1)["expert"]


def test_tokens_of_attention_groups_are_gathered_in_a_node_and_sent_over_a_rack():
    small, large = (catalog.accelerator(name) for name in ("B200", "GB200"))
    up = network(small).up.bytes_per_s
    node = step_parts(replace(GROUPS, chip=small), 0, 0, 65_536, 500)["expert"]
    # all of them, and the sums back
    assert node == pytest.approx(58 * 2 * 65_536 * 7168 * 2 * 7 / 8 / up, rel=0.05)
    rack = replace(GROUPS, chip=large, attention_data=32, expert=32)
    assert (
        step_parts(rack, 0, 0, 4 * 65_536, 500)["expert"]
        < 0.5 * step_parts(replace(rack, expert=1), 0, 0, 4 * 65_536, 500)["expert"]
    )


def test_latents_are_absorbed_in_decode_and_expanded_in_prompts():
    step = step_parts(GROUPS, 8 * 64, 4000)
    bytes_s = 64 * 4000 * 61 * 576 * 2 / speeds(H200).memory_bytes_per_s
    assert bytes_s < step["cache"] < 1.5 * bytes_s
    assert step_parts(GROUPS, 0, 0, 8 * 4000, 2000)["cache"] == 0


def test_windows_chunks_and_chosen_tokens_bound_what_is_read():
    def growth(name, precision="BF16", chip=B200):
        near, far = (
            step_parts(Deployment(MODELS[name], chip, precision), 64, context)["cache"]
            for context in (16_384, 32_768)
        )
        return far / near

    assert growth("gpt-oss-120b") == pytest.approx(2, rel=0.02)  # half of the layers see 128 tokens
    assert growth("Llama-4-Scout") < 1.75 and growth("DeepSeek-V3.2", "FP8") < 1.6
    short, long = (
        step_parts(Deployment(MODELS["gpt-oss-120b"], B200), 0, 0, 8192, seen)["attention"]
        for seen in (4096, 8192)
    )
    assert long / short < 2


def test_a_pipeline_gives_every_sequence_a_token_in_as_many_micro_batches_as_it_has_stages():
    whole, halves = (step_parts(replace(LLAMA, tensor=4, pipeline=p), 64 * p, 2000) for p in (1, 2))
    for kind in ("cache", "grouped", "elementwise"):
        assert halves[kind] == pytest.approx(whole[kind], rel=0.05)
    assert halves["pipeline"] > 0 == whole["pipeline"] and halves["host"] == 2 * whole["host"]


def test_tokens_of_a_draft_share_the_weights_and_the_cache():
    one, five = (step_parts(LLAMA, 16, 4000, query_tokens=q) for q in (1, 5))
    assert five["cache"] == pytest.approx(one["cache"], rel=0.02)
    assert five["matmul"] < 1.2 * one["matmul"]
    assert total(LLAMA, 16, 4000, query_tokens=5) < 1.5 * total(LLAMA, 16, 4000)


def test_weights_in_four_bits_are_read_in_four_and_computed_in_sixteen():
    plain, small = (
        step_parts(Deployment(MODELS["Llama-3.1-8B"], H100, p), 1, 100)["matmul"]
        for p in ("BF16", "INT4")
    )
    assert 0.3 < small / plain < 0.45
    plain, small = (
        step_parts(Deployment(MODELS["Llama-3.1-8B"], H100, p), 0, 0, 8192, 4096)["matmul"]
        for p in ("BF16", "INT4")
    )
    assert small / plain == pytest.approx(1 / EXPANDED_SHARE, rel=0.05)


def test_experts_in_four_bits_compute_at_the_rate_that_was_profiled():
    """A layer's two products of 16,384 tokens for Marlin's experts on one H100 of eight: 254
    TFLOP/s [sglang38884].
    """
    d = Deployment(MODELS["gpt-oss-120b"], H100, "MXFP4")
    flop = 36 * 16_384 * 4 * 3 * 2 * 2880 * 2880
    assert flop / step_parts(d, 0, 0, 16_384, 8192)["grouped"] == pytest.approx(254e12, rel=0.1)


@pytest.mark.parametrize(
    "size, group, measured_us",
    [
        (4096, 2, 3.9),
        (4096, 4, 3.7),
        (4096, 8, 5.7),
        (262144, 2, 7.9),
        (262144, 4, 13.9),
        (262144, 8, 16.7),
        (524288, 2, 12.5),
        (524288, 4, 20.2),
        (524288, 8, 22.1),
        (1048576, 2, 19.9),
        (1048576, 4, 31.1),
        (1048576, 8, 33.8),
    ],
)
def test_quick_all_reduces_are_as_fast_as_timed_ones(size, group, measured_us):
    """Medians of SGLang's kernels on H100 [sglang2904]."""
    assert quick_all_reduce_seconds(size, group, H100.scale_up_bytes_per_s) * 1e6 == pytest.approx(
        measured_us, rel=0.32
    )


@pytest.mark.parametrize(
    "batch, prefill_ms, decode_ms", [(1, 93.7, 9.98), (32, 2429, 13.22), (128, 9743, 20.36)]
)
def test_llama_70b_on_eight_h100_beside_an_estimate_from_timed_kernels(
    batch, prefill_ms, decode_ms
):
    """Dynamo's AIConfigurator, which interpolates timed kernels of TensorRT-LLM; without host work,
    as it counts none.
    """

    def engine(*work):
        parts = step_parts(LLAMA, *work)
        return 1e3 * float(sum(parts.values()) - parts["host"] - parts["sequences"])

    assert engine(0, 0, 2048 * batch, 1024) == pytest.approx(prefill_ms, rel=0.1)
    assert engine(batch, 2048 + 64) == pytest.approx(decode_ms, rel=0.1)
    memory_alone = 1e3 * decode_bytes_per_step(LLAMA.model, batch) / 8 / H100.memory_bytes_per_s
    # all-reduce latency and kernel floors are not optional
    assert engine(batch, 2048 + 64) > 1.5 * memory_alone


def test_operations_of_a_layer_are_no_faster_than_timed_ones_and_not_much_slower():
    """The memory-bound kernels of a layer of Llama-2-70B at 4,096 tokens, timed one by one
    [vidur2024], beside the layer's.
    """
    rows = catalog.table("measured/kernels")
    rows = rows[
        (rows["accelerator"] == "H100 SXM") & (rows["tokens"] == 4096) & rows["moved_bytes"].notna()
    ].set_index("operation")["measured_s"]
    alone = replace(LLAMA, tensor=1)
    layer = (
        step_parts(alone, 0, 0, 4096, 2048)["elementwise"] - step_parts(alone, 1, 1)["elementwise"]
    ) / 80
    timed = 2 * rows["norm"] + 2 * rows["add"] + rows["activation"] + rows["rotation"]
    assert 0.5 < layer / timed < 1.1


def test_groups_that_share_experts_wait_for_the_one_with_most_prompts():
    together = step_parts(GROUPS, 64, 1000, 8 * 2000, 1000)["attention"]
    each = step_parts(replace(GROUPS, tensor=1, attention_data=1, expert=1), 8, 1000, 2000, 1000)[
        "attention"
    ]
    # eight prompts at random over eight groups: three on the busiest, at most a step's tokens
    assert 2 < together / each < 4.1
    full = 8 * GROUPS.chunk_tokens
    assert step_parts(GROUPS, 0, 0, full, 1000)["attention"] == pytest.approx(
        8192 / 2000 * each, rel=0.01
    )
    dense = replace(LLAMA, tensor=1, attention_data=8)
    assert step_parts(dense, 64, 1000, 8 * 2000, 1000)["attention"] == pytest.approx(
        step_parts(replace(dense, attention_data=1), 8, 1000, 2000, 1000)["attention"]
    )


def test_ranks_wait_for_the_slowest_of_them_where_kernels_are_launched_one_by_one():
    """The expected time of half of a layer's launches in the slowest of the ranks of a sum."""
    draw = np.random.default_rng(8)
    for kernels, ranks in ((10, 2), (10, 8), (30, 4)):
        halves = draw.gamma(kernels / 2, size=(20000, 2, ranks)).max(axis=2).sum(axis=1)
        assert waited_kernels(kernels - 4.0, ranks) == pytest.approx(halves.mean(), rel=0.02)
    assert waited_kernels(12.0, 1) == 12.0


def test_only_the_first_engine_of_vllm_waits_in_steps_without_prompts():
    one, eight = (
        Deployment(catalog.model("Llama-2-7B"), catalog.accelerator("A100 SXM 80GB"), tensor=chips)
        for chips in (1, 8)
    )
    for software, longer in (("vLLM 0.5.4", True), ("vLLM 0.17.0", False)):
        alone, shared = (
            step_parts(replace(d, software=software), 16, 1000)["launch"] for d in (one, eight)
        )
        assert (shared > 1.5 * alone) == longer and shared >= alone
