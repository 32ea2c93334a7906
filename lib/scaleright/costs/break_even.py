"""Where owning overtakes renting: hours a day, months, rents, and fleets that mix both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from scaleright.formulas import (
    COUNT,
    FRACTION,
    HOURS_A_DAY,
    NON_NEGATIVE,
    POSITIVE,
    REAL,
    SHARE,
    Breakdown,
    Domain,
    closed_form,
)
from scaleright.market import paid_accelerators
from scaleright.ops import INFINITY, log, maximum, minimum, where
from scaleright.power import DRAW, PUE, energy_kwh_per_year
from scaleright.transformer.flops import compute_seconds
from scaleright.units import (
    DAYS_PER_YEAR,
    HOURS_PER_DAY,
    MONTHS_PER_YEAR,
    SECONDS_PER_HOUR,
    WATTS_PER_KILOWATT,
)

# Accelerators paid by the hour


@closed_form(usd_per_hour=NON_NEGATIVE, hours_per_day=HOURS_A_DAY)
def rent_usd_per_year(usd_per_hour, hours_per_day):
    """Yearly bill of one rented accelerator [USD/year], paid only for the hours it runs.

    Parameters
    ----------
    usd_per_hour : rent of one accelerator [USD/h]
    hours_per_day : mean paid hours a day [h/day], 0 to 24

    Source: definition.

    >>> rent_usd_per_year(2.0, 24.0)
    17532.0
    """
    return usd_per_hour * hours_per_day * DAYS_PER_YEAR


@closed_form(rival_usd=POSITIVE, chip_hours=POSITIVE, fixed_usd=NON_NEGATIVE)
def usd_per_hour_to_win(rival_usd, chip_hours, fixed_usd=0.0):
    """Price of an hour below which work on rented accelerators costs less than a rival [USD/h].

    Parameters
    ----------
    rival_usd : the rival's bill for the same work [USD]
    chip_hours : that the work takes on the accelerators [h], the bill at a dollar an hour
    fixed_usd : of their bill, what does not hang on the price of an hour [USD]

    >>> usd_per_hour_to_win(100.0, 40.0, 20.0)
    2.0
    """
    return (rival_usd - fixed_usd) / chip_hours


@closed_form(
    flop=NON_NEGATIVE, peak_flops=POSITIVE, utilization=FRACTION, usd_per_hour=NON_NEGATIVE
)
def compute_usd(flop, peak_flops, utilization, usd_per_hour):
    """Cost of so much arithmetic on rented accelerators [USD].

    Parameters
    ----------
    flop : floating-point operations to be done [FLOP]
    peak_flops : dense peak of one accelerator [FLOP/s]
    utilization : achieved share of that peak (MFU) [1], 0 < utilization <= 1
    usd_per_hour : rent of one accelerator [USD/h]

    Source: definition; Andreessen Horowitz prices GPT-3's 3.14e23 FLOP this way at a utilization of
    1.

    >>> round(compute_usd(3.14e23, 312e12, 1.0, 2.0))
    559117
    """
    return compute_seconds(flop, peak_flops, utilization) / SECONDS_PER_HOUR * usd_per_hour


@closed_form(gb_per_month=NON_NEGATIVE, usd_per_gb=NON_NEGATIVE)
def egress_usd_per_year(gb_per_month, usd_per_gb):
    """What moving data out of a cloud costs a year [USD/year].

    Parameters
    ----------
    gb_per_month : data moved out a month [GB/month]
    usd_per_gb : egress price [USD/GB]

    >>> egress_usd_per_year(100.0, 0.1)
    120.0
    """
    return gb_per_month * usd_per_gb * MONTHS_PER_YEAR


@closed_form(
    usd_per_accelerator_hour=POSITIVE,
    accelerators=COUNT,
    per_instance=COUNT,
    used_share=FRACTION,
    gb_per_month=NON_NEGATIVE,
    usd_per_gb=NON_NEGATIVE,
)
def cloud_usd_per_month(
    usd_per_accelerator_hour, accelerators, per_instance, used_share, gb_per_month, usd_per_gb
):
    """What a month at a cloud costs, paid by the hour: whole instances in the hours of use, and the
    data moved out [USD/month].

    Parameters
    ----------
    usd_per_accelerator_hour : price of one accelerator of the instance [USD/h]
    accelerators : how many are needed at once [1]
    per_instance : how many come in one instance [1]
    used_share : share of all hours in which they are used [1]
    gb_per_month, usd_per_gb : data moved out [GB/month] and its price [USD/GB]

    Source: definition.

    >>> cloud_usd_per_month(2.0, 1, 8, 0.5, 100.0, 0.09)
    5853.0
    """
    node = usd_per_accelerator_hour * paid_accelerators(accelerators, per_instance)
    return (
        rent_usd_per_year(node, HOURS_PER_DAY * used_share)
        + egress_usd_per_year(gb_per_month, usd_per_gb)
    ) / MONTHS_PER_YEAR


# Accelerators that are bought: what a year of owning one costs, by parts, and what is left of its
# price when it is sold.
#
# Money that moves at different times is compared at one moment with continuous compounding: at a
# yearly cost of capital r, a dollar after t years is worth (1 + r)^-t today, and a dollar a year
# for t years is worth `annuity_years(r, t)` dollars today [brealey2020, chapter 2].


RATE = Domain(0.0, 1.0, (0.0, 0.5))
"""A yearly cost of capital: 0.08 is 8 % a year."""
YEARS = Domain(0.0, 50.0, (0.1, 15.0), open_low=True)
AGE = Domain(0.0, 100.0, (0.0, 12.0))
"""Years since a chip was released."""
EARLY_WEAR, LATE_WEAR = Domain(0.0, 2.0, (0.1, 2.0)), Domain(0.0, 20.0, (0.5, 3.0))
POWER = DRAW | {"pue": PUE, "usd_per_kwh": NON_NEGATIVE}
PURCHASE = {
    "price_usd": NON_NEGATIVE,
    "resale_share": SHARE,
    "years": YEARS,
    "cost_of_capital": RATE,
}
OVERHEADS = {
    "facility_usd_per_year": NON_NEGATIVE,
    "maintenance_share": SHARE,
    "insurance_and_tax_share": SHARE,
    "people_usd_per_year": NON_NEGATIVE,
}
"""Arguments that formulas share, with their domains: power and its price, the purchase, what is
paid whatever the use.
"""


@closed_form(cost_of_capital=RATE, years=Domain(0.0, YEARS.high, YEARS.sample))
def annuity_years(cost_of_capital, years):
    """Present value of one dollar a year, paid evenly for so many years, or for no time at all
    [years].

    The limit for free capital is the number of years itself.

    Parameters
    ----------
    cost_of_capital : yearly rate [1/year]
    years : [years]

    Source: brealey2020, chapter 2, the annuity with continuous payment.

    >>> annuity_years(0.0, 3.0), annuity_years(0.08, 0.0), round(annuity_years(0.08, 3.0), 4)
    (3.0, 0.0, 2.6789)
    """
    force = log(1 + where(cost_of_capital > 1e-9, cost_of_capital, 1.0))
    return where(cost_of_capital > 1e-9, (1 - (1 + cost_of_capital) ** -years) / force, years)


@dataclass(frozen=True)
class OwnedCost(Breakdown):
    """A year of owning one accelerator [USD/year]; the parts add up to `total`."""

    depreciation_usd: Any
    capital_usd: Any
    power_usd: Any
    facility_usd: Any
    maintenance_usd: Any
    insurance_and_tax_usd: Any
    people_usd: Any


@closed_form(price_usd=NON_NEGATIVE, resale_share=SHARE, years=YEARS)
def depreciation_usd_per_year(price_usd, resale_share, years):
    """Value lost in a mean year between purchase and sale [USD/year].

    Source: straight-line depreciation to the resale value.

    >>> depreciation_usd_per_year(1200.0, 0.5, 2.0)
    300.0
    """
    return price_usd * (1 - resale_share) / years


@closed_form(**PURCHASE)
def capital_usd_per_year(price_usd, resale_share, years, cost_of_capital):
    """What the money tied up in the machine costs in a mean year, beyond depreciation [USD/year].

    The even yearly payment that is worth, today, the price less the discounted resale; less
    depreciation.

    Source: brealey2020, chapter 6, equivalent annual cost.

    >>> capital_usd_per_year(1000.0, 0.0, 4.0, 0.0)
    0.0
    >>> round(capital_usd_per_year(1000.0, 0.0, 4.0, 0.08), 2)
    40.45
    """
    price_today = price_usd * (1 - resale_share * (1 + cost_of_capital) ** -years)
    return price_today / annuity_years(cost_of_capital, years) - depreciation_usd_per_year(
        price_usd, resale_share, years
    )


@closed_form(**PURCHASE, **OVERHEADS)
def fixed_usd_per_year(
    price_usd,
    resale_share,
    years,
    cost_of_capital,
    facility_usd_per_year=0.0,
    maintenance_share=0.0,
    insurance_and_tax_share=0.0,
    people_usd_per_year=0.0,
):
    """Yearly cost of owning one accelerator that does not depend on use [USD/year].

    Parameters
    ----------
    price_usd : installed price of one accelerator with its share of server, network and storage
        [USD]
    resale_share : share of that price got back at the end [1], see `resale_share`
    years : years from purchase to sale [years]
    cost_of_capital : yearly rate that the money would earn or cost elsewhere [1/year]
    facility_usd_per_year : space, cooling plant, colocation [USD/year]
    maintenance_share : repairs, spares and warranty as a share of the price a year [1/year]
    insurance_and_tax_share : premium and property tax as a share of the price a year [1/year]
    people_usd_per_year : operators, per accelerator [USD/year]

    >>> fixed_usd_per_year(1200.0, 0.5, 2.0, 0.0)
    300.0
    """
    depreciation = depreciation_usd_per_year(price_usd, resale_share, years)
    capital = capital_usd_per_year(price_usd, resale_share, years, cost_of_capital)
    return (
        depreciation
        + capital
        + facility_usd_per_year
        + (maintenance_share + insurance_and_tax_share) * price_usd
        + people_usd_per_year
    )


@closed_form(**PURCHASE, hours_per_day=HOURS_A_DAY, **POWER, **OVERHEADS)
def owned_usd_per_year(
    price_usd,
    resale_share,
    years,
    cost_of_capital,
    hours_per_day,
    busy_watts,
    idle_watts,
    pue,
    usd_per_kwh,
    facility_usd_per_year=0.0,
    maintenance_share=0.0,
    insurance_and_tax_share=0.0,
    people_usd_per_year=0.0,
) -> OwnedCost:
    """A year of owning one accelerator, by parts; arguments as in `fixed_usd_per_year` and
    `power.energy_kwh_per_year`.

    >>> bill = owned_usd_per_year(2200.0, 0.27, 2.0, 0.08, 5.0, 550.0, 60.0, 1.0, 0.16)
    >>> round(bill.total), round(bill.power_usd)
    (1139, 227)
    """
    return OwnedCost(
        depreciation_usd=depreciation_usd_per_year(price_usd, resale_share, years),
        capital_usd=capital_usd_per_year(price_usd, resale_share, years, cost_of_capital),
        power_usd=energy_kwh_per_year(hours_per_day, busy_watts, idle_watts, pue) * usd_per_kwh,
        facility_usd=facility_usd_per_year,
        maintenance_usd=maintenance_share * price_usd,
        insurance_and_tax_usd=insurance_and_tax_share * price_usd,
        people_usd=people_usd_per_year,
    )


@closed_form(
    price_usd=NON_NEGATIVE,
    installation_share=NON_NEGATIVE,
    host_usd=NON_NEGATIVE,
    sales_tax_share=SHARE,
)
def installed_usd(price_usd, installation_share, host_usd=0.0, sales_tax_share=0.0):
    """Price of an accelerator with what it needs around it, tax included [USD].

    Parameters
    ----------
    price_usd : price of the bare accelerator [USD]
    installation_share : server and network that grow with that price, over it [1]
    host_usd : computer and storage whose price does not depend on the accelerator [USD]
    sales_tax_share : sales tax over all of it [1]

    >>> installed_usd(30_000.0, 0.5), installed_usd(1_200.0, 0.0, 1_000.0, 0.1)
    (45000.0, 2420.0)
    """
    return (price_usd * (1 + installation_share) + host_usd) * (1 + sales_tax_share)


YOUNG_YEARS, USUAL_YEARS = 2.0, 4.0
"""Ages at which a chip's loss of value changes its pace: the tables have a share for each."""


@closed_form(age_years=AGE, early_wear=EARLY_WEAR, late_wear=LATE_WEAR)
def worn_years(age_years, early_wear=1.0, late_wear=1.0):
    """What a chip has lost by an age, in years of the mean loss of its first four [years].

    A new chip holds its price while it is scarce and loses faster once its successors are sold.

    Parameters
    ----------
    age_years : since its release [years]
    early_wear : pace of the loss in its first two years, over the mean of its first four [1]
    late_wear : the same after its fourth year [1]

    >>> worn_years(4.0, 0.8, 1.7), worn_years(6.0, 0.8, 1.7)
    (4.0, 7.4)
    """
    early = minimum(age_years, YOUNG_YEARS)
    middle = minimum(maximum(age_years - YOUNG_YEARS, 0.0), USUAL_YEARS - YOUNG_YEARS)
    late = maximum(age_years - USUAL_YEARS, 0.0)
    return early_wear * early + (2 - early_wear) * middle + late_wear * late


@closed_form(
    value_kept_per_year=SHARE,
    age_years=AGE,
    years=Domain(0.0, 50.0, (0.1, 15.0)),
    early_wear=EARLY_WEAR,
    late_wear=LATE_WEAR,
)
def resale_share(value_kept_per_year, age_years, years, early_wear=1.0, late_wear=1.0):
    """Share of today's price that is left after some years, of a chip that is so old today [1].

    Parameters
    ----------
    value_kept_per_year : of a chip in its first four years, from one to the next [1]
    age_years : since its release, when it is bought [years]
    years : from purchase to sale [years]
    early_wear, late_wear : as in `worn_years`

    Source: declining balance by the age of the generation, not of the purchase.

    >>> [round(resale_share(0.8, age, 4.0, 0.8, 1.7), 3) for age in (0.0, 4.0)]
    [0.41, 0.219]
    """
    then = worn_years(age_years + years, early_wear, late_wear)
    return value_kept_per_year ** (then - worn_years(age_years, early_wear, late_wear))


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
