"""Charts of prices: a timeline with a band, the spread of listings, and a plane of prices with its
frontier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from scaleright.charts import theme
from scaleright.charts.axes import (
    color_scale,
    field_of,
    frame_of,
    picked,
    text_of,
    tooltip,
    value_axis,
)
from scaleright.charts.lean import alt
from scaleright.charts.marks import named_lines
from scaleright.charts.words import say

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
