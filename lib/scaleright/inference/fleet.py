"""A fleet that serves a model to several streams of requests: the groups of chips that it may be
made of, and how many its peak takes.

A fleet is sized for its busiest time: as many whole groups of chips as that takes, each at the most
requests that it serves while tokens keep their pace.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from scaleright.architecture import Transformer
from scaleright.formulas import COUNT, NON_NEGATIVE, POSITIVE, SHARE, closed_form, search
from scaleright.inference.curves import Curve, curves
from scaleright.inference.day import longer_read_s, unhurried_s
from scaleright.inference.deployment import Deployment, check, shared_by
from scaleright.inference.disaggregation import disaggregated
from scaleright.inference.lengths import Load, Speculation
from scaleright.inference.memory import largest_batch
from scaleright.inference.nodes import engines_like, fastest, static_rate
from scaleright.inference.phases import step_seconds
from scaleright.inference.serving import slots, steady
from scaleright.inference.slowdowns import slowdowns as stored
from scaleright.inference.splits import as_one, reader_like, reads_apart
from scaleright.ops import ceil, maximum, sqrt, where
from scaleright.order import noiseless
from scaleright.order_statistics import largest_score

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
        size = fleet_chips(demand, most, of, peak_to_mean, together, streams, pools)
        fewer = where(most > 0, size, math.inf) < least
        least = where(fewer, size, least)
        group, served = where(fewer, of, group), where(fewer, most, served)
    chips = where(group > 0, least, math.nan)
    return WholeGroups(chips, group, served)


@dataclass(frozen=True)
class Service:
    """How a model is served to several streams of requests, and what could be made of it.

    Attributes
    ----------
    deployment, load : what serves what; the degrees of the deployment are chosen anew
    requests_per_s : mean demand over all streams [1/s]
    peak_to_mean : of one stream [1]; together : correlation of the streams [1]
    services, variants : applications, and fine-tuned variants of the model that each uses; their
        product is the streams [1]
    batch : requests of a static batch, which ends with its longest answer; None where each leaves
        when it is done (continuous) [1]
    tpot_s : most time of a token, None for any [s]
    ttft_s, long_tokens : within which nineteen of twenty requests have their first token, None for
        any [s], and the prompt than which one in twenty is longer [token]
    pooled, adapters, answers_cached : whether services share a fleet; variants are adapters to one
        model; known answers are reused
    split : whether prompts are read by groups of their own, as for a rack they always are
    matmul_speedup : of products with weights, by sparsity [1]
    prefix_share, repeated_share : of prompts' tokens found in a cache; of requests whose answer is
        [1]
    smaller, draft : a smaller model that would do; a draft for speculative decoding
    """

    deployment: Deployment
    load: Load
    requests_per_s: Any
    peak_to_mean: Any = 1.0
    together: Any = 0.0
    services: Any = 1
    variants: Any = 1
    batch: int | None = None
    tpot_s: Any = None
    ttft_s: Any = None
    long_tokens: Any = 0.0
    pooled: bool = False
    adapters: bool = False
    answers_cached: bool = False
    split: bool = False
    matmul_speedup: float = 1.0
    prefix_share: Any = 0.0
    repeated_share: Any = 0.0
    smaller: Transformer | None = None
    draft: Speculation | None = None

    @property
    def sharing(self) -> dict[str, Any]:
        """Streams of a pool and pools, as `fleet_chips` takes them; numbers or quantities."""
        streams = (1 + (self.services - 1) * self.pooled) * (
            1 + (self.variants - 1) * self.adapters
        )
        return {"streams": streams, "pools": self.services * self.variants / streams}

    @property
    def demand(self) -> Any:
        """Requests per second that the model has to answer [1/s]."""
        return self.requests_per_s * (1 - self.repeated_share * self.answers_cached)

    @property
    def slowdowns(self) -> dict[str, float]:
        """Those of the deployment, products with weights sped up by sparsity."""
        found = stored(self.deployment)
        return {**found, "matmul": found["matmul"] / self.matmul_speedup}


def _static(service: Service, deployment: Deployment) -> tuple[Any, Any]:
    """Requests per second and time of a token where a batch takes its prompts together, then steps
    until its longest answer ends.

    Lengths are lognormal.
    """
    load, batch = service.load, service.batch
    assert batch is not None  # else requests are not served in batches
    score, variance = largest_score(float(batch)), np.log(1 + load.output_cv**2)
    longest = load.output_tokens * (
        np.exp(score * np.sqrt(variance) - variance / 2) if batch > 1 else 1.0
    )
    held = np.minimum(batch, largest_batch(deployment, load.input_tokens + longest))
    prompts = step_seconds(
        deployment,
        0.0,
        0.0,
        held * load.new_tokens,
        load.prompt_context,
        slowdowns=service.slowdowns,
    ).total
    token = step_seconds(
        deployment, held, load.input_tokens + longest / 2, slowdowns=service.slowdowns
    ).total
    return held / (prompts + (longest - 1) * token), token


@search
def groups(
    service: Service, among: Sequence[Deployment] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Chips of each possible group, and the requests per second that it serves at most while tokens
    keep their pace.

    among : engines of which a group may be made; by default `nodes.engines`

    Raises
    ------
    ValueError : the model fits on no group, or none keeps the pace; the best is named.
    """
    load = service.load
    check(replace(service.deployment, tensor=1, expert=1))
    found = engines_like(service.deployment) if among is None else among
    found = [d for d in found if slots(d, load) >= 1]
    if not found:
        steady(shared_by(service.deployment, 8), load)  # says why not
        raise ValueError(f"{service.deployment.model.name}: no engine holds such requests")
    points, limit_s = _points(service, found), service.tpot_s or np.inf
    best = [_best(*at, limit_s=limit_s) for at in points]
    size, served, kept = map(np.concatenate, zip(*best, strict=True))
    early = kept & _early(service, found)
    kept = early if early.any() else kept
    if not kept.any():
        of = service.deployment
        raise ValueError(
            f"tpot_s = {service.tpot_s:g}: {of.model.name} in {of.precision} on {of.chip.name}"
            f" needs {min(pace.min() for *_, pace in points):.3g} at least"
        )
    return size[kept].astype(float), served[kept]


@search
def on_time(service: Service) -> bool:
    """Whether a group keeps the pace and the promise of the first token, if there is one."""
    if service.ttft_s is None:
        return True
    found = [d for d in engines_like(service.deployment) if slots(d, service.load) >= 1]
    limit_s = service.tpot_s or np.inf
    kept = [_best(*at, limit_s=limit_s)[-1] for at in _points(service, found)]
    return bool((np.concatenate(kept) & _early(service, found)).any())


def _early(service: Service, found: Sequence[Deployment]) -> np.ndarray:
    """Whether engines promise a first token in time, in the order of `_points`."""
    if service.ttft_s is None:
        return np.ones(len(found), bool)
    load, tpot_s, long = service.load, service.tpot_s or np.inf, service.long_tokens
    if service.batch is None:
        found = sorted(found, key=reads_apart)

    def first_s(one: Curve) -> float:
        if service.batch is not None:
            waits_s = static_rate(one, load, service.batch, tpot_s)[1]
            return waits_s + longer_read_s(one, load, long)
        at = one.at(fastest([one], load, tpot_s).batch, load)
        return unhurried_s(one, at, load, long)

    return np.array([first_s(one) <= service.ttft_s for one in curves(found, service.slowdowns)])


def _points(service: Service, found: Sequence[Deployment]) -> list[Any]:
    """Chips, requests per second and time of a token of engines, a row for each, at some numbers of
    sequences: of those that read prompts, and of those for which others do.
    """
    load, slow = service.load, service.slowdowns
    if service.batch is not None:
        d = as_one(found)
        return [np.broadcast_arrays(d.chips, *_static(service, d))]
    own = [d for d in found if not (service.split or reads_apart(d))]
    served = [d for d in found if service.split or reads_apart(d)]
    readers = [reader_like(d) if reads_apart(d) else d for d in served]
    every = []
    if own:
        every.append(steady(as_one(own), load, SEATS, slow))
    if served:
        seats = RACK_SEATS if any(map(reads_apart, served)) else SEATS
        every.append(disaggregated(as_one(readers), as_one(served), load, seats, slow))
    return [np.broadcast_arrays(at.chips, at.requests_per_s, at.tpot_s) for at in every]


def _best(size: Any, served: Any, pace: Any, limit_s: float) -> tuple[Any, Any, Any]:
    """Chips and requests per second of each group where a chip serves most of those within a time
    of a token, and whether any is.
    """
    each = np.where(pace <= limit_s, served / size, 0.0)
    most = noiseless(each).argmax(axis=1)[:, None]
    size, served, pace = (
        np.take_along_axis(value, most, axis=1)[:, 0] for value in (size, served, pace)
    )
    return size, served, pace <= limit_s


@search
def chips(service: Service, sizes: np.ndarray, served: np.ndarray) -> float:
    """Chips of the smallest fleet, of groups as `groups` finds them [1]."""
    peak = service.peak_to_mean, service.together
    return float(np.min(fleet_chips(service.demand, served, sizes, *peak, **service.sharing)))
