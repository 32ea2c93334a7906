"""The training runs that are furthest off, and why as far as that was found out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import pandas as pd

from scaleright import catalog
from scaleright.order import ordered
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.memory import MEGATRON_2022, training_memory
from scaleright.training.slowdowns import slowdowns
from scaleright.training.step import model_flop, step_time
from scaleright.units import significant
from scaleright.validation import published
from scaleright.validation.training_errors import judged_runs, scored_runs

# Other public estimators of training on the same cases, as they were run, beside this library


TOOLS = ["calculon", "llm-analysis", "mlsysim"]
GPT3 = "gpt3-175b/1024-a100"
GIB = 2**30


def _tools() -> pd.DataFrame:
    return catalog.table("other_tools")


def steps() -> pd.DataFrame:
    """Seconds a step of the eight runs that Korthikanti measured: measured, by this model, which
    has not seen the run in question, and by each tool.

    >>> off = (steps().div(steps()["measured"], axis=0) - 1).abs().mean()
    >>> bool(off["this model"] < min(off[TOOLS]))
    True
    """
    rows = _tools()
    of = rows[(rows["quantity"] == "step") & rows["case"].str.startswith("korthikanti2022")]
    of = of.pivot(index="case", columns="tool", values="value")[TOOLS]
    runs = scored_runs().set_index("run").loc[of.index, ["accelerators", "published", "predicted"]]
    found = ordered(runs.astype(float).join(of), ["accelerators", "published"])
    names = {"published": "measured", "predicted": "this model"}
    return found.drop(columns="accelerators").rename(columns=names)


def steps_in_words() -> pd.DataFrame:
    """`steps` as a table shows it, with the mean absolute error of each tool in its last row."""
    found = steps()
    off = (found.div(found["measured"], axis=0) - 1).abs().mean()
    said = found.map("{:.2f}".format)
    said.index = said.index.str.removeprefix("korthikanti2022/").str.replace("/", ", ")
    said.loc["mean absolute error"] = [f"{significant(100 * e, 2)} %" if e else "" for e in off]
    return said.rename_axis("run").reset_index()


def largest_runs() -> pd.DataFrame:
    """Llama 3's own 405B runs, whose pipeline's interleaving is not printed, with as many chunks a
    stage as its layers allow: work a second and chip with attention counted in full [FLOP/s].
    """
    rows = judged_runs()
    found = []
    for row in rows[rows["source"] == "llama3table4"].itertuples():
        run = TrainingRun(
            catalog.model(row.model),
            catalog.accelerator(row.accelerator),
            row.accelerators,
            row.sequence,
            row.global_batch,
            row.precision,
        )
        degrees = row.tensor_parallel, row.pipeline_parallel, row.context_parallel, 1
        layout = Layout(*degrees, row.data_parallel, virtual=8, zero=row.sharding)
        rate = float(model_flop(run, "full") / run.chips / step_time(run, layout).total)
        printed = row.measured_model_flops_per_accelerator
        found.append((row.accelerators, row.sequence, printed, rate, rate / printed - 1))
    columns = ["chips", "sequence", "printed", "predicted", "error"]
    return pd.DataFrame(found, columns=columns)


def parts_by_tools() -> pd.DataFrame:
    """GPT-3 175B on 1,024 A100 part by part, which nobody measured, in words: seconds of a step,
    and GiB of a chip.
    """
    model, chip = catalog.model("GPT-3 175B (Megatron)"), catalog.accelerator("A100 SXM 80GB")
    run = TrainingRun(model, chip, 1024, 2048, 1536, "FP16")
    layout = Layout(tensor=8, pipeline=8, data=16, zero=0, recompute=1)
    took = step_time(run, layout, slowdowns(run, "Megatron-LM, 2022"))
    held = training_memory(run, layout, software=MEGATRON_2022)
    seconds = {"step": took.total, "bubble": took.bubble_s, "pipeline": took.pipeline_s}
    seconds |= {"data": took.data_s, "tensor": took.tensor_s}
    memory = {"weights": held.weights_bytes, "gradients": held.gradients_bytes}
    memory |= {"optimizer": held.optimizer_bytes, "activations": held.activations_bytes}
    units = dict.fromkeys(seconds, "s") | dict.fromkeys(memory, "GiB")
    ours = pd.Series(seconds | {name: size / GIB for name, size in memory.items()}, dtype=float)
    rows = _tools()
    others = rows[rows["case"] == GPT3].pivot(index="quantity", columns="tool", values="value")
    found = ours.to_frame("this model").join(others[TOOLS])
    said = found.map(lambda value: "" if pd.isna(value) else f"{value:.2f}")
    said.insert(0, "part", [f"{name} [{units[name]}]" for name in said.index])
    return said.reset_index(drop=True)


@dataclass(frozen=True)
class Searches:
    """How many layouts a search goes through, of GPT-3 on 1,024 A100 and of a 405B model on 16,384
    H100; and what is to be said of it.
    """

    ours: float
    ours_note: str
    larger: float
    calculon: float
    calculon_note: str

    @classmethod
    def run(cls) -> Self:
        """As they were run."""
        rows = _tools().set_index(["tool", "case"])
        ours, calculon = (
            rows.loc[(tool, f"search {GPT3}")] for tool in ("Scale Right", "calculon")
        )
        larger = rows.loc[("Scale Right", "search llama-3.1-405b/16384-h100"), "value"]
        return cls(ours["value"], ours["note"], larger, calculon["value"], calculon["note"])


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
    return published.likely(REASONS, run, "not explained").format(**_faster())


def worst_runs(most: int = 12) -> pd.DataFrame:
    """The runs furthest off, the worst of each model and publication, as a table shows them."""
    rows = scored_runs()
    found = published.furthest(rows, ["precision", "name"], most).rename(columns={"name": "from"})
    return found.assign(**{"likely why": rows.loc[found.index, "run"].map(reason)})
