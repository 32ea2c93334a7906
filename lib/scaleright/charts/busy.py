"""How busy engines are, and whether a reader has set that or it follows from traffic: said alike on
every page.
"""

from __future__ import annotations

from typing import Any

from scaleright.charts.answers import sentence
from scaleright.charts.displays import Display
from scaleright.charts.templates import phrase
from scaleright.ops import where
from scaleright.quantity import Quantity


def utilization_source(busy: Any) -> Quantity | str:
    """Where the utilization comes from, in words.

    busy : how busy engines are, as `inference.demand` has it; None where it is as set
    """
    return where(busy.demand.known, "from your traffic", "as set") if busy else "as set"


def engine_size(engine: Any) -> Quantity | str:
    """The chips of an engine, in words: whole, but for its part of those that read prompts for
    several.
    """
    whole = phrase("{engine.chips:whole}")
    return (
        whole
        if engine.alone
        else where(engine.reading > 0, phrase("{engine.chips:number 3}"), whole)
    )


def how_busy(busy: Any, there: Any = True) -> Display:
    """The utilization, and the engines and the traffic that it follows from.

    Parameters
    ----------
    busy : how busy engines are, as `inference.demand` has it
    there : whether something is served [truth value]
    """
    fleet, demand, load = busy.fleet, busy.demand, busy.share
    filled, engines = fleet.traffic.peak_per_s / fleet.engine.requests_per_s, fleet.peak
    stands = "all of them day and night, since every hour is paid"
    if demand.stands is not True:
        given_back = "of which each hour of the day keeps those that it takes"
        stands = where(demand.stands, stands, given_back)
    size = engine_size(fleet.engine)
    few = where(
        engines <= 1,
        "One engine is the least there is, whatever the traffic.",
        "A fleet has seats free at its busiest time too, for what comes by chance and in bunches.",
    )
    fills = phrase("{filled:number 3} engines of {size} chips")
    fills = where(filled < 1e-3, phrase("hardly anything of an engine of {size} chips"), fills)
    guess = phrase(
        "The utilization, {load:percent 2}, is as set. Say what your traffic is like, and it"
        " follows from that, as in the chapter on the load of a day."
    )
    idle = where(there, guess, "Nothing is served, so that nothing is busy.")
    return sentence(
        "Your {demand.requests_per_day:whole requests} a day would fill {fills} at their busiest"
        " time and take <strong>{engines:whole}</strong>, {stands}:"
        " <strong>{load:percent 2}</strong> utilization, from your traffic. {few}",
        provided=demand.known & there,
        otherwise="{idle}",
    )
