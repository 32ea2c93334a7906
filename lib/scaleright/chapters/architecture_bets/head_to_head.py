"""Two chips in the newest MLPerf round in which both stand, as quantities of a reader's choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any, Self

from scaleright.catalog import shared
from scaleright.chapters.architecture_bets.model import ARCHITECTURES, CHIPS, benchmarks, measured
from scaleright.mlperf import RATES, drift, summary
from scaleright.mlperf.gains import gain_interval, gain_ratio
from scaleright.ops import first_case, item, maximum, where
from scaleright.quantity import choose, look_up

KINDS = {"dense": "dense models", "mixture": "mixtures of experts", "images": "images and video"}
"""The kinds of model of `ARCHITECTURES`, in words."""


@shared
def rounds(kind: str) -> dict[str, dict[str, list]]:
    """Rates of `CHIPS` in each round of all benchmarks of a kind of model, by scenario.

    in_round, benchmark : of each round, the newest and strictest first; best, tail : best rate and
    that of the lowest submissions, chip after chip in each round, 0 where nobody submitted. Lists
    are as long as the longest.
    """
    chips, kinds = list(CHIPS), benchmarks()["kind"]
    key = ["benchmark", "scenario", "round", "accuracy_target", "accelerator"]
    known = summary()[lambda of: of["accelerator"].isin(chips)].set_index(key).sort_index()
    found: dict[str, list] = {run: [] for run in RATES}
    for name, run in sorted(set(known.index.droplevel([2, 3, 4]))):
        if kinds.get(name) != kind or run not in found:
            continue
        best = measured(name, run).reindex(columns=chips, fill_value=0.0)
        best = best[(best > 0).sum(axis=1) > 1]
        tail = known.loc[(name, run), "tail_low"].unstack().reindex_like(best).fillna(best)
        found[run] += [
            (at[0], name, best.loc[at].tolist(), tail.loc[at].tolist()) for at in best.index
        ]
    most = max(map(len, found.values()))
    none = ("", "", [0.0] * len(chips), [0.0] * len(chips))
    tables = {}
    for run, rows in found.items():
        rows.sort(key=itemgetter(0), reverse=True)  # the benchmarks of a round in their order
        names, kept, best, tail = zip(*rows, *[none] * (most - len(rows)), strict=True)
        tables[run] = {"in_round": [*names], "benchmark": [*kept]}
        tables[run] |= {"best": [*chain(*best)], "tail": [*chain(*tail)]}
    return tables


@dataclass(frozen=True)
class Meeting:
    """Two chips on a benchmark in the newest round in which both stand: on that which is asked for
    if they met there, else on another one of its kind.

    met : whether there is such a round of two different chips; in_round, benchmark : its name, and
        what they met on
    gain, low, high : how many times as much the one does as the other, with its range [1]; NaN
        where they do not meet
    rates : of every chip in that round; 0 where nobody submitted, and where they do not meet
    """

    met: Any
    in_round: Any
    benchmark: Any
    gain: Any
    low: Any
    high: Any
    rates: Mapping[str, Any]

    @classmethod
    def of(cls, kind: str, benchmark: Any, scenario: Any, bet: Any, rival: Any) -> Self:
        """The meeting of a bet and its rival on a benchmark of a kind of model.

        >>> found = Meeting.of("dense", "llama3.1-405b", "Server", "GB300", "B300")
        >>> found.in_round.value, 1.3 < found.gain.value < 1.5
        ('v6.0', True)
        >>> Meeting.of("dense", "llama3.1-405b", "Server", "MI355X", "B300").benchmark.value
        'llama2-70b'
        """
        table, chips = rounds(kind), list(CHIPS)
        row, size = choose(table, scenario), len(chips)
        pair, most = (
            [look_up(chips, chip) for chip in (bet, rival)],
            len(next(iter(table.values()))["in_round"]),
        )

        def rate(place: Any, chip: Any, column: str = "best") -> Any:
            return item(row[column], place * size + chip)

        both = [(rate(i, pair[0]) * rate(i, pair[1]) > 0, i) for i in range(most)]
        asked = [(stand & (item(row["benchmark"], i) == benchmark), i) for stand, i in both]
        place = first_case([*asked, *both], -1)
        met, place = (place >= 0) & (bet != rival), maximum(place, 0)
        ends = [(rate(place, of, "tail"), rate(place, of), rate(place, of)) for of in pair]
        gain = gain_ratio(ends[0][1], ends[1][1])
        low, high = gain_interval(ends[0], ends[1], drift(ARCHITECTURES[kind]))
        none = float("nan")
        return cls(
            met=met,
            in_round=where(met, item(row["in_round"], place), "none"),
            benchmark=where(met, item(row["benchmark"], place), benchmark),
            gain=where(met, gain, none),
            low=where(met, low, none),
            high=where(met, high, none),
            rates={chip: where(met, rate(place, i), 0.0) for i, chip in enumerate(chips)},
        )


def require_meeting(kind: str, benchmark: str, scenario: str, bet: str, rival: str) -> None:
    """Two chips that were measured in one round of some benchmark of a kind of model.

    Raises
    ------
    LookupError : they were not, with the chips that the first of them met.

    >>> require_meeting("mixture", "deepseek-r1", "Interactive", "H200 SXM", "B200")
    Traceback (most recent call last):
    LookupError: no Interactive round on mixtures of experts has both H200 SXM and B200
    """
    if Meeting.of(kind, benchmark, scenario, bet, rival).met.value:
        return
    others = [chip for chip in CHIPS if Meeting.of(kind, benchmark, scenario, bet, chip).met.value]
    instead = f"; {bet} stands in one with {', '.join(others)}" if others else ""
    raise LookupError(f"no {scenario} round on {KINDS[kind]} has both {bet} and {rival}{instead}")
