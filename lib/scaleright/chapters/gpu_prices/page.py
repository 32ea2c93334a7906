"""What the chapter `gpu_prices` shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from scaleright import charts
from scaleright.chapters.gpu_prices.model import (
    UNKNOWN,
    CloudMonths,
    asked_by,
    cloud_terms,
    committed_ratio,
    listed_offers,
    uncommitted,
)
from scaleright.charts import Display
from scaleright.charts.market import scatter, spread, timeline
from scaleright.charts.ranking import ranking
from scaleright.claims import stored
from scaleright.costs.commitment import Commitment
from scaleright.information import Choice
from scaleright.market import PaidHour, history, listed, series
from scaleright.ops import where
from scaleright.quantity import Quantity, at

# What the chapter `gpu_prices` shows of clouds beside their prices


def delivered(case: Any) -> Display:
    """A table of what each cloud delivers beside what it asks; those of another delivery than the
    one that is wanted say so instead of a price.
    """
    frame = cloud_terms()
    found = []
    asked = asked_by(case, [*frame["provider"]])
    for delivery, monthly in zip(frame["delivery"], asked, strict=True):
        fits = (case.delivery == "any") | (case.delivery == delivery)
        price = where(monthly > 0, charts.say(monthly, "usd"), "not listed so")
        found.append(where(fits, price, "another delivery"))
    frame.insert(1, "an hour", found)
    return charts.table(
        frame,
        f"What clouds deliver beside the price; {UNKNOWN} where no source says",
        headers={
            "an hour": "an hour [USD]",
            "rating": "rated by ClusterMAX 2.0",
            "latest": "latest listing",
        },
        formats={"chips listed": "whole"},
        name="delivered",
    )


HOUR, HOURLY = "usd_per_accelerator_hour", "USD per accelerator-hour"


def _place(case: Any) -> Quantity:
    return where(case.region == "any", "", " in " + case.region)


def _asked(case: Any) -> dict[str, Quantity]:
    """What columns of listings equal that are of the chip and the contract."""
    return {"accelerator": case.accelerator, "contract": case.contract}


def answer(
    case: Any, chip: Any, here: PaidHour, months: CloudMonths, agreement: pd.DataFrame
) -> Display:
    """The answer card: the rent and the cheapest offer.

    chip : a row of `usual_prices`
    """
    place, (cheapest, bill, _), dearest = _place(case), months.listed, months.dearest_usd
    regions = where(case.region == "any", "", ", over all regions")
    named, month, apart = bill > 0, charts.say(bill, "usd"), here.high / here.low
    asks = charts.phrase("{bill:usd} to {dearest:usd} a month, as sellers ask")
    hourly = charts.phrase("{here.low:usd} to {here.high:usd} an hour{regions}")
    span = where(named, asks, where(apart > 1, hourly, where(here.there, "one price only", "none")))
    span = where(named & (dearest <= bill), "one seller only", span)
    usual = charts.phrase(", {here.low:usd} to {here.high:usd} by seller")
    usual = where(apart > 1, usual, "")
    advice = charts.phrase("Rent the {case.accelerator}{place} from {cheapest}, the cheapest")
    nobody = charts.phrase("Ask for offers of the {case.accelerator}{place}: no seller is named")
    advice = where(named, advice, nobody)
    month = where(named, month, charts.say(here.usd, "usd"))
    what = where(named, charts.phrase("a month for {case.accelerators:whole}"), "an hour for one")
    in_region = named | ~(at(bill, region="any") > 0)
    none, terms = uncommitted(case.accelerator), committed_ratio(case.commit_with, case.accelerator)
    return charts.answer_card(
        "{advice}.",
        "{month}",
        "{what}",
        because="The usual rent is {here.usd:usd} an hour ({here.counted}{regions}{usual}).",
        also="Its monthly series of on-demand prices {chip.trend}.",
        provided=here.there,
        otherwise="<strong>Nobody lists</strong> the {case.accelerator} so: {here.why}.",
        range="{span}",
        as_of="{here.age}",
        model_error="list prices, so what you can negotiate is lower; an index made elsewhere lies"
        f" inside such a range in {agreement['inside'].sum()} of {len(agreement)} comparisons",
        headline="bill",
        quantities={"bill": (bill, "usd"), "used_share": (case.used_share, "percent")}
        | {"low": (here.low, "usd"), "high": (here.high, "usd"), "dearest_bill": (dearest, "usd")},
        besides=[
            (terms.there | none, "{case.commit_with} {terms.why} {case.accelerator}."),
            (in_region, "No such price of the {case.accelerator} is of {case.region}."),
        ],
    )


def providers(case: Any, cards: pd.DataFrame) -> Display:
    """A chart of what each provider asks for an hour of the chip."""
    most = listed.most_cards()
    tips = {"as of": "day", "region": "region", "basis": "basis"}
    look = {"tips": tips, "otherwise": "nobody lists it so"}
    return charts.show(
        spread(cards, "provider", HOUR, "usd", HOURLY, only=_asked(case), most=most, **look),
        name="providers",
        alt="What each provider asks for an hour of one {case.accelerator}, {case.contract}.",
    )


def bills(case: Any, offer: Any, bill: Quantity) -> Display:
    """A ranking of the providers by a month of the case.

    offer, bill : that of a row, and what a month of it costs [USD]
    """
    place = _place(case)
    look: dict[str, Any] = {
        "only": _asked(case),
        "most": 18,
        "color": "segment",
        "otherwise": "not offered so",
    }
    look |= {"along": [*vars(offer).values()]}
    axis = "USD a month, with data moved out"
    return charts.show(
        ranking(listed_offers(), "option", bill, "usd", axis, **look),
        name="bills",
        alt="A month of your case, {case.contract}, at each provider that lists the"
        " {case.accelerator}{place}, the cheapest on top.",
    )


def chips(case: Any, cards: pd.DataFrame) -> Display:
    """A chart of all chips that are often listed, with what each provider asks."""
    look = {"tips": {"as of": "day"}, "chosen": case.accelerator, "log": True}
    often, words = listed.often_listed(cards), f"{HOURLY}, on demand"
    return charts.show(
        spread(often, "accelerator", HOUR, "usd", words, **look),
        name="chips",
        alt="Each chip that four providers or more list on demand, with a dot for each provider.",
    )


def history_listed(rents: pd.DataFrame) -> Display:
    """A chart of monthly rents, of cards as listed."""
    line = ("date", "accelerator", "median", "usd")
    return charts.show(
        timeline(rents, *line, "USD an hour, prices as listed"),
        name="history_listed",
        alt="Monthly median rent of four chips since 2023, prices as listed: the H100 falls through"
        " 2024 and rises in 2026, the A100 falls slowly.",
    )


def history_scaled(rents: pd.DataFrame) -> Display:
    """A chart of monthly rents, of cards scaled to one contract."""
    line = ("date", "accelerator", "median", "usd")
    return charts.show(
        timeline(rents, *line, "USD an hour, prices scaled"),
        name="history_scaled",
        alt="The same four chips with every price scaled to one contract: all rise from late 2025.",
    )


def commitment(
    case: Any, plain: Quantity, bets: Sequence[Commitment], per_hour: Sequence[Quantity]
) -> Display:
    """A chart of the cost of a used hour against the share of hours used.

    plain : an hour on demand [USD]
    bets, per_hour : for one year and for three, and a used hour under each [USD]
    """
    used, hours = "share of the hours that you use", {"used": [i / 50 for i in range(10, 51)]}
    one_hour, three_hour = per_hour
    lines = {"on demand": plain, "1 year": one_hour, "3 years": three_hour}
    look = {"x_kind": "percent", "along": case.used_share}
    year, years = (
        where(bet.price_ratio > 0, charts.say(bet.price_ratio, "percent"), "not offered")
        for bet in bets
    )
    at_one, at_three = (where(bet.price_ratio > 0, bet.price_ratio, 1.0) for bet in bets)
    return charts.show(
        charts.rule(case.used_share, used, "you", foot=True, lift=32)
        + charts.rule(at_one, used, "1 year: " + year, foot=True)
        + charts.rule(at_three, used, "3 years: " + years, foot=True, lift=16)
        + charts.lines(hours, "used", lines, "usd", used, "USD per used hour", **look),
        name="commitment",
        alt="Cost of a used hour against the share of hours used: commitments fall and cross on"
        " demand.",
    )


def commitment_risk(case: Any, even: Sequence[Quantity]) -> Display:
    """A chart of the share that must be used against how prices change; even : as above."""
    guess, needed = "change of on-demand prices a year", "share of hours you must use"
    enough = dict(zip(("1 year", "3 years"), even, strict=True))
    change, falls = case.price_change_per_year, {"change": [i / 50 for i in range(-30, 31)]}
    look = {"x_kind": "percent", "along": change}
    return charts.show(
        charts.rule(change, guess, "your guess", foot=True)
        + charts.rule(case.used_share, needed, "your use", horizontal=True)
        + charts.lines(falls, "change", enough, "percent", guess, needed, **look),
        name="commitment_risk",
        alt="Share of hours that must be used for a commitment to pay: the more prices fall, the"
        " more.",
    )


def spot(case: Any, plain: Quantity, training: Quantity, serving: Quantity) -> Display:
    """A chart of the price of an hour of work that is kept against interruptions."""
    often, kept = "interruptions a day", "USD per hour of work kept"
    per_day = case.interruptions_per_day
    rates = {"a_day": [0.1 * 960 ** (i / 60) for i in range(61)]}
    kinds = {"on demand": plain, "spot, training": training, "spot, serving": serving}
    return charts.show(
        charts.rule(per_day, often, "you", foot=True, log=True)
        + charts.lines(rates, "a_day", kinds, "usd", often, kept, log_x=True, along=per_day),
        name="spot",
        alt="Price of an hour of work that is kept: on demand is flat, spot rises with"
        " interruptions.",
    )


def price_performance(case: Any, rows: pd.DataFrame) -> Display:
    """A plane of chips by the price of arithmetic and of bandwidth."""
    per = "USD/h per PFLOP/s", "USD/h per TB/s", "accelerator", ("usd", "usd")
    axes = "arithmetic [USD/h per PFLOP/s, dense BF16 peak]", "bandwidth [USD/h per TB/s]"
    return charts.show(
        scatter(rows, *per, axes, color="vendor", chosen=case.accelerator),
        name="price_performance",
        alt="Price of bandwidth against price of arithmetic of each chip at its median on-demand"
        " listing; older and consumer cards are cheap by both.",
    )


def said_of_clouds() -> Display:
    """A folded table of what Andreessen Horowitz said of its table of clouds."""
    said = ("S3-a100-spread", "S3-narrower", "S3-small-clouds")
    shown = charts.table(stored.table(*said), "What Andreessen Horowitz said of it")
    return charts.folded(shown, f"What Andreessen Horowitz said of it: {len(said)} claims")


def watchers(chip: Any) -> Display:
    """A chart of three series of one chip; chip : a row of `usual_prices`."""
    look = {"ends": ("low", "high"), "basis": "basis", "only": {"accelerator": chip.series}}
    return charts.show(
        timeline(series.watched_rents(), "date", "line", "median", "usd", HOURLY, **look),
        name="watchers",
        alt="Three series of the {chip.series} since 2025; the daily index lies below both others.",
        caption=f"Of the chip you chose if it has monthly series ({', '.join(history.SERIES)}),"
        " else of the H100 SXM. The band is the range of the scaled prices.",
    )


def worth_of_knowing(case: Any, year: Choice) -> Display:
    """What it would save to know each input before committing for a year."""
    ways = charts.phrase("a year's commitment at {case.commit_with} and paying on demand")
    return charts.worth_of_knowing(year.worth(), "an accelerator", year, ways)
