"""The figures of the day on the start page: which they are, and how data moved each.

`python -m refresh.headlines` asks the chapters again at the prices before the newest ones, with the
same sellers, and keeps both figures in `data/headlines.csv`: what moves between them is data alone.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from html import escape
from pathlib import Path

from scaleright.press.about import spoken
from scaleright.press.prose import Pages

TABLE = "headlines"
ITSELF = ""
"""In place of a parameter: the figure is that rent."""
UNMOVED = 0.005
"""A change below this share is none."""


@dataclass(frozen=True)
class Headline:
    """A figure of a chapter's answer at its defaults.

    label : what it is of, for somebody who reads nothing else
    low, high : quantities of the same answer, its range
    rents : the chapter's parameters for a rent, each with the chip and the contract that is paid;
        where there is none, no price of an hour moves the figure
    """

    chapter: str
    quantity: str
    label: str
    low: str = "range_low"
    high: str = "range_high"
    rents: Mapping[str, tuple[str, str]] = field(default_factory=dict)


_H100 = "H100 SXM"
HEADLINES = (
    Headline(
        "gpu_prices",
        "here_usd",
        "for an hour of one H100, rented by the hour",
        "low",
        "high",
        {ITSELF: (_H100, "on demand")},
    ),
    Headline(
        "token_cost",
        "usd_per_million",
        "for a million tokens (pieces of words) written by a 70B model, the cheapest way compared",
    ),
    Headline(
        "pretraining_cost",
        "run_usd",
        "to train a 7B model from nothing on 2 trillion tokens, on the cheapest chips compared",
    ),
    Headline(
        "buy_or_rent",
        "break_even_hours",
        "of use a day: above that, owning an H100 costs less than renting one by the hour",
        "break_even_hours_low",
        "break_even_hours_high",
        rents={"rent_usd_per_hour": (_H100, "on demand")},
    ),
    Headline(
        "vendor_claims",
        "times_cheaper",
        "as many tokens for a dollar on a GB300 as on an H200; its maker announced 35",
        rents={
            "newer_usd_per_hour": ("GB300", "on demand"),
            "older_usd_per_hour": ("H200 SXM", "on demand"),
        },
    ),
    Headline(
        "sustainability",
        "carbon_kg",
        "of greenhouse gas (CO2e) for a million tokens of a 70B model, making the chips included",
    ),
)


@dataclass(frozen=True)
class Edition:
    """A headline at the prices of a day: the newest listing that counts."""

    day: date
    value: float
    sellers: int


def editions(data: Path) -> dict[tuple[str, str], list[Edition]]:
    """What the table keeps of each figure, the oldest first; none if there is no table."""
    path, found = data / f"{TABLE}.csv", dict[tuple[str, str], list[Edition]]()
    if path.is_file():
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                edition = Edition(
                    date.fromisoformat(row["date"]), float(row["value"]), int(row["sellers"])
                )
                found.setdefault((row["chapter"], row["quantity"]), []).append(edition)
    return {key: sorted(of, key=lambda edition: edition.day) for key, of in found.items()}


def moved(of: list[Edition]) -> str:
    """How data moved a figure since the day before the last, in words.

    >>> moved([Edition(date(2026, 10, 5), 4.0, 7), Edition(date(2026, 10, 10), 4.2, 7)])
    'up 5 % since October 5, 2026, at the same 7 sellers'
    >>> moved([Edition(date(2026, 8, 1), 2.0, 1), Edition(date(2026, 9, 1), 2.0, 1)])
    'unchanged since August 1, 2026'
    >>> moved([])
    'first edition of this figure'
    """
    if len(of) < 2:
        return "first edition of this figure"
    before, now = of[-2:]
    change = now.value / before.value - 1
    since = f"since {spoken(before.day.isoformat())}"
    if abs(change) < UNMOVED:
        return f"unchanged {since}"
    same = f", at the same {now.sellers} sellers" if now.sellers > 1 else ""
    return f"{'up' if change > 0 else 'down'} {100 * abs(change):.2g} % {since}{same}"


def tiles(pages: Pages) -> str:
    """The figures of the day as HTML, each a link to its chapter."""
    kept, shown = editions(pages.book.data), []
    for of in HEADLINES:
        value, low, high = (pages.said(of.chapter, q) for q in (of.quantity, of.low, of.high))
        why = moved(kept.get((of.chapter, of.quantity), []))
        shown.append(
            f'<li><a href="../notebooks/{of.chapter}.html"><strong>{escape(value)}</strong>'
            f" <span>{escape(of.label)}</span>"
            f" <small>{escape(low)} to {escape(high)}; {escape(why)}</small></a></li>"
        )
    return f'<ul class="sr-tiles">{"".join(shown)}</ul>'
