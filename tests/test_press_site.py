"""The whole command: a site that is always complete, whatever a build meets."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest
from press_cases import declare, finish, rendered, scaleright, shown
from scaleright.files import write_whole
from scaleright.press import scenarios, site


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "a.txt"
    assert write_whole(target, "one") and not write_whole(target, "one")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(target, "two")
    assert target.read_text() == "one" and list(tmp_path.iterdir()) == [target]


def test_a_swap_replaces_the_whole_site(book):
    site.swap(book, rendered(book, "one"), "key")
    site.swap(book, rendered(book, "two"), "key")
    assert shown(book) == "two"
    assert {p.name for p in book.build.iterdir()} == {"html", "render"}


@pytest.mark.parametrize("function", ["copyfile", "rename"])
def test_a_full_disk_leaves_the_last_good_site(book, monkeypatch, function):
    site.swap(book, rendered(book, "good"), "key")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil if function == "copyfile" else os, function, full)
    with pytest.raises(OSError, match="No space left"):
        site.swap(book, rendered(book, "new"), "key")
    assert shown(book) == "good"


def test_a_build_killed_between_the_two_renames_is_put_right(book):
    site.swap(book, rendered(book, "good"), "key")
    (book.build / "html").rename(book.build / "html.previous")
    (book.build / "html.next").mkdir()
    (book.root / "notebooks" / ".tiny.ipynb.1.part").write_text("half")
    site.recover(book)
    assert shown(book) == "good"
    assert {p.name for p in book.build.iterdir()} == {"html", "render"}
    assert not list((book.root / "notebooks").glob(".*"))


@pytest.mark.processes
def test_a_book_is_built_once_rebuilt_when_changed_and_survives_a_bad_chapter(book):
    declare(book)
    built = scaleright(book, "book")
    assert built.returncode == 0, built.stderr
    assert "running 2 of 2 chapters and scenarios: tiny, tiny/busy" in built.stdout
    assert (
        "10 useful hours cost $26.67."
        in (book.build / "html" / "notebooks" / "tiny" / "busy.html").read_text()
    )
    assert (book.build / "html" / "downloads" / "tiny-busy.ipynb").read_bytes() == book.executed(
        "tiny", "busy"
    ).read_bytes()
    assert (
        "10 useful hours cost $60.00."
        in (book.build / "html" / "notebooks" / "tiny.html").read_text()
    )
    assert "out of date: tiny" in built.stdout

    again = scaleright(book, "book")
    assert again.returncode == 0 and "nothing changed" in again.stdout
    assert "running" not in again.stdout and "rendering" not in again.stdout

    write_whole(
        book.text("tiny"),
        book.text("tiny").read_text() + "\n```{code-cell} ipython3\nraise ValueError('no')\n```\n",
    )
    before = (book.build / "html" / "notebooks" / "tiny.html").read_bytes()
    failed = scaleright(book, "book")
    assert (
        failed.returncode == 1
        and "tiny: code cell 6" in failed.stderr
        and "Traceback" not in failed.stderr
    )
    assert (book.build / "html" / "notebooks" / "tiny.html").read_bytes() == before

    shutil.copy(Path(__file__).parent / "fixtures" / "tiny.md", book.text("tiny"))
    write_whole(book.root / "book" / "index.md", "# A small book\n\nSee [](nowhere.md).\n")
    for _ in range(
        2
    ):  # a warning must not pass the second time because Sphinx has read the page once
        failed = scaleright(book, "book")
        assert failed.returncode == 1 and "nowhere" in failed.stderr
    assert (book.build / "html" / "notebooks" / "tiny.html").read_bytes() == before

    (book.root / scenarios.FILE).unlink()
    write_whole(book.root / "book" / "index.md", "# A smaller book\n")
    assert scaleright(book, "book").returncode == 0
    assert "A smaller book" in (book.build / "html" / "notebooks" / "tiny.html").read_text(), (
        "the title shows on every page"
    )
    assert not (book.build / "html" / "notebooks" / "tiny").exists(), (
        "a scenario that is gone leaves no page"
    )


def test_stored_notebooks_follow_the_executed_ones(book):
    finish(book)
    write_whole(book.notebook("gone"), "{}")
    assert site.outdated(book) == ["gone", "tiny"]
    assert site.store_executed(book) == ["gone", "tiny"]
    assert site.outdated(book) == []
    assert book.notebook("tiny").read_bytes() == book.executed("tiny").read_bytes()
    assert not book.notebook("gone").exists()
