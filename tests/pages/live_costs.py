"""What the live numbers of chapters on money and planet are by the library."""

from __future__ import annotations

from dataclasses import replace

from scaleright.costs.rent import rent_usd_per_year
from scaleright.costs.uncertainty import UncertainBreakEven, chip_ends, setting_ends
from scaleright.decisions import eco_efficiency as eco
from scaleright.footprint import Footprint, Place


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


def planet(values: dict) -> Footprint:
    """The footprint of the work that the controls of `sustainability` describe."""
    chip, use = values["accelerator"], values["utilization"]
    here = Place(
        values["pue"],
        values["grams_per_kwh"] / 1e3,
        values["site_liters_per_kwh"],
        values["plant_liters_per_kwh"],
    )
    served = values["task"] == "serving"
    of = (
        eco.serving(values["model"], chip, values["batch"], use, here)
        if served
        else eco.training(chip, values["chip_hours"], use, here)
    )
    return replace(
        of,
        machine=replace(
            of.machine, life_years=values["life_years"], machine_kg=values["embodied_kg"]
        ),
    ).footprint


BUY = "notebooks/buy_or_rent.html"
OTHER_CARD = {"accelerator": "H100 SXM", "setting": "data center", "hours_per_day": 20.0}
DEAR_POWER = {
    "rent_usd_per_hour": 0.4,
    "usd_per_kwh": 0.3,
    "years": 4.0,
    "value_kept_per_year": 0.6,
}
PLANET = "notebooks/sustainability.html"
FULL_BATCHES = {
    "model": "Qwen3-235B-A22B",
    "accelerator": "B200",
    "batch": 1024,
    "utilization": 0.7,
    "place": "Poland",
    "life_years": 3,
}
OWN_RUN = {
    "task": "training",
    "accelerator": "A100 SXM 80GB",
    "chip_hours": 5e6,
    "place": "AWS eu-north-1",
    "pue": 1.4,
    "embodied_kg": 900,
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
    *(
        (
            PLANET,
            case,
            {
                "energy_wh": lambda v: 1e3 * planet(v).energy.total,
                "carbon_kg": lambda v: planet(v).carbon.total,
                "water_l": lambda v: planet(v).water.total,
            },
        )
        for case in ({}, FULL_BATCHES, OWN_RUN)
    ),
]
"""Page, controls to set, and named numbers with what the library says that each is at all values of
the page's controls.
"""
