"""A reader's case: values checked against what a chapter declares, and held for its cells.

Of values that do not go together it is said what to change so that they do: the nearest that works,
found by asking the rules.
"""

from __future__ import annotations

import csv
import difflib
import linecache
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from itertools import islice
from typing import Any

from scaleright.names import MOST_SAID, brief, suggestion
from scaleright.parameters.declaration import Declared, Parameter, looks_declared, parse, show
from scaleright.parameters.own_models import by_size, own_shape
from scaleright.units import figure


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


# ---- the nearest that works

_OPTIONS = 8
"""Options of a choice that are tried, the nearest first and then the declared one: some rules
search for a tenth of a second.
"""
_HALVINGS = 7
"""How often the way from a number to its default is halved: to a hundredth of it."""
_WIDE = 50
"""Ends that differ by this factor or more are halved in ratios."""
_ALIKE = 0.6
"""The share of letters from which names are alike; of others the declared one is the nearest."""
_BITS = re.compile(r"(?:FP|BF|INT)(\d+)$")

Refused = Callable[[Mapping[str, Any]], bool]


def what_works(
    parameters: Sequence[Parameter],
    case: Mapping[str, Any],
    about: Iterable[str],
    refused: Refused,
    said: str = "",
) -> dict[str, Any]:
    """The values that to change makes a case one that is accepted: of one parameter where that is
    enough, else those of several as declared, which keep all rules. A model is what a reader came
    for, so that it is changed last.

    Parameters
    ----------
    case : of all parameters, refused as it is
    about : the parameters of the rule that it breaks, of which those that the reader moved are
        tried first, and among them the later ones: a chapter declares what it is about first; one
        that only what is declared would help stays as it is if another helps that the rule names
    refused : whether the rules refuse a case
    said : what the rule says; of parameters that the reader left those that it names go first

    >>> from scaleright.parameters import parse
    >>> pair = parse('''first: str = "a"  # one (a | b | c)
    ... second: str = "b"  # other (a | b | c)''')
    >>> what_works(pair, {"first": "b", "second": "b"}, ["first", "second"],
    ...     lambda case: case["first"] == case["second"])
    {'first': 'a'}
    >>> what_works(pair, {"first": "c", "second": "b"}, ["first", "second"],
    ...     lambda case: case["first"] == "c" and case["second"] == "b", "first = c, second = b")
    {'second': 'a'}
    """
    about = set(about)
    of_rule = [of for of in reversed(parameters) if of.name in about]

    def order(of: Parameter) -> tuple[bool, bool, bool]:
        moved = case[of.name] != of.default
        return _is_model(of), not moved, not (moved or f"{of.name} =" in said)

    undone: dict[str, Any] = {}
    for of in sorted(of_rule, key=order):
        if undone and (_is_model(of) or f"{of.name} =" not in said):
            break
        for value in _nearby(of, case[of.name], lambda v, n=of.name: refused({**case, n: v})):
            if value != of.default or case[of.name] == of.default:
                return {of.name: value}
            undone = undone or {of.name: value}
    if undone:
        return undone
    changed: dict[str, Any] = {}
    moved = [of for of in parameters if case[of.name] != of.default]
    for of in sorted(moved, key=lambda of: (_is_model(of), of.name not in about)):
        changed[of.name] = of.default
        if not refused({**case, **changed}):
            return changed
    return {}


def _is_model(of: Parameter) -> bool:
    """Whether a parameter is the model that a chapter is asked about."""
    return of.name == "model" or of.catalog == "models"


def _nearby(of: Parameter, value: Any, refused: Callable[[Any], bool]) -> Iterator[Any]:
    """The nearest value of a parameter that is not refused, if there is one among those tried."""
    if of.choices or of.type == "bool":
        options = [o for o in of.choices or (False, True) if o != value]
        options.sort(key=lambda option: (_distance(option, value), option != of.default))
        if of.own and (shape := own_shape(value)):
            options = by_size(shape, options)
        tried = options[:_OPTIONS] + [o for o in options[_OPTIONS:] if o == of.default]
        yield from islice((o for o in tried if not refused(o)), 1)
    elif of.low is not None and of.default is not None and value is not None:
        if value != of.default and not refused(of.default):
            yield _between(of, value, refused)
    elif value != of.default and not refused(of.default):
        yield of.default


def _distance(one: Any, other: Any) -> float:
    """How far two options lie apart: numbers in ratios, words by their letters if most are the same
    and, before those, formats by their bits.
    """
    if one is None or other is None:  # left to the book, which is no size
        return 0.0
    if isinstance(one, str):
        bits = [_BITS.findall(str(of)) for of in (one, other)]
        alike = difflib.SequenceMatcher(None, one.casefold(), str(other).casefold()).ratio()
        return -alike * (alike >= _ALIKE) - (bits[0] == bits[1] != [])
    return abs(math.log(one / other)) if min(one, other) > 0 else abs(one - other)


def _between(of: Parameter, value: float, refused: Callable[[Any], bool]) -> float:
    """The number nearest to one that is refused, on the way to the default, which is not."""
    low, high, kept = of.low, of.high, of.default
    ratios = low is not None and high is not None and low > 0 and high / low >= _WIDE
    for _ in range(_HALVINGS):
        middle = math.sqrt(kept * value) if ratios else (kept + value) / 2
        middle = round(figure(middle, 2)) if of.type == "int" else figure(middle, 2)
        if not min(kept, value) < middle < max(kept, value):
            break
        if refused(middle):
            value = middle
        else:
            kept = middle
    return kept


def with_offer(said: str, changes: Mapping[str, Any]) -> str:
    """A refusal that ends with changes, unless it names them already or none was found; in place
    of what it ends with as the nearest, which knows no other parameter.

    >>> with_offer("too many", {"chips": 1024, "precision": "BF16"})
    'too many; nearest that works: chips = 1,024, precision = BF16'
    >>> with_offer("too many; nearest: chips = 216", {"batch": 26})
    'too many; nearest that works: batch = 26'
    """
    offer = ", ".join(f"{name} = {show(value)}" for name, value in changes.items())
    if offer in said:
        return said
    return f"{re.sub('; nearest: [^;]*$', '', said)}; nearest that works: {offer}"
