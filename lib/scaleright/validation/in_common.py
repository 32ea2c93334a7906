"""How much of the error of a predicted speed two chips have in common.

What a model of speed gets wrong about a model, an engine or a shape of request it gets wrong on
every chip alike, and it cancels where one chip is set beside another. How much that is, the
published runs say that differ in the chip alone.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pandas as pd

from scaleright.catalog import model, shared, table
from scaleright.inference.slowdowns import generation
from scaleright.information import NINETY, spread_between
from scaleright.names import one_of

ALIKE: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "inference": ("source", "engine", "model", "input_tokens", "output_tokens"),
        "training": ("source", "model", "precision"),
    }
)
"""What the runs of two chips share, by task."""
KINDS = ("dense", "experts")
_SOURCES = {"inference": "scalerightserving", "training": "scalerighttraining"}
FEWEST = 20
"""Pairs below which a correlation would say more of chance than of chips."""


def pairs_of_chips(runs: pd.DataFrame, alike: Sequence[str]) -> pd.DataFrame:
    """Every two chips on which a like run was measured, each pair both ways around.

    Parameters
    ----------
    runs : accelerator, off (logarithm of measured over predicted [1]) and the columns of `alike`;
        the like runs of a chip, on other numbers of chips or at other loads, count as one

    Columns: those of `alike`, accelerator and off, and both "of other".

    >>> runs = pd.DataFrame({"model": "a", "accelerator": ["A", "A", "B"], "off": [0.0, 0.2, 0.3]})
    >>> pairs_of_chips(runs, ["model"])["off"].tolist()
    [0.1, 0.3]
    """
    each = runs.groupby([*alike, "accelerator"], dropna=False)["off"].mean().reset_index()
    both = each.merge(each, on=list(alike), suffixes=("", " of other"))
    return both[both["accelerator"] != both["accelerator of other"]]


@shared
def runs_of_chips(task: str) -> pd.DataFrame:
    """The scored runs of a task: kind ("dense" or "experts"), accelerator, off, those of `ALIKE`,
    and low and high, the bounds that were stated for measured over predicted [1].

    >>> set(runs_of_chips("inference")["kind"]) == set(KINDS)
    True
    """
    columns = ALIKE[one_of(task, ALIKE, "task")]
    if task == "training":
        from scaleright.validation.training_errors import judged_runs  # fits for a second

        runs = judged_runs()
    else:
        runs = table("serving_errors")
        runs = runs[runs["figure"] == "throughput"]
        asked = table("measured/serving")[["run", "input_tokens"]].drop_duplicates("run")
        runs = runs.merge(asked, on="run", how="left")
        kinds = ["experts" if model(name).experts else "dense" for name in runs["model"]]
        runs = runs.assign(engine=runs["software"].fillna("").map(generation), kind=kinds)
    off = -np.log1p(runs["error_percent"] / 100)
    ends = {end: runs[end] / runs["predicted"] for end in ("low", "high")}
    runs = runs.assign(off=off, **ends)
    return runs.loc[runs["scored"].astype(bool), ["kind", "accelerator", "off", *ends, *columns]]


@shared
def error_in_common(task: str, kind: str) -> float:
    """Correlation of the errors of two chips on like runs [1], but no more than leaves nine of ten
    of the measured ratios within what it says of them; 0 where it is below.

    Parameters
    ----------
    task : of `ALIKE`
    kind : of model, of `KINDS`

    Raises
    ------
    LookupError : an unknown task or kind.
    ValueError : fewer than `FEWEST` pairs.

    >>> error_in_common("inference", "dense") < error_in_common("inference", "experts") < 0.8
    True
    """
    columns = ALIKE[one_of(task, ALIKE, "task")]
    runs = runs_of_chips(task)
    of = pairs_of_chips(runs[runs["kind"] == one_of(kind, KINDS, "kind of model")], columns)
    if len(of) < 2 * FEWEST:
        raise ValueError(
            f"{len(of) // 2} pairs of chips with like runs of {kind} models; it takes {FEWEST} to"
            " say what their errors have in common"
        )
    alike = float(np.corrcoef(of["off"], of["off of other"])[0, 1])
    return max(min(alike, _leaving_nine_of_ten(runs[runs["kind"] == kind], columns)), 0.0)


def ratios_of_chips(runs: pd.DataFrame, alike: Sequence[str]) -> pd.DataFrame:
    """Every two runs that differ in the chip, each pair both ways around.

    Columns: apart, by how much their errors differ, and spread and spread_of_other, what was stated
    of either [1].
    """
    stated = spread_between(runs["low"].to_numpy(), runs["high"].to_numpy())
    runs = runs.assign(spread=stated)
    both = runs.merge(runs, on=list(alike), suffixes=("", "_of_other"))
    both = both[both["accelerator"] != both["accelerator_of_other"]]
    return both.assign(apart=both["off"] - both["off_of_other"])


def _leaving_nine_of_ten(runs: pd.DataFrame, alike: Sequence[str]) -> float:
    """The correlation at which the stated spreads leave nine of ten ratios within [1]."""
    of = ratios_of_chips(runs, alike)
    squares = of["spread"] ** 2 + of["spread_of_other"] ** 2 - (of["apart"] / NINETY) ** 2
    most = squares / (2 * of["spread"] * of["spread_of_other"])
    # that of a ratio: between two of them a tenth and one more would be left outside
    return float(most.quantile(0.1, interpolation="lower"))


def refit() -> pd.DataFrame:
    """The table `errors_in_common`, found anew from the judged runs: `error_in_common` to four
    digits, which two libraries of linear algebra agree on, of every task and kind of model.
    """
    rows = [
        (task, kind, round(error_in_common(task, kind), 4), _SOURCES[task])
        for task in ALIKE
        for kind in KINDS
    ]
    return pd.DataFrame(rows, columns=["task", "kind", "common", "source"])
