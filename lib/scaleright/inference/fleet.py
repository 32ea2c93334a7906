"""A fleet that serves a model to several streams of requests: the groups of chips that it may be
made of, and how many its peak takes.

A fleet is sized for its busiest time: as many whole groups of chips as that takes, each at the most
requests that it serves while tokens keep their pace.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from scaleright.formulas import COUNT, NON_NEGATIVE, POSITIVE, SHARE, closed_form, search
from scaleright.inference.deployment import Deployment
from scaleright.inference.disaggregation import disaggregated
from scaleright.inference.lengths import Load
from scaleright.inference.nodes import engines_like
from scaleright.inference.serving import slots, steady
from scaleright.inference.splits import as_one, reader_like, reads_apart
from scaleright.ops import ceil, maximum, sqrt, where
from scaleright.order import noiseless

SEATS = 2.0 ** np.arange(0, 12.5, 0.5)
RACK_SEATS = 2.0 ** np.arange(0, 15.5, 0.5)
"""Sequences at which a group that batches continuously is tried: of a node, and one for which
others read prompts.
"""


@closed_form(
    requests_per_s=NON_NEGATIVE,
    group_requests_per_s=POSITIVE,
    together=SHARE,
    **dict.fromkeys(("group_chips", "peak_to_mean", "streams", "pools"), COUNT),
)
def fleet_chips(
    requests_per_s, group_requests_per_s, group_chips, peak_to_mean, together, streams, pools
):
    """Chips of a fleet that serves its busiest time, in whole groups; of chips that groups share,
    as of those that read prompts for several, as many as all of them take [1].

    Parameters
    ----------
    requests_per_s : mean demand of the whole fleet [1/s]
    group_requests_per_s, group_chips : what a group of chips serves at most [1/s], and its chips,
        with its part of those that it shares [1]
    peak_to_mean : busiest time of one stream of requests over its mean [1]
    together : correlation of the streams: 1 where all peak at the same time [1]
    streams : equal streams that share a pool [1]
    pools : equal pools, which lend each other nothing [1]

    Source: normal approximation. A peak is the mean and a number of standard deviations, and the
    variance of k equal streams is k + k (k - 1) r times that of one.

    >>> fleet_chips(16.0, 2.0, 8.0, 4.0, 0.0, 1, 16), fleet_chips(16.0, 2.0, 8.0, 4.0, 0.0, 16, 1)
    (256.0, 112.0)
    """
    peak = 1 + (peak_to_mean - 1) * sqrt(together + (1 - together) / streams)
    groups = maximum(ceil(requests_per_s / pools * peak / group_requests_per_s - 1e-9), 1.0)
    return pools * ceil(group_chips * groups - 1e-6)


class WholeGroups(NamedTuple):
    """The smallest fleet of whole groups of one kind.

    chips : of the fleet [1]; NaN where no group serves anything
    group, served : chips of a group [1], and what it serves at most, in the unit of the demand
    """

    chips: Any
    group: Any
    served: Any


@search
def whole_groups(
    groups: Sequence[tuple[Any, Any]],
    demand: Any,
    peak_to_mean: Any = 1.0,
    together: Any = 0.0,
    streams: Any = 1.0,
    pools: Any = 1.0,
) -> WholeGroups:
    """The smallest fleet for a demand, of groups of one of several kinds.

    Parameters
    ----------
    groups : of each kind, its chips [1], and what it serves at most, NaN where it serves nothing
    demand : mean demand, in the same unit
    peak_to_mean, together, streams, pools : as in `fleet_chips`; by default the demand is all

    >>> fleet = whole_groups([(1.0, 400.0), (2.0, 900.0), (8.0, 4000.0)], 1000.0)
    >>> fleet.chips, fleet.group
    (3.0, 1.0)
    """
    least, group, served = math.inf, math.nan, math.nan
    for of, most in groups:
        if any(isinstance(it, float) and not it > 0 for it in (of, most)):  # known to serve nothing
            continue
        size = fleet_chips(demand, most, of, peak_to_mean, together, streams, pools)
        fewer = where(most > 0, size, math.inf) < least
        least = where(fewer, size, least)
        group, served = where(fewer, of, group), where(fewer, most, served)
    chips = where(group > 0, least, math.nan)
    return WholeGroups(chips, group, served)


@search
def groups_at_pace(
    deployment: Deployment,
    tpot_s: float,
    slowdowns: Mapping[str, float],
    load: Load,
    apart: bool = False,
) -> list[tuple[float, float]]:
    """Chips of each of the `nodes.engines_like` a deployment, and the requests per second that it
    serves at most while tokens come within `tpot_s`, by the steps themselves: for loads with a
    draft, and for prompts read by groups of their own, which `curves` lack. None keeps a pace that
    is out of reach.

    apart : whether groups of their own read prompts for all engines, as for a rack they always do

    >>> from scaleright import catalog
    >>> one = Deployment(catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM"), "FP8")
    >>> [chips for chips, _ in groups_at_pace(one, 0.05, {}, Load(1000, 200))]
    [2.0, 4.0, 8.0]
    >>> groups_at_pace(one, 1e-4, {}, Load(1000, 200))
    []
    """
    found = [d for d in engines_like(deployment) if slots(d, load) >= 1]
    own = [d for d in found if not (apart or reads_apart(d))]
    served = [d for d in found if apart or reads_apart(d)]
    every = []
    if own:
        every.append(steady(as_one(own), load, SEATS, slowdowns))
    if served:
        seats = RACK_SEATS if any(map(reads_apart, served)) else SEATS
        readers = as_one([reader_like(d) if reads_apart(d) else d for d in served])
        every.append(disaggregated(readers, as_one(served), load, seats, slowdowns))
    groups = []
    for at in every:
        size, rate, pace = np.broadcast_arrays(at.chips, at.requests_per_s, at.tpot_s)
        each = noiseless(np.where(pace <= tpot_s, rate / size, 0.0))
        rows = zip(size, rate, each, each.argmax(axis=1), strict=True)
        groups += [(float(n[most]), float(of[most])) for n, of, by, most in rows if by[most] > 0]
    return groups
