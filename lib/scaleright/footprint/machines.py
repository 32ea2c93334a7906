"""What an accelerator with its share of host and network draws, and what making it emitted, from
the tables.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any, Self

from scaleright.catalog import Accelerator, accelerator, accelerators, remembered, table
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
from scaleright.names import one_of
from scaleright.units import figures

ENDS = ("low", "best", "high")


@dataclass(frozen=True)
class Machine:
    """One accelerator with its share of host and network: draw [W], making [kg CO2e], and the years
    it serves.

    The figures may be numbers, arrays or quantities; the names are those of `energy_kwh` and
    `embodied_kg`.
    """

    chip_watts: Any
    chip_idle_watts: Any
    host_watts: Any
    host_idle_watts: Any
    network_watts: Any
    machine_kg: Any
    life_years: Any

    def energy_kwh(self, busy_hours: Any, utilization: Any, pue: Any) -> Energy:
        """Electricity of so many hours at work, idle ones included, by parts [kWh]."""
        watts = {
            name: getattr(self, name)
            for name in (
                "chip_watts",
                "chip_idle_watts",
                "host_watts",
                "host_idle_watts",
                "network_watts",
            )
        }
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


def _factor(chip: Accelerator, which: str, end: str, place: str | None = None) -> float:
    """A cost factor where the chip stands, or in another place."""
    at_home = chip.segment == "consumer"
    return getattr(cost_factor(which, place or ("home" if at_home else "data center")), end)


def _tpu_watts(chip: Accelerator, tdp: float, end: str) -> tuple[float, float, float]:
    """What a TPU draws at work, and its share of a host at work and idle [W]."""
    at_work = (
        _factor(chip, "tpu_busy_share_of_tdp", end) * tdp
        if chip.busy_watts is None
        else chip.busy_watts[ENDS.index(end)]
    )
    return (
        at_work,
        _factor(chip, "host_watts_per_tpu", end),
        _factor(chip, "host_idle_watts_per_tpu", end),
    )


def _server_watts(chip: Accelerator, tdp: float, end: str) -> tuple[float, float, float]:
    """What a chip of a server or of a home draws at work, and its share of the host at work and
    idle [W].
    """
    at_home = chip.segment == "consumer"
    busy = _factor(chip, "training_share_of_server_watts", end, "data center")
    servers = {
        of.name: of.server_watts - of.tdp_watts
        for of in accelerators().values()
        if of.server_watts and of.tdp_watts
    }
    most = _factor(chip, "host_watts_per_chip", end) if at_home else _of_power(chip, servers)
    # against the host of the cost factors
    size = 1.0 if at_home else most / cost_factor("host_watts_per_chip", "data center").best
    return busy * tdp, busy * most, _factor(chip, "host_idle_watts_per_chip", end) * size


@lookup
@remembered
def machine(name: str, end: str = "best", chip_watts: float | None = None) -> Machine:
    """An accelerator with its share of host and network: consumer cards at home, others in a data
    center.

    The draw of its server at work is that of training, which is a share of what the server draws at
    most; pass the accelerator's own where it was measured. Where no source has the server or the
    making of a chip, they are those of the others in proportion to its power. TPUs draw far less
    than their design power: they take what Google measured in production, else the share of design
    power that this is for TPU v3, and their share of the host that Google measured.

    Parameters
    ----------
    name : accelerator
    end : "low", "best" or "high" end of what is uncertain
    chip_watts : draw of the accelerator at work where it was measured [W]

    Raises
    ------
    LookupError : unknown accelerator or end.
    DataError : the catalog has no power of it.

    >>> round(machine("H100 SXM").chip_watts), round(machine("H100 SXM").host_watts), machine(
    ...     "H100 SXM", chip_watts=500.0).chip_watts
    (532, 437, 500.0)
    """
    one_of(end, ENDS, "end of a range")
    chip = accelerator(name)
    tdp = chip.require("tdp_watts")
    drawn = _tpu_watts if chip.kind == "TPU" else _server_watts
    at_work, host, host_idle = drawn(chip, tdp, end)
    found = {
        "chip_watts": at_work if chip_watts is None else chip_watts,
        "chip_idle_watts": (
            _factor(chip, "idle_share_of_tdp", end) * tdp
            if chip.idle_watts is None
            else chip.idle_watts
        ),
        "host_watts": host,
        "host_idle_watts": host_idle,
        "network_watts": _factor(chip, "network_watts_per_chip", end),
        "machine_kg": _making_kg(chip, end),
        # the longer, the less a year
        "life_years": _factor(
            chip, "useful_life_years", {"low": "high", "high": "low"}.get(end, end)
        ),
    }
    return Machine(**figures(found))


@lookup
def machines(names: Iterable[str]) -> dict[str, dict[str, float] | str]:
    """The figures of each accelerator's `Machine`, or why it has none: a table to choose from.

    >>> machines(["H100 SXM"])["H100 SXM"]["life_years"]
    5.5
    """

    def figures_of(name: str) -> dict[str, float] | str:
        if accelerator(name).tdp_watts:
            return vars(machine(name))
        return f"What {name} draws, and so what it emits, its maker does not let anyone compute."

    return {name: figures_of(name) for name in names}


@lookup
def machine_ends(names: Iterable[str]) -> dict[str, dict[str, float]]:
    """Low and high ends of what is uncertain about each accelerator, over the best [1]: power of it
    and its host at work, that of its host alone, its network, and its making.

    >>> machine_ends(["H100 SXM"])["H100 SXM"]["host_low"] < 1
    True
    """
    uncertain = {
        "power": lambda of: of.chip_watts + of.host_watts,
        "host": lambda of: of.host_watts,
        "network": lambda of: of.network_watts,
        "making": lambda of: of.machine_kg,
    }
    return {
        name: {
            f"{part}_{end}": look(machine(name, end)) / look(machine(name))
            for part, look in uncertain.items()
            for end in ("low", "high")
        }
        for name in names
    }
