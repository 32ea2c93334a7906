"""Prices beside each other: the ends of each chip's listings, and the range of one source against
the indexes of others.
"""

import pandas as pd

from scaleright.catalog import table
from scaleright.market.history import LEAST_PROVIDERS
from scaleright.market.rentals import CHIP_ALONE, RAW, rental_prices
from scaleright.order import ordered
from scaleright.outputs import Sheet

MONTHLY = ["source", "accelerator", "month"]
COLUMNS = [
    "source",
    "accelerator",
    "month",
    "providers",
    "low",
    "median",
    "high",
    "of_cards",
    "index_source",
    "index",
    "index_usd_per_hour",
    "inside",
    "ratio",
]
"""What `index_agreement` says of a range and an index."""


def price_ends(rows: pd.DataFrame) -> pd.DataFrame:
    """Of each chip the cheapest, the median and the dearest provider of a whole instance, and how
    far they lie apart.

    Parameters
    ----------
    rows : one figure for each chip and provider, from `rentals.spread` or `history.cloud_table`;
        prices of a chip without its host are left out

    Columns: accelerator, providers, low, low_at, median, high, high_at [USD/h], apart (highest over
    lowest), date (of the newest card).

    >>> from scaleright.market import spread
    >>> ends = price_ends(spread()).set_index("accelerator").loc["H100 SXM"]
    >>> bool(ends["low"] < ends["median"] < ends["high"]), bool(
    ...     ends["apart"] == ends["high"] / ends["low"])
    (True, True)
    """
    each = (
        rows[rows["basis"] != CHIP_ALONE]
        .sort_values("usd_per_accelerator_hour", kind="stable")
        .groupby("accelerator")
    )
    usd, at = each["usd_per_accelerator_hour"], each["provider"]
    return pd.DataFrame(
        {
            "providers": each.size(),
            "low": usd.min(),
            "low_at": at.first(),
            "median": usd.median(),
            "high": usd.max(),
            "high_at": at.last(),
            "apart": usd.max() / usd.min(),
            "date": each["date"].max(),
        }
    ).reset_index()


def require_card(accelerator: str, cards: pd.DataFrame, pricing: str = "on_demand") -> None:
    """Refuse a chip of which none of the cards is, and say on which day one was still current.

    Parameters
    ----------
    accelerator : chip by its name in the catalog
    cards : what providers ask as of a day, from `rentals.spread`
    pricing : kind of contract of the cards, see `rentals.rental_prices`

    Raises
    ------
    LookupError : no card of the chip.

    >>> from scaleright.market import spread
    >>> require_card("TPU v5e", spread("2026-10-10"))
    Traceback (most recent call last):
    LookupError: no on_demand card of TPU v5e in the year to 2026-10-10; last listed 2025-03-03
    """
    if accelerator in set(cards["accelerator"]):
        return
    newest, listed = cards["date"].max(), rental_prices(accelerator, pricing)["date"]
    earlier = listed[
        ~(listed > newest)
    ]  # of no cards at all the newest day is missing, and any day is offered
    hint = f"last listed {earlier.max():%Y-%m-%d}" if len(earlier) else "none was listed before"
    span = "by then" if cards.empty else f"in the year to {newest:%Y-%m-%d}"
    raise LookupError(f"no {pricing} card of {accelerator} {span}; {hint}")


def _ranges(prices: pd.DataFrame) -> pd.DataFrame:
    """Range of providers of each source, chip and month, where there are enough of them."""
    cards = prices[prices["basis"].isin([*RAW, "normalized"])]
    cards = cards.assign(
        of_cards=cards["basis"].isin(RAW).map({True: "as listed", False: "scaled"})
    )
    one_each = cards.groupby([*MONTHLY, "of_cards", "provider"])["usd"].median()
    ranges = (
        one_each.groupby([*MONTHLY, "of_cards"])
        .agg(low="min", median="median", high="max", providers="count")
        .reset_index()
    )
    return ranges[ranges["providers"] >= LEAST_PROVIDERS]


def _indexes(prices: pd.DataFrame) -> pd.DataFrame:
    """Indexes of each source, chip and month, none of hyperscalers or marketplaces alone."""
    indexes = prices[
        (prices["basis"] == "index") & ~prices["segment"].isin(["hyperscaler", "marketplace"])
    ]
    # Of a source that has an index of all segments, that one.
    whole = indexes["segment"].eq("index")
    indexes = indexes[whole | ~indexes["source"].isin(indexes["source"][whole])]
    indexes = (
        indexes.assign(index=indexes["provider"] + ", " + indexes["sku"])
        .groupby([*MONTHLY, "index"])["usd"]
        .median()
        .reset_index()
    )
    return indexes.rename(columns={"source": "index_source", "usd": "index_usd_per_hour"})


def index_agreement() -> pd.DataFrame:
    """Range of providers of one source against an index of another source, same chip and month, on
    demand.

    A test out of sample: the two have different makers, though both may have read the card of the
    same provider. An index of hyperscalers alone is left out, since no range here is of them alone.

    Columns: source, accelerator, month, providers, low, median, high [USD/h] (the range), of_cards
    (whether it is of cards as listed or of cards scaled to one contract), index_source, index,
    index_usd_per_hour, inside (whether the range holds it), ratio (index over median).

    >>> found = index_agreement()
    >>> sorted(set(found["of_cards"])), bool(
    ...     (found["inside"] == found["index_usd_per_hour"].between(found["low"],
    ...     found["high"])).all())
    (['as listed', 'scaled'], True)
    """
    prices = table("rental_prices")
    prices = prices[prices["pricing"] == "on_demand"]
    prices = prices.assign(
        month=prices["date"].dt.strftime("%Y-%m"), usd=prices["usd_per_accelerator_hour"]
    )
    both = _ranges(prices).merge(_indexes(prices), on=["accelerator", "month"])
    makers = (
        both[side].str.extract(r"^([a-z]+)")[0] for side in ("source", "index_source")
    )  # a key is its maker and the year
    both = both[next(makers) != next(makers)]
    value = both["index_usd_per_hour"]
    both = both.assign(
        inside=value.between(both["low"], both["high"]), ratio=value / both["median"]
    )
    return both[COLUMNS].reset_index(drop=True)


_MAKERS = {
    "ewyluda": "Wyluda",
    "zhang": "Zhang",
    "mckee": "McKee",
    "toolshed": "gpu-price-feed",
    "fullstack": "Cloud GPUs table",
    "epochprices": "Epoch",
}


def _maker(keys: pd.Series) -> pd.Series:
    """The makers of sources, of their keys in the references."""
    return keys.map(lambda key: _MAKERS.get(key.rstrip("0123456789"), key))


def agreement_sheet() -> Sheet:
    """`index_agreement` by pairs of makers, most compared first.

    >>> int(agreement_sheet().rows["compared"].sum()) == len(index_agreement())
    True
    """
    shared = index_agreement()
    pairs = shared.assign(
        **{
            "range of": _maker(shared["source"]) + ", cards " + shared["of_cards"],
            "index of": _maker(shared["index_source"]) + ": " + shared["index"],
        }
    ).groupby(["range of", "index of"])
    found = pairs.agg(
        compared=("inside", "size"), inside=("inside", "sum"), ratio=("ratio", "median")
    )
    found = ordered(found.reset_index(), "compared", ascending=False)
    over = "index over the range's median"
    words = "An index inside the range of another maker's providers, by pairs of makers"
    summary = f"The comparisons by {len(found)} pairs of makers"
    return Sheet(found.rename(columns={"ratio": over}), words, summary, {over: "number 2"})
