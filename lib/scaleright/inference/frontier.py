"""Which layouts of which chips serve a load best: throughput against interactivity, and the most under targets of latency.

Every layout that keeps the rules and fits is weighed at many concurrencies in one broadcast call a chip; what remains is the
front, the points that no other of the same chip beats both in tokens per second of a chip and in tokens per second of a user.
"""

import math
from dataclasses import replace
from typing import Any, Iterable, Mapping

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.architecture import Transformer
from scaleright.catalog import Accelerator
from scaleright.formulas import search
from scaleright.inference.deployment import DEGREES, NEEDS, Deployment, check, valid
from scaleright.inference.lengths import Load
from scaleright.inference.serving import OperatingPoint, slots, steady
from scaleright.market.rentals import recent_rental_price
from scaleright.units import SECONDS_PER_HOUR

POINTS = 40
"""Concurrencies at which a layout is weighed, from one request to as many as fit, in equal ratios."""
FINE_POINTS = 400
NODE_CHIPS, MOST_CHIPS = 8, 64
"""Chips of a server, the least that a search looks at; and the largest group that it tries."""
LEANEST = ("NVFP4", "FP8", "BF16", "FP16")
"""Formats of weights, the leanest first."""


def _powers(most: float) -> list[int]:
    return [2**power for power in range(int(math.log2(max(most, 1))) + 1)]


@search
def leanest(chip: Accelerator) -> str:
    """The leanest format whose products a chip computes natively; MXFP4 for chips with FP4 of other vendors than NVIDIA.

    >>> leanest(catalog.accelerator("H100 SXM")), leanest(catalog.accelerator("MI355X")), leanest(catalog.accelerator("V100 SXM 32GB"))
    ('FP8', 'MXFP4', 'FP16')
    """
    found = next((form for form in LEANEST if NEEDS[form] in chip.dense), "BF16")
    return "MXFP4" if found == "NVFP4" and chip.vendor != "NVIDIA" else found


@search
def layouts(model: Transformer, chip: Accelerator, precision: str, load: Load, most_chips: int | None = None, **fixed: Any) -> Deployment:
    """Every layout in powers of two that keeps the rules and holds a request of the load, as one `Deployment` of arrays.

    Parameters
    ----------
    most_chips : largest group [1]; by default the chips of one fabric (a server's, where it is smaller), and as many more as it takes
    fixed : further fields of a `Deployment`; degrees among them are held

    Raises
    ------
    ValueError : the chip cannot serve the format; a degree that is held, or the group, leaves no layout that fits.

    >>> found = layouts(catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM"), "FP8", Load(1000, 1000))
    >>> sorted(zip(found.tensor.tolist(), found.pipeline.tolist()))[:4]
    [(1, 2), (1, 4), (1, 8), (2, 1)]
    """
    check(Deployment(model, chip, precision, **{name: value for name, value in fixed.items() if name not in DEGREES}))
    size, degrees = most_chips or max(NODE_CHIPS, min(chip.scale_up_chips or 1, MOST_CHIPS)), _degrees(model, chip, fixed)
    while True:
        found = Deployment(model, chip, precision, **fixed | {name: degrees[name][degrees["chips"] <= size] for name in DEGREES})
        for keeps in (valid, lambda kept: slots(kept, load) >= 1):
            mask = np.broadcast_to(keeps(found), found.tensor.shape)
            found = replace(found, **{name: getattr(found, name)[mask] for name in DEGREES})
        if found.tensor.size:
            return found
        if most_chips or size >= MOST_CHIPS:
            raise ValueError(f"{model.name} in {precision} on {chip.name}: no layout of up to {size} chips keeps the rules and holds "
                             f"a request of {load.context:,.0f} tokens; take more chips, fewer bits, or a smaller model")  # fmt: skip
        size *= 2


def _degrees(model: Transformer, chip: Accelerator, fixed: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Degrees in powers of two: tensor parallelism within a fabric; experts split by tensor parallelism, or each on a chip of its own."""
    groups = _powers(MOST_CHIPS) if model.experts else [1]
    found = [
        (tensor, pipeline, expert, group)
        for tensor in _powers(min(chip.scale_up_chips or 1, MOST_CHIPS)) for pipeline in _powers(NODE_CHIPS) for group in groups
        for expert in sorted({1 if group == 1 else tensor * group, tensor * group if model.experts else 1})
    ]  # fmt: skip
    degrees = dict(zip(DEGREES, np.array(found).T, strict=True))
    kept = np.all([np.isin(degrees[name], fixed.get(name, degrees[name])) for name in DEGREES], axis=0)
    degrees = {name: column[kept] for name, column in degrees.items()}
    return degrees | {"chips": degrees["tensor"] * degrees["pipeline"] * degrees["attention_data"]}


def _missed(words: str, points: OperatingPoint, tpot_s: float, ttft_s: float) -> str:
    """What to say where no operating point meets the targets: the best of each, and of one under the other."""
    best, first = float(np.min(points.tpot_s)), float(np.min(points.ttft_s))
    asked = [f"{name} = {value:g}" for name, value in (("tpot_s", tpot_s), ("ttft_s", ttft_s)) if value < math.inf]
    return f"{words}: no operating point has {' and '.join(asked)}; best achievable: TPOT {best * 1e3:.3g} ms, TTFT {first * 1e3:.3g} ms"


@search
def under(
    deployment: Deployment, load: Load, tpot_s: float = math.inf, ttft_s: float = math.inf, slowdowns: Mapping | None = None
) -> OperatingPoint:
    """The operating point of one deployment with the most throughput under targets of latency.

    Parameters
    ----------
    deployment, load, slowdowns : as in `steady`
    tpot_s, ttft_s : targets, the longest time per token and to the first token [s]

    Raises
    ------
    ValueError : as `steady`; or no number of requests meets the targets (what is achievable is named).

    >>> one = Deployment(catalog.model("Llama-3.1-8B"), catalog.accelerator("H100 SXM"))
    >>> point = under(one, Load(1000, 300), tpot_s=0.020, slowdowns={})
    >>> point.tpot_s <= 0.020 < steady(one, Load(1000, 300), 1.1 * point.concurrency, slowdowns={}).tpot_s
    True
    """
    most = steady(deployment, load, slowdowns=slowdowns).slots
    tried = np.unique(np.floor(most ** np.linspace(0, 1, FINE_POINTS)))
    points = steady(deployment, load, tried, slowdowns)
    meets = (points.tpot_s <= tpot_s) & (points.ttft_s <= ttft_s)
    if not meets.any():
        raise ValueError(_missed(f"{deployment.model.name} on {deployment.chip.name}", points, tpot_s, ttft_s))
    best = np.argmax(np.where(meets, points.output_tokens_per_s, 0.0))
    return steady(deployment, load, float(tried[best]), slowdowns)


def _chip_frame(found: Deployment, load: Load, meets, slowdowns: Mapping | None) -> tuple[pd.DataFrame, OperatingPoint]:
    """The front of the layouts of one chip, and all their operating points."""
    wide = replace(found, **{name: getattr(found, name)[:, None] for name in DEGREES})
    requests = np.floor(slots(wide, load) ** np.linspace(0, 1, POINTS))
    points = steady(wide, load, requests, slowdowns)
    speed = points.output_tokens_per_s_per_chip
    order = np.lexsort((-speed.ravel(), points.tpot_s.ravel()))
    order = order[meets(points).ravel()[order]]
    risen = speed.ravel()[order]
    front = order[risen > np.concatenate([[0.0], np.maximum.accumulate(risen)[:-1]])] if order.size else order
    if not front.size:
        return pd.DataFrame(), points
    chosen = replace(found, **{name: getattr(found, name)[front // POINTS] for name in DEGREES})
    point = steady(chosen, load, requests.ravel()[front], slowdowns)
    columns = {name: getattr(chosen, name) for name in DEGREES} | {"chips": chosen.chips}
    columns |= {name: getattr(point, name) for name in ("concurrency", "interactivity", "tpot_s", "ttft_s", "itl_s")}
    columns |= {"tokens_per_s_per_chip": point.output_tokens_per_s_per_chip, "watts_per_chip": point.watts_per_chip}
    return pd.DataFrame({"accelerator": found.chip.name, "precision": found.precision, "software": found.software} | columns), points


@search
def frontier(
    model: Transformer, load: Load, chips: Iterable[str] | None = None, precision: str | None = None, tpot_s: float = math.inf,
    ttft_s: float = math.inf, most_chips: int | None = None, slowdowns: Mapping | None = None, **fixed: Any,
) -> pd.DataFrame:  # fmt: skip
    """Throughput of a chip against interactivity, over all layouts and concurrencies: the front of each accelerator.

    Parameters
    ----------
    model, load : what is served
    chips : accelerators by name; by default all of the catalog whose speeds are known and on which the model fits
    precision : format of the weights; by default the `leanest` of each chip
    tpot_s, ttft_s : targets of latency; slower points are left out [s]
    most_chips, fixed : as in `layouts`
    slowdowns : as in `steady`

    Returns
    -------
    frame, slowest user last: accelerator, precision, software, the degrees, chips, concurrency, interactivity [token/s of a user], tpot_s,
    ttft_s, itl_s, tokens_per_s_per_chip and watts_per_chip; and from these joules_per_token, usd_per_hour (recent median rent of
    a chip), tokens_per_usd; NaN where nobody lists a rent.

    Raises
    ------
    LookupError : an unknown accelerator. ValueError : a named chip cannot serve the model; or none meets the targets (the best is named).

    >>> front = frontier(catalog.model("Llama-3.1-8B"), Load(1000, 300), ["H100", "L40S"], slowdowns={})
    >>> sorted(set(front["accelerator"])), bool((front["tokens_per_s_per_chip"] > 0).all())
    (['H100 SXM', 'L40S'], True)
    """
    frames, nearest = [], []
    for chip in catalog.accelerators().values() if chips is None else map(catalog.accelerator, chips):
        try:
            found = layouts(model, chip, precision or leanest(chip), load, most_chips, **fixed)
            frame, points = _chip_frame(found, load, lambda p: (p.tpot_s <= tpot_s) & (p.ttft_s <= ttft_s), slowdowns)
        except (ValueError, LookupError):  # no format, no room, or no figures of this chip
            if chips is not None:
                raise
            continue
        frames.append(frame)
        nearest.append((float(points.tpot_s.min()), chip.name, points))
    if not any(map(len, frames)):
        if not nearest:
            raise ValueError(f"{model.name}: no accelerator of the catalog serves it" + (f" in {precision}" if precision else ""))
        _, name, points = min(nearest, key=lambda each: each[0])
        raise ValueError(_missed(f"{model.name} on {name}, the quickest,", points, tpot_s, ttft_s))
    front = pd.concat([frame for frame in frames if len(frame)], ignore_index=True)
    rents = {name: recent_rental_price(name) for name in front["accelerator"].unique()}
    front["joules_per_token"] = front["watts_per_chip"] / front["tokens_per_s_per_chip"]
    front["usd_per_hour"] = front["accelerator"].map({name: rent.median for name, rent in rents.items() if rent})
    return front.assign(tokens_per_usd=SECONDS_PER_HOUR * front["tokens_per_s_per_chip"] / front["usd_per_hour"])
