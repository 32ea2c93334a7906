"""Chapters as texts: the notebook that a text is, and the parameters that its cell declares."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scaleright.files import read_text
from scaleright.parameters import FORM, DeclarationError, Declared, parse
from scaleright.press import Book, PressError


def tagged(cells: Iterable[Any], tag: str) -> Any | None:
    """The first cell that carries a tag."""
    return next((cell for cell in cells if tag in cell.metadata.get("tags", ())), None)


def chapter_notebook(text: Path) -> Any:
    """A chapter's text as a notebook of the caller's own; the same text is parsed once. Raises
    FileError where it cannot be read.
    """
    return copy.deepcopy(_parsed(read_text(text, "/".join(text.parts[-3:]))))


@functools.cache
def _parsed(text: str) -> Any:
    import jupytext

    return jupytext.reads(text, fmt="md:myst")


def declared(chapter: str, book: Book | None = None) -> Declared:
    """The parameters of a chapter, from its text.

    Raises
    ------
    PressError : no such chapter, no cell tagged `parameters`, or a malformed line in it.
    """
    from scaleright.catalog.memory import remembered

    book = book or Book.find()
    cell = tagged(chapter_notebook(book.text(book.chapter(chapter))).cells, "parameters")
    if cell is None:
        raise PressError(f"{chapter}: no cell is tagged parameters; its lines are {FORM}")
    try:
        return remembered(parse)(cell.source, f"{chapter}, parameters cell")
    except DeclarationError as error:
        raise PressError(str(error)) from None
