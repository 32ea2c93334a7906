"""Rents as they were: months of medians and indexes, clouds beside each other on a day, and what a
commitment takes off the price on demand.
"""

from dataclasses import dataclass
from datetime import date
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from scaleright.catalog import accelerator, remembered, shared, table
from scaleright.market.rentals import (
    CHIP_ALONE,
    RAW,
    WINDOW_MONTHS,
    as_day,
    at_home,
    in_window,
    one_each,
    rental_prices,
)
from scaleright.names import one_of
from scaleright.ops import exp, log, maximum, sqrt
from scaleright.outputs import Sheet
from scaleright.ranges import Range
from scaleright.units import DAYS_PER_YEAR

LEAST_PROVIDERS = 3
"""Fewer providers make no median: below three the source of the monthly series gives no index
either [zhang2026].
"""
BASES = ("raw", "normalized")
MEDIAN_OF_CARDS = "Median of rate cards"
"""The provider of a row that stands for many: their median, of which the source gives no ends."""
SERIES = ("A100 SXM 80GB", "H100 SXM", "H200 SXM", "B200")
"""Chips of which monthly medians of both bases reach back a year, the oldest first."""
TERMS = {"reserved_1y": 1, "reserved_3y": 3}
"""Years of each committed kind of pricing."""


@remembered
def _raw_medians() -> pd.DataFrame:
    """The monthly medians of cards as listed, of every chip that has them."""
    prices = rental_prices(basis=("index",))
    return prices[prices["provider"] == MEDIAN_OF_CARDS]


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


@shared
def aged_apart() -> float:
    """How far an old card lies from what the same provider asks for the same chip a year later: the
    distance of the logarithms of both that nine of ten cards on demand keep, of those one to three
    years apart and scaled to a year as a random walk's.

    Cards of a provider that is left out keep it in 92 of 100 cases, of a chip in 91.

    >>> 0.2 < aged_apart() < 0.5
    True
    """
    return float(cards_apart()["apart"].quantile(0.9))


@shared
def cards_apart() -> pd.DataFrame:
    """Cards on demand of the same chip at the same provider, one to three years apart.

    Columns: accelerator, provider, apart (distance of the logarithms of both over the square root
    of the years between them) [1].

    >>> int(cards_apart()["provider"].nunique())
    10
    """
    keys, usd = ["accelerator", "provider"], "usd_per_accelerator_hour"
    cards = at_home(rental_prices()).groupby([*keys, "date"])[usd].median().reset_index()
    pairs = cards.merge(cards, on=keys, suffixes=("", "_later"))
    years = (pairs["date_later"] - pairs["date"]).dt.days / DAYS_PER_YEAR
    pairs = pairs.assign(years=years)[(years > 1) & (years < 3)]
    moved = np.log(pairs[f"{usd}_later"] / pairs[usd]).abs() / np.sqrt(pairs["years"])
    return pairs[keys].assign(apart=moved)


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


@shared
def paired_ratios() -> pd.DataFrame:
    """Committed over on-demand price [1] of the same product: provider, chip, size, region, date
    and SKU alike.

    Columns: provider, accelerator, accelerators, region, date, sku, term_years, on_demand,
    committed [USD/h], price_ratio, source.

    >>> bool(paired_ratios()["price_ratio"].between(0.2, 1).all())
    True
    """
    keys = ["provider", "accelerator", "accelerators", "region", "date", "sku", "source"]
    wide = {
        pricing: rental_prices(pricing=pricing)[[*keys, "usd_per_accelerator_hour"]]
        for pricing in ("on_demand", *TERMS)
    }
    listed = wide["on_demand"].rename(columns={"usd_per_accelerator_hour": "on_demand"})
    pairs = [
        listed.merge(
            wide[pricing].rename(columns={"usd_per_accelerator_hour": "committed"}), on=keys
        ).assign(term_years=years)
        for pricing, years in TERMS.items()
    ]
    rows = pd.concat(pairs, ignore_index=True)
    rows["price_ratio"] = rows["committed"] / rows["on_demand"]
    columns = [*keys[:-1], "term_years", "on_demand", "committed", "price_ratio", "source"]
    return rows.sort_values([*keys, "term_years"], ignore_index=True)[columns]


def discounts_sheet() -> Sheet:
    """How deep discounts for commitments are, the vendor's headline beside its price lists; empty
    where the vendor states no headline or lists no pair.

    >>> float(discounts_sheet().rows.set_index(["provider", "years"]).loc[("AWS", 3), "headline"])
    0.4
    """
    keys = ["provider", "term_years"]
    said = table("commitment_ratios").set_index(keys)["price_ratio"].rename("headline")
    pairs = paired_ratios().groupby(keys)
    listed = pairs["price_ratio"].agg(["min", "median", "max", "size"])
    listed["newest pair"] = pairs["date"].max().dt.strftime("%Y-%m")
    found = pd.concat([said, listed], axis=1).sort_index().reset_index()
    found = found.fillna({"newest pair": "", "size": 0}).astype({"size": int})
    words = {end: f"{word} listed" for end, word in _ENDS.items()}
    rows = found.rename(columns=words | {"term_years": "years", "size": "pairs"})
    said = "Committed over on-demand price; a dash where the vendor states or lists none"
    shares = dict.fromkeys(("headline", *words.values()), "percent")
    return Sheet(rows, said, f"Discounts of {rows['provider'].nunique()} providers", shares)


_ENDS = {"min": "lowest", "median": "median", "max": "highest"}


@shared
def commitment_ratio(provider: str, term_years: int) -> Range:
    """What a commitment costs at a provider, as a share of its on-demand price [1].

    The best figure is the median over chips of `paired_ratios`, the ends their lowest and highest;
    the vendor's headline, which is its best case, can lower the low end, and stands alone where no
    pair is listed.

    Raises
    ------
    LookupError : a provider without a ratio, or a term that it lacks; the nearest names are
        offered.

    >>> commitment_ratio("AWS", 3).best < commitment_ratio("AWS", 1).best < 1
    True
    """
    headlines, pairs = table("commitment_ratios"), paired_ratios()
    one_of(
        provider,
        sorted({*headlines["provider"], *pairs["provider"]}),
        "provider with a commitment ratio",
    )
    headlines, pairs = (rows[rows["provider"] == provider] for rows in (headlines, pairs))
    terms = sorted({*map(int, headlines["term_years"]), *map(int, pairs["term_years"])})
    one_of(term_years, terms, f"term of {provider} [years]")
    said = headlines.loc[headlines["term_years"] == term_years, "price_ratio"].tolist()
    chips = (
        pairs[pairs["term_years"] == term_years]
        .groupby("accelerator")["price_ratio"]
        .median()
        .tolist()
    )
    best = float(pd.Series(chips or said).median())
    return Range(float(min(said + chips)), best, float(max(chips or said)))


@shared
def reserved_ratio() -> Range:
    """What a reservation of a term that is not stated costs, as a share of the price on demand [1].

    Of each chip the median over the newest year of the ratio between the monthly medians of rate
    cards, reserved and on demand; of the chips their median and ends.

    >>> ratio = reserved_ratio()
    >>> ratio.low < ratio.best < ratio.high < 1
    True
    """
    price, keys = "usd_per_accelerator_hour", ["accelerator", "date"]
    reserved, plain = (
        rows[rows["provider"] == MEDIAN_OF_CARDS].set_index(keys)[price]
        for rows in (
            rental_prices(pricing=of, basis=("index",)) for of in ("reserved", "on_demand")
        )
    )
    ratios = (reserved / plain).dropna().rename("ratio").reset_index()
    recent = in_window(ratios, ratios["date"].max(), WINDOW_MONTHS)
    chips = recent.groupby("accelerator")["ratio"].median()
    return Range(float(chips.min()), float(chips.median()), float(chips.max()))


@shared
def kind_ratio(segment: str, term_years: int) -> Range:
    """What a commitment costs at a provider that publishes no discount, as a share of its price on
    demand [1]: the median of the providers of its kind that do, or of all if none does; its ends
    are those of all, since a kind has few.

    >>> kind_ratio("marketplace", 3).best < kind_ratio("marketplace", 1).best < 1
    True
    """
    kinds = table("rental_prices").drop_duplicates("provider").set_index("provider")["segment"]
    known = {name: commitment_ratio(name, term_years) for name in publishing(term_years)}
    alike = [ratio.best for name, ratio in known.items() if kinds.get(name) == segment]
    best = float(pd.Series(alike or [ratio.best for ratio in known.values()]).median())
    low, high = min(of.low for of in known.values()), max(of.high for of in known.values())
    return Range(low, best, high)


@remembered
def publishing(term_years: int) -> tuple[str, ...]:
    """Providers that publish a discount for a term, by name.

    >>> "AWS" in publishing(3)
    True
    """
    both = (table("commitment_ratios"), paired_ratios())
    names = {name for of in both for name in of.loc[of["term_years"] == term_years, "provider"]}
    return tuple(sorted(names))


@shared
def discount(provider: str, segment: str, pricing: str) -> Range:
    """What an hour costs at a provider under a contract that binds, as a share of its price on
    demand [1].

    Parameters
    ----------
    segment : the provider's kind, whose discounts stand for one that publishes none
    pricing : "reserved_1y", "reserved_3y", or "reserved" for a term that is not stated

    >>> discount("Oracle Cloud", "hyperscaler", "reserved_1y").best < 1
    True
    """
    if pricing == "reserved":
        return reserved_ratio()
    years = TERMS[pricing]
    published = provider in publishing(years)
    return commitment_ratio(provider, years) if published else kind_ratio(segment, years)
