"""A work and the service of what it makes, said as one plan."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from scaleright.chapters.plan.page import NOTHING, OwnPlan, both, served
from scaleright.quantity import evaluate, given


def of(work: str, usd: Any, helps: Any = NOTHING, there: Any = True) -> OwnPlan:
    """A plan of few words."""
    steps = {1: (f"{work} it", f"{work} because"), 2: (f"{work} there", "so")}
    words = {"work": work, "decision": f"Rent to {work}", "because": "B.", "sure": "S."}
    rest = {"met": helps == NOTHING, "otherwise": "", "questions": {}, "per": "for it"}
    return OwnPlan(
        **words, **rest, usd=usd, helps=helps, there=there, bars={"rent": usd}, steps=steps
    )


def test_a_model_is_served_then_on_what_was_bought_to_train_it():
    values = {"workload": "train", "then_serve": True, "model": "A", "owned": "none"}
    values |= {"owned_chips": 0.0, "bought": 8.0}
    case = SimpleNamespace(**{name: given(name, it) for name, it in values.items()})
    made = replace(of("train", 5e6), made="B", chip="H100 SXM", bought=case.bought)
    then = served(case, {"train": made})
    wanted = [then.model, then.tuned, then.owned, then.owned_chips]
    assert evaluate(wanted, {}) == ["B", True, "H100 SXM", 8.0]
    assert evaluate(wanted, {"bought": 0.0}) == ["B", True, "none", 0.0]
    assert evaluate(wanted, {"owned": "B200", "owned_chips": 4.0}) == ["B", True, "B200", 4.0]
    for other in ({"then_serve": False}, {"workload": "serve"}):
        assert evaluate(wanted, other) == ["A", False, "none", 0.0]


def test_both_plans_are_said_where_a_model_is_served_then():
    serves, there = given("then_serve", True), given("there", True)
    lacking = given("lacking", NOTHING)
    one = both(of("train", 5e6), of("serve", 2e5, lacking, there), serves)
    wanted = [
        one.decision,
        one.steps[1][0],
        one.helps,
        one.met,
        one.bars["serve it: rent"],
    ]
    decision, step, helps, met, bar = evaluate(wanted, {})
    assert decision == "Rent to train. To serve it then: Rent to serve, for $200,000 a year"
    assert step == "train it; to serve it then: serve it"
    assert (helps, met, one.usd, bar) == (NOTHING, True, 5e6, 2e5)
    assert evaluate(wanted[:2], {"then_serve": False}) == ["Rent to train", "train it"]
    assert evaluate(wanted[2:4], {"lacking": "Spend more."}) == [
        "To serve it then: Spend more.",
        False,
    ]
    assert evaluate(wanted[:1], {"there": False})[0].endswith("No way is open to serve it so")
