"""The lines of the ledger as its tables keep them: what is claimed, what was found, and in which
words. Imports no frames of tables: a list comes at once.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from scaleright.claims.documents import Document, named_by
from scaleright.claims.saying import interval, off
from scaleright.claims.verdicts import Claim, Finding, Recomputed

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


def _number(text: str, empty: float | None) -> Any:
    return float(text) if text else empty


def claim_of(row: Mapping[str, str], told: Mapping[str, Document]) -> Claim:
    """A claim of a row of text; an empty end of its interval is open."""
    ends = {
        "low": _number(row["claimed_low"], -math.inf),
        "high": _number(row["claimed_high"], math.inf),
        "digits": int(float(row["digits"] or 2)),
    }
    names = (field.name for field in fields(Claim) if field.name not in ends)
    texts = {name: named_by(row[name] or "", told) for name in names if name not in _KEYS}
    return Claim(**{name: row[name] for name in _KEYS}, **texts, **ends)


_KEYS = ("id", "source", "chapter", "unit", "missing_kind")
"""What of a claim is no text."""


def finding_of(row: Mapping[str, str], claim: Claim) -> Finding:
    """What a claim was found to be, by its row of the ledger."""
    low, high = _number(row["found_low"], None), _number(row["found_high"], None)
    known = low is not None or high is not None
    ends = (-math.inf if low is None else low, math.inf if high is None else high)
    of = Recomputed(*ends, traced=row["traced"] == "true") if known else None
    factor = _number(row["factor"], None)
    return Finding(claim, of, row["verdict"], factor, row["holds"], row["possible"], row["origin"])


def found_in_words(of: Finding) -> str:
    """What a claim was found to be, in words; nothing where nothing recomputes it."""
    found = of.recomputed
    return interval(found.low, found.high, of.claim.unit) if found else ""
