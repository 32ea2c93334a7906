"""The physical parts of a training step: how long each kind of work takes at the speeds that a chip
was measured to reach.

All is worked out for one micro-batch of one pipeline stage: matrix products by their real shape on
one rank, attention, memory-bound operations by the bytes they move, launches and communication; of
computing, as long as the slowest chip takes.
`hiding` says what of the latter computing hides; `step` repeats the work over micro-batches, adds
the bubble, and multiplies each kind by a fitted slowdown.
"""

from dataclasses import dataclass
from typing import Any

from scaleright.collectives import send_recv_seconds
from scaleright.formulas import search, unchecked
from scaleright.ops import ceil, where
from scaleright.training.layer_parts import layer_seconds
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.machine import COMPUTE, Machine, Pair, Stack, scaled
from scaleright.training.sharding import Sharding, sharding
from scaleright.training.stragglers import slowest

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
_send, _slowest = unchecked(send_recv_seconds), unchecked(slowest)


@dataclass(frozen=True)
class Work:
    """Seconds of the work of one micro-batch at measured peaks, before anything hides.

    layer, head : of a mean layer and of the output heads, by kind, forward and backward [s]
    again : share of a layer's forward work that the backward pass repeats, by kind [1]
    full, last : layers of a full stage, and of the one with the output heads [1]
    layers : of the model, those that predict further tokens included [1]
    sent : activations from stage to stage, one way [s]
    overlapped : whether the exchange of experts runs beside another micro-batch
    sharding : of what data-parallel ranks share out
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
    overlapped: Any
    sharding: Sharding
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


def _again(lay: Layout, shares: dict[str, Pair]) -> dict[str, Any]:
    """What of a layer's forward pass runs a second time, as shares.

    shares : of selective and of full recomputation
    """
    full, some = where(lay.recompute > 1, 1.0, 0.0), where(lay.recompute == 1, 1.0, 0.0)
    return {kind: full * whole + some * part for kind, (part, whole) in shares.items()}


def _sent(run: TrainingRun, of: Machine, lay: Layout) -> Any:
    """Time of sending a micro-batch's activations from stage to stage."""
    outside = where(lay.sequence_parallel > 0, lay.tensor, 1.0)
    message = lay.micro_batch * run.sequence / lay.context * run.model.hidden * 2 / outside
    sent = lay.virtual * _send(message, of.links["out_latency_s"], of.links["out_bytes_per_s"])
    return where(lay.pipeline > 1, sent, 0.0)


@search
def work(run: TrainingRun, lay: Layout, stack: Stack, machine: Machine | None = None) -> Work:
    """The work of a run's step at measured peaks; the fields of the layout are numbers, arrays
    that broadcast, or quantities.

    machine : the speeds of the run's chip, if they are at hand
    """
    of = machine or Machine.of(run)
    layer, head, again = layer_seconds(run, of, stack, lay)
    wait = _slowest(lay.chips)
    layer, head = (
        {kind: scaled(ways, wait) if kind in COMPUTE else ways for kind, ways in part.items()}
        for part in (layer, head)
    )
    full, last = _stages(run, lay)
    shared = sharding(run, of, lay, stack, full)
    return Work(
        layer,
        head,
        _again(lay, again),
        full,
        last,
        run.model.layers + run.mtp_modules,
        _sent(run, of, lay),
        stack.overlaps(of.graphed),
        shared,
        of.trained * shared.state * OPTIMIZER_TRAFFIC / of.bandwidth,
        lay.micro_batches(run.global_batch),
        lay.pipeline,
        lay.virtual,
    )
