"""The committed results of MLPerf Inference: what the library makes of them, and the rules."""

import itertools
import os
from pathlib import Path

import pytest
from scaleright import mlperf
from scaleright.catalog import table
from scaleright.mlperf import FLAGS, ROUNDS, cleaning_report, comparable, results, submission

from refresh import mlperf_inference
from refresh.rules import facts, header, kept
from refresh.tables import read_table, settle, sift

DATA = Path(__file__).resolve().parents[1] / "data"
RAW = os.environ.get("SCALERIGHT_RAW")
BENCHMARKS = read_table(DATA / "mlperf_benchmarks.csv")


def test_rules_name_raw_columns_known_flags_and_reasons():
    for line in facts("mlperf_rules.csv"):
        assert line["effect"] in {"unit", "accelerators", "flag", "plausible"}
        assert line["effect"] == "flag" or line["reason"]
        patterns = (
            dict(part.split("=", 1) for part in line["where"].split("; ")) if line["where"] else {}
        )
        assert bool(patterns) != (line["effect"] == "plausible") and set(patterns) <= set(
            header(mlperf_inference.FILES[0])
        )
        assert line["effect"] != "flag" or line["value"] in FLAGS
    assert set(kept(mlperf_inference.FILES[0], "unit").values()) == {
        row["unit"] for row in BENCHMARKS
    }


if RAW:

    def test_the_raw_files_go_in_whole_and_their_own_unit_corrections_agree_but_for_queries():
        items, doubted = settle(mlperf_inference.rows(Path(RAW), BENCHMARKS))
        found, dropped = sift(items)
        assert not doubted and (len(found), len(dropped)) == (4715, 210)
        assert all("repeats a row" in drop.reason for drop in dropped)
        apart = [row for row in found if "corrected_unit" in row["flags"]]
        assert len(apart) == 22
        assert {(row["round"], row["benchmark"], row["scenario"]) for row in apart} == {
            ("v4.0", "llama2-70b", "Server")
        }


def test_cleaning_accounts_for_every_row():
    report = cleaning_report().set_index("reason")["rows"]
    assert report["rows in the table"] == len(results()) == 4715
    assert (
        report["rows compared per chip"]
        == len(comparable())
        == report.iloc[0] - report.iloc[1:-1].sum()
    )
    assert set(results()["round"]) == set(ROUNDS) and "v5.0" not in ROUNDS


def test_every_flag_of_the_table_has_a_meaning_and_excluded_ones_stay_out():
    used = {flag for flags in results()["flags"] for flag in flags.split(";") if flag}
    assert used <= set(FLAGS) and not used & {
        "implausible",
        "unknown_unit",
        "unknown_benchmark",
        "unknown_accelerator",
        "no_count",
    }
    excluded = {name for name, flag in FLAGS.items() if flag.excluded}
    assert not {flag for flags in comparable()["flags"] for flag in flags.split(";")} & excluded
    power = comparable(allow=["power_run"])
    assert len(power) > len(comparable()) and power["flags"].str.contains("power_run").any()


def test_an_unknown_round_flag_or_submission_names_the_nearest():
    with pytest.raises(
        LookupError, match=r"unknown round of MLPerf Inference 'v5.0'; nearest: v6.0, v5.1"
    ):
        results(["v5.0"])
    with pytest.raises(LookupError, match=r"unknown flag 'power_runs'; nearest: power_run"):
        comparable(allow=["power_runs"])
    with pytest.raises(LookupError, match=r"unknown MLPerf submission '5.1-0069/deepseek/Offline'"):
        submission("5.1-0069/deepseek/Offline")


@pytest.mark.parametrize(
    "id, chips, per_chip",
    [
        # value / accelerators, both as published for the submission
        ("5.1-0069/llama2-70b-99.9/Offline", 8, 101527 / 8),
        ("5.1-0047/llama2-70b-99.9/Server", 8, 99169.8 / 8),
        ("6.0-0078/deepseek-r1/Offline", 72, 647076 / 72),
        ("5.1-0083/llama3.1-8b/Offline", 1, 5777.08),
        ("6.0-0060/llama3.1-8b/Offline", 8, 6762.3 / 8),
    ],
)
def test_per_accelerator_figures_can_be_checked_by_hand(id, chips, per_chip):
    row = submission(id)
    assert row["accelerators"] == chips and row["per_accelerator"] == pytest.approx(
        per_chip, rel=1e-9
    )


def test_every_benchmark_has_one_architecture_and_units_do_not_overlap():
    kinds = table("mlperf_benchmarks")
    assert (kinds.groupby("benchmark")["architecture"].nunique() == 1).all() and set(
        kinds["unit"]
    ) == {"tokens/s", "samples/s", "queries/s", "tasks/s", "s", "ms"}
    for _, rows in kinds.groupby(["benchmark", "scenario"]):
        spans = sorted((row.first_round, row.last_round) for row in rows.itertuples())
        assert all(first <= last for first, last in spans) and all(
            a[1] < b[0] for a, b in itertools.pairwise(spans)
        )
    assert results()["architecture"].notna().all()


def test_the_package_offers_what_chapters_use():
    assert set(dir(mlperf)) >= {
        "FLAGS",
        "ROUNDS",
        "cleaning_report",
        "comparable",
        "results",
        "submission",
    }
