"""Time of a training step from its configuration alone, by parts.

The physical parts (`parts`) run at the speeds a chip was measured to reach; a few slowdowns, fitted to published runs, say how much
longer each kind of work takes in practice. The predicted time is linear in the slowdowns.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from scaleright.formulas import Breakdown, search
from scaleright.names import one_of
from scaleright.roofline import PEAK_NAMES
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.parts import KINDS, machine, physical_parts
from scaleright.transformer.flops import forward_flop, training_flop_per_token


@dataclass(frozen=True)
class Slowdowns:
    """Time in practice over time at measured peaks, by kind of work (see `parts.KINDS`) [1]."""

    matmul: float = 1.15
    grouped: float = 1.3
    attention: float = 1.6
    elementwise: float = 1.5
    routing: float = 1.3
    tensor: float = 1.0
    context: float = 1.0
    expert: float = 1.0
    pipeline: float = 1.0
    data: float = 1.5
    optimizer: float = 1.3
    host: float = 1.0

    def of(self, kind: str) -> float:
        """The slowdown of a kind of work."""
        return getattr(self, kind)


@dataclass(frozen=True)
class StepTime(Breakdown):
    """Seconds of one optimizer step on the critical path; communication as far as computing does not hide it.

    matmul_s : matrix products, experts included
    attention_s : scores and weighted values
    elementwise_s : memory-bound work: norms, activations, casts, logits, moving tokens to their experts on a chip
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


_SHOWN = {"grouped": "matmul", "routing": "elementwise"}
"""Kinds of work that a step time shows with another."""


@search
def step_time(run: TrainingRun, layout: Layout, slowdowns: Slowdowns | None = None) -> StepTime:
    """Time of one optimizer step, by parts.

    Parameters
    ----------
    run : what is trained, on what
    layout : how it is spread; its fields may be arrays, one element a layout
    slowdowns : time in practice over time at measured peaks; by default those of the chip's family

    >>> from scaleright import catalog
    >>> run = TrainingRun(catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM"), 64, 8192, 256, "FP8")
    >>> step = step_time(run, Layout(tensor=4, pipeline=8, data=2, virtual=5))
    >>> 15 < step.total < 30
    True
    """
    slow = slowdowns or Slowdowns()
    p = physical_parts(run.model, machine(run.chip, run.precision), run.sequence, run.global_batch, layout, float(run.task == "lora"))
    shown = dict.fromkeys((field.name for field in fields(StepTime)), 0.0)
    for kind in KINDS:
        part = f"{_SHOWN.get(kind, kind)}_s"
        work = slow.of(kind) * (p.forward.get(kind, 0.0) + p.backward.get(kind, 0.0))
        again = slow.of(kind) * p.again.get(kind, 0.0)
        shown[part] += p.micro_batches * work + slow.of(kind) * p.once.get(kind, 0.0)
        shown["recompute_s"] += p.micro_batches * again
        if kind not in ("data", "pipeline"):
            shown["bubble_s"] += p.bubble * p.mean_share * (work + again)
    return StepTime(**shown)


def tokens_per_s_per_chip(run: TrainingRun, step: StepTime):
    """Tokens that a chip trains on in a second [token/s]."""
    return run.global_batch * run.sequence / run.chips / step.total


ATTENTION = ("causal", "full", "none")


def model_flop(run: TrainingRun, attention: str = "causal"):
    """Model FLOP of one optimizer step over all chips [FLOP].

    attention : "causal" counts the positions a token attends to, "full" all of the sequence (Megatron, PaLM), "none" leaves scores out
    """
    one_of(attention, ATTENTION, "convention of attention")
    forward = forward_flop(run.model, run.sequence, causal=attention != "full")
    counted = forward.total - (forward.scores_and_values_flop if attention == "none" else 0.0)
    frozen = forward.total - forward.scores_and_values_flop if run.task == "lora" else 0.0
    return run.global_batch * run.sequence * training_flop_per_token(counted, frozen_flop=frozen)


def mfu(run: TrainingRun, step: StepTime, attention: str = "causal"):
    """Model FLOP utilization [1]: model FLOP over what the chips' dense peak would do in the step."""
    return model_flop(run, attention) / (step.total * run.chips * run.chip.peak_flops(PEAK_NAMES[run.precision]))


def hfu(run: TrainingRun, layout: Layout, step: StepTime, attention: str = "causal"):
    """Hardware FLOP utilization [1]: with the FLOP that run again in the backward pass."""
    forward = forward_flop(run.model, run.sequence, causal=attention != "full")
    scores = 0.0 if attention == "none" else forward.scores_and_values_flop
    layers = forward.total - forward.head_flop - forward.scores_and_values_flop + scores
    again = (layout.recompute == 2) * layers + (layout.recompute == 1) * scores
    extra = run.global_batch * run.sequence * again / (run.chips * run.chip.peak_flops(PEAK_NAMES[run.precision]))
    return mfu(run, step, attention) + extra / step.total
