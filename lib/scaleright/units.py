"""Constants and the words people say: one home for every conversion factor.

Conventions of the whole book: SI decimal units (1 GB = 1e9 B); throughput of tensor units is dense;
money is in US dollars of the date its source states; a year of operation has 8,766 hours.

>>> JOULES_PER_KWH, HOURS_PER_YEAR, SECONDS_PER_YEAR
(3600000.0, 8766.0, 31557600.0)

The words are polymorphic as formulas are: of a Vega expression they are the expression of the same
words, so that a sentence computed in the notebook and the one that a slider changes read alike.
"""

import decimal
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from scaleright.ops import first_case, is_expression, where

SECONDS_PER_HOUR = 3600.0
HOURS_PER_DAY = 24.0
DAYS_PER_YEAR = 365.25
"""Mean Julian year, so that leap years need no special case."""
MONTHS_PER_YEAR = 12.0
HOURS_PER_YEAR = HOURS_PER_DAY * DAYS_PER_YEAR
SECONDS_PER_YEAR = SECONDS_PER_HOUR * HOURS_PER_YEAR
WATTS_PER_KILOWATT = 1e3
JOULES_PER_KWH = WATTS_PER_KILOWATT * SECONDS_PER_HOUR
DIME = 0.1
"""Smaller amounts of money [USD] are said in significant digits, not in cents."""
LITTLE = 1e-4
"""An amount, or a number, that is smaller is next to nothing: its digits are not said."""
MINUS = "−"
"""The sign of a number below zero: that of print, not a hyphen."""

PREFIXES = (
    (1e24, "Y"),
    (1e21, "Z"),
    (1e18, "E"),
    (1e15, "P"),
    (1e12, "T"),
    (1e9, "G"),
    (1e6, "M"),
    (1e3, "k"),
    (1.0, ""),
)
MASSES = ((1e9, "Mt"), (1e3, "t"), (1.0, "kg"), (1e-3, "g"), (1e-6, "mg"))
VOLUMES = ((1e3, "m³"), (1.0, "L"), (1e-3, "mL"))
COUNTS = ((1e15, "quadrillion"), (1e12, "trillion"), (1e9, "billion"), (1e6, "million"), (1.0, ""))
"""Units of mass [kg] and of water [L], and large counts, as people say them: 552 t, not 552 Mg."""
SPANS = (
    (SECONDS_PER_YEAR, 2, "years"),
    (SECONDS_PER_HOUR * HOURS_PER_DAY, 2, "days"),
    (SECONDS_PER_HOUR, 2, "hours"),
    (60.0, 2, "minutes"),
    (1.0, 1, "s"),
    (1e-3, 1, "ms"),
    (1e-6, 1, "µs"),
    (1e-9, 0, "ns"),
)
"""Units of time [s], and how many of them a span must last to be said in them: 90 s, but 2 minutes.
"""


DIGITS = 7
"""Significant digits of a figure that travels: to a page, a stored notebook, a table. More would be
those of the processor that computed it: the last ones depend on its vector units and libraries.
"""


def figure(value: float, digits: int = DIGITS) -> float:
    """A number with the digits that it means and no more, the same on every processor.

    It goes by way of 13 digits, so that a half which noise has moved rounds as the half itself.

    >>> figure(2 / 3), figure(0.1 + 0.2), figure(85899345920.5, 3)
    (0.6666667, 0.3, 85900000000.0)
    >>> figure(1.0000005 - 2e-16) == figure(1.0000005 + 2e-16)
    True
    """
    return float(f"{float(f'{value:.13g}'):.{digits}g}")


def figures(values: Mapping[str, Any]) -> dict[str, Any]:
    """What a look-up finds, its numbers with the digits of a `figure`: what it hands to a formula
    and what a page is given are the same.

    >>> figures({"share": 1 / 3, "chips": 8, "layout": "tensor 8"})
    {'share': 0.3333333, 'chips': 8, 'layout': 'tensor 8'}
    """
    return {
        name: figure(value) if isinstance(value, float) else value for name, value in values.items()
    }


_HALVES_UP = decimal.Context(rounding=decimal.ROUND_HALF_UP)


def _fixed(value: float, form: str) -> str:
    """Format a number, halves away from zero as the page's script rounds them, not to the even
    digit.
    """
    with decimal.localcontext(_HALVES_UP):
        return format(decimal.Decimal(float(value)), form)


def _signed(text: str) -> str:
    """A number with the minus sign of print, as the page's script writes it, and a zero with
    none.
    """
    return text.replace("-", MINUS) if text.strip("-0.") else text.removeprefix("-")


def formatted(value: Any, form: str):
    """Write a number by a format of D3: so many decimals (",.2f") or significant digits (",.3r",
    with "~" without zeros after them), thousands apart where the format begins with a comma.

    >>> formatted(1234.5, ",.2f"), formatted(0.05, ",.3r"), formatted(0.05, ",.3~r")
    ('1,234.50', '0.0500', '0.05')
    >>> formatted(1234500.0, ".7~r")
    '1234500'
    """
    if is_expression(value):
        from altair import expr

        return expr.format(value, form)
    if form.endswith("f"):
        return _signed(_fixed(value, form))
    text = significant(value, int(re.sub("[^0-9]", "", form)))
    text = text if form.startswith(",") else text.replace(",", "")
    return text.rstrip("0").rstrip(".") if "~" in form and "." in text else text


def whole(value: Any):
    """Write a number without decimals.

    >>> whole(1234567.8), whole(2.5), whole(-2.5), whole(-0.2)
    ('1,234,568', '3', '−3', '0')
    """
    return formatted(value, ",.0f")


def significant(value: float, digits: int = 3) -> str:
    """Write a number with so many significant digits, never in exponent form; an infinite one by
    its sign.

    >>> significant(1234567), significant(0.0123456), significant(9.996), significant(
    ...     1125), significant(-15, 2)
    ('1,230,000', '0.0123', '10.0', '1,130', '−15')
    """
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    value = float(_fixed(value, f".{digits - 1}e"))
    exponent = int(f"{value:e}".rpartition("e")[2])
    return _signed(f"{value:,.{max(0, digits - 1 - exponent)}f}")


def _worded(cases: Sequence[tuple[Any, Callable[[], Any]]], otherwise: Callable[[], Any]):
    """The words of the first case whose condition holds: `first_case`, which says no more of a
    number than is asked.
    """
    if any(is_expression(condition) for condition, _ in cases):
        return first_case([(condition, say()) for condition, say in cases], otherwise())
    return next((say for condition, say in cases if condition), otherwise)()


def si(value: Any, unit: str, digits: int = 3):
    """Write a number with the decimal prefix that keeps it readable.

    >>> si(3.14e23, "FLOP"), si(140e9, "B"), si(0, "W")
    ('314 ZFLOP', '140 GB', '0 W')
    """
    return in_units(value, [(scale, f"{prefix}{unit}") for scale, prefix in PREFIXES], digits)


def in_units(value: Any, scales: Sequence[tuple[float, str]], digits: int = 3):
    """Write a number in the largest of its units that it reaches, the last of them if none.

    scales : size and name of each unit, the largest first; the one of size 1 is that of the value

    >>> in_units(552_100, MASSES), in_units(0.0234, MASSES), in_units(0, VOLUMES), in_units(999.9,
    ...     VOLUMES)
    ('552 t', '23.4 g', '0 L', '1.00 m³')
    """
    value = (
        value if is_expression(value) else float(_fixed(value, f".{digits - 1}e"))
    )  # 1.555 T is 1.56 T, though it lies below as a float
    near = 1 - 0.5 * 10**-digits

    def said(scale: float, unit: str):
        return formatted(value / scale, f",.{digits}r") + f" {unit}"

    return _worded(
        [
            (value == 0, lambda: f"0 {dict(scales)[1.0]}"),
            *((abs(value) >= scale * near, partial(said, scale, unit)) for scale, unit in scales),
        ],
        partial(said, *scales[-1]),
    )


def usd(value: Any, digits: int = 3):
    """Write an amount of money: cents where they matter, words where figures are long, and no
    digits of next to nothing.

    >>> usd(0.35), usd(0.495), usd(0.0123), usd(1600), usd(559829), usd(4.6e6), usd(-2.5e9)
    ('$0.35', '$0.495', '$0.0123', '$1,600', '$560,000', '$4.60 million', '−$2.50 billion')
    >>> usd(5.79e-5)
    'less than $0.0001'
    """
    size, form, near = abs(value), f",.{digits}r", 1 - 0.5 * 10**-digits
    sign = where(value <= -LITTLE, MINUS, "")
    words = _worded(
        [
            (size >= 1e9 * near, lambda: "$" + formatted(size / 1e9, form) + " billion"),
            (size >= 1e6 * near, lambda: "$" + formatted(size / 1e6, form) + " million"),
            ((size >= 1) & (size < 100), lambda: "$" + formatted(size, ",.2f")),
            ((size >= DIME * near) & (size < 1), lambda: "$" + _cents(size, max(digits, 2))),
            (size == 0, lambda: "$0"),
            (size < LITTLE, lambda: f"less than ${LITTLE:.4f}"),
            (size < DIME, lambda: "$" + formatted(size, f",.{digits}~r")),
        ],
        lambda: "$" + formatted(size, form),
    )
    return sign + words


def _cents(size: Any, decimals: int):
    """An amount below a dollar, with two decimals at least and without zeros after them."""
    text, zeros = formatted(size, f".{decimals}f"), f"0{{1,{decimals - 2}}}$"
    if decimals <= 2:
        return text
    if is_expression(text):
        from altair import expr

        return expr.replace(text, expr.regexp(zeros, ""), "")
    return re.sub(zeros, "", text)


def duration(seconds: Any, digits: int = 3):
    """Write a time span in the unit a person would use.

    >>> duration(116_000), duration(0.0083), duration(3.2e9), duration(1.15), duration(
    ...     90), duration(4e-8)
    ('32.2 hours', '8.30 ms', '101 years', '1.15 s', '90.0 s', '40.0 ns')
    """

    def said(scale: float, unit: str):
        return formatted(seconds / scale, f",.{digits}r") + f" {unit}"

    spans = [
        (abs(seconds) >= least * scale, partial(said, scale, unit)) for scale, least, unit in SPANS
    ]
    return _worded([(seconds == 0, lambda: "0 s"), *spans[:-1]], spans[-1][1])
