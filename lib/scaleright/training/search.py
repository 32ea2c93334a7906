"""All layouts of a training run, weighed in a few broadcast calls: the fastest, the cheapest, or
the front of time and headroom.

What can run at all is decided by `rules`, what fits by `memory`, how long it takes by `step`.
Layouts that cannot be better than another are left out unless they are asked for: ZeRO 0 keeps more
than ZeRO 1 and sends as much, and without sequence parallelism activations are whole while no fewer
bytes are sent [korthikanti2022, section 4.2.2]. Tensor parallelism stays within the chips that
share a fabric [narayanan2021, takeaway 1]: no published run crosses it, so its constants are not
known beyond.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from scaleright.formulas import search as looks_for
from scaleright.names import one_of
from scaleright.order import noiseless
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.memory import TrainingMemory, training_memory
from scaleright.training.rules import (
    FIELDS,
    MODULES_BESIDE_LAYERS,
    check,
    check_run,
    divisors,
    valid,
)
from scaleright.training.step import StepTime, mfu, step_time, tokens_per_s_per_chip
from scaleright.units import SECONDS_PER_HOUR

AIMS = ("time", "cost", "pareto")
LEAST_CHUNK = 128
"""Tokens that context parallelism leaves in each of its chunks at least: a tile of flash attention.
"""
LEAN = {"micro_batch": 1, "virtual": 1, "recompute": 2}
"""Choices with which a layout takes the least memory."""
CHIPS_TRIED = 64
"""How many chips less or more are tried where no layout divides a run."""
MOST_DOUBLINGS = 12


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
    model, of_chips = run.model, divisors(run.chips)
    stages = {
        d for extra in range(MODULES_BESIDE_LAYERS + 1) for d in divisors(model.layers + extra)
    }
    axes = {
        "tensor": [
            d
            for d in of_chips
            if model.heads % d == 0 and d <= (run.chip.scale_up_chips or math.inf)
        ],
        "pipeline": [d for d in of_chips if d in stages],
        "context": [d for d in of_chips if d == 1 or 2 * d * LEAST_CHUNK <= run.sequence],
        "expert": divisors(max(model.experts, 1)),
        "virtual": sorted(stages),
        "micro_batch": divisors(run.global_batch),
        "zero": [1, 2, 3],
        "recompute": [0, 1, 2],
        "sequence_parallel": [1],
    } | fixed
    found = Layout(tensor=np.ones(1, dtype=int))
    for step in (
        ("tensor", "pipeline", "context"),
        ("expert", "virtual"),
        ("micro_batch",),
        ("zero", "recompute", "sequence_parallel"),
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


@dataclass(frozen=True)
class Candidates:
    """Layouts that fit, with their memory and time; all of one shape."""

    run: TrainingRun
    layout: Layout
    memory: TrainingMemory
    step: StepTime


def _fitting(run: TrainingRun, layout: Layout, optimizer: str) -> tuple[Layout, TrainingMemory]:
    memory = training_memory(run, layout, optimizer)
    fits = memory.fits(run)
    return pick(layout, fits), TrainingMemory(
        **{name: np.broadcast_to(part, fits.shape)[fits] for name, part in memory.parts().items()}
    )


def _refuse(run: TrainingRun, optimizer: str, fixed: dict[str, Any]) -> NoReturn:
    """Say why no layout is left: what the leanest one lacks, and on how many chips one would
    fit.
    """
    where = f"{run.model.name} on {run.chips:,} x {run.chip.name}"
    held = "".join(f", {name} = {value}" for name, value in fixed.items())
    lean = LEAN | fixed
    tried = layouts(run, **lean)
    if not tried.tensor.size:
        sizes = sorted(
            {
                s
                for by in range(1, CHIPS_TRIED + 1)
                for s in (run.chips - by, run.chips + by)
                if s > 0
            },
            key=lambda s: abs(s - run.chips),
        )
        near = next((s for s in sizes if layouts(replace(run, chips=s), **lean).tensor.size), None)
        hint = (
            f"nearest: chips = {near}"
            if near
            else f"nor so many chips less or more than {CHIPS_TRIED}; take another global_batch"
        )
        raise ValueError(
            f"{where}{held}: no layout divides it with global_batch = {run.global_batch:,}; {hint}"
        )
    taken = float(training_memory(run, tried, optimizer).total.min())
    larger = (replace(run, chips=run.chips * 2**k) for k in range(1, MOST_DOUBLINGS + 1))
    enough = next(
        (r.chips for r in larger if _fitting(r, layouts(r, **lean), optimizer)[0].tensor.size), None
    )
    hint = (
        f"nearest that fits: chips = {enough:,}"
        if enough
        else "nothing fits on more chips; take a smaller model or a larger chip"
    )
    of_chip = f"{taken / 1e9:,.0f} GB of the {run.chip.memory_bytes / 1e9:,.0f} GB of a chip"
    raise ValueError(f"{where}{held}: the leanest layout takes {of_chip}; {hint}")


@looks_for
def candidates(run: TrainingRun, optimizer: str = "adamw", **fixed: Any) -> Candidates:
    """Every layout that keeps the rules and fits in memory, with its memory and its step time.

    Raises
    ------
    ValueError : none fits; names what the leanest takes and the chips on which one would fit.

    >>> from scaleright import catalog
    >>> run = TrainingRun(catalog.model("Llama-3.1-8B"), catalog.accelerator("H100 SXM"), 8, 8192,
    ...     128)
    >>> found = candidates(run, pipeline=1, context=1)
    >>> bool((found.memory.total <= run.chip.memory_bytes).all(
    ...     )), found.step.total.shape == found.layout.tensor.shape
    (True, True)
    """
    layout, memory = _fitting(run, layouts(run, **fixed), optimizer)
    if not layout.tensor.size:
        _refuse(run, optimizer, fixed)
    return Candidates(run, layout, memory, step_time(run, layout))


@looks_for
def require_layout(run: TrainingRun, optimizer: str = "adamw", **fixed: Any) -> None:
    """Refuse a run that no layout splits, or that fits in memory in none; `candidates` would, after
    weighing all of them.

    Raises
    ------
    ValueError : as `candidates`.

    >>> from scaleright import catalog
    >>> require_layout(TrainingRun(catalog.model("Llama-3.1-8B"), catalog.accelerator("H100 SXM"),
    ...     8, 8192, 128))
    """
    lean = layouts(run, **LEAN | fixed)
    if not _fitting(run, lean, optimizer)[0].tensor.size:
        _refuse(run, optimizer, fixed)


def _front(time_s: np.ndarray, memory_bytes: np.ndarray) -> np.ndarray:
    """Indices of those that nobody beats in both, the fastest first."""
    order = np.lexsort((memory_bytes, time_s))
    least = np.minimum.accumulate(memory_bytes[order])
    return order[np.concatenate([[True], least[1:] < least[:-1]])]


def _frame(found: Candidates, best: np.ndarray, usd_per_hour: float) -> pd.DataFrame:
    """The chosen candidates, one row each."""
    run, capacity = found.run, found.run.chip.require("memory_bytes")
    columns = {"chips": run.chips} | {name: getattr(found.layout, name)[best] for name in FIELDS}
    step = StepTime(
        **{
            name: np.broadcast_to(part, found.layout.tensor.shape)[best]
            for name, part in found.step.parts().items()
        }
    )
    memory = found.memory.total[best]
    columns |= {
        "step_s": step.total,
        "memory_bytes": memory,
        "headroom": 1 - memory / capacity,
        "mfu": mfu(run, step),
    }
    columns |= {"tokens_per_s_per_chip": tokens_per_s_per_chip(run, step)}
    columns["chip_hours_per_billion_tokens"] = (
        1e9 / SECONDS_PER_HOUR / columns["tokens_per_s_per_chip"]
    )
    columns["usd_per_billion_tokens"] = usd_per_hour * columns["chip_hours_per_billion_tokens"]
    return pd.DataFrame(columns | step.parts())


@looks_for
def search(
    run: TrainingRun,
    by: str = "time",
    limit: int = 10,
    chips: Iterable[int] = (),
    optimizer: str = "adamw",
    usd_per_hour: float = math.nan,
    **fixed: Any,
) -> pd.DataFrame:
    """The best layouts of a run, one row each, the best first.

    Parameters
    ----------
    run : what is trained, on what
    by : "time" of a step; "cost", the chips' hours for the same tokens, hence their rent; "pareto",
        all layouts of which none is both faster and leaner, for each cluster size
    limit : rows at most
    chips : cluster sizes to try instead of the run's own [1]; those on which nothing fits are left
        out
    optimizer : as in `training_memory`
    usd_per_hour : rent of one chip [USD/h]
    fixed : fields of a layout with the value, or the values, to which they are held

    Returns
    -------
    frame: chips, the fields of a layout, step_s, memory_bytes, headroom (share of a chip's memory
    left) [1], mfu [1], tokens_per_s_per_chip, chip_hours_per_billion_tokens and, at the rent given,
    usd_per_billion_tokens, and the parts of `StepTime` [s].

    Raises
    ------
    ValueError : nothing fits. LookupError : unknown aim, field or optimizer.

    >>> from scaleright import catalog
    >>> run = TrainingRun(catalog.model("Llama-3.1-8B"), catalog.accelerator("H100 SXM"), 8, 8192,
    ...     128)
    >>> best = search(run, limit=3)
    >>> bool(best["step_s"].is_monotonic_increasing), bool((best["headroom"] >= 0).all())
    (True, True)
    """
    one_of(by, AIMS, "aim of a search")
    found, first = [], None
    for size in tuple(chips) or (run.chips,):
        try:
            found.append(candidates(replace(run, chips=size), optimizer, **fixed))
        except ValueError as error:
            first = first or error
    if first and not found:
        raise first
    frames = []
    for each in found:
        time_s = each.step.total
        best = (
            _front(time_s, each.memory.total)
            if by == "pareto"
            else np.argsort(noiseless(time_s), kind="stable")[:limit]
        )
        frames.append(_frame(each, best, usd_per_hour))
    key = {
        "time": ["step_s"],
        "cost": ["chip_hours_per_billion_tokens"],
        "pareto": ["chips", "step_s"],
    }[by]
    return (
        pd.concat(frames)
        .sort_values(key, key=noiseless, kind="stable", ignore_index=True)
        .head(limit)
    )


@dataclass(frozen=True)
class Rank:
    """Where a layout stands among all that fit.

    rank : 1 is the fastest [1]
    candidates : layouts that fit, this one included [1]
    slower_by : its time over the fastest's, less 1 [1]
    step_s, best_s : its time and the fastest's [s]
    memory_bytes : what it takes of a chip [B]
    fits : whether it fits by the memory model
    """

    rank: int
    candidates: int
    slower_by: float
    step_s: float
    best_s: float
    memory_bytes: float
    fits: bool


@looks_for
def rank(
    run: TrainingRun, layout: Layout, optimizer: str = "adamw", among: Candidates | None = None
) -> Rank:
    """Rank of one layout by step time among all candidates, of which it is one even if it does not
    fit.

    among : the run's `candidates`, if they are at hand

    Raises
    ------
    ValueError : the layout breaks a rule (see `rules.check`), or nothing fits.

    >>> from scaleright import catalog
    >>> run = TrainingRun(catalog.model("Llama-3.1-8B"), catalog.accelerator("H100 SXM"), 8, 8192,
    ...     128)
    >>> rank(run, Layout(tensor=8)).slower_by > 0
    True
    """
    check(run, layout)
    among = among or candidates(run, optimizer)
    idle = (
        {"sequence_parallel": 1} if layout.tensor == 1 else {}
    )  # choices without effect, as `layouts` writes them
    layout = replace(layout, **idle, **({"zero": 1} if layout.data * layout.context == 1 else {}))
    same = np.all([getattr(among.layout, name) == getattr(layout, name) for name in FIELDS], axis=0)
    memory, own_s, best_s = (
        training_memory(run, layout, optimizer),
        float(step_time(run, layout).total),
        float(among.step.total.min()),
    )
    return Rank(
        rank=1 + int((among.step.total[~same] < own_s).sum()),
        candidates=int((~same).sum()) + 1,
        slower_by=own_s / min(own_s, best_s) - 1,
        step_s=own_s,
        best_s=min(own_s, best_s),
        memory_bytes=float(memory.total),
        fits=bool(memory.fits(run)),
    )
