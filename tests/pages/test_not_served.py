"""A case that is not possible has sentences of its own on a built page, and what stays at the
defaults says so.
"""

from __future__ import annotations

import pytest

PAGE = "notebooks/token_cost.html"
SENTENCES = "[...document.querySelectorAll('.sr-answer, .sr-said')].map((s) => s.innerText)"
ROW = (
    "[...document.querySelector('[data-sr-cell]').closest('table').rows].at(-1).innerText"
    ".split('\\t')"
)
BEHIND = "[...document.querySelectorAll('.sr-behind')].map((part) => part.dataset.srOf)"


@pytest.mark.parametrize("name", [PAGE])
def test_what_cannot_be_served_is_said_in_whole_sentences(look, name):
    opened = look(name)
    before = opened.ask(SENTENCES)
    assert "costs" in before[0] and opened.ask(BEHIND) == []
    opened.set({"model": "Kimi-K2.5", "accelerator": "RTX 5090"})
    after = opened.ask(SENTENCES)
    assert "no node of this accelerator holds the model. Choose another, or fewer bits." in after[0]
    assert "Only the API has a price for this case" in after[1]
    assert not any(word in text for word in ("NaN", "–", "unknown", "undefined") for text in after)
    assert opened.ask(ROW)[:2] == ["A100 SXM 40GB: no node holds the model", "–"]
    assert set(opened.ask(BEHIND)) == {"model", "model input_tokens output_tokens cached_share"}
    assert opened.troubles == []
    opened.ask("window.scaleright.reset()")
    assert opened.ask(SENTENCES) == before and opened.ask(BEHIND) == []
