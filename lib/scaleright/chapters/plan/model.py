"""The Scale-Right Decision Tree (F13): a workload in, a complete plan out.

Every number is of the libraries behind the chapters; each step names its chapter and gives the
parameters with which that answers the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any

from scaleright.catalog import shared
from scaleright.chapters.plan.hardware import a_year
from scaleright.decisions.build_buy import HYBRID, SPILL
from scaleright.decisions.plan_parts import SOURCE, STEPS, Part
from scaleright.decisions.plan_workload import STUDY, Workload
from scaleright.formulas import search
from scaleright.units import figure

# Plans of several workloads side by side: rows of which a page looks one up


SERVED_WAYS = ("call an API", "rent", HYBRID, SPILL, "own", "use what you own")
"""Ways to serve, whose bills a plan of a service has."""
NOT_REACHED = "Not reached: one of the limits has to give first."
CHAPTERS = (
    ("Count your requests: how many, how long, when", "load_of_a_day"),
    ("Compare the ways below, for your case", "economics_stack"),
    ("Try a smaller model first", "model_routing"),
    ("Compare accelerators on your model", "hardware_compare"),
    ("Take the engine that serves most for each chip", "inference_roofline"),
    ("Pull the levers in order", "inference_ladder"),
    ("Log a week of your own traffic", "load_of_a_day"),
    ("See what it draws, and where", "sustainability"),
    ("Look at what moves the bill", "economics_stack"),
)
"""What a step asks, and the chapter that answers it, where a workload is the reader's own."""
_PERIODS = dict.fromkeys(("Train", "Fine-tune", "Post-train"), "for the run")
_PERIODS |= {"Serve": "a year", "Compare": "for the study"}


@search
def plan_rows(workloads: Mapping[str, Workload]) -> dict[str, dict[str, Any]]:
    """The plan of each workload as a row for `choose`: work, decision, because, sure, met, helps,
    usd and per (its bill and of what), compared (whether that is one of the bills of several
    ways), and of each step do, why and ask, numbered.
    """
    return {name: dict(_planned(of)) for name, of in workloads.items()}


@shared
def _planned(of: Workload) -> Mapping[str, Any]:
    """The row of a workload; each takes seconds."""
    return MappingProxyType(_row(plan(of).parts[0]))


@search
def open_row(work: str) -> dict[str, Any]:
    """The row of a workload that follows the page's controls: its steps name the chapters."""
    steps = {}
    for number, (do, chapter) in enumerate(CHAPTERS, 1):
        told = {"do": do, "why": f"the chapter {chapter} takes your case"}
        told["ask"] = f"scaleright run {chapter}"
        steps |= {f"{name} {number}": text for name, text in told.items()}
    words = dict.fromkeys(("decision", "because", "sure"), "")
    ways = {f"usd to {name}": float("nan") for name in SERVED_WAYS}
    told = {"work": work, "helps": "Nothing has to give.", "per": "a year", "compared": True}
    return ways | told | words | {"met": True, "usd": 0.0} | steps


def _row(part: Part) -> dict[str, Any]:
    broken = part.broken
    helps = "Nothing has to give." if broken is None else _helps(part)
    steps = {}
    for number in range(1, len(STEPS) + 1):
        step = part.steps[number - 1] if part.steps else None
        steps |= {
            f"do {number}": step.says if step else NOT_REACHED,
            f"why {number}": "; ".join(step.because) if step else "the limits break before it",
            f"ask {number}": step.asked[0].command if step and step.asked else "scaleright plan",
        }
    bill = part.figures.get("usd", part.figures.get("usd_per_year"))
    ways = {
        name: part.figures.get(f"{name.replace(' ', '_')}_usd_per_day", float("nan"))
        for name in SERVED_WAYS
    }
    return (
        {f"usd to {name}": figure(a_year(float(usd_))) for name, usd_ in ways.items()}
        | {
            "work": part.work,
            "decision": part.decision,
            "because": _sentence(part.because),
            "sure": _sentence(part.sure),
            "met": broken is None,
            "compared": part.figures.get("way") in SERVED_WAYS[:-1],
            "helps": helps,
            "usd": figure(float(bill or 0.0)),
            "per": _PERIODS[part.work.split(maxsplit=1)[0]],
        }
        | steps
    )


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].removesuffix('.')}."


def _helps(part: Part) -> str:
    """What would help, the least change first, in a sentence."""
    assert part.broken is not None
    told = "; or ".join(change.says for change in part.broken.relaxations)
    return f"What breaks: {part.broken.says}. What would help: {told}."


@dataclass(frozen=True)
class WholePlan:
    """A plan: what was asked, and a part for each kind of work."""

    workload: Workload
    parts: tuple[Part, ...]

    @property
    def met(self) -> bool:
        """Whether the workload can be met."""
        return not any(part.broken for part in self.parts)

    def text(self) -> str:
        """It as text, the decision first."""
        return "\n\n\n".join("\n".join(part.lines()) for part in self.parts)

    def record(self) -> dict[str, Any]:
        """It as plain data."""
        asked = {of.name: getattr(self.workload, of.name) for of in fields(self.workload)}
        return {
            "framework": SOURCE,
            "workload": {name: value for name, value in asked.items() if value is not None},
            "met": self.met,
            "parts": [part.record() for part in self.parts],
        }

    def json(self) -> str:
        """It as JSON."""
        return json.dumps(self.record(), indent=2, ensure_ascii=False)


def _with_bought(of: Workload, parts: Sequence[Part]) -> list[Workload]:
    """What is asked of the service: with what the reader owns, or with what is bought to train."""
    for part in parts:
        if bought := part.figures.get("bought_chips"):
            then = replace(of, owned=part.figures["accelerator"], owned_chips=bought)
            return [of, then] if of.owned else [then]
    return [of]


def _bill(part: Part) -> float:
    return float("inf") if part.broken else part.figures["usd_per_day"]


@search
def plan(of: Workload) -> WholePlan:
    """The plan of a workload."""
    if of.work == STUDY:
        from scaleright.chapters.plan import study_page

        return WholePlan(of, (study_page.own_plan(study_page.asked_ways(of)).part,))
    parts = []
    if of.trains:
        from scaleright.chapters.plan import training_page

        parts.append(training_page.asked_plan(of).part)
    if of.tunes:
        from scaleright.chapters.plan.training import plan_tuning

        parts.append(plan_tuning(of))
    if of.serves:
        from scaleright.chapters.plan.serving import plan_serving

        parts.append(min(map(plan_serving, _with_bought(of, parts)), key=_bill))
    return WholePlan(of, tuple(parts))
