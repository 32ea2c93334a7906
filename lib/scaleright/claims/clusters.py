"""Recomputations on the utilization of large clusters.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from types import SimpleNamespace

from scaleright.catalog import accelerator, fact, shared
from scaleright.chapters.cluster_efficiency.model import Curve
from scaleright.claims.errors import Error, inverse, of_two_steps, widened
from scaleright.claims.verdicts import Condition, Recomputed, looked_up, point, span
from scaleright.costs.cluster_grid import MODELS, Grid
from scaleright.costs.platforms import FREE
from scaleright.costs.pretraining import reliability
from scaleright.costs.whole_runs import TYPICAL
from scaleright.decisions.cluster_efficiency import Efficiency
from scaleright.quantity import given
from scaleright.training.goodput import best_checkpoint_interval_s, useful_share
from scaleright.units import HOURS_PER_DAY, SECONDS_PER_HOUR

GPT4_GPUS = 25_000
"""GPUs that trained GPT-4, by Clarifai."""
JOB_CHIPS, NODE_CHIPS, DAYS = 1024.0, 8.0, 7.0
"""Chips of a job of a week, and of one node."""
TOKENS = 15e12
"""Tokens of a run of today [token]."""


def _gpt4(gpus: float) -> tuple[float, float]:
    """Share of the dense peak that an estimate of GPT-4's arithmetic is of so many A100 [%]."""
    peak = accelerator("A100 SXM 80GB").peak_flops("bf16")
    seconds = SECONDS_PER_HOUR * HOURS_PER_DAY
    days = [fact(f"gpt4_training_days_{end}") for end in ("high", "low")]
    low, high = (100 * fact("gpt4_training_flop") / (gpus * peak * seconds * of) for of in days)
    return low, high


def s2_gpt4_utilization() -> Recomputed:
    later = fact("gpt4_training_gpus_later")
    fewer = Condition("20,000 GPUs, as the same analyst says later", *_gpt4(later))
    return looked_up(*_gpt4(GPT4_GPUS), fewer)


@shared
def _curves() -> tuple[tuple[float, float], ...]:
    """At the fewest chips and at the most, the share of the peak over the highest, of several
    models on the H100 [%].
    """
    values = {
        "accelerator": "H100 SXM",
        "tokens": TOKENS,
        "batch": FREE,
        "precision": "BF16",
        "tuning": TYPICAL,
        "deadline_days": 1e9,
        "value_usd_per_day": 0.0,
        "paid": "rent",
        "contract": "on demand",
        "seller": "median",
        "rent_usd_per_hour": 1.0,
        "checkpoint_minutes": 0.0,
        "law": "Zhang 2024",
        "critical_batch": 0.0,
        "shared_load": 0.0,
        "shared_chips": 1e6,
        "job_days": 1.0,
        **reliability(),
    }
    grid, found = Grid.of(MODELS, ("BF16",)), []
    for name in MODELS:
        case = {key: given(key, value) for key, value in (values | {"model": name}).items()}
        curve = Curve.of(Efficiency.of(SimpleNamespace(**case), grid))
        top = curve.top.value
        found.append((100 * curve.at_first.value / top, 100 * curve.at_last.value / top))
    return tuple(found)


def _error() -> Error:
    """Of the ratio of two predicted speeds on two numbers of chips."""
    return inverse(of_two_steps("number of chips"))


def s2_curve_rises() -> Recomputed:
    found = widened((first for first, _ in _curves()), _error())
    return span(*(min(of, 100.0) for of in found))


def s2_curve_falls() -> Recomputed:
    return span(*widened((last for _, last in _curves()), _error()))


def s2_checkpoints() -> Recomputed:
    """Share of the time of a week on 1,024 chips that is kept with checkpoints over that without
    any [times].
    """
    terms = reliability()
    mtbf_s = terms["chip_hours_per_interruption"] / JOB_CHIPS * SECONDS_PER_HOUR
    times = terms["checkpoint_stall_s"], terms["restart_s"], mtbf_s
    best = best_checkpoint_interval_s(terms["checkpoint_stall_s"], mtbf_s)
    week = DAYS * HOURS_PER_DAY * SECONDS_PER_HOUR
    few = reliability()["chip_hours_per_interruption"] / NODE_CHIPS * SECONDS_PER_HOUR
    node = [useful_share(of, *times[:2], few) for of in (best, week)]
    kept = [useful_share(of, *times) for of in (best, week)]
    return point(kept[0] / kept[1], Condition("one node of eight", node[0] / node[1]))
