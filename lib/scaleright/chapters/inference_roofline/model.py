"""The steps of any server of one node, as quantities: what more requests at once do to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.costs.tokens import usd_per_million_tokens
from scaleright.formulas import lookup
from scaleright.inference.curves import Curve, CurvePoint
from scaleright.inference.demand import Batch as Seats
from scaleright.inference.demand import Busy, Demand, requests_of
from scaleright.inference.deployment import Deployment, valid
from scaleright.inference.engine_tables import figures, servers
from scaleright.inference.formats import Weights, either, offered
from scaleright.inference.lengths import Load, patterns
from scaleright.inference.node_speed import Engines, node_speed
from scaleright.inference.phases import chip_speeds
from scaleright.inference.slowdowns import borrowed, interval
from scaleright.inference.splits import LEAST_ROOM, SOFTWARE, server
from scaleright.market import BEST, CheapestAccelerator, Hours, PaidHour
from scaleright.ops import maximum, minimum, where
from scaleright.quantity import choose, given
from scaleright.roofline import balance_rows
from scaleright.transformer.memory import bytes_per_parameter
from scaleright.units import significant

# Requests at once on one server: their pace, their price, and what more of them do to both


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

    def over(self, other: Batch, requests: Any) -> dict[str, Any]:
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


FEWEST = "fewest"
"""The choice of as many chips as a `server` has."""
_CURVE = tuple(Curve.__dataclass_fields__)
Figures = Mapping[tuple[str, ...], Mapping[str, Any]]
"""Rows for `choose` by what may be chosen together."""


@dataclass(frozen=True)
class ServerSteps:
    """The steps of the server that is chosen; NaN where there is none.

    curve : its steps at any batch and load
    network, engine : of the steps that give answers alone, see `engine_tables.Served` [s]
    balance : rows of a step at which the arithmetic of the feed-forward weights takes as long as
        their reading [1]
    ridge : operations that the chip does in the time of reading a byte [FLOP/B]
    low, high : bounds of measured over predicted speed [1]
    sure : the same in words, and whose constants the steps are by, if not its own
    there : whether there is one [truth value]
    lacking : what keeps any from it, in words; empty where there is one
    """

    curve: Curve
    network: Any
    engine: Any
    balance: Any
    ridge: Any
    low: Any
    high: Any
    sure: Any
    there: Any
    lacking: Any

    @property
    def chips(self) -> Any:
        """Chips that share the model [1]."""
        return self.curve.chips

    def serves(self, load: Load) -> Any:
        """Whether there is a server that holds one request of a load [truth value]."""
        return self.there & (self.curve.slots(load) >= 1)

    def why_not(self, load: Load) -> Any:
        """What keeps it from that, in words; none where nothing does."""
        long = "such a request does not fit in memory. Shorten it or take more chips."
        return where(self.there, where(self.serves(load), "", long), self.lacking)

    def turn(self, load: Load) -> Any:
        """Requests at once from which arithmetic takes longer than reading the weights: tokens of
        prompts count with those of answers [1].
        """
        return self.balance / (1 + load.new_tokens / load.output_tokens)

    def parts(self, point: CurvePoint) -> dict[str, Any]:
        """Seconds of a mean step by what they go into [s]."""
        network = replace(self.curve, decoding=self.network).writing_s(point.batch)
        engine = self.engine[0] + self.engine[1] * (point.batch - 1)
        return {
            "weights": self.curve.writing_s(point.batch) - network - engine,
            "KV-cache attention": point.looking_s,
            "prompts": point.reading_s,
            "between chips": network,
            "engine": engine,
        }

    def alone(self, tokens: Any) -> dict[str, Any]:
        """Seconds in which so many tokens are written, and in which they are read, with nothing
        beside [s].
        """
        looking = self.curve.looking_s(1.0, tokens / 2)
        return {
            "writing them": tokens * (looking + self.curve.writing_s(1.0)),
            "reading them": self.curve.prompt_s(tokens),
        }


def _feed_forward(d: Deployment) -> str:
    """The part of a model that most of its weights are."""
    return "experts" if d.model.experts else "dense"


@lookup
def arithmetic_rows(d: Deployment) -> float:
    """Rows of a step at which the arithmetic of the feed-forward weights takes as long as their
    reading [1]: of a mixture of experts each row meets a few of them.

    >>> from scaleright.catalog import accelerator, model
    >>> h100 = accelerator("H100 SXM")
    >>> [round(arithmetic_rows(Deployment(model(of), h100, "FP8")))
    ...     for of in ("Llama-3.1-70B", "DeepSeek-V3")]
    [238, 7612]
    """
    part = _feed_forward(d)
    reached, size = chip_speeds(d, part), bytes_per_parameter(d.formats[part])
    rows = balance_rows(reached.matmul_flops, reached.memory_bytes_per_s, size)
    return rows * (d.model.experts / d.model.experts_per_token if d.model.experts else 1)


SHOWN = {f"{form}, dense": ("Llama-3.1-70B", form) for form in ("BF16", "FP8", "INT4", "NVFP4")}
SHOWN |= {"FP8, DeepSeek-V3": ("DeepSeek-V3", "FP8")}
"""Models in formats that stand for all: all dense ones have the same balance."""


@lookup
def arithmetic_table(accelerators: Sequence[str]) -> list[dict[str, Any]]:
    """`arithmetic_rows` of each accelerator, a column for each of `SHOWN`; None where the chip does
    not serve the format.

    >>> a100, = arithmetic_table(["A100 SXM 80GB"])
    >>> a100["FP8, dense"], round(a100["BF16, dense"])
    (None, 151)
    """

    def rows(chip: str, model: str, form: str) -> float | None:
        one = Deployment(catalog.model(model), catalog.accelerator(chip), form)
        return arithmetic_rows(one) if valid(one) else None

    return [
        {"accelerator": chip} | {name: rows(chip, *of) for name, of in SHOWN.items()}
        for chip in accelerators
    ]


@dataclass(frozen=True)
class Servers:
    """What may be chosen.

    curves : numbers of the curve, by model, accelerator, format and chips
    parts : two parts of its table `decoding`, by the same
    usual : by model, accelerator and format: the chips of the usual `server`, the least that hold
        the model, its balance and its ridge; or what keeps all servers from it, in words
    sure : by model, accelerator and format: bounds of the speed, and the same in words
    """

    curves: Figures
    parts: Figures
    usual: Mapping[tuple[str, ...], Mapping[str, Any] | str]
    sure: Figures

    @classmethod
    def of(
        cls,
        models: Sequence[str],
        accelerators: Sequence[str],
        formats: Sequence[str],
        chips: Sequence[str],
    ) -> Self:
        """The servers of these models on these accelerators in these formats, on so many chips or
        on as many as is usual.

        >>> found = Servers.of(
        ...     ("gpt-oss-120b", "Llama-3.1-70B"), ("H100 SXM",), ("FP8",), ("fewest", "8")
        ... )
        >>> [key[-1] for key in found.curves], found.usual["gpt-oss-120b", "H100 SXM", "FP8"]
        (['4', '8'], 'the chip does not serve it in this format. Choose MXFP4.')
        """
        held = servers(tuple(models), tuple(accelerators), tuple(formats))
        least: dict[tuple[str, ...], str] = {}
        for *key, many in held:
            least.setdefault(tuple(key), many)
        usual: dict[tuple[str, ...], Mapping[str, Any] | str] = {
            key: _usual(Deployment(*_named(*key)), least.get(key))
            for key in product(models, accelerators, formats)
        }
        held = {
            key: of
            for key, of in held.items()
            if key[-1] in chips or (FEWEST in chips and key[-1] == _chips(usual[key[:-1]]))
        }
        return cls(
            {key: figures(of.curve) for key, of in held.items()},
            {key: {"network": of.network, "engine": of.engine} for key, of in held.items()},
            usual,
            {key: _sure(Deployment(*_named(*key))) for key in usual},
        )

    def chosen(self, model: Any, accelerator: Any, form: Any, chips: Any) -> ServerSteps:
        """The steps of the server of a model on so many chips, or on as many as is usual.

        Parameters
        ----------
        model, accelerator, form : words, quantities or not
        chips : "fewest" or their number as a word

        >>> from scaleright.quantity import evaluate, given
        >>> offered = ("fewest", "1", "8")
        >>> servers = Servers.of(("Llama-3.1-70B",), ("H100 SXM",), ("BF16", "FP8"), offered)
        >>> form, chips = given("form", "FP8"), given("chips", "fewest")
        >>> steps = servers.chosen("Llama-3.1-70B", "H100 SXM", form, chips)
        >>> found = [steps.chips, steps.lacking]
        >>> steps.chips.value, evaluate(found, {"form": "BF16", "chips": "1"})
        (4.0, [nan, 'its weights and 8 requests take 4 chips or more. Choose as many.'])
        """
        usual = choose(self.usual, model, accelerator, form)
        key = model, accelerator, form, where(chips == FEWEST, usual.chips, chips)
        curve, parts = (choose(of, *key, otherwise="no room") for of in (self.curves, self.parts))
        sure = choose(self.sure, model, accelerator, form)
        least = f"its weights and {LEAST_ROOM} requests take " + usual.least
        lacking = where(usual.there, least + " chips or more. Choose as many.", usual.why)
        alike, there = _alike(self.curves), {*curve}
        return ServerSteps(
            Curve(**{name: alike.get(name, curve[name]) for name in _CURVE if name in there}),
            parts.network,
            parts.engine,
            usual.balance,
            usual.ridge,
            sure.low,
            sure.high,
            sure.words,
            curve.there,
            where(curve.there, "", lacking),
        )


def _chips(usual: Mapping[str, Any] | str) -> str:
    """The chips of a row of `Servers.usual`; none where it says why there is no server."""
    return "" if isinstance(usual, str) else usual["chips"]


def _alike(rows: Figures) -> dict[str, Any]:
    """The columns in which all rows are alike, which a page need not look up."""
    first, *others = rows.values()
    return {name: of for name, of in first.items() if all(row[name] == of for row in others)}


def _named(model: str, accelerator: str, *form: str) -> tuple:
    return catalog.model(model), catalog.accelerator(accelerator), *form


def _usual(d: Deployment, least: str | None) -> dict[str, Any] | str:
    """A row of `Servers.usual` for a model in a format, on so many chips at least."""
    if least is None:
        return _lacking(d)
    usual = server(d.model, d.chip, d.precision)
    reached = chip_speeds(d, _feed_forward(d))
    figures = {
        "balance": arithmetic_rows(d),
        "ridge": reached.matmul_flops / reached.memory_bytes_per_s,
    }
    chips = str(usual.chips) if usual else least
    return {"chips": chips, "least": least} | {
        name: float(f"{value:.4g}") for name, value in figures.items()
    }


def _sure(d: Deployment) -> dict[str, Any]:
    """A row of `Servers.sure`."""
    d = replace(d, software=SOFTWARE)
    low, high = interval(d, "throughput")
    words = (
        "of published runs of models that no fit had seen, nine of ten wrote"
        f" {significant(low, 2)} to {significant(high, 2)} of the predicted tokens"
    )
    lent = borrowed(d)
    return {"low": low, "high": high, "words": f"{words}; {lent}" if lent else words}


def _lacking(d: Deployment) -> str:
    """Why no server of one node holds a model in a format."""
    known = offered(d.model, d.chip)
    if d.precision not in known:
        return f"the chip does not serve it in this format. Choose {either(known)}."
    return (
        f"eight chips have no room for its weights and {LEAST_ROOM} requests. Choose fewer bits or"
        " a larger chip."
    )
