"""Models as they were trained and served, beside what the law says of them."""

from statistics import median
from types import MappingProxyType

import pandas as pd

from scaleright.catalog import accelerator, model, table
from scaleright.formulas import lookup
from scaleright.order import ordered
from scaleright.scaling_laws.laws import Law, compute_optimal_parameters, implied_lifetime_tokens
from scaleright.transformer.flops import inference_flop, training_flop
from scaleright.transformer.parameters import active_parameters
from scaleright.units import COUNTS, in_units

NAMED = (
    "Llama-3.1-405B",
    "DeepSeek-V3",
    "GPT-3 175B",
    "Chinchilla-70B",
    "Llama-3.1-8B",
    "Qwen3-0.6B",
    "PaLM-540B",
    "LLaMA-7B",
    "Qwen3-32B",
    "Llama-3.1-70B",
    "Kimi-K2",
    "Llama-2-70B",
)
"""Models that a drawing names before others."""


def _right_for(tokens: float) -> str:
    return in_units(tokens, digits=2, scales=COUNTS) if tokens > 0 else "none: too large"


MODELS_SHOWN = MappingProxyType(
    {
        "formats": dict.fromkeys(("size", "tokens", "best"), "count")
        | {"year": "{:.0f}".format, "ratio": "number 2", "flop": "si FLOP"}
        | {"right_for": _right_for},
        "headers": {
            "size": "parameters used",
            "ratio": "tokens a parameter",
            "flop": "training",
            "best": "compute-optimal size",
            "right_for": "right for so many tokens in service",
        },
    }
)
"""How a table says the columns of `trained_models`."""


def _used(name: str) -> float:
    """Parameters that a token uses."""
    return float(active_parameters(model(name)).total)


@lookup
def trained_models(law: Law) -> pd.DataFrame:
    """Models whose training tokens were published, beside the compute-optimal model of the same
    compute, by release.

    Returns
    -------
    frame indexed by model: year, size (parameters that a token uses), tokens, ratio (of both), flop
    of training, best (compute-optimal size), right_for (tokens in service at which no other model
    of that loss would have been cheaper, a FLOP in service at the price of one in training; below 0
    for a model larger than compute-optimal)

    >>> from scaleright.scaling_laws.laws import published
    >>> found = trained_models(published("Besiroglu 2024"))
    >>> round(found.ratio["Chinchilla-70B"]), bool(found.right_for["GPT-3 175B"] < 0)
    (20, True)
    """
    rows = table("training_tokens")[["model", "tokens"]]
    rows = rows.assign(
        size=[_used(name) for name in rows["model"]],
        released=rows["model"].map(table("models").set_index("name")["released"]),
    )
    rows = ordered(rows, ["released", "model"]).set_index("model")
    size, tokens = rows["size"].to_numpy(), rows["tokens"].to_numpy()
    flop = training_flop(size, tokens)
    return pd.DataFrame(
        {
            "year": rows["released"].dt.year,
            "size": size,
            "tokens": tokens,
            "ratio": tokens / size,
            "flop": flop,
            "best": compute_optimal_parameters(flop, **law.terms),
            "right_for": implied_lifetime_tokens(size, tokens, **law.terms),
        },
        index=rows.index,
    )


@lookup
def usual_serving_mfu() -> float:
    """Share of the BF16 peak that service reaches: median of published measurements at full load,
    the arithmetic of all tokens that a system reads and writes over the peak of its chips [1].

    >>> usual_serving_mfu()
    0.3
    """
    rate = "measured_output_tokens_per_s_per_accelerator"
    rows = table("measured/serving").dropna(subset=rate)
    rows = rows.query("scenario == 'maximum load' and held_out.isna()")
    tokens = rows[rate] * (1 + rows["input_tokens"] / rows["output_tokens"])
    shares = (
        inference_flop(_used(name), per_s) / accelerator(chip).peak_flops("bf16")
        for name, chip, per_s in zip(rows["model"], rows["accelerator"], tokens, strict=True)
    )
    return round(median(shares), 2)
