"""How far listings of one thing lie apart: a row for each, a dot for each listing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from scaleright.charts import theme
from scaleright.charts.axes import (
    ROW,
    Along,
    after,
    along_rows,
    color_scale,
    field_of,
    frame_of,
    picked,
    row_axis,
    text_of,
    tooltip,
    value_axis,
    value_said,
)
from scaleright.charts.lean import alt
from scaleright.charts.market import SHAPES
from scaleright.charts.words import say
from scaleright.ops import where


def spread(
    rows: Any,
    category: str,
    value: Any,
    kind: str,
    title: str,
    color: str = "segment",
    name: str = "provider",
    tips: dict[str, str] | None = None,
    chosen: Any = None,
    only: Any = None,
    otherwise: str = "none",
    most: int | None = None,
    log: bool = False,
    along: Along | None = None,
):
    """How far listings of one thing lie apart: a row for each category, a dot for each listing, a
    line from lowest to highest.

    A tick marks the median, which is said at the end of the row; the cheapest median stands on top.

    Parameters
    ----------
    rows : one row for each listing.
    category : column that names the rows of the chart.
    value : column or quantity of the price.
    kind : how values are said, see `say`.
    title : of the axis, with its unit.
    color : column that chooses color and shape of the dots (the market segment).
    name : column that names a dot on hover.
    tips : title -> further column to show on hover.
    chosen : the category whose name is set bold, or a quantity of it.
    only : what columns of the rows to draw must equal, or a condition, a quantity or live.
    otherwise : what is said where that leaves none.
    most : categories to make room for, where `only` chooses them; all of them otherwise.
    log : logarithmic axis.
    along : quantities that stand for columns, of which `value` and `only` are made (see
        `quantity.given`): of each row those with its own figures.

    >>> rows = [{"chip": "A", "usd": 2.0, "provider": "P", "segment": "neocloud"}]
    >>> spread(rows, "chip", "usd", "usd", "USD per hour").height
    60
    """
    frame = frame_of(rows)
    steps, (value, only) = along_rows([value, only], along)
    chart, row, seen = _rows(frame, category, picked(only), otherwise)
    chart = chart.transform_calculate(_value=_seen_or_one(field_of(value), seen))
    chart = chart.transform_joinaggregate(**_ENDS, groupby=[row])
    ends = {field: f"min({field})" for field in _ENDS}
    whole = chart.transform_aggregate(**ends, groupby=[row, *seen])
    chart = chart.transform_calculate(_label=say(value_said(), kind))
    y = _cheapest_first(row, chosen)
    across = _across(kind, title, log)
    shown = tooltip({category: row, name: name, title: "_label", color: color, **(tips or {})})
    dots = chart.mark_point(opacity=0.9).encode(
        x=across("_value"), y=y, tooltip=shown, **_groups(frame, color), **_seen(seen)
    )
    line, *marks = _whole(whole, kind, across, y, bool(seen))
    height = ROW * (most or frame[category].nunique()) + ROW
    return after(alt.layer(line, dots, *marks).properties(height=height), steps)


def _across(kind: str, title: str, log: bool) -> Callable[[str], alt.X]:
    """The axis of values, of a field."""
    scale = {"nice": False, "padding": 12, "type": "log"} if log else {"nice": False, "padding": 8}
    look = {"title": title, "scale": scale, "axis": value_axis(kind, log)}
    return lambda field: alt.X(field, type="quantitative", **look)


def _seen_or_one(value: Any, seen: list[str]) -> Any:
    """A value; of the row that may stay unseen, and have none, one that the axis can show."""
    return where(alt.datum["_is"] > 0, value, 1) if seen else value


def _seen(seen: list[str]) -> dict[str, Any]:
    """The ink of dots of which one may stay unseen."""
    ink = alt.condition("datum._is", alt.value(0.9), alt.value(0))
    return {"opacity": ink} if seen else {}


def _rows(
    frame: pd.DataFrame, category: str, only: Any, otherwise: str
) -> tuple[alt.Chart, str, list[str]]:
    """The rows to draw, the field that names their rows in the chart, and the one that tells
    whether they are seen, if any is not. Where there are none the first stays, unseen, and says so:
    a chart without rows has no scale.
    """
    chart = alt.Chart(frame)
    if only is None:
        return chart, category, []
    chart = chart.transform_calculate(_is=where(only, 1, 0))
    chart = chart.transform_window(_place="row_number()").transform_joinaggregate(_some="max(_is)")
    chart = chart.transform_filter("datum._is || (!datum._some && datum._place === 1)")
    named = f"datum._is ? datum[{category!r}] : {otherwise!r}"
    return chart.transform_calculate(_row=named), "_row", ["_is"]


_ENDS = {
    "_low": "min(_value)",
    "_middle": "median(_value)",
    "_high": "max(_value)",
    "_count": "count()",
}
"""What a row of a spread says of its dots."""


def _cheapest_first(category: str, chosen: Any) -> alt.Y:
    """A row for each category, the cheapest median on top, the chosen one in bold."""
    bold = {}
    if chosen is not None:
        bold["labelFontWeight"] = alt.condition(
            f"datum.value == {text_of(chosen)}", alt.value("bold"), alt.value("normal")
        )
    order = alt.EncodingSortField("_middle", op="min", order="ascending")
    return row_axis(category, order, labelLimit=180, **bold)


def _groups(frame: pd.DataFrame, color: str) -> dict[str, Any]:
    """A shape and a color for each group of dots."""
    groups = theme.ordered(frame[color])
    shapes = {"domain": groups, "range": SHAPES[: len(groups)]}
    key = {"columns": min(len(groups), 3), "title": None}  # three fit on a phone
    return {
        "color": alt.Color(color, type="nominal", scale=color_scale(groups), legend=key),
        "shape": alt.Shape(color, type="nominal", scale=shapes),
    }


def _whole(whole: alt.Chart, kind: str, across: Any, y: alt.Y, unseen: bool) -> list[alt.Chart]:
    """The line of each row, a tick at the median of one that has more than one dot, and what is
    said at its end.
    """
    many, middle = alt.datum["_count"] > 1, say(alt.datum["_middle"], kind)
    # Rather than filtered: an axis cannot tell the extent of an empty layer.
    ink = alt.condition(many, alt.value(1), alt.value(0))
    said = where(many, middle + ", median of " + alt.datum["_count"], middle)
    words = whole.transform_calculate(
        _said=where(alt.datum["_is"] > 0, said, "") if unseen else said
    )
    span = whole.mark_rule(opacity=0.4, strokeWidth=3)
    return [
        span.encode(x=across("_low"), x2=alt.X2("_high:Q"), y=y),
        whole.mark_tick(thickness=3, size=20, color=theme.INK).encode(
            x=across("_middle"), y=y, opacity=ink
        ),
        words.mark_text(style="row-value", dx=10).encode(
            x=across("_high"), y=y, text=alt.Text("_said:N")
        ),
    ]
