"""A server in its steady state: continuous batching of a mix of requests, by the time of an
engine's steps.

A request holds a slot while its prompt is computed and then for a step of each further token.
Prompts are computed beside the tokens of others (chunked prefill), at most `chunk_tokens` a step
together with them; steps that carry a prompt take longer than those that do not, and the mean of
both is what a token costs. All of it follows from the number of slots, the lengths and the time of
the two kinds of step; every time is linear in the slowdowns.

TTFT is from sending a request to its first token, see `first_token`. TPOT is the time from the
first token to the last over the tokens after the first. ITL is the median gap between two steps
that a running request sees: that of the step with as many tokens of prompts as the median one has.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from statistics import fmean
from typing import Any

import numpy as np

from scaleright.formulas import COUNT, NON_NEGATIVE, search, simulation
from scaleright.inference.deployment import Deployment, check
from scaleright.inference.first_token import (
    Rhythm,
    burst_s,
    first_token_s,
    front_s,
    launching,
    median_prompts,
    reads_alone,
    stays_together,
)
from scaleright.inference.lengths import Load
from scaleright.inference.memory import largest_batch
from scaleright.inference.phases import StepSeconds, step_seconds
from scaleright.inference.power import step_joules
from scaleright.inference.slowdowns import slowdowns as stored
from scaleright.ops import ceil, maximum, minimum, where

# Steps of an engine under a load: with the work of a draft, and with prompts


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


# How a run of so many requests ends: when none waits any more, those that still run thin out.
#
# A benchmark sends a number of requests, so many at a time, and divides the tokens by the time
# until the last answer. Answers of different lengths do not end together: from the moment when
# the last request has begun, fewer and fewer run, and the longest of them keeps the chips
# waiting.


EVEN = 1 / math.sqrt(3)
"""Variation of lengths that are drawn evenly from nothing to twice their mean."""
ORDERS = 8
"""Orders of the same requests over whose runs is averaged."""


def _shape(variation: float) -> float:
    """The exponent of a Weibull distribution of that variation, from 1/4 to 8."""
    low, high = 0.25, 8.0
    for _ in range(40):
        shape = math.sqrt(low * high)
        ratio = math.gamma(1 + 2 / shape) / math.gamma(1 + 1 / shape) ** 2
        low, high = (shape, high) if ratio - 1 > variation**2 else (low, shape)
    return shape


@simulation
def drawn(requests: int, variation: float) -> np.ndarray:
    """Lengths of so many requests, from the shortest to the longest, over their mean [1].

    Even ones up to the variation `EVEN`; wider ones of a Weibull distribution, as lengths of what
    people write are: no upper end, and few long ones.
    """
    below = (np.arange(requests) + 0.5) / requests
    if variation <= EVEN + 1e-6:
        return 1 + variation / EVEN * (2 * below - 1)
    lengths = (-np.log1p(-below)) ** (1 / _shape(variation))
    return lengths / lengths.mean()


@simulation
def thinning(requests: float, running: float, variation: float) -> tuple[float, float, float]:
    """How long a run keeps all its slots busy, and how it ends.

    Parameters
    ----------
    requests : of the run, all waiting from its start [1]
    running : that run together at most [1]
    variation : of the time that each takes, the standard deviation over the mean [1]

    Returns
    -------
    Time until no request waits, time from then to the last answer, both in times that a mean
    request takes, and requests that run in the latter, in the mean.

    Source: each slot takes the next request as soon as it is free.

    >>> full, thin, left = thinning(80, 16, EVEN)
    >>> round(16 * full + left * thin), thin > 1.3, 4 < left < 8
    (80, True, True)
    >>> thinning(100, 200, 0.0)
    (0.0, 1.0, 100.0)
    """
    COUNT.check("thinning", "requests", requests)
    COUNT.check("thinning", "running", running)
    NON_NEGATIVE.check("thinning", "variation", variation)
    return _thinning(max(round(requests), 1), max(round(running), 1), round(variation, 6))


@cache
def _thinning(requests: int, running: int, variation: float) -> tuple[float, float, float]:
    lengths = drawn(requests, variation)
    if requests <= running:
        return 0.0, float(lengths[-1]), requests / float(lengths[-1])
    ends = []
    for order in range(ORDERS):
        free = np.zeros(running)
        begun = 0.0
        for length in np.random.default_rng(order).permutation(lengths):
            slot = int(free.argmin())
            begun = float(free[slot])
            free[slot] += length
        ends.append((begun, float(free.max()) - begun))
    full, thin = (fmean(each) for each in zip(*ends, strict=True))
    return full, thin, (requests - running * full) / thin


@search
def whole_run(
    d: Deployment,
    load: Load,
    requests: float,
    running: float,
    beat: Rhythm,
    steps: Mapping[str, StepSeconds],
    burst_steps: float,
    slowdowns: Mapping | None = None,
) -> tuple[StepSeconds, Rhythm]:
    """The mean step of a run of so many requests of different lengths from its first to its last
    token, and the rhythm with the requests that end in it.

    All slots take their first prompts at once, `burst_steps` that do nothing else; then requests
    come as others end; then those that run thin out.

    Parameters
    ----------
    requests, running : as in `thinning` [1]
    beat : the rhythm while all slots are busy
    steps : "plain", "mixed" of that rhythm, and "burst", which reads prompts alone
    burst_steps : how many of the latter [1]
    """
    further = beat.prompt_steps + (load.output_tokens - 1) / load.tokens_per_step
    full, thin, left = thinning(requests, running, load.output_cv)
    last = engine_step(d, load, left, slowdowns)
    reads = (requests - running) * load.new_tokens / beat.chunk
    whole = weighed(steps["plain"], full * further - reads, steps["mixed"], reads)
    whole = weighed(whole, 1.0, last, thin * further)
    whole = weighed(whole, 1.0, steps["burst"], burst_steps)
    count = (full + thin) * further + burst_steps
    mean = weighed(whole, 1 / count, last, 0.0)
    return mean, replace(beat, requests=requests / count, carrying=(reads + burst_steps) / count)


SEQUENCES = {"TensorRT-LLM": 4096, "vLLM": 1024, "SGLang": 4096}
"""Sequences that run together at most, of each replica of attention, by the engine's own default on
a chip with 70 GiB or more.
"""
RESERVES_ALL = ("TensorRT-LLM",)
"""Engines that admit a request only if its whole length fits; others admit by what is held and push
back what grows too long.
"""


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
    rhythm : how prompts and answers share the steps
    queue_s : part of TTFT spent waiting for a slot [s]
    ttft_s, tpot_s : as the module defines them [s]
    slowdowns : of the steps, by kind; None for the stored ones
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
    rhythm: Rhythm
    queue_s: Any
    ttft_s: Any
    tpot_s: Any
    slowdowns: Mapping | None

    @cached_property
    def median_step(self) -> StepSeconds:
        """The median of the steps in which a running sequence gains tokens: one with as many tokens
        of prompts as half of these steps exceed.
        """
        d, load, beat = self.deployment, self.load, self.rhythm
        apart, budget = _side_by_side(d)
        each = beat.requests / apart * maximum(load.new_tokens / budget, 1.0)
        met = apart * median_prompts(each, load.input_cv) * minimum(load.new_tokens, budget)
        met = where(beat.carrying > 0, minimum(met, beat.chunk), 0.0)
        beside = where(met > 0, beat.beside, self.batch)
        return step_reading(d, load, beside, self.slowdowns, met)

    @property
    def itl_s(self) -> Any:
        """Median gap between two tokens of a sequence, as the module defines it [s]."""
        return self.median_step.total

    @property
    def requests_per_s(self) -> Any:
        """Requests served in a second [1/s]."""
        return self.rhythm.requests / self.step.total

    @property
    def output_tokens_per_s(self) -> Any:
        """Output tokens of the whole group in a second [token/s]."""
        return self.requests_per_s * self.load.output_tokens

    @property
    def chips(self) -> Any:
        """Accelerators that serve [1]."""
        return self.deployment.chips

    @property
    def output_tokens_per_s_per_chip(self) -> Any:
        """Output tokens of one chip in a second [token/s]."""
        return self.output_tokens_per_s / self.chips

    @property
    def interactivity(self) -> Any:
        """Tokens that a user sees in a second once the answer has begun [token/s]."""
        return 1 / self.tpot_s

    @property
    def request_s(self) -> Any:
        """From the arrival of a request to its last token [s]."""
        return self.ttft_s + self.tpot_s * (self.load.output_tokens - 1)

    @property
    def joules_per_token(self) -> Any:
        """Energy of an output token over all chips, prompts included [J/token]."""
        load, beat, looks = self.load, self.rhythm, (self.load.context, self.load.prompt_context)
        plain = step_joules(
            self.deployment, self.plain_step.total, self.batch, looks[0], query_tokens=load.queries
        )
        mixed = step_joules(
            self.deployment,
            self.mixed_step.total,
            beat.beside,
            looks[0],
            beat.chunk,
            looks[1],
            load.queries,
        )
        return ((1 - beat.carrying) * plain.total + beat.carrying * mixed.total) / (
            beat.requests * load.output_tokens
        )

    @property
    def watts_per_chip(self) -> Any:
        """Mean draw of one chip, without host and building [W]."""
        return self.joules_per_token * self.output_tokens_per_s_per_chip


@search
def slots(deployment: Deployment, load: Load) -> Any:
    """Sequences that can run together: what memory holds of the load, up to the engine's own limit
    [1]; 0 where none fits.

    Source: TensorRT-LLM admits a request when the whole of it fits (GUARANTEED_NO_EVICT); vLLM and
    SGLang by what is held now.
    """
    held = largest_batch(
        deployment, load.length if deployment.engine in RESERVES_ALL else load.context
    )
    limit = SEQUENCES.get(deployment.engine, max(SEQUENCES.values())) * deployment.attention_data
    return held if deployment.max_sequences is not None else minimum(held, limit)


@search
def room(deployment: Deployment, load: Load) -> Any:
    """The `slots` of a deployment that keeps the rules, for a load within the model's context.

    Raises
    ------
    ValueError : as `steady`.
    """
    check(deployment)
    model, longest = deployment.model, float(np.max(load.input_tokens + load.output_tokens))
    if 0 < model.max_context < longest:
        raise ValueError(
            f"{model.name}: input_tokens + output_tokens = {longest:,.0f}, allowed:"
            f" {model.max_context:,} (max_context)"
        )
    most = slots(deployment, load)
    if np.any(most < 1):
        deeper = (
            replace(deployment, pipeline=deployment.pipeline * stages)
            for stages in (2, 4, 8, 16, 32)
        )
        enough = next((int(np.max(d.chips)) for d in deeper if np.all(slots(d, load) >= 1)), None)
        hint = (
            f"nearest that fits: {enough} chips (pipeline stages)"
            if enough
            else "it fits on no more chips of this kind"
        )
        where_to = (
            f"{deployment.precision} on {float(np.max(deployment.chips)):g} x"
            f" {deployment.chip.name}"
        )
        raise ValueError(
            f"{model.name} in {where_to}: no request of {longest:,.0f} tokens fits beside the"
            f" weights; {hint}; or take fewer bits or a smaller model"
        )
    return most


@search
def steady(
    deployment: Deployment,
    load: Load,
    concurrency: Any = None,
    slowdowns: Mapping | None = None,
    batch: Any = None,
    requests: Any = math.inf,
    alike: bool = False,
) -> OperatingPoint:
    """Throughput and latency of a server whose clients each send a request when the one before is
    answered.

    Parameters
    ----------
    deployment : the model, the chips and how they share it; its degrees may be arrays
    load : the mix of requests; numbers or arrays
    concurrency : requests in the system; those beyond the slots wait; None for as many as there are
        slots
    slowdowns : time in practice over time at measured peaks, by kind; by default the stored ones
    batch : sequences that must run together, instead of a concurrency
    requests : of a run whose clients all send their first at its start, which delays the first
        tokens of that burst [1]
    alike : whether all requests are of one length, and so may stay together

    Raises
    ------
    ValueError : the layout breaks a rule, a request is longer than the model's context, nothing
        fits beside the weights, or the batch does not.

    Notes
    -----
    Prompts and answers share the steps as `Rhythm` says.
    """
    most = room(deployment, load)
    asked = batch if batch is not None else most if concurrency is None else concurrency
    COUNT.check("steady", "concurrency" if batch is None else "batch", asked)
    if batch is not None and np.any(batch > most):
        raise ValueError(
            f"{deployment.model.name} on {deployment.chip.name}: batch ="
            f" {float(np.max(batch)):,.0f}, allowed: {float(np.min(most)):,.0f} sequences of the"
            " load fit in memory and under the engine's limit"
        )
    point = _point(deployment, load, asked, most, minimum(asked, most), slowdowns)
    bunched = stays_together(deployment, alike)
    if bunched:  # all prompts are read before the answers, none between two of their tokens
        plain = point.plain_step
        point = replace(point, token_step=plain, tpot_s=plain.total / load.tokens_per_step)
    if np.all(np.isinf(requests)):
        return point
    first = 1.0 if bunched else minimum(point.batch / requests, 1.0)
    return replace(
        point,
        ttft_s=point.queue_s
        + (1 - first) * (point.ttft_s - point.queue_s)
        + first * _burst(point, slowdowns),
    )


def _side_by_side(d: Deployment) -> tuple[Any, Any]:
    """Groups that take prompts side by side, those that share experts stepping together [1], and
    the most tokens of a step of all [token].
    """
    apart = d.pipeline * (1 if np.any(d.model.experts) else d.attention_data)
    return apart, d.chunk_tokens * d.attention_data * d.pipeline


def _burst(point: OperatingPoint, slowdowns: Mapping | None) -> Any:
    """Mean time to the first token where all running requests begin together and their prompts are
    read one step after another [s].
    """
    full, steps = _reading_all(point, slowdowns)
    front = front_s(point.load.input_tokens, point.batch, point.plain_step.total)
    return burst_s(maximum(full.total, launching(point.deployment, 1.0)), steps, front)


def _reading_all(point: OperatingPoint, slowdowns: Mapping | None) -> tuple[StepSeconds, Any]:
    """A full step that reads prompts alone, and how many of them read those of a whole batch."""
    d, load = point.deployment, point.load
    waiting = point.batch * load.new_tokens
    chunk = minimum(_side_by_side(d)[1], waiting)
    return engine_step(d, load, 0.0, slowdowns, **reading(load, chunk)), waiting / chunk


def _point(
    deployment: Deployment,
    load: Load,
    asked: Any,
    most: Any,
    running: Any,
    slowdowns: Mapping | None,
    together: float = 0.0,
) -> OperatingPoint:
    """The operating point of so many running sequences, prompts being computed so many `together`
    at least where so many wait.
    """
    d, further = deployment, (load.output_tokens - 1) / load.tokens_per_step
    apart, budget = _side_by_side(d)
    beat = Rhythm.of(running, load.new_tokens, further, load.queries, budget, apart, together)
    plain = engine_step(deployment, load, running, slowdowns)
    mixed = step_reading(deployment, load, beat.beside, slowdowns, beat.chunk)
    step = weighed(plain, 1 - beat.carrying, mixed, beat.carrying)
    token_step = weighed(plain, 1 - beat.share, mixed, beat.share)
    queue_s = (asked - running) * step.total / beat.requests
    rest_s = (
        minimum(running - 1, 1.0)
        * ((1 - beat.carrying) * plain.total**2 + beat.carrying * mixed.total**2)
        / (2 * step.total)
    )
    own = prompt_step(deployment, load, beat.beside, slowdowns, beat.chunk)
    reading_s, least_s = beat.prompt_steps * own.total, launching(d, beat.prompt_steps)
    front = front_s(load.input_tokens, running, plain.total)
    return OperatingPoint(
        deployment,
        load,
        asked,
        most,
        running,
        step,
        plain,
        mixed,
        token_step,
        beat,
        queue_s,
        ttft_s=first_token_s(queue_s, rest_s, plain.total, running, reading_s, front, least_s),
        tpot_s=token_step.total / load.tokens_per_step,
        slowdowns=slowdowns,
    )


@search
def offline(
    deployment: Deployment,
    load: Load,
    requests: Any,
    concurrency: Any = None,
    slowdowns: Mapping | None = None,
) -> OperatingPoint:
    """A run over so many requests that all wait at its start, as benchmarks of throughput are.

    Requests of like lengths run in waves, of which the last is smaller; since the time of a step
    grows nearly in a straight line with its sequences, the run takes as long as equal waves. Those
    of different lengths begin as others end, and the last of them thin out:
    throughput is of all of that, latencies are those of the middle. TTFT is from when a request
    takes its slot.

    Parameters
    ----------
    requests : of the run, all in the queue from its start [1]
    concurrency : sequences that run together; None for as many as there are slots
    deployment, load, slowdowns : as in `steady`

    Raises
    ------
    ValueError : as `steady`.

    >>> from scaleright import catalog
    >>> one = Deployment(catalog.model("Llama-3.1-8B"), catalog.accelerator("H100 SXM"),
    ...     max_sequences=256)
    >>> speeds = [offline(one, Load(128, 128), requests, slowdowns={}).output_tokens_per_s
    ...     for requests in (256, 300, 30_000)]
    >>> speeds[1] < speeds[0] < 1.01 * speeds[2]
    True
    """
    COUNT.check("offline", "requests", requests)
    most = room(deployment, load)
    together = minimum(minimum(most, requests), most if concurrency is None else concurrency)
    if np.all(load.output_cv == 0):
        each = requests / ceil(requests / together)
        point = _point(deployment, load, each, most, each, slowdowns, math.inf)
        return replace(point, ttft_s=_burst(point, slowdowns))
    point = _point(deployment, load, together, most, together, slowdowns)
    burst, steps = _reading_all(point, slowdowns)
    kinds = {"plain": point.plain_step, "mixed": point.mixed_step, "burst": burst}
    step, beat = whole_run(
        deployment, load, requests, float(together), point.rhythm, kinds, steps, slowdowns
    )
    return replace(point, step=step, rhythm=beat, ttft_s=_burst(point, slowdowns))
