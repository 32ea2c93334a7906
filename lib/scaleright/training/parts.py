"""The physical parts of a training step: how long each kind of work takes at the speeds that a chip was measured to reach.

All is worked out for one micro-batch of one pipeline stage: matrix products by their real shape on one rank, attention, memory-bound
operations by the bytes they move, and communication as far as computing does not hide it. `step` repeats the work over micro-batches,
adds the bubble, and multiplies each kind by a fitted slowdown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scaleright.architecture import Transformer
from scaleright.catalog import Accelerator
from scaleright.collectives import all_gather_seconds, network, send_recv_seconds
from scaleright.formulas import lookup, search
from scaleright.ops import ceil, maximum, minimum, where
from scaleright.roofline import matmul_seconds, speeds
from scaleright.training.layout import Layout
from scaleright.transformer.flops import attended_positions
from scaleright.transformer.parameters import feed_forward_weights, projection_weights

KINDS = (
    "matmul", "grouped", "attention", "elementwise", "routing", "tensor", "context", "expert", "pipeline", "data", "optimizer", "host",
)  # fmt: skip
"""Kinds of work, each with its own slowdown. `grouped` are the products of routed experts, `routing` is their memory-bound work on a
chip, `expert` is moving tokens to them between chips, `host` is the time of launching kernels that no computing hides."""
COMPUTE = ("matmul", "grouped", "attention", "elementwise", "routing")
"""Kinds that keep the chip itself busy, behind which communication and launches hide."""

ELEMENT_BYTES = {"BF16": 2.0, "FP16": 2.0, "FP8": 1.0, "MXFP8": 1.0, "NVFP4": 0.5, "MXFP4": 0.5}
CAST_BYTES = {"BF16": 0.0, "FP16": 0.0, "FP8": 6.0, "MXFP8": 7.0, "NVFP4": 18.0, "MXFP4": 18.0}
"""Bytes moved to turn one BF16 element into operands. FP8 with one scale a tensor: read for the largest value, read again, written and
written transposed. MXFP8: read and written by rows and by columns, scales put in order. NVFP4: read for the largest value, and both
orientations rotated (random Hadamard transform), read again, rounded at random and written."""
BACKWARD_ATTENTION = 3.5
"""Backward over forward time of fused attention: five products instead of two, at 0.7 of the rate [flashattention2026]."""
EXPOSED_SOFTMAX = 0.5
"""Share of the exponentials that the matrix units wait for; the other half runs beside them."""
UNFUSED_BYTES = 12.0
"""Bytes moved for each score of unfused attention: written, softmax, dropout with its mask, read again (each in 16 bit)."""
LOGIT_BYTES = 24.0
"""Bytes moved for each logit, forward and backward: 16-bit logits, their FP32 copy, softmax, its gradient, and the 16-bit one."""
OPTIMIZER_TRAFFIC = 34.0
"""Bytes read and written for each weight by AdamW in FP32: gradient, master weight and two moments, and the 16-bit weight."""
OVERLAP = 0.5
"""Share of the traffic of weights and gradients that is issued beside computing."""
LAUNCHES, LAUNCHES_ROUTED, LAUNCHES_EXPERT = 84, 270, 150
"""Kernels of a layer, forward and backward; more with routed experts; more for each expert on the chip."""
HIDING = 1.2
"""Time of computing in practice over that at measured peaks, where it decides what hides behind it."""
START_S = 1e-5
"""Launch and synchronization of an exchange between experts."""

_matmul, _gather, _send, _attended = (
    f.__wrapped__ for f in (matmul_seconds, all_gather_seconds, send_recv_seconds, attended_positions)
)  # runs and layouts are checked once, by `rules`


@dataclass(frozen=True)
class Machine:
    """Achieved speeds of a chip in a run's format, as plain numbers (or arrays of them)."""

    matmul_flops: Any
    bf16_flops: Any
    memory_bytes_per_s: Any
    units: Any
    launch_s: Any
    exponentials_per_s: Any
    element_bytes: Any
    cast_bytes: Any
    domain: Any
    links: dict[str, Any]


@lookup
def machine(chip: Accelerator, precision: str) -> Machine:
    """What a chip achieves in a format."""
    fast, plain, links = speeds(chip, precision), speeds(chip, "BF16"), network(chip)
    return Machine(
        fast.matmul_flops, plain.matmul_flops, fast.memory_bytes_per_s, fast.units, fast.launch_s, fast.exponentials_per_s,
        ELEMENT_BYTES[precision], CAST_BYTES[precision], links.up.chips, links.terms,
    )  # fmt: skip


@dataclass(frozen=True)
class Mode:
    """What a run and its software do differently, as flags 0 or 1 (or arrays).

    frozen : the model's weights are not trained (LoRA)
    mtp : modules that predict further tokens [1]
    fused : attention keeps no scores in memory
    by_op : selective recomputation runs memory-bound work and every other matrix product again instead of attention
    low_gather : sharded weights are gathered in the format of the products instead of 16 bit
    """

    frozen: Any = 0.0
    mtp: Any = 0.0
    fused: Any = 1.0
    by_op: Any = 0.0
    low_gather: Any = 0.0


@dataclass(frozen=True)
class Parts:
    """Seconds by kind: of one micro-batch on the busiest stage, forward, backward and recomputed; and once a step.

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
        """Time that a kind of work takes in a step: useful, recomputed, and waited for in the bubble."""
        work, again = self.forward.get(kind, 0.0) + self.backward.get(kind, 0.0), self.again.get(kind, 0.0)
        waits = 0.0 if kind in ("data", "pipeline") else self.bubble * self.mean_share * (work + again)
        return self.micro_batches * work + self.once.get(kind, 0.0), self.micro_batches * again, waits


Pair = tuple[Any, Any]
"""Forward and backward time."""


def _scaled(pair: Pair, by) -> Pair:
    return pair[0] * by, pair[1] * by


def _sum(*pairs: Pair) -> Pair:
    return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)


def _products(of: Machine, low: bool, frozen, tokens, columns, inner, count=1.0) -> Pair:
    """Products with one weight matrix: forward, the gradient of the input, and that of the weights where they are trained."""
    rest = (of.matmul_flops if low else of.bf16_flops, of.memory_bytes_per_s, of.element_bytes if low else 2.0, of.units, count)
    inputs, weights = _matmul(tokens, inner, columns, *rest), _matmul(columns, inner, tokens, *rest)
    return _matmul(tokens, columns, inner, *rest), inputs + (1 - frozen) * weights


def _feed_forward(t: Transformer, of: Machine, frozen, tokens, width, outside=1.0, count=1.0) -> tuple[Pair, Pair]:
    """Products of feed-forward blocks of a width, and their memory-bound work: activation and casts."""
    if not np.any(width):
        return (0.0, 0.0), (0.0, 0.0)
    gates, wide, there = 1 + t.gated_ffn * 1.0, maximum(width, 1.0), where(width > 0, 1.0, 0.0)
    shapes = ((gates * wide, t.hidden), (t.hidden, wide))
    work = _sum(*(_products(of, True, frozen, tokens, *shape, count) for shape in shapes))
    activation, narrow = (2 * gates + 2) * width, t.hidden / outside
    moved = activation + of.cast_bytes * (narrow + width), 2 * activation + of.cast_bytes * (narrow + gates * width)
    return _scaled(work, there), _scaled(moved, there * tokens * count / of.memory_bytes_per_s)


def _attention(t: Transformer, of: Machine, mode: Mode, tokens, sequence, tp, outside) -> tuple[Pair, Pair, Pair, Any]:
    """One layer's attention: products, scores, memory-bound work, and the width of its keys and values on a rank."""
    query, out = t.heads * t.head_dim / tp, t.heads * t.v_head_dim / tp
    groups = maximum(t.kv_heads / tp, 1.0)
    keys = groups * (t.head_dim + t.v_head_dim)
    latent = where(t.kv_lora_rank > 0, 1.0, 0.0)
    products = _sum(
        _scaled(_products(of, True, mode.frozen, tokens, query + keys, t.hidden), 1 - latent),
        _products(of, True, mode.frozen, tokens, t.hidden, out),
    )
    if np.any(t.kv_lora_rank):
        expanded = t.heads * (t.head_dim - t.qk_rope_head_dim + t.v_head_dim) / tp
        ranks = ((t.q_lora_rank + t.kv_lora_rank + t.qk_rope_head_dim, t.hidden), (query, t.q_lora_rank), (expanded, t.kv_lora_rank))
        shapes = ((maximum(columns, 1), maximum(inner, 1)) for columns, inner in ranks)
        products = _sum(products, *(_scaled(_products(of, True, mode.frozen, tokens, *shape), latent) for shape in shapes))
    local = t.window_layers / t.layers
    bound = where(t.selected_tokens > 0, t.selected_tokens, sequence)
    near = _attended(sequence, where(t.window > 0, t.window, sequence), 1, t.chunked_window * 1.0)
    seen = local * near + (1 - local) * _attended(sequence, bound)
    scores, all_scores = tokens * seen * t.heads / tp, tokens * sequence * t.heads / tp
    width = 2 * (t.head_dim + t.v_head_dim) / of.bf16_flops
    softmax = EXPOSED_SOFTMAX * scores / of.exponentials_per_s
    fused = scores * width + softmax, BACKWARD_ATTENTION * scores * width + softmax
    bytes_s = all_scores * UNFUSED_BYTES / of.memory_bytes_per_s
    unfused = all_scores * width + bytes_s, 2 * all_scores * width + 1.6 * bytes_s
    core = _sum(_scaled(fused, mode.fused), _scaled(unfused, 1 - mode.fused))
    narrow = t.hidden / outside
    rotated = 8 * query + 8 * groups * t.head_dim + 4 * (groups * t.v_head_dim + out)
    moved = 20 * narrow + rotated + of.cast_bytes * (narrow + out), 40 * narrow + 2 * rotated + of.cast_bytes * (narrow + query + keys)
    return products, core, _scaled(moved, tokens / of.memory_bytes_per_s), keys


def _exchange_seconds(t: Transformer, of: Machine, tokens, ep):
    """Moving tokens to their experts, or back: once to each node and once to each rank, however many of its experts are there.

    Source: dispatch of [deepep2025]; experts are balanced, so that a token misses a node with probability (1 - 1 / nodes)^k.
    """
    ranks = minimum(ep, of.domain)
    nodes = ceil(ep / ranks)
    abroad = (nodes - 1) * (1 - (1 - 1 / nodes) ** t.experts_per_token)
    at_home = (ranks - 1) * nodes * (1 - (1 - 1 / ep) ** t.experts_per_token)
    slowest = maximum(abroad / of.links["out_bytes_per_s"], at_home / of.links["up_bytes_per_s"])
    return where(ep > 1, START_S + tokens * t.hidden * 2 * slowest, 0.0)


def _layer(t: Transformer, of: Machine, mode: Mode, sequence, lay: Layout) -> tuple[dict[str, Pair], dict[str, Pair]]:
    """Time of a micro-batch by kind, in a mean layer and in the output head."""
    tp, cp, ep = lay.tensor, lay.context, lay.expert
    outside = where(lay.sequence_parallel * 1.0 > 0, tp, 1.0)
    tokens, moe = lay.micro_batch * sequence / cp, t.moe_layers / t.layers
    products, core, moved, keys = _attention(t, of, mode, tokens, sequence, tp, outside)
    dense = _feed_forward(t, of, mode.frozen, tokens, t.ffn / tp, outside)
    shared = _feed_forward(t, of, mode.frozen, tokens, t.shared_ffn / tp, outside)
    layer = {
        "matmul": _sum(products, _scaled(dense[0], 1 - moe), _scaled(shared[0], moe)),
        "attention": core,
        "elementwise": _sum(moved, _scaled(dense[1], 1 - moe), _scaled(shared[1], moe)),
    }
    launches = LAUNCHES
    if np.any(t.experts):
        local, held = tokens / tp, maximum(t.experts / ep, 1.0)
        routed = local * t.experts_per_token
        expert = _feed_forward(t, of, mode.frozen, maximum(routed / held, 1.0), t.expert_ffn, count=held)
        permuted = (routed * t.hidden * 12 + local * t.experts * 24) / of.memory_bytes_per_s
        exchange = 2 * moe * _exchange_seconds(t, of, local, ep)
        moving = _sum(expert[1], (permuted, 2 * permuted))
        layer |= {"grouped": _scaled(expert[0], moe), "routing": _scaled(moving, moe), "expert": (exchange, exchange)}
        launches = launches + moe * (LAUNCHES_ROUTED + LAUNCHES_EXPERT * held)
    busy = sum(sum(layer[kind]) for kind in COMPUTE if kind in layer)
    host = maximum(launches * of.launch_s - HIDING * busy, 0.0) / 3
    tensor = 4 * _gather(tokens * t.hidden * 2, tp, minimum(tp, of.domain), **of.links)
    ring = _gather(tokens * cp * keys * 2, cp, maximum(of.domain / tp, 1.0), **of.links)
    layer |= {
        "tensor": (tensor, tensor), "host": (host, 2 * host),
        "context": (maximum(ring - core[0], 0.1 * ring), maximum(2 * ring - core[1], 0.2 * ring)),
    }  # fmt: skip
    logits = tokens * t.vocab / tp * LOGIT_BYTES / 2 / of.memory_bytes_per_s
    head = {"matmul": _products(of, False, mode.frozen, tokens, t.vocab / tp, t.hidden), "elementwise": (logits, logits)}
    return layer, {kind: _scaled(pair, 1 + mode.mtp) for kind, pair in head.items()}


_SHARED = ("tensor", "context", "expert", "micro_batch", "sequence_parallel")
"""Fields of a layout on which the time of a layer depends: a million layouts have a few hundred combinations of them."""


def _distinct_layers(t: Transformer, of: Machine, mode: Mode, sequence, lay: Layout):
    """`_layer`, worked out once for each combination of the fields that it depends on where there are many layouts."""
    size = max(np.size(getattr(lay, name)) for name in _SHARED)
    if size < 64 or np.ndim(t.layers):
        return _layer(t, of, mode, sequence, lay)
    shared = [np.broadcast_to(np.asarray(getattr(lay, name), dtype=float), size) for name in _SHARED]
    key = shared[0]
    for values in shared[1:]:
        key = key * (values.max() + 1) + values
    _, first, back = np.unique(key, return_index=True, return_inverse=True)
    few = replace(lay, **{name: values[first] for name, values in zip(_SHARED, shared)})
    return tuple(
        {kind: tuple(value[back] if np.ndim(value) else value for value in pair) for kind, pair in part.items()}
        for part in _layer(t, of, mode, sequence, few)
    )


@search
def physical_parts(t: Transformer, of: Machine, sequence, global_batch, lay: Layout, mode: Mode) -> Parts:
    """The parts of a step at measured peaks.

    Parameters
    ----------
    t, of, sequence, global_batch, mode : what is run on what; numbers, or arrays of many runs that broadcast
    lay : how, its fields numbers or arrays that broadcast
    """
    tp, pp, links, bandwidth = lay.tensor, lay.pipeline, of.links, of.memory_bytes_per_s
    layer, head = _distinct_layers(t, of, mode, sequence, lay)
    busy, top = (sum(sum(part[kind]) for kind in COMPUTE if kind in part) for part in (layer, head))
    # The busiest stage: a full one, or the last, which has fewer layers where the pipeline counts other modules as layers, but the head.
    stage = ceil(t.layers / (pp * lay.virtual)) * lay.virtual
    spare = stage * pp - t.layers
    last = stage - where(spare == 2, 1.0, spare) + mode.mtp
    tail = where(last * busy + top >= stage * busy, 1.0, 0.0)
    depth = maximum(tail * last + (1 - tail) * stage, 1.0)
    forward, backward = ({kind: depth * pair[way] for kind, pair in layer.items()} for way in (0, 1))
    full, core = where(lay.recompute > 1, 1.0, 0.0), where(lay.recompute == 1, 1.0, 0.0)
    again = {kind: full * value for kind, value in forward.items()}
    for kind, share in (("attention", 1 - mode.by_op), ("matmul", 0.5 * mode.by_op), ("elementwise", mode.by_op)):
        again[kind] = again[kind] + core * share * forward[kind]
    for kind, pair in head.items():
        forward[kind], backward[kind] = forward[kind] + tail * pair[0], backward[kind] + tail * pair[1]
    # Activations between stages; weights gathered and gradients reduced: once a step, or by each micro-batch where they are sharded.
    outside = where(lay.sequence_parallel * 1.0 > 0, tp, 1.0)
    message = lay.micro_batch * sequence / lay.context * t.hidden * 2 / outside
    sent = lay.virtual * _send(message, links["out_latency_s"], links["out_bytes_per_s"])
    forward["pipeline"] = backward["pipeline"] = where(pp > 1, sent, 0.0)
    moe = t.moe_layers / t.layers
    weights = projection_weights(t) + (1 - moe) * feed_forward_weights(t, t.ffn) + moe * feed_forward_weights(t, t.shared_ffn)
    own = (depth * weights + t.vocab * t.embedding_width) / tp
    group = lay.data * lay.context
    gather = _gather(2 * own, group, maximum(of.domain / tp, 1.0), **links)
    state = own / where(lay.zero > 0, group, 1.0)
    if np.any(t.experts):
        own_experts = depth * moe * feed_forward_weights(t, t.expert_ffn) * maximum(t.experts / lay.expert, 1.0)
        copies = maximum(group * tp / lay.expert, 1.0)
        gather = gather + _gather(2 * own_experts, copies, maximum(of.domain / lay.expert, 1.0), **links)
        state = state + own_experts / where(lay.zero > 0, copies, 1.0)
    ahead, behind = (sum(side.get(kind, 0.0) for kind in COMPUTE) for side in (forward, backward))
    behind = behind + sum(again.get(kind, 0.0) for kind in COMPUTE)
    weights_sharded, gradients_sharded = where(lay.zero > 2, 1.0, 0.0), where(lay.zero > 1, 1.0, 0.0)
    trained = 1 - mode.frozen
    weights_s = weights_sharded * gather * (1 - mode.low_gather * (1 - of.element_bytes / 2))
    forward["data"] = weights_s - minimum(OVERLAP * weights_s, ahead)
    each = weights_s + gradients_sharded * trained * gather
    backward["data"] = each - minimum(OVERLAP * each, behind)
    rest = ((1 - gradients_sharded) * 2 + (1 - weights_sharded)) * trained * gather
    once = {"data": rest - minimum(OVERLAP * rest, behind), "optimizer": trained * state * OPTIMIZER_TRAFFIC / bandwidth}
    return Parts(
        forward, backward, again, once, lay.micro_batches(global_batch), (t.layers + mode.mtp) / pp / depth, (pp - 1) / lay.virtual
    )
