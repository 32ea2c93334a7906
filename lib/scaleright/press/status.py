"""The status page: what ran and how long it took, on which versions, how old the data is, how the
claims stand.

Ages and the day are those of the build; the page's script warns again on the reader's day.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
import re
from collections import Counter
from collections.abc import Iterable
from datetime import date
from html import escape
from pathlib import Path

from scaleright import __version__
from scaleright.charts.render import table_box
from scaleright.press import Book
from scaleright.press.pages import Dated, dated, notice, title
from scaleright.press.parameters import show
from scaleright.press.scenarios import Scenario

PAGE = "book/status"
_PACKAGES = (
    "altair",
    "numpy",
    "pandas",
    "vl-convert-python",
    "papermill",
    "jupyter-book",
    "Sphinx",
)
_AGED = ("table", "as of", "age [days]", "fresh for [days]", "state")


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


def _seconds(executed: Path) -> float:
    return json.loads(executed.with_suffix(".json").read_text())["seconds"]


def runs(book: Book, scenarios: Iterable[Scenario]) -> list[list[str]]:
    """One row a published chapter and a scenario: its page, what was set, and the time of its last
    run.
    """
    rows, contents = [], (book.root / "book" / "_toc.yml").read_text(encoding="utf-8")
    for chapter in book.chapters():
        if not re.search(rf"\bnotebooks/{chapter}\b", contents):
            continue
        executed = book.executed(chapter)
        question = escape(title(json.loads(executed.read_bytes())))
        rows.append(
            [
                f'<a href="../notebooks/{chapter}.html">{question}</a>',
                "the defaults",
                f"{_seconds(executed):.1f}",
            ]
        )
        for scenario in scenarios:
            if scenario.chapter == chapter:
                values = ", ".join(
                    f"{name} = {show(value)}" for name, value in scenario.parameters.items()
                )
                seconds = _seconds(book.executed(chapter, scenario.name))
                rows.append(
                    [
                        f'<a href="../{scenario.page}.html">{escape(scenario.title)}</a>',
                        escape(values),
                        f"{seconds:.1f}",
                    ]
                )
    return rows


def ages(tables: dict[str, Dated], today: date) -> list[list[str]]:
    """One row a table: its date, its age, the age up to which it counts as fresh, and whether it
    does.
    """
    return [
        [
            f"{escape(t.title)} (<code>{name}</code>)",
            t.as_of.isoformat(),
            f"{t.age_days(today):,}",
            f"{t.stale_after_days:,}",
            "<strong>old</strong>" if t.stale(today) else "fresh",
        ]
        for name, t in sorted(tables.items())
    ]


def verdicts() -> tuple[list[str], list[list[str]]]:
    """The claims by verdict: the head, with the source documents, and a row a verdict."""
    from scaleright import claims
    from scaleright.claims.ledger import VERDICTS

    count = Counter((f.verdict, f.claim.source) for f in claims.findings())
    sources = sorted({source for _, source in count})
    rows = [[v, *(count[v, s] for s in sources)] for v in VERDICTS]
    rows.append(["all", *(sum(row[i] for row in rows) for i in range(1, len(sources) + 1))])
    return ["verdict", "all", *sources], [
        [row[0], *map(str, (sum(row[1:]), *row[1:]))] for row in rows if sum(row[1:])
    ]


def page(book: Book, scenarios: list[Scenario], today: date) -> str:
    """The status page as Markdown."""
    package = json.loads((book.data / "datapackage.json").read_text(encoding="utf-8"))
    tables = {entry["path"].removesuffix(".csv"): dated(entry) for entry in package["resources"]}
    versions = [["scaleright", __version__], ["Python", platform.python_version()]]
    versions += [[name, importlib.metadata.version(name)] for name in _PACKAGES]
    head, rows = verdicts()
    parts = [
        f"# Status\n\n{notice(tables.values(), today)}\n\nBuilt on {today.isoformat()}.",
        "## Chapters and cases",
        _table(
            "What ran, and for how long",
            ("page", "set to", "last run [s]"),
            runs(book, scenarios),
            [2],
        ),
        "## Data",
        _table("Tables on the day of the build", _AGED, ages(tables, today), [1, 2, 3]),
        "## Claims",
        _table(
            "Statements of the source documents, recomputed",
            head,
            rows,
            range(1, len(head)),
            keys=True,
        ),
        "## Versions",
        _table("What the book was built with", ("package", "version"), versions),
    ]
    return "\n\n".join(parts) + "\n"
