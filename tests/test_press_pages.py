"""What a reader sees of a run: the pages, their files to take along, and the status page."""

from __future__ import annotations

import json
import re
from html import unescape

import altair as alt
import pandas as pd
import pytest
from press_cases import declare, finish
from scaleright import catalog, charts
from scaleright.claims import verdicts
from scaleright.claims.listing import entries
from scaleright.files import write_whole
from scaleright.outputs import ANSWER_MIME, TABLE_MIME, TABLES_MIME, VEGALITE_MIME
from scaleright.press import pages, scenarios, site, status
from scaleright.press.execute import Job, Run
from scaleright.press.pages import unpacked
from scaleright.press.staleness import Inputs

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
    table = {"text/html": MARKUP, "text/plain": "Rents", TABLE_MIME: RENTS}
    answered = {
        "text/plain": "long",
        "text/html": "<p>long</p>",
        ANSWER_MIME: {"text": "It costs $2 & more.", "quantities": {}},
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


@pytest.mark.processes  # git, asked for days
def test_a_page_is_made_once_for_the_same_run_library_and_data(ran, book, monkeypatch):
    made, tidy = [], pages._tidy
    monkeypatch.setattr(pages, "_tidy", lambda *given: made.append(given[1]) or tidy(*given))
    first = site.staged(book)
    assert made == ["notebooks/tiny", "notebooks/tiny/busy"]
    assert site.staged(book) == first and len(made) == 2
    finish(book, result().replace(b"Words.", b"Others."))
    assert site.staged(book) != first and made[2:] == ["notebooks/tiny"]
    write_whole(book.data / "unread.csv", "usd\n2\n")  # which a drawing may be of
    site.staged(book)
    assert made[3:] == ["notebooks/tiny", "notebooks/tiny/busy"]
    assert len(list((book.build / "pages").iterdir())) == 1


def test_a_page_shows_the_notebook_without_what_only_machines_read(ran):
    page = json.loads(pages.chapter_page("tiny", result(), [(ran[0], result())]))
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
    assert sources.index("hours = 1") == sources.index("table") + 1
    cases = sources[sources.index("## Why") - 1]
    assert '<a href="tiny/busy.html">A busy machine</a> It costs $2 &amp; more.' in cases
    assert "Worked cases" not in str(pages.chapter_page("tiny", result(), []))


def test_words_before_the_heading_of_the_case_leave_cases_and_parameters_under_it(ran):
    notebook = json.loads(result())
    case = next(cell for cell in notebook["cells"] if cell["source"] == "## Your case")
    case["source"] = "Words on a chart.\n\n## Your case"
    content = json.dumps(notebook).encode()
    page = json.loads(pages.chapter_page("tiny", content, [(ran[0], result())]))
    sources = [cell["source"] for cell in page["cells"]]
    assert sources.index("hours = 1") > sources.index(case["source"])
    assert sources[sources.index("## Why") - 1].startswith("### Worked cases")


def test_a_scenarios_page_says_what_it_is_and_leads_back(ran):
    page = json.loads(pages.scenario_page(ran[0], result()))
    top = page["cells"][0]["source"]
    assert (
        top.startswith("# A busy machine\n") and "Words." in top and "What a full day asks." in top
    )
    assert (
        '<a href="../tiny.html">What does it cost?</a>' in top
        and "<code>utilization = 0.9</code>" in top
    )
    assert 'href="../../downloads/tiny-busy-rents.json"' in str(page["cells"])


def test_a_page_tells_the_readers_script_from_when_its_data_is_old():
    page = json.loads(pages.chapter_page("tiny", result(), []))["cells"][0]["source"]
    facts = json.loads(unescape(re.search('data-sr-tables="([^"]*)"', page)[1]))
    assert facts == [{"title": "Prices", "as_of": "2026-01-01", "days": 30}]
    assert " hidden>" in page and "<ul></ul>" in page, "the day of the build is not on it"


def test_tables_can_be_taken_along_as_they_were_computed(book, ran):
    files = pages.files(book, ran)
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
    judged = entries(catalog.data_dir())
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
    page = status.status_page(book, ran)
    assert page.startswith("# Status\n")
    rows = [re.sub(r"<[^>]+>", "|", row) for row in re.findall("<tr>(.*?)</tr>", page)]
    rows = [re.sub(r"\|+", "|", row).strip("|") for row in rows]
    assert {
        "What does it cost?|the defaults",
        "A busy machine|utilization = 0.9, plan = on demand",
    } <= set(rows)
    assert {
        "Prices (|prices|)|2026-01-01|30|2026-01-31",
        "Prices (|measured/b|)|2026-01-01|90|2026-04-01",
    } <= set(rows)
    assert f"scaleright|{status.__version__}" in rows
    script = status.seconds(book, ran)
    assert f'src="../{status.RUNS}"' in page
    for place, taken in (("tiny", "1.0"), ("tiny/busy", "2.5")):
        assert f'data-sr-run="{place}"></span>' in page and f'"{place}": "{taken}"' in script
        assert taken not in rows[1] + rows[2], "a time differs from build to build"
    verdict = next(row for row in rows if row.startswith("all|")).split("|")[1:]
    assert sum(map(int, verdict[1:])) == int(verdict[0]) == len(judged) > 5
    assert all(f"- *{said}*: {means}" in page for said, means in verdicts.MEANINGS.items())
    assert f"at most {verdicts.WIDEST:g} times apart" in page


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
    page = json.loads(pages.chapter_page("tiny", content, []))
    lean = [output["data"]["text/html"] for output in page["cells"][-1]["outputs"]]
    (told,) = re.findall(r'class="sr-shared">(.*?)</script>', "".join(lean))
    ((key, data),) = unpacked(told).items()
    for text, output in zip(lean, outputs, strict=False):
        spec = unpacked(re.search(r'class="sr-spec">(.*?)</script>', text)[1])
        assert spec["datasets"] == {"rows-1": {"sr-shared": key}}
        assert spec | {"datasets": {"rows-1": data}} == output["data"][VEGALITE_MIME]


def test_a_chart_names_what_a_sentence_of_the_page_has_defined(live):
    bill = live.given.price * 24
    displays = [charts.sentence("{bill:usd}")]
    chart = charts.bars({"a": bill, "b": 2 * bill}, "what", None, "usd", "USD")
    displays.append(charts.show(chart, alt="Two bars of bills."))
    below = alt.Chart(alt.InlineData(values=[{"x": 1}])).mark_bar().encode(x="x:Q")
    below = below.transform_filter("datum.x<twice")
    twice = 2 * bill
    displays += [charts.sentence("{twice:usd}")]
    assert live.signal(twice, "twice") == "twice"
    displays += [charts.show(below, alt="A bar beneath it.")]
    outputs = [{"output_type": "display_data", "data": shown.bundle} for shown in displays]
    content = json.dumps(
        {"cells": [{"cell_type": "code", "metadata": {}, "source": "", "outputs": outputs}]}
    ).encode()
    page = json.loads(pages.chapter_page("tiny", content, []))
    texts = [output["data"]["text/html"] for output in page["cells"][-1]["outputs"]]
    spec = unpacked(re.search(r'class="sr-spec">(.*?)</script>', texts[1])[1])
    own = displays[1].bundle[VEGALITE_MIME]["params"]
    assert {"name": "bill", "expr": "(price * 24)"} in own and "bill" in spec["params"]
    assert "bill" not in spec["usermeta"]["scaleright"]["defined"] and bill.value == 48.0
    spec = unpacked(re.search(r'class="sr-spec">(.*?)</script>', texts[3])[1])
    assert "twice" in spec["params"] and "bill" not in spec["params"]  # which "twice" alone reads
