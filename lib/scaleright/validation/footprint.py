"""Published energy and carbon of training runs against those predicted from chips, hours, place and
year.
"""

import math
from collections.abc import Iterator
from datetime import date
from itertools import product
from typing import Any

import pandas as pd

from scaleright import catalog
from scaleright.footprint import grid, intensity_spread
from scaleright.market import cost_factor
from scaleright.power import ENDS, Draw, draw, energy_kwh
from scaleright.ranges import interval
from scaleright.units import MASSES, in_units, si
from scaleright.validation import checks
from scaleright.validation.report import Kind, Problem, each, where

QUANTITIES = {"energy": "measured_kwh", "carbon": "measured_kg_co2e"}
MOST_KG_PER_KWH = 1.5
WHY = {
    "design power": "design power x hours on both sides, an upper bound of the chips",
    "assumed": "all or part of its power is assumed",
    "not stated": "its method is not stated",
}
"""Why a row of each basis is not scored; rows of measured power are."""


def _watts(row: dict[str, Any], of: Draw) -> float:
    """Power of one accelerator within what the publication counts."""
    return of.chip_watts + (of.host_watts if row["power_scope"] == "system" else 0.0)


def _prediction(row: dict[str, Any], quantity: str) -> tuple[dict[str, float], str]:
    """Predicted, low, high and baseline of a quantity, and why there is none if so."""
    if (boundary := row["boundary" if quantity == "energy" else "carbon_boundary"]) == "life cycle":
        return {}, "counts the making of the machines as well"
    factor, world, spread = 1.0, 1.0, (1.0, 1.0)
    if quantity == "carbon":
        if row["method"] == "market":
            return {}, "net of contracts, which no grid determines"
        if pd.isna(row["zone"]):
            return {}, "states no place"
        year = None if pd.isna(row["year"]) else int(row["year"])
        factor, world = (grid(zone, year).kg_co2e_per_kwh for zone in (row["zone"], "WORLD"))
        spread = intensity_spread()
    low, high = (factor * ratio for ratio in spread)
    if pd.isna(row["accelerator"]) or pd.isna(row["accelerator_hours"]):
        if quantity == "energy" or pd.isna(row["measured_kwh"]):
            return {}, "states no chip-hours"
        inside = row["boundary"] == boundary or pd.isna(row["pue"])
        kwh = row["measured_kwh"] * (1.0 if inside else row["pue"])
        found = {"predicted": factor, "low": low, "high": high, "baseline": world}
        why = "from its own energy: checks the grid alone"
        return {name: kwh * intensity for name, intensity in found.items()}, why
    chip, hours = row["accelerator"], float(row["accelerator_hours"])
    tdp = catalog.accelerator(chip).require("tdp_watts")
    usual = cost_factor("pue", "data center")
    stated = 1.0 if boundary == "accelerator" else row["pue"]
    uncertain: dict[str, Any] = {
        "watts": (
            (tdp,) * 3
            if row["basis"] == "design power"
            else tuple(_watts(row, draw(chip, "training", end=end)) for end in ENDS)
        ),
        "pue": (usual.low, usual.best, usual.high) if pd.isna(stated) else (stated,) * 3,
        "intensity": (low, factor, high),
    }

    def total(watts: float, pue: float, intensity: float) -> float:
        return energy_kwh(hours, watts, pue) * intensity

    found = dict(zip(("low", "high"), map(float, interval(total, **uncertain)), strict=True))
    found["predicted"] = total(*(ends[1] for ends in uncertain.values()))
    return found | {"baseline": energy_kwh(hours, tdp) * world}, ""


def _checked(row: dict[str, Any]) -> None:
    """Refuse a run of which something cannot be predicted that its row states enough for."""
    for quantity, column in QUANTITIES.items():
        if not pd.isna(row[column]):
            _prediction(row, quantity)


def _named(rows: pd.DataFrame) -> Iterator[Problem]:
    """Machines, grids and years that nobody knows, and rows that state nothing."""
    yield from checks.implausible(rows)
    yield from checks.known_chips(rows)
    zones, today = rows[rows["zone"].notna()], date.today().year
    yield from each(zones, ("zone",), lambda row: grid(row["zone"]), "zone")
    late = lambda row: f"{row.year} lies ahead; nearest: {today}"
    yield from where(rows, rows["year"] > today, "year", late)
    stated = [checks.floats(rows, name) for name in (*QUANTITIES.values(), "measured_liters")]
    nothing = pd.concat(stated, axis=1).isna().all(axis=1)
    yield from where(
        rows, nothing, "", lambda _: "states neither measured_kwh nor measured_kg_co2e"
    )


def _exaggerated(rows: pd.DataFrame) -> Iterator[Problem]:
    """Energy that no such machines draw, and carbon that no grid emits."""
    hours, kwh = (checks.floats(rows, name) for name in ("accelerator_hours", "measured_kwh"))
    most = checks.OVER_DESIGN_POWER["facility"] * checks.design_watts(rows) / 1e3
    yield from where(
        rows,
        kwh > most * hours,
        "measured_kwh",
        lambda row: (
            f"{row.measured_kwh:g} kWh is more than {row.accelerator} can draw in"
            f" {row.accelerator_hours:g} h, {most[row.Index] * row.accelerator_hours:,.0f} kWh"
        ),
    )
    ratio = checks.floats(rows, "measured_kg_co2e") / kwh
    yield from where(
        rows,
        (ratio > MOST_KG_PER_KWH) & (rows["carbon_boundary"] != "life cycle"),
        "measured_kg_co2e",
        lambda row: (
            f"is {ratio[row.Index]:.3g} kg for each measured_kwh; no grid emits above"
            f" {MOST_KG_PER_KWH} kg/kWh"
        ),
    )


def _judge(rows: pd.DataFrame, label: str) -> pd.DataFrame:
    judged = []
    for row, (quantity, column) in product(rows.to_dict("records"), QUANTITIES.items()):
        if pd.isna(published := row[column]):
            continue
        found, why = _prediction(row, quantity)
        found = dict.fromkeys(("predicted", "low", "high", "baseline"), math.nan) | found
        of = {name: row[name] for name in ("run", "model", "accelerator")}
        of |= {"quantity": quantity, "published": published} | found
        judged.append(
            of
            | {
                "error_percent": 100 * (found["predicted"] / published - 1),
                "baseline_error_percent": 100 * (found["baseline"] / published - 1),
                "within_range": found["low"] <= published <= found["high"],
                "scored": not why and row["basis"] == "measured",
                "why": why or WHY.get(row["basis"], ""),
                "source": row["source"],
                "note": row["note"],
            }
        )
    return pd.DataFrame(judged)


def _say(value: float, quantity: str) -> str:
    if math.isnan(value):
        return "not predicted"
    return si(1e3 * value, "Wh") if quantity == "energy" else in_units(value, MASSES)


def scored_energies(rows: pd.DataFrame) -> pd.DataFrame:
    """Those judged rows that are scored energies, published and predicted in MWh."""
    found = rows[rows["scored"] & (rows["quantity"] == "energy")]
    return found.assign(**{name: found[name] / 1000 for name in ("published", "predicted")})


def design_power(rows: pd.DataFrame) -> pd.DataFrame:
    """Those judged rows whose publication multiplied design power by hours."""
    return rows[(rows["why"] == WHY["design power"]) & rows["predicted"].notna()]


def in_words(rows: pd.DataFrame) -> pd.DataFrame:
    """Published and predicted figures of judged rows in words, with their error [%]."""
    said = {
        name: [
            _say(value, quantity)
            for value, quantity in zip(rows[name], rows["quantity"], strict=True)
        ]
        for name in ("published", "predicted")
    }
    rows = rows.rename(columns={"error_percent": "error"}).assign(**said)
    return rows[["run", "quantity", "published", "predicted", "error"]]


KIND = Kind(
    table="measured/footprint",
    required=("run", "accelerator", "accelerator_hours"),
    # the meter covered the machines and the building, and power was measured
    fill={
        "model": None,
        "activity": "training",
        "basis": "measured",
        "power_scope": "system",
        "boundary": "facility",
        "carbon_boundary": "facility",
        "method": "location",
    },
    check=checks.staged(_named, checks.of_each_run(_checked), _exaggerated),
    judge=_judge,
    columns={"run": 41, "quantity": 7},
    figure=lambda row, value: _say(value, row.quantity),
    shows="published, predicted",
    group="accelerator",
    baseline="design power x hours, x the world's mean carbon",
    rule=(
        "predicted are chip-hours as published x our watts (a published share of what the server"
        " draws at most, for TPUs the mean draw and the host that Google measured, never the row's"
        " own) x PUE as published x our carbon intensity of the zone and year; a row is scored if"
        " it states chip-hours and its power was measured, its carbon if it is that of the place;"
        " rows that multiply a design or assumed power are shown as a check of their arithmetic"
    ),
    caveat=(
        "Meta's figures for Llama are design power x hours: an upper bound for the chips, which"
        " leaves out their hosts; the host of a TPU is measured for the first generation alone; the"
        " range covers power, PUE where it is not published and how far sources of carbon intensity"
        " lie apart, not that some count the life cycle and some the stack alone"
    ),
)
