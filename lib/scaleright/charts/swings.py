"""The rows of a tornado: what one input after the other does to a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from scaleright.charts.axes import along_rows, expressed, literal, text_of
from scaleright.charts.lean import alt
from scaleright.charts.live import page
from scaleright.charts.words import say
from scaleright.quantity import Quantity
from scaleright.quantity.graph import parameter
from scaleright.ranges import Ends


def _by_size() -> Any:
    return alt.EncodingSortField("_size", op="max", order="descending")


_LOST = "datum._both === 2 ? {0} : datum._both === 1 ? {0} + ', and none at an end' : 'none'"
"""What is said of an input, words for the ends of the result given; there may be no result at one
of its ends, or at either.
"""


@dataclass(frozen=True)
class Swinging:
    """A row for each input, with fields `input`, `from`, `to` and `span`.

    order : of the inputs
    steps : what is computed of the rows before
    said : what is said of an input, with a place for the words for the ends of the result
    """

    chart: alt.Chart
    order: Any
    steps: Sequence[Any]
    said: str


def swinging(
    ends: Mapping[str, Ends], result: Any, best: Any, names: Mapping[str, str]
) -> Swinging:
    """Rows for which the page computes the result anew, with each input at either of its ends.

    An end at which there is no result counts as the best.
    """
    inputs, many = [_called(name, names) for name in ends], len(ends)
    fields = {end.parameter: f"_input_{i}" for i, end in enumerate(ends.values())}
    steps, (found,) = along_rows([result], fields)
    chosen = [
        f"datum._end === {i} ? {text_of(end.low)} : datum._end === {i + many} ?"
        f" {text_of(end.high)} : {_middle(end.parameter)}"
        for i, end in enumerate(ends.values())
    ]
    places = [
        alt.CalculateTransform(**{"calculate": text, "as": field})
        for field, text in zip(fields.values(), chosen, strict=True)
    ]
    rows = pd.DataFrame({"input": inputs * 2, "_end": range(2 * many)})
    chart = alt.Chart(rows).transform_calculate(_found=found, _best=literal(best))
    chart = chart.transform_calculate(
        _there="isFinite(datum._found) ? 1 : 0",
        _result="isFinite(datum._found) ? datum._found : datum._best",
    ).transform_calculate(
        _result="isFinite(datum._result) ? datum._result : null",
    )
    spans = ", ".join(text_of(_span(end.low, end.high)) for end in ends.values())
    chart = chart.transform_joinaggregate(
        groupby=["input"],
        _least="min(_result)",
        _most="max(_result)",
        _both="sum(_there)",
    ).transform_filter(f"datum._end < {many}")
    chart = chart.transform_calculate(
        **{"from": "isValid(datum._least) ? datum._least : 0"},
        to="isValid(datum._most) ? datum._most : 0",
        span=f"[{spans}][datum._end]",
        _size="datum._most - datum._least",
    )
    return Swinging(chart, _by_size(), [*places, *steps], _LOST)


def _called(name: str, names: Mapping[str, str]) -> str:
    return names.get(name, name.replace("_", " "))


def _middle(given: Quantity) -> str:
    """A parameter where another one moves: what its control says, if it has one."""
    on_the_page = bool(given.inputs) or parameter(given) in vars(page().given)
    return text_of(expressed(given) if on_the_page else given.value)


def _span(low: Any, high: Any) -> Any:
    return _said(low) + " to " + _said(high)


def _said(end: Any) -> Any:
    """An end of an input in words: one that is a word is one."""
    if isinstance(end, Quantity):
        return end if isinstance(end.value, str) else say(end, "number")
    return end if isinstance(end, str) else f"{end:.3g}"
