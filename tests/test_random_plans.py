"""Random workloads of all kinds: a plan never crashes, owning or allowing more never costs more, a
deadline is kept as surely as is asked, and what cannot be done says what would help.

`python tests/test_random_plans.py 0 40` asks those of some numbers and says what fails.
"""

from __future__ import annotations

import random
import re
import sys
import time
from typing import Any

import pytest
from scaleright.chapters.plan.model import plan
from scaleright.decisions.hardware_candidates import served_on
from scaleright.decisions.plan_parts import Part
from scaleright.decisions.plan_runs import NEAR
from scaleright.decisions.plan_workload import PROXIES, SERVED, TUNED, Workload

TRAINED = ("Llama-2-7B", "Llama-3.1-8B", "Llama-3.1-70B", "Mixtral-8x7B", "Llama-3.1-405B")
CHIPS = ("H100 SXM", "H200 SXM", "B200", "B300", "MI300X", "A100 SXM 80GB")
EXACT = 1.0005
"""Costs that differ by less are the same: they are found in tables of few digits."""
Case = dict[str, Any]


def case(number: int) -> Case:
    """A random workload, the same for the same number."""
    of = random.Random(number)
    works = ["train", "train", "study", "study", "serve", "train and serve"]
    work = of.choice([*works, "fine-tune", "post-train"] if number >= 120 else works)
    found: Case = {"work": work, "data": of.choice(["may leave"] * 3 + ["may not leave"])}
    found["region"] = of.choice(["United States", "Germany", "India"])
    if work == "study":
        found |= {"model": of.choice(PROXIES), "variants": of.choice([2, 3, 8, 24, 100, 400])}
        found |= {"tokens": 10 ** of.uniform(9.5, 11), "seeds": of.choice([1, 2, 4])}
    elif work in {"fine-tune", "post-train"}:
        found |= {"model": of.choice(TUNED), "trained": of.choice(["all weights", "LoRA"])}
        found |= {"prompt_tokens": of.choice([200, 2000]), "passes": of.choice([1, 3])}
        found["answer_tokens"] = of.choice([100, 1000, 6000])
        if work == "fine-tune":
            found["tokens"] = 10 ** of.uniform(5, 9)
        else:
            found["method"] = of.choice(["rlvr", "grpo", "ppo", "dpo"])
            if found["method"] != "dpo":
                found |= {"rounds": of.choice([100, 3000]), "answers_each": of.choice([4, 32])}
    elif "train" in work:
        models = TRAINED if work == "train" else ["Llama-3.1-8B", "Llama-3.1-70B"]
        found |= {"model": of.choice(models), "tokens": 10 ** of.uniform(10.5, 13)}
    if "serve" in work:
        found |= {"requests_per_day": 10 ** of.uniform(3, 6.5)}
        found |= {} if "model" in found else {"model": of.choice(SERVED)}
    if work != "serve" and of.random() < 0.6:
        found["deadline_days"] = 10 ** of.uniform(0.3, 2.3)
    if of.random() < 0.5:
        found["budget_usd"] = 10 ** of.uniform(4, 7)
    if of.random() < 0.5:
        owned = of.choice(served_on() if "serve" in work else CHIPS)
        found |= {"owned": owned, "owned_chips": of.choice([2, 8, 16, 64, 100, 512])}
    if of.random() < 0.15:
        found["accelerator"] = of.choice(CHIPS)
    return found


def cost(part: Part, of: Case) -> float:
    """What a plan costs: what has to be paid where chips would have to be bought."""
    named = ("cash_usd", "usd") if of["data"] == "may not leave" else ("usd",)
    return next(
        float(part.figures[name]) for name in (*named, "usd_per_year") if name in part.figures
    )


def no_dearer(of: Case, less: Part, more: Part, what: str) -> list[str]:
    """What is wrong with a plan that is allowed or has more than another."""
    if less.broken:
        return []
    if more.broken:
        return [f"{what}: it becomes impossible: {more.broken.says}"]
    here, there = cost(less, of), cost(more, of)
    free = "deadline_days" not in of and less.figures.get("days", 0) > more.figures.get("days", 0)
    if there <= here * (1 + NEAR if free else EXACT):  # without a deadline, sooner is worth 5 %
        return []
    return [f"{what}: {here:,.0f} becomes {there:,.0f}: {less.decision} -> {more.decision}"]


def problems(of: Case) -> list[str]:
    """What is wrong with the plan of a workload."""
    try:
        asked = Workload.of(of)
    except ValueError:
        return []  # contradictory, and refused before any work

    def parts(**change: Any) -> tuple[Part, ...]:
        return plan(Workload.of({**of, **change})).parts

    found, made = [], plan(asked).parts
    tried = [(f"{name} more", {name: 1.5 * of[name]}) for name in LIMITS if name in of]
    if "owned" in of:
        tried.append(("twice the chips owned", {"owned_chips": 2 * of["owned_chips"]}))
        free = {name: it for name, it in of.items() if name not in {"owned", "owned_chips"}}
        for less, more in zip(plan(Workload.of(free)).parts, made, strict=True):
            found += no_dearer(of, less, more, "chips owned at all")
    for what, change in tried:
        for less, more in zip(made, parts(**change), strict=True):
            found += no_dearer(of, less, more, what)
    for part in made:
        kept = re.search(r"be done in [\d.e+]+ days \((?:over |more than )?([\d.]+) %\)", part.sure)
        if kept and float(kept[1]) < round(100 * asked.deadline_chance):
            found.append(f"the deadline is kept in {kept[1]} %: {part.sure}")
        if part.broken:
            found += helpless(of, part)
    return found


LIMITS = ("budget_usd", "deadline_days")


def helpless(of: Case, part: Part) -> list[str]:
    """What is wrong with what would help a plan that cannot be met."""
    if not part.broken.relaxations:
        return [f"nothing helps: {part.broken.says}"]
    found = []
    for change in part.broken.relaxations:
        if change.parameter == "precision":
            continue
        eased = plan(Workload.of({**of, change.parameter: change.value, **change.also}))
        same = [it for it in eased.parts if it.work.split()[0] == part.work.split()[0]]
        if any(it.broken for it in same):
            found.append(f"it does not help to {change.says}")
    return found


@pytest.mark.nightly
@pytest.mark.parametrize("number", range(200))
def test_a_random_plan_keeps_what_it_promises(number):
    assert not problems(case(number)), case(number)


if __name__ == "__main__":
    for number in range(*map(int, sys.argv[1:3])):
        begun, of = time.time(), case(number)
        try:
            said = problems(of)
        except Exception as error:  # noqa: BLE001, whatever it is, it is a crash
            said = [f"CRASH {error!r}"]
        told = [f"{number}, {time.time() - begun:.1f} s, {of['work']}", *said]
        told += [str(of)] if said else []
        sys.stdout.write("\n   ".join(told) + "\n")
