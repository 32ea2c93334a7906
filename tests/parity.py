"""Evaluate a registered closed form three ways: floats, arrays, and quantities as Vega computes
them.
"""

import numpy as np
from scaleright.charts.expressions import settled
from scaleright.formulas import Breakdown, Domain, Formula
from scaleright.quantity import given
from scaleright.quantity.readings import compiled
from scaleright.units import figure
from vega import signals


def sample(domain: Domain, count: int, generator: np.random.Generator) -> np.ndarray:
    """Points of a domain, with the digits of inputs on a page: log-uniform where both ends are
    positive, and the ends themselves.
    """
    low, high = domain.sample
    if 0 < low < high:
        points = np.exp(generator.uniform(np.log(low), np.log(high), count))
    else:
        points = generator.uniform(low, high, count)
    points[:2] = low, high
    return generator.permutation([figure(point) for point in points])


def named_parts(result) -> dict[str, object]:
    """A result as named values: a breakdown's parts and total, or the value itself."""
    return (
        result.parts() | {"total": result.total}
        if isinstance(result, Breakdown)
        else {"value": result}
    )


def vega_values(formula: Formula, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The formula as signals of a page, which Vega computes at every row of the inputs."""
    of = {name: given(f"given_{name}", float(values[0])) for name, values in inputs.items()}
    parts = named_parts(formula.function(**of))
    told = {name: settled(text) for name, text in compiled(parts).signals.items()}
    rows = zip(*(values.tolist() for values in inputs.values()), strict=True)
    cases = [{f"given_{name}": x for name, x in zip(inputs, row, strict=True)} for row in rows]
    return dict(zip(parts, np.array(signals(cases, told, [*parts])).T, strict=True))


def largest_difference(formula: Formula, count: int, seed: int) -> float:
    """The largest relative difference between floats, arrays and Vega over random points of the
    domains.
    """
    generator = np.random.default_rng(seed)
    inputs = {name: sample(domain, count, generator) for name, domain in formula.domains.items()}
    scalars = [
        named_parts(formula.function(**{name: float(v[i]) for name, v in inputs.items()}))
        for i in range(count)
    ]
    arrays, vega, worst = named_parts(formula.function(**inputs)), vega_values(formula, inputs), 0.0
    for name, array in arrays.items():
        expected = np.array([float(row[name]) for row in scalars])
        for other in (np.broadcast_to(array, (count,)), vega[name]):
            both_infinite = np.isinf(expected) & (expected == other)
            scale = np.maximum(np.abs(np.where(both_infinite, 1.0, expected)), 1e-300)
            gap = np.where(
                both_infinite,
                0.0,
                np.abs(np.where(both_infinite, 1.0, other) - np.where(both_infinite, 1.0, expected))
                / scale,
            )
            worst = max(
                worst, float(np.where((expected == 0) & (np.abs(other) < 1e-12), 0.0, gap).max())
            )
    return worst
