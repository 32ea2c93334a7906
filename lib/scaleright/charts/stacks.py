"""The parts of a total: a staircase of them, or a stacked bar for each of several totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from scaleright.charts import theme
from scaleright.charts.axes import (
    ROW,
    Along,
    after,
    along_rows,
    by_option,
    color_scale,
    expressed,
    field_of,
    frame_of,
    row_axis,
    tooltip,
    value_axis,
    value_said,
)
from scaleright.charts.lean import alt
from scaleright.charts.marks import _folded, _largest_first
from scaleright.charts.words import NONE, say
from scaleright.ops import first_case, is_expression, where


def stacked_parts(
    parts: Mapping[str, Any],
    kind: str,
    title: str,
    rows: Any = None,
    category: str | None = None,
    along: Along | None = None,
    label: Any = None,
    sort: bool = True,
):
    """The parts of a total, which add up to it.

    For one total: a staircase with a row for each part, its value and its share, and the total
    beneath. With `rows` and `category`: a stacked bar for each row, the parts named above in their
    order.

    Parameters
    ----------
    parts : name -> number, column or quantity, in the order of drawing; with a
        category and without rows, such parts for each name of the category.
    along : parameters that the rows give in columns of their names, where the parts are quantities:
        the same quantities for each row; a part without a number has no length.
    sort : largest total first, also while controls move; False keeps the order of the rows.
    label : words at the end of a bar instead of its total, a quantity; without rows, one for each
        name of the category.

    >>> stacked_parts({"power": 1.0, "chips": 3.0}, "usd", "USD a year").height
    90
    """
    names = list(parts)
    if category is None:
        return _staircase(names, parts, kind, title)
    if by_options := rows is None:
        names = list(next(iter(parts.values())))
        options = [{of: part[name] for of, part in parts.items()} for name in names]
        frames, values = zip(*(by_option(category, option) for option in options), strict=True)
        rows, parts = frames[0], dict(zip(names, values, strict=True))
        if isinstance(label, Mapping):
            _, label = by_option(category, label)
    steps, (label, *found) = along_rows([label, *parts.values()], along)
    if along is not None or by_options:
        fields = [field_of(part) for part in found]
        found = [where(alt.expr.isFinite(part), part, 0) for part in fields]
        if by_options and label is None:
            total = sum(fields[1:], fields[0])
            label = where(alt.expr.isFinite(total), say(total, kind), NONE)
    parts = dict(zip(names, found, strict=True))
    frame = frame_of(rows)
    order = _largest_first("_total") if sort else list(dict.fromkeys(frame[category]))
    return after(_bars(frame, parts, kind, title, category, label, order), steps)


def _bars(
    frame: pd.DataFrame,
    parts: Mapping[str, Any],
    kind: str,
    title: str,
    category: str,
    label: Any,
    order: Any,
):
    """A stacked bar for each row, with its total or other words at its end."""
    names, values = list(parts), [field_of(part) for part in parts.values()]
    chart = alt.Chart(frame).transform_calculate(_total=sum(values[1:], values[0]))
    stack = _folded(chart, parts, "_part")
    stack = stack.transform_calculate(
        _order=f"indexof({names!r}, datum._part)", _label=say(value_said(), kind)
    )
    said = say(alt.datum["_total"], kind) if label is None else label
    chart = chart.transform_calculate(_label=said)
    across = alt.X(
        "_value:Q", stack="zero", title=title, scale={"nice": False}, axis=value_axis(kind)
    )
    bars_ = stack.mark_bar(height=alt.RelativeBandSize(0.62), cornerRadiusEnd=0).encode(
        x=across,
        y=row_axis(category, order),
        order=alt.Order("_order:Q"),
        color=alt.Color(
            "_part:N",
            scale=color_scale(names),
            legend={"columns": 2 if len(names) in (2, 4) else 3, "title": None},
        ),
        tooltip=tooltip({"what": category, "part": "_part", title: "_label"}),
    )
    ends = chart.mark_text(style="row-value").encode(
        x=alt.X("_total:Q", title=title), y=row_axis(category, order), text=alt.Text("_label:N")
    )
    return alt.layer(bars_, ends).properties(height=ROW * frame[category].nunique())


def _staircase(names: Sequence[str], parts: Mapping[str, Any], kind: str, title: str):
    """Rows that start where the row above ends, then the total."""
    chart = alt.Chart(pd.DataFrame({"part": [*names, "total"], "step": range(len(names) + 1)}))
    values = [expressed(part) for part in parts.values()]
    values = [part if is_expression(part) else float(part) for part in values]
    chart = chart.transform_calculate(
        size=first_case([(alt.datum.step == index, value) for index, value in enumerate(values)], 0)
    )
    chart = chart.transform_window(end="sum(size)", sort=[alt.SortField("step")], frame=[None, 0])
    chart = chart.transform_joinaggregate(total="sum(size)")
    last = alt.datum.step == len(names)
    share = alt.expr.format(alt.datum.size / alt.datum.total, ".0%")
    chart = chart.transform_calculate(
        start=where(last, 0, alt.datum.end - alt.datum.size),
        label=where(
            last,
            where(alt.datum.total > 0, say(alt.datum.total, kind), "–"),
            where(alt.datum.size == 0, "–", say(alt.datum.size, kind) + " (" + share + ")"),
        ),
    )
    y = row_axis("part", [*names, "total"])
    colors = {"domain": [*names, "total"], "range": [*theme.colors_for(names), theme.GRAY]}
    x = alt.X("start:Q", title=title, scale={"nice": False}, axis=value_axis(kind))
    steps = chart.mark_bar(height=alt.RelativeBandSize(0.62), cornerRadiusEnd=0).encode(
        x=x,
        x2=alt.X2("end:Q"),
        y=y,
        color=alt.Color("part:N", scale=colors, legend=None),
        tooltip=tooltip({"part": "part", title: "label"}),
    )
    text = chart.mark_text(style="row-value").encode(
        x=alt.X("end:Q", title=title), y=y, text=alt.Text("label:N")
    )
    return alt.layer(steps, text).properties(height=ROW * (len(names) + 1))
