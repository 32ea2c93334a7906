"""Check `data/` against its package: types and constraints, keys between tables, sources, licences,
dates.

frictionless judges cells and rows; what it cannot know (that a source key is in the bibliography,
that no table is left out of the package, that a date lies in the future, that facts have gone
stale) is checked here.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from scaleright.names import suggestion

Cells = list[tuple[int, dict[str, str]]]
"""The rows of a table: line of the file, cells by column."""
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
)


@dataclass(frozen=True)
class Problem:
    """Something wrong with a table; a notice (staleness) does not fail the check.

    row : line of the file, the header being line 1; None where no single row is meant.
    """

    table: str
    row: int | None
    field: str | None
    message: str
    notice: bool = False

    def __str__(self) -> str:
        row, column = (
            f", row {self.row}" if self.row else "",
            f", column {self.field}" if self.field else "",
        )
        return f"table {self.table}{row}{column}: {self.message}"


def check(
    data_dir: Path, bibliography: Path | None = None, today: date | None = None
) -> list[Problem]:
    """Every problem of the tables in a folder, errors before notices.

    Parameters
    ----------
    data_dir : folder with `datapackage.json`
    bibliography : BibTeX file of the source keys; by default `book/references.bib` beside the
        folder, else inside it
    today : the day on which to judge ages

    >>> check(Path("nowhere"))[0].message
    'no datapackage.json in nowhere'
    """
    data_dir, today = Path(data_dir), today or date.today()
    path = data_dir / "datapackage.json"
    try:
        package = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return [Problem("datapackage.json", None, None, f"no datapackage.json in {data_dir}")]
    except json.JSONDecodeError as error:
        return [Problem("datapackage.json", error.lineno, None, f"not valid JSON: {error.msg}")]
    problems = [*_strangers(data_dir, package), *_descriptions(package, today)]
    keys, whole = _keys(bibliography or _bibliography(data_dir)), []
    for entry in package["resources"]:
        if not all(key in entry for key in _NEEDED):
            continue
        try:
            header, rows = _rows(data_dir / entry["path"])
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            reason = getattr(error, "strerror", None) or error
            problems.append(
                Problem(_name(entry), None, None, f"{entry['path']} cannot be read: {reason}")
            )
            continue
        bad = list(_shape(entry, header, rows))
        problems += bad
        if not bad:
            whole.append(entry)
            cells = [(number, dict(zip(header, row))) for number, row in enumerate(rows, start=2)]
            problems += [
                *_sources(entry, header, cells, keys),
                *_ranges(entry, header, cells),
                *_future(entry, cells, today),
            ]
            problems += [*_absent(entry, cells), *_zeros(entry, cells)]
    problems += _frictionless(data_dir, whole)
    return sorted(problems, key=lambda p: (p.notice, p.table, p.row or 0, p.field or ""))


def _name(entry: dict) -> str:
    return entry.get("path", entry.get("name", "?")).removesuffix(".csv")


def _bibliography(data_dir: Path) -> Path:
    beside = data_dir.resolve().parent / "book" / "references.bib"
    return beside if beside.exists() else data_dir / "references.bib"


def _keys(path: Path) -> set[str] | None:
    if not path.is_file():
        return None
    return set(re.findall(r"^@\w+\{\s*([^,\s]+)", path.read_text(encoding="utf-8"), re.MULTILINE))


def _rows(path: Path) -> tuple[list[str], list[list[str]]]:
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = [*csv.reader(file)] or [[]]
    return header, rows


def _strangers(data_dir: Path, package: dict) -> Iterator[Problem]:
    known = {entry.get("path") for entry in package["resources"]}
    for path in sorted(data_dir.rglob("*.csv")):
        relative = path.relative_to(data_dir).as_posix()
        if relative not in known:
            yield Problem(
                relative.removesuffix(".csv"),
                None,
                None,
                "the file is in no resource of datapackage.json",
            )


def _descriptions(package: dict, today: date) -> Iterator[Problem]:
    for entry in package["resources"]:
        table, missing = _name(entry), [key for key in _NEEDED if not entry.get(key)]
        if missing:
            yield Problem(table, None, None, f"its resource lacks {', '.join(missing)}")
            continue
        for source in entry["sources"]:
            if gaps := [key for key in ("title", "accessed") if not source.get(key)]:
                yield Problem(
                    table,
                    None,
                    None,
                    f"source {source.get('title', '?')!r} lacks {', '.join(gaps)}",
                )
        for field in entry["schema"]["fields"]:
            if not field.get("description"):
                yield Problem(table, None, field["name"], "the field has no description")
        try:
            as_of = date.fromisoformat(entry["as_of"])
        except ValueError:
            yield Problem(table, None, None, f"as_of {entry['as_of']!r} is not a date (YYYY-MM-DD)")
            continue
        if as_of > today:
            yield Problem(table, None, None, f"as_of {as_of} lies in the future")
        elif (today - as_of).days > (days := int(entry["stale_after_days"])):
            age = (today - as_of).days
            yield Problem(
                table,
                None,
                None,
                f"old data: as of {as_of}, {age} days old, counted as fresh for {days}",
                notice=True,
            )


def _shape(entry: dict, header: list[str], rows: list[list[str]]) -> Iterator[Problem]:
    """Columns and cells per row; where these are wrong, nothing else about the table can be judged."""
    expected = [field["name"] for field in entry["schema"]["fields"]]
    if header != expected:
        message = f"columns are {', '.join(header) or 'none'}; expected {', '.join(expected)}"
        yield Problem(_name(entry), 1, None, message)
    for number, cells in enumerate(rows, start=2):
        if len(cells) != len(expected):
            message = f"{len(cells)} cells, expected {len(expected)}: {','.join(cells)[:80]!r}"
            yield Problem(_name(entry), number, None, message)


def _sources(
    entry: dict, header: list[str], cells: Cells, keys: set[str] | None
) -> Iterator[Problem]:
    if "source" not in header:
        yield Problem(
            _name(entry),
            None,
            "source",
            "the table has no source column: a number without a source",
        )
    elif keys is None:
        yield Problem(_name(entry), None, "source", "no bibliography found to look its keys up in")
    else:
        for number, row in cells:
            for key in sorted({*re.split(r"[;\s]+", row["source"])} - keys - {""}):
                yield Problem(
                    _name(entry), number, "source", f"{key!r} is not a key of references.bib"
                )


def _future(entry: dict, cells: Cells, today: date) -> Iterator[Problem]:
    dated = {
        field["name"]: "-01-01" for field in entry["schema"]["fields"] if field["name"] == "year"
    }
    dated |= {field["name"]: "" for field in entry["schema"]["fields"] if field["type"] == "date"}
    for number, row in cells:
        for field, rest in dated.items():
            # Of dates written alike the later one is the greater text; a cell that is no date is
            # reported by its type.
            if (
                re.fullmatch(r"\d{4}-\d\d-\d\d", row[field] + rest)
                and row[field] + rest > today.isoformat()
            ):
                yield Problem(_name(entry), number, field, f"{row[field]} lies in the future")


def _absent(entry: dict, cells: Cells) -> Iterator[Problem]:
    """Rows that the library reads by name and that the resource therefore lists as required."""
    for wanted in entry.get("required_rows", ()):
        if not any(
            all(row.get(name) == value for name, value in wanted.items()) for _, row in cells
        ):
            yield Problem(
                _name(entry),
                None,
                None,
                f"no row with {', '.join(f'{name} {value!r}' for name, value in wanted.items())}",
            )


def _zeros(entry: dict, cells: Cells) -> Iterator[Problem]:
    """Prices of zero outside the rows for which the resource allows them."""
    rule = entry.get("zero_only", {"columns": (), "where": {}})
    free = " or ".join(f"{name} {' or '.join(values)}" for name, values in rule["where"].items())
    for number, row in cells:
        if not any(row.get(name) in values for name, values in rule["where"].items()):
            for column in rule["columns"]:
                if re.fullmatch(r"0*\.?0+", row[column]):
                    yield Problem(_name(entry), number, column, f"a price of 0 is for {free} only")


def _ranges(entry: dict, header: list[str], cells: Cells) -> Iterator[Problem]:
    """Cells of columns low..., typical..., high... must rise."""
    columns = [
        name
        for word in ("low", "typical", "high")
        for name in header
        if re.match(rf"{word}(_|$)", name)
    ]
    if len(columns) != 3:
        return
    for number, row in cells:
        try:
            low, typical, high = (float(row[name]) for name in columns)
        except ValueError:
            continue  # a cell that is no number is reported by its type
        if not low <= typical <= high:
            yield Problem(
                _name(entry),
                number,
                columns[1],
                f"low {low:g}, typical {typical:g}, high {high:g} do not rise",
            )


def _frictionless(data_dir: Path, entries: list[dict]) -> Iterator[Problem]:
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
    by_name = {entry["name"]: entry for entry in entries}
    for task in report.tasks:
        for error in task.errors:
            entry = by_name[task.name]
            field = (
                ", ".join(error.field_names)
                if error.type == "foreign-key"
                else getattr(error, "field_name", None)
            )
            yield Problem(
                _name(entry), getattr(error, "row_number", None), field, _words(entry, error, field)
            )


def _descriptor(entry: dict, names: set[str]) -> dict:
    """What frictionless needs of a resource; keys into a table that could not be read are left out."""
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


def _words(entry: dict, error, field: str | None) -> str:
    """An error of frictionless as a person would say it: the value, and what is allowed."""
    value = getattr(error, "cell", None)
    spec = next((f for f in entry["schema"]["fields"] if f["name"] == field), {})
    if error.type == "type-error":
        money = "usd" in (field or "") or "USD" in spec.get("unit", "")
        if (
            money
            and re.search(r"[^\W\d_eE]|[^\w\s.,+-]", str(value))
            and re.search(r"\d", str(value))
        ):
            return (
                f"{value!r} is not a plain number of US dollars; a table does not mix currencies or"
                " units"
            )
        return f"{value!r} is not a {spec.get('type', 'value of its type')}"
    if error.type == "foreign-key":
        values, columns = (
            ", ".join(map(repr, error.field_cells)),
            ", ".join(error.reference_field_names),
        )
        return f"{values} is not in column {columns} of table {error.reference_name}"
    if error.type in ("primary-key", "unique-error"):
        return f"repeats another row: {error.note}"
    if error.type != "constraint-error":
        return error.note or error.message
    rules = spec.get("constraints", {})
    if value in (None, ""):
        return "the cell is empty, but a value is required"
    if value not in rules.get("enum", [value]):
        return f"{value!r} is not allowed; {suggestion(value, rules['enum'])}"
    bounds = (("minimum", "at least"), ("maximum", "at most"))
    limits = [f"{words} {rules[rule]:g}" for rule, words in bounds if rule in rules]
    return f"{value!r} is not allowed: {' and '.join(limits) or error.note}"
