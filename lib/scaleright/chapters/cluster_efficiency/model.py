"""How sure the number of chips is that a run should take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, Self

from scaleright.costs.cluster_grid import CLUSTERS
from scaleright.costs.pretraining_run import USUAL, Doubts
from scaleright.decisions.cluster_efficiency import LATE, Efficiency, Plan, ends_of_batches
from scaleright.information import Choice, spread_between
from scaleright.ops import first_case, item, maximum, where
from scaleright.quantity import at, given, least, place_after
from scaleright.quantity.graph import apply, parameter
from scaleright.quantity.lists import LIST
from scaleright.ranges import Ends, interval_of
from scaleright.units import whole

# Clarifai's Utilization Efficiency Curve, which "rises, plateaus, falls", beside the computed one


LEVEL = 0.05
"""How far below its highest a curve still counts as level [1]."""


@dataclass(frozen=True)
class Curve:
    """The curve of a run: the share of the peak of all paid time that goes into tokens which a
    small batch would take as well, against the number of chips.

    first, at_first : the fewest chips that hold the run, and the share there [1]
    most, top : the number of chips with the highest share, and that share
    level : the most chips whose share is within `LEVEL` of the highest
    last, at_last : the most chips that are weighed on which it runs, and the share there
    rises : whether the share on the fewest chips is below that
    """

    first: Any
    at_first: Any
    most: Any
    top: Any
    level: Any
    last: Any
    at_last: Any
    rises: Any

    @classmethod
    def of(cls, found: Efficiency) -> Self:
        """That of a case."""
        used = [where(of > 0, of, 0.0) for of in found.sizes["used"]]
        sizes = [float(size) for size in CLUSTERS]
        top = reduce(maximum, used)
        pairs = [*zip(used, sizes, strict=True)]
        runs = [(share > 0, size) for share, size in pairs]
        shares = [(share > 0, share) for share in used]
        level = [(share >= (1 - LEVEL) * top, size) for share, size in pairs]
        at_first = first_case(shares, 0.0)
        return cls(
            first=first_case(runs, 0.0),
            at_first=at_first,
            most=first_case([(share == top, size) for share, size in pairs], 0.0),
            top=top,
            level=first_case(level[::-1], 0.0),
            last=first_case(runs[::-1], 0.0),
            at_last=first_case(shares[::-1], 0.0),
            rises=at_first < (1 - LEVEL) * top,
        )


ALL_USUAL = {**USUAL, "batches": 1.0}
STEPS, BATCHES = "steps on more chips", "critical batch"
"""What inputs are called in a chart, beside those of `pretraining_run`."""


@dataclass(frozen=True)
class ClusterDoubts:
    """How sure the best number of chips is.

    choice : that one or the next best, by cost with the value of time [USD]
    rival : the number of chips of the next best; NaN where there is none
    low_days, high_days, low_usd, high_usd : where the run lies, nine of ten [d], [USD]
    """

    choice: Choice
    rival: Any
    low_days: Any
    high_days: Any
    low_usd: Any
    high_usd: Any

    @classmethod
    def of(cls, found: Efficiency, error: tuple[float, float]) -> Self:
        """Those of a case.

        error : measured over predicted ratio of the times of a step on two numbers of chips, low
            and high end of nine of ten [1]
        """
        setting, case = found.setting, found.setting.case
        free = {name: given(name, value) for name, value in ALL_USUAL.items()}
        moving = setting.plan(found.best.way, **free)
        ends = Doubts.of(moving.run, case.tuning).ends
        ends = {name: Ends(free[_OF[name]], end.low, end.high) for name, end in ends.items()}
        ends[BATCHES] = Ends(free["batches"], *ends_of_batches(case, setting.grid))
        place = _rival(found)
        other = setting.plan(item(apply(LIST, *found.sizes["way"]), place), **free)
        choice = _between(moving, other, case.value_usd_per_day, ends, error)
        nothing = where(place >= 0, 1.0, float("nan"))
        of_run = {name: end for name, end in ends.items() if name != BATCHES}
        of_time = {name: end for name, end in of_run.items() if name != PRICE}
        days, usd = _range(moving.days, of_time), _range(moving.usd, of_run)
        there = where(found.best.there, 1.0, float("nan"))
        between = (end * there for end in (*days, *usd))
        choice = Choice(choice.cost * there, choice.other * nothing * there, choice.spreads)
        return cls(choice, item(tuple(map(float, CLUSTERS)), place) * nothing, *between)


PRICE, PACE = "price of an hour", "time of real runs"
_OF = {PRICE: "price", PACE: "pace", "failures": "luck"}


def _rival(found: Efficiency) -> Any:
    """The place of the next best number of chips, of those in time; -1 where there is none."""
    keys = found.sizes["key"]
    named = {
        whole(size): where(key < LATE, key, float("nan"))
        for size, key in zip(CLUSTERS, keys, strict=True)
    }
    best, _ = least(named)
    return place_after(named, best)


def _between(
    plan: Plan, other: Plan, usd_per_day: Any, ends: Mapping[str, Ends], error: tuple[float, float]
) -> Choice:
    """The choice between two numbers of chips. How long real runs take moves both alike; a price
    that nothing else is weighed against, and tokens of one batch, cancel in hours of a chip.
    """
    apart = {name: end for name, end in ends.items() if name != PACE}
    hour = plan.run.hour
    usd_per_hour = hour.usd * given("price", 1.0) + hour.power_usd
    mine, its = (of.in_hours(usd_per_day, usd_per_hour, other.more) for of in (plan, other))
    spreads = Choice.of(mine, its, apart, **ALL_USUAL).spreads
    cost, then = (at(of.with_time(usd_per_day), **ALL_USUAL) for of in (plan, other))
    return Choice(cost, then, {STEPS: spread_between(*error), **spreads})


def _range(result: Any, ends: Mapping[str, Ends]) -> tuple[Any, Any]:
    low, high = interval_of(result, ends.values())
    usual = {parameter(end.parameter) or "": end.parameter.value for end in ends.values()}
    return at(low, **usual), at(high, **usual)
