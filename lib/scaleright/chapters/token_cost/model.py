"""Unit-Economics Calculator (F6): an API, rented or owned hardware, by the price of a million
tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import NamedTuple

import pandas as pd

from scaleright import transformer
from scaleright.catalog import accelerator, model
from scaleright.costs.ownership import Ownership
from scaleright.costs.tokens import (
    break_even_utilization,
    mix_usd_per_million,
    owned_break_even_utilization,
    owned_usd_per_million_tokens,
    usd_per_million_tokens,
)
from scaleright.decisions import capex_opex
from scaleright.decisions.verdict import Verdict
from scaleright.formulas import search
from scaleright.inference.curves import curves
from scaleright.inference.lengths import Load
from scaleright.inference.nodes import engines, fastest
from scaleright.market import STEADY, api_price, hour
from scaleright.ops import maximum, minimum, where
from scaleright.order import names_by
from scaleright.units import HOURS_PER_DAY, MONTHS_PER_YEAR, usd

SOURCE = "Clarifai's Unit-Economics Calculator"
SMALL, LARGE = (7e9, 0.5), (13e9, 0.1)
"""Clarifai's two points: parameters of a model, and the utilization from which it beats an
API.
"""
SIZES = ("Llama-3.1-8B", "Qwen3-8B", "Mistral-NeMo-12B", "Qwen3-14B")
"""Models of about those sizes."""
WORDS = {"rent": "rented", "own": "owned"}


def source_utilization(parameters):
    """Utilization above which Clarifai says that own hardware beats an API, by the size of the
    model [1].

    The document gives 50 % for 7B and 10 % for 13B; between them the reading here is even in
    ratios, beyond them flat.

    >>> [float(round(source_utilization(size), 3)) for size in (1e9, 7e9, 10e9, 13e9, 70e9)]
    [0.5, 0.5, 0.198, 0.1, 0.1]
    """
    slope = log(LARGE[1] / SMALL[1]) / log(LARGE[0] / SMALL[0])
    return minimum(SMALL[1], maximum(LARGE[1], SMALL[1] * (parameters / SMALL[0]) ** slope))


def source_rule(parameters, utilization, months, accelerators: int = 1):
    """What Clarifai says: an API below the utilization for this size of model, else its matrix of
    renting and buying.

    Utilization and months may be quantities.

    >>> source_rule(7e9, 0.3, 24), source_rule(13e9, 0.12, 24), source_rule(13e9, 0.5,
    ...     24), source_rule(70e9, 0.5, 24, 4)
    ('API', 'rent', 'own', 'rent')
    """
    matrix = capex_opex.source_rule(HOURS_PER_DAY * utilization, months, accelerators)
    return where(
        utilization < source_utilization(parameters), "API", where(matrix == "buy", "own", "rent")
    )


def _against_the_api(name: str, load: float, utilization: float) -> str:
    """What the load from which hardware beats the API says of it."""
    return (
        f"{WORDS[name]} hardware beats the API above {100 * load:.3g} % of its speed; it"
        f" runs at {100 * utilization:.3g} %"
        if load <= 1
        else f"{WORDS[name]} hardware is dearer than the API even at full load"
    )


def unit_economics(
    parameters: float,
    usd_per_hour: float,
    tokens_per_s: float,
    utilization: float,
    api_usd_per_million: float,
    ownership: Ownership | None = None,
    accelerators: int = 1,
) -> Verdict:
    """Where a million tokens are cheapest: at an API, on rented or on owned accelerators.

    Parameters
    ----------
    parameters : size of the model, at which Clarifai's rule looks [1]
    usd_per_hour, tokens_per_s : rent and speed at full load of one accelerator [USD/h], [token/s]
    utilization : tokens served over those that the hardware could serve, around the clock [1]
    api_usd_per_million : price of the same tokens at the API [USD / 1e6 token]
    ownership : terms of buying one accelerator; None leaves owning out
    accelerators : how many serve together [1]; Clarifai's matrix looks at it

    >>> unit_economics(7e9, 0.5, 2000.0, 0.5, 0.2).what
    'rent'
    """
    prices = {
        "API": api_usd_per_million,
        "rent": usd_per_million_tokens(usd_per_hour, tokens_per_s, utilization),
    }
    loads = {"rent": break_even_utilization(usd_per_hour, tokens_per_s, api_usd_per_million)}
    months = 0.0
    if ownership:
        fixed = ownership.fixed_usd_per_year
        prices["own"] = owned_usd_per_million_tokens(
            fixed, tokens_per_s, utilization, **ownership.power
        ).total
        loads["own"] = owned_break_even_utilization(
            fixed, tokens_per_s, api_usd_per_million, **ownership.power
        )
        months = ownership.years * MONTHS_PER_YEAR
    ranked = names_by(prices)
    rule = source_rule(parameters, utilization, months, accelerators)
    reasons = [
        "a million tokens cost " + ", ".join(f"{usd(prices[name])} ({name})" for name in ranked),
        *(_against_the_api(name, load, utilization) for name, load in loads.items()),
        (
            f"Clarifai asks for {100 * source_utilization(parameters):.3g} % at this size,"
            f" whatever the prices"
        ),
    ]
    numbers = {name: (price, "USD / 1e6 token") for name, price in prices.items()}
    numbers |= {f"break-even load, {WORDS[name]}": (load, "1") for name, load in loads.items()}
    return Verdict(
        "API, rent or own?", ranked[0], tuple(reasons), numbers, SOURCE, rule, ranked[0] == rule
    )


@search
def source_sizes(
    tokens_per_s: float,
    releases: Sequence[str] = SIZES,
    chip: str = "H100 SXM",
    contract: str = STEADY,
) -> pd.DataFrame:
    """The document's comparison of sizes: what load each model needs on a rented chip to beat an
    API, for prompts as long as answers (1,000 tokens), at so many tokens a second for each reader.

    Columns: model, parameters, tokens/s, in and out [USD / 1e6 token], and the load at median,
    dearest and cheapest prices of the API [1].

    >>> found = source_sizes(30.0).set_index("model")
    >>> bool(found.loc["Qwen3-14B", "median"] > found.loc["Qwen3-8B", "dearest"])
    True
    """
    rent, rows = hour(chip, contract).usd, []
    for name in releases:
        known = curves(engines(model(name), accelerator(chip)))
        speed, asked = fastest(known, Load(1000, 1000), 1 / tokens_per_s), api_price(name)
        row = {
            "model": name,
            "parameters": float(transformer.parameters(model(name)).total),
            "tokens/s": speed.tokens_per_s,
            "in": asked.input.best,
            "out": asked.output.best,
        }
        kinds = asked.input, asked.output, asked.cache_read
        for end, of in (("median", "best"), ("dearest", "high"), ("cheapest", "low")):
            api = mix_usd_per_million(1, 1, 0.0, *(getattr(span, of) for span in kinds))
            row[end] = break_even_utilization(rent, speed.tokens_per_s, api)
        rows.append(row)
    return pd.DataFrame(rows)


class SizesCompared(NamedTuple):
    """Two models of `source_sizes`: from which load renting beats the API for each [1], and the
    larger one's speed and price of output over the smaller one's [1].
    """

    small_load: float
    large_load: float
    speed: float
    price: float


def compare_sizes(sizes: pd.DataFrame, small: str, large: str) -> SizesCompared:
    """Two models of `source_sizes`, the larger beside the smaller.

    >>> found = {"model": ["8B", "14B"], "median": [0.2, 0.5], "tokens/s": [900.0, 600.0]}
    >>> float(compare_sizes(pd.DataFrame(found | {"out": [0.5, 1.5]}), "8B", "14B").price)
    3.0
    """
    one, other = (sizes.set_index("model").loc[name] for name in (small, large))
    return SizesCompared(
        small_load=one["median"],
        large_load=other["median"],
        speed=other["tokens/s"] / one["tokens/s"],
        price=other["out"] / one["out"],
    )
