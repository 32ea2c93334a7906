"""What the chapter `gpu_prices` shows of clouds beside their prices."""

from typing import Any

from scaleright import charts
from scaleright.chapters.gpu_prices.terms import UNKNOWN, asked_by, cloud_terms
from scaleright.charts import Display
from scaleright.ops import where


def delivered(case: Any) -> Display:
    """A table of what each cloud delivers beside what it asks; those of another delivery than the
    one that is wanted say so instead of a price.
    """
    frame = cloud_terms()
    found = []
    for delivery, usd in zip(frame["delivery"], asked_by(case, [*frame["provider"]]), strict=True):
        fits = (case.delivery == "any") | (case.delivery == delivery)
        price = where(usd > 0, charts.say(usd, "usd"), "not listed so")
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
