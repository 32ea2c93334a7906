"""A training run of the reader's own: the page of a plan decides what the command does."""

import re
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
from scaleright.chapters.plan import training_page as page
from scaleright.chapters.plan.model import plan
from scaleright.chapters.plan.page import TRAINING, joined
from scaleright.decisions.plan_workload import Workload
from scaleright.quantity import evaluate, given
from scaleright.units import figure

CASE: dict[str, Any] = {
    "trained_model": "Llama-3.1-8B",
    "tokens": 1e12,
    "deadline_days": 90.0,
    "deadline_chance": 0.9,
    "budget_usd": 200_000.0,
    "data": "may leave",
    "region": "United States",
    "trained_on": "cheapest",
    "owned": "none",
    "owned_chips": 0,
}
LEFT_OUT = re.compile("left out[^;]*|nobody lists the[^;]*")
ASKED = {"trained_model": "model", "trained_on": "accelerator"}


@cache
def planned() -> Any:
    values = {"workload": TRAINING} | CASE
    case = SimpleNamespace(**{name: given(name, value) for name, value in values.items()})
    return page.own_plan(case, page.choices(case))


@pytest.mark.parametrize(
    "change",
    [
        {"deadline_days": 2.0, "budget_usd": 1e9},
        {"owned": "H100 SXM", "owned_chips": 512},
        {"data": "may not leave", "budget_usd": 2e7, "deadline_days": 500.0},
        {"trained_model": "DeepSeek-V3", "tokens": 14.8e12, "budget_usd": 2e7},
        {"budget_usd": 60_000.0},
        {"trained_on": "H100 SXM", "budget_usd": 90_000.0},
        {"data": "may not leave", "budget_usd": 1e6},
    ],
)
def test_the_page_trains_as_the_command_does(change):
    own, values = planned(), CASE | change
    told = {
        ASKED.get(name, name): of for name, of in values.items() if of not in {"none", "cheapest"}
    }
    part = plan(Workload.of({"work": "train", **told})).parts[0]
    wanted = [own.decision, own.met, own.usd, own.sure, own.helps]
    wanted += [own.steps[4][0], joined(own.steps[4][1])]
    decision, met, usd, sure, helps, hardware, why = evaluate(wanted, values, strangers=True)
    assert (str(decision), bool(met)) == (part.decision, part.broken is None)
    cash = part.figures.get("cash_usd", part.figures["usd"])
    assert figure(float(usd), 3) == figure(cash, 3)
    if part.broken is None:
        assert str(hardware) == part.steps[3].says
        assert LEFT_OUT.findall(str(why)) == LEFT_OUT.findall("; ".join(part.steps[3].because))
        chance = part.sure.split("(")[1].split(")")[0]
        assert f"({chance})" in str(sure) or chance == "over 99 %"
    else:
        assert f"What would help: {part.broken.relaxations[0].says}"[:60] in str(helps)
