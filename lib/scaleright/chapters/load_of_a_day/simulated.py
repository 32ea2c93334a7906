"""The busiest time of a day, and its steepest hours, simulated: what the closed form of `day` is
held against.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import simpy

from scaleright.catalog import shared
from scaleright.formulas import lookup, simulation
from scaleright.inference.day import DayFleet
from scaleright.inference.engine_events import Engine, Request, Steps
from scaleright.inference.engine_tables import engines_in
from scaleright.inference.traffic import requests
from scaleright.quantity.graph import value_of
from scaleright.units import HOURS_PER_DAY, SECONDS_PER_HOUR

# A fleet of whole engines as a discrete-event simulation: one queue, machines that start, are
# taken away and are given back, and work that waits for a valley.
#
# The clock and its queue of events are SimPy's: a small library in pure Python, maintained since
# 2002, whose order of simultaneous events is the order in which they were made, so that a seed
# gives the same day on every machine. What waits (machines) is a process of SimPy, what is quick
# (steps of engines) a plain event.


LOOK_S = 60.0
"""How often a fleet looks at itself, if it is not told otherwise [s]."""


@dataclass(frozen=True)
class Rules:
    """How a fleet is run.

    engines : at its start [1]
    wanted : engines that should be ready at a time [s], none for as many as at the start
    startup_s : from ordering an engine until it serves; paid [s]
    interruptions_per_hour : of each engine, as of spot capacity [1/h]
    spare : seats of each engine that work which waits leaves free [1]
    look_s : how often the engines that there are are compared with those that are wanted [s]
    seed : of what is drawn at random
    """

    engines: int
    wanted: Callable[[float], int] | None = None
    startup_s: float = 0.0
    interruptions_per_hour: float = 0.0
    spare: int = 0
    look_s: float = LOOK_S
    seed: int = 0


@dataclass
class Run:
    """What a fleet did.

    requests : in the order in which they came, those that waited for a valley apart
    waited : the latter
    paid_s : time for which engines were paid, all of them together [s]
    busy_s : time in which they took steps [s]
    until_s : when the last request ended [s]
    interrupted : engines that were taken away [1]
    events : of the simulation [1]
    seen : at every look: time [s], engines ready and starting, requests running and waiting
    """

    requests: list[Request]
    waited: list[Request]
    paid_s: float = 0.0
    busy_s: float = 0.0
    until_s: float = 0.0
    interrupted: int = 0
    events: int = 0
    seen: list[tuple[float, int, int, int, int]] = field(default_factory=list)

    def quantile(self, of: str, share: float) -> float:
        """A quantile of "ttft_s" or "tpot_s" over the requests that do not wait [s]."""
        values = np.array([getattr(request, of) for request in self.requests])
        return float(np.quantile(values[~np.isnan(values)], share))

    @property
    def output_tokens(self) -> int:
        """Tokens written [token]."""
        return sum(request.output_tokens for request in (*self.requests, *self.waited))

    def utilization(self, tokens_per_s: float) -> float:
        """Tokens written over those that the paid time could write at full load [1].

        tokens_per_s : of one engine at full load [token/s]
        """
        return self.output_tokens / (self.paid_s * tokens_per_s)


class Fleet:
    """Engines behind one queue; a request goes to the engine that holds fewest."""

    def __init__(self, steps: Any, rules: Rules, run: Run, waits: Iterable[Request]):
        self.env, self.steps, self.rules, self.run = simpy.Environment(), steps, rules, run
        self.queue: deque[Request] = deque()
        self.waits = deque(waits)
        self.ready: list[Engine] = []
        self.leaving: list[Engine] = []
        self.since: dict[Engine, float] = {}
        self.starting = 0
        self.left = len(run.requests) + len(self.waits)
        self.random = np.random.default_rng(rules.seed)

    def arrive(self, request: Request) -> None:
        """A request comes: to the engine that holds fewest, or into the queue."""
        engine = min(self.ready, key=lambda one: one.held, default=None)
        if engine is None or self.queue or engine.held >= self.steps.seats:
            self.queue.append(request)
        else:
            engine.take(request)

    def ended(self, engine: Engine, request: Request) -> None:
        """A request is done: its seat goes to the next."""
        self.left -= 1
        self.run.until_s = self.env.now
        if engine in self.leaving:
            if not engine.held:
                self.leaving.remove(engine)
                self._release(engine)
            return
        self._fill(engine)

    def _fill(self, engine: Engine) -> None:
        """Give free seats to those who wait, the spare ones to none who can wait for a valley."""
        while self.queue and engine.held < self.steps.seats:
            engine.take(self.queue.popleft())
        while self.waits and not self.queue and engine.held < self.steps.seats - self.rules.spare:
            engine.take(self.waits.popleft())

    def _add(self) -> None:
        """An engine begins to serve."""
        engine = Engine(self.env, self.steps, self.ended)
        self.ready.append(engine)
        self.since.setdefault(engine, self.env.now)
        if self.rules.interruptions_per_hour > 0:
            mean_s = SECONDS_PER_HOUR / self.rules.interruptions_per_hour
            self.env.process(self._interrupted(engine, float(self.random.exponential(mean_s))))
        self._fill(engine)

    def _release(self, engine: Engine) -> None:
        self.run.paid_s += self.env.now - self.since.pop(engine)
        self.run.busy_s += engine.busy_s
        self.run.events += engine.events

    def _start(self) -> Any:
        """Order an engine, and let it serve once it has started."""
        self.starting += 1
        ordered = self.env.now
        yield self.env.timeout(self.rules.startup_s)
        self.starting -= 1
        self._add()
        self.since[self.ready[-1]] = ordered

    def _interrupted(self, engine: Engine, after_s: float) -> Any:
        """Take an engine away after some time; its requests begin anew, and another is ordered."""
        yield self.env.timeout(after_s)
        if engine not in self.since or not self.left:
            return
        for of in (self.ready, self.leaving):
            if engine in of:
                of.remove(engine)
        lost = engine.stop()
        for request in reversed(lost):
            request.restarts += 1
            (self.waits if request.waits else self.queue).appendleft(request)
        self._release(engine)
        self.run.interrupted += 1
        for one in [*self.ready]:
            self._fill(one)
        yield self.env.process(self._start())

    def look(self) -> Any:
        """Compare what there is with what is wanted, again and again."""
        wanted = self.rules.wanted
        while self.left:
            running = sum(one.held for one in (*self.ready, *self.leaving))
            now = self.env.now, len(self.ready), self.starting, running, len(self.queue)
            self.run.seen.append(now)
            if wanted is not None:
                there, aim = len(self.ready) + self.starting, wanted(self.env.now)
                for _ in range(aim - there):
                    self.env.process(self._start())
                for _ in range(min(there - aim, len(self.ready) - 1)):
                    self._dismiss(min(self.ready, key=lambda one: one.held))
            for one in self.ready:
                self._fill(one)
            yield self.env.timeout(self.rules.look_s)

    def _dismiss(self, engine: Engine) -> None:
        """Give an engine no further request, and give it back once it is empty."""
        self.ready.remove(engine)
        if engine.held:
            self.leaving.append(engine)
        else:
            self._release(engine)

    def go(self) -> Run:
        """Run until the last request has ended."""
        for _ in range(self.rules.engines):
            self._add()
        self.env.process(self.look())
        coming = iter(self.run.requests)

        def next_one(_: Any = None) -> None:
            request = next(coming, None)
            if request is not None:
                self.env.timeout(request.arrival_s - self.env.now, request).callbacks.append(come)

        def come(event: Any) -> None:
            self.run.events += 1
            self.arrive(event.value)
            next_one()

        next_one()
        while self.left:
            self.env.step()
        for engine in [*self.ready, *self.leaving]:
            self._release(engine)
        return self.run


@simulation
def simulated(
    steps: Any,
    requests: Sequence[Request],
    rules: Rules,
    waits: Sequence[Request] = (),
) -> Run:
    """A fleet's run from its first request until its last has ended.

    Parameters
    ----------
    steps : times of an engine's steps and its seats, see `engine_events.Steps`
    requests : in the order in which they come
    rules : of the fleet
    waits : work that is there from the start and takes what seats the requests leave free

    Raises
    ------
    ValueError : fewer than one engine, a request that comes before the one above it, or one
        without tokens; names it.

    >>> from scaleright import catalog
    >>> from scaleright.inference.curves import curves
    >>> from scaleright.inference.deployment import Deployment
    >>> from scaleright.inference.engine_events import Steps
    >>> one, = curves([Deployment(catalog.model("Llama-3.1-8B"), catalog.accelerator("H100 SXM"))])
    >>> few = [Request(0.1 * i, 1000, 0, 100) for i in range(50)]
    >>> run = simulated(Steps(one, 32), few, Rules(engines=1))
    >>> 0.04 < run.quantile("ttft_s", 0.5) < 0.2, run.output_tokens
    (True, 5000)
    """
    if rules.engines < 1:
        raise ValueError(
            f"engines = {rules.engines}: a fleet of less than one whole engine serves nobody;"
            " allowed: 1 or more"
        )
    last_s = 0.0
    for number, request in enumerate(requests, start=1):
        if request.arrival_s < last_s:
            raise ValueError(
                f"request {number} comes at {request.arrival_s:g} s, before the one above it at"
                f" {last_s:g} s; sort the requests by time"
            )
        if request.output_tokens < 1 or request.context < 1:
            raise ValueError(
                f"request {number} has a prompt of {request.context} and an answer of"
                f" {request.output_tokens} tokens; allowed: 1 or more of each"
            )
        last_s = request.arrival_s
    for request in waits:
        request.waits = True
    return Fleet(steps, rules, Run([*requests], [*waits]), waits).go()


MOST_A_DAY = 40_000
"""Requests of a whole day that are simulated."""
MOST, LEAST_S, MOST_S = 10_000, 240.0, 7200.0
"""Requests of the busiest time that are simulated at most, and for how long at least and at most
[s]. A fleet with more is simulated in part: so many of its engines, with their part of requests."""


@dataclass(frozen=True)
class Peak:
    """The busiest time as simulated.

    engines : that served it [1]
    ttft_s, late_ttft_s : median and 95th percentile of the time to the first token [s]
    tpot_s, late_tpot_s : of the time of a further token [s]
    late : share of requests whose first token came later than promised [1]
    busy : tokens written over those that the engines could write [1]
    events, requests : of the simulation [1]
    """

    engines: float
    ttft_s: float
    late_ttft_s: float
    tpot_s: float
    late_tpot_s: float
    late: float
    busy: float
    events: int
    requests: int

    @property
    def told(self) -> dict[str, tuple[float, str]]:
        """What a card tells machines: each figure with how it is said."""
        return {
            "simulated_ttft_s": (self.ttft_s, "duration"),
            "simulated_late_ttft_s": (self.late_ttft_s, "duration"),
            "simulated_tpot_s": (self.tpot_s, "duration"),
            "simulated_late_tpot_s": (self.late_tpot_s, "duration"),
            "simulated_peak_utilization": (self.busy, "percent"),
        }


@dataclass(frozen=True)
class DayCase:
    """A case as plain values, for the simulation.

    model, accelerator, trace, cached_share : as the reader chose them
    fleet : the fleet of quantities
    startup_s, interruptions_per_hour : of an engine [s], [1/h]
    seed : of what is drawn
    """

    model: str
    accelerator: str
    trace: str
    cached_share: float
    fleet: DayFleet
    startup_s: float = 0.0
    interruptions_per_hour: float = 0.0
    seed: int = 0

    @property
    def played(self) -> bool:
        """Whether it is: an engine serves, and reads its prompts itself."""
        return bool(value_of(self.fleet.served)) and not value_of(self.fleet.engine.reading)

    def run(self, engines: int, requests_per_s: float) -> Run:
        """So many engines at a steady mean rate."""
        part = min(1.0, MOST / LEAST_S / requests_per_s)
        whole = max(round(engines * part), 1)
        rate = requests_per_s * whole / engines
        return self.through((rate,), (whole,), min(max(MOST / rate, LEAST_S), MOST_S))

    def through(
        self, rates: tuple[float, ...], engines: tuple[int, ...], each_s: float, faster: float = 1.0
    ) -> Run:
        """Times one after the other.

        rates, engines : requests that come and engines that are wanted, in each time [1/s], [1]
        each_s : how long each lasts [s]; faster : how many times as fast it passes [1]
        """
        of = self.fleet.engine
        engine = self.model, self.accelerator, value_of(of.chips), int(value_of(of.seats))
        coming = self.trace, rates, each_s / faster, self.seed, self.cached_share
        wear = self.startup_s / faster, self.interruptions_per_hour * faster, LOOK_S / faster
        return _run(engine, coming, engines, (each_s, faster), wear)


@shared
def _run(
    engine: tuple[str, str, float, int],
    coming: tuple[str, tuple[float, ...], float, int, float],
    engines: tuple[int, ...],
    passing: tuple[float, float],
    wear: tuple[float, float, float],
) -> Run:
    """What `DayCase.through` asks for, in plain values: a day is simulated once for all processes.

    engine : model, accelerator, chips, seats; coming : as `requests` takes it; passing : length of
    a time, and how many times as fast it passes; wear : as in `Rules`
    """
    model, accelerator, chips, seats = engine
    (each_s, faster), (startup_s, interruptions, look_s) = passing, wear
    _, known = engines_in(model, accelerator)
    one = next(one for one in known if not one.reader and one.chips == chips)

    def wanted(now_s: float) -> int:
        return engines[min(int(now_s * faster / each_s), len(engines) - 1)]

    asked = wanted if len(engines) > 1 else None
    rules = Rules(engines[0], asked, startup_s, interruptions, look_s=look_s, seed=coming[-2])
    return simulated(Steps(one, seats), requests(*coming), rules)


@simulation
def peak_with(case: DayCase, engines: int) -> Peak | None:
    """The busiest time of a day with so many engines; None where it is not played or nobody comes.

    Parameters
    ----------
    case : whose fleet is served
    engines : that run [1]
    """
    fleet = case.fleet
    if not case.played:
        return None
    rate = float(value_of(fleet.traffic.peak_per_s))
    run = case.run(engines, rate) if rate > 0 else None
    if run is None or not run.requests:
        return None
    load, of = fleet.traffic.load, fleet.engine
    full = float(value_of(of.requests_per_s)) * float(value_of(load.output_tokens))
    promised = float(value_of(fleet.traffic.ttft_s))
    return Peak(
        engines=float(engines),
        ttft_s=run.quantile("ttft_s", 0.5),
        late_ttft_s=run.quantile("ttft_s", 0.95),
        tpot_s=run.quantile("tpot_s", 0.5),
        late_tpot_s=run.quantile("tpot_s", 0.95),
        late=sum(one.ttft_s > promised for one in run.requests) / len(run.requests),
        busy=run.utilization(full),
        events=run.events,
        requests=len(run.requests),
    )


@simulation
def peaks(case: DayCase, usd_per_engine_hour: float) -> pd.DataFrame:
    """The busiest time with fewer engines and with more than the closed form asks for.

    Columns: engines, busy [1], ttft_s, late_ttft_s, tpot_s, late_tpot_s [s], late [1],
    usd_per_million of that time [USD].
    """
    fleet = case.fleet
    if not case.played:
        return pd.DataFrame()
    asked = int(value_of(fleet.peak))
    filled = float(value_of(fleet.traffic.peak_per_s)) / float(
        value_of(fleet.engine.requests_per_s)
    )
    least = max(int(filled), 1)
    every = sorted({least + round((asked + 2 - least) * of / 5) for of in range(6)})
    found = [vars(of) for many in every if (of := peak_with(case, max(many, 1))) is not None]
    rows = pd.DataFrame(found)
    written = value_of(fleet.traffic.peak_per_s) * value_of(fleet.traffic.load.output_tokens) * 3600
    return rows.assign(usd_per_million=rows["engines"] * usd_per_engine_hour / written * 1e6)


@lookup
def fewest_in_time(found: pd.DataFrame) -> float:
    """The fewest engines of `peaks` with which nineteen of twenty first tokens come as promised
    [1]; NaN where none are enough.

    >>> fewest_in_time(pd.DataFrame({"engines": [3.0, 4.0, 5.0], "late": [0.9, 0.05, 0.0]}))
    4.0
    """
    return float(found.loc[found["late"] <= 0.05, "engines"].min())


@lookup
def peaks_sheet(found: pd.DataFrame) -> pd.DataFrame:
    """`peaks`, by the words of a table."""
    words = {
        "engines": "engines",
        "busy": "utilization",
        "ttft_s": "first token, median",
        "late_ttft_s": "first token, 95th percentile",
        "late_tpot_s": "further token, 95th percentile",
        "late": "later than promised",
        "usd_per_million": "USD per million tokens of that hour",
    }
    return found.rename(columns=words).reindex(columns=[*words.values()])


@dataclass(frozen=True)
class PlayedDay:
    """A whole day as simulated.

    run : what the fleet did
    faster : how many times as fast as a clock its hours passed [1]
    paid_hours, asked_hours : engine hours that were paid, and those of the closed form [h]
    busy : tokens written over those that the paid hours could write [1]
    """

    run: Run
    faster: float
    paid_hours: float
    asked_hours: float
    busy: float


@simulation
def day_simulated(case: DayCase, most: int = MOST_A_DAY, every_h: float = 0.5) -> PlayedDay | None:
    """A whole day with autoscaling; None where it is not played or nobody comes.

    With more than so many requests its hours, and the time in which engines start, pass so many
    times faster: long as requests sit, hours are still long beside them.
    """
    fleet, load = case.fleet, case.fleet.traffic
    mean = float(value_of(load.mean_per_s)) * (1 - float(value_of(load.waits)))
    if not case.played or mean <= 0:
        return None
    stretch_s = every_h * SECONDS_PER_HOUR
    steps = round(HOURS_PER_DAY / every_h)
    faster = max(mean * steps * stretch_s / most, 1.0)
    hours = [(place + 0.5) * every_h for place in range(steps)]
    rates = tuple(float(value_of(load.at_hour(hour))) for hour in hours)
    asked = tuple(int(value_of(fleet.at_hour(hour))) for hour in hours)
    run = case.through(rates, asked, stretch_s, faster)
    of = fleet.engine
    full = float(value_of(of.requests_per_s)) * float(value_of(load.load.output_tokens))
    paid = run.paid_s * faster / SECONDS_PER_HOUR
    return PlayedDay(run, faster, paid, sum(asked) * every_h, run.utilization(full))
