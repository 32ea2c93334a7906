"""Runs beside each other as plans weigh them: what each costs and takes, how sure its time is, and
what it takes to own its chips.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from scaleright.catalog import DataError, remembered
from scaleright.costs import pretraining
from scaleright.costs.ownership import Ownership, made_for_servers, stands
from scaleright.costs.platforms import (
    FREE,
    SERVER_CHIPS,
    SETTING,
    cluster_chips,
)
from scaleright.costs.pretraining_run import kept_share
from scaleright.costs.whole_runs import as_tuned
from scaleright.decisions.build_buy import arrival_days, bought_as
from scaleright.decisions.cluster_efficiency import Plan, Setting
from scaleright.formulas import lookup, search
from scaleright.information import CERTAIN, spread_between
from scaleright.market import cost_factor
from scaleright.ops import ceil, exp, log, maximum, minimum, sqrt, where
from scaleright.quantity import at, choose, evaluate, given
from scaleright.scaling_laws.batches import CRITICAL, laws, share_of_tokens
from scaleright.units import DAYS_PER_YEAR, HOURS_PER_DAY, figure

USUAL = {"contract": "on demand", "seller": "median"}
"""What a run is given where nothing else is asked."""
SPOT = "spot"
SPOT_INTERRUPTIONS_PER_DAY = 1.0
"""How often a server on spot is taken away, as the chapter `load_of_a_day` has it [1/d]."""
BUY = "buy"
"""How chips are paid that have to be one's own, and are not yet."""
LONGEST = 5000.0
"""A deadline that binds nothing, and the longest run that counts as one [d]."""
NEAR = 0.05
"""Extra cost that hardly matters, where no deadline says how many chips: as `cluster_efficiency`
has it [1].
"""
NEWTON = 8
"""Steps of Newton's method to a chance, of which each doubles its digits."""
FREELY = {"batch": FREE, "rent_usd_per_hour": 0.0, "law": CRITICAL[0], "critical_batch": 0.0}
ALONE = {"checkpoint_minutes": 0.0, "shared_load": 0.0, "shared_chips": 65536, "job_days": 3.0}
"""What that chapter has where nothing else is asked: any batch, and chips of the run's own."""


@dataclass(frozen=True)
class Ways:
    """Runs beside each other, a row each.

    rows : of each its accelerator, chips, batch, precision, and tokens: those of a small batch with
        what this one takes more
    usd, days, seen, owned : what it costs [USD], of chips that are there already what running them
        does, and takes [d], NaN where it does not run; whether the fit has seen its architecture;
        whether its chips are owned
    billed : what it costs as the chapter has it, hours of owned chips with their purchase [USD]
    hours : chip-hours, also of runs that have no price [h]
    spread : standard deviation of the logarithm of its time [1]
    margin : share of a deadline that it may take in the middle to keep it as surely as is asked [1]
    cash, bought : what a budget has to pay, of chips that are bought their whole price [USD]; how
        many these are, 0 where none is [1]
    """

    rows: list[dict[str, Any]]
    usd: np.ndarray
    days: np.ndarray
    seen: np.ndarray
    owned: np.ndarray
    spread: np.ndarray
    margin: np.ndarray
    cash: np.ndarray
    bought: np.ndarray
    billed: np.ndarray
    hours: np.ndarray

    def best(self, allowed: np.ndarray) -> int | None:
        """The place of the cheapest of those allowed, of those that cost the same the soonest, and
        then by name; None where none is.
        """
        usd = np.where(allowed & (self.usd > 0), self.usd, np.inf)
        if not np.isfinite(usd).any():
            return None
        key = [
            (figure(float(cost), 5), figure(float(self.days[n]), 3), *map(str, row.values()))
            for n, (cost, row) in enumerate(zip(usd, self.rows, strict=True))
        ]
        return min(range(len(key)), key=key.__getitem__)

    def soonest_near(self, allowed: np.ndarray) -> int | None:
        """The most chips of the cheapest platform on which the run costs at most `NEAR` more than
        its least, each with its best batch; None where none is allowed.
        """
        least = self.best(allowed)
        if least is None:
            return None
        alike = ("accelerator", "contract")
        mine = [self.rows[least][of] for of in alike]
        here = np.array([[row[of] for of in alike] == mine for row in self.rows])
        near = allowed & here & (self.usd <= (1 + NEAR) * self.usd[least])
        most = max(row["chips"] for row, it in zip(self.rows, near, strict=True) if it)
        return self.best(near & np.array([row["chips"] == most for row in self.rows]))

    @classmethod
    def together(cls, every: Sequence[Self]) -> Self:
        """Those of several as one."""
        arrays = (
            np.concatenate([getattr(of, name) for of in every])
            for name in (
                "usd",
                "days",
                "seen",
                "owned",
                "spread",
                "margin",
                "cash",
                "bought",
                "billed",
                "hours",
            )
        )
        return cls([row for of in every for row in of.rows], *arrays)


@dataclass(frozen=True)
class Amount:
    """How much work a run has.

    parameter, asked : of the workload that says so, and what is asked
    least : the least of it that makes sense
    says : "train on {} tokens"
    """

    parameter: str
    asked: float
    least: float
    says: str


@lookup
def most_tokens(
    tokens: Any, more: Any, run: Any, chip_usd: Any, left_days: Any, budget_usd: Any
) -> Any:
    """On how many tokens a run keeps its time and its budget; 0 where what it buys is too dear.

    tokens, more : of the whole run, as it would take at a small batch [token], and those that it
        takes over them [1]
    run : its days, usd and the chips bought; chip_usd : the price of one of these [USD]
    left_days, budget_usd : what there is
    """
    exponent = float(laws()[CRITICAL[0]]["exponent"])
    share = minimum(minimum(left_days / run.days, budget_usd / run.usd), 1.0)
    some = (share > 0) & (run.bought * chip_usd <= budget_usd)
    return where(some, tokens * share_of_tokens(where(some, share, 1.0), more, exponent), 0.0)


@dataclass(frozen=True)
class PaidRun:
    """A run as a plan pays for it.

    usd, days, seen, owned, spread, cash, bought, billed, hours : as of `Ways`, here quantities
    there : whether it is possible, and gets done within `LONGEST` even if it is interrupted far
        more often than usual
    """

    usd: Any
    days: Any
    seen: Any
    owned: Any
    spread: Any
    cash: Any
    bought: Any
    billed: Any
    hours: Any
    there: Any

    @classmethod
    def of(cls, setting: Setting, plan: Plan, buys: Any) -> Self:
        """That of a plan of a setting; buys : whether its chips are bought for it."""
        case, run = setting.case, plan.run
        trusted, own = run.step.trust, (case.paid == "own") & ~_truth(buys)
        chip = to_own(case.accelerator)
        bought = where(buys, chip.bought(run.chips), 0.0)
        worn = run.usd * bought / run.chips  # a chip that idles costs as much
        # what chips that are owned already cost to buy is paid already
        usd = where(buys, worn, run.usd * where(own, chip.running, 1.0))
        cash = where(bought > 0, maximum(bought * chip.price, usd), usd)
        quick = minimum(trusted["error_low"], as_tuned(case.tuning, lambda runs: runs.low))
        slow = maximum(trusted["error_high"], as_tuned(case.tuning, lambda runs: runs.high))
        kept = kept_share(case, run.chips, given("luck", "usual"))
        better, worse = (at(kept, luck=luck) for luck in ("better", "worse"))
        off, luck = spread_between(quick, slow), spread_between(1 / better, 1 / worse)
        there = plan.allowed & (worse > 0) & (plan.days <= LONGEST)
        spread = sqrt(off**2 + luck**2)
        return cls(
            usd,
            plan.days,
            trusted.seen,
            run.hour.owned,
            spread,
            cash,
            bought,
            run.usd,
            run.hours.total,
            there,
        )


def _truth(value: Any) -> Any:
    """A truth value of which `~` makes the other one."""
    return np.bool_(value) if isinstance(value, bool) else value


@dataclass(frozen=True)
class ToOwn:
    """What it takes to own a chip that clusters are built of.

    each : how many come together [1]; price : of one as installed, NaN where nobody sells it [USD]
    running : see `running_share` [1]
    price_spread : standard deviation of the logarithm of its price [1]
    """

    each: Any
    price: Any
    running: Any
    price_spread: Any

    def bought(self, chips: Any) -> Any:
        """How many are bought for so many [1]."""
        return ceil(chips / self.each) * self.each


@lookup
def to_own(accelerator_name: Any) -> ToOwn:
    """What it takes to own a chip, by its name, which may be a quantity."""
    return ToOwn(**choose(_to_own(), accelerator_name))


@remembered
def _to_own() -> dict[str, dict[str, float]]:
    return {
        name: {
            "each": float(bought_for(name, 1)),
            "price": installed_price(name),
            "running": running_share(name),
            "price_spread": bought_as(name)["price_spread"],
        }
        for name in cluster_chips()
    }


@search
def read_at(wanted: Mapping[str, Any], case: Mapping[str, Any]) -> dict[str, Any]:
    """What quantities are at a case, of which they need not depend on all."""
    return dict(zip(wanted, evaluate(wanted.values(), case, strangers=True), strict=True))


@lookup
def signed(contract: str) -> dict[str, Any]:
    """The parameters of chapters that a contract sets: on spot, how often it is taken away too.

    >>> signed("on demand"), signed("spot")
    ({'contract': 'on demand'}, {'contract': 'spot', 'chip_hours_per_interruption': 191.0})
    """
    if contract != SPOT:
        return {"contract": contract}
    taken_away = SPOT_INTERRUPTIONS_PER_DAY / (SERVER_CHIPS * HOURS_PER_DAY)
    failing = 1 / pretraining.reliability()["chip_hours_per_interruption"]
    often = figure(1 / (taken_away + failing), 3)
    return {"contract": contract, "chip_hours_per_interruption": often}


@lookup
@remembered
def spread_of_luck(chips: float, chip_hours_per_interruption: float) -> float:
    """Standard deviation of the logarithm of the time of a run on so many chips, by how often it is
    interrupted [1].

    >>> spread_of_luck(64, 191.0) > spread_of_luck(64, 50_700.0) > 0
    True
    """
    often = {"chip_hours_per_interruption": chip_hours_per_interruption}
    case = SimpleNamespace(**pretraining.reliability() | often)
    ends = (kept_share(case, chips, given("luck", luck)) for luck in ("better", "worse"))
    better, worse = (float(read_at({"kept": of}, {})["kept"]) for of in ends)
    return float(spread_between(1 / better, 1 / worse))


@lookup
def early(days: Any, spread: Any, deadline_days: Any, bought: Any = False) -> Any:
    """By how many standard deviations a run may take longer than in the middle and is done in time
    [1]; of chips that are bought, which come as much later: no mix of both is less sure.

    days, spread : of the run, and of its logarithm; bought : whether its chips are ordered first

    >>> round(early(10.0, 0.5, 20.0), 3), early(10.0, 0.5, 100.0, bought=True) < -1
    (1.386, True)
    """
    late = log(arrival_days(1.0) / arrival_days(0.0))
    z = 0.0 * days
    for _ in range(NEWTON):  # the logarithm of the time is convex in it
        wait, run = where(bought, arrival_days(z), 0.0), days * exp(z * spread)
        steep = maximum((wait * late + run * spread) / (wait + run), 1e-9)
        z = minimum(maximum(z + log(deadline_days / (wait + run)) / steep, -CERTAIN), CERTAIN)
    return z


@lookup
def bought_for(chip: str, chips: int) -> int:
    """Chips that are bought for so many: whole servers, racks where a fabric joins one, or cards.

    >>> bought_for("B300", 12), bought_for("GB300", 8), bought_for("RTX PRO 6000", 1)
    (16, 72, 1)
    """
    each = int(bought_as(chip)["each"])
    return -(-chips // each) * each


@lookup
@remembered
def running_share(chip: str) -> float:
    """What running a chip costs that is owned already, over an owned hour with its purchase [1].

    >>> 0.2 < running_share("H100 SXM") < 0.5
    True
    """
    try:
        terms = Ownership.typical(chip, _house(chip), work="training")
    except DataError:
        return float("nan")
    running = terms.running_usd_per_year(HOURS_PER_DAY)
    return float(running / terms.owned_usd_per_year(HOURS_PER_DAY).total)


@lookup
@remembered
def waiting_share() -> float:
    """What the money costs that is paid for servers while they come, over their price [1].

    >>> 0.03 < waiting_share() < 0.1
    True
    """
    yearly = cost_factor("cost_of_capital", SETTING).best
    return float((1 + yearly) ** (arrival_days(0.0) / DAYS_PER_YEAR) - 1)


@lookup
@remembered
def installed_price(chip: str) -> float:
    """What a chip costs in a data center, with its part of server and network, or a card with a
    computer in a room [USD]; NaN where nobody sells it.

    >>> installed_price("H100 SXM") > 25e3
    True
    """
    try:
        return float(Ownership.typical(chip, _house(chip)).price_usd)
    except DataError:
        return float("nan")


def _house(chip: str) -> str:
    """The setting in which an owned chip stands: cards for workstations in a room."""
    return stands("home", made_for_servers(chip))
