"""Accelerator facts from the raw spec tables: which value is taken from where, and which is known to be wrong.

Order of trust: a fact entered by hand from a datasheet, then aiconfigurator's per-system files, then Epoch's
hardware sheet, then llm-analysis and the tool tables (mostly a cross-check). Figures from ml-engineering are
CC BY-SA and go into a table of their own, with only what no other source gives.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import yaml

from scaleright.press.refresh.known import (
    AICONFIGURATOR, CHIP_PRICES, EPOCH, EPOCH_OUT, LLM_ANALYSIS, QUOTED, STAS, STAS_OUT, TOOL_TABLES, WRONG,
)  # fmt: skip
from scaleright.press.refresh.tables import Dropped, RefreshError, Row, read_csv, read_text, to_float

SOURCES = frozenset({"aiconfigurator", "epochhardware", "epochprices", "epochchips", "llmanalysis", "tooltables"})
STAS_SOURCES = frozenset({"bekman2026"})

_AIC_GPU = {
    "mem_bw": ("memory_bytes_per_s",), "mem_capacity": ("memory_bytes",), "power": ("tdp_watts",),
    "float32_tc_flops": ("dense_fp32_flops",), "bfloat16_tc_flops": ("dense_bf16_flops", "dense_fp16_flops"),
    "int8_tc_flops": ("dense_int8_ops",), "fp8_tc_flops": ("dense_fp8_flops",), "fp4_tc_flops": ("dense_fp4_flops",),
}  # fmt: skip
_AIC_IGNORED = {"mem_bw_empirical_scaling_factor", "mem_empirical_constant_latency", "sm_version"}

_EPOCH_COLUMNS = {
    "FP32 (single precision) performance (FLOP/s)": ("dense_fp32_flops",),
    "TF32 (TensorFloat-32) performance (FLOP/s)": ("dense_tf32_flops",),
    "Tensor-FP16/BF16 performance (FLOP/s)": ("dense_bf16_flops", "dense_fp16_flops"),
    "FP8 performance (FLOP/s)": ("dense_fp8_flops",),
    "FP4 performance (FLOP/s)": ("dense_fp4_flops",),
    "INT8 performance (OP/s)": ("dense_int8_ops",),
    "INT4 performance (OP/s)": ("dense_int4_ops",),
    "Memory bandwidth (byte/s)": ("memory_bytes_per_s",),
    "TDP (W)": ("tdp_watts",),
}
_EPOCH_UNUSED = (
    "Hardware name", "Manufacturer", "Type", "Release date", "Release price (USD)",
    "FP16 (half precision) performance (FLOP/s)",
    "Memory size per board (Byte)", "Intranode bandwidth (byte/s)", "Internode bandwidth (bit/s)", "Die Size (mm^2)",
    "Process size (nm)", "Foundry", "Number of transistors (millions)", "Link to datasheet",
)  # fmt: skip


def split_wrong(rows: list[Row]) -> tuple[list[Row], list[Dropped]]:
    """Rows that stand, and those that `WRONG` names, with its reason.

    >>> rows = [{"accelerator": "A10", "quantity": "memory_bytes", "value": 28e9, "source": "llmanalysis"}]
    >>> split_wrong(rows)[1][0].reason
    '28 GB is wrong: an A10 has 24'
    """
    good, bad = [], []
    for row in rows:
        reason = WRONG.get((row["source"], row["accelerator"], row["quantity"]))
        name = f"{row['accelerator']} / {row['quantity']} ({row['source']})"
        bad.append(Dropped(name, reason)) if reason else good.append(row)
    return good, bad


def _fact(accelerator: str, quantity: str, value: float, source: str, note: str = "") -> Row:
    return {"accelerator": accelerator, "quantity": quantity, "value": value, "source": source, "note": note}


def rows(raw: Path) -> tuple[list[Row], list[Dropped]]:
    """Facts for `accelerator_specs` from every raw file, most trusted first, known-wrong ones dropped."""
    found, dropped = [], []
    for importer in (_aiconfigurator, _epoch, _llm_analysis, _tool_tables, _purchases):
        facts, out = importer(raw)
        good, wrong = split_wrong(facts)
        found += good
        dropped += out + wrong
    return found, dropped


def _aiconfigurator(raw: Path) -> tuple[list[Row], list[Dropped]]:
    facts, dropped = [], []
    for stem, chip in AICONFIGURATOR.items():
        path = raw / "accelerator_specs" / "aiconfigurator_systems" / f"{stem}.yaml"
        data = yaml.safe_load(read_text(path))
        unknown = sorted(set(data["gpu"]) - set(_AIC_GPU) - _AIC_IGNORED)
        if unknown:
            raise RefreshError(f"aiconfigurator_systems/{path.name}: unknown field {unknown[0]!r} under gpu")
        for field, quantities in _AIC_GPU.items():
            if field in data["gpu"]:
                facts += [_fact(chip, quantity, data["gpu"][field], "aiconfigurator") for quantity in quantities]
        node = data["node"]
        over_pcie = node["intra_node_bw"] < 250e9
        note = "over PCIe, no direct link between chips" if over_pcie else ""
        facts.append(_fact(chip, "scale_up_bytes_per_s", node["intra_node_bw"], "aiconfigurator", note))
        if over_pcie:  # the node and its network are the tool's guess, not a product
            label = f"{chip} / scale_out_bytes_per_s (aiconfigurator)"
            dropped.append(Dropped(label, "a placeholder: PCIe cards have no reference node"))
            continue
        chips = node.get("num_gpus_per_rack", node["num_gpus_per_node"])
        network = node.get("inter_rack_bw", node["inter_node_bw"])
        facts.append(_fact(chip, "scale_up_chips", chips, "aiconfigurator"))
        facts.append(_fact(chip, "scale_out_bytes_per_s", network, "aiconfigurator"))
    return facts, dropped


def _epoch(raw: Path) -> tuple[list[Row], list[Dropped]]:
    name, facts, dropped = "epoch/ml_hardware_ai_accelerators.csv", [], []
    for row in read_csv(raw / name, (*_EPOCH_COLUMNS, *_EPOCH_UNUSED)):
        model = row["Hardware name"]
        chip = EPOCH.get(model)
        if chip is None:
            reasons = (why for pattern, why in EPOCH_OUT if re.search(pattern, model))
            reason = next(reasons, "the generation is covered by its variants")
            dropped.append(Dropped(f"{model} (epochhardware)", reason))
            continue
        if row["Memory size per board (Byte)"]:
            label = f"{chip} / memory_bytes (epochhardware)"
            dropped.append(Dropped(label, "marketed decimal GB, not the bytes a program gets"))
        for column, quantities in _EPOCH_COLUMNS.items():
            value = to_float(row[column], name, model, column)
            facts += [_fact(chip, quantity, value, "epochhardware") for quantity in quantities if value is not None]
    return facts, dropped


def _llm_analysis(raw: Path) -> tuple[list[Row], list[Dropped]]:
    name, facts, dropped = "accelerator_specs/llm_analysis_gpu_configs.csv", [], []
    columns = ("config", "name", "mem_per_GPU_in_GB", "hbm_bandwidth_in_GB_per_sec",
               "intra_node_bandwidth_in_GB_per_sec", "intra_node_min_message_latency", "peak_fp16_TFLOPS",
               "peak_i8_TFLOPS", "peak_i4_TFLOPS",
               "inter_node_bandwidth_in_GB_per_sec")  # fmt: skip
    for row in read_csv(raw / name, columns):
        chip = LLM_ANALYSIS.get(row["name"])
        if chip is None:
            dropped.append(Dropped(f"{row['name']} (llmanalysis)", "a variant outside the set of this book"))
            continue

        def add(column: str, quantity: str, scale: float) -> None:
            value = to_float(row[column], name, row["name"], column)
            if value:
                facts.append(_fact(chip, quantity, value * scale, "llmanalysis"))

        add("mem_per_GPU_in_GB", "memory_bytes", 2**30)
        add("hbm_bandwidth_in_GB_per_sec", "memory_bytes_per_s", 1e9)
        add("peak_fp16_TFLOPS", "dense_fp16_flops", 1e12)
        if chip.startswith("MI"):
            label = f"{chip} / integer rates (llmanalysis)"
            dropped.append(Dropped(label, "assumed as multiples of FP16; CDNA 2 runs INT8 at the FP16 rate"))
            continue
        add("peak_i8_TFLOPS", "dense_int8_ops", 1e12)
        if chip.startswith("H100"):
            dropped.append(Dropped(f"{chip} / dense_int4_ops (llmanalysis)", "Hopper has no INT4 tensor rate"))
        else:
            add("peak_i4_TFLOPS", "dense_int4_ops", 1e12)
    return facts, dropped


def _tool_tables(raw: Path) -> tuple[list[Row], list[Dropped]]:
    name, facts, dropped = "accelerator_specs/tool_spec_tables_compared.csv", [], []
    columns = ("source", "accelerator", "bf16_or_headline_tflops", "mem_gb", "mem_bw_gb_s", "interconnect_gb_s",
               "dense_or_sparse")  # fmt: skip
    for row in read_csv(raw / name, columns):
        chip = TOOL_TABLES.get(row["accelerator"])
        label = f"{row['source'].split()[0]} {row['accelerator']} (tooltables)"
        if row["dense_or_sparse"].startswith("SPARSE"):
            dropped.append(Dropped(label, f"throughput with 2:4 sparsity: {row['dense_or_sparse']}"))
        elif chip is None:
            dropped.append(Dropped(label, "a variant outside the set of this book"))
        else:
            flops = to_float(row["bf16_or_headline_tflops"], name, label, "bf16_or_headline_tflops")
            quantity = "dense_fp16_flops" if chip.startswith("V100") else "dense_bf16_flops"
            facts.append(_fact(chip, quantity, flops * 1e12, "tooltables"))
            speed = to_float(row["mem_bw_gb_s"], name, label, "mem_bw_gb_s")
            facts.append(_fact(chip, "memory_bytes_per_s", speed * 1e9, "tooltables"))
    return facts, dropped


_PRICE_COLUMNS = (
    "Price source", "Price date", "Hardware model", "Manufacturer", "Vendor", "Location",
    "Price per chip-hour (on-demand)", "Price per chip-hour (1-year CUD)", "Price per chip-hour (3-year CUD)",
    "Price (hardware purchase)", "Notes", "Cloud GPU description", "Number of GPUs",
)  # fmt: skip
_RECENT = "2024-01-01"


def hardware_prices(raw: Path) -> list[Row]:
    """Rows of Epoch's sheet of purchase and cloud prices."""
    return read_csv(raw / "epoch/hardware_prices.csv", _PRICE_COLUMNS)


def _purchases(raw: Path) -> tuple[list[Row], list[Dropped]]:
    """Lowest and highest price of a card or module: recent single-unit quotes, and Epoch's yearly chip prices."""
    offers, dropped = {}, []
    for row in hardware_prices(raw):
        text, model, date = row["Price (hardware purchase)"], row["Hardware model"], row["Price date"]
        label = f"{model} {date} {text} (epochprices)"
        if not text or model not in QUOTED:
            continue
        if date < _RECENT:
            dropped.append(Dropped(label, f"quoted before {_RECENT[:4]}"))
        elif not (board := re.search(r"baseboard|-oam-ubb", row["Price source"])) and _is_server(row):
            dropped.append(Dropped(label, "a whole server divided by its GPUs: carries host and margin"))
        elif model == "NVIDIA Tesla V100 PCIe 16 GB":
            dropped.append(Dropped(label, "new old stock of a discontinued part at more than its launch price"))
        else:
            chip = "H100 NVL" if "94" in row["Cloud GPU description"] else QUOTED[model]
            price = to_float(text, "epoch/hardware_prices.csv", model, "price")
            kind = "share of a board of eight" if board else "single-unit quote"
            offers.setdefault(chip, []).append((price, f"{kind}, {date}", "epochprices"))
    for chip, low, high, year in _yearly(raw):
        note = f"estimated average price, {year}"
        offers.setdefault(chip, []).extend([(low, note, "epochchips"), (high, note, "epochchips")])
    facts = []
    for chip, quotes in offers.items():
        for quantity, (price, note, source) in (("purchase_low_usd", min(quotes)), ("purchase_high_usd", max(quotes))):
            facts.append(_fact(chip, quantity, price, source, note))
    return facts, dropped


def _is_server(row: Row) -> bool:
    return bool(re.search(r"DGX|HGX|not a real sale|/ ?8|8x? GPU", row["Notes"]) or row["Number of GPUs"] == "8")


def _yearly(raw: Path) -> list[tuple[str, float, float, str]]:
    """Latest (chip, low, high, year) of Epoch's yearly NVIDIA prices; the header repeats names: read by position."""
    name = "epoch/ai_chip_counts/Nvidia_annual_prices.csv"
    lines = [line for line in csv.reader(read_text(raw / name).splitlines()) if line]
    header, last = lines[0], max(lines[1:], key=lambda cells: cells[0])
    out = []
    for family, chips in CHIP_PRICES.items():
        try:
            low, high = header.index(f"{family} low"), header.index(f"{family} high")
        except ValueError:
            raise RefreshError(f"{name}: missing column '{family} low' or '{family} high'") from None
        bounds = [to_float(last[i], name, last[0], header[i]) for i in (low, high)]
        out += [(chip, *bounds, last[0]) for chip in chips]
    return out


def stas_rows(raw: Path, known: dict[tuple[str, str], Row]) -> tuple[list[Row], list[Dropped]]:
    """Figures of ml-engineering (CC BY-SA) that the main table lacks, with its matmul measurements.

    The others serve as a cross-check: each is reported as dropped, with whether it agrees.
    """
    facts, dropped = [], []
    for row in _stas_facts(raw):
        winner = known.get((row["accelerator"], row["quantity"]))
        if winner is None:
            facts.append(row)
            continue
        value, other = float(winner["value"]), row["value"]
        verdict = "agrees" if abs(value - other) <= 5e-3 * other else f"differs: {value:.4g}, not {other:.4g}"
        label = f"{row['accelerator']} / {row['quantity']} (bekman2026)"
        dropped.append(Dropped(label, f"the main table has it from {winner['source']}, which {verdict}"))
    good, wrong = split_wrong(facts)
    return good, dropped + wrong


_STAS_RATES = {
    "fp32": "dense_fp32_flops", "tf32": "dense_tf32_flops", "fp16": "dense_fp16_flops", "bf16": "dense_bf16_flops",
    "fp8": "dense_fp8_flops", "int8": "dense_int8_ops", "fp6": "dense_fp6_flops", "nvfp4": "dense_fp4_flops",
    "fp4": "dense_fp4_flops",
}  # fmt: skip
_STAS_MAMF = ("Accelerator", "MAMF", "Theory", "Efficiency", "Best Shape MxNxK", "torch version", "Notes")


def _stas_facts(raw: Path) -> list[Row]:
    folder, facts = raw / "accelerator_specs", {}

    def add(name: str, quantity: str, value: float | None, note: str = "") -> None:
        if value is None:
            return
        if name in STAS_OUT:
            return
        if name not in STAS:
            raise RefreshError(f"ml-engineering tables: unknown accelerator {name!r}; add it to `known`, in or out")
        facts.setdefault((STAS[name], quantity), _fact(STAS[name], quantity, value, "bekman2026", note))

    for kind in ("bf16", "fp8"):
        path = f"stas_mamf_measured_{kind}.csv"
        for row in read_csv(folder / path, _STAS_MAMF):
            value = to_float(row["MAMF"], path, row["Accelerator"], "MAMF")
            note = f"best of many shapes ({row['Best Shape MxNxK']}), torch {row['torch version']}"
            note += f"; {row['Notes']}" if row["Notes"] else ""
            quantity, flops = f"measured_{kind}_matmul_flops", value and value * 1e12
            add(row["Accelerator"], quantity, flops, note)
            if "H200 is the same" in row["Notes"]:
                add("NVIDIA H200 SXM", quantity, flops, f"as H100 SXM, says the source; {note}")
    for end in ("shipping", "announced"):
        path = f"stas_dense_tflops_{end}.csv"
        for row in read_csv(folder / path, ("Accelerator \\ TFLOPS", *_STAS_RATES, "Notes")):
            name = row["Accelerator \\ TFLOPS"]
            for column, quantity in _STAS_RATES.items():
                value = to_float(row[column], path, name, column)
                add(name, quantity, value and value * 1e12)
        path = f"stas_memory_bw_{end}.csv"
        for row in read_csv(folder / path, ("Accelerator", "Memory (GB)", "Type", "Peak Bandwidth (TBps)")):
            size = to_float(row["Memory (GB)"], path, row["Accelerator"], "Memory (GB)")
            speed = to_float(row["Peak Bandwidth (TBps)"], path, row["Accelerator"], "Peak Bandwidth (TBps)")
            note = "marketed size, read as GiB: the stacks are built in powers of two"
            add(row["Accelerator"], "memory_bytes", size and size * 2**30, note)
            add(row["Accelerator"], "memory_bytes_per_s", speed and speed * 1e12)
    for row in read_csv(folder / "stas_power_spec.csv", ("Accelerator", "Power<br>spec (W)", "Vendor term", "Notes")):
        watts = to_float(row["Power<br>spec (W)"], "stas_power_spec.csv", row["Accelerator"], "Power")
        if watts is not None:
            add(row["Accelerator"], "tdp_watts", watts, row["Vendor term"])
    return list(facts.values())
