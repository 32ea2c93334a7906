"""The import of MLPerf Training, on rows of a synthetic file: what is kept, marked, refused."""

import csv

import pytest
from scaleright import catalog, transformer

from refresh import RefreshError, mlperf_training
from refresh.rules import header
from refresh.tables import Doubtful, Dropped, read_table, settle

_ROW = {
    "version": "v5.0",
    "submitter": "S",
    "division": "closed",
    "status": "cloud",
    "system": "s",
    "system_name": "s",
    "benchmark": "gpt3",
    "accelerator": "NVIDIA H100-SXM5-80GB",
    "nodes": "64",
    "accelerators_per_node": "8",
    "total_accelerators": "512",
    "n_runs": "3",
    "n_success": "3",
    "time_to_train_min": "50",
    "unscaled_mean_min": "50",
    "rcp_scaling_factor": "1",
    "min_run_min": "49",
    "max_run_min": "51",
    "global_batch_size": "2048",
    "max_sequence_length": "2048",
    "framework": "f",
}

_TABLES = {
    name: read_table(catalog.data_dir() / f"{name}.csv")
    for name in ("mlperf_training_benchmarks", "models", "accelerator_specs")
}


def imported(tmp_path, *changes, columns=None):
    file = tmp_path / mlperf_training.FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(
            out, columns or header(mlperf_training.FILE), restval="", extrasaction="ignore"
        )
        writer.writeheader()
        writer.writerows(_ROW | change for change in changes)
    return list(mlperf_training.rows(tmp_path, _TABLES))


def throughput(value, **more):
    return {"median_logged_throughput_samples_per_s": str(value)} | more


@pytest.mark.parametrize("value, unit", [(200.0, "sample/s"), (404455.0, "token/s")])
def test_a_throughput_is_of_tokens_where_so_many_samples_are_beyond_the_chips(
    tmp_path, value, unit
):
    (row,) = imported(tmp_path, throughput(value))
    assert row["logged_throughput_unit"] == unit and ("corrected_unit" in row["flags"]) == (
        unit == "token/s"
    )


def test_adapters_take_two_thirds_of_the_arithmetic_before_a_unit_is_doubted(tmp_path):
    peak = 512 * 1979e12
    fits = peak / (8192 * 4 * transformer.active_parameters(catalog.model("Llama-2-70B")).total)
    lora = {"benchmark": "llama2_70b_lora", "max_sequence_length": ""}
    below, above = imported(
        tmp_path, throughput(0.99 * fits, **lora), throughput(1.01 * fits, **lora, system="t")
    )
    assert (below["logged_throughput_unit"], above["logged_throughput_unit"]) == (
        "sample/s",
        "token/s",
    )
    assert below["sequence"] == 8192 and "supplied_sequence" in below["flags"]


@pytest.mark.parametrize(
    "change, reason",
    [
        ({"nodes": "63"}, "63 nodes of 8 accelerators are 504, not 512"),
        (
            {"accelerator": "NVIDIA Blackwell GPU (GB200)", "system": "8xB200"},
            "the system is named after B200, the accelerator is GB200",
        ),
        (
            {"accelerator": "TPU-v5p", "system": "cloud-tpu-v5p-512-maxtext"},
            "the name counts 512 cores, which 512 chips do not have",
        ),
        ({"time_to_train_min": "60"}, "3600 s is not 3000 s times 1"),
        ({"min_run_min": "55"}, "lies outside its runs"),
        ({"max_run_min": "45"}, "lies outside its runs"),
        ({"max_sequence_length": "4096"}, "the benchmark defines 2048"),
        (throughput(1e12), "beyond the chips in samples and in tokens"),
    ],
)
def test_a_row_that_contradicts_itself_is_refused_or_kept_and_marked(tmp_path, change, reason):
    (item,) = imported(tmp_path, change)
    assert (
        isinstance(item, Doubtful) and reason in item.reason and "implausible" in item.row["flags"]
    )
    with pytest.raises(RefreshError, match=r"rows in doubt: 1 .--allow-flagged keeps them"):
        settle([item])
    assert settle([item], allow_flagged=True)[0][0]["note"].endswith(item.reason)


@pytest.mark.parametrize(
    "change, reason",
    [
        ({"total_accelerators": "0"}, "total_accelerators is '0'; allowed: a whole number from 1"),
        ({"nodes": ""}, "nodes is ''"),
        ({"benchmark": "gpt4"}, "unknown benchmark 'gpt4'; nearest: gpt3"),
        ({"accelerator": "H900"}, "unknown accelerator 'H900'"),
        ({"version": "v9.9"}, "unknown round 'v9.9'"),
        ({"time_to_train_min": "fast"}, "'fast' is not a number"),
    ],
)
def test_what_is_unknown_is_refused_by_name(tmp_path, change, reason):
    with pytest.raises(RefreshError, match=reason.replace("(", r"\(")):
        imported(tmp_path, change)


def test_an_unknown_column_is_refused(tmp_path):
    with pytest.raises(RefreshError, match="unknown column 'power_watts'"):
        imported(tmp_path, {}, columns=[*header(mlperf_training.FILE), "power_watts"])


def test_the_open_division_is_left_out_with_a_reason(tmp_path):
    reason = "not of the closed division: model and training are free there"
    assert imported(tmp_path, {"division": "open"}) == [Dropped("v5.0/S/s/gpt3", reason)]


def test_the_same_runs_in_a_later_round_are_flagged_and_slower_ones_are_not(tmp_path):
    slow = {
        "version": "v5.1",
        "system": "t",
        "unscaled_mean_min": "50.5",
        "time_to_train_min": "50.5",
    }
    first, again, slower = imported(tmp_path, {}, {"version": "v5.1"}, slow)
    assert (first["flags"], again["flags"], slower["flags"]) == ("", "repeated", "")
