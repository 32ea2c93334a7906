"""Import published measurements of running models: ML.ENERGY's chat workload."""

from __future__ import annotations

import re
from pathlib import Path

from scaleright.press.refresh.tables import Dropped, Row, read_csv

SOURCES = frozenset({"mlenergy2026"})
CHAT = "ml_energy/v3_2026-02_lm-arena-chat.csv"
COLUMNS = (
    "task", "activated_params_billions", "architecture", "avg_batch_size", "avg_output_len", "avg_power_watts",
    "data_parallel", "energy_per_request_joules", "energy_per_token_joules", "expert_parallel", "gpu_model",
    "max_num_seqs", "median_itl_ms", "model_id", "nickname", "num_gpus", "output_throughput_tokens_per_sec",
    "p90_itl_ms", "p95_itl_ms", "p99_itl_ms", "tensor_parallel", "total_params_billions", "weight_precision",
)  # fmt: skip
CHIPS = {"H100": "H100 SXM", "B200": "B200"}
PRECISIONS = {"bfloat16": "BF16", "fp8": "FP8"}
HYBRID = re.compile("Nemotron-Nano")


def _model(name: str) -> str:
    """The catalog's name of a model: organization and marks of tuning and format taken off."""
    base = re.sub(r"-(Instruct|it|2507|FP8|17B-128E|17B-16E|v\d)\b", "", name.rpartition("/")[2])
    return base.replace("gemma-3-", "Gemma-3-").replace("27b", "27B").replace("12b", "12B").replace("Llama-3.3-70B", "Llama-3.1-70B")


def _number(text: str, digits: int = 6) -> float:
    return float(f"{float(text):.{digits}g}")


def energy_rows(raw: Path) -> tuple[list[Row], list[Dropped]]:
    """Rows of `measured/energy`: power, energy and speed at each limit on sequences; hybrids with state layers are left out."""
    good, dropped = [], []
    for row in read_csv(raw / CHAT, COLUMNS):
        split = f"tp{row['tensor_parallel']}-ep{row['expert_parallel']}-dp{row['data_parallel']}"
        run = f"mlenergy-v3-chat/{row['model_id'].rpartition('/')[2]}/{row['gpu_model']}x{row['num_gpus']}/{split}/{row['max_num_seqs']}"
        if HYBRID.search(row["model_id"]):
            dropped.append(Dropped(run, "state-space hybrid whose shape the catalog does not hold"))
            continue
        good.append({
            "run": run, "model": _model(row["model_id"]), "accelerator": CHIPS[row["gpu_model"]], "accelerators": int(row["num_gpus"]),
            "task": "chat", "precision": PRECISIONS[row["weight_precision"]], "tensor_parallel": int(row["tensor_parallel"]),
            "expert_parallel": int(row["expert_parallel"]), "data_parallel": int(row["data_parallel"]), "boundary": "accelerator",
            "batch": _number(row["avg_batch_size"]), "max_sequences": int(row["max_num_seqs"]), "output_tokens": _number(row["avg_output_len"]),
            "released": "2026-02-16", "measured_watts": _number(row["avg_power_watts"]),
            "measured_joules_per_token": _number(row["energy_per_token_joules"]),
            "measured_joules_per_request": _number(row["energy_per_request_joules"]),
            "measured_output_tokens_per_s": _number(row["output_throughput_tokens_per_sec"]),
            "measured_itl_s": _number(str(float(row["median_itl_ms"]) / 1e3)), "source": "mlenergy2026",
            "note": "prompt length and engine version not stated; Llama 3.3 has the shape of Llama 3.1" if "3.3" in row["model_id"] else "prompt length and engine version not stated",
        })  # fmt: skip
    return good, dropped
