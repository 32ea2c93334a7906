"""The hosting repository, and the cell by which a notebook fetches the library from it."""

from __future__ import annotations

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
    assert cells[place].source.endswith(" git+https://github.com/owner/book@trunk")
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
