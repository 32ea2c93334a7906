"""A study on a cluster of a platform: its schedule, its bill, the cluster that does it for least in
time, and what nobody knows of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import pi
from statistics import NormalDist
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
    HALVINGS,
    MOST_HALVINGS,
    SURVIVE,
    StudyCost,
    StudyHours,
    slots,
    study_days,
    study_hours,
    study_usd,
    whole_above,
    whole_runs_in_turn,
    whole_runs_trained,
)
from scaleright.costs.fastest_steps import COLUMNS
from scaleright.costs.pretraining import run_chip_hours
from scaleright.costs.pretraining_run import Hour, Paid
from scaleright.costs.whole_runs import as_tuned, factors, whole_runs
from scaleright.formulas import (
    COUNT,
    NON_NEGATIVE,
    POSITIVE,
    SHARE,
    Domain,
    closed_form,
    lookup,
    search,
    unchecked,
)
from scaleright.market import hour
from scaleright.market.paid import BINDING
from scaleright.ops import (
    INFINITY,
    cos,
    first_case,
    log10,
    maximum,
    minimum,
    normal_cdf,
    normal_density,
    sin,
    sqrt,
    where,
)
from scaleright.order_statistics import largest_score
from scaleright.quantity import at, given, least, look_up
from scaleright.ranges import Ends, interval_of
from scaleright.transformer import active_parameters, training_flop
from scaleright.units import HOURS_PER_YEAR, figure

# What an experiment can decide: how many seeds tell two variants apart, how far the order at a
# small scale is that at a large one, and what a decision costs


LEVELS = ("80 %", "90 %", "95 %", "99 %")
"""How rarely a difference is to be seen where there is none."""
POWERS = ("50 %", "80 %", "90 %", "95 %")
"""How often one that is there is to be found."""
QUANTILE = Domain(0.0, 6.0, (0.0, 3.0))
TENFOLDS = Domain(0.0, 1.0, (0.0, 0.3))
BY_CHANCE = 0.5
"""Share of pairs that are in the wrong order where a proxy tells nothing [1]."""
_PI = figure(pi)
_TAIL = tuple(map(figure, (1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.319381530)))
"""Of the polynomial of `_beyond`, with as many digits as a page is told."""
NEVER_AHEAD = 50
"""Power of the correlation with which the others that a normal variable puts ahead of the best are
taken off: by simulation.
"""
FURTHEST = 4.0
"""Standard deviations beyond which a page's normal distribution has fewer digits."""


@lookup
def two_sided() -> dict[str, float]:
    """Standard deviations that a difference of noise alone exceeds, either way, as rarely as each
    of `LEVELS` says.

    >>> round(two_sided()["95 %"], 2)
    1.96
    """
    of = NormalDist().inv_cdf
    return {level: of((1 + float(level.split()[0]) / 100) / 2) for level in LEVELS}


@lookup
def one_sided() -> dict[str, float]:
    """Standard deviations that noise stays below as often as each of `POWERS` says.

    >>> one_sided()["50 %"], round(one_sided()["80 %"], 2)
    (0.0, 0.84)
    """
    of = NormalDist().inv_cdf
    return {power: of(float(power.split()[0]) / 100) for power in POWERS}


@closed_form(difference=POSITIVE, noise=NON_NEGATIVE, level=QUANTILE, power=QUANTILE)
def seeds_needed(difference, noise, level, power):
    """Runs of each of two variants that tell them apart [1]; not rounded, and below 1 where one is
    more than enough.

    Parameters
    ----------
    difference : between the variants that is to be seen, in points of the benchmark
    noise : standard deviation between seeds of one variant, in the same points
    level, power : see `two_sided` and `one_sided`

    Source: sample size of a comparison of two means, n = 2 (z + z')^2 s^2 / d^2 [cohen1992].

    >>> round(seeds_needed(1.0, 0.5, 1.96, 0.8416), 2)
    3.92
    """
    return 2 * (level + power) ** 2 * noise**2 / difference**2


@closed_form(difference=POSITIVE, noise=POSITIVE, seeds=COUNT, level=QUANTILE)
def power_reached(difference, noise, seeds, level):
    """How often so many seeds find a difference that is there [1]; arguments as in `seeds_needed`.

    >>> round(power_reached(1.0, 0.5, 4, 1.96), 2)
    0.81
    """
    ahead = difference / (noise * sqrt(2 / seeds)) - level
    return normal_cdf(maximum(minimum(ahead, FURTHEST), -FURTHEST))


@closed_form(difference=POSITIVE, noise=POSITIVE, seeds=COUNT)
def better_seen(difference, noise, seeds):
    """Probability that the better of two variants has the better mean over so many seeds [1].

    >>> round(better_seen(1.0, 1.0, 2), 3), better_seen(1.0, 0.01, 1) > 0.999
    (0.841, True)
    """
    ahead = difference / (noise * sqrt(2 / seeds))
    return normal_cdf(minimum(ahead, FURTHEST))


@closed_form(proxy_flop=POSITIVE, target_flop=POSITIVE, per_tenfold=TENFOLDS)
def misordered(proxy_flop, target_flop, per_tenfold):
    """Share of pairs of variants whose order at a small scale is not that at the large one [1].

    Parameters
    ----------
    proxy_flop, target_flop : arithmetic of a run at either scale [FLOP]
    per_tenfold : such pairs for each tenfold less arithmetic [1]

    In published studies it grows about as the logarithm of the ratio; see
    `ablation_evidence.transfers`. A proxy as large as the target misorders none, and none misorders
    more than half.

    >>> round(misordered(1e19, 1e21, 0.1), 9), misordered(1e21, 1e19, 0.1)
    (0.2, 0.0)
    """
    tenfolds = log10(maximum(target_flop / proxy_flop, 1.0))
    return minimum(per_tenfold * tenfolds, BY_CHANCE)


# Arguments are checked once, by what asks about a study.
_misordered = unchecked(misordered)


@closed_form(seen=SHARE, wrong=SHARE)
def decided_right(seen, wrong):
    """Probability that the variant which seems better in small runs is the better one at the large
    scale [1].

    Parameters
    ----------
    seen : that it is the better one at the small scale, see `better_seen` [1]
    wrong : share of pairs whose order changes, see `misordered` [1]

    >>> round(decided_right(0.9, 0.2), 9), decided_right(1.0, 0.0)
    (0.74, 1.0)
    """
    return seen * (1 - wrong) + (1 - seen) * wrong


@closed_form(
    variants=Domain(2.0, INFINITY, (2.0, 1000.0)),
    survive=SURVIVE,
    halvings=HALVINGS,
    per_tenfold=TENFOLDS,
)
def best_kept(variants, survive, halvings, per_tenfold):
    """Probability that no cut drops the variant that would be best at the end of its run [1].

    Parameters
    ----------
    variants : that are compared [1]
    survive, halvings : see `costs.experiments.halving_share` [1]
    per_tenfold : pairs in the wrong order for each tenfold less arithmetic, see `misordered` [1]

    Notes
    -----
    A run that has had a share of its tokens is judged as one of as much arithmetic: early runs
    decide about as well as small ones of the same cost [datadecide2025, section 3]. Qualities are
    normal, and the best lies where the largest of so many does; pairs in the wrong order are a
    correlation of what is seen early with what comes out, r = cos(pi w) [sheppard1899]. How many
    others seem better than the best is taken as geometric, by its mean, of which what a normal
    variable has beyond the best is taken off by `NEVER_AHEAD`; cuts as half independent. All that
    is off a simulation by one point in the mean and by 15 at most, as a test holds.

    >>> best_kept(24.0, 0.5, 0.0, 0.1), round(best_kept(24.0, 0.25, 2.0, 0.1), 2)
    (1.0, 0.96)
    """
    lead = largest_score(variants) * variants / (variants - 1)
    others = maximum(1 - lead * lead / variants, 0.1)
    every, worst = 1.0, 1.0
    for rung in range(MOST_HALVINGS):
        wrong = _misordered(survive ** maximum(halvings - rung, 0.0), 1.0, per_tenfold)
        seen, unseen = cos(_PI * wrong), sin(_PI * wrong)
        apart = sqrt(2 * unseen * unseen + seen * seen * others)
        never = seen**NEVER_AHEAD * _beyond(lead / sqrt(others))
        better = (variants - 1) * maximum(_beyond(seen * lead / apart) - never, 0.0)
        left, stays = (whole_above(variants * survive**by) for by in (rung, rung + 1))
        lost = where(stays < left, (better / (1 + better)) ** stays, 0.0)
        kept = where(rung < halvings, 1 - lost, 1.0)
        every, worst = every * kept, minimum(worst, kept)
    return sqrt(every * worst)


def _beyond(deviations):
    """Probability of more than so many standard deviations above the mean [1], to 7.5e-8; a page's
    own normal distribution has too few digits for the number of variants that it is times here
    [abramowitz1964, equation 26.2.17].
    """
    far = minimum(abs(deviations), FURTHEST)
    t = 1 / (1 + 0.2316419 * far)
    tail = 0.0
    for term in _TAIL:
        tail = t * (term + tail)
    tail = tail * normal_density(far)
    return where(deviations >= 0, tail, 1 - tail)


@closed_form(experiment_usd=NON_NEGATIVE, seeds=COUNT)
def decision_usd(experiment_usd, seeds):
    """What it costs to decide between two variants, each with so many seeds [USD].

    >>> decision_usd(100.0, 4)
    800.0
    """
    return 2 * seeds * experiment_usd


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

    def in_time(self, accelerator_name: Any, width: Any = None) -> Cluster:
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
