"""Every accelerator beside those whose day a plan of a service knows, by the graph of the chapter
`hardware_compare`: what a million output tokens costs on each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from scaleright.catalog import model
from scaleright.costs.day_choices import DayChoices
from scaleright.costs.owned_hours import owned_rows
from scaleright.costs.token_offers import median_over
from scaleright.costs.tokens import MILLION
from scaleright.decisions import hardware_candidates as candidates
from scaleright.decisions import hardware_choice as choice
from scaleright.decisions.build_buy import (
    COLOCATION,
    CONTRACTS,
    FIXED,
    PARTS,
    ROOM,
    SETTINGS,
    SITE,
    AtApi,
    ServiceWays,
    cost_of_rows,
    rows_of,
)
from scaleright.decisions.hardware_candidates import (
    HardwareTables,
    TrainingSpeed,
    candidate_engines,
)
from scaleright.decisions.plan_parts import Asked
from scaleright.decisions.plan_runs import read_at
from scaleright.decisions.plan_workload import Workload
from scaleright.formulas import lookup, search
from scaleright.inference.demand import requests_of
from scaleright.inference.formats import USUAL
from scaleright.inference.node_speed import node_speed
from scaleright.market import BEST, Hosts, Hours
from scaleright.quantity import choose, given
from scaleright.units import DAYS_PER_YEAR, figure, usd
from scaleright.units import usd as dollars

# Every way to serve a workload, as the page of a plan compares them, at the case of the command:
# and what it asks the chapters on the load of a day and on tokens


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
    def of(cls, of: Workload, model: str, chips: Sequence[str]) -> Self:
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


CHAPTER = "hardware_compare"
_REST = {
    "precision": USUAL,
    "setting": SETTINGS[COLOCATION],
    "seller": "median",
    "vendor": "all",
    "segment": "data center",
    "least_providers": 1,
}
"""What the chapter is asked beside the workload: chips that stand in a data center."""
_UNTRAINED = TrainingSpeed(float("nan"), 1.0, False, 1.0, 1.0, 0.0, 0, "")
"""The training of a model that is served."""


@dataclass(frozen=True)
class Compared:
    """The cheapest of all accelerators for a service, and the one that a plan takes.

    asked : the question to the chapter
    chip, usd, chips : the cheapest, a million output tokens on it [USD], how many of it at the
        busiest time; no name where none serves it
    own_usd, own_chips : the same of the accelerator that is taken, nan where it has no such price
    """

    asked: Asked
    chip: str
    usd: float
    chips: float
    own_usd: float
    own_chips: float

    def sized(self, taken: str, chips: float) -> str:
        """Why it takes another number of the accelerator than a plan does without those that stand
        by, in words; empty where it takes as many.
        """
        if not self.own_chips > 0 or self.own_chips == chips:
            return ""
        return (
            f"the comparison takes {self.own_chips:,.0f} {taken} for {chips:,.0f} here: its"
            " requests have your mean lengths, these are those of the published hour at the pace of"
            " yours, and keep what fits of their prefixes"
        )

    def says(self, taken: str, known: tuple[str, ...]) -> str:
        """What the comparison adds to a plan that takes an accelerator, in words."""
        if not self.chip:
            return "the comparison of all accelerators finds none whose hours are sold so"
        price = f"{usd(self.usd)} a million output tokens"
        if self.chip == taken:
            return (
                f"of all accelerators the cheapest as well: {price}, its hours paid day and night"
            )
        own = f", the {taken} {usd(self.own_usd)}" if self.own_usd > 0 else ""
        why = (
            "a day of a service is not known on it"
            if self.chip not in known
            else "by hours paid day and night, and without whole servers"
        )
        return f"of all accelerators the {self.chip} costs least, {price}{own}: {why}"


@search
def compared(
    of: Workload, name: str, row: Mapping[str, Any], request: tuple[int, int, float], house: str
) -> Compared:
    """The comparison for a service.

    row : its case, with accelerator and contract
    request : tokens of a prompt and of an answer, and the share of the prompt that is cached [1]
    house : the way to own it if it is bought, see `build_buy`; empty if it is not
    """
    names = ("input_tokens", "output_tokens", "cached_share")
    values = dict(zip(names, request, strict=True)) | {
        "model": name,
        "traffic": of.trace,
        "requests_per_day": float(of.requests_per_day or 0.0),
        "peak_to_mean": of.peak_to_mean,
        "pace_tokens_per_s": of.pace_tokens_per_s,
        "ttft_s": of.ttft_s,
        "paid": "own" if house else "rent",
        "contract": row["contract"],
        "segment": _REST["segment"],
    }
    if house:
        values |= {"setting": SETTINGS[COLOCATION if house == SITE else house]}
    if house == ROOM:
        values["segment"] = "any"
    priced, best = _graph(values)
    wanted = {"usd": best.usd, "chip": best.chip, "chips": best.of["chips"]}
    found = read_at(wanted, {})
    there = {"chip": row["accelerator"]}
    mine = read_at({"usd": priced.usd, "chips": priced.chips}, there)
    figures = {}
    if found["chip"]:
        figures = {"best.usd": float(found["usd"]), "best.of['chips']": float(found["chips"])}
    return Compared(
        Asked(CHAPTER, values, figures),
        str(found["chip"]),
        *(float(found[name]) for name in ("usd", "chips")),
        *(float(mine[name]) for name in ("usd", "chips")),
    )


@lookup
def whole_request(lengths: tuple[float, float], cached: float) -> tuple[int, int, float]:
    """Requests in whole tokens, as chapters take them.

    >>> whole_request((1154.7, 0.2), 0.12345)
    (1155, 1, 0.1235)
    """
    return round(lengths[0]), max(round(lengths[1]), 1), figure(cached, 4)


def _graph(values: Mapping[str, Any]) -> tuple[choice.Priced, choice.Cheapest]:
    """Any chip, and the cheapest, as the chapter makes them."""
    task = {"task": "inference", **choice.usual()["inference"]}
    case = SimpleNamespace(
        **{of: given(of, it) for of, it in (task | _REST | dict(values)).items()}
    )
    tables, chip = _tables(values["model"]), given("chip", "H100 SXM")
    priced = choice.Priced.of(case, tables, chip, _UNTRAINED)
    return priced, choice.Cheapest.among(priced)


def _tables(name: str) -> HardwareTables:
    """The rows of one model that is served in its usual format, and not trained."""
    chips = candidates.candidate_rows()
    owned, shapes = owned_rows(tuple(chips)), {name: model(name)}
    return HardwareTables(candidate_engines((name,), ()), chips, {}, Hours([*chips]), owned, shapes)
