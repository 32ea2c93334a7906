"""Every row of MLPerf Inference (closed division, data center), what its flags mean, and which rows
may be compared per chip.
"""

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from scaleright.catalog import shared, table
from scaleright.names import one_of

ROUNDS = ("v3.0", "v3.1", "v4.0", "v4.1", "v5.1", "v6.0", "v6.1")
"""Rounds of the table; v5.0 could not be had."""


class Flag(NamedTuple):
    """What is special about a row, and whether it keeps the row out of comparisons per chip."""

    meaning: str
    excluded: bool


FLAGS = {
    "cpu_only": Flag("no accelerator took part", True),
    "heterogeneous": Flag("chips of several kinds, of which only the sum is given", True),
    "mig_slices": Flag("slices of a GPU are counted as accelerators", True),
    "network": Flag("network division: queries arrive over a network", True),
    "virtualized": Flag("run in a virtual machine", True),
    "power_run": Flag("power was measured, at clocks lowered for it (MaxQ)", True),
    "power_capped": Flag("the chip's power limit was lowered", True),
    "raised_power": Flag("the chip's power limit was raised, with special cooling", True),
    "duplicate_accuracy": Flag("the same result also stands under the 99.9 % target", True),
    "implausible": Flag("outside what its neighbors allow; kept on request", True),
    "unknown_unit": Flag("the unit is not known; kept on request", True),
    "unknown_benchmark": Flag("benchmark, scenario or round is not known; kept on request", True),
    "unknown_accelerator": Flag("the accelerator is not known; kept on request", True),
    "no_count": Flag("the number of accelerators is not known; kept on request", True),
    "unknown_column": Flag("the raw file had a column that is not known; kept on request", False),
    "corrected_count": Flag(
        "the source's number of accelerators was wrong and is corrected", False
    ),
    "corrected_unit": Flag("the source holds another unit; the value is converted", False),
    "relabelled_unit": Flag("the source names another unit; the value is as published", False),
    "preview": Flag("not on sale at the time of the round", False),
    "transcribed": Flag("typed by hand from the published summary", False),
}
"""Flags of the table `mlperf_inference`, in the order in which `cleaning_report` counts a row's
first.
"""


@shared
def _results() -> pd.DataFrame:
    rows = table("mlperf_inference")
    kinds = table("mlperf_benchmarks").drop_duplicates("benchmark")[
        ["benchmark", "architecture", "task", "model"]
    ]
    rows = rows.merge(kinds, on="benchmark", how="left")
    rows["flags"] = rows["flags"].fillna("")
    rows["per_accelerator"] = rows["value"] / rows["accelerators"].astype(float).where(
        rows["accelerators"] > 0
    )
    rows["lower_is_better"] = rows["unit"].isin(["s", "ms"])
    return rows


def results(rounds: Iterable[str] | None = None) -> pd.DataFrame:
    """Every row of the given rounds (default: all), with architecture, task and model of its
    benchmark.

    `per_accelerator` is value / accelerators, derived by this book, and missing where no
    accelerator was counted. For latencies (`lower_is_better`) it means nothing: they do not add up
    over chips.

    Raises
    ------
    LookupError : no such round (v5.0 is missing).

    >>> results(["v6.0"])["round"].unique().tolist()
    ['v6.0']
    """
    rows = _results()
    if rounds is None:
        return rows
    for name in (wanted := list(rounds)):
        one_of(name, ROUNDS, "round of MLPerf Inference")
    return rows[rows["round"].isin(wanted)].reset_index(drop=True)


def _first_exclusion(flags: pd.Series, allow: frozenset[str]) -> pd.Series:
    """The first of a row's flags that keeps it out, or an empty text."""
    out = [name for name, flag in FLAGS.items() if flag.excluded and name not in allow]
    return flags.map(
        lambda text: next((name for name in out if name in text.split(";")), "") if text else ""
    )


def comparable(rounds: Iterable[str] | None = None, allow: Iterable[str] = ()) -> pd.DataFrame:
    """Rows that may be compared per chip: one kind of accelerator, counted, none of the excluding
    flags.

    Parameters
    ----------
    rounds : names of rounds, default all
    allow : excluding flags to let pass, such as `power_run` when power is what is compared

    Raises
    ------
    LookupError : no such round or flag.

    >>> comparable()["per_accelerator"].notna().all()
    np.True_
    """
    for name in (allowed := frozenset(allow)):
        one_of(name, FLAGS, "flag")
    rows = results(rounds)
    fit = (
        (_first_exclusion(rows["flags"], allowed) == "")
        & rows["accelerator"].notna()
        & (rows["accelerators"] > 0)
    )
    return rows[fit].reset_index(drop=True)


def cleaning_report() -> pd.DataFrame:
    """How many rows there are, how many leave the comparison per chip and why (each at its first
    reason), how many stay.

    >>> report = cleaning_report().set_index("reason")["rows"]
    >>> report.iloc[0] - report.iloc[1:-1].sum() == report.iloc[-1] == len(comparable())
    np.True_
    """
    rows = _results()
    counts = _first_exclusion(rows["flags"], frozenset()).value_counts()
    out = [(flag.meaning, int(counts[name])) for name, flag in FLAGS.items() if counts.get(name)]
    kept = int(counts.get("", 0))
    return pd.DataFrame(
        [("rows in the table", len(rows)), *out, ("rows compared per chip", kept)],
        columns=["reason", "rows"],
    )


def submission(id: str) -> pd.Series:
    """One row by its id: that of the source, with benchmark and scenario where the source's names a
    whole system.

    Raises
    ------
    LookupError : no such row; the nearest id is offered.
    """
    rows = _results().set_index("id", drop=False)
    return rows.loc[one_of(id, rows.index, "MLPerf submission")]
