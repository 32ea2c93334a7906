"""Everyone who sells an open model's tokens, at the price of a mix of them."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scaleright.costs.tokens import mix_usd_per_million
from scaleright.formulas import lookup
from scaleright.market.tokens import PRICED, api_prices
from scaleright.order import ordered
from scaleright.outputs import Sheet

_HEADS = {
    "provider": "provider",
    "company": "company",
    "offer": "offer",
    "input_usd_per_million": "input",
    "output_usd_per_million": "output",
    "cache_read_usd_per_million": "cached input",
    "context_tokens": "context",
    "date": "listed",
    "mix": "this mix",
}


@lookup
def offers_for(
    model: str, input_tokens: float, output_tokens: float, cached_share: float
) -> pd.DataFrame:
    """The priced offers of an open model, gateways' too, cheapest first for a request.

    Columns: provider, company, offer, input, output, cached input [USD / 1e6 token], context
    [token], listed, this mix [USD / 1e6 output token with its prompts].

    >>> offers = offers_for("Llama-3.3-70B", 2000, 500, 0.0)
    >>> bool(offers["this mix"].is_monotonic_increasing), offers.columns[0]
    (True, 'provider')
    """
    found = api_prices(model, PRICED)
    asked, written = found["input_usd_per_million"], found["output_usd_per_million"]
    cached = found["cache_read_usd_per_million"].fillna(asked)
    request = input_tokens, output_tokens, cached_share
    found = found.assign(
        mix=mix_usd_per_million(*request, asked.to_numpy(), written.to_numpy(), cached.to_numpy()),
        date=found["date"].dt.strftime("%Y-%m-%d"),
        offer=found["offer"].str.replace("_", " "),
    )
    return ordered(found, "mix", ignore_index=True)[list(_HEADS)].rename(columns=_HEADS)


@lookup
def offers_sheet(
    model: str, input_tokens: float, output_tokens: float, cached_share: float
) -> Sheet:
    """`offers_for` as a table, and how far hosts' offers lie apart."""
    offers = offers_for(model, input_tokens, output_tokens, cached_share)
    asked = offers.loc[offers["offer"] != "gateway", "this mix"]
    return Sheet(
        offers,
        f"Offers of {model}, USD per million tokens; the mix is per million output tokens with"
        " prompts; a dash where the list does not say",
        f"All {len(offers)} offers of {model}, cheapest first; for this mix the dearest of"
        f" {len(asked)} by hosts asks {asked.max() / asked.min():.2g} times what the cheapest does",
        dict.fromkeys(("input", "output", "cached input", "this mix"), "usd")
        | {"context": "whole"},
    )


@lookup
def price_spans(accelerator: Any, rent: Mapping[str, Any], api: Mapping[str, Any]) -> pd.DataFrame:
    """How far the listings of an accelerator, and of a model's tokens, lie apart.

    rent, api : see `market.rent_terms` and `market.api_terms`; quantities or not

    Columns: price, lowest, median, highest, highest over lowest [1], as of.

    >>> from scaleright.market import api_terms, rent_terms
    >>> spans = price_spans("B200", rent_terms("B200"), api_terms("Llama-3.3-70B"))
    >>> spans["price"][0], bool((spans["lowest"] <= spans["highest"]).all())
    ('rent of B200 [USD/h]', True)
    """
    tokens = {"input": "input", "cached input": "cached", "output": "output"}
    spans = {f"{kind} at an API [USD/M tokens]": (api, key, key) for kind, key in tokens.items()}
    what = "rent of " + accelerator + " [USD/h]"
    return pd.DataFrame(
        [
            {
                "price": price,
                "lowest": of[f"{key}_low"],
                "median": of[middle],
                "highest": of[f"{key}_high"],
                "highest over lowest": of[f"{key}_high"] / of[f"{key}_low"],
                "as of": of["listed"],
            }
            for price, (of, key, middle) in [
                (what, (rent, "rent", "rent_usd_per_hour")),
                *spans.items(),
            ]
        ]
    )
