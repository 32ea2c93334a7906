"""What the data package demands of a table: the one home of the meaning of a constraint.

The standard's constraints and keys, and this package's own: `min_rows`, `required_rows` (rows that
the library reads by name), `zero_only` (where a price may be 0), columns low..., typical... and
high... that must rise, and two kinds of rows of one table that cannot both be right:

- `agree`: rows that are `like` each other in some columns and hold on one day may not differ in
  `fields` by more than the factor `within`. A row holds from the day in the column `from` until the
  one in the column `until`, for good where that is blank; without such columns all rows do.
- `ascending`: of the rows `where` a column says so, those named in `order` by the column `by` rise
  in `field`, since each thing has all that the one before it has (`why`).

Sources that disagree are settled where they are imported, with a reason; these rules refuse a table
into which both went.

Figures that cannot be are found by `plausible`, a list of rules of three kinds, each for some
fields:

- `between`: what is plausible, of the figure itself or of its ratio to the `product` of other
  columns;
- `by` and `bounds`: the same for each value of another column, since a long table holds many
  quantities in one column;
- `like` and `within`: no further than a factor from the median of the rows that are alike in some
  columns, where there are at least four of them; `per` shares the figure out first.

Zero is left to the constraints. What is plausible is a rule for the tables of this book; the
constraints also hold for a reader's own file, which may tell of larger machines than any that was
published. True figures differ by a factor of a few, slips of unit by a thousand and more.

All is judged by whole columns, because every table is checked whenever it is read; `data check`
says the same.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise

import numpy as np
import pandas as pd

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
        _disagreeing(frame, text, entry),
        _falling(frame, text, entry),
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
        lost = (
            "rows were lost (if they were removed on purpose, lower min_rows in datapackage.json)"
        )
        yield None, None, f"{len(frame)} rows, but at least {least} are known: {lost}"


def _range(column: pd.Series, field: dict) -> Found:
    rules, name = field.get("constraints", {}), field["name"]
    if "minimum" in rules or "maximum" in rules:
        values = numbers(column)
        low, high = rules.get("minimum", -np.inf), rules.get("maximum", np.inf)
        for i in places((values < low) | (values > high)):
            yield i, name, f"{shown(float(values[i]))} is not allowed: {_allowed(rules)}"


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


def _allowed(rules: dict) -> str:
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
            told = f"is not in column {', '.join(reference['fields'])} of table"
            words = f"{', '.join(map(repr, row))} {told} {reference['resource']}{near}"
            yield i, ", ".join(own), words


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
            told = f"low {low[i]:g}, typical {typical[i]:g}, high {high[i]:g} do not rise"
            yield i, columns[1], told


# Rows of one table that cannot both be right


_OPEN = "9999"
"""Sorts after every date."""


def _disagreeing(frame: pd.DataFrame, text: Text, entry: dict) -> Found:
    """Rows of one thing and one day that say different things of it."""
    for rule in entry.get("agree", ()):
        values = {field: numbers(frame[field]) for field in rule["fields"]}
        groups: dict[tuple, list[int]] = {}
        for place, key in enumerate(zip(*(text[name] for name in rule["like"]), strict=True)):
            groups.setdefault(key, []).append(place)
        for key, same in groups.items():
            alike = ", ".join(f"{n} {k}" for n, k in zip(rule["like"], key, strict=True))
            for one, other in combinations(same, 2):
                if not _meet(text, rule, one, other):
                    continue
                for field, column in values.items():
                    here, there = column[other], column[one]
                    if abs(here - there) > (rule["within"] - 1) * min(here, there):
                        told = f"{here:.12g} contradicts row {one + 2}, which says {there:.12g} of"
                        yield other, field, f"{told} {alike} for the same days"


def _meet(text: Text, rule: dict, one: int, other: int) -> bool:
    """Whether two rows hold on one day."""
    begin = text[rule["from"]] if "from" in rule else None
    end = text[rule["until"]] if "until" in rule else None
    if begin is None:
        return True
    if end is None:
        return begin[one] == begin[other]
    return begin[one] < (end[other] or _OPEN) and begin[other] < (end[one] or _OPEN)


def _falling(frame: pd.DataFrame, text: Text, entry: dict) -> Found:
    """Rows of things that have all that another has, and less of a field than it."""
    for rule in entry.get("ascending", ()):
        names, values = text[rule["by"]], numbers(frame[rule["field"]])
        chosen = {
            names[place]: place
            for place in range(len(frame))
            if names[place] in rule["order"]
            and not np.isnan(values[place])
            and all(text[column][place] == cell for column, cell in rule.get("where", {}).items())
        }
        known = [chosen[name] for name in rule["order"] if name in chosen]
        for lower, upper in pairwise(known):
            if values[upper] < values[lower]:
                told = f"{values[upper]:.12g} of {names[upper]} contradicts row {lower + 2}, which"
                told += f" says {values[lower]:.12g} of {names[lower]}: {rule['why']}"
                yield upper, rule["field"], told


# Figures that cannot be


Doubts = Iterator[tuple[int, str]]
"""Place of a figure in the table, and what is odd about it."""
LEAST = 4
"""Rows that are alike before their median judges one of them."""


def implausible(frame: pd.DataFrame, text: Text, entry: dict, label: str) -> Iterator[Problem]:
    """Every figure of a typed table that its entry says is not plausible."""
    doubted = text.get("flags", ())  # a row that says so of itself is kept, and left out by readers
    for rule in entry.get("plausible", ()):
        judge = next(_KINDS[kind] for kind in _KINDS if kind in rule)
        for field in rule["fields"]:
            values = numbers(frame[field])
            for place, message in judge(values, frame, text, rule):
                if doubted and "implausible" in doubted[place].split(";"):
                    continue
                yield Problem(label, place + 2, field, f"{shown(float(values[place]))} {message}")


def _bounded(values: np.ndarray, frame: pd.DataFrame, text: Text, rule: dict) -> Doubts:
    bounds, keys = rule["bounds"], text[rule["by"]]
    nothing = (np.inf, -np.inf)
    low, high = np.array([bounds.get(key, nothing) for key in keys]).reshape(-1, 2).T
    for i in places(((values < low) | (values > high)) & ~np.isnan(values)):
        told = (
            f"plausible: {bounds[keys[i]][0]:g} to {bounds[keys[i]][1]:g}"
            if keys[i] in bounds
            else "datapackage.json does not say what is plausible for that"
        )
        yield i, f"is not plausible for {rule['by']} {keys[i]}; {told}"


def _neighbored(values: np.ndarray, frame: pd.DataFrame, text: Text, rule: dict) -> Doubts:
    per = _product(frame, rule.get("per", ()))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where((values > 0) & (per > 0), np.log(values) - np.log(per), np.nan)
    groups: dict[tuple, int] = {}
    keys = zip(*(text[name] for name in rule["like"]), strict=True)
    codes = np.array([groups.setdefault(key, len(groups)) for key in keys], dtype=int)
    away = logs - _medians(logs, codes, len(groups))[codes] if len(codes) else logs
    for i in places(np.abs(away) > np.log(rule["within"])):
        alike = ", ".join(f"{name} {text[name][i]}" for name in rule["like"])
        alike += "".join(f" per {name}" for name in rule.get("per", ()))
        told = f"plausible: within a factor of {rule['within']:g}"
        yield i, f"is {np.exp(away[i]):.3g} times the median of {alike}; {told}"


def _product(frame: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """The product of some columns, 1 of none."""
    return np.prod([np.ones(len(frame)), *(numbers(frame[name]) for name in columns)], axis=0)


def _medians(values: np.ndarray, codes: np.ndarray, groups: int) -> np.ndarray:
    """The median of each group that has enough values, NaN of the others."""
    known = ~np.isnan(values)
    values, codes = values[known], codes[known]
    ordered = values[np.lexsort((values, codes))]
    counts = np.bincount(codes, minlength=groups)
    start = np.cumsum(counts) - counts
    medians = np.full(groups, np.nan)
    enough = counts >= LEAST
    low, high = ((start + (counts - less) // 2)[enough] for less in (1, 0))
    medians[enough] = (ordered[low] + ordered[high]) / 2
    return medians


def _between(values: np.ndarray, frame: pd.DataFrame, text: Text, rule: dict) -> Doubts:
    low, high = rule["between"]
    factors = rule.get("product", ())
    product = _product(frame, factors)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where((product > 0) & (values > 0), values / product, np.nan)
    for i in places((ratio < low) | (ratio > high)):
        told = f"is {ratio[i]:.3g} times {' x '.join(factors)}" if factors else "is not plausible"
        yield i, f"{told}; plausible: {low:g} to {high:g}"


_KINDS = {"bounds": _bounded, "like": _neighbored, "between": _between}
