"""Every fleet that could serve a workload, in one call: accelerators and contracts, by the graph of
the chapter `load_of_a_day`; beside it what an API asks and what owning takes.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from scaleright.costs.day_bills import DayBill, day_bill
from scaleright.costs.day_choices import DayChoices
from scaleright.costs.token_offers import hosts_spread, median_over, paid_tokens
from scaleright.costs.tokens import MILLION, mix_usd_per_million
from scaleright.decisions.build_buy import (
    CONTRACTS,
    OwnedBase,
    OwnedFleet,
)
from scaleright.decisions.plan_parts import Asked
from scaleright.decisions.plan_runs import read_at
from scaleright.decisions.plan_workload import SERVERS, Workload
from scaleright.formulas import search
from scaleright.inference.day import DayFleet
from scaleright.inference.demand import requests_of
from scaleright.inference.formats import USUAL
from scaleright.inference.node_speed import node_speed
from scaleright.market import BEST, Hosts, Rents
from scaleright.ops import where
from scaleright.quantity import given
from scaleright.units import DAYS_PER_YEAR, figure
from scaleright.units import usd as dollars

LONG = {"startup_minutes": 10.0, "least_engines": 1, "waiting_share": 0.0, "seller": "median"}
"""What a service is given where nothing else is asked, as the chapter has it."""


@dataclass(frozen=True)
class Fleets:
    """A service of a day as quantities of a case.

    values : of the case, as the chapter's parameters
    lengths : tokens of a prompt and of an answer, as asked
    longest : the prompt of the trace than which one in twenty is longer [token]
    fleet, bill, rents : of the case
    equal : by accelerator, how many of the trace's requests one of those asked for is worth, by the
        time it takes [1]
    own : the same fleet of one's own, what is owned already counted
    base : a base of one's own, with what the busier hours take rented
    have : chips of the accelerator that are owned already [1]
    """

    values: Mapping[str, Any]
    lengths: tuple[float, float]
    longest: float
    fleet: DayFleet
    bill: DayBill
    rents: Rents
    equal: Mapping[str, float]
    own: OwnedFleet
    base: OwnedBase
    have: Any

    @classmethod
    def of(cls, of: Workload, model: str, chips: Sequence[str] = SERVERS) -> Self:
        """Those of a workload that serves a model on some accelerators."""
        tables = DayChoices.of([model], list(chips))
        terms = tables.traces[of.trace]
        values = {
            "model": model,
            "accelerator": chips[0],
            "trace": of.trace,
            "requests_per_day": float(of.requests_per_day or 0.0),
            "peak_to_mean": of.peak_to_mean,
            "pace_tokens_per_s": of.pace_tokens_per_s,
            "ttft_s": of.ttft_s,
            "spare_engines": of.spare_engines,
            "scaling": "base and bursts",
            "contract": CONTRACTS[0],
        } | LONG
        more = {"cached_share": terms["cached_share"], "rent_usd_per_hour": 0.0}
        more |= {"interruptions_per_day": 1.0, "prefixes": "what fits"}
        case = SimpleNamespace(**{of: given(of, it) for of, it in (values | more).items()})
        rents, fleet = tables.hours.rents(case), tables.fleet(case)
        bill = day_bill(fleet, rents, case)
        mean = float(terms["input_tokens"]), float(terms["output_tokens"])
        lengths = (
            (float(of.input_tokens), float(of.output_tokens or 0)) if of.input_tokens else (mean)
        )
        equal = dict.fromkeys(chips, 1.0)
        if of.input_tokens:
            equal = _equal(tables, case, chips, mean, lengths)
        place = SimpleNamespace(accelerator=case.accelerator, region=of.region)
        have = where(case.accelerator == (of.owned or ""), of.owned_chips, 0.0)
        own = OwnedFleet.of(place, chips, fleet, have)
        base = OwnedBase.of(own, fleet, rents, have)
        longest = float(terms["long_tokens"])
        return cls(values, lengths, longest, fleet, bill, rents, equal, own, base, have)

    @property
    def chips(self) -> tuple[str, ...]:
        """The accelerators."""
        return tuple(self.equal)

    def spill(self, usd_per_day: float) -> OwnedBase:
        """A base of one's own with an API beyond it, which would ask so much for all requests."""
        api = usd_per_day * DAYS_PER_YEAR
        return OwnedBase.of(self.own, self.fleet, self.rents, self.have, api)

    def requests(self, chip: str, per_day: float) -> float:
        """As many requests of the trace as take the time of so many of those asked for [1/day]."""
        return figure(per_day * self.equal[chip], 6)

    def rows(self, per_day: float, **other: Any) -> list[dict[str, Any]]:
        """The cases of all accelerators under all contracts."""
        return [
            {
                "accelerator": chip,
                "contract": contract,
                "requests_per_day": self.requests(chip, per_day),
            }
            | other
            for chip, contract in itertools.product(self.chips, CONTRACTS)
        ]

    def along(self, wanted: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """What quantities are at all of these cases."""
        case = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        found = read_at(wanted, case)
        return {name: np.broadcast_to(of, (len(rows),)) for name, of in found.items()}

    def asked(self, row: Mapping[str, Any], figures: Mapping[str, float]) -> Asked:
        """The question to the chapter that a case answers."""
        return Asked("load_of_a_day", dict(self.values) | dict(row), figures)


def _equal(
    tables: DayChoices,
    case: Any,
    chips: Sequence[str],
    mean: tuple[float, float],
    lengths: tuple[float, float],
) -> dict[str, float]:
    """Time of a request over that of the trace's, on each accelerator; 1 where neither is known."""
    times, cached_share = {}, tables.traffic(case).load.cached_share
    for name, (reads, writes) in (("mean", mean), ("asked", lengths)):
        kind = case.model, case.accelerator, USUAL
        load = requests_of(case.trace, reads, writes, cached_share)
        speed = node_speed(tables.engines, *kind, load, case.pace_tokens_per_s)
        times[name] = writes / speed.tokens_per_s
    ratio = read_at({"ratio": times["asked"] / times["mean"]}, {"accelerator": np.array(chips)})
    return {
        chip: float(of) if of > 0 else 1.0
        for chip, of in zip(chips, np.broadcast_to(ratio["ratio"], (len(chips),)), strict=True)
    }


@dataclass(frozen=True)
class Api:
    """What an API asks.

    usd_per_million : output tokens with their prompts [USD]
    usd_per_day : for all requests [USD/day]
    asked : the question to the chapter `token_cost`
    counted, why : whose price it is, and what the median of hosts asks; why there is none, empty
        where there is one
    spread : of the logarithm of that price, whose cheapest host may not do [1]
    """

    usd_per_million: float
    usd_per_day: float
    asked: Asked
    counted: str
    why: str
    spread: float

    def beside(self, chip: str) -> Self:
        """It with an accelerator beside it in the question."""
        parameters = {**self.asked.parameters, "accelerator": chip}
        return replace(self, asked=replace(self.asked, parameters=parameters))


@search
def at_api(
    of: Workload,
    model: str,
    chip: str,
    lengths: tuple[float, float],
    cached: float,
    host: str = BEST,
) -> Api:
    """What the requests of a workload cost at an API, at its cheapest host for them or at some."""
    request = round(lengths[0]), max(round(lengths[1]), 1), figure(cached, 4)
    asked = paid_tokens(Hosts([model]), given("model", model), given("api_host", host), request)
    prices = asked.input.usd, asked.output.usd, asked.cached.usd
    wanted = {"usd": mix_usd_per_million(*request, *prices), "counted": asked.counted}
    wanted |= {"why": asked.why, "age": asked.age, "spread": hosts_spread(asked, request)}
    wanted |= {"input": prices[0], "output": prices[1], "over": median_over(asked, request)}
    found = read_at(wanted, {})
    parameters = {
        "model": model,
        "accelerator": chip,
        "input_tokens": request[0],
        "output_tokens": request[1],
        "cached_share": request[2],
        "pace_tokens_per_s": of.pace_tokens_per_s,
        "ttft_s": of.ttft_s,
        "api_host": host,
        "contract": CONTRACTS[0],  # of the chip beside it, which all are rented out under
    }
    usd = float(found["usd"])
    day = usd / MILLION * request[1] * float(of.requests_per_day or 0.0)
    put = Asked("token_cost", parameters, {"price.api": usd} if usd > 0 else {})
    if not usd > 0:
        return Api(usd, day, put, str(found["counted"]), str(found["why"]), 0.0)
    spread, over = float(found["spread"]), float(found["over"])
    beside = f"; at the median of hosts {dollars(day * over)} a day" if over > 1 else ""
    said = f"{found['counted']}, {dollars(found['input'])} for a million tokens of input and"
    said += f" {dollars(found['output'])} of output on {found['age']}{beside}"
    return Api(usd, day, put, said, str(found["why"]), spread)


@search
def a_year(usd_per_day: float) -> float:
    """A bill of a day for a year [USD/year].

    >>> a_year(100.0)
    36525.0
    """
    return usd_per_day * DAYS_PER_YEAR
