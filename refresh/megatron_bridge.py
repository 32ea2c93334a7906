"""Megatron-Bridge's training runs: NVIDIA's own measurements, by release of its container.

A cell "a (b)" stands for two runs: the second throughput has the second layout and the second
format. Of a second layout the micro-batch is what the printed accumulation leaves.

What the tables do not print (recomputation, CUDA graphs, the dispatcher of tokens and whether their
exchange is overlapped, offloading) is in `megatron_recipes.csv`, read from the recipes that
[megatronrecipes2026] publishes with each release: for each run the recipe of the same layout, or
the nearest, and where it stands.
"""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path

from refresh.layouts import copies_of
from refresh.rules import numbers, read_csv, rule
from refresh.tables import Dropped, Items, RefreshError, Row

FILE = "training_perf/megatron_bridge_performance.csv"
RECIPES = Path(__file__).with_name("megatron_recipes.csv")
_SET = (
    "recompute",
    "recompute_modules",
    "cuda_graph_scopes",
    "dispatcher",
    "exchange_overlap",
    "offload",
)
_CELLS = {
    "fsdp": "fsdp",
    "tp": "tensor_parallel",
    "pp": "pipeline_parallel",
    "cp": "context_parallel",
    "vp": "virtual_pipeline",
    "ep": "expert_parallel",
    "ga": "steps",
}


def rows(raw: Path) -> Items:
    """Runs of the table, one or two a row."""
    for row in read_csv(raw, FILE):
        # a footnote that the table lost
        row["model_tflops_per_gpu"] = row["model_tflops_per_gpu"].partition("[")[0]
        yield _run(row, 0)
        if row["tokens_per_s_per_gpu_alt"]:
            yield _run(row, 1)
        elif row["model_tflops_per_gpu_alt"]:
            yield Dropped(
                f"{row['container']} {row['model']} {row['system']}, second value",
                "FLOP/s without a throughput",
            )


def _run(row: Row, second: int) -> Row:
    """One run of a row: its first figures and layout, or those in brackets."""
    name, flag = re.fullmatch(r"([^ ]+)(?: \((.+)\))?", row["model"]).groups()
    version, printed = row["container"].split()[0], _format(row["precision"], second)
    model, chip = rule(FILE, "model", name).ours, rule(FILE, "accelerator", row["system"]).ours
    precision, chips = rule(FILE, "precision", printed).ours, int(row["gpus"])
    task, batch, sequence = rule(FILE, "task", row["task"]).ours, int(row["gbs"]), row["seq_len"]
    work = f"{task}/{row['model']}/{chip}/{chips}/{printed}/{batch}"
    run = f"megatron-bridge-{version}/{work}".replace(" ", "-")
    degrees = {ours: _cell(row[theirs], second, run) for theirs, ours in _CELLS.items()}
    sharded, steps = degrees.pop("fsdp"), degrees.pop("steps")
    copies = copies_of(run, chips, degrees)
    micro, told = _micro_batch(int(row["mbs"]), steps, copies, batch, second)
    experts = rule(FILE, "experts", name).ours == "yes"
    return (
        _recipe(run)
        | {
            "run": run,
            "model": model,
            "accelerator": chip,
            "accelerators": chips,
            "precision": precision,
            "task": task,
            "sequence": int(sequence),
            "global_batch": batch,
            "micro_batch": micro,
            **{ours: n or 1 for ours, n in degrees.items()},
            "data_parallel": copies,
            "sharding": 3 if sharded else 1,
            "sequence_parallel": (degrees["tensor_parallel"] or 1) > 1,
            "routing": ("token drop" if flag == "tokendrop" else "balanced") if experts else "",
            "mtp_modules": 0 if flag == "w/o MTP" else int(rule(FILE, "mtp_modules", name).ours),
            "software": f"Megatron-Bridge {version}",
            "released": f"20{version[:2]}-{version[3:5]}-01",
            "basis": "printed",
            "source": "megatronbridge2026",
            "note": "; ".join(
                [*([] if printed == precision else [f"printed as {printed}"]), *told]
            ),
        }
        | _measured(row, second, run)
    )


def _recipe(run: str) -> Row:
    """What the recipe of a run sets and its table does not print."""
    found = _recipes().get(run, {})
    return {name: value for name, value in found.items() if name in _SET}


@cache
def _recipes() -> dict[str, Row]:
    with RECIPES.open(encoding="utf-8", newline="") as file:
        return {row["run"]: row for row in csv.DictReader(file)}


def _micro_batch(
    printed: int, steps: int | None, copies: int, batch: int, second: int
) -> tuple[int, list[str]]:
    """The micro-batch of a layout, and what there is to tell where the printed one does not fit the
    printed accumulation steps.
    """
    if not steps or steps * printed * copies == batch:
        return printed, []
    if not second:
        taken = batch // (copies * printed)
        return printed, [f"{steps} accumulation steps are printed, the layout takes {taken}"]
    micro = batch // (copies * steps)
    told = f"micro-batch {micro} follows from the {steps} accumulation steps of this layout"
    return micro, [told]


def _measured(row: Row, second: int, run: str) -> dict[str, float]:
    """What the first or the second run of a row measured."""
    found = numbers(row, FILE, run)
    if second:
        return {
            quantity.removesuffix("_second"): value
            for quantity, value in found.items()
            if quantity.endswith("_second")
        }
    return {name: value for name, value in found.items() if not name.endswith("_second")}


def _format(text: str, second: int) -> str:
    """The number format printed for a row's first or second figure: the page names both, in the
    25.09 table once for all.
    """
    first, other = re.fullmatch(r"([^ (]+)(?: \((.+)\))?", text).groups()
    if not other:
        return first
    return (rule(FILE, "second format", other).ours if second else first) or first


def _cell(text: str, second: int, run: str) -> int | None:
    """A whole number, of a cell "a (b)" the second where asked for."""
    found = re.fullmatch(r"(\d+)(?:\.0)?(?: \((\d+)\))?|", text)
    if not found:
        raise RefreshError(f"{FILE}: {run}: {text!r} is not a whole number")
    cell = found[2] if second and found[2] else found[1]
    return None if cell is None else int(cell)
