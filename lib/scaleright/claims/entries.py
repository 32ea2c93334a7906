"""The lines of the ledger as its tables keep them: what is claimed, by which document, what was
found, and in which words. Imports no frames of tables: a list comes at once.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from scaleright.claims.verdicts import CONDITIONAL, HOLD, Claim, Finding, Recomputed
from scaleright.units import COUNTS, si, significant, usd

# The documents whose claims the book checks, from `data/documents.csv`: who wrote each, what it is
# called, and the name that stands for it on pages instead of its key


@dataclass(frozen=True)
class Document:
    """A document.

    source : its key in the tables and the bibliography; short : what the book calls it; copy : how
    the text that was read differs from the one published
    """

    source: str
    author: str
    short: str
    title: str
    year: int
    url: str
    copy: str

    @classmethod
    def of(cls, row: Mapping[Any, Any]) -> Document:
        """The document of a row of the table."""
        told = {field.name: str(row[field.name]) for field in fields(cls) if field.name != "year"}
        return cls(**told, year=int(row["year"]))


def documents() -> Mapping[str, Document]:
    """The documents by key.

    >>> documents()["S2"].short
    'Clarifai'
    """
    from scaleright import catalog  # which reads tables: a list of claims does without

    return catalog.remembered(_of_table)()


def _of_table() -> Mapping[str, Document]:
    from scaleright import catalog

    rows = catalog.table("documents").to_dict("records")
    return MappingProxyType({row["source"]: Document.of(row) for row in rows})


def named(text: str) -> str:
    """A text of the tables in which documents stand under their names instead of their keys; keys
    of claims stay.

    >>> named("price and watts (S3 itself); S3-cpu-hours")
    'price and watts (Andreessen Horowitz itself); S3-cpu-hours'
    """
    return named_by(text, documents())


def named_by(text: str, known: Mapping[str, Document]) -> str:
    """The same, by these documents."""
    return _DOCUMENT.sub(lambda key: known[key[0]].short if key[0] in known else key[0], text)


_DOCUMENT = re.compile(r"\bS\d\b(?!-)")


# Intervals of a claim in the words of their unit


def _tail(unit: str) -> str:
    """What stands behind a value in this unit."""
    if unit.startswith("USD"):
        return unit.removeprefix("USD").replace("/", " a ").replace(" a h", " an hour")
    return {"FLOP": "", "FLOP/s": "", "B": "", "parameters": " billion parameters"}.get(
        unit, f" {unit}"
    )


def _said(value: float, unit: str) -> str:
    """A claimed or recomputed value in the words of its unit."""
    if unit.startswith("USD"):
        return usd(value) + _tail(unit)
    if unit in ("FLOP", "FLOP/s", "B"):
        return si(value, unit)
    if unit == "parameters":
        return significant(value / 1e9) + _tail(unit)
    return _number(value) + _tail("chip" if (value, unit) == (1, "chips") else unit)


def _number(value: float) -> str:
    """A number with three digits, a large one in words.

    >>> _number(1e9), _number(293e6), _number(-1.13), _number(0.5), _number(31500)
    ('1 billion', '293 million', '−1.13', '0.5', '31,500')
    """
    for scale, word in COUNTS[:-1]:
        if abs(value) >= max(scale, 1e7):
            return f"{value / scale:.3g} {word}"
    return f"{value:.3g}".replace("-", "−", 1) if abs(value) < 1000 else significant(value)


def interval(low: float, high: float, unit: str) -> str:
    """An interval as a person says it; an infinite end is "more than" or "less than".

    >>> interval(4, 6, "h/day"), interval(1e12, math.inf, "B"), interval(0.18, 0.35, "USD/h")
    ('4 to 6 h/day', 'more than 1.00 TB', '$0.18 to $0.35 an hour')
    >>> interval(879e6, 879e6, "times")
    '879 million times'
    """
    if math.isinf(high):
        return f"more than {_said(low, unit)}"
    if math.isinf(low):
        return f"less than {_said(high, unit)}"
    first, last = _said(low, unit), _said(high, unit)
    return last if first == last else f"{first.removesuffix(_tail(unit))} to {last}"


def off(finding: Finding) -> str:
    """By what factor a claim that does not hold is too high or too low, or nothing."""
    if finding.factor is None or finding.verdict in HOLD:
        return ""
    high = finding.factor > 1
    ratio = finding.factor if high else 1 / finding.factor if finding.factor else math.inf
    if ratio < 1.05:
        return ""
    lead = "; as stated" if finding.verdict == CONDITIONAL else ","
    return f"{lead} {significant(ratio, 2)} times too {'high' if high else 'low'}"


# The lines


SUBJECTS = {
    "models and arithmetic": ("scaling_math", "scaling_laws"),
    "tokens and demand": ("token_cost", "load_of_a_day"),
    "owning and renting": ("buy_or_rent",),
    "prices and supply": ("gpu_prices", "economics_stack"),
    "training": ("pretraining_cost", "pretraining_records", "rlhf_cost", "ablation_cost"),
    "memory and parallelism": ("memory_wall", "parallelism", "cluster_efficiency"),
    "serving": ("inference_roofline", "inference_ladder", "model_routing"),
    "vendors' announcements": ("vendor_claims",),
    "chips": ("hardware_compare", "hardware_radar", "architecture_bets"),
    "benchmarks": ("mlperf",),
    "energy and climate": ("sustainability",),
}
"""What claims are about, with the chapters that explain each."""


def subject_of(chapter: str) -> str:
    """What the claims of a chapter are about.

    >>> subject_of("token_cost")
    'tokens and demand'
    """
    found = (subject for subject, chapters in SUBJECTS.items() if chapter in chapters)
    return next(found, chapter.replace("_", " "))


@dataclass(frozen=True)
class Entry:
    """A line of the ledger.

    words : the document's own, quoted; none for a cell of a table; taught : whether its chapter
    keeps it
    """

    finding: Finding
    document: Document
    words: str = ""
    taught: bool = False

    @property
    def claim(self) -> Claim:
        """What is claimed."""
        return self.finding.claim

    @property
    def subject(self) -> str:
        """What it is about."""
        return subject_of(self.claim.chapter)

    @property
    def claimed(self) -> str:
        """What is claimed, in words."""
        return interval(self.claim.low, self.claim.high, self.claim.unit)

    @property
    def found(self) -> str:
        """What is recomputed, in words; nothing where nothing is."""
        return found_in_words(self.finding)

    @property
    def verdict(self) -> str:
        """The verdict, and by what factor a claim is off."""
        return f"{self.finding.verdict}{off(self.finding)}"

    @property
    def searched(self) -> str:
        """What a search looks through."""
        told = (self.claim.id, self.claim.statement, self.words, self.finding.line())
        return " ".join(told).casefold()


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _float(text: str, empty: float | None) -> Any:
    return float(text) if text else empty


def claim_of(row: Mapping[str, str], told: Mapping[str, Document]) -> Claim:
    """A claim of a row of text; an empty end of its interval is open."""
    ends = {
        "low": _float(row["claimed_low"], -math.inf),
        "high": _float(row["claimed_high"], math.inf),
        "digits": int(float(row["digits"] or 2)),
    }
    names = (field.name for field in fields(Claim) if field.name not in ends)
    texts = {name: named_by(row[name] or "", told) for name in names if name not in _KEYS}
    return Claim(**{name: row[name] for name in _KEYS}, **texts, **ends)


_KEYS = ("id", "source", "chapter", "unit", "missing_kind")
"""What of a claim is no text."""


def finding_of(row: Mapping[str, str], claim: Claim) -> Finding:
    """What a claim was found to be, by its row of the ledger."""
    low, high = _float(row["found_low"], None), _float(row["found_high"], None)
    known = low is not None or high is not None
    ends = (-math.inf if low is None else low, math.inf if high is None else high)
    of = Recomputed(*ends, traced=row["traced"] == "true") if known else None
    factor = _float(row["factor"], None)
    return Finding(claim, of, row["verdict"], factor, row["holds"], row["possible"], row["origin"])


def found_in_words(of: Finding) -> str:
    """What a claim was found to be, in words; nothing where nothing recomputes it."""
    found = of.recomputed
    return interval(found.low, found.high, of.claim.unit) if found else ""
