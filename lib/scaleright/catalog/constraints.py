"""What the data package demands of a table: the one home of the meaning of a constraint.

The standard's constraints and keys, and this package's own: `min_rows`, `required_rows` (rows that
the library reads by name), `zero_only` (where a price may be 0), `agree` and `ascending` (rows that
contradict each other, see `contradictions`) and columns low..., typical..., high... that must rise.
All is judged by whole columns, because every table is checked whenever it is read; `data check`
says the same.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from scaleright.catalog.contradictions import disagreeing, falling
from scaleright.catalog.package import Problem, primary_key
from scaleright.names import suggestion

Text = Mapping[str, Sequence[str]]
"""The columns of a table as they are written."""
Referred = Callable[[str], pd.DataFrame | None]
Found = Iterator[tuple[int | None, str | None, str]]
"""Place of the row in the frame (None: no single one), field, message."""


def problems(
    frame: pd.DataFrame,
    text: Text,
    entry: dict,
    label: str,
    referred: Referred,
) -> Iterator[Problem]:
    """Everything in which a typed table departs from its entry.

    Parameters
    ----------
    frame : the table; cells that did not parse are blank and were reported
    text : its columns as they are written, which answers most questions at a tenth of the price
    entry : its resource of the data package
    label : its name in messages
    referred : gives the table of a resource that a foreign key names; None leaves the key out
    """
    schema = entry["schema"]
    for found in (
        _floor(frame, entry),
        *(_range(frame[field["name"]], field) for field in schema["fields"]),
        *(_choice(text[field["name"]], field) for field in schema["fields"]),
        _keys(frame, text, schema),
        *(_foreign(text, key, referred) for key in schema.get("foreignKeys", ())),
        _required_rows(text, entry),
        _zeros(frame, text, entry),
        disagreeing(frame, text, entry),
        falling(frame, text, entry),
        _rising(frame),
    ):
        for place, field, message in found:
            yield Problem(label, None if place is None else place + 2, field, message)


def numbers(column: pd.Series) -> np.ndarray:
    """A numeric column as floats, NaN where it is blank."""
    return column.to_numpy(dtype=float, na_value=np.nan)


def places(wrong: np.ndarray) -> list[int]:
    """Where an array of truths holds."""
    return wrong.nonzero()[0].tolist()


def shown(value: object) -> str:
    """A value as a message shows it.

    >>> shown("H100"), shown(989.0), shown(0.25), shown(989e12)
    ("'H100'", '989', '0.25', '9.89e+14')
    """
    return f"{value:.12g}" if isinstance(value, float) else repr(str(value))


def _floor(frame: pd.DataFrame, entry: dict) -> Found:
    if len(frame) < (least := entry.get("min_rows", 1)):
        yield (
            None,
            None,
            (
                f"{len(frame)} rows, but at least {least} are known: rows were lost (if they were"
                " removed on purpose, lower min_rows in datapackage.json)"
            ),
        )


def _range(column: pd.Series, field: dict) -> Found:
    rules, name = field.get("constraints", {}), field["name"]
    if "minimum" in rules or "maximum" in rules:
        values = numbers(column)
        low, high = rules.get("minimum", -np.inf), rules.get("maximum", np.inf)
        for i in places((values < low) | (values > high)):
            yield i, name, f"{shown(float(values[i]))} is not allowed: {_between(rules)}"


def _choice(cells: Sequence[str], field: dict) -> Found:
    rules, name = field.get("constraints", {}), field["name"]
    if not {"enum", "pattern", "unique"} & rules.keys():
        return
    distinct = {*cells} - {""}
    for cell, i in _first(cells, distinct - {*rules.get("enum", distinct)}):
        yield i, name, f"{cell!r} is not allowed; {suggestion(cell, rules['enum'])}"
    if "pattern" in rules:
        fits = re.compile(rules["pattern"]).fullmatch
        for cell, i in _first(cells, {cell for cell in distinct if not fits(cell)}):
            yield i, name, f"{cell!r} is not allowed: pattern {rules['pattern']}"
    if rules.get("unique"):
        filled = [(cell,) if cell else (cell, i) for i, cell in enumerate(cells)]
        yield from _repeats(filled, [name], name)


def _first(cells: Sequence[str], strange: set[str]) -> Iterator[tuple[str, int]]:
    """Every strange cell with its place."""
    return ((cell, i) for i, cell in enumerate(cells) if cell in strange) if strange else iter(())


def _between(rules: dict) -> str:
    bounds = (("minimum", "at least"), ("maximum", "at most"))
    return " and ".join(f"{words} {rules[rule]:g}" for rule, words in bounds if rule in rules)


def _repeats(rows: list[tuple], columns: list[str], field: str | None) -> Found:
    if len({*rows}) == len(rows):
        return
    first: dict[tuple, int] = {}
    for i, row in enumerate(rows):
        if (before := first.setdefault(row, i)) != i:
            key = ", ".join(f"{c} {shown(v)}" for c, v in zip(columns, row, strict=True) if v != "")
            yield i, field, f"repeats another row: row {before + 2} has {key} too"


def _keys(frame: pd.DataFrame, text: Text, schema: dict) -> Found:
    key = primary_key(schema)
    types = {field["name"]: field["type"] for field in schema["fields"]}
    # A field that is unique by itself reports its own repetitions.
    unique = {f["name"] for f in schema["fields"] if f.get("constraints", {}).get("unique")}
    if key and not unique & {*key}:
        # 1 and 1.0 are one number, so numbers are compared as such.
        columns = [
            numbers(frame[name]).tolist() if types[name] in ("number", "integer") else text[name]
            for name in key
        ]
        yield from _repeats(list(zip(*columns, strict=True)), key, None)


def _foreign(text: Text, key: dict, referred: Referred) -> Found:
    own, reference = key["fields"], key["reference"]
    if (other := referred(reference["resource"])) is None:
        return
    known = list(zip(*(other[column] for column in reference["fields"]), strict=True))
    rows = list(zip(*(text[column] for column in own), strict=True))
    strange = {row for row in {*rows} - {*known} if all(row)}
    for i, row in enumerate(rows) if strange else ():
        if row in strange:
            near = f"; {suggestion(row[0], [k[0] for k in known])}" if len(row) == 1 else ""
            yield (
                i,
                ", ".join(own),
                (
                    f"{', '.join(map(repr, row))} is not in column {', '.join(reference['fields'])}"
                    f" of table {reference['resource']}{near}"
                ),
            )


def _required_rows(text: Text, entry: dict) -> Found:
    """Rows that the library reads by name and that the resource therefore lists as required."""
    here: dict[tuple[str, ...], set[tuple]] = {}
    for wanted in entry.get("required_rows", ()):
        columns = (*wanted,)
        if columns not in here:
            here[columns] = {*zip(*(text[name] for name in columns), strict=True)}
        if (*wanted.values(),) not in here[columns]:
            row = ", ".join(f"{name} {value!r}" for name, value in wanted.items())
            yield None, None, f"no row with {row}"


def _zeros(frame: pd.DataFrame, text: Text, entry: dict) -> Found:
    """Prices of zero outside the rows for which the resource allows them."""
    rule = entry.get("zero_only", {"columns": (), "where": {}})
    free = " or ".join(f"{name} {' or '.join(values)}" for name, values in rule["where"].items())
    for column in rule["columns"]:
        for i in places(numbers(frame[column]) == 0):
            if not any(text[name][i] in values for name, values in rule["where"].items()):
                yield i, column, f"a price of 0 is for {free} only"


def _rising(frame: pd.DataFrame) -> Found:
    """Cells of columns low..., typical... (or value), high... must rise."""
    columns = [
        name
        for word in ("low", "typical", "high")
        for name in frame.columns
        if re.match(rf"{word}(_|$)", name)
    ]
    if len(columns) == 3:
        low, typical, high = (numbers(frame[name]) for name in columns)
        for i in places((low > typical) | (typical > high)):
            yield (
                i,
                columns[1],
                f"low {low[i]:g}, typical {typical[i]:g}, high {high[i]:g} do not rise",
            )
