"""What the chapter `plan` shows."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scaleright import catalog, charts
from scaleright.charts import Display
from scaleright.decisions.plan_parts import STEPS
from scaleright.ops import where

BILL = "USD"


def answer(case: Any, row: Any) -> Display:
    """The answer card: what to do, what it costs, and whether the budget pays for it."""
    usd, budget = row.usd, case.budget_usd
    over = usd / budget
    dear = charts.phrase(", {over:times} your budget of {budget:usd}")
    paid = charts.phrase(", {over:percent} of your budget of {budget:usd}")
    beside = where(over > 1, dear, paid)
    least = where(row.met, "", " is the least that it costs")
    return charts.answer_card(
        "{row.decision}.",
        "{usd:usd}",
        "{row.per}{least}{beside}",
        sure="{row.sure}",
        because="{row.because}",
        also="{row.work}. {row.helps}",
        as_of=f"{catalog.resource('rental_prices')['as_of']} (rents)",
        model_error="that of the chapters behind the steps, each of which says its own",
        headline="usd",
        quantities={"over_budget": (over, "times")},
    )


def bills(case: Any, row: Any) -> Display:
    """What the plan costs beside the budget, of the run or of a year."""
    beside = {"this plan": row.usd, "your budget": case.budget_usd}
    usd, budget = row.usd, case.budget_usd
    return charts.show(
        charts.bars(beside, "what", None, "usd", BILL, sort=False),
        name="bills",
        alt="What the plan costs, {usd:usd} {row.per}, beside your budget of {budget:usd}.",
    )


def steps(row: Any) -> Display:
    """The nine steps: what to do, why, and the question to the chapter behind it."""
    numbers = range(1, len(STEPS) + 1)
    rows = {
        "step": [f"{number}. {name}" for number, name in zip(numbers, STEPS, strict=True)],
        "do": [row[f"do {number}"] for number in numbers],
        "why": [row[f"why {number}"] for number in numbers],
    }
    return charts.table(pd.DataFrame(rows), "The plan in nine steps", name="steps")


def questions(row: Any) -> Display:
    """The first question of each step to a chapter, as a command."""
    numbers = range(1, len(STEPS) + 1)
    rows = {
        "step": [*STEPS],
        "ask the chapter": [row[f"ask {number}"] for number in numbers],
    }
    return charts.table(pd.DataFrame(rows), "The same question, asked of a chapter", name="asked")


def limits(row: Any) -> Display:
    """What has to give, where the workload cannot be met."""
    return charts.sentence("{row.helps}")


def sure(row: Any) -> Display:
    """How sure the decision is."""
    return charts.sentence("{row.sure}")


def others(presets: Mapping[str, Any]) -> Display:
    """Every preset, and the command that plans it."""
    rows = {
        "workload": [of.title for of in presets.values()],
        "asked by": [of.why for of in presets.values()],
        "command": [f"scaleright plan {name}" for name in presets],
    }
    return charts.table(pd.DataFrame(rows), "Presets", name="presets")


def every(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """What is decided of each workload, in words."""
    return {name: str(row["decision"]) for name, row in rows.items()}
