"""Traffic: the requests of published traces, how far they bunch, and a day of them.

A day is a published hour, again and again, at the rate that a clock gives it. What bunches in the
hour bunches in the day: if twice as many people ask, they still come together, so that the share by
which a minute misses the mean stays, while the chance of single arrivals (Poisson) averages out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from scaleright import catalog
from scaleright.formulas import (
    FRACTION,
    NON_NEGATIVE,
    POSITIVE,
    Domain,
    closed_form,
    lookup,
    simulation,
)
from scaleright.inference.engine_events import Request
from scaleright.inference.lengths import Load, trace
from scaleright.names import one_of
from scaleright.ops import ceil, cos, exp, floor, item, log, log2, maximum, minimum
from scaleright.units import HOURS_PER_DAY, SECONDS_PER_HOUR

TRACES = MappingProxyType(
    {
        "conversation": "azure conversation",
        "code completion": "azure code",
        "long conversation": "mooncake conversation",
    }
)
"""Traces whose requests are known one by one, by what a reader calls them."""
WINDOWS_S = tuple(2.0**power for power in range(9))
"""Windows in which requests are counted to see how they bunch, from one second to four minutes."""
NINETEEN_OF_TWENTY = 1.645
"""Standard deviations of a normal distribution that nineteen of twenty draws stay below."""
SPREAD_GAPS = 10.0
"""Mean gaps of a trace over which the copies of one of its requests are spread, where the reader
has more traffic than it."""
PEAK = Domain(1.0, 6.0, (1.0, 6.0))
HOUR = Domain(-24.0, 48.0, (0.0, 24.0))
PEAK_HOUR = 14.0
"""The hour of the day at which most comes; it only names the hours."""
_NEWTON = 2


@dataclass(frozen=True)
class Hour:
    """The requests of a published hour.

    arrival_s : when they came [s]
    input_tokens, output_tokens, cached_tokens : of each [token]
    """

    arrival_s: np.ndarray
    input_tokens: np.ndarray
    output_tokens: np.ndarray
    cached_tokens: np.ndarray

    @property
    def requests_per_s(self) -> float:
        """Mean rate [1/s]."""
        return len(self.arrival_s) / float(self.arrival_s[-1])

    @property
    def cached_share(self) -> float:
        """Share of all prompts that a cache of prefixes would hold, if it keeps all [1]."""
        return float(self.cached_tokens.sum() / self.input_tokens.sum())


@lookup
@catalog.shared
def hour_of(name: str) -> Hour:
    """The requests of a trace.

    Raises
    ------
    LookupError : no such trace; the nearest names are offered.

    >>> hour = hour_of("long conversation")
    >>> len(hour.arrival_s), 3 < hour.requests_per_s < 4, round(hour.cached_share, 2)
    (12031, True, 0.37)
    """
    file = TRACES[one_of(name, [*TRACES], "trace of requests")].replace(" ", "_")
    rows = catalog.table(f"traces/{file}").sort_values("request")
    columns = ("arrival_s", "input_tokens", "output_tokens", "cached_tokens")
    return Hour(*(rows[column].to_numpy() for column in columns))


@lookup
@catalog.shared
def load_of(name: str) -> Load:
    """The lengths of the requests of a trace, with the share of its prompts that is cached.

    >>> load = load_of("long conversation")
    >>> round(load.input_tokens), round(load.new_tokens)
    (12035, 7534)
    """
    return replace(trace(TRACES[name]), cached_share=round(hour_of(name).cached_share, 3))


@lookup
@catalog.shared
def bunching(name: str) -> tuple[float, ...]:
    """How far the load swings in windows of each of `WINDOWS_S` [1]: how far that load lies above
    the mean which one in twenty requests meets or exceeds, over the mean, in standard deviations
    of a normal distribution, squared; less what single arrivals explain, and no less than in a
    window twice as long.

    It is the variance of a load that is normal. Bursts are not: most requests of code completion
    come in few of its seconds.

    >>> calm, wild = bunching("conversation"), bunching("code completion")
    >>> 0.05 < calm[4] < 0.1, wild[4] > 10, len(calm) == len(WINDOWS_S)
    (True, True, True)
    """
    times, found = hour_of(name).arrival_s, list[float]()
    for window in WINDOWS_S:
        counts = np.bincount((times[times < times[-1] // window * window] // window).astype(int))
        mean = counts.mean()
        met = np.quantile(np.repeat(counts, counts), 0.95) / mean - 1
        found.append(float((met / NINETEEN_OF_TWENTY) ** 2 - 1 / mean))
    least = [max(found[place:]) for place in range(len(found))]
    return tuple(float(f"{max(value, 0.0):.4g}") for value in least)


@lookup
def bunching_in(values, window_s):
    """The `bunching` of a window of any length, on straight lines over its logarithm [1].

    values : that of each of `WINDOWS_S`; window_s : the window [s]

    >>> bunching_in([8.0, 4.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1.0, 0.5], 1.0)
    8.0
    """
    last = len(WINDOWS_S) - 1.0
    place = minimum(maximum(log2(window_s), 0.0), last)
    below = minimum(floor(place), last - 1)
    return item(values, below) + (item(values, below + 1) - item(values, below)) * (place - below)


@closed_form(peak_to_mean=PEAK)
def concentration(peak_to_mean):
    """How far a day gathers around its busiest time: the k of a load in proportion to exp(k cos t)
    whose busiest time has so many times the mean [1].

    peak_to_mean : load of the busiest time over the mean of the day [1]

    Source: the mean of exp(k cos t) is the Bessel function I0(k); solved by Newton's rule.

    >>> round(concentration(1.7), 3), concentration(1.0)
    (0.626, 0.0)
    """
    above = peak_to_mean - 1
    found = above * (0.952 + above * (0.03 * above - 0.092))  # within a twentieth of it
    for _ in range(_NEWTON):
        mean, slope = _bessel(found)
        miss = found - log(mean) - log(peak_to_mean)
        found = found - miss / maximum(1 - slope / mean, 1e-6)
    return found


_COSINES = tuple(round(math.cos(math.pi * place / 12), 6) for place in range(1, 12))
_ANGLE = round(2 * math.pi / HOURS_PER_DAY, 6)
"""With as many digits as a page is told."""


def _bessel(k):
    """I0(k) and I1(k), by the trapezoidal rule over the hours of a day, exact to many digits."""
    first, last = exp(k), exp(-k)
    mean, slope = first + last, first - last
    for cosine in _COSINES:
        term = 2 * exp(k * cosine)
        mean, slope = mean + term, slope + cosine * term
    return mean / 24, slope / 24


@closed_form(hour=HOUR, peak_to_mean=PEAK)
def load_at(hour, peak_to_mean):
    """Load at an hour of the day over the mean of the day [1].

    Parameters
    ----------
    hour : of the day; most comes at `PEAK_HOUR` [h]
    peak_to_mean : load of the busiest time over the mean [1]

    Source: a cosine in the logarithm (von Mises), the least that has a day's period, one peak and
    nowhere less than nothing; `load_of_a_day.evidence` holds it against a published week.

    >>> round(load_at(14.0, 1.7), 2), round(load_at(2.0, 1.7), 2)
    (1.7, 0.49)
    """
    return load_gathered(hour, peak_to_mean, concentration(peak_to_mean))


@closed_form(hour=HOUR, peak_to_mean=PEAK, gathered=Domain(0.0, 8.0, (0.0, 8.0)))
def load_gathered(hour, peak_to_mean, gathered):
    """`load_at` of a day whose `concentration` is known [1].

    >>> round(load_gathered(14.0, 1.7, 0.626), 2)
    1.7
    """
    away = cos(_ANGLE * (hour - PEAK_HOUR)) - 1
    return peak_to_mean * exp(gathered * away)


@lookup
def peak_to_mean_of(peak_to_trough: float) -> float:
    """Load of the busiest time over the mean, of a day whose busiest hour has so many times the
    requests of its quietest [1].

    >>> round(peak_to_mean_of(2.0), 2), round(peak_to_mean_of(10.0), 2)
    (1.37, 2.33)
    """
    low, high = 1.0, 6.0
    for _ in range(60):
        middle = (low + high) / 2
        flat = middle / load_at(PEAK_HOUR - 12, middle) < peak_to_trough
        low, high = (middle, high) if flat else (low, middle)
    return low


@simulation
def requests(
    name: str,
    requests_per_s: Sequence[float],
    stretch_s: float = SECONDS_PER_HOUR,
    seed: int = 0,
    cached_share: float | None = None,
) -> list[Request]:
    """Requests of a trace at the reader's rate, stretch after stretch.

    A slower rate leaves some out at random; a faster one copies them, each copy a little before or
    after and with the lengths of another, so that what comes together still does.

    Parameters
    ----------
    name : of the trace, see `TRACES`
    requests_per_s : mean rate of each stretch [1/s]
    stretch_s : length of a stretch [s]
    seed : of what is drawn
    cached_share : of every prompt, instead of what the trace has [1]

    >>> made = requests("conversation", [2.0, 4.0], 600.0)
    >>> 1000 < sum(one.arrival_s < 600 for one in made) < 1400
    True
    """
    of = hour_of(name)
    draw = np.random.default_rng(seed)
    length_s, mean = float(of.arrival_s[-1]), of.requests_per_s
    found = []
    for number, rate in enumerate(requests_per_s):
        start = float(draw.uniform(0.0, length_s))
        turned = (of.arrival_s - start) % length_s
        rounds = math.ceil(stretch_s / length_s)
        inside = np.concatenate([turned + length_s * round_ for round_ in range(rounds)])
        inside = inside[inside < stretch_s]
        copies = rate / mean
        many = np.floor(copies) + (draw.random(len(inside)) < copies % 1)
        times = np.repeat(inside, many.astype(int))
        if copies > 1:
            gap = SPREAD_GAPS / mean
            times = (times + draw.uniform(-gap / 2, gap / 2, len(times))) % stretch_s
        found.append(np.sort(times) + number * stretch_s)
    times = np.concatenate(found)
    which = draw.integers(0, len(of.arrival_s), len(times))
    prompts, cached = of.input_tokens[which].astype(int), of.cached_tokens[which].astype(int)
    if cached_share is not None:
        cached = np.minimum(np.rint(prompts * cached_share).astype(int), prompts - 1)
    fresh = prompts - cached
    lengths = (fresh.tolist(), cached.tolist(), of.output_tokens[which].tolist())
    return [Request(*each) for each in zip(times.tolist(), *lengths, strict=True)]


@lookup
@catalog.shared
def spread_of(name: str) -> Mapping[str, float]:
    """How the lengths of a trace's requests spread: input_cv, output_cv and correlation, see
    `lengths.Load`, and the prompt than which one in twenty is longer over the mean, long_over_mean
    [1].

    >>> round(spread_of("conversation")["long_over_mean"], 2)
    3.54
    """
    terms = trace_terms(name)
    found = {of: round(terms[of], 4) for of in ("input_cv", "output_cv", "correlation")}
    return MappingProxyType(
        found | {"long_over_mean": round(terms["long_tokens"] / terms["input_tokens"], 4)}
    )


@lookup
def trace_terms(name: str) -> dict[str, Any]:
    """What a day needs to know of a trace: the numbers of its `Load`, the prompt than which one in
    twenty is longer (long_tokens) [token], and how it bunches.

    >>> terms = trace_terms("code completion")
    >>> round(terms["long_tokens"]), terms["cached_share"], len(terms["bunching"])
    (7303, 0.0, 9)
    """
    load, hour = load_of(name), hour_of(name)
    long = float(np.quantile(hour.input_tokens, 0.95))
    lengths = ("input_tokens", "output_tokens", "cached_share", "input_cv", "output_cv")
    return {
        **{of: float(getattr(load, of)) for of in (*lengths, "correlation")},
        "long_tokens": round(long, 1),
        "bunching": [*bunching(name)],
    }


# The whole engines of a fleet, hour by hour: what is paid for them, and how busy they are


HOURS = tuple(float(hour) for hour in range(int(HOURS_PER_DAY)))
FILL = 0.95
"""Share of a full engine's speed that work which can wait reaches: with a queue that never ends the
simulation writes 97 % of what the steady state says, since seats change hands between steps."""


@closed_form(engines=NON_NEGATIVE, available=FRACTION)
def whole_engines(engines, available):
    """Whole engines of which so many are up on average, one at least [1].

    available : share of its paid time in which each is [1]

    >>> whole_engines(4.2, 1.0), whole_engines(4.2, 0.8), whole_engines(0.1, 1.0)
    (5.0, 6.0, 1.0)
    """
    return maximum(ceil(engines / available - 1e-9), 1.0)


@closed_form(per_day=NON_NEGATIVE, full_per_s=POSITIVE, paid_hours=POSITIVE)
def utilization_of(per_day, full_per_s, paid_hours):
    """What is served in a day over what its paid hours could serve [1]; above 1 they are too few.

    Parameters
    ----------
    per_day : requests, or tokens, of a day [1/day]
    full_per_s : what one engine, or one accelerator, serves of these at full load [1/s]
    paid_hours : of all of them in a day [h/day]

    >>> utilization_of(86.4e6, 1000.0, 96.0)
    0.25
    """
    return per_day / (full_per_s * paid_hours * SECONDS_PER_HOUR)


@dataclass(frozen=True)
class Fleet:
    """The whole engines of a day.

    engine : their kind, a `day.DayEngine`; NaN where none keeps what is promised
    peak : engines that the busiest time takes [1]
    ahead_h : how long before it is needed an engine is ordered: as long as it takes to start [h]
    least : engines that always run [1]
    available : share of its paid time in which an engine is up [1]
    traffic : what comes, a `day.Traffic`
    spare_engines : that stand by, so that what is promised is kept with so many lost [1]
    """

    engine: Any
    peak: Any
    ahead_h: Any
    least: Any
    available: Any
    traffic: Any
    spare_engines: Any = field(default=0.0, kw_only=True)

    def whole(self, requests_per_s: Any) -> Any:
        """Whole engines for so many requests in a second with those that stand by, no fewer than
        always run [1].
        """
        up = whole_engines(self.engine.needed(requests_per_s), self.available)
        return maximum(up + self.spare_engines, self.least)

    def at_hour(self, hour: Any) -> Any:
        """Engines that are paid at an hour of the day: those that it takes, and those ordered for
        what comes by the time they have started [1].
        """
        soon = hour + self.ahead_h
        if isinstance(soon, float):  # the busier of both is the one nearer to the peak
            half = HOURS_PER_DAY / 2
            busier = min(
                hour, soon, key=lambda of: abs((of - PEAK_HOUR + half) % HOURS_PER_DAY - half)
            )
            return minimum(self.whole(self.traffic.at_hour(busier)), self.peak)
        now, then = (self.traffic.at_hour(of) for of in (hour, soon))
        return minimum(self.whole(maximum(now, then)), self.peak)

    @property
    def busiest(self) -> Any:
        """Engines that the busiest time fills, with room for chance and bunches [1]."""
        return self.engine.needed(self.traffic.peak_per_s)

    @property
    def peak_utilization(self) -> Any:
        """Requests of the busiest time over those that its whole engines could serve [1]."""
        return self.traffic.peak_per_s / (self.peak * self.engine.requests_per_s)

    @cached_property
    def hourly(self) -> Sequence[Any]:
        """Those of each of `HOURS` [1]."""
        return [self.at_hour(hour) for hour in HOURS]

    @property
    def fixed_hours(self) -> Any:
        """Engine hours that are paid in a day if as many run as the busiest time takes [h]."""
        return maximum(HOURS_PER_DAY * self.peak, self.least_hours)

    @cached_property
    def scaled_hours(self) -> Any:
        """The same if as many run as each hour takes [h]."""
        return self.scaled_hours_by(HOURS)

    def scaled_hours_by(self, hours: Sequence[float]) -> Any:
        """The same by some hours of the day, each of which stands for as many."""
        first, *others = map(self.at_hour, hours)
        paid = first
        for one in others:
            paid = paid + one
        return maximum(paid * (HOURS_PER_DAY / len(hours)), self.least_hours)

    def filled(self, hour: Any) -> Any:
        """Engines that the requests of an hour would fill, if no second were idle [1]."""
        return self.traffic.at_hour(hour) / self.engine.requests_per_s

    @property
    def full_tokens_per_s(self) -> Any:
        """Output tokens of one accelerator in a second at full load [token/s]."""
        of = self.engine
        return of.requests_per_s * self.traffic.load.output_tokens / of.chips

    @property
    def least_hours(self) -> Any:
        """Engine hours of a day that its requests take if no second is idle [h]."""
        return HOURS_PER_DAY * self.traffic.mean_per_s / (self.engine.requests_per_s * FILL)

    def utilization(self, engine_hours: Any) -> Any:
        """Tokens of a day over those that the chips of so many engine hours could write [1]."""
        of = self.engine
        share = utilization_of(self.traffic.requests_per_day, of.requests_per_s, engine_hours)
        return share if of.alone else share * (1 - of.spare / of.chips)
