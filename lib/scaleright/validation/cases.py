"""Rows of measured training as the model sees them: what was run, how it was laid out, by which
software, how long a step took.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.architecture import SHAPE_FIELDS, Transformer
from scaleright.training.hiding import shown_parts
from scaleright.training.layout import RECOMPUTE, Layout, TrainingRun
from scaleright.training.machine import Stack
from scaleright.training.memory import FSDP_FUSED_LOSS, MEGATRON, training_memory
from scaleright.training.parts import KINDS, Work, work
from scaleright.training.rules import check, divisors, nearest_of
from scaleright.training.slowdowns import families, stack
from scaleright.training.step import model_flop
from scaleright.validation.report import bar

# The model of a row: by its name, or by its shape in columns of the row


SHAPE_TYPES = {
    name: "boolean" if kind == "bool" else "integer"
    for name, kind in Transformer.__annotations__.items()
    if name != "name"
}
"""Columns of a shape and their types."""


def model_of(row: Mapping[str, Any]) -> Transformer:
    """The model of a row: by its shape columns if they are filled, else by name."""
    shape = {c: row[c] for c in SHAPE_FIELDS[1:] if c in row and not pd.isna(row[c])}
    try:
        return Transformer(name=row["model"], **shape) if shape else catalog.model(row["model"])
    except LookupError as error:
        raise LookupError(
            f"{error}; or give its shape in columns layers, hidden, heads, ..."
        ) from None
    except (TypeError, ValueError) as error:
        raise catalog.DataError(
            f"shape of {row['model']!r}: {str(error).removeprefix('Transformer.__init__() ')}"
        ) from None


_LAYOUT = {of: f"{of}_parallel" for of in ("tensor", "pipeline", "context", "expert")}
_LAYOUT |= {"virtual": "virtual_pipeline", "micro_batch": "micro_batch"}
_STATED = ("sequence", "global_batch", "micro_batch", *list(_LAYOUT.values())[:3])
UNDETERMINED: Any = None
"""What stands in a case for what its row does not determine: the case says `why`, and whoever takes
cases looks at that first.
"""


@dataclass(frozen=True)
class Configuration:
    """What a row ran, or `why` that does not determine the time of its step."""

    why: str = ""
    run: TrainingRun = UNDETERMINED
    layout: Layout = UNDETERMINED
    software: Stack = UNDETERMINED

    @cached_property
    def flop(self) -> float:
        """Model FLOP of a step, with causal attention."""
        return float(model_flop(self.run))

    @cached_property
    def work(self) -> Work:
        """The work of a step at measured peaks."""
        return work(self.run, self.layout, self.software)

    @cached_property
    def families(self) -> dict[str, str]:
        """The family of each kind's constant."""
        return families(self.run, self.software)


@dataclass(frozen=True, eq=False)  # a fit knows its cases by themselves
class Case:
    """A row whose configuration determines the time of its step; one that does not says `why`, and
    has a time if it could be worked out.

    flop : model FLOP of a step as its publisher counts them, ours (causal) where it does not say
    work : of a step, at measured peaks
    families : the family of each kind's constant
    """

    why: str = ""
    run: TrainingRun = UNDETERMINED
    measured_s: float = math.nan
    layout: Layout = UNDETERMINED
    flop: float = math.nan
    work: Work = UNDETERMINED
    families: dict[str, str] = UNDETERMINED

    def seconds(self, slow: Mapping[str, Any]) -> np.ndarray:
        """Time of each kind of work that shows, at measured peaks [s], where work takes so many
        times as long in practice: numbers, or arrays of one shape, (kinds, ...).
        """
        parts = shown_parts(self.work, slow)
        return np.stack(np.broadcast_arrays(*(sum(parts.seconds(kind)) for kind in KINDS)))


def given(row: Mapping[str, Any], column: str, default: Any) -> Any:
    """A cell, or what stands for an empty one or a column that is not there."""
    return default if pd.isna(row.get(column)) else row[column]


def _undetermined(row: dict[str, Any], experts: int) -> str:
    """Why a row's configuration does not determine the time of its step; empty if it does."""
    staged = given(row, "pipeline_parallel", 1) > 1
    needed = {"expert_parallel": experts > 0, "virtual_pipeline": staged}
    asked = (column for column in (*_STATED, *needed) if needed.get(column, True))
    if lacking := [column for column in asked if pd.isna(row[column])]:
        return f"does not state {', '.join(lacking)}"
    if row["routing"] == "token drop":
        return "drops tokens, so that its work is not that of its tokens"
    if given(row, "offload", False):
        return "keeps activations or optimizer state in host memory"
    return "splits each expert as well" if given(row, "expert_tensor_parallel", 1) > 1 else ""


def _replicas(row: dict[str, Any], ranks: int) -> int:
    """Groups that each hold all of what so many ranks share out; raises ValueError where the shards
    of a row do not divide them.
    """
    shards = int(given(row, "shards", ranks))
    if ranks % shards:
        near = nearest_of(shards, divisors(ranks))
        raise ValueError(
            f"shards = {shards} does not divide data x context parallel ranks = {ranks}; {near}"
        )
    return ranks // shards


def _layout(row: dict[str, Any], run: TrainingRun, of: Stack) -> Layout:
    """The layout of a row; raises ValueError where its degrees do not make up its chips."""
    degrees = {field: int(given(row, column, 1)) for field, column in _LAYOUT.items()}
    split = degrees["tensor"] * degrees["pipeline"] * degrees["context"]
    if pd.isna(row["data_parallel"]) and run.chips % split:
        raise ValueError(
            f"tensor_parallel x pipeline_parallel x context_parallel = {split} does not divide"
            f" accelerators = {run.chips}"
        )
    data = int(given(row, "data_parallel", run.chips // split))
    return Layout(
        **degrees,
        data=data,
        zero=int(given(row, "sharding", 3 if of.native else 1)),
        recompute=RECOMPUTE.index(given(row, "recompute", None) or "none"),
        sequence_parallel=int(given(row, "sequence_parallel", degrees["tensor"] > 1)),
        replicas=_replicas(row, data * degrees["context"]),
    )


def _stated(row: dict[str, Any]) -> dict[str, Any]:
    """What a row states of its software besides its name, as fields of `Stack`."""
    lists = {"modules": "recompute_modules", "graphs": "cuda_graph_scopes"}
    stated = {field: given(row, column, None) for field, column in lists.items()}
    found = {field: tuple(text.split(";")) for field, text in stated.items() if text}
    plain = {"dispatcher": "dispatcher", "overlapped": "exchange_overlap"}
    told = {field: given(row, column, None) for field, column in plain.items()}
    return found | {field: value for field, value in told.items() if value is not None}


def configuration(row: dict[str, Any]) -> Configuration:
    """What a row ran.

    Raises
    ------
    LookupError : unknown model or accelerator.
    ValueError : a layout that cannot run.
    """
    model = model_of(row)
    chip = catalog.accelerator(row["accelerator"])
    if why := _undetermined(row, model.experts):
        return Configuration(why)
    chip = replace(
        chip, scale_out_bytes_per_s=given(row, "scale_out_bytes_per_s", chip.scale_out_bytes_per_s)
    )
    of = stack(given(row, "software", None), given(row, "compiled", None), **_stated(row))
    run = TrainingRun(
        model,
        chip,
        *(int(row[name]) for name in ("accelerators", "sequence", "global_batch")),
        precision=row["precision"],
        task=row["task"],
        mtp_modules=int(given(row, "mtp_modules", 0)),
    )
    layout = _layout(row, run, of)
    check(run, layout)
    software = FSDP_FUSED_LOSS if of.native else MEGATRON
    if pd.isna(row["recompute"]) and not training_memory(
        run, replace(layout, recompute=2), software=software
    ).fits(run):
        return Configuration("its layout as printed does not fit in memory, whatever is recomputed")
    return Configuration("", run, layout, of)


def published_run(row: dict[str, Any]) -> Configuration:
    """What a row of the book ran; one that cannot be says why."""
    if row["model"] not in catalog.models(own=False):
        return Configuration("its model's shape is not published")
    try:
        return configuration(row)
    except ValueError as error:
        return Configuration(f"its layout as printed cannot run: {error}")


def measured(row: dict[str, Any], column: str) -> float:
    """What a row measured; NaN where it does not say."""
    return float(given(row, f"measured_{column}", math.nan))


def step_s(row: dict[str, Any]) -> float:
    """Time of a step that a row states, as such or by its tokens [s]; NaN if neither."""
    speed = measured(row, "tokens_per_s_per_accelerator")
    tokens = row["global_batch"] * row["sequence"] / row["accelerators"]
    return float(given(row, "measured_step_s", tokens / (speed or math.nan)))


def case(row: dict[str, Any], of: Configuration) -> Case:
    """A row as a case, given what it ran."""
    if of.why:
        return Case(of.why)
    seconds = step_s(row)
    flop = measured(row, "model_flops_per_accelerator") * of.run.chips * seconds
    return Case(
        "" if seconds > 0 else "states no time of a step",
        of.run,
        seconds,
        of.layout,
        flop if flop > 0 else of.flop,
        of.work,
        of.families,
    )


Ran = TypeVar("Ran")
"""What a row ran, as whoever asks puts it."""
_NO_CONFIGURATION = ("run", "source", "note", "released", "held_out", "basis")
_KNOWN: dict[tuple, Configuration] = {}
_MOST_KNOWN = 200_000
"""What a reader's rows ran, kept from checking to predicting."""


def configuring(rows: pd.DataFrame) -> list[str]:
    """The columns of a table that say what was run."""
    figures = "measured_", "published"
    return [of for of in rows if of not in _NO_CONFIGURATION and not of.startswith(figures)]


def configured(
    rows: pd.DataFrame,
    what: Callable[[dict[str, Any]], Configuration],
    doing: str = "predicting",
    keep: bool = False,
) -> Iterator[tuple[dict[str, Any], Configuration]]:
    """Every row with what it ran, worked out once for rows that ran the same; of a reader's rows it
    is kept.
    """
    of = once(what, configuring(rows), keep)
    for row in bar(rows.to_dict("records"), doing):
        yield row, of(row)


def once(
    what: Callable[[dict[str, Any]], Ran], names: list[str], keep: bool = False
) -> Callable[[Mapping[str, Any]], Ran]:
    """Ask what a row ran once for all rows that have these columns in common."""
    known: dict[tuple, Any] = _KNOWN if keep else {}

    def of(row: Mapping[str, Any]) -> Ran:
        key = (catalog.data_dir(), *((name, str(row[name])) for name in names))
        if key not in known:
            if len(known) >= _MOST_KNOWN:
                known.clear()
            known[key] = what(dict(row))
        return known[key]

    return of


def cases(rows: pd.DataFrame, own: bool = False) -> list[Case]:
    """Every row of a table as a case; a reader's own have been checked."""
    what = configuration if own else published_run
    return [case(row, of) for row, of in configured(rows, what, keep=own)]
