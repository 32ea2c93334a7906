"""Requests at once on one server: their pace, their price, and what more of them do to both."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
import pandas as pd

from scaleright.chapters.inference_roofline.server_steps import Servers, ServerSteps
from scaleright.costs.tokens import usd_per_million_tokens
from scaleright.formulas import lookup
from scaleright.inference.curve_point import CurvePoint
from scaleright.inference.demand import Batch as Seats
from scaleright.inference.demand import Busy, Demand, requests_of
from scaleright.inference.lengths import Load, patterns
from scaleright.inference.node_speed import Engines, node_speed
from scaleright.inference.weights import Weights
from scaleright.market import BEST, CheapestAccelerator, Hours, PaidHour
from scaleright.ops import maximum, minimum, where
from scaleright.quantity import given

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

    def keeps(self, pace_tokens_per_s: Any) -> Any:
        """Whether each reader gets so many tokens a second [truth value], to a hundredth, as near
        as `Curve.batch_at` finds the requests for a pace.
        """
        return self.pace >= 0.99 * pace_tokens_per_s

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


@dataclass(frozen=True)
class BatchChoices:
    """What a case of requests at once may choose from: models and formats by name, see `Servers`,
    `Engines` and `Hours` for the others.
    """

    models: Sequence[str]
    formats: Sequence[str]
    servers: Servers
    engines: Engines
    hours: Hours

    @classmethod
    def of(
        cls,
        models: Sequence[str],
        accelerators: Sequence[str],
        formats: Sequence[str],
        chips: Sequence[str],
    ) -> Self:
        """Those of some models, accelerators, formats and numbers of chips."""
        servers = Servers.of(models, accelerators, formats, chips)
        engines = Engines.of(models, accelerators)
        return cls(models, formats, servers, engines, Hours(accelerators))


@dataclass(frozen=True)
class OnServer:
    """A case of requests at once on one accelerator.

    case : with that accelerator and the contract that is taken
    tables : what it chose from
    weights, server, hour : the format, the server, and an hour of one of its accelerators
    load, demand : requests, and their traffic if it is known
    """

    case: SimpleNamespace
    tables: BatchChoices
    weights: Weights
    server: ServerSteps
    hour: PaidHour
    load: Load
    demand: Demand

    @classmethod
    def of(cls, case: Any, tables: BatchChoices, accelerator: Any) -> Self:
        """That of a case of quantities, whose accelerator and contract may be `market.BEST`."""
        case = tables.hours.on(case, accelerator)
        weights = tables.engines.weights(case.model, accelerator, case.precision)
        server = tables.servers.chosen(case.model, accelerator, weights.precision, case.chips)
        hour = tables.hours.rents(case).hour
        load = requests_of(case.traffic, case.input_tokens, case.output_tokens, case.cached_share)
        demand = Demand.of(case, case.contract)
        return cls(case, tables, weights, server, hour, load, demand)

    def batch(self, requests: Any) -> Batch:
        """So many requests at once, as many of them as fit, and what a million output tokens with
        their prompts cost.
        """
        curve, load, case = self.server.curve, self.load, self.case
        requests = maximum(minimum(requests, curve.slots(load)), 1.0)
        step = curve.at(requests, load)
        seated = self.demand.seated(curve, Seats(requests, curve.chips), load)
        busy = self.demand.busy(seated, load, case.utilization)
        tokens_per_s = step.requests_per_s * case.output_tokens
        usd = usd_per_million_tokens(self.hour.usd * curve.chips, tokens_per_s, busy.share)
        return Batch(self.server, load, step, usd, busy)

    def usd_at(self, load: Load, pace: Any) -> Any:
        """A million output tokens of requests on the engine of a node that writes most at a pace
        [USD].
        """
        on = self.case.model, self.case.accelerator, self.case.precision
        found = node_speed(self.tables.engines, *on, load, pace, self.demand)
        busy = self.demand.busy(found.seated, load, self.case.utilization)
        return usd_per_million_tokens(self.hour.usd, found.tokens_per_s, busy.share)


@dataclass(frozen=True)
class CheapestServer:
    """A case of requests at once on the accelerator that it names, or on the one on which their
    tokens cost least, of those that give each reader the pace that is asked for if there is one.

    chip, any_chip : an input of its own, the accelerator, and the case on it
    taken : the case on the one that is taken
    many : accelerators with a price, of which it is the cheapest [1]
    nameless : whether a rent of the reader's own is that of no accelerator that is named
    """

    chip: Any
    any_chip: OnServer
    taken: OnServer
    many: Any
    nameless: Any

    @classmethod
    def of(cls, case: Any, tables: BatchChoices) -> Self:
        """That of a case of quantities: also batch, and pace_tokens_per_s, the pace."""
        names, chip = tables.hours.names, given("chip", tables.hours.names[0])
        one = OnServer.of(case, tables, chip)
        found = one.batch(case.batch)
        slow = where(found.keeps(case.pace_tokens_per_s), 0.0, _FAR)
        usd = where(found.served, found.usd_per_million + slow, np.nan)
        of = case.accelerator, chip, names, usd, "servers"
        taken, many = CheapestAccelerator.of(*of)
        nameless = (case.accelerator == BEST) & (case.rent_usd_per_hour > 0)
        return cls(chip, one, OnServer.of(case, tables, taken), many, nameless)


_FAR = 1e9
"""Beyond any price of a token [USD / 1e6 token]."""


@lookup
def chips_by_pace(names: Sequence[str]) -> pd.DataFrame:
    """A row for each accelerator and each pace of a chart [token/s].

    >>> chips_by_pace(["A"]).to_dict("records")[0]
    {'chip': 'A', 'pace': 5.0}
    """
    return pd.DataFrame({"chip": [*names]}).merge(pd.DataFrame({"pace": _PACES}), how="cross")


@lookup
def chips_by_requests(names: Sequence[str]) -> pd.DataFrame:
    """A row for each accelerator (`chip` as well) and each of `inference.lengths.patterns`.

    >>> found = chips_by_requests(["A"])
    >>> found["accelerator"].tolist()[0], found["requests"].tolist()[:2]
    ('A', ['code completion', 'conversation'])
    """
    rows = pd.DataFrame({"accelerator": [*names], "chip": [*names]})
    return rows.merge(pd.DataFrame(patterns()), how="cross")
