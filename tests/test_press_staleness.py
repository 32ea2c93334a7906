"""What must run again, decided from content; and scenarios, checked before they run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from press_cases import SCENARIO, declare, executed, finish
from scaleright import REMEMBERED
from scaleright.files import write_whole
from scaleright.press import Book, PressError, scenarios, site
from scaleright.press.execute import Job, Run, Used
from scaleright.press.staleness import NEW, Inputs, asked_by, behind, reasons


def test_a_chapter_is_fresh_until_something_it_depends_on_changes(book):
    assert Inputs(book).stale() == ["tiny"]
    finish(book)
    assert Inputs(book).stale() == []


@pytest.mark.parametrize(
    "name",
    ["notebooks/text/tiny.md", "requirements.txt", "data/datapackage.json", "data/prices.csv"],
)
def test_a_changed_input_makes_a_chapter_stale_and_says_so(book, name):
    finish(book)
    with (book.root / name).open("a", encoding="utf-8") as file:
        file.write("\n#" if name.endswith("json") else "\n")
    assert Inputs(book).stale() == ["tiny"]
    assert Inputs(book).why("tiny") == f"{name} has changed"


@pytest.mark.parametrize(
    "name", ["data/unread.csv", "book/index.md", "book/references.bib", "_config.yml"]
)
def test_what_a_chapter_does_not_read_leaves_it_fresh(book, name):
    finish(book)
    (book.root / name).write_text("title: changed")
    assert Inputs(book).stale() == []


def test_the_entry_of_a_table_counts_with_the_table(book):
    package = book.data / "datapackage.json"
    entries = [{"path": f"{name}.csv", "title": name} for name in ("prices", "unread")]
    package.write_text(json.dumps({"resources": entries}))
    finish(book)
    package.write_text(json.dumps({"resources": [entries[0], entries[1] | {"title": "Other"}]}))
    assert Inputs(book).stale() == []
    package.write_text(json.dumps({"resources": [entries[0] | {"title": "Other"}, entries[1]]}))
    assert Inputs(book).why("tiny") == "data/prices.csv has changed"


def test_a_chapter_without_a_data_record_is_taken_to_read_every_table(book):
    finish(book, executed())
    (book.data / "unread.csv").write_text("changed")
    assert Inputs(book).stale() == ["tiny"]


def test_a_file_that_a_run_opened_counts_and_one_that_builds_make_does_not(book):
    opened = [book.root / name for name in ("book/extra.yml", "notes.txt", "_build/x", "lib/y")]
    for path in opened:
        write_whole(path, "a: 1\n")
    used = Used(files=(*map(str, opened), "/etc/hostname"))
    Inputs(book).keep(Run(Job("tiny"), executed("prices"), 1.0, used))
    for path in opened[2:]:
        path.write_text("a: 2\n")
    assert Inputs(book).stale() == []
    for path in opened[:2]:
        path.write_text("a: 2\n")
        assert Inputs(book).why("tiny") == f"{path.relative_to(book.root)} has changed"
        path.write_text("a: 1\n")


def _spoiled(record: Path, **fields: object) -> None:
    record.write_text(json.dumps(json.loads(record.read_text()) | fields))


@pytest.mark.parametrize(
    "spoil, says",
    [
        (lambda record: record.write_text("{"), "the record of the last run is damaged"),
        (lambda record: record.write_bytes(b"\xff"), "the record of the last run is damaged"),
        (lambda record: record.write_text("[]"), "the record of the last run is damaged"),
        (lambda record: _spoiled(record, inputs={}), "the record of the last run is damaged"),
        (lambda record: _spoiled(record, inputs=None), "the record of the last run is damaged"),
        (
            lambda record: record.with_suffix(".ipynb").write_bytes(b"{}"),
            "what the last run gave is missing or was changed",
        ),
        (
            lambda record: record.with_suffix(".ipynb").unlink(),
            "what the last run gave is missing or was changed",
        ),
    ],
)
def test_a_damaged_record_or_result_runs_again_with_one_line_that_says_why(book, spoil, says):
    finish(book)
    spoil(book.executed("tiny").with_suffix(".json"))
    assert Inputs(book).why("tiny") == says
    said = reasons({"tiny": says, "other": NEW})
    assert said == [f"{says}: tiny runs again"]


def test_a_table_that_vanishes_before_or_during_a_run_makes_it_run_again(book):
    inputs = Inputs(book)
    (book.data / "prices.csv").rename(book.data / "moved")
    inputs.keep(Run(Job("tiny"), executed("prices"), 1.0))
    assert Inputs(book).why("tiny") == "data/prices.csv is missing"
    Inputs(book).keep(Run(Job("tiny"), executed("prices"), 1.0))  # it ran without
    assert Inputs(book).why("tiny") == "data/prices.csv is missing"


def test_a_change_during_a_run_is_not_taken_for_run(book):
    inputs = Inputs(book)
    (book.data / "prices.csv").write_text("changed while running")
    inputs.keep(Run(Job("tiny"), executed("prices"), 1.0))
    assert Inputs(book).stale() == ["tiny"]


def test_dates_decide_nothing(book):
    finish(book)
    for year in (1971, 2100):  # a clock that jumped
        for path in book.root.rglob("*"):
            os.utime(path, (moment := (year - 1970) * 31_556_952, moment))
        assert Inputs(book).stale() == []


# What stands behind a module


def test_imports_count_wherever_they_stand_and_those_for_types_alone_do_not():
    found = behind(["scaleright.parameters"])
    assert {"scaleright", "scaleright.catalog", "scaleright.transformer"} <= found  # when called
    assert not any(name.startswith(("scaleright.rules", "scaleright.press")) for name in found)
    assert behind(["scaleright.no_such_module"]) == frozenset()


def test_the_cells_of_a_text_say_what_they_import():
    text = """\
```{code-cell} ipython3
:tags: [answer]

import numpy as np
from scaleright import catalog
def late():
    import scaleright.units
```
```{code-cell} ipython3
%pip install
```
from scaleright import charts
"""
    assert asked_by(text) == {"scaleright", "scaleright.catalog", "scaleright.units"}


MOST_BEHIND_EVERY_CHAPTER = 90


def test_few_modules_stand_behind_every_chapter():
    book = Book(Path(__file__).resolve().parents[1])
    of_each = [behind(asked_by(book.text(chapter).read_text())) for chapter in book.chapters()]
    common = frozenset.intersection(*of_each)
    assert len(of_each) > 20 and "scaleright.charts" in common
    assert len(common) <= MOST_BEHIND_EVERY_CHAPTER, sorted(common)


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
    found, now = [], kept / ""
    inputs = SimpleNamespace(book=Book(tmp_path), remembered=lambda: now, behind_each={})
    for anew in (False, False, False, True):
        now = kept / next(states)
        with site._remembering(inputs, anew):
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
