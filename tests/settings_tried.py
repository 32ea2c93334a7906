"""Settings of chapters' parameters, tried: `python tests/settings_tried.py 200 [CHAPTER ...]`.

A setting is validated as the command line does. If the rules accept it, it is answered: where the
page can show it by the graph of the chapter's quantities, built once, and one in so many, and all
that the page does not offer, by the cells of the chapter, which run in this process without a
kernel. A setting that is refused must name a nearest that works, and that one is answered as well.
What else happens is a failure: an error in a cell, a card that has no answer to what the rules
accept, a number that is none in its words. Random settings are
drawn in two ways, one in turn with the other: freely, of all parameters; and as a reader of the
page moves a few controls, whose menus gray out what the rest of the case rules out.
"""

from __future__ import annotations

import math
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from chapter_cells import BOOK, Run, page
from scaleright.parameters import Parameter, ParameterError, refusal, validate
from scaleright.parameters.declaration import Declared
from scaleright.press.texts import declared
from scaleright.quantity.graph import value_of
from scaleright.units import figure

WHOLE = 10
"""One setting in so many runs all cells of its chapter."""
_WIDE = 50
"""Ends that differ by this factor or more are drawn between in ratios, as sliders move."""
_LEFT_OPEN = 0.3
"""The share of draws in which a parameter that may be left to the book is."""
_LEAST = 1 / 400
"""The least number that is drawn where 0 leaves a parameter to the book, over the greatest."""
_MOVED = 0.3
"""The share of controls that a reader of the page moves."""
_LOOKS = 40
"""Options of a menu that such a reader looks at to find one that is not grayed out."""
_NO_NUMBER = re.compile(
    r"(?<!\w)–(?!\w)|∞|\b(nan|inf|undefined|None(?!:| of| publishes))\b|\d\.0{6}"
)
"""What no card says, in its sentence or the line beneath, and no sentence of its chapter."""


@dataclass(frozen=True)
class Tried:
    """What became of a setting.

    outcome : "ran", "said" (the card says that there is no answer to what the rules accept),
        "refused" or "failed"
    reason : what the rules, the card or the error said
    works : the values that the refusal offers instead
    """

    values: Mapping[str, Any]
    outcome: str
    reason: str = ""
    works: Mapping[str, Any] = field(default_factory=dict)


def tried(chapter: str, values: Mapping[str, Any], whole: bool | None = None) -> Tried:
    """What becomes of a setting.

    whole : whether all cells run, or those up to the answer; by default none where the page's graph
        has an answer
    """
    try:
        given = validate(declared(chapter, BOOK), values)
    except ParameterError as error:
        return Tried(values, "refused", str(error), error.works)
    if whole is None and (words := page(chapter).answers(given)):
        return _read(values, words)
    run = Run(chapter, given)
    try:
        run.whole() if whole else run.until()
    except Exception as error:  # noqa: BLE001, whatever a cell raises is what is looked for
        at = [f for f in traceback.extract_tb(error.__traceback__) if f.filename[0] != "<"]
        places = [f"{Path(f.filename).name}:{f.lineno}" for f in (at[-1], at[-2])]
        return Tried(values, "failed", f"{type(error).__name__}: {error} ({', '.join(places)})")
    said = run.answer["text"]
    if not value_of(run.page.there):
        return Tried(values, "said", said)
    return _read(values, " ".join([said, *run.sentences]))


def _read(values: Mapping[str, Any], words: str) -> Tried:
    """An answer, unless one of its numbers is none."""
    if found := _NO_NUMBER.search(words):
        return Tried(values, "failed", f"the card says {found[0]!r}: {words}")
    return Tried(values, "ran", words)


def judged(chapter: str, values: Mapping[str, Any], whole: bool | None = None) -> tuple[Tried, str]:
    """What becomes of a setting, and what is wrong with that; empty if nothing is."""
    found = tried(chapter, values, whole)
    if found.outcome in ("ran", "failed"):
        return found, found.reason if found.outcome == "failed" else ""
    if found.outcome == "said":
        return found, f"the rules accept what the card has no answer to: {found.reason}"
    if " = " not in found.reason:
        return found, f"no value is named in {found.reason!r}"
    if not found.works:
        return found, f"nothing that works is offered: {found.reason}"
    instead = _works(chapter, frozenset({**values, **found.works}.items()))
    if instead.outcome != "ran":
        return found, f"{found.reason}: that does not work either: {instead.reason}"
    return found, ""


@cache
def _works(chapter: str, values: frozenset) -> Tried:
    """What becomes of a setting that a refusal offers; many offer the same."""
    return tried(chapter, dict(values))


def each_alone(chapter: str) -> Iterator[dict[str, Any]]:
    """Each choice of each parameter, and both ends of a number, the others as declared."""
    for of in declared(chapter, BOOK):
        for value in ends(of):
            if value != of.default:
                yield {of.name: value}


def ends(of: Parameter) -> list[Any]:
    """The choices of a parameter; of a number its ends, of a date the first day."""
    if of.type == "bool":
        return [False, True]
    if of.choices:
        return [*of.choices]
    if of.days:
        return [of.days[0]]
    kind = int if of.type == "int" else float
    return [kind(of.low), kind(of.high)]


def drawn(of: Parameter, generator: np.random.Generator) -> Any:
    """A value that a reader may give a parameter: an end in one of four draws of a number."""
    if of.optional and generator.random() < _LEFT_OPEN:
        return None
    left_to_book = of.low == of.default == 0 and "0 for " in of.meaning
    if left_to_book and generator.random() < _LEFT_OPEN:
        return of.default
    if of.low is None or generator.random() < 0.25:
        options = ends(of)
        return options[generator.integers(len(options))]
    low, high = of.low, of.high
    low = _LEAST * high if left_to_book else low
    if low > 0 and high / low >= _WIDE:
        value = figure(math.exp(generator.uniform(math.log(low), math.log(high))), 4)
    else:
        value = figure(generator.uniform(low, high), 4)
    value = min(max(value, low), high)
    return round(value) if of.type == "int" else value


def at_random(chapter: str, many: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """So many random settings: drawn freely, and in turn with them as a reader of the page does."""
    generator = np.random.default_rng([seed, *chapter.encode()])
    given = declared(chapter, BOOK)
    for number in range(many):
        if number % 2 == 0:
            yield {of.name: drawn(of, generator) for of in given}
        else:
            yield _on_page(given, generator)


def _on_page(given: Declared, generator: np.random.Generator) -> dict[str, Any]:
    """A few controls moved, one after the other: of a menu an option that is not grayed out."""
    values: dict[str, Any] = {}
    for at in generator.permutation(len(given)):
        if generator.random() > _MOVED:
            continue
        of = given[int(at)]
        menu = of.type == "bool" or bool(of.choices)
        for _ in range(_LOOKS if menu else 1):
            value = drawn(of, generator)
            if not menu or not refusal(given, {**values, of.name: value}):
                values[of.name] = value
                break
    return values


def settings(chapter: str, many: int) -> dict[str, list[dict[str, Any]]]:
    """What is tried of a chapter, by how it was found."""
    random = [*at_random(chapter, many)]
    return {
        "drawn freely": random[::2],
        "drawn on the page": random[1::2],
        "alone": [*each_alone(chapter)],
    }


def report(many: int, chapters: list[str]) -> Iterator[str]:
    """Lines on what became of each choice alone and of so many random settings."""
    for chapter in chapters or BOOK.chapters():
        for name, each in settings(chapter, many).items():
            began = time.process_time()
            found = [
                judged(chapter, of, True if number % WHOLE == 0 else None)
                for number, of in enumerate(each)
            ]
            counts = Counter("failed" if wrong else one.outcome for one, wrong in found)
            told = ", ".join(f"{counts[of]} {of}" for of in ("ran", "refused", "failed"))
            seconds = time.process_time() - began
            yield f"{chapter}, {name}: {len(found)} tried, {told}; {seconds:.0f} s"
            for one, wrong in found:
                if wrong or one.outcome == "refused":
                    what = f"FAILED: {wrong}" if wrong else f"refused: {one.reason}"
                    yield f"  {what} | {one.values}".replace("\n", " / ")


if __name__ == "__main__":
    for line in report(int(sys.argv[1]), sys.argv[2:]):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
