"""The plan of a service: nine steps, from the chapters on the load of a day, tokens, owning, levers
and footprints.
"""

from collections.abc import Mapping

import numpy as np

from scaleright.chapters.plan.fleets import Fleets, a_year
from scaleright.chapters.plan.service_limits import unheld, unmet_service
from scaleright.chapters.plan.service_steps import (
    API,
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
from scaleright.decisions.build_buy import HYBRID, SETTINGS, SPILL
from scaleright.decisions.plan_parts import (
    Part,
    chance,
    count,
    in_words,
    percent,
)
from scaleright.decisions.plan_workload import (
    IN_REGION,
    SERVERS,
    STAYS,
    Workload,
)
from scaleright.formulas import search
from scaleright.inference.engine_tables import engines_in
from scaleright.units import DAYS_PER_YEAR, usd


@search
def plan_serving(of: Workload) -> Part:
    """The plan of a service."""
    name, per_day = of.served, float(of.requests_per_day or 0.0)
    work = f"Serve {name} to {count(per_day)} requests a day"
    chips = (of.accelerator,) if of.accelerator in SERVERS else SERVERS
    if of.owned in SERVERS and of.owned not in chips:
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
