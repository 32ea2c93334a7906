"""The steps of the plan of a tuning that are about its chips and their bill."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from scaleright.catalog import accelerator
from scaleright.chapters.plan.limits import (
    Found,
    binds,
    costs,
    following,
    limits_of,
    measured,
    owns,
    pick,
    unsold,
    within,
)
from scaleright.decisions import left_out
from scaleright.decisions.build_buy import arrival_days, arrives
from scaleright.decisions.plan_parts import Asked, Step, chance, in_words, percent
from scaleright.decisions.plan_runs import (
    NEAR,
    SPOT,
)
from scaleright.decisions.plan_workload import LEAVES, STAYS
from scaleright.footprint import Footprint, machine, place
from scaleright.formulas import search
from scaleright.information import expected_loss, probability_cheaper
from scaleright.units import MASSES, duration, figure, in_units, si, usd

DAY_S = 86_400.0


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
def hardware(found: Found) -> Step:
    row, now, other = found.row, found.figures, following(found)
    chips, chip = row["chips"], row["accelerator"]
    asked = [found.runs.asked(row, {"run.usd": now["usd"], "run.days": now["days"]})]
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
    spread = found.runs.apart(row, then)
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
    there = within(found.ways, found.of) & ~found.ways.seen
    unseen = replace(found.ways, usd=paid).best(there)
    if unseen is not None and paid[unseen] < mine:
        guess = found.ways.rows[unseen]
        reasons.append(
            f"{guess['chips']:,} {guess['accelerator']} would cost {usd(float(paid[unseen]))}"
            f"{sold_in(found, unseen)}, but no run on that architecture was"
            " fitted: try it before you sign"
        )
    return Step(says, reasons + left, asked)


def _left_out(found: Found) -> list[str]:
    """What is left out and why, in words: chips, and a contract that nobody lists for one."""
    if found.of.accelerator or owns(found.of):
        return []  # by the reader's own choice
    told = [left_out.told(left_out.of_tunings())]
    if (run := unsold(found)) is not None:
        row, price = found.ways.rows[run[0]], run[1]
        told.append(left_out.wins(row["chips"], row["accelerator"], price))
    return told


@search
def sold_in(found: Found, place: int) -> str:
    """Of when the price of chips is that are bought, in words; empty where none are."""
    age = accelerator(found.ways.rows[place]["accelerator"]).purchase_age
    return f", at prices of {age}" if found.ways.bought[place] else ""


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
    if found.of.data == STAYS:
        why = "the cheapest to buy in time" if binds(found.of) else "the cheapest to buy"
    else:
        why += ", and work an hour or longer or are the fewest that hold it"
    return "; ".join([f"{row['chips']:,} are {why}", *told])


@search
def levers(found: Found, changes: Mapping[str, Mapping[str, Any]]) -> Step:
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
