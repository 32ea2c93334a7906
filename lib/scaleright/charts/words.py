"""Numbers in the words people say, in Python and in the reader's browser alike.

`say` is polymorphic as the formulas are: a number gives a string, a quantity a word, a Vega
expression the expression of the same string, so that a sentence computed in the notebook and the
one that a slider changes read alike.
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np

from scaleright import units
from scaleright.names import nearest
from scaleright.ops import where
from scaleright.quantity import Operation, Quantity, apply

_WORDS = {
    "usd": units.usd,
    "duration": units.duration,
    "mass": partial(units.in_units, scales=units.MASSES),
    "volume": partial(units.in_units, scales=units.VOLUMES),
    "count": partial(units.in_units, scales=units.COUNTS),
}
_TRIMMED = ("hours", "days", "months", "years")
"""Kinds said without zeros at the end, and in the singular for one: 5 hours, 1 hour, not 5.00
hours.
"""


def say(value: Any, kind: str = "number") -> Any:
    """Write a number, or the expression of one, as a person would say it.

    Parameters
    ----------
    value : float, quantity or Vega expression
    kind : one of "usd", "percent" (of a share), "number", "whole", "hours", "months", "years",
        "billions", "hours a day" (no more than 24), "load" (the share from which something holds),
        "chance" (a probability, certain where it is 1),
        "whole UNITS" (1 chip, 8 chips), "duration" (of seconds), "mass" (of kg), "volume" (of L),
        "typed" (as on a command line: 1000000), "count" (55 billion) or "si UNIT" such as
        "si FLOP/s". A digit at the end sets the significant digits ("usd 2"). Any other word is a
        unit written after the number ("tokens/s").

    Returns
    -------
    str, or the quantity or expression of it.

    >>> say(1234.5, "usd"), say(-0.4, "percent"), say(3.14e23, "si FLOP"), say(116000,
    ...     "duration 2"), say(5.257, "hours")
    ('$1,230', '−40 %', '314 ZFLOP', '32 hours', '5.26 hours')
    >>> say(1, "whole chips"), say(8.0, "whole chips")
    ('1 chip', '8 chips')
    >>> say(1.4e-14, "days"), say(43_858_442, "whole")
    ('less than 0.0001 days', '43,860,000')
    >>> say(0.63, "load"), say(1.2, "load"), say(0.9987, "chance"), say(0.999995, "chance")
    ('above 63 %', 'at no load', '99.9 %', 'more than 99.9 %')
    >>> say(float("nan"), "usd"), say(0.0, "percent"), say(2e-7, "percent")
    ('–', '0 %', 'less than 0.01 %')
    >>> import altair
    >>> say(altair.datum.tokens, "typed")
    format(datum.tokens,'.7~r')
    """
    if isinstance(value, Quantity):
        value.unit = value.unit or unit_said(kind).strip("1")
        return apply(_saying(kind), value)
    if isinstance(value, float) and np.isnan(value):
        return NONE
    word, _, last = kind.rpartition(" ")
    kind, digits = (word, int(last)) if word and last.isdigit() else (kind, 3)
    if kind in _WORDS:
        return _WORDS[kind](value, digits=digits)
    if kind.startswith("si "):
        return units.si(value, kind[3:], digits)
    if kind == "billions":
        return say(value / 1e9, f"B {digits}")
    if kind in _COMPOSED:
        return _COMPOSED[kind](value)
    if kind == "whole":
        return _whole(value)
    if kind.startswith("whole "):
        return _counted(_whole(value), kind.removeprefix("whole"))
    if kind == "percent":
        return _percent(value, 2 if digits == 3 else digits)
    unit = "" if kind in ("number", "") else f" {_not_misspelled(kind)}"
    if kind in _TRIMMED:
        return _some(value, _counted(units.formatted(value, f",.{digits}~r"), unit), unit)
    text = units.formatted(value, f",.{digits}r")
    return _some(value, text + unit if unit else text, unit)


def between(low: Any, high: Any, kind: str) -> Any:
    """A range in words; one number where both of its ends are said alike.

    >>> between(1.0, 2.0, "usd"), between(74_210.0, 74_190.0, "usd")
    ('$1.00 to $2.00', '$74,200')
    """
    least, most = say(low, kind), say(high, kind)
    return where(least == most, least, least + " to " + most)


def _some(value: Any, said: Any, unit: str) -> Any:
    """A number in words; next to nothing has no digits."""
    little = (abs(value) < units.LITTLE) & (value != 0)
    return where(little, f"less than {units.LITTLE:.4f}{unit}", said)


def _whole(number: Any) -> Any:
    """A count; beyond ten millions nobody counted to the last digit."""
    return where(abs(number) < MANY, units.whole(number), units.formatted(number, ",.4r"))


MANY = 1e7
"""A count of which a sentence says four digits."""


def _percent(share: Any, digits: int) -> Any:
    """A share: what is nearly nothing has no digits, and what is noise is nothing."""
    said, little = units.formatted(share * 100, f",.{digits}r") + " %", abs(share) < 1e-4
    return where(little, where(abs(share) < 1e-9, "0 %", "less than 0.01 %"), said)


def _chance(share: Any) -> Any:
    """A probability: nearly certain is not certain, and not rounded to it."""
    usual, sure = (units.formatted(100 * share, f",.{digits}r") + " %" for digits in (2, 3))
    near = where(share > 0.99, sure, usual)
    near = where(share > 0.9995, "more than 99.9 %", where(share < 5e-4, "less than 0.1 %", near))
    return where(share >= 1, "100 %", where(share <= 0, "0 %", near))


def _counted(text: Any, unit: str) -> Any:
    """A number of things, one of them in the singular."""
    return where(text == "1", "1" + unit[:-1], text + unit)


_COMPOSED = {
    "hours a day": lambda h: where(h > 24, "more than 24 hours", say(h, "hours 2")),
    "load": lambda share: where(share > 1, "at no load", "above " + say(share, "percent")),
    "chance": _chance,
    "typed": lambda number: units.formatted(number, f".{units.DIGITS}~r"),
}
_KINDS = (*_WORDS, *_TRIMMED, *_COMPOSED, "percent", "number", "whole", "billions")


def _not_misspelled(unit: str) -> str:
    """A unit that is written as it is; refused where it is nearly the name of a kind.

    >>> _not_misspelled("tokens/s")
    'tokens/s'
    >>> _not_misspelled("percnt")
    Traceback (most recent call last):
    LookupError: unknown way to say a number 'percnt'; nearest: percent, count (17 known)
    """
    if unit not in _KINDS and get_close_matches(unit, _KINDS, 1, 0.8):
        nearest(unit, _KINDS, "way to say a number")
    return unit


NONE = "–"
"""What is said where there is no number."""


def listed(words: Iterable[tuple[Any, Any]]) -> Any:
    """Those words whose condition holds, each after a comma; quantities or not.

    words : pairs of a word and its condition

    >>> listed([("the H100", True), ("the A100", False), ("the B200", True)])
    ', the H100, the B200'
    """
    return reduce(add, (where(there, ", " + word, "") for word, there in words), "")


def _saying(kind: str) -> Operation:
    """`say` as an operation of quantities."""
    from altair.expr.core import ConstExpression

    def page(value: str) -> str:
        return f"(isValid({value}) ? {say(ConstExpression(value), kind)} : '{NONE}')"

    one = np.vectorize(lambda value: say(float(value), kind), [str])
    return Operation(f"say {kind}", one, page, repeats=True)


_UNITS = {
    "usd": "USD",
    "percent": "1",
    "load": "1",
    "chance": "1",
    "duration": "s",
    "times": "1",
    "number": "",
    "whole": "",
    "billions": "",
    "hours a day": "hours",
}
"""Kinds of `say` whose word is not the unit of the number itself."""


def unit_said(how: Any) -> str:
    """The unit of the raw number that a column's format says; empty if the format does not tell.

    >>> [unit_said(how) for how in ("usd 2", "si FLOP/s", "percent", "months", "number")]
    ['USD', 'FLOP/s', '1', 'months', '']
    """
    if not isinstance(how, str):
        return ""
    kind = re.sub(r" ?\d+$", "", how)
    return _UNITS.get(kind, re.sub("^(si|whole) ?", "", kind).strip())


def unit_words(unit: str) -> str:
    """A unit as it is spoken: for the label of a control.

    >>> unit_words("USD/h"), unit_words("USD/kWh"), unit_words("1"), unit_words(
    ...     "h/day"), unit_words("month")
    ('USD per hour', 'USD per kWh', '', 'hours per day', 'months')
    """
    singular = {
        "h": "hour",
        "d": "day",
        "s": "second",
        "B": "byte",
        "FLOP": "FLOP",
        "yr": "year",
        "mo": "month",
    }
    plural = {
        "h": "hours",
        "d": "days",
        "s": "seconds",
        "B": "bytes",
        "yr": "years",
        "mo": "months",
        "person": "people",
    }
    plural |= {
        word: word + "s"
        for word in (
            "hour",
            "day",
            "month",
            "year",
            "token",
            "chip",
            "sequence",
            "request",
            "accelerator",
        )
    }
    if unit in ("1", "", None):
        return ""
    first, *rest = str(unit).replace("*", "·").split("/")
    return " per ".join([plural.get(first, first), *(singular.get(part, part) for part in rest)])
