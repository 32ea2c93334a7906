"""The workers of a build: made ready ahead, lost one by one, ended together."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from scaleright import REMEMBERED
from scaleright.files import FileError
from scaleright.press import Book, PressError
from scaleright.press.execute import (
    ChapterError,
    Job,
    Run,
    kernel_environment,
    load,
    with_own_models,
)
from scaleright.press.processes import Child, workplace
from scaleright.press.texts import declared
from scaleright.press.used import NOTED


@dataclass(frozen=True)
class Settings:
    """What all runs of a build share: where the cells run, the environment of their kernels, and
    whether those are forked from a warm process.
    """

    folder: Path
    environment: Mapping[str, str]
    warm: bool


class Pool:
    """Workers for so many runs, at most `limit` at once, with `folder` for what is temporary."""

    def __init__(self, book: Book, runs: int, limit: int, folder: Path):
        self._book, self._limit, self._folder = book, limit, folder
        self._settings = Settings(
            folder=book.kernels,
            environment=kernel_environment(folder)
            | {REMEMBERED: os.environ.get(REMEMBERED) or str(folder / "remembered"), NOTED: "1"},
            warm=_worth_warming(runs, limit),
        )
        self._children, self._idle = list[Child](), list[Child]()

    def get_ready(self, runs: int) -> None:
        """Start the workers that so many runs need; they import what they do meanwhile."""
        self._idle += (self._started() for _ in range(min(runs, self._limit)))

    def _started(self) -> Child:
        self._children.append(child := Child("scaleright.press.worker", self._folder))
        with suppress(OSError):  # it has ended, and is found lost when it is asked
            child.connection.send(self._settings)
        return child

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
        """The run of each job as it ends, or what is to be said of its failure.

        A worker that is lost costs its own job and no other.
        """
        waiting, busy = deque(jobs), dict[Any, tuple[Child, Job]]()  # by connection
        while waiting or busy:
            while waiting and len(busy) < self._limit:
                job = waiting.popleft()
                try:
                    notebook = with_own_models(self._notebook(job.chapter), job.values)
                except (PressError, FileError) as error:
                    yield job, str(error)
                    continue
                except Exception as error:  # noqa: BLE001  a malformed text: the others go on
                    yield job, f"{job.label}: {type(error).__name__}: {error}"
                    continue
                child = self._idle.pop() if self._idle else self._started()
                busy[child.connection] = child, job
                with suppress(OSError):  # it has ended: it will not answer either
                    child.connection.send((notebook, job))
            for connection in wait(list(busy)):
                child, job = busy.pop(connection)
                try:
                    outcome = child.connection.recv()
                    self._idle.append(child)
                except (EOFError, OSError):
                    self._children.remove(child)
                    child.dismiss()
                    outcome = f"{job.label}: its worker ended with exit code {child.ended()}"
                yield job, outcome

    def _notebook(self, chapter: str) -> Any:
        """A chapter as the workers run it, its parameters cell checked."""
        declared(chapter, self._book)
        return load(self._book.text(chapter))

    def end(self) -> None:
        """Tell all workers to end, then wait for each."""
        for child in self._children:
            child.dismiss()
        for child in self._children:
            child.ended()


def _worth_warming(runs: int, limit: int) -> bool:
    """Whether some worker starts several kernels: what a warm start takes is paid once a worker."""
    return runs > limit


@contextmanager
def pooled(book: Book, runs: int, limit: int) -> Iterator[Pool]:
    """A pool that ends with the block; its workers get ready meanwhile."""
    with workplace() as folder:
        pool = Pool(book, runs, limit, folder)
        try:
            pool.get_ready(runs)
            yield pool
        finally:
            pool.end()
