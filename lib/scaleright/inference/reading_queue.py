"""Prompts of one engine that wait for each other: a queue whose server is the engine's reading.

A step reads so many tokens of prompts at most, and a long prompt takes many of them. Who comes
meanwhile waits until it has been read, although a seat is free.
"""

from scaleright.formulas import NON_NEGATIVE, POSITIVE, Domain, closed_form
from scaleright.ops import log, maximum

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
