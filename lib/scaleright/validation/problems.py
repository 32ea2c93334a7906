"""What is wrong with a reader's file: all of it at once, each with its line and column."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from scaleright.catalog import DataError

MOST_SHOWN = 20
"""Problems that are printed; the rest are counted."""
FIRST_LINE = 2
"""Line of the first row, below the header."""
LONG = 2_000
"""Rows that take long enough for a bar."""


@dataclass(frozen=True, order=True)
class Problem:
    """One thing that is wrong, on a line, in a column or in the row as a whole."""

    line: int
    column: str
    message: str

    def __str__(self) -> str:
        return f"line {self.line}{f', column {self.column}' if self.column else ''}: {self.message}"


def refuse(label: str, problems: Iterable[Problem]) -> None:
    """Raise DataError with what is wrong with a file, in the order of its lines, if anything is.

    >>> refuse("mine.csv", [Problem(3, "batch", "0 is below 1"), Problem(2, "", "repeats line 5")])
    Traceback (most recent call last):
    scaleright.catalog.package.DataError: mine.csv, line 2: repeats line 5
    mine.csv, line 3, column batch: 0 is below 1
    """
    found = sorted(set(problems))
    if not found:
        return
    said = [f"{label}, {problem}" for problem in found[:MOST_SHOWN]]
    if len(found) > MOST_SHOWN:
        lines = len({problem.line for problem in found})
        said.append(
            f"{label}: {len(found):,} problems on {lines:,} lines; the first {MOST_SHOWN} are above"
        )
    raise DataError("\n".join(said))


def bar(items: Sequence[Any], what: str) -> Iterable[Any]:
    """Long work with a bar on stderr, where that is a terminal."""
    if len(items) <= LONG:
        return items
    from tqdm import tqdm

    return tqdm(items, what, unit=" rows", leave=False, disable=None)


def each(
    rows: pd.DataFrame,
    columns: Iterable[str],
    check: Callable[[dict[str, Any]], Any],
    column: str = "",
) -> Iterator[Problem]:
    """The problems that a check of a row raises, asked once for all rows that have these columns in
    common.

    column : where they stand, if not in the row as a whole
    """
    known = [column for column in columns if column in rows]
    if not known or rows.empty:
        return
    places, _ = pd.factorize(pd.MultiIndex.from_frame(rows[known].astype(str)))
    found: dict[int, str] = {}
    once = pd.Series(places).drop_duplicates().index
    records = rows.iloc[once].to_dict("records")
    for place, row in enumerate(bar(records, "checking")):
        try:
            check(row)
        except (KeyError, IndexError):
            raise  # bugs, not wrong input
        except (ValueError, LookupError) as error:
            found[place] = str(error)
    for line, place in enumerate(places):
        if place in found:
            yield Problem(int(rows.index[line]) + FIRST_LINE, column, found[place])


def where(rows: pd.DataFrame, bad: pd.Series, column: str, say: Callable[[Any], str]):
    """A problem for each row in which a condition holds; `say` gets the row as a named tuple."""
    holds = bad.fillna(False).to_numpy(bool)
    for row in rows[holds].itertuples() if holds.any() else ():
        yield Problem(row.Index + FIRST_LINE, column, say(row))
