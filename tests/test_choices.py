"""What chapters offer can be answered: each choice alone and random settings run, or are refused
before anything runs, with what would work. `settings_tried.py` tries more of them.
"""

from __future__ import annotations

from itertools import islice

import pytest
from scaleright.press.parameters import declared, refusal
from settings_tried import BOOK, at_random, each_alone, tried

RANDOM = 6
"""Random settings of a chapter that the suite tries."""
ALONE = 6
"""Choices alone that it tries, taken evenly from all."""


def held(chapter: str, values: dict, whole: bool) -> str:
    """What is wrong with the outcome of a setting; empty if nothing is."""
    found = tried(chapter, values, whole)
    if found.outcome == "failed":
        return f"{values}: {found.reason}"
    if found.outcome == "said" and not found.reason.rstrip().endswith("."):
        return f"{values}: the card says {found.reason!r}"
    if found.outcome != "refused":
        return ""
    works = refusal(declared(chapter, BOOK), {**values, **found.works})
    if not found.works or works:
        return f"{values}: {found.reason}: what is offered instead does not work either: {works}"
    return "" if " = " in found.reason else f"{values}: no value is named in {found.reason!r}"


@pytest.mark.parametrize("chapter", BOOK.chapters())
def test_random_settings_run_or_are_refused_with_what_works(chapter):
    settings = at_random(chapter, RANDOM, seed=1)
    wrong = [held(chapter, values, whole=number == 1) for number, values in enumerate(settings)]
    assert [*filter(None, wrong)] == []


@pytest.mark.parametrize("chapter", BOOK.chapters())
def test_each_choice_alone_runs_or_is_refused_with_what_works(chapter):
    every = [*each_alone(chapter)]
    step = max(len(every) // ALONE, 1)
    wrong = [held(chapter, values, whole=False) for values in islice(every, step // 2, None, step)]
    assert [*filter(None, wrong)] == []
