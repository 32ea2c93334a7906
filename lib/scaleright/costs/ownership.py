"""The terms on which one accelerator is bought and run, and the typical ones of a setting from the catalog."""

from __future__ import annotations

from dataclasses import dataclass

from scaleright.catalog import accelerator, cost_factor, electricity_price, nearest
from scaleright.costs.own import OwnedCost, energy_kwh_per_year, fixed_usd_per_year, installed_usd, owned_usd_per_year
from scaleright.units import WATTS_PER_KILOWATT

ELECTRICITY = {"home": ("United States", "residential"), "colocation": ("United States", "commercial"), "data center": ("United States", "industrial")}
"""Whose electricity price a setting pays when none is given."""


@dataclass(frozen=True)
class Ownership:
    """Terms of owning one accelerator; units and meanings as in `costs.own`, the share of the host included."""

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
    def typical(cls, name: str, setting: str, chip_usd: float | None = None, years: float | None = None, **given: float | None) -> "Ownership":
        """Typical terms of one accelerator in a setting, each of which can be overridden.

        Parameters
        ----------
        name : accelerator, by name or alias
        setting : "home", "colocation" or "data center"
        chip_usd : price of the bare accelerator [USD]; the catalog's middle if not given
        years : years from purchase to sale; the setting's habit if not given
        given : any field of the class; None keeps the typical value

        Raises
        ------
        LookupError : unknown accelerator or setting.
        DataError : the catalog has no price or power of this accelerator.
        """
        if setting not in ELECTRICITY:
            nearest(setting, ELECTRICITY, "setting")
        chip = accelerator(name)
        typical = lambda factor: cost_factor(factor, setting).best  # noqa: E731
        years = typical("service_years") if years is None else years
        busy = chip.require("tdp_watts") + typical("host_watts_per_accelerator")
        terms = {
            "price_usd": installed_usd(chip.purchase_mid_usd if chip_usd is None else chip_usd, typical("accelerator_share_of_installation")),
            "resale_share": typical("value_kept_per_year") ** years,
            "years": years,
            "cost_of_capital": typical("cost_of_capital"),
            "busy_watts": busy,
            "idle_watts": busy * typical("idle_share_of_power"),
            "pue": typical("pue"),
            "usd_per_kwh": electricity_price(*ELECTRICITY[setting]).best,
            "facility_usd_per_year": typical("facility_usd_per_kw_year") * busy / WATTS_PER_KILOWATT,
            "maintenance_share": typical("maintenance_share_per_year"),
            "people_usd_per_year": typical("people_usd_per_accelerator_year"),
        }
        return cls(**terms | {field: value for field, value in given.items() if value is not None})

    @property
    def power(self) -> dict[str, float]:
        """The arguments of the formulas that deal with power."""
        return {"busy_watts": self.busy_watts, "idle_watts": self.idle_watts, "pue": self.pue, "usd_per_kwh": self.usd_per_kwh}

    @property
    def overheads(self) -> dict[str, float]:
        """What is paid every year whatever the use, beside the price."""
        return {
            "facility_usd_per_year": self.facility_usd_per_year,
            "maintenance_share": self.maintenance_share,
            "people_usd_per_year": self.people_usd_per_year,
        }

    @property
    def fixed_usd_per_year(self) -> float:
        """Yearly cost that does not depend on use [USD/year]."""
        return fixed_usd_per_year(self.price_usd, self.resale_share, self.years, self.cost_of_capital, **self.overheads)

    def owned_usd_per_year(self, hours_per_day: float) -> OwnedCost:
        """A year of owning at so many hours of use a day, by parts."""
        return owned_usd_per_year(
            self.price_usd, self.resale_share, self.years, self.cost_of_capital, hours_per_day, **self.power, **self.overheads
        )

    def running_usd_per_year(self, hours_per_day: float) -> float:
        """Power, facility, maintenance and people at so many hours a day [USD/year]."""
        bill = self.owned_usd_per_year(hours_per_day)
        return bill.power_usd + bill.facility_usd + bill.maintenance_usd + bill.people_usd
