"""What an accelerator with its share of host and network takes of the planet: what it draws, and
what making it emitted, from the tables.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from statistics import median
from typing import Any, Self

from scaleright.catalog import Accelerator, accelerator, remembered, table
from scaleright.footprint.parts import (
    Carbon,
    Energy,
    Water,
    carbon_kg,
    embodied_kg,
    energy_kwh,
    water_liters,
)
from scaleright.footprint.places import Place
from scaleright.formulas import lookup
from scaleright.market import cost_factor
from scaleright.power import WORK, Draw, draw
from scaleright.units import figures


@dataclass(frozen=True)
class Machine(Draw):
    """One accelerator with its share of host and network: what it draws [W], making it [kg CO2e],
    and the years it serves.

    The figures may be numbers, arrays or quantities; the names are those of `energy_kwh` and
    `embodied_kg`.
    """

    machine_kg: Any
    life_years: Any

    def energy_kwh(self, busy_hours: Any, utilization: Any, pue: Any) -> Energy:
        """Electricity of so many hours at work, idle ones included, by parts [kWh]."""
        watts = {part.name: getattr(self, part.name) for part in fields(Draw)}
        return energy_kwh(busy_hours, utilization, **watts, pue=pue)


@dataclass(frozen=True)
class Footprint:
    """What work costs the planet: electricity [kWh], greenhouse gases [kg CO2e] and water [L], each
    by parts.
    """

    energy: Energy
    carbon: Carbon
    water: Water

    @classmethod
    def of(cls, machine: Machine, busy_hours: Any, utilization: Any, place: Place) -> Self:
        """The footprint of hours of work on a machine in a place.

        Parameters
        ----------
        machine, place : what the machine draws and where it stands
        busy_hours, utilization : hours of one accelerator at work, and the share of its hours that
            it works

        >>> machine, here = Machine(700.0, 70.0, 400.0, 150.0, 50.0, 300.0, 5.5), Place(1.2, 0.4,
        ...     0.2, 3.0)
        >>> made = Footprint.of(machine, 1000.0, 0.5, here)
        >>> round(made.energy.total), round(made.carbon.total), round(made.water.total)
        (1704, 694, 5396)
        """
        energy = machine.energy_kwh(busy_hours, utilization, place.pue)
        making = embodied_kg(busy_hours, utilization, machine.machine_kg, machine.life_years)
        carbon = carbon_kg(
            **energy.parts(), kg_co2e_per_kwh=place.kg_co2e_per_kwh, embodied_kg=making
        )
        return cls(
            energy,
            carbon,
            water_liters(
                energy.machines_kwh,
                energy.total,
                place.site_liters_per_kwh,
                place.plant_liters_per_kwh,
            ),
        )


SLOTS = 8
"""Accelerators that share the server of the table."""


def _of_power(chip: Accelerator, known: dict[str, float]) -> float:
    """A figure that grows with the power of a chip: its own, else its power at the median of the
    known ones per watt.
    """
    scale = median(
        value / watts for name, value in known.items() if (watts := accelerator(name).tdp_watts)
    )
    return known.get(chip.name, chip.require("tdp_watts") * scale)


@remembered
def _embodied_kg(end: str) -> tuple[dict[str, float], float]:
    """Making each chip that sources know, and a server [kg CO2e], at an end of what they say."""
    rows, column = table("embodied"), f"{'typical' if end == 'best' else end}_kg_co2e"
    chips = rows[rows["kind"] == "accelerator"]
    server = rows[rows["kind"] == "host"].iloc[0][column]
    return dict(zip(chips["accelerator"], chips[column], strict=True)), float(server)


def _making_kg(chip: Accelerator, end: str) -> float:
    """Making a chip and its share of a server [kg CO2e], at an end of what sources say."""
    chips, server = _embodied_kg(end)
    return _of_power(chip, chips) + server / SLOTS


@lookup
@remembered
def machine(name: str, work: str, end: str = "best", chip_watts: float | None = None) -> Machine:
    """An accelerator with its share of host and network, where it stands as a rule: consumer cards
    at home, others in a data center.

    Parameters
    ----------
    name, work : accelerator, and what it does at work, one of `power.WORK`
    end : "low", "best" or "high" end of what is uncertain
    chip_watts : what the accelerator draws at work where it was measured [W]

    Raises
    ------
    LookupError : unknown accelerator, work or end.
    DataError : the catalog has no power of it.

    >>> machine("H100 SXM", "training").busy_watts == draw("H100 SXM", "training").busy_watts
    True
    """
    drawn, chip = draw(name, work, None, end, chip_watts), accelerator(name)
    home = chip.segment == "consumer"
    lives = cost_factor("useful_life_years", "home" if home else "data center")
    found = {
        "machine_kg": _making_kg(chip, end),
        # the longer, the less a year
        "life_years": getattr(lives, {"low": "high", "high": "low"}.get(end, end)),
    }
    return Machine(**vars(drawn), **figures(found))


@lookup
def machines(names: Iterable[str]) -> dict[tuple[str, str], dict[str, float] | str]:
    """The figures of each accelerator's `Machine` at each work, or why it has none: a table to
    choose from.

    >>> machines(["H100 SXM"])["H100 SXM", "training"]["life_years"]
    5.5
    """

    def figures_of(name: str, work: str) -> dict[str, float] | str:
        if accelerator(name).tdp_watts:
            return vars(machine(name, work))
        return f"What {name} draws, and so what it emits, its maker does not let anyone compute."

    return {(name, work): figures_of(name, work) for name in names for work in WORK}


@lookup
def machine_ends(names: Iterable[str]) -> dict[str, dict[str, float]]:
    """Low and high ends of what is uncertain about each accelerator, over the best [1]: power of it
    and its host in training, that of its host alone in serving, its network, and its making.

    >>> machine_ends(["H100 SXM"])["H100 SXM"]["host_low"] < 1
    True
    """
    uncertain = {
        "power": ("training", lambda of: of.chip_watts + of.host_watts),
        "host": ("serving", lambda of: of.host_watts),
        "network": ("serving", lambda of: of.network_watts),
        "making": ("serving", lambda of: of.machine_kg),
    }
    return {
        name: {
            f"{part}_{end}": look(machine(name, work, end)) / look(machine(name, work))
            for part, (work, look) in uncertain.items()
            for end in ("low", "high")
        }
        for name in names
    }
