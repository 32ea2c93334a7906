"""Step times: growing with the slowdowns, parts that add up, known faults of other tools, refusals
in words.
"""

from dataclasses import replace

import numpy as np
import pytest
from scaleright import catalog
from scaleright.collectives import START_S, network
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.machine import Machine, Stack
from scaleright.training.parts import APART, KINDS, layer_seconds, slowest, work
from scaleright.training.slowdowns import Slowdowns, borrowed, interval, slowdowns, stack
from scaleright.training.step import (
    estimate,
    hfu,
    mfu,
    model_flop,
    step_time,
    tokens_per_s_per_chip,
)

GPT3 = TrainingRun(
    catalog.model("GPT-3 175B (Megatron)"),
    catalog.accelerator("A100 SXM 80GB"),
    1024,
    2048,
    1536,
    "FP16",
)
LLAMA = TrainingRun(
    catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM"), 64, 8192, 256, "FP8"
)
MOE = TrainingRun(
    catalog.model("Qwen3-235B-A22B"), catalog.accelerator("GB200"), 256, 4096, 8192, "MXFP8"
)
SHARDED = Layout(data=64, zero=3, recompute=2)


def time(run, layout, **changes):
    return step_time(run, replace(layout, **changes)).total


def test_the_time_grows_with_each_slowdown_and_as_all_of_them():
    layout = Layout(tensor=4, pipeline=8, data=2, virtual=5, recompute=1)
    slow = slowdowns(LLAMA).by_kind
    whole = step_time(LLAMA, layout, Slowdowns(slow)).total
    twice = Slowdowns({kind: 2 * value for kind, value in slow.items()})
    assert step_time(LLAMA, layout, twice).total == pytest.approx(2 * whole, rel=1e-12)
    for kind in KINDS:
        worse = Slowdowns({**slow, kind: 1.5 * slow[kind]})
        assert whole <= step_time(LLAMA, layout, worse).total <= 1.5 * whole


def test_many_layouts_at_once_are_the_same_as_one_by_one():
    rng = np.random.default_rng(0)
    choices = {
        "tensor": (1, 2, 4, 8),
        "pipeline": (1, 2, 8),
        "data": (2, 16),
        "virtual": (1, 2),
        "micro_batch": (1, 2),
        "zero": (0, 1, 2, 3),
        "recompute": (0, 1, 2),
        "expert": (1, 8, 32),
        "context": (1, 2),
    }
    fields = {name: rng.choice(values, 20_000) for name, values in choices.items()}
    for run in (LLAMA, MOE):
        many = step_time(run, Layout(**fields)).parts()
        for i in (0, 777, 19_999):
            one = step_time(
                run, Layout(**{name: int(values[i]) for name, values in fields.items()})
            ).parts()
            assert {name: value[i] for name, value in many.items()} == pytest.approx(
                one, rel=1e-9, abs=1e-12
            )


def test_data_parallelism_does_not_slow_a_step_that_shards_nothing():
    """Weights are not gathered where every rank holds them: a faulty tool makes the step 2.4 times
    longer.
    """
    layout = Layout(tensor=8, pipeline=8, data=16, zero=0)
    alone = time(replace(GPT3, chips=64, global_batch=96), layout, data=1)
    assert alone < time(GPT3, layout) < 1.05 * alone


def test_selective_recomputation_costs_little_and_full_a_forward_pass():
    layout = Layout(tensor=8, pipeline=8, data=16)
    none, selective, full = (time(GPT3, layout, recompute=again) for again in (0, 1, 2))
    assert none < selective < 1.05 * none
    assert 1.2 < full / none < 1.4


def test_sharding_more_costs_more_communication():
    none, gradients, weights = (
        step_time(LLAMA, replace(SHARDED, zero=zero)).data_s for zero in (1, 2, 3)
    )
    assert none < gradients < weights


@pytest.mark.parametrize("faster", [{"recompute": 0}, {"micro_batch": 2}])
def test_what_saves_work_saves_time(faster):
    assert time(LLAMA, SHARDED, **faster) < time(LLAMA, SHARDED)


def test_interleaving_shrinks_the_bubble():
    plain, interleaved = (
        step_time(LLAMA, Layout(tensor=4, pipeline=8, data=2, virtual=v)) for v in (1, 5)
    )
    assert interleaved.bubble_s == pytest.approx(plain.bubble_s / 5, rel=0.02)


def test_adapters_save_the_gradients_of_the_weights():
    layout = Layout(tensor=4, pipeline=8, data=2)
    assert 0.6 < time(replace(LLAMA, task="lora"), layout) / time(LLAMA, layout) < 0.8


def test_utilization_by_convention():
    layout = Layout(tensor=8, pipeline=8, data=16, recompute=2)
    step = step_time(GPT3, layout)
    without, causal, full = (mfu(GPT3, step, attention) for attention in ("none", "causal", "full"))
    assert without < causal < full < 0.65
    assert hfu(GPT3, layout, step, "full") / full == pytest.approx(4 / 3, rel=0.01)
    # [korthikanti2022, equation 7]
    assert model_flop(GPT3, "full") == pytest.approx(3.3862e18, rel=2e-3)
    assert tokens_per_s_per_chip(GPT3, step) * step.total * 1024 == pytest.approx(1536 * 2048)
    with pytest.raises(LookupError, match="causal"):
        mfu(GPT3, step, "casual")


def test_an_estimate_refuses_what_cannot_run():
    with pytest.raises(ValueError, match="613 GB a chip in this layout, allowed: 86 GB"):
        estimate(LLAMA, Layout(data=64))
    with pytest.raises(ValueError, match="tensor = 3"):
        estimate(LLAMA, Layout(tensor=3, data=64))


def test_an_unseen_chip_borrows_and_says_so():
    amd = replace(LLAMA, chip=catalog.accelerator("MI300X"), precision="BF16")
    found = estimate(amd, SHARDED)
    assert found.basis.startswith("no run of AMD chips was fitted: matmul, attention")
    assert (
        found.high_s - found.low_s
        > interval(replace(LLAMA, precision="BF16"))[1]
        - interval(replace(LLAMA, precision="BF16"))[0]
    )
    h200 = replace(LLAMA, chip=catalog.accelerator("H200 SXM"))
    assert borrowed(h200) == "no run of H200 SXM was fitted: constants of other Hopper chips"
    assert slowdowns(h200) == slowdowns(LLAMA)
    assert borrowed(LLAMA) == ""


@pytest.mark.parametrize(
    "software, native, fused_attention, fused_experts",
    [
        (None, False, True, True),
        ("Megatron-Bridge 26.04.01", False, True, False),
        ("Megatron-Bridge 26.08", False, True, True),
        ("Megatron-LM, 2021", False, False, False),
        ("NeMo 24.07", False, True, False),
        ("torchtitan", True, True, False),
    ],
)
def test_software_is_read_by_its_name(software, native, fused_attention, fused_experts):
    of = stack(software)
    assert (of.native, of.fused_attention, of.fused_experts) == (
        native,
        fused_attention,
        fused_experts,
    )


def test_biased_experts_move_what_their_kernels_read_and_write():
    """68 bytes for each output that a bias is added to, 18 for each input of a clamped activation;
    nothing where it is fused, and for experts without biases.
    """
    for name, per_token in (("gpt-oss-120b", 4 * (68 * 2880 + 18 * 2 * 2880)), ("Mixtral-8x7B", 0)):
        run = TrainingRun(catalog.model(name), catalog.accelerator("H100 SXM"), 8, 4096, 8)
        of, layout = Machine.of(run), Layout(data=8, expert=8)
        plain, fused = (
            sum(layer_seconds(run, of, Stack(fused_experts=flag), layout)[0]["routing"])
            for flag in (False, True)
        )
        assert (plain - fused) * of.bandwidth == pytest.approx(4096 * per_token, abs=1)


def test_sharded_pytorch_pays_the_latency_of_each_block():
    """As many gathers as blocks: the latency of a larger cluster shows, that of one gather not."""
    blocks, joined = (
        work(LLAMA, SHARDED, Stack(native=True, by_op=flag)).sharding.traffic[0]
        for flag in (True, False)
    )
    near, far = (out.latency_s for out in network(LLAMA.chip))
    hops = 56 * near + 7 * far + START_S
    assert blocks - joined == pytest.approx(LLAMA.model.layers * hops, rel=1e-9)


def test_hybrid_sharding_gathers_inside_a_group_and_sums_gradients_across_groups():
    """However many groups: what is gathered takes as long as on one group alone; gradients are
    summed across groups once a step, beside the last backward pass.
    """
    torch, node = Stack(native=True, by_op=True), Layout(data=8, zero=3)

    def traffic(chips, **changes):
        run = replace(LLAMA, chips=chips)
        return work(run, replace(node, data=chips, **changes), torch).sharding.traffic

    alone = traffic(8)
    assert alone[2] == 0
    for groups in (2, 8, 64):
        there, back, last = traffic(8 * groups, replicas=groups)
        assert (there, back) == pytest.approx(alone[:2], rel=1e-12) and last > 0
        assert there < traffic(8 * groups)[0]
    shards, _ = network(LLAMA.chip)
    once, twice = (traffic(8 * groups, replicas=groups)[2] for groups in (64, 128))
    assert once < twice and shards.chips == 8


def test_hybrid_sharding_pays_on_many_chips_and_costs_memory():
    torch, run = slowdowns(LLAMA, "torchtitan"), replace(LLAMA, chips=1024, global_batch=1024)
    run = replace(run, model=catalog.model("Llama-2-7B"), sequence=2048)
    whole = Layout(data=1024, zero=3)
    hybrid = replace(whole, replicas=128)
    assert step_time(run, hybrid, torch).total < 0.8 * step_time(run, whole, torch).total
    assert step_time(run, hybrid, torch).data_s > 0


def test_one_graph_launches_fused_experts():
    """On Blackwell, without biases, in the release that fuses them: nothing left for the host."""
    held = Layout(pipeline=8, data=32, expert=8)
    for name, chip, fused, none in (
        ("Qwen3-235B-A22B", "GB200", True, True),
        ("Qwen3-235B-A22B", "GB200", False, False),
        ("Qwen3-235B-A22B", "H100 SXM", True, False),
        ("gpt-oss-120b", "GB200", True, False),
    ):
        run = replace(MOE, model=catalog.model(name), chip=catalog.accelerator(chip))
        layer, _, _ = layer_seconds(run, Machine.of(run), Stack(fused_experts=fused), held)
        assert (sum(layer["routed_host"]) == 0) == none


def test_all_wait_for_the_slowest_chip():
    """Computing takes longer on more chips by what is expected of the largest of as many normal
    variables; a sample of them agrees.
    """
    generator = np.random.default_rng(7)
    for chips in (8, 128, 1024):
        sampled = 1 + APART * generator.normal(size=(4000, chips)).max(axis=1).mean()
        assert slowest(float(chips)) == pytest.approx(sampled, abs=0.03 * APART)
    few, many = (
        work(replace(LLAMA, chips=64 * n, global_batch=256 * n), Layout(data=64 * n), Stack())
        for n in (1, 16)
    )
    ratio = slowest(1024.0) / slowest(64.0)
    for kind in ("matmul", "attention", "elementwise"):
        assert many.layer[kind][1] / few.layer[kind][1] == pytest.approx(ratio, rel=1e-12)
    assert many.layer["host"] == few.layer["host"]
