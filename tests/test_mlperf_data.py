"""MLPerf Inference: what the importer settles, refuses and flags; what may be compared per chip;
which rows cannot be right.
"""

import csv
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from scaleright.cli import cli
from scaleright.mlperf import FLAGS
from small_package import write_package

from refresh import IMPORTERS, RefreshError, mlperf_inference, refresh
from refresh.rules import header
from refresh.tables import read_table, settle, sift

DATA = Path(__file__).resolve().parents[1] / "data"
BENCHMARKS = read_table(DATA / "mlperf_benchmarks.csv")

RESULT = {
    "version": "v6.0",
    "submitter": "S",
    "availability": "available",
    "division": "closed",
    "suite": "datacenter",
    "platform": "8xB200",
    "system": "s (8x B200)",
    "accelerator": "NVIDIA B200-SXM-180GB",
    "accelerators_per_node": 8,
    "nodes": 1,
    "total_accelerators": 8,
    "total_accelerators_source": "source",
    "model": "llama2-70b-99.9",
    "scenario": "Offline",
    "metric_value": 100000,
    "metric_unit": "Tokens/s",
    "metric_unit_corrected": "Tokens/s",
    "power_run": 0,
    "weight_dtype": "fp4",
    "notes": "N/A. N/A",
    "id": "6.0-0001",
    "source": "gbeezybez/inference_results_v6.0 (fork)@4d3916a",
}
OLD = RESULT | {
    "version": "v4.0",
    "source": "cm4mlperf-results",
    "metric_unit": "Samples/s",
    "id": "0123456789abcdef",
    "total_accelerators_source": "computed nodes*per_node",
    "accelerator": "NVIDIA H100-SXM-80GB",
    "weight_dtype": "",
}


def _write(folder: Path, *rows: dict, extra: tuple[str, ...] = (), without: str = "") -> Path:
    """A raw folder with these rows in the newest file; the others have a header only."""
    for file in (*mlperf_inference.FILES, mlperf_inference.POWER):
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        newest = file == mlperf_inference.FILES[-1]
        with path.open("w", newline="") as out:
            names = [name for name in header(file) if name != without] + (
                list(extra) if newest else []
            )
            writer = csv.DictWriter(out, names, restval="", extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows if newest else ())
    return folder


def _import(folder: Path, *rows: dict, allow: bool = True, **how):
    """Rows by id, dropped ones, and what was in doubt."""
    items, doubted = settle(mlperf_inference.rows(_write(folder, *rows, **how), BENCHMARKS), allow)
    found, dropped = sift(items)
    return {row["id"]: row for row in found}, dropped, doubted


# the importer


def test_a_row_keeps_its_names_and_figures(tmp_path):
    found, dropped, doubted = _import(tmp_path, RESULT)
    assert not dropped and not doubted
    assert found["6.0-0001/llama2-70b-99.9/Offline"] == {
        "id": "6.0-0001/llama2-70b-99.9/Offline",
        "round": "v6.0",
        "submitter": "S",
        "availability": "available",
        "system": "s (8x B200)",
        "accelerator": "B200",
        "accelerators_per_node": 8,
        "nodes": 1,
        "accelerators": 8,
        "accelerators_from": "source",
        "benchmark": "llama2-70b",
        "accuracy_target": "99.9",
        "scenario": "Offline",
        "value": 100000.0,
        "unit": "tokens/s",
        "precision": "FP4",
        "software": "",
        "system_watts": None,
        "flags": "",
        "source": "mlcommons2026v60",
        "note": "",
    }


def test_a_row_without_an_id_is_named_by_round_submitter_system_model_and_scenario(tmp_path):
    source = "mlcommons/inference_results_v6.1@7bf15fd8 summary.csv (hand-transcribed)"
    found, _, _ = _import(
        tmp_path,
        RESULT | {"version": "v6.1", "id": "", "system": "", "submitter": "A B", "source": source},
    )
    row = found["6.1/A-B/8xB200/llama2-70b-99.9/Offline"]
    assert row["system"] == "8xB200" and row["flags"] == "transcribed"


@pytest.mark.parametrize(
    "change, want",
    [
        # units: the collection's labels are not units, and one set of values is in queries
        (OLD, {"value": 100000, "unit": "tokens/s", "flags": "relabelled_unit"}),
        (
            OLD
            | {
                "scenario": "Server",
                "metric_unit": "Queries/s",
                "metric_unit_corrected": "Queries/s",
                "metric_value": 12.3386,
            },
            {"value": 3616.94, "unit": "tokens/s", "flags": "corrected_unit"},
        ),
        (
            OLD | {"model": "gptj-99", "metric_unit_corrected": "Samples/s", "metric_value": 107},
            {"value": 107, "unit": "samples/s", "flags": ""},
        ),
        (
            OLD | {"model": "gptj-99", "version": "v4.1"},
            {"unit": "tokens/s", "flags": "relabelled_unit", "accuracy_target": "99"},
        ),
        # counts
        (
            {
                "submitter": "AMD",
                "accelerator": "AMD Instinct MI355X 288GB HBM3e (x87)",
                "total_accelerators": 88,
                "nodes": 11,
            },
            {
                "accelerators": 87,
                "accelerators_from": "corrected",
                "accelerator": "MI355X",
                "flags": "corrected_count",
            },
        ),
        (
            {
                "accelerator": "MS-Intel Arc Pro B60 Dual 48G Turbo",
                "total_accelerators": 4,
                "accelerators_per_node": 4,
            },
            {
                "accelerators": 8,
                "accelerator": "Arc Pro B60",
                "accelerators_per_node": 4,
                "flags": "corrected_count",
            },
        ),
        (
            {"accelerator": "N/A", "total_accelerators": 0},
            {"accelerators": 0, "accelerator": "", "flags": "cpu_only"},
        ),
        (
            {"accelerator": "", "total_accelerators": "", "accelerators_per_node": ""},
            {"accelerators": 0, "flags": "cpu_only"},
        ),
        # kinds of systems and runs
        (
            {"accelerator": "NVIDIA A100-PCIe-80GB (1x1g.10gb MIG)"},
            {"accelerator": "A100 PCIe 80GB", "flags": "mig_slices"},
        ),
        (
            {"accelerator": "NVIDIA H200-SXM-141GB + AMD Instinct MI350X 288GB HBM3e"},
            {"accelerator": "", "flags": "heterogeneous"},
        ),
        (
            {"accelerator": "Virtualized NVIDIA L40S"},
            {"accelerator": "L40S", "flags": "virtualized"},
        ),
        (
            {"accelerator": "AMD Instinct MI355X 288GB HBM3e (Power Cap 1000 W)"},
            {"accelerator": "MI355X", "flags": "power_capped"},
        ),
        (
            OLD | {"power_run": 1, "power_value": 5000.123456, "power_unit": "Watts"},
            {"system_watts": 5000.12, "flags": "power_run;relabelled_unit"},
        ),
        (
            {"version": "v5.1", "power_run": 1, "power_value": 9000, "power_unit": "Watts"},
            {"system_watts": 9000, "flags": ""},
        ),
        ({"availability": "preview"}, {"flags": "preview"}),
        ({"division": "closed-network"}, {"flags": "network"}),
        (
            {
                "accelerator": "NVIDIA GH200-GraceHopper-Superchip",
                "system": "x (1x GH200-144GB_aarch64)",
            },
            {"accelerator": "GH200 144GB"},
        ),
        (
            {
                "accelerator": "NVIDIA GH200-GraceHopper-Superchip",
                "system": "x (1x GH200-96GB_aarch64)",
            },
            {"accelerator": "GH200"},
        ),
    ],
)
def test_every_known_quirk_is_settled_by_a_stated_rule(change, want, tmp_path):
    found, _, doubted = _import(tmp_path, RESULT | change)
    (row,) = found.values()
    assert not doubted and {name: row[name] for name in want} == want
    if re.search("correct|relabel", row["flags"]):
        assert row["note"]


def test_a_run_reported_to_both_targets_is_flagged_once(tmp_path):
    looser = {"model": "llama2-70b-99"}
    found, _, _ = _import(
        tmp_path,
        RESULT,
        RESULT | looser,
        RESULT | looser | {"scenario": "Server", "metric_value": 9e4},
    )
    assert {key: row["flags"] for key, row in found.items() if row["flags"]} == {
        "6.0-0001/llama2-70b-99/Offline": "duplicate_accuracy"
    }


BAD = {
    "unknown_column": ({"extra": ("region",)}, "unknown column 'region'"),
    "unknown_unit": ({"metric_unit": "Frames/s"}, "unknown unit 'Frames/s'"),
    "unknown_unit label": (
        {"metric_unit": "Samples/s"},
        "labelled Samples/s, but llama2-70b Offline is in tokens/s in v6.0",
    ),
    "unknown_unit corrected": (
        {"metric_unit_corrected": "Samples/s"},
        "the raw table corrects Tokens/s to Samples/s, this import to tokens/s",
    ),
    "unknown_unit power": ({"power_unit": "kW"}, "power in 'kW'; known is Watts"),
    "no_count zero": (
        {"total_accelerators": 0},
        "0 accelerators, but the row names NVIDIA B200-SXM-180GB",
    ),
    "no_count missing": (
        {"total_accelerators": ""},
        "no accelerators, but the row names NVIDIA B200-SXM-180GB",
    ),
    "no_count none named": ({"accelerator": "N/A"}, "8 accelerators, but the row names N/A"),
    "unknown_benchmark": ({"model": "llama4-400b"}, "no unit for llama4-400b Offline in v6.0"),
    "unknown_benchmark scenario": ({"scenario": "Burst"}, "no unit for llama2-70b Burst in v6.0"),
    "unknown_benchmark round": ({"version": "v7.0"}, "no unit for llama2-70b Offline in v7.0"),
    "unknown_accelerator": ({"accelerator": "NVIDIA Z900"}, "unknown accelerator 'NVIDIA Z900'"),
    "implausible": ({"metric_value": 100}, "times submissions of the chip"),
}


@pytest.mark.parametrize("flag", BAD)
def test_what_no_rule_settles_is_refused_by_name_and_kept_flagged_on_request(flag, tmp_path):
    change, reason = BAD[flag]
    extra, change = (
        change.get("extra", ()),
        {name: value for name, value in change.items() if name != "extra"},
    )
    near = (
        [
            RESULT
            | {
                "id": f"6.0-000{i}",
                "metric_value": 100000 + i,
                "system": str(i),
                "version": version,
            }
            for i, version in ((2, "v6.0"), (3, "v5.1"), (4, "v5.1"))
        ]
        if flag == "implausible"
        else []
    )
    if near:
        reason = "times other submissions of the chip in the round"
    with pytest.raises(RefreshError, match=re.escape(reason)) as refusal:
        _import(tmp_path, RESULT | change, *near, extra=extra, allow=False)
    assert f"{mlperf_inference.FILES[-1]}: 6.0-0001/" in str(
        refusal.value
    ) and "--allow-flagged" in str(refusal.value)
    found, _, doubted = _import(tmp_path, RESULT | change, *near, extra=extra)
    row = next(row for key, row in found.items() if key.startswith("6.0-0001/"))
    assert (
        flag.split()[0] in row["flags"].split(";")
        and FLAGS.keys() >= set(row["flags"].split(";"))
        and doubted
    )


@pytest.mark.parametrize(
    "change, reason",
    [
        ({"metric_value": "fast"}, "'fast' is not a number"),
        ({"metric_value": 0}, "'0' is no positive number"),
        ({"nodes": 1.5}, "'1.5' is no count"),
        ({"weight_dtype": "int1"}, "unknown precision 'int1'"),
        ({"source": "a blog"}, "unknown source 'a blog'"),
    ],
)
def test_what_cannot_be_read_is_refused_whatever_is_allowed(change, reason, tmp_path):
    with pytest.raises(RefreshError, match=re.escape(reason)):
        _import(tmp_path, RESULT | change)


def test_a_missing_column_and_a_row_given_twice_are_refused(tmp_path):
    with pytest.raises(RefreshError, match="missing column 'nodes'"):
        _import(tmp_path, RESULT, without="nodes")
    with pytest.raises(RefreshError, match=r"row 6.0-0001/llama2-70b-99.9/Offline is there twice"):
        _import(tmp_path, RESULT, RESULT)


def test_the_power_subset_may_repeat_rows_and_may_not_change_them(tmp_path):
    for value, reason in (
        ("100000.0", None),
        ("99999", "column 'metric_value': '99999', but '100000' in"),
    ):
        _write(tmp_path, RESULT)
        shutil.copy(tmp_path / mlperf_inference.FILES[-1], tmp_path / mlperf_inference.POWER)
        power = (tmp_path / mlperf_inference.POWER).read_text()
        (tmp_path / mlperf_inference.POWER).write_text(power.replace(",100000,", f",{value},"))
        if reason:
            with pytest.raises(RefreshError, match=re.escape(reason)):
                list(mlperf_inference.rows(tmp_path, BENCHMARKS))
        else:
            assert len(sift(mlperf_inference.rows(tmp_path, BENCHMARKS))[1]) == 1


@pytest.fixture
def only_mlperf(tmp_path, monkeypatch):
    """A project of these tables alone, so that a refresh needs no other raw file."""
    tables = ("mlperf_benchmarks", "mlperf_inference")
    monkeypatch.setattr("refresh.IMPORTERS", {name: IMPORTERS[name] for name in tables})
    write_package(tmp_path / "data", "mlperf_benchmarks", "accelerators", "models")
    return tmp_path


def test_a_refused_refresh_writes_nothing_and_a_repeated_one_the_same_bytes(only_mlperf):
    data = only_mlperf / "data"
    raw = _write(
        only_mlperf / "raw", RESULT, RESULT | {"scenario": "Server", "metric_unit": "Frames/s"}
    )
    with pytest.raises(RefreshError, match="rows in doubt: 1"):
        refresh(raw, data)
    assert not (data / "mlperf_inference.csv").exists()
    report = refresh(raw, data, allow_flagged=True)[-1]
    first = (data / "mlperf_inference.csv").read_bytes()
    assert (
        report.rows_out == 2
        and "flagged unknown_unit: 1 rows" in str(report)
        and "kept in doubt" in str(report)
    )
    refresh(raw, data, allow_flagged=True)
    assert (data / "mlperf_inference.csv").read_bytes() == first


def test_the_command_line_knows_the_option():
    assert "--allow-flagged" in CliRunner().invoke(cli, ["data", "refresh", "--help"]).output
