"""Build, buy or call an API (F16) with the Deployment Decision Tree (F10): every way to serve one
workload, by what a year costs, and from which spend a site of one's own pays.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple, Self

import numpy as np

from scaleright.catalog import accelerator, fact, remembered
from scaleright.costs import uncertainty
from scaleright.costs.break_even import egress_usd_per_year
from scaleright.costs.day_bills import DayBill, day_bill
from scaleright.costs.day_choices import DayChoices
from scaleright.costs.ownership import REGIONS, Ownership, made_for_servers, power_price
from scaleright.costs.token_offers import hosts_spread, paid_tokens
from scaleright.costs.tokens import MILLION, mix_usd_per_million
from scaleright.decisions.capex_opex import source_rule
from scaleright.decisions.plan_workload import IN_REGION, STAYS
from scaleright.formulas import NON_NEGATIVE, POSITIVE, closed_form, lookup
from scaleright.inference.day import DayFleet
from scaleright.inference.traffic import HOURS, load_at
from scaleright.information import probability_cheaper, spread_between
from scaleright.market import (
    BEST,
    LASTING,
    Hosts,
    PaidTokens,
    Rents,
    cost_factor,
    fixed_years,
    taken_accelerator,
    yearly_drift,
)
from scaleright.ops import (
    INFINITY,
    ceil,
    exp,
    first_case,
    floor,
    item,
    maximum,
    minimum,
    sqrt,
    where,
)
from scaleright.quantity import choose, derived, given, least, over, pick
from scaleright.quantity.lists import place_of_least, word_at
from scaleright.units import DAYS_PER_YEAR, HOURS_PER_DAY, HOURS_PER_YEAR, MONTHS_PER_YEAR, figure

API, RENT = "call an API", "rent"
HYBRID = "own a base and rent the rest"
SPILL = "own a base and call an API beyond it"
COLOCATION, SITE = "own chips in a colocation", "own chips on your own site"
ROOM = "own cards in a room of your own"
SETTINGS = {COLOCATION: "colocation", SITE: "data center", ROOM: "home"}
"""Ways to own, and the setting whose terms each has."""
ON_PREMISES, MULTI_CLOUD = "on premises", "multi-cloud"
CONTRACTS = tuple(of for of in LASTING if fixed_years(of) <= 1)
"""Contracts of which the cheapest is taken: those that last and bind for a year at most."""
LEAST_REQUESTS = 1e3
"""The fewest requests of a service [request/day]."""
NAN = float("nan")
SEVERAL = "several"
BYTES_PER_TOKEN, BYTES_PER_GB = 4.0, 1e9
"""Of text that leaves a cloud: about four characters a token."""
FIXED = {
    "scaling": "base and bursts",
    "startup_minutes": 10.0,
    "least_engines": 1,
    "waiting_share": 0.0,
    "interruptions_per_day": 1.0,
    "prefixes": "what fits",
    "seller": "median",
    "rent_usd_per_hour": 0.0,
    "regions": "one",
    "owned": "none",
    "owned_chips": 0.0,
    "budget_usd": 0.0,
    "lengths": None,
    "worth": None,
    "tuned": False,
    "weighed": True,
}
"""What a service is given where nothing else is asked, as the chapter on a day's load has it."""


@closed_form(
    crew_usd_per_year=NON_NEGATIVE, rent_usd_per_hour=POSITIVE, owned_usd_per_hour=NON_NEGATIVE
)
def own_site_usd_per_year(crew_usd_per_year, rent_usd_per_hour, owned_usd_per_hour):
    """Rent a year above which a site of one's own is cheaper: what owning saves of it pays the
    crew; infinite where an owned hour costs as much as a rented one [USD/year].

    Parameters
    ----------
    crew_usd_per_year : of the people who run a site, which it takes whatever its size [USD/year]
    rent_usd_per_hour, owned_usd_per_hour : of an hour of use; the owned one without people [USD/h]

    >>> own_site_usd_per_year(1e6, 2.0, 1.5), own_site_usd_per_year(1e6, 1.0, 1.5)
    (4000000.0, inf)
    """
    saved = 1 - owned_usd_per_hour / rent_usd_per_hour
    return where(saved > 0, crew_usd_per_year / where(saved > 0, saved, 1.0), INFINITY)


@lookup
def crew_usd_per_year() -> float:
    """What the crew of the smallest site of one's own costs a year: the middle of published crews
    at the usual pay [USD/year].

    >>> 1e6 < crew_usd_per_year() < 3e6
    True
    """
    people = (fact("data_center_crew_low") + fact("data_center_crew_high")) / 2
    return people * cost_factor("staff_usd_per_year", "data center").best


@lookup
def lead_months() -> tuple[float, float]:
    """Between the order of servers and their arrival, as published [month]: for the largest
    customers of the newest chip, and for others of an older one from resellers.

    >>> 3 < lead_months()[0] < lead_months()[1] < 15
    True
    """
    weeks = fact("gpu_lead_time_weeks_high")
    return fact("gpu_lead_time_months_low"), weeks * 7 / (DAYS_PER_YEAR / MONTHS_PER_YEAR)


@lookup
def arrives() -> str:
    """When servers come that are bought, in words.

    >>> arrives()
    'servers come 4 to 12 months after the order, as published of B200 and H100'
    """
    few, many = lead_months()
    said = "months after the order, as published of B200 and H100"
    return f"servers come {few:.0f} to {many:.0f} {said}"


@lookup
def arrival_days(deviations: Any) -> Any:
    """Days from the order until servers are there [d], by how many standard deviations they come
    later than in the middle: nine of ten come between the ends of `lead_months`.

    >>> 200 < arrival_days(0.0) < 220, arrival_days(1.28) > 300
    (True, True)
    """
    few, many = (months * DAYS_PER_YEAR / MONTHS_PER_YEAR for months in lead_months())
    return sqrt(few * many) * exp(deviations * spread_between(few, many))


@lookup
def room_watts() -> float:
    """What the machines in a room of an office draw at most [W].

    >>> 1e3 < room_watts() < 1e4
    True
    """
    return cost_factor("room_watts", "home").best


@lookup
def source_branch(hours_per_day: Any, months: Any, chips: Any, sensitive: Any, several: Any) -> Any:
    """The branch that Clarifai's tree takes, as `deployment.source_branch`, of quantities.

    >>> str(source_branch(20.0, 36.0, 8, False, False)), str(source_branch(5, 24, 1, False, True))
    ('rent', 'multi-cloud')
    """
    one = where(chips > 1, "rent", source_rule(hours_per_day, months))
    cloud = where(several, MULTI_CLOUD, one)
    return where(sensitive, ON_PREMISES, cloud)


@dataclass(frozen=True)
class OwnedFleet:
    """A fleet of one's own, by way to own it: bought in whole servers, or what is lacking of chips
    that are owned already.

    chip : how one is bought, see `bought_as`
    chips, bought : for it, in whole servers, and those of them that are not owned already [1]
    hours : of use a day of each [h/day]
    terms : of owning one
    each, usd : a year of one that is bought, and of all of them with the crew [USD/year]
    stands : whether it may stand so [truth value]
    """

    chip: Any
    chips: Any
    bought: Any
    hours: Any
    terms: Mapping[str, Ownership]
    each: Mapping[str, Any]
    usd: Mapping[str, Any]
    stands: Mapping[str, Any]

    @classmethod
    def of(cls, case: Any, chips: Sequence[str], fleet: DayFleet, have: Any = 0.0) -> Self:
        """That of a fleet in a case: accelerator, region.

        have : how many of the accelerator are owned already [1]
        """
        chip = choose({of: bought_as(of) for of in chips}, case.accelerator)
        needed = fleet.peak * fleet.engine.chips
        mine, lacking = _used_and_bought(needed, have, chip.each)
        full = fleet.utilization(HOURS_PER_DAY * fleet.peak)
        every = ceil(needed / chip.each) * chip.each
        hours = minimum(maximum(HOURS_PER_DAY * full * needed / every, 0.1), HOURS_PER_DAY)
        terms = {way: owning(case, chips, setting) for way, setting in SETTINGS.items()}
        terms[SITE] = replace(terms[SITE], people_usd_per_year=0.0)
        each = {way: of.owned_usd_per_year(hours).total for way, of in terms.items()}
        usd = {
            way: mine * terms[way].running_usd_per_year(hours) + lacking * of
            for way, of in each.items()
        }
        usd[SITE] = usd[SITE] + crew_usd_per_year()
        watts = (mine + lacking) * terms[ROOM].most_watts
        stands = {
            COLOCATION: chip.server > 0,
            SITE: chip.server > 0,
            ROOM: (chip.server < 1) & (watts <= room_watts()),
        }
        return cls(chip, every, lacking, hours, terms, each, usd, stands)

    def yearly(self, hours: Any, bought: bool) -> Any:
        """What a chip that is bought, or is there and run, costs at so many hours a day in a
        colocation, or a card in a room [USD/year].
        """
        shared, room = (
            of.owned_usd_per_year(hours).total if bought else of.running_usd_per_year(hours)
            for of in (self.terms[COLOCATION], self.terms[ROOM])
        )
        return where(self.chip.server > 0, shared, room)


def _used_and_bought(needed: Any, have: Any, each: Any) -> tuple[Any, Any]:
    """Of so many chips that are needed, those used of what is owned already, and those bought in
    whole servers of so many, which leave fewer of the former [1].
    """
    lacking = ceil(maximum(needed - have, 0.0) / each) * each
    return maximum(minimum(have, needed - lacking), 0.0), lacking


def _without_spare(fleet: DayFleet) -> list[Any]:
    """Engines of each hour of a day without those that stand by: an API takes their place [1]."""
    return [maximum(of - fleet.spare_engines, 1.0) for of in fleet.hourly]


_BUSIEST = sorted(HOURS, key=lambda hour: (-load_at(hour, 1.4), -load_at(hour + 0.5, 1.4)))
"""The hours of a day, that with most load first; of two alike that before the peak, for which
engines are started."""


@dataclass(frozen=True)
class OwnedBase:
    """A base of one's own in a colocation, or of cards in a room, of as many engines as cost least,
    and what the busier hours take beyond it rented, or asked of an API.

    engines, chips : of the base [1]
    bought : of its chips, those that are bought, in whole servers [1]
    rented : chips that are rented at the busiest time [1]
    usd : a year of all; infinite where owning or renting all of it costs no more [USD/year]
    rented_share : of that, the rent, or what the API takes [1]
    """

    engines: Any
    chips: Any
    bought: Any
    rented: Any
    usd: Any
    rented_share: Any

    @classmethod
    def of(
        cls, own: OwnedFleet, fleet: DayFleet, rents: Rents, have: Any = 0.0, api: Any = None
    ) -> Self:
        """That of a fleet, for which so many chips are owned already; beyond it an API, if a year
        of all requests there is given [USD/year].

        An engine is worth owning where the hours that it works would cost more rented: bought ones,
        in whole servers, or of those that are there already as many as pay what running them costs.
        """
        each, needs = own.chip.each, fleet.engine.chips
        hourly, loose = fleet.hourly, rents.by_the_hour.usd
        if api is not None:
            hourly = _without_spare(fleet)
            loose = api / DAYS_PER_YEAR / (sum(hourly) * needs)

        def worth(bought: bool) -> Any:
            """Engines whose hours would cost more rented [1]."""
            none, full = (own.yearly(of, bought) / DAYS_PER_YEAR for of in (0.0, HOURS_PER_DAY))
            saved = loose - (full - none) / HOURS_PER_DAY
            hours = where(saved > 0, none / where(saved > 0, saved, 1.0), INFINITY)
            cases = [(hours <= place, hourly[int(of)]) for place, of in enumerate(_BUSIEST, 1)]
            return first_case(cases, 0.0)

        most = where(
            own.chip.server > 0, INFINITY, floor(room_watts() / own.terms[ROOM].most_watts)
        )
        there = floor(have / needs)
        lacking = maximum(worth(bought=True) * needs - have, 0.0) / each
        sizes = [minimum(there, worth(bought=False))]
        sizes += [floor((have + whole(lacking) * each) / needs) for whole in (floor, ceil)]
        found = [
            cls.of_so_many(minimum(of, floor(most / needs)), own, fleet, rents, have, api)
            for of in sizes
        ]
        best = found[0]
        for one in found[1:]:
            pairs = zip(vars(one).values(), vars(best).values(), strict=True)
            best = cls(*(where(one.usd < best.usd, this, other) for this, other in pairs))
        return best

    @classmethod
    def of_so_many(
        cls,
        engines: Any,
        own: OwnedFleet,
        fleet: DayFleet,
        rents: Rents,
        have: Any,
        api: Any = None,
    ) -> Self:
        """That of so many engines; infinite where they are none or all."""
        needs = fleet.engine.chips
        hour, loose = (rent.usd * needs for rent in (rents.hour, rents.by_the_hour))
        mine, bought = _used_and_bought(engines * needs, have, own.chip.each)
        hourly = fleet.hourly if api is None else _without_spare(fleet)
        beyond = [maximum(of - engines, 0.0) for of in hourly]
        elsewhere = sum(beyond) / sum(hourly)  # of all work
        lowest = beyond[int(_BUSIEST[-1])]
        # engine hours that are rented, those for work that fills valleys among them
        bursts = elsewhere * fleet.scaled_hours
        always = HOURS_PER_DAY * lowest
        fixed = HOURS_PER_DAY * (fleet.peak - engines) * hour
        rent = minimum(fixed, always * hour + maximum(bursts - always, 0.0) * loose) * DAYS_PER_YEAR
        work = fleet.utilization(HOURS_PER_DAY * fleet.peak) * HOURS_PER_DAY * fleet.peak
        hours = work * (1 - elsewhere) * needs / maximum(mine + bought, 1.0)
        hours = minimum(maximum(hours, 0.1), HOURS_PER_DAY)
        some = rents.hour.there & rents.by_the_hour.there
        rented = (fleet.peak - engines) * needs
        if api is not None:
            rent, some, rented = elsewhere * api, (elsewhere > 0) & (api > 0), 0.0 * rented
        usd = (
            mine * own.yearly(hours, bought=False) + bought * own.yearly(hours, bought=True) + rent
        )
        mixed = (engines > 0) & (engines < fleet.peak) & some
        usd = where(mixed, usd, INFINITY)
        return cls(engines, mine + bought, bought, rented, usd, rent / usd)


class Pooled(NamedTuple):
    """Chips that many customers share: the accelerator, its hours in a day of which a request is in
    each [h], and the share of them that has work [1].
    """

    chip: Any
    busy_hours: Any
    utilization: float


class AtApi(NamedTuple):
    """What an API asks for all requests of a service.

    asked : its prices, those of the cheapest host for such requests
    request : whole tokens read and written, and the share of the former in a cache, as the chapter
        on tokens takes them
    usd : a year of it [USD/year]
    there : whether it may be called [truth value]
    """

    asked: PaidTokens
    request: tuple[Any, Any, Any]
    usd: Any
    there: Any

    @classmethod
    def of(
        cls, case: Any, tables: DayChoices, hosts: Hosts, model: Any, cached: Any = None
    ) -> Self:
        """That of a case on its accelerator, whose engines would have such prompts in a cache.

        cached : share of prompts in a cache, if another one [1]
        """
        load = tables.traffic(case).load
        cached = floor(1e4 * load.cached_share + 0.5) / 1e4 if cached is None else cached
        request = (*(floor(of + 0.5) for of in _lengths(case, load)), cached)
        asked = paid_tokens(hosts, model, BEST, request)
        prices = asked.input.usd, asked.output.usd, asked.cached.usd
        usd = mix_usd_per_million(*request, *prices) * request[1] / MILLION
        there = ~((case.data == STAYS) | (case.data == IN_REGION)) & (asked.why == "")
        return cls(
            asked,
            request,
            usd * case.requests_per_day * DAYS_PER_YEAR,
            where(case.tuned, False, there),
        )


def _lengths(case: Any, load: Any) -> tuple[Any, Any]:
    """Tokens of a prompt and of an answer: those that are asked for, or of the trace [token]."""
    return case.lengths or (load.input_tokens, load.output_tokens)


@dataclass(frozen=True)
class ChipWays:
    """The ways to serve a case of quantities on one accelerator under one contract.

    case : with both
    fleet, bill, rents : the fleet of its day, as the chapter on a day's load has it
    usd : a year of each way to have hardware, what may not be done included [USD/year]
    open : which of them may be done [truth value]
    own : the same fleet of one's own, what is owned already counted
    base, spill : the base that is owned where the rest is rented, or asked of an API
    """

    case: SimpleNamespace
    fleet: DayFleet
    bill: DayBill
    rents: Rents
    usd: Mapping[str, Any]
    open: Mapping[str, Any]
    own: OwnedFleet
    base: OwnedBase
    spill: OwnedBase

    @classmethod
    def of(cls, case: Any, tables: DayChoices, chips: Sequence[str], api: AtApi) -> Self:
        """Those of a case, see `ServiceWays`, with its accelerator and contract."""
        asked = case.requests_per_day
        worth = choose(case.worth, case.accelerator).worth if case.worth else 1.0
        there = SimpleNamespace(**vars(case) | {"requests_per_day": asked * worth})
        fleet, rents = tables.fleet(there), tables.hours.rents(there)
        bill = day_bill(fleet, rents, there)
        have = where(case.accelerator == case.owned, case.owned_chips, 0.0)
        own = OwnedFleet.of(case, chips, fleet, have)
        base = OwnedBase.of(own, fleet, rents, have)
        spill = OwnedBase.of(own, fleet, rents, have, where(api.there, api.usd, INFINITY))
        rented = bill.best[1] * DAYS_PER_YEAR
        gigabytes = asked * DAYS_PER_YEAR * _lengths(case, fleet.traffic.load)[1]
        gigabytes = gigabytes * BYTES_PER_TOKEN / BYTES_PER_GB / MONTHS_PER_YEAR
        moved = egress_usd_per_year(gigabytes, cost_factor("egress_usd_per_gb", "cloud").best)
        cheapest = minimum(rents.hour.low / rents.hour.usd, 1.0)
        stays, several = case.data == STAYS, case.regions == SEVERAL
        usd = {
            RENT: rented,
            MULTI_CLOUD: rented * cheapest + moved,
            HYBRID: base.usd,
            SPILL: spill.usd,
        } | {**own.usd}
        open_ = {
            RENT: ~stays & ~several & rents.hour.there,
            MULTI_CLOUD: ~stays & several & rents.hour.there,
            HYBRID: ~stays & ~several & (base.usd < INFINITY),
            SPILL: api.there & ~several & (spill.usd < INFINITY),
        } | {way: ~several & stands for way, stands in own.stands.items()}
        open_ = {of: it & fleet.served for of, it in open_.items()}
        return cls(case, fleet, bill, rents, usd, open_, own, base, spill)

    @property
    def threshold(self) -> Any:
        """Rent a year above which a site of one's own pays [USD/year]: an owned hour beside a
        rented one of the same use, since a contract that binds pays all hours.
        """
        owned_hour = self.own.terms[SITE].owned_usd_per_year(HOURS_PER_DAY).total / HOURS_PER_YEAR
        return own_site_usd_per_year(crew_usd_per_year(), self.rents.hour.usd, owned_hour)

    @property
    def says(self) -> Any:
        """The branch that Clarifai's tree takes."""
        months = self.own.terms[COLOCATION].years * MONTHS_PER_YEAR
        used = self.fleet.peak * self.fleet.engine.chips
        stays, several = self.case.data == STAYS, self.case.regions == SEVERAL
        return source_branch(self.own.hours, months, used, stays, several)


@dataclass(frozen=True)
class ServiceWays:
    """Every way to serve a case that it leaves open: an API, each accelerator under each contract
    rented or owned, and a base that is owned with either beyond it. The page of a plan and the
    command show the same ones.

    chips : accelerators
    one, api : the ways on the accelerator `chip` under the contract `under`, and at an API
    rows : what these are, a row for each accelerator and contract, and again for fewer requests
    places : of each way to have hardware, the place of the row that has it for least; -1 where it
        is ruled out
    usd : a year of the cheapest of each way, infinite where it is ruled out [USD/year]
    chip : of each way to have hardware the accelerator; none where it is ruled out
    best, runner_up : the cheapest way and the next of another kind, by name and a year of it, to
        own being one kind; infinite where there is none [USD/year]
    many : ways that were compared [1]
    fewer : as many requests as the budget pays for; 0 where it pays none [request/day]
    on_taken : makes `taken`, which the command never asks for
    """

    chips: Sequence[str]
    one: ChipWays
    api: AtApi
    rows: Mapping[str, Any]
    places: Mapping[str, Any]
    usd: Mapping[str, Any]
    chip: Mapping[str, Any]
    best: tuple[Any, Any]
    runner_up: tuple[Any, Any]
    many: Any
    fewer: Any
    on_taken: Callable[[], ChipWays]

    @cached_property
    def taken(self) -> ChipWays:
        """The ways on the accelerator that is taken, with an API on that which rents for least."""
        return self.on_taken()

    @classmethod
    def of(cls, case: Any, tables: DayChoices, chips: Sequence[str], hosts: Hosts) -> Self:
        """Those of a case: model, accelerator, trace, requests_per_day, peak_to_mean,
        pace_tokens_per_s, ttft_s, spare_engines, contract, data, regions, region, owned,
        owned_chips, budget_usd; if asked also lengths, worth (of a request in those of the trace,
        by accelerator) and tuned. Accelerator and contract may be `market.BEST`.
        """
        case = SimpleNamespace(**FIXED | vars(case))
        if "cached_share" not in vars(case):
            case.cached_share = choose(tables.traces, case.trace).cached_share
        first = where(case.accelerator == BEST, chips[0], case.accelerator)
        there = SimpleNamespace(**vars(case) | {"accelerator": first})
        api = AtApi.of(there, tables, hosts, case.model)
        one, rows, cheapest = _each(case, tables, chips, api)
        names, terms = zip(*product(chips, CONTRACTS), strict=True)
        places = {way: place_of_least(rows[_column(way)]) for way in one.usd}
        ranked = {
            way: item(rows[_column(way)], of) / item(rows["rank"], of) for way, of in places.items()
        }
        hardware = {way: where(of > 0, of, INFINITY) for way, of in ranked.items()}
        every = {API: where(api.there, api.usd, INFINITY)} | hardware
        best = least(every)
        place = first_case(
            [(best[0] == way, of) for way, of in places.items()],
            where(places[RENT] >= 0, places[RENT], pick(places, least(hardware)[0])),
        )
        chip, under = word_at([*names], place), word_at([*terms], place)
        under = where(under == "", CONTRACTS[0], under)
        of = SimpleNamespace(**vars(case))
        of.accelerator = taken_accelerator(BEST, chip, first)
        of.contract = derived(
            "signed", where(case.contract == BEST, under, case.contract), held=True
        )
        owned = sum(where(best[0] == way, 1, 0) for way in SETTINGS) > 0
        same = {way: owned if way in SETTINGS else best[0] == way for way in every}
        many = where(api.there, api.asked.many, 0)
        part = _part_within(case, chips, cheapest, case.weighed & (best[1] > case.budget_usd))
        at_api = where(api.there, minimum(case.budget_usd / api.usd, 1.0), 0.0)
        return cls(
            chips,
            one,
            api,
            rows,
            places,
            every,
            {way: word_at([*names], at) for way, at in places.items()},
            best,
            least({way: where(same[way], INFINITY, usd) for way, usd in every.items()}),
            many + sum(item(rows["ways"], at) for at in range(len(names))),
            case.requests_per_day * maximum(at_api, where(part > 0, part, 0.0)),
            lambda: ChipWays.of(of, tables, chips, api),
        )

    def spread(self, way: str) -> Any:
        """Spread of the logarithm of what a way costs, but for the speed of engines [1]: what rents
        do in a year, what the chip costs, and that the cheapest host may not do.
        """
        rent, host = spread_between(*yearly_drift().mean_over(1.0)), hosts_spread(*self.api[:2])
        if way in {API, RENT, MULTI_CLOUD}:
            return host if way == API else rent
        price = item(self.rows["price_spread"], self.places[way])
        if way in SETTINGS:
            return price
        part = item(self.rows["rented_share" if way == HYBRID else "api_share"], self.places[way])
        return mixed_spread(part, rent if way == HYBRID else host, price)

    def _apart(self, way: Any) -> tuple[Any, Any, Any]:
        """Of a way by its name the spread of its price and that of the speed of its engines, and
        the accelerator they run on; none of an API.
        """
        speeds = {of: item(self.rows["speed"], at) for of, at in self.places.items()}
        price = pick({of: self.spread(of) for of in self.usd}, way)
        chip = first_case([(of == way, it) for of, it in self.chip.items()], "")
        return price, pick({API: 0.0} | speeds, way), chip

    @property
    def spread_of_best(self) -> Any:
        """Spread of the logarithm of what the cheapest way costs [1]."""
        price, speed, _ = self._apart(self.best[0])
        return sqrt(price**2 + speed**2)

    @property
    def sureness(self) -> Any:
        """Probability that the cheapest way is cheaper than the next [1]: what the prices of both
        may be, and how fast the engines of either are in practice, unless both have the same.
        """
        (way, usd), (rival, other) = self.best, self.runner_up
        price, speed, chip = self._apart(way)
        next_price, next_speed, next_chip = self._apart(where(rival == "", API, rival))
        engines = where(chip == next_chip, 0.0, speed**2 + next_speed**2)
        spread = sqrt(price**2 + next_price**2 + engines)
        return probability_cheaper(usd, minimum(other, 1e3 * usd), spread)

    @property
    def pooled(self) -> Pooled:
        """What an API may have, that serves many: chips for servers whose full hours would cost
        least, as busy as pooling makes them.
        """
        place, full = place_of_least(self.rows["pooled"]), fact("aegaeon_utilization_pooled") / 100
        chip = word_at([*rows_of(self.chips)["chip"]], place)
        chip = where(chip == "", self.chips[0], chip)
        return Pooled(chip, item(self.rows["work_hours"], place) / full, full)

    @property
    def on_premises(self) -> Any:
        """The cheapest of the ways to own [USD/year]."""
        return minimum(minimum(self.usd[COLOCATION], self.usd[SITE]), self.usd[ROOM])

    @property
    def of_the_tree(self) -> Any:
        """What a year of the branch costs that Clarifai's tree takes [USD/year]."""
        branches = {"rent": self.usd[RENT], MULTI_CLOUD: self.usd[MULTI_CLOUD]}
        owned = {"buy": self.on_premises, ON_PREMISES: self.on_premises}
        return pick(branches | owned, self.taken.says)


PARTS = (1.0, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)
"""Shares of the requests that are tried, all of them first [1]."""
UNFITTED = 2.0**40
"""What is known of an accelerator whose speed was not fitted is taken only where none was: its
costs are so many times as large where the least is looked for.
"""


@lookup
def rows_of(chips: Sequence[str]) -> dict[str, list[Any]]:
    """The rows of `ServiceWays`: for each share of the requests each accelerator under each
    contract.

    >>> rows_of(["B200"])["under"][:2]
    ['on demand', 'reserved']
    """
    columns = zip(*product(PARTS, chips, CONTRACTS), strict=True)
    return dict(zip(("part", "chip", "under"), map(list, columns), strict=True))


def _part_within(case: Any, chips: Sequence[str], cheapest: Any, short: Any) -> Any:
    """Of `PARTS` the largest for which a budget pays that is short for all requests; NaN where it
    pays for none [1].

    cheapest : a year of the least way in a row [USD/year]
    """
    rows, all_of = rows_of(chips), len(chips) * len(CONTRACTS)
    values = {name: of[all_of:] for name, of in rows.items()}
    part = given("part", PARTS[0])
    places = {given(name, rows[name][0]): of for name, of in values.items()}
    wanted = {"fewer": where(cheapest <= case.budget_usd, -part, NAN)}
    found = over("fewer_requests", places, wanted, short)["fewer"]
    return item([*values["part"]], place_of_least(found))


def _each(
    case: Any, tables: DayChoices, chips: Sequence[str], api: AtApi
) -> tuple[ChipWays, dict[str, Any], Any]:
    """The ways on an accelerator under a contract, what they are in each row, and what the least of
    them costs a year [USD/year].
    """
    values = rows_of(chips)
    part, chip, under = (given(name, of[0]) for name, of in values.items())
    there = SimpleNamespace(**vars(case) | {"accelerator": chip})
    there.contract = where(case.contract == BEST, under, case.contract)
    there.requests_per_day = part * case.requests_per_day
    one = ChipWays.of(there, tables, chips, api._replace(usd=part * api.usd))
    asked = (case.accelerator == BEST) | (case.accelerator == chip)
    mine = asked | ((case.owned == chip) & (case.owned_chips > 0))
    once = under == CONTRACTS[0]  # what no contract changes
    rents, owns = asked & ((case.contract == BEST) | once), mine & once
    mixes = mine & ((case.contract == BEST) | once)
    may = {RENT: rents, MULTI_CLOUD: rents, HYBRID: mixes, SPILL: mixes}
    open_ = {way: it & may.get(way, owns) for way, it in one.open.items()}
    fleet, server = one.fleet, one.own.chip.server > 0
    full = fleet.utilization(HOURS_PER_DAY * fleet.peak)
    work = HOURS_PER_DAY * minimum(full, 1.0) * fleet.peak * fleet.engine.chips
    work_usd = one.bill.best[1] * full  # if all of its hours had work
    lent = fleet.lent
    rank = where(lent == "", 1.0, where(lent == "?", NAN, UNFITTED))
    usd = {way: where(open_[way], of, NAN) for way, of in one.usd.items()}
    cheapest = INFINITY
    for way, of in one.usd.items():
        cheapest = minimum(cheapest, where(open_[way] & (rank > 0), of, INFINITY))
    figures = {_column(way): of * rank for way, of in usd.items()}
    figures |= {
        "rank": rank,
        "served": where(fleet.served, 1.0, NAN),
        "price_spread": one.own.chip.price_spread,
        "speed": spread_between(fleet.low, fleet.high),
        "rented_share": one.base.rented_share,
        "api_share": one.spill.rented_share,
        "ways": sum(where(of * rank > 0, 1, 0) for of in usd.values()),
        "pooled": where(mine, work_usd * where(server, 1.0, UNFITTED), NAN),
        "work_hours": work,
    }
    names = ((part, "part"), (chip, "chip"), (under, "under"))
    places = {of: values[name][: len(chips) * len(CONTRACTS)] for of, name in names}
    return one, over("services", places, figures, case.weighed), cheapest


@lookup
def mixed_spread(rented_share: Any, rents: Any, price: Any) -> Any:
    """Spread of the logarithm of a bill of which so large a share is rent [1], of those of rents
    and of the price of chips, which move apart.

    >>> mixed_spread(0.0, 0.3, 0.1), mixed_spread(1.0, 0.3, 0.1)
    (0.1, 0.3)
    """
    return sqrt((rented_share * rents) ** 2 + ((1 - rented_share) * price) ** 2)


@lookup
def cost_of_rows(rows: Mapping[str, Any], way: str) -> np.ndarray:
    """What a way costs in each row of `ServiceWays`, NaN where it may not be done [USD/year]."""
    return rows[_column(way)].value / rows["rank"].value


def _column(way: str) -> str:
    """A way as the name of a column, by which expressions of a page read it."""
    return re.sub(r"\W", "_", way)


@lookup
@remembered
def bought_as(name: str) -> Mapping[str, Any]:
    """How a chip is bought, as a row for `choose`.

    Returns
    -------
    each : how many of it a server has [1]; a card of a workstation comes alone
    server : whether it is made for servers, so that it stands in no room of one's own
    price_spread : spread of the logarithm of its price [1]

    >>> bought_as("H100 SXM")["each"], bought_as("RTX PRO 6000")["server"]
    (8.0, False)
    """
    price = uncertainty.chip_terms(name)
    spread = float(spread_between(price["price_low"], price["price_high"]))
    each = float(accelerator(name).scale_up_chips or 1)
    found = {"each": each, "server": made_for_servers(name), "price_spread": figure(spread)}
    return MappingProxyType(found)


@lookup
def owning(case: Any, chips: Sequence[str], setting: str) -> Ownership:
    """Terms of owning the chip of a case in a setting, on the usual terms there; businesses pay for
    electricity what they do in its region wherever their chips stand.

    case : quantities or words `accelerator` and `region`
    """
    chip = choose({name: uncertainty.chip_terms(name) for name in chips}, case.accelerator)
    prices = {of: {"usd_per_kwh": usd_per_kwh(of, setting)} for of in REGIONS}
    usual = uncertainty.usual_terms()[setting] | dict(choose(prices, case.region))
    there = SimpleNamespace(setting=setting, chip_usd=chip["chip_usd"], **usual)
    return uncertainty.chosen_terms(there, chip)


@lookup
def usd_per_kwh(region: str, setting: str) -> float:
    """What a business pays for electricity where its chips stand [USD/kWh]."""
    of = SETTINGS[COLOCATION] if setting == SETTINGS[ROOM] else setting
    return power_price(region, of).usd_per_kwh
