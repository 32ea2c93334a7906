"""How prompts and answers share the steps of an engine in its steady state."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from scaleright.formulas import NON_NEGATIVE, closed_form
from scaleright.ops import exp, maximum, minimum, where

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
