"""The shape of a Transformer: every number from which its parameters, FLOPs and bytes follow.

One row of `data/models.csv` is one `Transformer`; field names are column names. The class belongs
to the facts: it says what a published configuration says and counts nothing (see
`scaleright.transformer` for that). Fields may also hold NumPy arrays, one element a model, so that
a whole table is counted in one call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, cast

import numpy as np

from scaleright.quantity import Quantity, choose


@dataclass(frozen=True)
class Transformer:
    """One architecture. Zero or False means "does not have it"; nothing is guessed from other
    fields.

    Attributes
    ----------
    name : key of the model
    layers : Transformer blocks, without modules for multi-token prediction
    hidden : width of the residual stream
    heads, kv_heads : query heads; key and value heads (1 is multi-query, fewer than `heads` is
        grouped-query)
    head_dim, v_head_dim : width of a query/key head and of a value head; *not* hidden / heads in
        general
    ffn, gated_ffn : inner width of a dense feed-forward layer; three matrices (SwiGLU, GeGLU)
        instead of two
    vocab, tied_embeddings : rows of the token table, padding included; whether the output head is
        that table
    embedding_width : width of the token table where it is projected to `hidden` (OPT-350M)
    position_rows : rows of learned tables added to the embedding (positions; BERT's segments)
    relative_projection : projection of relative positions in every layer (Transformer-XL attention)
    q_lora_rank, kv_lora_rank, qk_rope_head_dim : multi-head latent attention (MLA); `head_dim`
        includes the rotary part
    index_heads, index_head_dim, selected_tokens : indexer of sparse attention, and the tokens it
        lets a query see
    window, window_layers, chunked_window : positions a local layer sees, how many layers are local,
        and whether the context is cut into blocks of `window` instead of sliding
    experts, experts_per_token, expert_ffn, moe_layers : routed experts of a layer, those a token
        visits, inner width of one, and the layers that have them (the others are dense)
    shared_ffn : inner width of all shared experts of a layer together
    router_bias : a bias per expert in the router (also the load-balancing bias of DeepSeek-V3)
    norm_vectors, norms_per_layer, outer_norms : learned vectors per norm (1 RMSNorm or no bias, 2
        LayerNorm), norms of width `hidden` in a layer, and outside the layers
    qk_norm_width : learned values of the query and key norms of one layer
    qkv_bias, out_bias, ffn_bias, head_bias : biases of query/key/value, of the attention output, of
        feed-forward layers and experts, of the output head
    sinks : one learned attention sink per head and layer
    pooler : BERT's dense layer on the first token
    causal : a decoder; False for an encoder, whose every position sees all others
    max_context : longest context that the published configuration runs unchanged; 0 where unknown

    Raises
    ------
    ValueError : when the numbers contradict each other, naming the field and what is allowed.

    >>> Transformer("tiny", layers=2, hidden=64, heads=4, kv_heads=2, head_dim=16, ffn=256,
    ...     gated_ffn=True, vocab=1000, tied_embeddings=True).v_head_dim
    16
    >>> Transformer("odd", layers=2, hidden=64, heads=4, kv_heads=3, head_dim=16, ffn=256,
    ...     gated_ffn=True, vocab=1000, tied_embeddings=True)
    Traceback (most recent call last):
    ValueError: odd: kv_heads = 3 does not divide heads = 4
    """

    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    gated_ffn: bool
    vocab: int
    tied_embeddings: bool
    v_head_dim: int = cast("int", None)  # that of `head_dim`
    embedding_width: int = cast("int", None)  # that of `hidden`
    position_rows: int = 0
    relative_projection: bool = False
    q_lora_rank: int = 0
    kv_lora_rank: int = 0
    qk_rope_head_dim: int = 0
    index_heads: int = 0
    index_head_dim: int = 0
    selected_tokens: int = 0
    window: int = 0
    window_layers: int = 0
    chunked_window: bool = False
    experts: int = 0
    experts_per_token: int = 0
    expert_ffn: int = 0
    moe_layers: int = 0
    shared_ffn: int = 0
    router_bias: bool = False
    norm_vectors: int = 1
    norms_per_layer: int = 2
    outer_norms: int = 1
    qk_norm_width: int = 0
    qkv_bias: bool = False
    out_bias: bool = False
    ffn_bias: bool = False
    head_bias: bool = False
    sinks: bool = False
    pooler: bool = False
    causal: bool = True
    max_context: int = 0

    def __post_init__(self) -> None:
        for field, default in (("v_head_dim", self.head_dim), ("embedding_width", self.hidden)):
            if getattr(self, field) is None:
                object.__setattr__(self, field, default)
        plain = not any(isinstance(value, Quantity) for value in vars(self).values())
        if plain and isinstance(self.layers, (int, np.integer)):
            self._check()

    def _check(self) -> None:
        def refuse(text: str) -> None:
            raise ValueError(f"{self.name}: {text}")

        for field in ("layers", "hidden", "heads", "kv_heads", "head_dim", "vocab"):
            if getattr(self, field) < 1:
                refuse(f"{field} = {getattr(self, field)}, allowed: 1 or more")
        for field in (f.name for f in fields(self) if f.name != "name"):
            if getattr(self, field) < 0:
                refuse(f"{field} = {getattr(self, field)}, allowed: 0 or more")
        if self.heads % self.kv_heads:
            refuse(f"kv_heads = {self.kv_heads} does not divide heads = {self.heads}")
        for field, bound in (
            ("moe_layers", "layers"),
            ("window_layers", "layers"),
            ("experts_per_token", "experts"),
            ("qk_rope_head_dim", "head_dim"),
        ):
            if getattr(self, field) > getattr(self, bound):
                refuse(f"{field} = {getattr(self, field)} exceeds {bound} = {getattr(self, bound)}")
        if (
            len(
                {
                    self.moe_layers > 0,
                    self.experts > 0,
                    self.experts_per_token > 0,
                    self.expert_ffn > 0,
                }
            )
            > 1
        ):
            refuse(
                "moe_layers, experts, experts_per_token and expert_ffn are set together or not"
                " at all"
            )
        if self.moe_layers < self.layers and not self.ffn:
            refuse(f"ffn = 0, but {self.layers - self.moe_layers} layers are dense")
        if (self.window > 0) != (self.window_layers > 0):
            refuse(
                f"window = {self.window} and window_layers = {self.window_layers} are set together"
                " or not at all"
            )


SHAPE_FIELDS = tuple(field.name for field in fields(Transformer))


def stacked(models: Iterable[Transformer]) -> Transformer:
    """Many architectures as one whose fields are arrays of shape (models,), to be counted in one
    call.

    >>> tiny = Transformer("tiny", 2, 64, 4, 2, 16, 256, True, 1000, True)
    >>> stacked([tiny, tiny]).hidden
    array([64, 64])
    """
    models = list(models)
    columns: dict[str, Any] = {
        field: np.array([getattr(model, field) for model in models]) for field in SHAPE_FIELDS
    }
    return Transformer(**columns)


def chosen(models: Mapping[str, Transformer], choice: Any) -> Transformer:
    """One of several architectures, whose fields follow a choice; those in which all are alike are
    plain numbers.

    >>> from scaleright.quantity import evaluate, given
    >>> tiny = Transformer("tiny", 2, 64, 4, 2, 16, 256, True, 1000, True)
    >>> wide = Transformer("wide", 2, 96, 6, 2, 16, 256, True, 1000, True)
    >>> shape = chosen({"tiny": tiny, "wide": wide}, given("model", "tiny"))
    >>> shape.layers, shape.hidden.value, evaluate([shape.hidden], {"model": "wide"})
    (2, 64, [96])
    """
    rows = {
        name: {field: int(getattr(model, field)) for field in SHAPE_FIELDS if field != "name"}
        for name, model in models.items()
    }
    alike = dict(set.intersection(*(set(row.items()) for row in rows.values())))
    different = choose(
        {
            name: {field: value for field, value in row.items() if field not in alike}
            for name, row in rows.items()
        },
        choice,
    )
    shape: dict[str, Any] = alike | dict(different)
    return Transformer(name=choice, **shape)
