"""Rules about post-training."""

from collections.abc import Iterable, Mapping
from types import SimpleNamespace

from scaleright.rules.left_open import on_one


def tunable(
    model: str,
    method: str,
    trained: str,
    lora_rank: int,
    answers_each: int,
    prompt_tokens: int,
    answer_tokens: int,
    most_tokens: int,
) -> None:
    """Groups with answers to compare, answers no longer than they may be, and adapters no wider
    than the model.
    """
    case = SimpleNamespace(**locals())
    from scaleright.decisions.post_training import untunable

    if why := untunable(case):
        raise ValueError(why)


def tunes(
    model: str,
    reward_model: str,
    method: str,
    trained: str,
    accelerator: str,
    chips: int,
    sharing: str,
    rollout_chips: int,
    rollout_precision: str,
    prompts: int,
    answers_each: int,
    prompt_tokens: int,
    answer_tokens: int,
    length_spread: float,
    most_tokens: int,
    choices: Mapping[str, Iterable[str]] | None = None,
) -> None:
    """Chips that hold what a method holds, and engines of a node that write its answers."""
    case = SimpleNamespace(**dict(locals()), passes=1.0, minibatches=1.0, rounds=1.0, labels=1.0)
    case.lora_rank = 1.0

    on_one(accelerator, choices, lambda name: _tunes_on(name, case))


def _tunes_on(accelerator: str, case: SimpleNamespace) -> None:
    from scaleright.decisions import post_training as of
    from scaleright.decisions import post_training_choice as choice
    from scaleright.inference.engine_tables import engines_in
    from scaleright.quantity.graph import value_of

    model, method, chips, form = case.model, case.method, case.chips, case.rollout_precision
    rl = of.METHODS[method]["rollout"]
    instead = "write in FP8, take a chip with more memory, or a smaller model"
    if rl and not engines_in(model, accelerator, form)[0]:
        raise ValueError(
            f"no engine of one node of {accelerator} holds {model} in {form}: {instead}"
        )
    sizes = sorted({*choice.OFFERED, chips})
    tables = of.Tables.of([model, case.reward_model], sizes, [accelerator])
    found = of.job(tables, case, accelerator)
    if not bool(value_of(found.wrote)):
        raise ValueError(
            f"{value_of(found.writers):g} chips that write do not hold {model} in"
            f" {form} with such answers; take more of them, shorter answers, or"
            f" {instead}"
        )
    if not bool(value_of(found.fits)):
        few = int(value_of(choice.first_fit(tables, case, accelerator)))
        more = f"nearest that fits: chips = {few}" if few else "it does on none of those offered"
        lora = "" if case.trained == "LoRA" else "; or train adapters alone (LoRA)"
        raise ValueError(
            f"{method} of {model} does not fit in the memory of {chips} {accelerator}; {more}{lora}"
        )
