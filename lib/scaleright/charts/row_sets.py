"""Sets of rows that a page computes: those of tables whose rows are cases, and those of candidates
of which a quantity takes the best (`quantity.over`).
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from scaleright.quantity import Quantity, Rows, given

_READ = re.compile(r"data\('(\w+)'\)")


def row_set(controls: Any, name: str) -> dict[str, Any]:
    """Rows as the page computes them: their values, and the formulas of further fields in order;
    and when there are any at all.
    """
    found = controls.signals.rows[name]
    formulas = controls.formulas(found.wanted, {given(field, None): field for field in found.given})
    when = {"when": controls.signal(found.when)} if isinstance(found.when, Quantity) else {}
    columns = zip(*(values.tolist() for values in found.given.values()), strict=True)
    return when | {
        "name": name,
        "values": [dict(zip(found.given, row, strict=True)) for row in columns],
        "formulas": [{"as": field, "expr": text} for field, text in formulas.items()],
    }


def _alike(one: Rows, other: Rows) -> bool:
    """Whether two sets of rows are the same."""
    same = [one.wanted.get(field) is wanted for field, wanted in other.wanted.items()]
    given = [np.array_equal(one.given.get(field, ()), of) for field, of in other.given.items()]
    return all(same) and all(given) and one.when is other.when


class RowSets:
    """The rows behind a page's quantities: what is computed of them, told to the page once."""

    def __init__(self, controls: Any) -> None:
        self._controls = controls
        self._sets: dict[str, dict[str, Any]] = {}
        self._told: set[str] = set()

    def learn(self, node: Quantity) -> None:
        """Take over the rows of which a quantity is a list, if it is one.

        Raises
        ------
        ValueError : the page calls other rows so.
        """
        if (of := node.operation.rows) is None:
            return
        known = self._controls.signals.rows
        if not _alike(known.setdefault(of.name, of.rows), of.rows):
            raise ValueError(f"two sets of rows of this page are called {of.name!r}")
        if of.name not in self._sets:
            self._sets[of.name] = row_set(self._controls, of.name)

    def behind(self) -> Callable[[str], list[str]]:
        """Finds the expressions of the rows that an expression reads, each set of rows once."""
        seen = set[str]()

        def formulas(text: str) -> list[str]:
            new = [name for name in _READ.findall(text) if name not in seen]
            seen.update(new)
            sets = [self._sets[name] for name in new]
            texts = [[of.get("when", ""), *(f["expr"] for f in of["formulas"])] for of in sets]
            return ["; ".join(filter(None, of)) for of in texts]

        return formulas

    def reads(self, expression: str) -> bool:
        """Whether an expression reads rows, which are not at hand where a chart stands alone."""
        return bool(_READ.search(expression))

    def untold(self, defined: Iterable[str]) -> list[dict[str, Any]]:
        """The sets that these definitions read and that no output of the page has told."""
        texts = (self._controls._defined[name]["expr"] for name in defined)
        names = dict.fromkeys(name for text in texts for name in _READ.findall(text))
        new = [name for name in names if name not in self._told]
        self._told.update(new)
        return [self._sets[name] for name in new]
