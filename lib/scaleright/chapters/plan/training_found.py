"""The run that a plan of training takes, and what is beside it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from scaleright.catalog import model
from scaleright.costs.cluster_grid import CLUSTERS
from scaleright.costs.platforms import BATCHES
from scaleright.costs.rent import usd_per_hour_to_win
from scaleright.costs.whole_runs import TYPICAL
from scaleright.decisions.build_buy import arrival_days
from scaleright.decisions.left_out import unlisted
from scaleright.decisions.plan_runs import SPOT, Runs, Ways, waiting_share
from scaleright.decisions.plan_workload import STAYS, Workload
from scaleright.decisions.post_training_choice import OFFERED
from scaleright.decisions.unlisted_runs import step_seconds, unlisted_hours
from scaleright.formulas import lookup, search
from scaleright.transformer import active_parameters, training_flop
from scaleright.units import HOURS_PER_DAY, si, usd


@dataclass(frozen=True)
class Found:
    """What a plan of training rests on.

    of : the workload; tokens : to train on
    runs, ways, place : the runs (`Runs`, or `Tunings` of a model that is there), all of them beside
        each other, and which is taken
    taken, figures : that run, and what it gives
    """

    of: Workload
    name: str
    tokens: float
    runs: Any
    ways: Ways
    place: int
    taken: Any
    figures: Mapping[str, Any]

    @property
    def row(self) -> dict[str, Any]:
        """The parameters of the run that is taken."""
        return self.ways.rows[self.place]


@lookup
def sold(ways: Ways, own: bool) -> np.ndarray:
    """Those that somebody sells, where only machines of one's own will do."""
    return ways.owned if own else np.ones(len(ways.rows), bool)


@lookup
def surely(of: Workload, ways: Ways) -> Ways:
    """Runs with the margin with which each keeps the deadline as surely as is asked."""
    if not of.deadline_days:
        return ways
    return replace(ways, margin=np.exp(-NormalDist().inv_cdf(of.deadline_chance) * ways.spread))


@lookup
def buys(of: Workload) -> bool:
    """Whether chips have to be ordered first."""
    return of.data == STAYS and not owns(of)


@lookup
def wait_days(of: Workload) -> float:
    """Days until chips are there, as surely as the deadline is to be kept [d]."""
    return float(arrival_days(NormalDist().inv_cdf(of.deadline_chance))) if buys(of) else 0.0


@lookup
def left_days(of: Workload) -> float:
    """Days that a deadline leaves for a run once its chips are there [d]."""
    return (of.deadline_days or np.inf) - wait_days(of)


@lookup
def within(ways: Ways, of: Workload) -> np.ndarray:
    """Those within deadline and budget."""
    soon = ways.days <= left_days(of) * ways.margin if of.deadline_days else ways.days > 0
    return soon & (ways.cash <= of.budget_usd) if of.budget_usd else soon


@lookup
def pick(ways: Ways, allowed: np.ndarray, of: Workload) -> int | None:
    """The run that is taken of those allowed: the cheapest in time; without a deadline that on the
    most chips of the cheapest platform on which it costs hardly more. None where none is allowed.
    """
    paid = replace(ways, usd=costs(ways, of))
    least = binds(of) or (of.tunes and of.data == STAYS)
    return paid.best(allowed) if least else paid.soonest_near(allowed)


@lookup
def costs(ways: Ways, of: Workload) -> np.ndarray:
    """By what runs are compared [USD]: what they cost; where chips have to be bought for it, with
    what the money costs that waits for them, so that nobody buys a cluster for an hour's work; of a
    tuning, which hardly wears them, with what has to be paid.
    """
    if of.data != STAYS:
        return ways.usd
    return ways.usd + (ways.bought > 0) * ways.cash * (1.0 if of.tunes else waiting_share())


@lookup
def binds(of: Workload) -> bool:
    """Whether the number of chips is the cheapest in time, and not the most at hardly more."""
    return bool(of.deadline_days)


@lookup
def owns(of: Workload) -> bool:
    """Whether as many chips as a run takes at least are owned already, and may be used."""
    mine = of.owned and of.accelerator in {None, of.owned}
    return bool(mine and of.owned_chips >= (OFFERED if of.tunes else CLUSTERS)[0])


@lookup
def following(found: Found) -> int | None:
    """The cheapest run on another platform, within the same limits."""
    other = np.array([row["accelerator"] != found.row["accelerator"] for row in found.ways.rows])
    limits = within(found.ways, found.of) & sold(found.ways, found.of.data == STAYS)
    return pick(found.ways, limits & other & found.ways.seen, found.of)


@lookup
def unsold(found: Found) -> tuple[int, float] | None:
    """The place of the run in time on spot, which nobody lists for its chip, that would win at the
    highest price of an hour, and that price [USD/h]; None where there is none.
    """
    of, ways = found.of, found.ways
    days = ways.hours / [row["chips"] * HOURS_PER_DAY for row in ways.rows]
    spot = np.array([row["contract"] == SPOT for row in ways.rows])
    there = spot & ~(ways.usd > 0) & (days <= left_days(of) * ways.margin) & ways.seen
    if of.data == STAYS or not there.any():
        return None
    at = int(np.argmin(np.where(there, ways.hours, np.inf)))
    return at, float(usd_per_hour_to_win(_least_usd(found), ways.hours[at]))


@search
def unlisted_runs(found: Found) -> dict[str, float]:
    """Accelerators that nobody lists of which as many as are taken do the run in time, and the
    price of an hour below which they would win [USD/h].
    """
    of, row, prices = found.of, found.row, dict[str, float]()
    if of.data == STAYS or of.tuning != TYPICAL or not isinstance(found.runs, Runs):
        return prices  # the best tuned of them overlap more
    chips, batch = row["chips"], BATCHES[row["batch"]]
    left = left_days(of) * float(found.ways.margin[found.place])
    for name in unlisted():
        step_s = step_seconds(found.name, name, chips, batch, of.precision)
        hours = unlisted_hours(found.runs.setting, step_s, chips, batch)
        hours = float(found.runs.at({"hours": hours}, row)["hours"])
        if 0 < hours <= left * chips * HOURS_PER_DAY:
            prices[name] = float(usd_per_hour_to_win(_least_usd(found), hours))
    return prices


def _least_usd(found: Found) -> float:
    """The cheapest run within the limits, that which has to be won against [USD]."""
    least = found.ways.best(within(found.ways, found.of) & found.ways.seen)
    return float(found.ways.usd[found.place if least is None else least])


@lookup
def platforms_of(found: Found) -> int:
    """How many platforms run it at all."""
    there = zip(found.ways.rows, found.ways.usd, strict=True)
    return len({row["accelerator"] for row, cost in there if cost > 0})


@lookup
def limits_of(of: Workload) -> str:
    limits = [f"{of.deadline_days:g} days"] if of.deadline_days else []
    limits += [usd(of.budget_usd)] if of.budget_usd else []
    return " and ".join(limits) or "no limit of time or money"


@lookup
def flop_of(found: Found) -> str:
    size = float(active_parameters(model(found.name)).total)
    return si(float(training_flop(size, found.tokens)), "FLOP")
