"""The engine that writes most at a pace, of some: what it does, and on how many chips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scaleright.formulas import search
from scaleright.inference.curves import Curve
from scaleright.inference.lengths import Load
from scaleright.ops import floor, maximum, minimum, where
from scaleright.order_statistics import longest_over_mean

LATE = 0.95
"""Share of a batch for whose end nineteen of twenty requests wait no longer."""


@dataclass(frozen=True)
class Paced:
    """What the best of some engines does for a load at a pace.

    kept : 1 where it keeps the pace, 0 where none does: then it is the quickest, with one reader
        alone
    tokens_per_s : output tokens per second of one accelerator
    reading, looking : share of the time of all chips in which prompts are read, and in which
        sequences look back [1]
    batch, chips : sequences that run, and chips of the engine with its part of those that read
        prompts for it [1]
    tpot_s, ttft_s : time of a further token and of the first [s]
    """

    kept: Any
    tokens_per_s: Any
    reading: Any
    looking: Any
    batch: Any
    chips: Any
    tpot_s: Any
    ttft_s: Any


@search
def fastest(curves: Sequence[Curve], load: Load, tpot_s: Any) -> Paced:
    """The engine, of those of one model and chip, that writes most tokens per chip where none may
    take longer than `tpot_s`.

    >>> from scaleright import catalog
    >>> from scaleright.inference.curves import curves
    >>> from scaleright.inference.deployment import Deployment
    >>> one, = curves([Deployment(catalog.model("Llama-3.1-8B"), catalog.accelerator("H100 SXM"))])
    >>> slow, fast, never = (fastest([one], Load(1000, 1000), 1 / pace)
    ...     for pace in (20.0, 100.0, 1000.0))
    >>> slow.tokens_per_s > fast.tokens_per_s > never.tokens_per_s, (slow.kept, fast.kept,
    ...     never.kept)
    (True, (1.0, 1.0, 0.0))
    """
    return foremost([paced(one, load, tpot_s) for one in curves])


@search
def foremost(found: Sequence[tuple[Any, Any]]) -> Any:
    """That of the highest score, of pairs of an engine, a dataclass of numbers, and its score."""
    best, most = found[0]
    for this, score in found[1:]:
        pairs = zip(vars(this).values(), vars(best).values(), strict=True)
        kept = (one if one is other else where(score > most, one, other) for one, other in pairs)
        best = type(best)(*kept)
        most = maximum(score, most)
    return best


@search
def paced(one: Curve, load: Load, tpot_s: Any, seats: Any = None) -> tuple[Paced, Any]:
    """What one engine does at a pace, and its score: its speed, or how slow it is to one reader
    alone.

    seats : whether as many run at most as keep the pace, and no part of one more; by default the
        batch is a mean, of any size
    """
    batch = one.batch_at(tpot_s, load)
    if seats is not None:
        batch = where(seats, floor(batch + 1e-9), batch)
    running = maximum(batch, 1.0)
    at = one.at(running, load)
    readers = one.reading_chips(at.requests_per_s, load)
    chips = one.chips + readers
    rate = at.requests_per_s * load.output_tokens / chips
    score = where(batch > 0, rate, where(one.slots(load) < 1, -1e9, -at.tpot_s))
    engine = one.chips / chips / at.step_s
    reading, looking = readers / chips + at.reading_s * engine, at.looking_s * engine
    kept = where(batch > 0, 1.0, 0.0)
    return Paced(kept, rate, reading, looking, running, chips, at.tpot_s, at.ttft_s), score


@search
def continuous_rate(one: Curve, load: Load, tpot_s: Any) -> tuple[Any, Any]:
    """Chips [1], and requests per second where each leaves when it is done; NaN where tokens come
    no faster.
    """
    best = fastest([one], load, tpot_s)
    requests = best.tokens_per_s * best.chips / load.output_tokens
    return best.chips, where(best.kept > 0, requests, float("nan"))


@search
def static_rate(one: Curve, load: Load, batch: Any, tpot_s: Any) -> tuple[Any, Any]:
    """Requests per second where a batch ends with its longest answer, see `fleet.groups`, and the
    first token of nineteen of twenty [s]: a request comes at any time of the batch before, whose
    end it waits for.
    """
    longest = load.output_tokens * longest_over_mean(batch, load.output_cv)
    held = floor(minimum(batch, one.room(load.input_tokens + longest)))
    prompts = one.mixed_s(0.0, held * load.new_tokens, load.prompt_context, load.new_tokens)
    token = one.writing_s(held) + one.looking_s(held, load.input_tokens + longest / 2)
    kept = (held >= 1) & (token <= tpot_s) & (one.slots(load) >= 1)
    whole_s = prompts + (longest - 1) * token
    return where(kept, held / whole_s, float("nan")), LATE * whole_s + prompts
