"""The signals of a page: what each quantity that it shows is called there, and its expression."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from scaleright.quantity.graph import Quantity, control, in_order, parameter
from scaleright.quantity.readings import compiled


@dataclass(frozen=True)
class Rows:
    """Rows that a page computes: cases, each with values of its own of some parameters.

    given : those values, by parameter, one for each row
    wanted : what is computed of each row, by field
    when : whether anything is computed at all, a truth value
    """

    given: Mapping[str, np.ndarray]
    wanted: Mapping[str, Quantity]
    when: Any = True


class Signals:
    """The signals of one page, which grow with what it shows: a quantity on which several of its
    sentences and charts depend is computed once.

    expressions : of each signal by its name, each after those that it reads
    quantities : those that were asked for, by their names
    rows : sets of rows by their names, see `add`

    >>> from scaleright.quantity import given
    >>> price, load = given("price", 2.0), given("load", 0.4)
    >>> page = Signals()
    >>> page.name(price / load, "unit"), page.name(2 * (price / load)), page.name(price)
    ('unit', 'q1', 'price')
    >>> page.expressions
    {'unit': '(price / load)', 'q1': '(2 * unit)'}
    """

    def __init__(self) -> None:
        self.expressions: dict[str, str] = {}
        self._names: dict[Quantity, str] = {}
        self.quantities: dict[str, Quantity] = {}
        self.rows: dict[str, Rows] = {}

    def name(self, quantity: Quantity, wanted: str = "") -> str:
        """The signal of a quantity; the name wanted is one that the page knows it by as well.

        Raises
        ------
        ValueError : the page calls another quantity so.
        """
        if not wanted and (known := control(quantity) or self._names.get(quantity)):
            return known
        name = wanted or next(n for n in map("q{}".format, count(1)) if n not in self.expressions)
        if self.quantities.setdefault(name, quantity) is not quantity:
            raise ValueError(
                f"two quantities of this page are called {name!r}: call one of them otherwise"
            )
        if name not in self.expressions:
            found = compiled({name: quantity}, known=self._names)
            self.expressions |= found.signals
            self._names = found.names | self._names
        return name

    @property
    def known(self) -> dict[str, Quantity]:
        """All that the page computes, by its names: what was asked for, and what that shares."""
        return {name: quantity for quantity, name in self._names.items()} | self.quantities

    def add(self, rows: Rows) -> str:
        """What the page calls these rows."""
        name = f"rows{len(self.rows) + 1}"
        self.rows[name] = rows
        return name

    def formulas(self, wanted: Mapping[str, Quantity], along: Mapping[str, str]) -> dict[str, str]:
        """Fields of a chart's rows by name, each after those that it reads.

        along : parameters that the rows give, with the field of each; not all need to be read

        >>> from scaleright.quantity import given
        >>> hours, price = given("hours", 8.0), given("price", 2.0)
        >>> Signals().formulas({"bill": hours * price, "price": price}, {"hours": "x"})
        {'bill': '(datum.x * price)', 'price': 'price'}
        """
        held = {
            parameter(node) or "": self.name(node)
            for node in in_order(wanted.values())
            if node.operation.held and parameter(node) not in along
        }
        fixed = {name: q for name, q in wanted.items() if not _depends(q, along, held)}
        moving = {name: q for name, q in wanted.items() if name not in fixed}
        read = {parameter(node) for node in in_order(moving.values(), there={**held, **along})}
        along = {name: field for name, field in along.items() if name in read}
        found = compiled(moving, along, self._names, held)
        self.expressions |= found.signals
        self._names = found.names | self._names
        return found.formulas | {name: self.name(quantity) for name, quantity in fixed.items()}


def _depends(quantity: Quantity, parameters: Container[str], held: Container[str | None]) -> bool:
    order = in_order([quantity], there=held)
    return any((parameter(node) or "") in parameters for node in order)
