"""The server that holds a model on one kind of chip: the fewest chips of a node with room for the
requests.
"""

from typing import Any

import numpy as np

from scaleright.architecture import Transformer
from scaleright.catalog import Accelerator
from scaleright.formulas import search
from scaleright.inference.deployment import Deployment, check, valid
from scaleright.inference.lengths import Load
from scaleright.inference.serving import slots

DEGREES = (1, 2, 4, 8)
"""Chips of a node that may share a model."""
ROOM, LEAST_ROOM = 128, 8
"""Requests of the usual lengths that a server has room for, and at least if no node has that."""
FORMATS = ("BF16", "FP8", "INT8", "INT4", "NVFP4", "MXFP4")
"""Formats of weights, the widest first."""
_USUAL = Load(2000, 500)
_FOUR_BITS = "gpt-oss"
"""Models that were published in MXFP4, and in nothing else; the others were not."""


def _published_in(model: Transformer, precision: str) -> bool:
    return model.name.startswith(_FOUR_BITS) == (precision == "MXFP4")


@search
def server(
    model: Transformer, chip: Accelerator, precision: str, chips: int | None = None
) -> Deployment | None:
    """The fewest chips with room for `ROOM` requests, else the most with room for `LEAST_ROOM`, of
    one node or of so many chips; None where there are none, or nobody published the format.

    >>> from scaleright import catalog
    >>> server(catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM"), "FP8").chips
    4
    >>> server(catalog.model("Llama-3.1-405B"), catalog.accelerator("H100 SXM"), "FP8", 1)
    """
    if not _published_in(model, precision):
        return None
    degrees = np.array([chips] if chips else DEGREES)

    def of(degree: Any) -> Deployment:
        expert = degree if model.experts else 1
        return Deployment(model, chip, precision, tensor=degree, expert=expert, software="vLLM")

    rooms = np.where(valid(of(degrees)), slots(of(degrees), _USUAL), 0.0)
    held = list(zip(degrees.tolist(), rooms, strict=True))
    enough = [degree for degree, room in held if room >= ROOM]
    least = [degree for degree, room in held if room >= LEAST_ROOM]
    found = enough[:1] or least[-1:]
    return of(found[0]) if found else None


@search
def require_server(
    model: Transformer, chip: Accelerator, precision: str, chips: int | None, load: Load
) -> Deployment:
    """The `server` of a model that also holds one request of a load.

    Raises
    ------
    ValueError : the chip lacks the format, nobody published the model in it, or model or request do
        not fit; says what would.
    """
    check(Deployment(model, chip, precision))
    if not _published_in(model, precision):
        only = "only in MXFP4" if model.name.startswith(_FOUR_BITS) else "not in MXFP4"
        raise ValueError(f"{model.name} was published {only}")
    found = server(model, chip, precision, chips)
    if found is None:
        fewest = server(model, chip, precision)
        others = [form for form in FORMATS if valid(Deployment(model, chip, form))]
        lean = [form for form in others if server(model, chip, form, chips)]
        hint = f"chips = {fewest.chips}" if fewest else f"precision {', '.join(lean) or 'none'}"
        raise ValueError(
            f"{model.name} in {precision} with room for {LEAST_ROOM} requests does not fit on"
            f" {chips or DEGREES[-1]} x {chip.name}; nearest that fits: {hint}"
        )
    if slots(found, load) < 1:
        raise ValueError(
            f"{model.name} in {precision} on {found.chips} x {chip.name}: a request of"
            f" {load.context:,.0f} tokens does not fit beside the weights; take more chips or"
            " shorter requests"
        )
    return found
