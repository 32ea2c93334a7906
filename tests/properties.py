"""What the properties of serving and of training are tried with."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

NEVER = 1 + 1e-9
"""Rounding of sums in another order."""


def powers(most: int) -> st.SearchStrategy[int]:
    """Powers of two up to 2^most."""
    return st.integers(0, most).map(lambda exponent: 2**exponent)


def faster(speeds: Any, arithmetic: float, bandwidth: float) -> Any:
    """Measured peaks of a chip with faster units or memory."""
    return replace(
        speeds,
        matmul_flops=speeds.matmul_flops * arithmetic,
        exponentials_per_s=speeds.exponentials_per_s * arithmetic,
        memory_bytes_per_s=speeds.memory_bytes_per_s * bandwidth,
    )


def linked(links: dict[str, float], network: float) -> dict[str, float]:
    """Links of a chip with more bandwidth; their latencies stay."""
    return {
        name: value * (network if name.endswith("bytes_per_s") else 1.0)
        for name, value in links.items()
    }
