"""Publications by the names that pages give them, what each measured that can be judged, what came
of the held-out test, and how chapters show how far off predictions of published figures are.
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pandas as pd

from scaleright import catalog
from scaleright.formulas import lookup
from scaleright.order import ordered
from scaleright.units import si, significant
from scaleright.validation.cases import cases
from scaleright.validation.cross_validation import median_and_p90

SERVING = {
    "tensorrtllm2025": "TensorRT-LLM",
    "mlenergy2026": "ML.ENERGY",
    "mlenergy2024": "ML.ENERGY 2024",
    "siliconrefs2026": "InferenceX",
    "tensorrtllm017": "TensorRT-LLM 0.17",
    "tensorrtllm061": "TensorRT-LLM 2023",
    "rocmvllm2025": "AMD",
    "oraclemi300x2024": "Oracle",
    "intelgaudi2024": "Intel",
    "tpurecipes2026inference": "Google",
    "inferencemax2026": "InferenceMAX",
    "inferencex2026compare": "InferenceX page",
}
"""Sources of measured serving and its energy; all others are of MLPerf."""
FIGURES = {
    "throughput": "throughput",
    "TPOT": "time per token",
    "ITL": "gap between tokens",
    "energy": "energy",
}
"""Figures of serving that are judged, by the words of pages."""
TRAINING = {
    "llmfoundry": "llm-foundry",
    "megatronbridge2026": "Megatron-Bridge",
    "dgxcloud2025": "DGX Cloud",
    "nemoperformance2024": "NeMo",
    "torchtitan2024": "torchtitan",
    "korthikanti2022": "Megatron papers",
    "narayanan2021": "Megatron papers",
    "llama3table4": "Llama 3 paper",
    "maxtext2025": "MaxText",
}
"""Sources of measured training."""
SET_ASIDE = {
    "amdresults2025": "AMD",
    "deepseekv2": "DeepSeek-V2",
    "falcon180b2023": "Falcon-180B",
    "gopher": "Gopher",
    "gpustack2025": "GPUStack",
    "lmdeploy2023": "LMDeploy",
    "modalities2025": "Modalities",
    "moemodelzoo2026": "Megatron MoE model zoo",
    "olmo3hours2025": "Olmo 3",
    "phi2": "Phi-2",
    "sglangcookbook2026": "SGLang cookbook",
    "smollm2hours2025": "SmolLM2",
    "smollm3blog2025": "SmolLM3",
    "tinyllama2023": "TinyLlama",
    "torchaomx2025": "torchao",
    "tpurecipesironwood2026": "TPU recipes, Ironwood",
}
"""Sources of the runs that were set aside and opened once."""
ALL, HELD_OUT = "all", "held out"
SECONDS: Mapping[str, str] = MappingProxyType({})
"""Units of figures that are all times."""


def serving_figures(source: str) -> list[str]:
    """Figures of a publication that are judged: of all, or of the rows that no fit sees.

    >>> serving_figures("TensorRT-LLM")
    ['throughput']
    """
    rows = catalog.table("serving_errors")
    rows = rows[rows["scored"]]
    names = rows["source"].map(SERVING).fillna("MLPerf")
    names = names.mask(rows["held_out"].fillna(False).astype(bool), HELD_OUT)
    found = set(rows.loc[(names == source) | (source == ALL), "figure"])
    return [words for figure, words in FIGURES.items() if figure in found]


@catalog.shared
def _judged_training() -> tuple[tuple[str | None, str], ...]:
    rows = catalog.table("measured/training")
    found = []
    for row, one in zip(rows.to_dict("records"), cases(rows), strict=True):
        if not one.why:
            name = HELD_OUT if row["held_out"] is True else TRAINING.get(row["source"])
            found.append((name, "experts" if one.run.model.experts else "dense"))
    return tuple(dict.fromkeys(found))


def training_kinds(source: str) -> list[str]:
    """Kinds of models of a publication whose runs are judged, "all" among them.

    >>> training_kinds("llm-foundry")
    ['all', 'dense']
    """
    kinds = {kind for name, kind in _judged_training() if source in (ALL, name)}
    return [ALL, *sorted(kinds)] if kinds else []


# What came of the runs that were set aside and opened once (`measured/sealed_test`)


def _tested(kind: str) -> pd.DataFrame:
    """Figures of a measured table that its configurations determine, with their errors [%]."""
    rows = catalog.table("measured/sealed_test")
    rows = rows[(rows["table"] == f"measured/{kind}") & rows["scored"]]
    error = 100 * (rows["predicted"] / rows["published"] - 1)
    return rows.assign(error=error, inside=rows["published"].between(rows["low"], rows["high"]))


@lookup
def held_out_test(kind: str) -> dict[str, float | str]:
    """How the held-out test of a kind came out: figures, median and 90th percentile of the absolute
    error, share inside the stated ranges [1], and the day.

    >>> held_out_test("training")["figures"]
    30
    """
    rows = _tested(kind)
    median, p90 = rows["error"].abs().quantile([0.5, 0.9]) / 100
    return {
        "figures": len(rows),
        "median": float(median),
        "p90": float(p90),
        "inside": float(rows["inside"].mean()),
        "opened": str(rows["opened"].max())[:10],
    }


@lookup
def held_out_by_source(kind: str) -> pd.DataFrame:
    """The same of each source: figures, median / 90th percentile of the absolute error [%], bias
    [%], and figures inside the stated ranges [%].
    """
    each = _tested(kind).groupby("source")
    found = pd.DataFrame(
        {
            "figures": each.size(),
            "error": each["error"].agg(median_and_p90),
            "bias": each["error"].median().round(1),
            "in_range": (100 * each["inside"].mean()).round(0),
        }
    )
    found = ordered(found.reset_index(), "figures", ascending=False).reset_index(drop=True)
    return found.assign(source=found["source"].replace(SET_ASIDE))


# How far off predictions are, as chapters show it


def spread(signed: pd.Series) -> dict[str, float]:
    """Of signed errors: median and 90th percentile of the absolute ones, and 5th and 95th
    percentile.

    >>> spread(pd.Series([-1.0, 1.0]))["p90"]
    1.0
    """
    (median, p90), (low, high) = signed.abs().quantile([0.5, 0.9]), signed.quantile([0.05, 0.95])
    return {"median": median, "p90": p90, "low": low, "high": high}


def pair(percent: pd.Series) -> str:
    """Median and 90th percentile of absolute errors in words [%].

    >>> pair(pd.Series([-10.0, 10.0]))
    '10 / 10'
    """
    return " / ".join(significant(of, 2) for of in percent.abs().quantile([0.5, 0.9]))


def furthest(
    rows: pd.DataFrame, columns: Sequence[str], most: int, units: Mapping[str, str] = SECONDS
) -> pd.DataFrame:
    """The judged rows furthest off, the worst of each model and publication, as a table shows them.

    Parameters
    ----------
    columns : what tells rows apart, besides model and chips
    units : by column `figure`, where it is not time
    """
    rows = ordered(rows.assign(size=rows["error_percent"].abs()), "size", ascending=False)
    rows = rows.drop_duplicates(["source", "model"]).head(most)
    of = [units.get(figure, "s") for figure in rows.get("figure", rows["run"])]
    told = {"measured": "published", "predicted": "predicted"}
    said = {words: [*map(si, rows[column], of)] for words, column in told.items()}
    chips = rows["accelerators"].map(str) + " " + rows["accelerator"]
    found = rows.assign(on=chips)[["model", "on", *columns]]
    return found.assign(**said, error=rows["error_percent"] / 100)


def likely(reasons: Mapping[str, str], run: str, unknown: str) -> str:
    """Why a run is far off, by the first pattern that its name holds.

    >>> likely({"^a": "old software"}, "b", "unknown")
    'unknown'
    """
    return next((words for like, words in reasons.items() if re.search(like, run)), unknown)


def by_reason(rows: pd.DataFrame, whose: str) -> pd.DataFrame:
    """The rows that are not judged by `why`: how many, and of whom (`of`), in a column that is
    called so.
    """
    each = rows[~rows["scored"]].groupby("why")
    names = each["of"].agg(lambda of: ", ".join(sorted(set(of))))
    found = pd.DataFrame({"rows": each.size(), whose: names})
    return ordered(found, "rows", ascending=False).reset_index()


@lookup
def speeds(case: str) -> pd.DataFrame:
    """Estimates in a second by each tool that was asked a case, the fastest first.

    >>> speeds("serving speed")["tool"].iloc[0]
    'Scale Right'
    """
    rows = catalog.table("other_tools")
    rows = ordered(rows[rows["case"] == case], "value", ascending=False)
    rows = rows.rename(columns={"value": "estimates a second"})
    return rows[["tool", "version", "estimates a second", "note"]].reset_index(drop=True)
