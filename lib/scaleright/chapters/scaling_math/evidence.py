"""Measured decode steps beside the roofline."""

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.architecture import stacked
from scaleright.market import matmul_chips
from scaleright.transformer import bytes_per_parameter, decode_step


def decode_floor(measured: pd.DataFrame) -> pd.DataFrame:
    """Measured decode steps beside their roofline floor, from each row's own configuration.

    Arithmetic runs at the chip's best measured share of its peak in the format of the weights,
    memory at the share of the datasheet bandwidth that kernels reach (`market.matmul_chips`,
    reference fact `memory_bandwidth_efficiency`).

    Parameters
    ----------
    measured : rows of `measured/energy`; those of chat with a batch and a time between tokens count

    Returns
    -------
    the rows with `predicted` [s] and `ratio`, measured over predicted. Where the prompt length is
    not stated the floor counts the cache of half the answer alone. Rows whose batch is spread over
    copies of the model (attention data parallel) are left out, since the batch of one copy is not
    stated.

    >>> bool((decode_floor(catalog.table("measured/energy")).ratio > 0.9).all())
    True
    """
    timed = (
        measured["measured_itl_s"].notna()
        & measured["batch"].notna()
        & (measured["data_parallel"] == 1)
    )
    rows = measured[
        timed & (measured["task"] == "chat")
    ].copy()  # other workloads read pictures or think, at lengths unknown
    known = matmul_chips()
    chips = pd.DataFrame([known[name] for name in rows["accelerator"]])
    given = {
        name: rows[name].to_numpy(float, na_value=np.nan)
        for name in ("input_tokens", "output_tokens", "batch", "accelerators")
    }
    step = decode_step(
        stacked(catalog.model(name) for name in rows["model"]),
        context=np.maximum(np.nan_to_num(given["input_tokens"]) + given["output_tokens"] / 2, 1.0),
        batch=given["batch"],
        precision=np.array([bytes_per_parameter(name) for name in rows["precision"]]),
        accelerators=given["accelerators"],
        peak_flops=np.where(rows["precision"] == "FP8", chips["fp8_flops"], chips["bf16_flops"]),
        bytes_per_s=chips["memory_bytes_per_s"].to_numpy(),
        compute_efficiency=chips["compute_efficiency"].to_numpy(),
        bandwidth_efficiency=catalog.fact("memory_bandwidth_efficiency"),
    )
    return rows.assign(predicted=step.seconds, ratio=rows["measured_itl_s"] / step.seconds)
