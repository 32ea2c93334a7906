"""Figures that cannot be, found by what the data package says of them and by their neighbors.

An entry's `plausible` lists rules of three kinds, each for one field:

- `by` and `bounds`: what is plausible for each value of another column (a long table holds many
  quantities in one column);
- `like` and `within`: no further than a factor from the median of the rows that are alike in some
  columns, where there are at least four of them;
- `product` and `within`: no further than a factor from the product of other columns.

True figures differ by a factor of a few, slips of unit by a thousand and more.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from scaleright.catalog.constraints import Found, shown
from scaleright.catalog.package import Problem

LEAST = 4
"""Rows that are alike before their median judges one of them."""


def problems(frame: pd.DataFrame, entry: dict, label: str) -> Iterator[Problem]:
    """Every figure of a typed table that its entry says is not plausible."""
    for rule in entry.get("plausible", ()):
        judge = next(_KINDS[kind] for kind in _KINDS if kind in rule)
        for place, field, message in judge(frame, rule):
            yield Problem(label, None if place is None else place + 2, field, message)


def _bounded(frame: pd.DataFrame, rule: dict) -> Found:
    values, keys, bounds = frame[rule["field"]], frame[rule["by"]], rule["bounds"]
    low, high = (keys.map({key: ends[i] for key, ends in bounds.items()}) for i in (0, 1))
    wrong = ~values.between(low, high) & values.notna()
    for i in wrong.to_numpy().nonzero()[0].tolist():
        key = keys[i]
        told = (
            f"plausible: {bounds[key][0]:g} to {bounds[key][1]:g}"
            if key in bounds
            else "datapackage.json says nothing of what is plausible for it"
        )
        yield i, rule["field"], f"{shown(float(values[i]))} for {rule['by']} {key}; {told}"


def _neighbored(frame: pd.DataFrame, rule: dict) -> Found:
    values, like = frame[rule["field"]].astype(float), rule["like"]
    logs = np.log(values.where(values > 0))
    groups = logs.groupby([frame[name] for name in like], dropna=False)
    median = groups.transform("median").where(groups.transform("count") >= LEAST)
    for i in ((logs - median).abs() > np.log(rule["within"])).to_numpy().nonzero()[0].tolist():
        alike = ", ".join(f"{name} {frame[name][i]}" for name in like)
        yield (
            i,
            rule["field"],
            f"{shown(float(values[i]))} is {float(np.exp(logs[i] - median[i])):.3g} times the"
            f" median of {alike}; plausible: within a factor of {rule['within']:g}",
        )


def _multiplied(frame: pd.DataFrame, rule: dict) -> Found:
    values = frame[rule["field"]].astype(float)
    product = frame[rule["product"]].astype(float).prod(axis=1, skipna=False)
    ratio = values / product.where(product > 0)
    factor = rule["within"]
    for i in (~ratio.between(1 / factor, factor) & ratio.notna()).to_numpy().nonzero()[0].tolist():
        yield (
            i,
            rule["field"],
            f"{shown(float(values[i]))} is {ratio[i]:.3g} times {' x '.join(rule['product'])};"
            f" plausible: within a factor of {factor:g}",
        )


_KINDS = {"bounds": _bounded, "like": _neighbored, "product": _multiplied}
