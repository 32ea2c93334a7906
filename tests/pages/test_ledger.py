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


OPENED = pytest.mark.parametrize("name", [PAGE])
"""For tests that share one opening of the page, at its defaults, and leave it there."""


@OPENED
def test_the_page_has_every_claim_with_words_reading_range_verdict_and_chapter(
    look, html, lines, name
):
    opened = look(name)
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
    opened = visit(f"{PAGE}?{urlencode(asked)}")
    wanted = listing.chosen(lines, **asked)
    assert opened.ask(SHOWN) == ids(wanted)
    said = opened.ask("document.querySelector('.sr-filter output').textContent")
    assert said == f"{len(wanted)} of {len(lines)} claims"


@OPENED
def test_what_is_asked_by_keyboard_stands_in_the_address(look, lines, name):
    opened = look(name)
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


def test_columns_sort_both_ways_by_keyboard_and_by_how_far_claims_are_off(visit, lines):
    opened = visit(PAGE)
    verdicts = list(listing.counts(lines))
    known = {line.claim.id.lower(): line.finding.verdict for line in lines}
    button = ".sr-ledger thead button:text-is('{}')".format
    for head in ("claim", "document", "verdict"):
        for way, place in (("ascending", 0), ("descending", -1)):
            opened.page.focus(button(head))
            opened.page.keyboard.press("Enter")
            (sorted_by,) = opened.ask(
                "[...document.querySelectorAll('.sr-ledger [aria-sort]')]"
                ".map((head) => [head.textContent, head.ariaSort])"
            )
            assert sorted_by == [head, way]
            shown = opened.ask(SHOWN)
            assert sorted(shown) == sorted(ids(lines))
            assert head != "verdict" or known[shown[0]] == verdicts[place]
    for _ in range(2):
        opened.page.click(button("recomputed"))
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


def test_the_whole_ledger_can_be_taken_along(html, lines):
    rows = list(csv.DictReader(io.StringIO((html / "downloads/ledger.csv").read_text("utf-8"))))
    told = json.loads((html / "downloads/ledger.json").read_text("utf-8"))
    wanted = [line.claim.id for line in lines]
    assert [row["id"] for row in rows] == [row["id"] for row in told["claims"]] == wanted
    assert {document["year"] for document in told["documents"]} == {2023, 2025, 2026}
    assert (html / PAGE).stat().st_size < 1_000_000
