"""Recomputations on the latency of models large and small, on one chip and on several, with the
error of the serving model.
"""

from scaleright.catalog import accelerator, model
from scaleright.claims.errors import (
    Error,
    inverse,
    of_first_token,
    of_first_token_by_chips,
    of_lever,
    of_ratio,
    widened,
)
from scaleright.claims.verdicts import Condition, Recomputed, span
from scaleright.inference.deployment import Deployment
from scaleright.inference.lengths import Load
from scaleright.inference.memory import serving_memory
from scaleright.inference.serving import OperatingPoint, steady
from scaleright.inference.slowdowns import interval
from scaleright.transformer import parameters

_CHAT = Load(2000, 500)
MODELS = ("Llama-3.1-8B", "Llama-3.1-70B")


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


def s2_batching_throughput() -> Recomputed:
    """Tokens a second at 64 requests over those at one, with an error for each side."""
    pairs = [(_served(name, 8, 64.0), _served(name, 8, 1.0)) for name in MODELS]
    return span(
        *widened(
            (many.output_tokens_per_s / one.output_tokens_per_s for many, one in pairs),
            _speed_error(),
        )
    )


def s2_batching_tail() -> Recomputed:
    """Time of a token at 64 requests over that at four [%]."""
    pairs = [(_served(name, 8, 64.0), _served(name, 8, 4.0)) for name in MODELS]
    error = of_ratio(*(interval(of.deployment, "TPOT") for of in pairs[0]))
    return span(*widened((100 * many.tpot_s / few.tpot_s for many, few in pairs), error))


def s2_sporadic_large() -> Recomputed:
    """Tokens a second for one request alone over those for 64 [%]."""
    large = [_served("Llama-3.1-405B", 8, requests).output_tokens_per_s for requests in (1.0, 64.0)]
    small = [_served("Llama-3.1-8B", 8, requests).output_tokens_per_s for requests in (1.0, 64.0)]
    error = _speed_error()
    return span(
        *widened([100 * large[0] / large[1]], error),
        Condition("a small model", *widened([100 * small[0] / small[1]], error)),
    )


def s2_small_utilization() -> Recomputed:
    """Arithmetic that a small model gets out of the chips over that of a large one, at as many
    requests [%].
    """
    found = []
    for requests in (1.0, 16.0, 64.0):
        small, large = (
            _served(name, 8, requests).output_tokens_per_s * 2 * parameters(model(name)).total
            for name in MODELS
        )
        found.append(100 * float(small / large))
    return span(*widened(found, _speed_error()))


def s2_quantize_small() -> Recomputed:
    """Time of a token that FP8 saves of a model of 3 billion parameters, of one and of 16 requests
    [%].
    """
    left = []
    for requests in (1.0, 16.0):
        eight, sixteen = (
            steady(
                Deployment(
                    model("Llama-3.2-3B"), accelerator("H100 SXM"), form, software="vLLM 0.11.1"
                ),
                _CHAT,
                requests,
            ).tpot_s
            for form in ("FP8", "BF16")
        )
        left.append(float(eight / sixteen))
    low, high = widened(left, inverse(of_lever()))
    return span(100 * (1 - high), 100 * (1 - low))


def s2_small_card() -> Recomputed:
    """Memory that a small model takes of an A10G, with one and with 16 requests [%]."""
    card = Deployment(model("Llama-3.1-8B"), accelerator("A10G"), "BF16")
    held = (
        serving_memory(card, batch, _CHAT.input_tokens + _CHAT.output_tokens) for batch in (1, 16)
    )
    return span(*(100 * float(of.total / card.chip.require("memory_bytes")) for of in held))


def _speed_error() -> Error:
    """Of the ratio of two predicted speeds of one engine at two loads."""
    ends = interval(_served(MODELS[0], 8, 1.0).deployment, "throughput")
    return of_ratio(ends, ends)
