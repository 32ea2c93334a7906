"""How long a page takes to read: its words that are seen at once, at the pace of silent reading.

`python -m scaleright.press.reading PAGE.html ...` says it of built pages.
"""

from __future__ import annotations

import math
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

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
