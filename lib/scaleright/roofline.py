"""Time of an operation on one chip: matrix products by tiles and waves, everything else by the bytes it moves.

A matrix product is cut into tiles that the chip's compute units (SMs, CUs) work through in waves; the last wave is as
long as a full one however few tiles it has, each tile pays for filling its pipeline, and no product is faster than its
bytes or than one launch. The speeds behind it are those that somebody measured, not the datasheet's (see `speeds`).
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from scaleright.catalog import Accelerator, accelerators
from scaleright.formulas import COUNT, FRACTION, NON_NEGATIVE, POSITIVE, closed_form, lookup
from scaleright.names import one_of
from scaleright.ops import ceil, maximum

PEAK_NAMES = {"BF16": "bf16", "FP16": "fp16", "FP8": "fp8", "MXFP8": "fp8", "NVFP4": "fp4", "MXFP4": "fp4"}
"""The catalog's name of the peak behind each format of matrix products."""
MEMORY_SHARE = 0.88
LAUNCH_S = 5e-6


@closed_form(
    m=COUNT, n=COUNT, k=COUNT, peak_flops=POSITIVE, bytes_per_s=POSITIVE, element_bytes=POSITIVE, units=COUNT, count=COUNT,
    tile_m=COUNT, tile_n=COUNT, ramp_k=NON_NEGATIVE, launch_s=NON_NEGATIVE,
)  # fmt: skip
def matmul_seconds(m, n, k, peak_flops, bytes_per_s, element_bytes=2, units=1, count=1, tile_m=128, tile_n=256, ramp_k=128, launch_s=0.0):
    """Time of a product of an m x k by a k x n matrix.

    Parameters
    ----------
    m, n, k : rows, columns and inner width of the product [1]
    peak_flops : best that the chip reaches in matrix products of the format [FLOP/s], measured
    bytes_per_s : memory bandwidth that it reaches [B/s]
    element_bytes : bytes of one element [B]
    units : compute units that work on tiles side by side; 1 if unknown: no wave is lost then [1]
    count : products of this shape in one launch (experts of a grouped product, heads) [1]
    tile_m, tile_n : rows and columns of a tile [1]
    ramp_k : inner width whose time goes into filling and draining a tile's pipeline [1]
    launch_s : shortest time of any kernel [s]

    >>> round(matmul_seconds(4096, 8192, 8192, 794.5e12, 3e12, units=132) * 1e6)
    725
    """
    waves = ceil(count * ceil(m / tile_m) * ceil(n / tile_n) / units)
    compute_s = waves * units * tile_m * tile_n * 2.0 * (k + ramp_k) / peak_flops
    memory_s = count * (m * k + k * n + m * n) * element_bytes / bytes_per_s
    return maximum(maximum(compute_s, memory_s), launch_s)


@closed_form(bytes_moved=NON_NEGATIVE, bytes_per_s=POSITIVE, efficiency=FRACTION, latency_s=NON_NEGATIVE)
def memory_bound_seconds(bytes_moved, bytes_per_s, efficiency=1.0, latency_s=0.0):
    """Time of an operation that moves bytes and computes little: norms, activations, additions, rotations, casts.

    Parameters
    ----------
    bytes_moved : read and written [B]
    bytes_per_s : memory bandwidth [B/s]
    efficiency : share of it that is reached [1]; 1 where `bytes_per_s` is already what is achieved (`Speeds`)
    latency_s : launch and the first byte's way [s]

    >>> memory_bound_seconds(3e9, 3e12, latency_s=5e-6)
    0.001005
    """
    return latency_s + bytes_moved / (bytes_per_s * efficiency)


@dataclass(frozen=True)
class Speeds:
    """What a chip achieves in one format.

    Attributes
    ----------
    peak_flops : dense peak of the datasheet [FLOP/s], for MFU
    matmul_flops : best matrix product, measured or by its family's share of the peak [FLOP/s]
    matmul_basis : "measured", or whose share of the peak it borrows
    memory_bytes_per_s : bandwidth that streaming operations reach [B/s]
    memory_basis : whose share of the datasheet's bandwidth that is
    units : compute units (SMs, CUs); 1 where none is known
    launch_s : shortest time of a kernel [s]
    """

    peak_flops: float
    matmul_flops: float
    matmul_basis: str
    memory_bytes_per_s: float
    memory_basis: str
    units: float
    launch_s: float


def _family_share(chip: Accelerator, precision: str) -> tuple[float, str]:
    """Median share of the dense peak that the nearest kin reach: same chip and form, same chip, same vendor, any."""
    known = [(other, other.measured[precision] / other.dense[precision]) for other in accelerators().values() if precision in other.measured]
    word = chip.name.split()[0]
    kin = (
        ("same chip", lambda other: other.name.split()[0] == word and other.form == chip.form), ("same chip", lambda other: other.name.split()[0] == word),
        (chip.vendor, lambda other: other.vendor == chip.vendor), ("all", lambda other: True),
    )  # fmt: skip
    for name, related in kin:
        shares = [share for other, share in known if related(other)]
        if shares:
            return median(shares), f"{precision} share of {name}"
    raise AssertionError("no chip was ever measured")


@lookup
def speeds(chip: Accelerator, precision: str = "BF16") -> Speeds:
    """What a chip achieves in a format ("BF16", "FP16", "FP8", "MXFP8", "NVFP4", "MXFP4").

    Raises
    ------
    LookupError : unknown format, or one that the chip lacks.
    DataError : the catalog has no memory bandwidth of the chip.

    >>> from scaleright.catalog import accelerator
    >>> speeds(accelerator("H100 SXM"), "BF16").matmul_basis
    'measured'
    """
    name = PEAK_NAMES[one_of(precision, PEAK_NAMES, "format of matrix products")]
    peak, bandwidth = chip.peak_flops(name), chip.require("memory_bytes_per_s")
    if name in chip.measured:
        matmul, basis = chip.measured[name], "measured"
    else:
        share, basis = _family_share(chip, {"fp16": "bf16", "fp4": "fp8"}.get(name, name))
        matmul = share * peak
    return Speeds(peak, matmul, basis, MEMORY_SHARE * bandwidth, "all", 1.0, LAUNCH_S)
