"""What the chapter `vendor_claims` shows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from scaleright import charts
from scaleright.chapters.vendor_claims import evidence
from scaleright.chapters.vendor_claims import model as vendor
from scaleright.chapters.vendor_claims.evidence import (
    Lead,
    LeadDoubts,
    OverSpeeds,
    Usual,
    VendorPaid,
    VendorPrices,
)
from scaleright.charts import Controls, Display
from scaleright.ops import where
from scaleright.quantity import Quantity

Pair = tuple[Quantity, Quantity]
USERS = "tokens per second per user"
PER_CHIP = "output tokens per second of one chip"
PRICED = ("newer", "older", "asked")
"""What a case pays for."""


def controls(declared: Any) -> tuple[Controls, dict[str, dict], dict[str, Any], Any, VendorPrices]:
    """The controls of the page, what each chip takes (see `chip_terms`) and in which format it
    serves, the speeds per user among which a reader chooses [token/s], and prices.
    """
    options = {parameter.name: parameter.choices for parameter in declared.parameters}
    terms = {name: evidence.chip_terms(name) for name in (*options["older"], *options["newer"])}
    live = charts.controls(declared)
    live.follow("newer", terms, newer_kw="kw")
    live.follow("older", terms, older_kw="kw")
    forms = dict.fromkeys(options["older"], live.given.older_precision)
    forms |= dict.fromkeys(options["newer"], live.given.newer_precision)
    return live, terms, forms, options["speed"], VendorPrices.of([*terms], options["model"])


def answer(
    case: Any,
    paid: VendorPaid,
    lead: Lead,
    every: OverSpeeds,
    doubts: LeadDoubts,
    errors: vendor.LeadErrors,
    usual: Usual,
) -> Display:
    """The answer card: the lead at the speed of the case, and where the claim holds."""
    ratio, cheaper, per_megawatt = lead.per_chip, lead.per_dollar, lead.per_megawatt
    both, new, old = ratio > 0, usual.newer.precision, usual.older.precision
    this, that = charts.phrase("{case.newer} in {new}"), charts.phrase("{case.older} in {old}")
    take = where(cheaper < 1, "Stay with the " + case.older, "Take the " + case.newer)
    unlisted = charts.phrase("A {case.newer} does more; what both cost nobody lists.")
    decision = where(paid.there, take + ": its tokens are cheaper.", unlisted)
    lead_said = charts.say(where(paid.there, cheaper, ratio), "times")
    lead_of = where(paid.there, "the tokens for a dollar", "the tokens of a chip")
    rents = _rents(case, paid)
    claim, sure = where(paid.there, _claim(case, every), ""), doubts.choice
    gains = "the " + where(cheaper >= 1, case.newer, case.older)
    likely, known = charts.odds(sure, paid.there, gains, " per million tokens")
    reached = charts.phrase(" The claim is reached here with {doubts.claim:chance} probability.")
    known = where(paid.there, known + reached, "")
    span = where(
        cheaper > 0, charts.phrase("{doubts.low:number} to {doubts.high:times} (90 %)"), "none"
    )
    slower = where(lead.tokens_per_s > 0, that, this)
    return charts.answer_card(
        "{decision}",
        "{lead_said}",
        "{lead_of}, at {case.speed:whole} tokens/s per user",
        "{likely}",
        "{claim}",
        "For {case.model}, one {this} writes {ratio:times} the tokens of one {that}. {rents} A"
        " megawatt makes {per_megawatt:times} as many.{known}",
        provided=both,
        otherwise="For <strong>{case.model}</strong> at {case.speed:whole} tokens/s per user there"
        " is nothing to compare: a <strong>{slower}</strong> does not write so fast.{claim}",
        range="{span}",
        as_of="{paid.newer.age} (rent of the {case.newer}), {paid.older.age} (of the {case.older})",
        model_error="leads at one speed that were measured with one engine are"
        " {errors.low:number 2} to {errors.high:number 2} of the predicted ones"
        f" (nine of ten of {errors.count}, none of them fitted)",
        headline="times_cheaper",
        quantities={
            "times_cheaper": (cheaper, "times"),
            "range_low": (doubts.low, "times"),
            "range_high": (doubts.high, "times"),
            "newer_cheaper_probability": (sure.probability, "percent"),
            "expected_loss_usd_per_million": (sure.expected_loss, "usd"),
            "claim_probability": (doubts.claim, "percent"),
            "times_chip": (ratio, "times"),
            "times_megawatt": (per_megawatt, "times"),
            "most": (every.most, "times"),
        },
        besides=[(getattr(paid, of).there, f"{{paid.{of}.why}}.") for of in PRICED],
    )


def _rents(case: Any, paid: VendorPaid) -> Quantity:
    """At what both rent, in words."""
    rents = charts.phrase(
        "It rents at {paid.newer.usd:usd} an hour ({paid.newer.counted}), the {case.older} at"
        " {paid.older.usd:usd} ({paid.older.counted}).{paid.instead}"
    )
    return where(paid.there, rents, charts.phrase("In dollars nothing can be said: {paid.why}."))


def _claim(case: Any, every: OverSpeeds) -> Quantity:
    """Where the claim holds, in words."""
    to = where(every.first < every.last, charts.phrase(" to {every.last:whole}"), "")
    held = charts.phrase("{every.first:whole}{to} tokens/s per user")
    held = where(every.first > 0, held, "no speed that the older chip can serve")
    found = charts.phrase(
        " A claim of {case.claimed:number 2} times is reached at {held}: per dollar the lead is"
        f" {{every.slow:times}} at {every.slow_at} tokens/s per user and at most"
        " {every.most:times}, at {every.most_at:whole}."
    )
    return where(every.most > 0, found, " At no speed do both serve it.")


def _by_speed(
    case: Any, speeds: Sequence[float], curves: Mapping[str, Quantity], kind: str, title: str
) -> Any:
    """Curves over the speeds per user, with the reader's."""
    look = {"along": case.speed, "log_x": True, "log_y": True}
    lines = charts.lines({"speed": speeds}, "speed", curves, kind, USERS, title, **look)
    return charts.rule(case.speed, USERS, "you", log=True, foot=True) + lines


def lead_by_speed(case: Any, speeds: Sequence[float], lead: Lead, every: OverSpeeds) -> Display:
    """A chart of the lead per dollar, megawatt and chip against speed, with the claim."""
    times, slow = "times as many tokens", every.slow
    per = {f"per {of}": getattr(lead, f"per_{of}") for of in ("dollar", "megawatt", "chip")}
    return charts.show(
        charts.rule(case.claimed, times, "the claim", horizontal=True, log=True)
        + _by_speed(case, speeds, per, "times", times),
        name="lead",
        alt="How many times as many tokens a {case.newer} makes as a {case.older} per dollar,"
        " megawatt and chip, against tokens per second per user: per dollar {slow:times} at the"
        " slowest and {every.most:times} at most; a dashed line marks the claim.",
    )


def curves(case: Any, speeds: Sequence[float], rates: Mapping[str, Quantity]) -> Display:
    """A chart of each chip's tokens per second against the speed per user."""
    return charts.show(
        _by_speed(case, speeds, rates, "number", PER_CHIP),
        name="curves",
        alt="Output tokens per second of one chip against tokens per second per user, a"
        f" line for each of {', '.join(rates)}: all fall, those of older chips first.",
    )


def assumptions() -> Display:
    """A table of the lead under one assumption of the announcement after the other."""
    return charts.table(
        built := evidence.assumed_leads(),
        "DeepSeek-R1 on Blackwell over H200, 1K in and 1K out: how many times as many tokens",
        dict.fromkeys(built.columns[2:], "number 2") | {"tokens/s per user": "whole"},
        name="steps",
    )


def announced() -> Display:
    """A table of the vendor's own arithmetic."""
    shown = charts.table(
        evidence.announced(),
        "DeepSeek-R1 as the vendor compares it, prompts and answers of 1K",
        dict.fromkeys(("GB300", "H200 SXM"), "number") | {"better by": "times 2"},
        name="announced",
    )
    return charts.folded(shown, "The vendor's own arithmetic")


def measured(case: Any, speeds: Sequence[float], rates: Mapping[str, Quantity]) -> Display:
    """A chart of each chip's measured tokens per second against the speed per user."""
    return charts.show(
        _by_speed(case, speeds, rates, "number", PER_CHIP),
        name="measured",
        caption="InferenceMAX, a benchmark, December 2025 and January 2026: Hopper with vLLM, at"
        " most 64 requests; B200 with vLLM or TensorRT-LLM, the better; GB200 with prefill apart.",
        alt="Measured output tokens per second of one chip against tokens per second of a user for"
        " GPT-OSS-120B: B200 and GB200 far above H100 and H200.",
    )


def full_load() -> Display:
    """A table of leads where nobody asks how fast a user sees tokens."""
    return charts.table(
        evidence.full_load(),
        "GPT-OSS-120B at full load: how many times an older chip's",
        dict.fromkeys(("least", "most"), "number 2"),
        name="full-load",
    )


def profit_by_use(case: Any, profit: Quantity, pace: Mapping[str, Quantity]) -> Display:
    """The profit over the investment by use, at the case's speed and at each by its words [1]."""
    back, busy, use = "profit over the investment", "utilization", case.utilization
    loads = {"load": [x / 100 for x in (1, 2, *range(5, 101, 5))]}
    return charts.show(
        charts.rule(14.0, back, "the most that $75 million on $5 million is", horizontal=True)
        + charts.rule(0.0, back, "even", horizontal=True)
        + charts.rule(use, busy, "you", foot=True)
        + charts.lines(loads, "load", pace, "number", busy, back, x_kind="percent", along=use),
        name="return",
        alt="Profit over the investment in 72 {case.newer} against utilization, for your users'"
        " speed and for slow ones: {profit:number 2} at {case.utilization:percent}.",
    )


def mixtures(
    case: Any, chip: Quantity, chips: Sequence[str], made: Pair, always: Pair, used: Pair
) -> Display:
    """A table of what a mixture of experts makes on each chip, for slow and fast users.

    chip : the one of a row, of which all else is made
    made : tokens per second of the chip, from and to [token/s]
    always, used : USD for a million of them, from and to, always busy and as busy as the case
    """
    (fewer, more), (cheap, dear), (cheap_used, dear_used) = made, always, used
    busy = charts.phrase("{cheap:usd} to {dear:usd}")
    used_so = charts.phrase("{cheap_used:usd} to {dear_used:usd}")
    usd = {"USD, always busy": busy, "USD, as busy as yours": used_so}
    columns = {"tokens/s of a chip": charts.phrase("{fewer:whole} to {more:whole}")}
    columns |= {name: where(dear > 0, words, "no such rent") for name, words in usd.items()}
    columns = {name: where(fewer > 0, words, "not that fast") for name, words in columns.items()}
    rows = {"of": [*chips] * 2, "at": np.repeat([20, 100], len(chips))}
    shown = charts.table(
        pd.DataFrame(rows | {"chip": chip, "tokens/s per user": case.speed} | columns),
        "A 70B mixture of experts with your requests, in its usual formats, without speculation",
        {"tokens/s per user": "whole"},
        along={chip: "of", case.speed: "at"},
        name="seventy",
    )
    return charts.folded(shown, "What a 70B mixture of experts makes on each chip")


def checked_leads(errors: vendor.LeadErrors) -> Display:
    """A chart of predicted against measured leads."""
    checked = vendor.checked_leads()
    label = checked["newer"] + "\nover " + checked["older"].str.split().str[0]
    dots, unit = checked.assign(label=label), "times the tokens per second"
    return charts.show(
        charts.predicted_vs_measured(dots, "measured", "predicted", "label", unit, name_worst=0),
        name="leads",
        alt=f"Predicted against measured leads at {errors.count} speeds, {errors.slightest:.2g} to"
        f" {errors.greatest:.2g} times; the median is off by {100 * errors.median:.0f} %.",
    )


def published_beside_model() -> Display:
    """A folded table of published points of DeepSeek-R1 beside those of the model."""
    shown = charts.table(
        beside := evidence.published_beside_model(),
        "DeepSeek-R1, prompts and answers of 1K: output tokens per second of one chip, published at"
        " one speed per user (with the best speculative decoding) and predicted",
        dict.fromkeys(beside.columns[2:], "whole"),
        name="deepseek-points",
    )
    return charts.folded(shown, f"{len(beside)} published points of DeepSeek-R1 beside the model")


def worth_of_knowing(case: Any, doubts: LeadDoubts) -> Display:
    """A chart of what it would save of a million tokens to know each input before choosing."""
    ways, choice = charts.phrase("the {case.newer} and the {case.older}"), doubts.choice
    return charts.worth_of_knowing(choice.worth(), "per million tokens", choice, ways)
