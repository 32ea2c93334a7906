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

from typing import Any

from scaleright.formulas import COUNT, NON_NEGATIVE, POSITIVE, closed_form, counting, lookup
from scaleright.inference.deployment import Deployment
from scaleright.ops import maximum, minimum

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
