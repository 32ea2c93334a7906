"""The tables of the chapter on splitting a run: the playbook in words, the layouts that a search
finds, runs of other sizes, and published layouts among all that fit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pandas as pd

from scaleright.catalog import accelerator, model, models, remembered
from scaleright.chapters.parallelism.model import ACCELERATORS, choose
from scaleright.decisions.parallelism_playbook import (
    SOURCE_WORDS,
    contenders,
    playbook,
    strategy,
    words,
)
from scaleright.roofline import plain_format
from scaleright.training.layout import Layout, TrainingRun, usual_sequence
from scaleright.training.layouts import layouts
from scaleright.training.rules import FIELDS
from scaleright.training.search import search
from scaleright.units import duration, si, significant, whole
from scaleright.validation.layouts import published_layouts, ranks

USUAL_NETWORK_GB_PER_S = 50.0
"""What a chip sends beyond its node where the catalog does not say."""
GRID_MODELS = ("Llama-3.2-1B", "Llama-3.1-8B", "Llama-3.1-70B", "Llama-3.1-405B")
GRID_SIZES = (8, 64, 512)
HOURS = "chip-hours a billion tokens"


def networks_of(name: str) -> dict[str, float]:
    """The networks of a chip by the parameter that each is [GB/s]: a fabric that the catalog lacks
    is counted as what a chip sends beyond its node.

    >>> networks_of("H100 SXM"), networks_of("MI250")["fabric_gb_per_s"]
    ({'fabric_gb_per_s': 450.0, 'network_gb_per_s': 50.0}, 50.0)
    """
    chip = accelerator(name)
    network = (chip.scale_out_bytes_per_s or USUAL_NETWORK_GB_PER_S * 1e9) / 1e9
    fabric = (chip.scale_up_bytes_per_s or network * 1e9) / 1e9
    return {"fabric_gb_per_s": fabric, "network_gb_per_s": network}


def usual_terms(own: str) -> dict[str, dict[str, Any]]:
    """What a chip has by default, of those that a page offers, its own first: its networks as of
    `networks_of`, and its format of 16 bits.
    """
    names = dict.fromkeys((own, *ACCELERATORS))
    return {
        name: networks_of(name) | {"precision": plain_format(accelerator(name))} for name in names
    }


def sequences(offered: Sequence[int]) -> dict[str, dict[str, int]]:
    """Tokens of a sequence of each model [token], as rows for a control that follows it: of those
    that are offered the most up to the `usual_sequence`.

    >>> sequences((1024, 4096, 8192))["GPT-2"]
    {'sequence': 1024}
    """
    usual = {name: usual_sequence(shape) for name, shape in models().items()}
    return {
        name: {"sequence": max((n for n in offered if n <= most), default=min(offered))}
        for name, most in usual.items()
    }


def run_of(case: Any) -> TrainingRun:
    """The run of a chapter's case, on its networks."""
    chip = replace(
        accelerator(case.accelerator),
        scale_up_bytes_per_s=case.fabric_gb_per_s * 1e9,
        scale_out_bytes_per_s=case.network_gb_per_s * 1e9,
    )
    size = case.chips, case.sequence, case.global_batch
    return TrainingRun(model(case.model), chip, *size, case.precision, case.task)


def fitting(run: TrainingRun) -> dict[str, Layout]:
    """The fastest layout of each way to split, of those that fit.

    >>> from scaleright import catalog
    >>> list(fitting(TrainingRun(catalog.model("MPT-1B"), catalog.accelerator("H100 SXM"), 1, 2048,
    ...     4)))
    ['data', 'sharded data']
    """
    return {name: found[0] for name, found in contenders(run).items() if found[2] is not None}


def on_networks_of(case: Any, other: Any) -> SimpleNamespace:
    """What a machine depends on: the networks of one case, all else of another."""
    networks = {name: getattr(case, name) for name in ("fabric_gb_per_s", "network_gb_per_s")}
    rest = {name: getattr(other, name) for name in ("accelerator", "precision", "task")}
    return SimpleNamespace(**networks, **rest)


def count(run: TrainingRun) -> int:
    """Layouts that keep the rules of a run [1].

    >>> from scaleright import catalog
    >>> count(TrainingRun(catalog.model("MPT-1B"), catalog.accelerator("H100 SXM"), 1, 2048, 4))
    9
    """
    return layouts(run).tensor.size


def held(run: TrainingRun) -> pd.DataFrame:
    """Memory of a chip by parts [GB], of the fastest layout of each way to split that fits, or else
    of its leanest.
    """
    rows = [
        {"strategy": name} | {part: float(value) / 1e9 for part, value in of[1].labeled().items()}
        for name, of in contenders(run).items()
    ]
    return pd.DataFrame(rows)


def playbook_in_words(run: TrainingRun) -> pd.DataFrame:
    """`playbook` as a table: figures, with Clarifai's adjective for each in parentheses."""
    found = playbook(run)
    said = SOURCE_WORDS.loc[found.index]
    columns = {
        "memory": [
            f"{si(row.memory_bytes, 'B', 2)}{'' if row.fits else ', too much'}"
            for row in found.itertuples()
        ],
        "throughput": [
            significant(row.tokens_per_s_per_chip) if row.fits else "none"
            for row in found.itertuples()
        ],
        "latency": [duration(row.latency_s) if row.fits else "none" for row in found.itertuples()],
        "complexity": [
            f"{row.ways} at once, {whole(row.layouts)} layouts" for row in found.itertuples()
        ],
    }
    heads = "memory a chip", "tokens/s a chip", "latency", "complexity"
    beside = {
        head: [f"{v} ({word})" if word else v for v, word in zip(values, said[column], strict=True)]
        for head, (column, values) in zip(heads, columns.items(), strict=True)
    }
    return pd.DataFrame(
        {"way to split": found.index} | beside | {"layout": found["layout"].tolist()}
    )


def named(frame: pd.DataFrame) -> pd.DataFrame:
    """The layouts of a frame in words, and their strategies."""
    of = [
        Layout(**{name: int(getattr(row, name)) for name in FIELDS}) for row in frame.itertuples()
    ]
    return frame.assign(layout=[words(one) for one in of], way=[str(strategy(one)) for one in of])


def fastest(run: TrainingRun, limit: int = 8) -> pd.DataFrame:
    """The fastest layouts of a run."""
    found = named(search(run, limit=limit))
    heads = {"layout": "layout", "step_s": "a step", "mfu": "MFU", "headroom": "memory left"}
    return found[[*heads]].rename(columns=heads)


def front(run: TrainingRun, limit: int = 40) -> pd.DataFrame:
    """Layouts of which none is both faster and leaner: layout, way, memory_gb, step_s, headroom."""
    found = named(search(run, by="pareto", limit=limit))
    found = found.assign(memory_gb=found["memory_bytes"] / 1e9)
    return found.assign(layout=found["layout"].str.partition(", ZeRO")[0])


def without_pipeline(run: TrainingRun) -> tuple[str, float]:
    """The fastest layout without a pipeline, in words, and how much slower it is than the fastest
    of all [1]; NaN where there is none.
    """
    try:
        flat = named(search(run, pipeline=1, limit=1)).iloc[0]
    except ValueError:
        return "None", float("nan")
    return flat["layout"], flat["step_s"] / search(run, limit=1)["step_s"][0] - 1


def sizes(run: TrainingRun) -> pd.DataFrame:
    """The best layout on a quarter to four times as many chips."""
    around = {run.chips * 2**k for k in range(3)}
    around |= {run.chips // 2**k for k in (1, 2) if run.chips % 2**k == 0}
    found = search(run, by="cost", chips=sorted(around), limit=10**6)
    heads = {
        "chips": "chips",
        "step_s": "a step",
        "mfu": "MFU",
        "chip_hours_per_billion_tokens": HOURS,
        "layout": "layout",
    }
    return named(found.groupby("chips").first().reset_index())[[*heads]].rename(columns=heads)


def grid(run: TrainingRun) -> pd.DataFrame:
    """The simplest of the fastest ways to split models of four sizes on clusters of three."""

    def best(name: str, chips: int) -> str:
        other = replace(run, model=model(name), chips=chips, global_batch=2 * max(GRID_SIZES))
        found = contenders(replace(other, task="pretrain"))
        times = {kind: float(of[2].total) for kind, of in found.items() if of[2] is not None}
        if not times:
            return "does not fit"
        kind = choose(times)
        return f"{kind}: {words(found[kind][0]).partition(', micro')[0]}"

    rows = [
        {"model": name} | {f"{chips} chips": best(name, chips) for chips in GRID_SIZES}
        for name in GRID_MODELS
    ]
    return pd.DataFrame(rows)


@remembered
def published() -> pd.DataFrame:
    """Published layouts of dense models among all that fit on the same chips: `ranks`, with their
    source and the share of candidates that is faster.
    """
    known, ran = published_layouts("measured/layouts"), published_layouts("measured/training")
    dense = [name for name, of in models(own=False).items() if not of.experts]
    nemo = known["model"].isin(dense) & (known["accelerator"] == "H100 SXM")
    short = ran["run"].str.startswith("nemo-performance") & (ran["sequence"] <= 8192)
    sets = {
        "recommended by NeMo, H100": known[nemo & (known["task"] == "pretrain")],
        "measured: NeMo on H100, Megatron on A100": ran[
            ran["source"].isin(["korthikanti2022"]) | short & (ran["task"] == "pretrain")
        ],
    }
    found = pd.concat([ranks(rows).assign(source=source) for source, rows in sets.items()])
    return found.assign(share=found["rank"] / found["candidates"])


def summary_of(found: pd.DataFrame) -> pd.DataFrame:
    """How published layouts stand, by source."""
    columns: Mapping[str, tuple[str, str]] = {
        "layouts": ("rank", "size"),
        "rank among candidates, median": ("share", "median"),
        "slower than the best, median": ("slower_by", "median"),
        "at most": ("slower_by", "max"),
        "fit by the memory model": ("fits", "mean"),
    }
    return found.groupby("source", sort=False).agg(**columns).reset_index()


def layouts_of(found: pd.DataFrame) -> pd.DataFrame:
    """Each published layout with its rank, in words."""
    on = found["accelerators"].map(whole) + " " + found["accelerator"] + ", " + found["precision"]
    heads = ["model", "on", "rank", "candidates", "slower by", "layout"]
    return named(found).assign(**{"on": on, "slower by": found["slower_by"]})[heads]
