"""What the chapter on the inference ladder shows."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scaleright import catalog, charts
from scaleright.charts.live import Controls
from scaleright.charts.weights import weights_format
from scaleright.decisions.inference_ladder import (
    SOURCE_SAVING,
    CheapestLadder,
    Saved,
)
from scaleright.inference.ladder import Ladder, Step
from scaleright.market import BEST, Hours
from scaleright.ops import first_case, where
from scaleright.quantity import Quantity

PROMISED = f"{100 * SOURCE_SAVING[0]:.0f} to {100 * SOURCE_SAVING[1]:.0f} %"


def controls(case: Any) -> tuple[Controls, list[str], Hours]:
    """The controls of the page, the models, and what an hour of each accelerator costs."""
    models = dict.fromkeys(case["model"].choices + case["smaller"].choices)
    chips = [name for name in case["accelerator"].choices if name != BEST]
    return charts.controls(case), [*models], Hours(chips)


def answer(served: CheapestLadder, saved: Saved) -> charts.Display:
    """What the ladder saves of the fleet; or why there is none."""
    case, ladder, hour = served.case, served.climb, served.hour
    today, end = ladder.steps[0], ladder.steps[-1]
    saving, dear, cheap = saved.saving, saved.dear, saved.cheap
    range_low, range_high = saved.range_low, saved.range_high
    possible = (today.chips > 0) & ~served.nameless
    too_long = charts.phrase("it was made for sequences of up to {ladder.context:whole} tokens")
    refusals = [
        (served.nameless, "a rent of your own is that of one accelerator, so name it"),
        (ladder.too_long, too_long),
        (ladder.quickest_s <= ladder.fleet.tpot_s, "a token of such batches takes longer"),
        (
            ladder.quickest_s > 0,
            charts.phrase("a token takes {ladder.quickest_s:duration} at least"),
        ),
    ]
    refusal = first_case(refusals, "no group of up to eight holds it with such requests")
    lent = where(ladder.lent == "", "", "; " + ladder.lent)
    span = charts.phrase("{range_low:percent} to {range_high:percent}")
    span = where(possible, span, "none, since nothing is served")
    instead = where(end.chips < today.chips, charts.phrase(" instead of {dear:usd}"), "")
    among = charts.phrase(", the cheapest fleet of {served.many:whole} accelerators")
    among = where(served.many > 1, among, "")
    money = charts.phrase(
        "A million output tokens then cost {cheap:usd}{instead}, at {hour.usd:usd} an hour"
        " ({hour.counted}){among}."
    )
    money = where(hour.there, money, charts.phrase("In dollars nobody knows: {hour.why}."))
    decision = _decision(case, today, end)
    late = _late(case, today, end)
    return charts.answer_card(
        "{decision}",
        "{saving:percent}",
        "less hardware for {case.model} in {ladder.form}",
        because="{money}",
        also=f"Clarifai promises {PROMISED} to everyone.{{late}}",
        provided=possible,
        otherwise="<strong>{case.model}</strong> in {ladder.form} cannot be served on"
        " {case.accelerator} with {case.tpot_ms:number} ms between two tokens: {refusal}.",
        range="{span}",
        as_of=f"{catalog.resource('serving_constants')['as_of']} (speed), {{hour.age}} (rents)",
        model_error="the range is the ninth of ten errors on"
        f" {saved.checked} published speedups by one lever alone{{lent}}",
        headline="saving",
        quantities={
            "saving": (saving, "percent"),
            "range_low": (range_low, "percent"),
            "range_high": (range_high, "percent"),
            "chips": (end.chips, "whole"),
        },
        besides=[(hour.there, "{hour.why}.")],
    )


def _decision(case: Any, today: Step, end: Step) -> Any:
    """What to do, in words."""
    first = charts.phrase(
        "Optimize first: {end.chips:whole} {case.accelerator} then do the work of"
        " {today.chips:whole}."
    )
    stay = charts.phrase(
        "Leave the fleet as it is: no lever makes do with fewer than {today.chips:whole}"
        " {case.accelerator}."
    )
    return where(end.chips < today.chips, first, stay)


def _late(case: Any, today: Step, end: Step) -> Any:
    """That no group has the first token in time, today or with the levers too, in words."""
    promised = charts.phrase("a first token within {case.ttft_s:number 2} s for nineteen of twenty")
    then = charts.phrase(" No group of today has {promised}; with the levers one has.")
    never = charts.phrase(" No group has {promised}: the pace alone decides.")
    return where(end.kept, where(today.kept, "", then), never)


def rungs(ladder: Ladder) -> charts.Display:
    """The fleet on each rung, all but the dashboard [accelerators]."""
    today, end = ladder.steps[0], ladder.steps[-1]
    there = charts.phrase(", {today.chips:whole} today, lever by lever down to {end.chips:whole}")
    there = where(today.chips > 0, there, ", of which there is none")
    levers = ladder.steps[1:-1]
    fleets = {today.name: today.chips} | {
        step.name: where(step.taken, step.chips, float("nan")) for step in levers
    }
    title = "accelerators, each lever taken on top of those above"
    lacking = where(today.chips > 0, "left out", "not served")
    return charts.show(
        charts.bars(fleets, "lever", None, "whole", title, sort=False, lacking=lacking),
        name="rungs",
        alt="Accelerators of the fleet{there}; a lever that is left out has no bar.",
    )


def quality(ladder: Ladder) -> charts.Display:
    """What the formats of today and of the last step cost in quality, and the levers together."""
    today, end = ladder.steps[0], ladder.steps[-1]
    served, form = end.state["model"], end.state["form"]
    lost = where(end.loss > 0, charts.phrase("lose {end.loss:percent}"), "lose nothing")
    then = charts.phrase(
        " The ladder ends with {served} in {form}; {ladder.quality_then}. By published scores, the"
        " levers that are taken {lost} together."
    )
    return weights_format(ladder.weights, today.chips > 0, then)


def checklist(ladder: Ladder, levers: pd.DataFrame) -> charts.Display:
    """What each lever of Clarifai's checklist saves, or why it is left; what all so far save."""
    today, *steps = ladder.steps
    columns = {
        "lever": levers["lever"],
        "saves": [_saved(step, today.chips > 0) for step in steps],
        "so far": [1 - step.chips / today.chips for step in steps],
    }
    about = "Clarifai's checklist for your service, in its order"
    return charts.table(pd.DataFrame(columns), about, {"so far": "percent"}, name="checklist")


def conditions(levers: pd.DataFrame) -> charts.Display:
    """What each lever needs and risks, and what to measure; folded."""
    columns = ["lever", "needs", "risk", "measure"]
    shown = charts.table(
        levers[columns],
        "Each lever of Clarifai's checklist",
        headers={"risk": "risks"},
        name="conditions",
    )
    return charts.folded(shown, "What each lever needs and risks, and what to measure")


def _saved(step: Step, possible: Any) -> Any:
    """What a lever saves, or why it is left."""
    left = [
        (step.taken, charts.say(step.saving, "percent")),
        (where(step.can, False, True), "– (its conditions do not hold)"),
        (step.same, "– (changes nothing)"),
        (step.harmful, "– (published loss of " + charts.say(step.lost, "percent") + ")"),
        (step.late, "– (the first token comes too late)"),
        (step.more > 0, "– (takes " + charts.say(step.more, "percent") + " more chips)"),
        (step.more <= 0, "– (saves nothing here)"),
    ]
    return where(possible, first_case(left, "– (too slow)"), "–")


def losses(published: pd.DataFrame) -> charts.Display:
    """Published losses of quality by lever, folded."""
    shown = charts.table(
        published.fillna({"form": ""})[["lever", "form", "model", "benchmark", "loss"]],
        "Published losses of quality, over the score before",
        {"loss": "percent"},
        name="quality",
    )
    return charts.folded(shown, "What compression was published to cost in quality")


def orders(saving: Quantity, found: pd.DataFrame) -> charts.Display:
    """What each lever saves by when it is taken."""
    words = {"first": "taken first", "last": "taken last", "credit": "credit for the whole"}
    shown = charts.table(
        found.reset_index(),
        f"What each of the {len(found)} levers taken saves, over all their orders",
        dict.fromkeys(found.columns, "percent"),
        headers=words,
        name="orders",
    )
    return charts.at_defaults(shown, saving)


def starts(saving: Quantity, found: pd.DataFrame) -> charts.Display:
    """What the ladder saves by how requests share a group today."""
    about = "What the ladder saves, by how requests share a group today"
    shown = charts.table(found, about, dict.fromkeys([*found][1:], "percent"), name="starts")
    return charts.at_defaults(shown, saving)


def beyond(saving: Quantity, found: pd.DataFrame) -> charts.Display:
    """What two more levers save, by the time between tokens."""
    about = (
        "What two more levers save on top of the ladder, at ten times the requests; speculative"
        " decoding with three guesses, each right six times of ten"
    )
    return charts.at_defaults(charts.table(found, about, name="beyond"), saving)


def by_demand(case: Any, demand: Quantity, saved: Mapping[str, Any]) -> charts.Display:
    """What levers save against the requests per second."""
    along, title = {"demand": [10 ** (k / 8 - 1) for k in range(33)]}, "requests per second"
    axes = "percent", title, "share saved"
    return charts.show(
        charts.rule(case.requests_per_s, title, "you", foot=True, log=True)
        + charts.lines(along, "demand", saved, *axes, log_x=True, along=demand),
        name="demand",
        alt="Share of the fleet that the levers of your case save against the requests per second:"
        " all of them, those that make a group faster, and those that share groups among services"
        " and variants.",
    )


def budgets(saving: Quantity, found: pd.DataFrame) -> charts.Display:
    """What more allowed loss of quality saves."""
    shares = dict.fromkeys(("allowed loss", "loss", "saved"), "percent")
    shown = charts.table(found, "What more loss of quality buys", shares, name="budgets")
    return charts.at_defaults(shown, saving)


def pairs(measured: pd.DataFrame, error: float) -> charts.Display:
    """How many times faster FP8 made models, measured and computed.

    error : of the computed over the measured, at the median [1]
    """
    axes = "published", "computed", "system", "times", "published"
    return charts.show(
        charts.predicted_vs_measured(measured, *axes),
        name="pairs",
        alt=f"Published against computed speedup of FP8 over BF16 for {len(measured)} pairs of"
        f" runs: the median is {100 * error:.0f} percent off.",
    )


def speedups(found: pd.DataFrame) -> charts.Display:
    """Speedups by one lever, published and computed."""
    formats = dict.fromkeys(("published", "computed"), "times")
    return charts.table(found, "Times faster by one lever", formats, name="checks")
