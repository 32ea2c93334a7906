"""The five documents whose claims the book checks, from `data/documents.csv`: who wrote each, what
it is called, and the name that stands for it on pages instead of its key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any


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
    return _KEY.sub(lambda key: known[key[0]].short if key[0] in known else key[0], text)


_KEY = re.compile(r"\bS\d\b(?!-)")
