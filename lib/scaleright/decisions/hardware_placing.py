"""Any chip on any workload of MLPerf Inference beside its reference chip, as quantities: what the
radar's axes are computed from.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scaleright.decisions.hardware_candidates import hour_usd
from scaleright.decisions.hardware_figures import (
    REFERENCES,
    chip_rows,
    placeable,
    power_rows,
    rate_rows,
    scenarios,
    submission_rows,
    workload_rows,
)
from scaleright.formulas import lookup
from scaleright.ops import first_case, where
from scaleright.quantity import choose, look_up
from scaleright.quantity.rows import Row

UNKNOWN = "not known"


@dataclass(frozen=True)
class Workload:
    """A benchmark in a scenario.

    place : its reference chip, its unit, and the chips that were measured (`workload_rows`)
    """

    benchmark: Any
    scenario: Any
    place: Row


@lookup
def workload(benchmark: Any, scenario: Any) -> Workload:
    """A benchmark in a scenario: words, quantities or not.

    >>> workload("llama2-70b", "Offline").place.reference.value
    'H100 SXM'
    """
    found = choose(workload_rows(), benchmark, scenario, otherwise=UNKNOWN)
    return Workload(benchmark, scenario, found)


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
