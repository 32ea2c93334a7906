"""How sure an answer is: what moves it, and predictions beside what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scaleright.charts import theme
from scaleright.charts.axes import (
    ROW,
    after,
    along_rows,
    expressed,
    frame_of,
    literal,
    one_row,
    row_axis,
    text_of,
    tooltip,
    value_axis,
)
from scaleright.charts.lean import alt
from scaleright.charts.live import page
from scaleright.charts.words import say
from scaleright.order import ordered
from scaleright.quantity import Quantity
from scaleright.quantity.graph import parameter
from scaleright.ranges import Ends

# The rows of a tornado: what one input after the other does to a result


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


HEIGHT = 340
"""Height of a chart of predictions beside what was measured [px]."""


def tornado(
    ends: Mapping[str, Ends],
    best: Quantity,
    kind: str,
    title: str,
    names: Mapping[str, str] | None = None,
    result: Quantity | None = None,
):
    """What moves the answer: for each input the span of the result, largest first, around the best
    estimate.

    Parameters
    ----------
    ends : of each input, which the page moves in the graph of the result.
    best : the result with all inputs at their best.
    names : input -> the words for it; underscores become spaces otherwise.
    result : what is computed with an input at its ends, where these are given; `best` otherwise.

    >>> from types import SimpleNamespace as N
    >>> from scaleright.charts.live import controls
    >>> from scaleright.quantity import given
    >>> live, price = controls(N(parameters=())), given("price", 2.0)
    >>> tornado({"price": Ends(price, 1.0, 3.0)}, 3 * price, "usd", "USD a year").height
    30
    """
    found = swinging(ends, best if result is None else result, best, names or {})
    chart = found.chart.transform_calculate(
        low=say(alt.datum["from"], kind), high=say(alt.datum["to"], kind)
    )
    y = row_axis("input", found.order, labelLimit=240)
    x = alt.X(
        "from:Q",
        title=title,
        scale={"nice": False, "padding": 6, "zero": False},
        axis=value_axis(kind),
    )
    tips = tooltip({"input": "input", "input from, to": "span", "result from": "low", "to": "high"})
    bar = chart.mark_bar(height=alt.RelativeBandSize(0.6), cornerRadius=2).encode(
        x=x, x2=alt.X2("to:Q"), y=y, tooltip=tips
    )
    # "$5.00 to $6.00 million" where both ends have the same unit; "$5.00" where both are the same.
    once = (
        r"(datum.low === datum.high ? datum.low : replace(datum.low + ' to ' + datum.high,"
        r" regexp('^([^ ]+)( [^ ]+) to ([^ ]+)\\2$', ''), '$1 to $3$2'))"
    )
    chart = chart.transform_calculate(both=found.said.format(once))
    text = chart.mark_text(style="row-value").encode(
        x=alt.X("to:Q", title=title), y=y, text=alt.Text("both:N")
    )
    middle = alt.Chart(one_row()).transform_calculate(_best=literal(best))
    middle = middle.transform_calculate(best="isFinite(datum._best) ? datum._best : 0")
    middle = middle.mark_rule(strokeDash=[4, 3]).encode(x=alt.X("best:Q", title=title))
    return alt.layer(middle, after(alt.layer(bar, text), found.steps)).properties(
        height=ROW * len(ends)
    )


def predicted_vs_measured(
    rows: Any,
    measured: str,
    predicted: str,
    label: str,
    unit: str,
    said: str = "measured",
    log: bool = True,
    name_worst: int = 3,
):
    """A dot for each row, on the diagonal where the prediction is right; the worst are named.

    Parameters
    ----------
    measured, predicted, label : columns; a line break in a label breaks its line.
    unit : of both axes.
    said : the word for the evidence: "measured" or "published".

    >>> rows = [{"model": "A", "seen": 1.0, "found": 1.1},
    ...     {"model": "B", "seen": 2.0, "found": 1.9}]
    >>> predicted_vs_measured(rows, "seen", "found", "model", "s").height
    340
    """
    frame = _with_errors(frame_of(rows), measured, predicted, label, name_worst, log)
    low, high = (
        float(frame[[measured, predicted]].min().min()),
        float(frame[[measured, predicted]].max().max()),
    )
    ends = pd.DataFrame({"m": [low, high], "p": [low, high]})
    scale = {
        "domain": [low * 0.8, high * 1.25] if log else [min(0, low * 1.05), high * 1.05],
        "nice": False,
        "type": "log" if log else "linear",
    }
    titles = f"{said} [{unit}]", f"predicted [{unit}]"
    shared = {"type": "quantitative", "scale": scale}
    x = alt.X(measured, title=titles[0], axis=value_axis("number", log), **shared)
    y = alt.Y(predicted, title=titles[1], axis=value_axis("number", log, "y"), **shared)
    diagonal = alt.Chart(ends).mark_line(strokeDash=[4, 3], strokeWidth=1, color=theme.GRAY)
    diagonal = diagonal.encode(x=alt.X("m:Q", title=titles[0]), y=alt.Y("p:Q", title=titles[1]))
    tips = tooltip(
        {
            label: label,
            measured: (measured, ".4~s"),
            predicted: (predicted, ".4~s"),
            "error": ("error", "+.1%"),
        }
    )
    dots = alt.Chart(frame).mark_point(color=theme.BLUE).encode(x=x, y=y, tooltip=tips)
    upper = (
        alt.datum[measured] > (low * high) ** 0.5 if log else alt.datum[measured] > (low + high) / 2
    )
    named = alt.Chart(frame).transform_filter(alt.datum.worst != "")
    texts = [
        named.transform_filter(condition)
        .mark_text(align=side, dx=shift, lineBreak="\n")
        .encode(x=x, y=y, text=alt.Text("worst:N"))
        for condition, side, shift in ((upper, "right", -9), (~upper, "left", 9))
    ]
    return alt.layer(diagonal, dots, *texts).properties(height=HEIGHT)


def _with_errors(
    frame: pd.DataFrame, measured: str, predicted: str, label: str, name_worst: int, log: bool
) -> pd.DataFrame:
    """Rows with their relative error and, at the worst ones, their name, each name once; the worst
    by what they are apart on a scale that starts at zero.
    """
    if frame.empty:
        return frame.assign(error=[], worst=[])[[label, measured, predicted, "error", "worst"]]
    frame = frame.reset_index(drop=True)
    apart = frame[predicted] - frame[measured]
    frame = frame.assign(error=(apart / frame[measured]).where(frame[measured] != 0, 0.0))
    largest = ordered((frame["error"] if log else apart).abs(), ascending=False).index
    worst = frame.loc[largest].drop_duplicates(label).head(name_worst)
    every = np.log(frame[[measured, predicted]]) if log else frame[[measured, predicted]]
    shares = (every - every.to_numpy().min()) / np.ptp(every.to_numpy())
    named = _apart(shares.loc[worst.index], worst[label])
    frame = frame.assign(worst=np.where(frame.index.isin(named), frame[label].astype(str), ""))
    return frame[[label, measured, predicted, "error", "worst"]]


def _apart(places: pd.DataFrame, labels: pd.Series) -> list:
    """The rows whose names do not lie on that of an earlier one: where two are close across, the
    lines of text of the longer one keep them apart.

    places : across and up, as shares of the chart

    >>> places = pd.DataFrame({"x": [0.1, 0.15, 0.9], "y": [0.1, 0.11, 0.12]})
    >>> _apart(places, pd.Series(["A", "B", "C"]))
    [0, 2]
    """
    line, named = 17 / HEIGHT, list[Any]()
    for row, (across, up) in places.iterrows():
        others = [(*places.loc[other], labels[other]) for other in named]
        if all(
            abs(across - x) > 0.5
            or abs(up - y) > line * (1 + max(labels[row].count("\n"), label.count("\n")))
            for x, y, label in others
        ):
            named.append(row)
    return named
