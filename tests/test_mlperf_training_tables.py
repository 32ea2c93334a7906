"""The rows and frames on training records that a chapter shows hold together, and follow a case."""

from __future__ import annotations

import pytest
from scaleright import mlperf
from scaleright.mlperf import training_tables as tables
from scaleright.press.parameters import declared
from scaleright.quantity import choose, evaluate, given

CHOICES = {p.name: p.choices for p in declared("pretraining_records")}


def test_a_row_is_the_record_of_its_benchmark_round_and_measure():
    runs = tables.best_runs()
    assert {title for title, _, _ in runs} == set(CHOICES["benchmark"])
    assert {name for _, name, _ in runs} == set(CHOICES["round"])
    assert {measure for _, _, measure in runs} == set(CHOICES["measure"]) == set(tables.LEAST)
    asked = [given(name, CHOICES[name][0]) for name in ("benchmark", "round", "measure")]
    run = choose(runs, *asked, otherwise="absent")
    for title, name, measure in list(runs)[::17]:
        case = {"benchmark": title, "round": name, "measure": measure}
        seconds, chip, usd = evaluate([run.seconds, run.chip, run.usd], case)
        column = tables.LEAST[measure]
        here = mlperf.record(title, None if name == "all" else name, column)
        assert seconds == pytest.approx(here["time_to_train_s"], rel=1e-6)
        assert (chip, usd) == (here["accelerator"], pytest.approx(here["usd_per_hour"]))
    case = {"benchmark": "GPT-3 175B", "round": "v5.1"}
    assert evaluate([run.why], case) == ["absent"]


def test_the_chart_of_runs_has_the_records():
    points = tables.best_by_size()
    short = points.groupby(["benchmark", "in_round"])[["minutes", "hours", "kwh"]].min()
    for (title, name, measure), run in tables.best_runs().items():
        if measure == "time":
            least = short.loc[(title, name), "minutes"]
            assert least == pytest.approx(run["seconds"] / 60, rel=1e-3)
    assert not points.duplicated(["benchmark", "in_round", "chip", "chips"]).any()


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
    usual = tables.usual_overheads()
    assert usual["pue"] >= 1 and 100 < usual["host_watts"] < 2000
