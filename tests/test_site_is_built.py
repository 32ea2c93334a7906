"""The site of this very book, which the tests of `pages` then open in a browser."""

from pathlib import Path

from scaleright.press import Book
from scaleright.press.pages import notebook_file

BOOK = Book(Path(__file__).resolve().parents[1])


def test_the_whole_book_is_built(html):
    assert (html / "index.html").is_file()


def test_what_the_build_executed_on_this_processor_is_what_is_stored(html):
    """nbval, which compares every output as well, runs them on another, in cold kernels."""
    stored = [BOOK.notebook(chapter) for chapter in BOOK.chapters()]
    moved = [
        path.name
        for path in stored
        if path.read_bytes() != (html / notebook_file(f"notebooks/{path.stem}")).read_bytes()
    ]
    assert moved == [], "make notebooks"
