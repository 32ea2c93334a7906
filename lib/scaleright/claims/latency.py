"""Recomputations on the latency of models large and small, on one chip and on several, with the
error of the serving model.
"""

from scaleright.catalog import accelerator, model
from scaleright.claims.errors import (
    of_first_token,
    of_first_token_by_chips,
    of_ratio,
    widened,
)
from scaleright.claims.verdicts import Recomputed, span
from scaleright.inference.deployment import Deployment
from scaleright.inference.lengths import Load
from scaleright.inference.serving import OperatingPoint, steady
from scaleright.inference.slowdowns import interval

_CHAT = Load(2000, 500)


def _served(name: str, chips: int, requests: float) -> OperatingPoint:
    """So many requests at once on H100 that share a model in FP8."""
    return steady(
        Deployment(
            model(name), accelerator("H100 SXM"), "FP8", tensor=chips, software="vLLM 0.11.1"
        ),
        _CHAT,
        requests,
    )


def s2_300ms_large() -> Recomputed:
    waits = (
        1e3 * _served(name, 8, requests).ttft_s
        for name in ("Llama-3.1-70B", "Llama-3.1-405B")
        for requests in (1.0, 16.0)
    )
    return span(*widened(waits, of_first_token()))


def s2_300ms_several() -> Recomputed:
    ratios = (
        _served(name, 8, 16.0).ttft_s / _served(name, least, 16.0).ttft_s
        for name, least in (("Llama-3.1-8B", 1), ("Llama-3.1-70B", 2))
    )
    return span(*widened(ratios, of_first_token_by_chips()))


def s2_small_latency() -> Recomputed:
    pairs = [
        [_served(name, 8, requests) for name in ("Llama-3.1-8B", "Llama-3.1-70B")]
        for requests in (1.0, 16.0, 64.0)
    ]
    error = of_ratio(*(interval(point.deployment, "TPOT") for point in pairs[0]))
    return span(*widened((100 * small.tpot_s / large.tpot_s for small, large in pairs), error))
