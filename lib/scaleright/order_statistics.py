"""The largest of many draws: the slowest chip of a job, the longest answer of a batch."""

from scaleright.formulas import Domain, closed_form
from scaleright.ops import INFINITY, log, sqrt, where


@closed_form(count=Domain(1.0, INFINITY, (1.0, 1e5)))
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
