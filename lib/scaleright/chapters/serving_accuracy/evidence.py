"""Where predictions of serving fail, and why, as far as anyone knows; and what is not judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.catalog import accelerator, fact, model, remembered
from scaleright.formulas import lookup
from scaleright.inference.deployment import Deployment, check
from scaleright.inference.lengths import Load
from scaleright.inference.phases import step_seconds
from scaleright.inference.serving import engine_step, room
from scaleright.inference.slowdowns import slowdowns
from scaleright.order import ordered
from scaleright.units import HOURS_PER_DAY, SECONDS_PER_HOUR, significant
from scaleright.validation import published, report

# How far off predictions of serving are, as frames: by publication, figure, chip and what was
# left out of the fit (`data/serving_errors.csv`, what `scaleright validate serving` and `energy`
# say)


COLUMNS = {
    "group": "error_percent",
    "model": "model_out_percent",
    "chip": "chip_out_percent",
    "roofline": "roofline_percent",
}
"""Columns of errors by what was left out of the fit, and that of a plain roofline."""
LEFT_OUT = {
    "group": "of the same model on as many chips with the same release",
    "model": "of the same model",
    "chip": "on the same chip",
}
"""Which runs were left out, in words."""
MEANINGS = {
    "throughput": "tokens written in a second",
    "time per token": "time per output token after the first",
    "gap between tokens": "median time between two tokens",
    "energy": "energy of an output token",
}
"""What the figures are, in words."""
UNITS = {"throughput": "token/s", "energy": "J"}
"""Units of the figures; all others are in seconds."""


@lookup
def every_figure() -> pd.DataFrame:
    """Every published figure beside its prediction: the columns of `serving_errors`, and

    of, figure : publication and figure in words
    apart : held out of every fit
    family : what a page lets choose: the publication, or "held out"
    in range, width of range : whether it lies in its stated range, and how wide that is over the
        prediction [1]
    """
    rows = catalog.table("serving_errors")
    apart, of = rows["held_out"].fillna(False).astype(bool), rows["source"].map(published.SERVING)
    return rows.assign(
        of=of.fillna("MLPerf"),
        apart=apart,
        family=of.fillna("MLPerf").mask(apart, published.HELD_OUT),
        figure=rows["figure"].map(published.FIGURES).fillna("first token"),
        **{
            "in range": rows["published"].between(rows["low"], rows["high"]),
            "width of range": (rows["high"] - rows["low"]) / rows["predicted"],
        },
    )


@lookup
def scored(source: str = published.ALL, figure: str | None = None) -> pd.DataFrame:
    """The figures that are judged, of a publication and of a kind: rows of `every_figure`.

    >>> set(scored("ML.ENERGY", "energy")["of"])
    {'ML.ENERGY'}
    """
    rows = every_figure()
    rows = rows[rows["scored"]]
    rows = rows if source == published.ALL else rows[rows["family"] == source]
    return rows if figure is None else rows[rows["figure"] == figure]


@lookup
def whose(source: str) -> str:
    """Of whom the figures of a choice are, as words after their name.

    >>> whose("ML.ENERGY"), whose("held out"), whose("all")
    (' from ML.ENERGY', ' that no constant was fitted to', '')
    """
    words = {published.ALL: "", published.HELD_OUT: " that no constant was fitted to"}
    return words.get(source, f" from {source}")


@lookup
def figures_of(source: str) -> str:
    """Figures of a publication that are judged, in words.

    >>> figures_of("ML.ENERGY")
    'throughput, gap between tokens or energy'
    """
    *first, last = published.serving_figures(source)
    return " or ".join([", ".join(first), last] if first else [last])


@lookup
def errors(
    sources: Sequence[str], figures: Sequence[str]
) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Rows for `choose`, by source, figure and what was left out, where there are such figures:
    rows, median and 90th percentile of the absolute error, the median of the roofline's, the 5th
    and 95th percentile of the signed one, and the share of rows in their stated range [1].

    >>> found = errors(["TensorRT-LLM"], ["throughput", "energy"])
    >>> [key[1:] for key in found], round(found["TensorRT-LLM", "throughput", "model"]["p90"], 2)
    ([('throughput', 'group'), ('throughput', 'model'), ('throughput', 'chip')], 0.34)
    """
    found = {}
    for source, figure in product(sources, figures):
        of = scored(source, figure)
        for mode in LEFT_OUT if len(of) else ():
            off = published.spread(of[COLUMNS[mode]] / 100)
            found[source, figure, mode] = (
                {"rows": float(len(of))}
                | off
                | {
                    "roofline": of[COLUMNS["roofline"]].abs().median() / 100,
                    "inside": of["in range"].mean(),
                }
            )
    return found


@lookup
def errors_by_chip(
    sources: Sequence[str], figures: Sequence[str]
) -> dict[tuple[str, str, str, str], dict[str, float]]:
    """Rows for `choose`, by chip and as those of `errors`: rows, median absolute and median signed
    error [1]; the chip with most figures first.
    """
    found, chips = {}, scored()["accelerator"].value_counts(sort=True).index
    for source, figure in product(sources, figures):
        of = scored(source, figure)
        for mode, (chip, group) in product(LEFT_OUT, of.groupby("accelerator")):
            signed = group[COLUMNS[mode]] / 100
            found[chip, source, figure, mode] = {
                "rows": float(len(group)),
                "off": signed.abs().median(),
                "signed": signed.median(),
            }
    place = {chip: at for at, chip in enumerate(chips)}
    return dict(sorted(found.items(), key=lambda item: place[item[0][0]]))


@lookup
def dots(sources: Sequence[str], figures: Sequence[str]) -> pd.DataFrame:
    """A dot for each figure, of predicted over measured: `from`, the publication, with a star where
    it was held out; `source` and `figure`, their places among the choices; `run` and `kind`; and
    the ratio by what was left out [1].
    """
    rows = scored()
    names = rows["of"] + np.where(rows["apart"], " *", "")
    experts = rows["model"].map(lambda name: catalog.model(name).experts > 0)
    runs = rows["model"] + ", " + rows["accelerators"].astype(str) + " " + rows["accelerator"]
    ratios = {mode: (1 + rows[COLUMNS[mode]] / 100).round(2) for mode in LEFT_OUT}
    return pd.DataFrame(
        {
            "from": names,
            "source": rows["family"].map(list(sources).index),
            "figure": rows["figure"].map(list(figures).index),
            "run": runs,
            "kind": np.where(experts, "experts", "dense"),
        }
        | ratios
    )


@lookup
def by_source() -> pd.DataFrame:
    """Errors of every publication and figure in percent, those in no fit last: median and 90th
    percentile, the share of figures in their stated range, and its width.

    >>> by_source().iloc[0][["figure", "from", "group out"]].tolist()
    ['throughput', 'ML.ENERGY', '11 / 36']
    """
    found, rows = [], scored()
    for figure in MEANINGS:
        groups = rows[rows["figure"] == figure].groupby(["apart", "of"])
        for (apart, name), of in sorted(groups, key=lambda item: (item[0][0], -len(item[1]))):
            head = {"from": name + " *" * apart, "figure": figure, "rows": len(of)}
            words = {f"{mode} out": mode for mode in LEFT_OUT} | {"roofline": "roofline"}
            pairs = {out: published.pair(of[COLUMNS[mode]]) for out, mode in words.items()}
            figures = {"in range": of["in range"].mean()}
            figures |= {"width of range": of["width of range"].median()}
            found.append(head | pairs | figures)
    return pd.DataFrame(found)


@lookup
def beaten() -> list[str]:
    """Publications and figures of which a plain roofline is as near or nearer in the median.

    >>> beaten()
    []
    """
    rows = scored()
    middles = rows.groupby(["of", "figure"])[[COLUMNS["group"], COLUMNS["roofline"]]]
    middles = middles.agg(lambda errors: errors.abs().median())
    nearer = middles[COLUMNS["group"]] >= middles[COLUMNS["roofline"]]
    return [f"{name} ({figure})" for name, figure in middles.index[nearer]]


@lookup
def fitted_constants() -> int:
    """Constants of time and power that were fitted."""
    return report.fitted_constants("serving_constants", "energy_constants")


@lookup
def fitted_figures() -> int:
    """Figures to which they were fitted."""
    return int((~scored()["apart"]).sum())


@lookup
def held_out_in_range() -> float:
    """Share of the held-out figures that lie in their stated range [1]."""
    rows = scored()
    return rows.loc[rows["apart"], "in range"].mean()


def middles(rows: pd.DataFrame) -> tuple[float, float]:
    """Median absolute errors of some figures [1]: of the predictions, and of a plain roofline.

    >>> middles(pd.DataFrame({"error_percent": [-5.0, 10.0, 20.0], "roofline_percent": -50.0}))
    (0.1, 0.5)
    """
    ours, plain = (float(rows[COLUMNS[of]].abs().median()) for of in ("group", "roofline"))
    return ours / 100, plain / 100


@lookup
def unseen(figure: str = "throughput") -> pd.DataFrame:
    """Held-out figures of chips of which no fit has seen a run.

    >>> "H100 SXM" in set(unseen()["accelerator"])
    False
    """
    every, out = scored(), scored(published.HELD_OUT, figure)
    return out[~out["accelerator"].isin(every.loc[~every["apart"], "accelerator"])]


@lookup
def first_token() -> pd.DataFrame:
    """Time to the first token by publication: predicted over measured in the middle, the factor
    between them [1], and the share within a factor of two.
    """
    rows = every_figure()
    rows = rows[(rows["figure"] == "first token") & (rows["published"] > 0)]
    ratio = (rows["predicted"] / rows["published"]).astype(float)
    rows = rows.assign(ratio=ratio, times=np.exp(np.log(ratio).abs())).dropna(subset="ratio")
    found = rows.groupby("of").agg(
        rows=("run", "size"),
        ratio=("ratio", "median"),
        factor=("times", "median"),
        close=("times", lambda times: (times <= 2).mean()),
    )
    found = ordered(found, "rows", ascending=False).rename_axis("from").reset_index()
    return found.rename(columns={"ratio": "predicted over measured", "close": "within 2"})


@lookup
def by_answer(figure: str = "throughput") -> dict[str, float]:
    """Median absolute error of a figure by the length of answers [1].

    >>> list(by_answer())
    ['up to 256 tokens', 'up to 1,024 tokens', 'up to 4,096 tokens', 'beyond']
    """
    rows = scored(figure=figure)
    ends = {f"up to {most:,} tokens": most for most in (256, 1024, 4096)} | {"beyond": 10**9}
    length = pd.cut(rows["output_tokens"], [0, *ends.values()], labels=[*ends])
    middles = rows["error_percent"].abs().groupby(length, observed=True).median() / 100
    return {str(words): float(middle) for words, middle in middles.items()}


# Estimates of serving by other tools on the same cases, as they were run, and how fast each is


CASE = "llama2-70b/8-h100/batch "
READ, WRITTEN = 2048, 128
"""Tokens of its prompts and answers."""
TOOLS = ["this model", "AIConfigurator", "AIConfigurator (speed of light)", "GenZ", "llm-analysis"]


@lookup
def beside(batches: tuple[int, ...] = (1, 32, 128)) -> pd.DataFrame:
    """Time of a batch's prefill and of a step of decoding by each tool [ms]: Llama-2-70B in BF16 on
    eight H100.

    >>> rows = beside()
    >>> rows["quantity"].tolist()[::3], rows["batch"].tolist()[:3]
    (['prefill', 'decode step'], [1, 32, 128])
    """
    model, chip = catalog.model("Llama-2-70B"), catalog.accelerator("H100 SXM")
    d = Deployment(model, chip, "BF16", 8, software="TensorRT-LLM 1.0")
    slow, rows = slowdowns(d), catalog.table("other_tools")
    ours = []
    for batch in batches:
        steps = {
            "prefill": step_seconds(d, 0, READ, batch * READ, READ / 2, slowdowns=slow),
            "decode step": step_seconds(d, batch, READ + WRITTEN / 2, slowdowns=slow),
        }
        ours += [(batch, name, TOOLS[0], float(of.total)) for name, of in steps.items()]
    rows = rows[rows["case"].str.startswith(CASE)]
    rows = rows.assign(batch=rows["case"].str.removeprefix(CASE).astype(int))
    names = ["batch", "quantity", "tool", "value"]
    every = pd.concat([rows[names], pd.DataFrame(ours, columns=names)])
    every = every.pivot(index=["quantity", "batch"], columns="tool", values="value")
    every = every.sort_index(ascending=[False, True])[TOOLS] * 1000
    return every.rename_axis(columns=None).reset_index()


# One day of DeepSeek's own service, as published, against what the model of a step says of it:
# prefill and decode on pools of their own, with experts held twice


MODEL, CHIP, NODE = "DeepSeek-V3", "H800 SXM", 8
PREFILL_CHIPS, DECODE_CHIPS, REDUNDANT = 32, 144, 32
"""Chips that share the experts of each pool, each an attention group of its own, and routed experts
held twice [deepseekday2025].
"""


def pool(chips: int) -> Deployment:
    """One engine of the service on so many chips, by the mean constants of all engines: its own is
    not public.

    >>> pool(DECODE_CHIPS).held_experts / pool(DECODE_CHIPS).expert
    2.0
    """
    spread = {"expert": chips, "attention_data": chips, "redundant": REDUNDANT}
    found = Deployment(model(MODEL), accelerator(CHIP), "FP8", **spread)
    check(found)
    return found


@lookup
def request() -> Load:
    """A request of the day: prompts and answers in the published ratio, so long that a written
    token looks back on as many as was published.

    >>> 4300 < request().input_tokens < 4500 and round(request().context) == 4989
    True
    """
    read, cached, written = (
        fact(f"deepseek_day_{name}_tokens") for name in ("input", "cached", "output")
    )
    answer = fact("deepseek_day_cache_length") / (read / written + 0.5)
    return Load(answer * read / written, answer, cached_share=cached / read)


@dataclass(frozen=True)
class Day:
    """What the model says of the day.

    prefill, decode : tokens a second of a node of either pool, prompts found in the cache included,
        and at the published pace of a user [token/s]
    nodes : that the day's tokens take at these
    batch : sequences of a chip that decodes [1]
    exchange : share of a step of decoding in which tokens move to experts and back [1]
    """

    prefill: float
    decode: float
    nodes: float
    batch: float
    exchange: float


@lookup
@remembered
def predicted() -> Day:
    """The day as predicted: prefill in full steps, decode with as many sequences as leave each user
    the published pace.
    """
    load, reads, writes = request(), pool(PREFILL_CHIPS), pool(DECODE_CHIPS)
    chunk = reads.chunk_tokens * PREFILL_CHIPS
    full = engine_step(reads, load, 0.0, prefill_tokens=chunk, prefill_context=load.prompt_context)
    prefill = NODE * reads.chunk_tokens / full.total / (load.new_tokens / load.input_tokens)
    each = np.arange(1.0, room(writes, load) / DECODE_CHIPS + 1)
    step = engine_step(writes, load, each * DECODE_CHIPS)
    pace = fact("deepseek_day_user_tokens_per_s")
    batch = float(np.interp(1 / pace, step.total, each))
    exchange = float(np.interp(batch, each, step.expert_s / step.total))
    decode, day_s = NODE * batch * pace, HOURS_PER_DAY * SECONDS_PER_HOUR
    taken = (
        fact("deepseek_day_input_tokens") / prefill + fact("deepseek_day_output_tokens") / decode
    )
    return Day(float(prefill), decode, float(taken / day_s), batch, exchange)


@lookup
def figures() -> pd.DataFrame:
    """The day's figures as published and as predicted, with the error [1]."""
    day, gpus = predicted(), fact("deepseek_day_gpus")
    rows = [
        ("prompts read by a node [token/s]", "deepseek_day_prefill_tokens_per_s", day.prefill),
        ("tokens written by a node [token/s]", "deepseek_day_decode_tokens_per_s", day.decode),
    ]
    found = [(name, fact(of), value) for name, of, value in rows]
    found.append(("nodes of eight for the day", gpus / NODE, day.nodes))
    table = pd.DataFrame(found, columns=["figure", "published", "predicted"])
    return table.assign(error=table["predicted"] / table["published"] - 1)


_TWIN = "silicon/dsr1_h200_trtllm_fp8_agg_1024x1024_c16_cfg83"
"""A run of the same engine at the batch of one that is far off."""
REASONS = {
    "Qwen3-Coder-480B.*FP8/B200": (
        "whole sequences on each of 4 or 8 ranks under long prompts: all wait for the one "
        "that reads, by more than the model says"
    ),
    "mlenergy-v3-.* gap": (
        "about half of the steps carry a prompt there, and the median gap jumps from one kind "
        "of step to the other"
    ),
    "gpqa/.*B200|chat/(Qwen3-8B|Llama-3.1-8B).*B200": (
        "bound by the host: smaller batches of this set take up to three times as long as on "
        "an H100"
    ),
    "deepseek_r1_h200_sxm_trtllm": (
        "perhaps drafted tokens, which the row does not state: at the same batch the engine "
        "also took {twin} ms"
    ),
    "dsr1_b300_sglang": "the record splits one service over 16 chips; perhaps it was 8",
    "oracle-vllm": "an engine of 2024 on ROCm",
    "rocm-vllm": (
        "ROCm: no fit has seen a run of its engine, and more sequences at once than any other row"
    ),
    "trtllm-0.6.1": "static batches by an engine of 2023, with an all-reduce of its time",
    "tpu-recipes": "no fit has seen a TPU, nor its compiler",
    "Gaudi-2x4": "perhaps two chips, as in the lines beside it",
    "Llama-4-(Scout|Maverick)/H": (
        "long contexts in chunked windows, of whose cache the engine perhaps keeps more"
    ),
    "Llama-4-Maverick.*H100": (
        "draws less than modeled while few sequences wait for experts on other chips"
    ),
    "v2-code": "prompts of code, whose length nobody published: one fitted constant",
    "inferencemax/.*B200/TensorRT": (
        "kernels that overlap on Blackwell, which the model runs one after another"
    ),
    "Qwen3-Coder-480B": "long prompts whose length nobody published: one fitted constant",
}
"""Likely reasons, by a pattern of the run and its figure; the first that fits counts."""
_RULES = {
    r".*max_context.*": "its lengths are beyond the model's context",
    r"^anomaly.*": "another chip's figure contradicts it, by the importer's rule",
    r"^.* in \w+ on \d+ x .*": "its sequences do not fit beside the weights",
    r"^([^:]*):.*": r"\1",
}
"""Why a figure is not judged, in short."""


@lookup
def reason(run: str) -> str:
    """Why a figure is far off, as far as we know, by its run and figure.

    >>> reason("oracle-vllm/Llama-3.1-405B throughput"), reason("another run")
    ('an engine of 2024 on ROCm', 'unknown')
    """
    return published.likely(REASONS, run, "unknown").format(twin=_twin_ms())


@remembered
def _twin_ms() -> str:
    """The time of a token of `_TWIN` [ms]."""
    rows = every_figure().set_index(["run", "figure"])["published"]
    return significant(1000 * rows.loc[_TWIN, "time per token"], 2)


@lookup
def furthest(count: int = 14) -> pd.DataFrame:
    """The figures furthest off, the worst of each model and publication, with their likely reason.

    >>> furthest(1)[["model", "from", "figure"]].iloc[0].tolist()
    ['Qwen3-Coder-480B-A35B', 'ML.ENERGY', 'throughput']
    """
    rows = scored()
    found = published.furthest(rows, ["of", "figure"], count, UNITS).rename(columns={"of": "from"})
    rows = rows.loc[found.index]
    why = (rows["run"] + " " + rows["figure"]).map(reason)
    return found.assign(**{"on": found["on"] + ", " + rows["precision"], "likely why": why})


@lookup
def not_scored() -> pd.DataFrame:
    """Figures that are shown and not judged, by the rule that decides.

    >>> not_scored().iloc[0][["why", "publications"]].tolist()
    ['mostly waiting', 'InferenceMAX, InferenceX, MLPerf']
    """
    rows = every_figure()
    rows = rows.assign(why=rows["why"].replace(_RULES, regex=True))
    return published.by_reason(rows, "publications")
