"""Charts, live controls, words and tables as Python sees them; what the browser does is in
test_site.
"""

from __future__ import annotations

import html
import itertools
import json
import re
from types import SimpleNamespace

import altair as alt
import nbformat
import numpy as np
import pandas as pd
import pytest
import vl_convert
from altair.expr.core import ConstExpression
from hypothesis import given
from hypothesis import strategies as st
from scaleright import charts, ranges
from scaleright.charts import theme


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


@pytest.fixture
def live():
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


def bar_chart(value):
    return charts.bars(
        pd.DataFrame({"what": ["a", "b"], "usd": [1.0, 2.0]}), "what", value, "usd", "USD per hour"
    )


def vega_text(expressions):
    """Texts of Vega expressions without fields, as Vega itself computes them."""
    rows = [{"row": i} for i in range(len(expressions))]
    pick = " : ".join(f"datum.row == {i} ? ({e})" for i, e in enumerate(expressions)) + " : ''"
    chart = (
        alt.Chart(alt.Data(values=rows))
        .transform_calculate(out=f"'@' + datum.row + '@' + ({pick})")
        .mark_text()
        .encode(y="row:O", text="out:N")
    )
    found = dict(re.findall(r">@(\d+)@([^<]*)<", vl_convert.vegalite_to_svg(chart.to_dict())))
    return [html.unescape(found[str(i)]) for i in range(len(expressions))]


# ---- words
# ---------------------------------------------------------------------------------------------------

KINDS = (
    "usd",
    "usd 2",
    "usd 4",
    "percent",
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


# ---- the look
# ------------------------------------------------------------------------------------------------


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


# ---- showing
# -------------------------------------------------------------------------------------------------


def test_an_output_is_valid_names_no_host_and_carries_its_alternative(live):
    shown = charts.show(
        bar_chart(alt.datum.usd * live.price),
        alt="Two bars & their <cost>.",
        name="costs",
        controls=live,
    )
    bundle = shown._repr_mimebundle_()
    cell = nbformat.v4.new_code_cell(
        "x", outputs=[nbformat.v4.new_output("display_data", data=bundle)]
    )
    nbformat.validate(nbformat.v4.new_notebook(cells=[cell]))
    assert "://" not in json.dumps(bundle)
    assert bundle["text/plain"] == "Two bars & their <cost>."
    assert 'aria-label="Two bars &amp; their &lt;cost&gt;."' in bundle["text/html"]
    inside = re.search(r'class="sr-spec">(.*?)</script>', bundle["text/html"]).group(1)
    assert "<" not in inside and json.loads(inside) == bundle[charts.render.VEGALITE]


def test_an_output_is_the_same_on_machines_that_differ_in_the_last_bit(live):
    rows = pd.DataFrame({"what": ["a", "b"], "usd": [1 / 3, 2 / 7]})
    nudged = rows.assign(usd=np.nextafter(rows["usd"], 1))
    one, other = (
        charts.show(charts.bars(r, "what", "usd", "usd", "USD"), alt="Two bars of cost.").bundle
        for r in (rows, nudged)
    )
    assert one == other and re.search(r'id="sr-[0-9a-f]{12}"', one["text/html"])


def test_a_chart_without_a_description_is_refused():
    with pytest.raises(ValueError, match="does not tell what the chart shows"):
        charts.show(bar_chart("usd"), alt="Chart")


def test_showing_a_chart_leaves_altair_as_it_was():
    before = alt.theme.active, alt.data_transformers.active, alt.renderers.active
    charts.show(bar_chart("usd"), alt="Two bars of cost.")
    assert (alt.theme.active, alt.data_transformers.active, alt.renderers.active) == before


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
    "bars": lambda live: bar_chart(alt.datum.usd * live.price),
    "dots": lambda live: charts.bars(
        pd.DataFrame({"what": ["a"], "usd": [1.0]}), "what", "usd", "usd", "USD", log=True
    ),
    "lines": lambda live: charts.lines(
        pd.DataFrame({"h": [1.0, 2.0]}),
        "h",
        {"rent": alt.datum.h * live.price, "own": 3 + alt.datum.h},
        "usd",
        "hours",
        "USD",
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
        {"chips": live.price * 2, "power": 1.5}, "usd", "USD"
    ),
    "stacked": lambda live: charts.stacked_parts(
        {"chips": "usd", "power": alt.datum.usd * live.load},
        "usd",
        "USD",
        pd.DataFrame({"what": ["a"], "usd": [1.0]}),
        "what",
    ),
    "tornado": lambda live: charts.tornado(
        ranges.tornado(lambda a, b: a * b, a=ranges.Range(1, 2, 3), b=ranges.Range(1, 2, 4)),
        4.0,
        "usd",
        "USD",
    ),
    "measured": lambda live: charts.predicted_vs_measured(
        pd.DataFrame({"n": ["a", "b"], "m": [1.0, 9.0], "p": [1.1, 8.0]}), "m", "p", "n", "B"
    ),
    "band": lambda live: (
        charts.band(0.2, live.price, "USD", "APIs", log=True)
        + charts.lines(
            pd.DataFrame({"h": [0.1, 1.0]}),
            "h",
            {"own": 1 / alt.datum.h},
            "usd",
            "h",
            "USD",
            log_y=True,
        )
    ),
    "timeline": lambda live: charts.timeline(
        PRICES,
        "day",
        "chip",
        "usd",
        "usd",
        "USD",
        ends=("low", "high"),
        basis="basis",
        only=alt.datum.usd > live.load,
    ),
    "spread": lambda live: charts.spread(
        PRICES,
        "chip",
        alt.datum.usd * live.price,
        "usd",
        "USD",
        tips={"as of": "day"},
        chosen=live.chip,
        most=4,
    ),
    "spread, log": lambda live: charts.spread(
        PRICES, "chip", "usd", "usd", "USD", only=alt.datum.chip == live.chip, log=True
    ),
    "scatter": lambda live: charts.scatter(
        PRICES,
        "usd",
        "high",
        "chip",
        ("usd", "usd"),
        ("USD", "USD"),
        color="segment",
        chosen=live.chip,
    ),
    "scatter, linear": lambda live: charts.scatter(
        PRICES, "usd", "high", "chip", ("usd", "usd"), ("USD", "USD"), log=False
    ),
    "boundary": lambda live: charts.boundary(
        ("x", 0, 24), ("y", 1, live.price * 30), 60 / alt.datum.x, here=(live.load * 24, live.price)
    ),
}


@pytest.mark.parametrize("form", EVERY)
def test_every_form_draws_in_vega_itself(form, live):
    spec = charts.show(EVERY[form](live), alt="A chart of something.", controls=live).bundle[
        charts.render.VEGALITE
    ]
    drawn = vl_convert.vegalite_to_svg(spec | {"width": 600, "autosize": "pad"})
    assert drawn.count("<path") > 3 and "NaN" not in drawn and "undefined" not in drawn


@pytest.mark.parametrize("form", EVERY)
def test_no_form_makes_vega_warn(form, live, capfd):
    spec = charts.show(EVERY[form](live), alt="A chart of something.", controls=live).bundle[
        charts.render.VEGALITE
    ]
    vl_convert.vegalite_to_vega(spec, show_warnings=True)
    assert "WARN" not in capfd.readouterr().err


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
    drawn = vl_convert.vegalite_to_svg(
        charts.show(chart, alt="A line and two rules.").bundle[charts.render.VEGALITE]
        | {
            "width": 300,
            "autosize": "pad",
        }
    )
    found = dict(
        (word, (side, float(x), float(y)))
        for side, x, y, word in re.findall(
            r'text-anchor="(\w+)" transform="translate\(([\d.-]+),([\d.-]+)\)"[^>]*>(break-even|you'
            r" use it)<",
            drawn,
        )
    )
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


def test_the_ends_of_a_swing_share_their_unit():
    swings = [ranges.Swing("price", 1.0, 3.0, 5e6, 6e6), ranges.Swing("power", 1.0, 2.0, 6e5, 6e6)]
    spec = charts.show(
        charts.tornado(swings, 5.5e6, "usd", "USD"), alt="What moves a cost."
    ).bundle[charts.render.VEGALITE]
    drawn = vl_convert.vegalite_to_svg(spec | {"width": 600, "autosize": "pad"})
    assert ">$5.00 to $6.00 million<" in drawn and ">$600,000 to $6.00 million<" in drawn


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


@pytest.mark.parametrize("spot", HERE)
@pytest.mark.parametrize("names", CURVES)
def test_a_boundary_names_the_areas_there_are_and_holds_the_readers_case(names, spot):
    chart = charts.boundary(
        ("hours", 0, 24), ("USD", 1, 10), CURVES[names], here=HERE[spot], kind="usd"
    )
    drawn = vl_convert.vegalite_to_svg(
        charts.show(chart, alt="A plane in two parts.").bundle[charts.render.VEGALITE]
        | {
            "width": 300,
            "autosize": "pad",
        }
    )
    assert not re.search("NaN|undefined|Infinity", drawn)
    assert (
        set(re.findall(r'font-weight="bold"[^>]*>([^<]+)<', drawn)) == set(names.split())
        and "your case" in drawn
    )
    width, height = (
        float(size) for size in re.search(r'width="(\d+)" height="(\d+)"', drawn).groups()
    )
    x, y = (
        float(place)
        for place in re.search(
            r"mark-symbol.*?translate\(([\d.]+),([\d.]+)\)", drawn, re.S
        ).groups()
    )
    assert 0 <= x <= 300 < width and 5 < y < 315 < height


def texts_of(chart, width=600):
    spec = charts.show(chart, alt="A chart of something.").bundle[charts.render.VEGALITE]
    return re.findall(
        r"<text[^>]*>([^<]+)</text>",
        vl_convert.vegalite_to_svg(spec | {"width": width, "autosize": "pad"}),
    )


def test_a_timeline_shows_the_same_months_in_every_time_zone(live):
    texts = texts_of(charts.timeline(PRICES, "day", "chip", "usd", "usd", "USD", basis="basis"))
    assert "2026" in texts and {"A", "B"} < set(texts)
    spec = charts.timeline(PRICES, "day", "chip", "usd", "usd", "USD").to_dict()
    assert {row["day"] for row in next(iter(spec["datasets"].values()))} == {
        "2026-01-01",
        "2026-02-01",
        "2026-03-01",
    }


def test_each_basis_of_a_timeline_has_a_dash_of_its_own():
    drawn = vl_convert.vegalite_to_svg(
        charts.timeline(PRICES, "day", "chip", "usd", "usd", "USD", basis="basis").to_dict()
    )
    assert {"1,0", "6,4"} <= set(re.findall(r'stroke-dasharray="([^"]+)"', drawn))


def test_a_row_of_a_spread_says_its_median_and_the_cheapest_stands_on_top():
    texts = texts_of(charts.spread(PRICES, "chip", "usd", "usd", "USD"))
    assert {"$2.50, median of 2", "$3.00, median of 2"} < set(texts)
    assert texts.index("A") < texts.index("B")
    assert {"hyperscaler", "neocloud", "marketplace"} < set(texts)


def test_a_segment_has_its_color_whatever_others_are_there():
    spec = charts.spread(PRICES[:2], "chip", "usd", "usd", "USD").to_dict()
    scale = next(
        layer["encoding"]["color"]["scale"]
        for layer in spec["layer"]
        if "color" in layer["encoding"]
    )
    assert dict(zip(scale["domain"], scale["range"])) == {
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
    shown = charts.scatter(rows, "x", "y", "chip", ("usd", "usd"), ("x", "y"))
    assert {"old", "good", "cheap", "worse"} <= set(texts_of(shown))
    spec = charts.show(shown, alt="A chart of something.").bundle[charts.render.VEGALITE]
    stairs = re.search(
        r'mark-line role-mark[^"]*".*?<path[^>]* d="([^"]+)"',
        vl_convert.vegalite_to_svg(spec | {"width": 600, "autosize": "pad"}),
        re.S,
    )[1]
    assert (
        stairs.count("L") + stairs.count("H") + stairs.count("V") == 4
    )  # three steps: over and down, twice


@given(
    st.lists(st.tuples(st.floats(0.1, 100), st.floats(0.1, 100)), min_size=1, max_size=25),
    st.booleans(),
)
def test_names_beside_dots_meet_neither_dots_nor_each_other(spots, log):
    x, y = (np.array(values) for values in zip(*spots))
    sides = charts.market.label_sides(x, y, ["H100 SXM"] * len(spots), 500, log)
    scaled = [np.log(v) if log else v for v in (x, y)]
    across, up = ((v - v.min()) / (np.ptp(v) or 1.0) * size for v, size in zip(scaled, (500, 290)))
    middle = {"right": (8 + 28.8, 0), "left": (-8 - 28.8, 0), "above": (0, 13), "below": (0, -14)}
    names = [
        (i, a + middle[s][0], b + middle[s][1])
        for i, (a, b, s) in enumerate(zip(across, up, sides))
        if s
    ]
    for which, a, b in names:
        assert all(
            abs(a - c) >= 57.59 or abs(b - d) >= 14.99 for other, c, d in names if other < which
        )
        assert all(
            abs(a - c) >= 33.79 or abs(b - d) >= 12.49
            for other, (c, d) in enumerate(zip(across, up))
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
    spec = charts.show(
        charts.stacked_parts({"chips": live.price * 2, "power": 1.5}, "usd", "USD"),
        alt="Parts of a cost.",
        controls=live,
    ).bundle[charts.render.VEGALITE]
    texts = re.findall(
        r"<text[^>]*>([^<]+)</text>",
        vl_convert.vegalite_to_svg(spec | {"width": 600, "autosize": "pad"}),
    )
    assert {"$4.00 (73%)", "$1.50 (27%)", "$5.50"} <= set(texts)


# ---- controls
# ------------------------------------------------------------------------------------------------


def test_a_control_is_an_expression_and_an_unknown_name_is_answered(live):
    assert str(live.price * 24 + live.load) == "((price * 24) + load)"
    assert live.note == "free text"
    with pytest.raises(AttributeError, match="did you mean price"):
        live.prices


def test_a_chart_carries_the_controls_it_uses_and_no_others(live):
    spec = charts.show(
        bar_chart(alt.datum.usd * live.price), alt="Two bars of cost.", controls=live
    ).bundle[charts.render.VEGALITE]
    assert [p["name"] for p in spec["params"]] == ["price"]
    assert spec["params"][0]["bind"] | {"step": 0} == {
        "input": "range",
        "min": 0.05,
        "max": 15,
        "step": 0,
        "name": "rent of one chip [USD per hour] ",
    }
    (control,) = spec["usermeta"]["scaleright"]["controls"]
    assert control["log"] and not control["whole"] and control["value"] == 2.0


def test_kinds_of_controls(live):
    kinds = {
        name: (live.describe(name) or {}).get("kind")
        for name in ("chip", "price", "load", "chips", "taxed", "note")
    }
    assert kinds == {
        "chip": "choice",
        "price": "number",
        "load": "number",
        "chips": "number",
        "taxed": "flag",
        "note": None,
    }
    assert live.describe("load")["percent"] and live.describe("chips")["whole"]


def test_a_choice_that_others_follow_comes_with_them(live):
    live.follow("chip", {"A": {"price": 2.0}, "B": {"price": 4.0}})
    meta = charts.show(
        bar_chart(alt.datum.usd * live.price), alt="Two bars of cost.", controls=live
    ).bundle[charts.render.VEGALITE]["usermeta"]["scaleright"]
    assert [c["name"] for c in meta["controls"]] == ["chip", "price"] and meta["follow"]["chip"][
        "B"
    ] == {"price": 4.0}
    with pytest.raises(ValueError, match="'prices' is no parameter"):
        live.follow("chip", {"A": {"prices": 2.0}})


def test_a_named_number_is_computed_from_what_it_names(live):
    cost = live.number("cost", live.price * live.chips, 16.0, "usd")
    assert (cost.text, str(cost)) == ("$16.00", "$16.00")
    assert live.used_in("cost_text") == (["price", "chips"], ["cost", "cost_text"])
    card = charts.answer_card(
        "It costs <b>{cost}</b> an hour.", range="$12 to $20", controls=live, cost=cost
    )
    assert str(card) == "It costs $16.00 an hour. Range: $12 to $20."
    assert [d["name"] for d in model_in(card)["defined"]] == ["cost", "cost_text"]


def model_in(display):
    return json.loads(
        re.search(r'class="sr-model">(.*?)</script>', display.bundle["text/html"]).group(1)
    )


def test_the_facts_of_an_answer_follow_the_controls_and_only_the_others_are_of_the_defaults(live):
    cost = live.number("cost", live.price * live.chips, 16.0, "usd")
    low = live.number("low", live.price * 6, 12.0, "usd")
    day = live.words(
        "day", live.choose_text("chip", {"A": "2026-09-29", "B": "2026-11-02"}), "2026-09-29"
    )
    card = charts.answer_card(
        "It costs {cost}.",
        range="from {low}",
        as_of=day,
        model_error="5 %",
        controls=live,
        cost=cost,
        low=low,
    )
    assert (
        str(card) == "It costs $16.00. Range: from $12.00. Data as of 2026-09-29. Model error: 5 %."
    )
    assert {"low_text", "day_text"} <= {d["name"] for d in model_in(card)["defined"]}
    assert [c["name"] for c in model_in(card)["controls"]] == ["chip", "price", "chips"]
    assert (
        'data-sr-note="Your case. The model error is of the chapter\'s defaults."'
        in card.bundle["text/html"]
    )
    assert (
        "data-sr-note"
        not in charts.answer_card(
            "{cost}", range="{low}", controls=live, cost=cost, low=low
        ).bundle["text/html"]
    )


def test_a_sentence_follows_the_controls(live):
    cost = live.number("cost", live.price * live.chips, 16.0, "usd")
    shown = charts.sentence(
        "At <i>{where}</i> it costs {cost}.", controls=live, cost=cost, where="A & B"
    )
    assert str(shown) == "At A & B it costs $16.00."
    assert '<span class="sr-live" data-sr-signal="cost">$16.00</span>' in shown.bundle["text/html"]
    assert [c["name"] for c in model_in(shown)["controls"]] == ["price", "chips"]


def test_the_least_of_several_is_found_in_the_page_with_its_word(live):
    least, word = live.least(
        "bill",
        [live.price * 3, live.price + 1, 1 / live.load + 4],
        ConstExpression("['three', 'one', 'load']"),
    )
    assert set(live.used_in(str(word))[1]) == {"bill", "bill_all"}
    chart = (
        alt.Chart(pd.DataFrame({"row": [0]}))
        .transform_calculate(_out="'@' + format(bill, '.1f') + ' ' + " + str(word))
        .mark_text()
        .encode(text="_out:N")
    )
    spec = charts.show(chart, alt="The least of three.", controls=live).bundle[
        charts.render.VEGALITE
    ]
    assert (
        "@3.0 one" in vl_convert.vegalite_to_svg(spec | {"width": 300, "autosize": "pad"})
        and str(least) == "bill"
    )


def test_a_choice_offers_only_what_all_its_tables_hold(live):
    live.record("chip", {"A": {"watts": 1.0}, "B": {"watts": 2.0}})
    live.choose_text("chip", {"A": "one"})
    assert live.describe("chip")["choices"] == ["A"]
    with pytest.raises(ValueError, match="no row for chip = 'A'; there are B"):
        live.choose_text("chip", {"B": "two"})


# ---- tables
# --------------------------------------------------------------------------------------------------


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
    markup = shown.bundle["text/html"]
    assert (
        "<caption><span>Prices &amp; more</span></caption>" in markup
        and '<th scope="row">A&lt;1&gt;</th>' in markup
    )
    assert '<td class="sr-num">$1,600</td>' in markup and '<td class="sr-num">–</td>' in markup
    assert (
        '<a href="https://example.org/?a&amp;b">S</a>' in markup
        and "<td>T</td>" in markup
        and '<th scope="col">url' not in markup
    )
    assert str(shown).splitlines()[2].startswith("A<1>")


def test_a_table_refuses_a_column_it_does_not_have():
    with pytest.raises(KeyError, match="no column 'cost'; there are price"):
        charts.table(pd.DataFrame({"price": [1]}), "Prices", {"cost": "usd"})


@given(st.floats(-1e15, 1e15, allow_nan=False))
def test_rounding_changes_no_digit_that_is_shown(value):
    kept = charts.render.rounded(value)
    assert kept == pytest.approx(value, rel=1e-11) and charts.render.rounded(kept) == kept


def test_the_headline_of_an_answer_comes_first_and_is_one_of_its_quantities():
    numbers = {"low": (1.0, "usd"), "cost": (2.0, "usd")}
    card = charts.answer_card("It costs $2.", quantities=numbers, headline="cost")
    assert list(card.bundle[charts.machine.ANSWER_MIME]["quantities"]) == ["cost", "low"]
    with pytest.raises(LookupError, match="unknown quantity of the answer 'costs'; nearest: cost"):
        charts.answer_card("It costs $2.", quantities=numbers, headline="costs")
