"""Build, buy or call an API (F16) with the Deployment Decision Tree (F10): every way to serve one
workload, by what a year costs, and from which spend a site of one's own pays.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, Self

from scaleright.catalog import accelerator, fact
from scaleright.costs import uncertainty
from scaleright.costs.day_bills import DayBill, day_bill
from scaleright.costs.day_choices import DayChoices
from scaleright.costs.ownership import Ownership, made_for_servers
from scaleright.costs.regional_power import REGIONS, power_price
from scaleright.costs.rent import egress_usd_per_year
from scaleright.costs.token_offers import hosts_spread, paid_tokens
from scaleright.costs.tokens import MILLION, mix_usd_per_million
from scaleright.decisions.capex_opex import source_rule
from scaleright.decisions.plan_workload import IN_REGION, STAYS
from scaleright.formulas import NON_NEGATIVE, POSITIVE, closed_form, lookup
from scaleright.inference.day import DayFleet
from scaleright.inference.paid_engines import HOURS
from scaleright.inference.traffic import load_at
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
from scaleright.quantity import choose, given, least, over, pick
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
NAN = float("nan")
SEVERAL = "several"
BYTES_PER_TOKEN, BYTES_PER_GB = 4.0, 1e9
"""Of text that leaves a cloud: about four characters a token."""
_FIXED = {
    "scaling": "base and bursts",
    "startup_minutes": 10.0,
    "least_engines": 1,
    "waiting_share": 0.0,
    "interruptions_per_day": 1.0,
    "prefixes": "what fits",
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


@dataclass(frozen=True)
class ChipWays:
    """The ways to serve a case of quantities on one accelerator.

    case : with the accelerator, and the contract that is taken
    fleet, bill, rents : the fleet of its day, as the chapter on a day's load has it
    api : a year at an API, which has the prompts in its cache that the fleet would [USD/year]
    asked : its prices, those of the cheapest host for such requests
    request : tokens read and written, and the share of the former in a cache
    usd : a year of each way to have hardware, what may not be done included [USD/year]
    open : which of all ways may be done [truth value]
    chips : that are bought, in whole servers [1]
    hours : of use a day of each [h/day]
    base, spill : the base that is owned where the rest is rented, or asked of an API
    threshold : rent a year above which a site of one's own pays [USD/year]
    says : the branch that Clarifai's tree takes
    price_spread : spread of the logarithm of the price of the chip [1]
    """

    case: SimpleNamespace
    fleet: DayFleet
    bill: DayBill
    rents: Rents
    api: Any
    asked: PaidTokens
    request: tuple[Any, Any, Any]
    usd: Mapping[str, Any]
    open: Mapping[str, Any]
    chips: Any
    hours: Any
    base: OwnedBase
    spill: OwnedBase
    threshold: Any
    says: Any
    price_spread: Any

    @classmethod
    def of(cls, case: Any, tables: DayChoices, chips: Sequence[str], hosts: Hosts) -> Self:
        """Those of a case: model, accelerator, trace, requests_per_day, peak_to_mean,
        pace_tokens_per_s, ttft_s, contract, data, regions, region.
        """
        row = choose(tables.traces, case.trace)
        more = _FIXED | {"cached_share": row.cached_share, "rent_usd_per_hour": 0.0}
        case = SimpleNamespace(**vars(case) | {"seller": "median"} | more)
        fleet = tables.fleet(case)
        case, rents, bill = _rented(case, tables, fleet)
        own, used = OwnedFleet.of(case, chips, fleet), fleet.peak * fleet.engine.chips
        base = OwnedBase.of(own, fleet, rents)
        tokens = case.requests_per_day * DAYS_PER_YEAR
        # in whole tokens, as the chapter on tokens takes them
        reads, writes = (floor(of + 0.5) for of in (row.input_tokens, row.output_tokens))
        request = reads, writes, fleet.traffic.load.cached_share
        asked = paid_tokens(hosts, case.model, BEST, request)
        price = mix_usd_per_million(*request, asked.input.usd, asked.output.usd, asked.cached.usd)
        rented = bill.best[1] * DAYS_PER_YEAR
        api = price * tokens * writes / MILLION
        spill = OwnedBase.of(own, fleet, rents, api=where(asked.why == "", api, INFINITY))
        gigabytes = tokens * row.output_tokens * BYTES_PER_TOKEN / BYTES_PER_GB / MONTHS_PER_YEAR
        moved = egress_usd_per_year(gigabytes, cost_factor("egress_usd_per_gb", "cloud").best)
        cheapest = minimum(rents.hour.low / rents.hour.usd, 1.0)
        # an owned hour beside a rented one of the same use: a contract that binds pays all hours
        owned_hour = own.terms[SITE].owned_usd_per_year(HOURS_PER_DAY).total / HOURS_PER_YEAR
        stays, several = case.data == STAYS, case.regions == SEVERAL
        usd = {
            RENT: rented,
            MULTI_CLOUD: rented * cheapest + moved,
            HYBRID: base.usd,
            SPILL: spill.usd,
        } | {**own.usd}
        open_ = {
            API: ~(stays | (case.data == IN_REGION)) & (asked.why == ""),
            RENT: ~stays & ~several & rents.hour.there,
            MULTI_CLOUD: ~stays & several & rents.hour.there,
            HYBRID: ~stays & ~several & (base.usd < INFINITY),
            SPILL: ~(stays | (case.data == IN_REGION)) & ~several & (spill.usd < INFINITY),
        } | {way: ~several & stands for way, stands in own.stands.items()}
        return cls(
            case,
            fleet,
            bill,
            rents,
            api,
            asked,
            request,
            usd,
            {of: it & fleet.served for of, it in open_.items()} | {API: open_[API]},
            own.chips,
            own.hours,
            base,
            spill,
            own_site_usd_per_year(crew_usd_per_year(), rents.hour.usd, owned_hour),
            source_branch(
                own.hours,
                own.terms[COLOCATION].years * MONTHS_PER_YEAR,
                used,
                stays,
                several,
            ),
            own.chip.price_spread,
        )


def _rented(case: Any, tables: DayChoices, fleet: DayFleet) -> tuple[Any, Rents, DayBill]:
    """A case with its contract, or if it asks for the cheapest with that under which its fleet
    costs least; what an hour costs under it, and the bill of its day.
    """

    def under(contract: Any) -> SimpleNamespace:
        return SimpleNamespace(**vars(case) | {"contract": contract})

    bills = {of: day_bill(fleet, tables.hours.rents(under(of)), under(of)) for of in CONTRACTS}
    name, _ = least({of: where(fleet.served, bill.best[1], NAN) for of, bill in bills.items()})
    taken = under(
        where(case.contract == BEST, where(name == "", CONTRACTS[0], name), case.contract)
    )
    rents = tables.hours.rents(taken)
    return taken, rents, day_bill(fleet, rents, taken)


@dataclass(frozen=True)
class ServiceWays:
    """Every way to serve a case that it leaves open: an API, each accelerator rented or owned, and
    a base that is owned with either beyond it.

    taken : those on the accelerator that has hardware for least
    usd : a year of the cheapest of each way, infinite where it is ruled out [USD/year]
    chip : of each way to have hardware the accelerator; none where it is ruled out
    spread : of each way, that of the logarithm of what it costs, but for the speed of engines [1]
    best, runner_up : the cheapest way and the next of another kind, by name and a year of it, to
        own being one kind; infinite where there is none [USD/year]
    many : ways that were compared [1]
    """

    taken: ChipWays
    usd: Mapping[str, Any]
    chip: Mapping[str, Any]
    spread: Mapping[str, Any]
    best: tuple[Any, Any]
    runner_up: tuple[Any, Any]
    many: Any

    @classmethod
    def of(cls, case: Any, tables: DayChoices, chips: Sequence[str], hosts: Hosts) -> Self:
        """Those of a case, see `ChipWays`, whose accelerator and contract may be `market.BEST`."""
        chip, asked = given("chip", chips[0]), case.accelerator
        open_ = (asked == BEST) | (asked == chip)
        one = ChipWays.of(
            SimpleNamespace(**vars(case) | {"accelerator": chip}), tables, chips, hosts
        )
        lent = one.fleet.lent
        figures: dict[str, Any] = {"price_spread": one.price_spread}
        figures |= {"rented_share": one.base.rented_share, "api_share": one.spill.rented_share}
        for way, usd in one.usd.items():
            column, of = _column(way), where(open_ & one.open[way], usd, NAN)
            figures[column] = of
            figures[f"{column}_fitted"] = where(lent == "", of, NAN)
            figures[f"{column}_known"] = where(lent == "?", NAN, of)
        rows = over("services", {chip: list(chips)}, figures)
        places = {way: _least_known(rows, way) for way in one.usd}
        usd = {way: item(rows[_column(way)], place) for way, place in places.items()}
        named = {way: word_at([*chips], place) for way, place in places.items()}
        hardware = {way: where(of > 0, of, INFINITY) for way, of in usd.items()}
        name = first_case([(least(hardware)[0] == way, of) for way, of in named.items()], "")
        accelerator = taken_accelerator(asked, name, chips[0])
        of = SimpleNamespace(**vars(case) | {"accelerator": accelerator})
        taken = ChipWays.of(of, tables, chips, hosts)
        every = {API: where(taken.open[API], taken.api, INFINITY)} | hardware
        best = least(every)
        drift = spread_between(*yearly_drift().mean_over(1.0))
        bought = {way: item(rows["price_spread"], place) for way, place in places.items()}
        part = item(rows["rented_share"], places[HYBRID])
        mixed = {HYBRID: mixed_spread(part, drift, bought[HYBRID])}
        spread = (
            {API: hosts_spread(taken.asked, taken.request)}
            | bought
            | dict.fromkeys((RENT, MULTI_CLOUD), drift)
            | mixed
        )
        many = sum(
            where(item(rows[_column(way)], place) > 0, 1, 0)
            for way in one.usd
            for place in range(len(chips))
        )
        many = many + where(taken.open[API], taken.asked.many, 0)
        owned = sum(where(best[0] == way, 1, 0) for way in SETTINGS) > 0
        same = {way: owned if way in SETTINGS else best[0] == way for way in every}
        others = least({way: where(same[way], INFINITY, of) for way, of in every.items()})
        part = item(rows["api_share"], places[SPILL])
        spread[SPILL] = mixed_spread(part, spread[API], bought[SPILL])
        return cls(taken, every, named, spread, best, others, many)

    @property
    def sureness(self) -> Any:
        """Probability that the cheapest way is cheaper than the next [1]: what rents do in a year
        and what the chip costs, and how fast engines are in practice, unless both have the same.
        """
        (way, usd), (rival, other) = self.best, self.runner_up
        fleet = self.taken.fleet
        apart = sqrt(
            sum(pick(self.spread, of) ** 2 for of in (way, where(rival == "", API, rival)))
        )
        one, two = (
            first_case([(of == way, it) for way, it in self.chip.items()], "")
            for of in (way, rival)
        )
        speed = where(one == two, 0.0, spread_between(fleet.low, fleet.high))
        return probability_cheaper(usd, minimum(other, 1e3 * usd), sqrt(apart**2 + speed**2))

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


@lookup
def mixed_spread(rented_share: Any, rents: Any, price: Any) -> Any:
    """Spread of the logarithm of a bill of which so large a share is rent [1], of those of rents
    and of the price of chips, which move apart.

    >>> mixed_spread(0.0, 0.3, 0.1), mixed_spread(1.0, 0.3, 0.1)
    (0.1, 0.3)
    """
    return sqrt((rented_share * rents) ** 2 + ((1 - rented_share) * price) ** 2)


def _column(way: str) -> str:
    """A way as the name of a column, by which expressions of a page read it."""
    return re.sub(r"\W", "_", way)


def _least_known(rows: Mapping[str, Any], way: str) -> Any:
    """The place of the accelerator on which a way costs least, of those whose speed was fitted if
    there is one, else of those of which it is known; -1 where there is none.
    """
    found = [place_of_least(rows[f"{_column(way)}_{of}"]) for of in ("fitted", "known")]
    return where(found[0] >= 0, *found)


@lookup
def bought_as(name: str) -> dict[str, Any]:
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
    return {"each": each, "server": made_for_servers(name), "price_spread": figure(spread)}


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
