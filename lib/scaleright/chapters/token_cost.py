"""What the chapter `token_cost` shows."""

from typing import Any

import numpy as np

from scaleright import charts
from scaleright.charts import Display
from scaleright.charts.busy import utilization_source
from scaleright.charts.live import Controls
from scaleright.costs.serving import Kinds, Month, Ways, usd_per_month
from scaleright.costs.serving_choices import Found, ServingChoices
from scaleright.costs.serving_doubts import ServingDoubts
from scaleright.costs.token_offers import offers_sheet
from scaleright.inference.demand import Busy, usual_peaks
from scaleright.inference.node_speed import NodeSpeed
from scaleright.ops import first_case, minimum, where
from scaleright.quantity import Quantity, least

ACROSS, UP = "utilization", "USD per million output tokens"
"""Axes of the charts."""


def controls(case: Any) -> tuple[Controls, ServingChoices]:
    """The controls of the page, and the rows of what they choose."""
    tables = ServingChoices.of(*(case[of].choices for of in ("model", "accelerator", "setting")))
    live = charts.controls(case)
    live.follow("accelerator", tables.chips, chip_usd="chip_usd")
    live.follow("setting", tables.settings, usd_per_kwh="usd_per_kwh")
    live.follow("traffic", usual_peaks())
    return live, tables


def answer(case: Any, found: Found, doubts: ServingDoubts, busy: Busy) -> Display:
    """The answer card: the price, the loads from which own hardware beats the API, how sure."""
    speed, (rented, owned, api), (even, own_even), _, paid = found
    (cost_low, cost_high), choice = doubts.rented, doubts.choice
    owning = owned < minimum(rented, api)
    less = where(owning, "; owning would cost less still", "")
    yet = where(owning, ", though owning would cost less", "")
    rent = charts.phrase("Rent {case.accelerator} for {case.model}: cheaper than the API{less}")
    call = charts.phrase("Call an API for {case.model}: rented {case.accelerator} costs more{yet}")
    advice, better = where(rented < api, rent, call), where(rented < api, "renting", "the API")
    likely, loss = charts.odds(choice, found.known, better, " per million")
    further = where(found.known, _further(case, found, doubts) + loss, "")
    (hour, asked), judged = paid, charts.predicted_within(speed.low, speed.high, speed.lent)
    judged = where(speed.served, judged, "none, since nothing is predicted")
    refusal = where(speed.served, charts.phrase("{paid.why}."), _refusal(speed))
    at_api = charts.phrase(
        " APIs ask {api:usd} per million output tokens with their prompts ({asked.counted})."
    )
    at_api = where(asked.there, at_api, "")
    source = utilization_source(busy)
    span = charts.phrase("{cost_low:usd} to {cost_high:usd} per million output tokens (90 %)")
    span = where(found.known | found.alone, span, "none, since nothing is served at a price")
    unserved = charts.phrase(
        "cannot be served at a price on {case.accelerator} in {speed.precision} with"
        " {case.pace_tokens_per_s:number 2} tokens per second per user: {refusal}{at_api}"
    )
    alone = charts.phrase(
        "in {speed.precision} costs {rented:usd} per million output tokens with prompts on rented"
        " {case.accelerator} at {case.utilization:percent} utilization, {source}, and"
        " {hour.usd:usd} an hour ({hour.counted}), {owned:usd} on owned ones. When that is cheaper"
        " than an API cannot be said: {asked.why}."
    )
    unserved = where(found.alone, alone, unserved)
    return charts.answer_card(
        "{advice}.",
        "{rented:usd}",
        "a million output tokens rented, {owned:usd} owned, {api:usd} at the API",
        "{likely}",
        "Renting beats the API {even:load}; your utilization is {case.utilization:percent},"
        " {source}.",
        "{further}",
        provided=found.known,
        otherwise="<strong>{case.model}</strong> {unserved}",
        range="{span}",
        as_of="{hour.age} (rents), {asked.age} (APIs)",
        model_error="{judged}",
        headline="usd_per_million",
        quantities={
            "usd_per_million": (rented, "usd"),
            "range_low": (cost_low, "usd"),
            "range_high": (cost_high, "usd"),
            "owned_usd_per_million": (owned, "usd"),
            "api_usd_per_million": (api, "usd"),
            "renting_cheaper_probability": (choice.probability, "percent"),
            "expected_loss_usd_per_million": (choice.expected_loss, "usd"),
            "break_even_utilization": (even, "percent"),
            "owned_break_even_utilization": (own_even, "percent"),
        },
    )


def _further(case: Any, found: Found, doubts: ServingDoubts) -> Any:
    """How it is served and paid, the range of the break-even, and owning, in words."""
    speed, _, (_, own_even), _, (hour, asked) = found
    even_low, even_high = doubts.break_even
    top = where(even_high > 1, "beyond full load", charts.say(even_high, "percent"))
    between = where(even_low > 1, top, charts.phrase("{even_low:percent} to {top}"))
    return charts.phrase(
        "Prices are with prompts. The model runs in {speed.precision}, with"
        " {case.pace_tokens_per_s:number 2} tokens per second or more per user; an hour costs"
        " {hour.usd:usd} ({hour.counted}); the API's price: {asked.counted}."
        " Break-even of renting: {between} (90 %). Owning beats the API {own_even:load}."
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


def cheapest(found: Found, place: Any, source_load: Any) -> Display:
    """The price each way, what the accelerator does, and the load that Clarifai asks for."""
    speed, (rented, owned, api), *_, paid = found
    best = least({"the API": api, "renting": rented, "owning": owned})[0]
    only = charts.phrase("Only the API has a price for this case, {api:usd}.")
    why = charts.phrase("There is no price at the API: {paid.asked.why}.")
    only = where(paid.asked.there, only, why)
    return charts.sentence(
        "A million output tokens with their prompts cost {rented:usd} rented, {owned:usd} owned"
        " ({place}) and {api:usd} at the API, so <strong>{best}</strong> is cheapest. At full"
        " load one accelerator writes {speed.tokens_per_s:output tokens a second}; a group of"
        " {speed.chips:whole} serves {speed.batch:whole answers} at once, and the first token comes"
        " after {speed.ttft_s:duration}. Clarifai's calculator asks for {source_load:percent}"
        " utilization at this size, whatever the prices.",
        provided=found.known,
        otherwise="{only} Clarifai's calculator asks for {source_load:percent} utilization at"
        " this size, whatever the prices.",
    )


def full_hour(case: Any, found: Found, full: Any) -> Display:
    """The price at full load, beside that of the case."""
    return charts.sentence(
        "At full load a million tokens cost <strong>{full:usd}</strong>; at"
        " {case.utilization:percent} utilization they cost {found.price.rented:usd}.",
        provided=found.short == "",
        otherwise="Nothing is served at a price.",
    )


def request_seconds(
    speed: NodeSpeed, whole: Any, reading: Any, writing: Any, looking: Any
) -> Display:
    """The seconds of an accelerator that a request takes, by what they are spent on."""
    return charts.sentence(
        "At full load a request takes <strong>{whole:duration}</strong> of one accelerator:"
        " {reading:duration} for prefill, {writing:duration} for writing the answer and"
        " {looking:duration} for attention over the KV cache.",
        provided=speed.served,
        otherwise="Nothing is served, so a request takes no time.",
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


def kinds(found: Found, own: Kinds, theirs: Kinds) -> Display:
    """The prices of input and of output, rented and at APIs."""
    paid, nothing = found.paid, found.nothing
    return charts.sentence(
        "On the rented accelerator a million output tokens cost <strong>{own.output:usd}</strong>,"
        " {own.ratio:number 2} times the <strong>{own.input:usd}</strong> of as many input tokens."
        " APIs ask {theirs.output:usd}, {theirs.ratio:number 2} times their {theirs.input:usd} for"
        " input ({paid.asked.counted}).",
        provided=found.known,
        otherwise="{nothing}, so there are no kinds of tokens to compare.",
    )


def discounts(case: Any, host: Any) -> Display:
    """How many offers of the model list a price for cached input, and what it is."""
    return charts.sentence(
        "{case.model} has {host.companies:whole hosts} with {host.offers:whole paid offers}. Of"
        " these, {host.discounted:whole} price cached input apart, at a median"
        " {host.discount:percent} of the price of other input.",
        provided=host.discounted > 0,
        otherwise="{case.model} has {host.companies:whole hosts} with {host.offers:whole paid"
        " offers}; none lists a price for cached input.",
    )


def any_chip(case: Any, found: Found, tables: ServingChoices) -> Display:
    """A chart of the rented price on each accelerator; one that cannot serve it says why."""
    speed, (rented, *_), *_ = found
    rows, star = tables.every_chip(), where(speed.fitted, "", " *")
    along = case.accelerator, case.rent_usd_per_hour, case.chip_usd  # of each row
    label = where(found.short == "", charts.phrase("{rented:usd}{star}"), found.short)
    return charts.show(
        charts.bars(rows, "accelerator", rented, "usd", UP, "vendor", along=along, label=label),
        name="any_chip",
        alt="USD per million output tokens with their prompts on each rented accelerator; one that"
        " cannot serve the model so fast says why.",
    )


def every_engine(case: Any, found: Found, tables: ServingChoices) -> Display:
    """A table of the best engine on each accelerator, its prices and its break-evens."""
    speed, price, evens, *_ = found
    star = where(speed.fitted, "", " *")
    served = charts.phrase("{speed.chips:whole} x {case.accelerator}{star}")
    unserved = charts.phrase("{case.accelerator}: {found.short}")
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
    rows = tables.every_chip()[["accelerator", "rent_usd_per_hour", "chip_usd"]]
    shown = charts.table(
        rows.assign(**columns),
        "Your case on each accelerator: USD per million output tokens with prompts, rented and"
        " owned, and the load above which either beats the API",
        formats=dict.fromkeys(("rented", "owned"), "usd")
        | dict.fromkeys(("renting wins", "owning wins"), "load")
        | dict.fromkeys(("answers at once", "tokens/s each"), "whole"),
        along=(case.accelerator, case.rent_usd_per_hour, case.chip_usd),
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


def bill(case: Any, found: Found, month: Month, busy: Busy) -> Display:
    """What a month and a request cost, and the accelerators that they take."""
    request, nothing, full = month.request_usd, found.nothing, month.utilization
    under = charts.phrase("under the {case.utilization:percent} set above, as groups are whole")
    why = where(full < 0.995 * case.utilization, under, "as set")
    why = where(busy.demand.known, "from your traffic", why)
    return charts.sentence(
        "{case.requests_per_day:whole} requests a day take <strong>{month.chips:whole"
        " accelerators}</strong>, in groups of {month.group:whole}. They cost"
        " <strong>{month.usd.rented:usd}</strong> a month rented or {month.usd.owned:usd} owned;"
        " the API would charge {month.usd.api:usd}. Their utilization is {full:percent} ({why}); a"
        " request then costs {request.rented:usd} rented, {request.owned:usd} owned and"
        " {request.api:usd} at the API.",
        provided=found.known,
        otherwise="{nothing}, so there is no bill to compare.",
    )


def worth_of_knowing(case: Any, found: Found, doubts: ServingDoubts) -> Display:
    """A chart of what it would save a month to know each input before choosing."""
    a_month = usd_per_month(case.requests_per_day * case.output_tokens, 1.0)
    choice = doubts.choice
    worth = {name: a_month * usd for name, usd in choice.worth().items()}
    cost = a_month * minimum(choice.cost, choice.other)
    return charts.worth_of_knowing(worth, "a month", choice, "renting and the API", cost=cost)


def fair_rent(found: Found, rent: Any) -> Display:
    """Solution 1: the rent at which both cost the same."""
    return charts.sentence(
        "Below {rent:usd} an hour: what the API would charge for the tokens that the accelerator"
        " writes in an hour at this utilization.",
        provided=found.speed.served & found.paid.asked.there,
        otherwise="There is none: nothing is served that has a price at the API.",
    )


def with_cache(even: float, before: Quantity) -> Display:
    """Solution 2: the break-even with a cache that the API gives no discount for."""
    now = before.value
    if np.isnan(now):
        return charts.sentence("There is none: no API has a price to compare.")
    return charts.sentence(
        "At {even:percent} for the chapter's case instead of {now:percent}: what is not read again"
        " takes the accelerator no time, while the API charges for it as before."
    )


def winning(grid: np.ndarray, api: float) -> Display:
    """Solution 3: the share of scenarios that beat the API."""
    if np.isnan(api):
        return charts.sentence("None of them can be told: no API has a price to compare.")
    share = (grid < api).mean()
    return charts.sentence(
        f"{100 * share:.0f} % of {grid.size:,}: cost is rent over load, so those below a straight"
        " line through the origin win."
    )
