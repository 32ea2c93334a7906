"""The MLPerf blog post's two tables, cell by cell: a claim for every printed figure, recomputed
from the catalog and from MLPerf's submissions.

The MLPerf blog post averages over submissions of rounds v3.1 to v5.1. Round v5.0 could not be had,
so that a printed average may need submissions that are not at hand. They are allowed for only if a
whole number of them, of a whole number of chips, as fast as the chip is in the rounds at hand,
gives all three figures of a row. A cell that then needs no mistake *depends on absent data*; any
other is explained by the first mistake that gives the row. Every cell goes through the same list:
the right method, then the mistakes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from os.path import commonprefix
from typing import Any

import pandas as pd

from scaleright.catalog import accelerator, fact, remembered, shared, table
from scaleright.claims.verdicts import (
    ABSENT,
    AGREEMENT,
    HOLD,
    Claim,
    Condition,
    Finding,
    Origin,
    Other,
    Recomputed,
    Slip,
    judge,
    looked_up,
    span,
)
from scaleright.mlperf import results
from scaleright.names import one_of
from scaleright.units import significant

SPARSE, PAIR, OTHER = (
    "with 2:4 sparsity, not dense",
    "of a pair, not of one GPU",
    "of another chip of its generation",
)
SET = "the highest power a system may set it to"
AGREES, UNEXPLAINED = "agrees", "unexplained"
QUANTITIES = {"fp16_tflops": "TFLOP/s", "memory_gb_per_s": "GB/s", "tdp_watts": "W"}
_CALLED = dict(zip(QUANTITIES, ("FP16 peak", "memory bandwidth", "power limit"), strict=True))
HIGHEST = {("GH200", "tdp_watts"): "gh200_watts_high"}
"""Chips whose power is set by the system that holds them: the fact that says how high."""


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
CLOSE = 0.01
"""How exactly an account with unseen submissions must give the printed average: they need not all
be of one size.
"""


@dataclass(frozen=True)
class Cell:
    """A judged figure of the MLPerf blog post's tables: where it stands there, what the submissions
    at hand give, and why the two differ.
    """

    benchmark: str
    chip: str
    scenario: str
    figure: str
    recomputed: float | None
    reason: str
    finding: Finding


# How the three figures of a row of the results may come about: the submissions at hand, the right
# average of them, the mistakes, and what round v5.0 could add


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
    """The submissions to one benchmark in the rounds at hand."""
    rows = results(ROUNDS)
    return rows[(rows["benchmark"] == benchmark) & (rows["scenario"] == scenario)]


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
    shorter = (part for n in range(len(rounds) - 1, 0, -1) for part in (rounds[:n], rounds[-n:]))
    for part in (rounds, *shorter):
        told = "" if part == rounds else " and ".join(part)
        for rows, divisor, mistakes in _ways(held[held["round"].isin(part)]):
            if _fits(row, figures := averages(rows, divisor), AGREEMENT):
                yield Account(figures, mistakes, told, rows["unit"].iloc[0])
    rates, largest = newest(held)["per_accelerator"], held["accelerators"].max()
    slowest, fastest = rates.min() / SLACK, rates.max() * SLACK
    for rows, divisor, mistakes in _ways(held):
        total, each, count = (
            float(column.sum())
            for column in (rows["value"], rows["value"] / rows[divisor], rows["accelerators"])
        )
        node = largest if divisor == "accelerators" else rows[divisor].mode().max()
        for unseen, rounding in product(range(1, most + 1), (0.0, -0.05, 0.05)):
            n = len(rows) + unseen
            missing = row.average_total * n - total
            chips = round((row.average_accelerators + rounding) * n - count)
            if unseen <= chips <= unseen * largest and slowest <= missing / chips <= fastest:
                per_chip = float(each + missing / min(chips / unseen, node)) / n
                figures = (row.average_total, per_chip, (count + chips) / n)
                if _fits(row, figures, CLOSE):
                    yield Account(figures, mistakes, "", "", unseen, chips, missing / chips)


# Each cell judged


def _kind(row) -> str:
    return f"{'virtualized ' if row.virtualized else ''}{row.accelerator}"


def _submissions(count: int) -> str:
    return f"{count} submission{'s' * (count != 1)}"


def _claim(
    cell: str,
    printed: float,
    decimals: int,
    unit: str,
    call: str,
    inputs: str,
    why: str,
    missing: str = "",
) -> Claim:
    digits = len(f"{printed:.{decimals}f}".replace(".", "").lstrip("0"))
    key, kind = "S4-" + re.sub("[^A-Za-z0-9.]+", "-", cell), ABSENT if missing else ""
    return Claim(
        key, "S4", "mlperf", cell, printed, printed, digits, unit, call, inputs, why, kind, missing
    )


def _reason(account: Account | None, figure: str, unit: str) -> str:
    """Why a figure differs, if it does; dividing by too few chips leaves totals as they are, and
    neither mistake touches counts.
    """
    if account is None:
        return UNEXPLAINED
    made = [m for m in account.mistakes if figure == "per chip" or (m, figure) == (MIXED, "total")]
    if account.rounds and not made:
        return PART if figure == "chips" or account.unit == unit else OLD_UNIT
    return " and ".join(made) or (UNSEEN if account.unseen else UNEXPLAINED)


def _missing(account: Account, found: float, held: int, unit: str) -> str:
    """What of round v5.0 would give a figure that the submissions at hand do not."""
    of = (
        f"{_submissions(account.unseen)} of {account.chips} chips in all, at"
        f" {significant(account.per_chip)} {unit} each"
    )
    return (
        f"round v5.0; {of}, would give this row ({significant(found)} over the"
        f" {_submissions(held)} at hand)"
    )


def _others(
    account: Account | None, place: int, reason: str, ends: list[float]
) -> tuple[Condition | Slip, ...]:
    """What else could explain a figure: the rounds it is of, or the mistake made."""
    if account is None or reason in (UNSEEN, UNEXPLAINED):
        return ()
    figure = account.figures[place]
    if reason in (PART, OLD_UNIT):
        unit = f", in {account.unit}" * (reason == OLD_UNIT)
        return (Condition(f"{account.rounds} alone{unit}", figure),)
    return (Slip(reason, sum(ends) / 2 / figure),)


def _judged(
    row, held: pd.DataFrame, account: Account | None, place: int, found: float | None, unit: str
) -> tuple[Recomputed | None, str, str]:
    """What recomputes a figure, or None; why it differs, if it does; what a check would need.

    A total or a number of chips of one submission stands there to be read; means and rates per chip
    are computed.
    """
    if found is None:
        missing = "submissions of round v5.0: the rounds at hand have none of this chip"
        return None, UNSEEN, missing
    figure, (column, decimals) = list(FIGURES.items())[place]
    printed, reason = getattr(row, column), _reason(account, figure, unit)
    agrees = abs(printed - found) <= max(0.5 * 10**-decimals, AGREEMENT * printed)
    if account and reason == UNSEEN and not agrees:
        return None, reason, _missing(account, found, len(held), unit)
    ends = [found, found]
    if account and reason == NODE and account.unseen:
        ends[1] = row.average_total / row.average_accelerators
    recomputed = looked_up if len(held) == 1 and figure != "per chip" else span
    return recomputed(ends, *_others(account, place, reason, ends)), reason, ""


def _result_cells(row, held: pd.DataFrame, most: int) -> Iterator[Cell]:
    """The three figures of one row, judged."""
    account, unit, right = None, "", (None, None, None)
    if len(held):
        account, unit = next(accounts(row, held, most), None), newest(held)["unit"].iloc[0]
        right = (*averages(newest(held))[:2], float(held["accelerators"].mean()))
    for place, (figure, (column, decimals)) in enumerate(FIGURES.items()):
        recomputed, reason, missing = _judged(row, held, account, place, right[place], unit)
        claim = _claim(
            f"{row.benchmark} {row.scenario}, {_kind(row)}: {figure}",
            getattr(row, column),
            decimals,
            "chips" if figure == "chips" else unit,
            f"mean over mlperf.results({ROUNDS})",
            "mlperf_inference; s4_results",
            f"average of {_submissions(len(held))} at hand",
            missing,
        )
        where = row.benchmark, _kind(row), row.scenario, figure
        yield _cell(where, right[place], reason, judge(claim, recomputed))


def _cell(
    where: tuple[str, str, str, str], found: float | None, reason: str, finding: Finding
) -> Cell:
    return Cell(*where, found, AGREES if finding.verdict in HOLD else reason, finding)


def peak_16(name: str) -> float:
    """Dense arithmetic of a chip in 16 bits: FP16, or BF16 where it has none [FLOP/s]."""
    chip = accelerator(name)
    return chip.peak_flops("fp16" if "fp16" in chip.dense else "bf16")


def _stated(name: str, quantity: str) -> float:
    """A chip's own figure in the unit of the MLPerf blog post's table: dense arithmetic in 16 bits,
    bandwidth of its memory, power.
    """
    if quantity == "fp16_tflops":
        return peak_16(name) / 1e12
    if quantity == "memory_gb_per_s":
        return accelerator(name).require("memory_bytes_per_s") / 1e9
    return accelerator(name).require(quantity)


def _specification_cells(row, generation: list[str]) -> Iterator[Cell]:
    """A chip's printed figures, judged; `generation`: the table's chips of its architecture."""
    others = sorted(
        set(generation) - {row.accelerator},
        key=lambda name: (-len(commonprefix([name, row.accelerator])), name),  # noqa: RUF071, of names
    )
    for quantity, unit in QUANTITIES.items():
        if pd.isna(printed := getattr(row, quantity)):
            continue
        doubled = (
            [(SPARSE, 2), (f"{SPARSE}, and {PAIR}", 4)]
            if quantity == "fp16_tflops"
            else [(PAIR, 2)]
        )
        tried: list[tuple[str, Other]] = [
            (text, Slip(text, 1 / factor)) for text, factor in doubled
        ]
        if (row.accelerator, quantity) in HIGHEST:
            tried.append((SET, Condition(SET, fact(HIGHEST[row.accelerator, quantity]))))
        claim = _claim(
            f"{_CALLED[quantity]} of {_kind(row)}",
            printed,
            0,
            unit,
            f"catalog.accelerator({row.accelerator!r})",
            "accelerators; accelerator_specs; s4_specifications",
            "the catalog's figure for one chip, dense",
        )
        for (text, factor), name in product([("", 1), *doubled], others):
            if claim.confirmed(*2 * (factor * _stated(name, quantity),)):
                tried.append((OTHER, Origin(f"{name}{text and ', ' + text}")))
        own = _stated(row.accelerator, quantity)
        finding = judge(claim, looked_up(own, *(other for _, other in tried)))
        told = finding.holds or finding.origin
        reason = next((why for why, other in tried if other.text == told), UNEXPLAINED)
        yield _cell(("", _kind(row), "", quantity), own, reason, finding)


@shared
def judged() -> tuple[Cell, ...]:
    """Every cell of the MLPerf blog post's tables: the specifications of 14 chips, then 76 rows of
    three averages.
    """
    chips, rows = (list(table(name).itertuples()) for name in ("s4_specifications", "s4_results"))
    kinds = ["benchmark", "scenario", "round", "accelerator", "accuracy_target"]
    runs = results(ROUNDS).groupby(kinds, dropna=False).size()
    most = runs.groupby(kinds[:2]).max()
    specified = (
        cell
        for row in chips
        for cell in _specification_cells(
            row, [of.accelerator for of in chips if of.architecture == row.architecture]
        )
    )
    averaged = (
        cell
        for row in rows
        for cell in _result_cells(row, at_hand(row), int(most[row.benchmark, row.scenario]))
    )
    return (*specified, *averaged)


@remembered
def _printed() -> dict[tuple[str, str, str], Any]:
    return {
        (row.benchmark, _kind(row), row.scenario): row for row in table("s4_results").itertuples()
    }


def printed(
    benchmark: str, chip: str, scenario: str = "Offline", figure: str = "per chip"
) -> float:
    """A printed figure of the MLPerf blog post's table of results; `chip` as in `cells`."""
    return float(getattr(_printed()[benchmark, chip, scenario], FIGURES[figure][0]))


def figure_at_hand(benchmark: str, chip: str, scenario: str, figure: str) -> float:
    """What the submissions at hand give for a figure of the results; `chip` as in `cells`."""
    asked = (benchmark, chip, scenario, figure)
    return next(
        c.recomputed
        for c in judged()
        if c.recomputed is not None and (c.benchmark, c.chip, c.scenario, c.figure) == asked
    )


def _frame(found: Iterable[Cell]) -> pd.DataFrame:
    rows = (
        vars(c)
        | {
            "printed": c.finding.claim.low,
            "unit": c.finding.claim.unit,
            "verdict": c.finding.verdict,
            "why": c.finding.line(),
        }
        for c in found
    )
    return pd.DataFrame(rows).drop(columns="finding")


def cells(benchmark: str | None = None) -> pd.DataFrame:
    """The MLPerf blog post's table of results cell by cell: what it prints, what the submissions at
    hand give, verdict and reason.

    Columns: benchmark, chip, scenario, figure (one of `FIGURES`), recomputed (missing where no
    submission of the chip is at hand), reason (the same words for the same mistake), printed, unit,
    verdict, why (one line).

    Raises
    ------
    LookupError : the MLPerf blog post has no such benchmark; the nearest is offered.

    >>> len(cells()), len(cells("deepseek-r1"))
    (228, 12)
    """
    found = [cell for cell in judged() if cell.benchmark]
    if benchmark is not None:
        one_of(benchmark, [cell.benchmark for cell in found], "benchmark of the MLPerf blog post")
    return _frame(cell for cell in found if benchmark in (None, cell.benchmark))


def specifications() -> pd.DataFrame:
    """The MLPerf blog post's table of specifications cell by cell, with the columns of `cells` but
    benchmark and scenario.

    >>> len(specifications())
    41
    """
    return _frame(cell for cell in judged() if not cell.benchmark).drop(
        columns=["benchmark", "scenario"]
    )


def reasons() -> pd.DataFrame:
    """How many cells of the MLPerf blog post's tables each reason explains, the most frequent
    first: reason, verdict, cells.
    """
    return (
        _frame(judged())
        .groupby(["reason", "verdict"])
        .size()
        .sort_values(ascending=False, kind="stable")
        .rename("cells")
        .reset_index()
    )


GENERATED = lambda: tuple(cell.finding for cell in judged())
