"""A raw folder for tests of the refresh: one or two rows a file, in the form of the public ones."""

import csv
import json
from pathlib import Path

from refresh import (
    accelerators,
    mlperf_inference,
    mlperf_training,
    prices_history,
    prices_purchases,
)
from refresh.rules import header, kept


def write_csv(path: Path, columns, *rows: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(columns), restval="")
        writer.writeheader()
        writer.writerows(rows)


def _cells(names: str) -> list[str]:
    return names.split(",")


def _row(columns, *cells) -> dict:
    return dict(zip(columns, cells, strict=True))


_LLM = _cells(
    "config,name,mem_per_GPU_in_GB,hbm_bandwidth_in_GB_per_sec,"
    "intra_node_bandwidth_in_GB_per_sec,intra_node_min_message_latency,peak_fp16_TFLOPS,"
    "peak_i8_TFLOPS,peak_i4_TFLOPS,inter_node_bandwidth_in_GB_per_sec"
)
_TOOL = _cells(
    "source,accelerator,bf16_or_headline_tflops,mem_gb,mem_bw_gb_s,interconnect_gb_s,"
    "dense_or_sparse"
)
_MAMF = _cells("Accelerator,MAMF,Theory,Efficiency,Best Shape MxNxK,torch version,Notes")
_TFLOPS = _cells("Accelerator \\ TFLOPS,fp32,tf32,fp16,bf16,fp8,int8,fp6,fp4,nvfp4,Notes")
_BW = _cells("Accelerator,Memory (GB),Type,Peak Bandwidth (TBps)")
_EWYLUDA = _cells(
    "date,provider,segment,pricing,gpu_model,sku,region,gpu_count,usd_per_hour,usd_per_gpu_hour"
)
_SKYPILOT = _cells(
    "cloud,catalog,accelerator,count,vcpus,mem_gib,price_usd_hr,spot_usd_hr,region,usd_per_gpu_hr"
)
_VANTAGE = _cells(
    "Name,API Name,GPUs,GPU model,GPU memory,vCPUs,Instance Memory,Network Performance,"
    "On Demand,Linux Reserved cost,Linux Spot Minimum cost,Linux Spot Maximum cost"
)

_MONTHLY = _cells(
    "period,gpu,index_value_usd_per_gpu_hr,provider_count,min_provider_value,"
    "max_provider_value,raw_on_demand_median,reserved_raw_median,spot_raw_median,"
    "provider_values"
)
_MCKEE = _cells(
    "date,hyperscaler-H100,hyperscaler-A100,neocloud-H100,neocloud-A100,neocloud-B200,"
    "neocloud-MI300X"
)


def card(provider, model, count, whole, each, sku="x") -> dict:
    kind = ("neocloud", "on_demand")
    cells = ("2026-09-29", provider, *kind, model, sku, "global", count, whole, each)
    return _row(_EWYLUDA, *cells)


def quote(model, date, **cells) -> dict:
    return {"Hardware model": model, "Price date": date, **cells}


def _write_systems(root: Path) -> None:
    """Files of aiconfigurator, one a chip."""
    specs = root / "accelerator_specs"
    (specs / "aiconfigurator_systems").mkdir(parents=True)
    for stem in kept(accelerators.SYSTEMS, "accelerator"):
        link, network = (
            (900000000000, 100000000000) if "b200" in stem else (32000000000, 25000000000)
        )
        text = (
            "gpu:\n  mem_bw: 3000000000000\n  mem_capacity: 85899345920\n  bfloat16_tc_flops:"
            " 900000000000000\n  fp8_tc_flops: 1800000000000000\n  power: 700\n"
        )
        node = (
            f"node:\n  num_gpus_per_node: 8\n  inter_node_bw: {network}\n  intra_node_bw: {link}\n"
        )
        (specs / "aiconfigurator_systems" / f"{stem}.yaml").write_text(text + node)


def _write_sheets(root: Path) -> None:
    """Tables with one chip a row."""
    specs = root / "accelerator_specs"
    tensor, memory = "Tensor-FP16/BF16 performance (FLOP/s)", "Memory size per board (Byte)"
    write_csv(
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
    write_csv(
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
    write_csv(
        specs / "tool_spec_tables_compared.csv",
        _TOOL,
        _row(_TOOL, "GenZ @1", "GH200", 1979, 144, 4900, 450, "SPARSE bf16"),
        _row(_TOOL, "GenZ @1", "Gaudi3", 1835, 128, 3675, 300, "early"),
    )


def _write_quotes(root: Path) -> None:
    """Prices at which chips were bought or rented, and their yearly estimates."""
    write_csv(
        root / "epoch/hardware_prices.csv",
        header(accelerators.QUOTES),
        quote("NVIDIA H100 PCIe", "2025-03-03", **{"Price (hardware purchase)": "$24,500.00"}),
        quote("NVIDIA H100 PCIe", "2019-03-03", **{"Price (hardware purchase)": "1"}),
        quote(
            "NVIDIA H100 SXM5 80GB",
            "2025-03-03",
            **{
                "Price (hardware purchase)": "46875",
                "Notes": "$375,000.00 / 8",
                "Number of GPUs": "8",
            },
        ),
        quote(
            "NVIDIA GeForce RTX 4090",
            "2025-03-03",
            Vendor="Salad",
            **{"Price per chip-hour (on-demand)": "0.20"},
        ),
        quote(
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
        "2024,9000,19000,,23000,30000,25000,40000,25000,40000,8000,13000\n"
        "2025,10000,15000,,20000,27000,30000,45000,30000,45000,9000,12000"
    )


def _write_rates(root: Path) -> None:
    """Rate cards of clouds."""
    write_csv(
        root / "gpu_prices/ewyluda_ratecards_2026-09-29_selected.csv",
        _EWYLUDA,
        card("AWS", "H100", 8, 55.04, 6.88),
        card("RunPod Community Cloud", "MI300X", 1, 0.5, 0.5),
        card("Node Cloud", "H100", 8, 24, 24),
        card("Vast.ai", "A100-40GB", 1, 0.68, 0.68, "median-offer (n=3)"),
        card("AWS", "Z9", 1, 1, 1),
    )
    write_csv(
        root / "gpu_prices/skypilot_catalog_extract.csv",
        _SKYPILOT,
        _row(_SKYPILOT, *_cells("nebius,v8,H100-SXM,8,128,1600,23.60,10.00,eu-north1,2.95")),
    )
    pod = {"Location": "Oklahoma", "On Demand (USD)": 3.22, "Spot (USD)": 3.686}
    tpus = json.dumps({"TPU v4 pod": {"us-central2": pod}})
    (root / "gpu_prices/gpuhunt_tpu_pricing.json").write_text(tpus)
    write_csv(
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


def _write_history(root: Path) -> None:
    """Rents over time."""
    _write_index(root)
    write_csv(
        root / prices_history.GIX,
        ("date", "gpu", "usd_per_gpu_hr"),
        *({"date": f"2026-09-0{day}", "gpu": "H100", "usd_per_gpu_hr": 3.1} for day in (1, 2)),
    )
    write_csv(
        root / prices_history.MCKEE,
        _MCKEE,
        _row(_MCKEE, "2026-03-12", 7.43, 3.68, 2.46, 1.39, 4.61, 2.45),
        _row(_MCKEE, "2026-03-13", 7.43, 3.68, 2.45, 1.4, 1.4, 2.45),
        _row(_MCKEE, "2026-04-20", 7.43, 7.43, 7.43, 3.69, 1.0, 1.0),
        _row(_MCKEE, "2026-07-16", *[""] * 6),
    )
    _write_daily(root)


def _write_index(root: Path) -> None:
    """A chip's price of two months, with the providers behind it."""
    of_three = "lambda=3.0;nebius=3.5;runpod=4.0"
    write_csv(
        root / prices_history.MONTHLY,
        _MONTHLY,
        _row(_MONTHLY, "2026-01", "H200", 3.5, 3, 3, 4, 3.6, 3.7, 0.5, of_three),
        _row(_MONTHLY, "2026-02", "H200", "", 1, 3, 3, 3.6, "", 3.0, "lambda=3.0"),
    )


def _write_daily(root: Path) -> None:
    """Prices of three days, of rate cards and of marketplaces."""
    series_of = {
        ("B300", "index"): (7.89, 4.2, 7.89),
        ("H100", "marketplace"): (2.48, 3.14, 2.5),
        ("MI300X", "marketplace"): (0.5, 0.5, 0.5),
        ("Z9", "index"): (1, 1, 1),
    }
    columns = ("date", "gpu_model", "series", "usd_per_gpu_hour")
    write_csv(
        root / prices_history.WYLUDA,
        columns,
        *(
            _row(columns, f"2026-09-{day}", chip, series, price)
            for (chip, series), prices in series_of.items()
            for day, price in zip((28, 29, 30), prices, strict=True)
        ),
    )


def _write_stas(root: Path) -> None:
    """Ratios of commitments, and the tables of ml-engineering."""
    specs = root / "accelerator_specs"
    of = ("vendor", "tenor_years", "price_ratio", "as_of", "note")
    write_csv(root / prices_purchases.RATIOS, of, _row(of, "gcp", 3, 0.45, "2026-08-27", "CUD"))
    write_csv(
        specs / "stas_mamf_measured_bf16.csv",
        _MAMF,
        _row(_MAMF, "NVIDIA H100 SXM", 794.5, 989, "80.3%", "1x1x1", "2.7", "H200 is the same"),
    )
    write_csv(specs / "stas_mamf_measured_fp8.csv", _MAMF, {"Accelerator": "AMD MI300X"})
    write_csv(
        specs / "stas_dense_tflops_shipping.csv",
        _TFLOPS,
        {_TFLOPS[0]: "NVIDIA GB300 SXM", "int8": 5000, "fp32": 80, "bf16": "?"},
    )
    write_csv(specs / "stas_dense_tflops_announced.csv", _TFLOPS)
    write_csv(
        specs / "stas_memory_bw_shipping.csv", _BW, _row(_BW, "Intel Gaudi3", 128, "HBM2e", 3.7)
    )
    write_csv(specs / "stas_memory_bw_announced.csv", _BW)
    write_csv(
        specs / "stas_power_spec.csv",
        ("Accelerator", "Power<br>spec (W)", "Vendor term", "Notes"),
        {"Accelerator": "Google TPUs", "Power<br>spec (W)": "N/A"},
    )


def _write_mlperf(root: Path) -> None:
    """One result each of MLPerf Training and Inference."""
    write_csv(
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
        write_csv(
            root / file,
            header(file),
            *([result] if file in (mlperf_inference.FILES[-1], mlperf_inference.POWER) else []),
        )


def write_raw(root: Path) -> Path:
    """Write the raw files of chips, prices and MLPerf."""
    _write_systems(root)
    _write_sheets(root)
    _write_quotes(root)
    _write_rates(root)
    _write_history(root)
    _write_stas(root)
    _write_mlperf(root)
    return root
