"""Parameters of any Transformer from its shape, exact to the last bias.

Counted are the weights of the language model itself, as a checkpoint without its modules for
multi-token prediction and without vision or audio towers holds them. Padding of the vocabulary
counts where the published table has it. A matrix from m to n has m n weights, a bias n more.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scaleright.architecture import Transformer, stacked
from scaleright.formulas import COUNT, Breakdown, closed_form, counting
from scaleright.ops import where


@dataclass(frozen=True)
class Parameters(Breakdown):
    """Parameters by part; the parts add up to `total`.

    embedding : token table (with its projection to the hidden width, where there is one)
    positions : learned position and segment tables, projections of relative positions
    attention : query, key, value, output (and latent) projections of all layers, their biases,
        sinks
    indexer : choice of the tokens which sparse attention sees
    ffn : dense feed-forward layers
    experts : routed experts
    shared_experts : experts that every token visits
    router : router weights and biases
    norms : every norm, those of queries and keys included
    head : output projection where it is not the token table, its bias, BERT's pooler
    """

    embedding: Any
    positions: Any
    attention: Any
    indexer: Any
    ffn: Any
    experts: Any
    shared_experts: Any
    router: Any
    norms: Any
    head: Any


@counting
def query_weights(t: Transformer):
    """Weights from the residual stream to the queries of one layer: straight, or through a latent
    (MLA).
    """
    width = t.heads * t.head_dim
    return where(
        t.q_lora_rank > 0, t.hidden * t.q_lora_rank + t.q_lora_rank * width, t.hidden * width
    )


@counting
def key_value_weights(t: Transformer):
    """Weights to keys and values of one layer.

    MLA stores one latent and one rotary key a token and expands the latent to the keys without
    their rotary part and the values of every head [deepseekv2, section 2.1].
    """
    expanded = t.heads * (t.head_dim - t.qk_rope_head_dim + t.v_head_dim)
    latent = t.hidden * (t.kv_lora_rank + t.qk_rope_head_dim) + t.kv_lora_rank * expanded
    return where(t.kv_lora_rank > 0, latent, t.hidden * t.kv_heads * (t.head_dim + t.v_head_dim))


@counting
def indexer_weights(t: Transformer):
    """Weights of the sparse-attention indexer of one layer: queries, one shared key, a weight per
    index head.
    """
    source = where(t.q_lora_rank > 0, t.q_lora_rank, t.hidden)
    weights = source * t.index_heads * t.index_head_dim + t.hidden * (
        t.index_head_dim + t.index_heads
    )
    return (t.index_heads > 0) * weights


@counting
def feed_forward_weights(t: Transformer, width):
    """Weights of one feed-forward block of a given inner width: two matrices, three where it is
    gated.
    """
    return (2 + t.gated_ffn) * t.hidden * width


@counting
def projection_weights(t: Transformer):
    """Weights from the residual stream to queries, keys and values of one layer and from its heads
    back.
    """
    return query_weights(t) + key_value_weights(t) + t.hidden * t.heads * t.v_head_dim


@counting
def adapter_weights(t: Transformer):
    """Weights between a token table and a residual stream of different widths, one way."""
    return (t.embedding_width != t.hidden) * t.embedding_width * t.hidden


def _feed_forward_biases(t: Transformer, width):
    return t.ffn_bias * ((1 + t.gated_ffn) * width + t.hidden)


def _attention(t: Transformer):
    biases = (
        t.qkv_bias * (t.heads * t.head_dim + t.kv_heads * (t.head_dim + t.v_head_dim))
        + t.out_bias * t.hidden
    )
    return t.layers * (projection_weights(t) + biases + t.sinks * t.heads)


def _norms(t: Transformer):
    of_hidden = (t.norms_per_layer * t.layers + t.outer_norms) * t.norm_vectors * t.hidden
    return of_hidden + t.layers * (
        t.qk_norm_width + t.q_lora_rank + t.kv_lora_rank + 2 * t.index_head_dim
    )


def _head(t: Transformer):
    pooler = t.pooler * (t.hidden * t.hidden + t.hidden)
    return (
        (1 - t.tied_embeddings) * t.vocab * t.embedding_width
        + adapter_weights(t)
        + t.head_bias * t.vocab
        + pooler
    )


def _parameters(t: Transformer, routed, embedding) -> Parameters:
    dense_layers = t.layers - t.moe_layers
    expert = feed_forward_weights(t, t.expert_ffn) + _feed_forward_biases(t, t.expert_ffn)
    shared = feed_forward_weights(t, t.shared_ffn) + (t.shared_ffn > 0) * _feed_forward_biases(
        t, t.shared_ffn
    )
    return Parameters(
        embedding=embedding,
        positions=t.position_rows * t.hidden
        + t.relative_projection * t.layers * t.hidden * t.heads * t.head_dim,
        attention=_attention(t),
        indexer=t.layers * indexer_weights(t),
        ffn=dense_layers * (feed_forward_weights(t, t.ffn) + _feed_forward_biases(t, t.ffn)),
        experts=t.moe_layers * routed * expert,
        shared_experts=t.moe_layers * shared,
        router=t.moe_layers * (t.hidden * t.experts + t.router_bias * t.experts),
        norms=_norms(t),
        head=_head(t),
    )


@counting
def parameters(t: Transformer) -> Parameters:
    """All parameters of the language model, by part.

    >>> gpt2 = Transformer("GPT-2", layers=12, hidden=768, heads=12, kv_heads=12, head_dim=64,
    ...     ffn=3072,
    ...                    gated_ffn=False, vocab=50257, tied_embeddings=True, position_rows=1024,
    ...                    norm_vectors=2,
    ...                    qkv_bias=True, out_bias=True, ffn_bias=True)
    >>> parameters(gpt2).total, parameters(gpt2).embedding, parameters(gpt2).norms
    (124439808, 38597376, 38400)
    """
    return _parameters(t, t.experts, t.vocab * t.embedding_width + adapter_weights(t))


@counting
def active_parameters(t: Transformer, input_embedding: bool = True) -> Parameters:
    """Parameters that one token uses: of the routed experts only those it visits.

    Publications differ in whether the token table counts, of which a token reads one row. Without
    it (`input_embedding=False`) a table tied to the output head still counts once, as the head that
    multiplies by it.

    >>> moe = Transformer("moe", layers=2, hidden=8, heads=1, kv_heads=1, head_dim=8, ffn=0,
    ...     gated_ffn=True, vocab=10,
    ...                   tied_embeddings=False, experts=4, experts_per_token=1, expert_ffn=16,
    ...                   moe_layers=2)
    >>> parameters(moe).experts, active_parameters(moe).experts
    (3072, 768)
    >>> active_parameters(moe).total - active_parameters(moe, input_embedding=False).total
    80
    """
    table = t.vocab * t.embedding_width
    counted = table if input_embedding else t.tied_embeddings * table
    return _parameters(t, t.experts_per_token, counted + adapter_weights(t))


@counting
def matmul_parameters(t: Transformer):
    """Weights that multiply one token's activations: twice this is the forward FLOP apart from
    attention itself.

    Without the embedding look-up (no arithmetic), norms and biases (vectors), and BERT's pooler
    (once a sequence); with the output head, tied or not.

    >>> tiny = Transformer("tiny", 2, 64, 4, 2, 16, 256, True, 1000, True)
    >>> matmul_parameters(tiny)
    186880
    """
    dense = (t.layers - t.moe_layers) * feed_forward_weights(t, t.ffn)
    visited = t.experts_per_token * feed_forward_weights(t, t.expert_ffn) + feed_forward_weights(
        t, t.shared_ffn
    )
    mixture = t.moe_layers * (visited + t.hidden * t.experts)
    return (
        t.layers * (projection_weights(t) + indexer_weights(t))
        + dense
        + mixture
        + t.vocab * t.embedding_width
        + 2 * adapter_weights(t)
    )


@closed_form(layers=COUNT, hidden=COUNT)
def rule_of_thumb_parameters(layers, hidden):
    """12 L h^2, the oldest rule: attention 4 h^2 and an ungated feed-forward of 4 h, no embedding,
    no experts.

    Source: [kaplan2020, section 2.1] for d_attn = d_ff / 4 = d_model. The baseline that
    `validation` has to beat.

    >>> round(rule_of_thumb_parameters(96, 12288) / 1e9, 1)
    173.9
    """
    return 12 * layers * hidden * hidden


@counting
def counts(models: Iterable[Transformer]) -> pd.DataFrame:
    """Exact counts of many models, one row each, in one broadcast call.

    Returns
    -------
    frame indexed by name: every part of `Parameters`, then total_parameters, active_parameters,
    active_parameters_without_embedding and non_embedding_parameters (all but token and position
    tables and the output head, as model cards count it).

    >>> tiny = Transformer("tiny", 2, 64, 4, 2, 16, 256, True, 1000, True)
    >>> counts([tiny]).loc["tiny", ["embedding", "total_parameters"]].tolist()
    [64000, 187200]
    """
    t = stacked(models)
    everything = parameters(t)
    columns = {
        name: np.broadcast_to(value, np.shape(t.layers))
        for name, value in everything.parts().items()
    }
    return pd.DataFrame(
        columns
        | {
            "total_parameters": everything.total,
            "active_parameters": active_parameters(t).total,
            "active_parameters_without_embedding": (
                active_parameters(t, input_embedding=False).total
            ),
            "non_embedding_parameters": (
                everything.total
                - everything.embedding
                - t.position_rows * t.hidden
                - everything.head
            ),
        },
        index=pd.Index(t.name, name="name"),
    )
