"""Where the electricity comes from: grids by zone and year, cloud regions by provider.

Carbon is location-based: what the grid of the place emits, not what certificates bought elsewhere
make of it. A figure of another year than the one asked is handed out with its own year, for the
caller to say.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from types import MappingProxyType
from typing import Any

import pandas as pd

from scaleright.catalog import DataError, remembered, shared, table
from scaleright.formulas import lookup
from scaleright.market import cost_factor
from scaleright.names import nearest, one_of
from scaleright.order import ordered
from scaleright.units import figures

BASES = ("lifecycle", "direct")
"""What a carbon intensity counts: fuel supply and plants as well, or what leaves the stack alone;
the first one known is taken.
"""


@dataclass(frozen=True)
class Figure:
    """A figure of a place, the year it is of, and the year that was asked for (None for the
    latest).
    """

    value: float
    year: int
    asked: int | None
    source: str

    def __str__(self) -> str:
        return (
            f"{self.year}"
            if self.asked in (None, self.year)
            else f"{self.year}, nearest to {self.asked}"
        )


@dataclass(frozen=True)
class Grid:
    """Electricity of a zone: carbon intensity [kg CO2e/kWh] of the basis named, and water of its
    power plants [L/kWh].

    Either may be None where no source states it; `kg_co2e_per_kwh` and `plant_liters_per_kwh` then
    refuse.
    """

    zone: str
    name: str
    basis: str | None
    carbon: Figure | None
    plant_water: Figure | None

    def _require(self, figure: Figure | None, what: str) -> float:
        if figure is None:
            raise DataError(f"no source states the {what} of {self.name}")
        return figure.value

    @property
    def kg_co2e_per_kwh(self) -> float:
        """Carbon intensity; DataError where no source states it."""
        return self._require(self.carbon, "carbon intensity")

    @property
    def plant_liters_per_kwh(self) -> float:
        """Water that its power plants consume; DataError where no source states it."""
        return self._require(self.plant_water, "water of the power plants")

    def __str__(self) -> str:
        return f"{1e3 * self.kg_co2e_per_kwh:.0f} g/kWh ({self.basis}, {self.carbon})"


@dataclass(frozen=True)
class Region(Grid):
    """A cloud region: `Grid` of its place, with what its provider states; None where it states
    nothing.

    pue : power usage effectiveness [1]
    site_water : water usage effectiveness, WUE [L/kWh of the machines]
    carbon_free_share : share of its electricity, hour by hour, with the provider's contracts [1]
    marginal : carbon of the plant that answers one more kWh, direct [kg CO2e/kWh]
    """

    provider: str
    region: str
    pue: Figure | None
    site_water: Figure | None
    carbon_free_share: Figure | None
    marginal: Figure | None


@shared
def _known(name: str) -> tuple[Mapping, Mapping]:
    """A table by place: what the place is called and its zone, and its figures by quantity as
    (year, value, source), the oldest first.
    """
    rows, called, figures = table(name).sort_values("year", kind="stable"), {}, {}
    clouds = name == "cloud_regions"
    for row in rows.to_dict("records"):
        key = (row["provider"], row["region"]) if clouds else row["zone"]
        quantity = (
            f"carbon_{row['method']}" if row["quantity"] == "carbon_average" else row["quantity"]
        )
        called[key] = (row["location" if clouds else "zone_name"], row["zone"])
        figures.setdefault(key, {}).setdefault(quantity, []).append(
            (int(row["year"]), float(row["value"]), row["source"])
        )
    return MappingProxyType(called), MappingProxyType(figures)


def _figure(known: Mapping, quantity: str, year: int | None) -> Figure | None:
    """A quantity in the year asked, else the latest before it, else the earliest; the latest of all
    if none is asked.
    """
    if not (found := known.get(quantity)):
        return None
    when, value, source = next(
        (entry for entry in reversed(found) if year is None or entry[0] <= year), found[0]
    )
    return Figure(value, when, year, source)


def _carbon(known: Mapping, year: int | None) -> tuple[str | None, Figure | None]:
    return next(
        ((basis, figure) for basis in BASES if (figure := _figure(known, f"carbon_{basis}", year))),
        (None, None),
    )


@lookup
@remembered
def grid(zone: str, year: int | None = None) -> Grid:
    """The electricity of a zone, by its code (ISO 3166, WORLD) or its name.

    Parameters
    ----------
    zone : "USA", "United States", "US-CA", "WORLD" ...
    year : the year asked; where a figure lacks it the nearest earlier one is taken, else the
        earliest

    Raises
    ------
    LookupError : unknown zone; the nearest names are offered.

    >>> grid("France").zone, grid("fra").basis, grid("FRA").kg_co2e_per_kwh < 0.1
    ('FRA', 'lifecycle', True)
    """
    called, figures = _known("grids")
    codes: list[str] = sorted(
        called, key=len, reverse=True
    )  # Georgia is the country, not the state
    spoken = {called[code][0].casefold(): code for code in codes} | {
        code.casefold(): code for code in codes
    }
    key = spoken.get(str(zone).strip().casefold()) or nearest(
        zone, [*(words for words, _ in called.values()), *called], "grid"
    )
    return Grid(
        key,
        called[key][0],
        *_carbon(figures[key], year),
        _figure(figures[key], "water_consumption", year),
    )


@lookup
@remembered
def region(provider: str, region: str, year: int | None = None) -> Region:
    """A cloud region with the grid of its place; the country's where nobody states that of the
    region over its life cycle.

    Parameters
    ----------
    provider : "AWS", "Google Cloud" or "Microsoft Azure"
    region : the provider's key, as "us-east-1"
    year : as in `grid`

    Raises
    ------
    LookupError : unknown provider, or a region that it does not have; the nearest names are
        offered.

    >>> region("AWS", "us-east-1").pue.value > 1
    True
    """
    called, figures = _known("cloud_regions")
    if (key := (provider, region)) not in called:
        one_of(provider, sorted({of for of, _ in called}), "cloud provider")
        nearest(region, [name for of, name in called if of == provider], f"region of {provider}")
    location, zone = called[key]
    country, (basis, carbon) = grid(zone, year), _carbon(figures[key], year)
    if country.basis == BASES[0] != basis:  # so that regions can be compared
        basis, carbon = country.basis, country.carbon
    rest = (
        _figure(figures[key], quantity, year)
        for quantity in ("pue", "wue_site", "carbon_free_share", "carbon_marginal")
    )
    return Region(zone, location, basis, carbon, country.plant_water, provider, region, *rest)


@dataclass(frozen=True)
class Place:
    """What a footprint takes from where the machines stand; numbers, arrays or quantities.

    pue : power usage effectiveness [1]
    kg_co2e_per_kwh : carbon intensity of the grid [kg CO2e/kWh]
    site_liters_per_kwh : water evaporated on site, per kWh of the machines [L/kWh]
    plant_liters_per_kwh : water of the power plants, per kWh of all [L/kWh]
    """

    pue: Any
    kg_co2e_per_kwh: Any
    site_liters_per_kwh: Any
    plant_liters_per_kwh: Any


@lookup
def locate(name: str, year: int | None = None) -> Grid:
    """The grid ("France", "US-CA") or the cloud region ("AWS us-east-1") of a name; raises as
    `grid` and `region`.

    >>> locate("AWS us-east-1") == region("AWS", "us-east-1", None), locate("France") == grid(
    ...     "France")
    (True, True)
    """
    provider = next(
        (
            of
            for of, _ in _known("cloud_regions")[0]
            if name.casefold().startswith(f"{of.casefold()} ")
        ),
        None,
    )
    return (
        grid(name, year)
        if provider is None
        else region(provider, name[len(provider) :].strip(), year)
    )


@lookup
@remembered
def place(name: str, year: int | None = None) -> Place:
    """The usual figures of a grid or of a cloud region by its name, see `locate`.

    What a place does not state is that of others: PUE the typical one of `cost_factors`, water on
    site the median of the cloud regions.

    Raises
    ------
    LookupError : unknown grid, provider or region; the nearest names are offered.
    DataError : no source states the carbon or the water of its electricity.

    >>> place("France").pue == cost_factor("pue", "data center").best, place(
    ...     "AWS us-east-1").pue < 1.2
    (True, True)
    """
    of = locate(name, year)
    pue, site = getattr(of, "pue", None), getattr(of, "site_water", None)
    stated = [
        water.value
        for figures in _known("cloud_regions")[1].values()
        if (water := _figure(figures, "wue_site", None))
    ]
    return Place(
        pue=cost_factor("pue", "data center").best if pue is None else pue.value,
        kg_co2e_per_kwh=of.kg_co2e_per_kwh,
        site_liters_per_kwh=median(stated) if site is None else site.value,
        plant_liters_per_kwh=of.plant_liters_per_kwh,
    )


@lookup
def usual(names: Iterable[str]) -> dict[str, dict[str, float]]:
    """The figures of each place as a reader states them, carbon in grams: a table to choose from.

    >>> list(usual(["France"])["France"])
    ['pue', 'grams_per_kwh', 'site_liters_per_kwh', 'plant_liters_per_kwh']
    """
    return {name: _stated(place(name)) for name in names}


@lookup
def carbon_years(names: Iterable[str]) -> dict[str, str]:
    """The year of each place's carbon, in words: a table to choose from.

    >>> carbon_years(["France"])["France"] >= "2023"
    True
    """
    return {name: str(locate(name).carbon) for name in names}


def _stated(of: Place) -> dict[str, float]:
    """Figures of a place as `usual` names them."""
    return figures(
        {
            "pue": of.pue,
            "grams_per_kwh": 1e3 * of.kg_co2e_per_kwh,
            "site_liters_per_kwh": of.site_liters_per_kwh,
            "plant_liters_per_kwh": of.plant_liters_per_kwh,
        }
    )


@lookup
def regions() -> pd.DataFrame:
    """Every cloud region of which both carbon and water of its electricity are known, the cleanest
    first, whatever runs there.

    Columns: region (its provider's key), location, provider, name (location and provider), those of
    `usual`, liters_per_kwh (water of what reaches the machines) and marginal_ratio, the carbon of
    one more kWh over the average (missing where no source states it) [1].

    >>> bool(regions()["grams_per_kwh"].gt(0).all())
    True
    """
    rows = []
    for provider, key in sorted(_known("cloud_regions")[0]):
        found = region(provider, key)
        if found.plant_water is None:
            continue
        of, spoken = place(f"{provider} {key}"), provider.removesuffix(" Cloud").split()[-1]
        ratio = found.marginal.value / of.kg_co2e_per_kwh if found.marginal else math.nan
        rows.append(
            {"region": f"{provider} {key}", "location": found.name, "provider": spoken}
            | {"name": f"{found.name} · {spoken}"}
            | _stated(of)
            | {"liters_per_kwh": of.site_liters_per_kwh + of.pue * of.plant_liters_per_kwh}
            | {"marginal_ratio": ratio, "_grams": of.pue * of.kg_co2e_per_kwh}
        )
    return ordered(pd.DataFrame(rows), "_grams", ignore_index=True).drop(columns="_grams")


@lookup
@remembered
def intensity_spread() -> tuple[float, float]:
    """How far two sources lie apart on the life-cycle carbon of one zone [1]: nine in ten lie
    between 1 / high and high of each other.

    Which of two is right is not known, so that the range reaches as far down as up.

    >>> low, high = intensity_spread()
    >>> 0.7 < low < 1 < high < 1.5 and round(low * high, 9) == 1
    True
    """
    grids = table("grids")
    grids = grids[grids["quantity"] == "carbon_lifecycle"].sort_values("year", kind="stable")
    by_source = grids.pivot_table(index="zone", columns="source", values="value", aggfunc="last")
    ratios = (
        (by_source[one] / by_source[other]).dropna() for one, other in combinations(by_source, 2)
    )
    ratio: pd.Series = max(ratios, key=len)  # of the two sources with most zones in common
    high = float(ratio.where(ratio > 1, 1 / ratio).quantile(0.9))
    return 1 / high, high
