"""The controls of a page one by one: what its script, and Vega, need to know of each."""

from collections.abc import Sequence
from typing import Any

from scaleright.charts.words import unit_words

_WIDE = 50
"""A slider whose ends differ by this factor or more moves in ratios instead of steps."""


def described(parameter: Any, value: Any, options: Sequence | None = None) -> dict | None:
    """What the page needs to draw the control of a parameter with this value; None if no control
    can set it.

    options : the choices to offer, all of the parameter's if None
    """
    # A label is what comes before the first comma; the rest explains and shows on hover.
    label, _, more = str(parameter.meaning).partition(",")
    unit = str(parameter.unit or "")
    entry = {"name": parameter.name, "label": label, "unit": unit_words(unit), "value": value} | (
        {"help": more.strip()} if more else {}
    )
    if isinstance(value, bool):
        return entry | {"kind": "flag"}
    if parameter.choices:
        own = {"own": True} if getattr(parameter, "own", False) else {}
        return (
            entry
            | own
            | {
                "kind": "choice",
                "choices": list(parameter.choices if options is None else options),
            }
        )
    if isinstance(value, (int, float)) and parameter.low is not None and parameter.high is not None:
        low, high = parameter.low, parameter.high
        span = {"low": low, "high": high, "whole": parameter.type in (int, "int")}
        span["log"] = bool(low > 0 and high / low >= _WIDE)
        span["percent"] = unit == "1" and not span["whole"] and high <= 1
        return entry | {"kind": "number"} | span
    return None


def bound(entry: dict) -> dict:
    """The input that Vega binds to a parameter, as `described` says it."""
    label = f"{entry['label']} [{entry['unit']}] " if entry["unit"] else f"{entry['label']} "
    if entry["kind"] == "flag":
        return {"input": "checkbox", "name": label}
    if entry["kind"] == "choice":
        return {"input": "select", "options": entry["choices"], "name": label}
    step = 1 if entry["whole"] else (entry["high"] - entry["low"]) / 200
    return {
        "input": "range",
        "min": entry["low"],
        "max": entry["high"],
        "step": step,
        "name": label,
    }
