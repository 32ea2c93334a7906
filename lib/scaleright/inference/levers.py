"""Levers on the cost of serving: each changes how a service is run, if its conditions hold, and the fleet it takes is computed again.

What a lever saves depends on what was done before it: a group that stands half empty costs no less when its model is made faster, and one
that waits for the longest answer of a batch gains less from a cached prompt.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import factorial
from typing import Any

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.formulas import lookup, search
from scaleright.inference.fleet import Service, chips, groups
from scaleright.names import one_of
from scaleright.transformer import bytes_per_parameter, parameters


def _with(service: Service, **deployment: Any) -> Service:
    return replace(service, deployment=replace(service.deployment, **deployment))


def _smaller(s: Service) -> Service | str:
    return _with(s, model=s.smaller) if s.smaller else "no smaller model is named"


def _eight_bits(s: Service) -> Service | str:
    chip = s.deployment.chip
    if bytes_per_parameter(s.deployment.precision) < 1.1:
        return "has 8 bits or fewer"
    form = "FP8" if "fp8" in chip.dense else "INT8"
    return _with(s, precision=form) if form.lower() in chip.dense else f"{chip.name} multiplies in no 8-bit format"


def _four_bits(s: Service) -> Service | str:
    chip = s.deployment.chip
    form = "NVFP4" if "fp4" in chip.dense and chip.vendor == "NVIDIA" else "INT4"
    return _with(s, precision=form) if bytes_per_parameter(s.deployment.precision) > 0.6 else "has 4 bits"


def _pruned(s: Service) -> Service | str:
    model, chip = s.deployment.model, s.deployment.chip
    if chip.vendor != "NVIDIA" or chip.released is None or chip.released.year < 2020:
        return f"{chip.name} has no sparse tensor cores"
    fast = replace(s, matmul_speedup=catalog.fact("sparse_throughput_ratio"))
    return f"{model.name}: no sparse kernels for experts" if model.experts else fast


def _adapters(s: Service) -> Service | str:
    return replace(s, adapters=True) if s.variants > 1 else "one variant: adapters save its training, not its serving"


def _continuous(s: Service) -> Service | str:
    return replace(s, batching="continuous") if s.batching != "continuous" else "batches continuously already"


def _prefixes(s: Service) -> Service | str:
    cached = replace(s, load=replace(s.load, cached_share=s.prefix_share))
    return cached if s.prefix_share > s.load.cached_share else "prompts do not begin alike"


def _answers(s: Service) -> Service | str:
    return replace(s, requests_per_s=s.requests_per_s * (1 - s.repeated_share)) if s.repeated_share > 0 else "nothing is asked again"


def _small_cache(s: Service) -> Service | str:
    if "fp8" not in s.deployment.chip.dense:
        return f"{s.deployment.chip.name} multiplies in no FP8"
    return _with(s, kv_precision="FP8") if s.deployment.cache_format != "FP8" else "has an FP8 cache"


def _pooled(s: Service) -> Service | str:
    return replace(s, pooled=True) if s.services > 1 else "one service: nobody to share with"


def _speculative(s: Service) -> Service | str:
    if s.batching != "continuous":
        return "needs continuous batching"
    return replace(s, load=replace(s.load, speculation=s.draft)) if s.draft else "no draft is named"


LEVERS: dict[str, Callable[[Service], Service | str]] = {
    "smaller model": _smaller, "8-bit weights": _eight_bits, "4-bit weights": _four_bits, "2:4 pruning": _pruned,
    "LoRA adapters": _adapters, "continuous batching": _continuous, "prefix caching": _prefixes, "answer caching": _answers,
    "8-bit KV cache": _small_cache, "pooling": _pooled, "speculative decoding": _speculative,
    "cost dashboard": lambda s: "shows what the others save; nothing of its own to compute",
}  # fmt: skip
"""The levers by the names of data/levers.csv: each gives the changed service, or why it cannot be."""


@lookup
def quality_loss(lever: str, precision: str, size: float) -> float:
    """Published loss of a benchmark's score over the score, of the model nearest in size [1]; 0 where no loss is to be expected.

    Parameters
    ----------
    lever : of `LEVERS`
    precision : format of the weights once it is taken
    size : parameters of the model [1]

    >>> round(quality_loss("4-bit weights", "INT4", 8e9), 3), round(quality_loss("4-bit weights", "INT4", 70e9), 3)
    (0.025, 0.002)
    """
    rows = catalog.table("lever_quality")
    rows = rows[(rows["lever"] == one_of(lever, LEVERS, "lever")) & (rows["form"].isna() | (rows["form"] == precision))]
    nearest = rows.iloc[np.argsort(np.abs(np.log(rows["parameters"] / size)), kind="stable")[:1]]
    return float((1 - nearest["after"] / nearest["before"]).sum())


@dataclass(frozen=True)
class Rung:
    """A lever on the way up: the service once it is taken, or as it was with why it is not; its fleet; published losses of quality so far.

    sizes, served : of each possible group, its chips and the requests per second that it serves at most
    """

    name: str
    why: str
    service: Service
    sizes: np.ndarray
    served: np.ndarray
    losses: Mapping[str, float] = field(default_factory=dict)

    @property
    def chips(self) -> float:
        """Chips of the smallest fleet [1]."""
        return chips(self.service, self.sizes, self.served)

    @property
    def loss(self) -> float:
        """Sum of the published losses of quality [1]."""
        return sum(self.losses.values())


def _take(rung: Rung, name: str, allowed_loss: float, found: dict) -> Rung:
    """The next rung: a lever taken, or why not. The loss of 4 bits takes the place of that of 8."""
    after = LEVERS[one_of(name, LEVERS, "lever")](rung.service)
    if isinstance(after, str):
        return replace(rung, name=name, why=after)
    d = after.deployment
    losses = {other: loss for other, loss in rung.losses.items() if (name, other) != ("4-bit weights", "8-bit weights")}
    losses[name] = quality_loss(name, d.precision, float(parameters(d.model).total))
    if sum(losses.values()) > allowed_loss + 1e-9:
        published = f"published loss of {100 * losses[name]:.2g} %"
        return replace(rung, name=name, why=f"{published}, more than is left of {100 * allowed_loss:.2g} %")
    key = after.load, d.model, d.precision, d.kv_precision, after.batching, after.matmul_speedup
    found[key] = found.get(key) or groups(after)
    return Rung(name, "", after, *found[key], losses)


@search
def climb(service: Service, names: Sequence[str], allowed_loss: float = 0.01) -> list[Rung]:
    """The levers one after the other, each taken if its conditions hold, its loss of quality is allowed, and the fleet gets no larger.

    Parameters
    ----------
    service : as it is served now
    names : levers in order
    allowed_loss : most that all published losses of quality may add up to [1]

    Returns
    -------
    the service as it is (named "today"), and a rung for each lever

    Raises
    ------
    LookupError : an unknown lever. ValueError : see `groups`.
    """
    rungs, found = [Rung("today", "", service, *groups(service))], {}
    for name in names:
        after, before = _take(rungs[-1], name, allowed_loss, found), rungs[-1]
        if not after.why and (after.chips > before.chips or (after.chips == before.chips and after.loss > before.loss)):
            more = after.chips / before.chips - 1
            after = replace(before, name=name, why=f"takes {100 * more:.2g} % more chips here" if more else "saves nothing here")
        rungs.append(after)
    return rungs


@search
def orders(service: Service, names: Sequence[str], allowed_loss: float = 0.01) -> pd.DataFrame:
    """What each lever saves by when it is taken: over all orders of the levers at once.

    Parameters
    ----------
    service, names, allowed_loss : as in `climb`; every lever is taken whether or not it pays

    Returns
    -------
    frame indexed by lever: first (alone), last (after all others), least and most over all orders [share of the fleet before it], and
    credit, its mean share of the whole saving on a ratio scale (the Shapley value of the logarithm), which add up to 1

    Source: [shapley1953].
    """
    count, found = len(names), {}
    size = np.empty((2,) * count)
    start = Rung("today", "", service, *groups(service))
    for picked in np.ndindex(size.shape):
        rung = start
        for name, taken in zip(names, picked, strict=True):
            rung = _take(rung, name, allowed_loss, found) if taken else rung
        size[picked] = rung.chips
    others = np.indices((2,) * (count - 1)).sum(axis=0) if count > 1 else np.zeros(())
    weight = np.vectorize(lambda k: factorial(k) * factorial(count - 1 - k) / factorial(count))(others.astype(int))
    rows, whole = {}, np.log(size.flat[0] / size.flat[-1])
    for axis, name in enumerate(names):
        without, taken = np.moveaxis(size, axis, 0)
        saved = 1 - taken / without
        rows[name] = {"first": saved.flat[0], "last": saved.flat[-1], "least": saved.min(), "most": saved.max(),
                      "credit": float((weight * np.log(without / taken)).sum() / whole) if whole else 0.0}  # fmt: skip
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("lever")
