"""What a run uses, noted in its process: the modules of the library that it asks for, the files
that it opens, the tables that it reads.

The process may be forked from one that has imported the whole library already, so that what is
imported says nothing: from `begin` on, what is *asked for* counts, by cells and by functions that
import when called.
"""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

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
