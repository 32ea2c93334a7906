"""The site of this book, and what its build has found in the tables."""

import fcntl
import functools
import os
import subprocess
import sys
from pathlib import Path

from paths import ROOT
from scaleright.press import Book
from scaleright.press.staleness import Inputs

BOOK = Book(ROOT)


@functools.cache
def findings() -> Path:
    """The folder of what builds of the same library and tables find."""
    return Inputs(BOOK).remembered()


def site() -> tuple[Path, str]:
    """The folder of the site, brought up to date once, by the first worker that asks for it; and
    what is wrong with it, nothing if all is well.
    """
    if given := os.environ.get("SCALERIGHT_SITE"):
        folder, wrong = Path(given), ""
    else:
        folder, wrong = ROOT / "_build" / "html", _build()
    if not wrong and not (folder / "index.html").is_file():
        wrong = f"no site at {folder}: run make book"
    return folder, wrong


@functools.cache
def _build() -> str:
    """Build it, and what is wrong; a worker waits for another that is at it."""
    lock = ROOT / "_build" / ".tests.lock"
    lock.parent.mkdir(exist_ok=True)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = subprocess.run(
            [sys.executable, "-m", "scaleright.cli", "book"],
            cwd=ROOT,
            text=True,
            capture_output=True,
            check=False,
        )
    said = f"{done.stdout[-2000:]}{done.stderr[-4000:]}"
    return f"scaleright book failed, so there is no site:\n{said}" if done.returncode else ""
