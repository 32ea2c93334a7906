"""The data package: which tables there are, and what each one's `datapackage.json` entry says.

The entry is the one place that says what a table may hold: the standard's types, keys and
constraints, and besides `min_rows` (fewer mean that the file was cut), `required_rows`,
`zero_only`, `agree`, `ascending` and `plausible` (see `constraints`).
"""

import functools
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scaleright.files import FileError, file_type, parsed, read_text
from scaleright.names import nearest, suggestion

TYPES = ("string", "integer", "number", "boolean", "date")


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


class DataError(ValueError):
    """A table that is missing, incomplete or does not fit its schema."""


@functools.cache
def _own_data() -> Path:
    here = Path(__file__).resolve().parents[1]
    checkout = here.parents[1] / "data"
    return checkout if (checkout / "datapackage.json").exists() else here / "data"


def data_dir() -> Path:
    """The folder of the tables: `SCALERIGHT_DATA`, else the checkout's `data/`, else the installed
    copy.
    """
    given = os.environ.get("SCALERIGHT_DATA")
    return _folder(given) if given else _own_data()


_folder = functools.cache(Path)


@functools.cache
def package(folder: Path) -> dict[str, dict]:
    """The entries of a folder's `datapackage.json` by table, complete enough to read the tables.

    Raises
    ------
    DataError : no such file, no JSON, or an entry without which a table cannot be judged.
    """
    path = folder / "datapackage.json"
    if not file_type(path):
        raise DataError(f"no data package at {path}; set SCALERIGHT_DATA to a folder that has one")
    try:
        found = parsed(read_text(path, path.name), "JSON", path.name)
    except FileError as error:
        raise DataError(str(error)) from None
    entries: dict[str, dict] = {}
    for message in _faults(found):
        raise DataError(f"{path.name}: {message}")
    for entry in found["resources"]:
        entries[entry["path"].removesuffix(".csv")] = entry
    if len(entries) < len(found["resources"]):
        raise DataError(f"{path.name}: two resources have the same path")
    return entries


def _faults(found: Any) -> Iterator[str]:
    """What keeps the package from being used."""
    resources = found.get("resources") if isinstance(found, dict) else None
    if not isinstance(resources, list) or not all(isinstance(r, dict) for r in resources):
        yield 'it needs {"resources": [...]}, one object a table'
        return
    names = {entry.get("name") for entry in resources}
    for number, entry in enumerate(resources, start=1):
        title = entry.get("path") or entry.get("name") or f"number {number}"
        schema = entry.get("schema")
        fields = schema.get("fields") if isinstance(schema, dict) else None
        if not isinstance(entry.get("path"), str) or not isinstance(fields, list) or not fields:
            yield f"resource {title} needs a path and a schema with fields"
            continue
        yield from (f"resource {title}: {fault}" for fault in _schema_faults(schema, names))
        yield from (f"resource {title}: {fault}" for fault in _own_faults(entry))


def _schema_faults(schema: dict, resources: Iterable[str | None]) -> Iterator[str]:
    for field in schema["fields"]:
        if not isinstance(field, dict) or not isinstance(field.get("name"), str):
            yield f"a field without a name: {field!r}"
            return
        if field.get("type") not in TYPES:
            allowed = ", ".join(TYPES)
            yield f"field {field['name']} has type {field.get('type')!r}; allowed: {allowed}"
        if not isinstance(rules := field.get("constraints", {}), dict):
            yield f"field {field['name']}: its constraints are no object"
            continue
        for rule in sorted(set(rules) - set(RULES)):
            yield f"field {field['name']}: unknown constraint {rule!r}; {suggestion(rule, RULES)}"
        for rule in ("minimum", "maximum"):
            if not isinstance(rules.get(rule, 0), (int, float)):
                yield f"field {field['name']}: {rule} = {rules[rule]!r} is not a number"
    names = [field["name"] for field in schema["fields"]]
    if len(set(names)) < len(names):
        yield f"field {next(n for n in names if names.count(n) > 1)} is declared twice"
    used = [*primary_key(schema)]
    for key in schema.get("foreignKeys", ()):
        used += key["fields"]
        if key["reference"]["resource"] not in resources:
            yield f"its foreign key points to no resource: {key['reference']['resource']!r}"
    for name in dict.fromkeys(used):
        if name not in names:
            yield f"its key names {name!r}, which is no field; {suggestion(name, names)}"


def _own_faults(entry: dict) -> Iterator[str]:
    """What is wrong with the properties that only this package has."""
    names = [field["name"] for field in entry["schema"]["fields"]]
    if not isinstance(entry.get("min_rows", 1), int):
        yield f"min_rows = {entry['min_rows']!r} is not a whole number"
    used = [name for row in entry.get("required_rows", ()) for name in row]
    if "zero_only" in entry:
        used += [*entry["zero_only"]["columns"], *entry["zero_only"]["where"]]
    for kind, (needed, more) in CONTRADICTIONS.items():
        for rule in entry.get(kind, ()):
            if needed - {*rule} or {*rule} - needed - more or not rule.get("within", 2) > 1:
                wants = ", ".join([*sorted(needed), *(f"perhaps {name}" for name in sorted(more))])
                yield f"a rule of kind {kind} has {', '.join(rule)}; it wants {wants}"
                continue
            used += [*rule.get("like", ()), *rule.get("fields", ()), *rule.get("where", ())]
            used += [rule[name] for name in ("from", "until", "field", "by") if name in rule]
    for rule in entry.get("plausible", ()):
        if {*rule} - {"product", "per"} not in PLAUSIBLE or not _pairs(rule):
            yield (
                f"a plausible rule has {', '.join(rule)}; allowed: fields with between [low, high]"
                " (and product), with by and bounds, or with like and within (and per)"
            )
            continue
        used += [*rule["fields"], *rule.get("product", ()), *rule.get("per", ())]
        used += [*rule.get("like", ()), *([rule["by"]] if "by" in rule else ())]
    for name in dict.fromkeys(used):
        if name not in names:
            yield f"a rule names {name!r}, which is no field; {suggestion(name, names)}"


def _pairs(rule: dict) -> bool:
    """Whether the limits of a plausible rule are low and high, and its factor one above 1."""
    limits = [rule["between"]] if "between" in rule else list(rule.get("bounds", {}).values())
    return rule.get("within", 2) > 1 and all(
        len(pair) == 2 and pair[0] <= pair[1] for pair in limits
    )


def primary_key(schema: dict) -> list[str]:
    """The columns that name a row; the standard lets a single one stand without a list."""
    key = schema.get("primaryKey", [])
    return [key] if isinstance(key, str) else list(key)


RULES = ("required", "unique", "minimum", "maximum", "enum", "pattern")
"""The constraints of the standard that a field may have here; any other would be left unchecked."""


CONTRADICTIONS = {
    "agree": ({"like", "fields", "within"}, {"from", "until"}),
    "ascending": ({"field", "by", "order", "why"}, {"where"}),
}
"""The kinds of rules that say which rows contradict each other (see `constraints`): what one
must have, and what it may.
"""
PLAUSIBLE = ({"fields", "between"}, {"fields", "by", "bounds"}, {"fields", "like", "within"})
"""The kinds of rules that say what is plausible (see `constraints`)."""


def resource(name: str) -> dict:
    """The data package's entry of a table: title, schema, sources, licence, dates."""
    resources = package(data_dir())
    return resources[name] if name in resources else nearest(name, resources, "table")
