"""Where owning overtakes renting: hours a day, months, rents, and fleets that mix both."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from scaleright.costs.own import POWER, PURCHASE, RATE, YEARS, annuity_years
from scaleright.costs.rent import rent_usd_per_year
from scaleright.formulas import (
    HOURS_A_DAY,
    NON_NEGATIVE,
    REAL,
    SHARE,
    Breakdown,
    Domain,
    closed_form,
)
from scaleright.ops import INFINITY, log, maximum, minimum, where
from scaleright.power import energy_kwh_per_year
from scaleright.units import DAYS_PER_YEAR, HOURS_PER_DAY, MONTHS_PER_YEAR, WATTS_PER_KILOWATT

MONTHS = Domain(0.0, 600.0, (0.0, 180.0))


@closed_form(usd_per_hour=NON_NEGATIVE, fixed_usd_per_year=NON_NEGATIVE, **POWER)
def break_even_hours_per_day(
    usd_per_hour, fixed_usd_per_year, busy_watts, idle_watts, pue, usd_per_kwh
):
    """Hours of use a day above which owning is cheaper than renting by the hour [h/day].

    Each hour of use saves the rent and costs the extra power of work over idling. The fixed cost
    and the idle power of a day, divided by that saving, is the answer. Above 24 renting wins
    however much it is used; infinite where an hour of power costs more than an hour of rent, and
    no number where there is no rent.

    Parameters
    ----------
    usd_per_hour : rent of one accelerator [USD/h]
    fixed_usd_per_year : see `own.fixed_usd_per_year` [USD/year]
    busy_watts, idle_watts, pue, usd_per_kwh : see `power.energy_kwh_per_year`, and the price of
        power [USD/kWh]

    Source: Clarifai's Capex vs Opex matrix asks for it and quotes 4 to 6; derived here.

    >>> round(break_even_hours_per_day(0.35, 800.0, 550.0, 0.0, 1.0, 0.16), 1)
    8.4
    >>> break_even_hours_per_day(0.05, 800.0, 550.0, 0.0, 1.0, 0.16)
    inf
    """
    usd_per_watt_hour = pue * usd_per_kwh / WATTS_PER_KILOWATT
    saving_per_hour = usd_per_hour - (busy_watts - idle_watts) * usd_per_watt_hour
    fixed_per_day = (
        fixed_usd_per_year / DAYS_PER_YEAR + HOURS_PER_DAY * idle_watts * usd_per_watt_hour
    )
    never = saving_per_hour <= 0
    return where(never, INFINITY, fixed_per_day / where(never, 1.0, saving_per_hour))


@closed_form(hours_per_day=HOURS_A_DAY, fixed_usd_per_year=NON_NEGATIVE, **POWER)
def break_even_usd_per_hour(
    hours_per_day, fixed_usd_per_year, busy_watts, idle_watts, pue, usd_per_kwh
):
    """The rent at which owning costs the same: what an owned hour of work costs in full [USD/h].

    Infinite for an accelerator that is never used.

    >>> round(break_even_usd_per_hour(5.0, 800.0, 550.0, 0.0, 1.0, 0.16), 3)
    0.526
    """
    yearly = (
        fixed_usd_per_year
        + energy_kwh_per_year(hours_per_day, busy_watts, idle_watts, pue) * usd_per_kwh
    )
    return where(
        hours_per_day > 0,
        yearly / (where(hours_per_day > 0, hours_per_day, 1.0) * DAYS_PER_YEAR),
        INFINITY,
    )


@closed_form(price_usd=NON_NEGATIVE, saving_usd_per_month=REAL, cost_of_capital=RATE)
def payback_months(price_usd, saving_usd_per_month, cost_of_capital):
    """Months until the rent saved has paid back the price with interest, nothing sold [months].

    Infinite where the saving does not even pay the interest, or where owning costs more to run than
    the rent.

    Parameters
    ----------
    price_usd : installed price [USD]
    saving_usd_per_month : rent avoided less running cost, negative if that is dearer [USD/month]
    cost_of_capital : yearly rate [1/year]

    Source: brealey2020, chapter 5, discounted payback.

    >>> payback_months(1200.0, 100.0, 0.0)
    12.0
    >>> round(payback_months(1200.0, 100.0, 0.08), 2)
    12.49
    >>> payback_months(1200.0, 0.0, 0.0)
    inf
    """
    force = log(1 + cost_of_capital) / MONTHS_PER_YEAR
    saves = saving_usd_per_month > 0
    simple = price_usd / where(saves, saving_usd_per_month, 1.0)
    lent = force > 1e-9
    left = 1 - simple * force
    discounted = where(
        left > 0, -log(where(left > 0, left, 1.0)) / where(lent, force, 1.0), INFINITY
    )
    return where(saves, where(lent, discounted, simple), INFINITY)


@closed_form(months=MONTHS, price_usd=NON_NEGATIVE, resale_share=SHARE, years=YEARS)
def resale_usd(months, price_usd, resale_share, years):
    """What the machine would fetch after so many months [USD]: the price falls by the same factor
    each month.

    Parameters
    ----------
    resale_share : share of the price that is left after `years` [1]

    Source: declining-balance depreciation through the stated resale value.

    >>> resale_usd(24.0, 1200.0, 0.5, 2.0)
    600.0
    """
    return price_usd * maximum(resale_share, 1e-6) ** (months / (MONTHS_PER_YEAR * years))


@closed_form(
    months=MONTHS, price_usd=NON_NEGATIVE, running_usd_per_year=NON_NEGATIVE, cost_of_capital=RATE
)
def spent_until_usd(months, price_usd, running_usd_per_year, cost_of_capital):
    """Present value of buying and running for so many months, nothing sold [USD].

    Parameters
    ----------
    running_usd_per_year : power, facility, maintenance and people [USD/year]

    >>> spent_until_usd(24.0, 1200.0, 100.0, 0.0)
    1400.0
    """
    return price_usd + running_usd_per_year * annuity_years(
        cost_of_capital, months / MONTHS_PER_YEAR
    )


@closed_form(months=MONTHS, running_usd_per_year=NON_NEGATIVE, **PURCHASE)
def owned_until_usd(months, price_usd, resale_share, years, running_usd_per_year, cost_of_capital):
    """Present value of owning for so many months and then selling at `resale_usd`, without selling
    costs [USD].

    >>> owned_until_usd(24.0, 1200.0, 0.5, 2.0, 100.0, 0.0)
    800.0
    """
    sold = resale_usd(months, price_usd, resale_share, years) * (1 + cost_of_capital) ** -(
        months / MONTHS_PER_YEAR
    )
    return spent_until_usd(months, price_usd, running_usd_per_year, cost_of_capital) - sold


@closed_form(months=MONTHS, rent_usd_per_year=NON_NEGATIVE, cost_of_capital=RATE)
def rented_until_usd(months, rent_usd_per_year, cost_of_capital):
    """Present value of renting for so many months [USD].

    >>> rented_until_usd(24.0, 400.0, 0.0)
    800.0
    """
    return rent_usd_per_year * annuity_years(cost_of_capital, months / MONTHS_PER_YEAR)


@dataclass(frozen=True)
class FleetCost(Breakdown):
    """A year of a fleet [USD/year]: what is fixed in the owned part, its power, and what is rented
    on top.
    """

    owned_usd: Any
    power_usd: Any
    rent_usd: Any


@closed_form(
    owned=NON_NEGATIVE,
    baseline=NON_NEGATIVE,
    burst=NON_NEGATIVE,
    burst_hours_per_day=HOURS_A_DAY,
    usd_per_hour=NON_NEGATIVE,
    burst_usd_per_hour=NON_NEGATIVE,
    fixed_usd_per_year=NON_NEGATIVE,
    **POWER,
)
def fleet_usd_per_year(
    owned,
    baseline,
    burst,
    burst_hours_per_day,
    usd_per_hour,
    burst_usd_per_hour,
    fixed_usd_per_year,
    busy_watts,
    idle_watts,
    pue,
    usd_per_kwh,
) -> FleetCost:
    """A year of serving a steady baseline and daily bursts with owned accelerators first, rented
    ones for the rest.

    Parameters
    ----------
    owned : accelerators bought [1]
    baseline : accelerators needed around the clock [1]
    burst : further accelerators needed during bursts [1]
    burst_hours_per_day : hours of burst a day [h/day]
    usd_per_hour, burst_usd_per_hour : rent around the clock, and of hours given back after a burst
        [USD/h]
    the others : as in `break_even_hours_per_day`, per accelerator

    Source: Clarifai's hybrid rule (own the baseline, rent the bursts), here priced.

    >>> fleet_usd_per_year(0, 1, 0, 0.0, 2.0, 4.0, 9000.0, 700.0, 70.0, 1.3, 0.1).total
    17532.0
    """
    steady = minimum(owned, baseline)
    bursting = minimum(maximum(owned - baseline, 0.0), burst)
    kwh = partial(energy_kwh_per_year, busy_watts=busy_watts, idle_watts=idle_watts, pue=pue)
    idle_kwh = (owned - steady - bursting) * kwh(0.0)
    return FleetCost(
        owned_usd=owned * fixed_usd_per_year,
        power_usd=(steady * kwh(HOURS_PER_DAY) + bursting * kwh(burst_hours_per_day) + idle_kwh)
        * usd_per_kwh,
        rent_usd=(baseline - steady) * rent_usd_per_year(usd_per_hour, HOURS_PER_DAY)
        + (burst - bursting) * rent_usd_per_year(burst_usd_per_hour, burst_hours_per_day),
    )
