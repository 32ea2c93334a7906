"""MLPerf Inference, closed division, data center: every row of the raw results with its count, unit
and flags settled by rules.

`data/mlperf_benchmarks.csv` says which unit a benchmark has in a round and scenario,
`mlperf_rules.csv` which stored labels and counts are wrong, what to make of them, and which rows
carry which flag: a line holds for the raw rows whose cells fit all its patterns. Nothing is
silently dropped: what none of them settles makes the row doubtful.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from refresh.plausibility import suspects
from refresh.rules import facts, header, kept, rule
from refresh.tables import (
    Doubtful,
    Dropped,
    Items,
    RefreshError,
    Row,
    parse_csv,
    read_text,
    to_float,
)

FOLDER = "mlperf_inference"
FILES = tuple(
    f"{FOLDER}/mlperf_inference_datacenter_closed_{rounds}.csv"
    for rounds in ("v3.0_v3.1", "v4.0_v4.1", "v5.1_v6.0_v6.1")
)
POWER = f"{FOLDER}/mlperf_inference_power_subset.csv"
SOURCES = frozenset({"mlcommons2024cm", "mlcommons2025v51", "mlcommons2026v60", "mlcommons2026v61"})
_TARGETS = ("99.9", "99")
_FIGURES = ("metric_value", "total_accelerators", "power_value")
_UNSAID = {"", "N/A", "N/A. N/A"}


def rows(raw: Path, benchmarks: list[Row]) -> Items:
    """Rows of `mlperf_inference`; the power subset repeats rows of the three files and is left out
    as such.
    """
    found: dict[str, tuple[Row, dict[str, str], str]] = {}
    read: dict[str, tuple[str, Row]] = {}
    for file in (*FILES, POWER):
        for row, strange in _read(raw, file):
            key = _id(row)
            if key in read:
                other, before = read[key]
                if other == file:
                    raise RefreshError(f"{file}: row {key} is there twice")
                for name in _FIGURES:
                    if to_float(row[name], file, key, name) != to_float(
                        before[name], other, key, name
                    ):
                        raise RefreshError(
                            f"{file}: row {key}, column {name!r}: {row[name]!r}, but"
                            f" {before[name]!r} in {other}"
                        )
                yield Dropped(f"{key} ({Path(file).name})", f"repeats a row of {Path(other).name}")
                continue
            read[key] = file, row
            found[key] = *_row(row, file, key, benchmarks, strange), file
    _mark_duplicates(entry for entry, _, _ in found.values())
    sure = [entry for entry, doubts, _ in found.values() if not doubts]
    accepted = {line["value"] for line in _lines("plausible")}
    for suspect in suspects(pd.DataFrame(sure)).itertuples() if sure else ():
        if suspect.id not in accepted:
            found[suspect.id][1]["implausible"] = suspect.reason
    for key, (entry, doubts, file) in found.items():
        entry["flags"] = ";".join(sorted(entry["flags"] | doubts.keys()))
        yield Doubtful(entry, f"{file}: {key}", "; ".join(doubts.values())) if doubts else entry


def _read(raw: Path, file: str) -> Iterator[tuple[Row, str]]:
    """Rows of a raw file, with the unknown columns it has; a missing column is refused outright."""
    text = read_text(raw / file)
    lines, names = (
        parse_csv(text, file),
        {name.strip() for name in next(csv.reader(text.splitlines()), [])},
    )
    if missing := [name for name in header(file) if name not in names]:
        raise RefreshError(
            f"{file}: missing column {missing[0]!r}; expected {', '.join(header(file))}"
        )
    strange = ", ".join(repr(name) for name in sorted(names - set(header(file))))
    yield from (
        (
            row
            | {
                "accelerator": row["accelerator"] or "N/A",
                "system": row["system"] or row["platform"],
            },
            strange,
        )
        for row in lines
    )


def _id(row: Row) -> str:
    """The source's id where it names one row; else with benchmark and scenario; else round,
    submitter and platform instead.
    """
    if row["id"] and "-" not in row["id"]:
        return f"{row['version'][1:]}/{row['id']}"
    system = row["id"] or f"{row['version'][1:]}/{row['submitter']}/{row['platform']}".replace(
        " ", "-"
    )
    return f"{system}/{row['model']}/{row['scenario']}"


@cache
def _lines(effect: str) -> list[dict[str, Any]]:
    """Lines of `mlperf_rules.csv` with this effect, their patterns by raw column."""
    lines = [line for line in facts("mlperf_rules.csv") if line["effect"] == effect]
    return [
        (
            line | {"where": dict(part.split("=", 1) for part in line["where"].split("; "))}
            if line["where"]
            else line
        )
        for line in lines
    ]


def _fitting(effect: str, row: Row) -> list[dict[str, Any]]:
    return [
        line
        for line in _lines(effect)
        if all(fnmatchcase(row[column], pattern) for column, pattern in line["where"].items())
    ]


def _row(
    row: Row, file: str, key: str, benchmarks: list[Row], strange: str
) -> tuple[Row, dict[str, str]]:
    """One row of the table, its flags still a set, and what is in doubt about it: reasons by
    flag.
    """
    doubts = {"unknown_column": f"unknown column {strange}"} if strange else {}
    marks = _fitting("flag", row)
    flags = {line["value"] for line in marks}
    benchmark, target = _benchmark(row["model"])
    count, origin, why = _count(row, file, key, flags, doubts)
    value, unit, relabelled = _value(row, file, key, benchmark, benchmarks, flags, doubts)
    power = to_float(row["power_value"], file, key, "power_value")
    if row["power_unit"] not in ("", "Watts"):
        doubts["unknown_unit"] = f"power in {row['power_unit']!r}; known is Watts"
    notes = [
        why,
        relabelled,
        *(line["reason"] for line in marks),
        *({row["notes"].removesuffix(". N/A")} - _UNSAID),
    ]
    return {
        "id": key,
        "round": row["version"],
        "submitter": row["submitter"],
        "availability": row["availability"],
        "system": row["system"],
        "accelerator": _named("accelerator", row, file, flags, doubts),
        "accelerators_per_node": _whole(row, "accelerators_per_node", file, key),
        "nodes": _whole(row, "nodes", file, key),
        "accelerators": count,
        "accelerators_from": origin,
        "benchmark": benchmark,
        "accuracy_target": target,
        "scenario": row["scenario"],
        "value": value,
        "unit": unit,
        "precision": rule(file, "precision", row["weight_dtype"]).ours,
        "software": row["software"] if row["software"] not in _UNSAID else "",
        "system_watts": power and float(f"{power:.6g}"),
        "flags": flags,
        "source": rule(file, "source", row["source"]).ours,
        "note": "; ".join(dict.fromkeys(filter(None, notes))),
    }, doubts


def _benchmark(model: str) -> tuple[str, str]:
    """A benchmark and its accuracy target, in percent of the reference's.

    >>> _benchmark("llama2-70b-99.9"), _benchmark("resnet50")
    (('llama2-70b', '99.9'), ('resnet50', ''))
    """
    target = next((t for t in _TARGETS if model.endswith(f"-{t}")), "")
    return (model.removesuffix(f"-{target}") if target else model), target


def _named(what: str, row: Row, file: str, flags: set[str], doubts: dict[str, str]) -> str:
    """The catalog's name of the chip; the GH200's memory stands in the system's name only."""
    name = row["accelerator"] + (
        f" | {row['system']}" if row["accelerator"].endswith("Superchip") else ""
    )
    try:
        ours = rule(file, what, name).ours
    except RefreshError as error:
        doubts["unknown_accelerator"] = str(error)
        return ""
    if not ours and not flags & {"cpu_only", "heterogeneous"}:
        doubts["unknown_accelerator"] = (
            f"{name!r} is a mixed system, but no line of mlperf_rules.csv flags it"
        )
    return "" if "cpu_only" in flags else ours


def _whole(row: Row, column: str, file: str, key: str) -> int:
    number = to_float(row[column], file, key, column) or 0
    if number != int(number) or number < 0:
        raise RefreshError(f"{file}: row {key!r}, column {column!r}: {row[column]!r} is no count")
    return int(number)


def _count(
    row: Row, file: str, key: str, flags: set[str], doubts: dict[str, str]
) -> tuple[int, str, str]:
    """Accelerators of a whole system, how they were established, and why if the source's number is
    not taken.
    """
    for line in _fitting("accelerators", row):
        flags.add("corrected_count")
        return int(line["value"]), "corrected", line["reason"]
    count = _whole(row, "total_accelerators", file, key)
    if ("cpu_only" in flags and count) or ("cpu_only" not in flags and not count):
        doubts["no_count"] = (
            f"{row['total_accelerators'] or 'no'} accelerators, but the row names"
            f" {row['accelerator']}"
        )
    return count, rule(file, "count", row["total_accelerators_source"]).ours, ""


def _value(
    row: Row,
    file: str,
    key: str,
    benchmark: str,
    benchmarks: list[Row],
    flags: set[str],
    doubts: dict[str, str],
) -> tuple[float, str, str]:
    """The value in the unit of its benchmark version, that unit, and why if the stored label is not
    that.
    """
    value = to_float(row["metric_value"], file, key, "metric_value")
    if value is None or value <= 0:
        raise RefreshError(
            f"{file}: row {key!r}, column 'metric_value': {row['metric_value']!r} is no positive"
            " number"
        )
    try:
        stored = rule(file, "unit", row["metric_unit"]).ours
    except RefreshError as error:
        doubts["unknown_unit"] = str(error)
        return value, row["metric_unit"], ""
    unit = _unit(row, benchmark, benchmarks)
    if unit is None:
        doubts["unknown_benchmark"] = (
            f"no unit for {benchmark} {row['scenario']} in {row['version']}: add a line to"
            " mlperf_benchmarks.csv"
        )
        return value, stored, ""
    line = (
        {"value": "1", "reason": ""} if stored == unit else next(iter(_fitting("unit", row)), None)
    )
    if line is None:
        doubts["unknown_unit"] = (
            f"labelled {row['metric_unit']}, but {benchmark} {row['scenario']} is in {unit} in"
            f" {row['version']}"
        )
        return value, stored, ""
    factor = float(line["value"])
    if stored != unit:
        flags.add("relabelled_unit" if factor == 1 else "corrected_unit")
    if factor == 1 and _corrected_otherwise(row, file, unit, line):
        doubts["unknown_unit"] = (
            f"the raw table corrects {row['metric_unit']} to {row['metric_unit_corrected']}, this"
            f" import to {unit}"
        )
    return (value if factor == 1 else float(f"{value * factor:.6g}")), unit, line["reason"]


def _unit(row: Row, benchmark: str, benchmarks: list[Row]) -> str | None:
    """The unit of a benchmark in the row's round and scenario."""
    for known in benchmarks:
        if (known["benchmark"], known["scenario"]) == (benchmark, row["scenario"]) and (
            _number(known["first_round"]) <= _number(row["version"]) <= _number(known["last_round"])
        ):
            return known["unit"]
    return None


def _corrected_otherwise(row: Row, file: str, unit: str, line: dict[str, Any]) -> bool:
    """Whether the raw table's own correction comes to another unit, though no rule names its label
    as still wrong.
    """
    overruled = "metric_unit_corrected" in line.get("where", {})
    return not overruled and kept(file, "unit").get(row["metric_unit_corrected"]) != unit


def _number(round_: str) -> float:
    return float(round_.removeprefix("v"))


def _mark_duplicates(entries: Iterator[Row]) -> None:
    """Flag a run reported to both accuracy targets once: the 99 % row of an equal 99.9 % row."""
    runs: dict[tuple, list[Row]] = {}
    for entry in entries:
        names = (
            "round",
            "submitter",
            "system",
            "accelerators",
            "benchmark",
            "scenario",
            "value",
            "system_watts",
        )
        runs.setdefault(tuple(entry[name] for name in names), []).append(entry)
    for run in runs.values():
        strict = next((entry for entry in run if entry["accuracy_target"] == "99.9"), None)
        for entry in run:
            if strict and entry["accuracy_target"] == "99":
                entry["flags"].add("duplicate_accuracy")
