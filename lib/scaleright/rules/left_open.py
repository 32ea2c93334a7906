"""What a rule asks of all that a case leaves open: one that passes is enough."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any


def any_of(options: Iterable[Any], check: Callable[[Any], object]) -> None:
    """Ask a check of one option after the other, until one passes.

    Raises
    ------
    ValueError, LookupError : what the check says of the first, if it refuses all.

    >>> any_of(["x", "8"], int)
    >>> any_of(["x", "y"], int)
    Traceback (most recent call last):
    ValueError: invalid literal for int() with base 10: 'x'
    """
    said = None
    for option in options:
        try:
            check(option)
        except (KeyError, IndexError):
            raise  # bugs, not wrong input
        except (ValueError, LookupError) as error:
            said = said or error
        else:
            return
    if said:
        raise said


def on_one(
    accelerator: str, choices: Mapping[str, Iterable[str]] | None, check: Callable[[str], object]
) -> None:
    """Ask a check of an accelerator, or if the cheapest is asked for of those that the choices
    offer, the one with most memory first.

    Raises
    ------
    ValueError, LookupError : what the check says, see `any_of`.
    """
    from scaleright import catalog, market

    names = [accelerator]
    if accelerator == market.BEST:
        names = [name for name in (choices or {}).get("accelerator", ()) if name != market.BEST]
        names.sort(key=lambda name: -(catalog.accelerator(name).memory_bytes or 0))
    any_of(names, check)
