"""Measured energy of inference, from ML.ENERGY's leaderboards: answers of language models, images
and videos.

The third leaderboard (2026) and the second (2024) differ in prompts and engines: their tasks carry
different names. All figures are of the accelerators alone, without host, network or building.
MLPerf's are of whole systems. Not read: the second leaderboard's 42 rows on pictures and text (all
of its models read pictures, and their shapes the catalog does not hold), and 37 rows of InferenceX
on DeepSeek-V4-Pro, of which nobody published how its cache is compressed.
"""

from __future__ import annotations

from pathlib import Path

from refresh import inference
from refresh.rules import quantities, read_csv, rule
from refresh.tables import Dropped, Items, Row, sift, to_float

SOURCES = frozenset({"mlenergy2026", "mlenergy2024"}) | inference.MLPERF_SOURCES
TASKS = {
    "lm-arena-chat": "chat",
    "gpqa": "gpqa",
    "sourcegraph-fim": "code completion",
    "image-chat": "image chat",
    "video-chat": "video chat",
}
PICTURES = ("text-to-image", "text-to-video")
SECOND = "ml_energy/v2_2024-09_llm_text_generation.csv"
SECOND_PICTURES = "ml_energy/v2_2024-09_diffusion.csv"
_SLOWER = 1.1
"""How many times the token time of a lesser chip, with all settings the same, the better chip may
take before its row is flagged.
"""
_BETTER, _LESSER = "B200", "H100 SXM"
_UNSTATED = "prompt length and format not stated; power is energy times speed"
ENGINES = {"mlenergy2026": "vLLM 0.11.1", "mlenergy2024": "vLLM 0.5.4"}
"""The engine of each leaderboard, from the documentation and scripts of its benchmark
[mlenergybenchmark2026].
"""
PROMPTS = {"gpqa": 224.6}
"""Mean length of a task's prompts [token], where it is known: 44,473 input tokens of 198 requests,
from a run's result header [mlenergybenchmark2026].
"""
_SAME = (
    "task",
    "model",
    "precision",
    "accelerators",
    "tensor_parallel",
    "expert_parallel",
    "data_parallel",
    "max_sequences",
)


def _round(row: Row, file: str, run: str) -> Row:
    return {quantity: float(f"{value:.6g}") for quantity, value, _ in quantities(row, file, run)}


def energy_rows(raw: Path, done: dict[str, list[Row]]) -> Items:
    """Rows of `measured/energy`: power, energy and speed at each limit on sequences, figures to six
    digits; `done` are the tables before it.
    """
    found, dropped = sift(item for stem, task in TASKS.items() for item in _third(raw, stem, task))
    _flag(found)
    yield from (*found, *dropped)
    yield from _second(raw)
    yield from inference.mlperf_power_rows(done)


def _third(raw: Path, stem: str, task: str) -> Items:
    file = f"ml_energy/v3_2026-02_{stem}.csv"
    for row in read_csv(raw, file):
        split = f"tp{row['tensor_parallel']}-ep{row['expert_parallel']}-dp{row['data_parallel']}"
        chips = f"{row['gpu_model']}x{row['num_gpus']}"
        name = row["model_id"].rpartition("/")[2]
        run = f"mlenergy-v3-{task.replace(' ', '-')}/{name}/{chips}/{split}/{row['max_num_seqs']}"
        action, names, reason = rule(file, "model", row["model_id"])
        if action == "drop":
            yield Dropped(run, reason)
            continue
        model, _, remark = names.partition(";")
        remark = f"; {remark}" if remark else ""
        yield {
            "run": run,
            "model": model,
            "accelerator": rule(file, "accelerator", row["gpu_model"]).ours,
            "precision": rule(file, "precision", row["weight_precision"]).ours,
            "task": task,
            "boundary": "accelerator",
            "software": ENGINES["mlenergy2026"],
            "released": "2026-02-16",
            "source": "mlenergy2026",
            "input_tokens": PROMPTS.get(task),
            "note": (
                f"prompt length not stated{remark}"
                if task not in PROMPTS
                else remark.removeprefix("; ")
            ),
        } | _round(row, file, run)


def _flag(rows: list[Row]) -> None:
    """Note rows of the chip that leads on every line of its datasheet and yet takes longer between
    tokens, all else the same.
    """
    lesser = {
        tuple(row[name] for name in _SAME): row["measured_itl_s"]
        for row in rows
        if row["accelerator"] == _LESSER
    }
    for row in rows:
        other = lesser.get(tuple(row[name] for name in _SAME))
        if row["accelerator"] == _BETTER and other and row["measured_itl_s"] > _SLOWER * other:
            ratio = row["measured_itl_s"] / other
            flag = (
                f"anomaly: {ratio:.2f} times the token time of the {_LESSER} with all else the"
                " same: not bound by the chip"
            )
            row["note"] = "; ".join(filter(None, [row["note"], flag]))


def _second(raw: Path) -> Items:
    """The second leaderboard; energy per token follows from that of a request and its mean
    length.
    """
    for row in read_csv(raw, SECOND):
        kind = row["task"].rpartition("/")[2]
        name, split = row["Model"].rpartition("/")[2], f"tp{row['TP']}-pp{row['PP']}"
        run = f"mlenergy-v2-{kind}/{name}/{row['gpu_dir']}/{split}/{row['Max BS (reqs)']}"
        action, names, reason = rule(SECOND, "model", row["Model"])
        if action == "drop":
            yield Dropped(run, reason)
            continue
        model, _, remark = names.partition(";")
        figures = _round(row, SECOND, run)
        per_token = figures["measured_joules_per_request"] / figures["output_tokens"]
        yield {
            "run": run,
            "model": model,
            "accelerator": rule(SECOND, "accelerator", row["GPU"]).ours,
            "accelerators": int(row["TP"]) * int(row["PP"]),
            "precision": "BF16",
            "expert_parallel": 1,
            "data_parallel": 1,
            "task": rule(SECOND, "task", kind).ours,
            "boundary": "accelerator",
            "software": ENGINES["mlenergy2024"],
            "released": "2024-09-01",
            "measured_joules_per_token": float(f"{per_token:.6g}"),
            "measured_watts": float(f"{per_token * figures['measured_output_tokens_per_s']:.6g}"),
            "source": "mlenergy2024",
            "note": "; ".join(
                filter(
                    None,
                    [_UNSTATED, remark, f"{row['PP']} pipeline stages" if row["PP"] != "1" else ""],
                )
            ),
        } | figures


def image_rows(raw: Path) -> Items:
    """Rows of `measured/images`: energy of an image or a video by model, chip, size, steps and
    batch.
    """
    for task in PICTURES:
        file = f"ml_energy/v3_2026-02_{task}.csv"
        for row in read_csv(raw, file):
            split = f"u{row['ulysses_degree']}-r{row['ring_degree']}"
            chips = f"{row['gpu_model']}x{row['num_gpus']}"
            name = row["model_id"].rpartition("/")[2]
            run = f"mlenergy-v3-{task}/{name}/{chips}/{split}/{row['batch_size']}"
            yield {
                "run": run,
                "model": row["nickname"],
                "task": task,
                "accelerator": rule(file, "accelerator", row["gpu_model"]).ours,
                "precision": rule(file, "precision", row["weight_precision"]).ours,
                "boundary": "accelerator",
                "released": "2026-02-16",
                "source": "mlenergy2026",
                "note": "",
            } | _round(row, file, run)
    for row in read_csv(raw, SECOND_PICTURES):
        name, task = row["Model"].rpartition("/")[2], row["task"].rpartition("/")[2]
        run = (
            f"mlenergy-v2-{task}/{name}/{row['gpu_dir']}/f{row['Frames'] or 1}/{row['Batch size']}"
        )
        latency, batch = (
            to_float(row[column], SECOND_PICTURES, run, column)
            for column in ("Batch latency (s)", "Batch size")
        )
        yield {
            "run": run,
            "model": name,
            "task": task,
            "accelerator": rule(SECOND, "accelerator", row["GPU"]).ours,
            "accelerators": 1,
            "precision": "FP16",
            "boundary": "accelerator",
            "released": "2024-09-01",
            "measured_outputs_per_s": float(f"{batch / latency:.6g}"),
            "source": "mlenergy2024",
            "note": "size of the picture and number format not stated: half precision assumed",
        } | _round(row, SECOND_PICTURES, run)
