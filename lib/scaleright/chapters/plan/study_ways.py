"""The clusters that could do a study, beside each other: chips that are owned already first, others
rented on demand or on spot beside them, or bought where data may not leave.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from statistics import NormalDist
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from scaleright.catalog import model, remembered
from scaleright.costs import pretraining
from scaleright.costs.break_even import usd_per_hour_to_win
from scaleright.costs.experiment_steps import ExperimentSteps, widths
from scaleright.costs.pretraining_run import kept_share
from scaleright.costs.whole_runs import as_tuned
from scaleright.decisions.ablation_evidence import per_tenfold
from scaleright.decisions.ablation_study import (
    NODE_CHIPS,
    NODES,
    Cluster,
    Decision,
    Desk,
    Range,
    Study,
)
from scaleright.decisions.build_buy import arrival_days
from scaleright.decisions.left_out import unsold
from scaleright.decisions.plan_parts import Asked
from scaleright.decisions.plan_runs import BUY, SPOT, early, read_at, signed, spread_of_luck, to_own
from scaleright.decisions.plan_workload import STAYS, Workload
from scaleright.formulas import lookup, search
from scaleright.information import spread_between
from scaleright.ops import exp, floor, maximum, minimum, sqrt, where
from scaleright.quantity import Table, given
from scaleright.training.layout import training_format
from scaleright.units import figure

# How a plan weighs a study on one cluster, in quantities: the command evaluates them at every
# cluster, and a page at those of its rows


RENT, OWN = "rent", "own"
"""How chips are paid, beside `BUY`."""
FEWEST = 4
"""Variants from which on a study may be parted."""
WIDTHS = ("1 chip", "2 chips", "4 chips", "8 chips", "16 chips")
"""What a run may be put on."""
ON_DEMAND = "on demand"
IDLE = 0.1
"""Share of a cluster's time between jobs, as the chapter has it [1]."""
OWN_NODES = (
    *(chips / NODE_CHIPS for chips in range(1, NODE_CHIPS)),
    *range(1, 17),
    *(20, 24, 28, 32, 40, 48, 56, 64),
)
"""Nodes of chips that are owned already: as rented ones, any few, and a part of one."""
PARTS = (1 / 64, 1 / 32, *(part / 24 for part in range(1, 24)))
"""Shares of the variants that chips that are owned may take beside others."""
NEARLY = 1e-9
"""By how much rounding alone may move a count."""


@lookup
def parted(whole: Any) -> list[Any]:
    """Numbers of variants that owned chips may take of so many, from four on: two at least on
    either side.

    >>> [int(of) for of in parted(96)][:6], parted(8)[-1]
    ([2, 3, 4, 8, 12, 16], 6)
    """
    return [maximum(minimum(floor(whole * share + 0.5), whole - 2), 2.0) for share in PARTS]


@lookup
def idle_share(contract: str, width: str) -> float:
    """Share of a cluster's time in which no run trains [1]; on spot with what a run loses when its
    servers are taken away: it goes on from its last checkpoint.

    >>> idle_share("on demand", "8 chips"), 0.1 < idle_share("spot", "8 chips") < 0.2
    (0.1, True)
    """
    if contract != SPOT:
        return IDLE
    # a server is taken away whole, and stops what runs on a part of it
    case = SimpleNamespace(**pretraining.reliability() | signed(SPOT))
    kept = float(kept_share(case, max(widths()[width], NODE_CHIPS)))
    return figure(1 - (1 - IDLE) * kept, 4)


def _luck(contract: str, width: str) -> float:
    """Standard deviation that interruptions give the logarithm of the time of a run [1]."""
    if contract != SPOT:
        return 0.0
    often = signed(SPOT)["chip_hours_per_interruption"]
    return spread_of_luck(max(widths()[width], NODE_CHIPS), often)


@lookup
@remembered
def pauses() -> Table:
    """By contract and width: `idle` as of `idle_share`, and `luck`, the standard deviation that
    interruptions give the logarithm of the time of a run [1].
    """
    return Table(
        {
            of: {"idle": idle_share(*of), "luck": _luck(*of)}
            for of in product((ON_DEMAND, SPOT), WIDTHS)
        }
    )


@dataclass(frozen=True)
class Weighed:
    """A study on a cluster as a plan weighs it.

    study : as the chapter has it, its hours of owned chips with their purchase
    usd, cash : what it costs, of owned chips what running them does and of bought ones the part of
        their life; what a budget has to pay [USD]; NaN where there is none
    days, waiting : how long it takes [d], and what people cost who wait for it [USD]
    spread : standard deviation of the logarithm of its time [1]
    seen : whether the fit has seen its architecture, or its chips are there already
    bought, fixed : chips that are bought for it [1], and what these cost [USD]
    """

    study: Study
    usd: Any
    cash: Any
    days: Any
    waiting: Any
    spread: Any
    seen: Any
    bought: Any
    fixed: Any

    @classmethod
    def of(cls, on: Study, accelerator_name: Any, paid: Any, luck: Any, tuning: Any) -> Self:
        """That of a study on an accelerator.

        paid : `RENT`, on demand or on spot, `OWN`, what is there already, or `BUY`
        luck, tuning : as of `pauses`; as of `as_tuned`
        """
        chip, trust = to_own(accelerator_name), on.step.trust
        quick = minimum(trust["error_low"], as_tuned(tuning, lambda runs: runs.low))
        slow = maximum(trust["error_high"], as_tuned(tuning, lambda runs: runs.high))
        pace, buys, waiting = spread_between(quick, slow), paid == BUY, on.cost.waiting_usd
        bought = where(buys, chip.bought(on.chips - NEARLY), 0.0)
        share = where(buys, bought / on.chips, where(paid == OWN, chip.running, 1.0))
        usd = where((paid == RENT) | on.hour.owned, on.usd - waiting, float("nan"))
        usd, fixed = usd * share + waiting, where(buys, bought * chip.price, 0.0)
        seen = trust.seen | (paid == OWN)
        cash, spread = maximum(fixed + waiting, usd), sqrt(pace**2 + luck**2)
        return cls(on, usd, cash, on.days, waiting, spread, seen, bought, fixed)

    def wait_days(self, late: Any) -> Any:
        """Days until chips are there that are bought [d], by so many standard deviations."""
        return where(self.bought > 0, arrival_days(late), 0.0)

    def sure_days(self, late: Any) -> Any:
        """How long it takes [d], later than in the middle by so many standard deviations."""
        return self.wait_days(late) + self.days * exp(late * self.spread)

    def share_within(self, late: Any, deadline_days: Any, budget_usd: Any) -> Any:
        """How much of the work of each run keeps the limits [1]: time and hours go with it; below 0
        where nothing does.
        """
        time = (deadline_days - self.wait_days(late)) / (self.days * exp(late * self.spread))
        waits = (budget_usd - self.fixed) / maximum(self.waiting, NEARLY)
        return minimum(time, minimum(budget_usd / self.usd, waits))

    def variants_within(self, share: Any, seeds: Any, failed: Any) -> Any:
        """How many variants that share of the time and of the hours is enough for, in whole waves
        [1].
        """
        study = self.study
        runs = floor(maximum(share, 0.0) * study.turns + NEARLY) * study.places
        return floor(runs * (1 - failed) / seeds + NEARLY)


LONGEST_DAYS = 365.0
"""The longest deadline that the chapter takes [d]."""
FREE = 1e12
"""A deadline [d], or a budget [USD], that binds nothing."""
TARGET = "OLMo-2-7B"
"""The large model that a study is for."""
USUAL: Mapping[str, Any] = {
    "halvings": 0,
    "survive": 0.5,
    "after_a_cut": "continue",
    "contract": ON_DEMAND,
    "rest_of_term": "used by others",
    "seller": "median",
    "failed": 0.05,
    "evaluation": 0.05,
    "loading": 0.02,
    "idle": IDLE,
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
SAID = ("halvings", "contract", "seller", "idle", "target", "target_tokens")
"""Those of them that a question to the chapter repeats."""


@dataclass(frozen=True)
class Question:
    """A study as quantities of a case.

    of, values : the workload, and the parameters of the chapter
    on : the study on the case's `nodes` of its accelerator; mine : on those that the chapter takes
    weighed : the first, as a plan weighs it; share, fewer : as of `Clusters`
    span, decision : where the bill of the first may lie; what the study decides
    steps, names : of the runs, and the platforms of which they are known
    """

    of: Workload
    values: Mapping[str, Any]
    on: Study
    weighed: Weighed
    share: Any
    fewer: Any
    mine: Cluster
    span: Range
    decision: Decision
    names: tuple[str, ...]

    @classmethod
    def of_study(cls, of: Workload, name: str, tokens: float) -> Self:
        """That of a workload on a model and so many tokens a run."""
        values = {"model": name, "tokens": float(tokens), "variants": of.variants}
        values |= {"precision": training_format(model(name), of.precision), "tuning": of.tuning}
        values |= {"seeds": of.seeds, "budget_usd": of.budget_usd or 1e8}
        values |= {"deadline_days": min(of.deadline_days or LONGEST_DAYS, LONGEST_DAYS)}
        steps = ExperimentSteps.of([name], [TARGET])
        more = {"accelerator": "H100 SXM", "run_on": "8 chips", "rent_usd_per_hour": 0.0}
        more |= {"paid": RENT, "way": RENT, "nodes": 1.0}
        more |= {"pay_usd_per_year": pretraining.project()["pay_usd_per_year"]}
        more |= {"misordered_per_tenfold": per_tenfold().best}
        every = {**values, **USUAL, **more}
        case = SimpleNamespace(**{name: given(name, it) for name, it in every.items()})
        desk = Desk.of(case, steps)
        on = desk.on(case.accelerator, case.nodes)
        luck = pauses().row(case.contract, case.run_on).luck
        weighed = Weighed.of(on, case.accelerator, case.way, luck, case.tuning)
        late = NormalDist().inv_cdf(of.deadline_chance)
        limits = of.deadline_days or FREE, of.budget_usd or FREE
        share = weighed.share_within(late, *limits)
        fewer = weighed.variants_within(share, case.seeds, case.failed)
        mine = desk.in_time(case.accelerator)
        span = Range.of(desk, case.accelerator, case.nodes, on)
        decision = Decision.of(case, steps, on.usd, desk.plan.started)
        return cls(of, values, on, weighed, share, fewer, mine, span, decision, steps.names)

    @property
    def whole(self) -> int:
        """The variants of the whole study."""
        return int(self.values["variants"])

    @property
    def owned(self) -> str:
        """The chips that are owned already and may be used, "" if none are."""
        of, name = self.of, self.of.owned or ""
        there = of.owned_chips > 0 and name in self.names
        return name if there and of.accelerator in {None, name} else ""


@dataclass(frozen=True)
class Clusters:
    """Clusters for some of the variants, a row each.

    rows : parameters of the chapter, and `nodes`
    usd, cash : what it costs, of owned chips what running them does and of bought ones the part of
        their life; what a budget has to pay [USD]; NaN where there is none
    days, waiting : how long it takes [d], and what people cost who wait for it [USD]
    spread : standard deviation of the logarithm of its time [1]
    seen, bought : whether the fit has seen its architecture; chips that are bought for it [1]
    share, fewer : how much of the work of each run keeps the limits, and how many variants do [1]
    """

    rows: Sequence[Mapping[str, Any]]
    usd: np.ndarray
    cash: np.ndarray
    days: np.ndarray
    waiting: np.ndarray
    spread: np.ndarray
    seen: np.ndarray
    bought: np.ndarray
    share: np.ndarray
    fewer: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    def sure_days(self, late: float) -> np.ndarray:
        """How long each takes [d], later than in the middle by so many standard deviations."""
        wait = np.where(self.bought > 0, arrival_days(late), 0.0)
        return wait + self.days * np.exp(late * self.spread)


@lookup
def clusters(
    question: Question,
    paid: str,
    chips: Iterable[str],
    nodes: Iterable[float],
    parts: Iterable,
    rent_usd_per_hour: float = 0.0,
) -> Clusters:
    """Clusters of so many nodes of some chips, for each number of variants.

    paid : "rent", on demand or on spot; "own", what is there already; `BUY`
    rent_usd_per_hour : a price of theirs on spot alone, such as where nobody lists it, 0 for what
        is listed [USD/h]
    """
    contracts = (ON_DEMAND, SPOT) if paid == RENT else (ON_DEMAND,)
    contracts = (SPOT,) if rent_usd_per_hour else contracts
    rows: list[dict[str, Any]] = [
        {"accelerator": chip, "run_on": width, "contract": contract, "nodes": float(many)}
        | {"variants": part, "idle": idle_share(contract, width)}
        | {"paid": RENT if paid == RENT else OWN}
        for chip, width, contract, many, part in product(chips, WIDTHS, contracts, nodes, parts)
        if many * NODE_CHIPS >= widths()[width]
    ]
    of, wanted = question.weighed, {}
    for name in ("usd", "cash", "days", "waiting", "spread", "seen", "bought"):
        wanted[name] = getattr(of, name)
    wanted |= {"share": question.share, "fewer": question.fewer}
    case = {name: np.array([row[name] for row in rows]) for name in (rows[0] if rows else ())}
    case |= {"way": paid, "rent_usd_per_hour": rent_usd_per_hour}
    found = read_at(wanted, case) if rows else dict.fromkeys(wanted, np.array([]))
    at = {name: np.broadcast_to(of, (len(rows),)) for name, of in found.items()}
    return Clusters(rows, **at | {"seen": at["seen"].astype(bool)})


@dataclass(frozen=True)
class Options:
    """Whole studies beside each other: on chips that are owned, on others, or on both at once.

    own, other : the clusters of either kind; first, second : the row of each, -1 for none
    usd, cash, days : of the whole, as of `Clusters`: half a person waits for each part
    allowed : of platforms whose architecture the fit has seen, if there is one
    """

    own: Clusters
    other: Clusters
    first: np.ndarray
    second: np.ndarray
    usd: np.ndarray
    cash: np.ndarray
    days: np.ndarray
    allowed: np.ndarray

    @classmethod
    def of(cls, question: Question, mixed: bool = True) -> Self:
        """Those of a study; with chips that are owned and others at once if they may be mixed."""
        of, whole, mine = question.of, question.whole, question.owned
        chips = [it for it in question.names if of.accelerator in {None, it}]
        many = [it for it in OWN_NODES if it * NODE_CHIPS <= of.owned_chips] if mine else []
        mixed = bool(mixed and mine and whole >= FEWEST)
        parts = [whole, *(dict.fromkeys(map(int, parted(whole))) if mixed else ())]
        own = clusters(question, OWN, [mine] if mine else [], many, parts)
        paid = BUY if of.data == STAYS else RENT
        rest = [whole, *(whole - part for part in parts[1:])]
        other = clusters(question, paid, chips, NODES, dict.fromkeys(rest))
        first, second = _pairs(of, own, other, whole)

        def of_both(name: str, none: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
            return _at(getattr(own, name), first, none), _at(getattr(other, name), second, none)

        usd, cash = (np.add(*of_both(name)) for name in ("usd", "cash"))
        there = usd > 0
        seen = there & np.logical_and(*of_both("seen", 1.0))
        allowed = seen if seen.any() else there
        return cls(own, other, first, second, usd, cash, np.maximum(*of_both("days")), allowed)

    def alone(self, name: str) -> np.ndarray:
        """Something of `Clusters` for those on chips of one kind; of the second for others."""
        mine = _at(getattr(self.own, name), self.first, np.nan)
        return np.where(self.second < 0, mine, _at(getattr(self.other, name), self.second, np.nan))

    def sure_days(self, chance: float) -> np.ndarray:
        """Within which time each part of each is done with so much certainty [d]."""
        late = NormalDist().inv_cdf(chance)
        mine, its = self.own.sure_days(late), self.other.sure_days(late)
        return np.maximum(_at(mine, self.first, 0.0), _at(its, self.second, 0.0))

    def early(self, deadline_days: float) -> np.ndarray:
        """By how many standard deviations the less sure part of each is early [1]."""
        mine, its = (
            early(of.days, of.spread, deadline_days, of.bought > 0) for of in (self.own, self.other)
        )
        return np.minimum(_at(mine, self.first, np.inf), _at(its, self.second, np.inf))

    @property
    def bought(self) -> np.ndarray:
        """Whether chips are bought for it [truth value]."""
        return _at(self.other.bought, self.second, 0.0) > 0

    def within(self, of: Workload) -> np.ndarray:
        """Those within the deadline, as surely as is asked, and the budget."""
        late = self.sure_days(of.deadline_chance) > (of.deadline_days or np.inf)
        return self.allowed & ~late & (self.cash <= (of.budget_usd or np.inf))

    def cheapest(self, of: Workload, allowed: np.ndarray) -> int:
        """The place of the cheapest of those allowed: by what has to be paid where chips would have
        to be bought, which nobody does for a study alone; -1 where none is.
        """
        return self.best(allowed, self.cash if of.data == STAYS else self.usd)

    def best(self, allowed: np.ndarray, values: np.ndarray) -> int:
        """The place of the least of those allowed; of equals, that which takes fewer kinds of
        chips, by name; -1 where none is.
        """
        places = np.flatnonzero(allowed)
        if not len(places):
            return -1
        least = figure(float(np.min(values[places])), 5)
        near = places[values[places] <= least * 1.0001]
        key = {
            int(n): (figure(float(values[n]), 5), figure(float(self.usd[n]), 5), *self._named(n))
            for n in near
        }
        return min(key, key=key.__getitem__)

    def _named(self, at: int) -> tuple[Any, ...]:
        pieces = self.pieces(at)
        return len(pieces), *(str(of) for _, row in pieces for of in row.values())

    def pieces(self, at: int) -> list[tuple[str, Mapping[str, Any]]]:
        """What a study is made of: how each part is paid, "own", "rent" or `BUY`, and its row."""
        first, second = int(self.first[at]), int(self.second[at])
        found = [("own", self.own.rows[first])] if first >= 0 else []
        if second >= 0:
            bought = self.other.bought[second] > 0
            found.append((BUY if bought else "rent", self.other.rows[second]))
        return found


def _at(values: np.ndarray, places: np.ndarray, none: float) -> np.ndarray:
    """Values at places, of which -1 stands for none."""
    return np.append(values, none)[places]


def _pairs(
    of: Workload, own: Clusters, other: Clusters, whole: int
) -> tuple[np.ndarray, np.ndarray]:
    """First and second row of every study: alone, then together where they add up to the whole. For
    each part that owned chips may take, the cheapest in time, the cheapest, and the quickest of
    either kind: as their costs add, no others do it for less.
    """
    mine, its = (np.array([row["variants"] for row in it.rows], int) for it in (own, other))
    alone, beside = (np.flatnonzero(part == whole) for part in (mine, its))
    pairs = [(int(at), -1) for at in alone] + [(-1, int(at)) for at in beside]
    late, soon = NormalDist().inv_cdf(of.deadline_chance), of.deadline_days or FREE
    price = other.cash if of.data == STAYS else other.usd
    in_time = own.sure_days(late) <= soon, other.sure_days(late) <= soon
    for part in sorted(set(mine) - {whole}):
        here = (mine == part) & (own.usd > 0)
        there = (its == whole - part) & (other.usd > 0) & other.seen
        for (one, another), costs in (
            ((here & in_time[0], there & in_time[1]), (own.usd, price)),
            ((here, there), (own.usd, price)),
            ((here, there), (own.days, other.days)),
        ):
            if one.any() and another.any():
                least = (np.where(*it, np.inf) for it in ((one, costs[0]), (another, costs[1])))
                mine_at, its_at = (int(np.argmin(it)) for it in least)
                pairs.append((mine_at, its_at))
    first, second = np.array(pairs, int).reshape(-1, 2).T
    return first, second


@dataclass(frozen=True)
class Found:
    """What a plan of a study rests on.

    options, place : all of them beside each other, and the one that is taken
    parts : of that, how each is paid, its row, and what it gives, by name
    """

    of: Workload
    question: Question
    options: Options
    place: int
    parts: Sequence[tuple[str, Mapping[str, Any], Mapping[str, float]]]

    @classmethod
    def at(cls, question: Question, options: Options, place: int) -> Self:
        """That of one of the options."""
        of, parts, late = question.of, [], NormalDist().inv_cdf(question.of.deadline_chance)
        for paid, row in options.pieces(place):
            if of.deadline_days:
                wait = arrival_days(late) if paid == BUY else 0.0
                clusters_, at = (
                    (options.own, options.first) if paid == OWN else (options.other, options.second)
                )
                soon = float(np.exp(-late * clusters_.spread[at[place]]))
                days = figure(min((of.deadline_days - wait) * soon, LONGEST_DAYS), 6)
                row = {**row, "deadline_days": days}
            now = read_at(_wanted(question), row)
            parts.append((paid, row, {name: float(it) for name, it in now.items()}))
        return cls(of, question, options, place, parts)

    @property
    def row(self) -> Mapping[str, Any]:
        """The case of the part that is taken beside owned chips, or the only one."""
        return self.parts[-1][1]

    @property
    def own(self) -> bool:
        """Whether that is of chips of one's own."""
        return self.parts[-1][0] != "rent"

    @property
    def usd(self) -> float:
        """What it costs [USD]."""
        return float(self.options.usd[self.place])

    @property
    def bought(self) -> bool:
        """Whether chips are bought for it."""
        return self.parts[-1][0] == BUY

    @property
    def owned_chips(self) -> float:
        """How many of the chips that are owned already it uses [1]."""
        return sum(now["chips"] for paid, _, now in self.parts if paid == "own")

    @property
    def ends(self) -> tuple[float, float]:
        """Low and high end of what it costs, nine of ten [USD]: those of its parts together."""
        low, high = (sum(now[end] for *_, now in self.parts) for end in ("low", "high"))
        whole = self.usd / sum(now["usd"] for *_, now in self.parts)
        return low * whole, high * whole

    @cached_property
    def unsold(self) -> tuple[Mapping[str, Any], float] | None:
        """The study in time on spot, which nobody lists for its chip, that would win at the highest
        price of an hour, and that price [USD/h]; None where there is none.
        """
        of, question = self.of, self.question
        names = unsold(SPOT, question.names)
        if of.accelerator or of.data == STAYS or not names:
            return None
        every = clusters(question, RENT, names, NODES, [question.whole], 1.0)
        late = NormalDist().inv_cdf(of.deadline_chance)
        soon = every.sure_days(late) <= (of.deadline_days or np.inf)
        hours = every.usd - every.waiting
        price = usd_per_hour_to_win(self.usd, hours, every.waiting)
        price = np.where(every.seen & soon & (hours > 0), price, 0.0)
        at = int(np.argmax(price))
        return (every.rows[at], float(price[at])) if price[at] > 0 else None

    def now(self, name: str) -> float:
        """What that part gives."""
        return float(self.parts[-1][2][name])

    def changed(self, row: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
        """A change as it is of a row: on spot idle time holds what is lost there too."""
        if row["contract"] != SPOT or "idle" not in change:
            return dict(change)
        kept = (1 - row["idle"]) / (1 - USUAL["idle"])
        return {**change, "idle": figure(1 - (1 - change["idle"]) * kept, 4)}

    def bill(self, **change: Any) -> float:
        """What all of it costs with something changed, as the chapter bills hours [USD]: the rented
        part on the cluster that is best then.
        """
        usd = 0.0
        for paid, row, _ in self.parts:
            study = self.question.mine.study if paid == "rent" else self.question.on
            case = {**row, **self.changed(row, change)}
            usd += float(read_at({"usd": study.usd}, case)["usd"])
        return usd

    def asked(self, figures: Mapping[str, float], **other: Any) -> list[Asked]:
        """The question to the chapter, which takes as many nodes as are cheapest in time: none
        where the plan has others, such as those that are owned.
        """
        paid, row, _ = self.parts[-1]
        nodes = float(read_at({"nodes": self.question.mine.study.nodes}, row)["nodes"])
        if nodes != row["nodes"] or not 0.5 <= row.get("deadline_days", 1.0) <= LONGEST_DAYS:
            return []
        case = {name: USUAL[name] for name in SAID} | {**self.question.values, **row, **other}
        if paid != "rent":
            case = {name: of for name, of in case.items() if name not in {"contract", "seller"}}
        return [Asked("ablation_cost", {n: of for n, of in case.items() if n != "nodes"}, figures)]


def _wanted(question: Question) -> dict[str, Any]:
    on, decision = question.on, question.decision
    return {
        "usd": on.usd,
        "days": on.days,
        "chips": on.chips,
        "hours": on.hours.total,
        "hour_usd": on.hour.total,
        "run_hours": on.run_hours,
        "places": on.places,
        "quickest": question.mine.quickest,
        "low": question.span.low_usd,
        "high": question.span.high_usd,
        "right": decision.right,
        "power": decision.power,
        "needed": decision.needed,
    }


@search
def options_of(
    of: Workload, name: str, tokens: float, mixed: bool = True
) -> tuple[Question, Options, int]:
    """A study, all ways to do it, and the place of the one that is taken: the cheapest within the
    limits, -1 where none is; `mixed` as of `Options`.
    """
    question = Question.of_study(of, name, tokens)
    options = Options.of(question, mixed)
    return question, options, options.cheapest(of, options.within(of))
