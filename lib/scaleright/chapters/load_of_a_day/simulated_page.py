"""What the chapter `load_of_a_day` shows of the same day played request by request."""

import pandas as pd

from scaleright import charts
from scaleright.chapters.load_of_a_day.evidence import simulated_in_words
from scaleright.chapters.load_of_a_day.simulated import Peak, PlayedDay, fewest_in_time, peaks_sheet
from scaleright.charts import Display
from scaleright.inference.day import DayFleet
from scaleright.quantity import Quantity

ACROSS = "utilization of the busiest time"
UNPLAYED = (
    "Nothing is simulated: no engine serves this, or its prompts are read on chips of their own,"
    " which the simulation does not play."
)


def latency(found: pd.DataFrame, *depends: Quantity) -> Display:
    """A table of the simulated busiest time with fewer and with more engines."""
    if found.empty:
        return charts.sentence(UNPLAYED)
    columns = peaks_sheet(found)
    formats = dict.fromkeys(("utilization", "later than promised"), "percent")
    formats |= {name: "duration 2" for name in columns if "token," in name}
    formats |= {"engines": "whole", "USD per million tokens of that hour": "usd"}
    said = "The busiest time, simulated with so many engines"
    return charts.at_defaults(charts.table(columns, said, formats), *depends)


def enough(found: pd.DataFrame, fleet: DayFleet, trace: str, *depends: Quantity) -> Display:
    """The fewest engines that keep the promise when simulated, beside those of the closed form."""
    if found.empty:
        return charts.sentence(UNPLAYED)
    fewest, needed = fewest_in_time(found), fleet.busiest.value
    asked = (fleet.peak - fleet.spare_engines).value  # the others stand by
    formula = "the formula asks for {asked:whole}"
    said = "None of these fleets is on time for nineteen of twenty; " + formula + "."
    if fewest < asked:
        said = (
            "Here {fewest:whole engines} are enough, while " + formula + ": it finds that"
            " {needed:number 2} are needed, takes whole engines, and counts bursts with caution:"
            f" {simulated_in_words()[trace]}."
        )
    elif fewest == asked:
        said = "The fewest that are enough are {fewest:whole}, as many as the formula asks for."
    elif fewest > asked:
        said = "It takes {fewest:whole engines} here, while " + formula + "."
    return charts.at_defaults(charts.sentence(said), *depends)


def latency_chart(found: pd.DataFrame, promised: float, *depends: Quantity) -> Display:
    """A chart of the simulated time to the first token against utilization."""
    if found.empty:
        return charts.sentence(UNPLAYED)
    up = "seconds to the first token"
    both, axes = {"median": "ttft_s", "95th percentile": "late_ttft_s"}, (ACROSS, up)
    shown = charts.show(
        charts.lines(found, "busy", both, "duration 2", *axes, log_y=True, x_kind="percent")
        + charts.rule(promised, up, "promised", horizontal=True, log=True),
        name="latency",
        alt="Simulated time to the first token against utilization: flat, then a wall.",
    )
    return charts.at_defaults(shown, *depends)


def simulated_beside(seen: Peak | None, fleet: DayFleet, *depends: Quantity) -> Display:
    """What the simulation says of the fleet that the closed form asks for."""
    if seen is None:
        return charts.sentence(UNPLAYED)
    full = fleet.peak_utilization.value
    shown = charts.sentence(
        "{seen.requests:whole} requests at the busiest time, on the {seen.engines:whole engines}"
        " that the formula asks for, get their first token after {seen.ttft_s:duration 2} in the"
        " median and <strong>{seen.late_ttft_s:duration 2}</strong> at the 95th percentile, and"
        " further tokens every {seen.tpot_s:duration 2} and {seen.late_tpot_s:duration 2}."
        " {seen.late:percent} of first tokens are later than promised. The engines run at"
        " {seen.busy:percent} of full load; the formula says {full:percent}."
    )
    return charts.at_defaults(shown, *depends)


def whole_day(played: PlayedDay | None, *depends: Quantity) -> Display:
    """What the simulated day says of autoscaling."""
    if played is None:
        return charts.sentence(UNPLAYED)
    late, many = played.run.quantile("ttft_s", 0.95), float(len(played.run.requests))
    shown = charts.sentence(
        "A simulated day of the autoscaled fleet, with {many:whole requests} and a clock"
        " {played.faster:number 2} times as fast, pays for <strong>{played.paid_hours:number 3}"
        "</strong> engine hours; the formula says {played.asked_hours:number 3}. It runs at"
        " {played.busy:percent} utilization, and nineteen of twenty requests get their first token"
        " within {late:duration 2}."
    )
    return charts.at_defaults(shown, *depends)
