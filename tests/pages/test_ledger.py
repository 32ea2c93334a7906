"""The page of the ledger: every claim, filtered, searched and sorted as the command does it."""

from __future__ import annotations

import csv
import io
import json
from urllib.parse import urlencode

import pytest
from browse import ROOT
from scaleright.claims import listing

PAGE = "book/ledger.html"
SHOWN = (
    "[...document.querySelectorAll('.sr-ledger tbody tr')].filter((row) => !row.hidden)"
    ".map((row) => row.id)"
)


@pytest.fixture(scope="module")
def lines() -> list[listing.Entry]:
    return listing.entries(ROOT / "data")


def ids(of: list[listing.Entry]) -> list[str]:
    return [line.claim.id.lower() for line in of]


def test_the_page_has_every_claim_with_words_reading_range_verdict_and_chapter(look, html, lines):
    opened = look(PAGE)
    told = opened.ask(
        "[...document.querySelectorAll('.sr-ledger tbody tr')].map((row) => [row.id,"
        " ...[...row.cells].map((cell) => cell.textContent), row.querySelector('a')?.pathname])"
    )
    assert [row[0] for row in told] == ids(lines)
    for row, line in zip(told, lines, strict=True):
        assert line.claim.statement in row[1] and line.words in row[1]
        assert row[2] == line.document.short and row[3] == line.claimed
        assert line.found in row[4] and line.finding.line() in row[4]
        assert row[5] == line.verdict
        chapter = f"/notebooks/{line.claim.chapter}.html"
        assert (row[7] or "").endswith(chapter if (html / chapter[1:]).is_file() else "")


ASKED = [
    {"document": "Clarifai"},
    {"verdict": "off by a factor"},
    {"subject": "serving", "document": "Clarifai"},
    {"chapter": "inference_ladder"},
    {"words": "photonic chips"},
    {"document": "Andreessen Horowitz", "verdict": "reproduced", "words": "A100"},
    {"document": "Token Cost Analysis on pretraining", "subject": "serving"},
]


@pytest.mark.parametrize("asked", ASKED, ids="-".join)
def test_the_page_filters_as_the_command_does(visit, lines, asked):
    opened = visit(PAGE)
    opened.open(f"{PAGE}?{urlencode(asked)}")
    wanted = listing.chosen(lines, **asked)
    assert opened.ask(SHOWN) == ids(wanted)
    said = opened.ask("document.querySelector('.sr-filter output').textContent")
    assert said == f"{len(wanted)} of {len(lines)} claims"


def test_what_is_asked_by_keyboard_stands_in_the_address(visit, lines):
    opened = visit(PAGE)
    opened.page.focus(".sr-filter select[name='document']")
    opened.page.keyboard.type("Clarifai")
    opened.page.focus(".sr-filter input[name='words']")
    opened.page.keyboard.type("H100 rent")
    wanted = listing.chosen(lines, document="Clarifai", words="H100 rent")
    assert opened.ask(SHOWN) == ids(wanted) and wanted
    assert "document=Clarifai" in opened.page.url and "words=H100+rent" in opened.page.url
    opened.page.focus(".sr-filter button[type='reset']")
    opened.page.keyboard.press("Enter")
    opened.page.wait_for_function("!location.search")
    assert opened.ask(SHOWN) == ids(lines)


@pytest.mark.parametrize("head", ["claim", "document", "verdict"])
def test_a_column_sorts_both_ways_by_keyboard(visit, lines, head):
    opened = visit(PAGE)
    button = f".sr-ledger thead button:text-is('{head}')"
    for way in ("ascending", "descending"):
        opened.page.focus(button)
        opened.page.keyboard.press("Enter")
        sorts = opened.ask("document.querySelector('.sr-ledger [aria-sort]').ariaSort")
        assert sorts == way
        first = opened.ask(SHOWN)[0]
        if head == "verdict":
            verdicts = list(listing.counts(lines))
            known = {line.claim.id.lower(): line.finding.verdict for line in lines}
            assert known[first] == verdicts[0 if way == "ascending" else -1]
    assert sorted(opened.ask(SHOWN)) == sorted(ids(lines))


def test_the_claims_that_are_furthest_off_come_first_when_asked(visit, lines):
    opened = visit(PAGE)
    for _ in range(2):
        opened.page.click(".sr-ledger thead button:text-is('recomputed')")
    away = opened.ask(
        "[...document.querySelectorAll('.sr-ledger tbody tr')].map((row) => +row.dataset.off)"
    )
    assert away == sorted(away, reverse=True) and away[0] > 1


def test_the_ledger_is_a_plain_table_without_scripts(browser, site, lines):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site + PAGE)
    assert page.locator(".sr-ledger tbody tr:visible").count() == len(lines)
    assert not page.locator(".sr-filter").is_visible()
    context.close()


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_ledger_fits_a_phone(visit, mode):
    opened = visit(PAGE, 360, mode)
    assert opened.ask("document.documentElement.scrollWidth") <= 360
    assert opened.ask("probe.outside(360)") == []


def test_the_whole_ledger_can_be_taken_along(html, lines):
    rows = list(csv.DictReader(io.StringIO((html / "downloads/ledger.csv").read_text("utf-8"))))
    told = json.loads((html / "downloads/ledger.json").read_text("utf-8"))
    wanted = [line.claim.id for line in lines]
    assert [row["id"] for row in rows] == [row["id"] for row in told["claims"]] == wanted
    assert {document["year"] for document in told["documents"]} == {2023, 2025, 2026}
    assert (html / PAGE).stat().st_size < 1_000_000
