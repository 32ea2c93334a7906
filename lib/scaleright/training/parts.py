"""The physical parts of a training step: how long each kind of work takes at the speeds that a chip
was measured to reach.

All is worked out for one micro-batch of one pipeline stage: matrix products by their real shape on
one rank, attention, memory-bound operations by the bytes they move, and communication as far as
computing does not hide it. `step` repeats the work over micro-batches, adds the bubble, and
multiplies each kind by a fitted slowdown.
"""

from dataclasses import dataclass
from typing import Any

from scaleright.collectives import all_gather_seconds, exposed, send_recv_seconds
from scaleright.formulas import search, unchecked
from scaleright.ops import ceil, maximum, where
from scaleright.training.layer_parts import (
    COMPUTE,
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
OVERLAP = 0.5
"""Share of the traffic of weights and gradients that is issued beside computing."""

# Runs and layouts are checked once, by `rules`.
_gather, _send = unchecked(all_gather_seconds), unchecked(send_recv_seconds)
_exposed = unchecked(exposed)


@dataclass(frozen=True)
class Parts:
    """Seconds by kind: of one micro-batch on the busiest stage, forward, backward and recomputed;
    and once a step.

    mean_share : work of a mean stage over that of the busiest [1]
    bubble : micro-batches' worth of a mean stage's work that a stage waits [1]
    """

    forward: dict[str, Any]
    backward: dict[str, Any]
    again: dict[str, Any]
    once: dict[str, Any]
    micro_batches: Any
    mean_share: Any
    bubble: Any

    def seconds(self, kind: str) -> tuple[Any, Any, Any]:
        """Time that a kind of work takes in a step: useful, recomputed, and waited for in the
        bubble.
        """
        work, again = (
            self.forward.get(kind, 0.0) + self.backward.get(kind, 0.0),
            self.again.get(kind, 0.0),
        )
        waits = (
            0.0 if kind in ("data", "pipeline") else self.bubble * self.mean_share * (work + again)
        )
        return (
            self.micro_batches * work + self.once.get(kind, 0.0),
            self.micro_batches * again,
            waits,
        )


def _busiest_stage(
    run: TrainingRun, lay: Layout, layer: dict[str, Pair], head: dict[str, Pair]
) -> tuple[Any, Any]:
    """Layers of the busiest stage, and 1 where it has the output head.

    It is a full one, or the last, which has fewer layers where the pipeline counts other modules as
    layers, but the head.
    """
    busy, top = (sum(sum(part[kind]) for kind in COMPUTE if kind in part) for part in (layer, head))
    stage = ceil(run.model.layers / (lay.pipeline * lay.virtual)) * lay.virtual
    spare = stage * lay.pipeline - run.model.layers
    last = stage - where(spare == 2, 1.0, spare) + run.mtp_modules
    tail = where(last * busy + top >= stage * busy, 1.0, 0.0)
    return maximum(tail * last + (1 - tail) * stage, 1.0), tail


def _recomputed(lay: Layout, stack: Stack, forward: dict[str, Any]) -> dict[str, Any]:
    """What of the layers' forward pass runs a second time."""
    full, core = where(lay.recompute > 1, 1.0, 0.0), where(lay.recompute == 1, 1.0, 0.0)
    again = {kind: full * value for kind, value in forward.items()}
    for kind, share in (
        {"matmul": 0.5, "elementwise": 1.0}.items() if stack.by_op else [("attention", 1.0)]
    ):
        again[kind] = again[kind] + core * share * forward[kind]
    return again


def _sent(run: TrainingRun, of: Machine, lay: Layout) -> Any:
    """Time of sending a micro-batch's activations from stage to stage."""
    outside = where(lay.sequence_parallel > 0, lay.tensor, 1.0)
    message = lay.micro_batch * run.sequence / lay.context * run.model.hidden * 2 / outside
    sent = lay.virtual * _send(message, of.links["out_latency_s"], of.links["out_bytes_per_s"])
    return where(lay.pipeline > 1, sent, 0.0)


def _shared_weights(run: TrainingRun, of: Machine, lay: Layout, depth: Any) -> tuple[Any, Any]:
    """Time of gathering a stage's weights from the ranks that share them out, and the weights whose
    optimizer state a rank keeps.
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
    gather = _gather(2 * own, group, maximum(of.domain / tp, 1.0), **of.links)
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


def _shared_seconds(
    of: Machine, lay: Layout, stack: Stack, gather: Any, ahead: Any, behind: Any
) -> tuple[Any, Any, Any]:
    """Gathering weights and reducing gradients as far as computing does not hide it: in the forward
    and the backward pass of each micro-batch where they are sharded, and once a step.

    ahead, behind : computing of a forward and a backward pass [s]
    """
    weights_sharded, gradients_sharded = (
        where(lay.zero > 2, 1.0, 0.0),
        where(lay.zero > 1, 1.0, 0.0),
    )
    weights_s = weights_sharded * gather * (of.element_bytes / 2 if stack.low_gather else 1.0)
    each = weights_s + gradients_sharded * of.trained * gather
    rest = ((1 - gradients_sharded) * 2 + (1 - weights_sharded)) * of.trained * gather
    return (
        _exposed(weights_s, ahead, OVERLAP),
        _exposed(each, behind, OVERLAP),
        _exposed(rest, behind, OVERLAP),
    )


@search
def physical_parts(
    run: TrainingRun, lay: Layout, stack: Stack, machine: Machine | None = None
) -> Parts:
    """The parts of a run's step at measured peaks; the fields of the layout are numbers, arrays
    that broadcast, or quantities.

    machine : the speeds of the run's chip, if they are at hand
    """
    of, pp = machine or Machine.of(run), lay.pipeline
    layer, head = layer_seconds(run, of, stack, lay)
    depth, tail = _busiest_stage(run, lay, layer, head)
    forward, backward = (
        {kind: depth * pair[way] for kind, pair in layer.items()} for way in (0, 1)
    )
    again = _recomputed(lay, stack, forward)
    for kind, pair in head.items():
        forward[kind], backward[kind] = (
            forward[kind] + tail * pair[0],
            backward[kind] + tail * pair[1],
        )
    forward["pipeline"] = backward["pipeline"] = _sent(run, of, lay)
    ahead, behind = (sum(side.get(kind, 0.0) for kind in COMPUTE) for side in (forward, backward))
    behind = behind + sum(again.get(kind, 0.0) for kind in COMPUTE)
    gather, state = _shared_weights(run, of, lay, depth)
    forward["data"], backward["data"], once_data = _shared_seconds(
        of, lay, stack, gather, ahead, behind
    )
    once = {
        "data": once_data,
        "optimizer": of.trained * state * OPTIMIZER_TRAFFIC / of.bandwidth,
    }
    mean_share = (run.model.layers + run.mtp_modules) / pp / depth
    return Parts(
        forward,
        backward,
        again,
        once,
        lay.micro_batches(run.global_batch),
        mean_share,
        (pp - 1) / lay.virtual,
    )
