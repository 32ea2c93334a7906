"""What the chapter `buy_or_rent` shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scaleright import charts
from scaleright.charts import Display, theme
from scaleright.charts.axes import along_rows, text_of, tooltip, value_axis
from scaleright.charts.lean import alt
from scaleright.charts.words import say
from scaleright.claims import stored
from scaleright.costs.break_even import FleetCost, OwnedCost
from scaleright.decisions.capex_opex import owned_and_published
from scaleright.decisions.hardware_hours import LIMIT_W, cards_beside_chips
from scaleright.information import Choice
from scaleright.market import PaidHour, Rents, rent_or_buy_market
from scaleright.ops import first_case, maximum, minimum, where
from scaleright.order import ordered
from scaleright.quantity import Quantity

# A plane of two inputs that a curve divides between two choices


_GRID = 120
"""Steps along the horizontal axis of a boundary."""
_TALL = "log(boundary_y2 / boundary_y)"
"""The height of the plane."""


def boundary(
    x: tuple[str, Any, Any],
    y: tuple[str, Any, Any],
    at: Any,
    above: str = "own",
    below: str = "rent",
    here: tuple[Any, Any] | None = None,
    kind: str = "number",
    along: Quantity | None = None,
):
    """Which of two choices is cheaper where: a plane that a curve divides, recomputed live, with
    the reader's own case.

    Parameters
    ----------
    x, y : (title, lowest, highest) of the axes, numbers or quantities; the vertical axis is
        logarithmic and both grow to hold the reader's case.
    at : the curve: a quantity, or an expression that reads `alt.datum.x`; it may leave the axis
        and may be infinite.
    above, below : the choices on either side of the curve.
    here : expressions or numbers of the reader's own point.
    kind : how values of the vertical axis are said.
    along : the parameter that runs along the horizontal axis, where the curve is a quantity.

    >>> boundary(("hours", 0, 24), ("USD", 1, 9), 50 / alt.datum.x, here=(8, 4)).height
    320
    """
    grid = _curve(at, kind, along)
    scale = {**_ends("x"), "type": "linear", "zero": False}
    across = alt.X("x:Q", title=x[0], scale=scale, axis=value_axis("number", grid=False))
    height = {"scale": {**_ends("y"), "type": "log"}, "stack": None}
    height |= {"title": y[0], "axis": value_axis(kind, True, "y", grid=False)}

    def up(field: str) -> alt.Y:
        return alt.Y(field, type="quantitative", **height)

    tips = tooltip({x[0]: ("x", ".3~r"), "even at": "_said"})
    color = dict(zip((above, below), theme.colors_for([above, below]), strict=True))
    area = {"opacity": 0.32, "clip": True, "line": False}
    layers = [
        grid.mark_area(color=color[above], **area).encode(
            x=across, y=up("_curve"), y2=alt.Y2("_top:Q")
        ),
        grid.mark_area(color=color[below], **area).encode(
            x=across, y=up("_floor"), y2=alt.Y2("_curve:Q")
        ),
        grid.mark_line(color=theme.INK, strokeWidth=1.5, clip=True).encode(
            x=across, y=up("_curve")
        ),
        grid.mark_rule(opacity=0, strokeWidth=9).encode(
            x=across, y=up("_floor"), y2=alt.Y2("_top:Q"), tooltip=tips
        ),
        *_names(grid, above, below, {"x": across, "y": up("_place")}, here is not None),
    ]
    if here is not None:
        layers += _own_case({"x": across, "y": up("_here")})
    params = (alt.param(name=name, expr=text) for name, text in _corners(x, y, here).items())
    layers[0] = layers[0].add_params(*params)  # every change of the whole would copy all layers
    return alt.layer(*layers, height=320)


def _corners(
    x: tuple[str, Any, Any], y: tuple[str, Any, Any], here: tuple[Any, Any] | None
) -> dict[str, str]:
    """The ends of the axes, which hold the reader's case, and that case."""
    x_low, x_high, y_low, y_high = (text_of(end) for end in (*x[1:], *y[1:]))
    ends = {
        "boundary_x": x_low,
        "boundary_x2": x_high,
        "boundary_y": f"max({y_low}, 1e-9)",
        "boundary_y2": f"max({y_high}, 2 * ({y_low}))",
    }
    if here is None:
        return ends
    return {
        "boundary_x": f"min({x_low}, here_x)",
        "boundary_x2": f"max({x_high}, here_x)",
        "boundary_y": f"min({ends['boundary_y']}, here_y / 1.5)",
        "boundary_y2": f"max({ends['boundary_y2']}, here_y * 1.5)",
        "here_x": text_of(here[0]),
        "here_y": f"max({text_of(here[1])}, 1e-9)",
    }


def _ends(axis: str) -> dict[str, Any]:
    """The part of an axis that is drawn."""
    low, high = (alt.ExprRef(f"boundary_{axis}{end}") for end in ("", "2"))
    return {"domainMax": high, "domainMin": low, "nice": False}


def _curve(at: Any, kind: str, along: Quantity | None) -> alt.Chart:
    """The curve over the steps of the horizontal axis.

    Far beyond the axis it stops: infinity has no place in a drawing.
    """
    grid = alt.Chart(alt.sequence(0, _GRID + 1, as_="_step"))
    grid = grid.transform_calculate(
        x=f"boundary_x + (boundary_x2 - boundary_x) * datum._step / {_GRID}"
    )
    steps, (curve,) = along_rows([at], None if along is None else {along: "x"})
    grid.transform = [*grid.transform, *steps]
    grid = grid.transform_calculate(_at=curve)
    share = (
        f"(isNaN(datum._at) ? 2 : clamp(log(max(datum._at, 1e-12) / boundary_y) / {_TALL}, -1, 2))"
    )
    return grid.transform_calculate(_share=share).transform_calculate(
        _curve=f"boundary_y * exp(datum._share * {_TALL})",
        _floor="boundary_y",
        _top="boundary_y2",
        _said=f"isFinite(datum._at) ? ({text_of(say(alt.datum['_at'], kind))}) : 'nowhere'",
    )


def _names(
    grid: alt.Chart, above: str, below: str, place: dict[str, Any], with_case: bool
) -> list[alt.Chart]:
    """The names of the two choices, each where there is room around it: far from the curve, from
    the edges and from the reader's case.
    """
    room = grid.transform_window(
        _most="max(_share)", _least="min(_share)", frame=[-_GRID // 10, _GRID // 10]
    )
    room = room.transform_filter(
        f"datum._step >= {_GRID // 8} && datum._step <= {_GRID - _GRID // 8}"
    )
    away = "1"
    if with_case:
        aside = "(datum.x - here_x) / (boundary_x2 - boundary_x)"
        apart = f"datum._middle - log(here_y / boundary_y) / {_TALL}"
        away = f"min(1, sqrt(pow(1.6 * ({aside}), 2) + pow({apart}, 2)) / 0.35)"
    spans = {
        above: ("max(0, min(1, datum._most))", "1"),
        below: ("0", "max(0, min(1, datum._least))"),
    }
    texts = []
    for name, (low, high) in spans.items():
        free = room.transform_calculate(_middle=f"({low} + {high}) / 2", _gap=f"{high} - {low}")
        # The last term settles ties: near the middle, and never the same on both of its sides.
        free = free.transform_calculate(
            _score=f"min(datum._gap, 0.6) * {away} - 0.2 * pow(datum._step / {_GRID} - 0.4713, 2)"
        )
        free = free.transform_calculate(
            _place=f"boundary_y * exp(datum._middle * {_TALL})",
            _name=f"datum._gap > 0.11 ? {name!r} : ''",
        )
        free = free.transform_joinaggregate(_best="max(_score)")
        # Never empty: an empty layer has no extent.
        free = free.transform_filter("datum._score == datum._best")
        texts.append(
            free.mark_text(fontSize=16, fontWeight="bold").encode(**place, text=alt.Text("_name:N"))
        )
    return texts


def _own_case(place: dict[str, Any]) -> list[alt.Chart]:
    """The reader's case, a dot with its name."""
    point = alt.Chart(pd.DataFrame({"what": ["your case"]})).transform_calculate(
        x="here_x", _here="here_y"
    )
    along = "(here_x - boundary_x) / (boundary_x2 - boundary_x)"
    side = alt.ExprRef(f"{along} < 0.2 ? 'left' : {along} > 0.8 ? 'right' : 'center'")
    lift = alt.ExprRef(f"here_y * exp(0.15 * {_TALL}) > boundary_y2 ? 17 : -15")
    return [
        point.mark_point(size=110, color=theme.INK, opacity=1).encode(**place),
        point.mark_text(dy=lift, align=side).encode(text=alt.Text("what:N"), **place),
    ]


A_DAY = "hours of use a day"
CAPPED = "break-even use [hours a day]"
EVEN = 0.005
"""Share of a year's bill below which two bills are the same."""


def _pays(break_even_hours: Quantity) -> Any:
    """From how many hours a day owning pays."""
    above = charts.phrase(
        "Against renting by the hour, owning pays above {break_even_hours:hours 2} of use a day."
    )
    never = "Against renting by the hour, owning never pays, however long the day."
    unlisted = "By the hour, nobody of that name rents it out."
    return first_case([(break_even_hours > 24, never), (break_even_hours >= 0, above)], unlisted)


UNCOMPARED = "none, since nothing is compared"


def _even_at(low_hours: Quantity, high_hours: Quantity) -> Any:
    """Between which hours a day that may be, a sentence after a blank."""
    between = charts.phrase(" It may be {low_hours:hours 2} to {high_hours:hours a day} (90 %).")
    beyond = " It is beyond a whole day (90 %)."
    return first_case([(low_hours > 24, beyond), (low_hours >= 0, between)], "")


def _saved(low: Quantity, high: Quantity) -> Any:
    """The range of what is saved in a year, in words."""
    more = -1.0 * low
    less = charts.phrase("{low:usd} to {high:usd} a year less (90 %)")
    either = charts.phrase("{more:usd} a year more to {high:usd} less (90 %)")
    return where(low < 0, either, less)


def _owned_span(owned: tuple[Quantity, ...]) -> Any:
    """The range of what an hour of use costs owned, in words."""
    *_, low, high = owned
    return charts.phrase("{low:usd} to {high:usd} an hour (90 %)")


def _found(case: Any, alone: Quantity, choice: Quantity, even: Quantity) -> tuple[Any, Any]:
    """What is cheaper, and what the number is of, in words."""
    clear = charts.phrase("{choice} one {case.accelerator} is cheaper")
    close = charts.phrase("owning and renting one {case.accelerator} cost the same")
    own = charts.phrase("own one {case.accelerator}: nobody rents it out")
    less = where(even, "a year apart", "a year less")
    per_hour = "an hour of use; a lower rent would be cheaper"
    return where(alone, own, where(even, close, clear)), where(alone, per_hour, less)


def _rent_told(alone: Quantity, hour: PaidHour, taken: Any) -> tuple[Any, Any]:
    """What an hour of rent costs, and of which days that is, in words."""
    rent = charts.phrase("Rent is {hour.usd:usd} an hour ({hour.counted}{taken}).")
    age = charts.phrase("{hour.age} (rents), ")
    return where(alone, "No price of an hour is listed.", rent), where(alone, "", age)


def _chip_dated(case: Any, chip: Any) -> Any:
    """Of which days the price of the chip is, in words."""
    own = abs(case.chip_usd - chip["chip_usd"]) > EVEN * case.chip_usd
    return where(own, "yours", chip["sold"])


def _prices(hour: PaidHour, saving: Quantity, saved: tuple[Quantity, Quantity]) -> dict[str, Any]:
    """What is saved, with its ends [USD/year], and an hour of rent [USD/h], as a card has them."""
    return {
        "saving": (saving, "usd"),
        "hour_usd": (hour.usd, "usd"),
        "hour_counted": (hour.counted, ""),
        "range_low": (saved[0], "usd"),
        "range_high": (saved[1], "usd"),
    }


def answer(
    case: Any,
    chip: Any,
    rents: Rents,
    bill: OwnedCost,
    choice: Quantity,
    saving: Quantity,
    break_even_hours: Quantity,
    months_to_pay: Quantity,
    between: tuple[Quantity, Quantity],
    sure: Choice,
    of: Quantity,
    saved: tuple[Quantity, Quantity],
    owned: tuple[Quantity, ...],
) -> Display:
    """The answer card: what is cheaper, by how much [USD/year], and from how many hours a day; of a
    chip that nobody rents out, the rent below which it would be cheaper.

    chip : its `chip_terms`; between, saved : ends of those hours and of what is saved; sure : how
    sure the choice is [USD/year]; of : of how many contracts this one is the cheapest, 0 if it was
    asked for; owned : whether nobody rents it out, and what an hour of use costs owned, with its
    ends [USD/h]
    """
    pays, even_at, hour, alone = _pays(break_even_hours), _even_at(*between), rents.hour, owned[0]
    low_hours, high_hours = between
    span = where(hour.there & (case.hours_per_day > 0), _saved(*saved), UNCOMPARED)
    likely, known = charts.odds(sure, (case.hours_per_day > 0) & hour.there, choice, " a year")
    taken = where(of > 0, charts.phrase(", the cheapest of {of:whole} contracts"), "")
    elsewhere = " No home houses it: owned it stands in a data center, on the usual terms there."
    moved = where(case.moved, elsewhere, "")
    found, less = _found(case, alone, choice, saving < EVEN * bill.total)
    shown = where(alone, charts.say(owned[1], "usd"), charts.say(saving, "usd"))
    of_owning = charts.phrase("A year of owning it costs {bill.total:usd}.")
    because, span = where(alone, of_owning, pays + even_at), where(alone, _owned_span(owned), span)
    rent, rent_age = _rent_told(alone, hour, taken)
    sold = _chip_dated(case, chip)
    return charts.answer_card(
        "At {case.hours_per_day:hours 2} of use a day, {found}.",
        "{shown}",
        "{less}",
        "{likely}",
        "{because}",
        "{rent}{moved}{known}",
        provided=hour.there | alone,
        otherwise="One <strong>{case.accelerator}</strong> cannot be rented so: {hour.why}. A year"
        " of owning it costs {bill.total:usd}. {pays}{moved}",
        range="{span}",
        as_of="{rent_age}{sold} (price of the chip)",
        model_error="none measured: arithmetic on prices, so as right as its inputs",
        headline="break_even_hours",
        quantities={
            "break_even_hours": (break_even_hours, "hours 2"),
            **_prices(hour, saving, saved),
            "break_even_hours_low": (low_hours, "hours 2"),
            "break_even_hours_high": (high_hours, "hours 2"),
            "owning_cheaper_probability": (sure.probability, "percent"),
            "expected_loss_usd_per_year": (sure.expected_loss, "usd"),
            "months_to_pay": (months_to_pay, "months 2"),
        },
    )


def yearly_cost(
    case: Any, rented: Quantity, owned: Quantity, break_even_hours: Quantity
) -> Display:
    """A year of renting and of owning by hours of use a day [USD/year]."""
    day, hours = {"hours": [half / 2 for half in range(49)]}, case.hours_per_day
    both, axes = {"renting": rented, "owning": owned}, (A_DAY, "USD a year")
    words, even_at = charts.say(break_even_hours, "hours a day"), minimum(break_even_hours, 24.0)
    pays = _pays(break_even_hours)
    return charts.show(
        charts.rule(hours, A_DAY, "you", foot=True, beside=even_at)
        + charts.rule(even_at, A_DAY, words, foot=True, lift=16, beside=hours)
        + charts.lines(day, "hours", both, "usd", *axes, along=hours),
        name="yearly_cost",
        alt="Cost of a year of one {case.accelerator} against hours of use a day: renting rises"
        " from zero, owning starts at its fixed cost and rises with power. {pays}",
    )


def owned_parts(bill: OwnedCost) -> Display:
    """A year of owning by parts [USD/year]."""
    return charts.show(
        charts.stacked_parts(bill.labeled(), "usd", "USD a year"),
        name="owned_parts",
        alt="A year of owning by parts: depreciation, capital, power, facility, maintenance,"
        " insurance and tax, and people add up to {bill.total:usd}.",
    )


def published_costs() -> Display:
    """Published costs of owning beside those of the usual terms."""
    words = "Owning an H100 in a data center: published figures, and the usual terms here"
    return charts.table(owned_and_published(), words, {"published": "usd", "here": "usd"})


def map_of_rents(case: Any, rent: Quantity, owned_hour: Quantity) -> Display:
    """Who wins at which rent [USD/h] and use [h/day], parted by what an owned hour costs."""
    hours, rent = case.hours_per_day, where(rent > 0, rent, owned_hour)  # an axis needs a number
    across, up = (A_DAY, 0, 24), ("rent [USD per hour of use]", rent / 8, rent * 8)
    return charts.show(
        boundary(across, up, owned_hour, here=(hours, rent), along=hours),
        name="map",
        alt="Hours of use a day against rent: below the curve renting is cheaper, above it owning;"
        " the curve falls as use rises, and a dot marks your case.",
    )


def spent_by_month(spent: Mapping[str, Quantity], months: Quantity) -> Display:
    """What has been spent so far, in today's money [USD]."""
    every_other, titles = {"months": range(0, 73, 2)}, ("months", "USD spent")
    return charts.show(
        charts.lines(every_other, "months", spent, "usd", *titles, along=months),
        name="months",
        alt="Money spent against months: renting rises from zero, owning starts at the price; where"
        " they cross, buying has paid. A third line is owning less what the machine would fetch.",
    )


def rule_on_its_example() -> Display:
    """Clarifai's rule of hours a day, recomputed."""
    example = ("S2-4090-rule", "S2-second-year", "S2-4090-power-year", "S2-4090-rule-market")
    words = "The rule recomputed: first from Clarifai's own figures, then from the catalog's"
    return charts.folded(charts.table(stored.table(*example, "S2-h100-rule"), words), words)


def rule_by_hours(
    hours: Quantity, owned_hour: Quantity, used_hour: Quantity, rule: Quantity, computed: Quantity
) -> Display:
    """The rule, and what is computed, at several hours of use a day, beside what an hour of use
    costs owned and rented [USD/h].
    """
    of = [2, 4, 6, 8, 12, 24]
    rows = {"of": of, "hours a day": of, "owned hour [USD]": owned_hour}
    rows |= {"rented hour [USD]": used_hour, "the rule": rule, "computed": computed}
    words = "Your accelerator: the rule, and what is computed at your rent"
    return charts.table(pd.DataFrame(rows), words, along={hours: "of"}, name="the-rule-by-hours")


def _sold() -> pd.DataFrame:
    """The market, the cheapest chip first."""
    return ordered(rent_or_buy_market(), "chip_usd")


def _of_each_chip(case: Any) -> tuple[Quantity, ...]:
    """What the rows of the market give."""
    return case.accelerator, case.chip_usd, case.rent_usd_per_hour


def any_chip(case: Any, hour: PaidHour, use: Quantity) -> Display:
    """Break-even hours of use a day of each chip on the market."""
    said = where(hour.there, charts.say(use, "hours a day"), "no such rent is listed")
    hours, drawn = case.hours_per_day, where(use >= 0, minimum(use, 200.0), 1.0)
    look = {"log": True, "along": _of_each_chip(case), "label": said}
    return charts.show(
        charts.rule(24.0, CAPPED, "a whole day", log=True)
        + charts.rule(maximum(hours, 1.0), CAPPED, "you", log=True, foot=True)
        + charts.bars(_sold(), "accelerator", drawn, "hours 2", CAPPED, **look),
        name="any_chip",
        alt="Break-even hours of use a day for each chip; beyond 24 it is always cheaper to rent.",
    )


def months_to_pay(
    case: Any,
    hour: PaidHour,
    use: Quantity,
    paid_after: Quantity,
    owned_hour: Quantity,
    price: Quantity,
) -> Display:
    """Months until each chip that works around the clock has paid, and what that rests on; folded.

    hour : rented; use : its break-even hours a day; owned_hour : what one costs around the clock
        [USD/h]; price : installed [USD]
    """
    sold = _sold()
    after = where(paid_after > 120, "never in ten years", charts.say(paid_after, "whole"))
    pays = where(use < case.hours_per_day, "own", where(hour.there, "rent", "not listed"))
    each = {"chip": sold["accelerator"], "at your hours": pays, "paid after [months]": after}
    each |= {"owned hour [USD]": owned_hour, "installed [USD]": price}
    each |= {"rent [USD/h]": hour.usd, "listed from [USD/h]": hour.low, "to [USD/h]": hour.high}
    each |= {"rent of": hour.age}
    each |= dict(sold[["accelerator", "chip_usd", "rent_usd_per_hour"]])
    shown = charts.table(
        pd.DataFrame(each),
        "Every chip, and months until it has paid for itself around the clock",
        along=_of_each_chip(case),
        name="months-to-pay",
    )
    return charts.folded(shown, f"Months to pay for all {len(sold)} chips")


def fleet(plans: Mapping[str, FleetCost]) -> Display:
    """A year of the fleet under each plan, by parts [USD/year]."""
    parts = {name: cost.labeled() for name, cost in plans.items()}
    return charts.show(
        charts.stacked_parts(parts, "usd", "USD a year", category="plan"),
        name="fleet",
        alt="A year of the fleet under three plans: rent all, own the baseline and rent the bursts,"
        " own all; each bar is split into owned, power and rent.",
    )


def deployment_tree(branches: pd.DataFrame) -> Display:
    """Clarifai's deployment tree, question by question [USD/year]."""
    bills = dict.fromkeys(("rent", "multi-cloud", "on premises"), "usd")
    shown = charts.table(branches, "The tree, branch by branch; USD a year", bills)
    return charts.folded(shown, "What each branch of the tree costs")


def cards_on_power() -> Display:
    """Two consumer cards beside one chip of a data center."""
    words = "Two consumer cards and one A100, at their limits for three years at $0.10 per kWh"
    formats = {"FP16, FP32 sums": "si FLOP/s"}
    formats |= dict.fromkeys((LIMIT_W, "energy [kWh]"), "whole")
    pair = cards_beside_chips().head(2)
    shown = charts.table(pair[["what", *formats, "its price [USD]"]], words, formats)
    return charts.folded(shown, "Two cards and one A100")


def worth_of_knowing(sure: Choice) -> Display:
    """A chart of what it would save a year to know each input before choosing."""
    return charts.worth_of_knowing(sure.worth(), "a year", sure, "owning and renting")
