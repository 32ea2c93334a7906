"""How fast the library is, as ratios: run by hand with `make bench`; never part of the tests.

Each line compares a broadcast call with the same work done one scenario at a time, so that the
figure means the same on every machine; seconds are printed beside it for the machine at hand.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scaleright import catalog, collectives, roofline, transformer
from scaleright.costs import tokens
from scaleright.costs.ownership import Ownership, setting_factors

SCENARIOS, LOOP = 1_000_000, 1_000


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The least time of a few runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def compare(name: str, broadcast: Callable[[], object], one: Callable[[int], object]) -> None:
    """Print the seconds of a million scenarios in one call, and how many times faster that is than
    a loop.
    """
    together = seconds(broadcast)
    apart = seconds(lambda: [one(i) for i in range(LOOP)]) * SCENARIOS / LOOP
    print(f"{name:<44} {together:7.3f} s a million   {apart / together:6.0f} x a loop")


def main() -> None:
    """Run every benchmark."""
    draw = np.random.default_rng(0).uniform
    price, kwh, years = (
        draw(500, 40_000, SCENARIOS),
        draw(0.05, 0.4, SCENARIOS),
        draw(1, 6, SCENARIOS),
    )
    hours, rent, factors = (
        draw(0, 24, SCENARIOS),
        draw(0.1, 10, SCENARIOS),
        setting_factors("data center"),
    )

    def buy_or_rent(i):
        terms = Ownership.build(price[i], 700.0, kwh[i], factors, years[i])
        return terms.break_even_hours_per_day(rent[i]), terms.owned_usd_per_year(hours[i]).total

    compare(
        "buy_or_rent: break-even and a year by parts", lambda: buy_or_rent(slice(None)), buy_or_rent
    )

    speed, load, api = (
        draw(100, 20_000, SCENARIOS),
        draw(0.05, 1, SCENARIOS),
        draw(0.05, 5, SCENARIOS),
    )

    def token_cost(i):
        return (
            tokens.usd_per_million_tokens(rent[i], speed[i], load[i]),
            tokens.break_even_utilization(rent[i], speed[i], api[i]),
            tokens.owned_usd_per_million_tokens(
                price[i], speed[i], load[i], 1200.0, 300.0, 1.2, kwh[i]
            ).total,
        )

    compare("token_cost: rented, owned, break-even", lambda: token_cost(slice(None)), token_cost)

    shape, context = catalog.model("DeepSeek-V3"), draw(1, 131_072, SCENARIOS)
    compare(
        "forward FLOP of DeepSeek-V3 by context",
        lambda: transformer.forward_flop(shape, context).total,
        lambda i: transformer.forward_flop(shape, context[i]).total,
    )

    chip = catalog.accelerator("H100")
    found, links = roofline.speeds(chip), collectives.network(chip).terms
    rows, width = draw(1, 32_768, SCENARIOS), draw(64, 16_384, SCENARIOS)

    def product(i):
        return roofline.matmul_seconds(
            rows[i], width[i], 8192, found.matmul_flops, found.memory_bytes_per_s, units=found.units
        )

    compare("roofline: a matrix product by shape", lambda: product(slice(None)), product)

    payload, group = draw(1e3, 1e9, SCENARIOS), 2.0 ** draw(1, 13, SCENARIOS).round()

    def all_reduce(i):
        return collectives.all_reduce_seconds(payload[i], group[i], 8, **links)

    compare(
        "collectives: an all-reduce by payload and group",
        lambda: all_reduce(slice(None)),
        all_reduce,
    )

    models = list(catalog.models().values())
    table = seconds(lambda: transformer.counts(models))
    loop = seconds(lambda: [transformer.parameters(model).total for model in models])
    print(
        f"{f'parameters of all {len(models)} models':<44} {table:7.4f} s in one call  "
        f" {loop / table:6.1f} x a loop"
    )


if __name__ == "__main__":
    main()
