"""Rows of measured training as the model sees them: what was run, how it was laid out, by which
software, how long a step took.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.training.layout import RECOMPUTE, Layout, TrainingRun
from scaleright.training.memory import FSDP_FUSED_LOSS, MEGATRON, training_memory
from scaleright.training.parts import KINDS, physical_parts
from scaleright.training.rules import check
from scaleright.training.slowdowns import families, stack
from scaleright.training.step import model_flop
from scaleright.validation.counts import model_of

_LAYOUT = {
    "tensor": "tensor_parallel",
    "pipeline": "pipeline_parallel",
    "context": "context_parallel",
    "expert": "expert_parallel",
    "virtual": "virtual_pipeline",
    "micro_batch": "micro_batch",
}
_STATED = (
    "sequence",
    "global_batch",
    "micro_batch",
    "tensor_parallel",
    "pipeline_parallel",
    "context_parallel",
)


@dataclass(frozen=True)
class Case:
    """A row whose configuration determines the time of its step; one that does not says `why`, and
    has a time if it could be worked out.

    flop : model FLOP of a step as its publisher counts them, ours (causal) where it does not say
    seconds : time of each kind of work at measured peaks [s]
    families : the family of each kind's constant
    """

    why: str = ""
    run: TrainingRun | None = None
    measured_s: float = math.nan
    layout: Layout | None = None
    flop: float = math.nan
    seconds: np.ndarray | None = None
    families: dict[str, str] | None = None


def given(row: dict[str, Any], column: str, default: Any) -> Any:
    """A cell, or what stands for an empty one or a column that is not there."""
    return default if pd.isna(row.get(column)) else row[column]


def _undetermined(row: dict[str, Any], experts: int) -> str:
    """Why a row's configuration does not determine the time of its step; empty if it does."""
    needed = {
        "expert_parallel": experts > 0,
        "virtual_pipeline": given(row, "pipeline_parallel", 1) > 1,
    }
    if lacking := [
        column
        for column in (*_STATED, *needed)
        if needed.get(column, True) and pd.isna(row[column])
    ]:
        return f"does not state {', '.join(lacking)}"
    if row["routing"] == "token drop":
        return "drops tokens, so that its work is not that of its tokens"
    if given(row, "offload", False):
        return "keeps activations or optimizer state in host memory"
    return "splits each expert as well" if given(row, "expert_tensor_parallel", 1) > 1 else ""


def case(row: dict[str, Any], where: str, own: bool) -> Case:
    """A row as a case.

    Raises
    ------
    LookupError, DataError : a value of a reader's own file that cannot be used: which line, which
        column, what is allowed.
    """
    if not own and row["model"] not in catalog.models():
        return Case("its model's shape is not published")
    model = model_of(row, where)
    try:
        chip = catalog.accelerator(row["accelerator"])
    except LookupError as error:
        raise LookupError(f"{where}, column accelerator: {error}") from None
    if why := _undetermined(row, model.experts):
        return Case(why)
    chip = replace(
        chip, scale_out_bytes_per_s=given(row, "scale_out_bytes_per_s", chip.scale_out_bytes_per_s)
    )
    of, task, mtp = (
        stack(given(row, "software", None), given(row, "compiled", None)),
        row["task"],
        int(given(row, "mtp_modules", 0)),
    )
    run = TrainingRun(
        model,
        chip,
        *(int(row[name]) for name in ("accelerators", "sequence", "global_batch")),
        row["precision"],
        task,
        mtp,
    )
    degrees = {field: int(given(row, column, 1)) for field, column in _LAYOUT.items()}
    split = degrees["tensor"] * degrees["pipeline"] * degrees["context"]
    stated = given(row, "recompute", None)
    layout = Layout(
        **degrees,
        data=given(row, "data_parallel", run.chips / split),
        zero=int(given(row, "sharding", 3 if of.native else 1)),
        recompute=RECOMPUTE.index(stated or "none"),
        sequence_parallel=int(given(row, "sequence_parallel", degrees["tensor"] > 1)),
    )
    try:
        if pd.isna(row["data_parallel"]) and run.chips % split:
            raise ValueError(
                f"tensor_parallel x pipeline_parallel x context_parallel = {split} does not divide"
                f" accelerators = {run.chips}"
            )
        check(run, layout)
    except ValueError as error:
        if own:
            raise catalog.DataError(f"{where}: {error}") from None
        return Case(f"its layout as printed cannot run: {error}")
    software = FSDP_FUSED_LOSS if of.native else MEGATRON
    if not stated and not training_memory(
        run, replace(layout, recompute=2), software=software
    ).fits(run):
        return Case("its layout as printed does not fit in memory, whatever is recomputed")
    speed, rate = (
        given(row, name, math.nan)
        for name in (
            "measured_tokens_per_s_per_accelerator",
            "measured_model_flops_per_accelerator",
        )
    )
    measured = float(
        given(
            row,
            "measured_step_s",
            run.global_batch * run.sequence / run.chips / (speed or math.nan),
        )
    )
    flop = float(rate * run.chips * measured)
    parts = physical_parts(run, layout, of)
    return Case(
        "" if measured > 0 else "states no time of a step",
        run,
        measured,
        layout,
        flop if flop > 0 else float(model_flop(run)),
        np.array([float(sum(parts.seconds(kind))) for kind in KINDS]),
        families(run, of),
    )


def cases(rows: pd.DataFrame, label: str, own: bool) -> list[Case]:
    """Every row of a table as a case."""
    return [
        case(row, f"{label}, line {line}", own)
        for line, row in enumerate(rows.to_dict("records"), 2)
    ]
