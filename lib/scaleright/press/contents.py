"""What a build needs, checked before it does any work: the table of contents, `book/_toc.yml` (its
form, the pages it names, and scenarios beneath their chapters), the settings, the data package, the
bibliography, and the chapters that are to run.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from scaleright.files import FileError, parsed, plain, read_text, yaml_nodes
from scaleright.names import suggestion
from scaleright.press import Book, PressError, repository
from scaleright.press.scenarios import Scenario

FILE = "book/_toc.yml"
STATUS = "book/status"
LEDGER = "book/ledger"
"""The pages that the build writes itself."""
_KEYS = (
    *("format", "root", "defaults", "meta", "parts", "chapters", "sections", "subtrees", "entries"),
    *("file", "glob", "url", "title", "options", "caption", "hidden", "maxdepth", "numbered"),
    *("reversed", "titlesonly", "style", "restart_numbering"),
)


def read(book: Book) -> dict[str, Any]:
    """The table of contents; raises FileError where there is none, or it is malformed."""
    return parsed(read_text(book.root / FILE, FILE), "YAML", FILE)


def _contents(book: Book) -> list[str]:
    """What is wrong with the table of contents, one line each: its form, a page that does not
    exist or stands there twice, a chapter or page of prose that it lacks.
    """
    try:
        root = yaml_nodes(read_text(book.root / FILE, FILE), FILE)
        data = plain(root, FILE) if root else None
    except FileError as error:
        return [str(error)]
    problems = _form(root, data)
    return problems or list(_pages(book, root))


def _line(node: Any) -> str:
    return f"{FILE}, line {node.start_mark.line + 1 if node else 1}"


def _form(root: Any, data: Any) -> list[str]:
    """What is wrong with the form: by our own words for a key, by its reader's for the rest."""
    from sphinx_external_toc.parsing import MalformedError, parse_toc_data

    if not isinstance(data, dict):
        return [f"{_line(root)}: expected `root: PAGE` and `parts:` or `chapters:`"]
    problems = [
        f"{_line(key)}: unknown key {key.value!r}; {suggestion(key.value, _KEYS)}"
        for key, _ in _entries(root)
        if key.value not in _KEYS
    ]
    if not problems:
        try:
            parse_toc_data(data)
        except MalformedError as error:
            said, _, where = str(error).partition(" @ ")
            twice = said.partition("used multiple times: ")[2].strip("'")
            if not twice:  # told below, with both lines
                problems.append(f"{_line(_inside(root, where))}: {said}")
        except (TypeError, ValueError, AttributeError) as error:  # of values of another type
            problems.append(f"{FILE}: malformed: {error}")
    return problems


def _entries(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every key of the file with its value."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value not in ("meta", "defaults", "options"):
                yield from _entries(value)
            yield key, value
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _entries(item)


def _inside(node: Any, where: str) -> Any:
    """The node at a place such as '/parts/0/chapters/3'."""
    import yaml

    for step in filter(None, where.strip("'/ ").split("/")):
        if isinstance(node, yaml.SequenceNode) and step.isdigit() and int(step) < len(node.value):
            node = node.value[int(step)]
        elif isinstance(node, yaml.MappingNode):
            node = next((value for key, value in node.value if key.value == step), node)
    return node


def _pages(book: Book, root: Any) -> Iterator[str]:
    """What is wrong with the pages that are named."""
    chapters = {f"notebooks/{chapter}": f"chapter {chapter}" for chapter in book.chapters()}
    prose = {f"book/{path.stem}": f"page {path.stem}" for path in (book.root / "book").glob("*.md")}
    known, seen = {**chapters, **prose, STATUS: "", LEDGER: ""}, dict[str, int]()
    named = [(key, value) for key, value in _entries(root) if key.value in ("root", "file")]
    for _, value in sorted(named, key=lambda pair: pair[1].start_mark.line):
        page = value.value
        line = value.start_mark.line + 1
        if (first := seen.setdefault(page, line)) != line:
            yield f"{_line(value)}: {page} stands there twice, first on line {first}"
        elif page not in known:
            bare = page.rpartition(".")[0] if page.endswith((".md", ".ipynb")) else page
            help_ = f"write {bare}" if bare in known else suggestion(bare, known)
            yield f"{_line(value)}: there is no page {page!r}; {help_}"
    for pattern in (value.value for key, value in _entries(root) if key.value == "glob"):
        seen |= dict.fromkeys(fnmatch.filter(known, pattern), 0)
    for page, what in {**chapters, **prose}.items():
        if page not in seen:
            yield f"{FILE} lacks the {what}: add `- file: {page}`, or move its text elsewhere"


def filled(toc: bytes, scenarios: Iterable[Scenario]) -> bytes:
    """The table of contents with each scenario beneath its chapter."""
    import yaml

    scenarios = list(scenarios)

    def fill(entry: Any) -> None:
        for item in (
            entry if isinstance(entry, list) else entry.values() if isinstance(entry, dict) else ()
        ):
            fill(item)
        if isinstance(entry, dict) and (
            below := [
                {"file": s.page} for s in scenarios if entry.get("file") == f"notebooks/{s.chapter}"
            ]
        ):
            entry["sections"] = [*entry.get("sections", ()), *below]

    contents = yaml.safe_load(toc)
    fill(contents)
    return yaml.safe_dump(contents, sort_keys=False, allow_unicode=True).encode()


_CITED = re.compile(r"\{cite(?::[a-z]+)?\}`([^`]+)`")


def check(book: Book, chapters: Iterable[str]) -> None:
    """Check the book as a whole and the named chapters.

    Raises
    ------
    PressError : everything that is wrong, each in a line with its file, its line where there is
        one, and what to do.
    """
    problems = [
        *_contents(book),
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
