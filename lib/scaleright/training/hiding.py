"""What of a training step's launches and communication hides behind computing.

A second of computing hides one second of other work, once: first the ring of context parallelism
behind the attention that it feeds, then the launches of kernels, then the traffic of shared-out
weights and gradients, as far as it is issued beside computing. All are seconds in practice, slowed
as `slowdowns` says: a faster chip hides less, and is never slower for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from scaleright.formulas import search
from scaleright.ops import maximum, minimum, where
from scaleright.training.layer_parts import COMPUTE, Pair
from scaleright.training.parts import Work

BUSY = (*COMPUTE, "tensor", "expert", "context", "sync")
"""Kinds that the chip is busy with: computing, and what shows of the exchanges that it waits for."""
OVERLAP = 0.5
"""Share of the traffic of weights and gradients that is issued beside computing."""
RING_OVERLAP = 0.9
"""Share of the ring of keys and values that is sent while attention computes: all but the first of
a few turns.
"""
_LEAST = 1e-9
"""Stands for a slowdown of 0, of which a kind of work shows nothing."""


@dataclass(frozen=True)
class Parts:
    """Seconds by kind at measured peaks, as far as computing does not hide them: of one micro-batch
    on the busiest stage, useful and recomputed; once a step; and of one micro-batch on a mean
    stage.

    bubble : micro-batches' worth of a mean stage's work that a stage waits [1]
    """

    each: dict[str, Any]
    again: dict[str, Any]
    once: dict[str, Any]
    mean: dict[str, Any]
    micro_batches: Any
    bubble: Any

    def seconds(self, kind: str) -> tuple[Any, Any, Any]:
        """Time that a kind of work takes in a step: useful, recomputed, and waited for in the
        bubble.
        """
        return (
            self.micro_batches * self.each.get(kind, 0.0) + self.once.get(kind, 0.0),
            self.micro_batches * self.again.get(kind, 0.0),
            self.bubble * self.mean.get(kind, 0.0),
        )


def _around(work: Work, slow: Mapping[str, Any]) -> tuple[Work, Pair]:
    """Work with what shows of the ring of a layer, and what attention hides of it [s]."""
    (there, back), factor = work.layer["context"], maximum(slow["context"], _LEAST)
    core = [slow["attention"] * seconds for seconds in work.layer["attention"]]
    twice = work.again["context"] * there, work.again["attention"] * core[0]
    rings, cores = (there, back + twice[0]), (core[0], core[1] + twice[1])
    hidden = [
        minimum(RING_OVERLAP * factor * ring, over)
        for ring, over in zip(rings, cores, strict=True)
    ]
    shown = [ring - part / factor for ring, part in zip(rings, hidden, strict=True)]
    layer = work.layer | {"context": (shown[0], shown[1])}
    return replace(work, layer=layer, again=work.again | {"context": 0.0}), (hidden[0], hidden[1])


def _synced(work: Work, spent: Pair, slow: Mapping[str, Any]) -> tuple[Work, Pair]:
    """Work with launches that experts' own work does not hide: the host waits for the router before
    it launches them.
    """
    if "after_sync" not in work.layer:
        return work, spent
    layer = dict(work.layer)
    launches = layer.pop("after_sync")
    shown, hidden = [], []
    for way in (0, 1):
        own = sum(slow[k] * (layer[k][way] + (work.again[k] * layer[k][0] if way else 0.0)) for k in ("grouped", "routing", "expert"))
        whole = launches[way] + (work.again["after_sync"] * launches[0] if way else 0.0)
        part = minimum(whole, own)
        shown.append(whole - part)
        hidden.append(part)
    layer["sync"] = (shown[0], shown[1])
    again = {k: v for k, v in work.again.items() if k != "after_sync"} | {"sync": 0.0}
    return replace(work, layer=layer, again=again), (spent[0] + hidden[0], spent[1] + hidden[1])


def _busiest(work: Work, slow: Mapping[str, Any]) -> tuple[Any, Any]:
    """Layers of the busiest stage, and 1 where it has the output heads."""
    layer, head = (
        sum(
            slow[kind] * (ways[0] * (1 + work.again[kind] * repeats) + ways[1])
            for kind, ways in part.items()
            if kind in BUSY
        )
        for part, repeats in ((work.layer, 1.0), (work.head, 0.0))
    )
    top = where(work.last * layer + head >= work.full * layer, 1.0, 0.0)
    return maximum(top * work.last + (1 - top) * work.full, 1.0), top


def _stage(
    work: Work, depth: Any, heads: Any, most: Any, spent: Pair, traffic: Pair, slow: Mapping
) -> tuple[dict[str, Any], dict[str, Any], Any]:
    """What shows of a stage, at measured peaks: useful seconds by kind, recomputed ones, and the
    time of the backward pass that has hidden nothing yet.

    depth, heads : layers of the stage, and how much of the output heads it has [1]
    most : layers of the stage with most launches and most of the ring, for which all wait [1]
    spent : what attention of a layer has hidden [s]
    """
    again = {kind: share * depth * work.layer[kind][0] for kind, share in work.again.items()}
    each, left = dict.fromkeys(("host", "data"), 0.0), 0.0
    for way, repeats in ((0, 0.0), (1, 1.0)):
        seconds = {
            kind: depth * ways[way] + heads * work.head.get(kind, (0.0, 0.0))[way]
            for kind, ways in work.layer.items()
            if kind != "host"
        }
        left = sum(
            slow[kind] * (seconds[kind] + repeats * again[kind]) for kind in BUSY if kind in seconds
        )
        left = left - most * spent[way]
        there, back = work.layer["host"]
        launches = most * (back + work.again["host"] * there if way else there)
        for kind, whole, beside in (("host", launches, 1.0), ("data", traffic[way], OVERLAP)):
            seconds[kind], left = _behind(whole, beside, slow[kind], left)
        seconds["host"] = seconds["host"] + seconds.pop("sync", 0.0)
        each = {kind: each.get(kind, 0.0) + value for kind, value in seconds.items()}
    return each, {kind: value for kind, value in again.items() if kind not in ("host", "sync")}, left


def _behind(whole: Any, beside: Any, slow: Any, left: Any) -> tuple[Any, Any]:
    """What shows of work that may hide, at measured peaks, and the busy time that is left over.

    beside : share of it that is issued while the chip is busy [1]
    """
    factor = maximum(slow, _LEAST)
    hidden = minimum(beside * factor * whole, maximum(left, 0.0))
    return whole - hidden / factor, left - hidden


@search
def shown_parts(work: Work, slow: Mapping[str, Any]) -> Parts:
    """The parts of a step that show, at measured peaks.

    slow : time in practice over time at measured peaks, by kind of work [1]
    """
    slow = {**slow, "sync": slow["host"]}
    work, spent = _synced(*_around(work, slow), slow)
    *beside, last = work.gathered
    stages, layers = work.pipeline, work.layers / work.pipeline
    each, again, left = _stage(work, *_busiest(work, slow), work.full, spent, tuple(beside), slow)
    mean, repeated, _ = _stage(work, layers, 1 / stages, layers, spent, (0.0, 0.0), slow)
    return Parts(
        each | {"pipeline": 2 * work.sent},
        again,
        {"optimizer": work.optimizer, "data": _behind(last, OVERLAP, slow["data"], left)[0]},
        {kind: seconds + repeated.get(kind, 0.0) for kind, seconds in mean.items()},
        work.micro_batches,
        (stages - 1) / work.virtual,
    )
