"""What is found in the tables is remembered: in a process, and among the processes of a build.

A build sets `SCALERIGHT_REMEMBERED` to a folder that lives as long as the build itself, and so
stands for one state of library and tables. A dear finding is kept there with the names of the
tables behind it: it is computed once a build and not once a page.
"""

import copyreg
import functools
import hashlib
import os
import pickle
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from scaleright.catalog import tables
from scaleright.catalog.package import data_dir
from scaleright.catalog.tables import table

_FOUND: dict[tuple, tuple[Any, set[str]]] = {}
tables._KEPT.append(_FOUND.clear)
_DEAR_S = 0.01
"""What took longer is worth a file: to read one takes about a millisecond."""


def _frozen(mapping: dict) -> MappingProxyType:
    return MappingProxyType(mapping)


copyreg.pickle(MappingProxyType, lambda mapping: (_frozen, (dict(mapping),)))


def remembered(function: Callable) -> Callable:
    """Keep what a function finds in the tables, for each data folder; each call notes the tables
    behind it, as `table` does.

    For functions of names and days: a chapter asks for the same price a hundred times. A frame is
    handed out as a fresh copy; anything else must be what nobody can change.

    >>> most_layers = remembered(lambda: int(table("models")["layers"].max()))
    >>> most_layers() == most_layers() > 100
    True
    """

    @functools.wraps(function)
    def look(*given: Any, **named: Any) -> Any:
        key = (function, data_dir(), given, *named.items())
        if key not in _FOUND:
            _FOUND[key] = _find(function, given, named)
        value, read = _FOUND[key]
        tables._READ.get().update(read)
        return value.copy() if isinstance(value, pd.DataFrame) else value

    return look


def _find(function: Callable, given: tuple, named: Mapping) -> tuple[Any, set[str]]:
    """What a function finds, and the tables behind it; another process may have found it."""
    place = _place(function, given, named)
    if place and (kept := _kept(place)):
        return kept
    start, outside = time.perf_counter(), tables._READ.set(read := set())
    try:
        value = function(*given, **named)
    finally:
        tables._READ.reset(outside)
        tables._READ.get().update(read)
    if place and time.perf_counter() - start > _DEAR_S:
        _keep(place, (value, read))
    return value, read


def _place(function: Callable, given: tuple, named: Mapping) -> Path | None:
    """Where the build keeps what this call finds; None if there is none, or if it cannot be told
    from other calls.
    """
    folder, name = os.environ.get("SCALERIGHT_REMEMBERED"), getattr(function, "__qualname__", "<")
    if not folder or "<" in name or function.__module__ == "__main__":
        return None
    try:
        call = pickle.dumps((given, sorted(named.items())))
    except (pickle.PicklingError, TypeError, AttributeError):
        return None
    return Path(folder) / f"{function.__module__}.{name}-{hashlib.sha256(call).hexdigest()[:24]}"


def _kept(place: Path) -> tuple[Any, set[str]] | None:
    with suppress(Exception):  # missing or damaged: it is found anew
        return pickle.loads(place.read_bytes())  # noqa: S301, written by this build
    return None


def _keep(place: Path, found: tuple[Any, set[str]]) -> None:
    with suppress(OSError, pickle.PicklingError, TypeError, AttributeError):  # then each finds it
        content = pickle.dumps(found, pickle.HIGHEST_PROTOCOL)
        place.parent.mkdir(exist_ok=True)
        part = place.with_name(f".{place.name}.{os.getpid()}.part")
        part.write_bytes(content)
        part.replace(place)


@remembered
def fitted(name: str) -> Mapping[tuple[str, str], tuple[float, float, float]]:
    """Value, low and high of every row of a table of fitted constants, by family and constant.

    >>> fitted("training_constants")["any", "host"]
    (1.0, 1.0, 1.0)
    """
    return {
        (row.family, row.constant): (row.value, row.low, row.high)
        for row in table(name).itertuples()
    }
