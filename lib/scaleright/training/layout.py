"""A training run and how it is laid out over chips: the two arguments of every model of training.

A `TrainingRun` is what is to be done and on what; a `Layout` is how. The fields of a layout may be
arrays of one shape, one element a layout, so that memory and time of many layouts are found in one
call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from scaleright.architecture import Transformer
from scaleright.catalog import Accelerator, remembered, table
from scaleright.formulas import lookup

TASKS = ("pretrain", "sft", "lora")
SHARING = ("nothing", "optimizer", "optimizer and gradients", "everything")
"""What data-parallel ranks share out, by ZeRO stage."""
RECOMPUTE = ("none", "selective", "full")
"""What of the forward pass runs again in the backward pass: nothing, the attention core, or every
layer.
"""
LONGEST_WHOLE_SEQUENCE = 8192
"""Up to here a sequence stays on one rank, as in published pretraining runs: [llama3, Table 4]
splits 131,072 tokens, not 8,192.
"""


@lookup
def usual_sequence(shape: Transformer) -> int:
    """Tokens of a sequence in pretraining: as in the model's own run where that is published, else
    all that it was made for, up to `LONGEST_WHOLE_SEQUENCE`; longer ones are left to a later stage.

    >>> from scaleright.catalog import model
    >>> [usual_sequence(model(name)) for name in ("Llama-2-7B", "Llama-3.1-70B", "DeepSeek-V3")]
    [4096, 8192, 4096]
    """
    longest = min(int(shape.max_context or LONGEST_WHOLE_SEQUENCE), LONGEST_WHOLE_SEQUENCE)
    return min(longest, _published_sequences().get(shape.name, longest))


@remembered
def _published_sequences() -> Mapping[str, int]:
    """Tokens of a sequence in published runs, by model [token]."""
    rows = table("measured/pretraining").dropna(subset=["sequence"])
    return MappingProxyType({row.model: int(row.sequence) for row in rows.itertuples()})


USUAL_FORMAT = "usual"
"""The word for the format in which a model is usually pretrained."""


@lookup
def training_format(shape: Transformer, precision: str = USUAL_FORMAT) -> str:
    """The format of the matrix products of a run; the usual one is FP8 for a model whose own
    published run was in FP8, else BF16.

    >>> from scaleright.catalog import model
    >>> [training_format(model(name)) for name in ("Llama-3.1-405B", "DeepSeek-V3")]
    ['BF16', 'FP8']
    """
    if precision != USUAL_FORMAT:
        return precision
    return "FP8" if shape.name in _published_in_fp8() else "BF16"


@remembered
def _published_in_fp8() -> frozenset[str]:
    """The models whose published runs were in FP8."""
    rows = table("measured/pretraining")
    return frozenset(rows.loc[rows["precision"] == "FP8", "model"])


@dataclass(frozen=True)
class TrainingRun:
    """What is trained, on which chips, with which batch.

    Attributes
    ----------
    model : the shape
    chip : the accelerator
    chips : accelerators of the job [1]
    sequence : tokens of a sequence [token]
    global_batch : sequences of one optimizer step, over all chips [1]
    precision : format of the matrix products: "BF16", "FP16", "FP8", "MXFP8", "NVFP4"
    task : "pretrain", "sft" (all weights), "lora" (adapters alone, the model is frozen)
    mtp_modules : layers that predict further tokens, each with an output head of its own, trained
        along (DeepSeek-V3: 1) [1]
    """

    model: Transformer
    chip: Accelerator
    chips: int
    sequence: int
    global_batch: int
    precision: str = "BF16"
    task: str = "pretrain"
    mtp_modules: int = 0

    @property
    def tokens(self) -> Any:
        """Tokens of one optimizer step [token]."""
        return self.global_batch * self.sequence


@dataclass(frozen=True)
class Layout:
    """How a run is spread over its chips; every field a number or an array.

    Attributes
    ----------
    tensor, pipeline, context, expert : parallel degrees [1]; experts are spread over ranks of data,
        context and tensor parallelism (Megatron's), so that they need no chips of their own
    data : copies of the model that share the batch [1]; chips = tensor * pipeline * context * data
    virtual : model chunks of one pipeline stage (interleaved schedule) [1]
    micro_batch : sequences that a copy works on at once [1]
    zero : what data-parallel ranks share out: 0 nothing, 1 optimizer state (distributed optimizer),
        2 gradients too, 3 weights too (FSDP full shard); index into `SHARING`
    recompute : 0 nothing, 1 the attention core, 2 every layer (index into `RECOMPUTE`)
    sequence_parallel : 1 where activations outside matrix products are split over the
        tensor-parallel group
    replicas : groups of neighboring data- and context-parallel ranks that each hold all of what
        `zero` shares out (hybrid sharding, HSDP); gradients are summed across them once a step [1]
    """

    tensor: Any = 1
    pipeline: Any = 1
    context: Any = 1
    expert: Any = 1
    data: Any = 1
    virtual: Any = 1
    micro_batch: Any = 1
    zero: Any = 1
    recompute: Any = 0
    sequence_parallel: Any = 1
    replicas: Any = 1

    @property
    def chips(self) -> Any:
        """Accelerators that the layout takes [1]."""
        return self.tensor * self.pipeline * self.context * self.data

    def micro_batches(self, global_batch: Any) -> Any:
        """Micro-batches that each copy works through in one optimizer step [1]."""
        return global_batch / (self.data * self.micro_batch)
