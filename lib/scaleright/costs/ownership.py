"""The terms on which one accelerator is bought and run, and the typical ones of a setting from the
catalog.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from scaleright.catalog import accelerator, fact, remembered, shared, table
from scaleright.costs.break_even import (
    OVERHEADS,
    POWER,
    PURCHASE,
    USUAL_YEARS,
    OwnedCost,
    annuity_years,
    break_even_hours_per_day,
    break_even_usd_per_hour,
    fixed_usd_per_year,
    installed_usd,
    owned_usd_per_year,
    payback_months,
    rent_usd_per_year,
    resale_share,
)
from scaleright.formulas import lookup
from scaleright.market import cost_factor, electricity_price, rental_prices
from scaleright.names import one_of
from scaleright.ops import where
from scaleright.power import BORROWED, owned_draw
from scaleright.units import (
    DAYS_PER_YEAR,
    HOURS_PER_YEAR,
    MONTHS_PER_YEAR,
    WATTS_PER_KILOWATT,
    figure,
    usd,
)

ELECTRICITY = {
    "home": ("United States", "residential"),
    "colocation": ("United States", "commercial"),
    "data center": ("United States", "data center"),
}
"""Region and sector whose electricity price a setting pays when none is given."""
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


def _resale(age: int, setting: str, end: str) -> float:
    return _factor(f"resale_share_after_{age}_years", setting, end)


def _wear(setting: str) -> dict[str, float]:
    """The paces of `own.worn_years`: those that lead through the setting's shares left after two,
    four and six years; an even one after the fourth year where it has no share after the sixth.
    """
    two, four = (math.log(_resale(age, setting, "typical")) for age in (2, 4))
    try:
        late = 2 * math.log(_resale(6, setting, "typical")) / four - 2
    except LookupError:
        late = 1.0
    return {"early_wear": 2 * two / four, "late_wear": late}


@lookup
@remembered
def years_since_release(accelerator_name: str) -> float:
    """Age of a chip on the day of the newest listing of rents [years]: 0 before its release, and
    for one whose day of release the catalog lacks.

    Raises
    ------
    LookupError : unknown accelerator.

    >>> years_since_release("A100 SXM 80GB") > years_since_release("H100 SXM") > 4
    True
    """
    released = accelerator(accelerator_name).released
    if released is None:
        return 0.0
    today = rental_prices()["date"].max().date()
    return figure(max((today - released).days, 0) / DAYS_PER_YEAR)


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
    host_usd : computer around the card, where its price does not depend on the card, and its share
        of storage beyond the host's own [USD]
    installation_share : server and network over the price of the accelerator [1]
    sales_tax_share : sales tax over the price of all of it [1]
    facility_usd_per_kw_year : what a colocation charges; 0 elsewhere [USD/kW/year]
    building_usd_per_kw, building_years : price and life of the building and plant of a data center
        [USD/kW], [years]
    people_usd_per_year : [USD/accelerator/year]
    value_kept_per_year : yearly factor of the machine's value in the chip's first four years [1]
    early_wear, late_wear : how fast it loses value before and after, see `own.worn_years` [1]
    insurance_and_tax_share_per_year : insurance and property tax, over the price a year [1/year]
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
    own_building = setting == "data center"
    return MappingProxyType(
        {
            "host_usd": value("home_pc_usd")
            if at_home
            else value("storage_tb_per_chip") * value("storage_usd_per_tb"),
            "installation_share": 0.0
            if at_home
            else value("server_share_of_price") + value("network_share_of_price"),
            "sales_tax_share": value("sales_tax_share"),
            "pue": value("pue"),
            "facility_usd_per_kw_year": value("colocation_usd_per_kw_month") * MONTHS_PER_YEAR
            if setting == "colocation"
            else 0.0,
            "building_usd_per_kw": value("facility_capex_usd_per_kw") if own_building else 0.0,
            "building_years": value("facility_life_years") if own_building else 1.0,
            "maintenance_share_per_year": value("maintenance_share_per_year"),
            "insurance_and_tax_share_per_year": value("insurance_share_per_year")
            + value("property_tax_share_per_year"),
            "people_usd_per_year": value("staff_usd_per_year") / value("chips_per_staff"),
            "value_kept_per_year": _resale(4, setting, end) ** (1 / USUAL_YEARS),
            **_wear(setting),
            "service_years": value("useful_life_years"),
            "cost_of_capital": value("cost_of_capital"),
        }
    )


@lookup
def stands(setting: Any, server: Any) -> Any:
    """Where an owned chip stands that is to stand in a setting: no home houses one that is made for
    servers, so that it stands in a data center; words or quantities.

    server : whether it is made for servers

    >>> stands("home", True), stands("home", False), stands("colocation", True)
    ('data center', 'home', 'colocation')
    """
    return where((setting == "home") & server, "data center", setting)


@lookup
def place_in_words(setting: Any, server: Any) -> Any:
    """Where a chip `stands`, in words.

    >>> place_in_words("home", False), place_in_words("colocation", True)
    ('at home', 'in a colocation')
    """
    moved = "in a data center, since no home houses it"
    at_home = where(server, moved, "at home")
    return where(setting == "home", at_home, "in a " + setting)


@lookup
def made_for_servers(name: str) -> bool:
    """Whether a chip is made for servers: no card of a workstation or of a player is.

    Raises
    ------
    LookupError : unknown chip.

    >>> made_for_servers("H100 SXM"), made_for_servers("RTX PRO 6000")
    (True, False)
    """
    return accelerator(name).segment not in ("consumer", "workstation")


@lookup
def setting_usd_per_kwh(setting: str) -> float:
    """The typical electricity price of a setting [USD/kWh].

    >>> setting_usd_per_kwh("home") > setting_usd_per_kwh("data center")
    True
    """
    return electricity_price(*ELECTRICITY[setting]).best


@lookup
def crew_usd_per_hour(most_watts: Any) -> tuple[Any, Any]:
    """What the crew of a data center would add to an hour of an accelerator [USD/h], which no
    `Ownership` counts: the fewest people for the largest site and the most for the smallest.

    most_watts : what the site provides for an accelerator, see `power.most_watts` [W]
    """
    pay = cost_factor("staff_usd_per_year", "data center").best / HOURS_PER_YEAR
    share = most_watts / WATTS_PER_KILOWATT / 1000  # of a site in megawatts
    few, many = (fact(f"data_center_crew_{end}") for end in ("low", "high"))
    small, large = (fact(f"data_center_site_mw_{end}") for end in ("low", "high"))
    return pay * share * few / large, pay * share * many / small


@dataclass(frozen=True)
class Ownership:
    """Terms of owning one accelerator; units and meanings as in `costs.break_even`, its share of
    host, network and storage included.

    busy_watts, idle_watts : what it draws, see `power.draw`; most_watts : a bound, what the site
    provides for it and is paid for by the kilowatt, see `power.most_watts` [W]

    Left out: hours that nobody uses (those are the caller's hours a day, or utilization), crew
    (`crew_usd_per_hour`) and land of a building of one's own, power of storage, software licenses,
    taxes on income and what a sale costs.
    """

    price_usd: float
    resale_share: float
    years: float
    cost_of_capital: float
    busy_watts: float
    idle_watts: float
    pue: float
    usd_per_kwh: float
    most_watts: float
    facility_usd_per_year: float = 0.0
    maintenance_share: float = 0.0
    insurance_and_tax_share: float = 0.0
    people_usd_per_year: float = 0.0

    @classmethod
    def build(
        cls,
        chip_usd: Any,
        drawn: Mapping[str, Any],
        age_years: Any,
        usd_per_kwh: Any,
        factors: Mapping[str, Any],
    ) -> Self:
        """Terms from a chip's price, draw and age and a setting's cost factors; numbers, arrays or
        expressions.

        Parameters
        ----------
        chip_usd : price of the bare accelerator [USD]
        drawn : its busy_watts, idle_watts and most_watts there, see `power.owned_draw` [W]
        age_years : since it was released, when it is bought [years], see `years_since_release`
        usd_per_kwh : electricity [USD/kWh]
        factors : the setting's cost factors by name, see `setting_factors`
        """
        building = factors["building_usd_per_kw"] / annuity_years(
            factors["cost_of_capital"], factors["building_years"]
        )
        kept = resale_share(
            factors["value_kept_per_year"],
            age_years,
            factors["service_years"],
            factors["early_wear"],
            factors["late_wear"],
        )
        tax = factors["sales_tax_share"]
        return cls(
            price_usd=installed_usd(
                chip_usd, factors["installation_share"], factors["host_usd"], tax
            ),
            resale_share=kept / (1 + tax),  # nobody gives the tax back
            years=factors["service_years"],
            cost_of_capital=factors["cost_of_capital"],
            busy_watts=drawn["busy_watts"],
            idle_watts=drawn["idle_watts"],
            pue=factors["pue"],
            usd_per_kwh=usd_per_kwh,
            most_watts=drawn["most_watts"],
            facility_usd_per_year=(factors["facility_usd_per_kw_year"] + building)
            * drawn["most_watts"]
            / WATTS_PER_KILOWATT,
            maintenance_share=factors["maintenance_share_per_year"],
            insurance_and_tax_share=factors["insurance_and_tax_share_per_year"],
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
        work: str = "serving",
    ) -> Self:
        """Typical terms of one accelerator in a setting (or those at an end) and at its work; what
        is given replaces the table's value.

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
        drawn = owned_draw(name, setting, work, ENDS[end][0])
        return cls.build(price, drawn, years_since_release(name), power, factors)

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
        """What is paid at so many hours a day beyond the purchase [USD/year]."""
        bill = self.owned_usd_per_year(hours_per_day)
        return bill.total - bill.depreciation_usd - bill.capital_usd

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


# What a business pays for a kilowatt-hour where its machines stand, by region


WORLD = "World"
REGIONS = (
    WORLD,
    "United States",
    "Canada",
    "Brazil",
    "United Kingdom",
    "Ireland",
    "France",
    "Germany",
    "Sweden",
    "Poland",
    "India",
    "China",
    "Japan",
    "South Korea",
    "Taiwan",
    "Australia",
)
"""Where machines of a plan may stand."""
_AMONG = {"Sweden": "Nordics", "Ireland": "European Union", "Poland": "European Union"}
"""Countries without a price of their own, and the group of countries whose price is theirs."""


class PowerPrice(NamedTuple):
    """A price of electricity.

    usd_per_kwh : [USD/kWh]
    of : whose it is: the region, a group that it is of, or the world where none is listed
    """

    usd_per_kwh: float
    of: str

    def said(self, region: str) -> str:
        """It in words, for machines in a region.

        >>> PowerPrice(0.2, "Germany").said("Germany")
        'electricity at $0.20 a kWh, the price for businesses (Germany)'
        >>> PowerPrice(0.085, "Nordics").said("Sweden")
        'electricity at $0.085 a kWh, the price for businesses (Nordics; Sweden has none listed)'
        """
        lacks = "" if self.of == region else f"; {region} has none listed"
        price = f"electricity at {usd(self.usd_per_kwh)} a kWh, the price for businesses"
        return f"{price} ({self.of}{lacks})"


@lookup
def power_price(region: str, setting: str) -> PowerPrice:
    """What machines in a setting of a region typically pay: the price of the setting's sector, or
    of other businesses where none of that sector is listed.

    Raises
    ------
    LookupError : unknown setting.

    >>> power_price("Germany", "colocation"), power_price("Sweden", "colocation").of
    (PowerPrice(usd_per_kwh=0.2, of='Germany'), 'Nordics')
    >>> power_price("Canada", "colocation").of
    'World'
    """
    rows = table("electricity_prices")
    listed = set(zip(rows["region"], rows["sector"], strict=True))
    for of in (region, _AMONG.get(region, WORLD), WORLD):
        for sector in (ELECTRICITY[setting][1], "industrial", "commercial"):
            if (of, sector) in listed:
                return PowerPrice(electricity_price(of, sector).best, of)
    raise LookupError(f"electricity of {region}: no price of a business is listed")
