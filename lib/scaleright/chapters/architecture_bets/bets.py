"""What each chip would cost by kind of model and in expectation, as quantities of a reader's case:
rents, odds and the newest MLPerf round in which two chips meet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from types import SimpleNamespace
from typing import Any, Self

import pandas as pd

from scaleright import market
from scaleright.catalog import accelerator, remembered, shared
from scaleright.chapters.architecture_bets.model import (
    ARCHITECTURES,
    CHIPS,
    SERVER,
    benchmarks,
    expected_cost,
    relative_costs,
    source_rule,
    switch_probability,
    worst_cost,
)
from scaleright.decisions.scale_up import domain
from scaleright.formulas import lookup
from scaleright.information import Choice, spread_between
from scaleright.market import Hours, PaidHour
from scaleright.mlperf import RATES, drift, summary
from scaleright.mlperf.comparison import gain_interval, gain_ratio
from scaleright.ops import INFINITY, first_case, item, maximum, where
from scaleright.quantity import at, choose, least, look_up, pick

# Two chips in the newest MLPerf round in which both stand, as quantities of a reader's choice


KINDS = {"dense": "dense models", "mixture": "mixtures of experts", "images": "images and video"}
"""The kinds of model of `ARCHITECTURES`, in words."""


@shared
def rounds(kind: str) -> dict[str, dict[str, list]]:
    """Rates of `CHIPS` in each round of all benchmarks of a kind of model, by scenario.

    in_round, benchmark : of each round, the newest and strictest first; best, tail : best rate and
    that of the lowest submissions, chip after chip in each round, 0 where nobody submitted. Lists
    are as long as the longest.
    """
    chips, kinds = list(CHIPS), benchmarks()["kind"]
    rows, ends = summary(), ["best", "tail_low"]
    rows = rows[rows["accelerator"].isin(chips) & (rows["benchmark"].map(kinds) == kind)]
    key = ["scenario", "round", "benchmark", "accuracy_target"]
    rates = rows.set_index([*key, "accelerator"])[ends].unstack()
    best, tail = (rates[end].reindex(columns=chips) for end in ends)
    several = best.notna().sum(axis=1) > 1
    best, tail = best[several].fillna(0.0), tail[several].fillna(0.0)
    order = {"level": key, "ascending": [True, False, True, False]}  # benchmarks in their order
    found: dict[str, list] = {run: [] for run in RATES}
    for row in best.sort_index(**order).index:
        found[row[0]].append((*row[1:3], best.loc[row].tolist(), tail.loc[row].tolist()))
    most = max(map(len, found.values()))
    none = ("", "", [0.0] * len(chips), [0.0] * len(chips))
    tables = {}
    for run, rows in found.items():
        names, kept, best, tail = zip(*rows, *[none] * (most - len(rows)), strict=True)
        tables[run] = {"in_round": [*names], "benchmark": [*kept]}
        tables[run] |= {"best": [*chain(*best)], "tail": [*chain(*tail)]}
    return tables


@dataclass(frozen=True)
class CommonRound:
    """Two chips on a benchmark in the newest round in which both stand: on that which is asked for
    if they met there, else on another one of its kind.

    compared : whether there is such a round of two different chips; in_round, benchmark : its name,
        and what they are compared on
    gain, low, high : how many times as much the one does as the other, with its range [1]; NaN
        where they do not meet
    rates : of every chip in that round; 0 where nobody submitted, and where they do not meet
    """

    compared: Any
    in_round: Any
    benchmark: Any
    gain: Any
    low: Any
    high: Any
    rates: Mapping[str, Any]

    @classmethod
    def of(cls, kind: str, benchmark: Any, scenario: Any, bet: Any, rival: Any) -> Self:
        """The newest common round of a bet and its rival on a benchmark of a kind of model.

        >>> found = CommonRound.of("dense", "llama3.1-405b", "Server", "GB300", "B300")
        >>> found.in_round.value, 1.3 < found.gain.value < 1.5
        ('v6.0', True)
        >>> CommonRound.of("dense", "llama3.1-405b", "Server", "MI355X", "B300").benchmark.value
        'llama2-70b'
        """
        table, chips = rounds(kind), list(CHIPS)
        row, size = choose(table, scenario), len(chips)
        pair, most = (
            [look_up(chips, chip) for chip in (bet, rival)],
            len(next(iter(table.values()))["in_round"]),
        )

        def rate(place: Any, chip: Any, column: str = "best") -> Any:
            return item(row[column], place * size + chip)

        both = [(rate(i, pair[0]) * rate(i, pair[1]) > 0, i) for i in range(most)]
        asked = [(stand & (item(row["benchmark"], i) == benchmark), i) for stand, i in both]
        place = first_case([*asked, *both], -1)
        compared, place = (place >= 0) & (bet != rival), maximum(place, 0)
        ends = [(rate(place, of, "tail"), rate(place, of), rate(place, of)) for of in pair]
        gain = gain_ratio(ends[0][1], ends[1][1])
        low, high = gain_interval(ends[0], ends[1], drift(ARCHITECTURES[kind]))
        none = float("nan")
        return cls(
            compared=compared,
            in_round=where(compared, item(row["in_round"], place), "none"),
            benchmark=where(compared, item(row["benchmark"], place), benchmark),
            gain=where(compared, gain, none),
            low=where(compared, low, none),
            high=where(compared, high, none),
            rates={chip: where(compared, rate(place, i), 0.0) for i, chip in enumerate(chips)},
        )


def require_common_round(kind: str, benchmark: str, scenario: str, bet: str, rival: str) -> None:
    """Two chips that were measured in one round of some benchmark of a kind of model.

    Raises
    ------
    LookupError : they were not, with the chips that the first of them met.

    >>> require_common_round("mixture", "deepseek-r1", "Interactive", "H200 SXM", "B200")
    Traceback (most recent call last):
    LookupError: no Interactive round on mixtures of experts has both H200 SXM and B200
    """
    if CommonRound.of(kind, benchmark, scenario, bet, rival).compared.value:
        return
    others = [
        chip
        for chip in CHIPS
        if CommonRound.of(kind, benchmark, scenario, bet, chip).compared.value
    ]
    instead = f"; {bet} stands in one with {', '.join(others)}" if others else ""
    raise LookupError(f"no {scenario} round on {KINDS[kind]} has both {bet} and {rival}{instead}")


TERMS = {"1 year": 1, "3 years": 3}


@shared
def terms() -> dict[str, dict[str, float]]:
    """Years of a commitment, and its price over that of hours on demand at AWS [1], by term.

    >>> terms()["3 years"]["committed_ratio"] < terms()["1 year"]["committed_ratio"] < 1
    True
    """
    ratios = {term: market.commitment_ratio("AWS", years).best for term, years in TERMS.items()}
    return {
        term: {"years": years, "committed_ratio": round(ratios[term], 3)}
        for term, years in TERMS.items()
    }


def common_rounds_of(case: Any) -> dict[str, CommonRound]:
    """Where the bet and its rival meet, by kind of model; nobody hurries on images."""
    return {
        kind: CommonRound.of(
            kind,
            getattr(case, kind),
            "Offline" if kind == "images" else case.scenario,
            case.bet,
            case.rival,
        )
        for kind in ARCHITECTURES
    }


@remembered
def paid_hours() -> Hours:
    """An hour of each of `CHIPS`, under every contract and from every seller."""
    return Hours(CHIPS)


def hour_of(case: Any, chip: Any) -> PaidHour:
    """An hour of a chip under the case's contract from the `seller` of both; of the bet and its
    rival at a rent of the reader's own, where the case has one.
    """
    own = (case.bet, case.bet_usd_per_hour), (case.rival, case.rival_usd_per_hour)
    mine = first_case([(name == chip, rent) for name, rent in own], 0.0)
    return paid_hours().paid(chip, case.contract, seller(case)[0], mine)


def seller(case: Any) -> tuple[Any, Any]:
    """From whom bet and rival are rented, and whether that is not whom the case asks for, as of
    `Hours.seller_of_all`.
    """
    own = case.bet_usd_per_hour, case.rival_usd_per_hour
    pair = case.bet, case.rival
    return paid_hours().seller_of_all(pair, case.contract, case.seller, own)


def hours_of(case: Any) -> dict[str, PaidHour]:
    """An hour of each chip."""
    return {chip: hour_of(case, chip) for chip in CHIPS}


def costs_of(
    case: Any, prices: Mapping[str, Any], common: CommonRound, gain: str = "gain"
) -> dict[str, Any]:
    """Cost of each chip on a kind of model, its price over what it does there, over that of the
    cheapest chip [1]; infinite where it was not measured, or where it has no price.

    Parameters
    ----------
    prices : of an hour of each chip [USD/h]; NaN where nobody sells it so
    common : where the bet and its rival meet on that kind
    gain : see `Bets.of`
    """
    rates = common.rates
    if gain != "gain":
        bets_own = getattr(common, gain) * pick(rates, case.rival)
        rates = {
            chip: where(common.compared & (case.bet == chip), bets_own, rate)
            for chip, rate in rates.items()
        }
    counting = [where(price > 0, rates[chip], 0.0) for chip, price in prices.items()]
    return dict(zip(prices, relative_costs([*prices.values()], counting), strict=True))


def of_chip(costs: Mapping[str, Mapping[str, Any]], chip: Any) -> list[Any]:
    """Costs of a chip, which may be a choice, by kind of model [1].

    >>> of_chip({"dense": {"A": 1.0, "B": 1.5}, "mixture": {"A": 2.0, "B": 1.2}}, "B")
    [1.5, 1.2]
    """
    return [pick(of, chip) for of in costs.values()]


def odds_of(case: Any) -> tuple[Any, Any]:
    """Odds of mixtures over dense models, and share of the work on images [1]."""
    return case.mixture_probability, case.image_share


@dataclass(frozen=True)
class Bets:
    """What every chip would cost in a reader's case.

    common_rounds : of the bet and its rival, by kind of model
    hours : of each chip, as the case pays for it
    costs : of each chip, by kind of model, over the cheapest chip for that kind [1]; infinite where
        it was not measured in the round, or has no price
    expected : cost of each chip at the odds of the case, over knowing in advance [1]; infinite
        where it was not measured on a kind of model that may come
    at_worst : cost of each chip on the kind that suits it least, of those that may come [1]
    case : the parameters of the chapter
    """

    common_rounds: Mapping[str, CommonRound]
    hours: Mapping[str, PaidHour]
    costs: Mapping[str, Mapping[str, Any]]
    expected: Mapping[str, Any]
    at_worst: Mapping[str, Any]
    case: Any

    @classmethod
    def of(cls, case: Any, gain: str = "gain") -> Self:
        """The bets of a case.

        Parameters
        ----------
        case : parameters of the chapter `architecture_bets`, as quantities or not
        gain : of the bet over its rival: "gain", or the "low" or "high" end of its range
        """
        common_rounds, hours = common_rounds_of(case), hours_of(case)
        prices = {chip: of.usd for chip, of in hours.items()}
        costs = {kind: costs_of(case, prices, of, gain) for kind, of in common_rounds.items()}
        odds, of_each = odds_of(case), {chip: of_chip(costs, chip) for chip in prices}
        expected, at_worst = (
            {chip: cost(*odds, *of) for chip, of in of_each.items()}
            for cost in (expected_cost, worst_cost)
        )
        return cls(common_rounds, hours, costs, expected, at_worst, case)

    @property
    def prices(self) -> dict[str, Any]:
        """Of an hour of each chip [USD/h]."""
        return {chip: of.usd for chip, of in self.hours.items()}

    @cached_property
    def paid(self) -> tuple[PaidHour, PaidHour]:
        """An hour of the bet and of its rival."""
        return hour_of(self.case, self.case.bet), hour_of(self.case, self.case.rival)

    @property
    def regrets(self) -> dict[str, Any]:
        """What each chip costs more than knowing in advance [1], the newest first; infinite for one
        that was not measured on both kinds of language model.
        """
        newest = sorted(self.prices, key=lambda chip: str(accelerator(chip).released), reverse=True)
        both = {chip: at(self.expected[chip], mixture_probability=0.5) for chip in newest}
        return {
            chip: where(cost < INFINITY, self.expected[chip] - 1, INFINITY)
            for chip, cost in both.items()
        }

    @cached_property
    def best(self) -> tuple[Any, Any]:
        """The chip that is expected to cost least, and what [1]; NaN where there is none."""
        return cheapest(self.expected)

    @property
    def possible(self) -> Any:
        """Whether two different chips that have a price meet on both kinds of language model, and
        any was measured on every kind that may come.
        """
        both = self.common_rounds["mixture"].compared & self.common_rounds["dense"].compared
        return both & self.priced & (self.best[1] > 0)

    @property
    def priced(self) -> Any:
        """Whether both have a price."""
        return self.paid[0].there & self.paid[1].there

    @property
    def unpriced(self) -> Any:
        """Why one has none, in words."""
        return where(self.paid[0].there, self.paid[1].why, self.paid[0].why)

    @property
    def premium(self) -> Any:
        """Rent of the bet over that of its rival [1]."""
        return gain_ratio(*(of.usd for of in self.paid))

    @property
    def flexible(self) -> Any:
        """Whether hours that can be given back cost no more than the best bet may lose."""
        return self.case.committed_ratio * self.best[1] >= 1

    @property
    def rule(self) -> Any:
        """What the MLPerf blog post says, see `source_rule`."""
        return source_rule(self.case.mixture_probability)

    @property
    def agrees(self) -> Any:
        """Whether that is what the best bet comes to."""
        large = look_up({chip: domain(chip) > SERVER for chip in self.prices}, self.best[0])
        return ~self.flexible & (large == (self.rule == "NVL72"))

    @property
    def flip(self) -> Any:
        """Odds of mixtures at which the bet and its rival cost the same [1]."""
        return self.switch(self.case.bet, self.case.rival)

    @cached_property
    def cheaper(self) -> SimpleNamespace:
        """Which of the two is cheaper: now, and at odds above and below `flip`.

        flips : whether `flip` is one of the odds that may be
        """
        bet, rival = self.case.bet, self.case.rival
        first = pick(self.expected, bet) < pick(self.expected, rival)
        above = at(first, mixture_probability=1.0)
        return SimpleNamespace(
            now=where(first, bet, rival),
            above=where(above, bet, rival),
            below=where(above, rival, bet),
            flips=(self.flip > 0) & (self.flip < 1),
        )

    def compared_on(self, kind: str) -> Any:
        """What the two met on, and if that is not the model that was asked for, so."""
        asked, of = getattr(self.case, kind), self.common_rounds[kind].benchmark
        return of + where(of == asked, "", " (they did not meet on " + asked + ")")

    def either(self, kind: str) -> Any:
        """Whether the range of the gain on a kind of model leaves open which of the two is cheaper
        there.
        """
        of = self.common_rounds[kind]
        return (of.low < self.premium) & (of.high > self.premium)

    @property
    def figures(self) -> dict[str, Any]:
        """The numbers that a machine may want, by name."""
        gains = {
            f"gain_{kind}{suffix}": value
            for kind in ("mixture", "dense")
            for of in [self.common_rounds[kind]]
            for suffix, value in {"": of.gain, "_low": of.low, "_high": of.high}.items()
        }
        return gains | {"premium": self.premium}

    def switch(self, one: Any, other: Any) -> Any:
        """Odds of mixtures at which two chips cost the same, see `switch_probability` [1]."""
        costs = of_chip(self.costs, one) + of_chip(self.costs, other)
        return switch_probability(self.case.image_share, *costs)

    def table(self) -> pd.DataFrame:
        """The payoff matrix: rent of each chip [USD/h], its cost by kind of model, expected and at
        worst, over the cheapest [1].
        """
        columns = dict(zip(KINDS.values(), self.costs.values(), strict=True))
        columns |= {"expected": self.expected, "at worst": self.at_worst}
        return pd.DataFrame(
            {"chip": list(self.prices), "rent [USD/h]": list(self.prices.values())}
            | {name: [_measured(cost) for cost in of.values()] for name, of in columns.items()}
        )

    def switches(self) -> pd.DataFrame:
        """The odds of mixtures at which each chip costs as much as the bet, and which of the two is
        cheaper above them; neither where one of them wins throughout.
        """
        bet, odds, above = self.case.bet, [], []
        for chip, cost in self.expected.items():
            even = self.switch(bet, chip)
            moves = (even > 0) & (even < 1)
            first = at(pick(self.expected, bet) < cost, mixture_probability=1.0)
            odds.append(where(moves, even, float("nan")))
            above.append(where(moves, where(first, bet, chip), ""))
        return pd.DataFrame(
            {"chip": list(self.prices), "odds of mixtures": odds, "above them cheaper": above}
        )


def cheapest(costs: Mapping[str, Any]) -> tuple[Any, Any]:
    """The chip of the least of these costs, and that cost [1]; NaN where none was measured."""
    name, cost = least(costs)
    return name, _measured(cost)


def _measured(cost: Any) -> Any:
    """A cost, NaN where it is infinite: nobody measured it."""
    return where(cost < INFINITY, cost, float("nan"))


def rent_table(hours: Mapping[str, PaidHour]) -> pd.DataFrame:
    """The rents behind the bets, as a table shows them."""
    return pd.DataFrame(
        {
            "chip": list(hours),
            "rent [USD/h]": [of.usd for of in hours.values()],
            "as of": [of.age for of in hours.values()],
            "what it is": [where(of.there, of.counted, of.why) for of in hours.values()],
        }
    )


# How sure it is which of two chips is the better bet: what a ratio of two chips in MLPerf leaves
# open, at odds of kinds of models that are the reader's own


NAN = float("nan")


@lookup
def bet_or_rival(found: Bets) -> Choice:
    """The bet or its rival, by what a year of the work is expected to cost [USD/year]; NaN where
    one of them was not measured on a kind of model that may come.

    Rents are those of a commitment, odds the reader's: neither has a spread.
    """
    case, odds = found.case, odds_of(found.case)

    def ratio(kind: str, end: str) -> Any:
        moved = costs_of(case, found.prices, found.common_rounds[kind], end)
        both = (of_chip({**found.costs, kind: moved}, chip) for chip in (case.bet, case.rival))
        bet, rival = (expected_cost(*odds, *costs) for costs in both)
        return bet / rival

    spreads = {
        f"gain on {words}": abs(spread_between(ratio(kind, "low"), ratio(kind, "high")))
        for kind, words in KINDS.items()
    }
    yearly = [pick(found.expected, chip) for chip in (case.bet, case.rival)]
    bet, rival = (where(of < INFINITY, case.spend_usd_per_year * of, NAN) for of in yearly)
    return Choice(bet, rival, spreads)
