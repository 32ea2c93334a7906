"""Gains from one chip to another on MLPerf Inference: per accelerator, per watt and per dollar of rent, with their ranges.

Every figure per accelerator is derived, not an official MLPerf metric.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable

import numpy as np
import pandas as pd

from scaleright.catalog import accelerator, accelerators
from scaleright.market import recent_rental_price
from scaleright.mlperf.compare import (
    CELL, STATISTICS, drift, gain_interval, is_of, known, matched, meetings, submissions, summarize, summary
)  # fmt: skip
from scaleright.mlperf.results import comparable

METRICS = {"chip": "per accelerator", "watt": "per watt", "dollar": "per dollar of rent"}
BASIS = {"chip": "accelerators", "watt": "power limits of the chips", "dollar": "median rents on demand"}
MEASURED = "measured power of the systems"


@dataclass(frozen=True)
class Gain:
    """How many times as much one chip does as another, and what the figure rests on.

    value, low, high : the ratio in the newest round in which both stand, and its range
    rounds : every round in which both stand, oldest first; the value is of the last
    matched : what is the same and what still differs, in words
    basis : what the denominator is: accelerators, measured system power, power limits, rents
    ids : submissions of the new and of the old chip
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
    rounds: tuple[str, ...]
    matched: str
    basis: str
    ids: tuple[str, str]


def denominator(metric: str) -> dict[str, float]:
    """What the rate of each chip is divided by: 1, its power limit [W], or the median of its rents on demand [USD/h].

    Chips without the figure are left out. Power limits of chips on one module with a CPU hold that CPU where the maker says so.
    """
    known(metric, METRICS, "metric")
    if metric == "chip":
        return dict.fromkeys(accelerators(), 1.0)
    if metric == "watt":
        return {name: chip.tdp_watts for name, chip in accelerators().items() if chip.tdp_watts}
    priced = ((name, recent_rental_price(name)) for name in accelerators())
    return {name: price.median for name, price in priced if price}


def power_runs(rows: pd.DataFrame | None = None) -> pd.DataFrame:
    """Submissions with measured power: `per_accelerator` is replaced by the rate per watt of the whole system [unit/s per W].

    The watts of a run go with the rate of that run alone; `kind` tells runs clocked down for efficiency from others.
    """
    rows = comparable(allow=("power_run",)) if rows is None else rows
    rows = rows[rows["system_watts"].notna()]
    kind = np.where(rows["flags"].fillna("").str.split(";").map(lambda flags: "power_run" in flags), "clocked down", "full clocks")
    return submissions(rows.assign(per_chip=rows["per_accelerator"], per_accelerator=rows["value"] / rows["system_watts"], kind=kind))


def _gains(found: pd.DataFrame, metric: str, statistic: str, pairs: Any, also: tuple[str, ...] = ()) -> pd.DataFrame:
    """Each meeting with its gain and range."""
    both = meetings(found, pairs, also)
    price = denominator(metric)
    both = both[both["accelerator_new"].isin(price) & both["accelerator_old"].isin(price)]
    rates = [[both[f"{name}_{side}"].to_numpy() for name in ("tail_low", statistic, "tail_high")] for side in ("new", "old")]
    ratio = (both["accelerator_old"].map(price) / both["accelerator_new"].map(price)).to_numpy(dtype=float)
    low, high = gain_interval(*map(tuple, rates), both["architecture_new"].map(drift).to_numpy(dtype=float), ratio)
    each = both.groupby(["accelerator_new", "accelerator_old", "benchmark", "scenario"])["round"]
    rounds = each.transform(lambda names: " ".join(sorted(set(names))))
    return both.assign(metric=metric, value=rates[0][1] / rates[1][1] * ratio, low=low, high=high, rounds=rounds, basis=BASIS[metric])


def generation_gains(
    metric: str = "chip", statistic: str = "best", pairs: Iterable[tuple[str, str]] | None = None, every_round: bool = False,
    rows: pd.DataFrame | None = None,
) -> pd.DataFrame:  # fmt: skip
    """How many times as much each chip does as each older one, for every benchmark and scenario in which they meet.

    Parameters
    ----------
    metric : "chip", "watt" (measured power of whole systems where both chips have it in one round, else power limits), or
        "dollar" (median rents on demand)
    statistic : "best" or "median" submission of each
    pairs : (new, old) by catalog name; by default every chip against those released before it, or with it
    every_round : all rounds; by default the newest in which both stand
    rows : from `results.comparable`; all of them by default

    Columns: accelerator_new, accelerator_old, benchmark, accuracy_target, scenario, unit, architecture_new, metric, value,
    low, high (see `gain_interval`), round, rounds (all in which both stand), basis (of the denominator), and for both
    chips (`_new`, `_old`) what `summary` says.

    Raises
    ------
    LookupError : unknown metric or statistic.

    >>> gains = generation_gains(pairs=[("B200", "H200 SXM")])
    >>> bool((gains["low"] <= gains["value"]).all() and (gains["value"] <= gains["high"]).all())
    True
    """
    known(statistic, STATISTICS, "statistic")
    pairs = None if pairs is None else [tuple(accelerator(name).name for name in pair) for pair in pairs]
    rates = summary() if rows is None else summarize(submissions(rows))
    return _newest(rates, power_runs(rows), metric, statistic, pairs, every_round)


def _newest(rates: pd.DataFrame, runs: pd.DataFrame, metric: str, statistic: str, pairs: Any, every_round: bool = False) -> pd.DataFrame:
    """Gains by rates, or by measured power where two chips have it, in the newest round of each pair and question."""
    found, question = _gains(rates, metric, statistic, pairs), ["accelerator_new", "accelerator_old", "benchmark", "scenario"]
    if metric == "watt" and len(runs):
        measured = _gains(summarize(runs, ["accelerator", *CELL, "kind"]), "chip", statistic, pairs, ("kind",))
        measured = measured.assign(metric="watt", basis=MEASURED + ", " + measured["kind"])
        known = measured.set_index(question).index
        found = pd.concat([found[~found.set_index(question).index.isin(known)], measured], ignore_index=True)
    found = found.sort_values([*question, "round"], kind="stable")
    return (found if every_round else found.drop_duplicates(question, keep="last")).reset_index(drop=True)


def gain(
    new: str, old: str, benchmark: str, scenario: str, metric: str = "chip", statistic: str = "best", round_: str | None = None,
    rows: pd.DataFrame | None = None,
) -> Gain:  # fmt: skip
    """How many times as much one chip does as another, in the newest round in which both stand, with its range.

    Parameters
    ----------
    new, old : chips by name or alias
    benchmark : its name, with or without an accuracy target; without one, the strictest that both meet
    scenario, metric, statistic : see `matched` and `generation_gains`
    round_ : this round instead of the newest

    Raises
    ------
    LookupError : unknown name; no round in which both stand; no power limit or rent of one of them.

    >>> found = gain("B200", "H200", "llama2-70b-99.9", "Offline")
    >>> found.low < found.value < found.high
    True
    """
    stand = matched(new, old, benchmark, scenario, rows=rows)
    new, old = accelerator(new).name, accelerator(old).name
    for name in (new, old):
        known(name, denominator(metric), f"accelerator with a figure {METRICS[metric]}")
    rates, runs = (frame[is_of(frame, benchmark, scenario)] for frame in (submissions(rows), power_runs(rows)))
    found = _newest(summarize(rates), runs, metric, known(statistic, STATISTICS, "statistic"), [(new, old)], every_round=True)
    if round_ is not None:
        known(round_, sorted(set(found["round"])), f"round in which {new} and {old} meet on {benchmark} {scenario}")
        found = found[found["round"] == round_]
    row, rounds = found.iloc[-1], tuple(stand["round"])
    return Gain(
        new, old, row["benchmark"], scenario, metric, statistic, *(float(row[end]) for end in ("value", "low", "high")), rounds,
        matched_words(row), row["basis"], (row["best_id_new"], row["best_id_old"]),
    )  # fmt: skip


def matched_words(row: pd.Series) -> str:
    """What a meeting has in common and in what its sides differ, as a person says it."""
    target = f", {row['accuracy_target']} % accuracy" if row["accuracy_target"] else ""

    def side(end: str) -> str:
        count, least, most = (int(row[f"{name}_{end}"]) for name in ("submissions", "least_chips", "most_chips"))
        size = f"{least} to {most} chips" if most > least else f"{most} chip{'s' if most > 1 else ''}"
        kind = "preview " if row[f"preview_{end}"] else ""
        return f"{count} {kind}submission{'s' if count > 1 else ''} of {row[f'accelerator_{end}']} ({row[f'precision_{end}']}, {size})"

    return f"{row['round']}{target}: {side('new')} against {side('old')}"
