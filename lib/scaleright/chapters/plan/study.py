"""The plan of a study of many small runs: nine steps, from the chapter on ablations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import floor
from statistics import NormalDist
from typing import Any

import numpy as np

from scaleright.chapters.plan.limits import LIFTED, rounded, soonest, unmet
from scaleright.chapters.plan.study_ways import FREE, Found, Options, Question, options_of
from scaleright.chapters.plan.training import compute_optimal_tokens
from scaleright.decisions import left_out
from scaleright.decisions.ablation_study import NODE_CHIPS
from scaleright.decisions.build_buy import arrives, bought_as
from scaleright.decisions.plan_parts import (
    Asked,
    Part,
    Relaxation,
    Step,
    chance,
    count,
    in_words,
    many,
    percent,
)
from scaleright.decisions.plan_runs import BUY, SPOT, bought_for, running_share
from scaleright.decisions.plan_workload import PROXIES, STAYS, Workload
from scaleright.footprint import Footprint, machine, place
from scaleright.formulas import lookup, search
from scaleright.information import probability_cheaper, spread_between
from scaleright.ops import normal_cdf
from scaleright.units import MASSES, duration, figure, in_units, si, usd

# What helps where a study cannot be met: which limit breaks, by how much, and the least change


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


LEVERS: Mapping[str, Mapping[str, Any]] = {
    "stop the worse half early, twice": {"halvings": 2},
    "train in FP8": {"precision": "FP8"},
    "rent from the cheapest quarter of sellers": {"seller": "cheapest quarter"},
    "keep the cluster busy between jobs": {"idle": 0.02},
}


@search
def plan_study(of: Workload) -> Part:
    """The plan of a study."""
    name = of.model or PROXIES[0]
    tokens = of.tokens or compute_optimal_tokens(name)
    runs = (of.variants or 0) * of.seeds
    work = f"Compare {of.variants:,} variants of {name}, {runs:,} runs of {count(tokens)} tokens"
    question, options, place = options_of(of, name, tokens)
    if place < 0:
        return unmet_study(question, options, work)
    return _part(Found.at(question, options, place), work)


def _part(found: Found, work: str) -> Part:
    of, options, place = found.of, found.options, found.place
    cost, cash, days = found.usd, float(options.cash[place]), float(options.days[place])
    low, high = found.ends
    sure = f"nine of ten such studies would cost {usd(low)} to {usd(high)}"
    if of.budget_usd:
        spread = spread_between(low, high)
        if found.bought:
            spread = bought_as(str(found.row["accelerator"]))["price_spread"]
        within = float(probability_cheaper(cash, of.budget_usd, spread))
        kept = f"{in_words(within)} to stay within {usd(of.budget_usd)} ({chance(within)})"
        sure = f"{kept}; {sure}"
    if of.deadline_days:
        kept = float(normal_cdf(options.early(of.deadline_days)[place]))
        sure = f"{in_words(kept)} to be done in {of.deadline_days:g} days ({chance(kept)}); {sure}"
    runs = (of.variants or 0) * of.seeds
    number = f"{usd(cost)} for the study, {usd(cost / runs)} a run"
    if found.bought:
        number = f"{usd(cash)} to buy them, of whose life the study takes {usd(cost)}"
        counted = "their wait is counted in the deadline" if of.deadline_days else ""
        number += f"; {arrives()}, and {counted or 'the days count from then'}"
    return Part(
        work=work,
        decision=f"{_decision(found)}{' for' if len(found.parts) == 1 else ':'}"
        f" {duration(days * DAY_S)}, a run on {found.row['run_on']}",
        number=number,
        sure=sure,
        because=_because(found),
        steps=(
            _demand(found),
            _supply(found),
            _size(found),
            _hardware(found),
            _layout(found),
            _levers(found),
            _measure(found),
            _energy(found),
            _change(found),
        ),
        figures={
            "usd": cost,
            "cash_usd": cash,
            "low_usd": low,
            "high_usd": high,
            "days": days,
            "chips": int(sum(part["chips"] for *_, part in found.parts)),
            "accelerator": found.row["accelerator"],
            "contract": found.row["contract"],
            "owned_chips_used": int(found.owned_chips),
            "usd_per_run": cost / runs,
        },
    )


def _decision(found: Found) -> str:
    """What to do, in words: chips that are owned first."""
    told = []
    for paid, row, now in found.parts:
        named = f"{int(now['chips']):,} {row['accelerator']}"
        if paid == "own":
            told.append(f"use {named} that you own")
        elif paid == BUY:
            bought = bought_for(row["accelerator"], int(now["chips"]))
            use = "" if bought == now["chips"] else f" and use {int(now['chips']):,} of them"
            told.append(f"buy {bought:,} {row['accelerator']}{use}")
        else:
            told.append(f"rent {named}{' on spot' if row['contract'] == SPOT else ''}")
    said = ", and beside them ".join(told)
    if len(found.parts) > 1:
        said += f" for {found.row['variants']:,} of {found.of.variants:,} variants"
    return f"{said[0].upper()}{said[1:]}"


def _because(found: Found) -> str:
    now, of = found.now, found.of
    price = now("hour_usd")
    if found.parts[-1][0] == "own":
        price *= running_share(str(found.row["accelerator"]))
    says = (
        f"{now('hours'):,.0f} chip-hours at {usd(price)} are the least of the platforms whose"
        " architecture the fit has seen, in time"
    )
    if len(found.parts) > 1:
        says = f"your own chips do what they can do in time for least, and beside them {says}"
    if of.owned and not found.owned_chips:
        says += f"; the {of.owned_chips:,} {of.owned} that you own would not, or not for less"
    return f"{says}."


def _demand(found: Found) -> Step:
    of, runs = found.of, (found.of.variants or 0) * found.of.seeds
    return Step(
        f"{runs:,} runs, each {found.now('run_hours'):.3g} hours on {found.row['run_on']}.",
        [
            f"{of.variants:,} variants with {of.seeds} seed{'' if of.seeds == 1 else 's'} each",
            f"{count(found.question.values['tokens'])} tokens a run",
            "one run in twenty fails and is made again; evaluation, loading and idle time count",
        ],
        found.asked({"study.run_hours": found.now("run_hours")}),
    )


def _supply(found: Found) -> Step:
    paid, row, now = found.parts[-1]
    price, why = usd(found.now("hour_usd")), "a study of days binds nobody for a year"
    says = f"Rent by the hour at {price} a chip, in {found.of.region}."
    if row["contract"] == SPOT:
        says = f"Rent on spot at {price} an hour a chip, in {found.of.region}."
        why = (
            "a server on spot is taken away about once a day (an assumption of this book), and its"
            f" run goes on from the last checkpoint: hours and days count that;{_on_demand(found)}"
        )
    reasons = [f"{why}; no API trains variants"]
    if paid == BUY:
        says = f"Buy them: your data may not leave. An hour of one costs {price} with its price."
        reasons = ["a budget has to pay the whole price; the study takes a part of their life"]
    elif paid == "own":
        running = usd(found.now("hour_usd") * running_share(str(row["accelerator"])))
        says = f"Use the chips that you own: running one costs {running} an hour."
        reasons = [f"what they cost to buy is paid already; with it an hour would cost {price}"]
    for _, mine, it in found.parts[:-1]:
        reasons.append(
            f"{int(it['chips']):,} {mine['accelerator']} that you own take {mine['variants']:,} of"
            f" {found.of.variants:,} variants, and {duration(it['days'] * DAY_S)}"
        )
    each = " for each part" if len(found.parts) > 1 else ""
    reasons.append(f"the bill is {usd(found.usd)}, half a person who waits{each} included")
    return Step(says, reasons, found.asked({"study.usd": now["usd"]}))


def _on_demand(found: Found) -> str:
    """The cheapest study that nobody interrupts for a better bid, in words."""
    options = found.options
    usual = np.array([row["contract"] != SPOT for row in options.other.rows] + [True])
    at = options.cheapest(found.of, options.within(found.of) & usual[options.second])
    if at < 0:
        return " on demand none keeps the limits"
    return (
        f" on demand it would cost {usd(float(options.usd[at]))} and take"
        f" {duration(float(options.days[at]) * DAY_S)}"
    )


def _size(found: Found) -> Step:
    seeds, needed = found.of.seeds, float(np.ceil(found.now("needed") - 1e-9))
    right, power = found.now("right"), found.now("power")
    says = f"A decision between two variants is right about the large run in {percent(right)}."
    return Step(
        says,
        [
            (
                f"with {many(seeds, 'seed')} a difference of one point is found in"
                f" {percent(power)} of cases, where seeds differ by half a point;"
                f" {needed:g} seeds find it in 80 %"
            ),
            "a larger proxy is right more often, and costs in proportion to its parameters",
        ],
        found.asked({"decision.right": right}),
    )


def _rivals(found: Found) -> list[tuple[str, float, bool]]:
    """The cheapest study on each other platform in time, the cheapest first: with its cost [USD],
    and whether the fit has seen its architecture.
    """
    other, best = found.options.other, dict[str, int]()
    whole = np.array([row["variants"] == found.question.whole for row in other.rows], bool)
    late = NormalDist().inv_cdf(found.of.deadline_chance)
    sure = other.sure_days(late)
    soon = whole & (other.usd > 0) & (sure <= (found.of.deadline_days or np.inf))
    for n in map(int, np.flatnonzero(soon)):
        chip = str(other.rows[n]["accelerator"])
        if chip not in best or other.usd[n] < other.usd[best[chip]]:
            best[chip] = n
    mine = {str(row["accelerator"]) for _, row, _ in found.parts}
    told = [
        (chip, float(other.usd[n]), bool(other.seen[n]))
        for chip, n in best.items()
        if chip not in mine
    ]
    return sorted(told, key=lambda of: (figure(of[1], 5), of[0]))


def _hardware(found: Found) -> Step:
    told = []
    for chip, cost, seen in _rivals(found)[:4]:
        unseen = "" if seen else " (no published run was on its architecture)"
        told.append(f"{chip}: {usd(cost)}{unseen}")
    named = " and ".join(
        f"{int(now['chips']):,} {row['accelerator']}" for _, row, now in found.parts
    )
    told = told or ["no other platform does it in time"]
    if not found.of.accelerator:
        told.append(left_out.told(left_out.of_trainings()))
    if found.unsold is not None:
        row, price = found.unsold
        told.append(left_out.wins(int(row["nodes"] * NODE_CHIPS), row["accelerator"], price))
    return Step(
        f"{named}.",
        told,
        found.asked({"study.chips": found.now("chips")}),
    )


def _layout(found: Found) -> Step:
    nodes = found.now("chips") / NODE_CHIPS
    held = many(nodes, "node") + " of eight"
    if nodes < 1:
        held = f"{found.now('chips'):,.0f} chips of a server"
    return Step(
        f"{held}, {found.now('places'):,.0f} runs at once, each on {found.row['run_on']}.",
        ["small models need no splitting: more runs side by side beat larger runs in turn"],
        found.asked({"study.places": found.now("places")}),
    )


def _levers(found: Found) -> Step:
    tried, now = [], found.bill()
    for words, change in LEVERS.items():
        if found.own and "seller" in change:
            continue
        there = found.bill(**change)
        saved = 1 - there / now
        if saved > 0.005:
            cost, case = found.usd * there / now, found.changed(found.row, change)
            alone = {} if len(found.parts) > 1 or found.own else {"study.usd": there}
            tried.append((saved, words, cost, found.asked(alone, **case)))
    tried.sort(key=lambda one: (-figure(one[0], 3), one[1]))
    if not tried:
        return Step("None of the levers tried makes the study cheaper.")
    return Step(
        f"First {tried[0][1]}: {percent(tried[0][0])} less.",
        [f"{words}: {percent(saved)} less, {usd(cost)}" for saved, words, cost, _ in tried],
        [question for *_, asked in tried for question in asked],
    )


def _measure(found: Found) -> Step:
    return Step(
        "First the noise between seeds: train one variant three times before the other runs.",
        [
            "whether a difference is real hangs on it, and no table has yours",
            f"then one run whole: it should take {found.now('run_hours'):.3g} hours",
            "then how many runs fail: the plan counts one in twenty",
        ],
        found.asked({"span.low_usd": found.now("low"), "span.high_usd": found.now("high")}),
    )


def _energy(found: Found) -> Step:
    made, there = (
        [
            Footprint.of(machine(str(row["accelerator"]), "training"), now["hours"], 1.0, of)
            for _, row, now in found.parts
        ]
        for of in (place(found.of.region), place("Sweden"))
    )
    chip, hours = str(found.row["accelerator"]), found.now("hours")
    figures = {
        "made.energy.watt_hours": float(made[-1].energy.watt_hours),
        "made.carbon.total": float(made[-1].carbon.total),
    }
    case = {"task": "training", "accelerator": chip, "chip_hours": hours, "utilization": 1.0}
    drawn, carbon = (
        sum(float(of.energy.watt_hours) for of in made),
        sum(float(of.carbon.total) for of in made),
    )
    cleaner = sum(float(of.carbon.total) for of in there)
    return Step(
        f"{si(drawn, 'Wh')} of electricity and {in_units(carbon, MASSES)} of CO2e in"
        f" {found.of.region}.",
        [f"in Sweden it would be {in_units(cleaner, MASSES)}"],
        [Asked("sustainability", case | {"place": found.of.region}, figures)],
    )


def _change(found: Found) -> Step:
    told, rivals = [], [of for of in _rivals(found) if of[2] and of[1] > found.usd]
    says = "Twice the variants cost twice as much; the platform stays the same."
    if rivals and not found.owned_chips:
        gap = rivals[0][1] / found.usd - 1
        says = (
            f"A price of the {found.row['accelerator']} that is {percent(gap)} higher makes the"
            f" {rivals[0][0]} cheaper."
        )
    now = found.bill()
    for seeds in (1, 2, 4):
        if seeds != found.of.seeds:
            there = found.usd * found.bill(seeds=seeds) / now
            told.append(f"{many(seeds, 'seed')} each: {usd(there)}")
    quickest = found.now("quickest")
    told.append(f"the largest cluster that is tried would take {duration(quickest * DAY_S)}")
    return Step(says, told, found.asked({"mine.quickest": quickest}))
