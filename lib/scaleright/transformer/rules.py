"""The rules of thumb 2p and 6p beside exact counts, for many models in one call."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from scaleright.architecture import Transformer, stacked
from scaleright.formulas import counting
from scaleright.transformer.flops import (
    forward_flop,
    inference_flop,
    training_flop,
    training_flop_per_token,
)
from scaleright.transformer.memory import kv_bytes_per_token, model_weight_bytes
from scaleright.transformer.parameters import active_parameters, parameters


@counting
def exact_over_rule(models: Iterable[Transformer], contexts) -> np.ndarray:
    """Exact forward FLOP per token over the rule 2p, with p all parameters; shape (models,
    contexts).

    The exact count is causal: the mean over all positions of the context.

    >>> tiny = Transformer("tiny", 2, 64, 4, 2, 16, 256, True, 1000, True)
    >>> exact_over_rule([tiny], [1, 1000]).round(2).tolist()
    [[1.0, 1.68]]
    """
    shapes = stacked(models)
    exact = [forward_flop(shapes, context).total for context in np.asarray(contexts, dtype=float)]
    return (
        np.stack(exact, axis=-1)
        / inference_flop(parameters(shapes).total.astype(float), 1.0)[:, None]
    )


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
