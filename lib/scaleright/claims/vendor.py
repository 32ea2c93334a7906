"""Recomputations of Token Cost Analysis, a vendor's answer on the price of experiments, and of what
Clarifai and Andreessen Horowitz say on how models are served.

The lead of one system over another is that of `vendor_claims.model`: a ratio of two curves
over the speed that a user sees. What each one computes, from which inputs, and why it differs
stands in `data/claims.csv` beside the claim.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from scaleright.catalog import accelerator, fact, model, table
from scaleright.chapters.vendor_claims.model import (
    RACK_CHIPS,
    advantage,
    best_rate,
    lead,
    lead_errors,
    measured_points,
    published_use,
    returns,
    serving_points,
)
from scaleright.claims.errors import widened
from scaleright.claims.utilization import traces
from scaleright.claims.verdicts import Condition, Origin, Recomputed, point, span
from scaleright.costs.break_even import installed_usd
from scaleright.costs.ownership import Ownership
from scaleright.costs.tokens import mix_usd_per_million
from scaleright.inference.deployment import Deployment
from scaleright.inference.memory import largest_batch, serving_memory
from scaleright.market import api_price, cost_factor
from scaleright.transformer import decode_step
from scaleright.units import SECONDS_PER_YEAR

SERVED, ANNOUNCED = "gpt-oss-120b", "DeepSeek-V3"
"""The model that Token Cost Analysis names, and the shape of the one that the announcements behind
it measured (DeepSeek-R1).
"""
ULTRA, RACK, HOPPER = "GB300", "GB200", ("H100 SXM", "H200 SXM")
SHORT, LONG_PROMPT = (1024, 1024), (8192, 1024)
SPEEDS = np.array([10.0, 20, 30, 40, 50, 60, 75, 100, 125, 150, 175, 200, 250, 300])
"""Tokens per second that a user sees: all that the chapter examines, up to where Hopper ends."""
TENSOR = 8


def _ratios(
    points: pd.DataFrame, new: str, use: str, speeds: np.ndarray, olds: tuple[str, ...] = HOPPER
) -> list[float]:
    """A chip over older ones for the same dollars or kilowatts, at each speed that both reach; the
    dollars are those of a GB300.
    """
    ratios = {old: lead(points, new, old, speeds) for old in olds}
    uses = {chip: published_use(chip)[use] for chip in (ULTRA, *olds)}
    return [
        float(advantage(ratio, uses[ULTRA], uses[old]))
        for old in olds
        for ratio in ratios[old]
        if np.isfinite(ratio) and ratio > 0
    ]


def _claimed_lead(use: str) -> Recomputed:
    modeled, measured = serving_points(SERVED, *SHORT), measured_points(SERVED, *SHORT)
    published = measured_points(ANNOUNCED, *SHORT)
    speed = published["interactivity"][published["accelerator"] == ULTRA].min()
    on_r1 = [
        _ratios(
            published[(published["accelerator"] != ULTRA) | (published["precision"] == form)],
            ULTRA,
            use,
            np.array([speed]),
            HOPPER[:1],
        )
        for form in ("FP8", "NVFP4")
    ]
    words = (
        f"DeepSeek-R1, a GB300 over an H100 at {speed:.0f} tokens/s per user, in FP8 on both or in"
        " FP4 against FP8"
    )
    errors = lead_errors()
    return span(
        *widened(_ratios(modeled, ULTRA, use, SPEEDS), (errors.low, errors.high)),
        *_ratios(measured, RACK, use, SPEEDS[SPEEDS >= 75.0]),
        Condition(words, *map(min, on_r1)),
        Origin("DeepSeek-R1, in NVIDIA's own figures"),
    )


def _rack_usd(end: str, chip_usd: float) -> float:
    shares = sum(
        getattr(cost_factor(f"{part}_share_of_price", "data center"), end)
        for part in ("server", "network")
    )
    return RACK_CHIPS * installed_usd(chip_usd, shares)


def s0_5m() -> Recomputed:
    return span(
        *(
            _rack_usd(end, usd)
            for end, usd in zip(
                ("low", "high"), accelerator(RACK).require("purchase_usd"), strict=True
            )
        )
    )


def _sold(utilization: float) -> float:
    """What a rack's tokens sell for in the time of the vendor's example, for its prompts of 8K and
    answers of 1K.
    """
    points, price = measured_points(SERVED, *LONG_PROMPT), api_price(SERVED)
    rate = RACK_CHIPS * best_rate(points[points["accelerator"] == RACK], 50.0)
    mix = mix_usd_per_million(
        *LONG_PROMPT, 0.0, price.input.best, price.output.best, price.cache_read.best
    )
    return float(returns(1.0, rate, mix, fact("nvl72_claimed_years"), utilization).sales_usd)


def s0_75m() -> Recomputed:
    full = Condition("every hour of three years sold, at today's median price", _sold(1.0))
    return span(*(_sold(busy / 100) for busy in traces()), full)


def s0_75m_independent() -> Recomputed:
    """Three years of the independent benchmark's speed of a rack at the price of today."""
    full = Condition("every hour of three years sold, which no benchmark measures", _sold(1.0))
    return span(*(_sold(busy / 100) for busy in traces()), full)


def s0_15x() -> Recomputed:
    sales, investment = fact("nvl72_claimed_revenue_usd"), fact("nvl72_claimed_investment_usd")
    years = fact("nvl72_claimed_years")
    owned = Ownership.typical(RACK, "data center")
    running = RACK_CHIPS * owned.running_usd_per_year(24.0)
    bills = [
        returns(investment, 1.0, 1e6 * sales / (years * SECONDS_PER_YEAR), years, 1.0, each)
        for each in (0.0, running)
    ]
    return span(
        *(bill.return_on_investment for bill in bills),
        Condition("revenue called return", bills[0].multiple),
    )


def five_fold() -> Recomputed:
    rows = table("measured/serving").query(
        "model == @SERVED and accelerator == @RACK and source == 'tensorrtllm2025'"
    )
    later = RACK_CHIPS * rows["measured_output_tokens_per_s_per_accelerator"].max()
    prices = [fact(f"vendor_gptoss_b200_{when}_usd_per_million") for when in ("launch", "later")]
    two = Origin(f"its maker's ${prices[0]:.2f} and ${prices[1]:.2f}, at one speed per user")
    return point(later / fact("vendor_gptoss_nvl72_launch_tokens_per_s"), two)


def s2_one_gpu_latency() -> Recomputed:
    rows = table("measured/serving").query("source == 'inferencemax2026' and tensor_parallel == 1")
    short, long = rows["input_tokens"] <= SHORT[0], rows["input_tokens"] > SHORT[0]
    waits = 1e3 * rows["measured_ttft_s"]
    return span(*waits[short], Condition("prompts of 8K", waits[long].min(), waits[long].max()))


def s3_memory_bound() -> Recomputed:
    chip, shape = accelerator("A100 SXM 80GB"), model("GPT-3 175B")
    steps = (
        decode_step(
            shape,
            1024,
            batch,
            "FP16",
            8,
            chip.peak_flops("fp16"),
            chip.require("memory_bytes_per_s"),
            1.0,
            1.0,
        )
        for batch in (1, 16, 64)
    )
    full = decode_step(
        shape,
        1,
        512,
        "FP16",
        8,
        chip.peak_flops("fp16"),
        chip.require("memory_bytes_per_s"),
        1.0,
        1.0,
    )
    return span(
        *(step.memory_s / step.compute_s for step in steps),
        Condition("hundreds of short requests at once", full.memory_s / full.compute_s),
    )


def s3_inference_memory() -> Recomputed:
    engines = [
        Deployment(model("Llama-3.1-70B"), accelerator(chip), "BF16", tensor=TENSOR)
        for chip in HOPPER
    ]
    tokens = sum(SHORT)
    full, one = (
        [serving_memory(d, batch, tokens) for d, batch in zip(engines, batches, strict=True)]
        for batches in ([largest_batch(d, tokens) for d in engines], (1, 1))
    )
    share = lambda held: 100 * float(held.weights_bytes / (held.weights_bytes + held.kv_bytes))
    return span(
        *map(share, full), Condition("one short request at a time", *sorted(map(share, one)))
    )


RECOMPUTED = {
    "S0-35x": lambda: _claimed_lead("usd"),
    "S0-50x": lambda: _claimed_lead("kw"),
    **dict.fromkeys(("S0-5x", "S1-5x-software"), five_fold),
}
