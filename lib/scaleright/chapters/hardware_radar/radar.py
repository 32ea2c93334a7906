"""A radar of a few things on a few axes, and the same as dots.

The area of a radar's polygon grows with the square of its points and depends on the order of the
axes; the dots beside it carry the same points without either. A missing value is drawn nowhere: the
polygon stays open there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from scaleright.charts import theme
from scaleright.charts.axes import (
    Along,
    after,
    along_rows,
    expressed,
    field_of,
    frame_of,
    one_row,
    text_of,
    tooltip,
    value_axis,
    value_said,
)
from scaleright.charts.lean import alt
from scaleright.charts.market import SHAPES
from scaleright.charts.marks import _folded
from scaleright.charts.words import say

FULL = 10.0
"""Points at the rim."""
_NAMES = 11.2
"""Where the names of the axes stand."""
_UNIT = "max(26 / max(height, 1), 33 / max(width, 1))"
"""Points a pixel, so that the names of the axes fit on a phone as well."""


def _chosen(
    rows: Any,
    category: str,
    axes: Mapping[str, Any],
    chosen: Sequence[Any],
    along: Along | None,
    more: Mapping[str, Any],
) -> alt.Chart:
    """A row for each of the chosen names and each axis: `_axis`, `_value`, `_label`, `_slot`, the
    place among the chosen, and `_more_0` on.
    """
    slot = f"indexof([{', '.join(map(text_of, chosen))}], datum[{category!r}])"
    steps, found = along_rows([*axes.values(), *more.values()], along)
    told = {f"_more_{i}": field_of(value) for i, value in enumerate(found[len(axes) :])}
    chart = alt.Chart(frame_of(rows)).transform_filter(f"{slot} >= 0").transform_calculate(**told)
    points = dict(zip(axes, found, strict=False))
    chart = _folded(chart, points, "_axis").transform_filter("isFinite(datum._value)")
    chart = chart.transform_calculate(_slot=f"'' + {slot}", _label=say(value_said(), "number 2"))
    return after(chart, steps)


def _look(category: str, chosen: Sequence[Any], more: Iterable[str]) -> dict[str, Any]:
    """Color and shape by place, and what shows on hover."""
    places = [str(place) for place in range(len(chosen))]
    color = alt.Color(
        "_slot:N",
        scale={"domain": places, "range": list(theme.CYCLE[: len(chosen)])},
        legend=None,
    )
    shape = alt.Shape(
        "_slot:N", scale={"domain": places, "range": list(SHAPES[: len(chosen)])}, legend=None
    )
    return {
        "color": color,
        "shape": shape,
        "tooltip": tooltip(
            {"what": category, "axis": "_axis", "points": "_label"}
            | {title: f"_more_{i}" for i, title in enumerate(more)}
        ),
    }


def _key(chart: alt.Chart, chosen: Sequence[Any], look: Mapping[str, Any]) -> list[alt.Chart]:
    """The chosen names in the corner, one below the other, each with its mark if it has a row."""
    layers, one = [], alt.Chart(one_row())
    for place, name in enumerate(chosen):
        at = {"x": alt.XValue(6), "y": alt.YValue(10 + 19 * place)}
        layers.append(
            chart.transform_filter(f"datum._slot == '{place}'")
            .mark_point(size=80, opacity=1)
            .encode(**at, **look)
        )
        at["x"] = alt.XValue(17)
        layers.append(
            one.mark_text(align="left", baseline="middle").encode(
                **at, text=alt.Text(value=alt.ExprRef(text_of(name)))
            )
        )
    return layers


def _web(names: Sequence[str], at: Mapping[str, Any]) -> list[alt.Chart]:
    """Rings, spokes and the names at their ends."""
    turn = 2 * math.pi / len(names)
    corners = [
        {
            "level": level,
            "step": i,
            "x": level * math.sin(i * turn),
            "y": level * math.cos(i * turn),
            "name": names[i % len(names)],
        }
        for level in (FULL / 4, FULL / 2, 3 * FULL / 4, FULL, _NAMES)
        for i in range(len(names) + 1)
    ]
    grid, thin = alt.Chart(pd.DataFrame(corners)), {"color": theme.GRAY, "opacity": 0.45}
    rings = grid.transform_filter(f"datum.level < {_NAMES}").encode(
        **at, detail=alt.Detail("level:N"), order=alt.Order("step:Q")
    )
    middle = rings.transform_filter(f"datum.level == {FULL / 2}")
    spokes = grid.transform_filter(f"datum.level == {FULL}").transform_calculate(zero="0")
    words = grid.transform_filter(f"datum.level == {_NAMES} && datum.step < {len(names)}")
    sides = (
        ("datum.x > 0.1", "left"),
        ("datum.x < -0.1", "right"),
        ("abs(datum.x) <= 0.1", "center"),
    )
    return [
        rings.mark_line(strokeWidth=1, **thin),
        middle.mark_line(color=theme.GRAY, strokeWidth=1.5, strokeDash=[4, 3]),
        spokes.mark_rule(**thin).encode(**at, x2=alt.X2("zero:Q"), y2=alt.Y2("zero:Q")),
        *(
            words.transform_filter(test)
            .mark_text(align=align, baseline="middle", fontWeight="bold")
            .encode(**at, text=alt.Text("name:N"))
            for test, align in sides
        ),
    ]


def _in_the_middle(words: Any) -> alt.Chart:
    """Words, or a quantity of some, in the middle of the chart."""
    across, down = (alt.ExprRef(f"{side} / 2") for side in ("width", "height"))
    text = alt.Text(value=alt.ExprRef(text_of(words)))
    one = alt.Chart(one_row()).mark_text(align="center")
    return one.encode(x=alt.XValue(across), y=alt.YValue(down), text=text)


def radar(
    rows: Any,
    category: str,
    axes: Mapping,
    chosen: Sequence,
    along: Along | None = None,
    more: Mapping | None = None,
    otherwise: Any = "",
):
    """Polygons on spokes, one for each chosen name; points beyond the scale are drawn at its edge.

    Parameters
    ----------
    rows : DataFrame or records, one for each name, more than are drawn.
    category : column with the names.
    axes : name of the axis -> column or quantity of its points, 0 to 10; no number where there are
        none.
    chosen : up to four names, or quantities of them.
    along : parameters that the rows give, where the points are quantities.
    more : further lines of the box on hover, title -> column or quantity.
    otherwise : words in the middle, where nothing is drawn.

    >>> radar([{"chip": "A", "cost": 4.0, "speed": 6.0, "memory": 5.0}], "chip",
    ...     {n: n for n in ("cost", "speed", "memory")}, ["A"]).height
    360
    """
    names, turn = list(axes), 2 * math.pi / len(axes)
    at = {}
    for side, size in (("x", "width"), ("y", "height")):
        ends = [alt.ExprRef(f"{half} * max({size}, 1) * {_UNIT}") for half in (-0.5, 0.5)]
        at[side] = (alt.X if side == "x" else alt.Y)(
            f"{side}:Q", scale={"domain": ends, "nice": False, "zero": False}, axis=None
        )
    layers = _web(names, at)
    more, chosen = more or {}, [expressed(name) for name in chosen]
    chart = _chosen(rows, category, axes, chosen, along, more)
    chart = chart.transform_calculate(
        _i=f"indexof({names!r}, datum._axis)", _r=f"max(0, min({FULL}, datum._value))"
    )
    chart = chart.transform_calculate(_next=f"datum['_value_' + (datum._i + 1) % {len(names)}]")
    chart = chart.transform_calculate(
        x=f"datum._r * sin(datum._i * {turn})", y=f"datum._r * cos(datum._i * {turn})"
    )
    edge = chart.transform_filter("isFinite(datum._next)").transform_calculate(
        _s=f"max(0, min({FULL}, datum._next))"
    )
    edge = edge.transform_calculate(
        x2=f"datum._s * sin((datum._i + 1) * {turn})", y2=f"datum._s * cos((datum._i + 1) * {turn})"
    )
    look = _look(category, chosen, more)
    layers.append(
        edge.mark_rule(strokeWidth=2.5).encode(
            **at, x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"), color=look["color"]
        )
    )
    layers.append(chart.mark_point(size=70, opacity=1).encode(**at, **look))
    layers += [*_key(chart, chosen, look), _in_the_middle(otherwise)]
    return alt.layer(*layers).properties(height=360)


def profile(
    rows: Any,
    category: str,
    axes: Mapping,
    chosen: Sequence,
    title: str,
    along: Along | None = None,
    more: Mapping | None = None,
):
    """The same points as dots, an axis a row; arguments as `radar`, and the title of the scale.

    >>> profile([{"chip": "A", "cost": 4.0}], "chip", {"cost": "cost"}, ["A"], "points").height
    25
    """
    more = more or {}
    chart = _chosen(rows, category, axes, chosen, along, more)
    x = alt.X(
        "_value:Q",
        title=title,
        scale={"clamp": True, "domain": [0, FULL]},
        axis=value_axis("number"),
    )
    # Each name has a lane of its own, so that equal points do not hide each other.
    rows_ = alt.Y("_axis:N", title=None, scale={"domain": list(axes)}, axis={"grid": True})
    lanes = alt.YOffset("_slot:N", scale={"domain": [str(place) for place in range(len(chosen))]})
    place = {"x": x, "y": rows_, "yOffset": lanes}
    layers = [chart.mark_point(size=90, opacity=1).encode(**place, **_look(category, chosen, more))]
    for test, align, shift in (
        (f"datum._value <= {FULL / 2}", "left", 9),
        (f"datum._value > {FULL / 2}", "right", -9),
    ):
        layers.append(
            chart.transform_filter(test)
            .mark_text(align=align, dx=shift)
            .encode(**place, text=f"{category}:N")
        )
    return alt.layer(*layers).properties(height=(17 * len(chosen) + 8) * len(axes))
