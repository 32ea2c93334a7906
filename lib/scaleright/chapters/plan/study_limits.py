"""What helps where a study cannot be met: which limit breaks, by how much, and the least change."""

from dataclasses import replace
from math import floor

import numpy as np

from scaleright.chapters.plan.limits import LIFTED, rounded, soonest, unmet
from scaleright.chapters.plan.study_ways import FREE, NODE_CHIPS, Options, Question, options_of
from scaleright.decisions.build_buy import arrives
from scaleright.decisions.plan_parts import Part, Relaxation, chance, count
from scaleright.decisions.plan_runs import BUY, SPOT
from scaleright.decisions.plan_workload import STAYS, Workload
from scaleright.formulas import lookup, search
from scaleright.ops import normal_cdf
from scaleright.units import duration, usd

DAY_S = 86_400.0
SURE = "as sure as the model: experiments were predicted within a third in the median"
LOWEST = {"variants": 2.0, "tokens": 1e8}


@lookup
def named_study(options: Options, at: int) -> str:
    """The chips of a study, in words."""
    told = []
    for paid, row in options.pieces(at):
        named = f"{row['nodes'] * NODE_CHIPS:,.0f} {row['accelerator']}"
        end = {"own": " that you own", BUY: " bought for it"}.get(paid, "")
        told.append(named + end + (" on spot" if row["contract"] == SPOT else ""))
    return " and ".join(told)


@search
def unmet_study(question: Question, options: Options, work: str) -> Part:
    """The part of a plan whose study cannot be had."""
    of, there = question.of, options.allowed
    if not there.any():
        return _nowhere(question, work)
    deadline, budget = of.deadline_days or FREE, of.budget_usd or FREE
    sure, half = (options.sure_days(it) for it in (of.deadline_chance, 0.5))
    fast, cheap = options.best(there, half), options.best(there, options.cash)
    cash, broken = options.cash, []
    if half[fast] > deadline:
        broken.append(_late(options, fast, deadline))
    if cash[cheap] > budget:
        costs = "takes" if of.data == STAYS else "costs"
        broken.append(
            f"the budget of {usd(budget)}: the cheapest, on {named_study(options, cheap)}, {costs}"
            f" {usd(float(cash[cheap]))}, {cash[cheap] / budget:.3g} times as much"
        )
    paid = there & (cash <= budget)
    changes = [_surer(of, options, paid), _longer(of, options, paid, sure)]
    changes += [_dearer(of, options, there & (sure <= deadline))]
    if changes[1] is None and changes[2] is None:
        changes.append(_both(of, options, there, sure))
    changes += [*_fewer(of, question, options), *_lifted(question)]
    if not broken and paid.any():
        at, kept = _surest(of, options, paid)
        broken.append(
            f"the deadline of {deadline:g} days: the surest within the budget,"
            f" {named_study(options, at)}, keeps it with a chance of {chance(kept)}, not"
            f" {chance(of.deadline_chance)}"
        )
    says = " and ".join(broken)
    least = float(cash[cheap])
    return unmet(work, says, "no cluster that is tried keeps it.", changes, SURE, usd=least)


def _late(options: Options, fast: int, deadline: float) -> str:
    """That even the quickest is too late, in words."""
    days, named = float(options.days[fast]), named_study(options, fast)
    says = f"the deadline of {deadline:g} days: "
    if options.bought[fast]:
        return (
            f"{says}{arrives()}, and the quickest, on {named}, then takes {duration(days * DAY_S)}"
        )
    over = f"{days / deadline:.3g} times as long"
    return f"{says}the quickest, on {named}, takes {duration(days * DAY_S)}, {over}"


def _nowhere(question: Question, work: str) -> Part:
    """Where no cluster takes a run at all: which restriction to lift, and what that gives."""
    of = question.of
    chip = of.accelerator or "any platform"
    says = f"the platform: nobody {'sells' if of.data == STAYS else 'rents out'} {chip} for it"
    because = "no price of it is listed, or no run fits on it."
    if of.accelerator and of.accelerator not in question.names:
        says = f"the platform: no cluster is built of {chip}"
        because = f"a study takes one of {', '.join(question.names)}."
    return unmet(work, says, because, _lifted(question), "certain")


def _lifted(question: Question) -> list[Relaxation]:
    """Restrictions without which the study keeps its limits, and what that gives."""
    found, values = [], question.values
    for change, words in LIFTED:
        other = replace(question.of, **change)
        if other == question.of:
            continue
        _, options, at = options_of(other, values["model"], values["tokens"], mixed=False)
        if at >= 0:
            says = f"{words}: {named_study(options, at)} for {usd(float(options.cash[at]))}"
            ((parameter, value),) = change.items()
            found.append(Relaxation(says, parameter, value, 1.0))
    return found


def _surest(of: Workload, options: Options, paid: np.ndarray) -> tuple[int, float]:
    """The place of the surest of those that can be paid, and its chance to be in time [1]."""
    # by how many standard deviations it is early
    by = options.early(of.deadline_days or FREE)
    at = options.best(paid, -by + 1e3)
    return at, float(normal_cdf(by[at]))


def _surer(of: Workload, options: Options, paid: np.ndarray) -> Relaxation | None:
    """Less certainty about the deadline."""
    if not of.deadline_days or not paid.any():
        return None
    at, kept = _surest(of, options, paid)
    value = floor(100 * kept) / 100
    if not 0.5 <= value < of.deadline_chance:
        return None
    says = f"be {chance(value)} sure of the deadline instead of {chance(of.deadline_chance)}"
    share = 1 - value / of.deadline_chance
    return Relaxation(f"{says}: {named_study(options, at)}", "deadline_chance", value, share)


def _longer(
    of: Workload, options: Options, paid: np.ndarray, sure: np.ndarray
) -> Relaxation | None:
    """More time, at the same budget."""
    if not of.deadline_days or not paid.any():
        return None
    at = soonest(sure, options.cash, paid)
    value = rounded(float(sure[at]), up=True)
    says = f"wait {value:g} days: {named_study(options, at)} for {usd(float(options.cash[at]))}"
    return Relaxation(says, "deadline_days", value, value / of.deadline_days - 1)


def _dearer(of: Workload, options: Options, soon: np.ndarray) -> Relaxation | None:
    """More money, in the same time."""
    if not of.budget_usd or not soon.any():
        return None
    at = options.best(soon, options.cash)
    value = rounded(float(options.cash[at]), up=True)
    says = f"spend {usd(value)}: {named_study(options, at)}"
    return Relaxation(says, "budget_usd", value, value / of.budget_usd - 1)


def _both(of: Workload, options: Options, there: np.ndarray, sure: np.ndarray) -> Relaxation | None:
    """More time and more money, where neither alone is enough."""
    if not (of.deadline_days and of.budget_usd):
        return None
    over = np.maximum(sure / of.deadline_days, options.cash / of.budget_usd)
    at = options.best(there, over)
    days, cost = (rounded(float(it[at]), up=True) for it in (sure, options.cash))
    days, cost = max(days, of.deadline_days), max(cost, of.budget_usd)
    says = f"wait {days:g} days and spend {usd(cost)}: {named_study(options, at)}"
    share = max(days / of.deadline_days, cost / of.budget_usd) - 1
    return Relaxation(says, "deadline_days", days, share, {"budget_usd": cost})


def _fewer(of: Workload, question: Question, options: Options) -> list[Relaxation]:
    """Fewer variants, or fewer tokens of each: on chips of one kind, mixed ones keep no less."""
    found, whole, tokens = [], question.whole, float(question.values["tokens"])
    alone = options.allowed & (np.minimum(options.first, options.second) < 0)
    if not alone.any():
        return []
    share, fewer = (float(np.max(options.alone(name)[alone])) for name in ("share", "fewer"))
    if fewer >= LOWEST["variants"]:
        says = f"compare {fewer:,.0f} variants instead of {whole:,}"
        found.append(Relaxation(says, "variants", int(fewer), whole / fewer - 1))
    if tokens * share >= LOWEST["tokens"]:
        value = rounded(tokens * share, up=False)
        says = f"train each run on {count(value)} tokens instead of {count(tokens)}"
        found.append(Relaxation(says, "tokens", value, tokens / value - 1))
    return found
