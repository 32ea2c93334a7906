"""The ledger as it was last found: claims with documents, quoted words, verdicts and chapters,
filtered and searched, as text, JSON and CSV.

`data/ledger.csv` keeps what every claim was found to be, as `python -m refresh.ledger` writes it
and a test holds it to the library, so that nothing is recomputed by whoever reads a list; a claim
that has changed since, or is new, is. Imports no frames of tables: a list comes at once.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from operator import attrgetter
from pathlib import Path
from typing import Any

from scaleright.claims.entries import SUBJECTS, Document, Entry, claim_of, finding_of, read_rows
from scaleright.claims.verdicts import MEANINGS, VERDICTS, Finding
from scaleright.names import brief, one_of, suggestion

TABLE, CLAIMS, DOCUMENTS, WORDS = (
    f"{name}.csv" for name in ("ledger", "claims", "documents", "claim_words")
)


def entries(folder: Path) -> list[Entry]:
    """Every line of the ledger, in the order of the claims, those made from tables last.

    folder : that of the tables
    """
    told = {row["source"]: Document.of(row) for row in read_rows(folder / DOCUMENTS)}
    words = {row["claim"]: row for row in read_rows(folder / WORDS)}
    kept = {row["id"]: row for row in read_rows(folder / TABLE)}
    known = {key: claim_of(row, told) for key, row in kept.items()}
    written = [claim_of(row, told) for row in read_rows(folder / CLAIMS)]
    changed = [claim.id for claim in written if known.get(claim.id) != claim]
    anew = {finding.claim.id: finding for finding in _recomputed(tuple(changed))}
    made = [claim for key, claim in known.items() if kept[key]["written"] != "true"]
    found = [anew.get(c.id) or finding_of(kept[c.id], c) for c in (*written, *made)]
    return [
        Entry(
            finding,
            told[finding.claim.source],
            words.get(finding.claim.id, {}).get("words", ""),
            words.get(finding.claim.id, {}).get("taught") == "true",
        )
        for finding in found
    ]


def _recomputed(ids: tuple[str, ...]) -> list[Finding]:
    if not ids:
        return []
    from scaleright.claims import ledger  # it reads tables, which takes a second

    return ledger.findings(ids=ids)


def chosen(
    of: Sequence[Entry],
    document: str | None = None,
    subject: str | None = None,
    verdict: str | None = None,
    chapter: str | None = None,
    words: str | None = None,
) -> list[Entry]:
    """The lines of a document, subject, verdict and chapter whose text has all of these words.

    Each is named as a person types it: in any case, by a part that only one name has, a document by
    its key as well.

    Raises
    ------
    LookupError : no such name, or none of the words; the nearest are offered.
    """
    documents = dict.fromkeys(entry.document.short for entry in of)
    keys = {entry.document.source.casefold(): entry.document.short for entry in of}
    known = document and keys.get(document.casefold())
    chapters = {entry.claim.chapter: 0 for entry in of}
    asked = (
        (known or (document and _named(document, documents, "document")), "document.short"),
        (subject and _named(subject, SUBJECTS, "subject"), "subject"),
        (verdict and _named(verdict, VERDICTS, "verdict"), "finding.verdict"),
        (chapter and _named(chapter, chapters, "chapter"), "claim.chapter"),
    )
    wanted = [(name, attrgetter(of)) for name, of in asked if name]
    left = [entry for entry in of if all(has(entry) == name for name, has in wanted)]
    return _with_words(left, words, of) if words else left


def _with_words(left: list[Entry], words: str, of: Sequence[Entry]) -> list[Entry]:
    """Those whose text has all of these words."""
    wanted = words.casefold().split()
    found = [entry for entry in left if all(word in entry.searched for word in wanted)]
    if found or all(any(word in entry.searched for entry in of) for word in wanted):
        return found
    lacking = next(word for word in wanted if not any(word in entry.searched for entry in of))
    known = sorted({word.strip("(),.;:'\"") for entry in of for word in entry.searched.split()})
    raise LookupError(f"no claim has the word {brief(lacking)}; {suggestion(lacking, known)}")


def _named(asked: str, known: Iterable[str], what: str) -> str:
    """The one name that is meant."""
    known = list(known)
    plain = {_plain(name): name for name in known}
    text = _plain(asked)
    if text in plain:
        return plain[text]
    within = [name for folded, name in plain.items() if text and text in folded]
    return within[0] if len(within) == 1 else one_of(asked, known, what)


def _plain(name: str) -> str:
    """A name without what people leave out.

    >>> _plain("Vendors' announcements"), _plain("off-by-a-factor")
    ('vendors announcements', 'off by a factor')
    """
    spaced = name.casefold().replace("'", "").replace("-", " ").replace("_", " ")
    return " ".join(spaced.split())


def counts(of: Iterable[Entry]) -> dict[str, int]:
    """How many lines have each verdict, in the order of `VERDICTS`."""
    found = [entry.finding.verdict for entry in of]
    return {verdict: n for verdict in VERDICTS if (n := found.count(verdict))}


def as_text(of: Sequence[Entry]) -> str:
    """Lines of the ledger as text, and how many have each verdict."""
    lines = [
        f"{e.claim.id} ({e.document.short}, {e.document.year}): {e.claim.statement}\n"
        f"    claimed {e.claimed}{_beside(e)}\n    {e.verdict}: {e.finding.line()}"
        for e in of
    ]
    counted = (f"{n:4d} {verdict}: {MEANINGS[verdict]}" for verdict, n in counts(of).items())
    return "\n".join([*lines, "", *counted, f"{len(of):4d} claims"])


def _beside(entry: Entry) -> str:
    of = entry.finding.recomputed
    return f", {'published' if of.traced else 'recomputed'} {entry.found}" if of else ""


def record(entry: Entry) -> dict[str, Any]:
    """A line of the ledger for machines: every figure, open ends as nothing."""
    claim, of = entry.claim, entry.finding.recomputed
    return {
        "id": claim.id,
        "document": entry.document.short,
        "author": entry.document.author,
        "title": entry.document.title,
        "year": entry.document.year,
        "subject": entry.subject,
        "chapter": claim.chapter,
        "words": entry.words,
        "reading": claim.statement,
        "claimed_low": _finite(claim.low),
        "claimed_high": _finite(claim.high),
        "found_low": _finite(of.low) if of else None,
        "found_high": _finite(of.high) if of else None,
        "unit": claim.unit,
        "verdict": entry.finding.verdict,
        "factor": entry.finding.factor,
        "why": entry.finding.line(),
        "call": claim.call,
        "inputs": claim.inputs,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def as_json(of: Sequence[Entry]) -> str:
    """Lines of the ledger as JSON, with the documents that they are from."""
    documents = {entry.document.source: asdict(entry.document) for entry in of}
    told = {
        "documents": list(documents.values()),
        "verdicts": counts(of),
        "claims": [record(entry) for entry in of],
    }
    return json.dumps(told, indent=1, ensure_ascii=False, allow_nan=False)


def as_csv(of: Sequence[Entry]) -> str:
    """Lines of the ledger as CSV."""
    text = io.StringIO()
    rows = [record(entry) for entry in of]
    writer = csv.DictWriter(text, list(rows[0]) if rows else ["id"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
