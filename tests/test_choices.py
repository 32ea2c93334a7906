"""What chapters offer can be answered: settings drawn freely and as on the page are answered, or
are refused before anything runs, with what would work; and choices alone go through the rules, of
the catalog's long menus some in each chapter, and all every night. `settings_tried.py` tries two
hundred of a chapter, and each choice alone, to their answers.
"""

import math
import os
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import pytest
from chapter_cells import BOOK, page
from scaleright.parameters import ParameterError, refusal, validate
from scaleright.press import scenarios
from scaleright.press.texts import declared
from settings_tried import at_random, each_alone, ends, judged

RANDOM = 6
"""Random settings of a chapter that the suite tries; every other one is drawn freely."""
NIGHTLY = os.environ.get("SCALERIGHT_NIGHTLY") == "1"
WITH_CASES = {case.chapter for case in scenarios.read(BOOK)}
"""Chapters all of whose cells the build of the site runs at other values than the declared."""
SEARCHED = () if NIGHTLY else ("cluster_efficiency", "pretraining_cost")
"""Chapters that search for a minute for a model that their page does not offer: of such settings
the rules alone are asked; cases of others, and `test_own_models`, run models that no page has.
"""
MENU = math.inf if NIGHTLY else 12
"""Options of a menu that are tried, at most."""
ACCEPTED = 0.75
"""Share of the choices alone that the rules of each chapter accept at least."""
REFUSED = 0.05
"""Share of the choices alone that the rules of all chapters together refuse at most."""


def refused(chapter: str, values: dict[str, Any]) -> str:
    """What the rules of a chapter say of values; several tests ask for the same."""
    return _refused(chapter, frozenset(values.items()))


@cache
def _refused(chapter: str, values: frozenset[tuple[str, Any]]) -> str:
    return refusal(declared(chapter, BOOK), dict(values))


@pytest.mark.parametrize("chapter", BOOK.chapters())
def test_random_settings_are_answered_or_refused_with_what_works(chapter):
    """By the page's graph, and one that the page does not offer by the cells up to the answer. One
    by all cells where no case of the book runs them at other values, and every night.
    """
    tried = [*at_random(chapter, RANDOM, seed=1)]
    accepted = [values for values in tried if not refused(chapter, values)]
    beyond = [values for values in accepted if not page(chapter).answers(values)]
    assert len(tried) == RANDOM and accepted
    within = [values for values in accepted if values not in beyond]
    whole = (beyond or within)[:1] if NIGHTLY else (within or beyond)[: chapter not in WITH_CASES]
    rest = [] if chapter in SEARCHED else [of for of in beyond[:1] if of not in whole]
    by_rules = [values for values in tried if chapter in SEARCHED and not offered(chapter, values)]
    by_graph = [of for of in tried if of not in (*beyond, *whole, *by_rules)]
    found = [judged(chapter, values, whole=True) for values in whole]
    found += [judged(chapter, values) for values in (*rest, *by_graph)]
    assert [wrong for _, wrong in found if wrong] == []
    assert {one.outcome for one, _ in found[: len(whole + rest)]} <= {"ran"}
    for values in by_rules:
        if refused(chapter, values):
            nearest(chapter, values)


def offered(chapter: str, values: dict[str, Any]) -> bool:
    """Whether the page of a chapter has a control for each of these values."""
    return page(chapter).offers({name: of for name, of in values.items() if of is not None})


def nearest(chapter: str, values: dict[str, Any]) -> Mapping[str, Any]:
    """What the refusal of a setting offers, with which the rules accept it."""
    with pytest.raises(ParameterError) as caught:
        validate(declared(chapter, BOOK), values)
    works, said = caught.value.works, str(caught.value)
    assert works and " = " in said, f"{values}: {said}"
    assert refused(chapter, {**values, **works}) == "", f"{values}: {said}: {works}"
    return works


def some(options: Sequence, chapter: str) -> Sequence:
    """Options spread over a menu; of one that several chapters have, each tries others."""
    apart = math.ceil(len(options) / MENU) or 1
    return options[zlib.crc32(chapter.encode()) % apart :: apart]


@pytest.mark.parametrize("chapter", BOOK.chapters())
def test_a_choice_alone_is_accepted_or_refused_with_what_works(chapter):
    given, accepted, tried = declared(chapter, BOOK), 0, 0
    others = {of.name: [one for one in ends(of) if one != of.default] for of in given}
    alone = [{name: one} for name, of in others.items() for one in some(of, chapter)]
    for values in alone:
        tried += 1
        if not refused(chapter, values):
            accepted += 1
            continue
        works = nearest(chapter, values)
        assert {"model"}.isdisjoint(works.keys() - values), f"{values}: {works}"
    assert tried >= sum(min(max(len(of.choices), 2), MENU / 2) - 1 for of in given)
    assert accepted >= ACCEPTED * tried, (accepted, tried)


@pytest.mark.nightly
def test_at_most_one_choice_alone_in_twenty_is_refused():
    every = {chapter: [*each_alone(chapter)] for chapter in BOOK.chapters()}
    many = {
        chapter: sum(bool(refused(chapter, of)) for of in each) for chapter, each in every.items()
    }
    assert sum(many.values()) <= REFUSED * sum(map(len, every.values())), many


@pytest.mark.parametrize("chapter", BOOK.chapters())
def test_the_page_grays_out_what_the_rules_refuse_and_nothing_else(chapter):
    shown, wrong, weighed = page(chapter), [], 0
    offered = {of.name: shown.options(of.name) for of in declared(chapter, BOOK) if of.choices}
    for name, options in offered.items():
        for option, grayed in zip(options, shown.grays_out(name, options), strict=True):
            follow = {of: at for of, at in shown.following(name, option).items() if of in offered}
            said = refused(chapter, {name: option} | follow)
            weighed += 1
            if bool(said) != grayed:
                wrong.append((name, option, said or "the rules accept it"))
    assert weighed == sum(map(len, offered.values())) > 1
    assert wrong == []


@pytest.mark.parametrize(
    "chapter, values, changed",
    [
        ("token_cost", {"rent_usd_per_hour": 3.0}, "accelerator"),
        ("token_cost", {"model": "DeepSeek-V3.1", "api_host": "Groq"}, "api_host"),
        ("architecture_bets", {"bet": "B300"}, "rival"),
        ("inference_roofline", {"precision": "NVFP4", "seller": "Crusoe"}, "precision"),
    ],
)
def test_what_the_reader_wishes_is_kept_where_another_value_may_change(chapter, values, changed):
    found, wrong = judged(chapter, values)
    assert found.outcome == "refused" and not wrong
    assert [*found.works] == [changed] and found.reason.count("nearest") == 1


def test_what_stands_in_the_way_of_a_model_is_changed_and_not_the_model():
    with pytest.raises(ParameterError) as caught:
        validate(declared("rlhf_cost", BOOK), {"model": "DeepSeek-V3"})
    assert caught.value.works == {"chips": 64}


def test_a_chip_that_nobody_rents_out_is_owned_up_to_a_rent_that_is_said():
    found, wrong = judged("buy_or_rent", {"accelerator": "GB200"}, whole=True)
    assert not wrong and "own one GB200: nobody rents it out." in found.reason
    assert "a lower rent would be cheaper" in found.reason
    found, wrong = judged("token_cost", {"accelerator": "GB200"}, whole=True)
    assert not wrong and "Nobody rents GB200 out, so renting it is left out" in found.reason
    assert "it would be the cheapest below" in found.reason
    spot, wrong = judged("buy_or_rent", {"accelerator": "MI325X", "contract": "spot"})
    assert not wrong and spot.outcome == "refused"
