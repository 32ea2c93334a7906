"""What the kernels and the network of an engine's chips reach: products in each part's format, and
sums of small payloads.
"""

from __future__ import annotations

from scaleright.architecture import Transformer
from scaleright.collectives import all_reduce_seconds, network
from scaleright.formulas import (
    COUNT,
    NON_NEGATIVE,
    POSITIVE,
    closed_form,
    lookup,
    search,
    unchecked,
)
from scaleright.inference.deployment import Deployment
from scaleright.ops import minimum, where
from scaleright.roofline import TILE, Speeds, mean_matmul_seconds, speeds
from scaleright.transformer.memory import bytes_per_parameter

QUICK_S, QUICK_PEER_S, QUICK_SHARE = 3.5e-6, 0.3e-6, 0.15
"""All-reduce by peers' own loads and stores, without NCCL: start, each further chip, and share of
the link's bandwidth, on payloads from 512 B to 1 MB among 2, 4 and 8 H100s [sglang2904].
"""
LIBRARY_START_S = 12e-6
"""Start of a collective of the library between kernels of a captured graph: of the 19 us of the
shortest all-reduce among 8 H100s what its hops do not take [tritondistributed57].
"""
FINE_TILE = 16
"""Rows of the tiles of experts' products and of products with expanded weights, whose kernels are
made for few rows: those of the matrix units' instruction [frantar2024marlin].
"""
GROUPED_SHARE, EXPANDED_SHARE = 0.6, 0.6
"""Shares of a plain product's rate that compute-bound products reach. Experts' on an H100: 0.4 to
0.75 of it, before and after tuning [liger1294]. Those whose weights are expanded on the way to 16
bit: 0.6 on an A100 [vllm2497], and with experts 0.36 on an H100 [sglang38884], the product of the
two.
"""
CASTS = 2
"""Kernels of each block that turn 16-bit activations into 8- or 4-bit operands, one before each
product.
"""

# A deployment is checked once, by `deployment.check`.
_matmul, _reduce = unchecked(mean_matmul_seconds), unchecked(all_reduce_seconds)


@lookup
def chip_speeds(d: Deployment, part: str) -> Speeds:
    """What the chip achieves in the format in which a part's products are computed."""
    return speeds(d.chip, d.compute_format(part))


class Machine:
    """The achieved speeds of a deployment's chip by part of the model, its networks, and the
    products of the model.
    """

    def __init__(self, d: Deployment):
        formats, computed, links = d.formats, d.compute_formats, network(d.chip)
        self.plain = speeds(d.chip, formats["head"])
        self.links, self.domain, self.bandwidth = (
            links.terms,
            links.up.chips,
            self.plain.memory_bytes_per_s,
        )
        # Switches that add up (NVLink SHARP) join eight chips or more of Hopper and what came after
        # it, the chips that know FP8.
        self.switches_add = int(
            d.chip.vendor == "NVIDIA" and self.domain >= 8 and "fp8" in d.chip.dense
        )
        known = {form: speeds(d.chip, form) for form in {*computed.values()}}
        self.speeds = {part: known[form] for part, form in computed.items()}
        self.weight_bytes = {part: bytes_per_parameter(form) for part, form in formats.items()}
        self.input_bytes = {part: bytes_per_parameter(form) for part, form in computed.items()}
        self.casts = {part: CASTS * (size < 2) for part, size in self.input_bytes.items()}

    def product(self, part: str, rows, columns, inner, count=1.0):
        """Seconds of the product of activations (rows x inner) with weights (inner x columns) of a
        part's format.
        """
        of, expanded = self.speeds[part], self.weight_bytes[part] < 2 == self.input_bytes[part]
        share = (EXPANDED_SHARE if expanded else 1.0) * (
            GROUPED_SHARE if part == "experts" else 1.0
        )
        tile = FINE_TILE if share < 1 else TILE
        return _matmul(
            rows,
            columns,
            inner,
            share * of.matmul_flops,
            self.bandwidth,
            self.weight_bytes[part],
            of.units,
            count,
            tile,
            self.input_bytes[part],
        )

    def feed_forward(self, t: Transformer, part: str, rows, width, count=1.0):
        """Both products of feed-forward blocks of an inner width."""
        return self.product(part, rows, (1 + t.gated_ffn) * width, t.hidden, count) + self.product(
            part, rows, t.hidden, width, count
        )


@closed_form(payload_bytes=NON_NEGATIVE, group=COUNT, link_bytes_per_s=POSITIVE)
def quick_all_reduce_seconds(payload_bytes, group, link_bytes_per_s):
    """All-reduce of a small payload by kernels that read their peers' memory: one barrier each way
    and 2 (g - 1) / g of the payload [s].

    payload_bytes : the whole size of what is added up [B]
    group : chips [1]
    link_bytes_per_s : the datasheet's bandwidth of a chip in one direction [B/s]

    Source: fitted on [sglang2904].

    >>> round(quick_all_reduce_seconds(262144, 8, 450e9) * 1e6, 1)  # measured: 16.7
    12.7
    """
    return (
        QUICK_S
        + QUICK_PEER_S * group
        + 2 * (group - 1) / group * payload_bytes / (QUICK_SHARE * link_bytes_per_s)
    )


@search
def sum_seconds(d: Deployment, of: Machine, payload_bytes):
    """All-reduce among the tensor-parallel chips: by quick kernels inside a node, or by the
    collective library where that is sooner.
    """
    node = minimum(d.tensor, of.domain)
    library = _reduce(
        payload_bytes,
        d.tensor,
        node,
        start_s=LIBRARY_START_S,
        in_network=of.switches_add,
        **of.links,
    )
    quick = quick_all_reduce_seconds(
        payload_bytes, d.tensor, d.chip.require("scale_up_bytes_per_s")
    )
    return minimum(library, where(d.tensor <= of.domain, quick, library))
