"""What accelerators rent for: listings of clouds and marketplaces, and the price to decide on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import pandas as pd

from scaleright.catalog import accelerator, resource, table


RAW = ("list", "median offer")
"""Bases of figures that somebody can rent at; an index, a median over providers or a scaled value is none."""


@dataclass(frozen=True)
class PriceRange:
    """What the latest listings of one chip say, USD per accelerator and hour."""

    low: float
    median: float
    high: float
    listings: int
    as_of: date


def rental_prices(accelerator_name: str | None = None, pricing: str = "on_demand") -> pd.DataFrame:
    """Listings of one pricing kind, of one chip or of all: date, provider, segment, region, USD per chip-hour.

    >>> set(rental_prices("H100 NVL", "spot")["pricing"])
    {'spot'}
    """
    prices = table("rental_prices")
    prices = prices[(prices["pricing"] == pricing) & prices["basis"].isin(RAW)]
    return prices if accelerator_name is None else prices[prices["accelerator"] == accelerator(accelerator_name).name]


def rental_price(accelerator_name: str, pricing: str = "on_demand") -> PriceRange:
    """Lowest, median and highest price of the latest year of listings of one chip [USD/h].

    One figure per provider (its median), so that a provider with many regions does not outvote the others.

    Raises
    ------
    LookupError : unknown chip, or a chip without a listing.

    >>> price = rental_price("H100 SXM")
    >>> price.low < price.median < price.high
    True
    """
    listed = rental_prices(accelerator_name, pricing)
    if listed.empty:
        priced = sorted(set(rental_prices(pricing=pricing)["accelerator"]))
        raise LookupError(f"no {pricing} listing of {accelerator_name!r}; chips with one: {', '.join(priced)}")
    newest = listed["date"].max()
    recent = listed[listed["date"] > newest - pd.DateOffset(years=1)]
    by_provider = recent.groupby("provider")["usd_per_accelerator_hour"].median()
    return PriceRange(float(by_provider.min()), float(by_provider.median()), float(by_provider.max()), len(recent), newest.date())


def rental_span(name_begins: str, year: int) -> tuple[float, float]:
    """Lowest and highest on-demand listing of a year over all chips whose name begins so [USD/h].

    >>> rental_span("A100", 2023)[0]
    1.1
    """
    prices = rental_prices()
    prices = prices[prices["accelerator"].str.startswith(name_begins) & (prices["date"].dt.year == year)]["usd_per_accelerator_hour"]
    return float(prices.min()), float(prices.max())


RECENT_YEARS = 2
"""A listing older than this, counted from the table's newest, is history and no price to decide on."""


def recent_rental_price(accelerator_name: str) -> PriceRange | None:
    """The on-demand price of a chip if one of its listings is recent, else None.

    >>> recent_rental_price("P100 PCIe") is None
    True
    """
    listed, newest = rental_prices(accelerator_name), rental_prices()["date"].max()
    fresh = not listed.empty and listed["date"].max() > newest - pd.DateOffset(years=RECENT_YEARS)
    return rental_price(accelerator_name) if fresh else None


def check_rent(usd_per_hour: float, accelerator_name: str) -> float:
    """Refuse a rent that no listing of the chip supports: mostly the price of a whole node.

    Raises
    ------
    ValueError : above three times the dearest recent listing, or above the dearest one while an eighth of it lies
        among the listings; says what it would be per chip.

    >>> check_rent(24.0, "H100 SXM")
    Traceback (most recent call last):
    ValueError: rent of 24 USD/h for one H100 SXM is above every listing (2.69 to 8.43 on 2026-09-29); as the price of an 8-chip node it is 3 a chip
    """
    listed = recent_rental_price(accelerator_name)
    if listed is None or usd_per_hour <= listed.high:
        return usd_per_hour
    per_chip = usd_per_hour / 8
    node = listed.low <= per_chip <= listed.high
    if not node and usd_per_hour <= 3 * listed.high:
        return usd_per_hour
    hint = f"; as the price of an 8-chip node it is {per_chip:.3g} a chip" if node else f"; allowed: up to {3 * listed.high:.3g}"
    raise ValueError(
        f"rent of {usd_per_hour:g} USD/h for one {accelerator_name} is above every listing ({listed.low:.3g} to {listed.high:.3g} on {listed.as_of}){hint}"
    )


def listing_age(accelerator_name: str) -> str:
    """The date of a chip's newest listing, and how far it lies behind the table's newest, in words.

    >>> listing_age("H100 SXM")
    '2026-09-29'
    """
    listed = recent_rental_price(accelerator_name)
    if listed is None:
        return "no recent listing"
    behind = (rental_prices()["date"].max().date() - listed.as_of).days
    return f"{listed.as_of}" + (f", {behind} days behind the newest listings" if behind > resource("rental_prices")["stale_after_days"] else "")
