"""What a sweep keeps: its journal, its table and its chart."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest
from scaleright.parameters import parse
from scaleright.press import PressError, sweep, sweep_chart
from sweeping import IDENTITY, ONE


def test_a_journal_is_taken_up_where_it_ends_even_in_the_middle_of_a_line(tmp_path):
    with sweep.Journal(tmp_path, IDENTITY) as journal:
        journal.add({"hours": 1}, ONE)
        journal.add({"hours": 2}, {"error": "no"})
    path = tmp_path / sweep.JOURNAL
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"values": {"hours": 3}, "te')
    with sweep.Journal(tmp_path, IDENTITY) as journal:
        assert [journal.answered({"hours": hours}) for hours in (1, 2, 3)] == [
            True,
            False,
            False,
        ], "a failed one runs again"
        journal.add({"hours": 2}, ONE)
        frame, kinds = sweep.table([{"hours": 1}, {"hours": 2}, {"hours": 3}], journal)
    assert path.read_bytes().startswith(whole) and all(
        map(json.loads, path.read_text().splitlines())
    )
    assert (
        kinds == {"usd": "usd", "count": ""}
        and frame["hours"].to_list() == [1, 2]
        and frame["error"].isna().all()
    )


def test_a_table_keeps_whole_numbers_whole_and_names_apart(tmp_path):
    same = {"quantities": {"hours": {"value": 1.0, "unit": "h"}}, "text": "one"}
    with sweep.Journal(tmp_path, IDENTITY) as journal:
        for hours, outcome in ((1, ONE), (2, {"error": "no"}), (3, same)):
            journal.add({"hours": hours}, outcome)
        frame, kinds = sweep.table(({"hours": hours} for hours in (3, 2, 1)), journal)
    sweep.write(tmp_path, frame, kinds, parse("hours: int = 8  # use [h] (0..24)"), "A sweep")
    assert (tmp_path / sweep.TABLE).read_text().splitlines() == [
        "hours,answer_hours,usd,count,answer,error",
        "3,1.0,,,one,",
        "2,,,,,no",
        "1,,1.5,3,1 hour,",
    ]
    twin = json.loads((tmp_path / sweep.TWIN).read_text())
    assert (
        twin["schema"]["fields"][0] == {"name": "hours", "type": "integer", "unit": "h"}
        and twin["data"][2]["count"] == 3
    )


@pytest.mark.parametrize(
    "name, value",
    [
        ("chapter", "other"),
        ("grid", {"hours": [1]}),
        ("text", "c"),
        ("data", "c"),
        ("library", "c"),
    ],
)
def test_a_folder_of_another_sweep_is_refused_unless_it_may_be_dropped(tmp_path, name, value):
    with sweep.Journal(tmp_path, IDENTITY) as journal:
        journal.add({"hours": 1}, ONE)
    with pytest.raises(
        PressError,
        match=rf"holds a sweep of sweep with another {name}, .*; give another --out, or --fresh",
    ):
        sweep.Journal(tmp_path, IDENTITY | {name: value})
    with sweep.Journal(tmp_path, IDENTITY | {name: value}, fresh=True) as journal:
        assert not journal.answered({"hours": 1})


def test_what_no_sweep_has_left_is_not_overwritten(tmp_path):
    (tmp_path / sweep.TABLE).write_text("mine")
    with pytest.raises(PressError, match=r"has a sweep\.csv that no sweep has left"):
        sweep.Journal(tmp_path, IDENTITY)
    (tmp_path / sweep.JOURNAL).write_text("mine\n")
    with pytest.raises(PressError, match="is no sweep's; give another --out"):
        sweep.Journal(tmp_path, IDENTITY)


def test_two_sweeps_do_not_write_into_one_folder(tmp_path):
    with (
        sweep.Journal(tmp_path, IDENTITY),
        pytest.raises(PressError, match="another sweep is writing into"),
    ):
        sweep.Journal(tmp_path, IDENTITY)
    sweep.Journal(tmp_path, IDENTITY).__exit__()


FRAME = pd.DataFrame(
    [
        {
            "hours": hours,
            "plan": plan,
            "years": years,
            "chip": chip,
            "usd": hours * (1 + (plan == "spot")) * (years or 1),
            "said": plan,
        }
        for hours in (4, 8)
        for plan in ("spot", "on demand")
        for years in (None, 3.0)
        for chip in ("A", "B <i>")
    ]
)


@pytest.fixture(autouse=True)
def small_vega(monkeypatch):
    """A word for Vega's bundle, which takes seconds to make: sweeps that are run have it whole."""
    monkeypatch.setattr("scaleright.press.vendor.vega_bundle", lambda: "vega, all of it")


LINES = """\
hours: int = 8  # use [h/day] (0..24)
plan: str = "spot"  # how it is paid (spot | on demand)
years: float | None = None  # years kept [year] (1..9)
chip: str = "A"  # what is rented"""


def test_a_chart_stands_alone_and_says_what_it_shows(tmp_path):
    assert (
        sweep_chart.draw(tmp_path, FRAME, {"usd": "usd", "said": ""}, parse(LINES), "sweep")
        == "usd"
    )
    page, svg = ((tmp_path / name).read_text() for name in (sweep_chart.PAGE, sweep_chart.PICTURE))
    words = (
        "sweep: usd [USD] over hours [h/day], a color for each plan, a panel for each years and"
        " chip: from $4.00 at hours 4, plan on demand, years default, chip A to $48.00 at hours 8,"
        " plan spot, years 3, chip A."
    )
    assert (
        f'aria-label="{words}"' in page
        and f'aria-label="{words}"' in svg
        and "years 3, chip B &lt;i&gt;" in svg
    )
    own = page[: page.index("<script>")] + page[page.rindex("<script>") :]
    assert not re.search(r'(src|href)="|@import|url\(', own) and "<i>" not in own
    assert "vega, all of it" in page
    first = page
    sweep_chart.draw(tmp_path, FRAME, {"usd": "usd", "said": ""}, parse(LINES), "sweep")
    assert (tmp_path / sweep_chart.PAGE).read_text() == first


def test_a_chart_of_names_runs_down_and_too_many_panels_are_said(tmp_path):
    frame = pd.DataFrame(
        {"chip": [f"chip {n}" for n in range(30)], "plan": ["a"] * 30, "usd": range(30)}
    )
    parameters = parse('chip: str = "a"  # what is rented\nplan: str = "a"  # how it is paid')
    assert sweep_chart.draw(tmp_path, frame, {"usd": "usd"}, parameters, "sweep") == "usd"
    assert "chip 29" in (tmp_path / sweep_chart.PICTURE).read_text()
    many = pd.DataFrame(
        {"hours": [1, 2] * 30, "chip": [f"chip {n // 2}" for n in range(60)], "usd": range(60)}
    )
    parameters = parse('hours: int = 8  # use [h] (0..24)\nchip: str = "a"  # what is rented')
    sweep_chart.draw(tmp_path, many, {"usd": "usd"}, parameters, "sweep")
    assert (
        "The first 24 of 30 panels; the table has them all."
        in (tmp_path / sweep_chart.PAGE).read_text()
    )


def test_an_answer_without_a_number_has_no_chart(tmp_path):
    assert sweep_chart.draw(
        tmp_path, FRAME, {"said": ""}, parse(LINES), "sweep"
    ) is None and not list(tmp_path.iterdir())
