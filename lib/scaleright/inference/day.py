"""A day of a service: the whole engines that its traffic takes, hour by hour.

An engine runs as many requests at once as keep the pace of their answers; those are its seats. A
request finds a free seat, or waits. So the fleet needs as many seats as requests would sit in at
once if nobody had to wait, and some more, since they come by chance and in bunches. How many more
is a closed form. Prompts of one engine also wait for each other to be read (`first_token`), which
bounds how full it may be. `load_of_a_day.simulated` simulates the same fleet step by step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from scaleright.formulas import NON_NEGATIVE, closed_form, lookup, search
from scaleright.inference.curves import Curve, CurvePoint
from scaleright.inference.engine_tables import curve_at
from scaleright.inference.first_token import late_reading_wait_s, reading_wait_s
from scaleright.inference.lengths import Load
from scaleright.inference.node_speed import Engines
from scaleright.inference.traffic import (
    NINETEEN_OF_TWENTY,
    Fleet,
    bunching_in,
    concentration,
    load_gathered,
    whole_engines,
)
from scaleright.ops import ceil, floor, maximum, minimum, sqrt, where
from scaleright.units import HOURS_PER_DAY, SECONDS_PER_HOUR

LEAST_FILLED = 0.1
"""How full an engine is at least, over how full bunches let it be, that is sized for a promise."""


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

    @cached_property
    def _gathered(self) -> Any:
        return concentration(self.peak_to_mean)

    def at_hour(self, hour: Any) -> Any:
        """Requests in a second at an hour that do not wait [1/s]."""
        load = load_gathered(hour, self.peak_to_mean, self._gathered)
        return (1 - self.waits) * self.mean_per_s * load

    @property
    def peak_per_s(self) -> Any:
        """The same at the busiest time [1/s]."""
        return (1 - self.waits) * self.mean_per_s * self.peak_to_mean


@dataclass(frozen=True)
class DayEngine:
    """One kind of engine and how a day's traffic sits in it.

    kept : 1 where it keeps pace and first token, 0 where not
    chips, seats : of it, with its part of the chips that read prompts for it [1]
    requests_per_s : that it serves at most [1/s]
    service_s : for which a request sits, if all seats are taken [s]
    ttft_s : within which nineteen of twenty who find a free seat have their first token, the
        longest prompts and those that wait for others to be read among them, if the engine is no
        fuller than `filled` [s]
    tpot_s : time of a further token, if all seats are taken [s]
    bunching : of the traffic in a window of sitting and waiting [1]
    patience : allowed wait over the time of sitting [1]
    filled : share of its full load up to which prompts do not wait too long for each other [1]
    reading, group : chips of its `chips` that read prompts for it, 0 where it does itself, which
        work in groups of so many [1]
    spare : chips of its `chips` that would not be there if a group had any size [1]
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
    reading: Any = 0.0
    group: Any = 1.0
    spare: Any = 0.0

    @classmethod
    def of(cls, one: Curve, traffic: Traffic) -> DayEngine:
        """That of a curve, with as many seats as keep the pace."""
        load = traffic.load
        seats = floor(one.batch_at(1 / traffic.pace_tokens_per_s, load) + 1e-9)
        taken = maximum(seats, 1.0)
        at = one.at(taken, load)
        found = cls.seated(one, taken, at, traffic)
        kept = (seats >= 1) & (found.ttft_s <= traffic.ttft_s)
        return replace(
            found,
            kept=where(kept, 1.0, 0.0),
            ttft_s=where(seats >= 1, found.ttft_s, float("inf")),
        )

    @classmethod
    def seated(cls, one: Curve, taken: Any, at: CurvePoint, traffic: Traffic) -> DayEngine:
        """That of a curve with so many seats, whatever it keeps.

        at : the steady state with all of them taken
        """
        load, long_tokens = traffic.load, traffic.long_tokens
        longer_s = longer_read_s(one, load, long_tokens)
        service_s = taken / at.requests_per_s
        patient_s = maximum(traffic.ttft_s - unhurried_s(one, at, load, long_tokens), 0.0)
        bunches = bunching_in(traffic.bunching, service_s + patient_s)
        ttft_s, filled = _first_token(at, longer_s, bunches, traffic)
        wait_s = maximum(traffic.ttft_s - ttft_s, 0.0)
        reading = one.reading_chips(at.requests_per_s, load)
        return cls(
            1.0,
            one.chips + reading,
            taken,
            at.requests_per_s,
            service_s,
            ttft_s,
            at.tpot_s,
            bunches,
            wait_s / service_s,
            filled,
            reading,
            1.0 if one.reader is None else one.reader[3],
        )

    @classmethod
    def measured(
        cls, chips: Any, seats: Any, requests_per_s: Any, ttft_s: Any, traffic: Traffic
    ) -> DayEngine:
        """One of which the speed was measured with all seats taken, and not how prompts wait."""
        service_s, wait_s = seats / requests_per_s, maximum(traffic.ttft_s - ttft_s, 0.0)
        bunches = bunching_in(traffic.bunching, service_s + wait_s)
        tpot_s = service_s / traffic.load.output_tokens
        of = chips, seats, requests_per_s, service_s, ttft_s, tpot_s
        return cls(1.0, *of, bunches, wait_s / service_s)

    @property
    def alone(self) -> bool:
        """Whether no engine that it may be has other chips read prompts for it."""
        return isinstance(self.reading, float) and not self.reading

    def of_many(self, engines: Any) -> DayEngine:
        """One of so many, with its part of the whole groups that read prompts for them all."""
        if self.alone:
            return self
        whole = ceil(engines * self.reading / self.group - 1e-9) * self.group / engines
        spare = whole - self.reading
        return replace(self, chips=self.chips + spare, reading=whole, spare=spare)

    def needed(self, requests_per_s: Any) -> Any:
        """Engines that so many requests in a second fill, with room for chance and bunches [1]."""
        seats = seats_needed(requests_per_s * self.service_s, self.patience, self.bunching)
        return maximum(seats / self.seats, requests_per_s / (self.requests_per_s * self.filled))


@lookup
def unhurried_s(one: Curve, at: CurvePoint, load: Load, long_tokens: Any) -> Any:
    """The first token of one of the longest prompts where nobody waits [s].

    at : the steady state of the engine of a curve
    long_tokens : of such a prompt [token]
    """
    return at.reads(load)[-1] + longer_read_s(one, load, long_tokens)


@lookup
def longer_read_s(one: Curve, load: Load, long_tokens: Any) -> Any:
    """By which one of the longest prompts is read longer than the mean one [s]."""
    fresh = 1 - load.cached_share
    return maximum(one.prompt_s(long_tokens * fresh) - one.prompt_s(load.new_tokens), 0.0)


def _first_token(at: CurvePoint, longer_s: Any, bunches: Any, traffic: Traffic) -> tuple[Any, Any]:
    """The first token of nineteen of twenty who find a free seat [s], and how full the engine may
    be for it [1]: as full as bunches let it be, or less where prompts would wait too long for each
    other, by a straight line from nobody waiting, which lies above the curve.

    longer_s : see `longer_read_s` [s]
    bunches : of the traffic in a window of sitting and waiting [1]

    Source: means add, and so do the squares of what two independent times lie above them.
    """
    most = 1 / (1 + NINETEEN_OF_TWENTY * sqrt(bunches))
    full, read_s, varies, first_s = at.reads(traffic.load)
    busy = minimum(most * full, 0.95)
    lasts_s = read_s * (1 + varies * varies) / (1 - busy)
    clumping = 1 + bunching_in(traffic.bunching, lasts_s) * most * full * lasts_s / read_s
    of = busy, read_s, varies, clumping
    waits_s = maximum(late_reading_wait_s(*of) - reading_wait_s(*of), 0.0)
    alone_s, full_s = first_s + longer_s, first_s + sqrt(longer_s**2 + waits_s**2)
    share = (traffic.ttft_s - alone_s) / maximum(full_s - alone_s, 1e-9)
    kept_s = maximum(minimum(full_s, traffic.ttft_s), alone_s)
    return kept_s, most * minimum(maximum(share, LEAST_FILLED), 1.0)


@dataclass(frozen=True)
class DayFleet(Fleet):
    """That of a chosen model and accelerator, and what is known of it.

    served : whether an engine keeps pace and first token [truth value]
    held : whether a node holds the model [truth value]
    fits_pace : whether one keeps the pace [truth value]
    least_ttft_s : first token of one of the longest prompts on the quickest of those that keep the
        pace, with nobody waiting, where none keeps the promise [s]
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
    row: Any, traffic: Traffic, least: Any, available: Any, spare_engines: Any
) -> tuple[DayEngine, Any, Any, Any]:
    """The kind of engine of a row that takes fewest chips, whether one serves, whether one keeps
    the pace, and the least time to the first token of those that do [s].
    """
    best, fewest, quickest, fits = None, float("inf"), float("inf"), False
    for place in range(sum(name.startswith("chips ") for name in row)):
        one = DayEngine.of(curve_at(row, place), traffic)
        busiest = whole_engines(one.needed(traffic.peak_per_s), available)
        whole = maximum(busiest + spare_engines, least)
        one = one.of_many(whole)
        chips = where(one.kept > 0, whole * one.chips, float("inf"))
        quickest = where(one.ttft_s < quickest, one.ttft_s, quickest)
        fits = fits | (one.ttft_s < float("inf"))
        pairs = zip(vars(one).values(), vars(best or one).values(), strict=True)
        kinds = (
            this if this is other else where(chips < fewest, this, other) for this, other in pairs
        )
        best = DayEngine(*kinds)
        fewest = where(chips < fewest, chips, fewest)
    there = fewest < float("inf")
    beside = {name: getattr(best, name) for name in ("reading", "group", "spare")}
    of = {name: where(there, value, float("nan")) for name, value in vars(best).items()}
    return DayEngine(**of | beside), there, fits, quickest


@search
def day_fleet(
    engines: Engines,
    served: tuple[Any, Any, Any],
    traffic: Traffic,
    startup_s: Any,
    least: Any = 1.0,
    available: Any = 1.0,
    spare_engines: Any = 0.0,
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
    spare_engines : that stand by, so that the fleet serves as promised with so many lost [1]

    Source: peak traffic is handled with the largest instances unavailable, two of them for an
    outage that is planned and one that is not: N + 2 [sloss2016].

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
    engine, there, fits, quickest = _fewest(row, traffic, least, available, spare_engines)
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
        peak=maximum(busiest + spare_engines, least),
        ahead_h=startup_s / SECONDS_PER_HOUR,
        least=least,
        available=available,
        traffic=traffic,
        spare_engines=spare_engines,
    )
