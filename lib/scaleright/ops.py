"""Element-wise operations that work on floats, NumPy arrays and quantities alike.

A formula written with ordinary operators and these functions returns a float for floats, broadcasts
over arrays, and is a quantity when an argument is one, so that the reader's browser recomputes the
library's own formula. What charts compute of their rows are Vega expressions, for `where`.

>>> maximum(1.0, 2.0)
2.0
>>> import numpy
>>> maximum(numpy.array([1.0, 3.0]), 2.0)
array([2., 3.])
"""

import math
import sys
from statistics import NormalDist
from typing import Any

import numpy as np

from scaleright.quantity import graph
from scaleright.quantity.graph import Quantity

INFINITY = float("inf")
_SINGLE = {bool, int, float, str, np.bool_, np.int64, np.float64}
_PLAIN = _SINGLE | {np.ndarray}
"""Almost all that a formula is given: told by their types, a third of the time of asking each.
`maximum`, `minimum`, `where` and `ceil`, of which a formula has dozens, ask for single values
first.
"""


def is_expression(value: Any) -> bool:
    """Whether a value is a Vega expression; altair is not imported to find out."""
    if type(value) in _PLAIN:
        return False
    core = sys.modules.get("altair.expr.core")
    return core is not None and isinstance(value, core.OperatorMixin)


def _literal(value: Any) -> Any:
    """A value as Vega can read it: plain Python numbers, infinity as a quotient (Vega has no name
    for it).
    """
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and math.isinf(value):
        from altair.expr.core import ConstExpression

        return ConstExpression("(1 / 0)" if value > 0 else "(-1 / 0)")
    return value


def _apply(vega_name: str, scalar, array, *args):
    kinds = {*map(type, args)}
    if kinds <= _SINGLE:
        return scalar(*args)
    if kinds <= _PLAIN:
        return array(*args)
    if Quantity in kinds:
        return graph.apply(graph.called(vega_name, array), *args)
    if any(isinstance(a, np.ndarray) for a in args):
        return array(*args)
    return scalar(*args)


def _larger(a, b):
    """`numpy.maximum`, in a tenth of its time for single values."""
    if type(a) is np.float64 and type(b) is np.float64:
        return a if a > b or math.isnan(a) else b
    return np.maximum(a, b)


def _smaller(a, b):
    if type(a) is np.float64 and type(b) is np.float64:
        return a if a < b or math.isnan(a) else b
    return np.minimum(a, b)


def maximum(a, b):
    """The larger of two values."""
    if type(a) in _SINGLE and type(b) in _SINGLE:
        return max(a, b)
    return _apply("max", max, _larger, a, b)


def minimum(a, b):
    """The smaller of two values."""
    if type(a) in _SINGLE and type(b) in _SINGLE:
        return min(a, b)
    return _apply("min", min, _smaller, a, b)


def where(condition, a, b):
    """`a` where the condition holds, `b` elsewhere; both are computed.

    >>> import altair
    >>> where(True, altair.datum.a, 0), where(altair.datum.a > 0, 1, 0)
    (datum.a, if((datum.a > 0),1,0))
    """
    if type(condition) in _SINGLE and type(a) in _SINGLE and type(b) in _SINGLE:
        return a if condition else b
    if is_expression(condition):
        from altair.expr.core import FunctionExpression

        return FunctionExpression("if", tuple(map(_literal, (condition, a, b))))
    if is_expression(a) or is_expression(b):
        return a if condition else b
    return _apply("if", lambda c, x, y: x if c else y, graph.either, condition, a, b)


def first_case(cases, otherwise):
    """The result of the first case, of pairs of a condition and a result, whose condition holds.

    >>> first_case([(False, "a"), (True, "b"), (True, "c")], "d")
    'b'
    """
    for condition, result in reversed(cases):
        otherwise = where(condition, result, otherwise)
    return otherwise


def exp(a):
    """The exponential e to the power of a: by one function for a number, an array and a quantity,
    since that of the C library may differ in the last digit.
    """
    return _apply("exp", lambda a: np.exp(a).item(), np.exp, a)


def log(a):
    """Natural logarithm."""
    if type(a) in _SINGLE:
        return math.log(a)
    return _apply("log", math.log, np.log, a)


_LOG2 = graph.Operation("log2", lambda a: np.log(a) / np.log(2.0), lambda a: f"(log({a}) / LN2)")


def log2(a):
    """Logarithm to base 2.

    >>> log2(8.0)
    3.0
    """
    if isinstance(a, Quantity):
        return graph.apply(_LOG2, a)
    return log(a) / log(2.0)


_LOG10 = graph.Operation(
    "log10", lambda a: np.log(a) / np.log(10.0), lambda a: f"(log({a}) / LN10)"
)


def log10(a):
    """Logarithm to base 10.

    >>> round(log10(1000.0), 12)
    3.0
    """
    if isinstance(a, Quantity):
        return graph.apply(_LOG10, a)
    return log(a) / log(10.0)


def cos(a):
    """Cosine of an angle in radians.

    >>> cos(0.0)
    1.0
    """
    return _apply("cos", math.cos, np.cos, a)


def sin(a):
    """Sine of an angle in radians.

    >>> sin(0.0)
    0.0
    """
    return _apply("sin", math.sin, np.sin, a)


def sqrt(a):
    """Square root."""
    return _apply("sqrt", math.sqrt, np.sqrt, a)


def _density(z):
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def normal_density(a):
    """Density of a standard normal variable at a.

    >>> round(normal_density(0.0), 12)
    0.398942280401
    """
    return _apply("densityNormal", _density, lambda z: np.exp(-z * z / 2) / np.sqrt(2 * np.pi), a)


def _below(z):
    return math.erfc(-z / math.sqrt(2)) / 2


_FEW = 100
"""So many values are computed one by one sooner than SciPy is imported."""


def _normal_cdf(a):
    if np.size(a) <= _FEW:
        return np.vectorize(_below, otypes=[float])(a)[()]
    from scipy.special import ndtr  # heavy, and few formulas need it

    return ndtr(a)


def normal_cdf(a):
    """Probability that a standard normal variable is below a.

    >>> normal_cdf(0.0), round(normal_cdf(1.6448536269514722), 12)
    (0.5, 0.95)
    """
    return _apply("cumulativeNormal", _below, _normal_cdf, a)


def _normal_quantile(a):
    from scipy.special import ndtri  # heavy, and few formulas need it

    return ndtri(a)


def normal_quantile(a):
    """Below which value a standard normal variable is with probability a: `normal_cdf` undone.

    >>> normal_quantile(0.5), round(normal_quantile(0.95), 9)
    (0.0, 1.644853627)
    """
    return _apply("quantileNormal", NormalDist().inv_cdf, _normal_quantile, a)


_CUBE_ROOT = graph.Operation("cube root", lambda a: a ** (1 / 3), lambda a: f"pow({a},1 / 3)")


def cube_root(a):
    """Cube root of what is not negative; a page writes the third without its endless digits.

    >>> round(cube_root(8.0), 12)
    2.0
    """
    return graph.apply(_CUBE_ROOT, a) if isinstance(a, Quantity) else a ** (1 / 3)


def ceil(a):
    """The smallest whole number not below a, as a float."""
    if type(a) in _SINGLE:
        return float(math.ceil(a))
    return _apply("ceil", lambda x: float(math.ceil(x)), np.ceil, a)


def floor(a):
    """The largest whole number not above a, as a float."""
    if type(a) in _SINGLE:
        return float(math.floor(a))
    return _apply("floor", lambda x: float(math.floor(x)), np.floor, a)


def size(*values) -> int:
    """Elements of the largest of some values; of a single one, or a quantity, it is one.

    >>> size(1.0, np.arange(3.0)), size(1, 2.0)
    (3, 1)
    """
    if {*map(type, values)} <= _SINGLE:
        return 1
    return max(map(np.size, values))


def item(values, index):
    """The element of a table at a whole-numbered place, which may be an array of places or a
    quantity; of several tables beside each other, the first axis being that of places, each at its
    own.

    >>> item([5.0, 6.0, 7.0], 2.0), item([5.0, 6.0], np.array([1.0, 0.0]))
    (7.0, array([6., 5.]))
    >>> item(np.array([[5.0, 1.0], [6.0, 2.0]]), np.array([0.0, 1.0]))
    array([5., 2.])
    """
    if isinstance(values, Quantity) or isinstance(index, Quantity):
        listed = tuple(values) if isinstance(values, (list, np.ndarray)) else values
        return graph.element_of(listed, index)
    if not isinstance(index, np.ndarray):
        return values[int(index)]
    table, at = np.asarray(values), index.astype(int)
    return table[at] if table.ndim == 1 else np.take_along_axis(table, at[None], axis=0)[0]
