"""What nobody knows of a case of serving, and how sure it leaves the choice between renting and an
API: speed in practice, the load that will come, and what an hour will cost that no contract fixes.

What a reader chooses (a contract, a seller, a host) or has set (an own rent) has no spread here.
"""

from dataclasses import dataclass, replace
from typing import Any

from scaleright.catalog import fact
from scaleright.costs.serving import Serving
from scaleright.formulas import lookup
from scaleright.inference.demand import Busy
from scaleright.information import Choice
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


@dataclass(frozen=True)
class ServingDoubts:
    """How sure a case of serving is.

    choice : renting or the API, by their prices [USD / 1e6 output token]
    rented : low and high end of the price on rented accelerators (90 %) [USD / 1e6 output token]
    break_even : low and high end of the utilization above which renting is cheaper (90 %) [1]
    """

    choice: Choice
    rented: tuple[Any, Any]
    break_even: tuple[Any, Any]


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
def serving_doubts(service: Serving, case: Any, busy: Busy | None = None) -> ServingDoubts:
    """The doubts of a case of quantities.

    Parameters
    ----------
    service : the case at its best estimates; its `spread` holds speed_low and speed_high
    case : utilization, contract, rent_usd_per_hour (0 for none of the reader's own)
    busy : see `load_and_rent`
    """
    within = (service.spread[f"speed_{end}"] for end in ("low", "high"))
    speed, ahead, ends = unknowns(case, *within, busy)
    load = service.utilization * (busy.at_speed(speed) if busy else 1.0)
    rent = service.usd_per_hour * ahead
    free = replace(service, speed=speed, usd_per_hour=rent, utilization=load)
    rented, even = free.rented_usd_per_million(), free.break_even
    choice = Choice.of(rented, service.api_usd_per_million, ends, **BEST)
    of_price = interval_of(rented, ends.values())
    of_even = interval_of(even, [ends[SPEED], ends[RENT]])
    settled = (tuple(at(end, **BEST) for end in both) for both in (of_price, of_even))
    return ServingDoubts(choice, *settled)
