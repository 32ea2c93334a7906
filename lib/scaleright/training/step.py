"""Time of a training step from its configuration alone, by parts.

The physical parts (`parts`) run at the speeds a chip was measured to reach; a few slowdowns, fitted
to published runs, say how much longer each kind of work takes in practice, and `hiding` what of it
shows.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from scaleright.formulas import Breakdown, counting, search
from scaleright.names import one_of
from scaleright.ops import size, where
from scaleright.roofline import PEAK_NAMES
from scaleright.training.hiding import shown_parts
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.machine import Machine
from scaleright.training.memory import FSDP, MEGATRON, TrainingMemory, training_memory
from scaleright.training.parts import KINDS, work
from scaleright.training.rules import check
from scaleright.training.slowdowns import Slowdowns, borrowed, interval
from scaleright.training.slowdowns import slowdowns as stored
from scaleright.transformer.flops import forward_flop, training_flop_per_token


@dataclass(frozen=True)
class StepTime(Breakdown):
    """Seconds of one optimizer step on the critical path; communication as far as computing does
    not hide it.

    matmul_s : matrix products, experts included
    attention_s : scores and weighted values
    elementwise_s : memory-bound work: norms, activations, casts, logits, moving tokens to their
        experts on a chip
    recompute_s : everything that runs forward a second time
    tensor_s, context_s, expert_s, pipeline_s, data_s : communication of each kind of parallelism
    bubble_s : a stage waits for the others
    optimizer_s : update of the weights
    host_s : launching kernels
    """

    matmul_s: Any
    attention_s: Any
    elementwise_s: Any
    recompute_s: Any
    tensor_s: Any
    context_s: Any
    expert_s: Any
    pipeline_s: Any
    bubble_s: Any
    data_s: Any
    optimizer_s: Any
    host_s: Any


COMMUNICATION = ("tensor_s", "context_s", "expert_s", "pipeline_s", "data_s")
"""Parts of a step that are communication which computing does not hide."""
BATCH = 16_384
"""Layouts worked out at once, so that their numbers stay in the processor's cache."""
_WITH = {"grouped": "matmul", "routing": "elementwise"}
"""Kinds of work that a step time shows with another."""
_SHOWN = {kind: f"{_WITH.get(kind, kind)}_s" for kind in KINDS}
_NOTHING = dict.fromkeys((field.name for field in fields(StepTime)), 0.0)


@search
def step_time(
    run: TrainingRun,
    layout: Layout,
    slowdowns: Slowdowns | None = None,
    machine: Machine | None = None,
) -> StepTime:
    """Time of one optimizer step, by parts.

    Parameters
    ----------
    run : what is trained, on what
    layout : how it is spread; its fields may be arrays, one element a layout, or quantities
    slowdowns : time in practice over time at measured peaks; by default the stored ones of the
        run's families
    machine : the speeds of the run's chip, by default those of the tables

    Notes
    -----
    Whether a layout is valid and fits is asked elsewhere (`rules.check`, `training_memory`);
    `estimate` asks both.

    >>> from scaleright import catalog
    >>> run = TrainingRun(catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM"), 64, 8192,
    ...     256, "FP8")
    >>> step = step_time(run, Layout(tensor=4, pipeline=8, data=2, virtual=5))
    >>> 15 < step.total < 30
    True
    """
    slow = slowdowns or stored(run)
    if (many := size(*vars(layout).values())) > BATCH:
        return _in_batches(run, layout, slow, machine, many)
    parts = shown_parts(work(run, layout, slow.stack, machine), slow.by_kind)
    shown = dict(_NOTHING)
    for kind, part in _SHOWN.items():
        useful, again, waits = parts.seconds(kind)
        factor = slow.by_kind[kind]
        shown[part] = shown[part] + factor * useful
        shown["recompute_s"] = shown["recompute_s"] + factor * again
        shown["bubble_s"] = shown["bubble_s"] + factor * waits
    return StepTime(**shown)


def _in_batches(
    run: TrainingRun, layout: Layout, slow: Slowdowns, machine: Machine | None, many: int
) -> StepTime:
    """`step_time` of so many layouts, `BATCH` at once."""
    whole = {name: np.broadcast_to(value, many) for name, value in vars(layout).items()}
    starts = range(0, many, BATCH)
    pieces = [
        step_time(
            run,
            Layout(**{name: value[i : i + BATCH] for name, value in whole.items()}),
            slow,
            machine,
        )
        for i in starts
    ]
    sizes = [min(BATCH, many - start) for start in starts]
    named = zip(*(piece.parts().values() for piece in pieces), strict=True)
    return StepTime(
        *(np.concatenate(list(map(np.broadcast_to, values, sizes))) for values in named)
    )


@dataclass(frozen=True)
class Estimate:
    """A step time with its range.

    step : time by parts
    low_s, high_s : where nine of ten runs of models that the fit has not seen lie [s]
    memory : what the fullest chip holds
    basis : which constants are borrowed, in words; empty where none is
    """

    step: StepTime
    low_s: Any
    high_s: Any
    memory: TrainingMemory
    basis: str


@search
def estimate(run: TrainingRun, layout: Layout, software: str | None = None) -> Estimate:
    """Time of a step with its range, of a layout that is valid and fits.

    Raises
    ------
    ValueError : the layout breaks a rule (which, and the nearest value that keeps it), or does not
        fit in memory.

    >>> from scaleright import catalog
    >>> run = TrainingRun(catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM"), 64, 8192,
    ...     256, "FP8")
    >>> found = estimate(run, Layout(tensor=4, pipeline=8, data=2, virtual=5))
    >>> found.low_s < found.step.total < found.high_s, found.basis
    (True, '')
    """
    check(run, layout)
    slow = stored(run, software)
    memory = training_memory(run, layout, software=FSDP if slow.stack.native else MEGATRON)
    if not memory.fits(run):
        holds, has = memory.total / 1e9, run.chip.require("memory_bytes") / 1e9
        raise ValueError(
            f"{run.model.name} on {run.chip.name}: takes {holds:.0f} GB a chip in this layout,"
            f" allowed: {has:.0f} GB; split it further (tensor, pipeline, zero=3), recompute, or"
            " take smaller micro-batches"
        )
    step = step_time(run, layout, slow)
    low, high = interval(run, software)
    return Estimate(step, low * step.total, high * step.total, memory, borrowed(run, software))


@counting
def tokens_per_s_per_chip(run: TrainingRun, step: StepTime):
    """Tokens that a chip trains on in a second [token/s]."""
    return run.tokens / run.chips / step.total


ATTENTION = ("causal", "full", "none")


@counting
def model_flop(run: TrainingRun, attention: str = "causal"):
    """Model FLOP of one optimizer step over all chips [FLOP].

    attention : "causal" counts the positions a token attends to, "full" all of the sequence
        (Megatron, PaLM), "none" leaves scores out
    """
    one_of(attention, ATTENTION, "convention of attention")
    forward = forward_flop(run.model, run.sequence, causal=attention != "full")
    counted = forward.total - (forward.scores_and_values_flop if attention == "none" else 0.0)
    frozen = where(run.task == "lora", forward.total - forward.scores_and_values_flop, 0.0)
    return run.tokens * training_flop_per_token(counted, frozen_flop=frozen)


@counting
def mfu(run: TrainingRun, step: StepTime, attention: str = "causal"):
    """Model FLOP utilization [1]: model FLOP over what the chips' dense peak would do in the
    step.
    """
    return model_flop(run, attention) / (
        step.total * run.chips * run.chip.peak_flops(PEAK_NAMES[run.precision])
    )


@counting
def hfu(run: TrainingRun, layout: Layout, step: StepTime, attention: str = "causal"):
    """Hardware FLOP utilization [1]: with the FLOP that run again in the backward pass."""
    forward = forward_flop(run.model, run.sequence, causal=attention != "full")
    scores = 0.0 if attention == "none" else forward.scores_and_values_flop
    layers = forward.total - forward.head_flop - forward.scores_and_values_flop + scores
    again = (layout.recompute == 2) * layers + (layout.recompute == 1) * scores
    extra = (
        run.global_batch
        * run.sequence
        * again
        / (run.chips * run.chip.peak_flops(PEAK_NAMES[run.precision]))
    )
    return mfu(run, step, attention) + extra / step.total
