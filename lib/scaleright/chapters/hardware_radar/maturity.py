"""How far the world around a chip has come, by criteria that a reader can check: ten of them, a
point each.

Seven ask whether a program that runs models supports the platform (`hardware_maturity`); three are
counted from the other tables: who submits the chip to MLPerf, how many clouds list it, how long it
has been sold.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from scaleright.catalog import accelerator, accelerators, shared, table
from scaleright.market import rental_prices, spread
from scaleright.mlperf import ROUNDS, comparable
from scaleright.units import DAYS_PER_YEAR

SUPPORT = {"yes": 1.0, "apart": 0.5, "no": 0.0}
"""Points for a program: the platform is supported in its own releases, in a package or repository
apart, or not at all.
"""
COUNTED = {"MLPerf submitters": (1, 3), "clouds": (3, 10), "years on the market": (1, 2)}
"""Criteria that are counted, and from which count on they give half a point and a whole one."""
RECENT_ROUNDS = ROUNDS[-3:]


@shared
def maturity_criteria() -> pd.DataFrame:
    """Every criterion for every chip that ships on a platform of the table.

    Counted are the submitters in the last three rounds of MLPerf Inference, the clouds whose newest
    card is of the last twelve months, and the years from a chip's release to the newest rental
    card. A chip older than the oldest one that a program supports counts as not supported.

    Columns: accelerator, platform, criterion, value (yes, apart, no, or a count), points (0 to 1),
    source, note.

    >>> rows = maturity_criteria().set_index(["accelerator", "criterion"])
    >>> rows.loc[("H100 SXM", "vLLM"), "value"], rows.loc[("P100 PCIe", "vLLM"), "value"]
    ('yes', 'no')
    """
    support, clouds, today = (
        table("hardware_maturity"),
        spread().groupby("accelerator").size(),
        rental_prices()["date"].max(),
    )
    submitters = comparable(RECENT_ROUNDS).groupby("accelerator")["submitter"].nunique()
    rows: list[tuple[Any, ...]] = []
    for name, chip in accelerators().items():
        own = support[(support["vendor"] == chip.vendor) & (support["kind"] == chip.kind)]
        if own.empty or chip.released is None:
            continue
        platform = own["platform"].iloc[0]
        for row in own.itertuples():
            first = row.first_chip
            old = isinstance(first, str) and chip.released < accelerator(first).require("released")
            value = "no" if old else row.value
            rows.append(
                (name, platform, row.criterion, value, SUPPORT[value], row.source, row.note)
            )
        years = (today - pd.Timestamp(chip.released)).days / DAYS_PER_YEAR
        for (criterion, (half, whole)), count in zip(
            COUNTED.items(),
            (int(submitters.get(name, 0)), int(clouds.get(name, 0)), years),
            strict=True,
        ):
            points, rule = (
                0.5 * (count >= half) + 0.5 * (count >= whole),
                f"half a point from {half}, a whole one from {whole}",
            )
            rows.append((name, platform, criterion, f"{count:.3g}", points, "counted", rule))
    return pd.DataFrame(
        rows, columns=["accelerator", "platform", "criterion", "value", "points", "source", "note"]
    )


def maturity() -> pd.Series:
    """Points of each chip, 0 to 10; chips on a platform that the table lacks are left out.

    >>> maturity()[["H100 SXM", "MI300X", "TPU v6e"]].tolist()
    [9.5, 9.5, 3.5]
    """
    return maturity_criteria().groupby("accelerator")["points"].sum()


def maturity_table(chips: Sequence[str]) -> pd.DataFrame:
    """What each criterion finds of some chips, a column each, and their points in the last row.

    >>> maturity_table(["H100 SXM", "TPU v6e"]).iloc[-1].tolist()
    ['points of 10', '9.5', '3.5']
    """
    rows = maturity_criteria()
    found = rows.pivot(index="criterion", columns="accelerator", values="value")[list(chips)]
    found = found.reindex([*dict.fromkeys(rows["criterion"])])
    found.loc["points of 10"] = [f"{maturity()[chip]:g}" for chip in chips]
    return found.rename_axis(columns=None).reset_index()


def counted_in_words() -> str:
    """From which count on the counted criteria give their points.

    >>> counted_in_words()[:63]
    'MLPerf submitters (half a point from 1, a whole one from 3), cl'
    """
    return ", ".join(
        f"{what} (half a point from {half}, a whole one from {whole})"
        for what, (half, whole) in COUNTED.items()
    )


def support_table() -> pd.DataFrame:
    """Support of each platform by each program, with its source and the date of that.

    >>> "platform" in support_table()
    True
    """
    found = table("hardware_maturity")
    found = found.assign(as_of=found["as_of"].dt.strftime("%Y-%m-%d"))
    return found[["criterion", "platform", "value", "note", "source", "as_of"]]
