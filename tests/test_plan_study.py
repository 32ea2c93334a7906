"""A study on the page of a plan: the page decides what the command does."""

from __future__ import annotations

import re
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
from scaleright.chapters.plan import study_page as plan_study
from scaleright.chapters.plan.model import plan
from scaleright.chapters.plan.page import STUDY
from scaleright.decisions.plan_workload import PROXIES, Workload
from scaleright.quantity import evaluate, given

USUAL = {"proxy_model": PROXIES[0], "variants": 50, "seeds": 3, "tokens": 2e10}
USUAL |= {"deadline_days": 30.0, "deadline_chance": 0.9, "data": "may leave"}
USUAL |= {"budget_usd": 90_000.0, "region": "United States", "owned": "none", "owned_chips": 0}
STAYS = {"data": "may not leave", "deadline_days": 500.0}
OWNED = {"owned": "H100 SXM", "owned_chips": 64}
LARGE = {"proxy_model": "OLMo-2-7B", "variants": 100, "seeds": 1, "budget_usd": 1e7}


@cache
def shown() -> tuple[Any, Any]:
    """The ways of the page, and its plan."""
    case = {of: given(of, it) for of, it in ({"workload": STUDY} | USUAL).items()}
    ways = plan_study.ways(SimpleNamespace(**case), PROXIES)
    return ways, plan_study.own_plan(ways)


@pytest.mark.long
@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"proxy_model": "OLMo-2-7B", "variants": 8, "budget_usd": 1e6, "deadline_chance": 0.97},
        {"proxy_model": "Pythia-160M", "variants": 200, "deadline_days": 2.0, "region": "France"},
        {**STAYS, "budget_usd": 1e6},
        {**STAYS, "budget_usd": 3e5},
        {"budget_usd": 20_000.0},
        {"variants": 200, "deadline_days": 1.1, "budget_usd": 20_000.0},
        {"deadline_days": 1.2, "budget_usd": 1e6},
        OWNED,
        OWNED | {"owned_chips": 3, "variants": 3},
        OWNED | {"owned_chips": 20_000, "owned": "MI300X"},
        LARGE | OWNED,
        LARGE | OWNED | {"owned": "L40S"},
        LARGE | OWNED | {"owned": "A100 SXM 80GB", "deadline_days": 7.0},
        LARGE | OWNED | {"budget_usd": 120_000.0},
        LARGE | OWNED | {"deadline_days": 1.5, "budget_usd": 120_000.0},
        LARGE | OWNED | STAYS | {"deadline_days": 350.0, "variants": 900},
        LARGE | OWNED | STAYS | {"deadline_days": 100.0, "variants": 900},
    ],
)
def test_the_page_plans_a_study_as_the_command_does(asked):
    case = USUAL | asked
    named = {("model" if name == "proxy_model" else name): of for name, of in case.items()}
    named["owned"] = None if case["owned"] == "none" else case["owned"]
    part = plan(Workload.of({"work": "study", **named})).parts[0]
    ways, own = shown()
    wanted = [own.met, own.usd, ways.taken["chip"], ways.chips, ways.kept]
    wanted += [own.decision, own.helps, own.work, own.steps[8][0], own.steps[6][0]]
    wanted.append(own.steps[4][1])
    met, usd, chip, chips, kept, decision, helps, work, energy, lever, why = evaluate(wanted, case)
    assert (met, work) == (part.broken is None, part.work)
    if part.broken:
        assert usd == pytest.approx(part.figures["usd"], rel=5e-4)
        assert helps.split("What would help: ")[0] == f"What breaks: {part.broken.says}. "
        found = "; or ".join(change.says for change in part.broken.relaxations)
        assert helps.endswith(f"What would help: {found}.")
        return
    assert usd == pytest.approx(part.figures["cash_usd"], rel=5e-4)
    assert (chip, chips) == (part.figures["accelerator"], part.figures["chips"])
    assert decision == part.decision
    sure = f"{100 * kept:.0f} %" if kept <= 0.995 else "over 99 %"
    assert f"to be done in {case['deadline_days']:g} days ({sure})" in part.sure
    assert f"{energy}." == part.steps[7].says
    assert f"{lever}." == part.steps[5].says
    left = re.compile("left out[^;]*|nobody lists the[^;]*")
    assert left.findall(why) == left.findall("; ".join(part.steps[3].because))
