"""The reusable charts: a handful of forms, labeled directly, that take rows and quantities.

A value is the name of a column, a quantity, or a Vega expression over `alt.datum`; every chart
is plain Altair and can be layered further. Hand the result to `show`.
"""

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
    literal,
    one_row,
    picked,
    row_axis,
    text_of,
    tooltip,
    value_axis,
    value_said,
)
from scaleright.charts.lean import alt
from scaleright.charts.words import NONE, say
from scaleright.ops import first_case, is_expression, where


def _folded(chart: alt.Chart, values: Mapping[str, Any], key: str) -> alt.Chart:
    """A row for each of the named values, its name in the field `key`, the value in `_value`."""
    fields = [f"_value_{index}" for index in range(len(values))]
    chart = chart.transform_calculate(
        **{field: field_of(value) for field, value in zip(fields, values.values(), strict=True)}
    )
    chart = chart.transform_fold(fields, as_=["_field", "_value"])
    return chart.transform_calculate(
        **{key: f"{list(values)!r}[indexof({fields!r}, datum._field)]"}
    )


def _largest_first(field: str) -> alt.EncodingSortField:
    return alt.EncodingSortField(field, op="max", order="descending")


def _by_group(chart: alt.Chart) -> alt.Chart:
    """The rank of each bar: whole groups by their sum, then each bar within its group."""
    chart = chart.transform_joinaggregate(_sum="sum(_value)", groupby=["_group"])
    return chart.transform_calculate(_rank=alt.datum["_sum"] * 1e6 + alt.datum["_value"])


def _colors_of(frame: Any, column: Any, grouped: bool) -> dict[str, alt.Color]:
    """A fixed color for each value of a column, if there is one; groups are named in a key."""
    if not column:
        return {}
    scale, key = color_scale(dict.fromkeys(frame[column])), {"columns": 3, "title": None}
    return {
        "color": alt.Color(column, type="nominal", scale=scale, legend=key if grouped else None)
    }


def _tips(category: str, title: str, grouped: bool) -> list[alt.Tooltip]:
    """The box of a bar, with its group if it has one."""
    return tooltip(
        {"what": category} | ({"part of": "_group"} if grouped else {}) | {title: "_label"}
    )


def _finite(chart: alt.Chart, lacks: bool, named: bool) -> alt.Chart:
    """Rows without a number at nothing where they may lack one; named ones left out otherwise."""
    if lacks:
        return chart.transform_calculate(_value="isFinite(datum._value) ? datum._value : 0")
    return chart.transform_filter("isFinite(datum._value)") if named else chart


def bars(
    rows: Any,
    category: str,
    value: Any,
    kind: str,
    title: str,
    color: str | Mapping[str, str] | None = None,
    sort: bool = True,
    log: bool = False,
    along: Along | None = None,
    label: Any = None,
    lacking: Any = NONE,
):
    """Horizontal bars, largest first, each with its value at its end.

    Parameters
    ----------
    rows : DataFrame or records; or the value of each bar by its name, quantities or not.
    category : column with the name of each bar.
    value : column or quantity, of rows; a bar without a number has no length.
    kind, title : how values are said, see `say`; the axis, with its unit.
    color : column that chooses a fixed color (vendor, choice), or the group of each bar by its
        name: bars of a group stand together, the largest group first, named above.
    sort : largest first, also while sliders move; False keeps the order of the rows.
    log : logarithmic axis, bars become dots since a bar's length would mean nothing.
    along : parameters that the rows give in columns of their names, where the value is a quantity:
        the same quantity for each option.
    label : words at the end of a bar instead of its value.
    lacking : words where the value of a name is no number, a quantity or not; None leaves such a
        name out.

    >>> bars([{"chip": "A", "price": 2.0}, {"chip": "B", "price": 3.0}], "chip", "price", "usd",
    ...     "USD an hour").height
    60
    """
    said, lacks, named = say(value_said(), kind), along is not None, isinstance(rows, Mapping)
    if named:
        rows, value = by_option(category, rows)
        lacks, words = lacks or lacking is not None, NONE if lacking is None else lacking
        said = where(alt.expr.isFinite(value_said()), said, expressed(words))
    frame, grouped = frame_of(rows), isinstance(color, Mapping)
    if grouped:
        frame, color = frame.assign(_group=frame[category].map(color)), "_group"
    rank = "_rank" if grouped else "_value"
    order = _largest_first(rank) if sort else list(dict.fromkeys(frame[category]))
    steps, (value, label) = along_rows([value, label], along)
    chart = alt.Chart(frame).transform_calculate(_value=field_of(value))
    chart = chart.transform_calculate(_label=said if label is None else label)
    chart = _finite(chart, lacks, named)
    if grouped:
        chart = _by_group(chart)
    scale = {"nice": False, "padding": 14, "type": "log"} if log else {"nice": False}
    x = alt.X("_value:Q", title=title, scale=scale, axis=value_axis(kind, log))
    y = row_axis(category, order, labelLimit=220)
    mark = chart.mark_point() if log else chart.mark_bar(height=alt.RelativeBandSize(0.62))
    tips, colors = _tips(category, title, grouped), _colors_of(frame, color, grouped)
    mark = mark.encode(x=x, y=y, tooltip=tips, **colors)
    text = chart.mark_text(style="row-value", dx=8 if log else 5).encode(x=x, y=y, text="_label:N")
    height = alt.Step(ROW) if named and not lacks else ROW * frame[category].nunique()
    return after(alt.layer(mark, text).properties(height=height), steps)


def lines(
    rows: Any,
    x: str,
    series: Mapping[str, Any] | str,
    kind: str,
    x_title: str,
    y_title: str,
    value: Any = None,
    log_x: bool = False,
    log_y: bool = False,
    x_kind: str = "number",
    along: Any = None,
    only: Mapping[str, Any] | None = None,
):
    """Lines with their names at their right ends.

    Parameters
    ----------
    rows : DataFrame or records; for live lines only the points of `x`.
    x : column of the horizontal axis.
    series : name -> column or quantity (one line each), or the column that names the line of
        each row.
    kind : how values are said in tips.
    value : column with the values, or a quantity, if `series` is a column.
    x_kind : how the ticks of the horizontal axis are said.
    along : the parameter that runs along the horizontal axis, where the lines are quantities; if
        `series` is a column, all parameters that the rows give.
    only : what columns of the rows to draw must equal, where `series` is a column.

    >>> len(lines({"load": [0.1, 1.0]}, "load", {"twice": 2 * alt.datum.load}, "number", "load",
    ...     "value").layer)
    4
    """
    every = alt.Chart(frame_of(rows))
    chart = every if only is None else every.transform_filter(picked(only))
    steps, chart, names = _series(chart, x, series, value, along)
    said = say(value_said(), kind)
    chart = chart.transform_calculate(
        _label=said if along is None else where(alt.datum["_is"], said, NONE)
    )
    color = alt.Color("_series:N", scale=color_scale(names), legend=None)
    scale = {"nice": False, "type": "log"} if log_x else {"nice": False, "zero": False}
    across = alt.X(
        x, type="quantitative", title=x_title, scale=scale, axis=value_axis(x_kind, log_x)
    )
    how = {"type": "log" if log_y else "linear"}
    up = alt.Y("_value:Q", title=y_title, scale=how, axis=value_axis(kind, log_y, "y"))
    tip = tooltip({"line": "_series", x_title: (x, ".3~r"), y_title: "_label"})
    layers = named_lines(chart, x, "_series", {"x": across, "y": up}, color, tip)
    if along is not None:
        line, hover, *ends = layers
        layers = [
            line.encode(opacity=_seen()),
            hover,
            *(end.encode(opacity=_seen()) for end in ends),
        ]
    return after(alt.layer(*layers).properties(height=300), steps)


def _series(
    chart: alt.Chart, x: str, series: Any, value: Any, along: Any
) -> tuple[list, alt.Chart, list[str]]:
    """What is computed of the rows of `lines` first; a row for each point, with its `_series` and
    `_value`; and the names of the lines.
    """
    if isinstance(series, str):
        steps, (value,) = along_rows([value], along)
        names = [*dict.fromkeys(chart.data[series])]
        chart = chart.transform_calculate(_value=field_of(value), _series=alt.datum[series])
    else:
        steps, values = along_rows([*series.values()], None if along is None else {along: x})
        chart = _folded(chart, dict(zip(series, values, strict=True)), "_series")
        names = [*series]
    return steps, chart if along is None else _where_known(chart), names


def _seen() -> Any:
    return alt.condition("datum._known > 0", alt.value(1), alt.value(0))


def _where_known(chart: alt.Chart) -> alt.Chart:
    """Lines that end where there is no number. Where there is none at all they stay, unseen: an
    axis without data has no ends.
    """
    chart = chart.transform_calculate(_is="isFinite(datum._value) ? 1 : 0")
    chart = chart.transform_joinaggregate(_known="sum(_is)")
    chart = chart.transform_filter("datum._is === 1 || datum._known === 0")
    return chart.transform_calculate(_value="datum._is ? datum._value : 1")


def named_lines(
    chart: alt.Chart,
    x: str,
    series: str,
    place: Mapping[str, Any],
    color: alt.Color,
    tips: Any,
    **look: Any,
) -> list:
    """Lines, what shows on hover, and the name and a dot at the end of each; the layers of `lines`
    and of a timeline.
    """
    ends = chart.transform_joinaggregate(_last=f"max({x})", groupby=[series]).transform_filter(
        alt.datum[x] == alt.datum["_last"]
    )
    return [
        chart.mark_line().encode(**place, color=color, **look),
        chart.mark_point(opacity=0, size=220).encode(**place, color=color, tooltip=tips),
        # The page's script keeps names apart where lines end close together, and makes a key of
        # them on a phone.
        ends.mark_text(style="line-name").encode(**place, text=alt.Text(series, type="nominal")),
        ends.mark_text(style="line-dot").encode(**place, text=alt.TextValue("●"), color=color),
    ]


def rule(
    value: Any,
    title: str,
    label: Any,
    horizontal: bool = False,
    log: bool = False,
    foot: bool = False,
    lift: int = 0,
    beside: Any = None,
):
    """A line at a value of one axis, with its name at its end; layer it: `lines(...) + rule(...)`.

    Parameters
    ----------
    value : number or quantity.
    title : of the axis, the same as the chart's own.
    label : the words at the end of the line, or a quantity of them.
    horizontal : a value of the vertical axis instead.
    log : the axis is logarithmic, as the chart's own.
    foot : the words stand at the foot of a vertical line, on the side that has room, instead of
        above it.
    lift : how far above the foot [px], so that two lines can be named one above the other.
    beside : where another such line stands: the words of the left one of two that are close stand
        on its left.

    >>> rule(24.0, "hours a day", "a whole day").layer[0].mark.type
    'rule'
    """
    chart = alt.Chart(one_row()).transform_calculate(_at=literal(value), rule=literal(label))
    chart = _unless_absent(chart, {"at": "_at"}, log)
    scale = {"type": "log"} if log else alt.Undefined
    at = (
        {"y": alt.Y("at:Q", title=title, scale=scale)}
        if horizontal
        else {"x": alt.X("at:Q", title=title, scale=scale)}
    )
    end = {"x": alt.XValue(4)} if horizontal else {"y": alt.YValue("height" if foot else 0)}
    line = chart.mark_rule(strokeDash=[4, 3]).encode(opacity=_shown(), **at)
    if not foot or horizontal:
        text = chart.mark_text(baseline="bottom", dy=-3, align="left" if horizontal else "center")
        return alt.layer(line, text.encode(text=alt.Text("rule:N"), opacity=_shown(), **at, **end))
    # Whichever side has room: which one, only the drawn axis knows, so the other's words stay
    # empty.
    place = f"scale('x', {text_of(value)})"
    wide = "8 + 7 * length(datum.rule)"
    right = f"{place} > width / 2 && {place} + {wide} > width"
    if beside is not None:
        other = f"scale('x', {text_of(beside)})"
        near = f"{other} > {place} && {other} < {place} + {wide}"
        right = f"{right} || {place} > {wide} && {near}"
    right = f"({right})"
    sides = [("left", 4, f"{right} ? '' : datum.rule"), ("right", -4, f"{right} ? datum.rule : ''")]
    texts = [
        chart.mark_text(baseline="bottom", dy=-3 - lift, dx=shift, align=side).encode(
            text=alt.Text(value=alt.ExprRef(words)), **at, **end
        )
        for side, shift, words in sides
    ]
    return alt.layer(line, *texts)


def band(
    low: Any,
    high: Any,
    title: str,
    label: Any,
    color: str = "api",
    log: bool = False,
    left: bool = False,
):
    """A strip between two values of the vertical axis, with its name above its upper edge; layer
    it: `band(...) + lines(...)`.

    Parameters
    ----------
    low, high : numbers or quantities.
    title : of the axis, the same as the chart's own.
    label : the words, or a quantity of them.
    color : a name that has a fixed color, see `theme.color_of`.
    log : the axis is logarithmic, as the chart's own.
    left : the words stand at the left end, for lines that rise; at the right otherwise.

    >>> band(0.2, 0.9, "USD per million tokens", "API prices").layer[0].mark.type
    'rect'
    """
    chart = alt.Chart(one_row()).transform_calculate(
        _from=literal(low), _to=literal(high), _rule=literal(label)
    )
    chart = _unless_absent(chart, {"_low": "_from", "_high": "_to"}, log)
    scale = {"type": "log"} if log else alt.Undefined
    top = alt.Y("_high:Q", title=title, scale=scale)
    ink = theme.colors_for([color])[0]
    strip = chart.mark_rect(color=ink, fillOpacity=0.26).encode(
        y=top, y2=alt.Y2("_low:Q"), opacity=_shown()
    )
    text = chart.mark_text(
        baseline="bottom", dy=-4, dx=4 if left else -2, align="left" if left else "right"
    )
    return alt.layer(
        strip,
        text.encode(
            x=alt.XValue(0 if left else "width"), y=top, text=alt.Text("_rule:N"), opacity=_shown()
        ),
    )


def _shown() -> Any:
    return alt.Opacity("_shown:Q", scale=None, legend=None)


def _unless_absent(chart: alt.Chart, fields: Mapping[str, str], log: bool) -> alt.Chart:
    """Fields that are numbers even where there are none, when nothing is shown: an axis without a
    number has no extent.
    """
    there = " && ".join(f"isFinite(datum.{of})" for of in fields.values())
    chart = chart.transform_calculate(_shown=f"{there} ? 1 : 0")
    return chart.transform_calculate(
        **{name: f"datum._shown ? datum.{of} : {int(log)}" for name, of in fields.items()}
    )


# The parts of a total: a staircase of them, or a stacked bar for each of several totals


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
