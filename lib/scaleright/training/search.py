"""All layouts of a training run, weighed in a few broadcast calls: the fastest, the cheapest, or
the front of time and headroom.

Which there are is enumerated by `layouts`, what fits is told by `memory`, how long it takes by
`step`.
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
from scaleright.training.layouts import layouts, pick
from scaleright.training.memory import TrainingMemory, training_memory
from scaleright.training.rules import FIELDS, check
from scaleright.training.step import StepTime, mfu, step_time, tokens_per_s_per_chip
from scaleright.units import SECONDS_PER_HOUR

ORDERS = {
    "time": ["step_s"],
    "cost": ["chip_hours_per_billion_tokens"],
    "pareto": ["chips", "step_s"],
}
"""Aims of a search, and the columns by which its layouts are put in order."""
LEAN = {"micro_batch": 1, "virtual": 1, "recompute": 2}
"""Choices with which a layout takes the least memory."""
CHIPS_TRIED = 64
"""How many chips less or more are tried where no layout divides a run."""
MOST_DOUBLINGS = 12


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
    whole = run.chip.require("memory_bytes")
    of_chip = f"{taken / 1e9:,.0f} GB of the {whole / 1e9:,.0f} GB of a chip"
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


def _of_sizes(
    run: TrainingRun, sizes: Iterable[int], optimizer: str, fixed: dict[str, Any]
) -> list[Candidates]:
    """The candidates on each cluster size on which something fits."""
    found, first = [], None
    for size in sizes:
        try:
            found.append(candidates(replace(run, chips=size), optimizer, **fixed))
        except ValueError as error:
            first = first or error
    if first and not found:
        raise first
    return found


def _best(found: Candidates, by: str, limit: int) -> np.ndarray:
    """Indices of the candidates that an aim picks, the fastest first."""
    time_s = found.step.total
    return (
        _front(time_s, found.memory.total)
        if by == "pareto"
        else np.argsort(noiseless(time_s), kind="stable")[:limit]
    )


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
    one_of(by, ORDERS, "aim of a search")
    sizes = tuple(chips) or (run.chips,)
    found = _of_sizes(run, sizes, optimizer, fixed)
    frames = [_frame(each, _best(each, by, limit), usd_per_hour) for each in found]
    return (
        pd.concat(frames)
        .sort_values(ORDERS[by], key=noiseless, kind="stable", ignore_index=True)
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
        slower_by=own_s / best_s - 1 if own_s > best_s * (1 + 1e-12) else 0.0,  # not of rounding
        step_s=own_s,
        best_s=min(own_s, best_s),
        memory_bytes=float(memory.total),
        fits=bool(memory.fits(run)),
    )
