"""Quantities over rows: the same quantity at each of several candidates, as a list of which `least`
and `item` take one.

A page computes such rows once and reads them from there, so that a search over candidates follows
its controls.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from scaleright.quantity.graph import Operation, Quantity, in_order, node_of, parameter
from scaleright.quantity.readings import evaluate
from scaleright.quantity.signals import Rows


@dataclass(frozen=True)
class RowSet:
    """Rows that a page computes under a name."""

    name: str
    rows: Rows


def over(
    name: str, rows: Mapping[Quantity, Sequence], wanted: Mapping[str, Any]
) -> dict[str, Quantity]:
    """Quantities at each of several rows, a list each.

    Parameters
    ----------
    name : what a page calls the rows
    rows : inputs that are no parameters of the chapter, with a value for each row
    wanted : quantities that depend on them, and on parameters of the chapter

    >>> from scaleright.quantity import given
    >>> load, batch = given("load", 10.0), given("batch", 1.0)
    >>> each = over("batches", {batch: [1.0, 2.0, 5.0]}, {"steps": load / batch})
    >>> each["steps"].value, evaluate([each["steps"][2]], {"load": 30.0})
    (array([10.,  5.,  2.]), [6.0])
    """
    given = {parameter(of) or "": np.asarray(values) for of, values in rows.items()}
    found = RowSet(name, Rows(given, wanted))
    here = functools.cache(lambda: _evaluated(found.rows))
    behind = _parameters_behind(in_order(wanted.values()))

    def moves(node: Quantity) -> bool:  # with the rows, one `derived` among them
        return any(of.parameter in given for of in behind[node])

    free = {of: [it for it in behind[of] if not moves(it)] for of in wanted.values()}
    return {
        field: _listed(found, field, here, behind[of], free[of]) for field, of in wanted.items()
    }


def _parameters_behind(order: Iterable[Quantity]) -> dict[Quantity, tuple[Quantity, ...]]:
    """The parameters that each quantity is made of, in the order of `in_order`, itself among them;
    most are made of the same ones, so that these are one tuple.
    """
    found: dict[Quantity, tuple[Quantity, ...]] = {}
    for node in order:
        parts = [*{id(of): of for of in map(found.__getitem__, node.operands[::-1])}.values()]
        these = parts[0] if parts else ()
        if len(parts) > 1:
            every = tuple(dict.fromkeys(chain(*parts)))
            these = every if len(every) > len(these) else these
        found[node] = (*these, node) if node.parameter else these
    return found


def _evaluated(rows: Rows) -> dict[str, Any]:
    """All that is wanted, at each row and at the case: what several quantities need is computed
    once.
    """
    read = {node.parameter for node in in_order(rows.wanted.values())}
    values = {name: of for name, of in rows.given.items() if name in read}
    return dict(zip(rows.wanted, evaluate(rows.wanted.values(), values), strict=True))


def _listed(
    of: RowSet,
    field: str,
    here: Callable[[], Mapping[str, Any]],
    behind: Sequence[Quantity],
    free: Sequence[Quantity],
) -> Quantity:
    """A wanted quantity at each row.

    here : what all that is wanted is at each row and at the case
    behind, free : the parameters that it is made of, and those that do not move with the rows
    """
    wanted, rows = of.rows.wanted[field], of.rows.given
    read = {node.parameter for node in behind}
    names = [node.parameter or "" for node in free]
    size = len(next(iter(rows.values())))

    def each(values: Any) -> np.ndarray:
        return np.broadcast_to(values, (*np.shape(values)[:-1], size))

    def compute(*values: Any) -> np.ndarray:
        case = {
            name: np.asarray(value)[..., None] if isinstance(value, np.ndarray) else value
            for name, value in zip(names, values, strict=True)
        }
        (found,) = evaluate([wanted], case | {name: rows[name] for name in rows if name in read})
        return each(found)

    digest = hashlib.sha256(repr([of.name, field, size]).encode()).hexdigest()[:12]
    operation = Operation(
        f"over {digest}", compute, lambda *_: f"pluck(data('{of.name}'),'{field}')", rows=of
    )
    # A list belongs to its rows: those of another case may have some quantities in common.
    together = (id(one) if isinstance(one, Quantity) else one for one in of.rows.wanted.values())
    key = (operation.name, id(wanted), *map(id, free), *together)
    return node_of(key, operation, tuple(free), lambda: each(here()[field]))
