"""Shapes that no model has: numbers that contradict each other, proportions that none is near."""

from typing import NamedTuple

import pandas as pd

from scaleright.architecture import SHAPE_FIELDS, Transformer
from scaleright.catalog.constraints import Found, numbers, places
from scaleright.catalog.tables import Unnoted, judges


class Proportion(NamedTuple):
    """What is plausible of one width over another; a model without either is not judged by it."""

    over: str
    under: str
    low: float
    high: float


PROPORTIONS = (
    Proportion("hidden", "layers", 5, 2000),  # 21 to 384 in the table
    Proportion("hidden", "head_dim", 1, 600),
    Proportion("ffn", "hidden", 1, 20),  # 2 to 8
    Proportion("expert_ffn", "hidden", 0.05, 20),  # 0.29 to 5.3
    Proportion("heads", "kv_heads", 1, 256),  # 1 to 71: one head for all queries of Falcon-7B
    Proportion("vocab", "hidden", 0.5, 500),
    Proportion("v_head_dim", "head_dim", 0.2, 3),
)


@judges("models")
def odd(frame: pd.DataFrame, read: Unnoted) -> Found:
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
    for over, under, low, high in PROPORTIONS:
        top, bottom = numbers(frame[over]), numbers(frame[under])
        for i in places((top > 0) & ((top < low * bottom) | (top > high * bottom))):
            told = f"{frame['name'][i]} has {over} {top[i]:g} and {under} {bottom[i]:g}"
            yield i, over, f"{told}; plausible: {low:g} to {high:g} times as many"
