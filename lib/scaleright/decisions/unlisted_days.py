"""What an hour of accelerators that nobody lists must cost at most to serve for least."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Self

from scaleright.costs.day_bills import day_bill
from scaleright.costs.day_choices import DayChoices
from scaleright.costs.rent import usd_per_hour_to_win
from scaleright.market import PaidHour, Rents
from scaleright.ops import where
from scaleright.quantity import choose

NAN = float("nan")
_ENDS = ("usd", "low", "high", "least", "most")
_DOLLAR = PaidHour(**dict.fromkeys(_ENDS, 1.0), counted="", age="", why="", there=True)
"""An hour for a dollar, at which a bill is its hours."""


@dataclass(frozen=True)
class UnlistedDay:
    """A day of a service on accelerators that nobody lists.

    chips : that it takes at the busiest time [1]
    usd_per_hour : price of an hour of one below which they cost less than the plan [USD/h]; NaN
        where they may not be rented, or keep no promise
    lent : what their speed rests on, where it is not enough runs of such engines, in words
    """

    chips: Any
    usd_per_hour: Any
    lent: Any

    @classmethod
    def of(cls, case: Any, tables: DayChoices, accelerator: Any, usd: Any, may: Any) -> Self:
        """That of a case of `build_buy.ServiceWays` on one of the accelerators of some tables.

        usd : what the plan costs a day [USD]; may : whether it may be rented [truth value]
        """
        worth = choose(case.worth, accelerator).worth if case.worth else 1.0
        own = {"accelerator": accelerator, "contract": "on demand", "rent_usd_per_hour": 1.0}
        own["requests_per_day"] = case.requests_per_day * worth
        there = SimpleNamespace(**vars(case) | own)
        fleet = tables.fleet(there)
        hours = day_bill(fleet, Rents(_DOLLAR, _DOLLAR), there).best[1]
        known = fleet.served & (fleet.lent != "?") & may
        price = where(known, usd_per_hour_to_win(usd, hours), NAN)
        return cls(fleet.peak * fleet.engine.chips, price, fleet.lent)
