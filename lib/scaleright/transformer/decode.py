"""One decode step as a roofline: the arithmetic, the bytes, and the longer of the two times.

A floor, not a forecast: it leaves out communication between accelerators, kernel launches and the
scheduler, which the models of inference add.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from scaleright.architecture import Transformer
from scaleright.formulas import counting, lookup
from scaleright.ops import ceil, minimum, where
from scaleright.quantity import Quantity
from scaleright.ranges import Ends
from scaleright.transformer.flops import (
    compute_seconds,
    forward_flop,
    memory_seconds,
    token_seconds,
)
from scaleright.transformer.memory import (
    decode_bytes_per_step,
    model_weight_bytes,
    sequence_kv_bytes,
)

REACH = MappingProxyType({"speed of arithmetic": (0.7, 1.1), "speed of memory": (0.75, 1.15)})
"""What kernels of other shapes reach of a usual efficiency, from least to most."""


@dataclass(frozen=True)
class DecodeStep:
    """One step that gives each of `batch` sequences its next token."""

    batch: Any
    flop: Any
    weight_bytes: Any
    kv_bytes: Any
    stored_bytes: Any
    compute_s: Any
    memory_s: Any

    @property
    def token_flop(self) -> Any:
        """Arithmetic of one token [FLOP]."""
        return self.flop / self.batch

    @property
    def read_bytes(self) -> Any:
        """Memory traffic of the step: the weights that it uses and the cache [B]."""
        return self.weight_bytes + self.kv_bytes

    @property
    def seconds(self) -> Any:
        """Time of the step: arithmetic and memory traffic overlap, the longer one counts [s]."""
        return token_seconds(self.compute_s, self.memory_s)

    def least_accelerators(self, memory_bytes: Any) -> Any:
        """Chips of so much memory that hold all weights and the cache; a step on fewer has no time
        at all [1].
        """
        return ceil(self.stored_bytes / memory_bytes)


@counting
def decode_step(
    t: Transformer,
    context,
    batch,
    precision,
    accelerators,
    peak_flops,
    bytes_per_s,
    compute_efficiency,
    bandwidth_efficiency,
) -> DecodeStep:
    """Arithmetic, bytes and least time of one decode step on a group of accelerators that share the
    model evenly.

    Parameters
    ----------
    t : the model; its fields may be arrays or quantities
    context : tokens that each new token attends to [token]
    batch : sequences decoded together [1]
    precision : number format of the weights by name, or bytes per weight; the cache is kept in 2
        bytes
    accelerators : chips in the group [1]
    peak_flops, bytes_per_s : of one chip [FLOP/s], [B/s]
    compute_efficiency, bandwidth_efficiency : achieved shares of the two peaks [1]

    Latent attention (MLA) is counted as it decodes, in the latent space that is cached.

    Source: [pope2022, section 2.1] for weights and cache as the memory traffic of decoding.

    >>> tiny = Transformer("tiny", 2, 64, 4, 2, 16, 256, True, 1000, True)
    >>> step = decode_step(tiny, 100, 1, "BF16", 1, 1e12, 1e9, 1.0, 1.0)
    >>> step.seconds == step.memory_s
    True
    """
    flop = batch * forward_flop(t, context, causal=False, absorbed=True).total
    weight_bytes, kv_bytes = (
        decode_bytes_per_step(t, batch, precision),
        sequence_kv_bytes(t, context, batch),
    )
    return DecodeStep(
        batch=batch,
        flop=flop,
        weight_bytes=weight_bytes,
        kv_bytes=kv_bytes,
        stored_bytes=model_weight_bytes(t, precision) + kv_bytes,
        compute_s=compute_seconds(flop, accelerators * peak_flops, compute_efficiency),
        memory_s=memory_seconds(
            weight_bytes + kv_bytes, accelerators * bytes_per_s, bandwidth_efficiency
        ),
    )


@counting
def decode_intensity(t: Transformer, context, batch, precision):
    """Operations for each byte that a decode step reads [FLOP/B]; arguments as of `decode_step`.

    >>> tiny = Transformer("tiny", 2, 64, 4, 2, 16, 256, True, 1000, True)
    >>> decode_intensity(tiny, 100, 1, "BF16") < decode_intensity(tiny, 100, 8, "BF16")
    True
    """
    step = decode_step(t, context, batch, precision, 1, 1.0, 1.0, 1.0, 1.0)
    return step.flop / step.read_bytes


@lookup
def efficiency_ends(shares: tuple[Quantity, Quantity], usual: tuple[Any, Any]) -> dict[str, Ends]:
    """How far the achieved shares of the two peaks may be off, the peaks as limits; not at all
    where the reader has set them.

    Parameters
    ----------
    shares, usual : of arithmetic and of bandwidth [1], and what they are where nobody sets them

    >>> from scaleright.quantity import given
    >>> ends = efficiency_ends((given("compute", 0.8), given("bandwidth", 0.9)), (0.8, 0.7))
    >>> round(ends["speed of arithmetic"].low.value, 2), ends["speed of memory"].high.value
    (0.56, 0.9)
    """
    return {
        name: Ends(
            share,
            where(share == left, low * share, share),
            where(share == left, minimum(high * share, 1.0), share),
        )
        for share, left, (name, (low, high)) in zip(shares, usual, REACH.items(), strict=True)
    }
