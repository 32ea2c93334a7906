"""Claims, what the library finds for them, and the rule that turns the two into a verdict."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

REPRODUCED = "reproduced"
TRACED = "traced to a published figure"
CONDITIONAL = "reproduced under stated conditions"
UNDECIDED = "neither confirmed nor excluded"
OFF = "off by a factor"
SLIP = "unit or count error"
INCONSISTENT = "internally inconsistent"
ABSENT = "depends on absent data"
UNCHECKABLE = "not checkable from public data"
VERDICTS = (
    REPRODUCED,
    TRACED,
    CONDITIONAL,
    UNDECIDED,
    OFF,
    SLIP,
    INCONSISTENT,
    ABSENT,
    UNCHECKABLE,
)
HOLD = (REPRODUCED, TRACED)
"""Verdicts of claims that simply hold."""
MEANINGS = {
    REPRODUCED: "the library computes the same from other figures",
    TRACED: "a published figure says the same; nothing is computed",
    CONDITIONAL: "it holds under circumstances that the claim does not name",
    UNDECIDED: "what is computed is too wide, or reaches beyond the claim on one side",
    OFF: "what is computed lies elsewhere",
    SLIP: "a known mistake of unit or count turns it into what is computed",
    INCONSISTENT: "the document's own figures say otherwise",
    ABSENT: "figures that a check would need were not to be had",
    UNCHECKABLE: "nobody publishes what a check would need",
}
"""What each verdict says of a claim."""

AGREEMENT = 0.02
"""A claim also agrees within 2 %, so that a document is not blamed for rounding an intermediate
step.
"""
LOOSE = 0.05
"""The same for a figure that a document itself calls one of `HEDGES`."""
HEDGES = re.compile(r"\b(about|around|nearly|roughly)\b")
WIDEST = 1.5
"""High over low end of a recomputed interval up to which an overlap confirms a claim; what spans
more would confirm almost any.
"""


@dataclass(frozen=True)
class Claim:
    """One quantitative statement. An open end of the interval is infinite ("more than a terabyte").

    call, inputs, why : the library call that recomputes it, its inputs with their sources, and one
        line why.
    missing_kind, missing : for a claim that cannot be recomputed, the verdict and what a check
        would need.
    """

    id: str
    source: str
    chapter: str
    statement: str
    low: float
    high: float
    digits: int
    unit: str
    call: str
    inputs: str
    why: str
    missing_kind: str
    missing: str

    def tolerance(self, value: float) -> float:
        """Half a unit of the last printed digit, or 2 % (5 % of what is "about" so much),
        whichever is more.
        """
        if not math.isfinite(value) or value == 0:
            return 0.0
        last_digit = 10.0 ** (math.floor(math.log10(abs(value))) - self.digits + 1)
        share = LOOSE if HEDGES.search(self.statement) else AGREEMENT
        return max(last_digit / 2, share * abs(value))

    def overlaps(self, low: float, high: float) -> bool:
        """Whether the claimed interval, widened by its own rounding, meets another one."""
        least, most = self._widened()
        return least <= high and low <= most

    def confirmed(self, low: float, high: float) -> bool:
        """Whether an interval confirms the claimed one, widened by its own rounding: it lies within
        it; or it is narrow enough to have missed a claim with two ends, and one of the two reaches
        the middle of the other.
        """
        least, most = self._widened()
        if least <= low and high <= most:
            return True
        if not (math.isfinite(self.low) and math.isfinite(self.high) and 0 < high <= WIDEST * low):
            return False
        middle = (self.low + self.high) / 2
        within = self.tolerance(middle)
        return low - within <= middle <= high + within or least <= (low + high) / 2 <= most

    def _widened(self) -> tuple[float, float]:
        return self.low - self.tolerance(self.low), self.high + self.tolerance(self.high)


Error = tuple[float, float]
"""Measured over predicted, low and high end of nine of ten [1]."""
EXACT: Error = (1.0, 1.0)


def widened(found: Any, error: Error = EXACT) -> tuple[float, float]:
    """The ends of some predictions, or of groups of them, with the model's error.

    >>> widened([2.0, 3.0], (0.5, 2.0)), widened([4.0, (5.0, [3.0])])
    ((1.0, 6.0), (3.0, 5.0))
    """
    numbers = list(_each(found))
    return min(numbers) * error[0], max(numbers) * error[1]


def saved(left: Any, error: Error = EXACT) -> list[float]:
    """The ends of what is saved where so much is left of a bill or a time [%].

    >>> saved([0.5, 0.2])
    [80.0, 50.0]
    """
    return [100 * (1 - share) for share in widened(left, error)]


def _each(found: Any) -> Iterator[float]:
    if isinstance(found, Iterable):
        for of in found:
            yield from _each(of)
    else:
        yield float(found)


@dataclass(frozen=True, init=False)
class Condition:
    """Other circumstances under which the claim might hold, and the ends of what they give."""

    text: str
    low: float
    high: float

    def __init__(self, text: str, *found: Any, error: Error = EXACT):
        low, high = widened(found, error)
        self.__dict__.update(text=text, low=low, high=high)


@dataclass(frozen=True)
class Slip:
    """A known mistake (a year for three years, singles for pairs): the claim times `factor` is what
    was meant.
    """

    text: str
    factor: float


@dataclass(frozen=True)
class Origin:
    """Where a figure that the library does not find was taken from: told, and no excuse."""

    text: str


Other = Condition | Slip | Origin


@dataclass(frozen=True)
class Recomputed:
    """What the library finds for a claim: an honest interval in the claim's unit, and what else
    could explain it.

    internal : recomputed from the document's own figures alone, so that a difference is a
        contradiction
    traced : looked up as published, and not computed from anything else
    """

    low: float
    high: float
    others: tuple[Other, ...] = ()
    internal: bool = False
    traced: bool = False


def span(*found: Any, error: Error = EXACT, internal: bool = False) -> Recomputed:
    """A recomputation that gives a range: from the least to the greatest of its numbers, or groups
    of numbers, with the model's error; and then what else could explain it.
    """
    numbers = [of for of in found if not isinstance(of, Other)]
    others = tuple(of for of in found if isinstance(of, Other))
    return Recomputed(*widened(numbers, error), others, internal)


def point(value: float, *others: Other, internal: bool = False) -> Recomputed:
    """A recomputation that gives one number."""
    return span(value, *others, internal=internal)


def looked_up(*found: Any) -> Recomputed:
    """A published figure, or the span of some, with which a document is compared: it can be
    traced, and is not recomputed; nor is it where a source's own sum is only done again.
    """
    return replace(span(*found), traced=True)


@dataclass(frozen=True)
class Finding:
    """A judged claim: the verdict, by what factor it is off, under which condition or slip it
    holds; if it does not, under which condition it is not excluded, and where its figure comes
    from.
    """

    claim: Claim
    recomputed: Recomputed | None
    verdict: str
    factor: float | None = None
    holds: str = ""
    possible: str = ""
    origin: str = ""

    def line(self) -> str:
        """One line why."""
        if self.recomputed is None:
            return f"needs {self.claim.missing}"
        more = {
            "the mistake" if self.verdict == SLIP else "holds for": self.holds,
            "it may hold for": self.possible,
            "the document's figure is that of": self.origin,
        }
        told = "; ".join(f"{words}: {text}" for words, text in more.items() if text)
        return f"{self.claim.why} ({told})" if told else self.claim.why


def judge(claim: Claim, recomputed: Recomputed | None) -> Finding:
    """The verdict that follows from the claimed and the recomputed interval.

    In order: what is recomputed confirms it (see `Claim.confirmed`); a stated condition does, or a
    known slip explains it; the two merely overlap, so that it is not decided; the document
    contradicts itself; the claim is off by a factor, measured between the nearest ends of the two
    intervals. Of a claim that is off it is told under which condition an overlap is left.

    Raises
    ------
    ValueError : neither a recomputation nor a statement of what is missing, or both.
    """
    if (recomputed is None) != bool(claim.missing):
        raise ValueError(
            f"claim {claim.id} needs either a recomputation or what is missing, and not both"
        )
    if recomputed is None:
        return Finding(claim, None, claim.missing_kind)
    low, high = recomputed.low, recomputed.high
    if claim.confirmed(low, high):
        return Finding(claim, recomputed, TRACED if recomputed.traced else REPRODUCED, 1.0)
    factor = _factor(claim, low, high)
    conditions = [other for other in recomputed.others if isinstance(other, Condition)]
    for other in recomputed.others:
        if isinstance(other, Condition) and claim.confirmed(other.low, other.high):
            return Finding(claim, recomputed, CONDITIONAL, factor, other.text)
        if isinstance(other, Slip) and claim.confirmed(low / other.factor, high / other.factor):
            return Finding(claim, recomputed, SLIP, factor, other.text)
    if claim.overlaps(low, high):
        return Finding(claim, recomputed, UNDECIDED, 1.0)
    open_ = (of.text for of in conditions if claim.overlaps(of.low, of.high))
    origins = (of.text for of in recomputed.others if isinstance(of, Origin))
    verdict = INCONSISTENT if recomputed.internal else OFF
    possible, origin = next(open_, ""), next(origins, "")
    return Finding(claim, recomputed, verdict, factor, possible=possible, origin=origin)


def _factor(claim: Claim, low: float, high: float) -> float:
    """Claimed over recomputed, between the nearest ends; 1 where they overlap."""
    if claim.overlaps(low, high):
        return 1.0
    if claim.high < low:
        return claim.high / low
    return claim.low / high if high else math.inf
