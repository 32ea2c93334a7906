"""Pages that the build writes itself: what ran, on which versions, until when the data counts as
fresh; and the ledger of claims, which the command lists too.

They say nothing that differs between two builds of the same sources. How long each run took is in a
file beside the page, which loads it; whether data is old is judged on the reader's day.
"""

from __future__ import annotations

import functools
import importlib.metadata
import json
import math
import platform
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path

from scaleright import __version__
from scaleright.claims import listing
from scaleright.claims.entries import Document
from scaleright.claims.verdicts import HOLD
from scaleright.outputs import table_box
from scaleright.parameters import show
from scaleright.press import Book
from scaleright.press.execute import Job
from scaleright.press.pages import Dated, dated, notice, title
from scaleright.press.scenarios import Scenario

_PACKAGES = (
    "altair",
    "numpy",
    "pandas",
    "vl-convert-python",
    "ipython",
    "jupyter-book",
    "Sphinx",
)
RUNS = "_static/runs.js"
"""Where the site keeps how long the runs took: a script, which a page may load without a server."""
_AGED = ("table", "as of", "fresh for [days]", "fresh until")
_RUNS = """\
/* How long the last run of each chapter and case took [s]. */
(function (seconds) {
  document.querySelectorAll("[data-sr-run]").forEach((place) => {
    place.textContent = seconds[place.dataset.srRun] ?? "";
  });
})(%s);
"""


def _table(
    caption: str,
    head: Iterable[str],
    rows: Iterable[Iterable[str]],
    numeric: Iterable[int] = (),
    keys: bool = False,
) -> str:
    """A table of HTML cells; `numeric` are the columns set to the right, `keys` keeps short names
    in view.
    """
    sides = dict.fromkeys(numeric, ' class="sr-num"')
    top = "".join(
        f'<th scope="col"{sides.get(i, "")}>{escape(text)}</th>' for i, text in enumerate(head)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{sides.get(i, '')}>{c}</td>" if i else f'<th scope="row">{c}</th>'
            for i, c in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return table_box(caption, top, body, keys)


def seconds(book: Book, scenarios: Iterable[Scenario]) -> str:
    """The script that fills in how long each run took."""
    known = [Job(chapter) for chapter in book.chapters()]
    known += [Job(scenario.chapter, {}, scenario.name) for scenario in scenarios]
    taken = {job.label: f"{_seconds(book, job):.1f}" for job in known}
    return _RUNS % json.dumps(taken, indent=1)


def _seconds(book: Book, job: Job) -> float:
    record = book.executed(job.chapter, job.scenario).with_suffix(".json")
    return json.loads(record.read_text(encoding="utf-8"))["seconds"]


def runs(book: Book, scenarios: Iterable[Scenario]) -> list[list[str]]:
    """One row a chapter and a scenario: its page, what was set, and a place for the time of its
    last run.
    """
    rows, scenarios = [], list(scenarios)
    for chapter in book.chapters():
        question = title(json.loads(book.executed(chapter).read_bytes()))
        rows.append(_run(f"notebooks/{chapter}", question, "the defaults", Job(chapter)))
        for case in (scenario for scenario in scenarios if scenario.chapter == chapter):
            values = ", ".join(f"{name} = {show(value)}" for name, value in case.parameters.items())
            rows.append(_run(case.page, case.title, values, Job(chapter, {}, case.name)))
    return rows


def _run(page: str, called: str, values: str, job: Job) -> list[str]:
    link = f'<a href="../{page}.html">{escape(called)}</a>'
    return [link, escape(values), f'<span data-sr-run="{job.label}"></span>']


def ages(tables: dict[str, Dated]) -> list[list[str]]:
    """One row a table: its date, for how long it counts as fresh, and the last day of that."""
    return [
        [
            f"{escape(t.title)} (<code>{name}</code>)",
            t.as_of.isoformat(),
            f"{t.stale_after_days:,}",
            t.fresh_until.isoformat(),
        ]
        for name, t in sorted(tables.items())
    ]


def verdicts() -> tuple[list[str], list[list[str]]]:
    """The claims by verdict: the head, with the documents, and a row a verdict."""
    from scaleright.catalog import data_dir
    from scaleright.claims.entries import documents
    from scaleright.claims.listing import entries
    from scaleright.claims.verdicts import VERDICTS

    found = [entry.finding for entry in entries(data_dir())]
    count = Counter((of.verdict, of.claim.source) for of in found)
    sources = sorted({source for _, source in count})
    rows = {verdict: [count[verdict, s] for s in sources] for verdict in VERDICTS}
    rows["all"] = [sum(column) for column in zip(*rows.values(), strict=True)]
    names = [documents()[source].short for source in sources]
    return ["verdict", "all", *names], [
        [verdict, *map(str, (sum(row), *row))] for verdict, row in rows.items() if sum(row)
    ]


def rule_of_verdicts() -> str:
    """How a claim is judged, and what each verdict says, as Markdown."""
    from scaleright.claims.verdicts import AGREEMENT, LOOSE, MEANINGS, WIDEST

    printed, loose = (f"{100 * share:.0f} %" for share in (AGREEMENT, LOOSE))
    rule = (
        "A claim holds if all that is recomputed lies within it. It also holds if the ends of what"
        f" is recomputed lie at most {WIDEST:g} times apart and one of the two intervals reaches"
        " the middle of the other. A mere overlap decides nothing. Rounding is forgiven: half of"
        f" the last printed digit or {printed}, or {loose} where a document says “about”. A figure"
        " that a model predicts carries the error of the model.\n"
    )
    return "\n".join([rule, *(f"- *{verdict}*: {says}" for verdict, says in MEANINGS.items())])


def status_page(book: Book, scenarios: list[Scenario]) -> str:
    """The status page as Markdown."""
    package = json.loads((book.data / "datapackage.json").read_text(encoding="utf-8"))
    tables = {entry["path"].removesuffix(".csv"): dated(entry) for entry in package["resources"]}
    versions = [["scaleright", __version__], ["Python", platform.python_version()]]
    versions += [[name, importlib.metadata.version(name)] for name in _PACKAGES]
    head, rows = verdicts()
    parts = [
        f"# Status\n\n{notice(tables.values())}",
        "## Chapters and cases",
        _table(
            "What ran, and for how long",
            ("page", "set to", "last run [s]"),
            runs(book, scenarios),
            [2],
        )
        + f'<script src="../{RUNS}" defer></script>',
        "## Data",
        _table("Until when tables count as fresh", _AGED, ages(tables), [1, 2, 3]),
        f"## Claims\n\n{rule_of_verdicts()}",
        _table(
            "Statements of the five documents, recomputed",
            head,
            rows,
            range(1, len(head)),
            keys=True,
        ),
        "## Versions",
        _table("What the book was built with", ("package", "version"), versions),
    ]
    return "\n\n".join(parts) + "\n"


def folder() -> Path:
    """The folder of the tables."""
    return Book.find().data


def listed_claims(form: str | None, asked: Mapping[str, str | None]) -> tuple[str, list[Dated]]:
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


def ledger_files(book: Book) -> dict[str, bytes]:
    """The whole ledger to take along: path in the site, and content."""
    lines = listing.entries(book.data)
    said = {"csv": listing.as_csv(lines), "json": listing.as_json(lines) + "\n"}
    return {f"{FILES}.{kind}": text.encode() for kind, text in said.items()}


def ledger_page(book: Book) -> str:
    """The page of the ledger as Markdown: who is checked, every claim, how it is judged."""
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
    heads, rows = ("called here", "title", "by", "year", "claims", "hold"), []
    for document in sorted(documents, key=lambda document: document.short):
        own = [line for line in lines if line.document == document]
        held = sum(line.finding.verdict in HOLD for line in own)
        title = f'<a href="{escape(document.url)}">{escape(document.title)}</a>'
        called, author = escape(document.short), escape(document.author)
        rows.append([called, title, author, str(document.year), str(len(own)), str(held)])
    return _table("The five documents", heads, rows, [3, 4, 5])


def _form(book: Book, lines: list[listing.Entry]) -> str:
    """What filters the table, which only a script can do: it shows the form."""
    chapters = {line.claim.chapter: _question(book, line.claim.chapter) for line in lines}
    names = {
        "document": {line.document.short: line.document.short for line in lines},
        "subject": {line.subject: line.subject for line in lines},
        "verdict": {name: name for name in listing.counts(lines)},
        "chapter": chapters,
    }
    picked = ""
    for what in _FILTERS:
        known = names[what] if what == "verdict" else sorted(names[what])
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
    body = "\n".join(_row(line, book) for line in lines)
    return table_box("The ledger", top, body, keys=False)


def _row(line: listing.Entry, book: Book) -> str:
    claim, factor = line.claim, line.finding.factor
    values = (line.document.short, line.subject, line.finding.verdict, claim.chapter)
    told = "".join(
        f' data-{what}="{escape(value)}"' for what, value in zip(_FILTERS, values, strict=True)
    )
    away = abs(math.log(factor)) if factor and factor > 0 else 0.0
    quoted = f"<q>{escape(line.words)}</q>" if line.words else ""
    chapter = escape(_question(book, claim.chapter))
    if book.text(claim.chapter).is_file():
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
def _question(book: Book, chapter: str) -> str:
    """The question of a chapter, by its text."""
    path = book.text(chapter)
    found = path.is_file() and re.search("^# (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else chapter.replace("_", " ")
