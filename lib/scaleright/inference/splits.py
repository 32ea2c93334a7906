"""How chips may share a model: the splits that are published, of a node or of a rack, and which of
them read prompts for a rack.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from scaleright.architecture import Transformer
from scaleright.catalog import Accelerator
from scaleright.formulas import lookup, search
from scaleright.inference.deployment import DEGREES as DEGREES_OF
from scaleright.inference.deployment import Deployment, shared_by, valid
from scaleright.inference.disaggregation import reader
from scaleright.inference.formats import offered, published_in, resolved
from scaleright.inference.lengths import Load
from scaleright.inference.serving import slots

# The server that holds a model on one kind of chip: the fewest chips of a node with room for the
# requests


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


RACK = (16, 64)
"""Chips of a rack that share the experts of a mixture; more than eight share no dense model."""
BLOCK, BLOCKED = 128, ("FP8", "INT4")
"""Weights that share a scale in published checkpoints of such formats, beyond which engines do not
split an expert: they spread whole experts instead [vllm17327].
"""


@search
def as_one(found: Sequence[Deployment]) -> Deployment:
    """Deployments that differ in their degrees alone, as one with a row for each."""
    rows: Any = {name: np.array([[getattr(one, name)] for one in found]) for name in DEGREES_OF}
    return replace(found[0], **rows)


def _degrees(d: Deployment) -> Iterator[tuple[int, int, int]]:
    """Tensor, expert and attention_data of every split that is published."""
    for chips in DEGREES:
        if chips == 1 or not d.model.experts:
            yield chips, 1, 1
            continue
        if d.precision not in BLOCKED or d.model.expert_ffn / chips % BLOCK == 0:
            yield chips, 1, 1
        yield from ((chips, chips, 1), (1, chips, chips))
    if d.model.experts:
        yield from ((1, chips, chips) for chips in RACK if chips <= (d.chip.scale_up_chips or 1))


@search
def splits(d: Deployment) -> list[Deployment]:
    """All splits of a deployment among which `engines` are chosen, those that keep the rules and
    have room for a few requests, by their chips.

    >>> from scaleright import catalog
    >>> one = Deployment(catalog.model("Llama-3.1-8B"), catalog.accelerator("L4"), "FP8")
    >>> [d.chips for d in splits(one)]
    [1, 2, 4, 8]
    """
    degrees = dict(
        zip(("tensor", "expert", "attention_data"), np.array([*_degrees(d)]).T, strict=True)
    )
    every = replace(d, **degrees)
    held = valid(every)
    held[held] = (
        slots(replace(d, **{name: of[held] for name, of in degrees.items()}), USUAL_LOAD)
        >= LEAST_ROOM
    )
    rows = sorted(
        zip(*(of[held].tolist() for of in degrees.values()), strict=True),
        key=lambda row: row[0] * row[2],
    )
    return [replace(d, **dict(zip(degrees, row, strict=True))) for row in rows]


@lookup
def reads_apart(d: Deployment) -> bool:
    """Whether prompts are read for an engine by groups of their own: where eight groups of
    attention or more share experts.

    Its groups of attention wait for each other at the experts, so that a prompt of any one would
    hold up the answers of all: with so many, in nearly every step.

    >>> from scaleright import catalog
    >>> one = Deployment(catalog.model("gpt-oss-120b"), catalog.accelerator("GB300"))
    >>> [reads_apart(replace(one, attention_data=groups, expert=groups)) for groups in (4, 8)]
    [False, True]
    """
    return bool(d.attention_data >= DEGREES[-1])


@search
def reader_like(d: Deployment) -> Deployment:
    """The group that reads prompts for such a deployment, as it in all but its degrees: of the
    splits of a node the one whose chips read most tokens of usual requests, else such a group.

    >>> from scaleright import catalog
    >>> one = Deployment(catalog.model("DeepSeek-V3"), catalog.accelerator("GB300"), "NVFP4",
    ...     expert=64, attention_data=64)
    >>> found = reader_like(one)
    >>> found.tensor, found.expert, found.attention_data
    (1, 2, 2)
    """
    usual = Deployment(d.model, d.chip, d.precision, software=SOFTWARE)
    found = [one for one in splits(usual) if one.chips <= DEGREES[-1]]
    if not found:
        return d
    rows: Any = {name: np.array([getattr(one, name) for one in found]) for name in DEGREES_OF}
    best = reader(replace(usual, **rows), USUAL_LOAD)
    degrees: Any = {name: int(getattr(best, name)) for name in DEGREES_OF}
    return replace(d, **degrees)
