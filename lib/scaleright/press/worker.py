"""A run of a chapter in a process of its own: its cells one after another, as IPython runs them.

What cells show is kept as a notebook holds it, in place of a Jupyter kernel's messages. A cell is
judged as it runs: what it shows is bounded, and when it fails, the chapter's failure says which
cell it was; whether it ends, or ends its process, who started it sees to (see `pool`).
"""

from __future__ import annotations

import functools
import io
import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jsonschema_rs
import nbformat
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from scaleright.files import FileError
from scaleright.outputs import VEGALITE_MIME
from scaleright.press import PressError, execute
from scaleright.press.execute import ChapterError, Job, Run, normalize, place_of, short
from scaleright.press.processes import followed
from scaleright.press.texts import tagged

_SCHEMA = "vegalite/v6/schema/vega-lite-schema.json"


@functools.cache
def _validator() -> jsonschema_rs.Draft7Validator:
    altair = find_spec("altair")  # not imported: that takes half a second
    assert altair and altair.origin
    schema = json.loads((Path(altair.origin).parent / _SCHEMA).read_text(encoding="utf-8"))
    return jsonschema_rs.Draft7Validator(_quoted(schema))


def _quoted(schema: Any) -> Any:
    """A schema whose references are URIs: its definitions have names such as `Dict<number>`."""
    if isinstance(schema, list):
        return [_quoted(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: f"#{quote(part[1:])}" if key == "$ref" and isinstance(part, str) else _quoted(part)
        for key, part in schema.items()
    }


def fault(spec: dict) -> str | None:
    """What is wrong with a chart; None if nothing is.

    >>> bars = {"mark": "bar", "data": {"values": []}}
    >>> fault(bars), fault(bars | {"mark": "barr"}) is None
    (None, False)
    """
    if _validator().is_valid(spec):
        return None
    import jsonschema
    from altair.vegalite.v6.schema.core import Root

    try:
        Root.validate(spec)
    except jsonschema.ValidationError as error:
        return f"{error.json_path}: {error.message}"
    return next(_validator().iter_errors(spec)).message


OUTPUT_LIMIT = 10_000_000
"""Characters that a cell may show: ten times what a whole page may weigh."""


class _Shown:
    """What a cell shows, in its order, as a notebook holds it."""

    def __init__(self) -> None:
        self.outputs, self.size = list[Any](), 0
        self.too_much: Callable[[], None] = lambda: None

    def add(self, kind: str, size: int, **fields: Any) -> None:
        """Keep an output, as long as there is room for it."""
        self.size += size
        if self.size > OUTPUT_LIMIT:
            self.too_much()
        self.outputs.append(nbformat.v4.new_output(kind, **fields))

    def add_data(self, kind: str, data: Mapping, metadata: Mapping | None) -> None:
        """Keep a value by MIME type as it is now: whoever shows it may change it."""
        text = json.dumps(data)
        self.add(kind, len(text), data=json.loads(text), metadata=dict(metadata or {}))


_shown = _Shown()


class _Stream(io.TextIOBase):
    """Takes what is printed."""

    encoding = "utf-8"

    def __init__(self, name: str):
        self.name = name

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if text:
            _shown.add("stream", len(text), name=self.name, text=text)
        return len(text)


class _Display(DisplayPublisher):
    """Takes what is displayed."""

    def publish(self, data: Any, metadata: Any = None, *_: Any, **__: Any) -> None:
        self._validate_data(data, metadata)
        _shown.add_data("display_data", data, metadata)


class _Result(DisplayHook):
    """Takes the value of a cell's last expression."""

    def start_displayhook(self) -> None:
        """Print nothing before it."""

    write_output_prompt = finish_displayhook = start_displayhook

    def write_format_data(self, format_dict: Mapping, md_dict: Mapping | None = None) -> None:
        if format_dict:
            _shown.add_data("execute_result", format_dict, md_dict)


class _Shell(InteractiveShell):
    """IPython's, without a terminal: an error is told by who runs a cell."""

    def showtraceback(self, *_: Any, **__: Any) -> None:
        """Print nothing."""

    showsyntaxerror = showindentationerror = showtraceback


def _shell(folder: Path) -> _Shell:
    """A shell that depends on the checkout alone, not on its user's profile."""
    plain = Config(HistoryManager={"enabled": False})
    return _Shell.instance(
        config=plain,
        ipython_dir=str(folder / "ipython"),
        autoawait=False,  # else it compiles each cell twice, once to see whether it awaits
        colors="nocolor",
        displayhook_class=_Result,
        display_pub_class=_Display,
    )


def _refuse_faults(job: Job, cells: Iterable[Any]) -> None:
    """Refuse what no cell may show: words on stderr, or a chart that is no Vega-Lite."""
    for cell, output in ((c, output) for c in cells for output in c.get("outputs", ())):
        said = None
        if output.get("name") == "stderr":
            said = f"wrote to stderr: {short(output.text.strip())}"
        elif chart := output.get("data", {}).get(VEGALITE_MIME):
            said = (wrong := fault(chart)) and f"shows a chart that is no Vega-Lite: {short(wrong)}"
        if said:
            raise ChapterError(f"{job.label}: {place_of(cell.execution_count, cell.source)} {said}")


def run(notebook: Any, job: Job, shell: InteractiveShell, connection: Connection) -> Run:
    """Run a chapter's notebook, and tell by the connection which cell begins.

    Raises
    ------
    ChapterError : a cell failed, wrote to stderr, or is the answer and shows nothing; names it.
    """
    start = time.perf_counter()
    execute.begin()
    codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(codes, 1):
        place = place_of(number, cell.source)
        connection.send(number)

        def too_much(place: str = place) -> None:
            why = f"showed more than {OUTPUT_LIMIT:,} characters, and was ended"
            connection.send(f"{job.label}: {place} {why}")
            os._exit(1)

        _shown.outputs, _shown.size, _shown.too_much = [], 0, too_much
        done = shell.run_cell(cell.source, store_history=True)
        cell.outputs, cell.execution_count = _shown.outputs, done.execution_count
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = done.execution_count
        if error := done.error_before_exec or done.error_in_exec:
            told = f"{type(error).__name__}: {short(str(error))}"
            raise ChapterError(f"{job.label}: {place}: {told}")
    found = execute.noted()
    _refuse_faults(job, notebook.cells)
    if (cell := tagged(notebook.cells, "answer")) is not None and not cell.outputs:
        place = place_of(cell.execution_count, cell.source)
        raise ChapterError(f"{job.label}: {place} is tagged as the answer and shows nothing")
    return Run(job, normalize(notebook), time.perf_counter() - start, found)


def main(connection: Connection, notebook: Any, job: Job, cells: Path, folder: Path) -> None:
    """Run a chapter in this process, and send back the run, or what to say of its failure.

    cells : the folder in which its cells run
    folder : for what is temporary
    """
    os.setsid()
    followed(connection, folder)
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    os.chdir(cells)
    warnings.simplefilter("default")  # whatever the user has set
    sys.stdout, sys.stderr = _Stream("stdout"), _Stream("stderr")
    try:
        outcome: Run | str = run(notebook, job, _shell(folder), connection)
    except (PressError, FileError) as error:
        outcome = str(error)
    except Exception as error:  # noqa: BLE001  whatever it is, the others go on
        outcome = f"{job.label}: {type(error).__name__}: {short(str(error))}"
    connection.send(outcome)
    os._exit(0)
