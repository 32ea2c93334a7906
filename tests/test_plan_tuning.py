"""The page's plan of a fine-tuning or a post-training beside the command's."""

from __future__ import annotations

import re
import shlex
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scaleright.chapters.plan import tuning_page as plan_tuning
from scaleright.chapters.plan.model import plan
from scaleright.chapters.plan.page import POST_TRAINING, TOKENS, TUNING, OwnPlan
from scaleright.decisions.plan_workload import OF_PAIRS, OF_TEXTS, ROLLOUTS, Workload
from scaleright.parameters.case import accepted
from scaleright.press import Book
from scaleright.press.texts import declared
from scaleright.quantity import evaluate, given
from scaleright.units import figure, usd

BOOK = Book(Path(__file__).resolve().parents[1])
Case = dict[str, Any]
ALL = {"trained": "all weights"}
KEPT: tuple[Case, ...] = (
    {"workload": TUNING},
    {"workload": TUNING, "tuned_model": "Llama-3.1-70B", "tokens": 1e9, "deadline_days": 5.0} | ALL,
    {"workload": TUNING, "data": "may not leave", "deadline_days": 500.0} | ALL,
    {"workload": TUNING, "owned": "H100 SXM", "owned_chips": 1},
    {"workload": TUNING, "owned": "RTX PRO 6000", "owned_chips": 1},
    {"workload": POST_TRAINING, "method": "dpo", "tuned_model": "Qwen3-32B"} | ALL,
    {"workload": POST_TRAINING, "tuned_model": "Qwen3-32B", "answer_tokens": 4000}
    | {"answers_each": 16, "owned": "H100 SXM", "owned_chips": 16},
    {"workload": POST_TRAINING, "tuned_model": "Llama-3.1-70B", "method": "ppo"}
    | {"rounds": 20000, "deadline_days": 30.0, "budget_usd": 1e6}
    | ALL,
)
BROKEN: tuple[tuple[Case, str], ...] = (
    ({"workload": POST_TRAINING, "method": "grpo", "budget_usd": 1e4} | ALL, "spend $22,200"),
    ({"workload": TUNING, "data": "may not leave"}, "let the data leave, and rent for $1.04"),
    (
        {"workload": POST_TRAINING, "tuned_model": "Llama-3.1-70B", "rounds": 20000}
        | {"deadline_days": 2.0, "budget_usd": 1e5}
        | ALL,
        "of the 20,000 rounds",
    ),
)
"""Cases that cannot be done as asked, and what changes least."""


@cache
def page() -> tuple[Case, OwnPlan]:
    """The defaults of the page, and its plan, with all that its models need."""
    usual = {one.name: one.default for one in declared("plan", BOOK)}
    usual |= {"workload": TUNING, "tokens": TOKENS[TUNING]}
    (models,) = (one.choices for one in declared("plan", BOOK) if one.name == "tuned_model")
    case = SimpleNamespace(**{name: given(name, of) for name, of in usual.items()})
    return usual, plan_tuning.own_plan(case, plan_tuning.tables(models))


def command(of: Case) -> Any:
    """The plan that the command makes of a case of the page."""
    case = page()[0] | of
    texts = case["workload"] == TUNING
    how = OF_TEXTS if texts else case["method"]
    shared = ("deadline_days", "deadline_chance", "budget_usd", "data", "region", "trained")
    asked = {name: case[name] for name in (*shared, "passes")}
    asked |= {"work": "fine-tune" if texts else "post-train", "model": case["tuned_model"]}
    if case["owned"] != "none":
        asked |= {"owned": case["owned"], "owned_chips": case["owned_chips"]}
    names = ("tokens",) if texts else ("method", "answer_tokens")
    names += ("rounds", "answers_each") if how in ROLLOUTS else ()
    names += ("labels", "usd_per_label") if how in (OF_PAIRS, "grpo", "ppo") else ()
    return plan(Workload.of(asked | {name: case[name] for name in names})).parts[0]


@pytest.mark.long
@pytest.mark.parametrize("of", KEPT, ids=str)
def test_the_page_decides_what_the_command_does(of):
    own, part = page()[1], command(of)
    wanted = [own.there, own.work, own.decision, own.usd, own.sure, own.because, own.steps[6][0]]
    there, work, decision, cash, sure, because, lever = evaluate(wanted, of)
    assert there
    assert (work, decision) == (part.work, part.decision)
    assert figure(float(cash), 3) == figure(part.figures["cash_usd"], 3)
    assert f"{usd(part.figures['low_usd'])} to {usd(part.figures['high_usd'])}" in sure
    assert because.split(" within ")[0].lower() in part.because.lower()
    assert str(lever).replace(".0 %", " %") == part.steps[5].says.rstrip(".")
    (why,) = evaluate([own.steps[9][1]], of)  # other amounts of work, and sooner
    left = re.compile("left out[^;]*|nobody lists the[^;]*")
    (told,) = evaluate([own.steps[4][1]], of)
    assert left.findall(str(told)) == left.findall("; ".join(part.steps[3].because))
    for word in " ".join(part.steps[8].because).split():
        assert not word.startswith("$") or word in str(why)


@pytest.mark.long
@pytest.mark.parametrize("of, change", BROKEN, ids=str)
def test_what_cannot_be_done_is_said_with_what_changes_least(of, change):
    own, part = page()[1], command(of)
    there, why = evaluate([own.there, own.otherwise], of)
    assert part.broken
    assert not there
    assert change in str(why)
    first = part.broken.relaxations[0].parameter
    assert first == {"spend": "budget_usd", "let": "data", "of": "rounds"}[change.split()[0]]


@pytest.mark.long
def test_the_questions_of_a_tuning_carry_its_case():
    own = page()[1]
    for of in KEPT:
        for command_ in set(map(str, evaluate([*own.questions.values()], of))):
            _, _, chapter, *rest = shlex.split(command_)
            asked = dict(one.split("=", 1) for one in rest[1::2])
            accepted(declared(chapter, BOOK), asked)
