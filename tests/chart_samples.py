"""What tests of charts share: a small case, charts of every form, and what Vega makes of them."""

import html
import json
import re
from types import SimpleNamespace

import pandas as pd
import vl_convert
from scaleright import charts
from scaleright.chapters.buy_or_rent.page import boundary
from scaleright.charts.market import scatter, spread, timeline
from scaleright.outputs import VEGALITE_MIME
from scaleright.quantity import given
from scaleright.ranges import Ends
from vega import computed


def parameter(name, default, meaning="a thing", unit="", low=None, high=None, choices=()):
    kind = type(default).__name__
    return SimpleNamespace(
        name=name,
        type=kind,
        default=default,
        meaning=meaning,
        unit=unit,
        low=low,
        high=high,
        choices=choices,
    )


def case_of(*parameters):
    return SimpleNamespace(parameters=parameters, **{p.name: p.default for p in parameters})


def small_case():
    return charts.controls(
        case_of(
            parameter("chip", "A", choices=("A", "B")),
            parameter("price", 2.0, "rent of one chip", "USD/h", 0.05, 15),
            parameter("load", 0.4, "share of hours used", "1", 0, 1),
            parameter("chips", 8, "number of chips", "chip", 1, 10_000),
            parameter("taxed", False, "with tax"),
            parameter("note", "free text"),
        )
    )


USD, HOURS = given("usd", 1.0), given("h", 1.0)
"""What rows of charts give in columns of these names."""


def bar_chart(value):
    rows = pd.DataFrame({"what": ["a", "b"], "usd": [1.0, 2.0]})
    return charts.bars(rows, "what", value, "usd", "USD per hour", along=USD)


def vega_text(expressions):
    """Texts of Vega expressions without fields, as Vega itself computes them."""
    (texts,) = computed(expressions)
    return texts


PRICES = pd.DataFrame(
    {
        "day": pd.to_datetime(["2026-01-01", "2026-02-01", "2026-02-01", "2026-03-01"]),
        "chip": ["A", "A", "B", "B"],
        "usd": [2.0, 3.0, 1.0, 5.0],
        "low": [1.0, 2.0, 1.0, 2.0],
        "high": [3.0, 4.0, 2.0, 9.0],
        "basis": ["list", "list", "index", "index"],
        "provider": ["P", "Q", "P", "R"],
        "segment": ["neocloud", "hyperscaler", "neocloud", "marketplace"],
    }
)

EVERY = {
    "bars": lambda live: bar_chart(USD * live.given.price),
    "dots": lambda live: charts.bars(
        pd.DataFrame({"what": ["a"], "usd": [1.0]}), "what", "usd", "usd", "USD", log=True
    ),
    "lines": lambda live: charts.lines(
        pd.DataFrame({"h": [1.0, 2.0]}),
        "h",
        {"rent": HOURS * live.given.price, "own": 3 + HOURS},
        "usd",
        "hours",
        "USD",
        along=HOURS,
    ),
    "long lines": lambda live: charts.lines(
        pd.DataFrame({"h": [1.0, 2.0], "y": [1.0, 9.0], "s": ["a", "a"]}),
        "h",
        "s",
        "usd",
        "h",
        "USD",
        value="y",
        log_y=True,
    ),
    "parts": lambda live: charts.stacked_parts(
        {"chips": live.given.price * 2, "power": 1.5}, "usd", "USD"
    ),
    "stacked": lambda live: charts.stacked_parts(
        {"chips": "usd", "power": USD * live.given.load},
        "usd",
        "USD",
        pd.DataFrame({"what": ["a"], "usd": [1.0]}),
        "what",
        along=USD,
    ),
    "tornado": lambda live: charts.tornado(
        {"price": Ends(live.given.price, 1.0, 3.0), "load": Ends(live.given.load, 0.2, 0.8)},
        live.given.price * live.given.load,
        "usd",
        "USD",
    ),
    "measured": lambda live: charts.predicted_vs_measured(
        pd.DataFrame({"n": ["a", "b"], "m": [1.0, 9.0], "p": [1.1, 8.0]}), "m", "p", "n", "B"
    ),
    "band": lambda live: (
        charts.band(0.2, live.given.price, "USD", "APIs", log=True)
        + charts.lines(
            pd.DataFrame({"h": [0.1, 1.0]}),
            "h",
            {"own": 1 / HOURS},
            "usd",
            "h",
            "USD",
            log_y=True,
            along=HOURS,
        )
    ),
    "timeline": lambda live: timeline(
        PRICES,
        "day",
        "chip",
        "usd",
        "usd",
        "USD",
        ends=("low", "high"),
        basis="basis",
        only={"chip": live.given.chip},
    ),
    "spread": lambda live: spread(
        PRICES,
        "chip",
        USD * live.given.price,
        "usd",
        "USD",
        tips={"as of": "day"},
        chosen=live.given.chip,
        most=4,
        along=USD,
    ),
    "spread, log": lambda live: spread(
        PRICES, "chip", "usd", "usd", "USD", only={"chip": live.given.chip}, log=True
    ),
    "scatter": lambda live: scatter(
        PRICES,
        "usd",
        "high",
        "chip",
        ("usd", "usd"),
        ("USD", "USD"),
        color="segment",
        chosen=live.given.chip,
    ),
    "scatter, linear": lambda live: scatter(
        PRICES, "usd", "high", "chip", ("usd", "usd"), ("USD", "USD"), log=False
    ),
    "boundary": lambda live: boundary(
        ("x", 0, 24),
        ("y", 1, live.given.price * 30),
        60 / HOURS,
        here=(live.given.load * 24, live.given.price),
        along=HOURS,
    ),
}


def svg_of(chart, width=600, **moved) -> str:
    """A chart as Vega draws it after some of the page's controls moved."""
    spec = charts.show(chart, alt="A chart of something.").bundle[VEGALITE_MIME]
    for control in spec.get("params", ()):
        control["value"] = moved.get(control["name"], control.get("value"))
    return html.unescape(vl_convert.vegalite_to_svg(spec | {"width": width, "autosize": "pad"}))


def texts_of(chart, **moved) -> list[str]:
    """The words of such a chart."""
    return re.findall(r"<text[^>]*>([^<]+)</text>", svg_of(chart, **moved))


def model_in(display):
    return json.loads(re.search(r'class="sr-model">(.*?)</script>', display.markup).group(1))
