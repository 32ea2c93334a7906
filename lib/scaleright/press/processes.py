"""The processes of a build, none of which outlives it, and the folder for what is temporary.

A build may end in any way: done, by an error, by Ctrl-C, by a request to end, or killed without a
word. Each of its processes therefore listens to a connection that only the build holds open, and
ends itself and all that it has started as soon as that closes. Those that write inherit the locks
that the build holds: while one of them lives, no other build begins and nothing of theirs is
cleared away.
"""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

from scaleright.press import COLLECTED_AFTER, PressError

END_S = 10
"""A process that has not ended itself for so long after it was told to is killed."""
_PREFIX = "scaleright-"
_ALIVE = "alive"
_FORGOTTEN_S = 3600
"""A folder without the sign of life that each gets at once is left over after so long."""

_locks: set[int] = set()
"""Descriptors of the locks that processes of this one inherit."""


@contextmanager
def inherited(lock: int) -> Iterator[None]:
    """Let processes that start in the block hold this lock too."""
    _locks.add(lock)
    try:
        yield
    finally:
        _locks.discard(lock)


def locks() -> tuple[int, ...]:
    """The locks for a new process to hold."""
    return tuple(_locks)


@contextmanager
def environment(**values: str) -> Iterator[None]:
    """Let these variables stand in the environment of what starts in the block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


@contextmanager
def workplace() -> Iterator[Path]:
    """A folder for what is temporary, gone when the block is left; what killed builds left goes
    first.
    """
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    _clear_away(folder.stat().st_mtime)
    try:
        with (folder / "new").open("w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (folder / "new").rename(folder / _ALIVE)  # never seen without its lock
            with inherited(lock.fileno()):
                yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _clear_away(now: float) -> None:
    """Delete the folders of builds of which no process lives; `now` is the disk's, whose clock need
    not be this machine's.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # another user's, or still in use, or gone meanwhile
            if not (folder / _ALIVE).exists():
                if now - folder.stat().st_mtime > _FORGOTTEN_S:
                    shutil.rmtree(folder)
                continue
            with (folder / _ALIVE).open(encoding="utf-8") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)


class Child:
    """A process that runs `main` of a module of ours, and ends as soon as this process does.

    The module calls `follow`, and gets what is sent through `connection`. It leads a session of its
    own: what a terminal sends on Ctrl-C is not for it. The module is not its `__main__`, which
    multiprocessing would import anew in each process that is forked for it.
    """

    def __init__(self, module: str, folder: Path, *arguments: str, **options: Any):
        self.connection, theirs = Pipe()
        environment = os.environ | {"TMPDIR": str(folder), "PYTHONUTF8": "1"}
        with theirs:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-c", f"from {module} import main; main()"),
                    *(str(theirs.fileno()), str(folder), *arguments),
                ],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(), *locks()),
                start_new_session=True,
                env=environment,
                **options,
            )

    def dismiss(self) -> None:
        """Tell it to end with all that it has started."""
        with suppress(OSError):  # it has ended before
            self.connection.send(None)
        self.connection.close()

    def ended(self) -> int:
        """Wait until it has ended after it was dismissed; its exit code."""
        try:
            return self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            return self.process.wait()


@contextmanager
def sent_to(module: str, *arguments: str, failed: str) -> Iterator[Callable[[Any], None]]:
    """A `Child` with one task, which the block hands it by the function that it gets; the task is
    done when the block is left.

    failed : what its failure means

    Raises
    ------
    PressError : it failed; what it said follows.
    """
    with workplace() as folder, (folder / "said").open("wb+") as said:
        child = Child(module, folder, *arguments, stdout=said, stderr=said)

        def send(task: Any) -> None:
            with suppress(OSError):  # it has ended, and says why
                child.connection.send(task)

        try:
            yield send
            code = child.process.wait()
        finally:
            child.dismiss()
            child.ended()
        said.seek(0)
        message = said.read().decode(errors="replace").strip()
    if code:
        raise PressError(f"{failed}, with exit code {code}; it said:\n{message}")


def follow() -> tuple[Connection, Iterator[Any]]:
    """In a `Child`: the connection, and what comes through it; the process ends when it closes."""
    connection = Connection(int(sys.argv[1]))
    os.set_inheritable(connection.fileno(), False)
    return connection, followed(connection, Path(sys.argv[2]))


def followed(connection: Connection, folder: Path) -> Iterator[Any]:
    """In a process that leads its session: what comes through the connection. The process ends when
    that closes, and with it all that it has started.

    folder : for what is temporary; cleared away here where nobody else will
    """
    gc.set_threshold(COLLECTED_AFTER)
    given = SimpleQueue[Any]()

    def listen() -> None:
        told = False
        with suppress(EOFError, OSError):
            while (message := connection.recv()) is not None:
                given.put(message)
            told = True
        end_descendants()
        if not told:  # the build is gone, and with it whoever would clear up
            shutil.rmtree(folder, ignore_errors=True)
        os.killpg(0, signal.SIGKILL)

    Thread(target=listen, daemon=True).start()
    return iter(given.get, None)


def end_descendants() -> None:
    """Kill whatever this process has started, and what that has started, until nothing of it runs.

    They are not waited for: who has started one may still ask what has become of it.
    """
    import psutil

    deadline = time.monotonic() + END_S
    while time.monotonic() < deadline:
        running = []
        for child in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if child.status() != psutil.STATUS_ZOMBIE and not _tracker(child):
                    child.kill()
                    running.append(child)
        if not running:
            return
        time.sleep(0.01)


def _tracker(process: Any) -> bool:
    """Whether it is multiprocessing's own, which ends with this process or complains."""
    return "resource_tracker" in " ".join(process.cmdline())
