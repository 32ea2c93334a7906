"""Readings of the graph: its values at any case, and the expressions that compute it on a page."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from scaleright.names import nearest
from scaleright.quantity.graph import (
    ELEMENT,
    WRITTEN_OUT,
    Operation,
    Quantity,
    apply,
    computed,
    control,
    in_order,
    parameter,
    unguarded,
    value_of,
)
from scaleright.quantity.packed import PACKED_ELEMENT


def evaluate(
    wanted: Iterable[Quantity], case: Mapping[str, Any], strangers: bool = False
) -> list[Any]:
    """Values of quantities at a case: each parameter that it names is given a value, or an array of
    values, one for each of many cases; all others keep theirs.

    strangers : whether the case may name what none of the quantities depends on

    Raises
    ------
    LookupError : a name on which none of the quantities depends; the nearest is offered.

    >>> import numpy
    >>> from scaleright.quantity import given
    >>> evaluate([1.5 * given("price", 2.0)], {"price": numpy.array([1.0, 4.0])})
    [array([1.5, 6. ])]
    """
    wanted = list(wanted)
    case = {name: np.asarray(of) if isinstance(of, list) else of for name, of in case.items()}
    order = in_order(wanted) if case else []
    if not strangers:
        _refuse_strangers(order, case)
    parts = list(_parts(case))
    found = [_evaluated(wanted, order, part) for part, _ in parts]
    if len(parts) == 1:
        return found[0]
    shapes = [shape for _, shape in parts]
    return [_joined(of, shapes) for of in zip(*found, strict=True)]


_AT_ONCE = 2**15
"""Cases that are computed at once. What a search makes of each is a row of candidates, at every
step: of a million cases that would be gigabytes.
"""


def _parts(case: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], tuple[int, ...]]]:
    """The cases, as many at once as is good, and the shape of each part: arrays of as many axes are
    cut along the first. All at once if they are few.
    """
    arrays = {name: of for name, of in case.items() if isinstance(of, np.ndarray)}
    shape = np.broadcast_shapes(*(of.shape for of in arrays.values()))
    rows, *rest = shape or (1,)
    length = max(2, _AT_ONCE // max(1, math.prod(rest)))
    if rows <= length or any(of.ndim != len(shape) for of in arrays.values()):
        yield case, shape
        return
    for start in range(0, rows, length):
        part = slice(start, start + length)
        cut = {name: of[part] for name, of in arrays.items() if len(of) > 1}
        yield {**case, **cut}, (min(length, rows - start), *rest)


def _joined(parts: Sequence[Any], cases: Sequence[tuple[int, ...]]) -> Any:
    """A value at all cases, from its values at each part of them; one that is the same along the
    first axis of the cases, as it is.
    """
    shapes, axes = [np.shape(of) for of in parts], len(cases[0])
    # the last part may have as many cases as a list has elements
    both = zip(shapes[:-1], cases[:-1], strict=True)
    if not any(len(of) >= axes and of[0] == case[0] for of, case in both):
        return parts[0]
    deep = max(map(len, shapes))
    rest = np.broadcast_shapes(*(((1,) * (deep - len(of)) + of)[1:] for of in shapes))
    each = zip(parts, cases, strict=True)
    return np.concatenate([np.broadcast_to(of, (case[0], *rest)) for of, case in each])


def _evaluated(
    wanted: Iterable[Quantity], order: Iterable[Quantity], case: Mapping[str, Any]
) -> list[Any]:
    values: dict[Quantity, Any] = {}
    moving = values.keys()
    with np.errstate(all="ignore"):
        for node in order:
            if node.parameter in case:
                values[node] = case[node.parameter]
            elif not moving.isdisjoint(node.operands):
                inputs = [
                    (values[i] if i in moving else i.value) if isinstance(i, Quantity) else i
                    for i in node.inputs
                ]
                values[node] = unguarded(node.operation, inputs)
    return [values[of] if of in moving else of.value for of in wanted]


def _refuse_strangers(order: Iterable[Quantity], case: Iterable[str]) -> None:
    known = {node.parameter: None for node in order if node.parameter}
    for name in case:
        if name not in known:
            nearest(name, known, "parameter of these quantities")


def evaluate_rows(
    wanted: Iterable[Quantity], rows: Mapping[str, Any], case: Mapping[str, Any] | None = None
) -> list[Any]:
    """The values of quantities in the rows of a chart or a table, those that are held as at the
    case, see `derived`.

    rows, case : values of parameters, of each row and of all; those that nothing reads are left out

    >>> from scaleright.quantity import derived, given
    >>> load, price = given("load", 0.5), given("price", 2.0)
    >>> evaluate_rows([derived("best", load * 1.0, held=True) * load], {"load": np.array([1.0])})
    [array([0.5])]
    """
    wanted, case = list(wanted), dict(case or {})
    held = [of for of in in_order(wanted) if of.operation.held and of.parameter not in rows]
    above = {parameter(of) for of in in_order(held)}
    kept = evaluate(held, {name: value for name, value in case.items() if name in above})
    names = [parameter(of) or "" for of in held]
    given = {**case, **dict(zip(names, kept, strict=True)), **rows}
    read = {parameter(of) for of in in_order(wanted, there=given)}
    return evaluate(wanted, {name: value for name, value in given.items() if name in read})


def at(wanted: Quantity, **case: Any) -> Any:
    """A quantity at another case: each parameter that is named has this value, all others follow
    their controls, and what is held stays what it is on the page; a plain value where nothing is
    left that follows.

    Raises
    ------
    LookupError : a name on which the quantity does not depend; the nearest is offered.

    >>> from scaleright.quantity import given
    >>> bill = given("hours", 10.0) * given("price", 2.0)
    >>> whole_day = at(bill, hours=24.0)
    >>> whole_day.value, evaluate([whole_day], {"price": 3.0}), at(whole_day, price=4.0)
    (48.0, [72.0], 96.0)
    """
    return all_at([wanted], case)[0]


def all_at(wanted: Iterable[Quantity], case: Mapping[str, Any]) -> list[Any]:
    """The same of several quantities, of which some depend on each name: what they have in common
    is made once.
    """
    wanted = list(wanted)
    order = in_order(wanted)
    _refuse_strangers(order, case)
    there: dict[Quantity, Any] = {}
    kept = {of.parameter for of in order if of.operation.held and of.parameter not in case}
    for node in in_order(wanted, there=kept) if kept else order:
        if node.parameter in case:
            there[node] = case[node.parameter]
        elif node.parameter not in kept and not there.keys().isdisjoint(node.operands):
            inputs = [there.get(i, i) if isinstance(i, Quantity) else i for i in node.inputs]
            there[node] = _made_of(node.operation, inputs)
    return [there.get(of, of) for of in wanted]


def _made_of(operation: Operation, inputs: list[Any]) -> Any:
    """What an operation makes of quantities, and of values that are known whatever the case."""
    if operation.rows is not None:
        raise ValueError(
            f"the rows {operation.rows.name!r} are computed at the case of the page: evaluate"
            " quantities of them at another one, or make rows of that"
        )
    first, *others = inputs
    if operation is PACKED_ELEMENT and not isinstance(first, Quantity):
        operation = ELEMENT  # of a list that is written out
    if operation.name == "if" and isinstance(first, bool):
        return others[0] if first else others[1]
    if any(isinstance(i, Quantity) and (i.inputs or i.parameter) for i in inputs):
        return apply(operation, *inputs)
    value = computed(operation, map(value_of, inputs))
    return apply(operation, *inputs) if isinstance(value, np.ndarray) else value


@dataclass(frozen=True)
class Compiled:
    """Expressions by name, each after those that it names.

    signals : computed once for the page
    formulas : computed for each row of a chart's data
    names : quantities that are signals, with their names
    """

    signals: dict[str, str] = field(default_factory=dict)
    formulas: dict[str, str] = field(default_factory=dict)
    names: dict[Quantity, str] = field(default_factory=dict)


def compiled(
    wanted: Mapping[str, Quantity],
    along: Mapping[str, str] | None = None,
    known: Mapping[Quantity, str] | None = None,
    held: Mapping[str, str] | None = None,
) -> Compiled:
    """The expressions of Vega that compute quantities, by their names; what is used more than once
    is computed once, under a name of its own.

    Parameters
    ----------
    along : parameters that a chart's rows give, with the field of each; what depends on one is a
        formula of the rows
    known : signals that there are already, by quantity
    held : those of quantities that are `derived` and held, by their names

    Raises
    ------
    LookupError : a name on which none of the quantities depends; the nearest is offered.

    >>> from scaleright.quantity import given
    >>> price, load = given("price", 2.0), given("load", 0.4)
    >>> compiled({"unit": price / load, "twice": 2 * (price / load)}).signals
    {'unit': '(price / load)', 'twice': '(2 * unit)'}
    >>> compiled({"unit": (price + 1) / load}, along={"load": "x"}).formulas
    {'unit': '((price + 1) / datum.x)'}
    """
    along, known, held = along or {}, known or {}, held or {}
    # without rows of a chart, what the page computes already is read by its name
    there = {**held, **along}
    read = {**held, **{name: f"datum.{field}" for name, field in along.items()}}
    order = in_order(wanted.values(), frozenset() if along else known, there)
    _refuse_strangers(order, along)
    names = _names(order, wanted, there, known)
    rows, found = set[Quantity](), Compiled()
    said: dict[Quantity, str] = {} if along else dict(known)
    for node in order:
        name = node.parameter if node.parameter in there else control(node)
        if name in along or any(i in rows for i in node.operands):
            rows.add(node)
            if node.operation.rows is not None:
                raise ValueError(
                    f"the rows {node.operation.rows.name!r} are computed once for the page: no rows"
                    f" of another chart can give {', '.join(along)} to them"
                )
        if name or (node in known and node not in rows):
            said[node] = read.get(name or "", name) or known[node]
            continue
        expression = node.operation.vega(
            *(said[i] if isinstance(i, Quantity) else literal(i) for i in node.inputs)
        )
        said[node] = expression
        if named := names.get(node):
            (found.formulas if node in rows else found.signals)[named] = expression
            said[node] = f"datum.{named}" if node in rows else named
            if node not in rows:
                found.names[node] = named
    for name, node in wanted.items():
        (found.formulas if node in rows else found.signals).setdefault(name, said[node])
    return found


def _names(
    order: list[Quantity],
    wanted: Mapping[str, Quantity],
    along: Mapping[str, str],
    known: Mapping[Quantity, str],
) -> dict[Quantity, str]:
    """Names of what is wanted, and of what is used more than once, or is a table or a list of
    rows.
    """
    uses = Counter(
        given for node in order for given in node.operands * (1 + node.operation.repeats)
    )
    names = {node: name for name, node in reversed(list(wanted.items())) if not control(node)}
    taken = {*wanted, *along.values(), *known.values(), *filter(None, map(parameter, order))}
    free = (f"q{number}" for number in count(1))
    for node in order:
        listed = node.operation.rows is not None  # or each row of others would list them anew
        shared = uses[node] > 1 or not node.inputs or listed
        if shared and node not in names and not control(node) and parameter(node) not in along:
            names[node] = next(name for name in free if name not in taken)
    return names


def literal(value: Any, short: bool = False) -> str:
    r"""A number, a truth value, a word or a list of them, as an expression has it.

    short : without the zeros that a number can do without, for long tables

    >>> literal(0.25), literal(8.0), literal(float("inf")), literal(True), literal("it's")
    ('0.25', '8', '(1 / 0)', 'true', '"it\'s"')
    >>> literal([0.25, 5e-07, 10.5], short=True)
    '[.25,5e-7,10.5]'
    """
    if isinstance(value, (list, tuple)):
        return f"[{','.join([literal(item, short) for item in value])}]"
    if isinstance(value, float) and not math.isfinite(value):
        # Vega's interpreter of expressions takes the name NaN for a signal that there is not.
        sign = 0 if math.isnan(value) else 1 if value > 0 else -1
        return f"{sign}/0" if short else f"({sign} / 0)"
    if isinstance(value, float) and value == int(value) and abs(value) < WRITTEN_OUT:
        value = int(value)
    if short and type(value) is float and value > 0:
        return repr(value).removeprefix("0").replace("e-0", "e-")
    if type(value) in (int, float):  # as `json` has them, which takes longer
        return f"({value})" if value < 0 else repr(value)
    return json.dumps(value)
