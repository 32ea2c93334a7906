"""Model shapes from the raw collections, joined with what those leave out.

A raw row says layers, widths and heads; whether a family has biases, gated feed-forward layers,
two or four norms a layer, tied embeddings or learned positions is a property of its architecture as
published, which the library knows (the table `architectures`), as it knows the fields of published
configurations. `models.csv` holds the raw rows that become models: one a shape, under the name
people use, with what the raw row has wrong or blank.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from scaleright.catalog import configs
from scaleright.catalog.architectures import complete

from refresh.rules import columns, facts, read_csv, rule
from refresh.tables import Dropped, Items, RefreshError, Row

FOLDER = "model_architectures"
COLLECTIONS = {
    "aiconfigurator": "hf_configs_from_aiconfigurator.csv",
    "gpupoor": "gpu_poor_hf_configs_selected.csv",
    "llmanalysis": "llm_analysis_model_configs.csv",
    "calculon": "calculon_models.csv",
    "scalerightshapes": "shapes_missing_above.csv",
}
SOURCES = frozenset(COLLECTIONS)
_PUBLISHED = "aiconfigurator"
"""The collection whose columns are fields of published configurations."""
_UNNAMED = "not named by this importer: a line in refresh/models.csv makes it a model"


def _whole(row: Row, *names: str) -> int:
    """The first filled column as a whole number (a yes or True is one), 0 if all are empty."""
    name = next((name for name in names if row[name]), names[0])
    text = {"": "0", "yes": "1", "True": "1", "no": "0", "False": "0"}.get(row[name], row[name])
    try:
        return int(text)
    except ValueError:
        raise RefreshError(
            f"row {row['model']!r}, column {name!r}: {text!r} is not a whole number"
        ) from None


def _shape(row: Row, file: str) -> Row:
    """Shape columns of a raw row, 0 where it is silent."""
    shape = {ours[0]: _whole(row, *names) for names, ours, _ in columns(file) if ours}
    flags = ("gated_ffn", "tied_embeddings")
    return shape | {flag: bool(shape[flag]) for flag in flags if flag in shape}


def _config(row: Row, file: str) -> Row:
    """Shape columns of a published configuration whose fields are columns of a raw file."""
    model_type = row["model_type"]
    known = configs.fields_of(model_type)
    try:
        given = {name: _cell(row[name], known[name].kind) for name in known if row.get(name)}
        return configs.shape_columns(given, model_type)
    except ValueError as error:
        raise RefreshError(f"{file}, row {row['model']!r}: {error}") from None


def _cell(text: str, kind: str) -> Any:
    """A cell in the kind of its field, as a configuration would have it."""
    if kind == "boolean":
        return {"True": True, "False": False}.get(text, text)
    return int(text) if kind == "integer" and text.lstrip("-").isdecimal() else text


def completed(shape: Row, architecture: str, fixes: Row, published: bool = False) -> Row:
    """A full row of shape columns and its precision, with what the raw row has wrong put right; a
    published configuration knows what it says, zeros among it.

    >>> completed(dict(layers=2, hidden=64, heads=4, ffn=0, vocab=1000), "gpt2", {})["precision"]
    'FP32'
    """
    try:
        shape, fixes = ({}, shape | fixes) if published else (shape, fixes)
        row, precision = complete(shape, architecture, fixes)
    except (TypeError, ValueError) as error:
        raise RefreshError(f"shape {shape}: {error}") from None
    return row | {"precision": precision}


def rows(raw: Path) -> Items:
    """Model shapes from `raw`/model_architectures, and every raw row that gives none with the
    reason.
    """
    for source, name in COLLECTIONS.items():
        file = f"{FOLDER}/{name}"
        kept = {line["raw"]: line for line in facts("models.csv") if line["collection"] == source}
        table = [row | {"model": row.get("model", row.get("file"))} for row in read_csv(raw, file)]
        published = source == _PUBLISHED
        untold = {
            row["model"]: configs.refusal(row["model_type"]) if published else "" for row in table
        }
        read = _config if published else _shape
        shapes = {row["model"]: read(row, file) for row in table if not untold[row["model"]]}
        if missing := [model for model in kept if model not in shapes]:
            raise RefreshError(f"{file}: no row {missing[0]!r}, which the table of models needs")
        skip = ("max_context", "tied_embeddings")  # these do not tell two shapes apart
        alike = {
            model: tuple((c, v) for c, v in shape.items() if c not in skip)
            for model, shape in shapes.items()
        }
        named = {
            alike[model]: line["name"] for model, line in reversed(kept.items())
        }  # of several names the first
        for model in (row["model"] for row in table):
            if model not in kept:
                twin = named.get(alike.get(model))
                same = f"same columns as {twin}" if twin else _UNNAMED
                yield Dropped(model, untold[model] or rule(file, "model", model).reason or same)
                continue
            line = kept[model]
            fixes = yaml.safe_load("{" + line["fixes"] + "}")
            yield (
                {
                    column: line[column]
                    for column in ("name", "family", "developer", "released", "aliases")
                }
                | completed(shapes[model], line["traits"], fixes, published)
                | {
                    "source": source,
                    "architecture_source": line["published"],
                    "note": "; ".join(
                        f"{c} {v} as published" for c, v in fixes.items() if c != "max_context"
                    ),
                }
            )
