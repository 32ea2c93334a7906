"""How chips may share a model: the splits that are published, of a node or of a rack, and which of
them read prompts for a rack.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from scaleright.formulas import lookup, search
from scaleright.inference.deployment import DEGREES as DEGREES_OF
from scaleright.inference.deployment import Deployment, valid
from scaleright.inference.disaggregation import reader
from scaleright.inference.server import DEGREES, LEAST_ROOM, SOFTWARE, USUAL_LOAD
from scaleright.inference.serving import slots

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
