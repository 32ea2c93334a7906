"""What a build needs, checked before it does any work: the table of contents, the settings, the
data package, the bibliography, and the chapters that are to run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scaleright.files import FileError, read_text
from scaleright.names import suggestion
from scaleright.press import Book, PressError, contents, repository

_CITED = re.compile(r"\{cite(?::[a-z]+)?\}`([^`]+)`")


def check(book: Book, chapters: Iterable[str]) -> None:
    """Check the book as a whole and the named chapters.

    Raises
    ------
    PressError : everything that is wrong, each in a line with its file, its line where there is
        one, and what to do.
    """
    problems = [
        *contents.check(book),
        *_package(book),
        *_citations(book),
        *(problem for chapter in chapters for problem in _chapter(book, chapter)),
    ]
    if problems:
        raise PressError("\n".join(dict.fromkeys(problems)))


def _package(book: Book) -> list[str]:
    from scaleright.catalog.package import DataError, package

    try:
        entries = package(book.data)
    except DataError as error:
        return [str(error)]
    return [
        f"{book.data.name}/datapackage.json: there is no file {entry['path']} for table {name}"
        for name, entry in entries.items()
        if not (book.data / entry["path"]).is_file()
    ]


def _citations(book: Book) -> list[str]:
    """What is wrong with the bibliographies that the settings name, and citations they lack."""
    settings, known, problems = repository.settings(book.root), set[str](), []
    for name in settings.get("bibtex_bibfiles") or ():
        try:
            known |= _keys(book.root / name, name)
        except FileError as error:
            problems.append(str(error))
    if problems or not settings.get("bibtex_bibfiles"):
        return problems
    texts = [*map(book.text, book.chapters()), *sorted((book.root / "book").glob("*.md"))]
    for path in texts:
        where = path.relative_to(book.root).as_posix()
        try:
            lines = read_text(path, where).splitlines()
        except FileError as error:
            problems.append(str(error))
            continue
        for number, line in enumerate(lines, 1):
            for key in (key.strip() for found in _CITED.findall(line) for key in found.split(",")):
                if key not in known:
                    why = f"no source {key!r}; {suggestion(key, known)}"
                    problems.append(f"{where}, line {number}: {why}")
    return problems


def _keys(path: Path, name: str) -> set[str]:
    """The keys of a bibliography; raises FileError."""
    from pybtex.database.input.bibtex import Parser
    from pybtex.exceptions import PybtexError

    text = read_text(path, name)
    try:
        return set(Parser().parse_string(text).entries.keys())
    except PybtexError as error:
        raise FileError(name, *_said(error, text)) from None


def _said(error: Any, text: str) -> tuple[str, int | None]:
    """An error of the bibliography's parser and its line, which it or the text tells."""
    said, line = str(error), getattr(error, "lineno", None)
    if line is None and (named := re.search(r"entry: (\S+)|with key (\S+)|'(.+)'", said)):
        name = next(filter(None, named.groups()))
        places = [n for n, row in enumerate(text.splitlines(), 1) if name in row]
        line = places[-1] if places else None
    return re.sub(r" in line \d+", "", said), line


def _chapter(book: Book, chapter: str) -> list[str]:
    """What keeps a chapter from running to its answer."""
    from scaleright.press.execute import load
    from scaleright.press.texts import declared, tagged

    name = book.text(chapter).relative_to(book.root).as_posix()
    try:
        cells = load(book.text(chapter)).cells
        declared(chapter, book)
    except (PressError, FileError) as error:
        return [str(error)]
    except Exception as error:  # noqa: BLE001  whatever a malformed header or cell leads to
        return [f"{name}: cannot be read: {' '.join(str(error).split())}"]
    if tagged(cells, "answer") is None:
        return [f"{name}: no code cell is tagged as the answer; add `:tags: [answer]` to the one"]
    return []
