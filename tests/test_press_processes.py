"""Nothing outlives a build, however it ends, and the last good site stands."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from press_cases import add, finish, rendered, scaleright, shown
from scaleright.press import processes, site
from scaleright.press.execute import load, normalize

pytestmark = pytest.mark.processes

GUARD_S = 300
"""No verdict on speed: a test that waits for so long hangs."""
SIGNALS = {
    "Ctrl-C": (signal.SIGINT, 130, "signal.default_int_handler"),
    "a request to end": (signal.SIGTERM, 143, "signal.default_int_handler"),
    "a request to end a background job": (signal.SIGTERM, 143, "signal.SIG_IGN"),
    "a kill": (signal.SIGKILL, -9, "signal.default_int_handler"),
}
SLOW_EXTENSION = """\
import time

def tell(app, *_):
    open({pipe!r}, "w").write("here")
    time.sleep(3600)

def setup(app):
    app.connect("html-page-context", tell)
    return {{"parallel_read_safe": True, "parallel_write_safe": True}}
"""


@pytest.fixture
def temporary():
    """The system's folder of what is temporary; short, as the names of sockets must be."""
    with tempfile.TemporaryDirectory(prefix="t-") as folder:
        yield Path(folder)


@contextmanager
def build(book, temporary: Path, on_interrupt: str = "signal.default_int_handler"):
    """A build that writes to `pipe` when it is where the test wants it, and all it has started."""
    pipe = book.root / "pipe"
    if not pipe.exists():
        os.mkfifo(pipe)
    told = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    start = f"import signal; signal.signal(signal.SIGINT, {on_interrupt})"
    process = subprocess.Popen(
        [sys.executable, "-c", f"{start}; from scaleright.cli import main; main()", "book"],
        cwd=book.root,
        env=os.environ | {"TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert select.select([told], [], [], GUARD_S)[0] and os.read(told, 99), process.poll()
        yield process, psutil.Process(process.pid).children(recursive=True)
    finally:
        process.kill()
        process.communicate()
        os.close(told)


def ended(process, started, sent: signal.Signals) -> str:
    """Send a signal and wait for the end of the build and of all it has started; what it said."""
    process.send_signal(sent)
    _, errors = process.communicate(timeout=GUARD_S)
    assert not psutil.wait_procs(started, timeout=GUARD_S)[1]
    return errors


@pytest.mark.parametrize("how", SIGNALS)
def test_a_build_that_is_ended_while_chapters_run_leaves_nothing(book, temporary, how):
    sent, code, on_interrupt = SIGNALS[how]
    site.swap(book, rendered(book, "good"), "key")
    finish(book)
    waits = f"import time\nopen({str(book.root / 'pipe')!r}, 'w').write('here')\ntime.sleep(3600)"
    add(book, "slow", waits)
    with build(book, temporary, on_interrupt) as (process, started):
        assert started, "the run"
        errors = ended(process, started, sent)
        assert process.returncode == code and "Traceback" not in errors, errors
    assert shown(book) == "good" and not book.executed("slow").exists()
    assert not list(temporary.iterdir()) and not list(book.root.rglob("*.part"))


def test_builds_that_are_ended_while_they_render_leave_nothing_and_the_next_one_is_whole(
    book, temporary
):
    site.swap(book, rendered(book, "good"), "key")
    finish(book, normalize(load(book.text("tiny"))))
    sound = (book.root / "_config.yml").read_text(encoding="utf-8")
    (book.root / "slow.py").write_text(SLOW_EXTENSION.format(pipe=str(book.root / "pipe")))
    slow = sound.replace("sphinx: {", f"sphinx: {{local_extensions: {{slow: {book.root}}}, ")
    (book.root / "_config.yml").write_text(slow, encoding="utf-8")
    for how in ("a request to end", "a kill"):
        sent, code, on_interrupt = SIGNALS[how]
        with build(book, temporary, on_interrupt) as (process, started):
            ended(process, started, sent)
            assert process.returncode == code
        assert shown(book) == "good" and not list(temporary.iterdir())
    (book.root / "_config.yml").write_text(sound, encoding="utf-8")
    assert scaleright(book, "book").returncode == 0
    assert "A small book" in (book.build / "html" / "book" / "index.html").read_text()


def test_no_build_begins_while_a_process_of_another_lives(book):
    with book.locked():
        child = subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=processes.locks()
        )
    with (book.build / ".lock").open(encoding="utf-8") as lock:
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        child.communicate(b"\n")
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_build_clears_away_what_dead_ones_left_and_nothing_else(temporary, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    for name in ("scaleright-dead", "scaleright-new", "scaleright-old", "scaleright-live", "other"):
        (temporary / name).mkdir()
    (temporary / "scaleright-dead" / "alive").touch()
    (temporary / "scaleright-live" / "alive").touch()
    long_ago = temporary.stat().st_mtime - 2 * processes._FORGOTTEN_S
    os.utime(temporary / "scaleright-old", (long_ago, long_ago))
    with (temporary / "scaleright-live" / "alive").open(encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with processes.workplace() as folder, processes.workplace() as another:
            left = {"scaleright-new", "scaleright-live", "other"}
            assert {path.name for path in temporary.iterdir()} == left | {folder.name, another.name}
    assert {path.name for path in temporary.iterdir()} == left
