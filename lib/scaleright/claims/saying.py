"""Intervals of a claim in the words of their unit."""

from __future__ import annotations

import math

from scaleright.claims.verdicts import CONDITIONAL, HOLD, Finding
from scaleright.units import COUNTS, si, significant, usd


def _tail(unit: str) -> str:
    """What stands behind a value in this unit."""
    if unit.startswith("USD"):
        return unit.removeprefix("USD").replace("/", " a ").replace(" a h", " an hour")
    return {"FLOP": "", "FLOP/s": "", "B": "", "parameters": " billion parameters"}.get(
        unit, f" {unit}"
    )


def _said(value: float, unit: str) -> str:
    """A claimed or recomputed value in the words of its unit."""
    if unit.startswith("USD"):
        return usd(value) + _tail(unit)
    if unit in ("FLOP", "FLOP/s", "B"):
        return si(value, unit)
    if unit == "parameters":
        return significant(value / 1e9) + _tail(unit)
    return _number(value) + _tail("chip" if (value, unit) == (1, "chips") else unit)


def _number(value: float) -> str:
    """A number with three digits, a large one in words.

    >>> _number(1e9), _number(293e6), _number(-1.13), _number(0.5), _number(31500)
    ('1 billion', '293 million', '−1.13', '0.5', '31,500')
    """
    for scale, word in COUNTS[:-1]:
        if abs(value) >= max(scale, 1e7):
            return f"{value / scale:.3g} {word}"
    return f"{value:.3g}".replace("-", "−", 1) if abs(value) < 1000 else significant(value)


def interval(low: float, high: float, unit: str) -> str:
    """An interval as a person says it; an infinite end is "more than" or "less than".

    >>> interval(4, 6, "h/day"), interval(1e12, math.inf, "B"), interval(0.18, 0.35, "USD/h")
    ('4 to 6 h/day', 'more than 1.00 TB', '$0.18 to $0.35 an hour')
    >>> interval(879e6, 879e6, "times")
    '879 million times'
    """
    if math.isinf(high):
        return f"more than {_said(low, unit)}"
    if math.isinf(low):
        return f"less than {_said(high, unit)}"
    first, last = _said(low, unit), _said(high, unit)
    return last if first == last else f"{first.removesuffix(_tail(unit))} to {last}"


def off(finding: Finding) -> str:
    """By what factor a claim that does not hold is too high or too low, or nothing."""
    if finding.factor is None or finding.verdict in HOLD:
        return ""
    high = finding.factor > 1
    ratio = finding.factor if high else 1 / finding.factor if finding.factor else math.inf
    if ratio < 1.05:
        return ""
    lead = "; as stated" if finding.verdict == CONDITIONAL else ","
    return f"{lead} {significant(ratio, 2)} times too {'high' if high else 'low'}"
