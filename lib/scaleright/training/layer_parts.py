"""One layer's part of a training step, and the output head's: how long each kind of work of a
micro-batch takes at measured peaks, on one rank.
"""

from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np

from scaleright.architecture import Transformer
from scaleright.collectives import all_gather_seconds
from scaleright.formulas import search, unchecked
from scaleright.ops import maximum, minimum, size, where
from scaleright.training.experts import expert_seconds, share_of_mixtures
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.machine import Machine, Modules, Pair, Stack, absent, added, scaled
from scaleright.transformer.flops import attended_positions

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


def _again(stack: Stack, layer: dict[str, Pair], modules: Modules) -> dict[str, Pair]:
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
    return layer, head, _again(stack, layer, modules)


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
