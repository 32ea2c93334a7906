"""Quantities from tables: the row that a choice picks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from scaleright.names import nearest
from scaleright.quantity.graph import EQUAL, Operation, Quantity, apply, leaf, value_of
from scaleright.quantity.readings import literal

_JOINT = "|"
"""Between the options of a row that several choices pick."""
_ONE = "row"
"""The operation by which one choice picks a row."""


class Row(Mapping):
    """The row of a table that is chosen: its columns are quantities, as attributes or items.

    there : whether the table has figures for what is chosen [truth value]
    why : why it has none, a sentence; empty where it has [word]
    """

    def __init__(self, columns: tuple[str, ...], row: Quantity):
        self._columns, self._row = columns, row

    def __getitem__(self, name: str) -> Quantity:
        if name not in self._columns:
            nearest(name, self._columns, "column of the table")
        return apply(_column(self._columns.index(name)), self._row)

    def __getattr__(self, name: str) -> Quantity:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except LookupError as error:
            raise AttributeError(str(error)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __dir__(self) -> list[str]:
        return [*self._columns, "there", "why"]

    @property
    def why(self) -> Quantity:
        """Why there are no figures for what is chosen; empty where there are."""
        return apply(_column(len(self._columns)), self._row)

    @property
    def there(self) -> Quantity:
        """Whether there are figures for what is chosen."""
        return apply(EQUAL, self.why, "")


def choose(
    table: Mapping[Any, Mapping[str, Any] | str], *choices: Any, otherwise: str | None = None
) -> Row:
    """The row of a table that a choice picks, or several choices together.

    Parameters
    ----------
    table : by option, or by a tuple of options, one for each choice: figures, truth values, words
        and lists of figures by column, each number with the digits of a `units.figure`; or, where
        there are none, the sentence that says why: numbers are NaN there, nothing is true
    choices : words or numbers, quantities or not
    otherwise : why there are no figures where the table has no row: of several choices together
        few may have one. Every option needs a row if it is None.

    Raises
    ------
    LookupError : no row for what is chosen; the nearest is offered.
    ValueError : rows with different columns.

    >>> from scaleright.quantity import evaluate, given
    >>> chips = {"A": {"watts": 700, "usd": 3e4}, "B": {"watts": 300, "usd": 1e4},
    ...     "C": "C is not sold."}
    >>> chip = choose(chips, given("chip", "A"))
    >>> evaluate([chip.usd * 2, chip.there, chip.why], {"chip": "C"})
    [nan, False, 'C is not sold.']
    >>> seen = {("A", "2025"): {"usd": 2.0}, ("B", "2026"): {"usd": 3.0}}
    >>> price = choose(seen, given("chip", "A"), given("year", "2025"), otherwise="Not listed.")
    >>> evaluate([price.usd, price.why], {"chip": "B"})
    [nan, 'Not listed.']
    """
    columns, rows, blank = _rows(table)
    picked = _JOINT.join(called(value_of(choice)) for choice in choices)
    if picked not in rows and otherwise is None:
        nearest(picked, rows, "row of the table")
    content = literal_rows(rows)
    digest = hashlib.sha256(content.encode()).hexdigest()
    whole = leaf(Operation(f"table {digest}", lambda: rows, lambda: content), rows, digest)
    lacking = None if otherwise is None else (*blank, otherwise)
    return Row(columns, apply(_pick(len(choices), lacking), whole, *choices))


def look_up(figures: Mapping[str, Any] | Sequence[str], choice: Any) -> Quantity:
    """The figure, or the word, of what is chosen; its place in a list of options.

    >>> from scaleright.quantity import evaluate, given
    >>> chip = given("chip", "H100")
    >>> room = look_up({"H100": 80, "H200": 141}, chip)
    >>> room.value, evaluate([room, look_up(["H100", "H200"], chip)], {"chip": "H200"})
    (80, [141, 1])
    """
    if not isinstance(figures, Mapping):
        figures = {option: place for place, option in enumerate(figures)}
    return choose({option: {"figure": figure} for option, figure in figures.items()}, choice).figure


def table_of(node: Quantity) -> Mapping[str, tuple] | None:
    """The rows by option from which a quantity is one that a single choice picks; None if it is
    none.
    """
    chosen = node.operation.name == _ONE and isinstance(node.inputs[1], Quantity)
    return node.inputs[0].value if chosen else None


def called(option: Any) -> str:
    """What an option is called in a table, a number as a page writes it.

    >>> called("H100"), called(100), called(100.0), called(0.5)
    ('H100', '100', '100', '0.5')
    """
    return f"{option:.15g}" if isinstance(option, (int, float, np.integer)) else str(option)


def _rows(table: Mapping) -> tuple[tuple[str, ...], dict[str, tuple], tuple]:
    """Columns; the row of each option: its values, and why there are none; values where there are
    none.
    """
    from scaleright.units import figure

    shapes = [tuple(row) for row in table.values() if not isinstance(row, str)]
    columns = shapes[0] if shapes else ()
    if odd := [shape for shape in shapes if set(shape) != set(columns)]:
        raise ValueError(f"choose: rows with columns {sorted(odd[0])} and {sorted(columns)}")

    def settled(value: Any) -> Any:
        value = value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value
        if isinstance(value, (list, tuple)):
            return tuple(map(settled, value))
        return figure(value) if isinstance(value, float) and np.isfinite(value) else value

    def none_like(sample: Any) -> Any:
        if isinstance(sample, (str, bool)):
            return type(sample)()
        return tuple(map(none_like, sample)) if np.ndim(sample) else float("nan")

    full = next((row for row in table.values() if not isinstance(row, str)), {})
    rows, blank = {}, tuple(none_like(full[column]) for column in columns)
    for option, row in table.items():
        name = _JOINT.join(map(called, option if isinstance(option, tuple) else (option,)))
        rows[name] = (
            (*blank, row)
            if isinstance(row, str)
            else (*(settled(row[column]) for column in columns), "")
        )
    return columns, rows, blank


def literal_rows(rows: Mapping[str, tuple]) -> str:
    """A table as an expression."""
    entries = (f"{literal(name)}:{literal(row, short=True)}" for name, row in rows.items())
    return f"({{{','.join(entries)}}})"


def _pick(many: int, lacking: tuple | None) -> Operation:
    """The row that so many choices pick, or the one that stands for those that a table lacks."""

    def one(table: Mapping[str, tuple], options: Iterable[Any]) -> tuple:
        name = _JOINT.join(map(called, options))
        return table[name] if lacking is None else table.get(name, lacking)

    def row(table: Mapping[str, tuple], *choices: Any) -> Any:
        if not any(isinstance(choice, np.ndarray) for choice in choices):
            return one(table, choices)
        every = np.empty(np.broadcast(*map(np.asarray, choices)).shape, dtype=object)
        for place, *options in zip(
            np.ndindex(every.shape),
            *(np.broadcast_to(c, every.shape).flat for c in choices),
            strict=True,
        ):
            every[place] = one(table, options)
        return every

    def page(table: str, *keys: str) -> str:
        found = f"{table}[{joint.join(keys)}]"
        return found if lacking is None else f"({found} || {literal(lacking, short=True)})"

    joint = f' + "{_JOINT}" + '
    name = _ONE if many == 1 else f"row {many}"
    return Operation(name if lacking is None else f"{name} or {lacking!r}", row, page)


def _column(index: int) -> Operation:
    def column(row: Any) -> Any:
        if isinstance(row, tuple):
            return row[index]
        return np.array([one[index] for one in row.flat]).reshape(row.shape + _depth(row, index))

    return Operation(f"column {index}", column, lambda row: f"{row}[{index}]")


def _depth(rows: np.ndarray, index: int) -> tuple[int, ...]:
    first = rows.flat[0][index]
    return (len(first),) if isinstance(first, tuple) else ()
