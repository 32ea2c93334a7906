"""Published speedups by one lever of serving beside those of the model."""

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from scaleright.catalog import accelerator, fact, model, shared, table
from scaleright.formulas import search
from scaleright.inference.curves import curves
from scaleright.inference.deployment import Deployment, shared_by
from scaleright.inference.lengths import Load, Speculation
from scaleright.inference.nodes import static_rate
from scaleright.inference.serving import steady
from scaleright.inference.splits import DEGREES
from scaleright.validation.serving import asked_rows, cases

PAIR = ["model", "accelerator", "accelerators", "task", "max_sequences"]
"""What two runs of ML.ENERGY share that differ in the format of their weights."""
GUESSES = Speculation(3, 0.6)
"""Three guesses, each right six times of ten."""


def _predicted(measured: pd.DataFrame, runs: Iterable[str]) -> np.ndarray:
    """Tokens per second of published runs by the model; NaN where a run does not determine it."""
    rows = asked_rows(measured.set_index("run", drop=False).loc[list(runs)])
    found = cases(rows, "energy", False, ["throughput"])[1]
    speeds = (
        np.nan if one.why else steady(one.deployment, one.load, **one.asked).output_tokens_per_s
        for one in found
    )
    return np.array([float(speed) for speed in speeds])


@search
@shared
def eight_bit_pairs() -> pd.DataFrame:
    """Models that ML.ENERGY measured in BF16 and in FP8 on the same chips at the same limit of
    sequences.

    Columns: those that a pair shares, system (in words), published and computed: how many times
    faster FP8 made it [1].
    """
    measured = table("measured/energy").query("source == 'mlenergy2026'")
    measured = measured.dropna(subset=["measured_output_tokens_per_s", "input_tokens"])
    plain, short = (measured[measured["precision"] == form] for form in ("BF16", "FP8"))
    pairs = plain.merge(short, on=PAIR, suffixes=("", "_8")).drop_duplicates(PAIR)
    speed = "measured_output_tokens_per_s"
    seats = pairs["max_sequences"].astype(int).astype(str)
    pairs = pairs.assign(
        published=pairs[f"{speed}_8"] / pairs[speed],
        computed=_predicted(measured, pairs["run_8"]) / _predicted(measured, pairs["run"]),
        system=pairs["model"] + "\n" + pairs["accelerator"] + ", " + seats + " at once",
    )
    return pairs.dropna(subset="computed")[[*PAIR, "system", "published", "computed"]]


@search
def times_faster(
    name: str, chip: str, form: str, load: Load, seats: int, draft: Any = None, **other: Any
) -> float:
    """How many times the tokens per second another configuration or a draft gives on one chip, by
    the model [1].

    >>> chat = Load(1000, 500)
    >>> 1 < times_faster("Llama-3.1-70B", "B200", "BF16", chat, 64, precision="FP8") < 2
    True
    """
    how = {"software": "vLLM 0.17.0", "kv_precision": "BF16"}
    plain = Deployment(model(name), accelerator(chip), form, **how)
    changed = steady(replace(plain, **other), replace(load, speculation=draft), seats)
    return float(changed.output_tokens_per_s / steady(plain, load, seats).output_tokens_per_s)


@search
@shared
def lever_speedups() -> pd.DataFrame:
    """How many times faster one lever made a system, as published and as computed.

    Columns: lever, case, published, computed [1], note.
    """
    pairs, chat, long = eight_bit_pairs(), Load(1000, 500), Load(20_000, 2_000)
    middle = pairs[["published", "computed"]].median()
    rows = [
        ("8-bit weights", f"{len(pairs)} pairs of ML.ENERGY, the middle one", *middle, ""),
        (
            "8-bit weights",
            "Llama-3.3-70B, one B200, large batches",
            fact("mxfp4_over_bf16") / fact("mxfp4_over_fp8"),
            times_faster("Llama-3.1-70B", "B200", "BF16", chat, 64, precision="FP8"),
            "lengths not published",
        ),
        (
            "8-bit KV cache",
            "Llama-3.1-8B, one H100, 8 requests of 20,000 tokens",
            fact("fp8_kv_tokens_per_s_fp8") / fact("fp8_kv_tokens_per_s_bf16"),
            times_faster("Llama-3.1-8B", "H100 SXM", "BF16", long, 8, kv_precision="FP8"),
            "",
        ),
        (
            "speculative decoding",
            "gpt-oss-120b, one H200, 200 requests",
            1 / (1 - fact("eagle3_saving_percent") / 100),
            times_faster("gpt-oss-120b", "H200 SXM", "MXFP4", chat, 200, GUESSES),
            "three guesses, taken to be right six times of ten; chips and lengths not published",
        ),
    ]
    return pd.DataFrame(rows, columns=["lever", "case", "published", "computed", "note"])


@search
def lever_error() -> tuple[float, int]:
    """The factor, less 1, within which nine of ten computed speedups by one lever lie of the
    published ones [1]; and how many there are.
    """
    every = [lever_speedups().iloc[1:], eight_bit_pairs()]
    both = pd.concat([each[["published", "computed"]] for each in every])
    off = np.abs(np.log(both["computed"] / both["published"]))
    return float(np.exp(off.quantile(0.9))) - 1, len(off)


@search
def static_batch_errors() -> pd.Series:
    """Predicted over published throughput, less 1, of runs whose requests start and end together;
    NaN where the model serves none [1].
    """
    runs = table("measured/serving").query("scenario == 'one batch'")
    return runs[runs["tensor_parallel"].isin(DEGREES)].apply(_static_error, axis=1)


def _static_error(run: pd.Series) -> float:
    how = {"kv_precision": None if pd.isna(run.kv_precision) else run.kv_precision}
    how["software"] = run.software
    served = Deployment(model(run.model), accelerator(run.accelerator), run.precision, **how)
    load = Load(run.input_tokens, run.output_tokens)
    (one,) = curves([shared_by(served, int(run.tensor_parallel))])
    requests, _ = static_rate(one, load, float(run.requests), math.inf)
    speed = requests * run.output_tokens / run.tensor_parallel
    return float(speed / run.measured_output_tokens_per_s_per_accelerator - 1)
