"""What outputs hand to machines: an answer's quantities, a table's raw numbers."""

from __future__ import annotations

from types import SimpleNamespace

import nbformat
import pandas as pd
from scaleright import charts
from scaleright.outputs import ANSWER_MIME, TABLE_MIME


def test_an_answer_carries_its_sentence_and_its_quantities(live):
    case = SimpleNamespace(usd=live.given.price / 3, of=live.given, low="$1")
    card = charts.answer_card(
        "It costs {case.usd:usd} for {case.of.chip}.",
        range="{case.low} to $3",
        quantities={"hours": (float("inf"), "hours"), "low": (1.0, "usd")},
    )
    carried = card.bundle[ANSWER_MIME]
    assert case.usd.value == 2 / 3
    assert (
        carried["text"] == "It costs $0.667 for A."
        and str(card) == carried["text"] + " Range: $1 to $3."
    )
    assert carried["quantities"] == {
        "case_usd": {"value": 0.6666667, "unit": "usd"},
        "chip": {"value": "A", "unit": ""},
        "case_low": {"value": "$1", "unit": ""},
        "hours": {"value": None, "unit": "hours"},
        "low": {"value": 1.0, "unit": "usd"},
    }


def test_a_table_carries_its_raw_numbers_with_types_and_units():
    rows = pd.DataFrame(
        {
            "chip": ["A", None],
            "price": [2 / 3, None],
            "months [months]": [float("inf"), 3],
            "count": pd.array([1, None], dtype="Int64"),
            "day": pd.to_datetime(["2026-09-29", None]),
            "sold": [True, False],
            "mixed": ["no", 1],
        }
    )
    shown = charts.table(rows, "Prices, new: all of them", {"price": "usd", "months [months]": str})
    carried = shown.bundle[TABLE_MIME]
    assert (
        charts.folded(shown, "more").bundle[TABLE_MIME] == carried and carried["name"] == "prices"
    )
    kinds = {
        field["name"]: (field["type"], field.get("unit", ""))
        for field in carried["schema"]["fields"]
    }
    assert kinds == {
        "chip": ("string", ""),
        "price": ("number", "USD"),
        "months [months]": ("number", "months"),
        "count": ("integer", ""),
        "day": ("date", ""),
        "sold": ("boolean", ""),
        "mixed": ("string", ""),
    }
    assert carried["data"] == [
        {
            "chip": "A",
            "price": 0.6666667,
            "months [months]": "INF",
            "count": 1,
            "day": "2026-09-29",
            "sold": True,
            "mixed": "no",
        },
        {
            "chip": None,
            "price": None,
            "months [months]": 3.0,
            "count": None,
            "day": None,
            "sold": False,
            "mixed": "1",
        },
    ]
    cell = nbformat.v4.new_code_cell(
        outputs=[nbformat.v4.new_output("display_data", data=shown.bundle)]
    )
    nbformat.validate(nbformat.v4.new_notebook(cells=[cell]))
