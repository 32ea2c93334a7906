"""The plan of a service: nine steps, from the chapters on the load of a day, tokens, owning, levers
and footprints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from scaleright.catalog import accelerator
from scaleright.catalog import model as shape
from scaleright.chapters.plan.hardware import Api, Compared, Fleets, a_year, compared, whole_request
from scaleright.chapters.plan.service import levers as levers_of
from scaleright.chapters.plan.service import thresholds, unheld, unmet_service
from scaleright.costs.ownership import power_price
from scaleright.decisions import left_out
from scaleright.decisions.build_buy import (
    COLOCATION,
    CONTRACTS,
    HYBRID,
    NAN,
    ROOM,
    SETTINGS,
    SITE,
    SPILL,
    ChipWays,
    arrives,
    bought_as,
    rows_of,
    usd_per_kwh,
)
from scaleright.decisions.hardware_candidates import served_on, serving_chips
from scaleright.decisions.plan_parts import (
    Asked,
    Part,
    Step,
    chance,
    count,
    in_words,
    many,
    percent,
)
from scaleright.decisions.plan_workload import (
    EASY,
    HARD,
    IN_REGION,
    LEAVES,
    STAYS,
    Workload,
    right_share,
    scored,
    smallest_for,
)
from scaleright.decisions.unlisted_days import UnlistedDay
from scaleright.footprint import Footprint, machine, place
from scaleright.formulas import lookup, search
from scaleright.inference.energy import measured_format
from scaleright.inference.engine_tables import engines_in
from scaleright.market import yearly_drift
from scaleright.ops import where
from scaleright.units import (
    DAYS_PER_YEAR,
    HOURS_PER_DAY,
    MASSES,
    duration,
    figure,
    in_units,
    si,
    usd,
)

# The nine steps of the plan of a service, and what it rests on


ROUTED = {"Llama-3.1-8B": ("small", 0), "Llama-3.3-70B": ("medium", 1)}
"""Models whose scores a tier of the chapter on routing has beside its usual others."""
RENT, OWN, API, USE = "rent", "own", "call an API", "use what you own"
STAND_IN = {
    COLOCATION: "in a colocation",
    SITE: "on a site of your own",
    ROOM: "in a room of yours",
}
"""Where chips of one's own stand, in words."""
MIXED = {HYBRID: "base", SPILL: "spill"}
"""Ways to own a base, and what the figures of each begin with."""
LONGER = "left out: contracts that bind for longer than a year"
BOUGHT_SO = {
    COLOCATION: "servers are bought whole, a room for servers of yours costs about as much, and a"
    " building of your own takes a crew",
    SITE: "servers are bought whole, and the crew of the building is counted",
    ROOM: "cards for workstations come one by one and need no server; nobody is paid to look after"
    " them",
}
"""How they are bought."""


@dataclass(frozen=True)
class Found:
    """What a plan of a service rests on.

    of : the workload; model : that is served
    fleets : every way to serve it
    ways : dollars of a day by what is done, those that may be done; barred : why others may not
    """

    of: Workload
    model: str
    fleets: Fleets
    ways: Mapping[str, float]
    barred: Mapping[str, str]

    @cached_property
    def way(self) -> str:
        """What is done: the cheapest that may be."""
        best = str(self.fleets.ways.best[0].value)
        return best if best not in SETTINGS else USE if USE in self.ways else OWN

    @cached_property
    def house(self) -> str:
        """The way to own the fleet that is or would be bought for least."""
        usd_ = {way: float(self.fleets.ways.usd[way].value) for way in SETTINGS}
        return min(usd_, key=lambda way: usd_[way])

    @cached_property
    def own_place(self) -> int:
        """The row of it; -1 where there is none."""
        return self.fleets.place(self.house)

    @cached_property
    def taken(self) -> int:
        """The row of the fleet that does it: with an API, of the one that would be rented, or else
        owned, for least.
        """
        if self.way in {OWN, USE} or (self.way == API and self.fleets.place(RENT) < 0):
            return self.own_place
        return self.fleets.place(RENT if self.way == API else self.way)

    @cached_property
    def _now(self) -> Mapping[str, Any]:
        return self.fleets.at(_wanted(self.fleets.ways.one), self.fleets.row(self.taken))

    def now(self, name: str) -> Any:
        """What the fleet gives."""
        found = self._now[name]
        return str(found) if isinstance(found, str) else float(found)

    @cached_property
    def beside(self) -> Compared:
        """All accelerators for it: owned ones where those of the fleet are bought."""
        cached = float(self.fleets.ways.one.fleet.traffic.load.cached_share.value)
        request = whole_request(self.fleets.lengths, cached)
        return compared(
            self.of, self.model, self.row, request, self.house if self.way == OWN else ""
        )

    @cached_property
    def unlisted(self) -> list[str]:
        """Below which price of an hour chips would win that nobody lists, in words; without a price
        below that of their electricity, which nobody asks.
        """
        if RENT in self.barred:
            return []
        case, tables = self.fleets.of_chips(left_out.unlisted())
        told, cost = [], self.ways[self.way]
        usd_per_kwh = power_price(self.of.region, SETTINGS[COLOCATION]).usd_per_kwh
        for day in UnlistedDay.each(case, tables, left_out.unlisted(), cost):
            watts = accelerator(day.name).tdp_watts or 0.0
            if day.usd_per_hour.value > watts / 1e3 * usd_per_kwh:
                lent = str(day.lent.value)
                fast = f" (how fast it is: {lent})" if lent else ""
                figures = float(day.chips.value), float(day.usd_per_hour.value)
                told.append(left_out.wins(int(figures[0]), day.name, figures[1], "") + fast)
        return told

    @cached_property
    def api(self) -> Api:
        """What an API asks, beside the accelerator."""
        return self.fleets.at_api(self.row["accelerator"])

    @cached_property
    def row(self) -> dict[str, Any]:
        """The case of the fleet."""
        return {**self.fleets.row(self.taken), "scaling": self.now("best")}


def _wanted(one: ChipWays) -> dict[str, Any]:
    """What steps read of a fleet."""
    fleet, rents, base, spill = one.fleet, one.rents, one.base, one.spill
    engine, house = fleet.engine, {of: terms.price_usd for of, terms in one.own.terms.items()}
    return {f"{of}_usd": it for of, it in house.items()} | {
        "own_chips": one.own.chips,
        "own_bought": one.own.bought,
        "base_chips": base.chips,
        "base_bought": base.bought,
        "base_rented": base.rented,
        "base_rented_share": base.rented_share,
        "spill_chips": spill.chips,
        "spill_bought": spill.bought,
        "spill_rented_share": spill.rented_share,
        "engines": fleet.peak,
        "chips": engine.chips,
        "seats": engine.seats,
        "each_per_s": engine.requests_per_s,
        "service_s": engine.service_s,
        "best": one.bill.best[0],
        "usd_per_day": one.bill.best[1],
        "hour_usd": rents.hour.usd,
        "loose_usd": rents.by_the_hour.usd,
        "loose_counted": rents.by_the_hour.counted,
        "counted": rents.hour.counted,
        "full": fleet.utilization(HOURS_PER_DAY * fleet.peak),
        "busy_hours": fleet.least_hours * engine.chips,
        "low": fleet.low,
        "high": fleet.high,
        "lent": fleet.lent,
        "weights": fleet.weights.precision,
    }


@lookup
def bought_chips(found: Found) -> int:
    """Chips that are bought or owned, in whole servers; 0 where none is."""
    return int(found.now("own_chips")) if found.way in {OWN, USE} else 0


@lookup
def based(found: Found) -> str:
    """What is done for the base that is owned where the rest is rented, in words; none where none
    is.
    """
    if found.way not in MIXED:
        return ""
    name = found.row["accelerator"]
    chips, bought = (int(found.now(f"{MIXED[found.way]}_{of}")) for of in ("chips", "bought"))
    stands = STAND_IN[COLOCATION if bought_as(name)["server"] else ROOM]
    if bought == chips:
        return f"Buy {chips:,} {name}, run them {stands}"
    more = f", buy {bought:,} more" if bought else ""
    return f"Use {chips - bought:,} {name} of your own{more}"


@lookup
def purchase_usd(found: Found) -> float:
    """What is paid at the start for chips that are bought, with their hosts [USD]."""
    if found.way not in {OWN, USE, *MIXED}:
        return 0.0
    house = COLOCATION if bought_as(found.row["accelerator"])["server"] else ROOM
    house = house if found.way in MIXED else found.house
    return found.now(f"{house}_usd") * found.now(f"{MIXED.get(found.way, 'own')}_bought")


def _day(found: Found, **figures: float) -> Asked:
    return found.fleets.asked(found.row, figures)


@search
def demand(found: Found) -> Step:
    of, per_day = found.of, float(found.of.requests_per_day or 0.0)
    reads, writes = found.fleets.lengths
    worth = found.fleets.equal[found.row["accelerator"]]
    reasons = [
        (
            f"{per_day / 86_400:,.3g} requests a second on average, {of.peak_to_mean:g} times that"
            " at the busiest time"
        ),
        f"{count(per_day * reads)} tokens read and {count(per_day * writes)} written a day",
        (
            f"first token within {of.ttft_s:g} s for nineteen of twenty, then"
            f" {of.pace_tokens_per_s:g} tokens a second for each reader"
        ),
    ]
    longest, asked = shape(found.model).max_context, found.fleets.longest
    if 0 < longest < asked:
        reasons.append(
            f"{found.model} was made for {longest:,} tokens, and one prompt in twenty has"
            f" {asked:,.0f} or more: shorten those, or take another model"
        )
    if of.input_tokens:
        reasons.append(
            f"one of your requests takes the time of {worth:.3g} of the published hour"
            f" ({of.trace}), whose bursts stand for yours"
        )
    return Step(
        f"Requests of {reads:,.0f} tokens in and {writes:,.0f} out, {count(per_day)} a day.",
        reasons,
        [_day(found, **{"fleet.peak": found.now("engines")})],
    )


@search
def supply(found: Found) -> Step:
    of, way = found.of, found.way
    reasons = [
        f"{name}: {usd(cost)} a day"
        for name, cost in sorted(found.ways.items(), key=lambda one: (one[1], one[0]))
    ]
    reasons += [f"{name}: ruled out, {why}" for name, why in found.barred.items()]
    if found.own_place >= 0:
        power = power_price(of.region, SETTINGS[COLOCATION])
        reasons.append(f"{power.said(of.region)} for chips of your own; rents and APIs include it")
    if buys := purchase_usd(found):
        reasons.append(f"{usd(buys)} at the start for what is bought, which the bill spreads")
        if bought_as(found.row["accelerator"])["server"]:
            till = "; call an API until then" if way == SPILL else "; rent until then"
            till = "" if RENT in found.barred else till
            reasons.append(f"{arrives()}{till}")
    if of.trains and way in {USE, *MIXED} and found.row["accelerator"] == of.owned:
        reasons.append(f"your {of.owned} train first, and serve once the training is done")
    if RENT not in found.barred:
        reasons.append(LONGER)
    if way == HYBRID:
        share = found.now("base_rented_share")
        reasons.append(
            f"rent is {percent(share)} of the bill: an engine is worth owning that works as many"
            " hours as pay it; both places keep the model, and requests go to either"
        )
    if way == SPILL:
        share = found.now("spill_rented_share")
        reasons.append(
            f"the API takes {percent(share)} of the bill: what busy hours need beyond engines that"
            " work as many hours as pay them, and what one that is lost would have served"
        )
    if of.budget_usd:
        share = a_year(found.ways[way]) / of.budget_usd
        reasons.append(f"that is {percent(share)} of the year's budget of {usd(of.budget_usd)}")
    base = based(found)
    where = {
        RENT: f"Rent in {of.region}, {found.now('counted')}, at {usd(found.now('hour_usd'))}"
        " an hour each.",
        OWN: f"Own, {STAND_IN[found.house]} in {of.region}; {BOUGHT_SO[found.house]}.",
        HYBRID: f"{base} in {of.region}, and rent what hours take beyond, by the hour at"
        f" {usd(found.now('loose_usd'))} each ({found.now('loose_counted')}) or around the"
        f" clock at {usd(found.now('hour_usd'))} ({found.now('counted')}).",
        SPILL: f"{base} in {of.region}, and call an API ({found.api.counted}) for what busy"
        " hours take beyond them.",
        USE: f"Use what you own, in {of.region}, and buy what is lacking.",
        API: f"Call an API ({found.api.counted}): chips of your own cost more at such a load.",
    }[way]
    asked = []
    if RENT in found.ways:
        kept = found.fleets.row(found.fleets.place(RENT))
        best = found.fleets.at({"scaling": found.fleets.ways.one.bill.best[0]}, kept)
        kept["scaling"] = str(best["scaling"])
        asked.append(found.fleets.asked(kept, {"bill.chosen.usd_per_day": found.ways[RENT]}))
    if API not in found.barred:
        asked.append(found.api.asked)
    if found.own_place >= 0:
        asked.append(_own_asked(found))
    return Step(where, reasons, asked)


def _own_asked(found: Found) -> Asked:
    """A year of one chip, as the chapter on buying has it."""
    row, own = found.fleets.row(found.own_place), found.fleets.ways.one.own
    at = found.fleets.at({"each": own.each[found.house], "hours": own.hours}, row)
    year, hours = float(at["each"]), figure(float(at["hours"]), 6)
    case = {"accelerator": row["accelerator"], "hours_per_day": hours}
    setting = SETTINGS[found.house]
    power = usd_per_kwh(found.of.region, setting)
    case |= {"setting": setting, "usd_per_kwh": power, "contract": CONTRACTS[0]}
    return Asked("buy_or_rent", case, {"bill.total": year})


@search
def size(found: Found) -> Step:
    return size_of(found.model, found.of.quality)


@lookup
def size_of(name: str, quality: float | None = None) -> Step:
    """The third step of a plan that serves a model: whether a smaller one would do.

    quality : share of requests to be answered right [1], if one is asked for
    """
    right, known = right_share(name), scored()
    told = [f"{other}: {percent(share)} right" for other, share in known.items()]
    told.append(
        f"of requests of which {percent(EASY)} are easy and {percent((1 - EASY) * HARD)} hard"
    )
    mix: dict[str, Any] = {"easy_share": EASY, "hard_share": HARD}
    asked = [Asked("model_routing", mix)]
    if name in ROUTED and right is not None:
        tier, place = ROUTED[name]
        asked = [Asked("model_routing", mix | {tier: name}, {f"traffic.right({place})": right})]
    if right is None:
        return Step(f"{name}: nobody published the scores that would compare it.", told, asked)
    if quality:
        least = smallest_for(quality)
        says = f"{least} is the smallest that answers {percent(quality)} of the requests right."
        if least != name:
            says = f"Take {least} instead of {name}: it is smaller, and right often enough."
        return Step(says, told, asked)
    smaller = [other for other in known if other != name][:1]
    says = f"{name} answers {percent(right)} of usual requests right."
    if smaller and known[smaller[0]] < right:
        says += (
            f" Where {percent(known[smaller[0]])} is enough, {smaller[0]} does; try it on your own"
            " questions first, and send on what it fails."
        )
    return Step(says, told, asked)


@search
def hardware(found: Found) -> Step:
    name, best, fleets = found.row["accelerator"], {}, found.fleets
    if found.way in {OWN, USE}:
        how, costs = "of your own", fleets.owned_per_day
    elif found.way in MIXED:
        how, costs = "owned in part", fleets.usd_per_day(found.way)
    else:
        how, costs = "rented", fleets.usd_per_day(RENT)
    served = fleets.along({"served": fleets.ways.one.fleet.served})["served"].astype(bool)
    chips = rows_of(fleets.chips)["chip"]
    for chip, cost in zip(chips, costs, strict=False):
        if cost > 0:
            best[chip] = min(best.get(chip, np.inf), float(cost))
    told = [
        f"{chip}: {usd(cost)} a day {how}"
        for chip, cost in sorted(best.items(), key=lambda one: (one[1], one[0]))
    ]
    fits = {chip for chip, it in zip(chips, served, strict=False) if it}
    unfit = [chip for chip in fleets.chips if chip not in fits]
    held = {chip for chip in unfit if engines_in(found.model, chip)[1]}
    for why, those in ((left_out.NO_PROMISE, held), (left_out.NO_ROOM, {*unfit} - held)):
        told += [f"{why}: {', '.join(of for of in unfit if of in those)}"] * bool(those)
    if lent := found.now("lent"):
        told.append(f"how fast the {name} is: {lent}")
    says = f"{name}, in {found.now('weights')}."
    if found.way == API:
        says = f"No chips of your own; if you rented, {name} in {found.now('weights')}."
    cost = found.now("usd_per_day")
    figures = {"bill.chosen.usd_per_day": cost} if cost > 0 else {}
    beside = found.beside
    used = (found.now("engines") - found.of.spare_engines) * found.now("chips")
    told += [why for why in (beside.sized(name, used),) if why]
    told.append(beside.says(name, found.fleets.chips))
    if not found.of.accelerator:
        told += [left_out.told(left_out.of_services()), *found.unlisted]
    return Step(says, told, [_day(found, **figures), beside.asked])


@search
def layout(found: Found) -> Step:
    engines, chips = (int(found.now(name)) for name in ("engines", "chips"))
    seats, each = found.now("seats"), found.now("each_per_s")
    kept = "" if found.way != API else "If you rented: "
    figures = {"fleet.engine.seats": seats, "fleet.engine.chips": float(chips)}
    told = [
        (
            f"a full engine serves {each:.3g} requests a second; one sits"
            f" {duration(found.now('service_s'))}"
        ),
        f"at the busiest time; over the day they are {percent(found.now('full'))} full",
    ]
    if found.of.spare_engines and found.way not in {API, SPILL}:
        told.append(_spare(found))
    return Step(
        f"{kept}{many(engines, 'engine')} of {chips} {found.row['accelerator']}, each with one copy"
        f" of the model and {seats:,.0f} requests at once.",
        told,
        [_day(found, **figures)],
    )


def _spare(found: Found) -> str:
    """What the engines cost that stand by, over the same way without them, in words."""
    one = found.fleets.ways.one
    ways = SETTINGS if found.way in {OWN, USE} else (found.way,)
    wanted = {way: where(one.open[way], one.usd[way], NAN) for way in ways}
    none = found.fleets.along(wanted, spare_engines=0.0).values()
    least = float(np.nanmin([*none])) / DAYS_PER_YEAR
    more = max(found.ways[found.way] - least, 0.0)
    return (
        f"{many(found.of.spare_engines, 'engine')} may be lost at the busiest time: those that"
        f" stand by make the day {usd(more)} dearer; Google provides for two, one taken down and"
        " one that fails (N + 2)"
    )


@search
def levers(found: Found) -> Step:
    return levers_of(found.of, found.fleets, found.row, found.way)


@search
def measure(found: Found) -> Step:
    low, high = found.now("low"), found.now("high")
    drift = yearly_drift().mean_over(1.0)
    told = {
        "your own traffic: log a week of requests with times and lengths": (
            "the busiest time, bursts and lengths here are those of a published hour"
        ),
        "tokens a second of one engine on your own requests": (
            f"published engines wrote {low:.2f} to {high:.2f} of what is predicted"
        ),
        "what three sellers quote for the term": (
            f"a year from now rents may be {drift[0]:.2f} to {drift[1]:.2f} of today's"
        ),
        "how often the model is right on your own questions": "published scores are not yours",
    }
    if found.way in {OWN, USE}:
        told.pop("what three sellers quote for the term")
    first = next(iter(told))
    return Step(
        f"First {first}.",
        [f"{what}: {why}" for what, why in told.items()],
        [_day(found)],
    )


@search
def energy(found: Found) -> Step:
    region, chip = found.of.region, found.row["accelerator"]
    busy, full = found.now("busy_hours"), min(found.now("full"), 1.0)
    if found.way == API:  # many customers share its chips, which are as busy as pooling makes them
        pooled = found.fleets.ways.pooled
        chip, full = str(pooled.chip.value), pooled.utilization
        busy = float(pooled.busy_hours.value)
    here = machine(chip, "serving")
    made, there = (
        Footprint.of(here, DAYS_PER_YEAR * busy, full, place(where)) for where in (region, "Sweden")
    )
    said = f"At an API on {chip} about " if found.way == API else ""
    return Step(
        f"{said}{si(float(made.energy.watt_hours), 'Wh')} of electricity and"
        f" {in_units(float(made.carbon.total), MASSES)} of CO2e a year in {region}.",
        [
            f"in Sweden it would be {in_units(float(there.carbon.total), MASSES)}",
            f"{percent(float(made.carbon.embodied_share))} of it is from making the hardware",
            "what such chips draw in serving; the chapter has models whose energy was metered",
        ],
        [Asked("sustainability", metered(found.model, chip) | {"place": region})],
    )


def metered(name: str, chip: str) -> dict[str, Any]:
    """The model and the chip, if somebody metered the one serving on the other."""
    try:
        measured_format(shape(name).name, chip)
    except (LookupError, ValueError):
        return {}
    return {"model": shape(name).name, "accelerator": chip}


@search
def change(found: Found) -> Step:
    says, told = thresholds(
        found.of, found.fleets, found.row, found.api, found.ways, bought_chips(found)
    )
    if found.of.data != LEAVES:
        told.append("if the data might leave, the ways that are ruled out above would be open")
    return Step(says, told, [_day(found)])


STEPS = (demand, supply, size, hardware, layout, levers, measure, energy, change)


@search
def plan_serving(of: Workload) -> Part:
    """The plan of a service."""
    name, per_day = of.served, float(of.requests_per_day or 0.0)
    work = f"Serve {name} to {count(per_day)} requests a day"
    chips, known = served_on(), serving_chips()
    if of.accelerator and of.accelerator in known:
        chips = (of.accelerator,)
    if of.owned and of.owned in known and of.owned not in chips:
        chips = (*chips, of.owned)
    if not any(engines_in(name, chip)[0] for chip in chips):
        return unheld(of, work)
    fleets, barred = Fleets.of(of, name, chips), _barred(of)
    if why := str(fleets.ways.api.asked.why.value):
        for way in (API, SPILL):
            barred.setdefault(way, why.partition(";")[0])
    ways = _ways(of, fleets)
    found = Found(of, name, fleets, ways, barred)
    if not ways or found.taken < 0:
        return unmet_service(of, work, fleets, ways)
    if of.budget_usd and a_year(ways[found.way]) > of.budget_usd:
        return unmet_service(of, work, fleets, ways)
    return _part(found, work)


def _ways(of: Workload, fleets: Fleets) -> dict[str, float]:
    """Dollars of a day by what may be done; to own is one of them, wherever it stands."""
    found: dict[str, float] = {}
    for way, it in fleets.ways.usd.items():
        cost = float(it.value) / DAYS_PER_YEAR
        if np.isfinite(cost):
            owns = USE if str(way in SETTINGS and fleets.ways.chip[way].value) == of.owned else OWN
            name = owns if way in SETTINGS else way
            found[name] = min(cost, found.get(name, np.inf))
    if OWN in found and USE in found:  # in another room
        found.pop(max((OWN, USE), key=lambda name: found[name]))
    return found


def _barred(of: Workload) -> dict[str, str]:
    """What may not be done, and why."""
    unknown = f"a day of a service is not known on the {of.owned}"
    own = {USE: unknown} if of.owned and of.owned not in serving_chips() else {}
    return own | _ruled_out(of)


def _ruled_out(of: Workload) -> dict[str, str]:
    """What data rule out, and why."""
    if of.data == STAYS:
        why = "your data may not leave your own walls"
        return {RENT: why, API: why, HYBRID: why, SPILL: why}
    if of.data == IN_REGION:
        why = f"no table says which APIs keep your data in {of.region}; ask for a contract"
        return {API: why, SPILL: why}
    if of.tunes or of.trains:
        why = "hosts sell the model as it is published, and not what you have made of it"
        return {API: why, SPILL: why}
    return {}


def _part(found: Found, work: str) -> Part:
    of, way, cost = found.of, found.way, found.ways[found.way]
    chip, chips = found.row["accelerator"], int(found.now("engines") * found.now("chips"))
    bought = bought_chips(found) or chips
    rented = f"rent up to {found.now('base_rented'):,.0f} more"
    if way == SPILL:
        chips = int(found.now("spill_chips"))
    base = based(found)
    others = {name: usd_ for name, usd_ in found.ways.items() if name != way}
    decision = {
        RENT: f"Rent {chips:,} {chip} ({found.row['scaling']})",
        OWN: f"Buy {bought:,} {chip} and run them {STAND_IN[found.house]}",
        USE: f"Use {chips:,} {chip}: your {of.owned_chips:,} {of.owned} first",
        HYBRID: f"{base} and {rented}",
        SPILL: f"{base} and call an API beyond them",
        API: f"Call an API for {found.model}",
    }[way]
    steps = tuple(step(found) for step in STEPS)
    return Part(
        work=work,
        decision=decision,
        number=f"{usd(cost)} a day, {usd(a_year(cost))} a year",
        sure=_sure(found, others),
        because=_because(found, others),
        steps=steps,
        figures={
            "usd_per_day": cost,
            "usd_per_year": a_year(cost),
            "usd_per_request": cost / float(of.requests_per_day or 1.0),
            "way": way,
            "accelerator": chip,
            "chips": bought if way == OWN else chips,
        }
        | ({"purchase_usd": purchase} if (purchase := purchase_usd(found)) > 0 else {})
        | {f"{name.replace(' ', '_')}_usd_per_day": it for name, it in found.ways.items()},
    )


def _sure(found: Found, others: Mapping[str, float]) -> str:
    way, ways = found.way, found.fleets.ways
    if not others:
        off = np.expm1(1.645 * float(ways.spread_of_best.value))
        return f"certain, since nothing else may be done; the bill may be {percent(off)} higher"
    rival = min(others, key=lambda name: (others[name], name))
    sure = float(ways.sureness.value)
    return f"{in_words(sure)} that to {way} costs less than to {rival} ({chance(sure)})"


def _because(found: Found, others: Mapping[str, float]) -> str:
    told = [f"to {name} would cost {usd(cost)} a day" for name, cost in sorted(others.items())]
    told += [f"to {name} is ruled out: {why}" for name, why in found.barred.items()][:1]
    return "; ".join(told) + "." if told else "nothing else serves it."
