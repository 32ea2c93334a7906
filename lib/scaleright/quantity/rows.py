"""Quantities from tables: the row that a choice picks."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from scaleright.names import nearest
from scaleright.quantity.graph import EQUAL, Operation, Quantity, apply, leaf, one_nan, value_of
from scaleright.quantity.packed import PACKED_ELEMENT, packed
from scaleright.quantity.readings import literal

_JOINT = "|"
"""Between the options of a row that several choices pick."""
_ONE = "row"
"""The operation by which one choice picks a row."""
_WORTH_PACKING = 10_000
"""Characters of a column of lists beyond which it is packed: to read an element then takes more."""
_DENSE = 20
"""Places for each row up to which they stand in a list."""


class Row(Mapping):
    """The row of a table that is chosen: its columns are quantities, as attributes or items. A page
    is told those columns that it reads.

    there : whether the table has figures for what is chosen [truth value]
    why : why it has none, a sentence; empty where it has [word]
    """

    def __init__(self, table: Table, place: Quantity):
        self._table, self._place = table, place

    def __getitem__(self, name: str) -> Quantity:
        if name not in self._table.columns:
            nearest(name, self._table.columns, "column of the table")
        return self._table.told(name).picked(self._place)

    def __getattr__(self, name: str) -> Quantity:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except LookupError as error:
            raise AttributeError(str(error)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._table.columns)

    def __len__(self) -> int:
        return len(self._table.columns)

    def __dir__(self) -> list[str]:
        return [*self._table.columns, "there", "why"]

    @property
    def why(self) -> Quantity:
        """Why there are no figures for what is chosen; empty where there are."""
        return self._table.told(None).picked(self._place)

    @property
    def there(self) -> Quantity:
        """Whether there are figures for what is chosen."""
        return apply(EQUAL, self.why, "")


def choose(
    table: Mapping[Any, Mapping[str, Any] | str], *choices: Any, otherwise: str | None = None
) -> Row:
    """The row of a table that a choice picks, or several choices together; of a table from which
    more than one is chosen make a `Table`, once.

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
    return Table(table, otherwise).row(*choices)


class Table:
    """A table made ready for choices, as `choose` takes it.

    >>> from scaleright.quantity import given
    >>> chips = Table({"A": {"watts": 700}, "B": {"watts": 300}})
    >>> chips.row(given("chip", "A")).watts.value, chips.row("B").watts.value
    (700, 300)
    """

    def __init__(self, table: Mapping[Any, Mapping[str, Any] | str], otherwise: str | None = None):
        columns, rows, blank = _rows(table)
        self._sparse = otherwise is not None
        if self._sparse:  # at the first place, so that a page writes `place || 0`
            rows = {None: (*blank, otherwise)} | rows
        places = {row: at for at, row in enumerate(dict.fromkeys(rows.values()))}  # told once
        self._places = {option: places[row] for option, row in rows.items() if option is not None}
        *found, self._why = zip(*places, strict=True)
        self.columns = dict(zip(columns, found, strict=True))
        self._told: dict[str | None, Column] = {}
        self._ways: dict[int, tuple[Operation, Quantity]] = {}

    def row(self, *choices: Any) -> Row:
        """The row of these choices."""
        picked = _JOINT.join(called(value_of(choice)) for choice in choices)
        if picked not in self._places and not self._sparse:
            nearest(picked, self._places, "row of the table")
        operation, places = self._way(len(choices))
        return Row(self, apply(operation, places, *choices))

    def _way(self, many: int) -> tuple[Operation, Quantity]:
        """How so many choices pick a row, and the places among which they do."""
        if many not in self._ways:
            by_one = _by_one(self._places, many, self._sparse)
            operation = _pick(many, self._sparse, by_one != _joint(self._places))
            self._ways[many] = operation, _told(self._places, by_one)
        return self._ways[many]

    def told(self, name: str | None) -> Column:
        """A column, or with None why rows have no figures, as a page has it."""
        if name not in self._told:
            self._told[name] = Column.of(self._why if name is None else self.columns[name])
        return self._told[name]


def look_up(figures: Mapping[Any, Any] | Sequence[str], choice: Any) -> Quantity:
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


def table_of(node: Quantity) -> Mapping[str, int] | None:
    """The places by option from which a quantity is one that a single choice picks; None if it is
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
        if type(value) is float:  # as most are
            return figure(value) if math.isfinite(value) else one_nan(value)
        value = value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value
        if isinstance(value, (list, tuple)):
            return tuple(map(settled, value))
        if not isinstance(value, float):
            return value
        return figure(value) if math.isfinite(value) else one_nan(value)

    def none_like(sample: Any) -> Any:
        if isinstance(sample, (str, bool)):
            return type(sample)()
        return tuple(map(none_like, sample)) if np.ndim(sample) else math.nan

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


def _told(content: Any, text: str) -> Quantity:
    """A table, or a list of its values, as a page has it once."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    return leaf(Operation(f"table {digest}", lambda: content, lambda: text), content, digest)


def _joint(places: Mapping[str, int]) -> str:
    """The place of each row by its options together, as an expression."""
    return f"({{{','.join(f'{literal(option)}:{at}' for option, at in places.items())}}})"


def _by_one(places: Mapping[str, int], many: int, sparse: bool) -> str:
    """The same by one choice after the other, whose options each have a step in a list of places;
    together where that is shorter, or where a table that is not sparse lacks rows.
    """
    keys = [option.split(_JOINT) for option in places]
    if many == 1 or any(len(key) != many for key in keys):
        return _joint(places)
    options = [list(dict.fromkeys(of)) for of in zip(*keys, strict=True)]
    sizes = [math.prod(map(len, options[after + 1 :])) for after in range(many)]
    whole = sizes[0] * len(options[0])
    if whole > (_DENSE if sparse else 1) * len(places):
        return _joint(places)
    steps = [
        {option: at * size for at, option in enumerate(of)}
        for of, size in zip(options, sizes, strict=True)
    ]
    dense = [0] * whole
    for key, place in zip(keys, places.values(), strict=True):
        dense[sum(step[option] for step, option in zip(steps, key, strict=True))] = place
    text = f"[{literal(dense)},{','.join(map(_joint, steps))}]"
    return min(_joint(places), text, key=len)


@dataclass(frozen=True)
class Column:
    """The values of a column, told once; where few come again and again, by rows only which.

    values : those that differ
    which : the place of each row's among them; None where each row has one of its own
    packed : whether a page has the values, which are lists, packed
    """

    values: Quantity
    which: Quantity | None = None
    packed: bool = False

    @classmethod
    def of(cls, values: tuple) -> Column:
        """The column of these values, a row's each."""
        texts, short = [literal(value, short=True) for value in values], None
        if sum(map(len, texts)) > _WORTH_PACKING and (short := packed(values)):
            texts, values = [*map(literal, short[0])], short[1]
        first = {text: at for at, text in reversed([*enumerate(texts)])}
        few = sorted(first.values())
        told, places = [texts[at] for at in few], {texts[at]: place for place, at in enumerate(few)}
        each = tuple(places[text] for text in texts)
        if len(few) > 1 and len(literal(each)) + len(",".join(told)) >= len(",".join(texts)):
            return cls(_told(values, f"[{','.join(texts)}]"), packed=bool(short))
        few_told = _told(tuple(values[at] for at in few), f"[{','.join(told)}]")
        which = _told(each, literal(each)) if len(few) > 1 else None
        return cls(few_told, which, bool(short))

    def picked(self, place: Quantity) -> Quantity:
        """The value at the place of what is chosen."""
        if len(self.values.value) == 1:
            return apply(_PACKED_ALIKE if self.packed else _ALIKE, self.values, place)
        place = place if self.which is None else apply(_AT, self.which, place)
        return apply(_PACKED_AT if self.packed else _AT, self.values, place)


def _value_at(values: tuple, place: Any) -> Any:
    """The value at a place; of arrays of places, lists are as long as the longest."""
    if not isinstance(place, np.ndarray):
        return values[int(place)]
    which, of_each = np.unique(place, return_inverse=True)
    found = [values[int(at)] for at in which.flat]
    if isinstance(values[0], tuple):
        longest = max(map(len, values))
        lacking = "" if any(isinstance(of, str) for of in chain(*values)) else math.nan
        found = [(*of, *[lacking] * (longest - len(of))) for of in found]
    return np.array(found)[of_each.reshape(place.shape)]


_AT = Operation("at", _value_at, lambda values, place: f"{values}[{place}]")
_ALIKE = Operation(
    "alike", lambda values, place: _value_at(values, 0 * place), lambda values, _: f"{values}[0]"
)
"""Of a table whose rows are all alike."""
_PACKED_AT, _PACKED_ALIKE = (
    replace(of, name=f"packed {of.name}", element=PACKED_ELEMENT) for of in (_AT, _ALIKE)
)


def _options(choice: Any) -> tuple[list, np.ndarray]:
    """The options among choices, each once, and which of them each choice is."""
    choice = np.asarray(choice)
    if choice.dtype != object:
        options, which = np.unique(choice, return_inverse=True)
        return options.tolist(), which.reshape(choice.shape)
    seen: dict[Any, int] = {}
    which = [seen.setdefault(option, len(seen)) for option in choice.flat]
    return [*seen], np.array(which, int).reshape(choice.shape)


def _pick(many: int, sparse: bool, by_one: bool) -> Operation:
    """The place of the row that so many choices pick; of a sparse table, the first where it has
    none.

    by_one : whether the page has the places `_by_one` choice after the other
    """

    def one(places: Mapping[str, int], options: Iterable[Any]) -> int:
        name = _JOINT.join(map(called, options))
        return places.get(name, 0) if sparse else places[name]

    def place(places: Mapping[str, int], *choices: Any) -> Any:
        if not any(isinstance(choice, np.ndarray) for choice in choices):
            return one(places, choices)
        options, each = zip(*map(_options, choices), strict=True)
        counts = [len(of) for of in options]
        joint, of_each = np.unique(np.ravel_multi_index(each, counts), return_inverse=True)
        which = zip(*np.unravel_index(joint, counts), strict=True)
        rows = [one(places, (of[at] for of, at in zip(options, row, strict=True))) for row in which]
        return np.array(rows)[of_each.reshape(np.broadcast_shapes(*(of.shape for of in each)))]

    def page(places: str, *keys: str) -> str:
        steps = (f"{places}[{at}][{key}]" for at, key in enumerate(keys, 1))
        key = " + ".join(steps) if by_one else joint.join(keys)
        found = f"{places}{'[0]' * by_one}[{key}]"
        return f"({found} || 0)" if sparse else found

    joint = f' + "{_JOINT}" + '
    name = _ONE if many == 1 else f"row {many}"
    name = f"{name}{' sparse' * sparse}{' by one' * by_one}"
    return Operation(name, place, page)
