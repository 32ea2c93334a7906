"""The plan of a study of many small runs: nine steps, from the chapter on ablations."""

import itertools
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from scaleright.costs import pretraining
from scaleright.costs.experiment_steps import ExperimentSteps
from scaleright.decisions.ablation_evidence import per_tenfold
from scaleright.decisions.ablation_study import NODE_CHIPS, Cluster, Decision, Desk, Range
from scaleright.decisions.plan_parts import (
    Asked,
    Part,
    Step,
    chance,
    count,
    in_words,
    many,
    percent,
)
from scaleright.decisions.plan_runs import read_at
from scaleright.decisions.plan_study_limits import TARGET, USUAL, Found, there_are, unmet_study
from scaleright.decisions.plan_training import compute_optimal_tokens
from scaleright.decisions.plan_workload import PROXIES, STAYS, Workload
from scaleright.footprint import Footprint, machine, place
from scaleright.formulas import search
from scaleright.information import probability_cheaper, spread_between
from scaleright.quantity import given
from scaleright.units import MASSES, duration, figure, in_units, si, usd

WIDTHS = ("1 chip", "2 chips", "4 chips", "8 chips", "16 chips")
"""What a run may be put on."""
DAY_S = 86_400.0
LEVERS: Mapping[str, Mapping[str, Any]] = {
    "stop the worse half early, twice": {"halvings": 2},
    "train in FP8": {"precision": "FP8"},
    "rent from the cheapest quarter of sellers": {"seller": "cheapest quarter"},
    "rent on spot": {"contract": "spot"},
    "keep the cluster busy between jobs": {"idle": 0.02},
}


def _wanted(mine: Cluster, span: Range, decision: Decision) -> dict[str, Any]:
    study = mine.study
    return {
        "usd": study.usd,
        "days": study.days,
        "chips": study.chips,
        "hours": study.hours.total,
        "hour_usd": study.hour.total,
        "run_hours": study.run_hours,
        "places": study.places,
        "punctual": mine.punctual,
        "quickest": mine.quickest,
        "seen": study.step.trust.seen,
        "owned": study.hour.owned,
        "low": span.low_usd,
        "high": span.high_usd,
        "each": decision.experiment_usd,
        "right": decision.right,
        "power": decision.power,
        "needed": decision.needed,
    }


@search
def plan_study(of: Workload) -> Part:
    """The plan of a study."""
    name = of.model or PROXIES[0]
    tokens = of.tokens or compute_optimal_tokens(name)
    runs = (of.variants or 0) * of.seeds
    values = {"model": name, "tokens": float(tokens), "variants": of.variants, "seeds": of.seeds}
    values |= {"deadline_days": min(of.deadline_days or 365.0, 365.0)}
    values |= {"budget_usd": of.budget_usd or 1e8, "paid": "own" if of.data == STAYS else "rent"}
    steps = ExperimentSteps.of([name], [TARGET])
    more = {"accelerator": "H100 SXM", "run_on": "8 chips", "rent_usd_per_hour": 0.0}
    more |= {"pay_usd_per_year": pretraining.project()["pay_usd_per_year"]}
    more |= {"misordered_per_tenfold": per_tenfold().best}
    every = {**values, **USUAL, **more}
    case = SimpleNamespace(**{name: given(name, it) for name, it in every.items()})
    desk = Desk.of(case, steps)
    mine = desk.in_time(case.accelerator)
    span = Range.of(desk, case.accelerator, mine.study.nodes, mine.study)
    decision = Decision.of(case, steps, mine.study.usd, desk.plan.started)
    chips = (of.accelerator,) if of.accelerator else steps.names
    pairs = itertools.product(chips, WIDTHS)
    rows = [dict(zip(("accelerator", "run_on"), one, strict=True)) for one in pairs]
    at = _along(_wanted(mine, span, decision), rows)
    work = f"Compare {of.variants:,} variants of {name}, {runs:,} runs of {count(tokens)} tokens"
    found = Found(of, values, mine, span, decision, rows, at, -1)
    place_ = _best(found)
    if place_ < 0:
        return unmet_study(found, work)
    return _part(Found(of, values, mine, span, decision, rows, at, place_), work)


def _along(wanted: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    case = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    found = read_at(wanted, case)
    return {name: np.broadcast_to(it, (len(rows),)) for name, it in found.items()}


def _best(found: Found) -> int:
    """The cheapest that keeps deadline and budget; -1 where none does."""
    soon = found.at["days"] <= (found.of.deadline_days or np.inf)
    allowed = there_are(found) & soon & (found.at["usd"] <= (found.of.budget_usd or np.inf))
    places = [int(n) for n in np.flatnonzero(allowed)]
    key = {n: (figure(float(found.at["usd"][n]), 5), *found.rows[n].values()) for n in places}
    return min(places, key=key.__getitem__, default=-1)


def _part(found: Found, work: str) -> Part:
    of, now = found.of, found.now
    chips, chip = int(now("chips")), found.row["accelerator"]
    cost, low, high = now("usd"), now("low"), now("high")
    sure = f"nine of ten such studies would cost {usd(low)} to {usd(high)}"
    if of.budget_usd:
        within = float(probability_cheaper(cost, of.budget_usd, spread_between(low, high)))
        kept = f"{in_words(within)} to stay within {usd(of.budget_usd)} ({chance(within)})"
        sure = f"{kept}; {sure}"
    paid = "Own" if found.values["paid"] == "own" else "Rent"
    return Part(
        work=work,
        decision=f"{paid} {chips:,} {chip} for {duration(now('days') * DAY_S)}, a run on"
        f" {found.row['run_on']}",
        number=f"{usd(cost)} for the study, {usd(now('each'))} a run",
        sure=sure,
        because=f"{now('hours'):,.0f} chip-hours at {usd(now('hour_usd'))} are the least of the"
        " platforms whose architecture the fit has seen, in time.",
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
            "low_usd": low,
            "high_usd": high,
            "days": now("days"),
            "chips": chips,
            "accelerator": chip,
            "usd_per_run": now("each"),
        },
    )


def _demand(found: Found) -> Step:
    of, runs = found.of, (found.of.variants or 0) * found.of.seeds
    return Step(
        f"{runs:,} runs, each {found.now('run_hours'):.3g} hours on {found.row['run_on']}.",
        [
            f"{of.variants:,} variants with {of.seeds} seed{'' if of.seeds == 1 else 's'} each",
            f"{count(found.values['tokens'])} tokens a run",
            "one run in twenty fails and is made again; evaluation, loading and idle time count",
        ],
        [found.asked({"study.run_hours": found.now("run_hours")})],
    )


def _supply(found: Found) -> Step:
    own = found.values["paid"] == "own"
    says = f"Rent by the hour at {usd(found.now('hour_usd'))} a chip, in {found.of.region}."
    if own:
        says = f"Use chips of your own at {usd(found.now('hour_usd'))} an hour."
    return Step(
        says,
        [
            "a study of days binds nobody for a year; no API trains variants",
            f"the bill is {usd(found.now('usd'))}, half a person who waits included",
        ],
        [found.asked({"study.usd": found.now("usd")})],
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
        [found.asked({"decision.right": right})],
    )


def _rivals(found: Found) -> list[int]:
    """The best width of each other platform, the cheapest first."""
    best: dict[str, int] = {}
    soon = found.at["days"] <= (found.of.deadline_days or np.inf)
    for n in np.flatnonzero((found.at["usd"] > 0) & soon):
        chip, cost = found.rows[int(n)]["accelerator"], found.at["usd"][n]
        if chip not in best or cost < found.at["usd"][best[chip]]:
            best[chip] = int(n)
    best.pop(str(found.row["accelerator"]), None)
    return sorted(best.values(), key=lambda n: (figure(float(found.at["usd"][n]), 5), n))


def _hardware(found: Found) -> Step:
    told = []
    for n in _rivals(found)[:4]:
        unseen = "" if found.at["seen"][n] else " (no published run was on its architecture)"
        told.append(f"{found.rows[n]['accelerator']}: {usd(float(found.at['usd'][n]))}{unseen}")
    return Step(
        f"{found.now('chips'):,.0f} {found.row['accelerator']}.",
        told or ["no other platform does it in time"],
        [found.asked({"study.chips": found.now("chips")})],
    )


def _layout(found: Found) -> Step:
    nodes = found.now("chips") / NODE_CHIPS
    return Step(
        f"{nodes:,.0f} nodes of eight, {found.now('places'):,.0f} runs at once, each on"
        f" {found.row['run_on']}.",
        ["small models need no splitting: more runs side by side beat larger runs in turn"],
        [found.asked({"study.places": found.now("places")})],
    )


def _levers(found: Found) -> Step:
    tried = []
    for words, change in LEVERS.items():
        if found.values["paid"] == "own" and change.keys() & {"contract", "seller"}:
            continue
        there = float(read_at({"usd": found.mine.study.usd}, {**found.row, **change})["usd"])
        saved = 1 - there / found.now("usd")
        if saved > 0.005:
            asked = found.asked({"study.usd": there}, **change)
            tried.append((saved, words, there, asked))
    tried.sort(key=lambda one: (-figure(one[0], 3), one[1]))
    if not tried:
        return Step("None of the levers tried makes the study cheaper.")
    return Step(
        f"First {tried[0][1]}: {percent(tried[0][0])} less.",
        [f"{words}: {percent(saved)} less, {usd(cost)}" for saved, words, cost, _ in tried],
        [asked for *_, asked in tried],
    )


def _measure(found: Found) -> Step:
    return Step(
        "First the noise between seeds: train one variant three times before the other runs.",
        [
            "whether a difference is real hangs on it, and no table has yours",
            f"then one run whole: it should take {found.now('run_hours'):.3g} hours",
            "then how many runs fail: the plan counts one in twenty",
        ],
        [found.asked({"span.low_usd": found.now("low"), "span.high_usd": found.now("high")})],
    )


def _energy(found: Found) -> Step:
    chip, hours = str(found.row["accelerator"]), found.now("hours")
    made, there = (
        Footprint.of(machine(chip, "training"), hours, 1.0, place(where))
        for where in (found.of.region, "Sweden")
    )
    figures = {
        "made.energy.watt_hours": float(made.energy.watt_hours),
        "made.carbon.total": float(made.carbon.total),
    }
    case = {"task": "training", "accelerator": chip, "chip_hours": hours, "utilization": 1.0}
    return Step(
        f"{si(figures['made.energy.watt_hours'], 'Wh')} of electricity and"
        f" {in_units(figures['made.carbon.total'], MASSES)} of CO2e in {found.of.region}.",
        [f"in Sweden it would be {in_units(float(there.carbon.total), MASSES)}"],
        [Asked("sustainability", case | {"place": found.of.region}, figures)],
    )


def _change(found: Found) -> Step:
    told, rivals = [], _rivals(found)
    seen = [n for n in rivals if found.at["seen"][n]]
    says = "Twice the variants cost twice as much; the platform stays the same."
    if seen:
        gap = float(found.at["usd"][seen[0]]) / found.now("usd") - 1
        says = (
            f"A price of the {found.row['accelerator']} that is {percent(gap)} higher makes the"
            f" {found.rows[seen[0]]['accelerator']} cheaper."
        )
    for seeds in (1, 2, 4):
        if seeds != found.of.seeds:
            there = read_at({"usd": found.mine.study.usd}, {**found.row, "seeds": seeds})
            told.append(f"{seeds} seed{'s' * (seeds > 1)} each: {usd(float(there['usd']))}")
    quickest = found.now("quickest")
    told.append(f"the largest cluster that is tried would take {duration(quickest * DAY_S)}")
    return Step(says, told, [found.asked({"mine.quickest": quickest})])
