"""Expressions as Vega itself computes them, without a chart around them."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

import vl_convert

_CELL, _ROW = "¦", "¶"


def computed(
    expressions: Sequence[str], rows: Sequence[Mapping[str, Any]] = ({},)
) -> list[list[str]]:
    """The value of each expression on each row, as Vega writes it into a text."""
    cells = f" + '{_CELL}' + ".join(f"({expression})" for expression in expressions)
    text = {"signal": f"'@' + join(pluck(data('rows'), '_said'), '{_ROW}')"}
    spec = {
        "$schema": "https://vega.github.io/schema/vega/v6.json",
        "data": [
            {
                "name": "rows",
                "values": list(rows),
                "transform": [{"type": "formula", "as": "_said", "expr": f"'' + {cells}"}],
            }
        ],
        "marks": [{"type": "text", "encode": {"enter": {"text": text}}}],
    }
    (said,) = re.findall(r">@([^<]*)<", vl_convert.vega_to_svg(spec))
    return [row.split(_CELL) for row in html.unescape(said).split(_ROW)]


def signals(
    cases: Sequence[Mapping[str, Any]], expressions: Mapping[str, str], wanted: Sequence[str]
) -> list[list[float]]:
    """The values of some of the signals at each case, each signal given by its expression."""
    texts = signal_texts(cases, expressions, wanted)
    return [[float(text.replace("Infinity", "inf")) for text in one] for one in texts]


def signal_texts(
    cases: Sequence[Mapping[str, Any]],
    expressions: Mapping[str, str],
    wanted: Sequence[str],
    rows: Sequence[Mapping[str, Any]] = (),
) -> list[list[str]]:
    """The same as Vega writes them into a text.

    rows : sets of rows that a wanted expression may read by `data`: name, values and formulas
    """
    sets = [
        {"name": r["name"], "values": r["values"]}
        | {"transform": [{"type": "formula"} | formula for formula in r["formulas"]]}
        for r in rows
    ]
    # A list, since a sum of thousands is too deep to be read.
    texts = ", ".join(f"'' + {name}" for name in wanted)
    said = f"join([{texts}], '{_CELL}')"
    text = {"type": "text", "encode": {"enter": {"text": {"signal": f"'@' + {said}"}}}}
    told = [{"name": name, "update": expression} for name, expression in expressions.items()]
    spec = {
        "$schema": "https://vega.github.io/schema/vega/v6.json",
        "marks": [  # a group has signals of its own
            {
                "type": "group",
                "signals": [*({"name": k, "value": v} for k, v in case.items()), *told],
                "data": sets,
                "marks": [text],
            }
            for case in cases
        ],
    }
    found = re.findall(r">@([^<]*)<", vl_convert.vega_to_svg(spec))
    assert len(found) == len(cases)
    return [html.unescape(one).split(_CELL) for one in found]
