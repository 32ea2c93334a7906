"""Engines that are usual for a model on a chip: a few of one node, or of a rack whose fabric
joins more chips, from cheap to quick.
"""

from __future__ import annotations

from scaleright.architecture import Transformer
from scaleright.catalog import Accelerator
from scaleright.formulas import search
from scaleright.inference.deployment import Deployment, valid
from scaleright.inference.formats import USUAL, resolved
from scaleright.inference.lengths import Load
from scaleright.inference.serving import slots

_USUAL, _NODE = Load(2000, 500), (1, 2, 4, 8)
RACK = (16, 64)
"""Chips of a rack that share the experts of a mixture: of all splits those that write most for
readers in some hurry, and in most. No pace makes more than eight share a dense model.
"""


@search
def engines(
    model: Transformer, chip: Accelerator, precision: str = USUAL, software: str = "vLLM"
) -> list[Deployment]:
    """Three engines of one node for a model on a chip, from cheap to quick: the fewest chips that
    hold it, and all eight, which share every layer; between them half as many in ratio, or of a
    mixture of experts eight that attend to requests of their own, in a rack sixteen and 64.

    None where no node holds it.

    precision : one of `FORMATS`, or the usual one

    Raises
    ------
    ValueError : see `resolved`.

    >>> from scaleright import catalog
    >>> [d.chips for d in engines(catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM"))]
    [2, 4, 8]
    >>> [d.chips for d in engines(catalog.model("gpt-oss-120b"), catalog.accelerator("GB300"))]
    [1, 16, 64, 8]
    """
    form = resolved(model, chip, precision)

    def fits(tensor: int = 1, attention_data: int = 1) -> list[Deployment]:
        d = Deployment(
            model,
            chip,
            form,
            software=software,
            tensor=tensor,
            attention_data=attention_data,
            expert=tensor * attention_data if model.experts else 1,
        )
        return [d] if valid(d) and slots(d, _USUAL) >= 8 else []

    whole = [d for chips in _NODE for d in fits(tensor=chips)]
    between = whole[len(whole) // 2 :][:1]
    if model.experts:
        joined = [chips for chips in RACK if chips <= (chip.scale_up_chips or 1)]
        wide = [d for chips in joined for d in fits(attention_data=chips)]
        between = wide or fits(attention_data=_NODE[-1])
    return list(
        {(d.tensor, d.attention_data): d for d in whole[:1] + between + whole[-1:]}.values()
    )
