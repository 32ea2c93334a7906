"""A chart that is no Vega-Lite fails its chapter."""

import altair as alt
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_output
from scaleright import charts
from scaleright.outputs import VEGALITE_MIME
from scaleright.press import worker
from scaleright.press.execute import ChapterError, Job


def shown(chart) -> dict:
    """What the page gets of a chart."""
    return charts.show(chart, alt="Bars of two lengths.").bundle[VEGALITE_MIME]


def bars(**encoding):
    """Two bars."""
    rows = pd.DataFrame({"name": ["a", "b"], "length": [1.0, 2.0]})
    return alt.Chart(rows).mark_bar().encode(**encoding)


def test_the_finished_chart_is_checked_with_its_data():
    spec = shown(bars(x="length:Q", y="name:N"))
    assert worker.fault(spec) is None
    assert "datasets" in (worker.fault(spec | {"datasets": {"rows-1": 3}}) or "")


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"x": alt.X("length:Q", axis={"labelAngel": 3})}, "labelAngel"),
        ({"x": alt.X("length", type="quantity")}, "quantity"),
    ],
)
def test_what_is_wrong_is_said_with_chapter_and_cell(wrong, said):
    from scaleright.press.worker import _refuse_faults

    output = new_output("display_data", {VEGALITE_MIME: shown(bars(**wrong))})
    cell = new_code_cell("charts.show(bars)", execution_count=7, outputs=[output])
    with pytest.raises(ChapterError, match=rf"tiny: code cell 7 \('charts.show\(bars\)'\).*{said}"):
        _refuse_faults(Job("tiny"), [cell])
