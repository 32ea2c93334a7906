"""Published measurements of running models: ML.ENERGY's chat workload."""

from __future__ import annotations

from pathlib import Path

from refresh.rules import quantities, read_csv, rule
from refresh.tables import Dropped, Items

SOURCES = frozenset({"mlenergy2026"})
CHAT = "ml_energy/v3_2026-02_lm-arena-chat.csv"


def energy_rows(raw: Path) -> Items:
    """Rows of `measured/energy`: power, energy and speed at each limit on sequences, figures to six digits."""
    for row in read_csv(raw, CHAT):
        split = f"tp{row['tensor_parallel']}-ep{row['expert_parallel']}-dp{row['data_parallel']}"
        chips = f"{row['gpu_model']}x{row['num_gpus']}"
        run = f"mlenergy-v3-chat/{row['model_id'].rpartition('/')[2]}/{chips}/{split}/{row['max_num_seqs']}"
        action, model, reason = rule(CHAT, "model", row["model_id"])
        if action == "drop":
            yield Dropped(run, reason)
            continue
        shared = "; Llama 3.3 has the shape of Llama 3.1" if "3.3" in row["model_id"] else ""
        yield {
            "run": run, "model": model, "accelerator": rule(CHAT, "accelerator", row["gpu_model"]).ours,
            "precision": rule(CHAT, "precision", row["weight_precision"]).ours, "task": "chat",
            "boundary": "accelerator", "released": "2026-02-16", "source": "mlenergy2026",
            "note": f"prompt length and engine version not stated{shared}",
        } | {quantity: float(f"{value:.6g}") for quantity, value, _ in quantities(row, CHAT, run)}  # fmt: skip
