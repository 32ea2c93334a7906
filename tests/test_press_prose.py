"""What pages of prose say of chapters, and the blocks of the start page."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from scaleright.outputs import ANSWER_MIME, TABLE_MIME
from scaleright.press import Book, PressError, prose, start
from scaleright.press.scenarios import read
from scaleright.press.start import Edition

ROOT = Path(__file__).resolve().parents[1]
FIELDS = [{"name": "chip", "type": "string"}, {"name": "paid after [months]", "type": "number"}]
QUANTITIES = {
    "usd": {"value": 3.0323, "unit": "usd"},
    "share": {"value": 0.4, "unit": "percent"},
    "chip": {"value": "H100 SXM", "unit": ""},
}
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": "# Why *so*?"},
        {
            "cell_type": "code",
            "metadata": {"tags": ["answer"]},
            "outputs": [
                {
                    "data": {
                        ANSWER_MIME: {
                            "text": "Rent it. $3.03 a token [now].",
                            "quantities": QUANTITIES,
                        },
                        TABLE_MIME: {
                            "name": "months",
                            "schema": {"fields": FIELDS},
                            "data": [{"chip": "H100 SXM", "paid after [months]": 14.6}],
                        },
                    }
                }
            ],
        },
    ]
}


class Told(prose.Pages):
    """The book's pages, each of which has run with the same notebook."""

    def __init__(self):
        super().__init__(book := Book(ROOT), read(book))

    def content(self, name: str) -> bytes:
        self.named(name)
        return json.dumps(NOTEBOOK).encode()


@pytest.fixture(scope="module")
def pages() -> prose.Pages:
    return Told()


def fill(pages, text: str) -> str:
    return prose.filled("book/a.md", text, pages, {"six": lambda _: "6 $"})


def test_prose_says_the_numbers_words_and_cells_of_an_answer(pages):
    asked = "{said}`token_cost.usd`, {said}`token_cost.share`, {said}`vendor_claims/announced.chip`"
    assert fill(pages, asked) == "\\$3.03, 40 %, H100 SXM"
    assert fill(pages, "{answer}`token_cost`") == "Rent it. \\$3.03 a token \\[now\\]."
    cell = "{cell}`token_cost|months|H100 SXM|paid after [months]|months 2`"
    assert fill(pages, cell) == "15 months"
    assert fill(pages, "a\n\n<!-- press: six -->\n") == "a\n\n6 $\n"


def test_a_link_has_the_question_or_words_and_the_case_filled_in(pages):
    assert (
        fill(pages, "{chapter}`token_cost`")
        == '<a href="../notebooks/token_cost.html">Why \\*so\\*?</a>'
    )
    linked = fill(pages, "{chapter}`a year <buy_or_rent?contract=one+year&hours_per_day=6>`")
    where = "../notebooks/buy_or_rent.html?contract=one+year&amp;hours_per_day=6"
    assert linked == f'<a href="{where}">a year</a>'
    assert "vendor_claims/announced.html" in fill(pages, "{chapter}`vendor_claims/announced`")


@pytest.mark.parametrize(
    "asked, said",
    [
        ("{said}`token_cast.usd`", "token_cost"),
        ("{said}`token_cost.usds`", "usd"),
        ("{said}`token_cost`", "said"),
        ("{cell}`token_cost|month|a|b|usd`", "months"),
        ("{cell}`token_cost|months|H100|paid after [months]|usd`", "H100 SXM"),
        ("{chapter}`token_cost?utilisation=0.4`", "utilization"),
        ("{chapter}`token_cost?utilization=4`", "utilization"),
        ("{chapter}`vendor_claims/announced?speed=30`", "is a case already"),
        ("<!-- press: seven -->", "six"),
    ],
)
def test_what_is_not_there_is_refused_with_its_line_and_the_nearest(pages, asked, said):
    with pytest.raises(PressError) as refused:
        fill(pages, f"First.\n\n{asked}\n")
    assert str(refused.value).startswith("book/a.md, line 3: ") and said in str(refused.value)


def test_a_figure_is_moved_by_its_last_two_editions():
    days = [date(2026, 8, 1), date(2026, 9, 1), date(2026, 10, 10)]
    rising = [Edition(day, value, 7) for day, value in zip(days, (9.0, 2.0, 2.1), strict=True)]
    assert start.moved(rising) == "up 5 % since September 1, 2026, at the same 7 sellers"
    assert start.moved(rising[:2]).startswith("down 78 % since August 1, 2026")
    assert start.moved(rising[:1]) == start.moved([]) == "first edition of this figure"


def test_stored_figures_are_those_of_the_stored_answers():
    kept = start.editions(ROOT / "data")
    assert len(start.HEADLINES) == 6
    for of in start.HEADLINES:
        editions = kept.get((of.chapter, of.quantity), [])
        assert len(editions) == (2 if of.rents else 0)
        if not editions:
            continue
        notebook = json.loads((ROOT / "notebooks" / f"{of.chapter}.ipynb").read_bytes())
        asked = prose.Pages(Book(ROOT), [])
        asked.notebook = lambda _, told=notebook: told
        value, _ = asked.quantity(of.chapter, of.quantity)
        again = "run `python -m refresh.headlines`"
        assert editions[-1].value == pytest.approx(value, rel=1e-3), again
        low, high = (asked.quantity(of.chapter, end)[0] for end in (of.low, of.high))
        assert low < value < high


def test_news_are_told_in_words_of_readers(tmp_path):
    pages = Told()
    told = start.news(pages).splitlines()
    assert 3 <= len(told) <= 6 and all(line.startswith("- ") for line in told)
    assert not [line for line in told if "`" in line]
    assert "$" not in "".join(told).replace(r"\$", "")  # two of them would be a formula
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n")
    pages.book = Book(tmp_path)
    with pytest.raises(PressError, match="For readers"):
        start.news(pages)


def test_every_preset_is_a_link_or_a_command(pages):
    told = start.presets(pages)
    linked, typed = told.count("plan.html?"), told.count("`scaleright plan ")
    assert linked >= 6 and linked + typed >= 12


def test_every_chapter_is_a_question_with_its_answer(pages):
    told = start.questions(pages)
    assert told.count("grid-item-card") == len(pages.book.chapters())
    assert "Rent it. \\$3.03 a token" in told


def test_no_page_of_prose_types_the_question_of_a_chapter():
    asked = {
        line.removeprefix("# ").strip()
        for path in (ROOT / "notebooks" / "text").glob("*.md")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("# ") and line.endswith("?")
    }
    assert len(asked) >= 20
    for page in (ROOT / "book").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert not [question for question in asked if question in text], page.name


def test_how_wrong_the_book_is_stands_in_one_chart(pages):
    rows = start.accuracy(ROOT / "data")
    assert all(row["low"] <= row["median"] <= row["high"] for row in rows)
    told = start.how_wrong(pages)
    assert told.count("<figure") == 1 and 'class="sr-spec">{' in told
    assert f"predicts {sum(row['rows'] for row in rows):,} figures that others published" in told
    assert list(start.pictured(pages.book)) == [told.split('id="sr-')[1].split('"')[0]]


@pytest.mark.long
def test_stored_errors_are_those_that_the_library_finds():
    from refresh import accuracy

    stored = start.accuracy(ROOT / "data")
    for kept, found in zip(stored, accuracy.lines(), strict=True):
        told = {name: float(found[name]) for name in ("rows", "low", "median", "high")}
        again = "run `python -m refresh.accuracy`"
        assert {name: kept[name] for name in told} == pytest.approx(told, rel=0.02), again
