"""The physical parts of a training step: how long each kind of work takes at the speeds that a chip
was measured to reach.

All is worked out for one micro-batch of one pipeline stage: matrix products by their real shape on
one rank, attention, memory-bound operations by the bytes they move, launches and communication.
`hiding` says what of the latter computing hides; `step` repeats the work over micro-batches, adds
the bubble, and multiplies each kind by a fitted slowdown.
"""

from dataclasses import dataclass
from typing import Any

from scaleright.collectives import all_gather_seconds, send_recv_seconds
from scaleright.formulas import search, unchecked
from scaleright.ops import ceil, maximum, where
from scaleright.training.layer_parts import (
    Machine,
    Pair,
    Stack,
    layer_seconds,
    share_of_mixtures,
)
from scaleright.training.layout import Layout, TrainingRun
from scaleright.transformer.parameters import feed_forward_weights, projection_weights

KINDS = (
    "matmul",
    "grouped",
    "attention",
    "elementwise",
    "routing",
    "tensor",
    "context",
    "expert",
    "pipeline",
    "data",
    "optimizer",
    "host",
)
"""Kinds of work, each with its own slowdown. `grouped` are the products of routed experts,
`routing` is their memory-bound work on a chip, `expert` is moving tokens to them between chips,
`host` is the time of launching kernels that no computing hides.
"""
OPTIMIZER_TRAFFIC = 34.0
"""Bytes read and written for each weight by AdamW in FP32: gradient, master weight and two moments,
and the 16-bit weight.
"""
# Runs and layouts are checked once, by `rules`.
_gather, _send = unchecked(all_gather_seconds), unchecked(send_recv_seconds)


@dataclass(frozen=True)
class Work:
    """Seconds of the work of one micro-batch at measured peaks, before anything hides.

    layer, head : of a mean layer and of the output heads, by kind, forward and backward [s]
    again : share of a layer's forward work that the backward pass repeats, by kind [1]
    full, last : layers of a full stage, and of the one with the output heads [1]
    layers : of the model, those that predict further tokens included [1]
    sent : activations from stage to stage, one way [s]
    gathered : traffic of shared-out weights and gradients beside a forward pass, a backward pass,
        and the last backward pass of a step [s]
    optimizer : update of the weights, once a step [s]
    pipeline, virtual : stages, and chunks of one [1]
    """

    layer: dict[str, Pair]
    head: dict[str, Pair]
    again: dict[str, Any]
    full: Any
    last: Any
    layers: Any
    sent: Any
    gathered: tuple[Any, Any, Any]
    optimizer: Any
    micro_batches: Any
    pipeline: Any
    virtual: Any


def _stages(run: TrainingRun, lay: Layout) -> tuple[Any, Any]:
    """Layers of a full stage and of the last, which has fewer where the pipeline counts other
    modules as layers.
    """
    stage = ceil(run.model.layers / (lay.pipeline * lay.virtual)) * lay.virtual
    spare = stage * lay.pipeline - run.model.layers
    return stage, stage - where(spare == 2, 1.0, spare) + run.mtp_modules


def _again(lay: Layout, stack: Stack, layer: dict[str, Pair]) -> dict[str, Any]:
    """What of a layer's forward pass runs a second time, as shares."""
    full, core = where(lay.recompute > 1, 1.0, 0.0), where(lay.recompute == 1, 1.0, 0.0)
    selected = {"matmul": 0.5, "elementwise": 1.0} if stack.by_op else {"attention": 1.0}
    return {kind: full + core * selected.get(kind, 0.0) for kind in layer}


def _sent(run: TrainingRun, of: Machine, lay: Layout) -> Any:
    """Time of sending a micro-batch's activations from stage to stage."""
    outside = where(lay.sequence_parallel > 0, lay.tensor, 1.0)
    message = lay.micro_batch * run.sequence / lay.context * run.model.hidden * 2 / outside
    sent = lay.virtual * _send(message, of.links["out_latency_s"], of.links["out_bytes_per_s"])
    return where(lay.pipeline > 1, sent, 0.0)


def _shared_weights(
    run: TrainingRun, of: Machine, lay: Layout, stack: Stack, depth: Any
) -> tuple[Any, Any]:
    """Time of gathering a stage's weights from the ranks that share them out, and the weights whose
    optimizer state a rank keeps.

    PyTorch gathers each block by itself, with the latency of every hop; Megatron and XLA join them.
    """
    t, tp = run.model, lay.tensor
    moe = share_of_mixtures(t)
    weights = (
        projection_weights(t)
        + (1 - moe) * feed_forward_weights(t, t.ffn)
        + moe * feed_forward_weights(t, t.shared_ffn)
    )
    own = (depth * weights + t.vocab * t.embedding_width) / tp
    group = lay.data * lay.context
    near = maximum(of.domain / tp, 1.0)
    blocks = depth + 1 if stack.by_op else 1.0
    gather = blocks * _gather(2 * own / blocks, group, near, **of.links)
    state = own / where(lay.zero > 0, group, 1.0)
    if t.experts:
        own_experts = (
            depth
            * moe
            * feed_forward_weights(t, t.expert_ffn)
            * maximum(t.experts / lay.expert, 1.0)
        )
        copies = maximum(group * tp / lay.expert, 1.0)
        gather = gather + _gather(
            2 * own_experts, copies, maximum(of.domain / lay.expert, 1.0), **of.links
        )
        state = state + own_experts / where(lay.zero > 0, copies, 1.0)
    return gather, state


def _gathered(of: Machine, lay: Layout, stack: Stack, gather: Any) -> tuple[Any, Any, Any]:
    """Gathering weights and reducing gradients: beside the forward and the backward pass of each
    micro-batch where they are sharded, and beside the last one of a step.
    """
    weights_sharded, gradients_sharded = (
        where(lay.zero > 2, 1.0, 0.0),
        where(lay.zero > 1, 1.0, 0.0),
    )
    weights_s = weights_sharded * gather * (of.element_bytes / 2 if stack.low_gather else 1.0)
    each = weights_s + gradients_sharded * of.trained * gather
    rest = ((1 - gradients_sharded) * 2 + (1 - weights_sharded)) * of.trained * gather
    return weights_s, each, rest


@search
def work(run: TrainingRun, lay: Layout, stack: Stack, machine: Machine | None = None) -> Work:
    """The work of a run's step at measured peaks; the fields of the layout are numbers, arrays
    that broadcast, or quantities.

    machine : the speeds of the run's chip, if they are at hand
    """
    of = machine or Machine.of(run)
    layer, head = layer_seconds(run, of, stack, lay)
    full, last = _stages(run, lay)
    gather, state = _shared_weights(run, of, lay, stack, full)
    return Work(
        layer,
        head,
        _again(lay, stack, layer),
        full,
        last,
        run.model.layers + run.mtp_modules,
        _sent(run, of, lay),
        _gathered(of, lay, stack, gather),
        of.trained * state * OPTIMIZER_TRAFFIC / of.bandwidth,
        lay.micro_batches(run.global_batch),
        lay.pipeline,
        lay.virtual,
    )
