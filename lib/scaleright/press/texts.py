"""Chapters as texts: the notebook that a text is, its code, and the parameters that its cell
declares.

A notebook is jupytext's, which takes as long to import as an answer may take; whoever needs the
code alone has it from `code_cells`.
"""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scaleright.files import read_text
from scaleright.parameters import FORM, DeclarationError, Declared, known_rules, parse
from scaleright.press import Book, PressError

_CELL = re.compile(
    r"^```\{code-cell\}[^\n]*\n(?P<options>---\n.*?^---+\n|(?:[ \t]*:[^\n]*\n)*)\n?"
    r"(?P<source>.*?)^```[ \t]*$",
    re.DOTALL | re.MULTILINE,
)
"""A fence of code, the options above its source in lines that begin with a colon or as a block."""
_TAGS = re.compile(r"^[ \t]*:?tags:[ \t]*(\[[^\]]*\]|(?:\n[ \t]*- [^\n]*)+)", re.MULTILINE)

SAY = "%%say"
"""How a cell begins that is a sentence, see `charts.cells`."""
_OF_CATALOG = re.compile(r"\([\s#]*(accelerators|models)\b")
"""Where a parameter may have any name of a table."""


@dataclass(frozen=True)
class Code:
    """A cell of code and its tags; `number` is its place among them, from 1."""

    source: str
    tags: tuple[str, ...]
    number: int


def code_cells(text: Path) -> tuple[Code, ...]:
    """The cells of code of a chapter's text in their order, as its notebook has them."""
    return _coded(text.read_text(encoding="utf-8"))


@functools.cache
def _coded(text: str) -> tuple[Code, ...]:
    found = []
    for number, cell in enumerate(_CELL.finditer(text), 1):
        tags = _TAGS.search(cell["options"])
        names = re.findall(r"[\w-]*\w", tags[1]) if tags else ()
        found.append(Code(cell["source"].removesuffix("\n"), tuple(names), number))
    return tuple(found)


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
    book = book or Book.find()
    cells = code_cells(book.text(book.chapter(chapter)))
    cell = next((cell for cell in cells if "parameters" in cell.tags), None)
    if cell is None:
        raise PressError(f"{chapter}: no cell is tagged parameters; its lines are {FORM}")
    try:
        return _declared(cell.source, f"{chapter}, parameters cell")
    except DeclarationError as error:
        raise PressError(str(error)) from None


def _declared(source: str, where: str) -> Declared:
    """The parameters of a cell, parsed once; the tables, which take long to import, are asked for
    names only if the cell does.
    """
    if not _OF_CATALOG.search(source):
        return _without_tables(source, where)
    from scaleright.catalog import shared

    named = sorted(set(_NAME.findall(source)).intersection(rules := known_rules()))
    return shared(_with_tables)(source, where, *(rules[name] for name in named))


def _with_tables(source: str, where: str, *_: Any) -> Declared:
    """The parameters of a cell, by the rules that it names."""
    return parse(source, where)


_without_tables = functools.cache(parse)
_NAME = re.compile(r"\w+")
