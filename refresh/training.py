"""Measured training runs and recommended layouts, from the raw public tables.

What a table leaves open is settled by rules that hold for every row, never by a list of rows:

- a cell "a (b)" stands for two runs: the second throughput has the second layout and the second FP8
  format;
- chips, degrees and batch must agree: data-parallel degree and accumulation steps are computed and
  compared with those printed; of a second layout the micro-batch is what the printed accumulation
  leaves;
- a figure that a table omits and its own page states for the whole table (batch, sequence,
  recomputation) stands in `rules.csv`;
- a cell stays empty where the publication is silent: a run without sequence, batch or layout is
  shown and not predicted.

Rows entered by hand from papers stay and win; what a raw table repeats of them is reported with
whether it agrees.
"""

from __future__ import annotations

import re
from math import prod
from pathlib import Path
from typing import Any

from refresh.rules import kept, quantities, read_csv, rule
from refresh.tables import Dropped, Items, RefreshError, Row, to_float

FOUNDRY = "training_perf/mosaicml_llm_foundry_throughput.csv"
BRIDGE = "training_perf/megatron_bridge_performance.csv"
MAXTEXT = "training_perf/maxtext_throughput.csv"
TORCHTITAN = "training_perf/torchtitan_h100_202412.csv"
MFU = "training_perf/stas_megatron_mfu_hfu.csv"
LLAMA = "reliability/llama3_table4_mfu.csv"
NEMO = "training_perf/nemo_recommended_configs"
SOURCES = frozenset(
    {
        "llmfoundry",
        "megatronbridge2026",
        "maxtext2025",
        "torchtitan2024",
        "mlengineering2025mfu",
        "llama3table4",
    }
)
LAYOUT_SOURCES = frozenset({"nemolayouts2025"})
_DEGREES = ("tensor_parallel", "pipeline_parallel", "context_parallel")
_MILLION_TOKENS = 2**20


def rows(raw: Path) -> Items:
    """Rows of `measured/training` from every table of training runs."""
    for importer in (_foundry, _bridge, _maxtext, _torchtitan, _mfu, _llama):
        yield from importer(raw)


def _numbers(row: Row, file: str, run: str) -> dict[str, float]:
    return {quantity: float(f"{value:.9g}") for quantity, value, _ in quantities(row, file, run)}


def _copies(run: str, chips: int, degrees: dict[str, int]) -> int:
    """Data-parallel degree that a layout leaves."""
    product = prod(degrees.get(name) or 1 for name in _DEGREES)
    if chips % product:
        raise RefreshError(
            f"{run}: {chips} chips are no multiple of the {product} of a copy of the model"
        )
    return chips // product


def _foundry(raw: Path) -> Items:
    """llm-foundry: FSDP on A100 and H100."""
    for row in read_csv(raw, FOUNDRY):
        chip, precision = (
            rule(FOUNDRY, "accelerator", row["GPU"]).ours,
            rule(FOUNDRY, "precision", row["Precision"]).ours,
        )
        model, chips, micro = (
            rule(FOUNDRY, "model", row["Model"]).ours,
            int(row["# GPUs"]),
            int(row["MicroBatchSize"]),
        )
        sequence, batch, steps = (
            int(row["SeqLen (T)"]),
            int(row["GlobalBatchSize"]),
            int(row["GradAccum"]),
        )
        run = f"llm-foundry/{chip}/{model}/{sequence}/{chips}/{micro}x{steps}/{precision}".replace(
            " ", "-"
        )
        if micro * steps * chips != batch or batch * sequence != int(row["GlobalBatchSize (T)"]):
            raise RefreshError(
                f"{FOUNDRY}: {run}: a global batch of {batch} is not {micro} x {steps} x {chips}"
            )
        yield {
            "run": run,
            "model": model,
            "accelerator": chip,
            "accelerators": chips,
            "precision": precision,
            "task": "pretrain",
            "sequence": sequence,
            "global_batch": batch,
            "micro_batch": micro,
            **dict.fromkeys(_DEGREES, 1),
            "expert_parallel": 1,
            "data_parallel": chips,
            "virtual_pipeline": 1,
            "sharding": int(rule(FOUNDRY, "sharding", row["Sharding Strategy"]).ours),
            "sequence_parallel": False,
            "recompute": rule(FOUNDRY, "recompute", row["Activation Checkpointing"]).ours,
            "offload": row["Activation CPUOffload"] == "True",
            "mixed_precision": row["MP Mode"].lower(),
            "software": "llm-foundry",
            "basis": "printed",
            "source": "llmfoundry",
            "note": "",
        } | _numbers(row, FOUNDRY, run)


_BRIDGE_CELLS = {
    "fsdp": "fsdp",
    "tp": "tensor_parallel",
    "pp": "pipeline_parallel",
    "cp": "context_parallel",
    "vp": "virtual_pipeline",
    "ep": "expert_parallel",
    "ga": "steps",
}


def _bridge(raw: Path) -> Items:
    """Megatron-Bridge: NVIDIA's own measurements by release of its container."""
    for row in read_csv(raw, BRIDGE):
        row["model_tflops_per_gpu"] = row["model_tflops_per_gpu"].partition("[")[
            0
        ]  # a footnote that the table lost
        yield _bridge_run(row, 0)
        if row["tokens_per_s_per_gpu_alt"]:
            yield _bridge_run(row, 1)
        elif row["model_tflops_per_gpu_alt"]:
            yield Dropped(
                f"{row['container']} {row['model']} {row['system']}, second value",
                "FLOP/s without a throughput",
            )


def _bridge_run(row: Row, second: int) -> Row:
    """One run of a row: its first figures and layout, or those in brackets."""
    name, flag = re.fullmatch(r"([^ ]+)(?: \((.+)\))?", row["model"]).groups()
    version, printed = row["container"].split()[0], _format(row["precision"], second)
    model, chip = rule(BRIDGE, "model", name).ours, rule(BRIDGE, "accelerator", row["system"]).ours
    precision, chips, task = (
        rule(BRIDGE, "precision", printed).ours,
        int(row["gpus"]),
        rule(BRIDGE, "task", row["task"]).ours,
    )
    batch, sequence, micro = int(row["gbs"]), int(row["seq_len"]), int(row["mbs"])
    run = (
        f"megatron-bridge-{version}/{task}/{row['model']}/{chip}/{chips}/{printed}/{batch}".replace(
            " ", "-"
        )
    )
    degrees: dict[str, Any] = {
        ours: _cell(row[theirs], second, run) for theirs, ours in _BRIDGE_CELLS.items()
    }
    sharded, steps = degrees.pop("fsdp"), degrees.pop("steps")
    copies = _copies(run, chips, degrees)
    notes = [] if printed == precision else [f"printed as {printed}"]
    if second and steps and steps * micro * copies != batch:
        micro = batch // (copies * steps)
        notes.append(
            f"micro-batch {micro} follows from the {steps} accumulation steps of this layout"
        )
    elif steps and steps * micro * copies != batch:
        notes.append(
            f"{steps} accumulation steps are printed, the layout takes {batch // (copies * micro)}"
        )
    experts, numbers = rule(BRIDGE, "experts", name).ours == "yes", _numbers(row, BRIDGE, run)
    extra = {
        name.removesuffix("_second"): value
        for name, value in numbers.items()
        if name.endswith("_second")
    }
    return {
        "run": run,
        "model": model,
        "accelerator": chip,
        "accelerators": chips,
        "precision": precision,
        "task": task,
        "sequence": sequence,
        "global_batch": batch,
        "micro_batch": micro,
        **{ours: n or 1 for ours, n in degrees.items()},
        "data_parallel": copies,
        "sharding": 3 if sharded else 1,
        "sequence_parallel": (degrees["tensor_parallel"] or 1) > 1,
        "routing": ("token drop" if flag == "tokendrop" else "balanced") if experts else "",
        "mtp_modules": 0 if flag == "w/o MTP" else int(rule(BRIDGE, "mtp_modules", name).ours),
        "software": f"Megatron-Bridge {version}",
        "released": f"20{version[:2]}-{version[3:5]}-01",
        "basis": "printed",
        "source": "megatronbridge2026",
        "note": "; ".join(notes),
    } | (
        extra
        if second
        else {name: value for name, value in numbers.items() if not name.endswith("_second")}
    )


def _format(text: str, second: int) -> str:
    """The number format printed for a row's first or second figure: the page names both, in the
    25.09 table once for all.
    """
    first, other = re.fullmatch(r"([^ (]+)(?: \((.+)\))?", text).groups()
    if not other:
        return first
    return (rule(BRIDGE, "second format", other).ours if second else first) or first


def _cell(text: str, second: int, run: str) -> int | None:
    """A whole number, of a cell "a (b)" the second where asked for."""
    found = re.fullmatch(r"(\d+)(?:\.0)?(?: \((\d+)\))?|", text)
    if not found:
        raise RefreshError(f"{BRIDGE}: {run}: {text!r} is not a whole number")
    cell = found[2] if second and found[2] else found[1]
    return None if cell is None else int(cell)


def _maxtext(raw: Path) -> Items:
    """MaxText: rates by slice of a TPU, without shape, sequence and batch."""
    for row in read_csv(raw, MAXTEXT):
        chip, model = (
            rule(MAXTEXT, "accelerator", row["hardware"]).ours,
            rule(MAXTEXT, "model", row["model"]).ours,
        )
        chips, slices = int(row["chips"]), int(row["slices"])
        cores = re.fullmatch(
            r"v(?:4|5p)-(\d+)", row["slice_type"]
        )  # named after two TensorCores a chip; v5e after its chips
        each = int(cores[1]) // 2 if cores else chips // slices
        run = f"maxtext/{chip}/{model}/{slices}x{row['slice_type']}".replace(" ", "-")
        if slices * each != chips:
            raise RefreshError(f"{MAXTEXT}: {run}: {chips} chips are not {slices} slices of {each}")
        yield {
            "run": run,
            "model": model,
            "accelerator": chip,
            "accelerators": chips,
            "slices": slices,
            "precision": "BF16",
            "task": "pretrain",
            "software": "MaxText",
            "basis": "printed",
            "source": "maxtext2025",
            "note": (
                "sequence, batch, layout and shape are not printed; the format is that of the peak"
                " behind the MFU"
            ),
        } | _numbers(row, MAXTEXT, run)


def _torchtitan(raw: Path) -> Items:
    """torchtitan: FSDP, tensor, context and pipeline parallelism on a variant of the H100."""
    for row in read_csv(raw, TORCHTITAN):
        degrees = {
            name: int(n) for name, n in re.findall(r"(FSDP|TP|PP|CP)(\d+)", row["parallelism"])
        }
        model, chips = rule(TORCHTITAN, "model", row["model"]).ours, int(row["gpus"])
        precision = rule(TORCHTITAN, "precision", row["precision"]).ours
        given = dict(re.findall(r"(seq|LBS)(\d+)", row["batch_seq"]))
        local, recompute = rule(
            TORCHTITAN, "batch;recompute", f"{row['model']} | {row['batch_seq']}"
        ).ours.split(";")
        sequence = int(given.get("seq") or rule(TORCHTITAN, "sequence", row["model"]).ours)
        layout = {
            ours: degrees.get(theirs, 1)
            for theirs, ours in zip(("TP", "PP", "CP"), _DEGREES, strict=True)
        }
        printed = f"{row['parallelism']}/{row['batch_seq']}/{precision}"
        run = f"torchtitan/{model}/{chips}/{printed}".replace(" ", "-")
        copies, notes = (
            _copies(run, chips, layout),
            ["sequence as in the published configuration"] if "seq" not in given else [],
        )
        if copies != degrees.get("FSDP", copies) or local != given.get("LBS", local):
            raise RefreshError(
                f"{TORCHTITAN}: {run}: {chips} chips leave {copies} copies of batch {local}, as"
                " rules.csv has it"
            )
        action, _micro, reason = rule(TORCHTITAN, "micro_batch", str(degrees.get("PP", 1)))
        notes += [reason] if reason else []
        notes += (
            ["tensor-parallel communication overlapped within products"]
            if "AsyncTP" in row["parallelism"]
            else []
        )
        yield {
            "run": run,
            "model": model,
            "accelerator": rule(TORCHTITAN, "accelerator", row["run_hw"]).ours,
            "accelerators": chips,
            "precision": precision,
            "task": "pretrain",
            "sequence": sequence,
            "global_batch": int(local) * copies,
            "micro_batch": None if action == "drop" else int(local),
            **layout,
            "expert_parallel": 1,
            "data_parallel": copies,
            "virtual_pipeline": None if "Interleaved" in row["parallelism"] else 1,
            "sharding": 3,
            "sequence_parallel": "TP" in degrees,
            "recompute": recompute,
            "offload": False,
            "mixed_precision": "default",
            "compiled": "compile" in row["parallelism"] or chips == 512,
            "software": "torchtitan",
            "released": "2024-12-26",
            "basis": "printed",
            "source": "torchtitan2024",
            "note": "; ".join(notes),
        } | _numbers(row, TORCHTITAN, run)


def _mfu(raw: Path) -> Items:
    """Utilizations of the paper whose times stand in the table by hand."""
    for row in read_csv(raw, MFU):
        run = rule(MFU, "run", row["Model Size"]).ours
        shares = (
            to_float(row[name].rstrip("%"), MFU, run, name)
            for name in ("Model FLOPs Utilization", "Hardware FLOPs Utilization")
        )
        mfu, hfu = (round(share / 100, 6) for share in shares)
        yield {
            "run": run,
            "measured_mfu": mfu,
            "measured_hfu": hfu,
            "source": "mlengineering2025mfu",
            "note": "",
        }


def _llama(raw: Path) -> Items:
    """Table 4 of Llama 3: the data-parallel degree is what chips and degrees leave, which the
    tokens of a batch confirm.
    """
    for row in read_csv(raw, LLAMA):
        chips, sequence = int(row["gpus"]), int(row["seq_len"])
        run = f"llama3-table4/{chips}/{sequence}"
        layout = {
            ours: int(row[theirs])
            for theirs, ours in zip(("tp", "pp", "cp"), _DEGREES, strict=True)
        }
        copies = _copies(run, chips, layout)
        batch, tokens = (
            copies * int(row["batch_per_dp"]),
            int(row["tokens_per_batch"].removesuffix("M")) * _MILLION_TOKENS,
        )
        if batch * sequence != tokens:
            raise RefreshError(
                f"{LLAMA}: {run}: {batch} sequences of {sequence} tokens are not {tokens}"
            )
        notes = [
            (
                "micro-batch not printed: one sequence, with which as many micro-batches as stages"
                " fill the pipeline"
            )
        ]
        if copies != int(row["dp"]):
            notes.append(
                f"printed with {row['dp']} data-parallel copies, which leave chips idle; a later"
                f" version says {copies}"
            )
        yield {
            "run": run,
            "model": "Llama-3.1-405B",
            "accelerator": "H100 SXM",
            "accelerators": chips,
            "precision": "BF16",
            "task": "pretrain",
            "sequence": sequence,
            "global_batch": batch,
            "micro_batch": 1,
            **layout,
            "expert_parallel": 1,
            "data_parallel": copies,
            "sharding": 2,
            "sequence_parallel": True,
            "recompute": "none",
            "software": "Meta, Llama 3",
            "released": "2024-07-23",
            "basis": "printed",
            "source": "llama3table4",
            "note": "; ".join(notes),
        } | _numbers(row, LLAMA, run)


def layout_rows(raw: Path) -> Items:
    """Rows of `measured/layouts`: the layouts that NVIDIA recommends, one a model, task, chip,
    format and size.
    """
    for file in kept(NEMO, "file"):
        for row in read_csv(raw, f"{NEMO}/{file}"):
            name, printed = f"{row['model']} {row['size']}", row["dtype"]
            whole = {
                column: int(float(cell))
                for column, cell in row.items()
                if re.fullmatch(r"\d+(\.0)?", cell)
            }
            chips = whole["num_gpus"]
            run = f"nemo/{row['system']}/{row['task']}/{name}/{printed}/{chips}/{whole['gbs']}"
            run = run.replace(" ", "-")
            action, model, reason = rule(NEMO, "model", name)
            if action == "drop":
                yield Dropped(run, reason)
                continue
            layout = {
                ours: whole[theirs]
                for theirs, ours in zip(("tp_size", "pp_size", "cp_size"), _DEGREES, strict=True)
            }
            if chips % prod(layout.values()):
                yield Dropped(
                    run,
                    f"{chips} chips are no multiple of the {prod(layout.values())} of a copy of the"
                    " model",
                )
                continue
            copies = _copies(run, chips, layout)
            if whole["gbs"] % (copies * whole["mbs"]):
                yield Dropped(
                    run,
                    f"{whole['gbs']} sequences do not divide over {copies} copies of"
                    f" {whole['mbs']}",
                )
                continue
            layers, modules = whole["recompute_layers"], row["recompute_modules"].replace("/", ";")
            yield {
                "run": run,
                "model": model,
                "accelerator": rule(NEMO, "accelerator", row["system"]).ours,
                "accelerators": chips,
                "precision": rule(NEMO, "precision", printed).ours,
                "task": rule(NEMO, "task", row["task"]).ours,
                "sequence": whole["seq_len"],
                "global_batch": whole["gbs"],
                "micro_batch": whole["mbs"],
                **layout,
                "expert_parallel": whole["ep_size"],
                "expert_tensor_parallel": whole.get("etp_size"),
                "data_parallel": copies,
                "virtual_pipeline": whole["vp_size"],
                "sharding": 3 if whole["use_mcore_fsdp"] else 1,
                "recompute_layers": layers,
                "recompute_modules": modules,
                "offload_layers": whole["activation_offload_layers"],
                "cuda_graphs": bool(whole["cuda_graphs"]),
                "source": "nemolayouts2025",
                "note": "",
            }
