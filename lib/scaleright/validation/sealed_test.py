"""What came of the runs that were set aside and opened once (`measured/sealed_test`)."""

from __future__ import annotations

import pandas as pd

from scaleright import catalog
from scaleright.formulas import lookup
from scaleright.order import ordered
from scaleright.validation.cross_validation import median_and_p90
from scaleright.validation.published import SET_ASIDE


def _scored(kind: str) -> pd.DataFrame:
    """Figures of a measured table that its configurations determine, with their errors [%]."""
    rows = catalog.table("measured/sealed_test")
    rows = rows[(rows["table"] == f"measured/{kind}") & rows["scored"]]
    error = 100 * (rows["predicted"] / rows["published"] - 1)
    return rows.assign(error=error, inside=rows["published"].between(rows["low"], rows["high"]))


@lookup
def opened_once(kind: str) -> dict[str, float | str]:
    """How the sealed test of a kind came out: figures, median and 90th percentile of the absolute
    error, share inside the stated ranges [1], and the day.

    >>> opened_once("training")["figures"]
    30
    """
    rows = _scored(kind)
    median, p90 = rows["error"].abs().quantile([0.5, 0.9]) / 100
    return {
        "figures": len(rows),
        "median": float(median),
        "p90": float(p90),
        "inside": float(rows["inside"].mean()),
        "opened": str(rows["opened"].max())[:10],
    }


@lookup
def by_source(kind: str) -> pd.DataFrame:
    """The same of each source: figures, median / 90th percentile of the absolute error [%], bias
    [%], and figures inside the stated ranges [%].
    """
    rows = _scored(kind)
    each = rows.groupby("source")
    found = pd.DataFrame(
        {
            "figures": each.size(),
            "error": each["error"].agg(median_and_p90),
            "bias": each["error"].median().round(1),
            "in_range": (100 * each["inside"].mean()).round(0),
        }
    )
    found = ordered(found.reset_index(), "figures", ascending=False).reset_index(drop=True)
    return found.assign(source=found["source"].replace(SET_ASIDE))
