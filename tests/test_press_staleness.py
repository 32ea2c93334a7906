"""What must run again, decided from content; and scenarios, checked before they run."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from press_cases import SCENARIO, declare, executed, finish
from scaleright import REMEMBERED
from scaleright.press import Book, PressError, build, scenarios, staleness
from scaleright.press.execute import Job, Run
from scaleright.press.staleness import Inputs


def test_a_chapter_is_fresh_until_something_it_depends_on_changes(book):
    assert Inputs(book).stale() == ["tiny"]
    finish(book)
    assert Inputs(book).stale() == []


@pytest.mark.parametrize(
    "name",
    [
        "notebooks/text/tiny.md",
        "requirements.txt",
        "book/references.bib",
        "data/datapackage.json",
        "data/prices.csv",
    ],
)
def test_a_changed_input_makes_a_chapter_stale(book, name):
    finish(book)
    with (book.root / name).open("a", encoding="utf-8") as file:
        file.write("\n")
    assert Inputs(book).stale() == ["tiny"]


def test_a_changed_library_makes_a_chapter_stale(book, monkeypatch):
    finish(book)
    monkeypatch.setattr(staleness, "library", lambda: "another")
    assert Inputs(book).stale() == ["tiny"]


@pytest.mark.parametrize("name", ["data/unread.csv", "book/index.md", "_config.yml"])
def test_what_a_chapter_does_not_read_leaves_it_fresh(book, name):
    finish(book)
    (book.root / name).write_text("title: changed")
    assert Inputs(book).stale() == []


def test_a_chapter_without_a_data_record_is_taken_to_read_every_table(book):
    finish(book, executed())
    (book.data / "unread.csv").write_text("changed")
    assert Inputs(book).stale() == ["tiny"]


def test_a_deleted_table_or_a_damaged_result_makes_a_chapter_stale(book):
    finish(book)
    book.executed("tiny").write_bytes(b"{}")
    assert Inputs(book).stale() == ["tiny"]
    finish(book)
    (book.data / "prices.csv").unlink()
    assert Inputs(book).stale() == ["tiny"]


def test_a_change_during_a_run_is_not_taken_for_run(book):
    inputs = Inputs(book)
    (book.data / "prices.csv").write_text("changed while running")
    inputs.keep(Run(Job("tiny"), executed("prices"), 1.0))
    assert Inputs(book).stale() == ["tiny"]


def test_the_librarys_hash_covers_what_chapters_import_and_not_the_press():
    assert staleness.library() == staleness.library()
    assert staleness._INSIDE_CHAPTERS and all(
        (staleness._LIBRARY / name).exists() for name in staleness._INSIDE_CHAPTERS
    )


def test_what_a_chapter_shows_is_part_of_its_own_inputs_alone(book, tmp_path, monkeypatch):
    monkeypatch.setattr(staleness, "_LIBRARY", tmp_path / "library")
    shown = tmp_path / "library" / "chapters"
    shown.mkdir(parents=True)
    before = Inputs(book).key("tiny", [])
    (shown / "another.py").write_text("")
    assert Inputs(book).key("tiny", []) == before
    (shown / "tiny.py").write_text("")
    assert Inputs(book).key("tiny", []) != before


def test_a_scenario_is_fresh_until_its_values_or_its_chapter_change(book):
    declare(book)
    assert [s.name for s in Inputs(book).stale_scenarios()] == ["busy"]
    Inputs(book).keep(
        Run(Job("tiny", {"utilization": 0.9, "plan": "on demand"}, "busy"), executed("prices"), 1.0)
    )
    assert Inputs(book).stale_scenarios() == [] and Inputs(book).stale() == ["tiny"]
    declare(book, SCENARIO.replace("A busy machine", "Busy"))
    assert Inputs(book).stale_scenarios() == [], "a title changes the page and not the run"
    declare(book, SCENARIO.replace("0.9", "0.8"))
    assert [s.name for s in Inputs(book).stale_scenarios()] == ["busy"]
    declare(book)
    with book.text("tiny").open("a", encoding="utf-8") as file:
        file.write("\nMore.\n")
    assert [s.name for s in Inputs(book).stale_scenarios()] == ["busy"]


# Scenarios


def test_a_scenario_becomes_a_run_with_typed_values(book):
    (job,) = scenarios.jobs(book, declare(book))
    assert (
        job == Job("tiny", {"utilization": 0.9, "plan": "on demand"}, "busy")
        and job.label == "tiny/busy"
    )
    assert declare(book, "") == [] and scenarios.read(Book(book.root / "nowhere")) == []


@pytest.mark.parametrize(
    "old, new, says",
    [
        (
            "chapter: tiny",
            "chapter: tinny",
            "line 1, scenario busy: unknown chapter 'tinny'; nearest: tiny",
        ),
        (
            "utilization:",
            "utilisation:",
            "line 6, scenario busy: utilisation: no such parameter; nearest: utilization",
        ),
        (
            "0.9",
            "90",
            "line 6, scenario busy: utilization = 90: outside 0.01 to 1; did you mean 0.9 (90 %)?",
        ),
        ("0.9", "2.5 EUR", "line 6, scenario busy: utilization = '2.5 EUR': needs a finite number"),
        (
            "on demand",
            "reserved",
            "line 7, scenario busy: plan = 'reserved': not among the choices",
        ),
        (
            "title: A busy machine",
            "titel: A busy machine",
            "line 3: unknown key 'titel'; nearest: title",
        ),
        ("  title: A busy machine\n", "", "line 1: the entry lacks title"),
        ("name: busy", "name: Busy one", "line 2: name = 'Busy one': becomes an address"),
        ("name: busy", "name: 7", "line 2: name = 7: needs a text"),
        (
            "    utilization: 0.9\n    plan: on demand\n",
            "",
            "line 5: expected parameters as name: value",
        ),
        (
            "- chapter: tiny",
            "chapter: tiny",
            "expected a list of entries with chapter, name, title, why, parameters",
        ),
    ],
)
def test_a_wrong_scenario_is_named_with_its_line(book, old, new, says):
    assert old in SCENARIO
    text = SCENARIO.replace(old, new, 1)
    text = (
        text.replace("\n  ", "\n")
        if new.startswith("chapter") and not old.startswith("chapter")
        else text
    )
    with pytest.raises(PressError) as caught:
        scenarios.jobs(book, declare(book, text))
    assert str(caught.value).startswith("book/scenarios.yml") and says in str(caught.value)


def test_two_scenarios_of_one_name_are_refused(book):
    with pytest.raises(PressError, match=r"line 8: tiny has a scenario 'busy' on line 1"):
        declare(book, SCENARIO * 2)


def test_later_builds_have_what_was_found_in_the_same_tables_and_no_others(tmp_path, monkeypatch):
    monkeypatch.delenv(REMEMBERED, raising=False)
    kept = Book(tmp_path).build / "remembered"
    states = iter(["a", "a", "b", "b"])
    inputs = SimpleNamespace(book=Book(tmp_path), remembered=lambda: kept / next(states))
    found = []
    for anew in (False, False, False, True):
        with build._remembering(inputs, anew):
            folder = Path(os.environ[REMEMBERED])
            found.append(folder.is_dir())
            folder.mkdir(parents=True, exist_ok=True)
        assert REMEMBERED not in os.environ
    assert found == [False, True, False, False]
    assert [folder.name for folder in kept.iterdir()] == ["b"]


def test_what_is_remembered_is_of_every_table_and_of_no_chapter(book):
    before = Inputs(book).remembered()
    text = book.text(book.chapters()[0])
    text.write_text(text.read_text() + "\nMore.\n")
    assert Inputs(book).remembered() == before
    table = next(book.data.rglob("*.csv"))
    table.write_text(table.read_text() + "\n")
    assert Inputs(book).remembered() != before
