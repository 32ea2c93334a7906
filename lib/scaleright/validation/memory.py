"""Published memory of training, by chip, against the bill of `training_memory`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.names import one_of
from scaleright.training.layout import RECOMPUTE, Layout, TrainingRun
from scaleright.training.memory import FSDP, FSDP_FUSED_LOSS, MEGATRON, MEGATRON_2022, training_memory
from scaleright.transformer import parameters
from scaleright.units import si
from scaleright.validation.report import Kind

SOFTWARE = {"megatron": MEGATRON, "megatron-2022": MEGATRON_2022, "fsdp": FSDP, "fsdp-fused-loss": FSDP_FUSED_LOSS}
RULE_BYTES = 16
"""The rule of thumb: bytes of memory for each parameter in training."""
_LAYOUT = {"tensor": "tensor_parallel", "pipeline": "pipeline_parallel", "context": "context_parallel", "data": "data_parallel",
           "virtual": "virtual_pipeline", "micro_batch": "micro_batch", "zero": "sharding", "sequence_parallel": "sequence_parallel"}  # fmt: skip
_FILL = dict.fromkeys([*_LAYOUT.values()], 1) | {"recompute": "none", "optimizer": "adamw", "software": "megatron", "part": "total"}


def _predicted(row: dict) -> float:
    """Bytes of the part that a row states: activations, state of the layers' parameters, or all that the framework sees."""
    layout = Layout(**{field: int(row[column]) for field, column in _LAYOUT.items()}, recompute=RECOMPUTE.index(row["recompute"]))
    shape = catalog.model(row["model"])
    if row["part"] == "layer state":
        shape = replace(shape, vocab=1, position_rows=0)
    run = TrainingRun(shape, None, row["accelerators"], row["sequence"], row["global_batch"], row["precision"])
    bill = training_memory(run, layout, row["optimizer"], SOFTWARE[one_of(row["software"], SOFTWARE, "software")])
    if row["part"] == "activations":
        return bill.activations_bytes
    if row["part"] == "layer state":
        return bill.weights_bytes + bill.gradients_bytes + bill.optimizer_bytes
    return bill.total - bill.reserve_bytes


def _judge(rows: pd.DataFrame, label: str) -> pd.DataFrame:
    records = rows.to_dict("records")
    predicted = np.array([_predicted(row) for row in records], dtype=float)
    published = rows["published_bytes"].to_numpy(dtype=float)
    rule = [RULE_BYTES * float(parameters(catalog.model(row["model"])).total) / row["accelerators"] for row in records]
    return rows.assign(
        predicted=predicted,
        error_percent=100 * (predicted / published - 1),
        baseline_error_percent=np.where(rows["part"] == "activations", np.nan, 100 * (np.array(rule) / published - 1)),
        scored=True,
    )


KIND = Kind(
    table="measured/memory",
    required=("model", "accelerators", "precision", "sequence", "global_batch", "published_bytes"),
    also={},
    fill=lambda rows: _FILL,
    judge=_judge,
    line=lambda row: f"{row.run:<36}{row.part:<14}{si(row.published_bytes, 'B'):>12}{si(row.predicted, 'B'):>12}",
    why=lambda row: "",
    shows="published, predicted",
    baseline="16 bytes a parameter, shared by all chips; nothing for activations",
    rule="every row; peaks of a framework do not see the reserve of driver and communication, so that it is left out",
    group="software",
)
