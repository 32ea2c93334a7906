"""A quantity as a notebook shows it: its value with its unit, and what made it."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from typing import Any

from scaleright.quantity.graph import Quantity, parameter, value_of

_UNITS = {
    "usd": "USD",
    "kwh": "kWh",
    "gb": "GB",
    "flops": "FLOP/s",
    "flop": "FLOP",
    "s": "seconds",
    "ms": "milliseconds",
    "h": "hours",
    "kg": "kg",
    "percent": "%",
} | {word: word for word in ("hours", "days", "months", "years", "seconds", "bytes", "watts")}
_UNITS |= {word: word for word in ("tokens", "chips", "litres", "joules")}
_ONE = {"s": "second", "h": "hour", "kwh": "kWh", "gb": "GB"}
_ENDS = re.compile(rf"(?:^|_)({'|'.join(_UNITS)})((?:_per_[a-z_]+)?)$")
_SIGNS = "+-*/<>"
_LONG = 60
"""Characters of a formula above which it tells a reader nothing."""


def unit_of(name: str) -> str:
    """The unit in which a name ends, as words; empty where it ends in none.

    >>> unit_of("usd_per_million_tokens"), unit_of("break_even_hours_per_day")
    ('USD per million tokens', 'hours per day')
    >>> unit_of("tokens_per_s"), unit_of("weights_bytes"), unit_of("choice")
    ('tokens per second', 'bytes', '')
    """
    if not (found := _ENDS.search(name)):
        return ""
    per = " ".join(_ONE.get(word, word) for word in found[2].strip("_").split("_"))
    return f"{_UNITS[found[1]]} {per}".strip()


def in_unit(found: Any, unit: str) -> Any:
    """What a function has found, each quantity with its unit: that of its field, else this one."""
    if isinstance(found, Quantity):
        found.unit = found.unit or unit
    elif is_dataclass(found):
        for field in fields(found):
            in_unit(getattr(found, field.name, None), unit_of(field.name) or unit)
    return found


def told(quantity: Quantity) -> str:
    """A quantity in a line: its value, its unit, and its formula where that is short.

    >>> from scaleright.quantity import given
    >>> rent, load = given("rent", 2.0), given("load", 0.4)
    >>> in_unit(rent / load, "USD per hour"), (rent / load) < 3, rent
    (5 USD per hour = rent / load, False = (rent / load) < 3, 2 = rent)
    """
    value = quantity.value
    said = f"{value:,.4g}" if type(value) in (int, float) else str(value)
    formula = _formula(quantity)
    made = f"= {formula}" if 0 < len(formula) <= _LONG else ""
    return " ".join(filter(None, [said, quantity.unit, made]))


def _formula(node: Any) -> str:
    """The operation that made a quantity, of parameters' names, values, and other operations."""
    if not isinstance(node, Quantity):
        return f"{node:.4g}" if isinstance(node, float) else str(node)
    if name := parameter(node):
        return name
    sign, inputs = node.operation.name, node.inputs
    if len(inputs) == 2 and sign[0] in _SIGNS:
        return f"{_part(inputs[0])} {sign} {_part(inputs[1])}"
    return ""


def _part(node: Any) -> str:
    """A formula within another: in brackets, or its value where it is no short arithmetic."""
    formula = _formula(node)
    if not isinstance(node, Quantity) or parameter(node):
        return formula
    value = value_of(node)
    plain = f"{value:,.4g}" if type(value) in (int, float) else str(value)
    return f"({formula})" if formula and len(formula) <= _LONG // 2 else plain
