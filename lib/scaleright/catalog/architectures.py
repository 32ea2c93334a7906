"""What an architecture has that its configurations do not say: biases, gated feed-forward layers,
norms, which layers see a window. The table `architectures` holds it, one trait a row; `like` names
an architecture to start from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from scaleright.architecture import SHAPE_FIELDS, Transformer
from scaleright.catalog.constraints import Found
from scaleright.catalog.package import data_dir
from scaleright.catalog.tables import Unnoted, judges, kept, noted, unnoted
from scaleright.names import nearest

Row = dict[str, Any]

_QK_NORMS = ("one-head", "all-heads")
_OWN = {
    "like": "an architecture to start from",
    "precision": "format in which the weights were published",
    "global_every": "one layer in so many sees the whole context, the others a window; 0: none",
    "qk_norm": "query and key normed by one vector of a head's width each, or over all heads",
}
"""Traits that are no field of a shape."""
_DEFAULTS = {f.name: f.default for f in fields(Transformer) if f.default is not MISSING}
_OVERRULING = ("gated_ffn", "norms_per_layer")
"""Traits that a raw row cannot contradict."""


def _value(text: str) -> Any:
    """A trait's value: true, false, a whole number, or a word."""
    return {"true": True, "false": False}.get(text, int(text) if text.isdecimal() else text)


@kept
def _traits(folder: Path) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for name, rows in unnoted("architectures").groupby("architecture", sort=False):
        own = {row.trait: _value(row.value) for row in rows.itertuples()}
        start = found[own.pop("like")] if "like" in own else {}
        found[str(name)] = MappingProxyType({**start, **own})
    return found


@judges("architectures")
def _odd(frame: pd.DataFrame, read: Unnoted) -> Found:
    """Rows that are no trait, or start from an architecture that does not stand above them."""
    above: set[str] = set()
    for i, row in enumerate(frame.itertuples()):
        value = _value(row.value)
        kind = bool if type(_DEFAULTS.get(row.trait, 0)) is bool else int
        if row.trait not in (*_OWN, *SHAPE_FIELDS[1:]):
            yield i, "trait", f"{row.trait!r} is neither a field of a shape nor of {[*_OWN]}"
        elif row.trait == "like" and value not in above:
            yield i, "value", f"no architecture {value!r} above this row"
        elif row.trait == "qk_norm" and value not in _QK_NORMS:
            yield i, "value", f"{value!r}: allowed: {', '.join(_QK_NORMS)}"
        elif row.trait in _DEFAULTS and row.trait != "name" and type(value) is not kind:
            yield i, "value", f"{row.trait} needs {kind.__name__}, not {value!r}"
        above.add(row.architecture)


def architectures() -> dict[str, Mapping[str, Any]]:
    """The traits of every architecture, those of the one that it is like among them.

    >>> architectures()["mistral"]["gated_ffn"], architectures()["mistral"]["window"]
    (True, 4096)
    """
    noted("architectures")
    return dict(_traits(data_dir()))


def complete(shape: Row, architecture: str, said: Row | None = None) -> tuple[Row, str]:
    """A full row of shape columns, and the format in which such weights are published.

    Parameters
    ----------
    shape : figures of a source that leaves blank or zero what it does not know; the architecture
        fills it
    architecture : one of the table `architectures`
    said : figures that hold whatever the architecture is known for, zeros among them

    Raises
    ------
    LookupError : unknown architecture.
    ValueError : the figures contradict each other; names them.

    >>> complete(dict(layers=2, hidden=64, heads=4, ffn=0, vocab=1000), "gpt2")[0]["ffn"]
    256
    """
    said, known = said or {}, architectures()
    traits = known[architecture] if architecture in known else nearest(architecture, known, "kind")
    row: Row = {k: v for k, v in shape.items() if v not in (None, "")} | said
    for column, value in traits.items():
        if column not in said and (not shape.get(column) or column in _OVERRULING):
            row[column] = value
    row["kv_heads"] = row.get("kv_heads") or (1 if architecture == "falcon" else row["heads"])
    row["head_dim"] = row.get("head_dim") or row["hidden"] // row["heads"]
    if not row.get("ffn") and not row.get("moe_layers"):
        row["ffn"] = 4 * row["hidden"]  # the convention of every family that omits it
    if norms := row.get("qk_norm"):
        heads = {"one-head": 2, "all-heads": row["heads"] + row["kv_heads"]}[norms]
        row["qk_norm_width"] = heads * row["head_dim"]
    if "window_layers" not in row:
        every = row.get("global_every")
        seen = row["layers"] // every if every else 0
        row["window_layers"] = 0 if every is None else row["layers"] - seen
    if not row["window_layers"] or not row.get("window"):
        row["window"] = row["window_layers"] = 0  # as long as the context, or switched off
    full = _DEFAULTS | {c: row[c] for c in SHAPE_FIELDS[1:] if row.get(c) is not None}
    checked = Transformer(name="row", **full)
    return {c: getattr(checked, c) for c in SHAPE_FIELDS[1:]}, row["precision"]
