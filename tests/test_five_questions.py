"""How sure the five answers are that people ask for first, and what a wrong one is expected to
cost: asked of the chapters' own parameters, as a page and as the command line do.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from chapter_cells import computed, shared
from scaleright import charts
from scaleright.costs.serving import LOAD, RENT
from scaleright.costs.uncertainty import DISCOUNT, USE
from scaleright.decisions.serving_options import PAID
from scaleright.decisions.two_chips import PRICE, SPEED
from scaleright.information import Choice, expected_loss, probability_cheaper
from scaleright.quantity import Quantity, evaluate
from scaleright.quantity.graph import value_of

pytestmark = pytest.mark.long


@dataclass(frozen=True)
class Question:
    """A case of a chapter: what it sets, the doubts in it, and a further case that settles some."""

    chapter: str
    case: Mapping[str, Any]
    doubts: frozenset[str]
    told: Mapping[str, Any]
    settled: frozenset[str]


OWNED = {
    "rent_usd_per_hour": 2.0,
    "chip_usd": 31000.0,
    "usd_per_kwh": 0.09,
    "years": 3.5,
    "value_kept_per_year": 0.7,
    "cost_of_capital": 0.07,
}
"""All that a reader may know of owning a chip."""
SETTLED = frozenset(
    {
        "rents of the years ahead",
        "price of the chip",
        "price of power",
        "years of use",
        "value kept each year",
        "cost of capital",
    }
)
LOOSE = {"contract": "on demand"}
ASKED = LOOSE | {"api_host": "median"}  # a host that the book chooses is in doubt, too
QUESTIONS = {
    "rent or API for a 70B chat": Question(
        "token_cost", ASKED, frozenset({RENT, PAID}), {"contract": "one year"}, {RENT}
    ),
    "buy or rent eight H100 for three years": Question(
        "buy_or_rent",  # under the cheapest contract, which holds for the three years
        {"years": 3.0},
        SETTLED - {"years of use", "rents of the years ahead"} | {USE, DISCOUNT},
        OWNED,
        SETTLED | {DISCOUNT},
    ),
    "which chip for gpt-oss-120b": Question(
        "hardware_compare",
        {"model": "gpt-oss-120b", "paid": "rent"} | LOOSE,
        frozenset({SPEED, RENT}),
        {"contract": "reserved"},
        {RENT, LOAD, PRICE},
    ),
    "pretrain an 8B on what": Question(
        "pretraining_cost",
        {"model": "Llama-3.1-8B"},
        frozenset({SPEED, RENT}),
        {"contract": "reserved"},
        {RENT, PRICE},
    ),
    "a support chat at 5 % load": Question(
        "token_cost",
        {"utilization": 0.05} | ASKED,
        frozenset({SPEED, LOAD, PAID}),
        {"accelerator": "H100 SXM", "rent_usd_per_hour": 0.5},  # less than owning one
        {RENT, PAID},
    ),
}


def told(chapter: str, **case: Any) -> tuple[Choice, str]:
    """The choice of a chapter whose cells run at a case, as the command line runs them, and its
    answer in words.
    """
    names = computed(chapter, **case)
    doubts = next(names[of] for of in ("options", "doubts", "sure") if of in names)
    return getattr(doubts, "choice", doubts), shared(chapter, **case).answer["text"]


@pytest.fixture(params=QUESTIONS, scope="module")
def question(request) -> Question:
    return QUESTIONS[request.param]


def at_case(question: Question, **more: Any) -> dict[str, Any]:
    """What the chapter's page computes at the case of a question."""
    choice, _ = told(question.chapter)
    asked = {name: getattr(choice, name) for name in ("cost", "other", "probability", "sureness")}
    asked |= {"loss": choice.expected_loss} | choice.spreads
    case = dict(question.case) | more
    live = {name: of for name, of in asked.items() if isinstance(of, Quantity)}
    return asked | dict(zip(live, evaluate(live.values(), case), strict=True))


def test_page_and_command_line_say_the_same(question):
    here = at_case(question)
    choice, words = told(question.chapter, **question.case)
    same = {"probability": choice.probability, "loss": choice.expected_loss} | choice.spreads
    for name, of in same.items():
        assert math.isclose(here[name], value_of(of), rel_tol=1e-9, abs_tol=1e-12), name
    assert f", {charts.say(float(here['sureness']), 'chance')}: " in words


def test_the_better_side_is_likely_and_a_wrong_one_costs_something(question):
    found = at_case(question)
    assert 0.5 <= found["sureness"] <= 1 and found["loss"] >= 0
    assert (found["probability"] > 0.5) == (found["cost"] < found["other"])
    spread = math.sqrt(sum(found[name] ** 2 for name in found if name in told_spreads(question)))
    costs = found["cost"], found["other"]
    assert found["probability"] == pytest.approx(probability_cheaper(*costs, spread))
    assert found["loss"] == pytest.approx(expected_loss(*costs, spread))
    assert found["loss"] < abs(found["other"] - found["cost"]) + min(costs) * spread


def told_spreads(question: Question) -> set[str]:
    return set(told(question.chapter)[0].spreads)


def test_what_nobody_knows_is_in_doubt_and_what_is_set_is_not(question):
    open_, closed = at_case(question), at_case(question, **question.told)
    assert all(open_[name] > 0 for name in question.doubts)
    assert all(closed[name] == 0 for name in question.settled)
    rest = told_spreads(question) - set(question.settled)
    assert any(closed[name] > 0 for name in rest)
    assert probability_cheaper(closed["cost"], closed["other"], 0.0) in (0.0, 1.0)
