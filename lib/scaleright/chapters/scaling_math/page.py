"""What the chapter `scaling_math` shows."""

from collections.abc import Mapping
from html import escape
from typing import Any

import pandas as pd

from scaleright import catalog, charts, transformer
from scaleright.chapters.scaling_math.model import (
    prompt_seconds,
    training_bills,
)
from scaleright.charts import Controls, Display
from scaleright.inference.engine_tables import writing_seconds
from scaleright.inference.formats import Weights
from scaleright.ops import where
from scaleright.quantity import Quantity, at
from scaleright.quantity.graph import value_of
from scaleright.ranges import Ends
from scaleright.transformer import DecodeStep
from scaleright.units import significant
from scaleright.validation.counts import worst_families
from scaleright.validation.report import Validation

LOG = {"log_x": True, "log_y": True}
CONTEXT = 2048
"""Tokens that a new one attends to where a case says nothing, if the model was made for so many."""
FAMILIES = {
    "rows": "models",
    "median_absolute_percent": "median error",
    "p90_absolute_percent": "90th percentile",
    "within_rounding": "exact",
    "baseline_median_absolute_percent": "rule, median",
    "baseline_p90_absolute_percent": "rule, 90th percentile",
}
"""Columns of errors by family, as a table of them is headed."""


def controls(declared: Any, chips: Mapping[str, Mapping]) -> Controls:
    """The chapter's controls: the reached share of the peak follows the chip, and the context the
    model.
    """
    usual = catalog.fact("memory_bandwidth_efficiency")
    live = charts.controls(declared.filled(bandwidth_efficiency=usual))
    longest = {name: of.max_context or CONTEXT for name, of in catalog.decoders().items()}
    live.follow("model", {name: {"context": min(of, CONTEXT)} for name, of in longest.items()})
    return live.follow("accelerator", chips, compute_efficiency="compute_efficiency")


def _advice(step: DecodeStep) -> tuple[Any, Any]:
    """What makes a token cheaper, with what sets the pace; and what a step mostly reads."""
    shared = step.weight_bytes >= step.kv_bytes  # by all sequences
    batch = where(shared, "Decode more sequences together", "Shorten the context")
    busy = step.memory_s > step.compute_s
    advice = where(busy, batch + ": memory bandwidth", "Add chips or use fewer bits: arithmetic")
    return advice, where(shared, "mostly weights", "mostly KV cache")


def _unfit(case: Any, weights: Weights, step: DecodeStep, needed: Quantity) -> tuple[Any, ...]:
    """Whether the weights are refused and how that is said; why there is no step, and no range."""
    refused, instead = weights.refusal
    instead = "cannot be given: " + instead
    unfit = charts.phrase(
        "does not fit: {needed:whole} or more {case.accelerator} have to hold"
        " {step.stored_bytes:si B}."
    )
    none = where(refused, "none, since it is not served so", "none, since it does not fit")
    return refused, instead, where(refused, instead, unfit), none


def answer(
    case: Any,
    shape: Any,
    weights: Weights,
    step: DecodeStep,
    needed: Quantity,
    least_seconds: Quantity,
    between: tuple[Quantity, Quantity],
    floors: pd.DataFrame,
) -> Display:
    """The answer card: arithmetic, bytes and least seconds of a step, or how many chips it needs.

    needed : chips that hold weights and cache; between : ends of the range; floors : measured steps
        beside theirs
    """
    fits, token_flop, step_bytes = needed <= case.accelerators, step.token_flop, step.read_bytes
    (range_low, range_high), times = between, charts.say(floors.ratio.median(), "times 2")
    advice, mostly = _advice(step)
    beyond = charts.phrase(
        " No context beyond {shape.max_context:whole} tokens is published for it."
    )
    within = (shape.max_context == 0) | (case.context <= shape.max_context)
    beyond, beyond_it = where(within, "", beyond), beyond
    span = charts.phrase("{range_low:duration} to {range_high:duration} for this floor (90 %)")
    span = where(range_low < range_high, span, "none: you set what share of the bandwidth is kept")
    refused, instead, unfit, none = _unfit(case, weights, step, needed)
    stored = charts.phrase("The weights are in {weights.precision}.{beyond}")
    stored = where(fits & ~refused, stored, "")
    span = where(fits & ~refused, span, none)
    work = (
        "To write one token, <strong>{case.model}</strong> in {weights.precision} does"
        " <strong>{token_flop:si FLOP}</strong> of arithmetic. A step with {case.batch:whole} at a"
        " time reads <strong>{step_bytes:si B}</strong> of memory and "
    )
    return charts.answer_card(
        "{advice} is the limit.",
        "{least_seconds:duration}",
        "at least, a step of {case.model} on {case.accelerators:whole} {case.accelerator}",
        f"Measured steps take {times} as long.",
        "With {case.batch:whole} at a time a step reads {step_bytes:si B} of memory, {mostly}, and"
        " does {token_flop:si FLOP} of arithmetic for each token.",
        "{stored}",
        provided=fits & ~refused,
        otherwise=work + "<strong>{unfit}</strong>{beyond}",
        always=True,
        range="{span}",
        as_of=catalog.resource("models")["as_of"],
        model_error=f"a floor: measured steps take {times} as long (median of {len(floors)} runs)",
        headline="least_seconds",
        quantities={
            "least_seconds": (least_seconds, "duration"),
            "range_low": (range_low, "duration"),
            "range_high": (range_high, "duration"),
        },
        besides=[
            (within, "{case.model}: {beyond_it}"),
            (~refused, "{case.model} on the {case.accelerator} {instead}"),
        ],
    )


def seconds_by_batch(
    case: Any, step: DecodeStep, needed: Quantity, least_seconds: Quantity
) -> Display:
    """A chart of the two times of a step against the sequences decoded together."""
    batches, across = {"batch": [2**k for k in range(11)]}, "sequences decoded together"
    both = {"arithmetic": step.compute_s, "memory": step.memory_s}
    floor_here = charts.phrase("{least_seconds:duration}")
    floor_here = where(needed <= case.accelerators, floor_here, "does not fit")
    up = "time of a step, at least"
    return charts.show(
        charts.lines(batches, "batch", both, "duration", across, up, along=case.batch, **LOG)
        + charts.rule(case.batch, across, floor_here, log=True, foot=True),
        name="batch",
        alt="Least time of a decode step of {case.model} against sequences decoded together: memory"
        " time is nearly flat, arithmetic time grows in proportion; the higher of the two is the"
        " floor.",
    )


def flop_parts(case: Any, parts: Any, step: DecodeStep) -> Display:
    """A chart of the arithmetic of one token by parts of the model [FLOP]."""
    token_flop = step.token_flop
    return charts.show(
        charts.stacked_parts(parts, "si FLOP", "FLOP per token"),
        name="flop_parts",
        alt="Arithmetic of one token of {case.model} by parts: attention projections, attention to"
        " the context, feed-forward layers and the output head add up to {token_flop:si FLOP}.",
    )


def popular_models(book: pd.DataFrame) -> Display:
    """A table of models that are often named: rules of thumb beside exact counts."""
    named = transformer.popular(book)
    words = (
        "Popular models: FLOP per token by the rules and exactly, mean of a text of 2,048 tokens"
    )
    formats, headers = _shown(named)
    return charts.table(named, words, formats, headers=headers, name="popular-models")


def all_models(book: pd.DataFrame) -> Display:
    """The same of all models of the catalog, with their bytes; folded."""
    words, (formats, headers) = f"All {len(book)} models", _shown(book)
    every, caption = book.reset_index(), f"{words} of the catalog"
    shown = charts.table(every, caption, formats, headers=headers, name="all-models")
    return charts.folded(shown, words)


def _shown(book: pd.DataFrame) -> tuple[dict[str, Any], dict[str, str]]:
    """Formats and headers of the columns of `transformer.rules_and_counts`: parameters in
    billions.
    """
    formats, headers = dict[str, Any](), dict[str, str]()
    for column in book.columns:
        if "[FLOP]" in column:
            formats[column] = "si "
            headers[column] = column.removesuffix(" [FLOP]").removeprefix("exact ")
        elif "[B]" in column:
            formats[column] = "si B"
    sizes = {"parameters": "size [billion]", "used by a token": "used [billion]"}
    for column in sizes.keys() & set(book.columns):
        formats[column], headers[column] = _billions, sizes[column]
    if "exact over 2p" in book:
        formats["exact over 2p"], headers["exact over 2p"] = "number", "forward / 2p"
    return formats, headers


def _billions(count: float) -> str:
    return significant(count / 1e9)


def over_rule_by_context(case: Any, over_rule: Quantity) -> Display:
    """A chart of exact forward arithmetic over two per parameter, for some models and the
    reader's.
    """
    others = "Llama-3.1-8B", "Llama-3.1-405B", "DeepSeek-V3", "gpt-oss-120b"
    ratios = {name: at(over_rule, model=name) for name in others} | {"your model": over_rule}
    contexts, ahead = {"tokens": [2**k for k in range(7, 18)]}, "context [tokens]"
    up = "exact forward FLOP over 2p"
    return charts.show(
        charts.lines(contexts, "tokens", ratios, "times", ahead, up, along=case.context, **LOG)
        + charts.rule(1.0, up, "the rule", horizontal=True, log=True),
        name="rule",
        alt="Exact forward FLOP over the rule of two per parameter, against context up to each"
        " model's longest: dense models rise above one as the context grows, mixtures of experts"
        " lie far below.",
    )


def gpt3_tokens() -> Display:
    """A table of the seconds that 1,024 tokens of GPT-3 take on a processor and on one A100."""
    words, formats = "1,024 tokens of GPT-3", {"time": "duration"}
    return charts.table(prompt_seconds(), words, formats, name="gpt-3-tokens")


def gpt3_bills() -> Display:
    """A table of what GPT-3's training costs at Andreessen Horowitz's price, and at what was
    reached and paid.
    """
    of = "One training run of GPT-3 on A100, by the share of peak that its chips reach"
    return charts.table(training_bills(), of, {"utilization": "percent"})


def counts(counted: Validation) -> Display:
    """A chart of published parameter counts against those from the shape."""
    scored, summary = counted.rows[counted.rows.scored], counted.summary
    pair = "published", "predicted", "model", "parameters", "published"
    return charts.show(
        charts.predicted_vs_measured(scored, *pair),
        name="counts",
        alt=f"Published against counted parameters of {summary.rows} counts: nine in ten lie within"
        f" {summary.p90_absolute_percent:.1f} percent of the diagonal.",
    )


def count_errors(counted: Validation) -> Display:
    """A table of the errors of the counts by family, worst first; folded."""
    summary = counted.summary
    words = "Error of the count in percent, and of the rule 12 x layers x width squared, by family"
    return charts.folded(
        charts.table(worst_families(counted), f"{words}, worst first", headers=FAMILIES),
        f"{summary.rows} counts by family: median error {summary.median_absolute_percent:.2f} %,"
        f" nine in ten within {summary.p90_absolute_percent:.1f} %",
    )


def measured_steps(floors: pd.DataFrame) -> Display:
    """A chart of the floor against measured decode steps [s]."""
    return charts.show(
        charts.predicted_vs_measured(floors, "measured_itl_s", "predicted", "model", "s"),
        name="floor",
        alt=f"Least time of a decode step against the measured time for {len(floors)} runs:"
        f" measured steps take {floors.ratio.min():.1f} to {floors.ratio.max():.0f} times the"
        f" floor, {floors.ratio.median():.1f} at the median.",
    )


def in_practice(now: Any, weights: Weights, floor: Quantity, needed: Quantity) -> Display:
    """The step of the chapter's case by the model of serving, beside its floor.

    Parameters
    ----------
    now : the case; floor : of a step [s]; needed : chips that hold weights and cache
    """
    form = value_of(weights.precision)
    of = now.model, now.accelerator, form, now.accelerators, now.batch, now.context
    if value_of(needed) > now.accelerators:
        said = charts.sentence("For a step that does not fit it says nothing.")
        return charts.at_defaults(said, floor, needed)
    try:
        seconds = writing_seconds(*of)
    except (LookupError, ValueError) as error:
        said = charts.sentence(f"It knows no such engine: {escape(str(error))}.")
        return charts.at_defaults(said, floor, needed)
    times = seconds / value_of(floor)
    said = charts.sentence(
        f"For this step it says <strong>{charts.say(seconds, 'duration')}</strong>,"
        f" {charts.say(times, 'number 2')} times the floor of"
        f" {charts.say(value_of(floor), 'duration')}. The measured steps lie further above their"
        " floors, since those leave out the cache of the prompts."
    )
    return charts.at_defaults(said, floor, needed)


def swings(ends: Mapping[str, Ends], least_seconds: Quantity) -> Display:
    """A chart of what moves the floor, largest first."""
    return charts.show(
        charts.tornado(ends, least_seconds, "duration", "time of a step"),
        name="tornado",
        alt="What the range of the floor of {least_seconds:duration} a step comes from: the speeds"
        " of arithmetic and of memory, largest first.",
    )
