"""How far the break-even can be off: every input between the ends that the tables give it.

The tables state a low and a high end for each price and factor. What a reader sets keeps that
relative range: a rent of one dollar is as uncertain as the listings of the chip are apart.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from scaleright.catalog import accelerator
from scaleright.costs.ownership import (
    ELECTRICITY,
    ENDS,
    Ownership,
    setting_factors,
    setting_usd_per_kwh,
)
from scaleright.formulas import lookup
from scaleright.market import electricity_price, recent_rental_price
from scaleright.ops import maximum, minimum
from scaleright.quantity import choose
from scaleright.ranges import Swing, interval, largest_first
from scaleright.units import figures

LONGEST_HOURS = 1e3
"""Break-even hours are cut off here, far beyond a day, so that ratios of results stay finite."""
REST = "host, building and people"
WORDS = {
    "usd_per_hour": "rent",
    "chip_usd": "price of the chip",
    "usd_per_kwh": "price of power",
    "service_years": "years of use",
    "value_kept_per_year": "value kept each year",
    "cost_of_capital": "cost of capital",
    "rest": REST,
}
"""What the inputs are called in a chart."""
_SHARED = ("service_years", "value_kept_per_year", "cost_of_capital")


@lookup
def chip_ends(name: str) -> dict[str, float]:
    """Power of a chip [W], and the ends of its rent and price over their middle [1]; 1 where there
    is no range.
    """
    chip, listed = accelerator(name), recent_rental_price(name)
    low, high = chip.purchase_usd or (1.0, 1.0)
    middle = chip.purchase_mid_usd if chip.purchase_usd else 1.0
    found = {
        "tdp_watts": chip.require("tdp_watts"),
        "rent_low": listed.low / listed.median if listed else 1.0,
        "rent_high": listed.high / listed.median if listed else 1.0,
        "price_low": low / middle,
        "price_high": high / middle,
    }
    return figures(found)


@lookup
def setting_ends(setting: str) -> dict[str, float]:
    """The factors of a setting at each end, as "cheap pue" and so on, and the ends of its power
    price over the typical one.
    """
    power = electricity_price(*ELECTRICITY[setting])
    factors = {
        f"{end} {name}": value
        for end in ENDS
        for name, value in setting_factors(setting, end).items()
    }
    ends = {"power_low": power.low / power.best, "power_high": power.high / power.best}
    return figures(factors | ends)


@lookup
def setting_terms(setting: str) -> dict[str, float]:
    """What a setting is taken to pay and to reckon with, where a reader gives nothing else.

    Returns
    -------
    usd_per_kwh [USD/kWh], years from purchase to sale [year], value_kept_per_year [1],
    cost_of_capital a year [1]

    >>> sorted(setting_terms("home"))
    ['cost_of_capital', 'usd_per_kwh', 'value_kept_per_year', 'years']
    """
    factors = setting_ends(setting)
    terms = {
        "years": "service_years",
        "value_kept_per_year": "value_kept_per_year",
        "cost_of_capital": "cost_of_capital",
    }
    return {"usd_per_kwh": setting_usd_per_kwh(setting)} | {
        name: factors[f"typical {factor}"] for name, factor in terms.items()
    }


@dataclass(frozen=True)
class UncertainBreakEven:
    """Break-even hours a day with every input free; numbers, quantities or live expressions
    throughout.

    values : usd_per_hour, chip_usd, usd_per_kwh, service_years, value_kept_per_year,
        cost_of_capital of the case
    chip, place : from `chip_ends` and `setting_ends`
    """

    values: Mapping[str, Any]
    chip: Mapping[str, Any]
    place: Mapping[str, Any]

    @classmethod
    def of(cls, case: Any, chips: Iterable[str]) -> Self:
        """That of a case of quantities, which may choose any of the chips, and any setting.

        case : accelerator, setting, rent_usd_per_hour, chip_usd, usd_per_kwh, years,
            value_kept_per_year, cost_of_capital
        """
        values = {
            "usd_per_hour": case.rent_usd_per_hour,
            "chip_usd": case.chip_usd,
            "usd_per_kwh": case.usd_per_kwh,
            "service_years": case.years,
            "value_kept_per_year": case.value_kept_per_year,
            "cost_of_capital": case.cost_of_capital,
        }
        return cls(
            values,
            choose({chip: chip_ends(chip) for chip in chips}, case.accelerator),
            choose({setting: setting_ends(setting) for setting in ELECTRICITY}, case.setting),
        )

    def factors(self, end: str) -> dict[str, Any]:
        """The setting's factors at one end."""
        return {
            name.removeprefix(f"{end} "): value
            for name, value in self.place.items()
            if name.startswith(f"{end} ")
        }

    def terms(self, rest: Mapping[str, Any] | None = None, **changed: Any) -> Ownership:
        """Terms of ownership with some inputs changed; `rest` are the factors of host, building and
        people.
        """
        values = dict(self.values) | changed
        shared = {name: values[name] for name in _SHARED}
        return Ownership.build(
            values["chip_usd"],
            self.chip["tdp_watts"],
            values["usd_per_kwh"],
            dict(rest or self.factors("typical")) | shared,
        )

    def hours(self, rest: Mapping[str, Any] | None = None, **changed: Any) -> Any:
        """Break-even hours of use a day with some inputs changed [h/day], at most
        `LONGEST_HOURS`.
        """
        rent = changed.pop("usd_per_hour", self.values["usd_per_hour"])
        return minimum(self.terms(rest, **changed).break_even_hours_per_day(rent), LONGEST_HOURS)

    def ends(self) -> dict[str, tuple[Any, Any, Any]]:
        """Low, best and high of every input around the case."""
        best, place = self.values, self.place

        def scaled(name: str, low: Any, high: Any) -> tuple[Any, Any, Any]:
            return best[name] * low, best[name], best[name] * high

        def over_typical(name: str, cheap_is_low: bool) -> tuple[Any, Any, Any]:
            low, high = ("cheap", "dear") if cheap_is_low else ("dear", "cheap")
            typical = place[f"typical {name}"]
            return scaled(name, place[f"{low} {name}"] / typical, place[f"{high} {name}"] / typical)

        kept = over_typical("value_kept_per_year", cheap_is_low=False)
        capital = [
            best["cost_of_capital"]
            + place[f"{end} cost_of_capital"]
            - place["typical cost_of_capital"]
            for end in ("cheap", "dear")
        ]
        return {
            "usd_per_hour": scaled("usd_per_hour", self.chip["rent_low"], self.chip["rent_high"]),
            "chip_usd": scaled("chip_usd", self.chip["price_low"], self.chip["price_high"]),
            "usd_per_kwh": scaled("usd_per_kwh", place["power_low"], place["power_high"]),
            "service_years": over_typical("service_years", cheap_is_low=False),
            "value_kept_per_year": (kept[0], kept[1], minimum(kept[2], 0.98)),
            "cost_of_capital": (maximum(capital[0], 0.0), best["cost_of_capital"], capital[1]),
            "rest": (self.factors("cheap"), self.factors("typical"), self.factors("dear")),
        }

    def interval(self) -> tuple[Any, Any]:
        """Low and high end of the break-even hours."""
        return interval(self.hours, **self.ends())

    def swings(self) -> list[Swing]:
        """What each input alone does to the break-even hours, largest first."""
        ends = self.ends()
        best = {name: middle for name, (_, middle, _) in ends.items()}

        def swing(name: str, low: Any, high: Any) -> Swing:
            found = (self.hours(**best | {name: end}) for end in (low, high))
            return Swing(name, *((0.0, 1.0) if name == "rest" else (low, high)), *found)

        return largest_first(swing(name, low, high) for name, (low, _, high) in ends.items())
