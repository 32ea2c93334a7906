"""Published failures and goodput of clusters against those predicted from the number of chips."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from scaleright.catalog import shared, table
from scaleright.costs.clusters import goodput, mtbf_hours
from scaleright.costs.pretraining import reliability
from scaleright.costs.pretraining_doubts import FRAGILE
from scaleright.formulas import lookup
from scaleright.units import HOURS_PER_DAY, figures

TABLE = "measured/reliability"


@shared
def judged_clusters() -> pd.DataFrame:
    """The rows of `measured/reliability` with what is predicted of them.

    Beyond those of the table: published_hours, predicted_hours, low_hours, high_hours (mean time
    between interruptions [h]), predicted_kept, low_kept, high_kept (goodput with checkpoints as
    often as is best [1]), and scored_hours and scored_kept (whether the row judges either: its role
    is to, and it states the chips and the figure; a lower bound is only held against).
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
    judges, stated = rows["role"] == "judges", np.isfinite(chips)
    bound = rows["at_least"].fillna(False).astype(bool)
    kept = rows["kept_share"].astype(float).notna() & stated
    return rows.assign(
        **found,
        scored_hours=judges & stated & published.notna(),
        scored_kept=judges & kept & ~bound,
        bound_kept=kept & bound,
    )


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
        "predicted hours": rows["predicted_hours"],
        "error": error,
        "kept": rows["kept_share"].astype(float),
        "predicted kept": rows["predicted_kept"],
        "not scored since it": rows["role"].map(roles),
        "source": rows["source"],
    }
    return pd.DataFrame(columns).reset_index(drop=True)
