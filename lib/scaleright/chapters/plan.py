"""What the chapter `plan` shows."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pandas as pd

from scaleright import catalog, charts
from scaleright.charts import Display
from scaleright.charts.live import Controls
from scaleright.costs.day_choices import DayChoices
from scaleright.decisions.build_buy import API, COLOCATION, MULTI_CLOUD, RENT, SITE, FourWays
from scaleright.decisions.plan_parts import STEPS
from scaleright.decisions.plan_rows import open_row, plan_rows
from scaleright.market import Hosts
from scaleright.ops import first_case, floor, where

BILL = "USD, a year or the whole run"
OWN = "your own service"
MENU = {
    "pretrain a 7B model": "pretrain_7b",
    "serve a 70B chat": "chat_70b",
    "200 ablations of a 1B model": "ablations_1b",
    "a hospital": "hospital",
    "a start-up": "start_up",
    "an impossible training run": "impossible",
}
"""Presets by the words for them in the page's menu."""
NAN = float("nan")


def controls(case: Any) -> tuple[Controls, DayChoices, Hosts, Sequence[str]]:
    """The controls of the page, and the rows of what they choose."""
    models, chips = (case[of].choices for of in ("model", "accelerator"))
    return charts.controls(case), DayChoices.of(models, chips), Hosts(models), chips


def rows(offered: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The plan of each workload that is offered, by the words of the menu; that of the reader's own
    follows the controls.
    """
    return {OWN: open_row("Serve your own requests")} | plan_rows(offered)


def own_plan(case: Any, four: FourWays) -> SimpleNamespace:
    """The plan of the reader's own service, in the words of a plan's row."""
    (name, usd), (next_, other) = four.best, four.runner_up
    used = four.fleet.peak * four.fleet.engine.chips
    bought = four.chips
    words = {
        API: charts.phrase("Call an API for {case.model}"),
        RENT: charts.phrase("Rent {used:whole} {case.accelerator}"),
        MULTI_CLOUD: charts.phrase("Rent {used:whole} {case.accelerator} where each is cheapest"),
        COLOCATION: charts.phrase(
            "Buy {bought:whole} {case.accelerator} and run them in a colocation"
        ),
    }
    site = charts.phrase("Buy {bought:whole} {case.accelerator} and build a site for them")
    decision = first_case([(name == of, said) for of, said in words.items()], site)
    second = charts.phrase("The next cheapest way, {next_}, costs {other:usd} a year.")
    alone = "Nothing else may be done."
    some, there = other < float("inf"), usd < float("inf")
    usd = where(there, usd, 0.0)
    lacking = usd - case.budget_usd
    short = charts.phrase("The budget is {lacking:usd} short of the cheapest way that is open.")
    return SimpleNamespace(
        decision=decision,
        usd=usd,
        because=where(some, second, alone),
        sure=where(some, charts.confidence(four.sureness, "no other way is cheaper"), "Certain."),
        there=four.fleet.served & there,
        helps=first_case(
            [(~there, "No way is open to you as asked."), (lacking > 0, short)],
            "Nothing has to give.",
        ),
        steps=_own_steps(case, four, decision),
        questions=_own_questions(case, four),
    )


def _own_steps(case: Any, four: FourWays, decision: Any) -> dict[int, tuple[Any, Any]]:
    """What to do and why in the steps that follow the controls, by number."""
    fleet, full = four.fleet, four.fleet.utilization(24.0 * four.fleet.peak)
    engine, each, reads = fleet.engine, fleet.engine.chips, fleet.traffic.load.input_tokens
    writes, seats = fleet.traffic.load.output_tokens, fleet.engine.seats
    api, rent, shared = (four.usd[of] for of in (API, RENT, COLOCATION))
    there = four.rents.hour.there
    rented = where(there, charts.phrase("rent: {rent:usd} a year"), "rent: no such price")
    return {
        1: (
            charts.phrase("{case.requests_per_day:whole} requests a day, as you set"),
            charts.phrase("of {reads:whole} tokens in and {writes:whole} out, as in that hour"),
        ),
        2: (
            decision,
            charts.phrase("API: {api:usd} a year; {rented}; own, in a colocation: {shared:usd}"),
        ),
        4: (
            charts.phrase("{case.accelerator}; try the others in the menu"),
            charts.phrase("a full engine serves {engine.requests_per_s:number} requests a second"),
        ),
        5: (
            charts.phrase("{fleet.peak:whole engines} of {each:whole}, {seats:whole} at once each"),
            charts.phrase("at the busiest time; over the day they are {full:percent} full"),
        ),
    }


def _own_questions(case: Any, four: FourWays) -> dict[int, Any]:
    """The commands that put the reader's own service to the chapters which take all of it, by
    step.
    """
    load = four.fleet.traffic.load
    reads, writes = floor(load.input_tokens + 0.5), floor(load.output_tokens + 0.5)
    service = charts.phrase(
        '-p model="{case.model}" -p requests_per_day={case.requests_per_day:typed}'
        " -p peak_to_mean={case.peak_to_mean:typed}"
        ' -p pace_tokens_per_s={case.pace_tokens_per_s:typed} -p contract="{case.contract}"'
    )
    day = charts.phrase(
        'scaleright run load_of_a_day {service} -p accelerator="{case.accelerator}"'
        ' -p trace="{case.trace}" -p ttft_s={case.ttft_s:typed}'
    )
    lengths = charts.phrase(
        '-p traffic="{case.trace}" -p input_tokens={reads:typed} -p output_tokens={writes:typed}'
    )
    bill = charts.phrase("scaleright run economics_stack {service} {lengths}")
    compared = charts.phrase("scaleright run hardware_compare {service} {lengths}")
    return {1: day, 2: bill, 4: compared, 7: day, 9: bill}


def answer(case: Any, row: Any, own: Any) -> Display:
    """The answer card: what to do, what it costs, and whether the budget pays for it."""
    mine = case.workload == OWN
    usd, budget = where(mine, own.usd, row.usd), case.budget_usd
    decision, sure = where(mine, own.decision, row.decision), where(mine, own.sure, row.sure)
    because = where(mine, own.because, row.because)
    over = usd / budget
    dear = charts.phrase(", {over:times} your budget of {budget:usd}")
    paid = charts.phrase(", {over:percent} of your budget of {budget:usd}")
    beside = where(over > 1, dear, paid)
    least = where(row.met, "", " is the least that it costs")
    helps = where(mine, own.helps, row.helps)
    return charts.answer_card(
        "{decision}.",
        "{usd:usd}",
        "{row.per}{least}{beside}",
        sure="{sure}",
        because="{because}",
        also="{row.work}. {helps}",
        provided=own.there | (case.workload != OWN),
        otherwise="No engine of {case.accelerator} serves {case.model} so. Take another"
        " accelerator, a slower pace or a later first token.",
        as_of=f"{catalog.resource('rental_prices')['as_of']} (rents)",
        model_error="that of the chapters behind the steps, each of which says its own",
        headline="usd",
        quantities={"over_budget": (over, "times")},
    )


def bills(case: Any, row: Any, four: FourWays, own: Any) -> Display:
    """What each way costs beside the budget; a plan that has no ways, such as a training run, has
    a bar of its own.
    """
    mine = case.workload == OWN
    usd, budget = where(mine, own.usd, row.usd), case.budget_usd
    alone = where(mine | row.compared, NAN, usd)
    found = {name: where(four.open[name], of, NAN) for name, of in four.usd.items()}
    several = where(four.open[MULTI_CLOUD], four.multi_cloud, NAN)
    rented = where(four.open[RENT], found[RENT], several)
    beside = {
        "this plan": alone,
        API: where(mine, found[API], row[f"usd to {API}"]),
        RENT: where(mine, rented, row[f"usd to {RENT}"]),
        COLOCATION: where(mine, found[COLOCATION], row["usd to own"]),
        SITE: where(mine, found[SITE], NAN),
        "your budget": budget,
    }
    return charts.show(
        charts.bars(beside, "what", None, "usd", BILL, sort=False),
        name="bills",
        alt="What the ways that are open cost, the plan {usd:usd} {row.per}, beside your budget of"
        " {budget:usd}; a way that is ruled out has no bar.",
    )


def four_ways(four: FourWays) -> Display:
    """A year of each way, those that may not be done as well, and why [USD/year]."""
    api, rent, shared, site = (four.usd[of] for of in (API, RENT, COLOCATION, SITE))
    told = {of: where(four.open[of], "", " (ruled out)") for of in four.usd}
    no_api, no_rent, no_shared, no_site = (told[of] for of in (API, RENT, COLOCATION, SITE))
    bought, hours = four.chips, four.hours
    return charts.sentence(
        "A year costs <strong>{api:usd}</strong> at an API{no_api}, <strong>{rent:usd}</strong>"
        " rented{no_rent}, <strong>{shared:usd}</strong> with {bought:whole accelerators} of your"
        " own in a colocation{no_shared} and <strong>{site:usd}</strong> on a site of your"
        " own{no_site}. Owned ones would have work for {hours:hours 2} a day.",
        provided=four.fleet.served,
        otherwise="No engine of this accelerator serves it so.",
    )


def threshold(case: Any, four: FourWays) -> Display:
    """From which rent a year a site of one's own pays, under the contract [USD/year]."""
    usd, hour = four.threshold, four.rents.hour
    pays = charts.phrase(
        "At {hour.usd:usd} an hour of {case.accelerator}, the price of your contract, a site of"
        " your own pays above a rent of {usd:usd} a year."
    )
    never = charts.phrase(
        "At {hour.usd:usd} an hour of {case.accelerator} a site of your own never pays: an owned"
        " hour costs as much as a rented one."
    )
    site_pays = where(usd < float("inf"), pays, never)
    return charts.sentence(
        "{site_pays}",
        provided=hour.there,
        otherwise="Nobody lists such an hour.",
    )


def branch(case: Any, four: FourWays) -> Display:
    """The branch that Clarifai's tree takes, its money, and that of the cheapest way."""
    name, usd = four.best
    says, its = four.says, four.of_the_tree
    more = its - usd
    same = charts.phrase("That is also the cheapest way that is open to you.")
    dearer = charts.phrase(
        "The cheapest way that is open to you is {name}, at {usd:usd}: {more:usd} a year less."
    )
    found = where(more > 0.005 * usd, dearer, same)
    return charts.sentence(
        "For your case the tree says <strong>{says}</strong>, which costs {its:usd} a year."
        " {found}",
        provided=four.fleet.served,
        otherwise="No engine of this accelerator serves it so.",
    )


def steps(case: Any, row: Any, own: Any) -> Display:
    """The nine steps: what to do, why, and the question to the chapter behind it."""
    numbers, mine = range(1, len(STEPS) + 1), case.workload == OWN

    def told(number: int, what: int) -> Any:
        there = row[f"{('do', 'why')[what]} {number}"]
        return where(mine, own.steps[number][what], there) if number in own.steps else there

    rows = {
        "step": [f"{number}. {name}" for number, name in zip(numbers, STEPS, strict=True)],
        "do": [told(number, 0) for number in numbers],
        "why": [told(number, 1) for number in numbers],
    }
    return charts.table(pd.DataFrame(rows), "The plan in nine steps", name="steps")


def questions(case: Any, row: Any, own: Any) -> Display:
    """The first question of each step to a chapter, as a command."""
    mine = case.workload == OWN
    asked = {number: row[f"ask {number}"] for number in range(1, len(STEPS) + 1)}
    asked |= {number: where(mine, of, asked[number]) for number, of in own.questions.items()}
    rows = {"step": [*STEPS], "ask the chapter": [*asked.values()]}
    return charts.table(pd.DataFrame(rows), "The same question, asked of a chapter", name="asked")


def limits(case: Any, row: Any, own: Any) -> Display:
    """What has to give, where the workload cannot be met."""
    helps = where(case.workload == OWN, own.helps, row.helps)
    return charts.sentence("{helps}")


def sure(row: Any, own: Any) -> Display:
    """How sure the decision is."""
    said = where(row.decision == "", own.sure, row.sure)
    return charts.sentence("{said}")


def others(presets: Mapping[str, Any]) -> Display:
    """Every preset, and the command that plans it."""
    rows = {
        "workload": [of.title for of in presets.values()],
        "for whom": [of.why for of in presets.values()],
        "command": [f"scaleright plan {name}" for name in presets],
    }
    shown = charts.table(pd.DataFrame(rows), "Workloads that people often have", name="presets")
    return charts.folded(shown, f"All {len(presets)} workloads, each with its command")


def every(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """What is decided of each workload, in words."""
    return {name: str(row["decision"]) for name, row in rows.items() if row["decision"]}
