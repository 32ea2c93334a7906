"""Chips are compared on MLPerf only where the question is the same, by figures that can be checked
by hand.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scaleright import catalog, market, mlperf
from scaleright.mlperf.comparison import (
    CELL,
    entry,
    gain_interval,
    gain_ratio,
    power_runs,
    prices,
    summarize,
)
from scaleright.press.texts import declared

PAIR = ("B200", "H200 SXM", "llama2-70b", "Offline")
ROWS = mlperf.comparable()
FEW = ROWS[
    ROWS["accelerator"].isin(["B200", "H200 SXM", "H100 SXM"]) & (ROWS["benchmark"] == "llama2-70b")
]
factors = st.floats(0.01, 100.0)


def scaled(rows: pd.DataFrame, chip: str, factor: float) -> pd.DataFrame:
    """All results of one chip times a factor."""
    times = np.where(rows["accelerator"] == chip, factor, 1.0)
    return rows.assign(value=rows["value"] * times, per_accelerator=rows["per_accelerator"] * times)


# (row id, value, accelerators, value per accelerator): to be checked on the rounds' own pages
BY_HAND = [
    ("5.1-0071/deepseek-r1/Offline", 289712.0, 72, 4023.7778),
    ("5.1-0069/deepseek-r1/Offline", 33379.0, 8, 4172.375),
    ("5.1-0071/llama3.1-405b/Server", 11614.3, 72, 161.30972),
    ("5.1-0015/llama3.1-405b/Offline", 783.131, 16, 48.945688),
    ("5.1-0075/llama3.1-405b/Offline", 552.749, 8, 69.093625),
]


@pytest.mark.parametrize("name, value, accelerators, each", BY_HAND)
def test_a_figure_per_accelerator_is_the_result_over_all_accelerators(
    name, value, accelerators, each
):
    row = mlperf.submission(name)
    assert (row["value"], row["accelerators"]) == (value, accelerators)
    assert row["per_accelerator"] == pytest.approx(each, rel=1e-7)


def test_a_rack_of_72_and_a_server_of_8_are_alike_per_chip_where_s4_finds_nine_and_eighteen_times():
    found = mlperf.gain("GB200", "B200", "deepseek-r1", "Offline", in_round="v5.1")
    assert (
        found["value"]
        == pytest.approx((289712 / 72) / (33379 / 8))
        == pytest.approx(0.9644, abs=1e-4)
    )
    row = mlperf.matched("GB200", "B200", "deepseek-r1", "Offline").set_index("round").loc["v5.1"]
    assert row["mean_of_ratios_new"] / row["mean_of_ratios_old"] == pytest.approx(1.0223, abs=1e-4)
    assert (
        pytest.approx(9.2, abs=0.01) == 289712 / 31486.55
        and pytest.approx(18.4, abs=0.01) == 289712 / 4 / 3935.82
    )


def test_an_h200_is_faster_than_an_h100_on_405b_once_the_h100s_are_counted():
    row = (
        mlperf.matched("H200 SXM", "H100 SXM", "llama3.1-405b", "Offline")
        .set_index("round")
        .loc["v5.1"]
    )
    assert (
        row["best"]
        == pytest.approx((552.749 / 8) / (783.131 / 16))
        == pytest.approx(1.4116, abs=1e-4)
    )


def test_what_is_compared_is_one_question():
    every = mlperf.generation_gains(every_round=True)
    summary = mlperf.summary().set_index(["accelerator", *CELL])["best"]
    for side in ("new", "old"):  # both sides stand in the very cell, unit and target among them
        at = pd.MultiIndex.from_frame(every[[f"accelerator_{side}", *CELL]])
        assert summary.loc[at].to_numpy() == pytest.approx(every[f"best_{side}"].to_numpy())
    assert set(every["scenario"]) == set(mlperf.RATES) and not set(every["unit"]) & {"s", "ms"}
    units = (
        ROWS[ROWS["scenario"].isin(mlperf.RATES)]
        .groupby(["benchmark", "scenario", "round"])["unit"]
        .nunique()
    )
    assert units.max() == 1, "a benchmark whose unit changes within a round could be mixed"


def test_a_benchmark_whose_unit_changed_is_not_compared_across_the_change():
    gptj = mlperf.software_gains().query("benchmark == 'gptj'")
    assert len(gptj) and not ((gptj["since"] < "v4.1") & (gptj["round"] >= "v4.1")).any()


def test_a_result_at_the_stricter_target_counts_for_the_looser_one():
    both = (
        mlperf.summary()
        .assign(entry=entry)
        .set_index(["entry", "scenario", "round", "accelerator"])["best"]
    )
    strict, loose = (
        both[both.index.get_level_values(0) == f"bert-{target}"].droplevel(0)
        for target in ("99.9", "99")
    )
    assert (loose.reindex(strict.index) >= strict).all()
    for name, target in {"bert": "99.9", "bert-99": "99"}.items():
        found = mlperf.gain("H100 SXM", "A100 SXM 80GB", name, "Offline")
        assert (found["round"], found["accuracy_target"]) == ("v3.1", target)


@pytest.fixture(scope="module")
def as_it_is() -> pd.Series:
    return mlperf.gain(*PAIR, rows=FEW)


def test_scaling_a_chip_scales_its_gain_and_nothing_else(as_it_is):
    other = ("H200 SXM", "H100 SXM", *PAIR[2:])
    beside = mlperf.gain(*other, rows=FEW)

    @settings(max_examples=5)
    @given(factor=factors)
    def scales(factor):
        rows = scaled(FEW, "B200", factor)
        faster = mlperf.gain(*PAIR, rows=rows)
        for end in ("value", "low", "high"):
            assert faster[end] == pytest.approx(factor * as_it_is[end])
        assert mlperf.gain(*other, rows=rows).equals(beside)

    scales()


@settings(max_examples=5)
@given(factor=factors, size=st.integers(1, 64))
def test_another_unit_or_another_size_changes_no_gain(as_it_is, factor, size):
    other = FEW.assign(
        value=FEW["value"] * factor * size,
        per_accelerator=FEW["per_accelerator"] * factor,
        accelerators=FEW["accelerators"] * size,
    )
    assert mlperf.gain(*PAIR, rows=other)["value"] == pytest.approx(as_it_is["value"])


@pytest.mark.parametrize("statistic", mlperf.STATISTICS)
def test_a_gain_turned_round_is_its_inverse(statistic):
    there, back = (
        mlperf.gain(*pair, *PAIR[2:], statistic=statistic) for pair in (PAIR[:2], PAIR[1::-1])
    )
    assert [back["value"], back["low"], back["high"]] == pytest.approx(
        [1 / there["value"], 1 / there["high"], 1 / there["low"]]
    )


@settings(max_examples=15)
@given(
    rates=st.lists(factors, min_size=1, max_size=6),
    sizes=st.lists(st.integers(1, 512), min_size=6, max_size=6),
)
def test_the_two_averages_lie_between_the_ends_and_agree_where_sizes_or_rates_do(rates, sizes):
    cases = {
        "any": (sizes, rates),
        "one size": ([8] * 6, rates),
        "one rate": (sizes, [rates[0]] * len(rates)),
    }
    frame = pd.DataFrame(
        [
            {"accelerator": name, "per_accelerator": rate, "accelerators": size}
            for name, (sizes, rates) in cases.items()
            for size, rate in zip(sizes, rates, strict=False)
        ]
    )
    texts = dict.fromkeys([*CELL, "submitter", "precision", "availability", "architecture"], "x")
    frame = frame.assign(
        value=frame["per_accelerator"] * frame["accelerators"],
        id=[str(n) for n in frame.index],
        **texts,
    )
    rows = summarize(frame).set_index("accelerator")
    for name in ("mean_of_ratios", "ratio_of_sums", "median"):
        row = rows.loc["any"]
        assert row["lowest"] * (1 - 1e-9) <= row[name] <= row["best"] * (1 + 1e-9)
    even, alike = rows.loc["one size"], rows.loc["one rate"]
    assert even["ratio_of_sums"] == pytest.approx(even["mean_of_ratios"])
    assert (
        alike["ratio_of_sums"] == pytest.approx(alike["mean_of_ratios"]) == pytest.approx(rates[0])
    )


def test_one_large_system_decides_the_ratio_of_sums():
    rows = mlperf.summary().query("accelerator == 'MI355X' and benchmark == 'gpt-oss-120b'")
    row = rows.query("scenario == 'Server' and round == 'v6.1'").iloc[0]
    assert (
        row["most_chips"] == 512
        and row["ratio_of_sums"] < 0.9 * row["mean_of_ratios"] < row["best"]
    )


@given(
    new=factors,
    old=factors,
    prices_=st.tuples(factors, factors),
    spread=st.floats(0.1, 1.0),
    moves=st.floats(1.0, 2.0),
)
def test_a_range_holds_its_gain_and_grows_with_what_it_is_made_of(new, old, prices_, spread, moves):
    value = gain_ratio(new, old, *prices_)
    low, high = gain_interval((new * spread, new, new), (old, old, old), moves, *prices_)
    wider = gain_interval((new * spread / 2, new, new), (old, old, old), moves, *prices_)
    assert low <= value * (1 + 1e-9) and value <= high * (1 + 1e-9) and wider[0] < low
    assert low <= value / moves * (1 + 1e-9) and high == pytest.approx(value * moves)


def test_ranges_hold_the_next_round_as_often_as_they_say():
    found = mlperf.range_test()
    assert len(found) > 500 and 0.88 <= found["inside"].mean() <= 0.98
    assert found.groupby("generative")["inside"].mean().between(0.88, 0.98).all()


def test_per_watt_and_per_dollar_follow_from_limits_and_rents():
    chip, watt, dollar = (mlperf.gain(*PAIR, metric) for metric in ("chip", "watt", "dollar"))
    limits = [catalog.accelerator(name).require("tdp_watts") for name in PAIR[:2]]
    rents = [market.hour(name).usd for name in PAIR[:2]]
    assert watt["value"] == pytest.approx(chip["value"] * limits[1] / limits[0])
    assert dollar["value"] == pytest.approx(chip["value"] * rents[1] / rents[0])
    assert mlperf.gain(*PAIR, "dollar", price=(4.0, 2.0))["value"] == pytest.approx(
        chip["value"] / 2
    )


def test_measured_power_goes_with_its_own_run_and_kind():
    runs = power_runs()
    assert (runs["per_accelerator"] == runs["value"] / runs["system_watts"]).all()
    found = mlperf.generation_gains("measured watt", every_round=True)
    assert len(found) and set(found["kind"]) <= {"lowered clocks", "full clocks"}
    one = mlperf.gain("H100 PCIe", "A100 PCIe 80GB", "bert-99.9", "Offline", "measured watt")
    ids = [one["best_id_new"], one["best_id_old"]]
    both = [mlperf.submission(name) for name in ids]
    assert one["value"] == pytest.approx(
        both[0]["value"] / both[0]["system_watts"] / (both[1]["value"] / both[1]["system_watts"])
    )
    assert all("power_run" in row["flags"] for row in both) and not set(ids) & set(ROWS["id"])


def test_server_is_compared_with_offline_of_the_same_system():
    row = (
        mlperf.server_to_offline()
        .set_index(["round", "accelerator", "benchmark"])
        .loc[("v5.1", "GB200", "deepseek-r1")]
    )
    assert row["systems"] == 1 and row["median"] == pytest.approx(167578 / 289712)


def test_sizes_are_those_of_one_chip_in_one_round():
    found = mlperf.size_scaling().query(
        "accelerator == 'H100 SXM' and benchmark == 'llama3.1-405b' and scenario == 'Offline'"
    )
    assert found["accelerators"].tolist() == [16, 32]
    assert found["kept"].tolist() == pytest.approx([1.0, (1561.57 / 32) / (783.131 / 16)])


REFUSED = [
    ({"new": "B20"}, "unknown accelerator 'B20'; nearest: B200"),
    ({"new": "A100 SXM 80GB"}, "unknown accelerator in llama2-70b Offline"),
    ({"benchmark": "llama2"}, "unknown MLPerf benchmark 'llama2'; nearest: llama2-70b"),
    ({"scenario": "SingleStream"}, "unknown scenario with a rate per accelerator"),
    (
        {"benchmark": "whisper", "scenario": "Server"},
        "unknown scenario of whisper 'Server'; allowed: Offline",
    ),
    ({"metric": "chips"}, "unknown metric 'chips'; nearest: chip"),
    ({"statistic": "mean"}, "unknown statistic 'mean'"),
    ({"in_round": "v6.1"}, "unknown round in which B200 and H200 SXM meet 'v6.1'"),
    (
        {"new": "GB200", "metric": "dollar"},
        "unknown accelerator with a figure per dollar of rent 'GB200'",
    ),
    ({"metric": "measured watt"}, "power of B200 and H200 SXM was not measured in one round"),
    (
        {"new": "MI355X", "old": "H100 SXM", "benchmark": "llama2-70b"},
        "MI355X and H100 SXM do not meet in one round of llama2-70b Offline",
    ),
]


@pytest.mark.parametrize("change, words", REFUSED, ids=lambda value: str(value)[:40])
def test_what_cannot_be_compared_is_refused_with_what_can(change, words):
    with pytest.raises(LookupError, match="^" + words.replace("?", r"\?")):
        mlperf.gain(
            **dict(zip(("new", "old", "benchmark", "scenario"), PAIR, strict=True)) | change
        )


def test_a_rent_of_nothing_is_refused():
    with pytest.raises(
        ValueError, match="per dollar of rent needs one above 0 for H200 SXM, given 0"
    ):
        mlperf.gain(*PAIR, "dollar", price=(4.0, 0.0))


def test_one_precision_leaves_only_submissions_that_state_it():
    alike = mlperf.matched(
        "H200 SXM", "H100 SXM", "llama2-70b-99.9", "Offline", same_precision=True
    )
    assert (
        len(alike)
        and (alike["precision_new"] == alike["precision_old"]).all()
        and "not stated" not in set(alike["precision_new"])
    )
    with pytest.raises(LookupError, match="at one stated precision"):
        mlperf.matched(*PAIR, same_precision=True)


def test_prices_leave_out_what_is_not_known():
    assert "GB200" not in prices("dollar") and all(
        value > 0 for metric in mlperf.METRICS for value in prices(metric).values()
    )


def test_the_chapter_offers_every_benchmark_on_which_two_chips_meet():
    benchmark = next(p for p in declared("mlperf") if p.name == "benchmark")
    offered = set(benchmark.choices)
    rows = mlperf.summary().assign(entry=entry)
    best = rows.set_index(["benchmark", "accuracy_target", "scenario", "round", "accelerator"])[
        "best"
    ]
    for (name, benchmark, target), cells in rows.groupby(["entry", "benchmark", "accuracy_target"]):
        if (
            name in offered
            or cells.groupby(["scenario", "round"])["accelerator"].nunique().max() < 2
        ):
            continue
        assert target == "99", f"{name} is not offered"
        strict = best.xs((benchmark, "99.9"), level=(0, 1))
        same = best.xs((benchmark, "99"), level=(0, 1)).reindex(strict.index) / strict
        assert (same < 1.02).mean() > 0.9, (
            f"{name} differs from {benchmark}-99.9, and is not offered"
        )
