"""What of a case to change so that its values go together: the nearest that works, found by asking
the rules.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from scaleright.parameters.own_models import by_size, own_shape
from scaleright.parameters.parameter import Parameter, show
from scaleright.units import figure

_OPTIONS = 8
"""Options of a choice that are tried, the nearest first and then the declared one: some rules
search for a tenth of a second.
"""
_HALVINGS = 7
"""How often the way from a number to its default is halved: to a hundredth of it."""
_WIDE = 50
"""Ends that differ by this factor or more are halved in ratios."""
_ALIKE = 0.6
"""The share of letters from which names are alike; of others the declared one is the nearest."""
_BITS = re.compile(r"(?:FP|BF|INT)(\d+)$")

Refused = Callable[[Mapping[str, Any]], bool]


def what_works(
    parameters: Sequence[Parameter],
    case: Mapping[str, Any],
    about: Iterable[str],
    refused: Refused,
    said: str = "",
) -> dict[str, Any]:
    """The values that to change makes a case one that is accepted: of one parameter where that is
    enough, else those of several as declared, which keep all rules. A model is what a reader came
    for, so that it is changed last.

    Parameters
    ----------
    case : of all parameters, refused as it is
    about : the parameters of the rule that it breaks, of which those that the reader moved are
        tried first, and among them the later ones: a chapter declares what it is about first; one
        that only what is declared would help stays as it is if another helps that the rule names
    refused : whether the rules refuse a case
    said : what the rule says; of parameters that the reader left those that it names go first

    >>> from scaleright.parameters import parse
    >>> pair = parse('''first: str = "a"  # one (a | b | c)
    ... second: str = "b"  # other (a | b | c)''')
    >>> what_works(pair, {"first": "b", "second": "b"}, ["first", "second"],
    ...     lambda case: case["first"] == case["second"])
    {'first': 'a'}
    >>> what_works(pair, {"first": "c", "second": "b"}, ["first", "second"],
    ...     lambda case: case["first"] == "c" and case["second"] == "b", "first = c, second = b")
    {'second': 'a'}
    """
    about = set(about)
    of_rule = [of for of in reversed(parameters) if of.name in about]

    def order(of: Parameter) -> tuple[bool, bool, bool]:
        moved = case[of.name] != of.default
        return _is_model(of), not moved, not (moved or f"{of.name} =" in said)

    undone: dict[str, Any] = {}
    for of in sorted(of_rule, key=order):
        if undone and (_is_model(of) or f"{of.name} =" not in said):
            break
        for value in _nearby(of, case[of.name], lambda v, n=of.name: refused({**case, n: v})):
            if value != of.default or case[of.name] == of.default:
                return {of.name: value}
            undone = undone or {of.name: value}
    if undone:
        return undone
    changed: dict[str, Any] = {}
    moved = [of for of in parameters if case[of.name] != of.default]
    for of in sorted(moved, key=lambda of: (_is_model(of), of.name not in about)):
        changed[of.name] = of.default
        if not refused({**case, **changed}):
            return changed
    return {}


def _is_model(of: Parameter) -> bool:
    """Whether a parameter is the model that a chapter is asked about."""
    return of.name == "model" or of.catalog == "models"


def _nearby(of: Parameter, value: Any, refused: Callable[[Any], bool]) -> Iterator[Any]:
    """The nearest value of a parameter that is not refused, if there is one among those tried."""
    if of.choices or of.type == "bool":
        options = [o for o in of.choices or (False, True) if o != value]
        options.sort(key=lambda option: (_distance(option, value), option != of.default))
        if of.own and (shape := own_shape(value)):
            options = by_size(shape, options)
        tried = options[:_OPTIONS] + [o for o in options[_OPTIONS:] if o == of.default]
        yield from islice((o for o in tried if not refused(o)), 1)
    elif of.low is not None and of.default is not None and value is not None:
        if value != of.default and not refused(of.default):
            yield _between(of, value, refused)
    elif value != of.default and not refused(of.default):
        yield of.default


def _distance(one: Any, other: Any) -> float:
    """How far two options lie apart: numbers in ratios, words by their letters if most are the same
    and, before those, formats by their bits.
    """
    if one is None or other is None:  # left to the book, which is no size
        return 0.0
    if isinstance(one, str):
        bits = [_BITS.findall(str(of)) for of in (one, other)]
        alike = difflib.SequenceMatcher(None, one.casefold(), str(other).casefold()).ratio()
        return -alike * (alike >= _ALIKE) - (bits[0] == bits[1] != [])
    return abs(math.log(one / other)) if min(one, other) > 0 else abs(one - other)


def _between(of: Parameter, value: float, refused: Callable[[Any], bool]) -> float:
    """The number nearest to one that is refused, on the way to the default, which is not."""
    low, high, kept = of.low, of.high, of.default
    ratios = low is not None and high is not None and low > 0 and high / low >= _WIDE
    for _ in range(_HALVINGS):
        middle = math.sqrt(kept * value) if ratios else (kept + value) / 2
        middle = round(figure(middle, 2)) if of.type == "int" else figure(middle, 2)
        if not min(kept, value) < middle < max(kept, value):
            break
        if refused(middle):
            value = middle
        else:
            kept = middle
    return kept


def with_offer(said: str, changes: Mapping[str, Any]) -> str:
    """A refusal that ends with changes, unless it names them already or none was found; in place
    of what it ends with as the nearest, which knows no other parameter.

    >>> with_offer("too many", {"chips": 1024, "precision": "BF16"})
    'too many; nearest that works: chips = 1,024, precision = BF16'
    >>> with_offer("too many; nearest: chips = 216", {"batch": 26})
    'too many; nearest that works: batch = 26'
    """
    offer = ", ".join(f"{name} = {show(value)}" for name, value in changes.items())
    if offer in said:
        return said
    return f"{re.sub('; nearest: [^;]*$', '', said)}; nearest that works: {offer}"
