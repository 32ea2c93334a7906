"""A pretraining run on so many chips of a platform, as a case pays for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple, Self

import pandas as pd

from scaleright.catalog import fact, table
from scaleright.costs.fastest_steps import SIZES, Step
from scaleright.costs.platform_terms import rents, terms
from scaleright.costs.platforms import goodput
from scaleright.costs.pretraining import (
    PROJECT,
    RELIABILITY,
    ChipHours,
    PretrainingCost,
    project,
    reliability,
    run_days,
)
from scaleright.costs.whole_runs import TYPICAL, as_tuned
from scaleright.formulas import lookup
from scaleright.market import PaidHour, taken_accelerator, unfixed, yearly_drift
from scaleright.ops import first_case, maximum, minimum, where
from scaleright.quantity import Quantity, at, choose, given, least
from scaleright.quantity.rows import Row
from scaleright.ranges import Ends, interval_of
from scaleright.units import SECONDS_PER_HOUR


@dataclass(frozen=True)
class Hour:
    """An hour of one chip [USD/h].

    usd, power_usd : rent, or what an owned chip costs without power; its power
    rented : what it is rented for, whether it is or not
    owned : whether it is one's own: what nobody sells is rented
    loose : whether its rent may be another when the run is made
    prices : of an owned one, a row of `platform_terms.terms`
    """

    usd: Any
    power_usd: Any
    rented: PaidHour
    owned: Any
    loose: Any
    prices: Row

    @classmethod
    def of(cls, case: Any, accelerator_name: Any) -> Self:
        """As a case pays for its chips, at its own rent if the accelerator is the case's.

        case : quantities `accelerator`, `paid`, `contract`, `seller` and `rent_usd_per_hour`, 0 for
            the price as it is listed
        """
        prices, own = choose(terms(), accelerator_name), case.paid == "own"
        owned = own & (prices.owned > 0)
        mine = where(accelerator_name == case.accelerator, case.rent_usd_per_hour, 0.0)
        rented = rents().paid(accelerator_name, case.contract, case.seller, mine)
        usd, power = where(owned, prices.owned, rented.usd), where(owned, prices.power, 0.0)
        return cls(usd, power, rented, owned, unfixed(case.contract, mine), prices)

    @property
    def there(self) -> Any:
        """Whether it has a price."""
        return self.owned | self.rented.there

    @property
    def ends(self) -> tuple[Any, Any]:
        """The ends of its price over the price [1]: of a rent those of the year ahead, unless a
        contract or the reader fixes it.
        """
        low, high = yearly_drift().mean_over(1.0)
        return (
            where(self.owned, self.prices.owned_low / self.usd, where(self.loose, low, 1.0)),
            where(self.owned, self.prices.owned_high / self.usd, where(self.loose, high, 1.0)),
        )

    def at(self, price: Any) -> dict[str, Any]:
        """What `pretraining_usd` takes of it, where all costs so many times as much."""
        return {"usd_per_hour": self.usd * price, "power_usd_per_hour": self.power_usd * price}

    @property
    def total(self) -> Any:
        """With power [USD/h]."""
        return self.usd + self.power_usd


@dataclass(frozen=True)
class Paid:
    """Work on so many chips: its step, an hour of a chip, chip-hours and dollars."""

    chips: Any
    step: Any
    hour: Hour
    hours: Any
    cost: Any

    @property
    def done(self) -> Any:
        """Whether it gets done: it fits there, and what stops it leaves it time."""
        return self.hours.total > 0


@dataclass(frozen=True)
class Run(Paid):
    """A run on so many chips."""

    step: Step
    hours: ChipHours
    cost: PretrainingCost

    @property
    def usd(self) -> Any:
        """The run alone, without experiments and people [USD]."""
        return self.cost.run_usd

    @property
    def days(self) -> Any:
        """How long it takes [d]."""
        return run_days(self.hours.total, self.chips)

    @property
    def least_days(self) -> Any:
        """What steps in the fastest layout alone take, if nothing stops them: a bound [d]."""
        return run_days(self.hours.least, self.chips)

    @property
    def least_usd(self) -> Any:
        """What these cost [USD]."""
        return self.hours.least * self.hour_usd

    @property
    def hour_usd(self) -> Any:
        """What an hour of a chip costs, with its power [USD/h]."""
        return self.usd / self.hours.total


class Cheapest(NamedTuple):
    """The cheapest of several runs: the platform, what the run costs [USD], and of how many that
    get done at a price [1].
    """

    platform: Any
    usd: Any
    many: Any

    @classmethod
    def of(cls, usd: Mapping[str, Any], after: Any = None) -> Self:
        """That of what runs cost by platform; no platform ("") and NaN where none gets done.

        after : a platform to leave out, such as the cheapest of all
        """
        return cls(*least(usd, after), sum(where(of > 0, 1, 0) for of in usd.values()))

    def taken(self, asked: Any, runs: Mapping[str, Any]) -> SimpleNamespace:
        """A case on the accelerator that it names, or if it asks for the cheapest on that."""
        name = taken_accelerator(asked.accelerator, self.platform, next(iter(runs)))
        return SimpleNamespace(**vars(asked) | {"accelerator": name})


@lookup
def cheapest(runs: Mapping[str, Run], seen: bool = True, after: Any = None) -> Cheapest:
    """The cheapest of runs by platform, of those whose architecture the fit has seen, or else of
    all others; no platform ("") and NaN where none gets done.

    after : a platform to leave out, such as the cheapest of all
    """
    none = float("nan")

    def counted(run: Run) -> Any:
        here, there = (run.usd, none) if seen else (none, run.usd)
        return where(run.step.trust.seen, here, there)

    return Cheapest.of({name: counted(run) for name, run in runs.items()}, after)


# What nobody knows of a pretraining run, between ends that tables and published runs give:
# prices, the time of real runs, failures, experiments and people


FRAGILE = {"chip_hours_per_interruption": "low", "checkpoint_stall_s": "high", "restart_s": "high"}
"""The ends at which everything interrupts a run more than it is thought to."""


LEAST_KEPT = 0.01
"""A job that keeps less of its time than this gets nothing done [1]."""


@lookup
def kept_share(case: Any, chips: Any, luck: Any = "usual", checkpoint_interval_s: Any = 0.0) -> Any:
    """Goodput of a case on so many chips [1]; NaN below `LEAST_KEPT`.

    luck : "usual", as the case says; "worse" or "better" where each of `RELIABILITY` lies as far
        from that as the end of its table from the usual
    checkpoint_interval_s : work between two checkpoints [s]; 0 for as often as is best
    """
    often = {"checkpoint_interval_s": checkpoint_interval_s}

    def kept(ends: Mapping[str, str]) -> Any:
        by = {name: reliability(end)[name] / reliability()[name] for name, end in ends.items()}
        given = {name: getattr(case, name) for name in RELIABILITY}
        moved = {name: given[name] * of for name, of in by.items()}
        return goodput(chips, **given | moved, **often)

    if isinstance(luck, str):
        share = kept({})
        return where(share >= LEAST_KEPT, share, float("nan"))
    robust = {name: "high" if end == "low" else "low" for name, end in FRAGILE.items()}
    ends = [(luck == "worse", kept(FRAGILE)), (luck == "better", kept(robust))]
    share = first_case(ends, kept({}))
    return where(share >= LEAST_KEPT, share, float("nan"))


@lookup
def lasts(chips: int, chip_hours_per_interruption: float) -> bool:
    """Whether a job on so many chips keeps `LEAST_KEPT` of its time even if all that interrupts it
    lies at the fragile end of its table, as far from what is given as that from the usual.

    >>> lasts(64, 191.0), lasts(4096, 191.0)
    (True, False)
    """
    usual = reliability()
    given = usual | {"chip_hours_per_interruption": chip_hours_per_interruption}
    moved = {
        name: reliability(end)[name] / usual[name] * given[name] for name, end in FRAGILE.items()
    }
    return bool(goodput(chips, **given | moved) >= LEAST_KEPT)


@lookup
def require_kept(chips: int, *failures: float | None) -> None:
    """Refuse a job that is interrupted so often that it gets nothing done.

    failures : each of `RELIABILITY`, None for the usual

    Raises
    ------
    ValueError : it keeps less than `LEAST_KEPT` of its time; the most chips offered that keep more
        are named.

    >>> require_kept(16384, 655.0, None, 7200.0)
    Traceback (most recent call last):
        ...
    ValueError: interrupted every 2.4 minutes it keeps less than 1 % of its time, 1024 chips more
    """
    named = zip(RELIABILITY, failures, strict=True)
    case = reliability() | {name: value for name, value in named if value is not None}
    if goodput(chips, **case) >= LEAST_KEPT:
        return
    minutes = case["chip_hours_per_interruption"] / chips * 60
    held = [size for size in SIZES if size < chips and goodput(size, **case) >= LEAST_KEPT]
    instead = f", {max(held)} chips more" if held else ""
    raise ValueError(
        f"interrupted every {minutes:.2g} minutes it keeps less than {100 * LEAST_KEPT:g} % of its"
        f" time{instead}"
    )


USUAL = {"price": 1.0, "pace": 1.0, "luck": "usual"}
"""Price of an hour and time of a run over what they are thought to be [1]; luck, see `kept_share`.
"""


@dataclass(frozen=True)
class Spread:
    """Where a run may lie: low and high end of what it costs, nine of ten [USD]."""

    low_usd: Any
    high_usd: Any


@dataclass(frozen=True)
class Doubts:
    """What moves a run: price of an hour, time of real runs, failures.

    free : each of `USUAL` as an input of its own
    ends : between which each moves, by what it is called
    """

    free: Mapping[str, Any]
    ends: Mapping[str, Ends]

    @classmethod
    def of(cls, run: Run, tuning: Any = TYPICAL) -> Self:
        """Those of a run: prices of its platform, how far whole runs so well tuned and its step
        were from what was predicted, the wider of the two, and failures as the tables have them.
        """
        free = {name: given(name, value) for name, value in USUAL.items()}
        trusted = run.step.trust
        quick = minimum(trusted["error_low"], as_tuned(tuning, lambda runs: runs.low))
        slow = maximum(trusted["error_high"], as_tuned(tuning, lambda runs: runs.high))
        ends = {
            "price of an hour": Ends(free["price"], *run.hour.ends),
            "time of real runs": Ends(free["pace"], quick, slow),
            "failures": Ends(free["luck"], "worse", "better"),
        }
        return cls(free, ends)

    def range_of(self, usd: Quantity, others: Iterable[Ends] = ()) -> tuple[Quantity, Quantity]:
        """Low and high end of what a run that is `free` costs, nine of ten [USD].

        others : what moves it beside these doubts
        """
        low, high = interval_of(usd, [*self.ends.values(), *others])
        return at(low, **USUAL), at(high, **USUAL)

    def spread(self, moving: Run) -> Spread:
        """Where a run may lie that is `free`."""
        return Spread(*self.range_of(moving.usd))


@lookup
def ends_of_project(case: Any) -> list[Ends]:
    """A case's experiments, people and pay between the ends of their tables, each as far from the
    case's as those are from the usual.
    """
    low, best, high = map(project, ("low", "best", "high"))

    def ends(name: str) -> Ends:
        given = getattr(case, name)
        return Ends(given, given * (low[name] / best[name]), given * (high[name] / best[name]))

    return [ends(name) for name in PROJECT]


@dataclass(frozen=True)
class Stops:
    """What stopped a cluster, and what it kept: interruptions, chips, days, chip-hours and seconds
    between interruptions, goodput by the formula and as reported [1].
    """

    interruptions: float
    chips: float
    days: float
    chip_hours: float
    each_s: float
    kept: float
    reported: float


@lookup
def stops_of_llama_3() -> Stops:
    """How often the cluster that trained Llama 3 stopped.

    >>> round(stops_of_llama_3().each_s / 3600, 1)
    3.1
    """
    chips, usual = fact("llama3_snapshot_chips"), reliability()
    between = usual["chip_hours_per_interruption"]
    return Stops(
        interruptions=fact("llama3_unexpected_interruptions"),
        chips=chips,
        days=fact("llama3_snapshot_days"),
        chip_hours=between,
        each_s=SECONDS_PER_HOUR * between / chips,
        kept=goodput(chips, **usual),
        reported=fact("llama3_effective_training_time") / 100,
    )


@lookup
def factors() -> pd.DataFrame:
    """What the tables hold on failures, experiments and people, a row each, in words."""
    rows = table("cost_factors")
    rows = rows[rows["factor"].isin([*PROJECT.values(), *RELIABILITY])]
    rows = rows[["factor", "low", "typical", "high", "unit", "note"]]
    return rows.replace("_", " ", regex=True)
