"""Gains from one chip to another on MLPerf Inference: per accelerator, per watt and per dollar of
rent, with their ranges.

Every figure per accelerator is derived, not an official MLPerf metric.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scaleright.catalog import accelerator, accelerators, shared
from scaleright.market import listed_hour
from scaleright.mlperf.compare import (
    CELL,
    STATISTICS,
    drift,
    is_of,
    matched,
    meetings,
    moved_by,
    round_changes,
    submissions,
    summarize,
    summary,
)
from scaleright.mlperf.results import comparable
from scaleright.names import one_of
from scaleright.ranges import interval

METRICS = {
    "chip": "per accelerator",
    "watt": "per watt of the chips' power limits",
    "measured watt": "per watt of measured system power",
    "dollar": "per dollar of rent",
}
"""What a rate is divided by. Power was measured for few chips, mostly at lowered clocks, so that
`watt` goes by limits.
"""

MEETING = ["accelerator_new", "accelerator_old", "benchmark", "scenario"]


def gain_ratio(new: Any, old: Any, new_price: Any = 1.0, old_price: Any = 1.0) -> Any:
    """How many times as much the new chip does for what it costs: rates over prices; floats, arrays
    and quantities.

    Parameters
    ----------
    new, old : rates per accelerator, in one unit
    new_price, old_price : what each is divided by: 1, power limits [W], rents [USD/h]

    >>> gain_ratio(12.0, 4.0, 2.0, 1.0)
    1.5
    """
    return new / old * (old_price / new_price)


def gain_interval(
    new: tuple,
    old: tuple,
    moves: Any,
    new_price: Any = 1.0,
    old_price: Any = 1.0,
    rents: Any = 1.0,
) -> tuple[Any, Any]:
    """Low and high end of a gain; as polymorphic as the gain itself.

    Parameters
    ----------
    new, old : (5 %, the statistic that is said, 95 %) of the submissions of each chip; a best is
        its own high end
    moves : factor by which a ratio moves from one round to another, see `drift`
    new_price, old_price : see `gain_ratio`
    rents : factor by which the ratio of both may move in the year ahead, 1 where they are fixed

    >>> low, high = gain_interval((8.0, 10.0, 9.9), (5.0, 5.0, 5.0), 1.0)
    >>> round(low, 9), round(high, 9)
    (1.6, 2.0)
    """
    return interval(
        lambda n, o, moved, ahead: gain_ratio(n, o, new_price, old_price) * moved * ahead,
        n=new,
        o=old,
        moved=(1 / moves, 1.0, moves),
        ahead=(1 / rents, 1.0, rents),
    )


@dataclass(frozen=True)
class Gain:
    """How many times as much one chip does as another, and what the figure rests on.

    value, low, high : the ratio in one round, and its range
    in_round : that round
    rounds : every round in which both stand, oldest first
    matched : round, accuracy target, submissions, precision and sizes of both, in words
    ids : the best submission of the new and of the old chip
    """

    new: str
    old: str
    benchmark: str
    scenario: str
    metric: str
    statistic: str
    value: float
    low: float
    high: float
    in_round: str
    rounds: tuple[str, ...]
    matched: str
    ids: tuple[str, str]


def prices(metric: str, contract: str = "on demand", seller: str = "median") -> dict[str, float]:
    """What the rate of each chip is divided by: 1, its power limit [W], or what an hour of it costs
    under a contract from a seller, see `market.hour` [USD/h].

    Chips without the figure are left out. Limits of superchips hold their share of the CPU where
    the maker counts it so.

    Raises
    ------
    LookupError : unknown metric or contract.

    >>> prices("watt")["H100 SXM"]
    700.0
    """
    if one_of(metric, METRICS, "metric") == "watt":
        return {name: chip.tdp_watts for name, chip in accelerators().items() if chip.tdp_watts}
    if metric == "dollar":
        rents = {name: listed_hour(name, contract, seller) for name in accelerators()}
        return {name: rent.usd for name, rent in rents.items() if rent}
    return dict.fromkeys(accelerators(), 1.0)


def power_runs(rows: pd.DataFrame | None = None) -> pd.DataFrame:
    """Submissions with measured power: `per_accelerator` becomes the rate per watt of the whole
    system [unit/s per W].

    The watts of a run go with the rate of that run alone, kept as `per_chip`; `kind` tells runs at
    clocks lowered for efficiency from runs at full clocks.

    >>> set(power_runs()["kind"])  == {"lowered clocks", "full clocks"}
    True
    """
    rows = submissions(comparable(allow=("power_run",)) if rows is None else rows)
    rows = rows[rows["system_watts"].notna()]
    kind = np.where(rows["flags"].str.contains("power_run"), "lowered clocks", "full clocks")
    return rows.assign(
        per_chip=rows["per_accelerator"],
        per_accelerator=rows["value"] / rows["system_watts"],
        kind=kind,
    )


def _gains(
    rows: pd.DataFrame | None, asked: tuple, price: dict, metric: str, statistic: str, pairs: Any
) -> pd.DataFrame:
    """Each meeting of two chips with its gain and range, rounds in order; of one benchmark and
    scenario if some are asked.
    """
    watts = one_of(metric, METRICS, "metric") == "measured watt"
    also = ("kind",) if watts else ()
    given = power_runs(rows) if watts else summary() if rows is None else submissions(rows)
    given = given[is_of(given, *asked)] if asked else given
    rates = summarize(given, ["accelerator", *CELL, *also]) if watts or rows is not None else given
    both = meetings(rates, pairs, also)
    both = both[both["accelerator_new"].isin(price) & both["accelerator_old"].isin(price)]
    new, old = (
        [both[f"{name}_{side}"].to_numpy() for name in ("tail_low", statistic, "tail_high")]
        for side in ("new", "old")
    )
    paid = [both[f"accelerator_{side}"].map(price).to_numpy(dtype=float) for side in ("new", "old")]
    low, high = gain_interval(
        tuple(new), tuple(old), both["architecture_new"].map(drift).to_numpy(dtype=float), *paid
    )
    both = both.assign(metric=metric, value=gain_ratio(new[1], old[1], *paid), low=low, high=high)
    return both.sort_values([*MEETING, "round"], kind="stable", ignore_index=True)


def _named(new: str, old: str) -> tuple[str, str]:
    """Two chips by the catalog's names."""
    return accelerator(new).name, accelerator(old).name


def generation_gains(
    metric: str = "chip",
    statistic: str = "best",
    pairs: Iterable[tuple[str, str]] | None = None,
    every_round: bool = False,
    rows: pd.DataFrame | None = None,
    contract: str = "on demand",
    seller: str = "median",
) -> pd.DataFrame:
    """How many times as much each chip does as each older one, for every benchmark and scenario in
    which they meet.

    Parameters
    ----------
    metric : one of `METRICS`
    statistic : "best" or "median" submission of each
    pairs : (new, old) by name; by default every chip against those released before it, or with it
    every_round : all rounds; by default the newest in which both stand
    rows : from `results.comparable`; all of them by default
    contract, seller : of what a dollar rents, see `prices`

    Columns: accelerator_new, accelerator_old, benchmark, accuracy_target, scenario, unit, round,
    metric, value, low, high (see `gain_interval`), and for both chips (`_new`, `_old`) what
    `summary` says, among it architecture and precision.

    Raises
    ------
    LookupError : unknown metric, statistic or chip.

    >>> gains = generation_gains(pairs=[("B200", "H200 SXM")])
    >>> bool((gains["low"] <= gains["value"]).all() and (gains["value"] <= gains["high"]).all())
    True
    """
    pairs = None if pairs is None else tuple(_named(*pair) for pair in pairs)
    find = _known_gains if rows is None else _every_gain
    rents = contract, seller
    found = find(metric, one_of(statistic, STATISTICS, "statistic"), pairs, rows, rents)
    return found if every_round else found.drop_duplicates(MEETING, keep="last", ignore_index=True)


def _every_gain(
    metric: str, statistic: str, pairs: tuple | None, rows: pd.DataFrame | None, rents: Any
) -> pd.DataFrame:
    return _gains(rows, (), prices(metric, *rents), metric, statistic, pairs)


_known_gains = shared(_every_gain)


def _divisors(
    pair: tuple[str, str], metric: str, price: tuple[float, float] | None
) -> dict[str, float]:
    """What the rate of each chip is divided by, that of a pair as given; refused where it is not
    above 0.
    """
    divisors = prices(metric) | (dict(zip(pair, price, strict=True)) if price else {})
    if none := [name for name in pair if divisors.get(name, 1) <= 0]:
        hint = f"given {divisors[none[0]]:g}; where nobody lists a rent, set one"
        raise ValueError(
            f"a gain {METRICS[metric]} needs one above 0 for {' and '.join(none)}, {hint}"
        )
    return divisors


def _gains_of_pair(
    rows: pd.DataFrame | None,
    pair: tuple[str, str],
    asked: tuple[str, str],
    divisors: dict[str, float],
    metric: str,
    statistic: str,
) -> pd.DataFrame:
    """The gains of two chips in a benchmark and scenario, rounds in order; refused where there are
    none, with the reason.
    """
    found = _gains(
        rows, asked, divisors, metric, one_of(statistic, STATISTICS, "statistic"), [pair]
    )
    if found.empty:
        # refuses what never meets, and says what does
        matched(*pair, *asked, rows=rows)
        for name in pair:
            one_of(name, divisors, f"accelerator with a figure {METRICS[metric]}")
        where = f"one round of {' '.join(asked)}"
        raise LookupError(
            f"power of {' and '.join(pair)} was not measured in {where}; metric 'watt' goes by"
            " limits"
        )
    return found


def gain(
    new: str,
    old: str,
    benchmark: str,
    scenario: str,
    metric: str = "chip",
    statistic: str = "best",
    in_round: str = "newest",
    price: tuple[float, float] | None = None,
    rows: pd.DataFrame | None = None,
) -> Gain:
    """How many times as much one chip does as another in a round in which both stand, with its
    range.

    Parameters
    ----------
    new, old : chips by name or alias
    benchmark : its name, with or without an accuracy target; without one, the strictest that both
        meet
    scenario, metric, statistic : see `matched` and `generation_gains`
    in_round : this round, or the newest in which both stand
    price : what the new and the old chip are divided by, instead of `prices`

    Raises
    ------
    LookupError : unknown name; no such round; no power limit, measured power or rent of one of
        them.
    ValueError : a price that is not above 0.

    >>> found = gain("B200", "H200", "llama2-70b-99.9", "Offline")
    >>> found.low < found.value < found.high
    True
    """
    find = _known_gain if rows is None else _gain
    return find(_named(new, old), (benchmark, scenario), metric, statistic, in_round, price, rows)


def _gain(
    pair: tuple[str, str],
    asked: tuple[str, str],
    metric: str,
    statistic: str,
    in_round: str,
    price: tuple[float, float] | None,
    rows: pd.DataFrame | None,
) -> Gain:
    divisors = _divisors(pair, metric, price)
    found = _gains_of_pair(rows, pair, asked, divisors, metric, statistic)
    rounds = tuple(found["round"])
    if in_round != "newest":
        found = found[
            found["round"] == one_of(in_round, rounds, f"round in which {' and '.join(pair)} meet")
        ]
    row = found.iloc[-1]
    value, low, high = (float(row[end]) for end in ("value", "low", "high"))
    ids = (row["best_id_new"], row["best_id_old"])
    return Gain(
        *pair,
        row["benchmark"],
        asked[1],
        metric,
        statistic,
        value,
        low,
        high,
        row["round"],
        rounds,
        matched_words(row),
        ids,
    )


_known_gain = shared(_gain)


def matched_words(row: pd.Series) -> str:
    """What a meeting has in common and in what its sides differ, as a person says it: a row of
    `generation_gains`.
    """

    def side(end: str) -> str:
        count, least, most = (
            int(row[f"{name}_{end}"]) for name in ("submissions", "least_chips", "most_chips")
        )
        size = (
            f"{least} to {most} chips" if most > least else f"{most} chip{'s' if most > 1 else ''}"
        )
        kind = "preview " if row[f"preview_{end}"] else ""
        return (
            f"{count} {kind}submission{'s' if count > 1 else ''} of {row[f'accelerator_{end}']}"
            f" ({row[f'precision_{end}']}, {size})"
        )

    target = f", {row['accuracy_target']} % accuracy" if row["accuracy_target"] else ""
    return f"{row['round']}{target}: {side('new')} against {side('old')}"


@shared
def range_test() -> pd.DataFrame:
    """Whether the range of a ratio in one round held the ratio of the next: a test out of sample.

    The drift is taken from the other benchmarks of the same kind only.

    Columns: those of `round_changes`, low, high (of the earlier round), inside.
    """
    changes, found = round_changes(), []
    for (benchmark, generative), rows in changes.groupby(["benchmark", "generative"]):
        moves = moved_by(
            changes[(changes["benchmark"] != benchmark) & (changes["generative"] == generative)]
        )
        new, old = (
            tuple(
                rows[f"before_{end}_{side}"].to_numpy() for end in ("tail_low", "best", "tail_high")
            )
            for side in ("new", "old")
        )
        low, high = gain_interval(new, old, moves)
        found.append(rows.assign(low=low, high=high, inside=rows["after"].between(low, high)))
    return pd.concat(found, ignore_index=True)
