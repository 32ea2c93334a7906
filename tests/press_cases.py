"""What the tests of the press share: a chapter and a scenario of the small book, runs of it, and
stand-ins for what they give.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from scaleright.files import write_whole
from scaleright.outputs import TABLES_MIME
from scaleright.press import Book, scenarios
from scaleright.press.execute import Job, Run, run_all
from scaleright.press.staleness import Inputs

SCENARIO = """\
- chapter: tiny
  name: busy
  title: A busy machine
  why: What a full day asks.
  parameters:
    utilization: 0.9
    plan: on demand
"""


def executed(*tables: str, text: str = "") -> bytes:
    """A stand-in for an executed notebook that read these tables."""
    outputs = (
        [{"output_type": "display_data", "data": {TABLES_MIME: {"tables": list(tables)}}}]
        if tables
        else []
    )
    return json.dumps(
        {"cells": [{"cell_type": "code", "source": text, "outputs": outputs}]}
    ).encode()


def finish(book: Book, content: bytes | None = None) -> None:
    """Take the chapter for run."""
    Inputs(book).keep(Run(Job("tiny"), executed("prices") if content is None else content, 1.0))


def declare(book: Book, text: str = SCENARIO) -> list[scenarios.Scenario]:
    """The scenarios of this text, now those of the book."""
    write_whole(book.root / scenarios.FILE, text)
    return scenarios.read(book)


def run(book: Book, *chapters: str, workers: int = 2, **values) -> list[Run]:
    done: list[Run] = []
    run_all(book, [Job(chapter, values) for chapter in chapters], workers, done.append)
    return done


def add(book: Book, name: str, code: str) -> None:
    """A chapter that ends with a cell of this code."""
    text = book.text("tiny").read_text(encoding="utf-8")
    write_whole(book.text(name), f"{text}\n```{{code-cell}} ipython3\n{code}\n```\n")
    with (book.root / "book" / "_toc.yml").open("a", encoding="utf-8") as contents:
        contents.write(f"- file: notebooks/{name}\n")


def rendered(book: Book, text: str) -> Path:
    folder = book.build / "render" / "_build" / "html"
    shutil.rmtree(folder, ignore_errors=True)
    write_whole(folder / "index.html", text)
    return folder


def shown(book: Book) -> str:
    return (book.build / "html" / "index.html").read_text()


def scaleright(book: Book, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a book; the time limit only guards against hanging."""
    return subprocess.run(
        [sys.executable, "-c", "from scaleright.cli import main; main()", *arguments],
        check=False,
        cwd=book.root,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
    )
