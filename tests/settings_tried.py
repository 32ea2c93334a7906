"""Settings of chapters' parameters, tried: `python -P tests/settings_tried.py 200 [CHAPTER ...]`.

A setting is validated as the command line does, and if the rules accept it, all cells of the
chapter run in this process. Either there is an answer then, or its card says why there is none.
"""

from __future__ import annotations

import ast
import contextlib
import io
import math
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scaleright.outputs import ANSWER_MIME
from scaleright.press import Book, parameters
from scaleright.press.parameters import Case, Parameter, ParameterError, declared, validate
from scaleright.press.parameters.declaration import chapter_notebook
from scaleright.units import figure

BOOK = Book(Path(__file__).resolve().parents[1])
WHOLE = 5
"""One setting in so many runs all cells of its chapter, the others those up to the answer."""
_WIDE = 50
"""Ends that differ by this factor or more are drawn between in ratios, as sliders move."""
_LEFT_OPEN = 0.3
"""The share of draws in which a parameter that may be left to the book is."""
_MOVED = 0.3
"""The share of parameters that move in every other random setting: of all at once few go together
where rules are many.
"""


@dataclass(frozen=True)
class Tried:
    """What became of a setting.

    outcome : "ran", "said" (the card says why there is no answer), "refused" or "failed"
    reason : what the rules, the card or the error said
    works : the values that the refusal offers instead
    """

    values: Mapping[str, Any]
    outcome: str
    reason: str = ""
    works: Mapping[str, Any] = field(default_factory=dict)


@cache
def _cells(chapter: str) -> tuple[tuple[Any, Any, bool], ...]:
    """The cells of a chapter, compiled: what precedes the last expression, that expression, and
    whether it is the answer.
    """
    found = []
    for number, cell in enumerate(chapter_notebook(BOOK.text(chapter)).cells):
        if cell.cell_type != "code":
            continue
        tree, where = ast.parse(cell.source), f"{chapter}, cell {number}"
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        shown = compile(ast.Expression(last.value), where, "eval") if last else None
        answers = "answer" in cell.metadata.get("tags", ())
        found.append((compile(tree, where, "exec"), shown, answers))
    return tuple(found)


def computed(chapter: str, values: Mapping[str, Any], whole: bool = True) -> dict:
    """What the answer of a chapter tells machines, after all its cells or those up to the answer
    have run with these values.
    """
    given, answer = declared(chapter, BOOK), {}
    names = {"display": lambda *shown: None}  # as a notebook has it
    case = Case(given, {of.name: of.default for of in given} | dict(values))
    quiet = contextlib.redirect_stdout(io.StringIO())
    with patch.object(parameters, "case", lambda: case), quiet:
        for code, last, answers in _cells(chapter):
            exec(code, names)
            shown = eval(last, names) if last else None
            if answers:
                answer = shown._repr_mimebundle_()[ANSWER_MIME]
                if not whole:
                    break
    return answer


def tried(chapter: str, values: Mapping[str, Any], whole: bool = True) -> Tried:
    """What becomes of a setting."""
    try:
        given = validate(declared(chapter, BOOK), values)
    except ParameterError as error:
        return Tried(values, "refused", str(error), error.works)
    try:
        answer = computed(chapter, given, whole)
    except Exception as error:  # noqa: BLE001, whatever a cell raises is what is looked for
        at = [f for f in traceback.extract_tb(error.__traceback__) if f.filename[0] != "<"]
        places = [f"{Path(f.filename).name}:{f.lineno}" for f in (at[-1], at[-2])]
        return Tried(values, "failed", f"{type(error).__name__}: {error} ({', '.join(places)})")
    headline = next(iter(answer["quantities"].values()))["value"]
    there = isinstance(headline, (str, bool)) or (headline is not None and math.isfinite(headline))
    return Tried(values, "ran" if there and headline != "" else "said", answer["text"])


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
    if of.low is None or generator.random() < 0.25:
        options = ends(of)
        return options[generator.integers(len(options))]
    low, high = of.low, of.high
    if low > 0 and high / low >= _WIDE:
        value = figure(math.exp(generator.uniform(math.log(low), math.log(high))), 4)
    else:
        value = figure(generator.uniform(low, high), 4)
    value = min(max(value, low), high)
    return round(value) if of.type == "int" else value


def at_random(chapter: str, many: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """So many random settings: of all parameters, and in every other one of a few."""
    generator = np.random.default_rng([seed, *chapter.encode()])
    for number in range(many):
        every = {of.name: drawn(of, generator) for of in declared(chapter, BOOK)}
        moved = generator.random(len(every)) < (_MOVED if number % 2 else 1)
        yield {
            name: value for (name, value), is_in in zip(every.items(), moved, strict=True) if is_in
        }


def report(many: int, chapters: list[str]) -> Iterator[str]:
    """Lines on what became of each choice alone and of so many random settings."""
    for chapter in chapters or BOOK.chapters():
        began = time.process_time()
        for name, settings in (
            ("alone", each_alone(chapter)),
            ("random", at_random(chapter, many)),
        ):
            found = [
                tried(chapter, values, whole=number % WHOLE == 0)
                for number, values in enumerate(settings)
            ]
            counts = Counter(one.outcome for one in found)
            told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
            seconds, began = time.process_time() - began, time.process_time()
            yield f"{chapter}, {name}: {len(found)} tried, {told}; {seconds:.0f} s"
            for one in found:
                if one.outcome != "ran":
                    yield f"  {one.outcome}: {one.reason} | {one.values}".replace("\n", " / ")


if __name__ == "__main__":
    for line in report(int(sys.argv[1]), sys.argv[2:]):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
