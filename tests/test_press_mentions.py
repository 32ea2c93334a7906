"""Chapters that mention each other, and figures that prose names."""

from __future__ import annotations

import re
from pathlib import Path

import jupytext
import pytest
from scaleright.press import Book, markup

ROOT = Path(__file__).resolve().parents[1]
OF = markup.read_mentions(ROOT / markup.MENTIONS)
FIND = markup.mention_pattern(OF)
LINKED = re.compile(r"\[[^\]]*\]\([^)]*\)|<a .*?</a>", re.DOTALL)


def prose_of(chapter: str) -> str:
    """The prose of a chapter, without its links."""
    notebook = jupytext.read(Book(ROOT).text(chapter))
    cells = [cell["source"] for cell in notebook.cells if cell["cell_type"] == "markdown"]
    return LINKED.sub("", "\n\n".join(cells))


def test_every_chapter_has_words_of_its_own():
    assert set(OF.values()) == set(Book(ROOT).chapters())


@pytest.mark.parametrize("chapter", Book(ROOT).chapters())
def test_no_mention_of_a_chapter_stays_without_a_link(chapter):
    text = prose_of(chapter)
    lost = [
        text[begun.start() : begun.end() + 40]
        for begun in markup.MENTION.finditer(text)
        if not FIND.match(text, begun.start())
    ]
    assert not lost, f"name them in {markup.MENTIONS}, or link them"


def test_mentions_become_links_outside_of_links_headings_and_code():
    where = {chapter: f"{chapter}.html" for chapter in OF.values()}
    body = (
        "<h2>The chapter on tokens</h2><p>The chapter on\nthe load of a day, the <b>chapter on"
        " MLPerf</b>, <a href='#'>the chapter on memory</a>, <code>chapter on tokens</code>, the"
        " chapter on an announcement and the chapter on tokenizers.</p>"
    )
    marked = markup.mark_mentions(body, FIND, OF, where)
    found = re.findall(r'<a href="(\w+).html">chapter\s+on\s+([^<]*)</a>', marked)
    assert found == [
        ("load_of_a_day", "the load of a day"),
        ("mlperf", "MLPerf"),
        ("vendor_claims", "an announcement"),
    ]
    assert re.sub(r'<a href="\w+.html">(.*?)</a>', r"\1", marked, flags=re.DOTALL) == body
    assert markup.mark_mentions(body, FIND, OF, {}) == body


def test_a_book_without_words_for_chapters_has_none(tmp_path):
    assert markup.read_mentions(tmp_path / "none.yml") == {}


@pytest.mark.parametrize("chapter", Book(ROOT).chapters())
def test_a_chart_elsewhere_is_named_by_its_number_and_not_by_where_it_stands(chapter):
    text = Book(ROOT).text(chapter).read_text(encoding="utf-8")
    told = re.findall(r"(?:chart|figure|table)s? (?:above|below)\b", text, re.IGNORECASE)
    assert not told, 'link it: <a href="#chart-NAME">the chart of ...</a> says its number'
    own = sorted((ROOT / "lib" / "scaleright" / "chapters" / chapter).glob("*.py"))
    texts = [text, *(module.read_text(encoding="utf-8") for module in own)]
    named = {name for text in texts for name in re.findall(r"\bname=\"([\w-]+)\"", text)}
    assert set(re.findall(r'href="#chart-([\w-]+)"', text)) <= named
