"""A ranking: the rows with the least values, the best on top, as bars that change places while
sliders move.
"""

from __future__ import annotations

from typing import Any

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
    tooltip,
    value_axis,
    value_said,
)
from scaleright.charts.lean import alt
from scaleright.charts.words import say
from scaleright.ops import where


def ranking(
    rows: Any,
    category: str,
    value: Any,
    kind: str,
    title: str,
    color: str | None = None,
    words: Any = None,
    only: Any = None,
    otherwise: str = "–",
    most: int = 12,
    along: Along | None = None,
):
    """Bars of the least values, the least on top, each with its value and further words at its end.

    Parameters
    ----------
    rows : one row for each bar, more than are drawn.
    category : column that names the bars.
    value : column or quantity; a row without a number is not ranked.
    kind : how values are said, see `say`.
    title : of the axis, with its unit.
    color : column that chooses a fixed color (vendor), named above the bars.
    words : column or quantity of what is said after the value.
    only : what columns of the rows to rank must equal, or a live condition.
    otherwise : what is said at every row where that leaves none.
    most : how many rows to draw.
    along : parameters that the rows give, where the value is a quantity: that of each row's case.

    >>> ranking([{"chip": "A", "price": 2.0}, {"chip": "B", "price": 3.0}], "chip", "price", "usd",
    ...     "USD an hour").height
    60
    """
    frame = frame_of(rows)
    steps, (value, words) = along_rows([value, words], along)
    ranked = "1" if only is None else where(picked(only), 1, 0)
    if along is not None:
        ranked = where(alt.expr.isFinite(field_of(value)), ranked, 0)
    chart = _least(alt.Chart(frame).transform_calculate(_ranked=ranked), value, most)
    said = say(value_said(), kind)
    said = said if words is None else said + ", " + field_of(words)
    chart = chart.transform_calculate(_label=where(alt.datum["_ranked"] > 0, said, otherwise))
    x = alt.X("_value:Q", title=title, scale={"nice": False}, axis=value_axis(kind))
    y = row_axis(
        category, alt.EncodingSortField("_value", op="min", order="ascending"), labelLimit=180
    )
    # A bar keeps its thickness where fewer rows than there is room for are left.
    bars = chart.mark_bar(size=0.62 * ROW).encode(
        x=x, y=y, tooltip=tooltip({"what": category, title: "_label"})
    )
    ink: Any = alt.ColorValue(theme.BLUE)
    if color:
        names = theme.ordered(frame[color])
        key = {"columns": len(names), "title": None}
        ink = alt.Color(color, type="nominal", scale=color_scale(names), legend=key)
    text = chart.mark_text(style="row-value").encode(x=x, y=y, text=alt.Text("_label:N"))
    height = ROW * min(most, frame[category].nunique())
    return after(alt.layer(bars.encode(color=ink), text).properties(height=height), steps)


def _least(chart: alt.Chart, value: Any, most: int) -> alt.Chart:
    """The rows with the least values of those that are ranked. A chart without rows has no scale,
    so where none is ranked all of them stay, without a bar.
    """
    chart = chart.transform_joinaggregate(_some="max(_ranked)").transform_filter(
        (alt.datum["_ranked"] > 0) | (alt.datum["_some"] == 0)
    )
    chart = chart.transform_calculate(_value=where(alt.datum["_ranked"] > 0, field_of(value), 0))
    chart = chart.transform_window(_rank="row_number()", sort=[alt.SortField("_value")])
    return chart.transform_filter(alt.datum["_rank"] <= most)
