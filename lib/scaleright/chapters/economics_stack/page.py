"""What the chapter `economics_stack` shows."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from scaleright import charts
from scaleright.charts import Display
from scaleright.charts.live import Controls
from scaleright.costs.token_offers import ServingChoices, median_over
from scaleright.decisions.economics_stack import LAYER_OF, OWNED, Served, chip_costs
from scaleright.inference.demand import usual_peaks
from scaleright.market import BEST
from scaleright.ops import where
from scaleright.quantity import choose, least

MONTH = "USD a month"
CLEAR = 1.25
"""How much larger than the next a layer is that no doubt of prices and speeds turns."""


def controls(case: Any) -> tuple[Controls, ServingChoices]:
    """The controls of the page, and the rows of what they choose."""
    choices = {of: case[of].choices for of in ("model", "accelerator", "setting")}
    chips = [name for name in choices["accelerator"] if name != BEST]
    tables = ServingChoices.of(choices["model"], chips, choices["setting"])
    live = charts.controls(case)
    live.follow("traffic", usual_peaks())
    return live, tables


def answer(
    case: Any, served: Served, between: tuple[Any, Any], moves: Mapping[str, Any]
) -> Display:
    """The answer card: the largest layer, the whole bill, and what moves it most."""
    bill, speed, (low, high) = served.bill, served.speed, between
    layer, usd = bill.largest
    share, total, month = usd / bill.total, bill.total, served.month
    driver, more = _most(moves)
    idle = bill.idle_hours_usd / total
    hour, at_api = served.paid
    request = case.input_tokens, case.output_tokens, case.cached_share
    middle = month.usd.api * median_over(at_api, request)
    asks = charts.phrase(
        "The API asks {month.usd.api:usd} for the same month ({at_api.counted}; at the median of"
        " hosts {middle:usd})."
    )
    asks = where(at_api.there, asks, charts.phrase("No host lists a price of {case.model}."))
    rented = charts.phrase("at {hour.usd:usd} an hour ({hour.counted})")
    paid = where(case.way == OWNED, "of your own", rented)
    next_one, lead = bill.second / total, where(share > 0.5, "Most", "The largest part")
    clear = charts.phrase("Clear: the next layer takes {next_one:percent}.")
    close = charts.phrase("Not by much: the next layer takes {next_one:percent}.")
    likely = where(next_one < share / CLEAR, clear, close)
    judged = charts.predicted_within(speed.low, speed.high, speed.lent)
    span = charts.between(low, high, "usd")
    cheapest = charts.phrase(", the cheapest of {served.many:whole} accelerators")
    among = where(served.many > 1, cheapest, "")
    return charts.answer_card(
        "{lead} of your bill is {layer}: {share:percent}.",
        "{total:usd}",
        "a month for {month.chips:whole accelerators}, all in",
        "{likely}",
        "Doubling {driver} adds {more:percent}; idle hours take {idle:percent} of the bill.",
        "{case.requests_per_day:whole} requests a day to {case.model} on"
        " {case.accelerator} {paid}{among}, which work {month.utilization:percent} of the time."
        " {asks}",
        provided=served.known,
        otherwise="There is no bill: {served.why_not}.",
        range="{span} a month (90 %)",
        as_of="{hour.age} (rents)",
        model_error="{judged}",
        headline="usd_per_month",
        quantities={
            "usd_per_month": (total, "usd"),
            "range_low": (low, "usd"),
            "range_high": (high, "usd"),
        },
    )


def _most(moves: Mapping[str, Any]) -> tuple[Any, Any]:
    """The driver that moves the bill most if it doubles, and by how much [1]."""
    name, more = least({name: -more for name, more in moves.items()})
    return name, -more


def where_it_goes(case: Any, served: Served) -> Display:
    """A chart of where a dollar of the bill goes."""
    bill = served.bill
    cents = {name: 100 * usd / bill.total for name, usd in bill.labeled().items()}
    return charts.show(
        charts.bars(cents, "what", None, "number 2", "cents of a dollar of the bill", LAYER_OF),
        name="where_it_goes",
        alt="Where a dollar of the bill goes: its parts by layer (compute, supply, hidden"
        " operations), the largest first; the whole bill is {bill.total:usd} a month.",
    )


def making(case: Any) -> Display:
    """What the parts of a chip cost to make, beside its price [USD]."""
    chip = choose(chip_costs(), case.accelerator)
    price, scarce = case.chip_usd, chip.memory + chip.packaging
    whole = chip.compute + scarce
    parts = {"dies, board, test": chip.compute, "memory": chip.memory}
    parts |= {"packaging": chip.packaging, "price of the chip": price}
    share, paid = scarce / whole, scarce / price
    return charts.show(
        charts.bars(parts, "part", None, "usd", "USD", sort=False),
        name="making",
        alt="What parts of one {case.accelerator} cost its maker, beside its price: memory and"
        " packaging are {share:percent} of making it and {paid:percent} of the price.",
    )


def drivers(served: Served) -> Display:
    """A chart of the whole bill with each driver halved and doubled [USD/month]."""
    usd = served.bill.total
    return charts.show(
        charts.tornado(served.ends(), usd, "usd", MONTH, result=served.free_usd),
        name="drivers",
        alt="The bill of a month with each driver at half and at twice what it is, the strongest"
        " first.",
    )


def models(case: Any, served: Served, names: Iterable[str]) -> Display:
    """A chart of the whole bill for each model [USD/month]."""
    rows, usd = pd.DataFrame({"model": [*names]}), served.bill.total
    paid, of = where(served.known, usd, 0.0), {"along": case.model}
    label = where(served.known, charts.say(usd, "usd"), "cannot be served so")
    return charts.show(
        charts.bars(rows, "model", paid, "usd", MONTH, label=label, **of),
        name="models",
        alt="The bill of a month for the same requests to each model on {case.accelerator}.",
    )


def published(frame: pd.DataFrame) -> Display:
    """What others published on owning an H100, beside what is computed here."""
    words = "Owning an H100 in a data center: published figures, and the usual terms here"
    return charts.table(frame, words, {"published": "usd", "here": "usd"})
