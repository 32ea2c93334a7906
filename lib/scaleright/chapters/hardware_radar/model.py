"""Hardware Selection Radar (F12): chips on five axes, weighed by the reader, without a guess where
nobody measured.

Clarifai sorts whole technologies by feel. Here a chip is placed on each axis by how many times
better it is than one and the same reference chip, so that no third chip can change the order of
two. What is not known stays open: a chip with a missing axis gets the range that the axis could
make of its score, and cannot win while it weighs. `figures` says what is known.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple, Self

import numpy as np

from scaleright.chapters.hardware_radar.figures import (
    REFERENCES,
    chip_rows,
    drifts,
    placeable,
    power_rows,
    rate_rows,
    scenarios,
    submission_rows,
    workload_rows,
)
from scaleright.costs.owned_hours import OwnedHour, owned_rows
from scaleright.formulas import POSITIVE, Domain, closed_form, lookup, simulation
from scaleright.market import Hours, PaidHour
from scaleright.ops import INFINITY, first_case, log, where
from scaleright.quantity import Table, apply, at, choose, given, least, look_up, over
from scaleright.quantity.lists import LIST, how_often, most_of, place_of_least
from scaleright.quantity.rows import Row

# Any chip on any workload of MLPerf Inference beside its reference chip, as quantities: what the
# radar's axes are computed from; and who leads by the reader's weights


UNKNOWN, NONE = "not known", float("nan")


@dataclass(frozen=True)
class Workload:
    """A benchmark in a scenario.

    place : its reference chip, its unit, and the chips that were measured (`workload_rows`)
    drift : by what factor one round's software moves two chips' speeds over each other (`drifts`)
    """

    benchmark: Any
    scenario: Any
    place: Row
    drift: Any


@lookup
def workload(benchmark: Any, scenario: Any) -> Workload:
    """A benchmark in a scenario: words, quantities or not.

    >>> workload("llama2-70b", "Offline").place.reference.value
    'H100 SXM'
    """
    found = choose(workload_rows(), benchmark, scenario, otherwise=UNKNOWN)
    return Workload(benchmark, scenario, found, look_up(drifts(), benchmark))


class ChipHour(NamedTuple):
    """An hour of a chip, rented and owned, and as it is paid [USD/h]; nan where it has no price."""

    rent: PaidHour
    owned: OwnedHour
    usd: Any


@dataclass(frozen=True)
class Prices:
    """What an hour of each chip that may be placed costs, rented and owned."""

    hours: Hours
    owned: Table

    @classmethod
    def of(cls, chips: Sequence[str]) -> Self:
        """Those of some chips."""
        return cls(Hours(chips, old=False), Table(owned_rows(tuple(chips)), UNKNOWN))

    def hour(self, chip: Any, case: Any, utilization: Any = 1.0) -> ChipHour:
        """That of a chip, as a case pays for it.

        case : paid, contract, seller and setting
        """
        rent = self.hours.paid(chip, case.contract, case.seller)
        owned = OwnedHour.of(self.owned.row(chip, case.setting), False, utilization)
        return ChipHour(rent, owned, where(case.paid == "own", owned.usd, rent.usd))


@dataclass(frozen=True)
class Placed:
    """A chip on a workload; nan where nothing is known.

    spec : what the tables say of it (`chip_rows`)
    hour, base_hour : an hour of it around the clock, and of the reference chip
    measured : its rate there [unit/s]
    of, than : what counts of it and of the reference chip, see `times_better`; and its maturity
    power, submission, base_submission : see `power_rows`, and `submission_rows` of both chips
    """

    spec: Row
    hour: ChipHour
    base_hour: ChipHour
    measured: Any
    of: Mapping[str, Any]
    than: Mapping[str, Any]
    power: Row
    submission: Row
    base_submission: Row


@lookup
def placed(chip: Any, work: Workload, prices: Prices, case: Any) -> Placed:
    """A chip on a workload, by what was measured, or by datasheets where these stand in.

    Parameters
    ----------
    chip : its name, a word or a quantity; of a chip that is not placed nothing is known
    case : paid, contract, seller, setting, and stand_ins: whether shipping chips that nobody
        submitted are placed by their datasheets: their speed is then the BF16 arithmetic that
        matrix products reach over that of the reference chip

    >>> from scaleright.chapters.hardware_radar.figures import times_better
    >>> case = SimpleNamespace(paid="rent", contract="on demand", seller="median", stand_ins=False)
    >>> case.setting = "data center"
    >>> work, prices = workload("llama2-70b", "Offline"), Prices.of(["B200", "H100 SXM"])
    >>> b200 = placed("B200", work, prices, case)
    >>> round(times_better(b200.of, b200.than, b200.power.efficiency)["speed"].value, 2)
    3.35
    """
    facts = {name: chip_rows()[name] for name in placeable()["chip"]}
    names = chip, work.place.reference
    spec, base = (choose(facts, name, otherwise=UNKNOWN) for name in names)
    hour, base_hour = (prices.hour(name, case) for name in names)
    on = work.benchmark, work.scenario
    measured, rate = (choose(rate_rows(), *on, name, otherwise=UNKNOWN).rate for name in names)
    by_datasheet = where(case.stand_ins, rate * spec.reached_flops / base.reached_flops, NONE)
    known = where(measured > 0, measured, by_datasheet)
    there = {part: where(known > 0, spec[part], NONE) for part in ("memory_bytes", "maturity")}
    submission, base_submission = (
        choose(submission_rows(), *on, name, otherwise="") for name in names
    )
    return Placed(
        spec,
        hour,
        base_hour,
        measured,
        {**spec, **there, "rate": known, "usd_per_hour": hour.usd},
        {**base, "rate": rate, "usd_per_hour": base_hour.usd},
        choose(power_rows(), *on, chip, otherwise=UNKNOWN),
        submission,
        base_submission,
    )


def why_none(work: Workload, on: Placed, weights: Sequence[Any]) -> Any:
    """Why no chip leads, and what would help, in words.

    Parameters
    ----------
    on : any chip there
    weights : of each of the `AXES`
    """
    reference, hour = work.place.reference, on.base_hour
    nobody = (
        "no chip has figures on all axes that weigh: give another axis weight, or choose another"
        " benchmark or scenario"
    )
    unpriced = (
        reference + ", the reference chip, has no such price (" + hour.rent.why + "), so that none"
        " has a cost: choose another contract or seller, or give cost no weight"
    )
    unplaced = (
        f"neither the {' nor the '.join(REFERENCES)} was submitted, so nothing can be compared:"
        " choose "
    )
    return first_case(
        [
            (sum(weights) <= 0, "no axis has weight: give one of them some"),
            (work.place.there & (weights[0] > 0) & ~(hour.usd > 0), unpriced),
            (work.place.there, nobody),
        ],
        unplaced + look_up(scenarios(), work.benchmark),
    )


OVER_SPEED = ("cost", "speed", "energy")
"""The axes on which a faster chip gains: prices and watts count over its speed."""


def weights(case: SimpleNamespace) -> list[Any]:
    """The weight of each of the `AXES`, from the controls `weight_cost` and so on.

    >>> weights(SimpleNamespace(**{f"weight_{axis}": 1.0 for axis in AXES}))
    [1.0, 1.0, 1.0, 1.0, 1.0]
    """
    return [getattr(case, f"weight_{axis}") for axis in AXES]


def share(axes: Sequence[str], of: Sequence[Any]) -> Any:
    """The share that some axes have of all weights [1].

    >>> share(OVER_SPEED, [1.0, 1.0, 1.0, 1.0, 1.0])
    0.6
    """
    return weighted([1.0 if axis in axes else 0.0 for axis in AXES], of)


@dataclass(frozen=True)
class Lead:
    """The chip with the most points, and the next; no name and nan where there is none."""

    chip: Any
    points: Any
    next_chip: Any
    next_points: Any

    @property
    def gap(self) -> Any:
        """How many points lie between the two."""
        return self.points - self.next_points


def leading(points: Mapping[str, Any]) -> Lead:
    """Who leads among chips with these points: quantities, nan where nothing is known.

    >>> lead = leading({"A": 6.0, "B": float("nan"), "C": 7.5})
    >>> lead.chip.value, lead.points.value, lead.next_chip.value, lead.gap.value
    ('C', 7.5, 'A', 1.5)
    """
    lost = {chip: -of for chip, of in points.items()}
    chip, least_lost = least(lost)
    next_chip, next_lost = least(lost, after=chip)
    return Lead(chip, -least_lost, next_chip, -next_lost)


@dataclass(frozen=True)
class Won:
    """Who wins how many of all weightings of the axes.

    there : whether some chip is known on all axes
    shares : chips that win most, the first of them first, each with its share [1]
    placed, never : chips that are known on all axes, and those of them that win none
    """

    there: Any
    shares: Sequence[tuple[Any, Any]]
    placed: Any
    never: Any


NAMED = 6
"""Chips that are named with the share of weightings that they win."""


def wins(points: Mapping[str, Any], chips: Sequence[str]) -> Won:
    """Who wins how many of all weightings (`weightings`), of chips that are known on all axes.

    Parameters
    ----------
    points : on each of the `AXES`, quantities of any `chip`, nan where nothing is known
    """
    weights = {axis: given(f"w_{axis}", 1 / len(AXES)) for axis in AXES}
    each = [[at(points[axis], chip=name) for axis in AXES] for name in chips]
    lost = [-sum(w * p for w, p in zip(weights.values(), of, strict=True)) for of in each]
    drawn = {weights[axis]: of for axis, of in zip(AXES, weightings().T.round(4), strict=True)}
    winner = over("weightings", drawn, {"winner": place_of_least(apply(LIST, *lost))})["winner"]
    counts = dict(zip(chips, how_often(winner, len(chips)), strict=True))
    placed = sum(where(sum(of) > -INFINITY, 1, 0) for of in each)
    shares = [(name, count / WEIGHTINGS) for name, count in most_of(counts, NAMED)]
    some = sum(where(count > 0, 1, 0) for count in counts.values())
    return Won(placed > 0, shares, placed, placed - some)


AXES = ("cost", "speed", "energy", "memory", "maturity")
FULL = 10.0
"""Points at the rim of the radar."""
SPAN = 10.0
"""How many times better than the reference chip the rim is, and how many times worse the middle."""


@closed_form(ratio=POSITIVE, span=Domain(1.0, float("inf"), (2.0, 100.0), open_low=True))
def points(ratio, span=SPAN):
    """Points of a chip on an axis: 5 for the reference chip, 10 for one `span` times better, 0 for
    one `span` times worse.

    The scale is even in ratios, and beyond its ends it goes on: nothing is cut off.

    Parameters
    ----------
    ratio : how many times better than the reference chip [1]
    span : as above [1]

    >>> points(1.0), points(10.0), round(points(2.0), 2)
    (5.0, 10.0, 6.51)
    """
    return FULL / 2 * (1 + log(ratio) / log(span))


def weighted(scores: Sequence[Any], weights: Sequence[Any]) -> Any:
    """The mean of points, by weight; nan where one that has weight is not known; numbers, arrays or
    quantities.

    >>> weighted([4.0, 8.0], [3.0, 1.0])
    5.0
    """
    pairs = zip(scores, weights, strict=True)
    return sum(where(weight > 0, score * weight, 0.0) for score, weight in pairs) / sum(weights)


def ends(scores: Sequence[Any], weights: Sequence[Any]) -> tuple[Any, Any]:
    """The score if each axis of which nothing is known (nan) had no point, and if it had all of
    them: the same where no such axis has weight.

    >>> ends([4.0, float("nan")], [1.0, 1.0]), ends([4.0, float("nan")], [1.0, 0.0])
    ((2.0, 7.0), (4.0, 4.0))
    """
    low, high = (
        weighted([where(score > -INFINITY, score, end) for score in scores], weights)
        for end in (0.0, FULL)
    )
    return low, high


def shift(ratio: Any, weights: Sequence[Any], axes: Sequence[str], span: Any = SPAN) -> Any:
    """Points that a score gains where a chip becomes `ratio` times better on some of the `AXES`;
    numbers or quantities.

    A chip that becomes faster gains on cost, speed and energy: prices and watts count over its
    speed.

    >>> shift(10.0, (1, 1, 1, 1, 1), ("cost", "speed", "energy"))
    3.0
    """
    gained = points(ratio, span) - points(1.0, span)
    return weighted([gained if axis in axes else 0.0 for axis in AXES], weights)


WEIGHTINGS = 512
"""How many ways to weigh the axes are looked at: a page weighs all chips by each."""


@simulation
@functools.cache
def weightings(many: int = WEIGHTINGS, seed: int = 20261120) -> np.ndarray:
    """Weights of the axes, spread evenly over all ways to weigh them: a row each, of sum 1.

    Source: the gaps between sorted points that are drawn evenly from 0 to 1 are even among all
    weights that add up to 1 (a Dirichlet distribution of ones); a Sobol sequence draws them.

    >>> bool(np.allclose(weightings().sum(axis=1), 1)), weightings().mean(axis=0).round(2).tolist()
    (True, [0.2, 0.2, 0.2, 0.2, 0.2])
    """
    from scipy.stats import qmc  # heavy, and one chapter needs it

    drawn = np.sort(qmc.Sobol(len(AXES) - 1, scramble=True, rng=seed).random(many), axis=1)
    return np.diff(drawn, axis=1, prepend=0.0, append=1.0)


def source_rule(weights: Sequence[Any]) -> Any:
    """The technology that Clarifai's radar points to: GPUs for speed and maturity, TPUs for cost
    and energy, by the larger weight.

    The document sorts by feel and gives no rule for a tie; the reading here is GPU. Weights may be
    quantities.

    >>> source_rule([1, 1, 1, 1, 1]), source_rule([3, 1, 1, 0, 1])
    ('GPU', 'TPU')
    """
    cost, speed, energy, _, mature = weights
    return where(speed + mature >= cost + energy, "GPU", "TPU")
