"""What a training step runs on: the achieved speeds of a chip, its networks, and the software stack
above them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from scaleright.architecture import Transformer
from scaleright.catalog import architecture
from scaleright.collectives import network
from scaleright.formulas import lookup, search, unchecked
from scaleright.ops import where
from scaleright.quantity import Quantity
from scaleright.roofline import matmul_seconds, plain_format, speeds
from scaleright.training.layout import TrainingRun

COMPUTE = ("matmul", "grouped", "attention", "elementwise", "routing")
"""Kinds that keep the chip itself busy, behind which communication and launches hide."""
ELEMENT_BYTES = {"BF16": 2.0, "FP16": 2.0, "FP8": 1.0, "MXFP8": 1.0, "NVFP4": 0.5, "MXFP4": 0.5}
CAST_BYTES = {"BF16": 0.0, "FP16": 0.0, "FP8": 6.0, "MXFP8": 7.0, "NVFP4": 18.0, "MXFP4": 18.0}
"""Bytes moved to turn one BF16 element into operands. FP8 with one scale a tensor: read for the
largest value, read again, written and written transposed. MXFP8: read and written by rows and by
columns, scales put in order. NVFP4: read for the largest value, and both orientations rotated
(random Hadamard transform), read again, rounded at random and written.
"""
MODULES = ("core_attn", "layernorm", "mla_up_proj", "mlp", "moe_act", "shared_experts", "moe")
"""What of a layer Megatron can run again by itself: scores and weighted values; norms; keys, values
and queries from latents; the dense feed-forward block; the activation of routed experts; experts
that all tokens visit; and the whole mixture, with moving tokens to their experts and back.
"""
WHOLE_GRAPHS = ("layer", "full_iteration")
"""Scopes of CUDA graphs that hold everything of a layer."""

# Runs and layouts are checked once, by `rules`.
_matmul = unchecked(matmul_seconds)

Pair = tuple[Any, Any]
"""Forward and backward time."""
Modules = dict[str, dict[str, Any]]
"""Forward time of modules that can be run again by themselves, by kind of work."""


@search
def absent(count: Any) -> bool:
    """Whether a model has none of something, whatever is chosen."""
    if type(count) in (int, float):  # as almost always, and a tenth of the time
        return not count
    return not isinstance(count, Quantity) and not np.any(count)


@search
def scaled(pair: Pair, by: Any) -> Pair:
    """So many times as long, both ways."""
    return pair[0] * by, pair[1] * by


@search
def added(*pairs: Pair) -> Pair:
    """One after the other, both ways."""
    there, back = zip(*pairs, strict=True)
    return sum(there), sum(back)


@dataclass(frozen=True)
class Stack:
    """What the time of a step depends on in a software stack.

    native : PyTorch or JAX with sharded weights, instead of Megatron's hand-fused operations
    compiled : its operations are fused by a compiler
    by_op : selective recomputation runs memory-bound work and every other matrix product again
        (PyTorch), not modules
    stops_early : full recomputation leaves out the last product of a block, whose result nothing
        needs (PyTorch's checkpoints that are not reentrant) [pytorchcheckpoint2023]
    low_gather : sharded weights of FP8 runs are gathered in FP8 (torchtitan)
    fused_attention : attention keeps no scores in memory (FlashAttention, in Megatron since 2023)
    flash_attention_2 : by FlashAttention-2, which reaches half of Hopper's speed (NeMo to 24.03)
        [shah2024flashattention3, figure 5]
    fused_experts : experts' products and casts fused (Megatron-Bridge since 26.06)
    modules : what selective recomputation runs again otherwise, by Megatron's names (`MODULES`)
    dispatcher : what moves tokens to their experts, see `parts.exchange_seconds`
    graphs : what CUDA graphs launch, by Megatron's scopes; where nobody said so, fused experts are
        launched by one graph of the whole step, as in the recipes of their release
        [megatronrecipes2026]
    overlapped : whether tokens move to their experts while another micro-batch is computed; where
        nobody said so, as in the same recipes
    """

    native: bool = False
    compiled: bool = False
    by_op: bool = False
    low_gather: bool = False
    fused_attention: bool = True
    flash_attention_2: bool = False
    fused_experts: bool = True
    modules: tuple[str, ...] = ("core_attn",)
    stops_early: bool = False
    dispatcher: str = "deepep"
    graphs: tuple[str, ...] | None = None
    overlapped: bool | None = None

    def launched(self, scope: str, graphed: Any) -> Any:
        """Share of the kernels of a part of a layer that the host launches one by one [1].

        scope : the part, by Megatron's name
        graphed : whether one graph launches fused experts, as a `Machine` knows
        """
        if self.graphs is None:
            whole = graphed if self.fused_experts and scope != "attn" else False
            return where(whole, 0.0, 1.0)
        return 0.0 if {scope, *WHOLE_GRAPHS} & set(self.graphs) else 1.0

    def overlaps(self, graphed: Any) -> Any:
        """Whether the exchange of experts runs beside another micro-batch."""
        if self.overlapped is not None:
            return self.overlapped
        return graphed if self.fused_experts else False


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
        if absent(width):
            return (0.0, 0.0), (0.0, 0.0)
        gates, narrow = 1 + t.gated_ffn, t.hidden / outside
        work = added(
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
        return work, scaled(moved, tokens * count / self.bandwidth)
