"""Where the plan of a service turns: the requests at which another way is cheaper, and what would
help where it cannot be met.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple, Self

import numpy as np

from scaleright.catalog import model as shape
from scaleright.chapters.plan.hardware import SMALL, Api, Fleets, a_year
from scaleright.chapters.plan.limits import rounded, unmet
from scaleright.costs.day_bills import day_bill
from scaleright.costs.day_choices import DayChoices
from scaleright.decisions import inference_ladder as source
from scaleright.decisions.build_buy import CONTRACTS, LEAST_REQUESTS, ServiceWays
from scaleright.decisions.plan_parts import Asked, Part, Relaxation, Step, count, percent
from scaleright.decisions.plan_runs import read_at
from scaleright.decisions.plan_workload import Workload, right_share
from scaleright.formulas import search
from scaleright.inference import ladder
from scaleright.ops import item, maximum, where
from scaleright.quantity import given, over
from scaleright.quantity.lists import place_of_least
from scaleright.units import DAYS_PER_YEAR, duration, figure, usd

# What a service costs if it were asked for otherwise: levers on its bill, other demands, and
# other numbers of requests, on the accelerator that a plan takes


TRIED = np.geomspace(1e3, 1e8, 101)
"""Requests a day at which the ways are compared."""
WAITING, SLOWER = "let a third of the requests wait for a valley", "promise half of the pace"
SPOT = "rent on spot, and be interrupted once a day"
QUARTER = "rent from the cheapest quarter of sellers"
TENTH, TENFOLD = "a tenth of the requests", "ten times the requests"
SOONER, QUICKER = (
    "half a second to the first token",
    "60 tokens a second for each reader",
)
AS_IT_IS = "as it is"
NAN = float("nan")
CHANGES: Mapping[str, Mapping[str, float]] = {
    AS_IT_IS: {},
    WAITING: {"waits": 0.3},
    SLOWER: {"of_pace": 0.5},
    SPOT: {"on_spot": 1.0},
    QUARTER: {"from_quarter": 1.0},
    TENTH: {"times": 0.1},
    TENFOLD: {"times": 10.0},
    SOONER: {"within_s": 0.5},
    QUICKER: {"at_pace": 60.0},
}
"""What is changed, by its name."""
_SAME = {
    "times": 1.0,
    "waits": 0.0,
    "of_pace": 1.0,
    "on_spot": 0.0,
    "from_quarter": 0.0,
    "within_s": 0.0,
    "at_pace": 0.0,
    "per_day": 0.0,
}
LEAST_PACE = 5.0
"""The slowest pace that is promised [token/s]."""


@dataclass(frozen=True)
class Changed:
    """The fleet that a plan takes, for changed cases.

    usd, chips : by what is changed, what a day costs rented [USD/day], and accelerators at the
        busiest time; NaN where no engine serves it so, or nobody rents it out
    turn : requests a day from which renting is cheaper than an API; 0 where it is at no number
    holds : requests a day that the chips hold which are bought or owned
    """

    usd: Mapping[str, Any]
    chips: Mapping[str, Any]
    turn: Any
    holds: Any

    @classmethod
    def of(cls, ways: ServiceWays, tables: DayChoices) -> Self:
        """Those of a case whose ways are known."""
        case = ways.taken.case
        rows = [{**_SAME, **of} for of in CHANGES.values()]
        rows += [{**_SAME, "per_day": float(many)} for many in TRIED]
        of = {name: given(name, value) for name, value in _SAME.items()}
        there = SimpleNamespace(**vars(case))
        asked = where(of["per_day"] > 0, of["per_day"], of["times"] * case.requests_per_day)
        there.requests_per_day = asked
        there.waiting_share = of["waits"]
        pace = maximum(of["of_pace"] * case.pace_tokens_per_s, LEAST_PACE)
        there.pace_tokens_per_s = where(of["at_pace"] > 0, of["at_pace"], pace)
        there.ttft_s = where(of["within_s"] > 0, of["within_s"], case.ttft_s)
        there.contract = where(of["on_spot"] > 0, "spot", case.contract)
        there.seller = where(of["from_quarter"] > 0, "cheapest quarter", "median")
        fleet, rents = tables.fleet(there), tables.hours.rents(there)
        best = day_bill(fleet, rents, there).best[1]
        usd = where(fleet.served & (best > 0), best, NAN)  # on a page a price that lacks is none
        chips = where(fleet.served, fleet.peak * fleet.engine.chips, NAN)
        api = ways.api.usd / DAYS_PER_YEAR / case.requests_per_day * asked
        tried = of["per_day"] > 0
        have = ways.taken.own.chips
        found = over(
            "changes",
            {of[name]: [row[name] for row in rows] for name in _SAME},
            {
                "usd": usd,
                "chips": chips,
                "dearer": where(tried & ~(usd < api), -of["per_day"], NAN),
                "cheaper": where(tried & (usd < api), of["per_day"], NAN),
                "held": where(tried & (chips <= have), -of["per_day"], NAN),
            },
            case.weighed,
        )
        every = [row["per_day"] for row in rows]
        last, first = (place_of_least(found[name]) for name in ("dearer", "cheaper"))
        # from which it stays so, or is first so where it does not stay
        after = where(last < len(rows) - 1, maximum(last + 1, len(CHANGES)), first)
        turn = where(first >= 0, item(every, where(first >= 0, after, 0)), 0.0)
        held = place_of_least(found["held"])
        return cls(
            {name: item(found["usd"], at) for at, name in enumerate(CHANGES)},
            {name: item(found["chips"], at) for at, name in enumerate(CHANGES)},
            turn,
            where(held >= 0, item(every, where(held >= 0, held, 0)), 0.0),
        )

    def saved(self, name: str, rented: Any) -> Any:
        """What a change saves [1]: of the bill where it is rented, else of the chips."""
        usd, chips = (1 - of[name] / of[AS_IT_IS] for of in (self.usd, self.chips))
        found = where(rented, usd, chips)
        if name in {SPOT, QUARTER}:
            found = where(rented, found, 0.0)
        return where(found > 0, found, 0.0)


# The levers on the bill of a service, those that apply to how it is served: of a fleet by the
# chapters `load_of_a_day` and `inference_ladder`, of an API by `token_cost`


LADDER_MODELS = ("Llama-3.1-8B", "Qwen3-32B", "Llama-3.1-70B")
LADDER_CHIPS = (
    *("H100 SXM", "H200 SXM", "B200", "B300", "GB300", "MI300X", "MI325X", "MI350X"),
    *("A100 SXM 80GB", "RTX PRO 6000"),
)
"""What the chapter `inference_ladder` offers of what is served here, as a test holds."""
LEAST = 0.01
"""A saving that is worth a line [1]."""
_WAITS = {WAITING: {"waiting_share": 0.3}}
_RENTED = {
    SPOT: {"contract": "spot"},
    QUARTER: {"seller": "cheapest quarter"},
}


class Lever(NamedTuple):
    """A lever: what it saves of the bill [1], what is done, what it needs, and the chapter."""

    saving: float
    words: str
    needs: str
    asked: Asked


@search
def levers(of: Workload, fleets: Fleets, row: Mapping[str, Any], way: str) -> Step:
    """The sixth step of a plan: the levers, that which saves most first.

    Parameters
    ----------
    row : the case of the fleet
    way : what is done with it
    """
    if way == "call an API":
        found = _of_an_api(of, fleets, str(row["accelerator"]))
    else:
        found = _of_a_fleet(of, fleets, row, way) + _climbed(of, fleets, row)
    found = sorted(found, key=lambda one: (-figure(one.saving, 3), one.words))
    if not found:
        return Step("None that was tried saves any: the bill is about as small as it can be.")
    told = [f"{one.words}: {percent(one.saving)} less; {one.needs}" for one in found]
    asked = {one.asked.command: one.asked for one in found}
    says = f"First {found[0].words}: {percent(found[0].saving)} less."
    return Step(says, told, [*asked.values()])


def _of_a_fleet(of: Workload, fleets: Fleets, row: Mapping[str, Any], way: str) -> list[Lever]:
    """Those of the chapter on the load of a day; of a fleet of one's own those that save chips."""
    one = fleets.ways.one
    wanted = {"usd": one.bill.best[1], "best": one.bill.best[0]}
    wanted["chips"] = one.fleet.peak * one.fleet.engine.chips
    now, found = fleets.at(wanted, row), []
    slower = max(of.pace_tokens_per_s / 2, 5.0)
    changes = _WAITS | {f"promise {slower:g} tokens a second": {"pace_tokens_per_s": slower}}
    changes |= _RENTED if way == "rent" else {}
    words_of = {WAITING: "needs work that nobody waits for, such as summaries at night"}
    counted = "usd" if way == "rent" else "chips"
    for words, change in changes.items():
        there = fleets.at(wanted, row, **change)
        saved = 1 - float(there[counted]) / float(now[counted])
        if saved > LEAST:
            read = {"usd": "bill.chosen.usd_per_day", "chips": "fleet.peak"}[counted]
            figures = {read: float(there["usd"])} if counted == "usd" else {}
            asked = fleets.asked({**row, **change, "scaling": str(there["best"])}, figures)
            needs = words_of.get(
                words,
                "the price is that of the promise"
                if "promise" in words
                else "the contract has to hold",
            )
            found.append(Lever(saved, words, needs, asked))
    return found


def _of_an_api(of: Workload, fleets: Fleets, chip: str) -> list[Lever]:
    """Those on what an API asks."""
    found, now = [], fleets.at_api(chip)
    tried = {
        "keep the first half of prompts the same, so that it is cached": (
            fleets.at_api(chip, cached=0.5),
            "needs prompts that begin alike: system prompts and conversations",
        ),
    }
    right = right_share(SMALL) or 0.0
    if of.served != SMALL and right >= (of.quality or 0.0):
        tried[f"call {SMALL} where it is good enough"] = (
            fleets.at_api(chip, SMALL),
            f"it is right on {percent(right)} of usual requests",
        )
    for words, (there, needs) in tried.items():
        saved = 1 - there.usd_per_million / now.usd_per_million
        if saved > LEAST:
            found.append(Lever(saved, words, needs, there.asked))
    return found


def _climbed(of: Workload, fleets: Fleets, row: Mapping[str, Any]) -> list[Lever]:
    """The levers of the chapter on the ladder that are taken, with what each saves of chips."""
    name, chip = shape(str(row.get("model", of.served))).name, row["accelerator"]
    if name not in LADDER_MODELS or chip not in LADDER_CHIPS:
        return []
    values = _ladder_case(of, fleets, name, str(chip))
    usual = {"batching": "continuous", "static_batch": 8, "together": 0.3}
    usual |= {"prefix_share": 0.5, "repeated_share": 0.05, "allowed_loss": 0.01, "smaller": SMALL}
    case = SimpleNamespace(**{name: given(name, it) for name, it in (values | usual).items()})
    words = source.levers_of_source()
    models = [*dict.fromkeys((name, SMALL))]
    fleet, levers_ = ladder.Fleet.of(case), words["lever"]
    climb = ladder.Ladder(fleet, models, [str(chip)], levers_, fixed=True)
    needs = words.set_index("lever")["needs"]
    parts = {
        f"{n} {part}": getattr(step, part)
        for n, step in enumerate(climb.steps)
        for part in ("taken", "chips", "before")
    }
    at = parts | read_at({key: it for key, it in parts.items() if hasattr(it, "value")}, {})
    last = float(at[f"{len(climb.steps) - 1} chips"])
    asked = Asked("inference_ladder", values, {"end.chips": last} if last > 0 else {})
    found = []
    for n, step in enumerate(climb.steps[1:], 1):
        saved = 1 - float(at[f"{n} chips"]) / float(at[f"{n} before"])
        if at[f"{n} taken"] and saved > LEAST:
            found.append(Lever(saved, step.name, f"needs {needs[step.name]}", asked))
    return found


def _ladder_case(of: Workload, fleets: Fleets, name: str, chip: str) -> dict[str, Any]:
    """The parameters of the chapter on the ladder for a service."""
    reads, writes = fleets.lengths
    return {
        "model": name,
        "accelerator": chip,
        "contract": CONTRACTS[0],
        "precision": "usual",
        "requests_per_s": max(figure(float(of.requests_per_day or 0) / 86_400, 6), 0.1),
        "input_tokens": figure(reads, 6),
        "output_tokens": figure(writes, 6),
        "traffic": of.trace,
        "peak_to_mean": of.peak_to_mean,
        "tpot_ms": figure(1e3 / of.pace_tokens_per_s, 6),
        "ttft_s": max(of.ttft_s, 0.2),
        "services": 1,
        "variants": 1,
    }


API = "call an API"
SURE = "as sure as the model of serving, which was off by a fifth in the median of engines"
PACES = np.array([5.0, 7.5, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 75.0, 100.0, 125.0, 150.0])


@search
def thresholds(
    of: Workload,
    fleets: Fleets,
    row: Mapping[str, Any],
    api: Api,
    ways: Mapping[str, float],
    owned_chips: int = 0,
) -> tuple[str, list[str]]:
    """From how many requests a day a fleet of one's own is cheaper than an API, and what other
    demands would cost, in words.
    """
    per_day, chip = float(of.requests_per_day or 0.0), row["accelerator"]
    one = fleets.ways.one
    used = one.fleet.peak * one.fleet.engine.chips
    wanted = {"usd": one.bill.best[1], "chips": used}
    many = fleets.at(wanted, row, requests_per_day=TRIED)
    rented = many["usd"]
    told = []
    says = "Ten times the requests would change the size of the fleet, not what is done."
    if API in ways:
        says = _turn(chip, per_day, rented, api.usd_per_day / per_day * TRIED)
    for words, factor in (("a tenth of the requests", 0.1), ("ten times the requests", 10.0)):
        at = float(np.interp(per_day * factor, TRIED, np.nan_to_num(rented, nan=0.0)))
        if at > 0 and TRIED[0] <= per_day * factor <= TRIED[-1]:
            told.append(f"{words}: {usd(at)} a day rented")
    if owned_chips:
        says_own = _until(many["chips"], owned_chips, chip)
        told = [f"{says_own}; beyond that buy the next server"] + told * (API in ways)
        says = says if API in ways else f"{says_own}: up to there the bill stays the same."
        told = told if API in ways else told[1:]
    slower = {"half a second to the first token": {"ttft_s": 0.5}}
    slower |= {"60 tokens a second for each reader": {"pace_tokens_per_s": 60.0}}
    for words, change in slower.items():
        at = fleets.at(wanted, row, **change)
        cost = f"{usd(float(at['usd']))} a day rented" if at["usd"] > 0 else ""
        cost = f"{at['chips']:,.0f} {chip}" if owned_chips and at["chips"] > 0 else cost
        told.append(f"{words}: {cost or f'no {chip} keeps that'}")
    return says, told


def _turn(chip: str, per_day: float, rented: np.ndarray, asks: np.ndarray) -> str:
    """From how many requests a day renting is cheaper than an API, in words."""
    cheaper = rented < asks
    if not cheaper.any():
        return f"Renting {chip} is cheaper than the API at no number of requests."
    first = count(rounded(float(TRIED[_last_turn(cheaper)]), up=True), 2)
    return (
        f"Renting {chip} is cheaper than the API from about {first} requests a day; you have"
        f" {count(per_day)}."
    )


def _until(needed: np.ndarray, chips: int, chip: str) -> str:
    """How many requests a day the servers that are bought hold, of which each number tried needs so
    many chips, in words.
    """
    enough = TRIED[np.flatnonzero(needed <= chips)]
    most = float(enough[-1]) if enough.size else 0.0
    return f"{chips:,} {chip} hold about {count(most, 2)} requests a day"


def _last_turn(cheaper: np.ndarray) -> int:
    """The place from which it stays so, or is first so where it does not stay."""
    other = np.flatnonzero(~cheaper)
    after = int(other[-1]) + 1 if other.size else 0
    return after if after < cheaper.size else int(np.flatnonzero(cheaper)[0])


@search
def unheld(of: Workload, work: str) -> Part:
    """The part of a plan whose model no node of the accelerator holds."""
    says = f"the model: no node of {of.accelerator or 'any accelerator'} holds it"
    change = Relaxation("leave the accelerator open", "accelerator", None, 1.0)
    return unmet(work, says, "there is no engine for it.", [change] * bool(of.accelerator), SURE)


@search
def unmet_service(of: Workload, work: str, fleets: Fleets, ways: Mapping[str, float]) -> Part:
    """The part of a plan whose service cannot be had: what breaks, and what would help.

    ways : dollars of a day by what may be done
    """
    if ways and of.budget_usd:
        return _too_dear(of, work, fleets, ways)
    fleet, sure = fleets.ways.one.fleet, SURE
    at = fleets.along({"keeps_pace": fleet.fits_pace, "least_ttft_s": fleet.least_ttft_s})
    if not at["keeps_pace"].any():
        pace = _quickest_pace(fleets)
        says = f"the pace of {of.pace_tokens_per_s:g} tokens a second: the quickest engine of one"
        says += f" node keeps {pace:g}" if pace else " node keeps none that was tried"
        share = of.pace_tokens_per_s / pace - 1 if pace else 0.0
        slower = Relaxation(f"promise {pace:g} tokens a second", "pace_tokens_per_s", pace, share)
        return unmet(work, says, "no engine writes so fast.", [slower] if pace else [], sure)
    least = np.where(np.isfinite(at["least_ttft_s"]), at["least_ttft_s"], np.inf)
    place = int(np.argmin(least))
    if least[place] > of.ttft_s:
        needed = rounded(float(least[place]), up=True)
        over = least[place] / of.ttft_s
        says = (
            f"the first token within {duration(of.ttft_s)}: the quickest,"
            f" {fleets.row(place)['accelerator']}, takes {duration(float(least[place]))} for one of"
            f" the longest prompts with nobody waiting, {over:.3g} times as long"
        )
        later = Relaxation(
            f"promise the first token within {duration(needed)}",
            "ttft_s",
            needed,
            needed / of.ttft_s - 1,
        )
        return unmet(work, says, "one in twenty prompts is that long.", [later], sure)
    says = "the supply: nobody rents out or sells an accelerator that serves it under these terms"
    change = Relaxation("leave the accelerator open", "accelerator", None, 1.0)
    return unmet(work, says, "no price is listed.", [change], sure)


def _quickest_pace(fleets: Fleets) -> float:
    """The quickest of the paces tried that an engine keeps [token/s]; 0 where none is."""
    fits = {"kept": fleets.ways.one.fleet.fits_pace}
    found = (fleets.along(fits, pace_tokens_per_s=float(pace))["kept"].any() for pace in PACES)
    return max((pace for pace, kept in zip(PACES, found, strict=True) if kept), default=0.0)


def _too_dear(of: Workload, work: str, fleets: Fleets, ways: Mapping[str, float]) -> Part:
    """Every way costs more than there is."""
    way = min(ways, key=lambda name: (ways[name], name))
    cost, budget = a_year(ways[way]), float(of.budget_usd or 0.0)
    says = (
        f"the budget of {usd(budget)} a year: the cheapest, to {way}, costs {usd(cost)},"
        f" {cost / budget:.3g} times as much"
    )
    needed = rounded(cost, up=True)
    found = [
        Relaxation(f"spend {usd(needed)} a year", "budget_usd", needed, needed / budget - 1),
        _fewer(of, fleets),
        _smaller(of, fleets, budget),
    ]
    sure = "as sure as prices and speeds are: both ends of the range would have to be off"
    return unmet(work, says, "no way of serving it costs less.", found, sure, usd_per_year=cost)


def _fewer(of: Workload, fleets: Fleets) -> Relaxation | None:
    """As many requests as the budget pays for."""
    per_day, most = float(of.requests_per_day or 0.0), float(fleets.ways.fewer.value)
    if not LEAST_REQUESTS <= most < per_day:
        return None
    value = rounded(most, up=False)
    says = f"serve {count(value)} requests a day instead of {count(per_day)}"
    return Relaxation(says, "requests_per_day", value, per_day / value - 1)


def _smaller(of: Workload, fleets: Fleets, budget: float) -> Relaxation | None:
    """A smaller model at an API, if the budget pays for it and it is right often enough."""
    right = right_share(SMALL) or 0.0
    at_api = fleets.ways.usd[API].value < np.inf
    if not at_api or of.served == SMALL or right < (of.quality or 0.0):
        return None
    cost = a_year(fleets.at_api(fleets.chips[0], SMALL).usd_per_day)
    if cost > budget:
        return None
    mine = right_share(of.served)
    says = f"call {SMALL} at an API: {usd(cost)} a year, right on {percent(right)} of the requests"
    says += f" instead of {percent(mine)}" if mine else ""
    return Relaxation(says, "model", SMALL, mine / right - 1 if mine else 1.0)
