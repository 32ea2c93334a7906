"""What the chapter `training_accuracy` shows."""

from typing import Any

import pandas as pd

from scaleright import catalog, charts
from scaleright.chapters.training_accuracy import evidence as other_tools
from scaleright.chapters.training_accuracy.evidence import worst_runs
from scaleright.charts import Display
from scaleright.charts.market import spread
from scaleright.ops import first_case, where
from scaleright.quantity import given, look_up
from scaleright.quantity.rows import Row
from scaleright.units import si
from scaleright.validation import kinds, published
from scaleright.validation import training_errors as errors

ERRORS = dict.fromkeys(("median", "90th percentile"), "percent")


def answer(case: Any, off: Row, runs: int, coverage: float) -> Display:
    """The answer card: how far off the judged runs are, if there are any; of all, the share that
    lies in the stated ranges [1].
    """
    held_out = case.source == "held out", " that no constant was fitted to"
    named = [(case.source == "all", ""), held_out]
    whose = first_case(named, charts.phrase(" from {case.source}"))
    left = look_up(errors.LEFT_OUT, case.left_out)
    span = charts.phrase(
        "{off.low:percent} (too short) to {off.high:percent} (too long) for nine in ten"
    )
    span = where(off.there, span, "none, since no such run is judged")
    kinds = {"all": "", "dense": " of dense models", "experts": " of mixtures of experts"}
    of = look_up(kinds, case.kind)
    ours = "rely on this book's model, not on a look-up of similar runs"
    theirs = "a look-up of similar runs does no worse than this book's model"
    advice = where(off.median < off.look_median, ours, theirs)
    return charts.answer_card(
        "For the time of a training step, {advice}.",
        "{off.median:percent}",
        "off in the median of {off.rows:whole} runs",
        "Within {off.p90:percent}, nine times in ten.",
        "Looking up similar runs, as anybody could, is {off.look_median:percent} off.",
        "Judged on published runs{of}{whose}, by constants that never saw a run {left}.",
        provided=off.there,
        otherwise="No run{of} from {case.source} can be judged. Choose another publication or"
        " kind.",
        range="{span}",
        as_of=catalog.resource("measured/training")["as_of"],
        model_error=f"{charts.say(coverage, 'percent')} of {runs} runs lie in the 90 % range"
        " stated for them",
        headline="median",
        quantities={"rows": (off.rows, "whole"), "coverage": (coverage, "percent")}
        | {"median": (off.median, "percent"), "p90": (off.p90, "percent")}
        | {
            "look_up_median": (off.look_median, "percent"),
            "look_up_p90": (off.look_p90, "percent"),
        },
    )


def run_by_run(case: Any) -> Display:
    """A dot for each judged run, by source: its signed error."""
    left = look_up(errors.LEFT_OUT, case.left_out)
    columns = {mode: mode.replace(" ", "_") for mode in errors.LEFT_OUT}
    each = {mode: given(column, 0.0) for mode, column in columns.items()}  # of a dot
    source, kind = given("of", "NeMo"), given("kind_of_dot", "dense")
    of_source = (case.source == "all") | (case.source == source)
    of_kind = (case.kind == "all") | (case.kind == kind)
    error = first_case([(case.left_out == mode, value) for mode, value in each.items()], 0.0)
    along = {value: columns[mode] for mode, value in each.items()} | {source: "of", kind: "kind"}
    return charts.show(
        spread(
            errors.dots(),
            "name",
            error,
            "percent",
            "error of the predicted time of a step",
            color="kind",
            name="run",
            only=of_source & of_kind,
            along=along,
            most=errors.scored_runs()["name"].nunique(),
        ),
        name="errors",
        alt="Signed error of every scored run by source, without the runs {left}, a dot for each.",
    )


def columns_of_a_file() -> Display:
    """What a reader's own file of runs has to hold; folded."""
    own = kinds.own_columns("training")
    needed = charts.table(own, "Columns of a file of your own runs", name="columns")
    return charts.folded(needed, f"{len(own)} columns; one of the last two is needed")


def by_source(case: Any) -> Display:
    """Errors of each publication beside those of two baselines [%]."""
    return charts.table(
        errors.by_source(case.left_out),
        "Absolute error of a step's time [%]: median / 90th percentile, without the runs that you"
        " leave out",
        name="by-source",
    )


def by_mode() -> Display:
    """Errors as more and more is left out of the fit [%]."""
    return charts.table(
        errors.by_mode(),
        "The same over all runs, when the fit must not see others like the one predicted [%]",
        headers={"left_out": "left out are the runs"},
        name="by-mode",
    )


def every_run(case: Any, scored: pd.DataFrame) -> Display:
    """Predicted against measured time of a step of every judged run, at the defaults."""
    dots = scored[["model", "published", "predicted"]].round(5)
    ends = f"{si(scored['published'].min(), 's')} to {si(scored['published'].max(), 's')}"
    runs = charts.show(
        charts.predicted_vs_measured(dots, "published", "predicted", "model", "s", name_worst=1),
        name="all-runs",
        alt=f"Predicted against measured time of a step of {len(scored)} runs from {ends}, close to"
        " the diagonal for most.",
    )
    return charts.at_defaults(runs, case.left_out)


def ranges() -> Display:
    """How many runs lie in the range stated for them, and how wide it is."""
    return charts.table(
        errors.ranges(),
        "Stated 90 % ranges: share of runs inside, and median width as a share of the prediction",
        formats={"inside": "percent", "width": "percent"},
        name="ranges",
    )


def furthest_off(case: Any) -> Display:
    """The runs furthest off and why, at the defaults; folded."""
    rows, look = worst_runs(), {"formats": {"error": "percent"}}
    words = "The runs furthest off, the worst of each model and source"
    furthest = charts.at_defaults(charts.table(rows, words, name="worst", **look), case.left_out)
    return charts.folded(furthest, f"The {len(rows)} runs furthest off, and the likely reason")


def not_scored() -> Display:
    """Runs that are not judged, by the rule that says so; folded."""
    rules = errors.unscored()
    words = "Runs that count in no error, by the rule that decides"
    shown = charts.table(rules, words, name="not-scored")
    return charts.folded(shown, f"{rules['rows'].sum()} runs do not count, and why")


def steps_by_tools() -> Display:
    """Seconds of eight measured steps by each tool."""
    return charts.table(
        other_tools.steps_in_words(),
        "Seconds a step; behind the model, which activations are recomputed",
        name="tools",
    )


def largest_runs() -> Display:
    """Llama 3's own runs, printed and predicted [FLOP/s]."""
    formats = dict.fromkeys(("chips", "sequence"), "whole")
    formats |= dict.fromkeys(("printed", "predicted"), "si FLOP/s") | {"error": "percent"}
    return charts.table(
        other_tools.largest_runs(),
        "Llama-3.1-405B on H100: model FLOP per second and chip, attention counted in full;"
        " predicted with the most interleaving that its layers allow",
        formats=formats,
        name="llama3",
    )


def parts_by_tools() -> Display:
    """A step and a chip's memory part by part, by each tool; folded."""
    parts = charts.table(
        other_tools.parts_by_tools(),
        "GPT-3 175B on 1,024 A100, TP8 PP8, micro-batch 1, no interleaving: part by part",
        name="parts",
    )
    return charts.folded(parts, "GPT-3 part by part: four estimates that nobody has measured")


def speeds() -> Display:
    """Estimates a second by each tool."""
    return charts.table(
        published.speeds("speed"),
        "Estimates of a training step in a second, one core",
        formats={"estimates a second": "whole"},
        name="speed",
    )


def by_format(formats: pd.DataFrame) -> Display:
    """The solution of the first exercise: errors by format."""
    words = "Absolute error of runs of llm-foundry by format"
    return charts.table(formats, words, formats=ERRORS, name="by-precision")


def eight_bits(sixteen: Any, eight: Any) -> Display:
    """Its reason: the median error on BF16 and on FP8 [1]."""
    return charts.sentence(
        "{sixteen:percent} at the median on BF16 and {eight:percent} on FP8. Eight bits speed up"
        " only the matrix products, so the parts that the model knows less well are a larger share"
        " of a step."
    )


def by_size(sizes: pd.DataFrame) -> Display:
    """The solution of the second exercise: errors by the number of chips."""
    return charts.table(sizes, "Absolute error by chips", formats=ERRORS, name="by-size")


def worst_size(worst: Any, there: Any) -> Display:
    """Its reason: the number of chips in words, and the median error there [1]."""
    unlike = "a single host has no network to wait for, unlike the larger runs that set the fit"
    network = (
        "beyond one host of eight, a step waits for the network, and how much of that is hidden"
        " varies"
    )
    why = where(worst == "to 8", unlike, network)
    return charts.sentence("On {worst} chips, {there:percent} off at the median: {why}.")
