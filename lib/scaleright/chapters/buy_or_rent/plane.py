"""A plane of two inputs that a curve divides between two choices."""

from __future__ import annotations

from typing import Any

import pandas as pd

from scaleright.charts import theme
from scaleright.charts.axes import along_rows, text_of, tooltip, value_axis
from scaleright.charts.lean import alt
from scaleright.charts.words import say
from scaleright.quantity import Quantity

_GRID = 120
"""Steps along the horizontal axis of a boundary."""
_TALL = "log(boundary_y2 / boundary_y)"
"""The height of the plane."""


def boundary(
    x: tuple[str, Any, Any],
    y: tuple[str, Any, Any],
    at: Any,
    above: str = "own",
    below: str = "rent",
    here: tuple[Any, Any] | None = None,
    kind: str = "number",
    along: Quantity | None = None,
):
    """Which of two choices is cheaper where: a plane that a curve divides, recomputed live, with
    the reader's own case.

    Parameters
    ----------
    x, y : (title, lowest, highest) of the axes, numbers or quantities; the vertical axis is
        logarithmic and both grow to hold the reader's case.
    at : the curve: a quantity, or an expression that reads `alt.datum.x`; it may leave the axis
        and may be infinite.
    above, below : the choices on either side of the curve.
    here : expressions or numbers of the reader's own point.
    kind : how values of the vertical axis are said.
    along : the parameter that runs along the horizontal axis, where the curve is a quantity.

    >>> boundary(("hours", 0, 24), ("USD", 1, 9), 50 / alt.datum.x, here=(8, 4)).height
    320
    """
    grid = _curve(at, kind, along)
    scale = {**_ends("x"), "type": "linear", "zero": False}
    across = alt.X("x:Q", title=x[0], scale=scale, axis=value_axis("number", grid=False))
    height = {"scale": {**_ends("y"), "type": "log"}, "stack": None}
    height |= {"title": y[0], "axis": value_axis(kind, True, "y", grid=False)}

    def up(field: str) -> alt.Y:
        return alt.Y(field, type="quantitative", **height)

    tips = tooltip({x[0]: ("x", ".3~r"), "even at": "_said"})
    color = dict(zip((above, below), theme.colors_for([above, below]), strict=True))
    area = {"opacity": 0.32, "clip": True, "line": False}
    layers = [
        grid.mark_area(color=color[above], **area).encode(
            x=across, y=up("_curve"), y2=alt.Y2("_top:Q")
        ),
        grid.mark_area(color=color[below], **area).encode(
            x=across, y=up("_floor"), y2=alt.Y2("_curve:Q")
        ),
        grid.mark_line(color=theme.INK, strokeWidth=1.5, clip=True).encode(
            x=across, y=up("_curve")
        ),
        grid.mark_rule(opacity=0, strokeWidth=9).encode(
            x=across, y=up("_floor"), y2=alt.Y2("_top:Q"), tooltip=tips
        ),
        *_names(grid, above, below, {"x": across, "y": up("_place")}, here is not None),
    ]
    if here is not None:
        layers += _own_case({"x": across, "y": up("_here")})
    params = (alt.param(name=name, expr=text) for name, text in _corners(x, y, here).items())
    layers[0] = layers[0].add_params(*params)  # every change of the whole would copy all layers
    return alt.layer(*layers, height=320)


def _corners(
    x: tuple[str, Any, Any], y: tuple[str, Any, Any], here: tuple[Any, Any] | None
) -> dict[str, str]:
    """The ends of the axes, which hold the reader's case, and that case."""
    x_low, x_high, y_low, y_high = (text_of(end) for end in (*x[1:], *y[1:]))
    ends = {
        "boundary_x": x_low,
        "boundary_x2": x_high,
        "boundary_y": f"max({y_low}, 1e-9)",
        "boundary_y2": f"max({y_high}, 2 * ({y_low}))",
    }
    if here is None:
        return ends
    return {
        "boundary_x": f"min({x_low}, here_x)",
        "boundary_x2": f"max({x_high}, here_x)",
        "boundary_y": f"min({ends['boundary_y']}, here_y / 1.5)",
        "boundary_y2": f"max({ends['boundary_y2']}, here_y * 1.5)",
        "here_x": text_of(here[0]),
        "here_y": f"max({text_of(here[1])}, 1e-9)",
    }


def _ends(axis: str) -> dict[str, Any]:
    """The part of an axis that is drawn."""
    low, high = (alt.ExprRef(f"boundary_{axis}{end}") for end in ("", "2"))
    return {"domainMax": high, "domainMin": low, "nice": False}


def _curve(at: Any, kind: str, along: Quantity | None) -> alt.Chart:
    """The curve over the steps of the horizontal axis.

    Far beyond the axis it stops: infinity has no place in a drawing.
    """
    grid = alt.Chart(alt.sequence(0, _GRID + 1, as_="_step"))
    grid = grid.transform_calculate(
        x=f"boundary_x + (boundary_x2 - boundary_x) * datum._step / {_GRID}"
    )
    steps, (curve,) = along_rows([at], None if along is None else {along: "x"})
    grid.transform = [*grid.transform, *steps]
    grid = grid.transform_calculate(_at=curve)
    share = (
        f"(isNaN(datum._at) ? 2 : clamp(log(max(datum._at, 1e-12) / boundary_y) / {_TALL}, -1, 2))"
    )
    return grid.transform_calculate(_share=share).transform_calculate(
        _curve=f"boundary_y * exp(datum._share * {_TALL})",
        _floor="boundary_y",
        _top="boundary_y2",
        _said=f"isFinite(datum._at) ? ({text_of(say(alt.datum['_at'], kind))}) : 'nowhere'",
    )


def _names(
    grid: alt.Chart, above: str, below: str, place: dict[str, Any], with_case: bool
) -> list[alt.Chart]:
    """The names of the two choices, each where there is room around it: far from the curve, from
    the edges and from the reader's case.
    """
    room = grid.transform_window(
        _most="max(_share)", _least="min(_share)", frame=[-_GRID // 10, _GRID // 10]
    )
    room = room.transform_filter(
        f"datum._step >= {_GRID // 8} && datum._step <= {_GRID - _GRID // 8}"
    )
    away = "1"
    if with_case:
        aside = "(datum.x - here_x) / (boundary_x2 - boundary_x)"
        apart = f"datum._middle - log(here_y / boundary_y) / {_TALL}"
        away = f"min(1, sqrt(pow(1.6 * ({aside}), 2) + pow({apart}, 2)) / 0.35)"
    spans = {
        above: ("max(0, min(1, datum._most))", "1"),
        below: ("0", "max(0, min(1, datum._least))"),
    }
    texts = []
    for name, (low, high) in spans.items():
        free = room.transform_calculate(_middle=f"({low} + {high}) / 2", _gap=f"{high} - {low}")
        # The last term settles ties: near the middle, and never the same on both of its sides.
        free = free.transform_calculate(
            _score=f"min(datum._gap, 0.6) * {away} - 0.2 * pow(datum._step / {_GRID} - 0.4713, 2)"
        )
        free = free.transform_calculate(
            _place=f"boundary_y * exp(datum._middle * {_TALL})",
            _name=f"datum._gap > 0.11 ? {name!r} : ''",
        )
        free = free.transform_joinaggregate(_best="max(_score)")
        # Never empty: an empty layer has no extent.
        free = free.transform_filter("datum._score == datum._best")
        texts.append(
            free.mark_text(fontSize=16, fontWeight="bold").encode(**place, text=alt.Text("_name:N"))
        )
    return texts


def _own_case(place: dict[str, Any]) -> list[alt.Chart]:
    """The reader's case, a dot with its name."""
    point = alt.Chart(pd.DataFrame({"what": ["your case"]})).transform_calculate(
        x="here_x", _here="here_y"
    )
    along = "(here_x - boundary_x) / (boundary_x2 - boundary_x)"
    side = alt.ExprRef(f"{along} < 0.2 ? 'left' : {along} > 0.8 ? 'right' : 'center'")
    lift = alt.ExprRef(f"here_y * exp(0.15 * {_TALL}) > boundary_y2 ? 17 : -15")
    return [
        point.mark_point(size=110, color=theme.INK, opacity=1).encode(**place),
        point.mark_text(dy=lift, align=side).encode(text=alt.Text("what:N"), **place),
    ]
