"""What APIs ask for tokens: the offers of a model, and the price of an open one over the companies
that host it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Any

import pandas as pd

from scaleright.catalog import remembered, resource, shared, table
from scaleright.market.rentals import as_day
from scaleright.names import nearest, one_of
from scaleright.ranges import Range

PAID = ("first_party", "reseller")
"""Offers with a price to decide on; what is free or part of a subscription has none, and a gateway
passes on others'.
"""
PRICED = (*PAID, "gateway")
"""Offers with a price to show."""
_PRICES = ["input_usd_per_million", "cache_read_usd_per_million", "output_usd_per_million"]


def _release(name: str) -> str:
    """The published weights of this name, upper or lower case; other weights of one shape are other
    offers.
    """
    known = table("api_prices")["release"].dropna().unique()
    folded = {str(release).casefold(): release for release in known}
    return (
        folded[name.strip().casefold()]
        if name.strip().casefold() in folded
        else nearest(name, known, "open model with an API price")
    )


def api_prices(
    model: str | None = None, offers: tuple[str, ...] = PAID, day: date | str | None = None
) -> pd.DataFrame:
    """Offers that hold on a day, the newest of each provider and name; see the data package for the
    columns.

    Parameters
    ----------
    model : published weights such as "Llama-3.3-70B"; all models if None
    offers : kinds of offer, of "first_party", "reseller", "gateway", "free" and "subscription"
    day : by default the day of the table

    Raises
    ------
    LookupError : weights that nobody lists, or an unknown kind of offer; the nearest names are
        offered.
    ValueError : no date, a day in the future, or one before the first price.

    >>> bool((api_prices("DeepSeek-R1", day="2026-07-15")["output_usd_per_million"] > 0).all())
    True
    """
    prices = _offers(tuple(offers), day)
    return prices if model is None else prices[prices["release"] == _release(model)]


@shared
def _offers(offers: tuple[str, ...], day: date | str | None) -> pd.DataFrame:
    """The `api_prices` of all models."""
    prices = table("api_prices")
    for offer in offers:
        one_of(offer, sorted(prices["offer"].unique()), "kind of offer")
    at = as_day(resource("api_prices")["as_of"] if day is None else day, prices)
    prices = prices[
        (prices["date"] <= at) & ~(prices["until"] <= at) & prices["offer"].isin(offers)
    ]
    prices = prices.sort_values("date", kind="stable").drop_duplicates(
        ["provider", "model_id"], keep="last"
    )
    return prices.sort_values(["provider", "model_id"], kind="stable")


@dataclass(frozen=True)
class TokenPrice:
    """What an open model's tokens cost over its hosts [USD / 1e6 token]: lowest, median and highest
    company, kind by kind.

    cache_read : price of cached input; an offer without one asks its input price
    companies, as_of : how many sell it, and the day of the newest of their lists
    """

    input: Range
    cache_read: Range
    output: Range
    companies: int
    as_of: date


@shared
def api_price(model: str, day: date | str | None = None) -> TokenPrice:
    """Lowest, median and highest paid price of an open model, one figure a company for each kind.

    A company with several offers of the same weights, on two sites or under two names, counts once
    with their median, as a rate card of rents does; gateways do not count. The three kinds are
    ranked apart: the lowest input price need not come from who has the lowest output price.

    Raises
    ------
    LookupError : nobody lists these weights, or no host sells them for money on that day.

    >>> price = api_price("llama-3.3-70b")
    >>> price.output.low < price.output.best < price.output.high
    True
    >>> price.cache_read.best <= price.input.best
    True
    """
    offers = api_prices(model, day=day)
    if offers.empty:
        missing = (
            f"no paid offer of {model!r} on {day or resource('api_prices')['as_of']} by a host"
        )
        raise LookupError(
            f"{missing}; free and subscribed ones have no price, gateways pass on that of a host"
        )
    each = _by_company(offers)
    spans = [Range(*map(float, each[name].quantile([0, 0.5, 1]))) for name in _PRICES]
    return TokenPrice(*spans, companies=len(each), as_of=offers["date"].max().date())


def _by_company(offers: pd.DataFrame) -> pd.DataFrame:
    """The median price of each kind that a company asks for some weights."""
    filled = offers.assign(
        cache_read_usd_per_million=offers["cache_read_usd_per_million"].fillna(
            offers["input_usd_per_million"]
        )
    )
    return filled.groupby(["release", "model", "company"])[_PRICES].median()


@remembered
def open_models() -> pd.DataFrame:
    """Open models that a host sells for money, those of most companies first.

    Columns: release, model (key of its shape), input_usd_per_million, output_usd_per_million
    (medians over companies), companies.

    >>> open_models()["release"].is_unique
    True
    """
    each = _by_company(api_prices().dropna(subset="release")).groupby(["release", "model"])
    models = (
        each.median()[["input_usd_per_million", "output_usd_per_million"]]
        .assign(companies=each.size())
        .reset_index()
    )
    return models.sort_values(["companies", "release"], ascending=[False, True], ignore_index=True)


@remembered
def api_terms(model: str) -> Mapping[str, Any]:
    """What an open model's tokens cost, as a row for `choose`.

    Returns
    -------
    input, cached, output : median over companies, and with `_low` and `_high` their ends
        [USD / 1e6 token]
    companies, listed : how many companies host it [1], and the day of the newest of their lists
    offers, discounted, discount : paid offers, those whose cached input costs less [1], and the
        median of what it costs there over input [1]

    >>> terms = api_terms("Llama-3.3-70B")
    >>> terms["input_low"] <= terms["input"] <= terms["input_high"]
    True
    """
    price, offers = api_price(model), api_prices(model)
    kinds = {"input": price.input, "cached": price.cache_read, "output": price.output}
    asked = offers["input_usd_per_million"]
    share = (offers["cache_read_usd_per_million"] / asked)[lambda ratio: ratio < 1]
    found: dict[str, Any] = {
        f"{kind}{end}": value
        for kind, span in kinds.items()
        for end, value in (("", span.best), ("_low", span.low), ("_high", span.high))
    }
    found |= {"companies": price.companies, "listed": str(price.as_of), "offers": len(offers)}
    found |= {"discounted": len(share), "discount": float(share.median())}
    return MappingProxyType(found)
