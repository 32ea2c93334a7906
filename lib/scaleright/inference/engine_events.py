"""One engine as a sequence of events: its steps, one after another, with the requests that share
them.

Every step is one of the serving model's (`curves.Curve`): answers alone, or prompts beside them, at
most `budget` tokens. Steps of answers alone between two events are taken together, since nothing
changes in them but the tokens looked back on; a request that comes meanwhile is read from the end
of the step under way. So a request costs a few events, not one for each of its tokens.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

import simpy

from scaleright.formulas import unchecked
from scaleright.inference.curves import Curve
from scaleright.inference.first_token import AHEAD, front_s

_front_s = unchecked(front_s)


@dataclass(slots=True)
class Request:
    """A request on its way: what it asks, and when what happened [s].

    new_tokens, cached_tokens, output_tokens : of its prompt that are computed, that a cache holds,
        and of its answer [token]
    waits : whether it may wait for a valley: batch work, whose latency nobody counts
    """

    arrival_s: float
    new_tokens: int
    cached_tokens: int
    output_tokens: int
    waits: bool = False
    begun_s: float = math.nan
    first_s: float = math.nan
    end_s: float = math.nan
    front_s: float = 0.0
    restarts: int = 0

    @property
    def ttft_s(self) -> float:
        """Time to the first token as a client sees it, with the way to the engine and back and the
        step that the engine has launched ahead, see `first_token` [s].
        """
        return self.first_s - self.arrival_s + self.front_s

    @property
    def tpot_s(self) -> float:
        """Time of each further token [s]; NaN where there is none."""
        further = self.output_tokens - 1
        return (self.end_s - self.first_s) / further if further else math.nan

    @property
    def context(self) -> int:
        """Tokens of its prompt [token]."""
        return self.new_tokens + self.cached_tokens


class Steps:
    """The times of an engine's steps as plain numbers, of a curve and so many seats.

    seats : requests that it runs together at most [1]
    """

    most = math.inf
    """Steps of answers alone that are taken together at most [1]."""

    def __init__(self, curve: Curve, seats: int):
        self.curve, self.seats = curve, seats
        self.budget = float(curve.budget)
        self.writing = [0.0, *(float(curve.writing_s(float(n))) for n in range(1, seats + 1))]
        self.far, self.close = (float(slope) for slope in curve.look)
        self.near, self.replicas = float(curve.near), float(curve.replicas)

    def plain_s(self, running: int, context: float) -> float:
        """A step of so many answers alone, which look back on so many tokens together [s]."""
        wide = max(running, self.replicas) / running
        looking = self.far * context + self.close * min(context, running * self.near)
        return self.writing[running] + wide * looking

    def grows_s(self, running: int) -> float:
        """What each further step of the same answers takes more than the one before [s]."""
        return self.far * max(running, self.replicas)

    def mixed_s(
        self, beside: int, context: float, chunk: float, before: float, length: float
    ) -> float:
        """A step that reads so many tokens of prompts beside so many answers [s].

        before : tokens that a read one looks back on in the mean; length : of a prompt [token]
        """
        looking = self.far * context + self.close * min(context, beside * self.near)
        return float(self.curve.mixed_s(float(beside), chunk, before, length)) + looking


class Engine:
    """An engine that runs requests until they are done.

    env : the clock of the simulation
    steps : its times
    ended : called with the engine and a request that has ended
    """

    def __init__(self, env: simpy.Environment, steps: Any, ended: Callable[[Engine, Request], Any]):
        self.env, self.steps, self.ended = env, steps, ended
        self.reading: deque[list[Any]] = deque()  # a request, and its tokens still to be read
        self.writing: list[tuple[int, int, Request]] = []  # by the count at which each ends
        self.count = self.taken = self.version = self.context = self.events = 0
        self.busy_s = 0.0
        self._jump: tuple[float, int, float, float] | None = None
        self._busy = False

    @property
    def held(self) -> int:
        """Requests in its seats [1]."""
        return len(self.reading) + len(self.writing)

    def take(self, request: Request) -> None:
        """Give a request a seat: it is read from the end of the step under way."""
        request.begun_s = self.env.now
        self.reading.append([request, request.new_tokens])
        if not self._busy:
            self._begin()
        elif self._jump is not None:
            self._cut()

    def stop(self) -> list[Request]:
        """Take the engine away; the requests that it held, which must begin anew."""
        self.version += 1
        self._busy, self._jump = False, None
        held = [request for _, _, request in sorted(self.writing, key=lambda one: one[1])]
        held += [request for request, _ in self.reading]
        self.writing.clear()
        self.reading.clear()
        self.context = 0
        return held

    def _after(self, seconds: float, then: Callable[..., None], *given: Any) -> None:
        """Do something at the end of a step, unless the plan has changed by then."""
        self.version += 1
        version, event = self.version, self.env.timeout(seconds)

        def happen(_: Any) -> None:
            if version == self.version:
                self.events += 1
                then(*given)

        event.callbacks.append(happen)

    def _begin(self) -> None:
        """The next step, or all until the next answer ends."""
        running, steps, self._busy = len(self.writing), self.steps, True
        if self.reading:
            self._read(running)
        elif running:
            first, grows = steps.plain_s(running, self.context), steps.grows_s(running)
            many = int(min(self.writing[0][0] - self.count, steps.most))
            seconds = many * first + grows * many * (many - 1) / 2
            self._jump = (self.env.now, many, first, grows)
            self._after(seconds, self._written, many, seconds)
        else:
            self._busy = False

    def _cut(self) -> None:
        """End the steps taken together with the one under way."""
        start, many, first, grows = self._jump or (0.0, 0, 0.0, 0.0)
        passed = self.env.now - start
        if grows > 0:  # T(j) = j first + j (j - 1) / 2 grows
            half = first - grows / 2
            done = (math.sqrt(half * half + 2 * grows * passed) - half) / grows
        else:
            done = passed / first if first else 0.0
        until = max(math.ceil(done - 1e-9), 1)
        self._jump = None  # no further request moves the end of the step under way
        if until < many:
            seconds = until * first + grows * until * (until - 1) / 2
            self._after(max(seconds - passed, 0.0), self._written, until, seconds)

    def _written(self, many: int, seconds: float) -> None:
        """So many steps of answers alone are done."""
        self._jump = None
        self.busy_s += seconds
        self._advance(many, len(self.writing))
        self._begin()

    def _read(self, beside: int) -> None:
        """A step that reads prompts, in the order in which they came, beside the answers."""
        left, before, parts, lengths = max(self.steps.budget - beside, 1.0), 0.0, [], 0.0
        for place, (request, unread) in enumerate(self.reading):
            part = min(unread, left)
            parts.append((place, part))
            before += part * (request.context - unread + part / 2)
            lengths += part * request.new_tokens
            left -= part
            if left < 1:
                break
        chunk = sum(part for _, part in parts)
        seconds = (
            self.steps.mixed_s(beside, self.context, chunk, before / chunk, lengths / chunk)
            if chunk
            else 0.0
        )
        self._after(seconds, self._have_read, parts, beside, seconds)

    def _have_read(self, parts: list[tuple[int, float]], beside: int, seconds: float) -> None:
        self.busy_s += seconds
        if beside:
            self._advance(1, beside)
        for place, part in parts:
            self.reading[place][1] -= part
        while self.reading and self.reading[0][1] < 1e-9:
            self._answer(self.reading.popleft()[0])
        self._begin()

    def _answer(self, request: Request) -> None:
        """The first token of an answer: its further ones follow, a step each."""
        request.first_s = self.env.now
        others = len(self.writing)
        step_s = self.steps.plain_s(others, self.context) if others else 0.0
        request.front_s = _front_s(float(request.context), others + 1.0, step_s) + AHEAD * step_s
        if request.output_tokens <= 1:
            self._end(request)
            return
        self.taken += 1
        heappush(self.writing, (self.count + request.output_tokens - 1, self.taken, request))
        self.context += request.context

    def _advance(self, many: int, running: int) -> None:
        """So many steps later: every answer is longer by as many tokens, and some are done."""
        self.count += many
        self.context += many * running
        while self.writing and self.writing[0][0] <= self.count:
            request = heappop(self.writing)[2]
            self.context -= request.context + request.output_tokens - 1
            self._end(request)

    def _end(self, request: Request) -> None:
        request.end_s = self.env.now
        self.ended(self, request)
