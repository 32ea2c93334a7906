"""Parallelism Selector (F3): how to split a training run, by computed time and memory beside the
document's rule.
"""

import operator
from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

from scaleright.decisions.parallelism_playbook import STRATEGIES, contenders, words
from scaleright.decisions.verdict import Verdict
from scaleright.formulas import Breakdown
from scaleright.ops import first_case
from scaleright.order import name_of_greatest, names_by
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.memory import TrainingMemory
from scaleright.training.rules import check
from scaleright.training.search import candidates
from scaleright.training.step import COMMUNICATION, StepTime, mfu, step_time
from scaleright.transformer.parameters import parameters

SOURCE = "Clarifai's Parallelism Selector"
SOURCE_BYTES_PER_PARAMETER = 16
SIMPLER_WITHIN = 0.02
"""A simpler strategy is taken if it is slower by no more than this share: less than the model of a
step can tell apart.
"""
ACCEPTS = {
    "data parallelism": ("data", "sharded data"),
    "model parallelism": ("tensor", "pipeline"),
    "pipeline or hybrid": ("pipeline", "hybrid"),
    "a smaller model or mid-tier chips": (),
}
"""The strategies that each answer of the rule means."""


def source_rule(run: TrainingRun) -> str:
    """What Clarifai's selector says: one of `ACCEPTS`.

    It asks whether the model exceeds the memory of one chip, at the document's 16 GB per billion
    parameters, and whether the data or batch are large, for which it gives no number; the reading
    here is pretraining, or a sequence or more for each chip. A model that fits needs no splitting
    whatever the batch. Without a fabric between chips it says to reconsider.

    >>> from scaleright import catalog
    >>> source_rule(TrainingRun(catalog.model("Llama-3.1-8B"), catalog.accelerator("H100 SXM"), 64,
    ...     8192, 256))
    'pipeline or hybrid'
    """
    return rule_of(run, run.chip.scale_up_chips or 1, run.chip.require("memory_bytes"))


def rule_of(run: TrainingRun, domain: Any, memory_bytes: Any) -> Any:
    """`source_rule` of a run, numbers or quantities.

    domain, memory_bytes : chips of a node [1], and memory of a chip [B]
    """
    large = (run.task == "pretrain") | (run.global_batch >= run.chips)
    cases = [
        ((run.chips > 1) & (domain <= 1), "a smaller model or mid-tier chips"),
        (
            SOURCE_BYTES_PER_PARAMETER * parameters(run.model).total <= memory_bytes,
            "data parallelism",
        ),
        (large, "pipeline or hybrid"),
    ]
    return first_case(cases, "model parallelism")


def accepts(rule: Any, what: Any) -> Any:
    """Whether a strategy is one that an answer of the rule means; words or quantities."""
    pairs = [
        (rule == answer) & (what == name) for answer, names in ACCEPTS.items() for name in names
    ]
    return reduce(operator.or_, pairs)


def communication_share(step: StepTime) -> float:
    """Share of a step in which chips wait for data from others [1]."""
    return float(sum(getattr(step, name) for name in COMMUNICATION) / step.total)


def _largest(parts: Breakdown, other: Breakdown) -> str:
    """The two parts that make one breakdown larger than another, in words."""
    more = {name: parts.labeled()[name] - other.labeled()[name] for name in parts.labeled()}
    weightiest = [name for name in names_by(more, largest_first=True) if more[name] > 0][:2]
    return " and ".join(f"{name} (+{more[name]:.2g} s)" for name in weightiest)


def _of_chip(run: TrainingRun, memory: TrainingMemory) -> str:
    return (
        f"{memory.total / 1e9:,.0f} GB of a chip's {run.chip.require('memory_bytes') / 1e9:,.0f} GB"
    )


def _against(run: TrainingRun, name: str, other: tuple, step: StepTime) -> str:
    """Why another strategy loses: its memory, or the parts of its time."""
    layout, memory, theirs, _ = other
    if theirs is None:
        part = name_of_greatest(memory.labeled())
        largest = f"{memory.labeled()[part] / 1e9:,.0f} GB of them {part}"
        return (
            f"{name} does not fit: at its leanest ({words(layout)}) it takes"
            f" {_of_chip(run, memory)}, {largest}"
        )
    over = float(theirs.total / step.total - 1)
    if over <= 0:
        return (
            f"{name} ({words(layout)}) would be {-over:.1%} faster, less than the model can tell,"
            " and takes more to run"
        )
    return f"{name} ({words(layout)}) is {over:.1%} slower, by {_largest(theirs, step)}"


def _refusal(run: TrainingRun) -> str:
    """What forbids a copy of the model on each chip, if anything does."""
    try:
        check(run, Layout(data=run.chips))
    except ValueError as error:
        return f" of its own: {str(error).partition(': ')[2]}"
    return " of its own on this cluster"


def _slower_network(run: TrainingRun, layout: Layout, step: StepTime) -> str:
    """What the answer owes to the network between nodes."""
    share = communication_share(step)
    given = run.chip.scale_out_bytes_per_s
    if not given or run.chips <= (run.chip.scale_up_chips or 1):
        return f"chips wait for each other {share:.1%} of the step"
    slow = step_time(replace(run, chip=replace(run.chip, scale_out_bytes_per_s=given / 10)), layout)
    times = f"{slow.total / step.total:.2f} times as long"
    return (
        f"chips wait for each other {share:.1%} of the step; at a tenth of the bandwidth between"
        f" nodes it would take {times}"
    )


def choose(seconds: Mapping[str, float]) -> str:
    """The strategy to take, of their step times: the simplest of those that the model cannot tell
    from the fastest.

    >>> choose({"hybrid": 0.99, "data": 1.0, "tensor": 1.1})
    'data'
    """
    return next(
        name
        for name in STRATEGIES
        if seconds.get(name, float("inf")) <= min(seconds.values()) * (1 + SIMPLER_WITHIN)
    )


def parallelism_selector(run: TrainingRun, optimizer: str = "adamw") -> Verdict:
    """How to split a run over its chips: the fastest layout that fits, of the simplest strategy
    among equals.

    Raises
    ------
    ValueError : the run is impossible, or nothing fits; names the chips on which it would.

    >>> from scaleright import catalog
    >>> run = TrainingRun(catalog.model("MPT-1B"), catalog.accelerator("H100 SXM"), 8, 2048, 256)
    >>> parallelism_selector(run).agrees
    True
    """
    found = contenders(run, optimizer)
    fitting = {name: step for name, (_, _, step, _) in found.items() if step is not None}
    times = {name: float(step.total) for name, step in fitting.items()}
    if not times:
        candidates(run, optimizer)  # refuses, and says what would fit
    what = choose(times)
    (layout, memory, _, _), step = found[what], fitting[what]
    rule = source_rule(run)
    others = sorted(
        (name for name in found if name != what), key=lambda name: times.get(name, float("inf"))
    )
    reasons = [
        (
            f"{words(layout)}: {step.total:.3g} s a step, MFU {mfu(run, step):.1%},"
            f" {_of_chip(run, memory)}"
        ),
        *(_against(run, name, found[name], step) for name in others),
        *(f"{name} has no layout{_refusal(run)}" for name in STRATEGIES if name not in found),
        _slower_network(run, layout, step),
    ]
    numbers = {name: (seconds, "s a step") for name, seconds in times.items()} | {
        "memory": (float(memory.total), "B")
    }
    question = f"How should {run.model.name} be split over {run.chips:,} x {run.chip.name}?"
    return Verdict(
        question,
        f"{what} parallelism",
        tuple(reasons),
        numbers,
        SOURCE,
        rule,
        what in ACCEPTS[rule],
    )
