"""What clouds deliver beside the price (F17): availability, delivery, interconnect and support."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from scaleright.catalog import table
from scaleright.formulas import lookup
from scaleright.market import Hours
from scaleright.market.listed import cards, listed_chips

UNKNOWN = "not stated"


@lookup
def cloud_terms() -> pd.DataFrame:
    """What each cloud delivers, and what it lists.

    Columns: provider; delivery, between nodes, rating (words, `UNKNOWN` where no source says);
    chips listed, as many kinds of accelerator under any contract [1], and the latest day of these
    listings.

    >>> found = cloud_terms().set_index("provider")
    >>> found.loc["CoreWeave", "delivery"], found.loc["Vast.ai", "delivery"]
    ('bare metal', 'container')
    """
    frame, sold = table("clouds"), cards()
    sold = sold[sold["provider"].isin(frame["provider"])].groupby("provider")
    kinds, day = sold["accelerator"].nunique(), sold["day"].max()
    between = [_between(*row) for row in frame[["interconnect", "gbit_per_s_per_chip"]].to_numpy()]
    return pd.DataFrame(
        {
            "provider": frame["provider"],
            "delivery": frame["delivery"].fillna(UNKNOWN),
            "between nodes": between,
            "rating": frame["rating"].fillna(UNKNOWN),
            "chips listed": [int(kinds.get(name, 0)) for name in frame["provider"]],
            "latest": [str(day.get(name, UNKNOWN)) for name in frame["provider"]],
        }
    )


def _between(kind: Any, gbit_per_s: Any) -> str:
    if pd.isna(kind):
        return UNKNOWN
    return str(kind) if pd.isna(gbit_per_s) else f"{kind}, {gbit_per_s:.0f} Gbit/s a chip"


@lookup
def asked_by(case: Any, providers: Sequence[str]) -> list[Any]:
    """What each provider asks for an hour of the case's accelerator under its contract [USD/h];
    NaN where it lists none.
    """
    hours = Hours(listed_chips())
    return [hours.paid(case.accelerator, case.contract, name).usd for name in providers]
