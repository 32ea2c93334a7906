"""What the chapter `plan` shows of a service of the reader's own."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from scaleright import charts
from scaleright.chapters.plan.fleets import SMALL
from scaleright.chapters.plan.limits import rounded
from scaleright.chapters.plan.page import NAN, OwnPlan
from scaleright.chapters.plan.service_steps_page import Offered, own_questions, own_steps
from scaleright.charts import Display
from scaleright.costs.day_choices import DayChoices
from scaleright.costs.token_offers import median_over
from scaleright.decisions.build_buy import (
    API,
    COLOCATION,
    HYBRID,
    LEAST_REQUESTS,
    MULTI_CLOUD,
    RENT,
    ROOM,
    SITE,
    SPILL,
    AtApi,
    ServiceWays,
    lead_months,
)
from scaleright.decisions.plan_workload import right_share
from scaleright.information import NINETY
from scaleright.market import BEST, Hosts
from scaleright.ops import exp, first_case, floor, log10, where
from scaleright.quantity import choose, least

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
    unknown = (case.owned != "none") & (case.owned_chips > 0)
    for chip in ways.chips:
        unknown = unknown & (case.owned != chip)
    unknown = where(
        unknown, charts.phrase(" A day of a service on your {case.owned} is not known."), ""
    )
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
        because=many + where(some, second, " Nothing else may be done.") + _at_host(ways) + unknown,
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
