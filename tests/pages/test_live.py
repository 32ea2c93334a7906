"""The controls of the built pages, set by their script, and what follows them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from browse import CHAPTERS, ONE_EACH, Visit, stir
from scaleright.press.pages import PACKED, unpacked

BUY = "notebooks/buy_or_rent.html"


@pytest.mark.parametrize("name", CHAPTERS)
def test_numbers_in_sentences_are_at_first_what_the_notebook_computed(look, html, name):
    stored = re.findall(
        r'data-sr-signal="(\w+)">([^<]*)<', (html / name).read_text(encoding="utf-8")
    )
    opened = look(name)
    now = opened.ask(
        "[...document.querySelectorAll('[data-sr-signal]')].map((s) => [s.dataset.srSignal,"
        " s.textContent])"
    )
    assert [tuple(pair) for pair in now] == [
        (signal, text.replace("&amp;", "&").replace("&lt;", "<")) for signal, text in stored
    ]


def middles(controls: Iterable[dict]) -> dict[str, float]:
    """The middle of each number that needs not be whole."""
    return {
        control["name"]: (control["low"] + control["high"]) / 2
        for control in controls
        if control["kind"] == "number" and not control["whole"]
    }


def holds(opened: Visit, numbers: dict[str, float]) -> None:
    """Every view of the page has these values of controls."""
    views = opened.ask("probe.signals", list(numbers))
    assert any(views) or not numbers
    for view in views:
        assert all(math.isclose(value, numbers[key]) for key, value in view.items())
    values = opened.ask("window.scaleright.page.values")
    assert {k: v for k, v in values.items() if k in numbers} == pytest.approx(numbers)


@pytest.mark.parametrize("name", CHAPTERS)
def test_all_views_and_the_address_share_the_values_of_the_controls(look, name):
    opened = look(name)
    numbers = middles(opened.controls().values())
    opened.set(numbers)
    holds(opened, numbers)
    asked = dict(parse_qsl(urlsplit(opened.address()).query))
    defaults = opened.ask("window.scaleright.page.defaults")
    told = {key: value for key, value in numbers.items() if value != defaults[key]}
    assert {key: float(asked[key]) for key in told} == told


@pytest.mark.parametrize(
    "name",
    [f"notebooks/{name}.html" for name in ("cluster_efficiency", "parallelism", "rlhf_cost")],
)
def test_asking_what_other_options_bring_leaves_the_numbers_of_the_case(look, name):
    opened = look(name)
    for values in ({}, middles(opened.controls().values())):
        opened.set(values)
        columns = opened.ask("probe.gathered()")
        assert columns and all(kept for _, kept in columns)


def declared(html: Path, name: str) -> list[dict]:
    """The controls that the scripts of a page declare."""

    def controls(part) -> list[dict]:
        if not isinstance(part, (dict, list)):
            return []
        if isinstance(part, dict) and {"name", "label", "kind"} <= part.keys():
            return [part]
        items = part.values() if isinstance(part, dict) else part
        return [control for item in items for control in controls(item)]

    text = (html / name).read_text(encoding="utf-8")
    scripts = re.findall(rf'<script type="{PACKED}"[^>]*>(.*?)</script>', text)
    return [control for script in scripts for control in controls(unpacked(script))]


@pytest.mark.parametrize(
    "name",
    ONE_EACH[::4]
    + [pytest.param(of, marks=pytest.mark.nightly) for of in ONE_EACH if of not in ONE_EACH[::4]],
)
def test_an_address_carries_a_case_to_a_phone_which_shows_it_whole(visit, html, name):
    controls = declared(html, name)
    assert controls
    numbers = middles(controls)
    opened = visit(f"{name}?{urlencode(numbers)}", width=360)
    holds(opened, numbers)
    assert opened.ask("probe.outside(360)") == []
    opened.ask("window.scaleright.reset()")
    assert opened.ask("window.scaleright.page.values") == opened.ask(
        "window.scaleright.page.defaults"
    )
    assert opened.ask("document.documentElement.scrollWidth") <= 360
    assert opened.ask("probe.outside(360)") == [] == opened.ask("probe.cut()")
    stir(opened)
    assert opened.troubles == []


def test_an_address_that_names_a_choice_beside_a_number_brings_what_follows_it(visit):
    opened = visit(f"{BUY}?accelerator=RTX%204090&rent_usd_per_hour=1.25")
    values, follow = opened.ask(
        "[window.scaleright.page.values, window.scaleright.page.follow.accelerator]"
    )
    defaults = opened.ask("window.scaleright.page.defaults")
    assert values["accelerator"] == "RTX 4090" and values["chip_usd"] != defaults["chip_usd"]
    assert {name: values[name] for name in follow["RTX 4090"]} == follow["RTX 4090"]
    assert values["rent_usd_per_hour"] == 1.25 != defaults["rent_usd_per_hour"]
    # One moved back to the default stays there when the case is opened again.
    opened.set({"chip_usd": defaults["chip_usd"]})
    opened.open(opened.address().removeprefix(opened.site))
    assert opened.ask("window.scaleright.page.values.chip_usd") == defaults["chip_usd"]
