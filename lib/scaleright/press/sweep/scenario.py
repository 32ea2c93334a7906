"""One scenario, as a Dask worker runs it: the chapter's cells up to its answer, in a kernel that
stays warm.

Each worker thread keeps one Jupyter kernel for the length of a sweep. Imports are paid once a
kernel, and each scenario starts from an empty namespace. The cells run where they always do, in a
kernel, so that the answer is that of an ordinary run, and what a cell does to its process (a crash,
the end of memory) hits its own scenario alone.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

IDLE_S = 60
"""A kernel that nobody has asked for so long ends itself: its client is gone."""
START_S = 600
"""A kernel that has not answered for so long does not start."""
_FRESH = '%reset -f\n__import__("gc").freeze()'
"""Empties the namespace; what survives is the library, which the collector need not walk through
each time (0.1 s).
"""
_PACKAGES = ("altair", "dask", "distributed", "ipykernel", "ipython", "numpy", "pandas")


class KernelDied(Exception):
    """The process in which a scenario ran has ended; Dask tries the scenario again."""


@dataclass(frozen=True)
class Program:
    """What all scenarios of a sweep share.

    `before` are the cells up to the parameters, `after` those from there to the answer;
    `answer_mime` is the MIME type of the answer's quantities, `folder` where the cells run if the
    worker has it, `sweep` names this run.
    """

    sweep: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    answer_mime: str
    folder: str
    cell_timeout_s: float


class CellError(Exception):
    """A cell that failed: which one and why."""


class _Kernel:
    """A running kernel and the connection to it."""

    def __init__(self, program: Program):
        import zmq
        from distributed import get_worker
        from jupyter_client import KernelManager
        from jupyter_client.kernelspec import KernelSpecManager

        from scaleright.press.execute import kernel_environment

        self.sweep, self._lock, self._timer = (
            program.sweep,
            threading.Lock(),
            threading.Timer(0, self.end),
        )
        # In the worker's own folder: should it be killed, Dask clears that away.
        self._home = tempfile.TemporaryDirectory(
            dir=get_worker().local_directory, ignore_cleanup_errors=True
        )
        home = Path(self._home.name)
        # The shared context: one of its own would be closed when it is collected, and block
        # whichever thread collects it.
        context = zmq.Context.instance()
        # No folder of kernels: "python3" is then this very interpreter, whatever the user has
        # registered by that name.
        specs = KernelSpecManager(kernel_dirs=[])
        self._manager = KernelManager(
            kernel_spec_manager=specs, connection_file=str(home / "kernel.json"), context=context
        )
        self._client: Any = None  # before it has started
        # "always": a warning that one scenario raised must not be passed over in the next.
        environment = os.environ | kernel_environment(home) | {"PYTHONWARNINGS": "always"}
        folder = program.folder if Path(program.folder).is_dir() else str(home)
        try:
            self._manager.start_kernel(
                env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            self._client = self._manager.client(context=context)
            self._client.start_channels(stdin=False, hb=False)
            self._client.wait_for_ready(timeout=START_S)
        except (RuntimeError, OSError) as error:
            self.end()
            raise KernelDied(f"its kernel did not start: {error}") from None

    @property
    def _process(self) -> Any:
        """By the names of `subprocess.Popen`; None before it has started."""
        return getattr(self._manager.provisioner, "process", None)

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def run(self, program: Program, injected: str) -> list[dict[str, Any]]:
        """What the answer's cell displays when the cells run with these parameters."""
        shown: list[dict[str, Any]] = []
        with self._lock:
            self._timer.cancel()
            try:
                self._execute(_FRESH, 0, program.cell_timeout_s)
                for number, source in enumerate((*program.before, injected, *program.after), 1):
                    shown = self._execute(source, number, program.cell_timeout_s)
            finally:
                self._timer = threading.Timer(IDLE_S, self.end)
                self._timer.daemon = True
                self._timer.start()
            return shown

    def _execute(self, source: str, number: int, timeout_s: float) -> list[dict[str, Any]]:
        """Run a cell; the data of what it displays."""
        where = f"code cell {number} ({next(iter(source.strip().splitlines()), '')!r})"
        request, deadline = self._client.execute(source), time.monotonic() + timeout_s
        shown, said, error = [], "", None
        while True:
            if time.monotonic() > deadline:
                self.end()  # it still computes
                raise CellError(f"{where}: no end after {timeout_s:g} s")
            # The channels' own methods: the client's wrappers would make an event loop for every
            # call from this thread.
            try:
                message = self._client.iopub_channel.get_msg(timeout=0.2)
            except queue.Empty:
                if not self.alive:
                    raise KernelDied(f"its process ended in {where}") from None
                continue
            kind, content = message["msg_type"], message["content"]
            if message["parent_header"].get("msg_id") != request:
                continue
            if kind in ("execute_result", "display_data"):
                shown.append(content["data"])
            elif kind == "stream" and content["name"] == "stderr":
                said += content["text"]
            elif kind == "error":
                error = f"{where}: {content['ename']}: {content['evalue']}"
            elif kind == "status" and content["execution_state"] == "idle":
                break
        self._client.shell_channel.get_msg(
            timeout=START_S
        )  # the reply came before that; it must not pile up
        if error or said:
            raise CellError(error or f"{where} wrote to stderr: {' '.join(said.split())}")
        return shown

    def end(self) -> None:
        """End the process; whoever waits for it gets `KernelDied`."""
        if self.alive:
            self._process.kill()
            self._process.wait()
        if self._client and self._lock.acquire(
            blocking=False
        ):  # else it is in use, and its user will come here
            self._client.stop_channels()
            self._lock.release()
        self._home.cleanup()


_kernels: dict[int, _Kernel] = {}
"""The kernel of each thread."""
_over: set[str] = set()
"""Sweeps that have ended, whose last scenarios may not know yet."""


def _kernel(program: Program) -> _Kernel:
    thread = threading.get_ident()
    kernel = _kernels.get(thread)
    if program.sweep in _over:
        raise KernelDied("its sweep is over")
    if kernel is None or kernel.sweep != program.sweep or not kernel.alive:
        if kernel is not None:
            kernel.end()
        kernel = _kernels[thread] = _Kernel(program)
    return kernel


def run(injected: str, program: Program) -> dict[str, Any]:
    """The outcome of one scenario: `text` and `quantities` of its answer and `seconds`, or its
    `error`.

    Parameters
    ----------
    injected : the cell that sets the scenario's parameters, as papermill writes it.
    program : the chapter's cells.

    Raises
    ------
    KernelDied : the process ended on the way.
    """
    start, kernel = time.perf_counter(), _kernel(program)
    try:
        shown = kernel.run(program, injected)
    except CellError as error:
        return {"error": str(error)}
    except BaseException:
        kernel.end()
        raise
    answers = [data[program.answer_mime] for data in shown if program.answer_mime in data]
    found = (
        answers[-1]
        if answers
        else {"text": "\n".join(data.get("text/plain", "") for data in shown), "quantities": {}}
    )
    return {
        "text": found["text"],
        "quantities": found["quantities"],
        "seconds": round(time.perf_counter() - start, 3),
    }


def end_kernels(sweep: str) -> None:
    """End this worker's kernels when a sweep is over."""
    _over.add(sweep)
    for thread in [thread for thread, kernel in list(_kernels.items()) if kernel.sweep == sweep]:
        _kernels.pop(thread).end()


def dask_setup(worker: Any) -> None:
    """Called by Dask in each worker that this machine starts: Ctrl-C, which a terminal sends to
    all, is not for workers.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def fingerprint() -> dict[str, str]:
    """What an answer depends on besides the chapter's text: the same on two machines means the same
    answers.
    """
    import scaleright
    from scaleright.catalog import data_dir
    from scaleright.press.staleness import digest

    library, tables = Path(scaleright.__file__).parent, data_dir()
    return {
        "library": digest(library.rglob("*.py"), library),
        "data": digest(
            (path for path in tables.rglob("*") if path.suffix in (".csv", ".json")), tables
        ),
        "Python": ".".join(map(str, sys.version_info[:2])),
    } | {name: version(name) for name in _PACKAGES}
