"""Every run that could fine-tune or post-train a model, in one call, and the one that is taken: by
the graph of the chapter `rlhf_cost`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace
from typing import Any, NamedTuple, Self

import numpy as np

from scaleright.catalog import remembered
from scaleright.decisions.plan_parts import Asked, count
from scaleright.decisions.plan_runs import BUY, Amount, Ways, read_at
from scaleright.decisions.plan_workload import OF_PAIRS, OF_TEXTS, ROLLOUTS, TUNED, Workload
from scaleright.decisions.post_training import METHODS, Tables, untunable
from scaleright.decisions.post_training_choice import OFFERED, Bill, Doubts, seen_on
from scaleright.decisions.tuning_ways import (
    DEMAND,
    OWN,
    PLATFORMS,
    SHORTEST_HOURS,
    PaidTuning,
    apart,
    hour_of_own,
)
from scaleright.formulas import lookup, search
from scaleright.quantity import at, given
from scaleright.units import HOURS_PER_DAY

CHAPTER = "rlhf_cost"
USUAL_MODEL = TUNED[1]
USUAL: Mapping[str, Any] = {
    "method": "ppo",
    "trained": "all weights",
    "lora_rank": 32,
    "reward_model": "Llama-3.1-8B",
    "sharing": "in turns",
    "rollout_chips": 16,
    "rollout_precision": "BF16",
    "contract": "on demand",
    "seller": "median",
    "rent_usd_per_hour": 0.0,
    "rounds": 500,
    "prompts": 128,
    "answers_each": 4,
    "passes": 1,
    "minibatches": 8,
    "prompt_tokens": 400,
    "answer_tokens": 300,
    "length_spread": 0.5,
    "most_tokens": 1024,
    "labels": 33000,
    "usd_per_label": 0.67,
}
"""What a run is given where nothing else is asked, as the chapter has it."""
OF_ROLLOUTS = ("rounds", "answers_each", "most_tokens", "sharing", "rollout_precision")
"""Parameters of the chapter that only methods take whose answers the model writes."""
CALLED = {
    "run.usd": "bill.cost.machine_usd",
    "run.days": "bill.days",
    "run.hours.total": "bill.chip_hours",
    "spread.low_usd": "doubts.low",
    "spread.high_usd": "doubts.high",
}
"""What the chapter calls what that on pretraining calls otherwise."""
MOST_LABELS = 5_000_000
"""The most examples or comparisons that the chapter takes."""


@lookup
def chapter_case(of: Workload) -> dict[str, Any]:
    """The parameters of the chapter that a workload sets, but for the chips and how they are paid.

    >>> asked = Workload(work="fine-tune", tokens=7e6, passes=3)
    >>> [chapter_case(asked)[name] for name in ("method", "labels", "passes", "usd_per_label")]
    ['sft', 10000, 3, 0.0]
    """
    told = {name: getattr(of, name) for name in USUAL if getattr(of, name, None) is not None}
    case: dict[str, Any] = {**USUAL, **told, "method": of.how, "model": of.model or USUAL_MODEL}
    if of.answer_tokens and of.most_tokens is None:
        longest = of.answer_tokens * USUAL["most_tokens"] / USUAL["answer_tokens"]
        case["most_tokens"] = min(max(round(longest), 16), 65536)
    if of.how == OF_TEXTS:
        each = case["prompt_tokens"] + case["answer_tokens"]
        case["labels"] = max(round((of.tokens or 0.0) / each), 1)
        case["usd_per_label"] = of.usd_per_label or 0.0
    elif of.how == ROLLOUTS[0]:
        case["usd_per_label"] = 0.0
    return case


@lookup
def refused(of: Workload) -> Iterable[str]:
    """What the chapter refuses of a workload, a line each."""
    case = chapter_case(of)
    if why := untunable(SimpleNamespace(**case)):
        yield f"{'method' if of.method else 'work'} = {of.method or of.work}: {why}"
    if case["labels"] > MOST_LABELS:
        each = case["prompt_tokens"] + case["answer_tokens"]
        yield (
            f"tokens = {of.tokens:g}: {count(case['labels'])} examples of {each:,} tokens, more"
            f" than the {MOST_LABELS:,} that are tuned on; give longer ones (prompt_tokens,"
            f" answer_tokens), or at most {count(float(MOST_LABELS * each))} tokens"
        )


class Graph(NamedTuple):
    """The chapter's quantities for a model: what there is to choose from, the bill, what nobody
    knows of it, whether the fit has seen the architecture of its platform, and what a plan pays,
    by `how` and with its rents.
    """

    tables: Tables
    case: SimpleNamespace
    bill: Bill
    doubts: Doubts
    seen: Any
    paid: PaidTuning


@search
@remembered
def graph_of(name: str, judge: str, sizes: tuple[int, ...], platforms: tuple[str, ...]) -> Graph:
    """That of a model and a reward model, on some numbers of some chips."""
    tables = Tables.of([name, judge], sizes, platforms)
    usual = {**USUAL, "model": name, "reward_model": judge, "chips": sizes[0]}
    usual["accelerator"] = platforms[0]
    case = SimpleNamespace(**{of: given(of, value) for of, value in usual.items()})
    chip = case.accelerator
    bill, doubts = Bill.of(tables, case, chip), Doubts.of(tables, case, chip)
    paid = PaidTuning.of(tables, case, chip, given("how", DEMAND))
    return Graph(tables, case, bill, doubts, seen_on(tables.updates.names, chip), paid)


@dataclass(frozen=True)
class Tunings:
    """Runs that fine-tune or post-train a model, paid in one way.

    values : of the case, as the chapter's parameters, and how chips are paid, "rent" or "own"
    buys : whether its chips are bought for it, and not there already
    amount : how much work there is
    """

    values: Mapping[str, Any]
    buys: bool
    amount: Amount

    @classmethod
    def of(cls, of: Workload, paid: str, contract: str) -> Self:
        """Those of a workload; paid : "rent", "own", or `BUY`."""
        values: dict[str, Any] = {**chapter_case(of), "contract": contract}
        values["paid"] = "own" if paid == BUY else paid
        if of.how == OF_TEXTS:
            least = float(values["prompt_tokens"] + values["answer_tokens"])
            amount = Amount("tokens", float(of.tokens or 0.0), least, "tune on {} tokens")
        elif of.how == OF_PAIRS:
            amount = Amount("labels", float(values["labels"]), 1.0, "learn from {} comparisons")
        elif of.budget_usd and values["labels"] * values["usd_per_label"] > of.budget_usd:
            amount = Amount("labels", float(values["labels"]), 1.0, "pay for {} comparisons")
        else:
            amount = Amount("rounds", float(values["rounds"]), 1.0, "make {} rounds")
        return cls(values, paid == BUY, amount)

    @property
    def judge(self) -> str:
        """The reward model; the model itself where the method has none."""
        needed = METHODS[self.values["method"]]["reward"]
        return self.values["reward_model" if needed else "model"]

    @property
    def how(self) -> str:
        """How their chips are paid, one of `HOWS`."""
        return (
            (BUY if self.buys else OWN) if self.values["paid"] == OWN else self.values["contract"]
        )

    @property
    def graph(self) -> Graph:
        """The chapter's quantities."""
        return graph_of(self.values["model"], self.judge, OFFERED, PLATFORMS)

    def case(self, amount: float | None = None) -> dict[str, Any]:
        """The chapter's case, at another amount of work if one is given."""
        case = {name: of for name, of in self.values.items() if name != "paid"}
        case["reward_model"] = self.judge
        if amount is None:
            return case
        if self.amount.parameter == "tokens":
            each = self.values["prompt_tokens"] + self.values["answer_tokens"]
            return case | {"labels": max(round(amount / each), 1)}
        return case | {self.amount.parameter: amount}

    def every(self, keep: Callable[[str, int], bool], amount: float | None = None) -> Ways:
        """All of them whose accelerator and chips are kept, with another amount of work if one is
        given: what machines cost, and with people's labels what a budget has to pay.
        """
        graph, paid = self.graph, self.graph.paid
        rows = [of for of in product(PLATFORMS, OFFERED) if keep(*of)]
        own = self.how in {OWN, BUY}
        told: list[dict[str, Any]] = [
            {"accelerator": chip, "chips": chips, "contract": self.values["contract"]}
            | ({"rent_usd_per_hour": hour_of_own(chip, chips, self.buys)} if own else {})
            for chip, chips in rows
        ]
        wanted = {"usd": paid.usd, "days": paid.days, "cash": paid.cash, "seen": graph.seen}
        wanted |= {"spread": paid.spread, "bought": paid.bought, "hours": paid.bill.chip_hours}
        case = {name: np.array([row[name] for row in told]) for name in ("accelerator", "chips")}
        asked = self.case(amount) | case | {"how": self.how}
        found = read_at(wanted, asked) if told else dict.fromkeys(wanted, np.array([]))
        found = {name: np.broadcast_to(of, (len(rows),)) for name, of in found.items()}
        lasts = self.buys | _no_minutes(rows, found["days"])
        there = lasts & (found["usd"] > 0)
        found |= {of: np.where(there, found[of], np.nan) for of in ("usd", "days", "cash")}
        found["hours"] = np.where(lasts, found["hours"], np.nan)
        found |= {"seen": found["seen"].astype(bool), "owned": np.full(len(rows), own)}
        return Ways(told, margin=np.ones(len(rows)), billed=found["usd"], **found)

    def at(self, wanted: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
        """What quantities of the case are at a row."""
        return read_at(wanted, {**self.case(), **row})

    def more_work(self, row: Mapping[str, Any], by: float) -> float:
        """What machines cost for so many times the work at a row [USD]."""
        wanted = {"usd": self.graph.bill.cost.machine_usd}
        case = self.case(self.amount.asked * by)
        return float(read_at(wanted, {**case, **row})["usd"])

    def apart(self, row: Mapping[str, Any], then: Mapping[str, Any]) -> float:
        """Spread of the ratio of the costs of two runs, as the chapter has it; of chips that are
        bought, of their prices [1].
        """
        chips = row["accelerator"], then["accelerator"]
        of = apart(self.graph.tables, self.graph.case, chips, self.how)
        return float(self.at({"apart": of}, row)["apart"])

    def asked(self, row: Mapping[str, Any], figures: Mapping[str, float], **other: Any) -> Asked:
        """The question to the chapter that a row answers."""
        case = {**self.values, **row, **other}
        method = METHODS[case["method"]]
        left = {"paid", "rollout_chips", "length_spread", "minibatches"}
        left |= set() if method["reward"] else {"reward_model"}
        left |= set() if method["rollout"] else set(OF_ROLLOUTS)
        left |= {"contract", "seller"} if case["rent_usd_per_hour"] else {"rent_usd_per_hour"}
        left |= set() if case["trained"] == "LoRA" else {"lora_rank"}
        left |= {"labels", "usd_per_label"} if case["method"] == ROLLOUTS[0] else set()
        told = {name: of for name, of in case.items() if name not in left}
        return Asked(CHAPTER, told, {CALLED.get(name, name): of for name, of in figures.items()})

    def taken(self, row: Mapping[str, Any]) -> "Tuned":
        """The run of a row, whole."""
        return Tuned({**self.case(), **row}, self.graph)


def _no_minutes(rows: list[tuple[str, int]], days: np.ndarray) -> np.ndarray:
    """Runs that last an hour, or that are on the fewest chips of their platform."""
    fewest: dict[str, int] = {}
    for (chip, chips), lasts in zip(rows, days, strict=True):
        if lasts > 0:
            fewest[chip] = min(chips, fewest.get(chip, chips))
    few = np.array([chips == fewest.get(chip) for chip, chips in rows], bool)
    return few | (days * HOURS_PER_DAY >= SHORTEST_HOURS)


@dataclass(frozen=True)
class Tuned:
    """The run that is taken, as quantities of a case.

    values : of the case, as the parameters of the chapter
    """

    values: Mapping[str, Any]
    graph: Graph

    @property
    def run(self) -> SimpleNamespace:
        """What its machines cost, by the name that a run of pretraining has for it [USD]."""
        return SimpleNamespace(usd=self.graph.bill.cost.machine_usd)

    def at(self, wanted: Mapping[str, Any], **other: Any) -> dict[str, Any]:
        """What quantities are, some parameters set otherwise."""
        return read_at(wanted, {**self.values, **other})

    def swings(self) -> dict[str, tuple[float, float]]:
        """What machines cost with each doubt at either end, the others at their best [USD]."""
        doubts, found = self.graph.doubts, {}
        best = {"pace": 1.0, "price": 1.0}
        of = {"time of real runs": "pace", "price of an hour": "price"}
        for name, ends in doubts.ends.items():
            moved = [
                at(doubts.moving.cost.machine_usd, **best | {of[name]: end})
                for end in (ends.low, ends.high)
            ]
            low, high = self.at(dict(zip(("low", "high"), moved, strict=True))).values()
            found[name] = float(low), float(high)
        return found

    def figures(self) -> dict[str, Any]:
        """What a plan tells of it."""
        graph = self.graph
        bill, doubts = graph.bill, graph.doubts
        job, hour = bill.job, bill.hour
        return self.at(
            {
                "usd": bill.cost.machine_usd,
                "days": bill.days,
                "hours": bill.chip_hours,
                "hour_usd": hour.usd,
                "counted": hour.counted,
                "age": hour.age,
                "low": doubts.low,
                "high": doubts.high,
                "billed_low": doubts.low,
                "billed_high": doubts.high,
                "labels_usd": bill.cost.labels_usd,
                "rollout_usd": bill.cost.rollout_usd,
                "rounds": job.rounds,
                "round_s": job.round_s,
                "beyond": bill.beyond,
                "held_bytes": job.held.total,
                "memory_bytes": job.memory_bytes,
                "engine_chips": job.rollout.chips,
                "running": job.rollout.running,
            }
        )
