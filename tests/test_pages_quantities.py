"""Every quantity of a chapter, at random settings of all its controls: the page against Python."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scaleright import charts
from scaleright.charts.displays import row_set
from scaleright.charts.expressions import settled
from scaleright.parameters import Case
from scaleright.press import Book
from scaleright.press.evaluate import run_cells
from scaleright.press.texts import code_cells, declared
from scaleright.quantity import evaluate
from scaleright.quantity.graph import in_order, parameter
from scaleright.units import figure
from vega import signal_texts

BOOK = Book(Path(__file__).resolve().parents[1])
CHAPTERS = (
    "plan",
    "economics_stack",
    "buy_or_rent",
    "token_cost",
    "load_of_a_day",
    "memory_wall",
    "inference_roofline",
    "serving_accuracy",
    "scaling_math",
    "scaling_laws",
    "pretraining_cost",
    "parallelism",
    "vendor_claims",
    "mlperf",
    "architecture_bets",
    "training_accuracy",
    "gpu_prices",
    "pretraining_records",
    "hardware_radar",
    "inference_ladder",
    "sustainability",
    "hardware_compare",
    "model_routing",
    "cluster_efficiency",
    "rlhf_cost",
    "ablation_cost",
)
"""Those whose pages are read from one graph."""
WITH_ROWS = {
    "ablation_cost",
    "buy_or_rent",
    "cluster_efficiency",
    "hardware_compare",
    "hardware_radar",
    "inference_ladder",
    "inference_roofline",
    "memory_wall",
    "parallelism",
    "pretraining_cost",
    "pretraining_records",
    "rlhf_cost",
    "serving_accuracy",
    "sustainability",
    "token_cost",
    "vendor_claims",
}
"""Those with a table whose rows are cases of their own."""
SETTINGS = 12
MANY = 2000
"""Quantities of a page that are compared at all settings; those of a page of more, at fewer."""
JOINT = "‖"
"""Between the values of rows: no word has it."""


def computed_here(
    chapter: str, case: dict | None = None, names: dict[str, Any] | None = None
) -> charts.Controls:
    """The controls of a chapter after all its cells have run in this process, at the declared case
    or at another; what they make is left in `names`.
    """
    given = declared(chapter, BOOK)
    at = Case(given, {parameter.name: parameter.default for parameter in given} | (case or {}))
    names = {} if names is None else names
    run_cells(code_cells(BOOK.text(chapter)), at, lambda shown: None, names)
    return names["live"]


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


@pytest.fixture(params=CHAPTERS, scope="module")
def live(request):
    return computed_here(request.param)


@pytest.fixture
def cases(live) -> list[dict]:
    """Random settings of all controls, and as many of a few: all at once seldom make a case that
    there is where few choices go together.
    """
    generator = np.random.default_rng(0)
    controls = [entry for name in vars(live.given) if (entry := live.describe(name))]
    assert [entry["name"] for entry in controls] == [*vars(live.given)]
    every = [{of["name"]: drawn(of, generator) for of in controls} for _ in range(SETTINGS)]
    at_rest = {of["name"]: of["value"] for of in controls}
    few = [
        {name: of[name] if generator.random() < 0.3 else at_rest[name] for name in at_rest}
        for of in every
    ]
    return every + few


def test_a_chapter_runs_at_whatever_its_controls_allow(live, cases, request):
    computed_here(request.node.callspec.params["live"], cases[0])


def expressions(live: charts.Controls) -> dict[str, str]:
    return {name: settled(told) for name, told in live.signals.expressions.items()}


def test_the_page_computes_what_the_library_computes(live, cases):
    page = live.signals
    wanted = {
        name: quantity
        for name, quantity in page.known.items()
        if name in page.expressions and isinstance(quantity.value, (bool, int, float, str))
    }
    assert len(wanted) > 15
    sets = [row_set(live, name) for name in page.rows]
    cases = cases[:: 1 + len(wanted) // MANY]
    pages = signal_texts(cases, expressions(live), list(wanted), sets)
    for case, there in zip(cases, pages, strict=True):
        here = evaluate(wanted.values(), case)
        found = dict(zip(wanted, zip(there, here, strict=True), strict=True))
        assert {name: both for name, both in found.items() if not same(*both)} == {}, case


def test_rows_of_the_page_say_what_the_library_says(live, cases, request):
    page = live.signals
    sets = [row_set(live, name) for name in page.rows]
    said = {
        (name, field): f"join(pluck(data('{name}'),'{field}'),'{JOINT}')"
        for name, rows in page.rows.items()
        for field in rows.wanted
    }
    assert bool(said) == (request.node.callspec.params["live"] in WITH_ROWS)
    if not said:
        return
    pages = signal_texts(cases, expressions(live), list(said.values()), sets)
    for case, there in zip(cases, pages, strict=True):
        told = dict(zip(said, there, strict=True))
        for name, rows in page.rows.items():
            read = {parameter(node) for node in in_order(rows.wanted.values())}
            at = {of: value for of, value in (case | dict(rows.given)).items() if of in read}
            here = evaluate(rows.wanted.values(), at)
            for field, values in zip(rows.wanted, here, strict=True):
                pairs = zip(told[name, field].split(JOINT), values.tolist(), strict=True)
                assert [both for both in pairs if not same(*both)] == [], (name, field, case)


def test_what_sustainability_shows_as_formulas_is_what_its_ranges_and_changes_start_from():
    names: dict[str, Any] = {}
    computed_here("sustainability", names=names)
    same_work = names["of"].footprint
    assert same_work.carbon.total is names["carbon"].total
    assert same_work.energy.total is names["energy"].total
    assert same_work.water.total is names["water"].total


def test_the_bets_of_architecture_bets_are_those_of_its_case():
    names: dict[str, Any] = {}
    computed_here("architecture_bets", names=names)
    found, again = names["found"], names["bets"].Bets.of(names["case"])
    assert found.expected["GB300"] is again.expected["GB300"] is names["expected"]["GB300"]
    assert found.at_worst["B300"] is again.at_worst["B300"]
    assert found.flip is names["flip"]
