"""Quantities from lists: the one that a choice picks, and the least of several."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from scaleright.quantity.graph import (
    ELEMENT,
    EQUAL,
    Operation,
    Quantity,
    apply,
    called,
    either,
    element,
)
from scaleright.quantity.rows import look_up


def _listed(*values: Any) -> np.ndarray:
    if any(isinstance(of, np.ndarray) for of in values):
        return np.stack(np.broadcast_arrays(*values), axis=-1)
    return np.array(values)


LIST = Operation(
    "list",
    _listed,
    lambda *values: f"[{','.join(values)}]",
)


def _place_of_least(values: np.ndarray) -> Any:
    """The first place of the least number along the last axis, -1 where there is none."""
    missing = np.isnan(values)
    place = np.where(missing, np.inf, values).argmin(axis=-1)
    return np.where(missing.all(axis=-1), -1, place)


WORD = Operation(
    "word", element, lambda words, place: f"({place} < 0 ? '' : {words}[{place}])", repeats=True
)
PLACE_OF_LEAST = Operation(
    "place of least", _place_of_least, lambda v: f"indexof({v},extent({v})[0])", repeats=True
)


def place_of_least(values: Any) -> Quantity:
    """The place of the least number of a list that is a quantity, the first of equals; -1 where
    there is none.
    """
    return apply(PLACE_OF_LEAST, values)


def word_at(words: Any, place: Any) -> Quantity:
    """The word of a list at a place; none at -1.

    >>> from scaleright.quantity import evaluate, given
    >>> place = given("place", 1)
    >>> word = word_at(["a", "b"], place)
    >>> word.value, evaluate([word], {"place": -1})
    ('b', [''])
    """
    listed = tuple(words) if isinstance(words, list) else words
    return apply(WORD, listed, place)


def pick(options: Mapping[str, Any], choice: Any) -> Quantity:
    """The number of the option that is chosen, among those of several options.

    >>> from scaleright.quantity import evaluate, given
    >>> price, chip = given("price", 2.0), given("chip", "A")
    >>> bill = pick({"A": 10 * price, "B": 30.0}, chip)
    >>> bill.value, evaluate([bill], {"chip": "B"})
    (20.0, [30.0])
    """
    return apply(ELEMENT, apply(LIST, *options.values()), look_up([*options], choice))


_SORTED = called("sort", lambda values: np.sort(values, axis=-1))
_HOW_OFTEN = Operation(
    "how often",
    lambda values, value: (np.asarray(values) == np.asarray(value)[..., None]).sum(axis=-1),
    lambda v, x: f"(indexof({v},{x}) < 0 ? 0 : lastindexof({v},{x}) - indexof({v},{x}) + 1)",
    repeats=True,
)
"""Of a list that is sorted."""


def how_often(places: Any, many: int) -> list[Quantity]:
    """How often a list of whole numbers has each of 0, 1 and so on, so many of them.

    >>> from scaleright.quantity import given, over
    >>> load = given("load", 1)
    >>> places = over("loads", {load: [1, 2, 3]}, {"even": load % 2})["even"]
    >>> [int(of.value) for of in how_often(places, 2)]
    [1, 2]
    """
    ordered = apply(_SORTED, places)
    return [apply(_HOW_OFTEN, ordered, place) for place in range(many)]


def most_of(counts: Mapping[str, Any], most: int) -> list[tuple[Quantity, Quantity]]:
    """The names of the greatest of several whole numbers from 0, and these, the greatest first and
    of equals the first; so many of them.

    >>> from scaleright.quantity import evaluate, given
    >>> wins = given("wins", 3)
    >>> first, second = most_of({"A": 1, "B": wins, "C": 1}, 2)
    >>> first[0].value, second[0].value, evaluate([first[0], first[1]], {"wins": 0})
    ('B', 'A', ['A', 1.0])
    """
    size = len(counts)
    ranked = [count * size + (size - 1 - place) for place, count in enumerate(counts.values())]
    ordered, found = apply(_SORTED, apply(LIST, *ranked)), []
    for rank in range(min(most, size)):
        key = apply(ELEMENT, ordered, size - 1 - rank)
        behind = key % size
        found.append((word_at([*counts], size - 1 - behind), (key - behind) / size))
    return found


IF = called("if", either)


def least(candidates: Mapping[str, Any], after: Any = None) -> tuple[Quantity, Quantity]:
    """The name of the least of several quantities, the first of equals, and its value; no word and
    NaN where none is a number.

    after : the name of one to leave out, such as the least of all

    >>> from scaleright.quantity import evaluate, given
    >>> price = given("price", 2.0)
    >>> bills = {"by the hour": 10 * price, "by the month": 30.0}
    >>> name, bill = least(bills)
    >>> (name.value, bill.value), evaluate([name, bill], {"price": 4.0})
    (('by the hour', 20.0), ['by the month', 30.0])
    >>> least(bills, after=name)[0].value
    'by the month'
    """
    candidates = _without(candidates, after)
    return least_of(apply(LIST, *candidates), candidates.values())


def place_after(candidates: Mapping[str, Any], first: Any) -> Quantity:
    """The place of the least of several quantities but one, by its name; -1 where there is none.

    >>> from scaleright.quantity import given
    >>> place_after({"a": given("a", 2.0), "b": 3.0, "c": 4.0}, "a").value
    1
    """
    return place_of_least(apply(LIST, *_without(candidates, first).values()))


def _without(candidates: Mapping[str, Any], name: Any) -> Mapping[str, Any]:
    """Candidates of which one of this name is no number; all of them where it is None."""
    if name is None:
        return candidates
    return {
        of: apply(IF, apply(EQUAL, name, of), math.nan, value) for of, value in candidates.items()
    }


def least_of(names: Any, values: Iterable[Any]) -> tuple[Quantity, Quantity]:
    """The same of a list of names, such as a column of lists that a choice picks, and of the values
    of as many candidates or of more: those without a name are no numbers.

    >>> from scaleright.quantity import choose, evaluate, given
    >>> sold = {"A": {"by": ["day", "month"], "usd": [1.0, 20.0]},
    ...     "B": {"by": ["day"], "usd": [2.0]}}
    >>> chip, days = choose(sold, given("chip", "A")), given("days", 30.0)
    >>> name, bill = least_of(chip.by, [days * chip.usd[0], chip.usd[1]])
    >>> (name.value, bill.value), evaluate([name, bill], {"chip": "B"})
    (('month', 20.0), ['day', 60.0])
    """
    found = apply(LIST, *values)
    place = apply(PLACE_OF_LEAST, found)
    return word_at(names, place), apply(ELEMENT, found, place)
