"""Charts as Python and Vega draw them; what the browser does is in tests/pages."""

import json
import re

import altair as alt
import nbformat
import numpy as np
import pandas as pd
import pytest
import vl_convert
from chart_samples import EVERY, PRICES, USD, bar_chart, svg_of, texts_of
from hypothesis import given
from hypothesis import strategies as st
from scaleright import charts, quantity
from scaleright.chapters.buy_or_rent.page import boundary
from scaleright.charts import theme
from scaleright.charts.market import scatter, spread, timeline
from scaleright.outputs import VEGALITE_MIME
from scaleright.ranges import Ends


def test_an_output_is_valid_names_no_host_and_carries_its_alternative(live):
    shown = charts.show(
        bar_chart(USD * live.given.price), alt="Two bars & their <cost>.", name="costs"
    )
    bundle = shown._repr_mimebundle_()
    cell = nbformat.v4.new_code_cell(
        "x", outputs=[nbformat.v4.new_output("display_data", data=bundle)]
    )
    nbformat.validate(nbformat.v4.new_notebook(cells=[cell]))
    assert "://" not in json.dumps(bundle)
    assert bundle["text/plain"] == "Two bars & their <cost>."
    assert 'aria-label="Two bars &amp; their &lt;cost&gt;."' in shown.markup
    assert charts.render.SPEC_SCRIPT + "</script>" in shown.markup, "its place on a page"
    assert "text/html" not in bundle, "or a notebook would show that instead of the chart"


def test_an_output_is_the_same_on_machines_that_differ_in_the_last_bit(live):
    rows = pd.DataFrame({"what": ["a", "b"], "usd": [1 / 3, 2 / 7]})
    nudged = rows.assign(usd=np.nextafter(rows["usd"], 1))
    one, other = (
        charts.show(charts.bars(r, "what", "usd", "usd", "USD"), alt="Two bars of cost.")
        for r in (rows, nudged)
    )
    assert one.bundle == other.bundle and re.search(r'id="sr-[0-9a-f]{12}"', one.markup)


def test_a_chart_without_a_description_is_refused():
    with pytest.raises(ValueError, match="does not tell what the chart shows"):
        charts.show(bar_chart("usd"), alt="Chart")


def test_showing_a_chart_leaves_altair_as_it_was():
    before = alt.theme.active, alt.data_transformers.active, alt.renderers.active
    charts.show(bar_chart("usd"), alt="Two bars of cost.")
    assert (alt.theme.active, alt.data_transformers.active, alt.renderers.active) == before


@pytest.mark.parametrize("form", EVERY)
def test_every_form_draws_in_vega_itself_and_makes_it_warn_of_nothing(form, live, capfd):
    spec = charts.show(EVERY[form](live), alt="A chart of something.").bundle[VEGALITE_MIME]
    vega = vl_convert.vegalite_to_vega(spec | {"width": 600, "autosize": "pad"}, show_warnings=True)
    assert "WARN" not in capfd.readouterr().err
    drawn = vl_convert.vega_to_svg(vega)
    assert drawn.count("<path") > 3 and "NaN" not in drawn and "undefined" not in drawn


def computed_fields(spec):
    if isinstance(spec, list):
        return [name for item in spec for name in computed_fields(item)]
    if not isinstance(spec, dict):
        return []
    names = (
        spec.get("as", [])
        if any(key in spec for key in ("calculate", "fold", "joinaggregate"))
        else []
    )
    names = [names] if isinstance(names, str) else list(names)
    names += [entry["as"] for entry in spec.get("joinaggregate", [])]
    return names + [name for value in spec.values() for name in computed_fields(value)]


@pytest.mark.parametrize(
    "form", ["bars", "dots", "lines", "long lines", "stacked", "timeline", "spread", "scatter"]
)
def test_no_computed_field_can_overwrite_a_column_that_it_reads(form, live):
    # Vega recomputes in place: a field that took its own input's name would compound with every
    # move of a slider.
    fields = computed_fields(EVERY[form](live).to_dict())
    assert fields and all(name.startswith("_") for name in fields), fields


@pytest.mark.parametrize("place", [0.5, 12.0, 23.9])
def test_words_at_the_foot_of_a_line_stay_inside_the_plot_and_above_each_other(place):
    foot = [
        charts.rule(place, "hours", word, foot=True, lift=lift)
        for word, lift in (("break-even", 0), ("you use it", 16))
    ]
    chart = (
        charts.lines({"h": [0.0, 24.0]}, "h", {"rent": alt.datum.h * 2}, "usd", "hours", "USD")
        + foot[0]
        + foot[1]
    )
    drawn = svg_of(chart, 300)
    found = {
        word: (side, float(x), float(y))
        for side, x, y, word in re.findall(
            r'text-anchor="(\w+)" transform="translate\(([\d.-]+),([\d.-]+)\)"[^>]*>(break-even|you'
            r" use it)<",
            drawn,
        )
    }
    assert found["break-even"][2] - found["you use it"][2] == 16
    for side, x, _ in found.values():
        assert (0 <= x <= 230) if side == "start" else (70 <= x <= 300)


def test_the_worst_of_the_measured_are_named_once_each():
    rows = pd.DataFrame(
        {"n": ["a", "a", "b", "c", "d"], "m": [1.0] * 5, "p": [3.0, 2.0, 1.5, 1.2, 1.1]}
    )
    spec = charts.predicted_vs_measured(rows, "m", "p", "n", "B", name_worst=3).to_dict()
    dots = next(data for data in spec["datasets"].values() if "worst" in data[0])
    assert [row["worst"] for row in dots] == ["a", "", "b", "c", ""]


def test_the_ends_of_a_swing_share_their_unit(live):
    price, power = live.given.price, quantity.given("power", 1.0)
    ends = {"price": Ends(price, 2.0, 2.4), "power": Ends(power, 0.12, 1.2)}
    cost = price * 2.5e6
    tornado = charts.tornado(ends, cost, "usd", "USD", result=cost * power)
    assert {"$5.00 to $6.00 million", "$600,000 to $6.00 million"} <= {*texts_of(tornado)}


HERE = {
    "inside": (8.0, 2.0),
    "beneath the axis": (0.0, 0.02),
    "beyond the axis": (24.0, 90.0),
    "right of it": (40.0, 3.0),
}

CURVES = {
    "own rent": 30 / alt.datum.x,
    "own": 0.001 + 0 * alt.datum.x,
    "rent": 1 / (0 * alt.datum.x),
    "rent ": 0 * alt.datum.x / (0 * alt.datum.x),
}


@pytest.mark.parametrize(
    "names, spot",  # each with two of the other
    [(names, list(HERE)[(i + j) % 4]) for i, names in enumerate(CURVES) for j in (0, 1)],
)
def test_a_boundary_names_the_areas_there_are_and_holds_the_readers_case(names, spot):
    chart = boundary(("hours", 0, 24), ("USD", 1, 10), CURVES[names], here=HERE[spot], kind="usd")
    drawn = svg_of(chart, 300)
    assert not re.search("NaN|undefined|Infinity", drawn)
    assert set(re.findall(r'font-weight="bold"[^>]*>([^<]+)<', drawn)) == set(names.split())
    assert "your case" in drawn
    width, height = map(float, re.search(r'width="(\d+)" height="(\d+)"', drawn).groups())
    dot = re.search(r"mark-symbol.*?translate\(([\d.]+),([\d.]+)\)", drawn, re.DOTALL)
    x, y = map(float, dot.groups())
    assert 0 <= x <= 300 < width and 5 < y < 315 < height


def test_a_timeline_shows_the_same_months_in_every_time_zone(live):
    texts = texts_of(timeline(PRICES, "day", "chip", "usd", "usd", "USD", basis="basis"))
    assert "2026" in texts and {"A", "B"} < set(texts)
    spec = timeline(PRICES, "day", "chip", "usd", "usd", "USD").to_dict()
    assert {row["day"] for row in next(iter(spec["datasets"].values()))} == {
        "2026-01-01",
        "2026-02-01",
        "2026-03-01",
    }


def test_each_basis_of_a_timeline_has_a_dash_of_its_own():
    drawn = vl_convert.vegalite_to_svg(
        timeline(PRICES, "day", "chip", "usd", "usd", "USD", basis="basis").to_dict()
    )
    assert {"1,0", "6,4"} <= set(re.findall(r'stroke-dasharray="([^"]+)"', drawn))


def test_a_row_of_a_spread_says_its_median_and_the_cheapest_stands_on_top():
    texts = texts_of(spread(PRICES, "chip", "usd", "usd", "USD"))
    assert {"$2.50, median of 2", "$3.00, median of 2"} < set(texts)
    assert texts.index("A") < texts.index("B")
    assert {"hyperscaler", "neocloud", "marketplace"} < set(texts)


def test_a_segment_has_its_color_whatever_others_are_there():
    spec = spread(PRICES[:2], "chip", "usd", "usd", "USD").to_dict()
    scale = next(
        layer["encoding"]["color"]["scale"]
        for layer in spec["layer"]
        if "color" in layer["encoding"]
    )
    assert dict(zip(scale["domain"], scale["range"], strict=True)) == {
        name: theme.SEGMENT[name] for name in ("hyperscaler", "neocloud")
    }


def test_the_staircase_goes_through_what_nothing_beats_and_names_it():
    rows = pd.DataFrame(
        {
            "chip": ["old", "good", "cheap", "worse", "same"],
            "x": [1.0, 2.0, 4.0, 5.0, 2.0],
            "y": [9.0, 3.0, 1.0, 5.0, 3.0],
        }
    )
    shown = scatter(rows, "x", "y", "chip", ("usd", "usd"), ("x", "y"))
    assert {"old", "good", "cheap", "worse"} <= set(texts_of(shown))
    line = re.compile(r'mark-line role-mark[^"]*".*?<path[^>]* d="([^"]+)"', re.DOTALL)
    stairs = line.search(svg_of(shown))[1]
    # three steps: over and down, twice
    assert stairs.count("L") + stairs.count("H") + stairs.count("V") == 4


@given(
    st.lists(st.tuples(st.floats(0.1, 100), st.floats(0.1, 100)), min_size=1, max_size=25),
    st.booleans(),
)
def test_names_beside_dots_meet_neither_dots_nor_each_other(spots, log):
    x, y = (np.array(values) for values in zip(*spots, strict=True))
    sides = charts.market.label_sides(x, y, ["H100 SXM"] * len(spots), 500, log)
    scaled = [np.log(v) if log else v for v in (x, y)]
    across, up = (
        (v - v.min()) / (np.ptp(v) or 1.0) * size
        for v, size in zip(scaled, (500, 290), strict=True)
    )
    middle = {"right": (8 + 28.8, 0), "left": (-8 - 28.8, 0), "above": (0, 13), "below": (0, -14)}
    names = [
        (i, a + middle[s][0], b + middle[s][1])
        for i, (a, b, s) in enumerate(zip(across, up, sides, strict=True))
        if s
    ]
    for which, a, b in names:
        assert all(
            abs(a - c) >= 57.59 or abs(b - d) >= 14.99 for other, c, d in names if other < which
        )
        assert all(
            abs(a - c) >= 33.79 or abs(b - d) >= 12.49
            for other, (c, d) in enumerate(zip(across, up, strict=True))
            if other != which
        )


def test_a_band_keeps_within_the_plot_whatever_its_ends(live):
    lines = charts.lines(
        {"h": [0.1, 1.0]}, "h", {"own": 1 / alt.datum.h}, "usd", "h", "USD", log_y=True
    )
    for low, high in ((0.001, 0.01), (2.0, 3.0), (100.0, 1000.0)):
        assert "API prices" in texts_of(
            charts.band(low, high, "USD", "API prices", log=True) + lines
        )


def test_a_breakdown_ends_where_its_parts_add_up_to(live):
    parts = charts.stacked_parts({"chips": live.given.price * 2, "power": 1.5}, "usd", "USD")
    assert {"$4.00 (73%)", "$1.50 (27%)", "$5.50"} <= {*texts_of(parts)}
