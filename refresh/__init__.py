"""Rebuild the committed tables from the raw public material: `scaleright data refresh --from DIR`.

A maintainer's tool that runs from a checkout; the library needs none of it. The facts of the import
are tables: `rules.csv` says what each raw name is called here (keep) or why its rows are left out
(drop; skip: not even told), `columns.csv` which columns a raw file must have and what they become,
`wrong.csv` which values of a source are known to be wrong, `models.csv` which configurations become
models under which names. The module `rules` reads them; `accelerators`, `prices` (rates,
history, purchases), `api_prices`, `measured` and `models` walk the raw files, `mlperf_inference`
(with `mlperf_rules.csv`) MLPerf's results, of which `plausibility` doubts those that their
neighbors contradict, `inference` MLPerf's language models and lengths of requests, `traces` the
requests themselves, `documents` the tables of S4; `tables` merges and writes.

An importer yields rows to write, as `Dropped` the raw rows it leaves out with the reason, and as
`Doubtful` rows for which the refresh refuses, unless flagged rows are allowed. Facts entered by
hand stay and win. All tables are swapped in at the end, so that an error leaves `data/` as it was.
"""

from __future__ import annotations

import os
from pathlib import Path

from scaleright import catalog

from refresh import (
    accelerators,
    api_prices,
    carbon,
    chinchilla,
    documents,
    energy,
    footprint,
    inference,
    layouts,
    measured,
    mlperf_inference,
    mlperf_training,
    models,
    prefix_cache,
    prices,
    prices_purchases,
    profiling,
    reliability,
    safeguards,
    traces,
    training,
)
from refresh.tables import (
    RefreshError,
    Report,
    counted_flags,
    merge,
    read_table,
    settle,
    sift,
    table_text,
)

__all__ = ["RefreshError", "Report", "refresh"]

_BY_HAND = (lambda raw, done: (), frozenset())
IMPORTERS = {
    "accelerators": _BY_HAND,
    "accelerator_specs": (lambda raw, done: accelerators.rows(raw), accelerators.SOURCES),
    # Share-alike figures stay apart, and only what no other source gives.
    "accelerator_specs_stas": (
        lambda raw, done: accelerators.stas_rows(raw, done["accelerator_specs"]),
        accelerators.STAS_SOURCES,
    ),
    "rental_prices": (lambda raw, done: prices.rows(raw), prices.SOURCES),
    "commitment_ratios": (
        lambda raw, done: prices_purchases.commitment_rows(raw),
        prices_purchases.COMMITMENT_SOURCES,
    ),
    "purchase_prices": (
        lambda raw, done: prices_purchases.rows(raw, done["accelerators"]),
        prices_purchases.SOURCES,
    ),
    "electricity_prices": _BY_HAND,
    "cost_factors": _BY_HAND,
    "grids": (lambda raw, done: carbon.grid_rows(raw), carbon.GRID_SOURCES),
    "cloud_regions": (lambda raw, done: carbon.region_rows(raw), carbon.REGION_SOURCES),
    "generation": _BY_HAND,
    "embodied": (lambda raw, done: footprint.embodied_rows(raw), footprint.EMBODIED_SOURCES),
    "embodied_boavizta": (
        lambda raw, done: footprint.boavizta_rows(raw),
        footprint.BOAVIZTA_SOURCES,
    ),
    "measured/memory": _BY_HAND,
    "measured/footprint": (lambda raw, done: footprint.footprint_rows(raw), footprint.SOURCES),
    "measured/images": (lambda raw, done: energy.image_rows(raw), energy.SOURCES),
    "measured/kernels": (lambda raw, done: profiling.kernel_rows(raw), profiling.SOURCES),
    "measured/collectives": (lambda raw, done: profiling.collective_rows(raw), profiling.SOURCES),
    "measured/collectives_stas": (
        lambda raw, done: profiling.stas_rows(raw),
        profiling.STAS_SOURCES,
    ),
    "models": (lambda raw, done: models.rows(raw), models.SOURCES),
    "mlperf_training_benchmarks": _BY_HAND,
    "mlperf_training": (mlperf_training.rows, mlperf_training.SOURCES),
    "measured/training": (lambda raw, done: training.rows(raw), training.SOURCES),
    "other_tools": _BY_HAND,
    "measured/layouts": (lambda raw, done: layouts.rows(raw), layouts.SOURCES),
    "chinchilla_points": (lambda raw, done: chinchilla.rows(raw), chinchilla.SOURCES),
    "scaling_laws": _BY_HAND,
    "batch_sizes": _BY_HAND,
    "interruptions": (lambda raw, done: reliability.rows(raw), reliability.SOURCES),
    "measured/reliability": _BY_HAND,
    "training_tokens": _BY_HAND,
    "api_prices": (lambda raw, done: api_prices.rows(raw, done["models"]), api_prices.SOURCES),
    "mlperf_benchmarks": _BY_HAND,
    "mlperf_inference": (
        lambda raw, done: mlperf_inference.rows(raw, done["mlperf_benchmarks"]),
        mlperf_inference.SOURCES,
    ),
    "measured/serving": (
        measured.serving_rows,
        measured.SERVING_SOURCES,
    ),
    "measured/energy": (energy.energy_rows, energy.SOURCES),
    "request_lengths": (lambda raw, done: inference.length_rows(raw), inference.LENGTH_SOURCES),
    "traces/azure_code": (lambda raw, done: traces.rows(raw, "azure_code"), traces.SOURCES),
    "traces/azure_conversation": (
        lambda raw, done: traces.rows(raw, "azure_conversation"),
        traces.SOURCES,
    ),
    "traces/mooncake_conversation": (
        lambda raw, done: traces.rows(raw, "mooncake_conversation"),
        traces.SOURCES,
    ),
    "prefix_cache": (lambda raw, done: prefix_cache.rows(raw), prefix_cache.SOURCES),
    "s4_specifications": (
        lambda raw, done: documents.specification_rows(raw, done["s4_specifications"]),
        documents.SOURCES,
    ),
    "s4_results": (
        lambda raw, done: documents.result_rows(raw, done["s4_results"]),
        documents.SOURCES,
    ),
}
"""For each table, in order: its rows from the raw folder, the tables done before and its own as it
stands, and the sources it owns.
"""


def refresh(
    raw: Path, data: Path, allow_flagged: bool = False, allow_fewer: bool = False
) -> list[Report]:
    """Rewrite the tables of `data`, beside their `datapackage.json`, from `raw`, laid out as its
    SOURCES.md says.

    Parameters
    ----------
    raw, data : folders
    allow_flagged : keep rows whose unit, count or name cannot be trusted, with flags that say so,
        instead of refusing
    allow_fewer : let a source lose more than a tenth of its rows; `min_rows` of the data package
        must have been lowered by hand

    Raises
    ------
    RefreshError : a raw file missing or laid out differently, a value that is no number, a doubtful
        row, a source that lost many of its rows, a table that breaks the data package; nothing has
        been written.
    """
    if not raw.is_dir():
        raise RefreshError(f"raw folder {raw} does not exist")
    try:
        entries = catalog.package(data)
    except catalog.DataError as error:
        raise RefreshError(str(error)) from None
    schemas = {table: entry["schema"] for table, entry in entries.items()}
    reports, done, fewer = [], {}, []
    for table, (importer, sources) in IMPORTERS.items():
        if table not in schemas:
            raise RefreshError(f"data package has no resource with path {table}.csv")
        existing = done[table] = read_table(data / f"{table}.csv")
        with safeguards.named(table):
            items, doubted = settle(importer(raw, done), allow_flagged)
        found, dropped = sift(items)
        done[table], lost = merge(existing, found, schemas[table]["primaryKey"], sources)
        fewer += [safeguards.lost(table, existing, done[table], sources)]
        by_hand = sum(row["source"] not in sources for row in existing)
        counts = len(found) + len(dropped), len(done[table]), by_hand
        reports.append(
            Report(table, *counts, (*dropped, *lost), tuple(doubted), counted_flags(done[table]))
        )
    if (told := [*filter(None, fewer)]) and not allow_fewer:
        words = "a source lost more than a tenth of its rows (--allow-fewer, if it is meant)"
        raise RefreshError("\n  ".join([f"{words}:", *told]))
    texts = {table: table_text(rows, schemas[table]) for table, rows in done.items()}
    safeguards.judge(data, texts)
    _swap_in(data, texts)
    return reports


def _swap_in(data: Path, texts: dict[str, str]) -> None:
    staged = {data / f"{table}.csv.new": text for table, text in texts.items()}
    try:
        for new, text in staged.items():
            new.write_text(text, encoding="utf-8", newline="\n")
        for new in staged:
            new.replace(new.with_suffix(""))
    finally:
        for new in staged:
            new.unlink(missing_ok=True)
