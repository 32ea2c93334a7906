"""Names as people type them: what to offer for one that is unknown. Imports nothing heavy, so that
help stays instant.
"""

import difflib
from collections.abc import Iterable
from typing import Any, NoReturn


def suggestion(name: Any, choices: Iterable[Any]) -> str:
    """What to offer for an unknown name: the nearest ones whatever their case, else the first of
    all.

    >>> suggestion("buy_or_rnt", ["buy_or_rent", "scaling_math"])
    'nearest: buy_or_rent'
    >>> suggestion("zzz", ["buy_or_rent", "scaling_math"])
    'allowed: buy_or_rent, scaling_math'
    >>> suggestion(300, [64, 256, 512])
    'nearest: 256, 512; allowed: 64, 256, 512'
    """
    folded, near = {str(choice).casefold(): str(choice) for choice in choices}, ""
    if isinstance(name, (int, float)):
        numbers = [float(choice) for choice in folded if choice.isdecimal()]
        near = (
            "nearest:"
            f" {', '.join(f'{number:g}' for number in sorted(numbers, key=lambda n: abs(n - name))[:2])}; "
            if numbers
            else ""
        )
    elif close := difflib.get_close_matches(str(name).casefold(), folded, n=3, cutoff=0.4):
        return f"nearest: {', '.join(folded[c] for c in close)}"
    return (
        f"{near}allowed:"
        f" {', '.join(list(folded.values())[:12])}{' ...' if len(folded) > 12 else ''}"
    )


def nearest(name: Any, choices: Iterable[Any], what: str) -> NoReturn:
    """Raise LookupError naming the value, the nearest valid choices and how many there are.

    >>> nearest("H10", ["H100 SXM", "A100 SXM"], "accelerator")
    Traceback (most recent call last):
    LookupError: unknown accelerator 'H10'; nearest: H100 SXM (2 known)
    """
    choices = list(dict.fromkeys(choices))
    raise LookupError(
        f"unknown {what} {name!r}; {suggestion(name, choices)} ({len(choices)} known)"
    )


def one_of(name: Any, choices: Iterable[Any], what: str) -> Any:
    """The name, if it is one of the choices; raises as `nearest` if not.

    >>> one_of("A100 SXM", ["H100 SXM", "A100 SXM"], "accelerator")
    'A100 SXM'
    """
    choices = dict.fromkeys(choices)
    return name if name in choices else nearest(name, choices, what)
