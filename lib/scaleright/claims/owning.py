"""Recomputations on owning against renting beyond the rule of hours: clusters, Clarifai's figures
added up, power, a site of one's own.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from __future__ import annotations

import dataclasses

from scaleright.catalog import fact
from scaleright.claims.ledger import stated_interval
from scaleright.claims.s2 import CHIP, SERVER_CHIPS, YEARS, data_center_ends
from scaleright.claims.verdicts import Condition, Recomputed, Slip, looked_up, point, span
from scaleright.decisions.build_buy import own_site_usd_per_year
from scaleright.decisions.capex_opex import fleet_costs
from scaleright.market import cost_factor, electricity_price, hour
from scaleright.units import HOURS_PER_DAY, HOURS_PER_YEAR

BUSY_HOURS = (17.0, HOURS_PER_DAY)
"""Hours of use a day of a site that is well and fully used."""


def s2_cluster_self() -> Recomputed:
    per_chip = Slip("the price of one GPU given for the whole cluster", SERVER_CHIPS)
    return span(
        *(SERVER_CHIPS * usd for usd in stated_interval("S2-true-cost")), per_chip, internal=True
    )


def s2_cluster_cost() -> Recomputed:
    owned = (terms.break_even_usd_per_hour(HOURS_PER_DAY) for terms in data_center_ends())
    return span(*(SERVER_CHIPS * usd for usd in owned))


def _parts_usd_per_hour(end: int, years: float) -> float:
    """Clarifai's own server, upgrades and overhead per GPU and hour, written off over so many
    years; end 0 cheap, 1 dear.
    """
    once = (
        stated_interval("S2-server-price")[end] + stated_interval("S2-cooling-upgrade")[end]
    ) / SERVER_CHIPS
    return once / (years * HOURS_PER_YEAR) + stated_interval("S2-overhead")[end]


def _added_up(end: int) -> Recomputed:
    one_year = Condition("everything written off in one year", _parts_usd_per_hour(end, 1.0))
    return point(_parts_usd_per_hour(end, YEARS), one_year, internal=True)


def s2_own_cheaper() -> Recomputed:
    owned, rented = stated_interval("S2-true-cost"), stated_interval("S2-h100-rent")
    return span(100 * owned[0] / rented[1], 100 * owned[1] / rented[0], internal=True)


def s2_home_kwh() -> Recomputed:
    return looked_up(electricity_price("United States", "residential").best)


def s3_own_site() -> Recomputed:
    """Rent a year from which owning saves what a crew costs, at the rent of large buyers, who
    commit; infinite where an owned hour costs more than that.
    """
    pay, rent = cost_factor("staff_usd_per_year", "data center"), hour(CHIP, "reserved").usd
    crew = fact("data_center_crew_low") * pay.low, fact("data_center_crew_high") * pay.high
    owned = (dataclasses.replace(of, people_usd_per_year=0.0) for of in data_center_ends())
    ends = zip(crew, owned, BUSY_HOURS[::-1], strict=True)
    return span(
        *(
            float(own_site_usd_per_year(usd, rent, of.break_even_usd_per_hour(hours)))
            for usd, of, hours in ends
        )
    )


def s2_multi_gpu_rent() -> Recomputed:
    """An owned server over a rented one, an hour, at the rent of what is taken for long [%]."""
    rent = hour(CHIP, "reserved").usd
    full, few = (
        [100 * of.break_even_usd_per_hour(hours) / rent for of in data_center_ends()]
        for hours in (HOURS_PER_DAY, 5.0)
    )
    return span(*full, Condition("used five hours a day", *few))


def s2_hybrid_cheapest() -> Recomputed:
    """Owning the baseline and renting bursts over the cheaper of renting all and owning all [%], at
    bursts of two and of eight hours a day, everything cheap and everything dear.
    """
    found = []
    for owned in data_center_ends():
        for hours in (2.0, 8.0):
            rents = hour(CHIP, "reserved").usd, hour(CHIP).usd
            plans = fleet_costs(owned, *rents, SERVER_CHIPS, SERVER_CHIPS, hours)
            others = min(plans[name].total for name in ("rent all", "own all"))
            found.append(100 * float(plans["own the baseline"].total / others))
    return span(*found)


RECOMPUTED = {
    "S2-true-cost-low": lambda: _added_up(0),
    "S2-true-cost-high": lambda: _added_up(1),
    "S3-kwh": lambda: looked_up(
        *(
            electricity_price("United States", sector).best
            for sector in ("data center", "commercial")
        )
    ),
}
