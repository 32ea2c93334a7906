"""What the chapter on hardware to bet on shows: the answer, the radar, and what it rests on."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from scaleright import charts, mlperf
from scaleright.chapters.hardware_radar import evidence, maturity, placing
from scaleright.chapters.hardware_radar import model as radar
from scaleright.chapters.hardware_radar import radar as draw
from scaleright.chapters.hardware_radar.figures import placeable
from scaleright.chapters.hardware_radar.ranks import standing as drawn_standing
from scaleright.charts.displays import Display
from scaleright.charts.ranking import ranking
from scaleright.information import NINETY, expected_shortfall, probability_ahead
from scaleright.ops import item, where
from scaleright.quantity import at, given


def answer(
    case: SimpleNamespace,
    work: placing.Workload,
    on: placing.Placed,
    lead: placing.Lead,
    wins: placing.Won,
    moved: Any,
) -> Display:
    """The chip that leads by the reader's weights, and the next.

    Parameters
    ----------
    moved : points by which a round's software moves a score
    """
    winner, best, next_best, second = lead.chip, lead.points, lead.next_chip, lead.next_points
    weights = placing.weights(case)
    drift, weight = work.drift, sum(weights)
    then = charts.phrase("Next comes the {next_best} with {second:number 3}.")
    likely, short = _sure(lead, moved)
    sure = charts.phrase("Taking it is expected to cost {short:number 2} points.")
    sure = where(next_best == "", "", sure)
    then = where(next_best == "", "No other chip can be placed.", then)
    ahead = charts.confidence(likely, "it still leads after another round's software")
    ahead = where(next_best == "", "", ahead)
    guess = where(at(on.measured, chip=winner) > 0, "", ", placed by its datasheet alone,")
    each = [
        (charts.phrase("the {name} wins {share:percent}"), share >= 0.005)
        for name, share in wins.shares
    ]
    won = "over all weightings of the five axes" + charts.listed(each)
    won = where(wins.there, won, "no chip is known on all five axes")
    refusal = placing.why_none(work, on, weights)
    terms, ages = _terms(case), _ages(case, work, on, winner)
    by = where(weight > 0, charts.phrase(", and the score by {moved:number 2} points"), "")
    return charts.answer_card(
        "By your weights, the {winner}{guess} leads for {case.benchmark} {case.scenario}.",
        "{best:number 3}",
        "of 10 points, of chips {terms}",
        "{ahead}",
        "{then}",
        "{sure}",
        provided=winner != "",
        otherwise="For {case.benchmark} {case.scenario} {refusal}.",
        range="{won}",
        as_of="{ages}",
        model_error="software moves the speed of two chips over each other by up to"
        " {drift:number 3} times from one round to the next (90 %){by}",
        headline="points",
        quantities={
            "points": (best, "number 3"),
            "ahead_of_next_probability": (likely, "percent"),
            "expected_loss_points": (short, "number"),
        },
    )


def _sure(lead: placing.Lead, moved: Any) -> tuple[Any, Any]:
    """Probability that the first stays ahead of the next [1], and the points that taking it is
    expected to cost, by what a round's software moves, nine of ten.
    """
    spread = moved / NINETY
    return probability_ahead(lead.gap, spread), expected_shortfall(lead.gap, spread)


def _terms(case: SimpleNamespace) -> Any:
    """On which terms chips are paid, in words."""
    home = "owned, cards at home and chips made for servers in a data center"
    owned = where(case.setting == "home", home, charts.phrase("owned in a {case.setting}"))
    seller = where(case.seller == "median", "", charts.phrase(" from {case.seller}"))
    rented = charts.phrase("rented {case.contract}{seller}")
    return where(case.paid == "own", owned, rented)


def _ages(case: SimpleNamespace, work: placing.Workload, on: placing.Placed, winner: Any) -> Any:
    """Of which rounds and days the figures are behind the chip that leads, in words."""
    own, base = on.submission, on.base_submission
    reference, old = work.place.reference, base.round
    its_round = at(where(own.there, own.round, "none, by its datasheet"), chip=winner)
    rent, base_rent = at(on.hour.rent.age, chip=winner), on.base_hour.rent.age
    sold = at(on.spec.sold, chip=winner)
    rented = charts.phrase("{rent} (rent of the {winner}), {base_rent} (of the {reference})")
    bought = charts.phrase("{sold} (price of the {winner})")
    paid = where(case.paid == "own", bought, rented)
    rounds = charts.phrase(
        "round {its_round} of MLPerf ({winner}) and {old} (the reference chip, {reference}), {paid}"
    )
    return where(winner == "", "none", rounds)


def standing(lead: placing.Lead, low: Any, high: Any) -> Any:
    """The score of each chip between its ends, as a chart."""
    chip, better_to_have, half = given("chip", ""), "points, by your weights", radar.FULL / 2
    return charts.show(
        drawn_standing(
            placeable(), "chip", low, high, better_to_have, half, color="vendor", along=chip
        ),
        name="standing",
        alt="Score of each chip, those on top that could come highest: the {lead.chip} leads with"
        " {lead.points:number 3} points. A bar is the range of a chip of which an axis is not"
        " known.",
    )


def _trio(case: SimpleNamespace) -> list[Any]:
    """The chips on the radar."""
    return [case.first, case.second, case.third]


def _speed(work: placing.Workload, on: placing.Placed) -> Any:
    """The measured speed of one chip, in words."""
    return charts.phrase("{on.measured:number} {work.place.unit}")


def _more(work: placing.Workload, on: placing.Placed) -> dict[str, Any]:
    """What shows on hover beside the points."""
    speed = where(on.measured > 0, _speed(work, on), "not measured")
    return {"measured speed of one chip": speed}


def _unplaced(case: SimpleNamespace, on: placing.Placed) -> Any:
    """That none of the chips on the radar can be placed; nothing where one can."""
    there = [at(on.of["rate"], chip=name) > 0 for name in _trio(case)]
    return where(there[0] | there[1] | there[2], "", "none of the three was submitted here")


def polygons(
    case: SimpleNamespace, work: placing.Workload, on: placing.Placed, points: Mapping[str, Any]
) -> Any:
    """The points of three chips as a radar."""
    along, more, otherwise = given("chip", ""), _more(work, on), _unplaced(case, on)
    look = {"along": along, "more": more, "otherwise": otherwise}
    shown = draw.radar(placeable(), "chip", points, _trio(case), **look)
    return charts.show(
        shown,
        name="radar",
        alt="Radar of {case.first}, {case.second} and {case.third} on cost, speed, energy, memory"
        " and maturity, 5 points being the {work.place.reference}.",
    )


def dots(
    case: SimpleNamespace, work: placing.Workload, on: placing.Placed, points: Mapping[str, Any]
) -> Any:
    """The same points as dots."""
    chip, scale = given("chip", ""), "points; 5 is the reference chip"
    more = _more(work, on)
    return charts.show(
        draw.profile(placeable(), "chip", points, _trio(case), scale, along=chip, more=more),
        name="profile",
        alt="The points of {case.first}, {case.second} and {case.third} as dots, a row for each"
        " axis.",
    )


def leader(
    case: SimpleNamespace,
    work: placing.Workload,
    on: placing.Placed,
    lead: placing.Lead,
    points: Mapping[str, Any],
) -> Display:
    """The points of the chip that leads, what its speed rests on, and what Clarifai says."""
    its = {axis: at(of, chip=lead.chip) for axis, of in points.items()}
    its = [(charts.say(of, "number 2") + " for " + axis, of > -np.inf) for axis, of in its.items()]
    axes, measured = charts.listed(its), at(on.submission.there, chip=lead.chip)
    in_round = at(on.submission.round, chip=lead.chip)
    basis = charts.phrase("that of round {in_round} of MLPerf")
    basis = where(measured, basis, "its datasheet alone, since nobody submitted it")
    rule = radar.source_rule(placing.weights(case))
    agrees = where(at(on.spec.kind, chip=lead.chip) == rule, "agrees", "disagrees")
    return charts.sentence(
        "The {lead.chip} has {lead.points:number 3} of 10 points{axes}. Its speed is {basis}. With"
        " such weights Clarifai's radar would choose a {rule}, which {agrees} with this answer.",
        provided=lead.chip != "",
        otherwise="No chip leads, so there is nothing to explain.",
    )


def _by_chip(
    work: placing.Workload,
    columns: Mapping[str, Any],
    caption: str,
    formats: Mapping[str, str],
    name: str,
) -> Display:
    """A row for each chip that was measured, in the order of speed."""
    rank = given("rank", 0)
    every = pd.DataFrame({"rank": range(len(work.place.chips.value))})
    ranked = item(work.place.chips, rank)
    rows = every.assign(chip=ranked, **{head: at(of, chip=ranked) for head, of in columns.items()})
    return charts.table(rows, caption, formats=formats, along=rank, name=name)


def measured(
    work: placing.Workload, on: placing.Placed, score: Any, points: Mapping[str, Any]
) -> Display:
    """The points of each chip that was measured, folded."""
    speed = {"speed of one chip": _speed(work, on)}
    found = _by_chip(
        work,
        {"score": score, **points, **speed, **on.submission},
        f"Points of each chip that was measured, the fastest first ({mlperf.LABEL}); a dash where"
        " nothing is known",
        dict.fromkeys(("score", *radar.AXES), "number 2") | {"submitters": "whole"},
        "points",
    )
    return charts.folded(found, "All chips that were measured: their points, and what they rest on")


def mature() -> Display:
    """Six chips by the criteria of maturity."""
    chips = ["H100 SXM", "MI300X", "Arc Pro B60", "TPU v6e", "Gaudi 3", "Trainium2"]
    return charts.table(
        maturity.maturity_table(chips),
        f"Six chips by the ten criteria; the last three: {maturity.counted_in_words()}",
        name="maturity",
    )


def support() -> Display:
    """Support by platform, folded."""
    rows = maturity.support_table()
    told = charts.table(rows, "Support by platform, and where it is written", name="support")
    return charts.folded(told, f"All {len(rows)} facts behind it")


def cost(case: SimpleNamespace, work: placing.Workload, million: Any) -> Any:
    """The cost of the work on each chip as a chart [USD per million]."""
    scale = "USD per million tokens, samples or queries"
    along = given("chip", "")
    return charts.show(
        ranking(placeable(), "chip", million, "usd", scale, most=14, along=along),
        name="cost",
        alt="Cost of a million {work.place.counted} by chip at {case.utilization:percent} of full"
        " load, the cheapest on top.",
    )


def bills(work: placing.Workload, bill: Mapping[str, Any]) -> Display:
    """What each chip that was measured costs, folded."""
    found = _by_chip(
        work,
        bill,
        "What each chip that was measured costs at your utilization; millions and joules are of"
        " tokens, samples or queries; a dash where nobody lists a price or measured power",
        {head: "number 2" if "energy" in head else "usd" for head in bill},
        "ownership",
    )
    summary = "All chips that were measured: by the million, the joule, the month and the gigabyte"
    return charts.folded(found, summary)


def alternatives() -> Display:
    """How much is public of what else could do the work."""
    rows = evidence.alternatives_counted()
    words = "Alternatives, and how many public figures of each this book's tables hold"
    shown = charts.table(rows, words, name="alternatives")
    return charts.folded(shown, f"All {len(rows)} alternatives, and how much of each was measured")


def alternatives_in_words() -> Display:
    """The same in words, folded."""
    told = "What was measured, where, and what to know about it"
    in_words = charts.table(evidence.alternatives_in_words(), told, name="evidence")
    return charts.folded(in_words, "The evidence in words, with sources")


def alternatives_in_short() -> Display:
    """The same in a sentence."""
    return charts.sentence(evidence.alternatives_in_short())


def source(case: SimpleNamespace, span: float) -> Display:
    """Clarifai's words beside points at a span."""
    words = evidence.source_words(span)
    beside = charts.table(
        words,
        "Clarifai's words beside points on stable-diffusion-xl Offline, rented (H100 SXM = 5)",
        formats=dict.fromkeys(words.columns[[2, 4, 5]], "number 2"),
        name="source",
    )
    return charts.at_defaults(beside, case.span)


def source_in_short(span: float) -> Display:
    """Where Clarifai's words hold."""
    return charts.sentence(evidence.tpus_ahead(evidence.source_words(span)))


def doubts(case: SimpleNamespace, lead: placing.Lead, wins: placing.Won, moved: Any) -> Display:
    """What moves the answer: weights, and a round's software."""
    weights, never = placing.weights(case), wins.never
    apart = where(lead.gap < moved, "smaller", "larger")
    two = charts.phrase(
        " The gap of {lead.gap:number 2} points between the first two is {apart} than the"
        " {moved:number 2} by which a round of new software moves a score."
    )
    two = where(lead.next_chip == "", "", two)
    with_speed = placing.share(placing.OVER_SPEED, weights)
    some = charts.phrase("{never:whole} of {wins.placed:whole} chips never win, however you weigh")
    losers = where(never > 0, some, "Each of these chips wins under some weighting")
    return charts.sentence(
        "{losers}.{two} Speed counts more than its weight: cost and energy are divided by speed,"
        " so {with_speed:percent} of the weight here moves with it. Set the weight of speed to 0 if"
        " you do not care how many chips do the work.",
        provided=wins.there & (lead.chip != ""),
        otherwise="No chip leads, so nothing can be said of what would change that.",
    )


def stand_ins() -> Display:
    """How far what stands in is off where both are known."""
    errors = evidence.stand_in_errors()
    return charts.table(
        errors,
        "A chip over the reference chip: stand-in over measurement, as a factor",
        formats=dict.fromkeys(errors.columns[2:], "number 3"),
        name="stand-ins",
    )


def stand_ins_in_short() -> Display:
    """On what stand-ins were tested."""
    chips = " and ".join(evidence.power_tested())
    return charts.sentence(
        f"Power limits were tested only on {chips}, which says little about other vendors. Speed"
        " from a datasheet can be several times off, so it is left out unless you ask for it."
    )


def winners(
    caption: str, cases: Sequence[Mapping[str, Any]], lead: placing.Lead, moved: Sequence[Any]
) -> Display:
    """The chip that leads in each of several cases.

    Parameters
    ----------
    cases : what each is called, and the parameters in which it differs
    moved : these parameters
    """
    what, *names = cases[0]
    rows = pd.DataFrame(cases).assign(winner=lead.chip, points=lead.points)
    rows = rows[[what, "winner", "points", *names]]
    return charts.table(rows, caption, formats={"points": "number 3"}, along=moved)


def axes_alone() -> Display:
    """Why the winners of single axes differ."""
    return charts.sentence(
        "If the winners differ, what you need decides, and your weights say what you need. If"
        " several chips share the top of an axis, the first of them is named."
    )


def rented_and_owned() -> Display:
    """Why renting and owning differ."""
    return charts.sentence(
        "Only the cost axis moves, by how a chip's rent relates to its price; chips that nobody"
        " rents out, or sells, drop out."
    )


def joined(new: placing.Lead, place: Any) -> Display:
    """How high the first of the chips would come that nobody submitted."""
    after = where(new.next_chip != "", charts.phrase(", then the {new.next_chip}"), "")
    return charts.sentence(
        "Of the chips that nobody submitted here, the {new.chip} would rank highest, with"
        " {new.points:number 3} points in place {place:whole}{after}. But nobody"
        " has shown that software reaches their datasheets' speed on this work; the table of"
        " stand-ins says how far off that can be.",
        provided=new.chip != "",
        otherwise="None: no chip without a submission has figures on all axes that weigh.",
    )
