"""How sure a choice is and what it is worth to find out, against draws."""

import numpy as np
import pytest
from scaleright.information import (
    NINETY,
    Choice,
    expected_loss,
    expected_shortfall,
    probability_ahead,
    probability_cheaper,
)
from scaleright.quantity import at, given
from scaleright.ranges import Ends

DRAWS = 400_000


def drawn(cost: float, other: float, spreads: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Both costs, of which the first has the expectation that it seems to have; by columns what
    each input alone would tell of it.
    """
    normal = np.random.default_rng(0).standard_normal((DRAWS, len(spreads)))
    each = np.exp(normal * spreads - np.square(spreads) / 2)
    return cost * each.prod(axis=1), cost * each


@pytest.mark.parametrize("cost, other", [(1.0, 1.0), (1.0, 1.3), (2.0, 1.4)])
@pytest.mark.parametrize("spreads", [(0.3,), (0.2, 0.5)])
def test_loss_and_worth_are_those_of_draws(cost, other, spreads):
    choice = Choice(cost, other, dict(enumerate(spreads)))
    costs, told = drawn(cost, other, spreads)
    taken = costs if cost < other else np.full(DRAWS, other)
    loss = (taken - np.minimum(costs, other)).mean()
    assert choice.expected_loss == pytest.approx(loss, rel=0.02)
    for place, worth in choice.worth().items():
        known = told[:, place]
        saved = min(known.mean(), other) - np.minimum(known, other).mean()
        assert worth == pytest.approx(saved, rel=0.03)
        assert worth <= choice.expected_loss * (1 + 1e-12)


def test_probability_is_that_of_draws_around_the_median():
    normal = np.random.default_rng(0).standard_normal(DRAWS)
    share = (1.0 * np.exp(0.4 * normal) < 1.3).mean()
    assert probability_cheaper(1.0, 1.3, 0.4) == pytest.approx(share, abs=0.003)
    assert probability_cheaper(1.3, 1.0, 0.4) == pytest.approx(1 - share, abs=0.003)


def test_both_ways_around_are_one_choice():
    there, back = (Choice(*costs, {"a": 0.3}) for costs in ((1.0, 1.5), (1.5, 1.0)))
    assert there.sureness == pytest.approx(back.sureness)
    assert there.expected_loss == pytest.approx(back.expected_loss)
    assert there.probability == pytest.approx(1 - back.probability)


def test_what_is_known_costs_nothing_and_is_worth_nothing():
    sure = Choice(1.0, 2.0, {"set by the reader": 0.0})
    assert sure.probability == 1.0 and sure.expected_loss == 0.0
    assert sure.worth() == {"set by the reader": 0.0}
    assert expected_loss(1.0, 1.0, 0.0) == 0.0 and probability_cheaper(1.0, 1.0, 0.0) == 0.5


def test_a_choice_follows_the_case_and_an_input_with_equal_ends_has_no_spread():
    rent, pace = given("rent", 2.0), given("pace", 4.0)
    ends = {"rent": Ends(rent, rent / 2, rent * 2), "pace": Ends(pace, pace, pace)}
    choice = Choice.of(10 * rent / pace, rent * 0 + 6.0, ends)
    assert choice.spreads["pace"].value == 0.0
    assert choice.spreads["rent"].value == pytest.approx(np.log(4) / (2 * NINETY))
    assert at(choice.probability, pace=2.0).value < 0.5 < choice.probability.value


def test_what_cannot_be_computed_is_no_probability():
    """A cost that nothing has is refused as a number, and stays none as a quantity."""
    nothing = float("nan")
    with pytest.raises(ValueError, match="cost = nan is outside its domain"):
        probability_cheaper(nothing, 2.0, 0.1)
    for costs in ((nothing, 2.0), (1.0, nothing)):
        for spread in (0.0, 0.3):
            choice = Choice(given("here", costs[0]), given("there", costs[1]), {"a": spread})
            assert np.isnan(choice.probability.value) and np.isnan(choice.expected_loss.value)


@pytest.mark.parametrize("ahead", [0.0, 0.4, 1.5])
def test_a_difference_that_is_normal_is_lost_as_often_and_as_much_as_in_draws(ahead):
    apart = ahead + 0.7 * np.random.default_rng(0).standard_normal(DRAWS)
    assert probability_ahead(ahead, 0.7) == pytest.approx((apart > 0).mean(), abs=0.003)
    lost = np.maximum(-apart, 0).mean()
    assert expected_shortfall(ahead, 0.7) == pytest.approx(lost, rel=0.03)
    assert probability_ahead(ahead, 0.0) == (1.0 if ahead else 0.5)
    assert expected_shortfall(ahead, 0.0) == 0.0
