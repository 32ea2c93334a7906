"""What the chapter on how far off estimates of serving are shows."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from scaleright import catalog, charts
from scaleright.chapters.serving_accuracy import evidence
from scaleright.charts import Display
from scaleright.charts.market import spread
from scaleright.ops import where
from scaleright.quantity import Quantity, given, look_up, pick
from scaleright.validation import kinds, published


def answer(case: Any, error: Any, sources: Sequence[str]) -> Display:
    """The answer: how far off the predictions of a figure are."""
    meaning, whose, span = _meaning(case), _whose(case, sources), _span(error)
    left_out = look_up(evidence.LEFT_OUT, case.left_out)
    others = look_up({of: evidence.figures_of(of) for of in sources}, case.source)
    kept = charts.phrase("{error.inside:percent} of these lie in the 90 % range stated for each")
    kept = where(error.there, kept, "none, since nothing is judged")
    ours = charts.phrase("use this book's model, not a roofline from the datasheet")
    theirs = charts.phrase("a roofline from the datasheet does no worse than this book's model")
    advice = where(error.median < error.roofline, ours, theirs)
    blind = published.held_out_test("serving")
    blind_count, blind_median = blind["figures"], blind["median"]
    return charts.answer_card(
        "To predict the {meaning}, {advice}.",
        "{error.median:percent}",
        "off in the median of {error.rows:whole} measurements",
        "Nine in ten are within {error.p90:percent}; a roofline is {error.roofline:percent} off.",
        "Expect more on software that no fit has seen: a blind test of {blind_count:whole}"
        " predictions of all kinds was {blind_median:percent} off in the median.",
        "Judged on what was published{whose}, by constants that never saw a run {left_out}.",
        provided=error.there,
        otherwise="There is no measurement of the <strong>{meaning}</strong>{whose} that can be"
        " judged. Choose {others}.",
        range="{span}",
        as_of=catalog.resource("measured/serving")["as_of"],
        model_error="{kept}",
        headline="median",
        quantities={
            "rows": (error.rows, "whole"),
            "median": (error.median, "percent"),
            "p90": (error.p90, "percent"),
            "roofline_median": (error.roofline, "percent"),
            "coverage": (error.inside, "percent"),
        },
    )


def _meaning(case: Any) -> Quantity:
    """What the figure is, in words."""
    return look_up(evidence.MEANINGS, case.figure)


def _whose(case: Any, sources: Sequence[str]) -> Quantity:
    """Of whom the figures are, as words after their name."""
    return look_up({of: evidence.whose(of) for of in sources}, case.source)


def _span(error: Any) -> Any:
    """The ends of nine in ten errors, in words."""
    span = charts.phrase(
        "{error.low:percent} to {error.high:percent}, nine in ten errors with sign"
    )
    return where(error.there, span, "no such figure was published")


def errors(case: Any, error: Any, choices: Sequence[Sequence[str]]) -> Display:
    """Predicted over measured by publication, a dot for each figure.

    choices : of the parameters, in order
    """
    sources, figures, modes = choices
    meaning, whose, span = _meaning(case), _whose(case, sources), _span(error)
    dots = evidence.dots(sources, figures)
    ratios = {mode: given(mode, 1.0) for mode in modes}  # of each dot: predicted over measured,
    of, kind = given("of", 1), given("kind", 0)  # and the places of its publication and figure
    source, figure = look_up(sources, case.source), look_up(figures, case.figure)
    chart = spread(
        dots,
        "from",
        pick(ratios, case.left_out),
        "number",
        "predicted over measured; * held out of every fit",
        color="kind",
        name="run",
        log=True,
        only=((source == 0) | (of == source)) & (kind == figure),
        along={of: "source", kind: "figure"} | {ratio: mode for mode, ratio in ratios.items()},
        otherwise="no such figure",
        most=dots.groupby("figure")["from"].nunique().max(),
    )
    return charts.show(
        chart,
        name="errors",
        alt="Predicted over measured {meaning}{whose} by publication, a dot for each figure:"
        " {span}.",
    )


def own_columns() -> Display:
    """The columns of a reader's own file of measurements, folded."""
    own = kinds.own_columns("serving")
    own = charts.table(own, "Columns of a file of your own measurements", name="columns")
    return charts.folded(own, "The columns; one of those measured is needed")


def by_source() -> Display:
    """Errors of every publication and figure."""
    return charts.table(
        evidence.by_source(),
        "Absolute error of every figure [%]: median / 90th percentile; * held out of every fit",
        formats={"rows": "whole", "in range": "percent", "width of range": "percent"},
        name="by-source",
    )


def by_chip(every: Sequence[str], chip: Quantity, error: Mapping[str, Any]) -> Display:
    """Errors by chip of what was chosen, folded.

    every : all chips
    error : of one of them
    """
    table = charts.table(
        pd.DataFrame({"chip": every, "accelerator": every}).assign(**error),
        "Median errors by chip of what you chose, absolute and signed; a dash where nobody"
        " measured it",
        formats={"rows": "whole", "off": "percent", "signed": "percent"},
        along=chip,
        name="by-chip",
    )
    return charts.folded(table, f"By chip: {len(every)} of them")


def every_figure(case: Any) -> Display:
    """Predicted against measured, a dot for each figure of the chapter's defaults."""
    source, figure = case.source.value, case.figure.value
    here = evidence.scored(source, figure)
    unit = evidence.UNITS.get(figure, "s")
    unit = "token/s of a chip" if unit == "token/s" else unit
    rows = here[["model", "published", "predicted"]]
    chart = charts.predicted_vs_measured(
        rows, "published", "predicted", "model", unit, name_worst=1
    )
    shown = charts.show(
        chart,
        name="all-rows",
        alt=f"Predicted against measured {evidence.MEANINGS[figure]} of {len(here)} rows,"
        " close to the diagonal for most.",
    )
    return charts.at_defaults(shown, case.source, case.figure)


def first_token() -> Display:
    """How far off the time to the first token is, by publication."""
    return charts.table(
        evidence.first_token(),
        "Time to the first token: predicted over measured in the middle, factor between them, and"
        " rows within a factor of two",
        formats={"rows": "whole", "predicted over measured": "number", "factor": "number"}
        | {"within 2": "percent"},
        name="first-token",
    )


def day_of_deepseek() -> Display:
    """One day of DeepSeek's own service, as published and as predicted."""
    return charts.table(
        evidence.figures(),
        "DeepSeek's service on 27 February 2025, 24 hours: published and predicted",
        formats={"published": "whole", "predicted": "whole", "error": "percent"},
        name="deepseek-day",
    )


def furthest() -> Display:
    """The figures furthest off, and why."""
    return charts.table(
        evidence.furthest(),
        "The largest errors, the worst of each model and publication",
        formats={"error": "percent"},
        name="worst",
    )


def not_scored() -> Display:
    """The figures that are not judged, and why, folded."""
    apart = evidence.not_scored()
    table = charts.table(
        apart,
        "Figures that are shown and not scored, by the rule that decides",
        formats={"rows": "whole"},
        name="not-scored",
    )
    return charts.folded(table, f"{apart['rows'].sum()} figures are not scored, and why")


def other_tools() -> Display:
    """What other tools estimate of the same cases [ms]."""
    return charts.table(
        evidence.beside(),
        "Milliseconds of a batch's prefill and of a step of decoding",
        formats=dict.fromkeys(evidence.TOOLS, "number"),
        name="tools",
    )


def speeds() -> Display:
    """How many estimates tools make in a second."""
    return charts.table(
        published.speeds("serving speed"),
        "Estimates of serving in a second, one core",
        formats={"estimates a second": "number"},
        name="speed",
    )
