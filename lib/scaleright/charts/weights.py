"""In which format a model is served, why, and what that costs in quality: said alike on every
page.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from scaleright.charts.answers import sentence
from scaleright.charts.displays import Display
from scaleright.charts.tables import table
from scaleright.charts.templates import phrase
from scaleright.inference.formats import FORMATS
from scaleright.inference.node_speed import NodeSpeed, Weights
from scaleright.ops import where
from scaleright.quantity import Quantity


def weights_format(of: Weights, there: Any = True) -> Display:
    """The format of the weights, whether it is the usual one, and the quality that it costs.

    there : whether something is served [truth value]
    """
    how = where(
        of.precision == of.usual,
        phrase("which is usual here: {of.why_usual}"),
        phrase("by choice; usual here is {of.usual}, {of.why_usual}"),
    )
    nothing = "Nothing is served, so no format costs any quality."
    refused, instead = of.refusal
    instead = where(refused, phrase("{of.precision}: {instead}"), nothing)
    return sentence(
        "The weights are in <strong>{of.precision}</strong>, {how}. What that costs in quality:"
        " {of.quality}.",
        provided=there & ~refused,
        otherwise="{instead}",
    )


def every_format(precision: Quantity, speed: NodeSpeed, usd_per_million: Any) -> Display:
    """A table of the case in each format: its price, the engine, and the quality that it costs.

    precision : the parameter that the rows give
    """
    columns = {
        "format": where(speed.served, precision, phrase("{precision}: {speed.why_not}")),
        "usd_per_million": usd_per_million,
        "chips": speed.chips,
        "answers at once": speed.batch,
        "tokens/s each": speed.tokens_per_s,
        "quality": where(speed.weights.refused, "", speed.weights.quality),
    }
    return table(
        pd.DataFrame({"precision": FORMATS}).assign(**columns),
        "Your case in every format of the weights, rented",
        formats=dict.fromkeys(("chips", "answers at once", "tokens/s each"), "whole")
        | {"usd_per_million": "usd"},
        headers={"usd_per_million": "USD per million output tokens"},
        along=precision,
        name="every-format",
    )
