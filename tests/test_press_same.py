"""Two builds of the same sources are the same, byte for byte, except for how long the runs took."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from press_cases import declare, scaleright
from scaleright.press import Book, status

pytestmark = pytest.mark.processes

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    "book/_toc.yml": """\
format: jb-book
root: book/index
chapters:
- file: notebooks/tiny
- file: notebooks/other
- file: book/glossary
- file: book/references
- file: book/status
""",
    "book/glossary.md": "# Glossary\n\n```{glossary}\ntoken\n  A piece of text.\n```\n",
    "book/index.md": "# A small book\n\nWelcome, $x^2$, by {cite:t}`one`.\n",
    "book/references.md": "# Sources\n\n```{bibliography}\n:all:\n```\n",
    "book/references.bib": "@misc{one, title={One}, author={A. Ut}, year=2020}\n"
    "@misc{two, title={Two}, author={B. Ut}, year=2021}\n",
}
ENTRY = {"path": "prices.csv", "title": "Prices", "as_of": "2026-01-01", "stale_after_days": 30}
ENTRY |= {"schema": {"fields": [{"name": "usd", "type": "number"}]}}


@pytest.fixture
def whole(book: Book) -> Book:
    """The small book with the settings and the theme of the real one, and a page of each kind."""
    for name, text in PAGES.items():
        (book.root / name).write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "_config.yml", book.root)
    for name in ("_static", "_theme"):
        shutil.copytree(ROOT / "book" / name, book.root / "book" / name)
    (book.data / "datapackage.json").write_text(json.dumps({"resources": [ENTRY]}))
    text = book.text("tiny").read_text(encoding="utf-8").replace("an hour", "a day")
    book.text("other").write_text(f"{text}\nBy {{cite:t}}`two`: $$a = b$$\n", encoding="utf-8")
    declare(book)
    return book


def built(book: Book, **environment: str) -> dict[str, bytes]:
    """Build the site: its files with their content."""
    done = scaleright(book, "book", **environment)
    assert done.returncode == 0, done.stderr
    html = book.build / "html"
    files = {p.relative_to(html).as_posix(): p for p in html.rglob("*") if p.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if name != status.RUNS}


def different(one: dict[str, bytes], other: dict[str, bytes]) -> list[str]:
    return sorted(name for name in one | other if one.get(name) != other.get(name))


def test_a_build_from_nothing_and_one_that_goes_on_from_another_give_the_same_site(whole):
    first = built(whole, TZ="Pacific/Kiritimati", PYTHONHASHSEED="1", LC_ALL="C")
    for folder in ("html", "render", "stage"):
        shutil.rmtree(whole.build / folder)
    edits = {
        whole.text("other"): "A novel word: zebra.",
        whole.root / "book/references.md": "Okapi.",
    }
    before = {path: path.read_text(encoding="utf-8") for path in edits}
    for path, added in edits.items():
        path.write_text(f"{before[path]}\n{added}\n", encoding="utf-8")
    elsewhere = {"TZ": "Pacific/Niue", "PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8"}  # another day
    edited = built(whole, **elsewhere)
    assert different(first, edited) == [
        ".key",
        "book/references.html",
        "downloads/other.ipynb",
        "notebooks/other.html",
        "searchindex.js",
    ]
    for path, text in before.items():
        path.write_text(text, encoding="utf-8")
    assert different(first, built(whole, **elsewhere)) == []
