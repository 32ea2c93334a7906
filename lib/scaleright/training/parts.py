"""The physical parts of a training step: how long each kind of work takes at the speeds that a chip was measured to reach.

Everything is worked out for one pipeline stage and one micro-batch: matrix products by their real shape on one rank, attention,
memory-bound operations by the bytes they move, and communication as far as computing does not hide it. `step` repeats the work
over micro-batches, adds the bubble, and multiplies each kind by a fitted slowdown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scaleright.architecture import Transformer
from scaleright.catalog import Accelerator
from scaleright.collectives import all_gather_seconds, network, send_recv_seconds
from scaleright.ops import ceil, maximum, minimum, where
from scaleright.roofline import matmul_seconds, speeds
from scaleright.training.layout import Layout, TrainingRun
from scaleright.transformer.flops import attended_positions
from scaleright.transformer.parameters import feed_forward_weights, projection_weights

KINDS = (
    "matmul", "grouped", "attention", "elementwise", "routing", "tensor", "context", "expert", "pipeline", "data", "optimizer", "host",
)  # fmt: skip
"""Kinds of work, each with its own slowdown. `grouped` are the products of experts, `routing` is moving tokens to them on a chip,
`expert` is moving them between chips, `host` is the time of launching kernels that no computing hides."""

ELEMENT_BYTES = {"BF16": 2.0, "FP16": 2.0, "FP8": 1.0, "MXFP8": 1.0, "NVFP4": 0.5}
CAST_BYTES = {"BF16": 0.0, "FP16": 0.0, "FP8": 6.0, "MXFP8": 5.0, "NVFP4": 6.0}
"""Bytes moved to turn one BF16 element into the operands of matrix products: read for its scale, read again, written row-wise
and column-wise."""

_matmul, _gather, _send, _attended = (
    f.__wrapped__ for f in (matmul_seconds, all_gather_seconds, send_recv_seconds, attended_positions)
)  # inputs are checked once, where the run is


@dataclass(frozen=True)
class Machine:
    """Achieved speeds of a chip for one run, as plain numbers."""

    matmul_flops: Any
    bf16_flops: Any
    memory_bytes_per_s: Any
    units: Any
    launch_s: Any
    element_bytes: Any
    cast_bytes: Any
    domain: Any
    exponentials: Any
    links: dict[str, Any]


def machine(chip: Accelerator, precision: str) -> Machine:
    """What a chip achieves in a format."""
    fast, plain, links = speeds(chip, precision), speeds(chip, "BF16"), network(chip)
    return Machine(
        fast.matmul_flops, plain.matmul_flops, fast.memory_bytes_per_s, fast.units, fast.launch_s, ELEMENT_BYTES[precision],
        CAST_BYTES[precision], links.up.chips, fast.exponentials_per_s, links.terms,
    )  # fmt: skip


@dataclass(frozen=True)
class Parts:
    """Seconds by kind: of one micro-batch on the busiest stage forward, backward and recomputed, on a mean stage, and once a step."""

    forward: dict[str, Any]
    backward: dict[str, Any]
    again: dict[str, Any]
    mean_share: Any
    once: dict[str, Any]
    micro_batches: Any
    bubble: Any

    def seconds(self, kind: str) -> tuple[Any, Any, Any]:
        """Time that a kind of work takes in a step: useful, recomputed, and waited for in the bubble."""
        work, again = self.forward.get(kind, 0.0) + self.backward.get(kind, 0.0), self.again.get(kind, 0.0)
        waits = 0.0 if kind in ("data", "pipeline") else self.bubble * self.mean_share * (work + again)
        return self.micro_batches * work + self.once.get(kind, 0.0), self.micro_batches * again, waits


class _Products:
    """Time of matrix products, forward and backward, in one format."""

    def __init__(self, of: Machine, low: bool, frozen):
        self.peak = of.matmul_flops if low else of.bf16_flops
        self.rest = (of.memory_bytes_per_s, of.element_bytes if low else 2.0, of.units)
        self.frozen = frozen

    def __call__(self, tokens, columns, inner, count=1.0):
        """Forward, and backward: the gradient of the input, and that of the weights where they are trained."""
        forward = _matmul(tokens, columns, inner, self.peak, *self.rest, count)
        inputs = _matmul(tokens, inner, columns, self.peak, *self.rest, count)
        weights = _matmul(columns, inner, tokens, self.peak, *self.rest, count)
        return forward, inputs + (1 - self.frozen) * weights


def _both(*pairs):
    """Sums of forward and backward times."""
    return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)


def _scaled(pair, by):
    return pair[0] * by, pair[1] * by


def _mlp(products, of: Machine, tokens, hidden, width, gates, outside=1.0, count=1.0):
    """Products of a feed-forward block, and the time of its memory-bound work: activation and casts."""
    wide = maximum(width, 1.0)
    there = where(width > 0, 1.0, 0.0)
    work = _both(products(tokens, gates * wide, hidden, count), products(tokens, hidden, wide, count))
    total = tokens * count
    ahead = (2 * gates + 2) * width + of.cast_bytes * (hidden / outside + width)
    behind = (4 * gates + 4) * width + of.cast_bytes * (gates * width + hidden / outside)
    return _scaled(work, there), _scaled((total * ahead, total * behind), there / of.memory_bytes_per_s)


UNFUSED_BYTES = 12.0
EXP_SHARE = 1.0
BACKWARD_ATTENTION = 3.5
LOGIT_BYTES = 24.0
OVERLAP = 0.5
LAUNCHES = 28.0
LAUNCHES_MOE = 90.0
LAUNCHES_EXPERT = 50.0


def _attention(t, of, low, tokens, sequence, tp, outside, fused):
    """Products, scores and memory-bound work of one layer's attention, each forward and backward."""
    query, key, value = t.heads * t.head_dim / tp, maximum(t.kv_heads / tp, 1.0) * t.head_dim, maximum(t.kv_heads / tp, 1.0) * t.v_head_dim
    out = t.heads * t.v_head_dim / tp
    latent = where(t.kv_lora_rank > 0, 1.0, 0.0)
    expanded = t.heads * (t.head_dim - t.qk_rope_head_dim + t.v_head_dim) / tp
    direct = low(tokens, query + key + value, t.hidden)
    down = low(tokens, maximum(t.q_lora_rank + t.kv_lora_rank + t.qk_rope_head_dim, 1), t.hidden)
    up = _both(low(tokens, query, maximum(t.q_lora_rank, 1)), low(tokens, expanded, maximum(t.kv_lora_rank, 1)))
    products = _both(_scaled(direct, 1 - latent), _scaled(down, latent), _scaled(up, latent), low(tokens, t.hidden, out))
    in_window = _attended(sequence, where(t.window > 0, t.window, sequence), 1, t.chunked_window * 1.0)
    share = t.window_layers / t.layers
    seen = where(t.selected_tokens > 0, _attended(sequence, where(t.selected_tokens > 0, t.selected_tokens, sequence)), (sequence + 1) / 2)
    scores = tokens * (share * in_window + (1 - share) * seen) * t.heads / tp
    softmax = EXP_SHARE * scores / of.exponentials
    core = 2 * scores * (t.head_dim + t.v_head_dim) / of.bf16_flops
    whole = tokens * sequence * t.heads / tp
    fused_core, fused_back = core + softmax, BACKWARD_ATTENTION * core + softmax
    plain = 2 * whole * (t.head_dim + t.v_head_dim) / of.bf16_flops
    core_s = fused * fused_core + (1 - fused) * (plain + whole * UNFUSED_BYTES / of.memory_bytes_per_s)
    back_s = fused * fused_back + (1 - fused) * (2 * plain + 1.6 * whole * UNFUSED_BYTES / of.memory_bytes_per_s)
    heads_bytes = 8 * (query + key) + 4 * (value + out)
    narrow = tokens * t.hidden / outside
    ahead = 20 * narrow + tokens * heads_bytes + of.cast_bytes * (narrow + tokens * out)
    behind = 40 * narrow + 2 * tokens * heads_bytes + of.cast_bytes * (narrow + tokens * (query + key + value))
    return products, (core_s, back_s), _scaled((ahead, behind), 1 / of.memory_bytes_per_s), key + value


def _exchange_seconds(t, of, tokens, ep):
    """Moving tokens to their experts, or back: once to each node and once to each rank, however many of its experts are there."""
    ranks = minimum(ep, of.domain)
    nodes = ceil(ep / ranks)
    abroad = (nodes - 1) * (1 - (1 - 1 / nodes) ** t.experts_per_token)
    at_home = (ranks - 1) * nodes * (1 - (1 - 1 / ep) ** t.experts_per_token)
    slowest = maximum(abroad / of.links["out_bytes_per_s"], at_home / of.links["up_bytes_per_s"])
    return where(ep > 1, 1e-5 + tokens * t.hidden * 2 * slowest, 0.0)


def physical_parts(t: Transformer, of: Machine, sequence, global_batch, lay: Layout, lora=0.0, mtp=0.0, fused=1.0, by_op=0.0) -> Parts:
    """Parts of a step from plain numbers; any of them may be arrays that broadcast."""
    tp, cp, pp, ep, dp = lay.tensor, lay.context, lay.pipeline, lay.expert, lay.data
    links, bandwidth = of.links, of.memory_bytes_per_s
    tokens = lay.micro_batch * sequence / cp
    micro_batches = lay.micro_batches(global_batch)
    outside = where(lay.sequence_parallel * 1.0 > 0, tp, 1.0)
    low, plain = _Products(of, True, lora), _Products(of, False, lora)
    gates = 1 + t.gated_ffn * 1.0
    moe = t.moe_layers / t.layers
    products, scores, element, kv_width = _attention(t, of, low, tokens, sequence, tp, outside, fused)
    dense = _mlp(low, of, tokens, t.hidden, t.ffn / tp, gates, outside)
    shared = _mlp(low, of, tokens, t.hidden, t.shared_ffn / tp, gates, outside)
    local = tokens / tp
    routed = local * t.experts_per_token
    held = maximum(t.experts / ep, 1.0)
    expert = _mlp(low, of, maximum(routed / held, 1.0), t.hidden, t.expert_ffn, gates, 1.0, held)
    routing = (routed * t.hidden * 12 + local * t.experts * 24) / bandwidth
    # Communication of a layer.
    wire = tokens * t.hidden * 2
    tensor = 4 * _gather(wire, tp, minimum(tp, of.domain), **links)
    ring = _gather(tokens * cp * kv_width * 2, cp, maximum(of.domain / tp, 1.0), **links)
    exchange = 2 * moe * _exchange_seconds(t, of, local, ep)
    layer = {
        "matmul": _both(products, _scaled(dense[0], 1 - moe), _scaled(shared[0], moe)),
        "grouped": _scaled(expert[0], moe),
        "attention": scores,
        "elementwise": _both(element, _scaled(dense[1], 1 - moe), _scaled(shared[1], moe)),
        "routing": _both(_scaled(expert[1], moe), (moe * routing, 2 * moe * routing)),
    }
    busy = sum(a + b for a, b in layer.values())
    launches = (LAUNCHES + moe * (LAUNCHES_MOE + LAUNCHES_EXPERT * held)) * of.launch_s * 3
    host = maximum(launches - REFERENCE * busy, 0.0)
    layer |= {
        "tensor": (tensor, tensor), "expert": (exchange, exchange), "host": (host / 3, host * 2 / 3),
        "context": (maximum(ring - scores[0], 0.1 * ring), maximum(2 * ring - scores[1], 0.2 * ring)),
    }  # fmt: skip
    logits = tokens * t.vocab / tp * LOGIT_BYTES / 2 / bandwidth
    head = {"matmul": plain(tokens, t.vocab / tp, t.hidden), "elementwise": (logits, logits)}
    # The busiest stage: a full one, or the last with its head.
    stage = ceil(t.layers / pp)
    spare = stage * pp - t.layers
    last = stage - where(spare == 2, 1.0, spare) + mtp
    head = {kind: _scaled(pair, 1 + mtp) for kind, pair in head.items()}
    tail = where(last * busy + sum(a + b for a, b in head.values()) >= stage * busy, 1.0, 0.0)
    depth = tail * last + (1 - tail) * stage
    forward, backward, again = ({kind: depth * pair[i] for kind, pair in layer.items()} for i in (0, 1, 0))
    full, core = where(lay.recompute > 1, 1.0, 0.0), where(lay.recompute == 1, 1.0, 0.0)
    again = {kind: full * value for kind, value in again.items()}
    again["attention"] = again["attention"] + core * (1 - by_op) * forward["attention"]
    again["matmul"] = again["matmul"] + 0.5 * core * by_op * forward["matmul"]
    again["elementwise"] = again["elementwise"] + core * by_op * forward["elementwise"]
    for kind, pair in head.items():
        forward[kind] = forward[kind] + tail * pair[0]
        backward[kind] = backward[kind] + tail * pair[1]
    forward["pipeline"] = backward["pipeline"] = where(pp > 1, lay.virtual * _send(wire / outside, links["out_latency_s"], links["out_bytes_per_s"]), 0.0)
    # Weights: gathered and their gradients reduced, once a step, or each micro-batch under ZeRO-3.
    own = depth * (projection_weights(t) + (1 - moe) * feed_forward_weights(t, t.ffn) + moe * feed_forward_weights(t, t.shared_ffn)) / tp
    own = own + t.vocab * t.embedding_width / tp
    own_experts = depth * moe * feed_forward_weights(t, t.expert_ffn) * held
    group = dp * cp
    expert_group = maximum(group * tp / ep, 1.0)
    gather = _gather(2 * own, group, maximum(of.domain / tp, 1.0), **links) + _gather(2 * own_experts, expert_group, maximum(of.domain / ep, 1.0), **links)
    compute = ("matmul", "grouped", "attention", "elementwise", "routing")
    ahead, behind = sum(forward[k] for k in compute), sum(backward[k] + again[k] for k in compute)
    sharded = where(lay.zero > 2, 1.0, 0.0)
    forward["data"] = sharded * (gather - minimum(OVERLAP * gather, ahead))
    backward["data"] = sharded * (2 * gather - minimum(OVERLAP * 2 * gather, behind))
    once_s = (1 - sharded) * (1 - lora) * 3 * gather
    state = (1 - lora) * (own / where(lay.zero > 0, group, 1.0) + own_experts / where(lay.zero > 0, expert_group, 1.0))
    once = {"data": once_s - minimum(OVERLAP * once_s, behind), "optimizer": state * 34 / bandwidth}
    return Parts(forward, backward, again, (t.layers + mtp) / pp / depth, once, micro_batches, (pp - 1) / lay.virtual)


REFERENCE = 1.2
