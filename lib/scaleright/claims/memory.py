"""Recomputations on memory of training: 16 GB per billion parameters, and what fits on which card.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from math import ceil

from scaleright import transformer
from scaleright.catalog import accelerator, model, models
from scaleright.claims.ledger import stated
from scaleright.claims.verdicts import Condition, Recomputed, point, span
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.memory import (
    FSDP_FUSED_LOSS,
    adapter_parameters,
    fewest_ranks,
    training_memory,
)

THIRTEEN, SEVENTY, LARGE = "LLaMA-13B", "Llama-3.1-70B", "GPT-3 175B"
H100, CARD = "H100 SXM", "RTX 3080 Ti"
SEQUENCE, RANKS, MANY = 2048, (1, 64, 128), 1024


def _memory(name: str, ranks: int, zero: int = 3, recompute: int = 2, task: str = "pretrain"):
    """What each of so many chips holds for one sequence of 2,048 tokens."""
    run = TrainingRun(model(name), accelerator(H100), ranks, SEQUENCE, ranks, task=task)
    return training_memory(
        run, Layout(data=ranks, zero=zero, recompute=recompute), software=FSDP_FUSED_LOSS
    )


def _size(name: str) -> float:
    return float(transformer.parameters(model(name)).total)


def _state(name: str) -> tuple[float, float]:
    """Bytes of gradients and optimizer on all chips together, and with the 16-bit weights that one
    chip alone keeps as well.
    """
    alone = _memory(name, 1, zero=0)
    shared = alone.gradients_bytes + alone.optimizer_bytes
    return shared, shared + alone.weights_bytes


def _largest(name: str, zero: int, ranks: int = MANY, task: str = "pretrain") -> float:
    """Parameters of the largest dense decoder of the catalog that so many chips of one kind can
    train.
    """
    room = accelerator(name).require("memory_bytes")
    dense = [key for key, shape in models(own=False).items() if shape.causal and not shape.experts]
    return max(_size(key) for key in dense if _memory(key, ranks, zero, task=task).total <= room)


def _fewest(name: str, recompute: int) -> float:
    return fewest_ranks(
        accelerator(H100).require("memory_bytes"),
        *(_memory(name, ranks, recompute=recompute).total for ranks in RANKS),
    )


def s2_one_card() -> Recomputed:
    room = accelerator(H100).require("memory_bytes")
    plain = Condition(
        "data parallelism that shares nothing, activations aside",
        room / (_state(SEVENTY)[1] / _size(SEVENTY)),
    )
    return point(_largest(H100, 3), plain)


def s2_lora_share() -> Recomputed:
    shares = [
        [100 * adapter_parameters(model(name), rank) / _size(name) for name in (THIRTEEN, SEVENTY)]
        for rank in (8, 16, 32)
    ]
    return span(*(share for both in shares for share in both))


def s3_card_trains() -> Recomputed:
    return point(
        _largest(CARD, 0, ranks=1),
        Condition(
            "adapters, with the model itself frozen", _largest(CARD, 0, ranks=1, task="lora")
        ),
    )


RECOMPUTED = {
    "S2-16-bytes": lambda: span(*(state / _size(SEVENTY) for state in _state(SEVENTY))),
    "S2-70b-memory": lambda: span(*_state(SEVENTY)),
    "S2-13b-memory": lambda: span(*_state(THIRTEEN)),
    "S2-13b-cards": lambda: span(
        *(_fewest(THIRTEEN, recompute) for recompute in (0, 2)),
        Condition("every layer recomputed", _fewest(THIRTEEN, 2)),
    ),
    "S2-175b-cards": lambda: point(_fewest(LARGE, 2)),
    "S2-13b-two": lambda: point(ceil(stated("S2-13b-memory") / 80e9), internal=True),
}
