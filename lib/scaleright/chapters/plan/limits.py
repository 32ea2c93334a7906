"""What cannot be met of a workload: which limit breaks, by how much, and the least change that
helps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor
from statistics import NormalDist
from typing import Any

import numpy as np

from scaleright import ops
from scaleright.costs.break_even import usd_per_hour_to_win
from scaleright.costs.training_fleet import left_out
from scaleright.decisions.build_buy import arrival_days, arrives
from scaleright.decisions.plan_parts import Broken, Part, Relaxation, count
from scaleright.decisions.plan_runs import (
    NEAR,
    SPOT,
    Ways,
)
from scaleright.decisions.plan_workload import LEAVES, STAYS, Workload
from scaleright.decisions.post_training_choice import OFFERED
from scaleright.decisions.post_training_evidence import real_runs
from scaleright.decisions.tuning_ways import PLATFORMS
from scaleright.formulas import lookup
from scaleright.ops import log10
from scaleright.quantity import Quantity
from scaleright.units import HOURS_PER_DAY, duration, figure, usd

# The run that a plan of training takes, and what is beside it


@dataclass(frozen=True)
class Found:
    """What a plan of a tuning rests on.

    of, name : the workload, and the model
    runs, ways, place : the runs (`Tunings`), all of them beside each other, and which is taken
    taken, figures : that run, and what it gives
    """

    of: Workload
    name: str
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
    least = binds(of) or of.data == STAYS
    return paid.best(allowed) if least else paid.soonest_near(allowed)


@lookup
def costs(ways: Ways, of: Workload) -> np.ndarray:
    """By what runs are compared [USD]: what they cost; where chips have to be bought for it, with
    what has to be paid, since a tuning hardly wears them.
    """
    if of.data != STAYS:
        return ways.usd
    return ways.usd + (ways.bought > 0) * ways.cash


@lookup
def binds(of: Workload) -> bool:
    """Whether the number of chips is the cheapest in time, and not the most at hardly more."""
    return bool(of.deadline_days)


@lookup
def owns(of: Workload) -> bool:
    """Whether as many chips as a run takes at least are owned already, and may be used."""
    mine = of.owned and of.accelerator in {None, of.owned}
    return bool(mine and of.owned_chips >= OFFERED[0])


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


DAY_S = 86_400.0
SURE = (
    "as sure as the model of training: nine of ten published runs took 0.6 to 1.6 times the"
    " predicted hours"
)
"""How sure a refusal is."""
LIFTED: Sequence[tuple[Mapping[str, Any], str]] = (
    ({"accelerator": None}, "leave the accelerator open"),
    ({"data": LEAVES}, "let the data leave"),
)
"""Restrictions of a workload, and how to lift them in words."""
OF_TUNING: Sequence[tuple[Mapping[str, Any], str]] = (
    ({"trained": "LoRA"}, "train adapters alone (LoRA)"),
)
"""The same of a model that is tuned."""


@lookup
def basis() -> str:
    """How sure a refusal of a tuning is."""
    return f"as sure as the model of post-training: {real_runs().basis}"


@lookup
def rounded(value: Any, up: bool) -> Any:
    """A limit that can be said in three digits and is still enough; a quantity or not.

    >>> rounded(12.3456, True), rounded(12.3456, False), rounded(1e12, False)
    (12.4, 12.3, 1000000000000.0)
    """
    step = 10.0 ** (ops.floor(log10(value)) - 2)
    near = ops.ceil(value / step - 1e-9) if up else ops.floor(value / step + 1e-9)
    return near * step if isinstance(value, Quantity) else figure(near * step, 3)


@lookup
def least_first(found: Iterable[Relaxation | None]) -> list[Relaxation]:
    """Changes, the least over what was asked first; by name where two are the same."""
    return sorted(filter(None, found), key=lambda of: (figure(of.share, 3), of.parameter))


@lookup
def more(parameter: str, asked: float, needed: float, says: str) -> Relaxation:
    """A limit that is raised.

    >>> more("deadline_days", 10.0, 20.0, "take {}").share
    1.0
    """
    value = rounded(needed, up=True)
    return Relaxation(says, parameter, value, value / asked - 1)


@lookup
def measured(ways: Ways, there: np.ndarray) -> np.ndarray:
    """Of some runs those on an architecture that the fit has seen; all where there is none."""
    return there & ways.seen if (there & ways.seen).any() else there


@lookup
def of_tuning(
    of: Workload, work: str, tried: Sequence[Any], ways: Ways, allowed: np.ndarray
) -> Part:
    """The part of a plan whose run cannot be done: what breaks, and what would help.

    tried : the runs under each contract; ways : all of them together
    """
    usd_, days = ways.cash, ways.days
    there = measured(ways, allowed & (usd_ > 0))
    if not there.any():
        says = nowhere(of)
        return unmet(work, says, "there is no such run.", [], "certain")
    deadline, budget = of.deadline_days or np.inf, of.budget_usd or np.inf
    wait = wait_days(replace(of, deadline_chance=0.5))  # chips may come sooner than is sure
    left = deadline - wait
    quickest, cheapest = (_place(values, there) for values in (days, usd_))
    found = [
        _longer(of, ways, there & (usd_ <= budget)),
        _dearer(of, ways, there & (days <= left)),
        *(_fewer(of, runs, ways, there, left) for runs in tried),
    ]
    if found[0] is None and found[1] is None:
        found.append(_both(of, ways, there))
    relaxations = least_first(found)
    broken = []
    if days[quickest] > left:
        broken.append(_late(ways, quickest, deadline, wait))
    if usd_[cheapest] > budget:
        over = usd_[cheapest] / budget
        broken.append(
            f"the budget of {usd(budget)}: the cheapest run, on {named_run(ways, cheapest)}, costs"
            f" {usd(float(usd_[cheapest]))}, {over:.3g} times as much"
        )
    if not broken:
        soon = _place(usd_, there & (days <= left))
        broken.append(
            f"deadline and budget together: in {deadline:g} days the cheapest run, on"
            f" {named_run(ways, soon)}, costs {usd(float(usd_[soon]))},"
            f" {usd(float(usd_[soon]) - budget)} more than there is"
        )
    first = relaxations[0] if relaxations else None
    return Part(
        work=work,
        decision="This cannot be done as asked",
        number=f"{' and '.join(broken)}",
        sure=basis(),
        because=f"no cluster that is offered keeps {_asked(of)}.",
        broken=Broken("; ".join(broken), relaxations),
        figures={
            "relaxed": first and first.parameter,
            "relaxed_to": first and first.value,
            "usd": float(usd_[cheapest]),
        },
    )


def _late(ways: Ways, at: int, deadline: float, wait: float) -> str:
    """That even the quickest run is too late, in words; wait : for chips that are bought [d]."""
    days, named = float(ways.days[at]), named_run(ways, at)
    says, lasts = f"the deadline of {deadline:g} days: ", duration(days * DAY_S)
    if wait:
        return f"{says}{arrives()}, and the quickest cluster, {named}, then takes {lasts}"
    over = f"{days / deadline:.3g} times as long"
    return f"{says}the quickest cluster, {named}, takes {lasts}, {over}"


def _asked(of: Workload) -> str:
    limits = [f"{of.deadline_days:g} days"] if of.deadline_days else []
    limits += [usd(of.budget_usd)] if of.budget_usd else []
    return " and ".join(limits) or "what is asked"


@lookup
def nowhere(of: Workload) -> str:
    """Why no run of a training, or of a tuning, is possible."""
    chip = of.accelerator or of.owned
    if of.tunes and chip and chip not in PLATFORMS:
        return (
            f"accelerator = {chip}: a tuning is compared on {', '.join(PLATFORMS)}; cards that"
            " fewer than two providers list are left out"
        )
    if not of.tunes and chip and chip in left_out():
        return f"accelerator = {chip}: no cluster of it is priced, since {left_out()[chip]}"
    if chip:
        return f"the model: no layout of it fits on {chip}"
    return "the model: no layout of it fits on machines of your own that somebody sells"


def _place(values: np.ndarray, allowed: np.ndarray) -> int:
    return int(np.argmin(np.where(allowed, values, np.inf)))


@lookup
def named_run(ways: Ways, at: int) -> str:
    """The chips of a run, in words."""
    row, bought = ways.rows[at], int(ways.bought[at])
    named = f"{row['chips']:,} {row['accelerator']}{' on spot' if row['contract'] == SPOT else ''}"
    return f"{named} ({bought:,} bought)" if bought > row["chips"] else named


@lookup
def sure_days(of: Workload, ways: Ways) -> np.ndarray:
    """Within which time each is done as surely as is asked, with the wait for its chips [d]."""
    return wait_days(of) + ways.days * np.exp(
        NormalDist().inv_cdf(of.deadline_chance) * ways.spread
    )


@lookup
def soonest(days: np.ndarray, cash: np.ndarray, allowed: np.ndarray) -> int:
    """The place of the cheapest of those allowed that take hardly longer than the quickest.

    >>> soonest(np.array([10.0, 10.2, 30.0]), np.array([9.0, 2.0, 1.0]), np.ones(3, bool))
    1
    """
    least = float(np.min(np.where(allowed, days, np.inf)))
    return _place(cash, allowed & (days <= (1 + NEAR) * least))


def _longer(of: Workload, ways: Ways, affordable: np.ndarray) -> Relaxation | None:
    """More time, at the same budget."""
    if not of.deadline_days or not affordable.any():
        return None
    sure = sure_days(of, ways)
    at = soonest(sure, ways.cash, affordable)
    needed = rounded(float(sure[at]), up=True)
    says = (
        f"wait {needed:g} days instead of {of.deadline_days:g}: {named_run(ways, at)} for"
        f" {usd(float(ways.cash[at]))}"
    )
    return more("deadline_days", of.deadline_days, needed, says)


def _dearer(of: Workload, ways: Ways, soon: np.ndarray) -> Relaxation | None:
    """More money, in the same time."""
    if not of.budget_usd or not soon.any():
        return None
    at = _place(ways.cash, soon)
    needed = rounded(float(ways.cash[at]), up=True)
    says = f"spend {usd(needed)} instead of {usd(of.budget_usd)}: {named_run(ways, at)}"
    return more("budget_usd", of.budget_usd, needed, says)


def _fewer(
    of: Workload, runs: Any, ways: Ways, there: np.ndarray, left: float
) -> Relaxation | None:
    """Less work: time and money fall with tokens, a little slower than in proportion, since the
    critical batch falls too.
    """
    if not (of.deadline_days or of.budget_usd):
        return None
    amount, asked = runs.amount, runs.amount.asked
    kept = _clusters(runs, ways, there)

    def fits(tokens: float) -> int | None:
        fewer = runs.every(lambda name, chips: (name, chips) in kept, tokens)
        soon = fewer.days <= left
        at = fewer.best(soon & (fewer.cash <= (of.budget_usd or np.inf)))
        found.update({tokens: (fewer, at)})
        return at

    found: dict[float, tuple[Ways, int | None]] = {}
    low, high = np.log(amount.least), np.log(asked)
    if low > high or fits(amount.least) is None:
        return None
    while high - low > 0.003:
        middle = (low + high) / 2
        low, high = (low, middle) if fits(float(np.exp(middle))) is None else (middle, high)
    tokens = max(float(floor(rounded(float(np.exp(low)), up=False))), amount.least)
    at = fits(tokens)
    return None if at is None else _on_fewer(amount, tokens, named_run(found[tokens][0], at))


def _on_fewer(amount: Any, tokens: float, named: str) -> Relaxation:
    """So much less work, on a run of this name."""
    asked = amount.asked
    says = f"{amount.says.format(count(tokens))} instead of {count(asked)}: {named}"
    value = tokens if amount.parameter == "tokens" else int(tokens)
    return Relaxation(says, amount.parameter, value, asked / tokens - 1)


def _clusters(runs: Any, ways: Ways, allowed: np.ndarray) -> set[tuple[str, int]]:
    """Platforms and sizes of the runs that are allowed under the contract of some."""
    mine = runs.values["contract"]
    rows = (row for row, it in zip(ways.rows, allowed, strict=True) if it)
    return {(row["accelerator"], row["chips"]) for row in rows if row["contract"] == mine}


def _both(of: Workload, ways: Ways, there: np.ndarray) -> Relaxation | None:
    """More time and more money, where neither alone is enough."""
    if not (of.deadline_days and of.budget_usd):
        return None
    cheap = there & (ways.cash <= 1.05 * float(np.min(np.where(there, ways.cash, np.inf))))
    sure = sure_days(of, ways)
    at = _place(sure, cheap)  # hardly dearer than the cheapest, and the quickest of those
    days, cost = (rounded(float(of_all[at]), up=True) for of_all in (sure, ways.cash))
    days, cost = max(days, of.deadline_days), max(cost, of.budget_usd)
    says = f"wait {days:g} days and spend {usd(cost)}: {named_run(ways, at)}"
    share = max(days / of.deadline_days, cost / of.budget_usd) - 1
    return Relaxation(says, "deadline_days", days, share, {"budget_usd": cost})


def unmet(
    work: str,
    says: str,
    because: str,
    relaxations: Iterable[Relaxation | None],
    sure: str,
    **figures: Any,
) -> Part:
    """The part of a plan that cannot be met."""
    found = least_first(relaxations)
    first = found[0] if found else None
    return Part(
        work=work,
        decision="This cannot be done as asked",
        number=says,
        sure=sure,
        because=because,
        broken=Broken(says, found),
        figures={"relaxed": first and first.parameter, "relaxed_to": first and first.value}
        | figures,
    )
