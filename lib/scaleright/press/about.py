"""What a page says about itself: how long it takes to read, when it last changed, how to cite it,
where to report an error.

A page is read at the pace of silent reading, of words that are seen at once:
`python -m scaleright.press.about PAGE.html ...` says how long of built pages.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from datetime import date
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from scaleright import __version__
from scaleright.press import Book
from scaleright.press.pages import LOOKED_UP
from scaleright.press.repository import Repository

WORDS_PER_MINUTE = 238
"""Silent reading of English non-fiction by adults (`brysbaert2019`: 190 studies)."""
LONGEST_MIN = 10
"""Minutes that a chapter may take."""
_SAID = 6
"""Words from which on a cell of a table is read as a sentence; shorter ones are looked up."""
_UNREAD = {"script", "style", "pre", "code", "svg", "noscript", "select", "button", "template"}
_UNSEEN = {"sr-error", "sr-alt", "sr-files", "sr-controls", "math", "headerlink", "eqno", "sr-take"}
_VOID = {"br", "img", "input", "hr", "wbr", "source", "col", "meta", "link", "area", "embed"}
_HEAVY = re.compile(r"<(script|style|svg)\b.*?</\1>", re.DOTALL)


class _Reader(HTMLParser):
    """Counts words outside of what is folded, hidden, drawn, set or looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, bool, bool]] = []  # element, not read in it, folds away
        self.words, self.cell = 0, -1

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            return
        given = dict(attrs)
        _, unread, folds = self.open[-1] if self.open else ("", False, False)
        unread |= tag in _UNREAD or "hidden" in given or (folds and tag != "summary")
        unread |= bool(_UNSEEN & {*(given.get("class") or "").split()})
        self.open.append((tag, unread, tag == "details" and "open" not in given))
        if tag in ("td", "th"):
            self.cell = 0

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass
        if tag in ("td", "th"):
            self.words, self.cell = self.words + (self.cell if self.cell >= _SAID else 0), -1

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1][1]:
            return
        count = sum(any(map(str.isalnum, word)) for word in data.split())
        if self.cell >= 0:
            self.cell += count
        else:
            self.words += count


def words(body: str) -> int:
    """The words of a page that are read: all that is seen before anything is unfolded, of tables
    the sentences alone.

    >>> words("<p>Two words.</p><details><summary>More</summary><p>Not read.</p></details>")
    3
    >>> words("<table><tr><td>7 GB</td><td>This cell is read as a sentence.</td></tr></table>")
    7
    """
    reader = _Reader()
    reader.feed(_HEAVY.sub("", body))
    reader.close()
    return reader.words


def minutes(body: str) -> int:
    """Minutes that a page takes to read, whole ones and at least one.

    >>> minutes("<p>" + "word " * 477 + "</p>")
    3
    """
    return max(1, math.ceil(words(body) / WORDS_PER_MINUTE))


def article(page: str) -> str:
    """The text of a built page, without what stands around it."""
    found = re.search(r"<article>(.*)</article>", page, re.DOTALL)
    return found[1] if found else page


if __name__ == "__main__":
    for name in sys.argv[1:]:
        read = article(Path(name).read_text(encoding="utf-8"))
        print(f"{Path(name).stem:24} {words(read):6,} words {minutes(read):3} min")  # noqa: T201


CHANGED = "book/changed.json"
"""Where the stage says when each page last changed."""
_FORM = "wrong_number.yml"
_KEPT = ("book", "notebooks/text", "lib/scaleright/chapters")


def changed(book: Book, pages: Iterable[str]) -> dict[str, str]:
    """The day of the last commit that changed each page, by the clock of who made it: the same
    wherever and whenever the book is built. Nothing where there is no history, or only a part.

    A chapter is its text and its package; a scenario is as old as its chapter.
    """
    git = ["git", "-C", str(book.root)]
    try:
        part = subprocess.run(
            [*git, "rev-parse", "--is-shallow-repository"], capture_output=True, check=True
        )
        if part.stdout.strip() != b"false":
            return {}
        said = subprocess.run(
            [*git, "log", "--format=@%cs", "--name-only", "--relative", "--", *_KEPT],
            capture_output=True,
            check=True,
            text=True,
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return {}
    latest: dict[str, str] = {}
    for commit in said.split("@")[1:]:
        day, *files = commit.split("\n")
        for file in filter(None, files):
            latest[file] = max(day, latest.get(file, ""))
    of = {
        page: [day for file, day in latest.items() if file.startswith(_places(page))]
        for page in pages
    }
    return {page: max(days) for page, days in of.items() if days}


def _places(page: str) -> tuple[str, ...]:
    """A file or a folder for each place where a page is written."""
    if not page.startswith("notebooks/"):
        return (f"{page}.md",)
    chapter = page.split("/")[1]
    return f"notebooks/text/{chapter}.md", f"lib/scaleright/chapters/{chapter}/"


def spoken(day: str) -> str:
    """A day as it is written in a sentence.

    >>> spoken("2026-11-03")
    'November 3, 2026'
    """
    at = date.fromisoformat(day)
    months = "January February March April May June July August September October November December"
    return f"{months.split()[at.month - 1]} {at.day}, {at.year}"


def report(repository: Repository, page: str) -> str:
    """The address at which to report a wrong number of a page; empty where nothing is hosted.

    >>> report(Repository("https://github.com/o/r"), "notebooks/a")
    'https://github.com/o/r/issues/new?template=wrong_number.yml&place=a'
    """
    if not repository.slug:
        return f"{repository.url}/issues" if repository.url else ""
    place = page.removeprefix("notebooks/").removeprefix("book/")
    return f"{repository.url}/issues/new?{urlencode({'template': _FORM, 'place': place})}"


def cited(page: str, title: str, authors: str, book: str, day: str) -> dict[str, str]:
    """A page as others cite it: a sentence, and an entry for BibTeX."""
    year, name = day[:4], page.rpartition("/")[2]
    when = f" ({year})" if year else ""
    on = f" Last changed {day}." if day else ""
    lines = {
        "author": f"{{{authors}}}",
        "title": title,
        "howpublished": f"{book}, version {__version__}",
        "year": year,
        "note": f"chapter {name}" + (f", last changed {day}" if day else ""),
    }
    fields = ",\n".join(f"  {key} = {{{value}}}" for key, value in lines.items() if value)
    return {
        "sentence": f"{authors}{when}. “{title}” In: {book}, version {__version__}.{on}",
        "bibtex": f"@misc{{scaleright-{name},\n{fields}\n}}",
    }


def tell(app, pagename: str, _templatename, context: dict[str, Any], _doctree) -> None:
    """Tell the theme what a page of the contents says about itself."""
    if pagename not in app.env.found_docs:
        return
    known = Path(app.srcdir) / CHANGED
    days: Mapping[str, str] = json.loads(known.read_text()) if known.is_file() else {}
    day, options = days.get(pagename, ""), app.config.html_theme_options
    hosted = Repository(
        options.get("repository_url") or "", options.get("repository_branch") or "main"
    )
    title = app.env.titles[pagename].astext()
    context["about"] = {
        "minutes": 0 if pagename in LOOKED_UP else minutes(context.get("body") or ""),
        "day": day,
        "changed": spoken(day) if day else "",
        "report": report(hosted, pagename),
        **cited(pagename, title, app.config.author, app.config.html_title, day),
    }
