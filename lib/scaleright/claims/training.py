"""Recomputations on the time of training: one chip against a cluster, and twice the chips.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim. Predicted times carry the error of the step model.
"""

from collections.abc import Mapping
from typing import Any

from scaleright.catalog import fact, table
from scaleright.claims.errors import Error, of_ratio, widened
from scaleright.claims.verdicts import Condition, Recomputed, span
from scaleright.costs.platforms import best_step, goodput
from scaleright.costs.pretraining import (
    STEP_PARTS,
    reliability,
    run_chip_hours,
    run_days,
)
from scaleright.costs.whole_runs import whole_runs
from scaleright.mlperf import strong_scaling
from scaleright.units import HOURS_PER_DAY

CHIP, MODEL, SEQUENCE, BATCH = "H200 SXM", "Llama-2-7B", 4096, 1024
"""A chip that holds the training state of a 7B model alone, so that there is a single card to
compare with.
"""
GPT3, GPT3_CHIPS, GPT3_SEQUENCE, GPT3_BATCH = "GPT-3 175B", 1024, 2048, 1536


def _error(step: Mapping[str, Any]) -> Error:
    return step["error_low"], step["error_high"]


def _speedup(chips: int) -> tuple[float, float]:
    """How many times faster so many chips are than one; no published pair lies so far apart that
    their errors could be taken for one.
    """
    alone, together = (best_step(MODEL, CHIP, size, SEQUENCE, BATCH) for size in (1, chips))
    error = of_ratio(_error(alone), _error(together))
    return widened([alone["step_s"] / together["step_s"]], error)


def s2_50x() -> Recomputed:
    return span(*_speedup(1024), Condition("clusters of 32", *_speedup(32)))


def s2_six_months() -> Recomputed:
    return span(*_speedup(1024))


def s2_gpt3_weeks() -> Recomputed:
    step = best_step(GPT3, "A100 SXM 80GB", GPT3_CHIPS, GPT3_SEQUENCE, GPT3_BATCH)
    parts, kept = {name: step[name] for name in STEP_PARTS}, goodput(GPT3_CHIPS, **reliability())
    tokens, whole = fact("gpt3_training_tokens"), whole_runs()
    hours = run_chip_hours(
        tokens, GPT3_BATCH * GPT3_SEQUENCE, GPT3_CHIPS, **parts, goodput=kept, **whole.factors
    )
    published = table("measured/footprint").set_index("run").loc["patterson-2021/GPT-3"]
    return span(
        *widened([run_days(hours.total, GPT3_CHIPS)], (whole.low, whole.high)),
        published["accelerator_hours"] / published["accelerators"] / HOURS_PER_DAY,
    )


def s2_doubling() -> Recomputed:
    pairs = strong_scaling()
    pairs = pairs[pairs["chips_large"] == 2 * pairs["chips"]]
    return span(*(100 * (pairs["minutes_large"] / pairs["minutes"]).quantile([0.25, 0.75])))
