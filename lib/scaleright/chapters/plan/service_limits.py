"""Where the plan of a service turns: the requests at which another way is cheaper, and what would
help where it cannot be met.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from scaleright.chapters.plan.fleets import SMALL, Api, Fleets, a_year
from scaleright.chapters.plan.limits import rounded, unmet
from scaleright.chapters.plan.service_changes import TRIED
from scaleright.decisions.build_buy import LEAST_REQUESTS
from scaleright.decisions.plan_parts import Part, Relaxation, count, percent
from scaleright.decisions.plan_workload import Workload, right_share
from scaleright.formulas import search
from scaleright.units import duration, usd

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
