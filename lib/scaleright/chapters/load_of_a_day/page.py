"""What the chapter `load_of_a_day` shows."""

from __future__ import annotations

from typing import Any

import pandas as pd

from scaleright import charts
from scaleright.chapters.load_of_a_day import evidence as days
from scaleright.chapters.load_of_a_day.evidence import at_rates, simulated_in_words
from scaleright.chapters.load_of_a_day.simulated import Peak, PlayedDay, fewest_in_time, peaks_sheet
from scaleright.charts import Display
from scaleright.charts.busy import engine_size
from scaleright.charts.live import Controls
from scaleright.costs.day_bills import (
    FIXED,
    SCALED,
    CheapestDay,
    DayBill,
    YearAhead,
)
from scaleright.costs.day_choices import DayChoices
from scaleright.inference.day import DayFleet
from scaleright.market import BEST, PaidHour
from scaleright.ops import first_case, where
from scaleright.quantity import Quantity, look_up
from scaleright.ranges import Ends

# What the chapter `load_of_a_day` shows of the same day played request by request


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


HOUR, ENGINES, FROM_START, SPENT = "hour of the day", "engines", "day from today", "USD spent"
"""Axes of the charts."""
BASED = "as a base under the contract with bursts by the hour"
NAMELESS = "a rent of your own is that of one accelerator. Name it."
NO_BILL = "There is no bill."


def controls(case: Any) -> tuple[Controls, DayChoices]:
    """The controls of the page, and the rows of what they choose."""
    chips = [name for name in case["accelerator"].choices if name != BEST]
    tables = DayChoices.of(case["model"].choices, chips)
    return charts.controls(case).follow("trace", tables.usual()), tables


def _refusal(case: Any, fleet: DayFleet, hour: PaidHour) -> Any:
    """Why there is no answer, and what helps."""
    slow = charts.phrase(
        "the quickest engine needs {fleet.least_ttft_s:duration 2} for the first token of one of"
        " the longest prompts, with nobody waiting. Promise that or more, or take a faster"
        " accelerator."
    )
    pace = "no engine of one node is so fast. Promise fewer tokens per second, or take another."
    none = "no node of it holds the model. Take another accelerator."
    unsold = charts.phrase("{hour.why}.")
    cases = [(fleet.served, unsold), (fleet.fits_pace, slow), (fleet.held, pace)]
    return first_case(cases, none)


def answer(found: CheapestDay, seen: Peak | None) -> Display:
    """The answer card: engines, utilization, the price of a million tokens, what scaling saves."""
    case, fleet, rents, bill = found.case, found.fleet, found.rents, found.bill
    hour, (best, cheapest), engine = rents.hour, bill.best, fleet.engine
    there = fleet.served & hour.there & rents.by_the_hour.there & ~found.nameless
    how = first_case([(best == FIXED, "at a fixed size"), (best == SCALED, SCALED)], BASED)
    usd, saving, busy, most = bill.usd_per_million(), bill.saving, bill.utilization, fleet.peak
    (low, high), dear = bill.ends(bill.cheapest), rents.by_the_hour.usd / hour.usd
    full = fleet.peak_utilization
    saved = charts.phrase("Autoscaling alone saves {saving:percent} of a fixed fleet's bill")
    lost = charts.phrase(
        "Autoscaling alone saves nothing, since an hour that may be given back costs"
        " {dear:times 2} as much"
    )
    worth = where(saving > 0.005, saved, lost)
    worth = where(most <= 1, "One engine is the least there is to scale", worth)
    refusal, kept = (
        where(found.nameless, NAMELESS, _refusal(case, fleet, hour)),
        look_up(simulated_in_words(), case.trace),
    )
    size = engine_size(engine)
    cheapest_of = charts.phrase(", the cheapest of {found.many:whole} accelerators")
    among = where(found.many > 1, cheapest_of, "")
    spare = charts.phrase(
        " That leaves {fleet.spare_engines:whole engines} to spare, for {bill.spare_usd:usd} of it."
    )
    spare = where(fleet.spare_engines > 0, spare, "")
    judged = charts.predicted_within(fleet.low, fleet.high, fleet.lent)
    return charts.answer_card(
        "Run the fleet {how}: {most:whole engines} of {size} {case.accelerator}.",
        "{cheapest:usd}",
        "a day for {case.requests_per_day:whole} requests (contract: {case.contract}){among}",
        because="{worth}.",
        also="So many run at the busiest time, at {full:percent} utilization.{spare} Run as you"
        " set it ({case.scaling}), the fleet has {busy:percent} over the day, and a million output"
        " tokens with their prompts cost {usd:usd}.",
        provided=there,
        otherwise="A day of <strong>{case.model}</strong> on {case.accelerator} has no answer:"
        " {refusal}",
        range="{low:usd} to {high:usd} a day (90 %)",
        as_of="{hour.age} (rents)",
        model_error="speed: {judged}; engines: {kept}",
        headline="cheapest",
        quantities={
            "range_low": (low, "usd"),
            "range_high": (high, "usd"),
            "usd_per_million": (usd, "usd"),
            "utilization": (busy, "percent"),
            "peak_utilization": (full, "percent"),
            "engines": (most, "whole"),
            "spare_usd_per_day": (bill.spare_usd, "usd"),
            "autoscaling_saving": (saving, "percent"),
            "usd_per_day": (bill.chosen.usd_per_day, "usd"),
            **(seen.told if seen else {}),
        },
    )


def day(hour: Quantity, fleet: DayFleet) -> Display:
    """A chart of a day: engines that its requests would fill, and those that run."""
    rows = {"hour": [half / 2 for half in range(49)]}
    series = {"filled by requests": fleet.filled(hour), SCALED: fleet.at_hour(hour)}
    series[FIXED] = fleet.peak + 0 * hour
    return charts.show(
        charts.lines(rows, "hour", series, "number", HOUR, ENGINES, along=hour),
        name="day",
        alt="Engines by the hour of the day: those that the requests would fill, a wave; those of"
        " an autoscaled fleet, in whole steps above it; the fixed fleet of {fleet.peak:whole}.",
    )


def by_size(case: Any, bill: DayBill) -> Display:
    """A chart of utilization against requests a day."""
    sizes, per_day = {"size": [10 ** (k / 4) for k in range(16, 29)]}, case.requests_per_day
    busy, across = {"utilization": bill.utilization}, "requests a day"
    axes, look = (across, "utilization"), {"log_x": True, "along": per_day}
    return charts.show(
        charts.rule(per_day, across, "you", log=True, foot=True)
        + charts.lines(sizes, "size", busy, "percent", *axes, **look),
        name="by_size",
        alt="Utilization against requests a day: {bill.utilization:percent} for you.",
    )


def by_trace(case: Any, bill: DayBill, tables: DayChoices) -> Display:
    """A chart of the price of a million tokens by what the requests are like."""
    rows = [{"trace": name, **usual} for name, usual in tables.usual().items()]
    usd, along = bill.usd_per_million(), (case.trace, case.cached_share)
    return charts.show(
        charts.bars(rows, "trace", usd, "usd", "USD per million output tokens", along=along),
        name="by_trace",
        alt="USD per million output tokens with their prompts, for requests like each trace's.",
    )


def year(days_ahead: Quantity, ahead: YearAhead, case: Any) -> Display:
    """A chart of what is spent by a day of the year, and the budget."""
    budget = case.budget_usd_per_year
    line = where(budget > 0, budget, float("nan"))
    rows = {"day": [*range(1, 366, 14)]}
    return charts.show(
        charts.rule(line, SPENT, "budget", horizontal=True)
        + charts.lines(
            rows, "day", ahead.spent(days_ahead), "usd", FROM_START, SPENT, along=days_ahead
        ),
        name="year",
        alt="What is spent from today on, as expected and if prices fall or rise, and the budget.",
    )


def tornado(case: Any, bill: DayBill) -> Display:
    """A chart of what the traffic and the promises do to the price."""
    usd = bill.usd_per_million()
    ends = {
        "busiest time over the mean": Ends(case.peak_to_mean, 1.2, 2.3),
        "requests a day": _within(case.requests_per_day, 3),
        "tokens per second per user": _within(case.pace_tokens_per_s, 1.5),
        "promised first token": _within(case.ttft_s, 2),
        "minutes to start": Ends(case.startup_minutes, 1.0, 30.0),
        "how it is run": Ends(case.scaling, SCALED, FIXED),
    }
    return charts.show(
        charts.tornado(ends, usd, "usd", "USD per million output tokens"),
        name="tornado",
        alt="What the day's shape and size and the promises do to the {usd:usd} a million tokens.",
    )


def _within(of: Quantity, factor: float) -> Ends:
    return Ends(of, of / factor, of * factor)


def shapes() -> Display:
    """A table of published days beside the shape that the chapter gives a day."""
    found = days.shapes_sheet()
    formats = {name: "number 2" for name in found if name != "day"} | {"error": _signed}
    return charts.table(found, "Days of a published week, and their shape by this chapter", formats)


def rates() -> Display:
    """A chart of published times at rates of requests beside those of the simulation."""
    found = at_rates()
    in_ms = found.assign(**{of: 1e3 * found[of] for of in ("published", "predicted")})
    return charts.show(
        charts.predicted_vs_measured(
            in_ms, "published", "predicted", "figure", "milliseconds", "published"
        ),
        name="rates",
        alt="Times to the first and of further tokens of one H200 at half a request to three"
        " requests a second, published and simulated: first ones lie above the line.",
    )


def savings() -> Display:
    """A table of what scaling saved where it was published."""
    formats = dict.fromkeys(("published", "predicted"), "percent")
    words = "Accelerator hours that scaling with the day saved, and by the shape of a weekday alone"
    return charts.table(days.scaling_savings(), words, formats)


def _signed(error: float) -> str:
    return f"{100 * error:+.0f} %".replace("-", "−")
