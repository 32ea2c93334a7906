"""Rows of `rental_prices`: listings to rent at, and the histories that may only be looked back
on.
"""

from __future__ import annotations

from pathlib import Path

from refresh import prices_history, prices_rates
from refresh.tables import Items

SOURCES = prices_rates.SOURCES | prices_history.SOURCES


def rows(raw: Path) -> Items:
    """Listings first, then indexes and medians; the latter carry a basis of their own, which keeps
    them out of any price.
    """
    yield from prices_rates.rows(raw)
    yield from prices_history.rows(raw)
