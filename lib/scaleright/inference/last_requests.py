"""How a run of so many requests ends: when none waits any more, those that still run thin out.

A benchmark sends a number of requests, so many at a time, and divides the tokens by the time until
the last answer. Answers of different lengths do not end together: from the moment when the last
request has begun, fewer and fewer run, and the longest of them keeps the chips waiting.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from statistics import fmean

import numpy as np

from scaleright.formulas import COUNT, NON_NEGATIVE, search, simulation
from scaleright.inference.deployment import Deployment
from scaleright.inference.engine_steps import engine_step, weighed
from scaleright.inference.lengths import Load
from scaleright.inference.phases import StepSeconds
from scaleright.inference.rhythm import Rhythm

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
