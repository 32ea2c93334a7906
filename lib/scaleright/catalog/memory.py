"""What is found in the tables is remembered: in a process, and among the processes of a build and
the runs of a checkout.

A build sets `SCALERIGHT_REMEMBERED` to a folder that stands for one state of library and tables,
and a run finds in the same one. A `shared` finding is kept there with the names of the tables
behind it: it is computed once and not once a page.
"""

import copyreg
import functools
import pickle
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import pandas as pd

from scaleright import findings
from scaleright.catalog import tables
from scaleright.catalog.own import own_told
from scaleright.catalog.package import data_dir
from scaleright.catalog.tables import table

_FOUND: dict[tuple, tuple[Any, set[str]]] = {}
tables._KEPT.append(_FOUND.clear)


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
    return _remembering(function, _find)


def shared(function: Callable) -> Callable:
    """As `remembered`, and kept for all processes of a build: for what takes longer to find than
    the millisecond it takes to read a file. Arguments that can be changed, such as frames, are told
    apart by what they hold.
    """
    return _remembering(function, _find_once)


def _remembering(function: Callable, find: Callable) -> Callable:
    @functools.wraps(function)
    def look(*given: Any, **named: Any) -> Any:
        key = (function, data_dir(), told := _told(given, named))
        if key not in _FOUND:
            _FOUND[key] = find(function, given, named, told)
        value, read = _FOUND[key]
        tables._READ.get().update(read)
        return value.copy() if isinstance(value, pd.DataFrame) else value

    return look


def _told(given: tuple, named: Mapping) -> Any:
    """What tells arguments from others: themselves, or their content where they can be changed; and
    the reader's own models that they name, since a name says nothing of one.
    """
    told = (given, *named.items())
    try:
        hash(told)
    except TypeError:
        from joblib import hash as content

        return content((told, own_told()))
    mine = own_told(told)
    return (told, mine) if mine else told


def _find(
    function: Callable, given: tuple, named: Mapping, told: Any = None
) -> tuple[Any, set[str]]:
    """What a function finds, and the tables behind it."""
    with tables.reading() as read:
        return function(*given, **named), read


def _find_once(function: Callable, given: tuple, named: Mapping, told: Any) -> tuple[Any, set[str]]:
    """What a function finds, unless another process of the build has found it; where its calls
    cannot be told from others, each process finds it.
    """
    name = getattr(function, "__qualname__", "<")
    if "<" in name or function.__module__ == "__main__" or not (folder := findings()):
        return _find(function, given, named)
    try:
        full = f"{function.__module__}.{name}"
        return pickle.loads(_kept_in(folder)(full, told, function, given, named))  # noqa: S301, ours
    except pickle.PicklingError:
        return _find(function, given, named)


def _find_named(name: str, told: Any, function: Callable, given: tuple, named: Mapping) -> bytes:
    """`_find` of a function and arguments that the first two tell from others, as pickled by Python
    itself: ten times as fast as joblib, which looks for large arrays.

    Raises
    ------
    TypeError : what it finds cannot be pickled, and so not be shared.
    """
    found = _find(function, given, named)
    try:
        return pickle.dumps(found)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(f"{name}: what it finds cannot be shared: {error}") from None


@functools.cache
def _kept_in(folder: str) -> Callable:
    """`_find_named`, kept in this folder."""
    from joblib import Memory

    return Memory(folder, verbose=0).cache(_find_named, ignore=["function", "given", "named"])


@remembered
def fitted(name: str) -> Mapping[tuple[str, str], tuple[float, float, float]]:
    """Value, low and high of every row of a table of fitted constants, by family and constant.

    >>> fitted("training_constants")["any", "context"]
    (1.0, 1.0, 1.0)
    """
    return {
        (row.family, row.constant): (row.value, row.low, row.high)
        for row in table(name).itertuples()
    }
