"""What accelerators rent for: listings of clouds and marketplaces, and the price to decide on.

Every price here comes from raw listings, of each provider from its newest card; `history` looks
back.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import NoReturn

import pandas as pd

from scaleright.catalog import accelerator, remembered, resource, table
from scaleright.formulas import COUNT, closed_form
from scaleright.names import one_of
from scaleright.ops import ceil

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
WINDOW_MONTHS = 12
"""A card this much older than the newest one of its chip is history and no price."""


@dataclass(frozen=True)
class PriceRange:
    """What the latest listings of one chip say, USD per accelerator and hour."""

    low: float
    median: float
    high: float
    listings: int
    as_of: date


@remembered
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
    prices = table("rental_prices")
    one_of(pricing, sorted(prices["pricing"].unique()), "kind of pricing")
    prices = prices[(prices["pricing"] == pricing) & prices["basis"].isin(basis)]
    return (
        prices
        if accelerator_name is None
        else prices[prices["accelerator"] == accelerator(accelerator_name).name]
    )


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


def _window(prices: pd.DataFrame, day: pd.Timestamp, months: int) -> pd.DataFrame:
    return prices[(prices["date"] <= day) & (prices["date"] > day - pd.DateOffset(months=months))]


def _cards(accelerator_name: str, pricing: str, day: date | str | None = None) -> pd.DataFrame:
    """The newest card of each provider up to a day, none a year older than the chip's newest one by
    then.
    """
    listed = rental_prices(accelerator_name, pricing)
    if listed.empty:
        _unlisted(accelerator_name, pricing)
    listed = listed[listed["date"] <= as_day(day, listed)]
    return newest_cards(_window(listed, listed["date"].max(), WINDOW_MONTHS))


def _unlisted(accelerator_name: str, pricing: str) -> NoReturn:
    raise LookupError(
        f"no {pricing} listing of {accelerator_name!r}; chips with one:"
        f" {', '.join(sorted(_prices_now(pricing)))}"
    )


@remembered
def _prices_now(pricing: str) -> dict[str, PriceRange]:
    """The price of each listed chip, as `rental_price` hands it out."""
    prices = rental_prices(pricing=pricing)
    newest = prices.groupby("accelerator")["date"].transform("max")
    cards = newest_cards(prices[prices["date"] > newest - pd.DateOffset(months=WINDOW_MONTHS)])
    each = (
        cards.groupby(["accelerator", "provider"])["usd_per_accelerator_hour"]
        .median()
        .groupby("accelerator")
    )
    of_chip = cards.groupby("accelerator")["date"]
    found = zip(
        each.min().items(), each.median(), each.max(), of_chip.size(), of_chip.max(), strict=True
    )
    return {
        chip: PriceRange(low, median, high, listings, newest.date())
        for (chip, low), median, high, listings, newest in found
    }


def rental_price(accelerator_name: str, pricing: str = "on_demand") -> PriceRange:
    """Lowest, median and highest price of a chip over providers [USD/h], from the newest card of
    each in a year.

    One figure per provider (the median of its card), so that one with many regions does not outvote
    the others.

    Raises
    ------
    LookupError : unknown chip, or a chip without a listing.

    >>> price = rental_price("H100 SXM")
    >>> price.low < price.median < price.high
    True
    """
    listed, name = _prices_now(pricing), accelerator(accelerator_name).name
    return listed[name] if name in listed else _unlisted(accelerator_name, pricing)


def one_each(cards: pd.DataFrame) -> pd.DataFrame:
    """One row for each chip and provider: the median of its card, with what its listings say of
    region, source and note.
    """
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


@remembered
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
    recent = _window(prices, day, months)
    if recent.empty:
        newest = prices["date"].max()
        raise ValueError(
            f"no {pricing} listing in the {months} months up to {day:%Y-%m-%d}; the newest is of"
            f" {newest:%Y-%m-%d}"
        )
    return one_each(newest_cards(recent))


@closed_form(accelerators=COUNT, per_instance=COUNT)
def paid_accelerators(accelerators, per_instance):
    """Accelerators that are paid for where they come in whole instances only [1].

    >>> paid_accelerators(9, 8), paid_accelerators(9, 1)
    (16.0, 9.0)
    """
    return ceil(accelerators / per_instance) * per_instance


def cheapest(
    accelerator_name: str,
    accelerators: int = 1,
    region: str | None = None,
    pricing: str = "on_demand",
    day: date | str | None = None,
    provider: str | None = None,
) -> pd.DataFrame:
    """Where to rent so many of a chip, cheapest first, from each provider's newest card in the
    chip's newest year.

    Whoever needs one chip and finds it in a node of eight pays for eight: the ranking goes by the
    whole bill.

    Parameters
    ----------
    accelerator_name : chip by name or alias
    accelerators : chips wanted [1]
    region : only listings of this region, and those that hold everywhere; any if None
    pricing : kind of contract, see `rental_prices`
    day : the cards as of then; by default the day of the table's newest listing
    provider : only this provider; all if None

    Returns
    -------
    provider, segment, region, sku, pricing, instances (to rent), accelerators (in them),
    usd_per_accelerator_hour, usd_per_hour (of all instances) [USD/h], date, age_days (on that day),
    basis, source, note.

    Raises
    ------
    LookupError : unknown chip, region, provider or kind of pricing, a chip without a listing, or a
        provider without one in the region.
    ValueError : no chip wanted, a day in the future or before the first listing.

    >>> one, eight = cheapest("H100 SXM").iloc[0], cheapest("H100 SXM", 8).iloc[0]
    >>> bool(eight["usd_per_hour"] == 8 * one["usd_per_hour"])
    True
    """
    if accelerators < 1:
        raise ValueError(f"accelerators={accelerators}; allowed: from 1")
    cards = _cards(accelerator_name, pricing, day)
    day = as_day(day, rental_prices(pricing=pricing))
    chosen = cards
    for column, wanted, also in (("provider", provider, ()), ("region", region, EVERYWHERE)):
        if wanted is not None:
            one_of(wanted, sorted(set(cards[column])), f"{column} of {accelerator_name} listings")
            chosen = chosen[chosen[column].isin([wanted, *also])]
    if chosen.empty:
        places = sorted(set(cards.loc[cards["provider"] == provider, "region"]))
        raise LookupError(
            f"{provider} lists no {accelerator_name} in {region!r}; regions where it does:"
            f" {', '.join(places)}"
        )
    in_each = chosen["accelerators"].astype(int)
    cards = chosen.assign(
        accelerators=paid_accelerators(accelerators, in_each.to_numpy()).astype(int),
        note=chosen["note"].fillna(""),
    )
    cards = cards.assign(
        instances=cards["accelerators"] // in_each,
        usd_per_hour=cards["accelerators"] * cards["usd_per_accelerator_hour"],
        age_days=(day - cards["date"]).dt.days,
    )
    columns = [
        "provider",
        "segment",
        "region",
        "sku",
        "pricing",
        "instances",
        "accelerators",
        "usd_per_accelerator_hour",
        "usd_per_hour",
        "date",
        "age_days",
        "basis",
        "source",
        "note",
    ]
    return cards.sort_values(["usd_per_hour", "provider", "sku", "region"], ignore_index=True)[
        columns
    ]


def rental_span(name_begins: str, year: int) -> tuple[float, float]:
    """Lowest and highest on-demand listing of a year over all chips whose name begins so [USD/h].

    Clouds only: what one host of a marketplace asks for one card says nothing about a fleet of
    them.

    >>> rental_span("A100", 2023)[0]
    1.09
    """
    prices = rental_prices()
    prices = prices[
        prices["accelerator"].str.startswith(name_begins) & (prices["date"].dt.year == year)
    ]
    prices = prices.loc[prices["segment"] != "marketplace", "usd_per_accelerator_hour"]
    return float(prices.min()), float(prices.max())


RECENT_YEARS = 2
"""A listing older than this, counted from the table's newest, is history and no price to decide on.
"""


def recent_rental_price(accelerator_name: str) -> PriceRange | None:
    """The on-demand price of a chip if one of its listings is recent, else None.

    >>> recent_rental_price("P100 PCIe") is None
    True
    """
    listed, newest = (
        _prices_now("on_demand").get(accelerator(accelerator_name).name),
        rental_prices()["date"].max(),
    )
    return (
        listed
        if listed and pd.Timestamp(listed.as_of) > newest - pd.DateOffset(years=RECENT_YEARS)
        else None
    )


def check_rent(usd_per_hour: float, accelerator_name: str) -> float:
    """Refuse a rent that no listing of the chip supports: mostly the price of a whole node.

    Raises
    ------
    ValueError : not above 0; above three times the dearest recent listing, or above the dearest one
        while an eighth of it lies among the listings; says what it would be per chip.

    >>> check_rent(24.0, "H100 SXM")
    Traceback (most recent call last):
    ValueError: rent of 24 USD/h for one H100 SXM is above every listing (2.69 to 14.1 on
    2026-10-10); as the price of an 8-chip node it is 3 a chip
    """
    if not usd_per_hour > 0:
        raise ValueError(
            f"rent of {usd_per_hour:g} USD/h for one {accelerator_name}: a price is above 0"
        )
    listed = recent_rental_price(accelerator_name)
    if listed is None or usd_per_hour <= listed.high:
        return usd_per_hour
    per_chip = usd_per_hour / 8
    node = listed.low <= per_chip <= listed.high
    if not node and usd_per_hour <= 3 * listed.high:
        return usd_per_hour
    hint = (
        f"; as the price of an 8-chip node it is {per_chip:.3g} a chip"
        if node
        else f"; allowed: up to {3 * listed.high:.3g}"
    )
    raise ValueError(
        f"rent of {usd_per_hour:g} USD/h for one {accelerator_name} is above every listing"
        f" ({listed.low:.3g} to {listed.high:.3g} on {listed.as_of}){hint}"
    )


def listing_age(accelerator_name: str) -> str:
    """The date of a chip's newest listing, and how far it lies behind the table's newest, in words.

    >>> listing_age("H100 SXM")
    '2026-10-10'
    """
    listed = recent_rental_price(accelerator_name)
    if listed is None:
        return "no recent listing"
    behind = (rental_prices()["date"].max().date() - listed.as_of).days
    return f"{listed.as_of}" + (
        f", {behind} days behind the newest listings"
        if behind > resource("rental_prices")["stale_after_days"]
        else ""
    )
