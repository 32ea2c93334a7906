"""Recomputations of Clarifai's guide on training: memory and what fits on which card, parallelism,
the utilization of large clusters, time on one chip and on many, adapters.

Predicted times carry the error of the step model, those of two steps that of their ratio
(`claims.errors`). What each one computes, from which inputs, and why it differs stands in
`data/claims.csv` beside the claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from math import ceil
from types import SimpleNamespace

from scaleright import transformer
from scaleright.catalog import accelerator, fact, model, models, shared, table
from scaleright.chapters.cluster_efficiency.model import Curve
from scaleright.chapters.parallelism.model import parallelism_selector
from scaleright.claims.errors import inverse, of_ratio, of_two_steps
from scaleright.claims.ledger import stated
from scaleright.claims.verdicts import (
    Condition,
    Recomputed,
    looked_up,
    point,
    saved,
    span,
    widened,
)
from scaleright.costs.cluster_grid import MODELS, Grid
from scaleright.costs.platforms import FREE, best_step, goodput
from scaleright.costs.pretraining import STEP_PARTS, reliability, run_chip_hours, run_days
from scaleright.costs.whole_runs import TYPICAL, whole_runs
from scaleright.decisions.cluster_efficiency import Efficiency
from scaleright.decisions.parallelism_playbook import contenders, playbook
from scaleright.decisions.post_training import ALL, LORA, TURNS, Tables, job
from scaleright.mlperf import strong_scaling
from scaleright.quantity import given
from scaleright.quantity.graph import value_of
from scaleright.training.goodput import best_checkpoint_interval_s, useful_share
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.memory import (
    FSDP_FUSED_LOSS,
    adapter_parameters,
    fewest_ranks,
    training_memory,
)
from scaleright.training.slowdowns import interval
from scaleright.training.step import step_time
from scaleright.units import HOURS_PER_DAY, SECONDS_PER_HOUR

H100, A100 = "H100 SXM", "A100 SXM 80GB"
SEVEN, THIRTEEN, SEVENTY, GPT3 = "Llama-2-7B", "LLaMA-13B", "Llama-3.1-70B", "GPT-3 175B"
FITS = "MPT-1B"
"""A model that one chip holds with all that its training needs."""


def run_of(name: str, chips: int, sequence: int, batch: int, on: str = H100, **more) -> TrainingRun:
    """A training run, by the names of its model and chip."""
    return TrainingRun(model(name), accelerator(on), chips, sequence, batch, **more)


def on_bus(run: TrainingRun) -> TrainingRun:
    """The same on chips that the slower bus of their cards joins."""
    bus = accelerator("H100 PCIe").require("scale_up_bytes_per_s")
    return replace(run, chip=replace(run.chip, scale_up_bytes_per_s=bus))


def _size(name: str) -> float:
    return float(transformer.parameters(model(name)).total)


# Memory


def _memory(name: str, ranks: int, zero: int = 3, recompute: int = 2, task: str = "pretrain"):
    """What each of so many chips holds for one sequence of 2,048 tokens."""
    layout = Layout(data=ranks, zero=zero, recompute=recompute)
    run = run_of(name, ranks, 2048, ranks, task=task)
    return training_memory(run, layout, software=FSDP_FUSED_LOSS)


def _state(name: str) -> tuple[float, float]:
    """Bytes of gradients and optimizer on all chips together, and with the 16-bit weights that one
    chip alone keeps as well.
    """
    alone = _memory(name, 1, zero=0)
    shared = alone.gradients_bytes + alone.optimizer_bytes
    return shared, shared + alone.weights_bytes


def largest_trained(name: str, zero: int, ranks: int, task: str = "pretrain") -> float:
    """Parameters of the largest dense decoder of the catalog that so many chips of one kind can
    train.
    """
    room = accelerator(name).require("memory_bytes")
    dense = [key for key, shape in models(own=False).items() if shape.causal and not shape.experts]
    return max(_size(key) for key in dense if _memory(key, ranks, zero, task=task).total <= room)


def _fewest(name: str, recompute: int) -> float:
    held = (_memory(name, ranks, recompute=recompute).total for ranks in (1, 64, 128))
    return fewest_ranks(accelerator(H100).require("memory_bytes"), *held)


def s2_one_card() -> Recomputed:
    alone = accelerator(H100).require("memory_bytes") / (_state(SEVENTY)[1] / _size(SEVENTY))
    plain = Condition("data parallelism that shares nothing, activations aside", alone)
    return point(largest_trained(H100, 3, 1024), plain)


def s2_lora_share() -> Recomputed:
    of = product((THIRTEEN, SEVENTY), (8, 16, 32))
    return span(100 * adapter_parameters(model(name), rank) / _size(name) for name, rank in of)


def s2_lora_memory() -> Recomputed:
    """Memory of a chip with adapters over that with all weights [%], in one layout, the optimizer
    sharded and everything sharded.
    """

    def held(name: str, chips: int, zero: int, task: str) -> float:
        run = run_of(name, chips, 2048, chips, task=task)
        return float(training_memory(run, Layout(data=chips, zero=zero)).total)

    cases = (TUNED[0], 16, 1), (TUNED[0], 16, 3), (TUNED[1], 64, 3)
    return span(100 * held(*case, "lora") / held(*case, "sft") for case in cases)


# Parallelism: adjectives and rules, as figures of named runs


@cache
def _books():
    """The playbook where a model fits one chip, and where it does not."""
    return playbook(run_of(FITS, 8, 2048, 256)), playbook(run_of(SEVENTY, 256, 8192, 512))


def _by_layout(found) -> Recomputed:
    """What two layouts' times or their ratios give, with the model's error."""
    return span(found, error=of_two_steps("layout"))


def _over(column: str, name: str, other: str) -> list[float]:
    """A strategy over another, where the model fits a chip and where it does not."""
    return [book.loc[name, column] / book.loc[other, column] for book in _books()]


def _kept(name: str) -> list[tuple[float, float]]:
    """Throughput of a strategy's best layout, of the best of all [%], where the model fits a chip
    and where it does not.
    """
    error = inverse(of_two_steps("layout"))
    shares = (widened(100 / (1 + book.loc[name, "slower_by"]), error) for book in _books())
    return [(low, min(100.0, high)) for low, high in shares]


def _large(found: Iterable, where: str = "a model that fits one chip") -> Recomputed:
    """What is found for a model that no chip holds; and where one does."""
    fits, large = found
    return span(large, Condition(where, fits))


def _memory_over(name: str, other: str) -> Recomputed:
    """Memory of a chip with a strategy over that with another [%], each at its fastest layout."""
    found = (100 * of for of in _over("memory_bytes", name, other))
    return _large(found, "a model that fits one chip, at the fastest layouts")


def s2_pipeline_latency() -> Recomputed:
    error = of_two_steps("layout")
    return _large(widened(of, error) for of in _over("latency_s", "pipeline", "sharded data"))


def s2_data_linear() -> Recomputed:
    """What a chip keeps of its throughput, as the cluster and its batch grow together or the
    cluster alone [%].
    """

    def chip_seconds(chips: int, batch: int) -> float:
        step = contenders(run_of(FITS, chips, 2048, batch))["data"][2]
        assert step is not None  # a copy fits a chip
        return float(step.total * chips / batch)

    alone, error = chip_seconds(8, 256), inverse(of_two_steps("number of chips"))
    kept = lambda chips, batch: 100 * alone / chip_seconds(chips, batch)
    one_batch = Condition("256 chips with the batch of 8", kept(256, 256), error=error)
    return span((kept(chips, 32 * chips) for chips in (64, 512)), one_batch, error=error)


def s2_pipeline_busy() -> Recomputed:
    def busy(virtual: int, batch: int) -> list[float]:
        run = run_of("GPT-3 175B (Megatron)", 64, 2048, batch, A100)
        step = step_time(run, Layout(tensor=8, pipeline=8, virtual=virtual, recompute=2))
        return saved(float(step.bubble_s / step.total), interval(run))

    few = Condition("as many micro-batches as stages", busy(1, 8))
    return span(busy(1, 64), busy(3, 64), few)


def _slower(run: TrainingRun, layout: Layout) -> float:
    """A step on chips that a bus joins over one on chips that their fabric does."""
    return float(step_time(on_bus(run), layout).total / step_time(run, layout).total)


def s2_pcie_stalls() -> Recomputed:
    run = run_of(SEVEN, 8, 4096, 64)
    return _by_layout(_slower(run, Layout(tensor=of, data=8 // of)) for of in (2, 8))


def s2_exceeds_split() -> Recomputed:
    told = parallelism_selector(run_of(SEVEN, 64, 4096, 256)).numbers.items()
    seconds = {name: value for name, (value, unit) in told if unit == "s a step"}
    return _by_layout(100 * seconds[of] / seconds["sharded data"] for of in ("tensor", "pipeline"))


def s2_oversplit() -> Recomputed:
    """A step over eight chips of a model that one chip holds, split over all of them."""
    run = run_of(FITS, 8, 2048, 256)
    split, whole = (step_time(run, layout).total for layout in (Layout(tensor=8), Layout(data=8)))
    return _by_layout(float(split / whole))


def s2_interconnect_needed() -> Recomputed:
    """A step of fully sharded data over nodes joined by the bus, over one of theirs."""
    return _by_layout(_slower(run_of(SEVEN, 64, 4096, 256), Layout(data=64, zero=3)))


# The utilization of large clusters


def _gpt4(gpus: float) -> list[float]:
    """Share of the dense peak that an estimate of GPT-4's arithmetic is of so many A100 [%]."""
    flops = gpus * accelerator(A100).peak_flops("bf16") * SECONDS_PER_HOUR * HOURS_PER_DAY
    days = (fact(f"gpt4_training_days_{end}") for end in ("high", "low"))
    return [100 * fact("gpt4_training_flop") / (flops * of) for of in days]


def s2_gpt4_utilization() -> Recomputed:
    """Of the 25,000 GPUs that Clarifai counts."""
    later = _gpt4(fact("gpt4_training_gpus_later"))
    return looked_up(_gpt4(25_000), Condition("20,000 GPUs, as the same analyst says later", later))


@shared
def _curves() -> tuple[tuple[float, float], ...]:
    """At the fewest chips and at the most, the share of the peak over the highest, of several
    models on the H100, for a run of 15 trillion tokens [%].
    """
    values = {
        "accelerator": H100,
        "tokens": 15e12,
        "batch": FREE,
        "precision": "BF16",
        "tuning": TYPICAL,
        "deadline_days": 1e9,
        "value_usd_per_day": 0.0,
        "paid": "rent",
        "contract": "on demand",
        "seller": "median",
        "rent_usd_per_hour": 1.0,
        "checkpoint_minutes": 0.0,
        "law": "Zhang 2024",
        "critical_batch": 0.0,
        "shared_load": 0.0,
        "shared_chips": 1e6,
        "job_days": 1.0,
        **reliability(),
    }
    grid, found = Grid.of(MODELS, ("BF16",)), []
    for name in MODELS:
        case = {key: given(key, value) for key, value in (values | {"model": name}).items()}
        curve = Curve.of(Efficiency.of(SimpleNamespace(**case), grid))
        top = curve.top.value
        found.append((100 * curve.at_first.value / top, 100 * curve.at_last.value / top))
    return tuple(found)


def _on_curves(end: int) -> tuple[float, float]:
    """With the error of two predicted speeds on two numbers of chips; end 0 fewest, 1 most."""
    return widened((ends[end] for ends in _curves()), inverse(of_two_steps("number of chips")))


def s2_checkpoints() -> Recomputed:
    """Share of the time of a week on 1,024 chips that is kept with checkpoints over that without
    any [times].
    """
    terms, week = reliability(), 7.0 * HOURS_PER_DAY * SECONDS_PER_HOUR
    stall, restart = terms["checkpoint_stall_s"], terms["restart_s"]
    fails = lambda chips: terms["chip_hours_per_interruption"] / chips * SECONDS_PER_HOUR
    best = best_checkpoint_interval_s(stall, fails(1024.0))
    kept = lambda every, chips: useful_share(every, stall, restart, fails(chips))
    big, node = (kept(best, chips) / kept(week, chips) for chips in (1024.0, 8.0))
    return point(big, Condition("one node of eight", node))


# Time of training


def _speedup(chips: int) -> tuple[float, float]:
    """How many times faster so many chips are than one that holds all of a 7B model's training
    alone; no published pair lies so far apart that their errors could be taken for one.
    """
    steps = [best_step(SEVEN, "H200 SXM", size, 4096, 1024) for size in (1, chips)]
    error = of_ratio(*((step["error_low"], step["error_high"]) for step in steps))
    return widened(steps[0]["step_s"] / steps[1]["step_s"], error)


def s2_gpt3_weeks() -> Recomputed:
    chips, sequence, batch = 1024, 2048, 1536
    step = best_step(GPT3, A100, chips, sequence, batch)
    parts, kept = {name: step[name] for name in STEP_PARTS}, goodput(chips, **reliability())
    tokens, whole = fact("gpt3_training_tokens"), whole_runs()
    hours = run_chip_hours(tokens, batch * sequence, chips, **parts, goodput=kept, **whole.factors)
    published = table("measured/footprint").set_index("run").loc["patterson-2021/GPT-3"]
    return span(
        widened(run_days(hours.total, chips), (whole.low, whole.high)),
        published["accelerator_hours"] / published["accelerators"] / HOURS_PER_DAY,
    )


def s2_doubling() -> Recomputed:
    pairs = strong_scaling()
    pairs = pairs[pairs["chips_large"] == 2 * pairs["chips"]]
    return span(100 * (pairs["minutes_large"] / pairs["minutes"]).quantile([0.25, 0.75]))


# Adapters: what they save of the time and of the cost of tuning

SIZES, TUNED = (16, 64), ("Llama-3.1-8B", SEVENTY)
CASE = {
    "lora_rank": 16.0,
    "sharing": TURNS,
    "rollout_chips": 16.0,
    "rollout_precision": "BF16",
    "rounds": 100.0,
    "prompts": 128.0,
    "answers_each": 4.0,
    "passes": 1.0,
    "minibatches": 8.0,
    "prompt_tokens": 400.0,
    "answer_tokens": 300.0,
    "length_spread": 0.5,
    "most_tokens": 1024.0,
    "labels": 33_000.0,
}
"""The default of the chapter, with adapters of rank 16 of the document's examples."""


def _shares(method: str) -> Iterator[float]:
    """Time of a round with adapters over that with all weights [1], where both fit."""
    tables = Tables.of(TUNED, SIZES, [H100], ("BF16",))
    for name, chips in product(TUNED, SIZES):
        of = {"model": name, "reward_model": TUNED[0], "method": method, "chips": chips}
        case = CASE | of | {"rollout_chips": float(chips)}
        cases = (SimpleNamespace(**case, trained=trained) for trained in (LORA, ALL))
        few, every = (job(tables, each, H100) for each in cases)
        if bool(value_of(few.there)) and bool(value_of(every.there)):
            yield float(value_of(few.round_s)) / float(value_of(every.round_s))


def s2_lora_forty() -> Recomputed:
    answers = "reinforcement learning, which writes answers as well"
    written = Condition(answers, saved(_shares("ppo")))
    return span(saved(_shares("sft"), of_two_steps("layout")), written)


RECOMPUTED = {
    "S2-16-bytes": lambda: span(state / _size(SEVENTY) for state in _state(SEVENTY)),
    "S2-70b-memory": lambda: span(_state(SEVENTY)),
    "S2-13b-memory": lambda: span(_state(THIRTEEN)),
    "S2-13b-cards": lambda: span(
        (_fewest(THIRTEEN, recompute) for recompute in (0, 2)),
        Condition("every layer recomputed", _fewest(THIRTEEN, 2)),
    ),
    "S2-175b-cards": lambda: point(_fewest(GPT3, 2)),
    "S2-13b-two": lambda: point(ceil(stated("S2-13b-memory") / 80e9), internal=True),
    "S2-data-memory": lambda: _memory_over("data", "sharded data"),
    "S2-model-memory": lambda: _memory_over("tensor", "data"),
    "S2-pipeline-memory": lambda: _memory_over("pipeline", "data"),
    "S2-hybrid-memory": lambda: _memory_over("hybrid", "data"),
    "S2-data-latency": lambda: _by_layout(
        _over("latency_s", "data", other)[0] for other in ("tensor", "pipeline")
    ),
    "S2-model-latency": lambda: _by_layout(_over("latency_s", "tensor", "sharded data")),
    "S2-hybrid-latency": lambda: _by_layout(
        100 * of for of in _over("latency_s", "hybrid", "pipeline")
    ),
    "S2-model-throughput": lambda: span(_kept("tensor")),
    "S2-pipeline-throughput": lambda: _large(_kept("pipeline")),
    "S2-hybrid-throughput": lambda: span(_kept("hybrid")),
    "S2-curve-rises": lambda: span(min(of, 100.0) for of in _on_curves(0)),
    "S2-curve-falls": lambda: span(_on_curves(1)),
    "S2-50x": lambda: span(_speedup(1024), Condition("clusters of 32", _speedup(32))),
    "S2-six-months": lambda: span(_speedup(1024)),
    "S2-lora-time": lambda: _by_layout(100 * of for of in _shares("sft")),
}
