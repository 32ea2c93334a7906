"""Recomputations on what idle hardware costs and what its better use saves: utilization, pooling,
levers, margins.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from __future__ import annotations

from scaleright import transformer
from scaleright.catalog import fact
from scaleright.claims.ledger import stated_interval
from scaleright.claims.verdicts import Condition, Recomputed, looked_up, point, span

GPT4_UTILIZATION = (32.0, 36.0)
"""Utilization of GPT-4's training in Clarifai's own words [%]."""
BEFORE, AFTER, LIFE_YEARS = 20.0, 60.0, 3.0
"""Clarifai's example of better use: utilization before and after [%], and years of service instead
of one.
"""
FOUR_BITS = ("INT4", "MXFP4", "NVFP4")


def _saved(before: float, after: float) -> float:
    """Share of a bill that goes away when the same work takes so much less [%]."""
    return 100 * (1 - before / after)


def traces() -> tuple[float, float]:
    """How much of the paid time GPUs work in the idlest and in the busiest of the published cluster
    traces [%].
    """
    return fact("alibaba_gpu_utilization_2020"), 100 - fact("philly_gpu_idle_long_jobs")


def s2_inference_share() -> Recomputed:
    openai = 100 * fact("openai_inference_usd_2024") / fact("openai_compute_usd_2024")
    trains_nothing = 100.0
    return span(openai, trains_nothing)


def s2_cluster_use() -> Recomputed:
    at_work = fact("llama3_effective_training_time")
    busy = Condition(
        "time at work counted, not arithmetic done, as in the training of Llama 3", at_work, 100.0
    )
    return span(*GPT4_UTILIZATION, busy, internal=True)


def s2_quantization_saving() -> Recomputed:
    slow, fast = (_saved(1.0, faster) for faster in stated_interval("S2-speedup"))
    return span(slow, fast, Condition("the larger of its two speedups", fast), internal=True)


def s2_levers() -> Recomputed:
    before, after = stated_interval("S2-pooling-before"), stated_interval("S2-pooling-after")
    return span(_saved(before[1], after[0]), _saved(before[0], after[1]), internal=True)


RECOMPUTED = {
    "S2-pooling-before": lambda: looked_up(*traces()),
    "S2-idle": lambda: span(*(100 - busy for busy in traces())),
    "S2-shrink": lambda: span(
        *(
            transformer.bytes_per_parameter("BF16") / transformer.bytes_per_parameter(name)
            for name in FOUR_BITS
        )
    ),
    "S2-93-use": lambda: point(_saved(BEFORE, AFTER), internal=True),
    "S2-93-use-and-life": lambda: point(_saved(BEFORE, AFTER * LIFE_YEARS), internal=True),
}
