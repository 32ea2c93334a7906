"""Published footprints of training runs, and what making hardware emits, from the raw public
tables.

Most rows of both tables were entered by hand from their publications and win; what a raw table
repeats of them is reported with whether it agrees. Boavizta's figures are AGPL and go into a table
of their own.
"""

from __future__ import annotations

from pathlib import Path

from refresh.rules import quantities, read_csv, rule
from refresh.tables import Dropped, Items, to_float

SOURCES = frozenset({"metallama2025", "mlcarbon2023"})
EMBODIED_SOURCES = frozenset({"mlcarbon2023"})
BOAVIZTA_SOURCES = frozenset({"boavizta2025"})
META = "carbon/meta_llama_training_emissions.csv"
TRAINING = "carbon/mlcarbon_training_database.csv"
HARDWARE = "carbon/mlcarbon_embodied_hardware.csv"
GPUS = "carbon/boavizta/crowdsourcing_gpu_specs.csv"
STORAGE = {
    "SSD": "carbon/boavizta/crowdsourcing_ssd_manufacture.csv",
    "DRAM": "carbon/boavizta/crowdsourcing_ram_manufacture.csv",
}
_HOURS_PER_DAY = 24
_SIZE = ("unit (cm2 or GB)", "CPA (kgCO2/cm2 or GB)", "CO2e_chip (kgCO2eq)")
_ROUNDING = 0.01
"""How far a product may differ from the figure printed for it."""


def footprint_rows(raw: Path) -> Items:
    """Rows of `measured/footprint`: Meta's model cards and MLCarbon's training database."""
    for row in read_csv(raw, META):
        run = f"meta/{row['model']}"
        action, model, reason = rule(META, "model", row["model"])
        if action == "drop":
            yield Dropped(run, reason)
            continue
        zone, year = rule(META, "zone;year", row["model"]).ours.split(";")
        yield {
            "run": run,
            "model": model,
            "activity": "training",
            "per": "run",
            "accelerator": rule(META, "accelerator", row["gpu"]).ours,
            "basis": "design power",
            "power_scope": "accelerator",
            "zone": zone,
            "year": year,
            "method": "location",
            "boundary": "facility",
            "carbon_boundary": "facility",
            "source": "metallama2025",
            "note": (
                "model card: design power times hours, adjusted for PUE; neither its value nor the"
                " intensity is printed"
            ),
        } | {quantity: value for quantity, value, _ in quantities(row, META, run)}
    for row in read_csv(raw, TRAINING):
        run, model = rule(TRAINING, "run", row["name"]).ours.split(";")
        zone, year = rule(TRAINING, "zone;year", row["name"]).ours.split(";")
        chips, days = (
            to_float(row[column], TRAINING, run, column) for column in ("device #", "training days")
        )
        yield {
            "run": run,
            "model": model,
            "activity": "training",
            "per": "run",
            "accelerator": rule(TRAINING, "accelerator", row["computing device"]).ours,
            "accelerators": int(chips),
            "accelerator_hours": round(chips * days * _HOURS_PER_DAY, 1),
            "basis": "measured",
            "power_scope": "system",
            "zone": zone,
            "year": year,
            "method": "location",
            "boundary": "facility",
            "carbon_boundary": "facility",
            "source": "mlcarbon2023",
            "note": "power of the whole system by accelerator; place not stated",
        } | {quantity: value for quantity, value, _ in quantities(row, TRAINING, run)}


def embodied_rows(raw: Path) -> Items:
    """Rows of `embodied`: carbon of silicon by area and of memory by capacity, and of single dies
    where the product is right.
    """
    for row in read_csv(raw, HARDWARE):
        name, process = row["hardware"], row["description"]
        label = f"{name} {process} (mlcarbon2023)"
        size, factor, whole = (to_float(row[column], HARDWARE, label, column) for column in _SIZE)
        unit = rule(HARDWARE, "unit", name).ours
        kind, part = ("memory", name) if unit == "GB" else ("die", "silicon")
        yield _embodied(f"{part}, {process}", kind, "", factor, unit, "")
        if abs(size * factor - whole) > _ROUNDING * whole:
            yield Dropped(
                f"{label} as a piece",
                f"{size:g} {unit} at {factor:g} are {size * factor:.4g} kg, not {whole:g}",
            )
        elif unit == "GB":
            yield Dropped(
                f"{label} as a piece", "the memory of one server, whose size is an example"
            )
        else:
            chip = rule(HARDWARE, "accelerator", name).ours
            yield _embodied(
                f"die of {name}",
                kind,
                chip,
                whole,
                "piece",
                f"{size:g} cm2 of silicon alone: no memory, package or board",
            )


def _embodied(component: str, kind: str, chip: str, value: float, unit: str, note: str) -> dict:
    return {
        "component": component,
        "kind": kind,
        "accelerator": chip,
        **dict.fromkeys(("low_kg_co2e", "typical_kg_co2e", "high_kg_co2e"), value),
        "unit": unit,
        "boundary": "memory chips" if unit == "GB" else "wafer",
        "source": "mlcarbon2023",
        "note": note,
    }


def boavizta_rows(raw: Path) -> Items:
    """Rows of `embodied_boavizta`: areas and masses of cards, and gigabytes on a square centimeter
    of flash and DRAM.
    """
    for row in read_csv(raw, GPUS):
        for quantity, value, note in quantities(row, GPUS, row["name"]):
            yield _boavizta(row["name"], quantity, "", value, note)
    for kind, file in STORAGE.items():
        seen: set[tuple] = set()
        for row in read_csv(raw, file):
            variant = ", ".join(
                filter(
                    None,
                    (
                        row["manufacturer"],
                        *(f"{row[c]} {words}" for c, words in _VARIANT[kind] if row[c]),
                    ),
                )
            )
            (_, value, note), *_ = quantities(row, file, variant)
            if (variant, value) in seen:
                yield Dropped(f"{kind} {variant} (boavizta2025)", "given twice")
            elif any(variant == other for other, _ in seen):
                yield Dropped(
                    f"{kind} {variant} {value:g} (boavizta2025)",
                    "a second figure for the same process, not told apart",
                )
            else:
                seen.add((variant, value))
                yield _boavizta(kind, "gb_per_cm2", variant, value, note)


_VARIANT = {
    "SSD": (("layers", "layers"), ("bits/cell", "bits a cell"), ("Année", "of the year")),
    "DRAM": (("process", "nm"),),
}
_UNITS = {
    "die_cm2": "cm2",
    "board_cm2": "cm2",
    "card_kg": "kg",
    "memory_gb": "GB",
    "gb_per_cm2": "GB/cm2",
}


def _boavizta(component: str, quantity: str, variant: str, value: float, note: str) -> dict:
    return {
        "component": component,
        "quantity": quantity,
        "variant": variant,
        "value": float(f"{value:.6g}"),
        "unit": _UNITS[quantity],
        "source": "boavizta2025",
        "note": note,
    }
