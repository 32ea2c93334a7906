"""Recomputations that compare hardware: generations, mid-tier cards, bits, and what the same work
costs on each.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from __future__ import annotations

from statistics import median

import pandas as pd

from scaleright.catalog import accelerator, fact, table
from scaleright.claims.ledger import stated
from scaleright.claims.rents import A100S, END_OF_2023, S3_DAY, clouds
from scaleright.claims.s3 import difference_usd, training_usd
from scaleright.claims.verdicts import Condition, Origin, Recomputed, looked_up, point, span
from scaleright.costs.price_performance import (
    usd_per_gb_hour,
    usd_per_pflop_hour,
    usd_per_tb_per_s_hour,
)
from scaleright.market import hour, rental_prices
from scaleright.units import DAYS_PER_YEAR, MONTHS_PER_YEAR

A100, H100, H200 = "A100 SXM 80GB", "H100 SXM", "H200 SXM"
TPUS = ("TPU v4", "TPU v5e", "TPU v7")
"""Those whose power is known."""
END_OF_2026 = "2026-12-31"


def _rates(name: str, usd_per_hour: float) -> tuple[float, float, float]:
    """Price of a chip by what it buys: per PFLOP/s, per TB/s, per GB, all for an hour."""
    chip = accelerator(name)
    return (
        usd_per_pflop_hour(usd_per_hour, chip.peak_flops("fp16")),
        usd_per_tb_per_s_hour(usd_per_hour, chip.require("memory_bytes_per_s")),
        usd_per_gb_hour(usd_per_hour, chip.require("memory_bytes")),
    )


def _ratios(dear: tuple[str, float], cheap: tuple[str, float]) -> list[float]:
    """How many times the other one chip costs, by arithmetic, bandwidth and memory; each a name and
    its USD/h.
    """
    return [first / second for first, second in zip(_rates(*dear), _rates(*cheap), strict=True)]


def _growth(name: str, before: str) -> list[float]:
    new, old = accelerator(name), accelerator(before)
    return [
        new.peak_flops("fp16") / old.peak_flops("fp16"),
        new.require("memory_bytes_per_s") / old.require("memory_bytes_per_s"),
    ]


def s2_mi400_4x() -> Recomputed:
    return span(
        fact("mi400_over_mi350_compute"),
        fact("mi400_memory_bytes_per_s") / accelerator("MI355X").require("memory_bytes_per_s"),
    )


def s2_h200_new() -> Recomputed:
    listed = rental_prices(H200)["date"].min()
    return point((pd.Timestamp(END_OF_2026) - listed).days / DAYS_PER_YEAR * MONTHS_PER_YEAR)


def _mid_tier(name: str) -> Recomputed:
    """At the prices of the last day on which anyone listed the small card."""
    day = rental_prices(name)["date"].max().date()
    arithmetic, bandwidth, memory = (
        100 * ratio
        for ratio in _ratios((H100, hour(H100, day=day).usd), (name, hour(name, day=day).usd))
    )
    return span(
        arithmetic,
        bandwidth,
        Condition("a model that only has to be held in memory: price per GB", memory),
    )


def _aws(name: str) -> float:
    """What AWS asked for an hour of a chip when Andreessen Horowitz wrote [USD/h]."""
    return hour(name, seller="AWS", day=S3_DAY).usd


def s3_a10_price() -> Recomputed:
    return point(_aws("A100 SXM 40GB") / _aws("A10G"))


def _clouds_with_both() -> list[list[float]]:
    """H100 over A100 by what a dollar buys, at every cloud that listed both in 2023."""
    h100, a100 = (clouds(name, END_OF_2023) for name in (H100, A100))
    return [
        _ratios((H100, h100[name]), (A100, a100[name]))
        for name in h100.index.intersection(a100.index)
    ]


def _speedup(name: str, precision: str) -> float:
    dense = accelerator(name).dense
    return dense[precision] / dense["fp16"]


def s3_int4() -> Recomputed:
    return point(
        _speedup(H100, "int8"),
        Condition(
            "the A100 and older cards, whose tensor cores still had INT4", _speedup(A100, "int4")
        ),
    )


def s3_train_usd_low() -> Recomputed:
    usd = fact("mosaic_gpt3_quality_usd")
    smaller = Origin(f"a 30B model, trained until it is as good: ${usd:,.0f}")
    cheapest = min(clouds(name, S3_DAY).min() for name in A100S)
    return point(training_usd(cheapest, fact("gpt3_size_mfu_a100")), smaller)


def s3_power_doubles() -> Recomputed:
    ratio = difference_usd() / stated("S3-3080ti-price")
    read = Origin(f"'nearly doubles', of one card with the power of two: {1 + ratio:.2f} times")
    return point(ratio, read, internal=True)


def _flop_per_joule(name: str) -> float:
    """Peak arithmetic of a chip over its power."""
    chip = accelerator(name)
    return chip.peak_flops("bf16") / chip.require("tdp_watts")


def _supported(platform: str) -> float:
    """Libraries and frameworks that support a platform in their main release [%]."""
    rows = table("hardware_maturity")
    values = rows.loc[rows["platform"] == platform, "value"]
    return 100 * float((values == "yes").mean())


def _dearer(name: str, contract: str = "on demand") -> list[float]:
    """What another maker's chip costs over an H100 by arithmetic, bandwidth and memory [%]."""
    other, own = (
        (
            usd_per_pflop_hour(usd, chip.peak_flops("bf16")),
            usd_per_tb_per_s_hour(usd, chip.require("memory_bytes_per_s")),
            usd_per_gb_hour(usd, chip.require("memory_bytes")),
        )
        for chip, usd in ((accelerator(of), hour(of, contract).usd) for of in (name, H100))
    )
    return [100 * first / second for first, second in zip(other, own, strict=True)]


RECOMPUTED = {
    "S2-tpu-efficiency": lambda: span(
        *(100 * _flop_per_joule(name) / _flop_per_joule(H100) for name in TPUS)
    ),
    "S2-tpu-maturity": lambda: point(_supported("Google TPU")),
    "S2-gpu-maturity": lambda: span(*map(_supported, ("NVIDIA CUDA", "AMD ROCm", "Intel XPU"))),
    "S2-mi300x": lambda: span(*_dearer("MI300X")),
    "S2-tpu-cost": lambda: span(
        *_dearer("TPU v6e", "one year"), *_dearer("TPU v6e", "three years")
    ),
    "S2-h200-4x": lambda: span(*_growth(H200, H100)),
    "S2-a10g-value": lambda: _mid_tier("A10G"),
    "S2-t4-value": lambda: _mid_tier("T4"),
    "S3-a10-work": lambda: span(
        *_ratios(("A100 SXM 40GB", _aws("A100 SXM 40GB")), ("A10G", _aws("A10G")))[:2]
    ),
    "S3-h100-training": lambda: point(100 * median(ratios[0] for ratios in _clouds_with_both())),
    "S3-h100-generation": lambda: point(100 * median(ratios[1] for ratios in _clouds_with_both())),
    "S3-int8": lambda: span(*(_speedup(name, "int8") for name in (A100, H100))),
    "S3-int2": lambda: span(_speedup(H100, "int8"), _speedup(A100, "int4")),
    "S3-3080ti-price": lambda: looked_up(*accelerator("RTX 3080 Ti").require("purchase_usd")),
}
