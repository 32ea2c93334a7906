"""How training runs are laid out over chips: the copies of a model that a layout leaves, and the
layouts that NVIDIA's NeMo recommends.
"""

from __future__ import annotations

import re
from math import prod
from pathlib import Path

from refresh.rules import kept, read_csv, rule
from refresh.tables import Dropped, Items, RefreshError, Row

FOLDER = "training_perf/nemo_recommended_configs"
SOURCES = frozenset({"nemolayouts2025"})
DEGREES = ("tensor_parallel", "pipeline_parallel", "context_parallel")


def copies_of(run: str, chips: int, degrees: dict[str, int]) -> int:
    """Data-parallel degree that a layout leaves."""
    product = prod(degrees.get(name) or 1 for name in DEGREES)
    if chips % product:
        raise RefreshError(
            f"{run}: {chips} chips are no multiple of the {product} of a copy of the model"
        )
    return chips // product


def rows(raw: Path) -> Items:
    """Rows of `measured/layouts`: the layouts that NVIDIA recommends, one a model, task, chip,
    format and size.
    """
    for file in kept(FOLDER, "file"):
        for row in read_csv(raw, f"{FOLDER}/{file}"):
            yield _recommended(row)


def _recommended(row: Row) -> Row | Dropped:
    """The layout of a row; left out where the catalog lacks the model or its numbers do not
    divide.
    """
    name = f"{row['model']} {row['size']}"
    whole = {
        column: int(float(cell)) for column, cell in row.items() if re.fullmatch(r"\d+(\.0)?", cell)
    }
    chips, batch, micro = whole["num_gpus"], whole["gbs"], whole["mbs"]
    run = f"nemo/{row['system']}/{row['task']}/{name}/{row['dtype']}/{chips}/{batch}".replace(
        " ", "-"
    )
    action, model, reason = rule(FOLDER, "model", name)
    if action == "drop":
        return Dropped(run, reason)
    columns = zip(("tp_size", "pp_size", "cp_size"), DEGREES, strict=True)
    layout = {ours: whole[theirs] for theirs, ours in columns}
    if chips % (copy := prod(layout.values())):
        return Dropped(run, f"{chips} chips are no multiple of the {copy} of a copy of the model")
    copies = copies_of(run, chips, layout)
    if batch % (copies * micro):
        return Dropped(run, f"{batch} sequences do not divide over {copies} copies of {micro}")
    return {
        "run": run,
        "model": model,
        "accelerator": rule(FOLDER, "accelerator", row["system"]).ours,
        "accelerators": chips,
        "precision": rule(FOLDER, "precision", row["dtype"]).ours,
        "task": rule(FOLDER, "task", row["task"]).ours,
        "sequence": whole["seq_len"],
        "global_batch": batch,
        "micro_batch": micro,
        **layout,
        "expert_parallel": whole["ep_size"],
        "expert_tensor_parallel": whole.get("etp_size"),
        "data_parallel": copies,
        "virtual_pipeline": whole["vp_size"],
        "sharding": 3 if whole["use_mcore_fsdp"] else 1,
        "recompute_layers": whole["recompute_layers"],
        "recompute_modules": row["recompute_modules"].replace("/", ";"),
        "offload_layers": whole["activation_offload_layers"],
        "cuda_graphs": bool(whole["cuda_graphs"]),
        "source": "nemolayouts2025",
        "note": "",
    }
