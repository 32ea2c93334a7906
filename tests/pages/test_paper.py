"""The whole book as one document, and as PDF."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from absent import absent
from browse import CHROMIUM, PAGES, ROOT
from scaleright.press import Book, PressError, paper


@pytest.fixture(scope="module")
def pages() -> list[str]:
    return paper.contents(Book(ROOT))


@pytest.fixture
def book(html, tmp_path) -> Book:
    """This book with the built site that is tested."""
    (tmp_path / "_build").mkdir()
    (tmp_path / "_build" / "html").symlink_to(html)
    (tmp_path / "book").symlink_to(ROOT / "book")
    (tmp_path / "_config.yml").symlink_to(ROOT / "_config.yml")
    return Book(tmp_path)


def test_the_document_has_every_page_and_chart_and_leads_within_itself(book, html, pages):
    assert {f"{page}.html" for page in pages} == set(PAGES) - {"search.html"}
    text = paper.document(book, pages)
    names = re.findall(r'(?<= )id="([^"]+)"', text)
    assert len(names) == len(set(names)), "a name stands there twice"
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(names)
    charts = sum(
        (html / f"{page}.html").read_text(encoding="utf-8").count('<figure class="sr-chart"')
        for page in pages
    )
    assert text.count('class="sr-still"') == text.count('<figure class="sr-chart"') == charts > 50
    for source in set(re.findall(r'src="/([^"?]+)', text)):
        assert (html / source).is_file(), source
    assert "<noscript" not in text and "application/json" not in text


PRINTS = """
import sys
from pathlib import Path
from scaleright.press import Book, PressError, paper
book = Book(Path(sys.argv[1]))
paper.write(book, ["book/index", "notebooks/memory_wall"])
try:
    paper.printed(book.build / "html", "<img src='/charts/none.svg' alt=''>")
except PressError as error:
    print(error)
"""


@pytest.mark.processes
def test_a_document_is_printed_with_its_outline_and_no_time_and_a_missing_picture_is_named(book):
    """By a process of its own: here the browser's driver may be running."""
    if not CHROMIUM:
        absent("Chromium", "chromium")
    command = [sys.executable, "-c", PRINTS, str(book.root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    content = (book.build / paper.FILE).read_bytes()
    assert content.startswith(b"%PDF-") and content.rstrip().endswith(b"%%EOF")
    assert b"D:20000101000000" in content and content.count(b"/Type /Page\n") >= 6
    assert b"/Outlines" in content
    assert "pictures are missing: http://127.0.0.1" in done.stdout and "none.svg" in done.stdout


def test_a_missing_page_is_named(book):
    with pytest.raises(PressError, match=r"notebooks/none[.]html is not in the site"):
        paper.document(book, ["notebooks/none"])
