"""Failures of clusters: what stopped them, and how well that is predicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scaleright.catalog import shared, table
from scaleright.catalog import table as read
from scaleright.charts import tables
from scaleright.charts.answers import sentence
from scaleright.charts.displays import Display
from scaleright.charts.render import show
from scaleright.charts.sureness import predicted_vs_measured
from scaleright.charts.tables import folded
from scaleright.costs.platforms import goodput, mtbf_hours
from scaleright.costs.pretraining import reliability
from scaleright.costs.pretraining_run import FRAGILE
from scaleright.formulas import lookup
from scaleright.order import ordered
from scaleright.units import HOURS_PER_DAY, figure, figures
from scaleright.validation.training import steps_left_out

# Published failures and goodput of clusters against those predicted from the number of chips: by
# the rate of Llama 3's cluster, and by what other operators published of the same kind.
#
# What a publication counts decides: components that fail, or whatever stops a job, bugs and hangs
# and restarts by hand among them. On research clusters the latter is several times as often.


TABLE = "measured/reliability"
KINDS = ("components", "stops")
"""What times lie between: components that fail, or stops of a job for whatever reason."""


@shared
def judged_clusters() -> pd.DataFrame:
    """The rows of `measured/reliability` with what is predicted of them.

    Beyond those of the table: published_hours, predicted_hours, low_hours, high_hours (mean time
    between interruptions [h]), predicted_kept, low_kept, high_kept (goodput with checkpoints as
    often as is best [1]), others_hours (by what other operators published of the same kind), and
    scored_hours and scored_kept (whether the row judges either: its role is to, and it states the
    chips and the figure; a lower bound is only held against).
    """
    rows = table(TABLE)
    chips = rows["accelerators"].astype(float).to_numpy()
    counted = HOURS_PER_DAY * rows["days"].astype(float) / rows["interruptions"].astype(float)
    published = rows["mtbf_hours"].astype(float).fillna(counted)
    robust = {name: "high" if end == "low" else "low" for name, end in FRAGILE.items()}
    found = {"published_hours": published}
    ends = {"predicted": dict.fromkeys(FRAGILE, "best"), "low": FRAGILE, "high": robust}
    some = np.where(np.isfinite(chips), chips, 1.0)
    none = np.where(np.isfinite(chips), 1.0, np.nan)
    for name, end in ends.items():
        terms = {of: reliability(at)[of] for of, at in end.items()}
        between = terms["chip_hours_per_interruption"]
        found[f"{name}_hours"] = mtbf_hours(some, between) * none
        found[f"{name}_kept"] = goodput(some, **terms) * none
    found["others_hours"] = _by_others(rows.assign(rate=published * chips)) / some
    judges, stated = rows["role"] == "judges", np.isfinite(chips)
    bound = rows["at_least"].fillna(False).astype(bool)
    kept = rows["kept_share"].astype(float).notna() & stated
    return rows.assign(
        **found,
        scored_hours=judges & stated & published.notna(),
        scored_kept=judges & kept & ~bound,
        bound_kept=kept & bound,
    )


def _by_others(rows: pd.DataFrame) -> np.ndarray:
    """Chip-hours between what a row counts, by the median over other operators that published the
    same kind, each by the geometric mean of its figures [h]; NaN for what its authors project.

    rows : those of the table, with `rate`, the chip-hours published
    """
    own = rows[rows["rate"].notna() & (rows["role"] != "projected")]
    each = np.exp(np.log(own["rate"]).groupby([own["counts"], own["operator"]]).mean())

    def of_others(row: pd.Series) -> float:
        if row.name not in own.index:
            return np.nan
        return figure(each[row["counts"]].drop(row["operator"]).median())

    return rows.apply(of_others, axis=1).to_numpy(float)


def _rounded(kind: type, *values: Any) -> Any:
    """A record of these numbers, without the digits that belong to the processor."""
    return kind(*(figure(float(value)) for value in values))


@dataclass(frozen=True)
class ByOthers:
    """How well times between interruptions are predicted by other operators.

    rows, operators : of components that fail, how many; percent : their median absolute error [%]
    stop_rows, stop_operators, stop_percent : the same of stops for whatever reason
    chip_hours, stop_chip_hours : between two of either, the median over operators [h]
    """

    rows: float
    operators: float
    percent: float
    stop_rows: float
    stop_operators: float
    stop_percent: float
    chip_hours: float
    stop_chip_hours: float


@lookup
def by_others() -> ByOthers:
    """How well the clusters of one operator are predicted by those of others.

    >>> found = by_others()
    >>> found.rows > 5, found.percent < judged().median_percent, found.stop_percent > found.percent
    (True, True, True)
    """
    every = judged_clusters()
    every = every[every["others_hours"].notna()]
    found = dict[str, float]()
    for kind, name in zip(KINDS, ("", "stop_"), strict=True):
        rows = every[every["counts"] == kind]
        off = (rows["others_hours"] / rows["published_hours"] - 1).abs()
        rate = np.log(rows["published_hours"] * rows["accelerators"].astype(float))
        each = np.exp(rate.groupby(rows["operator"]).mean())
        found |= {f"{name}rows": len(rows), f"{name}operators": len(each)}
        found |= {f"{name}percent": 100 * off.median(), f"{name}chip_hours": each.median()}
    return ByOthers(**figures({name: float(value) for name, value in found.items()}))


@dataclass(frozen=True)
class Judged:
    """How well the failures of clusters are predicted.

    rows, median_percent, within : of times between interruptions: how many, their median absolute
        error [%], how many lie in the stated range
    kept_rows, kept_points, bounds, held : of goodput: how many, their median absolute error
        [points of a hundred], how many lower bounds, how many of these the prediction keeps
    """

    rows: float
    median_percent: float
    within: float
    kept_rows: float
    kept_points: float
    bounds: float
    held: float


@lookup
def judged() -> Judged:
    """How well the failures of published clusters are predicted.

    >>> judged().rows > 5, 0 < judged().median_percent < 200
    (True, True)
    """
    every = judged_clusters()
    hours, kept = every[every["scored_hours"]], every[every["scored_kept"]]
    bound = every[every["bound_kept"]]
    off = (hours["predicted_hours"] / hours["published_hours"] - 1).abs()
    inside = hours["published_hours"].between(hours["low_hours"], hours["high_hours"])
    points = 100 * (kept["predicted_kept"] - kept["kept_share"].astype(float)).abs()
    held = (bound["predicted_kept"] >= bound["kept_share"].astype(float)).sum()
    times = len(hours), 100 * off.median(), inside.sum()
    return _rounded(Judged, *times, len(kept), points.median(), len(bound), held)


@lookup
def in_words() -> pd.DataFrame:
    """The judged rows as a table of them is headed; errors as shares."""
    rows = judged_clusters().sort_values(["accelerators", "run"])
    error = rows["predicted_hours"] / rows["published_hours"] - 1
    roles = {
        "judges": "",
        "set": "sets the rate",
        "end": "sets an end",
        "projected": "projected by its authors",
    }
    columns = {
        "run": rows["run"],
        "operator": rows["operator"],
        "chips": rows["accelerators"].astype(float),
        "hours between": rows["published_hours"],
        "counts": rows["counts"].fillna(""),
        "predicted hours": rows["predicted_hours"],
        "error": error,
        "by others": rows["others_hours"],
        "kept": rows["kept_share"].astype(float),
        "predicted kept": rows["predicted_kept"],
        "not scored since it": rows["role"]
        .map(roles)
        .mask((rows["role"] == "judges") & rows["accelerators"].isna(), "names no number of chips"),
        "source": rows["source"],
    }
    return pd.DataFrame(columns).reset_index(drop=True)


# How a chip's share of the peak falls with the number of chips: published series of runs against
# what the model of a step says of the same ones


ALIKE = ["model", "accelerator", "precision", "software", "source", "sequence"]
FARTHEST = 8
"""Times as many chips that the largest run of a series has at least."""
ERROR = "error_percent"
"""Error of a run, by a fit that saw none of its size."""


@shared
def series() -> pd.DataFrame:
    """Published series of runs that differ in the number of chips, and at most in layout and batch:
    tokens a second of a chip on the most over that on the fewest, each by its fastest run.

    Columns: those of `ALIKE`, fewest, most (chips), published, predicted (that ratio [1]).
    """
    rows = steps_left_out("cluster size").dropna(subset=ERROR)
    tokens = rows["global_batch"].astype(float) * rows["sequence"].astype(float)
    step = tokens / rows["measured_step_s"].astype(float) / rows["accelerators"].astype(float)
    rate = rows["measured_tokens_per_s_per_accelerator"].astype(float).fillna(step)
    rows = rows.assign(rate=rate, off=1 + rows[ERROR] / 100)
    rows = rows[rows["rate"] > 0]
    found = []
    for key, of in rows.groupby(ALIKE, dropna=False, sort=True):
        few, most = of["accelerators"].min(), of["accelerators"].max()
        if most < FARTHEST * few:
            continue
        ends = (of[of["accelerators"] == size] for size in (few, most))
        small, large = (ordered(end, "rate").iloc[-1] for end in ends)
        published = large["rate"] / small["rate"]
        predicted = published * small["off"] / large["off"]
        ratios = {"fewest": few, "most": most, "published": published, "predicted": predicted}
        found.append(dict(zip(ALIKE, key, strict=True)) | ratios)
    return pd.DataFrame(found)


@dataclass(frozen=True)
class Falls:
    """How well the fall of a chip's speed is predicted: series, median absolute error of the ratio
    [%], the median of the ratios as published and as predicted [1].
    """

    series: float
    median_percent: float
    published: float
    predicted: float


@lookup
def falls() -> Falls:
    """How well the fall of a chip's speed with the number of chips is predicted.

    >>> falls().series > 5
    True
    """
    rows = series()
    off = 100 * (rows["predicted"] / rows["published"] - 1).abs()
    ratios = rows["published"].median(), rows["predicted"].median()
    return _rounded(Falls, len(rows), np.median(off), *ratios)


def causes() -> Display:
    """What interrupted Llama 3's training; folded."""
    rows = ordered(read("interruptions"), "interruptions", ascending=False)
    rows = rows[["component", "category", "interruptions", "printed_share"]]
    total = rows["interruptions"].sum()
    rows = rows.assign(share=rows["interruptions"] / total)
    words = f"Unexpected interruptions of 16,384 H100 in 54 days: {total}"
    formats = {"interruptions": "whole", "printed_share": "percent", "share": "percent"}
    return folded(tables.table(rows, words, formats, name="causes"), "What failed, by part")


def stops() -> Display:
    """Predicted against published time between interruptions."""
    rows = judged_clusters()
    rows = rows[rows["scored_hours"]].assign(
        label=rows["operator"].str.split(",").str[0] + "\n" + rows["run"].str.split("/").str[-1]
    )
    pair = "published_hours", "predicted_hours", "label", "hours between interruptions"
    return show(
        predicted_vs_measured(rows, *pair, said="published"),
        name="stops",
        alt=f"Predicted against published time between interruptions of {len(rows)} clusters.",
    )


def how_well() -> Display:
    """How well failures, goodput and the fall of utilization are predicted."""
    found, fall, of = judged(), falls(), by_others()
    return sentence(
        "Failures are hard to predict: for {found.rows:whole} published times between"
        " interruptions, the prediction is <strong>{found.median_percent:number 2} %</strong> off"
        " at the median and {found.within:whole} lie in the stated range. It is mostly too long,"
        " because most clusters failed more often than Llama 3's. It depends on what is counted. A"
        " component failed every {of.chip_hours:whole} chip-hours (median of {of.operators:whole}"
        " operators); predicted from the other operators, {of.rows:whole} such figures are"
        " <strong>{of.percent:number 2} %</strong> off. Jobs stopped for any reason every"
        " {of.stop_chip_hours:whole} chip-hours ({of.stop_operators:whole} operators);"
        " {of.stop_rows:whole} such figures are {of.stop_percent:number 2} % off, since software"
        " and care matter more than the number of chips. For {found.kept_rows:whole} published"
        " goodputs the median error is {found.kept_points:number 2} points; {found.bounds:whole}"
        " operators gave only a minimum, which {found.held:whole} of the predictions meet."
        " How speed falls on more chips is well predicted:"
        " in {fall.series:whole} published series, a chip on the largest cluster keeps"
        " {fall.published:percent} of its speed on the smallest at the median, predicted"
        " {fall.predicted:percent}, and <strong>{fall.median_percent:number 2} %</strong> off at"
        " the median."
    )


def every_cluster() -> Display:
    """All published clusters beside their predictions; folded."""
    rows = in_words()
    formats = dict.fromkeys(("error", "kept", "predicted kept"), "percent")
    hours = "hours between", "predicted hours", "by others"
    formats |= dict.fromkeys(hours, "number") | {"chips": "whole"}
    words = "Published failures and goodput beside those predicted from the number of chips"
    shown = tables.table(rows, words, formats, name="clusters")
    return folded(shown, f"All {len(rows)} figures")
