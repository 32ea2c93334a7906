"""The press: chapters in, a published book out.

`texts` reads chapters and the parameters that they declare, `scenarios` their named cases,
`execute` makes notebooks of both that a `pool` of processes runs, each by a `worker`, `staleness`
decides which need it, `pages`, `pictures`, `start` and `status` make of the results what a reader
sees, `site` renders and swaps; `processes` sees to it that nothing outlives a build. This module
holds what they share: where things lie in a book.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scaleright.names import brief, suggestion

COLLECTED_AFTER = 100_000
"""New objects after which a process of a build looks for cycles, which few of them are in: Python's
700 has it walk through all that its imports have made over and over.
"""
_PACKAGE = Path(__file__).resolve().parents[1]
"""Beside its modules an installed package has the texts, cases and tables of the book, each where
a checkout has it.
"""
_MARK = "book/_toc.yml"
"""What a checkout has and an installed package has not."""


class PressError(Exception):
    """A build that cannot go on, said in one message for the person who started it."""


@dataclass(frozen=True)
class Book:
    """A book's folder and the places in it."""

    root: Path

    @classmethod
    def find(cls) -> Book:
        """The book to read: as `checkout`, else what the installed package has of it.

        Raises
        ------
        PressError : there is none.
        """
        installed = cls(_PACKAGE)
        return installed if _checkout() is None and installed.chapters() else cls.checkout()

    @classmethod
    def checkout(cls) -> Book:
        """The whole book, which is what builds and refreshes need: the one around the working
        directory, else the checkout this package was installed from.

        Raises
        ------
        PressError : there is neither.
        """
        if (root := _checkout()) is None:
            raise PressError(
                f"no checkout of the book here: neither {Path.cwd()} nor a folder above it has"
                f" {_MARK}"
            )
        return cls(root)

    @property
    def installed(self) -> bool:
        """Whether it is what an installed package has of the book: nothing is written there."""
        return self.root == _PACKAGE

    @property
    def build(self) -> Path:
        """Folder of everything that is built."""
        return (Path.cwd() if self.installed else self.root) / "_build"

    @property
    def workdir(self) -> Path:
        """Folder in which the cells of chapters run."""
        return Path.cwd() if self.installed else self.root / "notebooks"

    @property
    def data(self) -> Path:
        """Folder of the tables, the one that chapters read."""
        return Path(os.environ.get("SCALERIGHT_DATA") or self.root / "data")

    def text(self, chapter: str) -> Path:
        """The text of a chapter, which is what people edit."""
        return self.root / "notebooks" / "text" / f"{chapter}.md"

    def notebook(self, chapter: str) -> Path:
        """The stored notebook of a chapter, committed with its outputs."""
        return self.root / "notebooks" / f"{chapter}.ipynb"

    def executed(self, chapter: str, scenario: str = "") -> Path:
        """The notebook of the last run of a chapter, or of one of its scenarios."""
        return (
            self.build / "executed" / chapter / f"{scenario}.ipynb"
            if scenario
            else self.build / "executed" / f"{chapter}.ipynb"
        )

    def chapters(self) -> list[str]:
        """Names of all chapters."""
        return sorted(path.stem for path in (self.root / "notebooks" / "text").glob("*.md"))

    def chapter(self, name: str) -> str:
        """The name itself if there is such a chapter.

        Raises
        ------
        PressError : unknown; the nearest names are offered.
        """
        if name not in (known := self.chapters()):
            raise PressError(f"unknown chapter {brief(name)}; {suggestion(name, known)}")
        return name

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the build folder, so that two builds at once do not write into each other.

        The processes of a build hold it too: a build that was killed lets go of it with the last.
        """
        import fcntl

        from scaleright.press.processes import inherited

        self.build.mkdir(exist_ok=True)
        with (self.build / ".lock").open("w", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print("waiting for another build of this book to end ...", flush=True)  # noqa: T201
                fcntl.flock(lock, fcntl.LOCK_EX)
            with inherited(lock.fileno()):
                yield


def _checkout() -> Path | None:
    """The folder of the book around the working directory, else of that around this package."""
    here = Path.cwd()
    folders = (here, *here.parents, _PACKAGE.parents[1])
    return next((folder for folder in folders if (folder / _MARK).is_file()), None)


def explained(error: BaseException) -> str:
    """What to say of an error."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"the disk is full ({error.filename or 'while writing'}); the last good site is as"
            " it was"
        )
    if isinstance(error, OSError):
        return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
    return str(error.args[0]) if isinstance(error, LookupError) and error.args else str(error)
