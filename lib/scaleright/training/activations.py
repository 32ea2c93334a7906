"""What one layer keeps for the backward pass, and what of it recomputation spares."""

from typing import Any

from scaleright.formulas import counting
from scaleright.ops import maximum, minimum, where
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.software import FULL_BYTES, HALF_BYTES, Software


@counting
def layer_bytes(
    run: TrainingRun, layout: Layout, software: Software, mixture: bool
) -> tuple[Any, Any]:
    """Activations of one token in one layer: kept for the backward pass, and all of them; on one
    chip.

    The 34 of [korthikanti2022, equation 2] in its own terms: norms 4 h, attention 11 h,
    feed-forward 19 h.
    """
    m, low = run.model, software.low_bytes(run.precision)
    keys = minimum(
        maximum(m.kv_heads, layout.tensor), m.heads
    )  # more ranks than key heads: each holds one of them
    queries, values = m.heads * m.head_dim, m.heads * m.v_head_dim
    stream = HALF_BYTES * m.hidden * m.norms_per_layer + low * m.hidden * minimum(
        m.norms_per_layer, 2
    )
    stream = (
        stream
        + 2 * m.hidden * software.dropout
        + 2 * HALF_BYTES * (m.q_lora_rank + m.kv_lora_rank)
        + HALF_BYTES * m.qk_rope_head_dim
    )
    attention = (
        HALF_BYTES * (queries + keys * (m.head_dim + m.v_head_dim) + values)
        + (low < HALF_BYTES) * low * values
    )
    attention = attention + (m.qk_norm_width > 0) * HALF_BYTES * (queries + keys * m.head_dim)
    core = m.heads * (
        FULL_BYTES
        if software.flash
        else run.sequence * (HALF_BYTES + (1 + HALF_BYTES) * software.dropout)
    )
    inner = HALF_BYTES * (1 + m.gated_ffn) + low
    if mixture:
        stream = stream + FULL_BYTES * m.experts
        visited = m.experts_per_token * (m.expert_ffn * inner + m.hidden * (low + HALF_BYTES))
        forward, first = (
            visited + m.shared_ffn * inner,
            m.experts_per_token * m.expert_ffn + m.shared_ffn,
        )
    else:
        forward, first = m.ffn * inner, m.ffn
    split = where(layout.sequence_parallel > 0, layout.tensor, 1)
    whole = stream / split + (attention + core + forward) / layout.tensor
    entry = HALF_BYTES * m.hidden / split
    if software.selective_ops:
        products = HALF_BYTES * (queries + keys * m.v_head_dim + values + first) + core
        selective = 2 * entry + products / layout.tensor
    else:
        selective = whole - core / layout.tensor
    return (
        where(layout.recompute == 0, whole, where(layout.recompute == 1, selective, entry)),
        whole,
    )
