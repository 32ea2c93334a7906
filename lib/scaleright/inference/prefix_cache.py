"""Prefixes that an engine keeps: how long they stay in the memory that its requests leave, and what
of them is asked for again by then.
"""

from typing import Any

from scaleright import catalog
from scaleright.formulas import NON_NEGATIVE, lookup, search
from scaleright.inference.curves import Curve
from scaleright.inference.lengths import Load
from scaleright.ops import floor, item, log2, maximum, minimum


@lookup
@catalog.shared
def kept_by_time() -> tuple[float, float, tuple[float, ...]]:
    """The time that a prefix stays in the smallest cache of `prefix_cache` [s], how many times the
    next one is as large, and of each the share of what a cache of everything would hold [1].

    >>> first_s, times, shares = kept_by_time()
    >>> round(first_s, 1), times, shares[-1]
    (5.0, 2.0, 1.0)
    """
    rows = catalog.table("prefix_cache").sort_values("blocks")
    stays, hits = rows["stays_s"].to_list(), rows["hit_share"].to_list()
    shares = (float(f"{hit / hits[-1]:.4g}") for hit in hits)
    return stays[0], round(stays[1] / stays[0], 2), tuple(shares)


@lookup
def kept_share(stays_s):
    """Share of the prefixes that a cache of everything would hold which one holds from which they
    go after so long, if nobody asks for them [1].

    stays_s : the time [s]

    Source: the hour of a published conversation service [mooncake2025], see the table
    `prefix_cache`; on straight lines over the logarithm of the time.

    >>> [round(kept_share(of), 1) for of in (1.0, 60.0, 300.0, 1e6)]
    [0.1, 0.2, 0.8, 1.0]
    """
    NON_NEGATIVE.check("kept_share", "stays_s", stays_s)
    first_s, times, shares = kept_by_time()
    last = len(shares) - 1.0
    place = log2(maximum(stays_s, 1e-9) / first_s) / log2(times)
    place = minimum(maximum(place, 0.0), last)
    below = minimum(floor(place), last - 1)
    low = item(shares, below)
    return low + (item(shares, below + 1) - low) * (place - below)


@search
def stays_s(one: Curve, load: Load, running: Any, requests_per_s: Any) -> Any:
    """How long a prefix stays in the memory of an engine that its requests leave [s]: until as many
    tokens have been read and written as it holds.

    Parameters
    ----------
    one : the engine
    load : its requests
    running : of them at once [1]
    requests_per_s : that it serves [1/s]
    """
    left = maximum(one.room(load.context) - running, 0.0) * load.context
    return left / (requests_per_s * (load.new_tokens + load.output_tokens))
