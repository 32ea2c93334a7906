"""One chip against another, head to head, on what a reader chooses: quantities, looked up in the
results of all; and which two chips are compared, and on what, where that is left open.

Every figure per accelerator is derived, not an official MLPerf metric.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import product
from types import MappingProxyType, SimpleNamespace
from typing import Any, Self

import pandas as pd

from scaleright.catalog import accelerators, shared
from scaleright.formulas import lookup
from scaleright.information import NINETY, Choice, spread_between
from scaleright.market import Hours, PaidHour, rents_apart, unfixed
from scaleright.mlperf.comparison import (
    CELL,
    RATES,
    drift,
    entry,
    gain_interval,
    gain_ratio,
    prices,
    summary,
)
from scaleright.mlperf.results import ROUNDS
from scaleright.ops import exp, first_case, maximum, where
from scaleright.quantity import Quantity, Table, derived, look_up
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
class HeadToHead:
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
    kinds, moves : of the model of each benchmark, see `comparison.drift`
    """

    results: Mapping[tuple[str, str, str, str], Mapping[str, Any]]
    watts: Mapping[str, float]
    hours: Hours
    kinds: Mapping[str, str]
    moves: Mapping[str, float]

    @classmethod
    def of(cls, benchmarks: Iterable[str]) -> Self:
        """The results of benchmarks, as `comparison.entry` names them.

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

        def common(name: str) -> Quantity:
            asked = (case.in_round == "newest") | (case.in_round == name)
            pair = (self.reached(case, name, chip) for chip in (case.new_chip, case.old_chip))
            new, old = (of.there for of in pair)
            return asked & new & old

        return first_case([(common(name), name) for name in reversed(ROUNDS)], "")

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

    def head_to_head(self, case: Any, chip: Any = None, in_round: Any = None) -> HeadToHead:
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
        return HeadToHead(new, old, in_round, rate, rate_old, value, low, high, doubts, *hours)

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


ANY, NEWEST, BEFORE = "any", "newest", "predecessor"
"""What stands for a benchmark, a new chip and an old one that are left open."""
Names = dict[str, str]


@dataclass(frozen=True)
class Pairs:
    """The names that are taken for those left open.

    every : all of them where all are, by scenario and round; of the newest round, the chip that
        most was submitted of, and on which benchmark most was of it and of the one before it
    new : the new chip, by benchmark, old chip and scenario; old : the old one, by benchmark, new
        chip and scenario: of those after it and before it the one that most was submitted of
    benchmark : by both chips and scenario: on which most was submitted of both in their newest
        round
    """

    every: Mapping[tuple[str, ...], Names]
    new: Mapping[tuple[str, ...], Names]
    old: Mapping[tuple[str, ...], Names]
    benchmark: Mapping[tuple[str, ...], Names]


def _every_pair(benchmarks: Iterable[str]) -> pd.DataFrame:
    """Every chip beside every other one in each round that both have on a benchmark.

    Columns: benchmark, scenario, round, new, old, submitted and submitted_old (how many times each
    chip was in that round, on all benchmarks), many (how many times either was on this one, at
    least), later (whether the new chip came out after the old one), maker and server (whether one
    maker made both, and for the same kind of server); on, against and at repeat benchmark, old and
    round.
    """
    found, chips = summary(), accelerators()
    found = found.assign(benchmark=entry(found))
    found = found[found["benchmark"].isin([*benchmarks])].rename(columns={"accelerator": "new"})
    found["submitted"] = found.groupby(["round", "new"])["submissions"].transform("sum")
    found = found[[*CELL, "new", "submissions", "submitted"]]
    both = found.merge(found.rename(columns={"new": "old"}), on=CELL, suffixes=("", "_old"))
    both = both[both["new"] != both["old"]].sort_values(["benchmark", "new", "old"], kind="stable")
    about = {
        name: (
            of.released or date(2100, 1, 1),
            of.vendor,
            (of.segment, (of.form or "").rstrip("0123456789")),
        )
        for name, of in chips.items()
    }
    day, maker, server = [{name: of[i] for name, of in about.items()} for i in range(3)]
    new, old = both["new"], both["old"]
    return both.assign(
        many=both[["submissions", "submissions_old"]].min(axis=1),
        later=new.map(day) > old.map(day),
        maker=new.map(maker) == old.map(maker),
        server=new.map(server) == old.map(server),
        on=both["benchmark"],
        against=old,
        at=both["round"],
    ).reset_index(drop=True)


PREDECESSOR = ["later", "maker", "server", "round"]
"""How well the old chip stands for the one before the new one: it came out earlier, is of the same
maker and for the same kind of server, and both stood in one round lately.
"""


def _first(pairs: pd.DataFrame, key: list[str], rank: list[str], **left_open: str) -> dict:
    """The names of the pair of the highest rank for each key, of equals the first by name.

    left_open : columns of the key that may be left open, and what stands for that
    """
    ways = product(*([{}, {name: of}] for name, of in left_open.items()))
    each = [pairs.assign(**{n: of for part in way for n, of in part.items()}) for way in ways]
    rows = pd.concat(each).sort_index(kind="stable")
    names = ["benchmark", "new", "old"]
    best = rows.sort_values(
        [*rank, *names], ascending=[False] * len(rank) + [True] * 3, kind="stable"
    )
    best = best.drop_duplicates(key).set_index(key, drop=False)[names]
    best = best.loc[[*rows.set_index(key).index.unique()]]
    return dict(zip(best.index, best.to_dict("records"), strict=True))


@lookup
@shared
def pairs(benchmarks: tuple[str, ...]) -> Pairs:
    """The names that are taken, by what was submitted on some benchmarks.

    >>> pairs(("deepseek-r1", "llama2-70b-99.9")).every["Offline", "v5.1"]
    {'benchmark': 'llama2-70b-99.9', 'new': 'B200', 'old': 'H200 SXM'}
    """
    rows = _every_pair(benchmarks)
    ranks = ["round", "submitted", *PREDECESSOR[:-1], "submitted_old", "many"]
    every = _first(rows, ["scenario", "at"], ranks, at=NEWEST)
    ranks, key = [*PREDECESSOR, "submitted", "many"], ["on", "against", "scenario"]
    new = _first(rows, key, ranks, on=ANY, against=BEFORE)
    ranks = [*PREDECESSOR, "submitted_old", "many"]
    old = _first(rows, ["on", "new", "scenario"], ranks, on=ANY)
    benchmark = _first(rows, ["new", "old", "scenario"], ["round", "many"])
    return Pairs(*map(MappingProxyType, (every, new, old, benchmark)))


@shared
def _tables(benchmarks: tuple[str, ...]) -> Mapping[str, Table]:
    kept = {"new": ("new",), "old": ("old",), "benchmark": ("benchmark",)}
    found = {}
    for name, rows in vars(pairs(benchmarks)).items():
        columns = kept.get(name, ("benchmark", "new", "old"))
        told = {key: {column: of[column] for column in columns} for key, of in rows.items()}
        found[name] = Table(told, otherwise="none")
    return MappingProxyType(found)


def taken(case: Any, benchmarks: Iterable[str]) -> SimpleNamespace:
    """A case with the names for those that it leaves open, which stay the same along a chart.

    case : benchmark, new_chip, old_chip, scenario and in_round, quantities or not
    benchmarks : those that may be meant

    >>> case = SimpleNamespace(benchmark="any", new_chip="B200", old_chip="H200 SXM")
    >>> case.scenario, case.in_round = "Offline", "newest"
    >>> taken(case, ["deepseek-r1", "llama2-70b-99.9"]).benchmark.value
    'llama2-70b-99.9'
    """
    benchmarks, scenario = tuple(of for of in benchmarks if of != ANY), case.scenario
    tables, usual = _tables(benchmarks), pairs(benchmarks).every[RATES[0], NEWEST]
    every = tables["every"].row(scenario, case.in_round)
    whole = (case.benchmark == ANY) & (case.new_chip == NEWEST) & (case.old_chip == BEFORE)
    whole = whole & every.there

    def filled(name: str, row: Any, asked: Any, is_open: Any) -> Any:
        own = where(row.there, row[name], usual[name])
        found = derived(f"taken_{name}", where(whole, every[name], own), held=True)
        return where(is_open, found, asked)

    row = tables["new"].row(case.benchmark, case.old_chip, scenario)
    new = filled("new", row, case.new_chip, case.new_chip == NEWEST)
    row = tables["old"].row(case.benchmark, new, scenario)
    old = filled("old", row, case.old_chip, case.old_chip == BEFORE)
    row = tables["benchmark"].row(new, old, scenario)
    on = filled("benchmark", row, case.benchmark, case.benchmark == ANY)
    names = {"benchmark": on, "new_chip": new, "old_chip": old}
    return SimpleNamespace(**vars(case) | names)
