"""The press: what must run again, the same bytes each time, and no build that harms the last good site."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import altair as alt
import nbformat
import pandas as pd
import psutil
import pytest
from scaleright import charts
from scaleright.catalog import TABLES_MIME
from scaleright.press import Book, PressError, notebooks, site, staleness, write_whole
from scaleright.press.execute import ChapterError, Job, Run, answer, run_all
from scaleright.press.staleness import Inputs, tables_read


def executed(*tables: str, text: str = "") -> bytes:
    """A stand-in for an executed notebook that read these tables."""
    outputs = [{"output_type": "display_data", "data": {TABLES_MIME: {"tables": list(tables)}}}] if tables else []
    return json.dumps({"cells": [{"cell_type": "code", "source": text, "outputs": outputs}]}).encode()


def finish(book: Book, content: bytes | None = None) -> None:
    """Take the chapter for run."""
    Inputs(book).keep(Run(Job("tiny"), executed("prices") if content is None else content, 1.0))


def run(book: Book, *chapters: str, workers: int = 2, **values) -> list[Run]:
    done: list[Run] = []
    run_all(book, [Job(chapter, values) for chapter in chapters], workers, done.append)
    return done


def add(book: Book, name: str, code: str) -> None:
    """A chapter that ends with a cell of this code."""
    book.text(name).write_text(book.text("tiny").read_text() + f"\n```{{code-cell}} ipython3\n{code}\n```\n")


# What must run again


def test_a_chapter_is_fresh_until_something_it_depends_on_changes(book):
    assert Inputs(book).stale() == ["tiny"]
    finish(book)
    assert Inputs(book).stale() == []


@pytest.mark.parametrize(
    "name", ["notebooks/text/tiny.md", "requirements.txt", "book/references.bib", "data/datapackage.json", "data/prices.csv"]
)
def test_a_changed_input_makes_a_chapter_stale(book, name):
    finish(book)
    with open(book.root / name, "a") as file:
        file.write("\n")
    assert Inputs(book).stale() == ["tiny"]


def test_a_changed_library_makes_a_chapter_stale(book, monkeypatch):
    finish(book)
    monkeypatch.setattr(staleness, "library", lambda: "another")
    assert Inputs(book).stale() == ["tiny"]


@pytest.mark.parametrize("name", ["data/unread.csv", "book/index.md", "_config.yml"])
def test_what_a_chapter_does_not_read_leaves_it_fresh(book, name):
    finish(book)
    (book.root / name).write_text("changed")
    assert Inputs(book).stale() == []


def test_a_chapter_without_a_data_record_is_taken_to_read_every_table(book):
    finish(book, executed())
    (book.data / "unread.csv").write_text("changed")
    assert Inputs(book).stale() == ["tiny"]


def test_a_deleted_table_or_a_damaged_result_makes_a_chapter_stale(book):
    finish(book)
    book.executed("tiny").write_bytes(b"{}")
    assert Inputs(book).stale() == ["tiny"]
    finish(book)
    (book.data / "prices.csv").unlink()
    assert Inputs(book).stale() == ["tiny"]


def test_a_change_during_a_run_is_not_taken_for_run(book):
    inputs = Inputs(book)
    (book.data / "prices.csv").write_text("changed while running")
    inputs.keep(Run(Job("tiny"), executed("prices"), 1.0))
    assert Inputs(book).stale() == ["tiny"]


def test_the_librarys_hash_covers_what_chapters_import_and_not_the_press():
    assert staleness.library() == staleness.library()
    assert staleness._INSIDE_CHAPTERS and all((staleness._LIBRARY / name).is_file() for name in staleness._INSIDE_CHAPTERS)


# Running


def test_a_chapter_runs_to_the_same_bytes_and_bears_no_trace_of_the_run(book):
    first, second = run(book, "tiny")[0], run(book, "tiny")[0]
    assert first.content == second.content
    assert b"papermill" not in first.content and str(book.root).encode() not in first.content
    assert answer(first.content) == "10 useful hours cost $60.00."
    assert tables_read(first.content) == ["prices"]


def test_given_values_reach_the_chapter(book):
    assert answer(run(book, "tiny", hours=20, utilization=0.5)[0].content) == "20 useful hours cost $96.00."


def test_a_value_that_slips_past_the_front_door_is_refused_inside(book):
    with pytest.raises(ChapterError, match=r"tiny: code cell 3 .*ParameterError: utilization = 40: .* did you mean 0.4"):
        run(book, "tiny", utilization=40)


def test_failing_chapters_are_named_with_cell_and_error_and_the_others_are_kept(book):
    add(book, "broken", "# divide\n1 / 0")
    add(book, "noisy", "import warnings\nwarnings.warn('old data')")
    add(book, "dead", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    done: list[Run] = []
    with pytest.raises(ChapterError) as caught:
        run_all(book, [Job(c) for c in ("broken", "noisy", "dead", "tiny")], 2, done.append)
    message = str(caught.value)
    assert "broken: code cell 6 ('# divide'): ZeroDivisionError: division by zero" in message
    assert "noisy: code cell 6 ('import warnings') wrote to stderr" in message and "old data" in message
    assert "dead: the kernel ended" in message
    assert [r.job.chapter for r in done] == ["tiny"]


def test_a_malformed_parameter_line_fails_the_chapter(book):
    book.text("tiny").write_text(book.text("tiny").read_text().replace("(0.01..1)", ""))
    with pytest.raises(PressError, match="tiny, parameters cell, line 2: .*low..high"):
        run(book, "tiny")


def test_a_case_is_read_where_no_history_is_kept_and_a_changed_output_is_noticed(book):
    write_whole(book.notebook("tiny"), run(book, "tiny")[0].content)
    nbval = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "-p", "no:cacheprovider", str(book.notebook("tiny"))]
    assert subprocess.run(nbval, cwd=book.root).returncode == 0
    write_whole(book.notebook("tiny"), book.notebook("tiny").read_text().replace("$60.00", "$61.00"))
    assert subprocess.run(nbval, cwd=book.root).returncode == 1


# What outputs hand to machines


def test_an_answer_carries_its_sentence_and_its_quantities():
    live = charts.controls(SimpleNamespace(parameters=()))
    card = charts.answer_card(
        "It costs {cost} for {who}.", range="{low} to $3", controls=live, cost=live.number("usd", alt.datum.x, 2 / 3, "usd"),
        who=live.words("name", alt.datum.y, "you"), low="$1",
        quantities={"hours": (float("inf"), "hours"), "low": (1.0, "usd")},
    )
    carried = card.bundle[charts.machine.ANSWER_MIME]
    assert carried["text"] == "It costs $0.667 for you." and str(card) == carried["text"] + " Range: $1 to $3."
    assert carried["quantities"] == {
        "usd": {"value": 0.666666666667, "unit": "usd"}, "name": {"value": "you", "unit": ""}, "hours": {"value": None, "unit": "hours"},
        "low": {"value": 1.0, "unit": "usd"},
    }


def test_a_table_carries_its_raw_numbers_with_types_and_units():
    rows = pd.DataFrame(
        {
            "chip": ["A", None], "price": [2 / 3, None], "months [months]": [float("inf"), 3], "count": pd.array([1, None], dtype="Int64"),
            "day": pd.to_datetime(["2026-09-29", None]), "sold": [True, False], "mixed": ["no", 1],
        }
    )
    shown = charts.table(rows, "Prices, new: all of them", {"price": "usd", "months [months]": str})
    carried = shown.bundle[charts.machine.TABLE_MIME]
    assert charts.folded(shown, "more").bundle[charts.machine.TABLE_MIME] == carried and carried["name"] == "prices"
    kinds = {field["name"]: (field["type"], field.get("unit", "")) for field in carried["schema"]["fields"]}
    assert kinds == {
        "chip": ("string", ""), "price": ("number", "USD"), "months [months]": ("number", ""), "count": ("integer", ""),
        "day": ("date", ""), "sold": ("boolean", ""), "mixed": ("string", ""),
    }
    assert carried["data"] == [
        {"chip": "A", "price": 0.666666666667, "months [months]": "INF", "count": 1, "day": "2026-09-29", "sold": True, "mixed": "no"},
        {"chip": None, "price": None, "months [months]": 3.0, "count": None, "day": None, "sold": False, "mixed": "1"},
    ]
    cell = nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output("display_data", data=shown.bundle)])
    nbformat.validate(nbformat.v4.new_notebook(cells=[cell]))


# Files and the swap


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "a.txt"
    assert write_whole(target, "one") and not write_whole(target, "one")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(target, "two")
    assert target.read_text() == "one" and list(tmp_path.iterdir()) == [target]


def rendered(book: Book, text: str) -> Path:
    folder = book.build / "render" / "_build" / "html"
    shutil.rmtree(folder, ignore_errors=True)
    write_whole(folder / "index.html", text)
    return folder


def shown(book: Book) -> str:
    return (book.build / "html" / "index.html").read_text()


def test_a_swap_replaces_the_whole_site(book):
    site.swap(book, rendered(book, "one"), "key")
    site.swap(book, rendered(book, "two"), "key")
    assert shown(book) == "two"
    assert {p.name for p in book.build.iterdir()} == {"html", "render"}


@pytest.mark.parametrize("function", ["copyfile", "rename"])
def test_a_full_disk_leaves_the_last_good_site(book, monkeypatch, function):
    site.swap(book, rendered(book, "good"), "key")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil if function == "copyfile" else os, function, full)
    with pytest.raises(OSError, match="No space left"):
        site.swap(book, rendered(book, "new"), "key")
    assert shown(book) == "good"


def test_a_build_killed_between_the_two_renames_is_put_right(book):
    site.swap(book, rendered(book, "good"), "key")
    (book.build / "html").rename(book.build / "html.previous")
    (book.build / "html.next").mkdir()
    (book.root / "notebooks" / ".tiny.ipynb.1.part").write_text("half")
    site.recover(book)
    assert shown(book) == "good"
    assert {p.name for p in book.build.iterdir()} == {"html", "render"}
    assert not list((book.root / "notebooks").glob(".*"))


# The whole command


def scaleright(book: Book, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", "from scaleright.cli import main; main()", *arguments],
                          cwd=book.root, capture_output=True, text=True, timeout=120)


def test_a_book_is_built_once_rebuilt_when_changed_and_survives_a_bad_chapter(book):
    built = scaleright(book, "book")
    assert built.returncode == 0, built.stderr
    assert "10 useful hours cost $60.00." in (book.build / "html" / "notebooks" / "tiny.html").read_text()
    assert "out of date: tiny" in built.stdout

    start = time.perf_counter()
    again = scaleright(book, "book")
    assert again.returncode == 0 and "nothing changed" in again.stdout
    assert time.perf_counter() - start < 3

    write_whole(book.text("tiny"), book.text("tiny").read_text() + "\n```{code-cell} ipython3\nraise ValueError('no')\n```\n")
    before = (book.build / "html" / "notebooks" / "tiny.html").read_bytes()
    failed = scaleright(book, "book")
    assert failed.returncode == 1 and "tiny: code cell 6" in failed.stderr and "Traceback" not in failed.stderr
    assert (book.build / "html" / "notebooks" / "tiny.html").read_bytes() == before

    shutil.copy(Path(__file__).parent / "fixtures" / "tiny.md", book.text("tiny"))
    write_whole(book.root / "book" / "index.md", "# A small book\n\nSee [](nowhere.md).\n")
    for _ in range(2):  # a warning must not pass the second time because Sphinx has read the page once
        failed = scaleright(book, "book")
        assert failed.returncode == 1 and "nowhere" in failed.stderr
    assert (book.build / "html" / "notebooks" / "tiny.html").read_bytes() == before

    write_whole(book.root / "book" / "index.md", "# A smaller book\n")
    assert scaleright(book, "book").returncode == 0
    assert "A smaller book" in (book.build / "html" / "notebooks" / "tiny.html").read_text(), "the title shows on every page"


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_build_leaves_no_process_and_the_last_good_site(book, sent, code):
    site.swap(book, rendered(book, "good"), "key")
    add(book, "slow", f"open({str(book.root / 'started')!r}, 'w').close()\nimport time\ntime.sleep(60)")
    build = subprocess.Popen([sys.executable, "-c", "from scaleright.cli import main; main()", "book"], cwd=book.root,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (book.root / "started").exists():
        assert time.monotonic() < deadline and build.poll() is None
        time.sleep(0.05)
    children = psutil.Process(build.pid).children(recursive=True)
    assert len(children) >= 2, "a worker and its kernel"
    start = time.monotonic()
    build.send_signal(sent)
    _, errors = build.communicate(timeout=30)
    assert build.returncode == code and "Traceback" not in errors, errors
    assert time.monotonic() - start < 10
    assert not psutil.wait_procs(children, timeout=3)[1]
    assert shown(book) == "good"
    assert not list(book.root.rglob("*.part")) and not book.executed("slow").exists()


# Stored notebooks


def test_stored_notebooks_follow_the_executed_ones(book):
    finish(book)
    write_whole(book.notebook("gone"), "{}")
    assert notebooks.outdated(book) == ["gone", "tiny"]
    assert notebooks.store(book) == ["gone", "tiny"]
    assert notebooks.outdated(book) == []
    assert book.notebook("tiny").read_bytes() == book.executed("tiny").read_bytes()
    assert not book.notebook("gone").exists()
