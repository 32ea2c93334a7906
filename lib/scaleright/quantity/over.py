"""Quantities over rows: the same quantity at each of several candidates, as a list of which `least`
and `item` take one.

A page computes such rows once and reads them from there, so that a search over candidates follows
its controls.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
    _last: list[tuple[Sequence[Any], dict[str, Any]]] = field(default_factory=list, compare=False)

    def at(self, names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
        """All that is wanted, at each row and where these parameters have these values: once for
        all lists that ask for the same.
        """
        for known, found in self._last:
            if all(map(_alike, known, values)):
                return found
        case = {
            name: np.asarray(value)[..., None] if isinstance(value, np.ndarray) else value
            for name, value in zip(names, values, strict=True)
        }
        wanted = self.rows.wanted
        told = evaluate(wanted.values(), case | dict(self.rows.given), strangers=True)
        self._last[:] = [(values, found := dict(zip(wanted, told, strict=True)))]
        return found


def _alike(one: Any, other: Any) -> bool:
    """Whether two values are the same: the same array, or a number or word that is equal."""
    plain = not isinstance(one, np.ndarray) and not isinstance(other, np.ndarray)
    return one is other or (plain and type(one) is type(other) and one == other)


def over(
    name: str, rows: Mapping[Quantity, Sequence], wanted: Mapping[str, Any], when: Any = True
) -> dict[str, Quantity]:
    """Quantities at each of several rows, a list each.

    Parameters
    ----------
    name : what a page calls the rows
    rows : inputs that are no parameters of the chapter, with a value for each row
    wanted : quantities that depend on them, and on parameters of the chapter
    when : whether they are computed at all: the lists are of NaN where not, and cost nothing

    >>> from scaleright.quantity import given
    >>> load, batch = given("load", 10.0), given("batch", 1.0)
    >>> each = over("batches", {batch: [1.0, 2.0, 5.0]}, {"steps": load / batch})
    >>> each["steps"].value, evaluate([each["steps"][2]], {"load": 30.0})
    (array([10.,  5.,  2.]), [6.0])
    """
    given = {parameter(of) or "": np.asarray(values) for of, values in rows.items()}
    found = RowSet(name, Rows(given, wanted, when))
    here = functools.cache(lambda: _evaluated(found.rows))
    order = [*in_order(wanted.values())]
    behind = _parameters_behind(order)

    def moves(node: Quantity) -> bool:  # with the rows, one `derived` among them
        return any(of.parameter in given for of in behind[node])

    # what does not move is read as it is, and not made of its own inputs for each list again
    read = _parameters_behind(order, {of for of in order if of.parameter and not moves(of)})
    every = dict.fromkeys(it for of in wanted.values() for it in read[of])
    free = [it for it in every if not moves(it)]
    return {field: _listed(found, field, here, free) for field in wanted}


def _parameters_behind(
    order: Iterable[Quantity], leaves: Collection[Quantity] = ()
) -> dict[Quantity, tuple[Quantity, ...]]:
    """The parameters that each quantity is made of, in the order of `in_order`, itself among them;
    most are made of the same ones, so that these are one tuple.

    leaves : parameters of which those that they are made of do not count
    """
    found: dict[Quantity, tuple[Quantity, ...]] = {}
    together: dict[tuple[int, ...], tuple[Quantity, ...]] = {(): ()}
    for node in order:
        parts = [found[of] for of in node.operands]
        these = together.get(key := tuple([id(of) for of in parts]))
        if these is None:
            every = tuple(dict.fromkeys(chain(*parts[::-1])))
            these = together[key] = every if len(every) > len(parts[-1]) else parts[-1]
        these = () if node in leaves else these
        found[node] = (*these, node) if node.parameter else these
    return found


def _evaluated(rows: Rows) -> dict[str, Any]:
    """All that is wanted, at each row and at the case: what several quantities need is computed
    once.
    """
    values = evaluate(rows.wanted.values(), rows.given, strangers=True)
    return dict(zip(rows.wanted, values, strict=True))


def _listed(
    of: RowSet, field: str, here: Callable[[], Mapping[str, Any]], free: Sequence[Quantity]
) -> Quantity:
    """A wanted quantity at each row.

    here : what all that is wanted is at each row and at the case
    free : the parameters behind all that is wanted which do not move with the rows
    """
    wanted, size = of.rows.wanted[field], len(next(iter(of.rows.given.values())))
    names, when = [node.parameter or "" for node in free], of.rows.when
    gates = (when,) if isinstance(when, Quantity) else ()

    def each(values: Any) -> np.ndarray:
        return np.broadcast_to(values, (*np.shape(values)[:-1], size))

    def compute(*values: Any) -> np.ndarray:
        asked = np.asarray(values[len(free)] if gates else True)
        if not asked.any():
            return np.full((*asked.shape, size), np.nan)
        found = listed(*values[: len(free)])
        return found if asked.all() else np.where(asked[..., None], found, np.nan)

    def listed(*values: Any) -> np.ndarray:
        return each(of.at(names, values)[field])

    digest = hashlib.sha256(repr([of.name, field, size]).encode()).hexdigest()[:12]
    operation = Operation(
        f"over {digest}", compute, lambda *_: f"pluck(data('{of.name}'),'{field}')", rows=of
    )
    # A list belongs to its rows: those of another case may have some quantities in common.
    together = (id(one) if isinstance(one, Quantity) else one for one in of.rows.wanted.values())
    key = (operation.name, id(wanted), *map(id, (*free, *gates)), *together)
    none = np.full(size, np.nan)
    there = all(of.value for of in gates)
    return node_of(key, operation, (*free, *gates), lambda: each(here()[field]) if there else none)
