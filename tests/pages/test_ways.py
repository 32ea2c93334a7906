"""Ways through the built site: search, menu, links, scenarios, the status page, old data."""

from __future__ import annotations

import json
import re
from datetime import date, datetime, timedelta
from html import unescape
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from browse import CHAPTERS, LISTED, PAGES, ROOT, SCENARIOS, Visit, beside, links, undrawn
from built import findings
from scaleright import REMEMBERED
from scaleright.claims import ledger
from scaleright.press.pages import sentence


def test_search_finds_a_word_and_leads_to_its_page(visit):
    opened = visit(PAGES[0])
    opened.page.fill("header input[name=q]", "parameters")
    opened.page.press("header input[name=q]", "Enter")
    opened.page.wait_for_selector("ul.search li a")
    opened.page.wait_for_load_state(
        "networkidle"
    )  # the page reads each result for its words; leaving early breaks that off
    opened.page.click("ul.search li a")
    opened.page.wait_for_load_state()
    assert (
        "search" not in opened.page.url
        and "parameters" in opened.page.inner_text("article").lower()
    )
    assert opened.troubles == []


def test_the_chapter_menu_opens_on_a_phone(visit):
    opened = visit(CHAPTERS[0], width=360)
    assert not opened.page.is_visible("#chapters")
    opened.page.click(".menu")
    opened.page.click(f"#chapters a[href$='{LISTED[-1]}']")
    opened.page.wait_for_load_state()
    assert opened.page.url.endswith(LISTED[-1])


@pytest.mark.parametrize("name", [*PAGES, *SCENARIOS])
def test_every_page_is_light_and_every_link_on_the_site_leads_somewhere(html, name):
    text = (html / name).read_text(encoding="utf-8")
    assert len(text.encode()) < 1_000_000
    for address in re.findall(r'(?:href|src)="([^"]+)"', text):
        parts = urlsplit(address)
        if parts.scheme or parts.netloc or not parts.path:
            continue
        target = (html / name).parent / unquote(parts.path)
        assert target.exists(), f"{name} links to {address}"


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_stands_under_its_chapter_with_its_answer(html, name):
    scenario, text = SCENARIOS[name], (html / name).read_text(encoding="utf-8")
    chapter = f"notebooks/{scenario.chapter}.html"
    assert f'{scenario.title}<a class="headerlink"' in unescape(text)
    assert (
        beside(html, name, next(iter(links(html, name, '<p class="sr-case">(.*?)</p>').values())))
        == (html / chapter).resolve()
    )
    listed = (html / chapter).read_text(encoding="utf-8")
    assert (
        beside(
            html, chapter, links(html, chapter, '<ul class="sr-cases">(.*?)</ul>')[scenario.title]
        )
        == (html / name).resolve()
    )
    said = sentence((html / "downloads" / f"{scenario.chapter}-{scenario.name}.ipynb").read_bytes())
    assert (
        said
        and said in unescape(re.search('<ul class="sr-cases">(.*?)</ul>', listed, re.DOTALL)[1])
        and scenario.title in unescape(listed)
    )


@pytest.fixture
def on(browser, site):
    """A page as a reader finds it on a day: on(day, name)."""
    opened = Visit(browser, site, width=360)
    undrawn(opened.page)

    def on(day: date, name: str) -> Visit:
        noon = datetime(day.year, day.month, day.day, 12)  # noqa: DTZ001, the reader's own
        opened.page.clock.set_fixed_time(noon)
        opened.page.goto(site + name, wait_until="domcontentloaded")
        return opened

    yield on
    opened.context.close()


def test_a_page_warns_of_old_data_on_the_readers_own_day(on, html):
    for name in (CHAPTERS[0], "book/status.html"):
        text = (html / name).read_text(encoding="utf-8")
        told = re.search('class="sr-stale"[^>]*data-sr-tables="([^"]*)"', text)[1]
        facts = json.loads(unescape(told))
        last = {
            fact["title"]: date.fromisoformat(fact["as_of"]) + timedelta(days=fact["days"])
            for fact in facts
        }
        first, newest = min(last.values()), max(last.values())
        for day in (first, first + timedelta(days=1), newest + timedelta(days=400)):
            opened = on(day, name)
            old = [fact for fact in facts if last[fact["title"]] < day]
            assert opened.page.locator(".sr-stale").is_visible() == bool(old), name
            wanted = [
                f"{fact['title']} ({fact['as_of']}):"
                f" {(day - date.fromisoformat(fact['as_of'])).days:,} days old,"
                f" fresh for {fact['days']:,}"
                for fact in old
            ]
            assert opened.page.locator(".sr-stale li").all_inner_texts() == wanted, name
            assert opened.ask("document.documentElement.scrollWidth") <= 360, name


def test_the_status_page_lists_what_there_is(look, monkeypatch):
    monkeypatch.setenv(REMEMBERED, str(findings()))  # the build has judged every claim
    opened = look("book/status.html")
    rows = opened.ask(
        "[...document.querySelectorAll('article tbody tr')].map((r) => [...r.children].map((c) =>"
        " c.textContent.trim()))"
    )
    pages = opened.ask(
        "[...document.querySelectorAll('article tbody a')].map((a) => a.getAttribute('href'))"
    )
    assert {urljoin("book/status.html", address) for address in pages} == {*CHAPTERS, *SCENARIOS}
    seconds = {
        row[0]: float(row[2]) for row in rows if len(row) == 3 and re.fullmatch(r"[\d.]+", row[2])
    }
    assert {scenario.title for scenario in SCENARIOS.values()} <= set(seconds) and all(
        s > 0 for s in seconds.values()
    )
    package = json.loads((ROOT / "data" / "datapackage.json").read_text())["resources"]
    dated = {
        row[0]: row[1] for row in rows if len(row) == 4 and re.fullmatch(r"\d{4}-\d\d-\d\d", row[1])
    }
    assert dated == {
        f"{entry['title']} ({entry['path'].removesuffix('.csv')})": entry["as_of"]
        for entry in package
    }
    assert str(len(ledger.findings())) == next(row for row in rows if row[0] == "all")[1]
