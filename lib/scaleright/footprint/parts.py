"""Energy, carbon, water and the making of the machines: each a sum of named parts, for work that
takes so many chip-hours.

Work takes `busy_hours` of an accelerator. At a utilization below one the machine is powered on, and
wears out, for longer: its idle draw and its share of what making it emitted are charged to the work
that it did.
"""

from dataclasses import dataclass
from typing import Any

from scaleright.catalog import fact
from scaleright.formulas import FRACTION, NON_NEGATIVE, POSITIVE, Breakdown, Domain, closed_form
from scaleright.power import PUE, mean_watts
from scaleright.power import energy_kwh as metered_kwh
from scaleright.units import HOURS_PER_YEAR, SECONDS_PER_HOUR

LIFE = Domain(0.0, 50.0, (0.5, 15.0), open_low=True)
KWH = dict.fromkeys(("chips_kwh", "host_kwh", "network_kwh", "facility_kwh"), NON_NEGATIVE)


@dataclass(frozen=True)
class Energy(Breakdown):
    """Electricity at the meter [kWh]: accelerators, their share of the host and of the network,
    cooling and losses of the building.
    """

    chips_kwh: Any
    host_kwh: Any
    network_kwh: Any
    facility_kwh: Any

    @property
    def machines_kwh(self) -> Any:
        """What reaches the machines, without cooling and losses of the building [kWh]."""
        return self.chips_kwh + self.host_kwh + self.network_kwh

    @property
    def watt_hours(self) -> Any:
        """The total in the unit of small pieces of work [Wh]."""
        return 1000 * self.total


@dataclass(frozen=True)
class Carbon(Breakdown):
    """Greenhouse gases [kg CO2e]: of the electricity by where it goes, and of making the machines,
    by their share of their lives.
    """

    chips_kg: Any
    host_kg: Any
    network_kg: Any
    facility_kg: Any
    embodied_kg: Any

    @property
    def embodied_share(self) -> Any:
        """What making the machines has of the total [1]."""
        return self.embodied_kg / self.total

    @property
    def car_miles(self) -> Any:
        """Miles of an average car that emit as much."""
        return self.total / fact("car_kg_co2e_per_mile")


@dataclass(frozen=True)
class Water(Breakdown):
    """Water consumed [L]: evaporated at the site, and at the plants that made the electricity."""

    site_liters: Any
    power_plant_liters: Any


@closed_form(tokens=NON_NEGATIVE, tokens_per_s=POSITIVE)
def busy_hours(tokens, tokens_per_s):
    """Hours of one accelerator at work that tokens take (or images, at images per second) [h].

    Parameters
    ----------
    tokens : tokens, or any other pieces of work [1]
    tokens_per_s : what one accelerator does in a second at work [1/s]

    >>> round(busy_hours(1e6, 1000.0), 3)
    0.278
    """
    return tokens / tokens_per_s / SECONDS_PER_HOUR


@closed_form(
    busy_hours=NON_NEGATIVE,
    utilization=FRACTION,
    chip_watts=NON_NEGATIVE,
    chip_idle_watts=NON_NEGATIVE,
    host_watts=NON_NEGATIVE,
    host_idle_watts=NON_NEGATIVE,
    network_watts=NON_NEGATIVE,
    pue=PUE,
)
def energy_kwh(
    busy_hours,
    utilization,
    chip_watts,
    chip_idle_watts,
    host_watts,
    host_idle_watts,
    network_watts,
    pue,
) -> Energy:
    """Electricity of work, idle hours included, by parts [kWh].

    Parameters
    ----------
    busy_hours : hours of one accelerator at work [h]
    utilization : share of its hours powered on that it works [1], above 0
    chip_watts, chip_idle_watts : draw of the accelerator at work and idle [W]
    host_watts, host_idle_watts : the same of its share of the host [W]
    network_watts : its share of switches and optics, which draw the same whatever the traffic [W]
    pue : power usage effectiveness of the building [1]

    Source: definitions; the linear power model of `power.mean_watts`.

    >>> parts = energy_kwh(10.0, 0.5, 700.0, 70.0, 400.0, 150.0, 50.0, 1.2)
    >>> round(parts.chips_kwh, 2), round(parts.total, 2)
    (7.7, 17.04)
    """
    hours = busy_hours / utilization
    chips = metered_kwh(hours, mean_watts(utilization, chip_watts, chip_idle_watts))
    host = metered_kwh(hours, mean_watts(utilization, host_watts, host_idle_watts))
    network = metered_kwh(hours, network_watts)
    return Energy(chips, host, network, (pue - 1) * (chips + host + network))


@closed_form(
    busy_hours=NON_NEGATIVE, utilization=FRACTION, machine_kg=NON_NEGATIVE, life_years=LIFE
)
def embodied_kg(busy_hours, utilization, machine_kg, life_years):
    """Share of the making of a machine that falls on work [kg CO2e]: by the hours of its life that
    the work takes up.

    Parameters
    ----------
    busy_hours, utilization : as in `energy_kwh`
    machine_kg : making one accelerator and its share of the host [kg CO2e]
    life_years : years from first to last use [years]

    Source: straight-line allocation over the life, ISO/IEC 21031:2024 (software carbon intensity),
    as [gsf2024] words it.

    >>> embodied_kg(8766.0, 1.0, 400.0, 4.0), embodied_kg(8766.0, 0.5, 400.0, 4.0)
    (100.0, 200.0)
    """
    return machine_kg * busy_hours / (utilization * life_years * HOURS_PER_YEAR)


@closed_form(**KWH, kg_co2e_per_kwh=NON_NEGATIVE, embodied_kg=NON_NEGATIVE)
def carbon_kg(
    chips_kwh, host_kwh, network_kwh, facility_kwh, kg_co2e_per_kwh, embodied_kg=0.0
) -> Carbon:
    """Greenhouse gases of work, by parts [kg CO2e]; pass the parts of an `Energy`.

    Parameters
    ----------
    chips_kwh, host_kwh, network_kwh, facility_kwh : electricity by where it goes [kWh]
    kg_co2e_per_kwh : carbon intensity of the grid where it is used (location-based), not of
        certificates bought [kg CO2e/kWh]
    embodied_kg : share of the making of the machines [kg CO2e]

    Source: greenhouse gas protocol, scope 2 guidance, location-based method [ghg2015].

    >>> carbon_kg(5.0, 3.0, 1.0, 1.0, 0.5, 1.0).total
    6.0
    """
    return Carbon(
        *(part * kg_co2e_per_kwh for part in (chips_kwh, host_kwh, network_kwh, facility_kwh)),
        embodied_kg=embodied_kg,
    )


@closed_form(
    machines_kwh=NON_NEGATIVE,
    total_kwh=NON_NEGATIVE,
    site_liters_per_kwh=NON_NEGATIVE,
    plant_liters_per_kwh=NON_NEGATIVE,
)
def water_liters(machines_kwh, total_kwh, site_liters_per_kwh, plant_liters_per_kwh) -> Water:
    """Water that work consumes, on site and at the power plants apart [L].

    Parameters
    ----------
    machines_kwh, total_kwh : electricity of the machines, and that of the whole site [kWh]
    site_liters_per_kwh : water usage effectiveness (WUE) of the site, per kWh of its machines
        [L/kWh]
    plant_liters_per_kwh : water consumed in making the grid's electricity, per kWh of all [L/kWh]

    Source: [li2023water, section 2].

    >>> water_liters(10.0, 12.0, 0.5, 3.0)
    Water(site_liters=5.0, power_plant_liters=36.0)
    """
    return Water(machines_kwh * site_liters_per_kwh, total_kwh * plant_liters_per_kwh)
