"""How many accelerators a workload takes: what one copy of the model needs, what it serves, how
many copies the demand needs.

The time of a step is taken to shrink in proportion to the chips that share it. That flatters large
groups, since chips that share a model spend time talking to each other.
"""

from scaleright.formulas import COUNT, NON_NEGATIVE, POSITIVE, Domain, closed_form
from scaleright.ops import INFINITY, ceil, floor, log2, maximum, minimum

STEP = Domain(0.0, 1e9, (1e-3, 10.0), open_low=True)
LIMIT = Domain(0.0, INFINITY, (1e-2, 10.0), open_low=True)
NEVER = 1e18
"""A time beyond any step [s]."""
GROUP = Domain(1.0, 1e6, (1.0, 64.0))


@closed_form(stored_bytes=POSITIVE, memory_bytes=POSITIVE)
def group_size(stored_bytes, memory_bytes):
    """Chips that share one copy of a model: the least power of two that holds it [1].

    Parameters
    ----------
    stored_bytes : weights with cache, or the state of training [B]
    memory_bytes : memory of one chip that they may take [B]

    Heads and layers divide by powers of two, so other sizes of a group are rare.

    >>> group_size(140e9, 72e9), group_size(60e9, 72e9)
    (2.0, 1.0)
    """
    least = maximum(ceil(stored_bytes / memory_bytes), 1.0)
    return 2.0 ** ceil(log2(least) - 1e-9)  # the logarithm of 8 may come out a hair beside 3


@closed_form(
    most=COUNT,
    group=GROUP,
    memory_bytes=POSITIVE,
    weight_bytes=NON_NEGATIVE,
    sequence_bytes=NON_NEGATIVE,
    limit_s=LIMIT,
    bytes_per_s=POSITIVE,
    flop_per_sequence=POSITIVE,
    flops=POSITIVE,
)
def batch_that_fits(
    most,
    group,
    memory_bytes,
    weight_bytes,
    sequence_bytes,
    limit_s,
    bytes_per_s,
    flop_per_sequence,
    flops,
):
    """Sequences that a group decodes together, as memory and a limit on the time of a step allow
    [1]; below 1 for none.

    Parameters
    ----------
    most : sequences there are to decode at most [1]
    group : chips that share one copy of the model [1]
    memory_bytes : memory of one chip that weights and cache may take [B]
    weight_bytes : weights, kept in memory and read in a step [B]
    sequence_bytes : cache of one sequence, kept and read [B]
    limit_s : most time of a step [s]; infinite for none
    bytes_per_s, flops : speed of one chip in such a step [B/s], [FLOP/s]
    flop_per_sequence : arithmetic of one new token [FLOP]

    >>> batch_that_fits(256.0, 2.0, 72e9, 70e9, 1e9, float("inf"), 2e12, 140e9, 400e12)
    74.0
    >>> batch_that_fits(256.0, 2.0, 72e9, 70e9, 1e9, 0.025, 2e12, 140e9, 400e12)
    30.0
    """
    within = minimum(limit_s, NEVER) * group
    each = maximum(sequence_bytes, 1e-9)
    by_memory = (
        minimum(group * memory_bytes - weight_bytes, within * bytes_per_s - weight_bytes) / each
    )
    return floor(minimum(minimum(most, by_memory), within * flops / flop_per_sequence) + 1e-9)


@closed_form(tokens_per_s=NON_NEGATIVE, step_tokens=POSITIVE, seconds_on_one=STEP, group=GROUP)
def chips_for_demand(tokens_per_s, step_tokens, seconds_on_one, group=1.0):
    """Chips in whole groups that together reach a number of tokens per second; one group at least
    [1].

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
