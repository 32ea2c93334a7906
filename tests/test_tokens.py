"""What must be true of the price of a token: rented, owned, at an API, and where they break
even.
"""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ownership_samples import CARD
from scaleright import market
from scaleright.costs import tokens
from scaleright.costs.break_even import rent_usd_per_year
from scaleright.costs.token_offers import paid_tokens
from scaleright.power import energy_kwh_per_year
from scaleright.quantity import evaluate
from scaleright.quantity import given as quantity

money, speeds, loads = st.floats(0.01, 100), st.floats(1, 1e5), st.floats(0.001, 1)
POWER = {
    "busy_watts": st.floats(100, 2000),
    "idle_watts": st.floats(0, 100),
    "pue": st.floats(1, 2),
    "usd_per_kwh": st.floats(0, 0.5),
}


@given(price=money, speed=speeds, load=loads)
def test_halving_the_load_doubles_the_price_of_a_token(price, speed, load):
    assert tokens.usd_per_million_tokens(price, speed, load / 2) == pytest.approx(
        2 * tokens.usd_per_million_tokens(price, speed, load)
    )


@given(price=money, speed=speeds, load=loads, count=st.floats(0, 1e9))
def test_tokens_cost_the_time_they_take(price, speed, load, count):
    by_time = price * (count / speed / 3600) / load
    assert by_time == pytest.approx(tokens.usd_per_million_tokens(price, speed, load) * count / 1e6)


@given(price=money, speed=speeds, api=money)
def test_at_the_break_even_load_rented_tokens_cost_what_the_api_asks(price, speed, api):
    load = tokens.break_even_utilization(price, speed, api)
    assume(0 < load <= 1)
    assert tokens.usd_per_million_tokens(price, speed, load) == pytest.approx(api)
    assert tokens.usd_per_full_hour(speed, api) * load == pytest.approx(price)


@given(fixed=st.floats(10, 1e5), speed=speeds, api=money, **POWER)
def test_at_the_break_even_load_owned_tokens_cost_what_the_api_asks(fixed, speed, api, **power):
    load = tokens.owned_break_even_utilization(fixed, speed, api, **power)
    assume(1e-6 < load <= 1)
    assert tokens.owned_usd_per_million_tokens(fixed, speed, load, **power).total == pytest.approx(
        api
    )


@given(fixed=st.floats(10, 1e5), speed=speeds, load=loads, **POWER)
def test_parts_of_an_owned_token_add_up_to_a_year_of_owning(fixed, speed, load, **power):
    cost = tokens.owned_usd_per_million_tokens(fixed, speed, load, **power)
    assert cost.total == pytest.approx(math.fsum(cost.parts().values()))
    millions = speed * load * 8766 * 3600 / 1e6
    energy_kwh = energy_kwh_per_year(
        24 * load, power["busy_watts"], power["idle_watts"], power["pue"]
    )
    assert cost.total * millions == pytest.approx(fixed + energy_kwh * power["usd_per_kwh"])


@given(fixed=st.floats(10, 1e5), speed=speeds, load=loads, **POWER)
def test_halving_the_load_less_than_doubles_the_price_of_an_owned_token(
    fixed, speed, load, **power
):
    """The power of working is paid by the token, so only the rest of the bill doubles."""
    full, half = (
        tokens.owned_usd_per_million_tokens(fixed, speed, share, **power)
        for share in (load, load / 2)
    )
    assert half.fixed_usd == pytest.approx(2 * full.fixed_usd)
    assert half.idle_power_usd == pytest.approx(2 * full.idle_power_usd)
    assert half.working_power_usd == pytest.approx(full.working_power_usd, abs=1e-9 * full.total)


def test_owned_tokens_agree_with_the_terms_of_ownership():
    cost = tokens.owned_usd_per_million_tokens(CARD.fixed_usd_per_year, 100.0, 0.25, **CARD.power)
    year = CARD.owned_usd_per_year(6.0).total
    assert cost.total == pytest.approx(year / (100 * 6 * 3600 * 365.25) * 1e6)
    assert cost.total == pytest.approx(
        tokens.usd_per_million_tokens(CARD.break_even_usd_per_hour(6.0), 100.0, 1.0)
    )


def test_an_api_below_the_power_of_working_is_never_beaten():
    assert (
        tokens.owned_break_even_utilization(1000.0, 1.0, 0.001, 700.0, 50.0, 1.2, 0.2) == math.inf
    )


@given(
    read=st.floats(0, 1e6),
    written=st.floats(1, 1e6),
    cached=st.floats(0, 1),
    prices=st.tuples(money, money, money),
)
def test_a_bill_adds_up_and_its_mix_is_the_bill_of_a_million_outputs(read, written, cached, prices):
    bill = tokens.request_usd(read, written, cached, *prices)
    assert bill.total == pytest.approx(math.fsum(bill.parts().values()))
    assert tokens.mix_usd_per_million(read, written, cached, *prices) == pytest.approx(
        bill.total / written * 1e6
    )


@given(read=st.floats(1, 1e6), price=money)
def test_a_cache_that_costs_what_input_costs_saves_nothing(read, price):
    with_cache, without = (
        tokens.request_usd(read, 1.0, share, price, price, price).total for share in (0.7, 0.0)
    )
    assert with_cache == pytest.approx(without)


def test_a_million_scenarios_are_one_call():
    prices, loads = np.linspace(0.1, 10, 1000)[:, None], np.linspace(0.01, 1, 1000)[None, :]
    assert tokens.usd_per_million_tokens(prices, 1000.0, loads).shape == (1000, 1000)


def test_the_full_hour_of_an_api_is_a_rent():
    """Hours of a day at which the tokens pay a rent, once as an API bill and once as a rental
    bill.
    """
    hourly = tokens.usd_per_full_hour(1000.0, 0.8)
    assert rent_usd_per_year(hourly, 24.0) == pytest.approx(0.8 * 1000 * 3600 * 8766 / 1e6)


def test_the_cheapest_host_is_the_least_of_those_that_take_the_request():
    """As each host by name; one whose context is shorter, or that says it serves fewer bits, is
    left out, and of a model that one company sells nobody knows what another would ask.
    """
    model, alone = "Llama-3.3-70B", "Llama-3.1-405B"
    hosts, offers = market.Hosts([model, alone]), market.api_prices(model)
    named = quantity("model", model), quantity("host", market.BEST)
    read, bits = quantity("read", 2000.0), quantity("bits", 0.0)
    asked = paid_tokens(hosts, *named, (read, 500.0, 0.0), bits=bits)
    kinds = (asked.input, asked.output, asked.cached)
    usd, top = (
        tokens.mix_usd_per_million(read, 500.0, 0.0, *(getattr(of, end) for of in kinds))
        for end in ("usd", "high")
    )
    short = offers.groupby("company")["context_tokens"].max().astype(float)
    narrow = offers.groupby("company")["format"].agg(lambda of: (of == "FP8").all())
    for case in ({}, {"read": 127_000.0}, {"bits": 16.0}, {"read": 90_000.0, "bits": 16.0}):
        takes = ~(short < case.get("read", 2000.0) + 500) & ~(narrow & (case.get("bits", 0) > 8))
        each = [evaluate([usd], case | {"host": of})[0] for of in takes.index[takes]]
        found, many, high = evaluate([usd, asked.many, top], case)
        assert (found, many) == (pytest.approx(min(each)), len(each)) and high > found
    assert evaluate([asked.there, asked.best], {"read": 1e10}) == [False, True]
    low, found, high = evaluate(
        [asked.output.low, asked.output.usd, asked.output.high], {"model": alone}
    )
    assert low < found < high
