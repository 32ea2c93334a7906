"""One layer's part of a training step, and the output head's: how long each kind of work of a
micro-batch takes at measured peaks, on one rank.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from scaleright.architecture import Transformer
from scaleright.catalog import architecture
from scaleright.collectives import all_gather_seconds, network
from scaleright.formulas import counting, lookup, search, unchecked
from scaleright.ops import ceil, maximum, minimum, where
from scaleright.quantity import Quantity
from scaleright.roofline import matmul_seconds, plain_format, speeds
from scaleright.training.layout import Layout, TrainingRun
from scaleright.transformer.flops import attended_positions

COMPUTE = ("matmul", "grouped", "attention", "elementwise", "routing")
"""Kinds that keep the chip itself busy, behind which communication and launches hide."""

ELEMENT_BYTES = {"BF16": 2.0, "FP16": 2.0, "FP8": 1.0, "MXFP8": 1.0, "NVFP4": 0.5, "MXFP4": 0.5}
CAST_BYTES = {"BF16": 0.0, "FP16": 0.0, "FP8": 6.0, "MXFP8": 7.0, "NVFP4": 18.0, "MXFP4": 18.0}
"""Bytes moved to turn one BF16 element into operands. FP8 with one scale a tensor: read for the
largest value, read again, written and written transposed. MXFP8: read and written by rows and by
columns, scales put in order. NVFP4: read for the largest value, and both orientations rotated
(random Hadamard transform), read again, rounded at random and written.
"""
BACKWARD_ATTENTION = 3.5
"""Backward over forward time of fused attention: five products instead of two, at 0.7 of the rate
[flashattention2026].
"""
EXPOSED_SOFTMAX = 0.5
"""Share of the exponentials that the matrix units wait for; the other half runs beside them."""
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
LAUNCHES, LAUNCHES_ROUTED, LAUNCHES_EXPERT = 84, 270, 150
"""Kernels of a layer, forward and backward; more with routed experts; more for each expert on the
chip.
"""
START_S = 1e-5
"""Launch and synchronization of an exchange between experts."""

# Runs and layouts are checked once, by `rules`.
_matmul, _gather = unchecked(matmul_seconds), unchecked(all_gather_seconds)
_attended = unchecked(attended_positions)


NORM_BYTES = 8.0
"""Bytes moved for each element of the residual stream by the two norms of a layer."""
MODULES = ("core_attn", "layernorm", "mla_up_proj", "mlp", "moe_act", "shared_experts", "moe")
"""What of a layer Megatron can run again by itself: scores and weighted values; norms; keys, values
and queries from latents; the dense feed-forward block; the activation of routed experts; experts
that all tokens visit; and the whole mixture, with moving tokens to their experts and back.
"""

Pair = tuple[Any, Any]
"""Forward and backward time."""
Modules = dict[str, dict[str, Any]]
"""Forward time of modules that can be run again by themselves, by kind of work."""


@counting
def share_of_mixtures(t: Transformer) -> Any:
    """Share of the layers that are mixtures of experts [1]."""
    return 0.0 if _none(t.moe_layers) else t.moe_layers / t.layers


def _none(count: Any) -> bool:
    """Whether a model has none of something, whatever is chosen."""
    return not isinstance(count, Quantity) and not np.any(count)


def _split(width: Any, ranks: Any) -> Any:
    """A rank's share of a width."""
    return 0.0 if _none(width) else width / ranks


def _scaled(pair: Pair, by) -> Pair:
    return pair[0] * by, pair[1] * by


def _sum(*pairs: Pair) -> Pair:
    return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)


@dataclass(frozen=True)
class Stack:
    """What the time of a step depends on in a software stack.

    native : PyTorch or JAX with sharded weights, instead of Megatron's hand-fused operations
    compiled : its operations are fused by a compiler
    by_op : selective recomputation runs memory-bound work and every other matrix product again
        (PyTorch), not modules
    low_gather : sharded weights of FP8 runs are gathered in FP8 (torchtitan)
    fused_attention : attention keeps no scores in memory (FlashAttention, in Megatron since 2023)
    fused_experts : experts' products and casts fused, the whole step one CUDA graph
        (Megatron-Bridge since 26.06)
    modules : what selective recomputation runs again otherwise, by Megatron's names (`MODULES`)
    """

    native: bool = False
    compiled: bool = False
    by_op: bool = False
    low_gather: bool = False
    fused_attention: bool = True
    fused_experts: bool = True
    modules: tuple[str, ...] = ("core_attn",)


@lookup
def fuses_experts(run: TrainingRun) -> bool:
    """Whether the products of a run's experts can be fused: on Blackwell, and without biases
    [transformerengine2026groupedmlp].
    """
    return architecture(run.chip).startswith("Blackwell") and not run.model.ffn_bias


@dataclass(frozen=True)
class Machine:
    """Achieved speeds of a run's chip, in its format and in 16 bit, and its networks.

    low, plain : in the run's format and in 16 bit
    links : terms of its networks (`collectives.Links`)
    domain : chips of a node [1]
    element_bytes, cast_bytes : of the run's format, `ELEMENT_BYTES` and `CAST_BYTES` [B]
    trained : whether all weights are trained
    graphed : whether one graph launches fused experts, so that the host waits for no router
    """

    low: Any
    plain: Any
    links: Mapping[str, Any]
    domain: Any
    element_bytes: Any
    cast_bytes: Any
    trained: Any
    graphed: Any

    @classmethod
    def of(cls, run: TrainingRun) -> Self:
        """That of a run, from the tables."""
        links, form = network(run.chip), run.precision
        return cls(
            speeds(run.chip, form),
            speeds(run.chip, plain_format(run.chip)),
            links.terms,
            links.up.chips,
            ELEMENT_BYTES[form],
            CAST_BYTES[form],
            run.task != "lora",
            fuses_experts(run),
        )

    @property
    def bandwidth(self) -> Any:
        """Memory bandwidth that the chip reaches [B/s]."""
        return self.low.memory_bytes_per_s

    def products(self, tokens, columns, inner, count=1.0, low=True) -> Pair:
        """Products with one weight matrix: forward, the gradient of the input, and that of the
        weights where they are trained.
        """
        of = self.low if low else self.plain
        rest = of.matmul_flops, self.bandwidth, self.element_bytes if low else 2.0, of.units, count
        inputs, weights = (
            _matmul(tokens, inner, columns, *rest),
            self.trained * _matmul(columns, inner, tokens, *rest),
        )
        return _matmul(tokens, columns, inner, *rest), inputs + weights

    def feed_forward(
        self, t: Transformer, tokens, width, outside=1.0, count=1.0
    ) -> tuple[Pair, Pair]:
        """Products of feed-forward blocks of a width, and their memory-bound work: activation and
        casts.
        """
        if _none(width):
            return (0.0, 0.0), (0.0, 0.0)
        gates, narrow = 1 + t.gated_ffn, t.hidden / outside
        work = _sum(
            *(
                self.products(tokens, *shape, count)
                for shape in ((gates * width, t.hidden), (t.hidden, width))
            )
        )
        activation = (2 * gates + 2) * width
        moved = (
            activation + self.cast_bytes * (narrow + width),
            2 * activation + self.cast_bytes * (narrow + gates * width),
        )
        return work, _scaled(moved, tokens * count / self.bandwidth)


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
    rising = _sum(*(of.products(tokens, *shape) for shape in up)) if up else (0.0, 0.0)
    products = _sum(*(of.products(tokens, *shape) for shape in (*shapes, (t.hidden, out))), rising)
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
    return products, core, _scaled(moved, tokens / of.bandwidth), keys, modules


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
def exchange_seconds(t: Transformer, links: Mapping[str, float], domain, tokens, ep):
    """Moving tokens to their experts, or back: once to each node and once to each rank, however
    many of its experts are there [s].

    links : terms of the chip's networks (`collectives.Links`)
    domain : chips of a node [1]
    tokens : of one rank [token]
    ep : ranks that share the experts [1]

    Source: dispatch of [deepep2025]; experts are balanced, so that a token misses a node with
    probability (1 - 1 / nodes)^k.
    """
    ranks = minimum(ep, domain)
    nodes = ceil(ep / ranks)
    abroad = (nodes - 1) * (1 - (1 - 1 / nodes) ** t.experts_per_token)
    at_home = (ranks - 1) * nodes * (1 - (1 - 1 / ep) ** t.experts_per_token)
    slowest = maximum(abroad / links["out_bytes_per_s"], at_home / links["up_bytes_per_s"])
    return where(ep > 1, START_S + tokens * t.hidden * 2 * slowest, 0.0)


def _experts(
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
    exchange = 2 * moe * exchange_seconds(t, of.links, of.domain, local, lay.expert)
    moving = _sum(expert[1], (permuted, 2 * permuted), _biased(t, of, stack, routed))
    launched = moe * (LAUNCHES_ROUTED + LAUNCHES_EXPERT * held) * of.low.launch_s / 3
    launched = launched * where(of.graphed, 1.0 - stack.fused_experts, 1.0)
    layer = {
        "grouped": _scaled(expert[0], moe),
        "routing": _scaled(moving, moe),
        "expert": (exchange, exchange),
        "routed_host": (launched, 2 * launched),
    }
    activation = moe * routed * (2 * (1 + t.gated_ffn) + 2) * t.expert_ffn / of.bandwidth
    return layer, {
        "moe_act": {"routing": activation},
        "moe": {kind: pair[0] for kind, pair in layer.items()},
    }


def _again(stack: Stack, layer: dict[str, Pair], modules: Modules) -> dict[str, Any]:
    """What of a layer's forward pass selective recomputation runs again, as shares by kind."""
    if stack.by_op:
        return {"matmul": 0.5, "elementwise": 1.0}
    seconds: dict[str, Any] = {}
    for name in stack.modules:
        for kind, of in modules.get(name, {}).items():
            seconds[kind] = seconds.get(kind, 0.0) + of
    return {
        kind: of / where(layer[kind][0] > 0, layer[kind][0], 1.0) for kind, of in seconds.items()
    }


def _layer(
    run: TrainingRun, of: Machine, stack: Stack, lay: Layout
) -> tuple[dict[str, Pair], dict[str, Pair], dict[str, Any]]:
    """Time of a micro-batch by kind, in a mean layer and in the output head; launches and the ring
    of context parallelism whole, whatever hides of them; and what of the layer selective
    recomputation runs again.
    """
    t, tp, cp = run.model, lay.tensor, lay.context
    outside = where(lay.sequence_parallel > 0, tp, 1.0)
    tokens, moe = lay.micro_batch * run.sequence / cp, share_of_mixtures(t)
    attended = where(run.task == "pretrain", run.sequence, PACKED * run.sequence)
    products, core, moved, keys, modules = _attention(t, of, stack, tokens, attended, tp, outside)
    dense, shared = (
        [_scaled(pair, share) for pair in of.feed_forward(t, tokens, _split(width, tp), outside)]
        for width, share in ((t.ffn, 1 - moe), (t.shared_ffn, moe))
    )
    layer = {
        "matmul": _sum(products, dense[0], shared[0]),
        "attention": core,
        "elementwise": _sum(moved, dense[1], shared[1]),
    }
    for name, (product, rest) in (("mlp", dense), ("shared_experts", shared)):
        modules[name] = {"matmul": product[0], "elementwise": rest[0]}
    if t.experts:
        experts, routed = _experts(t, of, stack, lay, tokens)
        layer, modules = layer | experts, modules | routed
        modules["moe"] |= modules["shared_experts"]
    host = LAUNCHES * of.low.launch_s / 3
    tensor = 4 * _gather(tokens * t.hidden * 2, tp, minimum(tp, of.domain), **of.links)
    ring = _gather(tokens * cp * keys * 2, cp, maximum(of.domain / tp, 1.0), **of.links)
    layer |= {"tensor": (tensor, tensor), "host": (host, 2 * host), "context": (ring, 2 * ring)}
    logits = tokens * t.vocab / tp * LOGIT_BYTES / 2 / of.bandwidth
    head = {
        "matmul": of.products(tokens, t.vocab / tp, t.hidden, low=False),
        "elementwise": (logits, logits),
    }
    head = {kind: _scaled(pair, 1 + run.mtp_modules) for kind, pair in head.items()}
    return layer, head, _again(stack, layer, modules)


_SHARED = ("tensor", "context", "expert", "micro_batch", "sequence_parallel")
"""Fields of a layout on which the time of a layer depends: a million layouts have a few hundred
combinations of them.
"""


@search
def layer_seconds(run: TrainingRun, of: Machine, stack: Stack, lay: Layout):
    """`_layer`, worked out once for each combination of the fields that it depends on where there
    are many layouts.
    """
    size = max(np.size(getattr(lay, name)) for name in _SHARED)
    if size < 64:
        return _layer(run, of, stack, lay)
    shared = [
        np.broadcast_to(np.asarray(getattr(lay, name), dtype=float), size) for name in _SHARED
    ]
    key = shared[0]
    for values in shared[1:]:
        key = key * (values.max() + 1) + values
    _, first, back = np.unique(key, return_index=True, return_inverse=True)
    few = replace(
        lay, **{name: values[first] for name, values in zip(_SHARED, shared, strict=True)}
    )

    def whole(value: Any) -> Any:
        return value[back] if np.ndim(value) else value

    layer, head, again = _layer(run, of, stack, few)
    layer, head = (
        {kind: tuple(map(whole, of)) for kind, of in part.items()} for part in (layer, head)
    )
    return layer, head, {kind: whole(share) for kind, share in again.items()}
