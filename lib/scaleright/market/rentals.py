"""What accelerators rent for: listings of clouds and marketplaces, of each provider from its newest
card.

The price to decide on is that of `hours`; `history` looks back.
"""

from collections.abc import Callable
from datetime import date
from typing import NoReturn

import pandas as pd

from scaleright.catalog import accelerator, remembered, shared, table
from scaleright.names import one_of

RAW = ("list", "median offer")
"""Bases of figures that somebody can rent at; an index, a median over providers or a scaled value
is none.
"""
CHIP_ALONE = "chip alone"
"""Basis of a list price without the host, which is billed apart: no price to rent at, but what a
cloud's card said.
"""
EVERYWHERE = ("global", "all")
"""Regions of a listing that holds wherever its provider has the chip."""
UNITED_STATES = r"(?i)\bUS\b|^[a-z]+us\d*$|United States"
"""How clouds name their regions there."""
WINDOW_MONTHS = 12
"""A card this much older than the day is history and no price: rents rose by 39 % in eleven months
(see the table's description), so that of two chips the one whose cards are older looks cheap.
"""


@shared
def rental_prices(
    accelerator_name: str | None = None, pricing: str = "on_demand", basis: tuple[str, ...] = RAW
) -> pd.DataFrame:
    """Listings of one pricing kind, of one chip or of all: date, provider, segment, region, USD per
    chip-hour.

    Parameters
    ----------
    accelerator_name : chip by name or alias; all chips if None
    pricing : "on_demand", "spot", "reserved_1y", "reserved_3y", or "reserved" for mixed terms
    basis : how figures were made; by default those that somebody can rent at

    Raises
    ------
    LookupError : unknown chip or kind of pricing; the nearest are offered.

    >>> set(rental_prices("H100 NVL", "spot")["pricing"])
    {'spot'}
    """
    prices = _of_kind(pricing, tuple(basis))
    return (
        prices
        if accelerator_name is None
        else prices[prices["accelerator"] == accelerator(accelerator_name).name]
    )


@remembered
def _of_kind(pricing: str, basis: tuple[str, ...]) -> pd.DataFrame:
    prices = table("rental_prices")
    one_of(pricing, sorted(prices["pricing"].unique()), "kind of pricing")
    return prices[(prices["pricing"] == pricing) & prices["basis"].isin(basis)]


def as_day(day: date | str | None, prices: pd.DataFrame) -> pd.Timestamp:
    """A day on or before which there are prices; the newest one of them if None.

    Raises
    ------
    ValueError : no date, a date in the future, or one before the first price.

    >>> as_day("2023-04-07", rental_prices()).year
    2023
    """
    first, newest = prices["date"].min(), prices["date"].max()
    if day is None:
        return newest
    moment = pd.to_datetime(day, errors="coerce")
    if pd.isna(moment):
        raise ValueError(f"day {day!r} is no date; allowed: YYYY-MM-DD from {first:%Y-%m-%d}")
    if moment.date() > date.today():
        raise ValueError(
            f"day {moment:%Y-%m-%d} lies in the future; the newest price is of {newest:%Y-%m-%d}"
        )
    if moment < first:
        raise ValueError(f"day {moment:%Y-%m-%d} lies before the first price, of {first:%Y-%m-%d}")
    return moment


def newest_cards(prices: pd.DataFrame) -> pd.DataFrame:
    """Of every chip and provider the listings of the newest day: what its card says now.

    >>> cards = newest_cards(rental_prices("H100 SXM"))
    >>> int(cards.groupby("provider")["date"].nunique().max())
    1
    """
    return prices[
        prices["date"] == prices.groupby(["accelerator", "provider"])["date"].transform("max")
    ]


def in_window(prices: pd.DataFrame, day: pd.Timestamp, months: int) -> pd.DataFrame:
    """Listings of so many months up to a day."""
    return prices[(prices["date"] <= day) & (prices["date"] > day - pd.DateOffset(months=months))]


def refuse_unlisted(accelerator_name: str, pricing: str) -> NoReturn:
    """Refuse a chip that nobody ever listed, and name those with a listing."""
    raise LookupError(
        f"no {pricing} listing of {accelerator_name!r}; chips with one:"
        f" {', '.join(sorted(set(rental_prices(pricing=pricing)['accelerator'])))}"
    )


def at_home(cards: pd.DataFrame) -> pd.DataFrame:
    """Of every chip and provider the listings in the United States, all where it has none there.

    Which other regions a source happened to copy is chance, and there a chip costs up to twice as
    much (São Paulo); whoever needs one of them asks for it by name (`quotes.cheapest`).

    >>> cards = at_home(newest_cards(rental_prices("H100 SXM")))
    >>> sorted(set(cards.loc[cards["provider"] == "AWS", "region"]))
    ['us-east-1']
    """
    there = cards["region"].str.contains(UNITED_STATES)
    some = there.groupby([cards["accelerator"], cards["provider"]]).transform("any")
    return cards[there | ~some]


def one_each(cards: pd.DataFrame) -> pd.DataFrame:
    """One row for each chip and provider: the median of its card `at_home`, with what its listings
    say of region, source and note.
    """
    cards = at_home(cards)
    card = ["accelerator", "provider"]

    def said(column: str, join: Callable[[list[str]], str]) -> pd.Series:
        different = cards.dropna(subset=column).drop_duplicates([*card, column])
        return different.groupby(card)[column].agg(list).map(join)

    one = cards.drop_duplicates(card).set_index(card)
    places = said(
        "region", lambda places: places[0] if len(places) == 1 else f"{len(places)} regions"
    )
    usd, each = "usd_per_accelerator_hour", cards.groupby(card)
    rows = pd.DataFrame(
        {
            "segment": one["segment"],
            usd: each[usd].median(),
            "date": each["date"].max(),
            "region": places.reindex(one.index, fill_value="0 regions"),
            "listings": each.size(),
            "basis": one["basis"],
            "source": said("source", ";".join),
            "note": said("note", "; ".join).reindex(one.index, fill_value=""),
        }
    )
    return rows.reset_index().sort_values(["accelerator", usd, "provider"], ignore_index=True)


@shared
def spread(
    day: date | str | None = None, pricing: str = "on_demand", months: int = WINDOW_MONTHS
) -> pd.DataFrame:
    """What each provider asks for each chip: one figure, the median of its newest card in the
    months up to a day.

    Columns: accelerator, provider, segment, usd_per_accelerator_hour [USD/h], date (of the card),
    region, listings (in the card), basis, source, note.

    Raises
    ------
    LookupError : unknown kind of pricing.
    ValueError : a day in the future or before the first listing, no month, or no listing in these
        months.

    >>> rows = spread("2026-10-10")
    >>> rows.groupby(["accelerator", "provider"]).size().max() == 1
    np.True_
    """
    if months < 1:
        raise ValueError(f"months={months}; allowed: from 1")
    prices = rental_prices(pricing=pricing)
    day = as_day(day, prices)
    recent = in_window(prices, day, months)
    if recent.empty:
        newest = prices["date"].max()
        raise ValueError(
            f"no {pricing} listing in the {months} months up to {day:%Y-%m-%d}; the newest is of"
            f" {newest:%Y-%m-%d}"
        )
    return one_each(newest_cards(recent))
