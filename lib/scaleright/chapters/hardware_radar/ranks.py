"""A standing: names by score, with the range of a score of which a part is not known."""

from __future__ import annotations

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
    row_axis,
    text_of,
    tooltip,
    value_axis,
)
from scaleright.charts.lean import alt
from scaleright.charts.words import say


def standing(
    rows: Any,
    category: str,
    low: Any,
    high: Any,
    title: str,
    widest: float,
    color: str | None = None,
    most: int = 15,
    along: Along | None = None,
):
    """Names by score, the best that they can be first: a dot where all is known, a bar over what an
    unknown could make of it.

    Parameters
    ----------
    low, high : columns or quantities; equal where all is known, a row without them is left out.
    widest : a name whose ends lie farther apart is left out: too little is known of it.
    title : of the scale.
    color : column of the vendor, which chooses a fixed color.
    most : how many to draw.
    along : parameters that the rows give, where the ends are quantities.

    >>> standing([{"chip": "A", "low": 4.0, "high": 6.0}], "chip", "low", "high", "points",
    ...     5.0).height
    30
    """
    frame = frame_of(rows)
    steps, (low, high) = along_rows([low, high], along)
    chart = _ranked(frame, low, high, widest, most)
    known, ends = (
        "datum._high - datum._low < 1e-9",
        [text_of(say(alt.datum[f"_{end}"], "number 3")) for end in ("low", "high")],
    )
    chart = chart.transform_calculate(
        _label=f"datum._ranked ? {known} ? {ends[0]} : {ends[0]} + ' to ' + {ends[1]} : 'no score'"
    )
    x = alt.X(
        "_low:Q",
        title=title,
        scale={"nice": False, "padding": 10, "zero": False},
        axis=value_axis("number"),
    )
    y = row_axis(
        category, alt.EncodingSortField("_rank", op="min", order="ascending"), labelLimit=170
    )
    ink = _ink(frame, color)
    bars = chart.mark_bar(size=8, opacity=0.45).encode(x=x, x2=alt.X2("_high:Q"), y=y, **ink)
    tips = tooltip({"what": category, title: "_label"})
    # Shown or not rather than filtered: a scale of no dots at all has no ends.
    seen = alt.condition(f"datum._ranked && {known}", alt.value(1), alt.value(0))
    dots = chart.mark_point(size=110).encode(x=x, y=y, **ink, opacity=seen, tooltip=tips)
    text = chart.mark_text(style="row-value", dx=9)
    text = text.encode(x=alt.X("_high:Q"), y=y, text=alt.Text("_label:N"))
    chart = alt.layer(bars, dots, text)
    return after(chart.properties(height=ROW * min(most, frame[category].nunique())), steps)


def _ink(frame: pd.DataFrame, color: str | None) -> dict[str, Any]:
    """The color of the marks: that of each vendor, if a column names it."""
    if not color:
        return {"color": alt.ColorValue(theme.BLUE)}
    names = [vendor for vendor in theme.VENDOR if vendor in set(frame[color])]
    key = {"columns": 6, "symbolOpacity": 1}
    return {"color": alt.Color(color, type="nominal", scale=color_scale(names), legend=key)}


def _ranked(frame: pd.DataFrame, low: Any, high: Any, widest: float, most: int) -> alt.Chart:
    """The rows of which enough is known, with their ends and their rank."""
    chart = alt.Chart(frame).transform_calculate(_from=field_of(low), _to=field_of(high))
    chart = chart.transform_calculate(_ranked=f"datum._to - datum._from < {widest} ? 1 : 0")
    # A chart without rows has no scale, so where none is left all of them stay, without a score.
    chart = chart.transform_joinaggregate(_some="max(_ranked)").transform_filter(
        "datum._ranked || !datum._some"
    )
    chart = chart.transform_calculate(
        _low="datum._ranked * datum._from || 0", _high="datum._ranked * datum._to || 0"
    )
    best = [alt.SortField("_high", order="descending"), alt.SortField("_low", order="descending")]
    return chart.transform_window(_rank="row_number()", sort=best).transform_filter(
        f"datum._rank <= {most}"
    )
