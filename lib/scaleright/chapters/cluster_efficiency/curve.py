"""Clarifai's Utilization Efficiency Curve, which "rises, plateaus, falls", beside the computed
one.
"""

from dataclasses import dataclass
from functools import reduce
from typing import Any, Self

from scaleright.costs.cluster_grid import CLUSTERS
from scaleright.decisions.cluster_efficiency import Efficiency
from scaleright.ops import first_case, maximum, where

LEVEL = 0.05
"""How far below its highest a curve still counts as level [1]."""


@dataclass(frozen=True)
class Curve:
    """The curve of a run: the share of the peak of all paid time that goes into tokens which a
    small batch would take as well, against the number of chips.

    first, at_first : the fewest chips that hold the run, and the share there [1]
    most, top : the number of chips with the highest share, and that share
    level : the most chips whose share is within `LEVEL` of the highest
    last, at_last : the most chips that are weighed on which it runs, and the share there
    rises : whether the share on the fewest chips is below that
    """

    first: Any
    at_first: Any
    most: Any
    top: Any
    level: Any
    last: Any
    at_last: Any
    rises: Any

    @classmethod
    def of(cls, found: Efficiency) -> Self:
        """That of a case."""
        used = [where(of > 0, of, 0.0) for of in found.sizes["used"]]
        sizes = [float(size) for size in CLUSTERS]
        top = reduce(maximum, used)
        pairs = [*zip(used, sizes, strict=True)]
        runs = [(share > 0, size) for share, size in pairs]
        shares = [(share > 0, share) for share in used]
        level = [(share >= (1 - LEVEL) * top, size) for share, size in pairs]
        at_first = first_case(shares, 0.0)
        return cls(
            first=first_case(runs, 0.0),
            at_first=at_first,
            most=first_case([(share == top, size) for share, size in pairs], 0.0),
            top=top,
            level=first_case(level[::-1], 0.0),
            last=first_case(runs[::-1], 0.0),
            at_last=first_case(shares[::-1], 0.0),
            rises=at_first < (1 - LEVEL) * top,
        )
