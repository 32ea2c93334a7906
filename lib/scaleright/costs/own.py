"""Accelerators that are bought: what a year of owning one costs, by parts, and what is left of its
price when it is sold.

Money that moves at different times is compared at one moment with continuous compounding: at a
yearly cost of capital r, a dollar after t years is worth (1 + r)^-t today, and a dollar a year for
t years is worth `annuity_years(r, t)` dollars today [brealey2020, chapter 2].
"""

from dataclasses import dataclass
from typing import Any

from scaleright.formulas import HOURS_A_DAY, NON_NEGATIVE, SHARE, Breakdown, Domain, closed_form
from scaleright.ops import log, maximum, minimum, where
from scaleright.power import DRAW, PUE, energy_kwh_per_year

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
