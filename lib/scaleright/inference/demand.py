"""The utilization that a reader's traffic gives the engines of a chapter: that of a day of it, as
the chapter on the load of a day has it, for the chapter's own engine and requests.

Hours that a contract or an owner pays whatever happens stand day and night, as many as the busiest
time takes; others are given back as the load falls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

from scaleright.catalog import fact, shared
from scaleright.formulas import lookup
from scaleright.inference.curves import Curve
from scaleright.inference.day import DayEngine, Traffic, unhurried_s
from scaleright.inference.lengths import Load
from scaleright.inference.nodes import Paced
from scaleright.inference.traffic import (
    HOURS,
    PEAK,
    TRACES,
    WINDOWS_S,
    Fleet,
    bunching,
    peak_to_mean_of,
    spread_of,
    whole_engines,
)
from scaleright.market.paid import binds
from scaleright.ops import minimum, sqrt, where
from scaleright.quantity import choose, derived
from scaleright.ranges import Ends
from scaleright.training.goodput import available_share
from scaleright.units import HOURS_PER_DAY, SECONDS_PER_HOUR

UNKNOWN, STEADY = "unknown", "steady"
"""Traffic of which nothing is known, and one that comes by chance alone, day and night."""
FIRST_TOKEN_S = 2.0
"""Within which nineteen of twenty requests have their first token, where a case does not say
[s]."""
LIKE = "conversation"
"""The trace as whose lengths those of other requests spread."""
STARTUP_S = 600.0
"""From ordering an engine until it serves [s]."""
SPOT_MTBF_S = HOURS_PER_DAY * SECONDS_PER_HOUR
"""Between two interruptions of an engine on spot [s]."""
SOME_HOURS = HOURS[2::4]
"""Of a day, enough of them to tell how far another case lies apart."""
SPREAD = ("input_cv", "output_cv", "correlation")
"""What a `Load` knows of the spread of lengths."""
_FAR = 1e9
_WEEKDAY = "azure_week_{}_weekday_peak_to_trough"


@lookup
@shared
def kinds() -> Mapping[str, Mapping[str, Any]]:
    """Traffic by what a reader calls it: how it bunches, see `traffic.bunching`, the load of the
    busiest time of a weekday over its mean, peak_to_mean [1], and how the lengths of its requests
    spread, see `traffic.spread_of`.

    >>> {name: of["peak_to_mean"] for name, of in kinds().items()}
    {'unknown': 1.4, 'steady': 1.0, 'conversation': 1.4, 'code completion': 2.3, \
'long conversation': 1.4}
    """
    talk, code = (
        round(peak_to_mean_of(fact(_WEEKDAY.format(of))), 1) for of in ("conversation", "code")
    )
    calm = [0.0] * len(WINDOWS_S)
    found = {
        UNKNOWN: {"bunching": calm, "peak_to_mean": talk, **spread_of(LIKE)},
        STEADY: {"bunching": calm, "peak_to_mean": 1.0, **spread_of(LIKE)},
    }
    for name in TRACES:
        peak = code if name == "code completion" else talk
        found[name] = {"bunching": [*bunching(name)], "peak_to_mean": peak, **spread_of(name)}
    return MappingProxyType(found)


@lookup
def requests_of(
    traffic: Any, input_tokens: Any, output_tokens: Any, cached_share: Any = 0.0
) -> Load:
    """Requests so long in the mean, whose lengths spread as those of a traffic; of numbers, or of
    quantities, whose spread a chart may set.

    >>> requests_of("unknown", 2000, 500).input_cv == spread_of("conversation")["input_cv"]
    True
    """
    if isinstance(traffic, str):
        spread: list[Any] = [kinds()[traffic][of] for of in SPREAD]
    else:
        kind = choose(kinds(), traffic)
        spread = [derived(of, kind[of]) for of in SPREAD]
    return Load(input_tokens, output_tokens, cached_share, spread[0], spread[1], spread[2])


@lookup
def usual_peaks() -> dict[str, dict[str, float]]:
    """What follows the choice of a traffic."""
    return {name: {"peak_to_mean": of["peak_to_mean"]} for name, of in kinds().items()}


@lookup
def peak_spread() -> float:
    """How far the peak of a day lies above its mean where nobody has counted it, as a factor of
    what it rises: from the middle to either end of published days [azurellm2024].

    >>> 2.0 < peak_spread() < 2.5
    True
    """
    low, high = (
        peak_to_mean_of(fact(f"azure_week_{of}_peak_to_trough")) - 1
        for of in ("conversation_weekend", "code_weekday")
    )
    return sqrt(high / low)


class Batch(NamedTuple):
    """So many requests that run at once on so many chips [1], and whether they do (1 or 0)."""

    batch: Any
    chips: Any
    kept: Any = 1.0


@dataclass(frozen=True)
class Demand:
    """The traffic of a case, if it is known; numbers or quantities.

    known : whether it is [truth value]
    requests_per_day : [1/day]
    peak_to_mean : load of the busiest time over the mean of the day [1]
    bunching : of the traffic, see `traffic.bunching`
    long_over_mean : the prompt than which one in twenty is longer, over the mean [1]
    ttft_s : within which nineteen of twenty requests have their first token; within twice what one
        of the longest prompts takes with nobody waiting, if no engine is as quick [s]
    stands : whether paid hours stand day and night [truth value]
    available : share of its paid time in which an engine is up [1]
    spare_engines : that stand by, see `day.day_fleet` [1]
    """

    known: Any
    requests_per_day: Any
    peak_to_mean: Any
    bunching: Any
    long_over_mean: Any = 1.0
    ttft_s: Any = FIRST_TOKEN_S
    stands: Any = True
    available: Any = 1.0
    spare_engines: Any = 0.0

    @classmethod
    def of(cls, case: Any, contract: Any = None, own: Any = False) -> Demand:
        """That of a case: traffic, requests_per_day, peak_to_mean, and ttft_s and spare_engines if
        it has these.

        contract : by which hours are paid; none where chips are owned
        own : whether they are, if a case may have either [truth value]
        """
        kind = choose(kinds(), case.traffic)
        found = cls(
            case.traffic != UNKNOWN,
            case.requests_per_day,
            case.peak_to_mean,
            kind.bunching,
            kind.long_over_mean,
            getattr(case, "ttft_s", FIRST_TOKEN_S),
            spare_engines=getattr(case, "spare_engines", 0.0),
        )
        if contract is None:
            return found
        spot = where(own, False, contract == "spot")
        up = where(spot, available_share(STARTUP_S, SPOT_MTBF_S), 1.0)
        return replace(found, stands=where(own, True, binds(contract)), available=up)

    @classmethod
    def unknown(cls) -> Demand:
        """That of a case that says nothing of its traffic."""
        kind = kinds()[UNKNOWN]
        return cls(False, 1.0, kind["peak_to_mean"], kind["bunching"], kind["long_over_mean"])

    def peak_tokens_per_s(self, load: Load) -> Any:
        """Output tokens of the busiest time [token/s]."""
        return self._traffic(load).peak_per_s * load.output_tokens

    def part(self, share: Any) -> Demand:
        """That of so large a share of the requests [1], which come as all of them do."""
        return replace(self, requests_per_day=self.requests_per_day * share)

    def seated(self, one: Curve, of: Paced | Batch, load: Load) -> DayEngine:
        """An engine with as many seats as its batch, and its part of the chips that read prompts
        for it.
        """
        at, traffic = one.at(of.batch, load), self._traffic(load)
        alone_s = unhurried_s(one, at, load, traffic.long_tokens)
        promise_s = where(alone_s <= self.ttft_s, self.ttft_s, 2 * alone_s)
        seated = DayEngine.seated(one, of.batch, at, replace(traffic, ttft_s=promise_s))
        return replace(seated, kept=of.kept, chips=of.chips)

    def measured(self, chips: Any, batch: Any, requests_per_s: Any, load: Load) -> DayEngine:
        """One of which the speed was measured, and not how long its first token takes."""
        return DayEngine.measured(chips, batch, requests_per_s, 0.0, self._traffic(load))

    def _traffic(self, load: Load) -> Traffic:
        """What comes; engines are chosen by the pace before."""
        of = load.input_tokens * self.long_over_mean, self.bunching, 0.0, self.ttft_s
        return Traffic(self.requests_per_day, 0.0, self.peak_to_mean, load, *of)

    def fleet(self, engine: DayEngine, load: Load) -> Fleet:
        """The whole engines of a kind that it takes, for such requests."""
        traffic, spare = self._traffic(load), self.spare_engines
        peak = whole_engines(engine.needed(traffic.peak_per_s), self.available) + spare
        of = STARTUP_S / SECONDS_PER_HOUR, 1.0, self.available, traffic
        return Fleet(engine.of_many(peak), peak, *of, spare_engines=spare)

    def score(self, of: DayEngine, score: Any, load: Load) -> Any:
        """Of an engine among others, of which the highest is taken: one that keeps the promise of
        its first token, and where the traffic is known, the fewer chips its busiest time takes the
        higher.
        """
        if self.known is not False:
            fleet = self.fleet(of, load)
            score = where(self.known & (of.kept > 0), _FAR - fleet.peak * fleet.engine.chips, score)
        return where(self.early(of), score + _FAR, score)

    def early(self, of: DayEngine) -> Any:
        """Whether an engine keeps its pace and the promise of its first token [truth value]."""
        return (of.kept > 0) & (of.ttft_s <= self.ttft_s)

    def busy(
        self, engine: DayEngine, load: Load, as_set: Any, hours: Sequence[float] = HOURS
    ) -> Busy:
        """The utilization of a kind of engine: that of the traffic or, where none is known, as
        set.

        hours : of the day that are looked at, each of which stands for as many
        """
        return Busy(self, engine, load, as_set, hours)


@dataclass(frozen=True)
class Busy:
    """How busy engines are.

    demand : the traffic
    engine : their kind
    load : requests
    as_set : utilization where no traffic is known [1]
    hours : of the day that are looked at, each of which stands for as many
    """

    demand: Demand
    engine: DayEngine
    load: Load
    as_set: Any
    hours: Sequence[float] = HOURS

    @cached_property
    def fleet(self) -> Fleet:
        """The whole engines that the traffic takes."""
        return self.demand.fleet(self.engine, self.load)

    @cached_property
    def share(self) -> Any:
        """Utilization, as a quantity that charts, ends and cases may set as `load` [1]."""
        return derived(
            "load", where(self.demand.known, self._at(self.fleet, self.hours), self.as_set)
        )

    @property
    def standing(self) -> Any:
        """Utilization of owned engines, which stand day and night, beside `share` of others: as
        many of it as a fixed fleet has of one that is given back [1].
        """
        if self.demand.stands is True:
            return self.share
        part = self.fleet.scaled_hours / self.fleet.fixed_hours
        return self.share * where(self.demand.known, where(self.demand.stands, 1.0, part), 1.0)

    def at_speed(self, speed: Any) -> Any:
        """Utilization over `share` if the engines are so many times as fast [1]: a fleet of one is
        less busy then, and no cheaper.
        """
        of = self.engine
        engine = replace(
            of, requests_per_s=of.requests_per_s * speed, service_s=of.service_s / speed
        )
        here, there = self.fleet, self.demand.fleet(engine, self.load)
        ratio = self._at(there, SOME_HOURS) / self._at(here, SOME_HOURS)
        return where(self.demand.known, ratio, 1.0)

    def _at(self, fleet: Fleet, hours: Sequence[float]) -> Any:
        """That of a fleet as its hours are paid, if these stand for the day [1]."""
        fixed = fleet.utilization(fleet.fixed_hours)
        if self.demand.stands is True:
            return fixed
        scaled = fleet.utilization(fleet.scaled_hours_by(hours))
        return where(self.demand.stands, fixed, scaled)

    def ends(self, guessed: Ends) -> Ends:
        """Between which utilization lies: as the peaks of days differ where traffic gives it, and
        as a guess otherwise.
        """
        above, spread = self.demand.peak_to_mean - 1, peak_spread()
        here, some = self.demand, SOME_HOURS
        days = [
            replace(here, peak_to_mean=peak).fleet(self.engine, self.load)
            for peak in (minimum(1 + above * spread, PEAK.high), 1 + above / spread)
        ]
        wild, calm = (self.share * self._at(of, some) / self._at(self.fleet, some) for of in days)
        low, high = where(here.known, wild, guessed.low), where(here.known, calm, guessed.high)
        return Ends(self.share, low, high)

    def filled(self, case: Any) -> SimpleNamespace:
        """A case whose utilization is this."""
        return SimpleNamespace(**vars(case) | {"utilization": self.share})
