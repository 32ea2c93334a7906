"""Numbers as people write them: which are read as they stand, and what the others were meant as."""

import math
import re

_PLAIN = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_GROUPED = re.compile(r"[+-]?\d{1,3}(?P<by>[,' _])\d{3}((?P=by)\d{3})*(\.\d+)?", re.ASCII)
"""Thousands set apart, by the sign that does it."""
_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+|[+-]?\d{1,3}(\.\d{3}){2,}", re.ASCII)
"""A decimal comma, points set thousands apart."""
_WITH_WORDS = re.compile(
    r"(?P<number>[+-]?\d+([,.' _]\d+)*(e[+-]?\d+)?)\s*(?P<words>[A-Za-z$][^\d]*)?",
    re.ASCII | re.IGNORECASE,
)
_SCALES = {"k": 1e3, "thousand": 1e3, "million": 1e6, "bn": 1e9, "billion": 1e9, "trillion": 1e12}
_CAPITALS = {"M": 1e6, "B": 1e9, "T": 1e12}
"""Signs that mean something else, or nothing, where they are small."""


def finite(text: str) -> float:
    """The number that a text is.

    Raises
    ------
    ValueError : it is none in digits of ASCII, not finite, or lost to zero; without words.

    >>> finite("1e3"), finite("-0")
    (1000.0, 0.0)
    """
    if not _PLAIN.fullmatch(text := text.strip()):
        raise ValueError
    number = float(text)
    lost = number == 0 and re.search(r"[1-9]", text.casefold().partition("e")[0])
    if not math.isfinite(number) or lost:
        raise ValueError
    return number + 0.0  # no minus zero


def meant(text: str) -> tuple[float, str] | None:
    """The number that a text was meant as, and the words of a unit behind it; None if unsure.

    >>> meant("2k"), meant("5 million tokens"), meant("2,40"), meant("1'000")
    ((2000.0, ''), (5000000.0, 'tokens'), (2.4, ''), (1000.0, ''))
    >>> meant("1.2.3"), meant("0x10"), meant("1e999"), meant("many")
    (None, None, None, None)
    """
    found = _WITH_WORDS.fullmatch(text.strip())
    if found is None:
        return None
    digits, (scale, *unit) = found["number"], (found["words"] or "").split() or [""]
    if by := _GROUPED.fullmatch(digits):
        digits = digits.replace(by["by"], "")
    elif _COMMA.fullmatch(digits):
        digits = digits.replace(".", "").replace(",", ".")
    factor = _CAPITALS.get(scale) or _SCALES.get(scale.casefold())
    try:
        value = float(f"{finite(digits) * (factor or 1.0):.12g}")
    except ValueError:
        return None
    return value, " ".join(unit if factor else [scale, *unit])


def hint(text: str) -> str:
    """What to say behind a text that is no number; nothing where what was meant is not sure.

    >>> hint("2k"), hint("2 chips")
    ('; write the plain number: 2000', '')
    """
    found = meant(text)
    return f"; write the plain number: {found[0]:.12g}" if found and not found[1] else ""
