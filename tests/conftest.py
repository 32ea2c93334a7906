"""What several test files share: a small book in a temporary folder, and kernels that ignore the
user's profile.
"""

from __future__ import annotations

import atexit
import os
import shutil
from contextlib import ExitStack
from pathlib import Path

import nbval.kernel
import pytest
from hypothesis import settings
from scaleright.press import Book
from scaleright.press.execute import kernel_environment, kernel_sockets

ROOT = Path(__file__).resolve().parents[1]

# Two cores shared with kernels and a browser: time limits would only measure the machine.
settings.register_profile("project", deadline=None, derandomize=True)
settings.load_profile("project")


def pytest_configure() -> None:
    os.environ.update(
        {k: v for k, v in kernel_environment(ROOT / "_build").items() if k != "PYTHONWARNINGS"}
    )
    manager, opened = nbval.kernel.KernelManager, ExitStack()
    nbval.kernel.KernelManager = lambda **options: manager(
        config=opened.enter_context(kernel_sockets()), **options
    )
    atexit.register(opened.close)


CONFIG = """\
title: A small book
only_build_toc_files: true
execute: {execute_notebooks: "off"}
bibtex_bibfiles: [book/references.bib]
launch_buttons: {thebe: false}
sphinx: {config: {suppress_warnings: [mystnb.unknown_mime_type]}}
"""


@pytest.fixture
def book(tmp_path: Path, monkeypatch) -> Book:
    """A book of one page and one chapter, with one table."""
    monkeypatch.delenv("SCALERIGHT_DATA", raising=False)  # or tests would write into that folder
    monkeypatch.delenv("SCALERIGHT_REPOSITORY", raising=False)
    files = {
        "_config.yml": CONFIG,
        "requirements.txt": "nothing==1\n",
        "book/_toc.yml": "format: jb-book\nroot: book/index\nchapters:\n- file: notebooks/tiny\n",
        "book/index.md": "# A small book\n\nWelcome.\n",
        "book/references.bib": "",
        "data/datapackage.json": "{}",
        "data/prices.csv": "usd\n1\n",
        "data/unread.csv": "usd\n1\n",
    }
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (tmp_path / "notebooks" / "text").mkdir(parents=True)
    shutil.copy(
        ROOT / "tests" / "fixtures" / "tiny.md", tmp_path / "notebooks" / "text" / "tiny.md"
    )
    return Book(tmp_path)


@pytest.fixture
def live():
    """The controls of a small case of charts."""
    from chart_samples import small_case

    return small_case()
