"""What interrupted the training of Llama 3, by component."""

from __future__ import annotations

from pathlib import Path

from refresh.rules import read_csv
from refresh.tables import Items, RefreshError, to_float

SOURCES = frozenset({"llama3table5"})
TABLE = "reliability/llama3_table5_interruptions.csv"
TOTAL = 419
"""Unexpected interruptions that the text states; the printed shares add up to less than one."""


def rows(raw: Path) -> Items:
    """Rows of `interruptions` in the order of the table.

    Raises
    ------
    RefreshError : a count that is no whole number above 0; counts that do not add up to the text's.
    """
    found = []
    for number, row in enumerate(read_csv(raw, TABLE), start=1):
        count, share = (
            to_float(row[name], TABLE, str(number), name) for name in ("count", "pct_as_printed")
        )
        if not count or count < 1 or count != int(count) or share is None:
            raise RefreshError(f"{TABLE}: row {number}: count must be a whole number above 0")
        found.append(
            {
                "component": row["component"],
                "category": row["category"],
                "interruptions": int(count),
                "printed_share": round(share / 100, 4),
                "source": "llama3table5",
            }
        )
    if (total := sum(row["interruptions"] for row in found)) != TOTAL:
        raise RefreshError(f"{TABLE}: rows add up to {total}, the text says {TOTAL}")
    yield from found
