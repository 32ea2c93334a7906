"""Read raw rows strictly, merge them with facts kept by hand, write byte-stable CSV.

A table's importer owns the sources that its rows name; every other row of a committed table was
entered by hand.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from scaleright import files
from scaleright.press import PressError

Row = dict[str, Any]


class RefreshError(PressError):
    """Raw material or a table that cannot be read as documented; nothing has been written."""


class Dropped(NamedTuple):
    """A raw row that was left out on purpose: what identifies it, and why."""

    row: str
    reason: str


class Doubtful(NamedTuple):
    """A row that says in its `flags` what is wrong with it: the import refuses it, unless told to
    keep such rows.
    """

    row: Row
    where: str
    reason: str


class Report(NamedTuple):
    """What a refresh did to one table: raw rows offered, rows written, of these kept by hand; rows
    left out, kept in doubt; flags.
    """

    table: str
    rows_in: int
    rows_out: int
    by_hand: int
    dropped: tuple[Dropped, ...]
    doubted: tuple[Doubtful, ...] = ()
    flags: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        counts = f"{self.rows_in} raw rows in, {self.rows_out} rows out ({self.by_hand} by hand)"
        lines = [f"{self.table}: {counts}, {len(self.dropped)} left out"]
        lines += [f"  flagged {flag}: {rows} rows" for flag, rows in self.flags]
        lines += [f"  kept in doubt {doubt.where}: {doubt.reason}" for doubt in self.doubted]
        return "\n".join(
            [*lines, *(f"  left out {drop.row}: {drop.reason}" for drop in self.dropped)]
        )


Items = Iterator[Row | Dropped | Doubtful]  # what an importer yields


def sift(items: Iterable[Row | Dropped]) -> tuple[list[Row], list[Dropped]]:
    """What an importer yields, apart: rows to write, and rows left out."""
    found, dropped = [], []
    for item in items:
        (dropped if isinstance(item, Dropped) else found).append(item)
    return found, dropped


def settle(
    items: Iterable[Row | Dropped | Doubtful], allow_flagged: bool = False
) -> tuple[list[Row | Dropped], list[Doubtful]]:
    """The same items with doubtful rows as rows, and those doubts apart.

    Raises
    ------
    RefreshError : there are doubtful rows and `allow_flagged` is off; it names each with its
        reason, the first twenty.
    """
    settled, doubted = [], []
    for item in items:
        doubted += [item] if isinstance(item, Doubtful) else []
        settled.append(item.row if isinstance(item, Doubtful) else item)
    if doubted and not allow_flagged:
        lines = [f"{doubt.where}: {doubt.reason}" for doubt in doubted[:_SHOWN]]
        more = [f"and {len(doubted) - _SHOWN} more"] if len(doubted) > _SHOWN else []
        raise RefreshError(
            "\n  ".join(
                [
                    f"rows in doubt: {len(doubted)} (--allow-flagged keeps them, flagged)",
                    *lines,
                    *more,
                ]
            )
        )
    return settled, doubted


_SHOWN = 20


def counted_flags(rows: Iterable[Row]) -> tuple[tuple[str, int], ...]:
    """Rows by flag, of a table whose rows have `flags` joined by semicolons.

    >>> counted_flags([{"flags": "a;b"}, {"flags": "b"}, {"flags": ""}, {}])
    (('a', 1), ('b', 2))
    """
    return tuple(
        sorted(
            Counter(
                flag for row in rows for flag in row.get("flags", "").split(";") if flag
            ).items()
        )
    )


last_read: list[str] = []
"""Raw files read since the list was last cleared, to be named in errors."""


def read_text(path: Path) -> str:
    """The text of a raw file; one that is missing, empty, packed or no UTF-8 is named."""
    name = f"{path.parent.name}/{path.name}"
    last_read.append(name)
    try:
        text = files.read_text(path, f"raw file {name}", files.MOST_TABLE)
    except files.FileError as error:
        raise RefreshError(str(error)) from None
    if not text.strip():
        raise RefreshError(f"raw file {name} is empty")
    return text


def read_json(path: Path) -> Any:
    """What a raw JSON file says; one that is none is named."""
    text, name = read_text(path), f"{path.parent.name}/{path.name}"
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise RefreshError(f"{name}: line {error.lineno}: not valid JSON: {error.msg}") from None


_SAFE = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The one in C is ten times as fast."""


def read_yaml(path: Path) -> dict:
    """The mapping of a raw YAML file; one that is none is named."""
    text, name = read_text(path), f"{path.parent.name}/{path.name}"
    try:
        found = yaml.load(text, _SAFE)  # noqa: S506, it is the safe one
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f"line {where.line + 1}: " if where else ""
        why = getattr(error, "problem", error)
        raise RefreshError(f"{name}: {line}not valid YAML: {why}") from None
    if not isinstance(found, dict):
        raise RefreshError(f"{name}: expected a mapping of fields, found {type(found).__name__}")
    return found


def parse_csv(text: str, name: str, columns: Iterable[str] | None = None) -> list[Row]:
    """Rows of CSV text as dicts of stripped text; the header must be exactly `columns` in any
    order, if given.
    """
    try:
        first, *lines = [*csv.reader(io.StringIO(text))] or [[]]
    except csv.Error as error:
        raise RefreshError(f"{name}: not a CSV file: {error}") from None
    header = [cell.strip() for cell in first]
    expected = header if columns is None else list(columns)
    if sorted(header) != sorted(expected):
        parts = [f"unknown column {c!r}" for c in header if c not in expected]
        parts += [f"missing column {c!r}" for c in expected if c not in header]
        raise RefreshError(
            f"{name}: {', '.join(parts) or 'a column is given twice'}; expected"
            f" {', '.join(expected)}"
        )
    rows = []
    for number, cells in enumerate(lines, start=2):
        if cells and len(cells) != len(header):
            shown = ",".join(cells)[:80]
            raise RefreshError(
                f"{name}: line {number} has {len(cells)} cells, expected {len(header)}: {shown}"
            )
        rows += (
            [{column: cell.strip() for column, cell in zip(header, cells, strict=True)}]
            if cells
            else []
        )
    return rows


def to_float(text: str | float, name: str, row: str, column: str) -> float | None:
    """A number as people write it in price lists; None for an empty cell or a sign of absence.

    >>> to_float("$1,417.00", "p.csv", "RTX 4090", "price"), to_float("?", "p.csv", "x", "y")
    (1417.0, None)
    """
    if isinstance(text, (int, float)):
        return text
    clean = text.replace("$", "").replace(",", "").removesuffix("hourly").strip()
    if clean in ("", "?", "X", "V", "N/A", "unavailable"):
        return None
    try:
        value = float(clean)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise RefreshError(f"{name}: row {row!r}, column {column!r}: {text!r} is not a number")
    return value


def number_text(value: float) -> str:
    """The shortest text that reads back as the same number; powers of ten from 1e12 on, where zeros
    blur.

    >>> number_text(85899345920), number_text(989e12), number_text(0.1), number_text(
    ...     3.0), number_text(3.35e12)
    ('85899345920', '9.89e14', '0.1', '3', '3.35e12')
    """
    if isinstance(value, int) or (float(value).is_integer() and abs(value) < 1e12):
        return str(int(value))
    if abs(value) < 1e12:
        return repr(float(value))
    return f"{Decimal(repr(float(value))).normalize():e}".replace("e+", "e")


def cell_text(value: Any) -> str:
    """One CSV cell: empty for None, lower-case booleans, shortest numbers."""
    if isinstance(value, bool):
        return str(value).lower()
    return (
        ""
        if value is None
        else number_text(value)
        if isinstance(value, (int, float))
        else str(value)
    )


def read_table(path: Path) -> list[Row]:
    """Rows of a committed table as text; an absent table has none."""
    return parse_csv(path.read_text(encoding="utf-8"), path.name) if path.exists() else []


def table_text(rows: Iterable[Row], schema: dict) -> str:
    """CSV text of a table: the schema's columns, sorted by its primary key, line feeds, always the
    same bytes.
    """
    columns, key = [field["name"] for field in schema["fields"]], schema["primaryKey"]
    texts = [{column: cell_text(row.get(column)) for column in columns} for row in rows]
    unknown = sorted({column for row in rows for column in row} - set(columns))
    if unknown:
        raise RefreshError(f"importer gives columns that the schema lacks: {', '.join(unknown)}")
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(sorted(texts, key=lambda row: ([row[k] for k in key], list(row.values()))))
    return out.getvalue()


def merge(
    existing: list[Row], raw: list[Row], key: list[str], sources: set[str]
) -> tuple[list[Row], list[Dropped]]:
    """Rows kept by hand plus raw rows; a fact entered by hand wins, then the raw row that comes
    first.

    With them come the raw rows that lost, each with the winner and whether the two agree.

    >>> hand, raw = {"chip": "A10", "gb": "24", "source": "datasheet"}, {"chip": "A10", "gb": 28,
    ...     "source": "tool"}
    >>> merge([hand], [raw], ("chip",), {"tool"})[1][0].reason
    'the table holds this fact by hand from datasheet, which differs in gb: 24, not 28'
    """
    kept = {tuple(row[k] for k in key): row for row in existing if row["source"] not in sources}
    by_hand, dropped = set(kept), []
    for row in raw:
        where = tuple(cell_text(row[k]) for k in key)
        winner = kept.setdefault(where, row)
        if winner is row:
            continue
        words = (
            "the table holds this fact by hand from" if where in by_hand else "already taken from"
        )
        skip = {*key, "source", "note"}
        apart = [
            f"{c}: {cell_text(winner.get(c))}, not {cell_text(v)}"
            for c, v in row.items()
            if c not in skip and not _same(winner.get(c), v)
        ]
        verdict = f"differs in {'; '.join(apart)}" if apart else "agrees"
        label = f"{' / '.join(where)} ({row['source']})"
        dropped.append(Dropped(label, f"{words} {winner['source']}, which {verdict}"))
    return list(kept.values()), dropped


def _same(a: Any, b: Any) -> bool:
    try:
        return abs(float(a) - float(b)) <= 5e-3 * abs(float(b))
    except (TypeError, ValueError):
        return cell_text(a) == cell_text(b)
