"""What the chapter `token_cost` shows."""

from typing import Any

import numpy as np

from scaleright import charts
from scaleright.charts import Display
from scaleright.charts.busy import utilization_source
from scaleright.charts.live import Controls
from scaleright.costs.break_even import usd_per_hour_to_win
from scaleright.costs.serving import Month, Ways, usd_per_month
from scaleright.costs.token_offers import Found, ServingChoices, median_over, offers_sheet
from scaleright.costs.tokens import usd_per_million_tokens
from scaleright.decisions.serving_options import ASK_API, OWN_IT, RENT_IT, ServingOptions
from scaleright.inference.demand import Busy, usual_peaks
from scaleright.inference.node_speed import NodeSpeed
from scaleright.market import BEST, PaidTokens
from scaleright.ops import first_case, minimum, where

ACROSS, UP = "utilization", "USD per million output tokens"
"""Axes of the charts."""


def controls(case: Any) -> tuple[Controls, ServingChoices]:
    """The controls of the page, and the rows of what they choose."""
    choices = {of: case[of].choices for of in ("model", "accelerator", "setting")}
    chips = [name for name in choices["accelerator"] if name != BEST]
    tables = ServingChoices.of(choices["model"], chips, choices["setting"])
    live = charts.controls(case)
    live.follow("setting", tables.settings, usd_per_kwh="usd_per_kwh")
    live.follow("traffic", usual_peaks())
    return live, tables


def answer(
    case: Any, options: ServingOptions, found: Found, evens: tuple[Any, Any], busy: Busy
) -> Display:
    """The answer card: the cheapest way of all, beside the next of another kind; how sure.

    evens : low and high end of the break-even of renting [1]
    """
    speed, (rented, owned, api), (even, own_even), _, paid = found
    best, (low, high), (hour, asked) = options.best, options.best.ends, paid
    thousand = options.usd_per_thousand_requests
    likely, loss = charts.odds(
        options.choice, options.known, options.kind, " per million", options.rival
    )
    beats = _beats(case, options, busy)
    further = where(options.known, _further(case, options, found, evens) + loss, "")
    judged = charts.predicted_within(speed.low, speed.high, speed.lent)
    judged = where(speed.served, judged, "none, since nothing is predicted")
    advice, others, sold = _advice(case, options), _others(options), options.taken.chip["sold"]
    bought = where(owned > 0, charts.phrase(", {sold} (prices of accelerators)"), "")
    named = "needs a named accelerator: a rent or a price of your own is that of one."
    unserved = where(options.nameless, named, _unserved(case, found, busy))
    rents = where(hour.there, charts.phrase("{hour.age} (rents), "), "")
    source = utilization_source(busy)
    asks = where(asked.best, "its cheapest host to the median of all", "what its hosts ask")
    per = where(options.kind == ASK_API, asks, "90 %")
    ends = charts.between(low, high, "usd")
    span = charts.phrase("{ends} per million output tokens ({per})")
    span = where(options.known | found.alone, span, "none, since nothing is served at a price")
    return charts.answer_card(
        "{advice}.",
        "{best.usd:usd}",
        "a million output tokens with their prompts, {thousand:usd} for a thousand requests: the"
        " least of {options.ways:whole} ways compared; {others}",
        "{likely}",
        "{beats}; your utilization is {case.utilization:percent}, {source}.",
        "{further}",
        provided=options.known,
        otherwise="<strong>{case.model}</strong> {unserved}",
        range="{span}",
        as_of="{rents}{asked.age} (APIs){bought}",
        model_error="{judged}",
        headline="usd_per_million",
        quantities={
            "usd_per_million": (best.usd, "usd"),
            "usd_per_thousand_requests": (thousand, "usd"),
            "range_low": (low, "usd"),
            "range_high": (high, "usd"),
            "rented_usd_per_million": (rented, "usd"),
            "owned_usd_per_million": (owned, "usd"),
            "api_usd_per_million": (api, "usd"),
            "cheapest_probability": (options.choice.probability, "percent"),
            "expected_loss_usd_per_million": (options.choice.expected_loss, "usd"),
            "break_even_utilization": (even, "percent"),
            "owned_break_even_utilization": (own_even, "percent"),
        },
    )


def _beats(case: Any, options: ServingOptions, busy: Busy) -> Any:
    """From which load renting and owning beat the API; where nobody rents the accelerator out, at
    which rent that would be the cheapest way.
    """
    speed, (_, owned, _), (even, own_even), _, (hour, _) = options.taken.found
    # a million tokens at a dollar an hour: their hours
    hours = usd_per_million_tokens(1.0, speed.tokens_per_s, busy.share)
    fair = usd_per_hour_to_win(options.best.usd, hours)
    owning = where(owned > 0, charts.phrase(", owning it {own_even:load}"), "")
    beats = charts.phrase("Renting {case.accelerator} beats the API {even:load}{owning}")
    bare = charts.phrase(
        "Nobody rents {case.accelerator} out, so renting it is left out: it would be the cheapest"
        " below {fair:usd} an hour; owning it beats the API {own_even:load}"
    )
    return where(hour.there, beats, bare)


def _unserved(case: Any, found: Found, busy: Busy) -> Any:
    """What there is to say where a way has no price, in words."""
    speed, (rented, owned, api), *_, (hour, asked) = found
    paid, source = found.paid, utilization_source(busy)
    refusal = where(speed.served, charts.phrase("{paid.why}."), _refusal(speed))
    at_api = charts.phrase(
        " APIs ask {api:usd} per million output tokens with their prompts ({asked.counted})."
    )
    at_api = where(asked.there, at_api, "")
    owns = where(owned > 0, charts.phrase(", {owned:usd} on owned ones"), "")
    alone = charts.phrase(
        "in {speed.precision} costs {rented:usd} per million output tokens with prompts on rented"
        " {case.accelerator} at {case.utilization:percent} utilization, {source}, and"
        " {hour.usd:usd} an hour ({hour.counted}){owns}. When that is cheaper"
        " than an API cannot be said: {asked.why}."
    )
    unserved = charts.phrase(
        "cannot be served at a price on {case.accelerator} in {speed.precision} with"
        " {case.pace_tokens_per_s:number 2} tokens per second per user: {refusal}{at_api}"
    )
    return where(found.alone, alone, unserved)


def _advice(case: Any, options: ServingOptions) -> Any:
    """What to do, in words."""
    rent, own, kind = options.rented, options.owned, options.kind
    rents = charts.phrase("Rent {rent.accelerator} for {case.model}")
    owns = charts.phrase("Own {own.accelerator} for {case.model}")
    asks = charts.phrase("Call an API for {case.model}")
    return first_case([(kind == RENT_IT, rents), (kind == OWN_IT, owns)], asks)


def _at_host(asked: PaidTokens, usd: Any, mix: tuple[Any, Any, Any]) -> Any:
    """Which host it is that an API is compared by, and what the median of hosts asks, in words."""
    middle = usd * median_over(asked, mix)
    beside = where(asked.best, charts.phrase("; at the median of hosts {middle:usd}"), "")
    return charts.phrase(
        "The API is at {asked.input.usd:usd} for a million input tokens and {asked.output.usd:usd}"
        " for output on {asked.age} ({asked.counted}), {usd:usd} for output with its"
        " prompts{beside}."
    )


def _others(options: ServingOptions) -> Any:
    """What the cheapest of each other kind costs, in words."""
    rent, own, api = (options.kinds[of] for of in (RENT_IT, OWN_IT, ASK_API))
    words = {
        RENT_IT: charts.phrase("{rent.usd:usd} rented ({rent.accelerator})"),
        OWN_IT: charts.phrase("{own.usd:usd} owned ({own.accelerator})"),
        ASK_API: charts.phrase("{api.usd:usd} at the API"),
    }
    said: Any = ""
    for kind, way in options.kinds.items():
        shown = (options.kind != kind) & (way.usd > 0)
        said = where(shown, where(said == "", "", said + ", ") + words[kind], said)
    return where(said == "", "nothing else has a price", said)


def _further(case: Any, options: ServingOptions, found: Found, evens: tuple[Any, Any]) -> Any:
    """How it is served and paid, what owning asks at the start, and the range of the break-even, in
    words.
    """
    speed, *_, (hour, asked) = found
    even_low, even_high = evens
    start, place = options.taken.terms.price_usd, options.taken.factors["place"]
    owns = charts.phrase(
        "owned ({place}) each takes {start:usd} at the start, with its part of a server and of the"
        " network"
    )
    owns = where(start > 0, owns, "nobody sells one, so that it cannot be owned")
    mix = case.input_tokens, case.output_tokens, case.cached_share
    at_host = _at_host(asked, found.price.api, mix)
    top = where(even_high > 1, "beyond full load", charts.say(even_high, "percent"))
    between = where(even_low > 1, top, charts.phrase("{even_low:percent} to {top}"))
    between = where(hour.there, charts.phrase(" Break-even of renting: {between} (90 %)."), "")
    rents = charts.phrase(
        " rented ({case.contract}) an hour costs {hour.usd:usd} ({hour.counted});"
    )
    rents = where(hour.there, rents, "")
    return charts.phrase(
        "On {case.accelerator} the model runs in {speed.precision}, with"
        " {case.pace_tokens_per_s:number 2} tokens per second or more per user;{rents} {owns};"
        " engines are of {speed.chips:whole accelerators}. {at_host}{between}"
    )


def _refusal(speed: NodeSpeed) -> Any:
    """Why nothing is served, and what helps."""
    quickest = charts.phrase("the quickest engine of one node gives {speed.best_pace:number}.")
    slow = quickest + " Ask for fewer tokens per second, or choose another accelerator."
    long = "such requests do not fit in a node's memory. Shorten them or change the chip."
    no_node = "no node of this accelerator holds the model. Choose another, or fewer bits."
    return first_case([(speed.slow, slow), (speed.held, long), speed.weights.refusal], no_node)


def cost_by_load(case: Any, found: Found) -> Display:
    """A chart of the price rented and owned against utilization, beside that of APIs."""
    speed, price, evens, service, paid = found
    even, load, costs = evens.rented, case.utilization, price.on_hardware
    loads = {"load": [x / 100 for x in (2, 3, 4, 5, 6, 8, *range(10, 101, 2))]}
    look = {"log_y": True, "x_kind": "percent", "along": load}
    meets = where(even > 1, "never", "even at " + charts.say(even, "percent"))
    meets = where(found.known, meets, where(found.short == "", "no API", found.short))
    even_at = where(even < 1, even, 1.0)
    return charts.show(
        charts.band(*service.api_interval(price.api), UP, "what APIs ask", log=True)
        + charts.rule(price.api, UP, "API", horizontal=True, log=True)
        + charts.rule(load, ACROSS, "you", foot=True, beside=even_at)
        + charts.rule(even_at, ACROSS, meets, foot=True, lift=16, beside=load)
        + charts.lines(loads, "load", costs, "usd", ACROSS, UP, **look),
        name="cost_by_load",
        alt="Cost of a million output tokens with their prompts against utilization, falling in"
        " proportion to it for rented and owned hardware, with the band of API prices; rented,"
        " {case.model} on {case.accelerator} costs as much as the API {even:load}.",
    )


def cost_by_pace(case: Any, price: Ways) -> Display:
    """A chart of the price rented and owned against interactivity."""
    each = "tokens per second per user, at least"
    pace, paces = case.pace_tokens_per_s, {"pace": np.geomspace(2, 300, 28).round(2)}
    rented, costs = price.rented, price.on_hardware
    return charts.show(
        charts.rule(price.api, UP, "API", horizontal=True, log=True)
        + charts.rule(pace, each, "you", log=True, foot=True)
        + charts.lines(paces, "pace", costs, "usd", each, UP, log_x=True, log_y=True, along=pace),
        name="cost_by_pace",
        alt="Cost of a million output tokens against tokens per second per user, rising with it."
        " {case.model} on {case.accelerator} costs {rented:usd} at {pace:tokens/s}.",
    )


def any_chip(options: ServingOptions, tables: ServingChoices) -> Display:
    """A chart of the rented price on each accelerator; one that cannot serve it says why."""
    found = options.any_chip.found
    rented, star = found.price.rented, where(found.speed.fitted, "", " *")
    label = where(found.short == "", charts.phrase("{rented:usd}{star}"), found.short)
    rows, along = tables.every_chip(), options.chip
    return charts.show(
        charts.bars(rows, "chip", rented, "usd", UP, "vendor", along=along, label=label),
        name="any_chip",
        alt="USD per million output tokens with their prompts on each rented accelerator; one that"
        " cannot serve the model so fast says why.",
    )


def every_engine(options: ServingOptions, tables: ServingChoices) -> Display:
    """A table of the best engine on each accelerator, its prices and its break-evens."""
    chip, found = options.chip, options.any_chip.found
    speed, price, evens, *_ = found
    star = where(speed.fitted, "", " *")
    served = charts.phrase("{speed.chips:whole} x {chip}{star}")
    unserved = charts.phrase("{chip}: {found.short}")
    engine = where(found.short == "", served, unserved)
    columns = {
        "engine": engine,
        "rented": price.rented,
        "renting wins": where(found.short == "", evens.rented, np.nan),
        "owned": price.owned,
        "owning wins": where(speed.served & found.paid.asked.there, evens.owned, np.nan),
        "format": speed.precision,
        "answers at once": speed.batch,
        "tokens/s each": speed.tokens_per_s,
    }
    shown = charts.table(
        tables.every_chip()[["chip"]].assign(**columns),
        "Your case on each accelerator: USD per million output tokens with prompts, rented and"
        " owned, and the load above which either beats the API",
        formats=dict.fromkeys(("rented", "owned"), "usd")
        | dict.fromkeys(("renting wins", "owning wins"), "load")
        | dict.fromkeys(("answers at once", "tokens/s each"), "whole"),
        along=(chip,),
        name="any-chip",
    )
    return charts.folded(
        shown, "Every accelerator: engine, prices, break-even loads, format, speed"
    )


def offers(case: Any) -> Display:
    """A folded table of all who sell the model's tokens, cheapest first for the request."""
    request = case.input_tokens, case.output_tokens, case.cached_share
    found = offers_sheet(case.model.value, *(part.value for part in request))
    return charts.at_defaults(charts.sheet(found), case.model, *request)


def bill(case: Any, options: ServingOptions, month: Month, busy: Busy) -> Display:
    """What a month and a thousand requests cost, and the accelerators that they take."""
    found, full = options.taken.found, month.utilization
    under = charts.phrase("under the {case.utilization:percent} set above, as groups are whole")
    why = where(full < 0.995 * case.utilization, under, "as set")
    why = where(busy.demand.known, "from your traffic", why)
    monthly, each = (
        _rented_or_owned(Ways(*(times * of for of in usd)), join)
        for usd, times, join in ((month.usd, 1, " or "), (month.request_usd, 1e3, ", "))
    )
    asks, nothing = 1e3 * month.request_usd.api, found.nothing
    return charts.sentence(
        "{case.requests_per_day:whole} requests a day take <strong>{month.chips:whole"
        " accelerators}</strong>, in groups of {month.group:whole}. A month of them costs"
        " <strong>{monthly}</strong>; the API would charge {month.usd.api:usd}. Their"
        " utilization is {full:percent} ({why}); a thousand requests then cost {each} and"
        " {asks:usd} at the API.",
        provided=options.known,
        otherwise="{nothing}, so there is no bill to compare.",
    )


def _rented_or_owned(usd: Ways, join: str) -> Any:
    """What both cost, in words; of one that has no price, nothing."""
    rents = where(usd.rented > 0, charts.phrase("{usd.rented:usd} rented"), "")
    owns = where(usd.owned > 0, charts.phrase("{usd.owned:usd} owned"), "")
    return rents + where((rents == "") | (owns == ""), "", join) + owns


def worth_of_knowing(case: Any, options: ServingOptions) -> Display:
    """A chart of what it would save a month to know each input before choosing."""
    a_month = usd_per_month(case.requests_per_day * case.output_tokens, 1.0)
    choice = options.choice
    worth = {name: a_month * usd for name, usd in choice.worth().items()}
    cost = a_month * minimum(choice.cost, choice.other)
    between = charts.phrase("{options.kind} and {options.rival}")
    return charts.worth_of_knowing(worth, "a month", choice, between, cost=cost)
