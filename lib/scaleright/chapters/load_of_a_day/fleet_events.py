"""A fleet of whole engines as a discrete-event simulation: one queue, machines that start, are
taken away and are given back, and work that waits for a valley.

The clock and its queue of events are SimPy's: a small library in pure Python, maintained since
2002, whose order of simultaneous events is the order in which they were made, so that a seed gives
the same day on every machine. What waits (machines) is a process of SimPy, what is quick (steps of
engines) a plain event.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import simpy

from scaleright.formulas import simulation
from scaleright.inference.engine_events import Engine, Request
from scaleright.units import SECONDS_PER_HOUR

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
