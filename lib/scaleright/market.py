"""The market: what accelerators rent for, what power costs, and what owning hardware takes, from the tables."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from statistics import median

import pandas as pd

from scaleright.catalog import accelerator, accelerators, table
from scaleright.names import nearest
from scaleright.ranges import Range


@dataclass(frozen=True)
class PriceRange:
    """What the latest listings of one chip say, USD per accelerator and hour."""

    low: float
    median: float
    high: float
    listings: int
    as_of: date

    def check(self, usd_per_hour: float, accelerator_name: str) -> float:
        """Refuse a rent far above every listing, which is mostly that of a whole node.

        Raises
        ------
        ValueError : the rent is over three times the dearest listing; says what it would be per chip of an 8-chip node.
        """
        if usd_per_hour <= 3 * self.high:
            return usd_per_hour
        per_chip = usd_per_hour / 8
        node = f"; if it is that of an 8-chip node, give {per_chip:.3g}" if self.low / 3 <= per_chip <= 3 * self.high else ""
        raise ValueError(
            f"rent of {usd_per_hour:g} USD/h for one {accelerator_name} is {usd_per_hour / self.high:.1f} times the dearest listing "
            f"({self.high:.4g} on {self.as_of}); allowed: up to {3 * self.high:.3g}{node}"
        )


def rental_prices(accelerator_name: str | None = None, pricing: str = "on_demand") -> pd.DataFrame:
    """Listings of one pricing kind, of one chip or of all: date, provider, segment, region, USD per chip-hour.

    >>> set(rental_prices("H100 NVL", "spot")["pricing"])
    {'spot'}
    """
    prices = table("rental_prices")
    prices = prices[prices["pricing"] == pricing]
    return prices if accelerator_name is None else prices[prices["accelerator"] == accelerator(accelerator_name).name]


def rental_price(accelerator_name: str, pricing: str = "on_demand") -> PriceRange:
    """Lowest, median and highest price of the latest year of listings of one chip [USD/h].

    One figure per provider (its median), so that a provider with many regions does not outvote the others.

    Raises
    ------
    LookupError : unknown chip, or a chip without a listing.

    >>> price = rental_price("H100 SXM")
    >>> price.low < price.median < price.high
    True
    """
    listed = rental_prices(accelerator_name, pricing)
    if listed.empty:
        priced = sorted(set(rental_prices(pricing=pricing)["accelerator"]))
        raise LookupError(f"no {pricing} listing of {accelerator_name!r}; chips with one: {', '.join(priced)}")
    newest = listed["date"].max()
    recent = listed[listed["date"] > newest - pd.DateOffset(years=1)]
    by_provider = recent.groupby("provider")["usd_per_accelerator_hour"].median()
    return PriceRange(float(by_provider.min()), float(by_provider.median()), float(by_provider.max()), len(recent), newest.date())


def rent_or_buy_market() -> pd.DataFrame:
    """Chips with an on-demand listing, a purchase price and a power: what owning and renting can be compared for.

    Only chips released since 2020 with a listing of the newest two years of the table: what a used part of an
    older generation fetches says nothing about a server built around it.

    Columns: accelerator, vendor, segment, tdp_watts [W], chip_usd [USD], rent_usd_per_hour [USD/h].
    """
    prices = rental_prices()
    listed = set(prices[prices["date"] > prices["date"].max() - pd.DateOffset(years=2)]["accelerator"])
    rows = [
        {
            "accelerator": chip.name, "vendor": chip.vendor, "segment": chip.segment, "tdp_watts": chip.tdp_watts,
            "chip_usd": chip.purchase_mid_usd, "rent_usd_per_hour": rental_price(chip.name).median,
        }
        for chip in accelerators().values()
        if chip.name in listed and chip.purchase_usd and chip.tdp_watts and chip.released and chip.released.year >= 2020
    ]
    return pd.DataFrame(rows)


def matmul_chips() -> dict[str, dict[str, float]]:
    """Chips with a BF16 peak, a bandwidth and an on-demand listing: what the roofline of a token can be drawn for.

    Keys: bf16_flops [FLOP/s], memory_bytes_per_s [B/s], compute_efficiency (best measured matmul over peak; the
    median of the measured chips where nobody published one) [1], rent_usd_per_hour [USD/h].
    """
    listed = set(rental_prices()["accelerator"])
    chips = [chip for chip in accelerators().values() if chip.name in listed and "bf16" in chip.dense and chip.memory_bytes_per_s]
    shares = {chip.name: chip.measured["bf16"] / chip.dense["bf16"] for chip in accelerators().values() if "bf16" in chip.measured}
    usual = median(shares.values())
    return {
        chip.name: {
            "bf16_flops": chip.dense["bf16"], "memory_bytes_per_s": chip.memory_bytes_per_s,
            "compute_efficiency": shares.get(chip.name, usual), "rent_usd_per_hour": rental_price(chip.name).median,
        }
        for chip in chips
    }


def _range(name: str, ends: tuple[str, str, str], **wanted: str) -> Range:
    """Lowest, typical and highest figure in the row of a table that has these values; nearest names for one it lacks."""
    rows, what = table(name), ""
    for column, value in wanted.items():
        chosen = rows[rows[column] == value]
        if chosen.empty:
            nearest(value, rows[column], column + what)
        rows, what = chosen, f" of {value}"
    return Range(*map(float, rows.iloc[0][list(ends)]))


def electricity_price(region: str, sector: str = "industrial") -> Range:
    """Electricity price of a region and sector as a range [USD/kWh].

    Raises
    ------
    LookupError : unknown region, or a sector that the region lacks; the nearest names are offered.

    >>> electricity_price("United States").best < electricity_price("United States", "residential").best
    True
    """
    ends = ("low_usd_per_kwh", "typical_usd_per_kwh", "high_usd_per_kwh")
    return _range("electricity_prices", ends, region=region, sector=sector)


def cost_factor(factor: str, setting: str) -> Range:
    """A cost factor of owning hardware in a setting (home, colocation, data center) as a range, in its row's unit.

    Raises
    ------
    LookupError : unknown factor, or a setting that has none of its own; the nearest names are offered.

    >>> cost_factor("pue", "data center").low >= 1
    True
    """
    return _range("cost_factors", ("low", "typical", "high"), factor=factor, setting=setting)
