"""Published memory of training, by chip, against the bill of `training_memory`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.formulas import lookup
from scaleright.training.layout import RECOMPUTE, Layout, TrainingRun
from scaleright.training.memory import (
    FRAGMENTATION,
    FSDP,
    FSDP_FUSED_LOSS,
    MEGATRON,
    MEGATRON_2022,
    Software,
    TrainingMemory,
    training_memory,
)
from scaleright.transformer import parameters
from scaleright.units import si, significant
from scaleright.validation import checks
from scaleright.validation.cases import configured, published_run
from scaleright.validation.report import Kind, Problem, where

SOFTWARE = {
    "megatron": MEGATRON,
    "megatron-2022": MEGATRON_2022,
    "fsdp": FSDP,
    "fsdp-fused-loss": FSDP_FUSED_LOSS,
}
RULE_BYTES = 16
"""The rule of thumb: bytes of memory for each parameter in training."""
_BATCH = ("accelerators", "sequence", "global_batch")
_LAYOUT = {name: f"{name}_parallel" for name in ("tensor", "pipeline", "context", "data")}
_LAYOUT |= {
    "virtual": "virtual_pipeline",
    "zero": "sharding",
    "micro_batch": "micro_batch",
    "sequence_parallel": "sequence_parallel",
}
_FILL = dict.fromkeys(_LAYOUT.values(), 1) | {
    "recompute": "none",
    "optimizer": "adamw",
    "software": "megatron",
    "part": "total",
}


def fullness(rows: pd.DataFrame, software: Software, recompute: str | None = None) -> pd.Series:
    """Share of the chip's memory that each run of `measured/training` takes, by its key; a run that
    was measured did fit.

    Rows whose configuration is not determined are left out.

    Parameters
    ----------
    recompute : what all of them recompute, instead of what each row says

    >>> foundry = catalog.table("measured/training").query("source == 'llmfoundry'")
    >>> bool(fullness(foundry, FSDP_FUSED_LOSS).max() < 0.95)
    True
    """
    shares = {}
    for row, of in configured(rows, published_run):
        if not of.why:
            kept = RECOMPUTE.index(recompute) if recompute else of.layout.recompute
            memory = training_memory(of.run, replace(of.layout, recompute=kept), software=software)
            shares[row["run"]] = memory.total / of.run.chip.require("memory_bytes")
    return pd.Series(shares)


@dataclass(frozen=True)
class Fullness:
    """How full runs that were measured are by the bill: runs, how many it refuses in words, how
    many take more than `FULL` of their chip, and the share that the fullest takes.
    """

    runs: int
    refused: str
    full: int
    most: float


FULL = 0.7
"""Share of a chip that a batch chosen to fill the memory takes at least."""


def foundry_fullness() -> Fullness:
    """`Fullness` of the runs that MosaicML published.

    >>> foundry_fullness().refused
    'none'
    """
    measured = catalog.table("measured/training")
    shares = fullness(measured[measured["source"] == "llmfoundry"], FSDP_FUSED_LOSS)
    refused, full = int((shares > 1).sum()), int((shares > FULL).sum())
    return Fullness(len(shares), str(refused or "none"), full, shares.max())


def _predicted(row: dict) -> float:
    """Bytes of the part that a row states: activations, state of the layers' parameters, or all
    that the framework sees.
    """
    layout = Layout(
        **{name: int(row[column]) for name, column in _LAYOUT.items()},
        recompute=RECOMPUTE.index(row["recompute"]),
    )
    if layout.chips != row["accelerators"]:
        degrees = "tensor", "pipeline", "context", "data"
        parts = " x ".join(f"{name} {getattr(layout, name)}" for name in degrees)
        raise ValueError(
            f"accelerators = {row['accelerators']}, but its layout takes {parts} = {layout.chips}"
        )
    shape = catalog.model(row["model"])
    if row["part"] == "layer state":
        shape = replace(shape, vocab=1, position_rows=0)
    chip: Any = None  # of any size
    run = TrainingRun(shape, chip, *(row[name] for name in _BATCH), precision=row["precision"])
    bill = training_memory(run, layout, row["optimizer"], SOFTWARE[row["software"]])
    state = bill.weights_bytes + bill.gradients_bytes + bill.optimizer_bytes
    return {
        "activations": bill.activations_bytes,
        "layer state": state,
        "total": bill.total - bill.reserve_bytes,
    }[row["part"]]


def _unfit(rows: pd.DataFrame) -> Iterator[Problem]:
    """Layouts that are none, and memory that no chip has."""
    yield from checks.of_each_run(_predicted)(rows)
    largest = max(chip.memory_bytes or 0 for chip in catalog.accelerators().values())
    yield from where(
        rows,
        rows["published_bytes"] > largest,
        "published_bytes",
        lambda row: f"{row.published_bytes:g} B is more than any chip holds, {largest:g} B",
    )


def _judge(rows: pd.DataFrame, label: str) -> pd.DataFrame:
    predicted = np.array([_predicted(row) for row in rows.to_dict("records")], dtype=float)
    published = rows["published_bytes"].to_numpy(dtype=float)
    size = rows["model"].map(lambda name: float(parameters(catalog.model(name)).total))
    rule = (RULE_BYTES * size / rows["accelerators"]).to_numpy(float)
    rule[rows["part"] == "activations"] = np.nan
    return rows.assign(
        published=published,
        predicted=predicted,
        error_percent=100 * (predicted / published - 1),
        baseline_error_percent=100 * (rule / published - 1),
        scored=True,
    )


WITHOUT_TENSOR = "FSDP without tensor parallelism"


@lookup
def memory_groups(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Judged rows of published memory by how it was kept, by the words for it."""
    fsdp, alone = rows["software"].str.startswith("fsdp"), rows["tensor_parallel"] == 1
    return {
        "Figure 1 of Korthikanti et al.": rows[rows["source"] == "korthikanti2022"],
        WITHOUT_TENSOR: rows[fsdp & alone],
        "FSDP with tensor parallelism": rows[fsdp & ~alone],
    }


@dataclass(frozen=True)
class Peaks:
    """How far the bill is off published peaks of PyTorch's FSDP without tensor parallelism: the
    least and the greatest of computed over published [1], and the median error in words.
    """

    least: float
    greatest: float
    said: str

    def around(self, bill: TrainingMemory) -> tuple[Any, Any]:
        """Where the memory of such a run lies by all of these [B]. What published peaks lie above
        the tensors is in them, so that the bill's own allowance for it does not count again.
        """
        tensors = bill.total - bill.reserve_bytes
        held = bill.reserve_bytes - FRAGMENTATION * tensors  # by driver and communication
        return tensors / self.greatest + held, tensors / self.least + held


@lookup
def fsdp_peaks(judged: pd.DataFrame) -> Peaks:
    """What `Peaks` there are among judged rows of published memory."""
    rows = memory_groups(judged)[WITHOUT_TENSOR]
    off = rows["error_percent"]
    said = (
        f"{significant(off.abs().median(), 2)} % at the median of {len(rows)} published peaks of"
        f" FSDP, all of {' and '.join(rows['model'].unique())}, nothing fitted"
    )
    return Peaks(1 + off.min() / 100, 1 + off.max() / 100, said)


@lookup
def memory_errors(groups: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """How far off each group of judged rows is: how many they are, and the least, the median and
    the greatest error [%].

    >>> rows = pd.DataFrame({"error_percent": [-2.0, 1.0, 3.0]})
    >>> memory_errors({"all": rows}).to_dict("records")
    [{'figures': 'all', 'rows': 3, 'least': -2.0, 'median': 1.0, 'greatest': 3.0}]
    """
    of = {group: rows["error_percent"] for group, rows in groups.items()}
    columns = ["figures", "rows", "least", "median", "greatest"]
    rows = [(group, len(off), off.min(), off.median(), off.max()) for group, off in of.items()]
    return pd.DataFrame(rows, columns=columns)


KIND = Kind(
    table="measured/memory",
    required=("model", "accelerators", "precision", "sequence", "global_batch", "published_bytes"),
    fill=_FILL,
    check=checks.staged(checks.basics, _unfit),
    judge=_judge,
    columns={"run": 36, "part": 13},
    figure=lambda _, value: si(value, "B"),
    why=lambda row: "",
    shows="published, predicted",
    baseline="16 bytes a parameter, shared by all chips; nothing for activations",
    rule=(
        "every row; peaks of a framework do not see the reserve of driver and communication, so"
        " that it is left out"
    ),
    group="software",
)
