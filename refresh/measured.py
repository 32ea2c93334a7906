"""Published measurements of serving: NVIDIA's throughput tables, latencies of InferenceX, MLPerf's
language models.
"""

from __future__ import annotations

import re
from math import prod
from pathlib import Path

from refresh import inference
from refresh.rules import quantities, read_csv, rule
from refresh.tables import Dropped, Items, RefreshError, Row, to_float

SERVING_SOURCES = frozenset({"tensorrtllm2025", "siliconrefs2026"}) | inference.MLPERF_SOURCES
TENSORRT_LLM = "inference_perf/tensorrt_llm_perf_overview.csv"
SILICON = "inference_perf/aiconfigurator_silicon_refs.csv"
_TOLERANCE = 0.1
"""How far two chips' speeds may lie outside what their datasheets allow before the better chip's
row is flagged.
"""
_DRAWN = 0.9
"""Mean length over the nominal one in InferenceX, whose harness draws lengths evenly from 80 to 100
% of it [inferencemax2026]; not in NVIDIA's own runs.
"""
_ONE_NODE = (
    "on as many chips of one node as InferenceX's script has; the file multiplies them by those of"
    " the experts"
)
_ADVANTAGES = ("memory_bytes", "memory_bytes_per_s", "scale_up_bytes_per_s")
_SPEED = "measured_output_tokens_per_s_per_accelerator"
_REQUESTS = (
    ("128/128", 30000),
    ("128/2048|500/2000|1000/1000|1024/1024|2048/128", 3000),
    ("128/4096|1000/2000|2048/2048|5000/500|8192/1024|1024/8192", 1500),
    ("20000/2000|32768/1024|1024/32768", 1000),
)
"""Requests of a run by the lengths of its prompts and answers, from the page's own table."""


def serving_rows(raw: Path, done: dict[str, list[Row]]) -> Items:
    """Rows of `measured/serving`, those beyond what datasheets allow flagged; `done` are the tables
    before it.
    """
    models = {row["name"]: row for row in done["models"]}
    yield from _flagged(list(_tensorrt_llm(raw, models)), done["accelerator_specs"])
    yield from _silicon(raw)
    yield from inference.mlperf_rows(done)


def _tensorrt_llm(raw: Path, models: dict[str, Row]) -> Items:
    """Throughput under maximum load, one row a shape of request and system."""
    for row in read_csv(raw, TENSORRT_LLM):
        yield _tensorrt_llm_run(row, models)


def _tensorrt_llm_run(row: Row, models: dict[str, Row]) -> Row | Dropped:
    version = rule(TENSORRT_LLM, "software", row["doc_version"]).ours
    model = rule(TENSORRT_LLM, "model", row["model"]).ours
    precision = rule(TENSORRT_LLM, "precision", f"{row['model']} | {row['precision']}").ours
    chips, lengths = int(row["n_gpus"]), f"{row['isl']}/{row['osl']}"
    system = f"{row['gpu']}x{row['n_gpus']}/{row['parallelism'].replace(',', '-')}"
    work = f"{row['model'].replace(' ', '-')}/{system}/{precision}/{lengths.replace('/', '-')}"
    run = f"trtllm-{version.rpartition(' ')[2]}/{work}"
    layout, notes = _tensorrt_llm_layout(row, run, chips, models[model])
    each, whole = (
        to_float(row[name], TENSORRT_LLM, run, name)
        for name in ("output_tok_s_per_gpu", "output_tok_s_total")
    )
    if abs(whole - each * chips) > 0.01 * whole:
        return Dropped(run, f"total ({whole:g}) and per chip ({each:g} x {chips}) disagree")
    cache = f"{version} | {row['model']} | {row['gpu']}"
    requests = (count for shapes, count in _REQUESTS if lengths in shapes.split("|"))
    return {
        "run": run,
        "model": model,
        "accelerator": rule(TENSORRT_LLM, "accelerator", row["gpu"]).ours,
        "accelerators": chips,
        "precision": precision,
        "kv_precision": rule(TENSORRT_LLM, "cache precision", cache).ours,
        **layout,
        "mode": "aggregated",
        "scenario": "maximum load",
        "requests": next(requests, None),
        "input_tokens": int(row["isl"]),
        "output_tokens": int(row["osl"]),
        "software": version,
        _SPEED: each,
        "source": "tensorrtllm2025",
        "note": "; ".join(notes),
    }


def _tensorrt_llm_layout(
    row: Row, run: str, chips: int, model: Row
) -> tuple[dict[str, int | None], list[str]]:
    """Degrees of parallelism of a row, and where the page says other than is taken.

    The pages serve mixtures of experts with attention data-parallel (their options say so): what
    they call the tensor parallel degree of such a model spreads whole experts and whole sequences
    over the chips.
    """
    degrees = {
        name: int(degree) for name, degree in re.findall(r"(DEP|TP|PP)(\d+)", row["parallelism"])
    }
    if prod(degrees.values()) != chips:
        raise RefreshError(
            f"{TENSORRT_LLM}: {run}: {row['parallelism']} does not fill {chips} chips"
        )
    notes = ["Llama 3.3 has the shape of Llama 3.1"] if "3.3" in row["model"] else []
    if model["precision"].startswith("MXFP4") and row["precision"] == "FP8":
        notes.append("FP8 says the page; the weights are published in MXFP4")
    if int(model["experts"]) and degrees.get("TP", 1) > 1:
        degrees["DEP"] = degrees.pop("TP")
        notes.append(
            "TP says the page, whose options for mixtures of experts run attention data-parallel"
        )
    return {
        "tensor_parallel": degrees.get("TP", 1),
        "pipeline_parallel": degrees.get("PP", 1),
        "expert_parallel": degrees.get("DEP"),
        "attention_data_parallel": degrees.get("DEP"),
    }, notes


def _flagged(items: list[Row | Dropped], specs: list[Row]) -> Items:
    """Note rows of a chip that is measured further above, or below, a lesser chip than its
    datasheet leads.

    A chip leads another one if none of its memory, bandwidth, peak and (beyond one chip) link is
    lower. Its best system of the same page, model, format and request must then be neither slower
    nor faster by more than its largest lead, give or take a tolerance: what a larger batch, a wider
    bus or more arithmetic could explain.
    """
    sheet: dict[str, dict[str, float]] = {}
    for fact in specs:
        sheet.setdefault(fact["accelerator"], {})[fact["quantity"]] = float(fact["value"])
    rows = [item for item in items if not isinstance(item, Dropped)]
    same = ("software", "model", "precision", "input_tokens", "output_tokens")
    best: dict[tuple, Row] = {}
    for row in rows:
        where = (*(row[name] for name in same), row["accelerator"])
        if where not in best or best[where][_SPEED] < row[_SPEED]:
            best[where] = row
    for where, row in best.items():
        peak = "dense_fp4_flops" if row["precision"].endswith("FP4") else "dense_fp8_flops"
        for (*shape, other), lesser in best.items():
            if shape != list(where[:-1]) or other == row["accelerator"]:
                continue
            names = [
                peak,
                *_ADVANTAGES[: 3 if max(row["accelerators"], lesser["accelerators"]) > 1 else 2],
            ]
            # A chip without FP4 arithmetic unpacks such weights to BF16.
            mine, its = (
                [of.get(name, of["dense_bf16_flops"]) for name in names]
                for of in (sheet[row["accelerator"]], sheet[other])
            )
            leads = [a / b for a, b in zip(mine, its, strict=True)]
            ratio = row[_SPEED] / lesser[_SPEED]
            if min(leads) >= 1 and not 1 - _TOLERANCE <= ratio <= (1 + _TOLERANCE) * max(leads):
                flag = (
                    f"anomaly: {ratio:.2f} times the {other}, whose datasheet it leads by at most"
                    f" {max(leads):.2f}"
                )
                row["note"] = "; ".join(filter(None, [row["note"], flag]))
    yield from items


def _silicon(raw: Path) -> Items:
    """Latencies at a stated batch or concurrency, with the whole layout."""
    seen: dict[tuple[str, str], str] = {}
    for row in read_csv(raw, SILICON):
        run = f"silicon/{row['id']}"
        action, model, reason = rule(SILICON, "model", row["model_path"])
        timed = (row["silicon_ttft_ms"], row["silicon_tpot_ms"])
        if action == "drop" or timed in seen:
            yield Dropped(run, reason or f"the same measurement as {seen[timed]}")
            continue
        seen[timed] = run
        yield _silicon_run(row, run, model)


def _silicon_run(row: Row, run: str, model: str) -> Row:
    told = dict(re.findall(r"(\w+)=([^;]+)", row["silicon_data_source"]))
    nominal = "gap-analysis" in row["silicon_data_source"]
    notes = {
        "work in progress, says the source": told.get("wip") == "True",
        "lengths drawn from 80 to 100 % of the nominal ones, of which these are the means": (
            not nominal
        ),
        "format not stated: that of the published weights": not row["precision"],
        "layout and batch are those of the decode pool": row["mode"] == "disagg",
    }
    software = f"{rule(SILICON, 'software', row['backend']).ours} {row['backend_version']}"
    if tensor := rule(SILICON, "tensor parallel", row["id"]).ours:
        row, notes = {**row, "tp_size": tensor}, notes | {_ONE_NODE: True}
    return {
        "run": run,
        "model": model,
        "accelerator": rule(SILICON, "accelerator", row["system"]).ours,
        "precision": rule(SILICON, "precision", row["precision"]).ours,
        **_silicon_layout(row),
        "scenario": "concurrency",
        "concurrency": to_float(told.get("silicon_concurrency", ""), SILICON, run, "concurrency"),
        "software": software.strip(),
        "released": told.get("measured", "")[:10],
        "same_lengths": nominal or None,
        "source": "siliconrefs2026",
        "note": "; ".join(note for note, holds in notes.items() if holds),
    } | {
        quantity: float(
            f"{value * (1 if nominal or not quantity.endswith('_tokens') else _DRAWN):.6g}"
        )
        for quantity, value, _ in quantities(row, SILICON, run)
    }


def _silicon_layout(row: Row) -> dict[str, int | str | None]:
    """Chips, degrees of parallelism and batch; of separate pools, those of the one that decodes."""
    apart = row["mode"] == "disagg"
    pool = "decode_" if apart else ""
    prefill, decode = (_chips(row, "prefill_"), _chips(row, "decode_")) if apart else (None, None)
    return {
        "accelerators": prefill + decode if apart else _chips(row, ""),
        "tensor_parallel": _degree(row, f"{pool}tp_size"),
        "pipeline_parallel": _degree(row, f"{pool}pp_size"),
        "expert_parallel": _degree(row, f"{pool}moe_ep_size"),
        "attention_data_parallel": _degree(row, f"{pool}attention_dp_size"),
        "mode": "disaggregated" if apart else "aggregated",
        "prefill_accelerators": prefill,
        "decode_accelerators": decode,
        "batch": _degree(row, f"{pool}batch_size"),
    }


def _degree(row: Row, column: str) -> int | None:
    """A whole number of the row; None where the cell is empty or 0."""
    return int(row[column]) if row[column] not in ("", "0") else None


def _chips(row: Row, pool: str) -> int:
    """Chips of a pool: its workers by the chips of one."""
    sizes = ("tp_size", "pp_size", "attention_dp_size", *(("num_workers",) if pool else ()))
    return prod(_degree(row, pool + size) or 1 for size in sizes)
