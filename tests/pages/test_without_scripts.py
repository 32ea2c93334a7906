"""The built site for a reader whose browser runs no scripts."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from browse import CHAPTERS


@pytest.fixture(scope="module")
def page(browser, site):
    """A chapter as it is without scripts."""
    context = browser.new_context(java_script_enabled=False, accept_downloads=True)
    context.set_default_timeout(600_000)  # ends only a test that hangs
    opened = context.new_page()
    opened.goto(site + "notebooks/scaling_math.html")
    yield opened
    context.close()


def test_a_reader_without_scripts_can_take_tables_and_notebook_along(page):
    for link, name in (
        (".sr-files a:visible >> nth=0", "scaling_math-"),
        (".launch a[download]", "scaling_math.ipynb"),
    ):
        with page.expect_download() as caught:
            page.click(link)
        assert (
            caught.value.suggested_filename.startswith(name)
            and Path(caught.value.path()).stat().st_size > 100
        )


def test_every_chart_is_a_picture(page):
    charts = page.locator("figure.sr-chart")
    for number in range(charts.count()):
        chart = charts.nth(number)
        picture = chart.locator("img")
        picture.scroll_into_view_if_needed()
        assert picture.is_visible() and not chart.locator(".sr-alt").is_visible()
        assert chart.locator(".sr-view").get_attribute("aria-label")
        assert page.request.get(page.url.rpartition("/")[0] + "/" + picture.get_attribute("src")).ok


@pytest.mark.parametrize("name", ["notebooks/scaling_math.html"])
def test_a_reader_with_scripts_loads_no_picture(look, name):
    opened = look(name)
    asked = opened.page.evaluate("performance.getEntriesByType('resource').map(({name}) => name)")
    assert asked and not [address for address in asked if "/charts/" in address]


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_picture_is_sound_and_light(html, name):
    text = (html / name).read_text(encoding="utf-8")
    pictures = [part.partition('"')[0] for part in text.split('class="sr-still" src="')[1:]]
    assert len(pictures) == text.count('<figure class="sr-chart"') > 0
    for picture in pictures:
        content = ((html / name).parent / picture).read_bytes()
        assert ET.fromstring(content).tag.endswith("svg") and len(content) < 400_000
