"""The training runs that are furthest off, and why as far as that was found out."""

from __future__ import annotations

import re

import pandas as pd

from scaleright import catalog
from scaleright.order import ordered
from scaleright.units import si, significant
from scaleright.validation.training_errors import judged_runs, scored_runs

REASONS = {
    "25.09.*FP8-MX": "software: the first release with this format; by 26.02 the model is {first}"
    " times as fast on GB200",
    "gpt-oss": "kernels that add biases and clamp one operation at a time: their traffic is counted"
    " at the speed of streaming, which they hardly reach",
    "nemo-automodel/lora": "adapters through PyTorch's own modules, which no run in the fit shows",
    "nemo-automodel": "PyTorch's expert parallelism, which no run in the fit shows",
    "(25.11|26.02)/.*Qwen3_30B_a3B/H100": "software: with release 26.02.01 such a run is {later}"
    " times as fast as with 26.02",
    "Qwen3_235B_a22B/B300": "software: two releases later the same model is {larger} times as fast"
    " on as many B300",
    "Kimi_K2": "trained with Muon, which the model counts as AdamW",
    "26.02.01.*LLAMA3_70B/GB300": "the layout is printed without the interleaving of the releases"
    " before and after",
    "moe-model-zoo.*/(16384|32768|65536|131072)": "context parallelism over long sequences, of"
    " which few runs were published",
    "Qwen3|DeepSeekV3|Kimi": "experts across hosts: how much of their exchange is hidden changes"
    " with every release",
    "torchtitan-2024.*405B.*FP8": "traffic of tensor parallelism in FP8, which the model counts in"
    " BF16",
    "torchtitan.*CP": "context parallelism over long sequences, of which few runs were published",
    "torchtitan-h200": "weights gathered in FP8, which the model counts in BF16",
    "nemo-performance/sft": "samples packed to a length: attention within samples alone",
    "MPT-30B.*1x|MPT-70B": "weights gathered for one or two sequences at a time: the network"
    " decides",
    "llm-foundry": "small matrices: launches and the loss decide",
    "paxml|maxtext": "what is recomputed is not printed",
    "fms-fsdp|bloom": "a slower network than the chip's usual one",
    "modalities.*hybrid": "sharded within hosts alone, which the model takes as sharded over all"
    " chips",
    "internevo|modalities": "a slow network between hundreds of hosts: the model knows no"
    " congestion",
    "torchao/": "chips whose power is limited, the publisher says, which no layout tells",
    "neuron/": "a chip and a compiler that no run in the fit shows",
    "narayanan2021/1.7B": "no FlashAttention, and a micro-batch that Table 1 leaves to the scripts",
}
"""Why a run is far off, by the first pattern that its name holds."""
_BRIDGE = "megatron-bridge-"
_FASTER = {
    "first": (
        "26.02/pretrain/LLAMA3.1_405B/GB200/256/MXFP8/1536",
        "25.09/pretrain/LLAMA3.1_405B/GB200/128/FP8-MX/64",
    ),
    "later": (
        "26.02.01/pretrain/Qwen3_30B_a3B/H100-SXM/16/FP8/1024",
        "26.02/pretrain/Qwen3_30B_a3B/H100-SXM/16/FP8/1024",
    ),
    "larger": (
        "26.04.01/pretrain/Qwen3_235B_a22B/B300/256/MXFP8/8192",
        "26.02.01/pretrain/Qwen3_235B_a22B/B300/256/MXFP8/8192",
    ),
}
"""Runs of Megatron-Bridge whose speeds a reason compares."""


@catalog.shared
def _faster() -> dict[str, str]:
    rows = judged_runs().set_index("run")
    work = rows["global_batch"] * rows["sequence"] / rows["accelerators"] / rows["published"]
    return {
        name: significant(work[_BRIDGE + new] / work[_BRIDGE + old], 2)
        for name, (new, old) in _FASTER.items()
    }


def reason(run: str) -> str:
    """Why a run is far off, as far as that is known.

    >>> reason("megatron-bridge-26.02/pretrain/Kimi_K2/GB300/256/MXFP8/4096")
    'trained with Muon, which the model counts as AdamW'
    """
    found = (words for pattern, words in REASONS.items() if re.search(pattern, run))
    return next(found, "not explained").format(**_faster())


def worst_runs(most: int = 12) -> pd.DataFrame:
    """The runs furthest off, the worst of each model and publication, as a table shows them."""
    rows = scored_runs()
    rows = ordered(rows.assign(size=rows["error_percent"].abs()), "size", ascending=False)
    rows = rows.drop_duplicates(["source", "model"]).head(most)
    return pd.DataFrame(
        {
            "model": rows["model"],
            "on": rows["accelerators"].map(str) + " " + rows["accelerator"],
            "precision": rows["precision"],
            "from": rows["name"],
            "measured": [si(seconds, "s") for seconds in rows["published"]],
            "predicted": [si(seconds, "s") for seconds in rows["predicted"]],
            "error": rows["error_percent"] / 100,
            "likely why": rows["run"].map(reason),
        }
    )
