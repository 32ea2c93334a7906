"""Prices of tokens and measured serving: what the importers take and leave out, and what the tables
then say.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright import market
from scaleright.costs.ownership import Ownership
from scaleright.costs.serving import Serving, usd_per_month, utilization_at
from scaleright.inference.measured import operating_points
from scaleright.market.tokens import PRICED
from scaleright.ranges import Range, tornado

from refresh import RefreshError, api_prices
from refresh import measured as importer
from refresh.rules import header
from refresh.tables import read_table, sift

DATA = Path(__file__).resolve().parents[1] / "data"
MODELS, SPECS = (read_table(DATA / f"{name}.csv") for name in ("models", "accelerator_specs"))
NO_MLPERF = {"mlperf_benchmarks": [], "mlperf_inference": []}


def _write(raw: Path, file: str, *rows: dict) -> None:
    path = raw / file
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, header(file), restval="")
        writer.writeheader()
        writer.writerows(rows)


# offers


def _listed(provider: str, model_id: str, read=0.5, write=1.0, **cells) -> dict:
    return {
        "provider": provider,
        "model_id": model_id,
        "input_usd_per_mtok": read,
        "output_usd_per_mtok": write,
        **cells,
    }


def _offers(raw: Path, *listed: dict, history: tuple[dict, ...] = ()) -> tuple[dict, dict]:
    """Offers by provider and name, and why rows were left out by their label."""
    _write(raw, api_prices.MODELS_DEV, *listed)
    _write(raw, api_prices.LLM_PRICES, *history)
    found, dropped = sift(api_prices.rows(raw, MODELS))
    return {(row["provider"], row["model_id"]): row for row in found}, {
        drop.row: drop.reason for drop in dropped
    }


def test_an_offer_is_of_the_maker_a_host_a_gateway_free_or_a_subscription(tmp_path):
    found, _ = _offers(
        tmp_path,
        _listed("openai", "gpt-5"),
        _listed("alibaba", "qwen3-8b"),
        _listed("alibaba-cn", "deepseek-r1"),
        _listed("groq", "llama-3.3-70b-versatile"),
        _listed("openrouter", "x:free", 0, 0),
        _listed("openrouter", "x"),
        _listed("github-copilot", "gpt-5"),
        _listed("zai-coding-plan", "glm-4.7", 0, 0),
    )
    kinds = [
        "first_party",
        "first_party",
        "reseller",
        "reseller",
        "free",
        "gateway",
        "subscription",
        "subscription",
    ]
    assert [row["offer"] for row in found.values()] == kinds


def test_sites_regions_and_plans_are_one_company_and_a_gateway_may_name_its_host(tmp_path):
    found, _ = _offers(
        tmp_path,
        _listed("alibaba", "qwen3-8b"),
        _listed("alibaba-cn", "siliconflow/deepseek-r1-0528"),
        _listed("azure-cognitive-services", "gpt-5"),
        _listed("zhipuai", "glm-4.7"),
        _listed("wandb", "openai/gpt-oss-20b"),
        _listed("cloudflare-ai-gateway", "openai/gpt-5.5"),
        _listed("cloudflare-ai-gateway", "workers-ai/@cf/openai/gpt-oss-20b"),
    )
    assert [(row["company"], row["offer"]) for row in found.values()] == [
        ("Alibaba Cloud", "first_party"),
        ("Alibaba Cloud", "gateway"),
        ("Microsoft Azure", "reseller"),
        ("Z.ai", "first_party"),
        ("Weights & Biases", "reseller"),
        ("Cloudflare", "gateway"),
        ("Cloudflare", "reseller"),
    ]


@pytest.mark.parametrize(
    "name, release, model",
    [
        ("meta-llama/Llama-3.3-70B-Instruct", "Llama-3.3-70B", "Llama-3.1-70B"),
        ("meta.llama3-1-8b-instruct-v1:0", "Llama-3.1-8B", "Llama-3.1-8B"),
        ("deepseek-ai/DeepSeek-R1-0528", "DeepSeek-R1-0528", "DeepSeek-V3"),
        ("accounts/fireworks/models/glm-5p1", "GLM-5.1", "GLM-5"),
        ("deepseek-r1-distill-llama-70b", "", ""),
        ("meta-llama/Llama-3.3-70B-Instruct-Turbo", "", ""),
        ("llama-3.3-70b-instruct-fp8-fast", "", ""),
        ("Qwen3-235B-A22B-Instruct-2507-tput", "", ""),
        ("llama-3.3-nemotron-super-49b-v1", "", ""),
        ("huihui-ai/Llama-3.3-70B-Instruct-abliterated", "", ""),
    ],
)
def test_a_name_stands_for_weights_only_if_a_line_says_so(tmp_path, name, release, model):
    found, _ = _offers(tmp_path, _listed("novita-ai", name))
    row = found["Novita AI", name]
    assert (row["release"], row["model"], row["open_weights"]) == (
        release,
        model,
        True if release else None,
    )


def test_faults_are_left_out_with_their_reason(tmp_path):
    others = [
        _listed(provider, "mistral-nemo", 0.05, 0.1)
        for provider in ("nebius", "kilo", "openrouter")
    ]
    found, dropped = _offers(
        tmp_path,
        *others,
        _listed("helicone", "mistral-nemo", 20, 40),
        _listed("moark", "GLM-4.7", 3.5, 14),
        _listed("azure", "o1", "", 60),
        _listed("evroc", "mistral-nemo", 0.002, 0.002),
        _listed("nvidia", "mistral-nemo", 0, 0),
        _listed("openai", "text-embedding-3-small", 0.02, 0),
        _listed("google", "veo", 1, 2, modalities_out="video"),
        _listed("azure", "model-router", 0.1, 0),
        _listed("amazon-bedrock", "meta.llama3-3-70b-instruct-v1:0"),
        _listed("amazon-bedrock", "us.meta.llama3-3-70b-instruct-v1:0"),
        _listed("amazon-bedrock", "eu.meta.llama3-3-70b-instruct-v1:0", 0.6, 1.2),
        _listed("xai", "grok", 2000, 4000),
    )
    for row, reason in {
        "Helicone mistral-nemo": "over 20 times what 4 others ask: a slip of units",
        "evroc mistral-nemo": "under 1/20 of",
        "Moark GLM-4.7": "yuan",
        "Azure o1": "no price",
        "OpenAI text-embedding-3-small": "makes no text",
        "google veo": "makes no text",
        "Azure model-router": "writes no text",
        "xAI grok": "above 1,000",
        "Amazon Bedrock us.meta.llama3-3-70b-instruct-v1:0": (
            "the same offer under the name of a region"
        ),
    }.items():
        assert reason in dropped[row], row
    assert ("Amazon Bedrock", "eu.meta.llama3-3-70b-instruct-v1:0") in found and len(found) == 6
    assert found["NVIDIA", "mistral-nemo"]["offer"] == "free"  # a price of 0 is no slip


def test_a_cache_price_of_zero_or_above_the_input_is_none(tmp_path):
    prices = {"a": 0, "b": 0.6, "c": 0.05}
    found, _ = _offers(
        tmp_path,
        *(
            _listed("xai", name, cache_read_usd_per_mtok=price, context_tokens=0)
            for name, price in prices.items()
        ),
    )
    assert [row.get("cache_read_usd_per_million") for row in found.values()] == [None, None, 0.05]
    assert not any("context_tokens" in row for row in found.values())


def test_days_of_the_history(tmp_path):
    price = {
        "vendor": "openai",
        "name": "GPT ≤272k",
        "input_usd_per_mtok": 2,
        "output_usd_per_mtok": 8,
    }
    spans = {
        "a": ("", ""),
        "b": ("", "2026-07-30"),
        "c": ("2026-07-30", ""),
        "d": ("", "2026-09-01"),
    }
    found, _ = _offers(
        tmp_path,
        history=tuple(
            price | {"model_id": m, "from_date": since, "to_date": until}
            for m, (since, until) in spans.items()
        ),
    )
    assert [row["date"] for row in found.values()] == [
        "2026-08-05",
        "2026-07-29",
        "2026-07-30",
        "2026-08-05",
    ]
    assert all("for prompts ≤272k tokens" in row["note"] for row in found.values())


def test_an_unknown_provider_is_no_silent_reseller(tmp_path):
    with pytest.raises(RefreshError, match="unknown provider 'newhost'; add a line for it"):
        _offers(tmp_path, _listed("newhost", "gpt-5"))


def test_weights_that_the_catalog_lacks_are_refused(tmp_path):
    _write(tmp_path, api_prices.MODELS_DEV, _listed("groq", "gpt-oss-20b"))
    with pytest.raises(RefreshError, match="'gpt-oss-20b', which is no name or alias"):
        list(api_prices.rows(tmp_path, [row for row in MODELS if row["name"] != "gpt-oss-20b"]))


# measured serving


def _page(
    model="Llama 3.3 70B",
    gpu="H100",
    n=2,
    parallelism="TP2",
    precision="FP8",
    shape=(1000, 1000),
    speed=1000.0,
    **cells,
) -> dict:
    return {
        "doc_version": "v1.0 perf-overview (commit 00f37686)",
        "model": model,
        "gpu": gpu,
        "n_gpus": n,
        "parallelism": parallelism,
        "precision": precision,
        "isl": shape[0],
        "osl": shape[1],
        "output_tok_s_total": speed * n,
        "output_tok_s_per_gpu": speed,
        **cells,
    }


def _served(raw: Path, *pages: dict, silicon: tuple[dict, ...] = ()) -> tuple[list[dict], list]:
    _write(raw, importer.TENSORRT_LLM, *pages)
    _write(raw, importer.SILICON, *silicon)
    return sift(
        importer.serving_rows(raw, {"models": MODELS, "accelerator_specs": SPECS} | NO_MLPERF)
    )


def test_layouts_are_read_and_must_fill_the_chips(tmp_path):
    pages = [
        _page(),
        _page(gpu="RTX6000Pro", n=8, parallelism="TP4,PP2", precision="FP4"),
        _page("GPT-OSS 120B", n=4, parallelism="DEP4"),
    ]
    found, _ = _served(tmp_path, *pages)
    layout = [
        [row[f"{kind}_parallel"] for kind in ("tensor", "pipeline", "expert", "attention_data")]
        for row in found
    ]
    assert layout == [[2, 1, None, None], [4, 2, None, None], [1, 1, 4, 4]]
    assert [row["precision"] for row in found] == [
        "FP8",
        "NVFP4",
        "MXFP4",
    ] and "published in MXFP4" in found[2]["note"]
    with pytest.raises(RefreshError, match="TP2 does not fill 8 chips"):
        _served(tmp_path, _page(n=8))


def test_totals_that_contradict_the_speed_of_a_chip_are_left_out(tmp_path):
    found, dropped = _served(tmp_path, _page(output_tok_s_total=1000.0))
    assert not found and "disagree" in dropped[0].reason


@pytest.mark.parametrize(
    "speed, flag",
    [
        (1000.0, ""),
        (1750.0, ""),
        (2200.0, "2.20 times the H100 SXM"),
        (800.0, "0.80 times the H100 SXM"),
    ],
)
def test_a_better_chip_is_flagged_beyond_its_lead(tmp_path, speed, flag):
    found, _ = _served(tmp_path, _page(), _page(gpu="H200", speed=speed))
    assert found[0]["note"] == "Llama 3.3 has the shape of Llama 3.1" and flag in found[1]["note"]
    assert ("anomaly" in found[1]["note"]) == bool(flag)


def test_one_measurement_under_two_names_counts_once(tmp_path):
    run = dict(
        silicon_data_source="silicon_concurrency=16; measured=2026-03-25T00:00:00Z; wip=True",
        backend="sglang",
        backend_version="0.5.9",
        system="h200_sxm",
        precision="fp8",
        mode="agg",
        isl=1024,
        osl=1024,
        batch_size=16,
        tp_size=8,
        silicon_ttft_ms=285.9,
        silicon_tpot_ms=16.6,
    )
    apart = run | dict(
        id="c",
        model_path="deepseek-ai/DeepSeek-V3",
        mode="disagg",
        silicon_tpot_ms=9.9,
        precision="fp4",
        prefill_num_workers=3,
        prefill_tp_size=16,
        decode_num_workers=2,
        decode_tp_size=8,
    )
    twins = (
        run | {"id": "a", "model_path": "deepseek-ai/DeepSeek-R1"},
        run | {"id": "b", "model_path": "deepseek-ai/DeepSeek-V3"},
    )
    found, dropped = _served(tmp_path, silicon=(*twins, apart))
    assert [drop.reason for drop in dropped] == ["the same measurement as silicon/a"]
    assert (found[0]["accelerators"], found[0]["concurrency"], found[0]["released"]) == (
        8,
        16,
        "2026-03-25",
    ) and "work in progress" in found[0]["note"]
    assert (
        found[1]["prefill_accelerators"],
        found[1]["decode_accelerators"],
        found[1]["accelerators"],
    ) == (48, 16, 64)


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
    assert (
        points[(8192, 1024)] == 1168
        and operating_points("Llama-3.1-405B", "H200")["tokens_per_s"].max() == 668.5
    )


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
    assert many - HOSTS <= set(
        paid.loc[paid["offer"] == "gateway", "provider"]
    ) and not HOSTS & set(paid.loc[paid["offer"] == "gateway", "provider"])


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


def test_open_models_with_a_price_and_a_speed():
    """What the break-even can be drawn for."""
    speeds = operating_points()["model"]  # noqa: F841, @speeds
    both = market.open_models().query("model in @speeds")
    assert len(both) >= 18 and {
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
    assert set(releases["release"]) == {"Llama-3.3-70B"} and set(releases["model"]) == {
        "Llama-3.1-70B"
    }


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
    assert one.owned_usd_per_million(terms, one.owned_break_even(terms)).total == pytest.approx(
        one.api_usd_per_million
    )
    assert one.rented_usd_per_million(load / 2) == pytest.approx(2 * one.rented_usd_per_million())


@given(st.floats(1e4, 1e12), st.sampled_from([1.0, 2.0, 8.0]))
def test_whole_groups_never_pass_the_utilization_and_none_is_spare(daily, group):
    one = _case()
    chips = one.accelerators(daily, group)
    assert chips % group == 0 and utilization_at(
        daily, one.tokens_per_s, chips
    ) <= one.utilization * (1 + 1e-8)
    assert chips == group or utilization_at(
        daily, one.tokens_per_s, chips - group
    ) > one.utilization * (1 - 1e-8)


def test_ranges_hold_the_best_estimate_and_the_largest_swing_comes_first():
    spread = {"rent_low": 0.6, "rent_high": 2.0, "speed_low": 0.8, "speed_high": 1.25}
    spread |= {
        f"{kind}_{end}": factor
        for kind in ("input", "cached", "output")
        for end, factor in (("low", 0.2), ("high", 4.0))
    }
    one = _case()
    for (low, high), best in (
        (one.break_even_interval(spread), one.break_even),
        (one.rented_interval(spread), one.rented_usd_per_million()),
    ):
        assert low < best < high
    swings = tornado(
        one.changed_break_even,
        **{name: Range(*values) for name, values in one.ends(spread).items()},
    )
    assert [swing.name for swing in swings] == ["api_level", "usd_per_hour", "speed"]
    assert one.ends(spread)["api_level"] == pytest.approx((0.2, 1.0, 4.0))


def test_a_million_scenarios_are_one_call():
    rents, loads = np.linspace(1.0, 9.0, 1000)[:, None], np.linspace(0.05, 1.0, 1000)[None, :]
    grid = usd_per_month(1e8, _case(rents, loads).rented_usd_per_million())
    assert grid.shape == (1000, 1000) and grid[0, -1] == grid.min() and grid[-1, 0] == grid.max()


@pytest.mark.parametrize("rent", [0.0, -2.0])
def test_a_rent_that_is_no_price_is_refused(rent):
    with pytest.raises(
        ValueError, match=f"usd_per_hour = {rent:g} is outside its domain, allowed: above 0"
    ):
        _case(rent).rented_usd_per_million()
