"""Sentences that name quantities, as `{saving:usd} a year`: said in Python and by the page alike.

In braces stands what an f-string may hold, a quantity of the chapter, a part of one of its records
or what is computed of them (`{12 * bill.total:usd}`); after the colon how `say` says it, which
words and counts do not need. `{if spare > 0:saves|loses}` is one of two words, which may hold
braces again; without a bar it is nothing where the condition does not hold.
"""

import re
import string
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from scaleright.charts.live import LiveNumber, page
from scaleright.charts.words import between, say
from scaleright.names import nearest
from scaleright.ops import where
from scaleright.quantity import Quantity
from scaleright.quantity.graph import control

_UNBROKEN = re.compile("(?<=[0-9]) (?=%)")
_ESCAPED = str.maketrans({"{": "{{", "}": "}}"})
_IF = "if "
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
    return _plain(template, callers_names())


def _plain(template: str, names: Mapping[str, Any]) -> Any:
    """A template without markup, filled."""
    if tag := _TAG.search(template):
        raise ValueError(f"{tag[0]} in a phrase, which is plain text: {template!r}")
    return filled(template, names)


def filled(template: str, names: Mapping[str, Any]) -> Any:
    """A template filled with what these names mean: a word. A range whose ends are said alike is
    one number.

    >>> filled("{low:usd} to {high:usd} a day", {"low": 74_210.0, "high": 74_190.0})
    '$74,200 a day'
    >>> filled("It {if spare > 0:saves {spare:usd}|loses {-spare:usd}}.", {"spare": -2.0})
    'It loses $2.00.'
    """
    said, parts = "", [*_parts(template)]
    while parts:
        text, field, kind = parts.pop(0)
        if text:
            said = said + text
        between_two = not text.endswith("from ") and kind != ""
        if between_two and parts and parts[0][0] == " to " and parts[0][2] == kind:
            low, high = (found(of, names) for of in (field, parts.pop(0)[1]))
            said = said + between(low, high, kind)
        elif field:
            value = found(field, names)
            said = said + (value if _is_word(value) else say(value, kind or _usual(value)))
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
            value = found(field, names)
            slot = page().slot(_called(field, value) or f"word{len(filled)}", kind)
            plain[label] += f"{{{slot}}}"
            if not isinstance(value, Quantity):
                filled[slot] = value if _is_word(value) else say(value, kind or _usual(value))
            elif slot not in filled:
                filled[slot] = (
                    page().words(slot, value)
                    if _is_word(value)
                    else page().number(slot, value, kind or "number")
                )
    return plain, filled


def _called(field: str, value: Any) -> str | None:
    """What fills a field: a control, a name, or what the page calls what is computed there."""
    if isinstance(value, Quantity) and (given := control(value)):
        return given
    if re.fullmatch(r"[\w.]+", field):
        return field.replace(".", "_")
    return page().signal(value) if isinstance(value, Quantity) else None


def _usual(value: Any) -> str:
    """How a plain number is said of which a template does not tell."""
    return "whole" if isinstance(value, (int, np.integer)) else "number"


def _is_word(value: Any) -> bool:
    return isinstance(value.value if isinstance(value, Quantity) else value, str)


def _parts(template: str) -> Iterator[tuple[str, str, str]]:
    """Text, then the field and the kind of what follows it, both empty at the end; a choice has no
    kind.
    """
    for text, field, kind, _ in string.Formatter().parse(template):
        if field and field.startswith(_IF):
            yield text, f"{field}:{kind}", ""
        else:
            yield text, field or "", kind or ""


def found(field: str, names: Mapping[str, Any]) -> Any:
    """What stands in braces means.

    Raises
    ------
    LookupError : a name that there is not; the nearest is offered.
    ValueError : no expression.
    """
    if field.startswith(_IF):
        condition, _, words = field.removeprefix(_IF).partition(":")
        one, other = (_plain(of, names) for of in _either(words))
        return where(found(condition, names), one, other)
    try:
        return eval(field.strip(), dict(names))  # noqa: S307, the book's own text
    except NameError as error:
        unknown, known, what = error.name, names, "quantity of this chapter in a sentence"
    except AttributeError as error:
        unknown, known = error.name, dir(error.obj)
        what = f"part of {field.rpartition(f'.{unknown}')[0]!r}"
    except SyntaxError:
        raise ValueError(f"a sentence computes {{{field}}}, which is no expression") from None
    return nearest(unknown, [name for name in known if not name.startswith("_")], what)


def _either(words: str) -> tuple[str, str]:
    """The words before and after a bar that stands in no braces of theirs.

    >>> _either("{if one:a|b} of them|none")
    ('{if one:a|b} of them', 'none')
    """
    deep = 0
    for place, sign in enumerate(words):
        deep += (sign == "{") - (sign == "}")
        if sign == "|" and not deep:
            return words[:place], words[place + 1 :]
    return words, ""
