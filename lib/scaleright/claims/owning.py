"""Recomputations on owning against renting beyond the rule of hours: clusters, S2's figures added
up, power, a site of one's own.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from __future__ import annotations

import dataclasses

from scaleright.catalog import fact
from scaleright.claims.ledger import stated_interval
from scaleright.claims.s2 import CHIP, SERVER_CHIPS, YEARS, data_center_ends
from scaleright.claims.verdicts import Condition, Recomputed, Slip, point, span
from scaleright.costs.ownership import Ownership
from scaleright.market import cost_factor, electricity_price, hour
from scaleright.units import HOURS_PER_DAY, HOURS_PER_YEAR

CLUSTER_SPEEDUP = 50.0
"""How much faster than one card a cluster works at most, in S2's own words."""
BUSY_HOURS = (17.0, HOURS_PER_DAY)
"""Hours of use a day of a site that is well and fully used."""


def s2_cluster_self() -> Recomputed:
    per_chip = Slip("the price of one GPU given for the whole cluster", SERVER_CHIPS)
    return span(
        *(SERVER_CHIPS * usd for usd in stated_interval("S2-true-cost")), per_chip, internal=True
    )


def s2_cluster_cost() -> Recomputed:
    owned = data_center_ends(stated_interval("S2-h100-price"))
    return span(*(SERVER_CHIPS * terms.break_even_usd_per_hour(HOURS_PER_DAY) for terms in owned))


def _parts_usd_per_hour(end: int, years: float) -> float:
    """S2's own server, upgrades and overhead per GPU and hour, written off over so many years; end
    0 cheap, 1 dear.
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
    price = electricity_price("United States", "residential")
    return span(price.low, price.high)


def s3_own_site() -> Recomputed:
    terms = dataclasses.replace(Ownership.typical(CHIP, "data center"), people_usd_per_year=0.0)
    rent, pay = hour(CHIP), cost_factor("staff_usd_per_year", "data center")
    crew = fact("data_center_crew_low") * pay.low, fact("data_center_crew_high") * pay.high
    saved = [
        1 - terms.break_even_usd_per_hour(hours) / usd
        for hours, usd in zip(BUSY_HOURS, (rent.low, rent.usd), strict=True)
    ]
    return span(crew[0] / saved[1], crew[1] / saved[0])


RECOMPUTED = {
    "S2-true-cost-low": lambda: _added_up(0),
    "S2-true-cost-high": lambda: _added_up(1),
    "S2-speed-self": lambda: point(CLUSTER_SPEEDUP, internal=True),
    "S3-kwh": lambda: span(
        *(
            electricity_price("United States", sector).best
            for sector in ("data center", "commercial")
        )
    ),
}
