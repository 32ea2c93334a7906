"""How fast one kind of chip trains a model, and in which groups, by its arithmetic and what
published runs took over it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scaleright.architecture import Transformer
from scaleright.catalog import fact, shared
from scaleright.costs.sizing import group_size
from scaleright.decisions.hardware_candidates import candidate_rows
from scaleright.ops import minimum, where
from scaleright.transformer import (
    forward_flop,
    parameters,
    training_flop_per_token,
    weight_bytes,
)

TRAINING_BYTES = 16.0
"""Bytes of training state a parameter: BF16 weight and gradient, FP32 master weight and two Adam
moments [zero2020, section 3.1].
"""
MEMORY_SHARE = 0.9
"""Share of a chip's memory that training state may take; activations are computed anew."""
SERVER, FABRIC = 8.0, 100e9
"""Chips that a server of a cluster joins, and their least bandwidth to each other, one way [B/s]: a
pair of cards with a bridge is no building block of one.
"""


@shared
def slowdowns() -> dict[str, Any]:
    """The time of a training step over the floor of its arithmetic: low, middle and high end of
    published runs, and what that is, in words (judged).

    >>> found = slowdowns()
    >>> found["low"] < found["middle"] < found["high"]
    True
    """
    chips = candidate_rows()
    matmul = chips["H100 SXM"]["compute_efficiency"]
    a100 = chips["A100 SXM 80GB"]["compute_efficiency"] / fact("gpt3_size_mfu_a100")
    llama = (matmul / fact(f"llama3_405b_mfu_h100{end}") for end in ("", "_low"))
    low, middle, high = a100, *llama
    judged = (
        f"published runs took {low:.1f} to {high:.1f} times the floor of their arithmetic; the"
        " middle is counted in"
    )
    return {"low": low, "middle": middle, "high": high, "judged": judged}


@dataclass(frozen=True)
class TrainingSpeed:
    """A model's training on one kind of chip.

    tokens_per_s : trained on by one chip [token/s]
    group : chips that hold one copy of the training state [1]
    runs : whether servers of it make a cluster for such groups [truth value]
    low, high : bounds of published over counted speed [1]
    """

    tokens_per_s: Any
    group: Any
    runs: Any
    low: Any
    high: Any


def training_speed(
    t: Transformer, chip: Mapping[str, Any], sequence: Any, fp8: Any
) -> TrainingSpeed:
    """A model's training on a kind of chip; numbers, arrays or quantities.

    Parameters
    ----------
    t : the model
    chip : bf16_flops, fp8_flops, compute_efficiency, memory_bytes, see `market.matmul_chips`;
        scale_up_bytes_per_s and joined, see `hardware_candidates.candidates`
    sequence : tokens of a sequence [token]
    fp8 : whether matrix products run in FP8 where the chip has it

    >>> tiny = Transformer("tiny", 2, 64, 4, 2, 16, 256, True, 1000, True)
    >>> training_speed(tiny, candidate_rows()["H100 SXM"], 100, False).group
    1.0
    """
    slow = slowdowns()
    flops = where(fp8, chip["fp8_flops"], chip["bf16_flops"]) * chip["compute_efficiency"]
    flop = training_flop_per_token(forward_flop(t, sequence).total)
    state = weight_bytes(parameters(t).total, TRAINING_BYTES)
    group = group_size(state, chip["memory_bytes"] * MEMORY_SHARE)
    server = where(chip["scale_up_bytes_per_s"] < FABRIC, 1.0, minimum(chip["joined"], SERVER))
    return TrainingSpeed(
        tokens_per_s=flops / (slow["middle"] * flop),
        group=group,
        runs=minimum(group, SERVER) <= server,
        low=slow["middle"] / slow["high"],
        high=slow["middle"] / slow["low"],
    )
