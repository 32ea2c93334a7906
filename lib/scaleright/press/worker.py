"""A worker of a build: runs one chapter after another, each in a kernel of its own.

A cell is judged as it runs: what it shows is bounded, and when it fails, ends its kernel, or does
not end, the chapter's failure says which cell it was.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import nbformat
import papermill
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine, papermill_engines
from papermill.exceptions import PapermillException, PapermillExecutionError
from papermill.execute import raise_for_execution_errors
from papermill.utils import chdir

from scaleright.files import FileError
from scaleright.outputs import VEGALITE_MIME
from scaleright.press import PressError, vegalite
from scaleright.press.execute import (
    CELL_TIMEOUT_S,
    CellError,
    ChapterError,
    Job,
    Run,
    kernel_sockets,
    normalize,
    place_of,
    short,
)
from scaleright.press.pool import Settings
from scaleright.press.texts import tagged
from scaleright.press.used import ASKED, Used

OUTPUT_LIMIT = 10_000_000
"""Characters that a cell may show: ten times what a whole page may weigh."""
_OUTPUTS = {"stream", "display_data", "update_display_data", "execute_result", "error"}


class _Client(PapermillNotebookClient):
    """Runs cells and says which one it was that took its kernel with it."""

    def execute_cell(self, cell: Any, cell_index: int, **options: Any) -> Any:
        """Run a cell; what it shows is counted from here."""
        self._shown = 0
        try:
            return super().execute_cell(cell, cell_index, **options)
        except DeadKernelError:
            reason = (
                f"showed more than {OUTPUT_LIMIT:,} characters, and was ended"
                if self._shown > OUTPUT_LIMIT
                else "ended the kernel (killed, out of memory, or by a call of its own)"
            )
        except CellTimeoutError:
            reason = f"had not ended after {CELL_TIMEOUT_S:,} s"
        number = sum(before.cell_type == "code" for before in self.nb.cells[: cell_index + 1])
        raise CellError(f"{place_of(number, cell.source)} {reason}")

    def process_message(self, message: Any, cell: Any, cell_index: int) -> Any:
        """Take an output, as long as there is room for it; then the kernel is ended."""
        if message["msg_type"] in _OUTPUTS and self._shown <= OUTPUT_LIMIT:
            self._shown += len(str(message["content"]))
            if self._shown > OUTPUT_LIMIT:
                manager: Any = self.km
                manager.provisioner.process.kill()
        if self._shown > OUTPUT_LIMIT:
            return None
        return super().process_message(message, cell, cell_index)


class _Engine(NBClientEngine):
    """Papermill's own engine with the client above."""

    @classmethod
    def execute_managed_notebook(
        cls, nb_man: Any, kernel_name: str, *_: Any, **options: Any
    ) -> Any:
        """Run the cells; the time limits are guards, no verdicts on a busy machine."""
        given = {key: options[key] for key in ("kernel_manager_class", "config") if key in options}
        return _Client(
            nb_man,
            kernel_name=kernel_name,
            timeout=CELL_TIMEOUT_S,
            startup_timeout=CELL_TIMEOUT_S,
            iopub_timeout=CELL_TIMEOUT_S,
            log=logging.getLogger("papermill"),
            **given,
        ).execute()


papermill_engines.register("scaleright", _Engine)


def _refuse_faults(job: Job, cells: Iterable[Any]) -> None:
    """Refuse what no cell may show: words on stderr, or a chart that is no Vega-Lite."""
    for cell, output in ((c, output) for c in cells for output in c.get("outputs", ())):
        said = None
        if output.get("name") == "stderr":
            said = f"wrote to stderr: {short(output.text.strip())}"
        elif chart := output.get("data", {}).get(VEGALITE_MIME):
            said = (
                wrong := vegalite.fault(chart)
            ) and f"shows a chart that is no Vega-Lite: {short(wrong)}"
        if said:
            raise ChapterError(f"{job.label}: {place_of(cell.execution_count, cell.source)} {said}")


def run(notebook: Any, job: Job, settings: Settings) -> Run:
    """Run a chapter's notebook.

    Raises
    ------
    ChapterError : a cell failed, ended its kernel, wrote to stderr, or is the answer and shows
        nothing; names it.
    """
    start, options = time.perf_counter(), {}
    if settings.warm:
        from scaleright.press.kernels import WarmKernelManager

        options["kernel_manager_class"] = WarmKernelManager
    try:
        done = papermill.execute_notebook(
            notebook,
            None,
            parameters=dict(job.values),
            kernel_name="python3",
            language="python",
            prepare_only=True,
            progress_bar=False,
        )
        done.cells.append(nbformat.v4.new_code_cell(ASKED))
        with kernel_sockets() as config, chdir(settings.folder):
            done = papermill_engines.execute_notebook_with_engine(
                "scaleright", done, "python3", progress_bar=False, config=config, **options
            )
        raise_for_execution_errors(done, None)
    except PapermillExecutionError as error:
        raise ChapterError(
            f"{job.label}: {place_of(error.exec_count, error.source)}: {error.ename}:"
            f" {short(error.evalue)}"
        ) from None
    except CellError as error:
        raise ChapterError(f"{job.label}: {error}") from None
    except (DeadKernelError, PapermillException, RuntimeError) as error:
        raise ChapterError(f"{job.label}: its kernel failed outside of a cell: {error}") from None
    used = Used.read(done.cells.pop().outputs[0].text)
    _refuse_faults(job, done.cells)
    if (cell := tagged(done.cells, "answer")) is not None and not cell.outputs:
        place = place_of(cell.execution_count, cell.source)
        raise ChapterError(f"{job.label}: {place} is tagged as the answer and shows nothing")
    return Run(job, normalize(done), time.perf_counter() - start, used)


def main() -> None:
    """Run what the build sends, and send back the run, or what to say of its failure."""
    from scaleright.press.processes import follow

    connection, tasks = follow()
    settings = next(tasks)
    os.environ.update(settings.environment)
    if settings.warm:
        from scaleright.press import kernels

        kernels.warm_up()
    # It warns of parameter lines such as `float | None`, which its pattern misses and ours has
    # checked, and logs the death of a kernel, which the failure names.
    logging.getLogger("papermill").setLevel(logging.CRITICAL)
    for notebook, job in tasks:
        try:
            outcome: Run | str = run(notebook, job, settings)
        except (PressError, FileError) as error:
            outcome = str(error)
        except Exception as error:  # noqa: BLE001  whatever it is, the others go on
            outcome = f"{job.label}: {type(error).__name__}: {short(str(error))}"
        with suppress(OSError):  # the build is gone, and this process about to end
            connection.send(outcome)
