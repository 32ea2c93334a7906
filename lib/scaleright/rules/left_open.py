"""What a rule asks of all that a case leaves open: one that passes is enough."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
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
    accelerator: str,
    choices: Mapping[str, Iterable[str]] | None,
    check: Callable[[str], object],
    contract: str = "",
    seller: str = "",
) -> None:
    """Ask a check of an accelerator, or if the cheapest is asked for of those that the choices
    offer, the one with most memory first; if a seller is named of those that it rents out so.

    Raises
    ------
    ValueError, LookupError : what the check says, see `any_of`; if it passes one that is not rented
        out so, that.
    """
    from scaleright import catalog, market

    if accelerator != market.BEST:
        return any_of([accelerator], check)
    names = [name for name in (choices or {}).get("accelerator", ()) if name != market.BEST]
    names.sort(key=lambda name: -(catalog.accelerator(name).memory_bytes or 0))
    if not seller:
        return any_of(names, check)
    under = market.LASTING if contract == market.BEST else [contract]
    rented = [name for name in names if any(seller in market.sellers(name, of) for of in under)]
    if not rented:  # that nothing is rented out so, another rule says
        return any_of(names, check)
    with suppress(ValueError, LookupError):
        return any_of(rented, check)
    any_of([name for name in names if name not in rented], check)
    raise ValueError(
        f"{seller} rents out {', '.join(rented)}, none of which does what is asked, as others do"
    )
