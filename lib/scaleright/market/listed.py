"""What is listed now: each chip's ends by contract, the cards behind them, and the tables
that a page shows of them.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from scaleright.catalog import remembered
from scaleright.market.compare import price_ends, require_card
from scaleright.market.history import SERIES
from scaleright.market.hours import COMMITTED, CONTRACTS, DISCOUNTED, hour, offered
from scaleright.market.paid import Hours, PaidHour
from scaleright.market.quotes import cheapest
from scaleright.market.rentals import EVERYWHERE, rental_prices, spread
from scaleright.market.series import MONTHS, WAYS, rose_or_fell
from scaleright.names import nearest
from scaleright.outputs import Sheet
from scaleright.units import usd

REGION_OF = {
    "East US": "eastus",
    "Iowa (us-central1)": "us-central1",
    "US East (Northern Virginia)": "us-east-1",
}
"""Regions by what older cards call them."""
ANYWHERE = "any"
"""The choice of a region that asks for none."""


def listed_chips() -> list[str]:
    """Chips that somebody lists on demand now, by name.

    >>> "H100 SXM" in listed_chips()
    True
    """
    return price_ends(spread())["accelerator"].tolist()


def require_listed(accelerator: str, accelerators: int, contract: str, region: str) -> None:
    """Refuse a chip that nobody lists on demand, or under a contract in a region.

    Raises
    ------
    LookupError : no listing, or none in the region (any if it is "any"); the nearest is offered.
    ValueError : no chip wanted.

    >>> require_listed("A10", 1, "on demand", "eastus")
    Traceback (most recent call last):
    LookupError: unknown region of A10 listings 'eastus'; allowed: not stated (1 known)
    """
    require_card(accelerator, spread())
    hour(accelerator, contract)
    if region == ANYWHERE:
        return
    of = CONTRACTS["on demand" if contract in COMMITTED else contract]
    regions = set(cheapest(accelerator, accelerators, pricing=of)["region"].replace(REGION_OF))
    if regions.isdisjoint((region, *EVERYWHERE)):
        nearest(region, sorted(regions), f"region of {accelerator} listings")


class Asked(NamedTuple):
    """What an hour of a case's chip costs: under its contract from its seller; by the hour and on
    spot, from its seller or at the reader's own prices; and both from all sellers.
    """

    here: PaidHour
    by_hour: PaidHour
    spot: PaidHour
    all_by_hour: PaidHour
    all_spot: PaidHour


def asked(case: Any) -> Asked:
    """The hours of a case: accelerator, contract, seller, on_demand_usd_per_hour and
    spot_usd_per_hour, the last two 0 for listed prices.
    """
    hours, chip, seller = Hours(listed_chips()), case.accelerator, case.seller
    return Asked(
        hours.paid(chip, case.contract, seller),
        hours.paid(chip, "on demand", seller, case.on_demand_usd_per_hour),
        hours.paid(chip, "spot", seller, case.spot_usd_per_hour),
        hours.paid(chip, "on demand"),
        hours.paid(chip, "spot"),
    )


def sold_by_contract() -> dict[str, int]:
    """How many of the listed chips have a price of their own under each contract, none that is
    discounted.

    >>> sold = sold_by_contract()
    >>> sold["on demand"] == len(listed_chips()) > sold["spot"] > sold["reserved"]
    True
    """
    own = cards()
    own = own[own["basis"] != DISCOUNTED]
    chips = own.groupby("contract")["accelerator"].nunique()
    return {of: int(chips.get(of, 0)) for of in CONTRACTS}


def cards() -> pd.DataFrame:
    """What each provider asks for each listed chip, by contract.

    Columns: accelerator, contract, provider, segment, usd_per_accelerator_hour [USD/h], day,
    region, basis (`DISCOUNTED` where the price is that on demand, less a discount).

    >>> set(cards()["contract"]) == set(CONTRACTS)
    True
    """
    every = pd.concat([offered(of).assign(contract=of) for of in CONTRACTS])
    every = every.assign(day=every["date"].dt.strftime("%Y-%m-%d"))
    columns = ["accelerator", "contract", "provider", "segment", "usd_per_accelerator_hour"]
    return every.loc[
        every["accelerator"].isin(listed_chips()), [*columns, "day", "region", "basis"]
    ]


def most_cards() -> int:
    """How many cards a chip has at most under one contract."""
    return int(cards().groupby(["accelerator", "contract"]).size().max())


@remembered
def usual_prices() -> Mapping[str, Mapping[str, Any]]:
    """How the monthly rent of each listed chip moved, as rows for `choose`.

    Returns
    -------
    trend : how the monthly rent moved over `MONTHS`, with cards scaled to one contract and as
        listed, in words
    series : the chip whose series stands for it where series are drawn, a word

    >>> usual_prices()["RTX 4090"]["series"]
    'H100 SXM'
    """
    return {
        chip: {"trend": _trend(chip), "series": chip if chip in SERIES else "H100 SXM"}
        for chip in listed_chips()
    }


def _trend(chip: str) -> str:
    if chip not in SERIES:
        return "is published by nobody"
    scaled, listed = (rose_or_fell(chip, basis) for basis in WAYS)
    return f"{scaled} in {MONTHS} months (as listed: {listed})"


def listed_sheet() -> Sheet:
    """Chips with an on-demand listing, by median."""
    found = price_ends(spread()).assign(date=lambda f: f["date"].dt.strftime("%Y-%m-%d"))
    rows = in_words(found).sort_values(["median [USD/h]", "accelerator"], ignore_index=True)
    words = "All chips with an on-demand listing, by median"
    return Sheet(rows, words, f"All {len(rows)} chips", {"times apart": "number 2"})


def often_listed(cards: pd.DataFrame) -> pd.DataFrame:
    """Cards on demand of the chips that four providers or more list so."""
    plain = cards[cards["contract"] == "on demand"]
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
    h100 = hour("H100 SXM")
    low_at, *_, high_at = h100.rows["provider"]  # the cheapest first
    cheapest = f"cheapest H100 on demand: {usd(h100.low)}"
    dearest = f"dearest H100 on demand: {usd(h100.high)}, the median of its card"
    found = pd.concat(
        [
            _newest(cheapest, "H100 SXM", low_at),
            _newest(dearest, "H100 SXM", high_at),
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
