"""The start page and the paths of three readers, walked to their ends.

Of pages of prose, and of what a link says, the files of the site tell; a chapter is opened once for
all the cases that links fill in.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from html import unescape
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import pytest
from browse import CHAPTERS, LISTED, PAGES, ROOT, SCENARIOS
from bs4 import BeautifulSoup
from scaleright.outputs import ANSWER_MIME
from scaleright.press import Book, plans
from scaleright.press.execute import carried
from scaleright.press.start import HEADLINES

START, LEDGER = PAGES[0], "book/ledger.html"
PATHS = [name for name in LISTED if name.startswith("book/for_")]
LINKS = "article a[href]:not(.sr-term, .headerlink, .sr-cited, [href^='#'])"
JARGON = (
    "FLOP throughput latency inference batch decode KV MFU roofline utilization interactivity"
    " hyperscaler sharding quantiz precision goodput"
)
"""What no finance team says."""


def parsed(html: Path, name: str) -> BeautifulSoup:
    return BeautifulSoup((html / name).read_text(encoding="utf-8"), "html.parser")


def linked(html: Path, name: str) -> list[str]:
    """The addresses to which the text of a page leads, from the root of the site, each once."""
    links = [urljoin(f"/{name}", link["href"]) for link in parsed(html, name).select(LINKS)]
    return list(dict.fromkeys(links))


def titled(html, name: str) -> str:
    text = (html / name).read_text(encoding="utf-8")
    head = re.search(r"<h1>(.*?)<a class=\"headerlink", text, re.DOTALL)[1]
    return unescape(re.sub("<[^>]*>", "", head))


@pytest.mark.parametrize("name", [START])
def test_the_start_page_shows_six_figures_with_range_and_change(look, name):
    opened = look(name)
    tiles = opened.ask(
        "[...document.querySelectorAll('.sr-tiles a')].map((a) => [a.getAttribute('href'),"
        " ...[...a.children].map((part) => part.textContent)])"
    )
    assert [tile[0] for tile in tiles] == [f"../notebooks/{of.chapter}.html" for of in HEADLINES]
    for _, figure, label, change in tiles:
        assert re.search(r"\d", figure) and len(label.split()) > 5
        assert re.search(r"\d.* to .*\d.*; (up|down|unchanged|first edition)", change), change
    assert opened.troubles == []


def test_each_figure_is_that_of_its_chapter(html):
    """What the browser then shows is what stands there: `test_live`."""
    told = [strong.text for strong in parsed(html, START).select(".sr-tiles strong")]
    for figure, of in zip(told, HEADLINES, strict=True):
        article = parsed(html, f"notebooks/{of.chapter}.html").article
        for unseen in article.select("script, style, [hidden]"):
            unseen.decompose()
        assert figure in article.get_text(), of.chapter


def test_titles_are_the_same_on_cards_pages_and_contents(html):
    page = parsed(html, START)
    cards = {
        card.a["href"].replace("../", ""): card.select_one(".sd-card-title").text.strip()
        for card in page.select(".sr-questions .sd-card")
    }
    listed = {a["href"].replace("../", ""): a.text.strip() for a in page.select("nav.chapters a")}
    assert set(cards) == set(CHAPTERS)
    for name, card in cards.items():
        assert card == titled(html, name) == listed[name]


def test_three_routes_the_presets_one_chart_and_the_news_stand_on_the_start_page(html):
    page = parsed(html, START)
    routes = [title.text.strip() for title in page.select(".sr-routes .sd-card-title")]
    assert routes == ["Choose how to run a model", "Sign a contract", "Check a claim"]
    assert len(page.select(".sr-routes a")) >= 9
    links = linked(html, START)
    assert sum("plan.html?" in link for link in links) >= 6
    assert len(plans.presets(Book(ROOT))) <= sum("plan" in link for link in links) + 6
    assert len(page.select("figure.sr-chart")) == 1
    assert len(page.select("#what-is-new li")) >= 3


@pytest.mark.parametrize("name", [START, *PATHS])
def test_every_link_of_a_path_leads_to_its_page(html, name):
    own = [link for link in linked(html, name) if not urlsplit(link).netloc]
    assert len(own) >= 5
    for link in own:
        assert (html / urlsplit(link).path.lstrip("/")).is_file(), link


def read(control: dict, text: str) -> Any:
    """The value that an address gives a control, which allows it."""
    if control["kind"] == "number":
        assert control["low"] <= float(text) <= control["high"], (control["name"], text)
        return float(text)
    allowed = control.get("choices", [True, False])
    (value,) = (value for value in allowed if str(value) == text or str(value).lower() == text)
    return value


def cases(html: Path) -> dict[str, list[dict[str, str]]]:
    """The cases that the paths fill in, by the pages to which they lead."""
    found = defaultdict(list)
    for name in (START, *PATHS):
        for link in linked(html, name):
            parts = urlsplit(link)
            if parts.query and not parts.netloc:
                found[parts.path.lstrip("/")].append(dict(parse_qsl(parts.query)))
    return found


LED_TO = [
    f"notebooks/{name}.html"
    for name in ("plan", "token_cost", "buy_or_rent", "gpu_prices", "vendor_claims")
]
"""Chapters to which paths lead with a case."""


def test_paths_lead_with_a_case_to_these_pages_alone(html):
    found = cases(html)
    assert set(found) == {*LED_TO, LEDGER} and sum(map(len, found.values())) >= 20


@pytest.mark.parametrize("name", LED_TO)
def test_every_case_that_a_path_fills_in_has_an_answer(look, html, name):
    """That the page reads a case from its address is for `test_live`."""
    opened = look(name)
    controls = opened.controls()
    told = [
        {key: read(controls[key], text) for key, text in of.items()} for of in cases(html)[name]
    ]
    for case, answer in zip(told, opened.ask("probe.answers", told), strict=True):
        assert re.search(r"\d", answer) and "–" not in answer, (case, answer)
    assert opened.troubles == []


def test_what_a_path_asks_of_the_ledger_is_shown_and_not_all(visit, html):
    for case in cases(html)[LEDGER]:
        opened = visit(f"{LEDGER}?{urlencode(case)}")
        rows = opened.page.locator(".sr-ledger tbody tr")
        shown = opened.page.locator(".sr-ledger tbody tr:not([hidden])")
        assert 0 < shown.count() < rows.count(), case
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


@pytest.mark.parametrize(
    "name, exercise, scenario",
    [(f"notebooks/{of.chapter}.html", name, of) for name, of in EXERCISES],
    ids=lambda of: of if isinstance(of, str) else "",
)
def test_who_moves_the_named_controls_finds_what_the_check_says(
    look, html, name, exercise, scenario
):
    page = (html / "book/for_students.html").read_text(encoding="utf-8")
    assert f'href="../{exercise}"' in page
    folder = html.parent / "executed" / scenario.chapter
    notebook = folder / f"{PurePosixPath(exercise).stem}.ipynb"
    opened = look(name)
    opened.set(dict(scenario.parameters))
    answer = next(carried(json.loads(notebook.read_bytes()), ANSWER_MIME))["data"][ANSWER_MIME]
    numbers = re.compile(r"\d[\d.,]*\d")
    said = numbers.findall(opened.page.locator(".sr-answer .sr-sentence").inner_text())
    assert said and set(said) <= set(numbers.findall(answer["text"]))
    assert opened.troubles == []
