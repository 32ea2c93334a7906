"""Recomputations of Clarifai's Parallelism Selector and Playbook: adjectives and rules, as figures
of named runs.

Each carries the error of a ratio of two steps (`claims.errors`). What each one computes, from which
inputs, and why it differs stands in `data/claims.csv` beside the claim.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import chain

from scaleright.catalog import accelerator, model
from scaleright.chapters.parallelism.model import parallelism_selector
from scaleright.claims.errors import inverse, of_two_steps, widened
from scaleright.claims.verdicts import Condition, Recomputed, point, span
from scaleright.decisions.parallelism_playbook import contenders, playbook
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.slowdowns import interval
from scaleright.training.step import step_time

FABRIC, BUS = "H100 SXM", "H100 PCIe"
FITS, LARGE = "MPT-1B", "Llama-3.1-70B"


@cache
def _books():
    """The playbook where a model fits one chip, and where it does not."""
    small = TrainingRun(model(FITS), accelerator(FABRIC), 8, 2048, 256)
    large = TrainingRun(model(LARGE), accelerator(FABRIC), 256, 8192, 512)
    return tuple(playbook(run) for run in (small, large))


def _ends(ratios: Iterable[float]) -> tuple[float, float]:
    """The ends of ratios of the times of two layouts, with the model's error."""
    return widened(ratios, of_two_steps("layout"))


def _kept(name: str) -> list[tuple[float, float]]:
    """Throughput of a strategy's best layout, of the best of all [%], where the model fits a chip
    and where it does not.
    """
    error = inverse(of_two_steps("layout"))
    shares = ([100 / (1 + book.loc[name, "slower_by"])] for book in _books())
    return [(low, min(100.0, high)) for low, high in (widened(of, error) for of in shares)]


def s2_data_linear() -> Recomputed:
    """What a chip keeps of its throughput, as the cluster and its batch grow together or the
    cluster alone [%].
    """

    def chip_seconds(chips: int, batch: int) -> float:
        run = TrainingRun(model(FITS), accelerator(FABRIC), chips, 2048, batch)
        step = contenders(run)["data"][2]
        assert step is not None  # a copy fits a chip
        return float(step.total * chips / batch)

    alone, error = chip_seconds(8, 256), inverse(of_two_steps("number of chips"))
    kept = lambda chips, batch: 100 * alone / chip_seconds(chips, batch)
    one_batch = Condition("256 chips with the batch of 8", *widened([kept(256, 256)], error))
    return span(*widened((kept(chips, 32 * chips) for chips in (64, 512)), error), one_batch)


def _latency(name: str) -> list[tuple[float, float]]:
    """Latency of a strategy over that of sharded data parallelism, where the model fits a chip and
    where it does not [1].
    """
    return [
        _ends([book.loc[name, "latency_s"] / book.loc["sharded data", "latency_s"]])
        for book in _books()
    ]


def s2_pipeline_busy() -> Recomputed:
    def busy(virtual: int, batch: int) -> tuple[float, float]:
        run = TrainingRun(
            model("GPT-3 175B (Megatron)"), accelerator("A100 SXM 80GB"), 64, 2048, batch
        )
        step = step_time(run, Layout(tensor=8, pipeline=8, virtual=virtual, recompute=2))
        low, high = widened([100 * float(step.bubble_s / step.total)], interval(run))
        return 100 - high, 100 - low

    few = Condition("as many micro-batches as stages", *busy(1, 8))
    return span(*busy(1, 64), *busy(3, 64), few)


def s2_pcie_stalls() -> Recomputed:
    def slower(tensor: int) -> float:
        run = TrainingRun(model("Llama-2-7B"), accelerator(FABRIC), 8, 4096, 64)
        bus = replace(
            run.chip, scale_up_bytes_per_s=accelerator(BUS).require("scale_up_bytes_per_s")
        )
        layout = Layout(tensor=tensor, data=8 // tensor)
        return float(step_time(replace(run, chip=bus), layout).total / step_time(run, layout).total)

    return span(*_ends(map(slower, (2, 8))))


def s2_exceeds_split() -> Recomputed:
    run = TrainingRun(model("Llama-2-7B"), accelerator(FABRIC), 64, 4096, 256)
    seconds = {
        name: value
        for name, (value, unit) in parallelism_selector(run).numbers.items()
        if unit == "s a step"
    }
    split = (100 * seconds[name] / seconds["sharded data"] for name in ("tensor", "pipeline"))
    return span(*_ends(split))


def _memory(name: str, over: str) -> Recomputed:
    """Memory of a chip with a strategy over that with another [%], for a model that no chip holds;
    and where one does, each at its fastest layout.
    """
    fits, large = (
        100 * book.loc[name, "memory_bytes"] / book.loc[over, "memory_bytes"] for book in _books()
    )
    return point(large, Condition("a model that fits one chip, at the fastest layouts", fits))


def _beside_pipeline(name: str) -> list[float]:
    """Latency of a strategy over that of pipelines [%], with the model's error."""
    found = (
        100 * book.loc[name, "latency_s"] / book.loc["pipeline", "latency_s"] for book in _books()
    )
    return [*_ends(found)]


def s2_oversplit() -> Recomputed:
    """A step over eight chips of a model that one chip holds, split over all of them."""
    run = TrainingRun(model(FITS), accelerator(FABRIC), 8, 2048, 256)
    split, whole = (step_time(run, layout).total for layout in (Layout(tensor=8), Layout(data=8)))
    return span(*_ends([float(split / whole)]))


def s2_interconnect_needed() -> Recomputed:
    """A step of fully sharded data over nodes joined by the bus, over one of theirs."""
    run = TrainingRun(model("Llama-2-7B"), accelerator(FABRIC), 64, 4096, 256)
    bus = replace(run.chip, scale_up_bytes_per_s=accelerator(BUS).require("scale_up_bytes_per_s"))
    layout = Layout(data=64, zero=3)
    return span(
        *_ends(
            [float(step_time(replace(run, chip=bus), layout).total / step_time(run, layout).total)]
        )
    )


RECOMPUTED = {
    "S2-data-memory": lambda: _memory("data", "sharded data"),
    "S2-data-latency": lambda: span(
        *_ends(
            _books()[0].loc["data", "latency_s"] / _books()[0].loc[other, "latency_s"]
            for other in ("tensor", "pipeline")
        )
    ),
    "S2-model-memory": lambda: _memory("tensor", "data"),
    "S2-model-throughput": lambda: span(*chain(*_kept("tensor"))),
    "S2-pipeline-memory": lambda: _memory("pipeline", "data"),
    "S2-hybrid-memory": lambda: _memory("hybrid", "data"),
    "S2-hybrid-latency": lambda: span(*_beside_pipeline("hybrid")),
    "S2-model-latency": lambda: span(*chain(*_latency("tensor"))),
    "S2-pipeline-latency": lambda: span(
        *_latency("pipeline")[1], Condition("a model that fits one chip", *_latency("pipeline")[0])
    ),
    "S2-pipeline-throughput": lambda: span(
        *_kept("pipeline")[1], Condition("a model that fits one chip", *_kept("pipeline")[0])
    ),
    "S2-hybrid-throughput": lambda: span(*chain(*_kept("hybrid"))),
}
