"""What helps to read the built pages: words and sources told where they stand."""

from __future__ import annotations

import re

import pytest
import yaml
from browse import CHAPTERS, PAGES, ROOT
from pybtex.database import parse_file
from scaleright.press import glossary

TERM, CITED = "a.sr-term >> nth=0", "a.sr-cited >> nth=0"
MEANS = glossary.terms((ROOT / "book" / "glossary.md").read_text(encoding="utf-8"))


def hint(opened) -> str:
    """What is shown of a word or source; nothing if nothing is."""
    return opened.ask(
        "(() => { const box = document.querySelector('.sr-hint:not([hidden])');"
        " return box ? box.textContent : ''; })()"
    )


def test_a_word_tells_its_meaning_under_the_pointer_and_at_the_keyboard(visit):
    opened = visit("notebooks/inference_roofline.html")
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
    result = opened.page.locator("ul.search li >> nth=0")
    result.locator("p.context").wait_for()
    assert "first token" in result.inner_text() and "Glossary" in result.inner_text()


def test_the_search_knows_pages_that_there_are():
    known = yaml.safe_load((ROOT / "book" / "search.yml").read_text())
    assert {f"{page}.html" for page in known["pages"]} <= set(PAGES)
    for words in (*known["same"], *known["pages"].values()):
        assert words and all(isinstance(word, str) and word == word.lower() for word in words)
