"""How fast closed formulas are, as ratios: a broadcast call against one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scaleright import catalog, collectives, roofline, transformer
from scaleright.costs import tokens
from scaleright.costs.ownership import Ownership, setting_factors

from benchmarks.timing import line, quick, seconds

Scenario = Callable[[int | slice], object]
"""A formula at one of the drawn inputs, or at all of them."""
SHARES = {"busy_watts": 0.7, "idle_watts": 0.3, "most_watts": 1.0}
"""What a chip draws at work and vacant, over the limit of its server."""


def owning(draw: Callable[..., np.ndarray]) -> Scenario:
    """Break-even and a year by parts of buying instead of renting."""
    price, watts, kwh, age = draw(500, 40_000), draw(200, 1400), draw(0.05, 0.4), draw(0, 8)
    hours, rent, factors = draw(0, 24), draw(0.1, 10), setting_factors("data center")

    def scenario(i: int | slice) -> object:
        drawn = {name: share * watts[i] for name, share in SHARES.items()}
        terms = Ownership.build(price[i], drawn, age[i], kwh[i], factors)
        return terms.break_even_hours_per_day(rent[i]), terms.owned_usd_per_year(hours[i]).total

    return scenario


def token_cost(draw: Callable[..., np.ndarray]) -> Scenario:
    """A million tokens rented and owned, and the load at which an API costs the same."""
    price, kwh, rent = draw(500, 40_000), draw(0.05, 0.4), draw(0.1, 10)
    speed, load, api = draw(100, 20_000), draw(0.05, 1), draw(0.05, 5)

    def scenario(i: int | slice) -> object:
        owned = tokens.owned_usd_per_million_tokens(
            price[i], speed[i], load[i], 1200.0, 300.0, 1.2, kwh[i]
        )
        return (
            tokens.usd_per_million_tokens(rent[i], speed[i], load[i]),
            tokens.break_even_utilization(rent[i], speed[i], api[i]),
            owned.total,
        )

    return scenario


def forward_flop(draw: Callable[..., np.ndarray]) -> Scenario:
    """Arithmetic of a token of DeepSeek-V3 by its context."""
    shape, context = catalog.model("DeepSeek-V3"), draw(1, 131_072)
    return lambda i: transformer.forward_flop(shape, context[i]).total


def product(draw: Callable[..., np.ndarray]) -> Scenario:
    """Time of a matrix product by its shape."""
    found = roofline.speeds(catalog.accelerator("H100"))
    rows, width = draw(1, 32_768), draw(64, 16_384)
    speed = (found.matmul_flops, found.memory_bytes_per_s)
    return lambda i: roofline.matmul_seconds(rows[i], width[i], 8192, *speed, units=found.units)


def all_reduce(draw: Callable[..., np.ndarray]) -> Scenario:
    """Time of an all-reduce by payload and group."""
    links = collectives.network(catalog.accelerator("H100")).terms
    payload, group = draw(1e3, 1e9), 2.0 ** draw(1, 13).round()
    return lambda i: collectives.all_reduce_seconds(payload[i], group[i], 8, **links)


SCENARIOS = {
    "buy_or_rent: break-even and a year by parts": owning,
    "token_cost: rented, owned, break-even": token_cost,
    "transformer: forward FLOP by context": forward_flop,
    "roofline: a matrix product by shape": product,
    "collectives: an all-reduce by payload and group": all_reduce,
}


def ratios(count: int, loop: int) -> Iterator[tuple[str, float, float]]:
    """Name, seconds of a million scenarios in one call, and times faster than a loop."""
    generator = np.random.default_rng(0)
    for name, make in SCENARIOS.items():
        scenario = make(lambda low, high: generator.uniform(low, high, count))
        together = seconds(lambda of=scenario: of(slice(None))) / count
        apart = seconds(lambda of=scenario: [of(i) for i in range(loop)]) / loop
        yield name, together * 1e6, apart / together


def main(arguments: list[str] | None = None) -> None:
    """Measure every formula."""
    small = quick(__doc__, arguments)
    for name, million, times in ratios(*((1_000, 3) if small else (1_000_000, 1_000))):
        line(name, f"{million:.3f} s a million", times)
    models = list(catalog.models().values())[: 5 if small else None]
    table = seconds(lambda: transformer.counts(models))
    loop = seconds(lambda: [transformer.parameters(model).total for model in models])
    line(f"transformer: parameters of {len(models)} models", f"{table:.4f} s", loop / table)


if __name__ == "__main__":
    main()
