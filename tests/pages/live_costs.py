"""What the live numbers of chapters on money and planet are by the library."""

from __future__ import annotations

from dataclasses import replace

from scaleright import market
from scaleright.costs.rent import cloud_usd_per_month, rent_usd_per_year
from scaleright.costs.tokens import mix_usd_per_million
from scaleright.costs.uncertainty import UncertainBreakEven, chip_ends, setting_ends
from scaleright.decisions import eco_efficiency as eco
from scaleright.decisions import vendor_economics as vendor
from scaleright.decisions.cloud_choice import egress_by_segment
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


def least_bill(values: dict) -> float:
    """The cheapest month that the controls of `gpu_prices` describe."""
    cards, egress = market.cheapest(values["accelerator"]), egress_by_segment()
    case = (values["used_share"], values["moved_gb_per_month"])
    return min(
        cloud_usd_per_month(
            row.usd_per_accelerator_hour,
            values["accelerators"],
            row.accelerators,
            *case,
            egress[row.segment],
        )
        for row in cards.itertuples()
    )


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


def vendor_lead(values: dict) -> dict[str, float]:
    """What the controls of `vendor_claims` describe: the most that the lead in cost comes to at any
    speed, and the sales of a rack.
    """
    lengths, speeds = (
        {"1K/1K": (1024, 1024), "8K/1K": (8192, 1024)}[values["request"]],
        (10, 20, 30, 40, 50, 60, 75, 100, 125, 150, 175, 200, 250, 300),
    )
    points = vendor.serving_points(values["model"], *lengths, values["drafts"])
    newer, older = (
        [
            float(f"{rate:.4g}")
            for rate in vendor.best_rate(points[points["accelerator"] == values[which]], speeds)
        ]
        for which in ("newer", "older")
    )
    prices = values["newer_usd_per_hour"], values["older_usd_per_hour"]
    most = max(
        vendor.advantage(new / old, *prices)
        for new, old in zip(newer, older, strict=True)
        if new and old
    )
    price = mix_usd_per_million(
        *lengths, 0.0, values["api_input"], values["api_output"], values["api_input"]
    )
    rate = vendor.RACK_CHIPS * newer[speeds.index(int(values["speed"]))]
    return {
        "most_said": most,
        "sales_usd": (
            vendor.returns(
                values["investment_usd"], rate, price, values["years"], values["utilization"]
            ).sales_usd
        ),
    }


BUY = "notebooks/buy_or_rent.html"
OTHER_CARD = {"accelerator": "H100 SXM", "setting": "data center", "hours_per_day": 20.0}
DEAR_POWER = {
    "rent_usd_per_hour": 0.4,
    "usd_per_kwh": 0.3,
    "years": 4.0,
    "value_kept_per_year": 0.6,
}
ONE_OF_MANY = {
    "accelerator": "A100 SXM 80GB",
    "accelerators": 1,
    "used_share": 0.05,
    "moved_gb_per_month": 20,
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
VENDOR = "notebooks/vendor_claims.html"
ANNOUNCED = {
    "model": "DeepSeek-V3",
    "drafts": "new",
    "newer": "GB200",
    "speed": 75,
    "years": 5.0,
    "newer_usd_per_hour": 4.0,
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
    *(("notebooks/gpu_prices.html", case, {"bill": least_bill}) for case in ({}, ONE_OF_MANY)),
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
    *(
        (
            VENDOR,
            case,
            {
                name: lambda v, name=name: vendor_lead(v)[name]
                for name in ("most_said", "sales_usd")
            },
        )
        for case in ({}, ANNOUNCED)
    ),
]
"""Page, controls to set, and named numbers with what the library says that each is at all values of
the page's controls.
"""
