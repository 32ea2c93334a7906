"""Levers on the cost of serving: each changes how a service is run, if its conditions hold, and the
fleet it takes is computed again.

What a lever saves depends on what was done before it: a group that stands half empty costs no less
when its model is made faster, and one that waits for the longest answer of a batch gains less from
a cached prompt.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import factorial
from typing import Any

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.formulas import lookup, search
from scaleright.inference.deployment import NEEDS, Deployment
from scaleright.inference.fleet import Service, chips, groups, on_time
from scaleright.inference.formats import quality_loss
from scaleright.names import one_of
from scaleright.transformer import bytes_per_parameter, parameters


def _with(service: Service, **deployment: Any) -> Service:
    return replace(service, deployment=replace(service.deployment, **deployment))


def _weights(s: Service, form: str) -> Service | bool:
    """The weights in a format, if the chip can serve it; as they are, if they are as short
    already.
    """
    if bytes_per_parameter(s.deployment.precision) <= bytes_per_parameter(form):
        return s
    return NEEDS[form] in s.deployment.chip.dense and _with(s, precision=form)


@lookup
def can_be_sparse(deployment: Deployment) -> bool:
    """Whether the chip has sparse tensor cores, as NVIDIA's have since 2020, and engines have
    kernels for the model.
    """
    chip = deployment.chip
    return (
        chip.vendor == "NVIDIA"
        and chip.released is not None
        and chip.released.year >= 2020
        and not deployment.model.experts
    )


LEVERS: dict[str, Callable[[Service], Any]] = {
    "smaller model": lambda s: s.smaller and _with(s, model=s.smaller),
    "8-bit weights": lambda s: _weights(s, "FP8") or _weights(s, "INT8"),
    "4-bit weights": lambda s: (
        (s.deployment.chip.vendor == "NVIDIA" and _weights(s, "NVFP4")) or _weights(s, "INT4")
    ),
    "2:4 pruning": lambda s: (
        can_be_sparse(s.deployment)
        and replace(s, matmul_speedup=catalog.fact("sparse_throughput_ratio"))
    ),
    "LoRA adapters": lambda s: s.variants > 1 and replace(s, adapters=True),
    "continuous batching": lambda s: replace(s, batch=None),
    "prefix caching": lambda s: (
        s.prefix_share > 0 and replace(s, load=replace(s.load, cached_share=s.prefix_share))
    ),
    "answer caching": lambda s: s.repeated_share > 0 and replace(s, answers_cached=True),
    "8-bit KV cache": lambda s: "fp8" in s.deployment.chip.dense and _with(s, kv_precision="FP8"),
    "pooling": lambda s: s.services > 1 and replace(s, pooled=True),
    "cost dashboard": lambda s: s,
    "disaggregation": lambda s: s.batch is None and replace(s, split=True),
    "speculative decoding": lambda s: (
        s.draft and s.batch is None and replace(s, load=replace(s.load, speculation=s.draft))
    ),
}
"""The levers by the names of data/levers.csv, which says what they need: each gives the changed
service, or nothing if it cannot be.
"""


@dataclass(frozen=True)
class Rung:
    """A lever on the way up: the service once it is taken, or as it was with why it is not; its
    fleet; published losses of quality so far.

    sizes, served : of each possible group, its chips and the requests per second that it serves at
        most
    on_time : whether one has the first token as it is promised
    """

    name: str
    why: str
    service: Service
    sizes: np.ndarray
    served: np.ndarray
    losses: Mapping[str, float] = field(default_factory=dict)
    on_time: bool = True

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
    after, stay = (
        LEVERS[one_of(name, LEVERS, "lever")](rung.service),
        partial(replace, rung, name=name),
    )
    if not after:
        return stay(why="needs " + catalog.table("levers").set_index("lever").loc[name, "needs"])
    if after == rung.service:
        return stay(why="changes nothing")
    d = after.deployment
    losses = {
        other: loss
        for other, loss in rung.losses.items()
        if (name, other) != ("4-bit weights", "8-bit weights")
    }
    losses[name] = quality_loss(name, d.precision, float(parameters(d.model).total))
    if sum(losses.values()) > allowed_loss + 1e-9:
        return stay(
            why=(
                f"published loss of {100 * losses[name]:.2g} %, more than is left of"
                f" {100 * allowed_loss:.2g} %"
            )
        )
    key = (
        after.load,
        d.model,
        d.precision,
        d.kv_precision,
        after.batch,
        after.matmul_speedup,
        after.split,
    )
    if key not in found:
        found[key] = *groups(after), on_time(after)
    *grouped, early = found[key]
    if rung.on_time and not early:
        return stay(why="the first token comes too late")
    return Rung(name, "", after, *grouped, losses=losses, on_time=early)


@search
def climb(service: Service, names: Sequence[str], allowed_loss: float = 0.01) -> list[Rung]:
    """The levers one after the other, each taken if its conditions hold, its loss of quality is
    allowed, the first token comes in time as before, and the fleet gets no larger.

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
    early = on_time(service)
    rungs, found = [Rung("today", "", service, *groups(service), on_time=early)], {}
    for name in names:
        after, before = _take(rungs[-1], name, allowed_loss, found), rungs[-1]
        if not after.why and (
            after.chips > before.chips or (after.chips == before.chips and after.loss > before.loss)
        ):
            more = after.chips / before.chips - 1
            after = replace(
                before,
                name=name,
                why=f"takes {100 * more:.0f} % more chips here" if more else "saves nothing here",
            )
        rungs.append(after)
    return rungs


_SAVED = ["first", "last", "least", "most", "credit"]


@lookup
def by_order(names: Sequence[str], size: np.ndarray) -> pd.DataFrame:
    """What each lever saves by when it is taken: over all orders of the levers at once.

    Parameters
    ----------
    names : of levers
    size : the fleet by whether each lever is taken, an axis of two for each [1]

    Returns
    -------
    frame indexed by lever: first (alone), last (after all others), least and most over all orders
    [share of the fleet before it], and credit, its mean share of the whole saving on a ratio scale
    (the Shapley value of the logarithm), which add up to 1

    Source: [shapley1953].

    >>> found = by_order(["half", "third"], np.array([[60.0, 40.0], [30.0, 20.0]]))
    >>> found["first"].round(3).to_list(), found["credit"].round(3).to_list()
    ([0.5, 0.333], [0.631, 0.369])
    """
    if not (count := len(names)):
        return pd.DataFrame(columns=_SAVED, dtype=float).rename_axis("lever")
    others = np.indices((2,) * (count - 1)).sum(axis=0) if count > 1 else np.zeros(())
    weight = np.vectorize(lambda k: factorial(k) * factorial(count - 1 - k) / factorial(count))(
        others.astype(int)
    )
    rows, whole = {}, np.log(size.flat[0] / size.flat[-1])
    for axis, name in enumerate(names):
        without, taken = np.moveaxis(size, axis, 0)
        saved = 1 - taken / without
        rows[name] = {
            "first": saved.flat[0],
            "last": saved.flat[-1],
            "least": saved.min(),
            "most": saved.max(),
            "credit": float((weight * np.log(without / taken)).sum() / whole) if whole else 0.0,
        }
    return pd.DataFrame(rows, index=_SAVED).T.rename_axis("lever")
