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
from scaleright.claims.s4_accounts import (
    FIGURES,
    MIXED,
    NODE,
    OLD_UNIT,
    PART,
    ROUNDS,
    UNSEEN,
    Account,
    accounts,
    at_hand,
    averages,
    newest,
)
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


@dataclass(frozen=True)
class Cell:
    """A judged figure of the MLPerf blog post's tables: where it stands there, what the submissions
    at hand give, and why the two differ.
    """

    benchmark: str
    chip: str
    scenario: str
    figure: str
    at_hand: float | None
    reason: str
    finding: Finding


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
    account: Account | None, place: int, reason: str, ends: tuple[float, float]
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
    ends = (
        (found, row.average_total / row.average_accelerators)
        if account and reason == NODE and account.unseen
        else (found, found)
    )
    read_off = len(held) == 1 and figure != "per chip"
    recomputed = looked_up if read_off else span
    return recomputed(*ends, *_others(account, place, reason, ends)), reason, ""


def _result_cells(row, held: pd.DataFrame, most: int) -> Iterator[Cell]:
    """The three figures of one row, judged."""
    account = next(accounts(row, held, most), None) if len(held) else None
    unit = newest(held)["unit"].iloc[0] if len(held) else ""
    right = (
        (*averages(newest(held))[:2], float(held["accelerators"].mean()))
        if len(held)
        else (None, None, None)
    )
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
        finding = judge(claim, recomputed)
        yield Cell(
            row.benchmark,
            _kind(row),
            row.scenario,
            figure,
            right[place],
            AGREES if finding.verdict in HOLD else reason,
            finding,
        )


def _stated(name: str, quantity: str) -> float:
    """A chip's own figure in the unit of the MLPerf blog post's table: dense arithmetic in 16 bits,
    bandwidth of its memory, power.
    """
    chip = accelerator(name)
    if quantity == "fp16_tflops":
        return chip.peak_flops("fp16" if "fp16" in chip.dense else "bf16") / 1e12
    return (
        chip.require("memory_bytes_per_s") / 1e9
        if quantity == "memory_gb_per_s"
        else chip.require(quantity)
    )


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
        yield Cell(
            "",
            _kind(row),
            "",
            quantity,
            own,
            AGREES if finding.verdict in HOLD else reason,
            finding,
        )


@shared
def judged() -> tuple[Cell, ...]:
    """Every cell of the MLPerf blog post's tables: the specifications of 14 chips, then 76 rows of
    three averages.
    """
    chips, rows = (list(table(name).itertuples()) for name in ("s4_specifications", "s4_results"))
    alike = {
        row.architecture: [
            other.accelerator for other in chips if other.architecture == row.architecture
        ]
        for row in chips
    }
    runs = (
        results(ROUNDS)
        .groupby(["benchmark", "scenario", "round", "accelerator", "accuracy_target"], dropna=False)
        .size()
    )
    most = runs.groupby(["benchmark", "scenario"]).max()
    specified = (
        cell for row in chips for cell in _specification_cells(row, alike[row.architecture])
    )
    return (
        *specified,
        *(
            cell
            for row in rows
            for cell in _result_cells(row, at_hand(row), int(most[row.benchmark, row.scenario]))
        ),
    )


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
        c.at_hand
        for c in judged()
        if c.at_hand is not None and (c.benchmark, c.chip, c.scenario, c.figure) == asked
    )


def _frame(found: Iterable[Cell]) -> pd.DataFrame:
    columns = (
        "benchmark",
        "chip",
        "scenario",
        "figure",
        "recomputed",
        "reason",
        "printed",
        "unit",
        "verdict",
        "why",
    )
    rows = [
        (
            c.benchmark,
            c.chip,
            c.scenario,
            c.figure,
            c.at_hand,
            c.reason,
            c.finding.claim.low,
            c.finding.claim.unit,
            c.finding.verdict,
            c.finding.line(),
        )
        for c in found
    ]
    return pd.DataFrame(rows, columns=columns)


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
