"""The steady state of an engine at one batch and load, as a page's curve of it tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scaleright.inference.first_token import first_token_s, front_s
from scaleright.inference.lengths import Load
from scaleright.inference.rhythm import Rhythm
from scaleright.ops import maximum, minimum, where


@dataclass(frozen=True)
class CurvePoint:
    """A curve at one batch and load: what `serving.OperatingPoint` is to a deployment.

    batch : sequences that run [1]
    beat : how their steps are shared
    plain_s, mixed_s : a step that decodes alone, and one that carries prompts too [s]
    looking_s : part of the mean step in which sequences look back on what came before [s]
    input_tokens : of a prompt [token]
    apart_s, reader_s : reading a prompt on other chips, with the wait for half a step of theirs,
        and how long it occupies a group of them; None or 0 where it is read in these steps [s]
    """

    batch: Any
    beat: Rhythm
    plain_s: Any
    mixed_s: Any
    looking_s: Any
    input_tokens: Any
    apart_s: Any = None
    reader_s: Any = None

    @property
    def reading_s(self) -> Any:
        """What prompts add to the mean step, nothing where few answers beside them are less [s]."""
        return self.beat.carrying * maximum(self.mixed_s - self.plain_s, 0.0)

    @property
    def carried(self) -> Any:
        """Share of the time in which steps carry prompts [1]."""
        return self.beat.carrying * self.mixed_s / self.step_s

    def reads(self, load: Load) -> tuple[Any, Any, Any, Any]:
        """Of what reads prompts, the engine, or chips beside it that are as full as it is: the
        share of its time at full load [1], from one prompt to the next [s], by how much that
        varies, the standard deviation over the mean [1], and the first token where none waits [s].
        """
        varies = load.input_cv * maximum(self.mixed_s - self.plain_s, 0.0) / self.mixed_s
        own = self.carried, self.carried / self.requests_per_s, varies, self.ttft_s
        if self.reader_s is None:
            return own
        front = front_s(self.input_tokens, self.batch, self.plain_s)
        each_s = minimum(self.reader_s, 1 / self.requests_per_s)  # groups side by side
        apart = 1.0, each_s, load.input_cv, self.reader_s + front
        one, *others = (where(self.reader_s > 0, a, b) for a, b in zip(apart, own, strict=True))
        return one, *others

    @property
    def step_s(self) -> Any:
        """Mean of all steps [s]."""
        return self.plain_s + self.beat.carrying * (self.mixed_s - self.plain_s)

    @property
    def requests_per_s(self) -> Any:
        """Requests that end in a second [1/s]."""
        return self.beat.requests / self.step_s

    @property
    def tpot_s(self) -> Any:
        """Time of a further token of an answer [s]."""
        return self.plain_s + self.beat.share * (self.mixed_s - self.plain_s)

    @property
    def ttft_s(self) -> Any:
        """Time of the first token where a slot is free, on an engine that captures the steps of
        prompts [s], see `first_token`.
        """
        squares = (
            1 - self.beat.carrying
        ) * self.plain_s * self.plain_s + self.beat.carrying * self.mixed_s * self.mixed_s
        rest_s = minimum(self.batch - 1, 1.0) * squares / (2 * self.step_s)
        reading_s = self.beat.prompt_steps * self.mixed_s
        front = front_s(self.input_tokens, self.batch, self.plain_s)
        own_s = first_token_s(0.0, rest_s, self.plain_s, self.batch, reading_s, front)
        if self.apart_s is None:
            return own_s
        return where(self.apart_s > 0, self.apart_s + front, own_s)
