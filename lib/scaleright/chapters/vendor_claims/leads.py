"""How far the newer of two chips leads the older one in a case, as quantities that follow it, and
where over the speeds per user a claim on the lead holds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from scaleright.chapters.vendor_claims.evidence import LENGTHS, MODELS
from scaleright.chapters.vendor_claims.model import LeadErrors
from scaleright.chapters.vendor_claims.paid import VendorPaid
from scaleright.costs.serving_doubts import RENT
from scaleright.costs.tokens import usd_per_million_tokens
from scaleright.inference.demand import UNKNOWN, Demand, requests_of
from scaleright.inference.node_speed import Engines, NodeSpeed, node_speed
from scaleright.information import NINETY, Choice, probability_cheaper, spread_between
from scaleright.market import rents_apart, unfixed
from scaleright.ops import exp, where
from scaleright.quantity import at, choose, least
from scaleright.quantity.graph import parameter
from scaleright.ranges import interval


@dataclass(frozen=True)
class Lead:
    """Tokens of the newer chip over those of the older one, at one speed per user.

    tokens_per_s : of the newer chip [token/s]; NaN where it is not as fast
    per_chip, per_dollar, per_megawatt : times as many for the same use [1]; NaN where one of the
        two is not as fast
    """

    tokens_per_s: Any
    per_chip: Any
    per_dollar: Any
    per_megawatt: Any


@dataclass(frozen=True)
class OverSpeeds:
    """A lead over the speeds per user that both chips reach, as quantities that follow it.

    slow, slow_at : what it is at the slowest speed [1], and that speed [token/s]
    most, most_at : the most that it comes to [1], and the slowest speed at which it does [token/s]
    first, last : ends of the speeds at which a claim on it holds [token/s]; NaN if at none
    fastest : the fastest speed that both chips reach [token/s]
    """

    slow: Any
    slow_at: float
    most: Any
    most_at: Any
    first: Any
    last: Any
    fastest: Any


@dataclass(frozen=True)
class Usual:
    """What the usual engines of one node, or of one rack, do with the request of a case in its
    formats at its speed per user, as every price of a token in this book has it; beside it, the
    best of all layouts is a bound.

    newer, older : NaN where none is as fast
    newer_usd, older_usd : price of output tokens with their prompts at the rents and the
        utilization of the case [USD / 1e6 token]
    """

    newer: NodeSpeed
    older: NodeSpeed
    newer_usd: Any
    older_usd: Any

    @classmethod
    def of(cls, case: Any, paid: VendorPaid, chips: Sequence[str]) -> Self:
        """Those of a case of the chapter `vendor_claims` and what it pays; chips are those that may
        be chosen.
        """
        of, engines = choose(LENGTHS, case.request), Engines.of(MODELS, chips)
        load, demand = requests_of(UNKNOWN, of.prompt, of.answer), Demand.unknown()

        def speed(chip: Any, form: Any) -> NodeSpeed:
            return node_speed(engines, case.model, chip, form, load, case.speed, demand)

        def usd(rent: Any, served: NodeSpeed) -> Any:
            return usd_per_million_tokens(rent, served.tokens_per_s, case.utilization)

        newer = speed(case.newer, case.newer_precision)
        older = speed(case.older, case.older_precision)
        prices = usd(paid.newer.usd, newer), usd(paid.older.usd, older)
        return cls(newer, older, *prices)

    @property
    def per_chip(self) -> Any:
        """Tokens of the newer chip over those of the older one [1]."""
        return self.newer.tokens_per_s / self.older.tokens_per_s


LEAD = "lead of a chip"
"""What that input is called in a chart, beside the rents of the year ahead."""


@dataclass(frozen=True)
class LeadDoubts:
    """How sure a lead in cost is.

    choice : the newer or the older chip, by a million output tokens of an hour in full use [USD]
    claim : probability that the lead is as large as the claim [1]
    low, high : ends of the lead (90 %) [1]
    """

    choice: Choice
    claim: Any
    low: Any
    high: Any

    @classmethod
    def of(cls, case: Any, lead: Lead, paid: VendorPaid, errors: LeadErrors) -> Self:
        """Those of a case: a lead may be off as far as those that were measured, and rents move
        that neither a contract nor the reader fixes. The load is that of the same service on both.
        """
        own = case.newer_usd_per_hour, case.older_usd_per_hour
        rents = rents_apart(*(unfixed(case.contract, rent) for rent in own))
        spreads = {LEAD: spread_between(errors.low, errors.high), RENT: rents}
        times, moved = lead.per_dollar, exp(NINETY * rents)
        low, high = interval(
            lambda lead, rent: times * lead * rent,
            lead=(errors.low, 1.0, errors.high),
            rent=(1 / moved, 1.0, moved),
        )
        usd = usd_per_million_tokens(paid.newer.usd, lead.tokens_per_s, 1.0)
        choice = Choice(usd, usd * times, spreads)
        claim = probability_cheaper(usd * case.claimed, usd * times, choice.spread)
        return cls(choice, claim, low, high)


def over_speeds(lead: Any, speed: Any, speeds: Sequence[float], claimed: Any) -> OverSpeeds:
    """Where a lead that depends on the speed per user is greatest, and where a claim on it holds.

    Parameters
    ----------
    lead, speed : quantities, a lead [1] and the parameter on which it depends [token/s]
    speeds : to look at, the slowest first [token/s]
    claimed : how many times better the new chip is said to be [1]

    >>> from scaleright.quantity import given
    >>> speed = given("speed", 10.0)
    >>> found = over_speeds(speed / 2, speed, [10.0, 20.0, 80.0, 100.0], 10.0)
    >>> found.slow, found.most.value, found.most_at.value
    (5.0, 50.0, 100.0)
    >>> found.first.value, found.last.value
    (20.0, 100.0)
    """
    leads = {each: at(lead, **{parameter(speed) or "": each}) for each in speeds}

    def ends(least_lead: Any) -> tuple[Any, Any]:
        there = {each: where(of >= least_lead, each, np.nan) for each, of in leads.items()}
        _, slowest = least({f"{each}": found for each, found in there.items()})
        _, behind = least({f"{each}": -found for each, found in there.items()})
        return slowest, -behind

    _, behind = least({f"{each}": -of for each, of in leads.items()})
    slow, most = leads[speeds[0]], -behind
    return OverSpeeds(slow, speeds[0], most, ends(most)[0], *ends(claimed), ends(0.0)[1])
