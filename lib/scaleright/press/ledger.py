"""The ledger of claims as the command lists it, and as a page and files of the site."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path

from scaleright.claims import listing
from scaleright.claims.entries import Document
from scaleright.claims.verdicts import HOLD
from scaleright.outputs import table_box
from scaleright.press import Book
from scaleright.press.pages import Dated, dated


def folder() -> Path:
    """The folder of the tables."""
    return Book.find().data


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


SCRIPT = "_static/ledger.js"
FILES = "downloads/ledger"
"""The whole ledger to take along, as CSV and JSON."""
_FILTERS = ("document", "subject", "verdict", "chapter")
_HEADS = ("claim", "document", "claimed", "recomputed", "verdict", "chapter")
_OPENING = """\
# Fact checks: published claims, recomputed

Five documents on which people base decisions state {count} figures.
This book recomputes each from its own data and models, and judges by
[one rule](#how-a-claim-is-judged) whether the two agree; {held} hold as they stand.
Each line quotes the document, says how we read its words, and gives what we find, with its range.

{copied} are quoted from copies that a machine had translated or reworded: judge their figures, not
their prose.
"""


_TAKE_ALONG = (
    f'<p class="sr-files">All of them as <a href="../{FILES}.csv" download>CSV</a> ·'
    f' <a href="../{FILES}.json" download>JSON</a></p><script src="../{SCRIPT}" defer></script>'
)


def files(book: Book) -> dict[str, bytes]:
    """The whole ledger to take along: path in the site, and content."""
    lines = listing.entries(book.data)
    said = {"csv": listing.as_csv(lines), "json": listing.as_json(lines) + "\n"}
    return {f"{FILES}.{kind}": text.encode() for kind, text in said.items()}


def page(book: Book) -> str:
    """The page of the ledger as Markdown: who is checked, every claim, how it is judged."""
    from scaleright.press.status import rule_of_verdicts

    lines = listing.entries(book.data)
    documents = {line.document.source: line.document for line in lines}
    copied = [d.short for d in documents.values() if "copy" in d.copy]
    opening = _OPENING.format(
        count=f"{len(lines):,}",
        held=sum(line.finding.verdict in HOLD for line in lines),
        copied=" and ".join(sorted(copied)),
    )
    parts = [
        opening,
        _documents(list(documents.values()), lines),
        "## Every claim",
        _form(book, lines),
        f'<div class="sr-ledger">{_claims(book, lines)}</div>',
        _TAKE_ALONG,
        f"(how-a-claim-is-judged)=\n## How a claim is judged\n\n{rule_of_verdicts()}",
    ]
    return "\n\n".join(parts) + "\n"


def _documents(documents: list[Document], lines: list[listing.Entry]) -> str:
    heads = ("called here", "title", "by", "year", "claims", "hold")
    numeric = ' class="sr-num"'
    top = "".join(
        f'<th scope="col"{numeric if i > 2 else ""}>{head}</th>' for i, head in enumerate(heads)
    )
    body = ""
    for document in sorted(documents, key=lambda document: document.short):
        own = [line for line in lines if line.document == document]
        held = sum(line.finding.verdict in HOLD for line in own)
        title = f'<a href="{escape(document.url)}">{escape(document.title)}</a>'
        cells = (title, escape(document.author), document.year, len(own), held)
        body += f'<tr><th scope="row">{escape(document.short)}</th>' + "".join(
            f"<td{numeric if i > 1 else ''}>{cell}</td>" for i, cell in enumerate(cells)
        )
        body += "</tr>"
    return table_box("The five documents", top, body, keys=False)


def _form(book: Book, lines: list[listing.Entry]) -> str:
    """What filters the table, which only a script can do: it shows the form."""
    chapters = {line.claim.chapter: _title(book, line.claim.chapter) for line in lines}
    names = {
        "document": {line.document.short: line.document.short for line in lines},
        "subject": {line.subject: line.subject for line in lines},
        "verdict": {name: name for name in listing.counts(lines)},
        "chapter": chapters,
    }
    order = {"verdict": list(names["verdict"])}
    picked = ""
    for what in _FILTERS:
        known = order.get(what) or sorted(names[what])
        options = "".join(
            f'<option value="{escape(name)}">{escape(names[what][name])}</option>' for name in known
        )
        picked += (
            f'<label>{what}<select name="{what}"><option value="">all</option>{options}</select>'
            "</label>"
        )
    return (
        '<form class="sr-filter" aria-label="Filter the claims" hidden>'
        f'{picked}<label>words<input type="search" name="words" autocomplete="off"></label>'
        '<button type="submit">Filter</button><button type="reset">Show all</button>'
        "<output></output></form>"
    )


def _claims(book: Book, lines: list[listing.Entry]) -> str:
    top = "".join(f'<th scope="col">{head}</th>' for head in _HEADS)
    known = set(book.chapters())
    titles = {line.claim.chapter: _title(book, line.claim.chapter) for line in lines}
    body = "\n".join(_row(line, titles, line.claim.chapter in known) for line in lines)
    return table_box("The ledger", top, body, keys=False)


def _row(line: listing.Entry, titles: Mapping[str, str], linked: bool) -> str:
    claim, factor = line.claim, line.finding.factor
    values = (line.document.short, line.subject, line.finding.verdict, claim.chapter)
    told = "".join(
        f' data-{what}="{escape(value)}"' for what, value in zip(_FILTERS, values, strict=True)
    )
    away = abs(math.log(factor)) if factor and factor > 0 else 0.0
    quoted = f"<q>{escape(line.words)}</q>" if line.words else ""
    chapter = escape(titles[claim.chapter])
    if linked:
        chapter = f'<a href="../notebooks/{claim.chapter}.html">{chapter}</a>'
    cells = (
        escape(line.document.short),
        escape(line.claimed),
        f'{escape(line.found)} <small class="sr-why">{escape(line.finding.line())}</small>',
        escape(line.verdict),
        chapter,
    )
    return (
        f'<tr id="{claim.id.lower()}"{told} data-off="{away:.3g}"><th scope="row">'
        f"{escape(claim.statement)} {quoted}</th>"
        + "".join(f"<td>{cell}</td>" for cell in cells)
        + "</tr>"
    )


@functools.cache
def _title(book: Book, chapter: str) -> str:
    """The question of a chapter, by its text."""
    path = book.text(chapter)
    found = path.is_file() and re.search("^# (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else chapter.replace("_", " ")
