"""Recomputations of what Clarifai says of the energy of inference: quantization, layer offloading,
and watts against dollars.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from __future__ import annotations

from scaleright.catalog import accelerator, model, table
from scaleright.claims.errors import of_ratio, widened
from scaleright.claims.verdicts import Condition, Recomputed, span
from scaleright.inference.deployment import Deployment
from scaleright.inference.memory import serving_memory
from scaleright.inference.phases import step_seconds
from scaleright.inference.power import interval, step_joules
from scaleright.market import cost_factor, electricity_price, hour
from scaleright.power import draw

CHIP, LARGE, LINKED = "H100 SXM", "Llama-3.1-70B", "H100 PCIe"
"""The chip, a model that takes two of them in 16 bits, and the card whose link to its host is PCIe
of the same generation.
"""
FEW, MANY = 16, 64
"""Most sequences at once that count as few, and fewest that count as many."""
SAME = [
    "model",
    "accelerator",
    "accelerators",
    "task",
    "max_sequences",
    "tensor_parallel",
    "expert_parallel",
    "data_parallel",
]


def s2_quantized_energy() -> Recomputed:
    """Measured energy of a token with FP8 weights over that with BF16, all else the same [%]."""
    runs = table("measured/energy")
    formats = (
        runs.loc[runs["precision"] == name, [*SAME, "measured_joules_per_token"]]
        for name in ("BF16", "FP8")
    )
    plain, low = (one.set_index(SAME)["measured_joules_per_token"] for one in formats)
    ratio = (100 * low / plain).dropna()
    sequences = ratio.index.get_level_values("max_sequences")
    many = ratio[sequences >= MANY]
    return span(*ratio, Condition(f"{MANY} sequences at once or more", many.min(), many.max()))


def s2_offload_energy() -> Recomputed:
    """Energy of a token on one chip that reads the layers that it cannot hold from its host, over
    that on two that hold them all [%].
    """
    alone, pair = (Deployment(model(LARGE), accelerator(CHIP), tensor=chips) for chips in (1, 2))
    ratios = []
    for batch in (1, FEW, MANY):
        missing = serving_memory(
            alone, batch, 1000
        ).total - alone.memory_share * alone.chip.require("memory_bytes")
        times = (
            missing / accelerator(LINKED).require("scale_up_bytes_per_s"),
            step_seconds(pair, batch, 1000).total,
        )
        ratios.append(
            100
            * step_joules(alone, times[0], batch, 1000).total
            / step_joules(pair, times[1], batch, 1000).total
        )
    return span(*widened(ratios, of_ratio(interval(alone), interval(pair))))


def s2_watts_matter() -> Recomputed:
    """Electricity's part of what an hour of a busy rented chip costs, host and building included
    [%].
    """
    kilowatts = draw(CHIP, "serving").busy_watts / 1000
    usd, rent = electricity_price("United States"), hour(CHIP)
    ends = ((usd.low, "low", rent.high), (usd.high, "high", rent.low))
    return span(
        *(
            100 * kilowatts * getattr(cost_factor("pue", "data center"), end) * price / hour
            for price, end, hour in ends
        )
    )
