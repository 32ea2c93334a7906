"""What a business pays for a kilowatt-hour where its machines stand, by region."""

from typing import NamedTuple

from scaleright.catalog import table
from scaleright.costs.ownership import ELECTRICITY
from scaleright.formulas import lookup
from scaleright.market import electricity_price
from scaleright.units import usd

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
