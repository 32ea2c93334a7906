"""The server that holds a model on one kind of chip: the fewest chips of a node with room for the
requests.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from scaleright.architecture import Transformer
from scaleright.catalog import Accelerator
from scaleright.formulas import search
from scaleright.inference.deployment import Deployment, shared_by, valid
from scaleright.inference.formats import offered, published_in, resolved
from scaleright.inference.lengths import Load
from scaleright.inference.serving import slots

DEGREES = (1, 2, 4, 8)
"""Chips of a node that may share a model."""
ROOM, LEAST_ROOM = 128, 8
"""Requests of the usual lengths that a server has room for, and at least if no node has that."""
SOFTWARE = "vLLM"
USUAL_LOAD = Load(2000, 500)


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
    held = holding(model, chip, precision, (chips,) if chips else DEGREES)
    enough = [one for one, room in held if room >= ROOM] or [one for one, _ in held[-1:]]
    return enough[0] if enough else None


@search
def holding(
    model: Transformer, chip: Accelerator, precision: str, degrees: Sequence[int] = DEGREES
) -> list[tuple[Deployment, float]]:
    """The servers of so many chips with room for `LEAST_ROOM` requests, each with its room; none
    where nobody published the format.

    >>> from scaleright import catalog
    >>> found = holding(catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM"), "FP8")
    >>> [one.chips for one, _ in found]
    [2, 4, 8]
    """
    if not published_in(model, chip, precision):
        return []

    def of(degree: Any) -> Deployment:
        return shared_by(Deployment(model, chip, precision, software=SOFTWARE), degree)

    every = of(np.array(degrees))
    rooms = np.where(valid(every), slots(every, USUAL_LOAD), 0.0)
    return [
        (of(degree), room)
        for degree, room in zip(degrees, rooms.tolist(), strict=True)
        if room >= LEAST_ROOM
    ]


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
    precision = resolved(model, chip, precision)
    found = server(model, chip, precision, chips)
    if found is None:
        fewest = server(model, chip, precision)
        lean = [form for form in offered(model, chip) if server(model, chip, form, chips)]
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
