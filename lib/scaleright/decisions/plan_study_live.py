"""A study that follows the controls of a page: every cluster as a row, the one that is taken, what
it does and costs, and what would help where none keeps the limits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace
from typing import Any, Self

from scaleright.costs import pretraining
from scaleright.costs.experiment_steps import ExperimentSteps
from scaleright.costs.whole_runs import TYPICAL
from scaleright.decisions.ablation_evidence import per_tenfold
from scaleright.decisions.ablation_study import NODES, Decision, Desk, Range
from scaleright.decisions.plan_runs import BUY, NEAR, SPOT, early, to_own
from scaleright.decisions.plan_study_rows import (
    ON_DEMAND,
    RENT,
    WIDTHS,
    Weighed,
    pauses,
)
from scaleright.decisions.plan_study_ways import LONGEST_DAYS, USUAL
from scaleright.decisions.plan_workload import STAYS
from scaleright.information import probability_cheaper, spread_between
from scaleright.ops import (
    exp,
    first_case,
    floor,
    item,
    maximum,
    minimum,
    normal_cdf,
    normal_quantile,
    where,
)
from scaleright.quantity import given, least, over
from scaleright.quantity.lists import place_of_least, word_at

NAN = float("nan")
BF16 = "BF16"
"""The usual format of every proxy."""
PAID = {(RENT, ON_DEMAND): "rented", (RENT, SPOT): "on_spot", (BUY, ON_DEMAND): "bought"}
"""How chips may be had, by how they are paid and under which contract, as columns."""
CHANGES: Mapping[str, Mapping[str, Any]] = {
    "now": {},
    "halvings": {"halvings": 2.0},
    "precision": {"precision": "FP8"},
    "seller": {"seller": "cheapest quarter"},
    "idle": {"idle": 0.02},
    "one": {"seeds": 1.0},
    "two": {"seeds": 2.0},
    "four": {"seeds": 4.0},
}
"""What is tried of the study that is taken, by a name: the levers of a plan, and other seeds."""


@dataclass(frozen=True)
class Bill:
    """Whole studies as a page compares them, a cluster each.

    names : of the platforms
    at : the columns, lists that follow the controls
    """

    names: tuple[str, ...]
    at: Mapping[str, Any]

    def least(self, column: str) -> tuple[Any, Any]:
        """The place of the least of a column, -1 where it has none, and its value."""
        place = place_of_least(self.at[column])
        return place, self.value(column, place)

    def value(self, column: str, place: Any) -> Any:
        """A column at a place; NaN at -1."""
        return where(place >= 0, item(self.at[column], maximum(place, 0.0)), NAN)

    def cluster(self, place: Any) -> dict[str, Any]:
        """Chip, width, contract, how it is paid, and nodes of a place; of the first at -1."""
        return _cluster(self.names, maximum(place, 0.0))


def _cluster(names: tuple[str, ...], place: Any) -> dict[str, Any]:
    """What stands at a place among all clusters: by chip, width, how it is had, and nodes."""
    how = floor(place / len(NODES)) % len(PAID)
    width = floor(place / (len(NODES) * len(PAID))) % len(WIDTHS)
    paid, contract = zip(*PAID, strict=True)
    return {
        "chip": word_at([*names], floor(place / (len(NODES) * len(PAID) * len(WIDTHS)))),
        "width": word_at([*WIDTHS], width),
        "contract": word_at([*contract], how),
        "paid": word_at([*paid], how),
        "nodes": item([float(of) for of in NODES], place % len(NODES)),
    }


@dataclass(frozen=True)
class StudyWays:
    """A study of a case that follows the controls.

    case, steps : its parameters, and the steps of its runs
    late : by how many standard deviations a run may be late and is in time
    bill : every cluster; there : whether one keeps the limits
    taken : chip, width, contract, how it is paid, and nodes: of the cheapest that keeps the limits,
        or of the cheapest of all
    weighed : the study on it; span : low and high end of what it costs, nine of ten [USD]
    decision : what it decides; quickest_days : on the most nodes that are tried [d]
    kept, within : chance to be in time, and to stay within the budget [1]
    deadline_days : by which the chapter has to be done with it in the middle [d]
    changed : what it costs with each of `CHANGES` over what it costs now [1]
    """

    case: Any
    steps: ExperimentSteps
    late: Any
    bill: Bill
    there: Any
    taken: Mapping[str, Any]
    weighed: Weighed
    span: tuple[Any, Any]
    decision: Decision
    quickest_days: Any
    kept: Any
    within: Any
    deadline_days: Any
    changed: Mapping[str, Any]

    @classmethod
    def of(cls, case: Any, steps: ExperimentSteps) -> Self:
        """Those of a case with quantities `proxy_model`, variants, seeds, tokens, `deadline_days`,
        `deadline_chance`, data and `budget_usd`.
        """
        late = normal_quantile(case.deadline_chance)
        bill = _bill(case, steps, late)
        place, _ = bill.least("best")
        taken = bill.cluster(where(place >= 0, place, bill.least("cash")[0]))
        mine = _case(case, **taken)
        desk = Desk.of(mine, steps)
        on = desk.on(taken["chip"], taken["nodes"])
        luck = pauses().row(taken["contract"], taken["width"]).luck
        weighed = Weighed.of(on, taken["chip"], taken["paid"], luck, TYPICAL)
        span, whole = Range.of(desk, taken["chip"], taken["nodes"], on), weighed.usd / on.usd
        ends = span.low_usd * whole, span.high_usd * whole
        buys = weighed.bought > 0
        soon = early(weighed.days, weighed.spread, case.deadline_days, buys)
        left = case.deadline_days - weighed.wait_days(late)
        deadline = minimum(left * exp(-late * weighed.spread), LONGEST_DAYS)
        price = to_own(taken["chip"]).price_spread
        spread = where(buys, price, spread_between(*ends))
        return cls(
            case,
            steps,
            late,
            bill,
            place >= 0,
            taken,
            weighed,
            ends,
            Decision.of(mine, steps, on.usd, desk.plan.started),
            desk.on(taken["chip"], float(NODES[-1])).days,
            normal_cdf(soon),
            probability_cheaper(weighed.cash, case.budget_usd, spread),
            deadline,
            _changed(case, steps, taken, deadline),
        )

    @property
    def idle(self) -> Any:
        """Share of the cluster's time in which no run trains [1]."""
        return pauses().row(self.taken["contract"], self.taken["width"]).idle

    @property
    def on(self) -> dict[str, Any]:
        """The cheapest study on each platform in time [USD]; NaN where there is none."""
        return {name: self.bill.least(_column(name))[1] for name in self.steps.names}

    def seen(self, chip: Any) -> Any:
        """Whether the fit has seen the architecture of a platform."""
        known = {name: self.steps.trust.row("dense", name, BF16).seen for name in self.steps.names}
        return first_case([(chip == name, of) for name, of in known.items()], False)

    def rivals(self) -> list[tuple[Any, Any]]:
        """The cheapest study on the next four platforms in time, the cheapest first: chip and cost
        [USD]; no word and NaN where there are no more.
        """
        found: list[tuple[Any, Any]] = []
        left = {of: where(self.taken["chip"] == of, NAN, usd) for of, usd in self.on.items()}
        for _ in range(4):
            found.append(least(left))
            left = {of: where(found[-1][0] == of, NAN, usd) for of, usd in left.items()}
        return found


def _column(chip: str) -> str:
    return "on_" + "".join(it for it in chip if it.isalnum())


def _case(case: Any, chip: Any, width: Any, contract: Any, paid: Any, **other: Any) -> Any:
    """A case of the chapter on what an experiment costs."""
    usual = {
        **USUAL,
        "pay_usd_per_year": pretraining.project()["pay_usd_per_year"],
        "misordered_per_tenfold": per_tenfold().best,
        "rent_usd_per_hour": 0.0,
        "precision": BF16,
        "tuning": TYPICAL,
        "idle": pauses().row(contract, width).idle,
    }
    asked = {name: getattr(case, name) for name in ("variants", "seeds", "tokens")}
    asked |= {"model": case.proxy_model, "accelerator": chip, "run_on": width}
    asked |= {"contract": contract, "paid": where(paid == RENT, "rent", "own")}
    asked |= {"deadline_days": case.deadline_days}
    return SimpleNamespace(**usual | asked | other)


def _bill(case: Any, steps: ExperimentSteps, late: Any) -> Bill:
    """Every cluster, as rows of a page."""
    row = given("study", 0.0)
    chip, width, contract, paid, nodes = _cluster(steps.names, row).values()
    mine = _case(case, chip, width, contract, paid)
    on = Desk.of(mine, steps).on(chip, nodes)
    luck = pauses().row(contract, width).luck
    of = Weighed.of(on, chip, paid, luck, TYPICAL)
    stays, deadline, budget = case.data == STAYS, case.deadline_days, case.budget_usd
    there = (of.usd > 0) & of.seen
    open_ = where(stays, paid == BUY, paid == RENT)
    sure, key = of.sure_days(late), where(stays, of.cash, of.usd)
    soon, paid_for = sure <= deadline, of.cash <= budget
    late_by = early(of.days, of.spread, deadline, of.bought > 0)
    share = of.share_within(late, deadline, budget)
    fewer = of.variants_within(share, case.seeds, USUAL["failed"])
    mine = there & open_
    columns = {
        "best": (mine & soon & paid_for, key),
        "other": (there & ~open_ & (paid == RENT) & soon & paid_for, of.usd),
        "quick": (mine, of.days),
        "sure": (mine & paid_for, sure),
        "dear": (mine & soon, of.cash),
        "both": (mine, maximum(sure / deadline, of.cash / budget)),
        "late": (mine & paid_for, -late_by),
        "share": (mine, -share),
        "fewer": (mine, -fewer),
        "sure_days": (mine, sure),
        "cash": (mine, of.cash),
    }
    for (how, under), name in PAID.items():
        asked = mine & soon & (paid == how) & (contract == under)
        columns[name] = asked, key
    for name in steps.names:
        columns[_column(name)] = open_ & (of.usd > 0) & soon & (chip == name), of.usd
    wanted = {name: where(when, value, NAN) for name, (when, value) in columns.items()}
    listed = {row: [*range(len(steps.names) * len(WIDTHS) * len(PAID) * len(NODES))]}
    bill = Bill(steps.names, over("studies", listed, wanted, case.weighed))
    near = mine & paid_for & (sure <= (1 + NEAR) * bill.least("sure")[1])
    soon = over("soon", listed, {"near": where(near, of.cash, NAN)}, case.weighed)
    return Bill(steps.names, {**bill.at, **soon})


def _changed(
    case: Any, steps: ExperimentSteps, taken: Mapping[str, Any], deadline: Any
) -> dict[str, Any]:
    """What the study costs with each of `CHANGES` over what it costs now [1]: a rented one on the
    number of nodes that is best then.
    """
    usual = {"halvings": 0.0, "precision": BF16, "seller": USUAL["seller"]}
    usual |= {"idle": USUAL["idle"], "seeds": 0.0}
    rows = [
        {"change": name, "nodes": float(nodes), **usual, **change}
        for (name, change), nodes in product(CHANGES.items(), (0, *NODES))
    ]
    row = {name: given(f"changed_{name}", of) for name, of in rows[0].items()}
    idle = pauses().row(taken["contract"], taken["width"]).idle
    kept = (1 - idle) / (1 - USUAL["idle"])
    other = {name: row[name] for name in ("halvings", "precision", "seller")}
    other |= {"idle": 1 - (1 - row["idle"]) * kept}
    other |= {"seeds": where(row["seeds"] > 0, row["seeds"], case.seeds)}
    mine = _case(case, **{name: of for name, of in taken.items() if name != "nodes"}, **other)
    fixed = row["nodes"] == 0.0
    on = Desk.of(mine, steps).on(taken["chip"], where(fixed, taken["nodes"], row["nodes"]))
    asked = where(taken["paid"] == RENT, row["nodes"], 1.0 - row["nodes"]) > 0
    soon = where(fixed, True, on.days <= deadline)
    wanted = {}
    for name in CHANGES:
        here = asked & (row["change"] == name)
        wanted[f"{name}_soon"] = where(here & soon, on.usd, NAN)
        wanted[f"{name}_ever"] = where(here, on.usd, NAN)
    listed = {row[name]: [of[name] for of in rows] for name in row}
    bill = Bill((), over("changed_studies", listed, wanted, case.weighed))

    def usd(name: str) -> Any:
        place, soon = bill.least(f"{name}_soon")
        return where(place >= 0, soon, bill.least(f"{name}_ever")[1])

    now = usd("now")
    return {name: usd(name) / now for name in CHANGES}
