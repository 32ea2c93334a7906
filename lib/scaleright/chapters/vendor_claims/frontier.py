"""Which layouts of which chips serve a load best: throughput against interactivity, and the most
under targets of latency.

Every layout that keeps the rules and fits is weighed at many concurrencies in one broadcast call a
chip; what remains is the front, the points that no other of the same chip beats both in tokens per
second of a chip and in tokens per second of a user.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.architecture import Transformer
from scaleright.catalog import Accelerator
from scaleright.formulas import Domain, search
from scaleright.inference.deployment import DEGREES, NEEDS, Deployment, check, valid
from scaleright.inference.disaggregation import disaggregated, reader
from scaleright.inference.lengths import Load
from scaleright.inference.serving import OperatingPoint, room, slots, steady
from scaleright.market.hours import listed_hour
from scaleright.order import noiseless
from scaleright.units import SECONDS_PER_HOUR, figure

POINTS = 40
"""Concurrencies at which a layout is weighed, from one request to as many as fit, in equal ratios.
"""
FINE_POINTS = 400
POWERS = (1, 2, 4, 8, 16, 32, 64)
"""Degrees that are tried; the last is also the largest group."""
MOST_STAGES = 8
LEANEST = ("NVFP4", "FP8", "BF16", "FP16")
"""Formats of weights, the leanest first."""
BELOW_ONE = Domain(0.0, 0.9999, (0.0, 0.99))
SPEED = "tokens_per_s_per_chip"
FIGURES = {
    name: name
    for name in ("concurrency", "interactivity", "tpot_s", "ttft_s", "itl_s", "joules_per_token")
}
FIGURES |= {SPEED: "output_tokens_per_s_per_chip"}
"""What is said of a point, by column, as `OperatingPoint` names it."""


@search
def leanest(chip: Accelerator) -> str:
    """The leanest format whose products a chip computes natively; MXFP4 for chips with FP4 of other
    vendors than NVIDIA.

    >>> leanest(catalog.accelerator("H100 SXM")), leanest(catalog.accelerator("MI355X")), leanest(
    ...     catalog.accelerator("V100 SXM 32GB"))
    ('FP8', 'MXFP4', 'FP16')
    """
    found = next((form for form in LEANEST if NEEDS[form] in chip.dense), "BF16")
    return "MXFP4" if found == "NVFP4" and chip.vendor != "NVIDIA" else found


def _some(found: Deployment, which: Any) -> Deployment:
    return replace(found, **{name: getattr(found, name)[which] for name in DEGREES})


@search
def layouts(
    model: Transformer,
    chip: Accelerator,
    precision: str,
    load: Load,
    most_chips: int = POWERS[-1],
    **fixed: Any,
) -> Deployment:
    """Every layout in powers of two that keeps the rules and holds a request of the load, as one
    `Deployment` of arrays.

    Tensor parallelism stays within a fabric; experts are split as all else is, or each is on a chip
    of its own.

    Parameters
    ----------
    most_chips : largest group [1]
    fixed : further fields of a `Deployment`; a degree among them is held

    Raises
    ------
    ValueError : the chip cannot serve the format, or nothing fits.

    >>> found = layouts(catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM"), "FP8",
    ...     Load(1000, 1000))
    >>> sorted(zip(found.tensor.tolist(), found.pipeline.tolist()))[:4]
    [(1, 2), (1, 4), (1, 8), (2, 1)]
    """
    free = {name: value for name, value in fixed.items() if name not in DEGREES}
    check(Deployment(model, chip, precision, **free))
    every = np.array(_degrees(model, chip, most_chips)).T
    found = Deployment(model, chip, precision, **fixed | dict(zip(DEGREES, every, strict=True)))
    held = np.all(
        [np.isin(getattr(found, name), fixed.get(name, getattr(found, name))) for name in DEGREES],
        axis=0,
    )
    found = _some(found, held & valid(found) & (slots(found, load) >= 1))
    if not found.tensor.size:
        raise ValueError(
            f"{model.name} in {precision} on {chip.name}: no layout of up to {most_chips} chips"
            f" keeps the rules and holds a request of {load.context:,.0f} tokens; take more chips,"
            " fewer bits, or a smaller model"
        )
    return found


def _degrees(
    model: Transformer, chip: Accelerator, most_chips: int
) -> list[tuple[int, int, int, int]]:
    """Every layout in powers of two: `DEGREES`."""
    return [
        (tensor, pipeline, expert, group)
        for tensor in POWERS
        for pipeline in POWERS
        for group in (POWERS if model.experts else (1,))
        for expert in (
            {tensor * group, 1 if group == 1 else tensor * group} if model.experts else (1,)
        )
        if tensor <= (chip.scale_up_chips or 1)
        and pipeline <= MOST_STAGES
        and tensor * pipeline * group <= most_chips
    ]


def _missed(words: str, points: Any, tpot_s: float, ttft_s: float) -> str:
    """What to say where no operating point meets the targets: the best of each."""
    asked = " and ".join(
        f"{name} = {value:g}"
        for name, value in (("tpot_s", tpot_s), ("ttft_s", ttft_s))
        if value < math.inf
    )
    best = f"TPOT {points.tpot_s.min() * 1e3:.3g} ms, TTFT {points.ttft_s.min() * 1e3:.3g} ms"
    return f"{words}: no operating point has {asked}; best achievable: {best}"


@search
def under(
    deployment: Deployment,
    load: Load,
    tpot_s: float = math.inf,
    ttft_s: float = math.inf,
    slowdowns: Mapping | None = None,
) -> OperatingPoint:
    """The operating point of one deployment with the most throughput under targets of latency.

    Parameters
    ----------
    deployment, load, slowdowns : as in `steady`
    tpot_s, ttft_s : targets, the longest time per token and to the first token [s]

    Raises
    ------
    ValueError : as `steady`; or no number of requests meets the targets (what is achievable is
        named).

    >>> one = Deployment(catalog.model("Llama-3.1-8B"), catalog.accelerator("H100 SXM"))
    >>> point = under(one, Load(1000, 300), tpot_s=0.020, slowdowns={})
    >>> point.tpot_s <= 0.020 < steady(one, Load(1000, 300), 1.1 * point.concurrency,
    ...     slowdowns={}).tpot_s
    True
    """
    points = steady(
        deployment,
        load,
        np.unique(np.floor(noiseless(room(deployment, load) ** np.linspace(0, 1, FINE_POINTS)))),
        slowdowns,
    )
    meets = (points.tpot_s <= tpot_s) & (points.ttft_s <= ttft_s)
    if not meets.any():
        raise ValueError(
            _missed(f"{deployment.model.name} on {deployment.chip.name}", points, tpot_s, ttft_s)
        )
    best = np.argmax(noiseless(np.where(meets, points.output_tokens_per_s, 0.0)))
    return steady(deployment, load, float(points.concurrency[best]), slowdowns)


def _blocked(slots: int, busy: float) -> float:
    """Erlang's B: the share of requests that find all slots taken, if none waits.

    >>> round(_blocked(2, 1.0), 3)
    0.2
    """
    inverse = 1.0
    for slot in range(1, slots + 1):
        inverse = 1 + inverse * slot / busy
    return 1 / inverse


@search
def at_rate(
    deployment: Deployment,
    load: Load,
    requests_per_s: float,
    percentile: float | None = None,
    slowdowns: Mapping | None = None,
) -> OperatingPoint:
    """The operating point of one deployment whose requests come at random at a rate, with the wait
    for a slot in TTFT.

    Parameters
    ----------
    deployment, load, slowdowns : as in `steady`
    requests_per_s : rate of a Poisson process [1/s]
    percentile : share of requests whose wait for a slot is no longer than `queue_s` [1]; None for
        the mean wait

    Raises
    ------
    ValueError : as `steady`; or requests come faster than all slots serve them (the most that they
        serve is named).

    Notes
    -----
    The slots are k servers of an M/G/k queue, each held for as long as a request of this load
    takes; the mean wait is that of M/M/k times (1 + cv^2) / 2, cv being that of the answers'
    lengths, and the waits of those who wait are exponential [whitt1993].

    >>> one = Deployment(catalog.model("Llama-3.1-8B"), catalog.accelerator("H100 SXM"),
    ...     max_sequences=16)
    >>> at_rate(one, Load(1000, 300), 1.0).queue_s < 0.001 < at_rate(one, Load(1000, 300), 4.0,
    ...     percentile=0.99).queue_s
    True
    """
    BELOW_ONE.check("at_rate", "percentile", percentile)
    most = float(room(deployment, load))
    tried = np.unique(most ** np.linspace(0, 1, FINE_POINTS))
    served = np.maximum.accumulate(steady(deployment, load, tried, slowdowns).requests_per_s)
    if not 0 < requests_per_s < served[-1]:
        raise ValueError(
            f"{deployment.model.name} on {deployment.chip.name}: requests_per_s ="
            f" {requests_per_s:g}, allowed: above 0 and below {served[-1]:.3g}, what all"
            f" {most:,.0f} slots serve"
        )
    busy = float(np.interp(requests_per_s, [0.0, *served], [0.0, *tried]))
    point = steady(deployment, load, max(busy, 1.0), slowdowns)
    blocked = _blocked(round(most), busy)
    waits = blocked / (1 - busy / most * (1 - blocked))  # share of requests that wait at all
    longest = busy / requests_per_s * (1 + load.output_cv**2) / 2 / (most - busy)  # mean of those
    queue_s = longest * float(
        waits if percentile is None else np.log(max(waits, 1 - percentile) / (1 - percentile))
    )
    return replace(
        point,
        concurrency=busy + requests_per_s * waits * longest,
        queue_s=queue_s,
        ttft_s=point.ttft_s + queue_s,
    )


def _weighed(
    found: Deployment, load: Load, at: Callable[..., OperatingPoint], slowdowns: Mapping | None
) -> pd.DataFrame:
    """Every layout of a chip at `POINTS` concurrencies, served as `at` says."""
    wide = _some(found, np.s_[:, None])
    requests = np.floor(noiseless(slots(wide, load) ** np.linspace(0, 1, POINTS)))
    point = at(wide, load, requests, slowdowns)
    columns = {name: getattr(wide, name) for name in (*DEGREES, "chips")}
    columns |= {name: getattr(point, figure) for name, figure in FIGURES.items()}
    about = {
        "accelerator": found.chip.name,
        "precision": found.precision,
        "software": found.software,
    }
    return pd.DataFrame(
        about
        | {
            name: np.broadcast_to(column, requests.shape).ravel()
            for name, column in columns.items()
        }
    )


def _served(
    model: Transformer,
    load: Load,
    chips: Iterable[str] | None,
    precision: str | None,
    most_chips: int,
    split: bool,
    slowdowns: Mapping | None,
    fixed: Mapping[str, Any],
) -> list[pd.DataFrame]:
    """The points of each chip, as `frontier` is asked for them: of those named or of all that can
    serve the model.
    """
    every_chip = catalog.accelerators().values()
    found = []
    for chip in every_chip if chips is None else map(catalog.accelerator, chips):
        try:
            every = layouts(model, chip, precision or leanest(chip), load, most_chips, **fixed)
            at = partial(disaggregated, reader(every, load, slowdowns)) if split else steady
            found.append(_weighed(every, load, at, slowdowns))
        except (ValueError, LookupError):  # no format, no room, or no figures of this chip
            if chips is not None:
                raise
    if not found:
        raise ValueError(
            f"{model.name}: no accelerator of the catalog serves it in"
            f" {precision or 'its leanest format'}"
        )
    return found


def _front(points: pd.DataFrame) -> pd.DataFrame:
    """The points than which no other is both quicker and of more throughput, the quickest first."""
    quickest = points.sort_values(
        ["tpot_s", SPEED], ascending=[True, False], key=noiseless, kind="stable"
    )
    speed = pd.Series(noiseless(quickest[SPEED]), quickest.index)
    return quickest[speed > speed.cummax().shift(fill_value=0.0)]


@search
def frontier(
    model: Transformer,
    load: Load,
    chips: Iterable[str] | None = None,
    precision: str | None = None,
    tpot_s: float = math.inf,
    ttft_s: float = math.inf,
    most_chips: int = POWERS[-1],
    split: bool = False,
    slowdowns: Mapping | None = None,
    **fixed: Any,
) -> pd.DataFrame:
    """Throughput of a chip against interactivity, over all layouts and concurrencies: the front of
    each accelerator.

    Parameters
    ----------
    model, load : what is served
    chips : accelerators by name; by default all of the catalog whose speeds are known and on which
        the model fits
    precision : format of the weights; by default the `leanest` of each chip
    tpot_s, ttft_s : targets of latency; slower points are left out [s]
    most_chips, fixed : as in `layouts`
    split : prompts are read by groups of their own, of the layout that reads fastest; `chips` and
        the degrees are those of one group that decodes, throughput and draw those of a chip of
        either kind
    slowdowns : as in `steady`

    Returns
    -------
    frame, the quickest point of each accelerator first: accelerator, precision, software, the
    degrees, chips, `FIGURES`, usd_per_hour (recent median rent of a chip) and tokens_per_usd; NaN
    where nobody lists a rent.

    Raises
    ------
    LookupError : an unknown accelerator. ValueError : a named chip cannot serve the model; or none
        meets the targets (the best is named).

    >>> front = frontier(catalog.model("Llama-3.1-8B"), Load(1000, 300), ["H100", "L40S"],
    ...     slowdowns={})
    >>> sorted(set(front["accelerator"])), bool((front["tokens_per_s_per_chip"] > 0).all())
    (['H100 SXM', 'L40S'], True)
    """
    found = _served(model, load, chips, precision, most_chips, split, slowdowns, fixed)
    kept = [points[(points["tpot_s"] <= tpot_s) & (points["ttft_s"] <= ttft_s)] for points in found]
    front = pd.concat(map(_front, kept), ignore_index=True)
    if front.empty:
        quickest = min(found, key=lambda points: figure(points["tpot_s"].min()))
        words = f"{model.name} on {quickest['accelerator'][0]}, the quickest,"
        raise ValueError(_missed(words, quickest, tpot_s, ttft_s))
    return _priced(front)


def _priced(front: pd.DataFrame) -> pd.DataFrame:
    """A front with its draw and with what recent rents make of it."""
    rents = {name: listed_hour(name) for name in front["accelerator"].unique()}
    front["usd_per_hour"] = front["accelerator"].map(
        {name: rent.usd if rent else math.nan for name, rent in rents.items()}
    )
    per_usd = SECONDS_PER_HOUR * front[SPEED] / front["usd_per_hour"]
    return front.assign(
        watts_per_chip=front["joules_per_token"] * front[SPEED], tokens_per_usd=per_usd
    )
