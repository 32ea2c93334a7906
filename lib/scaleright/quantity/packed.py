"""Long lists of positive numbers as a page has them: three characters each, on a grid of ratios."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from scaleright.quantity.graph import Operation, element

_CHARACTERS, _BASE = 3, 36
_STEP, _START, _EXPONENT = 4.5e-4, 6.9, 9
"""Logarithm of the ratio of two neighbors, and of the least number in units of a billionth: of few
digits, which a page keeps. Numbers are whole in that unit, so that a page has the very same ones.
"""
_UNIT = 10.0**_EXPONENT


def _place(value: float) -> int:
    return round((math.log(value * _UNIT) - _START) / _STEP)


def _at(place: int) -> float:
    return round(math.exp(_STEP * place + _START)) / _UNIT


_LEAST, _MOST = _at(0), _at(_BASE**_CHARACTERS - 1)
_SIGNS = "0123456789abcdefghijklmnopqrstuvwxyz"
_LONG = 4
"""Shorter lists stay as they are."""


def graded(value: float) -> float:
    """The number of the grid that is nearest in ratio, at most 0.023 % away (0.05 below ten
    millionths); one beyond its ends with four digits.

    >>> round(graded(0.012345) / 0.012345 - 1, 3), graded(0.0), graded(4321.4)
    (0.0, 0.0, 4321.0)
    """
    from scaleright.units import figure  # which is built on quantities

    return figure(_at(_place(value))) if _LEAST <= value <= _MOST else figure(value, 4)


def packed(rows: Sequence[Any]) -> tuple[tuple[str, ...], tuple[tuple[float, ...], ...]] | None:
    """Lists of numbers of the grid as texts, and the numbers that a page makes of them; None where
    some are no such lists. One of no numbers is an empty text, of which a page makes no number.

    >>> texts, numbers = packed([tuple(map(graded, (0.1, 0.2, 0.4, 0.8)))])
    >>> len(texts[0]), [round(number, 3) for number in numbers[0]]
    (12, [0.1, 0.2, 0.4, 0.8])
    >>> packed([(0.12345, 0.2, 0.4, 0.8)])
    """
    floats = (type(row) is tuple and row and all(type(of) is float for of in row) for row in rows)
    if not all(floats) or max(map(len, rows)) < _LONG:
        return None
    texts, numbers = [], []
    for row in rows:
        if all(map(math.isnan, row)):
            texts.append("")
            numbers.append(row)
            continue
        if not all(_LEAST <= of <= _MOST for of in row):
            return None
        places = [_place(of) for of in row]
        known = tuple(map(_at, places))
        if any(abs(told / of - 1) > 1e-6 for told, of in zip(known, row, strict=True)):
            return None
        texts.append("".join(map(_text, places)))
        numbers.append(known)
    return tuple(texts), tuple(numbers)


def _text(place: int) -> str:
    digits = []
    for _ in range(_CHARACTERS):
        place, digit = divmod(place, _BASE)
        digits.append(_SIGNS[digit])
    return "".join(reversed(digits))


def _unpacked(row: str, place: str) -> str:
    first = f"{_CHARACTERS}*{place}"
    told = f"slice({row},{first},{first}+{_CHARACTERS})"
    return f"(round(exp({_STEP!r}*parseInt({told},{_BASE})+{_START!r}))/1e{_EXPONENT})"


PACKED_ELEMENT = Operation("element of packed", element, _unpacked, repeats=True)
"""What `graph.ELEMENT` is to a list that a page has as it is."""
