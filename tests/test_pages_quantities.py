"""Every quantity of a chapter, at random settings of all its controls: the page against Python."""

import math
from typing import Any

import numpy as np
import pytest
from chapter_cells import BOOK, shared
from scaleright import charts
from scaleright.charts.displays import row_set
from scaleright.charts.expressions import settled
from scaleright.quantity import Rows, evaluate
from scaleright.quantity.readings import evaluate_rows
from scaleright.units import figure
from vega import signal_texts

WITH_ROWS = {
    "ablation_cost",
    "buy_or_rent",
    "cluster_efficiency",
    "economics_stack",
    "hardware_compare",
    "hardware_radar",
    "inference_ladder",
    "inference_roofline",
    "load_of_a_day",
    "memory_wall",
    "model_routing",
    "parallelism",
    "plan",
    "pretraining_cost",
    "pretraining_records",
    "rlhf_cost",
    "serving_accuracy",
    "sustainability",
    "token_cost",
    "vendor_claims",
}
"""Those with a table whose rows are cases of their own."""
MANY = 2000
"""Quantities of a page that are compared at all settings; those of a page of more, at fewer."""
JOINT = "‖"
"""Between the values of rows: no word has it."""


def drawn(control: dict, generator: np.random.Generator) -> Any:
    """A value that a reader may give a control: an end in one of four draws of a number."""
    if control["kind"] == "flag":
        return bool(generator.integers(2))
    if control["kind"] == "choice":
        return control["choices"][generator.integers(len(control["choices"]))]
    low, high = control["low"], control["high"]
    if generator.random() < 0.25:
        value = float(generator.choice([low, high]))
    elif control["log"]:
        value = figure(math.exp(generator.uniform(math.log(low), math.log(high))))
    else:
        value = figure(generator.uniform(low, high))
    return round(value) if control["whole"] else value


def same(page: str, here: Any) -> bool:
    if isinstance(here, str):
        return page == here
    if isinstance(here, bool):
        return page == str(here).lower()
    if page in {"NaN", "undefined"}:  # the latter is an element that a list lacks
        return math.isnan(here)
    return math.isclose(float(page), here, rel_tol=1e-9)


def settings(live: charts.Controls, count: int) -> list[dict]:
    """So many random settings of all controls, and as many of a few: all at once seldom make a case
    that there is where few choices go together.
    """
    generator = np.random.default_rng(0)
    controls = [entry for name in vars(live.given) if (entry := live.describe(name))]
    assert [entry["name"] for entry in controls] == [*vars(live.given)]
    every = [{of["name"]: drawn(of, generator) for of in controls} for _ in range(count)]
    at_rest = {of["name"]: of["value"] for of in controls}
    few = [
        {name: of[name] if generator.random() < 0.3 else at_rest[name] for name in at_rest}
        for of in every
    ]
    return every + few


def differing_rows(rows: Rows, case: dict, told: dict[str, str]) -> dict[str, list]:
    """What a table of a page says otherwise than the library does, by field."""
    found = evaluate_rows(rows.wanted.values(), rows.given, case)
    here = dict(zip(rows.wanted, found, strict=True))
    pairs = {
        field: [*zip(told[field].split(JOINT), values.tolist(), strict=True)]
        for field, values in here.items()
    }
    return {
        field: wrong
        for field, each in pairs.items()
        if (wrong := [both for both in each if not same(*both)])
    }


@pytest.mark.parametrize("chapter", BOOK.chapters())
@pytest.mark.parametrize("count", [4, pytest.param(12, marks=pytest.mark.nightly)])
def test_the_page_computes_what_the_library_computes(chapter, count):
    """Its quantities, and the rows of its tables, which are cases of their own."""
    live = shared(chapter).whole()["live"]
    page = live.signals
    wanted = {
        name: quantity
        for name, quantity in page.known.items()
        if name in page.expressions and isinstance(quantity.value, (bool, int, float, str))
    }
    said = {
        (name, field): f"join(pluck(data('{name}'),'{field}'),'{JOINT}')"
        for name, rows in page.rows.items()
        for field in rows.wanted
    }
    assert len(wanted) > 15
    assert bool(said) == (chapter in WITH_ROWS)
    cases = settings(live, count)[:: 1 + len(wanted) // MANY]
    expressions = {name: settled(told) for name, told in page.expressions.items()}
    sets = [row_set(live, name) for name in page.rows]
    pages = signal_texts(cases, expressions, [*wanted, *said.values()], sets)
    columns = {name: np.array([case[name] for case in cases]) for name in cases[0]}
    asked = {f"when {name}": of.when for name, of in page.rows.items() if of.when is not True}
    found = evaluate([*wanted.values(), *asked.values()], columns)
    each = (np.broadcast_to(of, len(cases)).tolist() for of in found)
    here = dict(zip([*wanted, *asked], each, strict=True))
    for place, (case, there) in enumerate(zip(cases, pages, strict=True)):
        told = dict(zip([*wanted, *said], there, strict=True))
        both = {name: (told[name], here[name][place]) for name in wanted}
        assert {name: pair for name, pair in both.items() if not same(*pair)} == {}, case
        for name, rows in page.rows.items():
            if not here.get(f"when {name}", [True] * len(cases))[place]:
                continue  # the page computes none of them
            seen = {field: told[name, field] for field in rows.wanted}
            assert differing_rows(rows, case, seen) == {}, (name, case)


def test_what_sustainability_shows_as_formulas_is_what_its_ranges_and_changes_start_from():
    names = shared("sustainability").whole()
    same_work = names["of"].footprint
    assert same_work.carbon.total is names["carbon"].total
    assert same_work.energy.total is names["energy"].total
    assert same_work.water.total is names["water"].total


def test_the_bets_of_architecture_bets_are_those_of_its_case():
    names = shared("architecture_bets").whole()
    found, again = names["found"], names["bets"].Bets.of(names["case"])
    assert found.expected["GB300"] is again.expected["GB300"] is names["expected"]["GB300"]
    assert found.at_worst["B300"] is again.at_worst["B300"]
    assert found.flip is names["flip"]
