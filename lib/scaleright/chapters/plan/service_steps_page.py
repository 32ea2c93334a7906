"""The nine steps of the plan of a service of the reader's own on the page, and their questions."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from scaleright import charts
from scaleright.catalog import model as shape
from scaleright.chapters.plan.fleets import SMALL
from scaleright.chapters.plan.service_changes import (
    QUARTER,
    QUICKER,
    SLOWER,
    SOONER,
    SPOT,
    TENFOLD,
    TENTH,
    WAITING,
    Changed,
)
from scaleright.chapters.plan.service_levers import LADDER_CHIPS, LADDER_MODELS, LEAST
from scaleright.chapters.plan.service_steps import LONGER, metered, size_of
from scaleright.charts.busy import engine_size
from scaleright.costs.day_choices import DayChoices
from scaleright.costs.regional_power import REGIONS, power_price
from scaleright.decisions import left_out
from scaleright.decisions.build_buy import (
    API,
    COLOCATION,
    CONTRACTS,
    HYBRID,
    RENT,
    ROOM,
    SETTINGS,
    SPILL,
    ServiceWays,
    arrives,
)
from scaleright.decisions.plan_workload import STAYS, right_share
from scaleright.footprint import Footprint, Machine, Place, machines, place
from scaleright.inference.formats import USUAL
from scaleright.market import BEST, yearly_drift
from scaleright.ops import first_case, floor, item, maximum, minimum, where
from scaleright.quantity import choose, least
from scaleright.units import DAYS_PER_YEAR, HOURS_PER_DAY

NAN = float("nan")
Step = tuple[Any, Any]


class Offered(NamedTuple):
    """What the page offers beside the ways: rows of a day, models, and what an API asks a year if
    half of each prompt were cached, or for a smaller model [USD/year].
    """

    tables: DayChoices
    models: Sequence[str]
    half: Any
    small: Any


def own_steps(case: Any, ways: ServiceWays, decision: Any, of: Offered) -> dict[int, Step]:
    """What to do and why, by number of the step."""
    changed, name = Changed.of(ways, of.tables), ways.best[0]
    owned = first_case([(name == of, True) for of in SETTINGS], False)
    return {
        1: _demand(case, ways),
        2: _supply(case, ways, decision),
        3: _size(case, of.models),
        4: _hardware(case, ways, of.tables),
        5: _layout(ways),
        6: _levers(case, ways, changed, of),
        7: _measure(ways, owned),
        8: _energy(case, ways),
        9: _change(case, ways, changed, owned),
    }


def _lengths(ways: ServiceWays) -> tuple[Any, Any]:
    """Whole tokens of a prompt and of an answer."""
    load = ways.taken.fleet.traffic.load
    return floor(load.input_tokens + 0.5), floor(load.output_tokens + 0.5)


def _demand(case: Any, ways: ServiceWays) -> Step:
    (reads, writes), per_day = _lengths(ways), case.requests_per_day
    each_s, in_, out = per_day / 86_400, per_day * reads, per_day * writes
    return (
        charts.phrase(
            "{per_day:whole} requests a day, of {reads:whole} tokens in and {writes:whole} out"
        ),
        charts.phrase(
            "{each_s:number} a second on average, {case.peak_to_mean:number} times that at the"
            " busiest time; {in_:count} tokens read and {out:count} written a day; first token"
            " within {case.ttft_s:number} s for nineteen of twenty, then"
            " {case.pace_tokens_per_s:number} tokens a second for each reader"
        ),
    )


def _supply(case: Any, ways: ServiceWays, decision: Any) -> Step:
    of, name, infinite = ways.taken, ways.best[0], float("inf")
    shown: Any = ""
    for way, usd in ways.usd.items():
        on = " (" + ways.chip[way] + ")" if way in ways.chip else ""
        said = way + on + ": " + charts.say(where(usd < infinite, usd, 0.0), "usd") + " a year"
        shown = where(usd < infinite, where(shown == "", said, shown + "; " + said), shown)
    prices = {way: terms.price_usd * of.own.bought for way, terms in of.own.terms.items()}
    single = where(
        of.own.chip.server > 0, *(of.own.terms[at].price_usd for at in (COLOCATION, ROOM))
    )
    prices |= {HYBRID: single * of.base.bought, SPILL: single * of.spill.bought}
    buys = first_case([(name == way, usd) for way, usd in prices.items()], 0.0)
    by_region = {at: {"said": power_price(at, SETTINGS[COLOCATION]).said(at)} for at in REGIONS}
    comes = arrives()
    power = choose(by_region, case.region).said
    start = charts.phrase("; {buys:usd} at the start for what is bought, which the bill spreads")
    late = where(of.own.chip.server > 0, charts.phrase("; {comes}"), "")
    usd = ways.best[1]
    share = where(usd < infinite, usd, 0.0) / case.budget_usd
    return (
        decision,
        shown
        + where(buys > 0, start + late, "")
        + charts.phrase("; {power} for chips of your own; that is {share:percent} of the budget")
        + where((case.data == STAYS) | (case.contract != BEST), "", "; " + LONGER),
    )


def _size(case: Any, models: Sequence[str]) -> Step:
    known = {name: size_of(name) for name in models}
    words = {
        name: {"says": of.says.removesuffix("."), "told": "; ".join(of.because)}
        for name, of in known.items()
    }
    row = choose(words, case.model)
    return row.says, row.told


def _hardware(case: Any, ways: ServiceWays, tables: DayChoices) -> Step:
    of, name = ways.taken, ways.best[0]
    chip, weights, lent = of.case.accelerator, of.fleet.weights.precision, of.fleet.lent
    own = charts.phrase("{chip}, in {weights}, on which this costs least")
    api = charts.phrase("No chips of your own; if you rented, {chip} in {weights}")
    each, per_s = of.fleet.engine.chips, of.fleet.engine.requests_per_s
    hour = of.rents.hour
    price = charts.phrase(", {hour.usd:usd} an hour each ({hour.counted}, {hour.age})")
    rented = where(hour.there, price, "")
    how = charts.phrase(" (how fast it is: {lent})")
    told = charts.phrase(
        "an engine of {each:whole chips} serves {per_s:number} requests a second when full"
    )
    told = told + rented + where(lent == "", "", how)
    return where(name == API, api, own), told + _left_out(case, ways, tables)


def _unserved(case: Any, ways: ServiceWays, tables: DayChoices) -> Any:
    """Accelerators that do not serve it, and why."""
    told: Any = ""
    for at, chip in enumerate(ways.chips):
        held = tables.engines.rows.row(case.model, chip, USUAL).why == ""
        why = where(held, left_out.NO_PROMISE, left_out.NO_ROOM)
        served = item(ways.rows["served"], at * len(CONTRACTS)) > 0
        told = told + where(served, "", charts.phrase(f"; {chip}: {{why}}"))
    return told


def _left_out(case: Any, ways: ServiceWays, tables: DayChoices) -> Any:
    """What is left out and why; what an hour of the newest that nobody lists would have to cost is
    a search that only the command makes, since their engines would weigh as much as all others.
    """
    newest = " and ".join(left_out.unlisted())
    rents = f"; below which rent {newest} would win is said by the command, scaleright plan"
    told = _unserved(case, ways, tables) + "; " + left_out.told(left_out.of_services())
    told = told + where(case.data == STAYS, "", rents)
    return where(case.accelerator == BEST, told, "")


def _layout(ways: ServiceWays) -> Step:
    of = ways.taken.fleet
    each, seats, full = engine_size(of.engine), of.engine.seats, of.utilization(24.0 * of.peak)
    spare = charts.phrase(", with {of.spare_engines:whole engines} to spare")
    spare = where(of.spare_engines > 0, spare, "")
    kept = where(ways.best[0] == API, "If you rented: ", "")
    sits = of.engine.service_s
    return (
        kept
        + charts.phrase("{of.peak:whole engines} of {each}, {seats:whole} at once each")
        + spare,
        charts.phrase(
            "a request sits {sits:duration}; so many at the busiest time, over the day they are"
            " {full:percent} full"
        ),
    )


def _levers(case: Any, ways: ServiceWays, changed: Changed, offered: Offered) -> Step:
    """Those of a fleet, or of an API; each with what it saves."""
    name = ways.best[0]
    api, rented = name == API, name == RENT
    needs = {
        WAITING: "needs work that nobody waits for, such as summaries at night",
        SLOWER: "the price is that of the promise",
        SPOT: "the contract has to hold",
        QUARTER: "the contract has to hold",
    }
    saved = {of: where(api, 0.0, changed.saved(of, rented)) for of in needs}
    cached, small = (
        "keep the first half of prompts the same",
        f"call {SMALL} where it is good enough",
    )
    right = right_share(SMALL) or 0.0
    needs |= {cached: "needs prompts that begin alike: system prompts and conversations"}
    needs |= {small: charts.phrase("it is right on {right:percent} of usual requests")}
    saved[cached] = where(api, 1 - offered.half / ways.api.usd, 0.0)
    saved[small] = where(api & (case.model != SMALL), 1 - offered.small / ways.api.usd, 0.0)
    left, told = {of: where(it > LEAST, -it, NAN) for of, it in saved.items()}, ""
    first, best = least(left)
    most = -best
    for _ in saved:
        which, less = least(left)
        it = -less
        need = first_case([(which == of, why) for of, why in needs.items()], "")
        said = charts.phrase("{which}: {it:percent} less; {need}")
        told = where(it > 0, where(told == "", said, told + "; " + said), told)
        left = {of: where(which == of, NAN, it) for of, it in left.items()}
    none = "None that was tried saves any: the bill is about as small as it can be"
    says = charts.phrase("First {first}: {most:percent} less")
    return where(most > 0, says, none), where(told == "", "the ladder of levers has others", told)


def _measure(ways: ServiceWays, owned: Any) -> Step:
    low, high = ways.taken.fleet.low, ways.taken.fleet.high
    down, up = yearly_drift().mean_over(1.0)
    rents = charts.phrase(
        "; what three sellers quote for the term: a year from now rents may be {down:number 2} to"
        " {up:number 3} of today's"
    )
    return (
        "First your own traffic: log a week of requests with times and lengths",
        charts.phrase(
            "the busiest time, bursts and lengths here are those of a published hour; tokens a"
            " second of one engine on your own requests: published engines wrote {low:number 2} to"
            " {high:number 3} of what is predicted"
        )
        + where(owned, "", rents)
        + "; how often the model is right on your own questions: published scores are not yours",
    )


def _energy(case: Any, ways: ServiceWays) -> Step:
    fleet, pooled, api = ways.taken.fleet, ways.pooled, ways.best[0] == API
    chip = where(api, pooled.chip, ways.taken.case.accelerator)
    full = minimum(fleet.utilization(HOURS_PER_DAY * fleet.peak), 1.0)
    full = where(api, pooled.utilization, full)
    busy = where(api, pooled.busy_hours, fleet.least_hours * fleet.engine.chips)
    serving = {name: of for (name, work), of in machines(ways.chips).items() if work == "serving"}
    here = Machine(**choose(serving, chip))
    places = {of: vars(place(of)) for of in REGIONS}
    at, sweden = Place(**choose(places, case.region)), place("Sweden")
    made, there = (Footprint.of(here, DAYS_PER_YEAR * busy, full, of) for of in (at, sweden))
    watt_hours, carbon, other = made.energy.watt_hours, made.carbon.total, there.carbon.total
    share = made.carbon.embodied_share
    beside = where(api, charts.phrase("At an API on {chip} about "), "")
    return (
        beside
        + charts.phrase(
            "{watt_hours:si Wh} of electricity and {carbon:mass} of CO2e a year in {case.region}"
        ),
        charts.phrase(
            "in Sweden it would be {other:mass}; {share:percent} of it is from making the hardware;"
            " what such chips draw in serving"
        ),
    )


def _change(case: Any, ways: ServiceWays, changed: Changed, owned: Any) -> Step:
    chip, turn, holds = ways.taken.case.accelerator, changed.turn, changed.holds
    asked, bought = case.requests_per_day, ways.taken.own.chips
    never = charts.phrase("Renting {chip} is cheaper than the API at no number of requests")
    turns = charts.phrase(
        "Renting {chip} is cheaper than the API from about {turn:count 2} requests a day; you have"
        " {asked:count}"
    )
    with_api = where(turn > 0, turns, never)
    hold = charts.phrase("{bought:whole} {chip} hold about {holds:count 2} requests a day")
    size = "Ten times the requests would change the size of the fleet, not what is done"
    told: Any = where(owned & (ways.usd[API] < float("inf")), hold + "; ", "")
    for name in (TENTH, TENFOLD, SOONER, QUICKER):
        usd, chips = changed.usd[name], changed.chips[name]
        rented, used = (
            charts.say(usd, "usd") + " a day rented",
            charts.say(chips, "whole") + " " + chip,
        )
        none = "no " + chip + " keeps that"
        said = where(owned & (chips > 0), used, where(usd > 0, rented, none))
        told = told + name + ": " + said + ("; " if name != QUICKER else "")
    leaves = where(
        case.data == "may leave", "", "; if the data might leave, more ways would be open"
    )
    there = ways.usd[API] < float("inf")
    return where(there, with_api, where(owned & (holds > 0), hold, size)), told + leaves


def own_questions(ways: ServiceWays, models: Sequence[str]) -> dict[int, Any]:
    """The commands that put the reader's own service to the chapters, by step."""
    of, case, api = ways.taken, ways.taken.case, ways.best[0] == API
    reads, writes = _lengths(ways)
    service = charts.phrase(
        '-p model="{case.model}" -p requests_per_day={case.requests_per_day:typed}'
        " -p peak_to_mean={case.peak_to_mean:typed}"
        ' -p pace_tokens_per_s={case.pace_tokens_per_s:typed} -p contract="{case.contract}"'
    )
    promise = charts.phrase(
        " -p ttft_s={case.ttft_s:typed} -p spare_engines={case.spare_engines:typed}"
    )
    day = charts.phrase(
        'scaleright run load_of_a_day {service} -p accelerator="{case.accelerator}"'
        ' -p trace="{case.trace}"{promise}'
    )
    request = charts.phrase("-p input_tokens={reads:typed} -p output_tokens={writes:typed}")
    lengths = charts.phrase('-p traffic="{case.trace}" {request}')
    bill = charts.phrase("scaleright run economics_stack {service} {lengths}{promise}")
    compared = charts.phrase("scaleright run hardware_compare {service} {lengths}")
    routed = charts.phrase(
        "scaleright run model_routing -p requests_per_day={case.requests_per_day:typed} {request}"
    )
    cached = ways.api.request[2]
    asked = charts.phrase(
        'scaleright run token_cost -p model="{case.model}" {request} -p cached_share={cached:typed}'
        " -p pace_tokens_per_s={case.pace_tokens_per_s:typed} -p ttft_s={case.ttft_s:typed}"
    )
    return {
        1: day,
        2: where(api, asked, bill),
        3: routed,
        4: compared,
        5: day,
        6: where(api, asked, _ladder(case, day, request, models)),
        7: day,
        8: _footprint(ways, models),
        9: bill,
    }


def _ladder(case: Any, day: Any, request: Any, models: Sequence[str]) -> Any:
    """The question to the chapter on the ladder of levers, if it has model and chip; else that to
    the chapter on a day with work that waits.
    """
    name = choose({name: {"ladder": shape(name).name} for name in models}, case.model).ladder
    has = first_case([(name == one, True) for one in LADDER_MODELS], False)
    has = has & first_case([(case.accelerator == one, True) for one in LADDER_CHIPS], False)
    per_s, apart = maximum(case.requests_per_day / 86_400, 0.1), 1e3 / case.pace_tokens_per_s
    ladder = charts.phrase(
        'scaleright run inference_ladder -p model="{name}" -p accelerator="{case.accelerator}"'
        ' -p contract="on demand" -p precision=usual -p requests_per_s={per_s:typed} {request}'
        ' -p traffic="{case.trace}" -p peak_to_mean={case.peak_to_mean:typed}'
        " -p tpot_ms={apart:typed} -p ttft_s={case.ttft_s:typed} -p services=1 -p variants=1"
    )
    return where(has, ladder, day + " -p waiting_share=0.3")


def _footprint(ways: ServiceWays, models: Sequence[str]) -> Any:
    """The question to the chapter on energy, of the model and the chip if somebody metered them."""
    case, api = ways.taken.case, ways.best[0] == API
    chip = where(api, ways.pooled.chip, case.accelerator)
    known = {
        (name, of): {"model": metered(name, of).get("model", "")}
        for name in models
        for of in ways.chips
    }
    model = choose(known, case.model, chip).model
    of = charts.phrase(' -p model="{model}" -p accelerator="{chip}"')
    place_ = charts.phrase('scaleright run sustainability -p place="{case.region}"')
    return place_ + where(model == "", "", of)
