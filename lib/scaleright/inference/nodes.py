"""Engines that are usual for a model on a chip: of the splits that are published, the few of one
node, or of a rack whose fabric joins more chips, that between them serve with the fewest chips.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations, product
from typing import Any

import numpy as np

from scaleright.architecture import Transformer
from scaleright.catalog import Accelerator
from scaleright.formulas import search
from scaleright.inference.curves import IN_STEPS, Curve, curves
from scaleright.inference.deployment import DEGREES as DEGREES_OF
from scaleright.inference.deployment import Deployment
from scaleright.inference.formats import USUAL, resolved
from scaleright.inference.lengths import Load
from scaleright.inference.splits import RACK, SOFTWARE, splits
from scaleright.ops import floor, maximum, minimum, where
from scaleright.order import noiseless
from scaleright.order_statistics import longest_over_mean

# The engine that writes most at a pace, of some: what it does, and on how many chips


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


FEW = 3
"""Engines of a node; of a rack one more."""
_ASKED = tuple(
    (*lengths, pace)
    for lengths, pace in product(
        [(2000, 500, 0.0), (1000, 1000, 0.0), (1000, 8000, 0.0), (8000, 400, 0.8), (30000, 300, 0)],
        (10.0, 20.0, 30.0, 50.0, 100.0, 200.0),
    )
)
"""Requests (prompt, answer, cached share) and paces for which engines are chosen: chat, as long
answers as prompts, reasoning, an agent, and long documents, for readers in no hurry to a great one.
"""
_DEMANDS = (1.0, 8.0)
"""Demands for which they are, over what one chip of the best engine writes, beside one without end
[1].
"""


@search
def best_engines(
    model: Transformer, chip: Accelerator, precision: str = USUAL, software: str = SOFTWARE
) -> tuple[tuple[Deployment, ...], tuple[Curve, ...]]:
    """The `engines` of a model on a chip, and their curves.

    >>> from scaleright import catalog
    >>> found, known = best_engines(catalog.model("Llama-3.1-8B"), catalog.accelerator("L4"))
    >>> [d.chips for d in found] == [one.chips for one in known]
    True
    """
    return _best(Deployment(model, chip, resolved(model, chip, precision), software=software))


@search
def engines(
    model: Transformer, chip: Accelerator, precision: str = USUAL, software: str = SOFTWARE
) -> list[Deployment]:
    """The three engines of one node for a model on a chip, four of a rack, that between them take
    the fewest chips over requests, paces and demands; by their chips.

    They are chosen among the splits of one, two, four and eight chips that two publishers at least
    have measured (`measured/serving`): chips that share every layer, and with it every expert of a
    mixture or whole experts; chips that attend to requests of their own and hold whole experts for
    all, also 16 and 64 of a rack. Engines of eight such groups or more write answers alone, and
    groups of a node read prompts for them (`reads_apart`), as many as keep pace and shared with
    other such engines: so public runs of them are run [inferencex2026] [deepseekv3]. Two kinds
    would write more and are left out: pipelines, measured on cards without a fabric, and groups of
    several chips that attend together, which one publisher has. None where no node holds the model.

    precision : one of `FORMATS`, or the usual one

    Raises
    ------
    ValueError : see `resolved`.

    >>> from scaleright import catalog
    >>> [d.chips for d in engines(catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM"))]
    [2, 4, 8]
    >>> found = engines(catalog.model("DeepSeek-V3"), catalog.accelerator("GB300"))
    >>> [(d.tensor, d.attention_data) for d in found]
    [(2, 1), (4, 1), (1, 8), (1, 16)]
    """
    return list(best_engines(model, chip, precision, software)[0])


@search
def engines_like(d: Deployment) -> list[Deployment]:
    """The `engines` for a deployment's model, chip and format, each as it in all but its degrees.

    >>> from scaleright import catalog
    >>> one = Deployment(catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM"), "FP8",
    ...     kv_precision="FP8")
    >>> [(d.chips, d.kv_precision) for d in engines_like(one)]
    [(2, 'FP8'), (4, 'FP8'), (8, 'FP8')]
    """
    usual = Deployment(d.model, d.chip, d.precision, software=SOFTWARE)
    return [
        replace(d, **{name: getattr(one, name) for name in DEGREES_OF}) for one in _best(usual)[0]
    ]


def _best(d: Deployment) -> tuple[tuple[Deployment, ...], tuple[Curve, ...]]:
    """The engines of a deployment's model, chip, format and software, and their curves."""
    every = splits(d)
    if not every:
        return (), ()
    known = curves(every)
    kept = _few(known, FEW + any(one.chips >= RACK[0] for one in every))
    return tuple(every[place] for place in kept), tuple(known[place] for place in kept)


@search
def together(known: Sequence[Curve]) -> Curve:
    """Curves as one of arrays, with a row for each."""

    def stacked(name: str) -> Any:
        each = [getattr(one, name) for one in known]
        if name == "reader":
            each = [IN_STEPS if of is None else of for of in each]
        of = np.array(each).T[..., None]
        return of if name not in ("look", "read", "hold", "reader") else [*of]

    return Curve(**{field.name: stacked(field.name) for field in fields(Curve)})


def _few(known: Sequence[Curve], most: int) -> tuple[int, ...]:
    """Places of the engines that are kept: those that between them take the fewest chips for all
    requests, paces and demands, in the mean of the least chips over theirs.
    """
    (prompt, answer, cached, pace), every = np.array(_ASKED).T, together(known)
    best, _ = paced(every, Load(prompt, answer, cached), 1 / pace)
    rates = np.where(best.kept > 0, best.tokens_per_s, 0.0)
    any_keeps = rates.max(axis=0) > 0
    rates, group = rates[:, any_keeps], best.chips[:, any_keeps]
    if len(known) <= most or not rates.size:
        return tuple(range(min(most, len(known))))
    share = rates / rates.max(axis=0)
    with np.errstate(divide="ignore"):  # one that keeps no pace takes more chips than there are
        taken = [
            np.ceil(group * np.ceil(demand / (share * group) - 1e-9) - 1e-9) for demand in _DEMANDS
        ]
        fewer = [share, *(of.min(axis=0) / of for of in taken)]
    cases = noiseless(np.concatenate(fewer, axis=1))
    some = np.array([*combinations(range(len(known)), most)])
    of = noiseless(cases[some].max(axis=1).mean(axis=1))
    return tuple(some[of.argmax()].tolist())
