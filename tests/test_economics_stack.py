"""The GPU Economics Stack: parts that add up, and the layers of a service's bill."""

import pytest
from built import BOOK
from hypothesis import given
from hypothesis import strategies as st
from scaleright.decisions.economics_stack import (
    COMPUTE,
    HIDDEN,
    LAYER_OF,
    SUPPLY,
    chip_costs,
    stack_bill,
    waiting_usd_per_month,
)
from scaleright.inference.traffic import trace_terms
from scaleright.press.texts import declared
from scaleright.quantity.graph import value_of

USD = st.floats(0.0, 1e6)
SHARE = st.floats(0.0, 1.0)
THIRD = st.floats(0.0, 0.33)


@given(USD, USD, USD, USD, USD, SHARE, SHARE, THIRD, THIRD, THIRD, USD)
def test_the_parts_add_up_to_what_is_paid(paid, bought, power, kept, crew, u, chip, a, b, c, more):
    bill = stack_bill(paid, bought, power, kept, crew, u, chip, a, b, c, people_usd=more)
    owner = bought + power + kept + crew
    # who pays for accelerators that cost their owner nothing pays margin alone
    assert bill.total == pytest.approx(paid + more, rel=1e-9, abs=1e-6)
    assert sum(bill.layers.values()) == pytest.approx(bill.total, abs=1e-6)
    assert all(part >= 0 for part in bill.parts().values())
    assert (bill.margin_of_the_seller_usd > 0) <= (paid > owner)


def _largest(bill):
    name, usd = bill.largest
    return str(value_of(name)), float(value_of(usd))


def test_layers_follow_what_is_paid_for():
    base = dict.fromkeys(("power_and_cooling_usd", "upkeep_usd", "crew_usd"), 0.0)
    shares = {"compute_share": 0.1, "memory_share": 0.1, "packaging_share": 0.1}
    busy = stack_bill(100.0, 100.0, utilization=1.0, chip_share=0.5, **base, **shares)
    assert busy.idle_hours_usd == 0.0
    assert _largest(busy) == (COMPUTE, pytest.approx(55.0))
    dear = stack_bill(400.0, 100.0, utilization=1.0, chip_share=0.5, **base, **shares)
    assert _largest(dear) == (SUPPLY, pytest.approx(345.0))
    assert dear.second == pytest.approx(55.0)
    empty = stack_bill(100.0, 100.0, utilization=0.1, chip_share=0.5, **base, **shares)
    assert _largest(empty) == (HIDDEN, pytest.approx(90.0))


def test_waiting_costs_nothing_where_rent_is_cheaper_or_nobody_waits():
    assert waiting_usd_per_month(8.0, 1.0, 2.0, 6.0, 4.0) == 0.0
    assert waiting_usd_per_month(8.0, 3.0, 2.0, 0.0, 4.0) == 0.0


def test_memory_costs_makers_more_than_the_dies_do_and_buyers_little():
    for name, cost in chip_costs().items():
        assert cost["memory"] > cost["packaging"] > 0, name
        assert cost["memory"] > cost["compute"], name


def test_each_part_of_a_bill_has_its_layer():
    bill = stack_bill(100.0, 40.0, 10.0, 5.0, 5.0, 0.5, 0.5, 0.1, 0.2, 0.1)
    assert list(LAYER_OF) == list(bill.labeled())
    for layer, usd in bill.layers.items():
        parts = [part for name, part in bill.labeled().items() if LAYER_OF[name] == layer]
        assert sum(parts) == pytest.approx(usd)


def test_the_usual_service_is_that_of_the_plan():
    here, there = (
        {of.name: of.default for of in declared(chapter, BOOK)}
        for chapter in ("economics_stack", "plan")
    )
    same = ("model", "requests_per_day", "pace_tokens_per_s")
    assert [here[of] for of in same] == [there[of] for of in same]
    assert here["traffic"] == there["trace"]
    lengths = trace_terms(there["trace"])
    assert here["input_tokens"] == round(lengths["input_tokens"])
    assert here["output_tokens"] == round(lengths["output_tokens"])
