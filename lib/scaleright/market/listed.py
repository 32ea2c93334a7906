"""What is listed now: each chip's ends by kind of pricing, the cards behind them, and the tables
that a page shows of them.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scaleright.catalog import accelerators, remembered
from scaleright.market.compare import price_ends, require_card
from scaleright.market.history import SERIES
from scaleright.market.hours import Hour, listed_hour, listing_age
from scaleright.market.quotes import cheapest
from scaleright.market.rentals import EVERYWHERE, rental_prices, spread
from scaleright.market.series import MONTHS, WAYS, rose_or_fell
from scaleright.names import nearest
from scaleright.outputs import Sheet
from scaleright.units import usd

PRICINGS = {"on demand": "on_demand", "spot": "spot"}
"""Kinds of pricing as a person says them, with their names in the table of rents."""
ANYWHERE = "any"
"""The choice of a region that asks for none."""
PRICES = {name: name for name in ("on_demand_usd_per_hour", "spot_usd_per_hour")}
"""Parameters that follow a chip, by their columns of `usual_prices`."""


def listed_chips() -> list[str]:
    """Chips that somebody lists on demand now, by name.

    >>> "H100 SXM" in listed_chips()
    True
    """
    return price_ends(spread())["accelerator"].tolist()


def require_listed(accelerator: str, accelerators: int, pricing: str, region: str) -> None:
    """Refuse a chip that nobody lists in a way of paying and in a region, or not on demand.

    Raises
    ------
    LookupError : no listing, or none in the region (any if it is "any"); the nearest is offered.
    ValueError : no chip wanted.

    >>> require_listed("A10", 1, "on demand", "eastus")
    Traceback (most recent call last):
    LookupError: unknown region of A10 listings 'eastus'; allowed: not stated (1 known)
    """
    of = PRICINGS[pricing]
    regions = set(cheapest(accelerator, accelerators, pricing=of)["region"])
    if region != ANYWHERE and regions.isdisjoint((region, *EVERYWHERE)):
        nearest(region, sorted(regions), f"region of {accelerator} listings")
    for kind in dict.fromkeys((of, "on_demand")):
        require_card(accelerator, spread(None, kind), kind)


def cards() -> pd.DataFrame:
    """What each provider asks for each listed chip, by kind of pricing.

    Columns: accelerator, pricing, provider, segment, usd_per_accelerator_hour [USD/h], day, region.

    >>> set(cards()["pricing"]) == set(PRICINGS)
    True
    """
    both = pd.concat([spread(None, of).assign(pricing=said) for said, of in PRICINGS.items()])
    both = both.assign(day=both["date"].dt.strftime("%Y-%m-%d"))
    columns = ["accelerator", "pricing", "provider", "segment", "usd_per_accelerator_hour"]
    return both.loc[both["accelerator"].isin(listed_chips()), [*columns, "day", "region"]]


def most_cards() -> int:
    """How many cards a chip has at most in one way of paying."""
    return int(cards().groupby(["accelerator", "pricing"]).size().max())


@remembered
def listed_prices() -> Mapping[tuple[str, str], Mapping[str, Any]]:
    """What providers ask for a chip in a way of paying, as rows for `choose`; none where nobody
    lists it so.

    Returns
    -------
    low, median, high : of the providers [USD/h]
    low_at, high_at, age : words, the last one the day of the newest card
    counted, span : words, of how many providers the median is, and from which to which price
    """
    found = {
        (chip, said): priced
        for said in PRICINGS
        for chip in accelerators()
        if (priced := listed_hour(chip, said))
    }
    return {of: _row(priced) for of, priced in found.items()}


def _row(priced: Hour) -> dict[str, Any]:
    """A row of `listed_prices`."""
    sold = priced.rows  # the cheapest first
    usd_each, names = sold["usd_per_accelerator_hour"], sold["provider"]
    low, high, low_at, high_at = usd_each.min(), usd_each.max(), names.iloc[0], names.iloc[-1]
    several = priced.providers > 1
    span = f"{usd(low)} at {low_at} to {usd(high)} at {high_at}, {high / low:.2g} times apart"
    counted = f"the median of {priced.providers} providers"
    return {
        "low": low,
        "median": priced.usd,
        "high": high,
        "low_at": low_at,
        "high_at": high_at,
        "counted": counted if several else "at its only provider",
        "span": span if several else "one provider only",
        "age": priced.age,
    }


@remembered
def usual_prices() -> Mapping[str, Mapping[str, Any]]:
    """Of each listed chip the prices that a page starts from and how its monthly rent moved, as
    rows for `choose`.

    Returns
    -------
    on_demand_usd_per_hour, spot_usd_per_hour : medians of the providers, that on demand for both
        where nobody lists it on spot [USD/h]
    trend : how the monthly rent moved over `MONTHS`, with cards scaled to one contract and as
        listed, in words
    series : the chip whose series stands for it where series are drawn, a word
    age : the day of its newest listing, in words

    >>> chip = usual_prices()["RTX 4090"]
    >>> chip["spot_usd_per_hour"] == chip["on_demand_usd_per_hour"], chip["series"]
    (True, 'H100 SXM')
    """
    prices = listed_prices()
    rows = {}
    for chip in listed_chips():
        plain = prices[chip, "on demand"]["median"]
        rows[chip] = {
            "on_demand_usd_per_hour": plain,
            "spot_usd_per_hour": prices.get((chip, "spot"), {"median": plain})["median"],
            "trend": _trend(chip),
            "series": chip if chip in SERIES else "H100 SXM",
            "age": listing_age(chip),
        }
    return rows


def _trend(chip: str) -> str:
    if chip not in SERIES:
        return "is published by nobody"
    scaled, listed = (rose_or_fell(chip, basis) for basis in WAYS)
    return f"{scaled} in {MONTHS} months (cards as listed: {listed})"


def listed_sheet() -> Sheet:
    """Chips with an on-demand listing, by median."""
    found = price_ends(spread()).assign(date=lambda f: f["date"].dt.strftime("%Y-%m-%d"))
    rows = in_words(found).sort_values(["median [USD/h]", "accelerator"], ignore_index=True)
    words = "All chips with an on-demand listing, by median"
    return Sheet(rows, words, f"All {len(rows)} chips", {"times apart": "number 2"})


def often_listed(cards: pd.DataFrame) -> pd.DataFrame:
    """Cards on demand of the chips that four providers or more list so."""
    plain = cards[cards["pricing"] == "on demand"]
    return plain[plain.groupby("accelerator")["provider"].transform("size") >= 4]


def in_words(ends: pd.DataFrame) -> pd.DataFrame:
    """`price_ends` under the words that head a table."""
    said = {name: f"{word} [USD/h]" for name, word in _ENDS.items()}
    places = {"low_at": "lowest at", "high_at": "highest at"}
    return ends.rename(columns=said | places | {"apart": "times apart", "date": "newest card"})


_ENDS = {"low": "lowest", "median": "median", "high": "highest"}


def spot_sheet() -> Sheet:
    """Spot listings beside the same provider's on-demand price, and beside the cheapest one of all.

    >>> len(spot_sheet().rows) == len(spread(pricing="spot"))
    True
    """
    price, plain = "usd_per_accelerator_hour", spread()
    both = spread(pricing="spot").merge(
        plain, on=["accelerator", "provider"], how="left", suffixes=("", "_plain")
    )
    both = both.join(price_ends(plain).set_index("accelerator")[["low", "low_at"]], "accelerator")
    words = {
        price: "spot [USD/h]",
        f"{price}_plain": "on demand there [USD/h]",
        "low": "cheapest on demand [USD/h]",
        "low_at": "at",
    }
    both = both[["accelerator", "provider", *words]].rename(columns=words)
    said = (
        "Spot listings beside the same provider's on-demand price, a dash where it lists none, and"
        " beside the cheapest on-demand price of all"
    )
    return Sheet(both, said, f"All {len(both)} spot listings")


def behind_sheet() -> Sheet:
    """Five figures of the market and their rows in the table of rents."""
    h100 = listed_prices()["H100 SXM", "on demand"]
    cheapest = f"cheapest H100 on demand: {usd(h100['low'])}"
    dearest = f"dearest H100 on demand: {usd(h100['high'])}, the median of its card"
    found = pd.concat(
        [
            _newest(cheapest, "H100 SXM", h100["low_at"]),
            _newest(dearest, "H100 SXM", h100["high_at"]),
            _newest("H100 on spot", "H100 SXM", "CoreWeave", "spot"),
            _newest("A100 40GB in April 2023", "A100 SXM 40GB", "Lambda", until="2023-04-30"),
            _newest(
                "A100 40GB committed for three years",
                "A100 SXM 40GB",
                "AWS",
                "reserved_3y",
                "2023-12-31",
            ),
        ]
    )
    what = found["provider"] + ", " + found["sku"] + ", " + found["region"]
    rows = pd.DataFrame(
        {
            "figure": found["figure"],
            "USD/h": found["usd_per_accelerator_hour"],
            "provider, product, region": what,
            "date": found["date"].dt.strftime("%Y-%m-%d"),
            "basis": found["basis"],
            "source": found["source"],
            "note": found["note"].fillna(""),
        }
    )
    figures = f"{rows['figure'].nunique()} figures of this page and their"
    words = f"{figures} rows in the table of rents; the source is its key in the references"
    return Sheet(rows, words, f"{figures} {len(rows)} rows")


def _newest(
    figure: str, chip: str, provider: str, pricing: str = "on_demand", until: str | None = None
) -> pd.DataFrame:
    """The rows of a provider's newest card up to a day, headed by the figure that they make."""
    rows = rental_prices(chip, pricing)
    rows = rows[rows["provider"] == provider]
    rows = rows[rows["date"] <= (until or rows["date"].max())]
    return rows[rows["date"] == rows["date"].max()].assign(figure=figure)
