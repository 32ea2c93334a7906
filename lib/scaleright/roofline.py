"""Time of an operation on one chip: matrix products by tiles and waves, everything else by the
bytes it moves.

A matrix product is cut into tiles that the chip's compute units (SMs, CUs) work through in waves;
the last wave is as long as a full one however few tiles it has, each tile pays for filling its
pipeline, and arithmetic and memory traffic hide each other only in part. The speeds behind it are
those that somebody measured, not the datasheet's (see `speeds`).

Four constants are fitted, for all chips at once, on kernels timed on A100 and H100 [vidur2024]; the
tests refit them with an operation, a tensor-parallel degree or a chip left out, and hold the error
on what was left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from scaleright.catalog import Accelerator, best_matmul, of_chip, of_kin
from scaleright.formulas import COUNT, NON_NEGATIVE, POSITIVE, closed_form, lookup
from scaleright.names import one_of
from scaleright.ops import ceil, cube_root, maximum

PEAK_NAMES = {
    "BF16": "bf16",
    "FP16": "fp16",
    "FP8": "fp8",
    "MXFP8": "fp8",
    "NVFP4": "fp4",
    "MXFP4": "fp4",
}
"""The catalog's name of the peak behind each format of matrix products."""
INTEGER_PEAK_NAMES = {"INT8": "int8"}
"""Formats in which models are served, not trained."""
SUSTAINED_SHARE = 0.88
"""What a product that fills the chip keeps of the best ever measured, which is the best of many
shapes on a cool chip; fitted in half precision, taken over for FP8 and FP4, of which nobody
published a table of kernels.
"""
RAMP_K = 96
"""Inner width whose time goes into filling and draining a tile's pipeline; fitted."""
LAUNCH_S = 3.5e-6
"""Shortest time of a kernel; fitted."""
MEMORY_SHARE = 0.88
"""Share of the datasheet's memory bandwidth that streaming reaches: fitted on products of few rows,
and what adding two tensors reaches on an A100 (0.88; H100: 0.98).
"""
TILE = 64
"""Rows and columns of the finest work that libraries hand to a compute unit: of the tiles from 64 x
64 to 128 x 256, the one that errs least. Larger tiles with the inner dimension cut (split-k,
stream-k) balance the units as finely.
"""


@closed_form(
    m=COUNT,
    n=COUNT,
    k=COUNT,
    peak_flops=POSITIVE,
    bytes_per_s=POSITIVE,
    element_bytes=POSITIVE,
    units=COUNT,
    count=COUNT,
    tile_m=COUNT,
    tile_n=COUNT,
    ramp_k=NON_NEGATIVE,
    launch_s=NON_NEGATIVE,
    input_bytes=POSITIVE,
    output_bytes=POSITIVE,
)
def matmul_seconds(
    m,
    n,
    k,
    peak_flops,
    bytes_per_s,
    element_bytes=2,
    units=1,
    count=1,
    tile_m=TILE,
    tile_n=TILE,
    ramp_k=RAMP_K,
    launch_s=0.0,
    input_bytes=None,
    output_bytes=None,
):
    """Time of a product of an m x k by a k x n matrix.

    Parameters
    ----------
    m, n, k : rows, columns and inner width of the product [1]
    peak_flops : best that the chip was measured to reach in matrix products of the format [FLOP/s]
    bytes_per_s : memory bandwidth that it reaches [B/s]
    element_bytes : bytes of one element, of the k x n matrix of weights where the others differ [B]
    units : compute units that work on tiles side by side; 1 if unknown: no wave is lost then [1]
    count : products of this shape in one launch (experts of a grouped product, heads) [1]
    tile_m, tile_n : rows and columns of a tile [1]
    ramp_k : inner width whose time goes into filling and draining a tile's pipeline [1]
    launch_s : shortest time of a kernel, where nothing hides it (`Speeds.launch_s`) [s]
    input_bytes, output_bytes : bytes of one element of the m x k and of the m x n matrix, where
        they are not `element_bytes` [B]

    Returns
    -------
    [s]. launch + (c^3 + b^3)^(1/3), with c = waves * units * tile * 2 (k + ramp) / (0.88 peak) and
    b = bytes / bandwidth: close to the longer of the two (roofline [williams2009]), and a quarter
    longer where they are alike.

    Source: waves of tiles [nvidia2023matmul, sections 2.3 and 3]; constants fitted on [vidur2024].

    >>> round(matmul_seconds(4096, 8192, 8192, 794.5e12, 3e12, units=132) * 1e6)  # measured: 789
    808
    """
    waves = ceil(count * ceil(m / tile_m) * ceil(n / tile_n) / units)
    compute_s = (
        waves * units * tile_m * tile_n * 2.0 * (k + ramp_k) / (SUSTAINED_SHARE * peak_flops)
    )
    given = element_bytes if input_bytes is None else input_bytes
    written = element_bytes if output_bytes is None else output_bytes
    memory_s = count * (m * k * given + k * n * element_bytes + m * n * written) / bytes_per_s
    return launch_s + _joined(compute_s, memory_s)


def _joined(compute_s, memory_s):
    """Time of arithmetic and of memory traffic that hide each other only in part [s]."""
    return cube_root(compute_s * compute_s * compute_s + memory_s * memory_s * memory_s)


@closed_form(
    m=NON_NEGATIVE,
    n=COUNT,
    k=COUNT,
    peak_flops=POSITIVE,
    bytes_per_s=POSITIVE,
    weight_bytes=POSITIVE,
    units=COUNT,
    count=COUNT,
    tile_m=COUNT,
    input_bytes=POSITIVE,
    output_bytes=POSITIVE,
)
def mean_matmul_seconds(
    m,
    n,
    k,
    peak_flops,
    bytes_per_s,
    weight_bytes=2,
    units=1,
    count=1,
    tile_m=TILE,
    input_bytes=2,
    output_bytes=2,
):
    """Mean time of a product whose rows vary from launch to launch, as those of an engine's steps
    do: where requests come and go, the last tile and the last wave are half full in the mean.

    Parameters
    ----------
    m : rows in the mean [1]
    weight_bytes, input_bytes, output_bytes : bytes of one element of the k x n matrix, of the m x k
        and of the m x n one [B]
    n, k, peak_flops, bytes_per_s, units, count, tile_m : as in `matmul_seconds`

    Returns
    -------
    [s]. As `matmul_seconds`, with x + 1/2, at least 1, in place of x rounded up: more rows never
    take longer each.

    >>> one, more = (mean_matmul_seconds(m, 8192, 8192, 794.5e12, 3e12) for m in (256.0, 258.0))
    >>> one < more < one * 258 / 256
    True
    """
    rows = maximum(m / tile_m + 0.5, 1.0)
    waves = maximum(count * rows * ceil(n / TILE) / units + 0.5, 1.0)
    compute_s = waves * units * tile_m * TILE * 2.0 * (k + RAMP_K) / (SUSTAINED_SHARE * peak_flops)
    moved = m * k * input_bytes + k * n * weight_bytes + m * n * output_bytes
    return _joined(compute_s, count * moved / bytes_per_s)


@closed_form(flops=POSITIVE, bytes_per_s=POSITIVE, element_bytes=POSITIVE)
def balance_rows(flops, bytes_per_s, element_bytes):
    """Rows for which the arithmetic of a weight takes as long as its reading: with fewer, memory
    sets the pace [1].

    Parameters
    ----------
    flops, bytes_per_s : speeds that are reached [FLOP/s], [B/s]
    element_bytes : bytes of a weight [B]

    Source: the ridge of the roofline [williams2009], with 2 FLOP for each row and weight.

    >>> balance_rows(800e12, 3.2e12, 2)
    250.0
    """
    return element_bytes * flops / (2 * bytes_per_s)


@dataclass(frozen=True)
class Speeds:
    """What a chip achieves in one format.

    Attributes
    ----------
    peak_flops : dense peak of the datasheet [FLOP/s], for MFU
    matmul_flops : best matrix product, measured or by its kin's and its power limit [FLOP/s]
    matmul_basis : "measured", or whose share of the peak it borrows, at which of their watts
    memory_bytes_per_s : bandwidth that streaming operations reach [B/s]
    memory_basis : whose share of the datasheet's bandwidth that is
    units : compute units (SMs, CUs); 1 where none is known
    exponentials_per_s : bound of softmax, of the chip or by the nearest chips' ratio to the BF16
        peak [1/s]
    launch_s : shortest time of a kernel [s]
    """

    peak_flops: float
    matmul_flops: float
    matmul_basis: str
    memory_bytes_per_s: float
    memory_basis: str
    units: float
    exponentials_per_s: float
    launch_s: float


@lookup
def plain_format(chip: Accelerator) -> str:
    """The 16-bit format in which a chip computes what no smaller one is used for: BF16, or FP16 on
    one that is older.

    >>> from scaleright.catalog import accelerator
    >>> plain_format(accelerator("H100 SXM")), plain_format(accelerator("V100 SXM 32GB"))
    ('BF16', 'FP16')
    """
    return "BF16" if "bf16" in chip.dense else "FP16"


@lookup
@of_chip
def speeds(chip: Accelerator, precision: str = "BF16") -> Speeds:
    """What a chip achieves in a format ("BF16", "FP16", "FP8", "INT8", "MXFP8", "NVFP4", "MXFP4").

    Where nobody measured the chip's matrix products in the format, it gets what its nearest kin's
    measurements and its power limit allow, FP16 and INT8 by BF16's and FP4 by FP8's (see
    `catalog.best_matmul`): `matmul_basis` says whose.

    Raises
    ------
    LookupError : unknown format, or one that the chip lacks.
    DataError : the catalog has no memory bandwidth of the chip.

    >>> from scaleright.catalog import accelerator
    >>> speeds(accelerator("H100 SXM"), "BF16").matmul_basis, speeds(accelerator("H100 PCIe"),
    ...     "FP8").matmul_basis
    ('measured', 'fp8 share of H100 SXM at 350 of the 700 W of H100 SXM')
    """
    names = PEAK_NAMES | INTEGER_PEAK_NAMES
    name = names[one_of(precision, names, "format of matrix products")]
    peak, bandwidth = chip.peak_flops(name), chip.require("memory_bytes_per_s")
    matmul, basis = best_matmul(chip, name)
    if not (exponentials := chip.exponentials_per_s):
        ratio, _ = of_kin(
            chip,
            lambda kin: kin.exponentials_per_s and kin.exponentials_per_s / kin.dense["bf16"],
        )
        exponentials = ratio * chip.dense.get("bf16", peak)
    return Speeds(
        peak,
        matmul,
        basis,
        MEMORY_SHARE * bandwidth,
        "A100 and H100",
        chip.compute_units or 1.0,
        exponentials,
        LAUNCH_S,
    )
