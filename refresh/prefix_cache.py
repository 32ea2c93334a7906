"""How much of its prompts a cache of prefixes holds, against its size.

Mooncake's raw trace names a prompt's blocks of 512 tokens by their count, the first of their ids
and the last. New ones have the ids beyond the greatest so far, so that it is known how many a
prompt shares; whose they are often is not, since most prompts begin alike. A prompt that goes on
from an earlier one shares its full blocks, holds its answer, and comes after it. Of the earlier
prompts that would do, one is drawn by the time that has passed: as often as in the requests that
only one earlier prompt explains.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from statistics import fmean, pstdev
from typing import NamedTuple

import numpy as np

from refresh.rules import read_csv
from refresh.tables import Items
from refresh.traces import BLOCK, FILES

SOURCES = frozenset({"mooncake2025"})
TABLE, TRACE = "mooncake_conversation", "mooncake conversation"
SIZES = tuple(2**power for power in range(8, 19))
"""Blocks of the caches."""
LONG = 40
"""Shared blocks beyond which a request that one earlier prompt explains tells its time."""


class Prompt(NamedTuple):
    """A prompt as the trace has it: when it came [s], its tokens and those of its answer, its
    blocks, and the first and last of their ids.
    """

    came_s: float
    tokens: int
    answer: int
    blocks: int
    first: int
    last: int


class _End(NamedTuple):
    """Where an earlier prompt ends: its place, the id of its last full block, and itself."""

    place: int
    block: int
    prompt: Prompt


def prompts(raw: Path) -> list[Prompt]:
    """Those of the raw trace."""
    rows = read_csv(raw, FILES[TABLE])
    names = ("input_length", "output_length", "n_hash_blocks", "first_hash_id", "last_hash_id")
    return [Prompt(int(row["timestamp_ms"]) / 1e3, *(int(row[n]) for n in names)) for row in rows]


def blocks_of(
    every: Sequence[Prompt], typical_s: float | None = None, spread: float = 1.0
) -> tuple[list[list[int]], list[float]]:
    """The ids of each prompt's blocks, and the times after which those went on that one earlier
    prompt explains [s].

    typical_s, spread : of the times after which prompts go on, the median [s] and the standard
        deviation of its logarithm [1]; without them all are alike
    """
    draw, seen = np.random.default_rng(0), -1
    parent: dict[int, int | None] = {}
    ends: dict[tuple[int, int], list[_End]] = defaultdict(list)
    at: dict[tuple[int, int], int] = {}
    gone_on, found, times = set[int](), list[list[int]](), list[float]()

    def path(block: int | None) -> list[int]:
        ids = []
        while block is not None:
            ids.append(block)
            block = parent[block]
        return ids[::-1]

    for place, prompt in enumerate(every):
        new = max(prompt.last - seen, 0)
        shared, base = prompt.blocks - new, None
        if not new:
            base = prompt.last
        elif shared == 1:
            base = prompt.first
        elif shared:
            fit = [
                end
                for end in ends[prompt.first, shared]
                if end.place not in gone_on
                and end.prompt.tokens + end.prompt.answer <= prompt.tokens
                and end.prompt.came_s < prompt.came_s
            ]
            passed = [prompt.came_s - end.prompt.came_s for end in fit]
            if len(fit) == 1 and shared > LONG:
                times += passed
            if fit:
                often = [*accumulate(_often(of, typical_s, spread) for of in passed)]
                chosen = fit[bisect(often, draw.random() * often[-1], hi=len(fit) - 1)]
                gone_on.add(chosen.place)
                base = chosen.block
            else:
                base = at.get((prompt.first, shared))
        ids = path(base)
        for block in range(seen + 1, prompt.last + 1):
            parent[block] = ids[-1] if ids else None
            ids.append(block)
            at[ids[0], len(ids)] = block
        seen = max(seen, prompt.last)
        full = prompt.tokens // BLOCK
        if 0 < full <= len(ids):
            ends[ids[0], full].append(_End(place, ids[full - 1], prompt))
        found.append(ids)
    return found, times


def _often(passed_s: float, typical_s: float | None, spread: float) -> float:
    """How often a prompt goes on after such a time, to six digits, of a lognormal distribution."""
    if typical_s is None:
        return 1.0
    away = math.log(passed_s / typical_s) / spread
    return float(f"{math.exp(-away * away / 2) / passed_s:.6g}") + 1e-300


def hits(every: Sequence[Sequence[int]], size: int) -> float:
    """Share of all blocks that a cache of so many holds when they are asked for [1]: the one used
    longest ago goes first, and of a prompt its end.

    >>> hits([[0, 1], [0, 2], [0, 1]], 3), hits([[0, 1], [0, 2], [0, 1]], 2)
    (0.5, 0.3333333333333333)
    """
    kept: OrderedDict[int, None] = OrderedDict()
    found = 0
    for ids in every:
        for block in ids:
            if block not in kept:
                break
            found += 1
        for block in reversed(ids):
            kept[block] = None
            kept.move_to_end(block)
        while len(kept) > size:
            kept.popitem(last=False)
    return found / sum(map(len, every))


def rows(raw: Path) -> Items:
    """Rows of the table `prefix_cache`."""
    every = prompts(raw)
    times = [math.log(time) for time in blocks_of(every)[1]]
    ids, _ = blocks_of(every, math.exp(fmean(times)), pstdev(times))
    new_per_s = len({block for of in ids for block in of}) / every[-1].came_s
    for size in SIZES:
        yield {
            "trace": TRACE,
            "blocks": size,
            "stays_s": float(f"{size / new_per_s:.4g}"),
            "hit_share": round(hits(ids, size), 3),
            "source": "mooncake2025",
        }
