"""Power over time: what a machine draws that works part of the time, and the energy of it."""

from scaleright.formulas import HOURS_A_DAY, NON_NEGATIVE, SHARE, Domain, closed_form
from scaleright.units import HOURS_PER_DAY, HOURS_PER_YEAR, WATTS_PER_KILOWATT

PUE = Domain(1.0, 10.0, (1.0, 3.0))
"""Power usage effectiveness: energy at the meter over energy of the machines, never below 1."""
DRAW = {"busy_watts": NON_NEGATIVE, "idle_watts": NON_NEGATIVE}


@closed_form(busy_share=SHARE, **DRAW)
def mean_watts(busy_share, busy_watts, idle_watts):
    """Mean power of a machine that works for a share of the time and idles for the rest [W].

    Parameters
    ----------
    busy_share : share of the time at work [1]
    busy_watts, idle_watts : draw at work and idle [W]; 0 idle if it is switched off

    Source: the linear power model of a server [fan2007, section 4].

    >>> mean_watts(0.25, 700.0, 100.0)
    250.0
    """
    return idle_watts + (busy_watts - idle_watts) * busy_share


@closed_form(hours=NON_NEGATIVE, watts=NON_NEGATIVE, pue=PUE)
def energy_kwh(hours, watts, pue=1.0):
    """Energy of a mean power over time, at the meter of the building [kWh].

    Parameters
    ----------
    hours : [h]
    watts : mean power of the machines [W]
    pue : power usage effectiveness of the building [1], 1 at home

    Source: definition.

    >>> energy_kwh(10.0, 700.0, 1.2)
    8.4
    """
    return hours * watts * pue / WATTS_PER_KILOWATT


@closed_form(hours_per_day=HOURS_A_DAY, **DRAW, pue=PUE)
def energy_kwh_per_year(hours_per_day, busy_watts, idle_watts, pue):
    """Electricity of one accelerator and its share of the host over a year, at the meter
    [kWh/year].

    Parameters
    ----------
    hours_per_day : mean hours of work a day [h/day]; the rest of the day it idles
    busy_watts, idle_watts : draw at work and idle, host included [W]; 0 idle if it is switched off
    pue : power usage effectiveness of the building [1], 1 at home

    Source: definition.

    >>> energy_kwh_per_year(24.0, 1000.0, 0.0, 1.0)
    8766.0
    """
    return energy_kwh(
        HOURS_PER_YEAR, mean_watts(hours_per_day / HOURS_PER_DAY, busy_watts, idle_watts), pue
    )
