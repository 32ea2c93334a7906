"""Requests at once on one server: their pace, their price, and what more of them do to both."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scaleright.formulas import lookup
from scaleright.inference.curve_point import CurvePoint
from scaleright.inference.demand import Busy
from scaleright.inference.lengths import Load, patterns
from scaleright.inference.server_steps import ServerSteps
from scaleright.ops import where

_PACES = np.round(5 * 1.2 ** np.arange(24), 2)
"""Tokens a second at which a chart looks [token/s]."""


@dataclass(frozen=True)
class Batch:
    """Requests of a load that run at once on a server, and what their tokens cost; numbers or
    quantities.

    step : their steps
    usd_per_million : price of output tokens with their prompts [USD / 1e6 token]
    busy : how busy the server is then, if a chapter asks for it
    """

    server: ServerSteps
    load: Load
    step: CurvePoint
    usd_per_million: Any
    busy: Busy | None = None

    @property
    def room(self) -> Any:
        """Requests whose tokens fit in memory beside the weights [1]."""
        return self.server.curve.slots(self.load)

    @property
    def served(self) -> Any:
        """Whether the server holds one of them [truth value]."""
        return self.server.serves(self.load)

    @property
    def pace(self) -> Any:
        """Tokens that each reader gets in a second [token/s]."""
        return 1 / self.step.tpot_s

    @property
    def tokens_per_s(self) -> Any:
        """Output tokens of all of them in a second [token/s]."""
        return self.step.requests_per_s * self.load.output_tokens

    @property
    def answered_s(self) -> Any:
        """Time of the last token of an answer [s]."""
        return self.step.ttft_s + (self.load.output_tokens - 1) * self.step.tpot_s

    @property
    def reading(self) -> Any:
        """Share of the time in which prompts are read [1]."""
        return self.step.reading_s / self.step.step_s

    @property
    def looking(self) -> Any:
        """Share of the time in which requests look back on earlier tokens [1]."""
        return self.step.looking_s / self.step.step_s

    @property
    def usd_per_million_read(self) -> Any:
        """Price of tokens of prompts, by the time that they take [USD / 1e6 token]."""
        load = self.load
        return self.usd_per_million * self.reading * load.output_tokens / load.new_tokens

    @property
    def usd_per_million_written(self) -> Any:
        """Price of tokens of answers, by the time that they take [USD / 1e6 token]."""
        return self.usd_per_million * (1 - self.reading)

    def parts(self, requests: Any) -> dict[str, Any]:
        """Seconds of a mean step by what they go into [s]; NaN for what takes none, and for all
        where so many requests do not fit.
        """
        fits = self.served & (requests <= self.room)
        parts = self.server.parts(self.step)
        return {name: where(fits & (of > 0), of, np.nan) for name, of in parts.items()}

    def over(self, other: "Batch", requests: Any) -> dict[str, Any]:
        """What they wait and pay, over those of another batch [1]; NaN where so many requests do
        not fit.
        """
        fits = self.served & (requests <= self.room)
        found = {
            "wait for a token": self.step.tpot_s / other.step.tpot_s,
            "cost of a token": self.usd_per_million / other.usd_per_million,
        }
        return {name: where(fits, ratio, np.nan) for name, ratio in found.items()}


@lookup
def chips_by_pace(names: Sequence[str]) -> pd.DataFrame:
    """A row for each accelerator, none with a rent of the reader's own (0), and each pace of a
    chart [token/s].

    >>> chips_by_pace(["A"]).to_dict("records")[0]
    {'accelerator': 'A', 'rent_usd_per_hour': 0.0, 'pace': 5.0}
    """
    return _each(names).merge(pd.DataFrame({"pace": _PACES}), how="cross")


@lookup
def chips_by_requests(names: Sequence[str]) -> pd.DataFrame:
    """A row for each accelerator (`chip` as well), none with a rent of the reader's own (0), and
    each of `inference.lengths.patterns`.

    >>> found = chips_by_requests(["A"])
    >>> found["chip"].tolist()[0], found["requests"].tolist()[:2]
    ('A', ['code completion', 'conversation'])
    """
    rows = _each(names)
    rows.insert(0, "chip", rows["accelerator"])
    return rows.merge(pd.DataFrame(patterns()), how="cross")


def _each(names: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame({"accelerator": [*names], "rent_usd_per_hour": 0.0})
