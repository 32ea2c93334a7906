"""Grids and cloud regions: carbon, water and carbon-free share of electricity, from public lists.

What the sources mean by carbon differs, and a row says which it is: `lifecycle` (fuel supply and
building of plants counted) or `direct` (what leaves the stack). Marginal intensities, of the plant
that answers one more kWh, are another quantity and stay apart.

Not read: codecarbon's list of cloud regions (Google's figures of 2023 again), its intensities by
source (743 g/kWh for gas is no life-cycle figure; `generation` holds cited ones) and its mix of
1980 to 2020 (older than its per-country intensities); mlco2's list of regions (methods of 2014 to
2019 mixed, one of them a single hour); Boavizta's mix (2011); Azure's table of eight regions (no
year).
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from refresh.rules import header, quantities, read_csv, rule
from refresh.tables import Doubtful, Dropped, Items, RefreshError, Row, read_json, to_float

GRID_SOURCES = frozenset({"codecarbon2024", "ecologits2026", "mlco2impact2021"})
REGION_SOURCES = frozenset({"googleregions2025", "gsf2025"})
GLOBAL = "carbon/codecarbon/global_energy_mix.json"
STATES = "carbon/codecarbon/usa_emissions_2016.json"
ECOLOGITS = "carbon/ecologits/electricity_mixes.csv"
YEARLY = "carbon/mlco2_impact/2021-10-27yearly_averages.csv"
GOOGLE = "carbon/google_region_carbon"
GSF = "carbon/gsf_real_time_cloud/Cloud_Region_Metadata.csv"
REGIONS = "carbon/cloud regions"
"""Where `rules.csv` keeps the regions and grid zones that all lists share."""
_KG_PER_LB, _MWH_PER_KWH = 0.45359237, 1e-3
_ECOLOGITS_YEAR = 2024
_VINTAGE = "as published in 2024; later editions revise it by some percent"
_LEAST_TWH = 0.1
"""Generation is rounded to hundredths of a TWh: below this a ratio of it means nothing."""
_LEAST_HOURS = 8000
"""An average over fewer hours of the 8,760 is not one of the year."""
_QUANTITIES = {
    **dict.fromkeys(
        ("carbon_lifecycle", "carbon_direct", "carbon_average", "carbon_marginal"),
        ("kg/kWh", 0.0, 1.5),
    ),
    **dict.fromkeys(
        ("low_carbon_share", "carbon_free_share", "carbon_free_share_annual"), ("1", 0.0, 1.0)
    ),
    "water_consumption": ("L/kWh", 0.0, 20.0),
    "wue_site": ("L/kWh", 0.0, 10.0),
    "pue": ("1", 1.0, 3.0),
}
"""Unit of each quantity, and the least and most that is plausible."""
_GOOGLE = "Google Cloud"


def _json(raw: Path, file: str) -> dict:
    return read_json(raw / file)


def _ours(file: str, what: str, name: str) -> tuple[str | None, str]:
    """Our name for one of a raw file, or None with what is wrong."""
    try:
        return rule(file, what, name).ours, ""
    except RefreshError as error:
        return None, str(error)


def _judged(row: Row, where: str, **doubts: str) -> Row | Doubtful:
    """The row, its value to six digits; doubtful for each of `doubts` (flag: reason) and for a
    value that cannot be.
    """
    unit, least, most = _QUANTITIES[row["quantity"]]
    row |= {"value": float(f"{row['value']:.6g}"), "unit": unit}
    if not least <= row["value"] <= most:
        doubts["implausible"] = (
            f"{row['quantity']} of {row['value']:g} {unit} is not in {least:g}..{most:g}"
        )
    reasons = {flag: reason for flag, reason in doubts.items() if reason}
    row["flags"] = ";".join(reasons)
    return Doubtful(row, where, "; ".join(reasons.values())) if reasons else row


def _grid(
    zone: str,
    name: str,
    year: int,
    quantity: str,
    value: float,
    source: str,
    note: str = "",
    **doubts: str,
) -> Row | Doubtful:
    row = {
        "zone": zone,
        "zone_name": name,
        "year": year,
        "quantity": quantity,
        "value": value,
        "source": source,
        "note": note,
    }
    return _judged(row, f"{name} {year} ({source})", **doubts)


def grid_rows(raw: Path) -> Items:
    """Rows of `grids`: countries by ISO 3166-1 alpha-3 code, US states by ISO 3166-2, balancing
    areas by Electricity Maps' key.
    """
    countries = _json(raw, GLOBAL)
    yield from _countries(countries)
    yield from _ecologits(
        raw, {code: mix["country_name"] for code, mix in countries.items()} | {"WOR": "World"}
    )
    yield from _states(_json(raw, STATES))
    yield from _zones(raw)


def _countries(countries: dict) -> Items:
    """Intensity and low-carbon share of each country's latest year, as Our World in Data has them
    from Ember.
    """
    for code, mix in countries.items():
        label = f"{mix['country_name']} {mix['year']} (codecarbon2024)"
        if mix["iso_code"] != code:
            raise RefreshError(
                f"{GLOBAL}: {label} is listed under {code!r} and says {mix['iso_code']!r}"
            )
        if mix["total_TWh"] < _LEAST_TWH:
            yield Dropped(
                label, f"{mix['total_TWh']:.2g} TWh a year: rounded too roughly for a ratio"
            )
        elif not mix["carbon_intensity"]:
            yield Dropped(label, "no carbon intensity")
        else:
            where = code, mix["country_name"], mix["year"]
            yield _grid(
                *where,
                "carbon_lifecycle",
                mix["carbon_intensity"] / 1e3,
                "codecarbon2024",
                _VINTAGE,
            )
            yield _grid(
                *where,
                "low_carbon_share",
                mix["low_carbon_TWh"] / mix["total_TWh"],
                "codecarbon2024",
            )


def _ecologits(raw: Path, names: dict[str, str]) -> Items:
    """Intensity and water of power plants by country."""
    for row in read_csv(raw, ECOLOGITS):
        code = row["name"]
        unknown = (
            ""
            if code in names
            else f"{ECOLOGITS}: unknown grid {code!r}; known: the countries of {GLOBAL}, and WOR"
        )
        for quantity, value, note in quantities(row, ECOLOGITS, code):
            zone, name = "WORLD" if code == "WOR" else code, names.get(code, code)
            yield _grid(
                zone,
                name,
                _ECOLOGITS_YEAR,
                quantity,
                value,
                "ecologits2026",
                note,
                unknown_zone=unknown,
            )


def _states(states: dict) -> Items:
    """Output emission rates of the US states, CO2 alone."""
    unit = states.pop("_unit", {}).get("emissions")
    if unit != "lbs/MWh":
        raise RefreshError(f"{STATES}: unit {unit!r}; allowed: lbs/MWh")
    for name, state in states.items():
        value = state["emissions"] * _KG_PER_LB * _MWH_PER_KWH
        where = f"US-{state['regionCode']}", name.title(), 2016
        yield _grid(
            *where,
            "carbon_direct",
            value,
            "codecarbon2024",
            "eGRID, CO2 of generation in the state",
        )


def _zones(raw: Path) -> Items:
    """Yearly averages of balancing areas from Electricity Maps."""
    for row in read_csv(raw, YEARLY):
        label = f"{row['zone_key']} {row['year']} (mlco2impact2021)"
        zone, unknown = _ours(YEARLY, "grid zone", row["zone_key"])
        hours = to_float(row["no_hours_with_data"], YEARLY, label, "no_hours_with_data") or 0
        value = to_float(row["carbon_intensity_avg"], YEARLY, label, "carbon_intensity_avg")
        if zone == "":
            yield Dropped(label, rule(YEARLY, "grid zone", row["zone_key"]).reason)
        elif value is None or hours < _LEAST_HOURS:
            yield Dropped(label, f"{hours:.0f} hours with data are not a year")
        else:
            where = (zone or "*").replace("*", row["zone_key"]), row["Zone Name"], int(row["year"])
            yield _grid(
                *where, "carbon_lifecycle", value / 1e3, "mlco2impact2021", unknown_zone=unknown
            )


# cloud regions


def region_rows(raw: Path) -> Items:
    """Rows of `cloud_regions`: Google's own list first, then that of the Green Software Foundation
    for all three providers.
    """
    own = list(_google(raw))
    yield from own
    rows = [item.row if isinstance(item, Doubtful) else item for item in own]
    yield from _gsf(
        raw,
        {
            (row["region"], row["year"]): row["value"]
            for row in rows
            if row["quantity"] == "carbon_average"
        },
    )


def _known(provider: str, name: str) -> tuple[str, str, str]:
    """Our name of a region, its country, and what is wrong with it: an unknown one keeps its name
    and has no country.
    """
    ours, unknown = _ours(REGIONS, "region", f"{provider}/{name}")
    region, _, country = (ours or name).partition(";")
    return region, country, unknown


def _region(
    provider: str, known: tuple, found: tuple, location: str, year: int, source: str, note: str = ""
) -> Row | Doubtful:
    """A row of a region as `_known` gives it, with a quantity, its value and its method."""
    (name, zone, unknown), (quantity, value, method) = known, found
    row = {
        "provider": provider,
        "region": name,
        "location": location,
        "zone": zone,
        "year": year,
        "quantity": quantity,
        "method": method,
        "value": value,
        "source": source,
        "note": note,
    }
    return _judged(row, f"{provider} {name} {year} ({source})", unknown_region=unknown)


def _google(raw: Path) -> Items:
    folder = raw / GOOGLE
    files = sorted(path.name for path in folder.glob("*.csv"))
    if not files:
        raise RefreshError(f"no yearly lists in {GOOGLE}")
    for stem in files:
        file = f"{GOOGLE}/{stem}"
        if not header(file):
            raise RefreshError(f"{file}: a year whose columns refresh/columns.csv does not know")
        for row in read_csv(raw, file):
            known = _known(_GOOGLE, row["Google Cloud Region"])
            for found in quantities(row, file, f"{known[0]} {stem[:4]}"):
                yield _region(
                    _GOOGLE, known, found, row["Location"], int(stem[:4]), "googleregions2025"
                )


def _gsf(raw: Path, own: dict[tuple[str, int], float]) -> Items:
    """The foundation's table without rows of another place, figures that it carries over from the
    year before, and Google's own.
    """
    figures = []
    for row in read_csv(raw, GSF):
        label = f"{row['cloud-provider']} {row['cloud-region']} {row['year']} (gsf2025)"
        provider = rule(REGIONS, "provider", row["cloud-provider"]).ours
        name, zone, unknown = _known(provider, row["cloud-region"])
        area, (country, strange) = row["em-zone-id"], _ours(REGIONS, "grid zone", row["em-zone-id"])
        if area and not (unknown or strange) and country != zone:
            yield Dropped(
                label,
                f"its grid zone {area} ({row['cfe-region']}) lies outside the region's country"
                f" {zone}",
            )
            continue
        known = (
            name,
            zone or country or "",
            "; ".join(filter(None, [unknown, strange if area else ""])),
        )
        figures += [(provider, known, row, label, found) for found in quantities(row, GSF, label)]
    seen: dict[tuple, dict[str, float]] = defaultdict(
        dict
    )  # by provider, year and quantity: region -> value
    for provider, known, row, _, (quantity, value, _) in figures:
        seen[provider, int(row["year"]), quantity][known[0]] = value
    for provider, known, row, label, found in figures:
        (name, *_), (quantity, value, _), year = known, found, int(row["year"])
        now, before = seen[provider, year, quantity], seen.get((provider, year - 1, quantity), {})
        both = [now[region] == before[region] for region in now if region in before]
        if provider == _GOOGLE and quantity.startswith("carbon_free"):
            yield Dropped(
                f"{label} {quantity}",
                "Google's own list is the source; here 2024 holds the figures of 2023",
            )
        elif (
            provider == _GOOGLE
            and quantity == "carbon_average"
            and own.get((name, year)) == float(f"{value:.6g}")
        ):
            yield Dropped(
                f"{label} {quantity}",
                "Google's own figure, which is direct, in the column of life-cycle ones",
            )
        elif (
            before.get(name) == value
            and (all(both) or quantity.startswith("carbon_"))
            and not quantity.startswith("carbon_free")
        ):
            yield Dropped(
                f"{label} {quantity}",
                f"repeats {year - 1} to the digit: carried over, not measured",
            )
        else:
            same = quantity == "wue_site" and len(now) > 1 and len(set(now.values())) == 1
            note = "the company's average, given for every region" if same else ""
            yield _region(provider, known, found, row["location"], year, "gsf2025", note)
