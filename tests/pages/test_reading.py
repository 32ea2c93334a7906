"""What helps to read the built pages: words and sources told where they stand."""

from __future__ import annotations

import json
import re
import struct
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from browse import CHAPTERS, CONTENTS, LISTED, PAGES, ROOT
from pybtex.database import parse_file
from scaleright.press import about, markup

MEMORY = "notebooks/memory_wall.html"
TERM, CITED = "a.sr-term >> nth=0", "a.sr-cited >> nth=0"
MEANS = markup.terms((ROOT / "book" / "glossary.md").read_text(encoding="utf-8"))


def hint(opened) -> str:
    """What is shown of a word or source; nothing if nothing is."""
    return opened.ask(
        "(() => { const box = document.querySelector('.sr-hint:not([hidden])');"
        " return box ? box.textContent : ''; })()"
    )


@pytest.mark.parametrize("name", ["notebooks/inference_roofline.html"])
def test_a_word_tells_its_meaning_under_the_pointer_and_at_the_keyboard(look, name):
    opened = look(name)
    opened.page.hover(TERM)
    assert hint(opened) in MEANS.values()
    opened.page.keyboard.press("Escape")
    assert hint(opened) == ""
    opened.page.mouse.move(0, 0)
    opened.ask("document.querySelectorAll('a.sr-term')[1].focus()")
    opened.page.keyboard.press("Shift+Tab")
    opened.page.keyboard.press("Tab")
    link = opened.page.locator("a.sr-term >> nth=1")
    assert hint(opened) in MEANS.values()
    assert link.get_attribute("aria-describedby") == "sr-hint" and not link.get_attribute("title")
    assert opened.troubles == []


def test_a_source_is_shown_at_a_touch_and_a_second_one_follows(browser, site):
    context = browser.new_context(viewport={"width": 360, "height": 800}, has_touch=True)
    page = context.new_page()
    page.goto(site + "notebooks/inference_roofline.html")
    page.locator(CITED).tap()
    shown = page.locator(".sr-hint")
    told, box = shown.inner_text(), shown.bounding_box()
    assert len(told) > 30 and box["x"] >= 0 and box["x"] + box["width"] <= 360
    assert page.url.endswith("inference_roofline.html")
    page.locator(CITED).tap()
    page.wait_for_url("**/book/references.html#*")
    context.close()


@pytest.mark.parametrize("name", CHAPTERS)
def test_each_chapter_explains_its_words_once(html, name):
    text = (html / name).read_text(encoding="utf-8")
    words = re.findall(r'<a class="sr-term" href="../book/glossary.html#([^"]*)"', text)
    assert words and len(words) == len(set(words))
    targets = (html / "book" / "glossary.html").read_text(encoding="utf-8")
    assert all(f'id="{word}"' in targets for word in words)


def test_every_source_stands_in_one_list_under_its_key(html):
    text = (html / "book" / "references.html").read_text(encoding="utf-8")
    keys = re.findall(r'fn-bracket">\[</span>([^<]+)<', text)
    known = parse_file(ROOT / "book" / "references.bib").entries
    assert sorted(keys) == sorted(known) and text.count("<h2>") >= 5
    assert "LLaMA: Open and Efficient Foundation Language Models" in text


ASKED = {
    "utilisation": "notebooks/cluster_efficiency",
    "glossary": "book/glossary",
    "price of B200": "notebooks/gpu_prices",
    "MFU": "book/glossary",
    "KV cache": "book/glossary",
    "buy or rent": "notebooks/buy_or_rent",
    "carbon footprint": "notebooks/sustainability",
    "fine-tuning": "notebooks/rlhf_cost",
    "cost of a million tokens": "notebooks/token_cost",
    "tensor parallelism": "notebooks/parallelism",
    "small models first": "notebooks/model_routing",
    "bibliography": "book/references",
}
"""What people search for, and a page among the first three that they then see."""


def test_the_search_ranks_titles_and_headings_first_and_knows_other_words(visit):
    opened = visit("search.html?q=price+of+B200")
    opened.page.wait_for_selector("ul.search li p.context")
    first = opened.page.locator("ul.search a >> nth=0").get_attribute("href")
    assert first.startswith("notebooks/gpu_prices.html")
    for query, page in ASKED.items():
        found = opened.ask("(query) => window.scaleright.found(query).slice(0, 3)", query)
        assert page in [name for name, *_ in found], (query, found)
    assert opened.ask("window.scaleright.found('qwertyuiop')") == []
    assert opened.troubles == []


def test_a_word_that_is_searched_for_is_explained_among_the_results(visit):
    opened = visit("search.html?q=TTFT")
    first = opened.page.locator("ul.search li:first-child", has_text="Glossary")
    first.locator("p.context", has_text="first token").wait_for()  # results are sorted as they come
    result = opened.page.locator("ul.search li >> nth=0")
    assert "first token" in result.inner_text() and "Glossary" in result.inner_text()


def test_the_search_knows_pages_that_there_are():
    known = yaml.safe_load((ROOT / "book" / "search.yml").read_text())
    assert {f"{page}.html" for page in known["pages"]} <= set(PAGES)
    for words in (*known["same"], *known["pages"].values()):
        assert words and all(isinstance(word, str) and word == word.lower() for word in words)


@pytest.mark.parametrize(
    "name, width",
    [(MEMORY, 1400), (MEMORY, 1024), pytest.param(MEMORY, 360, id=f"{MEMORY}-phone")],
)
def test_every_section_is_listed_at_every_width(look, name, width):
    opened = look(name, width)
    shown = opened.ask(
        "[...document.querySelectorAll('.onpage a')].filter((a) => a.getClientRects().length)"
        ".map((a) => a.getAttribute('href'))"
    )
    sections = opened.ask(
        "[...document.querySelectorAll('article section section[id]')].map((s) => '#' + s.id)"
    )
    assert sections and set(sections) <= set(shown)
    assert opened.troubles == []


@pytest.mark.parametrize("name", [MEMORY])
def test_a_wrong_number_is_reported_with_the_readers_case(look, name):
    opened = look(name)
    opened.set({"accelerators": 16})
    opened.ask(
        "document.querySelector('.sr-report').addEventListener('click', (e) => e.preventDefault())"
    )
    opened.page.click(".sr-report")
    asked = parse_qs(urlsplit(opened.page.get_attribute(".sr-report", "href")).query)
    assert asked["template"] == ["wrong_number.yml"] and asked["place"] == ["memory_wall"]
    assert "Accelerators of the job: 16" in "".join(asked["case"]).replace(
        "accelerators of", "Accelerators of"
    )
    form = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/wrong_number.yml").read_text())
    assert {"place", "case"} <= {part.get("id") for part in form["body"]}


@pytest.mark.parametrize("name", LISTED)
def test_a_page_says_when_it_changed_and_how_to_cite_it(html, name):
    text = (html / name).read_text(encoding="utf-8")
    about = re.search('<aside class="about".*?</aside>', text, re.DOTALL)[0]
    assert "Cite this page" in about and "@misc{scaleright-" in about and "Scale Right" in about
    assert "Report a wrong number" in about
    known = (
        json.loads((html.parent / "stage" / "book" / "changed.json").read_text())
        if (html.parent / "stage").is_dir()
        else {}
    )
    if day := known.get(name.removesuffix(".html")):
        assert f'<time datetime="{day}">' in about


@pytest.mark.parametrize("name", [MEMORY])
def test_charts_are_numbered_and_can_be_taken_along(look, name):
    opened = look(name)
    figures = opened.page.locator("figure.sr-chart")
    numbers = opened.page.locator(".sr-nth").all_inner_texts()
    assert numbers == [f"Figure {n}" for n in range(1, figures.count() + 1)]
    for kind, mark in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with opened.page.expect_download() as caught:
            opened.page.click(f".sr-take button:text-is('{kind}') >> nth=0")
        assert caught.value.suggested_filename == f"memory_wall-figure-1.{kind.lower()}"
        content = Path(caught.value.path()).read_bytes()
        assert content.startswith(mark) and len(content) > 2000
    opened.page.click(".sr-take button:text-is('Embed') >> nth=0")
    line = opened.page.locator(".sr-take code >> nth=0").inner_text()
    still = re.search(r'<img src="([^"]+)" alt="[^"]{20,}"', line)[1]
    assert opened.page.request.get(still).ok and "memory_wall.html#sr-" in line
    assert opened.troubles == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_link_to_a_chapter_shows_its_question_and_answer(html, name):
    head = (html / name).read_text(encoding="utf-8").partition("<body>")[0]
    told = re.search('<meta name="description" content="([^"]+)">', head)[1]
    assert 40 < len(unescape(told)) <= 201
    address = re.search('<meta property="og:image" content="https://[^/]+/([^"]+)">', head)[1]
    picture = html / address.partition("/")[2]
    content = picture.read_bytes()
    assert content[:4] == b"\x89PNG" and content[16:24] == struct.pack(">II", 1200, 630)
    assert len(content) < 300_000


@pytest.mark.parametrize("name", CHAPTERS)
def test_equations_have_numbers(html, name):
    text = (html / name).read_text(encoding="utf-8")
    assert text.count('<div class="math') == text.count('<a class="eqno"')


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_takes_ten_minutes_at_most(html, name):
    text = about.article((html / name).read_text(encoding="utf-8"))
    assert about.minutes(text) <= about.LONGEST_MIN, f"{about.words(text):,} words"


@pytest.mark.parametrize("name", [CHAPTERS[0], f"{CONTENTS['root']}.html"])
def test_a_page_says_how_long_it_takes_to_read(html, name):
    text = (html / name).read_text(encoding="utf-8")
    told = re.search(r'<p class="reading">(\d+) min read</p>', text)[1]
    assert abs(int(told) - about.minutes(about.article(text))) <= 1


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_mention_of_a_chapter_stays_without_a_link(html, name):
    text = about.article((html / name).read_text(encoding="utf-8"))
    marked = [part for part, prose in markup.prose(text) if prose]
    assert not [part for part in marked if re.search(r"\bchapter\s+on\s+[a-z]", part)]
