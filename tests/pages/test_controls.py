"""The controls of the built pages under a reader's hands: keyboard, words, bounds."""

from __future__ import annotations

import pytest
from browse import CHAPTERS, PAGES


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_keyboard_reaches_and_moves_every_control(visit, name):
    opened = visit(name)
    wanted = set(
        opened.ask(
            "[...document.querySelectorAll('[data-control] :is(input[type=range],"
            " input[type=checkbox], select)')].map((e) => e.id)"
        )
    )
    assert wanted
    reached, moved, before = {}, set(), None
    for _ in range(600):
        opened.page.keyboard.press("Tab")
        focus = opened.ask("probe.focus()")
        if focus["id"] == before and focus["id"] in ("BODY", ""):
            break
        before = focus["id"]
        if focus["id"] in wanted and focus["id"] not in reached:
            reached[focus["id"]] = focus
            control = focus["id"].split("-", 1)[1]
            value = opened.ask(f"window.scaleright.page.values[{control!r}]")
            for key in ("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp", "Space"):
                opened.page.keyboard.press(key)
                if opened.ask(f"window.scaleright.page.values[{control!r}]") != value:
                    moved.add(focus["id"])
                    break
        if wanted <= set(reached):
            break
    assert set(reached) == wanted and moved == wanted
    assert [focus for focus in reached.values() if not focus["shown"] or not focus["name"]] == []


def test_the_keyboard_reaches_what_opens_and_downloads(visit):
    opened = visit(CHAPTERS[-1], width=360)
    wanted = set(
        opened.ask("[...document.querySelectorAll('.launch a, .sr-files a')].map((a) => a.href)")
    )
    reached = {}
    for _ in range(400):
        opened.page.keyboard.press("Tab")
        href = opened.ask("document.activeElement.href || ''")
        if href in wanted:
            reached[href] = opened.ask("probe.focus()")
        if wanted <= set(reached):
            break
    assert set(reached) == wanted and len(wanted) > 5
    assert [focus for focus in reached.values() if not focus["shown"] or not focus["name"]] == []


@pytest.mark.parametrize("name", PAGES)
def test_whatever_can_be_operated_has_a_name(look, name):
    assert look(name).ask("probe.nameless()") == []


def test_a_value_out_of_bounds_is_refused_in_words(visit):
    opened = visit(CHAPTERS[-1])
    control = next(
        c for c in opened.controls().values() if c["kind"] == "number" and not c["percent"]
    )
    field = opened.page.locator(f"[data-control={control['name']}] .sr-field").first
    field.fill(str(control["high"] * 10))
    field.press("Enter")
    opened.page.keyboard.press("Tab")
    assert opened.ask(f"window.scaleright.page.values[{control['name']!r}]") == control["value"]
    assert (
        " to "
        in opened.page.locator(f"[data-control={control['name']}] [role=alert]").first.inner_text()
    )
    field.fill(str(control["low"]))
    field.press("Enter")
    assert opened.ask(f"window.scaleright.page.values[{control['name']!r}]") == control["low"]


def test_a_number_below_zero_is_written_with_one_sign_and_read_with_either(visit):
    opened = visit("notebooks/gpu_prices.html")
    field = opened.page.locator("[data-control=price_change_per_year] .sr-field").first
    assert field.input_value() == "−15"
    for typed in ("-20", "−25 %"):
        field.fill(typed)
        field.press("Enter")
        assert (
            opened.ask("window.scaleright.page.values.price_change_per_year")
            == -float(typed.strip("-−% ")) / 100
        ), typed


def test_a_number_with_a_decimal_comma_is_not_misread(visit):
    opened = visit("notebooks/buy_or_rent.html")
    field = opened.page.locator("[data-control=rent_usd_per_hour] .sr-field").first
    for typed, read in (
        ("2,40", None),
        ("$2.40", 2.4),
        ("€3", None),
        ("1,2", None),
        ("3 .5", None),
        ("3.5", 3.5),
    ):
        before = opened.ask("window.scaleright.page.values.rent_usd_per_hour")
        field.fill(typed)
        field.press("Enter")
        assert opened.ask("window.scaleright.page.values.rent_usd_per_hour") == (
            before if read is None else read
        ), typed
