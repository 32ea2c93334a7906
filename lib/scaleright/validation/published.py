"""Publications by the names that pages give them, and what each measured that can be judged."""

from scaleright import catalog
from scaleright.validation.cases import cases

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
