"""A radar of a few things on a few axes, the same as dots, and a standing with the ranges of what is not known.

The area of a radar's polygon grows with the square of its points and depends on the order of the axes; the dots beside
it carry the same points without either. A missing value is drawn nowhere: the polygon stays open there.
"""

from __future__ import annotations

import math
from typing import Any, Mapping, Sequence

import altair as alt
import pandas as pd

from scaleright.charts import theme
from scaleright.charts.axes import ROW, SAID, color_scale, field_of, frame_of, literal, row_axis, text_of, tooltip, value_axis
from scaleright.charts.marks import _folded
from scaleright.charts.words import say

FULL = 10.0
"""Points at the rim."""
SHAPES = ("circle", "square", "triangle-up", "diamond")
_UNIT = "max(26 / height, 36 / width)"
"""Points a pixel, so that the names of the axes fit on a phone as well."""


def _chosen(rows: Any, category: str, axes: Mapping[str, Any], chosen: Sequence[Any], only: Any) -> alt.Chart:
    """A row for each of the chosen names and each axis: `_axis`, `_value`, `_label`, and `_slot`, the place among the chosen."""
    slots = f"[{', '.join(map(text_of, chosen))}]"
    chart = alt.Chart(frame_of(rows)).transform_filter(f"indexof({slots}, datum[{category!r}]) >= 0")
    chart = chart if only is None else chart.transform_filter(only)
    chart = _folded(chart, axes, "_axis").transform_filter("isValid(datum._value)")
    return chart.transform_calculate(_slot=f"'' + indexof({slots}, datum[{category!r}])", _label=say(SAID, "number 2"))


def _look(chosen: Sequence[Any]) -> dict[str, Any]:
    """Color and shape by place, with the chosen names as the one key of both."""
    places = [str(place) for place in range(len(chosen))]
    key = alt.Legend(labelExpr=f"[{', '.join(map(text_of, chosen))}][datum.value]", columns=1 if len(chosen) > 3 else len(chosen), symbolType="circle")
    color = alt.Color("_slot:N", scale=alt.Scale(domain=places, range=list(theme.CYCLE[: len(chosen)])), legend=key)
    shape = alt.Shape("_slot:N", scale=alt.Scale(domain=places, range=list(SHAPES[: len(chosen)])), legend=key)
    return {"color": color, "shape": shape}


def radar(rows: Any, category: str, axes: Mapping[str, Any], chosen: Sequence[Any], only: Any = None, tips: Mapping[str, str] | None = None):
    """Polygons on spokes, one for each chosen name; points beyond the scale are drawn at its edge.

    Parameters
    ----------
    rows : DataFrame or records, one for each name, more than are drawn.
    category : column with the names.
    axes : name of the axis -> column or live expression of its points, 0 to 10; empty where there are none.
    chosen : up to four names, or live expressions of them.
    only : live condition of the rows to draw.
    tips : further lines of the box on hover, title -> column.

    >>> radar([{"chip": "A", "cost": 4.0, "speed": 6.0, "memory": 5.0}], "chip", {n: n for n in ("cost", "speed", "memory")}, ["A"]).height
    340
    """
    names, turn = list(axes), 2 * math.pi / len(axes)
    ends = {side: f"0.5 * {size} * {_UNIT}" for side, size in (("x", "width"), ("y", "height"))}
    place = {side: alt.Scale(domainMin=alt.ExprRef(f"-{end}"), domainMax=alt.ExprRef(end), nice=False, zero=False) for side, end in ends.items()}
    at = {"x": alt.X("x:Q", scale=place["x"], axis=None), "y": alt.Y("y:Q", scale=place["y"], axis=None)}
    corners = [
        {"level": level, "step": step, "x": level * math.sin(step * turn), "y": level * math.cos(step * turn)}
        for level in (FULL / 4, FULL / 2, 3 * FULL / 4, FULL) for step in range(len(names) + 1)
    ]  # fmt: skip
    rings = alt.Chart(pd.DataFrame(corners)).mark_line(color=theme.GRAY, strokeWidth=1, opacity=0.45).encode(**at, detail="level:N", order="step:Q")
    middle = rings.transform_filter(f"datum.level == {FULL / 2}").mark_line(color=theme.GRAY, strokeWidth=1.5, strokeDash=[4, 3])
    labels = [{"name": name, "x": 11.2 * math.sin(i * turn), "y": 11.2 * math.cos(i * turn), "side": round(math.sin(i * turn), 6)} for i, name in enumerate(names)]
    words = alt.Chart(pd.DataFrame(labels))
    texts = [
        words.transform_filter(test).mark_text(align=align, baseline="middle", fontWeight="bold").encode(**at, text="name:N")
        for test, align in (("datum.side > 0.01", "left"), ("datum.side < -0.01", "right"), ("abs(datum.side) <= 0.01", "center"))
    ]  # fmt: skip
    spokes = words.transform_calculate(x=f"datum.x * {FULL / 11.2}", y=f"datum.y * {FULL / 11.2}", zero="0")
    spokes = spokes.mark_rule(color=theme.GRAY, opacity=0.45).encode(**at, x2="zero:Q", y2="zero:Q")
    chart = _chosen(rows, category, axes, chosen, only)
    chart = chart.transform_calculate(_i=f"indexof({names!r}, datum._axis)", _r=f"max(0, min({FULL}, datum._value))")
    chart = chart.transform_calculate(_next=f"datum['_value_' + (datum._i + 1) % {len(names)}]")
    chart = chart.transform_calculate(x=f"datum._r * sin(datum._i * {turn})", y=f"datum._r * cos(datum._i * {turn})")
    edge = chart.transform_filter("isValid(datum._next)").transform_calculate(_s=f"max(0, min({FULL}, datum._next))")
    edge = edge.transform_calculate(x2=f"datum._s * sin((datum._i + 1) * {turn})", y2=f"datum._s * cos((datum._i + 1) * {turn})")
    look = _look(chosen)
    lines = edge.mark_rule(strokeWidth=2.5).encode(**at, x2="x2:Q", y2="y2:Q", color=look["color"])
    boxes = tooltip({"what": category, "axis": "_axis", "points": "_label"} | dict(tips or {}))
    dots = chart.mark_point(size=70, opacity=1).encode(**at, **look, tooltip=boxes)
    return alt.layer(rings, middle, spokes, *texts, lines, dots).properties(height=340)


def profile(rows: Any, category: str, axes: Mapping[str, Any], chosen: Sequence[Any], title: str, only: Any = None, tips: Mapping[str, str] | None = None):
    """The same points as dots, an axis a row; arguments as `radar`, and the title of the scale.

    >>> profile([{"chip": "A", "cost": 4.0}], "chip", {"cost": "cost"}, ["A"], "points").height
    34
    """
    chart = _chosen(rows, category, axes, chosen, only)
    x = alt.X("_value:Q", title=title, scale=alt.Scale(nice=False, domainMin=0, domainMax=FULL, clamp=True), axis=value_axis("number"))
    boxes = tooltip({"what": category, "axis": "_axis", "points": "_label"} | dict(tips or {}))
    dots = chart.mark_point(size=110, opacity=0.9).encode(x=x, y=row_axis("_axis", list(axes), grid=True), **_look(chosen), tooltip=boxes)
    return dots.properties(height=34 * len(axes))


def standing(rows: Any, category: str, low: Any, high: Any, title: str, color: str | None = None, only: Any = None, most: int = 14):
    """Names by score, the surest first: a dot where all is known, a bar over the range that an unknown could make of it.

    Parameters
    ----------
    low, high : columns or live expressions; equal where all is known.
    title : of the scale.
    color : column that chooses a fixed color (vendor).
    only : live condition of the rows to rank.
    most : how many to draw.

    >>> standing([{"chip": "A", "low": 4.0, "high": 6.0}], "chip", "low", "high", "points").height
    30
    """
    frame = frame_of(rows)
    chart = alt.Chart(frame) if only is None else alt.Chart(frame).transform_filter(only)
    chart = chart.transform_calculate(_low=field_of(low), _high=field_of(high)).transform_calculate(_known="datum._high - datum._low < 1e-9 ? 1 : 0")
    chart = chart.transform_window(_rank="row_number()", sort=[alt.SortField("_known", order="descending"), alt.SortField("_low", order="descending")])
    chart = chart.transform_filter(f"datum._rank <= {most}")
    once = {end: text_of(say(alt.datum[f"_{end}"], "number 3")) for end in ("low", "high")}
    chart = chart.transform_calculate(_label=f"datum._known ? {once['low']} : {once['low']} + ' to ' + {once['high']}")
    x = alt.X("_low:Q", title=title, scale=alt.Scale(nice=False, zero=False, padding=10), axis=value_axis("number"))
    y = row_axis(category, alt.EncodingSortField("_rank", op="min", order="ascending"), labelLimit=170)
    ink = {"color": alt.value(theme.BLUE)}
    if color:
        names = theme.ordered(frame[color])
        ink = {"color": alt.Color(color, type="nominal", scale=color_scale(names), legend=alt.Legend(columns=4))}
    bars = chart.mark_bar(size=8, opacity=0.45).encode(x=x, x2="_high:Q", y=y, **ink)
    dots = chart.transform_filter("datum._known").mark_point(size=110, opacity=1).encode(x=x, y=y, **ink, tooltip=tooltip({"what": category, title: "_label"}))
    text = chart.mark_text(style="row-value", dx=9).encode(x=alt.X("_high:Q"), y=y, text="_label:N")
    return alt.layer(bars, dots, text).properties(height=ROW * min(most, frame[category].nunique()))
