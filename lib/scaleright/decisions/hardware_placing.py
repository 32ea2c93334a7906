"""Any chip on any workload of MLPerf Inference beside its reference chip, as quantities: what the
radar's axes are computed from; and who leads by the reader's weights.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from scaleright.decisions.hardware_figures import (
    MEASURED,
    REFERENCES,
    chip_rows,
    drifts,
    hour_usd,
    placeable,
    power_rows,
    rate_rows,
    scenarios,
    submission_rows,
    workload_rows,
)
from scaleright.decisions.hardware_radar import (
    AXES,
    SPAN,
    WITH_STAND_INS,
    leader_rows,
    shift,
    weighted,
)
from scaleright.formulas import lookup
from scaleright.ops import first_case, item, where
from scaleright.quantity import at, choose, least, look_up
from scaleright.quantity.rows import Row

UNKNOWN = "not known"


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


@dataclass(frozen=True)
class Placed:
    """A chip on a workload; nan where nothing is known.

    spec : what the tables say of it (`chip_rows`)
    measured : its rate there [unit/s]
    of, than : what counts of it and of the reference chip, see `times_better`; and its maturity
    power, submission : see `power_rows` and `submission_rows`
    """

    spec: Row
    measured: Any
    of: Mapping[str, Any]
    than: Mapping[str, Any]
    power: Row
    submission: Row


@lookup
def placed(chip: Any, work: Workload, own: Any = False, stand_ins: Any = False) -> Placed:
    """A chip on a workload, by what was measured, or by datasheets where these stand in.

    Parameters
    ----------
    chip : its name, a word or a quantity; of a chip that is not placed nothing is known
    own, stand_ins : as in `figures`

    >>> from scaleright.decisions.hardware_figures import times_better
    >>> b200 = placed("B200", workload("llama2-70b", "Offline"))
    >>> round(times_better(b200.of, b200.than, b200.power.efficiency)["speed"].value, 2)
    3.35
    """
    facts = {name: chip_rows()[name] for name in placeable()["chip"]}
    names = chip, work.place.reference
    spec, base = (choose(facts, name, otherwise=UNKNOWN) for name in names)
    on = work.benchmark, work.scenario
    measured, rate = (choose(rate_rows(), *on, name, otherwise=UNKNOWN).rate for name in names)
    by_datasheet = where(stand_ins, rate * spec.reached_flops / base.reached_flops, float("nan"))
    known = where(measured > 0, measured, by_datasheet)
    there = {
        part: where(known > 0, spec[part], float("nan")) for part in ("memory_bytes", "maturity")
    }
    return Placed(
        spec,
        measured,
        {**spec, **there, "rate": known, "usd_per_hour": hour_usd(spec, own, 1.0)},
        {**base, "rate": rate, "usd_per_hour": hour_usd(base, own, 1.0)},
        choose(power_rows(), *on, chip, otherwise=UNKNOWN),
        choose(submission_rows(), *on, chip, otherwise=""),
    )


def why_none(work: Workload, weight: Any) -> Any:
    """Why no chip leads, and what would help, in words.

    Parameters
    ----------
    weight : of all axes together

    >>> why_none(workload("whisper", "Server"), 5.0).value[-15:]
    ' choose Offline'
    """
    nobody = (
        "no chip has figures on all axes that weigh: give another axis weight, or choose another"
        " benchmark or scenario"
    )
    unplaced = (
        f"neither the {' nor the '.join(REFERENCES)} was submitted, so nothing can be compared:"
        " choose "
    )
    return first_case(
        [(weight <= 0, "no axis has weight: give one of them some"), (work.place.there, nobody)],
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
    shares : chips that win some, each with its share [1]; empty names at the end
    placed : chips that are known on all axes
    span : at which their points were counted
    """

    there: Any
    shares: Sequence[tuple[Any, Any]]
    placed: Any
    span: float

    @property
    def never(self) -> Any:
        """How many of the chips placed win none."""
        return self.placed - sum(where(of > 0, 1, 0) for _, of in self.shares)


def wins(work: Workload, paid: Any, stand_ins: Any, span: float = SPAN) -> Won:
    """Who wins how many of all weightings on a workload (`leader_rows`): quantities or not.

    >>> won = wins(workload("llama2-70b", "Offline"), "rent", False)
    >>> won.shares[0][0].value, won.never.value < won.placed.value
    ('B200', True)
    """
    counted = where(stand_ins, WITH_STAND_INS, MEASURED)
    rows, on = leader_rows(span), (work.benchmark, work.scenario, paid, counted)
    found = choose(rows, *on, otherwise="none")
    most = len(next(iter(rows.values()))["chips"])
    shares = [(item(found.chips, i), item(found.shares, i)) for i in range(most)]
    return Won(found.there, shares, found.placed, span)


@dataclass(frozen=True)
class Rents:
    """The ends of a chip's own listings [USD/h], and the points that it has there."""

    low: Any
    high: Any
    points_at_low: Any
    points_at_high: Any


def at_its_rents(lead: Lead, spec: Row, weights: Sequence[Any], span: Any) -> Rents:
    """The chip that leads, at the ends of its listings.

    Parameters
    ----------
    spec : of any chip, the quantity `chip` (`chip_rows`)
    """
    rent, low, high = (
        at(spec["rent_usd_per_hour" + end], chip=lead.chip) for end in ("", "_low", "_high")
    )
    points = (lead.points + shift(rent / end, weights, ["cost"], span) for end in (low, high))
    return Rents(low, high, *points)
