"""Gains from one chip to another, as dots with their ranges: over chips, over benchmarks, or over
rounds and scenarios.

The page gets one compact row for each chip, benchmark, scenario and round, and picks, pairs and
divides them itself.
"""

from collections.abc import Callable, Mapping
from typing import Any

import altair as alt
import pandas as pd
from altair.expr.core import ConstExpression

from scaleright.charts import theme
from scaleright.charts.axes import ROW, SAID, color_scale, row_axis, text_of, tooltip, value_axis
from scaleright.charts.words import say
from scaleright.ops import where

TEXTS = ("entry", "kind", "scenario", "accelerator")
NUMBERS = ("round", "best", "median", "tail_low", "tail_high", "submissions", "moves")
NOTHING = "no result"
"""The only row where no other is left: an axis without rows has no extent."""
SCENARIOS = ("Offline", "Server", "Interactive")


def cells(rows: pd.DataFrame, digits: int = 5) -> alt.InlineData:
    """Rows as `gains` reads them, as CSV: a third of the weight that records would have.

    Parameters
    ----------
    rows : entry (benchmark with its accuracy target), kind (of its model), scenario, accelerator,
        round ("v6.1"), best, median, tail_low, tail_high (rates per accelerator), submissions,
        moves (see `mlperf.drift`)
    digits : significant ones that are kept

    >>> row = dict.fromkeys(TEXTS, "a") | dict.fromkeys(NUMBERS, 1 / 3) | {"round": "v6.1"}
    >>> cells(pd.DataFrame([row])).values.splitlines()[1]
    'a,a,a,a,6.1,0.33333,0.33333,0.33333,0.33333,0.33333,0.33333'
    """
    none = pd.DataFrame([dict.fromkeys(TEXTS, NOTHING) | dict.fromkeys(NUMBERS, 1.0)])
    rows = pd.concat(
        [
            rows.assign(round=rows["round"].str.removeprefix("v").astype(float))[
                [*TEXTS, *NUMBERS]
            ],
            none,
        ]
    )
    text = rows.to_csv(index=False, float_format=f"%.{digits}g", lineterminator="\n")
    return alt.InlineData(
        values=text, format=alt.CsvDataFormat(type="csv", parse=dict.fromkeys(NUMBERS, "number"))
    )


def gains(
    data: alt.InlineData,
    by: str,
    of: Any,
    ratio: Callable,
    interval: Callable,
    price: Callable[[Any], Any],
    vendors: Mapping[str, str],
    title: str,
    rows: int,
):
    """How many times as much one chip does as another, with ranges, the largest on top.

    Parameters
    ----------
    data : from `cells`
    by : what each row of the chart is: "accelerator" (every chip over the old one, in the round in
        which new and old meet), "entry" (new over old on every benchmark) or "round" (new over old
        in every scenario and round)
    of : the controls benchmark, scenario, new_chip, old_chip, statistic ("best" or "median") and
        in_round ("newest" or a round)
    ratio, interval : `mlperf.gains.gain_ratio` and `gain_interval`
    price : the expression of what a rate is divided by, from that of the chip's name; 0 where it is
        not known
    vendors : vendor of each chip, for its color
    title : of the axis
    rows : how many to make room for

    >>> from types import SimpleNamespace as N
    >>> row = dict.fromkeys(TEXTS, "a") | dict.fromkeys(NUMBERS, 1.0) | {"round": "v6.1"}
    >>> of = N(benchmark="a", scenario="a", new_chip="a", old_chip="a", in_round="newest",
    ...     statistic="best")
    >>> how = {"ratio": lambda n, o, *p: n / o, "interval": lambda n, o, *p: (n[1], o[1]),
    ...     "price": lambda name: 1.0}
    >>> gains(cells(pd.DataFrame([row])), "round", of, vendors={}, title="times", rows=4,
    ...     **how).height
    120
    """
    is_of = {
        name: f"(datum.{field} == {text_of(getattr(of, name))})" for name, field in _OF.items()
    }
    body = _side_by_side(_marks(data, by, vendors, title), of, is_of)
    shown, name, order, more = _rows(by, is_of)
    row = alt.datum
    drawn, paid = row["_in"] > 0, (row["_paid"], row["_paid_old"])
    body = body.transform_calculate(_paid=price(row.accelerator), _paid_old=price(of.old_chip))
    body = _shown(body, f"{shown} && datum._paid > 0 && datum._paid_old > 0")
    body = body.transform_calculate(
        _value=where(drawn, ratio(row["_said"], row["_old_said"], *paid), 1),
        **_ends(interval, drawn & (row.accelerator != of.old_chip), paid),
    )
    vendor = ConstExpression(f"({dict(vendors)!r})[datum.accelerator]")
    body = body.transform_calculate(
        _order=order,
        _name=where(drawn, name, NOTHING),
        _vendor=where(drawn, vendor, "other"),
        _span=say(row["_low"], "number") + " to " + say(row["_high"], "number"),
        _label=where(drawn, say(SAID, "times") + ", " + more, "the two do not meet here"),
    )
    return alt.layer(_even(title), body).properties(height=ROW * rows)


_OF = {
    "new_chip": "accelerator",
    "old_chip": "accelerator",
    "benchmark": "entry",
    "scenario": "scenario",
}
"""The field of a row that each control chooses."""


def _rows(by: str, is_of: Mapping[str, str]) -> tuple[str, Any, Any, Any]:
    """Which cells are drawn, the name of their row, its place, and what is added to its label."""
    row = alt.datum
    in_words = "v" + alt.expr.format(row.round, ".1f")
    latest = "datum._last > 0 && datum.round == datum._last"
    if by == "accelerator":
        shown = f"{is_of['benchmark']} && {is_of['scenario']} && {latest}"
        more = row.submissions + where(row.submissions > 1, " submissions", " submission")
        return shown, row.accelerator, -SAID, more
    if by == "entry":
        shown = f"{is_of['scenario']} && {is_of['new_chip']} && {latest}"
        return shown, row.entry, -SAID, row.kind + ", " + in_words
    return (
        f"{is_of['benchmark']} && {is_of['new_chip']} && datum._met > 0",
        row.scenario + ", " + in_words,
        row.round + ConstExpression(f"10 * indexof({list(SCENARIOS)!r}, datum.scenario)"),
        row.submissions + " against " + row["_old_count"] + " submissions",
    )


def _marks(data: alt.InlineData, by: str, vendors: Mapping[str, str], title: str) -> alt.LayerChart:
    """A range, a dot and a label for each row."""
    x = alt.X(
        "_value:Q",
        title=title,
        scale={"nice": False, "padding": 14, "type": "log"},
        axis=value_axis("number", log=True),
    )
    y = row_axis(
        "_name", alt.EncodingSortField("_order", op="min", order="ascending"), labelLimit=180
    )
    key = {"columns": len(theme.VENDOR), "title": None} if by == "accelerator" else None
    ink = alt.Color(
        "_vendor:N",
        scale=color_scale([name for name in theme.VENDOR if name in {*vendors.values(), "other"}]),
        legend=key,
    )
    tips = tooltip(
        {
            "what": "_name",
            title: "_label",
            "range": "_span",
            "rate per accelerator": ("_said", ".4~r"),
        }
    )
    return alt.layer(
        alt.Chart()
        .mark_rule(opacity=0.4, strokeWidth=3)
        .encode(x=alt.X("_low:Q", title=title), x2=alt.X2("_high:Q"), y=y),
        alt.Chart().mark_point(opacity=0.95, size=90).encode(x=x, y=y, color=ink, tooltip=tips),
        alt.Chart()
        .mark_text(style="row-value", dx=9)
        .encode(x=alt.X("_high:Q", title=title), y=y, text=alt.Text("_label:N")),
        data=data,
    )


def _side_by_side(body: alt.LayerChart, of: Any, is_of: Mapping[str, str]) -> alt.LayerChart:
    """The rates of the old chip beside every other row of its cell, and the round they met last."""
    row, cell = alt.datum, ["entry", "scenario", "round"]
    body = body.transform_calculate(
        _said=where(of.statistic == "best", row.best, row.median),
        _new=is_of["new_chip"],
        _old=is_of["old_chip"],
    )
    old = {
        "said": row["_said"],
        "low": row.tail_low,
        "high": row.tail_high,
        "count": row.submissions,
    }
    body = body.transform_calculate(
        **{f"_of_{end}": where(row["_old"], value, 0) for end, value in old.items()}
    )
    body = body.transform_joinaggregate(
        **{f"_old_{end}": f"max(_of_{end})" for end in old}, _there="max(_new)", groupby=cell
    )
    asked = (
        f"({text_of(of.in_round)} == 'newest' || 'v' + format(datum.round, '.1f') =="
        f" {text_of(of.in_round)})"
    )
    body = body.transform_calculate(
        _met=f"datum._there && datum._old_said > 0 && {asked} ? datum.round : 0"
    )
    return body.transform_joinaggregate(_last="max(_met)", groupby=cell[:2])


def _shown(body: alt.LayerChart, asked: str) -> alt.LayerChart:
    """The rows that are asked for, marked by `_in`; where there is none, the row that says so."""
    row = alt.datum
    body = body.transform_calculate(_in=f"{asked} ? 1 : 0")
    body = body.transform_joinaggregate(_any="max(_in)")
    return body.transform_filter((row["_in"] > 0) | ((row["_any"] == 0) & (row.entry == NOTHING)))


def _even(title: str) -> alt.Chart:
    """The line where neither chip does more."""
    line = alt.Chart(pd.DataFrame({"even": [1.0]})).mark_rule(strokeDash=[4, 3])
    return line.encode(x=alt.X("even:Q", title=title))


def _ends(interval: Callable, another: Any, paid: tuple[Any, Any]) -> dict[str, Any]:
    """The range of a gain; the old chip against itself is one, without a range."""
    row = alt.datum
    at_old = tuple(row[f"_old_{end}"] for end in ("low", "said", "high"))
    ends = interval((row.tail_low, row["_said"], row.tail_high), at_old, row.moves, *paid)
    return {name: where(another, end, 1) for name, end in zip(("_low", "_high"), ends, strict=True)}
