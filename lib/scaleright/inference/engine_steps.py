"""Steps of an engine under a load: with the work of a draft, and with prompts."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from scaleright.formulas import search
from scaleright.inference.deployment import Deployment
from scaleright.inference.first_token import launching, reads_alone
from scaleright.inference.lengths import Load
from scaleright.inference.phases import StepSeconds, step_seconds
from scaleright.inference.slowdowns import slowdowns as stored
from scaleright.ops import maximum, where


@search
def weighed(first: StepSeconds, of_first: Any, second: StepSeconds, of_second: Any) -> StepSeconds:
    """So many of one step and so many of another, by parts."""
    both = (
        (field.name, getattr(first, field.name), getattr(second, field.name))
        for field in fields(first)
    )
    return StepSeconds(**{name: of_first * a + of_second * b for name, a, b in both})


@search
def engine_step(
    deployment: Deployment, load: Load, batch: Any, slowdowns: Mapping | None = None, **prefill: Any
) -> StepSeconds:
    """One step of so many running sequences, with the draft's work where the load has one;
    `prefill` as in `phases.step_seconds`.
    """
    slow = stored(deployment) if slowdowns is None else slowdowns
    step = step_seconds(
        deployment, batch, load.context, query_tokens=load.queries, slowdowns=slow, **prefill
    )
    if load.speculation is None:
        return step
    guess = load.speculation.guess(deployment, batch, load.context, slow)
    return weighed(step, 1.0, guess, load.speculation.draft_tokens)


@search
def reading(load: Load, tokens: Any) -> dict[str, Any]:
    """What a step does that reads so many tokens of the prompts of a load."""
    return {
        "prefill_tokens": tokens,
        "prefill_context": load.prompt_context,
        "prefill_length": load.new_tokens,
    }


@search
def prompt_step(
    d: Deployment, load: Load, beside: Any, slowdowns: Mapping | None, tokens: Any
) -> StepSeconds:
    """The step that reads so many tokens of prompts, beside so many running sequences on engines
    that mix them.

    One that reads prompts alone takes no less than the host takes to launch its kernels one at a
    time, as their first tokens do (`first_token.launching`).
    """
    if not reads_alone(d):
        return engine_step(d, load, beside, slowdowns, **reading(load, tokens))
    step = engine_step(d, load, 0.0, slowdowns, **reading(load, tokens))
    return replace(step, host_s=step.host_s + maximum(launching(d, 1.0) - step.total, 0.0))


@search
def step_reading(
    d: Deployment, load: Load, beside: Any, slowdowns: Mapping | None, tokens: Any
) -> StepSeconds:
    """A step of so many running sequences that reads so many tokens of prompts; the two in turn on
    engines that do not mix them.
    """
    step = prompt_step(d, load, beside, slowdowns, tokens)
    if not reads_alone(d):
        return step
    return weighed(step, where(tokens > 0, 1.0, 0.0), engine_step(d, load, beside, slowdowns), 1.0)
