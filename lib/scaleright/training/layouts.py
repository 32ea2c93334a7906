"""All layouts of a training run that are worth weighing.

What can run at all is decided by `rules`. Layouts that cannot be better than another are left out
unless they are asked for: ZeRO 0 keeps more than ZeRO 1 and sends as much, and without sequence
parallelism activations are whole while no fewer bytes are sent [korthikanti2022, section 4.2.2].
Tensor parallelism stays within the chips that share a fabric [narayanan2021, takeaway 1]: no
published run crosses it, so its constants are not known beyond. A sequence of up to
`LONGEST_WHOLE_SEQUENCE` tokens stays on one rank, as in published runs. Hybrid sharding is weighed
where `replicas` are asked for.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from scaleright.formulas import search as looks_for
from scaleright.names import one_of
from scaleright.training.layout import LONGEST_WHOLE_SEQUENCE, Layout, TrainingRun
from scaleright.training.rules import FIELDS, MODULES_BESIDE_LAYERS, check_run, divisors, valid

LEAST_CHUNK = 128
"""Tokens that context parallelism leaves in each of its chunks at least: a tile of flash attention.
"""


@looks_for
def pick(layout: Layout, which: Any) -> Layout:
    """Some of the layouts of an array, by mask, indices or one index.

    >>> pick(Layout(tensor=np.array([1, 2, 4])), 2).tensor.item()
    4
    """
    columns = np.broadcast_arrays(*(getattr(layout, name) for name in FIELDS))
    which = np.flatnonzero(which) if np.ndim(which) and np.asarray(which).dtype == bool else which
    return Layout(**{name: column[which] for name, column in zip(FIELDS, columns, strict=True)})


def _crossed(layout: Layout, axes: dict[str, Any]) -> Layout:
    """Each layout with every combination of further choices."""
    index, *chosen = (
        grid.ravel()
        for grid in np.meshgrid(np.arange(np.size(layout.tensor)), *axes.values(), indexing="ij")
    )
    return replace(pick(layout, index), **dict(zip(axes, chosen, strict=True)))


def _axes(run: TrainingRun) -> dict[str, Any]:
    """The choices of each field that are worth crossing; `data` follows from them."""
    model, of_chips = run.model, divisors(run.chips)
    ranks = of_chips if run.sequence > LONGEST_WHOLE_SEQUENCE else [1]
    stages = {
        d for extra in range(MODULES_BESIDE_LAYERS + 1) for d in divisors(model.layers + extra)
    }
    return {
        "tensor": [
            d for d in of_chips if model.heads % d == 0 and d <= (run.chip.scale_up_chips or 1)
        ],
        "pipeline": [d for d in of_chips if d in stages],
        "context": [d for d in ranks if d == 1 or 2 * d * LEAST_CHUNK <= run.sequence],
        "expert": divisors(max(model.experts, 1)),
        "virtual": sorted(stages),
        "micro_batch": divisors(run.global_batch),
        "zero": [1, 2, 3],
        "recompute": [0, 1, 2],
        "sequence_parallel": [1],
        "replicas": [1],
    }


@looks_for
def layouts(run: TrainingRun, **fixed: Any) -> Layout:
    """Every layout that keeps the rules, as one `Layout` of arrays; it may be empty.

    Parameters
    ----------
    run : what is trained, on what
    fixed : fields of a layout with the value, or the values, to which they are held

    Raises
    ------
    LookupError : no such field. ValueError : the run itself is impossible (see `rules.check_run`).

    >>> from scaleright import catalog
    >>> run = TrainingRun(catalog.model("Llama-3.1-8B"), catalog.accelerator("H100 SXM"), 8, 8192,
    ...     128)
    >>> found = layouts(run, micro_batch=1, recompute=0, context=1, virtual=1)
    >>> [(int(t), int(p), int(d), int(z)) for t, p, d,
    ...     z in zip(found.tensor, found.pipeline, found.data, found.zero)][:4]
    [(1, 1, 8, 1), (1, 1, 8, 2), (1, 1, 8, 3), (1, 2, 4, 1)]
    """
    check_run(run)
    fixed = {
        one_of(name, FIELDS, "field of a layout"): np.atleast_1d(value)
        for name, value in fixed.items()
    }
    axes = _axes(run) | fixed
    found = Layout(tensor=np.ones(1, dtype=int))
    for step in (
        ("tensor", "pipeline", "context"),
        ("expert", "virtual"),
        ("micro_batch",),
        ("zero", "recompute", "sequence_parallel", "replicas"),
    ):
        found = _crossed(found, {name: axes[name] for name in step})
        if "tensor" in step:
            found = replace(
                found,
                data=np.maximum(run.chips // (found.tensor * found.pipeline * found.context), 1),
            )
        found = pick(found, valid(run, found))
    alone = found.data * found.context == 1  # nothing to share out
    return pick(
        found,
        np.isin(found.data, fixed.get("data", found.data))
        & ((found.zero == axes["zero"][0]) | ~alone),
    )


@looks_for
def slower_twins(found: Layout) -> np.ndarray:
    """Where a layout is the one before it but for more recomputation: if that fits, this is never
    faster, since a busy second hides at most one.

    >>> slower_twins(Layout(tensor=np.array([1, 1, 2]), recompute=np.array([0, 2, 2])))
    array([False,  True, False])
    """
    columns = {name: np.atleast_1d(getattr(found, name)) for name in FIELDS}
    size = max(column.size for column in columns.values())
    again = np.broadcast_to(columns.pop("recompute"), size)
    twins = again[1:] > again[:-1]
    for column in columns.values():
        twins &= column[1:] == column[:-1] if column.size > 1 else True
    return np.append(False, twins)
