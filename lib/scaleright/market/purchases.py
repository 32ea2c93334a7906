"""What accelerators sold for, each kind of price apart, and the chips of a day with price, rent and
physics.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any

import pandas as pd

from scaleright.catalog import Accelerator, accelerators, table
from scaleright.market.history import cloud_table
from scaleright.market.rentals import RAW, as_day

SINGLE = ("launch", "list", "street")
"""Kinds of price at which somebody sold one new chip; a system's share carries host and margin, an
estimate is no offer.
"""


def hardware_table(day: date | str, window_days: int = 240) -> pd.DataFrame:
    """Chips that were sold or rented out by a day, with what they cost, computed and drew:
    Andreessen Horowitz's lost table of GPUs.

    The purchase price is the newest one of a single new chip up to the day, of other kinds only
    where there is none; the rent, host included, is the median over clouds of `cloud_table`. What
    nobody published stays empty.

    Columns: accelerator, vendor, segment, released, usd_per_accelerator, purchase_kind,
    purchase_date, rent_usd_per_hour, rent_low, rent_high [USD/h], clouds, days_apart (of the
    listing farthest from the day), memory_bytes [B], memory_bytes_per_s [B/s], dense_16bit_flops
    [FLOP/s], tdp_watts [W].

    Raises
    ------
    ValueError : as for `cloud_table`.

    >>> rows = hardware_table("2023-04-07").set_index("accelerator")
    >>> rows.loc["A100 SXM 40GB", "purchase_kind"], bool(rows.loc["A100 SXM 40GB",
    ...     "rent_low"] < rows.loc["A100 SXM 40GB", "rent_high"])
    ('list', True)
    """
    rents = cloud_table(day, window_days)
    rents = rents[rents["basis"].isin(RAW)]
    sold = table("purchase_prices")
    until = as_day(day, sold)
    sold = (
        sold[sold["date"] <= until]
        .assign(single=sold["kind"].isin(SINGLE))
        .sort_values(["single", "date", "usd_per_accelerator"])
    )
    quotes = (
        sold.drop_duplicates("accelerator", keep="last").set_index("accelerator").to_dict("index")
    )
    rented_of, rows = dict(tuple(rents.groupby("accelerator"))), []
    for chip in accelerators().values():
        rented, quote = rented_of.get(chip.name, rents.iloc[:0]), quotes.get(chip.name, {})
        if (rented.empty and not quote) or chip.released is None or chip.released > until.date():
            continue
        rows.append(_row(chip, quote, rented))
    return pd.DataFrame(rows)


def _row(chip: Accelerator, quote: Mapping[str, Any], rented: pd.DataFrame) -> dict[str, Any]:
    """A chip in `hardware_table`."""
    listed = rented["usd_per_accelerator_hour"]
    return {
        "accelerator": chip.name,
        "vendor": chip.vendor,
        "segment": chip.segment,
        "released": chip.released,
        "usd_per_accelerator": quote.get("usd_per_accelerator"),
        "purchase_kind": quote.get("kind"),
        "purchase_date": quote.get("date"),
        "rent_usd_per_hour": listed.median(),
        "rent_low": listed.min(),
        "rent_high": listed.max(),
        "clouds": len(listed),
        "days_apart": rented["days_apart"].abs().max(),
        "memory_bytes": chip.memory_bytes,
        "memory_bytes_per_s": chip.memory_bytes_per_s,
        "dense_16bit_flops": chip.dense.get("bf16", chip.dense.get("fp16")),
        "tdp_watts": chip.tdp_watts,
    }
