"""Rows of measured energy in the words of measured serving, so that one model of time predicts both."""

from typing import Any, Mapping

import pandas as pd

PROMPTS = {"chat": 200.0, "code completion": 1000.0, "chat 2024": 150.0, "code 2024": 150.0}
"""Mean prompt of tasks whose publication does not state it [token]: fitted, one a task, to the nearest of 50, 100, 150, 200, 300 ... 2,000
that leaves the least median error of the energy of groups left out."""
PICTURES = ("image chat", "video chat")
"""Tasks whose prompts hold pictures, of which no count of tokens is published."""


def serving_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of `measured/energy` in the columns of `measured/serving`.

    Where experts are spread over several chips, those that do not repeat attention (`data_parallel`) share it by tensor parallelism, as
    vLLM's flags do; chips beyond tensor and data parallel degrees are pipeline stages.

    >>> row = {"accelerators": 16, "tensor_parallel": 8, "expert_parallel": 1, "data_parallel": 1, "task": "chat", "input_tokens": None,
    ...        "measured_output_tokens_per_s": 3200.0}
    >>> serving = serving_row(row)
    >>> serving["pipeline_parallel"], serving["input_tokens"], serving["measured_output_tokens_per_s_per_accelerator"]
    (2, 200.0, 200.0)
    """
    chips, given = row["accelerators"], {name: row[f"{name}_parallel"] for name in ("tensor", "expert", "data")}
    data, expert, tensor = (1 if pd.isna(given[name]) else int(given[name]) for name in ("data", "expert", "tensor"))
    shared = chips // data if expert > 1 else tensor
    return dict(row) | {
        "tensor_parallel": None if pd.isna(given["tensor"]) else shared, "attention_data_parallel": data, "expert_parallel": expert,
        "pipeline_parallel": max(chips // (shared * data), 1), "mode": "aggregated", "scenario": "concurrency",
        "input_tokens": PROMPTS.get(row["task"]) if pd.isna(row["input_tokens"]) else row["input_tokens"],
        "measured_output_tokens_per_s_per_accelerator": row["measured_output_tokens_per_s"] / chips,
    }  # fmt: skip
