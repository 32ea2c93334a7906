"""The best runs of MLPerf Training as quantities: those with the least of something, rent under a
contract that is chosen among it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import nan
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd

from scaleright.catalog import remembered
from scaleright.formulas import lookup
from scaleright.market import Hours, PaidHour, unfixed, yearly_drift
from scaleright.mlperf.records import record
from scaleright.mlperf.training import benchmark_results, run_cost_usd, training_results
from scaleright.ops import where
from scaleright.power import draw
from scaleright.quantity import Table, least
from scaleright.quantity.rows import Row

LEAST = MappingProxyType(
    {"time": "time_to_train_s", "chip-hours": "chip_hours", "energy": "chips_kwh"}
)
"""What a run may take the least of, and its column of `training_results`."""
RENT = "rent"
"""What else it may: that follows who is paid, and how."""
MEASURES = ("time", "chip-hours", RENT, "energy")
ALL_ROUNDS = "all"
ABSENT = "nobody ran it in this round"


def _row(run: pd.Series) -> dict[str, Any]:
    """A run as a row of `best_runs`."""
    lent, name = run["priced_as"], run["accelerator"]
    powered = run["watts"] > 0
    return {
        "seconds": float(run["time_to_train_s"]),
        "chips": int(run["accelerators"]),
        "chip": name,
        "watts": run["watts"],
        "drawn_watts": draw(name, "training").busy_watts if powered else nan,
        "submitter": run["submitter"],
        "round": run["round"],
        "priced_as": lent if isinstance(lent, str) else "",
    }


@remembered
def best_runs() -> Mapping[tuple[str, str, str], Mapping[str, Any]]:
    """The `record` of each benchmark, round (or all) and measure of `LEAST`, and of each chip that
    somebody rents out the run with the fewest chip-hours: seconds, chips, chip, watts (power limit)
    and drawn_watts (in training, with its share of server and network, see `power.draw`) [W],
    submitter, round, priced_as (whose rent is its).

    >>> best_runs()["GPT-3 175B", "all", "time"]["chips"]
    11616
    """
    found = {}
    for title, rows in training_results().groupby("title"):
        for name in (ALL_ROUNDS, *sorted(rows["round"].unique())):
            in_round = None if name == ALL_ROUNDS else name
            for measure, column in LEAST.items():
                found[title, name, measure] = _row(record(title, in_round, column))
            runs = benchmark_results(title, in_round).sort_values("chip_hours", kind="stable")
            runs = runs[runs["priced_as"] == runs["accelerator"]]  # what is lent decides nothing
            for _, run in runs.drop_duplicates("accelerator").iterrows():
                found[title, name, run["accelerator"]] = _row(run)
    return found


class Spent(NamedTuple):
    """What a run took; energy, a bound, is of the chips alone.

    chip_hours : [h]
    rent, rent_low, rent_high : at the price of the hour, and at its ends in the year ahead [USD]
    energy, meter_kwh : of the chips at their power limits, and at the meter [kWh]
    """

    chip_hours: Any
    rent: Any
    rent_low: Any
    rent_high: Any
    energy: Any
    meter_kwh: Any


@dataclass(frozen=True)
class Best:
    """The best run of a case of quantities.

    asked : whether anybody ran the benchmark in the round that is asked for [truth value]
    shown : that round, or all where nobody did
    measure : what runs are compared in, the one that is asked for, or time where none has a rent
    run : a row of `best_runs`
    hour : what an hour of its chip costs
    why : why there is no such run with a rent, in words; empty where there is one
    instead : that all sellers count, since the one asked for does not rent it out; else empty
    """

    asked: Any
    shown: Any
    measure: Any
    run: Row
    hour: PaidHour
    why: Any
    instead: Any


@lookup
def rent_ahead(contract: Any) -> tuple[Any, Any]:
    """5th and 95th percentile of the rent of the year ahead under a contract, over today's [1].

    >>> rent_ahead("one year")
    (1.0, 1.0)
    """
    low, high = yearly_drift().mean_over(1.0)
    loose = unfixed(contract, 0.0)
    return where(loose, low, 1.0), where(loose, high, 1.0)


class Records:
    """The `best_runs` and what an hour of their chips costs, for quantities."""

    def __init__(self) -> None:
        self.chips = sorted({run["priced_as"] for run in best_runs().values()} - {""})
        self.hours = Hours(self.chips)

    @cached_property
    def _runs(self) -> Table:
        return Table(best_runs(), otherwise=ABSENT)

    def _cheapest(self, case: Any, in_round: Any) -> Any:
        """The chip whose run has the least rent."""
        runs = {chip: self._runs.row(case.benchmark, in_round, chip) for chip in self.chips}
        rents = {
            chip: run_cost_usd(
                run.seconds, run.chips, self.hours.paid(chip, case.contract, case.seller).usd
            )
            for chip, run in runs.items()
        }
        return least(rents)[0]

    def best(self, case: Any) -> Best:
        """The best run of a case: benchmark, round, measure (of `MEASURES`), contract and seller.

        >>> from types import SimpleNamespace as N
        >>> case = N(benchmark="GPT-3 175B", round="v5.1", measure="rent", contract="on demand")
        >>> best = records().best(N(**vars(case), seller="median"))
        >>> best.asked.value, best.shown.value, best.run.chips.value < 2000
        (False, 'all', True)
        """
        asked = self._runs.row(case.benchmark, case.round, "time").there
        shown = where(asked, case.round, ALL_ROUNDS)
        kind = where(case.measure == RENT, self._cheapest(case, shown), case.measure)
        run = self._runs.row(case.benchmark, shown, kind)
        asked_of = [run.priced_as], case.contract, case.seller, [0.0]
        seller, instead = self.hours.seller_of_all(*asked_of)
        hour = self.hours.paid(run.priced_as, case.contract, seller)
        unsold = "of the chips that ran it none has a price " + case.contract
        who = where(case.seller == "median", "", " of such a seller (" + case.seller + ")")
        measure = where(run.there, case.measure, "time")
        why = where(run.there, hour.why, unsold + who)
        return Best(asked, shown, measure, run, hour, why, where(run.there, instead, ""))


@remembered
def records() -> Records:
    """Those of all benchmarks."""
    return Records()
