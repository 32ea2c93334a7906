"""The clusters that could do a study, beside each other: chips that are owned already first, others
rented on demand or on spot beside them, or bought where data may not leave.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace
from typing import Any, Self

from scaleright.catalog import remembered
from scaleright.costs import pretraining
from scaleright.costs.experiment_steps import widths
from scaleright.costs.pretraining_run import kept_share
from scaleright.costs.whole_runs import as_tuned
from scaleright.decisions.ablation_study import (
    NODE_CHIPS,
    Study,
)
from scaleright.decisions.build_buy import arrival_days
from scaleright.decisions.plan_runs import BUY, SPOT, signed, spread_of_luck, to_own
from scaleright.formulas import lookup
from scaleright.information import spread_between
from scaleright.ops import exp, floor, maximum, minimum, sqrt, where
from scaleright.quantity import Table
from scaleright.units import figure

# How a plan weighs a study on one cluster, in quantities of the rows of `study_live`


RENT, OWN = "rent", "own"
"""How chips are paid, beside `BUY`."""
FEWEST = 4
"""Variants from which on a study may be parted."""
WIDTHS = ("1 chip", "2 chips", "4 chips", "8 chips", "16 chips")
"""What a run may be put on."""
ON_DEMAND = "on demand"
IDLE = 0.1
"""Share of a cluster's time between jobs, as the chapter has it [1]."""
OWN_NODES = (
    *(chips / NODE_CHIPS for chips in range(1, NODE_CHIPS)),
    *range(1, 17),
    *(20, 24, 28, 32, 40, 48, 56, 64),
)
"""Nodes of chips that are owned already: as rented ones, any few, and a part of one."""
PARTS = (1 / 64, 1 / 32, *(part / 24 for part in range(1, 24)))
"""Shares of the variants that chips that are owned may take beside others."""
NEARLY = 1e-9
"""By how much rounding alone may move a count."""


@lookup
def parted(whole: Any) -> list[Any]:
    """Numbers of variants that owned chips may take of so many, from four on: two at least on
    either side.

    >>> [int(of) for of in parted(96)][:6], parted(8)[-1]
    ([2, 3, 4, 8, 12, 16], 6)
    """
    return [maximum(minimum(floor(whole * share + 0.5), whole - 2), 2.0) for share in PARTS]


@lookup
def idle_share(contract: str, width: str) -> float:
    """Share of a cluster's time in which no run trains [1]; on spot with what a run loses when its
    servers are taken away: it goes on from its last checkpoint.

    >>> idle_share("on demand", "8 chips"), 0.1 < idle_share("spot", "8 chips") < 0.2
    (0.1, True)
    """
    if contract != SPOT:
        return IDLE
    # a server is taken away whole, and stops what runs on a part of it
    case = SimpleNamespace(**pretraining.reliability() | signed(SPOT))
    kept = float(kept_share(case, max(widths()[width], NODE_CHIPS)))
    return figure(1 - (1 - IDLE) * kept, 4)


def _luck(contract: str, width: str) -> float:
    """Standard deviation that interruptions give the logarithm of the time of a run [1]."""
    if contract != SPOT:
        return 0.0
    often = signed(SPOT)["chip_hours_per_interruption"]
    return spread_of_luck(max(widths()[width], NODE_CHIPS), often)


@lookup
@remembered
def pauses() -> Table:
    """By contract and width: `idle` as of `idle_share`, and `luck`, the standard deviation that
    interruptions give the logarithm of the time of a run [1].
    """
    return Table(
        {
            of: {"idle": idle_share(*of), "luck": _luck(*of)}
            for of in product((ON_DEMAND, SPOT), WIDTHS)
        }
    )


@dataclass(frozen=True)
class Weighed:
    """A study on a cluster as a plan weighs it.

    study : as the chapter has it, its hours of owned chips with their purchase
    usd, cash : what it costs, of owned chips what running them does and of bought ones the part of
        their life; what a budget has to pay [USD]; NaN where there is none
    days, waiting : how long it takes [d], and what people cost who wait for it [USD]
    spread : standard deviation of the logarithm of its time [1]
    seen : whether the fit has seen its architecture, or its chips are there already
    bought, fixed : chips that are bought for it [1], and what these cost [USD]
    """

    study: Study
    usd: Any
    cash: Any
    days: Any
    waiting: Any
    spread: Any
    seen: Any
    bought: Any
    fixed: Any

    @classmethod
    def of(cls, on: Study, accelerator_name: Any, paid: Any, luck: Any, tuning: Any) -> Self:
        """That of a study on an accelerator.

        paid : `RENT`, on demand or on spot, `OWN`, what is there already, or `BUY`
        luck, tuning : as of `pauses`; as of `as_tuned`
        """
        chip, trust = to_own(accelerator_name), on.step.trust
        quick = minimum(trust["error_low"], as_tuned(tuning, lambda runs: runs.low))
        slow = maximum(trust["error_high"], as_tuned(tuning, lambda runs: runs.high))
        pace, buys, waiting = spread_between(quick, slow), paid == BUY, on.cost.waiting_usd
        bought = where(buys, chip.bought(on.chips - NEARLY), 0.0)
        share = where(buys, bought / on.chips, where(paid == OWN, chip.running, 1.0))
        usd = where((paid == RENT) | on.hour.owned, on.usd - waiting, float("nan"))
        usd, fixed = usd * share + waiting, where(buys, bought * chip.price, 0.0)
        seen = trust.seen | (paid == OWN)
        cash, spread = maximum(fixed + waiting, usd), sqrt(pace**2 + luck**2)
        return cls(on, usd, cash, on.days, waiting, spread, seen, bought, fixed)

    def wait_days(self, late: Any) -> Any:
        """Days until chips are there that are bought [d], by so many standard deviations."""
        return where(self.bought > 0, arrival_days(late), 0.0)

    def sure_days(self, late: Any) -> Any:
        """How long it takes [d], later than in the middle by so many standard deviations."""
        return self.wait_days(late) + self.days * exp(late * self.spread)

    def share_within(self, late: Any, deadline_days: Any, budget_usd: Any) -> Any:
        """How much of the work of each run keeps the limits [1]: time and hours go with it; below 0
        where nothing does.
        """
        time = (deadline_days - self.wait_days(late)) / (self.days * exp(late * self.spread))
        waits = (budget_usd - self.fixed) / maximum(self.waiting, NEARLY)
        return minimum(time, minimum(budget_usd / self.usd, waits))

    def variants_within(self, share: Any, seeds: Any, failed: Any) -> Any:
        """How many variants that share of the time and of the hours is enough for, in whole waves
        [1].
        """
        study = self.study
        runs = floor(maximum(share, 0.0) * study.turns + NEARLY) * study.places
        return floor(runs * (1 - failed) / seeds + NEARLY)


LONGEST_DAYS = 365.0
"""The longest deadline that the chapter takes [d]."""
TARGET = "OLMo-2-7B"
"""The large model that a study is for."""
USUAL: Mapping[str, Any] = {
    "halvings": 0,
    "survive": 0.5,
    "after_a_cut": "continue",
    "contract": ON_DEMAND,
    "rest_of_term": "used by others",
    "seller": "median",
    "failed": 0.05,
    "evaluation": 0.05,
    "loading": 0.02,
    "idle": IDLE,
    "storage": 0.03,
    "waiting": 0.5,
    "target": TARGET,
    "target_tokens": 1e12,
    "difference": 1.0,
    "noise": 0.5,
    "level": "95 %",
    "power": "80 %",
}
"""What a study is given where nothing else is asked, as the chapter has it."""
