"""Running chapters: text in, executed notebook out, the same bytes every time.

Each chapter runs in a `worker` process, on the interpreter that runs the build. A cell that raises,
or that writes to stderr, fails its chapter; the other chapters finish and are kept.
"""

from __future__ import annotations

import builtins
import hashlib
import importlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scaleright.outputs import VEGALITE_MIME
from scaleright.press import Book, PressError
from scaleright.press.repository import setup_source

PACKAGE = "scaleright"
_modules, _files = set[str](), set[str]()


@dataclass(frozen=True)
class Used:
    """The modules, files and tables behind a run, by their names."""

    modules: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()


def begin() -> None:
    """Note from here on."""
    builtins.__import__ = _noting(builtins.__import__)
    importlib.import_module = _noting_by_name(importlib.import_module)
    sys.addaudithook(_note_file)


def _noting(importing: Any) -> Any:
    def noted(
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Iterable[str] | None = (),
        level: int = 0,
    ) -> Any:
        full = name
        if level and globals:
            full = importlib.util.resolve_name("." * level + name, str(globals["__package__"]))
        if full.partition(".")[0] == PACKAGE:
            _modules.add(full)
            _modules.update(f"{full}.{part}" for part in fromlist or ())
        return importing(name, globals, locals, fromlist, level)

    return noted


def _noting_by_name(importing: Any) -> Any:
    def noted(name: str, package: str | None = None) -> Any:
        found = importing(name, package)
        if found.__name__.partition(".")[0] == PACKAGE:
            _modules.add(found.__name__)
        return found

    return noted


def _note_file(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and isinstance(arguments[0], str):
        _files.add(arguments[0])


def noted() -> Used:
    """What was used since `begin`."""
    from scaleright.catalog import data_record

    modules = sorted(name for name in _modules if name in sys.modules)
    files = sorted(path for path in _files if not path.endswith((".py", ".pyc")))
    return Used(tuple(modules), tuple(files), tuple(data_record().names))


CELL_TIMEOUT_S = 1800
"""A guard against a cell that never ends: cells take seconds, and minutes on a busy machine."""

_SAID = 2_000
"""Characters of an error that are passed on."""
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {
        "name": "python",
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "pygments_lexer": "ipython3",
    },
}


class ChapterError(PressError):
    """A chapter that did not run: names the chapter, the cell and the error."""


class CellError(Exception):
    """A cell that failed, that was ended or that ended its process: which one, and why."""


@dataclass(frozen=True)
class Job:
    """One run of a chapter with these parameter values, none meaning as declared; a scenario's run
    bears its name.
    """

    chapter: str
    values: Mapping[str, Any] = field(default_factory=dict)
    scenario: str = ""

    @property
    def label(self) -> str:
        """What to call it in messages."""
        return f"{self.chapter}/{self.scenario}" if self.scenario else self.chapter


@dataclass(frozen=True)
class Run:
    """A finished run: the notebook file's content, how long it took, and what it used, None where
    nobody noted that.
    """

    job: Job
    content: bytes
    seconds: float
    used: Used | None = None


def load(text: Path):
    """A chapter's text as a notebook, with the cell before its code that fetches the library where
    there is none.
    """
    import nbformat

    from scaleright.press.texts import chapter_notebook, tagged

    notebook = chapter_notebook(text)
    notebook.metadata = nbformat.from_dict(_METADATA)
    source = setup_source(text.parents[2])
    if source and tagged(notebook.cells, "setup") is None:
        first = next((i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code"), 0)
        notebook.cells.insert(
            first, nbformat.v4.new_code_cell(source, metadata={"tags": ["setup", "remove-cell"]})
        )
    return notebook


def parameterized(notebook: Any, values: Mapping[str, Any]) -> Any:
    """A notebook in which some values stand below those of its parameters cell, and before that the
    reader's own models among them are known; without any, as it is.
    """
    from nbformat.v4 import new_code_cell

    from scaleright.catalog import retold
    from scaleright.press.texts import tagged

    own = tagged(notebook.cells, "parameters")
    if own is not None and values:
        place = notebook.cells.index(own)
        lines = (f"{name} = {_literal(value)}\n" for name, value in values.items())
        told = new_code_cell(f"# Parameters\n{''.join(lines)}")
        told.metadata["tags"] = ["injected-parameters"]
        notebook.cells.insert(place + 1, told)
        if source := retold(values.values()):
            notebook.cells.insert(place, new_code_cell(source))
    return notebook


def _literal(value: Any) -> str:
    """A value as papermill writes it."""
    if not isinstance(value, str):
        return repr(value)
    escaped = value.encode("unicode_escape").decode().replace('"', r"\"")
    return f'"{escaped}"'


def _name_cells(cells: Iterable[Any]) -> None:
    seen: Counter[str] = Counter()
    for cell in cells:
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:12]
        seen[digest] += 1
        cell["id"] = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"


def normalize(notebook) -> bytes:
    """The file content of an executed notebook, without what changes from run to run.

    Dropped: metadata of other tools; cells are named by what they say, and streams are joined,
    because a text is written in as many pieces as a cell likes.
    """
    import nbformat

    notebook.metadata = nbformat.from_dict(_METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell in notebook.cells:
        cell.metadata = {
            k: v
            for k, v in cell.metadata.items()
            if v and k not in ("papermill", "execution", "lines_to_next_cell")
        }
        if cell.cell_type == "code":
            cell.outputs = _joined(cell.outputs)
    _name_cells(notebook.cells)
    nbformat.validate(notebook)
    return _written(notebook).encode()


def _written(notebook) -> str:
    """A notebook as text, with each parameter of a chart on a line of its own: nbformat gives each
    of a formula's few words a line and twelve blanks, an eighth to a quarter of a file.
    """
    import nbformat

    charts: list[Any] = []
    for output in carried(notebook, VEGALITE_MIME):
        charts.append(output["data"][VEGALITE_MIME])
        output["data"][VEGALITE_MIME] = _HERE.format(len(charts) - 1)
    text = nbformat.v4.writes(notebook).rstrip("\n") + "\n"
    for output, chart in zip(carried(notebook, VEGALITE_MIME), charts, strict=True):
        place = json.dumps(output["data"][VEGALITE_MIME])
        output["data"][VEGALITE_MIME] = chart
        text = text.replace(place, _in_lines(chart), 1)
    return text


_HERE = "\0chart {}\0"
"""Stands for a chart in a text that no output says."""


def _in_lines(value: Any, deep: int = 2) -> str:
    """JSON with a line for each part down to some depth, without blanks."""
    if not (deep and value and isinstance(value, (dict, list))):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    keys = sorted(value) if isinstance(value, dict) else range(len(value))
    names = [json.dumps(key) + ":" if isinstance(key, str) else "" for key in keys]
    parts = (name + _in_lines(value[key], deep - 1) for name, key in zip(names, keys, strict=True))
    first, last = "{}" if isinstance(value, dict) else "[]"
    return first + "\n" + ",\n".join(parts) + "\n" + last


def _joined(outputs: Iterable[Any]) -> list[Any]:
    joined: list[Any] = []
    for output in outputs:
        if output.output_type == "stream" and joined and joined[-1].get("name") == output.name:
            joined[-1]["text"] += output.text
        else:
            joined.append(output)
    return joined


def run_all(book: Book, jobs: Iterable[Job], workers: int, keep: Callable[[Run], None]) -> None:
    """Run chapters, `workers` of them at once, and hand each finished one to `keep`.

    Raises
    ------
    ChapterError : one line for each chapter that failed, after all others have finished.
    """
    from scaleright.press.pool import pooled

    jobs = list(jobs)
    with pooled(book, len(jobs), workers) as pool:
        pool.run(jobs, keep)


def carried(notebook: Mapping[str, Any], kind: str) -> Iterator[dict]:
    """The outputs of a notebook that hold something of this MIME type."""
    return (
        output
        for cell in notebook["cells"]
        for output in cell.get("outputs", ())
        if kind in output.get("data", {})
    )


def answer(content: bytes) -> str:
    """The text of what a chapter's cell tagged `answer` shows; empty if it has none."""
    import nbformat

    from scaleright.press.texts import tagged

    cell = tagged(nbformat.reads(content.decode(), as_version=4).cells, "answer")
    return said(cell.outputs if cell else ())


def said(outputs: Iterable[Mapping[str, Any]]) -> str:
    r"""The text of what a cell shows.

    >>> said([{"text": "Rent it."}, {"data": {"text/plain": "$2", "text/html": "<b>$2</b>"}}])
    'Rent it.\n$2'
    """
    texts = []
    for output in outputs:
        data = output.get("data", {})
        text = output.get("text") or data.get("text/plain", "")
        texts.append(data.get("text/markdown", text) if text.startswith("<IPython") else text)
    return "\n".join(texts).strip()


def place_of(number: int, source: str) -> str:
    """What to call a code cell in messages: its number and first line."""
    return f"code cell {number} ({next(iter(source.strip().splitlines()), '')!r})"


def short(text: str) -> str:
    """What is passed on of an error."""
    return text if len(text) <= _SAID else f"{text[:_SAID]} ..."
