"""Running chapters: the same bytes each time, in a process each; failures name their cell."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest
from press_cases import add
from scaleright.files import write_whole
from scaleright.press import Book, execute, pool
from scaleright.press.execute import ChapterError, Job, answer, run_all
from scaleright.press.staleness import tables_read
from small_book import small_book

pytestmark = pytest.mark.processes

LAST_CELLS = {
    "left": """\
import os, altair
os.environ['LEFT'] = 'x'
altair.left = left = 1
print(os.getcwd(), __name__)""",
    "found": """\
import os, altair
leads = os.getsid(0) == os.getpid()
('LEFT' in os.environ, hasattr(altair, 'left'), 'left' in globals(), leads)""",
    "broken": "# divide\n1 / 0",
    "noisy": "import warnings\nwarnings.warn('old data')",
    "dead": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "flood": "# words\nwhile True:\n    print('word ' * 100_000)",
    "blob": "display({'text/plain': 'x' * 20_000_000}, raw=True)",
    "wordy": "raise ValueError('x' * 1_000_000)",
    "lost": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)",
}


@dataclass
class Ran:
    """What runs gave: contents by the runs' labels, and what was said of those that failed."""

    contents: dict[str, list[bytes]] = field(default_factory=dict)
    said: str = ""

    def one(self, label: str) -> bytes:
        (content,) = set(self.contents[label])
        return content

    def of(self, label: str) -> str:
        """The line about one that failed."""
        assert label not in self.contents
        (line,) = (line for line in self.said.splitlines() if line.startswith(label))
        return line

    def shown(self, label: str) -> list:
        """What the last cell of each run of this label has shown."""
        cells = [json.loads(content)["cells"][-1] for content in self.contents[label]]
        return [ast.literal_eval("".join(c["outputs"][0]["data"]["text/plain"])) for c in cells]


def ran(book: Book, jobs: Iterable[Job], workers: int) -> Ran:
    found = Ran()
    try:
        run_all(
            book,
            jobs,
            workers,
            lambda run: found.contents.setdefault(run.job.label, []).append(run.content),
        )
    except ChapterError as error:
        found.said = str(error)
    return found


def named(chapter: str, scenario: str, **values: object) -> Job:
    return Job(chapter, values, scenario)


@pytest.fixture(scope="module")
def chapters(tmp_path_factory) -> Book:
    """The small book with chapters for all that may happen in a run."""
    book = small_book(tmp_path_factory.mktemp("running"))
    for name, code in LAST_CELLS.items():
        add(book, name, code)
    text = book.text("tiny").read_text(encoding="utf-8")
    write_whole(book.text("mute"), text.replace("\n\nAnswer()\n", "\n"))
    write_whole(book.text("malformed"), text.replace("(0.01..1)", ""))
    return book


@pytest.fixture(scope="module")
def warm(chapters) -> Ran:
    """Runs one after the other, in processes forked from one."""
    cases = [
        named("tiny", "given", hours=20, utilization=0.5),
        named("tiny", "wrong", utilization=40),
    ]
    failing = "broken", "noisy", "dead", "malformed", "mute", "flood", "blob", "wordy"
    jobs = [Job("left"), *cases, *map(Job, failing), Job("tiny"), Job("found"), Job("lost")]
    return ran(chapters, jobs, 1)


@pytest.fixture(scope="module")
def fresh(chapters) -> Ran:
    """Runs two at a time, each in an interpreter of its own."""
    jobs = map(Job, ("broken", "left", "tiny", "found", "tiny"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pool, "_worth_warming", lambda *_: False)
        return ran(chapters, jobs, 2)


def test_a_chapter_runs_to_the_same_bytes_and_bears_no_trace_of_the_run(fresh, chapters):
    assert len(fresh.contents["tiny"]) == 2
    content = fresh.one("tiny")
    assert b"papermill" not in content and str(chapters.root).encode() not in content
    assert answer(content) == "10 useful hours cost $60.00."
    assert tables_read(content) == ["prices"]


def test_a_warm_process_gives_what_a_fresh_one_gives_and_knows_nothing_of_the_run_before(
    warm, fresh
):
    for chapter in ("left", "tiny", "found"):
        assert warm.one(chapter) == fresh.one(chapter)
    assert warm.shown("found") == [(False, False, False, True)]


def test_given_values_reach_the_chapter(warm):
    assert answer(warm.one("tiny/given")) == "20 useful hours cost $96.00."


def test_a_value_that_slips_past_the_front_door_is_refused_inside(warm):
    line = warm.of("tiny/wrong")
    assert line.startswith("tiny/wrong: code cell 3 ") and "did you mean 0.4" in line
    assert "ParameterError: utilization = 40: " in line


def test_a_malformed_parameter_line_fails_the_chapter(warm):
    line = warm.of("malformed")
    assert line.startswith("malformed, parameters cell, line 2: ") and "low..high" in line


def test_failing_chapters_are_named_with_cell_and_error_and_the_others_are_kept(warm, fresh):
    for runs in (warm, fresh):
        said = runs.of("broken")
        assert said == "broken: code cell 6 ('# divide'): ZeroDivisionError: division by zero"
    noisy = warm.of("noisy")
    assert "code cell 6 ('import warnings') wrote to stderr" in noisy and "old data" in warm.said
    assert "code cell 6 ('import os, signal') ended its process" in warm.of("dead")
    assert "code cell 3 ('class Answer:')" in warm.of("mute") and "shows nothing" in warm.of("mute")
    assert set(warm.contents) == {"left", "tiny/given", "tiny", "found", "lost"}


def test_a_cell_that_shows_too_much_is_named(warm):
    said = "showed more than 10,000,000 characters"
    assert f"code cell 6 ('# words') {said}" in warm.of("flood")
    assert "code cell 6 (" in warm.of("blob") and "showed more than" in warm.of("blob")
    assert "code cell 6 (" in warm.of("wordy") and len(warm.of("wordy")) < 3_000


def test_the_process_that_runs_are_forked_from_may_be_lost(warm, chapters):
    """A run that it has started goes on, and the next one starts another."""
    assert warm.contents["lost"] and set(ran(chapters, [Job("tiny")] * 2, 1).contents) == {"tiny"}


def test_a_cell_that_does_not_end_is_named(chapters, monkeypatch):
    monkeypatch.setattr(execute, "CELL_TIMEOUT_S", 2)
    monkeypatch.setattr(pool, "_LOOK_S", 0.2)
    add(chapters, "endless", "import time\ntime.sleep(600)")
    said = "endless: code cell 6 ('import time') had not ended after 2 s"
    assert ran(chapters, [Job("endless")], 1).said == said


def test_a_case_is_read_where_no_history_is_kept_and_a_changed_output_is_noticed(fresh, tmp_path):
    content = fresh.one("tiny")
    book = small_book(tmp_path)
    write_whole(book.notebook("changed"), content.replace(b"$60.00", b"$61.00"))
    nbval = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--nbval"]
    done = subprocess.run(
        [*nbval, "--nbval-current-env", "-rA", "notebooks"],
        check=False,
        cwd=book.root,
        capture_output=True,
        text=True,
    )
    ends = re.findall(r"^(PASSED|FAILED) .*/(\w+)\.ipynb::Cell (\d)", done.stdout, re.MULTILINE)
    assert len(ends) == 5 and done.returncode == 1, done.stdout
    assert [place for end, *place in ends if end == "FAILED"] == [["changed", "2"]], done.stdout
