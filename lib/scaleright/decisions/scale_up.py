"""What a chip has more of than another together with the domain it sits in, the chips that one fast
fabric joins, and what the model of serving makes of both.

A larger domain holds one copy of a mixture's weights instead of many: its chips keep more memory
for caches and spend less of their bandwidth on weights, the more so the less time a token may take.
"""

from typing import Any

import numpy as np
import pandas as pd

from scaleright.catalog import Accelerator, accelerator, fact
from scaleright.formulas import search
from scaleright.inference.engine_tables import engines_in
from scaleright.inference.lengths import Load
from scaleright.inference.nodes import fastest
from scaleright.market import matmul_chips

NO_HURRY_S = 1e3
"""A time of a token that no engine takes [s]: where nothing limits it."""


def domain(name: str) -> float:
    """Chips that one fast fabric joins around this one [1]."""
    return accelerator(name).scale_up_chips or 1.0


def chip_limits(name: str) -> dict[str, float]:
    """What a chip has, its arithmetic in the smallest floating-point format that it multiplies in.

    peak_flops, bytes_per_s : reached [FLOP/s], [B/s]; memory_bytes; chips (of the domain)
    """
    chip: Accelerator = accelerator(name)
    precision = next(known for known in ("fp4", "fp8", "bf16") if known in chip.dense)
    return {
        "peak_flops": chip.dense[precision] * matmul_chips()[chip.name]["compute_efficiency"],
        "memory_bytes": chip.require("memory_bytes"),
        "bytes_per_s": chip.require("memory_bytes_per_s") * fact("memory_bandwidth_efficiency"),
        "chips": domain(name),
    }


def resources(new: str, old: str) -> dict[str, float]:
    """Ratios of what two chips have, new over old: arithmetic (each in its smallest format),
    bandwidth, memory, domain [1].

    >>> resources("GB300", "B300")["domain"]
    9.0
    """
    these, those = chip_limits(new), chip_limits(old)
    names = {
        "arithmetic": "peak_flops",
        "bandwidth": "bytes_per_s",
        "memory": "memory_bytes",
        "domain": "chips",
    }
    return {words: these[name] / those[name] for words, name in names.items()}


def explainable(rows: pd.DataFrame) -> pd.DataFrame:
    """The gains for which the model's shape and the limit on a token are known, with what the new
    chip has more of (see `resources`); rows as in `explained`.
    """
    rows = rows[(rows["model"] != "") & rows["token_s"].notna()].reset_index(drop=True)
    return rows.join(pd.DataFrame([resources(row.new, row.old) for row in rows.itertuples()]))


@search
def explained(rows: pd.DataFrame, load: Load) -> pd.DataFrame:
    """Gains that were measured beside what the model of serving makes of them, where the model's
    shape and the limit are known.

    Parameters
    ----------
    rows : new, old, benchmark, model, token_s (limit on the time of a token, infinite for none),
        gain
    load : requests, of numbers; each chip serves them by its best engine, see
        `inference.nodes.engines`

    Columns: those of `rows`, served (the gain by the model of serving; infinite where the old
    chip's engines cannot keep the limit, NaN where neither can), and those of `resources`.
    """
    rows = explainable(rows)
    sides = ("new", "old")

    def rate(shape: str, chip: str, token_s: float) -> float:
        _, known = engines_in(shape, chip)
        if not known:
            return 0.0
        best = fastest(known, load, min(token_s, NO_HURRY_S))
        return float(best.tokens_per_s * best.kept)

    rates = [
        [rate(row.model, getattr(row, side), row.token_s) for side in sides]
        for row in rows.itertuples()
    ]
    new, old = np.array(rates).reshape(-1, 2).T
    with np.errstate(divide="ignore", invalid="ignore"):
        return rows.assign(served=new / old)


def times_off(predicted: Any, measured: Any) -> Any:
    """By what factor predictions are off, up or down [1].

    >>> times_off(np.array([2.0, 0.5, 1.0]), np.array([1.0, 1.0, 1.0])).tolist()
    [2.0, 2.0, 1.0]
    """
    return np.exp(np.abs(np.log(predicted / measured)))
