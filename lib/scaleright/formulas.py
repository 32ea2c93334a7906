"""Registration of the library's formulas: what each accepts, and that it compiles.

Every public function of the physics, systems and money layers is of one of these kinds:

- `closed_form`: ordinary arithmetic, polymorphic over floats, arrays and quantities. Its
  arguments carry the domain in which the formula means something; a number outside is refused
  before any work.
- `counting`: exact integers counted from a shape (a dataclass whose fields may be arrays); no
  domain of its own.
- `search` and `simulation`: cannot be a closed expression; charts precompute them on a grid.
- `lookup`: figures read from the catalog.

The parity test walks `REGISTRY`, evaluates each closed form both ways on random points of its
domains, and fails on a public function that is of none of these kinds.
"""

import functools
import inspect
import operator
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from scaleright.quantity import Quantity
from scaleright.quantity.told import in_unit, unit_of

REGISTRY: dict[str, "Formula"] = {}


@dataclass(frozen=True)
class Domain:
    """Values an argument may take, and the span from which the parity test draws.

    low, high : bounds; `low` itself is allowed unless `open_low`.
    sample : (low, high) of the values that tests draw, log-uniformly where both are positive.
    """

    low: float
    high: float
    sample: tuple[float, float]
    open_low: bool = False

    def __str__(self) -> str:
        if self.high == float("inf"):
            return "above 0" if self.open_low else f"{self.low:g} or more"
        return f"{'above ' if self.open_low else ''}{self.low:g} to {self.high:g}"

    def check(self, function: str, name: str, value: Any) -> None:
        """Raise ValueError naming the function, the argument, the value, what is allowed and a
        likely slip.
        """
        if type(value) in (int, float) and self.low < value <= self.high:
            return
        if isinstance(value, Quantity):
            if value.value != value.value:  # there is none, and whoever shows it says why
                return
            value = value.value
        if value is None:
            return
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise TypeError(
                f"{function}: {name} = {value!r} is not a number; allowed: {self}"
            ) from None
        low_ok = array > self.low if self.open_low else array >= self.low
        good = low_ok & (array <= self.high)
        if good.all():
            return
        worst = float(array[~good].flat[0])
        hint = (
            f"; did you mean {worst / 100:g} ({worst:g} %)?"
            if self.high == 1.0 and 1 < worst <= 100
            else ""
        )
        raise ValueError(
            f"{function}: {name} = {worst:g} is outside its domain, allowed: {self}{hint}"
        )


POSITIVE = Domain(0.0, float("inf"), (1e-2, 1e3), open_low=True)
NON_NEGATIVE = Domain(0.0, float("inf"), (1e-2, 1e3))
FRACTION = Domain(0.0, 1.0, (0.01, 1.0), open_low=True)
SHARE = Domain(0.0, 1.0, (0.0, 1.0))
COUNT = Domain(1.0, float("inf"), (1.0, 1e4))
FLAG = Domain(0.0, 1.0, (0.0, 1.0))
HOURS_A_DAY = Domain(0.0, 24.0, (0.1, 24.0))
REAL = Domain(float("-inf"), float("inf"), (-1e3, 1e3))


@dataclass(frozen=True)
class Formula:
    """A registered function: its qualified name, kind and the domain of each argument."""

    name: str
    kind: str
    function: Callable
    domains: dict[str, Domain]


def _register(function: Callable, kind: str, domains: dict[str, Domain] | None = None) -> Callable:
    name = f"{function.__module__.removeprefix('scaleright.')}.{function.__name__}"
    REGISTRY[name] = Formula(name, kind, function, domains or {})
    return function


def closed_form(**domains: Domain) -> Callable[[Callable], Callable]:
    """Register a polymorphic formula and check its numeric arguments against their domains.

    Raises
    ------
    TypeError : an argument without a domain, a domain without an argument; in a call, a value that
        is no number.
    ValueError : a default, or in a call a value, outside its domain.

    >>> @closed_form(price=POSITIVE, load=FRACTION)
    ... def price_at(price, load):
    ...     return price / load
    >>> price_at(2.0, 0.5)
    4.0
    >>> price_at(2.0, 40)
    Traceback (most recent call last):
    ValueError: price_at: load = 40 is outside its domain, allowed: above 0 to 1; did you mean 0.4
    (40 %)?
    >>> _ = REGISTRY.pop(next(name for name in REGISTRY if name.endswith("price_at")))
    """

    def decorate(function: Callable) -> Callable:
        arguments = inspect.signature(function).parameters
        if set(domains) != set(arguments):
            raise TypeError(
                f"{function.__name__}: domains given for {sorted(domains)}, arguments are"
                f" {sorted(arguments)}"
            )

        def check(given: dict[str, Any]) -> None:
            for name, value in given.items():
                if name in domains:  # the function itself refuses an unknown argument
                    domains[name].check(function.__name__, name, value)

        unit = unit_of(function.__name__)

        @functools.wraps(function)
        def checked(*args, **kwargs):
            check(dict(zip(arguments, args, strict=False)) | kwargs)
            return in_unit(function(*args, **kwargs), unit)

        check(
            {
                name: argument.default
                for name, argument in arguments.items()
                if argument.default is not argument.empty
            }
        )
        return _register(checked, "closed form", domains)

    return decorate


def unchecked(formula: Any) -> Callable:
    """A closed form without its checks, for inner loops whose arguments have been checked before.

    >>> @closed_form(load=FRACTION)
    ... def half(load):
    ...     return load / 2
    >>> unchecked(half)(40)
    20.0
    >>> _ = REGISTRY.pop(next(name for name in REGISTRY if name.endswith("half")))
    """
    return formula.__wrapped__


counting = functools.partial(_register, kind="counting")
"""Register a function that counts from a shape; checked against published counts, not drawn at
random.
"""
search = functools.partial(_register, kind="search")
"""Register a function that looks for something (a layout, a root) and so has no closed expression.
"""
simulation = functools.partial(_register, kind="simulation")
"""Register a function that draws random numbers or steps through time."""
lookup = functools.partial(_register, kind="lookup")
"""Register a function that reads figures from the catalog and computes nothing."""


@dataclass(frozen=True)
class Breakdown:
    """Base of results whose named parts, all in one unit, add up to the total.

    >>> @dataclass(frozen=True)
    ... class Bill(Breakdown):
    ...     chips_usd: float
    ...     power_usd: float
    >>> Bill(3.0, 1.0).total, Bill(3.0, 1.0).parts()
    (4.0, {'chips_usd': 3.0, 'power_usd': 1.0})
    """

    def parts(self) -> dict[str, Any]:
        """The named parts in the order in which they are declared."""
        return {name: getattr(self, name) for name in _names(type(self))}

    def at(self, place: int) -> Self:
        """One of many: the parts at a place of their arrays."""
        return type(self)(
            **{
                name: float(part[place]) if np.ndim(part) else part
                for name, part in self.parts().items()
            }
        )

    def labeled(self) -> dict[str, Any]:
        """The parts by the words for them: names without their unit, for charts and tables."""
        return {
            name.rsplit("_", 1)[0].replace("_", " "): value for name, value in self.parts().items()
        }

    @property
    def total(self):
        """The sum of the parts: a float, an array or a quantity as they are."""
        parts = self.parts().values()
        unit = next((part.unit for part in parts if hasattr(part, "unit")), "")
        return in_unit(functools.reduce(operator.add, parts), unit)


@functools.cache
def _names(breakdown: type) -> tuple[str, ...]:
    """The names of a class's fields."""
    return tuple(field.name for field in fields(breakdown))
