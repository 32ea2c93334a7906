"""One chip against another on what a reader chooses: quantities, looked up in the results of all.

Every figure per accelerator is derived, not an official MLPerf metric.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import pandas as pd

from scaleright.catalog import accelerators
from scaleright.information import NINETY, Choice, spread_between
from scaleright.market import Hours, PaidHour, rents_apart, unfixed
from scaleright.mlperf.compare import RATES, drift, entry, summary
from scaleright.mlperf.gains import gain_interval, gain_ratio, prices
from scaleright.mlperf.results import ROUNDS
from scaleright.ops import exp, first_case, maximum, where
from scaleright.quantity import Quantity, Table, look_up
from scaleright.quantity.rows import Row

FIGURES = ["best", "median", "tail_low", "tail_high", "submissions", "preview", "precision", "unit"]
NO_RESULT = "no result"
NEW_TEAM, OLD_TEAM = "team on the new chip", "team on the old chip"
ROUND, RENT = "another round", "rents of the year ahead"
"""What nobody knows of a gain, as a chart calls it."""
MAIN_KINDS = {
    "dense language model": "dense",
    "mixture of experts": "mixture",
    "diffusion": "diffusion",
}
"""The kinds of models that charts tell apart, in a word; all else is "other"."""
MAIN_VENDORS = ("NVIDIA", "AMD", "Google", "Intel")


def vendor(chip: str) -> str:
    """The vendor of a chip among those that charts tell apart.

    >>> vendor("B200"), vendor("Cloud AI 100 Pro")
    ('NVIDIA', 'other')
    """
    name = accelerators()[chip].vendor
    return name if name in MAIN_VENDORS else "other"


def vendors(chips: Iterable[str]) -> pd.DataFrame:
    """Chips beside their `vendor`, in the order of vendors: chip, vendor."""
    order = [*MAIN_VENDORS, "other"]
    rows = sorted(((chip, vendor(chip)) for chip in chips), key=lambda of: order.index(of[1]))
    return pd.DataFrame(rows, columns=["chip", "vendor"])


@dataclass(frozen=True)
class Versus:
    """How many times as much one chip does as another, as quantities.

    new, old : what was submitted of each, the columns of `FIGURES`
    in_round : the round in which they are compared; empty where none has both
    rate_new, rate_old : per accelerator, by the statistic that the case asks for
    value, low, high : the gain and its range; not a number where there is none
    spreads : standard deviation that each doubt gives the logarithm of the gain [1]
    hour, hour_old : what an hour of each chip costs
    """

    new: Row
    old: Row
    in_round: Any
    rate_new: Any
    rate_old: Any
    value: Any
    low: Any
    high: Any
    spreads: Mapping[str, Any]
    hour: PaidHour
    hour_old: PaidHour

    @property
    def choice(self) -> Choice:
        """The new chip or the old one, by what as much work takes of each, over the old one's
        [1].
        """
        return Choice(1 / self.value, 1.0, self.spreads)


@dataclass(frozen=True)
class Bench:
    """What chips reached on some benchmarks, for a case with benchmark, scenario, new_chip,
    old_chip, metric ("chip", "watt" or "dollar"), in_round (or "newest"), statistic ("best" or
    "median"), contract, seller, rent_new and rent_old (0 for the price as it is listed) [USD/h],
    all quantities.

    results : by benchmark with its accuracy target, scenario, round and chip: the columns of
        `FIGURES`, rates per accelerator
    watts : of each chip its power limit [W]; 0 where it is not known
    hours : what an hour of those costs that are rented out
    kinds, moves : of the model of each benchmark, see `compare.drift`
    """

    results: Mapping[tuple[str, str, str, str], Mapping[str, Any]]
    watts: Mapping[str, float]
    hours: Hours
    kinds: Mapping[str, str]
    moves: Mapping[str, float]

    @classmethod
    def of(cls, benchmarks: Iterable[str]) -> Self:
        """The results of benchmarks, as `compare.entry` names them.

        >>> Bench.of(["rnnt"]).results["rnnt", "Offline", "v3.1", "L4"]["submissions"]
        5
        """
        rows = summary().assign(entry=entry)
        rows = rows[rows["entry"].isin(list(benchmarks))]
        keys = rows[["entry", "scenario", "round", "accelerator"]].itertuples(index=False)
        results = dict(zip(map(tuple, keys), rows[FIGURES].to_dict("records"), strict=True))
        chips, limits = sorted(rows["accelerator"].unique()), prices("watt")
        watts = {chip: limits.get(chip, 0.0) for chip in chips}
        of = rows.groupby("entry")["architecture"].first()
        kinds, moves = of.replace(MAIN_KINDS).to_dict(), of.map(drift).to_dict()
        return cls(results, watts, Hours.of(chips), kinds, moves)

    @cached_property
    def _results(self) -> Table:
        return Table(self.results, otherwise=NO_RESULT)

    def reached(self, case: Any, in_round: Any, chip: Any) -> Row:
        """What was submitted of a chip on the case's benchmark and scenario."""
        asked = case.benchmark, case.scenario, in_round, chip
        return self._results.row(*asked)

    def newest_round(self, case: Any) -> Quantity:
        """The newest round with both chips, or the one that is asked for; empty where there is
        none.
        """

        def meets(name: str) -> Quantity:
            asked = (case.in_round == "newest") | (case.in_round == name)
            pair = (self.reached(case, name, chip) for chip in (case.new_chip, case.old_chip))
            new, old = (of.there for of in pair)
            return asked & new & old

        return first_case([(meets(name), name) for name in reversed(ROUNDS)], "")

    def own_rent(self, case: Any, chip: Any) -> Any:
        """The reader's own rent of a chip, 0 for none [USD/h]."""
        own = [(chip == case.new_chip, case.rent_new), (chip == case.old_chip, case.rent_old)]
        return first_case(own, 0.0)

    def hour(self, case: Any, chip: Any) -> PaidHour:
        """What an hour of a chip costs in a case."""
        return self.hours.paid(chip, case.contract, case.seller, self.own_rent(case, chip))

    def price(self, case: Any, chip: Any) -> Quantity:
        """What the rate of a chip is divided by; not a number where that is not known."""
        by = [(case.metric == "chip", 1.0), (case.metric == "watt", look_up(self.watts, chip))]
        paid = first_case(by, self.hour(case, chip).usd)
        return where(paid > 0, paid, math.nan)

    def rents(self, case: Any, chip: Any) -> Any:
        """Standard deviation that the rents of the year ahead of a chip and of the old one give the
        logarithm of the gain per dollar [1].
        """
        pair = (unfixed(case.contract, self.own_rent(case, of)) for of in (chip, case.old_chip))
        return where(chip == case.old_chip, 0.0, rents_apart(*pair))

    def versus(self, case: Any, chip: Any = None, in_round: Any = None) -> Versus:
        """The case's new chip, or another one, against its old chip, in their newest round or in
        another.
        """
        chip = case.new_chip if chip is None else chip
        in_round = self.newest_round(case) if in_round is None else in_round
        new, old = (self.reached(case, in_round, of) for of in (chip, case.old_chip))
        rate, rate_old = (where(case.statistic == "best", of.best, of.median) for of in (new, old))
        paid, paid_old = (self.price(case, of) for of in (chip, case.old_chip))
        moves = look_up(self.moves, case.benchmark)
        teams = (new.tail_low, rate, new.tail_high), (old.tail_low, rate_old, old.tail_high)
        apart = where(case.metric == "dollar", self.rents(case, chip), 0.0)
        wide = gain_interval(*teams, moves, paid, paid_old, exp(NINETY * apart))
        value, same = gain_ratio(rate, rate_old, paid, paid_old), chip == case.old_chip
        low, high = (where(same, value, end) for end in wide)
        doubts = {
            NEW_TEAM: spread_between(new.tail_low, maximum(new.tail_high, rate)),
            OLD_TEAM: spread_between(old.tail_low, maximum(old.tail_high, rate_old)),
            ROUND: spread_between(1 / moves, moves),
            RENT: apart,
        }
        hours = (self.hour(case, of) for of in (chip, case.old_chip))
        return Versus(new, old, in_round, rate, rate_old, value, low, high, doubts, *hours)

    def why_not(self, case: Any, in_round: Any) -> Quantity:
        """Why there is no gain, where there is none; empty otherwise [word]."""
        unknown = [self.price(case, of) > 0 for of in (case.new_chip, case.old_chip)]
        reasons = [
            (case.new_chip == case.old_chip, "both are the same chip"),
            (in_round == "", "no round that you allow has both"),
            (unknown[0] & unknown[1], ""),
            (case.metric == "watt", "the power limit of one of them is not known"),
        ]
        new, old = (self.hour(case, of).why for of in (case.new_chip, case.old_chip))
        return first_case(reasons, where(new != "", new, old))


def questions() -> pd.DataFrame:
    """Every scenario and round, and the words for both: scenario, round, question."""
    rows = pd.DataFrame([(of, name) for of in RATES for name in ROUNDS])
    rows = rows.set_axis(["scenario", "round"], axis=1)
    return rows.assign(question=rows["scenario"] + ", " + rows["round"])
