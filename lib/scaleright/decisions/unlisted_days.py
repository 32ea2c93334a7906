"""What an hour of accelerators that nobody lists must cost at most to serve for least."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Self

from scaleright.costs.break_even import usd_per_hour_to_win
from scaleright.costs.day_bills import day_bill
from scaleright.costs.day_choices import DayChoices
from scaleright.inference.formats import USUAL
from scaleright.market import PaidHour, Rents
from scaleright.ops import item, where
from scaleright.quantity import choose, given, over

NAN = float("nan")
_ENDS = ("usd", "low", "high", "least", "most")
_DOLLAR = PaidHour(**dict.fromkeys(_ENDS, 1.0), counted="", age="", why="", there=True)
"""An hour for a dollar, at which a bill is its hours."""


@dataclass(frozen=True)
class UnlistedDay:
    """A day of a service on an accelerator that nobody lists.

    name : of the accelerator
    chips : that it takes at the busiest time [1]
    usd_per_hour : price of an hour of one below which they cost less than the plan [USD/h]; NaN
        where they keep no promise
    lent : what their speed rests on, where it is not enough runs of such engines, in words
    """

    name: str
    chips: Any
    usd_per_hour: Any
    lent: Any

    @classmethod
    def each(
        cls, case: Any, tables: DayChoices, names: Sequence[str], usd: Any, may: Any = True
    ) -> list[Self]:
        """Those of a case of `build_buy.ServiceWays` on some accelerators, of which tables are.

        usd : what the plan costs a day [USD]; may : whether they may be rented [truth value]
        """
        chip = given("unlisted_chip", names[0])
        worth = choose(case.worth, chip).worth if case.worth else 1.0
        own = {"accelerator": chip, "contract": "on demand", "rent_usd_per_hour": 1.0}
        own["requests_per_day"] = case.requests_per_day * worth
        there = SimpleNamespace(**vars(case) | own)
        fleet = tables.fleet(there)
        known = fleet.served & (fleet.lent != "?")
        hours = where(known, day_bill(fleet, Rents(_DOLLAR, _DOLLAR), there).best[1], NAN)
        wanted = {"chips": fleet.peak * fleet.engine.chips, "hours": hours}
        rows = over("unlisted_days", {chip: [*names]}, wanted, may)
        found: list[Self] = []
        for at, name in enumerate(names):
            chips, hours = (item(rows[of], at) for of in wanted)
            lent = tables.engines.rows.row(case.model, name, USUAL).lent
            found.append(cls(name, chips, usd_per_hour_to_win(usd, hours), lent))
        return found
