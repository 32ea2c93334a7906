"""The small book with a chapter to sweep, the command in it, and a cluster of other processes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys

import pytest
from scaleright import cli
from scaleright.press import Book
from sweeping import ROOT, Cluster


@pytest.fixture
def place(book: Book, monkeypatch) -> Book:
    """The small book with a chapter to sweep."""
    shutil.copy(ROOT / "tests" / "fixtures" / "sweep.md", book.text("sweep"))
    monkeypatch.chdir(book.root)
    return book


@pytest.fixture
def scaleright(place, monkeypatch, capsys):
    """Call the command in the small book: (exit code, stdout, stderr)."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            cli.main(["sweep", *arguments, *([] if "--out" in arguments else ["--out", "out"])])
        captured = capsys.readouterr()
        return caught.value.code or 0, captured.out, captured.err

    return call


@pytest.fixture
def start(place):
    """Start the command in a process of its own, in a group of its own as a terminal makes it; a
    test that fails leaves none behind.
    """
    begun = []

    def start(*arguments: str) -> subprocess.Popen:
        main = "from scaleright.cli import main; main()"
        command = [sys.executable, "-c", main, "sweep", "sweep", *arguments, "--out", "out"]
        begun.append(
            subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd=place.root,
                start_new_session=True,
            )
        )
        return begun[-1]

    yield start
    for process in begun:
        with process:  # closes its pipes and waits for it
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def dask(tmp_path_factory):
    """A scheduler in another process, with a worker of two threads."""
    there = Cluster(tmp_path_factory.mktemp("dask"), threads=2)
    yield there
    there.end()
