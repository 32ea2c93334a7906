"""Charts of prices: a timeline with a band, the spread of listings, and a plane of prices with its
frontier.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from scaleright.charts import theme
from scaleright.charts.axes import (
    ROW,
    Along,
    after,
    along_rows,
    color_scale,
    expressed,
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
from scaleright.charts.marks import named_lines
from scaleright.charts.words import say
from scaleright.ops import first_case, where
from scaleright.quantity import Quantity

SHAPES = ("circle", "square", "triangle-up", "diamond")
"""Beside a color, so that who sees none tells groups apart."""


def timeline(
    rows: Any,
    date: str,
    series: str,
    value: str,
    kind: str,
    y_title: str,
    ends: tuple[str, str] | None = None,
    basis: str | None = None,
    only: Any = None,
    log: bool = False,
):
    """Prices over dates: a line for each series with its name at its end, and a band from lowest to
    highest.

    Parameters
    ----------
    rows : one row for each date and series.
    date : column of dates.
    series : column that names the line of each row.
    value : column of the line's height.
    kind : how values are said, see `say`.
    y_title : of the vertical axis, with its unit.
    ends : columns with the lowest and the highest of the band.
    basis : column that tells how the figures were made; each basis has a dash of its own.
    only : what columns of the rows to draw must equal, or a live condition.
    log : logarithmic vertical axis.

    >>> rows = [{"day": "2026-01-01", "chip": "A", "usd": 2.0},
    ...     {"day": "2026-02-01", "chip": "A", "usd": 3.0}]
    >>> timeline(rows, "day", "chip", "usd", "usd", "USD per hour").height
    300
    """
    frame = frame_of(rows)
    # Days without a time are read as UTC, so that a page shows the same day everywhere.
    frame = frame.assign(**{date: frame[date].astype("datetime64[s]").dt.strftime("%Y-%m-%d")})
    names = list(dict.fromkeys(frame[series]))
    chart = alt.Chart(frame) if only is None else alt.Chart(frame).transform_filter(picked(only))
    chart = chart.transform_calculate(
        _label=say(alt.datum[value], kind), _day=f"utcFormat(toDate(datum[{date!r}]), '%Y-%m-%d')"
    )
    across = _days(date)
    scale, axis = {"type": "log" if log else "linear"}, value_axis(kind, log, "y")
    up = alt.Y(value, type="quantitative", title=y_title, scale=scale, axis=axis)
    color = alt.Color(series, type="nominal", scale=color_scale(names), legend=None)
    tips = {"line": series, "date": "_day", y_title: "_label"}
    how = {}
    if basis:
        how["strokeDash"] = _dashes(frame, basis)
        tips["basis"] = basis
    layers = []
    if ends:
        low, high = ends
        span = say(alt.datum[low], kind) + " to " + say(alt.datum[high], kind)
        chart, tips["range"] = chart.transform_calculate(_span=span), "_span"
        bottom = alt.Y(low, type="quantitative", title=y_title)
        area = chart.mark_area(opacity=0.18, line=False)
        layers.append(area.encode(x=across, y=bottom, y2=high, color=color))
    layers += named_lines(chart, date, series, {"x": across, "y": up}, color, tooltip(tips), **how)
    return alt.layer(*layers).properties(height=300)


def _days(date: str) -> alt.X:
    """An axis of days: names of months while few years are in view, years alone otherwise."""
    months = (
        "utcmonth(datum.value) == 0 ? utcFormat(datum.value, '%Y') : utcFormat(datum.value, '%b')"
    )
    return alt.X(
        date,
        type="temporal",
        title=None,
        scale={"nice": False, "type": "utc"},
        axis={"grid": False, "labelExpr": months},
    )


def _dashes(frame: pd.DataFrame, basis: str) -> alt.StrokeDash:
    """A dash for each way in which figures were made."""
    kinds = list(dict.fromkeys(frame[basis]))
    dashes = [[1, 0], [6, 4], [2, 3], [9, 3, 2, 3]]
    scale = {"domain": kinds, "range": dashes[: len(kinds)]}
    return alt.StrokeDash(basis, type="nominal", scale=scale, legend=None)


def scatter(
    rows: Any,
    x: str,
    y: str,
    label: str,
    kinds: Sequence[str],
    titles: Sequence[str],
    color: str | None = None,
    chosen: Any = None,
    log: bool = True,
):
    """A plane of prices: a dot for each row, and a staircase through those that nothing beats on
    both axes.

    Less is better on both. Each dot is named that has room for its name; a box names the others on
    hover.

    Parameters
    ----------
    rows : one row for each dot.
    x, y : columns of the prices.
    label : column that names the dots.
    kinds, titles : how values of the two axes are said, and the titles of the axes with their
        units.
    color : column that chooses a fixed color (vendor).
    chosen : name of the reader's own dot, or a quantity of it.
    log : logarithmic axes.

    >>> scatter([{"chip": "A", "flop": 2.0, "byte": 3.0}], "flop", "byte", "chip", ["usd", "usd"],
    ...     ["USD a PFLOP", "USD a TB"]).height
    340
    """
    frame = frame_of(rows)
    sides = {
        name: label_sides(frame[x], frame[y], frame[label], width, log)
        for name, width in (("_wide", 580), ("_narrow", 220))
    }
    chart = alt.Chart(frame.assign(**sides)).transform_calculate(_x=field_of(x), _y=field_of(y))
    own = "false" if chosen is None else f"datum[{label!r}] == {text_of(chosen)}"
    said = {f"_said_{axis}": say(alt.datum[f"_{axis}"], kinds["xy".index(axis)]) for axis in "xy"}
    chart = _unbeaten(chart, _own=own, **said)
    place = _plane(kinds, titles, log)
    paint = {}
    if color:
        key = {"offset": 26, "title": None}  # clear of the title of the vertical axis
        colors = color_scale(dict.fromkeys(frame[color]))
        paint["color"] = alt.Color(color, type="nominal", scale=colors, legend=key)
    tips = tooltip({label: label, titles[0]: "_said_x", titles[1]: "_said_y"})
    dots = chart.mark_point(opacity=0.9).encode(**place, **paint, tooltip=tips)
    # Shown or not rather than filtered, as above.
    shown = alt.condition("datum._own", alt.value(1), alt.value(0))
    ring = chart.mark_point(filled=False, size=190, color=theme.INK, strokeWidth=2)
    ring = ring.encode(**place, opacity=shown)
    side = "width < 420 ? datum._narrow : datum._wide"
    texts = side_labels(chart, place, label, f"datum._own && !({side}) ? 'above' : {side}")
    stairs = chart.transform_filter("datum._first").mark_line(
        interpolate="step-after", strokeDash=[4, 3], strokeWidth=1.5, color=theme.GRAY
    )
    stairs = stairs.encode(order=alt.Order("_x:Q"), **place)
    return alt.layer(stairs, dots, ring, *texts).properties(height=340)


def _plane(kinds: Sequence[str], titles: Sequence[str], log: bool) -> dict[str, Any]:
    """Where a dot of the plane stands."""
    how = {"type": "log"} if log else {"zero": False}
    scale = {"nice": False, "padding": 24, **how}
    return {
        "x": alt.X("_x:Q", title=titles[0], scale=scale, axis=value_axis(kinds[0], log)),
        "y": alt.Y("_y:Q", title=titles[1], scale=scale, axis=value_axis(kinds[1], log, "y")),
    }


def _unbeaten(chart: alt.Chart, **more: Any) -> alt.Chart:
    """`_first` tells whether a dot is on the frontier; further fields stand beside it.

    In order of x, a dot that is lower than all before it is; of equal ones the lower comes first.
    """
    chart = chart.transform_window(
        _best="min(_y)", sort=[alt.SortField("_x"), alt.SortField("_y")], frame=[None, 0]
    )
    chart = chart.transform_window(
        _before="lag(_best)", sort=[alt.SortField("_x"), alt.SortField("_y")]
    )
    first = "!isValid(datum._before) || datum._y < datum._before"
    return chart.transform_calculate(_first=first, **more)


def side_labels(
    chart: alt.Chart, place: Mapping[str, Any], label: str, side: str
) -> list[alt.Chart]:
    """The names of dots, each on the side that an expression of its row says, if any."""
    return [
        chart.mark_text(align=align, dx=dx, dy=dy).encode(
            **place,
            text=alt.Text(value=alt.ExprRef(f"({side}) == '{name}' ? datum[{label!r}] : ''")),
        )
        for name, (align, dx, dy) in _SIDES.items()
    ]


_LETTER, _LINE = 7.2, 15
"""Room of a letter and of a line of 13 px text [px]."""

_SIDES = {
    "right": ("left", 8, 0),
    "left": ("right", -8, 0),
    "above": ("center", 0, -13),
    "below": ("center", 0, 14),
}
"""Where a name stands beside its dot: its alignment and its offsets [px]."""


def label_sides(
    x: Any, y: Any, labels: Any, width: float, log: bool = True, height: float = 290
) -> list[str]:
    """The side of each dot on which its name meets neither dots nor other names; empty where no
    side has room.

    Names are placed in the order of rows, in a plot of the given size [px].

    >>> label_sides([1, 1.05, 1.1, 9], [1, 1.05, 1.1, 9], ["first", "second", "third", "far"], 300)
    ['below', '', 'right', 'left']
    """
    spots = []
    for values, size in ((x, width), (y, height)):
        scaled = np.log(np.asarray(values, float)) if log else np.asarray(values, float)
        span = float(np.ptp(scaled)) or 1.0
        spots.append((scaled - scaled.min()) / span * size)
    across, up = spots
    taken = [(a - 5, b - 5, a + 5, b + 5) for a, b in zip(across, up, strict=True)]
    sides = []
    for a, b, name in zip(across, up, labels, strict=True):
        long, found = _LETTER * len(str(name)), ""
        for side, (align, dx, dy) in _SIDES.items():
            left = a + dx - {"left": 0, "right": long, "center": long / 2}[align]
            box = (left, b - dy - _LINE / 2, left + long, b - dy + _LINE / 2)
            inside = box[0] > -24 and box[2] < width + 24 and box[1] > -24 and box[3] < height + 24
            if inside and not any(
                box[0] < t[2] and t[0] < box[2] and box[1] < t[3] and t[1] < box[3] for t in taken
            ):
                taken.append(box)
                found = side
                break
        sides.append(found)
    return sides


# Named dots on a plane, to layer over lines


def dots(
    rows: Any,
    x: str,
    y: str,
    label: str,
    titles: Sequence[str],
    kinds: Sequence[str],
    within: Sequence[tuple[float, float]],
    yours: Mapping[str, tuple[Quantity, Quantity]] | None = None,
    most: int = 16,
):
    """A dot for each row on logarithmic axes, with its name where there is room: `lines(...) +
    dots(...)`.

    Parameters
    ----------
    rows : one row for each dot, those to be named first on top.
    x, y : columns.
    label : column that names the dots.
    titles, kinds : of the two axes, the same as the chart's own, and how their values are said.
    within : (lowest, highest) of the two axes, by which room is looked for.
    yours : the reader's own dots by name, which follow the controls, stand out, and are always
        named.
    most : how many are named, on a phone half as many; the others say their name on hover.

    >>> rows = [{"model": "A", "size": 2.0, "tokens": 3.0}]
    >>> len(dots(rows, "size", "tokens", "model", ["parameters", "tokens"], ["number", "number"],
    ...     [(1, 9), (1, 9)]).layer)
    5
    """
    own = {name: tuple(map(expressed, place)) for name, place in (yours or {}).items()}
    first = [{label: n, x: a.value, y: b.value} for n, (a, b) in (yours or {}).items()]
    frame = pd.concat([pd.DataFrame(first), frame_of(rows)[[label, x, y]]], ignore_index=True)
    ends = [*frame[x], *within[0]], [*frame[y], *within[1]]
    frame = _with_sides(frame, label, ends, len(own), most)
    shown = {
        field: first_case([(alt.datum[label] == n, p[at]) for n, p in own.items()], alt.datum[of])
        for at, (field, of) in enumerate((("_dot_x", x), ("_dot_y", y)))
    }
    said = {
        f"_said_{axis}": say(alt.datum[f"_dot_{axis}"], kind)
        for axis, kind in zip("xy", kinds, strict=True)
    }
    chart = (
        alt.Chart(frame.assign(_own=frame.index < len(own)))
        .transform_calculate(**shown)
        .transform_calculate(**said)
    )
    scale = {"nice": False, "type": "log"}
    place = {
        axis: channel(f"_dot_{axis}:Q", title=title, scale=scale, axis=value_axis(kind, True, axis))
        for axis, channel, title, kind in zip("xy", (alt.X, alt.Y), titles, kinds, strict=True)
    }
    ink = alt.condition("datum._own", alt.value(theme.VERMILLION), alt.value(theme.GRAY))
    size = alt.condition("datum._own", alt.value(130), alt.value(55))
    tips = tooltip({label: label, titles[0]: "_said_x", titles[1]: "_said_y"})
    points = chart.mark_point(opacity=0.95).encode(**place, color=ink, size=size, tooltip=tips)
    return alt.layer(points, *side_labels(chart, place, label, _side(own)))


def _side(own: Mapping[str, tuple[Any, Any]]) -> str:
    """On which side a name stands, as an expression of its row; one that a dot of the reader's
    comes upon gives way to its own.
    """
    met = " || ".join(
        f"abs(scale('x', {text_of(x)}) - scale('x', datum._dot_x)) < 130"
        f" && abs(scale('y', {text_of(y)}) - scale('y', datum._dot_y)) < 20"
        for x, y in own.values()
    )
    side = "width < 420 ? datum._narrow : datum._wide"
    return f"!datum._own && ({met}) ? '' : ({side})" if met else side


def _with_sides(
    frame: pd.DataFrame,
    label: str,
    ends: tuple[Sequence[float], Sequence[float]],
    own: int,
    most: int,
) -> pd.DataFrame:
    """Rows with the side on which the name of each stands, on a wide page and on a narrow one."""
    for key, width, count in (("_wide", 480, most), ("_narrow", 210, most // 2)):
        names = [name if row < count else "" for row, name in enumerate(frame[label])]
        sides = label_sides(*ends, [*names, "", ""], width)[: len(names)]
        found = [
            name and (side or "right" * (row < own))
            for row, (name, side) in enumerate(zip(names, sides, strict=True))
        ]
        frame = frame.assign(**{key: found})
    return frame


# How far listings of one thing lie apart: a row for each, a dot for each listing


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
