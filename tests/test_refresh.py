"""Importers on a small synthetic raw folder: what they take, what they drop and why, and that they
fail whole.
"""

import csv
import json
import os
import random
import re
import shutil
from pathlib import Path

import pytest

import refresh as package
from refresh import (
    RefreshError,
    accelerators,
    mlperf_inference,
    mlperf_training,
    prices,
    prices_history,
    prices_purchases,
    prices_rates,
    refresh,
)
from refresh.rules import columns, facts, header, kept, rule
from refresh.tables import cell_text, merge, number_text, parse_csv, read_table, sift, table_text

DATA = Path(__file__).resolve().parents[1] / "data"
RAW = os.environ.get("SCALERIGHT_RAW")
"""Folder of the raw material, for those who have it."""
TIMED = {"measured/kernels", "measured/collectives", "measured/collectives_stas"}
"""Tables whose raw files test_profiling_data.py writes."""
TRAINED = {"measured/training", "measured/layouts", "measured/memory", "chinchilla_points"}
"""Tables of training, which have tests of their own."""
PLANET = {
    "grids",
    "cloud_regions",
    "embodied",
    "embodied_boavizta",
    "measured/footprint",
    "measured/images",
}
"""Tables whose raw files test_planet_data.py writes."""


if RAW:  # defined only where there is raw material, so that nobody takes a skip for a pass

    def test_the_committed_tables_are_what_the_raw_material_gives(tmp_path):
        shutil.copytree(DATA, tmp_path / "data")
        reports = refresh(Path(RAW), tmp_path / "data")
        for path in DATA.rglob("*.csv"):
            assert (tmp_path / "data" / path.relative_to(DATA)).read_bytes() == path.read_bytes(), (
                path.name
            )
        assert sum(len(report.dropped) for report in reports) > 100

    @pytest.mark.parametrize(
        "file, importer, blank",
        [
            (prices_history.MONTHLY, prices_history._monthly, 0),
            (prices_history.GIX, prices_history._gix, 0),
            (prices_history.MCKEE, prices_history._mckee, 39),
            (prices_history.WYLUDA, prices_history._wyluda, 0),
        ],
    )
    def test_every_raw_figure_of_a_history_is_taken_or_left_out(file, importer, blank):
        rows = parse_csv((Path(RAW) / file).read_text(), file)
        figures = [
            cell
            for row in rows
            for column, cell in row.items()
            if cell and re.search("median|index_value|usd_per|^(hyper|neo)", column)
        ]
        figures += [
            entry for row in rows for entry in row.get("provider_values", "").split(";") if entry
        ]
        found, dropped = sift(importer(Path(RAW)))
        assert (
            len(found) + len(dropped) == len(figures) + blank
            and sum("blank" in drop.reason for drop in dropped) == blank
        )


# the tables beside the importers


def test_every_rule_says_what_becomes_of_a_name_and_every_drop_why():
    lines = facts("rules.csv")
    assert len({(line["file"], line["what"], line["name"]) for line in lines}) == len(lines)
    assert {line["action"] for line in lines} == {"keep", "drop", "skip"}
    for line in lines:
        assert (line["action"] == "keep") != bool(line["reason"]), line
        assert line["action"] == "keep" or not line["ours"], line


def test_names_and_wrong_values_are_of_chips_that_the_tables_hold():
    known = {row["name"] for row in read_table(DATA / "accelerators.csv")}
    ours = {
        chip
        for line in facts("rules.csv")
        if line["what"] in ("accelerator", "instance family")
        for chip in line["ours"].split(";")
    }
    ours |= {line["ours"] for line in facts("rules.csv") if line["what"].startswith("accelerator ")}
    assert ours - {""} - known == set()
    assert {
        line["accelerator"] for line in facts("wrong.csv") if "*" not in line["accelerator"]
    } - known == set()
    owned = {source for _, sources in package.IMPORTERS.values() for source in sources}
    assert {line["source"] for line in facts("wrong.csv")} <= owned and all(
        line["reason"] for line in facts("wrong.csv")
    )


def test_a_name_of_its_own_goes_before_a_pattern_and_patterns_in_their_order():
    sheet = "epoch/ml_hardware_ai_accelerators.csv"
    assert rule(sheet, "accelerator", "NVIDIA GeForce RTX 4090").ours == "RTX 4090"
    assert (
        rule(sheet, "accelerator", "NVIDIA GeForce RTX 2080").reason
        == "a variant outside the set of this book"
    )
    assert (
        rule(sheet, "accelerator", "Some chip").reason
        == "the generation is covered by its variants"
    )
    with pytest.raises(
        RefreshError, match=r"unknown precision 'int2'; add a line for it to refresh/rules.csv"
    ):
        rule("ml_energy/v3_2026-02_lm-arena-chat.csv", "precision", "int2")


def test_the_first_filled_column_counts_and_names_its_factor():
    names, ours, line = columns("model_architectures/gpu_poor_hf_configs_selected.csv")[1]
    assert (names, ours, line["scale"]) == (
        ["num_hidden_layers", "n_layer", "num_layers"],
        ["layers"],
        "",
    )
    assert all(line["scale"] == "" or float(line["scale"]) > 0 for line in facts("columns.csv"))


# a raw folder with one or two rows a file


def _csv(path: Path, columns, *rows: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(columns), restval="")
        writer.writeheader()
        writer.writerows(rows)


_LLM = (
    "config",
    "name",
    "mem_per_GPU_in_GB",
    "hbm_bandwidth_in_GB_per_sec",
    "intra_node_bandwidth_in_GB_per_sec",
    "intra_node_min_message_latency",
    "peak_fp16_TFLOPS",
    "peak_i8_TFLOPS",
    "peak_i4_TFLOPS",
    "inter_node_bandwidth_in_GB_per_sec",
)
_TOOL = (
    "source",
    "accelerator",
    "bf16_or_headline_tflops",
    "mem_gb",
    "mem_bw_gb_s",
    "interconnect_gb_s",
    "dense_or_sparse",
)
_MAMF = (
    "Accelerator",
    "MAMF",
    "Theory",
    "Efficiency",
    "Best Shape MxNxK",
    "torch version",
    "Notes",
)
_TFLOPS = (
    "Accelerator \\ TFLOPS",
    "fp32",
    "tf32",
    "fp16",
    "bf16",
    "fp8",
    "int8",
    "fp6",
    "fp4",
    "nvfp4",
    "Notes",
)
_BW = ("Accelerator", "Memory (GB)", "Type", "Peak Bandwidth (TBps)")
_EWYLUDA = (
    "date",
    "provider",
    "segment",
    "pricing",
    "gpu_model",
    "sku",
    "region",
    "gpu_count",
    "usd_per_hour",
    "usd_per_gpu_hour",
)
_SKYPILOT = (
    "cloud",
    "catalog",
    "accelerator",
    "count",
    "vcpus",
    "mem_gib",
    "price_usd_hr",
    "spot_usd_hr",
    "region",
    "usd_per_gpu_hr",
)
_VANTAGE = (
    "Name",
    "API Name",
    "GPUs",
    "GPU model",
    "GPU memory",
    "vCPUs",
    "Instance Memory",
    "Network Performance",
    "On Demand",
    "Linux Reserved cost",
    "Linux Spot Minimum cost",
    "Linux Spot Maximum cost",
)

_MONTHLY = (
    "period",
    "gpu",
    "index_value_usd_per_gpu_hr",
    "provider_count",
    "min_provider_value",
    "max_provider_value",
    "raw_on_demand_median",
    "reserved_raw_median",
    "spot_raw_median",
    "provider_values",
)
_MCKEE = (
    "date",
    "hyperscaler-H100",
    "hyperscaler-A100",
    "neocloud-H100",
    "neocloud-A100",
    "neocloud-B200",
    "neocloud-MI300X",
)


def _card(provider, model, count, whole, each, sku="x") -> dict:
    return dict(
        zip(
            _EWYLUDA,
            (
                "2026-09-29",
                provider,
                "neocloud",
                "on_demand",
                model,
                sku,
                "global",
                count,
                whole,
                each,
            ),
            strict=True,
        )
    )


def _quote(model, date, **cells) -> dict:
    return {"Hardware model": model, "Price date": date, **cells}


@pytest.fixture
def raw(tmp_path):
    root, specs = tmp_path / "raw", tmp_path / "raw" / "accelerator_specs"
    (specs / "aiconfigurator_systems").mkdir(parents=True)
    for stem in kept(accelerators.SYSTEMS, "accelerator"):
        link, network = (
            (900000000000, 100000000000) if "b200" in stem else (32000000000, 25000000000)
        )
        text = (
            "gpu:\n  mem_bw: 1000000000000\n  mem_capacity: 85899345920\n  bfloat16_tc_flops:"
            " 100000000000000\n  fp8_tc_flops: 1\n  power: 300\n"
        )
        node = (
            f"node:\n  num_gpus_per_node: 8\n  inter_node_bw: {network}\n  intra_node_bw: {link}\n"
        )
        (specs / "aiconfigurator_systems" / f"{stem}.yaml").write_text(text + node)
    tensor, memory = "Tensor-FP16/BF16 performance (FLOP/s)", "Memory size per board (Byte)"
    _csv(
        root / "epoch/ml_hardware_ai_accelerators.csv",
        header("epoch/ml_hardware_ai_accelerators.csv"),
        {
            "Hardware name": "NVIDIA GeForce RTX 4090",
            tensor: "330000000000000",
            memory: "24000000000",
        },
        {"Hardware name": "NVIDIA L40", tensor: "181000000000000"},
        {"Hardware name": "Apple M3"},
    )
    _csv(
        specs / "llm_analysis_gpu_configs.csv",
        _LLM,
        dict(
            name="a10-pcie-28gb",
            mem_per_GPU_in_GB=28,
            hbm_bandwidth_in_GB_per_sec=600,
            peak_fp16_TFLOPS=125,
            peak_i4_TFLOPS=500,
        ),
        dict(name="h100-sxm-80gb", mem_per_GPU_in_GB=80, peak_i4_TFLOPS=3958),
        dict(name="mi250x-128gb", peak_fp16_TFLOPS=383, peak_i8_TFLOPS=766),
        dict(name="v100-sxm-16gb", mem_per_GPU_in_GB=32, peak_fp16_TFLOPS=125),
    )
    _csv(
        specs / "tool_spec_tables_compared.csv",
        _TOOL,
        dict(zip(_TOOL, ("GenZ @1", "GH200", 1979, 144, 4900, 450, "SPARSE bf16"), strict=True)),
        dict(zip(_TOOL, ("GenZ @1", "Gaudi3", 1835, 128, 3675, 300, "early"), strict=True)),
    )
    _csv(
        root / "epoch/hardware_prices.csv",
        header(accelerators.QUOTES),
        _quote("NVIDIA H100 PCIe", "2025-03-03", **{"Price (hardware purchase)": "$24,500.00"}),
        _quote("NVIDIA H100 PCIe", "2019-03-03", **{"Price (hardware purchase)": "1"}),
        _quote(
            "NVIDIA H100 SXM5 80GB",
            "2025-03-03",
            **{
                "Price (hardware purchase)": "46875",
                "Notes": "$375,000.00 / 8",
                "Number of GPUs": "8",
            },
        ),
        _quote(
            "NVIDIA GeForce RTX 4090",
            "2025-03-03",
            Vendor="Salad",
            **{"Price per chip-hour (on-demand)": "0.20"},
        ),
        _quote(
            "NVIDIA H100 SXM5 80GB",
            "2025-03-03",
            Vendor="RunPod",
            **{"Price per chip-hour (on-demand)": "2.99"},
        ),
    )
    (root / "epoch/ai_chip_counts").mkdir()
    (root / "epoch/ai_chip_counts/Nvidia_annual_prices.csv").write_text(
        "Year,A100 low,A100 high,Notes,H100 low,H100 high,GB200 low,GB200 high,GB300 low,GB300"
        " high,H20 low,H20 high\n"
        "2024,9,19,,23000,30000,1,2,1,2,1,2\n2025,10000,15000,,20000,27000,30000,45000,30000,45000,9000,12000"
    )
    _csv(
        root / "gpu_prices/ewyluda_ratecards_2026-09-29_selected.csv",
        _EWYLUDA,
        _card("AWS", "H100", 8, 55.04, 6.88),
        _card("RunPod Community Cloud", "MI300X", 1, 0.5, 0.5),
        _card("Node Cloud", "H100", 8, 24, 24),
        _card("Vast.ai", "A100-40GB", 1, 0.68, 0.68, "median-offer (n=3)"),
        _card("AWS", "Z9", 1, 1, 1),
    )
    _csv(
        root / "gpu_prices/skypilot_catalog_extract.csv",
        _SKYPILOT,
        dict(
            zip(
                _SKYPILOT,
                ("nebius", "v8", "H100-SXM", 8, 128, 1600, "23.60", "10.00", "eu-north1", "2.95"),
                strict=True,
            )
        ),
    )
    (root / "gpu_prices/gpuhunt_tpu_pricing.json").write_text(
        json.dumps(
            {
                "TPU v4 pod": {
                    "us-central2": {
                        "Location": "Oklahoma",
                        "On Demand (USD)": 3.22,
                        "Spot (USD)": 3.686,
                    }
                }
            }
        )
    )
    _csv(
        root / "gpu_prices/aws_ec2_accelerator_instances_vantage.csv",
        _VANTAGE,
        *(
            {
                "API Name": sku,
                "GPUs": 1,
                "On Demand": f"${price} hourly",
                "Linux Reserved cost": "$0.3310 hourly",
                "Linux Spot Minimum cost": "$0.1 hourly",
                "Linux Spot Maximum cost": "$0.3 hourly",
            }
            for sku, price in (("g4dn.2xlarge", 0.752), ("g4dn.xlarge", 0.526), ("g3.xlarge", 1))
        ),
    )
    _csv(
        root / prices_history.MONTHLY,
        _MONTHLY,
        dict(
            zip(
                _MONTHLY,
                (
                    "2026-01",
                    "H200",
                    3.5,
                    3,
                    3,
                    4,
                    3.6,
                    3.7,
                    0.5,
                    "lambda=3.0;nebius=3.5;runpod=4.0",
                ),
                strict=True,
            )
        ),
        dict(
            zip(_MONTHLY, ("2026-02", "H200", "", 1, 3, 3, 3.6, "", 3.0, "lambda=3.0"), strict=True)
        ),
    )
    _csv(
        root / prices_history.GIX,
        ("date", "gpu", "usd_per_gpu_hr"),
        *({"date": f"2026-09-0{day}", "gpu": "H100", "usd_per_gpu_hr": 3.1} for day in (1, 2)),
    )
    _csv(
        root / prices_history.MCKEE,
        _MCKEE,
        *(
            dict(zip(_MCKEE, cells, strict=True))
            for cells in (
                ("2026-03-12", 7.43, 3.68, 2.46, 1.39, 4.61, 2.45),
                ("2026-03-13", 7.43, 3.68, 2.45, 1.4, 1.4, 2.45),
                ("2026-04-20", 7.43, 7.43, 7.43, 3.69, 1.0, 1.0),
                ("2026-07-16", *[""] * 6),
            )
        ),
    )
    _csv(
        root / prices_history.WYLUDA,
        ("date", "gpu_model", "series", "usd_per_gpu_hour"),
        *(
            {
                "date": f"2026-09-{day}",
                "gpu_model": chip,
                "series": series,
                "usd_per_gpu_hour": price,
            }
            for chip, series, prices_of_days in (
                ("B300", "index", (7.89, 4.2, 7.89)),
                ("H100", "marketplace", (2.48, 3.14, 2.5)),
                ("MI300X", "marketplace", (0.5, 0.5, 0.5)),
                ("Z9", "index", (1, 1, 1)),
            )
            for day, price in zip((28, 29, 30), prices_of_days, strict=True)
        ),
    )
    _csv(
        root / prices_purchases.RATIOS,
        ("vendor", "tenor_years", "price_ratio", "as_of", "note"),
        {
            "vendor": "gcp",
            "tenor_years": 3,
            "price_ratio": 0.45,
            "as_of": "2026-08-27",
            "note": "CUD",
        },
    )
    _csv(
        specs / "stas_mamf_measured_bf16.csv",
        _MAMF,
        dict(
            zip(
                _MAMF,
                ("NVIDIA H100 SXM", 794.5, 989, "80.3%", "1x1x1", "2.7", "H200 is the same"),
                strict=True,
            )
        ),
    )
    _csv(specs / "stas_mamf_measured_fp8.csv", _MAMF, {"Accelerator": "AMD MI300X"})
    _csv(
        specs / "stas_dense_tflops_shipping.csv",
        _TFLOPS,
        {_TFLOPS[0]: "NVIDIA GB300 SXM", "int8": 5000, "fp32": 80, "bf16": "?"},
    )
    _csv(specs / "stas_dense_tflops_announced.csv", _TFLOPS)
    _csv(
        specs / "stas_memory_bw_shipping.csv",
        _BW,
        dict(zip(_BW, ("Intel Gaudi3", 128, "HBM2e", 3.7), strict=True)),
    )
    _csv(specs / "stas_memory_bw_announced.csv", _BW)
    _csv(
        specs / "stas_power_spec.csv",
        ("Accelerator", "Power<br>spec (W)", "Vendor term", "Notes"),
        {"Accelerator": "Google TPUs", "Power<br>spec (W)": "N/A"},
    )
    _csv(
        root / mlperf_training.FILE,
        header(mlperf_training.FILE),
        {
            "version": "v5.1",
            "submitter": "S",
            "division": "closed",
            "status": "cloud",
            "system": "s",
            "benchmark": "llama31_8b",
            "accelerator": "NVIDIA H100-SXM5-80GB",
            **dict.fromkeys(("nodes", "accelerators_per_node", "total_accelerators"), 1),
            **dict.fromkeys(("n_runs", "n_success"), 10),
            "global_batch_size": 32,
            "rcp_scaling_factor": 1,
            **dict.fromkeys(
                ("time_to_train_min", "unscaled_mean_min", "min_run_min", "max_run_min"), 600
            ),
        },
    )
    result = {
        "version": "v6.0",
        "submitter": "S",
        "availability": "available",
        "division": "closed",
        "suite": "datacenter",
        "platform": "s",
        "system": "s (8x B200)",
        "accelerator": "NVIDIA B200-SXM-180GB",
        "accelerators_per_node": 8,
        "nodes": 1,
        "total_accelerators": 8,
        "total_accelerators_source": "source",
        "model": "llama3.1-8b",
        "scenario": "Offline",
        "metric_value": 140000,
        "metric_unit": "Tokens/s",
        "metric_unit_corrected": "Tokens/s",
        "power_run": 0,
        "weight_dtype": "fp4",
        "id": "6.0-0001",
        "source": "gbeezybez/inference_results_v6.0 (fork)@4d3916a",
    }
    for file in (*mlperf_inference.FILES, mlperf_inference.POWER):
        _csv(
            root / file,
            header(file),
            *([result] if file in (mlperf_inference.FILES[-1], mlperf_inference.POWER) else []),
        )
    return root


def _specs(found) -> dict:
    return {(row["accelerator"], row["quantity"]): row["value"] for row in found}


def _reasons(dropped, row: str) -> str:
    return "; ".join(drop.reason for drop in dropped if row in drop.row)


def test_known_wrong_specs_are_dropped_with_their_reason(raw):
    found, dropped = sift(accelerators.rows(raw))
    facts = _specs(found)
    for fact, words in {
        ("A10", "memory_bytes"): "28 GB is wrong",
        ("V100 SXM 16GB", "memory_bytes"): "32 GB is wrong",
        ("RTX 4090", "dense_bf16_flops"): "accumulates in FP16",
        ("RTX 4090", "memory_bytes"): "marketed decimal GB",
        ("B200", "scale_out_bytes_per_s"): "twice the 400 Gb/s",
        ("H100 SXM", "dense_int4_ops"): "no INT4",
        ("Gaudi 3", "dense_bf16_flops"): "early marketing",
        ("L4", "scale_out_bytes_per_s"): "placeholder",
        ("Arc Pro B60", "dense_fp8_flops"): "no FP8",
    }.items():
        assert fact not in facts, fact
        assert words in _reasons(dropped, " / ".join(fact)), fact
    assert ("MI250X", "dense_int8_ops") not in facts and "FP16 rate" in _reasons(
        dropped, "MI250X / integer"
    )
    assert "2:4 sparsity" in _reasons(dropped, "GH200")
    assert _reasons(dropped, "Apple M3") and facts["L40", "dense_bf16_flops"] == 181e12
    assert facts["A10", "memory_bytes_per_s"] == 600e9 and facts["B200", "scale_up_chips"] == 8


def test_purchase_prices_leave_out_old_quotes_and_whole_servers(raw):
    found, dropped = sift(accelerators.rows(raw))
    facts = _specs(found)
    assert (
        facts["H100 PCIe", "purchase_low_usd"] == facts["H100 PCIe", "purchase_high_usd"] == 24500
    )
    assert (facts["H100 SXM", "purchase_low_usd"], facts["H100 SXM", "purchase_high_usd"]) == (
        20000,
        27000,
    )
    assert "whole server" in _reasons(dropped, "46875") and "before 2024" in _reasons(
        dropped, "2019"
    )


def test_share_alike_facts_only_fill_gaps(raw):
    known = [
        {
            "accelerator": "Gaudi 3",
            "quantity": "memory_bytes_per_s",
            "value": "3.7e12",
            "source": "datasheet",
        }
    ]
    found, dropped = sift(accelerators.stas_rows(raw, known))
    facts = _specs(found)
    assert (
        facts["H100 SXM", "measured_bf16_matmul_flops"]
        == facts["H200 SXM", "measured_bf16_matmul_flops"]
        == 794.5e12
    )
    assert (
        facts["Gaudi 3", "memory_bytes"] == 128 * 2**30
        and facts["GB300", "dense_fp32_flops"] == 80e12
    )
    assert ("GB300", "dense_int8_ops") not in facts and "cuts INT8" in _reasons(dropped, "GB300")
    assert "agrees" in _reasons(dropped, "Gaudi 3")


def test_rental_listings_are_per_accelerator_and_faults_are_dropped(raw):
    found, dropped = sift(prices_rates.rows(raw))
    price = {
        (row["provider"], row["accelerator"], row["pricing"]): row["usd_per_accelerator_hour"]
        for row in found
    }
    assert price["AWS", "H100 SXM", "on_demand"] == 6.88
    assert (
        price["Nebius", "H100 SXM", "on_demand"] == 2.95
        and price["Nebius", "H100 SXM", "spot"] == 1.25
    )
    assert price["AWS", "T4", "on_demand"] == 0.526 and price["AWS", "T4", "spot"] == pytest.approx(
        0.2
    )
    assert price["Salad", "RTX 4090", "on_demand"] == 0.20
    assert (
        price["RunPod", "H100 SXM", "on_demand"] == 2.99
    )  # older than other cards of the chip: what it rented for on that day
    assert "stale listing" in _reasons(dropped, "MI300X") and "disagree" in _reasons(
        dropped, "Node Cloud"
    )
    assert ("Google Cloud", "TPU v4", "spot") not in price and "above the on-demand" in _reasons(
        dropped, "TPU v4 pod"
    )
    assert "larger host" in _reasons(dropped, "g4dn.2xlarge") and "not a chip" in _reasons(
        dropped, "g3.xlarge"
    )
    assert {row["basis"] for row in found if row["provider"] == "Vast.ai"} == {"median offer"}


def test_old_quotes_stay_with_the_size_of_their_instance_and_the_smallest_host(tmp_path):
    """Of one day and product the smallest host counts; without the host, or where a fuller card of
    that day is held, no price.
    """

    def rented(vendor, model, date, price, **cells):
        return _quote(
            model, date, Vendor=vendor, **{"Price per chip-hour (on-demand)": price}, **cells
        )

    stack = {
        "Price source": "https://github.com/the-full-stack/website",
        "Cloud GPU description": "T4 (16 GB)",
        "Number of GPUs": "1",
    }
    _csv(
        tmp_path / prices_rates.EPOCH,
        header(prices_rates.EPOCH),
        rented(
            "Amazon Web Services",
            "NVIDIA Tesla T4",
            "2022-08-05",
            "2.18",
            Notes="g4dn.8xlarge",
            **stack,
        ),
        rented(
            "Amazon Web Services",
            "NVIDIA Tesla T4",
            "2022-08-05",
            "0.53",
            Notes="g4dn.xlarge",
            **stack,
        ),
        rented(
            "Amazon Web Services",
            "NVIDIA Tesla T4",
            "2023-08-05",
            "0.53",
            Notes="g4dn.xlarge",
            **stack,
        ),
        rented("Google Cloud", "NVIDIA A100 SXM4 40 GB", "2022-12-12", "2.93"),
        rented(
            "Google Cloud",
            "NVIDIA V100",
            "2025-03-03",
            "2.48",
            **{"Cloud GPU description": "16 GB HBM2"},
        ),
        rented("Google Cloud", "Google TPU v4", "2025-03-03", "3.22"),
        rented("Google Cloud", "Google TPU v4", "2024-08-26", "3.22"),
        rented(
            "Microsoft Azure",
            "NVIDIA P100",
            "2024-01-29",
            "2.07",
            Notes="instance NC12s v2 number of GPUs: 2X",
        ),
        rented("Datacrunch", "NVIDIA RTX A6000", "2022-08-08", "1.25", **{"Number of GPUs": "8"}),
        rented(
            "Cudo Compute",
            "NVIDIA H100 PCIe",
            "2025-03-03",
            "2.45",
            **{"Cloud GPU description": "94GB"},
        ),
    )
    found, dropped = sift(
        prices_rates._epoch(tmp_path, {("2025-03-03", "Google Cloud", "TPU v4", "on_demand")})
    )
    kept = {(row["provider"], row["accelerator"], row["date"][:4]): row for row in found}
    assert set(kept) == {
        ("AWS", "T4", "2022"),
        ("AWS", "T4", "2023"),
        ("Google Cloud", "TPU v4", "2024"),
        ("Microsoft Azure", "P100 PCIe", "2024"),
        ("DataCrunch", "RTX A6000", "2022"),
        ("Cudo Compute", "H100 NVL", "2025"),
    }
    assert (
        kept["AWS", "T4", "2022"]["usd_per_accelerator_hour"],
        kept["AWS", "T4", "2022"]["sku"],
    ) == (0.53, "g4dn.xlarge")
    azure = kept["Microsoft Azure", "P100 PCIe", "2024"]
    assert (azure["accelerators"], azure["sku"], azure["note"]) == (2, "NC12s v2", "")
    assert (
        kept["Google Cloud", "TPU v4", "2024"]["note"] == "size of the instance not stated"
        and kept["DataCrunch", "RTX A6000", "2022"]["accelerators"] == 8
    )
    assert (
        "2.18" in str(dropped)
        and "larger host" in _reasons(dropped, "T4")
        and "another source" in _reasons(dropped, "TPU v4")
    )
    assert sum("host is billed apart" in drop.reason for drop in dropped) == 2 and len(dropped) == 4


def _figures(found) -> dict:
    return {
        (row["date"], row["provider"], row["segment"], row["pricing"], row["sku"]): row[
            "usd_per_accelerator_hour"
        ]
        for row in found
    }


def test_histories_carry_a_basis_of_their_own_and_keep_series_apart(raw):
    found, _dropped = sift(prices_history.rows(raw))
    figures = _figures(found)
    assert {row["basis"] for row in found} == {"normalized", "index"}
    assert {row["provider"] for row in found if row["basis"] == "normalized"} == {
        "Lambda",
        "Nebius",
        "RunPod Secure Cloud",
    }
    assert (
        figures[
            "2026-01-01", "Median of scaled cards", "index", "on_demand", prices_history.CONTRACT
        ]
        == 3.5
    )
    assert figures["2026-01-01", "Median of rate cards", "index", "on_demand", "as listed"] == 3.6
    assert "above the on-demand median" in next(
        row["note"] for row in found if row["pricing"] == "reserved"
    )
    assert {row["segment"] for row in found if row["provider"] == "GPU rental index"} == {
        "hyperscaler",
        "neocloud",
    }


def test_faults_of_histories_are_dropped_by_rule(raw):
    _found, dropped = sift(prices_history.rows(raw))
    assert "RunPod shows 0.50" in _reasons(
        dropped, "monthly 2026-01 H200 spot median"
    ) and not _reasons(dropped, "monthly 2026-02")
    assert "misread" in _reasons(dropped, "2026-04-20 neocloud/A100") and "blank" in _reasons(
        dropped, "2026-07-16"
    )
    assert _reasons(dropped, "2026-03-13 neocloud/B200") == "repeats the column to its left"
    assert "a third away" in _reasons(dropped, "2026-09-29 B300 index 4.2") and not _reasons(
        dropped, "2026-09-29 H100 marketplace"
    )
    assert "stale listing" in _reasons(dropped, "MI300X marketplace") and "not a chip" in _reasons(
        dropped, "Z9"
    )


def test_every_figure_of_the_histories_is_taken_or_left_out_with_its_reason(raw):
    figures = {
        "MONTHLY": 3 + 4 + 1 + 2,
        "GIX": 2,
        "MCKEE": 18 + 1,
        "WYLUDA": 12,
    }  # a blank day counts as one
    found, dropped = sift(prices_history.rows(raw))
    assert len(found) + len(dropped) == sum(figures.values()) and all(
        drop.reason for drop in dropped
    )


def test_purchase_prices_keep_kinds_apart_and_none_goes_before_its_chip(raw):
    found, dropped = sift(
        prices_purchases.rows(
            raw,
            [
                {"name": "H100 SXM", "released": "2022-09-20"},
                {"name": "GB300", "released": "2025-03-18"},
            ],
        )
    )
    kinds = {
        (row["accelerator"], row["date"], row["kind"]): row["usd_per_accelerator"] for row in found
    }
    assert (
        kinds["H100 SXM", "2025-03-03", "system share"] == 46875
        and kinds["H100 PCIe", "2025-03-03", "street"] == 24500
    )
    assert (
        "H100 SXM",
        "2025-07-01",
        "estimate",
    ) in kinds and "before the chip was released in 2025" in _reasons(dropped, "GB300 2024")
    assert [row["price_ratio"] for row in prices_purchases.commitment_rows(raw)] == [0.45]


def test_a_price_that_nobody_can_ask_and_a_ratio_that_none_can_be_are_refused(raw):
    card = raw / prices_rates.EWYLUDA
    card.write_text(card.read_text().replace("55.04,6.88", "-55.04,-6.88"))
    with pytest.raises(RefreshError, match=r"a price of -6.88 USD/h; allowed: above 0"):
        list(prices.rows(raw))
    ratios = raw / prices_purchases.RATIOS
    ratios.write_text(ratios.read_text().replace("0.45", "1.45"))
    with pytest.raises(RefreshError, match=r"price_ratio '1.45' is not in 0..1"):
        list(prices_purchases.commitment_rows(raw))


# the whole


@pytest.fixture
def data(tmp_path, monkeypatch):
    folder = tmp_path / "data"
    folder.mkdir()
    for name in (
        "datapackage.json",
        "models.csv",
        "mlperf_benchmarks.csv",
        "mlperf_training_benchmarks.csv",
    ):
        shutil.copy(DATA / name, folder)
    others = (
        {"measured/energy", "measured/serving", "request_lengths", "api_prices"}
        | PLANET
        | TIMED
        | TRAINED
    )
    importers = {
        table: importer for table, importer in package.IMPORTERS.items() if table not in others
    }
    monkeypatch.setattr(package, "IMPORTERS", importers | {"models": package._BY_HAND})
    return folder


def _bytes(folder: Path) -> dict:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_second_refresh_changes_no_byte(raw, data):
    reports = {report.table: report for report in refresh(raw, data)}
    assert reports["rental_prices"].rows_out == 10 + 27 and "left out" in str(
        reports["rental_prices"]
    )
    first = _bytes(data)
    refresh(raw, data)
    assert _bytes(data) == first and not [name for name in first if name.endswith(".new")]


def test_a_fact_entered_by_hand_stays_and_wins(raw, data):
    refresh(raw, data)
    path = data / "accelerator_specs.csv"
    path.write_text(
        path.read_text()
        + "L40,dense_bf16_flops,1.8105e14,nvidia2022l40,by"
        " hand\nL40,idle_watts,20,driverreadings,\n".replace("\r", "")
    )
    text = path.read_text().replace("L40,dense_bf16_flops,1.81e14,epochhardware,\n", "")
    path.write_text(text)
    report = next(r for r in refresh(raw, data) if r.table == "accelerator_specs")
    assert (
        "L40,dense_bf16_flops,1.8105e14,nvidia2022l40,by hand" in path.read_text()
        and "L40,idle_watts,20" in path.read_text()
    )
    assert "by hand from nvidia2022l40, which agrees" in _reasons(
        report.dropped, "L40 / dense_bf16_flops"
    )


@pytest.mark.parametrize(
    "path, change, message",
    [
        (
            "gpu_prices/skypilot_catalog_extract.csv",
            None,
            "raw file gpu_prices/skypilot_catalog_extract.csv is missing",
        ),
        (
            "gpu_prices/skypilot_catalog_extract.csv",
            ("price_usd_hr", "price_eur_hr"),
            "unknown column 'price_eur_hr', missing column 'price_usd_hr'",
        ),
        ("gpu_prices/skypilot_catalog_extract.csv", ("23.60", "cheap"), "'cheap' is not a number"),
        (
            "gpu_prices/skypilot_catalog_extract.csv",
            ("23.60", "23.60,1"),
            "line 2 has 11 cells, expected 10",
        ),
        ("gpu_prices/gpuhunt_tpu_pricing.json", ("3.22", "3.22,"), "not valid JSON"),
        (
            "gpu_prices/gpuhunt_tpu_pricing.json",
            ("Spot (USD)", "Spot (EUR)"),
            "unknown field 'Spot (EUR)'",
        ),
        (
            "accelerator_specs/aiconfigurator_systems/l4.yaml",
            ("power", "watts"),
            "unknown field 'watts'",
        ),
        (
            "accelerator_specs/stas_memory_bw_shipping.csv",
            ("Intel Gaudi3", "Intel Gaudi9"),
            "unknown accelerator 'Intel Gaudi9'",
        ),
        (
            "epoch/ai_chip_counts/Nvidia_annual_prices.csv",
            ("H20 low", "H20 lowest"),
            "missing column 'H20 low'",
        ),
    ],
)
def test_raw_material_that_changed_its_form_stops_all_and_writes_nothing(
    raw, data, path, change, message
):
    refresh(raw, data)
    before, target = _bytes(data), raw / path
    if change is None:
        target.unlink()
    else:
        target.write_text(target.read_text().replace(*change, 1))
    with pytest.raises(RefreshError, match=message.replace("(", r"\(").replace(")", r"\)")):
        refresh(raw, data)
    assert _bytes(data) == before


def test_a_folder_that_is_not_there_is_named(data, tmp_path):
    with pytest.raises(RefreshError, match="nowhere does not exist"):
        refresh(tmp_path / "nowhere", data)


def test_numbers_are_the_shortest_text_that_reads_back_the_same():
    draw = random.Random(1)
    values = [draw.uniform(-1, 1) * 10 ** draw.randint(-6, 18) for _ in range(2000)] + [
        0.0,
        1e12,
        989e12,
        2**40,
        85899345920,
        -3.0,
    ]
    for value in values:
        assert float(number_text(value)) == value
    assert [cell_text(x) for x in (None, True, "a", 3, 0.1)] == ["", "true", "a", "3", "0.1"]


def test_rows_are_sorted_by_key_and_unknown_columns_refused():
    schema = {"fields": [{"name": "b"}, {"name": "a"}], "primaryKey": ["a"]}
    assert table_text([{"a": "2", "b": 1.0}, {"a": "1"}], schema) == "b,a\n,1\n1,2\n"
    with pytest.raises(RefreshError, match="columns that the schema lacks: c"):
        table_text([{"a": "1", "c": 1}], schema)


def test_of_two_raw_rows_the_first_stands_and_a_difference_is_told():
    rows, dropped = merge(
        [],
        [{"k": "x", "v": 1.0, "source": "p"}, {"k": "x", "v": 2.0, "source": "q"}],
        ("k",),
        {"p", "q"},
    )
    assert [row["v"] for row in rows] == [1.0] and dropped[
        0
    ].reason == "already taken from p, which differs in v: 1, not 2"


def test_a_column_given_twice_is_refused():
    with pytest.raises(RefreshError, match=r"demo: missing column 'b'|unknown|twice"):
        parse_csv("a,a\n1,2\n", "demo", ("a", "b"))
