"""Estimates with their ranges: a row for each thing that is estimated, live."""

from __future__ import annotations

from collections.abc import Sequence
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
    row_axis,
    tooltip,
    value_axis,
)
from scaleright.charts.lean import alt
from scaleright.charts.words import say
from scaleright.ops import where

NOTHING = "no result"
"""The only row where no estimate is a number: an axis without rows has no extent."""


def intervals(
    rows: Any,
    category: str,
    estimate: Sequence[Any],
    kind: str,
    title: str,
    color: str | None = None,
    along: Along | None = None,
    label: Any = None,
    most: int | None = None,
    sort: bool = True,
):
    """A dot for each estimate on a logarithmic axis, its range as a line, its value at the end.

    Rows whose estimate is no number are left out.

    Parameters
    ----------
    rows : DataFrame or records.
    category : column with the name of each row.
    estimate : low end, value and high end: columns or quantities.
    kind : how values are said, see `say`.
    title : of the axis, with its unit.
    color : column that chooses a fixed color (vendor) with its key; one color otherwise.
    along : parameters that the rows give, where the estimate is a quantity, as in `bars`.
    label : words at the end of a row instead of its value, a quantity.
    most : how many rows to make room for; all by default.
    sort : largest first, also while sliders move; False keeps the order of the rows.

    >>> rows = [{"chip": "A", "least": 1.0, "gain": 2.0, "most": 3.0}]
    >>> intervals(rows, "chip", ["least", "gain", "most"], "times", "times the work").height
    30
    """
    frame = frame_of(rows)
    steps, (*estimate, label) = along_rows([*estimate, label], along)
    chart = _where_known(alt.Chart(frame), category, [*map(field_of, estimate)], label, kind)
    span = say(alt.datum["_low"], kind) + " to " + say(alt.datum["_high"], kind)
    chart = chart.transform_calculate(_span=where(_known(), span, NOTHING))
    order = alt.EncodingSortField("_value", op="max", order="descending")
    names = [*dict.fromkeys(frame[category]), NOTHING]
    y = row_axis("_name", order if sort else names, labelLimit=180)
    look = {"scale": {"nice": False, "padding": 14, "type": "log"}, "axis": value_axis(kind, True)}
    x, end = (alt.X(f"{field}:Q", title=title, **look) for field in ("_value", "_high"))
    ink = {"color": alt.value(theme.BLUE)}
    if color:
        groups = theme.ordered(frame[color])
        key = {"columns": len(groups), "title": None}
        ink = {"color": alt.Color(color, type="nominal", scale=color_scale(groups), legend=key)}
    tips = tooltip({"what": "_name", title: "_label", "range": "_span"})
    line = chart.mark_rule(opacity=0.4, strokeWidth=3)
    body = alt.layer(
        line.encode(x=alt.X("_low:Q", title=title), x2=alt.X2("_high:Q"), y=y),
        chart.mark_point(opacity=0.95, size=90).encode(x=x, y=y, tooltip=tips, **ink),
        chart.mark_text(style="row-value", dx=9).encode(x=end, y=y, text=alt.Text("_label:N")),
    )
    return after(body.properties(height=ROW * (most or frame[category].nunique())), steps)


def _known() -> Any:
    return alt.datum["_is"] > 0


def _where_known(
    chart: alt.Chart, category: str, estimate: Sequence[Any], label: Any, kind: str
) -> alt.Chart:
    """Rows whose value is a number, with fields `_name`, `_low`, `_value`, `_high` and `_label`;
    where there is none, a row that says so.
    """
    ends = dict(zip(("_low", "_value", "_high"), estimate, strict=True))
    chart = chart.transform_calculate(**{f"_found{end}": value for end, value in ends.items()})
    said = say(alt.datum["_found_value"], kind) if label is None else label
    chart = chart.transform_calculate(_said=said, _is="isFinite(datum._found_value) ? 1 : 0")
    chart = chart.transform_window(_place="row_number()")
    chart = chart.transform_joinaggregate(_all="sum(_is)")
    chart = chart.transform_filter("datum._is === 1 || (datum._all === 0 && datum._place === 1)")
    return chart.transform_calculate(
        **{end: where(_known(), alt.datum[f"_found{end}"], 1) for end in ends},
        _name=where(_known(), alt.datum[category], NOTHING),
        _label=where(_known(), alt.datum["_said"], "none of them can be compared"),
    )
