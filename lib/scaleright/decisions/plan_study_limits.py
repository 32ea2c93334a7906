"""A study beside its limits: what it rests on, and what helps where it cannot be met."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scaleright.decisions.ablation_study import Cluster, Decision, Range
from scaleright.decisions.plan_limits import least_first, rounded, unmet
from scaleright.decisions.plan_parts import (
    Asked,
    Part,
    Relaxation,
    count,
)
from scaleright.decisions.plan_runs import read_at
from scaleright.decisions.plan_workload import STAYS, Workload
from scaleright.formulas import lookup, search
from scaleright.units import duration, usd

DAY_S = 86_400.0
TARGET = "OLMo-2-7B"
"""The large model that a study is for."""
USUAL: Mapping[str, Any] = {
    "halvings": 0,
    "survive": 0.5,
    "after_a_cut": "continue",
    "precision": "BF16",
    "contract": "on demand",
    "rest_of_term": "used by others",
    "seller": "median",
    "failed": 0.05,
    "evaluation": 0.05,
    "loading": 0.02,
    "idle": 0.1,
    "storage": 0.03,
    "waiting": 0.5,
    "target": TARGET,
    "target_tokens": 1e12,
    "difference": 1.0,
    "noise": 0.5,
    "level": "95 %",
    "power": "80 %",
}
"""What a study is given where nothing else is asked, as the chapter has it."""
SAID = ("halvings", "precision", "contract", "seller", "idle", "target", "target_tokens")
"""Those of them that a question to the chapter repeats."""


@dataclass(frozen=True)
class Found:
    """What a plan of a study rests on: quantities of a case, and the cases beside each other."""

    of: Workload
    values: Mapping[str, Any]
    mine: Cluster
    span: Range
    decision: Decision
    rows: Sequence[Mapping[str, Any]]
    at: Mapping[str, np.ndarray]
    place: int

    @property
    def row(self) -> Mapping[str, Any]:
        """The case that is taken."""
        return self.rows[self.place]

    def now(self, name: str) -> float:
        """What it gives."""
        return float(self.at[name][self.place])

    def asked(self, figures: Mapping[str, float], **other: Any) -> Asked:
        """The question to the chapter."""
        case = {**self.values, **{name: USUAL[name] for name in SAID}, **self.row, **other}
        return Asked("ablation_cost", case, figures)


@lookup
def there_are(found: Found) -> np.ndarray:
    """Those that there are, of platforms whose architecture the fit has seen if there is one."""
    there = found.at["usd"] > 0
    if found.of.data == STAYS:
        there = there & found.at["owned"].astype(bool)
    seen = there & found.at["seen"].astype(bool)
    return seen if seen.any() else there


@search
def unmet_study(found: Found, work: str) -> Part:
    """The part of a plan whose study cannot be had."""
    of, there = found.of, there_are(found)
    sure = "as sure as the model: experiments were predicted within a third in the median"
    if not there.any():
        change = Relaxation("leave the accelerator open", "accelerator", None, 1.0)
        return unmet(
            work, "the platform: nobody sells one for it", "no price is listed.", [change], sure
        )
    usd_, quick = (np.where(there, found.at[name], np.inf) for name in ("usd", "quickest"))
    fast, cheap = int(np.argmin(quick)), int(np.argmin(usd_))
    broken = []
    if of.deadline_days and quick[fast] > of.deadline_days:
        over = quick[fast] / of.deadline_days
        broken.append(
            f"the deadline of {of.deadline_days:g} days: the largest cluster tried, of"
            f" {found.rows[fast]['accelerator']}, takes {duration(float(quick[fast]) * DAY_S)},"
            f" {over:.3g} times as long"
        )
    if of.budget_usd and usd_[cheap] > of.budget_usd:
        over = usd_[cheap] / of.budget_usd
        broken.append(
            f"the budget of {usd(of.budget_usd)}: the cheapest, on"
            f" {found.rows[cheap]['accelerator']}, costs {usd(float(usd_[cheap]))},"
            f" {over:.3g} times as much"
        )
    says = " and ".join(broken) or "deadline and budget together"
    return unmet(work, says, "no cluster that is tried keeps it.", _changes(found), sure)


def _changes(found: Found) -> list[Relaxation]:
    """Changes that help, each by itself: the least of those tried of every kind."""
    of, made = found.of, []
    kinds: dict[str, tuple[float | None, Any]] = {
        "deadline_days": (of.deadline_days, lambda asked, by: rounded(asked * by, up=True)),
        "budget_usd": (of.budget_usd, lambda asked, by: rounded(asked * by, up=True)),
        "variants": (of.variants, lambda asked, by: float(int(asked / by))),
        "tokens": (found.values["tokens"], lambda asked, by: rounded(asked / by, up=False)),
    }
    words = {
        "deadline_days": "wait {:g} days",
        "variants": "compare {:g} variants instead of {:g}",
    }
    for name, (asked, changed) in kinds.items():
        tried = (changed(asked, by) for by in FACTORS) if asked else ()
        value = next((it for it in tried if it >= LOWEST[name] and _keeps(found, name, it)), None)
        if asked and value is not None:
            said = words.get(name, "").format(value, asked)
            said = {
                "budget_usd": f"spend {usd(value)}",
                "tokens": f"train each run on {count(value)} tokens instead of {count(asked)}",
            }.get(name, said)
            share = max(value / asked, asked / value) - 1
            made.append(Relaxation(said, name, value, share))
    return least_first(made)


FACTORS = tuple(float(by) for by in np.geomspace(1.02, 1000.0, 120))
"""By how much a limit is changed, the least first [1]."""
LOWEST = {"deadline_days": 0.5, "budget_usd": 100.0, "variants": 2.0, "tokens": 1e8}


def _keeps(found: Found, name: str, value: float) -> bool:
    """Whether the study keeps deadline and budget with one thing changed."""
    limits = {"deadline_days": found.of.deadline_days, "budget_usd": found.of.budget_usd}
    limits |= {name: value} if name in limits else {}
    case = {of: np.array([row[of] for row in found.rows]) for of in found.rows[0]}
    wanted = {"usd": found.mine.study.usd, "days": found.mine.study.days}
    at = read_at(wanted, case | {name: value})
    kept = (at["days"] <= (limits["deadline_days"] or np.inf)) & there_are(found)
    return bool((kept & (at["usd"] <= (limits["budget_usd"] or np.inf))).any())
