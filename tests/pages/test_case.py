"""The reader's case beyond the charts: the answer in sight, printed inputs, files of tables."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest
from browse import CHAPTERS
from owning import owned

PAGE = "notebooks/buy_or_rent.html"


@pytest.mark.parametrize("name", [PAGE])
def test_on_a_phone_the_answer_stays_in_sight_while_a_control_moves(look, name):
    opened = look(name, width=360)
    line = opened.page.locator(".sr-insight")
    opened.page.evaluate("window.scrollTo(0, 0)")
    line.wait_for(state="hidden")
    opened.page.evaluate("document.querySelector('.sr-controls').scrollIntoView()")
    line.wait_for(state="visible")
    assert line.inner_text().startswith("8.3 hours")
    opened.set({"usd_per_kwh": 0.5})
    sentence, shown = (
        " ".join(part.inner_text().split()) for part in (opened.page.locator(".sr-sentence"), line)
    )
    # the bar ends each part of the answer with a full stop
    assert sentence.replace(".", "") in shown.replace(".", "") and not shown.startswith("8.3 hours")
    opened.page.set_viewport_size({"width": 1280, "height": 800})
    line.wait_for(state="hidden")
    assert opened.troubles == []


FIRST_SCREEN = """() => {
    const folds = [...document.querySelectorAll("details[open]")];
    const fold = (open) => folds.forEach((of) => { of.open = open; });
    const stale = document.querySelector(".sr-stale"), { hidden } = stale;
    fold(false);
    stale.hidden = true; // comes with the day, not with the page
    const bottom = (part) => part.getBoundingClientRect().bottom + window.scrollY;
    const controls = [...document.querySelectorAll(".sr-grid > .sr-control")];
    const shown = controls.filter((control) => control.checkVisibility());
    const sliders = shown.filter((control) => control.querySelector("input[type=range]"));
    const figure = bottom(document.querySelector(".sr-figure"));
    const control = Math.min(...(sliders.length ? sliders : shown).map(bottom));
    fold(true); // before a chart is laid out for it
    stale.hidden = hidden;
    return { figure, control };
}"""


@pytest.mark.parametrize("name", CHAPTERS)
def test_on_a_phone_decision_number_and_first_control_fit_one_screen(look, name):
    """A slider, where there is one before the fold; and charts are drawn without a complaint."""
    opened = look(name, width=360)
    ends = opened.ask(FIRST_SCREEN)
    assert 0 < ends["figure"] < ends["control"] <= 800, ends
    assert opened.troubles == []


@pytest.mark.parametrize("name", [PAGE])
def test_a_printed_page_shows_the_inputs_beside_the_answer(look, name):
    opened = look(name, mode="dark")
    opened.set({"hours_per_day": 12})
    inputs = opened.page.locator(".sr-inputs")
    assert not inputs.is_visible()
    opened.page.emulate_media(media="print")
    assert inputs.is_visible() and not opened.page.locator(".sr-controls").first.is_visible()
    assert "12 hours per day" in inputs.inner_text()
    assert inputs.locator("dt").count() == len(opened.controls())
    ink = opened.ask("getComputedStyle(document.body).color")
    opened.page.emulate_media(media="screen")
    assert ink == "rgb(27, 32, 38)" != opened.ask("getComputedStyle(document.body).color")


@pytest.mark.parametrize("name, kind", [(PAGE, "csv"), (PAGE, "json")])
def test_the_file_of_a_table_that_follows_is_that_of_the_readers_case(look, name, kind):
    opened = look(name)
    opened.set({"usd_per_kwh": 0.4})
    with opened.page.expect_download() as caught:
        opened.page.locator(f".sr-files a[href$='the-rule-by-hours.{kind}']").click()
    assert caught.value.suggested_filename == f"buy_or_rent-the-rule-by-hours.{kind}"
    text = Path(caught.value.path()).read_text(encoding="utf-8")
    rows = (
        pd.read_csv(io.StringIO(text)) if kind == "csv" else pd.DataFrame(json.loads(text)["data"])
    )
    terms = owned(opened.ask("window.scaleright.page.values"))
    costs = [terms.break_even_usd_per_hour(hours).value for hours in rows["hours a day"]]
    assert rows["owned hour [USD]"].tolist() == pytest.approx(costs, rel=1e-6)
