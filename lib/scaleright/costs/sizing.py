"""How many accelerators a workload takes: what one copy of the model needs, and how many copies the demand needs.

The time of a step is taken to shrink in proportion to the chips that share it. That flatters large groups, since
chips that share a model spend time talking to each other.
"""

from __future__ import annotations

from scaleright.costs.break_even import INFINITY
from scaleright.formulas import NON_NEGATIVE, POSITIVE, Domain, closed_form
from scaleright.ops import ceil, log, maximum

STEP = Domain(0.0, 1e9, (1e-3, 10.0), open_low=True)
GROUP = Domain(1.0, 1e6, (1.0, 64.0))


@closed_form(stored_bytes=POSITIVE, memory_bytes=POSITIVE, seconds_on_one=STEP, limit_s=Domain(0.0, INFINITY, (1e-2, 10.0), open_low=True))
def group_size(stored_bytes, memory_bytes, seconds_on_one, limit_s=INFINITY):
    """Chips that share one copy of a model: a power of two, enough to hold it and to keep a limit on the time of a step [1].

    Parameters
    ----------
    stored_bytes : weights with cache, or the state of training [B]
    memory_bytes : memory of one chip that they may take [B]
    seconds_on_one : time of a step if one chip did all of it [s]
    limit_s : most time of a step [s]; infinite for none

    Heads and layers divide by powers of two, so other sizes of a group are rare.

    >>> group_size(140e9, 72e9, 0.08), group_size(140e9, 72e9, 0.08, 0.015)
    (2.0, 8.0)
    """
    least = maximum(ceil(stored_bytes / memory_bytes), maximum(ceil(seconds_on_one / limit_s), 1.0))
    # The logarithm of 8 may come out a hair above 3.
    return 2.0 ** ceil(log(least) / log(2.0) - 1e-9)


@closed_form(tokens_per_s=NON_NEGATIVE, step_tokens=POSITIVE, seconds_on_one=STEP, group=GROUP)
def chips_for_demand(tokens_per_s, step_tokens, seconds_on_one, group=1.0):
    """Chips in whole groups that together reach a number of tokens per second; one group at least [1].

    Parameters
    ----------
    tokens_per_s : demand [token/s]
    step_tokens : tokens of one step of a group [token]
    seconds_on_one : time of that step if one chip did all of it [s]
    group : chips that share one copy of the model [1], see `group_size`

    >>> chips_for_demand(1000.0, 32.0, 0.08, 2.0), chips_for_demand(10.0, 32.0, 0.08, 2.0)
    (4.0, 2.0)
    """
    return group * maximum(ceil(tokens_per_s * seconds_on_one / (step_tokens * group) - 1e-9), 1.0)
