"""Rents as they were: months of medians and indexes, and clouds beside each other on a day."""

from dataclasses import dataclass
from datetime import date
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from scaleright.catalog import accelerator, remembered, shared
from scaleright.market.rentals import CHIP_ALONE, RAW, as_day, one_each, rental_prices
from scaleright.names import one_of
from scaleright.ops import exp, log, maximum, sqrt

LEAST_PROVIDERS = 3
"""Fewer providers make no median: below three the source of the monthly series gives no index
either [zhang2026].
"""
BASES = ("raw", "normalized")
_RAW_MEDIAN = "Median of rate cards"
SERIES = ("A100 SXM 80GB", "H100 SXM", "H200 SXM", "B200")
"""Chips of which monthly medians of both bases reach back a year, the oldest first."""


@remembered
def _raw_medians() -> pd.DataFrame:
    """The monthly medians of cards as listed, of every chip that has them."""
    prices = rental_prices(basis=("index",))
    return prices[prices["provider"] == _RAW_MEDIAN]


@shared
def price_history(accelerator_name: str) -> pd.DataFrame:
    """Monthly rent of a chip on demand, over rate cards [USD/h], those as listed and those scaled
    to one contract apart.

    Basis "normalized": every card scaled by the source to a chip in an eight-chip SXM node, which
    makes months comparable and mostly raises a card. Basis "raw": the median of cards as listed,
    whose mix changes from month to month; the source gives its median alone, so `low` and `high`
    are empty there.

    Columns: date (first of the month), low, median, high, providers (of the cards), basis.

    Raises
    ------
    LookupError : unknown chip, or one without a history; those with one are named.

    >>> history = price_history("H100 SXM")
    >>> sorted(set(history["basis"]))
    ['normalized', 'raw']
    """
    name = accelerator(accelerator_name).name
    medians = _raw_medians()
    if name not in set(medians["accelerator"]):
        raise LookupError(
            f"no on_demand price history of {name}; chips with one:"
            f" {', '.join(sorted(set(medians['accelerator'])))}"
        )
    cards = rental_prices(name, basis=("normalized",)).groupby("date")["usd_per_accelerator_hour"]
    months = pd.DataFrame(
        {
            "low": cards.min(),
            "median": cards.median(),
            "high": cards.max(),
            "providers": cards.size(),
        }
    )
    months = months[months["providers"] >= LEAST_PROVIDERS]
    raw = medians[medians["accelerator"] == name].set_index("date")["usd_per_accelerator_hour"]
    raw = raw[raw.index.isin(months.index)]
    listed = pd.DataFrame(
        {
            "low": float("nan"),
            "median": raw,
            "high": float("nan"),
            "providers": months["providers"].reindex(raw.index),
        }
    )
    both = pd.concat([listed.assign(basis="raw"), months.assign(basis="normalized")])
    return both.rename_axis("date").reset_index().sort_values(["basis", "date"], ignore_index=True)


@dataclass(frozen=True)
class PriceChange:
    """Monthly rent of a chip [USD/h] at both ends of a span, and the later one over the earlier one
    [1].
    """

    first: date
    last: date
    first_usd_per_hour: float
    last_usd_per_hour: float
    ratio: float


def price_change(
    accelerator_name: str, months: int, basis: str = "normalized", last: date | str | None = None
) -> PriceChange:
    """How the monthly median of a chip's on-demand rent moved over the months up to `last`, by
    default the newest one.

    Raises
    ------
    LookupError : a chip without a history, an unknown basis, or a month without three providers;
        those with them are named.

    >>> round(price_change("H100 SXM", 11).ratio,
    ...     3), round(price_change("H100 SXM", 11, "raw").ratio, 3)
    (1.388, 1.288)
    """
    one_of(basis, BASES, "basis")
    history = price_history(accelerator_name)
    medians = history[history["basis"] == basis].set_index("date")["median"]
    end = medians.index.max() if last is None else pd.Timestamp(last).replace(day=1)
    ends = (end - pd.DateOffset(months=months), end)
    for month in ends:
        if month not in medians.index:
            known = ", ".join(f"{m:%Y-%m}" for m in medians.index)
            raise LookupError(
                f"no median of {accelerator_name} for {month:%Y-%m}; months with one: {known}"
            )
    before, after = (float(medians[month]) for month in ends)
    return PriceChange(ends[0].date(), ends[1].date(), before, after, after / before)


@dataclass(frozen=True)
class Drift:
    """What rents on demand became within a year, over what they were: 5th, 50th and 95th percentile
    [1].

    windows : years that were looked at, which overlap
    """

    low: float
    middle: float
    high: float
    windows: int

    def mean_over(self, years: Any, fixed: Any = 0.0) -> tuple[Any, Any]:
        """5th and 95th percentile of the mean rent of the years ahead, over today's [1].

        Rents move as a random walk of their logarithms; the mean over a time spreads as its end
        does over a third of that time. While a contract holds its price the market moves on, and
        what comes after is paid at the price of the market then.

        Parameters
        ----------
        years : over which the mean is [year]
        fixed : how many of them a contract fixes [year]

        >>> low, high = Drift(0.8, 1.0, 1.25, 60).mean_over(3.0)
        >>> round(low, 6), round(high, 6), Drift(0.8, 1.0, 1.25, 60).mean_over(3.0, fixed=3.0)
        (0.8, 1.25, (1.0, 1.0))
        """
        loose = maximum(years - fixed, 0.0)
        spread = log(self.high / self.low) / 2 * loose / years * sqrt(fixed + loose / 3)
        return exp(-spread), exp(spread)


@shared
def yearly_drift() -> Drift:
    """How monthly rents of the `SERIES`, scaled to one contract, moved within every year on record.

    >>> drift = yearly_drift()
    >>> drift.low < drift.middle < drift.high
    True
    """
    moved = pd.concat(_years()).dropna()
    low, middle, high = np.quantile(moved, (0.05, 0.5, 0.95))
    return Drift(float(low), float(middle), float(high), len(moved))


@shared
def drift_apart() -> Drift:
    """How the ratio of two chips' rents moved within every year in which both are on record, either
    way around: most of what moves one rent moves the other.

    >>> apart, alone = drift_apart(), yearly_drift()
    >>> 1 < apart.high / apart.low < alone.high / alone.low
    True
    """
    pairs = combinations(_years(), 2)
    moved = pd.concat([here / there for here, there in pairs]).dropna()
    low, middle, high = np.quantile([*moved, *(1 / moved)], (0.05, 0.5, 0.95))
    return Drift(float(low), float(middle), float(high), len(moved))


def _years() -> list[pd.Series]:
    """Of each of the `SERIES` the rent a year later over that of every month [1]."""
    found = list[pd.Series]()
    for chip in SERIES:
        history = price_history(chip)
        rents = history[history["basis"] == "normalized"].set_index("date")["median"]
        later = rents.reindex(rents.index + pd.DateOffset(years=1)).to_numpy()
        found.append(later / rents)
    return found


def cloud_table(day: date | str, window_days: int) -> pd.DataFrame:
    """Clouds by chips as of a day: of each the listing nearest in time, within a window to both
    sides.

    What can be rebuilt of Andreessen Horowitz's lost table of clouds (2023-04-07). Each figure says
    its own day; one that leaves out the host, which no other function here returns, has the basis
    "chip alone".

    Columns: as of `spread`, and days_apart (listing after the day: positive).

    Raises
    ------
    ValueError : a day in the future or before the first listing, a window below zero, or no listing
        within it.

    >>> table_2023 = cloud_table("2023-04-07", 60)
    >>> {"AWS", "Microsoft Azure", "Google Cloud", "CoreWeave",
    ...     "Lambda"} <= set(table_2023["provider"])
    True
    """
    if window_days < 0:
        raise ValueError(f"window_days={window_days}; allowed: from 0")
    prices = rental_prices(basis=(*RAW, CHIP_ALONE))
    day = as_day(day, prices)
    prices = prices.assign(apart=(prices["date"] - day).dt.days.abs())
    prices = prices[prices["apart"] <= window_days]
    if prices.empty:
        raise ValueError(f"no on_demand listing within {window_days} days of {day:%Y-%m-%d}")
    # Of two days equally near the earlier one counts: it was known on the day.
    prices = prices.sort_values(["apart", "date"], kind="stable")
    rows = one_each(
        prices[
            prices["date"] == prices.groupby(["accelerator", "provider"])["date"].transform("first")
        ]
    )
    return rows.assign(days_apart=(rows["date"] - day).dt.days)
