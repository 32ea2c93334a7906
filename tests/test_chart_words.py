"""How charts and tables say things: numbers alike in Python and in the page, colors, tables."""

import itertools

import numpy as np
import pandas as pd
import pytest
from altair.expr.core import ConstExpression
from chart_samples import vega_text
from hypothesis import given
from hypothesis import strategies as st
from scaleright import charts
from scaleright.charts import theme
from scaleright.outputs import ANSWER_MIME

KINDS = (
    "usd",
    "usd 2",
    "usd 4",
    "percent",
    "chance",
    "number",
    "whole",
    "duration",
    "mass",
    "volume",
    "si FLOP/s",
    "hours",
    "tokens/s",
)


@pytest.mark.parametrize("kind", KINDS)
def test_python_and_the_page_say_a_number_alike(kind):
    generator = np.random.default_rng(7)
    values = [float(f"{v:.6g}") for v in 10 ** generator.uniform(-4, 13, 40)] + [
        999.6,
        999_600.0,
        0.35,
        1e6,
        7200.0,
    ]
    values += [
        0.5,
        0.495,
        0.0123,
        0.05,
        0.1,
        0.09996,
        0.9996,
        0.3125,
        1.0,
        0.125,
        2.5,
        1125.0,
        4e-8,
        2e-6,
        0.0,
    ]  # halves among them
    values += [-v for v in values] + [-0.3, -0.15, -1e-5]
    said = vega_text([charts.say(ConstExpression(repr(v)), kind) for v in values])
    assert said == [charts.say(v, kind) for v in values]


def luminance(color):
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    "color",
    sorted(
        {
            *theme.CYCLE,
            *theme.VENDOR.values(),
            *theme.COST.values(),
            *theme.TIME.values(),
            *theme.SEGMENT.values(),
        }
    ),
)
def test_every_mark_stands_out_on_the_light_and_on_the_dark_page(color):
    assert contrast(color, "#fdfdfc") >= 3 and contrast(color, "#14171b") >= 3


def seen_by(color, kind):
    """A color as seen without one cone type, by Vienot's matrices on linear RGB."""
    matrix = {
        "protan": [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
        "deutan": [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]],
    }[kind]
    srgb = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.clip(
        np.array(matrix) @ np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4),
        0,
        1,
    )
    xyz = (
        np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
        @ linear
        / [0.95047, 1, 1.08883]
    )
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("kind", ["protan", "deutan"])
def test_what_meets_in_a_chart_differs_to_the_color_blind(kind):
    choices = [theme.CHOICE[name] for name in ("rent", "own", "hybrid", "api")]
    pairs = [*itertools.pairwise(theme.COST.values()), *itertools.pairwise(theme.TIME.values())]
    pairs += [
        *itertools.combinations(choices, 2),
        *itertools.combinations(theme.VENDOR.values(), 2),
    ]
    pairs += itertools.combinations(theme.SEGMENT.values(), 2)
    apart = {
        pair: float(np.linalg.norm(seen_by(pair[0], kind) - seen_by(pair[1], kind)))
        for pair in pairs
    }
    assert min(apart.values()) > 10, apart


def test_names_that_mean_something_keep_their_color_and_others_never_borrow_it():
    assert theme.colors_for(["rent", "own"]) == [theme.CHOICE["rent"], theme.CHOICE["own"]]
    colors = theme.colors_for(["weights", "chips", "activations", "rent"])
    assert len(set(colors)) == 4 and colors[1] == theme.COST["chips"]


def test_a_table_says_its_numbers_links_its_sources_and_escapes_its_texts():
    rows = pd.DataFrame(
        {
            "chip": ["A<1>", "B"],
            "price": [1600.0, None],
            "source": ["S", "T"],
            "url": ["https://example.org/?a&b", ""],
        }
    )
    shown = charts.table(
        rows,
        "Prices & more",
        {"price": "usd"},
        link={"source": "url"},
        headers={"price": "price, new"},
    )
    markup = shown.markup
    assert "<caption><span>Prices &amp; more</span></caption>" in markup
    assert '<th scope="row">A&lt;1&gt;</th>' in markup
    assert '<td class="sr-num">$1,600</td>' in markup and '<td class="sr-num">–</td>' in markup
    assert '<a href="https://example.org/?a&amp;b">S</a>' in markup
    assert "<td>T</td>" in markup
    assert '<th scope="col">url' not in markup
    assert str(shown).splitlines()[2].startswith("A<1>")


def test_a_table_refuses_a_column_it_does_not_have():
    with pytest.raises(KeyError, match="no column 'cost'; there are price"):
        charts.table(pd.DataFrame({"price": [1]}), "Prices", {"cost": "usd"})


@given(st.floats(-1e15, 1e15, allow_nan=False))
def test_rounding_changes_no_digit_that_is_shown(value):
    kept = charts.render.rounded(value)
    assert kept == pytest.approx(value, rel=5.01e-7) and charts.render.rounded(kept) == kept


def test_the_headline_of_an_answer_comes_first_and_is_one_of_its_quantities():
    numbers = {"low": (1.0, "usd"), "cost": (2.0, "usd")}
    card = charts.answer_card("It costs $2.", quantities=numbers, headline="cost")
    assert list(card.bundle[ANSWER_MIME]["quantities"]) == ["cost", "low"]
    with pytest.raises(LookupError, match="unknown quantity of the answer 'costs'; nearest: cost"):
        charts.answer_card("It costs $2.", quantities=numbers, headline="costs")


def test_a_card_is_a_decision_its_number_how_sure_and_why_and_a_line_that_unfolds():
    card = charts.answer_card(
        "Own it.", "$6", "a year less", "Likely.", "Rent is dear.", "Odds: nine in ten.", "$1 to $9"
    )
    assert str(card) == (
        "Own it. $6 a year less. Likely. Rent is dear. Odds: nine in ten. Range: $1 to $9."
    )
    markup = card.bundle["text/html"]
    parts = ["sr-decision", "sr-figure", "sr-because", "<summary", "$1 to $9", "nine in ten"]
    places = [markup.index(part) for part in parts]
    assert places == sorted(places) and "<dl" not in markup


def test_confidence_falls_with_the_probability():
    said = [charts.confidence(share, "it pays") for share in (1.0, 0.95, 0.7, 0.5)]
    assert said == [
        "Virtually certain, 100 %: it pays.",
        "Very likely, 95 %: it pays.",
        "Likely, 70 %: it pays.",
        "Could go either way, 50 %: it pays.",
    ]
