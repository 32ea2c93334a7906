"""A chapter's answer without a kernel: its cells run in this process, up to the one that answers.

What a cell shows is the value of its last expression and whatever it displays or prints before.
Only that of the answer is asked for: the last expressions of the cells above it are left out, since
they draw charts, and so is all that stands below.
"""

from __future__ import annotations

import ast
import contextlib
import io
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from scaleright.parameters import Case, Declared, supplied
from scaleright.press import Book
from scaleright.press.execute import CellError, ChapterError, place_of, said, short
from scaleright.press.texts import SAY, Code, code_cells

Show = Callable[[Any], object]
"""Takes what a cell shows."""


def run_cells(
    cells: Iterable[Code],
    case: Case,
    show: Show | None = None,
    names: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """What cells have named after they ran one after another at a case; what is known before may be
    given in `names`, which is added to.

    show : takes what they show; without it, their last expressions are not computed
    """
    names = {} if names is None else names
    names |= {"__name__": "__main__", "display": _displaying(show)}  # as a notebook has them
    with supplied(case):
        for cell in cells:
            if cell.source.startswith(SAY):
                if show is not None:
                    show(_sentence(cell, names))
                continue
            lines, where = ast.parse(cell.source), f"code cell {cell.number}"
            last = None
            if lines.body and isinstance(found := lines.body[-1], ast.Expr):
                last = found.value
                lines.body.pop()
            exec(compile(lines, where, "exec"), names)  # noqa: S102, the book's own code
            if last is not None and show is not None:
                value = eval(compile(ast.Expression(last), where, "eval"), names)  # noqa: S307
                if value is not None:
                    show(value)
            if "parameters" in cell.tags:
                names |= case.values
    return names


def _sentence(cell: Code, names: Mapping[str, Any]) -> Any:
    """What a cell says."""
    from scaleright.charts.cells import (
        sentence_of,
    )  # heavy, and there once a chapter says something

    line, _, body = cell.source.removeprefix(SAY).partition("\n")
    return sentence_of(line, body, names)


def _displaying(show: Show | None) -> Callable[..., None]:
    """The function `display` of a notebook."""

    def display(*shown: Any, raw: bool = False, **_: Any) -> None:
        if show is not None:
            for value in shown:
                show(_Raw(value) if raw else value)

    return display


class _Raw(dict[str, Any]):
    """What is shown as it is, by MIME type."""

    def _repr_mimebundle_(self) -> Mapping[str, Any]:
        return self


def to_answer(book: Book, chapter: str) -> tuple[Code, ...]:
    """The cells of a chapter up to the one that answers; empty if none does."""
    cells = code_cells(book.text(book.chapter(chapter)))
    last = next((cell.number for cell in cells if "answer" in cell.tags), 0)
    return cells[:last]


def answer(
    book: Book,
    chapter: str,
    declared: Declared,
    values: Mapping[str, Any],
    names: dict | None = None,
) -> str:
    """The answer of a chapter at values of its parameters, the others as declared, in the words in
    which its notebook says it; empty if it has no cell tagged `answer`. What the cells have named
    is added to `names`.

    Raises
    ------
    ChapterError : a cell failed or wrote to stderr, or the answer shows nothing; names the cell.
    """
    case = Case(declared, {of.name: of.default for of in declared} | dict(values))
    try:
        return said(shown(to_answer(book, chapter), case, {} if names is None else names))
    except CellError as error:
        raise ChapterError(f"{chapter}: {error}") from error.__cause__


def shown(
    cells: Iterable[Code],
    case: Case,
    names: dict[str, Any],
    begin: Callable[[int], object] = lambda number: None,
) -> list[dict[str, Any]]:
    """What the last of these cells, the one that answers, shows, as a notebook holds it; none of no
    cells.

    begin : takes the number of each cell before it runs

    Raises
    ------
    CellError : a cell failed or wrote to stderr, or the answer shows nothing; names the cell.
    """
    cells, outputs = tuple(cells), list[dict[str, Any]]()
    for cell in cells:
        begin(cell.number)
        outputs = _outputs(cell, case, names, cell is cells[-1])
    if cells and not outputs:
        place = place_of(cells[-1].number, cells[-1].source)
        raise CellError(f"{place} is tagged as the answer and shows nothing")
    return outputs


def _outputs(cell: Code, case: Case, names: dict[str, Any], shows: bool) -> list[dict[str, Any]]:
    """Run a cell, and what it shows as a notebook holds it."""
    outputs: list[dict[str, Any]] = []
    printed, complaints = io.StringIO(), io.StringIO()

    def keep_printed() -> None:
        if text := printed.getvalue():
            outputs.append({"text": text})
            printed.seek(printed.truncate(0))

    def show(value: Any) -> None:
        keep_printed()
        outputs.append({"data": _bundle(value)})

    place = place_of(cell.number, cell.source)
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(complaints):
            run_cells([cell], case, show if shows else None, names)
    except Exception as error:
        raise CellError(f"{place}: {type(error).__name__}: {short(str(error))}") from error
    keep_printed()
    if complaint := complaints.getvalue().strip():
        raise CellError(f"{place} wrote to stderr: {short(complaint)}")
    return outputs


def _bundle(value: Any) -> Mapping[str, Any]:
    """A value by MIME type, as a notebook holds it: what it says of itself, else what IPython makes
    of it, which takes long to import.
    """
    if hasattr(value, "_repr_mimebundle_"):
        found = value._repr_mimebundle_()
        return found[0] if isinstance(found, tuple) else found
    from IPython.core.formatters import DisplayFormatter

    return DisplayFormatter().format(value)[0]
