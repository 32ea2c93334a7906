"""Vega expressions as text: the digits that they mean, the names that they read."""

import functools
import re
from typing import Any

from scaleright.units import DIGITS, figure

_LITERALS = re.compile(
    r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
    r"|(?<![\w.])\d+(?:\.\d+(?:[eE][-+]?\d+)?|[eE][-+]?\d+)"
)
"""Texts of an expression, which stay as they are, and its numbers that are no integers."""


@functools.cache  # a definition stands on many charts
def settled(expression: str) -> str:
    """An expression with the digits that its numbers mean: a page is the same from every processor.

    >>> settled("datum.x > 2.1118776821760172 ? 'v0.123456789' : rows_1[0] * 85899345920")
    "datum.x > 2.111878 ? 'v0.123456789' : rows_1[0] * 85899345920"
    """
    return _LITERALS.sub(_settled, expression)


def _settled(found: re.Match) -> str:
    text = found[0]
    if text[0] in "'\"" or len(text) <= DIGITS:
        return text
    value = figure(float(text))
    return text if value == float(text) else repr(value)


HOLD_EXPRESSIONS = ("calculate", "filter", "expr", "test", "labelExpr")


def expressions_of(spec: Any) -> list[str]:
    """All Vega expressions of a specification."""
    if isinstance(spec, list):
        return [text for item in spec for text in expressions_of(item)]
    if not isinstance(spec, dict):
        return []
    own = [
        value for key, value in spec.items() if key in HOLD_EXPRESSIONS and isinstance(value, str)
    ]
    return own + [text for value in spec.values() for text in expressions_of(value)]


@functools.cache
def names_of(expression: str) -> frozenset[str]:
    """Names that an expression reads: neither words in its texts nor fields of a row.

    >>> sorted(names_of("datum.price * rent + ({'own': [1, 2]})[chip][0]"))
    ['chip', 'datum', 'rent']
    """
    bare = re.sub(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", "''", expression)
    return frozenset(re.findall(r"(?<![.\w])[A-Za-z_]\w*", bare))


def fields_of(expression: str) -> frozenset[str]:
    """Fields of a row that an expression reads.

    >>> sorted(fields_of("datum.price * rent + datum._of_1"))
    ['_of_1', 'price']
    """
    return frozenset(re.findall(r"\bdatum\.([A-Za-z_]\w*)", expression))
