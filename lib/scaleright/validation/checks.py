"""A reader's own measurements: a file of the same schema, checked whole before anything is
predicted; and what its rows cannot be, whatever they measure: names that nobody knows, figures that
contradict each other or that no chip reaches.

The margins are those within which every measurement of the book's own tables lies, and wider.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.architecture import SHAPE_FIELDS
from scaleright.files import read_table
from scaleright.names import brief, suggestion
from scaleright.numerals import hint
from scaleright.transformer import forward_flop
from scaleright.validation.cases import configuring, model_of
from scaleright.validation.report import FIRST_LINE, Kind, Problem, bar, each, refuse, where

Check = Callable[[pd.DataFrame], Iterable[Problem]]

AGREE = 0.05
"""Two figures of one measurement may lie so far apart (1 % in the book's tables)."""
OVER_DESIGN_POWER = {"accelerator": 1.2, "server": 2.5, "facility": 4.0}
"""Power over the chips' design power, by what the meter covered (up to 1, 1.3 and 1.9)."""
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


def basics(rows: pd.DataFrame) -> list[Problem]:
    """Models and accelerators that nobody knows, shapes that are none, and figures that are no
    measurement.
    """
    models = each(rows, ("model", *_SHAPE), model_of, "model")
    return [*implausible(rows), *models, *known_chips(rows)]


def implausible(rows: pd.DataFrame) -> list[Problem]:
    found = []
    for name, (low, high) in PLAUSIBLE.items():
        value = floats(rows, name)
        bad = (value < low) | (value > high)
        if bad.any():
            words = f"is no measurement; allowed: {low:g} to {high:g}"
            found += where(
                rows, bad, name, lambda row, of=value, said=words: f"{of[row.Index]:g} {said}"
            )
    return found


def known_chips(rows: pd.DataFrame) -> Iterator[Problem]:
    """Accelerators that nobody knows."""
    named = rows.dropna(subset="accelerator") if "accelerator" in rows else rows[:0]
    find = lambda row: catalog.accelerator(row["accelerator"])
    return each(named, ("accelerator",), find, "accelerator")


def staged(*checks: Check) -> Check:
    """Checks in turn, each of the rows with which nothing was wrong before."""

    def check(rows: pd.DataFrame) -> list[Problem]:
        found: list[Problem] = []
        for of in checks:
            broken = [problem.line - FIRST_LINE for problem in found]
            found += of(rows[~rows.index.isin(broken)])
        return found

    return check


def of_each_run(check: Callable[[dict[str, Any]], Any]) -> Check:
    """A check of what a row ran, asked once for all rows that ran the same."""
    return lambda rows: each(rows, configuring(rows), check)


def apart(rows: pd.DataFrame, ratio: pd.Series, column: str, say: str) -> Iterator[Problem]:
    """A problem where a ratio of two figures that say the same is not 1."""
    ratio = ratio.astype(float)
    bad = (ratio - 1).abs() > AGREE
    told = rows.assign(_ratio=ratio)
    return where(told, bad, column, lambda row: f"{say}: {told.loc[row.Index, '_ratio']:.3g} times")


def floats(rows: pd.DataFrame, name: str) -> pd.Series:
    """A column as floats; NaN where there is none."""
    return rows.reindex(columns=[name])[name].astype(float)


def design_watts(rows: pd.DataFrame) -> pd.Series:
    """Design power of a chip of each row [W]; NaN where it is not known."""
    known = {
        name: catalog.accelerator(name).tdp_watts for name in rows["accelerator"].dropna().unique()
    }
    return rows["accelerator"].map(known).astype(float)


def one_stream(
    rows: pd.DataFrame, speed: pd.Series, token_s: pd.Series, held: str, margin: float
) -> Iterator[Problem]:
    """A problem where more tokens are written than so many sequences write at their pace."""
    most = floats(rows, held) / token_s
    return where(
        rows,
        speed > margin * most,
        "",
        lambda row: (
            f"throughput and time of a token contradict each other: {speed[row.Index]:,.4g}"
            f" tokens/s, but {held} = {getattr(row, held):g} write {most[row.Index]:,.4g}"
        ),
    )


def below_peak(rows: pd.DataFrame, column: str, chips: Any) -> Iterator[Problem]:
    """A problem where tokens are written faster than the chip's highest peak computes them."""
    least: dict[tuple, float] = {}
    keys = list(zip(*(rows[name].astype(str) for name in ("accelerator", "model")), strict=True))
    for row, key in zip(bar(rows.to_dict("records"), "checking"), keys, strict=True):
        if key not in least:
            chip = catalog.accelerator(row["accelerator"])
            flop = float(forward_flop(model_of(row), 1).total)
            least[key] = max(chip.dense.values(), default=np.inf) / flop
    most = pd.Series([least[key] for key in keys], rows.index, dtype=float) * chips
    speed = floats(rows, column)
    return where(
        rows,
        speed > most.astype(float),
        column,
        lambda row: (
            f"{speed[row.Index]:g} tokens/s is above what the peak of {row.accelerator} allows,"
            f" {most[row.Index]:.3g}"
        ),
    )


# The file


MOST_ROWS = 200_000
"""Rows of a file, at most: distinct configurations take about a millisecond each."""
_WHOLE = 2**53
"""Above this a number may no longer be counted on to the last digit."""
_APART = ("run", "source", "note", "released", "held_out")
"""Columns in which two rows of one measurement may differ."""


def own_rows(path: Path, definition: Kind) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A reader's file, typed and checked against the kind's schema and by its rules, with the
    kind's further columns allowed.

    Returns
    -------
    Rows that can be predicted, and those whose model no shape tells, with `why`.

    Raises
    ------
    FileError : the file cannot be read.
    DataError : everything that is wrong with it: which line, which column, what is allowed.
    """
    schema = {
        field["name"]: field for field in catalog.resource(definition.table)["schema"]["fields"]
    }
    known = schema | {name: {"name": name, "type": kind} for name, kind in definition.also.items()}
    table = read_table(path, path.name, MOST_ROWS)
    header, cells = table
    _check_header(header, known, definition.required, path.name)
    if not cells:
        raise catalog.DataError(f"{path.name}: has a header and no row to validate")
    problems = [Problem(line, "", why) for line, why in table.ragged()]
    raw = pd.DataFrame(
        [row if len(row) == len(header) else [""] * len(header) for row in cells],
        columns=header,
        dtype=str,
    ).apply(lambda column: column.str.strip())
    typed, unlike = {}, {}
    for column in header:
        typed[column], found = _typed(raw[column], known[column])
        problems += found
    if "model" in typed:
        typed["model"], found, unlike = _own_models(typed["model"], path.parent)
        problems += found
    rows, ragged = pd.DataFrame(typed), {problem.line for problem in problems if not problem.column}
    problems = [p for p in problems if not p.column or p.line not in ragged]
    rows = rows.assign(
        **{
            column: value
            for column, value in _left_out(schema, rows, path.name, definition).items()
            if column not in rows
        }
    )
    apart = rows[rows["model"].isin([*unlike])] if unlike else rows[:0]
    if unlike and len(apart) == len(rows):
        raise catalog.DataError(
            "; ".join([f"{path.name}: no row can be predicted", *unlike.values()])
        )
    rows = rows.drop(apart.index)
    broken = {problem.line - FIRST_LINE for problem in problems}
    sound = rows[~rows.index.isin(broken)]
    problems += _repeated(sound, header)
    if len(sound):
        problems += definition.check(sound)
    refuse(path.name, problems)
    return rows, apart.assign(why=apart["model"].map(unlike))


def _own_models(column: pd.Series, folder: Path) -> tuple[pd.Series, list[Problem], dict[str, str]]:
    """Names of models, where a cell may be the path of a model of the reader's own from the folder
    of the file, what is wrong with such a one, and why a cell's model cannot be told by a shape.
    """
    names, problems, unlike = {}, [], {}
    for text in column.dropna().unique():
        if text.casefold().endswith(catalog.SUFFIXES):
            try:
                names[text] = catalog.add_model(folder / text).name
            except catalog.UnsupportedArchitectureError as error:
                unlike[text] = str(error)
            except ValueError as error:
                line = int(column.index[column == text][0]) + FIRST_LINE
                problems.append(Problem(line, "model", str(error)))
    return column.replace(names), problems, unlike


def _left_out(
    schema: Mapping[str, Any], rows: pd.DataFrame, label: str, definition: Kind
) -> dict[str, Any]:
    """What stands in columns that the file does not have."""
    told = {"source": label, "run": [f"line {at + FIRST_LINE}" for at in range(len(rows))]}
    found = {name: of(rows) if callable(of) else of for name, of in definition.fill.items()}
    return dict.fromkeys(schema) | told | found


def _check_header(
    header: list[str], known: Mapping[str, Any], required: tuple[str, ...], label: str
) -> None:
    """Refuse unknown and missing columns, all at once."""
    problems = [
        f"{label}, line 1: unknown column {brief(name)}; {suggestion(name, known)}"
        for name in dict.fromkeys(header)
        if name not in known
    ]
    problems += [
        f"{label}, line 1: column {name} is missing; needed: {', '.join(required)}"
        for name in required
        if name not in header
    ]
    if problems:
        raise catalog.DataError("\n".join(problems[: FIRST_LINE * 10]))


def _numbers(column: pd.Series) -> pd.Series:
    """Numbers in digits of ASCII; NaN for what is none, infinity as such."""
    plain = column.str.fullmatch(r"[\x20-\x7e]*") & ~column.str.contains("_", regex=False)
    return pd.to_numeric(column.where(plain), errors="coerce").astype(float)


def _typed(raw: pd.Series, field: Mapping[str, Any]) -> tuple[pd.Series, list[Problem]]:
    """A column in its type, and what is wrong with it."""
    name, kind, limits = field["name"], field["type"], field.get("constraints", {})
    full = raw.ne("")
    frame = pd.DataFrame({"text": raw.where(full)})
    problems = []

    def wrong(bad: pd.Series, say: Callable[[str], str]) -> None:
        problems.extend(where(frame, bad, name, lambda row: say(row.text)))

    if limits.get("required"):
        an = "an" if kind == "integer" else "a"
        wrong(~full, lambda _: f"the cell is empty, but needs {an} {_KINDS.get(kind, kind)}")
    if kind not in ("integer", "number"):
        typed = _CONVERT[kind](frame["text"])
        bad = full & typed.isna()
        wrong(bad, lambda text: f"{brief(text)} is not a {_KINDS[kind]}")
        if choices := limits.get("enum"):
            wrong(
                full & ~typed.isin(choices),
                lambda text: f"unknown value {brief(text)}; {suggestion(text, choices)}",
            )
        return typed, problems
    value = _numbers(frame["text"])
    an = "an integer" if kind == "integer" else "a number"
    wrong(full & value.isna(), lambda text: f"{brief(text)} is not {an}{hint(text)}")
    wrong(full & np.isinf(value), lambda text: f"{brief(text)} is not finite")
    known = full & np.isfinite(value)
    low, high = limits.get("minimum", -math.inf), limits.get("maximum", math.inf)
    if kind == "integer":
        high = min(high, _WHOLE)
        halves = known & (value % 1 != 0)
        wrong(halves, lambda text: f"{text} is not an integer; nearest: {_near(text, low, high)}")
        known &= ~halves
    if _amount(name):
        wrong(known & (value <= 0), lambda text: f"{text} is not above 0")
        known &= value > 0
    wrong(known & (value < low), lambda text: f"{text} is below {low:g}; nearest: {low:g}")
    wrong(known & (value > high), lambda text: f"{text} is above {high:g}; nearest: {high:g}")
    sound = known & value.between(low, high)
    return (value.where(sound).astype("Int64") if kind == "integer" else value), problems


def _near(text: str, low: float, high: float) -> str:
    return f"{min(max(round(float(text)), low), high):g}"


def _amount(name: str) -> bool:
    """Whether a column holds what can only be above zero."""
    return name.startswith(("measured_", "published")) or name in _AMOUNTS


_AMOUNTS = (
    "accelerator_hours",
    "batch",
    "concurrency",
    "request_rate",
    "input_tokens",
    "output_tokens",
)
_KINDS = {
    "integer": "integer",
    "number": "number",
    "boolean": "boolean (true or false)",
    "date": "date (YYYY-MM-DD)",
    "string": "text",
}


def _day(text: str) -> Any:
    try:
        return pd.Timestamp(date.fromisoformat(text)) if len(text) == len("YYYY-MM-DD") else pd.NaT
    except (TypeError, ValueError):
        return pd.NaT


_CONVERT: dict[str, Callable[[pd.Series], pd.Series]] = {
    "string": lambda column: column,
    "boolean": lambda column: (
        column.str.lower().map({"true": True, "false": False}).astype("boolean")
    ),
    "date": lambda column: pd.to_datetime(column.dropna().map(_day)).reindex(column.index),
}


def _repeated(rows: pd.DataFrame, header: list[str]) -> Iterator[Problem]:
    """Rows that say what another says: a name that is taken, a measurement that stands there
    already, or one configuration with another figure of the same name.
    """
    if "run" in header:
        taken = rows["run"].dropna().duplicated()
        first = rows["run"].dropna().drop_duplicates()
        places = {name: line + FIRST_LINE for line, name in first.items()}
        for line, name in rows["run"].dropna()[taken].items():
            said = f"{brief(name)} stands on line {places[name]} as well"
            yield Problem(line + FIRST_LINE, "run", said)
    told = [name for name in header if name not in _APART]
    keys = pd.util.hash_pandas_object(rows[told].astype(str), index=False)
    first = dict(zip(reversed(keys.tolist()), reversed(rows.index.tolist()), strict=True))
    for line, key in zip(rows.index, keys, strict=True):
        if first[key] != line:
            yield Problem(line + FIRST_LINE, "", f"repeats line {first[key] + FIRST_LINE}")
