"""Which two chips are compared, and on what, where a reader leaves that open."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType, SimpleNamespace
from typing import Any

from scaleright.catalog import accelerators, shared
from scaleright.formulas import lookup
from scaleright.mlperf.compare import CELL, RATES, entry, summary
from scaleright.ops import where
from scaleright.quantity import Table, derived

ANY, NEWEST, BEFORE = "any", "newest", "predecessor"
"""What stands for a benchmark, a new chip and an old one that are left open."""
Names = dict[str, str]


@dataclass(frozen=True)
class Meeting:
    """Two chips on a benchmark in a round.

    submitted, submitted_old : how many times each chip was in that round, on all benchmarks
    many : how many times either was on this one, at least
    later : whether the new chip came out after the old one
    kin : whether one maker made both, and for the same kind of server
    """

    benchmark: str
    scenario: str
    round: str
    new: str
    old: str
    submitted: int
    submitted_old: int
    many: int
    later: bool
    kin: tuple[bool, bool]

    @property
    def generations(self) -> tuple:
        """How well the old chip stands for the one before the new one: it came out earlier, is of
        the same maker and for the same kind of server, and they met lately.
        """
        return self.later, self.kin, self.round


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


def _meetings(benchmarks: Iterable[str]) -> list[Meeting]:
    found, chips = summary(), accelerators()
    found = found[entry(found).isin([*benchmarks])]
    total = found.groupby(["round", "accelerator"])["submissions"].transform("sum")
    kept = found.assign(entry=entry(found), total=total)
    kept = kept[["entry", *CELL, "accelerator", "submissions", "total"]]
    both = kept.merge(kept, on=["entry", *CELL], suffixes=("", "_old"))
    both = both[both["accelerator"] != both["accelerator_old"]]
    day = {name: of.released or date(2100, 1, 1) for name, of in chips.items()}
    server = {
        name: (of.segment, (of.form or "").rstrip("0123456789")) for name, of in chips.items()
    }

    def kin(new: str, old: str) -> tuple[bool, bool]:
        return chips[new].vendor == chips[old].vendor, server[new] == server[old]

    return [
        Meeting(
            of.entry,
            of.scenario,
            of.round,
            of.accelerator,
            of.accelerator_old,
            int(of.total),
            int(of.total_old),
            int(min(of.submissions, of.submissions_old)),
            day[of.accelerator] > day[of.accelerator_old],
            kin(of.accelerator, of.accelerator_old),
        )
        for of in both.itertuples()
    ]


def _best(
    met: Iterable[Meeting], keys: Callable[[Meeting], Iterable[tuple]], rank: Callable
) -> dict[tuple, Names]:
    """The meeting of the highest rank for each key, of equals the first by name."""
    found: dict[tuple, Meeting] = {}
    for of in sorted(met, key=lambda of: (of.benchmark, of.new, of.old)):
        for key in keys(of):
            if key not in found or rank(of) > rank(found[key]):
                found[key] = of
    return {
        key: {"benchmark": of.benchmark, "new": of.new, "old": of.old} for key, of in found.items()
    }


@lookup
@shared
def pairs(benchmarks: tuple[str, ...]) -> Pairs:
    """The names that are taken, by what was submitted on some benchmarks.

    >>> pairs(("deepseek-r1", "llama2-70b-99.9")).every["Offline", "v5.1"]
    {'benchmark': 'llama2-70b-99.9', 'new': 'B200', 'old': 'H200 SXM'}
    """
    met = _meetings(benchmarks)
    every = _best(
        met,
        lambda of: [(of.scenario, of.round), (of.scenario, NEWEST)],
        lambda of: (of.round, of.submitted, of.generations, of.submitted_old, of.many),
    )
    new = _best(
        met,
        lambda of: [
            (on, old, of.scenario) for on in (of.benchmark, ANY) for old in (of.old, BEFORE)
        ],
        lambda of: (of.generations, of.submitted, of.many),
    )
    old = _best(
        met,
        lambda of: [(on, of.new, of.scenario) for on in (of.benchmark, ANY)],
        lambda of: (of.generations, of.submitted_old, of.many),
    )
    benchmark = _best(
        met, lambda of: [(of.new, of.old, of.scenario)], lambda of: (of.round, of.many)
    )
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
