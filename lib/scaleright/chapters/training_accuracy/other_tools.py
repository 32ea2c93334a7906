"""Other public estimators of training on the same cases, as they were run, beside this library."""

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
from scaleright.validation.training_errors import judged_runs, scored_runs

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


def speeds() -> pd.DataFrame:
    """Estimates of a training step in a second on one core, the fastest first."""
    rows = _tools()
    rows = ordered(rows[rows["case"] == "speed"], "value", ascending=False)
    rows = rows.rename(columns={"value": "estimates a second"})
    return rows[["tool", "version", "estimates a second", "note"]].reset_index(drop=True)


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
