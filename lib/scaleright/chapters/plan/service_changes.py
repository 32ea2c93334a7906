"""What a service costs if it were asked for otherwise: levers on its bill, other demands, and other
numbers of requests, on the accelerator that a plan takes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from scaleright.costs.day_bills import day_bill
from scaleright.costs.day_choices import DayChoices
from scaleright.decisions.build_buy import ServiceWays
from scaleright.ops import item, maximum, where
from scaleright.quantity import given, over
from scaleright.quantity.lists import place_of_least
from scaleright.units import DAYS_PER_YEAR

TRIED = np.geomspace(1e3, 1e8, 101)
"""Requests a day at which the ways are compared."""
WAITING, SLOWER = "let a third of the requests wait for a valley", "promise half of the pace"
SPOT = "rent on spot, and be interrupted once a day"
QUARTER = "rent from the cheapest quarter of sellers"
TENTH, TENFOLD = "a tenth of the requests", "ten times the requests"
SOONER, QUICKER = (
    "half a second to the first token",
    "60 tokens a second for each reader",
)
AS_IT_IS = "as it is"
NAN = float("nan")
CHANGES: Mapping[str, Mapping[str, float]] = {
    AS_IT_IS: {},
    WAITING: {"waits": 0.3},
    SLOWER: {"of_pace": 0.5},
    SPOT: {"on_spot": 1.0},
    QUARTER: {"from_quarter": 1.0},
    TENTH: {"times": 0.1},
    TENFOLD: {"times": 10.0},
    SOONER: {"within_s": 0.5},
    QUICKER: {"at_pace": 60.0},
}
"""What is changed, by its name."""
_SAME = {
    "times": 1.0,
    "waits": 0.0,
    "of_pace": 1.0,
    "on_spot": 0.0,
    "from_quarter": 0.0,
    "within_s": 0.0,
    "at_pace": 0.0,
    "per_day": 0.0,
}
LEAST_PACE = 5.0
"""The slowest pace that is promised [token/s]."""


@dataclass(frozen=True)
class Changed:
    """The fleet that a plan takes, for changed cases.

    usd, chips : by what is changed, what a day costs rented [USD/day], and accelerators at the
        busiest time; NaN where no engine serves it so, or nobody rents it out
    turn : requests a day from which renting is cheaper than an API; 0 where it is at no number
    holds : requests a day that the chips hold which are bought or owned
    """

    usd: Mapping[str, Any]
    chips: Mapping[str, Any]
    turn: Any
    holds: Any

    @classmethod
    def of(cls, ways: ServiceWays, tables: DayChoices) -> Self:
        """Those of a case whose ways are known."""
        case = ways.taken.case
        rows = [{**_SAME, **of} for of in CHANGES.values()]
        rows += [{**_SAME, "per_day": float(many)} for many in TRIED]
        of = {name: given(name, value) for name, value in _SAME.items()}
        there = SimpleNamespace(**vars(case))
        asked = where(of["per_day"] > 0, of["per_day"], of["times"] * case.requests_per_day)
        there.requests_per_day = asked
        there.waiting_share = of["waits"]
        pace = maximum(of["of_pace"] * case.pace_tokens_per_s, LEAST_PACE)
        there.pace_tokens_per_s = where(of["at_pace"] > 0, of["at_pace"], pace)
        there.ttft_s = where(of["within_s"] > 0, of["within_s"], case.ttft_s)
        there.contract = where(of["on_spot"] > 0, "spot", case.contract)
        there.seller = where(of["from_quarter"] > 0, "cheapest quarter", "median")
        fleet, rents = tables.fleet(there), tables.hours.rents(there)
        best = day_bill(fleet, rents, there).best[1]
        usd = where(fleet.served & (best > 0), best, NAN)  # on a page a price that lacks is none
        chips = where(fleet.served, fleet.peak * fleet.engine.chips, NAN)
        api = ways.api.usd / DAYS_PER_YEAR / case.requests_per_day * asked
        tried = of["per_day"] > 0
        have = ways.taken.own.chips
        found = over(
            "changes",
            {of[name]: [row[name] for row in rows] for name in _SAME},
            {
                "usd": usd,
                "chips": chips,
                "dearer": where(tried & ~(usd < api), -of["per_day"], NAN),
                "cheaper": where(tried & (usd < api), of["per_day"], NAN),
                "held": where(tried & (chips <= have), -of["per_day"], NAN),
            },
            case.weighed,
        )
        every = [row["per_day"] for row in rows]
        last, first = (place_of_least(found[name]) for name in ("dearer", "cheaper"))
        # from which it stays so, or is first so where it does not stay
        after = where(last < len(rows) - 1, maximum(last + 1, len(CHANGES)), first)
        turn = where(first >= 0, item(every, where(first >= 0, after, 0)), 0.0)
        held = place_of_least(found["held"])
        return cls(
            {name: item(found["usd"], at) for at, name in enumerate(CHANGES)},
            {name: item(found["chips"], at) for at, name in enumerate(CHANGES)},
            turn,
            where(held >= 0, item(every, where(held >= 0, held, 0)), 0.0),
        )

    def saved(self, name: str, rented: Any) -> Any:
        """What a change saves [1]: of the bill where it is rented, else of the chips."""
        usd, chips = (1 - of[name] / of[AS_IT_IS] for of in (self.usd, self.chips))
        found = where(rented, usd, chips)
        if name in {SPOT, QUARTER}:
            found = where(rented, found, 0.0)
        return where(found > 0, found, 0.0)
