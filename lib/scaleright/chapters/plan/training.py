"""The plan of a fine-tuning or a post-training: nine steps, from the chapters on post-training and
footprints.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import floor
from typing import Any

import numpy as np

from scaleright import scaling_laws as laws
from scaleright.catalog import model
from scaleright.chapters.plan.limits import (
    LIFTED,
    OF_TUNING,
    Found,
    basis,
    buys,
    costs,
    least_first,
    limits_of,
    measured,
    more,
    named_run,
    of_tuning,
    owns,
    pick,
    platforms_of,
    rounded,
    sold,
    soonest,
    sure_days,
    surely,
    unmet,
    within,
)
from scaleright.chapters.plan.tuning_steps import STEPS, work_of
from scaleright.decisions.build_buy import arrives, bought_as
from scaleright.decisions.plan_parts import Broken, Part, Relaxation, chance, in_words, many
from scaleright.decisions.plan_runs import BUY, SPOT, USUAL, Ways, early
from scaleright.decisions.plan_tuning import Tunings
from scaleright.decisions.plan_workload import LEAVES, STAYS, Workload
from scaleright.formulas import search
from scaleright.information import probability_cheaper, spread_between
from scaleright.ops import normal_cdf
from scaleright.transformer.parameters import parameters
from scaleright.units import duration, figure, usd

USUAL_MODEL = "Llama-2-7B"
DAY_S = 86_400.0
Tried = tuple[Workload, list[Any], Ways, np.ndarray, int | None]


@search
def plan_tuning(of: Workload) -> Part:
    """The plan of a model that is fine-tuned or post-trained."""
    work = work_of(Tunings.of(of, "rent", USUAL["contract"]))
    tried = [_tried(asked, terms) for asked, terms in _attempts(of)]
    if (least := _least(tried)) is not None:
        asked, every, ways, _, place = least
        return _part(_found(asked, every[0], ways, place), work, of)
    asked, every, ways, allowed, _ = tried[-1]
    limits = within(ways, replace(asked, deadline_chance=0.5)) & allowed
    if limits.any():
        return _unsure(asked, work, ways, limits)
    part = of_tuning(asked, work, every, ways, allowed)
    broken = _holding(asked, part.broken)
    broken = broken and _lifted(of, broken)
    if broken and (change := _unmeasured(asked, ways)) is not None:
        broken = replace(broken, relaxations=[*broken.relaxations, change])
    return replace(part, broken=broken)


def _least(tried: Sequence[Tried]) -> Any:
    """The attempt with the cheapest run within the limits, that with chips owned already where two
    cost the same, or where data may not leave; None where none has one.
    """
    done = [of for of in tried if of[4] is not None]
    if done and done[0][0].data == STAYS:
        return done[0]
    return min(done, key=lambda of: float(costs(of[2], of[0])[of[4]]), default=None)


def _lifted(of: Workload, broken: Broken) -> Broken:
    """With the restrictions without which the run keeps its limits, and what that gives."""
    found = [*broken.relaxations]
    for change, words in (*LIFTED, *OF_TUNING):
        other = replace(of, **change)
        if other == of:
            continue
        if said := _cheapest(other):
            ((parameter, value),) = change.items()
            found.append(Relaxation(f"{words}: {said}", parameter, value, 1.0))
    return replace(broken, relaxations=least_first(found))


def _cheapest(of: Workload) -> str:
    """The run that is taken and what has to be paid for it, in words; empty where there is none."""
    tried = [_tried(asked, terms) for asked, terms in _attempts(of)]
    if (least := _least(tried)) is None:
        return ""
    _, _, ways, _, place = least
    return f"{named_run(ways, place)} for {usd(float(ways.cash[place]))}"


def _unmeasured(of: Workload, ways: Ways) -> Relaxation | None:
    """The cheapest run within the limits on an architecture that no published run was on."""
    sure, there = surely(of, ways), sold(ways, of.data == STAYS) & ~ways.seen
    if of.accelerator or (place := pick(sure, within(sure, of) & there, of)) is None:
        return None
    says = (
        f"trust a speed that no published run has shown: {named_run(ways, place)} for"
        f" {usd(float(ways.cash[place]))}"
    )
    return Relaxation(says, "accelerator", ways.rows[place]["accelerator"], 1.0)


def _holding(of: Workload, broken: Broken | None) -> Broken | None:
    """Changes that keep the deadline as surely as is asked, or say that they are half sure."""
    if broken is None or not of.deadline_days:
        return broken

    def holds(change: Relaxation) -> bool:
        other = replace(of, **{change.parameter: change.value, **change.also})
        tried = (_tried(asked, terms) for asked, terms in _attempts(other))
        return any(place is not None for *_, place in tried)

    changes = []
    for change in broken.relaxations:
        if not holds(change):
            changes.append(
                replace(
                    change,
                    says=f"{change.says}, if being half sure of the deadline is enough",
                    also={**change.also, "deadline_chance": 0.5},
                )
            )
        else:
            changes.append(change)
    return replace(broken, relaxations=changes)


def _tried(of: Workload, terms: tuple[tuple[str, str], ...]) -> Tried:
    """What is asked; the runs of each way to pay; all of them beside each other, which of them
    somebody sells, and the place of the one that is taken, None where none is within the limits.
    """
    every = [Tunings.of(of, paid, contract) for paid, contract in terms]
    ways = Ways.together([runs.every(_keeps(of)) for runs in every])
    allowed = measured(ways, sold(ways, of.data == STAYS))
    sure = surely(of, ways)
    place = pick(sure, within(sure, of) & allowed, of)
    return of, every, ways if place is None else sure, allowed, place


def _unsure(of: Workload, work: str, ways: Ways, limits: np.ndarray) -> Part:
    """The part of a plan whose deadline no run keeps as surely as is asked."""
    least, quickest = ways.best(limits), int(np.argmin(np.where(limits, ways.days, np.inf)))
    deadline, asked = float(of.deadline_days or 0.0), of.deadline_chance
    spread = float(ways.spread[quickest])
    kept = float(normal_cdf(early(float(ways.days[quickest]), spread, deadline, buys(of))))
    sure = sure_days(of, ways)
    later = soonest(sure, ways.cash, limits)
    days = float(sure[later])
    value, wait = floor(100 * kept) / 100, f"{rounded(days, up=True):g} days"
    named = named_run(ways, quickest)
    says = (
        f"the deadline of {deadline:g} days: the quickest cluster that is within the limits,"
        f" {named}, keeps it with a chance of {chance(kept)}, not {chance(asked)}"
    ) + (f"; {arrives()}" if buys(of) else "")
    helps = [
        Relaxation(
            f"be {chance(value)} sure of the deadline instead of {chance(asked)}: {named}",
            "deadline_chance",
            value,
            1 - value / asked,
        ),
        more("deadline_days", deadline, days, f"wait {wait}: {named_run(ways, later)}"),
    ]
    return unmet(
        work,
        says,
        f"no cluster that is offered keeps {limits_of(of)} so surely.",
        helps,
        basis(),
        usd=float(ways.usd[least if least is not None else quickest]),
    )


def _attempts(of: Workload) -> Iterator[tuple[Workload, tuple[tuple[str, str], ...]]]:
    """Chips that are owned already, and what is tried where these are too few: rented on demand or
    on spot, or bought where data may not leave. Of each what is asked, and how hours are paid.
    """
    usual = USUAL["contract"]
    if owns(of):
        yield of, (("own", usual),)
        of = replace(of, owned=None, owned_chips=0)
    rented = (("rent", usual), ("rent", SPOT))
    yield of, ((BUY, usual),) if of.data == STAYS else rented


def _found(of: Workload, runs: Tunings, ways: Ways, place: int) -> Found:
    """What a plan rests on that takes the run at a place."""
    taken = runs.taken(ways.rows[place])
    return Found(of, runs.values["model"], runs, ways, place, taken, taken.figures())


@search
def compute_optimal_tokens(name: str) -> float:
    """Tokens on which a model of this size is compute-optimal, to two digits [token].

    >>> 1e11 < compute_optimal_tokens("Llama-2-7B") < 3e11
    True
    """
    law = laws.fit(laws.points())
    size = float(parameters(model(name)).total)
    return figure(float(laws.compute_optimal_tokens(size, **law.terms)), 2)


def _keeps(of: Workload) -> Any:
    """Whether a platform and a size come into question."""

    def keeps(name: str, chips: int) -> bool:
        if owns(of):
            return name == of.owned and chips <= of.owned_chips
        return of.accelerator in {None, name}

    return keeps


def _part(found: Found, work: str, workload: Workload) -> Part:
    of, row, now = found.of, found.row, found.figures
    chips, chip = row["chips"], row["accelerator"]
    budget = ""
    sure = (
        f"nine of ten such runs would cost {usd(now['low'])} to {usd(now['high'])}, by how far"
        " published runs were from the model"
    )
    if of.budget_usd:
        cash = float(found.ways.cash[found.place])
        people = now.get("labels_usd", 0.0)
        spread = spread_between(now["low"] + people, now["high"] + people)
        if found.ways.bought[found.place]:
            spread = bought_as(chip)["price_spread"]
        kept = probability_cheaper(cash, of.budget_usd, spread)
        sure = f"{in_words(kept)} to stay within {usd(of.budget_usd)} ({chance(kept)}); {sure}"
        budget = f", of a budget of {usd(of.budget_usd)}"
    if of.deadline_days:
        spread = float(found.ways.spread[found.place])
        kept = float(normal_cdf(early(now["days"], spread, of.deadline_days, buys(of))))
        sure = f"{in_words(kept)} to be done in {of.deadline_days:g} days ({chance(kept)}); {sure}"
    if not found.ways.seen[found.place]:
        sure += "; no run on this architecture was fitted, so that its own error is not known"
    because = (
        f"of {many(platforms_of(found), 'platform')}, the {chip} does the work for least within"
        f" {limits_of(of)}"
    )
    if found.ways.bought[found.place]:
        rented = _cheapest(replace(of, data=LEAVES))
        because += f"; if the data might leave, {rented}" if rented else ""
    if owns(workload) and not owns(of):
        mine = f"{workload.owned_chips:,} {workload.owned}"
        because += f"; the {mine} that you own would not, or not for less"
    steps = tuple(step(found) for step in STEPS)
    decision, number, cost = _said(found)
    if (people := now.get("labels_usd", 0.0)) > 0:
        number += f", and {usd(people)} of people's labels"
    return Part(
        work=work,
        decision=decision,
        number=f"{number}{budget}",
        sure=sure,
        because=because + ".",
        steps=steps,
        figures={
            "usd": cost,
            "cash_usd": float(found.ways.cash[found.place]),
            "low_usd": now["low"],
            "high_usd": now["high"],
            "days": now["days"],
            "chips": chips,
            "bought_chips": int(found.ways.bought[found.place]),
            "accelerator": chip,
        }
        | {"contract": row["contract"]},
    )


def _said(found: Found) -> tuple[str, str, float]:
    """What to do and what it costs, in words; what the run costs [USD]: of chips that are bought
    the part of their life that it takes.
    """
    row, now, place = found.row, found.figures, found.place
    chips, lasts = row["chips"], duration(now["days"] * DAY_S)
    spot = " on spot" if row["contract"] == SPOT else ""
    named = f"{chips:,} {row['accelerator']}"
    if not (bought := int(found.ways.bought[place])):
        cost = float(found.ways.usd[place])
        if found.runs.values["paid"] == "own":
            them = "it" if chips == 1 else "them"
            return f"Use {named} that you own for {lasts}", f"{usd(cost)} to run {them}", cost
        return f"Rent {named}{spot} for {lasts}", f"{usd(cost)} for the run", cost
    cost, cash = float(found.ways.usd[place]), float(found.ways.cash[place])
    them = "it" if bought == 1 else "them"
    use = them if bought == chips else f"{chips:,} of them"
    unless = "it does other work then or is" if bought == 1 else "they do other work then or are"
    counted = "their wait is counted in the deadline" if found.of.deadline_days else ""
    comes = arrives()
    if not bought_as(row["accelerator"])["server"]:
        comes = "no table says when such cards come, which are taken to come as servers do"
    later = f"{comes}, and {counted or 'the days count from then'}"
    number = (
        f"{usd(cash)} to buy {them}, of whose life the run takes {usd(cost)}, and the rest is lost"
        f" unless {unless} sold; {later}"
    )
    return f"Buy {bought:,} {row['accelerator']} and train on {use} for {lasts}", number, cost
