"""What chapters offer can be answered: settings drawn freely and as on the page are answered, or
are refused before anything runs, with what would work; and each choice alone goes through the
rules. `settings_tried.py` tries two hundred of a chapter, and each choice alone, to their answers.
"""

from __future__ import annotations

import pytest
from scaleright.parameters import ParameterError, refusal, validate
from scaleright.press.texts import declared
from settings_tried import BOOK, at_random, each_alone, judged, page

RANDOM = 6
"""Random settings of a chapter that the suite tries; every other one is drawn freely."""
BY_CELLS = 1
"""Those among them that run the cells of the chapter, of what its page does not offer: a model of
its own is searched for seconds."""
ACCEPTED = 0.25
"""Share of the choices alone that the rules of each chapter accept at least: many need another one
beside them, since few chips are sold under one contract and few were submitted on one benchmark.
"""


@pytest.mark.parametrize("chapter", BOOK.chapters())
def test_random_settings_are_answered_or_refused_with_what_works(chapter):
    by_cells, tried, wrong, answered = 0, 0, [], 0
    for values in at_random(chapter, RANDOM, seed=1):
        tried += 1
        if not refusal(declared(chapter, BOOK), values) and not page(chapter).answers(values):
            by_cells += 1
            if by_cells > BY_CELLS:
                continue
        found, why = judged(chapter, values)
        wrong += [why] if why else []
        answered += found.outcome == "ran"
    assert (tried, wrong) == (RANDOM, [])
    assert answered > 0


@pytest.mark.parametrize("chapter", BOOK.chapters())
def test_each_choice_alone_is_accepted_or_refused_with_what_works(chapter):
    given, accepted, tried = declared(chapter, BOOK), 0, 0
    for values in each_alone(chapter):
        tried += 1
        if not (said := refusal(given, values)):
            accepted += 1
            continue
        with pytest.raises(ParameterError) as caught:
            validate(given, values)
        works = caught.value.works
        assert works and " = " in said, f"{values}: {said}"
        assert refusal(given, {**values, **works}) == "", f"{values}: {said}: {works}"
    assert tried >= sum(max(len(of.choices), 2) - 1 for of in given)
    assert accepted >= ACCEPTED * tried, (accepted, tried)


@pytest.mark.parametrize("chapter", BOOK.chapters())
def test_the_page_grays_out_what_the_rules_refuse_and_nothing_else(chapter):
    given, shown, wrong, weighed = declared(chapter, BOOK), page(chapter), [], 0
    menus = {of.name: shown.live.describe(of.name) for of in given if of.choices}
    for name, menu in menus.items():
        for option in menu["choices"]:
            with_it = {of: at for of, at in shown.following(name, option).items() if of in menus}
            said = refusal(given, {name: option} | with_it)
            weighed += 1
            if bool(said) != shown.grays_out(name, option):
                wrong.append((name, option, said or "the rules accept it"))
    assert weighed == sum(len(menu["choices"]) for menu in menus.values()) > 1
    assert wrong == []
