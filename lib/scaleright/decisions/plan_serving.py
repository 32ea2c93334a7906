"""The plan of a service: nine steps, from the chapters on the load of a day, tokens, owning, levers
and footprints.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scaleright.costs.uncertainty import chip_terms
from scaleright.decisions.build_buy import HYBRID, SPILL, OwnedBase, mixed_spread
from scaleright.decisions.plan_fleets import Fleets, a_year, at_api
from scaleright.decisions.plan_parts import (
    Part,
    chance,
    count,
    in_words,
    percent,
)
from scaleright.decisions.plan_service_limits import Short, unheld, unmet_service
from scaleright.decisions.plan_service_steps import (
    API,
    MIXED,
    OWN,
    RENT,
    STAND_IN,
    STEPS,
    USE,
    Found,
    based,
    bought_chips,
    purchase_usd,
)
from scaleright.decisions.plan_workload import (
    IN_REGION,
    SERVERS,
    STAYS,
    Workload,
)
from scaleright.formulas import search
from scaleright.inference.engine_tables import engines_in
from scaleright.information import probability_cheaper, spread_between
from scaleright.market import yearly_drift
from scaleright.units import (
    DAYS_PER_YEAR,
    HOURS_PER_DAY,
    figure,
    usd,
)


def _wanted(fleets: Fleets) -> dict[str, Any]:
    fleet, bill, rents = fleets.fleet, fleets.bill, fleets.rents
    engine, own = fleet.engine, fleets.own
    owned = {f"{way} usd": of for way, of in own.usd.items()}
    owned |= {f"{way} stands": of for way, of in own.stands.items()}
    return owned | {
        "own_chips": own.chips,
        "own_bought": own.bought,
        "base_usd": fleets.base.usd / DAYS_PER_YEAR,
        "base_chips": fleets.base.chips,
        "base_used": fleets.base.engines * engine.chips,
        "base_bought": fleets.base.bought,
        "base_rented": fleets.base.rented,
        "base_rented_share": fleets.base.rented_share,
        "own_hours": own.hours,
        "served": fleet.served,
        "engines": fleet.peak,
        "chips": engine.chips,
        "seats": engine.seats,
        "each_per_s": engine.requests_per_s,
        "service_s": engine.service_s,
        "best": bill.best[0],
        "usd_per_day": bill.best[1],
        "hour_usd": rents.hour.usd,
        "loose_usd": rents.by_the_hour.usd,
        "loose_counted": rents.by_the_hour.counted,
        "counted": rents.hour.counted,
        "age": rents.hour.age,
        "full": fleet.utilization(HOURS_PER_DAY * fleet.peak),
        "busy_hours": fleet.least_hours * engine.chips,
        "least_ttft_s": fleet.least_ttft_s,
        "keeps_pace": fleet.fits_pace,
        "low": fleet.low,
        "high": fleet.high,
        "lent": fleet.lent,
        "weights": fleet.weights.precision,
    }


def _with_api(spill: OwnedBase) -> dict[str, Any]:
    return {
        "spill_usd": spill.usd / DAYS_PER_YEAR,
        "spill_chips": spill.chips,
        "spill_bought": spill.bought,
        "spill_rented_share": spill.rented_share,
    }


@search
def plan_serving(of: Workload) -> Part:
    """The plan of a service."""
    name, per_day = of.served, float(of.requests_per_day or 0.0)
    work = f"Serve {name} to {count(per_day)} requests a day"
    chips = (of.accelerator,) if of.accelerator in SERVERS else SERVERS
    own_chips = of.owned in SERVERS
    if own_chips and of.owned and of.owned not in chips:
        chips = (*chips, of.owned)
    if not any(engines_in(name, chip)[0] for chip in chips):
        return unheld(of, work)
    fleets = Fleets.of(of, name, chips)
    rows = fleets.rows(per_day)
    cached = float(fleets.fleet.traffic.load.cached_share.value)
    api = at_api(of, name, chips[0], fleets.lengths, cached)
    barred, wanted = _barred(of), _wanted(fleets)
    if api.why:
        for way in (API, SPILL):
            barred.setdefault(way, api.why.partition(";")[0])
    if SPILL not in barred:
        wanted |= _with_api(fleets.spill(api.usd_per_day))
    at = fleets.along(wanted, rows)
    place = _least(at["usd_per_day"], at["served"].astype(bool), at["lent"], rows)
    bills = _owned_per_day(fleets, at)
    owned = np.fmin.reduce([*bills.values()])
    own_place = _least(owned, at["served"].astype(bool), at["lent"], rows)
    chip = rows[max(place, 0)]["accelerator"]
    api, ways = api.beside(chip), {}
    if place >= 0:
        ways[RENT] = float(at["usd_per_day"][place])
    if own_place >= 0:
        uses = own_chips and rows[own_place]["accelerator"] == of.owned
        ways[USE if uses else OWN] = float(owned[own_place])
    mixed = _mixed(at, rows)
    ways |= {way: float(at[f"{MIXED[way]}_usd"][it]) for way, it in mixed.items() if it >= 0}
    if api.usd_per_million > 0:
        ways[API] = api.usd_per_day
    ways = {way: cost for way, cost in ways.items() if way not in barred}
    if not ways or place < 0 <= own_place < 0:
        return unmet_service(of, work, Short(fleets, rows, at, dict(ways)))
    places = place, own_place, mixed
    found = Found(of, name, fleets, rows, at, *places, api, ways, barred, bills, owned)
    if found.taken < 0 or (of.budget_usd and a_year(ways[found.way]) > of.budget_usd):
        return unmet_service(of, work, Short(fleets, rows, at, dict(ways)))
    return _part(found, work)


def _mixed(at: Mapping[str, np.ndarray], rows: Sequence[Any]) -> dict[str, int]:
    """The cheapest fleet that is owned in part, by what takes the rest; -1 where there is none."""
    found = dict.fromkeys(MIXED, -1)
    for way, name in MIXED.items():
        if f"{name}_usd" in at:
            cost = np.where(np.isfinite(at[f"{name}_usd"]), at[f"{name}_usd"], np.nan)
            found[way] = _least(cost, at["served"].astype(bool), at["lent"], rows)
    return found


def _least(cost: np.ndarray, allowed: np.ndarray, lent: np.ndarray, rows: Sequence[Any]) -> int:
    """The cheapest of those allowed, of accelerators whose speed was fitted if there is one; -1
    where there is none.
    """
    for known in (lent == "", lent != "?"):
        there = [n for n in range(len(rows)) if allowed[n] and known[n] and cost[n] > 0]
        if there:
            return min(
                there, key=lambda n: (figure(float(cost[n]), 5), *map(str, rows[n].values()))
            )
    return -1


def _barred(of: Workload) -> dict[str, str]:
    """What may not be done, and why."""
    unknown = f"a day of a service is not known on the {of.owned}"
    own = {USE: unknown} if of.owned and of.owned not in SERVERS else {}
    return own | _ruled_out(of)


def _ruled_out(of: Workload) -> dict[str, str]:
    """What data rule out, and why."""
    if of.data == STAYS:
        why = "your data may not leave your own walls"
        return {RENT: why, API: why, HYBRID: why, SPILL: why}
    if of.data == IN_REGION:
        why = f"no table says which APIs keep your data in {of.region}; ask for a contract"
        return {API: why, SPILL: why}
    if of.tunes:
        why = "hosts sell the model as it is published, and not what you have tuned"
        return {API: why, SPILL: why}
    return {}


def _owned_per_day(fleets: Fleets, at: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """A day of a fleet of one's own by way to own it [USD/day]; NaN where it may not stand so."""
    served = at["served"].astype(bool)
    return {
        way: np.where(
            served & at[f"{way} stands"].astype(bool), at[f"{way} usd"] / DAYS_PER_YEAR, np.nan
        )
        for way in fleets.own.usd
    }


def _part(found: Found, work: str) -> Part:
    of, way, cost = found.of, found.way, found.ways[found.way]
    engines, chip = float(found.now("engines")), found.row["accelerator"]
    chips = int(engines * float(found.now("chips")))
    bought = bought_chips(found) or chips
    rented = f"rent up to {float(found.now('base_rented')):,.0f} more"
    if way == SPILL:
        chips = int(float(found.now("spill_chips")))
    base = based(found) if way in MIXED else ""
    others = {name: usd_ for name, usd_ in found.ways.items() if name != way}
    sure, because = _sure(found, others), _because(found, others)
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
        sure=sure,
        because=because,
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


def _spread(found: Found, way: str) -> float:
    """Spread of what a way costs, but for the speed of engines: rents of the year ahead, or the
    price of the chip; the cheapest host of an API may not do [1].
    """
    if way == API:
        return found.api.spread
    drift = yearly_drift().mean_over(1.0)
    if way == RENT:
        return float(spread_between(drift[0], drift[1]))
    price = chip_terms(found.row["accelerator"])
    bought = float(spread_between(price["price_low"], price["price_high"]))
    if way in found.mixed:
        share = float(found.at[f"{MIXED[way]}_rented_share"][found.mixed[way]])
        beyond = float(spread_between(*drift)) if way == HYBRID else _spread(found, API)
        return float(mixed_spread(share, beyond, bought))
    return bought


def _speed(found: Found) -> float:
    """Spread of how fast an engine is in practice [1]."""
    return float(spread_between(float(found.now("low")), float(found.now("high"))))


def _sure(found: Found, others: Mapping[str, float]) -> str:
    way = found.way
    if not others:
        off = np.expm1(1.645 * np.hypot(_speed(found), _spread(found, way)))
        return f"certain, since nothing else may be done; the bill may be {percent(off)} higher"
    rival = min(others, key=lambda name: (others[name], name))
    spread = float(np.hypot(_spread(found, way), _spread(found, rival)))
    on = {RENT: found.place, OWN: found.own_place, USE: found.own_place}
    on |= found.mixed
    chips = {found.rows[on[of]]["accelerator"] if of in on else "" for of in (way, rival)}
    if len(chips) > 1:  # otherwise the same engines are on both sides
        spread = float(np.hypot(spread, _speed(found)))
    sure = float(probability_cheaper(found.ways[way], others[rival], spread))
    return f"{in_words(sure)} that to {way} costs less than to {rival} ({chance(sure)})"


def _because(found: Found, others: Mapping[str, float]) -> str:
    told = [f"to {name} would cost {usd(cost)} a day" for name, cost in sorted(others.items())]
    told += [f"to {name} is ruled out: {why}" for name, why in found.barred.items()][:1]
    return "; ".join(told) + "." if told else "nothing else serves it."
