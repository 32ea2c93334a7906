"""Running chapters: the same bytes each time, in kernels of their own; failures name their cell."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from press_cases import add, run
from scaleright.press import PressError, write_whole
from scaleright.press.execute import ChapterError, Job, Run, answer, run_all
from scaleright.press.staleness import tables_read

pytestmark = pytest.mark.processes


def test_a_chapter_runs_to_the_same_bytes_and_bears_no_trace_of_the_run(book):
    first, second = run(book, "tiny")[0], run(book, "tiny")[0]
    assert first.content == second.content
    assert b"papermill" not in first.content and str(book.root).encode() not in first.content
    assert answer(first.content) == "10 useful hours cost $60.00."
    assert tables_read(first.content) == ["prices"]


def test_given_values_reach_the_chapter(book):
    assert (
        answer(run(book, "tiny", hours=20, utilization=0.5)[0].content)
        == "20 useful hours cost $96.00."
    )


def test_a_value_that_slips_past_the_front_door_is_refused_inside(book):
    with pytest.raises(
        ChapterError,
        match=r"tiny/busy: code cell 3 .*ParameterError: utilization = 40: .* did you mean 0.4",
    ):
        run_all(book, [Job("tiny", {"utilization": 40}, "busy")], 1, pytest.fail)


def test_failing_chapters_are_named_with_cell_and_error_and_the_others_are_kept(book):
    add(book, "broken", "# divide\n1 / 0")
    add(book, "noisy", "import warnings\nwarnings.warn('old data')")
    add(book, "dead", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    done: list[Run] = []
    with pytest.raises(ChapterError) as caught:
        run_all(book, [Job(c) for c in ("broken", "noisy", "dead", "tiny")], 2, done.append)
    message = str(caught.value)
    assert "broken: code cell 6 ('# divide'): ZeroDivisionError: division by zero" in message
    assert (
        "noisy: code cell 6 ('import warnings') wrote to stderr" in message
        and "old data" in message
    )
    assert "dead: code cell 6 ('import os, signal') ended the kernel" in message
    assert [r.job.chapter for r in done] == ["tiny"]


def test_a_cell_that_shows_too_much_or_loses_its_worker_is_named_and_costs_nobody_else(book):
    add(book, "flood", "# words\nwhile True:\n    print('word ' * 100_000)")
    add(book, "blob", "display({'text/plain': 'x' * 20_000_000}, raw=True)")
    add(book, "wordy", "raise ValueError('x' * 1_000_000)")
    text = book.text("tiny").read_text(encoding="utf-8")
    write_whole(book.text("mute"), text.replace("\n\nAnswer()\n", "\n"))
    add(book, "lost", "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)")
    done: list[Run] = []
    jobs = [Job(chapter) for chapter in ("flood", "blob", "wordy", "mute", "lost", "tiny")]
    with pytest.raises(ChapterError) as caught:
        run_all(book, jobs, 6, done.append)
    said = {line.partition(":")[0]: line for line in str(caught.value).splitlines()}
    assert "code cell 6 ('# words') showed more than 10,000,000 characters" in said["flood"]
    assert "code cell 6 (" in said["blob"] and "showed more than" in said["blob"]
    assert "code cell 6 (" in said["wordy"] and len(said["wordy"]) < 3_000
    assert "code cell 3 ('class Answer:')" in said["mute"] and "shows nothing" in said["mute"]
    assert said["lost"] == "lost: its worker ended with exit code -9"
    assert [r.job.chapter for r in done] == ["tiny"]


def test_kernels_are_spoken_to_through_files_that_are_gone_afterwards(book):
    """Ports are chosen before they are bound: of many kernels at once, one would find its port
    taken and die.
    """
    add(
        book,
        "told",
        "import json\nfrom ipykernel import get_connection_info\nfound ="
        " json.loads(get_connection_info())\nfound['transport'], found['ip']",
    )
    cells = [json.loads(done.content)["cells"][-1] for done in run(book, *["told"] * 6, workers=6)]
    told = [ast.literal_eval("".join(cell["outputs"][0]["data"]["text/plain"])) for cell in cells]
    assert {transport for transport, _ in told} == {"ipc"} and len({at for _, at in told}) == 6
    assert not any(Path(at).parent.exists() for _, at in told)


def test_a_warm_kernel_gives_what_a_fresh_one_gives_and_knows_nothing_of_the_run_before(book):
    add(
        book,
        "left",
        "import os, altair\nos.environ['LEFT'] = 'x'\naltair.left = left = 1\nprint(os.getcwd(),"
        " __name__)",
    )
    add(
        book,
        "found",
        "import os, altair\n('LEFT' in os.environ, hasattr(altair, 'left'), 'left' in globals(),"
        " os.getsid(0) == os.getpid())",
    )
    warm = {
        done.job.chapter: done.content for done in run(book, "left", "tiny", "found", workers=1)
    }
    assert warm == {chapter: run(book, chapter)[0].content for chapter in ("left", "tiny", "found")}
    assert json.loads(warm["found"])["cells"][-1]["outputs"][0]["data"]["text/plain"] == [
        "(False, False, False, True)"
    ]


def test_a_malformed_parameter_line_fails_the_chapter(book):
    book.text("tiny").write_text(book.text("tiny").read_text().replace("(0.01..1)", ""))
    with pytest.raises(PressError, match=r"tiny, parameters cell, line 2: .*low..high"):
        run(book, "tiny")


def test_a_case_is_read_where_no_history_is_kept_and_a_changed_output_is_noticed(book):
    write_whole(book.notebook("tiny"), run(book, "tiny")[0].content)
    nbval = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval",
        "--nbval-current-env",
        "-p",
        "no:cacheprovider",
        str(book.notebook("tiny")),
    ]
    assert subprocess.run(nbval, check=False, cwd=book.root).returncode == 0
    write_whole(
        book.notebook("tiny"), book.notebook("tiny").read_text().replace("$60.00", "$61.00")
    )
    assert subprocess.run(nbval, check=False, cwd=book.root).returncode == 1
