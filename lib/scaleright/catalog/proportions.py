"""Figures of a chip or of a model that cannot stand beside each other, judged by the ratios of all.

A datasheet's figures scale together: what is computed in a second, what is read in a second, what
is held and what is drawn keep within a decade or two of each other over ten years of chips, so that
a figure in the wrong unit, or of another chip, shows in its ratios. So do the widths of a model.
"""

from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd

from scaleright.architecture import SHAPE_FIELDS, Transformer
from scaleright.catalog.constraints import Found, numbers, places
from scaleright.catalog.tables import Unnoted, judges

SPECS = ("accelerator_specs", "accelerator_specs_stas")


class Ratio(NamedTuple):
    """What is plausible of one quantity over another, and what that ratio is called."""

    over: str
    under: str
    low: float
    high: float
    called: str = "times as many"


RATIOS = (
    # H20 has the least compute beside its memory (37), TPU v6e the most (560).
    Ratio("dense_bf16_flops", "memory_bytes_per_s", 30, 900, "FLOP per byte"),
    Ratio("dense_fp16_flops", "memory_bytes_per_s", 30, 900, "FLOP per byte"),
    Ratio("dense_fp32_flops", "memory_bytes_per_s", 3, 200, "FLOP per byte"),
    # A narrower format is at most twice as fast at each halving, but for shortcuts (Rubin: 4.4) and
    # for units cut from chips that infer (GB300's INT8: 0.07).
    Ratio("dense_fp16_flops", "dense_bf16_flops", 0.2, 2.1, "times as fast"),
    Ratio("dense_tf32_flops", "dense_bf16_flops", 0.2, 1.1, "times as fast"),
    Ratio("dense_fp32_flops", "dense_fp16_flops", 0.02, 1.1, "times as fast"),
    Ratio("dense_fp8_flops", "dense_bf16_flops", 0.9, 5, "times as fast"),
    Ratio("dense_fp6_flops", "dense_fp8_flops", 0.9, 2.1, "times as fast"),
    Ratio("dense_fp4_flops", "dense_fp8_flops", 0.9, 5, "times as fast"),
    Ratio("dense_int8_ops", "dense_fp16_flops", 0.05, 5, "times as fast"),
    Ratio("dense_int4_ops", "dense_int8_ops", 0.9, 4.1, "times as fast"),
    # The best of published measurements lies between half of the peak (MI300X) and all of it.
    Ratio("measured_bf16_matmul_flops", "dense_bf16_flops", 0.3, 1, "of the peak"),
    Ratio("measured_fp8_matmul_flops", "dense_fp8_flops", 0.3, 1, "of the peak"),
    Ratio("memory_bytes_per_s", "memory_bytes", 5, 200, "readings of the memory a second"),
    Ratio("dense_bf16_flops", "tdp_watts", 1e11, 5e12, "FLOP/s per watt"),
    Ratio("dense_fp16_flops", "tdp_watts", 1e11, 5e12, "FLOP/s per watt"),
    Ratio("memory_bytes_per_s", "tdp_watts", 1e9, 2e10, "byte/s per watt"),
    Ratio("memory_bytes", "tdp_watts", 2e7, 1e9, "byte per watt"),
    Ratio("idle_watts", "tdp_watts", 0.01, 0.6, "of the design power"),
    Ratio("busy_watts", "tdp_watts", 0.2, 1.1, "of the design power"),
    Ratio("server_watts", "tdp_watts", 1, 4, "times the design power"),
    Ratio("busy_low_watts", "busy_watts", 0.3, 1, "of the mean"),
    Ratio("busy_high_watts", "busy_watts", 1, 3, "times the mean"),
    Ratio("purchase_high_usd", "purchase_low_usd", 1, 8, "times the lowest price"),
    Ratio("purchase_low_usd", "tdp_watts", 0.2, 200, "USD per watt"),
    Ratio("purchase_low_usd", "memory_bytes", 2e-9, 2e-6, "USD per byte"),
    Ratio("scale_up_bytes_per_s", "memory_bytes_per_s", 0.005, 0.6, "of the memory's rate"),
    Ratio("scale_up_pair_bytes_per_s", "scale_up_bytes_per_s", 0.05, 1, "of all links"),
    Ratio("scale_out_bytes_per_s", "scale_up_bytes_per_s", 0.003, 1, "of the fast fabric"),
    Ratio("dense_fp16_flops", "compute_units", 3e11, 5e13, "FLOP/s per unit"),
    Ratio("exponentials_per_s", "compute_units", 5e9, 3e11, "exponentials per unit"),
)


@judges("accelerator_specs")
def _own(frame: pd.DataFrame, read: Unnoted) -> Found:
    prices = frame["quantity"].str.startswith("purchase_")
    for place in frame.index[prices & frame["dated"].isna()]:
        yield place, "dated", "a price without the day, month or year of which it is"
    yield from _odd(frame, read("accelerator_specs_stas"))


@judges("accelerator_specs_stas")
def _share_alike(frame: pd.DataFrame, read: Unnoted) -> Found:
    return _odd(frame, read("accelerator_specs"))


def _odd(frame: pd.DataFrame, beside: pd.DataFrame) -> Iterator[tuple[int, str, str]]:
    """Figures of one table of specs whose ratio to another figure of their chip is not plausible.

    Parameters
    ----------
    frame : the table that is judged
    beside : the other one, whose figures count as known
    """
    place = {
        key: i for i, key in enumerate(zip(frame["accelerator"], frame["quantity"], strict=True))
    }
    value = {
        (row.accelerator, row.quantity): row.value
        for table in (beside, frame)
        for row in table.itertuples()
    }
    for chip in dict.fromkeys(frame["accelerator"]):
        for over, under, low, high, called in RATIOS:
            own = place.get((chip, over), place.get((chip, under)))
            a, b = value.get((chip, over)), value.get((chip, under))
            if own is None or not a or not b or low <= (ratio := a / b) <= high:
                continue
            told = f"{chip} has {over} {a:g} and {under} {b:g}, {ratio:.3g} {called}"
            yield own, "value", f"{told}; plausible: {low:g} to {high:g}"


PROPORTIONS = (
    Ratio("hidden", "layers", 5, 2000),  # 21 to 384 in the table
    Ratio("hidden", "head_dim", 1, 600),
    Ratio("ffn", "hidden", 1, 20),  # 2 to 8
    Ratio("expert_ffn", "hidden", 0.05, 20),  # 0.29 to 5.3
    Ratio("heads", "kv_heads", 1, 256),  # 1 to 71: one head for all queries of Falcon-7B
    Ratio("vocab", "hidden", 0.5, 500),
    Ratio("v_head_dim", "head_dim", 0.2, 3),
)
"""Of a model's widths; one without either of two is not judged by them."""


@judges("models")
def _shapeless(frame: pd.DataFrame, read: Unnoted) -> Found:
    """Rows of the table of models that are the shape of none, with the reason."""
    for i, row in enumerate(frame[list(SHAPE_FIELDS)].to_dict("records")):
        try:
            Transformer(**row)
        except ValueError as error:
            yield i, None, str(error)
    widths = frame["heads"] * frame["head_dim"] / frame["hidden"]  # 0.67 to 4.8 in the table
    for i in places(((widths < 0.3) | (widths > 7)).to_numpy(dtype=bool)):
        told = f"{frame['heads'][i]} heads of {frame['head_dim'][i]} over {frame['hidden'][i]}"
        yield i, "heads", f"{frame['name'][i]}: {told} wide; plausible: 0.3 to 7 times the width"
    for over, under, low, high, called in PROPORTIONS:
        top, bottom = numbers(frame[over]), numbers(frame[under])
        for i in places((top > 0) & ((top < low * bottom) | (top > high * bottom))):
            told = f"{frame['name'][i]} has {over} {top[i]:g} and {under} {bottom[i]:g}"
            yield i, over, f"{told}; plausible: {low:g} to {high:g} {called}"
