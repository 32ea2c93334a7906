"""A deployment as a few numbers that a page can carry, from which its steady state at any load and
pace is a closed form.

The time of a step is a sum over kinds of work, and each depends on little: products on the tokens
of the step, attention on the tokens that each sequence looks back on. So two tables over the tokens
of a step and a few slopes stand for `phases.step_seconds`; the tests hold how far they differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from scaleright.formulas import search, unchecked
from scaleright.inference.deployment import Deployment
from scaleright.inference.first_token import Rhythm, first_token_s, front_s, reads_alone
from scaleright.inference.lengths import Load
from scaleright.inference.memory import cache_per_chip, serving_memory
from scaleright.inference.phases import KINDS, busiest_prompt, step_parts
from scaleright.inference.serving import SEQUENCES
from scaleright.inference.slowdowns import slowdowns as stored
from scaleright.inference.splits import as_one, reader_like, reads_apart
from scaleright.ops import floor, item, log2, maximum, minimum, where
from scaleright.quantity.packed import graded

# The steady state of an engine at one batch and load, as a page's curve of it tells


@dataclass(frozen=True)
class CurvePoint:
    """A curve at one batch and load: what `serving.OperatingPoint` is to a deployment.

    batch : sequences that run [1]
    beat : how their steps are shared
    plain_s, mixed_s : a step that decodes alone, and one that carries prompts too [s]
    looking_s : part of the mean step in which sequences look back on what came before [s]
    input_tokens : of a prompt [token]
    apart_s, reader_s : reading a prompt on other chips, with the wait for half a step of theirs,
        and how long it occupies a group of them; None or 0 where it is read in these steps [s]
    """

    batch: Any
    beat: Rhythm
    plain_s: Any
    mixed_s: Any
    looking_s: Any
    input_tokens: Any
    apart_s: Any = None
    reader_s: Any = None

    @property
    def reading_s(self) -> Any:
        """What prompts add to the mean step, nothing where few answers beside them are less [s]."""
        return self.beat.carrying * maximum(self.mixed_s - self.plain_s, 0.0)

    @property
    def carried(self) -> Any:
        """Share of the time in which steps carry prompts [1]."""
        return self.beat.carrying * self.mixed_s / self.step_s

    def reads(self, load: Load) -> tuple[Any, Any, Any, Any]:
        """Of what reads prompts, the engine, or chips beside it that are as full as it is: the
        share of its time at full load [1], from one prompt to the next [s], by how much that
        varies, the standard deviation over the mean [1], and the first token where none waits [s].
        """
        varies = load.input_cv * maximum(self.mixed_s - self.plain_s, 0.0) / self.mixed_s
        own = self.carried, self.carried / self.requests_per_s, varies, self.ttft_s
        if self.reader_s is None:
            return own
        front = front_s(self.input_tokens, self.batch, self.plain_s)
        each_s = minimum(self.reader_s, 1 / self.requests_per_s)  # groups side by side
        apart = 1.0, each_s, load.input_cv, self.reader_s + front
        one, *others = (where(self.reader_s > 0, a, b) for a, b in zip(apart, own, strict=True))
        return one, *others

    @property
    def step_s(self) -> Any:
        """Mean of all steps [s]."""
        return self.plain_s + self.beat.carrying * (self.mixed_s - self.plain_s)

    @property
    def requests_per_s(self) -> Any:
        """Requests that end in a second [1/s]."""
        return self.beat.requests / self.step_s

    @property
    def tpot_s(self) -> Any:
        """Time of a further token of an answer [s]."""
        return self.plain_s + self.beat.share * (self.mixed_s - self.plain_s)

    @property
    def ttft_s(self) -> Any:
        """Time of the first token where a slot is free, on an engine that captures the steps of
        prompts [s], see `first_token`.
        """
        squares = (
            1 - self.beat.carrying
        ) * self.plain_s * self.plain_s + self.beat.carrying * self.mixed_s * self.mixed_s
        rest_s = minimum(self.batch - 1, 1.0) * squares / (2 * self.step_s)
        reading_s = self.beat.prompt_steps * self.mixed_s
        front = front_s(self.input_tokens, self.batch, self.plain_s)
        own_s = first_token_s(0.0, rest_s, self.plain_s, self.batch, reading_s, front)
        if self.apart_s is None:
            return own_s
        return where(self.apart_s > 0, self.apart_s + front, own_s)


BATCHES = tuple(8.0**power for power in range(5))
"""Sequences between which the batch of a pace is looked for, and beyond the last on the line."""
DECODING, READING = (
    tuple(first * 2.0**power for power in range(count)) for first, count in ((1.0, 13), (90.0, 11))
)
"""Tokens of the steps in the tables: without prompts up to 4,096, with prompts from 90 to 92,160
(no multiples of a tile, which flatter).
"""
_TABLES, _DIGITS, _NOTHING_S = ("decoding", "reading", "grouped"), 4, 1e-6
"""Tables of a curve, digits of its other numbers, and what a table has for no time."""
IN_STEPS = (0.0, 0.0, 0.0, 1.0)
"""The `reader` of a curve beside others that have one, where prompts are read in its own steps."""
APART = ("reader_s", "reader")
"""Numbers of a curve that are of chips beside the engine."""
_MANY, _LONG, _FAR = 256.0, 4096.0, 8192.0
"""Sequences, prompt tokens and tokens of context at which slopes are taken."""
_busiest_prompt = unchecked(busiest_prompt)


def _between(table: Any, points: Sequence[float], x: Any) -> Any:
    """What a table of values at `points`, each twice the one before, says at `x`: on straight lines
    between them, and on the last beyond it.
    """
    x = x / points[0]
    at = minimum(maximum(floor(log2(x) + 1e-12), 0.0), len(points) - 2.0)
    return item(table, at) + (item(table, at + 1) - item(table, at)) * (x / 2**at - 1)


@dataclass(frozen=True)
class Curve:
    """The steps of a deployment as numbers; a load needs `new_tokens`, `output_tokens`, `context`
    and `prompt_context`.

    chips, replicas : of the engine; its groups and stages that work side by side [1]
    waiting : groups of attention that wait for each other at the experts, 1 where none do [1]
    budget : most tokens of a step [token]
    most : sequences that the engine runs at most [1]
    decoding, reading, grouped : tables of the time of a step without context by its tokens: of
        answers alone; of prompts, by the tokens of the busiest group times the groups; of what they
        do at the experts and in small operations, by all tokens [s]
    each_s : what a decoding sequence adds to a step with prompts beyond its token [s]
    near : tokens beyond which a decoding sequence looks back on less (a window, a selection, the
        middle of a block) [token]
    window : the same of a prompt, and of what is kept [token]
    look, read, hold : for each token of context, and for each of the nearest besides: seconds of a
        decoding sequence, seconds of a token of a prompt, share of the cache that a sequence takes
    reader_s, reader : of the group that reads prompts for the engine: seconds of its chips for a
        token without context [s]; those for each token of context and of the nearest besides [s],
        tokens of a full step, chips; None where all such curves read prompts in their own steps,
        `IN_STEPS` where others do not
    """

    chips: Any
    replicas: Any
    waiting: Any
    budget: Any
    most: Any
    decoding: Any
    reading: Any
    grouped: Any
    each_s: Any
    near: Any
    window: Any
    look: Any
    read: Any
    hold: Any
    reader_s: Any = 0.0
    reader: Any = None

    def _over(self, slopes: Any, context: Any) -> Any:
        return slopes[0] * context + slopes[1] * minimum(context, self.window)

    def _looking(self, context: Any) -> Any:
        return self.look[0] * context + self.look[1] * minimum(context, self.near)

    def room(self, context: Any) -> Any:
        """Sequences whose caches fit, each of so many tokens [1]."""
        return 1 / self._over(self.hold, context)

    def slots(self, load: Load) -> Any:
        """Sequences that can run together where they are admitted by what they hold [1]."""
        return minimum(self.most, self.room(load.context))

    def writing_s(self, batch: Any) -> Any:
        """A step that gives so many sequences a token, but for what they look back on [s]."""
        return _between(self.decoding, DECODING, batch)

    def looking_s(self, batch: Any, context: Any) -> Any:
        """What so many decoding sequences add by looking back on their context [s]."""
        return maximum(batch, self.replicas) * self._looking(context)

    def prompt_s(self, tokens: Any) -> Any:
        """A prompt read from its start with nothing beside it, in pieces as large as the engine
        takes, or on the chips that read for it [s].
        """
        piece = minimum(tokens, self.budget)
        own_s = tokens / piece * self.mixed_s(0.0, piece, tokens / 2, tokens)
        if self.reader is None:
            return own_s
        apart_s = tokens * self._token_chip_s(tokens / 2) / self.reader[3]
        return where(self.reader[2] > 0, apart_s, own_s)

    def mixed_s(self, beside: Any, chunk: Any, context: Any, length: Any) -> Any:
        """A step that reads prompts beside decoding sequences, but for what these look back on."""
        each = _busiest_prompt(
            chunk / self.replicas, length, self.waiting, self.budget / self.replicas
        )
        wide, together = self.replicas * each, beside + chunk
        products = _between(self.reading, READING, beside + wide) + _between(
            self.grouped, READING, together
        )
        return products + wide * self._over(self.read, context) + beside * self.each_s

    def at(self, batch: Any, load: Load) -> CurvePoint:
        """The steady state at so many sequences."""
        beat = self._beat(batch, load)
        looking, beside = (
            self.looking_s(batch, load.context),
            beat.beside * self._looking(load.context),
        )
        plain_s = self.writing_s(batch) + looking
        reading = beat.beside, beat.chunk, load.prompt_context, load.new_tokens
        mixed_s = self.mixed_s(*reading) + beside
        looking_s = (1 - beat.carrying) * looking + beat.carrying * beside
        apart = self._apart_s(load)
        return CurvePoint(batch, beat, plain_s, mixed_s, looking_s, load.input_tokens, *apart)

    def _beat(self, batch: Any, load: Load) -> Rhythm:
        """How steps are shared; they carry no prompts where others read them."""
        further = load.output_tokens - 1
        groups = self.replicas / self.waiting
        beat = Rhythm.of(batch, load.new_tokens, further, 1.0, self.budget, groups)
        if self.reader is None:
            return beat
        apart, alone = self.reader[2] > 0, Rhythm.alone(batch, further)
        # no step carries prompts; one token, so that a step which carried any had a time
        kept = {
            "requests": alone.requests,
            "chunk": 1.0,
            "beside": 0.0,
            "carrying": 0.0,
            "share": 0.0,
        }
        return replace(beat, **{of: where(apart, to, getattr(beat, of)) for of, to in kept.items()})

    def _token_chip_s(self, context: Any) -> Any:
        """Seconds of the chips that read prompts for the engine for a token of a prompt that looks
        back on so many [s].
        """
        return self.reader_s + self._over(self.reader, context)

    def _apart_s(self, load: Load) -> tuple[Any, Any]:
        """Reading a prompt on chips of its own, after half a step of theirs, as `disaggregated`
        has it [s], but for the way of its cache to the engine: a few milliseconds over a fabric;
        and for how long it occupies them, in steps that are full [s].
        """
        if self.reader is None:
            return None, None
        full, chips = self.reader[2], self.reader[3]
        token_s = self._token_chip_s(load.prompt_context) / chips
        return (maximum(load.new_tokens, full) + full / 2) * token_s, load.new_tokens * token_s

    def reading_chips(self, requests_per_s: Any, load: Load) -> Any:
        """Chips that read the prompts of so many requests a second for the engine, 0 where it reads
        them itself [1].
        """
        if self.reader is None:
            return 0.0
        return requests_per_s * load.new_tokens * self._token_chip_s(load.prompt_context)

    def batch_at(self, tpot_s: Any, load: Load) -> Any:
        """Most sequences whose tokens take no longer than `tpot_s`, 0 where there are none [1].

        Looked for between those of `BATCHES` on straight lines, which lie above the curve, and once
        more on the line from there to one alone.
        """

        def pace(batch: Any) -> Any:
            return self.at(batch, load).tpot_s

        paces, found = [pace(batch) for batch in BATCHES], 1.0
        for (low, high), (fast, slow) in zip(pairwise(BATCHES), pairwise(paces), strict=True):
            between = low + (high - low) * (tpot_s - fast) / maximum(slow - fast, 1e-9)
            found = where(fast <= tpot_s, minimum(between, high), found)
        left = maximum(tpot_s - paces[0], 0.0)
        more = (found - 1) * left / maximum(pace(found) - paces[0], 1e-9)
        taken = minimum(1 + more, self.slots(load))
        return where(paces[0] <= tpot_s, where(taken < 1, 0.0, taken), 0.0)


@search
def curves(
    found: Sequence[Deployment],
    slowdowns: Mapping[str, float] | None = None,
    kinds: Sequence[str] = KINDS,
) -> list[Curve]:
    """The curves of deployments that differ in their degrees alone, of all kinds of work or of
    some, by one call of the engine's step; ValueError for engines that read prompts alone.

    slowdowns : as in `steady`, for those that read prompts for others too

    >>> from scaleright import catalog
    >>> one, = curves([Deployment(catalog.model("Llama-3.1-8B"), catalog.accelerator("H100 SXM"))],
    ...     {})
    >>> round(one.at(64.0, Load(1000, 1000)).tpot_s * 1e3, 1)
    13.5
    """
    if any(map(reads_alone, found)):
        raise ValueError("prompts are read in steps of their own; allowed: engines that mix them")
    known, far = _in_steps(found, slowdowns, kinds), [*map(reads_apart, found)]
    if not any(far):
        return known
    one = reader_like(found[0])
    (by,) = _in_steps([one], slowdowns, kinds)
    full_s = by.mixed_s(0.0, by.budget, 0.0, by.budget)
    reader = [*(_cut(by.chips * slope) for slope in by.read), by.budget, by.chips]
    apart = {"reader_s": _cut(by.chips * full_s / by.budget), "reader": reader}
    return [replace(of, **apart) if is_far else of for of, is_far in zip(known, far, strict=True)]


def _in_steps(
    found: Sequence[Deployment], slowdowns: Mapping[str, float] | None, kinds: Sequence[str]
) -> list[Curve]:
    """The curves of deployments, as if all read prompts in the steps that write answers."""
    d = as_one(found)
    factors = stored(d) if slowdowns is None else slowdowns
    columns = _columns(d, factors, kinds)
    kept = {name: graded if name in _TABLES else _cut for name in columns}
    cut = [[[of(float(v)) for v in row] for row in columns[name]] for name, of in kept.items()]
    many = [name in (*_TABLES, "look", "read", "hold") for name in kept]
    rows = zip(*cut, strict=True)
    return [
        Curve(**{name: of if m else of[0] for name, of, m in zip(kept, row, many, strict=True)})
        for row in rows
    ]


def _cut(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


@search
def writing_parts(found: Sequence[Deployment], *groups: Sequence[str]) -> list[list[list[float]]]:
    """The part that each group of kinds of work has in the table `decoding` of the curves of
    deployments that differ in their degrees alone [s]: a table for each, by group.

    >>> from scaleright import catalog
    >>> d = Deployment(catalog.model("Llama-3.1-8B"), catalog.accelerator("H100 SXM"))
    >>> writing_parts([d], KINDS) == [[curves([d])[0].decoding]]
    True
    """
    d = as_one(found)
    parts, slow = step_parts(d, np.array(DECODING), 0.0), stored(d)
    none = np.zeros((len(found), len(DECODING)))
    return [
        [
            [graded(float(value)) for value in of]
            for of in sum((slow[kind] * parts[kind] for kind in kinds), none)
        ]
        for kinds in groups
    ]


def _columns(
    d: Deployment, factors: Mapping[str, float], kinds: Sequence[str]
) -> dict[str, np.ndarray]:
    """The fields of a `Curve`, a row for each deployment."""
    t, replicas = d.model, d.attention_data * d.pipeline
    window = float(t.selected_tokens or t.window * (t.window_layers > 0))
    near = window / 2 if t.chunked_window else window
    looks, reads = (
        np.array([max(end, 1.0), max(4 * window, _FAR), max(8 * window, 2 * _FAR)])
        for end in (near, window)
    )
    slowed, ends = _slowed_steps(d, factors, kinds, looks, reads)
    decoding, reading, look, _, bases = np.split(sum(slowed.values()), ends, axis=1)
    none = np.zeros_like(slowed[kinds[0]])
    grouped = sum((slowed.get(kind, none) for kind in ("grouped", "expert", "elementwise")), none)
    grouped = grouped[:, ends[0] : ends[1]]
    if not t.experts:  # all tokens are in one group: one table is enough, and this one nothing
        grouped = np.full_like(grouped, _NOTHING_S)
    scores = slowed.get("attention", none)[:, ends[2] : ends[3]]
    waiting = d.attention_data if t.experts else np.ones_like(d.attention_data)
    wide = replicas * busiest_prompt(_LONG / replicas, 2 * reads, waiting, d.chunk_tokens)

    def slopes(of: np.ndarray, end: float) -> np.ndarray:
        far = (of[:, 2] - of[:, 1]) / (reads[2] - reads[1])
        return np.stack([far, of[:, 0] / end - far if end else 0 * far], axis=1)

    free = d.memory_share * d.chip.require("memory_bytes") - serving_memory(d, 0, 1).total
    hold = cache_per_chip(d, reads) / (np.maximum(free, 1.0) * d.attention_data)
    most = d.max_sequences or SEQUENCES.get(d.engine, max(SEQUENCES.values()))
    return {
        "chips": d.chips,
        "replicas": replicas,
        "waiting": waiting,
        "budget": d.chunk_tokens * replicas,
        "most": most * d.attention_data,
        "decoding": decoding,
        "reading": reading - grouped,
        "grouped": grouped,
        "each_s": (bases[:, 2:] - bases[:, 1:2]) / _MANY,
        "near": np.full_like(free, near),
        "window": np.full_like(free, window),
        "look": slopes((look - bases[:, :1]) / _MANY, near),
        "read": slopes(scores / wide, window),
        "hold": slopes(hold, window),
    }


def _slowed_steps(
    d: Deployment,
    factors: Mapping[str, float],
    kinds: Sequence[str],
    looks: np.ndarray,
    reads: np.ndarray,
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Seconds of the steps that make a curve by kind of work, a row for each deployment; and where
    one group of them ends: of answers alone, of prompts alone, of each at the contexts.
    """
    steps = [(tokens, 0.0, 0.0, 0.0) for tokens in DECODING] + [
        (0.0, 0.0, tokens, 0.0) for tokens in READING
    ]
    steps += [(_MANY, context, 0.0, 0.0) for context in looks] + [
        (0.0, 0.0, _LONG, context) for context in reads
    ]
    steps += [(_MANY, 0.0, 0.0, 0.0), (0.0, 0.0, _LONG, 0.0), (_MANY, 0.0, _LONG - _MANY, 0.0)]
    parts = step_parts(d, *np.array(steps).T)
    slowed = {
        kind: np.broadcast_to(factors.get(kind, 1.0) * parts[kind], (d.tensor.size, len(steps)))
        for kind in kinds
    }
    return slowed, np.cumsum([len(DECODING), len(READING), 3, 3])
