"""Measured training runs, from the raw public tables.

What a table leaves open is settled by rules that hold for every row, never by a list of rows:

- chips, degrees and batch must agree: data-parallel degree and accumulation steps are computed and
  compared with those printed;
- a figure that a table omits and its own page states for the whole table (batch, sequence,
  recomputation) stands in `rules.csv`;
- a cell stays empty where the publication is silent: a run without sequence, batch or layout is
  shown and not predicted.

Rows entered by hand from papers stay and win; what a raw table repeats of them is reported with
whether it agrees.
"""

from __future__ import annotations

import re
from pathlib import Path

from refresh import megatron_bridge
from refresh.layouts import DEGREES, copies_of
from refresh.rules import numbers, read_csv, rule
from refresh.tables import Items, RefreshError, Row, to_float

FOUNDRY = "training_perf/mosaicml_llm_foundry_throughput.csv"
MAXTEXT = "training_perf/maxtext_throughput.csv"
TORCHTITAN = "training_perf/torchtitan_h100_202412.csv"
MFU = "training_perf/stas_megatron_mfu_hfu.csv"
LLAMA = "reliability/llama3_table4_mfu.csv"
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
_MILLION_TOKENS = 2**20


def rows(raw: Path) -> Items:
    """Rows of `measured/training` from every table of training runs."""
    for importer in (_foundry, megatron_bridge.rows, _maxtext, _torchtitan, _mfu, _llama):
        yield from importer(raw)


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
            **dict.fromkeys(DEGREES, 1),
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
        } | numbers(row, FOUNDRY, run)


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
        } | numbers(row, MAXTEXT, run)


def _torchtitan(raw: Path) -> Items:
    """torchtitan: FSDP, tensor, context and pipeline parallelism on a variant of the H100."""
    for row in read_csv(raw, TORCHTITAN):
        yield _torchtitan_run(row)


def _torchtitan_run(row: Row) -> Row:
    degrees = {name: int(n) for name, n in re.findall(r"(FSDP|TP|PP|CP)(\d+)", row["parallelism"])}
    model, chips = rule(TORCHTITAN, "model", row["model"]).ours, int(row["gpus"])
    precision = rule(TORCHTITAN, "precision", row["precision"]).ours
    local, recompute, given = _torchtitan_batch(row)
    names = zip(("TP", "PP", "CP"), DEGREES, strict=True)
    layout = {ours: degrees.get(theirs, 1) for theirs, ours in names}
    printed = f"{row['parallelism']}/{row['batch_seq']}/{precision}"
    run = f"torchtitan/{model}/{chips}/{printed}".replace(" ", "-")
    copies = copies_of(run, chips, layout)
    if copies != degrees.get("FSDP", copies) or local != given.get("LBS", local):
        raise RefreshError(
            f"{TORCHTITAN}: {run}: {chips} chips leave {copies} copies of batch {local}, as"
            " rules.csv has it"
        )
    action, _, reason = rule(TORCHTITAN, "micro_batch", str(degrees.get("PP", 1)))
    notes = (
        "" if "seq" in given else "sequence as in the published configuration",
        reason,
        "tensor-parallel communication overlapped within products"
        if "AsyncTP" in row["parallelism"]
        else "",
    )
    return {
        "run": run,
        "model": model,
        "accelerator": rule(TORCHTITAN, "accelerator", row["run_hw"]).ours,
        "accelerators": chips,
        "precision": precision,
        "task": "pretrain",
        "sequence": int(given.get("seq") or rule(TORCHTITAN, "sequence", row["model"]).ours),
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
        "note": "; ".join(filter(None, notes)),
    } | numbers(row, TORCHTITAN, run)


def _torchtitan_batch(row: Row) -> tuple[str, str, dict[str, str]]:
    """Sequences of a chip's batch and what is recomputed, as `rules.csv` has them for the table;
    and what the row prints of sequence (`seq`) and batch (`LBS`).
    """
    work = f"{row['model']} | {row['batch_seq']}"
    local, recompute = rule(TORCHTITAN, "batch;recompute", work).ours.split(";")
    return local, recompute, dict(re.findall(r"(seq|LBS)(\d+)", row["batch_seq"]))


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
            ours: int(row[theirs]) for theirs, ours in zip(("tp", "pp", "cp"), DEGREES, strict=True)
        }
        copies = copies_of(run, chips, layout)
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
        } | numbers(row, LLAMA, run)
