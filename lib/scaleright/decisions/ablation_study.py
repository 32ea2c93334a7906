"""A study on a cluster of a platform: its schedule, its bill, the cluster that does it for least in
time, and what nobody knows of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from scaleright.catalog import model
from scaleright.costs.experiment_steps import (
    BATCH_TOKENS,
    ExperimentStep,
    ExperimentSteps,
    require_fits,
    widths,
)
from scaleright.costs.experiments import (
    StudyCost,
    StudyHours,
    slots,
    study_days,
    study_hours,
    study_usd,
    whole_runs_in_turn,
    whole_runs_trained,
)
from scaleright.costs.fastest_steps import COLUMNS
from scaleright.costs.pretraining import run_chip_hours
from scaleright.costs.pretraining_run import Hour, Paid
from scaleright.costs.whole_runs import as_tuned, factors, whole_runs
from scaleright.decisions.ablation import (
    best_kept,
    better_seen,
    decided_right,
    decision_usd,
    misordered,
    one_sided,
    power_reached,
    seeds_needed,
    two_sided,
)
from scaleright.formulas import lookup, search
from scaleright.market import hour
from scaleright.market.paid import BINDING
from scaleright.ops import first_case, maximum, minimum, where
from scaleright.quantity import at, given, least, look_up
from scaleright.ranges import Ends, interval_of
from scaleright.transformer import active_parameters, training_flop
from scaleright.units import HOURS_PER_YEAR

NODE_CHIPS = 8
"""Chips that are rented at once at least; on a rack of 72, two trays."""
NODES = (1, 2, 4, 8, 16, 32, 64)
"""Nodes of the clusters that are tried."""
ANEW = "start anew"
ELSEWHERE = "used by others"


@lookup
def term_hours(contract: Any) -> Any:
    """How long chips are paid for at least under a contract [h]: the shortest term that is sold.

    >>> term_hours("on demand"), term_hours("one year")
    (0.0, 8766.0)
    """
    bound = [(contract == of, years * HOURS_PER_YEAR) for of, years in BINDING.items()]
    return first_case(bound, 0.0)


@lookup
def require_smaller(model_name: str, tokens: float, target: str, target_tokens: float) -> None:
    """Refuse experiments that take no less arithmetic than what they stand for.

    Raises
    ------
    ValueError : they do; says how many tokens would be less.

    >>> require_smaller("OLMo-2-7B", 1e12, "OLMo-2-7B", 1e12)
    Traceback (most recent call last):
    ValueError: a proxy as large as its target: OLMo-2-7B on 1e+12 tokens takes 1 times the
    arithmetic of OLMo-2-7B on 1e+12; train on fewer than 1e+12 tokens, or try the variants on the
    target itself
    """
    size, other = (float(active_parameters(model(of)).total) for of in (model_name, target))
    over = training_flop(size, tokens) / training_flop(other, target_tokens)
    if over < 1:
        return
    raise ValueError(
        f"a proxy as large as its target: {model_name} on {tokens:g} tokens takes {over:.2g} times"
        f" the arithmetic of {target} on {target_tokens:g}; train on fewer than"
        f" {tokens / over:.2g} tokens, or try the variants on the target itself"
    )


@search
def require_a_node(
    model_name: str,
    tokens: float,
    run_on: str,
    precision: str,
    price: tuple[str, str, str, float],
    budget_usd: float,
    tuning: str,
) -> None:
    """Refuse a budget that does not pay a node, or as many as one run takes, for as long as that.

    price : accelerator, contract, seller, and a rent of the reader's own or 0 [USD/h]

    Raises
    ------
    ValueError : it does not; says what the nodes cost for that time.
    """
    chip, contract, seller, own = price
    step = require_fits(model_name, chip, run_on, precision)
    seconds = sum(step[part] for part in COLUMNS[:-1])
    parts = (seconds, 0.0, 0.0, 0.0)
    alone = run_chip_hours(tokens, BATCH_TOKENS, 1, *parts, **whole_runs(tuning).factors).total
    chips = max(NODE_CHIPS, int(widths()[run_on]))
    usd = alone * chips * (own or hour(chip, contract, seller).usd)
    if budget_usd < usd:
        raise ValueError(
            f"a budget of {budget_usd:g} USD does not pay {chips} {chip}, the least that is rented,"
            f" for the {alone:.2g} hours of one run: {usd:.3g} USD; take a smaller proxy, fewer"
            " tokens or a cheaper chip"
        )


@dataclass(frozen=True)
class Plan:
    """What is trained, the same on every platform.

    trained : as many whole runs [1]
    started : runs that are started [1]
    rules : variants, seeds, survive, halvings, reused and failed, as formulas take them
    shares : failed, evaluation, loading and idle, likewise
    """

    trained: Any
    started: Any
    rules: Mapping[str, Any]
    shares: Mapping[str, Any]

    @classmethod
    def of(cls, case: Any) -> Self:
        """That of a case of quantities."""
        reused = where(case.after_a_cut == ANEW, 0.0, 1.0)
        cuts = {"survive": case.survive, "halvings": case.halvings, "reused": reused}
        runs = {"variants": case.variants, "seeds": case.seeds} | cuts
        shares = {name: getattr(case, name) for name in ("evaluation", "loading", "idle")}
        return cls(
            trained=whole_runs_trained(**runs),
            started=case.variants * case.seeds,
            rules=runs | {"failed": case.failed},
            shares=shares,
        )


@dataclass(frozen=True)
class Study(Paid):
    """A study on a cluster, the step being that of its runs.

    places : runs at once
    run_hours : how long one whole run trains [h]
    turns : how many times as long as one run it takes, in whole waves [1]
    days : how long it takes [d]
    """

    step: ExperimentStep
    hours: StudyHours
    cost: StudyCost
    places: Any
    run_hours: Any
    turns: Any
    days: Any

    @property
    def usd(self) -> Any:
        """In all, with the people who wait [USD]."""
        return self.cost.total

    @property
    def nodes(self) -> Any:
        """Of the cluster."""
        return self.chips / NODE_CHIPS


@dataclass(frozen=True)
class Desk:
    """What is needed to make a study out of a case."""

    case: Any
    plan: Plan
    steps: ExperimentSteps

    @classmethod
    def of(cls, case: Any, steps: ExperimentSteps) -> Self:
        """That of a case of quantities."""
        return cls(case, Plan.of(case), steps)

    def on(
        self,
        accelerator_name: Any,
        nodes: Any,
        width: Any = None,
        price: Any = 1.0,
        pace: Any = 1.0,
    ) -> Study:
        """The study on so many nodes of an accelerator.

        width : what a run is put on, one of `widths`; by default the case's
        price, pace : an hour's price and a run's time over what they are thought to be [1]
        """
        case, plan = self.case, self.plan
        width = case.run_on if width is None else width
        wide, chips = look_up(widths(), width), NODE_CHIPS * nodes
        step = self.steps.on(accelerator_name, case, width)
        hour = Hour.of(case, accelerator_name)
        parts = (step.seconds * pace, 0.0, 0.0, 0.0)
        alone = run_chip_hours(case.tokens, BATCH_TOKENS, 1, *parts, **factors(case.tuning))
        room = slots(chips, wide)
        places = where(room > 0, room, float("nan"))  # a cluster too small for one run
        turns = whole_runs_in_turn(**plan.rules, places=places)
        bound = where(case.rest_of_term == ELSEWHERE, 0.0, term_hours(case.contract))
        term = where(hour.owned, 0.0, bound)
        failed = plan.rules["failed"]
        hours = study_hours(
            plan.trained, turns, alone.total, wide, chips, failed, **plan.shares, term_hours=term
        )
        days = study_days(turns, alone.total, **plan.shares)
        cost = study_usd(
            **hours.parts(),
            usd_per_hour=hour.total * price,
            storage=case.storage,
            days=days,
            waiting=case.waiting,
            pay_usd_per_year=case.pay_usd_per_year,
        )
        return Study(chips, step, hour, hours, cost, places, alone.total, turns, days)

    def in_time(self, accelerator_name: Any, width: Any = None) -> "Cluster":
        """The study on the cluster of an accelerator that does it for least by the deadline; for
        least at all where none does.
        """
        tried = {n: self.on(accelerator_name, n, width) for n in NODES}
        late = float("nan")
        by_then = {
            str(n): where(of.days <= self.case.deadline_days, of.usd, late)
            for n, of in tried.items()
        }
        soon, usd = least(by_then)
        whenever, _ = least({str(n): of.usd for n, of in tried.items()})
        name, punctual = where(usd > 0, soon, whenever), usd > 0
        nodes = first_case([(name == str(n), float(n)) for n in NODES], float(NODES[-1]))
        return Cluster(self.on(accelerator_name, nodes, width), punctual, tried[NODES[-1]].days)


@dataclass(frozen=True)
class Cluster:
    """The cluster that is taken.

    study : on it
    punctual : whether it is done by the deadline
    quickest : how long the largest cluster that is tried takes [d]
    """

    study: Study
    punctual: Any
    quickest: Any


@dataclass(frozen=True)
class Decision:
    """What a study decides between two of its variants.

    experiment_usd, usd : a run; both variants with all their seeds [USD]
    needed : seeds that tell them apart as asked, not rounded [1]
    power : how often the case's seeds find the difference [1]
    seen, wrong, kept : see `better_seen`, `misordered` and `best_kept` [1]
    right : how often it is right about the large run, see `decided_right`, where no cut has dropped
        the better one before [1]
    tenfold : arithmetic of a run at the large scale over that of an experiment [1]
    """

    experiment_usd: Any
    usd: Any
    needed: Any
    power: Any
    seen: Any
    wrong: Any
    kept: Any
    right: Any
    larger: Any

    @classmethod
    def of(cls, case: Any, steps: ExperimentSteps, usd: Any, started: Any) -> Self:
        """That of a case whose study costs so much and starts so many runs."""
        level = look_up(two_sided(), case.level)
        power = look_up(one_sided(), case.power)
        sizes = (look_up(steps.parameters, name) for name in (case.model, case.target))
        flops = [
            training_flop(size, tokens)
            for size, tokens in zip(sizes, (case.tokens, case.target_tokens), strict=True)
        ]
        wrong = misordered(*flops, case.misordered_per_tenfold)
        points = case.difference, case.noise
        seen = better_seen(*points, case.seeds)
        kept = best_kept(case.variants, case.survive, case.halvings, case.misordered_per_tenfold)
        each = usd / started
        return cls(
            experiment_usd=each,
            usd=decision_usd(each, case.seeds),
            needed=seeds_needed(*points, level, power),
            power=power_reached(*points, case.seeds, level),
            seen=seen,
            wrong=wrong,
            kept=kept,
            right=kept * decided_right(seen, wrong),
            larger=flops[1] / flops[0],
        )


USUAL = {"price": 1.0, "pace": 1.0}


@dataclass(frozen=True)
class Range:
    """Where the bill of a study may lie: low and high end, nine of ten [USD]."""

    low_usd: Any
    high_usd: Any

    @classmethod
    def of(cls, desk: Desk, accelerator_name: Any, nodes: Any, study: Study) -> Self:
        """That of a study on so many nodes: prices, and how far real runs were from what was
        predicted, by steps or by whole runs, whichever is wider.
        """
        free = {name: given(name, value) for name, value in USUAL.items()}
        moving = desk.on(accelerator_name, nodes, **free)
        trusted, tuning = study.step.trust, desk.case.tuning
        quick = minimum(trusted["error_low"], as_tuned(tuning, lambda runs: runs.low))
        slow = maximum(trusted["error_high"], as_tuned(tuning, lambda runs: runs.high))
        low, high = study.hour.ends
        ends = [Ends(free["price"], low, high), Ends(free["pace"], quick, slow)]
        return cls(*(at(end, **USUAL) for end in interval_of(moving.usd, ends)))
