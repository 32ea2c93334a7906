"""A reader's case: values checked against what a chapter declares, and held for its cells."""

from __future__ import annotations

import csv
import linecache
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from scaleright.names import MOST_SAID, brief, suggestion
from scaleright.parameters.declaration import Declared, looks_declared, parse
from scaleright.parameters.nearby import what_works, with_offer
from scaleright.parameters.parameter import Parameter, show


class ParameterError(ValueError):
    """Values that a chapter does not accept; one line for each.

    works : the values with which it would accept them together, where it takes each by itself
    """

    def __init__(self, problems: Iterable[str], works: Mapping[str, Any] | None = None):
        self.problems, self.works = tuple(problems), dict(works or {})
        super().__init__("\n".join(self.problems))

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: where in the library it was found out helps no reader."""
        return [f"{type(self).__name__}: {self}"]


def accepted(parameters: Iterable[Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """The given values in their types, each checked by itself.

    Raises
    ------
    ParameterError : names every wrong one, what is allowed and the nearest valid choice.
    """
    known = {parameter.name: parameter for parameter in parameters}
    values, problems = {}, []
    for name, value in given.items():
        name = name.strip()
        if name not in known:
            said = name if name.isidentifier() and len(name) <= MOST_SAID else brief(name)
            problems.append(f"{said}: no such parameter; {suggestion(name, known)}")
            continue
        try:
            values[name] = known[name].accept(value)
        except ValueError as error:
            problems.append(str(error))
    if problems:
        raise ParameterError(problems)
    return values


def refusal(parameters: Sequence[Parameter], values: Mapping[str, Any], alone: bool = False) -> str:
    """What the chapter's rules, or with `alone` those about a single parameter, say against values
    that are accepted one by one; empty if they go together.

    Values that are not given stand as declared. The first broken rule speaks, since the next may
    rest on it; the declared case itself keeps all of them.
    """
    return _broken(parameters, values, alone)[1]


def _broken(
    parameters: Sequence[Parameter], values: Mapping[str, Any], alone: bool = False
) -> tuple[tuple[str, ...], str]:
    """The parameters of the first rule that values break, and what it says."""
    declared = {parameter.name: parameter.default for parameter in parameters}
    case = declared | dict(values)
    if case == declared:
        return (), ""
    rules = getattr(parameters, "rules", ())
    rules = [rule for rule in rules if not alone or len(rule.parameters) == 1]
    choices = {parameter.name: parameter.choices for parameter in parameters}
    said = ((rule.parameters, rule.refusal(case, declared, choices)) for rule in rules)
    return next((one for one in said if one[1]), ((), ""))


def validate(parameters: Sequence[Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """The given values in their types, checked one by one and then together.

    Raises
    ------
    ParameterError : names every wrong one, what is allowed and the nearest valid choice; of values
        that do not go together the nearest that do.

    >>> validate(parse("hours: float = 8  # use per day [h/day] (0..24)"),
    ...     {"hours": "30", "hour": 3})
    Traceback (most recent call last):
    scaleright.parameters.case.ParameterError: hours = 30: outside 0 to 24 h/day
    hour: no such parameter; nearest: hours
    """
    values = accepted(parameters, given)
    about, said = _broken(parameters, values)
    if said:
        case = {of.name: of.default for of in parameters} | values
        works = what_works(
            parameters, case, about, lambda case: bool(refusal(parameters, case)), said
        )
        raise ParameterError([with_offer(said, works)], works)
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


def table(parameters: Iterable[Parameter]) -> str:
    """The parameters as a table of text: default, unit, what is allowed, meaning."""
    lines = [(COLUMNS[0], "default", *COLUMNS[2:]), *rows(parameters, {})]
    widths = [max(len(line[i]) for line in lines) for i in range(4)]
    said = (
        [cell.ljust(width) for cell, width in zip(line[:4], widths, strict=True)] + [line[4]]
        for line in lines
    )
    return "\n".join("  ".join(cells) for cells in said)


MOST_SCENARIOS = 100_000
"""Beyond this a sweep of chapters is the wrong tool: a formula of the library takes a million cases
in one call.
"""


def _listed(text: str) -> list[str]:
    """The values of a list; raises csv.Error where a quote is not closed."""
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    found = next(csv.reader([text], skipinitialspace=True, strict=True), None) or [""]
    return [value.strip() for value in found]


def impossible(
    parameters: Sequence[Parameter], scenarios: Iterable[Mapping[str, Any]]
) -> list[str]:
    """What the chapter's rules say against each scenario; empty where it goes together.

    Rules look at a few parameters each, so that of many scenarios few are looked at anew.

    Raises
    ------
    ParameterError : all are impossible.
    """
    about = {name for rule in getattr(parameters, "rules", ()) for name in rule.parameters}
    known: dict[tuple[Any, ...], str] = {}
    said = []
    for values in scenarios:
        key = tuple(value for name, value in values.items() if name in about)
        if key not in known:
            known[key] = refusal(parameters, values)
        said.append(known[key])
    if all(said):
        raise ParameterError(dict.fromkeys(said))
    return said


def read_grid(
    parameters: Iterable[Parameter], assignments: Iterable[tuple[str, str]]
) -> dict[str, list[Any]]:
    r"""The values of each swept parameter, in their types.

    Parameters
    ----------
    parameters : what the chapter declares.
    assignments : (name, values separated by commas); a name given again adds values, a value that
        has a comma in it stands in double quotes.

    Raises
    ------
    ParameterError : names every wrong value, what is allowed and the nearest valid choice; also an
        empty list, a value given twice, and a grid of more than `MOST_SCENARIOS`.

    >>> from scaleright.parameters import parse
    >>> hours, plan = "hours: int = 8  # [h] (0..24)", 'plan: str = "spot"  # (spot | on demand)'
    >>> swept = [("hours", "4,8"), ("plan", "on demand, spot"), ("hours", "12")]
    >>> read_grid(parse(f"{hours}\n{plan}"), swept)
    {'hours': [4, 8, 12], 'plan': ['on demand', 'spot']}
    """
    parameters, problems = tuple(parameters), []
    grid: dict[str, list[Any]] = {}
    for name, listed in assignments:
        values = grid.setdefault(name, [])
        try:
            texts = _listed(listed)
        except csv.Error:
            why = "a quote is opened and not closed, or has something behind it"
            problems.append(f"{name} = {brief(listed)}: {why}")
            continue
        for text in texts:
            try:
                if not text and any(parameter.name == name for parameter in parameters):
                    raise ParameterError(
                        [f"{name}: an empty value; give one or more, separated by commas"]
                    )
                value = accepted(parameters, {name: text})[name]
                if value in values:
                    raise ParameterError([f"{name} = {show(value)}: given twice"])
                values.append(value)
            except ParameterError as error:
                problems += error.problems
    if not problems and (size := math.prod(map(len, grid.values()))) > MOST_SCENARIOS:
        problems.append(f"the grid has {size:,} scenarios; at most {MOST_SCENARIOS:,}")
    if problems:
        raise ParameterError(dict.fromkeys(problems))
    return grid


class Case:
    """The reader's case: the values in force, by attribute, and what was declared of them, by
    index.
    """

    def __init__(self, parameters: tuple[Parameter, ...], values: Mapping[str, Any]):
        self.parameters = _with_own(parameters, values)
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


_SUPPLIED: ContextVar[Case | None] = ContextVar("case supplied", default=None)


@contextmanager
def supplied(given: Case) -> Iterator[None]:
    """Have `case()` return this case, for a chapter whose cells run outside of a notebook.

    >>> with supplied(Case((), {"hours": 8})):
    ...     case().hours
    8
    """
    before = _SUPPLIED.set(given)
    try:
        yield
    finally:
        _SUPPLIED.reset(before)


def case() -> Case:
    """The case of the chapter this is called in, right after its parameters cell; within
    `supplied`, the one supplied.

    Reads the lines of the latest parameters cell that IPython ran and the values now in force,
    which an injected cell or the reader may have changed, and checks each. Of values that
    do not go together, which a build and the command line refuse, a chapter speaks itself, as its
    page does where the reader sets them by the controls.

    Raises
    ------
    RuntimeError : not in a notebook, or no parameters cell has run yet.
    ParameterError : a value is not allowed.
    """
    if (given := _SUPPLIED.get()) is not None:
        return given
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    if shell is None:
        raise RuntimeError(
            "case() works inside a notebook; elsewhere use declared() and validate()"
        )
    source = next(filter(looks_declared, _cells_run(shell)), None)
    if source is None:
        raise RuntimeError("run the parameters cell above first")
    parameters = parse(source, check_defaults=False)
    read = {p.name: shell.user_ns[p.name] for p in parameters if p.name in shell.user_ns}
    values = accepted(parameters, read)
    if said := refusal(parameters, values, alone=True):
        raise ParameterError([said])
    return Case(parameters, values)


def _with_own(parameters: Sequence[Parameter], values: Mapping[str, Any]) -> Any:
    """The parameters, with a model or a chip among their choices that is the value and that no page
    offers;
    their rules stay.
    """
    mine = {
        of.name: replace(of, choices=(*of.choices, values[of.name]))
        for of in parameters
        if (of.own or of.more) and values.get(of.name, of.default) not in of.choices
    }
    if not mine:
        return parameters
    found = Declared(mine.get(of.name, of) for of in parameters)
    found.rules = getattr(parameters, "rules", ())
    return found


def _cells_run(shell: Any) -> Iterator[str]:
    """Sources of the cells that ran, latest first: the history, then (nbval keeps none) what
    tracebacks quote from.
    """
    yield from reversed(shell.user_ns["In"])
    for entry in reversed(list(linecache.cache.values())):
        if len(entry) == 4 and entry[1] is None:
            yield "".join(entry[2])
