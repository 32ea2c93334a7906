"""What the chapter `plan` shows of a service of the reader's own."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from scaleright import charts
from scaleright.catalog import model as shape
from scaleright.chapters.plan.hardware import SMALL
from scaleright.chapters.plan.limits import rounded
from scaleright.chapters.plan.page import OwnPlan
from scaleright.chapters.plan.service import (
    LADDER_CHIPS,
    LADDER_MODELS,
    LEAST,
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
from scaleright.chapters.plan.serving import LONGER, metered, size_of
from scaleright.charts import Display
from scaleright.charts.busy import engine_size
from scaleright.costs.day_choices import DayChoices
from scaleright.costs.ownership import REGIONS, power_price
from scaleright.costs.token_offers import median_over
from scaleright.decisions import left_out
from scaleright.decisions.build_buy import (
    API,
    COLOCATION,
    CONTRACTS,
    HYBRID,
    LEAST_REQUESTS,
    MULTI_CLOUD,
    RENT,
    ROOM,
    SETTINGS,
    SITE,
    SPILL,
    AtApi,
    ServiceWays,
    arrives,
    lead_months,
)
from scaleright.decisions.plan_workload import STAYS, right_share
from scaleright.footprint import Footprint, Machine, Place, machines, place
from scaleright.inference.formats import USUAL
from scaleright.information import NINETY
from scaleright.market import BEST, Hosts, yearly_drift
from scaleright.ops import exp, first_case, floor, item, log10, maximum, minimum, where
from scaleright.quantity import choose, least
from scaleright.units import DAYS_PER_YEAR, HOURS_PER_DAY

# The nine steps of the plan of a service of the reader's own on the page, and their questions


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
    for why, holds in ((left_out.NO_PROMISE, True), (left_out.NO_ROOM, False)):
        some: Any = False
        for at, chip in enumerate(ways.chips):
            held = tables.engines.rows.row(case.model, chip, USUAL).why == ""
            here = (held if holds else ~held) & ~(
                item(ways.rows["served"], at * len(CONTRACTS)) > 0
            )
            told = told + where(here, where(some, f", {chip}", f"; {why}: {chip}"), "")
            some = some | here
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


MODELS = ("model", "trained_model", "tuned_model")
"""Parameters that name a model which may be served."""


def choices(case: Any) -> tuple[DayChoices, Sequence[str], Hosts]:
    """The rows of what a service chooses: engines, accelerators and hosts.

    case : as `scaleright.parameters.case` reads it
    """
    models = [of for name in MODELS for of in (*case[name].choices, getattr(case, name))]
    models, chips = [*dict.fromkeys(models)], case["accelerator"].choices
    chips = [name for name in chips if name != BEST]
    return DayChoices.of(models, chips), chips, Hosts(models)


def _finite(usd: Any) -> Any:
    """What can be said of a cost: nothing (0) of one that is infinite, where another word stands
    [USD].
    """
    return where(usd < float("inf"), usd, 0.0)


def own_plan(case: Any, ways: ServiceWays, tables: DayChoices, hosts: Hosts) -> OwnPlan:
    """The plan of the reader's own service."""
    (name, usd), (next_, other) = ways.best, ways.runner_up
    some, other = other < float("inf"), _finite(other)
    there = ways.taken.fleet.served & (usd < float("inf"))
    usd, budget = where(there, usd, 0.0), case.budget_usd
    met = usd <= budget
    decision = _decision(ways)
    on = first_case([(next_ == way, it) for way, it in ways.chip.items()], "")
    on = where(on == "", "", charts.phrase(" ({on})"))
    many = charts.phrase("The least of {ways.many:whole} ways compared.")
    second = charts.phrase(" The next kind, {next_}{on}, costs {other:usd} a year.")
    there_ = {"accelerator": ways.chips[0], "requests_per_day": case.requests_per_day}
    at_first = SimpleNamespace(**vars(ways.one.case) | there_)
    small = AtApi.of(at_first, tables, hosts, SMALL)
    half = AtApi.of(at_first, tables, hosts, case.model, 0.5)
    models = [*dict.fromkeys(name for name, *_ in tables.kept)]
    helps, first = _helps(case, ways, usd, small, models)
    off = exp(NINETY * ways.spread_of_best) - 1
    alone = charts.phrase(
        "Certain, since nothing else may be done; the bill may be {off:percent 2} higher."
    )
    broken = charts.phrase("This cannot be done for {budget:usd}; least change: {first}")
    sure = where(some, charts.confidence(ways.sureness, "no other way is cheaper"), alone)
    return OwnPlan(
        work="Serve your own requests",
        per="a year",
        met=met,
        bars=_bars(ways),
        otherwise=charts.phrase(
            "No way is open to serve {case.model} so. Take another accelerator, a slower pace or a"
            " later first token, or allow more ways."
        ),
        decision=where(met, decision, broken),
        usd=usd,
        because=many + where(some, second, " Nothing else may be done.") + _at_host(ways),
        sure=where(
            met,
            sure,
            "As sure as prices and speeds are: both ends of the range would have to be off.",
        ),
        there=there,
        helps=first_case(
            [(~there, "No way is open to you as asked."), (~met, helps)], "Nothing has to give."
        ),
        steps=own_steps(case, ways, decision, Offered(tables, models, half.usd, small.usd)),
        questions=own_questions(ways, models),
    )


def _decision(ways: ServiceWays) -> Any:
    """The cheapest way, as what to do; what is owned already is used first."""
    of, name = ways.taken, ways.best[0]
    chip, used, bought = of.case.accelerator, of.fleet.peak * of.fleet.engine.chips, of.own.chips
    more = of.own.bought
    words = {
        API: charts.phrase("Call an API for {of.case.model}"),
        RENT: charts.phrase("Rent {used:whole} {chip}"),
        MULTI_CLOUD: charts.phrase("Rent {used:whole} {chip} where each is cheapest"),
        COLOCATION: charts.phrase("Buy {bought:whole} {chip} and run them in a colocation"),
        ROOM: charts.phrase("Buy {bought:whole} {chip} and run them in a room of yours"),
        SITE: charts.phrase("Buy {bought:whole} {chip} and build a site for them"),
    }
    own = charts.phrase("Use {used:whole} {chip}: your {of.case.owned_chips:whole} first")
    own = own + where(more > 0, charts.phrase(", and buy {more:whole} more"), "")
    for way in (COLOCATION, ROOM, SITE):
        words[way] = where((of.case.owned == chip) & (of.case.owned_chips > 0), own, words[way])
    rented = of.base.rented
    for way, base in ((HYBRID, of.base), (SPILL, of.spill)):
        chips, new, old = base.chips, base.bought, base.chips - base.bought
        buys = charts.phrase("Buy {chips:whole} {chip}")
        uses = charts.phrase("Use {old:whole} {chip} of your own")
        uses = uses + where(new > 0, charts.phrase(", buy {new:whole} more"), "")
        words[way] = where(old > 0, uses, buys)
    words[HYBRID] = words[HYBRID] + charts.phrase(", and rent up to {rented:whole} more")
    words[SPILL] = words[SPILL] + ", and call an API beyond them"
    return first_case([(name == of, said) for of, said in words.items()], words[SITE])


def _helps(
    case: Any, ways: ServiceWays, usd: Any, small: AtApi, models: Sequence[str]
) -> tuple[Any, Any]:
    """What has to give where the budget is too small, the least change first, in a sentence; and
    the first of them.

    small : a smaller model at an API
    """
    budget, per_day, way = case.budget_usd, case.requests_per_day, ways.best[0]
    needed, fewer = rounded(usd, up=True), rounded(ways.fewer, up=False)
    rights = {name: {"right": right_share(name) or 0.0} for name in models}
    mine, right = choose(rights, case.model).right, right_share(SMALL) or 1.0
    pays = small.there & (small.usd <= budget) & (case.model != SMALL)
    few = (ways.fewer >= LEAST_REQUESTS) & (ways.fewer < per_day)
    of_mine = where(mine > 0, charts.phrase(" instead of {mine:percent}"), "")
    changes = {
        "more money": (
            charts.phrase("spend {needed:usd} a year"),
            needed / budget - 1,
        ),
        "a smaller model": (
            charts.phrase(
                "call {SMALL} at an API: {small.usd:usd} a year, right on {right:percent} of the"
                " requests{of_mine}"
            ),
            where(pays, where(mine > 0, mine / right - 1, 1.0), NAN),
        ),
        "fewer requests": (
            charts.phrase("serve {fewer:whole} requests a day instead of {per_day:whole}"),
            where(few, per_day / where(few, fewer, 1.0) - 1, NAN),
        ),
    }
    # alike in three digits they stand in the order of their parameters, as `least_first` has them
    left = {name: _three_digits(share) for name, (_, share) in changes.items()}
    told, least_change = "", ""
    for rank in range(len(changes)):
        name, share = least(left)
        said = first_case([(name == of, words) for of, (words, _) in changes.items()], "")
        told = told + where(share < float("inf"), ("; or " if rank else "") + said, "")
        least_change = said if not rank else least_change
        left = {of: where(name == of, NAN, it) for of, it in left.items()}
    over = usd / budget
    breaks = charts.phrase(
        "What breaks: the budget of {budget:usd} a year: the cheapest, to {way}, costs {usd:usd},"
        " {over:number} times as much. What would help: "
    )
    return breaks + told + ".", least_change


def _three_digits(value: Any) -> Any:
    size = 10 ** (floor(log10(where(value > 0, value, 1.0))) - 2)
    return floor(value / size + 0.5) * size


def _bars(ways: ServiceWays) -> dict[str, Any]:
    """What each way costs a year, NaN where it may not be done; several clouds stand for renting
    where the service has to run in several regions [USD/year].
    """
    usd = {way: where(of < float("inf"), of, NAN) for way, of in ways.usd.items()}
    several = usd.pop(MULTI_CLOUD)
    return usd | {RENT: where(several > 0, several, usd[RENT])}


def _at_host(ways: ServiceWays) -> Any:
    """Which host stands for the API, at which prices, where it may be called."""
    asked, usd, best = ways.api.asked, ways.usd[API], ways.best[0] == API
    middle = usd * median_over(asked, ways.api.request)
    beside = charts.phrase("; at the median of hosts {middle:usd} a year")
    beside = where(asked.many > 1, beside, "")
    said = charts.phrase(
        " The API is at {asked.input.usd:usd} for a million tokens of input and"
        " {asked.output.usd:usd} of output on {asked.age} ({asked.counted}){beside}."
    )
    return where((usd < float("inf")) & (best | (ways.runner_up[0] == API)), said, "")


def each_way(ways: ServiceWays) -> Display:
    """A year of each way, on the accelerator on which it costs least [USD/year]."""
    infinite, told = float("inf"), {}
    for name, usd in ways.usd.items():
        on = " with " + ways.chip[name] if name in ways.chip else ""
        said = charts.say(_finite(usd), "usd") + on
        told[name] = where(usd < infinite, said, "nothing, it is ruled out")
    api, rent, several, base, spill, shared, site, room = (
        told[of] for of in (API, RENT, MULTI_CLOUD, HYBRID, SPILL, COLOCATION, SITE, ROOM)
    )
    few, many = lead_months()
    rented = where(ways.usd[MULTI_CLOUD] < infinite, several, rent)
    bought, hours = ways.taken.own.chips, ways.taken.own.hours
    return charts.sentence(
        "A year costs <strong>{api}</strong> at an API, <strong>{rented}</strong> rented,"
        " <strong>{base}</strong> with a base of your own and the rest rented,"
        " <strong>{spill}</strong> with one and an API beyond it,"
        " <strong>{shared}</strong> of your own in a colocation, <strong>{site}</strong> on a site"
        " of your own and <strong>{room}</strong> in a room of yours. Of"
        " {ways.taken.case.accelerator} you would buy {bought:whole}, with work for"
        " {hours:hours 2} a day. Servers come {few:whole} to {many:whole} months after the order.",
        provided=ways.taken.fleet.served,
        otherwise="No engine serves it so on the accelerators that you admit.",
    )


def threshold(ways: ServiceWays) -> Display:
    """From which rent a year a site of one's own pays, under the contract [USD/year]."""
    of = ways.taken
    usd, hour, chip = _finite(of.threshold), of.rents.hour, of.case.accelerator
    pays = charts.phrase(
        "At {hour.usd:usd} an hour of {chip} ({of.case.contract}), a site of your own pays above a"
        " rent of {usd:usd} a year."
    )
    never = charts.phrase(
        "At {hour.usd:usd} an hour of {chip} ({of.case.contract}) a site of your own never pays: an"
        " owned hour costs as much as a rented one."
    )
    site_pays = where(of.threshold < float("inf"), pays, never)
    return charts.sentence(
        "{site_pays}",
        provided=hour.there,
        otherwise="Nobody lists such an hour.",
    )


def branch(ways: ServiceWays) -> Display:
    """The branch that Clarifai's tree takes, its money, and that of the cheapest way."""
    name, usd = ways.best
    says, its, usd = ways.taken.says, _finite(ways.of_the_tree), _finite(usd)
    more, there = its - usd, ways.of_the_tree < float("inf")
    same = charts.phrase("That is also the cheapest way that is open to you.")
    dearer = charts.phrase(
        "The cheapest way that is open to you is {name}, at {usd:usd}: {more:usd} a year less."
    )
    found = where(more > 0.005 * usd, dearer, same)
    costs = where(there, charts.phrase("costs {its:usd} a year"), "is ruled out")
    found = where(there, found, charts.phrase("The cheapest that is open is {name}."))
    return charts.sentence(
        "For your case the tree says <strong>{says}</strong>, which {costs}. {found}",
        provided=ways.taken.fleet.served,
        otherwise="No engine serves it so on the accelerators that you admit.",
    )
