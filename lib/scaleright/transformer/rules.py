"""The rules of thumb 2p and 6p beside exact counts, for many models in one call."""

from collections.abc import Iterable

import pandas as pd

from scaleright.architecture import Transformer, stacked
from scaleright.formulas import counting, lookup
from scaleright.transformer.flops import (
    forward_flop,
    inference_flop,
    training_flop,
    training_flop_per_token,
)
from scaleright.transformer.memory import kv_bytes_per_token, model_weight_bytes
from scaleright.transformer.parameters import active_parameters, parameters

POPULAR = (
    "BERT-large",
    "GPT-2 XL",
    "GPT-J-6B",
    "GPT-NeoX-20B",
    "LLaMA-7B",
    "LLaMA-65B",
    "Chinchilla-70B",
    "GPT-3 175B",
    "BLOOM",
    "PaLM-540B",
    "Llama-3.1-8B",
    "Llama-3.1-70B",
    "Llama-3.1-405B",
    "Mixtral-8x7B",
    "gpt-oss-120b",
    "Qwen3-235B-A22B",
    "DeepSeek-V3",
    "Kimi-K2",
)
"""Models that are often named, by age."""


@counting
def rules_and_counts(
    models: Iterable[Transformer], context: float, prompt_tokens: float
) -> pd.DataFrame:
    """Size, arithmetic and bytes of many models: the rules of thumb beside exact counts, one row a
    model.

    Parameters
    ----------
    context : tokens of the sequence over which the exact counts take their causal mean [token]
    prompt_tokens : tokens of one inference [token]

    >>> tiny = Transformer("tiny", 2, 64, 4, 2, 16, 256, True, 1000, True)
    >>> float(rules_and_counts([tiny], 1000, 10).loc["tiny", "2p [FLOP]"])
    374400.0
    """
    shapes = stacked(models)
    total, forward = parameters(shapes).total.astype(float), forward_flop(shapes, context).total
    return pd.DataFrame(
        {
            "parameters": total,
            "used by a token": active_parameters(shapes).total.astype(float),
            "2p [FLOP]": inference_flop(total, 1.0),
            "exact forward [FLOP]": forward,
            "exact over 2p": forward / inference_flop(total, 1.0),
            "6p [FLOP]": training_flop(total, 1.0),
            "exact training [FLOP]": training_flop_per_token(forward),
            f"{prompt_tokens:,.0f} tokens [FLOP]": forward_flop(shapes, prompt_tokens).total
            * prompt_tokens,
            "weights in BF16 [B]": model_weight_bytes(shapes, "BF16"),
            "cache a token [B]": kv_bytes_per_token(shapes).astype(float),
        },
        index=pd.Index(shapes.name, name="model"),
    )


@lookup
def popular(book: pd.DataFrame) -> pd.DataFrame:
    """The models of `rules_and_counts` that are often named: size and arithmetic of a token.

    >>> from scaleright import catalog
    >>> found = popular(rules_and_counts(catalog.models().values(), 2048, 1024))
    >>> found["model"].tolist() == [*POPULAR], [c for c in found if "[B]" in c]
    (True, [])
    """
    columns = [column for column in book if "[B]" not in column and "tokens" not in column]
    return book.loc[[*POPULAR], columns].reset_index()
