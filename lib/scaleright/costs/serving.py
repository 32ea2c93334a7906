"""Serving an open model yourself, beside an API that sells it: price, load and break-even from a
speed.

Everything is per accelerator: a group that shares one copy of the model costs and writes in
proportion to its chips. Prices per million are per million output tokens together with the prompts
that they answer, unless a name says input or output.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

from scaleright.catalog import fact
from scaleright.costs.ownership import Ownership
from scaleright.costs.tokens import (
    MILLION,
    OwnedTokenCost,
    TokenBill,
    break_even_utilization,
    mix_usd_per_million,
    owned_usd_per_million_tokens,
    request_usd,
    usd_per_million_tokens,
)
from scaleright.formulas import NON_NEGATIVE, closed_form, lookup
from scaleright.inference.demand import Busy
from scaleright.inference.fleet import WholeGroups, whole_groups
from scaleright.inference.node_speed import NodeSpeed
from scaleright.inference.traffic import utilization_of
from scaleright.market import PaidHour, PaidTokens, unfixed, yearly_drift
from scaleright.ops import minimum, sqrt, where
from scaleright.quantity import Quantity, at, given
from scaleright.ranges import Ends, interval_of
from scaleright.units import DAYS_PER_YEAR, HOURS_PER_DAY, MONTHS_PER_YEAR, SECONDS_PER_HOUR


@closed_form(tokens_per_day=NON_NEGATIVE, usd_per_million=NON_NEGATIVE)
def usd_per_month(tokens_per_day, usd_per_million):
    """Bill of a mean month [USD/month].

    Parameters
    ----------
    tokens_per_day : tokens of the kind that the price is for [token/day]
    usd_per_million : [USD / 1e6 token]

    >>> usd_per_month(1e6, 12.0)
    365.25
    """
    return tokens_per_day * DAYS_PER_YEAR / MONTHS_PER_YEAR * usd_per_million / MILLION


class Ways(NamedTuple):
    """What the same tokens cost on rented and on owned accelerators, and at an API [USD]."""

    rented: Any
    owned: Any
    api: Any

    @property
    def on_hardware(self) -> dict[str, Any]:
        """The first two by name."""
        return {"rented": self.rented, "owned": self.owned}


class BreakEvens(NamedTuple):
    """Utilization above which renting and owning are cheaper than an API [1]."""

    rented: Any
    owned: Any


class Kinds(NamedTuple):
    """Price of an input and of an output token [USD / 1e6 token]."""

    input: Any
    output: Any

    @property
    def ratio(self) -> Any:
        """That of output over that of input [1]."""
        return self.output / self.input


class Month(NamedTuple):
    """What serves a demand, and what that costs in a mean month.

    chips, group : accelerators of the fleet, and of those that work together [1]
    utilization : of what is paid [1]
    usd : each way [USD/month]
    request_usd : what one request costs then, each way [USD]
    """

    chips: Any
    group: Any
    utilization: Any
    usd: Ways
    request_usd: Ways


@dataclass(frozen=True)
class Serving:
    """One model on one kind of accelerator at one mix of requests, beside an API; numbers, arrays
    or quantities.

    full_tokens_per_s : output tokens per second of one accelerator at full load, as predicted
        [token/s]
    reading : share of its time in which it reads prompts [1]
    usd_per_hour : rent of one accelerator [USD/h]
    utilization : tokens served over those that the paid hours could serve [1]
    input_tokens, output_tokens, cached_share : the request, and the share of its prompt found in a
        cache
    api_input, api_cached, api_output : prices of the API [USD / 1e6 token]
    speed : speed in practice over the predicted one [1]
    spread : ends of what the tables give: input_low, input_high, cached_low, cached_high,
        output_low, output_high of the API's prices [USD / 1e6 token]; speed_low, speed_high of the
        prediction, over it [1]
    """

    full_tokens_per_s: Any
    reading: Any
    usd_per_hour: Any
    utilization: Any
    input_tokens: Any
    output_tokens: Any
    cached_share: Any
    api_input: Any
    api_cached: Any
    api_output: Any
    speed: Any = 1.0
    spread: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, case: Any, speed: NodeSpeed, hour: PaidHour, asked: PaidTokens) -> Self:
        """That of a case at a speed, with what it pays for an hour and at an API.

        case : utilization, input_tokens, output_tokens, cached_share
        """
        spread = {f"speed_{end}": getattr(speed, end) for end in ("low", "high")}
        for end in ("low", "high"):
            for kind in ("input", "cached", "output"):
                spread[f"{kind}_{end}"] = getattr(getattr(asked, kind), end)
        return cls(
            speed.tokens_per_s,
            speed.reading,
            hour.usd,
            case.utilization,
            case.input_tokens,
            case.output_tokens,
            case.cached_share,
            asked.input.usd,
            asked.cached.usd,
            asked.output.usd,
            spread=spread,
        )

    @property
    def mix(self) -> tuple[Any, Any, Any]:
        """The request: tokens read, tokens written, share of the former found in a cache."""
        return self.input_tokens, self.output_tokens, self.cached_share

    @property
    def tokens_per_s(self) -> Any:
        """Output tokens per second of one accelerator at full load [token/s]."""
        return self.speed * self.full_tokens_per_s

    @property
    def api_usd_per_million(self) -> Any:
        """What the API asks [USD / 1e6 output token]."""
        return mix_usd_per_million(*self.mix, self.api_input, self.api_output, self.api_cached)

    def rented_usd_per_million(self, utilization: Any = None) -> Any:
        """On rented accelerators [USD / 1e6 output token], at the case's utilization if none is
        given.
        """
        return usd_per_million_tokens(
            self.usd_per_hour,
            self.tokens_per_s,
            self.utilization if utilization is None else utilization,
        )

    def owned_usd_per_million(self, terms: Ownership, utilization: Any = None) -> OwnedTokenCost:
        """On owned accelerators, by parts [USD / 1e6 output token]."""
        load = self.utilization if utilization is None else utilization
        return owned_usd_per_million_tokens(
            terms.fixed_usd_per_year, self.tokens_per_s, load, **terms.power
        )

    @property
    def break_even(self) -> Any:
        """Utilization above which renting is cheaper than the API [1]."""
        return break_even_utilization(
            self.usd_per_hour, self.tokens_per_s, self.api_usd_per_million
        )

    def kinds(self, usd_per_million: Any) -> Kinds:
        """Own price of an input and of an output token, of a price for both [USD / 1e6 token];
        cached input costs nothing.

        Time is what is paid for, so each kind of token costs in proportion to the seconds that one
        of it takes.

        >>> one = Serving(2000.0, 0.4, 3.6, 1.0, 1000.0, 500.0, 0.0, 1.0, 1.0, 1.0)
        >>> [round(price, 3) for price in one.kinds(one.rented_usd_per_million())]
        [0.1, 0.3]
        """
        fresh = self.input_tokens * (1 - self.cached_share)
        return Kinds(
            input=usd_per_million * self.reading * self.output_tokens / fresh,
            output=usd_per_million * (1 - self.reading),
        )

    def whole_groups(
        self, output_tokens_per_day: Any, speed: NodeSpeed
    ) -> tuple[WholeGroups, Self]:
        """The smallest fleet of whole groups that serves a demand without passing the case's
        utilization, of the engine that takes fewest chips; and the same by that engine.
        """
        demand = output_tokens_per_day / (HOURS_PER_DAY * SECONDS_PER_HOUR * self.utilization)
        groups = [(chips, self.speed * most) for chips, most in speed.groups]
        fleet = whole_groups(groups, demand)
        return fleet, replace(self, full_tokens_per_s=fleet.served / fleet.group / self.speed)

    def month(self, requests_per_day: Any, speed: NodeSpeed, busy: Busy, terms: Ownership) -> Month:
        """A mean month: of the fleet that the traffic takes or, where it is unknown, of whole
        groups that never pass the case's utilization.
        """
        day = requests_per_day * self.output_tokens
        groups, alike = self.whole_groups(day, speed)
        full = utilization_of(day, alike.tokens_per_s, HOURS_PER_DAY * groups.chips)
        known, engine = busy.demand.known, busy.fleet.engine
        share = where(known, self.utilization, full)
        one = replace(self, full_tokens_per_s=where(known, speed.tokens_per_s, alike.tokens_per_s))
        usd = Ways(
            one.rented_usd_per_million(share),
            one.owned_usd_per_million(terms, where(known, busy.standing, full)).total,
            self.api_usd_per_million,
        )
        return Month(
            where(known, busy.fleet.peak * engine.chips, groups.chips),
            where(known, engine.chips, groups.group),
            share,
            Ways(*(usd_per_month(day, of) for of in usd)),
            Ways(one.bill(usd.rented).total, one.bill(usd.owned).total, one.bill().total),
        )

    def bill(self, usd_per_million: Any = None) -> TokenBill:
        """Bill of one request at an own price, or at the API's if none is given [USD]."""
        if usd_per_million is None:
            return request_usd(*self.mix, self.api_input, self.api_output, self.api_cached)
        return request_usd(*self.mix, *self.kinds(usd_per_million), 0.0)

    def api_interval(self, usd: Any) -> tuple[Any, Any]:
        """Price at the API's cheapest and at its dearest host, of one at the case's host."""
        kinds = ("input", "cached", "output")

        def level(end: str) -> Any:
            prices = {f"api_{kind}": self.spread[f"{kind}_{end}"] for kind in kinds}
            return replace(self, **prices).api_usd_per_million / self.api_usd_per_million

        return usd * level("low"), usd * level("high")


# What nobody knows of a case of serving: speed in practice, the load that will come, and what an
# hour will cost that no contract fixes; and how far that moves where renting meets an API.
#
# What a reader chooses (a contract, a seller, a host) or has set (an own rent) has no spread
# here.


SPEED, LOAD, RENT = "speed in practice", "utilization", "rents of the year ahead"
"""What the inputs are called in a chart."""


@lookup
def load_spread() -> float:
    """How far utilization lies from its middle at either end, as a factor: that of deployments of
    models by one company, before and without pooling [aegaeon2025, section 2].

    >>> 1.5 < load_spread() < 1.7
    True
    """
    return sqrt(fact("aegaeon_utilization_high") / fact("aegaeon_utilization_low"))


BEST = {"speed_in_practice": 1.0, "rent_ahead": 1.0}
"""Inputs that no control gives, at their best estimates: speed over the predicted, and the rent of
the year ahead over today's [1].
"""


@lookup
def load_and_rent(
    load: Quantity, loose: Any, busy: Busy | None = None
) -> tuple[Quantity, dict[str, Ends]]:
    """The rent of the year ahead over today's as an input of its own, see `BEST`, and the ends of
    it and of the load.

    Parameters
    ----------
    load : how much of the time is used [1]
    loose : whether the rent may be another next year [truth value]
    busy : where the load comes from, if traffic may give it
    """
    ahead, factor = given("rent_ahead", 1.0), load_spread()
    drift = yearly_drift().mean_over(1.0)
    guessed = Ends(load, load / factor, minimum(load * factor, 1.0))
    return ahead, {
        LOAD: busy.ends(guessed) if busy else guessed,
        RENT: Ends(ahead, *(where(loose, end, 1.0) for end in drift)),
    }


@lookup
def unknowns(
    case: Any, low: Any, high: Any, busy: Busy | None = None
) -> tuple[Quantity, Quantity, dict[str, Ends]]:
    """What nobody knows of a price on rented accelerators: speed and rent as inputs of their own,
    see `BEST`, and the ends of both and of the load.

    Parameters
    ----------
    case : utilization, contract, rent_usd_per_hour (0 for none of the reader's own)
    low, high : bounds of measured over predicted speed [1]
    busy : see `load_and_rent`
    """
    speed, loose = given("speed_in_practice", 1.0), unfixed(case.contract, case.rent_usd_per_hour)
    ahead, ends = load_and_rent(case.utilization, loose, busy)
    return speed, ahead, {SPEED: Ends(speed, low, high)} | ends


@lookup
def break_even_range(service: Serving, case: Any) -> tuple[Quantity, Quantity]:
    """Low and high end of the utilization above which renting is cheaper than an API (90 %) [1].

    service : the case at its best estimates; its `spread` holds speed_low and speed_high
    case : as for `unknowns`
    """
    within = (service.spread[f"speed_{end}"] for end in ("low", "high"))
    speed, ahead, ends = unknowns(case, *within)
    free = replace(service, speed=speed, usd_per_hour=service.usd_per_hour * ahead)
    low, high = interval_of(free.break_even, [ends[SPEED], ends[RENT]])
    return at(low, **BEST), at(high, **BEST)
