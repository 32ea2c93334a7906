"""The fastest step of a pretraining run on each chip that clusters are built of."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scaleright.catalog import accelerator, model, shared
from scaleright.costs.clusters import cluster_chips, format_on
from scaleright.formulas import counting, search
from scaleright.training.layout import RECOMPUTE, TrainingRun
from scaleright.training.search import search as best_layouts
from scaleright.training.slowdowns import borrowed, interval, slowdowns
from scaleright.training.step import COMMUNICATION
from scaleright.units import figures

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
