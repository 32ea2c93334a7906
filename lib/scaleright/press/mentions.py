"""Chapters that are mentioned become links: "the chapter on the ladder" leads to it, wherever it
stands in prose.

`book/mentions.yml` holds the words for each chapter; a test finds a mention by other words.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scaleright.files import file_type, parsed, read_text
from scaleright.press.glossary import prose

FILE = "book/mentions.yml"
ANY = re.compile(r"\bchapters?\s+on\s+")
"""What begins a mention."""


def read(source: Path) -> dict[str, str]:
    """The chapter by each of the words for it; nothing without a file."""
    if not file_type(source):
        return {}
    known = parsed(read_text(source, FILE), "YAML", FILE)
    return {words: chapter for chapter, names in known.items() for words in names}


@functools.cache
def _known(source: Path, _changed: int) -> tuple[dict[str, str], re.Pattern[str]]:
    of = read(source)
    return of, pattern(of)


def pattern(of: Mapping[str, str]) -> re.Pattern[str]:
    """What finds mentions in the text of a page, the longest words first.

    >>> pattern({"tokens": "token_cost", "the load of a day": "load"}).findall(
    ...     "As the chapter on tokens says; the chapter on token prices does not.")
    [('chapter on ', 'tokens')]
    """
    words = (
        re.escape(name).replace(r"\ ", r"\s+")
        for name in sorted(of, key=lambda name: (-len(name), name))
    )
    return re.compile(rf"(chapter\s+on\s+)({'|'.join(words)})(?![\w-])")


def mark(body: str, find: re.Pattern[str], of: Mapping[str, str], where: Mapping[str, str]) -> str:
    """A page on which each mention leads to the address of its chapter, where it has one.

    >>> of, where = {"tokens": "token_cost"}, {"token_cost": "token_cost.html"}
    >>> mark("<p>See the chapter on tokens.</p>", pattern(of), of, where)
    '<p>See the <a href="token_cost.html">chapter on tokens</a>.</p>'
    """

    def link(match: re.Match[str]) -> str:
        address = where.get(of[" ".join(match[2].split())])
        return f'<a href="{address}">{match[0]}</a>' if address else match[0]

    return "".join(find.sub(link, part) if text else part for part, text in prose(body))


def mark_page(app, pagename: str, _templatename: str, context: dict[str, Any], _doctree) -> None:
    """Link the chapters that a page of the site mentions, but for itself."""
    source = Path(app.srcdir) / FILE
    if not context.get("body") or not source.is_file():
        return
    of, find = _known(source, source.stat().st_mtime_ns)
    pages = {chapter: f"notebooks/{chapter}" for chapter in set(of.values())}
    where = {
        chapter: context["pathto"](page)
        for chapter, page in pages.items()
        if page in app.env.found_docs and page != pagename
    }
    context["body"] = mark(context["body"], find, of, where)
