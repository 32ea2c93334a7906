"""Expressions as Vega itself computes them, without a chart around them."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

import vl_convert

_CELL, _ROW = "¦", "¶"
_IN_A_TEXT = 40


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
    between = f" + '{_CELL}' + "
    said = [  # few in a text: sums of thousands are too deep, and one text of all is slow
        f"'@' + {between.join(wanted[start : start + _IN_A_TEXT])} + '@'"  # blanks at ends are cut
        for start in range(0, len(wanted), _IN_A_TEXT)
    ]
    texts = [{"type": "text", "encode": {"enter": {"text": {"signal": of}}}} for of in said]
    told = [{"name": name, "update": expression} for name, expression in expressions.items()]
    spec = {
        "$schema": "https://vega.github.io/schema/vega/v6.json",
        "marks": [  # a group has signals of its own
            {
                "type": "group",
                "signals": [*({"name": k, "value": v} for k, v in case.items()), *told],
                "data": sets,
                "marks": texts,
            }
            for case in cases
        ],
    }
    found = re.findall(r">@([^<]*)@<", vl_convert.vega_to_svg(spec))
    assert len(found) == len(cases) * len(texts)
    each = zip(*[iter(found)] * len(texts), strict=True)
    return [[cell for text in of for cell in html.unescape(text).split(_CELL)] for of in each]
