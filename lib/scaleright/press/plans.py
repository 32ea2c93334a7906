"""Workloads as readers give them to `scaleright plan`: presets of `book/plans.yml`, parameters, a
log of requests; checked before any work.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scaleright.names import brief, suggestion
from scaleright.parameters import Declared, ParameterError, parse, table, validate
from scaleright.press import Book, PressError
from scaleright.press.scenarios import Scenario, located, read

FILE = "book/plans.yml"
CHAPTER = "plan"


def declared_workload() -> Declared:
    """The parameters of a workload."""
    from scaleright.decisions.plan_workload import DECLARED

    return parse(DECLARED, "parameters of a workload")


def presets(book: Book) -> dict[str, Scenario]:
    """The presets by name, in the order of their file, their form checked."""
    return {of.name: of for of in read(book, FILE, CHAPTER)}


def values_of(preset: Scenario) -> dict[str, Any]:
    """The parameters of a preset in their types.

    Raises
    ------
    PressError : one is stale: no such parameter, or a value that is no longer allowed; with its
        line, what is allowed and the nearest.
    """
    from scaleright.decisions.plan_workload import Workload

    try:
        values = validate(declared_workload(), preset.parameters)
        Workload.of(values)
    except ParameterError as error:
        raise PressError("\n".join(located(preset, error.problems, FILE))) from None
    except ValueError as error:
        raise PressError("\n".join(located(preset, str(error).splitlines(), FILE))) from None
    return values


def workload(
    book: Book, preset: str | None, given: Mapping[str, Any], trace: Path | None = None
) -> Any:
    """The workload of a preset, of a log of requests and of parameters, of which the last named
    counts.

    Raises
    ------
    PressError : no such preset, or one that is stale.
    ParameterError, ValueError : a value that is not allowed, values that contradict each other, a
        file that is no trace.
    """
    from scaleright.decisions.plan_workload import SERVE, Workload, read_trace
    from scaleright.market import sold_release

    values: dict[str, Any] = {}
    if preset is not None:
        known = presets(book)
        if preset not in known:
            raise PressError(f"no preset {brief(preset)}; {suggestion(preset, known)}")
        values = values_of(known[preset])
    for name in given:
        if name.strip() == "budget_usd" and _is_zero(given[name]):
            raise PressError(
                "budget_usd = 0: nothing can be had for nothing; leave it out to have no limit, or"
                " give 100 USD or more"
            )
    read_ = read_trace(trace) if trace else {}
    values |= validate(declared_workload(), {**read_, **given})
    if values.get("work", SERVE) == SERVE and "model" in given:  # hosts sell releases, not shapes
        values["model"] = sold_release(str(given["model"])) or values["model"]
    return Workload.of(values)


def _is_zero(value: Any) -> bool:
    try:
        return float(value) == 0
    except (TypeError, ValueError):
        return False


def offered(book: Book) -> str:
    """What may be planned, as text: the presets, and the parameters of a workload."""
    from scaleright.decisions.plan_workload import TRACE_COLUMNS

    lines = [f"{of.name.ljust(28)}{of.title}" for of in presets(book).values()]
    columns = [f"{what.ljust(28)}{', '.join(names)}" for what, names in TRACE_COLUMNS.items()]
    log = ["", "Columns of a log of requests, one name of each:", "", *columns]
    start = "Presets, such as `scaleright plan hospital -p requests_per_day=50000`:"
    return "\n".join([start, "", *lines, *log, "", "Parameters:", "", table(declared_workload())])


def known() -> dict[str, Scenario]:
    """The presets of the book that this is run in, by name."""
    return presets(Book.find())


def preset(of: Scenario) -> Any:
    """The workload of a preset; raises as `values_of`."""
    from scaleright.decisions.plan_workload import Workload

    return Workload.of(values_of(of))
