"""What of a training step's launches and communication hides behind what a chip is busy with.

A busy second hides one second of other work, once: the ring of context parallelism behind the
attention that it feeds, the launches of routed experts behind those experts, then all other
launches, then the traffic of shared-out weights and gradients as far as it is issued beside
computing (`parts`). All are seconds in practice, slowed as `slowdowns` says, so that a faster
chip hides less and is never slower for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from scaleright.collectives import exposed
from scaleright.formulas import search, unchecked
from scaleright.ops import maximum, where
from scaleright.training.machine import COMPUTE, Pair
from scaleright.training.parts import NOTHING, Sharding, Work

RING_OVERLAP = 0.9
"""Share of the ring of keys and values that is sent while attention computes: all but the first of
a few turns.
"""
EXCHANGE_OVERLAP = 1 - 20 / 132
"""Share of the exchange of experts that costs nothing where another micro-batch is computed
meanwhile: the exchange takes 20 of the 132 processors of an H100 for as long [deepseekv3,
section 3.2.2].
"""
ROUTED = ("grouped", "routing", "expert")
"""Work of routed experts, which is launched once the host knows where the router sends tokens."""
_BUSY = (*COMPUTE, "tensor", "expert", "context", "routed_host")
"""Kinds that the chip is busy with or waits for: computing, exchanges, and what shows of the ring
and of experts' launches.
"""
_LEAST = 1e-9
"""Stands for a slowdown of 0, of which a kind of work shows nothing."""
_exposed = unchecked(exposed)


@dataclass(frozen=True)
class Parts:
    """Seconds by kind at measured peaks, as far as nothing hides them: of one micro-batch on the
    busiest stage, useful and recomputed; once a step; and of one micro-batch on a mean stage.

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


def _passes(work: Work, kind: str) -> Pair:
    """Seconds of a kind of work in a layer's forward pass, and in its backward pass with what is
    repeated there.
    """
    there, back = work.layer[kind]
    return there, back + work.again[kind] * there


def _hide(whole: Any, beside: Any, slow: Any, left: Any) -> tuple[Any, Any]:
    """What shows of work that may hide, at measured peaks, and the busy seconds that are left.

    beside : share of it that is issued while the chip is busy [1]
    left : busy seconds that have hidden nothing yet [s]
    """
    factor = maximum(slow, _LEAST)
    shown = _exposed(factor * whole, maximum(left, 0.0), beside)
    return shown / factor, left - (factor * whole - shown)


def _in_layers(work: Work, slow: Mapping[str, Any]) -> tuple[Work, Pair]:
    """Work with what shows of each layer's ring and of its experts' launches, and the busy seconds
    that hid the rest.
    """
    behind: dict[str, tuple[tuple[str, ...], Any]] = {"context": (("attention",), RING_OVERLAP)}
    if "routed_host" in work.layer:
        behind["routed_host"] = ROUTED, 1.0
    if "expert" in work.layer and work.overlapped is not False:
        behind["expert"] = COMPUTE, EXCHANGE_OVERLAP * where(work.overlapped, 1.0, 0.0)
    layer, spent = dict(work.layer), [0.0, 0.0]
    for kind, (before, beside) in behind.items():
        shown = []
        for way, whole in enumerate(_passes(work, kind)):
            over = sum(slow[busy] * _passes(work, busy)[way] for busy in before)
            if kind == "expert":  # the same seconds may have hidden the ring and launches
                over = maximum(over - spent[way], 0.0)
            seconds, left = _hide(whole, beside, slow[kind], over)
            shown.append(seconds)
            spent[way] = spent[way] + over - left
        layer[kind] = shown[0], shown[1]
    again = work.again | dict.fromkeys(behind, 0.0)
    return replace(work, layer=layer, again=again), (spent[0], spent[1])


def _busiest(work: Work, slow: Mapping[str, Any]) -> tuple[Any, Any]:
    """Layers of the busiest stage, and 1 where it has the output heads."""
    layer = sum(slow[kind] * sum(_passes(work, kind)) for kind in _BUSY if kind in work.layer)
    head = sum(slow[kind] * sum(ways) for kind, ways in work.head.items())
    top = where(work.last * layer + head >= work.full * layer, 1.0, 0.0)
    return maximum(top * work.last + (1 - top) * work.full, 1.0), top


def _stage(
    work: Work, depth: Any, heads: Any, most: Any, spent: Pair, shared: Sharding, slow: Mapping
) -> tuple[dict[str, Any], dict[str, Any], Any]:
    """What shows of a stage's micro-batch, at measured peaks: useful seconds by kind, recomputed
    ones, and the busy seconds of the backward pass that are left.

    depth, heads : layers of the stage, and how much of the output heads it has [1]
    most : layers of the stage with most launches, for which all others wait [1]
    spent : busy seconds of a layer that have hidden something [s]
    shared : what the stage brings together
    """
    again = {kind: share * depth * work.layer[kind][0] for kind, share in work.again.items()}
    each, left = dict.fromkeys(("data", *work.layer), 0.0), 0.0
    for way in (0, 1):
        seconds = {
            kind: depth * ways[way] + heads * work.head.get(kind, (0.0, 0.0))[way]
            for kind, ways in work.layer.items()
        }
        seconds["elementwise"] = seconds["elementwise"] + shared.handled[way]
        left = sum(
            slow[kind] * (seconds[kind] + way * again[kind]) for kind in _BUSY if kind in seconds
        )
        waits = slow["routed_host"] * seconds.get("routed_host", 0.0)
        left = left - most * spent[way] - waits
        launches = most * _passes(work, "host")[way]
        seconds["host"], left = _hide(launches, 1.0, slow["host"], left)
        left = left + waits  # no launch hides behind another, traffic does
        seconds["data"], left = _hide(shared.traffic[way], shared.beside, slow["data"], left)
        each = {kind: before + seconds[kind] for kind, before in each.items()}
    each["host"] = each["host"] + each.pop("routed_host", 0.0)
    return each, again | {"host": 0.0}, left


@search
def shown_parts(work: Work, slow: Mapping[str, Any]) -> Parts:
    """The parts of a step that show, at measured peaks.

    slow : time in practice over time at measured peaks, by kind of work [1]
    """
    slow = {**slow, "routed_host": slow["host"]}
    work, spent = _in_layers(work, slow)
    shared = work.sharding
    stages, layers = work.pipeline, work.layers / work.pipeline
    each, again, left = _stage(work, *_busiest(work, slow), work.full, spent, shared, slow)
    mean, repeated, _ = _stage(work, layers, 1 / stages, layers, spent, NOTHING, slow)
    return Parts(
        each | {"pipeline": 2 * work.sent},
        again,
        {
            "optimizer": work.optimizer,
            "data": _hide(shared.traffic[2], shared.beside, slow["data"], left)[0],
        },
        {kind: seconds + repeated.get(kind, 0.0) for kind, seconds in mean.items()},
        work.micro_batches,
        (stages - 1) / work.virtual,
    )
