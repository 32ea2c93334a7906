"""Groups of chips as a page carries them: the curve of each model on each accelerator, in each
format in which the levers leave it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import product
from types import MappingProxyType
from typing import Any

from scaleright.catalog import accelerator, fact, model, shared
from scaleright.formulas import lookup, search
from scaleright.inference.curves import APART, IN_STEPS, Curve, curves
from scaleright.inference.deployment import NEEDS, Deployment
from scaleright.inference.engine_tables import apart_places
from scaleright.inference.formats import offered
from scaleright.inference.levers import can_be_sparse
from scaleright.inference.nodes import engines_like
from scaleright.inference.slowdowns import slowdowns

SOFTWARE = "vLLM 0.17.0"
STEPS = ("decoding", "reading", "grouped", "each_s", "reader_s")
"""Columns of a curve that depend on how weights are stored and multiplied."""
CACHE = (
    *("chips", "replicas", "waiting", "budget", "most", "near", "window"),
    *("look", "read", "hold", "reader"),
)
"""Columns that depend on what sequences keep, and on the chips of the engine."""
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


def _row(
    found: Sequence[Curve], columns: Sequence[str], most: int, apart: Collection[int]
) -> dict[str, Any]:
    """Columns of the curves of so many engines at most, at some places with those that read prompts
    for them; of one that is not there only that it holds no sequence.
    """
    row: dict[str, Any] = {}
    for place in range(most):
        one = found[place] if found[place:] else None
        for column in columns:
            if column in APART and place not in apart:
                continue
            told = getattr(one or found[0], column)
            told = [*IN_STEPS] if told is None else told
            none = [float("nan")] * len(told) if isinstance(told, list) else 1.0
            row[f"{column} {place}"] = told if one else none
    return row


@search
@shared
def group_rows(
    models: tuple[str, ...], accelerators: tuple[str, ...]
) -> tuple[Mapping[tuple[str, ...], dict], Mapping[tuple[str, ...], dict]]:
    """Rows for `choose` of groups of chips, the engines of `nodes.engines_like`: each number of a
    `Curve` with the place of the engine in its name.

    Returns
    -------
    steps : by model, accelerator, format of the weights, and whether products are sparse
    cache : by model, accelerator, format of the weights, and that of the cache

    >>> steps, cache = group_rows(("Llama-3.1-8B",), ("H100 SXM",))
    >>> [key[2:] for key in steps][:3], len(steps["Llama-3.1-8B", "H100 SXM", "FP8", "2:4"])
    ([('BF16', 'dense'), ('BF16', '2:4'), ('FP8', 'dense')], 12)
    """
    found = {}
    for name, chip_name in product(models, accelerators):
        shape, chip = model(name), accelerator(chip_name)
        for form in dict.fromkeys((*offered(shape, chip), *lever_formats(chip_name).values())):
            one = Deployment(shape, chip, form, software=SOFTWARE, kv_precision="BF16")
            if group := engines_like(one):
                found[name, chip_name, form] = group
    known = {key: curves(group) for key, group in found.items()}
    steps, cache, most = {}, {}, max(map(len, found.values()), default=1)
    apart = apart_places(known.values())
    for key, group in found.items():
        plain, one = known[key], group[0]
        steps[*key, DENSE] = _row(plain, STEPS, most, apart)
        cache[*key, "BF16"] = _row(plain, CACHE, most, apart)
        if can_be_sparse(one):
            slow = slowdowns(one)
            slow = {**slow, "matmul": slow["matmul"] / fact("sparse_throughput_ratio")}
            steps[*key, SPARSE] = _row(curves(group, slow), STEPS, most, apart)
        if "fp8" in one.chip.dense:
            kept = curves([replace(d, kv_precision="FP8") for d in group])
            cache[*key, "FP8"] = _row(kept, CACHE, most, apart)
    return MappingProxyType(steps), MappingProxyType(cache)
