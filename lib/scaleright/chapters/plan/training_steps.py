"""The nine steps of the plan of a training run, and the run that is taken."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from scaleright import scaling_laws as laws
from scaleright.catalog import accelerator, model
from scaleright.chapters.plan.limits import (
    Found,
    binds,
    buys,
    costs,
    flop_of,
    following,
    left_days,
    limits_of,
    measured,
    owns,
    pick,
    sold,
    unlisted_runs,
    unsold,
    within,
)
from scaleright.costs.platforms import BATCHES
from scaleright.decisions import left_out
from scaleright.decisions.build_buy import arrival_days, arrives
from scaleright.decisions.plan_parts import Asked, Step, chance, count, in_words, percent
from scaleright.decisions.plan_runs import (
    NEAR,
    SPOT,
    Runs,
    cluster_asked,
    law_asked,
    waiting_share,
)
from scaleright.decisions.plan_workload import LEAVES, STAYS
from scaleright.decisions.two_chips import errors_in_common, spread_apart
from scaleright.decisions.unlisted_runs import untested
from scaleright.footprint import Footprint, machine, place
from scaleright.formulas import search
from scaleright.information import expected_loss, probability_cheaper, spread_between
from scaleright.training.layout import usual_sequence
from scaleright.transformer import training_flop
from scaleright.transformer.parameters import parameters
from scaleright.units import MASSES, duration, figure, in_units, si, usd

DAY_S = 86_400.0
LEVERS: Mapping[str, Mapping[str, Any]] = {
    "train in FP8": {"precision": "FP8"},
    "rent from the cheapest quarter of sellers": {"seller": "cheapest quarter"},
}
"""What may make a run cheaper, and the parameters of the chapter that it changes. Spot is a way of
its own, and a contract that binds for a year outlasts the run.
"""
DEADLINES = (7.0, 14.0, 30.0, 60.0, 120.0)
"""Deadlines at which the answer is looked at again [d]."""


@search
def demand(found: Found) -> Step:
    now, row = found.figures, found.row
    size = float(parameters(model(found.name)).total)
    more, least, most = (percent(of - 1) for of in found.runs.more_tokens(row))
    between = f"{least} to {most}" if least != most else least
    asked = found.runs.asked(row, {"run.hours.total": now["hours"]})
    return Step(
        f"The run takes {now['hours']:,.0f} chip-hours of {row['accelerator']}: {flop_of(found)} at"
        f" {percent(now['mfu'])} of the peak in the fastest layout, and what real runs take beyond"
        " it.",
        [
            (
                f"{count(size)} parameters and {count(found.tokens)} tokens,"
                f" {found.tokens / size:,.0f} tokens a parameter"
            ),
            (
                f"batches of {row['batch']} tokens take {more} more tokens than small ones to the"
                f" same loss, {count(row['tokens'])} in all; published laws say {between}"
            ),
            "tokens that you have in text of your own; what they cost to collect is not counted",
        ],
        [asked],
    )


@search
def supply(found: Found) -> Step:
    now = found.figures
    asked = found.runs.asked(found.row, {"run.usd": now["usd"], "run.cost.total": now["total_usd"]})
    says, why = how_paid(found, "no API trains")
    return Step(
        says,
        [
            why,
            (
                f"experiments before the run would add {usd(now['experiments_usd'])}, people"
                f" {usd(now['people_usd'])}: the whole project {usd(now['total_usd'])}"
            ),
            f"prices of {now['age']}",
        ],
        [asked],
    )


@search
def how_paid(found: Found, other: str) -> tuple[str, str]:
    """How the chips of a run are paid, and why, in words; other : why no other way is open."""
    of, now, row = found.of, found.figures, found.row
    own = found.runs.values["paid"] == "own"
    says = (
        f"Rent them by the hour at {usd(now['hour_usd'])} each ({now['counted']}), in {of.region}."
    )
    why = f"a run of {duration(now['days'] * DAY_S)} binds nobody for a year, and {other}"
    if own:
        says = f"Use chips of your own, which cost {usd(now['hour_usd'])} an hour, in {of.region}."
        why = (
            "your data may not leave, so that no cloud and no API comes into question"
            if of.data == STAYS
            else "you own them already, so that the bill is what running them costs"
        )
    if row["contract"] == SPOT:
        says = says.replace("Rent them by the hour", "Rent them on spot")
        why = (
            "a server on spot is taken away about once a day (an assumption of this book), and the"
            " run goes on from its last checkpoint: its hours and days count that;"
            f" {_on_demand(found)}"
        )
    if not own and of.deadline_days and of.deadline_days < arrival_days(0.0):
        why += f"; buying them is left out, {arrives()}"
    if of.data not in {LEAVES, STAYS}:
        why += "; take a seller that signs for the region, which no table of prices states"
    return says, why


def _on_demand(found: Found) -> str:
    """The cheapest run that nobody interrupts for a better bid, in words."""
    ways, usual = found.ways, np.array([row["contract"] != SPOT for row in found.ways.rows])
    at = pick(ways, measured(ways, within(ways, found.of) & usual), found.of)
    if at is None:
        return f"on demand none keeps {limits_of(found.of)}"
    row = ways.rows[at]
    return (
        f"on demand {row['chips']:,} {row['accelerator']} would cost {usd(float(ways.usd[at]))} and"
        f" take {duration(float(ways.days[at]) * DAY_S)}"
    )


@search
def size(found: Found) -> Step:
    now, row = found.figures, found.row
    law = laws.fit(laws.points())
    size = float(parameters(model(found.name)).total)
    best = float(laws.compute_optimal_parameters(training_flop(size, found.tokens), **law.terms))
    ideal = float(laws.tokens_for_compute(training_flop(size, found.tokens), best))
    mine, least = (
        float(laws.loss(n, d, law.E, **law.terms)) for n, d in ((size, found.tokens), (best, ideal))
    )
    far = size / best
    says = f"Keep {found.name}: it is about the size that this much arithmetic trains best."
    if far < 0.7:
        says = (
            f"Keep {found.name} if you will serve it: it is {1 / far:.1f} times smaller than this"
            " much arithmetic would train best, and cheaper in every answer."
        )
    elif far > 1.4:
        says = (
            f"Take a smaller model: {found.name} is {far:.1f} times as large as this much"
            " arithmetic trains best, and dearer in every answer."
        )
    asked = law_asked(row["accelerator"], training_flop(size, found.tokens), now["mfu"], best)
    return Step(
        says,
        [
            (
                f"the law's best for {flop_of(found)}: {count(best)} parameters on"
                f" {count(ideal)} tokens, a loss of {least:.3f}"
            ),
            f"yours: a loss of {mine:.3f}, {percent(mine / least - 1)} more",
        ],
        [asked],
    )


@search
def hardware(found: Found) -> Step:
    row, now, other = found.row, found.figures, following(found)
    chips, chip = row["chips"], row["accelerator"]
    asked = [found.runs.asked(row, {"run.usd": now["usd"], "run.days": now["days"]})]
    trains = isinstance(found.runs, Runs)
    if trains and (alike := _advised(found)) is not None:
        asked.append(alike)
    says, many = f"{chips:,} {chip}.", _how_many(found)
    left = _left_out(found)
    if other is None:
        return Step(says, [many, "no other platform does it within the limits", *left], asked)
    then, days, paid = (
        found.ways.rows[other],
        float(found.ways.days[other]),
        costs(found.ways, found.of),
    )
    mine, rival = float(paid[found.place]), float(paid[other])
    billed = {"run.usd": float(found.ways.billed[other]), "run.days": days}
    spread = _apart(found, row, then) if trains else found.runs.apart(row, then)
    sure = float(probability_cheaper(mine, rival, spread))
    lost = float(expected_loss(mine, rival, spread))
    asked.append(found.runs.asked(then, billed))
    reasons = [
        many,
        f"next: {then['chips']:,} {then['accelerator']}, {usd(rival)} and {duration(days * DAY_S)}",
        (
            f"how sure that the {chip} costs less: {in_words(sure)} ({chance(sure)}, at these"
            f" prices); taking it loses {usd(lost)} in expectation"
        ),
    ]
    if trains and found.ways.bought[found.place]:
        reasons.append(
            f"compared by the part of their life that the run takes and {percent(waiting_share())}"
            " of their price, which is what the money costs until they come"
        )
    there = within(found.ways, found.of) & ~found.ways.seen
    bill = found.ways.usd if trains else paid
    unseen = replace(found.ways, usd=bill).best(there)
    if unseen is not None and bill[unseen] < mine:
        guess = found.ways.rows[unseen]
        reasons.append(
            f"{guess['chips']:,} {guess['accelerator']} would cost {usd(float(bill[unseen]))}"
            f"{'' if trains else sold_in(found, unseen)}, but no run on that architecture was"
            " fitted: try it before you sign"
        )
    return Step(says, reasons + left, asked)


def _left_out(found: Found) -> list[str]:
    """What is left out and why, in words: chips, and a contract that nobody lists for one."""
    if found.of.accelerator or owns(found.of):
        return []  # by the reader's own choice
    told = [left_out.told(left_out.of_tunings() if found.of.tunes else left_out.of_trainings())]
    if (run := unsold(found)) is not None:
        row, price = found.ways.rows[run[0]], run[1]
        told.append(left_out.wins(row["chips"], row["accelerator"], price))
    for name, price in unlisted_runs(found).items():
        told.append(left_out.wins(found.row["chips"], name, price, "") + untested(name))
    return told


@search
def sold_in(found: Found, place: int) -> str:
    """Of when the price of chips is that are bought, in words; empty where none are."""
    age = accelerator(found.ways.rows[place]["accelerator"]).purchase_age
    return f", at prices of {age}" if found.ways.bought[place] else ""


def _advised(found: Found) -> Asked | None:
    """The question to the chapter on how many chips, which advises as many if it has the limits of
    the plan: it knows of no budget and of no chips that are owned already.
    """
    of, now, ways = found.of, found.figures, found.ways
    figures = {name: now[name] for name in ("usd", "days")}
    soon = of.deadline_days and figure(left_days(of) * ways.margin[found.place], 6)
    alike = ("accelerator", "contract")
    mine = np.array([all(row[it] == found.row[it] for it in alike) for row in ways.rows])
    # one as soon that is less sure: that chapter knows of no chance
    rash = mine & (ways.days <= (soon or 0)) & (ways.usd < ways.usd[found.place] * 0.9999)
    if binds(of) and not rash.any():
        figures["chips"] = found.row["chips"]
    return cluster_asked(found.runs, found.row, figures, soon)


def _how_many(found: Found) -> str:
    """Why so many chips, in words: what half and twice as many would do."""
    row, ways, told = found.row, found.ways, []
    for chips in (row["chips"] // 2, 2 * row["chips"]):
        here = [
            of["accelerator"] == row["accelerator"] and of["chips"] == chips for of in ways.rows
        ]
        at = ways.best(np.array(here))
        if at is not None:
            cost, days = float(ways.usd[at]), duration(float(ways.days[at]) * DAY_S)
            told.append(f"{chips:,} would take {days} and {usd(cost)}")
    why = (
        "the cheapest in time"
        if binds(found.of)
        else (f"the most that cost at most {percent(NEAR)} more than the cheapest")
    )
    if found.of.data == STAYS and found.of.tunes:
        why = "the cheapest to buy in time" if binds(found.of) else "the cheapest to buy"
    elif found.of.tunes:
        why += ", and work an hour or longer or are the fewest that hold it"
    return "; ".join([f"{row['chips']:,} are {why}", *told])


def _apart(found: Found, row: Mapping[str, Any], then: Mapping[str, Any]) -> float:
    """Spread of the ratio of the costs of two runs, as their times may be off [1]."""
    trust, kind = found.runs.plan.run.step.trust, found.runs.kind
    wanted = {"low": trust["error_low"], "high": trust["error_high"]}
    off, other = (float(spread_between(**found.runs.at(wanted, of))) for of in (row, then))
    return float(spread_apart(off, other, errors_in_common()["training", kind]["common"]))


@search
def layout(found: Found) -> Step:
    now, row, sequence = found.figures, found.row, usual_sequence(model(found.name))
    parameters_ = {
        "model": found.name,
        "accelerator": row["accelerator"],
        "chips": min(row["chips"], 4096),
        "precision": row["precision"],
        "sequence": sequence,
        "global_batch": BATCHES[row["batch"]] // sequence,
    }
    return Step(
        f"{now['layout']}, with batches of {row['batch']} tokens in {row['precision']}.",
        [
            f"of a step, {percent(now['waiting'])} is waiting for the network and the pipeline",
            (
                "DP is data, TP tensor, PP pipeline, CP context and EP expert parallelism; of all"
                " layouts that fit in memory it is the fastest"
            ),
        ],
        [
            found.runs.asked(row, {"run.step.mfu": now["mfu"]}),
            Asked("parallelism", parameters_, {"split.fastest_mfu": now["mfu"]}),
        ],
    )


@search
def levers(found: Found, changes: Mapping[str, Mapping[str, Any]] = LEVERS) -> Step:
    now, row, run = found.figures, found.row, found.taken.run
    owned, tried = found.runs.values["paid"] == "own", []
    for words, change in changes.items():
        if all((row | dict(found.runs.values)).get(of) == value for of, value in change.items()):
            continue
        if owned and "seller" in change:
            continue
        there = found.taken.at({"usd": run.usd}, **change)["usd"]
        if there > 0 and 1 - there / now["usd"] > 0.005:
            tried.append((1 - there / now["usd"], words, there, change))
    tried.sort(key=lambda one: (-figure(one[0], 3), one[1]))
    if not tried:
        return Step("No lever that was tried makes the run cheaper.")
    saved, words, _, _ = tried[0]
    return Step(
        f"First {words}: {percent(saved)} less.",
        [f"{words}: {percent(saved)} less, {usd(there)}" for saved, words, there, _ in tried],
        [found.runs.asked(row | dict(change), {"run.usd": there}) for _, _, there, change in tried],
    )


HOW = {
    "time of real runs": "run the first 200 steps on the cluster and compare tokens per second with"
    " the step above, before you book the rest",
    "price of an hour": "ask three sellers for a quote in writing",
    "failures": "ask for the cluster's log of failures, and time a checkpoint and a restart",
}


@search
def measure(found: Found, how: Mapping[str, str] = HOW) -> Step:
    swings = {name: of for name, of in found.taken.swings().items() if of[0] != of[1]}
    order = sorted(swings, key=lambda name: -abs(np.log(swings[name][1] / swings[name][0])))
    ends = {name: sorted(swings[name]) for name in order}
    return Step(
        f"The {order[0]}: {how[order[0]]}.",
        [f"{name}: a bill of {usd(low)} to {usd(high)}" for name, (low, high) in ends.items()],
        [
            found.runs.asked(
                found.row,
                {
                    "spread.low_usd": found.figures["billed_low"],
                    "spread.high_usd": found.figures["billed_high"],
                },
            )
        ],
    )


@search
def energy(found: Found) -> Step:
    row, now = found.row, found.figures
    made = Footprint.of(
        machine(row["accelerator"], "training"), now["hours"], 1.0, place(found.of.region)
    )
    cleanest = min(("Sweden", "France", "Canada"), key=lambda of: place(of).kg_co2e_per_kwh)
    there = Footprint.of(
        machine(row["accelerator"], "training"), now["hours"], 1.0, place(cleanest)
    )
    figures = {
        "made.energy.watt_hours": float(made.energy.watt_hours),
        "made.carbon.total": float(made.carbon.total),
        "made.water.total": float(made.water.total),
    }
    asked = Asked(
        "sustainability",
        {
            "task": "training",
            "accelerator": row["accelerator"],
            "chip_hours": now["hours"],
            "utilization": 1.0,
            "place": found.of.region,
        },
        figures,
    )
    return Step(
        f"{si(figures['made.energy.watt_hours'], 'Wh')} of electricity and"
        f" {in_units(figures['made.carbon.total'], MASSES)} of CO2e in {found.of.region}.",
        [
            f"in {cleanest} it would be {in_units(float(there.carbon.total), MASSES)}",
            f"{percent(float(made.carbon.embodied_share))} of it is from making the hardware",
        ],
        [asked] if now["hours"] >= 1 else [],  # that chapter begins at an hour
    )


@search
def change(found: Found) -> Step:
    reasons, asked = [], []
    ways, mine = found.ways, found.row
    there = sold(ways, found.of.data == STAYS)
    soon = "once they are there, within" if buys(found.of) else "within"
    for days in DEADLINES:
        at = ways.best((ways.days <= days * ways.margin) & there & ways.seen)
        if at is None:
            reasons.append(f"{soon} {days:g} days: no cluster that is offered does it")
            continue
        row = ways.rows[at]
        cost = float(ways.usd[at])
        reasons.append(f"{soon} {days:g} days: {row['chips']:,} {row['accelerator']}, {usd(cost)}")
        if row != mine:
            asked.append(found.runs.asked(row, {"run.usd": float(ways.billed[at])}))
    rival = following(found)
    says = "A shorter deadline takes more chips and hardly more money, until failures eat it."
    if rival is not None:
        paid = costs(ways, found.of)
        gap = float(paid[rival] / paid[found.place]) - 1
        says = (
            f"A price of the {mine['accelerator']} that is {percent(gap)} higher makes the"
            f" {ways.rows[rival]['accelerator']} cheaper; the deadline changes it as follows."
        )
    return Step(says, reasons, asked[:2])


STEPS = (demand, supply, size, hardware, layout, levers, measure, energy, change)
