"""Recomputations of Clarifai's statements on adapters: what they save of the time and of the cost
of tuning.

A step of adapters over one of all weights carries the error of two steps of one model in different
layouts.
"""

from collections.abc import Iterator
from types import SimpleNamespace

from scaleright.catalog import accelerator, model
from scaleright.claims.errors import of_two_steps, widened
from scaleright.claims.verdicts import Condition, Recomputed, span
from scaleright.decisions.post_training import ALL, LORA, TURNS, Job, Tables, job
from scaleright.quantity.graph import value_of
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.memory import training_memory

CHIP, SIZES = "H100 SXM", (16, 64)
MODELS = ("Llama-3.1-8B", "Llama-3.1-70B")
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


def _pairs(method: str) -> Iterator[tuple[Job, Job]]:
    """Runs of adapters alone beside those of all weights, where both fit."""
    tables = Tables.of(MODELS, SIZES, [CHIP], ("BF16",))
    for name in MODELS:
        for chips in SIZES:
            of = {"model": name, "reward_model": MODELS[0], "method": method, "chips": chips}
            case = CASE | of | {"rollout_chips": float(chips)}
            adapters, every = (
                job(tables, SimpleNamespace(**case, trained=trained), CHIP)
                for trained in (LORA, ALL)
            )
            if bool(value_of(adapters.there)) and bool(value_of(every.there)):
                yield adapters, every


def _shares(method: str) -> list[float]:
    """Time of a round with adapters over that with all weights [1]."""
    return [
        float(value_of(few.round_s)) / float(value_of(every.round_s))
        for few, every in _pairs(method)
    ]


def s2_lora_time() -> Recomputed:
    low, high = widened(_shares("sft"), of_two_steps("layout"))
    return span(100 * low, 100 * high)


def s2_lora_forty() -> Recomputed:
    low, high = widened(_shares("sft"), of_two_steps("layout"))
    saved = [100 * (1 - share) for share in _shares("ppo")]
    return span(
        100 * (1 - high),
        100 * (1 - low),
        Condition("reinforcement learning, which writes answers as well", min(saved), max(saved)),
    )


def s2_lora_memory() -> Recomputed:
    """Memory of a chip with adapters over that with all weights [%], in one layout, the optimizer
    sharded and everything sharded.
    """

    def held(name: str, chips: int, task: str, zero: int) -> float:
        run = TrainingRun(model(name), accelerator(CHIP), chips, 2048, chips, task=task)
        return float(training_memory(run, Layout(data=chips, zero=zero)).total)

    pairs = [(MODELS[0], 16, 1), (MODELS[0], 16, 3), (MODELS[1], 64, 3)]
    return span(
        *(100 * held(n, c, "lora", z) / held(n, c, "sft", z) for n, c, z in pairs),
    )
