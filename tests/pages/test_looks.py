"""How the built pages look: drawn, whole on a phone, legible in light and dark, quiet."""

from __future__ import annotations

import re

import pytest
from browse import CHAPTERS, PAGES


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_chart_draws_and_describes_itself(look, name):
    charts = look(name).ask("probe.charts()")
    assert charts, "a chapter without a chart"
    for chart in charts:
        assert chart["marks"] > 0 and chart["height"] > 40 and not chart["wrong"], chart
        assert 0.6 * chart["column"] < chart["width"] <= chart["column"] + 1, chart
        assert len(chart["alt"].split()) > 4, chart


@pytest.mark.parametrize("name", PAGES)
def test_nothing_overflows_a_phone(look, name):
    opened = look(name, width=360)
    assert opened.ask("document.documentElement.scrollWidth") <= 360
    assert opened.ask("probe.outside(360)") == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_word_of_a_chart_is_cut_on_a_phone(look, name):
    assert look(name, width=360).ask("probe.cut()") == []


@pytest.mark.parametrize("name", CHAPTERS[1:3])
def test_a_chart_narrowed_for_a_phone_is_laid_out_as_one_opened_there(visit, look, name):
    def drawn(opened):
        return re.sub(r"clip\d+", "", opened.ask("probe.seen()"))  # counted through a page's life

    wide, narrowed = drawn(look(name)), drawn(look(name, width=360))
    assert wide != narrowed == drawn(visit(name, width=360))


@pytest.mark.parametrize("name", [*PAGES, "index.html"])
def test_a_page_is_legible_in_light_and_dark_asks_nobody_else_and_complains_of_nothing(look, name):
    opened = look(name)
    opened.page.mouse.wheel(0, 5000)
    for mode in ("dark", "light"):
        opened.page.click(".mode")
        opened.ask("probe.settled()")
        assert opened.ask("document.documentElement.dataset.theme") == mode
        found = opened.ask("probe.contrast()")
        assert found["seen"] > 5 and found["low"] == [], mode
    assert opened.troubles == []


def test_the_chosen_mode_is_kept_from_page_to_page(visit):
    opened = visit(PAGES[0])
    opened.page.click(".mode")
    opened.open(PAGES[-1])
    assert opened.ask("document.documentElement.dataset.theme") == "dark"


def test_a_reader_who_prefers_dark_pages_gets_them(visit):
    assert visit(PAGES[0], mode="dark").ask("document.documentElement.dataset.theme") == "dark"


@pytest.mark.parametrize(
    "name, case",
    [
        ("notebooks/scaling_laws.html", {"budget_usd": 1000}),  # two end at the foot of the plane
        ("notebooks/scaling_laws.html", {"lifetime_tokens": 1e9}),  # two are one
    ],
)
def test_names_of_lines_lie_apart_wherever_the_lines_end(look, name, case):
    opened = look(name)
    opened.set(case)
    assert opened.ask("probe.crossed()") == []


@pytest.mark.parametrize(
    "name",
    [
        f"notebooks/{name}.html"
        for name in (
            "parallelism",
            "ablation_cost",
            "cluster_efficiency",
            "scaling_laws",
            "rlhf_cost",
        )
    ],
)
def test_on_a_phone_no_line_passes_through_a_name_and_no_ticks_run_together(look, name):
    opened = look(name, width=360)
    assert opened.ask("probe.underlined()") == []
    assert opened.ask("probe.joined()") == []


@pytest.mark.parametrize("name", ["notebooks/pretraining_records.html"])
def test_lines_that_share_a_color_keep_their_names_on_a_phone(look, name):
    opened = look(name, width=360)
    assert "GB200" in opened.ask("probe.words()").split("\n")[0]
