"""Grids, cloud regions, embodied carbon, footprints and energy: right where well known, and doubts
refused by name.
"""

import csv
import json
from pathlib import Path

import pytest

from refresh import carbon, energy, footprint
from refresh.rules import header
from refresh.tables import Doubtful, RefreshError, settle, sift

# the importers, on a raw folder of a few rows


def _csv(path: Path, columns, *rows: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(columns), restval="")
        writer.writeheader()
        writer.writerows(rows)


def _mix(code: str, name: str, carbon_intensity: float, total: float = 10.0) -> dict:
    named = {"iso_code": code, "country_name": name, "year": 2023}
    return named | {"carbon_intensity": carbon_intensity, "total_TWh": total, "low_carbon_TWh": 5.0}


def _place(provider: str, region: str, year: int, area: str, **cells) -> dict:
    named = {"cloud-provider": provider, "cloud-region": region, "location": region, "year": year}
    return named | {"em-zone-id": area, "cfe-region": area} | cells


_AVERAGE = "grid-carbon-intensity-average-consumption-annual"


def _write_regions(root: Path) -> None:
    google = f"{carbon.GOOGLE}/2023.csv"
    _csv(
        root / google,
        header(google),
        dict(zip(header(google), ("europe-north1", "Finland", 0.98, 46), strict=True)),
    )
    _csv(
        root / carbon.GSF,
        header(carbon.GSF),
        _place(
            "Amazon Web Services",
            "us-east-1",
            2022,
            "US-MIDA-PJM",
            **{_AVERAGE: 430, "power-usage-effectiveness": 1.16},
        ),
        _place(
            "Amazon Web Services",
            "us-east-1",
            2023,
            "US-MIDA-PJM",
            **{_AVERAGE: 430, "power-usage-effectiveness": 1.15},
        ),
        _place("Amazon Web Services", "eu-north-1", 2022, "ES", **{_AVERAGE: 174}),
        _place(
            "Google Cloud",
            "europe-north1",
            2023,
            "FI",
            **{_AVERAGE: 46, "provider-cfe-hourly": 0.97},
        ),
    )


@pytest.fixture
def raw(tmp_path):
    root = tmp_path / "raw"
    (root / carbon.GLOBAL).parent.mkdir(parents=True)
    mixes = [
        _mix("DEU", "Germany", 381.0),
        _mix("SHN", "Saint Helena", 1000.0, 0.01),
        _mix("CAF", "Central African Republic", 0.0),
    ]
    (root / carbon.GLOBAL).write_text(json.dumps({mix["iso_code"]: mix for mix in mixes}))
    states = {"_unit": {"emissions": "lbs/MWh"}, "ohio": {"emissions": 1000.0, "regionCode": "OH"}}
    (root / carbon.STATES).write_text(json.dumps(states))
    _csv(
        root / carbon.ECOLOGITS,
        header(carbon.ECOLOGITS),
        {"name": "DEU", "gwp": 0.344, "wue": 1.9},
        {"name": "WOR", "gwp": 0.473, "wue": 3.9},
    )
    _csv(
        root / carbon.YEARLY,
        header(carbon.YEARLY),
        *(
            {
                "zone_key": zone,
                "Zone Name": zone,
                "year": 2019,
                "carbon_intensity_avg": 300,
                "no_hours_with_data": hours,
            }
            for zone, hours in (("US-CAL-CISO", 8700), ("US-CA", 8700), ("JP-TK", 4000))
        ),
    )
    _write_regions(root)
    return root


def _reasons(dropped, row: str) -> str:
    return "; ".join(drop.reason for drop in dropped if row in drop.row)


def test_grids_leave_out_what_is_no_year_and_no_ratio(raw):
    found, dropped = sift(carbon.grid_rows(raw))
    kept = {(row["zone"], row["quantity"]): row["value"] for row in found}
    assert kept["US-OH", "carbon_direct"] == pytest.approx(0.453592)
    assert kept["WORLD", "water_consumption"] == 3.9
    assert ("US-CAL-CISO", "carbon_lifecycle") in kept
    assert not any(zone in ("SHN", "CAF", "US-CA", "JP-TK") for zone, _ in kept)
    assert "rounded too roughly" in _reasons(dropped, "Saint Helena")
    assert "no carbon intensity" in _reasons(dropped, "Central African")
    assert "retired key" in _reasons(dropped, "US-CA ")
    assert "4000 hours" in _reasons(dropped, "JP-TK")


def test_regions_leave_out_what_is_of_another_place_or_year(raw):
    found, dropped = sift(carbon.region_rows(raw))
    kept = {(row["region"], row["year"], row["quantity"]): row["value"] for row in found}
    assert kept["us-east-1", 2022, "carbon_average"] == 0.43
    assert kept["us-east-1", 2023, "pue"] == 1.15
    assert kept["europe-north1", 2023, "carbon_average"] == 0.046
    assert ("us-east-1", 2023, "carbon_average") not in kept
    assert "carried over" in _reasons(dropped, "us-east-1 2023 (gsf2025) carbon_average")
    assert "outside the region's country SWE" in _reasons(dropped, "eu-north-1")
    assert "Google's own figure" in _reasons(dropped, "carbon_average")
    assert "own list" in _reasons(dropped, "carbon_free_share")


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


GSF, ECOLOGITS, YEARLY = carbon.GSF, carbon.ECOLOGITS, carbon.YEARLY
DOUBTED = {
    "unknown_region": [
        (GSF, "eu-north-1", "eu-nowhere-1", "AWS eu-nowhere-1 2022 .*unknown region"),
        (GSF, "US-MIDA-PJM", "XX", "AWS us-east-1 2022 .gsf2025.: .*unknown grid zone 'XX'"),
    ],
    "unknown_zone": [
        (ECOLOGITS, "DEU", "DDR", "DDR 2024 .ecologits2026.: .*unknown grid 'DDR'"),
        (YEARLY, "US-CAL-CISO", "XX-1", "XX-1 2019 .mlco2impact2021.: .*unknown grid zone 'XX-1'"),
    ],
    "implausible": [
        (GSF, "1.16", "0.16", "AWS us-east-1 2022 .gsf2025.: pue of 0.16 1 is not in 1..3"),
        (ECOLOGITS, "0.344", "344", "Germany 2024 .*: carbon_lifecycle of 344 kg/kWh"),
    ],
}


@pytest.mark.parametrize("flag, change", [(flag, row) for flag in DOUBTED for row in DOUBTED[flag]])
def test_a_row_in_doubt_is_refused_by_name_and_kept_flagged_if_asked(raw, flag, change):
    file, old, new, message = change
    importer = carbon.region_rows if file == GSF else carbon.grid_rows
    _replace(raw / file, old, new)
    with pytest.raises(RefreshError, match=message):
        settle(importer(raw))
    items, doubted = settle(importer(raw), allow_flagged=True)
    assert doubted
    assert all(isinstance(doubt, Doubtful) and doubt.row["flags"] == flag for doubt in doubted)
    assert sum(row["flags"] == flag for row in sift(items)[0]) == len(doubted)


@pytest.mark.parametrize(
    "file, old, new, message",
    [
        (
            carbon.GSF,
            "power-usage-effectiveness",
            "pue",
            "unknown column 'pue', missing column 'power-usage-effectiveness'",
        ),
        (carbon.GSF, "Amazon Web Services", "Nimbus", "unknown provider 'Nimbus'"),
        (carbon.STATES, "lbs/MWh", "kg/MWh", "unit 'kg/MWh'; allowed: lbs/MWh"),
        (carbon.GLOBAL, "{", "{{", "not valid JSON"),
    ],
)
def test_raw_material_that_changed_its_form_is_refused(raw, file, old, new, message):
    _replace(raw / file, old, new)
    with pytest.raises(RefreshError, match=message):
        settle([*carbon.grid_rows(raw), *carbon.region_rows(raw)], allow_flagged=True)


def test_a_year_without_known_columns_is_refused(raw):
    (raw / carbon.GOOGLE / "2023.csv").rename(raw / carbon.GOOGLE / "2031.csv")
    with pytest.raises(RefreshError, match=r"2031.csv: a year whose columns"):
        list(carbon.region_rows(raw))


def test_a_chip_slower_than_a_lesser_one_is_flagged_by_rule_and_no_other():
    row = dict(
        task="gpqa",
        model="m",
        precision="BF16",
        accelerators=1,
        tensor_parallel=1,
        expert_parallel=1,
        data_parallel=1,
        note="",
    )
    timed = (
        (8, "H100 SXM", 0.0144),
        (8, "B200", 0.0336),
        (16, "H100 SXM", 0.015),
        (16, "B200", 0.016),
        (32, "B200", 9.0),
    )
    rows = [
        row | {"max_sequences": size, "accelerator": chip, "measured_itl_s": seconds}
        for size, chip, seconds in timed
    ]
    energy._flag(rows)
    assert [("anomaly: 2.33 times" in row["note"]) for row in rows] == [
        False,
        True,
        False,
        False,
        False,
    ]


def test_hardware_whose_product_is_wrong_is_left_out(tmp_path):
    columns = header(footprint.HARDWARE)
    _csv(
        tmp_path / footprint.HARDWARE,
        columns,
        dict(zip(columns, ("H100", "TSMC4nm", 8.14, 1.8, 14.652, 0), strict=True)),
        dict(zip(columns, ("others", "TSMC 12nm", 111.6, 1.2, 148.2, 64), strict=True)),
    )
    found, dropped = sift(footprint.embodied_rows(tmp_path))
    assert {row["component"] for row in found} == {
        "silicon, TSMC4nm",
        "die of H100",
        "silicon, TSMC 12nm",
    }
    assert "are 133.9 kg, not 148.2" in _reasons(dropped, "others")
