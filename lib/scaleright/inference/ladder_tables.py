"""Groups of chips as a page carries them: the curve of each model on each accelerator, in each
format in which the levers leave it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np

from scaleright.catalog import accelerator, fact, model, shared
from scaleright.formulas import lookup, search
from scaleright.inference.curves import Curve, curves
from scaleright.inference.deployment import NEEDS, Deployment, shared_by, valid
from scaleright.inference.fleet import DEGREES
from scaleright.inference.formats import offered
from scaleright.inference.levers import can_be_sparse
from scaleright.inference.slowdowns import slowdowns
from scaleright.units import figure

SOFTWARE = "vLLM 0.17.0"
STEPS = ("decoding", "reading", "grouped", "each_s")
"""Columns of a curve that depend on how weights are stored and multiplied."""
CACHE = ("budget", "most", "near", "look", "read", "hold")
"""Columns that depend on what sequences keep."""
DIGITS = 4
DENSE, SPARSE = "dense", "2:4"


@lookup
def lever_formats(chip_name: str) -> dict[str, str]:
    """Formats of weights to which the levers bring a model on an accelerator that multiplies 8
    bits: `eight` and `four`.

    >>> lever_formats("A100 SXM 80GB"), lever_formats("B200")
    ({'eight': 'INT8', 'four': 'INT4'}, {'eight': 'FP8', 'four': 'NVFP4'})
    """
    chip = accelerator(chip_name)
    four = ("NVFP4", "INT4") if chip.vendor == "NVIDIA" else ("INT4",)
    wanted = {"eight": ("FP8", "INT8"), "four": four}
    return {
        bits: next(form for form in forms if NEEDS[form] in chip.dense)
        for bits, forms in wanted.items()
    }


def _short(value: Any) -> Any:
    """Numbers of a curve with the digits that a page carries of each of so many groups."""
    if isinstance(value, list):
        return [_short(each) for each in value]
    return figure(value, DIGITS) if np.isfinite(value) else value


def _row(found: Sequence[Curve], columns: Sequence[str], fits: np.ndarray) -> dict[str, Any]:
    """Columns of the curves of all degrees; of a degree that breaks a rule or holds no sequence
    only that it holds none.
    """
    row: dict[str, Any] = {}
    for n, one, fit in zip(DEGREES, found, fits, strict=True):
        for column in columns:
            value = getattr(one, column)
            if not fit or one.hold[0] > 1:
                none = float("nan") if column == "hold" else 0.0
                value = [none] * len(value) if isinstance(value, list) else none
            row[f"{column} {n}"] = _short(value)
    return row


@search
@shared
def group_rows(
    models: tuple[str, ...], accelerators: tuple[str, ...]
) -> tuple[Mapping[tuple[str, ...], dict], Mapping[tuple[str, ...], dict]]:
    """Rows for `choose` of groups of 1, 2, 4 and 8 chips, each number of a `Curve` with the chips
    in its name.

    Returns
    -------
    steps : by model, accelerator, format of the weights, and whether products are sparse
    cache : by model, accelerator, format of the weights, and that of the cache

    >>> steps, cache = group_rows(("Llama-3.1-8B",), ("H100 SXM",))
    >>> [key[2:] for key in steps][:3], len(steps["Llama-3.1-8B", "H100 SXM", "FP8", "2:4"])
    ([('BF16', 'dense'), ('BF16', '2:4'), ('FP8', 'dense')], 16)
    """
    steps, cache = {}, {}
    for name, chip_name in product(models, accelerators):
        shape, chip = model(name), accelerator(chip_name)
        for form in dict.fromkeys((*offered(shape, chip), *lever_formats(chip_name).values())):
            one = Deployment(shape, chip, form, software=SOFTWARE, kv_precision="BF16")
            fits = np.broadcast_to(valid(shared_by(one, np.array(DEGREES))), len(DEGREES))
            group = [shared_by(one, n) for n in DEGREES]
            plain = curves(group)
            steps[name, chip_name, form, DENSE] = _row(plain, STEPS, fits)
            cache[name, chip_name, form, "BF16"] = _row(plain, CACHE, fits)
            if can_be_sparse(one):
                slow = slowdowns(one)
                slow = {**slow, "matmul": slow["matmul"] / fact("sparse_throughput_ratio")}
                steps[name, chip_name, form, SPARSE] = _row(curves(group, slow), STEPS, fits)
            if "fp8" in chip.dense:
                kept = curves([replace(d, kv_precision="FP8") for d in group])
                cache[name, chip_name, form, "FP8"] = _row(kept, CACHE, fits)
    return MappingProxyType(steps), MappingProxyType(cache)
