"""Model shapes from the raw collections, joined with what those leave out.

A raw configuration says layers, widths and heads; whether a family has biases, gated feed-forward
layers, two or four norms a layer, tied embeddings or learned positions is a property of its
architecture as published. `traits.csv` holds that (`like` names an architecture to start from),
`models.csv` the raw rows that become models: one a shape, under the name people use, with what the
raw row has wrong or blank.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from scaleright.architecture import SHAPE_FIELDS, Transformer

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
_UNNAMED = "not named by this importer: a line in refresh/models.csv makes it a model"
_DEFAULTS = {f.name: f.default for f in fields(Transformer) if f.default is not MISSING}


@cache
def traits(architecture: str) -> dict[str, Any]:
    """What an architecture has that its configuration file does not say."""
    line = {line["architecture"]: line for line in facts("traits.csv")}[architecture]
    return (traits(line["like"]) if line["like"] else {}) | yaml.safe_load(
        "{" + line["traits"] + "}"
    )


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
    shape |= {flag: bool(shape[flag]) for flag in ("gated_ffn", "tied_embeddings") if flag in shape}
    return shape | (_mixture(row, shape) if "experts" in shape else {})


def _mixture(row: Row, shape: Row) -> Row:
    """What a configuration of the newer kind says in a roundabout way: mixtures, MLA, explicit head
    width.
    """
    latent, rope = shape["kv_lora_rank"], _whole(row, "qk_rope_head_dim")
    head_dim = shape["head_dim"] or shape["hidden"] // shape["heads"]
    head_dim = _whole(row, "qk_nope_head_dim") + rope if latent else head_dim
    step = _whole(row, "interleave_moe_layer_step", "decoder_sparse_step") or 1
    mixture = dict(
        moe_layers=(shape["layers"] - _whole(row, "first_k_dense_replace")) // step,
        expert_ffn=shape["expert_ffn"],
        experts_per_token=shape["experts_per_token"],
        shared_ffn=_whole(row, "n_shared_experts") * shape["expert_ffn"],
    )
    mixture = {column: value if shape["experts"] else 0 for column, value in mixture.items()}
    ffn = shape["ffn"] if mixture["moe_layers"] < shape["layers"] else 0
    heads = dict(
        head_dim=head_dim,
        v_head_dim=shape["v_head_dim"] or head_dim,
        qk_rope_head_dim=rope if latent else 0,
    )
    return mixture | heads | dict(ffn=ffn)


def complete(shape: Row, architecture: str, fixes: Row | None = None) -> Row:
    """A full row of shape columns: raw figures, then what the architecture adds, then what the raw
    row has wrong.

    >>> complete(dict(layers=2, hidden=64, heads=4, ffn=0, vocab=1000), "gpt2")["ffn"]
    256
    """
    fixes = fixes or {}
    row: Row = {k: v for k, v in shape.items() if v not in (None, "")} | fixes
    for column, value in traits(architecture).items():
        if column not in fixes and (
            not shape.get(column) or column in ("gated_ffn", "norms_per_layer")
        ):
            row[column] = value
    row["kv_heads"] = row.get("kv_heads") or (1 if architecture == "falcon" else row["heads"])
    row["head_dim"] = row.get("head_dim") or row["hidden"] // row["heads"]
    if not row.get("ffn") and not row.get("moe_layers"):
        row["ffn"] = (
            4 * row["hidden"]
        )  # the convention of every family whose configuration omits it
    if norms := row.get(
        "qk_norm"
    ):  # query and key normed by one vector of a head's width each, or over all heads
        heads = {"one-head": 2, "all-heads": row["heads"] + row["kv_heads"]}[norms]
        row["qk_norm_width"] = heads * row["head_dim"]
    every = row.get(
        "global_every"
    )  # one layer in so many sees the whole context, the others a window; 0: none does
    row["window_layers"] = (
        0 if every is None else row["layers"] - (row["layers"] // every if every else 0)
    )
    if not row["window_layers"]:
        row["window"] = 0  # a window as long as the context, or one switched off
    full = _DEFAULTS | {c: row[c] for c in SHAPE_FIELDS[1:] if row.get(c) is not None}
    try:
        checked = Transformer(name="row", **full)
    except (TypeError, ValueError) as error:
        raise RefreshError(f"shape {shape}: {error}") from None
    return {c: getattr(checked, c) for c in SHAPE_FIELDS[1:]} | {"precision": row["precision"]}


def rows(raw: Path) -> Items:
    """Model shapes from `raw`/model_architectures, and every raw row that gives none with the
    reason.
    """
    for source, name in COLLECTIONS.items():
        file = f"{FOLDER}/{name}"
        kept = {line["raw"]: line for line in facts("models.csv") if line["collection"] == source}
        table = [row | {"model": row.get("model", row.get("file"))} for row in read_csv(raw, file)]
        untold = {
            row["model"]: rule(file, "model type", row.get("model_type", "")).reason
            for row in table
        }
        shapes = {row["model"]: _shape(row, file) for row in table if not untold[row["model"]]}
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
                | complete(shapes[model], line["traits"], fixes)
                | {
                    "source": source,
                    "architecture_source": line["published"],
                    "note": "; ".join(
                        f"{c} {v} as published" for c, v in fixes.items() if c != "max_context"
                    ),
                }
            )
