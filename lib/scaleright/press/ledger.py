"""The ledger of claims as the command lists it, and as a page and files of the site."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from scaleright.claims import listing
from scaleright.press import Book, PressError
from scaleright.press.pages import Dated, dated


def folder() -> Path:
    """The folder of the tables: the book's, else that of the installed package."""
    try:
        return Book.find().data
    except PressError:
        from scaleright.catalog import data_dir

        return data_dir()


def listed(form: str | None, asked: Mapping[str, str | None]) -> tuple[str, list[Dated]]:
    """The lines that are asked for, as text, "json" or "csv", and the tables behind them.

    Raises
    ------
    LookupError : a document, subject, verdict, chapter or word that no line has.
    """
    tables = folder()
    found = listing.chosen(listing.entries(tables), **asked)
    say = {"json": listing.as_json, "csv": listing.as_csv}.get(form or "", listing.as_text)
    package = json.loads((tables / "datapackage.json").read_text(encoding="utf-8"))
    known = {entry["path"].removesuffix(".csv"): entry for entry in package["resources"]}
    named = set(re.findall(r"[\w/]+", " ".join({entry.claim.inputs for entry in found})))
    return say(found), [dated(known[name]) for name in sorted(named & set(known))]
