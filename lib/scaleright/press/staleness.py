"""Which chapters and scenarios must run again, decided from content and never from dates.

A run is recorded with the digest of each of its inputs: the chapter's text, the modules that it
asked for and all that these import, the tables and other files that it read, the parameters of its
scenario, the pinned environment, the interpreter's version, the setup cell, what runs chapters. It
stands as long as each input is what it was. Of a table counts its file and its entry in the data
package. A run of which nobody noted what it used is taken to read every table.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import math
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from scaleright import MODULES
from scaleright.files import MOST_TABLE, read_bytes, write_whole
from scaleright.outputs import TABLES_MIME
from scaleright.press import Book
from scaleright.press.execute import PACKAGE, Job, Run, carried
from scaleright.press.repository import setup_source
from scaleright.press.scenarios import Scenario, read

LIBRARY = Path(__file__).resolve().parents[2]
"""The folder that holds the package."""
_CODE = re.compile(r"^```\{code-cell\}[^\n]*\n(?:[:][^\n]*\n)*((?:.*\n)*?)```$", re.MULTILINE)


@functools.cache
def _graph():
    import grimp

    return grimp.build_graph(PACKAGE, exclude_type_checking_imports=True, cache_dir=None)


def modules() -> list[str]:
    """Every module of the library."""
    return sorted(_graph().modules)


@functools.cache
def _imported(module: str) -> frozenset[str]:
    """What a module imports itself, and the packages that it lies in, which are imported first."""
    parts = module.split(".")
    packages = (".".join(parts[:n]) for n in range(1, len(parts)))
    return frozenset(packages) | _graph().find_modules_directly_imported_by(module)


def behind(of: Iterable[str]) -> frozenset[str]:
    """These modules and all that they import, at whatever depth and whenever."""
    found, ahead = set[str](), _graph().modules.intersection(of)
    while ahead:
        found |= ahead
        ahead = set[str]().union(*map(_imported, ahead)) - found
    return frozenset(found)


def file_of(module: str) -> Path:
    """Where a module of the library stands."""
    path = LIBRARY.joinpath(*module.split("."))
    package = path / "__init__.py"  # a folder without it is what an older checkout has left
    return package if package.is_file() else path.with_suffix(".py")


def asked_by(text: str) -> frozenset[str]:
    """The modules of the library that the code cells of a chapter's text import."""
    found = frozenset[str]().union(*map(imported_by, _CODE.findall(text)))
    return frozenset(name for name in found if name.partition(".")[0] == PACKAGE)


def imported_by(code: str) -> frozenset[str]:
    """What Python code imports, inside of functions too, and the names that it takes from there,
    which may be modules.
    """
    try:
        nodes = ast.walk(ast.parse(code))
    except SyntaxError:  # a magic of IPython's; the run says what is wrong with others
        return frozenset()
    found = set[str]()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {of.name for of in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{of.name}" for of in node.names)}
    return frozenset(found)


_RUN_BY = tuple(f"{PACKAGE}.press.{name}" for name in ("execute", "texts", "worker"))
"""The modules that make of a text what is kept of its run."""
_PACKAGE = "data/datapackage.json"
"""The data package without the entries of its tables, each of which counts with its table."""
_BESIDE = ("requirements.txt", "the version of Python")
_OF_ALL = (*_BESIDE, "the setup cell", _PACKAGE)
_NO_INPUTS = ("_build/", ".venv/", ".git/", "lib/", "data/", f"{PACKAGE}/")
"""Folders of a book that hold no further inputs: modules and tables have digests already."""
_IS_TABLE = re.compile(r"data/.*\.csv").fullmatch
_MISSING = "missing"
_RULES = f"{PACKAGE}.rules"
NEW = "it has not run yet"


def digest(paths: Iterable[Path], root: Path) -> str:
    """Hash of the names and contents of files; a missing file counts as such."""
    total = hashlib.sha256()
    for path in sorted(paths):
        content = path.read_bytes() if path.is_file() else b"missing"
        total.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode() + content)
    return total.hexdigest()


def _hash(content: bytes | str) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


@functools.cache
def library() -> str:
    """Hash of all modules of the library."""
    return digest(LIBRARY.glob(f"{PACKAGE}/**/*.py"), LIBRARY)


class Inputs:
    """The inputs of all chapters and scenarios as they are now, so that a change during a run is
    not taken for run.

    Each has a name: of a module its path in the library, of a table `data/NAME.csv`, of another
    file its path in the book, of what is no file what it is called.

    library : the folder with the package that chapters import
    """

    def __init__(self, book: Book, library: Path = LIBRARY):
        self.book, self.scenarios = book, read(book)
        found = sorted(library.glob(f"{PACKAGE}/**/*.py"))
        paths = {path.relative_to(library).as_posix(): path for path in found}
        paths |= {path.relative_to(book.root).as_posix(): path for path in _files(book)}
        self._digests = {
            name: _hash(read_bytes(path, name, MOST_TABLE)) for name, path in paths.items()
        }
        self._digests |= _tables(book) | _environment(book)
        self._digests["the setup cell"] = _hash(setup_source(book.root))
        for of in self.scenarios:
            values = json.dumps(of.parameters, sort_keys=True, default=str)
            self._digests[_case(of.chapter, of.name)] = _hash(values)

    # ---- the inputs of a run

    def of(self, run: Run) -> dict[str, str]:
        """The inputs of a finished run, as they were when this was made."""
        chapter, scenario, used = run.job.chapter, run.job.scenario, run.used
        text, tables = self.book.text(chapter), tables_read(run.content)
        if used is None:  # nobody noted what it used
            asked, opened = asked_by(text.read_text(encoding="utf-8")), set[str]()
            read = map(_table, tables) if tables else filter(_IS_TABLE, self._digests)
        else:
            asked, opened = used.modules, set(filter(None, map(self._opened, used.files)))
            read = map(_table, {*used.tables, *(tables or ())})
        rules = {of for of in asked if of.startswith(_RULES)}  # what one imports was asked for too
        names = {
            *map(_path, behind({*asked, *_RUN_BY} - rules) | rules.intersection(modules())),
            *read,
            *opened,
            text.relative_to(self.book.root).as_posix(),
            *_OF_ALL,
            *([_case(chapter, scenario)] if scenario else []),
        }
        return {name: self._digest(name) for name in sorted(names)}

    def _opened(self, path: str) -> str:
        """The name of a file of the book that a run has opened; none of any other, nor of what
        counts otherwise or is made by builds.
        """
        try:
            name = Path(path).resolve().relative_to(self.book.root.resolve()).as_posix()
        except ValueError:
            return ""
        known = not name.startswith(_NO_INPUTS) and self._digest(name) != _MISSING
        return name if known else ""

    def _digest(self, name: str) -> str:
        """The digest of an input; of a file that is none of those which runs usually read, now."""
        path = self.book.root / name
        if name not in self._digests and not name.startswith(_NO_INPUTS) and path.is_file():
            self._digests[name] = _hash(path.read_bytes())
        return self._digests.get(name, _MISSING)

    # ---- what is stale

    def stale(self) -> list[str]:
        """Chapters whose last run does not stand for what they are now."""
        return [chapter for chapter in self.book.chapters() if self.why(chapter)]

    def stale_scenarios(self) -> list[Scenario]:
        """Scenarios whose last run does not stand for what they are now."""
        return [of for of in self.scenarios if self.why(of.chapter, of.name)]

    def why(self, chapter: str, scenario: str = "") -> str:
        """Why the last run of a chapter, or of one of its scenarios, does not stand for what it is
        now; nothing if it does.
        """
        executed = self.book.executed(chapter, scenario)
        record = executed.with_suffix(".json")
        if not record.exists():
            return NEW
        try:
            told = json.loads(record.read_text(encoding="utf-8"))
            inputs, content = told["inputs"], told["content"]
            whole = told["sum"] == _sum(inputs)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            whole, inputs, content = False, {}, ""
        if not whole:
            return "the record of the last run is damaged"
        if not executed.is_file() or _hash(executed.read_bytes()) != content:
            return "what the last run gave is missing or was changed"
        return next(filter(None, map(self._changed, inputs, inputs.values())), "")

    def _changed(self, name: str, was: str) -> str:
        now = self._digest(name)
        if now == _MISSING:
            return f"{name} is missing"
        return "" if now == was else f"{name} has changed"

    # ---- the order of runs, and what is kept of them

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
        executed = self.book.executed(run.job.chapter, run.job.scenario)
        inputs = self.of(run)
        record = {
            "inputs": inputs,
            "sum": _sum(inputs),
            "seconds": round(run.seconds, 2),
            "content": _hash(run.content),
        }
        write_whole(executed, run.content)
        write_whole(executed.with_suffix(".json"), json.dumps(record, indent=1) + "\n")

    def remembered(self) -> Path:
        """Where builds keep what they find in the tables; see `remembered`."""
        return remembered(self.book, self._digests)


def remembered(book: Book, known: Mapping[str, str] | None = None) -> Path:
    """Where builds and runs keep what they find in the tables: a folder for each state of tables
    and environment, with the state of what stands behind each module (see `catalog.findings`).

    known : digests of inputs, where they have been made
    """
    known = known or _tables(book) | _environment(book)
    state = {name: of for name, of in known.items() if name.startswith("data/") or name in _BESIDE}
    folder = book.build / "remembered" / _sum(state)[:16]
    if states(folder)["library"] != library():
        told = {"library": library(), "modules": _behind_each()}
        write_whole(folder / MODULES, json.dumps(told, indent=1) + "\n")
    return folder


def states(folder: Path) -> dict[str, Any]:
    """What a folder of findings tells of the library: its digest, and the state of each module."""
    try:
        told = json.loads((folder / MODULES).read_text(encoding="utf-8"))
        return {"library": told["library"], "modules": dict(told["modules"])}
    except (OSError, ValueError, LookupError, TypeError):
        return {"library": "", "modules": {}}


def _behind_each() -> dict[str, str]:
    """A digest of each module of the library and of what it imports."""
    known = {of: _hash(file_of(of).read_bytes()) for of in modules()}
    return {of: _sum({one: known[one] for one in behind([of])})[:16] for of in sorted(known)}


def _path(module: str) -> str:
    return file_of(module).relative_to(LIBRARY).as_posix()


def _table(name: str) -> str:
    return f"data/{name}.csv"


def _case(chapter: str, scenario: str) -> str:
    return f"the parameters of {chapter}/{scenario}"


def _sum(inputs: Mapping[str, str]) -> str:
    return _hash(json.dumps(sorted(inputs.items())))


def _environment(book: Book) -> dict[str, str]:
    """Digests of the pins and of the interpreter's version."""
    pins, python = book.root / "requirements.txt", ".".join(map(str, sys.version_info[:2]))
    found = {"the version of Python": _hash(python)}
    return found | ({pins.name: _hash(pins.read_bytes())} if pins.is_file() else {})


def _files(book: Book) -> list[Path]:
    """The files of a book that runs may read, but for its tables."""
    folders = (book.root / "book", book.root / "notebooks" / "text")
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return sorted(found)


def _tables(book: Book) -> dict[str, str]:
    """Digests of the tables, each with its entry in the data package, and of that without them."""
    path = book.data / "datapackage.json"
    whole = path.read_bytes() if path.is_file() else b""
    try:
        package: dict[str, Any] = json.loads(whole)
        entries = {of["path"]: json.dumps(of) for of in package.pop("resources")}
        rest = json.dumps(package)
    except (ValueError, KeyError, TypeError, AttributeError):  # the checks of a build say why
        entries, rest = {}, whole.decode(errors="replace")
    found = {_PACKAGE: _hash(rest)} if whole else {}
    for table in sorted(book.data.rglob("*.csv")):
        name = table.relative_to(book.data).as_posix()
        found[f"data/{name}"] = _hash(_hash(table.read_bytes()) + entries.get(name, ""))
    return found


def reasons(found: Mapping[str, str]) -> list[str]:
    """A line for each reason why something runs again, with all that it is the reason of; none of
    what has not run yet.

    >>> reasons({"a": "data/x.csv has changed", "b": "data/x.csv has changed", "c": NEW})
    ['data/x.csv has changed: a, b run again']
    """
    by_reason: dict[str, list[str]] = {}
    for name, why in found.items():
        by_reason.setdefault(why, []).append(name)
    return [
        f"{why}: {', '.join(names)} {'run' if len(names) > 1 else 'runs'} again"
        for why, names in by_reason.items()
        if why != NEW
    ]


def tables_read(content: bytes) -> list[str] | None:
    """The tables named by a notebook's data record, None if it has none."""
    records = [
        output["data"][TABLES_MIME]["tables"]
        for output in carried(json.loads(content), TABLES_MIME)
    ]
    return sorted(set().union(*records)) if records else None
