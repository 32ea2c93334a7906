"""The press: what must run again, the same bytes each time, and no build that harms the last good
site.
"""

from __future__ import annotations

import ast
import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from datetime import date
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import altair as alt
import nbformat
import pandas as pd
import psutil
import pytest
from scaleright import charts
from scaleright.catalog import TABLES_MIME
from scaleright.press import (
    Book,
    PressError,
    downloads,
    notebooks,
    pages,
    repository,
    scenarios,
    site,
    staleness,
    status,
    write_whole,
)
from scaleright.press.execute import ChapterError, Job, Run, answer, load, run_all
from scaleright.press.staleness import Inputs, tables_read

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
    book.text(name).write_text(
        book.text("tiny").read_text() + f"\n```{{code-cell}} ipython3\n{code}\n```\n"
    )


# What must run again


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
    with open(book.root / name, "a") as file:
        file.write("\n")
    assert Inputs(book).stale() == ["tiny"]


def test_a_changed_library_makes_a_chapter_stale(book, monkeypatch):
    finish(book)
    monkeypatch.setattr(staleness, "library", lambda: "another")
    assert Inputs(book).stale() == ["tiny"]


@pytest.mark.parametrize("name", ["data/unread.csv", "book/index.md", "_config.yml"])
def test_what_a_chapter_does_not_read_leaves_it_fresh(book, name):
    finish(book)
    (book.root / name).write_text("changed")
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
        (staleness._LIBRARY / name).is_file() for name in staleness._INSIDE_CHAPTERS
    )


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
    with open(book.text("tiny"), "a") as file:
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
    ("old", "new", "says"),
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
        ("plan: on demand", "utilization: 1", "line 7: utilization stands here twice"),
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
        ("why: What", "why: [What", "line 5: "),
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


# Running


def test_a_chapter_runs_to_the_same_bytes_and_bears_no_trace_of_the_run(book):
    first, second = run(book, "tiny")[0], run(book, "tiny")[0]
    assert first.content == second.content
    assert b"papermill" not in first.content and str(book.root).encode() not in first.content
    assert answer(first.content) == "10 useful hours cost $60.00."
    assert tables_read(first.content) == ["prices"]


def test_given_values_reach_the_chapter(book):
    assert (
        answer(run(book, "tiny", hours=20, utilization=0.5)[0].content)
        == "20 useful hours cost $96.00."
    )


def test_a_value_that_slips_past_the_front_door_is_refused_inside(book):
    with pytest.raises(
        ChapterError,
        match=r"tiny/busy: code cell 3 .*ParameterError: utilization = 40: .* did you mean 0.4",
    ):
        run_all(book, [Job("tiny", {"utilization": 40}, "busy")], 1, pytest.fail)


def test_failing_chapters_are_named_with_cell_and_error_and_the_others_are_kept(book):
    add(book, "broken", "# divide\n1 / 0")
    add(book, "noisy", "import warnings\nwarnings.warn('old data')")
    add(book, "dead", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    done: list[Run] = []
    with pytest.raises(ChapterError) as caught:
        run_all(book, [Job(c) for c in ("broken", "noisy", "dead", "tiny")], 2, done.append)
    message = str(caught.value)
    assert "broken: code cell 6 ('# divide'): ZeroDivisionError: division by zero" in message
    assert (
        "noisy: code cell 6 ('import warnings') wrote to stderr" in message
        and "old data" in message
    )
    assert "dead: code cell 6 ('import os, signal') ended the kernel" in message
    assert [r.job.chapter for r in done] == ["tiny"]


def test_a_page_tells_long_data_once_and_a_notebook_each_time():
    rows = pd.DataFrame({"x": range(400), "y": range(400)})
    charted = [alt.Chart(rows).mark_point().encode(x="x:Q", y=f"{field}:Q") for field in "xy"]
    outputs = [
        {"output_type": "display_data", "data": charts.show(chart, alt="Four hundred dots.").bundle}
        for chart in charted
    ]
    content = json.dumps(
        {"cells": [{"cell_type": "code", "metadata": {}, "source": "", "outputs": outputs}]}
    ).encode()
    page = json.loads(pages.chapter_page("tiny", content, [], date(2026, 1, 2)))
    lean = [output["data"]["text/html"] for output in page["cells"][-1]["outputs"]]
    (told,) = re.findall(r'class="sr-shared">(.*?)</script>', "".join(lean))
    ((key, data),) = json.loads(told).items()
    for text, output in zip(lean, outputs):
        spec = json.loads(re.search(r'class="sr-spec">(.*?)</script>', text)[1])
        assert spec["datasets"] == {"rows-1": {"sr-shared": key}}
        assert spec | {"datasets": {"rows-1": data}} == output["data"][charts.render.VEGALITE]


def test_kernels_are_spoken_to_through_files_that_are_gone_afterwards(book):
    """Ports are chosen before they are bound: of many kernels at once, one would find its port
    taken and die.
    """
    add(
        book,
        "told",
        "import json\nfrom ipykernel import get_connection_info\nfound ="
        " json.loads(get_connection_info())\nfound['transport'], found['ip']",
    )
    cells = [json.loads(done.content)["cells"][-1] for done in run(book, *["told"] * 6, workers=6)]
    told = [ast.literal_eval("".join(cell["outputs"][0]["data"]["text/plain"])) for cell in cells]
    assert {transport for transport, _ in told} == {"ipc"} and len({at for _, at in told}) == 6
    assert not any(Path(at).parent.exists() for _, at in told)


def test_a_warm_kernel_gives_what_a_fresh_one_gives_and_knows_nothing_of_the_run_before(book):
    add(
        book,
        "left",
        "import os, altair\nos.environ['LEFT'] = 'x'\naltair.left = left = 1\nprint(os.getcwd(),"
        " __name__)",
    )
    add(
        book,
        "found",
        "import os, altair\n('LEFT' in os.environ, hasattr(altair, 'left'), 'left' in globals(),"
        " os.getsid(0) == os.getpid())",
    )
    warm = {
        done.job.chapter: done.content for done in run(book, "left", "tiny", "found", workers=1)
    }
    assert warm == {chapter: run(book, chapter)[0].content for chapter in ("left", "tiny", "found")}
    assert json.loads(warm["found"])["cells"][-1]["outputs"][0]["data"]["text/plain"] == [
        "(False, False, False, True)"
    ]


def test_a_malformed_parameter_line_fails_the_chapter(book):
    book.text("tiny").write_text(book.text("tiny").read_text().replace("(0.01..1)", ""))
    with pytest.raises(PressError, match="tiny, parameters cell, line 2: .*low..high"):
        run(book, "tiny")


def test_a_case_is_read_where_no_history_is_kept_and_a_changed_output_is_noticed(book):
    write_whole(book.notebook("tiny"), run(book, "tiny")[0].content)
    nbval = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval",
        "--nbval-current-env",
        "-p",
        "no:cacheprovider",
        str(book.notebook("tiny")),
    ]
    assert subprocess.run(nbval, cwd=book.root).returncode == 0
    write_whole(
        book.notebook("tiny"), book.notebook("tiny").read_text().replace("$60.00", "$61.00")
    )
    assert subprocess.run(nbval, cwd=book.root).returncode == 1


# What outputs hand to machines


def test_an_answer_carries_its_sentence_and_its_quantities():
    live = charts.controls(SimpleNamespace(parameters=()))
    card = charts.answer_card(
        "It costs {cost} for {who}.",
        range="{low} to $3",
        controls=live,
        cost=live.number("usd", alt.datum.x, 2 / 3, "usd"),
        who=live.words("name", alt.datum.y, "you"),
        low="$1",
        quantities={"hours": (float("inf"), "hours"), "low": (1.0, "usd")},
    )
    carried = card.bundle[charts.machine.ANSWER_MIME]
    assert (
        carried["text"] == "It costs $0.667 for you."
        and str(card) == carried["text"] + " Range: $1 to $3."
    )
    assert carried["quantities"] == {
        "usd": {"value": 0.666666666667, "unit": "usd"},
        "name": {"value": "you", "unit": ""},
        "hours": {"value": None, "unit": "hours"},
        "low": {"value": 1.0, "unit": "usd"},
    }


def test_a_table_carries_its_raw_numbers_with_types_and_units():
    rows = pd.DataFrame(
        {
            "chip": ["A", None],
            "price": [2 / 3, None],
            "months [months]": [float("inf"), 3],
            "count": pd.array([1, None], dtype="Int64"),
            "day": pd.to_datetime(["2026-09-29", None]),
            "sold": [True, False],
            "mixed": ["no", 1],
        }
    )
    shown = charts.table(rows, "Prices, new: all of them", {"price": "usd", "months [months]": str})
    carried = shown.bundle[charts.machine.TABLE_MIME]
    assert (
        charts.folded(shown, "more").bundle[charts.machine.TABLE_MIME] == carried
        and carried["name"] == "prices"
    )
    kinds = {
        field["name"]: (field["type"], field.get("unit", ""))
        for field in carried["schema"]["fields"]
    }
    assert kinds == {
        "chip": ("string", ""),
        "price": ("number", "USD"),
        "months [months]": ("number", "months"),
        "count": ("integer", ""),
        "day": ("date", ""),
        "sold": ("boolean", ""),
        "mixed": ("string", ""),
    }
    assert carried["data"] == [
        {
            "chip": "A",
            "price": 0.666666666667,
            "months [months]": "INF",
            "count": 1,
            "day": "2026-09-29",
            "sold": True,
            "mixed": "no",
        },
        {
            "chip": None,
            "price": None,
            "months [months]": 3.0,
            "count": None,
            "day": None,
            "sold": False,
            "mixed": "1",
        },
    ]
    cell = nbformat.v4.new_code_cell(
        outputs=[nbformat.v4.new_output("display_data", data=shown.bundle)]
    )
    nbformat.validate(nbformat.v4.new_notebook(cells=[cell]))


# The hosting repository


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
            PressError, match="SCALERIGHT_REPOSITORY = .*: expected the address of a repository"
        ):
            repository.hosting(book.root)


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
        " shell.user_ns['case'].setting)"
    )
    clean = {k: v for k, v in os.environ.items() if k != "SCALERIGHT_DATA"} | {
        "PYTHONPATH": str(place)
    }
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps(cells)],
        cwd=tmp_path,
        env=clean,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    module, data, rows, setting = done.stdout.split()[-4:]
    assert Path(module).is_relative_to(place) and Path(data) == place / "scaleright" / "data"
    assert int(rows) > 100 and setting == "home"


# Pages and files


FIELDS = [{"name": "chip", "type": "string"}, {"name": "rent", "type": "number", "unit": "USD/h"}]
RENTS = {
    "name": "rents",
    "title": "Rents & more",
    "schema": {"fields": FIELDS},
    "data": [{"chip": "A, B", "rent": 2 / 3}, {"chip": "C", "rent": None}],
}
MARKUP = '<div class="sr-table"><table><caption>Rents</caption></table></div></details>'
OLD = {"title": "Prices", "as_of": "2026-01-01", "stale_after_days": 30}


def output(**data) -> dict:
    return {"output_type": "display_data", "metadata": {}, "data": data}


def code(source: str, *outputs: dict, tags: tuple[str, ...] = ()) -> dict:
    return {
        "cell_type": "code",
        "id": source,
        "metadata": {"tags": list(tags)},
        "execution_count": 1,
        "source": source,
        "outputs": list(outputs),
    }


def told(text: str) -> dict:
    return {"cell_type": "markdown", "id": text, "metadata": {}, "source": text}


def result() -> bytes:
    """A stand-in for an executed notebook with an answer, the same table twice, and its data
    record.
    """
    table = {"text/html": MARKUP, "text/plain": "Rents", charts.machine.TABLE_MIME: RENTS}
    answered = {
        "text/plain": "long",
        "text/html": "<p>long</p>",
        charts.machine.ANSWER_MIME: {"text": "It costs $2 & more.", "quantities": {}},
    }
    record = {
        "text/html": "<table></table>",
        TABLES_MIME: {"tables": ["prices"], "dates": {"prices": OLD}},
    }
    cells = [
        told("# What does it cost?\n\nWords."),
        code("hours = 1", tags=("parameters",)),
        code("hours = 2", tags=("injected-parameters",)),
        code("answer", output(**answered), tags=("answer",)),
        told("## Your case"),
        code("table", output(**table), output(**table)),
        told("## Why"),
        code("record", output(**record)),
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


@pytest.fixture
def ran(book) -> list[scenarios.Scenario]:
    """The book with its chapter and one scenario taken for run."""
    found = declare(book)
    finish(book, result())
    Inputs(book).keep(Run(Job("tiny", {}, "busy"), result(), 2.5))
    return found


def test_a_page_shows_the_notebook_without_what_only_machines_read(ran):
    page = json.loads(pages.chapter_page("tiny", result(), [(ran[0], result())], date(2026, 1, 2)))
    assert {
        mime for cell in page["cells"] for o in cell.get("outputs", ()) for mime in o["data"]
    } == {"text/html"}
    assert not [cell for cell in page["cells"] if cell["source"] == "hours = 2"]
    first, second = (
        o["data"]["text/html"]
        for cell in page["cells"]
        if cell["source"] == "table"
        for o in cell["outputs"]
    )
    for markup, name in ((first, "tiny-rents"), (second, "tiny-rents-2")):
        assert (
            markup.endswith("</p></details>")
            and f'href="../downloads/{name}.csv" download' in markup
        )
    assert 'aria-label="CSV of the table: Rents &amp; more"' in first
    sources = [cell["source"] for cell in page["cells"]]
    cases = sources[sources.index("## Why") - 1]
    assert '<a href="tiny/busy.html">A busy machine</a> It costs $2 &amp; more.' in cases
    assert "Worked cases" not in str(pages.chapter_page("tiny", result(), [], date(2026, 1, 2)))


def test_a_scenarios_page_says_what_it_is_and_leads_back(ran):
    page = json.loads(pages.scenario_page(ran[0], result(), date(2026, 1, 2)))
    top = page["cells"][0]["source"]
    assert (
        top.startswith("# A busy machine\n") and "Words." in top and "What a full day asks." in top
    )
    assert (
        '<a href="../tiny.html">What does it cost?</a>' in top
        and "<code>utilization = 0.9</code>" in top
    )
    assert 'href="../../downloads/tiny-busy-rents.json"' in str(page["cells"])


def test_a_page_warns_of_old_data_and_names_it(ran):
    fresh, old = (
        json.loads(pages.chapter_page("tiny", result(), [], day))["cells"][0]["source"]
        for day in (date(2026, 1, 31), date(2026, 2, 1))
    )
    assert " hidden>" in fresh and "<li>" not in fresh
    assert (
        " hidden>" not in old and "<li>Prices (2026-01-01): 31 days old, fresh for 30</li>" in old
    )
    for text in (fresh, old):
        facts = json.loads(unescape(re.search('data-sr-tables="([^"]*)"', text)[1]))
        assert facts == [{"title": "Prices", "as_of": "2026-01-01", "days": 30}]


def test_tables_can_be_taken_along_as_they_were_computed(book, ran):
    files = downloads.files(book, ran)
    stems = ["tiny", "tiny-busy"]
    assert sorted(files) == sorted(
        f"downloads/{s}{e}"
        for s in stems
        for e in (".ipynb", *(f"-rents{n}.{k}" for n in ("", "-2") for k in ("csv", "json")))
    )
    assert files["downloads/tiny.ipynb"] == result()
    assert (
        files["downloads/tiny-rents.csv"] == b'chip,rent [USD/h]\n"A, B",0.6666666666666666\nC,\n'
    )
    assert json.loads(files["downloads/tiny-busy-rents-2.json"]) == RENTS | {"name": "rents-2"}


def test_the_status_page_tells_of_runs_data_and_versions(book, ran):
    write_whole(
        book.data / "datapackage.json",
        json.dumps(
            {
                "resources": [
                    OLD | {"path": "prices.csv"},
                    OLD | {"path": "measured/b.csv", "stale_after_days": 90},
                ]
            }
        ),
    )
    page = status.page(book, ran, date(2026, 2, 10))
    assert page.startswith("# Status\n") and "Built on 2026-02-10." in page
    rows = [re.sub(r"<[^>]+>", "|", row) for row in re.findall("<tr>(.*?)</tr>", page)]
    rows = [re.sub(r"\|+", "|", row).strip("|") for row in rows]
    assert {
        "What does it cost?|the defaults|1.0",
        "A busy machine|utilization = 0.9, plan = on demand|2.5",
    } <= set(rows)
    assert {
        "Prices (|prices|)|2026-01-01|40|30|old",
        "Prices (|measured/b|)|2026-01-01|40|90|fresh",
    } <= set(rows)
    assert f"scaleright|{status.__version__}" in rows
    verdict = next(row for row in rows if row.startswith("all|")).split("|")[1:]
    assert sum(map(int, verdict[1:])) == int(verdict[0]) > 60


# Files and the swap


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "a.txt"
    assert write_whole(target, "one") and not write_whole(target, "one")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(target, "two")
    assert target.read_text() == "one" and list(tmp_path.iterdir()) == [target]


def rendered(book: Book, text: str) -> Path:
    folder = book.build / "render" / "_build" / "html"
    shutil.rmtree(folder, ignore_errors=True)
    write_whole(folder / "index.html", text)
    return folder


def shown(book: Book) -> str:
    return (book.build / "html" / "index.html").read_text()


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


# The whole command


def scaleright(book: Book, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", "from scaleright.cli import main; main()", *arguments],
        cwd=book.root,
        capture_output=True,
        text=True,
        timeout=120,
    )


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

    start = time.perf_counter()
    again = scaleright(book, "book")
    assert again.returncode == 0 and "nothing changed" in again.stdout
    assert time.perf_counter() - start < 3

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


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_build_leaves_no_process_and_the_last_good_site(book, sent, code):
    site.swap(book, rendered(book, "good"), "key")
    add(
        book,
        "slow",
        f"open({str(book.root / 'started')!r}, 'w').close()\nimport time\ntime.sleep(60)",
    )
    build = subprocess.Popen(
        [sys.executable, "-c", "from scaleright.cli import main; main()", "book"],
        cwd=book.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not (book.root / "started").exists():
        assert time.monotonic() < deadline and build.poll() is None
        time.sleep(0.05)
    children = psutil.Process(build.pid).children(recursive=True)
    assert len(children) >= 2, "a worker and its kernel"
    start = time.monotonic()
    build.send_signal(sent)
    _, errors = build.communicate(timeout=30)
    assert build.returncode == code and "Traceback" not in errors, errors
    assert time.monotonic() - start < 10
    assert not psutil.wait_procs(children, timeout=3)[1]
    assert shown(book) == "good"
    assert not list(book.root.rglob("*.part")) and not book.executed("slow").exists()


# Stored notebooks


def test_stored_notebooks_follow_the_executed_ones(book):
    finish(book)
    write_whole(book.notebook("gone"), "{}")
    assert notebooks.outdated(book) == ["gone", "tiny"]
    assert notebooks.store(book) == ["gone", "tiny"]
    assert notebooks.outdated(book) == []
    assert book.notebook("tiny").read_bytes() == book.executed("tiny").read_bytes()
    assert not book.notebook("gone").exists()
