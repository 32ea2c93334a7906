"""What owning and running hardware takes, from the tables: power, facility, people, and how fast a
chip computes.
"""

from scaleright.catalog import accelerators, best_matmul, shared, table
from scaleright.names import one_of
from scaleright.ranges import Range


def matmul_chips() -> dict[str, dict[str, float]]:
    """Chips with a BF16 peak, a bandwidth and a memory: what the roofline of a token can be drawn
    for.

    Keys: bf16_flops, fp8_flops (that of BF16 where the chip has no FP8) [FLOP/s],
    memory_bytes_per_s [B/s], memory_bytes [B], compute_efficiency (the best matrix product in BF16
    over the peak, see `catalog.best_matmul`) [1].

    >>> matmul_chips()["A100 SXM 80GB"]["fp8_flops"] == matmul_chips()["A100 SXM 80GB"][
    ...     "bf16_flops"]
    True
    """
    return {
        chip.name: {
            "bf16_flops": chip.dense["bf16"],
            "fp8_flops": chip.dense.get("fp8", chip.dense["bf16"]),
            "memory_bytes_per_s": chip.memory_bytes_per_s,
            "memory_bytes": chip.memory_bytes,
            "compute_efficiency": best_matmul(chip, "bf16")[0] / chip.dense["bf16"],
        }
        for chip in accelerators().values()
        if "bf16" in chip.dense and chip.memory_bytes_per_s and chip.memory_bytes
    }


@shared
def _ranges(
    name: str, keys: tuple[str, str], ends: tuple[str, str, str]
) -> dict[str, dict[str, Range]]:
    """Lowest, typical and highest figure of each row of a table, by the row's first and second
    key.
    """
    found: dict[str, dict[str, Range]] = {}
    for first, second, *figures in table(name)[[*keys, *ends]].itertuples(index=False):
        found.setdefault(first, {})[second] = Range(*figures)
    return found


def _range(
    name: str, keys: tuple[str, str], ends: tuple[str, str, str], first: str, second: str
) -> Range:
    """The range in the row of a table that has these keys; nearest names for one it lacks."""
    found = _ranges(name, keys, ends)
    of_first = found[one_of(first, found, keys[0])]
    return of_first[one_of(second, of_first, f"{keys[1]} of {first}")]


def electricity_price(region: str, sector: str = "industrial") -> Range:
    """Electricity price of a region and sector as a range [USD/kWh].

    Raises
    ------
    LookupError : unknown region, or a sector that the region lacks; the nearest names are offered.

    >>> electricity_price("United States").best < electricity_price("United States",
    ...     "residential").best
    True
    """
    ends = ("low_usd_per_kwh", "typical_usd_per_kwh", "high_usd_per_kwh")
    return _range("electricity_prices", ("region", "sector"), ends, region, sector)


def cost_factor(factor: str, setting: str) -> Range:
    """A cost factor of owning hardware in a setting (home, colocation, data center) as a range, in
    its row's unit.

    Raises
    ------
    LookupError : unknown factor, or a setting that has none of its own; the nearest names are
        offered.

    >>> cost_factor("pue", "data center").low >= 1
    True
    """
    return _range(
        "cost_factors", ("factor", "setting"), ("low", "typical", "high"), factor, setting
    )
