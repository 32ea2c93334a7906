"""Prices of tokens and measured serving: what the importers take and leave out, and what the tables
then say.
"""

from pathlib import Path

import pytest
from offer_cases import MODELS, listed, offers, write
from paths import DATA

from refresh import RefreshError, api_prices
from refresh import measured as importer
from refresh.tables import read_table, sift

SPECS = read_table(DATA / "accelerator_specs.csv")
NO_MLPERF = {"mlperf_benchmarks": [], "mlperf_inference": []}


# offers


def test_an_offer_is_of_the_maker_a_host_a_gateway_free_or_a_subscription(tmp_path):
    found, _ = offers(
        tmp_path,
        listed("openai", "gpt-5"),
        listed("alibaba", "qwen3-8b"),
        listed("alibaba-cn", "deepseek-r1"),
        listed("groq", "llama-3.3-70b-versatile"),
        listed("openrouter", "x:free", 0, 0),
        listed("openrouter", "x"),
        listed("github-copilot", "gpt-5"),
        listed("zai-coding-plan", "glm-4.7", 0, 0),
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
    found, _ = offers(
        tmp_path,
        listed("alibaba", "qwen3-8b"),
        listed("alibaba-cn", "siliconflow/deepseek-r1-0528"),
        listed("azure-cognitive-services", "gpt-5"),
        listed("zhipuai", "glm-4.7"),
        listed("wandb", "openai/gpt-oss-20b"),
        listed("cloudflare-ai-gateway", "openai/gpt-5.5"),
        listed("cloudflare-ai-gateway", "workers-ai/@cf/openai/gpt-oss-20b"),
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
        ("qwen3-32b-fp8", "Qwen3-32B", "Qwen3-32B"),
        ("qwen3-32b-awq", "", ""),
        ("llama-3.3-nemotron-super-49b-v1", "", ""),
        ("huihui-ai/Llama-3.3-70B-Instruct-abliterated", "", ""),
    ],
)
def test_a_name_stands_for_weights_only_if_a_line_says_so(tmp_path, name, release, model):
    found, _ = offers(tmp_path, listed("novita-ai", name))
    row = found["Novita AI", name]
    assert (row["release"], row["model"], row["open_weights"]) == (
        release,
        model,
        True if release else None,
    )


def test_faults_are_left_out_with_their_reason(tmp_path):
    others = [
        listed(provider, "mistral-nemo", 0.05, 0.1) for provider in ("nebius", "kilo", "openrouter")
    ]
    found, dropped = offers(
        tmp_path,
        *others,
        listed("helicone", "mistral-nemo", 20, 40),
        listed("moark", "GLM-4.7", 3.5, 14),
        listed("azure", "o1", "", 60),
        listed("evroc", "mistral-nemo", 0.002, 0.002),
        listed("nvidia", "mistral-nemo", 0, 0),
        listed("openai", "text-embedding-3-small", 0.02, 0),
        listed("google", "veo", 1, 2, modalities_out="video"),
        listed("azure", "model-router", 0.1, 0),
        listed("amazon-bedrock", "meta.llama3-3-70b-instruct-v1:0"),
        listed("amazon-bedrock", "us.meta.llama3-3-70b-instruct-v1:0"),
        listed("amazon-bedrock", "eu.meta.llama3-3-70b-instruct-v1:0", 0.6, 1.2),
        listed("xai", "grok", 2000, 4000),
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
    found, _ = offers(
        tmp_path,
        *(
            listed("xai", name, cache_read_usd_per_mtok=price, context_tokens=0)
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
    found, _ = offers(
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
        offers(tmp_path, listed("newhost", "gpt-5"))


def test_weights_that_the_catalog_lacks_are_refused(tmp_path):
    write(tmp_path, api_prices.MODELS_DEV, listed("groq", "gpt-oss-20b"))
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
    write(raw, importer.TENSORRT_LLM, *pages)
    write(raw, importer.SILICON, *silicon)
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
    assert [row["precision"] for row in found] == ["FP8", "NVFP4", "MXFP4"]
    assert "published in MXFP4" in found[2]["note"]
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
    )
    assert "work in progress" in found[0]["note"]
    assert (
        found[1]["prefill_accelerators"],
        found[1]["decode_accelerators"],
        found[1]["accelerators"],
    ) == (48, 16, 64)
