"""What the chapter on hardware to bet on shows: the answer, the radar, and what it rests on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pandas as pd

from scaleright import charts, mlperf
from scaleright.chapters.hardware_radar import evidence, model
from scaleright.charts import theme
from scaleright.charts.axes import (
    ROW,
    after,
    along_rows,
    color_scale,
    field_of,
    frame_of,
    one_row,
    row_axis,
    text_of,
    tooltip,
    value_axis,
    value_said,
)
from scaleright.charts.displays import Display
from scaleright.charts.lean import alt
from scaleright.charts.market import SHAPES
from scaleright.charts.marks import _folded
from scaleright.charts.ranking import ranking
from scaleright.charts.words import say
from scaleright.information import NINETY, expected_shortfall, probability_ahead
from scaleright.ops import item, where
from scaleright.quantity import at, given

# A radar of a few things on a few axes, and the same as dots.
#
# The area of a radar's polygon grows with the square of its points and depends on the order of
# the axes; the dots beside it carry the same points without either. A missing value is drawn
# nowhere: the polygon stays open there.


_NAMES = 11.2
"""Where the names of the axes stand."""
_UNIT = "max(26 / max(height, 1), 33 / max(width, 1))"
"""Points a pixel, so that the names of the axes fit on a phone as well."""


def _rows(work: model.Workload, on: model.Placed, points: Mapping[str, Any], trio: Sequence[Any]):
    """A row for each of three chips and each axis: `_axis`, `_value`, `_label`, `_slot`, the place
    among the three, and `_more_0`, its measured speed in words.
    """
    slot = f"indexof([{', '.join(map(text_of, trio))}], datum['chip'])"
    speed = where(on.measured > 0, _speed(work, on), "not measured")
    steps, (*found, speed) = along_rows([*points.values(), speed], given("chip", ""))
    chart = alt.Chart(frame_of(model.placeable())).transform_filter(f"{slot} >= 0")
    chart = chart.transform_calculate(_more_0=field_of(speed))
    chart = _folded(chart, dict(zip(points, found, strict=True)), "_axis")
    chart = chart.transform_filter("isFinite(datum._value)")
    chart = chart.transform_calculate(_slot=f"'' + {slot}", _label=say(value_said(), "number 2"))
    return after(chart, steps)


_SLOTS = ["0", "1", "2"]


def _look() -> dict[str, Any]:
    """Color and shape by place, and what shows on hover."""
    color, shape = (
        channel("_slot:N", scale={"domain": _SLOTS, "range": list(of[:3])}, legend=None)
        for channel, of in ((alt.Color, theme.CYCLE), (alt.Shape, SHAPES))
    )
    lines = {"what": "chip", "axis": "_axis", "points": "_label"}
    tips = tooltip(lines | {"measured speed of one chip": "_more_0"})
    return {"color": color, "shape": shape, "tooltip": tips}


def _key(chart: alt.Chart, trio: Sequence[Any], look: Mapping[str, Any]) -> list[alt.Chart]:
    """The names of three chips in the corner, one below the other, each with its mark if it has a
    row.
    """
    layers, one = [], alt.Chart(one_row())
    for slot, name in zip(_SLOTS, trio, strict=True):
        at = {"x": alt.XValue(6), "y": alt.YValue(10 + 19 * int(slot))}
        mark = chart.transform_filter(f"datum._slot == '{slot}'").mark_point(size=80, opacity=1)
        text = one.mark_text(align="left", baseline="middle")
        said = {"x": alt.XValue(17), "text": alt.Text(value=alt.ExprRef(text_of(name)))}
        layers += [mark.encode(**at, **look), text.encode(**at | said)]
    return layers


def _web(names: Sequence[str], at: Mapping[str, Any]) -> list[alt.Chart]:
    """Rings, spokes and the names at their ends."""
    turn, full = 2 * math.pi / len(names), model.FULL
    corners = [
        {
            "level": level,
            "step": i,
            "x": level * math.sin(i * turn),
            "y": level * math.cos(i * turn),
            "name": names[i % len(names)],
        }
        for level in (full / 4, full / 2, 3 * full / 4, full, _NAMES)
        for i in range(len(names) + 1)
    ]
    grid, thin = alt.Chart(pd.DataFrame(corners)), {"color": theme.GRAY, "opacity": 0.45}
    rings = grid.transform_filter(f"datum.level < {_NAMES}")
    rings = rings.encode(**at, detail=alt.Detail("level:N"), order=alt.Order("step:Q"))
    middle = rings.transform_filter(f"datum.level == {full / 2}")
    spokes = grid.transform_filter(f"datum.level == {full}").transform_calculate(zero="0")
    words = grid.transform_filter(f"datum.level == {_NAMES} && datum.step < {len(names)}")
    layers = [
        rings.mark_line(strokeWidth=1, **thin),
        middle.mark_line(color=theme.GRAY, strokeWidth=1.5, strokeDash=[4, 3]),
        spokes.mark_rule(**thin).encode(**at, x2=alt.X2("zero:Q"), y2=alt.Y2("zero:Q")),
    ]
    sides = {"left": "datum.x > 0.1", "right": "datum.x < -0.1", "center": "abs(datum.x) <= 0.1"}
    for align, test in sides.items():
        side = words.transform_filter(test)
        side = side.mark_text(align=align, baseline="middle", fontWeight="bold")
        layers.append(side.encode(**at, text=alt.Text("name:N")))
    return layers


def _in_the_middle(words: Any) -> alt.Chart:
    """Words, or a quantity of some, in the middle of the chart."""
    across, down = (alt.ExprRef(f"{side} / 2") for side in ("width", "height"))
    text = alt.Text(value=alt.ExprRef(text_of(words)))
    one = alt.Chart(one_row()).mark_text(align="center")
    return one.encode(x=alt.XValue(across), y=alt.YValue(down), text=text)


def _ends(channel: Any, side: str, size: str) -> Any:
    """A side of the radar, as long as the shorter one of the chart allows."""
    ends = [alt.ExprRef(f"{half} * max({size}, 1) * {_UNIT}") for half in (-0.5, 0.5)]
    return channel(f"{side}:Q", scale={"domain": ends, "nice": False, "zero": False}, axis=None)


def polygons(
    case: SimpleNamespace, work: model.Workload, on: model.Placed, points: Mapping[str, Any]
) -> Any:
    """The points of three chips as polygons on spokes; points beyond the scale are drawn at its
    edge.
    """
    trio, otherwise, names = _trio(case), _unplaced(case, on), [*points]
    turn, full = 2 * math.pi / len(names), model.FULL
    at = {"x": _ends(alt.X, "x", "width"), "y": _ends(alt.Y, "y", "height")}
    chart = _rows(work, on, points, trio).transform_calculate(
        _i=f"indexof({names!r}, datum._axis)", _r=f"max(0, min({full}, datum._value))"
    )
    chart = chart.transform_calculate(_next=f"datum['_value_' + (datum._i + 1) % {len(names)}]")
    chart = chart.transform_calculate(
        x=f"datum._r * sin(datum._i * {turn})", y=f"datum._r * cos(datum._i * {turn})"
    )
    edge = chart.transform_filter("isFinite(datum._next)")
    edge = edge.transform_calculate(_s=f"max(0, min({full}, datum._next))").transform_calculate(
        x2=f"datum._s * sin((datum._i + 1) * {turn})", y2=f"datum._s * cos((datum._i + 1) * {turn})"
    )
    look, ends = _look(), {"x2": alt.X2("x2:Q"), "y2": alt.Y2("y2:Q")}
    edges = edge.mark_rule(strokeWidth=2.5).encode(**at, **ends, color=look["color"])
    marks = chart.mark_point(size=70, opacity=1).encode(**at, **look)
    layers = *_web(names, at), edges, marks, *_key(chart, trio, look), _in_the_middle(otherwise)
    return charts.show(
        alt.layer(*layers).properties(height=360),
        name="radar",
        alt="Radar of {case.first}, {case.second} and {case.third} on cost, speed, energy, memory"
        " and maturity, 5 points being the {work.place.reference}.",
    )


def dots(
    case: SimpleNamespace, work: model.Workload, on: model.Placed, points: Mapping[str, Any]
) -> Any:
    """The same points as dots, an axis a row."""
    chart, full = _rows(work, on, points, _trio(case)), model.FULL
    look, title = {"clamp": True, "domain": [0, full]}, "points; 5 is the reference chip"
    x = alt.X("_value:Q", title=title, scale=look, axis=value_axis("number"))
    # Each name has a lane of its own, so that equal points do not hide each other.
    rows = alt.Y("_axis:N", title=None, scale={"domain": [*points]}, axis={"grid": True})
    place = {"x": x, "y": rows, "yOffset": alt.YOffset("_slot:N", scale={"domain": _SLOTS})}
    layers = [chart.mark_point(size=90, opacity=1).encode(**place, **_look())]
    for test, align, shift in (("<=", "left", 9), (">", "right", -9)):
        side = chart.transform_filter(f"datum._value {test} {full / 2}")
        layers.append(side.mark_text(align=align, dx=shift).encode(**place, text="chip:N"))
    return charts.show(
        alt.layer(*layers).properties(height=(17 * len(_SLOTS) + 8) * len(points)),
        name="profile",
        alt="The points of {case.first}, {case.second} and {case.third} as dots, a row for each"
        " axis.",
    )


def _ranked(frame: pd.DataFrame, low: Any, high: Any, most: int) -> alt.Chart:
    """The chips of which less than half is unknown, with their ends and their rank."""
    chart = alt.Chart(frame).transform_calculate(_from=field_of(low), _to=field_of(high))
    close = f"datum._to - datum._from < {model.FULL / 2} ? 1 : 0"
    chart = chart.transform_calculate(_ranked=close)
    # A chart without rows has no scale, so where none is left all of them stay, without a score.
    chart = chart.transform_joinaggregate(_some="max(_ranked)").transform_filter(
        "datum._ranked || !datum._some"
    )
    chart = chart.transform_calculate(
        _low="datum._ranked * datum._from || 0", _high="datum._ranked * datum._to || 0"
    )
    best = [alt.SortField("_high", order="descending"), alt.SortField("_low", order="descending")]
    chart = chart.transform_window(_rank="row_number()", sort=best)
    return chart.transform_filter(f"datum._rank <= {most}")


def standing(lead: model.Lead, low: Any, high: Any, most: int = 15) -> Any:
    """Chips by score, the best that they can be first: a dot where all is known, a bar over what an
    unknown could make of it.

    most : how many to draw
    """
    frame, title = frame_of(model.placeable()), "points, by your weights"
    steps, (low, high) = along_rows([low, high], given("chip", ""))
    chart, known = _ranked(frame, low, high, most), "datum._high - datum._low < 1e-9"
    low, high = (text_of(say(alt.datum[f"_{end}"], "number 3")) for end in ("low", "high"))
    chart = chart.transform_calculate(
        _label=f"datum._ranked ? {known} ? {low} : {low} + ' to ' + {high} : 'no score'"
    )
    scale = {"nice": False, "padding": 10, "zero": False}
    x = alt.X("_low:Q", title=title, scale=scale, axis=value_axis("number"))
    best = alt.EncodingSortField("_rank", op="min", order="ascending")
    y = row_axis("chip", best, labelLimit=170)
    vendors = [of for of in theme.VENDOR if of in set(frame["vendor"])]
    key = {"columns": 6, "symbolOpacity": 1}
    color = alt.Color("vendor", type="nominal", scale=color_scale(vendors), legend=key)
    bars = chart.mark_bar(size=8, opacity=0.45).encode(x=x, x2=alt.X2("_high:Q"), y=y, color=color)
    # Shown or not rather than filtered: a scale of no dots at all has no ends.
    seen = alt.condition(f"datum._ranked && {known}", alt.value(1), alt.value(0))
    tips = tooltip({"what": "chip", title: "_label"})
    dots = chart.mark_point(size=110).encode(x=x, y=y, color=color, opacity=seen, tooltip=tips)
    text = chart.mark_text(style="row-value", dx=9)
    text = text.encode(x=alt.X("_high:Q"), y=y, text=alt.Text("_label:N"))
    layers = alt.layer(bars, dots, text).properties(height=ROW * min(most, len(frame)))
    return charts.show(
        after(layers, steps),
        name="standing",
        alt="Score of each chip, those on top that could come highest: the {lead.chip} leads with"
        " {lead.points:number 3} points. A bar is the range of a chip of which an axis is not"
        " known.",
    )


def answer(
    case: SimpleNamespace,
    work: model.Workload,
    on: model.Placed,
    lead: model.Lead,
    wins: model.Won,
    moved: Any,
) -> Display:
    """The chip that leads by the reader's weights, and the next.

    Parameters
    ----------
    moved : points by which a round's software moves a score
    """
    winner, best, next_best, second = lead.chip, lead.points, lead.next_chip, lead.next_points
    weights = model.weights(case)
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
    refusal = model.why_none(work, on, weights)
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


def _sure(lead: model.Lead, moved: Any) -> tuple[Any, Any]:
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


def _ages(case: SimpleNamespace, work: model.Workload, on: model.Placed, winner: Any) -> Any:
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


def _trio(case: SimpleNamespace) -> list[Any]:
    """The chips on the radar."""
    return [case.first, case.second, case.third]


def _speed(work: model.Workload, on: model.Placed) -> Any:
    """The measured speed of one chip, in words."""
    return charts.phrase("{on.measured:number} {work.place.unit}")


def _unplaced(case: SimpleNamespace, on: model.Placed) -> Any:
    """That none of the chips on the radar can be placed; nothing where one can."""
    there = [at(on.of["rate"], chip=name) > 0 for name in _trio(case)]
    return where(there[0] | there[1] | there[2], "", "none of the three was submitted here")


def _by_chip(
    work: model.Workload,
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
    work: model.Workload, on: model.Placed, score: Any, points: Mapping[str, Any]
) -> Display:
    """The points of each chip that was measured, folded."""
    speed = {"speed of one chip": _speed(work, on)}
    found = _by_chip(
        work,
        {"score": score, **points, **speed, **on.submission},
        f"Points of each chip that was measured, the fastest first ({mlperf.LABEL}); a dash where"
        " nothing is known",
        dict.fromkeys(("score", *model.AXES), "number 2") | {"submitters": "whole"},
        "points",
    )
    return charts.folded(found, "All chips that were measured: their points, and what they rest on")


def mature() -> Display:
    """Six chips by the criteria of maturity."""
    chips = ["H100 SXM", "MI300X", "Arc Pro B60", "TPU v6e", "Gaudi 3", "Trainium2"]
    return charts.table(
        model.maturity_table(chips),
        f"Six chips by the ten criteria; the last three: {model.counted_in_words()}",
        name="maturity",
    )


def support() -> Display:
    """Support by platform, folded."""
    rows = model.support_table()
    told = charts.table(rows, "Support by platform, and where it is written", name="support")
    return charts.folded(told, f"All {len(rows)} facts behind it")


def cost(case: SimpleNamespace, work: model.Workload, million: Any) -> Any:
    """The cost of the work on each chip as a chart [USD per million]."""
    scale = "USD per million tokens, samples or queries"
    along = given("chip", "")
    return charts.show(
        ranking(model.placeable(), "chip", million, "usd", scale, most=14, along=along),
        name="cost",
        alt="Cost of a million {work.place.counted} by chip at {case.utilization:percent} of full"
        " load, the cheapest on top.",
    )


def bills(work: model.Workload, bill: Mapping[str, Any]) -> Display:
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


def stand_ins() -> Display:
    """How far what stands in is off where both are known."""
    errors = evidence.stand_in_errors()
    return charts.table(
        errors,
        "A chip over the reference chip: stand-in over measurement, as a factor",
        formats=dict.fromkeys(errors.columns[2:], "number 3"),
        name="stand-ins",
    )


def winners(
    caption: str, cases: Sequence[Mapping[str, Any]], lead: model.Lead, moved: Sequence[Any]
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
