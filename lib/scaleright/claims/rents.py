"""Recomputations on rents: how far clouds lie apart, what commitments and marketplaces save, how
prices moved.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from __future__ import annotations

import pandas as pd

from scaleright.catalog import fact, table
from scaleright.claims.verdicts import Recomputed, looked_up, span
from scaleright.market import cheapest, hour, price_history, rental_prices, spread
from scaleright.market.rentals import RAW, newest_cards

A100S, CHIP = ("A100 SXM 40GB", "A100 SXM 80GB"), "H100 SXM"
LARGE = ["AWS", "Google Cloud", "Microsoft Azure"]
"""The three large public clouds that S3 sets apart."""
S3_DAY, END_OF_2023 = "2023-04-07", "2023-12-31"
"""Day of S3's lost table of clouds; end of the year in which the H100 came to the clouds."""


def clouds(name: str, day: str | None = None, pricing: str = "on_demand") -> pd.Series:
    """What each cloud asked for a chip on its newest card in the year to a day, by default the
    newest one [USD/h].
    """
    prices = spread(day, pricing)
    return prices[prices["accelerator"] == name].set_index("provider")["usd_per_accelerator_hour"]


def _apart(prices: pd.Series) -> float:
    return float(prices.max() / prices.min())


def s3_narrower() -> Recomputed:
    def left(name: str) -> float:
        listed = clouds(name, S3_DAY)
        return (
            100 * _apart(clouds(name, S3_DAY, "reserved_1y").combine_first(listed)) / _apart(listed)
        )

    return span(*map(left, A100S))


def s3_small_clouds() -> Recomputed:
    def ratio(name: str) -> float:
        small, large = (
            clouds(name, S3_DAY).drop(LARGE, errors="ignore"),
            clouds(name, S3_DAY, "reserved_1y"),
        )
        return 100 * float(small.median() / large[large.index.isin(LARGE)].median())

    return span(*map(ratio, A100S))


def s2_h100_fall() -> Recomputed:
    cards = rental_prices(CHIP, basis=(*RAW, "normalized"))
    then = newest_cards(cards[cards["date"] <= END_OF_2023])
    least = (
        of.groupby("provider")["usd_per_accelerator_hour"].min() for of in (then, cheapest(CHIP))
    )
    return span(*(next(least) / next(least)).dropna())


def s2_tight() -> Recomputed:
    months = price_history(CHIP)
    months = months[months["date"].dt.year == 2026].groupby("basis")["median"]
    return span(*(100 * months.last() / months.first()))


def s2_no_return() -> Recomputed:
    now = [hour(name).usd for name in A100S]
    return span(
        100 * min(now) / fact("a100_usd_per_hour_2021_high"),
        100 * max(now) / fact("a100_usd_per_hour_2021_low"),
    )


def s2_depin_saving() -> Recomputed:
    each = (
        spread().groupby(["accelerator", "segment"])["usd_per_accelerator_hour"].median().unstack()
    )
    return span(*(100 * (1 - each["marketplace"] / each["hyperscaler"])).dropna())


RECOMPUTED = {
    "S3-a100-spread": lambda: span(*(_apart(clouds(name, S3_DAY)) for name in A100S)),
    "S3-commitment-years": lambda: looked_up(*table("commitment_ratios")["term_years"]),
    "S2-h100-from-8": lambda: looked_up(*clouds(CHIP, END_OF_2023)),
}
