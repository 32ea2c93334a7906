"""Axes, boxes on hover and expressions as the charts share them."""

from __future__ import annotations

from typing import Any, Mapping

import altair as alt

from scaleright.charts.words import say
from scaleright.ops import is_expression


def value_axis(kind: str, log: bool = False, channel: str = "x", **more) -> alt.Axis:
    """An axis whose ticks are said as values of a kind are: $2M, 40 %, 3T."""
    money = "$" if kind.startswith("usd") else ""
    if kind.startswith("percent"):
        label = "format(datum.value, '.0%')"
    elif kind.startswith("si "):
        label = "format(datum.value, '~s')"
    elif kind.startswith("duration"):
        label = str(say(alt.datum.value, "duration 2")).replace("2r'", "2~r'")
    else:
        small = f"format(datum.value, '{money},.3~r')"
        label = f"abs(datum.value) < 1000 ? (datum.value == 0 ? '{money}0' : {small}) : replace(format(datum.value, '{money}~s'), 'G', 'B')"
    if log:
        # Lines and labels at whole powers of ten, and at 2 and 5 between them where the axis spans few of those.
        lead = "datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9))"
        few = f"log(domain('{channel}')[1] / domain('{channel}')[0]) / LN10 < 2.2"
        shown = f"({lead} < 1.01 || (({few}) && (abs({lead} - 2) < 0.01 || abs({lead} - 5) < 0.01)))"
        more |= {"gridOpacity": alt.condition(shown, alt.value(0.16), alt.value(0)), "labelOverlap": "greedy"}
        label = f"{shown} ? ({label}) : ''"
    return alt.Axis(labelExpr=label, **more)


def tooltip(lines: Mapping[str, str | tuple[str, str]]) -> list[alt.Tooltip]:
    """The box that shows on hover: title -> a field of text, or a field and the format of its numbers."""
    return [
        alt.Tooltip(line, type="nominal", title=title) if isinstance(line, str)
        else alt.Tooltip(line[0], type="quantitative", title=title, format=line[1])
        for title, line in lines.items()
    ]


def text_of(value: Any) -> str:
    """A number or a live expression as the text of an expression."""
    return f"({value._to_expr()})" if is_expression(value) else repr(float(value))


def literal(value: Any) -> Any:
    """A number or a live expression as a field is computed of it."""
    return value if is_expression(value) else repr(float(value))
