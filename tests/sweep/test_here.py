"""Sweeps on this machine: killed, interrupted, robbed of a worker."""

from __future__ import annotations

import os
import re
import signal
import subprocess

import psutil
import pytest
from scaleright.press import sweep as sweeps
from sweeping import GUARD_S, gone, kept, rows, wait_for

pytestmark = pytest.mark.processes


def workers(sweep: subprocess.Popen) -> list[psutil.Process]:
    return [
        child
        for child in psutil.Process(sweep.pid).children()
        if "scaleright.press.sweep" in " ".join(child.cmdline())
    ]


def test_a_killed_sweep_goes_on_even_without_a_worker_and_ends_as_if_nothing_had_happened(
    scaleright, start, place
):
    case = ["-p", "hours=" + ",".join(map(str, range(1, 25))), "-p", "mishap=dawdles", "--workers"]
    first = start(*case, "1")
    wait_for(lambda: kept(place.root / "out") >= 3)
    children = psutil.Process(first.pid).children(recursive=True)
    listening = [
        c.laddr.ip
        for child in [psutil.Process(first.pid), *children]
        for c in child.net_connections("inet")
        if c.status == "LISTEN"
    ]
    assert not listening, "nobody else can ask for anything"
    first.kill()
    first.communicate()
    assert children and gone(children), "workers notice"
    before = kept(place.root / "out")
    assert 3 <= before < 24 and not (place.root / "out" / sweeps.TABLE).exists()

    second = start(*case, "2")
    wait_for(lambda: kept(place.root / "out") > before)
    lost, _ = workers(second)
    lost.kill()
    out, err = second.communicate(timeout=GUARD_S)
    assert (second.returncode, err) == (0, "") and f"{before} of 24 scenarios done before" in out
    assert [float(row["usd"]) for row in rows(place.root / "out")] == [
        round(1.2 * hours, 6) for hours in range(1, 25)
    ]
    code, again, _ = scaleright("sweep", *case, "1")
    assert code == 0 and again == out.replace(f"{before} of", "24 of")


@pytest.mark.parametrize(
    "sent, code, to_all, number", [(signal.SIGINT, 130, True, 2), (signal.SIGTERM, 143, False, 1)]
)
def test_an_interrupted_sweep_leaves_no_process_and_a_table_of_what_is_done(
    start, place, sent, code, to_all, number
):
    case = ["-p", "hours=" + ",".join(map(str, range(1, 101))), "-p", "mishap=dawdles"]
    sweep = start(*case, "--workers", str(number))
    wait_for(lambda: kept(place.root / "out") >= 2)
    children = psutil.Process(sweep.pid).children(recursive=True)
    (os.killpg if to_all else os.kill)(sweep.pid, sent)
    out, err = sweep.communicate(timeout=GUARD_S)
    assert (sweep.returncode, err) == (code, "")
    assert re.search(
        r"\d+ of 100 scenarios are done and kept in out; the same command goes on from there", out
    )
    assert 0 <= kept(place.root / "out") - len(rows(place.root / "out")) <= 1, (
        "the signal may come while one is being written"
    )
    assert gone(children)
