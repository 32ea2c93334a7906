"""How a chip's share of the peak falls with the number of chips: published series of runs against
what the model of a step says of the same ones.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from scaleright.catalog import shared
from scaleright.formulas import lookup
from scaleright.order import ordered
from scaleright.units import figures
from scaleright.validation.training import steps_left_out

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
    found = {
        "series": len(rows),
        "median_percent": np.median(off),
        "published": rows["published"].median(),
        "predicted": rows["predicted"].median(),
    }
    return Falls(**figures({name: float(value) for name, value in found.items()}))
