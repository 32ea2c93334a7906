"""Memory of one chip that serves a model, by part, and the batch that it allows.

Weights are exact counts in the formats of their parts; the cache is that of `transformer.memory`,
shared out as engines do: key/value heads over tensor-parallel chips down to one head a chip,
latents and indexer keys on every one of them. Of all pipeline stages the fullest counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scaleright.architecture import Transformer
from scaleright.formulas import Breakdown, counting, search
from scaleright.inference.deployment import Deployment
from scaleright.ops import ceil, floor, maximum, minimum, where
from scaleright.training.memory import COMMUNICATOR_BYTES, CONTEXT_BYTES
from scaleright.transformer.memory import bytes_per_parameter, sequence_kv_bytes
from scaleright.transformer.parameters import parameters

GRAPH_BYTES = 1e9
"""Captured graphs of steps of all sizes, an allowance: vLLM reports 0.2 GiB for a model of a
billion parameters [vllm11349].
"""


@dataclass(frozen=True)
class ServingMemory(Breakdown):
    """Bytes of the fullest chip, by part; the parts add up to `total`.

    weights_bytes : in the formats of their parts
    kv_bytes : cache of the sequences that run
    activations_bytes : of the largest step
    reserve_bytes : context of the driver, buffers of communication, captured graphs
    """

    weights_bytes: Any
    kv_bytes: Any
    activations_bytes: Any
    reserve_bytes: Any

    def room_bytes(self, d: Deployment) -> Any:
        """Bytes that the engine leaves to the cache: its share of the chip, less all else; in
        TensorRT-LLM a share of what all else leaves.

        Source: `gpu_memory_utilization` of vLLM, `free_gpu_memory_fraction` of TensorRT-LLM
        [tensorrtllm2025].
        """
        memory_bytes, rest = d.chip.require("memory_bytes"), self.total - self.kv_bytes
        return (
            d.memory_share * (memory_bytes - rest)
            if d.engine == "TensorRT-LLM"
            else d.memory_share * memory_bytes - rest
        )

    def fits(self, d: Deployment) -> Any:
        """Whether the engine's share of a chip holds it."""
        return self.kv_bytes <= self.room_bytes(d)


@counting
def weights_per_chip(d: Deployment) -> Any:
    """Bytes of weights on the fullest chip [B].

    Layers are shared by the stages, the token table and the output head belong to the first and the
    last one; attention and dense blocks are split over the tensor-parallel chips, routed experts,
    those held twice counted twice, over all chips of a stage.
    """
    t, whole, form = (
        d.model,
        parameters(d.model),
        {part: bytes_per_parameter(name) for part, name in d.formats.items()},
    )
    attention = form["attention"] * (whole.attention + whole.indexer)
    dense = form["dense"] * (whole.ffn + whole.shared_experts)
    layers = (
        (attention + dense) / d.tensor
        + form["experts"] * whole.experts * d.held_experts / maximum(t.experts, 1) / d.ranks
        + form["head"] * (whole.router + whole.norms)
    )
    ends = (
        form["head"]
        * (whole.embedding + whole.positions + where(d.pipeline > 1, 0.0, 1.0) * whole.head)
        / d.tensor
    )
    return layers * ceil(t.layers / d.pipeline) / t.layers + ends


@counting
def cache_per_chip(d: Deployment, tokens_per_sequence) -> Any:
    """Bytes of cache that one sequence takes on each chip of its attention group and of the fullest
    stage [B].

    >>> import numpy as np
    >>> from scaleright import catalog
    >>> d = Deployment(catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM"),
    ...     tensor=np.array([1, 8, 16]))
    >>> [float(share) for share in cache_per_chip(d, 1000) / cache_per_chip(d, 1000)[0]]
    [1.0, 0.125, 0.125]
    """
    t: Transformer = d.model
    whole = sequence_kv_bytes(t, tokens_per_sequence, 1, bytes_per_parameter(d.cache_format))
    shared = 1.0 if t.kv_lora_rank else minimum(d.tensor, t.kv_heads)
    return whole * ceil(t.layers / d.pipeline) / t.layers / shared


@counting
def activation_bytes(d: Deployment) -> Any:
    """Bytes of activations at the peak of the largest step: the stream, the widest layer, the
    logits of those that get a token [B].
    """
    t, rows = d.model, d.chunk_tokens
    dense = (2 + t.gated_ffn) * maximum(t.ffn * (t.moe_layers < t.layers), t.shared_ffn) / d.tensor
    routed = t.experts_per_token * (
        (2 + t.gated_ffn) * t.expert_ffn / d.ranks + 2 * t.hidden / d.tensor
    )
    attention = (
        t.heads * (t.head_dim + t.v_head_dim) + t.kv_heads * (t.head_dim + t.v_head_dim)
    ) / d.tensor
    return (
        2.0 * rows * (3 * t.hidden + maximum(dense + routed, attention))
        + 6.0 * minimum(rows, 1024) * t.vocab
    )


@search
def serving_memory(d: Deployment, batch: Any, tokens_per_sequence: Any) -> ServingMemory:
    """Bytes of the fullest chip when an engine runs `batch` sequences of so many tokens each.

    batch : sequences of the whole group, over all attention groups and micro-batches [1]
    tokens_per_sequence : tokens of each in the cache, prompt and answer [token]

    >>> from scaleright import catalog
    >>> d = Deployment(catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM"), "FP8",
    ...     tensor=4)
    >>> m = serving_memory(d, 64, 2048)
    >>> bool(m.fits(d)), round(m.weights_bytes / 1e9, 1), round(m.kv_bytes / 1e9, 1)
    (True, 18.2, 10.7)
    """
    groups = where(d.ranks * d.pipeline > 1, COMMUNICATOR_BYTES, 0.0)
    return ServingMemory(
        weights_bytes=weights_per_chip(d),
        kv_bytes=ceil(batch / d.attention_data) * cache_per_chip(d, tokens_per_sequence),
        activations_bytes=activation_bytes(d),
        reserve_bytes=CONTEXT_BYTES + groups + GRAPH_BYTES,
    )


@search
def largest_batch(d: Deployment, tokens_per_sequence: Any) -> Any:
    """Most sequences of the whole group that fit at once, each with so many tokens in the cache,
    and no more than `max_sequences`.

    tokens_per_sequence : what is reserved: the whole request in engines that guarantee its end, the
        mean residence elsewhere [token]

    Returns
    -------
    a whole number as a float, or an array of them; 0 where the weights alone do not fit, or not one
    sequence does.

    >>> import numpy as np
    >>> from scaleright import catalog
    >>> chip, model = catalog.accelerator("H100 SXM"), catalog.model("Llama-3.1-70B")
    >>> [float(n)
    ...     for n in largest_batch(Deployment(model, chip, "FP8", tensor=np.array([1, 2, 4, 8])),
    ...     2048)]
    [0.0, 108.0, 327.0, 764.0]
    """
    room_bytes = maximum(serving_memory(d, 0, tokens_per_sequence).room_bytes(d), 0.0)
    most = floor(room_bytes / cache_per_chip(d, tokens_per_sequence)) * d.attention_data
    return most if d.max_sequences is None else minimum(most, d.max_sequences)
