"""A server in its steady state: continuous batching of a mix of requests, by the time of an engine's steps.

A request holds a slot while its prompt is computed and then for a step of each further token. Prompts are computed beside
the tokens of others (chunked prefill), at most `chunk_tokens` a step together with them; steps that carry a prompt take longer than those that
do not, and the mean of both is what a token costs. All of it follows from the number of slots, the lengths and the time of
the two kinds of step; every time is linear in the slowdowns.

TTFT is from the arrival of a request to its first token: a place among the running, the end of the step under way, and the
steps of its own prompt. TPOT is the time from the first token to the last over the tokens after the first. ITL is the median
gap between two steps that a running request sees.
"""

from dataclasses import dataclass, fields
from typing import Any, Mapping, NoReturn

import numpy as np

from scaleright.formulas import Domain, search
from scaleright.inference.deployment import Deployment, check
from scaleright.inference.lengths import Load
from scaleright.inference.memory import largest_batch
from scaleright.inference.phases import StepSeconds, step_seconds
from scaleright.ops import maximum, minimum, where

SEQUENCES = {"TensorRT-LLM": 4096, "vLLM": 1024, "SGLang": 4096}
"""Sequences that run together at most, of each replica of attention, by the engine's own default on a chip with 70 GiB or more."""
RESERVES_ALL = ("TensorRT-LLM",)
"""Engines that admit a request only if its whole length fits; others admit by what is held and push back what grows too long."""
TINY = 1e-12
SEATS = Domain(1.0, float("inf"), (1.0, 1e4))


@dataclass(frozen=True)
class OperatingPoint:
    """A server at one load.

    Attributes
    ----------
    deployment, load : what serves what
    concurrency : requests in the system [1]
    slots : sequences that can run together [1]
    batch : sequences that do [1]
    step : mean of all steps, by parts
    plain_step, mixed_step : of a step that decodes alone, and of one that carries prompts too
    token_step : mean of the steps in which a running sequence gains tokens
    mixed_share : share of the steps of a running sequence that carry prompts of others [1]
    requests_per_step : requests that end in a step [1]
    prompt_steps : steps in which a request's prompt is computed [1]
    ttft_s, tpot_s, itl_s : as the module defines them [s]
    queue_s : part of TTFT spent waiting for a slot [s]
    """

    deployment: Deployment
    load: Load
    concurrency: Any
    slots: Any
    batch: Any
    step: StepSeconds
    plain_step: StepSeconds
    mixed_step: StepSeconds
    token_step: StepSeconds
    mixed_share: Any
    requests_per_step: Any
    prompt_steps: Any
    queue_s: Any
    ttft_s: Any
    tpot_s: Any
    itl_s: Any

    @property
    def requests_per_s(self) -> Any:
        """Requests served in a second [1/s]."""
        return self.requests_per_step / self.step.total

    @property
    def output_tokens_per_s(self) -> Any:
        """Output tokens of the whole group in a second [token/s]."""
        return self.requests_per_s * self.load.output_tokens

    @property
    def output_tokens_per_s_per_chip(self) -> Any:
        """Output tokens of one chip in a second [token/s]."""
        return self.output_tokens_per_s / self.deployment.chips

    @property
    def interactivity(self) -> Any:
        """Tokens that a user sees in a second once the answer has begun [token/s]."""
        return 1 / self.tpot_s

    @property
    def request_s(self) -> Any:
        """From the arrival of a request to its last token [s]."""
        return self.ttft_s + self.tpot_s * (self.load.output_tokens - 1)


def _weighed(first: StepSeconds, of_first: Any, second: StepSeconds, of_second: Any) -> StepSeconds:
    """So many of one step and so many of another, by parts."""
    both = ((field.name, getattr(first, field.name), getattr(second, field.name)) for field in fields(first))
    return StepSeconds(**{name: of_first * a + of_second * b for name, a, b in both})


def _decoding(deployment: Deployment, load: Load, batch: Any, slowdowns: Mapping | None, **prefill: Any) -> StepSeconds:
    """One step of so many running sequences, with the draft's work where the load has one."""
    guesses = load.speculation.draft_tokens if load.speculation else 0
    step = step_seconds(deployment, batch, load.context, query_tokens=1 + guesses, slowdowns=slowdowns, **prefill)
    if not guesses:
        return step
    return _weighed(step, 1.0, load.speculation.guess(deployment, batch, load.context, slowdowns), guesses)


def _words(deployment: Deployment) -> str:
    return f"{deployment.model.name} in {deployment.precision} on {deployment.chip.name}"


def _check_lengths(deployment: Deployment, load: Load) -> None:
    model, longest = deployment.model, float(np.max(load.input_tokens + load.output_tokens))
    if 0 < model.max_context < longest:
        raise ValueError(f"{model.name}: input_tokens + output_tokens = {longest:,.0f}, allowed: {model.max_context:,} (max_context)")


@search
def slots(deployment: Deployment, load: Load) -> Any:
    """Sequences that can run together: what memory holds of the load, up to the engine's own limit [1]; 0 where none fits.

    Source: TensorRT-LLM admits a request when the whole of it fits (GUARANTEED_NO_EVICT); vLLM and SGLang by what is held now.
    """
    held = largest_batch(deployment, load.length if deployment.engine in RESERVES_ALL else load.context)
    limit = SEQUENCES.get(deployment.engine, max(SEQUENCES.values())) * deployment.attention_data
    return held if deployment.max_sequences is not None else minimum(held, limit)


def _refuse_all(deployment: Deployment, load: Load) -> NoReturn:
    chips = int(np.max(deployment.chips))
    raise ValueError(f"{_words(deployment)}: no sequence of {float(np.max(load.context)):,.0f} tokens fits beside the weights on {chips} chips; "
                     "take more chips (tensor, pipeline), fewer bits, or a smaller model")  # fmt: skip


@search
def steady(
    deployment: Deployment, load: Load, concurrency: Any = None, slowdowns: Mapping | None = None, batch: Any = None,
) -> OperatingPoint:
    """Throughput and latency of a server whose clients each send a request when the one before is answered.

    Parameters
    ----------
    deployment : the model, the chips and how they share it; its degrees may be arrays
    load : the mix of requests; numbers or arrays
    concurrency : requests in the system; those beyond the slots wait; None for as many as there are slots
    slowdowns : time in practice over time at measured peaks, by kind; by default the stored ones
    batch : sequences that must run together, instead of a concurrency

    Raises
    ------
    ValueError : the layout breaks a rule, a request is longer than the model's context, nothing fits beside the weights,
        or the batch does not.

    Notes
    -----
    Of `batch` slots, each request takes `n` steps with its prompt and (O - 1) / (tokens a step) without, so that
    batch / (n + (O - 1) / tokens) requests end in a step and as many prompts are computed in one, together or one at a time,
    whichever makes the larger steps [agrawal2024, section 4].
    """
    check(deployment)
    _check_lengths(deployment, load)
    room = slots(deployment, load)
    if np.any(room < 1):
        _refuse_all(deployment, load)
    asked = batch if batch is not None else room if concurrency is None else concurrency
    SEATS.check("steady", "concurrency" if batch is None else "batch", asked)
    if batch is not None and np.any(batch > room):
        worst = float(np.max(batch))
        raise ValueError(f"{_words(deployment)}: batch = {worst:,.0f} sequences of {float(np.max(load.context)):,.0f} tokens, "
                         f"allowed: {float(np.min(room)):,.0f} fit in memory and under the engine's limit")  # fmt: skip
    return _point(deployment, load, asked, room, minimum(asked, room), slowdowns)


def _point(deployment: Deployment, load: Load, asked: Any, room: Any, running: Any, slowdowns: Mapping | None, together: float = 1.0) -> OperatingPoint:
    """The operating point of so many running sequences, prompts being computed so many `together` at least where so many wait."""
    new, gained = load.new_tokens, load.tokens_per_step
    queries = 1 + (load.speculation.draft_tokens if load.speculation else 0)
    replicas = deployment.attention_data * deployment.pipeline
    budget, further = deployment.chunk_tokens * replicas, (load.output_tokens - 1) / gained
    prompt_steps = maximum(maximum(1.0, new / budget), running * (new + further * queries) / budget - further)
    requests = running / (prompt_steps + further)
    chunk = minimum(minimum(budget - requests * further * queries, running * new), maximum(requests * new, new * replicas * together))
    carrying = requests * new / chunk
    beside = maximum(running - prompt_steps * chunk / new, 0.0)
    plain = _decoding(deployment, load, running, slowdowns)
    mixed = _decoding(deployment, load, beside, slowdowns, prefill_tokens=chunk, prefill_context=load.prompt_context)
    step = _weighed(plain, 1 - carrying, mixed, carrying)
    decoded = (1 - carrying) * running + carrying * beside
    share = where(decoded > 0, carrying * beside / maximum(decoded, TINY), 0.0)
    token_step = _weighed(plain, 1 - share, mixed, share)
    queue_s = (asked - running) * step.total / requests
    rest_s = minimum(running - 1, 1.0) * ((1 - carrying) * plain.total**2 + carrying * mixed.total**2) / (2 * step.total)
    return OperatingPoint(
        deployment, load, asked, room, running, step, plain, mixed, token_step, share, requests, prompt_steps, queue_s,
        ttft_s=queue_s + rest_s + prompt_steps * mixed.total, tpot_s=token_step.total / gained,
        itl_s=where(share < 0.5, plain.total, mixed.total),
    )
