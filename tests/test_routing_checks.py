"""Published checks of answers, and published cascades beside what is predicted of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright.chapters.model_routing import evidence as of
from scaleright.decisions.routing import check_odds

SHARES, ODDS = st.floats(0.05, 0.95), st.floats(1.0, 100.0)


@given(odds=ODDS)
def test_a_balanced_rate_has_its_odds(odds):
    rate = of.balanced_rate(odds)
    assert check_odds(rate, 1 - rate) == pytest.approx(odds)


def test_better_checkers_have_larger_odds_and_easy_requests_are_checked_best():
    kinds = of.kinds().set_index("kind")
    order = ["thinking model", "trained scorer", "large model", "small model"]
    assert min(order, key=lambda kind: -kinds.loc[kind, "mix"]) == "thinking model"
    assert kinds.loc["small model", "mix"] < 0.5 < kinds.loc["large model", "mix"]
    for kind in order:
        assert kinds.loc[kind, "easy"] >= kinds.loc[kind, "hard"]
        assert kinds.loc[kind, "worst"] <= kinds.loc[kind, "mix"] <= kinds.loc[kind, "best"]


def test_the_usual_check_lies_between_its_worst_and_its_best_checker():
    for kind in of.kinds()["kind"]:
        found = of.usual_check(kind)
        assert found.low <= found.odds <= found.high


@given(small=SHARES, large=SHARES, odds=ODDS, nested=st.floats(0.0, 1.0), bill=st.floats(1, 20))
def test_cascades_are_never_worse_than_single_models_and_a_better_check_never_harms(
    small, large, odds, nested, bill
):
    pair = np.array([small, large]), np.array([1.0, 10.0])
    alone = of.reached(*pair, odds, nested, whole=False).right_at(bill)
    chained = of.reached(*pair, odds, nested).right_at(bill)
    better = of.reached(*pair, 2 * odds, nested).right_at(bill)
    assert alone <= chained + 1e-12
    assert chained <= better + 2e-2  # thresholds are a grid


def test_a_check_by_chance_is_a_line_between_two_models():
    found = of.reached(np.array([0.6, 0.8]), np.array([1.0, 10.0]), 1.0, 0.3)
    assert found.right_at(6.0) == pytest.approx(0.7, abs=5e-3)


def test_no_cascade_is_predicted_from_its_own_benchmark():
    found = of.cascades()
    for name, rows in found.groupby("benchmark"):
        assert (rows["odds"] == of.cascade_odds(name)).all()
    assert found["odds"].nunique() > 1
    assert (found["predicted"] >= found["one model"] - 1e-12).all()


def test_errors_are_told_beside_that_of_the_best_single_model():
    found = of.scored()
    assert found.rows == len(of.cascades()) == 21
    assert found.error < found.one_model < found.published_checks
