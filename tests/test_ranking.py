"""A ranking draws the least values with the best on top, and says so where no row is left."""

import html
import re

import altair as alt
import vl_convert as vlc
from scaleright.charts.ranking import ranking as drawn
from scaleright.charts.render import specification

PRICES = {"dear": 9.0, "cheap": 1.0, "middle": 4.0, "left out": 0.5}
ROWS = [{"chip": name, "price": price, "vendor": "NVIDIA"} for name, price in PRICES.items()]


def said(chart) -> list[str]:
    """The texts at the bars, from top to bottom."""
    spec = specification(chart, "A ranking of chips.") | {"width": 400, "autosize": "pad"}
    svg = vlc.vegalite_to_svg(
        spec, vl_version=".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    )
    marks = re.search(r'class="mark-text role-mark[^"]*".*?</g>', svg, re.DOTALL)[0]
    placed = re.findall(r"translate\([\d.]+,([\d.]+)\)[^>]*>([^<]*)<", marks)
    return [html.unescape(text) for _, text in sorted(placed, key=lambda pair: float(pair[0]))]


def ranking(**given):
    return drawn(ROWS, "chip", "price", "usd", "USD", color="vendor", **given)


def test_the_least_stands_on_top_and_no_more_are_drawn_than_asked_for():
    assert said(ranking(most=2)) == ["$0.50", "$1.00"]
    assert said(ranking(only=alt.datum.price > 0.6)) == ["$1.00", "$4.00", "$9.00"]


def test_further_words_follow_the_value():
    assert said(ranking(most=1, words=alt.expr.format(2 * alt.datum.price, ".0f") + " chips")) == [
        "$0.50, 1 chips"
    ]


def test_where_no_row_is_left_every_row_says_why():
    assert (
        said(ranking(only=alt.datum.price < 0, otherwise="cannot run it")) == ["cannot run it"] * 4
    )
