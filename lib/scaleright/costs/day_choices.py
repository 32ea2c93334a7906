"""What a day of traffic may choose from, as rows for `choose`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, product
from typing import Any, Self

import numpy as np

from scaleright.catalog import model as shape
from scaleright.catalog import shared
from scaleright.formulas import lookup, search
from scaleright.inference.day import DayEngine, DayFleet, Traffic, day_fleet
from scaleright.inference.engine_tables import engines_in
from scaleright.inference.formats import USUAL
from scaleright.inference.lengths import Load
from scaleright.inference.node_speed import Engines
from scaleright.inference.nodes import together
from scaleright.inference.prefix_cache import kept_share, stays_s
from scaleright.inference.traffic import TRACES, trace_terms
from scaleright.market import Hours
from scaleright.ops import where
from scaleright.order import noiseless
from scaleright.quantity import choose, given
from scaleright.training.goodput import available_share
from scaleright.units import HOURS_PER_DAY, SECONDS_PER_HOUR

_LENGTHS = ("input_tokens", "output_tokens", "input_cv", "output_cv", "correlation")
DAY_S = HOURS_PER_DAY * SECONDS_PER_HOUR
MINUTE_S = 60.0
ALL = "all"
"""The choice of a cache that keeps every prefix, as one beside the engines may."""
_PACE, _PROMISE_S, _TURNS = 30.0, 16.0, 12
"""Pace [token/s] and first token [s] at which the prefixes that fit are found, and turns of it."""


@dataclass(frozen=True)
class DayChoices:
    """Rows by what is chosen.

    engines : by model and accelerator, in the usual format
    traces : by trace, see `traffic.trace_terms`
    hours : what an hour of each accelerator costs
    kept : by model, accelerator and trace, the share of prefixes that fits, see `fitting`
    """

    engines: Engines
    traces: Mapping[str, Mapping[str, Any]]
    hours: Hours
    kept: Mapping[tuple[str, str, str], Mapping[str, Any]]

    @classmethod
    def of(cls, models: Sequence[str], accelerators: Sequence[str]) -> Self:
        """Those of some models on some accelerators."""
        traces = {name: trace_terms(name) for name in TRACES}
        shapes = {name: shape(name).name for name in models}  # releases of one shape are alike
        fits = _fitting(tuple(dict.fromkeys(shapes.values())), tuple(accelerators))
        kept = {
            (name, *key): {"kept": fits[shapes[name], *key]}
            for name in models
            for key in product(accelerators, traces)
        }
        return cls(Engines.of(models, accelerators, ()), traces, Hours(accelerators), kept)

    def usual(self) -> dict[str, dict[str, Any]]:
        """What follows the choice of a trace: the share of prompts that a cache would hold."""
        return {name: {"cached_share": of["cached_share"]} for name, of in self.traces.items()}

    def traffic(self, case: Any) -> Traffic:
        """The traffic of a case."""
        terms = choose(self.traces, case.trace)
        fits = choose(self.kept, case.model, case.accelerator, case.trace).kept
        kept = where(case.prefixes == ALL, 1.0, fits)
        load = _load(terms, case.cached_share * kept)
        return Traffic(
            case.requests_per_day,
            case.waiting_share,
            case.peak_to_mean,
            load,
            terms.long_tokens,
            terms.bunching,
            case.pace_tokens_per_s,
            case.ttft_s,
        )

    def up_on_spot(self, case: Any) -> Any:
        """Share of its paid time in which an engine on spot is up [1]."""
        often, startup_s = case.interruptions_per_day, MINUTE_S * case.startup_minutes
        some = where(often > 0, often, 1.0)
        return where(often > 0, available_share(startup_s, DAY_S / some), 1.0)

    def fleet(self, case: Any) -> DayFleet:
        """The fleet of a case; what is on spot is up for a part of its paid time alone."""
        return day_fleet(
            self.engines,
            (case.model, case.accelerator, USUAL),
            self.traffic(case),
            MINUTE_S * case.startup_minutes,
            case.least_engines,
            where(case.contract == "spot", self.up_on_spot(case), 1.0),
            case.spare_engines,
        )


def _load(terms: Mapping[str, Any], cached_share: Any) -> Load:
    """The lengths of a trace, at a share of prompts found in a cache."""
    lengths: dict[str, Any] = {of: terms[of] for of in _LENGTHS}
    return Load(**lengths, cached_share=cached_share)


@search
def fitting(model: str, accelerator: str, trace: str) -> float:
    """Share of what a cache of everything would hold of the prompts of a trace that the memory of
    an engine holds beside its requests at the busiest time [1]; 1 where there is no engine.

    Of the engines of a node that is which serves most for each chip; requests go to the engine that
    has their prefix.

    >>> 0.1 < fitting("Llama-3.3-70B", "H100 SXM", "long conversation") < 0.9
    True
    """
    return _fitting((model,), (accelerator,))[model, accelerator, trace]


@shared
def _fitting(
    models: tuple[str, ...], accelerators: tuple[str, ...]
) -> Mapping[tuple[str, str, str], float]:
    """That of some models on some accelerators for every trace, found at once."""
    every = {pair: engines_in(*pair)[1] for pair in product(models, accelerators)}
    found = {(*pair, trace): 1.0 for pair in every for trace in TRACES}
    if not any(every.values()):
        return found
    one, terms = together([*chain(*every.values())]), [trace_terms(name) for name in TRACES]
    of_each = {name: np.array([of[name] for of in terms]) for name in terms[0]}
    load = _load(of_each, of_each["cached_share"])
    of_traces = of_each["long_tokens"], of_each["bunching"].T[:, None]

    def filled(kept: Any) -> tuple[DayEngine, Any, Any]:
        """The engines, their requests per second, and the share of prefixes that they then keep."""
        now = replace(load, cached_share=load.cached_share * kept)
        of = DayEngine.of(one, Traffic(1.0, 0.0, 1.0, now, *of_traces, _PACE, _PROMISE_S))
        rate = of.filled * of.requests_per_s
        return of, rate, kept_share(stays_s(one, now, of.filled * of.seats, rate))

    of, rate, next_kept = filled(1.0)
    kept = (1.0 + next_kept) / 2
    for _ in range(_TURNS - 1):  # half of the way each turn, since less kept is more to keep
        of, rate, next_kept = filled(kept)
        kept = (kept + next_kept) / 2
    serves = (one.slots(load) >= 1) & (of.kept > 0)
    best = noiseless(np.where(serves, rate / of.chips, 0.0)).T.tolist()
    shares = kept.round(3).T.tolist()
    for at, trace in enumerate(TRACES):
        ranked = zip(best[at], shares[at], strict=True)
        for pair, engines in every.items():
            found[*pair, trace] = max([(0.0, 1.0), *islice(ranked, len(engines))])[1]
    return found


@lookup
def require_engine(
    model: str,
    accelerator: str,
    trace: str,
    prefixes: str,
    cached_share: float | None,
    pace_tokens_per_s: float,
    ttft_s: float,
) -> None:
    """Refuse a service that no engine of one node gives.

    Raises
    ------
    ValueError : no node holds the model or a request of the trace, none keeps the pace, or none
        reads a long prompt in time; says what would.
    """
    terms = trace_terms(trace)
    share = terms["cached_share"] if cached_share is None else cached_share
    kept = 1.0 if prefixes == ALL else fitting(model, accelerator, trace)
    load = _load(terms, share * kept)
    own = engines_in(model, accelerator)[1]
    if not own or all(one.slots(load) < 1 for one in own):
        raise ValueError("no node of it holds the model and a request; choose another accelerator")
    terms = terms["long_tokens"], terms["bunching"]
    asked = Traffic(1.0, 0.0, 1.0, load, *terms, pace_tokens_per_s, ttft_s)
    every = [DayEngine.of(one, asked) for one in own]
    if any(one.kept for one in every):
        return
    in_time = [float(one.ttft_s) for one in every if one.ttft_s < float("inf")]
    if not in_time:
        alone = max(1 / float(one.at(1.0, load).tpot_s) for one in own if one.slots(load) >= 1)
        raise ValueError(
            f"no engine of one node writes so many tokens a second; the fastest writes {alone:.3g}"
            " to one reader alone"
        )
    raise ValueError(
        "one in twenty prompts is longer than"
        f" {terms[0]:,.0f} tokens, and the quickest engine needs {min(in_time):.2g} s for the first"
        " token of that with nobody waiting; promise that or more, or take a faster accelerator"
    )


@lookup
def idle_share(model: str, accelerator: str, trace: str, requests_per_day: float) -> float:
    """Share of its paid hours in which an autoscaled fleet writes nothing, on a usual weekday of
    the trace's kind of service, with a first token within two seconds and thirty tokens a second
    [1].

    >>> 0.3 < idle_share("Llama-3.3-70B", "H100 SXM", "conversation", 1e6) < 0.5
    True
    """
    fleet = _usual_fleet(model, accelerator, trace, requests_per_day)
    return 1 - float(fleet.utilization(sum(fleet.hourly)).value)


@lookup
def engine_hours(model: str, accelerator: str, trace: str, requests_per_day: float) -> float:
    """Hours of engines that such a fleet pays for in a day, see `idle_share` [h].

    >>> day = "Llama-3.3-70B", "H100 SXM", "conversation"
    >>> 1.5 < engine_hours(*day, 2e6) / engine_hours(*day, 1e6) < 2.0
    True
    """
    hours: Any = sum(_usual_fleet(model, accelerator, trace, requests_per_day).hourly)
    return float(hours.value)


def _usual_fleet(model: str, accelerator: str, trace: str, requests_per_day: float) -> DayFleet:
    """The autoscaled fleet of `idle_share`."""
    terms = trace_terms(trace)
    load = _load(terms, terms["cached_share"])
    of = load, terms["long_tokens"], terms["bunching"]
    traffic = Traffic(given("requests_per_day", requests_per_day), 0.0, 1.4, *of, 30.0, 2.0)
    engines = Engines.of((model,), (accelerator,), ())
    return day_fleet(engines, (model, accelerator, USUAL), traffic, 600.0)
