"""Numbers in the words people say, in Python and in the reader's browser alike.

`say` is polymorphic as the formulas are: a number gives a string, a Vega expression gives the expression of
the same string, so that a sentence computed in the notebook and the one that a slider changes read alike.
"""

from __future__ import annotations

from typing import Any

from scaleright import units
from scaleright.ops import is_expression, where

_MEASURES = {"mass": units.MASSES, "volume": units.VOLUMES}
_TRIMMED = ("hours", "days", "months", "years")
"""Kinds said without zeros at the end, and in the singular for one: 5 hours, 1 hour, not 5.00 hours."""


def _format(value, d3: str):
    import altair

    return altair.expr.format(value, d3)


def first_case(cases, otherwise):
    """The result of the first case, of pairs of a condition and a result, whose condition holds; an expression."""
    for condition, result in reversed(cases):
        otherwise = where(condition, result, otherwise)
    return otherwise


def _cents(size, decimals: int):
    """An amount below a dollar, with two decimals at least and without zeros after them."""
    import altair

    text = _format(size, f".{decimals}f")
    return altair.expr.replace(text, altair.expr.regexp(f"0{{1,{decimals - 2}}}$", ""), "") if decimals > 2 else text


def _usd(value, digits: int):
    if not is_expression(value):
        return units.usd(value, digits)
    size, three = abs(value), f",.{digits}r"
    near = 1 - 0.5 * 10**-digits
    words = first_case(
        [
            (size >= 1e9 * near, "$" + _format(size / 1e9, three) + " billion"),
            (size >= 1e6 * near, "$" + _format(size / 1e6, three) + " million"),
            ((size >= 1) & (size < 100), "$" + _format(size, ",.2f")),
            ((size >= units.DIME * near) & (size < 1), "$" + _cents(size, max(digits, 2))),
            (size == 0, "$0"),
            (size < units.DIME, "$" + _format(size, f",.{digits}~r")),
        ],
        "$" + _format(size, three),
    )
    return where(value < 0, units.MINUS, "") + words


def _duration(value, digits: int):
    if not is_expression(value):
        return units.duration(value, digits)
    spans = [(abs(value) >= least * scale, _format(value / scale, f",.{digits}r") + f" {unit}") for scale, least, unit in units.SPANS]
    return first_case([(value == 0, "0 s"), *spans[:-1]], spans[-1][1])


def _in_units(value, scales, digits: int):
    if not is_expression(value):
        return units.in_units(value, scales, digits)
    near = 1 - 0.5 * 10**-digits
    texts = [(abs(value) >= scale * near, _format(value / scale, f",.{digits}r") + f" {unit}") for scale, unit in scales]
    return first_case([(value == 0, f"0 {dict(scales)[1.0]}"), *texts], texts[-1][1])


def say(value: Any, kind: str = "number"):
    """Write a number, or the expression of one, as a person would say it.

    Parameters
    ----------
    value : float or Vega expression
    kind : one of "usd", "percent" (of a share), "number", "whole", "hours", "months", "years", "billions",
        "hours a day" (no more than 24), "duration" (of seconds), "mass" (of kg), "volume" (of L) or "si UNIT" such as
        "si FLOP/s". A digit at the end sets the significant digits ("usd 2"). Any other word is a unit written after the
        number ("tokens/s").

    Returns
    -------
    str, or the expression of it.

    >>> say(1234.5, "usd"), say(-0.4, "percent"), say(3.14e23, "si FLOP"), say(116000, "duration 2"), say(5.257, "hours")
    ('$1,230', '−40 %', '314 ZFLOP', '32 hours', '5.26 hours')
    >>> import altair
    >>> say(altair.datum.share, "percent")
    (format((datum.share * 100),',.2r') + ' %')
    """
    word, _, last = kind.rpartition(" ")
    kind, digits = (word, int(last)) if word and last.isdigit() else (kind, 3)
    if kind == "usd":
        return _usd(value, digits)
    if kind == "duration":
        return _duration(value, digits)
    if kind.startswith("si "):
        return _in_units(value, [(scale, f"{prefix}{kind[3:]}") for scale, prefix in units.PREFIXES], digits)
    if kind in _MEASURES:
        return _in_units(value, _MEASURES[kind], digits)
    expression = is_expression(value)
    if kind == "billions":
        return say(value / 1e9, f"B {digits}")
    if kind == "hours a day":
        return where(value > 24, "more than 24 hours", say(value, "hours 2"))
    if kind == "whole":
        return _format(value, ",.0f") if expression else units.whole(value)
    if kind == "percent":
        value, digits, unit = value * 100, 2 if digits == 3 else digits, " %"
    else:
        unit = "" if kind in ("number", "") else f" {kind}"
    trim = kind in _TRIMMED
    if expression:
        text = _format(value, f",.{digits}{'~' if trim else ''}r")
        return where(text == "1", "1" + unit[:-1], text + unit) if trim else text + unit if unit else text
    text = units.significant(value, digits)
    text = text.rstrip("0").rstrip(".") if trim and "." in text else text
    return text + (unit[:-1] if trim and text == "1" else unit)


def unit_words(unit: str) -> str:
    """A unit as it is spoken: for the label of a control.

    >>> unit_words("USD/h"), unit_words("USD/kWh"), unit_words("1"), unit_words("h/day"), unit_words("month")
    ('USD per hour', 'USD per kWh', '', 'hours per day', 'months')
    """
    singular = {"h": "hour", "d": "day", "s": "second", "B": "byte", "FLOP": "FLOP", "yr": "year", "mo": "month"}
    plural = {"h": "hours", "d": "days", "s": "seconds", "B": "bytes", "yr": "years", "mo": "months", "person": "people"}
    plural |= {word: word + "s" for word in ("hour", "day", "month", "year", "token", "chip", "sequence", "request", "accelerator")}
    if unit in ("1", "", None):
        return ""
    first, *rest = str(unit).replace("*", "·").split("/")
    return " per ".join([plural.get(first, first), *(singular.get(part, part) for part in rest)])
