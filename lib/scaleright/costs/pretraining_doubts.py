"""What nobody knows of a pretraining run, between ends that tables and published runs give: prices,
the time of real runs, failures, experiments and people.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import pandas as pd

from scaleright.catalog import fact, table
from scaleright.costs.clusters import goodput
from scaleright.costs.fastest_steps import SIZES
from scaleright.costs.pretraining import PROJECT, RELIABILITY, project, reliability
from scaleright.costs.pretraining_run import Run
from scaleright.costs.whole_runs import TYPICAL, as_tuned
from scaleright.formulas import lookup
from scaleright.ops import first_case, maximum, minimum, where
from scaleright.quantity import Quantity, at, given
from scaleright.ranges import Ends, interval_of
from scaleright.units import SECONDS_PER_HOUR

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
