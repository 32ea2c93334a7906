"""Which way through the tiers of a case costs least, what would have to change where none is good
enough, and how sure it is that starting small is cheaper than one large model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pandas as pd

from scaleright.chapters.model_routing.evidence import failures, taught_odds, usual_check
from scaleright.decisions.economics_stack import NAMELESS
from scaleright.decisions.routing import (
    Check,
    Reached,
    Tier,
    Traffic,
    Way,
    best_false_alarm,
    caught_at,
    check_odds,
    error_usd_that_pays,
    frontier,
    quality_lost,
    saved_usd,
)
from scaleright.decisions.routing_tiers import (
    LEVELS,
    NAMES,
    STEPS,
    Served,
    benchmarks,
    by_router,
    one_by_one,
    places_of,
    together,
    ways_of,
)
from scaleright.formulas import lookup
from scaleright.information import Choice
from scaleright.market import BEST as MARKET_BEST
from scaleright.ops import first_case, maximum, minimum, where
from scaleright.quantity import Quantity, at, derived, given, least
from scaleright.quantity.graph import in_order, parameter
from scaleright.ranges import Ends, interval_of

THOUSAND = 1e3
LARGE = f"{NAMES[-1]} alone"
_NOT = float("nan")
SCORES, NESTED, CHECKED, ROUTED, EASY = (
    "success of small models",
    "how nested failures are",
    "how good the check is",
    "how good the router is",
    "easy requests",
)
"""What the inputs that nobody knows are called in a chart."""
OFF = {SCORES: (0.85, 1.1), EASY: (-0.15, 0.15)}
"""How far two of them may be off at either end, as assumed here: a factor, and points [1]."""
BEST = dict.fromkeys(("scores_in_practice", "check_in_practice", "router_in_practice"), 1.0)


@dataclass(frozen=True)
class Best:
    """The way of the least cost, errors counted, of those that are right and quick enough.

    name : its name; empty where none is
    usd, right, seconds, late_s : see `Way`
    total_usd : price of a request with its errors [USD]
    """

    name: Any
    usd: Any
    right: Any
    seconds: Any
    late_s: Any
    total_usd: Any


@lookup
def best_way(ways: Mapping[str, Way], error_usd: Any, least_right: Any, most_s: Any) -> Best:
    """The cheapest way.

    Parameters
    ----------
    error_usd : what a wrong answer costs [USD]
    least_right : least share of requests that must be right [1]
    most_s : within which 95 of 100 must have their answer [s]

    >>> way = Way(1.0, 0.9, 1.0, 1.0, (1.0,))
    >>> best_way({"one": way}, 1.0, 0.95, 2.0).name.value, best_way({"one": way}, 1.0, 0.9, 2.0
    ...     ).name.value
    ('', 'one')
    """
    name, total = least(_fit(ways, error_usd, least_right, most_s))

    def of_best(part: str) -> Any:
        """That of the way which is best."""
        return first_case([(name == of, getattr(way, part)) for of, way in ways.items()], _NOT)

    usd, right, seconds, late_s = map(of_best, ("usd", "right", "seconds", "late_s"))
    return Best(name, usd, right, seconds, late_s, total)


def _fit(ways: Mapping[str, Way], error_usd: Any, least_right: Any, most_s: Any) -> dict[str, Any]:
    """What a request costs with its errors by each way [USD]; NaN where it does not do."""
    return {
        name: where(
            (of.right >= least_right) & (of.late_s <= most_s), of.total_usd(error_usd), _NOT
        )
        for name, of in ways.items()
    }


class Short(NamedTuple):
    """What is missing where no way is good enough.

    too_wrong : whether it is that none is right often enough, however long it takes
    rightest, right : the way that is right most often, and how often [1]
    quickest, late_s : the quickest that is right enough, and after how long 95 of 100 are through
        [s]
    """

    too_wrong: Any
    rightest: Any
    right: Any
    quickest: Any
    late_s: Any


@lookup
def shortfall(ways: Mapping[str, Way], least_right: Any) -> Short:
    """Which of what is asked cannot be had, and how much of it can."""
    rightest, wrong = least({name: 1 - of.right for name, of in ways.items()})
    enough = {name: where(of.right >= least_right, of.late_s, _NOT) for name, of in ways.items()}
    quickest, late_s = least(enough)
    return Short(1 - wrong < least_right, rightest, 1 - wrong, quickest, late_s)


@dataclass(frozen=True)
class Pair:
    """One tier after another, in closed form.

    price_ratio : of the smaller tier with its check over the larger one [1]
    kept : share of answers of the smaller tier that are kept [1]
    saved_usd : money saved a request over the larger tier alone [USD]
    lost : share of requests that are right no more [1]
    error_usd : what a wrong answer may cost until the larger tier alone is cheaper [USD]
    best_alarm : false alarms of the check at its best threshold [1]
    best_caught : wrong answers that it then flags [1]
    rescued : share of the smaller tier's failures that the larger one gets right [1]
    """

    price_ratio: Any
    kept: Any
    saved_usd: Any
    lost: Any
    error_usd: Any
    best_alarm: Any
    best_caught: Any
    rescued: Any


@lookup
def pair_of(
    traffic: Traffic, tiers: Sequence[Reached], check: Check, error_usd: Any, small: int, large: int
) -> Pair:
    """Two tiers of a case by their places; error_usd : what a wrong answer costs [USD]."""
    both, right = traffic.pair(small, large), traffic.right(small)
    flags = check.caught, check.false_alarm
    _, sent = traffic.reaching([small, large], *flags)
    first, one, after = tiers[small].at(1.0), tiers[large].at(1.0), tiers[large].at(sent)
    prices = first.usd, check.usd, one.usd, after.usd
    odds = maximum(check_odds(*flags), 1.0 + 1e-9)  # a check worse than chance is refused
    alarm = best_false_alarm(odds, right, both.gained, both.lost, after.usd, error_usd)
    return Pair(
        (first.usd + check.usd) / one.usd,
        1 - sent,
        saved_usd(right, *flags, *prices),
        quality_lost(*both, *flags),
        error_usd_that_pays(*both, right, *flags, *prices),
        alarm,
        caught_at(alarm, odds),
        traffic.rescued(small, large),
    )


@dataclass(frozen=True)
class Doubts:
    """How sure it is that the best way is cheaper than the large tier alone, errors counted; where
    that tier is the best, that the cheapest of the others is not.

    choice : between the two, by the cost of a thousand requests [USD]
    total : low and high end of that of the best way (90 %) [USD]
    rival : whether a way but the large tier alone does what is asked [truth value]
    """

    choice: Choice
    total: tuple[Any, Any]
    rival: Any


@lookup
def doubts_of(
    case: Any,
    traffic: Traffic,
    served: Mapping[str, Served],
    ways: Mapping[str, Way],
    check: Check,
    router: Check,
) -> Doubts:
    """The doubts of a case.

    That published scores hold for other requests is in doubt, and so are how failures go together,
    how good the check and the router are, how many requests are easy, and whether the cheapest host
    of a model will do: else its price is up to that of the median. The odds of a check or a router
    lie about as far off as the worst and the best published one from their median.

    ways : as they are priced, `ways_of`; own engines at the share of requests that is expected
    """
    factor, better, straighter = (given(*of) for of in BEST.items())
    rates = [*traffic.rates]
    for tier in reversed(range(len(rates) - 1)):
        above = rates[tier + 1]
        rates[tier] = [
            minimum(factor * rate, most) for rate, most in zip(rates[tier], above, strict=True)
        ]
    hosts = {f"{name}_host": of.asked.median_over for name, of in served.items()}
    free, priced, held = replace(traffic, rates=rates), *_priced(served, ways)
    reads = where(case.check_usd > 0, 1.0, given(f"{NAMES[1]}_host", 1.0))
    checks = _of_odds(replace(check, usd=check.usd * reads), better)
    moved = ways_of(free, priced, checks, _of_odds(router, straighter))
    costs = {name: THOUSAND * way.total_usd(case.error_usd) for name, way in moved.items()}
    other = costs.pop(LARGE)
    fit = _fit(ways, case.error_usd, case.least_right, case.most_s)
    large = fit.pop(LARGE)
    name, usd = least(fit)
    rival = name != ""
    held["way"] = where(rival, name, next(iter(costs)))
    taken = derived("way", held["way"])
    cost = first_case([(taken == name, of) for name, of in costs.items()], _NOT)
    ends = _moving(case, factor, better, straighter)
    ends |= {
        f"host of the {name} model": Ends(given(f"{name}_host", 1.0), 1.0, hosts[f"{name}_host"])
        for name in NAMES
    }
    best = BEST | dict.fromkeys(hosts, 1.0) | held
    choice = Choice.of(cost, other, ends, **best)
    total = []
    for way in (cost, other):
        read = set(map(parameter, in_order([way])))
        mine = [end for end in ends.values() if parameter(end.parameter) in read]
        known = {name: usd for name, usd in best.items() if name in read}
        total.append([at(end, **known) for end in interval_of(way, mine)])
    large_best = ~rival | (large < usd)
    low, high = (where(large_best, there, here) for here, there in zip(*total, strict=True))
    return Doubts(choice, (low, high), rival)


def _moving(case: Any, scores: Quantity, check: Quantity, router: Quantity) -> dict[str, Ends]:
    """What nobody knows of how good models, checks and routers are."""
    seen, usual, odds = failures()["nested"], usual_check(), taught_odds()
    middle = float(odds.median())
    return {
        SCORES: Ends(scores, *OFF[SCORES]),
        NESTED: Ends(case.nested, float(seen.min()), float(seen.max())),
        CHECKED: Ends(check, usual.low / usual.odds, usual.high / usual.odds),
        ROUTED: Ends(router, float(odds.min()) / middle, float(odds.max()) / middle),
        EASY: _ends(case.easy_share, OFF[EASY], (0.0, 1.0)),
    }


def _of_odds(of: Check, factor: Any) -> Check:
    """A check or a router of odds so many times as good, as strict as it is."""
    caught, alarm = caught_at(of.caught, factor**0.5), caught_at(of.false_alarm, factor**-0.5)
    return replace(of, caught=caught, false_alarm=alarm)


def _priced(
    served: Mapping[str, Served], ways: Mapping[str, Way]
) -> tuple[dict[str, dict[int, Tier]], dict[str, Any]]:
    """The tiers of each way at the prices of the shares that reach them, each under a name by
    which it may be held, and these prices [USD].
    """
    found: dict[str, dict[int, Tier]] = {name: {} for name in ways}
    held: dict[str, Any] = {}
    for name, way in ways.items():
        for place, share in zip(places_of(name), way.reaching, strict=True):
            own, host = served[NAMES[place]].own, given(f"{NAMES[place]}_host", 1.0)
            of = own.at(share)
            known = f"usd_{len(held)}"
            held[known] = of.usd
            times = where(own.asks(share), host, 1.0)
            found[name][place] = Tier(derived(known, of.usd) * times, of.seconds)
    return found, held


def _ends(of: Any, off: tuple[float, float], within: tuple[float, float]) -> Ends:
    """Ends of an input that may be off by so much, within what it can be."""
    low, high = (minimum(maximum(of + by, within[0]), within[1]) for by in off)
    return Ends(of, low, high)


@lookup
def model_names(name: Any, case: Any) -> Any:
    """A way in the words of its models, as what somebody does.

    >>> from types import SimpleNamespace
    >>> case = SimpleNamespace(small="A", medium="B", large="C")
    >>> model_names("small, then large", case)
    'A first, and C where the check flags its answer'
    """
    small, medium, large = (getattr(case, of) for of in NAMES)
    models = dict(zip(NAMES, (small, medium, large), strict=True))
    said = [(name == f"{of} alone", model + " alone") for of, model in models.items()]
    for steps in STEPS:
        first, *later = (models[of] for of in steps)
        then = later[0]
        for model in later[1:]:
            then = then + " and then " + model
        every = first
        for model in later:
            every = every + " and " + model
        said += [
            (
                name == one_by_one(steps),
                first + " first, and " + then + " where the check flags its answer",
            ),
            (
                name == together(steps),
                every + " at once, keeping the first answer that the check does not flag",
            ),
            (
                name == by_router(steps),
                "a router that chooses among " + every,
            ),
        ]
    return first_case(said, "none")


# Rows of tables about tiers, and what keeps them from being an answer, in words


@lookup
def refusal(case: Any, served: Mapping[str, Served], traffic: Traffic) -> Any:
    """Why there is no answer; empty where there is one: a tier that is not served so, success rates
    that fall with size, a check no better than chance.
    """
    of_one = (case.accelerator == MARKET_BEST) & (case.rent_usd_per_hour > 0)
    cases = [(of_one, NAMELESS), *((of.why != "", of.why) for of in served.values())]
    for small, large in ((0, 1), (1, 2)):
        pairs = zip(LEVELS, traffic.rates[small], traffic.rates[large], strict=True)
        for level, below, above in pairs:
            said = f"{level} requests the {NAMES[small]} tier gets right more often than the"
            said = f"success rates fall with size: {said} {NAMES[large]} one"
            cases.append((below > above, said))
    cases += [
        (case.caught <= case.false_alarm, "a check that flags so is no better than chance"),
    ]
    return first_case(cases, "")


@lookup
def rates_sheet(case: Any, traffic: Traffic) -> pd.DataFrame:
    """Success rates of the three tiers by difficulty, and over the case's mix of requests [1]."""
    rows: dict[str, Any] = {"tier": [*NAMES], "model": [getattr(case, of) for of in NAMES]}
    for place, (level, benchmark) in enumerate(benchmarks().items()):
        rows[f"{level} ({benchmark})"] = [rates[place] for rates in traffic.rates]
    rows["your mix"] = [traffic.right(tier) for tier in range(len(NAMES))]
    return pd.DataFrame(rows)


@lookup
def engines_sheet(case: Any, served: Mapping[str, Served], way: Way) -> pd.DataFrame:
    """What stands behind each tier of a way through all of them: the share of requests that reaches
    it [1], the engines that are paid for them, how busy they are [1], and what a thousand answers
    then cost, and would cost at the API and if all requests came [USD]; api : whether it is there.
    """
    own = [of.own for of in served.values()]
    pairs = [*zip(own, way.reaching, strict=True)]
    busy = [of.busy(share) for of, share in pairs]
    rows = {
        "model": [getattr(case, name) for name in served],
        "reached by": [*way.reaching],
        "engines": [of.fleet.peak for of in busy],
        "busy": [of.share for of in busy],
        "USD a thousand": [THOUSAND * of.at(share).usd for of, share in pairs],
        "if all reach it": [THOUSAND * of.tier.usd for of in served.values()],
        "at the API": [THOUSAND * of.at_api.usd for of in own],
        "api": [of.asks(share) for of, share in pairs],
    }
    return pd.DataFrame(rows)


@lookup
def pairs_sheet(pairs: Mapping[str, Pair]) -> pd.DataFrame:
    """The closed forms of each pair of tiers."""
    every = pairs.values()
    rows = {
        "start with, then": [*pairs],
        "price with a check over the larger": [of.price_ratio for of in every],
        "answers kept": [of.kept for of in every],
        "saved [USD a thousand]": [THOUSAND * of.saved_usd for of in every],
        "right no more": [of.lost for of in every],
        "failures rescued": [of.rescued for of in every],
    }
    return pd.DataFrame(rows)


@lookup
def ways_sheet(case: Any, ways: Mapping[str, Way]) -> pd.DataFrame:
    """What each way costs, how right and how quick it is, and whether nothing beats it (a truth
    value).
    """
    every = ways.values()
    kept, untimed = frontier(ways), frontier(ways, timed=False)
    rows = {
        "way": [*ways],
        "USD a thousand": [THOUSAND * of.usd for of in every],
        "right": [of.right for of in every],
        "mean wait": [of.seconds for of in every],
        "95 of 100 within": [of.late_s for of in every],
        "with errors [USD a thousand]": [THOUSAND * of.total_usd(case.error_usd) for of in every],
        "unbeaten": [where(kept[name], "yes", "no") for name in ways],
        "if time is free": [where(untimed[name], "yes", "no") for name in ways],
    }
    return pd.DataFrame(rows)
