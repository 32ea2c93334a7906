"""Check `data/` against its package: what every reader of a table checks, and what only the whole
tells.

What a constraint means and what is plausible is said once, in `scaleright.catalog`, which judges a
table whenever it is read. Here come what a single table cannot know (that a source key is in the
bibliography, that no table is left out of the package), what depends on the day (a date in the
future, facts that have gone stale), and frictionless as a second opinion: the package must be valid
by the standard, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pandas as pd

from scaleright import catalog
from scaleright import transformer as _transformer  # noqa: F401 (judges shapes by their parameters)
from scaleright.catalog import DataError, Problem

__all__ = ["Problem", "check"]

_NEEDED = (
    "name",
    "path",
    "title",
    "description",
    "schema",
    "sources",
    "licenses",
    "as_of",
    "stale_after_days",
    "min_rows",
)


def check(
    data_dir: Path, bibliography: Path | None = None, today: date | None = None
) -> list[Problem]:
    """Every problem of the tables in a folder, errors before notices.

    Parameters
    ----------
    data_dir : folder with `datapackage.json`
    bibliography : BibTeX file of the source keys; by default `book/references.bib` beside the
        folder
    today : the day on which to judge ages

    >>> check(Path("nowhere"))[0].message
    'no data package at nowhere/datapackage.json; set SCALERIGHT_DATA to a folder that has one'
    """
    data_dir, today = Path(data_dir), today or date.today()
    catalog.forget()  # the files may have changed since they were read
    try:
        entries = catalog.package(data_dir)
    except DataError as error:
        return [Problem("datapackage.json", None, None, str(error))]
    problems = [*_strangers(data_dir, entries), *_descriptions(entries, today)]
    keys, sound = _keys(bibliography or data_dir.resolve().parent / "book" / "references.bib"), []
    for name, entry in entries.items():
        frame, found = catalog.examine(data_dir, name)
        problems += found
        if frame is not None:
            problems += [*_sources(name, frame, keys), *_future(name, frame, entry, today)]
        if not found:
            sound.append(entry)
    problems += _second_opinion(data_dir, sound)
    return sorted(problems, key=lambda p: (p.notice, p.table, p.row or 0, p.field or ""))


def _keys(path: Path) -> set[str] | None:
    if not path.is_file():
        return None
    return set(re.findall(r"^@\w+\{\s*([^,\s]+)", path.read_text(encoding="utf-8"), re.MULTILINE))


def _strangers(data_dir: Path, entries: dict[str, dict]) -> Iterator[Problem]:
    for path in sorted(data_dir.rglob("*.csv")):
        name = path.relative_to(data_dir).as_posix().removesuffix(".csv")
        if name not in entries:
            yield Problem(name, None, None, "the file is in no resource of datapackage.json")


def _descriptions(entries: dict[str, dict], today: date) -> Iterator[Problem]:
    for table, entry in entries.items():
        if missing := [key for key in _NEEDED if entry.get(key) in (None, "", [])]:
            yield Problem(table, None, None, f"its resource lacks {', '.join(missing)}")
            continue
        for source in entry["sources"]:
            if gaps := [key for key in ("title", "accessed") if not source.get(key)]:
                told = f"source {source.get('title', '?')!r} lacks {', '.join(gaps)}"
                yield Problem(table, None, None, told)
        for field in entry["schema"]["fields"]:
            if not field.get("description"):
                yield Problem(table, None, field["name"], "the field has no description")
        yield from _age(table, entry, today)


def _age(table: str, entry: dict, today: date) -> Iterator[Problem]:
    try:
        as_of, fresh = date.fromisoformat(entry["as_of"]), int(entry["stale_after_days"])
    except (TypeError, ValueError):
        told = (
            f"as_of {entry['as_of']!r} is not a date (YYYY-MM-DD), or stale_after_days"
            f" {entry['stale_after_days']!r} is not a whole number"
        )
        yield Problem(table, None, None, told)
        return
    if as_of > today:
        yield Problem(table, None, None, f"as_of {as_of} lies in the future")
    elif (age := (today - as_of).days) > fresh:
        told = f"old data: as of {as_of}, {age} days old, counted as fresh for {fresh}"
        yield Problem(table, None, None, told, notice=True)


def _sources(table: str, frame: pd.DataFrame, keys: set[str] | None) -> Iterator[Problem]:
    if "source" not in frame:
        told = "the table has no source column: a number without a source"
        yield Problem(table, None, "source", told)
    elif keys is None:
        yield Problem(table, None, "source", "no bibliography found to look its keys up in")
    else:
        for i, text in enumerate(frame["source"].fillna("")):
            for key in sorted({*re.split(r"[;\s]+", text)} - keys - {""}):
                yield Problem(table, i + 2, "source", f"{key!r} is not a key of references.bib")


def _future(table: str, frame: pd.DataFrame, entry: dict, today: date) -> Iterator[Problem]:
    for field in entry["schema"]["fields"]:
        column = frame[field["name"]]
        if field["type"] == "date":
            late = column > pd.Timestamp(today)
            shown = column.dt.strftime("%Y-%m-%d")
        elif field["name"] == "year":
            late, shown = (column > today.year).fillna(False), column.astype(str)
        else:
            continue
        for i in late.to_numpy(dtype=bool).nonzero()[0].tolist():
            yield Problem(table, i + 2, field["name"], f"{shown[i]} lies in the future")


def _second_opinion(data_dir: Path, entries: list[dict]) -> Iterator[Problem]:
    """What the standard's own validator says against tables in which we found nothing wrong."""
    from frictionless import Checklist, Package, Resource, system

    names = {entry["name"] for entry in entries}
    with system.use_context(trusted=True):
        resources = [
            Resource.from_descriptor(_descriptor(entry, names), basepath=str(data_dir))
            for entry in entries
        ]
        report = Package(resources=resources).validate(Checklist(), limit_errors=50)
    for error in report.errors:
        yield Problem("datapackage.json", None, None, error.message)
    by_name = {entry["name"]: entry["path"].removesuffix(".csv") for entry in entries}
    for task in report.tasks:
        for error in task.errors:
            row, field = getattr(error, "row_number", None), getattr(error, "field_name", None)
            yield Problem(by_name[task.name], row, field, f"{error.message} (frictionless)")


def _descriptor(entry: dict, names: set[str]) -> dict:
    """What frictionless needs of a resource; keys into a table that is not sound are left out."""
    schema = {key: value for key, value in entry["schema"].items() if key != "foreignKeys"}
    if keys := [
        key
        for key in entry["schema"].get("foreignKeys", ())
        if key["reference"]["resource"] in names
    ]:
        schema["foreignKeys"] = keys
    return {
        "name": entry["name"],
        "path": entry["path"],
        "type": "table",
        "format": "csv",
        "encoding": "utf-8",
        "schema": schema,
    }
