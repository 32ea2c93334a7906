"""Sweeps: every value checked first, every finished scenario kept, every loss survived, on one
machine or on a cluster.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import json
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import psutil
import pytest
from distributed import CancelledError, KilledWorker
from scaleright import cli
from scaleright.charts.machine import ANSWER_MIME
from scaleright.press import Book, PressError, execute
from scaleright.press.execute import Job, run_all
from scaleright.press.parameters import ParameterError, parse
from scaleright.press.sweep import cluster, conduct, picture, results, scenario
from scaleright.press.sweep.grid import read_grid

ROOT = Path(__file__).resolve().parents[1]
IDENTITY = {"chapter": "sweep", "grid": {"hours": [1, 2]}, "text": "a", "data": "b"}
ONE = {
    "text": "1 hour",
    "quantities": {"usd": {"value": 1.5, "unit": "usd"}, "count": {"value": 3, "unit": ""}},
}


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


def start(*arguments: str, book: Book | None = None) -> subprocess.Popen:
    """The command in a process of its own, in a group of its own as a terminal makes it."""
    command = [
        sys.executable,
        "-c",
        "from scaleright.cli import main; main()",
        "sweep",
        "sweep",
        *arguments,
        "--out",
        "out",
    ]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=book.root,
        start_new_session=True,
    )


def wait_for(what, limit: float = 60.0):
    deadline = time.monotonic() + limit
    while not (found := what()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def kept(out: Path) -> int:
    """Scenarios in a journal."""
    return (
        max(0, (out / results.JOURNAL).read_bytes().count(b"\n") - 1)
        if (out / results.JOURNAL).exists()
        else 0
    )


def gone(processes: list[psutil.Process], limit: float = 10.0) -> bool:
    """Whether all processes end in time; one that nobody has collected yet has ended."""

    def over(process):
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE

    return wait_for(lambda: all(map(over, processes)), limit)


# Values


def test_values_are_refused_all_at_once_with_the_nearest_choice():
    lines = (
        'hours: int = 8  # use [h] (0..24)\nchip: str = "RTX 4090"  # what to rent'
        ' (accelerators)\nplan: str = "spot"  # how (spot | on demand)'
    )
    given = [
        ("hours", "4,many,30,4"),
        ("chip", "H100 SXM,H10,h100 sxm"),
        ("plan", ""),
        ("plan", "spot,"),
        ("houres", "1,2"),
    ]
    with pytest.raises(ParameterError) as caught:
        read_grid(parse(lines), given)
    said = "\n".join(caught.value.problems)
    for part in (
        "hours = 'many': needs a whole number",
        "hours = 30: outside 0 to 24 h",
        "hours = 4: given twice",
        "chip = 'H10': unknown accelerator; nearest: H100",
        "chip = H100 SXM: given twice",
        "plan: an empty value; give one or more",
        "houres: no such parameter; nearest: hours",
    ):
        assert part in said
    assert said.count("no such parameter") == 1


@pytest.mark.parametrize(
    "name, said",
    [("hours", "hours: an empty value; give one or more"), ("houres", "houres: no such parameter")],
)
def test_an_empty_list_is_refused(name, said):
    with pytest.raises(ParameterError, match=said):
        read_grid(parse("hours: int = 8  # use [h] (0..24)"), [(name, "")])


def test_a_value_may_have_a_comma_and_be_left_to_the_book():
    lines = 'name: str = "a"  # any name\nrent: float | None = None  # rent [USD/h] (0..9)'
    assert read_grid(parse(lines), [("name", '"a, b",c'), ("rent", "none, 2"), ("name", "d")]) == {
        "name": ["a, b", "c", "d"],
        "rent": [None, 2.0],
    }


def test_a_grid_too_large_for_notebooks_is_refused():
    lines = "\n".join(f"{name}: int = 1  # a number (0..999)" for name in "abc")
    with pytest.raises(ParameterError, match="the grid has 125,000 scenarios; at most 100,000"):
        read_grid(parse(lines), [(name, ",".join(map(str, range(50)))) for name in "abc"])


@pytest.mark.parametrize(
    "arguments, code, says",
    [
        (["swep", "-p", "hours=1"], 1, "unknown chapter 'swep'; nearest: sweep"),
        (["sweep"], 2, "Missing option '-p'"),
        (["sweep", "-p", "hours"], 2, "expected NAME=VALUE"),
        (["sweep", "-p", "hours=0,1"], 1, "hours = 0: outside 1 to 1,000 h"),
        (["sweep", "-p", "hours=1", "--workers", "0"], 2, "0 is not in the range"),
        (["sweep", "-p", "hours=1", "--out", "book/_toc.yml"], 2, "is a file"),
        (
            ["sweep", "-p", "hours=1", "--out", "book/_toc.yml/out"],
            1,
            "Not a directory: book/_toc.yml/out",
        ),
        (
            ["sweep", "-p", "hours=1", "--scheduler", "somewhere"],
            1,
            "expected an address such as tcp://HOST:8786",
        ),
        (
            ["sweep", "-p", "hours=1", "--scheduler", "udp://127.0.0.1:8786"],
            1,
            "expected an address",
        ),
        (
            ["sweep", "-p", "hours=1", "--scheduler", "tcp://127.0.0.1:99999"],
            1,
            "expected an address",
        ),
        (
            ["sweep", "-p", "hours=1", "--scheduler", "tcp://127.0.0.1:9"],
            1,
            "nobody answers there: Connection refused",
        ),
        (["mute", "-p", "hours=1"], 1, "mute has no cell tagged answer after its parameters"),
    ],
)
def test_wrong_input_is_refused_before_any_work(
    scaleright, place, monkeypatch, arguments, code, says
):
    monkeypatch.setattr(cluster, "connected", lambda *_: pytest.fail("work began"))
    place.text("mute").write_text(place.text("sweep").read_text().replace("[answer]", "[other]"))
    got, out, err = scaleright(*arguments)
    assert (got, out) == (code, "") and says in err and "Traceback" not in err


# What is kept


def test_a_journal_is_taken_up_where_it_ends_even_in_the_middle_of_a_line(tmp_path):
    with results.Journal(tmp_path, IDENTITY) as journal:
        journal.add({"hours": 1}, ONE)
        journal.add({"hours": 2}, {"error": "no"})
    path = tmp_path / results.JOURNAL
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"values": {"hours": 3}, "te')
    with results.Journal(tmp_path, IDENTITY) as journal:
        assert [journal.answered({"hours": hours}) for hours in (1, 2, 3)] == [
            True,
            False,
            False,
        ], "a failed one runs again"
        journal.add({"hours": 2}, ONE)
        frame, kinds = results.table([{"hours": 1}, {"hours": 2}, {"hours": 3}], journal)
    assert path.read_bytes().startswith(whole) and all(
        map(json.loads, path.read_text().splitlines())
    )
    assert (
        kinds == {"usd": "usd", "count": ""}
        and frame["hours"].to_list() == [1, 2]
        and frame["error"].isna().all()
    )


def test_a_table_keeps_whole_numbers_whole_and_names_apart(tmp_path):
    same = {"quantities": {"hours": {"value": 1.0, "unit": "h"}}, "text": "one"}
    with results.Journal(tmp_path, IDENTITY) as journal:
        for hours, outcome in ((1, ONE), (2, {"error": "no"}), (3, same)):
            journal.add({"hours": hours}, outcome)
        frame, kinds = results.table(({"hours": hours} for hours in (3, 2, 1)), journal)
    results.write(tmp_path, frame, kinds, parse("hours: int = 8  # use [h] (0..24)"), "A sweep")
    assert (tmp_path / results.TABLE).read_text().splitlines() == [
        "hours,answer_hours,usd,count,answer,error",
        "3,1.0,,,one,",
        "2,,,,,no",
        "1,,1.5,3,1 hour,",
    ]
    twin = json.loads((tmp_path / results.TWIN).read_text())
    assert (
        twin["schema"]["fields"][0] == {"name": "hours", "type": "integer", "unit": "h"}
        and twin["data"][2]["count"] == 3
    )


@pytest.mark.parametrize(
    "name, value",
    [
        ("chapter", "other"),
        ("grid", {"hours": [1]}),
        ("text", "c"),
        ("data", "c"),
        ("library", "c"),
    ],
)
def test_a_folder_of_another_sweep_is_refused_unless_it_may_be_dropped(tmp_path, name, value):
    with results.Journal(tmp_path, IDENTITY) as journal:
        journal.add({"hours": 1}, ONE)
    with pytest.raises(
        PressError,
        match=rf"holds a sweep of sweep with another {name}, .*; give another --out, or --fresh",
    ):
        results.Journal(tmp_path, IDENTITY | {name: value})
    with results.Journal(tmp_path, IDENTITY | {name: value}, fresh=True) as journal:
        assert not journal.answered({"hours": 1})


def test_what_no_sweep_has_left_is_not_overwritten(tmp_path):
    (tmp_path / results.TABLE).write_text("mine")
    with pytest.raises(PressError, match=r"has a sweep.csv that no sweep has left"):
        results.Journal(tmp_path, IDENTITY)
    (tmp_path / results.JOURNAL).write_text("mine\n")
    with pytest.raises(PressError, match="is no sweep's; give another --out"):
        results.Journal(tmp_path, IDENTITY)


def test_two_sweeps_do_not_write_into_one_folder(tmp_path):
    with (
        results.Journal(tmp_path, IDENTITY),
        pytest.raises(PressError, match="another sweep is writing into"),
    ):
        results.Journal(tmp_path, IDENTITY)
    results.Journal(tmp_path, IDENTITY).__exit__()


# On a cluster of other processes


class Cluster:
    """A Dask scheduler and its worker, started as anyone would."""

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


@pytest.fixture(scope="module")
def dask(tmp_path_factory):
    """A scheduler in another process, with a worker of two threads."""
    there = Cluster(tmp_path_factory.mktemp("dask"), threads=2)
    yield there
    there.end()


def rows(out: Path = Path("out")) -> list[dict[str, str]]:
    return list(csv.DictReader((out / results.TABLE).read_text().splitlines()))


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
        for line in (place.root / "out" / results.JOURNAL).read_text().splitlines()[1:]
    ]
    assert [
        {key: line[key] for key in ("text", "quantities")}
        for line in lines
        if line["values"]["hours"] == 7
    ] == answer


def test_what_goes_wrong_in_a_scenario_is_its_own_affair(scaleright, place, dask, monkeypatch):
    monkeypatch.setattr(execute, "CELL_TIMEOUT_S", 1)
    mishaps = ["none", "raises", "warns", "dies", "hangs"]
    code, _out, err = scaleright(
        "sweep", "-p", f"mishap={','.join(mishaps)}", "-p", "hours=2", "--scheduler", dask.address
    )
    assert (
        code == 1
        and "4 of 5 scenarios failed" in err
        and "code cell 4 ('import os'): ValueError: no price for 2 hours" in err
    )
    assert [row["mishap"] for row in rows()] == mishaps, "in the grid's order"
    assert rows()[0]["answer"] == "2 hours cost $2.40." and rows()[0]["error"] == ""
    errors = {row["mishap"]: row["error"] for row in rows()}
    assert (
        "code cell 4 ('import os') wrote to stderr" in errors["warns"]
        and "UserWarning: an old price" in errors["warns"]
    )
    assert errors["dies"] == "its process ended in code cell 4 ('import os'), 3 times"
    assert errors["hangs"] == "code cell 4 ('import os'): no end after 1 s"
    worker = psutil.Process(dask.worker.pid)
    assert wait_for(
        lambda: (
            not [
                child
                for child in worker.children(recursive=True)
                if "ipykernel_launcher" in " ".join(child.cmdline())
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
    monkeypatch.setattr(scenario, "fingerprint", lambda: here)
    client = type("Client", (), {"run": lambda *_, **__: found})()
    with pytest.raises(PressError) as caught:
        cluster._compare(client)
    said = str(caught.value).splitlines()
    assert said[0] == "worker tcp://b:1 has another library, another numpy 1.0 instead of 2.4"
    assert (
        said[1] == "worker tcp://c:1 cannot run scenarios: ModuleNotFoundError: no scaleright"
        and len(said) == 3
    )


def test_what_is_no_scheduler_is_said_so(scaleright, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_S", 1)
    with socket.create_server(("127.0.0.1", 0)) as other:  # and keeps silent
        code, _out, err = scaleright(
            "sweep", "-p", "hours=1", "--scheduler", f"tcp://127.0.0.1:{other.getsockname()[1]}"
        )
    assert code == 1 and "what listens there is no Dask scheduler" in err and "Traceback" not in err


def test_a_cluster_without_workers_or_that_loses_them_or_its_scheduler(
    scaleright, place, tmp_path, monkeypatch
):
    there = Cluster(tmp_path, threads=0)
    add = results.Journal.add

    def sweep_and(loss, *arguments):
        monkeypatch.setattr(results.Journal, "add", lambda *line: (add(*line), loss()))
        return scaleright(
            "sweep",
            "-p",
            "hours=1,2,3,4,5,6",
            "-p",
            "mishap=dawdles",
            "--scheduler",
            there.address,
            *arguments,
        )

    def worker_lost():
        family = [
            psutil.Process(there.worker.pid),
            *psutil.Process(there.worker.pid).children(recursive=True),
        ]
        for process in family:
            process.kill()
        there.worker.wait()
        monkeypatch.setattr(cluster, "WORKERS_S", 1)

    try:
        monkeypatch.setattr(cluster, "WORKERS_S", 1)
        code, out, err = sweep_and(lambda: None)
        assert (
            code == 1
            and "waiting up to 1 s for 1" in out
            and "0 of 1 workers at" in err
            and "start some there" in err
        )
        monkeypatch.setattr(cluster, "WORKERS_S", 60)

        there.start_worker(1)
        code, out, err = sweep_and(worker_lost)
        assert (
            code == 1
            and "no worker is left, and none has come for 1 s" in err
            and "1 of 6 scenarios are done and kept" in out
        )
        monkeypatch.setattr(cluster, "WORKERS_S", 60)

        there.start_worker(1)
        code, out, err = sweep_and(there.scheduler.kill)
        assert (
            code == 1
            and "the Dask scheduler is lost" in err
            and "Traceback" not in err
            and "1 of 6 scenarios done before" in out
        )
        assert (
            f"{kept(place.root / 'out')} of 6 scenarios are done and kept" in out
            and kept(place.root / "out") >= 2
        )
    finally:
        there.end()


def test_a_scenario_whose_workers_all_die_fails_and_one_whose_answer_was_lost_runs_again():
    def outcome(error):
        return cluster._outcome(
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


# On this machine


def test_a_killed_sweep_goes_on_and_ends_as_if_nothing_had_happened(scaleright, place):
    case = ["-p", "hours=" + ",".join(map(str, range(1, 13))), "-p", "mishap=dawdles", "--workers"]
    first = start(*case, "1", book=place)
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
    assert 3 <= before < 12 and not (place.root / "out" / results.TABLE).exists()

    second = start(*case, "2", book=place)
    out, err = second.communicate(timeout=60)
    assert (second.returncode, err) == (0, "") and f"{before} of 12 scenarios done before" in out
    assert [float(row["usd"]) for row in rows(place.root / "out")] == [
        round(1.2 * hours, 6) for hours in range(1, 13)
    ]
    code, again, _ = scaleright("sweep", *case, "1")
    assert code == 0 and again == out.replace(f"{before} of", "12 of")


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


def test_a_worker_that_is_killed_is_replaced(place):
    sweep = start(
        "-p", "hours=1,2,3,4,5,6,7,8", "-p", "mishap=dawdles", "--workers", "2", book=place
    )
    wait_for(lambda: kept(place.root / "out") >= 1)
    workers = [
        child
        for child in psutil.Process(sweep.pid).children()
        if "multiprocessing.spawn" in " ".join(child.cmdline())
    ]
    assert len(workers) == 2
    workers[0].kill()
    out, err = sweep.communicate(timeout=60)
    assert (sweep.returncode, err) == (0, "") and "table of 8 scenarios" in out


@pytest.mark.parametrize(
    "sent, code, to_all", [(signal.SIGINT, 130, True), (signal.SIGTERM, 143, False)]
)
def test_an_interrupted_sweep_leaves_no_process_and_a_table_of_what_is_done(
    place, sent, code, to_all
):
    sweep = start(
        "-p",
        "hours=" + ",".join(map(str, range(1, 101))),
        "-p",
        "mishap=dawdles",
        "--workers",
        "2",
        book=place,
    )
    wait_for(lambda: kept(place.root / "out") >= 2)
    children = psutil.Process(sweep.pid).children(recursive=True)
    (os.killpg if to_all else os.kill)(sweep.pid, sent)
    out, err = sweep.communicate(timeout=30)
    assert (sweep.returncode, err) == (code, "")
    assert re.search(
        r"\d+ of 100 scenarios are done and kept in out; the same command goes on from there", out
    )
    assert 0 <= kept(place.root / "out") - len(rows(place.root / "out")) <= 1, (
        "the signal may come while one is being written"
    )
    assert gone(children)


# The chart


FRAME = pd.DataFrame(
    [
        {
            "hours": hours,
            "plan": plan,
            "years": years,
            "chip": chip,
            "usd": hours * (1 + (plan == "spot")) * (years or 1),
            "said": plan,
        }
        for hours in (4, 8)
        for plan in ("spot", "on demand")
        for years in (None, 3.0)
        for chip in ("A", "B <i>")
    ]
)
LINES = """\
hours: int = 8  # use [h/day] (0..24)
plan: str = "spot"  # how it is paid (spot | on demand)
years: float | None = None  # years kept [year] (1..9)
chip: str = "A"  # what is rented"""


def test_a_chart_stands_alone_and_says_what_it_shows(tmp_path):
    assert picture.draw(tmp_path, FRAME, {"usd": "usd", "said": ""}, parse(LINES), "sweep") == "usd"
    page, svg = ((tmp_path / name).read_text() for name in (picture.PAGE, picture.PICTURE))
    words = (
        "sweep: usd [USD] over hours [h/day], a color for each plan, a panel for each years and"
        " chip: from $4.00 at hours 4, plan on demand, years default, chip A to $48.00 at hours 8,"
        " plan spot, years 3, chip A."
    )
    assert (
        f'aria-label="{words}"' in page
        and f'aria-label="{words}"' in svg
        and "years 3, chip B &lt;i&gt;" in svg
    )
    own = page[: page.index("<script>")] + page[page.rindex("<script>") :]
    assert not re.search(r'(src|href)="|@import|url\(', own) and "<i>" not in own
    first = page
    picture.draw(tmp_path, FRAME, {"usd": "usd", "said": ""}, parse(LINES), "sweep")
    assert (tmp_path / picture.PAGE).read_text() == first


def test_a_chart_of_names_runs_down_and_too_many_panels_are_said(tmp_path):
    frame = pd.DataFrame(
        {"chip": [f"chip {n}" for n in range(30)], "plan": ["a"] * 30, "usd": range(30)}
    )
    parameters = parse('chip: str = "a"  # what is rented\nplan: str = "a"  # how it is paid')
    assert picture.draw(tmp_path, frame, {"usd": "usd"}, parameters, "sweep") == "usd"
    assert "chip 29" in (tmp_path / picture.PICTURE).read_text()
    many = pd.DataFrame(
        {"hours": [1, 2] * 30, "chip": [f"chip {n // 2}" for n in range(60)], "usd": range(60)}
    )
    parameters = parse('hours: int = 8  # use [h] (0..24)\nchip: str = "a"  # what is rented')
    picture.draw(tmp_path, many, {"usd": "usd"}, parameters, "sweep")
    assert (
        "The first 24 of 30 panels; the table has them all."
        in (tmp_path / picture.PAGE).read_text()
    )


def test_an_answer_without_a_number_has_no_chart(tmp_path):
    assert picture.draw(tmp_path, FRAME, {"said": ""}, parse(LINES), "sweep") is None and not list(
        tmp_path.iterdir()
    )


def test_a_sweep_may_be_conducted_from_python(place, dask):
    said: list[str] = []
    given = [("hours", "5"), ("mishap", "none,warns"), ("plan", "spot,on demand")]
    done = conduct.sweep(
        place, "sweep", given, place.root / "mine", scheduler=dask.address, say=said.append
    )
    assert (done.scenarios, done.drawn, said) == (4, "usd", []) and len(done.errors) == 2, (
        "a warning is one each time"
    )
    assert all(
        (place.root / "mine" / name).exists()
        for name in (results.TABLE, results.TWIN, picture.PAGE, picture.PICTURE)
    )
