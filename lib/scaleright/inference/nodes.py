"""Engines that are usual for a model on a chip: its format, and a few of one node, or of a rack
whose fabric joins more chips, from cheap to quick.
"""

from __future__ import annotations

from scaleright.architecture import Transformer
from scaleright.catalog import Accelerator
from scaleright.formulas import lookup, search
from scaleright.inference.deployment import Deployment, check, valid
from scaleright.inference.lengths import Load
from scaleright.inference.serving import slots

RELEASED_IN = {"gpt-oss-20b": "MXFP4", "gpt-oss-120b": "MXFP4", "Kimi-K2.5": "INT4"}
"""Models whose weights were published in four bits [gptoss; kimik2]."""
_USUAL, _NODE = Load(2000, 500), (1, 2, 4, 8)
RACK = (16, 64)
"""Chips of a rack that share the experts of a mixture: of all splits those that write most for
readers in some hurry, and in most. No pace makes more than eight share a dense model.
"""


@lookup
def usual_format(model: Transformer, chip: Accelerator) -> str:
    """Format in which hosts serve a model on a chip: that of its release where it has four bits,
    FP8 where the chip has it, else 16 bit.
    """
    return RELEASED_IN.get(model.name, "FP8" if "fp8" in chip.dense else "BF16")


@search
def engines(
    model: Transformer, chip: Accelerator, precision: str | None = None, software: str = "vLLM"
) -> list[Deployment]:
    """Three engines of one node for a model on a chip, from cheap to quick: the fewest chips that
    hold it, and all eight, which share every layer; between them half as many in ratio, or of a
    mixture of experts eight that attend to requests of their own, in a rack sixteen and 64.

    None where no node holds it.

    Raises
    ------
    ValueError : the chip cannot serve the format; those that it can are named.

    >>> from scaleright import catalog
    >>> [d.chips for d in engines(catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM"))]
    [2, 4, 8]
    >>> [d.chips for d in engines(catalog.model("gpt-oss-120b"), catalog.accelerator("GB300"))]
    [1, 16, 64, 8]
    """
    form = precision or usual_format(model, chip)
    check(Deployment(model, chip, form))

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
