"""The hosting repository, and a notebook opened where there is no checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from press_cases import finish
from scaleright.files import write_whole
from scaleright.press import PressError, repository, site
from scaleright.press.execute import load
from scaleright.press.staleness import Inputs

HOSTED = "repository: {url: https://github.com/owner/book, branch: trunk}\n"


def test_a_notebook_opened_alone_can_fetch_the_library(book):
    assert not [
        cell for cell in load(book.text("tiny")).cells if "setup" in cell.metadata.get("tags", ())
    ], "no address, no cell"
    finish(book)
    write_whole(book.root / "_config.yml", HOSTED)
    cells = load(book.text("tiny")).cells
    (place,) = (i for i, cell in enumerate(cells) if "setup" in cell.metadata.get("tags", ()))
    assert [cell.cell_type for cell in cells[:place]] == ["markdown"] and cells[place].metadata[
        "tags"
    ] == ["setup", "remove-cell"]
    assert "git+https://github.com/owner/book" in cells[place].source
    assert Inputs(book).stale() == ["tiny"], "what is stored changes with the address"
    own = "```{code-cell} ipython3\n:tags: [setup]\n\npass\n```\n\n"
    write_whole(
        book.text("tiny"),
        book.text("tiny").read_text().replace("```{code-cell}", own + "```{code-cell}", 1),
    )
    assert [
        cell.source
        for cell in load(book.text("tiny")).cells
        if "setup" in cell.metadata.get("tags", ())
    ] == ["pass"]


def test_links_follow_the_host_of_the_build_and_stored_notebooks_the_settings(book, monkeypatch):
    write_whole(book.root / "_config.yml", HOSTED)
    before = site.key(book)
    monkeypatch.setenv("SCALERIGHT_REPOSITORY", "https://github.com/fork/book.git/")
    assert repository.hosting(book.root) == repository.Repository(
        "https://github.com/fork/book", "trunk"
    )
    assert "github.com/owner/book" in repository.setup_source(book.root)
    assert site.key(book) != before
    found = repository.hosting(book.root).links(
        "tiny", "https://binder.example", "https://colab.example"
    )
    assert list(found) == ["Binder", "Colab", "Source"]
    elsewhere = repository.Repository("https://git.example/o/r").links(
        "tiny", "https://binder.example", "https://colab.example"
    )
    assert (
        list(elsewhere) == ["Source"]
        and repository.Repository("").links("tiny", "https://binder.example") == {}
    )
    for wrong in ("owner/book", "ftp://github.com/a/b", "https://github.com/owner"):
        monkeypatch.setenv("SCALERIGHT_REPOSITORY", wrong)
        with pytest.raises(
            PressError, match=r"SCALERIGHT_REPOSITORY = .*: expected the address of a repository"
        ):
            repository.hosting(book.root)


@pytest.mark.processes
def test_an_installed_package_finds_its_data_and_reads_a_chapters_case(tmp_path):
    """As on Colab: the wheel in a folder of its own, a notebook elsewhere, no checkout around."""
    root, place = Path(__file__).resolve().parents[1], tmp_path / "site"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--quiet",
        "--disable-pip-version-check",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
    ]
    subprocess.run([*pip, "--wheel-dir", str(tmp_path), str(root)], check=True, cwd=tmp_path)
    zipfile.ZipFile(next(tmp_path.glob("*.whl"))).extractall(place)
    cells = [
        cell.source
        for cell in load(root / "notebooks" / "text" / "buy_or_rent.md").cells
        if cell.cell_type == "code"
    ][:3]
    assert cells[0].startswith("import importlib") and cells[1].startswith("accelerator: str")
    script = (
        "import json, sys\nfrom IPython.core.interactiveshell import InteractiveShell\nshell ="
        " InteractiveShell.instance()\nfor cell in json.loads(sys.argv[1]):\n   "
        " shell.run_cell(cell, store_history=True).raise_error()\nfrom scaleright import"
        " catalog\nprint(catalog.__file__, catalog.data_dir(), len(catalog.table('models')),"
        " shell.user_ns['declared'].contract)"
    )
    clean = {k: v for k, v in os.environ.items() if k != "SCALERIGHT_DATA"} | {
        "PYTHONPATH": str(place)
    }
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps(cells)],
        check=False,
        cwd=tmp_path,
        env=clean,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    module, data, rows, contract = done.stdout.split()[-4:]
    assert Path(module).is_relative_to(place) and Path(data) == place / "scaleright" / "data"
    assert int(rows) > 100 and contract == "reserved"


def test_the_address_of_the_site_follows_its_repository_or_is_set(tmp_path, monkeypatch):
    (tmp_path / "_config.yml").write_text("repository: {url: https://github.com/Org/book}\n")
    assert repository.address(tmp_path) == "https://org.github.io/book/"
    monkeypatch.setenv("SCALERIGHT_REPOSITORY", "https://github.com/fork/book")
    assert repository.address(tmp_path) == "https://fork.github.io/book/"
    monkeypatch.setenv("SCALERIGHT_ADDRESS", "https://book.example/here")
    assert repository.address(tmp_path) == "https://book.example/here/"
    monkeypatch.setenv("SCALERIGHT_ADDRESS", "book.example")
    with pytest.raises(PressError, match=r"book\.example.: expected an address"):
        repository.address(tmp_path)
    monkeypatch.delenv("SCALERIGHT_ADDRESS")
    monkeypatch.delenv("SCALERIGHT_REPOSITORY")
    (tmp_path / "_config.yml").write_text("title: A book\n")
    assert repository.address(tmp_path) == ""
