"""Every way in which a case may have the tokens of an open model written: any accelerator rented
under any contract or owned, and an API; the cheapest of each kind, and how sure the choice is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Self

from scaleright.catalog import model as shape
from scaleright.costs.owned_hours import OwnedHour, owned_rows
from scaleright.costs.ownership import Ownership
from scaleright.costs.serving import LOAD, RENT, BreakEvens, Serving, Ways, load_spread
from scaleright.costs.token_offers import Found, Paid, ServingChoices, hosts_spread
from scaleright.costs.tokens import (
    MILLION,
    break_even_utilization,
    mix_usd_per_million,
    owned_break_even_utilization,
    owned_usd_per_million_tokens,
    usd_per_million_tokens,
)
from scaleright.decisions.two_chips import SPEED, errors_in_common, spread_apart
from scaleright.inference.demand import Busy, Demand, requests_of
from scaleright.inference.node_speed import NodeSpeed, node_speed
from scaleright.information import NINETY, Choice, spread_between
from scaleright.market import (
    BEST,
    TERM_YEARS,
    rents_apart,
    taken_accelerator,
    unfixed,
    yearly_drift,
)
from scaleright.ops import exp, first_case, item, maximum, minimum, sqrt, where
from scaleright.quantity import Quantity, at, choose, given, least, look_up, over, pick
from scaleright.quantity.lists import place_of_least, word_at
from scaleright.ranges import Ends, interval
from scaleright.units import HOURS_PER_DAY
from scaleright.validation.in_common import KINDS

RENT_IT, OWN_IT, ASK_API = "renting", "owning", "the API"
"""Kinds of ways, as subjects of a sentence."""
PAID = "prices paid"
"""What an input is called in a chart, beside those of `costs.serving` and `two_chips`."""
NAN = float("nan")


@dataclass(frozen=True)
class OnChip:
    """A case of serving on one accelerator.

    case : with that accelerator, the contract that is taken, the price of one that is owned, and
        the utilization that follows
    chip, host : rows of it and of the model at an API, see `ServingChoices`
    factors : of the place where an owned one stands, see `ServingChoices.chosen`
    paid, speed, busy, terms : prices, what its engine does, its load, and the terms of owning it
    held : an owned hour of one, with its ends
    contracts : under how many it may be rented [1]
    own_price : whether its price is the reader's own [truth value]
    owned_only : whether it is the case's, and nobody rents it out at all [truth value]
    """

    case: SimpleNamespace
    chip: Mapping[str, Any]
    host: Mapping[str, Any]
    factors: Mapping[str, Any]
    paid: Paid
    speed: NodeSpeed
    busy: Busy
    terms: Ownership
    held: OwnedHour
    contracts: Any
    own_price: Any
    owned_only: Any

    @classmethod
    def of(cls, case: Any, tables: ServingChoices, accelerator: Any) -> Self:
        """That of a case of quantities, whose accelerator and contract may be `market.BEST`. A rent
        and a price of the reader's own are those of the accelerator that the case names.
        """
        named = case.accelerator == accelerator
        rent, usd = (where(named, of, 0.0) for of in (case.rent_usd_per_hour, case.chip_usd))
        own = {"accelerator": accelerator, "rent_usd_per_hour": rent}
        case = SimpleNamespace(**vars(case) | own)
        name, many = tables.hours.contract(case, HOURS_PER_DAY, TERM_YEARS)
        chip, host, factors = tables.chosen(case)
        given_usd, usd = usd > 0, where(usd > 0, usd, chip.chip_usd)
        case = SimpleNamespace(**vars(case) | {"contract": name, "chip_usd": usd})
        load = requests_of(case.traffic, case.input_tokens, case.output_tokens, case.cached_share)
        demand, paid = Demand.of(case, name), tables.paid(case)
        served = case.model, accelerator, case.precision
        speed = node_speed(tables.engines, *served, load, case.pace_tokens_per_s, demand)
        busy = demand.busy(speed.seated, load, case.utilization)
        what = usd, factors["drawn"], chip.age_years
        terms = Ownership.build(*what, factors["usd_per_kwh"], factors)
        many = where(many > 0, many, where(paid.hour.there, 1, 0))
        rows = owned_rows(tables.hours.names)
        held = OwnedHour.of(choose(rows, accelerator, case.setting), False, busy.share)
        only = named & tables.hours.unlisted(accelerator) & (rent <= 0)
        of = chip, host, factors, paid, speed, busy, terms, held, many, given_usd, only
        return cls(busy.filled(case), *of)

    @cached_property
    def found(self) -> Found:
        """What it costs each way, and from which load."""
        case, speed, asked = self.case, self.speed, self.paid.asked
        rent, load = self.paid.hour.usd, self.busy.share
        own, power = (self.terms.fixed_usd_per_year, speed.tokens_per_s), self.terms.power
        mix = case.input_tokens, case.output_tokens, case.cached_share
        api = mix_usd_per_million(*mix, asked.input.usd, asked.output.usd, asked.cached.usd)
        return Found(
            speed,
            Ways(
                usd_per_million_tokens(rent, speed.tokens_per_s, load),  # C(u)
                owned_usd_per_million_tokens(*own, self.busy.standing, **power).total,
                api,
            ),
            BreakEvens(
                break_even_utilization(rent, speed.tokens_per_s, api),  # where C(u) meets the API
                owned_break_even_utilization(*own, api, **power),
            ),
            Serving.of(case, speed, *self.paid),
            self.paid,
        )

    @property
    def figures(self) -> dict[str, Any]:
        """What `Way` takes of renting and of owning it, each name after that of its kind; what both
        share; the price of the cheaper, as either, if it is rented out at all; and in how many ways
        it may be had, as ways.
        """
        speed, hour, busy = self.speed, self.paid.hour, self.busy
        rented, owned, _ = self.found.price
        load, factor = busy.share, load_spread()
        ends = busy.ends(Ends(load, load / factor, minimum(load * factor, 1.0)))
        held, there = self.held, (rented > 0) | self.owned_only
        paid = where(self.owned_only, owned, rented)
        loose = unfixed(self.case.contract, self.case.rent_usd_per_hour)
        found = {
            "off": spread_between(speed.low, speed.high),
            "slow": speed.low,
            "fast": speed.high,
            "either": where(speed.served & there, where(owned < rented, owned, paid), NAN),
            "ways": where(speed.served, self.contracts + where(owned > 0, 1, 0), 0),
        }
        sure = exp(
            NINETY * sqrt(maximum(spread_between(held.low, held.high) ** 2 - held.apart**2, 0))
        )
        bought = [  # of a price of the reader's own only the rest is in doubt
            where(self.own_price, end, of / held.usd)
            for end, of in ((1 / sure, held.low), (sure, held.high))
        ]
        prices = {
            RENT_IT: (rented, hour.least / hour.usd, hour.most / hour.usd, loose),
            OWN_IT: (owned, *bought, False),
        }
        for kind, (usd, low, high, moves) in prices.items():
            known = where(speed.served, usd, NAN)
            found |= {
                f"{kind} usd": known,
                f"{kind} idle": at(known, load=ends.low),
                f"{kind} busy": at(known, load=ends.high),
                f"{kind} low": low,
                f"{kind} high": high,
                f"{kind} loose": where(moves & speed.served, 1, 0),
            }
        return found


@dataclass(frozen=True)
class Way:
    """The cheapest way of a kind; no accelerator and NaN where there is none.

    accelerator : on which; empty at an API
    usd, idle, busy : price, and at the low and the high end of the load [USD / 1e6 output token]
    off, slow, fast : standard deviation of the logarithm of measured over predicted speed, and its
        ends [1]; 0, 1 and 1 at an API
    low, high : ends of the price that is paid over it [1]
    loose : whether it may be another in the year ahead (1 or 0)
    """

    accelerator: Any
    usd: Any
    idle: Any
    busy: Any
    off: Any
    slow: Any
    fast: Any
    low: Any
    high: Any
    loose: Any

    @classmethod
    def cheapest(cls, kind: str, rows: Mapping[str, Any], names: tuple[str, ...]) -> Self:
        """That of a kind among the accelerators of some rows, see `OnChip.figures`."""
        place, read = place_of_least(rows[f"{kind} usd"]), {of: f"{kind} {of}" for of in _OWN}
        read |= {of: of for of in ("off", "slow", "fast")}
        # at no place a page has nothing, of which once is NaN
        found = {name: 1.0 * item(rows[of], place) for name, of in read.items()}
        return cls(word_at([*names], place), **found)

    @property
    def ends(self) -> tuple[Any, Any]:
        """Low and high end of its price (90 %) [USD / 1e6 output token]."""
        drift = yearly_drift().mean_over(1.0)
        rent = (where(self.loose > 0, end, 1.0) for end in drift)
        low, high = rent
        return interval(
            lambda load, rent, paid, speed: self.usd * load * rent * paid / speed,
            load=(self.busy / self.usd, 1.0, self.idle / self.usd),
            rent=(low, 1.0, high),
            paid=(self.low, 1.0, self.high),
            speed=(self.slow, 1.0, self.fast),
        )


_OWN = ("usd", "idle", "busy", "low", "high", "loose")
"""Figures of a way that its kind has of its own."""


@dataclass(frozen=True)
class ServingOptions:
    """All ways that a case leaves open.

    chip, any_chip : an input of its own, the accelerator, and the case on it
    taken : the case on the accelerator on which renting or owning is cheapest, of those that are
        rented out as the case asks
    kinds : the cheapest way of each kind, by name
    kind, rival : the name of the cheapest of all, and of the next of another kind
    best : the cheapest of all
    choice : that one or the rival, by their prices [USD / 1e6 output token]
    ways : how many were compared [1]
    nameless : whether a rent or a price of the reader's own is that of no accelerator that is named
    """

    chip: Quantity
    any_chip: OnChip
    taken: OnChip
    kinds: Mapping[str, Way]
    kind: Any
    rival: Any
    best: Way
    choice: Choice
    ways: Any
    nameless: Any

    @classmethod
    def of(cls, case: Any, tables: ServingChoices, by: Any = None) -> Self:
        """Those of a case of quantities, whose accelerator may be `market.BEST`.

        case : see `OnChip`; also model, setting, seller and the prices of the reader's own
        by : that of `RENT_IT` and `OWN_IT` by which the accelerator is taken, and of which there
            are `ways`; by default the cheaper, and all
        """
        names, chip = tables.hours.names, given("chip", tables.hours.names[0])
        one, any_of = OnChip.of(case, tables, chip), case.accelerator == BEST
        open_ = any_of | (case.accelerator == chip)
        figures = one.figures
        if by is not None:
            rented, owned = (figures[f"{of} usd"] for of in (RENT_IT, OWN_IT))
            paid = where(by == OWN_IT, owned, rented)
            figures |= {"either": paid, "ways": where(paid > 0, 1, 0)}
        for of in (f"{RENT_IT} usd", f"{OWN_IT} usd", "either"):
            figures[of] = where(open_, figures[of], NAN)
        figures["ways"] = where(open_, figures["ways"], 0)
        rows = over("options", {chip: list(names)}, figures)
        kinds = {of: Way.cheapest(of, rows, names) for of in (RENT_IT, OWN_IT)}
        place = place_of_least(rows["either"])
        found = where(place < 0, names[0], word_at([*names], place))
        taken = OnChip.of(case, tables, taken_accelerator(case.accelerator, found, names[0]))
        kinds[ASK_API] = _asked(taken)
        prices = {of: way.usd for of, way in kinds.items()}
        kind, rival = least(prices)[0], least(prices, after=least(prices)[0])[0]
        asked = where(taken.paid.asked.there, taken.paid.asked.many, 0) if by is None else 0
        ways = sum(item(rows["ways"], place) for place in range(len(names))) + asked
        best, other = (_of_kind(kinds, of) for of in (kind, rival))
        of = taken.case
        request = of.input_tokens, of.output_tokens, of.cached_share
        host = hosts_spread(taken.paid.asked, request)
        choice = _choice(best, other, taken.case.model, host, tables)
        nameless = any_of & ((case.rent_usd_per_hour > 0) | (case.chip_usd > 0))
        return cls(chip, one, taken, kinds, kind, rival, best, choice, ways, nameless)

    @property
    def known(self) -> Any:
        """Whether there is an answer: it is served, and an API and renting have a price, or owning
        where nobody rents the accelerator out [truth value].
        """
        of = self.taken
        owned = of.owned_only & of.speed.served & of.paid.asked.there & (of.found.price.owned > 0)
        return (of.found.known | owned) & ~self.nameless

    @property
    def usd_per_thousand_requests(self) -> Any:
        """What a thousand requests cost the cheapest way [USD]."""
        return 1e3 * self.best.usd * self.taken.case.output_tokens / MILLION

    @property
    def rented(self) -> Way:
        """The cheapest to rent."""
        return self.kinds[RENT_IT]

    @property
    def owned(self) -> Way:
        """The cheapest to own."""
        return self.kinds[OWN_IT]


def _asked(of: OnChip) -> Way:
    """The API, whose price is as its hosts ask."""
    usd = of.found.price.api
    low, high = (end / usd for end in of.found.service.api_interval(usd))
    return Way("", usd, usd, usd, 0.0, 1.0, 1.0, low, high, 0)


def _of_kind(kinds: Mapping[str, Way], kind: Quantity) -> Way:
    """The way of a kind; no figures of none."""
    word = first_case([(kind == of, way.accelerator) for of, way in kinds.items()], "")
    found, chosen = {}, where(kind == "", "none", kind)
    for name in (field.name for field in fields(Way) if field.name != "accelerator"):
        found[name] = pick({of: getattr(way, name) for of, way in kinds.items()} | _NONE, chosen)
    return Way(word, **found)


_NONE = {"none": NAN}


def _choice(best: Way, other: Way, model: Any, host: Any, tables: ServingChoices) -> Choice:
    """One way or the other. What both have in common cancels, see `two_chips`; which host to ask is
    no doubt where the reader has chosen, else its price may be as much as the median of hosts.

    host : standard deviation of the logarithm of what an API asks [1]
    """
    kinds = {name: KINDS[bool(shape(name).experts)] for name in tables.models}
    common = choose(errors_in_common(("inference",)), "inference", look_up(kinds, model)).common
    common = where(best.accelerator == other.accelerator, 1.0, common)
    loads = spread_between(best.busy / other.busy, best.idle / other.idle)
    price, other_price = (
        where(of.accelerator == "", host, spread_between(of.low, of.high)) for of in (best, other)
    )
    spreads = {
        SPEED: spread_apart(best.off, other.off, common),
        LOAD: abs(loads),
        RENT: rents_apart(best.loose > 0, other.loose > 0),
        PAID: spread_apart(price, other_price, 0.0),
    }
    return Choice(best.usd, other.usd, spreads)
