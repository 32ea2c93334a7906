"""The reusable charts: a handful of forms, labeled directly, that take rows or live expressions.

A value is the name of a column or a Vega expression over `alt.datum` and the controls; every chart is plain
Altair and can be layered further. Hand the result to `show`.
"""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd

from scaleright.charts import theme
from scaleright.charts.words import first_case, say
from scaleright.ops import is_expression, where
from scaleright.ranges import Swing

_ROW = 30
"""Height of a bar with its gap [px]. Counted out: with a step Vega-Lite cannot fit the width to the page."""


def _axis(kind: str, log: bool = False, channel: str = "x", **more) -> alt.Axis:
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


def _rows(rows: Any) -> pd.DataFrame:
    return rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows)


def _value(value: Any) -> Any:
    """A column's name as an expression of the row; an expression as it is."""
    return value if is_expression(value) else alt.datum[value]


_SAID = alt.datum["_value"]
"""The value that a label says. Computed fields start with an underscore: one that took the name of a column which
it reads would read its own last result as soon as a slider moves."""


def _folded(chart: alt.Chart, values: Mapping[str, Any], key: str) -> alt.Chart:
    """A row for each of the named values, its name in the field `key`, the value in `_value`."""
    fields = [f"_value_{index}" for index in range(len(values))]
    chart = chart.transform_calculate(**{field: _value(value) for field, value in zip(fields, values.values())})
    chart = chart.transform_fold(fields, as_=["_field", "_value"])
    return chart.transform_calculate(**{key: f"{list(values)!r}[indexof({fields!r}, datum._field)]"})


def _paint(names: Iterable[str]) -> alt.Scale:
    names = list(names)
    return alt.Scale(domain=names, range=theme.colors_for(names))


def _largest_first(field: str) -> alt.EncodingSortField:
    return alt.EncodingSortField(field, op="max", order="descending")


def _band(field: str, sort: Any) -> alt.Y:
    return alt.Y(field, type="nominal", sort=sort, title=None, axis=alt.Axis(labels=True, grid=False, labelLimit=150))


def _tips(lines: Mapping[str, str | tuple[str, str]]) -> list[alt.Tooltip]:
    """The box that shows on hover: title -> a field of text, or a field and the format of its numbers."""
    return [
        alt.Tooltip(line, type="nominal", title=title) if isinstance(line, str)
        else alt.Tooltip(line[0], type="quantitative", title=title, format=line[1])
        for title, line in lines.items()
    ]


def bars(rows: Any, category: str, value: Any, kind: str, title: str, color: str | None = None, sort: bool = True, log: bool = False):
    """Horizontal bars, largest first, each with its value at its end.

    Parameters
    ----------
    rows : DataFrame or records.
    category : column with the name of each bar.
    value : column or live expression.
    kind : how values are said, see `say`.
    title : of the axis, with its unit.
    color : column that chooses a fixed color (vendor, choice); one color otherwise.
    sort : largest first, also while sliders move; False keeps the order of the rows.
    log : logarithmic axis, bars become dots since a bar's length would mean nothing.

    >>> bars([{"chip": "A", "price": 2.0}, {"chip": "B", "price": 3.0}], "chip", "price", "usd", "USD an hour").height
    60
    """
    frame = _rows(rows)
    order = _largest_first("_value") if sort else list(dict.fromkeys(frame[category]))
    chart = alt.Chart(frame).transform_calculate(_value=_value(value)).transform_calculate(_label=say(_SAID, kind))
    scale = alt.Scale(type="log", nice=False, padding=14) if log else alt.Scale(nice=False)
    x = alt.X("_value:Q", title=title, scale=scale, axis=_axis(kind, log))
    y = _band(category, order)
    mark = chart.mark_point() if log else chart.mark_bar(height=alt.RelativeBandSize(0.62))
    mark = mark.encode(x=x, y=y, tooltip=_tips({"what": category, title: "_label"}))
    if color:
        mark = mark.encode(color=alt.Color(color, type="nominal", scale=_paint(dict.fromkeys(frame[color])), legend=None))
    text = chart.mark_text(align="left", dx=8 if log else 5).encode(x=x, y=y, text="_label:N")
    return alt.layer(mark, text).properties(height=_ROW * frame[category].nunique())


def lines(
    rows: Any, x: str, series: Mapping[str, Any] | str, kind: str, x_title: str, y_title: str, value: Any = None, log_x=False, log_y=False
):
    """Lines with their names at their right ends.

    Parameters
    ----------
    rows : DataFrame or records; for live lines only the points of `x`.
    x : column of the horizontal axis.
    series : name -> column or live expression (one line each), or the column that names the line of each row.
    kind : how values are said in tips.
    value : column with the values, if `series` is a column.

    >>> len(lines({"load": [0.1, 1.0]}, "load", {"twice": 2 * alt.datum.load}, "number", "load", "value").layer)
    4
    """
    frame = _rows(rows)
    if isinstance(series, str):
        names = list(dict.fromkeys(frame[series]))
        chart = alt.Chart(frame).transform_calculate(_value=_value(value), _series=alt.datum[series])
    else:
        names = list(series)
        chart = _folded(alt.Chart(frame), series, "_series")
    chart = chart.transform_calculate(_label=say(_SAID, kind))
    color = alt.Color("_series:N", scale=_paint(names), legend=None)
    scale = alt.Scale(type="log", nice=False) if log_x else alt.Scale(nice=False, zero=False)
    across = alt.X(x, type="quantitative", title=x_title, scale=scale, axis=_axis("number", log_x))
    up = alt.Y("_value:Q", title=y_title, scale=alt.Scale(type="log" if log_y else "linear"), axis=_axis(kind, log_y, "y"))
    tip = _tips({"line": "_series", x_title: (x, ".3~r"), y_title: "_label"})
    line = chart.mark_line().encode(x=across, y=up, color=color)
    dots = chart.mark_point(opacity=0, size=220).encode(x=across, y=up, color=color, tooltip=tip)
    ends = chart.transform_joinaggregate(_last=f"max({x})", groupby=["_series"]).transform_filter(alt.datum[x] == alt.datum["_last"])
    # The page's script keeps names apart where lines end close together, and moves them inside on a phone.
    names_at_end = ends.mark_text(style="line-name").encode(x=across, y=up, text="_series:N")
    marks_at_end = ends.mark_text(style="line-dot").encode(x=across, y=up, text=alt.value("●"), color=color)
    return alt.layer(line, dots, names_at_end, marks_at_end).properties(height=300)


def stacked_parts(parts: Mapping[str, Any], kind: str, title: str, rows: Any = None, category: str | None = None):
    """The parts of a total, which add up to it.

    For one total: a staircase with a row for each part, its value and its share, and the total beneath. With
    `rows` and `category`: a stacked bar for each row, the parts named above in their order.

    Parameters
    ----------
    parts : name -> number, column or live expression, in the order of drawing.

    >>> stacked_parts({"power": 1.0, "chips": 3.0}, "usd", "USD a year").height
    90
    """
    names = list(parts)
    if category is None:
        return _staircase(names, parts, kind, title)
    frame = _rows(rows)
    values = [_value(part) for part in parts.values()]
    chart = alt.Chart(frame).transform_calculate(_total=sum(values[1:], values[0]))
    order = _largest_first("_total")
    stack = _folded(chart, parts, "_part")
    stack = stack.transform_calculate(_order=f"indexof({names!r}, datum._part)", _label=say(_SAID, kind))
    chart = chart.transform_calculate(_label=say(alt.datum["_total"], kind))
    across = alt.X("_value:Q", stack="zero", title=title, scale=alt.Scale(nice=False), axis=_axis(kind))
    bars_ = stack.mark_bar(height=alt.RelativeBandSize(0.62), cornerRadiusEnd=0).encode(
        x=across,
        y=_band(category, order),
        order="_order:Q",
        color=alt.Color("_part:N", scale=_paint(names), legend=alt.Legend(title=None, columns=2 if len(names) in (2, 4) else 3)),
        tooltip=_tips({"what": category, "part": "_part", title: "_label"}),
    )
    ends = chart.mark_text(align="left", dx=5).encode(x=alt.X("_total:Q", title=title), y=_band(category, order), text="_label:N")
    return alt.layer(bars_, ends).properties(height=_ROW * frame[category].nunique())


def _staircase(names: Sequence[str], parts: Mapping[str, Any], kind: str, title: str):
    """Rows that start where the row above ends, then the total."""
    chart = alt.Chart(pd.DataFrame({"part": [*names, "total"], "step": range(len(names) + 1)}))
    values = [part if is_expression(part) else float(part) for part in parts.values()]
    chart = chart.transform_calculate(size=first_case([(alt.datum.step == index, value) for index, value in enumerate(values)], 0))
    chart = chart.transform_window(end="sum(size)", sort=[alt.SortField("step")], frame=[None, 0])
    chart = chart.transform_joinaggregate(total="sum(size)")
    last = alt.datum.step == len(names)
    share = alt.expr.format(alt.datum.size / alt.datum.total, ".0%")
    chart = chart.transform_calculate(
        start=where(last, 0, alt.datum.end - alt.datum.size),
        label=where(last, say(alt.datum.total, kind), where(alt.datum.size == 0, "–", say(alt.datum.size, kind) + " (" + share + ")")),
    )
    y = _band("part", [*names, "total"])
    colors = alt.Scale(domain=[*names, "total"], range=[*theme.colors_for(names), theme.GRAY])
    x = alt.X("start:Q", title=title, scale=alt.Scale(nice=False), axis=_axis(kind))
    steps = chart.mark_bar(height=alt.RelativeBandSize(0.62), cornerRadiusEnd=0).encode(
        x=x, x2="end:Q", y=y, color=alt.Color("part:N", scale=colors, legend=None), tooltip=_tips({"part": "part", title: "label"})
    )
    text = chart.mark_text(align="left", dx=5).encode(x=alt.X("end:Q", title=title), y=y, text="label:N")
    return alt.layer(steps, text).properties(height=_ROW * (len(names) + 1))


def rule(value: Any, title: str, label: Any, horizontal: bool = False, log: bool = False, foot: bool = False):
    """A line at a value of one axis, with its name at its end; layer it: `lines(...) + rule(...)`.

    Parameters
    ----------
    value : number or live expression.
    title : of the axis, the same as the chart's own.
    label : the words at the end of the line, or a live expression of them.
    horizontal : a value of the vertical axis instead.
    log : the axis is logarithmic, as the chart's own.
    foot : the words stand at the foot of a vertical line, to its right, instead of above it.

    >>> rule(24.0, "hours a day", "a whole day").layer[0].mark.type
    'rule'
    """
    words = label if is_expression(label) else repr(str(label))
    chart = alt.Chart(pd.DataFrame({"row": [0]})).transform_calculate(at=_literal(value), rule=words)
    scale = alt.Scale(type="log") if log else alt.Undefined
    at = {"y": alt.Y("at:Q", title=title, scale=scale)} if horizontal else {"x": alt.X("at:Q", title=title, scale=scale)}
    end = {"x": alt.value(4)} if horizontal else {"y": alt.value("height") if foot else alt.value(0)}
    text = chart.mark_text(baseline="bottom", dy=-3, dx=4 if foot else 0, align="left" if horizontal or foot else "center")
    return alt.layer(chart.mark_rule(strokeDash=[4, 3]).encode(**at), text.encode(text="rule:N", **at, **end))


def tornado(swings: Sequence[Swing], best: float, kind: str, title: str, names: Mapping[str, str] | None = None, most: int = 8):
    """What moves the answer: for each input the span of the result, largest first, around the best estimate.

    Parameters
    ----------
    swings : from `ranges.tornado`.
    best : the result with all inputs at their best.
    names : input -> the words for it; underscores become spaces otherwise.
    most : how many inputs to draw.

    >>> tornado([Swing("price", 1.0, 3.0, 5.0, 7.0)], 6.0, "usd", "USD a year").height
    30
    """
    words = {s.name: (names or {}).get(s.name, s.name.replace("_", " ")) for s in swings}
    rows = [
        {
            "input": words[s.name],
            "from": min(s.result_at_low, s.result_at_high),
            "to": max(s.result_at_low, s.result_at_high),
            "span": f"{s.low:.3g} to {s.high:.3g}",
        }
        for s in swings[:most]
    ]
    chart = alt.Chart(pd.DataFrame(rows)).transform_calculate(low=say(alt.datum["from"], kind), high=say(alt.datum["to"], kind))
    y = _band("input", [row["input"] for row in rows])
    x = alt.X("from:Q", title=title, scale=alt.Scale(padding=6, zero=False, nice=False), axis=_axis(kind))
    tips = _tips({"input": "input", "input from, to": "span", "result from": "low", "to": "high"})
    bar = chart.mark_bar(height=alt.RelativeBandSize(0.6), cornerRadius=2).encode(x=x, x2="to:Q", y=y, tooltip=tips)
    chart = chart.transform_calculate(both=alt.datum.low + " to " + alt.datum.high)
    text = chart.mark_text(align="left", dx=6).encode(x=alt.X("to:Q", title=title), y=y, text="both:N")
    middle = alt.Chart(pd.DataFrame({"best": [best]})).mark_rule(strokeDash=[4, 3]).encode(x=alt.X("best:Q", title=title))
    return alt.layer(middle, bar, text).properties(height=_ROW * len(rows))


def predicted_vs_measured(
    rows: Any, measured: str, predicted: str, label: str, unit: str, said: str = "measured", log: bool = True, name_worst: int = 3
):
    """A dot for each row, on the diagonal where the prediction is right; the worst are named.

    Parameters
    ----------
    measured, predicted, label : columns.
    unit : of both axes.
    said : the word for the evidence: "measured" or "published".

    >>> rows = [{"model": "A", "seen": 1.0, "found": 1.1}, {"model": "B", "seen": 2.0, "found": 1.9}]
    >>> predicted_vs_measured(rows, "seen", "found", "model", "s").height
    340
    """
    frame = _rows(rows)
    frame = frame.assign(error=frame[predicted] / frame[measured] - 1)
    worst = frame["error"].abs().rank(ascending=False, method="first") <= name_worst
    frame = frame.assign(worst=np.where(worst, frame[label].astype(str), ""))
    frame = frame[[label, measured, predicted, "error", "worst"]]
    low, high = float(frame[[measured, predicted]].min().min()), float(frame[[measured, predicted]].max().max())
    ends = pd.DataFrame({"m": [low, high], "p": [low, high]})
    scale = alt.Scale(type="log" if log else "linear", domain=[low * 0.8, high * 1.25] if log else [0, high * 1.05], nice=False)
    x = alt.X(measured, type="quantitative", scale=scale, title=f"{said} [{unit}]", axis=_axis("number", log))
    y = alt.Y(predicted, type="quantitative", scale=scale, title=f"predicted [{unit}]", axis=_axis("number", log, "y"))
    diagonal = alt.Chart(ends).mark_line(strokeDash=[4, 3], strokeWidth=1, color=theme.GRAY)
    diagonal = diagonal.encode(x=alt.X("m:Q", title=f"{said} [{unit}]"), y=alt.Y("p:Q", title=f"predicted [{unit}]"))
    tips = _tips({label: label, measured: (measured, ".4~s"), predicted: (predicted, ".4~s"), "error": ("error", "+.1%")})
    dots = alt.Chart(frame).mark_point(color=theme.BLUE).encode(x=x, y=y, tooltip=tips)
    upper = alt.datum[measured] > (low * high) ** 0.5 if log else alt.datum[measured] > (low + high) / 2
    named = alt.Chart(frame).transform_filter(alt.datum.worst != "")
    texts = [
        named.transform_filter(condition).mark_text(align=side, dx=shift).encode(x=x, y=y, text="worst:N")
        for condition, side, shift in ((upper, "right", -9), (~upper, "left", 9))
    ]
    return alt.layer(diagonal, dots, *texts).properties(height=340)


_GRID = 120
"""Steps along the horizontal axis of a boundary."""


def boundary(
    x: tuple[str, Any, Any],
    y: tuple[str, Any, Any],
    at: Any,
    above: str = "own",
    below: str = "rent",
    here: tuple[Any, Any] | None = None,
    kind: str = "number",
):
    """Which of two choices is cheaper where: a plane that a curve divides, recomputed live, with the reader's own case.

    Parameters
    ----------
    x, y : (title, lowest, highest) of the axes, numbers or live expressions; the vertical axis is logarithmic and
        both grow to hold the reader's case.
    at : the curve, an expression that reads `alt.datum.x`; it may leave the axis and may be infinite.
    above, below : the choices on either side of the curve.
    here : expressions or numbers of the reader's own point.
    kind : how values of the vertical axis are said.

    >>> boundary(("hours", 0, 24), ("USD", 1, 9), 50 / alt.datum.x, here=(8, 4)).height
    320
    """
    x_low, x_high, y_low, y_high = (_text(end) for end in (*x[1:], *y[1:]))
    params = {"boundary_x": x_low, "boundary_x2": x_high, "boundary_y": f"max({y_low}, 1e-9)", "boundary_y2": f"max({y_high}, 2 * ({y_low}))"}
    if here is not None:
        params |= {"here_x": _text(here[0]), "here_y": f"max({_text(here[1])}, 1e-9)"}
        params["boundary_x"], params["boundary_x2"] = f"min({x_low}, here_x)", f"max({x_high}, here_x)"
        params["boundary_y"] = f"min({params['boundary_y']}, here_y / 1.5)"
        params["boundary_y2"] = f"max({params['boundary_y2']}, here_y * 1.5)"

    def ends(axis: str, kind: str) -> dict:
        return {"type": kind, "domainMin": alt.ExprRef(f"boundary_{axis}"), "domainMax": alt.ExprRef(f"boundary_{axis}2"), "nice": False, "zero": False}

    across = alt.X("x:Q", title=x[0], scale=alt.Scale(**ends("x", "linear")), axis=_axis("number", grid=False))
    scale = alt.Scale(**{key: end for key, end in ends("y", "log").items() if key != "zero"})

    def up(field: str) -> alt.Y:
        return alt.Y(field, type="quantitative", title=y[0], scale=scale, stack=None, axis=_axis(kind, True, "y", grid=False))

    grid = alt.Chart(alt.sequence(0, _GRID + 1, as_="_step"))
    grid = grid.transform_calculate(x=f"boundary_x + (boundary_x2 - boundary_x) * datum._step / {_GRID}").transform_calculate(_at=at)
    # Far beyond the axis the curve stops: infinity has no place in a drawing.
    tall = "log(boundary_y2 / boundary_y)"
    share = f"(isNaN(datum._at) ? 2 : clamp(log(max(datum._at, 1e-12) / boundary_y) / {tall}, -1, 2))"
    grid = grid.transform_calculate(_share=share)
    grid = grid.transform_calculate(
        _curve=f"boundary_y * exp(datum._share * {tall})",
        _floor="boundary_y",
        _top="boundary_y2",
        _said=f"isFinite(datum._at) ? ({_text(say(alt.datum['_at'], kind))}) : 'nowhere'",
    )
    tips = _tips({x[0]: ("x", ".3~r"), "even at": "_said"})
    color = dict(zip((above, below), theme.colors_for([above, below])))
    area = {"opacity": 0.32, "clip": True, "line": False}
    layers = [
        grid.mark_area(color=color[above], **area).encode(x=across, y=up("_curve"), y2="_top:Q"),
        grid.mark_area(color=color[below], **area).encode(x=across, y=up("_floor"), y2="_curve:Q"),
        grid.mark_line(color=theme.INK, strokeWidth=1.5, clip=True).encode(x=across, y=up("_curve")),
        grid.mark_rule(opacity=0, strokeWidth=9).encode(x=across, y=up("_floor"), y2="_top:Q", tooltip=tips),
    ]
    # A name stands where there is room around it: far from the curve, from the edges and from the reader's case.
    room = grid.transform_window(_most="max(_share)", _least="min(_share)", frame=[-_GRID // 10, _GRID // 10])
    room = room.transform_filter(f"datum._step >= {_GRID // 8} && datum._step <= {_GRID - _GRID // 8}")
    away = "1"
    if here is not None:
        own = f"(datum.x - here_x) / (boundary_x2 - boundary_x), log(here_y / boundary_y) / {tall}"
        away = "min(1, sqrt(pow(1.6 * ({}), 2) + pow(datum._middle - {}, 2)) / 0.35)".format(*own.split(", "))
    spans = {above: ("max(0, min(1, datum._most))", "1"), below: ("0", "max(0, min(1, datum._least))")}
    for name, (low, high) in spans.items():
        free = room.transform_calculate(_middle=f"({low} + {high}) / 2", _gap=f"{high} - {low}")
        # The last term settles ties: near the middle, and never the same on both of its sides.
        free = free.transform_calculate(_score=f"min(datum._gap, 0.6) * {away} - 0.2 * pow(datum._step / {_GRID} - 0.4713, 2)")
        free = free.transform_calculate(_place=f"boundary_y * exp(datum._middle * {tall})", _name=repr(name))
        free = free.transform_joinaggregate(_best="max(_score)")
        free = free.transform_filter("datum._score == datum._best && datum._gap > 0.11")
        layers.append(free.mark_text(fontSize=16, fontWeight="bold").encode(x=across, y=up("_place"), text="_name:N"))
    if here is not None:
        point = alt.Chart(pd.DataFrame({"what": ["your case"]})).transform_calculate(x="here_x", _here="here_y")
        place = {"x": across, "y": up("_here")}
        along = "(here_x - boundary_x) / (boundary_x2 - boundary_x)"
        side = alt.ExprRef(f"{along} < 0.2 ? 'left' : {along} > 0.8 ? 'right' : 'center'")
        lift = alt.ExprRef(f"here_y * exp(0.15 * {tall}) > boundary_y2 ? 17 : -15")
        layers.append(point.mark_point(size=110, color=theme.INK, opacity=1).encode(**place))
        layers.append(point.mark_text(dy=lift, align=side).encode(text="what:N", **place))
    return alt.layer(*layers).add_params(*(alt.param(name=name, expr=text) for name, text in params.items())).properties(height=320)


def _text(value: Any) -> str:
    """A number or a live expression as the text of an expression."""
    return f"({value._to_expr()})" if is_expression(value) else repr(float(value))


def _literal(value: Any) -> Any:
    return value if is_expression(value) else repr(float(value))
