"""Sweeps: a chapter evaluated on a grid of its parameters, on all cores of this machine or on a
Dask cluster.

A scenario is evaluated by `evaluate`, in a process of its own that stays warm: what a cell does to
its process (a crash, the end of memory) hits its own scenario alone. Every finished one is kept in
a journal at once and for good, and a table has all of them at the end.
"""

from __future__ import annotations

import asyncio
import fcntl
import functools
import hashlib
import json
import logging
import os
import queue
import re
import socket
import subprocess
import sys
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from scaleright.files import require_writable, write_whole
from scaleright.names import one_of
from scaleright.outputs import ANSWER_MIME
from scaleright.parameters import Case, Declared, impossible, read_grid
from scaleright.press import Book, PressError, evaluate, execute, sweep_chart
from scaleright.press.processes import Child, follow
from scaleright.press.staleness import digest, library
from scaleright.press.sweep_chart import PAGE, PICTURE
from scaleright.press.texts import Code, declared

CONNECT_S = 10
"""A scheduler elsewhere that has not answered for so long is not there."""
WORKERS_S = 60
"""How long to wait for workers elsewhere, at the start and when all of them are gone."""
ATTEMPTS = 3
"""How often a scenario may lose its process."""
IDLE_S = 60
"""A process that nobody has asked for so long is ended: its sweep is gone."""
JOURNAL, TABLE, TWIN = "scenarios.jsonl", "sweep.csv", "sweep.json"
"""The files of a sweep; those of its chart are `PAGE` and `PICTURE`."""
_KEYS = (
    "; or it does not take the certificate that DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT, its"
    " ..._KEY and DASK_DISTRIBUTED__COMM__TLS__CA_FILE name here"
)
_ADDRESS = re.compile(
    r"(?:(?:tcp|tls|ws|wss)://)?(?P<host>[\w.-]+|\[[0-9a-fA-F:]+\]):(?P<port>\d{1,5})"
)
_PACKAGES = ("altair", "dask", "distributed", "ipython", "numpy", "pandas")


# ---- what is kept


def _key(values: Mapping[str, Any]) -> str:
    return json.dumps(values, sort_keys=True)


class Journal:
    """The finished scenarios of a sweep, in its folder.

    Parameters
    ----------
    folder : where the sweep's files go; made if need be, and held until `close`, so that no other
        sweep writes there.
    identity : what the answers depend on. A folder that holds a sweep of anything else is refused.
    fresh : drop what the folder holds of an earlier sweep.

    Raises
    ------
    PressError : the folder cannot be made or written, belongs to another sweep, or one is at work
        in it; says what to do.
    """

    def __init__(self, folder: Path, identity: Mapping[str, Any], fresh: bool = False):
        self._path, self._outcomes = folder / JOURNAL, {}
        for name in (JOURNAL, TABLE, TWIN, PAGE, PICTURE):
            require_writable(folder / name, "--out")
        self._folder = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(self._folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not fresh and self._path.exists():
                self._resume(folder, identity)
            elif not fresh and (folder / TABLE).exists():
                raise PressError(
                    f"{folder} has a {TABLE} that no sweep has left; give another --out, or --fresh"
                    " to replace it"
                )
            else:
                write_whole(self._path, _head(identity))
            self._file = self._path.open("ab")
        except BlockingIOError:
            os.close(self._folder)
            raise PressError(
                f"another sweep is writing into {folder}; wait for it or give another --out"
            ) from None
        except BaseException:
            os.close(self._folder)
            raise

    def _resume(self, folder: Path, identity: Mapping[str, Any]) -> None:
        lines = self._path.read_bytes().splitlines(keepends=True)
        if lines and not lines[-1].endswith(b"\n"):
            lines.pop()
            os.truncate(self._path, sum(map(len, lines)))
        before, *found = map(_parsed, lines or [b""])
        if "sweep" not in before:
            raise PressError(
                f"{self._path} is no sweep's; give another --out, or --fresh to replace it"
            )
        before, found = before["sweep"], [line for line in found if "values" in line]
        if not found:  # nothing to lose
            write_whole(self._path, _head(identity))
        elif changed := [
            name for name in before | identity if before.get(name) != identity.get(name)
        ]:
            raise PressError(
                f"{folder} holds a sweep of {before.get('chapter')} with another"
                f" {', another '.join(changed)}, so its answers are not this sweep's; give another"
                " --out, or --fresh to start anew"
            )
        self._outcomes = {_key(line["values"]): line for line in found}

    def outcome(self, values: Mapping[str, Any]) -> dict[str, Any] | None:
        """How a scenario ended: `text` and `quantities`, or `error`; None if it has not."""
        return self._outcomes.get(_key(values))

    def answered(self, values: Mapping[str, Any]) -> bool:
        """Whether a scenario has its answer; one that failed has none and runs again."""
        return "error" not in (self.outcome(values) or {"error": None})

    def add(self, values: Mapping[str, Any], outcome: Mapping[str, Any]) -> None:
        """Keep a finished scenario."""
        line = {"values": values, **outcome}
        self._file.write(json.dumps(line).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._outcomes[_key(values)] = line

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # what a full disk refused stays in the buffer
            self._file.close()
        os.close(self._folder)


def _head(identity: Mapping[str, Any]) -> str:
    return json.dumps({"sweep": identity}) + "\n"


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {}


def quantities(outcome: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The quantities of a kept answer by column: one with the name of a swept parameter goes by
    `answer_NAME`.
    """
    return {
        f"answer_{name}" if name in outcome["values"] else name: found
        for name, found in outcome.get("quantities", {}).items()
    }


def table(scenarios: Iterable[Mapping[str, Any]], journal: Journal):
    """A row for each finished scenario, in the grid's order: its parameters, the quantities of its
    answer, the answer, the error.

    Returns
    -------
    the DataFrame, and quantity -> how it is said (a kind of `charts.say`).
    """
    import pandas as pd

    ended = [outcome for values in scenarios if (outcome := journal.outcome(values))]
    kinds = {
        name: found["unit"] for outcome in ended for name, found in quantities(outcome).items()
    }
    rows = [
        outcome["values"]
        | {name: found["value"] for name, found in quantities(outcome).items()}
        | {"answer": outcome.get("text"), "error": outcome.get("error")}
        for outcome in ended
    ]
    # As objects, so that a missing number among whole ones does not make 4 into 4.0.
    frame = pd.DataFrame(
        rows,
        columns=[*(ended[0]["values"] if ended else ()), *kinds, "answer", "error"],
        dtype=object,
    )
    return frame, kinds


def write(
    folder: Path, frame: Any, kinds: Mapping[str, str], parameters: Iterable[Any], title: str
) -> None:
    """Write the table as CSV, and as JSON with the type and unit of each column."""
    from scaleright.charts.machine import resource

    units = {
        parameter.name: parameter.unit for parameter in parameters if parameter.name in frame
    } | dict(kinds)
    write_whole(folder / TABLE, frame.to_csv(index=False))
    write_whole(
        folder / TWIN,
        json.dumps(resource(frame, title, "sweep", units), indent=1, ensure_ascii=False) + "\n",
    )


# ---- one scenario


@dataclass(frozen=True)
class Program:
    """What all scenarios of a sweep share: the chapter's cells up to its answer, the parameters
    that it declares, code that makes the reader's own models known, the folder in which cells run
    where the worker has it, and the time that a cell may take; `sweep` names this run.
    """

    sweep: str
    cells: tuple[Code, ...]
    parameters: Declared
    own: str
    folder: str
    cell_timeout_s: float


def main() -> None:
    """Evaluate the scenarios that an `_Evaluator` sends: the number of each cell as it begins, then
    the outcome.
    """
    connection, tasks = follow()
    program: Program = next(tasks)
    if Path(program.folder).is_dir():
        os.chdir(program.folder)
    warnings.simplefilter("always")  # what one scenario raised must not be passed over in the next
    exec(program.own, {})  # noqa: S102, our own words
    for values in tasks:
        try:
            outcome = _evaluated(program, values, connection.send)
        except BaseException as error:  # noqa: BLE001  SystemExit too: the next one is evaluated
            said = str(error) if isinstance(error, execute.CellError) else repr(error)
            outcome = {"error": said}
        connection.send(outcome)


def _evaluated(
    program: Program, values: Mapping[str, Any], begin: Callable[[int], None]
) -> dict[str, Any]:
    """The outcome of a scenario: `text` and `quantities` of its answer, and `seconds`."""
    start = time.perf_counter()
    case = Case(program.parameters, {p.name: p.default for p in program.parameters} | dict(values))
    outputs = evaluate.shown(program.cells, case, {}, begin)
    answers = [o["data"][ANSWER_MIME] for o in outputs if ANSWER_MIME in o.get("data", {})]
    found = answers[-1] if answers else {"text": execute.said(outputs), "quantities": {}}
    seconds = round(time.perf_counter() - start, 3)
    return {"text": found["text"], "quantities": found["quantities"], "seconds": seconds}


class _Evaluator:
    """A process in which scenarios are evaluated one after another."""

    def __init__(self, program: Program):
        self.program, self._home = program, TemporaryDirectory(ignore_cleanup_errors=True)
        quiet = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
        self._child = Child(__name__, Path(self._home.name), **quiet)
        self._timer = threading.Timer(0, self.end)
        self._tell(program)

    def _tell(self, message: Any) -> None:
        with suppress(OSError):  # it has ended, and is found lost when it is asked
            self._child.connection.send(message)

    def outcome(self, values: Mapping[str, Any]) -> dict[str, Any] | int:
        """How a scenario ended, or the number of the cell in which the process did."""
        self._timer.cancel()
        self._tell(values)
        number, timeout_s = 0, self.program.cell_timeout_s
        try:
            while self._child.connection.poll(timeout_s + (0 if number else IDLE_S)):
                if not isinstance(said := self._child.connection.recv(), int):
                    self._timer = threading.Timer(IDLE_S, self.end)
                    self._timer.daemon = True
                    self._timer.start()
                    return said
                number = said
        except (EOFError, OSError):
            return number
        self.end()  # it still computes
        return {"error": f"{self.place(number)}: no end after {timeout_s:g} s"}

    def place(self, number: int) -> str:
        """What to call a cell in messages."""
        source = next((of.source for of in self.program.cells if of.number == number), "")
        return execute.place_of(number, source)

    def end(self) -> None:
        """End the process; whoever waits for it finds it lost."""
        self._timer.cancel()
        self._child.dismiss()
        self._child.ended()
        self._home.cleanup()


_evaluators: dict[int, _Evaluator] = {}
"""The process of each thread."""
_over: set[str] = set()
"""Sweeps that have ended, whose last scenarios may not know yet."""


def run(values: Mapping[str, Any], program: Program) -> dict[str, Any]:
    """The outcome of one scenario, in a process of this thread's own: `text`, `quantities` and
    `seconds`, or its `error`. One that loses its process is tried again, up to `ATTEMPTS` times.
    """
    thread, where = threading.get_ident(), ""
    for _ in range(ATTEMPTS):
        if program.sweep in _over:
            return {"error": "its sweep is over"}
        own = _evaluators.get(thread)
        if own is None or own.program.sweep != program.sweep:
            if own is not None:
                own.end()
            own = _evaluators[thread] = _Evaluator(program)
        outcome = own.outcome(values)
        if not isinstance(outcome, int):
            return outcome
        _evaluators.pop(thread, own).end()
        where = f" in {own.place(outcome)}" if outcome else ""
    return {"error": f"its process ended{where}, {ATTEMPTS} times"}


def end(sweep: str) -> None:
    """End the processes of a sweep here when it is over."""
    _over.add(sweep)
    for thread, of in list(_evaluators.items()):
        if of.program.sweep == sweep:
            _evaluators.pop(thread).end()


def fingerprint() -> dict[str, str]:
    """What an answer depends on besides the chapter's text: the same on two machines means the same
    answers.
    """
    from scaleright.catalog import data_dir

    tables = data_dir()
    files = (path for path in tables.rglob("*") if path.suffix in (".csv", ".json"))
    here = {"library": library(), "data": digest(files, tables)}
    here["Python"] = ".".join(map(str, sys.version_info[:2]))
    return here | {name: version(name) for name in _PACKAGES}


# ---- where scenarios run


def check_address(address: str) -> None:
    """Refuse what cannot be a scheduler's address, and one where nobody listens.

    >>> check_address("here")
    Traceback (most recent call last):
    scaleright.press.PressError: --scheduler 'here': expected an address such as tcp://HOST:8786
    """
    found = _ADDRESS.fullmatch(address)
    if not found or not 0 < int(found["port"]) < 65536:
        raise PressError(f"--scheduler {address!r}: expected an address such as tcp://HOST:8786")
    try:
        socket.create_connection(
            (found["host"].strip("[]"), int(found["port"])), timeout=CONNECT_S
        ).close()
    except OSError as error:
        raise PressError(
            f"--scheduler {address}: nobody answers there: {error.strerror or error}"
        ) from None


Start = Callable[[list[dict[str, Any]]], list[Any]]
"""Has scenarios evaluated: a future for each."""


@contextmanager
def connected(
    address: str | None,
    workers: int | None,
    scenarios: int,
    program: Program,
    say: Callable[[str], None],
) -> Iterator[tuple[Start, Callable[[], bool]]]:
    """What has scenarios evaluated, and what tells whether no worker is left: on this machine, or
    on the Dask cluster at an address.

    Parameters
    ----------
    workers : processes on this machine, by default one per core and no more than there are
        scenarios; of another cluster, how many to wait for, by default one.

    Raises
    ------
    PressError : nobody answers there, too few workers came in time, or one of them has other code
        or data.
    """
    if address is not None:
        with _remote(address, workers or 1, say) as client:
            try:
                yield functools.partial(_sent, client, program), lambda: _none_left(client)
            finally:
                if client.status == "running":
                    # whatever has become of the cluster: a process that nobody asks ends
                    with suppress(Exception):
                        client.run(
                            end, program.sweep, on_error="ignore", callback_timeout=CONNECT_S
                        )
        return
    with ThreadPoolExecutor(min(workers or os.cpu_count() or 1, scenarios)) as pool:
        try:
            yield (lambda todo: [pool.submit(run, values, program) for values in todo]), bool
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            end(program.sweep)


def _sent(client: Any, program: Program, todo: list[dict[str, Any]]) -> list[Any]:
    return client.map(run, todo, program=program, pure=False, key="scenario")


@contextmanager
def _remote(address: str, workers: int, say: Callable[[str], None]) -> Iterator[Any]:
    # Dask reads this as it is imported: what it logs of lost workers is ours to say.
    os.environ["DASK_LOGGING__DISTRIBUTED"] = "critical"
    from distributed import Client

    # it has a level of its own, set by the import
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        found = asyncio.run(asyncio.wait_for(_greet(address), CONNECT_S))
    except Exception as error:  # noqa: BLE001, whatever else may listen there, answers as it likes
        found = type(error).__name__
    if found != "Scheduler":
        raise PressError(
            f"--scheduler {address}: what listens there is no Dask scheduler of this version"
            f" ({found}){_KEYS if address.startswith('tls://') else ''}"
        )
    with Client(address, set_as_default=False, timeout=CONNECT_S) as client:
        if (there := _workers(client)) < workers:
            say(f"{there} workers at {address}; waiting up to {WORKERS_S} s for {workers} ...")
            try:
                client.wait_for_workers(workers, timeout=WORKERS_S)
            except TimeoutError:
                raise PressError(
                    f"{_workers(client)} of {workers} workers at {address} after {WORKERS_S} s;"
                    " start some there"
                ) from None
        _compare(client)
        yield client


async def _greet(address: str) -> str:
    """What kind of Dask process listens at an address. A `Client` would wait forever for one that
    keeps silent.
    """
    from distributed import Security, rpc

    async with rpc(address, connection_args=Security().get_connection_args("client")) as there:
        return (await there.identity())["type"]


def _workers(client: Any) -> int:
    """How many workers there are; raises OSError (or its TimeoutError) if the scheduler does not
    answer.
    """
    return client.sync(client.scheduler.identity, n_workers=0, callback_timeout=WORKERS_S)[
        "n_workers"
    ]


def _compare(client: Any) -> None:
    """Refuse workers whose library, tables or packages are not those of this machine."""
    here, problems = fingerprint(), []
    for worker, found in client.run(
        fingerprint, on_error="return", callback_timeout=WORKERS_S
    ).items():
        if isinstance(found, Exception):
            problems.append(
                f"worker {worker} cannot run scenarios: {type(found).__name__}: {found}"
            )
        elif other := [name for name in here if found.get(name) != here[name]]:
            said = [
                (
                    name
                    if len(here[name]) > 20
                    else f"{name} {found.get(name)} instead of {here[name]}"
                )
                for name in other
            ]
            problems.append(f"worker {worker} has another {', another '.join(said)}")
    if problems:
        raise PressError(
            "\n".join(problems)
            + "\ninstall this very checkout there; its answers would not be this machine's"
        )


def outcomes(
    todo: list[dict[str, Any]], start: Start, none_left: Callable[[], bool]
) -> Generator[tuple[dict[str, Any], dict[str, Any]], None, None]:
    """Have scenarios evaluated and yield each with its outcome as it ends.

    Raises
    ------
    PressError : the scheduler or all workers are lost.
    """
    finished: queue.Queue = queue.Queue()
    waiting = dict(zip(start(todo), todo, strict=True))
    for future in waiting:
        future.add_done_callback(finished.put)
    alone = 0
    while waiting:
        try:
            future = finished.get(timeout=1)
        except queue.Empty:
            alone = alone + 1 if none_left() else 0
            if alone > WORKERS_S:
                raise PressError(
                    f"no worker is left, and none has come for {WORKERS_S} s"
                ) from None
            continue
        if outcome := _outcome(future):
            yield waiting.pop(future), outcome
        else:
            future.add_done_callback(finished.put)


def _none_left(client: Any) -> bool:
    try:
        return _workers(client) == 0
    except OSError:
        raise PressError("the Dask scheduler no longer answers") from None


def _outcome(future: Any) -> dict[str, Any] | None:
    """The outcome of a scenario that is done; None if it was lost with its worker before we had it,
    and runs again.
    """
    try:
        return future.result(timeout=CONNECT_S)
    except TimeoutError:
        return None
    except (CancelledError, asyncio.CancelledError):
        raise PressError("the Dask scheduler is lost, or has given up the sweep") from None
    # whatever a worker can raise is this scenario's failure and no other's
    except Exception as error:  # noqa: BLE001
        if type(error).__name__ == "KilledWorker":
            return {"error": "each worker that ran it died"}
        return {"error": f"{type(error).__name__}: {error}"}


# ---- a sweep


@dataclass(frozen=True)
class Sweep:
    """A finished sweep: how many scenarios it has, the errors of those that failed, and the
    quantity drawn, if any.
    """

    scenarios: int
    errors: tuple[str, ...]
    drawn: str | None


def _program(book: Book, chapter: str, parameters: Declared, own: str) -> Program:
    """The chapter's code up to its answer; what comes after, no scenario needs. Code that makes the
    reader's own models known goes before it.
    """
    cells = evaluate.to_answer(book, chapter)
    if not any("parameters" in cell.tags for cell in cells[:-1]):
        raise PressError(
            f"{chapter} has no cell tagged answer after its parameters, so there is nothing to"
            " collect"
        )
    folder, timeout_s = str(book.workdir), execute.CELL_TIMEOUT_S
    return Program(uuid.uuid4().hex, cells, parameters, own, folder, timeout_s)


def sweep(
    book: Book,
    chapter: str,
    assignments: Iterable[tuple[str, str]],
    out: Path,
    scheduler: str | None = None,
    workers: int | None = None,
    fresh: bool = False,
    shown: str | None = None,
    say: Callable[[str], None] = print,
) -> Sweep:
    """Evaluate a chapter on a grid of its parameters, or go on where an earlier run of the same
    sweep ended.

    Parameters
    ----------
    assignments : (name, values separated by commas), see `read_grid`.
    out : folder of the journal, the table and the chart.
    scheduler : address of a Dask scheduler; this machine if None.
    workers : processes here, by default one per core; of a cluster, how many to wait for.
    fresh : begin anew even if the folder holds an earlier sweep.
    shown : the quantity to draw, by default the first that the scenarios move.
    say : takes a line for the person who waits.

    Raises
    ------
    ParameterError, PressError : wrong input, before any work; a cluster that is lost, with what was
        finished kept.
    LookupError : the answer has no quantity `shown`.
    """
    parameters = declared(chapter, book)
    swept = read_grid(parameters, assignments)
    scenarios = [dict(zip(swept, values, strict=True)) for values in product(*swept.values())]
    refused = impossible(parameters, scenarios)
    program = _program(book, chapter, parameters, _own_models(swept, say))
    if scheduler is not None:
        check_address(scheduler)
    text = hashlib.sha256(book.text(chapter).read_bytes()).hexdigest()
    identity = {"chapter": chapter, "grid": swept, "text": text}
    identity |= {"own models": program.own} if program.own else {}
    with Journal(out, identity | fingerprint(), fresh) as journal:
        todo = _todo(scenarios, refused, journal, shown, say)
        try:
            if todo:
                _run(program, todo, journal, shown, scheduler, workers, say)
            frame, kinds = table(scenarios, journal)
        except BaseException:
            if kept := sum(map(journal.answered, scenarios)):
                say(
                    f"{kept} of {len(scenarios)} scenarios are done and kept in {out}; the same"
                    " command goes on from there"
                )
                # The journal has it all; a full disk may be what has brought us here.
                with suppress(OSError):
                    write(out, *table(scenarios, journal), parameters, f"A sweep of {chapter}")
            raise
        write(out, frame, kinds, parameters, f"A sweep of {chapter}")
        moved = [p for name in swept for p in parameters if p.name == name]
        drawn = sweep_chart.draw(out, frame, kinds, moved, chapter, shown)
        return Sweep(len(scenarios), tuple(frame["error"].dropna()), drawn)


def _own_models(swept: Mapping[str, list[Any]], say: Callable[[str], None]) -> str:
    """Code that makes models of the reader's own known, each said as it was read."""
    from scaleright.catalog import retold
    from scaleright.parameters.own_models import read_as

    for line in read_as():
        say(line)
    return retold(value for values in swept.values() for value in values)


def _todo(
    scenarios: list[dict[str, Any]],
    refused: list[str],
    journal: Journal,
    shown: str | None,
    say: Callable[[str], None],
) -> list[dict[str, Any]]:
    """The scenarios that wait for their answer. Of an impossible one the journal keeps what was
    refused in place of its outcome.
    """
    bad = [(values, said) for values, said in zip(scenarios, refused, strict=True) if said]
    for values, said in bad:
        if journal.outcome(values) != {"values": values, "error": said}:
            journal.add(values, {"error": said})
    if bad:
        say(f"{len(bad)} of {len(scenarios)} scenarios are impossible and not run")
    if done := [values for values in scenarios if journal.answered(values)]:
        say(f"{len(done)} of {len(scenarios)} scenarios done before")
        _check_shown(shown, journal, done[0])
    ready = (values for values, said in zip(scenarios, refused, strict=True) if not said)
    return [values for values in ready if not journal.answered(values)]


def _run(
    program: Program,
    todo: list[dict[str, Any]],
    journal: Journal,
    shown: str | None,
    scheduler: str | None,
    workers: int | None,
    say: Callable[[str], None],
) -> None:
    """Have scenarios evaluated and keep each as it ends."""
    from tqdm import tqdm

    tqdm.monitor_interval = 0  # no thread of its own
    bar = tqdm(total=len(todo), unit="scenario", disable=None, leave=False)
    with bar, connected(scheduler, workers, len(todo), program, say) as (start, none_left):
        for values, outcome in outcomes(todo, start, none_left):
            journal.add(values, outcome)
            bar.update()
            _check_shown(shown, journal, values)


def _check_shown(shown: str | None, journal: Journal, values: Mapping[str, Any]) -> None:
    """Refuse to draw what the answer does not have, which is known with the first answer."""
    outcome = journal.outcome(values)
    if shown is not None and outcome is not None and "error" not in outcome:
        one_of(shown, quantities(outcome), "quantity of the answer")
