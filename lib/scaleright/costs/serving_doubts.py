"""What nobody knows of a case of serving: speed in practice, the load that will come, and what an
hour will cost that no contract fixes; and how far that moves where renting meets an API.

What a reader chooses (a contract, a seller, a host) or has set (an own rent) has no spread here.
"""

from dataclasses import replace
from typing import Any

from scaleright.catalog import fact
from scaleright.costs.serving import Serving
from scaleright.formulas import lookup
from scaleright.inference.demand import Busy
from scaleright.market import unfixed, yearly_drift
from scaleright.ops import minimum, sqrt, where
from scaleright.quantity import Quantity, at, given
from scaleright.ranges import Ends, interval_of

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
