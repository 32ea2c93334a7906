"""Where predictions of serving fail, and why, as far as anyone knows; and what is not judged."""

import re

import pandas as pd

from scaleright.chapters.serving_accuracy.errors import UNITS, every_figure, scored
from scaleright.formulas import lookup
from scaleright.order import ordered
from scaleright.units import si, significant

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
    found = next((words for like, words in REASONS.items() if re.search(like, run)), None)
    if found is None:
        return "unknown"
    if "{twin}" not in found:
        return found
    rows = every_figure().set_index(["run", "figure"])["published"]
    return found.format(twin=significant(1000 * rows.loc[_TWIN, "time per token"], 2))


@lookup
def furthest(count: int = 14) -> pd.DataFrame:
    """The figures furthest off, the worst of each model and publication, with their likely reason.

    >>> furthest(1)[["model", "from", "figure"]].iloc[0].tolist()
    ['Qwen3-Coder-480B-A35B', 'ML.ENERGY', 'throughput']
    """
    rows = scored().assign(size=lambda of: of["error_percent"].abs())
    rows = ordered(rows, "size", ascending=False).drop_duplicates(["source", "model"]).head(count)

    def said(column: str) -> list[str]:
        units = (UNITS.get(figure, "s") for figure in rows["figure"])
        return [si(value, unit) for value, unit in zip(rows[column], units, strict=True)]

    chips = rows["accelerators"].map(str) + " " + rows["accelerator"]
    return pd.DataFrame(
        {
            "model": rows["model"],
            "on": chips + ", " + rows["precision"],
            "from": rows["of"],
            "figure": rows["figure"],
            "measured": said("published"),
            "predicted": said("predicted"),
            "error": rows["error_percent"] / 100,
            "likely why": (rows["run"] + " " + rows["figure"]).map(reason),
        }
    )


@lookup
def not_scored() -> pd.DataFrame:
    """Figures that are shown and not judged, by the rule that decides.

    >>> not_scored().iloc[0][["why", "publications"]].tolist()
    ['mostly waiting', 'InferenceMAX, InferenceX, MLPerf']
    """
    rows = every_figure()
    rows = rows[~rows["scored"]]
    rows = rows.assign(why=rows["why"].replace(_RULES, regex=True))
    found = rows.groupby("why").agg(
        rows=("run", "size"), publications=("of", lambda of: ", ".join(sorted(set(of))))
    )
    return ordered(found, "rows", ascending=False).reset_index()
