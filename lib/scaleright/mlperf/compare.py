"""Chips against each other on MLPerf Inference, each figure per accelerator: derived, not an
official MLPerf metric.

Two results are compared only if benchmark, accuracy target, scenario, unit and round are the same:
the same question in the same software era. What then still differs (who tuned it, precision, system
size, previews) stands beside every ratio, and the range of a ratio holds how far submissions of one
and the same chip lie apart and how far ratios move from one round to the next.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from scaleright.catalog import accelerator, accelerators, shared
from scaleright.mlperf.results import comparable
from scaleright.names import one_of
from scaleright.units import figure

LABEL = "derived, not an official MLPerf metric"
"""Stands wherever a figure per accelerator is shown: MLPerf's own results are those of whole
systems.
"""
RATES = ("Offline", "Server", "Interactive")
"""Scenarios whose result is a rate; a latency is that of a system and cannot be divided by its
chips.
"""
STATISTICS = ("best", "median")
QUESTION = ["benchmark", "accuracy_target", "scenario", "unit"]
CELL = [*QUESTION, "round"]
"""What must be the same for two results to be compared."""
TAILS = (0.05, 0.95)
GENERATIVE = ("dense language model", "mixture of experts", "diffusion", "agent")
"""Architectures whose software still moves fast; the others are what MLPerf began with."""


@shared
def _submissions() -> pd.DataFrame:
    return submissions(comparable())


def submissions(rows: pd.DataFrame | None = None) -> pd.DataFrame:
    """Results that are rates, one for each system and accuracy target that it meets: the best where
    it ran twice.

    A result at 99.9 % of the reference accuracy also holds at 99 %.

    Parameters
    ----------
    rows : from `results.comparable`; all of them by default

    >>> set(submissions()["scenario"]) == set(RATES)
    True
    """
    if rows is None:
        return _submissions()
    rows = rows[rows["scenario"].isin(RATES)]
    rows = rows.assign(
        precision=rows["precision"].fillna("not stated"),
        accuracy_target=rows["accuracy_target"].fillna(""),
    )
    rows = pd.concat(
        [rows, rows[rows["accuracy_target"] == "99.9"].assign(accuracy_target="99")],
        ignore_index=True,
    )
    system = [*CELL, "submitter", "system", "accelerator", "accelerators"]
    return rows.sort_values(["per_accelerator", "id"], kind="stable").drop_duplicates(
        system, keep="last", ignore_index=True
    )


def summarize(rows: pd.DataFrame, key: Iterable[str] = ("accelerator", *CELL)) -> pd.DataFrame:
    """What submissions reached, one row for each value of `key`; the columns are those of
    `summary`.
    """
    key = list(key)
    rows = rows.sort_values(["per_accelerator", "id"], kind="stable").assign(
        preview=rows["availability"] == "preview"
    )
    each, top = rows.groupby(key), rows.drop_duplicates(key, keep="last").set_index(key)
    value, formats = (
        each["per_accelerator"],
        rows.drop_duplicates([*key, "precision"]).groupby(key)["precision"],
    )
    found = {
        "best": value.max().map(figure),
        "median": value.median().map(figure),
        "lowest": value.min().map(figure),
        "tail_low": value.quantile(TAILS[0]).map(figure),
        "tail_high": value.quantile(TAILS[1]).map(figure),
        "mean_of_ratios": value.mean().map(figure),
        "ratio_of_sums": (each["value"].sum() / each["accelerators"].sum()).map(figure),
        "submissions": each.size(),
        "submitters": each["submitter"].nunique(),
        "precision": formats.agg(" and ".join),
        "least_chips": each["accelerators"].min(),
        "most_chips": each["accelerators"].max(),
        "architecture": top["architecture"],
        "preview": each["preview"].all(),
        "best_id": top["id"],
    }
    return pd.DataFrame(found).reset_index()


@shared
def summary() -> pd.DataFrame:
    """What the submissions of each chip reached in each round, per accelerator; derived, not an
    official MLPerf metric.

    Two averages stand beside the best and the median. The mean of ratios counts every submission
    once: what a typical system reaches per chip. The ratio of sums counts every chip once: what all
    these chips reach together, which one system of 512 may decide alone. Where sizes differ the
    first is the one to compare chips by, and neither is a best.

    Columns: accelerator, benchmark, accuracy_target, scenario, unit, round, best, median, lowest,
    tail_low, tail_high (5 % and 95 % of the submissions), mean_of_ratios, ratio_of_sums [unit per
    accelerator], submissions, submitters, precision, least_chips, most_chips, architecture, preview
    (nothing but previews), best_id.

    >>> rows = summary()
    >>> bool((rows["lowest"] <= rows["median"]).all() and (rows["median"] <= rows["best"]).all())
    True
    """
    return summarize(submissions())


def per_chip(benchmark: str, scenario: str) -> pd.DataFrame:
    """Best rate per accelerator by chip, accuracy target and round; derived, not an official MLPerf
    metric.

    Columns: accelerator, round, accuracy_target, rate [unit per accelerator], unit, submissions.

    Raises
    ------
    LookupError : unknown benchmark or scenario; the nearest are offered.
    """
    rows = asked(summary(), benchmark, scenario).rename(columns={"best": "rate"})
    columns = ["accelerator", "round", "accuracy_target", "rate", "unit", "submissions"]
    return rows.sort_values(["accelerator", "round"])[columns].reset_index(drop=True)


def entry(rows: pd.DataFrame) -> pd.Series:
    """Benchmark and accuracy target in one name, as MLPerf writes them: "bert-99.9"."""
    return rows["benchmark"].where(
        rows["accuracy_target"] == "", rows["benchmark"] + "-" + rows["accuracy_target"]
    )


def is_of(rows: pd.DataFrame, benchmark: str, scenario: str) -> pd.Series:
    """Which rows are of one benchmark, with or without its accuracy target, and one scenario."""
    return ((rows["benchmark"] == benchmark) | (entry(rows) == benchmark)) & (
        rows["scenario"] == scenario
    )


def asked(rows: pd.DataFrame, benchmark: str, scenario: str) -> pd.DataFrame:
    """Rows of one benchmark, with or without its accuracy target, and one scenario; an unknown name
    is refused.
    """
    names = entry(rows)
    known = sorted({*rows["benchmark"].unique(), *names.unique()})
    one_of(benchmark, known, "MLPerf benchmark")
    one_of(scenario, RATES, "scenario with a rate per accelerator")
    of = rows[(rows["benchmark"] == benchmark) | (names == benchmark)]
    there = [name for name in RATES if name in {*of["scenario"].unique()}]
    return of[of["scenario"] == one_of(scenario, there, f"scenario of {benchmark}")]


def submitted(name: str, rows: pd.DataFrame, where: str) -> str:
    return one_of(
        accelerator(name).name, sorted(set(rows["accelerator"])), f"accelerator in {where}"
    )


def meetings(
    found: pd.DataFrame, pairs: Iterable[tuple[str, str]] | None = None, also: tuple[str, ...] = ()
) -> pd.DataFrame:
    """Two chips in one cell, for every cell in which both stand: their rows of `summary` side by
    side (`_new`, `_old`).

    Of several accuracy targets that both meet in a round, the strictest.

    Parameters
    ----------
    found : from `summarize`
    pairs : (new, old); by default every chip against those that were released before it, or with it
    also : columns besides `CELL` that must be the same
    """
    same = [*CELL, *also]
    both = found.merge(found, on=same, suffixes=("_new", "_old"))
    if pairs is None:
        day = {
            name: pd.Timestamp(chip.released or "2100-01-01")
            for name, chip in accelerators().items()
        }
        new, old = both["accelerator_new"], both["accelerator_old"]
        both = both[(new != old) & (new.map(day) >= old.map(day))]
    else:
        both = both.merge(
            pd.DataFrame(
                list(pairs), columns=["accelerator_new", "accelerator_old"]
            ).drop_duplicates()
        )
    once = [
        "accelerator_new",
        "accelerator_old",
        *(name for name in same if name not in ("accuracy_target", "unit")),
    ]
    return both.sort_values(["accuracy_target", "round"], kind="stable").drop_duplicates(
        once, keep="last"
    )


@shared
def matched(
    new: str,
    old: str,
    benchmark: str,
    scenario: str,
    same_precision: bool = False,
    rows: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Every round in which both chips stand with the same question, oldest first: the ratios, and
    what still differs.

    Parameters
    ----------
    new, old : chips by name or alias
    benchmark : its name, with or without an accuracy target; without one, the strictest that both
        meet
    scenario : one of `RATES`
    same_precision : only submissions of one and the same stated precision (then one row for each)
    rows : from `results.comparable`; all of them by default

    Columns: round, accuracy_target, unit, best, median (ratios, new over old), same_submitter
    (median of the ratios of those who submitted both; empty if nobody did), and for both chips
    (`_new`, `_old`) what `summary` says.

    Raises
    ------
    LookupError : unknown name; no round in which both stand, with the chips or benchmarks that
        would do.
    """
    given = asked(submissions(rows), benchmark, scenario)
    new, old = (submitted(name, given, f"{benchmark} {scenario}") for name in (new, old))
    given = given[given["accelerator"].isin([new, old])].assign(format=given["precision"])
    stated, also = (
        (given["precision"] != "not stated", ("format",)) if same_precision else (slice(None), ())
    )
    both = meetings(summarize(given[stated], ["accelerator", *CELL, *also]), [(new, old)], also)
    if both.empty:
        stands = {
            name: ", ".join(sorted(set(given.loc[given["accelerator"] == name, "round"])))
            for name in (new, old)
        }
        where = (
            f"one round{' at one stated precision' if same_precision else ''} of {benchmark}"
            f" {scenario}"
        )
        raise LookupError(
            f"{new} and {old} do not meet in {where}: {new} stands in {stands[new]}, {old} in"
            f" {stands[old]}"
        )
    both = both.join(same_submitter(given, new, old), on=CELL).assign(
        best=both["best_new"] / both["best_old"], median=both["median_new"] / both["median_old"]
    )
    first = ["round", "accuracy_target", "unit", "best", "median", "same_submitter"]
    return both.sort_values("round", kind="stable")[
        [*first, *(name for name in both if name.endswith(("_new", "_old")))]
    ].reset_index(drop=True)


def same_submitter(rows: pd.DataFrame, new: str, old: str) -> pd.Series:
    """The ratio of two chips in each cell as those found it who submitted both: the median over
    teams, each by its best.

    Parameters
    ----------
    rows : from `submissions`
    new, old : names of chips
    """
    tuned = (
        rows[rows["accelerator"].isin([new, old])]
        .groupby([*CELL, "submitter", "accelerator"])["per_accelerator"]
        .max()
        .unstack()
    )
    return (tuned[new] / tuned[old]).dropna().groupby(CELL).median().rename("same_submitter")


def drift(architecture: str, quantile: float = 0.9) -> float:
    """By what factor ratios of two chips changed from one round to the next in which both stood: a
    quantile of all such changes.

    Software of the two improves at a different pace, above all on generative models, which are
    counted apart.

    Parameters
    ----------
    architecture : of the benchmark's model, as the table has it
    quantile : of the changes' sizes [1]

    >>> drift("vision") < drift("mixture of experts")
    True
    """
    return _drift(architecture in GENERATIVE, quantile)


@shared
def _drift(generative: bool, quantile: float) -> float:
    changes = round_changes()
    return moved_by(changes[changes["generative"] == generative], quantile)


def moved_by(changes: pd.DataFrame, quantile: float = 0.9) -> float:
    """The factor that a quantile of changes does not exceed, up or down; see `round_changes`."""
    return figure(np.exp(changes["change"].abs().quantile(quantile)))


@shared
def round_changes() -> pd.DataFrame:
    """The ratio of two chips in a round and in the next in which both stood: before, after (best
    over best), change (log).

    Further columns: those of `meetings`, and the rates of the earlier round as
    `before_tail_low_new` and so on.
    """
    both = meetings(summary()).sort_values("round", kind="stable")
    both = both.assign(after=both["best_new"] / both["best_old"])
    rates = [
        f"{name}_{side}" for name in ("tail_low", "best", "tail_high") for side in ("new", "old")
    ]
    earlier = both.groupby(["accelerator_new", "accelerator_old", *QUESTION])[
        ["after", *rates]
    ].shift()
    both = both.join(
        earlier.rename(columns={"after": "before"} | {rate: f"before_{rate}" for rate in rates})
    ).dropna(subset="before")
    change, generative = (
        np.log(both["after"] / both["before"]),
        both["architecture_new"].isin(GENERATIVE),
    )
    return both.assign(change=change, generative=generative).reset_index(drop=True)
