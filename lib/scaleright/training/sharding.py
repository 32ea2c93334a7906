"""What data-parallel ranks share out of a stage's weights, and what it takes to bring it together:
gathering weights, reducing gradients, and the memory that both pass through on a chip.

With hybrid sharding the ranks form `replicas` groups, each of neighbors, that hold all of it: what
is gathered and scattered stays inside a group, and gradients are summed across groups once a step.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from scaleright.collectives import all_gather_seconds, all_reduce_seconds
from scaleright.formulas import search, unchecked
from scaleright.ops import maximum, where
from scaleright.quantity import Quantity
from scaleright.training.experts import share_of_mixtures
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.machine import Machine, Pair, Stack
from scaleright.transformer.parameters import feed_forward_weights, projection_weights

OVERLAP = 0.5
"""Share of the traffic of weights and gradients that is issued beside computing where blocks are
joined.
"""
GATHERED_BYTES = 4.0
"""Bytes that a chip's memory moves for each weight that it gathers: written as it arrives and read
again to be passed on around the ring, in 16 bits.
"""
REDUCED_BYTES = 14.0
"""Bytes that a chip's memory moves for each gradient that PyTorch reduces, in 16 bits: joined with
the block's others (4), divided by the number of ranks (4), and around the ring read, read as it
arrives and written as the sum (6).
"""
# Runs and layouts are checked once, by `rules`.
_gather, _reduce = unchecked(all_gather_seconds), unchecked(all_reduce_seconds)


@dataclass(frozen=True)
class Sharding:
    """Traffic of a stage's weights, and what a chip does for it.

    traffic : gathering weights and reducing gradients beside a forward pass, a backward pass, and
        the last backward pass of a step [s]
    beside : share of the traffic that is issued beside computing [1]
    handled : time in which a chip's memory moves what it sends and receives, beside a forward and a
        backward pass [s]
    state : weights whose optimizer state a rank keeps [1]
    """

    traffic: tuple[Any, Any, Any]
    beside: Any
    handled: Pair
    state: Any


NOTHING = Sharding((0.0, 0.0, 0.0), 0.0, (0.0, 0.0), 0.0)
"""Of a stage that waits."""


def _one(count: Any) -> bool:
    """Whether a count is one, whatever is chosen."""
    if type(count) in (int, float):  # as almost always, and a tenth of the time
        return count == 1
    return not isinstance(count, Quantity) and bool(np.all(np.equal(count, 1)))


def _brought(
    of: Machine, weights: Any, blocks: Any, shards: Any, groups: Any, near: Any
) -> tuple[Any, Any]:
    """Time of gathering weights in 16 bits from the ranks that share them out, and of summing as
    many gradients across groups.

    blocks : gathered one by one [1]
    near : members of a group in one node, if it has so many [1]
    """
    payload = 2 * weights / blocks
    gather = blocks * _gather(payload, shards, near, **of.links)
    if _one(groups):
        return gather, 0.0
    beside = maximum(near / shards, 1.0)
    return gather, blocks * _reduce(payload / shards, groups, beside, **of.links)


def _handled(of: Machine, lay: Layout, stack: Stack, weights: Any) -> Pair:
    """Time in which a chip's memory moves the weights that it gathers and the gradients that it
    reduces; XLA's and Megatron's are part of what shows of their traffic.
    """
    if not stack.by_op:
        return 0.0, 0.0
    second = where(lay.zero > 2, GATHERED_BYTES, 0.0)
    reduced = where(lay.zero > 1, REDUCED_BYTES * of.trained, 0.0)
    there, back = (weights * each / of.bandwidth for each in (second, second + reduced))
    return there, back


@search
def sharding(run: TrainingRun, of: Machine, lay: Layout, stack: Stack, depth: Any) -> Sharding:
    """What a stage of so many layers brings together.

    PyTorch gathers each block by itself, with the latency of every hop, while the one before is
    computed: all but the first shows only where it lasts longer. Megatron and XLA join them.
    """
    t, tp = run.model, lay.tensor
    moe = share_of_mixtures(t)
    weights = (
        projection_weights(t)
        + (1 - moe) * feed_forward_weights(t, t.ffn)
        + moe * feed_forward_weights(t, t.shared_ffn)
    )
    own = (depth * weights + t.vocab * t.embedding_width) / tp
    ranks = lay.data * lay.context
    shards = ranks / lay.replicas
    blocks = depth + 1 if stack.by_op else 1.0
    near = maximum(of.domain / tp, 1.0)
    gather, across = _brought(of, own, blocks, shards, lay.replicas, near)
    state = own / where(lay.zero > 0, shards, 1.0)
    moved = where(shards > 1, own, 0.0)
    if t.experts:
        held = maximum(t.experts / lay.expert, 1.0)
        own_experts = depth * moe * feed_forward_weights(t, t.expert_ffn) * held
        copies = maximum(ranks * tp / lay.expert, 1.0)
        shared = maximum(copies / lay.replicas, 1.0)
        near = maximum(of.domain / lay.expert, 1.0)
        found = _brought(of, own_experts, 1.0, shared, copies / shared, near)
        gather, across = gather + found[0], across + found[1]
        state = state + own_experts / where(lay.zero > 0, shared, 1.0)
        moved = moved + where(shared > 1, own_experts, 0.0)
    return Sharding(
        _traffic(of, lay, stack, gather, across),
        1 - 1 / blocks if stack.by_op else OVERLAP,
        _handled(of, lay, stack, moved),
        state,
    )


def _traffic(
    of: Machine, lay: Layout, stack: Stack, gather: Any, across: Any
) -> tuple[Any, Any, Any]:
    """Gathering weights and reducing gradients: beside the forward and the backward pass of each
    micro-batch where they are sharded, and beside the last one of a step. Gradients that are not
    sharded are reduced in 32 bits.
    """
    weights_sharded, gradients_sharded = (
        where(lay.zero > 2, 1.0, 0.0),
        where(lay.zero > 1, 1.0, 0.0),
    )
    weights_s = weights_sharded * gather * (of.element_bytes / 2 if stack.low_gather else 1.0)
    each = weights_s + gradients_sharded * of.trained * gather
    whole = (1 - gradients_sharded) * 2 + (1 - weights_sharded)
    rest = (whole * gather + (2 - gradients_sharded) * across) * of.trained
    return weights_s, each, rest
