"""Capex vs Opex Decision Matrix (F2): rent, buy or mix, by computed money beside Clarifai's
hours-a-day rule.
"""

import pandas as pd

from scaleright import catalog
from scaleright.costs.break_even import FleetCost, fleet_usd_per_year, rent_usd_per_year
from scaleright.costs.ownership import Ownership
from scaleright.decisions.verdict import Verdict
from scaleright.formulas import lookup
from scaleright.ops import INFINITY, where
from scaleright.units import HOURS_PER_DAY, MONTHS_PER_YEAR, figure, usd

SOURCE = "Clarifai's Capex vs Opex Decision Matrix"
RENT_BELOW_HOURS, BUY_AFTER_MONTHS = 4.0, 18.0


def source_rule(hours_per_day, months, accelerators: int = 1, bursts: bool = False):
    """What Clarifai's matrix says, from hours of use a day, months of need, and whether the load
    bursts: rent, buy or hybrid.

    The document leaves gaps: above six hours it says buy elsewhere in the text, and between four
    and six hours for less than 18 months it says nothing; the reading here is to rent. Hours and
    months may be quantities.

    >>> source_rule(3, 24), source_rule(5, 24), source_rule(5, 12), source_rule(20, 24,
    ...     accelerators=8)
    ('rent', 'buy', 'rent', 'rent')
    """
    if bursts or accelerators > 1:
        return "hybrid" if bursts else "rent"
    return where(
        hours_per_day < RENT_BELOW_HOURS, "rent", where(months >= BUY_AFTER_MONTHS, "buy", "rent")
    )


def capex_opex(
    ownership: Ownership, usd_per_hour: float, hours_per_day: float, accelerators: int = 1
) -> Verdict:
    """Rent or buy one kind of accelerator for a steady load of so many hours a day.

    Parameters
    ----------
    ownership : price, resale, years, power and overheads of one accelerator
    usd_per_hour : rent of one accelerator [USD/h]
    hours_per_day : mean hours of use a day, 0 to 24 [h/day]
    accelerators : how many are needed [1]; scales the money, and Clarifai's rule looks at it

    >>> capex_opex(Ownership.typical("RTX 4090", "home"), usd_per_hour=0.18, hours_per_day=1.0).what
    'rent'
    """
    owned = ownership.owned_usd_per_year(hours_per_day).total * accelerators
    rented = rent_usd_per_year(usd_per_hour, hours_per_day) * accelerators
    hours = ownership.break_even_hours_per_day(usd_per_hour)
    rent = ownership.break_even_usd_per_hour(hours_per_day)
    months = ownership.payback_months(usd_per_hour, hours_per_day)
    what = "buy" if owned < rented else "rent"
    rule = source_rule(hours_per_day, ownership.years * MONTHS_PER_YEAR, accelerators)
    reasons = [
        (
            f"a year of owning costs {usd(owned)}, a year of renting {usd(rented)} at"
            f" {hours_per_day:g} hours a day"
        ),
        (
            f"owning is cheaper above {hours:.1f} hours a day"
            if hours <= HOURS_PER_DAY
            else "no number of hours a day makes owning cheaper at this rent"
        ),
        f"at {hours_per_day:g} hours a day, renting is cheaper below {usd(rent)} an hour",
        (
            f"the rent saved pays back the price in {months:.0f} months"
            if months < INFINITY
            else "the rent saved never pays back the price"
        ),
    ]
    numbers = {
        "owned": (owned, "USD/year"),
        "rented": (rented, "USD/year"),
        "break-even use": (hours, "h/day"),
        "break-even rent": (rent, "USD/h"),
        "payback": (months, "months"),
    }
    return Verdict("Rent or buy?", what, tuple(reasons), numbers, SOURCE, rule, what == rule)


def fleet_costs(
    ownership: Ownership, usd_per_hour, burst_usd_per_hour, baseline, burst, burst_hours_per_day
) -> dict[str, FleetCost]:
    """A year of the fleet by plan, in parts: all rented, the baseline owned, all owned.

    Parameters
    ----------
    ownership, usd_per_hour : as in `capex_opex`
    burst_usd_per_hour : rent of hours that are given back after a burst [USD/h]
    baseline, burst : accelerators needed around the clock, and further ones needed in bursts [1]
    burst_hours_per_day : hours of burst a day [h/day]

    >>> list(fleet_costs(Ownership.typical("RTX 4090", "home"), 0.5, 0.5, 2, 6, 1.0))
    ['rent all', 'own the baseline', 'own all']
    """
    plans = {"rent all": 0.0, "own the baseline": baseline, "own all": baseline + burst}
    load = {
        "baseline": baseline,
        "burst": burst,
        "burst_hours_per_day": burst_hours_per_day,
        "usd_per_hour": usd_per_hour,
        "burst_usd_per_hour": burst_usd_per_hour,
    }
    terms = {"fixed_usd_per_year": ownership.fixed_usd_per_year, **ownership.power}
    return {name: fleet_usd_per_year(owned, **load, **terms) for name, owned in plans.items()}


@lookup
def owned_and_published() -> pd.DataFrame:
    """What others published on owning an H100 in a data center, beside the usual terms here, under
    the words that head a table.

    >>> frame = owned_and_published()
    >>> bool((abs(frame["here"] / frame["published"] - 1) < 0.15).all())
    True
    """
    terms = Ownership.typical("H100 SXM", "data center")
    hour = terms.break_even_usd_per_hour(HOURS_PER_DAY)
    return pd.DataFrame(
        [
            {
                "what": "an H100 with its share of server and network [USD]",
                "published": catalog.fact("h100_installed_usd"),
                "here": terms.price_usd,
            },
            {
                "what": "least rent that pays for an H100, around the clock [USD/h]",
                "published": catalog.fact("h100_least_usd_per_hour"),
                "here": figure(hour),
            },
        ]
    )
