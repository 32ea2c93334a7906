"""The levers on the cost of serving one after the other, as quantities: which are taken, and what
fleet is left, follow every input.

What a lever saves depends on what was done before it: a group that stands half empty costs no less
when its model is made faster, and one that waits for the longest answer of a batch gains less from
a cached prompt.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import factorial
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from scaleright.catalog import accelerator, fact, model, shared
from scaleright.formulas import lookup, search
from scaleright.inference.curves import APART, IN_STEPS, Curve, curves
from scaleright.inference.day import longer_read_s, unhurried_s
from scaleright.inference.demand import kinds, requests_of
from scaleright.inference.deployment import NEEDS, Deployment
from scaleright.inference.engine_tables import apart_places, curve_at
from scaleright.inference.fleet import whole_groups
from scaleright.inference.formats import FORMATS, NO_FORMAT, Formats, offered, quality_loss
from scaleright.inference.lengths import Load
from scaleright.inference.nodes import engines_like, fastest, static_rate
from scaleright.inference.slowdowns import borrowed, slowdowns
from scaleright.ops import where
from scaleright.quantity import Quantity, all_at, choose, evaluate, given, least, look_up
from scaleright.quantity.graph import value_of
from scaleright.transformer import bytes_per_parameter, parameters

# Groups of chips as a page carries them: the curve of each model on each accelerator, in each
# format in which the levers leave it


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


SOFTWARE = "vLLM 0.17.0"
STEPS = ("decoding", "reading", "grouped", "each_s", "reader_s")
"""Columns of a curve that depend on how weights are stored and multiplied."""
CACHE = (
    *("chips", "replicas", "waiting", "budget", "most", "near", "window"),
    *("look", "read", "hold", "reader"),
)
"""Columns that depend on what sequences keep, and on the chips of the engine."""
DENSE, SPARSE = "dense", "2:4"


@lookup
def sparse_slowdowns(deployment: Deployment) -> dict[str, float]:
    """The `slowdowns` of a deployment whose products with weights skip two of four."""
    slow = slowdowns(deployment)
    return {**slow, "matmul": slow["matmul"] / fact("sparse_throughput_ratio")}


@lookup
def lever_formats(chip_name: str) -> dict[str, str]:
    """Formats of weights to which the levers bring a model on an accelerator that multiplies 8
    bits: `eight` and `four`.

    >>> lever_formats("A100 SXM 80GB"), lever_formats("B200")
    ({'eight': 'INT8', 'four': 'INT4'}, {'eight': 'FP8', 'four': 'NVFP4'})
    """
    chip = accelerator(chip_name)
    four = ("NVFP4", "INT4") if chip.vendor == "NVIDIA" else ("INT4",)
    wanted = {"eight": ("FP8", "INT8"), "four": four}
    return {
        bits: next(form for form in forms if NEEDS[form] in chip.dense)
        for bits, forms in wanted.items()
    }


def _row(
    found: Sequence[Curve], columns: Sequence[str], most: int, apart: Collection[int]
) -> dict[str, Any]:
    """Columns of the curves of so many engines at most, at some places with those that read prompts
    for them; of one that is not there only that it holds no sequence.
    """
    row: dict[str, Any] = {}
    for place in range(most):
        one = found[place] if found[place:] else None
        for column in columns:
            if column in APART and place not in apart:
                continue
            told = getattr(one or found[0], column)
            told = [*IN_STEPS] if told is None else told
            none = [float("nan")] * len(told) if isinstance(told, list) else 1.0
            row[f"{column} {place}"] = told if one else none
    return row


@search
@shared
def group_rows(
    models: tuple[str, ...], accelerators: tuple[str, ...]
) -> tuple[Mapping[tuple[str, ...], dict], Mapping[tuple[str, ...], dict]]:
    """Rows for `choose` of groups of chips, the engines of `nodes.engines_like`: each number of a
    `Curve` with the place of the engine in its name.

    Returns
    -------
    steps : by model, accelerator, format of the weights, and whether products are sparse
    cache : by model, accelerator, format of the weights, and that of the cache

    >>> steps, cache = group_rows(("Llama-3.1-8B",), ("H100 SXM",))
    >>> [key[2:] for key in steps][:3], len(steps["Llama-3.1-8B", "H100 SXM", "FP8", "2:4"])
    ([('BF16', 'dense'), ('BF16', '2:4'), ('FP8', 'dense')], 12)
    """
    found = {}
    for name, chip_name in product(models, accelerators):
        shape, chip = model(name), accelerator(chip_name)
        for form in dict.fromkeys((*offered(shape, chip), *lever_formats(chip_name).values())):
            one = Deployment(shape, chip, form, software=SOFTWARE, kv_precision="BF16")
            if group := engines_like(one):
                found[name, chip_name, form] = group
    known = {key: curves(group) for key, group in found.items()}
    steps, cache, most = {}, {}, max(map(len, found.values()), default=1)
    apart = apart_places(known.values())
    for key, group in found.items():
        plain, one = known[key], group[0]
        steps[*key, DENSE] = _row(plain, STEPS, most, apart)
        cache[*key, "BF16"] = _row(plain, CACHE, most, apart)
        if can_be_sparse(one):
            steps[*key, SPARSE] = _row(curves(group, sparse_slowdowns(one)), STEPS, most, apart)
        if "fp8" in one.chip.dense:
            kept = curves([replace(d, kv_precision="FP8") for d in group])
            cache[*key, "FP8"] = _row(kept, CACHE, most, apart)
    return MappingProxyType(steps), MappingProxyType(cache)


CHANGES = {
    "smaller model": "model",
    "8-bit weights": "form",
    "4-bit weights": "form",
    "2:4 pruning": "products",
    "continuous batching": "continuous",
    "prefix caching": "cached",
    "8-bit KV cache": "cache",
    "LoRA adapters": "adapters",
    "answer caching": "answers",
    "pooling": "pooled",
}
"""What each lever changes."""
_GROUPS = {
    "model": "",
    "form": "",
    "products": DENSE,
    "cache": "BF16",
    "cached": 0.0,
    "continuous": True,
}
"""What tells groups of chips apart; all else is a matter of the fleet."""

STATE = ("adapters", "answers", "pooled")
"""What of a state is a matter of the fleet."""


@dataclass(frozen=True)
class Fleet:
    """What a fleet is asked for and how it is run today; numbers and words, or quantities.

    model, smaller, accelerator, precision : words
    load, tpot_s : lengths without a cache of prefixes, and most time between two tokens [s]
    long_tokens, ttft_s : the prompt than which one in twenty is longer [token], and within which
        nineteen of twenty requests have their first token [s]
    continuous, batch : whether a request joins when another leaves [truth value]; if not, requests
        of a batch [1]
    requests_per_s : mean demand over all streams [1/s]
    peak_to_mean, together : of one stream, and the correlation of the streams [1]
    services, variants : applications, and fine-tuned variants of the model that each uses; their
        product is the streams [1]
    prefix_share, repeated_share : of prompts' tokens found in a cache; of requests whose answer is
        [1]
    allowed_loss : most that published losses of quality may add up to [1]
    """

    model: Any
    smaller: Any
    accelerator: Any
    precision: Any
    load: Load
    tpot_s: Any
    long_tokens: Any
    ttft_s: Any
    continuous: Any
    batch: Any
    requests_per_s: Any
    peak_to_mean: Any
    together: Any
    services: Any
    variants: Any
    prefix_share: Any
    repeated_share: Any
    allowed_loss: Any

    @classmethod
    def of(cls, case: Any) -> Self:
        """The fleet of a chapter's case."""
        made = {
            "load": requests_of(case.traffic, case.input_tokens, case.output_tokens),
            "tpot_s": case.tpot_ms / 1e3,
            "long_tokens": case.input_tokens * choose(kinds(), case.traffic).long_over_mean,
            "continuous": case.batching == "continuous",
            "batch": where(case.batching == "one at a time", 1.0, case.static_batch),
        }
        names = (name for name in cls.__dataclass_fields__ if name not in made)
        return cls(**made, **{name: getattr(case, name) for name in names})

    def chips(self, served: Sequence[tuple[Any, Any]], state: Mapping[str, Any]) -> Any:
        """Chips of the smallest fleet of whole groups [1]; NaN where none serves any.

        served : chips of each group [1], and the requests that it serves at most [1/s]
        state : `STATE`: 1 where variants are adapters to one model, known answers
            are used again, services share a fleet; else 0
        """
        services, variants = self.services - 1, self.variants - 1
        streams = (1 + services * state["pooled"]) * (1 + variants * state["adapters"])
        pools = self.services * self.variants / streams
        demand = self.requests_per_s * (1 - self.repeated_share * state["answers"])
        return whole_groups(served, demand, self.peak_to_mean, self.together, streams, pools).chips


class Grouped(NamedTuple):
    """Groups of chips in a state: chips of each [1] and requests per second [1/s], NaN where one
    does not keep the pace, or another one alone keeps the promise of the first token; and whether
    any keeps both.
    """

    served: Sequence[tuple[Any, Any]]
    kept: Any


class Groups:
    """Groups of chips in any state in which the levers leave them.

    served, first_s, alone_s : of each, its chips [1] and the requests that it serves at most [1/s];
        the first token that it promises [s]; the time of a token where one request is alone [s];
        NaN where it serves none
    """

    def __init__(self, of: Fleet, models: Sequence[str], chips: Sequence[str]):
        steps, cache = group_rows(tuple(models), tuple(chips))
        now = {name: given(f"group {name}", value) for name, value in _GROUPS.items()}
        key = now["model"], of.accelerator, now["form"]
        none = "no such group"
        rows = dict(choose(steps, *key, now["products"], otherwise=none))
        rows |= dict(choose(cache, *key, now["cache"], otherwise=none))
        load = replace(of.load, cached_share=now["cached"])
        limits = {name: {"tokens": model(name).max_context} for name in models}
        limit = choose(limits, now["model"], otherwise=none).tokens
        length = load.input_tokens + load.output_tokens
        within = where(limit > 0, length <= limit, limit == 0)  # 0: not published
        self.promise_s = of.ttft_s
        self.served, self.alone_s = list[tuple[Any, Any]](), list[Any]()
        self.first_s = list[Any]()
        for place in range(sum(name.startswith("chips ") for name in rows)):
            one = curve_at(rows, place)
            alone = one.at(1.0, load).tpot_s
            self.alone_s.append(where(within & (one.slots(load) >= 1), alone, float("nan")))
            batched, waits_s = static_rate(one, load, of.batch, of.tpot_s)
            best = fastest([one], load, of.tpot_s)
            joined = best.tokens_per_s * best.chips / load.output_tokens
            joined = where(best.kept > 0, joined, float("nan"))
            first_s = unhurried_s(one, one.at(best.batch, load), load, of.long_tokens)
            waits_s = waits_s + longer_read_s(one, load, of.long_tokens)
            self.first_s.append(where(now["continuous"], first_s, waits_s))
            most = where(now["continuous"], joined, batched)
            apart = one.reader is not None
            chips = where(now["continuous"], best.chips, one.chips) if apart else one.chips
            self.served.append((chips, where(within, most, float("nan"))))

    def at(self, state: Mapping[str, Any]) -> Grouped:
        """Those of a state; of one that is known they are numbers."""
        there = {f"group {name}": state[name] for name in _GROUPS}
        (sizes, rates), many = zip(*self.served, strict=True), len(self.served)
        follows = any(isinstance(of, Quantity) for of in there.values())
        made = (all_at if follows else evaluate)([*sizes, *rates, *self.first_s], there)
        found, kept = [], False
        for size, rate, first_s in zip(made[:many], made[many:-many], made[-many:], strict=True):
            early = first_s <= self.promise_s
            kept = where(rate > 0, early, False) | kept
            found.append((size, rate, early))
        return Grouped(
            tuple((n, where(early | ~kept, rate, float("nan"))) for n, rate, early in found), kept
        )

    def quickest_s(self, state: Mapping[str, Any]) -> Any:
        """Least time of a token, where a request is alone [s]; NaN where no group holds it."""
        there = {f"group {name}": state[name] for name in _GROUPS if name != "continuous"}
        made = all_at(self.alone_s, there)
        return least({f"{n}": of for n, of in enumerate(made)})[1]


@lookup
def _losses(models: Sequence[str], chips: Sequence[str]) -> dict[tuple[str, str, str], dict]:
    """Published loss of each lever that has one, by lever, model and accelerator [1]."""
    found = {}
    for name in models:
        size = float(parameters(model(name)).total)
        for chip in chips:
            forms = {
                "smaller model": "",
                "8-bit weights": lever_formats(chip)["eight"],
                "4-bit weights": lever_formats(chip)["four"],
                "2:4 pruning": "",
                "8-bit KV cache": "",
            }
            for lever, form in forms.items():
                found[lever, name, chip] = {"loss": quality_loss(lever, form, size)}
    return found


class Levers:
    """What each lever needs, changes and costs in quality on the accelerators and models that may
    be chosen.
    """

    def __init__(self, of: Fleet, models: Sequence[str], chips: Sequence[str]):
        told = {}
        for name in chips:
            forms = lever_formats(name)
            size = {f"{bits} bytes": bytes_per_parameter(form) for bits, form in forms.items()}
            told[name] = forms | size | {"fp8": "fp8" in accelerator(name).dense}
        served = {
            (name, chip): Deployment(model(name), accelerator(chip), software=SOFTWARE)
            for name in models
            for chip in chips
        }
        self.pairs = {
            pair: {
                "sparse": can_be_sparse(one),
                "context": one.model.max_context,
            }
            for pair, one in served.items()
        }
        self.lent = {
            (*pair, form): {"words": borrowed(replace(one, precision=form))}
            for pair, one in served.items()
            for form in offered(one.model, one.chip)
        }
        self.of, self.chip, self.losses = of, choose(told, of.accelerator), _losses(models, chips)

    def change(self, name: str, state: Mapping[str, Any]) -> tuple[Any, Any, Any]:
        """Whether a lever can be taken in a state, whether it changes nothing there, and the value
        to which it brings what it changes.
        """
        of, chip = self.of, self.chip
        size = look_up({form: bytes_per_parameter(form) for form in FORMATS}, state["form"])
        if name == "2:4 pruning":
            return choose(self.pairs, state["model"], of.accelerator).sparse, False, SPARSE
        return {
            "smaller model": (True, of.smaller == state["model"], of.smaller),
            "8-bit weights": (True, size <= chip["eight bytes"], chip.eight),
            "4-bit weights": (True, size <= chip["four bytes"], chip.four),
            "LoRA adapters": (of.variants > 1, False, 1.0),
            "continuous batching": (True, state["continuous"], True),
            "prefix caching": (of.prefix_share > 0, False, of.prefix_share),
            "answer caching": (of.repeated_share > 0, False, 1.0),
            "8-bit KV cache": (chip.fp8, False, "FP8"),
            "pooling": (of.services > 1, False, 1.0),
            "cost dashboard": (True, True, None),
        }[name]

    def loss(self, name: str, state: Mapping[str, Any]) -> Any:
        """Published loss of quality of a lever that leaves the groups in a state [1]."""
        if not any(name == lever for lever, *_ in self.losses):
            return 0.0
        return choose(self.losses, name, state["model"], self.of.accelerator).loss


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


@dataclass(frozen=True)
class Step:
    """A lever on the way up; the first is the service as it is, "today".

    name : of the lever
    can, same, taken : whether its conditions hold, whether it changes nothing, whether it is taken
        [truth values]
    before, chips : of the fleet before and after it [1]
    more : how much larger the fleet would be with it, as a share [1]
    lost : published loss of quality of this lever [1]; losses : of each lever that is taken [1]
    harmful, late : whether it would lose more than is allowed, and whether no group would keep the
        promise of the first token that one keeps before it [truth values]
    kept : whether one keeps that promise and the pace [truth value]
    served : chips of each group [1], and requests per second [1/s]
    state : of groups and fleet, by name
    """

    name: str
    can: Any
    same: Any
    taken: Any
    before: Any
    chips: Any
    more: Any
    lost: Any
    harmful: Any
    late: Any
    kept: Any
    losses: Mapping[str, Any]
    served: Sequence[tuple[Any, Any]]
    state: Mapping[str, Any]

    @property
    def saving(self) -> Any:
        """Share of the fleet before it [1]."""
        return 1 - self.chips / self.before

    @property
    def loss(self) -> Any:
        """Sum of the published losses of quality so far [1]."""
        return sum(self.losses.values(), 0.0)


class Ladder:
    """The levers one after the other, each taken if its conditions hold, its loss of quality is
    allowed, the first token comes in time as before, and the fleet gets no larger.

    steps : the service as it is, and a step for each lever
    weights, form : in which format the model is served today, and that alone, in words
    quickest_s : least time of a token today, NaN where no group holds a request [s]
    lent : whose constants the groups of today borrow, in words; empty where none
    context : tokens for which the model of today was made, 0 if that is not published [token]
    """

    def __init__(
        self,
        of: Fleet,
        models: Sequence[str],
        chips: Sequence[str],
        levers: Sequence[str],
        fixed: bool = False,
    ):
        """models, chips : that may be chosen, the smaller models among them; fixed : whether the
        case stays what it is, so that the state after each step is known: a fifth of the work.
        """
        self.fleet, self.groups, self.fixed = of, Groups(of, models, chips), fixed
        self.levers = Levers(of, models, chips)
        self.formats = Formats.of({name: name for name in models}, product(models, chips))
        weights = self.formats.weights(of.model, of.accelerator, of.precision, "")
        self.form, pair = weights.precision, choose(self.levers.pairs, of.model, of.accelerator)
        self.today = {"model": of.model, "form": self.form, "products": DENSE, "cache": "BF16"}
        self.today |= {"cached": 0.0, "continuous": of.continuous}
        self.today |= dict.fromkeys(STATE, 0.0)
        self.today = self._known(self.today)
        key, self.context = (of.model, of.accelerator, self.form), pair.context
        lent = choose(self.levers.lent, *key, otherwise=NO_FORMAT)
        self.lent, self.weights = lent.words, replace(weights, lacking=lent.why)
        self.quickest_s = self.groups.quickest_s(self.today)
        served, kept = self.groups.at(self.today)
        count = of.chips(served, self.today)
        taken = True, True, True, count, count, 0.0, 0.0, False, False
        self.steps = [Step("today", *taken, kept, {}, served, self.today)]
        for name in levers:
            self.steps.append(self.after(self.steps[-1], name))

    def _known(self, state: Mapping[str, Any]) -> dict[str, Any]:
        return {of: value_of(it) if self.fixed else it for of, it in state.items()}

    def after(self, last: Step, name: str) -> Step:
        """What a lever makes of a step."""
        can, same, value = self.levers.change(name, last.state)
        key = CHANGES.get(name, "")
        state = self._known({**last.state, key: value} if key else last.state)
        of = Grouped(last.served, last.kept)
        served, kept = self.groups.at(state) if key in _GROUPS else of
        chips, lost = self.fleet.chips(served, state), self.levers.loss(name, state)
        losses = {**last.losses, name: lost}
        if name == "4-bit weights" and "8-bit weights" in losses:
            losses["8-bit weights"] = 0.0  # whose loss that of 4 bits takes the place of
        loss = sum(losses.values())
        harmful = loss > self.fleet.allowed_loss + 1e-9
        late = where(kept, False, last.kept)
        fewer = (chips <= last.chips) & ((chips < last.chips) | (loss <= last.loss))
        taken = where(can, where(same, False, where(harmful | late, False, fewer)), False)
        return Step(
            name,
            can,
            same,
            taken,
            last.chips,
            where(taken, chips, last.chips),
            chips / last.chips - 1,
            lost,
            harmful,
            late,
            where(taken, kept, last.kept),
            {of: where(taken, new, last.losses.get(of, 0.0)) for of, new in losses.items()},
            tuple(
                (where(taken, n, chips_before), where(taken, most, most_before))
                for (n, most), (chips_before, most_before) in zip(served, last.served, strict=True)
            ),
            self._known(
                {
                    of: where(taken, state[of], old) if of == key else old
                    for of, old in last.state.items()
                }
            ),
        )

    @property
    def quality_then(self) -> Any:
        """What the format costs in quality in which the last step serves its model, in words."""
        state = self.steps[-1].state
        return self.formats.quality.row(state["model"], state["form"]).words

    @property
    def too_long(self) -> Any:
        """Whether requests are longer than those for which the model of today was made."""
        length = self.fleet.load.input_tokens + self.fleet.load.output_tokens
        return (self.context > 0) & (length > self.context)

    @property
    def taken(self) -> list[str]:
        """Names of the levers that are taken at the case."""
        return [step.name for step in self.steps[1:] if step.taken.value]

    @search
    def orders(self, names: Sequence[str]) -> pd.DataFrame:
        """What each lever saves by when it is taken, over all orders at once; see `by_order`.

        names : of levers, each taken whether or not it pays
        """
        state, picked = dict(self.today), np.array(list(np.ndindex((2,) * len(names))))
        for place, name in enumerate(names):
            *_, value = self.levers.change(name, state)
            of = given(f"taken {place}", True)
            state[CHANGES[name]] = where(of, value, state[CHANGES[name]])
        count = self.fleet.chips(self.groups.at(state).served, state)
        every = {f"taken {place}": picked[:, place] > 0 for place in range(len(names))}
        (size,) = evaluate([count], every)
        return by_order(names, np.reshape(size, (2,) * len(names)))
