"""The facts beside this code, read by one function each: names, columns and factors, known-wrong
values.

A name there may be a pattern (`*` stands for any text): a name's own line goes first, then the
first pattern that fits.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import NamedTuple

from refresh.tables import Dropped, Items, RefreshError, Row, parse_csv, read_text, to_float


# What becomes of a raw name: keep it (as `ours`), drop it (for `reason`) or skip it (without a
# word).
class Rule(NamedTuple):
    """What to do with a name of the sources, our name for it, and why."""

    action: str
    ours: str
    reason: str


@cache
def facts(name: str) -> list[Row]:
    """Lines of a CSV table beside this module."""
    return parse_csv(Path(__file__).with_name(name).read_text(encoding="utf-8"), name)


@cache
def _lines(table: str, column: str, **where: str) -> dict[str, Row]:
    """Lines that hold for all of `where`, by what they say in `column`."""
    return {
        line[column]: line
        for line in facts(table)
        if all(fnmatchcase(v, line[c]) for c, v in where.items())
    }


def _fitting(lines: dict[str, Row], name: str) -> Row | None:
    return lines.get(name) or next(
        (line for pattern, line in lines.items() if fnmatchcase(name, pattern)), None
    )


def rule(file: str, what: str, name: str) -> Rule:
    """What `rules.csv` says of a name in a raw file; RefreshError where no line fits.

    >>> rule("accelerator_specs/llm_analysis_gpu_configs.csv", "accelerator", "a10-pcie-28gb")
    Rule(action='keep', ours='A10', reason='')
    """
    line = _fitting(_lines("rules.csv", "name", file=file, what=what), name)
    if line is None:
        raise RefreshError(
            f"{file}: unknown {what} {name!r}; add a line for it to refresh/rules.csv"
        )
    return Rule(line["action"], line["ours"], line["reason"])


def kept(file: str, what: str) -> dict[str, str]:
    """All raw names of a file that are kept, with ours."""
    lines = _lines("rules.csv", "name", file=file, what=what)
    return {name: line["ours"] for name, line in lines.items() if line["action"] == "keep"}


@cache
def columns(file: str) -> list[tuple[list[str], list[str], Row]]:
    """What `columns.csv` says of a raw file: columns (the first filled one counts), our quantities,
    the whole line.
    """
    lines = [line for line in facts("columns.csv") if fnmatchcase(file, line["file"])]
    return [
        (line["columns"].split(";"), line["ours"].split(";") if line["ours"] else [], line)
        for line in lines
    ]


def header(file: str) -> list[str]:
    """The columns a raw file must have."""
    return list(dict.fromkeys(name for names, _, _ in columns(file) for name in names))


def read_csv(raw: Path, file: str) -> list[Row]:
    """Rows of a raw CSV, whose header must be what `columns.csv` says; see `parse_csv`."""
    return parse_csv(read_text(raw / file), file, header(file))


def quantities(row: Row, file: str, name: str) -> Iterator[tuple[str, float, str]]:
    """Each quantity that a raw row gives, in our units, with its note; `name` says in errors which
    row it was.
    """
    for names, ours, line in columns(file):
        column = next((c for c in names if row.get(c, "") != ""), names[0])
        value = to_float(row.get(column, ""), file, name, column) if ours else None
        if value is not None:
            value = value * float(line["scale"]) if line["scale"] else value
            note = line["note"].format_map(row).rstrip("; ")
            yield from ((quantity, value, note) for quantity in ours)


def numbers(row: Row, file: str, name: str) -> dict[str, float]:
    """What `quantities` gives, by quantity, at nine digits."""
    return {quantity: float(f"{value:.9g}") for quantity, value, _ in quantities(row, file, name)}


def without_wrong(items: Items) -> Items:
    """The same items, with every fact that `wrong.csv` names dropped for its reason.

    >>> fact = {"accelerator": "A10", "quantity": "memory_bytes", "value": 28e9,
    ...     "source": "llmanalysis"}
    >>> next(without_wrong([fact])).reason
    '28 GB is wrong: an A10 has 24'
    """
    for item in items:
        if not isinstance(item, Dropped):
            chip, quantity, source = item["accelerator"], item["quantity"], item["source"]
            if line := _fitting(
                _lines("wrong.csv", "accelerator", source=source, quantity=quantity), chip
            ):
                item = Dropped(f"{chip} / {quantity} ({source})", line["reason"])
        yield item
