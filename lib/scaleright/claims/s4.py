"""The MLPerf blog post's two tables, cell by cell: a claim for every printed figure, recomputed
from the catalog and from MLPerf's submissions; and its prose.

The MLPerf blog post averages over submissions of rounds v3.1 to v5.1. Round v5.0 could not be had,
so that a printed average may need submissions that are not at hand. They are allowed for only if a
whole number of them, of a whole number of chips, as fast as the chip is in the rounds at hand,
gives all three figures of a row. A cell that then needs no mistake *depends on absent data*; any
other is explained by the first mistake that gives the row. Every cell goes through the same list:
the right method, then the mistakes.

Then its prose: where it compares two chips, both are taken from the same round, so that software is
the same, per accelerator; its own tables stand in for what it says of itself. What each of these
computes and why it differs stands in `data/claims.csv`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from os.path import commonprefix
from typing import Any

import pandas as pd

from scaleright import transformer
from scaleright.catalog import accelerator, fact, model, remembered, shared, table
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
    point,
    saved,
    span,
)
from scaleright.mlperf import comparable, matched, results, server_to_offline
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


def _claim(cell: str, printed: float, decimals: int, **told: str) -> Claim:
    """The claim that a cell is; told : its other fields, what is missing if anything."""
    digits = len(f"{printed:.{decimals}f}".replace(".", "").lstrip("0"))
    ends = {"low": printed, "high": printed, "digits": digits}
    told = {"missing": "", "source": "S4", "chapter": "mlperf"} | told
    told |= {"missing_kind": ABSENT if told["missing"] else ""}
    key = "S4-" + re.sub("[^A-Za-z0-9.]+", "-", cell)
    return Claim(id=key, statement=cell, **ends, **told)


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
            unit="chips" if figure == "chips" else unit,
            call=f"mean over mlperf.results({ROUNDS})",
            inputs="mlperf_inference; s4_results",
            why=f"average of {_submissions(len(held))} at hand",
            missing=missing,
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
            unit=unit,
            call=f"catalog.accelerator({row.accelerator!r})",
            inputs="accelerators; accelerator_specs; s4_specifications",
            why="the catalog's figure for one chip, dense",
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
    asked = benchmark, chip, scenario, figure
    found = (c for c in judged() if (c.benchmark, c.chip, c.scenario, c.figure) == asked)
    return next(c.recomputed for c in found if c.recomputed is not None)


def _frame(found: Iterable[Cell]) -> pd.DataFrame:
    rows = pd.DataFrame(map(vars, found))
    judged = rows.pop("finding")
    claims = {"printed": "low", "unit": "unit"}
    told = {name: [getattr(of.claim, field) for of in judged] for name, field in claims.items()}
    words = {"verdict": [of.verdict for of in judged], "why": [of.line() for of in judged]}
    return rows.assign(**told, **words)


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
    counted = _frame(judged()).groupby(["reason", "verdict"]).size().rename("cells")
    return counted.sort_values(ascending=False, kind="stable").reset_index()


GENERATED = lambda: tuple(cell.finding for cell in judged())

# The prose: chips and systems compared on MLPerf, and what it says of their hardware

B200, GB200, H100, H200, NEWEST = "B200", "GB200", "H100 SXM", "H200 SXM", ("v5.1",)
R1, DENSE, IMAGES, LLAMA, GPTJ = (
    "deepseek-r1",
    "llama3.1-405b",
    "stable-diffusion-xl",
    "llama2-70b",
    "gptj",
)
BOTH = ("Offline", "Server")


# Chips in one round


def _ratios(
    new: str, old: str, benchmark: str, *scenarios: str, rounds: tuple[str, ...] = ROUNDS
) -> tuple[float, ...]:
    """One chip over another per accelerator, by best, median and mean submission, in every one of
    the MLPerf blog post's rounds in which both stand.
    """
    met = [matched(new, old, benchmark, scenario) for scenario in scenarios or BOTH]
    return tuple(
        float(ratio)
        for rows in (of[of["round"].isin(rounds)] for of in met)
        for kind in ("best", "median", "mean_of_ratios")
        for ratio in rows[f"{kind}_new"] / rows[f"{kind}_old"]
    )


def _percent(*of: str, **more) -> list[float]:
    return [100 * ratio for ratio in _ratios(*of, **more)]


def _gains(benchmark: str) -> list[float]:
    """What an H200 does more than an H100 [%]."""
    return [100 * (ratio - 1) for ratio in _ratios(H200, H100, benchmark)]


def s4_coupling() -> Recomputed:
    sides = (_ratios(GB200, B200, name, *BOTH) for name in (R1, DENSE))
    ratios = (moe / dense for moe, dense in zip(*sides, strict=True))
    sizes = [_printed_ratio(name, B200, GB200, figure="chips") for name in (R1, DENSE)]
    return span(ratios, Slip("systems of different size", sizes[0] / sizes[1]))


def s4_multimodal() -> Recomputed:
    return span(
        100
        * min(_ratios(B200, H200, IMAGES, s))
        / max(_ratios(B200, H200, LLAMA, s, rounds=NEWEST))
        for s in BOTH
    )


def s4_h200_30() -> Recomputed:
    large = Condition("Llama-2-70B, which fills an H100 to the brim", _gains(LLAMA))
    return span(_gains(GPTJ), _gains(IMAGES), large)


def s4_tpu_a100() -> Recomputed:
    server = _percent("TPU v5e", "A100 SXM 80GB", GPTJ, "Server")[:1]
    cards = (_percent("TPU v5e", f"A100 {of} 80GB", GPTJ, "Offline") for of in ("SXM", "PCIe"))
    return span(cards, Condition("the A100 SXM in Server", server))


def _virtual(benchmark: str, *scenarios: str) -> list[float]:
    """An H200 in a virtual machine over bare ones of the same round, against their mean and their
    best [%].
    """
    rows = comparable(NEWEST, allow=("virtualized",))
    rows = rows[
        (rows["accelerator"] == H200)
        & (rows["benchmark"] == benchmark)
        & (rows["accuracy_target"] != "99")
    ]
    rates = rows.groupby(["scenario", rows["flags"].str.contains("virtualized")])[
        "per_accelerator"
    ].agg(["mean", "max"])
    return [
        100 * rates.loc[(s, True), "mean"] / rates.loc[(s, False), by]
        for s in scenarios or BOTH
        for by in ("mean", "max")
    ]


def virtual_overhead() -> float:
    """The most that a virtual machine costs on any of the document's models [%]."""
    return 100 - min(share for name in (LLAMA, IMAGES, DENSE) for share in _virtual(name))


def s4_virtual_sdxl() -> Recomputed:
    bare = figure_at_hand(IMAGES, H200, "Offline", "per chip")
    older = 100 * printed(IMAGES, f"virtualized {H200}") / bare
    words = "bare metal averaged with rounds of older software"
    return span(_virtual(IMAGES, "Offline"), Condition(words, older))


def s4_nvl72_nodes() -> Recomputed:
    rows = comparable(NEWEST)
    rack = rows[(rows["accelerator"] == GB200) & (rows["benchmark"] == R1)].iloc[0]
    return looked_up(rack["accelerators"])


def s4_r1_server() -> Recomputed:
    kept = server_to_offline()
    of = kept["round"].isin(NEWEST) & kept["accelerator"].isin([B200, GB200])
    kept = kept[of & (kept["benchmark"] == R1)]
    return span(100 * kept["lowest"], 100 * kept["highest"])


# The MLPerf blog post's own tables


def _printed_ratio(benchmark: str, new: str, old: str, *scenario: str, **figure: str) -> float:
    """A printed figure of one chip over that of another."""
    return printed(benchmark, new, *scenario, **figure) / printed(
        benchmark, old, *scenario, **figure
    )


def _in_table(
    benchmark: str, new: str, old: str, text: str, scenario: str = "Offline"
) -> Recomputed:
    """Two chips of the MLPerf blog post's tables, whose rates it had divided by the chips of one
    node: by how much that is off, its own totals over its own numbers of chips say.
    """
    total, chips, rate = (
        _printed_ratio(benchmark, new, old, scenario, figure=of)
        for of in ("total", "chips", "per chip")
    )
    own = total / chips
    return span(_ratios(new, old, benchmark, scenario), own, Slip(text, own / rate))


def s4_gptj_h200() -> Recomputed:
    over = lambda chip: figure_at_hand(GPTJ, chip, "Offline", "per chip") / printed(GPTJ, chip)
    return span(_ratios(H200, H100, GPTJ), Slip(MIXED, over(H200) / over(H100)))


def _memory_types() -> float:
    """Cells of the document's column of memory types that the catalog confirms [% of those
    filled].
    """
    rows = table("s4_specifications").dropna(subset="memory_type")
    known = rows["accelerator"].map(table("accelerators").set_index("name")["memory_type"])
    return 100 * float((rows["memory_type"] == known).mean())


def _samples(benchmark: str) -> Recomputed:
    """Samples a second of an average B200 system, of which the MLPerf blog post prints tokens a
    second.
    """
    rows = table("mlperf_benchmarks").set_index("benchmark")
    tokens = float(rows.loc[benchmark, "tokens_per_sample"].iloc[0])
    return point(
        figure_at_hand(benchmark, B200, "Offline", "total") / tokens,
        Slip("tokens/s printed as samples/s", 1 / tokens),
    )


def _whole_systems(benchmark: str) -> Recomputed:
    """An average GB200 system over an average B200 system, whatever the chips in them: as the
    MLPerf blog post has it, and in the rounds at hand.
    """
    return span(
        total(benchmark, GB200, scenario, "total") / total(benchmark, B200, scenario, "total")
        for total in (printed, figure_at_hand)
        for scenario in BOTH
    )


# Hardware


def s4_two_dies() -> Recomputed:
    b200, gb200, hopper = (accelerator(name).peak_flops("fp16") for name in (B200, GB200, H200))
    return point(b200 / hopper, Condition("GB200, which is allowed more power", gb200 / hopper))


def s4_return() -> Recomputed:
    revenue, investment = fact("nvl72_claimed_revenue_usd"), fact("nvl72_claimed_investment_usd")
    multiple = Condition("revenue called return", revenue / investment)
    return point((revenue - investment) / investment, multiple)


def _bytes_per_s(name: str, unit: float) -> float:
    return accelerator(name).require("memory_bytes_per_s") / unit


def s4_gh200_memory() -> Recomputed:
    low, high = (_bytes_per_s(name, 1e9) for name in ("GH200", "GH200 144GB"))
    own = Origin(f"the GPU's own HBM, by version: {low:,.0f} or {high:,.0f} GB/s")
    return looked_up(fact("gh200_lpddr_bytes_per_s") / 1e9, own)


def _parameters(name: str) -> Recomputed:
    return point(transformer.parameters(model(name)).total)


NODE_OF_4, NODE_OF_8 = "72 chips divided by 4", "16 chips of H100 on average divided by 8"
RECOMPUTED = {
    "S4-rounds": lambda: point(len(ROUNDS) + 1, internal=True),
    "S4-r1-tenfold": lambda: _whole_systems(R1),
    "S4-405b-gap": lambda: _whole_systems(DENSE),
    "S4-sdxl-2x": lambda: span(_ratios(B200, H200, IMAGES)),
    "S4-h200-bandwidth": lambda: looked_up(_bytes_per_s(H200, 1e12)),
    "S4-h100-bandwidth": lambda: looked_up(_bytes_per_s(H100, 1e12)),
    "S4-h200-gbps": lambda: looked_up(_bytes_per_s(H200, 1e9), Slip("GB/s written for TB/s", 1000)),
    "S4-gptj-size": lambda: _parameters("GPT-J-6B"),
    "S4-405b-size": lambda: _parameters("Llama-3.1-405B"),
    "S4-sxm-pcie": lambda: span(_percent(H100, "H100 PCIe", GPTJ)),
    "S4-sxm-pcie-self": lambda: point(100 * _printed_ratio(GPTJ, H100, "H100 PCIe"), internal=True),
    "S4-tpu-hopper": lambda: span(100 / ratio for ratio in _ratios(H100, "TPU v5e", GPTJ)),
    "S4-blackwell-3x": lambda: span(_ratios(B200, H200, LLAMA), _ratios(GB200, H200, LLAMA)),
    "S4-virtual-offline": lambda: span(_virtual(LLAMA, "Offline")),
    "S4-virtual-server": lambda: span(_virtual(LLAMA, "Server")),
    "S4-virtual-overhead": lambda: point(virtual_overhead()),
    "S4-virtual-self": lambda: span(
        saved(_printed_ratio(DENSE, f"virtualized {H200}", H200, s) for s in BOTH), internal=True
    ),
    "S4-h200-30-self": lambda: span(
        (100 * (_printed_ratio(of, H200, H100, s) - 1) for of in (LLAMA, IMAGES) for s in BOTH),
        internal=True,
    ),
    "S4-memory-column": lambda: point(_memory_types()),
    "S4-l40s": lambda: span(_percent("L40S", "H100 PCIe", LLAMA)),
    "S4-sdxl-b200-h100": lambda: span(_ratios(B200, H100, IMAGES)),
    "S4-gh200-h100": lambda: span(_percent("GH200", H100, IMAGES)),
    "S4-r1-chip": lambda: _in_table(R1, GB200, B200, NODE_OF_4),
    "S4-r1-chip-server": lambda: _in_table(R1, GB200, B200, NODE_OF_4, "Server"),
    "S4-r1-definition": lambda: point(
        printed(R1, GB200, figure="total") / printed(R1, GB200, figure="chips"), internal=True
    ),
    "S4-r1-unit": lambda: _samples(R1),
    "S4-405b-unit": lambda: _samples(DENSE),
    "S4-405b-chip": lambda: _in_table(DENSE, GB200, B200, "31 chips on average divided by 4"),
    "S4-405b-h200": lambda: _in_table(DENSE, H200, H100, NODE_OF_8),
    "S4-405b-b200": lambda: _in_table(DENSE, B200, H100, NODE_OF_8),
}
