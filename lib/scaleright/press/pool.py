"""The runs of a build: each in a process of its own, lost one by one, ended together.

Where there are more runs than processes at once, they are forked from one that has imported what
every chapter imports (`warm`): starting Python, IPython and the library takes half of a short run.
"""

from __future__ import annotations

import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import Pipe, forkserver, get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from scaleright import REMEMBERED
from scaleright.files import FileError
from scaleright.press import Book, PressError, execute
from scaleright.press.execute import ChapterError, Job, Run, load, parameterized, place_of
from scaleright.press.processes import END_S, environment, workplace
from scaleright.press.texts import declared

_START_S = 600
"""A guard: a process begins its first cell in seconds, and in a minute on a busy machine."""
_LOOK_S = 5
"""How often the time is looked at that a cell has taken."""


def _run(theirs: Connection, *given: Any) -> None:
    """Run a chapter in a process that was started for it."""
    from scaleright.press import worker

    worker.main(theirs, *given)


@contextmanager
def _apart() -> Iterator[None]:
    """Start processes for which Ctrl-C, which a terminal sends to all, is not."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Process:
    """The process of a run, and the cell that it is at."""

    def __init__(self, notebook: Any, job: Job, cells: Path, folder: Path, warm: bool):
        self.notebook, self.job, self.cell, self.since = notebook, job, 0, time.monotonic()
        self.connection, theirs = Pipe()
        context: Any = get_context("forkserver" if warm else "spawn")
        given = (theirs, notebook, job, cells, folder)
        self._process = context.Process(target=_run, args=given)
        with theirs, _apart():
            self._process.start()

    def outcome(self) -> Run | str | None:
        """What has come of the run, or what to say of its failure; None as long as it goes on."""
        try:
            said = self.connection.recv()
        except (EOFError, OSError):
            self._process.join(END_S)
            if self.cell:
                why = "ended its process (killed, out of memory, or by a call of its own)"
                return f"{self.job.label}: {self._place()} {why}"
            return f"{self.job.label}: its process ended with exit code {self._process.exitcode}"
        if isinstance(said, int):
            self.cell, self.since = said, time.monotonic()
            return None
        return said

    def late(self) -> str:
        """What to say of a cell that does not end; nothing if it may."""
        most = execute.CELL_TIMEOUT_S if self.cell else _START_S
        if time.monotonic() - self.since < most:
            return ""
        where = f"{self._place()} had not ended" if self.cell else "its process had not begun"
        return f"{self.job.label}: {where} after {most:,} s"

    def _place(self) -> str:
        codes = [cell.source for cell in self.notebook.cells if cell.cell_type == "code"]
        return place_of(self.cell, codes[self.cell - 1])

    def dismiss(self) -> None:
        """Tell it to end with all that it has started."""
        with suppress(OSError):  # it has ended before
            self.connection.send(None)
        self.connection.close()

    def end(self) -> None:
        """Wait until it has ended after it was dismissed."""
        self._process.join(END_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


class Pool:
    """Processes for so many runs, at most `limit` at once, with `folder` for what is temporary."""

    def __init__(self, book: Book, runs: int, limit: int, folder: Path):
        self._book, self._limit, self._folder = book, limit, folder
        self._warm, self._busy = _worth_warming(runs, limit), dict[Any, _Process]()

    def get_ready(self) -> None:
        """Start the process from which runs are forked; it imports what they need meanwhile."""
        if self._warm:
            get_context("forkserver").set_forkserver_preload(["scaleright.press.warm"])
            with _apart():
                forkserver.ensure_running()

    def run(self, jobs: Sequence[Job], keep: Callable[[Run], None]) -> None:
        """Run chapters, hand each finished one to `keep` at once, then report what failed.

        Raises
        ------
        ChapterError : one line for each chapter that failed, after all others have finished.
        """
        from tqdm import tqdm

        failures = []
        tqdm.monitor_interval = 0  # no thread of its own
        with tqdm(total=len(jobs), unit="run", disable=None, leave=False) as bar:
            for job, outcome in self._outcomes(jobs):
                if isinstance(outcome, Run):
                    keep(outcome)
                    tqdm.write(f"  {job.label}  {outcome.seconds:.1f} s")
                else:  # the other chapters finish before it is reported
                    failures.append(outcome)
                    tqdm.write(f"  {job.label}  failed")
                bar.update()
        if failures:
            raise ChapterError("\n".join(failures))

    def _outcomes(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Run | str]]:
        """The run of each job as it ends, or what is to be said of its failure."""
        waiting = deque(jobs)
        while waiting or self._busy:
            while waiting and len(self._busy) < self._limit:
                job = waiting.popleft()
                try:
                    notebook = parameterized(self._notebook(job.chapter), job.values)
                except (PressError, FileError) as error:
                    yield job, str(error)
                    continue
                except Exception as error:  # noqa: BLE001  a malformed text: the others go on
                    yield job, f"{job.label}: {type(error).__name__}: {error}"
                    continue
                process = _Process(notebook, job, self._book.workdir, self._folder, self._warm)
                self._busy[process.connection] = process
            ready = set(wait(list(self._busy), _LOOK_S))
            for connection, process in list(self._busy.items()):
                if outcome := process.outcome() if connection in ready else process.late():
                    process.dismiss()
                    process.end()
                    del self._busy[connection]
                    yield process.job, outcome

    def _notebook(self, chapter: str) -> Any:
        """A chapter as it is run, its parameters cell checked."""
        declared(chapter, self._book)
        return load(self._book.text(chapter))

    def end(self) -> None:
        """Tell all processes to end, then wait for each."""
        for process in self._busy.values():
            process.dismiss()
        for process in self._busy.values():
            process.end()


def _worth_warming(runs: int, limit: int) -> bool:
    """Whether a process runs several chapters: what a warm start takes is paid once."""
    return runs > limit


@contextmanager
def pooled(book: Book, runs: int, limit: int) -> Iterator[Pool]:
    """A pool that ends with the block, and gets ready meanwhile."""
    with workplace() as folder:
        kept = os.environ.get(REMEMBERED) or str(folder / "remembered")
        # One order of additions whatever the cores, and no threads that wait for each other.
        constant = {"PYTHONUTF8": "1", "OPENBLAS_NUM_THREADS": "1"}
        with environment(**constant, **{REMEMBERED: kept}):
            pool = Pool(book, runs, limit, folder)
            try:
                pool.get_ready()
                yield pool
            finally:
                pool.end()
