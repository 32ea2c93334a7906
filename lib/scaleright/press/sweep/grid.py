"""The grid of a sweep: which values each parameter takes, checked before anything runs."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scaleright.names import brief
from scaleright.parameters import Parameter, ParameterError, accepted, refusal, show

MOST_SCENARIOS = 100_000
"""Beyond this a sweep of notebooks is the wrong tool: a formula of the library takes a million
cases in one call.
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
