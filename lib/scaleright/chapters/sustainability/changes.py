"""What is uncertain about the footprint of a deployment, what one change each would make of it, and
how sure it is that the best of them is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd

from scaleright.chapters.sustainability.model import TOKENS, Deployment
from scaleright.costs.serving_doubts import LOAD, load_spread
from scaleright.footprint import Machine, Place, busy_hours, intensity_spread, machines, place
from scaleright.inference.energy import chat_energy
from scaleright.information import Choice
from scaleright.ops import first_case, maximum, minimum, where
from scaleright.order import name_of_least
from scaleright.quantity import Quantity, at, choose, given, least
from scaleright.ranges import Ends, interval_of

GOOD_UTILIZATION = 0.8
"""Clarifai's example of a high score."""
BUSIER = "more use"
_DOUBTS = ("power", "network", "grid", "making", "load", "prediction")
_BEST = {f"uncertain_{name}": 1.0 for name in _DOUBTS}
"""Ratios to the best estimate of what is uncertain, by parameter."""


def levers(of: Deployment, places: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """What one change each would make of the footprint; another model gives other answers.

    Columns: change, from, to, kind (how those two are said, none of words), carbon [kg CO2e] and
    saved (share of the carbon, negative where it harms) [1]. Another format, chip or model is the
    least hungry one that was measured at about as many sequences together.

    Parameters
    ----------
    places : figures by place as of `footprint.usual`; the cleanest is the one to move to
    """
    rows = _changes(of, places)
    before = of.footprint.carbon.total
    then = [where(of.known, to.footprint.carbon.total, np.nan) for *_, to in rows]
    frame = pd.DataFrame([row[:-1] for row in rows], columns=["change", "from", "to", "kind"])
    return frame.assign(carbon=then, saved=[1 - carbon / before for carbon in then])


def _changes(of: Deployment, places: Mapping[str, Mapping[str, float]]) -> list[tuple]:
    """The rows of `levers`, each with the deployment that it leads to; the first is the move."""
    cleanest = name_of_least({name: row["grams_per_kwh"] for name, row in places.items()})
    grams = 1e3 * of.place.kg_co2e_per_kwh, places[cleanest]["grams_per_kwh"]
    there = replace(place(cleanest), pue=of.place.pue)
    busier = maximum(of.utilization, GOOD_UTILIZATION)
    years = of.machine.life_years, 2 * of.machine.life_years
    longer = replace(of, machine=replace(of.machine, life_years=years[1]))
    return [
        (f"a move to {cleanest}", *grams, "g/kWh", replace(of, place=there)),
        *_measured_changes(of),
        (BUSIER, of.utilization, busier, "percent", replace(of, utilization=busier)),
        ("a longer life", *years, "years", longer),
    ]


def _measured_changes(of: Deployment) -> list[tuple]:
    """The rows of `levers` that were measured as well: fuller batches, another format, chip or
    model; numbers are NaN where none was.
    """
    point, none = of.point, "none measured"
    other = choose(
        machines(sorted(set(chat_energy()["accelerator"]))),
        point.chip_to,
        "serving",
        otherwise=none,
    )
    drawn = {
        "fuller": of.machine,
        "form": of.machine,
        "chip": replace(Machine(**other), life_years=of.machine.life_years),
        "model": of.machine,
    }
    to = {
        change: replace(
            of,
            machine=replace(machine, chip_watts=point[f"{change}_chip_watts"]),
            busy_hours=where(
                of.served, busy_hours(TOKENS, point[f"{change}_tokens_per_s"]), np.nan
            ),
        )
        for change, machine in drawn.items()
    }
    words = {
        change: where(of.served & (point[f"{change}_to"] != ""), point[f"{change}_to"], none)
        for change in ("form", "chip", "model")
    }
    served = {"form": point.precision, "model": point.model}
    served = {change: where(of.served, name, none) for change, name in served.items()}
    batches = [where(of.served, batch, np.nan) for batch in (point.batch, point.fuller_to)]
    return [
        ("another model", served["model"], words["model"], "", to["model"]),
        ("fuller batches of sequences", *batches, "whole", to["fuller"]),
        ("another format of the weights", served["form"], words["form"], "", to["form"]),
        ("another chip", of.chip.name, words["chip"], "", to["chip"]),
    ]


def _ratio(name: str) -> Quantity:
    return given(f"uncertain_{name}", 1.0)


def _moved(of: Deployment, grid: Any = None, load: Any = None) -> Any:
    """Carbon of the work with all that is uncertain as ratios to the best [kg CO2e]."""
    machine, power = of.machine, _ratio("power")
    moved = replace(
        machine,
        chip_watts=machine.chip_watts * where(of.training, power, 1.0),
        host_watts=machine.host_watts * power,
        network_watts=machine.network_watts * _ratio("network"),
        machine_kg=machine.machine_kg * _ratio("making"),
    )
    grams = of.place.kg_co2e_per_kwh * (_ratio("grid") if grid is None else grid)
    busy = of.utilization * (_ratio("load") if load is None else load)
    here = replace(of.place, kg_co2e_per_kwh=grams)
    hours = of.busy_hours * _ratio("prediction")
    there = replace(of, machine=moved, place=here, utilization=busy, busy_hours=hours)
    return there.footprint.carbon.total


def _ends(of: Deployment, own_grid: Any, own_making: Any) -> dict[str, Ends]:
    """The ends of these ratios, by what they are of."""
    chip = of.chip
    powers = (
        where(of.training, chip[f"power_{end}"], chip[f"host_{end}"]) for end in ("low", "high")
    )
    grids, makings = intensity_spread(), (chip.making_low, chip.making_high)
    loads = 1 / load_spread(), minimum(load_spread(), 1 / of.utilization)
    if of.busy:
        day = of.busy.ends(Ends(of.utilization, *(of.utilization * end for end in loads)))
        loads = day.low / of.utilization, day.high / of.utilization
    return {
        "unmeasured power": Ends(_ratio("power"), *powers),
        "power of the network": Ends(_ratio("network"), chip.network_low, chip.network_high),
        "carbon of the grid": Ends(_ratio("grid"), *(where(own_grid, 1.0, end) for end in grids)),
        "hardware's making": Ends(
            _ratio("making"), *(where(own_making, 1.0, end) for end in makings)
        ),
        LOAD: Ends(_ratio("load"), *(where(of.training, 1.0, end) for end in loads)),
        "predicted speed": Ends(_ratio("prediction"), *of.predicted_within),
    }


def uncertain(
    of: Deployment, own_grid: Any = False, own_making: Any = False
) -> tuple[Quantity, dict[str, Ends], tuple[Quantity, Quantity]]:
    """Carbon of the work with all that is uncertain as ratios to the best [kg CO2e], the ends of
    these ratios, and the range of the carbon that follows.

    In serving the chip was measured, so that of the power only its host's is uncertain, and where
    nobody measured it the speed that is predicted; how busy the service will be nobody knows. A
    training run is as busy as its owner makes it.

    Parameters
    ----------
    own_grid, own_making : whether the reader has set the carbon of the grid, and that of making the
        machine: what is set has no spread
    """
    carbon, ends = _moved(of), _ends(of, own_grid, own_making)
    low, high = (at(end, **_BEST) for end in interval_of(carbon, ends.values()))
    return carbon, ends, (low, high)


@dataclass(frozen=True)
class FirstChange:
    """The change that saves most of the carbon, against the one that comes next.

    first, second : in words
    saved : by the first [1]
    choice : between the two, by the carbon that each leaves [kg CO2e]
    """

    first: Any
    second: Any
    saved: Any
    choice: Choice

    @property
    def ways(self) -> Any:
        """Both, in words."""
        return self.first + " and " + self.second


def first_change(
    of: Deployment,
    places: Mapping[str, Mapping[str, float]],
    own_grid: Any = False,
    own_making: Any = False,
) -> FirstChange:
    """Which change saves most of the carbon, and how sure that is.

    What is uncertain about the machine is so after either change; the other grid is as uncertain as
    the one here, and what its owner keeps busy is as busy as that.

    Parameters
    ----------
    places : as of `levers`
    own_grid, own_making : as of `uncertain`
    """
    rows = _changes(of, places)
    left = {row[0]: where(of.known, row[-1].footprint.carbon.total, np.nan) for row in rows}
    (first, best), (move, *_) = least(left), left
    second, next_best = least(left, after=first)
    after = {row[0]: row[-1] for row in rows}

    def carbon(name: Any) -> Any:
        grid = where(name == move, _ratio("other_grid"), _ratio("grid"))
        return _moved(_picked(after, name), grid, where(name == BUSIER, 1.0, _ratio("load")))

    ends = _ends(of, own_grid, own_making)
    ends["carbon of the other grid"] = Ends(_ratio("other_grid"), *intensity_spread())
    known = _BEST | {"uncertain_other_grid": 1.0}
    both = Choice.of(carbon(first), carbon(second), ends, **known)
    choice = Choice(best, next_best, both.spreads)
    return FirstChange(first, second, 1 - best / of.footprint.carbon.total, choice)


def _picked(options: Mapping[str, Deployment], name: Any) -> Deployment:
    """The deployment of a name, as one whose figures follow it."""
    *others, (_, last) = options.items()

    def pick(figure: Any) -> Any:
        return first_case([(name == of, figure(one)) for of, one in others], figure(last))

    def every(kind: type, part: str) -> Any:
        names = (field.name for field in fields(kind))
        return kind(
            **{of: pick(lambda one, of=of: getattr(getattr(one, part), of)) for of in names}
        )

    return replace(
        last,
        machine=every(Machine, "machine"),
        place=every(Place, "place"),
        busy_hours=pick(lambda one: one.busy_hours),
        utilization=pick(lambda one: one.utilization),
    )
