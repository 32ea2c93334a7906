"""What must hold for the time of a training step whatever is trained, on what and how: better chips
and networks are never slower, more work never takes less time.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from properties import NEVER, faster, linked, powers
from scaleright import catalog
from scaleright.training.hiding import shown_parts
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.machine import Machine
from scaleright.training.memory import training_memory
from scaleright.training.parts import KINDS, work
from scaleright.training.rules import check, divisors
from scaleright.training.slowdowns import slowdowns
from scaleright.training.step import step_time

MODELS = (
    "Llama-2-7B",
    "Llama-3.1-70B",
    "Llama-3.1-405B",
    "GPT-3 175B",
    "Mixtral-8x7B",
    "Qwen3-30B-A3B",
    "gpt-oss-20b",
    "DeepSeek-V3",
)
CHIPS = ("A100 SXM 80GB", "H100 SXM", "H200 SXM", "B200", "GB200", "MI300X")
SOFTWARE = (None, "torchtitan", "llm-foundry", "MaxText", "Megatron-LM, 2021", "NeMo 24.09")


@st.composite
def cases(draw):
    """A run, a layout that keeps the rules, and the constants of a software."""
    model = catalog.model(draw(st.sampled_from(MODELS)))
    chip = catalog.accelerator(draw(st.sampled_from(CHIPS)))
    precision = draw(st.sampled_from(("BF16", "FP8") if "fp8" in chip.dense else ("BF16",)))
    tensor, pipeline = draw(powers(3)), draw(powers(3))
    zero = draw(st.integers(0, 3 if pipeline == 1 else 1))
    layout = Layout(
        tensor=tensor,
        pipeline=pipeline,
        context=draw(powers(1)),
        expert=draw(powers(6)) if model.experts else 1,
        data=draw(powers(6)),
        micro_batch=draw(powers(3)),
        zero=zero,
        recompute=draw(st.integers(0, 2)),
        sequence_parallel=int(tensor > 1),
        replicas=draw(powers(4)) if zero else 1,
    )
    batch = layout.data * layout.micro_batch * draw(powers(4))
    run = TrainingRun(model, chip, layout.chips, 2 ** draw(st.integers(10, 14)), batch, precision)
    try:
        check(run, layout)
    except ValueError:
        reject()
    return run, layout, slowdowns(run, draw(st.sampled_from(SOFTWARE)))


def better(run, arithmetic=1.0, bandwidth=1.0, network=1.0):
    """The chip of a run with faster units, memory or links."""
    machine = Machine.of(run)
    low, plain = (faster(of, arithmetic, bandwidth) for of in (machine.low, machine.plain))
    return replace(machine, low=low, plain=plain, links=linked(machine.links, network))


def seconds(case, run=None, machine=None, **layout):
    mine, lay, slow = case
    return float(step_time(run or mine, replace(lay, **layout), slow, machine).total)


@pytest.mark.parametrize("what", ["arithmetic", "bandwidth", "network"])
@given(case=cases(), factor=st.floats(1.01, 4.0))
def test_a_better_chip_is_never_slower(what, case, factor):
    assert seconds(case, machine=better(case[0], **{what: factor})) <= seconds(case) * NEVER


@given(case=cases())
def test_more_tokens_never_take_less_time(case):
    run, layout, _ = case
    now, twice = seconds(case), replace(run, global_batch=2 * run.global_batch)
    assert now <= seconds(case, twice) * NEVER
    assert now <= seconds(case, twice, micro_batch=2 * layout.micro_batch) * NEVER
    assert now <= seconds(case, replace(run, sequence=2 * run.sequence)) * NEVER


@given(case=cases())
def test_sharing_among_fewer_never_takes_less_memory(case):
    run, layout, _ = case
    assume(layout.zero and layout.data * layout.context > 1)
    ranks = layout.data * layout.context
    by_groups = training_memory(
        run, replace(layout, replicas=np.array([d for d in divisors(ranks) if d < ranks]))
    )
    # of several stages the fullest is told, which may be another one with other parts
    for part in (by_groups.total, *(by_groups.parts().values() if layout.pipeline == 1 else ())):
        held = np.broadcast_to(part, by_groups.total.shape)
        assert np.all(held[:-1] <= held[1:] * NEVER)
    # as much as one group alone holds, where experts are not spread beyond it
    if not run.model.experts:
        one = replace(layout, data=layout.data // min(layout.replicas, layout.data), replicas=1)
        same = replace(layout, replicas=min(layout.replicas, layout.data))
        batch = run.global_batch // layout.data * one.data
        alone = training_memory(replace(run, global_batch=batch, chips=one.chips), one)
        states = ("weights_bytes", "gradients_bytes", "optimizer_bytes")
        whole = training_memory(run, same)
        for name in states:
            assert getattr(whole, name) == pytest.approx(getattr(alone, name), rel=1e-12)


@given(case=cases())
def test_recomputing_more_is_never_faster(case):
    none, selective, full = (seconds(case, recompute=again) for again in (0, 1, 2))
    assert none <= selective * NEVER and selective <= full * NEVER


@given(case=cases())
def test_eight_bits_are_slower_only_by_casts_and_tiles(case):
    run, layout, _ = case
    assume("fp8" in run.chip.dense)
    short, plain = (
        step_time(replace(run, precision=form), layout, case[2]).parts() for form in ("FP8", "BF16")
    )
    grown = {name for name, value in short.items() if value > plain[name] * NEVER}
    # less computing hides less of the launches, of the traffic and of the exchange of experts
    hidden = {"host_s", "data_s", "context_s", "expert_s"}
    assert grown <= hidden | {"elementwise_s", "recompute_s", "bubble_s"}
    casts = {"elementwise_s", "recompute_s", "bubble_s"}
    if sum(short.values()) > sum(plain.values()) * NEVER:
        assert any(short[name] > plain[name] for name in casts)


@given(case=cases(), overlapped=st.booleans())
def test_a_second_of_computing_hides_one_second_once(case, overlapped):
    """All that shows, and no less than the longest of computing, launches and traffic alone."""
    run, layout, slow = case
    whole = work(run, layout, replace(slow.stack, overlapped=overlapped))
    parts = shown_parts(whole, slow.by_kind)
    shown = {kind: sum(parts.seconds(kind)) * slow.by_kind[kind] for kind in KINDS}
    assert min(shown.values()) >= 0
    batches = layout.micro_batches(run.global_batch)
    fewest = min(whole.full, whole.last)  # the busiest stage may be the last, which has the heads
    hidden = 0.0
    for kind, layers in (("host", whole.full), ("routed_host", fewest), ("expert", fewest)):
        ways, again = whole.layer.get(kind, (0.0, 0.0)), whole.again.get(kind, 0.0)
        alone = layers * batches * ((1 + again) * ways[0] + ways[1])
        hidden += alone * slow.by_kind["expert" if kind == "expert" else "host"]
    hidden -= shown["host"] + shown["expert"]
    busy = sum(shown[kind] for kind in KINDS if kind not in ("host", "data", "optimizer"))
    assert hidden <= busy * NEVER
