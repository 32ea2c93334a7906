"""The whole engines of a fleet, hour by hour: what is paid for them, and how busy they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from scaleright.formulas import FRACTION, NON_NEGATIVE, POSITIVE, closed_form
from scaleright.inference.traffic import PEAK_HOUR
from scaleright.ops import ceil, maximum, minimum
from scaleright.units import HOURS_PER_DAY, SECONDS_PER_HOUR

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
