"""Memory of one chip in training, by part: weights, gradients, optimizer, activations, logits and
what the software takes.

Sizes are exact counts of what is kept for the backward pass, after [korthikanti2022] and
generalized from its GPT to grouped queries, gated feed-forward layers, latent attention (MLA),
mixtures of experts, flash attention and FP8. Of all pipeline stages the fullest one counts. How a
framework departs from that arithmetic stands in one `Software` each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scaleright.architecture import Transformer
from scaleright.formulas import (
    COUNT,
    FLAG,
    NON_NEGATIVE,
    POSITIVE,
    Breakdown,
    Domain,
    closed_form,
    counting,
    lookup,
)
from scaleright.names import one_of
from scaleright.ops import ceil, floor, maximum, minimum, where
from scaleright.quantity import Quantity, look_up
from scaleright.quantity.graph import value_of
from scaleright.roofline import PEAK_NAMES
from scaleright.training.layout import TASKS, Layout, TrainingRun
from scaleright.transformer.memory import bytes_per_parameter
from scaleright.transformer.parameters import Parameters, parameters

# How training frameworks keep what the mathematics needs: what `memory` depends on in software


HALF_BYTES, FULL_BYTES = 2, 4
"""Bytes of a 16-bit and of a 32-bit number."""


@dataclass(frozen=True)
class Software:
    """How a training framework keeps what the mathematics needs.

    flash : attention that keeps no scores (flash, cuDNN) instead of softmax and its dropout, both
        of size sequence^2
    dropout : masks of three dropouts a layer, as GPT-3's generation trained with
    gradient_bytes : of the buffer that gradients are summed in
    keeps_shard : sharded weights stay in 16 bits as well; FSDP keeps the FP32 master alone, and
        frozen weights
    logit_bytes : at the peak of the loss, for each entry of tokens x vocabulary
    selective_ops : selective recomputation keeps attention and every other matrix product instead
        of all but the attention core
    low_inputs : inputs of matrix products are kept in the 8- or 4-bit format in which they were
        multiplied
    """

    flash: bool = True
    dropout: bool = False
    gradient_bytes: float = FULL_BYTES
    keeps_shard: bool = True
    logit_bytes: Any = HALF_BYTES + FULL_BYTES
    selective_ops: bool = False
    low_inputs: bool = True

    def low_bytes(self, precision: Any) -> Any:
        """Bytes of a number as it is kept for a matrix product: 2, or fewer in FP8 and FP4."""
        if isinstance(precision, Quantity):
            return look_up({name: self.low_bytes(name) for name in PEAK_NAMES}, precision)
        known = bytes_per_parameter(precision)
        return min(known, HALF_BYTES) if self.low_inputs else HALF_BYTES

    def stored_bytes(self, precision: Any) -> Any:
        """Bytes of a matrix weight as it is multiplied: FP8 by rows and by columns, FP4 so beside
        BF16 [megatronbridge2026memory].
        """
        low = self.low_bytes(precision)
        return where(low == HALF_BYTES, HALF_BYTES, 2 * low + HALF_BYTES * (low < 1))


MEGATRON = Software()
"""Megatron-Core with Transformer Engine: the loss exponentiates FP32 logits in place beside the
BF16 ones.
"""
MEGATRON_2022 = Software(flash=False, dropout=True)
"""Megatron-LM as [korthikanti2022] describes it."""
FSDP = Software(keeps_shard=False, logit_bytes=14, selective_ops=True, low_inputs=False)
"""PyTorch's FSDP with PyTorch's own loss: BF16 logits, log-softmax, its gradient and the gradient
of the loss in FP32.
"""
FSDP_FUSED_LOSS = Software(keeps_shard=False, logit_bytes=4, selective_ops=True, low_inputs=False)
"""FSDP with a fused loss that keeps BF16 logits and their gradient (llm-foundry)."""
LOSS_BYTES = {"fused": FSDP_FUSED_LOSS.logit_bytes, "plain": FSDP.logit_bytes}
"""Bytes at the peak of the loss for each entry of tokens x vocabulary: fused, or by PyTorch's own
operations.
"""


@lookup
def fsdp(loss: Any) -> Software:
    """PyTorch's FSDP with a loss of `LOSS_BYTES`, which may be chosen by a quantity.

    >>> fsdp("plain").logit_bytes.value == FSDP.logit_bytes
    True
    """
    return replace(FSDP, logit_bytes=look_up(LOSS_BYTES, loss))


# Parameters that one rank of a pipeline stage holds, and those that its adapters train


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


# What one layer keeps for the backward pass, and what of it recomputation spares


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


__all__ = [
    "COMMUNICATOR_BYTES",
    "CONTEXT_BYTES",
    "FRAGMENTATION",
    "FSDP",
    "FSDP_FUSED_LOSS",
    "LORA_RANK",
    "LOSS_BYTES",
    "MEGATRON",
    "MEGATRON_2022",
    "OPTIMIZER_BYTES",
    "Software",
    "TrainingMemory",
    "adapter_parameters",
    "fewest_ranks",
    "fsdp",
    "training_memory",
]

OPTIMIZER_BYTES = {
    "adamw": 12.0,  # FP32 master weight and two FP32 moments [zero2020, section 3.1]
    "adamw-bf16": 8.0,  # FP32 master weight, both moments in BF16 [deepseekv3, section 3.3.3]
    "adamw-8bit": (
        6.0 + 2 * 4 / 2048
    ),  # FP32 master weight, moments in a byte, one FP32 scale a block of 2,048 [dettmers2022]
    "sgd-momentum": 8.0,  # FP32 master weight and one FP32 moment; Muon's as well
    "offloaded": 0.0,  # all of it in the memory of the host
}
"""Bytes of optimizer state for each trained parameter, master weight included."""
CONTEXT_BYTES = 0.92 * 2**30
"""What PyTorch holds on a chip before any tensor, its kernels loaded: measured on an A100
[bekman2026training].
"""
COMMUNICATOR_BYTES = 688 * 2**20
"""Buffers of one group of chips that communicate, measured with NCCL on A100s [nccl964]."""
FRAGMENTATION = 0.02
"""Allowance for memory that the allocator reserves and cannot use, over all tensors: what twelve
published peaks of reserved memory (`measured/memory`, FSDP without tensor parallelism) lie above
the parts in the mean [torchtitan2024].
"""


@dataclass(frozen=True)
class TrainingMemory(Breakdown):
    """Bytes of one chip of the fullest pipeline stage at the peak of a step, by part; the parts add
    up to `total`.

    weights_bytes : the copies that are multiplied, and layers gathered where weights are sharded
    gradients_bytes : summed gradients
    optimizer_bytes : master weights and moments
    activations_bytes : kept for the backward pass by all micro-batches in flight, and a layer being
        recomputed
    logits_bytes : output logits, the loss and their gradients
    reserve_bytes : context of the driver, buffers of communication, and an allowance for
        fragmentation; workspaces are not counted
    """

    weights_bytes: Any
    gradients_bytes: Any
    optimizer_bytes: Any
    activations_bytes: Any
    logits_bytes: Any
    reserve_bytes: Any

    def fits(self, run: TrainingRun) -> Any:
        """Whether the run's chip holds it."""
        return self.total <= run.chip.require("memory_bytes")


def _in_flight(layout: Layout, micro_batches: Any, index: Any) -> Any:
    """Micro-batches whose activations a stage holds at once, each of all its layers.

    1F1B: those that the stages after it still work on, and its own. Interleaved: chunks instead of
    stages, which gives the first stage 1 + (p - 1) / (p v) of 1F1B's p [korthikanti2022, section
    4.2.3].
    """
    after = layout.pipeline - index
    chunks = 2 * after - 1 + (layout.virtual - 1) * layout.pipeline
    return minimum(where(layout.virtual > 1, chunks / layout.virtual, after), micro_batches)


def _states(
    run: TrainingRun,
    layout: Layout,
    state_bytes: Any,
    software: Software,
    held: tuple[Any, Any, Any],
    layers: Any,
) -> dict[str, Any]:
    """Weights, gradients and optimizer state of the parameters that a rank of a stage holds."""
    (dense, experts, tables), m, tensor = held, run.model, layout.tensor
    ranks, groups = layout.data * layout.context, layout.replicas
    group = ranks / groups
    expert_group = maximum(ranks * tensor / maximum(layout.expert, tensor) / groups, 1)
    stored = software.stored_bytes(run.precision)
    # Tables are in 16 bits whatever the precision.
    weights, tables_bytes = stored * (dense + experts), HALF_BYTES * tables
    deep = maximum(layers, 1)  # a stage may hold the head alone
    layer = stored * (dense + experts) / deep
    frozen = run.task == "lora"
    shard = where(frozen, 1, int(software.keeps_shard)) * (
        stored * (dense / group + experts / expert_group) + tables_bytes / group
    )
    gathered = minimum(weights + tables_bytes, shard + 2 * layer + tables_bytes)
    adapters = adapter_parameters(m) / m.layers * layers / tensor
    trained, trained_experts = where(frozen, adapters, dense + tables), where(frozen, 0.0, experts)
    sharded = trained / group + trained_experts / expert_group
    summed = minimum(trained + trained_experts, sharded + (trained + trained_experts) / deep)
    return dict(
        weights_bytes=where(layout.zero > 2, gathered, weights + tables_bytes),
        gradients_bytes=software.gradient_bytes
        * where(layout.zero > 1, summed, trained + trained_experts),
        optimizer_bytes=state_bytes * where(layout.zero > 0, sharded, trained + trained_experts),
    )


def _activations(
    run: TrainingRun,
    layout: Layout,
    software: Software,
    index: Any,
    layers: Any,
    mixtures: Any,
    heads: Any,
) -> dict[str, Any]:
    """Activations and logits of a stage with so many output heads."""
    m = run.model
    tokens = layout.micro_batch * run.sequence / layout.context
    (kept, whole), (kept_mixture, whole_mixture) = (
        layer_bytes(run, layout, software, mixture) for mixture in (False, True)
    )
    micro_batches = layout.micro_batches(run.global_batch)
    held = _in_flight(layout, micro_batches, index) * (
        kept * (layers - mixtures) + kept_mixture * mixtures
    )
    logits = heads * (software.logit_bytes * m.vocab + 2 * HALF_BYTES * m.hidden) / layout.tensor
    again = where(
        layout.recompute > (0 if software.selective_ops else 1),
        where(mixtures > 0, whole_mixture, whole),
        0,
    )
    return dict(
        activations_bytes=tokens * (held + maximum(again - logits, 0)),
        logits_bytes=tokens * logits,
    )


def _stage(
    run: TrainingRun,
    layout: Layout,
    state_bytes: Any,
    software: Software,
    p: Parameters,
    index: Any,
    layers: Any,
    mixtures: Any,
) -> TrainingMemory:
    """One pipeline stage of so many layers and mixtures among them; the first embeds, the last has
    the head and the loss.
    """
    m = run.model
    is_first, is_last = where(index == 0, 1, 0), where(index == layout.pipeline - 1, 1, 0)
    heads = is_last * (1 + run.mtp_modules)  # each module is one more layer, and one more loss
    layers, mixtures = (
        layers + is_last * run.mtp_modules,
        mixtures + is_last * run.mtp_modules * (m.experts > 0),
    )
    held = rank_parameters(m, layout, p, (is_first, is_last), layers, mixtures)
    tensors = _states(run, layout, state_bytes, software, held, layers) | _activations(
        run, layout, software, index, layers, mixtures, heads
    )
    degrees = (layout.tensor, layout.pipeline, layout.context, layout.expert, layout.data)
    context = CONTEXT_BYTES + COMMUNICATOR_BYTES * sum(
        where(degree > 1, 1, 0) for degree in degrees
    )
    return TrainingMemory(**tensors, reserve_bytes=context + FRAGMENTATION * sum(tensors.values()))


def _mixtures(m: Transformer, index: Any, layers: Any) -> Any:
    """Mixtures of experts among the layers of a stage.

    Where mixtures are the rule, the few dense layers come first (DeepSeek, GLM); else they
    alternate (Llama 4).
    """
    late = minimum(
        m.moe_layers,
        layers - where(index == 0, 1, 0) * minimum(m.layers - m.moe_layers, layers),
    )
    return where(2 * m.moe_layers > m.layers, late, layers * m.moe_layers / m.layers)


def _fuller(one: TrainingMemory, other: TrainingMemory) -> TrainingMemory:
    """The stage with more bytes, of each layout."""
    pick = one.total >= other.total
    return TrainingMemory(
        *(
            where(pick, a, b)
            for a, b in zip(one.parts().values(), other.parts().values(), strict=True)
        )
    )


_ALLOWED = dict.fromkeys(
    (
        "tensor",
        "pipeline",
        "context",
        "expert",
        "data",
        "virtual",
        "micro_batch",
        "replicas",
        "sequence",
        "global_batch",
    ),
    COUNT,
)
_ALLOWED |= {
    "zero": Domain(0, 3, (0, 3)),
    "recompute": Domain(0, 2, (0, 2)),
    "sequence_parallel": FLAG,
    "optimizer": NON_NEGATIVE,
}


def _checked(run: TrainingRun, layout: Layout, optimizer: Any) -> Any:
    """Bytes of optimizer state for each trained parameter, once all that is given is allowed."""
    state_bytes, name = optimizer, value_of(optimizer)
    if isinstance(name, str):
        one_of(name, OPTIMIZER_BYTES, "optimizer")
        chosen = isinstance(optimizer, Quantity)
        state_bytes = look_up(OPTIMIZER_BYTES, optimizer) if chosen else OPTIMIZER_BYTES[name]
    given = vars(run) | vars(layout) | {"optimizer": state_bytes}
    for name, allowed in _ALLOWED.items():
        allowed.check("training_memory", name, given[name])
    if isinstance(run.task, str):
        one_of(run.task, TASKS, "task")
    return state_bytes


@counting
def training_memory(
    run: TrainingRun,
    layout: Layout,
    optimizer: Any = "adamw",
    software: Software = MEGATRON,
) -> TrainingMemory:
    """Bytes of one chip at the peak of a training step, on the fullest pipeline stage.

    Parameters
    ----------
    run, layout : what is trained and how; fields of the layout may be arrays of one shape or
        quantities
    optimizer : key of `OPTIMIZER_BYTES`, a quantity or not, or bytes of state for each trained
        parameter
    software : what the framework keeps: `MEGATRON`, `MEGATRON_2022`, `FSDP`, `FSDP_FUSED_LOSS`, or
        one's own

    Raises
    ------
    LookupError : unknown optimizer, precision or task; the nearest is offered.
    ValueError : a degree, sequence or batch below 1; a ZeRO stage or a recomputation that does not
        exist. Whether degrees divide the model and fit the cluster, `training.rules.check` says.

    Notes
    -----
    Stages hold equally many layers; where they do not divide, the last and then the first do with
    one fewer. Experts are spread over the larger of expert and tensor parallelism. ZeRO shards over
    data and context parallelism together, or over each of its `replicas` groups. A module for
    multi-token prediction is one more layer and one more loss of the last stage. Adapters (task
    "lora") sit at attention and dense feed-forward matrices, with rank `LORA_RANK`.

    Source: [korthikanti2022, sections 4 and 5] for activations; [zero2020, section 5] for ZeRO.

    >>> from scaleright.catalog import accelerator, model
    >>> run = TrainingRun(model("Megatron 22B"), accelerator("A100 SXM 80GB"), 8, 2048, 4)
    >>> memory = training_memory(run, Layout(tensor=8, micro_batch=4, zero=0, recompute=1),
    ...     software=MEGATRON_2022)
    >>> round(memory.activations_bytes / 2**30, 4)
    9.5625
    """
    state_bytes = _checked(run, layout, optimizer)
    m, p = run.model, parameters(run.model)
    if not isinstance(layout.pipeline, Quantity) and np.all(np.equal(layout.pipeline, 1)):
        return _stage(run, layout, state_bytes, software, p, 0, m.layers, m.moe_layers)

    def stage(index: Any, layers: Any) -> TrainingMemory:
        mixtures = _mixtures(m, index, layers)
        return _stage(run, layout, state_bytes, software, p, index, layers, mixtures)

    full = ceil(m.layers / (layout.pipeline * layout.virtual)) * layout.virtual
    spare = full * layout.pipeline - m.layers
    first, last = full - floor(spare / 2), maximum(full - ceil(spare / 2), 0)
    inner = stage(
        minimum(layout.pipeline - 1, 1), where(layout.pipeline > 2, full, minimum(first, last))
    )
    return _fuller(_fuller(stage(0, first), stage(layout.pipeline - 1, last)), inner)


@closed_form(
    memory_bytes=POSITIVE, alone_bytes=POSITIVE, on_64_bytes=POSITIVE, on_128_bytes=POSITIVE
)
def fewest_ranks(memory_bytes, alone_bytes, on_64_bytes, on_128_bytes):
    """Fewest data-parallel ranks on which a step fits [1]: what they share out shrinks with their
    number, the rest stays.

    Parameters
    ----------
    memory_bytes : of one chip [B]
    alone_bytes, on_64_bytes, on_128_bytes : `training_memory(...).total` of one layout with so many
        ranks [B]

    Returns
    -------
    [1]; infinite where no number of them helps.

    Source: ZeRO's a + b / N [zero2020, section 5]; exact from two ranks on.

    >>> fewest_ranks(80.0, 208.0, 8.0 + 200 / 64, 8.0 + 200 / 128), fewest_ranks(80.0, 208.0, 108.0,
    ...     108.0)
    (3.0, inf)
    """
    shared = 128 * (on_64_bytes - on_128_bytes)
    room = memory_bytes - (2 * on_128_bytes - on_64_bytes)
    needed = maximum(ceil(shared / where(room > 0, room, 1.0)), 2.0)
    return where(alone_bytes <= memory_bytes, 1.0, where(room > 0, needed, float("inf")))
