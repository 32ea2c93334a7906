"""The graph: quantities as its nodes, equal ones a single node.

A node knows its operation, what it was computed from, and its value at the case.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from typing import Any, NoReturn
from weakref import WeakValueDictionary

import numpy as np

_NODES: WeakValueDictionary[tuple, Quantity] = WeakValueDictionary()
_UNKNOWN = object()
"""The value of a quantity that nobody has asked for."""


@dataclass(frozen=True)
class Operation:
    """What a node does with its inputs.

    name : tells it from others
    compute : its result of values, each a float, a truth value, a word or an array of them
    vega : its expression of expressions
    repeats : whether that says an input more than once, so that a page gives it a name
    rows : the rows of a page of which it is a list (`over`), if it is one
    element : how an element is read of a list that a page has packed, if it makes one
    held : whether its result stays what it is on the page in rows of a chart
    """

    name: str
    compute: Callable[..., Any]
    vega: Callable[..., str]
    repeats: bool = False
    rows: Any = None
    element: Operation | None = None
    held: bool = False


class Quantity:
    """A number, a truth value or a word, and how it was computed.

    operation : what it was computed by; its `name` is the parameter's for one that was given
    inputs : what it was computed from: quantities, numbers, truth values, words, tables
    unit : of the value, in words; empty where nothing has told it
    operands : the quantities among its inputs, the last one first
    parameter : the name under which it may be set; None where it may not
    known : its value once somebody has asked for it
    """

    __slots__ = ("__weakref__", "inputs", "known", "operands", "operation", "parameter", "unit")
    __array_ufunc__ = None  # NumPy leaves what it does not know to the operators below

    def __init__(self, operation: Operation, inputs: tuple, value: Any):
        self.operation, self.inputs, self.known, self.unit = operation, inputs, value, ""
        self.operands = tuple([given for given in inputs[::-1] if isinstance(given, Quantity)])
        name = operation.name
        self.parameter = name[len(GIVEN) + 1 :] if name.startswith(f"{GIVEN} ") else None

    @property
    def value(self) -> Any:
        """What it is at the case, computed when it is first asked for: most of a graph never is."""
        if self.known is _UNKNOWN:
            _compute(self)
        return self.known

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"{self!r} may change with the case, so it decides no `if`, `and` or `or`: write"
            " where(condition, this, that), a & b or a | b"
        )

    def __repr__(self) -> str:
        from scaleright.quantity.told import told  # which is built on this module

        return told(self)

    def __add__(self, other):
        return apply(ADD, self, other)

    def __radd__(self, other):
        return apply(ADD, other, self)

    def __sub__(self, other):
        return apply(SUBTRACT, self, other)

    def __rsub__(self, other):
        return apply(SUBTRACT, other, self)

    def __mul__(self, other):
        return apply(MULTIPLY, self, other)

    def __rmul__(self, other):
        return apply(MULTIPLY, other, self)

    def __truediv__(self, other):
        return apply(DIVIDE, self, other)

    def __rtruediv__(self, other):
        return apply(DIVIDE, other, self)

    def __mod__(self, other):
        return apply(REMAINDER, self, other)

    def __rmod__(self, other):
        return apply(REMAINDER, other, self)

    def __pow__(self, other):
        return apply(POWER, self, other)

    def __rpow__(self, other):
        return apply(POWER, other, self)

    def __neg__(self):
        return apply(NEGATIVE, self)

    def __abs__(self):
        return apply(ABSOLUTE, self)

    def __lt__(self, other):
        return apply(LESS, self, other)

    def __le__(self, other):
        return apply(AT_MOST, self, other)

    def __gt__(self, other):
        return apply(MORE, self, other)

    def __ge__(self, other):
        return apply(AT_LEAST, self, other)

    def __eq__(self, other):
        return apply(EQUAL, self, other)

    def __ne__(self, other):
        return apply(UNEQUAL, self, other)

    def __and__(self, other):
        return apply(AND, self, other)

    def __rand__(self, other):
        return apply(AND, other, self)

    def __or__(self, other):
        return apply(OR, self, other)

    def __ror__(self, other):
        return apply(OR, other, self)

    def __invert__(self):
        return apply(NOT, self)

    def __getitem__(self, place):
        return element_of(self, place)

    __iter__ = None  # or Python would ask for one element after the other, without an end
    __hash__ = object.__hash__


def _infix(sign: str, compute: Callable) -> Operation:
    return Operation(sign, compute, lambda a, b: f"({a} {sign} {b})")


@functools.cache
def called(name: str, compute: Callable) -> Operation:
    """A function that Vega has under this name."""
    return Operation(name, compute, lambda *inputs: f"{name}({','.join(inputs)})")


ADD, SUBTRACT = _infix("+", operator.add), _infix("-", operator.sub)
MULTIPLY, DIVIDE = _infix("*", operator.mul), _infix("/", operator.truediv)
POWER = called("pow", operator.pow)
REMAINDER = Operation("%", operator.mod, lambda a, b: f"((({a} % {b}) + {b}) % {b})", repeats=True)
NEGATIVE, ABSOLUTE = Operation("-", operator.neg, lambda a: f"(-{a})"), called("abs", np.abs)
LESS, AT_MOST = _infix("<", operator.lt), _infix("<=", operator.le)
MORE, AT_LEAST = _infix(">", operator.gt), _infix(">=", operator.ge)
EQUAL, UNEQUAL = _infix("===", operator.eq), _infix("!==", operator.ne)
AND, OR = _infix("&&", np.logical_and), _infix("||", np.logical_or)
NOT = Operation("!", np.logical_not, lambda a: f"(!{a})")


_ALIKE = {np.float64, bool, str}
_SINGLE = {float, int, str, np.float64, np.str_}


def element(values: Any, place: Any) -> Any:
    """The element of a list at a whole-numbered place; NaN, or no word, at a place outside."""
    if type(place) is np.float64 and len(values) and type(values[0]) in _SINGLE:  # as most are
        words = isinstance(values[0], str)
        if not 0 <= place < len(values):
            return "" if words else math.nan
        return values[int(place)] if words else float(values[int(place)])
    values, place = np.asarray(values), np.asarray(place)
    inside = (place >= 0) & (place < values.shape[-1])
    shape = np.broadcast_shapes(values.shape[:-1], place.shape)
    found = np.take_along_axis(
        np.broadcast_to(values, (*shape, values.shape[-1])),
        np.broadcast_to(np.where(inside, place, 0).astype(int), shape)[..., None],
        axis=-1,
    )[..., 0]
    return np.where(inside, found, "" if found.dtype.kind == "U" else np.nan)


def either(condition: Any, this: Any, that: Any) -> Any:
    """`numpy.where`, which makes arrays of single values first."""
    if type(this) is type(that) and type(this) in _ALIKE and type(condition) is not np.ndarray:
        return this if condition else that
    return np.where(condition, this, that)


ELEMENT = Operation("element", element, lambda values, place: f"{values}[{place}]")


def element_of(values: Any, place: Any) -> Quantity:
    """The element of a list at a place, whichever is a quantity."""
    packed = values.operation.element if isinstance(values, Quantity) else None
    return apply(packed or ELEMENT, values, place)


GIVEN = "given"


def given(name: str, value: Any) -> Quantity:
    """A parameter of the case: a float, a whole number, a truth value or a word.

    >>> given("chips", 8) is given("chips", 8), given("chips", 8) is given("chips", 16)
    (True, False)
    """
    return leaf(Operation(f"{GIVEN} {name}", lambda: value, lambda: name), value, value)


def derived(name: str, quantity: Quantity, held: bool = False) -> Quantity:
    """A quantity that may be set as a parameter may, under a name that no control has: rows, ends
    and cases give it values of their own; where none does it is what it was computed as.

    held : whether in the rows of a chart it stays what it is on the page, whatever else they give

    >>> price, load = given("price", 2.0), derived("load", given("requests", 40.0) / 100)
    >>> from scaleright.quantity.readings import evaluate
    >>> bill = price / load
    >>> bill.value, evaluate([bill], {"load": 0.5}), evaluate([bill], {"requests": 80.0})
    (5.0, [4.0], [2.5])
    """
    same = Operation(f"{GIVEN} {name}", lambda value: value, lambda told: told, held=held)
    return apply(same, quantity)


def parameter(node: Any) -> str | None:
    """The name under which a quantity may be set, a control's or that of one `derived`."""
    return node.parameter if isinstance(node, Quantity) else None


def control(node: Any) -> str | None:
    """The name by which a page has a quantity without computing it, None if it computes it."""
    return None if isinstance(node, Quantity) and node.inputs else parameter(node)


def leaf(operation: Operation, value: Any, identity: Any) -> Quantity:
    """A quantity that is computed from no other; those of one operation and identity are one."""
    return _node((operation.name, type(identity), identity), operation, (), value)


def apply(operation: Operation, *inputs: Any) -> Quantity:
    """The quantity that an operation makes of quantities, numbers, truth values and words.

    A number has the digits of a `units.figure` from here on: those that a page is given.
    """
    plain, key = list[Any](), list[Any]([operation.name])
    for given in inputs:
        if isinstance(given, Quantity):
            if (packed := given.operation.element) and packed is not operation:
                raise TypeError(f"{operation.name}: a page has this list packed; take its elements")
            key.append(id(given))
        else:
            given = _settled(given.item() if isinstance(given, np.generic) else given)
            key.append((type(given), given))
        plain.append(given)
    return _node(tuple(key), operation, tuple(plain), _UNKNOWN)


WRITTEN_OUT = 1e15
"""Whole numbers up to here are written with all their digits; beyond, every float is one."""


def one_nan(given: float) -> float:
    """A number itself; for any NaN the same one: what holds another one, as all that was unpickled
    does, is another key and another row.
    """
    return math.nan if math.isnan(given) else given


def _settled(given: Any) -> Any:
    """A number with the digits that it means; anything else as it is."""
    if type(given) is tuple:
        return tuple(map(_settled, given))
    if type(given) is not float:
        return given
    if not math.isfinite(given):
        return one_nan(given)
    if given.is_integer() and abs(given) < WRITTEN_OUT:
        return given
    from scaleright.units import figure  # which is built on this module

    return figure(given)


def _node(key: tuple, operation: Operation, inputs: tuple, value: Any) -> Quantity:
    """The one node of a key; its inputs, whose ids the key holds, live as long as it does."""
    known = _NODES.get(key)
    if known is None:
        known = _NODES[key] = Quantity(operation, inputs, value)
    return known


def _compute(wanted: Quantity) -> None:
    """The value of a quantity, and of all that it is computed from."""
    waiting = [wanted]
    with np.errstate(all="ignore"):
        while waiting:
            node = waiting[-1]
            if node.known is not _UNKNOWN:
                waiting.pop()
            elif missing := [of for of in node.operands if of.known is _UNKNOWN]:
                waiting += missing
            else:
                node.known = unguarded(node.operation, map(value_of, node.inputs))


def node_of(
    key: tuple, operation: Operation, inputs: tuple, value: Callable[[], Any] | None = None
) -> Quantity:
    """The one quantity of a key, made of its inputs: for operations that hold more than those.

    value : computes what it is at the case, where that takes less than the operation
    """
    known = _NODES.get(key)
    if known is not None:
        return known
    return _node(key, operation, inputs, value() if value else _UNKNOWN)


def value_of(given: Any) -> Any:
    """The value of a quantity at its case; of anything else, itself."""
    return given.value if isinstance(given, Quantity) else given


def computed(operation: Operation, values: Iterable[Any]) -> Any:
    """What an operation makes of values, as a page computes it: 1 / 0 is infinite and 0 / 0 is not
    a number.
    """
    with np.errstate(all="ignore"):
        return unguarded(operation, values)


def unguarded(operation: Operation, values: Iterable[Any]) -> Any:
    """The same where NumPy has been told not to warn: once for many."""
    found = operation.compute(*[_as_on_a_page(of) for of in values])
    kind = type(found)
    if kind in _PLAIN:
        return _PLAIN[kind](found)
    return found.item() if kind is np.ndarray and not found.ndim else found


_PLAIN = {np.float64: float, np.bool_: bool, np.int64: int, np.str_: str}
"""What single values of NumPy are, of which `item` takes ten times as long."""


def _as_on_a_page(value: Any) -> Any:
    """A number as a page has it, which knows no whole numbers; all else as it is."""
    kind = type(value)
    if kind is float or kind is int:
        return np.float64(value)
    if kind is np.ndarray and value.dtype.kind in "iu":
        return value.astype(float)
    return value


def in_order(
    wanted: Iterable[Quantity],
    known: Container[Quantity] = frozenset(),
    there: Container[str | None] = (),
) -> list[Quantity]:
    """Quantities and all that they are computed from, each once and after its inputs; but for
    those that are known, and what these are computed from.

    there : names of parameters that have values of their own: what one of them is computed from
        elsewhere is left out
    """
    order: dict[Quantity, None] = {}
    waiting: list[Any] = [*wanted][::-1]
    while waiting:
        node = waiting.pop()
        if node is None:  # all that the next one is computed from is there
            order[waiting.pop()] = None
        elif node not in order and node not in known:
            if node.operands and not (there and node.parameter in there):
                waiting += (node, None, *node.operands)
            else:
                order[node] = None
    return list(order)
