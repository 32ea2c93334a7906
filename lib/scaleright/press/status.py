"""The status page: what ran, on which versions, until when the data counts as fresh, how the claims
stand.

It says nothing that differs between two builds of the same sources. How long each run took is in a
file beside it, which the page loads; whether data is old is judged on the reader's day.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
from collections import Counter
from collections.abc import Iterable
from html import escape

from scaleright import __version__
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
    "papermill",
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


def page(book: Book, scenarios: list[Scenario]) -> str:
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
