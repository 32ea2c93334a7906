"""Parameters that one rank of a pipeline stage holds, and those that its adapters train."""

from typing import Any

from scaleright.architecture import Transformer
from scaleright.formulas import counting
from scaleright.ops import maximum, where
from scaleright.training.layout import Layout
from scaleright.transformer.parameters import Parameters

LORA_RANK = 32
"""Rank of the adapters where a run says only that it trains adapters: the default of NeMo
[nemolora].
"""


@counting
def adapter_parameters(m: Transformer, rank: Any = LORA_RANK) -> Any:
    """Parameters of low-rank adapters at the attention and dense feed-forward matrices of every
    layer.

    Source: [nemolora], default targets: query-key-value, attention output, and both (gated: three)
    feed-forward matrices.

    >>> from scaleright.catalog import model
    >>> round(adapter_parameters(model("Llama-2-7B")) / 1e6, 1)
    67.4
    """
    queries, values, inner = m.heads * m.head_dim, m.heads * m.v_head_dim, (1 + m.gated_ffn) * m.ffn
    widths = (
        queries + m.kv_heads * (m.head_dim + m.v_head_dim) + values + inner + m.ffn + 4 * m.hidden
    )
    return m.layers * rank * widths


def _of_stage(total: Any, count: Any, held: Any) -> Any:
    """Parameters of `held` layers, of the `count` layers that have `total` together; none where no
    layer has any.
    """
    return total / maximum(count, 1) * held


@counting
def rank_parameters(
    m: Transformer, layout: Layout, p: Parameters, ends: tuple[Any, Any], layers: Any, mixtures: Any
) -> tuple[Any, Any, Any]:
    """Parameters of one rank of a stage: of its layers without experts, of experts, which another
    number of ranks shares out, and of tables of the vocabulary.

    ends : 1 where the stage is the first, and where it is the last
    """
    (is_first, is_last), tensor = ends, layout.tensor
    spread = maximum(layout.expert, tensor)
    experts = _of_stage(p.experts, m.moe_layers, mixtures) / spread
    dense = _of_stage(p.attention + p.indexer, m.layers, layers) + _of_stage(
        p.ffn, m.layers - m.moe_layers, layers - mixtures
    )
    dense = (dense + _of_stage(p.shared_experts, m.moe_layers, mixtures)) / tensor
    dense = (
        dense + _of_stage(p.norms, m.layers, layers) + _of_stage(p.router, m.moe_layers, mixtures)
    )
    tied = (
        m.tied_embeddings * m.vocab * m.embedding_width * where(layout.pipeline > 1, 1, 0)
    )  # a second copy for the last stage
    tables = (is_first * (p.embedding + p.positions) + is_last * (p.head + tied)) / tensor
    return dense, experts, tables
