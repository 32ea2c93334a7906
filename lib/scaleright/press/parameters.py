"""A chapter's parameters: declared once, in the cell tagged `parameters`, and checked before
anything runs.

Each line of that cell is one parameter and the only place that says so:

    name: type = default  # meaning [unit] (low..high)

A comment line right below continues it, since a line of code has at most 100 columns.
`type` is float, int, str or bool, with `| None` where the value may be left out. The parenthesis
holds the bounds of a number, or the choices of a text (`a | b`), or `accelerators` or `models` for
any name in that table, or the bounds of a day (`date 2022-09-01..today`), which is a text such as
"2026-09-29". The line feeds the command line, the reader's table, a chart's slider and, inside the
chapter, `case()`. papermill's own inspection reads the same lines (all but those with `| None`,
which its pattern lacks).
"""

from __future__ import annotations

import ast
import linecache
import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from scaleright.names import suggestion
from scaleright.press import Book, PressError
from scaleright.units import MINUS

FORM = (
    "name: float|int|str|bool [| None] = default  # meaning [unit] "
    "(low..high, or a | b, or accelerators, or models, or date first..last)"
)
_LINE = re.compile(
    r"(?P<name>[A-Za-z]\w*)\s*:\s*(?P<type>float|int|str|bool)(?P<optional>\s*\|\s*None)?\s*=\s*(?P<default>[^#=]+?)\s*"
    r"#\s*(?P<meaning>[^#=]+?)(?:\s*\[(?P<unit>[^\]]+)\])?(?:\s*\((?P<allowed>[^()]*)\))?\s*"
)
_ANNOTATED = re.compile(r"[A-Za-z]\w*\s*:[^=]+=[^=]")
_BOUNDS = re.compile(r"\s*(\S+?)\s*\.\.\s*(\S+)\s*")
_DAYS = re.compile(r"\s*date\s+(\d{4}-\d\d-\d\d)\s*\.\.\s*(today|\d{4}-\d\d-\d\d)\s*")
_OTHER_MONEY = re.compile(r"[€£¥₹]|\b(EUR|GBP|JPY|CNY|CHF|INR|CAD|AUD)\b", re.IGNORECASE)
_PER_CHIP = re.compile(r"(/\s*|\bper |\bof one |\bof an? )(gpu|accelerator|chip)\b", re.IGNORECASE)
_CATALOG = {"accelerators": "accelerator", "models": "model"}
"""Tables whose names may be choices, and the function of `catalog` that looks one up."""
_RESERVED = {"filled", "parameters", "table", "values"}
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class ParameterError(ValueError):
    """Values that a chapter does not accept; one line for each."""

    def __init__(self, problems: Iterable[str]):
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class DeclarationError(PressError):
    """A parameters cell that does not follow the form."""


@dataclass(frozen=True)
class Parameter:
    """One declared parameter: `low` and `high` bound a number, `choices` are the names allowed
    else.

    `catalog` is the table ("accelerators" or "models") from which the choices come; aliases count
    as well. `days` are the first and the last day of a date, the last as "today" where it is that
    of the reader.
    """

    name: str
    type: str
    default: Any
    meaning: str
    unit: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple = ()
    catalog: str = ""
    optional: bool = False
    days: tuple[str, str] | None = None

    @property
    def allowed(self) -> str:
        """What may be given, in words."""
        if self.low is not None:
            text = f"{show(self.low)} to {show(self.high)}"
        elif self.days:
            text = f"a day from {self.days[0]} to {self.days[1]}"
        elif self.catalog:
            text = f"any of {len(self.choices)} {self.catalog}"
        else:
            text = ", ".join(map(str, self.choices)) or {"bool": "true, false"}.get(
                self.type, "any text"
            )
        return text + (", or none" if self.optional else "")

    def accept(self, given: Any) -> Any:
        """The value in its type, a catalog name in its full form.

        Raises
        ------
        ValueError : the value is not allowed; says what is, and what was probably meant.

        >>> load = Parameter("load", "float", 0.4, "share of paid hours", "1", 0.01, 1.0)
        >>> load.accept("0.5")
        0.5
        >>> load.accept(40)
        Traceback (most recent call last):
        ValueError: load = 40: outside 0.01 to 1; did you mean 0.4 (40 %)?
        """
        if given is None or (self.optional and str(given).strip().casefold() in ("none", "")):
            if self.optional:
                return None
            raise ValueError(f"{self.name} = None: needs a value, {self.allowed}")
        value = self._typed(given)
        if self.low is not None and not self.low <= value <= self.high:
            unit = "" if self.unit in ("", "1") else f" {self.unit}"
            raise ValueError(
                f"{self.name} = {show(value)}: outside {show(self.low)} to"
                f" {show(self.high)}{unit}{self._slip(value)}"
            )
        if self.days:
            return self._day(value)
        if self.catalog:
            from scaleright import catalog

            try:
                return getattr(catalog, _CATALOG[self.catalog])(value).name
            except LookupError as error:
                raise ValueError(f"{self.name} = {value!r}: {error.args[0]}") from None
        if self.choices and value not in self.choices:
            raise ValueError(
                f"{self.name} = {value!r}: not among the choices; {suggestion(value, self.choices)}"
            )
        return value

    def _typed(self, given: Any) -> Any:
        text = str(given).strip()
        try:
            if self.type == "str" and isinstance(given, (str, date) if self.days else str):
                return str(given)
            if self.type == "bool":
                return _TRUTH[text.casefold()]
            if self.type in ("int", "float") and not isinstance(given, bool):
                number = self._number(text)
                if math.isfinite(number) and (self.type == "float" or number == int(number)):
                    return number if self.type == "float" else int(number)
        except (ValueError, KeyError):
            pass
        kind = {
            "float": "a finite number",
            "int": "a whole number",
            "str": "a text",
            "bool": "true or false",
        }[self.type]
        allowed = f"; allowed: {self.allowed}" if self.type not in ("str", "bool") else ""
        raise ValueError(
            f"{self.name} = {given!r}: needs"
            f" {kind}{allowed}{self._plain(text) if self.type in ('int', 'float') else ''}"
        )

    def _number(self, text: str) -> float:
        """A number as the page's own fields write it: dollars, groups of thousands, the percent of
        a share, print's minus.
        """
        text = text.replace(MINUS, "-")
        if self.unit.startswith("USD"):
            text = text.removeprefix("$").lstrip()
        if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", text):
            text = text.replace(",", "")
        if (
            text.endswith("%")
            and self.unit == "1"
            and self.type == "float"
            and self.high is not None
            and self.high <= 1
        ):
            return float(text[:-1]) / 100
        return float(text)

    def _plain(self, text: str) -> str:
        """What to say of a number that was given with its unit, another currency or a decimal
        comma.
        """
        if _OTHER_MONEY.search(text):
            return (
                "; prices are in US dollars (USD), so convert it first"
                if "USD" in self.unit
                else ""
            )
        number = re.search(r"-?\d[\d.,]*(e[+-]?\d+)?", text)
        try:
            value = float(number[0].replace(",", "."))
        except (TypeError, ValueError):
            return ""
        unit = f" in {self.unit}" if self.unit not in ("", "1") else ""
        return f"; write the plain number{unit}: {value:.12g}"

    def _day(self, given: str) -> str:
        first, last = self.days
        try:
            day = date.fromisoformat(given.strip())
        except ValueError:
            raise ValueError(
                f"{self.name} = {given!r}: needs a date written YYYY-MM-DD; allowed: {self.allowed}"
            ) from None
        if day > date.today():
            raise ValueError(
                f"{self.name} = {given!r}: lies in the future; allowed: {self.allowed}"
            )
        if not first <= day.isoformat() <= (last if last != "today" else day.isoformat()):
            raise ValueError(f"{self.name} = {given!r}: outside {first} to {last}")
        return day.isoformat()

    def _slip(self, value: float) -> str:
        if (
            self.unit in ("1", "share")
            and self.high <= 1 < value <= 100
            and self.low <= value / 100 <= self.high
        ):
            return f"; did you mean {show(value / 100)} ({show(value)} %)?"
        if (
            value > self.high
            and self.low <= value / 8 <= self.high
            and _PER_CHIP.search(f"{self.meaning} {self.unit}")
        ):
            return f"; looks like the price of an 8-GPU node: per GPU {value / 8:.2f}"
        return ""


def show(value: Any) -> str:
    """Write a value for a reader.

    >>> show(1e9), show(0.4), show(True), show(None)
    ('1,000,000,000', '0.4', 'true', 'none')
    """
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return f"{value:,.12g}" if isinstance(value, (int, float)) else str(value)


def parse(
    source: str, where: str = "parameters cell", check_defaults: bool = True
) -> tuple[Parameter, ...]:
    """The parameters that the source of a parameters cell declares.

    Raises
    ------
    DeclarationError : a line does not follow the form or its default breaks its own bounds; names
        `where` and the line.

    >>> parse("hours: float = 8  # use per day [h/day] (0..24)")[0].high
    24.0
    """
    found: dict[str, Parameter] = {}
    for number, line in _declarations(source):
        try:
            parameter = _declaration(line)
            if parameter.name in found:
                raise ValueError(f"{parameter.name} is declared twice")
            if check_defaults:
                parameter.accept(parameter.default)
        except ValueError as error:
            raise DeclarationError(f"{where}, line {number}: {line.strip()!r}: {error}") from None
        found[parameter.name] = parameter
    if not found:
        raise DeclarationError(f"{where}: declares nothing; each line is {FORM}")
    return tuple(found.values())


def _declarations(source: str) -> Iterator[tuple[int, str]]:
    """The declarations of a parameters cell, each on one line, with the number of its first."""
    lines: list[tuple[int, str]] = []
    for number, line in enumerate(source.splitlines(), 1):
        if not line.strip():
            continue
        if not line.startswith("#"):
            lines.append((number, line))
        elif lines:  # a comment above the first declaration belongs to none
            first, declaration = lines[-1]
            lines[-1] = first, f"{declaration} {line.lstrip('# ')}"
    return iter(lines)


def _declaration(line: str) -> Parameter:
    match = _LINE.fullmatch(line)
    if match is None:
        raise ValueError(f"expected {FORM}")
    name, kind, allowed = match["name"], match["type"], match["allowed"]
    if name in _RESERVED:
        raise ValueError(f"{name} is taken, choose another name")
    try:
        default = ast.literal_eval(match["default"])
    except (ValueError, SyntaxError):
        raise ValueError(f"the default {match['default']} is no plain value") from None
    low = high = None
    choices, catalog_name, days = (), "", None
    if kind in ("float", "int") and allowed and (bounds := _BOUNDS.fullmatch(allowed)):
        low, high = float(bounds[1]), float(bounds[2])
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ValueError(f"expected finite bounds low..high, not {allowed}")
    elif kind == "str" and allowed and (found := _DAYS.fullmatch(allowed)):
        days = (found[1], found[2])
        for day in days:
            day == "today" or date.fromisoformat(day)
    elif allowed in _CATALOG and kind == "str":
        from scaleright import catalog

        choices, catalog_name = tuple(getattr(catalog, allowed)()), allowed
    elif allowed and "|" in allowed and kind != "bool":
        choices = tuple(
            {"float": float, "int": int, "str": str}[kind](choice.strip())
            for choice in allowed.split("|")
        )
    elif allowed is not None or kind in ("float", "int"):
        forms = (
            "(low..high)"
            if kind in ("float", "int")
            else "(a | b), (accelerators), (models) or (date first..last)"
        )
        raise ValueError(f"expected {forms} at the end")
    if kind == "float" and not match["unit"]:
        raise ValueError("expected a [unit]; [1] for a share or a ratio")
    return Parameter(
        name,
        kind,
        default,
        match["meaning"].strip(),
        match["unit"] or "",
        low,
        high,
        choices,
        catalog_name,
        bool(match["optional"]),
        days,
    )


def tagged(cells: Iterable[Any], tag: str) -> Any | None:
    """The first cell that carries a tag."""
    return next((cell for cell in cells if tag in cell.metadata.get("tags", ())), None)


def declared(chapter: str, book: Book | None = None) -> tuple[Parameter, ...]:
    """The parameters of a chapter, from its text.

    Raises
    ------
    PressError : no such chapter, no cell tagged `parameters`, or a malformed line in it.
    """
    import jupytext

    book = book or Book.find()
    notebook = jupytext.read(book.text(book.chapter(chapter)), fmt="md:myst")
    cell = tagged(notebook.cells, "parameters")
    if cell is None:
        raise DeclarationError(f"{chapter}: no cell is tagged parameters; its lines are {FORM}")
    return parse(cell.source, f"{chapter}, parameters cell")


def validate(parameters: Iterable[Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """The given values in their types, checked against what is declared.

    Raises
    ------
    ParameterError : names every wrong one, what is allowed and the nearest valid choice.

    >>> validate(parse("hours: float = 8  # use per day [h/day] (0..24)"), {"hours": "30", "hour": 3})
    Traceback (most recent call last):
    scaleright.press.parameters.ParameterError: hours = 30: outside 0 to 24 h/day
    hour: no such parameter; nearest: hours
    """
    known = {parameter.name: parameter for parameter in parameters}
    values, problems = {}, []
    for name, value in given.items():
        name = name.strip()
        if name not in known:
            problems.append(f"{name}: no such parameter; {suggestion(name, known)}")
            continue
        try:
            values[name] = known[name].accept(value)
        except ValueError as error:
            problems.append(str(error))
    if problems:
        raise ParameterError(problems)
    return values


def rows(parameters: Iterable[Parameter], values: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The reader's table: name, value to four digits, unit, allowed, meaning."""

    def short(value: Any) -> str:
        return show(float(f"{value:.4g}") if isinstance(value, float) else value)

    return [
        (
            p.name,
            short(values.get(p.name, p.default)),
            "" if p.unit == "1" else p.unit,
            p.allowed,
            p.meaning,
        )
        for p in parameters
    ]


COLUMNS = ("parameter", "value", "unit", "allowed", "meaning")


class Case:
    """The reader's case: the values in force, by attribute, and what was declared of them, by
    index.
    """

    def __init__(self, parameters: tuple[Parameter, ...], values: Mapping[str, Any]):
        self.parameters = parameters
        self.values = dict(values)

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.get("values", {})
        if name in values:
            return values[name]
        raise AttributeError(f"no parameter {name!r}; {suggestion(name, values)}")

    def filled(self, **values: Any) -> Case:
        """The case with the parameters that were left to the book (`None`) set to these values."""
        return Case(
            self.parameters,
            self.values
            | {name: value for name, value in values.items() if self.values[name] is None},
        )

    def __getitem__(self, name: str) -> Parameter:
        return next(p for p in self.parameters if p.name == name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.values]

    def table(self):
        """The case as a DataFrame for the reader."""
        import pandas as pd

        return pd.DataFrame(rows(self.parameters, self.values), columns=list(COLUMNS))

    def __repr__(self) -> str:
        return "\n".join(
            f"{name} = {value}{f' {unit}' if unit else ''}"
            for name, value, unit, *_ in rows(self.parameters, self.values)
        )

    def _repr_html_(self) -> str:
        from scaleright.catalog import html_table

        return html_table("Your case", self.table())


def case() -> Case:
    """The case of the chapter this is called in, right after its parameters cell.

    Reads the lines of the latest parameters cell that IPython ran and the values now in force,
    which papermill's injected cell or the reader may have changed, and checks them.

    Raises
    ------
    RuntimeError : not in a notebook, or no parameters cell has run yet.
    ParameterError : a value is not allowed.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    if shell is None:
        raise RuntimeError(
            "case() works inside a notebook; elsewhere use declared() and validate()"
        )
    source = next(filter(_looks_declared, _cells_run(shell)), None)
    if source is None:
        raise RuntimeError("run the parameters cell above first")
    parameters = parse(source, check_defaults=False)
    return Case(
        parameters,
        validate(
            parameters,
            {p.name: shell.user_ns[p.name] for p in parameters if p.name in shell.user_ns},
        ),
    )


def _cells_run(shell: Any) -> Iterator[str]:
    """Sources of the cells that ran, latest first: the history, then (nbval keeps none) what
    tracebacks quote from.
    """
    yield from reversed(shell.user_ns["In"])
    for entry in reversed(list(linecache.cache.values())):
        if len(entry) == 4 and entry[1] is None:
            yield "".join(entry[2])


def _looks_declared(source: str) -> bool:
    lines = [line for _, line in _declarations(source)]
    return all(map(_ANNOTATED.match, lines)) and any(map(_LINE.fullmatch, lines))
