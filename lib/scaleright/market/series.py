"""Monthly rents as a page shows them: series in two ways of counting, their changes, and those who
watch the same chip.
"""

import pandas as pd

from scaleright.market.history import SERIES, price_change, price_history
from scaleright.market.rentals import rental_prices
from scaleright.order import ordered
from scaleright.outputs import Sheet

MONTHS = 12
"""Over which a rent's rise or fall is said."""
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


def changes_sheet() -> Sheet:
    """A year of rents, counted in two ways and over a month more or less.

    >>> len(changes_sheet().rows) == 4 * len(SERIES)
    True
    """
    rows = pd.DataFrame(
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
    words = "A year of rents, counted in two ways; a month more or less moves the answer too"
    return Sheet(rows, words, "The changes in numbers", {"change": "percent"})


def oldest_moved() -> str:
    """How the rent of the chip with the longest series moved over a year, in both ways of counting,
    in words.

    >>> oldest_moved().partition(" the A")[2]
    '100 SXM 80GB rose 26 % with prices scaled and fell 8.3 % as listed'
    """
    chip = SERIES[0]
    scaled, listed = (rose_or_fell(chip, basis) for basis in WAYS)
    to = price_change(chip, MONTHS, "raw").last
    return (
        f"over the same {MONTHS} months to {to:%Y-%m} the {chip} {scaled} with prices scaled and"
        f" {listed} as listed"
    )


def cards_of_the_oldest() -> int:
    """How many cards the last month of that chip's series has.

    >>> cards_of_the_oldest() > 1
    True
    """
    return int(price_history(SERIES[0])["providers"].iloc[-1])


def rose_or_fell(chip: str, basis: str) -> str:
    """How the monthly rent of a chip moved over a year, in words.

    >>> rose_or_fell("H100 SXM", "raw")
    'rose 29 %'
    """
    change = price_change(chip, MONTHS, basis).ratio - 1
    return f"{'rose' if change > 0 else 'fell'} {100 * abs(change):.2g} %"
