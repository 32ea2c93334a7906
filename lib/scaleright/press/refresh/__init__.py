"""Rebuild the committed tables from the raw public material: `scaleright data refresh --from DIR`.

Every importer reads raw files strictly and returns rows and what it left out with reasons; facts entered by
hand stay and win. All tables are written beside their targets first and swapped in at the end, so that an
error leaves `data/` as it was.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Callable

from scaleright.press.refresh import accelerators, measured, models, prices
from scaleright.press.refresh.tables import (
    Dropped, RefreshError, Report, Row, merge, primary_key, read_table, table_text,
)  # fmt: skip

__all__ = ["Dropped", "RefreshError", "Report", "refresh"]


def _importers() -> dict[str, tuple[Callable, frozenset[str]]]:
    return {
        "accelerators": (lambda raw: ([], []), frozenset()),
        "accelerator_specs": (accelerators.rows, accelerators.SOURCES),
        "rental_prices": (prices.rows, prices.SOURCES),
        "electricity_prices": (lambda raw: ([], []), frozenset()),
        "cost_factors": (lambda raw: ([], []), frozenset()),
        "measured/energy": (measured.energy_rows, measured.SOURCES),
        "models": (models.rows, frozenset(models.SOURCES)),
    }


def refresh(raw: Path, data: Path) -> list[Report]:
    """Rewrite the tables of `data` from the raw material in `raw`.

    Parameters
    ----------
    raw : folder laid out as its SOURCES.md says (`accelerator_specs/`, `gpu_prices/`, `epoch/` ...)
    data : folder of the committed tables with their `datapackage.json`

    Returns
    -------
    one Report a table: rows read, written, kept by hand, and every row left out with its reason.

    Raises
    ------
    RefreshError : a raw file missing or laid out differently, a value that is no number; nothing has been written.
    """
    raw, data = Path(raw), Path(data)
    if not raw.is_dir():
        raise RefreshError(f"raw folder {raw} does not exist")
    schemas = {entry["path"].removesuffix(".csv"): entry["schema"] for entry in _package(data)["resources"]}
    reports, texts = [], {}
    for table, (rows, sources) in _importers().items():
        if table not in schemas:
            raise RefreshError(f"data package has no resource with path {table}.csv")
        found, dropped = rows(raw)
        merged = _merge(table, data, schemas[table], found, sources, dropped, reports)
        texts[table] = table_text(merged, schemas[table])
        if table == "accelerator_specs":  # share-alike figures stay apart, and only what no other source gives
            apart, out = accelerators.stas_rows(raw, {(r["accelerator"], r["quantity"]): r for r in merged})
            name = "accelerator_specs_stas"
            merged = _merge(name, data, schemas[name], apart, accelerators.STAS_SOURCES, out, reports)
            texts[name] = table_text(merged, schemas[name])
    _swap_in(data, texts)
    return reports


def _package(data: Path) -> dict:
    try:
        return json.loads((data / "datapackage.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RefreshError(f"no data package at {data / 'datapackage.json'}") from None


def _merge(
    table: str, data: Path, schema: dict, found: list[Row], sources: frozenset[str], dropped: list[Dropped], reports: list[Report]
) -> list[Row]:
    """Merge raw rows into a committed table, and append what happened to the reports."""
    key = primary_key(schema)
    existing = read_table(data / f"{table}.csv")
    merged, lost = merge(existing, found, key, sources)
    by_hand = sum(row["source"] not in sources for row in existing)
    reports.append(Report(table, len(found) + len(dropped), len(merged), by_hand, (*dropped, *lost)))
    return merged


def _swap_in(data: Path, texts: dict[str, str]) -> None:
    staged = {}
    try:
        for table, text in texts.items():
            target = data / f"{table}.csv"
            staged[target] = target.with_suffix(".csv.new")
            staged[target].write_text(text, encoding="utf-8", newline="\n")
        for target, new in staged.items():
            os.replace(new, target)
    finally:
        for new in staged.values():
            new.unlink(missing_ok=True)
