"""The runs of MLPerf Training that took the least of something."""

from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType

import pandas as pd

from scaleright.catalog import shared
from scaleright.mlperf.training import benchmark_results, training_results

MEASURES = ("time_to_train_s", "chip_hours", "chips_kwh")


def record(benchmark: str, round: str | None = None, least: str = "time_to_train_s") -> pd.Series:
    """The result with the least of something: time, `chip_hours` or `chips_kwh`, where that is
    known.

    Raises
    ------
    LookupError : as `benchmark_results`, or nobody's is known.

    >>> int(record("llama31_405b")["accelerators"]), round(
    ...     float(record("llama31_405b")["time_to_train_s"]) / 60, 2)
    (5120, 9.99)
    """
    found = _records().get((benchmark, round, least))
    return (
        _record(benchmark_results(benchmark, round), benchmark, least) if found is None else found
    )


def _record(runs: pd.DataFrame, benchmark: str, least: str) -> pd.Series:
    known = runs.dropna(subset=least)
    if known.empty:
        raise LookupError(f"no result of {benchmark} has a known {least}")
    return known.sort_values(least, kind="stable").iloc[0]


@shared
def _records() -> Mapping[tuple[str, str | None, str], pd.Series]:
    """The `record` of each title, in each round and in all, with the least of each measure."""
    found = {}
    for title, rounds in training_results().groupby("title")["round"].unique().items():
        for name in (None, *rounds):
            with suppress(LookupError):  # all of them in doubt
                runs = benchmark_results(title, name)
                for least in MEASURES:
                    with suppress(LookupError):
                        found[title, name, least] = _record(runs, title, least)
    return MappingProxyType(found)
