"""The chart of a sweep: the headline quantity over one parameter, a color for another, a panel for
each of the rest.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scaleright.files import write_whole
from scaleright.parameters import Parameter, show

PAGE, PICTURE = "sweep.html", "sweep.svg"
"""The files of the chart."""
_PANEL_WIDTH = 280
_MOST_PANELS = 24
"""More small charts than this are no picture; the table has them all."""
_HTML = """<!doctype html>
<html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>
<style>:root{{color-scheme:light dark}}
body{{margin:1.5rem;font-family:{font};background:Canvas;color:CanvasText}}
figure{{margin:0;overflow-x:auto}}</style>
<h1>{title}</h1><p>{words}</p>
<figure role="img" aria-label="{words}"><div id="chart">{svg}</div></figure>
<script>{vega}</script>
<script>
vegaEmbed("#chart", {spec}, {{mode: "vega-lite", renderer: "svg", actions: false}});
</script></html>
"""
"""The drawing stands in the page by itself; the script puts the same one in its place, which
answers to a pointer.
"""


def _words(name: str, unit: str = "") -> str:
    return name.replace("_", " ") + (f" [{unit}]" if unit not in ("", "1") else "")


def _said(value: Any) -> str:
    return "default" if value is None or value != value else show(value)  # noqa: PLR0124, NaN


def headline(frame: Any, kinds: Mapping[str, str], swept: Sequence[str]) -> str | None:
    """The first quantity that is a number, that the scenarios move, and that is no parameter said
    again.

    >>> import pandas
    >>> rows = pandas.DataFrame({"hours": [4.0, 8.0], "used": [4.0, 8.0], "rate": [1.0, 1.0],
    ...     "saving": [5.0, 9.0]})
    >>> headline(rows, {"used": "hours", "rate": "usd", "saving": "usd"}, ["hours"])
    'saving'
    """
    numbers = [
        name for name in kinds if frame[name].notna().any() and frame[name].dtype.kind in "iuf"
    ]
    repeats = {
        name
        for name in numbers
        for other in swept
        if (frame[name].isna() | (frame[name] == frame[other])).all()
    }
    own = [name for name in numbers if name not in repeats] or numbers
    return next(iter([name for name in own if frame[name].nunique() > 1] or own), None)


def chart(frame: Any, quantity: str, kind: str, swept: Sequence[Parameter], chapter: str):
    """The chart and, in words, what it shows.

    The first parameter that is a number runs along the axis, or the first of all if none is; the
    next with few enough values for the palette takes the colors; each combination of the others has
    a panel.

    Parameters
    ----------
    frame : the table of the sweep, without the rows that lack the quantity.
    quantity, kind : what is drawn, and how `say` says it.
    swept : the parameters of the grid, in their order.
    """
    import altair as alt

    from scaleright.charts import say, theme
    from scaleright.charts.words import unit_said

    roles = _roles(frame, swept)
    apart = roles.apart
    names = {p.name: frame[p.name].map(_said) for p in roles.moving if p is not roles.along}
    panel = [
        ", ".join(f"{_words(p.name)} {names[p.name][index]}" for p in apart)
        for index in frame.index
    ]
    rows = frame.assign(
        **names, _panel=panel, _said=[say(value, kind) for value in frame[quantity]]
    )
    panels = list(dict.fromkeys(panel))
    rows = rows[rows["_panel"].isin(panels[:_MOST_PANELS])]

    tips = [alt.Tooltip(p.name, type="nominal", title=_words(p.name, p.unit)) for p in swept]
    drawn = alt.Chart(rows).encode(
        tooltip=[*tips, alt.Tooltip("_said", type="nominal", title=_words(quantity))]
    )
    drawn = _placed(drawn, rows, quantity, kind, roles)
    if apart:
        head = alt.Header(
            title=None,
            labelColor=theme.INK,
            labelFontSize=13,
            labelAnchor="start",
            labelLimit=_PANEL_WIDTH,
        )
        drawn = drawn.facet(
            facet=alt.Facet("_panel", type="nominal", sort=panels[:_MOST_PANELS], header=head),
            columns=2,
        )
    title = f"{_words(chapter)}: {_words(quantity, unit_said(kind))}"
    words = _told(title, rows, quantity, roles, len(panels))
    return drawn.properties(title=alt.TitleParams(title, anchor="start", color=theme.INK)), words


@dataclass(frozen=True)
class _Roles:
    """What each swept parameter is in the chart: all that move, the one across, whether it is a
    number that runs along the axis, the one of the colors, and those of the panels.
    """

    moving: list[Parameter]
    across: Parameter
    along: Parameter | None
    color: Parameter | None
    apart: list[Parameter]


def _roles(frame: Any, swept: Sequence[Parameter]) -> _Roles:
    from scaleright.charts import theme

    values = {p.name: frame[p.name].nunique(dropna=False) for p in swept}
    moving = [p for p in swept if values[p.name] > 1] or list(swept[:1])
    numeric = [p for p in moving if p.type in ("int", "float") and frame[p.name].notna().all()]
    across, along = (numeric or moving)[0], next(iter(numeric), None)
    few = (p for p in moving if p is not across and values[p.name] <= len(theme.CYCLE))
    color = next(few, None)
    return _Roles(moving, across, along, color, [p for p in moving if p not in (across, color)])


def _placed(drawn: Any, rows: Any, quantity: str, kind: str, roles: _Roles) -> Any:
    """The chart with its marks, axes, colors and size."""
    import altair as alt

    from scaleright.charts import theme
    from scaleright.charts.axes import value_axis

    across, color = roles.across, roles.color
    value = {"field": quantity, "type": "quantitative", "axis": value_axis(kind, title=None)}
    width, height = (_PANEL_WIDTH, 180) if roles.apart else (520, 300)
    if roles.along:
        scale = alt.Scale(zero=False, nice=False, padding=8)
        x = alt.X(
            across.name, type="quantitative", scale=scale, title=_words(across.name, across.unit)
        )
        drawn = drawn.mark_line(point=True).encode(x=x, y=alt.Y(**value))
    else:
        order = list(dict.fromkeys(rows[across.name]))
        y = alt.Y(across.name, type="nominal", sort=order, axis=alt.Axis(title=None, grid=True))
        drawn, height = drawn.mark_point().encode(x=alt.X(**value), y=y), 26 * len(order)
    if color:
        order = list(dict.fromkeys(rows[color.name]))
        legend = alt.Legend(title=_words(color.name, color.unit))
        paint = alt.Scale(domain=order, range=theme.colors_for(order))
        drawn = drawn.encode(
            color=alt.Color(color.name, type="nominal", scale=paint, legend=legend)
        )
    return drawn.properties(width=width, height=height)


def _told(title: str, rows: Any, quantity: str, roles: _Roles, panels: int) -> str:
    """In words what the chart shows."""
    across, color, apart = roles.across, roles.color, roles.apart
    ends = [rows.loc[at] for at in (rows[quantity].idxmin(), rows[quantity].idxmax())]
    low, high = (
        f"{row['_said']} at"
        f" {', '.join(f'{_words(p.name)} {_said(row[p.name])}' for p in roles.moving)}"
        for row in ends
    )
    words = f"{title} over {_words(across.name, across.unit)}"
    words += f", a color for each {_words(color.name)}" if color else ""
    words += f", a panel for each {' and '.join(_words(p.name) for p in apart)}" if apart else ""
    words += f": from {low} to {high}."
    more = f" The first {_MOST_PANELS} of {panels} panels; the table has them all."
    return words + (more if panels > _MOST_PANELS else "")


def draw(
    folder: Path,
    frame: Any,
    kinds: Mapping[str, str],
    swept: Sequence[Parameter],
    chapter: str,
    shown: str | None = None,
) -> str | None:
    """Write the chart as a page that needs no other host, and as a picture.

    Parameters
    ----------
    shown : the quantity to draw; by default the `headline`.

    Returns
    -------
    the quantity that was drawn; None if no quantity of the answers is a number.
    """
    import vl_convert

    from scaleright.charts import theme
    from scaleright.charts.render import specification
    from scaleright.press.vendor import vega_bundle

    frame = frame.infer_objects()
    quantity = shown or headline(frame, kinds, [p.name for p in swept])
    if quantity is None or quantity not in frame or frame[quantity].dtype.kind not in "iuf":
        return None
    drawn, words = chart(frame[frame[quantity].notna()], quantity, kinds[quantity], swept, chapter)
    spec = specification(drawn, words)
    if "autosize" in spec:  # panels have widths of their own
        del spec["width"], spec["autosize"]
    svg, label = vl_convert.vegalite_to_svg(spec), html.escape(words, quote=True)
    alone = f'<svg role="img" aria-label="{label}" style="background: #fff; color: #1b1f24" '
    write_whole(folder / PICTURE, svg.replace("<svg ", alone, 1))
    fields = {
        "title": html.escape(f"A sweep of {chapter}"),
        "words": label,
        "font": theme.FONT,
        "svg": svg,
        "vega": vega_bundle(),
    }
    write_whole(
        folder / PAGE, _HTML.format(**fields, spec=json.dumps(spec).replace("<", "\\u003c"))
    )
    return quantity
