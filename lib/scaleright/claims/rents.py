"""Recomputations on rents: how far clouds lie apart, what commitments and marketplaces save, how
prices moved.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from __future__ import annotations

import pandas as pd

from scaleright.catalog import fact, table
from scaleright.claims.verdicts import Recomputed, looked_up, span
from scaleright.market import HYPERSCALERS, STEADY, hour, offered, price_history, rental_prices
from scaleright.market.hours import DISCOUNTED
from scaleright.market.rentals import newest_cards

A100S, CHIP = ("A100 SXM 40GB", "A100 SXM 80GB"), "H100 SXM"
SPOT = ("A100 SXM 80GB", "H100 SXM", "H200 SXM", "B200")
ARBITRAGE = ("A100 SXM 80GB", "H100 SXM", "H200 SXM", "B200")
LARGE = ["AWS", "Google Cloud", "Microsoft Azure"]
"""The three large public clouds that Andreessen Horowitz sets apart."""
S3_DAY, END_OF_2023, NEW_YEAR = "2023-04-07", "2023-12-31", "2026-01-01"
"""Day of Andreessen Horowitz's lost table of clouds; end of the year in which the H100 came to the
clouds; the day from which Clarifai says that supply stays tight.
"""


def clouds(name: str, day: str | None = None, contract: str = "on demand") -> pd.Series:
    """What each cloud that lists a chip asked for an hour of it on a day, by default the newest one
    [USD/h].
    """
    rows = hour(name, contract, day=day).rows
    rows = rows[rows["basis"] != DISCOUNTED]
    return rows.set_index("provider")["usd_per_accelerator_hour"]


def _apart(name: str) -> float:
    found = hour(name, day=S3_DAY)
    return found.high / found.low


def s3_narrower() -> Recomputed:
    def left(name: str) -> float:
        year = clouds(name, S3_DAY, "one year").combine_first(clouds(name, S3_DAY))
        return 100 * float(year.max() / year.min()) / _apart(name)

    return span(*map(left, A100S))


def s3_small_clouds() -> Recomputed:
    def ratio(name: str) -> float:
        small, large = (
            clouds(name, S3_DAY).drop(LARGE, errors="ignore"),
            clouds(name, S3_DAY, "one year"),
        )
        return 100 * float(small.median() / large[large.index.isin(LARGE)].median())

    return span(*map(ratio, A100S))


def s2_h100_fall() -> Recomputed:
    """Of the clouds that list it on both days, and of those whose card of then is known only as its
    source scaled it to eight chips.
    """
    scaled = rental_prices(CHIP, basis=("normalized",))
    scaled = newest_cards(scaled[scaled["date"] <= END_OF_2023]).groupby("provider")
    then = clouds(CHIP, END_OF_2023).combine_first(scaled["usd_per_accelerator_hour"].min())
    return span(*(then / clouds(CHIP)).dropna())


def s2_tight() -> Recomputed:
    """By cards on demand as listed and as scaled, and by what is reserved."""
    months = price_history(CHIP)
    months = months[months["date"].dt.year == 2026].groupby("basis")["median"]
    bound = hour(CHIP, STEADY).usd / hour(CHIP, STEADY, day=NEW_YEAR).usd
    return span(*(100 * months.last() / months.first()), 100 * bound)


def s2_no_return() -> Recomputed:
    now = [hour(name).usd for name in A100S]
    return span(
        100 * min(now) / fact("a100_usd_per_hour_2021_high"),
        100 * max(now) / fact("a100_usd_per_hour_2021_low"),
    )


def s2_depin_saving() -> Recomputed:
    def saved(name: str) -> float:
        rows = hour(name).rows
        asked = rows[rows["segment"] == "marketplace"]["usd_per_accelerator_hour"].median()
        return 100 * (1 - float(asked) / hour(name, seller=HYPERSCALERS).usd)

    large = offered("on demand").groupby("accelerator")["segment"].agg(set)
    both = large[large.map({"marketplace", "hyperscaler"}.issubset)].index
    return span(*map(saved, both))


def s2_spot_cheaper() -> Recomputed:
    """Spot over on demand of each chip that is listed both ways [%]."""
    return span(*(100 * hour(name, "spot").usd / hour(name).usd for name in SPOT))


def s2_arbitrage() -> Recomputed:
    """The cheapest cloud below the median of all [%], of each of today's chips."""
    return span(*(100 * (1 - hour(name).low / hour(name).usd) for name in ARBITRAGE))


RECOMPUTED = {
    "S3-a100-spread": lambda: span(*map(_apart, A100S)),
    "S3-commitment-years": lambda: looked_up(*table("commitment_ratios")["term_years"]),
    "S2-h100-from-8": lambda: looked_up(*clouds(CHIP, END_OF_2023)),
}
