"""The time to the first token: waiting for a slot, for the steps under way and for a turn to be
read, then reading.

A request is turned into tokens, waits for a slot as long as the requests before it take to free one
(Little's law, in `serving`), for the rest of the step under way, and for the one that the host has
launched ahead: engines prepare a step while another computes. Its prompt then takes its steps, but
no less than the host takes to launch them one kernel at a time where the engine captures no graph
of them; and its token is handed out in turn with those of all that run. What all clients send at
once is read one step after another.

A short simulation of a scheduler in the tests agrees, calm, crowded and in bursts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from scaleright.formulas import COUNT, NON_NEGATIVE, POSITIVE, Domain, closed_form, counting, lookup
from scaleright.inference.deployment import Deployment
from scaleright.ops import exp, log, maximum, minimum, where

# How prompts and answers share the steps of an engine in its steady state


LOG_2 = math.log(2)
_TINY = 1e-12


@closed_form(prompts=NON_NEGATIVE, variation=NON_NEGATIVE)
def median_prompts(prompts, variation):
    """Prompts of the mean length whose tokens the median step computes, where so many begin in the
    mean step [1].

    They come at random (Poisson), so that half of the steps or more meet none up to ln 2 in the
    mean. Beyond that a step's sum of lengths is nearly gamma distributed, of mean n and variance n
    (1 + cv^2), whose median lies (1 + cv^2) / 3 below its mean.

    prompts : that begin in the mean step [1]
    variation : of their lengths, the standard deviation over the mean [1]

    Source: derived; a gamma distribution of shape k has its median near k - 1/3.

    >>> median_prompts(0.6, 1.0), round(median_prompts(2.0, 1.0), 2)
    (0.0, 1.33)
    """
    below = (1 + variation**2) / 3
    return where(prompts > LOG_2, maximum(prompts - below, 0.0), 0.0)


@dataclass(frozen=True)
class Rhythm:
    """Steps of continuous batching at so many running sequences; numbers, arrays or quantities.

    Attributes
    ----------
    prompt_steps : steps in which a request's prompt is computed [1]
    requests : that end in a step, and so begin in one [1]
    chunk : tokens of prompts in a step that carries any [token]
    beside : sequences that decode beside them [1]
    carrying : share of all steps that carry prompts [1]
    share : the same, of the steps in which a running sequence gains a token [1]
    """

    prompt_steps: Any
    requests: Any
    chunk: Any
    beside: Any
    carrying: Any
    share: Any

    @classmethod
    def of(
        cls,
        running: Any,
        new_tokens: Any,
        further: Any,
        queries: Any,
        budget: Any,
        replicas: Any = 1.0,
        together: Any = 0.0,
    ) -> Rhythm:
        """The rhythm of a batch.

        Of `running` slots each request takes its prompt's steps and `further` ones, so that running
        / (prompt steps + further) requests end in a step and as many prompts are computed in one:
        in steps that meet one or more, since they come at random.

        Parameters
        ----------
        running : sequences that run [1]
        new_tokens : tokens of a prompt that are computed [token]
        further : steps of an answer after its first token [1]
        queries : tokens that a decoding sequence puts through a step: 1, or with a draft's [1]
        budget : most tokens of a step [token]
        replicas : groups and stages that take prompts side by side [1]
        together : prompts that each of them computes at once at least, where so many wait [1]; else
            they come at random (Poisson), so that a share exp(-requests) of steps meets none and
            the others meet one or more

        Source: chunked prefill [agrawal2024, section 4].

        >>> calm = Rhythm.of(50, 2000, 499, 1, 8192)
        >>> calm.requests, round(calm.chunk), round(calm.carrying, 3)
        (0.1, 2102, 0.095)
        """
        full = running * (new_tokens + further * queries) / budget - further
        prompt_steps = maximum(maximum(1.0, new_tokens / budget), full)
        requests = running / (prompt_steps + further)
        met = requests * new_tokens / (1 - exp(-requests / replicas))
        most = minimum(budget - requests * further * queries, running * new_tokens)
        chunk = minimum(most, maximum(met, new_tokens * replicas * together))
        carrying = minimum(requests * new_tokens / chunk, 1.0)
        beside = maximum(running - prompt_steps * chunk / new_tokens, 0.0)
        decoded = (1 - carrying) * running + carrying * beside
        share = where(decoded > 0, carrying * beside / maximum(decoded, _TINY), 0.0)
        return cls(prompt_steps, requests, chunk, beside, carrying, share)

    @classmethod
    def alone(cls, running: Any, further: Any) -> Rhythm:
        """That of answers alone, whose prompts others read.

        running, further : as in `of`

        >>> Rhythm.alone(50, 500).requests
        0.1
        """
        return cls(0.0, running / maximum(further, 1.0), 0.0, running, 0.0, 0.0)


FRONT_S = 0.01
"""On the way of a request to the engine and of its first token back, whatever its length."""
TOKENIZED_S = 5e-6
"""Time in which a token of a prompt is received and tokenized."""
HANDED_S = 1e-3
"""Time in which the host hands out the token of each other sequence that runs, while no more than a
step goes by: an engine that handed out more slowly than it steps would never keep up."""
AHEAD = 1.0
"""Steps that a request waits for beyond the one under way: the one that is launched already."""
LAUNCHED_S = 1.25e-3
"""Time in which a host launches a layer with experts outside a captured graph. With the three
above found in 319 runs of four publications at a fixed number of requests, each of which weighs
alike [inferencemax2026] [sglangcookbook2026] [siliconrefs2026] [gpustack2025]; none was measured at
a rate of requests, as those of `load_of_a_day.evidence` are.
"""
CAPTURED = ("vLLM", "")
"""Engines that capture graphs of steps that read prompts as well, as vLLM does piecewise."""
READS_FIRST = ("SGLang",)
"""Engines that read all prompts that wait before any answer goes on, in steps of their own unless
told to mix them (`--enable-mixed-chunk`) [sglang2026arguments].
"""


@closed_form(
    prompt_tokens=NON_NEGATIVE,
    running=COUNT,
    step_s=NON_NEGATIVE,
)
def front_s(prompt_tokens, running, step_s):
    """What a first token takes besides the steps of an engine: the way, and the host [s].

    Parameters
    ----------
    prompt_tokens : of the whole prompt, those in a cache too [token]
    running : sequences that run [1]
    step_s : a step of their answers [s]

    >>> [round(front_s(1000.0, running, 0.02), 3) for running in (1.0, 11.0, 101.0)]
    [0.015, 0.025, 0.035]
    """
    return FRONT_S + TOKENIZED_S * prompt_tokens + minimum(HANDED_S * (running - 1), step_s)


@closed_form(
    queue_s=NON_NEGATIVE,
    rest_s=NON_NEGATIVE,
    step_s=NON_NEGATIVE,
    running=COUNT,
    reading_s=NON_NEGATIVE,
    front=NON_NEGATIVE,
    launching_s=NON_NEGATIVE,
)
def first_token_s(queue_s, rest_s, step_s, running, reading_s, front, launching_s=0.0):
    """Time from sending a request to its first token [s].

    Parameters
    ----------
    queue_s : until a slot is free [s]
    rest_s : the rest of the step under way, in the mean [s]
    step_s : a step of answers alone, as the one launched ahead is [s]
    running : sequences that run; with one alone nothing is under way [1]
    reading_s : the steps of the prompt [s]
    front : on the way and at the host, see `front_s` [s]
    launching_s : the least that its kernels take to be launched, see `launching` [s]

    Source: the order of a scheduler that prepares a step while another computes.

    >>> round(first_token_s(0.0, 0.01, 0.02, 8.0, 0.05, 0.02), 3)
    0.1
    >>> first_token_s(0.0, 0.0, 0.02, 1.0, 0.0, 0.02)
    0.02
    """
    others = minimum(running - 1, 1.0)
    return queue_s + rest_s + AHEAD * others * step_s + maximum(reading_s, launching_s) + front


@closed_form(step_s=NON_NEGATIVE, steps=POSITIVE, front=NON_NEGATIVE)
def burst_s(step_s, steps, front):
    """Mean time to the first token where all prompts come at once and are read in so many steps,
    one after another [s].

    front : on the way and at the host, see `front_s` [s]

    >>> burst_s(0.5, 3.0, 0.25)
    1.25
    """
    return step_s * (1 + steps) / 2 + front


@counting
def launching(deployment: Deployment, steps: Any) -> Any:
    """The least that a host takes to launch a prompt's steps [s]: 0 where they are captured, or
    where the model has no experts.
    """
    d = deployment
    if d.engine in CAPTURED or not d.model.experts:
        return 0.0
    return LAUNCHED_S * d.model.layers * steps


@lookup
def reads_alone(deployment: Deployment) -> bool:
    """Whether an engine reads prompts in steps of their own, in which no answer goes on: SGLang,
    and the first engine of vLLM.
    """
    return deployment.first_of_vllm or deployment.engine in READS_FIRST


@lookup
def stays_together(deployment: Deployment, alike: bool) -> bool:
    """Whether requests that begin together stay so: all of one length, on an engine that reads
    every prompt before any answer goes on, they end in the same step, and so begin in the same.

    By a simulation they bunch on other engines too; the three runs measured there show nothing of
    it.
    """
    return alike and deployment.engine in READS_FIRST


# Prompts of one engine that wait for each other: a queue whose server is the engine's reading.
#
# A step reads so many tokens of prompts at most, and a long prompt takes many of them. Who comes
# meanwhile waits until it has been read, although a seat is free.


LATE = 20.0
"""One request in so many is late."""
BUSY = Domain(0.0, 0.999, (0.0, 0.95))


@closed_form(busy=BUSY, read_s=NON_NEGATIVE, variation=NON_NEGATIVE, clumping=POSITIVE)
def reading_wait_s(busy, read_s, variation, clumping):
    """Mean wait of a prompt for those before it [s].

    Parameters
    ----------
    busy : share of its time in which the engine reads prompts [1]
    read_s : time that it reads a prompt [s]
    variation : of that time, the standard deviation over the mean [1]
    clumping : variance over mean of how many come in a time as long as such a queue lasts, 1 for
        arrivals at random [1]

    Source: one server and any lengths [pollaczek1930]; for arrivals that clump [kingman1961].

    >>> reading_wait_s(0.5, 1.0, 0.0, 1.0), reading_wait_s(0.5, 1.0, 1.0, 1.0)
    (0.5, 1.0)
    """
    return busy * read_s * (clumping + variation**2) / 2 / (1 - busy)


@closed_form(busy=BUSY, read_s=NON_NEGATIVE, variation=NON_NEGATIVE, clumping=POSITIVE)
def late_reading_wait_s(busy, read_s, variation, clumping):
    """The same wait of one request in twenty, or longer [s].

    Parameters
    ----------
    busy, read_s, variation, clumping : as in `reading_wait_s`

    Source: who waits at all, which is a share `busy`, waits an exponential time in heavy traffic
    [kingman1961].

    >>> late_reading_wait_s(0.05, 1.0, 0.0, 1.0)
    0.0
    >>> round(late_reading_wait_s(0.5, 1.0, 1.0, 1.0), 2)
    4.61
    """
    each = read_s * (clumping + variation**2) / 2 / (1 - busy)
    return each * log(maximum(LATE * busy, 1.0))
