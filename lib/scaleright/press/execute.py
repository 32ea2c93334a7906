"""Running chapters: text in, executed notebook out, the same bytes every time.

Each chapter runs by papermill in a worker process of its own, on the interpreter that runs the
build. A cell that raises, or that writes to stderr, fails its chapter; the other chapters finish
and are kept.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Callable, Iterable, Iterator, Mapping

from scaleright.press import Book, PressError, children_ended, write_whole
from scaleright.press.repository import setup_source

CELL_TIMEOUT_S = 300
"""No cell of a ten-minute read may compute for longer."""

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
class Run:
    """A finished run: the notebook file's content and how long it took."""

    job: Job
    content: bytes
    seconds: float


def load(text: Path):
    """A chapter's text as a notebook, with the cell before its code that fetches the library where
    there is none.
    """
    import jupytext
    import nbformat

    from scaleright.press.parameters import tagged

    notebook = jupytext.read(text, fmt="md:myst")
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
    ]
    write_whole(profile / "ipython_kernel_config.py", "\n".join(lines) + "\n")
    return {
        "IPYTHONDIR": str(build / "runtime" / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(build / "runtime"),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "JUPYTER_PLATFORM_DIRS": "1",
        "PYTHONWARNINGS": "default",
    }


def _prepare_worker(environment: dict[str, str]) -> None:
    import signal

    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C is the parent's to handle: it ends its workers
    os.environ.update(environment)


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


def _run(text: Path, folder: Path, job: Job, warm: bool = False) -> Run:
    import logging

    import papermill
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill.exceptions import PapermillException, PapermillExecutionError

    from scaleright.press.parameters import declared

    declared(job.chapter, Book(folder.parent))
    # Its pattern of a parameter line misses `float | None`, of which it warns; ours has checked the
    # names already.
    logging.getLogger("papermill").setLevel(logging.ERROR)
    start, manager = time.perf_counter(), {}
    if warm:
        from scaleright.press.kernels import WarmKernelManager

        manager["kernel_manager_class"] = WarmKernelManager
    try:
        with kernel_sockets() as config:
            done = papermill.execute_notebook(
                load(text),
                None,
                parameters=dict(job.values),
                kernel_name="python3",
                language="python",
                cwd=folder,
                progress_bar=False,
                execution_timeout=CELL_TIMEOUT_S,
                config=config,
                **manager,
            )
    except PapermillExecutionError as error:
        line = next(iter(error.source.strip().splitlines()), "")
        raise ChapterError(
            f"{job.label}: code cell {error.exec_count} ({line!r}): {error.ename}: {error.evalue}"
        ) from None
    except CellTimeoutError as error:
        raise ChapterError(f"{job.label}: {str(error).splitlines()[0]}") from None
    except (DeadKernelError, PapermillException) as error:
        raise ChapterError(
            f"{job.label}: the kernel ended: {type(error).__name__}: {error}"
        ) from None
    for cell in done.cells:
        for output in cell.get("outputs", ()):
            if output.get("name") == "stderr":
                line = cell.source.strip().splitlines()[0]
                raise ChapterError(
                    f"{job.label}: code cell {cell.execution_count} ({line!r}) wrote to stderr:"
                    f" {output.text.strip()}"
                )
    return Run(job, normalize(done), time.perf_counter() - start)


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
    environment = kernel_environment(book.build)
    failures = []
    warm = len(jobs) > workers  # what a warm start takes is paid once a worker
    # Workers are spawned, not forked: a fork would copy the state of the progress bar's and of
    # pandas' threads.
    pool = ProcessPoolExecutor(
        min(workers, len(jobs)), get_context("spawn"), _prepare_worker, (environment,)
    )
    with children_ended(), tqdm(total=len(jobs), unit="run", disable=None, leave=False) as bar:
        try:
            waiting = {
                pool.submit(_run, book.text(job.chapter), book.root / "notebooks", job, warm): job
                for job in jobs
            }
            for future in as_completed(waiting):
                try:
                    run = future.result()
                except (
                    Exception
                ) as error:  # whatever it is, the other chapters finish before it is reported
                    label = waiting[future].label
                    failures.append(
                        str(error)
                        if isinstance(error, PressError)
                        else f"{label}: {type(error).__name__}: {error}"
                    )
                    tqdm.write(f"  {label}  failed")
                else:
                    keep(run)
                    tqdm.write(f"  {run.job.label}  {run.seconds:.1f} s")
                bar.update()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        pool.shutdown()
    if failures:
        raise ChapterError("\n".join(failures))


def carried(notebook: Mapping[str, Any], kind: str) -> Iterator[dict]:
    """The outputs of a notebook that hold something of this MIME type."""
    return (
        output
        for cell in notebook["cells"]
        for output in cell.get("outputs", ())
        if kind in output.get("data", {})
    )


def answer(content: bytes) -> str:
    """The chapter's answer: the text of what its cell tagged `answer` shows; empty if it has none."""
    import nbformat

    from scaleright.press.parameters import tagged

    cell = tagged(nbformat.reads(content.decode(), as_version=4).cells, "answer")
    texts = []
    for output in cell.outputs if cell else ():
        data = output.get("data", {})
        text = output.get("text") or data.get("text/plain", "")
        texts.append(data.get("text/markdown", text) if text.startswith("<IPython") else text)
    return "\n".join(texts).strip()
