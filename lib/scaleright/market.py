"""The market: what accelerators rent for, what power costs, and what owning hardware takes, from the tables."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from statistics import median

import pandas as pd

from scaleright.catalog import DataError, accelerator, accelerators, resource, table
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


def rental_span(name_begins: str, year: int) -> tuple[float, float]:
    """Lowest and highest on-demand listing of a year over all chips whose name begins so [USD/h].

    >>> rental_span("A100", 2023)[0]
    1.1
    """
    prices = rental_prices()
    prices = prices[prices["accelerator"].str.startswith(name_begins) & (prices["date"].dt.year == year)]["usd_per_accelerator_hour"]
    return float(prices.min()), float(prices.max())


RECENT_YEARS = 2
"""A listing older than this, counted from the table's newest, is history and no price to decide on."""


def recent_rental_price(accelerator_name: str) -> PriceRange | None:
    """The on-demand price of a chip if one of its listings is recent, else None.

    >>> recent_rental_price("P100 PCIe") is None
    True
    """
    listed, newest = rental_prices(accelerator_name), rental_prices()["date"].max()
    fresh = not listed.empty and listed["date"].max() > newest - pd.DateOffset(years=RECENT_YEARS)
    return rental_price(accelerator_name) if fresh else None


def check_rent(usd_per_hour: float, accelerator_name: str) -> float:
    """Refuse a rent that no listing of the chip supports: mostly the price of a whole node.

    Raises
    ------
    ValueError : above three times the dearest recent listing, or above the dearest one while an eighth of it lies
        among the listings; says what it would be per chip.

    >>> check_rent(24.0, "H100 SXM")
    Traceback (most recent call last):
    ValueError: rent of 24 USD/h for one H100 SXM is above every listing (2.69 to 8.43 on 2026-09-29); as the price of an 8-chip node it is 3 a chip
    """
    listed = recent_rental_price(accelerator_name)
    if listed is None or usd_per_hour <= listed.high:
        return usd_per_hour
    per_chip = usd_per_hour / 8
    node = listed.low <= per_chip <= listed.high
    if not node and usd_per_hour <= 3 * listed.high:
        return usd_per_hour
    hint = f"; as the price of an 8-chip node it is {per_chip:.3g} a chip" if node else f"; allowed: up to {3 * listed.high:.3g}"
    raise ValueError(
        f"rent of {usd_per_hour:g} USD/h for one {accelerator_name} is above every listing ({listed.low:.3g} to {listed.high:.3g} on {listed.as_of}){hint}"
    )


@dataclass(frozen=True)
class Offer:
    """What one accelerator can be had for: bought [USD] and rented [USD/h], and how old the rent is."""

    chip_usd: float
    rent_usd_per_hour: float
    as_of: str


def offer(accelerator_name: str, chip_usd: float | None = None, rent_usd_per_hour: float | None = None) -> Offer:
    """Price and rent of a chip from the tables, or as given; a given rent is checked against the listings.

    Raises
    ------
    DataError : the tables lack what was not given; names the parameter to give.

    >>> offer("RTX 5090", rent_usd_per_hour=0.7).rent_usd_per_hour
    0.7
    """
    chip, listed = accelerator(accelerator_name), recent_rental_price(accelerator_name)
    if chip_usd is None and not chip.purchase_usd:
        raise DataError(f"the catalog has no purchase price of {chip.name}: give chip_usd [USD]")
    if rent_usd_per_hour is None and listed is None:
        raise DataError(f"no recent listing of {chip.name} in the rental prices: give rent_usd_per_hour [USD/h]")
    rent = listed.median if rent_usd_per_hour is None else check_rent(rent_usd_per_hour, chip.name)
    return Offer(chip.purchase_mid_usd if chip_usd is None else chip_usd, rent, listing_age(chip.name))


def listing_age(accelerator_name: str) -> str:
    """The date of a chip's newest listing, and how far it lies behind the table's newest, in words.

    >>> listing_age("H100 SXM")
    '2026-09-29'
    """
    listed = recent_rental_price(accelerator_name)
    if listed is None:
        return "no recent listing"
    behind = (rental_prices()["date"].max().date() - listed.as_of).days
    return f"{listed.as_of}" + (f", {behind} days behind the newest listings" if behind > resource("rental_prices")["stale_after_days"] else "")


def rent_or_buy_market() -> pd.DataFrame:
    """Chips with a recent on-demand listing, a purchase price and a power, that were released since 2020.

    What a used part of an older generation fetches says nothing about a server built around it.

    Columns: accelerator, vendor, segment, tdp_watts [W], chip_usd [USD], rent_usd_per_hour, rent_low, rent_high [USD/h], as_of.

    >>> bool((rent_or_buy_market()["chip_usd"] > 0).all())
    True
    """
    rows = []
    for chip in accelerators().values():
        listed = recent_rental_price(chip.name)
        if listed and chip.purchase_usd and chip.tdp_watts and chip.released and chip.released.year >= 2020:
            rows.append({
                "accelerator": chip.name, "vendor": chip.vendor, "segment": chip.segment, "tdp_watts": chip.tdp_watts,
                "chip_usd": chip.purchase_mid_usd, "rent_usd_per_hour": listed.median, "rent_low": listed.low,
                "rent_high": listed.high, "as_of": listing_age(chip.name),
            })  # fmt: skip
    return pd.DataFrame(rows)


def matmul_chips() -> dict[str, dict[str, float]]:
    """Chips with a BF16 peak, a bandwidth and a memory: what the roofline of a token can be drawn for.

    Keys: bf16_flops, fp8_flops (that of BF16 where the chip has no FP8) [FLOP/s], memory_bytes_per_s [B/s], memory_bytes
    [B], compute_efficiency (best measured matmul over peak; the median of the measured chips where nobody published
    one) [1].

    >>> matmul_chips()["A100 SXM 80GB"]["fp8_flops"] == matmul_chips()["A100 SXM 80GB"]["bf16_flops"]
    True
    """
    shares = {chip.name: chip.measured["bf16"] / chip.dense["bf16"] for chip in accelerators().values() if "bf16" in chip.measured}
    usual = median(shares.values())
    return {
        chip.name: {
            "bf16_flops": chip.dense["bf16"], "fp8_flops": chip.dense.get("fp8", chip.dense["bf16"]),
            "memory_bytes_per_s": chip.memory_bytes_per_s, "memory_bytes": chip.memory_bytes,
            "compute_efficiency": shares.get(chip.name, usual),
        }
        for chip in accelerators().values()
        if "bf16" in chip.dense and chip.memory_bytes_per_s and chip.memory_bytes
    }  # fmt: skip


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
