"""A book of one page and one chapter, with one table."""

from __future__ import annotations

import shutil
from pathlib import Path

from scaleright.press import Book

ROOT = Path(__file__).resolve().parents[1]
CONFIG = """\
title: A small book
only_build_toc_files: true
execute: {execute_notebooks: "off"}
bibtex_bibfiles: [book/references.bib]
launch_buttons: {thebe: false}
sphinx: {config: {suppress_warnings: [mystnb.unknown_mime_type]}}
"""
FILES = {
    "_config.yml": CONFIG,
    "requirements.txt": "nothing==1\n",
    "book/_toc.yml": "format: jb-book\nroot: book/index\nchapters:\n- file: notebooks/tiny\n",
    "book/index.md": "# A small book\n\nWelcome.\n",
    "book/references.bib": "",
    "data/datapackage.json": '{"resources": []}',
    "data/prices.csv": "usd\n1\n",
    "data/unread.csv": "usd\n1\n",
}


def small_book(folder: Path) -> Book:
    """The book, in this folder."""
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    (folder / "notebooks" / "text").mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "fixtures" / "tiny.md", folder / "notebooks" / "text" / "tiny.md")
    return Book(folder)
