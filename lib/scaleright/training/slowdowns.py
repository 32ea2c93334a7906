"""How much longer work takes in practice than at measured peaks: few constants, fitted to published
runs.

A constant belongs to a kind of work (`parts.KINDS`) and to a family: of chips, of software, or of
both. What no run of a family has shown is borrowed from all families together ("any"), and said to
be.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from scaleright import catalog, pooling
from scaleright.catalog import Accelerator, architecture
from scaleright.formulas import lookup, search
from scaleright.training.layout import TrainingRun
from scaleright.training.machine import Stack, fuses_experts
from scaleright.training.parts import KINDS

PRIOR = dict.fromkeys(KINDS, 1.0) | {
    "matmul": 1.1,
    "grouped": 1.3,
    "attention": 1.6,
    "elementwise": 1.4,
    "routing": 1.3,
    "pipeline": 0.8,
    "data": 1.5,
    "optimizer": 1.3,
}
"""Where the fit starts from: what is left of a peak in practice, before any row is seen."""
TABLE = "training_constants"
"""Where the fitted constants are kept."""
FIXED = ("optimizer", "context")
"""Kinds of work that are too small a share of any published run to be fitted."""


@lookup
def stack(software: str | None = None, compiled: bool | None = None, **stated: Any) -> Stack:
    """The stack behind a framework's name and version; today's Megatron where none is given.

    stated : of Megatron, what a publication says besides: `Stack`'s modules, dispatcher, graphs and
        overlapped

    >>> stack("Megatron-Bridge 26.04").fused_experts, stack("llm-foundry").native
    (False, True)
    """
    found = _stack(software or "", compiled is True)
    return replace(found, **stated) if stated and not found.native else found


@functools.cache
def _stack(name: str, compiled: bool) -> Stack:
    """`stack`, as far as its name says it."""
    torch = bool(re.search("llm-foundry|torchtitan|fsdp|AutoModel|PyTorch|InternEvo", name))
    jax = bool(re.search("MaxText|Paxml|JAX", name))
    if torch or jax:
        return Stack(
            True,
            jax or compiled,
            torch,
            "torchtitan" in name,
            fused_experts=False,
            stops_early=torch and "InternEvo" not in name,
        )
    year, release = re.search(r"20\d\d", name), re.search(r"(?:NeMo|Bridge) (\d+\.?\d*)", name)
    return Stack(
        fused_attention=not year or int(year[0]) > 2022,
        flash_attention_2=bool(release and float(release[1]) < 24.05),
        fused_experts=not name or bool(release and float(release[1]) >= 26.06),
    )


@dataclass(frozen=True)
class Slowdowns:
    """Time in practice over time at measured peaks, by kind of work [1]; `borrowed` names kinds
    that come from other families.
    """

    by_kind: Mapping[str, Any]
    stack: Stack = Stack()
    borrowed: tuple[str, ...] = ()

    def overlapped(self) -> Slowdowns:
        """Those of a stack that moves tokens to their experts while another micro-batch is
        computed, as recipes of 2025 do on Hopper too [megatronbridge2026] and DeepSeek did
        [deepseekv3, section 3.2.1].
        """
        return replace(self, stack=replace(self.stack, overlapped=True))


@lookup
def family(chip: Accelerator) -> str:
    """The architecture of a chip, whose constants it shares; its vendor where no run of it is
    known.
    """
    return (chip.vendor == "NVIDIA" and architecture(chip)) or chip.vendor


@lookup
def families(run: TrainingRun, of: Stack) -> dict[str, str]:
    """The family of each kind of work of a run: the first key of its constant."""
    return _families(family(run.chip), run.precision, _fused(run, of), of)


def _fused(run: TrainingRun, of: Stack) -> bool:
    """Whether a stack fuses the experts of a run."""
    return of.fused_experts and fuses_experts(run)


def _families(chip: str, precision: str, fused: bool, of: Stack) -> dict[str, str]:
    """`families` of a family of chips.

    fused : whether experts are
    """
    low = {"FP8": " FP8", "MXFP8": " FP8"}.get(precision, "")
    name = "compiled" if of.compiled else "operation by operation" if of.native else "Megatron"
    attention = chip.split(maxsplit=1)[0] if of.fused_attention else "unfused"
    if of.flash_attention_2 and chip == "Hopper":
        attention = "Hopper, FlashAttention-2"
    library = chip + low if chip == "Hopper" else chip + ("" if of.fused_attention else ", to 2022")
    return dict.fromkeys(KINDS, "any") | {
        "matmul": "NVFP4" if precision == "NVFP4" else library,
        "attention": f"PyTorch, {attention}" if of.native else attention,
        "elementwise": name,
        "data": "PyTorch" if of.native else "Megatron",
        "routing": "fused" if fused else "plain",
    }


@search
def fit(
    shares: np.ndarray, named: np.ndarray, among: np.ndarray, aim: np.ndarray | float = 1.0
) -> list[pooling.Constants]:
    """Constants from measured runs, by (family, kind of work); family "any" holds the mean of all
    (see `pooling.fit_pooled`).

    Parameters
    ----------
    shares : time of each kind of work at measured peaks over the measured time of a step, (runs,
        kinds)
    named : family of each kind of each run, as `families` names them, of the same shape
    among : whether a fit is of a run, (fits, runs)
    aim : what the shares times the constants are to come to, 1 or (fits, runs)

    >>> (found,) = fit(np.array([[0.5] + [0.0] * 11] * 20), np.full((20, 12), "any"),
    ...     np.ones((1, 20), bool))
    >>> found["any", "matmul"] > 1.9
    True
    """
    return pooling.fit_pooled(shares, named, PRIOR, among, FIXED, aim)


@lookup
def constant(constants: pooling.Constants, name: str, kind: str) -> tuple[float, bool]:
    """A family's constant of a kind of work, and whether it is borrowed from all families.

    A chip whose attention was seen in one software alone lends it to the other.
    """
    other = name.removeprefix("PyTorch, ") if name.startswith("PyTorch, ") else f"PyTorch, {name}"
    return pooling.constant(constants, (name, other), kind)


@lookup
def slowdowns(run: TrainingRun, software: str | None = None) -> Slowdowns:
    """The stored slowdowns of a run (`data/training_constants.csv`); what its families lack is
    borrowed from all.
    """
    return _stored(run.chip, run.precision, _fused(run, stack(software)), software)


@catalog.of_chip
def _stored(chip: Accelerator, precision: str, fused: bool, software: str | None) -> Slowdowns:
    """`slowdowns` of a chip in a format.

    fused : whether experts are
    """
    of, fitted = stack(software), catalog.fitted(TABLE)
    constants = {key: value for key, (value, _, _) in fitted.items()}
    named = _families(family(chip), precision, fused, of)
    found = {kind: constant(constants, name, kind) for kind, name in named.items()}
    return Slowdowns(
        MappingProxyType({kind: value for kind, (value, _) in found.items()}),
        of,
        tuple(kind for kind, (_, lent) in found.items() if lent),
    )


@lookup
def architecture_fitted(chip: Accelerator) -> bool:
    """Whether runs of a chip's architecture took part in the fit.

    >>> architecture_fitted(catalog.accelerator("B200"))
    True
    >>> architecture_fitted(catalog.accelerator("MI325X"))
    False
    """
    return (family(chip), "matmul") in catalog.fitted(TABLE)


@lookup
def borrowed(run: TrainingRun, software: str | None = None) -> str:
    """Whose constants a run borrows, in words; empty where runs on its chip were fitted and no kind
    of work is borrowed.
    """
    if lacking := slowdowns(run, software).borrowed:
        why = f"no run of {family(run.chip)} chips was fitted: " if "matmul" in lacking else ""
        return f"{why}{', '.join(lacking)} as the mean of all chips"
    seen = (run.chip.name, "runs") in catalog.fitted(TABLE)
    return (
        ""
        if seen
        else f"no run of {run.chip.name} was fitted: constants of other {family(run.chip)} chips"
    )


@lookup
def interval(run: TrainingRun, software: str | None = None, apart: str = "") -> tuple[float, float]:
    """Bounds of measured over predicted step time that hold nine of ten runs of a model, or by
    somebody, that no fit saw [1].

    Wider for mixtures of experts, and where a chip borrows its constants.

    apart : a source whose runs have no say, since they are judged by these bounds
    """
    kind = ("experts" if run.model.experts else "dense") + (
        ", borrowed" if borrowed(run, software) else ""
    )
    return pooling.interval_bounds(catalog.fitted(TABLE), kind, apart)
