"""The hardware radar: each axis and each gap, an order that no third chip changes, maturity by
criteria, evidence for alternatives.
"""

from __future__ import annotations

import functools
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scaleright import catalog, mlperf
from scaleright import quantity as quantities
from scaleright.chapters.hardware_radar import evidence, figures
from scaleright.chapters.hardware_radar import model as hardware
from scaleright.chapters.hardware_radar.page import draw_standing, profile, radar
from scaleright.costs.owned_hours import OwnedHour, owned_terms

LLAMA = ("llama2-70b", "Offline")
EVEN = (1.0,) * 5
weightings = st.lists(st.floats(0, 5), min_size=5, max_size=5).filter(
    lambda weights: sum(weights) > 0.01
)


@functools.cache
def scored(
    own: bool = False, stand_ins: bool = False, place: tuple[str, str] = LLAMA
) -> pd.DataFrame:
    return hardware.scores(hardware.figures(*place, own, stand_ins))


def test_a_faster_chip_gains_on_every_axis_that_counts_over_its_speed():
    known, weights, faster = (
        hardware.figures(*LLAMA),
        (2, 1, 0.5, 1, 3),
        ["cost", "speed", "energy"],
    )
    before = hardware.standings(hardware.scores(known, 4.0), weights).loc["B200", "low"]
    known.loc["B200", faster] *= 1.5
    after = hardware.standings(hardware.scores(known, 4.0), weights).loc["B200", "low"]
    assert after - before == pytest.approx(hardware.shift(1.5, weights, faster, 4.0))


def test_ten_times_better_is_the_rim_and_beyond_it_nothing_is_cut():
    assert hardware.points(3.0, span=3.0) == pytest.approx(10) and hardware.points(
        1 / 3, span=3.0
    ) == pytest.approx(0)
    assert hardware.points(100.0) == pytest.approx(15) and hardware.points(0.001) == pytest.approx(
        -10
    )
    with pytest.raises(ValueError, match="span = 1 is outside its domain"):
        hardware.points(2.0, span=1.0)


def test_the_reference_chip_stands_in_the_middle_of_every_axis_but_maturity():
    places = hardware.workloads()[["benchmark", "scenario"]]
    for place in places.itertuples(index=False, name=None):
        known = hardware.figures(*place)
        points = hardware.scores(known).loc[known.attrs["reference"], list(hardware.AXES[:-1])]
        assert points.to_numpy() == pytest.approx(5.0), place


@settings(max_examples=25)
@given(weights=weightings, out=st.sets(st.integers(0, 11), max_size=10))
def test_a_third_chip_never_changes_the_order_of_two(weights, out):
    every = scored()
    order = hardware.standings(every, weights)
    kept = every.drop(index=[every.index[i] for i in out])
    fewer = hardware.standings(kept, weights)
    pd.testing.assert_frame_equal(fewer, order.loc[order.index.isin(fewer.index)], check_like=True)
    assert list(fewer.index) == [name for name in order.index if name in fewer.index]


def test_a_chip_without_weighty_figures_has_a_range_and_cannot_win():
    cost = hardware.standings(scored(), EVEN).loc["MI355X"]
    assert (
        cost["missing"] == "cost"
        and not cost["complete"]
        and cost["high"] - cost["low"] == pytest.approx(10 / 5)
    )
    without = hardware.standings(scored(), (0, 1, 1, 1, 1)).loc["MI355X"]
    assert without["complete"] and without["low"] == without["high"]
    several = hardware.standings(scored(), EVEN)
    assert several["complete"].is_monotonic_decreasing and several.iloc[0]["complete"]


def test_a_missing_axis_is_neither_zero_nor_the_mean_of_the_others():
    points = scored().loc["MI355X"]
    row, rest = hardware.standings(scored(), EVEN).loc["MI355X"], points.drop("cost")
    assert row["low"] == pytest.approx(rest.sum() / 5)
    assert row["low"] < rest.mean() < row["high"]


@pytest.mark.parametrize(
    "weights, words",
    [
        ((0, 0, 0, 0, 0), "one of them above 0"),
        ((1, -1, 1, 1, 1), "weights from 0"),
        ((1, 1), "one is needed for each of cost, speed"),
    ],
)
def test_weights_that_say_nothing_are_refused(weights, words):
    with pytest.raises(ValueError, match=words):
        hardware.hardware_radar(*LLAMA, weights)


@pytest.mark.parametrize(
    "given, words",
    [
        ({"benchmark": "lama2-70b"}, "nearest: llama2-70b"),
        (
            {"benchmark": "whisper", "scenario": "Server"},
            "scenario of whisper with a rate .* 'Server'; allowed: Offline",
        ),
        ({"among": ["H1000"]}, "unknown accelerator 'H1000'; nearest: H100"),
        ({"among": ["TPU v7"]}, "unknown accelerator on llama2-70b Offline 'TPU v7'"),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(given, words):
    with pytest.raises(LookupError, match=words):
        hardware.hardware_radar(**{"benchmark": LLAMA[0], "scenario": LLAMA[1]} | given)


def test_a_benchmark_without_a_reference_chip_is_refused():
    with pytest.raises(
        LookupError,
        match=(
            "unknown workload with a reference chip 'deepseek-r1 Interactive'; nearest:"
            " deepseek-r1 "
        ),
    ):
        hardware.figures("deepseek-r1", "Interactive")


def test_no_winner_where_no_chip_has_all_axes():
    with pytest.raises(catalog.DataError, match="MI355X lacks cost"):
        hardware.hardware_radar(*LLAMA, among=["MI355X", "GB200"])
    assert hardware.hardware_radar(
        *LLAMA, weights=(0, 1, 1, 1, 1), among=["MI355X", "GB200"]
    ).what in ("MI355X", "GB200")


def test_the_verdict_names_its_winner_its_gaps_and_the_rule():
    verdict = hardware.hardware_radar(*LLAMA)
    best = hardware.standings(scored(), EVEN).iloc[0]
    assert (
        verdict.numbers[verdict.what][0] == best["low"] and verdict.rule == "GPU" and verdict.agrees
    )
    assert "MI355X (cost)" in verdict.text() and "with more gaps" in verdict.text()
    alone = hardware.hardware_radar(*LLAMA, among=["B200"])
    assert (
        alone.what == "B200"
        and "next comes" not in alone.text()
        and "not ruled out" not in alone.text()
    )


def test_the_rule_of_the_source_weighs_its_own_words():
    assert (
        hardware.source_rule((0, 1, 0, 9, 0)) == "GPU"
        and hardware.source_rule((0, 0, 1, 9, 0)) == "TPU"
    )
    verdict = hardware.hardware_radar("stable-diffusion-xl", "Offline", (2, 0, 1, 0, 0))
    assert (verdict.rule, verdict.agrees) == ("TPU", False)


def test_speed_is_the_best_result_of_a_chip_in_the_benchmarks_newest_unit():
    rows = mlperf.summary()
    gptj = rows[(rows["benchmark"] == "gptj") & (rows["scenario"] == "Offline")]
    assert set(gptj["unit"]) == {"samples/s", "tokens/s"}
    best = hardware.figures("gptj", "Offline")
    assert set(best["unit"]) == {"tokens/s"}
    assert (
        best.loc["H100 SXM", "rate"]
        == gptj[(gptj["unit"] == "tokens/s") & (gptj["accelerator"] == "H100 SXM")]["best"].max()
    )


def test_measured_power_counts_only_beside_the_reference_chip_in_one_round_at_one_clock():
    known = hardware.figures("resnet50", "Offline")
    row, runs = known.loc["Cloud AI 100 Ultra"], mlperf.power_efficiency()
    assert (
        row["power"].startswith("measured system power")
        and "v4.0" in row["power"]
        and np.isnan(row["watts"])
    )
    runs = runs[
        (runs["benchmark"] == "resnet50")
        & (runs["scenario"] == "Offline")
        & (runs["round"] == "v4.0")
    ]
    best = runs.groupby("accelerator")["per_watt"].max()
    assert row["energy"] == pytest.approx(best["Cloud AI 100 Ultra"] / best["H100 SXM"])
    assert (
        hardware.figures(*LLAMA).loc["B200", "power"] == hardware.LIMIT
    )  # its power was measured in a round without an H100


def test_stand_ins_are_asked_for_and_marked():
    known, more = hardware.figures(*LLAMA), hardware.figures(*LLAMA, stand_ins=True)
    assert (
        "TPU v6e" not in known.index
        and more.loc["TPU v6e", "basis"] == "datasheet"
        and "Rubin" not in more.index
    )
    pd.testing.assert_frame_equal(
        more.loc[known.index], known, check_names=False, check_dtype=False
    )
    reached = figures.reached_flops()
    assert more.loc["TPU v6e", "speed"] == pytest.approx(reached["TPU v6e"] / reached["H100 SXM"])
    assert (
        "its datasheet alone"
        in hardware.hardware_radar(*LLAMA, (0, 0, 0, 1, 0), stand_ins=True, among=["A40"]).text()
    )


def test_owning_prices_chips_that_nobody_rents_out_and_no_old_rent_counts():
    rented, owned = (hardware.chip_facts(own)["usd_per_hour"] for own in (False, True))
    assert (
        np.isnan(rented["MI355X"])
        and owned["MI355X"] > 0
        and np.isnan(rented["TPU v6e"])  # its listings are of March 2025
        and np.isnan(owned["TPU v6e"])
    )
    of, rent_of_one = figures.chip_rows()["B200"], rented["B200"]
    owned_rows = owned_terms("B200", "data center")
    half, full = (
        evidence.prices_of_use(
            of, rent_of_one, OwnedHour.of(owned_rows, False, load).usd, 1000.0, np.nan, load
        )
        for load in (0.5, 1.0)
    )
    rent, own = "rented [USD per million]", "owned [USD per million]"
    assert half[rent] == pytest.approx(2 * full[rent]) and full[own] < half[own] < 2 * full[own]
    month = "rent [USD/month]"
    assert half[month] == full[month] == pytest.approx(rented["B200"] * 730.5)
    assert full["memory, rented [USD/GB/month]"] == pytest.approx(
        full[month] / (catalog.accelerator("B200").memory_bytes / 1e9)
    )


def test_the_page_places_every_chip_as_the_frames_do():
    named, chip = hardware.workload("gptj", "Server"), quantities.given("chip", "")
    prices, usual = hardware.Prices.of([*figures.placeable()["chip"]]), figures.USUAL
    seldom = figures.Terms("reserved", "median", "home")
    cheap = figures.Terms("on demand", "cheapest quarter", "colocation")
    for own, stand_ins, terms in product((False, True), (False, True), (usual, seldom, cheap)):
        case = {"paid": "own" if own else "rent", "stand_ins": stand_ins} | terms._asdict()
        on = hardware.placed(chip, named, prices, SimpleNamespace(**case))
        better = figures.times_better(on.of, on.than, on.power.efficiency)
        known = hardware.figures("gptj", "Server", own, stand_ins, terms)
        chips = figures.placeable()["chip"].to_numpy()
        for axis, there in zip(
            (*better, "maturity"),
            quantities.evaluate([*better.values(), on.of["maturity"]], {"chip": chips}),
            strict=True,
        ):
            here = known[axis].reindex(chips).to_numpy(float)
            np.testing.assert_allclose(there, here, rtol=1e-6, err_msg=axis)


def test_maturity_counts_ten_criteria():
    rows = figures.maturity_criteria()
    assert (
        set(rows.groupby("accelerator").size()) == {10} and rows["points"].isin([0, 0.5, 1]).all()
    )
    h100 = rows[rows["accelerator"] == "H100 SXM"].set_index("criterion")
    submitters = (
        mlperf.comparable(figures.RECENT_ROUNDS)
        .query("accelerator == 'H100 SXM'")["submitter"]
        .nunique()
    )
    assert (
        h100.loc["MLPerf submitters", "value"] == str(submitters)
        and h100["points"].sum() == figures.maturity()["H100 SXM"]
    )
    assert "Cloud AI 100 Pro" not in set(
        rows["accelerator"]
    )  # no criteria for its platform: missing, not zero


def test_a_program_that_left_an_old_chip_behind_gives_it_no_point():
    rows = figures.maturity_criteria().set_index(["accelerator", "criterion"])["value"]
    assert (rows["T4", "FlashAttention"], rows["A10", "FlashAttention"]) == ("no", "yes")
    assert (rows["TPU v5e", "SGLang"], rows["TPU v6e", "SGLang"]) == ("no", "apart")


def test_evidence_said_to_be_a_benchmark_has_results_and_none_has_nothing():
    rows = evidence.alternatives()
    assert ((rows["evidence"] == "benchmark") == (rows["inference"] > 0)).all()
    assert (rows.loc[rows["evidence"] == "prices", "prices"] > 0).all()
    nothing = rows[rows["evidence"] == "none"]
    assert (nothing[["inference", "training", "serving"]] == 0).all().all() and nothing[
        "value"
    ].isna().all()
    assert {"TPU", "FPGA", "photonic", "DePIN", "consumer card"} <= set(rows["technology"])


def test_stand_ins_are_judged_against_every_measurement():
    test = evidence.datasheet_test()
    speed, energy = (test[test["what"] == what] for what in ("speed", "energy"))
    assert len(speed) > 200 and len(energy) >= 10
    assert energy["off"].median() < speed["off"].median()


ROWS = [
    {"chip": "A", "cost": 4.0, "speed": 6.0, "memory": None, "vendor": "AMD"},
    {"chip": "B", "cost": 14.0, "speed": -2.0, "memory": 5.0, "vendor": "NVIDIA"},
]


def test_charts_leave_a_missing_axis_open_and_draw_far_points_at_the_edge():
    axes = {name: name for name in ("cost", "speed", "memory")}
    for chart in (
        radar(ROWS, "chip", axes, ["A", "B"]),
        profile(ROWS, "chip", axes, ["A", "B"], "points"),
    ):
        text = str(chart.to_dict())
        assert "isFinite(datum._value)" in text
    assert "max(0, min(10.0, datum._value))" in str(radar(ROWS, "chip", axes, ["A"]).to_dict())
    text = str(
        draw_standing(
            [{"chip": "A", "low": 1.0, "high": 9.0, "vendor": "AMD"}],
            "chip",
            "low",
            "high",
            "points",
            5.0,
            color="vendor",
        ).to_dict()
    )
    assert "datum._to - datum._from < 5.0" in text
