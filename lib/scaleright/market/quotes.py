"""Where to rent so many of a chip, and whether a rent that somebody names can be right."""

from datetime import date

import pandas as pd

from scaleright.catalog import shared
from scaleright.formulas import COUNT, closed_form
from scaleright.market.hours import recent_hour
from scaleright.market.rentals import (
    EVERYWHERE,
    WINDOW_MONTHS,
    as_day,
    in_window,
    newest_cards,
    refuse_unlisted,
    rental_prices,
)
from scaleright.names import one_of
from scaleright.ops import ceil

COLUMNS = [
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
"""What `cheapest` says of a listing."""


@closed_form(accelerators=COUNT, per_instance=COUNT)
def paid_accelerators(accelerators, per_instance):
    """Accelerators that are paid for where they come in whole instances only [1].

    >>> paid_accelerators(9, 8), paid_accelerators(9, 1)
    (16.0, 9.0)
    """
    return ceil(accelerators / per_instance) * per_instance


@shared
def _cards(accelerator_name: str, pricing: str, day: date | str | None = None) -> pd.DataFrame:
    """The newest card of each provider up to a day, none a year older than the chip's newest one by
    then.
    """
    listed = rental_prices(accelerator_name, pricing)
    if listed.empty:
        refuse_unlisted(accelerator_name, pricing)
    listed = listed[listed["date"] <= as_day(day, listed)]
    return newest_cards(in_window(listed, listed["date"].max(), WINDOW_MONTHS))


def _wanted(
    cards: pd.DataFrame, accelerator_name: str, provider: str | None, region: str | None
) -> pd.DataFrame:
    """The listings of a provider, in a region or everywhere."""
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
    return chosen


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
    chosen = _wanted(cards, accelerator_name, provider, region)
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
    return cards.sort_values(["usd_per_hour", "provider", "sku", "region"], ignore_index=True)[
        COLUMNS
    ]


def check_rent(usd_per_hour: float, accelerator_name: str) -> float:
    """Refuse a rent that no listing of the chip supports: mostly the price of a whole node.

    Raises
    ------
    ValueError : not above 0; above three times the dearest recent listing, or above the dearest one
        while an eighth of it lies among the listings; says what it would be per chip.

    >>> check_rent(24.0, "H100 SXM")
    Traceback (most recent call last):
    ValueError: rent of 24 USD/h for one H100 SXM is above every listing (2.69 to 12.3 on
    2026-10-10); as the price of an 8-chip node it is 3 a chip
    """
    if not usd_per_hour > 0:
        raise ValueError(
            f"rent of {usd_per_hour:g} USD/h for one {accelerator_name}: a price is above 0"
        )
    listed = recent_hour(accelerator_name)
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
        f" ({listed.low:.3g} to {listed.high:.3g} on {listed.until}){hint}"
    )
