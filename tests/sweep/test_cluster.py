"""Sweeps on a cluster of other processes: every finished scenario kept, every loss survived."""

from __future__ import annotations

import errno
import json
import os
import re
import socket

import psutil
import pytest
from scaleright.outputs import ANSWER_MIME
from scaleright.press import PressError, execute, sweep, sweep_chart
from scaleright.press.execute import Job, run_all
from sweeping import GUARD_S, Cluster, kept, rows, wait_for

pytestmark = pytest.mark.processes


def test_answers_are_those_of_an_ordinary_run(scaleright, place, dask):
    text = place.text("sweep").read_text()
    place.text("whole").write_text(text[: text.index("```{code-cell} ipython3\nraise")])
    done = []
    run_all(place, [Job("whole", {"hours": 7, "plan": "on demand"})], 1, done.append)
    answer = [
        output["data"][ANSWER_MIME]
        for cell in json.loads(done[0].content)["cells"]
        for output in cell.get("outputs", ())
    ]
    code, out, err = scaleright(
        "sweep", "-p", "hours=3,7", "-p", "plan=on demand", "--scheduler", dask.address
    )
    assert (code, err) == (0, "") and "table of 2 scenarios" in out and "chart of usd" in out
    lines = [
        json.loads(line)
        for line in (place.root / "out" / sweep.JOURNAL).read_text().splitlines()[1:]
    ]
    assert [
        {key: line[key] for key in ("text", "quantities")}
        for line in lines
        if line["values"]["hours"] == 7
    ] == answer


def test_what_goes_wrong_in_a_scenario_is_its_own_affair(scaleright, place, dask, monkeypatch):
    monkeypatch.setattr(execute, "CELL_TIMEOUT_S", 5)
    mishaps = ["none", "raises", "warns", "dies", "hangs"]
    code, _out, err = scaleright(
        "sweep", "-p", f"mishap={','.join(mishaps)}", "-p", "hours=2", "--scheduler", dask.address
    )
    assert (
        code == 1
        and "4 of 5 scenarios failed" in err
        and "code cell 3 ('import os'): ValueError: no price for 2 hours" in err
    )
    assert [row["mishap"] for row in rows()] == mishaps, "in the grid's order"
    assert rows()[0]["answer"] == "2 hours cost $2.40." and rows()[0]["error"] == ""
    errors = {row["mishap"]: row["error"] for row in rows()}
    assert (
        "code cell 3 ('import os') wrote to stderr" in errors["warns"]
        and "UserWarning: an old price" in errors["warns"]
    )
    assert errors["dies"] == "its process ended in code cell 3 ('import os'), 3 times"
    assert errors["hangs"] == "code cell 3 ('import os'): no end after 5 s"
    worker = psutil.Process(dask.worker.pid)
    assert wait_for(
        lambda: (
            not [
                child
                for child in worker.children(recursive=True)
                if "scaleright.press.sweep" in " ".join(child.cmdline())
            ]
        )
    )


def test_a_quantity_that_the_answer_does_not_have_stops_the_sweep(scaleright, dask):
    code, out, err = scaleright(
        "sweep", "-p", "hours=1,2,3", "--scheduler", dask.address, "--show", "cost"
    )
    assert (
        code == 1
        and "unknown quantity of the answer 'cost'; allowed: answer_hours, usd, plan_name" in err
        and "are done and kept" in out
    )
    code, out, err = scaleright(
        "sweep", "-p", "hours=1,2,3", "--scheduler", dask.address, "--show", "usd"
    )
    assert (code, err) == (0, "") and re.match(r"\d of 3 scenarios done before", out)


def test_workers_with_other_data_are_refused(scaleright, place, dask, monkeypatch):
    monkeypatch.setenv("SCALERIGHT_DATA", str(place.data))
    code, _out, err = scaleright("sweep", "-p", "hours=1", "--scheduler", dask.address)
    assert code == 1 and re.search(
        r"worker tcp://\S+ has another data\ninstall this very checkout there", err
    )


def test_workers_that_differ_in_a_version_are_named(monkeypatch):
    here = {"library": "a" * 64, "numpy": "2.4"}
    found = {
        "tcp://a:1": here,
        "tcp://b:1": here | {"numpy": "1.0", "library": "b" * 64},
        "tcp://c:1": ModuleNotFoundError("no scaleright"),
    }
    monkeypatch.setattr(sweep, "fingerprint", lambda: here)
    client = type("Client", (), {"run": lambda *_, **__: found})()
    with pytest.raises(PressError) as caught:
        sweep._compare(client)
    said = str(caught.value).splitlines()
    assert said[0] == "worker tcp://b:1 has another library, another numpy 1.0 instead of 2.4"
    assert (
        said[1] == "worker tcp://c:1 cannot run scenarios: ModuleNotFoundError: no scaleright"
        and len(said) == 3
    )


def test_what_is_no_scheduler_is_said_so(scaleright, monkeypatch):
    monkeypatch.setattr(sweep, "CONNECT_S", 1)
    with socket.create_server(("127.0.0.1", 0)) as other:  # and keeps silent
        code, _out, err = scaleright(
            "sweep", "-p", "hours=1", "--scheduler", f"tcp://127.0.0.1:{other.getsockname()[1]}"
        )
    assert code == 1 and "what listens there is no Dask scheduler" in err and "Traceback" not in err


@pytest.fixture
def there(tmp_path):
    """A scheduler of this test's own, without a worker."""
    there = Cluster(tmp_path, threads=0)
    yield there
    there.end()


def kill_worker(there: Cluster) -> None:
    worker = psutil.Process(there.worker.pid)
    for process in [worker, *worker.children(recursive=True)]:
        process.kill()
    there.worker.wait()


def test_a_cluster_without_workers_or_that_loses_them_or_its_scheduler(
    scaleright, place, there, monkeypatch
):
    add = sweep.Journal.add

    def sweep_and(loss):
        monkeypatch.setattr(sweep.Journal, "add", lambda *line: (add(*line), loss()))
        case = ["-p", "hours=1,2,3,4,5,6", "-p", "mishap=dawdles"]
        return scaleright("sweep", *case, "--scheduler", there.address)

    def worker_lost():
        kill_worker(there)
        monkeypatch.setattr(sweep, "WORKERS_S", 1)

    monkeypatch.setattr(sweep, "WORKERS_S", 1)
    code, out, err = sweep_and(lambda: None)
    assert code == 1 and "waiting up to 1 s for 1" in out
    assert "0 of 1 workers at" in err and "start some there" in err

    monkeypatch.setattr(sweep, "WORKERS_S", GUARD_S)
    there.start_worker(1)
    code, out, err = sweep_and(worker_lost)
    assert code == 1 and "no worker is left, and none has come for 1 s" in err
    assert "1 of 6 scenarios are done and kept" in out

    monkeypatch.setattr(sweep, "WORKERS_S", GUARD_S)
    there.start_worker(1)
    code, out, err = sweep_and(there.scheduler.kill)
    assert code == 1 and "the Dask scheduler is lost" in err and "Traceback" not in err
    done = kept(place.root / "out")
    assert "1 of 6 scenarios done before" in out and done >= 2
    assert f"{done} of 6 scenarios are done and kept" in out


def test_a_scenario_whose_workers_all_die_fails_and_one_whose_answer_was_lost_runs_again():
    from distributed import CancelledError, KilledWorker

    def outcome(error):
        return sweep._outcome(
            type("Future", (), {"result": lambda *_, **__: (_ for _ in ()).throw(error)})()
        )

    assert outcome(KilledWorker("scenario", None, 3)) == {"error": "each worker that ran it died"}
    assert outcome(ModuleNotFoundError("no scaleright")) == {
        "error": "ModuleNotFoundError: no scaleright"
    }
    assert outcome(TimeoutError()) is None
    with pytest.raises(PressError, match="scheduler is lost"):
        outcome(CancelledError())


def test_a_full_disk_keeps_what_was_finished(scaleright, place, dask, monkeypatch):
    sync, calls = os.fsync, []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    code, out, err = scaleright("sweep", "-p", "hours=1,2,3,4", "--scheduler", dask.address)
    assert code == 1 and "the disk is full" in err and "2 of 4 scenarios are done and kept" in out


def test_a_sweep_may_be_conducted_from_python(place, dask):
    said: list[str] = []
    given = [("hours", "5"), ("mishap", "none,warns"), ("plan", "spot,on demand")]
    done = sweep.sweep(
        place, "sweep", given, place.root / "mine", scheduler=dask.address, say=said.append
    )
    assert (done.scenarios, done.drawn, said) == (4, "usd", []) and len(done.errors) == 2, (
        "a warning is one each time"
    )
    assert all(
        (place.root / "mine" / name).exists()
        for name in (sweep.TABLE, sweep.TWIN, sweep_chart.PAGE, sweep_chart.PICTURE)
    )
