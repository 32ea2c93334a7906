"""The largest of many draws: the slowest chip of a job, the longest answer of a batch."""

from scaleright.formulas import NON_NEGATIVE, Domain, closed_form
from scaleright.ops import INFINITY, exp, log, sqrt, where

_MANY = Domain(1.0, INFINITY, (1.0, 1e5))


@closed_form(count=_MANY)
def largest_score(count):
    """Standard deviations above the mean at which the largest of so many draws of a normal variable
    lies [1].

    Its mean is nearly the quantile at (n - 3/8) / (n + 1/4) [blom1958], written with an error below
    0.0005 [abramowitz1964, equation 26.2.23].

    >>> largest_score(1.0), round(largest_score(8.0), 2), round(largest_score(1000.0), 2)
    (0.0, 1.43, 3.23)
    """
    tail = sqrt(-2 * log(0.625 / (count + 0.25)))
    over = 2.515517 + 0.802853 * tail + 0.010328 * tail * tail
    under = 1 + 1.432788 * tail + 0.189269 * tail * tail + 0.001308 * tail * tail * tail
    return where(count > 1, tail - over / under, 0 * count)


@closed_form(count=_MANY, variation=NON_NEGATIVE)
def longest_over_mean(count, variation):
    """The longest of so many lengths over their mean, where their logarithm is normal [1].

    Parameters
    ----------
    count : how many are drawn [1]
    variation : standard deviation of the lengths over their mean [1]

    >>> longest_over_mean(1.0, 0.5), round(longest_over_mean(512.0, 0.5), 2)
    (1.0, 3.74)
    """
    variance = log(1 + variation * variation)
    stretch = exp(largest_score(count) * sqrt(variance) - variance / 2)
    return where(count > 1, stretch, 1.0)
