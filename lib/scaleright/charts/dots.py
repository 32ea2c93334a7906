"""Named dots on a plane, to layer over lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from scaleright.charts import theme
from scaleright.charts.axes import expressed, frame_of, text_of, tooltip, value_axis
from scaleright.charts.lean import alt
from scaleright.charts.market import label_sides, side_labels
from scaleright.charts.words import say
from scaleright.ops import first_case
from scaleright.quantity import Quantity


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
