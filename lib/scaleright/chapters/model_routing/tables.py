"""Rows of tables about tiers, and what keeps them from being an answer, in words."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scaleright.chapters.model_routing.model import THOUSAND, Pair
from scaleright.decisions.economics_served import NAMELESS
from scaleright.decisions.routing_tiers import LEVELS, NAMES, Served, benchmarks
from scaleright.decisions.routing_ways import Traffic, Way, frontier
from scaleright.formulas import lookup
from scaleright.market import BEST
from scaleright.ops import first_case, where


@lookup
def refusal(case: Any, served: Mapping[str, Served], traffic: Traffic) -> Any:
    """Why there is no answer; empty where there is one: a tier that is not served so, success rates
    that fall with size, a check no better than chance.
    """
    of_one = (case.accelerator == BEST) & (case.rent_usd_per_hour > 0)
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
