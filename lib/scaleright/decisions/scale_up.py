"""What a roofline says of a chip together with the domain it sits in: the chips that one fast
fabric joins.

A larger domain holds one copy of the weights instead of many: its chips keep more memory for caches
and spend less of their bandwidth on weights, the more so the less time a token may take. What the
chips say to each other is left out.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from scaleright.architecture import Transformer
from scaleright.catalog import Accelerator, accelerator, fact, model
from scaleright.costs.sizing import batch_that_fits
from scaleright.market import matmul_chips
from scaleright.ops import INFINITY, maximum, where
from scaleright.transformer import bytes_per_parameter, decode_step

MEMORY_SHARE = 0.9
"""Share of a chip's memory that weights and cache may take."""


def domain(name: str) -> float:
    """Chips that one fast fabric joins around this one [1]."""
    return accelerator(name).scale_up_chips or 1.0


def chip_limits(name: str) -> dict[str, float]:
    """What the roofline needs of a chip, in the smallest floating-point format that it multiplies
    in.

    peak_flops, bytes_per_s : reached [FLOP/s], [B/s]; memory_bytes; chips (of the domain);
        weight_bytes (per weight)
    """
    chip: Accelerator = accelerator(name)
    precision = next(known for known in ("fp4", "fp8", "bf16") if known in chip.dense)
    named = {"fp4": "NVFP4" if chip.vendor == "NVIDIA" else "MXFP4", "fp8": "FP8", "bf16": "BF16"}[
        precision
    ]
    return {
        "peak_flops": chip.dense[precision] * matmul_chips()[chip.name]["compute_efficiency"],
        "memory_bytes": chip.require("memory_bytes"),
        "bytes_per_s": chip.require("memory_bytes_per_s") * fact("memory_bandwidth_efficiency"),
        "chips": domain(name),
        "weight_bytes": bytes_per_parameter(named),
    }


def decode_rate(
    t: Transformer, chip: Mapping[str, Any], context: Any, limit_s: Any, slowdown: Any = 1.0
):
    """Tokens per second of one chip whose whole domain decodes one copy of a model, by the roofline
    [token/s]; 0 if it cannot.

    As many sequences as memory and the limit allow; communication is left out.

    Parameters
    ----------
    t : the model; its fields may be quantities, as everything here
    chip : see `chip_limits`
    context : tokens in view of a new one [token]
    limit_s : most time of a token [s]
    slowdown : time of a step over its floor [1]

    >>> tiny = Transformer("tiny", 2, 64, 4, 2, 16, 256, True, 1000, True)
    >>> loose, tight = (decode_rate(tiny, chip_limits("B300"), 100, limit_s)
    ...     for limit_s in (1.0, 1e-9))
    >>> loose > 0.0 == tight
    True
    """
    one = decode_step(t, context, 1, chip["weight_bytes"], 1, 1.0, 1.0, 1.0, 1.0)
    chips, memory = chip["chips"], chip["memory_bytes"] * MEMORY_SHARE
    within, speed = limit_s / slowdown, (chip["bytes_per_s"], chip["peak_flops"])
    held = one.stored_bytes - one.kv_bytes
    batch = batch_that_fits(
        1e9, chips, memory, held, one.kv_bytes, within, speed[0], one.flop, speed[1]
    )
    step = decode_step(
        t, context, maximum(batch, 1.0), chip["weight_bytes"], chips, *speed[::-1], 1.0, 1.0
    )
    return where(batch >= 1, batch / (step.seconds * slowdown * chips), 0.0)


def share_of(t: Transformer, chip: Mapping[str, Any], other: Mapping[str, Any], *terms: Any):
    """What a chip does over what another does, each in its own domain [1]; 0 where neither or only
    the other can; see `decode_rate`.
    """
    one, another = (decode_rate(t, of, *terms) for of in (chip, other))
    return where(another > 0, one / maximum(another, 1e-12), 0.0)


def resources(new: str, old: str) -> dict[str, float]:
    """Ratios of what two chips have, new over old: arithmetic (each in its smallest format),
    bandwidth, memory, domain [1].

    >>> resources("GB300", "B300")["domain"]
    9.0
    """
    these, those = chip_limits(new), chip_limits(old)
    names = {
        "arithmetic": "peak_flops",
        "bandwidth": "bytes_per_s",
        "memory": "memory_bytes",
        "domain": "chips",
    }
    return {words: these[name] / those[name] for words, name in names.items()}


def explainable(rows: pd.DataFrame) -> pd.DataFrame:
    """The gains for which the model's shape and the limit on a token are known, with what the new
    chip has more of (see `resources`); rows as in `explained`.
    """
    rows = rows[(rows["model"] != "") & rows["token_s"].notna()].reset_index(drop=True)
    return rows.join(pd.DataFrame([resources(row.new, row.old) for row in rows.itertuples()]))


def explained(rows: pd.DataFrame, context: float, slowdown: float) -> pd.DataFrame:
    """Gains that were measured beside what the roofline makes of them, where the model's shape and
    the limit are known.

    Parameters
    ----------
    rows : new, old, benchmark, model, token_s (limit on the time of a token, infinite for none),
        gain
    context, slowdown : see `decode_rate`

    Columns: those of `rows`, roofline (its gain; infinite where the old chip's domain cannot keep
    the limit), and those of `resources`.
    """
    rows = explainable(rows)
    pairs = [
        (
            model(row.model),
            chip_limits(row.old),
            chip_limits(row.new),
            context,
            row.token_s,
            slowdown,
        )
        for row in rows.itertuples()
    ]
    shares = [float(share_of(*pair)) for pair in pairs]
    return rows.assign(roofline=[1 / share if share else INFINITY for share in shares])


def times_off(predicted: Any, measured: Any) -> Any:
    """By what factor predictions are off, up or down [1].

    >>> times_off(np.array([2.0, 0.5, 1.0]), np.array([1.0, 1.0, 1.0])).tolist()
    [2.0, 2.0, 1.0]
    """
    return np.exp(np.abs(np.log(predicted / measured)))
