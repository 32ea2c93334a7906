"""What the live numbers of chapters on money and planet are by the library."""

from __future__ import annotations

from scaleright.costs.rent import rent_usd_per_year
from scaleright.costs.uncertainty import UncertainBreakEven, chip_ends, setting_ends


def uncertain(values: dict) -> UncertainBreakEven:
    """The break-even that the controls of `buy_or_rent` describe."""
    given = {"usd_per_hour": values["rent_usd_per_hour"], "service_years": values["years"]}
    shared = {
        name: values[name]
        for name in ("chip_usd", "usd_per_kwh", "value_kept_per_year", "cost_of_capital")
    }
    return UncertainBreakEven(
        given | shared, chip_ends(values["accelerator"]), setting_ends(values["setting"])
    )


def saving(values: dict) -> float:
    hours = values["hours_per_day"]
    return abs(
        uncertain(values).terms().owned_usd_per_year(hours).total
        - rent_usd_per_year(values["rent_usd_per_hour"], hours)
    )


def break_even(values: dict) -> float:
    return uncertain(values).terms().break_even_hours_per_day(values["rent_usd_per_hour"])


BUY = "notebooks/buy_or_rent.html"
OTHER_CARD = {"accelerator": "H100 SXM", "setting": "data center", "hours_per_day": 20.0}
DEAR_POWER = {
    "rent_usd_per_hour": 0.4,
    "usd_per_kwh": 0.3,
    "years": 4.0,
    "value_kept_per_year": 0.6,
}
LIVE = [
    *(
        (BUY, case, {"break_even_hours": break_even, "saving": saving})
        for case in ({}, OTHER_CARD, DEAR_POWER)
    ),
    *(
        (
            BUY,
            case,
            {
                "range_low": lambda v: uncertain(v).interval()[0],
                "range_high": lambda v: uncertain(v).interval()[1],
            },
        )
        for case in ({}, OTHER_CARD)
    ),
]
"""Page, controls to set, and named numbers with what the library says that each is at all values of
the page's controls.
"""
