"""Sentences that name quantities, as `{saving:usd} a year`: said in Python and by the page alike.

A name is that of a quantity of the chapter, or of a part of one of its records
(`{bill.total:usd}`); after the colon stands how `say` says it. A word needs no colon.
"""

import re
import string
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from scaleright.charts.live import LiveNumber, page
from scaleright.charts.words import between, say
from scaleright.names import nearest
from scaleright.quantity import Quantity
from scaleright.quantity.graph import control

_UNBROKEN = re.compile("(?<=[0-9]) (?=%)")
_ESCAPED = str.maketrans({"{": "{{", "}": "}}"})


_TAG = re.compile(r"</?[a-z]+>")


def callers_names() -> dict[str, Any]:
    """The names where a function of this package was called: those of the chapter."""
    frame = sys._getframe(2)
    return frame.f_globals | frame.f_locals


def phrase(template: str) -> Any:
    """A template filled with the chapter's quantities: a word that follows the case.

    Raises
    ------
    LookupError : a name that there is not; the nearest is offered.
    ValueError : a tag in it, which a page would show as it is: markup is of sentences.

    >>> from scaleright.quantity import evaluate, given
    >>> hours = given("hours", 5.0)
    >>> found = phrase("above {hours:hours 2} of use")
    >>> found.value, evaluate([found], {"hours": 7.0})
    ('above 5 hours of use', ['above 7 hours of use'])
    """
    if tag := _TAG.search(template):
        raise ValueError(f"{tag[0]} in a phrase, which is plain text: {template!r}")
    return filled(template, callers_names())


def filled(template: str, names: Mapping[str, Any]) -> Any:
    """A template filled with what these names mean: a word. A range whose ends are said alike is
    one number.

    >>> filled("{low:usd} to {high:usd} a day", {"low": 74_210.0, "high": 74_190.0})
    '$74,200 a day'
    """
    said, parts = "", [*_parts(template)]
    while parts:
        text, field, kind = parts.pop(0)
        if text:
            said = said + text
        between_two = not text.endswith("from ") and kind != ""
        if between_two and parts and parts[0][0] == " to " and parts[0][2] == kind:
            low, high = (_found(of, names) for of in (field, parts.pop(0)[1]))
            said = said + between(low, high, kind)
        elif field:
            value = _found(field, names)
            said = said + (value if _is_word(value) else say(value, kind or "number"))
    return said


def slots(
    templates: Mapping[str, str], names: Mapping[str, Any]
) -> tuple[dict[str, str], dict[str, LiveNumber]]:
    """Templates for `str.format`, and the live numbers and words that fill them.

    >>> from types import SimpleNamespace as N
    >>> from scaleright.charts.live import controls
    >>> price = N(name="price", type=float, default=2.0, meaning="rent", unit="", low=1, high=10,
    ...     choices=None)
    >>> live = controls(N(parameters=[price], price=2.0))
    >>> slots({"said": "{day:usd} a day"}, {"day": 24 * live.given.price})[1]["day"].text
    '$48.00'
    """
    plain, filled = dict[str, str](), dict[str, LiveNumber]()
    for label, template in templates.items():
        plain[label] = ""
        for text, field, kind in _parts(template):
            plain[label] += _UNBROKEN.sub("\N{NO-BREAK SPACE}", text).translate(_ESCAPED)
            if not field:
                continue
            value = _found(field, names)
            given = control(value) if isinstance(value, Quantity) else None
            slot = page().slot(given or field.replace(".", "_"), kind)
            plain[label] += f"{{{slot}}}"
            if not isinstance(value, Quantity):
                filled[slot] = value if _is_word(value) else say(value, kind or "number")
            elif slot not in filled:
                filled[slot] = (
                    page().words(slot, value)
                    if _is_word(value)
                    else page().number(slot, value, kind or "number")
                )
    return plain, filled


def _is_word(value: Any) -> bool:
    return isinstance(value.value if isinstance(value, Quantity) else value, str)


def _parts(template: str) -> Iterator[tuple[str, str, str]]:
    """Text, then the name and the kind of what follows it, both empty at the end."""
    for text, field, kind, _ in string.Formatter().parse(template):
        yield text, field or "", kind or ""


def _found(field: str, names: Mapping[str, Any]) -> Any:
    root, *parts = field.split(".")
    if root not in names:
        public = [name for name in names if not name.startswith("_")]
        nearest(root, public, "quantity of this chapter in a sentence")
    value = names[root]
    for part in parts:
        if not hasattr(value, part):
            nearest(part, [n for n in dir(value) if not n.startswith("_")], f"part of {root!r}")
        value = getattr(value, part)
    return value
