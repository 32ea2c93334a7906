"""Every run that could train a model, in one call: platforms, sizes, batches and formats, by the
graph of the chapter `pretraining_cost`.
"""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from scaleright.catalog import DataError
from scaleright.costs import pretraining
from scaleright.costs.fastest_steps import PRECISIONS, SIZES, Steps
from scaleright.costs.platforms import BATCHES
from scaleright.costs.pretraining import people_usd, pretraining_usd, run_chip_hours
from scaleright.costs.pretraining_doubts import Doubts, kept_share
from scaleright.costs.pretraining_run import Hour, Run
from scaleright.costs.rent import compute_usd
from scaleright.costs.whole_runs import whole_runs
from scaleright.decisions.plan_parts import Asked
from scaleright.formulas import lookup, search
from scaleright.market import hour, matmul_chips
from scaleright.quantity import at, evaluate, given
from scaleright.quantity.graph import in_order, parameter
from scaleright.units import figure

USUAL = {"precision": "BF16", "contract": "on demand", "seller": "median"}
"""What a run is given where nothing else is asked."""
COLUMNS = ("accelerator", "chips", "batch", "precision")


@dataclass(frozen=True)
class Ways:
    """Runs beside each other, a row each.

    rows : of each the values of `COLUMNS`
    usd, days, seen, owned : what it costs [USD] and takes [d], NaN where it does not run; whether
        the fit has seen its architecture; whether its chips are owned
    """

    rows: list[dict[str, Any]]
    usd: np.ndarray
    days: np.ndarray
    seen: np.ndarray
    owned: np.ndarray

    def best(self, allowed: np.ndarray) -> int | None:
        """The place of the cheapest of those allowed, by name where two cost the same; None where
        none is.
        """
        usd = np.where(allowed & (self.usd > 0), self.usd, np.inf)
        if not np.isfinite(usd).any():
            return None
        key = [
            (figure(float(cost), 5), *map(str, self.rows[n].values())) for n, cost in enumerate(usd)
        ]
        return min(range(len(key)), key=key.__getitem__)


@dataclass(frozen=True)
class Runs:
    """Runs of a model on so many tokens, as quantities of a case.

    values : of the case, as the chapter's parameters
    run, low, high : the run of the case, and the ends of what it costs, nine of ten [USD]
    steps : of the model on all platforms
    doubts : what moves its cost
    """

    values: Mapping[str, Any]
    run: Run
    low: Any
    high: Any
    steps: Steps
    doubts: Doubts
    moving: Run

    @classmethod
    def of(cls, model: str, tokens: float, paid: str) -> Self:
        """Those of a model.

        paid : "rent" or "own"
        """
        steps = Steps.over((model,))
        values = {"model": model, "tokens": float(tokens), "accelerator": "H100 SXM", "chips": 256}
        values |= {"batch": "4M", "paid": paid, "rent_usd_per_hour": 0.0} | USUAL
        usual = pretraining.reliability() | pretraining.project()
        case = SimpleNamespace(**{of: given(of, value) for of, value in (values | usual).items()})
        run, doubts = _run(case, steps), None
        doubts = Doubts.of(run)
        moving = _run(case, steps, **doubts.free)
        spread = doubts.spread(moving)
        return cls(values, run, spread.low_usd, spread.high_usd, steps, doubts, moving)

    def every(self, keep: Callable[[str, int], bool], **fixed: Any) -> Ways:
        """All of them whose accelerator and chips are kept, with some parameters of the case set
        otherwise.
        """
        precisions = [fixed.get("precision", USUAL["precision"])]
        every = itertools.product(self.steps.names, SIZES, BATCHES, precisions)
        rows = [dict(zip(COLUMNS, one, strict=True)) for one in every if keep(one[0], one[1])]
        if not rows:
            none = np.array([])
            return Ways(rows, none, none, none.astype(bool), none.astype(bool))
        given_ = {name: np.array([row[name] for row in rows]) for name in COLUMNS} | fixed
        given_["precision"] = np.array([row["precision"] for row in rows])
        wanted = [self.run.usd, self.run.days, self.run.step.trust.seen, self.run.hour.owned]
        found = (np.broadcast_to(of, (len(rows),)) for of in evaluate(wanted, given_))
        usd, days, seen, owned = found
        return Ways(rows, usd, days, seen.astype(bool), owned.astype(bool))

    def at(self, wanted: Mapping[str, Any], row: Mapping[str, Any], **other: Any) -> dict[str, Any]:
        """What quantities are at a row, some parameters set otherwise."""
        return read_at(wanted, {**row, **other})

    def swings(self, row: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
        """What the run costs with each doubt at either end, the others at their best [USD]."""
        found = {}
        for name, ends in self.doubts.ends.items():
            moved = [
                at(self.moving.usd, **_moved(self.doubts, name, end))
                for end in (ends.low, ends.high)
            ]
            low, high = read_at(dict(zip(("low", "high"), moved, strict=True)), row).values()
            found[name] = float(low), float(high)
        return found

    def asked(self, row: Mapping[str, Any], figures: Mapping[str, float], **other: Any) -> Asked:
        """The question to the chapter that a row answers."""
        parameters = dict(self.values) | dict(row) | other
        parameters.pop("rent_usd_per_hour")
        if parameters["paid"] == "own":
            parameters = {n: v for n, v in parameters.items() if n not in {"contract", "seller"}}
        return Asked("pretraining_cost", parameters, figures)


@search
def read_at(wanted: Mapping[str, Any], case: Mapping[str, Any]) -> dict[str, Any]:
    """What quantities are at a case, of which they need not depend on all."""
    behind = {parameter(node) for node in in_order([*wanted.values()])}
    found = evaluate([*wanted.values()], {of: it for of, it in case.items() if of in behind})
    return dict(zip(wanted, found, strict=True))


def _moved(doubts: Doubts, name: str, end: Any) -> dict[str, Any]:
    """The free inputs at their best, but one of them at an end."""
    of = {"price of an hour": "price", "time of real runs": "pace", "failures": "luck"}[name]
    best = {"price": 1.0, "pace": 1.0, "luck": "usual"}
    return best | {of: end}


def _run(case: Any, steps: Steps, price: Any = 1.0, pace: Any = 1.0, luck: Any = "usual") -> Run:
    """The run of a case, as the chapter makes it."""
    step, hour = steps.on(case.accelerator, case, case.chips), Hour.of(case, case.accelerator)
    kept = kept_share(case, case.chips, luck)
    parts = step.at(pace) | {"goodput": kept, **whole_runs().factors}
    hours = run_chip_hours(case.tokens, step.tokens, case.chips, **parts)
    people = people_usd(case.person_years, case.pay_usd_per_year)
    project = {"experiments": case.experiments, "people_usd": people}
    cost = pretraining_usd(**hours.parts(), **hour.at(price), **project)
    return Run(case.chips, step, hour, hours, cost)


@search
def runs_of(model: str, tokens: float, paid: str = "rent") -> Runs:
    """The runs of a model on so many tokens, rented or owned."""
    return Runs.of(model, tokens, paid)


__all__ = ["COLUMNS", "PRECISIONS", "USUAL", "Runs", "Ways", "runs_of"]


LONGEST = 5000.0
"""A deadline that binds nothing [d]."""


@lookup
def law_asked(chip: str, flop: float, mfu: float, best: float) -> Asked:
    """The size that so much arithmetic trains best, as the chapter on scaling laws has it: for a
    budget that buys just that, at the share of the peak of the run that is taken.
    """
    try:
        rent = hour(chip).usd
    except (LookupError, DataError):  # nobody rents it out by the hour
        return Asked("scaling_laws", {})
    mfu = figure(float(np.clip(mfu, 0.05, 0.8)), 6)
    budget = float(compute_usd(flop, matmul_chips()[chip]["bf16_flops"], mfu, rent))
    case = {"budget_usd": figure(budget, 6), "accelerator": chip, "contract": "on demand"}
    return Asked("scaling_laws", case | {"mfu": mfu}, {"size": best})


@lookup
def cluster_asked(
    runs: Runs, row: Mapping[str, Any], name: str, tokens: float, hours: float
) -> Asked | None:
    """A run in the chapter on how many chips: its chip-hours before that counts what such batches
    take more; None where it has no such run: on chips of one's own, or not in BF16.
    """
    sizes = row["chips"] >= 8 and 1e10 <= tokens <= 1e14
    if runs.values["paid"] != "rent" or row["precision"] != "BF16" or not sizes:
        return None
    case = {"model": name, "tokens": tokens, "deadline_days": LONGEST}
    case |= {of: row[of] for of in ("accelerator", "chips", "batch")}
    paid = {of: row.get(of, runs.values.get(of)) for of in ("paid", "contract", "seller")}
    return Asked("cluster_efficiency", case | paid, {"yours.small_hours": float(hours)})
