"""A choice that rules out others dims them and says why; they stay to be picked."""

from __future__ import annotations

import pytest

JUDGED = "window.scaleright.page.judged"
OPTIONS = """(name) => {
    const menu = document.querySelector(`[data-control="${name}"] select`);
    return [...menu.options].map(({ value, disabled, title, className, text }) =>
        [value, disabled, title, className, text]);
}"""
NOTE = """(name) => document.querySelector(`[data-control="${name}"] .sr-ruled`).textContent"""
CARD = "document.querySelector('.sr-sentence').innerText.replace(/\\s+/g, ' ').trim()"


def options(opened, name: str) -> dict[str, str]:
    """Why each option of a menu is dimmed, empty where it is not; none is disabled."""
    opened.ask("window.scaleright.page.remembered")
    opened.ask(JUDGED)
    found = opened.ask(OPTIONS, name)
    for value, disabled, title, name_of_class, text in found:
        assert not disabled and (name_of_class == "sr-out") == bool(title)
        assert text == f"{value}{' (n/a)' if title else ''}"
    return {value: title for value, _, title, *_ in found}


@pytest.mark.parametrize(
    "name, menu, case",
    [
        ("notebooks/token_cost.html", "accelerator", {"model": "Llama-3.1-405B"}),
        (
            "notebooks/inference_roofline.html",
            "precision",
            {"accelerator": "A100 SXM 80GB", "precision": "INT8"},
        ),
        ("notebooks/mlperf.html", "old_chip", {"benchmark": "llama3.1-405b"}),
    ],
)
def test_an_option_is_dimmed_where_the_card_would_have_no_answer(look, name, menu, case):
    opened = look(name)
    opened.set(case)
    found = options(opened, menu)
    out = {value: why for value, why in found.items() if why}
    assert 0 < len(out) < len(found)
    have = "has" if len(out) == 1 else "have"
    said = f"{len(out)} of {len(found)} {have} no answer in your case; pick one to see why."
    assert opened.ask(NOTE, menu) == said
    for value, why in found.items():
        opened.set({menu: value})
        said = opened.ask(CARD)
        assert said == why if why else said not in out.values(), value
    assert opened.troubles == []
    opened.ask("window.scaleright.reset()")


@pytest.mark.parametrize("name", ["notebooks/token_cost.html"])
def test_where_no_option_of_a_menu_would_help_none_is_dimmed(look, name):
    opened = look(name)
    opened.set({"model": "Llama-3.1-405B", "pace_tokens_per_s": 300})
    assert set(options(opened, "accelerator").values()) == {""}
    assert opened.ask(NOTE, "accelerator") == ""
    opened.ask("window.scaleright.reset()")
    assert [value for value, why in options(opened, "accelerator").items() if why]
