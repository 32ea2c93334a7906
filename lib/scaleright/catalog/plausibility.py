"""Figures that cannot be, found by what the data package says of them and by their neighbors.

An entry's `plausible` lists rules of three kinds, each for some fields:

- `between`: what is plausible, of the figure itself or of its ratio to the `product` of other
  columns;
- `by` and `bounds`: the same for each value of another column, since a long table holds many
  quantities in one column;
- `like` and `within`: no further than a factor from the median of the rows that are alike in some
  columns, where there are at least four of them; `per` shares the figure out first.

Zero is left to the constraints. These rules are for the tables of this book; the constraints also
hold for a reader's own file, which may tell of larger machines than any that was published.

True figures differ by a factor of a few, slips of unit by a thousand and more.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from scaleright.catalog.constraints import Text, numbers, places, shown
from scaleright.catalog.package import Problem

Doubts = Iterator[tuple[int, str]]
"""Place of a figure in the table, and what is odd about it."""
LEAST = 4
"""Rows that are alike before their median judges one of them."""


def problems(frame: pd.DataFrame, text: Text, entry: dict, label: str) -> Iterator[Problem]:
    """Every figure of a typed table that its entry says is not plausible."""
    doubted = text.get("flags", ())  # a row that says so of itself is kept, and left out by readers
    for rule in entry.get("plausible", ()):
        judge = next(_KINDS[kind] for kind in _KINDS if kind in rule)
        for field in rule["fields"]:
            values = numbers(frame[field])
            for place, message in judge(values, frame, text, rule):
                if doubted and "implausible" in doubted[place].split(";"):
                    continue
                yield Problem(label, place + 2, field, f"{shown(float(values[place]))} {message}")


def _bounded(values: np.ndarray, frame: pd.DataFrame, text: Text, rule: dict) -> Doubts:
    bounds, keys = rule["bounds"], text[rule["by"]]
    nothing = (np.inf, -np.inf)
    low, high = np.array([bounds.get(key, nothing) for key in keys]).reshape(-1, 2).T
    for i in places(((values < low) | (values > high)) & ~np.isnan(values)):
        told = (
            f"plausible: {bounds[keys[i]][0]:g} to {bounds[keys[i]][1]:g}"
            if keys[i] in bounds
            else "datapackage.json does not say what is plausible for that"
        )
        yield i, f"is not plausible for {rule['by']} {keys[i]}; {told}"


def _neighbored(values: np.ndarray, frame: pd.DataFrame, text: Text, rule: dict) -> Doubts:
    per = np.prod(
        [np.ones(len(values)), *(numbers(frame[name]) for name in rule.get("per", ()))], 0
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where((values > 0) & (per > 0), np.log(values) - np.log(per), np.nan)
    groups: dict[tuple, int] = {}
    keys = zip(*(text[name] for name in rule["like"]), strict=True)
    codes = np.array([groups.setdefault(key, len(groups)) for key in keys], dtype=int)
    away = logs - _medians(logs, codes, len(groups))[codes] if len(codes) else logs
    for i in places(np.abs(away) > np.log(rule["within"])):
        alike = ", ".join(f"{name} {text[name][i]}" for name in rule["like"])
        alike += "".join(f" per {name}" for name in rule.get("per", ()))
        yield (
            i,
            (
                f"is {np.exp(away[i]):.3g} times the median of {alike}; plausible: within a factor"
                f" of {rule['within']:g}"
            ),
        )


def _medians(values: np.ndarray, codes: np.ndarray, groups: int) -> np.ndarray:
    """The median of each group that has enough values, NaN of the others."""
    known = ~np.isnan(values)
    values, codes = values[known], codes[known]
    ordered = values[np.lexsort((values, codes))]
    counts = np.bincount(codes, minlength=groups)
    start = np.cumsum(counts) - counts
    medians = np.full(groups, np.nan)
    enough = counts >= LEAST
    low, high = ((start + (counts - less) // 2)[enough] for less in (1, 0))
    medians[enough] = (ordered[low] + ordered[high]) / 2
    return medians


def _between(values: np.ndarray, frame: pd.DataFrame, text: Text, rule: dict) -> Doubts:
    low, high = rule["between"]
    factors = rule.get("product", ())
    product = np.prod([np.ones(len(values)), *(numbers(frame[name]) for name in factors)], axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where((product > 0) & (values > 0), values / product, np.nan)
    for i in places((ratio < low) | (ratio > high)):
        told = f"is {ratio[i]:.3g} times {' x '.join(factors)}" if factors else "is not plausible"
        yield i, f"{told}; plausible: {low:g} to {high:g}"


_KINDS = {"bounds": _bounded, "like": _neighbored, "between": _between}
