"""What the chapter `model_routing` shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scaleright import charts
from scaleright.chapters.model_routing.evidence import (
    cascades,
    failures,
    judged,
    kinds,
    routers,
    savings,
    scored,
)
from scaleright.chapters.model_routing.model import (
    LARGE,
    THOUSAND,
    Best,
    Doubts,
    Pair,
    Short,
    engines_sheet,
    pairs_sheet,
    rates_sheet,
    ways_sheet,
)
from scaleright.chapters.model_routing.model import model_names as in_models
from scaleright.charts import Display
from scaleright.charts.live import Controls
from scaleright.decisions.routing import Traffic, Way
from scaleright.decisions.routing_tiers import NAMES, Served, Tiers, one_by_one
from scaleright.inference.demand import UNKNOWN, usual_peaks
from scaleright.market import BEST
from scaleright.ops import first_case, minimum, where
from scaleright.quantity import Quantity

# The evidence that the chapter `model_routing` shows: routers, cascades, checks and counts of
# failures, as published and as predicted


def overlaps() -> Display:
    """A table of published counts of questions that two models get right."""
    found = failures()
    percents = [name for name in found.columns if name not in {"benchmark", "small", "large"}]
    formats = dict.fromkeys(percents, "percent") | {"questions": "whole"}
    told = charts.table(found, "Which questions two models get right, counted", formats)
    return charts.folded(told, "Both counts of which questions two models get right")


def published_routers() -> Display:
    """A chart of the requests that published routers send to the large model, as predicted."""
    found = routers()
    shown = found.assign(
        published=100 * found["calls, published"],
        predicted=100 * found["calls, predicted"],
        label=found["router"] + "\n" + found["benchmark"],
    )
    return charts.show(
        charts.predicted_vs_measured(
            shown, "published", "predicted", "label", "% of requests", "published"
        ),
        name="published_routers",
        alt="Share of requests that 16 published routers send to the large model to recover four"
        " fifths of the gap, published against predicted from the share at half of the gap.",
    )


def published_savings() -> Display:
    """A table of published savings beside predicted ones."""
    found = savings().drop(columns="source")
    percents = [*found.columns][2:]
    told = charts.table(
        found,
        "Savings over the large model alone: published, predicted, and of tossing a coin at the"
        " same quality",
        dict.fromkeys(percents, "percent"),
    )
    return charts.folded(told, f"All {len(found)} published savings, and what is predicted")


def published_checks() -> Display:
    """A table of how good published checks are, by kind."""
    found = kinds().rename(
        columns={
            "kind": "who checks",
            "mix": "default mix",
            "worst": "its worst checker",
            "best": "its best checker",
        }
    )
    percents = dict.fromkeys([*found.columns][1:-1], "percent")
    told = charts.table(
        found,
        "Wrong answers that published checks flag where they pass as large a share of right ones",
        percents | {"checkers": "whole"},
    )
    return charts.folded(told, "How good published checks are, by who checks")


def published_cascades() -> Display:
    """A chart of what published cascades got right more than one model for their bill."""
    found = cascades()
    one, unit = found["one model"], "points more right than the best single model for the bill"
    shown = found.assign(
        published=(100 * (found["published"] - one)).round(3),
        predicted=(100 * (found["predicted"] - one)).round(3),
        label=found["cascade"] + "\n" + found["benchmark"],
    )
    return charts.show(
        charts.predicted_vs_measured(
            shown, "published", "predicted", "label", unit, "published", log=False
        ),
        name="published_cascades",
        alt="How much more 21 published cascades got right than the best single model for the same"
        " bill, beside what is predicted from the cascades of other benchmarks.",
    )


EACH = "USD for a thousand requests"
COUNTED = f"{EACH}, errors counted"


def controls(case: Any) -> tuple[Controls, Tiers]:
    """The controls of the page, and what its tiers may be chosen from."""
    models = {tier: case[tier].choices for tier in NAMES}
    chips = [name for name in case["accelerator"].choices if name != BEST]
    tiers = Tiers.of([name for of in models.values() for name in of], chips)
    return charts.controls(case).follow("traffic", usual_peaks()), tiers


def _span(low: Any, high: Any, missing: Any) -> Any:
    """The range of a way's cost with its errors, in words."""
    span = charts.phrase("{low:usd} to {high:usd} a thousand requests, errors counted (90 %)")
    same = high <= low * (1 + 1e-6), "none, since it is as you set it"
    return first_case([(missing, "none, since no way does what you ask"), same], span)


def answer(
    case: Any,
    served: Mapping[str, Served],
    ways: Mapping[str, Way],
    best: Best,
    short: Short,
    doubts: Doubts,
    why: Any,
) -> Display:
    """The answer card: the way that costs least, beside the large tier alone."""
    one, (low, high), missing = ways[LARGE], doubts.total, best.name == ""
    name, paid = in_models(best.name, case), THOUSAND * best.usd
    total = THOUSAND * best.total_usd
    lead = where(missing, _missing(case, short), charts.phrase("Use {name}."))
    figure = where(missing, "No way", charts.say(total, "usd"))
    figure_of = charts.phrase("for a thousand requests and their errors: {paid:usd} are paid")
    figure_of = where(missing, "does what you ask", figure_of)
    told = where(missing, "", _beside_large(case, best, one, doubts.rival))
    alone, pays = case.large + " alone", doubts.choice.cost < doubts.choice.other
    dearer = where(pays, alone, where(best.name == LARGE, "a smaller start", "this"))
    taken, there = where(pays, "this", alone), ~missing & doubts.rival
    likely, known = charts.odds(doubts.choice, there, taken, " a thousand requests", dearer)
    first, second, third = (of.asked.age for of in served.values())
    placed, span = _placed(case, served), _span(low, high, missing)
    routed, chained = judged()["requests at the large model"], scored()
    return charts.answer_card(
        "{lead}",
        "{figure}",
        "{figure_of}",
        "{likely}",
        "{told}",
        "{placed} {known}",
        provided=why == "",
        otherwise="There is no answer: {why}.",
        range="{span}",
        as_of="{first}, {second}, {third} (prices of the three tiers)",
        model_error=f"of {routed.rows} published routers, half were predicted within"
        f" {100 * routed.error:.0f} % of the requests that they send to the large model; of"
        f" {chained.rows} published cascades, half within {100 * chained.error:.1g} point of the"
        " share of answers that are right",
        headline="with_errors_usd_per_thousand",
        quantities={
            "usd_per_thousand": (paid, "usd"),
            "large_alone_usd_per_thousand": (THOUSAND * one.usd, "usd"),
            "with_errors_usd_per_thousand": (total, "usd"),
            "saving_share": (1 - best.usd / one.usd, "percent"),
            "share_right": (best.right, "percent"),
            "large_alone_share_right": (one.right, "percent"),
            "range_low": (low, "usd"),
            "range_high": (high, "usd"),
            "starting_small_cheaper_probability": (doubts.choice.probability, "percent"),
        },
    )


def _placed(case: Any, served: Mapping[str, Served]) -> Any:
    """Where each tier costs least, if all requests reach it."""
    said = []
    for name, of in served.items():
        model, own = getattr(case, name), of.own
        chip, many = own.accelerator, own.many
        of_many = where(many > 1, charts.phrase(", the cheapest of {many:whole} accelerators"), "")
        rented = charts.phrase("{model} rented on {chip} ({own.contract}{of_many})")
        asked = of.asked
        listed = charts.phrase(
            "{model} at its API ({asked.counted}, {asked.input:usd} for a million tokens of input"
            " and {asked.output:usd} of output)"
        )
        said.append(where(own.asks(1.0), listed, rented))
    first, second, third = said
    return charts.phrase(
        "Where all requests reach a tier it costs least so: {first}, {second}, {third}."
    )


def _beside_large(case: Any, best: Best, one: Way, rival: Any) -> Any:
    """The best way beside the large tier alone, after its price; or that it is that tier.

    rival : whether another does what is asked
    """
    alone_usd, right, alone_right = THOUSAND * one.usd, 100 * best.right, 100 * one.right
    total, alone_total = THOUSAND * best.total_usd, THOUSAND * one.total_usd(case.error_usd)
    error, saving = case.error_usd, 1 - best.usd / one.usd
    later = charts.phrase(" instead of {one.seconds:duration}")
    over = best.seconds / one.seconds
    longer = where((over > 0.995) & (over < 1.005), ", as with it", later)
    less = charts.phrase("Its price is {saving:percent} below the {alone_usd:usd} of {case.large}.")
    less = where(saving > 0, less, charts.phrase("{case.large} alone costs {alone_usd:usd}."))
    instead = charts.phrase(
        "{less} {right:number 3} % of answers are right instead of {alone_right:number 3} %, after"
        " {best.seconds:duration} on average{longer}. With {error:usd} for each wrong one that is"
        " {total:usd} instead of {alone_total:usd}."
    )
    fits = where(case.least_right > 0, "and is right as often as you ask ", "")
    why = charts.phrase(
        "Every way that starts smaller {fits}costs more once {error:usd} is counted for each wrong"
        " answer"
    )
    why = where(rival, why, "No way that starts smaller does what you ask")
    alone = charts.phrase("{why}: {right:number 3} % are right, after {best.seconds:duration}.")
    return where(best.name == LARGE, alone, instead)


def _missing(case: Any, short: Short) -> Any:
    """Which of what is asked no way reaches, and what would do."""
    most, wait, late = 100 * case.least_right, case.most_s, short.late_s
    top, rightest = 100 * short.right, in_models(short.rightest, case)
    quickest = in_models(short.quickest, case)
    wrong = charts.phrase(
        "No way through these tiers gets {most:number 3} % of the requests right: the rightest is"
        " {rightest}, with {top:number 3} %. Choose a better large model or check, or ask for less."
    )
    slow = charts.phrase(
        "No way that is right often enough has 95 of 100 answers within {wait:duration}: the"
        " quickest is {quickest}, within {late:duration}. Allow that or fewer right."
    )
    return where(short.too_wrong, wrong, slow)


SHOWN = ("small alone", "medium alone", "small, then large", "medium, then large")


def by_error(case: Any, ways: Mapping[str, Way]) -> Display:
    """A chart of the cost of a thousand requests against what a wrong answer costs."""
    error, title = case.error_usd, "cost of a wrong answer that is kept [USD]"
    rows = {"error": np.geomspace(1e-3, 10.0, 41).round(6)}
    one = ways[LARGE].total_usd(error)
    parts = {name: ways[name].total_usd(error) / one for name in SHOWN}
    look, up = (
        {"log_x": True, "x_kind": "usd", "along": error},
        "cost over the large tier alone, errors counted",
    )
    return charts.show(
        charts.rule(1.0, up, LARGE, horizontal=True)
        + charts.rule(error, title, "you", log=True, foot=True)
        + charts.lines(rows, "error", parts, "percent", title, up, **look),
        name="by_error",
        alt="Cost of a request with its errors by each way, over that of the large tier alone,"
        " against what a wrong answer costs: where it costs little the smallest model alone is"
        " cheapest, where it costs much the way that is most often right.",
    )


def rates(case: Any, traffic: Traffic) -> Display:
    """A table of the success rates of the three tiers by difficulty."""
    found = rates_sheet(case, traffic)
    percents = dict.fromkeys(found.columns[2:], "percent")
    return charts.table(found, "Requests that each tier gets right", percents)


def pairs_table(pairs: Mapping[str, Pair]) -> Display:
    """A table of the closed forms for each pair of tiers."""
    words = {
        name: where(of.error_usd > 1e9, "anything", charts.say(of.error_usd, "usd"))
        for name, of in pairs.items()
    }
    found = pairs_sheet(pairs).assign(**{"cheaper while an error costs below": [*words.values()]})
    percents = [name for name in found.columns[1:-1] if "USD" not in name]
    formats = dict.fromkeys(percents, "percent")
    told = charts.table(found, "When one large model is cheaper", formats)
    return charts.folded(told, "Each pair of tiers: what is kept, saved and lost")


def own_tiers(case: Any, served: Mapping[str, Served], ways: Mapping[str, Way]) -> Display:
    """A table of what stands behind each tier if all are tried one after another: on own engines
    the fewer requests reach it, the dearer each answer.
    """
    found = engines_sheet(case, served, ways[one_by_one(NAMES)])
    known, api = case.traffic != UNKNOWN, [*found.pop("api")]
    stands = [where(known, charts.say(of, "whole"), "not known") for of in found["engines"]]
    busy = [charts.say(of, "percent 2") for of in found["busy"]]
    found["engines"] = [where(at, "none: API", of) for at, of in zip(api, stands, strict=True)]
    found["busy"] = [where(at, "paid by answers", of) for at, of in zip(api, busy, strict=True)]
    usd = dict.fromkeys(found.columns[-3:], "usd")
    return charts.table(
        found,
        "What stands behind each tier if all are tried one by one, and what a thousand of its"
        " answers cost [USD]",
        {"reached by": "percent"} | usd,
        name="own-tiers",
    )


def by_threshold(case: Any, total: Quantity, large: Quantity, alarm: Quantity, pair: Pair) -> Any:
    """A chart of the cost of small, then large, against the threshold of the check.

    total : along `alarm`, the share of right answers that the check flags [USD]
    """
    title = "right answers that the check flags"
    rows, own, best = {"alarm": np.linspace(0.0, 1.0, 51)}, case.false_alarm, pair.best_alarm
    costs = {"small, then large": THOUSAND * total, LARGE: THOUSAND * large}
    words, look = "best at " + charts.say(best, "percent"), {"along": alarm, "x_kind": "percent"}
    return charts.show(
        charts.rule(own, title, "you", foot=True, beside=best)
        + charts.rule(best, title, words, foot=True, lift=16, beside=own)
        + charts.lines(rows, "alarm", costs, "usd", title, COUNTED, **look),
        name="by_threshold",
        alt="Cost of a thousand requests, small and then large, against the share of right answers"
        " that the check flags: it is least at {best:percent}.",
    )


def by_router(case: Any, ways: Mapping[str, Way]) -> Display:
    """A chart of the cost of a router against its accuracy, beside checks and one model."""
    accuracy, title = case.router_accuracy, "requests that the router judges rightly"
    names = ("router small/large", "small, then large", LARGE, "small alone")
    costs = {name: THOUSAND * ways[name].total_usd(case.error_usd) for name in names}
    rows = {"accuracy": np.linspace(0.5, 0.99, 50).round(2)}
    look = {"x_kind": "percent", "along": accuracy}
    return charts.show(
        charts.rule(accuracy, title, "you", foot=True)
        + charts.lines(rows, "accuracy", costs, "usd", title, COUNTED, **look),
        name="by_router",
        alt="Cost of a thousand requests through a router against the share that it judges rightly,"
        " beside a cascade with a check, the large tier alone and the small tier alone.",
    )


def ways_table(case: Any, ways: Mapping[str, Way]) -> Display:
    """A table of all ways, and whether nothing beats each."""
    waits = dict.fromkeys(("mean wait", "95 of 100 within"), "duration")
    told = charts.table(
        ways_sheet(case, ways),
        "Every way: unbeaten is one to which no other is as cheap, as right and as quick",
        {"right": "percent"} | waits,
        name="every-way",
    )
    return charts.folded(told, "All fifteen ways: cost, quality and wait")


def worth_of_knowing(case: Any, doubts: Doubts, a_month: Any) -> Display:
    """A chart of what it would save a month to know each input before choosing."""
    choice, ways = doubts.choice, "starting small and the large tier alone"
    worth = {name: a_month * usd for name, usd in choice.worth().items()}
    cost = a_month * minimum(choice.cost, choice.other)
    return charts.worth_of_knowing(worth, "a month", choice, ways, cost=cost)
