"""What a machine reads of an output: the answer's quantities, and a table's raw numbers with their
types and units.

Both travel beside the HTML as MIME types of their own, which a page ignores: a sweep collects the
answers of many runs, and the press turns each table into files to download.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from scaleright.charts.expressions import HOLD_EXPRESSIONS, settled
from scaleright.charts.live import LiveNumber
from scaleright.charts.words import unit_said
from scaleright.names import nearest
from scaleright.units import figure

_KINDS = {"integer": "integer", "boolean": "boolean"} | dict.fromkeys(
    ("floating", "mixed-integer-float"), "number"
)
_KINDS |= dict.fromkeys(("date", "datetime", "datetime64"), "date")
"""Types of Table Schema for what pandas infers of a column; any other is a string."""


def rounded(value: Any) -> Any:
    """A JSON-ready copy in which floats, those in expressions too, have the digits of a `figure`,
    so that machines agree to the byte; an integer is exact.

    >>> rounded({"a": [1 / 3, 2.0, True, "x"], "expr": "rent * 0.30000000000000004"})
    {'a': [0.3333333, 2.0, True, 'x'], 'expr': 'rent * 0.3'}
    """
    if isinstance(value, dict):
        return {
            str(key): settled(item)
            if key in HOLD_EXPRESSIONS and isinstance(item, str)
            else rounded(item)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return figure(value) if math.isfinite(value) else None
    return value


def answer(
    text: str,
    slots: Mapping[str, Any],
    quantities: Mapping[str, tuple[Any, str]],
    headline: str | None = None,
) -> dict:
    """The answer as a sentence and its quantities by name, each with its value and how it is said.

    Parameters
    ----------
    text : the card's sentence in plain words.
    slots : what fills the card: live numbers and words go by their own names, other words by that
        of their slot.
    quantities : further ones, name -> (value, kind of `say`), such as the ends of the range.
    headline : the quantity that comes first, which a sweep draws.

    Raises
    ------
    LookupError : no quantity is the headline.

    >>> answer("It costs $2.", {"cost": LiveNumber("usd_per_hour", "$2.00", 2.0, "usd")},
    ...     {"low": (1.5, "usd")})["quantities"]
    {'usd_per_hour': {'value': 2.0, 'unit': 'usd'}, 'low': {'value': 1.5, 'unit': 'usd'}}
    """
    found: dict[str, tuple[Any, str]] = {}
    for slot, value in slots.items():
        if isinstance(value, LiveNumber):
            found[value.name] = (
                value.text if math.isnan(value.value) and not value.kind else value.value,
                value.kind,
            )
        else:
            found[slot] = (value, "")
    found |= quantities
    if headline is not None:
        found = {
            headline: (
                found[headline]
                if headline in found
                else nearest(headline, found, "quantity of the answer")
            )
        } | found
    return {
        "text": text,
        "quantities": {
            name: {"value": rounded(value), "unit": kind} for name, (value, kind) in found.items()
        },
    }


def file_name(caption: str) -> str:
    """A short name for a table's files, from the words of its caption before the first mark of
    punctuation.

    >>> file_name(
    ...     "The chapter's RTX 4090 against a rent of $0.34 an hour; the rule of 4 to 6 hours")
    'the-chapters-rtx-4090-against-a-rent-of-0-34-an-hour'
    """
    words = re.split(r"[:;]|, |\. ", caption.casefold().replace("'", ""), maxsplit=1)[0]
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-")[:60].rstrip("-")


def resource(rows: pd.DataFrame, title: str, name: str, formats: Mapping[str, Any]) -> dict:
    """A table as a Frictionless data resource: a schema of its columns and its rows, unformatted.

    A unit in brackets at the end of a heading goes before that of the format. Numbers have the
    digits of a `figure`, whole ones all of theirs, an infinite one is the text `INF` as Table
    Schema has it, an empty cell is null.

    >>> found = resource(pd.DataFrame({"chip": ["A"], "rent": [2.0]}), "Rents", "rents",
    ...     {"rent": "usd"})
    >>> found["schema"]["fields"][1], found["data"]
    ({'name': 'rent', 'type': 'number', 'unit': 'USD'}, [{'chip': 'A', 'rent': 2.0}])
    >>> rents = pd.DataFrame({"rent [USD/h]": [2.0]})
    >>> found = resource(rents, "Rents", "rents", {"rent [USD/h]": "usd"})
    >>> found["schema"]["fields"][0]["unit"]
    'USD/h'
    """
    fields, columns = [], {}
    for column in rows.columns:
        kind, columns[str(column)] = _typed(rows[column])
        field = {"name": str(column), "type": kind}
        in_heading = re.search(r"\[(.+)\]$", str(column))
        said = in_heading[1] if in_heading else unit_said(formats.get(column))
        fields.append(field | ({"unit": said} if said and kind in ("number", "integer") else {}))
    data = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return {
        "profile": "tabular-data-resource",
        "name": name,
        "title": title,
        "schema": {"fields": fields},
        "data": data,
    }


def _typed(column: pd.Series) -> tuple[str, list]:
    """A column's type in Table Schema and its cells as JSON holds them."""
    kind = _KINDS.get(pd.api.types.infer_dtype(column, skipna=True), "string")
    missing = column.isna()
    # A column of whole numbers counts something: parameters, bytes. What is noisy is not all whole.
    there = column[~missing].to_numpy(float) if kind == "number" else np.empty(0)
    exact = len(there) > 1 and (np.isfinite(there) & (there == np.floor(there))).all()
    return kind, [
        None if empty else float(value) if exact else _cell(value, kind)
        for value, empty in zip(column, missing, strict=True)
    ]


def _cell(value: Any, kind: str) -> Any:
    if kind == "number" and math.isinf(value):
        return "INF" if value > 0 else "-INF"
    if kind in ("boolean", "integer", "number"):
        value = rounded(value)
        return float(value) if kind == "number" else value
    return value.isoformat()[:10] if kind == "date" else str(value)
