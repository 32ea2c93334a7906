"""What the chapter `pretraining_records` shows."""

from __future__ import annotations

from typing import Any

import pandas as pd

from scaleright import charts
from scaleright.chapters.pretraining_records import model as tables
from scaleright.charts import Display
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
from scaleright.mlperf.training import MEASURES, Best, Spent
from scaleright.ops import where
from scaleright.quantity import look_up
from scaleright.quantity.rows import Row

# Results against size: a line for each chip through its best results, on logarithmic axes, live


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


LEAST = {
    "time": "in the least time",
    "chip-hours": "in the fewest chip-hours",
    "rent": "for the least rent",
    "energy": "on the least energy",
}
"""What the best run of each measure was trained in, for or on."""


def answer(case: Any, best: Best, spent: Spent) -> Display:
    """The answer card: the best run, in the round that was asked or in any."""
    run, hour = best.run, best.hour
    elsewhere = charts.phrase(", in any round, since nobody ran it in {case.round}")
    instead = where(best.asked, "", elsewhere)
    alike = charts.phrase("; nobody lists the {run.chip}, so it is priced as the {run.priced_as}")
    alike = where(run.priced_as == run.chip, "", alike)
    least = look_up(LEAST, case.measure)
    chip_hours, energy, rent = spent.chip_hours, spent.energy, spent.rent
    rent_low, rent_high = spent.rent_low, spent.rent_high
    ahead = charts.phrase(
        " In the year ahead the run would rent for {rent_low:usd} to {rent_high:usd} (90 %)."
    )
    ahead = where(rent_low < rent_high, ahead, " The contract fixes it.")
    return charts.answer_card(
        "{run.chips:whole} {run.chip} trained {case.benchmark} {least}{instead}.",
        "{run.seconds:duration}",
        "to the quality that MLPerf asks for",
        because="That is {chip_hours:number} chip-hours, {rent:usd} of rent.",
        also="{run.submitter} ran it in {run.round}. The rent is the {hour.counted}{alike}."
        "{best.instead}{ahead} It used at most {energy:kWh} at the chips' power limits.",
        provided=best.why == "",
        otherwise="No run of <strong>{case.benchmark}</strong> can be rented so: {best.why}.",
        as_of="{run.round}, {hour.age} (rents)",
        model_error="times agree with all that vendors published, to their last digit (below);"
        " rents are of the list, for just as long as the run took",
        headline="seconds",
        quantities={
            "seconds": (run.seconds, "duration"),
            "chips": (run.chips, "whole"),
            "rent": (rent, "usd"),
            "rent_low": (rent_low, "usd"),
            "rent_high": (rent_high, "usd"),
            "meter_kwh": (spent.meter_kwh, "kWh"),
        },
        besides=[(best.asked, "Nobody ran {case.benchmark} in {case.round}.")],
    )


def runs_by_size(case: Any, best: Best) -> Display:
    """A chart of each chip's best results against how many of it, in the round that is shown; of
    minutes where none has a rent.
    """
    result, columns = tables.result_of_rows(case, best.measure)
    unit, run = look_up(tables.UNITS, best.measure), best.run
    return charts.show(
        progress(
            tables.best_by_size(),
            "chips",
            "chip",
            result,
            ("chips", "minutes; chip-hours, USD or kWh if you choose them"),
            "vendor",
            words=charts.phrase("{result:number} {unit}"),
            tips={"of": "who"},
            along=columns,
            only={"benchmark": case.benchmark, "in_round": best.shown},
        ),
        name="runs",
        alt="The best {best.measure} of each chip against how many of it, for {case.benchmark}: the"
        " best is {run.chips:whole} {run.chip} in {run.seconds:duration}.",
    )


def leaders(case: Any, run: Row, spent: Spent) -> Display:
    """A table of the runs with the least of each measure: a row for each, run and spent in it."""
    columns = {
        "least": [*MEASURES],
        "measure": [*MEASURES],
        "chips": run.chips,
        "chip": run.chip,
        "time": run.seconds,
        "chip-hours": spent.chip_hours,
        "rent": spent.rent,
        "chips, at most [kWh]": spent.energy,
    }
    return charts.table(
        pd.DataFrame(columns),
        "The runs of the benchmark with the least of each",
        dict.fromkeys(("chip-hours", "chips, at most [kWh]"), "number")
        | {"chips": "whole", "time": "duration", "rent": "usd"},
        along={case.measure: "measure"},
        name="leaders",
    )


def scaling(case: Any) -> Display:
    """A chart of strong-scaling efficiency against chips, a line for each."""
    lines = charts.lines(
        tables.scaling_lines(),
        "chips",
        "chip",
        "percent",
        "chips",
        "strong-scaling efficiency",
        value="efficiency",
        log_x=True,
        only={"benchmark": case.benchmark},
    )
    return charts.show(
        lines,
        name="scaling",
        alt="Strong-scaling efficiency on {case.benchmark} against chips, a line for each chip from"
        " its submitter with the widest span of sizes.",
    )


def scaling_pairs() -> Display:
    """A folded table of all pairs of sizes."""
    pairs = tables.scaling_pairs()
    shown = charts.table(
        pairs,
        "Efficiency: that of the throughput over the growth of samples; empty where none are"
        " logged",
        dict.fromkeys(("efficiency", "throughput"), "percent"),
        name="strong-scaling",
    )
    return charts.folded(shown, f"All {len(pairs)} pairs of sizes")


def generations() -> Display:
    """A chart of the median gain of newer chips, by pair of them."""
    words = "times as fast, median over benchmarks and sizes"
    return charts.show(
        charts.bars(tables.gain_steps("chip"), "step", "median", "times", words),
        name="generations",
        alt="Median gain by pair of chips, at equal numbers of them.",
    )


def gains() -> Display:
    """A folded table of all gains, of chips and of software."""
    words = "Gains at equal numbers of chips, by pair with three comparisons or more"
    headers = {"step": "from, to"}
    shown = charts.table(tables.all_gain_steps(), words, headers=headers, name="gains")
    return charts.folded(shown, "All gains, of chips and of software")


def busiest() -> Display:
    """A table of the runs with the highest utilization."""
    formats = dict.fromkeys(("by samples", "as logged"), "si FLOP/s")
    formats |= dict.fromkeys(("MFU", "of BF16 peak"), "percent")
    words = "Model FLOP per second and chip: the run with the highest MFU of each chip and format"
    shown = charts.table(tables.busiest(), words, formats, name="mfu")
    return charts.folded(shown, "The run with the highest MFU of each chip and format")


def slivers() -> Display:
    """A table of benchmark runs against the whole pretrainings of their models."""
    formats = dict.fromkeys(("tokens of the run", "tokens of the pretraining"), "count 3")
    words = "The fastest run of each model, and chip-hours if its pace held for all tokens"
    return charts.table(tables.slivers(), words, formats | {"one in": "whole"}, name="slivers")


def published() -> Display:
    """A table of minutes to train as vendors published them and as recomputed."""
    words = "Minutes to train, as published (rounded there) and recomputed"
    digits = {"published": str, "recomputed": "number 4"}
    return charts.table(tables.published_minutes(), words, digits, name="published")
