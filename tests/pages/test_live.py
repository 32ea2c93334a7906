"""The controls of the built pages, set by their script: what follows them, and that the numbers are
the library's.
"""

from __future__ import annotations

import math
import re

import live_costs
import live_hardware
import live_serving
import live_training
import pytest
from browse import CHAPTERS

BUY = "notebooks/buy_or_rent.html"
LIVE = [*live_costs.LIVE, *live_serving.LIVE, *live_hardware.LIVE, *live_training.LIVE]
IN_PHRASES = (
    "points",
    "price",
    "pace_now",
    "room",
    "range_",
    "rented",
    "even",
    "usd_per_million",
    "chips",
    "regret",
    "flip",
    "gain",
)
"""Numbers that the page says within words of their own."""


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


@pytest.mark.parametrize("name", CHAPTERS)
def test_moving_any_control_redraws_a_chart_or_a_sentence_and_reset_undoes_it(look, name):
    opened = look(name)
    first = opened.drawn()
    texts = {name: sorted(re.findall(">([^<>]+)</text>", svg)) for name, svg in first.items()}
    said = "[...document.querySelectorAll('.sr-answer, .sr-said')].map((s) => s.textContent).join()"
    first_said = opened.ask(said)
    controls = opened.controls()
    assert controls, "a chapter without a live control"
    silent = []
    for control in controls.values():
        others = {
            "flag": [not control["value"]],
            "choice": [c for c in control.get("choices", []) if c != control["value"]],
        }
        tries = others.get(control["kind"]) or [
            control["low"],
            control["high"],
            (control["low"] + control["high"]) / 2,
        ]
        changed = False
        for value in tries[:6]:
            opened.set({control["name"]: round(value) if control.get("whole") else value})
            changed = changed or opened.drawn() != first or opened.ask(said) != first_said
        if not changed:
            silent.append(control["name"])
        opened.ask("window.scaleright.reset()")
    assert silent == [], "these controls change nothing that the reader sees"
    assert opened.ask(said) == first_said
    assert {
        name: sorted(re.findall(">([^<>]+)</text>", svg)) for name, svg in opened.drawn().items()
    } == texts
    assert opened.troubles == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_all_views_share_the_values_of_the_controls(look, name):
    opened = look(name)
    numbers = {
        c["name"]: (c["low"] + c["high"]) / 2
        for c in opened.controls().values()
        if c["kind"] == "number" and not c["whole"]
    }
    opened.set(numbers)
    views = opened.ask(
        "probe.signals",
        list(numbers),
    )
    assert any(views) or not numbers
    for view in views:
        assert all(math.isclose(value, numbers[key]) for key, value in view.items())
    opened.open(opened.page.url.removeprefix(opened.site))  # the address carries the case
    values = opened.ask("window.scaleright.page.values")
    assert {k: v for k, v in values.items() if k in numbers} == pytest.approx(numbers)


def test_an_address_that_names_a_choice_alone_brings_what_follows_it(visit):
    opened = visit(f"{BUY}?accelerator=H100%20SXM")
    values, follow = opened.ask(
        "[window.scaleright.page.values, window.scaleright.page.follow.accelerator]"
    )
    defaults = opened.ask("window.scaleright.page.defaults")
    assert values["accelerator"] == "H100 SXM" and values["chip_usd"] != defaults["chip_usd"]
    assert {name: values[name] for name in follow["H100 SXM"]} == follow["H100 SXM"]
    opened.open(f"{BUY}?accelerator=H100%20SXM&rent_usd_per_hour=1.25")
    given = opened.ask("window.scaleright.page.values")
    assert (given["rent_usd_per_hour"], given["chip_usd"]) == (1.25, values["chip_usd"])
    # One moved back to the default stays there when the case is opened again.
    opened.set({"chip_usd": defaults["chip_usd"]})
    opened.open(opened.page.url.removeprefix(opened.site))
    assert opened.ask("window.scaleright.page.values.chip_usd") == defaults["chip_usd"]


@pytest.mark.parametrize(
    "page, case, numbers",
    LIVE,
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_live_number_is_the_librarys_own(look, page, case, numbers):
    opened = look(page)
    opened.set(case)
    values = opened.ask("window.scaleright.page.values")
    shown = {name: opened.ask(f"window.scaleright.value({name!r})") for name in numbers}
    # The page computes from figures of seven digits; `test_parity` holds the formulas to 1e-9.
    assert shown == pytest.approx({name: of(values) for name, of in numbers.items()}, rel=1e-6)
    words = opened.ask("document.querySelector('article').textContent")
    for name in shown:
        if not name.startswith(IN_PHRASES):
            assert opened.ask(f"window.scaleright.page.hub.signal({name + '_text'!r})") in words
