"""The fastest step of a pretraining run on each chip that clusters are built of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pandas as pd

from scaleright.catalog import Accelerator, accelerator, accelerators, model, shared
from scaleright.formulas import COUNT, Domain, closed_form, counting, lookup, search
from scaleright.market import recent_hour
from scaleright.ops import where
from scaleright.roofline import PEAK_NAMES
from scaleright.training.goodput import best_checkpoint_interval_s, useful_share
from scaleright.training.layout import RECOMPUTE, TrainingRun
from scaleright.training.search import search as best_layouts
from scaleright.training.slowdowns import borrowed, interval, slowdowns
from scaleright.training.step import COMMUNICATION
from scaleright.units import SECONDS_PER_HOUR, figures

# The chips that clusters are built of: which they are, in which format each trains, and how much
# of its time goes into work that is kept


SETTING = "data center"
"""Where clusters stand: the setting of their cost factors."""
SERVER_CHIPS = 8
"""Chips of a server that are taken away together, and the most cards that one has."""
CARDS = ("A100 PCIe 80GB", "H100 PCIe", "L40S", "RTX PRO 6000", "RTX 4090", "RTX 5090")
"""Cards in slots that tune a model: those that two providers or more list now, as a test holds."""


@lookup
def cluster_chips() -> dict[str, Accelerator]:
    """Accelerators that clusters are built of and that are listed for rent: both of their networks
    are known.
    """
    return dict(_cluster_chips())


@shared
def _cluster_chips() -> Mapping[str, Accelerator]:
    return MappingProxyType(
        {
            name: chip
            for name, chip in accelerators().items()
            if "bf16" in chip.dense
            and chip.scale_up_bytes_per_s
            and chip.scale_out_bytes_per_s
            and recent_hour(name)
        }
    )


@lookup
def in_server(name: str) -> Accelerator:
    """A chip among the others of its server: cards reach each other over its slots, without a
    fabric of their own.

    >>> in_server("L40S").scale_up_chips, in_server("GB300").scale_up_chips
    (8.0, 72.0)
    """
    chip = accelerator(name)
    return replace(chip, scale_up_chips=float(SERVER_CHIPS)) if name in CARDS else chip


@lookup
def format_on(chip_name: str, precision: str) -> str:
    """The format in which a chip trains: the one asked, or BF16 where its tensor cores lack that.

    >>> format_on("H100 SXM", "FP8"), format_on("A100 SXM 80GB", "FP8")
    ('FP8', 'BF16')
    """
    return precision if PEAK_NAMES[precision] in accelerator(chip_name).dense else "BF16"


@closed_form(
    chips=COUNT,
    chip_hours_per_interruption=Domain(0.0, float("inf"), (1e3, 1e6), open_low=True),
    checkpoint_stall_s=Domain(0.0, float("inf"), (0.1, 300.0), open_low=True),
    restart_s=Domain(0.0, float("inf"), (1.0, 3600.0)),
    checkpoint_interval_s=Domain(0.0, float("inf"), (60.0, 36_000.0)),
)
def goodput(
    chips,
    chip_hours_per_interruption,
    checkpoint_stall_s,
    restart_s,
    checkpoint_interval_s=0.0,
):
    """Share of the time of a synchronous job that goes into work which is kept [1].

    Parameters
    ----------
    chips : accelerators of the job, each of which stops it [1]
    chip_hours_per_interruption : accelerator-hours between two unexpected interruptions [h]
    checkpoint_stall_s : time that a checkpoint stops the work [s]
    restart_s : time from an interruption until work goes on [s]
    checkpoint_interval_s : work between two checkpoints [s]; 0 for as often as is best

    Source: [daly2006]; 50,700 accelerator-hours follow from [llama3, section 3.3.4], which reports
    more than 90 %.

    >>> round(goodput(16384, 50_700.0, 10.0, 600.0), 3), round(goodput(256, 50_700.0, 10.0, 600.0),
    ...     3)
    (0.908, 0.994)
    >>> round(goodput(16384, 50_700.0, 10.0, 600.0, 7200.0), 3)
    0.673
    """
    mtbf_s = mtbf_hours(chips, chip_hours_per_interruption) * SECONDS_PER_HOUR
    best_s = best_checkpoint_interval_s(checkpoint_stall_s, mtbf_s)
    interval_s = where(checkpoint_interval_s > 0, checkpoint_interval_s, best_s)
    return useful_share(interval_s, checkpoint_stall_s, restart_s, mtbf_s)


@closed_form(
    chips=COUNT,
    chip_hours_per_interruption=Domain(0.0, float("inf"), (1e3, 1e6), open_low=True),
)
def mtbf_hours(chips, chip_hours_per_interruption):
    """Mean time between the interruptions of a job that each of its chips stops [h].

    Source: definition; failures of chips come independently of each other.

    >>> round(mtbf_hours(16384, 50_700.0), 2)
    3.09
    """
    return chip_hours_per_interruption / chips


@lookup
def best_interval_s(case: Any) -> Any:
    """Work between two checkpoints that keeps the most of a case's time [s].

    case : `chips`, `chip_hours_per_interruption` and `checkpoint_stall_s`
    """
    between_s = mtbf_hours(case.chips, case.chip_hours_per_interruption) * SECONDS_PER_HOUR
    return best_checkpoint_interval_s(case.checkpoint_stall_s, between_s)


BATCHES = {f"{2**power}M": 2 ** (20 + power) for power in range(7)}
"""Tokens of an optimizer step, by name."""
FREE = "best"
"""The word for the batch with which a number of chips does best."""


@counting
def layout_words(row: Mapping[str, Any]) -> str:
    """A layout, by its fields, in words."""
    degrees = {
        "TP": "tensor",
        "PP": "pipeline",
        "VP": "virtual",
        "CP": "context",
        "EP": "expert",
        "DP": "data",
    }
    split = (
        " ".join(f"{short}{row[name]:.0f}" for short, name in degrees.items() if row[name] > 1)
        or "one chip"
    )
    return (
        f"{split}, micro-batch {row['micro_batch']:.0f}, ZeRO {row['zero']:.0f}, recompute"
        f" {RECOMPUTE[int(row['recompute'])]}"
    )


@counting
def step_parts(step: Mapping[str, Any]) -> dict[str, Any]:
    """Parts of a step as `best_step` has them, of those of `StepTime` and of their sum `step_s`."""
    rest = {
        "recompute_s": step["recompute_s"],
        "communication_s": sum(step[part] for part in COMMUNICATION),
        "bubble_s": step["bubble_s"],
    }
    return {"compute_s": step["step_s"] - sum(rest.values()), **rest}


@search
@shared
def best_step(
    model_name: str,
    chip_name: str,
    chips: int,
    sequence: int,
    global_batch: int,
    precision: str = "BF16",
) -> dict[str, Any]:
    """The fastest layout of a run that fits, and its step.

    Returns
    -------
    compute_s, recompute_s, communication_s, bubble_s and their sum step_s [s], mfu (with causal
    attention [1]), layout (in words), error_low and error_high (measured over predicted time, nine
    of ten unseen runs [1]), borrowed (whose constants stand in for the chip's own; or ""), seen
    (runs of the chip's architecture were measured)

    Raises
    ------
    ValueError : no layout keeps all rules and fits in memory.
    LookupError : unknown model or accelerator.
    """
    run = TrainingRun(
        model(model_name), accelerator(chip_name), chips, sequence, global_batch, precision
    )
    best = best_layouts(run, limit=1).iloc[0]
    error = dict(zip(("error_low", "error_high"), interval(run), strict=True)) | {
        "borrowed": borrowed(run),
        "seen": "matmul" not in slowdowns(run).borrowed,
    }
    found = {
        **step_parts(best),
        "step_s": best["step_s"],
        "mfu": best["mfu"],
        "layout": layout_words(best),
        **error,
    }
    return figures(found)


@search
def platforms(
    model_name: str, chips: int, sequence: int, global_batch: int, precision: str = "BF16"
) -> pd.DataFrame:
    """The best step of a run on so many of each chip that clusters are built of.

    Returns
    -------
    accelerator, vendor, chips, precision (BF16 where the chip lacks the one asked), compute_s,
    recompute_s, communication_s, bubble_s and the rest of `best_step`, why (why no layout
    fits; empty if one does).
    """
    rows = []
    for name, chip in cluster_chips().items():
        used = format_on(name, precision)
        row = {
            "accelerator": name,
            "vendor": chip.vendor,
            "chips": chips,
            "precision": used,
            "why": "",
        }
        try:
            row |= best_step(model(model_name).name, name, chips, sequence, global_batch, used)
        except ValueError as error:
            row["why"] = str(error)
        rows.append(row)
    return pd.DataFrame(rows)
