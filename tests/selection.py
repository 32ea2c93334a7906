"""Which tests `make quick` runs: those of whose inputs one has changed since they last passed, in
any session.

The inputs of a file of tests are itself, the modules that it imports and all that these import, the
tables that its tests read and the files that they opened, as noted while they ran. A doctest runs
again when its own module has changed. What has passed is kept in `_build/green.json`; a file that
is not there, or whose record says nothing, runs.
"""

import functools
import hashlib
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from scaleright.catalog import tables
from scaleright.files import write_whole
from scaleright.press import Book
from scaleright.press.staleness import LIBRARY, behind, file_of, imported_by, modules

ROOT = Path(__file__).resolve().parents[1]
RECORD = Book(ROOT).build / "green.json"
NOTED = "inputs"
_SHARED = ("requirements.txt", "pyproject.toml", "tests/conftest.py", "tests/selection.py")
_LISTED = ("book", "data", "notebooks/text")
"""Folders whose files tests go through: one more or less is a change for all."""
_OF_ALL_MODULES = ("tests/test_layers.py", "tests/test_parity.py")
"""Tests that go through the library itself."""
_BY_NAME = {
    "scaleright.claims.ledger": "scaleright.claims.",
    "scaleright.press.texts.declared": "scaleright.rules.",
    "chapter_cells": "scaleright.chapters.",
}
"""What finds modules by their names, and how these begin: no import leads to them."""
_opened = set[str]()


class Selection:
    """A plugin of pytest: notes what passes, and where `--changed` is given leaves out what has."""

    def __init__(self, config: pytest.Config):
        self.config, self.leaves_out = config, config.getoption("changed")
        option = config.option
        some = option.keyword, option.deselect, option.lf, not self.leaves_out and option.markexpr
        self.whole = not any(some) and not any("::" in of for of in config.args)
        self.passed = _read()
        self.noted: dict[str, set[str]] = defaultdict(set)
        self.failed, self.left_out = set[str](), set[str]()

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Without importing it."""
        inputs = self.passed.get(_name(collection_path)) if self.leaves_out else None
        green = collection_path.suffix == ".py" and inputs is not None
        return True if green and inputs == _digests([*inputs, *_inputs(collection_path)]) else None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Note the tables that a test reads and the files that it opens."""
        _opened.clear()
        outside = tables._READ.set(read := set())
        try:
            return (yield)
        finally:
            tables._READ.reset(outside)
            names = {f"data/{name.removeprefix(tables.UNDATED)}.csv" for name in read}
            names |= {name for path in _opened if (name := _name(Path(path)))}
            item.user_properties.append((NOTED, sorted(names)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Called in the process that sums up, whichever ran the test."""
        file = report.nodeid.partition("::")[0]
        self.noted[file].update(*(names for key, names in report.user_properties if key == NOTED))
        if report.failed:
            self.failed.add(file)

    def pytest_deselected(self, items: Iterable[pytest.Item]) -> None:
        """Of a file of which nothing is to run, that is what has passed."""
        self.left_out |= {item.nodeid.partition("::")[0] for item in items}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a worker of pytest-xdist has left out."""
        self.left_out.update(getattr(node, "workeroutput", {}).get(NOTED, ()))

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Keep what has passed, unless the session was cut short, or was of parts of files."""
        whole = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        if hasattr(self.config, "workerinput"):
            self.config.workeroutput[NOTED] = sorted(self.left_out)
            return
        if not (whole and self.whole) or session.shouldstop:
            return
        for file, names in {**{of: set[str]() for of in self.left_out}, **self.noted}.items():
            if not file.endswith(".py"):
                continue
            self.passed.pop(file, None)
            if file not in self.failed:
                self.passed[file] = _digests([*names, *_inputs(ROOT / file)])
        write_whole(RECORD, json.dumps(self.passed, indent=1, sort_keys=True))


def note_files() -> None:
    """Note the files that are opened from here on."""

    def note(event: str, given: tuple) -> None:
        if event == "open" and isinstance(given[0], str) and not given[0].endswith((".py", ".pyc")):
            _opened.add(given[0])

    sys.addaudithook(note)


def _read() -> dict[str, dict[str, str]]:
    try:
        found = json.loads(RECORD.read_text(encoding="utf-8"))
        return {file: dict(inputs) for file, inputs in found.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError):
        sys.stderr.write(f"{RECORD.name} is damaged: all tests run again\n")
        return {}


def _name(path: Path) -> str:
    """What an input is called: a path in the checkout; nothing if it lies elsewhere or is built."""
    if not path.is_absolute() or not path.is_relative_to(ROOT):
        return ""
    name = path.relative_to(ROOT).as_posix()
    return "" if name.startswith(("_build/", ".", "tests/pages/node")) else name


def _digests(names: Iterable[str]) -> dict[str, str]:
    return {name: _digest(name) for name in sorted(set(names))}


@functools.cache
def _digest(name: str) -> str:
    if name.endswith("/"):
        listed = (path.as_posix() for path in (ROOT / name).rglob("*") if "__py" not in path.name)
        return hashlib.sha256("\n".join(sorted(listed)).encode()).hexdigest()
    path = ROOT / name
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "missing"


@functools.cache
def _inputs(test: Path) -> frozenset[str]:
    """The inputs of a file of tests that can be told without running them."""
    name = _name(test)
    if test.is_relative_to(LIBRARY):
        return frozenset({name})
    local, asked = set[Path](), set[str]()
    ahead = {test, *(path for path in test.parent.glob("conftest.py"))}
    while ahead:
        local |= (path := {*ahead})
        ahead = set[Path]()
        for of in path:
            for imported in imports(of):
                beside = [
                    folder / f"{imported.replace('.', '/')}.py"
                    for folder in (ROOT, of.parent, ROOT / "tests")
                ]
                ahead |= {p for p in beside if p.is_file()} - local
                asked.add(imported)
    reached = asked | behind(asked)
    rooms = tuple(room for name, room in _BY_NAME.items() if name in reached)
    asked |= {module for module in modules() if module.startswith(rooms)}
    found = {file_of(module) for module in behind(asked)}
    if name in _OF_ALL_MODULES:
        found = {file_of(module) for module in modules()}
    listed = (f"{folder}/" for folder in _LISTED)
    return frozenset({*map(_name, local | found), *_SHARED, *listed})


@functools.cache
def imports(path: Path) -> frozenset[str]:
    """What a file of tests imports itself."""
    return imported_by(path.read_text(encoding="utf-8"))
