"""Published failures and goodput of clusters against those predicted from the number of chips: by
the rate of Llama 3's cluster, and by what other operators published of the same kind.

What a publication counts decides: components that fail, or whatever stops a job, bugs and hangs and
restarts by hand among them. On research clusters the latter is several times as often.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from scaleright.catalog import shared, table
from scaleright.costs.clusters import goodput, mtbf_hours
from scaleright.costs.pretraining import reliability
from scaleright.costs.pretraining_doubts import FRAGILE
from scaleright.formulas import lookup
from scaleright.units import HOURS_PER_DAY, figure, figures

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
    found = {
        "rows": len(hours),
        "median_percent": 100 * off.median(),
        "within": inside.sum(),
        "kept_rows": len(kept),
        "kept_points": points.median(),
        "bounds": len(bound),
        "held": (bound["predicted_kept"] >= bound["kept_share"].astype(float)).sum(),
    }
    return Judged(**figures({name: float(value) for name, value in found.items()}))


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
