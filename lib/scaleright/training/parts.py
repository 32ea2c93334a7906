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
from scaleright.collectives import all_gather_seconds, all_to_all_seconds, network, send_recv_seconds
from scaleright.ops import ceil, floor, maximum, minimum, where
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

_matmul, _gather, _exchange, _send, _attended = (
    f.__wrapped__ for f in (matmul_seconds, all_gather_seconds, all_to_all_seconds, send_recv_seconds, attended_positions)
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
    links: dict[str, Any]


def machine(chip: Accelerator, precision: str) -> Machine:
    """What a chip achieves in a format."""
    fast, plain, links = speeds(chip, precision), speeds(chip, "BF16"), network(chip)
    return Machine(
        fast.matmul_flops, plain.matmul_flops, fast.memory_bytes_per_s, fast.units, fast.launch_s, ELEMENT_BYTES[precision],
        CAST_BYTES[precision], links.up.chips, links.terms,
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


def _sum(*pairs):
    return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)


def physical_parts(t: Transformer, of: Machine, sequence, global_batch, lay: Layout, lora=0.0) -> Parts:
    """Parts of a step from plain numbers; any of them may be arrays that broadcast."""
    tp, cp, pp, ep, dp = lay.tensor, lay.context, lay.pipeline, lay.expert, lay.data
    tokens = lay.micro_batch * sequence / cp
    micro_batches = lay.micro_batches(global_batch)
    outside = where(lay.sequence_parallel * 1.0 > 0, tp, 1.0)
    low, plain = _Products(of, True, lora), _Products(of, False, lora)
    # Matrix products of a layer.
    query, key, value = t.heads * t.head_dim / tp, maximum(t.kv_heads / tp, 1.0) * t.head_dim, maximum(t.kv_heads / tp, 1.0) * t.v_head_dim
    out = t.heads * t.v_head_dim / tp
    latent = t.kv_lora_rank > 0
    expanded = t.heads * (t.head_dim - t.qk_rope_head_dim + t.v_head_dim) / tp
    into = _sum(
        low(tokens, where(latent, maximum(t.q_lora_rank + t.kv_lora_rank + t.qk_rope_head_dim, 1), query + key + value), t.hidden),
    )
    up = _sum(low(tokens, query, maximum(t.q_lora_rank, 1)), low(tokens, expanded, maximum(t.kv_lora_rank, 1)))
    attention_products = tuple(a + where(latent, b, 0.0) + c for a, b, c in zip(into, up, low(tokens, t.hidden, out)))
    gates = 1 + t.gated_ffn * 1.0
    dense = _feed_forward(low, tokens, t.hidden, t.ffn / tp, gates)
    shared = _feed_forward(low, tokens, t.hidden, t.shared_ffn / tp, gates)
    local = tokens / tp
    experts = maximum(t.experts / ep, 1.0)
    routed = local * t.experts_per_token
    each = maximum(routed * ep / maximum(t.experts, 1), 1.0)
    grouped = _feed_forward(low, each, t.hidden, t.expert_ffn, gates, experts)
    head = plain(tokens, t.vocab / tp, t.hidden)
    # Attention and memory-bound work of a layer.
    in_window = _attended(sequence, where(t.window > 0, t.window, sequence), 1, t.chunked_window * 1.0)
    share = t.window_layers / t.layers
    seen = where(t.selected_tokens > 0, _attended(sequence, where(t.selected_tokens > 0, t.selected_tokens, sequence)), (sequence + 1) / 2)
    positions = share * in_window + (1 - share) * seen
    scores = tokens * positions * t.heads / tp
    attention = 2 * scores * (t.head_dim + t.v_head_dim + SOFTMAX_WIDTH) / of.bf16_flops
    bandwidth = of.memory_bytes_per_s
    heads_bytes = 8 * (query + key) + 4 * (value + out)
    casts = of.cast_bytes
    narrow = tokens / outside * (20 * t.hidden)
    element = narrow + tokens * (heads_bytes + casts * (t.hidden / outside + out))
    element_back = 2 * narrow + tokens * (2 * heads_bytes + casts * (query + key + value + t.hidden / outside))

    def mlp_bytes(count, width, inputs):
        forward = count * ((2 * gates + 2) * width + casts * (inputs + width))
        return forward, count * ((4 * gates + 4) * width + casts * (gates * width + inputs))

    dense_mlp, shared_mlp, expert_mlp = (
        mlp_bytes(tokens, t.ffn / tp, t.hidden / outside), mlp_bytes(tokens, t.shared_ffn / tp, t.hidden / outside),
        mlp_bytes(routed, t.expert_ffn, t.hidden),
    )  # fmt: skip
    routing = routed * t.hidden * 12 + local * t.experts * 24
    logits = tokens * t.vocab / tp
    # Communication of a layer.
    links = of.links
    within = minimum(tp, of.domain)
    tensor_bytes = tokens * t.hidden * 2
    tensor = _gather(tensor_bytes, tp, within, **links)
    beside = maximum(of.domain / tp, 1.0)
    ring = _gather(tokens * cp * (key + value) * 2, cp, beside, **links)
    spread = maximum(of.domain, 1.0)
    exchange = _exchange(routed * t.hidden * 2, ep, spread, **links)
    # Layers of the busiest stage.
    whole = floor(t.layers / pp) == t.layers / pp
    stage = ceil(t.layers / pp)
    on_head = where(whole, 1.0, 0.0)
    moe = t.moe_layers / t.layers
    forward = {
        "matmul": stage * (attention_products[0] + (1 - moe) * dense[0] + moe * shared[0]) + on_head * head[0],
        "grouped": stage * moe * grouped[0],
        "attention": stage * attention,
        "elementwise": (stage * (element + (1 - moe) * dense_mlp[0] + moe * shared_mlp[0]) + on_head * 12 * logits) / bandwidth,
        "routing": stage * moe * (routing + expert_mlp[0]) / bandwidth,
        "tensor": stage * 4 * tensor,
        "context": stage * where(cp > 1, maximum(ring - attention, 0.1 * ring), 0.0),
        "expert": stage * moe * 2 * exchange,
        "host": stage * (1 + 3 * moe) * 20 * of.launch_s,
    }
    backward = {
        "matmul": stage * (attention_products[1] + (1 - moe) * dense[1] + moe * shared[1]) + on_head * head[1],
        "grouped": stage * moe * grouped[1],
        "attention": stage * 2.5 * attention,
        "elementwise": (stage * (element_back + (1 - moe) * dense_mlp[1] + moe * shared_mlp[1]) + on_head * 12 * logits) / bandwidth,
        "routing": stage * moe * (2 * routing + expert_mlp[1]) / bandwidth,
        "tensor": stage * 4 * tensor,
        "context": stage * where(cp > 1, maximum(2 * ring - 2.5 * attention, 0.2 * ring), 0.0),
        "expert": stage * moe * 2 * exchange,
        "host": stage * (1 + 3 * moe) * 35 * of.launch_s,
    }
    full, selective = where(lay.recompute > 1, 1.0, 0.0), where(lay.recompute == 1, 1.0, 0.0)
    again = {kind: full * value for kind, value in forward.items()}
    again["matmul"] = full * (forward["matmul"] - on_head * head[0])
    again["elementwise"] = full * (forward["elementwise"] - on_head * 12 * logits / bandwidth)
    again["attention"] = (full + selective) * forward["attention"]
    forward["pipeline"] = backward["pipeline"] = where(pp > 1, lay.virtual * _send(tensor_bytes / outside, links["out_latency_s"], links["out_bytes_per_s"]), 0.0)
    # Weights: gathered and their gradients reduced, once a step, or each micro-batch under ZeRO-3.
    layer_weights = (projection_weights(t) + (1 - moe) * feed_forward_weights(t, t.ffn) + moe * feed_forward_weights(t, t.shared_ffn)) / tp
    expert_weights = moe * feed_forward_weights(t, t.expert_ffn) * experts
    table = t.vocab * t.embedding_width / tp
    group = dp * cp
    inside = maximum(of.domain / (tp * where(pp > 1, 1.0, 1.0)), 1.0)
    own = stage * layer_weights + table
    own_experts = stage * expert_weights
    expert_group = maximum(group * tp / ep, 1.0)
    sharded = where(lay.zero > 2, 1.0, 0.0)
    gather = _gather(2 * own, group, inside, **links) + _gather(2 * own_experts, expert_group, 1.0, **links)
    compute = {k: forward[k] for k in ("matmul", "grouped", "attention", "elementwise", "routing")}
    ahead = sum(compute.values())
    behind = sum(backward[k] for k in compute) + sum(again[k] for k in compute)
    hidden_share = OVERLAP
    forward["data"] = sharded * (gather - minimum(hidden_share * gather, ahead))
    backward["data"] = sharded * (2 * gather - minimum(hidden_share * 2 * gather, behind))
    again["data"] = 0.0
    once_s = where(lay.zero > 2, 0.0, 3 * gather)
    held = (1 - lora) * (own / where(lay.zero > 0, group, 1.0) + own_experts / where(lay.zero > 0, expert_group, 1.0))
    once = {"data": (1 - lora) * (once_s - minimum(hidden_share * once_s, behind)), "optimizer": held * 34 / bandwidth}
    mean_share = (t.layers / pp) / stage
    return Parts(forward, backward, again, mean_share, once, micro_batches, (pp - 1) / lay.virtual)


SOFTMAX_WIDTH = 128.0
OVERLAP = 0.9


def _feed_forward(products, tokens, hidden, width, gates, count=1.0):
    given = maximum(width, 1.0)
    return tuple(where(width > 0, a + b, 0.0) for a, b in zip(products(tokens, gates * given, hidden, count), products(tokens, hidden, given, count)))
