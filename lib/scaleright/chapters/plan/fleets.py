"""Every way to serve a workload, as the page of a plan compares them, at the case of the command:
and what it asks the chapters on the load of a day and on tokens.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from scaleright.costs.day_choices import DayChoices
from scaleright.costs.token_offers import median_over
from scaleright.costs.tokens import MILLION
from scaleright.decisions.build_buy import (
    CONTRACTS,
    FIXED,
    PARTS,
    SETTINGS,
    AtApi,
    ServiceWays,
    cost_of_rows,
    rows_of,
)
from scaleright.decisions.plan_parts import Asked
from scaleright.decisions.plan_runs import read_at
from scaleright.decisions.plan_workload import SERVERS, Workload
from scaleright.formulas import search
from scaleright.inference.demand import requests_of
from scaleright.inference.formats import USUAL
from scaleright.inference.node_speed import node_speed
from scaleright.market import BEST, Hosts
from scaleright.quantity import choose, given
from scaleright.units import DAYS_PER_YEAR, figure
from scaleright.units import usd as dollars

LONG = {"startup_minutes": 10.0, "least_engines": 1, "waiting_share": 0.0, "seller": "median"}
"""What a service is given where nothing else is asked, as the chapter has it."""
SMALL = "Llama-3.1-8B"
"""A smaller model, to call where it is good enough."""


@dataclass(frozen=True)
class Api:
    """What an API asks.

    usd_per_million : output tokens with their prompts [USD]
    usd_per_day : for all requests [USD/day]
    asked : the question to the chapter `token_cost`
    counted : whose price it is, and what the median of hosts asks
    """

    usd_per_million: float
    usd_per_day: float
    asked: Asked
    counted: str


@dataclass(frozen=True)
class Fleets:
    """A service of a day as quantities of a case.

    values : of the case, as the chapter's parameters
    lengths : tokens of a prompt and of an answer, as asked
    longest : the prompt of the trace than which one in twenty is longer [token]
    equal : by accelerator, how many of the trace's requests one of those asked for is worth, by the
        time it takes [1]
    ways : to serve it
    case, tables : of `ways`
    """

    values: Mapping[str, Any]
    lengths: tuple[float, float]
    longest: float
    equal: Mapping[str, float]
    ways: ServiceWays
    case: SimpleNamespace
    tables: DayChoices

    @classmethod
    def of(cls, of: Workload, model: str, chips: Sequence[str] = SERVERS) -> Self:
        """Those of a workload that serves a model on some accelerators."""
        tables = DayChoices.of([model], list(chips))
        terms = tables.traces[of.trace]
        values = {
            "model": model,
            "accelerator": of.accelerator if of.accelerator in chips else BEST,
            "trace": of.trace,
            "requests_per_day": float(of.requests_per_day or 0.0),
            "peak_to_mean": of.peak_to_mean,
            "pace_tokens_per_s": of.pace_tokens_per_s,
            "ttft_s": of.ttft_s,
            "spare_engines": of.spare_engines,
            "scaling": "base and bursts",
            "contract": BEST,
        } | LONG
        more = {"data": of.data, "region": of.region, "budget_usd": float(of.budget_usd or 0.0)}
        more |= {"owned": of.owned or "none", "owned_chips": float(of.owned_chips)}
        case = SimpleNamespace(**{of: given(of, it) for of, it in (values | more).items()})
        case.tuned = of.tunes or of.trains
        mean = float(terms["input_tokens"]), float(terms["output_tokens"])
        lengths, equal = mean, dict.fromkeys(chips, 1.0)
        if of.input_tokens:
            lengths = float(of.input_tokens), float(of.output_tokens or 0)
            names = ("input_tokens", "output_tokens")
            case.lengths = tuple(map(given, names, lengths))
            equal = _equal(tables, case, chips, mean, lengths)
            case.worth = {chip: {"worth": it} for chip, it in equal.items()}
        ways = ServiceWays.of(case, tables, chips, Hosts([model]))
        longest = float(terms["long_tokens"])
        return cls(values, lengths, longest, equal, ways, case, tables)

    @property
    def chips(self) -> tuple[str, ...]:
        """The accelerators."""
        return tuple(self.equal)

    def of_chips(self, chips: Sequence[str]) -> tuple[SimpleNamespace, DayChoices]:
        """The case on other accelerators, and the rows of these."""
        tables = DayChoices.of([self.values["model"]], list(chips))
        case = SimpleNamespace(**vars(self.ways.one.case))
        case.requests_per_day = self.case.requests_per_day
        if case.lengths:
            terms = tables.traces[self.values["trace"]]
            mean = float(terms["input_tokens"]), float(terms["output_tokens"])
            equal = _equal(tables, self.case, chips, mean, self.lengths)
            case.worth = {chip: {"worth": it} for chip, it in equal.items()}
        return case, tables

    def row(self, place: int) -> dict[str, Any]:
        """The case of a row of the ways, as the chapter has it."""
        rows = rows_of(self.chips)
        chip = rows["chip"][place]
        return {
            "accelerator": chip,
            "contract": rows["under"][place],
            "requests_per_day": self.requests(chip, self.values["requests_per_day"]),
        }

    def place(self, way: str) -> int:
        """Of the row that has a way for least; -1 where it is ruled out."""
        return int(self.ways.places[way].value)

    def usd_per_day(self, way: str) -> np.ndarray:
        """What a way costs in each row, NaN where it may not be done [USD/day]."""
        return cost_of_rows(self.ways.rows, way)[: self.many] / DAYS_PER_YEAR

    @property
    def owned_per_day(self) -> np.ndarray:
        """The same of the cheapest way to own all of it."""
        return np.fmin.reduce([self.usd_per_day(way) for way in SETTINGS])

    @property
    def many(self) -> int:
        """How many rows there are for all requests."""
        return len(self.chips) * len(CONTRACTS)

    def requests(self, chip: str, per_day: float) -> float:
        """As many requests of the trace as take the time of so many of those asked for [1/day]."""
        return figure(per_day * self.equal[chip], 6)

    def along(self, wanted: Mapping[str, Any], **change: Any) -> dict[str, Any]:
        """What quantities of `ways.one` are in all rows, where the case is changed so."""
        case = {of: np.array(it[: self.many]) for of, it in rows_of(self.chips).items()}
        found = read_at(wanted, case | change)
        return {name: np.broadcast_to(of, (self.many,)) for name, of in found.items()}

    def at(
        self, wanted: Mapping[str, Any], row: Mapping[str, Any], **change: Any
    ) -> dict[str, Any]:
        """What they are in one, where the case is changed so."""
        case = {"chip": row["accelerator"], "under": row["contract"], "part": PARTS[0]}
        return read_at(wanted, case | change)

    def asked(self, row: Mapping[str, Any], figures: Mapping[str, float]) -> Asked:
        """The question to the chapter that a case answers."""
        return Asked("load_of_a_day", {**self.values, **row}, figures)

    def at_api(self, chip: str, model: str = "", cached: float | None = None) -> Api:
        """What the requests cost at the cheapest host for them, or with another model or other
        prompts in its cache, with an accelerator beside it in the question.
        """
        found, model = self.ways.api, model or self.values["model"]
        if model != self.values["model"] or cached is not None:
            first = SimpleNamespace(**vars(self.ways.one.case) | {"accelerator": self.chips[0]})
            kept = None if cached is None else given("cached", cached)
            found = AtApi.of(first, self.tables, Hosts([model]), given("sold", model), kept)
        asked, day = found.asked, found.usd / DAYS_PER_YEAR
        wanted = {"day": day, "counted": asked.counted, "age": asked.age}
        wanted |= {"input": asked.input.usd, "output": asked.output.usd}
        wanted |= {"over": median_over(asked, found.request)}
        wanted |= dict(zip(("reads", "writes", "cached"), found.request, strict=True))
        at = read_at(wanted, {})
        parameters = {
            "model": model,
            "accelerator": chip,
            "input_tokens": int(at["reads"]),
            "output_tokens": int(at["writes"]),
            "cached_share": figure(float(at["cached"]), 4),
            "pace_tokens_per_s": self.values["pace_tokens_per_s"],
            "ttft_s": self.values["ttft_s"],
            "api_host": BEST,
            "contract": CONTRACTS[0],  # of the chip beside it, which all are rented out under
        }
        usd = float(at["day"])
        each = usd / self.values["requests_per_day"] / max(float(at["writes"]), 1.0) * MILLION
        put = Asked("token_cost", parameters, {"price.api": each} if usd > 0 else {})
        if not usd > 0:
            return Api(each, usd, put, str(at["counted"]))
        beside = f"; at the median of hosts {dollars(usd * at['over'])} a day"
        said = f"{at['counted']}, {dollars(at['input'])} for a million tokens of input and"
        said += f" {dollars(at['output'])} of output on {at['age']}{beside * (at['over'] > 1)}"
        return Api(each, usd, put, said)


def _equal(
    tables: DayChoices,
    case: Any,
    chips: Sequence[str],
    mean: tuple[float, float],
    lengths: tuple[float, float],
) -> dict[str, float]:
    """Time of a request over that of the trace's, on each accelerator; 1 where neither is known."""
    terms = choose(tables.traces, case.trace)
    case = SimpleNamespace(**FIXED | {"cached_share": terms.cached_share} | vars(case))
    case.accelerator = given("chip", chips[0])
    times, cached_share = {}, tables.traffic(case).load.cached_share
    for name, (reads, writes) in (("mean", mean), ("asked", lengths)):
        kind = case.model, case.accelerator, USUAL
        load = requests_of(case.trace, reads, writes, cached_share)
        speed = node_speed(tables.engines, *kind, load, case.pace_tokens_per_s)
        times[name] = writes / speed.tokens_per_s
    ratio = read_at({"ratio": times["asked"] / times["mean"]}, {"chip": np.array(chips)})
    return {
        chip: float(of) if of > 0 else 1.0
        for chip, of in zip(chips, np.broadcast_to(ratio["ratio"], (len(chips),)), strict=True)
    }


@search
def a_year(usd_per_day: float) -> float:
    """A bill of a day for a year [USD/year].

    >>> a_year(100.0)
    36525.0
    """
    return usd_per_day * DAYS_PER_YEAR
