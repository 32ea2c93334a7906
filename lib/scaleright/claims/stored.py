"""Claims as the stored ledger has them: what a chapter shows of claims stands on tables, and on
none of their recomputations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from scaleright import catalog
from scaleright.claims.entries import (
    claim_of,
    documents,
    finding_of,
    found_in_words,
    interval,
    off,
)
from scaleright.claims.verdicts import HOLD, Finding
from scaleright.names import one_of


@dataclass(frozen=True)
class Taught:
    """What a chapter tells of the claims on its question.

    rows : those that it keeps for what they teach, as a reader's table; held, of : how many of all
    on its question hold as they stand; whose : the documents that state them
    """

    chapter: str
    rows: pd.DataFrame
    held: int
    of: int
    whose: str


def taught(chapter: str) -> Taught:
    """The claims that a chapter keeps, as the stored ledger has them: the first three on its
    question where none is marked.

    >>> taught("inference_ladder").rows["claim"].tolist()[0][:9]
    'Clarifai:'
    """
    told, words = documents(), catalog.table("claim_words")
    marked = set(words.loc[words["taught"], "claim"])
    rows = catalog.table("ledger")
    found = _found(rows[rows["chapter"] == chapter])
    kept = [of for of in found if of.claim.id in marked] or found[:3]
    stated = {of.claim.source for of in found}
    authors = (
        f"{of.author}, “{of.title}” ({of.year})" for key, of in told.items() if key in stated
    )
    held = sum(of.verdict in HOLD for of in found)
    return Taught(chapter, _in_words(kept), held, len(found), "; ".join(authors))


def table(*ids: str) -> pd.DataFrame:
    """Some claims as a reader's table, in the order of the ledger.

    Raises
    ------
    LookupError : no such claim.

    >>> table("S3-rule-training")["verdict"].tolist()
    ['reproduced']
    """
    rows = catalog.table("ledger")
    asked = {one_of(key, rows["id"].tolist(), "claim") for key in ids}
    return _in_words(_found(rows[rows["id"].isin(asked)]))


def _found(rows: pd.DataFrame) -> list[Finding]:
    """What rows of the ledger say, read as from its file."""
    texts = rows.astype(object).where(rows.notna(), "").map(str)
    texts = texts.assign(traced=texts["traced"].str.lower())
    told = documents()
    return [finding_of(row, claim_of(row, told)) for row in texts.to_dict("records")]


def _in_words(found: Iterable[Finding]) -> pd.DataFrame:
    """Claims as a reader's table."""
    told = documents()
    return pd.DataFrame(
        {
            "claim": f"{told[of.claim.source].short}: {of.claim.statement}",
            "claimed": interval(of.claim.low, of.claim.high, of.claim.unit),
            "recomputed": found_in_words(of),
            "verdict": f"{of.verdict}{off(of)}",
            "why": of.line(),
        }
        for of in found
    )
