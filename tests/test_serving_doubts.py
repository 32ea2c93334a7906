"""How sure a case of serving is: what is set has no spread, what nobody knows has."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from scaleright.costs.serving import Serving
from scaleright.costs.serving_doubts import LOAD, RENT, SPEED, load_spread, serving_doubts
from scaleright.quantity import at, evaluate, given


@pytest.fixture
def case() -> SimpleNamespace:
    values = {"utilization": 0.4, "contract": "on demand", "rent_usd_per_hour": 0.0}
    return SimpleNamespace(**{name: given(name, value) for name, value in values.items()})


@pytest.fixture
def doubts(case):
    rent = given("hour", 4.0)
    service = Serving(500.0, 0.2, rent, case.utilization, 2000, 500, 0.0, 0.6, 0.3, 0.72)
    spread = {"speed_low": 0.8, "speed_high": 1.25}
    return serving_doubts(Serving(**vars(service) | {"spread": spread}), case)


def test_ranges_hold_the_best_estimate(doubts):
    (low, high), cost = doubts.rented, doubts.choice.cost
    assert low.value < cost.value < high.value
    assert doubts.break_even[0].value < doubts.break_even[1].value


def test_what_a_reader_has_set_or_chosen_has_no_spread(doubts):
    loose = doubts.choice.spreads[RENT]
    assert loose.value > 0
    for told in ({"contract": "one year"}, {"rent_usd_per_hour": 2.0}):
        assert evaluate([loose], told) == [0.0]
        narrow = evaluate([doubts.rented[0], doubts.rented[1]], told)
        assert narrow[0] > doubts.rented[0].value and narrow[1] < doubts.rented[1].value


def test_the_load_is_in_the_range_of_the_price_and_not_beyond_full(doubts):
    factor = load_spread()
    assert doubts.rented[1].value > factor * doubts.choice.cost.value
    full = at(doubts.choice.spreads[LOAD], utilization=1.0)
    assert 0 < full.value < doubts.choice.spreads[LOAD].value


def test_nothing_is_worth_more_to_know_than_all(doubts):
    loss = doubts.choice.expected_loss.value
    worth = {name: of.value for name, of in doubts.choice.worth().items()}
    assert set(worth) == {SPEED, LOAD, RENT}
    assert max(worth, key=worth.get) == LOAD and all(0 <= of <= loss for of in worth.values())
