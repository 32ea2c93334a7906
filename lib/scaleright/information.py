"""How sure a choice between two costs is, what it costs in expectation if it is wrong, and what it
is worth to find out more.

The costs follow from inputs of which some are known between two ends only. To first order the
logarithm of their ratio is then normal: its standard deviation is that of the inputs' shares in
quadrature, as `ranges.interval` combines them. What the reader has set, or may choose, has no
spread and belongs in no `Ends`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from scaleright.formulas import Domain, closed_form
from scaleright.ops import (
    INFINITY,
    exp,
    log,
    maximum,
    minimum,
    normal_cdf,
    normal_density,
    sqrt,
    where,
)
from scaleright.quantity import Quantity, at
from scaleright.quantity.graph import in_order, parameter
from scaleright.ranges import Ends

NINETY = 1.6448536269514722
"""Standard deviations from the middle of a normal distribution to its 95th percentile."""
CERTAIN = 4.0
"""Standard deviations beyond which nothing is in doubt (1 in 30,000): further out a page's normal
distribution has fewer digits than the library's.
"""
_COST = Domain(0.0, INFINITY, (0.5, 2.0), open_low=True)
_AHEAD = Domain(0.0, INFINITY, (0.1, 3.0))
_SPREAD = Domain(0.0, INFINITY, (0.1, 1.0))


def _below(deviations: Any) -> Any:
    """Probability of less than so many standard deviations above the middle [1]."""
    return normal_cdf(minimum(maximum(deviations, -CERTAIN), CERTAIN))


@closed_form(cost=_COST, other=_COST, spread=_SPREAD)
def probability_cheaper(cost, other, spread):
    """Probability that a way is the cheaper of two [1].

    Parameters
    ----------
    cost, other : of this way and of the other, at the best estimate of all inputs, in one unit
    spread : standard deviation of the logarithm of their ratio [1]

    >>> round(probability_cheaper(1.0, 2.0, 0.5), 3), probability_cheaper(1.0, 2.0, 0.0)
    (0.917, 1.0)
    """
    ahead = log(other / cost)
    known = where(ahead > 0, 1.0, where(ahead < 0, 0.0, 0.5 + 0 * ahead))
    return where(spread > 0, _below(ahead / where(spread > 0, spread, 1.0)), known + 0 * spread)


@closed_form(cost=_COST, other=_COST, spread=_SPREAD)
def expected_loss(cost, other, spread):
    """What taking the way that seems cheaper costs in expectation above the cheaper one, in the
    unit of the costs; so much it is worth to know what the spread comes from.

    It is the value of an option to exchange one asset for another
    [margrabe1978, equation 7]; that it is also what perfect knowledge is worth is in
    [raiffa1961, section 4.5].

    Parameters
    ----------
    cost, other : of both ways, as in `probability_cheaper`
    spread : standard deviation of the logarithm of their ratio that somebody could resolve [1]

    >>> expected_loss(1.0, 2.0, 0.0), round(expected_loss(1.0, 1.0, 0.5), 3)
    (0.0, 0.197)
    """
    taken, left = minimum(cost, other), maximum(cost, other)
    some = where(spread > 0, spread, 1.0)
    ahead = log(taken / left) / some
    loss = taken * _below(ahead + some / 2) - left * _below(ahead - some / 2)
    return where(spread > 0, maximum(loss, 0.0), 0 * abs(ahead + spread))


@closed_form(ahead=_AHEAD, spread=_SPREAD)
def probability_ahead(ahead, spread):
    """Probability that a way that seems better by a difference is better [1].

    Parameters
    ----------
    ahead : by how much it seems better
    spread : standard deviation of the difference, in the same unit

    >>> round(probability_ahead(1.0, 1.0), 3), probability_ahead(1.0, 0.0)
    (0.841, 1.0)
    """
    known = where(ahead > 0, 1.0, 0.5 + 0 * ahead)
    return where(spread > 0, _below(ahead / where(spread > 0, spread, 1.0)), known + 0 * spread)


@closed_form(ahead=_AHEAD, spread=_SPREAD)
def expected_shortfall(ahead, spread):
    """How much worse than the better one the way is expected to be that seems better by a
    difference, in its unit; arguments as in `probability_ahead`.

    It is the unit normal loss, what perfect knowledge is worth of a difference that is normal
    [raiffa1961, section 5.4].

    >>> round(expected_shortfall(0.0, 1.0), 3), expected_shortfall(1.0, 0.0)
    (0.399, 0.0)
    """
    some = where(spread > 0, spread, 1.0)
    far = minimum(ahead / some, CERTAIN)
    lost = normal_density(far) - far * normal_cdf(-far)
    return where(spread > 0, some * maximum(lost, 0.0), 0 * abs(ahead + spread))


def spread_between(low: Any, high: Any) -> Any:
    """Standard deviation of the logarithm of what lies between these ends in nine of ten cases [1].

    >>> round(spread_between(0.8, 1.25), 3)
    0.136
    """
    return log(high / low) / (2 * NINETY)


@dataclass(frozen=True)
class Choice:
    """A choice between two ways by their costs.

    cost, other : of a way and of the other, at the best estimate of all inputs, in one unit
    spreads : of each input that nobody knows, the standard deviation that it gives the logarithm of
        their ratio [1]
    """

    cost: Any
    other: Any
    spreads: Mapping[str, Any]

    @classmethod
    def of(cls, cost: Any, other: Any, ends: Mapping[str, Ends], **best: Any) -> Self:
        """The choice between two costs, of which one at least is a quantity, whose inputs move
        between their ends (5th and 95th percentiles), each alone.

        best : inputs that no control gives, at their best estimates

        >>> from scaleright.quantity import given
        >>> rent, api = given("rent", 2.0), given("api", 3.0)
        >>> choice = Choice.of(rent * 1.0, api * 1.0, {"rent": Ends(rent, 1.0, 4.0)})
        >>> round(choice.spreads["rent"].value, 2), round(choice.probability.value, 2)
        (0.42, 0.83)
        """
        ratio = log(cost / other)

        def spread(end: Ends) -> Any:
            name = parameter(end.parameter) or ""
            low, high = (at(ratio, **best | {name: value}) for value in (end.low, end.high))
            return abs(high - low) / (2 * NINETY)

        def settled(of: Any) -> Any:
            if not isinstance(of, Quantity):
                return of
            read = {parameter(node) for node in in_order([of])}
            return at(of, **{name: value for name, value in best.items() if name in read})

        spreads = {name: spread(end) for name, end in ends.items()}
        return cls(settled(cost), settled(other), spreads)

    @property
    def spread(self) -> Any:
        """Standard deviation of the logarithm of the ratio of the costs [1]."""
        return sqrt(sum(of**2 for of in self.spreads.values()))

    @property
    def probability(self) -> Any:
        """That the first way is the cheaper one [1]."""
        return probability_cheaper(self.cost, self.other, self.spread)

    @property
    def saved_between(self) -> tuple[Any, Any]:
        """Low and high end of the share of the other's cost that the first way saves (90 %) [1];
        below zero it costs more.
        """
        ratio, off = self.cost / self.other, exp(NINETY * self.spread)
        return 1 - ratio * off, 1 - ratio / off

    @property
    def sureness(self) -> Any:
        """Probability that the way that seems cheaper is so [1]."""
        return maximum(self.probability, 1 - self.probability)

    @property
    def expected_loss(self) -> Any:
        """What taking the way that seems cheaper costs in expectation, see `expected_loss`."""
        return expected_loss(self.cost, self.other, self.spread)

    def worth(self) -> dict[str, Any]:
        """What knowing each input alone would save in expectation, in the unit of the costs."""
        return {
            name: expected_loss(self.cost, self.other, spread)
            for name, spread in self.spreads.items()
        }
