"""A reader's own rows are checked before anything is predicted: what is wrong in a file is refused
with its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scaleright import catalog
from scaleright.validation.kinds import validate

SERVED = {"model": "Llama-3.1-8B", "accelerator": "H100 SXM", "accelerators": 1}
GOOD: dict[str, dict[str, Any]] = {
    "counts": {"model": "Llama-2-7B", "quantity": "total_parameters", "published": 6738415616},
    "training": SERVED
    | {"accelerators": 64, "precision": "BF16", "sequence": 8192, "global_batch": 256}
    | {"micro_batch": 1, "tensor_parallel": 1, "sharding": 3}
    | {"measured_tokens_per_s_per_accelerator": 9000},
    "serving": SERVED
    | {"precision": "FP8", "input_tokens": 1000, "output_tokens": 1000, "concurrency": 64}
    | {"software": "vLLM 0.17.0", "measured_output_tokens_per_s_per_accelerator": 5000},
    "energy": SERVED
    | {"precision": "BF16", "batch": 16, "input_tokens": 250, "output_tokens": 400}
    | {"measured_watts": 400, "measured_output_tokens_per_s": 1000},
    "footprint": {"run": "mine", "accelerator": "H100 SXM", "accelerator_hours": 1000}
    | {"measured_kwh": 1100},
}
"""A row of each kind that is predicted."""
SHARDED = {"accelerators": 1024, "model": "Llama-2-7B", "sequence": 2048, "global_batch": 1024}
REFUSED = [
    # kind, cells that are otherwise (None: no such column), what is said
    ("counts", {"quantity": "total_parameter"}, "quantity: unknown value .*total_parameters"),
    ("counts", {"published": 0}, "column published: 0 is not above 0"),
    ("counts", {"published": "seven"}, "column published: 'seven' is not"),
    (
        "counts",
        {"model": "mine", "layers": 32},
        "column model: shape of 'mine': missing .*'hidden'",
    ),
    (
        "training",
        {"tensor_parallel": 3},
        "tensor_parallel x .* = 3 does not divide accelerators = 64",
    ),
    ("training", {"precision": "BF8"}, "column precision"),
    ("training", {"measured_tokens_per_s_per_accelerator": -1}, "accelerator: -1 is not above 0"),
    ("training", {"global_batch": 250}, ".*global_batch"),
    ("training", {"global_batch": "many"}, "column global_batch: 'many' is not an integer"),
    (
        "training",
        SHARDED | {"software": "torchtitan", "shards": 6},
        "shards = 6 does not divide .* = 1024; nearest: 4 or 8",
    ),
    ("serving", {"accelerators": 3}, "tensor = 3 does not divide heads"),
    ("serving", {"accelerator": "A100 SXM 80GB"}, "precision FP8 needs a chip with dense fp8"),
    ("serving", {"model": "Llama-3.1-405B"}, ".*fits"),
    (
        "serving",
        {"measured_output_tokens_per_s_per_accelerator": -1},
        "column measured_output_tokens_per_s_per_accelerator: -1 is not above 0",
    ),
    ("serving", {"input_tokens": "many"}, "column input_tokens: 'many' is not a"),
    ("energy", {"accelerator": "A100 SXM 80GB", "precision": "FP8"}, "FP8 needs a chip with dense"),
    (
        "energy",
        {"model": "Llama-3.1-70B", "accelerators": 3},
        "tensor = 3 does not divide heads = 64; nearest: 2 or 4",
    ),
    ("energy", {"model": "Llama-3.1-405B"}, "of 650 tokens fits beside the weights"),
    ("energy", {"output_tokens": 400_000}, "allowed: 131,072"),
    ("energy", {"measured_watts": "many"}, "column measured_watts: 'many' is not a number"),
    ("footprint", {"measured_kwh": None}, "states neither measured_kwh nor measured_kg_co2e"),
    (
        "footprint",
        {"measured_kwh": None, "zone": "Frnace", "measured_kg_co2e": 1},
        "column zone: unknown grid .*: France",
    ),
    ("footprint", {"pue": 0.9}, "column pue: 0.9 is below 1"),
    ("footprint", {"accelerator_hours": 0}, "column accelerator_hours: 0 is not above 0"),
    ("footprint", {"accelerator_hours": -10}, "column accelerator_hours"),
    ("footprint", {"accelerator_hours": "inf"}, "column accelerator_hours"),
    ("footprint", {"measured_kwh": 0}, "column measured_kwh"),
    ("footprint", {"accelerator": "TPU v6e"}, "the catalog has no tdp_watts for TPU v6e"),
]
UNKNOWN = {
    "model": ("Llama-3.1-8C", "unknown model 'Llama-3.1-8C'; nearest: (?i:llama-3.1-8b)"),
    "accelerator": ("H10", "unknown accelerator 'H10'; nearest: H100"),
}


def written(folder: Path, kind: str, cells: Mapping[str, Any]) -> Path:
    """A file of one row."""
    row = {name: cell for name, cell in (GOOD[kind] | cells).items() if cell is not None}
    pd.DataFrame([row]).to_csv(folder / "mine.csv", index=False)
    return folder / "mine.csv"


@pytest.mark.parametrize("kind", GOOD)
def test_a_good_row_is_predicted(tmp_path, kind):
    rows = validate(kind, written(tmp_path, kind, {})).rows
    assert rows["scored"].all() and rows["predicted"].gt(0).all()


@pytest.mark.parametrize("kind, cells, message", REFUSED)
def test_a_bad_row_is_refused_with_the_place(tmp_path, kind, cells, message):
    place = r"mine\.csv, line 2"
    with pytest.raises((LookupError, ValueError, catalog.DataError), match=f"{place}.*{message}"):
        validate(kind, written(tmp_path, kind, cells))


@pytest.mark.parametrize(
    "kind, name", [(kind, of) for kind, row in GOOD.items() for of in UNKNOWN if of in row]
)
def test_an_unknown_name_is_refused_with_the_nearest(tmp_path, kind, name):
    cell, message = UNKNOWN[name]
    with pytest.raises((LookupError, catalog.DataError), match=f"line 2, column {name}: {message}"):
        validate(kind, written(tmp_path, kind, {name: cell}))


@pytest.mark.parametrize(
    "cells, message",
    [
        ({"published": None, "publised": 7}, "publised.*nearest: published"),
        ({"published": None}, "column published is missing"),
    ],
)
def test_columns_that_are_missing_or_unknown_are_named(tmp_path, cells, message):
    with pytest.raises(catalog.DataError, match=message):
        validate("counts", written(tmp_path, "counts", cells))


def test_a_file_that_is_none_is_named(tmp_path):
    (tmp_path / "mine.csv").write_text("")
    with pytest.raises(catalog.DataError, match="not a CSV file"):
        validate("counts", tmp_path / "mine.csv")
    with pytest.raises(catalog.DataError, match=r"absent.csv: no such file"):
        validate("counts", tmp_path / "absent.csv")
