"""What rows of a reader's file cannot be: names that nobody knows, layouts that cannot run, figures
that contradict each other or that no chip reaches.

The margins are those within which every measurement of the book's own tables lies, and wider.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import date
from typing import Any

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.architecture import SHAPE_FIELDS
from scaleright.footprint import grid
from scaleright.roofline import PEAK_NAMES
from scaleright.transformer import forward_flop
from scaleright.validation import cases, serving_cases
from scaleright.validation.cases import model_of
from scaleright.validation.report import FIRST_LINE, Problem, bar, each, where

AGREE = 0.05
"""Two figures of one measurement may lie so far apart (1 % in the book's tables)."""
FLOP_COUNTS = 3.0
"""Ratio of two ways to count the FLOP of a step (up to 2)."""
OVER_DESIGN_POWER = {"accelerator": 1.2, "server": 2.5, "facility": 4.0}
"""Power over the chips' design power, by what the meter covered (up to 1, 1.3 and 1.9)."""
MOST_KG_PER_KWH = 1.5
PLAUSIBLE = {
    "accelerator_hours": (1e-6, 1e12),
    "chip_hours": (1e-6, 1e12),
    "measured_itl_s": (1e-6, 1e4),
    "measured_joules_per_request": (1e-6, 1e9),
    "measured_joules_per_token": (1e-6, 1e6),
    "measured_kg_co2e": (1e-9, 1e12),
    "measured_kwh": (1e-9, 1e12),
    "measured_model_flops_per_accelerator": (1e6, 1e18),
    "measured_output_tokens_per_s": (1e-3, 1e9),
    "measured_output_tokens_per_s_per_accelerator": (1e-3, 1e7),
    "measured_step_s": (1e-4, 1e5),
    "measured_tokens_per_s_per_accelerator": (1e-3, 1e7),
    "measured_tpot_p99_s": (1e-6, 1e4),
    "measured_tpot_s": (1e-6, 1e4),
    "measured_ttft_s": (1e-6, 1e5),
    "measured_watts": (1.0, 1e9),
    "published": (1e3, 1e15),
    "published_bytes": (1e3, 1e15),
}
"""What no measurement lies outside of: thousands of times beyond the book's own."""
_SHAPE = SHAPE_FIELDS[1:]


def _basics(rows: pd.DataFrame) -> list[Problem]:
    """Models and accelerators that nobody knows, shapes that are none, and figures that are no
    measurement.
    """
    found = _implausible(rows)
    found += each(rows, ("model", *_SHAPE), model_of, "model")
    if "accelerator" in rows:
        found += each(rows[rows["accelerator"].notna()], ("accelerator",), _chip, "accelerator")
    return found


def _implausible(rows: pd.DataFrame) -> list[Problem]:
    found = []
    for name, (low, high) in PLAUSIBLE.items():
        value = _column(rows, name)
        bad = (value < low) | (value > high)
        if bad.any():
            words = f"is no measurement; allowed: {low:g} to {high:g}"
            found += where(
                rows, bad, name, lambda row, of=value, said=words: f"{of[row.Index]:g} {said}"
            )
    return found


def _chip(row: dict[str, Any]) -> None:
    catalog.accelerator(row["accelerator"])


def _sound(rows: pd.DataFrame, problems: Iterable[Problem]) -> pd.DataFrame:
    """The rows with which nothing is wrong."""
    return rows[~rows.index.isin([problem.line - FIRST_LINE for problem in problems])]


def _apart(rows: pd.DataFrame, ratio: pd.Series, column: str, say: str) -> Iterator[Problem]:
    """A problem where a ratio of two figures that say the same is not 1."""
    ratio = ratio.astype(float)
    bad = (ratio - 1).abs() > AGREE
    told = rows.assign(_ratio=ratio)
    return where(told, bad, column, lambda row: f"{say}: {told.loc[row.Index, '_ratio']:.3g} times")


def training(rows: pd.DataFrame) -> list[Problem]:
    """What is wrong with measured steps of training."""
    problems = _basics(rows)
    rows = _sound(rows, problems)
    names = cases.configuring(rows)
    problems += each(rows, names, cases.once(cases.configuration, names, keep=True))
    rows = _sound(rows, problems)
    given = rows.reindex(columns=["measured_step_s", "measured_tokens_per_s_per_accelerator"])
    step, rate = (given[name].astype(float) for name in given)
    tokens = rows["global_batch"].astype(float) * rows["sequence"].astype(float)
    problems += _apart(
        rows,
        step * rate * rows["accelerators"].astype(float) / tokens,
        "measured_tokens_per_s_per_accelerator",
        "contradicts measured_step_s: it takes tokens of a step over its time",
    )
    for line, (row, of) in zip(
        rows.index, cases.configured(rows, cases.configuration, "checking", True), strict=True
    ):
        if of.why or not (seconds := cases.step_s(row)) > 0:
            continue
        peak = of.run.chip.peak_flops(PEAK_NAMES[of.run.precision])
        least_s = of.flop / of.run.chips / peak
        counted = cases.measured(row, "model_flops_per_accelerator")
        said = ""
        if seconds < least_s:
            said = f"a step of {seconds:.3g} s is faster than the chips' peak, {least_s:.3g} s"
        elif counted > peak:
            said = f"{counted:.3g} FLOP/s of a chip is above its peak of {peak:.3g}"
        elif (
            not 1 / FLOP_COUNTS
            < (times := counted * seconds * of.run.chips / of.flop)
            < (FLOP_COUNTS)
            and counted > 0
        ):
            said = f"the FLOP of a step that it states are {times:.3g} times those of the model"
        if said:
            problems.append(Problem(int(line) + FIRST_LINE, "", said))
    return problems


def serving(rows: pd.DataFrame) -> list[Problem]:
    """What is wrong with measured serving."""
    problems = _basics(rows)
    rows = _sound(rows, problems)
    problems += each(rows, cases.configuring(rows), serving_cases.checked)
    rows = _sound(rows, problems)
    problems += _one_stream(
        rows,
        _column(rows, "measured_output_tokens_per_s_per_accelerator")
        * _column(rows, "accelerators"),
        _column(rows, "measured_tpot_s"),
        "concurrency",
        1 + AGREE,
    )
    tails = _column(rows, "measured_tpot_p99_s") < _column(rows, "measured_tpot_s")
    problems += where(
        rows, tails, "measured_tpot_p99_s", lambda row: "is below measured_tpot_s, its middle"
    )
    problems += _below_peak(rows, "measured_output_tokens_per_s_per_accelerator", 1.0)
    return problems


def energy(rows: pd.DataFrame) -> list[Problem]:
    """What is wrong with measured energy of serving."""
    problems = _basics(rows)
    rows = _sound(rows, problems)

    def run(row: dict[str, Any]) -> None:
        serving_cases.checked(serving_cases.asked(row))

    problems += each(rows, cases.configuring(rows), run)
    rows = _sound(rows, problems)
    joules, watts = _column(rows, "measured_joules_per_token"), _column(rows, "measured_watts")
    problems += _apart(
        rows,
        watts / _column(rows, "measured_output_tokens_per_s") / joules,
        "measured_joules_per_token",
        "contradicts measured_watts over measured_output_tokens_per_s",
    )
    problems += _apart(
        rows,
        _column(rows, "measured_joules_per_request") / joules / _column(rows, "output_tokens"),
        "measured_joules_per_request",
        "contradicts measured_joules_per_token for output_tokens",
    )
    speed = _column(rows, "measured_output_tokens_per_s")
    problems += _one_stream(rows, speed, _column(rows, "measured_itl_s"), "batch", 1.5)
    most = rows["boundary"].map(OVER_DESIGN_POWER).astype(float) * _design_watts(rows)
    problems += where(
        rows,
        watts / _column(rows, "accelerators") > most,
        "measured_watts",
        lambda row: (
            f"{row.measured_watts:g} W is more than {row.accelerators} {row.accelerator} can draw,"
            f" {most[row.Index] * row.accelerators:,.0f} W"
        ),
    )
    problems += _below_peak(rows, "measured_output_tokens_per_s", rows["accelerators"])
    return problems


def counts(rows: pd.DataFrame) -> list[Problem]:
    """What is wrong with published parameter counts."""
    return _basics(rows)


def memory(rows: pd.DataFrame, predicted: Callable[[dict[str, Any]], float]) -> list[Problem]:
    """What is wrong with measured memory; `predicted` refuses a layout that is none."""
    problems = _basics(rows)
    rows = _sound(rows, problems)
    problems += each(rows, cases.configuring(rows), predicted)
    largest = max(chip.memory_bytes or 0 for chip in catalog.accelerators().values())
    problems += where(
        rows,
        rows["published_bytes"] > largest,
        "published_bytes",
        lambda row: f"{row.published_bytes:g} B is more than any chip holds, {largest:g} B",
    )
    return problems


def whole_runs(rows: pd.DataFrame, fastest: Callable[[dict[str, Any]], float]) -> list[Problem]:
    """What is wrong with chip-hours of whole runs; `fastest` refuses what fits on no such chips."""
    problems = _basics(rows)
    rows = _sound(rows, problems)
    names = ("model", "accelerator", "accelerators", "precision", "tokens")
    problems += each(rows, (*names, "sequence", "batch_tokens"), fastest)
    return problems


def footprint(rows: pd.DataFrame, predicted: Callable[[dict[str, Any]], None]) -> list[Problem]:
    """What is wrong with measured energy and carbon of runs; `predicted` refuses what no grid or
    machine is known for.
    """
    problems = _implausible(rows)
    problems += each(rows[rows["accelerator"].notna()], ("accelerator",), _chip, "accelerator")
    problems += each(rows[rows["zone"].notna()], ("zone",), _zone, "zone")
    today = date.today().year
    problems += where(
        rows, rows["year"] > today, "year", lambda row: f"{row.year} lies ahead; nearest: {today}"
    )
    kwh, kg = _column(rows, "measured_kwh"), _column(rows, "measured_kg_co2e")
    nothing = kwh.isna() & kg.isna() & _column(rows, "measured_liters").isna()
    problems += where(
        rows, nothing, "", lambda _: "states neither measured_kwh nor measured_kg_co2e"
    )
    rows = _sound(rows, problems)
    problems += each(rows, cases.configuring(rows), predicted)
    rows = _sound(rows, problems)
    most = OVER_DESIGN_POWER["facility"] * _design_watts(rows) / 1e3
    hours = _column(rows, "accelerator_hours")
    problems += where(
        rows,
        _column(rows, "measured_kwh") > most * hours,
        "measured_kwh",
        lambda row: (
            f"{row.measured_kwh:g} kWh is more than {row.accelerator} can draw in"
            f" {row.accelerator_hours:g} h, {most[row.Index] * row.accelerator_hours:,.0f} kWh"
        ),
    )
    ratio = _column(rows, "measured_kg_co2e") / _column(rows, "measured_kwh")
    problems += where(
        rows,
        (ratio > MOST_KG_PER_KWH) & (rows["carbon_boundary"] != "life cycle"),
        "measured_kg_co2e",
        lambda row: (
            f"is {ratio[row.Index]:.3g} kg for each measured_kwh; no grid emits above"
            f" {MOST_KG_PER_KWH} kg/kWh"
        ),
    )
    return problems


def _zone(row: dict[str, Any]) -> None:
    grid(row["zone"])


def _column(rows: pd.DataFrame, name: str) -> pd.Series:
    """A column as floats; NaN where there is none."""
    return rows.reindex(columns=[name])[name].astype(float)


def _design_watts(rows: pd.DataFrame) -> pd.Series:
    """Design power of a chip of each row [W]; NaN where it is not known."""
    known = {
        name: catalog.accelerator(name).tdp_watts for name in rows["accelerator"].dropna().unique()
    }
    return rows["accelerator"].map(known).astype(float)


def _one_stream(
    rows: pd.DataFrame, speed: pd.Series, token_s: pd.Series, held: str, margin: float
) -> Iterator[Problem]:
    """A problem where more tokens are written than so many sequences write at their pace."""
    most = _column(rows, held) / token_s
    return where(
        rows,
        speed > margin * most,
        "",
        lambda row: (
            f"throughput and time of a token contradict each other: {speed[row.Index]:,.4g}"
            f" tokens/s, but {held} = {getattr(row, held):g} write {most[row.Index]:,.4g}"
        ),
    )


def _below_peak(rows: pd.DataFrame, column: str, chips: Any) -> Iterator[Problem]:
    """A problem where tokens are written faster than the chip's highest peak computes them."""
    least: dict[tuple, float] = {}
    keys = list(zip(*(rows[name].astype(str) for name in ("accelerator", "model")), strict=True))
    for row, key in zip(bar(rows.to_dict("records"), "checking"), keys, strict=True):
        if key not in least:
            chip = catalog.accelerator(row["accelerator"])
            flop = float(forward_flop(model_of(row), 1).total)
            least[key] = max(chip.dense.values(), default=np.inf) / flop
    most = pd.Series([least[key] for key in keys], rows.index, dtype=float) * chips
    speed = _column(rows, column)
    return where(
        rows,
        speed > most.astype(float),
        column,
        lambda row: (
            f"{speed[row.Index]:g} tokens/s is above what the peak of {row.accelerator} allows,"
            f" {most[row.Index]:.3g}"
        ),
    )
