"""Chips of one kind that are not equally fast: all of a job wait for the slowest."""

from scaleright.formulas import Domain, closed_form, unchecked
from scaleright.ops import INFINITY
from scaleright.order_statistics import largest_score

APART = 0.015
"""Standard deviation of the time that chips of one kind take for the same work, over the mean [1]:
an average variation of 8 % [sinha2022, abstract], taken to be that between the whiskers of a box
plot, 5.4 standard deviations of a normal variable.
"""
# Its domain is that of the chips below.
_score = unchecked(largest_score)


@closed_form(chips=Domain(1.0, INFINITY, (1.0, 1e5)))
def slowest(chips):
    """Time that the slowest of so many chips is expected to take for its work, over the mean [1];
    times are taken to be normal.

    >>> slowest(1.0), round(slowest(8.0), 3), round(slowest(1024.0), 3)
    (1.0, 1.022, 1.049)
    """
    return 1 + APART * _score(chips)
