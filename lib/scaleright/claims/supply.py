"""Recomputations on the market around the chips: memory, lead times, sales, growth, surveys.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from __future__ import annotations

from math import log

from scaleright.catalog import accelerator, fact
from scaleright.claims.ledger import stated, stated_interval
from scaleright.claims.verdicts import Origin, Recomputed, looked_up, point, span
from scaleright.costs.tokens import MILLION
from scaleright.decisions.economics_stack import chip_costs
from scaleright.market import api_price, cost_factor
from scaleright.units import DAYS_PER_YEAR, MONTHS_PER_YEAR

QUOTED = {
    "S2-ddr5": ("ddr5_32gb_usd_2025_12_low", "ddr5_32gb_usd_2025_12_high"),
    "S2-multicloud": ("multicloud_share_2022",),
    "S2-xpu-growth": ("xpu_spending_growth_2026",),
    "S2-margin-start": ("ai_gross_margin_2026",),
    "S2-margin-goal": ("ai_gross_margin_2026",),
    "S3-hosted-sales": ("jasper_revenue_usd_2022",),
    "S3-hosted-value": ("jasper_valuation_usd_2022",),
    "S3-clock": ("cpu_clock_ghz_quartile_low", "cpu_clock_ghz_quartile_high"),
    "S3-software": ("vllm_over_tgi", "vllm_over_transformers"),
}
"""Claims beside which stands one published figure, or the span of two, from the reference facts."""
DAYS_PER_WEEK, GPUS_PER_SYSTEM, BYTES_PER_GB = 7, 8, 1e9
FORECAST_USD = 192.68e9
"""The market of 2034 in Clarifai's forecast [USD/year]."""
CHATGPT_DAYS = 57
"""From the first count of ChatGPT's users to the second: day 5 to day 62."""


def _months(weeks: float) -> float:
    return weeks * DAYS_PER_WEEK / DAYS_PER_YEAR * MONTHS_PER_YEAR


def s2_memory_share() -> Recomputed:
    share = fact("data_center_share_of_memory_2026")
    all_memory = Origin(
        f"all memory of data centers, ordinary servers included: {share:.0f} %"
        " (tomshardware2026memory)"
    )
    return looked_up(fact("hbm_share_of_dram_wafers_2026"), all_memory)


def s2_rack() -> Recomputed:
    chips = fact("dgx_h100_per_rack") * GPUS_PER_SYSTEM
    return span(*(chips * usd for usd in stated_interval("S2-h100-price")), internal=True)


def s2_market_2034() -> Recomputed:
    def years(of: str) -> float:
        first, second = (fact(f"nvidia_{of}_usd_{year}") for year in (2024, 2025))
        return log(FORECAST_USD / first) / log(second / first)

    return span(years("gpu"), years("data_center"))


def s2_depin_market() -> Recomputed:
    usd = fact("depin_market_usd_2028")
    every = Origin(
        f"networks of every kind, from storage to wireless, as the ${usd / 1e12:.1f} trillion were"
        " forecast (wef2025)"
    )
    return span(0.0, fact("nvidia_data_center_usd_2025"), every)


def s3_weekly_growth() -> Recomputed:
    ratio = fact("chatgpt_users_day_62") / fact("chatgpt_users_day_5")
    return span(0.0, 100 * (ratio ** (DAYS_PER_WEEK / CHATGPT_DAYS) - 1))


def _scarce() -> dict[str, float]:
    """What memory and packaging cost the maker of each chip [USD]."""
    return {name: cost["memory"] + cost["packaging"] for name, cost in chip_costs().items()}


def s2_scarcity_making() -> Recomputed:
    shares = [100 * usd / sum(chip_costs()[name].values()) for name, usd in _scarce().items()]
    return span(min(shares), max(shares))


def s2_scarcity_price() -> Recomputed:
    shares = [100 * usd / accelerator(name).purchase_mid_usd for name, usd in _scarce().items()]
    return span(min(shares), max(shares))


def s2_egress_lurks() -> Recomputed:
    """Egress of a million output tokens over what open models cost at an API [%]."""
    price = cost_factor("egress_usd_per_gb", "cloud")
    gigabytes = MILLION * stated("S3-token-characters") / BYTES_PER_GB
    asked = [api_price(name).output.best for name in ("Llama-3.1-8B", "Llama-3.3-70B")]
    return span(100 * price.low * gigabytes / max(asked), 100 * price.high * gigabytes / min(asked))


RECOMPUTED = {
    claim: lambda facts=facts: looked_up(*map(fact, facts)) for claim, facts in QUOTED.items()
} | {
    "S2-hbm-triples": lambda: point(fact("hbm_market_usd_2028") / fact("hbm_market_usd_2025")),
    "S2-lead-time": lambda: looked_up(
        fact("gpu_lead_time_months_low"), _months(fact("gpu_lead_time_weeks_high"))
    ),
    "S2-lead-time-self": lambda: point(
        stated_interval("S2-lead-time")[0] / _months(1.0), internal=True
    ),
    "S2-market-2024": lambda: looked_up(
        fact("nvidia_gpu_usd_2024"), fact("nvidia_data_center_usd_2024")
    ),
}
