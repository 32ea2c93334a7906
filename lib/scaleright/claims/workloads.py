"""Recomputations of what Andreessen Horowitz says of workloads and their machines: how quality
grows with compute, what a word costs beside a sorted table, who is fastest, what leaves the data
center.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from __future__ import annotations

import math

from scaleright.catalog import accelerator, fact, model, table
from scaleright.claims.generations import virtual_overhead
from scaleright.claims.verdicts import Condition, Recomputed, looked_up, point, span
from scaleright.market import cost_factor, hour
from scaleright.mlperf.compare import summary
from scaleright.scaling_laws.laws import published
from scaleright.transformer import (
    bytes_per_parameter,
    forward_flop,
    parameters,
    weight_bytes,
)
from scaleright.units import SECONDS_PER_HOUR

LAWS = ("Hoffmann 2022, approach 3", "Besiroglu 2024", "Muennighoff 2023")
ENTRIES, CONTEXT = 1_000_000, 1024
"""Rows of Andreessen Horowitz's table, and tokens of the prompt before its word."""
NEWEST = ("B200", "B300", "GB200", "GB300")
IMAGES, CHIP, PIXELS, CHANNELS = "stable-diffusion-xl", "H100 SXM", 1024 * 1024, 3
GB, COMPRESSED = 1e9, 10.0
"""Bytes of a gigabyte, and how many times smaller a picture may be packed."""
SPARSE_LEAST, RECENT = "sparse_vllm_throughput", "v5.1"


def s3_sublinear() -> Recomputed:
    """Power of compute with which the loss falls that more of it can save, with size and data in
    step.
    """
    laws = [published(name) for name in LAWS]
    return span(*(law.alpha * law.size_exponent for law in laws))


def s3_sorting() -> Recomputed:
    """Comparisons of a sort over operations of a token [%]."""
    word = forward_flop(model("GPT-3 175B"), CONTEXT).total
    return point(100 * ENTRIES * math.log2(ENTRIES) / word)


def s3_egress_images() -> Recomputed:
    """Share of the transfer in what a picture costs [%], packed ten to one and not at all."""
    rows = summary()
    rows = rows[(rows["benchmark"] == IMAGES) & (rows["accelerator"] == CHIP)]
    rate = rows[(rows["scenario"] == "Offline")]["best"].max()
    made = hour(CHIP).usd / SECONDS_PER_HOUR / rate
    sent = [
        cost_factor("egress_usd_per_gb", "cloud").best * PIXELS * CHANNELS / packed / GB
        for packed in (COMPRESSED, 1.0)
    ]
    return span(*(100 * usd / (usd + made) for usd in sent))


def s3_highest_end() -> Recomputed:
    """Contests of MLPerf Inference, each the best of its chips, that the newest generation wins
    [%], where it and an older one took part.
    """
    rows = summary()
    rows = rows[rows["round"] == RECENT]
    won = []
    for _, of in rows.groupby(["benchmark", "accuracy_target", "scenario", "unit"]):
        new = of["accelerator"].isin(NEWEST)
        if new.any() and not new.all():
            won.append(of.loc[new, "best"].max() > of.loc[~new, "best"].max())
    return point(100 * sum(won) / len(won))


def s3_nvidia_share() -> Recomputed:
    """Results of MLPerf Inference on NVIDIA's chips [%], by round."""
    makers = table("accelerators").set_index("name")["vendor"]
    rows = table("mlperf_inference")
    own = rows["accelerator"].map(makers) == "NVIDIA"
    return span(*(100 * own.groupby(rows["round"]).mean()))


def s3_several_cards() -> Recomputed:
    """Weights of a large model over the memory of the largest chip on sale [times]."""
    weights = weight_bytes(parameters(model("Llama-3.1-405B")).total, bytes_per_parameter("BF16"))
    small = weight_bytes(parameters(model("Llama-3.1-70B")).total, bytes_per_parameter("BF16"))
    most = accelerator("B300").require("memory_bytes")
    return point(weights / most, Condition("a model of 70 billion parameters", small / most))


RECOMPUTED = {
    "S3-virtualization": lambda: point(virtual_overhead()),
    "S3-pruning": lambda: looked_up(fact(SPARSE_LEAST), fact("sparse_throughput_ratio")),
}
