"""What is found in the tables is remembered: in a process, and among the processes of a build and
the runs of a checkout.

Where findings are kept (see `scaleright.findings`), there is a folder for one state of the tables,
in which `modules.json` tells the state of each module with all that it imports. A `shared` finding
is kept there, for that state of its module, with the names of the tables behind it: it is computed
once and not once a page, nor again where something else of the library has changed.
"""

import copyreg
import functools
import inspect
import pickle
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from scaleright.catalog import tables
from scaleright.catalog.findings import kept_by, state
from scaleright.catalog.own import own_told
from scaleright.catalog.package import data_dir
from scaleright.catalog.specs import Accelerator
from scaleright.catalog.tables import table

_FOUND: dict[tuple, tuple[Any, set[str]]] = {}
_OF_CHIPS: dict[int, tuple[weakref.ref, dict[tuple, tuple[Any, set[str]]]]] = {}
"""What was found of chips, by the identity of each: their figures may be quantities, of which no
key can be made.
"""
tables._KEPT += [_FOUND.clear, _OF_CHIPS.clear]


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


def of_chip(function: Callable) -> Callable:
    """As `remembered`, for a function of a chip and of words: kept as long as that very chip is
    there, since a sweep over layouts asks for the speeds of one chip at each call. One that differs
    in a figure is another chip.

    >>> from dataclasses import replace
    >>> from scaleright.catalog import accelerator
    >>> power = of_chip(lambda chip: chip.tdp_watts)
    >>> chip = accelerator("H100 SXM")
    >>> power(chip), power(chip), power(replace(chip, tdp_watts=500.0))
    (700.0, 700.0, 500.0)
    """

    @functools.wraps(function)
    def look(chip: Accelerator, *given: Hashable, **named: Hashable) -> Any:
        known, key = _found_of(chip), (function, data_dir(), given, *named.items())
        if key not in known:
            known[key] = _find(function, (chip, *given), named)
        value, read = known[key]
        tables._READ.get().update(read)
        return value

    return look


def _found_of(chip: Accelerator) -> dict[tuple, tuple[Any, set[str]]]:
    """What was found of a chip so far; its place is given up when the chip is."""
    place = id(chip)
    if place not in _OF_CHIPS:
        _OF_CHIPS[place] = weakref.ref(chip, lambda _: _OF_CHIPS.pop(place, None)), {}
    return _OF_CHIPS[place][1]


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
    cannot be told from others, or the state of its modules is not known, each process finds it.
    """
    name = getattr(function, "__qualname__", "<")
    place = None if "<" in name else kept_by(function.__module__)
    others = [*map(state, dict.fromkeys(_modules_of([*given, *named.values()])))] if place else []
    if place is None or not all(others):
        return _as_read(_find(function, given, named))
    try:
        full, find = f"{function.__module__}.{name}", _kept_in(place)
        return pickle.loads(find(full, (told, *others), function, given, named))  # noqa: S301, ours
    except pickle.PicklingError:
        return _find(function, given, named)


def _as_read(found: Any) -> Any:
    """What is found, as another process reads it: no page may depend on who has found it."""
    try:
        return pickle.loads(pickle.dumps(found))  # noqa: S301, ours
    except (pickle.PicklingError, AttributeError, TypeError):  # it is kept for nobody
        return found


def _modules_of(values: Iterable[Any]) -> Iterator[str]:
    """The modules of the library in which functions and the classes of values stand."""
    for of in values:
        owner = of if isinstance(of, type) or inspect.isfunction(of) else type(of)
        if owner.__module__.partition(".")[0] == __name__.partition(".")[0]:
            yield owner.__module__


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
def _kept_in(folder: Path) -> Callable:
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
