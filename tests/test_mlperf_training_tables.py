"""The rows and frames on training records that a chapter shows hold together, and follow a case."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
from scaleright import mlperf
from scaleright.chapters.pretraining_records import model as tables
from scaleright.market import hour
from scaleright.mlperf import training
from scaleright.power import most_watts
from scaleright.press.texts import declared
from scaleright.quantity import evaluate, given

CHOICES = {p.name: p.choices for p in declared("pretraining_records")}


CASE = SimpleNamespace(
    **{name: given(name, CHOICES[name][0]) for name in ("benchmark", "round", "measure")},
    contract=given("contract", "on demand"),
    seller=given("seller", "median"),
    rent_share=given("rent_share", 1.0),
)
BEST = mlperf.records().best(CASE)


def test_a_row_is_the_record_of_its_benchmark_round_and_measure():
    runs = training.best_runs()
    assert {title for title, _, _ in runs} == set(CHOICES["benchmark"])
    assert {name for _, name, _ in runs} == set(CHOICES["round"])
    assert set(CHOICES["measure"]) == set(training.MEASURES)
    of = [(*key, training.LEAST[key[2]]) for key in runs if key[2] in training.LEAST]
    for title, name, measure, column in of[::13]:
        case = {"benchmark": title, "round": name, "measure": measure}
        seconds, chip, usd = evaluate([BEST.run.seconds, BEST.run.chip, BEST.hour.usd], case)
        here = mlperf.record(title, None if name == "all" else name, column)
        assert seconds == pytest.approx(here["time_to_train_s"], rel=1e-6)
        assert (chip, usd) == (here["accelerator"], pytest.approx(hour(here["priced_as"]).usd))
    case = {"benchmark": "GPT-3 175B", "round": "v5.1"}
    assert evaluate([BEST.asked, BEST.shown], case) == [False, "all"]


@pytest.mark.parametrize("contract, seller", [("reserved", "median"), ("spot", "hyperscalers")])
def test_the_least_rent_is_that_of_the_contract(contract, seller):
    """Of all runs of chips that are sold so, whose own price it is."""
    asked = {"measure": "rent", "contract": contract, "seller": seller}
    for title in CHOICES["benchmark"]:
        runs = mlperf.rented(mlperf.benchmark_results(title), contract, seller)
        own = runs[runs["priced_as"] == runs["accelerator"]]
        found = [BEST.why, BEST.run.seconds, BEST.run.chips, BEST.hour.usd]
        why, seconds, chips, usd = evaluate(found, asked | {"benchmark": title})
        if own.empty:
            assert why and math.isnan(usd)
        else:
            assert seconds / 3600 * chips * usd == pytest.approx(own["cost_usd"].min(), rel=1e-6)


def test_the_chart_of_runs_has_the_records():
    points = tables.best_by_size()
    short = points.groupby(["benchmark", "in_round"])[["minutes", "hours", "kwh"]].min()
    for (title, name, measure), run in training.best_runs().items():
        if measure == "time":
            least = short.loc[(title, name), "minutes"]
            assert least == pytest.approx(run["seconds"] / 60, rel=1e-3)
    assert not points.duplicated(["benchmark", "in_round", "chip", "chips"]).any()
    result, columns = tables.result_of_rows(CASE, "rent")
    row = {"hours": 10.0, "priced_as": "B200", "contract": "reserved"}
    assert evaluate([result], row) == [pytest.approx(10 * hour("B200", "reserved").usd)]
    assert len(columns) == 4


def test_scaling_starts_at_one_and_keeps_a_line_for_each_chip():
    lines = tables.scaling_lines()
    assert set(lines["benchmark"]) == set(CHOICES["benchmark"])
    first = lines.groupby(["benchmark", "chip"]).first()
    assert (first["efficiency"] == 1).all()
    assert len(tables.scaling_pairs()) == len(mlperf.strong_scaling())
    far = tables.scaling_medians()
    assert 0.5 < far.efficiency < far.throughput < 1 < far.samples
    assert far.pairs > 50


def test_tables_of_the_chapter_hold_together():
    newer, software = (tables.gain_steps(kind) for kind in ("chip", "software"))
    assert newer["comparisons"].min() >= 3
    assert newer["median"].is_monotonic_decreasing
    assert len(tables.all_gain_steps()) == len(newer) + len(software)
    gained = tables.software("Llama-3.1-405B")
    assert gained.count > 50 and 0 < gained.lost < 0.5 and gained.middle > 0
    assert gained.last["title"] == "Llama-3.1-405B" and gained.last["gain"] > 1
    rows, busy = tables.utilization(), tables.busiest()
    assert rows["mfu"].notna().sum() + tables.silent_reasons().sum() == len(rows)
    assert busy["MFU"].between(0.1, 0.6).all()
    assert not busy.duplicated(["trained", "chips", "format"]).any()
    minutes = tables.published_minutes()
    assert (minutes["recomputed"] / minutes["published"] - 1).abs().max() < 0.02
    assert (tables.slivers()["one in"] > 1000).all()
    checks = tables.checks()
    assert checks.rows == len(rows) and checks.repeated > checks.few
    assert checks.found < checks.stated
    assert tables.usual_overheads()["pue"] >= 1
    for run in training.best_runs().values():
        assert 0.3 < run["drawn_watts"] / most_watts(run["chip"]) < 1
