"""A CSV file as its schema types it: whole, or with every cell that does not parse named.

Strict where a lenient reader guesses: a row has as many cells as the header, a number is finite and
written as one, the last line is ended. pandas' own reader fills short rows with blanks and takes
`nan`, `inf` and a header with the same name twice.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from scaleright.catalog.package import DataError, Problem
from scaleright.files import MOST_TABLE, FileError, read_bytes

_ARTICLES = {"integer": "an"}


class Read(NamedTuple):
    """What a file holds: a typed frame (None where its form is broken; a bad cell is blank in it),
    the text of its columns, and what is wrong.
    """

    frame: pd.DataFrame | None
    text: dict[str, Sequence[str]]
    problems: list[Problem]


def read(path: Path, schema: dict, label: str) -> Read:
    """Read a CSV file as its schema types it, with all that is wrong with its form and cells."""
    try:
        text = read_bytes(path, path.name, MOST_TABLE).decode("utf-8")
    except FileError as error:
        why = f"{path.name} cannot be read: {error.why}"
        return Read(None, {}, [Problem(label, None, None, why)])
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        why = f"{path.name} cannot be read: not UTF-8 at byte {error.start}"
        return Read(None, {}, [Problem(label, line, None, why)])
    try:
        header, *rows = [*csv.reader(io.StringIO(text, newline=""), strict=True)] or [[]]
    except csv.Error as error:
        return Read(None, {}, [Problem(label, None, None, f"{path.name} cannot be read: {error}")])
    if broken := list(_form(text, header, rows, schema, label)):
        return Read(None, {}, broken)
    typed, problems = {}, []
    columns: dict[str, Sequence[str]] = dict(
        zip(header, zip(*rows, strict=True) if rows else [()] * len(header), strict=True)
    )
    for spec, cells in zip(schema["fields"], columns.values(), strict=True):
        typed[spec["name"]], bad = _typed(cells, spec)
        problems += [Problem(label, i + 2, spec["name"], _words(cells[i], spec)) for i in bad]
    return Read(pd.DataFrame(typed), columns, problems)


def read_csv(path: Path, schema: dict, label: str) -> pd.DataFrame:
    """Read a CSV file as its schema types it; an error names table, line, column and value.

    Raises
    ------
    DataError : the file is missing, a column is missing or unknown, a cell does not parse or is
        empty though required.
    """
    frame, _, problems = read(path, schema, label)
    for problem in problems:
        line, column = (
            f", line {problem.row}" if problem.row else "",
            f", column {problem.field}" if problem.field else "",
        )
        raise DataError(f"table {label}{line}{column}: {problem.message}")
    assert frame is not None
    return frame


def _form(
    text: str, header: list[str], rows: list[list[str]], schema: dict, label: str
) -> Iterator[Problem]:
    """Columns, cells per row and the end of the last line; a broken form tells nothing of cells."""
    names = [field["name"] for field in schema["fields"]]
    if not text:
        yield Problem(label, None, None, "the file is empty")
    elif text.startswith("\ufeff"):
        why = "the file starts with a byte order mark; save it as plain UTF-8"
        yield Problem(label, 1, None, why)
    elif header != names:
        twice = sorted({name for name in header if header.count(name) > 1})
        parts = [
            f"{word}: {', '.join(columns)}"
            for word, columns in (
                ("missing", [name for name in names if name not in header]),
                ("unknown", [name for name in header if name not in names]),
                ("twice", twice),
            )
            if columns
        ]
        told = f" ({'; '.join(parts) or 'in another order'})"
        why = f"columns are {', '.join(header) or 'none'}; expected {', '.join(names)}{told}"
        yield Problem(label, 1, None, why)
    for number, cells in enumerate(rows, start=2):
        if len(cells) != len(names):
            why = f"{len(cells)} cells, expected {len(names)}: {','.join(cells)[:80]!r}"
            yield Problem(label, number, None, why)
    if text and not text.endswith("\n"):
        why = "the last line has no end: the file was cut, or saved without its last line feed"
        yield Problem(label, len(rows) + 1, None, why)


def _words(cell: str, spec: dict) -> str:
    """A cell that does not fit its type, as a person would say it."""
    if not cell:
        return "the cell is empty, but a value is required"
    money = "usd" in spec["name"] or "USD" in spec.get("unit", "")
    if money and re.search(r"[^\W\d_eE]|[^\w\s.,+-]", cell) and re.search(r"\d", cell):
        return (
            f"{cell!r} is not a plain number of US dollars; a table does not mix currencies or"
            " units"
        )
    shown = repr(cell if len(cell) <= 60 else cell[:60] + "...")
    return f"{shown} is not {_ARTICLES.get(spec['type'], 'a')} {spec['type']}"


def _typed(cells: Sequence[str], spec: dict) -> tuple[Any, list[int]]:
    """A column of its type, blank where a cell does not parse, and the places of such cells."""
    bad = (
        [i for i, cell in enumerate(cells) if not cell]
        if spec.get("constraints", {}).get("required") and "" in cells
        else []
    )
    if spec["type"] == "string":
        return pd.array([cell or None for cell in cells], dtype="str"), bad
    signs, convert = _KINDS[spec["type"]]
    column = _converted(cells, signs, convert)
    if column is None:  # rare: look at each cell on its own
        fits = {cell: _converted([cell], signs, convert) is not None for cell in {*cells}}
        bad += [i for i, cell in enumerate(cells) if not fits[cell]]
        column = convert([cell if fits[cell] else "" for cell in cells])
    return column, sorted(bad)


def _converted(cells: Sequence[str], signs: re.Pattern, convert: Callable) -> Any:
    """The cells as one column, None where one of them does not parse."""
    if not signs.fullmatch("\n".join(cells)):
        return None
    try:
        return convert(cells)
    except (ValueError, OverflowError):
        return None


def _numbers(cells: Sequence[str]) -> np.ndarray:
    column = np.array([float(cell) if cell else np.nan for cell in cells], dtype=float)
    if np.isinf(column).any():
        raise OverflowError("too large for a number")
    return column


def _integers(cells: Sequence[str]) -> pd.arrays.IntegerArray:
    blank = np.array([not cell for cell in cells], dtype=bool)
    return pd.arrays.IntegerArray(np.array([int(c or 0) for c in cells], dtype="int64"), blank)


def _booleans(cells: Sequence[str]) -> pd.arrays.BooleanArray:
    blank = np.array([not cell for cell in cells], dtype=bool)
    return pd.arrays.BooleanArray(np.array([c == "true" for c in cells], dtype=bool), blank)


def _dates(cells: Sequence[str]) -> np.ndarray:
    return np.array(cells, dtype="datetime64[us]")


_KINDS: dict[str, tuple[re.Pattern, Callable[[Sequence[str]], Any]]] = {
    "integer": (re.compile(r"[-+0-9\n]*"), _integers),
    "number": (re.compile(r"[-+.eE0-9\n]*"), _numbers),
    "boolean": (re.compile(r"(?:(?:true|false)?\n)*(?:true|false)?"), _booleans),
    "date": (re.compile(r"(?:(?:\d{4}-\d\d-\d\d)?\n)*(?:\d{4}-\d\d-\d\d)?"), _dates),
}
"""By type: the signs that its cells may hold (Python would also read `nan`, `1_000` and ` 1`), and
how to convert them.
"""
