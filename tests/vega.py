"""Expressions as Vega itself computes them, without a chart around them."""

import html
import re
from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any

import vl_convert
from scaleright.charts.expressions import names_of

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

    rows : sets of rows that a wanted expression may read by `data`: name, values, formulas, and
        when there are any
    """
    between = f" + '{_CELL}' + "
    said = [  # few in a text: sums of thousands are too deep, and one text of all is slow
        f"'@' + {between.join(wanted[start : start + _IN_A_TEXT])} + '@'"  # blanks at ends are cut
        for start in range(0, len(wanted), _IN_A_TEXT)
    ]
    # as what a mark is called: the width of a text of thousands of rows is minutes' work
    texts = [{"type": "rect", "encode": {"enter": {"description": {"signal": of}}}} for of in said]
    levels = _levels(expressions, rows)
    spec = {
        "$schema": "https://vega.github.io/schema/vega/v6.json",
        "marks": [_group(case, levels, texts) for case in cases],
    }
    found = re.findall(r'"@([^"]*)@"', vl_convert.vega_to_svg(spec))
    assert len(found) == len(cases) * len(texts)
    each = zip(*[iter(found)] * len(texts), strict=True)
    return [[cell for text in of for cell in html.unescape(text).split(_CELL)] for of in each]


def _levels(
    expressions: Mapping[str, str], rows: Sequence[Mapping[str, Any]]
) -> list[tuple[list[dict], list[dict]]]:
    """The signals and the sets of rows of each level: a set reads signals of its level and below, a
    signal sets of the levels below.

    Vega defines the signals of a group before its data, and ranks anew all that is behind a signal
    that reads what comes later, along each of the ways that lead there: without end for thousands.
    """
    sets = {f"data {r['name']}": r for r in rows}  # which may be called as a signal
    texts = {
        name: [r.get("when", "true"), *(formula["expr"] for formula in r["formulas"])]
        for name, r in sets.items()
    }
    texts |= {name: [expression] for name, expression in expressions.items()}
    read = {name: set().union(*map(_used, each)) & texts.keys() for name, each in texts.items()}
    level: dict[str, int] = {}
    for name in TopologicalSorter(read).static_order():
        later = name not in sets
        level[name] = max((level[of] + (later and of in sets) for of in read[name]), default=0)
    found: list[tuple[list[dict], list[dict]]] = [
        ([], []) for _ in range(1 + max(level.values(), default=0))
    ]
    for name, expression in expressions.items():
        found[level[name]][0].append({"name": name, "update": expression})
    for name, r in sets.items():
        asked = {"type": "filter", "expr": r.get("when", "true")}
        formulas = [{"type": "formula"} | formula for formula in r["formulas"]]
        found[level[name]][1].append(
            {"name": r["name"], "values": r["values"], "transform": [asked, *formulas]}
        )
    return found


def _used(expression: str) -> set[str]:
    """The signals and the sets of rows that an expression reads."""
    sets = re.findall(r"data\('(\w+)'\)", expression)
    return {*(f"data {name}" for name in sets), *names_of(expression)}


def _group(
    case: Mapping[str, Any], levels: Sequence[tuple[list[dict], list[dict]]], marks: list[dict]
) -> dict[str, Any]:
    """A case as a group of its own: each level a group in that of the level before."""
    for signals_of, sets in reversed(levels):
        marks = [{"type": "group", "signals": signals_of, "data": sets, "marks": marks}]
    given = [{"name": name, "value": value} for name, value in case.items()]
    return marks[0] | {"signals": given + marks[0]["signals"]}
