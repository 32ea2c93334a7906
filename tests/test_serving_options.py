"""All ways to have tokens written that a case leaves open: nothing that a reader rules out makes
the best of them cheaper, and each is what its own chapter says of it.
"""

import math

import numpy as np
import pytest
from chapter_cells import BOOK, cells
from hypothesis import given as over_cases
from hypothesis import settings
from hypothesis import strategies as st
from scaleright import market
from scaleright.decisions.serving_options import ASK_API, OWN_IT, RENT_IT
from scaleright.parameters import ParameterError, validate
from scaleright.press.texts import declared
from scaleright.quantity import derived, evaluate, given, over
from scaleright.quantity.signals import Signals

PARAMETERS = {of.name: of for of in declared("token_cost", BOOK)}
CHIPS = [name for name in PARAMETERS["accelerator"].choices if name != market.BEST]
CONTRACTS = [of for of in PARAMETERS["contract"].choices if of != market.BEST]


@pytest.fixture(scope="module")
def page():
    return cells("token_cost")


def test_of_all_accelerators_each_is_a_way_and_the_best_is_the_least_of_them(page):
    options = page.options
    kinds = [options.kinds[of].usd for of in (RENT_IT, OWN_IT, ASK_API)]
    best, kind, rented, owned, api = evaluate([options.best.usd, options.kind, *kinds], {})
    each = {name: {"accelerator": name} for name in CHIPS}
    rents, owns = (
        {name: evaluate([price], case)[0] for name, case in each.items()}
        for price in (page.rented, page.owned)
    )
    assert rented == pytest.approx(np.nanmin([*rents.values()]), rel=1e-12)
    assert owned == pytest.approx(np.nanmin([*owns.values()]), rel=1e-12)
    assert best == min(rented, owned, api)
    assert {RENT_IT: rented, OWN_IT: owned, ASK_API: api}[kind] == best


cases = st.fixed_dictionaries(
    {
        "model": st.sampled_from(["Llama-3.3-70B", "Llama-3.1-8B", "gpt-oss-120b", "Kimi-K2.5"]),
        "utilization": st.floats(0.02, 1.0),
        "pace_tokens_per_s": st.floats(5.0, 100.0),
        "input_tokens": st.integers(100, 20_000),
        "traffic": st.sampled_from(["unknown", "conversation"]),
        "requests_per_day": st.floats(100.0, 1e7),
        "setting": st.sampled_from(["data center", "home"]),
    }
)


@settings(max_examples=15)
@over_cases(cases, st.sampled_from(CHIPS), st.sampled_from(CONTRACTS))
def test_who_rules_ways_out_never_pays_less(page, case, chip, contract):
    """A named accelerator, a named contract; spot is none of those that last, and may be less."""
    options = page.options
    wanted = [options.best.usd, options.ways]
    free, many = evaluate(wanted, case)
    named, fewer = evaluate(wanted, case | {"accelerator": chip})
    assert named >= free * (1 - 1e-9) and fewer <= many
    if contract in ("on demand", "reserved", "one year"):
        held, fewer = evaluate(wanted, case | {"contract": contract})
        assert held >= free * (1 - 1e-9) and fewer <= many


def test_as_many_ways_are_compared_as_tables_have(page):
    """One accelerator: its contracts of a year at most that are sold, owning it, each host."""
    hosts = len(set(market.api_prices(PARAMETERS["model"].default)["company"]))
    sold = market.contracts("H100 SXM")
    lasting = [of for of in ("on demand", "reserved", "one year") if of in sold]
    (many,) = evaluate([page.options.ways], {"accelerator": "H100 SXM"})
    assert many == len(lasting) + 1 + hosts
    (all_of_them,) = evaluate([page.options.ways], {})
    (each,) = evaluate([page.options.ways], {"accelerator": np.array(CHIPS)})
    assert all_of_them == (each - hosts).sum() + hosts


@pytest.mark.parametrize(
    "case", [{}, {"utilization": 0.05}, {"accelerator": "H100 SXM"}, {"contract": "on demand"}]
)
def test_the_choice_is_between_the_best_and_the_next_of_another_kind(page, case):
    options = page.options
    kinds = [way.usd for way in options.kinds.values()]
    wanted = [options.choice.cost, options.choice.other, options.choice.probability, *kinds]
    cost, other, sure, *prices = evaluate([*wanted, *options.best.ends], case)
    *prices, low, high = prices
    assert [cost, other] == pytest.approx(sorted(prices)[:2]) and 0.5 <= sure <= 1
    assert low <= cost < high  # no host asks less than the cheapest


def test_where_nothing_but_the_api_has_a_price_there_is_no_rival(page):
    options = page.options
    wanted = [options.kind, options.rival, options.ways, options.rented.usd]
    kind, rival, many, rented = evaluate(wanted, {"accelerator": "L40S"})
    assert (kind, rival) == (ASK_API, "") and math.isnan(rented)
    assert many == len(set(market.api_prices(PARAMETERS["model"].default)["company"]))


@pytest.mark.parametrize("own", [{"rent_usd_per_hour": 2.0}, {"chip_usd": 20_000.0}])
def test_a_price_of_ones_own_is_that_of_a_named_accelerator(page, own):
    parameters = declared("token_cost", BOOK)
    with pytest.raises(ParameterError, match="is that of one accelerator: name it"):
        validate(parameters, own)
    validate(parameters, own | {"accelerator": "H100 SXM"})
    assert evaluate([page.options.nameless], own) == [True]
    assert evaluate([page.options.nameless], own | {"accelerator": "H100 SXM"}) == [False]


def test_a_price_of_ones_own_moves_the_named_accelerator_and_no_other(page):
    one = page.options.any_chip.found.price
    of = np.array(["H100 SXM", "B200"])
    plain = evaluate([one.rented, one.owned], {"chip": of})
    own = {"accelerator": "H100 SXM", "rent_usd_per_hour": 1.0, "chip_usd": 10_000.0}
    cheaper = evaluate([one.rented, one.owned], own | {"chip": of})
    for before, after in zip(plain, cheaper, strict=True):
        assert after[0] < before[0] and after[1] == before[1]


def test_a_quantity_that_is_held_stays_what_it_is_on_the_page_in_rows_of_a_chart():
    load, chip = given("load", 0.4), given("chip", "A")
    prices = over("prices", {chip: ["A", "B"]}, {"usd": load * 2})["usd"]
    taken = derived("taken", prices[0], held=True)
    page = Signals()
    found = page.formulas({"bill": taken * load}, {"load": "x"})
    (name,) = (of for of in page.expressions if of in found["bill"])
    assert found["bill"] == f"({name} * datum.x)" and "datum" not in page.expressions[name]
    assert Signals().formulas({"bill": taken * load}, {"taken": "y"})["bill"] == "(datum.y * load)"
    assert evaluate([taken * load], {"load": 1.0}) == [2.0]


def test_an_accelerator_that_nobody_lists_is_paid_at_the_readers_own_rent():
    parameters = declared("load_of_a_day", BOOK)
    case = {"accelerator": "mi355x", "rent_usd_per_hour": 4.0}
    assert validate(parameters, case) == case | {"accelerator": "MI355X"}


def test_an_accelerator_that_is_not_sold_is_rented_or_left_and_said_so():
    case = {"accelerator": "A10G", "model": "Llama-3.1-8B", "rent_usd_per_hour": 0.3}
    validate(declared("token_cost", BOOK), case)
    page = cells("token_cost", **case)
    kind, owned, rented = evaluate([page.options.kind, page.owned, page.rented], {})
    assert kind != OWN_IT and math.isnan(owned) and rented > 0
