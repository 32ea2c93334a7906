"""Parallelism Playbook (F4): memory, throughput, latency and complexity of each way to split a run,
computed for the run.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from scaleright.order import noiseless
from scaleright.training.layout import RECOMPUTE, Layout, TrainingRun
from scaleright.training.memory import TrainingMemory, training_memory
from scaleright.training.rules import FIELDS
from scaleright.training.search import layouts, pick
from scaleright.training.step import StepTime, mfu, step_time, tokens_per_s_per_chip

STRATEGIES = ("data", "sharded data", "tensor", "pipeline", "hybrid")
"""Ways to split a run, the simplest first. Data: each chip holds the whole model. Sharded data
(ZeRO, FSDP): each holds a share of it and gathers the rest. Tensor, pipeline: copies of the model
over several chips. Hybrid: two ways or more, context, experts.
"""

SOURCE_WORDS = pd.DataFrame(
    {
        "memory": ("high", "", "low", "low", "moderate"),
        "throughput": ("near-linear", "", "moderate", "high", "high"),
        "latency": ("low", "", "high", "high", "moderate"),
        "complexity": ("simple", "", "moderate", "moderate", "high"),
    },
    index=pd.Index(STRATEGIES, name="strategy"),
)
"""The adjectives of Clarifai's Parallelism Playbook, whose "model" parallelism is taken as tensor
parallelism; sharded data it has not.
"""


def ways(layout: Layout) -> Any:
    """Ways of splitting the model or its sequences that a layout uses at once [1]."""
    split = sum(
        (getattr(layout, name) > 1) * 1 for name in ("tensor", "pipeline", "context", "expert")
    )
    return split + (layout.zero == 3) * 1


def strategy(layout: Layout) -> np.ndarray:
    """The strategy of each layout, of `STRATEGIES`.

    >>> strategy(Layout(tensor=np.array([1, 1, 8, 8]), pipeline=np.array([1, 1, 1, 8]),
    ...     zero=np.array([0, 3, 1, 1]))).tolist()
    ['data', 'sharded data', 'tensor', 'hybrid']
    """
    single, alone = ways(layout) == 1, ways(layout) == 0
    cases = [
        alone & (layout.zero == 0),
        alone | single & (layout.zero == 3),
        single & (layout.tensor > 1),
        single & (layout.pipeline > 1),
    ]
    return np.select(cases, STRATEGIES[:-1], STRATEGIES[-1])


def words(layout: Layout) -> str:
    """One layout as engineers write it.

    >>> words(Layout(tensor=8, pipeline=8, data=16, virtual=3, recompute=1))
    'TP8 PP8 VP3 DP16, micro-batch 1, ZeRO-1, recompute selective'
    >>> words(Layout(data=64, zero=3, replicas=8))
    'DP64, micro-batch 1, FSDP in 8 groups'
    """
    degrees = {
        "TP": layout.tensor,
        "CP": layout.context,
        "PP": layout.pipeline,
        "VP": layout.virtual,
        "EP": layout.expert,
    }
    used = [f"{name}{size}" for name, size in degrees.items() if size > 1]
    zero = "FSDP" if layout.zero == 3 else f"ZeRO-{layout.zero}" if layout.zero else "no sharding"
    zero += f" in {layout.replicas} groups" if layout.replicas > 1 else ""
    again = f", recompute {RECOMPUTE[layout.recompute]}" if layout.recompute else ""
    return (
        f"{' '.join([*used, f'DP{layout.data}'])}, micro-batch {layout.micro_batch}, {zero}{again}"
    )


def contenders(
    run: TrainingRun, optimizer: str = "adamw", **fixed: Any
) -> dict[str, tuple[Layout, TrainingMemory, StepTime | None, int]]:
    """Of each strategy the fastest layout that fits, else the leanest: layout, memory, step time
    and layouts to choose from.

    A strategy without any layout is left out; a layout that does not fit has no step time.

    fixed : fields of a layout with the value, or the values, to which they are held

    Raises
    ------
    ValueError : the run is impossible on any layout (see `rules.check_run`).
    """
    replicas = layouts(run, **fixed, zero=0, tensor=1, pipeline=1, context=1, expert=1)
    both = (replicas, layouts(run, **fixed))
    every = Layout(
        **{name: np.concatenate([getattr(one, name) for one in both]) for name in FIELDS}
    )
    memory, kind = training_memory(run, every, optimizer), strategy(every)
    total, fits = memory.total, memory.fits(run)
    seconds, steps, places = (
        np.full(total.shape, np.inf),
        step_time(run, pick(every, fits)),
        np.cumsum(fits) - 1,
    )
    seconds[fits] = steps.total
    best = {}
    for name in STRATEGIES:
        of = np.flatnonzero(kind == name)
        if of.size:
            first = int(of[np.lexsort((total[of], seconds[of]))[0]])
            one = pick(every, first)
            one = Layout(**{field: int(getattr(one, field)) for field in FIELDS})
            step = steps.at(places[first]) if fits[first] else None
            best[name] = one, memory.at(first), step, of.size
    return best


def latency_s(run: TrainingRun, layout: Layout) -> float:
    """Time of the shortest step that a layout can take: one sequence through each copy of the
    model, forward and back [s].
    """
    return float(
        step_time(
            replace(run, global_batch=layout.data), replace(layout, virtual=1, micro_batch=1)
        ).total
    )


def playbook(run: TrainingRun, optimizer: str = "adamw") -> pd.DataFrame:
    """Clarifai's table with figures for one run: a row for each strategy, at its fastest layout
    that fits or its leanest.

    Returns
    -------
    frame indexed by strategy: layout (words), fits, memory_bytes of a chip, tokens_per_s_per_chip,
    mfu and slower_by (the best strategy's tokens over these, less 1), latency_s (see `latency_s`),
    ways (dimensions to keep apart in code and network) and layouts (valid ones to choose from).
    Where nothing fits, throughput and latency are empty.

    >>> from scaleright import catalog
    >>> run = TrainingRun(catalog.model("Llama-3.1-8B"), catalog.accelerator("H100 SXM"), 64, 8192,
    ...     256)
    >>> bool(playbook(run).loc["data", "fits"]), bool(playbook(run).loc["sharded data", "fits"])
    (False, True)
    """
    rows = {}
    for name, (layout, memory, step, count) in contenders(run, optimizer).items():
        speed = (
            {
                "tokens_per_s_per_chip": float(tokens_per_s_per_chip(run, step)),
                "mfu": float(mfu(run, step)),
            }
            if step
            else {}
        )
        rows[name] = {
            "layout": words(layout),
            "fits": step is not None,
            "memory_bytes": float(memory.total),
            **speed,
            "latency_s": latency_s(run, layout) if step else np.nan,
            "ways": int(ways(layout)) + (layout.data > 1),
            "layouts": count,
        }
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("strategy")
    rate = table.get("tokens_per_s_per_chip", pd.Series(np.nan, table.index))
    return table.assign(slower_by=noiseless(rate.max() / rate) - 1)
