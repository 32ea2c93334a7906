"""How training frameworks keep what the mathematics needs: what `memory` depends on in software."""

from dataclasses import dataclass, replace
from typing import Any

from scaleright.formulas import lookup
from scaleright.ops import where
from scaleright.quantity import Quantity, look_up
from scaleright.roofline import PEAK_NAMES
from scaleright.transformer.memory import bytes_per_parameter

HALF_BYTES, FULL_BYTES = 2, 4
"""Bytes of a 16-bit and of a 32-bit number."""


@dataclass(frozen=True)
class Software:
    """How a training framework keeps what the mathematics needs.

    flash : attention that keeps no scores (flash, cuDNN) instead of softmax and its dropout, both
        of size sequence^2
    dropout : masks of three dropouts a layer, as GPT-3's generation trained with
    gradient_bytes : of the buffer that gradients are summed in
    keeps_shard : sharded weights stay in 16 bits as well; FSDP keeps the FP32 master alone, and
        frozen weights
    logit_bytes : at the peak of the loss, for each entry of tokens x vocabulary
    selective_ops : selective recomputation keeps attention and every other matrix product instead
        of all but the attention core
    low_inputs : inputs of matrix products are kept in the 8- or 4-bit format in which they were
        multiplied
    """

    flash: bool = True
    dropout: bool = False
    gradient_bytes: float = FULL_BYTES
    keeps_shard: bool = True
    logit_bytes: Any = HALF_BYTES + FULL_BYTES
    selective_ops: bool = False
    low_inputs: bool = True

    def low_bytes(self, precision: Any) -> Any:
        """Bytes of a number as it is kept for a matrix product: 2, or fewer in FP8 and FP4."""
        if isinstance(precision, Quantity):
            return look_up({name: self.low_bytes(name) for name in PEAK_NAMES}, precision)
        known = bytes_per_parameter(precision)
        return min(known, HALF_BYTES) if self.low_inputs else HALF_BYTES

    def stored_bytes(self, precision: Any) -> Any:
        """Bytes of a matrix weight as it is multiplied: FP8 by rows and by columns, FP4 so beside
        BF16 [megatronbridge2026memory].
        """
        low = self.low_bytes(precision)
        return where(low == HALF_BYTES, HALF_BYTES, 2 * low + HALF_BYTES * (low < 1))


MEGATRON = Software()
"""Megatron-Core with Transformer Engine: the loss exponentiates FP32 logits in place beside the
BF16 ones.
"""
MEGATRON_2022 = Software(flash=False, dropout=True)
"""Megatron-LM as [korthikanti2022] describes it."""
FSDP = Software(keeps_shard=False, logit_bytes=14, selective_ops=True, low_inputs=False)
"""PyTorch's FSDP with PyTorch's own loss: BF16 logits, log-softmax, its gradient and the gradient
of the loss in FP32.
"""
FSDP_FUSED_LOSS = Software(keeps_shard=False, logit_bytes=4, selective_ops=True, low_inputs=False)
"""FSDP with a fused loss that keeps BF16 logits and their gradient (llm-foundry)."""
LOSS_BYTES = {"fused": FSDP_FUSED_LOSS.logit_bytes, "plain": FSDP.logit_bytes}
"""Bytes at the peak of the loss for each entry of tokens x vocabulary: fused, or by PyTorch's own
operations.
"""


@lookup
def fsdp(loss: Any) -> Software:
    """PyTorch's FSDP with a loss of `LOSS_BYTES`, which may be chosen by a quantity.

    >>> fsdp("plain").logit_bytes.value == FSDP.logit_bytes
    True
    """
    return replace(FSDP, logit_bytes=look_up(LOSS_BYTES, loss))
