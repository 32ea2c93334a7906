"""What the chapter `plan` shows of a service of the reader's own."""

from collections.abc import Sequence
from typing import Any

from scaleright import charts
from scaleright.chapters.plan import NAN, OwnPlan
from scaleright.charts import Display
from scaleright.charts.busy import engine_size
from scaleright.costs.day_choices import DayChoices
from scaleright.costs.token_offers import median_over
from scaleright.decisions.build_buy import (
    API,
    COLOCATION,
    HYBRID,
    MULTI_CLOUD,
    RENT,
    ROOM,
    SITE,
    SPILL,
    ServiceWays,
    lead_months,
)
from scaleright.market import BEST, Hosts
from scaleright.ops import first_case, floor, where


def choices(case: Any) -> tuple[DayChoices, Sequence[str], Hosts]:
    """The rows of what a service chooses: engines, accelerators and hosts.

    case : as `scaleright.parameters.case` reads it
    """
    models, chips = (case[of].choices for of in ("model", "accelerator"))
    chips = [name for name in chips if name != BEST]
    return DayChoices.of(models, chips), chips, Hosts(models)


def _finite(usd: Any) -> Any:
    """What can be said of a cost: nothing (0) of one that is infinite, where another word stands
    [USD].
    """
    return where(usd < float("inf"), usd, 0.0)


def own_plan(case: Any, ways: ServiceWays) -> OwnPlan:
    """The plan of the reader's own service."""
    (name, usd), (next_, other) = ways.best, ways.runner_up
    some, other = other < float("inf"), _finite(other)
    of, there = ways.taken, ways.taken.fleet.served & (usd < float("inf"))
    chip, used, bought = of.case.accelerator, of.fleet.peak * of.fleet.engine.chips, of.chips
    base, spill = of.base, of.spill
    words = {
        API: charts.phrase("Call an API for {case.model}"),
        RENT: charts.phrase("Rent {used:whole} {chip}"),
        MULTI_CLOUD: charts.phrase("Rent {used:whole} {chip} where each is cheapest"),
        COLOCATION: charts.phrase("Buy {bought:whole} {chip} and run them in a colocation"),
        ROOM: charts.phrase("Buy {bought:whole} {chip} and run them in a room of yours"),
        HYBRID: charts.phrase(
            "Buy {base.chips:whole} {chip}, and rent up to {base.rented:whole} more"
        ),
        SPILL: charts.phrase("Buy {spill.chips:whole} {chip}, and call an API beyond them"),
    }
    site = charts.phrase("Buy {bought:whole} {chip} and build a site for them")
    decision = first_case([(name == of, said) for of, said in words.items()], site)
    on = first_case([(next_ == way, it) for way, it in ways.chip.items()], "")
    on = where(on == "", "", charts.phrase(" ({on})"))
    many = charts.phrase("The least of {ways.many:whole} ways compared.")
    second = charts.phrase(" The next kind, {next_}{on}, costs {other:usd} a year.")
    usd = where(there, usd, 0.0)
    lacking = usd - case.budget_usd
    short = charts.phrase("The budget is {lacking:usd} short of the cheapest way that is open.")
    return OwnPlan(
        work="Serve your own requests",
        per="a year",
        met=True,
        bars=_bars(ways),
        otherwise=charts.phrase(
            "No way is open to serve {case.model} so. Take another accelerator, a slower pace or a"
            " later first token, or allow more ways."
        ),
        decision=decision,
        usd=usd,
        because=many + where(some, second, " Nothing else may be done.") + _at_host(ways),
        sure=where(some, charts.confidence(ways.sureness, "no other way is cheaper"), "Certain."),
        there=there,
        helps=first_case(
            [(~there, "No way is open to you as asked."), (lacking > 0, short)],
            "Nothing has to give.",
        ),
        steps=_own_steps(case, ways, decision),
        questions=_own_questions(ways),
    )


def _bars(ways: ServiceWays) -> dict[str, Any]:
    """What each way costs a year, NaN where it may not be done; several clouds stand for renting
    where the service has to run in several regions [USD/year].
    """
    usd = {way: where(of < float("inf"), of, NAN) for way, of in ways.usd.items()}
    several = usd.pop(MULTI_CLOUD)
    return usd | {RENT: where(several > 0, several, usd[RENT])}


def _at_host(ways: ServiceWays) -> Any:
    """Which host stands for the API, at which prices, where it may be called."""
    asked, usd, best = ways.taken.asked, ways.usd[API], ways.best[0] == API
    middle = usd * median_over(asked, ways.taken.request)
    beside = charts.phrase("; at the median of hosts {middle:usd} a year")
    beside = where(asked.many > 1, beside, "")
    said = charts.phrase(
        " The API is at {asked.input.usd:usd} for a million tokens of input and"
        " {asked.output.usd:usd} of output on {asked.age} ({asked.counted}){beside}."
    )
    return where((usd < float("inf")) & (best | (ways.runner_up[0] == API)), said, "")


def _own_steps(case: Any, ways: ServiceWays, decision: Any) -> dict[int, tuple[Any, Any]]:
    """What to do and why in the steps that follow the controls, by number."""
    of = ways.taken
    fleet, full = of.fleet, of.fleet.utilization(24.0 * of.fleet.peak)
    engine, each, reads = fleet.engine, engine_size(fleet.engine), fleet.traffic.load.input_tokens
    spare = charts.phrase(", with {fleet.spare_engines:whole engines} to spare")
    spare = where(fleet.spare_engines > 0, spare, "")
    writes, seats, chip = fleet.traffic.load.output_tokens, fleet.engine.seats, of.case.accelerator
    shown: Any = ""
    for name, usd in ways.usd.items():
        on = " (" + ways.chip[name] + ")" if name in ways.chip else ""
        said = name + on + ": " + charts.say(_finite(usd), "usd") + " a year"
        shown = where(usd < float("inf"), where(shown == "", said, shown + "; " + said), shown)
    return {
        1: (
            charts.phrase("{case.requests_per_day:whole} requests a day, as you set"),
            charts.phrase("of {reads:whole} tokens in and {writes:whole} out, as in that hour"),
        ),
        2: (decision, shown),
        4: (
            charts.phrase("{chip}, on which hardware for it costs least"),
            charts.phrase("a full engine serves {engine.requests_per_s:number} requests a second"),
        ),
        5: (
            charts.phrase(
                "{fleet.peak:whole engines} of {each}, {seats:whole} at once each{spare}"
            ),
            charts.phrase("at the busiest time; over the day they are {full:percent} full"),
        ),
    }


def _own_questions(ways: ServiceWays) -> dict[int, Any]:
    """The commands that put the reader's own service to the chapters which take all of it, by
    step.
    """
    case, load = ways.taken.case, ways.taken.fleet.traffic.load
    reads, writes = floor(load.input_tokens + 0.5), floor(load.output_tokens + 0.5)
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
    lengths = charts.phrase(
        '-p traffic="{case.trace}" -p input_tokens={reads:typed} -p output_tokens={writes:typed}'
    )
    bill = charts.phrase("scaleright run economics_stack {service} {lengths}{promise}")
    compared = charts.phrase("scaleright run hardware_compare {service} {lengths}")
    return {1: day, 2: bill, 4: compared, 7: day, 9: bill}


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
    bought, hours = ways.taken.chips, ways.taken.hours
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
