"""Two chips in the newest MLPerf round in which both stand, as quantities of a reader's choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import pandas as pd

from scaleright.catalog import shared
from scaleright.decisions.architecture_bets import ARCHITECTURES, benchmarks, measured, rents
from scaleright.mlperf import RATES, drift, summary
from scaleright.mlperf.gains import gain_interval, gain_ratio
from scaleright.ops import first_case, item, maximum, where
from scaleright.quantity import choose, look_up


@shared
def rounds(kind: str) -> dict[tuple[str, str], dict[str, list]]:
    """Rates of the chips of `rents` in each round of each benchmark of a kind of model, by
    benchmark and scenario.

    in_round : name of each round, the newest and strictest first; best, tail : best rate and that
    of the lowest submissions, chip after chip in each round, 0 where nobody submitted. Lists are as
    long as the longest.
    """
    chips, kinds = list(rents().index), benchmarks()["kind"]
    names = [(name, run) for name in kinds.index[kinds == kind] for run in RATES]
    key = ["benchmark", "scenario", "round", "accuracy_target", "accelerator"]
    known = summary()[lambda of: of["accelerator"].isin(chips)].set_index(key).sort_index()
    tables = {}
    for name, run in set(known.index.droplevel([2, 3, 4])) & set(names):
        best = measured(name, run).reindex(columns=chips, fill_value=0.0)
        best = best[(best > 0).sum(axis=1) > 1]
        tail = known.loc[(name, run), "tail_low"].unstack().reindex_like(best).fillna(best)
        tables[name, run] = best, tail
    most = max(len(best) for best, _ in tables.values())

    def padded(values: list, each: Any, size: int) -> list:
        return [*values, *[each] * (most * size - len(values))]

    none = pd.DataFrame(columns=chips, dtype=float)
    return {
        key: {
            "in_round": padded([index[0] for index in best.index], "", 1),
            "best": padded(best.to_numpy().ravel().tolist(), 0.0, len(chips)),
            "tail": padded(tail.to_numpy().ravel().tolist(), 0.0, len(chips)),
        }
        for key in names
        for best, tail in [tables.get(key, (none, none))]
    }


@dataclass(frozen=True)
class Meeting:
    """Two chips on one benchmark, in the newest round in which both stand.

    met : whether there is such a round of two different chips; in_round : its name
    gain, low, high : how many times as much the one does as the other, with its range [1]; NaN
        where they do not meet
    rates : of every chip in that round; 0 where nobody submitted, and where they do not meet
    """

    met: Any
    in_round: Any
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
        """
        table, chips = rounds(kind), list(rents().index)
        row, size = choose(table, benchmark, scenario), len(chips)
        pair, most = (
            [look_up(chips, chip) for chip in (bet, rival)],
            len(next(iter(table.values()))["in_round"]),
        )

        def rate(place: Any, chip: Any, column: str = "best") -> Any:
            return item(row[column], place * size + chip)

        found = [(rate(i, pair[0]) * rate(i, pair[1]) > 0, i) for i in range(most)]
        place = first_case(found, -1)
        met, place = (place >= 0) & (bet != rival), maximum(place, 0)
        ends = [(rate(place, of, "tail"), rate(place, of), rate(place, of)) for of in pair]
        gain = gain_ratio(ends[0][1], ends[1][1])
        low, high = gain_interval(ends[0], ends[1], drift(ARCHITECTURES[kind]))
        none = float("nan")
        return cls(
            met=met,
            in_round=where(met, item(row["in_round"], place), "none"),
            gain=where(met, gain, none),
            low=where(met, low, none),
            high=where(met, high, none),
            rates={chip: where(met, rate(place, i), 0.0) for i, chip in enumerate(chips)},
        )
