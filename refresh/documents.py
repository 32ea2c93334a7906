"""The tables of source document S4 as facts: what it prints for each chip, number by number, to be
recomputed.

The document stands beside the raw folder, not in it. Where it is missing the tables stay as they
are, and the report says so. Only numbers and names of chips are taken; which chip and benchmark a
name means stands in `rules.csv`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from refresh.rules import rule
from refresh.tables import Dropped, Items, RefreshError, Row, read_text

SOURCES = frozenset({"S4"})
FILE = "sources/004_*.txt"

_SPECIFICATIONS = (
    "Accelerator Architecture FP16/BF16 Compute (TFLOPS) Memory Type Memory Bandwidth (GB/s) TDP"
    " (W, Approx.)"
)
_SPECIFICATION = re.compile(
    r"(?P<chip>.+?) (?P<architecture>Ampere|Ada Lovelace|Hopper|Blackwell|TPU v\d)"
    r" (?P<fp16_tflops>[\d.]+) (?P<memory_type>\S+)"
    r" (?P<memory_gb_per_s>[\d.]+) (?P<tdp_watts>[\d.]+|Unknown)"
)
_SECTION = re.compile(r"4\.\d\. (?P<model>\S+) Model")
_RESULTS = re.compile(
    r"Accelerator Scenario Avg Total( Result)?( \(\w+/s\))? (Avg )?Result per Accelerator("
    r" \(\w+/s\))? Avg (Total )?Accelerators"
)
_RESULT = re.compile(
    r"(?P<chip>.+?) (?P<scenario>Offline|Server)"
    r" (?P<average_total>[\d.]+) (?P<average_per_accelerator>[\d.]+)"
    r" (?P<average_accelerators>[\d.]+)"
)


def specification_rows(raw: Path, committed: list[Row]) -> Items:
    """Rows for `s4_specifications`: what S4 states of each chip; an unknown figure and a dash stay
    empty.
    """
    return _rows(raw, committed, _specifications)


def result_rows(raw: Path, committed: list[Row]) -> Items:
    """Rows for `s4_results`: averages of total, per accelerator and number of accelerators by
    benchmark, chip and scenario.
    """
    return _rows(raw, committed, _results)


def _rows(raw: Path, committed: list[Row], parse: Callable[[list[str]], Iterator[Row]]) -> Items:
    found = sorted((raw.parent / "sources").glob(Path(FILE).name))
    if len(found) > 1:
        raise RefreshError(
            f"{FILE}: {len(found)} files beside {raw.name}:"
            f" {', '.join(path.name for path in found)}; expected one"
        )
    if not found:
        yield from (row for row in committed if row["source"] in SOURCES)
        yield Dropped(FILE, "the document is not beside the raw folder; the table stays as it is")
        return
    rows = list(parse(read_text(found[0]).splitlines()))
    if not rows:
        raise RefreshError(f"{FILE}: no table found; was the document laid out anew?")
    yield from rows


def _matches(lines: list[str], start: int, pattern: re.Pattern) -> Iterator[dict[str, str]]:
    """The rows of the table under a heading line, up to the first blank line; a line that is no
    such row is named.
    """
    for number, line in enumerate(lines[start:], start=start + 1):
        if not line.strip():
            return
        if not (match := pattern.fullmatch(line.strip())):
            raise RefreshError(
                f"{FILE}: line {number} is no row of this table: {line.strip()[:80]!r}"
            )
        yield match.groupdict()


def _chip(name: str) -> dict[str, str | bool]:
    return {
        "chip": name,
        "accelerator": rule(FILE, "accelerator", name).ours,
        "virtualized": name.startswith("Virtualized"),
    }


def _numbers(cells: dict[str, str]) -> Row:
    """Cells that hold a figure as numbers; "Unknown" and a dash as nothing."""
    known = {name: None if text in ("Unknown", "-") else text for name, text in cells.items()}
    return {
        name: float(text) if text and re.fullmatch(r"[\d.]+", text) else text
        for name, text in known.items()
    }


def _specifications(lines: list[str]) -> Iterator[Row]:
    for number, line in enumerate(lines, start=1):
        if line.strip() == _SPECIFICATIONS:
            for cells in _matches(lines, number, _SPECIFICATION):
                yield _numbers(cells) | _chip(cells["chip"]) | {"source": "S4"}


def _results(lines: list[str]) -> Iterator[Row]:
    benchmark = target = None
    for number, line in enumerate(lines, start=1):
        if section := _SECTION.fullmatch(line.strip()):
            benchmark, _, target = rule(FILE, "benchmark", section["model"]).ours.partition(";")
        elif line.startswith("Accelerator Scenario"):
            if benchmark is None or not _RESULTS.fullmatch(line.strip()):
                raise RefreshError(
                    f"{FILE}: line {number}: an unknown heading of results: {line.strip()[:80]!r}"
                )
            for cells in _matches(lines, number, _RESULT):
                asked = {"benchmark": benchmark, "accuracy_target": target or None, "source": "S4"}
                yield asked | _numbers(cells) | _chip(cells["chip"])
