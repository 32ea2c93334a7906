"""Where the plan of a service turns: the requests at which another way is cheaper, and what would
help where it cannot be met.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scaleright.decisions.plan_fleets import Api, Fleets, a_year, at_api
from scaleright.decisions.plan_limits import rounded, unmet
from scaleright.decisions.plan_parts import Part, Relaxation, count, percent
from scaleright.decisions.plan_runs import read_at
from scaleright.decisions.plan_workload import Workload, right_share
from scaleright.formulas import search
from scaleright.ops import where
from scaleright.units import DAYS_PER_YEAR, duration, usd

TRIED = np.geomspace(1e3, 1e8, 101)
"""Requests a day at which the ways are compared."""
API, SMALL = "call an API", "Llama-3.1-8B"
SURE = "as sure as the model of serving, which was off by a fifth in the median of engines"
PACES = np.array([5.0, 7.5, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 75.0, 100.0, 125.0, 150.0])


@dataclass(frozen=True)
class Short:
    """What there is where a service cannot be met: the fleets, their cases, what each gives, and
    dollars of a day by what may be done.
    """

    fleets: Fleets
    rows: Sequence[Mapping[str, Any]]
    at: Mapping[str, np.ndarray]
    ways: Mapping[str, float]


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
    case = {name: it for name, it in row.items() if name not in {"requests_per_day", "scaling"}}
    many = {**case, "requests_per_day": TRIED * fleets.equal[chip]}
    rented = read_at({"usd": fleets.bill.best[1]}, many)["usd"]
    told = []
    says = "Ten times the requests would change the size of the fleet, not what is done."
    if API in ways:
        says = _turn(chip, per_day, rented, api.usd_per_day / per_day * TRIED)
    for words, factor in (("a tenth of the requests", 0.1), ("ten times the requests", 10.0)):
        at = float(np.interp(per_day * factor, TRIED, np.nan_to_num(rented, nan=0.0)))
        if at > 0 and TRIED[0] <= per_day * factor <= TRIED[-1]:
            told.append(f"{words}: {usd(at)} a day rented")
    if owned_chips:
        says_own = _until(fleets, many, owned_chips, chip)
        told = [f"{says_own}; beyond that buy the next server"] + told * (API in ways)
        says = says if API in ways else f"{says_own}: up to there the bill stays the same."
        told = told if API in ways else told[1:]
    slower = {"half a second to the first token": {"ttft_s": 0.5}}
    slower |= {"60 tokens a second for each reader": {"pace_tokens_per_s": 60.0}}
    for words, change in slower.items():
        chips = fleets.fleet.peak * fleets.fleet.engine.chips
        at = read_at({"usd": fleets.bill.best[1], "chips": chips}, {**row, **change})
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


def _until(fleets: Fleets, many: Mapping[str, Any], chips: int, chip: str) -> str:
    """How many requests a day the servers that are bought hold, in words."""
    needed = read_at({"chips": fleets.fleet.peak * fleets.fleet.engine.chips}, many)["chips"]
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
def unmet_service(of: Workload, work: str, short: Short) -> Part:
    """The part of a plan whose service cannot be had: what breaks, and what would help."""
    if short.ways and min(short.ways.values()) > 0 and of.budget_usd:
        return _too_dear(of, work, short)
    at, sure = short.at, SURE
    if not at["keeps_pace"].any():
        pace = _quickest_pace(short)
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
            f" {short.rows[place]['accelerator']}, takes {duration(float(least[place]))} for one of"
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


def _quickest_pace(short: Short) -> float:
    """The quickest of the paces tried that an engine keeps [token/s]; 0 where none is."""
    fits = short.fleets.fleet.fits_pace
    kept = 0.0
    for chip in short.fleets.chips:
        there = read_at(
            {"kept": where(fits, 1.0, 0.0)}, {"accelerator": chip, "pace_tokens_per_s": PACES}
        )["kept"]
        kept = max([kept, *PACES[np.broadcast_to(there, PACES.shape) > 0]])
    return kept


def _too_dear(of: Workload, work: str, short: Short) -> Part:
    """Every way costs more than there is."""
    way = min(short.ways, key=lambda name: (short.ways[name], name))
    cost, budget = a_year(short.ways[way]), float(of.budget_usd or 0.0)
    says = (
        f"the budget of {usd(budget)} a year: the cheapest, to {way}, costs {usd(cost)},"
        f" {cost / budget:.3g} times as much"
    )
    needed = rounded(cost, up=True)
    found = [
        Relaxation(f"spend {usd(needed)} a year", "budget_usd", needed, needed / budget - 1),
        _fewer(of, short, budget),
        _smaller(of, short, budget),
    ]
    sure = "as sure as prices and speeds are: both ends of the range would have to be off"
    return unmet(work, says, "no way of serving it costs less.", found, sure, usd_per_year=cost)


def _fewer(of: Workload, short: Short, budget: float) -> Relaxation | None:
    """As many requests as the budget pays for, rented or at an API."""
    per_day, most = float(of.requests_per_day or 0.0), 0.0
    if API in short.ways:
        most = per_day * budget / a_year(short.ways[API])
    if "rent" in short.ways:
        for row in short.rows:
            fleets, chip = short.fleets, row["accelerator"]
            case = {"accelerator": chip, "contract": row["contract"]}
            many = {**case, "requests_per_day": TRIED * fleets.equal[chip]}
            bills = read_at({"usd": fleets.bill.best[1]}, many)["usd"] * DAYS_PER_YEAR
            most = max([most, *TRIED[np.flatnonzero(bills <= budget)]])
    if not 1e3 <= most < per_day:
        return None
    value = rounded(most, up=False)
    says = f"serve {count(value)} requests a day instead of {count(per_day)}"
    return Relaxation(says, "requests_per_day", value, per_day / value - 1)


def _smaller(of: Workload, short: Short, budget: float) -> Relaxation | None:
    """A smaller model at an API, if the budget pays for it and it is right often enough."""
    right = right_share(SMALL) or 0.0
    if API not in short.ways or of.served == SMALL or right < (of.quality or 0.0):
        return None
    chip = str(short.rows[0]["accelerator"])
    cost = a_year(at_api(of, SMALL, chip, short.fleets.lengths, 0.0).usd_per_day)
    if cost > budget:
        return None
    mine = right_share(of.served)
    says = f"call {SMALL} at an API: {usd(cost)} a year, right on {percent(right)} of the requests"
    says += f" instead of {percent(mine)}" if mine else ""
    return Relaxation(says, "model", SMALL, mine / right - 1 if mine else 1.0)
