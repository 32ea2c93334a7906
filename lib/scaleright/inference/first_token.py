"""The time to the first token: waiting for a slot, for the steps under way and for a turn to be
read, then reading.

A request waits for a slot as long as the requests before it take to free one (Little's law, in
`serving`), for the rest of the step under way, and for steps that the host has launched ahead:
engines prepare a step while another computes, and hand its tokens out while the next one does. Its
prompt then takes its steps, but no less than the host takes to launch them one kernel at a time
where the engine captures no graph of them. What all clients send at once is read one step after
another.

A short simulation of a scheduler in the tests agrees, calm, crowded and in bursts.
"""

from typing import Any

from scaleright.formulas import COUNT, NON_NEGATIVE, POSITIVE, closed_form, counting, lookup
from scaleright.inference.deployment import Deployment
from scaleright.ops import maximum, minimum

FRONT_S = 0.02
"""On the way of a request to the engine and of its first token back, tokenizing included."""
AHEAD = 2.0
"""Steps that a request waits for beyond the one under way: one that is launched already, and one
during which its own step's token is handed out."""
LAUNCHED_S = 1.25e-3
"""Time in which a host launches a layer with experts outside a captured graph. With the two above
found in 293 runs of four publications, each of which weighs alike; a model left out, the first
token comes within a factor of two in 97, 89 and 78 % of three of them
[inferencemax2026] [sglangcookbook2026] [siliconrefs2026].
"""
CAPTURED = ("vLLM", "")
"""Engines that capture graphs of steps that read prompts as well, as vLLM does piecewise."""
READS_FIRST = ("SGLang",)
"""Engines that read all prompts that wait before any answer goes on, in steps of their own unless
told to mix them (`--enable-mixed-chunk`) [sglang2026arguments].
"""


@closed_form(
    queue_s=NON_NEGATIVE,
    rest_s=NON_NEGATIVE,
    step_s=NON_NEGATIVE,
    running=COUNT,
    reading_s=NON_NEGATIVE,
    launching_s=NON_NEGATIVE,
)
def first_token_s(queue_s, rest_s, step_s, running, reading_s, launching_s=0.0):
    """Time from sending a request to its first token [s].

    Parameters
    ----------
    queue_s : until a slot is free [s]
    rest_s : the rest of the step under way, in the mean [s]
    step_s : a step of answers alone, as those launched ahead are [s]
    running : sequences that run; with one alone nothing is under way [1]
    reading_s : the steps of the prompt [s]
    launching_s : the least that its kernels take to be launched, see `launching` [s]

    Source: the order of a scheduler that prepares a step while another computes.

    >>> round(first_token_s(0.0, 0.01, 0.02, 8.0, 0.05), 3), first_token_s(0.0, 0.0, 0.02, 1.0, 0.0)
    (0.12, 0.02)
    """
    others = minimum(running - 1, 1.0)
    return queue_s + rest_s + AHEAD * others * step_s + maximum(reading_s, launching_s) + FRONT_S


@closed_form(step_s=NON_NEGATIVE, steps=POSITIVE)
def burst_s(step_s, steps):
    """Mean time to the first token where all prompts come at once and are read in so many steps,
    one after another [s].

    >>> round(burst_s(0.5, 3.0) - FRONT_S, 9)
    1.0
    """
    return step_s * (1 + steps) / 2 + FRONT_S


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
