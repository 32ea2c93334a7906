"""What a layout must satisfy to run at all: each rule once, as a mask over many layouts and as the
message about one.

`valid` says which of many layouts keep every rule; `check` names the first rule that a layout
breaks and the nearest value that keeps it. Whether the run fits in memory is not a rule of this
kind: `scaleright.training.memory` counts it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from functools import cache, reduce
from typing import Any

import numpy as np

from scaleright.formulas import counting, lookup
from scaleright.names import suggestion
from scaleright.ops import INFINITY
from scaleright.roofline import PEAK_NAMES
from scaleright.training.layout import TASKS, Layout, TrainingRun

Rule = tuple[Any, Callable[[Any], str]]
"""Where a rule holds, and what to say about a layout that breaks it."""

FIELDS = tuple(field.name for field in fields(Layout))
OPTIONS = {"zero": 3, "recompute": 2, "sequence_parallel": 1}
"""Fields of a layout that choose, and the highest choice; the others count something."""
LONGEST_SEQUENCE = 2**24
"""Longest sequence [token]: above the longest context that any model of the catalog was published
with, 10 million.
"""
MODULES_BESIDE_LAYERS = 3
"""Modules that a pipeline may count as layers: embedding, output head, a module for multi-token
prediction.

Llama-3.1-405B's 126 layers and two modules make 16 stages of 8 [llama3, section 3.3.2];
DeepSeek-V3's 61 and three make 16 stages of 4.
"""


@counting
def whole(value: Any, low: int, high: float) -> Any:
    """Where a value is a whole number between its bounds.

    >>> whole(np.array([0, 1, 2.5]), 1, 8)
    array([False,  True, False])
    """
    if type(value) is int:  # almost always one layout is asked about
        return low <= value <= high
    number = np.asarray(value)
    fits = (number >= low) & (number <= high)
    return fits if number.dtype.kind == "i" else fits & (number == np.floor(number))


@counting
def wanted(name: str, value: float, low: int, high: float) -> str:
    """The message about a field that is no whole number between its bounds.

    >>> wanted("tensor", 2.5, 1, 8)
    'tensor = 2.5, allowed: 1 to 8; nearest: 2'
    """
    near = min(max(low, round(value)), high) if np.isfinite(value) else low
    bounds = f"{low} to {high:,}" if np.isfinite(high) else f"whole numbers from {low}"
    return f"{name} = {value:,.15g}, allowed: {bounds}; nearest: {near:,}"


@counting
def nearest_of(value: float, allowed: Iterable[int]) -> str:
    """The allowed values on both sides of a value.

    >>> nearest_of(6, [1, 2, 4, 8])
    'nearest: 4 or 8'
    """
    near = [
        *sorted(v for v in allowed if v < value)[-1:],
        *sorted(v for v in allowed if v > value)[:1],
    ]
    return f"nearest: {' or '.join(map(str, near))}" if near else "nothing is near"


@counting
def divisors(number: int) -> list[int]:
    """The whole numbers that divide a number, in order.

    >>> divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    return [*_divisors(number)]


@cache
def _divisors(number: int) -> tuple[int, ...]:
    return tuple(d for d in range(1, int(number) + 1) if number % d == 0)


def _divides(name: str, what: str, number: int) -> Callable[[Layout], str]:
    """The message for a degree that does not divide a number."""
    return lambda one: (
        f"{name} = {getattr(one, name):,} does not divide {what} = {number:,};"
        f" {nearest_of(getattr(one, name), divisors(number))}"
    )


@lookup
def peak_needed(precision: str) -> str | None:
    """The dense peak that a chip must have to compute in a format: formats whose values share a
    scale in small blocks came with the tensor cores that know FP4.

    >>> peak_needed("FP8"), peak_needed("MXFP8")
    ('fp8', 'fp4')
    """
    return "fp4" if precision.startswith(("MX", "NV")) else PEAK_NAMES.get(precision)


def _run_rules(run: TrainingRun) -> Iterator[Rule]:
    for name, low, high in (
        ("chips", 1, INFINITY),
        ("sequence", 2, LONGEST_SEQUENCE),
        ("global_batch", 1, INFINITY),
    ):
        value = getattr(run, name)
        yield whole(value, low, high), lambda _, of=(name, value, low, high): wanted(*of)
    yield run.task in TASKS, lambda _: f"unknown task {run.task!r}; {suggestion(run.task, TASKS)}"
    yield (
        run.precision in PEAK_NAMES,
        lambda _: f"unknown precision {run.precision!r}; {suggestion(run.precision, PEAK_NAMES)}",
    )
    needed = peak_needed(run.precision)
    has = ", ".join(run.chip.dense) or "no dense peak in the catalog"
    yield (
        needed in run.chip.dense,
        lambda _: (
            f"precision {run.precision} needs a chip with dense {needed}; {run.chip.name} has {has}"
        ),
    )


def _model_rules(run: TrainingRun, layout: Layout) -> Iterator[Rule]:
    """Tensor and pipeline parallelism share out heads and layers."""
    model, tensor, pipeline = run.model, layout.tensor, layout.pipeline
    chunks = pipeline * layout.virtual
    beside = range(MODULES_BESIDE_LAYERS + 1)

    def stages(one: Layout) -> str:
        near = nearest_of(
            one.pipeline * one.virtual,
            {d for extra in beside for d in divisors(model.layers + extra)},
        )
        return (
            f"pipeline x virtual = {one.pipeline} x {one.virtual} does not divide layers ="
            f" {model.layers}; {near}"
        )

    yield model.heads % tensor == 0, _divides("tensor", "heads", model.heads)
    fits_kv = [
        d for d in divisors(model.heads) if model.kv_heads % d == 0 or d % model.kv_heads == 0
    ]
    yield (
        (model.kv_heads % tensor == 0) | (tensor % model.kv_heads == 0),
        lambda one: (
            f"tensor = {one.tensor} neither divides kv_heads = {model.kv_heads} nor is a multiple;"
            f" {nearest_of(one.tensor, fits_kv)}"
        ),
    )
    yield (
        np.any([(model.layers + extra) % chunks == 0 for extra in beside], axis=0)
        & (pipeline <= model.layers),
        stages,
    )
    yield (
        (layout.virtual == 1) | (pipeline > 1),
        lambda one: f"virtual = {one.virtual} needs pipeline > 1; nearest: virtual = 1",
    )


def _cluster_rules(run: TrainingRun, layout: Layout) -> Iterator[Rule]:
    """The degrees take the chips of the cluster, and experts those of a stage."""
    experts = max(run.model.experts, 1)

    def chips(one: Layout) -> str:
        others = one.chips // one.data
        fits = run.chips % others == 0
        near = (
            f"nearest: data = {run.chips // others}"
            if fits
            else f"{nearest_of(others, divisors(run.chips))} in one copy of the model"
        )
        return f"chips: the layout takes {one.chips:,}, the cluster has {run.chips:,}; {near}"

    def shares(one: Layout) -> str:
        ranks = one.chips // one.pipeline
        near = nearest_of(one.expert, [d for d in divisors(experts) if ranks % d == 0])
        return (
            f"expert = {one.expert} does not divide experts = {run.model.experts} and the {ranks:,}"
            f" chips of a stage; {near}"
        )

    yield layout.chips == run.chips, chips
    yield (
        (experts % layout.expert == 0)
        & (layout.tensor * layout.context * layout.data % layout.expert == 0),
        shares,
    )


def _batch_rules(run: TrainingRun, layout: Layout) -> Iterator[Rule]:
    """The batch divides into copies and micro-batches, these into rounds of interleaved stages."""
    data, pipeline = layout.data, layout.pipeline
    yield run.global_batch % data == 0, _divides("data", "global_batch", run.global_batch)
    yield (
        run.global_batch % (data * layout.micro_batch) == 0,
        lambda one: (
            f"micro_batch = {one.micro_batch} does not divide global_batch / data ="
            f" {run.global_batch // one.data:,}; "
            + nearest_of(one.micro_batch, divisors(run.global_batch // one.data))
        ),
    )
    rounds = run.global_batch // (data * layout.micro_batch)
    yield (
        (layout.virtual == 1) | (rounds % pipeline == 0),
        lambda one: (
            f"virtual = {one.virtual} needs micro-batches in whole rounds of pipeline ="
            f" {one.pipeline}, a copy has {one.micro_batches(run.global_batch):.0f}; nearest:"
            " virtual = 1"
        ),
    )


def _sequence_rules(run: TrainingRun, layout: Layout) -> Iterator[Rule]:
    """The sequence divides into the parts of context or sequence parallelism."""

    def sequences(one: Layout) -> str:
        parts = 2 * one.context if one.context > 1 else one.tensor
        near = max(1, round(run.sequence / parts)) * parts
        return (
            f"sequence = {run.sequence:,} does not split into {parts} parts (context or tensor);"
            f" nearest: {near:,}"
        )

    of_tensor = np.where(layout.sequence_parallel, layout.tensor, 1)
    parts = np.where(layout.context > 1, 2 * layout.context, of_tensor)
    yield run.sequence % parts == 0, sequences


def _sharding_rules(layout: Layout) -> Iterator[Rule]:
    """Weights are sharded without a pipeline; groups that each hold all have equally many ranks."""
    yield (
        (layout.zero < 3) | (layout.pipeline == 1),
        lambda one: (
            f"zero = 3 goes without a pipeline, but pipeline = {one.pipeline}; nearest: zero = 2,"
            " or pipeline = 1"
        ),
    )

    def groups(one: Layout) -> str:
        ranks = one.data * one.context
        return (
            f"replicas = {one.replicas} does not divide data x context = {ranks};"
            f" {nearest_of(one.replicas, divisors(ranks))}"
        )

    yield layout.data * layout.context % layout.replicas == 0, groups
    yield (
        (layout.replicas == 1) | (layout.zero > 0),
        lambda one: (
            f"replicas = {one.replicas} needs something that is shared out, but zero = 0; nearest:"
            " replicas = 1, or zero = 1"
        ),
    )


def _layout_rules(run: TrainingRun, layout: Layout) -> Iterator[Rule]:
    """The rules on layouts whose fields are whole numbers already."""
    yield from _model_rules(run, layout)
    yield from _cluster_rules(run, layout)
    yield from _batch_rules(run, layout)
    yield from _sequence_rules(run, layout)
    yield from _sharding_rules(layout)


def _rules(run: TrainingRun, layout: Layout) -> Iterator[Rule]:
    """Every rule in the order in which they are checked; a later one may rely on those before
    it.
    """
    yield from _run_rules(run)
    numbers = {}
    for name in FIELDS:
        low, high = (0, OPTIONS[name]) if name in OPTIONS else (1, INFINITY)
        value = getattr(layout, name)
        fits = whole(value, low, high)
        yield (
            fits,
            lambda one, name=name, low=low, high=high: wanted(name, getattr(one, name), low, high),
        )
        numbers[name] = (
            value
            if fits is True
            else np.where(fits, value, 1).astype(np.int64)
            if not np.all(fits)
            else np.asarray(value).astype(np.int64, copy=False)
        )
    yield from _layout_rules(run, Layout(**numbers))


@counting
def refuse_first(
    about: str, rules: Iterable[Rule], layouts: Any, names: Iterable[str] = FIELDS
) -> None:
    """Raise ValueError on the first rule that does not hold, about the first layout that breaks it.

    about : what the message begins with
    layouts : a dataclass whose fields of these names are numbers or arrays of layouts; the rule's
        message is about one of them
    """
    for holds, message in rules:
        if holds is not True and not np.all(holds):
            broken, *columns = np.broadcast_arrays(
                ~np.asarray(holds), *(getattr(layouts, name) for name in names)
            )
            one = {
                name: column.flat[int(np.argmax(broken))].item()
                for name, column in zip(names, columns, strict=True)
            }
            raise ValueError(f"{about}: {message(replace(layouts, **one))}")


@counting
def check_run(run: TrainingRun) -> None:
    """Raise ValueError on the first thing that makes a run impossible on any layout: a number, a
    name, the precision.

    >>> from scaleright import catalog
    >>> check_run(TrainingRun(catalog.model("Llama-3.1-8B"), catalog.accelerator("H100 SXM"), 8,
    ...     8192, 128, "NVFP4"))
    Traceback (most recent call last):
    ValueError: Llama-3.1-8B on H100 SXM: precision NVFP4 needs a chip with dense fp4; H100 SXM has
    bf16, fp16, fp32, fp8, int8, tf32
    """
    refuse_first(f"{run.model.name} on {run.chip.name}", _run_rules(run), Layout())


@counting
def check(run: TrainingRun, layout: Layout) -> None:
    """Raise ValueError on the first rule that a layout breaks, with the nearest value that keeps
    it.

    Of layouts in arrays the message is about the first that breaks it. The rules: positive whole
    numbers; a task, precision and sequence that exist; tensor divides heads and divides or
    multiplies key/value heads; the product of the degrees is the run's chips; stages share out the
    layers, with up to three modules beside them; experts divide; the batch divides into
    micro-batches, in rounds of the stages where they are interleaved; the sequence divides; full
    sharding (zero 3) without a pipeline; replicas divide the data- and context-parallel ranks, and
    share something out.

    Source: the constraints that Megatron-LM checks when it starts [narayanan2021; korthikanti2022].

    >>> from scaleright import catalog
    >>> run = TrainingRun(catalog.model("GPT-3 175B"), catalog.accelerator("A100 SXM 80GB"), 1024,
    ...     2048, 1536)
    >>> check(run, Layout(tensor=8, pipeline=8, data=16))
    >>> check(run, Layout(tensor=7, pipeline=8, data=16))
    Traceback (most recent call last):
    ValueError: GPT-3 175B on A100 SXM 80GB: tensor = 7 does not divide heads = 96; nearest: 6 or 8
    """
    refuse_first(f"{run.model.name} on {run.chip.name}", _rules(run, layout), layout)


@counting
def valid(run: TrainingRun, layout: Layout) -> np.ndarray:
    """Where a layout keeps every rule that `check` checks; a boolean for each element.

    >>> from scaleright import catalog
    >>> run = TrainingRun(catalog.model("GPT-3 175B"), catalog.accelerator("A100 SXM 80GB"), 1024,
    ...     2048, 1536)
    >>> valid(run, Layout(tensor=np.array([7, 8, 0]), pipeline=8, data=16))
    array([False,  True, False])
    """
    return reduce(np.logical_and, (holds for holds, _ in _rules(run, layout)))
