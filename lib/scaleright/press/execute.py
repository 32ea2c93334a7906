"""Running chapters: text in, executed notebook out, the same bytes every time.

Each chapter runs by papermill in a `worker` process, on the interpreter that runs the build. A cell
that raises, or that writes to stderr, fails its chapter; the other chapters finish and are kept.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scaleright.catalog.memory import REMEMBERED
from scaleright.press import Book, PressError, write_whole
from scaleright.press.processes import Child, workplace
from scaleright.press.repository import setup_source

CELL_TIMEOUT_S = 1800
"""A guard against a cell that never ends: cells take seconds, and minutes on a busy machine."""

_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {
        "name": "python",
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "pygments_lexer": "ipython3",
    },
}


class ChapterError(PressError):
    """A chapter that did not run: names the chapter, the cell and the error."""


@dataclass(frozen=True)
class Job:
    """One run of a chapter with these parameter values, none meaning as declared; a scenario's run
    bears its name.
    """

    chapter: str
    values: Mapping[str, Any] = field(default_factory=dict)
    scenario: str = ""

    @property
    def label(self) -> str:
        """What to call it in messages."""
        return f"{self.chapter}/{self.scenario}" if self.scenario else self.chapter


@dataclass(frozen=True)
class Settings:
    """What all runs of a build share: where the cells run, the environment of their kernels, and
    whether those are forked from a warm process.
    """

    folder: Path
    environment: Mapping[str, str]
    warm: bool


@dataclass(frozen=True)
class Run:
    """A finished run: the notebook file's content and how long it took."""

    job: Job
    content: bytes
    seconds: float


def load(text: Path):
    """A chapter's text as a notebook, with the cell before its code that fetches the library where
    there is none.
    """
    import nbformat

    from scaleright.press.parameters import chapter_notebook, tagged

    notebook = chapter_notebook(text)
    notebook.metadata = nbformat.from_dict(_METADATA)
    source = setup_source(text.parents[2])
    if source and tagged(notebook.cells, "setup") is None:
        first = next((i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code"), 0)
        notebook.cells.insert(
            first, nbformat.v4.new_code_cell(source, metadata={"tags": ["setup", "remove-cell"]})
        )
    return notebook


def _name_cells(cells: Iterable[Any]) -> None:
    seen: Counter[str] = Counter()
    for cell in cells:
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:12]
        seen[digest] += 1
        cell["id"] = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"


def normalize(notebook) -> bytes:
    """The file content of an executed notebook, without what changes from run to run.

    Dropped: papermill's and the kernel's metadata, timings, paths, versions; cells are named by
    what they say, and streams are joined, because the kernel sends a text in as many pieces as it
    likes.
    """
    import nbformat

    notebook.metadata = nbformat.from_dict(_METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell in notebook.cells:
        cell.metadata = {
            k: v
            for k, v in cell.metadata.items()
            if v and k not in ("papermill", "execution", "lines_to_next_cell")
        }
        if cell.cell_type == "code":
            cell.outputs = _joined(cell.outputs)
    _name_cells(notebook.cells)
    nbformat.validate(notebook)
    return (nbformat.writes(notebook).rstrip("\n") + "\n").encode()


def _joined(outputs: Iterable[Any]) -> list[Any]:
    joined: list[Any] = []
    for output in outputs:
        if output.output_type == "stream" and joined and joined[-1].get("name") == output.name:
            joined[-1]["text"] += output.text
        else:
            joined.append(output)
    return joined


def kernel_environment(build: Path) -> dict[str, str]:
    """Environment in which a kernel depends on the checkout alone, not on its user's profile or
    warning filters.

    Writes that profile into the build folder: no history file, and no log lines about the transport
    or a shutdown.
    """
    profile = build / "runtime" / "ipython" / "profile_default"
    lines = [
        "import gc, logging, sys",
        # of a socket closed at shutdown
        "logging.getLogger('tornado.general').setLevel(logging.CRITICAL)",
        # nobody debugs a build: importing it takes a fifth of a kernel's start
        "sys.modules['debugpy'] = None",
        # or the objects of the imports are walked through over and over
        "gc.set_threshold(100_000)",
        "c.IPKernelApp.log_level = 50",
        "c.HistoryManager.enabled = False",
        # else it compiles each cell twice, once to see whether it awaits
        "c.InteractiveShell.autoawait = False",
    ]
    write_whole(profile / "ipython_kernel_config.py", "\n".join(lines) + "\n")
    return {
        "IPYTHONDIR": str(build / "runtime" / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(build / "runtime"),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "JUPYTER_PLATFORM_DIRS": "1",
        "PYTHONWARNINGS": "default",
        # One order of additions whatever the cores, and no threads that wait for each other.
        "OPENBLAS_NUM_THREADS": "1",
    }


@contextmanager
def kernel_sockets() -> Iterator[Any]:
    """Settings of a kernel that is spoken to through files of its own, gone afterwards.

    A port is chosen before the kernel binds it, and another process may take it in between. The
    folder is the system's for what is temporary, since the name of a socket may have no more than
    about a hundred characters.
    """
    from traitlets.config import Config

    with TemporaryDirectory(prefix="kernel-") as folder:
        yield Config(KernelManager={"transport": "ipc", "ip": f"{folder}/socket"})


def run_all(book: Book, jobs: Iterable[Job], workers: int, keep: Callable[[Run], None]) -> None:
    """Run chapters, hand each finished one to `keep` at once, then report what failed.

    Raises
    ------
    ChapterError : one line for each chapter that failed, after all others have finished.
    """
    from tqdm import tqdm

    jobs = list(jobs)
    if not jobs:
        return
    failures = []
    tqdm.monitor_interval = 0  # no thread of its own
    bar = tqdm(total=len(jobs), unit="run", disable=None, leave=False)
    with bar, workplace() as folder, closing(_outcomes(book, jobs, workers, folder)) as finished:
        for job, outcome in finished:
            if isinstance(outcome, Run):
                keep(outcome)
                tqdm.write(f"  {job.label}  {outcome.seconds:.1f} s")
            else:  # the other chapters finish before it is reported
                failures.append(outcome)
                tqdm.write(f"  {job.label}  failed")
            bar.update()
    if failures:
        raise ChapterError("\n".join(failures))


def _worth_warming(jobs: int, workers: int) -> bool:
    """Whether some worker starts several kernels: what a warm start takes is paid once a worker."""
    return jobs > workers


def _outcomes(
    book: Book, jobs: Sequence[Job], workers: int, folder: Path
) -> Generator[tuple[Job, Run | str], None, None]:
    """The run of each job as it ends, or what is to be said of its failure.

    A worker that is lost costs its own job and no other.
    """
    settings = Settings(
        folder=book.root / "notebooks",
        environment=kernel_environment(folder)
        | {REMEMBERED: os.environ.get(REMEMBERED) or str(folder / "remembered")},
        warm=_worth_warming(len(jobs), workers),
    )
    waiting, idle = deque(jobs), list[Child]()
    busy = dict[Any, tuple[Child, Job]]()  # by the connection to wait for
    try:
        while waiting or busy:
            while waiting and len(busy) < workers:
                job = waiting.popleft()
                if not idle:
                    idle.append(Child("scaleright.press.worker", folder))
                    idle[-1].connection.send(settings)
                child = idle.pop()
                busy[child.connection] = child, job
                with suppress(OSError):  # it has ended: it will not answer either
                    child.connection.send((book.text(job.chapter), job))
            for connection in wait(list(busy)):
                child, job = busy.pop(connection)
                try:
                    outcome = child.connection.recv()
                    idle.append(child)
                except (EOFError, OSError):
                    child.dismiss()
                    outcome = f"{job.label}: its worker ended with exit code {child.ended()}"
                yield job, outcome
    finally:
        started = [*idle, *(child for child, _ in busy.values())]
        for child in started:
            child.dismiss()
        for child in started:
            child.ended()


def carried(notebook: Mapping[str, Any], kind: str) -> Iterator[dict]:
    """The outputs of a notebook that hold something of this MIME type."""
    return (
        output
        for cell in notebook["cells"]
        for output in cell.get("outputs", ())
        if kind in output.get("data", {})
    )


def answer(content: bytes) -> str:
    """The text of what a chapter's cell tagged `answer` shows; empty if it has none."""
    import nbformat

    from scaleright.press.parameters import tagged

    cell = tagged(nbformat.reads(content.decode(), as_version=4).cells, "answer")
    texts = []
    for output in cell.outputs if cell else ():
        data = output.get("data", {})
        text = output.get("text") or data.get("text/plain", "")
        texts.append(data.get("text/markdown", text) if text.startswith("<IPython") else text)
    return "\n".join(texts).strip()
