"""Recomputations on the price of tokens: APIs then and now, and the load at which own hardware
beats them.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from __future__ import annotations

from collections.abc import Iterator

from scaleright import transformer
from scaleright.catalog import accelerator, fact, model
from scaleright.claims.errors import inverse, widened
from scaleright.claims.utilization import traces
from scaleright.claims.verdicts import Condition, Origin, Recomputed, looked_up, span
from scaleright.costs.tokens import break_even_utilization, mix_usd_per_million
from scaleright.inference.deployment import Deployment
from scaleright.inference.lengths import Load
from scaleright.inference.measured import operating_points
from scaleright.inference.serving import steady
from scaleright.inference.slowdowns import interval
from scaleright.market import STEADY, TokenPrice, api_price, hour, open_models

CHIP, SMALL = "H100 SXM", "Llama-3.1-8B"
"""The chip, and the smallest model with a measured throughput on it: Clarifai's 7B."""
SIZES = (12e9, 15e9)
"""Parameters of the models that stand for Clarifai's 13B; no throughput of one is measured, so it
is predicted.
"""
LEAST_COMPANIES = 3


def _parameters(shape: str) -> float:
    return float(transformer.parameters(model(shape)).total)


def _deployed(shape: str) -> Deployment:
    return Deployment(model(shape), accelerator(CHIP), "FP8", software="TensorRT-LLM 1.0")


def _break_even(
    shape: str, price: TokenPrice, end: str = "best", like: str = "", contract: str = STEADY
) -> list[float]:
    """Load at which a rented chip beats an API at each measured shape of request [%], by default
    under the contract of what runs around the clock; of a model that nobody measured, at those of
    another and at the predicted throughput.
    """
    points, usd = operating_points(like or shape, CHIP), hour(CHIP, contract).usd
    points = points[points["flag"] == ""]
    asked = [getattr(kind, end) for kind in (price.input, price.output, price.cache_read)]
    lengths = points["input_tokens"].to_numpy(float), points["output_tokens"].to_numpy(float)
    speeds = points["tokens_per_s"].to_numpy(float)
    if like:
        speeds = steady(_deployed(shape), Load(*lengths)).output_tokens_per_s_per_chip
    return list(
        100 * break_even_utilization(usd, speeds, mix_usd_per_million(*lengths, 0.0, *asked))
    )


def _thirteen(end: str = "best") -> dict[str, list[float]]:
    """Break-even of each model of about 13B, as predicted."""
    sold = open_models()
    sold = sold[sold["companies"] >= LEAST_COMPANIES]
    return {
        row.model: _break_even(row.model, api_price(row.release), end, SMALL)
        for row in sold.itertuples()
        if SIZES[0] <= _parameters(row.model) <= SIZES[1]
    }


def _ends(loads: dict[str, list[float]]) -> Iterator[float]:
    """The ends of break-even loads with the error of the predicted speed."""
    for shape, found in loads.items():
        yield from widened(found, inverse(interval(_deployed(shape), "throughput")))


def s2_7b_load() -> Recomputed:
    points = operating_points(SMALL, CHIP)
    shapes = points[points["flag"] == ""][["input_tokens", "output_tokens"]]
    by_the_hour = _break_even(SMALL, api_price(SMALL), contract="on demand")
    prompt, answer = shapes.iloc[by_the_hour.index(max(by_the_hour))]
    words = f"rented on demand, requests of {prompt:,.0f} tokens in and {answer:,.0f} out"
    loads = _break_even(SMALL, api_price(SMALL))
    return span(*loads, Condition(words, max(by_the_hour)))


def s2_13b_load() -> Recomputed:
    dear = list(_ends(_thirteen("high")))
    return span(
        *_ends(_thirteen()),
        Condition("the dearest offer of each model instead of its median", min(dear), max(dear)),
    )


def s2_13b_over_7b() -> Recomputed:
    small = _break_even(SMALL, api_price(SMALL))
    ratios = {
        shape: [100 * large / own for large, own in zip(loads, small, strict=True)]
        for shape, loads in _thirteen().items()
    }
    return span(*_ends(ratios))


def s3_hosted_cheaper() -> Recomputed:
    shapes = set(operating_points(accelerator=CHIP)["model"])
    sold = open_models().drop_duplicates("model")
    loads = [
        load
        for row in sold.itertuples()
        if row.model in shapes
        for load in _break_even(row.model, api_price(row.release))
    ]
    return span(*(100 * sum(load > busy for load in loads) / len(loads) for busy in traces()))


def s3_openai_price() -> Recomputed:
    turbo = Origin("gpt-3.5-turbo, whose size was never published")
    return looked_up(fact("davinci_usd_per_1000"), turbo)
