"""The Scale-Right Decision Tree (F13): a workload in, a complete plan out.

Every number is of the libraries behind the chapters; each step names its chapter and gives the
parameters with which that answers the same.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from scaleright.decisions.plan_parts import SOURCE, Part
from scaleright.decisions.plan_workload import STUDY, Workload
from scaleright.formulas import search


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
        from scaleright.chapters.plan.study import plan_study

        return WholePlan(of, (plan_study(of),))
    parts = []
    if of.trains or of.tunes:
        from scaleright.chapters.plan.training import plan_training

        parts.append(plan_training(of))
    if of.serves:
        from scaleright.chapters.plan.serving import plan_serving

        parts.append(min(map(plan_serving, _with_bought(of, parts)), key=_bill))
    return WholePlan(of, tuple(parts))
