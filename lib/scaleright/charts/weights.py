"""In which format a model is served, why, and what that costs in quality: said alike on every
page. Weights are those of `inference.formats`, as they come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from scaleright.charts.answers import sentence
from scaleright.charts.displays import Display
from scaleright.charts.tables import table
from scaleright.charts.templates import phrase
from scaleright.ops import where
from scaleright.quantity import Quantity


def weights_format(of: Any, there: Any = True, further: Any = "") -> Display:
    """The format of the weights, whether it is the usual one, and the quality that it costs.

    Parameters
    ----------
    there : whether something is served [truth value]
    further : what else there is to say, in words that begin with a blank
    """
    usual, nothing = _how(of), "Nothing is served, so no format costs any quality."
    refused, instead = of.refusal
    instead = where(refused, phrase("{of.precision}: {instead}"), nothing)
    return sentence(
        "The weights are in <strong>{of.precision}</strong>, {usual}. What that costs in quality:"
        " {of.quality}.{further}",
        provided=there & ~refused,
        otherwise="{instead}",
    )


def _how(of: Any) -> Any:
    """Whether a format is the usual one, and by which evidence."""
    return where(
        of.precision == of.usual,
        phrase("the usual format here, {of.why_usual}"),
        phrase("by choice; {of.usual} is usual here, {of.why_usual}"),
    )


def weights_formats(newer: tuple[Any, Any], older: tuple[Any, Any]) -> Display:
    """The same as `weights_format` of two chips, each by its name; of the first that does not serve
    its format, what it does serve.
    """
    (new, first), (old, second) = newer, older
    usual, usual_then = _how(first), _how(second)
    (refused, instead), (refused_then, other) = first.refusal, second.refusal
    instead = where(refused, phrase("{new}: {instead}"), phrase("{old}: {other}"))
    return sentence(
        "The weights of the {new} are in <strong>{first.precision}</strong>, {usual}. What that"
        " costs in quality: {first.quality}. Those of the {old} are in"
        " <strong>{second.precision}</strong>, {usual_then}. What that costs: {second.quality}.",
        provided=~refused & ~refused_then,
        otherwise="{instead}",
    )


def measured_format(there: Any, of: Any, measured: Any) -> Display:
    """The format of a run, beside the usual one and those in which others were measured, and the
    quality that it costs.

    Parameters
    ----------
    there : whether there is such a run [truth value]
    measured : the formats in which the model was measured on the chip, in words; empty for none
    """
    usual = where(
        of.precision == of.usual,
        phrase("the usual format here, {of.why_usual}"),
        phrase("while {of.usual} is usual here, {of.why_usual}"),
    )
    seen = where(measured == "", "in no format", phrase("in {measured}"))
    return sentence(
        "The figures are of a run in <strong>{of.precision}</strong>, {usual}; on this chip the"
        " model was measured {seen}. What that costs in quality: {of.quality}.",
        provided=there,
        otherwise="No run is behind this case, so no format is.",
    )


def every_format(
    precision: Quantity, formats: Sequence[str], speed: Any, usd_per_million: Any
) -> Display:
    """A table of the case in each format: its price, the engine, and the quality that it costs.

    precision : the parameter that the rows give; formats : its values; speed : the engine of one
    node, as `inference.node_speed` has it
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
        pd.DataFrame({"precision": formats}).assign(**columns),
        "Your case in every format of the weights, rented",
        formats=dict.fromkeys(("chips", "answers at once", "tokens/s each"), "whole")
        | {"usd_per_million": "usd"},
        headers={"usd_per_million": "USD per million output tokens"},
        along=precision,
        name="every-format",
    )
