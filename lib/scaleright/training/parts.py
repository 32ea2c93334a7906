"""The physical parts of a training step: how long each kind of work takes at the speeds that a chip
was measured to reach.

All is worked out for one micro-batch of one pipeline stage: matrix products by their real shape on
one rank, attention, memory-bound operations by the bytes they move, launches and communication; of
computing, as long as the slowest chip takes.
`hiding` says what of the latter computing hides; `step` repeats the work over micro-batches, adds
the bubble, and multiplies each kind by a fitted slowdown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np

from scaleright.architecture import Transformer
from scaleright.collectives import all_gather_seconds, all_reduce_seconds, send_recv_seconds
from scaleright.formulas import Domain, closed_form, counting, search, unchecked
from scaleright.ops import INFINITY, ceil, maximum, minimum, size, where
from scaleright.order_statistics import largest_score
from scaleright.quantity import Quantity
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.machine import (
    COMPUTE,
    Machine,
    Modules,
    Pair,
    Stack,
    absent,
    added,
    scaled,
)
from scaleright.transformer.flops import attended_positions
from scaleright.transformer.parameters import feed_forward_weights, projection_weights

# Chips of one kind that are not equally fast: all of a job wait for the slowest


APART = 0.015
"""Standard deviation of the time that chips of one kind take for the same work, over the mean [1]:
an average variation of 8 % [sinha2022, abstract], taken to be that between the whiskers of a box
plot, 5.4 standard deviations of a normal variable.
"""
# Its domain is that of the chips below.
_score = unchecked(largest_score)


@closed_form(chips=Domain(1.0, INFINITY, (1.0, 1e5)))
def slowest(chips):
    """Time that the slowest of so many chips is expected to take for its work, over the mean [1];
    times are taken to be normal.

    >>> slowest(1.0), round(slowest(8.0), 3), round(slowest(1024.0), 3)
    (1.0, 1.022, 1.049)
    """
    return 1 + APART * _score(chips)


# Routed experts of a layer: their part of a training step, and of the exchange of tokens between
# chips


BIAS_BYTES = 28.0, 40.0
"""Bytes moved for each output of an expert, forward and backward, to add a bias weighted by the
router's FP32 probability, operation by operation: product written (4); sum of output and product
read and written (10); results of all experts joined (8); cast to 16 bit (6). Backward: cast (6),
cast for the output (6), split (4), and for the gradients of bias and probability a product each,
read, written and summed (24) [megatronexperts2025].
"""
CLAMP_BYTES = 8.0, 10.0
"""Bytes moved for each input of a clamped activation: clamped (4) and joined again (4); backward:
masked (6) and joined (4) [megatronexperts2025].
"""
LAUNCHES_ROUTER, LAUNCHES_ROUTED, LAUNCHES_EXPERT = 135, 135, 150
"""Kernels of a layer with routed experts, forward and backward: of the router, of moving tokens,
and for each expert on the chip. How many of the first 270 are the router's is assumed: half.
"""
START_S = 1e-5
"""Launch and synchronization of an exchange between experts."""


@counting
def share_of_mixtures(t: Transformer) -> Any:
    """Share of the layers that are mixtures of experts [1]."""
    return 0.0 if absent(t.moe_layers) else t.moe_layers / t.layers


def _biased(t: Transformer, of: Machine, stack: Stack, routed: Any) -> Pair:
    """What biased, clamped experts move beyond others where nothing fuses it."""
    if not t.ffn_bias or stack.fused_experts:
        return 0.0, 0.0
    width = (1 + t.gated_ffn) * t.expert_ffn
    moved = (
        bias * t.hidden + clamp * width for bias, clamp in zip(BIAS_BYTES, CLAMP_BYTES, strict=True)
    )
    forward, backward = (routed * each / of.bandwidth for each in moved)
    return forward, backward


@search
def exchange_seconds(
    t: Transformer, links: Mapping[str, float], domain, tokens, ep, dispatcher="deepep"
):
    """Moving tokens to their experts, or back [s].

    links : terms of the chip's networks (`collectives.Links`)
    domain : chips of a node [1]
    tokens : of one rank [token]
    ep : ranks that share the experts [1]
    dispatcher : "deepep" and "hybridep" send a token once to each node and once to each rank,
        however many of its experts are there; "alltoall" a copy for each expert

    Source: dispatch of [deepep2025]; experts are balanced, so that a token misses a node with
    probability (1 - 1 / nodes)^k.
    """
    ranks = minimum(ep, domain)
    nodes = ceil(ep / ranks)
    copies = t.experts_per_token
    if dispatcher == "alltoall":
        abroad, at_home = copies * (1 - 1 / nodes), copies * (ranks - 1) / ep
    else:
        abroad = (nodes - 1) * (1 - (1 - 1 / nodes) ** copies)
        at_home = (ranks - 1) * nodes * (1 - (1 - 1 / ep) ** copies)
    slowest = maximum(abroad / links["out_bytes_per_s"], at_home / links["up_bytes_per_s"])
    return where(ep > 1, START_S + tokens * t.hidden * 2 * slowest, 0.0)


@search
def expert_seconds(
    t: Transformer, of: Machine, stack: Stack, lay: Layout, tokens: Any
) -> tuple[dict[str, Pair], Modules]:
    """One layer's routed experts, as far as layers have them: time by kind, launches whole, and its
    modules.

    tokens : of a rank of context parallelism [token]
    """
    moe, local = share_of_mixtures(t), tokens / lay.tensor
    routed, held = local * t.experts_per_token, maximum(t.experts / lay.expert, 1.0)
    expert = of.feed_forward(t, maximum(routed / held, 1.0), t.expert_ffn, count=held)
    permuted = (routed * t.hidden * 12 + local * t.experts * 24) / of.bandwidth
    exchange = (
        2 * moe * exchange_seconds(t, of.links, of.domain, local, lay.expert, stack.dispatcher)
    )
    moving = added(expert[1], (permuted, 2 * permuted), _biased(t, of, stack, routed))
    router, rest = (stack.launched(scope, of.graphed) for scope in ("moe_router", "moe"))
    kernels = LAUNCHES_ROUTER * router + (LAUNCHES_ROUTED + LAUNCHES_EXPERT * held) * rest
    launched = moe * kernels * of.low.launch_s / 3
    layer = {
        "grouped": scaled(expert[0], moe),
        "routing": scaled(moving, moe),
        "expert": (exchange, exchange),
        "routed_host": (launched, 2 * launched),
    }
    activation = moe * routed * (2 * (1 + t.gated_ffn) + 2) * t.expert_ffn / of.bandwidth
    return layer, {
        "moe_act": {"routing": activation},
        "moe": {kind: pair[0] for kind, pair in layer.items()},
    }


# One layer's part of a training step, and the output head's: how long each kind of work of a
# micro-batch takes at measured peaks, on one rank


BACKWARD_ATTENTION = 3.5
"""Backward over forward time of fused attention: five products instead of two, at 0.7 of the rate
[flashattention2026].
"""
EXPOSED_SOFTMAX = 0.5
"""Share of the exponentials that the matrix units wait for; the other half runs beside them."""
UNFUSED_BYTES = 12.0
"""Bytes moved for each score of unfused attention: written, softmax, dropout with its mask, read
again (each in 16 bit).
"""
LOGIT_BYTES = 24.0
"""Bytes moved for each logit, forward and backward: 16-bit logits, their FP32 copy, softmax, its
gradient, and the 16-bit one.
"""
PACKED = 0.5
"""Share of a sequence that fine-tuning attends to: examples packed into one see only their own;
publications do not say how many.
"""
NORM_BYTES = 8.0
"""Bytes moved for each element of the residual stream by the two norms of a layer."""
LAUNCHES = 84
"""Kernels of a layer, forward and backward, routed experts apart."""
# Runs and layouts are checked once, by `rules`.
_gather, _attended = unchecked(all_gather_seconds), unchecked(attended_positions)


def _split(width: Any, ranks: Any) -> Any:
    """A rank's share of a width."""
    return 0.0 if absent(width) else width / ranks


def _attention(
    t: Transformer, of: Machine, stack: Stack, tokens, sequence, tp, outside
) -> tuple[Pair, Pair, Pair, Any, Modules]:
    """One layer's attention: products, scores, memory-bound work, the width of its keys and values
    on a rank, and its modules.
    """
    query, out, groups = (
        t.heads * t.head_dim / tp,
        t.heads * t.v_head_dim / tp,
        maximum(t.kv_heads / tp, 1.0),
    )
    keys = groups * (t.head_dim + t.v_head_dim)
    shapes, up = [(query + keys, t.hidden)], []
    if t.kv_lora_rank:
        expanded = t.heads * (t.head_dim - t.qk_rope_head_dim + t.v_head_dim) / tp
        shapes = [(t.q_lora_rank + t.kv_lora_rank + t.qk_rope_head_dim, t.hidden)]
        up = [(query, t.q_lora_rank or t.hidden), (expanded, t.kv_lora_rank)]
    rising = added(*(of.products(tokens, *shape) for shape in up)) if up else (0.0, 0.0)
    products = added(*(of.products(tokens, *shape) for shape in (*shapes, (t.hidden, out))), rising)
    width = 2 * (t.head_dim + t.v_head_dim) / of.plain.matmul_flops
    if stack.fused_attention:
        local = t.window_layers / t.layers
        near = _attended(sequence, t.window or sequence, 1, t.chunked_window)
        scores = (
            tokens
            * (local * near + (1 - local) * _attended(sequence, t.selected_tokens or sequence))
            * t.heads
            / tp
        )
        softmax = EXPOSED_SOFTMAX * scores / of.low.exponentials_per_s
        core = scores * width + softmax, BACKWARD_ATTENTION * scores * width + softmax
    else:
        scores, bytes_s = (
            tokens * sequence * t.heads / tp,
            tokens * sequence * t.heads / tp * UNFUSED_BYTES / of.bandwidth,
        )
        core = scores * width + bytes_s, 2 * scores * width + 1.6 * bytes_s
    narrow = t.hidden / outside
    rotated = 8 * query + 8 * groups * t.head_dim + 4 * (groups * t.v_head_dim + out)
    moved = (
        20 * narrow + rotated + of.cast_bytes * (narrow + out),
        40 * narrow + 2 * rotated + of.cast_bytes * (narrow + query + keys),
    )
    modules = {
        "core_attn": {"attention": core[0]},
        "layernorm": {"elementwise": tokens * NORM_BYTES * narrow / of.bandwidth},
        "mla_up_proj": {"matmul": rising[0]},
    }
    return products, core, scaled(moved, tokens / of.bandwidth), keys, modules


def _recomputed(stack: Stack, layer: dict[str, Pair], modules: Modules) -> dict[str, Pair]:
    """What of a layer's forward pass selective and full recomputation run again, as shares of each
    kind.
    """

    def share(names: tuple[str, ...], kind: str) -> Any:
        seconds = sum(modules.get(name, {}).get(kind, 0.0) for name in names)
        return seconds / where(layer[kind][0] > 0, layer[kind][0], 1.0)

    by_op = {"matmul": 0.5, "elementwise": 1.0}
    skipped = ("last",) if stack.stops_early else ()
    return {
        kind: (
            by_op.get(kind, 0.0) if stack.by_op else share(stack.modules, kind),
            1.0 - share(skipped, kind),
        )
        for kind in layer
    }


def _layer(
    run: TrainingRun, of: Machine, stack: Stack, lay: Layout
) -> tuple[dict[str, Pair], dict[str, Pair], dict[str, Pair]]:
    """Time of a micro-batch by kind, in a mean layer and in the output head; launches and the ring
    of context parallelism whole, whatever hides of them; and what of the layer recomputation runs
    again.
    """
    t, tp, cp = run.model, lay.tensor, lay.context
    outside = where(lay.sequence_parallel > 0, tp, 1.0)
    tokens, moe = lay.micro_batch * run.sequence / cp, share_of_mixtures(t)
    attended = where(run.task == "pretrain", run.sequence, PACKED * run.sequence)
    products, core, moved, keys, modules = _attention(t, of, stack, tokens, attended, tp, outside)
    dense, shared = (
        [scaled(pair, share) for pair in of.feed_forward(t, tokens, _split(width, tp), outside)]
        for width, share in ((t.ffn, 1 - moe), (t.shared_ffn, moe))
    )
    layer = {
        "matmul": added(products, dense[0], shared[0]),
        "attention": core,
        "elementwise": added(moved, dense[1], shared[1]),
    }
    for name, (product, rest) in (("mlp", dense), ("shared_experts", shared)):
        modules[name] = {"matmul": product[0], "elementwise": rest[0]}
    if not absent(t.ffn):
        down = of.products(tokens, t.hidden, t.ffn / tp)[0]
        modules["last"] = {"matmul": (1 - moe) * down}
    if t.experts:
        experts, routed = expert_seconds(t, of, stack, lay, tokens)
        layer, modules = layer | experts, modules | routed
        modules["moe"] |= modules["shared_experts"]
    host = LAUNCHES * stack.launched("attn", of.graphed) * of.low.launch_s / 3
    tensor = 4 * _gather(tokens * t.hidden * 2, tp, minimum(tp, of.domain), **of.links)
    ring = _gather(tokens * cp * keys * 2, cp, maximum(of.domain / tp, 1.0), **of.links)
    layer |= {"tensor": (tensor, tensor), "host": (host, 2 * host), "context": (ring, 2 * ring)}
    logits = tokens * t.vocab / tp * LOGIT_BYTES / 2 / of.bandwidth
    head = {
        "matmul": of.products(tokens, t.vocab / tp, t.hidden, low=False),
        "elementwise": (logits, logits),
    }
    head = {kind: scaled(pair, 1 + run.mtp_modules) for kind, pair in head.items()}
    return layer, head, _recomputed(stack, layer, modules)


_SHARED = ("tensor", "context", "expert", "micro_batch", "sequence_parallel")
"""Fields of a layout on which the time of a layer depends: a million layouts have a few hundred
combinations of them.
"""
_shared = attrgetter(*_SHARED)


@search
def layer_seconds(run: TrainingRun, of: Machine, stack: Stack, lay: Layout):
    """`_layer`, worked out once for each combination of the fields that it depends on where there
    are many layouts.
    """
    given = _shared(lay)
    if (many := size(*given)) < 64:
        return _layer(run, of, stack, lay)
    shared = [np.broadcast_to(np.asarray(values, dtype=float), many) for values in given]
    key = shared[0]
    for values in shared[1:]:
        key = key * (values.max() + 1) + values
    _, first, back = np.unique(key, return_index=True, return_inverse=True)
    few = replace(
        lay, **{name: values[first] for name, values in zip(_SHARED, shared, strict=True)}
    )

    def whole(value: Any) -> Any:
        return value[back] if np.ndim(value) else value

    found = _layer(run, of, stack, few)
    return tuple({kind: tuple(map(whole, pair)) for kind, pair in part.items()} for part in found)


# What data-parallel ranks share out of a stage's weights, and what it takes to bring it together:
# gathering weights, reducing gradients, and the memory that both pass through on a chip.
#
# With hybrid sharding the ranks form `replicas` groups, each of neighbors, that hold all of it:
# what is gathered and scattered stays inside a group, and gradients are summed across groups once
# a step.


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
_reduce = unchecked(all_reduce_seconds)


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
