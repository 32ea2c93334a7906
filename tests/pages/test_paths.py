"""The start page and the paths of three readers, walked to their ends."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import PurePosixPath
from urllib.parse import parse_qsl, urljoin, urlsplit

import pytest
from browse import CHAPTERS, LISTED, PAGES, ROOT, SCENARIOS
from scaleright.outputs import ANSWER_MIME
from scaleright.press import Book, plans
from scaleright.press.execute import carried
from scaleright.press.headlines import HEADLINES

START = PAGES[0]
PATHS = [name for name in LISTED if name.startswith("book/for_")]
LINKS = (
    "[...document.querySelectorAll('article a:not(.sr-term, .headerlink, .sr-cited)')]"
    ".map((a) => a.getAttribute('href')).filter((a) => a && !a.startsWith('#'))"
)
JARGON = (
    "FLOP throughput latency inference batch decode KV MFU roofline utilization interactivity"
    " hyperscaler sharding quantiz precision goodput"
)
"""What no finance team says."""


def titled(html, name: str) -> str:
    text = (html / name).read_text(encoding="utf-8")
    head = re.search(r"<h1>(.*?)<a class=\"headerlink", text, re.DOTALL)[1]
    return unescape(re.sub("<[^>]*>", "", head))


def test_the_start_page_shows_six_figures_with_range_and_change(look):
    opened = look(START)
    tiles = opened.ask(
        "[...document.querySelectorAll('.sr-tiles a')].map((a) => [a.getAttribute('href'),"
        " ...[...a.children].map((part) => part.textContent)])"
    )
    assert [tile[0] for tile in tiles] == [f"../notebooks/{of.chapter}.html" for of in HEADLINES]
    for _, figure, label, change in tiles:
        assert re.search(r"\d", figure) and len(label.split()) > 5
        assert re.search(r"\d.* to .*\d.*; (up|down|unchanged|first edition)", change), change
    assert opened.troubles == []


def test_each_figure_is_that_of_its_chapter(visit):
    opened = visit(START)
    told = opened.ask(
        "[...document.querySelectorAll('.sr-tiles strong')].map((s) => s.textContent)"
    )
    for figure, of in zip(told, HEADLINES, strict=True):
        chapter = visit(f"notebooks/{of.chapter}.html")
        assert figure in chapter.page.locator("article").inner_text(), of.chapter


def test_titles_are_the_same_on_cards_pages_and_contents(look, html):
    opened = look(START)
    cards = dict(
        opened.ask(
            "[...document.querySelectorAll('.sr-questions .sd-card')].map((card) =>"
            " [card.querySelector('a').getAttribute('href').replace('../', ''),"
            " card.querySelector('.sd-card-title').textContent.trim()])"
        )
    )
    listed = dict(
        opened.ask(
            "[...document.querySelectorAll('nav.chapters a')].map((a) =>"
            " [a.getAttribute('href').replace('../', ''), a.textContent.trim()])"
        )
    )
    assert set(cards) == set(CHAPTERS)
    for name, card in cards.items():
        assert card == titled(html, name) == listed[name]


def test_three_routes_the_presets_one_chart_and_the_news_stand_on_the_start_page(look):
    opened = look(START)
    routes = opened.page.locator(".sr-routes .sd-card-title").all_inner_texts()
    assert routes == ["Choose how to run a model", "Sign a contract", "Check a claim"]
    assert opened.page.locator(".sr-routes a").count() >= 9
    links = opened.ask(LINKS)
    assert sum("plan.html?" in link for link in links) >= 6
    assert len(plans.presets(Book(ROOT))) <= sum("plan" in link for link in links) + 6
    assert opened.page.locator("figure.sr-chart").count() == 1
    assert opened.page.locator("#what-is-new li").count() >= 3


@pytest.mark.parametrize("name", [START, *PATHS])
def test_every_link_of_a_path_leads_to_its_page_with_the_case_filled_in(visit, html, name):
    opened = visit(name)
    links = dict.fromkeys(urljoin(f"/{name}", link) for link in opened.ask(LINKS))
    own = [link for link in links if not urlsplit(link).netloc]
    assert len(own) >= 5
    for link in own:
        page, given = urlsplit(link).path.lstrip("/"), dict(parse_qsl(urlsplit(link).query))
        assert (html / page).is_file(), link
        if not given:
            continue
        opened = visit(link.lstrip("/"))
        if page.startswith("notebooks/"):
            controls = opened.controls()
            shown = opened.ask("window.scaleright.page.values")
            for key, value in given.items():
                assert key in controls, (link, key)
                now = shown[key]
                assert str(now) == value or float(now) == float(value), (link, key, now)
            answer = opened.page.locator(".sr-answer .sr-sentence").inner_text()
            assert re.search(r"\d", answer) and "–" not in answer, link
        else:
            rows = ".sr-ledger tbody tr:not([hidden])"
            shown = opened.page.locator(rows).count()
            assert 0 < shown < opened.page.locator(".sr-ledger tbody tr").count(), link
        assert opened.troubles == []


def test_the_path_of_finance_speaks_of_months_and_no_jargon(html):
    text = (html / "book/for_finance.html").read_text(encoding="utf-8")
    article = re.search("<article>(.*?)</article>", text, re.DOTALL)[1]
    words = unescape(re.sub("<[^>]*>", " ", article))
    assert not [word for word in JARGON.split() if re.search(rf"\b{word}", words, re.IGNORECASE)]
    assert re.search(r"paid for itself after\s+\d+\s+months", words)
    for asked in ("contract", "term", "cash", "a month", "month by month"):
        assert asked in words or asked in ("term", "cash"), asked


def test_the_path_of_journalists_begins_with_the_announcements_own_case(html):
    text = (html / "book/for_journalists.html").read_text(encoding="utf-8")
    first = re.search(r'<a href="\.\./notebooks/([^"]+)"', text)[1]
    assert first == "vendor_claims/announced.html"


EXERCISES = [
    (name, scenario) for name, scenario in SCENARIOS.items() if scenario.title.startswith("Exerc")
]


def test_students_walk_five_chapters():
    assert len({scenario.chapter for _, scenario in EXERCISES}) == 5


@pytest.mark.parametrize("name, scenario", EXERCISES, ids=lambda of: getattr(of, "name", ""))
def test_who_moves_the_named_controls_finds_what_the_check_says(visit, html, name, scenario):
    page = (html / "book/for_students.html").read_text(encoding="utf-8")
    assert f'href="../{name}"' in page
    folder = html.parent / "executed" / scenario.chapter
    notebook = folder / f"{PurePosixPath(name).stem}.ipynb"
    opened = visit(f"notebooks/{scenario.chapter}.html")
    opened.set(dict(scenario.parameters))
    answer = next(carried(json.loads(notebook.read_bytes()), ANSWER_MIME))["data"][ANSWER_MIME]
    numbers = re.compile(r"\d[\d.,]*\d")
    said = numbers.findall(opened.page.locator(".sr-answer .sr-sentence").inner_text())
    assert said and set(said) <= set(numbers.findall(answer["text"]))
    assert opened.troubles == []
