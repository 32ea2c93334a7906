"""The model of a row: by its name, or by its shape in columns of the row."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scaleright import catalog
from scaleright.architecture import SHAPE_FIELDS, Transformer

SHAPE_TYPES = {
    name: "boolean" if kind == "bool" else "integer"
    for name, kind in Transformer.__annotations__.items()
    if name != "name"
}
"""Columns of a shape and their types."""


def model_of(row: Mapping[str, Any]) -> Transformer:
    """The model of a row: by its shape columns if they are filled, else by name."""
    shape = {c: row[c] for c in SHAPE_FIELDS[1:] if c in row and not pd.isna(row[c])}
    try:
        return Transformer(name=row["model"], **shape) if shape else catalog.model(row["model"])
    except LookupError as error:
        raise LookupError(
            f"{error}; or give its shape in columns layers, hidden, heads, ..."
        ) from None
    except (TypeError, ValueError) as error:
        raise catalog.DataError(
            f"shape of {row['model']!r}: {str(error).removeprefix('Transformer.__init__() ')}"
        ) from None
