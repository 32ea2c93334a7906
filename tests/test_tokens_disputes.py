"""Where lists of token prices disagree, and what a host's name says beside that of the weights."""

import pytest
from offer_cases import MODELS, listed, noted, offers, write

from refresh import api_prices
from refresh.tables import sift


@pytest.mark.parametrize(
    "host, name, shape",
    [
        ("togetherai", "meta-llama/Llama-3.3-70B-Instruct-Turbo", "FP8"),
        ("deepinfra", "meta-llama/Llama-3.3-70B-Instruct-Turbo", "FP8"),
        ("cloudflare-workers-ai", "@cf/meta/llama-3.3-70b-instruct-fp8-fast", "FP8"),
        ("stackit", "cortecs/Llama-3.3-70B-Instruct-FP8-Dynamic", "FP8"),
        ("nebius", "meta-llama/Llama-3.3-70B-Instruct", ""),
    ],
)
def test_a_host_is_not_hidden_by_the_format_in_its_name(tmp_path, host, name, shape):
    found, _ = offers(tmp_path, listed(host, name))
    (row,) = found.values()
    assert (row["release"], row["format"]) == ("Llama-3.3-70B", shape)


def test_of_two_lists_the_price_stands_that_others_ask_else_the_one_of_a_stated_day(tmp_path):
    asked = [
        listed("openai", name, 2, 8, open_weights=str(name == "open"))
        for name in ("o3", "late", "tied", "open", "same")
    ]
    others = [listed("azure", "o3", 2, 8), listed("openrouter", "openai/late", 3, 12)]
    hosts = [listed("groq", "open", 3, 12), listed("nebius", "open", 3, 12)]
    found, dropped = offers(
        tmp_path,
        *asked,
        *others,
        *hosts,
        history=tuple(
            noted(name, *price)
            for name, price in {
                "o3": (10, 40),
                "late": (3, 12),
                "tied": (3, 12),
                "open": (3, 12),  # what hosts of open weights ask says nothing of the maker's
                "same": (2, 8.01),
            }.items()
        ),
    )
    stands = {
        name: row["input_usd_per_million"] for (by, name), row in found.items() if by == "OpenAI"
    }
    assert stands == {"o3": 2, "late": 3, "tied": 2, "open": 2, "same": 2}
    assert (
        dropped["OpenAI o3 (llmprices2026)"]
        == "input 2, output 8 of modelsdev2026 stands against input 10, output 40: 1 other"
        " company asks this price, 0 that of llmprices2026"
    )
    assert "says of which day it is" in dropped["OpenAI tied (llmprices2026)"]
    assert "stands against input 2" in found["OpenAI", "late"]["note"]


def test_a_price_ends_where_one_of_a_later_day_begins(tmp_path):
    write(tmp_path, api_prices.MODELS_DEV, listed("openai", "a", 2, 8))
    write(
        tmp_path,
        api_prices.LLM_PRICES,
        noted("a", 3, 12, from_date="2025-02-08"),
        noted("a", 1, 4, from_date="2026-07-30"),
    )
    found, _ = sift(api_prices.rows(tmp_path, MODELS))
    assert sorted((row["date"], row["until"]) for row in found) == [
        ("2025-02-08", "2026-07-02"),
        ("2026-07-02", "2026-07-30"),
        ("2026-07-30", ""),
    ]
