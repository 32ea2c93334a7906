"""S4's two tables, cell by cell: a claim for every printed figure, recomputed from the catalog and
from MLPerf's submissions.

S4 averages over submissions of rounds v3.1 to v5.1. Round v5.0 could not be had, so that a printed
average may need submissions that are not at hand. They are allowed for only if a whole number of
them, of a whole number of chips, as fast as the chip is in the rounds at hand, gives all three
figures of a row. A cell that then needs no mistake *depends on absent data*; any other is explained
by the first mistake that gives the row. Every cell goes through the same list: the right method,
then the mistakes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from os.path import commonprefix
from typing import Any

import pandas as pd

from scaleright.catalog import accelerator, fact, remembered, table
from scaleright.claims.ledger import (
    ABSENT,
    AGREEMENT,
    REPRODUCED,
    Claim,
    Condition,
    Finding,
    Slip,
    judge,
    point,
    span,
)
from scaleright.mlperf import results
from scaleright.names import one_of
from scaleright.units import significant

ROUNDS = ("v3.1", "v4.0", "v4.1", "v5.1")
"""Rounds of S4 that are at hand; it also names v5.0."""
FIGURES = {
    "total": ("average_total", 2),
    "per chip": ("average_per_accelerator", 2),
    "chips": ("average_accelerators", 1),
}
"""What S4 prints of each chip, benchmark and scenario: the column of the table, and decimals."""
NODE, MIXED = (
    "divided by the chips of one node, not of the system",
    "tokens/s and samples/s averaged together",
)
PART, UNSEEN = (
    "only some of the rounds in which the chip ran",
    "includes round v5.0, which is not at hand",
)
OLD_UNIT = "only the rounds in samples/s, while newer ones are in tokens/s"
SPARSE, PAIR, OTHER = (
    "with 2:4 sparsity, not dense",
    "of a pair, not of one GPU",
    "of another chip of its generation",
)
SET = "the highest power a system may set it to"
AGREES, UNEXPLAINED = "agrees", "unexplained"
METHODS = (("accelerators", ()), ("accelerators_per_node", (NODE,)))
SLACK = 1.15
"""How far outside the rates at hand an unseen submission may lie: half of what software gains in a
year (v4.1 to v5.1).
"""
CLOSE = 0.01
"""How exactly an account with unseen submissions must give the printed average: they need not all
be of one size.
"""
QUANTITIES = {"fp16_tflops": "TFLOP/s", "memory_gb_per_s": "GB/s", "tdp_watts": "W"}
HIGHEST = {("GH200", "tdp_watts"): "gh200_watts_high"}
"""Chips whose power is set by the system that holds them: the fact that says how high."""


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


@dataclass(frozen=True)
class Cell:
    """A judged figure of S4's tables: where it stands there, what the submissions at hand give, and
    why the two differ.
    """

    benchmark: str
    chip: str
    scenario: str
    figure: str
    at_hand: float | None
    reason: str
    finding: Finding


def _held(row) -> pd.DataFrame:
    """The submissions at hand of a row's chip in any memory size, at its usual power, in a virtual
    machine or not as S4 says.
    """
    rows = results(ROUNDS)
    rows = rows[(rows["benchmark"] == row.benchmark) & (rows["scenario"] == row.scenario)]
    rows = rows[rows["accelerator"].str.fullmatch(f"{re.escape(row.accelerator)}( .*)?", na=False)]
    if not pd.isna(row.accuracy_target):
        rows = rows[rows["accuracy_target"] == row.accuracy_target]
    return rows[
        ~rows["flags"].str.contains("raised_power")
        & (rows["flags"].str.contains("virtualized") == row.virtualized)
    ]


def _newest(rows: pd.DataFrame) -> pd.DataFrame:
    """Submissions in the unit of the newest round: where a benchmark changed its unit, no average
    spans both.
    """
    return rows[rows["unit"] == rows.sort_values("round", kind="stable")["unit"].iloc[-1]]


def _averages(rows: pd.DataFrame, divisor: str = "accelerators") -> tuple[float, float, float]:
    """S4's averages over submissions: of the result, of the result per `divisor`, of the number of
    chips.
    """
    return tuple(
        float(column.mean())
        for column in (rows["value"], rows["value"] / rows[divisor], rows["accelerators"])
    )


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
    for chosen, mixed in [(_newest(rows), ()), (rows, (MIXED,))][: rows["unit"].nunique()]:
        for divisor, node in METHODS:
            yield chosen, divisor, mixed + node


def _accounts(row, held: pd.DataFrame, most: int) -> Iterator[Account]:
    """Accounts that give a row's figures: from all rounds at hand, from the first or last of them,
    from them and v5.0.
    """
    rounds = sorted(held["round"].unique())
    for part in [
        rounds,
        *(part for n in range(len(rounds) - 1, 0, -1) for part in (rounds[:n], rounds[-n:])),
    ]:
        for rows, divisor, mistakes in _ways(held[held["round"].isin(part)]):
            if _fits(row, figures := _averages(rows, divisor), AGREEMENT):
                yield Account(
                    figures,
                    mistakes,
                    "" if part == rounds else " and ".join(part),
                    rows["unit"].iloc[0],
                )
    rates, largest = _newest(held)["per_accelerator"], held["accelerators"].max()
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


def _result_cells(row, held: pd.DataFrame, most: int) -> Iterator[Cell]:
    """The three figures of one row, judged."""
    account = next(_accounts(row, held, most), None) if len(held) else None
    unit = _newest(held)["unit"].iloc[0] if len(held) else ""
    right = (
        (*_averages(_newest(held))[:2], float(held["accelerators"].mean()))
        if len(held)
        else (None, None, None)
    )
    for place, (figure, (column, decimals)) in enumerate(FIGURES.items()):
        printed, found, reason, missing, other = (
            getattr(row, column),
            right[place],
            _reason(account, figure, unit),
            "",
            (),
        )
        agrees = found is not None and abs(printed - found) <= max(
            0.5 * 10**-decimals, AGREEMENT * printed
        )
        ends = (
            (found, row.average_total / row.average_accelerators)
            if reason == NODE and account.unseen
            else (found, found)
        )
        if not len(held):
            reason, missing = (
                UNSEEN,
                "submissions of round v5.0: the rounds at hand have none of this chip",
            )
        elif reason == UNSEEN and not agrees:
            of = (
                f"{_submissions(account.unseen)} of {account.chips} chips in all, at"
                f" {significant(account.per_chip)} {unit} each"
            )
            missing = (
                f"round v5.0; {of}, would give this row ({significant(found)} over the"
                f" {_submissions(len(held))} at hand)"
            )
        elif reason in (PART, OLD_UNIT):
            other = (
                Condition(
                    f"{account.rounds} alone" + f", in {account.unit}" * (reason == OLD_UNIT),
                    account.figures[place],
                ),
            )
        elif reason not in (UNSEEN, UNEXPLAINED):
            other = (Slip(reason, sum(ends) / 2 / account.figures[place]),)
        claim = _claim(
            f"{row.benchmark} {row.scenario}, {_kind(row)}: {figure}",
            printed,
            decimals,
            "chips" if figure == "chips" else unit,
            f"mean over mlperf.results({ROUNDS})",
            "mlperf_inference; s4_results",
            f"average of {_submissions(len(held))} at hand",
            missing,
        )
        finding = judge(claim, None if missing else span(*ends, *other))
        yield Cell(
            row.benchmark,
            _kind(row),
            row.scenario,
            figure,
            found,
            AGREES if finding.verdict == REPRODUCED else reason,
            finding,
        )


def _stated(name: str, quantity: str) -> float:
    """A chip's own figure in the unit of S4's table: dense arithmetic in 16 bits, bandwidth of its
    memory, power.
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
    """The printed figures of one chip, judged; `generation` are the chips of its architecture in
    S4's table.
    """
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
        tried = [(text, Slip(text, 1 / factor)) for text, factor in doubled]
        if (row.accelerator, quantity) in HIGHEST:
            tried.append((SET, Condition(SET, fact(HIGHEST[row.accelerator, quantity]))))
        for (text, factor), name in product([("", 1), *doubled], others):
            tried.append(
                (
                    OTHER,
                    Condition(f"{name}{text and ', ' + text}", factor * _stated(name, quantity)),
                )
            )
        claim = _claim(
            f"specification of {_kind(row)}: {quantity}",
            printed,
            0,
            unit,
            f"catalog.accelerator({row.accelerator!r})",
            "accelerators; accelerator_specs; s4_specifications",
            "the catalog's figure for one chip, dense",
        )
        own = _stated(row.accelerator, quantity)
        finding = judge(claim, point(own, *(other for _, other in tried)))
        reason = next((why for why, other in tried if other.text == finding.holds), UNEXPLAINED)
        yield Cell(
            "",
            _kind(row),
            "",
            quantity,
            own,
            AGREES if finding.verdict == REPRODUCED else reason,
            finding,
        )


@remembered
def judged() -> tuple[Cell, ...]:
    """Every cell of S4's tables: the specifications of 14 chips, then 76 rows of three averages."""
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
            for cell in _result_cells(row, _held(row), int(most[row.benchmark, row.scenario]))
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
    """A figure of S4's table of results as it stands there; `chip` as in `cells`."""
    return float(getattr(_printed()[benchmark, chip, scenario], FIGURES[figure][0]))


def cell(benchmark: str, chip: str, scenario: str, figure: str) -> Cell:
    """One judged figure of the results; `chip` as in `cells`."""
    return next(
        c
        for c in judged()
        if (c.benchmark, c.chip, c.scenario, c.figure) == (benchmark, chip, scenario, figure)
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
    """S4's table of results cell by cell: what it prints, what the submissions at hand give,
    verdict and reason.

    Columns: benchmark, chip, scenario, figure (one of `FIGURES`), recomputed (missing where no
    submission of the chip is at hand), reason (the same words for the same mistake), printed, unit,
    verdict, why (one line).

    Raises
    ------
    LookupError : S4 has no such benchmark; the nearest is offered.

    >>> len(cells()), len(cells("deepseek-r1"))
    (228, 12)
    """
    found = [cell for cell in judged() if cell.benchmark]
    if benchmark is not None:
        one_of(benchmark, [cell.benchmark for cell in found], "benchmark of S4")
    return _frame(cell for cell in found if benchmark in (None, cell.benchmark))


def specifications() -> pd.DataFrame:
    """S4's table of specifications cell by cell, with the columns of `cells` but benchmark and
    scenario.

    >>> len(specifications())
    41
    """
    return _frame(cell for cell in judged() if not cell.benchmark).drop(
        columns=["benchmark", "scenario"]
    )


def reasons() -> pd.DataFrame:
    """How many cells of S4's tables each reason explains, the most frequent first: reason, verdict,
    cells.
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
