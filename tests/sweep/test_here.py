"""Sweeps on this machine: killed, interrupted, robbed of a worker."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import signal
import subprocess

import psutil
import pytest
from scaleright.press.sweep import cluster, results
from sweeping import GUARD_S, gone, kept, rows, wait_for

pytestmark = pytest.mark.processes


def workers(sweep: subprocess.Popen) -> list[psutil.Process]:
    return [
        child
        for child in psutil.Process(sweep.pid).children()
        if "multiprocessing.spawn" in " ".join(child.cmdline())
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
    assert listening and set(listening) == {"127.0.0.1"}
    first.kill()
    first.communicate()
    assert len(children) >= 2 and gone(children), "workers and kernels notice"
    before = kept(place.root / "out")
    assert 3 <= before < 24 and not (place.root / "out" / results.TABLE).exists()

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


def test_what_dask_says_of_a_lost_worker_is_not_printed(monkeypatch):
    """It may be lost between finishing a scenario and handing it over, of which the client of a
    local cluster warned.
    """
    monkeypatch.setenv("DASK_LOGGING__DISTRIBUTED", "critical")
    monkeypatch.setattr("distributed.LocalCluster", lambda **_: contextlib.nullcontext())
    monkeypatch.setattr("distributed.Client", lambda *_, **__: contextlib.nullcontext("client"))
    logger = logging.getLogger("distributed.client")
    before = logger.level
    logger.setLevel(logging.WARNING)
    try:
        with cluster.connected(None, 1, 1, print) as client:
            assert client == "client" and not logger.isEnabledFor(logging.WARNING)
    finally:
        logger.setLevel(before)


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
