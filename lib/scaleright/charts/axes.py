"""What the charts share: rows and fields, axes and colors, boxes on hover, expressions.

Axes, scales and legends are dictionaries: an object of Altair's carries its eighty fields through
every copy that it makes of a chart, several for each layer. Their keys are in the order of
Altair's, the alphabet's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import and_
from typing import Any

import pandas as pd

from scaleright.charts import theme
from scaleright.charts.expressions import fields_of
from scaleright.charts.lean import alt, constant
from scaleright.charts.live import page
from scaleright.charts.words import say
from scaleright.ops import first_case, is_expression
from scaleright.quantity import Quantity
from scaleright.quantity.graph import parameter

ROW = 30
"""Height of a bar with its gap [px]. Counted out: with a step Vega-Lite cannot fit the width to the
page.
"""
TIMES_S = (60, 600, 3600, 36000, 864000, 8640000)
TIMES_BETWEEN_S = (20, 120, 300, 1200, 7200, 18000, 86400, 172800, 432000, 1728000, 4320000)
"""Ticks above ten seconds of an axis of times in ratios, and those between them where it spans
little [s]: times that people name, as no power of ten of seconds is one there.
"""


def value_said() -> Any:
    """The value that a label says. Computed fields start with an underscore: one that took the name
    of a column which it reads would read its own last result as soon as a slider moves.
    """
    return alt.datum["_value"]


def frame_of(rows: Any) -> pd.DataFrame:
    """Rows as a frame."""
    return rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows)


def one_row() -> alt.InlineData:
    """Data for a mark that stands alone: of one row, whose fields are computed."""
    return alt.InlineData(values=[{"row": 0}])


def expressed(value: Any) -> Any:
    """A quantity as an expression of the page; anything else as it is."""
    return constant(page().signal(value)) if isinstance(value, Quantity) else value


Along = Quantity | Sequence[Quantity] | Mapping[Quantity, str]
"""Parameters that the rows of a chart or of a table give: in fields of their names, or in others.
"""


def fields_along(along: Along | None) -> dict[Quantity, str]:
    """The field of the rows that has each of these parameters.

    >>> from scaleright.quantity import given
    >>> list(fields_along(given("price", 2.0)).values())
    ['price']
    """
    if along is None or isinstance(along, Mapping):
        return dict(along or {})
    every = [along] if isinstance(along, Quantity) else along
    return {each: parameter(each) or "" for each in every}


def along_rows(values: Sequence[Any], along: Along | None) -> tuple[list[Any], list[Any]]:
    """What the rows need computed first, as transforms of a chart, for quantities that follow
    parameters which they give; and the values as expressions of a row. Columns stay as they are.
    """
    fields = fields_along(along)
    if not fields:
        return [], [expressed(value) for value in values]
    wanted = {f"_of_{i}": value for i, value in enumerate(values) if isinstance(value, Quantity)}
    found = page().formulas(wanted, fields)
    read = frozenset[str]().union(*map(fields_of, found.values()))
    said = {name: constant(f"datum.{name}" if name in read else found.pop(name)) for name in wanted}
    steps = [alt.CalculateTransform(**{"calculate": e, "as": n}) for n, e in found.items()]
    return steps, [said.get(f"_of_{i}", value) for i, value in enumerate(values)]


def picked(only: Any) -> Any:
    """Which rows to draw as an expression: columns that must equal values, quantities or not; an
    expression or a quantity as it is.

    >>> picked({"chip": "A", "size": 8})
    ((datum['chip'] === 'A') && (datum['size'] === 8))
    """
    if not isinstance(only, Mapping):
        return expressed(only)
    return reduce(and_, (alt.datum[column] == expressed(v) for column, v in only.items()))


def after(chart: Any, steps: Sequence[Any]) -> Any:
    """A chart whose layers share these steps: their data have them once."""
    if steps:
        chart.transform = [*steps, *([] if chart.transform is alt.Undefined else chart.transform)]
    return chart


def by_option(column: str, options: Mapping[str, Any]) -> tuple[pd.DataFrame, Any]:
    """Rows with the names of options in a column, and the value of each as an expression of the
    row.
    """
    values = [expressed(value) for value in options.values()]
    cases = [(alt.datum["_option"] == place, value) for place, value in enumerate(values)]
    rows = pd.DataFrame({column: list(options), "_option": range(len(values))})
    return rows, first_case(cases[:-1], values[-1])


def field_of(value: Any) -> Any:
    """A column's name as an expression of the row; an expression as it is."""
    value = expressed(value)
    return value if is_expression(value) else alt.datum[value]


def color_scale(names: Iterable[str]) -> dict[str, Any]:
    """The fixed colors of names."""
    names = list(names)
    return {"domain": names, "range": theme.colors_for(names)}


def row_axis(field: str, sort: Any, **axis: Any) -> alt.Y:
    """A vertical axis with a row for each name."""
    return alt.Y(
        field,
        type="nominal",
        sort=sort,
        title=None,
        axis=dict(sorted(({"labels": True, "grid": False, "labelLimit": 150} | axis).items())),
    )


def value_axis(kind: str, log: bool = False, channel: str = "x", **more) -> dict[str, Any]:
    """An axis whose ticks are said as values of a kind are: $2M, 40 %, 3T."""
    money = "$" if kind.startswith("usd") else ""
    if kind.startswith("percent"):
        label = "format(datum.value, '.0%')"
    elif kind.startswith("si "):
        label = "format(datum.value, '~s')"
    elif kind.startswith(("duration", "mass", "volume")):
        label = str(say(alt.datum.value, f"{kind.split(maxsplit=1)[0]} 2")).replace("2r'", "2~r'")
        label = label if kind.startswith("duration") else f"datum.value == 0 ? '0' : {label}"
    else:
        small = f"format(datum.value, '{money},.3~r')"
        label = (
            f"abs(datum.value) < 1000 ? (datum.value == 0 ? '{money}0' : {small}) :"
            f" replace(format(datum.value, '{money}~s'), 'G', 'B')"
        )
    if log:
        # Lines and labels at whole powers of ten, and at 2 and 5 between them where the axis spans
        # few of those; at all ticks where it spans hardly one.
        lead = "datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9))"
        spans = f"log(domain('{channel}')[1] / domain('{channel}')[0]) / LN10"
        few, hardly = f"{spans} < 2.2", f"{spans} < 0.8"
        between = f"(abs({lead} - 2) < 0.01 || abs({lead} - 5) < 0.01)"
        shown = f"({lead} < 1.01 || (({few}) && {between}) || {hardly})"
        if kind.startswith("duration"):
            longer = f"datum.value > 11 && (({few}) || indexof({[*TIMES_S]}, datum.value) >= 0)"
            shown = f"({longer} || datum.value < 11 && {shown})"
            below = {float(f"{lead}e{power}") for lead in (1, 2, 5) for power in range(-9, 1)}
            ticks = sorted({*below, 10.0, *TIMES_S, *TIMES_BETWEEN_S})
            more |= {"tickCount": len(ticks), "values": ticks}  # with a lower count some would go
        more |= {
            "gridOpacity": alt.condition(shown, alt.value(0.16), alt.value(0)),
            "labelOverlap": "greedy",
        }
        label = f"{shown} ? ({label}) : ''"
    return dict(sorted(({"labelExpr": label} | more).items()))


def tooltip(lines: Mapping[str, str | tuple[str, str]]) -> list[alt.Tooltip]:
    """The box that shows on hover: title -> a field of text, or a field and the format of its
    numbers.
    """
    return [
        (
            alt.Tooltip(field=line, type="nominal", title=title)
            if isinstance(line, str)
            else alt.Tooltip(field=line[0], type="quantitative", title=title, format=line[1])
        )
        for title, line in lines.items()
    ]


def text_of(value: Any) -> str:
    """A number, a word, a quantity or an expression as the text of an expression."""
    value = expressed(value)
    if is_expression(value):
        return f"({value._to_expr()})"
    return repr(value if isinstance(value, str) else float(value))


def literal(value: Any) -> Any:
    """A number, a word, a quantity or an expression as a field is computed of it."""
    value = expressed(value)
    return value if is_expression(value) else text_of(value)
