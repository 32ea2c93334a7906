"""What measured serving is predicted by without a model of it: the roofline of the datasheet, and
the median of what was measured on the chip.
"""

import functools
import math
from typing import Any

import numpy as np

from scaleright.architecture import Transformer
from scaleright.roofline import PEAK_NAMES
from scaleright.transformer.flops import forward_flop
from scaleright.transformer.memory import (
    bytes_per_parameter,
    decode_bytes_per_step,
    sequence_kv_bytes,
)
from scaleright.transformer.parameters import active_parameters
from scaleright.validation.serving_cases import Case


@functools.lru_cache(1000)  # most measure the same models at the same lengths
def _flop(model: Transformer, *of: Any) -> float:
    """FLOP of a token, of what `forward_flop` is asked."""
    return float(forward_flop(model, *of).total)


def roofline(one: Case) -> float:
    """A case's figure by the datasheet: the longer of all weights touched and the cache over the
    bandwidth, and FLOP over the peak.
    """
    d, load, point = one.deployment, one.load, one.point
    batch, peak = (
        float(point.batch),
        d.chips
        * d.chip.peak_flops(
            PEAK_NAMES.get(d.compute_format("experts"), d.compute_format("experts").lower())
        ),
    )
    moved = decode_bytes_per_step(d.model, batch, d.precision) + sequence_kv_bytes(
        d.model, load.context, batch, bytes_per_parameter(d.cache_format)
    )
    each, prompt = _flop(d.model, load.context, False, True), _flop(d.model, load.input_tokens)
    if one.figure == "TTFT":
        return load.input_tokens * prompt / peak
    step_s = max(
        float(moved) / (d.chips * d.chip.require("memory_bytes_per_s")), batch * each / peak
    )
    if one.figure == "ITL":
        return step_s
    step_s += batch / load.output_tokens * load.input_tokens * prompt / peak
    return batch / step_s / d.chips if one.figure == "throughput" else step_s


def _likeness(one: Case) -> tuple:
    """What the look-up looks up, the decisive first: chip, format, and the lengths of requests."""
    return (
        one.deployment.chip.name,
        one.deployment.precision,
        f"{one.load.input_tokens:g}",
        f"{one.load.output_tokens:g}",
    )


def looked_up(
    of: list[Case | None], its: list[str], book: list[Case], books: list[str]
) -> np.ndarray:
    """Throughput as any reader could look it up, of other groups: the median of what was measured
    on the chip in the format and at the lengths, as far as anything was, scaled by active
    parameters; NaN for other figures [token/s].
    """
    known = [
        (one, group) for one, group in zip(book, books, strict=True) if one.figure == "throughput"
    ]
    classes, places = (
        np.array([_likeness(one) for one, _ in known]),
        np.array([group for _, group in known]),
    )
    rates = np.array(
        [one.value * active_parameters(one.deployment.model).total for one, _ in known]
    )
    found = np.full(len(of), math.nan)
    for place, (one, group) in enumerate(zip(of, its, strict=True)):
        if one is None or one.figure != "throughput":
            continue
        rest, same = places != group, classes == np.array(_likeness(one))
        alike = next(
            (mask for last in (4, 2, 1) if (mask := rest & same[:, :last].all(axis=1)).any()), rest
        )
        found[place] = np.median(rates[alike]) / active_parameters(one.deployment.model).total
    return found
