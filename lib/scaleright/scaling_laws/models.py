"""Models as they were trained and served, beside what the law says of them."""

from typing import NamedTuple

import pandas as pd

from scaleright.catalog import model, table
from scaleright.formulas import lookup
from scaleright.order import ordered
from scaleright.outputs import Sheet
from scaleright.scaling_laws.laws import (
    Law,
    compute_optimal_parameters,
    implied_lifetime_tokens,
    loss,
    tokens_for_compute,
)
from scaleright.transformer.flops import training_flop
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


class Instead(NamedTuple):
    """A model's compute spent as the law would.

    size, tokens : parameters and tokens
    had, loss : loss as it was trained, and so [nat/token]
    """

    size: float
    tokens: float
    had: float
    loss: float


@lookup
def instead_of(of: pd.Series, law: Law) -> Instead:
    """What the compute of a row of `trained_models` would have bought.

    >>> from scaleright.scaling_laws.laws import published
    >>> law = published("Besiroglu 2024")
    >>> found = instead_of(trained_models(law).loc["GPT-3 175B"], law)
    >>> found.size < 175e9, found.loss < found.had
    (True, True)
    """
    best = float(of["best"])
    tokens = float(tokens_for_compute(of["flop"], best))
    had, reached = (
        float(loss(*pair, law.E, **law.terms))
        for pair in ((of["size"], of["tokens"]), (best, tokens))
    )
    return Instead(best, tokens, had, reached)


@lookup
def named_first(models: pd.DataFrame) -> pd.DataFrame:
    """The models of `trained_models`, those that a drawing names before others.

    >>> from scaleright.scaling_laws.laws import published
    >>> found = named_first(trained_models(published("Besiroglu 2024")))
    >>> found["model"].tolist()[: len(NAMED)] == [*NAMED]
    True
    """
    return models.loc[[*NAMED, *models.index.difference(NAMED)]].reset_index()


@lookup
def compared(models: pd.DataFrame) -> pd.DataFrame:
    """Those models of `trained_models` whose tokens a parameter are worth a bar.

    >>> from scaleright.scaling_laws.laws import published
    >>> len(compared(trained_models(published("Besiroglu 2024"))))
    11
    """
    return models.loc[[name for name in NAMED if name != "Kimi-K2"]].reset_index()


@lookup
def ratios_by_age(models: pd.DataFrame) -> tuple[float, float]:
    """Median tokens a parameter of the models of `trained_models` up to 2022, and since 2024.

    >>> ratios_by_age(pd.DataFrame({"year": [2020, 2023, 2024], "ratio": [2.0, 20.0, 200.0]}))
    (2.0, 200.0)
    """
    years, ratio = models["year"], models["ratio"]
    return float(ratio[years <= 2022].median()), float(ratio[years >= 2024].median())


_WORDS = {
    "model": "model",
    "year": "year",
    "size": "parameters used",
    "tokens": "tokens",
    "ratio": "tokens a parameter",
    "flop": "training",
    "best": "compute-optimal size",
    "right_for": "right for so many tokens in service",
}
"""Columns of `trained_models`, as a table of them is headed."""


@lookup
def models_sheet(models: pd.DataFrame) -> Sheet:
    """The models of `trained_models`, as a table shows them.

    >>> from scaleright.scaling_laws.laws import published
    >>> models_sheet(trained_models(published("Besiroglu 2024"))).summary[-7:]
    ' models'
    """
    said = dict.fromkeys(("size", "tokens", "best"), "count") | {
        "year": "{:.0f}".format,
        "ratio": "number 2",
        "flop": "si FLOP",
        "right_for": _right_for,
    }
    return Sheet(
        models.reset_index()[[*_WORDS]].rename(columns=_WORDS),
        "Models beside the compute-optimal model of the same compute",
        f"{len(models)} models",
        {_WORDS[column]: how for column, how in said.items()},
    )


def _right_for(tokens: float) -> str:
    return in_units(tokens, digits=2, scales=COUNTS) if tokens > 0 else "none: too large"
