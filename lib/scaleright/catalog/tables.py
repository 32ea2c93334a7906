"""Tables by name, checked when they are first read.

Every table is judged before its first row is handed out: its form and types (`reading`), keys and
constraints, and whether its figures are plausible (`constraints`, and the judges that rooms above
register for what they compute). Nothing wrong reaches an answer unnoticed, and a table is judged
once a process.

Some measured runs are set aside for a last test of the models (`measured/sealed`). Their rows are
read and judged with their table, and stay out of what `table` hands out: only `sealed` shows them.
"""

import functools
import hashlib
import json
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

import pandas as pd

from scaleright.catalog import constraints
from scaleright.catalog.findings import kept_by
from scaleright.catalog.package import DataError, Problem, data_dir, package
from scaleright.catalog.reading import read
from scaleright.names import nearest

# The default is replaced, never added to.
UNDATED = "~"
"""Before the name of a table of which was read what does not age."""
_READ: ContextVar[set[str]] = ContextVar("tables read", default=set())  # noqa: B039
_SHOWN = 3
SEALED = "measured/sealed"
"""The table that names the runs of others that nobody may look at yet."""


@contextmanager
def reading() -> Iterator[set[str]]:
    """The names of the tables that are read within, which the reads around it have too."""
    outside = _READ.set(read := set())
    try:
        yield read
    finally:
        _READ.reset(outside)
        _READ.get().update(read)


Unnoted = Callable[[str], pd.DataFrame]
"""Reads a table by name without noting it for the data record."""
Judge = Callable[[pd.DataFrame, Unnoted], constraints.Found]
_KEPT: list[Callable[[], None]] = []
_JUDGES: dict[str, list[Judge]] = {}
_JUDGED: set[tuple[Path, str, Judge]] = set()
_SOUND: dict[tuple[Path, str], pd.DataFrame] = {}
"""The open rows of tables that all their judges have seen: asked for a hundred thousand times.
"""


def kept(function: Callable) -> Callable:
    """Call a function once for the same arguments, until the tables are to be read anew."""
    cached = functools.cache(function)
    _KEPT.append(cached.cache_clear)
    return cached


def forget() -> None:
    """Read every table and the data package anew from now on."""
    for clear in (package.cache_clear, *_KEPT):
        clear()
    _JUDGED.clear()
    _SOUND.clear()


def judges(name: str) -> Callable[[Judge], Judge]:
    """Register a function that judges a table by what is computed from it.

    It gets the typed table and a reader of others, and yields row (its place in the table, None
    for no single one), column and message of what cannot be. A room registers its own when it is
    imported, so that whoever computes with the room has the table judged by it.
    """

    def register(judge: Judge) -> Judge:
        _JUDGES.setdefault(name, []).append(judge)
        _SOUND.clear()
        return judge

    return register


def examine(folder: Path, name: str) -> tuple[pd.DataFrame | None, list[Problem]]:
    """A table of a folder as far as it can be read, and all that is wrong with it, by row.

    Raises
    ------
    DataError : the data package cannot be used.
    LookupError : no such table.
    """
    found, frame = _examined(folder, name, _or_none)
    if frame is not None and not found:
        for judge in _JUDGES.get(name, ()):
            # another table that the judge needs is reported under its own name
            with suppress(DataError):
                found += [] if found else _judged(folder, name, frame, judge)
    return frame, _by_row(found)


def _examined(
    folder: Path, name: str, other: Callable[[Path, str], pd.DataFrame | None]
) -> tuple[list[Problem], pd.DataFrame | None]:
    """A table as it stands in its file, and what the package alone says is wrong with it."""
    entries = package(folder)
    entry = entries[name] if name in entries else nearest(name, entries, "table")
    frame, text, found = read(folder / entry["path"], entry["schema"], name)
    if frame is None:
        return found, None
    by_resource = {entry["name"]: table for table, entry in entries.items()}

    def referred(resource: str) -> pd.DataFrame | None:
        return frame if by_resource[resource] == name else other(folder, by_resource[resource])

    # A cell that did not parse is blank in the frame and was reported.
    found += constraints.problems(frame, text, entry, name, referred)
    if not found:
        found += constraints.implausible(frame, text, entry, name)
    return found, frame


class _AbsentError(Exception):
    """A judge needs a table that this package does not have."""


def _judged(folder: Path, name: str, frame: pd.DataFrame, judge: Judge) -> Iterator[Problem]:
    def other(table: str) -> pd.DataFrame:
        if table not in package(folder):
            raise _AbsentError
        return _read(folder, table)

    with suppress(_AbsentError):
        for place, field, message in judge(frame, other):
            yield Problem(name, None if place is None else place + 2, field, message)


def _by_row(found: Iterable[Problem]) -> list[Problem]:
    return sorted(found, key=lambda p: (p.row or 0, p.field or "", p.message))


def _refuse(found: Iterable[Problem]) -> None:
    if found := _by_row(found):
        more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise DataError("; ".join(map(str, found[:_SHOWN])) + more)


@kept
def _read(folder: Path, name: str) -> pd.DataFrame:
    if (place := _kept_at(folder, name)) and place.is_file():
        with suppress(pickle.UnpicklingError, EOFError):
            return pickle.loads(place.read_bytes())  # noqa: S301, ours
    found, frame = _examined(folder, name, _read)
    _refuse(found)
    assert frame is not None
    _keep(place, pickle.dumps(frame))
    return frame


def _kept_at(folder: Path, name: str, module: str = __name__) -> Path | None:
    """Where builds and runs keep what a module has read and examined of a table as it is now, since
    to examine it takes longer than all that an answer asks of it; None where nothing is kept.
    """
    if name not in (entries := package(folder)) or not (kept_in := kept_by(module)):
        return None
    try:
        content = (folder / entries[name]["path"]).read_bytes()
    except OSError:
        return None
    state = hashlib.sha256(json.dumps(entries[name]).encode() + content).hexdigest()[:16]
    return kept_in / "tables" / f"{name.replace('/', '-')}-{state}"


def _keep(place: Path | None, content: bytes) -> None:
    """Write a file whole, or not at all where it cannot be written."""
    if place is None:
        return
    part = place.with_name(f".{place.name}.{os.getpid()}")
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        part.replace(place)


def _or_none(folder: Path, name: str) -> pd.DataFrame | None:
    """A table, None where it cannot be used, which is reported under its own name."""
    try:
        return _read(folder, name)
    except DataError:
        return None


def unnoted(name: str) -> pd.DataFrame:
    """The one frame of a table, not to be changed; all judges of the table have seen it."""
    folder = data_dir()
    if (folder, name) not in _SOUND:
        frame = _read(folder, name)
        for judge in _JUDGES.get(name, ()):
            if (folder, name, judge) not in _JUDGED:
                _judge_once(folder, name, frame, judge)
                _JUDGED.add((folder, name, judge))
        _SOUND[folder, name] = _parted(folder, name)[0]
    return _SOUND[folder, name]


def _judge_once(folder: Path, name: str, frame: pd.DataFrame, judge: Judge) -> None:
    """Refuse what a judge finds wrong, unless another process has seen it find nothing."""
    place = _kept_at(folder, name, judge.__module__)
    if place is not None:
        place = place.with_name(f"{place.name}-{judge.__module__}.{judge.__qualname__}")
        if place.is_file():
            return
    _refuse(_judged(folder, name, frame, judge))
    _keep(place, b"")


@kept
def _parted(folder: Path, name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of a table that are open, and those that are sealed."""
    frame = _read(folder, name)
    if name == SEALED or SEALED not in package(folder) or "run" not in frame:
        return frame, frame.iloc[:0]
    runs = _read(folder, SEALED).query("table == @name")["run"]
    apart = frame["run"].isin(runs)
    return tuple(frame[rows].reset_index(drop=True) for rows in (~apart, apart))


@judges(SEALED)
def _named(frame: pd.DataFrame, read: Unnoted) -> constraints.Found:
    """Sealed runs that their table does not have."""
    for place, (name, run) in enumerate(zip(frame["table"], frame["run"], strict=True)):
        if run not in set(read(name)["run"]):
            yield place, "run", f"{name} has no run {run!r}"


def noted(name: str) -> pd.DataFrame:
    """The one frame of a table, not to be changed; the read is noted."""
    frame = unnoted(name)
    _READ.get().add(name)
    return frame


def table(name: str) -> pd.DataFrame:
    """A table of the data package, typed, as a fresh copy; the read is noted for the chapter's data
    record.

    Raises
    ------
    LookupError : no such table (the nearest names are offered).
    DataError : the file is missing, does not fit its schema, or holds what cannot be.

    >>> table("models").set_index("name").loc["GPT-3 175B", "hidden"]
    np.int64(12288)
    """
    return noted(name).copy()


def undated(name: str) -> pd.DataFrame:
    """As `table`, of which is used what does not age, such as names: its date is none of the page's
    concern.

    >>> "release" in undated("api_prices")
    True
    """
    frame = unnoted(name)
    _READ.get().add(UNDATED + name)
    return frame.copy()


def sealed(name: str) -> pd.DataFrame:
    """The rows of a table that are set aside for a last test, which `table` leaves out, as a fresh
    copy.
    """
    noted(name)
    return _parted(data_dir(), name)[1].copy()


def fact(name: str) -> float:
    """A single figure of the table of reference facts, in the unit that its row states.

    Raises
    ------
    LookupError : unknown; the nearest names are offered.

    >>> fact("gpt3_prompt_tokens")
    1024.0
    """
    noted("reference_facts")
    values = _facts(data_dir())
    return values[name] if name in values else nearest(name, values, "reference fact")


@kept
def _facts(folder: Path) -> dict[str, float]:
    facts = _read(folder, "reference_facts")
    return dict(zip(facts["fact"], facts["value"].astype(float).tolist(), strict=True))
