"""Results against size: a line for each chip through its best results, on logarithmic axes,
live.
"""

from __future__ import annotations

from typing import Any

from scaleright.charts.axes import (
    Along,
    after,
    along_rows,
    color_scale,
    field_of,
    frame_of,
    picked,
    tooltip,
    value_axis,
    value_said,
)
from scaleright.charts.lean import alt
from scaleright.charts.marks import named_lines
from scaleright.charts.words import say


def progress(
    rows: Any,
    x: str,
    series: str,
    value: Any,
    titles: tuple[str, str],
    color: str,
    words: Any = None,
    tips: dict[str, str] | None = None,
    only: Any = None,
    along: Along | None = None,
):
    """Lines over sizes with a dot at each result and a name at the right end of each line.

    Parameters
    ----------
    rows : one row for each result, more than are drawn.
    x : column of the size.
    series : column that names the lines.
    value : column or quantity of the height; rows where it is not above 0 are left
        out.
    titles : of the two axes, with their units.
    color : column that chooses a fixed color (vendor).
    words : how a value is said on hover, a quantity or an expression over
        `alt.datum["_value"]`; as a number otherwise.
    tips : title -> further column to show on hover.
    only : what columns of the rows to draw must equal, or a condition, a quantity or live.
    along : quantities that stand for columns, of which value and words are made, as in `spread`.

    >>> rows = [{"chips": 8, "chip": "A", "s": 9.0, "vendor": "V"},
    ...     {"chips": 16, "chip": "A", "s": 5.0, "vendor": "V"}]
    >>> len(progress(rows, "chips", "chip", "s", ("chips", "s"), "vendor").layer)
    5
    """
    frame = frame_of(rows)
    steps, (value, words) = along_rows([value, words], along)
    chart = alt.Chart(frame) if only is None else alt.Chart(frame).transform_filter(picked(only))
    chart = chart.transform_calculate(_value=field_of(value)).transform_filter("datum._value > 0")
    chart = chart.transform_calculate(
        _label=say(value_said(), "number") if words is None else words
    )
    scale = {"nice": False, "padding": 12, "type": "log"}
    place = {
        "x": alt.X(
            x, type="quantitative", title=titles[0], scale=scale, axis=value_axis("number", True)
        ),
        "y": alt.Y("_value:Q", title=titles[1], scale=scale, axis=value_axis("number", True, "y")),
    }
    paint = alt.Color(
        color, type="nominal", scale=color_scale(dict.fromkeys(frame[color])), legend=None
    )
    shown = tooltip({series: series, titles[0]: x, "result": "_label", **(tips or {})})
    line, hover, *names = named_lines(
        chart, x, series, place, paint, shown, detail=alt.Detail(series, type="nominal")
    )
    dots = chart.mark_point(opacity=0.9).encode(**place, color=paint)
    return after(alt.layer(line, dots, *names, hover).properties(height=360), steps)
