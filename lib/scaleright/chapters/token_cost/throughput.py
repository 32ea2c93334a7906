"""Published throughput of one model, beside what the model of serving says of each run."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.formulas import lookup
from scaleright.inference.slowdowns import slowdowns
from scaleright.validation.serving_cases import cases

SOURCE = "tensorrtllm2025"
"""Who ran each model on many chips at full load."""


_HEADS = {
    "accelerator": "accelerator",
    "accelerators": "chips",
    "precision": "format",
    "input_tokens": "in",
    "output_tokens": "out",
    "software": "software",
}


class Throughput(NamedTuple):
    """Published runs of a model, and its name."""

    model: str
    runs: pd.DataFrame

    def within(self, share: float) -> float:
        """How far from measured the prediction of this share of the runs is at most [1]."""
        return self.runs["off by"].abs().quantile(share)


@lookup
def published_throughput(model: str, else_of: str = "Llama-3.1-70B") -> Throughput:
    """Runs of a model at full load, or of another where none of it was published.

    Columns: accelerator, chips, format, in, out [token], software, measured, predicted [token/s of
    one accelerator], off by [1], and a label of two lines.

    >>> name, runs = published_throughput("Llama-3.3-70B")
    >>> name, bool(runs["off by"].abs().median() < 0.2)
    ('Llama-3.1-70B', True)
    """
    rows, shape = catalog.table("measured/serving"), catalog.model(model).name
    rows = rows[rows["source"] == SOURCE].assign(measured_itl_s=None)
    near = shape if shape in set(rows["model"]) else else_of
    rows = rows[rows["model"] == near].reset_index(drop=True)
    found, runs = cases(rows, "measured/serving", own=False)
    judged = [not run.why and run.figure == "throughput" for run in runs]
    found, runs = found[judged], [run for run, good in zip(runs, judged, strict=True) if good]
    seconds = [float(run.seconds @ list(slowdowns(run.deployment).values())) for run in runs]
    words = found[["input_tokens", "output_tokens", "accelerators"]].astype(int).astype(str)
    sizes = words["input_tokens"] + " in, " + words["output_tokens"] + " out\n"
    label = sizes + words["accelerators"] + " x " + found["accelerator"]
    found = found[list(_HEADS)].rename(columns=_HEADS)
    found = found.assign(measured=[run.value for run in runs], predicted=1 / np.array(seconds))
    error = found["predicted"] / found["measured"] - 1
    return Throughput(near, found.assign(**{"off by": error, "label": label}))
