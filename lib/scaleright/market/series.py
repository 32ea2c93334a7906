"""Monthly rents as a page shows them: series in two ways of counting, their changes, and those who
watch the same chip.
"""

import pandas as pd

from scaleright.market.history import SERIES, price_change, price_history
from scaleright.market.rentals import rental_prices
from scaleright.order import ordered

WAYS = {"normalized": "scaled", "raw": "as listed"}
"""How the cards of a basis are counted, in words."""
_BASES = {
    "normalized": "median of cards scaled to one contract",
    "raw": "median of cards as listed",
}


def monthly_rents() -> dict[str, pd.DataFrame]:
    """Monthly medians of the chips with a series, by how cards are counted.

    Columns: date, accelerator, median [USD/h].

    >>> [sorted(set(rents["accelerator"])) == sorted(SERIES) for rents in monthly_rents().values()]
    [True, True]
    """
    every = _series()
    shown = ["date", "accelerator", "median"]
    return {words: every.loc[every["basis"] == basis, shown] for basis, words in WAYS.items()}


def _series() -> pd.DataFrame:
    return pd.concat([price_history(chip).assign(accelerator=chip) for chip in SERIES])


def watched_rents(since: str = "2025-01-01") -> pd.DataFrame:
    """Three series of each of these chips: cards as listed, cards scaled, and the daily index of
    specialized clouds by another maker.

    Columns: date, accelerator, low, median, high [USD/h], basis, line (its name).

    >>> sorted(set(watched_rents()["line"]))
    ['another index', 'as listed', 'scaled']
    """
    daily = rental_prices(basis=("index",))
    daily = daily[(daily["provider"] == "GPU rental index") & (daily["segment"] == "neocloud")]
    daily = daily[daily["accelerator"].isin(SERIES)].assign(
        median=daily["usd_per_accelerator_hour"],
        line="another index",
        basis="daily index of specialized clouds",
    )
    months = _series()
    months = months.assign(line=months["basis"].map(WAYS), basis=months["basis"].map(_BASES))
    columns = ["date", "accelerator", "low", "median", "high", "basis", "line"]
    both = pd.concat([months[columns], daily.reindex(columns=columns)])
    return ordered(both[both["date"] >= since], ["line", "date"])


def year_changes() -> pd.DataFrame:
    """A year of rents, counted in two ways and over a month more or less, under the words that head
    a table.

    >>> len(year_changes()) == 4 * len(SERIES)
    True
    """
    return pd.DataFrame(
        {
            "accelerator": chip,
            "cards": words,
            "from [USD/h]": change.first_usd_per_hour,
            f"to {change.last:%Y-%m} [USD/h]": change.last_usd_per_hour,
            "change": change.ratio - 1,
            "months": months,
        }
        for chip in SERIES
        for months in (11, 12)
        for basis, words in WAYS.items()
        for change in [price_change(chip, months, basis)]
    )
