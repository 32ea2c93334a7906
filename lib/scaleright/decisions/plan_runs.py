"""Every run that could train a model, in one call: platforms, numbers of chips and batches, with
the tokens that each batch takes, by the graph of the chapter `cluster_efficiency`; and the one that
is taken, by that of `pretraining_cost`.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from scaleright.catalog import DataError, model, remembered
from scaleright.costs import pretraining
from scaleright.costs.break_even import compute_usd
from scaleright.costs.cluster_grid import WAYS, grid_of
from scaleright.costs.fastest_steps import Steps
from scaleright.costs.ownership import Ownership, made_for_servers, stands
from scaleright.costs.platforms import (
    BATCHES,
    FREE,
    SERVER_CHIPS,
    SETTING,
    cluster_chips,
    format_on,
)
from scaleright.costs.pretraining import people_usd, pretraining_usd, run_chip_hours
from scaleright.costs.pretraining_run import Doubts, Hour, Run, kept_share
from scaleright.costs.whole_runs import TYPICAL, as_tuned, factors
from scaleright.decisions.build_buy import arrival_days, bought_as
from scaleright.decisions.cluster_efficiency import Plan, Setting, ends_of_batches
from scaleright.decisions.plan_parts import Asked
from scaleright.decisions.plan_workload import LEAST_TOKENS
from scaleright.formulas import lookup, search
from scaleright.information import CERTAIN, spread_between
from scaleright.market import cost_factor, hour, matmul_chips
from scaleright.ops import ceil, exp, log, maximum, minimum, sqrt, where
from scaleright.quantity import at, choose, evaluate, given
from scaleright.scaling_laws.batches import CRITICAL, laws, share_of_tokens
from scaleright.training.layout import USUAL_FORMAT, training_format
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
PRICE = "price of an hour"
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


def _free_of_contract(values: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters without those that a contract sets, which a row brings along."""
    return {name: of for name, of in values.items() if name not in signed(SPOT)}


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


_PAID = ("usd", "days", "seen", "owned", "spread", "cash", "bought", "billed", "hours")


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


@dataclass(frozen=True)
class Runs:
    """Runs of a model on so many tokens, as quantities of a case.

    values : of the case, as the chapters' parameters
    buys : whether its chips are bought for it, and not there already
    setting, plan : what the runs have in common, and the run of the case at one of `WAYS`
    """

    values: Mapping[str, Any]
    buys: bool
    setting: Setting
    plan: Plan

    @classmethod
    def of(
        cls, name: str, tokens: float, paid: str, precision: str, contract: str, tuning: str
    ) -> Self:
        """Those of a model; on spot they are interrupted as often as servers are taken away.

        paid : "rent", "own", or `BUY`; precision : of a run, or the usual one of its model
        """
        precision = training_format(model(name), precision)
        buys, paid = paid == BUY, "own" if paid == BUY else paid
        values = {"model": name, "tokens": float(tokens), "accelerator": "H100 SXM", "paid": paid}
        values |= USUAL | {"precision": precision, "tuning": tuning} | signed(contract)
        every = FREELY | ALONE | pretraining.reliability() | values
        case = SimpleNamespace(**{of: given(of, value) for of, value in every.items()})
        setting = Setting.of(case, grid_of(name, precision), same_loss=True)
        return cls(values, buys, setting, setting.plan(given("way", 0)))

    @property
    def kind(self) -> str:
        """Of the model, "dense" or "experts"."""
        return "experts" if model(self.values["model"]).experts else "dense"

    @property
    def amount(self) -> Amount:
        """How much work they have."""
        tokens = float(self.values["tokens"])
        return Amount("tokens", tokens, LEAST_TOKENS, "train on {} tokens")

    def every(self, keep: Callable[[str, int], bool], tokens: float | None = None) -> Ways:
        """All of them whose accelerator and chips are kept, on other tokens if any are given:
        those that get done even if they are interrupted far more often than usual.
        """
        named = itertools.product(cluster_chips(), enumerate(WAYS))
        rows = [(chip, way, *of) for chip, (way, of) in named if keep(chip, of[0])]
        plan, tokens = self.plan, tokens or self.values["tokens"]
        paid = PaidRun.of(self.setting, plan, self.buys)
        wanted = {"more": plan.more, "there": paid.there} | {of: getattr(paid, of) for of in _PAID}
        case = {"accelerator": np.array([row[0] for row in rows])}
        case |= {"way": np.array([float(row[1]) for row in rows]), "tokens": tokens}
        found = read_at(wanted, case) if rows else dict.fromkeys(wanted, np.array([]))
        found = {name: np.broadcast_to(of, (len(rows),)) for name, of in found.items()}
        there = found.pop("there").astype(bool)
        found |= {
            of: np.where(there, found[of], np.nan) for of in ("usd", "days", "cash", "billed")
        }
        found |= {of: found[of].astype(bool) for of in ("seen", "owned")}
        names = {size: name for name, size in BATCHES.items()}
        told = [
            {
                "accelerator": chip,
                "chips": chips,
                "batch": names[size],
                "precision": format_on(chip, self.values["precision"]),
                "tokens": figure(tokens * float(more), 6),
            }
            | signed(self.values["contract"])
            for (chip, _, chips, size), more in zip(rows, found.pop("more"), strict=True)
        ]
        return Ways(told, margin=np.ones(len(rows)), **found)

    def at(self, wanted: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
        """What quantities of the case are at a row."""
        way = WAYS.index((row["chips"], BATCHES[row["batch"]]))
        return read_at(wanted, {"accelerator": row["accelerator"], "way": way})

    def more_tokens(self, row: Mapping[str, Any]) -> tuple[float, float, float]:
        """Tokens that a row takes over those at a small batch, and between which ends the laws that
        agree with runs of today put that [1].
        """
        low, high = ends_of_batches(self.setting.case, self.setting.grid)
        found = self.at({"more": self.plan.more, "low": low, "high": high}, row)
        over = float(found["more"]) - 1
        return 1 + over, 1 + over / float(found["high"]), 1 + over / float(found["low"])

    def asked(self, row: Mapping[str, Any], figures: Mapping[str, float], **other: Any) -> Asked:
        """The question to the chapter on what a run costs that a row answers."""
        parameters = _free_of_contract(self.values) | dict(row) | other
        if parameters["paid"] == "own":
            parameters = {n: v for n, v in parameters.items() if n not in {"contract", "seller"}}
        return Asked("pretraining_cost", parameters, figures)

    def taken(self, row: Mapping[str, Any]) -> "Taken":
        """The run of a row, whole."""
        return Taken.of(_free_of_contract(self.values) | dict(row))


@dataclass(frozen=True)
class Taken:
    """The run that is taken, as quantities of a case; its batch and size are fixed.

    values : of the case, as the parameters of the chapter on what a run costs
    run, low, high : the run, and the ends of what it costs, nine of ten [USD]
    doubts, moving : what moves its cost, and the run that it moves
    """

    values: Mapping[str, Any]
    run: Run
    low: Any
    high: Any
    doubts: Doubts
    moving: Run

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """That of a row of `Ways`."""
        size, batch = values["chips"], values["batch"]
        steps = Steps.over((values["model"],), (size,), batches=(batch,), tuned=True)
        usual = pretraining.reliability() | pretraining.project() | {"rent_usd_per_hour": 0.0}
        case = SimpleNamespace(**{of: given(of, it) for of, it in (usual | dict(values)).items()})
        run = _run(case, steps)
        doubts = Doubts.of(run, case.tuning)
        moving = _run(case, steps, **doubts.free)
        spread = doubts.spread(moving)
        return cls(values, run, spread.low_usd, spread.high_usd, doubts, moving)

    def at(self, wanted: Mapping[str, Any], **other: Any) -> dict[str, Any]:
        """What quantities are, some parameters set otherwise."""
        return read_at(wanted, {**self.values, **other})

    def swings(self) -> dict[str, tuple[float, float]]:
        """What the run costs with each doubt at either end, the others at their best [USD]."""
        found = {}
        for name, ends in self.doubts.ends.items():
            moved = [
                at(self.moving.usd, **_moved(self.doubts, name, end))
                for end in (ends.low, ends.high)
            ]
            low, high = self.at(dict(zip(("low", "high"), moved, strict=True))).values()
            found[name] = float(low), float(high)
        return found

    def spread_of_days(self) -> float:
        """Standard deviation of the logarithm of the time that the run takes [1]: its cost but for
        the price.
        """
        ends = (sorted(of) for name, of in self.swings().items() if name != PRICE)
        return float(np.hypot(*(spread_between(*of) for of in ends)))


@search
def read_at(wanted: Mapping[str, Any], case: Mapping[str, Any]) -> dict[str, Any]:
    """What quantities are at a case, of which they need not depend on all."""
    return dict(zip(wanted, evaluate(wanted.values(), case, strangers=True), strict=True))


def _moved(doubts: Doubts, name: str, end: Any) -> dict[str, Any]:
    """The free inputs at their best, but one of them at an end."""
    of = {PRICE: "price", "time of real runs": "pace", "failures": "luck"}[name]
    best = {"price": 1.0, "pace": 1.0, "luck": "usual"}
    return best | {of: end}


def _run(case: Any, steps: Steps, price: Any = 1.0, pace: Any = 1.0, luck: Any = "usual") -> Run:
    """The run of a case, as the chapter makes it."""
    step, hour = steps.on(case.accelerator, case, case.chips), Hour.of(case, case.accelerator)
    kept = kept_share(case, case.chips, luck)
    parts = step.at(pace) | {"goodput": kept, **factors(case.tuning)}
    hours = run_chip_hours(case.tokens, step.tokens, case.chips, **parts)
    people = people_usd(case.person_years, case.pay_usd_per_year)
    project = {"experiments": case.experiments, "people_usd": people}
    cost = pretraining_usd(**hours.parts(), **hour.at(price), **project)
    return Run(case.chips, step, hour, hours, cost)


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


@search
def runs_of(
    name: str,
    tokens: float,
    paid: str = "rent",
    precision: str = USUAL_FORMAT,
    contract: str = USUAL["contract"],
    tuning: str = TYPICAL,
) -> Runs:
    """The runs of a model on so many tokens, rented under a contract, owned or bought (`BUY`)."""
    return Runs.of(name, tokens, paid, precision, contract, tuning)


@lookup
def law_asked(chip: str, flop: float, mfu: float, best: float) -> Asked:
    """The size that so much arithmetic trains best, as the chapter on scaling laws has it: for a
    budget that buys just that, at the share of the peak of the run that is taken.
    """
    try:
        rent = hour(chip).usd
    except (LookupError, DataError):  # nobody rents it out by the hour
        return Asked("scaling_laws", {})
    mfu = figure(float(np.clip(mfu, 0.05, 0.8)), 6)
    budget = float(compute_usd(flop, matmul_chips()[chip]["bf16_flops"], mfu, rent))
    case = {"budget_usd": figure(budget, 6), "accelerator": chip, "contract": "on demand"}
    return Asked("scaling_laws", case | {"mfu": mfu}, {"size": best})


@lookup
def cluster_asked(
    runs: Runs, row: Mapping[str, Any], figures: Mapping[str, float], deadline_days: float | None
) -> Asked | None:
    """A run in the chapter on how many chips, its batch left to the chapter and a day worth
    nothing: what a run on as many chips costs there, and within a deadline the number of chips that
    it advises; None where it has no such run.

    figures : usd and days of the run; chips, the same number, if it is the best within the deadline
    """
    tokens = row["tokens"]
    if not 1e10 <= tokens <= 1e14 or not 1.0 <= (deadline_days or LONGEST) <= LONGEST:
        return None
    case = {of: runs.values[of] for of in ("model", "tuning", "paid", "contract", "seller")}
    if case["paid"] == "own":
        case = {n: it for n, it in case.items() if n not in {"contract", "seller"}}
    case |= {of: row[of] for of in ("accelerator", "chips", "precision", "tokens")}
    if row["contract"] == SPOT:
        case |= signed(SPOT)
    case |= {"deadline_days": deadline_days or LONGEST, "value_usd_per_day": 0.0, "batch": FREE}
    told = {f"yours.{name}": float(figures[name]) for name in ("usd", "days")}
    told |= {"yours.batch": float(BATCHES[row["batch"]])}
    best = {"found.best.chips": float(row["chips"])} if "chips" in figures else {}
    return Asked("cluster_efficiency", case, told | best)


__all__ = ["BUY", "LONGEST", "NEAR", "SPOT", "USUAL", "Runs", "Taken", "Ways", "runs_of", "signed"]
