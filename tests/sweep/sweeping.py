"""What the tests of sweeps share: the command in a process of its own, and what it has left."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import time
from pathlib import Path

import psutil
from scaleright.press import sweep

ROOT = Path(__file__).resolve().parents[2]
IDENTITY = {"chapter": "sweep", "grid": {"hours": [1, 2]}, "text": "a", "data": "b"}

ONE = {
    "text": "1 hour",
    "quantities": {"usd": {"value": 1.5, "unit": "usd"}, "count": {"value": 3, "unit": ""}},
}

GUARD_S = 600
"""Ends only a test that hangs: what takes a second may take a minute on a busy machine."""


def wait_for(what):
    deadline = time.monotonic() + GUARD_S
    while not (found := what()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def kept(out: Path) -> int:
    """Scenarios in a journal."""
    return (
        max(0, (out / sweep.JOURNAL).read_bytes().count(b"\n") - 1)
        if (out / sweep.JOURNAL).exists()
        else 0
    )


def gone(processes: list[psutil.Process]) -> bool:
    """Whether all processes end; one that nobody has collected yet has ended."""

    def over(process):
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE

    return wait_for(lambda: all(map(over, processes)))


class Cluster:
    """A Dask scheduler and its worker, started as anyone would, but with no process beside it that
    would start it anew.
    """

    def __init__(self, folder: Path, threads: int):
        self.folder, file = folder, folder / "scheduler.json"
        self.scheduler = self.run(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)
        )
        self.address = json.loads(wait_for(lambda: file.exists() and file.read_text()))["address"]
        self.worker = threads and self.start_worker(threads)

    def start_worker(self, threads: int) -> subprocess.Popen:
        self.worker = self.run(
            "worker",
            self.address,
            "--no-nanny",
            "--nthreads",
            str(threads),
            "--local-directory",
            str(self.folder),
        )
        return self.worker

    def run(self, what: str, *options: str) -> subprocess.Popen:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *options, "--no-dashboard"]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def end(self) -> None:
        for process in filter(None, (self.worker, self.scheduler)):
            process.kill()
            process.wait()


def rows(out: Path = Path("out")) -> list[dict[str, str]]:
    return list(csv.DictReader((out / sweep.TABLE).read_text().splitlines()))
