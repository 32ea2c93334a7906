"""Which chapters and scenarios must run again, decided from content and never from dates.

A chapter's key is the hash of all it depends on: its text (code and parameters), what it shows (its
module of `chapters`), its setup cell, the library, the pinned environment, the interpreter's
version, the data package, the bibliography, and the tables it read on its last run, which its data
record names. A chapter without a data record is taken to read every table. A scenario's key adds
its parameter values.

The library's part covers what any chapter can import, which leaves out the modules of single
chapters, the press and the command line, except for `parameters` and `press/__init__.py`,
where `case()` lives.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import sys
from collections.abc import Iterable
from pathlib import Path

from scaleright.outputs import TABLES_MIME
from scaleright.press import Book, write_whole
from scaleright.press.execute import Job, Run, carried
from scaleright.press.repository import setup_source
from scaleright.press.scenarios import Scenario, read

_LIBRARY = Path(__file__).resolve().parents[1]
_OF_ONE_CHAPTER = "chapters/"
_OUTSIDE_CHAPTERS = (_OF_ONE_CHAPTER, "press/", "cli.py")
_INSIDE_CHAPTERS = ("press/__init__.py", "parameters/")


def digest(paths: Iterable[Path], root: Path) -> str:
    """Hash of the names and contents of files; a missing file counts as such."""
    total = hashlib.sha256()
    for path in sorted(paths):
        content = path.read_bytes() if path.is_file() else b"missing"
        total.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode() + content)
    return total.hexdigest()


@functools.cache
def library() -> str:
    """Hash of the modules that any chapter can import."""
    names = (path.relative_to(_LIBRARY).as_posix() for path in _LIBRARY.rglob("*.py"))
    return digest(
        (
            _LIBRARY / n
            for n in names
            if n.startswith(_INSIDE_CHAPTERS) or not n.startswith(_OUTSIDE_CHAPTERS)
        ),
        _LIBRARY,
    )


def _of_all(book: Book) -> list[str]:
    """What every chapter depends on, but for the tables that it reads."""
    files = (
        book.root / "requirements.txt",
        book.root / "book" / "references.bib",
        book.data / "datapackage.json",
    )
    return [
        library(),
        ".".join(map(str, sys.version_info[:2])),
        setup_source(book.root),
        *(digest([path], path.parent) for path in files),
    ]


def _tables(book: Book) -> dict[str, str]:
    """The hash of each table by its name."""
    names = (
        path.relative_to(book.data).with_suffix("").as_posix() for path in book.data.rglob("*.csv")
    )
    return {name: digest([book.data / f"{name}.csv"], book.data) for name in names}


def remembered(book: Book) -> Path:
    """Where builds and runs keep what they find in the tables as they are now."""
    return _remembered(book, _of_all(book), _tables(book))


def _remembered(book: Book, of_all: list[str], tables: dict[str, str]) -> Path:
    state = json.dumps([of_all, sorted(tables.items())])
    return book.build / "remembered" / hashlib.sha256(state.encode()).hexdigest()[:16]


class Inputs:
    """The inputs of all chapters and scenarios as they are now, so that a change during a run is
    not taken for run.
    """

    def __init__(self, book: Book):
        self.book, self._shared, self._tables = book, _of_all(book), _tables(book)
        self._texts = {
            chapter: digest([book.text(chapter)], book.root)
            + digest([_LIBRARY / _OF_ONE_CHAPTER / f"{chapter}.py"], _LIBRARY)
            for chapter in book.chapters()
        }
        self.scenarios = read(book)
        self._values = {
            (s.chapter, s.name): json.dumps(s.parameters, sort_keys=True, default=str)
            for s in self.scenarios
        }

    def key(self, chapter: str, tables: Iterable[str] | None, scenario: str = "") -> str:
        """Hash of all that a run depends on when it reads these tables; None stands for all of
        them.
        """
        read = (
            self._tables
            if tables is None
            else {name: self._tables.get(name, "missing") for name in tables}
        )
        case = [self._values[chapter, scenario]] if scenario else []
        return hashlib.sha256(
            json.dumps([self._texts[chapter], self._shared, sorted(read.items()), *case]).encode()
        ).hexdigest()

    def remembered(self) -> Path:
        """Where builds keep what they find in the tables: a folder for each state of all that this
        depends on, whichever chapter asks.
        """
        return _remembered(self.book, self._shared, self._tables)

    def stale(self) -> list[str]:
        """Chapters whose last run does not stand for what they are now."""
        return [chapter for chapter in self._texts if not self._fresh(chapter)]

    def stale_scenarios(self) -> list[Scenario]:
        """Scenarios whose last run does not stand for what they are now."""
        return [s for s in self.scenarios if not self._fresh(s.chapter, s.name)]

    def _fresh(self, chapter: str, scenario: str = "") -> bool:
        executed = self.book.executed(chapter, scenario)
        try:
            record = json.loads(executed.with_suffix(".json").read_text(encoding="utf-8"))
            content = hashlib.sha256(executed.read_bytes()).hexdigest()
            return (
                record["key"] == self.key(chapter, record["tables"], scenario)
                and record["content"] == content
            )
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def longest_first(self, jobs: Iterable[Job]) -> list[Job]:
        """Runs in the order that keeps all workers busy to the end: those not yet timed, then the
        longest; chapters before scenarios, which use what the former have found.
        """
        return sorted(jobs, key=lambda job: (bool(job.scenario), -self._last_seconds(job)))

    def _last_seconds(self, job: Job) -> float:
        record = self.book.executed(job.chapter, job.scenario).with_suffix(".json")
        try:
            return float(json.loads(record.read_text())["seconds"])
        except (OSError, ValueError, KeyError, TypeError):
            return math.inf

    def keep(self, run: Run) -> None:
        """Store an executed chapter or scenario and, beside it, what it stands for."""
        chapter, scenario, tables = run.job.chapter, run.job.scenario, tables_read(run.content)
        executed = self.book.executed(chapter, scenario)
        write_whole(executed, run.content)
        record = {
            "key": self.key(chapter, tables, scenario),
            "tables": tables,
            "seconds": round(run.seconds, 2),
            "content": hashlib.sha256(run.content).hexdigest(),
        }
        write_whole(executed.with_suffix(".json"), json.dumps(record, indent=1) + "\n")


def tables_read(content: bytes) -> list[str] | None:
    """The tables named by a notebook's data record, None if it has none."""
    records = [
        output["data"][TABLES_MIME]["tables"]
        for output in carried(json.loads(content), TABLES_MIME)
    ]
    return sorted(set().union(*records)) if records else None
