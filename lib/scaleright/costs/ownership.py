"""The terms on which one accelerator is bought and run, and the typical ones of a setting from the
catalog.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from scaleright.catalog import accelerator, remembered, shared, table
from scaleright.costs.break_even import (
    break_even_hours_per_day,
    break_even_usd_per_hour,
    payback_months,
)
from scaleright.costs.own import (
    OVERHEADS,
    POWER,
    PURCHASE,
    OwnedCost,
    annuity_years,
    fixed_usd_per_year,
    installed_usd,
    owned_usd_per_year,
)
from scaleright.costs.rent import rent_usd_per_year
from scaleright.formulas import lookup
from scaleright.market import cost_factor, electricity_price
from scaleright.names import one_of
from scaleright.units import MONTHS_PER_YEAR, WATTS_PER_KILOWATT

ELECTRICITY = {
    "home": ("United States", "residential"),
    "colocation": ("United States", "commercial"),
    "data center": ("United States", "data center"),
}
"""Region and sector whose electricity price a setting pays when none is given."""
BORROWED = {"colocation": "data center"}
"""A setting whose own figure is missing from the table takes that of this one: the machines are the
same.
"""
MORE_IS_CHEAPER = re.compile(
    "chips_per_staff|facility_life_years|resale_share_after_[0-9]+_years|useful_life_years"
)
ENDS = {"cheap": ("low", "high"), "typical": ("best", "best"), "dear": ("high", "low")}
"""The end of a factor's range that each end of the cost takes, and the one where more of the factor
costs less.
"""


@remembered
def _factor(factor: str, setting: str, end: str) -> float:
    factors = table("cost_factors")
    own = ((factors["factor"] == factor) & (factors["setting"] == setting)).any()
    values = cost_factor(factor, setting if own else BORROWED.get(setting, setting))
    return getattr(values, ENDS[end][bool(MORE_IS_CHEAPER.fullmatch(factor))])


@remembered
def _value_kept_per_year(setting: str, end: str, years: float) -> float:
    """The yearly factor that leads to what is left at the end of service, between the ages for
    which a share is known.
    """
    names = table("cost_factors")["factor"]
    ages = sorted(
        int(age) for age in set(names.str.extract("resale_share_after_([0-9]+)_years")[0].dropna())
    )
    known = [(0.0, 0.0)]
    for age in ages:
        try:
            known.append(
                (float(age), math.log(_factor(f"resale_share_after_{age}_years", setting, end)))
            )
        except LookupError:  # the setting has no share at that age
            continue
    at, left = zip(*known, strict=True)
    return math.exp(float(np.interp(years, at, left)) / years)


@lookup
def setting_factors(setting: str, end: str = "typical") -> dict[str, float]:
    """The factors of owning an accelerator in a setting.

    Parameters
    ----------
    setting : "home", "colocation" or "data center"
    end : "typical", or all factors at once at their "cheap" or their "dear" end, which bounds the
        cost

    Returns
    -------
    host_usd : computer around the card, where its price does not depend on the card [USD]
    installation_share : server and network over the price of the accelerator [1]
    host_watts, host_idle_watts : draw of its share of the host [W]
    idle_share_of_tdp : draw of the idle accelerator over its power at work [1]
    facility_usd_per_kw_year : what a colocation charges; 0 elsewhere [USD/kW/year]
    building_usd_per_kw, building_years : price and life of the building and plant of a data center
        [USD/kW], [years]
    people_usd_per_year : [USD/accelerator/year]
    value_kept_per_year : yearly factor of the machine's value over its service life [1/year]
    pue, maintenance_share_per_year, service_years, cost_of_capital : as named

    Raises
    ------
    LookupError : unknown setting or end.

    >>> home = setting_factors("home")
    >>> home["installation_share"], home["facility_usd_per_kw_year"]
    (0.0, 0.0)
    """
    one_of(setting, ELECTRICITY, "setting")
    return dict(_setting_factors(setting, one_of(end, ENDS, "end of the cost factors")))


@shared
def _setting_factors(setting: str, end: str) -> Mapping[str, float]:
    value, at_home = partial(_factor, setting=setting, end=end), setting == "home"
    years, own_building = value("useful_life_years"), setting == "data center"
    return MappingProxyType(
        {
            "host_usd": value("home_pc_usd") if at_home else 0.0,
            "installation_share": 0.0
            if at_home
            else value("server_share_of_price") + value("network_share_of_price"),
            "host_watts": value("host_watts_per_chip"),
            "host_idle_watts": value("host_idle_watts_per_chip"),
            "idle_share_of_tdp": value("idle_share_of_tdp"),
            "pue": value("pue"),
            "facility_usd_per_kw_year": value("colocation_usd_per_kw_month") * MONTHS_PER_YEAR
            if setting == "colocation"
            else 0.0,
            "building_usd_per_kw": value("facility_capex_usd_per_kw") if own_building else 0.0,
            "building_years": value("facility_life_years") if own_building else 1.0,
            "maintenance_share_per_year": value("maintenance_share_per_year"),
            "people_usd_per_year": value("staff_usd_per_year") / value("chips_per_staff"),
            "value_kept_per_year": _value_kept_per_year(setting, end, years),
            "service_years": years,
            "cost_of_capital": value("cost_of_capital"),
        }
    )


@lookup
def setting_usd_per_kwh(setting: str) -> float:
    """The typical electricity price of a setting [USD/kWh].

    >>> setting_usd_per_kwh("home") > setting_usd_per_kwh("data center")
    True
    """
    return electricity_price(*ELECTRICITY[setting]).best


@dataclass(frozen=True)
class Ownership:
    """Terms of owning one accelerator; units and meanings as in `costs.own`, the share of the host
    included.
    """

    price_usd: float
    resale_share: float
    years: float
    cost_of_capital: float
    busy_watts: float
    idle_watts: float
    pue: float
    usd_per_kwh: float
    facility_usd_per_year: float = 0.0
    maintenance_share: float = 0.0
    people_usd_per_year: float = 0.0

    @classmethod
    def build(
        cls, chip_usd: Any, tdp_watts: Any, usd_per_kwh: Any, factors: Mapping[str, Any]
    ) -> Self:
        """Terms from a chip's price and power and a setting's cost factors; numbers, arrays or
        expressions.

        Parameters
        ----------
        chip_usd : price of the bare accelerator [USD]
        tdp_watts : its power at work [W]
        usd_per_kwh : electricity [USD/kWh]
        factors : the setting's cost factors by name, see `setting_factors`
        """
        busy_watts = tdp_watts + factors["host_watts"]
        building = factors["building_usd_per_kw"] / annuity_years(
            factors["cost_of_capital"], factors["building_years"]
        )
        return cls(
            price_usd=installed_usd(chip_usd, factors["installation_share"], factors["host_usd"]),
            resale_share=factors["value_kept_per_year"] ** factors["service_years"],
            years=factors["service_years"],
            cost_of_capital=factors["cost_of_capital"],
            busy_watts=busy_watts,
            idle_watts=factors["idle_share_of_tdp"] * tdp_watts + factors["host_idle_watts"],
            pue=factors["pue"],
            usd_per_kwh=usd_per_kwh,
            facility_usd_per_year=(factors["facility_usd_per_kw_year"] + building)
            * busy_watts
            / WATTS_PER_KILOWATT,
            maintenance_share=factors["maintenance_share_per_year"],
            people_usd_per_year=factors["people_usd_per_year"],
        )

    @classmethod
    def typical(
        cls,
        name: str,
        setting: str,
        chip_usd: float | None = None,
        usd_per_kwh: float | None = None,
        end: str = "typical",
        years: float | None = None,
        cost_of_capital: float | None = None,
    ) -> Self:
        """Typical terms of one accelerator in a setting (or those at an end); what is given
        replaces the table's value.

        Raises
        ------
        LookupError : unknown accelerator or setting.
        DataError : the catalog has no price or power of this accelerator.

        >>> Ownership.typical("RTX 4090", "home", chip_usd=1600.0, years=2.0).years
        2.0
        """
        given = {"service_years": years, "cost_of_capital": cost_of_capital}
        factors, chip = (
            setting_factors(setting, end)
            | {key: value for key, value in given.items() if value is not None},
            accelerator(name),
        )
        price = chip.purchase_mid_usd if chip_usd is None else chip_usd
        power = setting_usd_per_kwh(setting) if usd_per_kwh is None else usd_per_kwh
        return cls.build(price, chip.require("tdp_watts"), power, factors)

    @property
    def power(self) -> dict[str, float]:
        """The arguments of the formulas that deal with power."""
        return {name: getattr(self, name) for name in POWER}

    @property
    def fixed(self) -> dict[str, float]:
        """The arguments of the formulas that deal with the purchase, and with what is paid every
        year whatever the use.
        """
        return {name: getattr(self, name) for name in PURCHASE | OVERHEADS}

    @property
    def fixed_usd_per_year(self) -> float:
        """Yearly cost that does not depend on use [USD/year]."""
        return fixed_usd_per_year(**self.fixed)

    def owned_usd_per_year(self, hours_per_day: float) -> OwnedCost:
        """A year of owning at so many hours of use a day, by parts."""
        return owned_usd_per_year(**self.fixed, hours_per_day=hours_per_day, **self.power)

    def running_usd_per_year(self, hours_per_day: float) -> float:
        """Power, facility, maintenance and people at so many hours a day [USD/year]."""
        bill = self.owned_usd_per_year(hours_per_day)
        return bill.power_usd + bill.facility_usd + bill.maintenance_usd + bill.people_usd

    def break_even_hours_per_day(self, usd_per_hour: Any) -> Any:
        """Hours of use a day above which owning on these terms beats that rent."""
        return break_even_hours_per_day(usd_per_hour, self.fixed_usd_per_year, **self.power)

    def break_even_usd_per_hour(self, hours_per_day: Any) -> Any:
        """What an owned hour of work costs in full at so many hours of use a day [USD/h]."""
        return break_even_usd_per_hour(hours_per_day, self.fixed_usd_per_year, **self.power)

    def payback_months(self, usd_per_hour: Any, hours_per_day: Any) -> Any:
        """Months until the rent saved has paid back the installed price with interest, nothing
        sold.
        """
        saving = rent_usd_per_year(usd_per_hour, hours_per_day) - self.running_usd_per_year(
            hours_per_day
        )
        return payback_months(self.price_usd, saving / MONTHS_PER_YEAR, self.cost_of_capital)
