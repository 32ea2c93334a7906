"""A day of a service: the whole engines that its traffic takes, hour by hour.

An engine runs as many requests at once as keep the pace of their answers; those are its seats. A
request finds a free seat, or waits. So the fleet needs as many seats as requests would sit in at
once if nobody had to wait, and some more, since they come by chance and in bunches. How many more
is a closed form. Prompts of one engine also wait for each other to be read (`reading_queue`), which
bounds how full it may be. `fleet_events` simulates the same fleet step by step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from scaleright.formulas import FRACTION, NON_NEGATIVE, POSITIVE, closed_form, search
from scaleright.inference.curve_point import CurvePoint
from scaleright.inference.curves import Curve
from scaleright.inference.engine_tables import curve_at
from scaleright.inference.lengths import Load
from scaleright.inference.node_speed import Engines
from scaleright.inference.reading_queue import late_reading_wait_s, reading_wait_s
from scaleright.inference.traffic import NINETEEN_OF_TWENTY, PEAK_HOUR, bunching_in, load_at
from scaleright.ops import ceil, floor, maximum, minimum, sqrt, where
from scaleright.units import HOURS_PER_DAY, SECONDS_PER_HOUR

HOURS = tuple(float(hour) for hour in range(int(HOURS_PER_DAY)))
FILL = 0.95
"""Share of a full engine's speed that work which can wait reaches: with a queue that never ends the
simulation writes 97 % of what the steady state says, since seats change hands between steps."""

FILLED = (0.2, 0.4, 0.6, 0.8, 1.0)
"""How full an engine may be, over how full bunches let it be, from which the fullest is taken whose
prompts do not wait too long for each other."""


@closed_form(offered=NON_NEGATIVE, patience=NON_NEGATIVE, bunching=NON_NEGATIVE)
def seats_needed(offered, patience, bunching):
    """Seats with which nineteen of twenty requests wait no longer than they may [1].

    Parameters
    ----------
    offered : requests in their seats if nobody had to wait: how many come in a second, times the
        seconds that each sits [1]
    patience : how long one may wait over how long it sits [1]
    bunching : of the load of a window as long as both together, see `traffic.bunching` [1]

    Source: the infinite-server approximation of staffing [whitt2007]: the number that would sit is
    nearly normal; its variance is its mean for single arrivals, averaged over the window in which a
    queue may form and go, and grows as its square for what comes in bunches.

    >>> seats_needed(100.0, 0.0, 0.0) == 116.45, round(seats_needed(100.0, 0.0, 0.04), 1)
    (True, 136.8)
    """
    return offered + NINETEEN_OF_TWENTY * sqrt(
        offered / (1 + patience) + bunching * offered * offered
    )


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
class Traffic:
    """What comes in a day, and what its users are promised; numbers or quantities.

    requests_per_day : of which `waits` can wait for a valley [1/day], [1]
    peak_to_mean : load of the busiest time over the mean of the day [1]
    load, long_tokens, bunching : of the trace, see `traffic.trace_terms`
    pace_tokens_per_s : of an answer, at least [token/s]
    ttft_s : within which nineteen of twenty have their first token [s]
    """

    requests_per_day: Any
    waits: Any
    peak_to_mean: Any
    load: Load
    long_tokens: Any
    bunching: Any
    pace_tokens_per_s: Any
    ttft_s: Any

    @property
    def mean_per_s(self) -> Any:
        """Requests in a second on average, those that wait among them [1/s]."""
        return self.requests_per_day / (HOURS_PER_DAY * SECONDS_PER_HOUR)

    def at_hour(self, hour: Any) -> Any:
        """Requests in a second at an hour that do not wait [1/s]."""
        return (1 - self.waits) * self.mean_per_s * load_at(hour, self.peak_to_mean)

    @property
    def peak_per_s(self) -> Any:
        """The same at the busiest time [1/s]."""
        return (1 - self.waits) * self.mean_per_s * self.peak_to_mean


@dataclass(frozen=True)
class DayEngine:
    """One kind of engine and how a day's traffic sits in it.

    kept : 1 where it keeps pace and first token, 0 where not
    chips, seats : of it [1]
    requests_per_s : that it serves at most [1/s]
    service_s : for which a request sits, if all seats are taken [s]
    ttft_s : within which nineteen of twenty who find a free seat have their first token, the
        longest prompts and those that wait for others to be read among them [s]
    tpot_s : time of a further token, if all seats are taken [s]
    bunching : of the traffic in a window of sitting and waiting [1]
    patience : allowed wait over the time of sitting [1]
    filled : share of its full load up to which prompts do not wait too long for each other [1]
    """

    kept: Any
    chips: Any
    seats: Any
    requests_per_s: Any
    service_s: Any
    ttft_s: Any
    tpot_s: Any
    bunching: Any
    patience: Any
    filled: Any = 1.0

    @classmethod
    def of(cls, one: Curve, traffic: Traffic) -> DayEngine:
        """That of a curve, with as many seats as keep the pace."""
        load, fresh = traffic.load, 1 - traffic.load.cached_share
        seats = floor(one.batch_at(1 / traffic.pace_tokens_per_s, load) + 1e-9)
        taken = maximum(seats, 1.0)
        at = one.at(taken, load)
        longer = one.prompt_s(traffic.long_tokens * fresh) - one.prompt_s(load.new_tokens)
        service_s = taken / at.requests_per_s
        ttft_s, filled = _first_token(at, maximum(longer, 0.0), service_s, traffic)
        wait_s = maximum(traffic.ttft_s - ttft_s, 0.0)
        alone = True if one.reader is None else one.reader[2] <= 0
        kept = (seats >= 1) & alone & (ttft_s <= traffic.ttft_s)
        return cls(
            where(kept, 1.0, 0.0),
            one.chips,
            taken,
            at.requests_per_s,
            service_s,
            where(seats >= 1, ttft_s, float("inf")),
            at.tpot_s,
            bunching_in(traffic.bunching, service_s + wait_s),
            wait_s / service_s,
            filled,
        )

    @classmethod
    def running(cls, of: Any, traffic: Traffic) -> DayEngine:
        """That of an engine whose batch keeps the pace, with a seat for each of it.

        of : kept, chips, batch, tokens_per_s, ttft_s and tpot_s, see `pacing.Paced`
        """
        requests_per_s = of.tokens_per_s * of.chips / traffic.load.output_tokens
        service_s, wait_s = of.batch / requests_per_s, maximum(traffic.ttft_s - of.ttft_s, 0.0)
        return cls(
            of.kept,
            of.chips,
            of.batch,
            requests_per_s,
            service_s,
            of.ttft_s,
            of.tpot_s,
            bunching_in(traffic.bunching, service_s + wait_s),
            wait_s / service_s,
        )

    def needed(self, requests_per_s: Any) -> Any:
        """Engines that so many requests in a second fill, with room for chance and bunches [1]."""
        seats = seats_needed(requests_per_s * self.service_s, self.patience, self.bunching)
        return maximum(seats / self.seats, requests_per_s / (self.requests_per_s * self.filled))


def _first_token(
    at: CurvePoint, longer_s: Any, service_s: Any, traffic: Traffic
) -> tuple[Any, Any]:
    """The first token of nineteen of twenty who find a free seat [s], and how full the engine may
    be for it [1]: the fullest of `FILLED` that keeps the promise, or the least.

    longer_s : by which one of the longest prompts is read longer than the mean one [s]

    Source: means add, and so do the squares of what two independent times lie above them.
    """
    bunches = bunching_in(traffic.bunching, service_s + traffic.ttft_s)
    most = 1 / (1 + NINETEEN_OF_TWENTY * sqrt(bunches))
    varies = traffic.load.input_cv * maximum(at.mixed_s - at.plain_s, 0.0) / at.mixed_s
    read_s = at.carried / at.requests_per_s
    kept_s, kept = None, None
    for share in FILLED:
        filled = share * most
        busy = minimum(filled * at.carried, 0.95)
        lasts_s = read_s * (1 + varies * varies) / (1 - busy)
        come = filled * at.requests_per_s * lasts_s
        clumping = 1 + bunching_in(traffic.bunching, lasts_s) * come
        of = busy, read_s, varies, clumping
        waits_s = maximum(late_reading_wait_s(*of) - reading_wait_s(*of), 0.0)
        ttft_s = at.ttft_s + sqrt(longer_s * longer_s + waits_s * waits_s)
        keeps = ttft_s <= traffic.ttft_s
        kept = filled if kept is None else where(keeps, filled, kept)
        kept_s = ttft_s if kept_s is None else where(keeps, ttft_s, kept_s)
    return kept_s, kept


@dataclass(frozen=True)
class Fleet:
    """The whole engines of a day.

    engine : their kind; NaN where none keeps what is promised
    peak : engines that the busiest time takes [1]
    ahead_h : how long before it is needed an engine is ordered: as long as it takes to start [h]
    least : engines that always run [1]
    available : share of its paid time in which an engine is up [1]
    traffic : what comes
    """

    engine: DayEngine
    peak: Any
    ahead_h: Any
    least: Any
    available: Any
    traffic: Traffic

    def whole(self, requests_per_s: Any) -> Any:
        """Whole engines for so many requests in a second, no fewer than always run [1]."""
        return maximum(
            whole_engines(self.engine.needed(requests_per_s), self.available), self.least
        )

    def at_hour(self, hour: Any) -> Any:
        """Engines that are paid at an hour of the day: those that it takes, and those ordered for
        what comes by the time they have started [1].
        """
        soon = hour + self.ahead_h
        if isinstance(soon, float):  # the busier of both is the one nearer to the peak
            busier = min(hour, soon, key=lambda of: abs(of - PEAK_HOUR))
            return minimum(self.whole(self.traffic.at_hour(busier)), self.peak)
        now, then = (self.traffic.at_hour(of) for of in (hour, soon))
        return minimum(self.whole(maximum(now, then)), self.peak)

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
        """Tokens of a day over those that so many paid engine hours could write [1]."""
        return utilization_of(
            self.traffic.requests_per_day, self.engine.requests_per_s, engine_hours
        )


@dataclass(frozen=True)
class DayFleet(Fleet):
    """That of a chosen model and accelerator, and what is known of it.

    served : whether an engine keeps pace and first token [truth value]
    held : whether a node holds the model [truth value]
    fits_pace : whether one keeps the pace [truth value]
    least_ttft_s : the same as `ttft_s` of the engine, on the quickest of those that keep the
        pace [s]
    low, high : bounds of measured over predicted speed [1]
    lent : what the speed rests on, where that is not enough runs of such engines, in words
    weights : in which format
    """

    served: Any
    held: Any
    fits_pace: Any
    least_ttft_s: Any
    low: Any
    high: Any
    lent: Any
    weights: Any


def _fewest(
    row: Any, traffic: Traffic, least: Any, available: Any
) -> tuple[DayEngine, Any, Any, Any]:
    """The kind of engine of a row that takes fewest chips, whether one serves, whether one keeps
    the pace, and the least time to the first token of those that do [s].
    """
    best, fewest, quickest, fits = None, float("inf"), float("inf"), False
    for place in range(sum(name.startswith("chips ") for name in row)):
        one = DayEngine.of(curve_at(row, place), traffic)
        whole = whole_engines(one.needed(traffic.peak_per_s), available)
        chips = where(one.kept > 0, maximum(whole, least) * one.chips, float("inf"))
        quickest = where(one.ttft_s < quickest, one.ttft_s, quickest)
        fits = fits | (one.ttft_s < float("inf"))
        pairs = zip(vars(one).values(), vars(best or one).values(), strict=True)
        best = DayEngine(*(where(chips < fewest, this, other) for this, other in pairs))
        fewest = where(chips < fewest, chips, fewest)
    there = fewest < float("inf")
    of = {name: where(there, value, float("nan")) for name, value in vars(best).items()}
    return DayEngine(**of), there, fits, quickest


@search
def day_fleet(
    engines: Engines,
    served: tuple[Any, Any, Any],
    traffic: Traffic,
    startup_s: Any,
    least: Any = 1.0,
    available: Any = 1.0,
) -> DayFleet:
    """The fleet of a day, of the kind of engine of one node that takes fewest chips at its busiest
    time.

    Parameters
    ----------
    engines : of the models and accelerators that may be chosen
    served : model, accelerator and format of the weights; quantities or not
    traffic : what comes and what is promised
    startup_s : from ordering an engine until it serves [s]
    least : engines that always run [1]
    available : share of its paid time in which an engine is up [1]

    >>> from scaleright.inference.traffic import load_of, trace_terms
    >>> from scaleright.quantity import given
    >>> engines = Engines.of(("Llama-3.3-70B",), ("H100 SXM",))
    >>> terms, load = trace_terms("conversation"), load_of("conversation")
    >>> of = load, terms["long_tokens"], terms["bunching"]
    >>> day = Traffic(1e6, 0.0, 1.7, *of, given("pace", 30.0), 2.0)
    >>> fleet = day_fleet(engines, ("Llama-3.3-70B", "H100 SXM", "usual"), day, 300.0)
    >>> fleet.engine.chips.value, 5 < fleet.peak.value < 9
    (2.0, True)
    """
    row = engines.rows.row(*served)
    engine, there, fits, quickest = _fewest(row, traffic, least, available)
    busiest = whole_engines(engine.needed(traffic.peak_per_s), available)
    return DayFleet(
        engine=engine,
        served=there,
        held=row.there,
        fits_pace=fits,
        least_ttft_s=quickest,
        low=row["low"],
        high=row["high"],
        lent=row["lent"],
        weights=engines.weights(*served),
        peak=maximum(busiest, least),
        ahead_h=startup_s / SECONDS_PER_HOUR,
        least=least,
        available=available,
        traffic=traffic,
    )
