"""MLPerf Training: published times, and what follows from a row, by hand."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright import catalog, mlperf, transformer
from scaleright.market import listed_hour
from scaleright.mlperf import training

DATA = Path(__file__).resolve().parents[1] / "data"
RUNS = training.training_results()


def result(round, benchmark, accelerators, **where):
    rows = RUNS[
        (RUNS["round"] == round)
        & (RUNS["benchmark"] == benchmark)
        & (RUNS["accelerators"] == accelerators)
    ]
    for column, value in where.items():
        rows = rows[rows[column] == value]
    return rows.sort_values("time_to_train_s").iloc[0]


@pytest.mark.parametrize(
    "round, benchmark, chips, chip, minutes, digits",
    [
        ("v4.0", "gpt3", 11616, "H100 SXM", 3.44, 2),
        ("v5.0", "llama31_405b", 2496, "GB200", 27.33, 2),
        ("v5.1", "llama31_405b", 5120, "GB200", 9.99, 2),
        ("v5.1", "llama31_405b", 2560, "GB200", 18.79, 2),
        ("v5.0", "llama31_405b", 8192, "H100 SXM", 20.8, 1),
        ("v5.1", "llama31_8b", 512, "GB300", 5.2, 1),
        ("v5.1", "llama2_70b_lora", 512, "GB300", 0.40, 2),
        ("v5.1", "flux1", 1152, "GB200", 12.5, 1),
        ("v5.0", "dlrm_dcnv2", 64, "GB200", 0.71, 2),
        ("v5.1", "rgat", 256, "GB200", 0.84, 2),
        ("v5.1", "retinanet", 512, "GB200", 1.4, 1),
    ],
)
def test_times_are_those_published(round, benchmark, chips, chip, minutes, digits):
    row = result(round, benchmark, chips)
    assert (
        row["accelerator"] == chip
        and f"{row['time_to_train_s'] / 60:.{digits}f}" == f"{minutes:.{digits}f}"
    )


def test_a_record_is_the_fastest_and_its_round_can_be_named():
    assert mlperf.record("llama31_405b").equals(mlperf.record("Llama-3.1-405B"))
    assert mlperf.record("Llama-3.1-405B", "v5.0")["accelerators"] == 8192
    hours = RUNS.loc[RUNS["title"] == "Llama-3.1-405B", "chip_hours"]
    assert mlperf.record("Llama-3.1-405B", least="chip_hours")["chip_hours"] == hours.min()


def test_a_rent_of_another_chip_decides_nothing():
    runs = training.best_runs()
    chips = {of for _, _, of in runs} - {*training.LEAST}
    assert chips and all(runs[key]["priced_as"] == key[2] for key in runs if key[2] in chips)
    others = RUNS.loc[RUNS["priced_as"] != RUNS["accelerator"], "accelerator"]
    assert "GB200" in set(others) and not chips & set(others)


def test_a_benchmark_or_a_round_that_is_not_there_is_refused_with_what_is():
    with pytest.raises(
        LookupError,
        match="unknown benchmark of MLPerf Training 'lama31_405b'; nearest: llama31_405b",
    ):
        mlperf.record("lama31_405b")
    with pytest.raises(LookupError, match=r"nobody ran gpt3 in round 'v5.1'; allowed: v4.0, v4.1"):
        mlperf.record("gpt3", "v5.1")
    with pytest.raises(LookupError, match="unknown kind of gain 'chips'; nearest: chip"):
        training.training_gains("chips")


def test_every_row_came_in_and_carries_the_flags_of_its_quirks():
    flags = RUNS["flags"].str.split(";").explode().value_counts()
    assert len(RUNS) == 697 and RUNS["round"].value_counts().to_dict() == {
        "v5.0": 201,
        "v5.1": 184,
        "v4.0": 165,
        "v4.1": 147,
    }
    assert (
        flags["corrected_unit"] == 5
        and flags["supplied_sequence"] == 162
        and flags["core_count"] == 11
    )
    assert flags["fewer_runs"] == (RUNS["runs"] < RUNS["official_runs"]).sum() == 9
    assert (
        "implausible" not in flags
        and (RUNS["nodes"] * RUNS["accelerators_per_node"] == RUNS["accelerators"]).all()
    )


def test_the_five_throughputs_in_tokens_are_of_gpt3():
    tokens = RUNS[RUNS["logged_throughput_unit"] == "token/s"]
    assert (
        set(tokens["benchmark"]) == {"gpt3"}
        and tokens["flags"].str.contains("corrected_unit").all()
    )


def test_a_tpu_is_a_chip():
    row = RUNS[RUNS["system"] == "cloud-tpu-v5p-12288-maxtext"].iloc[0]
    assert row["accelerators"] == 6144 and "core_count" in row["flags"]


def test_runs_handed_in_again_name_the_first():
    again = RUNS[RUNS["flags"].str.contains("repeated")]
    assert len(again) == 38 and again["note"].str.startswith("the runs of v").all()
    assert result("v4.1", "gpt3", 11616)["note"] == "the runs of v4.0 eos-dfw_n1452_ngc24.04_nemo"


def test_logged_and_implied_throughput_agree_within_what_evaluation_takes():
    rows = RUNS.dropna(subset=["logged_throughput", "samples_to_converge"])
    ratio = rows["logged_throughput"] * rows["unscaled_time_s"] / rows["samples_to_converge"]
    assert len(rows) == 195 and ratio.between(0.94, 1.6).all()


@given(time=st.floats(1.0, 1e6), chips=st.integers(1, 10**5), price=st.floats(0.1, 20.0))
def test_twice_the_chips_in_half_the_time_cost_the_same(time, chips, price):
    assert mlperf.run_cost_usd(time / 2, 2 * chips, price) == pytest.approx(
        mlperf.run_cost_usd(time, chips, price)
    )


def test_cost_and_energy_of_the_record_by_hand():
    row = mlperf.record("llama31_405b")
    assert row["chip_hours"] == pytest.approx(5120 * 9.9946 / 60) and row[
        "chips_kwh"
    ] == pytest.approx(5120 * 9.9946 / 60 * 1.2)
    (rented,) = mlperf.rented(row.to_frame().T).itertuples()
    assert row["priced_as"] == "B200" and rented.cost_usd == pytest.approx(
        row["chip_hours"] * listed_hour("B200").usd
    )


def test_a_chip_alike_lends_its_rent_and_no_other_does():
    priced = dict(zip(RUNS["accelerator"], RUNS["priced_as"], strict=True))
    assert priced["H100 SXM"] == "H100 SXM" and priced["MI355X"] == "MI350X"
    without = RUNS[RUNS["priced_as"].isna()]
    assert mlperf.rented(without).empty and "Gaudi 2" in set(without["accelerator"])
    with_rent = mlperf.rented(RUNS, "one year")
    assert set(with_rent["priced_as"]) == {
        name for name in set(RUNS["priced_as"].dropna()) if listed_hour(name, "one year")
    }
    assert RUNS.loc[RUNS["watts"].isna(), "chips_kwh"].isna().all()


def test_strong_scaling_is_throughput_over_samples():
    pairs = training.strong_scaling().dropna(subset="samples_penalty")
    assert (pairs["efficiency"] * pairs["samples_penalty"]).to_numpy() == pytest.approx(
        pairs["throughput_efficiency"].to_numpy()
    )
    row = pairs.query(
        "title == 'Llama-3.1-405B' and accelerator == 'H100 SXM' and round == 'v5.0' and"
        " chips_large == 8192"
    ).iloc[0]
    assert row["efficiency"] == pytest.approx(512 * 269.1216 / (8192 * 20.8069))
    assert row["samples_penalty"] == pytest.approx(
        322560 * 1.059524 / (276480 * 1.166667), rel=1e-5
    )


def test_scaling_from_512_to_5120_is_what_nvidia_states():
    row = (
        training.strong_scaling()
        .query("title == 'Llama-3.1-405B' and accelerator == 'GB200' and round == 'v5.1'")
        .iloc[-1]
    )
    assert round(row["efficiency"], 2) == catalog.fact(
        "mlperf_v5.1_llama31_405b_scaling_512_to_5120"
    )


def test_gains_compare_as_many_chips_and_never_the_same_runs():
    chips, software = training.training_gains("chip"), training.training_gains("software")
    released = {
        name: catalog.accelerator(name).released for name in {*chips["before"], *chips["after"]}
    }
    assert (
        all(released[row.before] < released[row.after] for row in chips.itertuples())
        and (software["before"] < software["after"]).all()
    )
    hand = software.query(
        "title == 'Llama-3.1-405B' and accelerator == 'GB200' and accelerators == 512"
    ).iloc[0]
    assert hand["gain"] == pytest.approx(121.0926 / 84.9401)


def test_mfu_of_a_dense_pretraining_by_hand():
    mfu = training.implied_mfu(result("v5.0", "llama31_405b", 512, accelerator="H100 SXM"))
    layer = (
        2 * 16384 * (16384 + 1024) + 3 * 16384 * 53248
    )  # query and output, key and value; the gated feed-forward
    flop = 3 * (2 * (126 * layer + 32000 * 16384) + 4 * 126 * 16384 * (8192 + 1) / 2)
    assert mfu.from_samples_flops == pytest.approx(
        flop * 276480 * 8192 / (230.6923 * 60 * 512), rel=1e-4
    )
    assert (
        mfu.mfu == pytest.approx(mfu.from_log_flops / 1979e12)
        and mfu.bf16_ratio == pytest.approx(mfu.from_log_flops / 989e12)
        and not mfu.reason
    )


def test_adapters_count_four_flop_a_weight():
    row = result("v5.0", "llama2_70b_lora", 8)
    forward = transformer.forward_flop(catalog.model("Llama-2-70B"), 8192)
    full = row.copy()
    full["start"] = "scratch"
    saved = (forward.total - forward.scores_and_values_flop) / (3 * forward.total)
    assert 0.28 < saved < 1 / 3
    assert training.implied_mfu(row).from_samples_flops == pytest.approx(
        (1 - saved) * training.implied_mfu(full).from_samples_flops
    )


@pytest.mark.parametrize(
    "where, reason",
    [
        (("v5.1", "retinanet", 512), "no Transformer of known shape"),
        (("v4.0", "bert", 3472), "tokens of a sample are not determined"),
        (("v4.0", "gpt3", 11616), "neither samples to converge nor a throughput is logged"),
        (("v5.1", "llama31_405b", 448), "nobody states the number format"),
    ],
)
def test_a_row_that_does_not_determine_its_mfu_says_why(where, reason):
    mfu = training.implied_mfu(result(*where))
    assert mfu.mfu is None and mfu.reason == reason


def test_no_row_keeps_its_chips_busier_than_their_peak():
    found = [
        mfu
        for mfu in (training.implied_mfu(row) for _, row in RUNS.iterrows())
        if mfu.mfu is not None
    ]
    assert len(found) == 171 and all(0 < mfu.mfu < 0.6 for mfu in found)


def test_the_logs_reach_the_throughput_that_nvidia_states_for_attention_to_all_positions():
    row = result("v5.0", "llama31_405b", 512, submitter="IBM+CoreWeave+NVIDIA")
    shape = catalog.model("Llama-3.1-405B")
    causal, every = (
        transformer.forward_flop(shape, 8192, causal=causal).total for causal in (True, False)
    )
    assert training.implied_mfu(row).from_log_flops * every / causal == pytest.approx(
        catalog.fact("mlperf_v5.0_llama31_405b_flops"), rel=0.02
    )


def test_the_schema_knows_every_flag():
    package = json.loads((DATA / "datapackage.json").read_text())
    fields = next(
        entry for entry in package["resources"] if entry["path"] == "mlperf_training.csv"
    )["schema"]["fields"]
    pattern = next(field for field in fields if field["name"] == "flags")["constraints"]["pattern"]
    assert all(flag in pattern for cell in RUNS["flags"] for flag in cell.split(";"))
