"""Names as people type them: how a value is said back to them, and what to offer for one that is
unknown. Imports nothing heavy, so that help stays instant.
"""

import difflib
import re
from collections.abc import Iterable
from typing import Any, NoReturn

MOST_SAID = 60
"""Characters of a value that a message says back."""
_LINE = 600
"""Characters of a line of a message that others have written."""
_MOST_OFFERED = 12


def brief(value: Any) -> str:
    """A value as a message says it back: whole, or its beginning and its length.

    >>> brief("H10"), brief(0.5)
    ("'H10'", '0.5')
    >>> brief("x" * 100_000)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' ... (100,000 characters)"
    """
    text = value if isinstance(value, str) else repr(value)
    if len(text) <= MOST_SAID:
        return repr(value)
    start = text[:MOST_SAID]
    return f"{repr(start) if value is text else start} ... ({len(text):,} characters)"


def shortened(message: str) -> str:
    """A message that others have written, without the bulk of a value that it may echo.

    >>> len(shortened("No such option: " + "x" * 100_000))
    101
    """
    message = re.sub(
        rf"\S{{{4 * MOST_SAID},}}",
        lambda long: f"{long[0][:MOST_SAID]} ... ({len(long[0]):,} characters)",
        message,
    )
    return "\n".join(
        line if len(line) <= _LINE else f"{line[:_LINE]} ... ({len(line):,} characters)"
        for line in message.split("\n")
    )


def suggestion(name: Any, choices: Iterable[Any]) -> str:
    """What to offer for an unknown name: the nearest ones whatever their case, else the first of
    all.

    >>> suggestion("buy_or_rnt", ["buy_or_rent", "scaling_math"])
    'nearest: buy_or_rent'
    >>> suggestion("zzz", ["buy_or_rent", "scaling_math"])
    'allowed: buy_or_rent, scaling_math'
    >>> suggestion(300, [64, 256, 512])
    'nearest: 256, 512; allowed: 64, 256, 512'
    >>> suggestion("H100", [])
    'there is none to choose'
    """
    folded, near = {str(choice).casefold(): str(choice) for choice in choices}, ""
    if not folded:
        return "there is none to choose"
    if isinstance(name, (int, float)):
        numbers = sorted(
            (float(choice) for choice in folded if choice.isdecimal()), key=lambda n: abs(n - name)
        )
        near = f"nearest: {', '.join(f'{number:g}' for number in numbers[:2])}; " if numbers else ""
    elif close := _alike(str(name), folded):
        return f"nearest: {', '.join(folded[c] for c in close)}"
    offered = ", ".join(list(folded.values())[:_MOST_OFFERED])
    return f"{near}allowed: {offered}{' ...' if len(folded) > _MOST_OFFERED else ''}"


def _alike(name: str, choices: Iterable[str]) -> list[str]:
    """The choices that look like a name; none for one that is far longer than any name."""
    if len(name) > 4 * MOST_SAID:
        return []
    return difflib.get_close_matches(name.casefold(), choices, n=3, cutoff=0.4)


def nearest(name: Any, choices: Iterable[Any], what: str) -> NoReturn:
    """Raise LookupError naming the value, the nearest valid choices and how many there are.

    >>> nearest("H10", ["H100 SXM", "A100 SXM"], "accelerator")
    Traceback (most recent call last):
    LookupError: unknown accelerator 'H10'; nearest: H100 SXM (2 known)
    >>> nearest("FP8", [], "format of this chip")
    Traceback (most recent call last):
    LookupError: unknown format of this chip 'FP8'; there is none to choose
    """
    choices = list(dict.fromkeys(choices))
    known = f" ({len(choices)} known)" if choices else ""
    raise LookupError(f"unknown {what} {brief(name)}; {suggestion(name, choices)}{known}")


def one_of(name: Any, choices: Iterable[Any], what: str) -> Any:
    """The name, if it is one of the choices; raises as `nearest` if not.

    >>> one_of("A100 SXM", ["H100 SXM", "A100 SXM"], "accelerator")
    'A100 SXM'
    """
    choices = dict.fromkeys(choices)
    return name if name in choices else nearest(name, choices, what)
