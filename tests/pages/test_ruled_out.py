"""A choice that rules out others grays them out and says why."""

from __future__ import annotations

import pytest

JUDGED = "window.scaleright.page.judged"
OPTIONS = """(name) => {
    const menu = document.querySelector(`[data-control="${name}"] select`);
    return [...menu.options].map(({ value, disabled, title }) => [value, disabled, title]);
}"""
NOTE = """(name) => document.querySelector(`[data-control="${name}"] .sr-ruled`).textContent"""
CARD = "document.querySelector('.sr-sentence').innerText.replace(/\\s+/g, ' ').trim()"


def options(opened, name: str) -> dict[str, str]:
    """Why each option of a menu is grayed out, empty where it is not."""
    opened.ask("window.scaleright.page.remembered")
    opened.ask(JUDGED)
    found = opened.ask(OPTIONS, name)
    assert all(disabled == bool(title) for _, disabled, title in found)
    return {value: title for value, _, title in found}


@pytest.mark.parametrize(
    "page, menu, case",
    [
        ("token_cost", "accelerator", {"model": "Llama-3.1-405B"}),
        ("inference_roofline", "precision", {"accelerator": "A100 SXM 80GB", "precision": "INT8"}),
        ("mlperf", "old_chip", {"benchmark": "llama3.1-405b"}),
    ],
)
def test_an_option_is_grayed_out_where_the_card_would_have_no_answer(look, page, menu, case):
    opened = look(f"notebooks/{page}.html")
    opened.set(case)
    found = options(opened, menu)
    out = {value: why for value, why in found.items() if why}
    assert 0 < len(out) < len(found)
    first = next(iter(out))
    assert opened.ask(NOTE, menu).startswith(
        f"{len(out)} of {len(found)} do not go with the rest of your case. {first}: "
    )
    for value, why in found.items():
        opened.set({menu: value})
        said = opened.ask(CARD)
        assert said == why if why else said not in out.values(), value
    assert opened.troubles == []
    opened.ask("window.scaleright.reset()")


def test_where_no_option_of_a_menu_would_help_none_is_grayed_out(look):
    opened = look("notebooks/token_cost.html")
    opened.set({"model": "Llama-3.1-405B", "pace_tokens_per_s": 300})
    assert set(options(opened, "accelerator").values()) == {""}
    assert opened.ask(NOTE, "accelerator") == ""
    opened.ask("window.scaleright.reset()")
    assert [value for value, why in options(opened, "accelerator").items() if why]
