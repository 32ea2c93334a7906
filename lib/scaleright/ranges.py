"""Inputs as ranges: Monte Carlo and tornado by handing arrays to the same formulas.

An estimate of cost is only as good as its inputs, so an input may be a `Range` instead of a number.
Since every closed form broadcasts, an uncertain answer costs one call with arrays of draws.
"""

import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from scaleright.ops import exp, log, maximum, minimum, sqrt
from scaleright.quantity import Quantity, at, evaluate
from scaleright.quantity.graph import parameter, value_of
from scaleright.units import figure


@dataclass(frozen=True)
class Range:
    """A plausible span with its most likely value, drawn as a PERT (scaled beta) distribution.

    The PERT distribution needs only what a person can state (lowest, most likely, highest) and,
    unlike the triangular one, does not overweight the ends [malcolm1959].

    Raises
    ------
    ValueError : unless low <= best <= high, all finite.

    >>> Range(1.0, 2.0, 4.0)
    Range(low=1.0, best=2.0, high=4.0)
    >>> Range(3.0, 2.0, 4.0)
    Traceback (most recent call last):
    ValueError: Range(low=3, best=2, high=4): needs finite low <= best <= high
    """

    low: float
    best: float
    high: float

    def __post_init__(self) -> None:
        if not (
            np.isfinite([self.low, self.best, self.high]).all()
            and self.low <= self.best <= self.high
        ):
            raise ValueError(
                f"Range(low={self.low:g}, best={self.best:g}, high={self.high:g}): needs finite low"
                " <= best <= high"
            )

    @classmethod
    def around(cls, best: float, factor: float) -> Self:
        """From best / factor to best * factor: "right within a factor of".

        >>> Range.around(10.0, 2.0)
        Range(low=5.0, best=10.0, high=20.0)
        """
        return cls(best / factor, best, best * factor)

    def draw(self, count: int, generator: np.random.Generator) -> np.ndarray:
        """`count` draws, shape (count,)."""
        span = self.high - self.low
        if span == 0:
            return np.full(count, float(self.low))
        share = (self.best - self.low) / span
        return self.low + span * generator.beta(1 + 4 * share, 5 - 4 * share, count)


@dataclass(frozen=True)
class Quantiles:
    """The 5th, 50th and 95th percentile of an uncertain result."""

    p5: float
    p50: float
    p95: float


def draws(count: int, **inputs: Any) -> dict[str, Any]:
    """Arrays of draws for every `Range` among the inputs; other values pass through.

    The draws of an input depend on its name alone, so that adding an input changes no other one and
    a stored output is byte-stable.
    """
    return {
        name: (
            value.draw(count, np.random.default_rng(zlib.crc32(name.encode())))
            if isinstance(value, Range)
            else value
        )
        for name, value in inputs.items()
    }


def monte_carlo(formula: Callable, count: int = 10_000, **inputs: Any) -> Quantiles:
    """Percentiles of a formula over its uncertain inputs, in one broadcast call.

    >>> monte_carlo(lambda price, hours: price * hours, price=2.0, hours=10.0)
    Quantiles(p5=20.0, p50=20.0, p95=20.0)
    """
    result = np.broadcast_to(np.asarray(formula(**draws(count, **inputs)), dtype=float), (count,))
    p5, p50, p95 = np.percentile(result, (5, 50, 95))
    return Quantiles(float(p5), float(p50), float(p95))


@dataclass(frozen=True)
class Swing:
    """What one input does to the answer: the result at its low and at its high end, others at their
    best.
    """

    name: str
    low: Any
    high: Any
    result_at_low: Any
    result_at_high: Any

    @property
    def size(self) -> Any:
        """Distance between the two results."""
        return abs(self.result_at_high - self.result_at_low)


@dataclass(frozen=True)
class Ends:
    """The ends between which an input of a quantity moves, all numbers or quantities.

    parameter : the input, as a quantity that was given
    """

    parameter: Quantity
    low: Any
    high: Any


def moved(result: Quantity, ends: Mapping[str, Ends]) -> list[Swing]:
    """Swings of a quantity at its case, largest first: evaluated anew with each input at its ends.

    >>> from scaleright.quantity import given
    >>> a, b = given("a", 1.0), given("b", 1.0)
    >>> [(s.name, s.result_at_high) for s in moved(a + 10 * b, {"a": Ends(a, 0, 2),
    ...     "b": Ends(b, 0, 2)})]
    [('b', 21.0), ('a', 12.0)]
    """
    middles = [end.parameter.value for end in ends.values()]
    values = np.array([middles] * (2 * len(ends)), dtype=object)
    for place, end in enumerate(ends.values()):
        values[2 * place : 2 * place + 2, place] = value_of(end.low), value_of(end.high)
    names = [parameter(end.parameter) or "" for end in ends.values()]
    case = {name: np.array(of.tolist()) for name, of in zip(names, values.T, strict=True)}
    found = np.broadcast_to(evaluate([result], case)[0], len(values)).reshape(-1, 2).tolist()
    swings = (
        Swing(name, end.low, end.high, *results)
        for (name, end), results in zip(ends.items(), found, strict=True)
    )
    return sorted(swings, key=lambda swing: (-figure(swing.size), swing.name))


def interval(formula: Callable, **inputs: tuple[Any, Any, Any]) -> tuple[Any, Any]:
    """Low and high end of a positive result whose inputs are (low, best, high), as a closed form.

    First-order propagation on a ratio scale: each input is moved to its ends alone, and the ratios
    of the result to its best are combined in quadrature, upward and downward apart. Ends that are
    5th and 95th percentiles give about those of the result; `monte_carlo` is the check. Takes
    floats, arrays and quantities, so that a range on a page follows the reader's controls.

    Source: [jcgm2008, section 5.1.2], applied to logarithms.

    >>> low, high = interval(lambda price, hours: price * hours, price=(1.0, 2.0, 4.0),
    ...     hours=(10.0, 10.0, 10.0))
    >>> round(low, 9), round(high, 9)
    (10.0, 40.0)
    """
    best = {name: middle for name, (_, middle, _) in inputs.items()}
    result = formula(**best)
    up, down = 0.0, 0.0
    for name, (low, _, high) in inputs.items():
        ratios = [log(formula(**best | {name: end}) / result) for end in (low, high)]
        up = up + maximum(maximum(*ratios), 0.0) ** 2
        down = down + minimum(minimum(*ratios), 0.0) ** 2
    return result * exp(-sqrt(down)), result * exp(sqrt(up))


def interval_of(result: Quantity, ends: Iterable[Ends]) -> tuple[Quantity, Quantity]:
    """`interval` of a quantity: low and high end of a positive one whose inputs move between their
    ends.

    >>> from scaleright.quantity import given
    >>> price, hours = given("price", 2.0), given("hours", 10.0)
    >>> low, high = interval_of(price * hours, [Ends(price, price / 2, 2 * price)])
    >>> round(low.value, 9), round(high.value, 9)
    (10.0, 40.0)
    """
    inputs = {parameter(end.parameter) or "": (end.low, end.parameter, end.high) for end in ends}
    return interval(lambda **there: at(result, **there), **inputs)


def signed_interval_of(result: Quantity, ends: Iterable[Ends]) -> tuple[Quantity, Quantity]:
    """The same of a quantity that may have either sign, such as a difference of costs: the moves
    themselves are combined in quadrature, upward and downward apart.

    >>> from scaleright.quantity import given
    >>> rent, own = given("rent", 3.0), given("own", 2.0)
    >>> low, high = signed_interval_of(rent - own, [Ends(rent, 0.0, 4.0), Ends(own, 2.0, 6.0)])
    >>> low.value, high.value
    (-4.0, 2.0)
    """
    up: Any = 0.0
    down: Any = 0.0
    for end in ends:
        name = parameter(end.parameter) or ""
        moves = [at(result, **{name: value}) - result for value in (end.low, end.high)]
        up = up + maximum(maximum(*moves), 0.0) ** 2
        down = down + minimum(minimum(*moves), 0.0) ** 2
    return result - sqrt(down), result + sqrt(up)
