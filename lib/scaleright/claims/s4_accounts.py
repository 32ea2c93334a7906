"""How the three figures of a row of the MLPerf blog post's results may come about: the submissions
at hand, the right average of them, the mistakes, and what round v5.0 could add (see `s4`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import pandas as pd

from scaleright.catalog import remembered
from scaleright.claims.verdicts import AGREEMENT
from scaleright.mlperf import results

ROUNDS = ("v3.1", "v4.0", "v4.1", "v5.1")
"""Rounds of the MLPerf blog post that are at hand; it also names v5.0."""
FIGURES = {
    "total": ("average_total", 2),
    "per chip": ("average_per_accelerator", 2),
    "chips": ("average_accelerators", 1),
}
"""What the MLPerf blog post prints of each chip, benchmark and scenario: the column of the table,
and decimals.
"""
NODE, MIXED = (
    "divided by the chips of one node, not of the system",
    "tokens/s and samples/s averaged together",
)
PART, UNSEEN = (
    "only some of the rounds in which the chip ran",
    "includes round v5.0, which is not at hand",
)
OLD_UNIT = "only the rounds in samples/s, while newer ones are in tokens/s"
METHODS = (("accelerators", ()), ("accelerators_per_node", (NODE,)))
SLACK = 1.15
"""How far outside the rates at hand an unseen submission may lie: half of what software gains in a
year (v4.1 to v5.1).
"""
_NEEDED = (
    "round",
    "accelerator",
    "accuracy_target",
    "flags",
    "unit",
    "value",
    "accelerators",
    "accelerators_per_node",
    "per_accelerator",
)
CLOSE = 0.01
"""How exactly an account with unseen submissions must give the printed average: they need not all
be of one size.
"""


@dataclass(frozen=True)
class Account:
    """How the three figures of a row come about: mistakes made; rounds, if not all, and unit; what
    of v5.0 it takes, at what rate.
    """

    figures: tuple[float, float, float]
    mistakes: tuple[str, ...] = ()
    rounds: str = ""
    unit: str = ""
    unseen: int = 0
    chips: int = 0
    per_chip: float = 0.0


@remembered
def _rounds(benchmark: str, scenario: str) -> pd.DataFrame:
    """The submissions to one benchmark in the rounds at hand, as far as accounts need them."""
    rows = results(ROUNDS)
    of = (rows["benchmark"] == benchmark) & (rows["scenario"] == scenario)
    return rows.loc[of, list(_NEEDED)].reset_index(drop=True)


def at_hand(row) -> pd.DataFrame:
    """The submissions at hand of a row's chip in any memory size, at its usual power, in a virtual
    machine or not as the MLPerf blog post says.
    """
    rows = _rounds(row.benchmark, row.scenario)
    rows = rows[rows["accelerator"].str.fullmatch(f"{re.escape(row.accelerator)}( .*)?", na=False)]
    if not pd.isna(row.accuracy_target):
        rows = rows[rows["accuracy_target"] == row.accuracy_target]
    return rows[
        ~rows["flags"].str.contains("raised_power")
        & (rows["flags"].str.contains("virtualized") == row.virtualized)
    ]


def newest(rows: pd.DataFrame) -> pd.DataFrame:
    """Submissions in the unit of the newest round: where a benchmark changed its unit, no average
    spans both.
    """
    return rows[rows["unit"] == rows.sort_values("round", kind="stable")["unit"].iloc[-1]]


def averages(rows: pd.DataFrame, divisor: str = "accelerators") -> tuple[float, float, float]:
    """The MLPerf blog post's averages over submissions: of the result, of the result per `divisor`,
    of the number of chips.
    """
    result, count, each = rows["value"], rows["accelerators"], rows["value"] / rows[divisor]
    return float(result.mean()), float(each.mean()), float(count.mean())


def _fits(row, figures: tuple[float, float, float], within: float) -> bool:
    """Whether figures are those printed, but for the rounding of the last decimal and a relative
    difference.
    """
    printed = ((getattr(row, column), decimals) for column, decimals in FIGURES.values())
    return all(
        abs(value - found) <= max(0.5 * 10**-decimals + 1e-9, within * value)
        for (value, decimals), found in zip(printed, figures, strict=True)
    )


def _ways(rows: pd.DataFrame) -> Iterator[tuple[pd.DataFrame, str, tuple[str, ...]]]:
    """Ways to average submissions: those in one unit, or by mistake all of two units; by which
    column; the mistakes made.
    """
    for chosen, mixed in [(newest(rows), ()), (rows, (MIXED,))][: rows["unit"].nunique()]:
        for divisor, node in METHODS:
            yield chosen, divisor, mixed + node


def accounts(row, held: pd.DataFrame, most: int) -> Iterator[Account]:
    """Accounts that give a row's figures: from all rounds at hand, from the first or last of them,
    from them and v5.0.
    """
    rounds = sorted(held["round"].unique())
    for part in [
        rounds,
        *(part for n in range(len(rounds) - 1, 0, -1) for part in (rounds[:n], rounds[-n:])),
    ]:
        for rows, divisor, mistakes in _ways(held[held["round"].isin(part)]):
            if _fits(row, figures := averages(rows, divisor), AGREEMENT):
                yield Account(
                    figures,
                    mistakes,
                    "" if part == rounds else " and ".join(part),
                    rows["unit"].iloc[0],
                )
    rates, largest = newest(held)["per_accelerator"], held["accelerators"].max()
    slowest, fastest = rates.min() / SLACK, rates.max() * SLACK
    for rows, divisor, mistakes in _ways(held):
        sums = [
            float(column.sum())
            for column in (rows["value"], rows["value"] / rows[divisor], rows["accelerators"])
        ]
        node = (
            rows["accelerators_per_node"].mode().max()
            if divisor == "accelerators_per_node"
            else largest
        )
        for unseen, rounding in product(range(1, most + 1), (0.0, -0.05, 0.05)):
            n = len(rows) + unseen
            missing, chips = (
                row.average_total * n - sums[0],
                round((row.average_accelerators + rounding) * n - sums[2]),
            )
            if unseen <= chips <= unseen * largest and slowest <= missing / chips <= fastest:
                figures = (
                    row.average_total,
                    float(sums[1] + missing / min(chips / unseen, node)) / n,
                    (sums[2] + chips) / n,
                )
                if _fits(row, figures, CLOSE):
                    yield Account(figures, mistakes, "", "", unseen, chips, missing / chips)
