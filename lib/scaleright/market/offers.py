"""What one accelerator sells for, and which are both sold and rented out."""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pandas as pd

from scaleright.catalog import DataError, accelerator, accelerators, remembered
from scaleright.market.hours import recent_hour


def rent_or_buy_market() -> pd.DataFrame:
    """Chips with a recent on-demand listing, a purchase price and a power, that were released since
    2020, none with a rent of the reader's own (0).

    What a used part of an older generation fetches says nothing about a server built around it.

    Columns: accelerator, vendor, segment, tdp_watts [W], chip_usd [USD], rent_usd_per_hour [USD/h].

    >>> bool((rent_or_buy_market()["chip_usd"] > 0).all())
    True
    """
    rows = []
    for chip in accelerators().values():
        known = (
            chip.purchase_usd and chip.tdp_watts and chip.released and chip.released.year >= 2020
        )
        if known and recent_hour(chip.name):
            row = {"accelerator": chip.name, "vendor": chip.vendor, "segment": chip.segment}
            row |= {"tdp_watts": chip.tdp_watts, "chip_usd": chip.purchase_mid_usd}
            rows.append(row | {"rent_usd_per_hour": 0.0})
    return pd.DataFrame(rows)


def sold_chips(name: str, chip_usd: float | None = None) -> dict[str, dict[str, float]]:
    """Price of each chip of `rent_or_buy_market`, as rows for a control that follows the chip; and
    that of one more if the market lacks it, as given or from the tables [USD].

    Raises
    ------
    DataError : the catalog lacks a price that was not given, or the power of the chip.
    ValueError : a given price is not above 0.

    >>> sold_chips("RTX 4090", 1500.0)["RTX 4090"]
    {'chip_usd': 1500.0}
    """
    chip = accelerator(name)
    if chip_usd is not None and not chip_usd > 0:
        raise ValueError(f"price of {chip_usd:g} USD for one {chip.name}: a price is above 0")
    if chip_usd is None and not chip.purchase_usd:
        raise DataError(f"the catalog has no purchase price of {chip.name}: give chip_usd [USD]")
    chip.require("tdp_watts")
    price = chip.purchase_mid_usd if chip_usd is None else chip_usd
    market = rent_or_buy_market().set_index("accelerator")[["chip_usd"]].to_dict("index")
    return market | {name: {"chip_usd": price}}


@remembered
def sale_terms(name: str) -> Mapping[str, Any]:
    """What a chip sells for, as a row for `choose`.

    Returns
    -------
    chip_usd : [USD]; nan where nobody sells it
    sold : of which days that is, in words
    vendor : a word

    >>> sale_terms("H100 SXM")["vendor"]
    'NVIDIA'
    """
    chip = accelerator(name)
    usd = chip.purchase_mid_usd if chip.purchase_usd else math.nan
    found = {"chip_usd": usd, "sold": chip.purchase_age or "none"}
    return MappingProxyType(found | {"vendor": chip.vendor})
