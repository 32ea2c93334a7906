"""The shapes that importers share: read raw rows strictly, merge with facts kept by hand, write byte-stable CSV.

An importer is a module with `SOURCES`, the bibliography keys its rows carry, and
`rows(raw) -> (rows, dropped)`, where a row is a dict of column to value. Everything else in a committed
table, that is every row whose source is not one of those keys, was entered by hand from a publication and
stays as it is.
"""

from __future__ import annotations

import csv
import difflib
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable

from scaleright.press import PressError

Row = dict[str, Any]


class RefreshError(PressError):
    """Raw material or a table that cannot be read as documented; nothing has been written."""


@dataclass(frozen=True)
class Dropped:
    """A raw row that was left out on purpose: what identifies it, and why."""

    row: str
    reason: str


@dataclass(frozen=True)
class Report:
    """What a refresh did to one table: raw rows offered, rows written, of these kept by hand, rows left out."""

    table: str
    rows_in: int
    rows_out: int
    by_hand: int
    dropped: tuple[Dropped, ...]

    def __str__(self) -> str:
        counts = f"{self.rows_in} raw rows in, {self.rows_out} rows out ({self.by_hand} by hand)"
        head = f"{self.table}: {counts}, {len(self.dropped)} left out"
        return "\n".join([head, *(f"  left out {drop.row}: {drop.reason}" for drop in self.dropped)])


def read_text(path: Path) -> str:
    """The text of a raw file; a missing one is named."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        near = difflib.get_close_matches(path.name, [p.name for p in path.parent.glob("*")], 1)
        hint = f"; nearest there: {near[0]}" if near else ""
        raise RefreshError(f"raw file {path.parent.name}/{path.name} is missing in {path.parent}{hint}") from None


def read_csv(path: Path, columns: Iterable[str]) -> list[Row]:
    """Rows of a raw CSV whose header must be exactly `columns` (in any order), as dicts of stripped text.

    Raises
    ------
    RefreshError : file missing, a column unknown or missing, a row with too many or too few cells.
    """
    return parse_csv(read_text(path), f"{path.parent.name}/{path.name}", columns)


def parse_csv(text: str, name: str, columns: Iterable[str] | None = None) -> list[Row]:
    """Rows of CSV text; see `read_csv`. Without `columns` any header is taken.

    >>> parse_csv("a,b\\n1, 2\\n", "demo.csv", ("a", "b"))
    [{'a': '1', 'b': '2'}]
    >>> parse_csv("a,c\\n1,2\\n", "demo.csv", ("a", "b"))
    Traceback (most recent call last):
    scaleright.press.refresh.tables.RefreshError: demo.csv: unknown column 'c', missing column 'b'; expected a, b
    """
    reader = csv.reader(io.StringIO(text))
    header = [cell.strip() for cell in next(reader, [])]
    expected = list(columns) if columns is not None else header
    if sorted(header) != sorted(expected):
        parts = [f"unknown column {c!r}" for c in header if c not in expected]
        parts += [f"missing column {c!r}" for c in expected if c not in header]
        raise RefreshError(f"{name}: {', '.join(parts) or 'a column is given twice'}; expected {', '.join(expected)}")
    rows = []
    for number, cells in enumerate(reader, start=2):
        if not cells:
            continue
        if len(cells) != len(header):
            shown = ",".join(cells)[:80]
            raise RefreshError(f"{name}: line {number} has {len(cells)} cells, expected {len(header)}: {shown}")
        rows.append({column: cell.strip() for column, cell in zip(header, cells)})
    return rows


def to_float(text: str, name: str, row: str, column: str) -> float | None:
    """A number as people write it in price lists; None for an empty cell or a sign of absence.

    >>> to_float("$1,417.00", "p.csv", "RTX 4090", "price"), to_float("?", "p.csv", "x", "y")
    (1417.0, None)
    """
    clean = text.replace("$", "").replace(",", "").strip()
    if clean in ("", "?", "X", "V", "N/A", "unavailable"):
        return None
    try:
        return float(clean)
    except ValueError:
        raise RefreshError(f"{name}: row {row!r}, column {column!r}: {text!r} is not a number") from None


def number_text(value: float | int) -> str:
    """The shortest text that reads back as the same number; powers of ten from 1e12 on, where zeros blur.

    >>> number_text(85899345920), number_text(989e12), number_text(0.1), number_text(3.0), number_text(3.35e12)
    ('85899345920', '9.89e14', '0.1', '3', '3.35e12')
    """
    if isinstance(value, int) or (float(value).is_integer() and abs(value) < 1e12):
        return str(int(value))
    if abs(value) < 1e12:
        return repr(float(value))
    for precision in range(18):
        mantissa, _, exponent = f"{value:.{precision}e}".partition("e")
        if float(f"{mantissa}e{exponent}") == value:
            break
    return f"{mantissa}e{int(exponent)}"


def cell_text(value: Any) -> str:
    """One CSV cell: empty for None, lower-case booleans, shortest numbers."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return number_text(value) if isinstance(value, (int, float)) else str(value)


def primary_key(schema: dict) -> tuple[str, ...]:
    """The columns of a Frictionless schema that identify a row."""
    key = schema.get("primaryKey", schema["fields"][0]["name"])
    return (key,) if isinstance(key, str) else tuple(key)


def read_table(path: Path) -> list[Row]:
    """Rows of a committed table as text; an absent table has none."""
    return parse_csv(path.read_text(encoding="utf-8"), path.name) if path.exists() else []


def table_text(rows: Iterable[Row], schema: dict) -> str:
    """CSV text of a table: the schema's columns, sorted by its primary key, line feeds, always the same bytes."""
    columns, key = [field["name"] for field in schema["fields"]], primary_key(schema)
    texts = [{column: cell_text(row.get(column)) for column in columns} for row in rows]
    unknown = sorted({column for row in rows for column in row} - set(columns))
    if unknown:
        raise RefreshError(f"importer gives columns that the schema lacks: {', '.join(unknown)}")
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(sorted(texts, key=lambda row: ([row[k] for k in key], list(row.values()))))
    return out.getvalue()


def write_table(path: Path, rows: Iterable[Row], schema: dict) -> None:
    """Write a table; see `table_text`."""
    path.write_text(table_text(list(rows), schema), encoding="utf-8", newline="\n")


def merge(
    existing: list[Row], raw: list[Row], key: tuple[str, ...], sources: Iterable[str]
) -> tuple[list[Row], list[Dropped]]:
    """Rows kept by hand plus raw rows; a fact entered by hand wins, then the raw row that comes first.

    Returns
    -------
    the merged rows, and the raw rows that lost with the winner and whether the two agree.

    >>> hand = [{"chip": "A10", "gb": "24", "source": "datasheet"}]
    >>> raw = [{"chip": "A10", "gb": 28, "source": "tool"}, {"chip": "L4", "gb": 24, "source": "tool"}]
    >>> rows, dropped = merge(hand, raw, ("chip",), {"tool"})
    >>> [row["chip"] for row in rows], dropped[0].reason
    (['A10', 'L4'], 'the table holds this fact by hand from datasheet, which differs in gb: 24, not 28')
    """
    owned = set(sources)
    kept = {tuple(row[k] for k in key): row for row in existing if row["source"] not in owned}
    by_hand, dropped = set(kept), []
    for row in raw:
        where = tuple(cell_text(row[k]) for k in key)
        winner = kept.setdefault(where, row)
        if winner is row:
            continue
        words = "the table holds this fact by hand from" if where in by_hand else "already taken from"
        skip = {*key, "source", "note"}
        apart = [f"{c}: {cell_text(winner.get(c))}, not {cell_text(v)}" for c, v in row.items()
                 if c not in skip and not _same(winner.get(c), v)]  # fmt: skip
        verdict = f"differs in {'; '.join(apart)}" if apart else "agrees"
        label = f"{' / '.join(where)} ({row['source']})"
        dropped.append(Dropped(label, f"{words} {winner['source']}, which {verdict}"))
    return list(kept.values()), dropped


def _same(a: Any, b: Any) -> bool:
    try:
        return abs(float(a) - float(b)) <= 5e-3 * abs(float(b))
    except (TypeError, ValueError):
        return cell_text(a) == cell_text(b)
