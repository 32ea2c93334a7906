"""Prices of tokens in the committed tables, and one's own cost beside them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright import market
from scaleright.costs.ownership import Ownership
from scaleright.costs.serving import Serving, usd_per_month
from scaleright.costs.tokens import owned_break_even_utilization
from scaleright.inference.measured import operating_points
from scaleright.market.tokens import PRICED

# the tables


def test_figures_of_the_raw_lists():
    prices = market.api_prices().set_index(["provider", "model_id"])
    assert prices.loc[("OpenAI", "gpt-5"), "output_usd_per_million"] == 10.0
    assert prices.loc[
        ("Groq", "llama-3.3-70b-versatile"), ["input_usd_per_million", "output_usd_per_million"]
    ].tolist() == [0.59, 0.79]
    assert prices.loc[("Together AI", "deepseek-ai/DeepSeek-R1"), "output_usd_per_million"] == 7.0
    points = operating_points("DeepSeek-R1", "B200").set_index(["input_tokens", "output_tokens"])[
        "tokens_per_s"
    ]
    assert points[(8192, 1024)] == 1168
    assert operating_points("Llama-3.1-405B", "H200")["tokens_per_s"].max() == 668.5


MAKERS = (
    r"(?P<openai>^(?:openai[.-])?(?:gpt-(?!oss)[345]|o[134](?:-|$)))|(?P<anthropic>claude)"
    r"|(?P<google>gemini)|(?P<xai>grok)"
)
HOSTS = {"Amazon Bedrock", "Azure", "NEAR AI", "Venice"}
"""Documented hosts of open weights that sell closed models of three makers too: two licensed
clouds, and two that say which they pass on.
"""


def test_who_sells_closed_models_of_three_makers_is_a_gateway():
    paid = market.api_prices(offers=PRICED)
    sold = (
        paid["model_id"]
        .str.lower()
        .str.rpartition("/")[2]
        .str.extract(MAKERS)
        .notna()
        .groupby(paid["provider"])
        .any()
        .sum(axis=1)
    )
    many = set(sold.index[sold >= 3])
    assert many > HOSTS and {"OpenRouter", "Kilo", "302.AI", "ZenMux"} < many
    assert many - HOSTS <= set(paid.loc[paid["offer"] == "gateway", "provider"])
    assert not HOSTS & set(paid.loc[paid["offer"] == "gateway", "provider"])


def test_a_company_counts_once_and_a_gateway_not_at_all():
    """Qwen3-14B by hand: SiliconFlow at one price on two sites, Alibaba at two; four gateways pass
    such prices on.
    """
    price = market.api_price("Qwen3-14B")
    assert (price.companies, price.input.low, price.output.low) == (2, 0.07, 0.28)
    assert (price.input.best, price.output.best) == pytest.approx(
        ((0.07 + (0.35 + 0.144) / 2) / 2, (0.28 + (1.4 + 0.574) / 2) / 2)
    )
    listed = market.api_prices("Qwen3-14B", PRICED)
    assert set(listed.loc[listed["offer"] == "gateway", "provider"]) == {
        "Kilo",
        "NanoGPT",
        "OpenRouter",
        "Vercel",
    }
    assert market.open_models().set_index("release").loc["Qwen3-14B", "companies"] == 2


def test_each_kind_of_token_has_the_price_of_its_own_column():
    """Where a company offers a model once: what the table has is what it asks."""
    seen = 0
    for name, offers in market.api_prices().groupby("release"):
        once = offers.drop_duplicates("company", keep=False).query("offer != 'gateway'")
        for row in once.itertuples():
            price, asked = market.api_price(name, row.company), row.input_usd_per_million
            assert (price.input.best, price.output.best) == (asked, row.output_usd_per_million)
            cached = row.cache_read_usd_per_million
            assert price.cache_read.best == (asked if np.isnan(cached) else cached)
            seen += asked != row.output_usd_per_million
    assert seen > 100


def test_open_models_with_a_price_and_a_speed():
    """What the break-even can be drawn for."""
    speeds = operating_points()["model"]  # noqa: F841, @speeds
    both = market.open_models().query("model in @speeds")
    assert len(both) >= 18
    assert {
        "Llama-3.3-70B",
        "Llama-3.1-8B",
        "gpt-oss-120b",
        "DeepSeek-R1-0528",
        "Llama-4-Maverick",
    } <= set(both["release"])


def test_releases_of_one_shape_have_prices_of_their_own():
    old, new = (market.api_price(name) for name in ("DeepSeek-R1", "DeepSeek-V3.1"))
    assert old.output.best != new.output.best
    releases = market.api_prices("Llama-3.3-70B")
    assert set(releases["release"]) == {"Llama-3.3-70B"}
    assert set(releases["model"]) == {"Llama-3.1-70B"}


def test_prices_follow_the_day():
    """Anthropic's announced price holds from its own day, GPT-5.6 Terra's cut from the 30th of
    July.
    """

    def output(model: str, day: str) -> float:
        prices = (
            market.api_prices(day=day)
            .query("source == 'llmprices2026'")
            .set_index("model_id")["output_usd_per_million"]
        )
        return prices[model]

    assert (output("claude-sonnet-5", "2026-08-31"), output("claude-sonnet-5", "2026-09-01")) == (
        10.0,
        15.0,
    )
    assert (output("gpt-5.6-terra", "2026-07-29"), output("gpt-5.6-terra", "2026-07-30")) == (
        15.0,
        12.0,
    )


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: market.api_price("Llama-3.3-70B-Instruct"), "nearest: Llama-3.3-70B"),
        (lambda: market.api_prices(offers=("fre",)), "unknown kind of offer 'fre'; nearest: free"),
        (lambda: market.api_prices(day="2126-01-01"), "lies in the future"),
        (lambda: market.api_prices(day="last May"), "'last May' is no date"),
        (lambda: market.api_prices(day="2023-01-01"), "lies before the first price"),
        (
            lambda: market.api_price("Kimi-K2", day="2025-03-01"),
            "no paid offer of 'Kimi-K2' on 2025-03-01",
        ),
        (lambda: market.api_price("Mistral-Large-2"), "gateways pass on that of a host"),
        (lambda: operating_points("GPT-2"), "unknown model with measured throughput 'GPT-2'"),
        (
            lambda: operating_points("Llama-3.1-8B", "B200"),
            "nobody measured the throughput of Llama-3.1-8B on B200",
        ),
        (
            lambda: operating_points("Kimi-K2.5"),
            "unknown model with measured throughput 'Kimi-K2.5'",
        ),
        (
            lambda: operating_points("DeepSeek-V3", "H100"),
            (
                "nobody measured the throughput of DeepSeek-V3 on H100; measured on: B200, GB200,"
                " H200 SXM"
            ),
        ),
        (lambda: operating_points("Llama-3.3-70B", "H10"), "unknown accelerator 'H10'; nearest"),
    ],
)
def test_what_is_unknown_is_named_with_what_is_near(call, message):
    with pytest.raises((LookupError, ValueError), match=message):
        call()


# one's own cost beside an API

positive, shares = st.floats(0.05, 50.0), st.floats(0.01, 1.0)


def _case(rent=4.0, load=0.4, cached=0.0, speed=1.0) -> Serving:
    return Serving(566.0, 0.4, rent, load, 2000.0, 500.0, cached, 0.6, 0.3, 0.72, speed)


@given(rent=positive, load=shares, cached=st.floats(0.0, 0.95), speed=st.floats(0.1, 2.0))
def test_own_prices_by_kind_add_up_to_the_whole(rent, load, cached, speed):
    one = _case(rent, load, cached, speed)
    whole = one.rented_usd_per_million()
    assert one.bill(whole).total * 1e6 / 500 == pytest.approx(whole, rel=1e-9)
    assert one.bill().total * 1e6 / 500 == pytest.approx(one.api_usd_per_million, rel=1e-9)


@given(rent=positive, load=shares)
def test_at_the_break_even_both_cost_the_same(rent, load):
    one, terms = _case(rent, load), Ownership.typical("H100 SXM", "data center")
    if one.break_even <= 1:
        assert one.rented_usd_per_million(one.break_even) == pytest.approx(one.api_usd_per_million)
    of_owning = terms.fixed_usd_per_year, one.tokens_per_s, one.api_usd_per_million
    even = owned_break_even_utilization(*of_owning, **terms.power)
    assert one.owned_usd_per_million(terms, even).total == pytest.approx(one.api_usd_per_million)
    assert one.rented_usd_per_million(load / 2) == pytest.approx(2 * one.rented_usd_per_million())


def test_a_million_scenarios_are_one_call():
    rents, loads = np.linspace(1.0, 9.0, 1000)[:, None], np.linspace(0.05, 1.0, 1000)[None, :]
    grid = usd_per_month(1e8, _case(rents, loads).rented_usd_per_million())
    assert grid.shape == (1000, 1000) and grid[0, -1] == grid.min() and grid[-1, 0] == grid.max()
