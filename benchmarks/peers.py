"""The library beside other estimators: their error and speed on the same training runs.

The runs are the eight of Korthikanti et al. (2022), Table 5: measured steps of 22B to 1T on A100.
Ours are predicted by constants fitted without them (as `scaleright validate training` does), the
peers' at their defaults, with an efficiency of 0.5 where they ask for one. `make bench` installs
what `peers.txt` names; a peer that is not there is said to be missing.
"""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd
from scaleright import catalog, transformer
from scaleright.training.step import step_time
from scaleright.validation import kinds
from scaleright.validation.cases import Case, cases

from benchmarks.timing import line, quick, seconds

PEERS = Path(__file__).resolve().parents[1] / ".venv" / "peers"
SOURCE, EFFICIENCY, FULL = "korthikanti2022", 0.5, "full"
Run = Mapping[str, Any]
"""A row of measured/training.csv."""


def llm_analysis() -> Callable[[Run], float]:
    """llm-analysis: seconds of a step."""
    logging.getLogger("__name__").setLevel(logging.CRITICAL)  # the name that its logger has
    analysis, config = (
        importlib.import_module(f"llm_analysis.{name}") for name in ("analysis", "config")
    )
    recompute = analysis.ActivationRecomputation
    chip = config.get_gpu_config_by_name("a100-sxm-80gb")
    precision = config.get_dtype_config_by_name("w16a16e16")

    def step_s(run: Run) -> float:
        shape = catalog.model(run["model"])
        tensor, pipeline = int(run["tensor_parallel"]), int(run["pipeline_parallel"])
        data = int(run["accelerators"]) // (tensor * pipeline)
        model = config.ModelConfig(
            shape.name, shape.layers, shape.heads, shape.hidden, shape.vocab, int(run["sequence"])
        )
        parallel = config.ParallelismConfig(tensor, pipeline, data)
        whole = run["recompute"] == FULL
        found = analysis.LLMAnalysis(
            model, chip, precision, parallel, flops_efficiency=EFFICIENCY
        ).training(
            batch_size_per_gpu=int(run["micro_batch"]),
            global_batch_size=int(run["global_batch"]),
            seq_len=int(run["sequence"]),
            activation_recomputation=recompute.FULL if whole else recompute.SELECTIVE,
            flash_attn=False,
        )
        return found["latency_per_iter"]

    return step_s


def mlsysim() -> Callable[[Run], float]:
    """mlsysim: seconds of a step."""
    package = importlib.import_module("mlsysim")
    types = importlib.import_module("mlsysim.models.types")
    systems = importlib.import_module("mlsysim.systems.types")
    solver = importlib.import_module("mlsysim.engine.solvers.distributed").DistributedModel()
    node, fabric = package.Systems.Nodes.DGX_A100, package.Systems.Fabrics.InfiniBand_HDR
    one = importlib.import_module("mlsysim.core.units").ureg.count

    def step_s(run: Run) -> float:
        shape, count = catalog.model(run["model"]), int(run["accelerators"])
        model = types.TransformerWorkload(
            name=shape.name,
            architecture="Transformer",
            parameters=float(transformer.parameters(shape).total) * one,
            layers=shape.layers,
            hidden_dim=shape.hidden,
            heads=shape.heads,
        )
        tensor, pipeline = int(run["tensor_parallel"]), int(run["pipeline_parallel"])
        replicas = count // (tensor * pipeline)
        found = solver.solve(
            model=model,
            fleet=systems.Fleet(name="cluster", node=node, count=count // 8, fabric=fabric),
            batch_size=int(run["global_batch"]),
            efficiency=EFFICIENCY,
            tp_size=tensor,
            pp_size=pipeline,
            v_stages=int(run["virtual_pipeline"]),
            microbatch_count=int(run["global_batch"]) // replicas // int(run["micro_batch"]),
            activation_recomputation=run["recompute"] == FULL,
            seq_len=int(run["sequence"]),
        )
        return found.step_latency_total.to("s").magnitude

    return step_s


def ours() -> Callable[[Run], float]:
    """The library: seconds of a step, by the stored constants."""
    known = {run["run"]: case for run, case in zip(_records(), _cases(), strict=True)}

    def step_s(run: Run) -> float:
        case = known[run["run"]]
        return float(step_time(case.run, case.layout).total)

    return step_s


def runs() -> pd.DataFrame:
    """The measured runs."""
    return catalog.table("measured/training")[lambda rows: rows["source"] == SOURCE]


def _records() -> list[Run]:
    return runs().to_dict("records")


def _cases() -> list[Case]:
    return cases(runs())


def _error_percent(predicted: list[float], measured: list[float]) -> float:
    """The median of the absolute errors."""
    return 100 * median(abs(p / m - 1) for p, m in zip(predicted, measured, strict=True))


def _left_out_percent() -> float:
    """Our median error where each run is predicted by constants fitted without its group."""
    rows = kinds.validate("training").rows
    return float(rows.loc[rows["source"] == SOURCE, "error_percent"].abs().median())


def main(arguments: list[str] | None = None) -> None:
    """Estimate every run by every estimator that is there, and print errors and ratios of time."""
    small = quick(__doc__, arguments)
    if PEERS.is_dir():
        sys.path.append(str(PEERS))  # behind the book's own packages
    asked = _records()[: 2 if small else None]
    measured = [run["measured_step_s"] for run in asked]
    own, repeats = ours(), 1 if small else 20
    one = seconds(lambda: [own(run) for run in asked], repeats) / len(asked)
    for name, make in (("llm-analysis", llm_analysis), ("mlsysim", mlsysim)):
        try:
            step_s = make()
        except ModuleNotFoundError as error:
            print(f"{name}: not installed here ({error.name}); `make bench` installs it")
            continue
        off = _error_percent([step_s(run) for run in asked], measured)
        each = seconds(lambda of=step_s: [of(run) for run in asked], repeats) / len(asked)
        line(
            f"step of training: {name}, off by {off:.1f} %",
            f"{1 / each:,.0f} a second",
            one / each,
            "ours",
        )
    if not small:  # twenty seconds of fits
        off = _left_out_percent()
        line(f"step of training: ours, off by {off:.1f} %", f"{1 / one:,.0f} a second", 1.0, "ours")


if __name__ == "__main__":
    main()
