"""Altair without what it does over and over, most of its work for formulas of a hundred terms; and
without its import where nothing is drawn, which takes as long as an answer.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any


class _Altair:
    """Altair, imported when something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        found = vars(self)[name] = getattr(_leaned(), name)
        return found


if TYPE_CHECKING:
    import altair as alt
else:
    alt = _Altair()


def constant(text: str) -> Any:
    """A Vega expression in these words."""
    _leaned()
    from altair.expr.core import ConstExpression

    return ConstExpression(text)


@functools.cache
def _leaned() -> Any:
    """Altair itself, from the first call on without what it repeats."""
    import altair as alt
    from altair.expr.core import BinaryExpression, Expression, FunctionExpression, UnaryExpression
    from altair.utils import schemapi

    # or Altair checks every part of a chart as it is made, and the whole once more for `show`
    schemapi.disable_debug_mode()
    # or it writes out every expression as it is made, to see that it can
    Expression._class_is_valid_at_instantiation = False
    # or a layer's data are written out to make a name for selections in it, of which there are none
    alt.Chart._compute_hash = lambda _: "view"
    # or each layer of a chart is copied four times over, down to every term of its formulas, which
    # nobody changes
    for part in (Expression, alt.Transform, alt.FacetedEncoding, alt.MarkDef):
        part.__deepcopy__ = _shared
    # of a layer itself only what it consists of is changed
    alt.Chart.__deepcopy__ = lambda layer, _memo=None: layer.copy(deep=False)
    for kind in (UnaryExpression, BinaryExpression, FunctionExpression):
        _write_once(kind)
    return alt


def _shared(part: Any, _memo: Any = None) -> Any:
    return part


def _write_once(kind: Any) -> None:
    """Let expressions of a kind keep their text: most are terms of many others."""
    write = kind.__repr__

    def text(self: Any) -> str:
        kept = vars(self)
        if "_text" not in kept:
            kept["_text"] = write(self)
        return kept["_text"]

    kind.__repr__ = text
