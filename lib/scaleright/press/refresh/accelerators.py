"""Accelerator facts from the raw spec tables: which value is taken from where, and which is known to be wrong.

Order of trust: a fact entered by hand from a datasheet, then aiconfigurator's per-system files, then Epoch's
hardware sheet, then llm-analysis and the tool tables (mostly a cross-check). Figures from ml-engineering are
CC BY-SA and go into a table of their own, with only what no other source gives.
"""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from scaleright.press.refresh.tables import Dropped, RefreshError, Row, read_csv, read_text, to_float

SOURCES = frozenset({"aiconfigurator", "epochhardware", "epochprices", "epochchips", "llmanalysis", "tooltables"})
STAS_SOURCES = frozenset({"bekman2026"})

AICONFIGURATOR = {
    "a100_pcie": "A100 PCIe 80GB", "a100_sxm": "A100 SXM 80GB", "a30": "A30", "b200_sxm": "B200", "b300_sxm": "B300",
    "b60": "Arc Pro B60", "gb200": "GB200", "gb300": "GB300", "h100_pcie": "H100 PCIe", "h100_sxm": "H100 SXM",
    "h200_sxm": "H200 SXM", "l4": "L4", "l40s": "L40S", "rtx_pro_6000_server": "RTX PRO 6000",
}  # fmt: skip
_AIC_GPU = {
    "mem_bw": ("memory_bytes_per_s",), "mem_capacity": ("memory_bytes",), "power": ("tdp_watts",),
    "float32_tc_flops": ("dense_fp32_flops",), "bfloat16_tc_flops": ("dense_bf16_flops", "dense_fp16_flops"),
    "int8_tc_flops": ("dense_int8_ops",), "fp8_tc_flops": ("dense_fp8_flops",), "fp4_tc_flops": ("dense_fp4_flops",),
}  # fmt: skip
_AIC_IGNORED = {"mem_bw_empirical_scaling_factor", "mem_empirical_constant_latency", "sm_version"}

EPOCH = {
    "NVIDIA B300": "B300", "Google TPU v7 Ironwood": "TPU v7", "Amazon Trainium2": "Trainium2", "NVIDIA H200 SXM": "H200 SXM",
    "AMD Instinct MI325X": "MI325X", "Intel Habana Gaudi3": "Gaudi 3", "NVIDIA GB200 NVL2": "GB200",
    "Google TPU v6e Trillium": "TPU v6e", "NVIDIA B200": "B200", "AMD Instinct MI300X": "MI300X", "Google TPU v5p": "TPU v5p",
    "NVIDIA HGX H20": "H20", "NVIDIA L20 PCle": "L20", "Google TPU v5e": "TPU v5e", "NVIDIA GH200": "GH200",
    "AWS Inferentia2": "Inferentia2", "NVIDIA H800 SXM5": "H800 SXM", "NVIDIA L4": "L4", "AMD Instinct MI300A": "MI300A",
    "NVIDIA A800 PCIe 80 GB": "A800 PCIe 80GB", "NVIDIA L40": "L40", "NVIDIA GeForce RTX 4090": "RTX 4090",
    "NVIDIA H100 PCIe": "H100 PCIe", "NVIDIA H100 SXM5 80GB": "H100 SXM", "NVIDIA A800 SXM": "A800 SXM 80GB",
    "Intel Habana Gaudi2": "Gaudi 2", "AMD Radeon Instinct MI250": "MI250", "AMD Radeon Instinct MI250X": "MI250X",
    "NVIDIA GeForce RTX 3080 Ti": "RTX 3080 Ti", "Google TPU v4": "TPU v4", "NVIDIA A10 PCIe": "A10", "NVIDIA A30 PCIe": "A30",
    "NVIDIA A100 SXM4 80 GB": "A100 SXM 80GB", "NVIDIA A40 PCIe": "A40", "NVIDIA GeForce RTX 3090": "RTX 3090",
    "NVIDIA A100 PCIe": "A100 PCIe 80GB", "NVIDIA A100 SXM4 40 GB": "A100 SXM 40GB", "Google TPU v3": "TPU v3",
    "NVIDIA Tesla V100 PCIe 32 GB": "V100 PCIe 32GB", "NVIDIA Tesla V100 SXM2 32 GB": "V100 SXM 32GB",
    "NVIDIA Tesla V100 PCIe 16 GB": "V100 PCIe 16GB", "NVIDIA Tesla V100 SXM2 16 GB": "V100 SXM 16GB",
    "Google TPU v2": "TPU v2",
}  # fmt: skip
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
    "Hardware name", "Manufacturer", "Type", "Release date", "Release price (USD)", "FP16 (half precision) performance (FLOP/s)",
    "Memory size per board (Byte)", "Intranode bandwidth (byte/s)", "Internode bandwidth (bit/s)", "Die Size (mm^2)",
    "Process size (nm)", "Foundry", "Number of transistors (millions)", "Link to datasheet",
)  # fmt: skip
_EPOCH_OUT = (  # why a chip of Epoch's sheet is not in this book's tables
    (r"^Apple|MTT|Kunlun|Cambricon|MLU|Biren|MetaX|Tianshu|Hanguang|Ascend|Sunrise", "not sold as a data-center accelerator outside one home market, or no bandwidth or power published"),
    (r"Cerebras|Groq|Dojo|MTIA|Maia", "not on the market as a chip, or its working memory is on-chip SRAM, which the cost models do not describe"),
    (r"GeForce|Tesla P4|A16|L2 |V100S|DGXS|SXM3|TPU v4i|B100|GH100|A800 PCIe 40|Max 1", "a variant outside the set of this book"),
)  # fmt: skip

LLM_ANALYSIS = {
    "a10-pcie-28gb": "A10", "a10g-pcie-24gb": "A10G", "a6000-48gb": "RTX A6000", "a100-pcie-40gb": "A100 PCIe 40GB",
    "a100-pcie-80gb": "A100 PCIe 80GB", "a100-sxm-40gb": "A100 SXM 40GB", "a100-sxm-80gb": "A100 SXM 80GB",
    "h100-pcie-80gb": "H100 PCIe", "h100-sxm-80gb": "H100 SXM", "mi100-32gb": "MI100", "mi210-64gb": "MI210",
    "mi250-128gb": "MI250", "mi250x-128gb": "MI250X", "v100-pcie-16gb": "V100 PCIe 16GB", "v100-pcie-32gb": "V100 PCIe 32GB",
    "v100-sxm-16gb": "V100 SXM 16GB", "v100-sxm-32gb": "V100 SXM 32GB",
}  # fmt: skip
TOOL_TABLES = {
    "A100_40GB": "A100 SXM 40GB", "A100_80GB": "A100 SXM 80GB", "H100": "H100 SXM", "GH200": "GH200 144GB", "GB200": "GB200",
    "TPUv6e": "TPU v6e", "TPUv5e": "TPU v5e", "TPUv5p": "TPU v5p", "TPUv4": "TPU v4", "MI300X": "MI300X", "MI325X": "MI325X",
    "Gaudi3": "Gaudi 3", "V100": "V100 PCIe 16GB", "A6000": "RTX A6000", "A100_40G": "A100 SXM 40GB",
    "A100_80G": "A100 SXM 80GB", "A40": "A40", "H100_SXM": "H100 SXM", "H100_PCIe": "H100 PCIe", "L40": "L40",
    "TPU v3": "TPU v3", "TPU v4p": "TPU v4", "TPU v5p": "TPU v5p", "TPU v5e": "TPU v5e", "TPU v6e": "TPU v6e",
}  # fmt: skip
STAS = {
    "NVIDIA GB300 SXM": "GB300", "NVIDIA GB200 SXM": "GB200", "AMD MI355X": "MI355X", "Google TPU v7x": "TPU v7",
    "NVIDIA B300 SXM": "B300", "NVIDIA B200 SXM": "B200", "Intel Gaudi3": "Gaudi 3", "Intel Gaudi 3": "Gaudi 3",
    "AMD MI325X": "MI325X", "AMD MI300X": "MI300X", "NVIDIA H200 SXM": "H200 SXM", "NVIDIA H100 SXM": "H100 SXM",
    "NVIDIA GH200 SXM": "GH200 144GB", "NVIDIA GH200 SXM (1)": "GH200", "NVIDIA GH200 SXM (2)": "GH200 144GB",
    "Google TPU v6e": "TPU v6e", "NVIDIA H100 PCIe": "H100 PCIe", "AWS Trainium2 / Ultra": "Trainium2",
    "Google TPU v5p": "TPU v5p", "Intel Gaudi2": "Gaudi 2", "Intel Gaudi 2": "Gaudi 2", "AMD MI250X": "MI250X",
    "NVIDIA L40S": "L40S", "AMD MI250": "MI250", "NVIDIA A100 SXM": "A100 SXM 80GB", "NVIDIA A100 PCIe": "A100 PCIe 80GB",
    "Google TPU v4": "TPU v4", "Google TPU v5e": "TPU v5e", "AMD MI455X": "MI455X", "NVIDIA Rubin SXM": "Rubin",
    "Huawei Ascend 950DT": "Ascend 950DT", "AMD MI350X": "MI350X", "NVIDIA H200 NVL": "H200 NVL",
    "NVIDIA RTX PRO 6000": "RTX PRO 6000", "NVIDIA H100 NVL": "H100 NVL",
}  # fmt: skip
STAS_OUT = {"AMD MI350P": "only its power is given", "Google TPUs": "no figure given"}

_FP16_ACCUMULATE = "the figure accumulates in FP16; with FP32 accumulate GeForce chips run at half of it"
WRONG = {  # (source, accelerator, quantity): why this value is not taken
    ("aiconfigurator", "B200", "scale_out_bytes_per_s"): "100 GB/s is twice the 400 Gb/s a DGX B200 gives each GPU",
    ("aiconfigurator", "GB200", "scale_out_bytes_per_s"): "the GB200 NVL72 has one 400 Gb/s ConnectX-7 a GPU; 800 Gb/s came with GB300",
    ("aiconfigurator", "Arc Pro B60", "dense_fp8_flops"): "the chip has no FP8 matrix unit; the file repeats the BF16 figure",
    ("aiconfigurator", "L4", "memory_bytes"): "24 GiB is the fitted memory; ECC leaves 23,034 MiB",
    ("aiconfigurator", "H200 SXM", "memory_bytes"): "141 read as GiB; the driver reports 143,771 MiB",
    ("aiconfigurator", "B200", "memory_bytes"): "180 read as GiB; the driver reports 183,359 MiB",
    ("epochhardware", "B300", "tdp_watts"): "1,750 W is a share of the whole DGX; the chip is configurable to 1,100 W",
    ("epochhardware", "GB200", "memory_bytes_per_s"): "the NVL2 row pairs one GPU's FLOPS with two GPUs' memory",
    ("epochhardware", "B200", "dense_int4_ops"): "the figure is FP4; Blackwell has no INT4 tensor rate",
    ("epochhardware", "B200", "dense_fp32_flops"): "62 TFLOPS is an early figure; the datasheet states 75",
    ("epochhardware", "RTX 4090", "dense_bf16_flops"): _FP16_ACCUMULATE,
    ("epochhardware", "RTX 4090", "dense_fp16_flops"): _FP16_ACCUMULATE,
    ("epochhardware", "RTX 3080 Ti", "dense_bf16_flops"): _FP16_ACCUMULATE,
    ("epochhardware", "RTX 3080 Ti", "dense_fp16_flops"): _FP16_ACCUMULATE,
    ("epochhardware", "Gaudi 2", "dense_bf16_flops"): "450 TFLOPS is not Intel's figure; it states 432",
    ("epochhardware", "Gaudi 2", "dense_fp16_flops"): "450 TFLOPS is not Intel's figure; it states 432",
    ("epochhardware", "Gaudi 3", "dense_fp32_flops"): "14 TFLOPS is the vector unit; the matrix unit gives 229",
    ("epochhardware", "Gaudi 3", "dense_fp16_flops"): "the figure is BF16; FP16 runs at 459 TFLOPS",
    ("epochhardware", "GH200", "memory_bytes_per_s"): "4.9 TB/s is the 144 GB version; this is the 96 GB one",
    ("epochhardware", "GB200", "dense_fp32_flops"): "90 TFLOPS is half of an NVL2 board; the NVL72 datasheet gives 80 a GPU",
    ("epochhardware", "MI250", "dense_tf32_flops"): "CDNA 2 has no TF32; 90.5 TFLOPS is packed FP32 on the matrix unit",
    ("epochhardware", "MI250X", "dense_tf32_flops"): "CDNA 2 has no TF32; 95.7 TFLOPS is packed FP32 on the matrix unit",
    ("llmanalysis", "A10", "memory_bytes"): "28 GB is wrong: an A10 has 24",
    ("llmanalysis", "V100 SXM 16GB", "memory_bytes"): "32 GB is wrong: this is the 16 GB part",
    ("tooltables", "Gaudi 3", "dense_bf16_flops"): "1,835 TFLOPS is early marketing; the shipping part gives 1,677",
    ("tooltables", "H100 SXM", "memory_bytes_per_s"): "3,072 GB/s is too low and 3,400 rounded; the datasheet states 3,350",
    ("bekman2026", "B300", "dense_int8_ops"): "the chip cuts INT8 to about 154 TOPS; 4,500 is B200's",
    ("bekman2026", "GB300", "dense_int8_ops"): "the chip cuts INT8 to about 165 TOPS; 5,000 is GB200's",
    ("bekman2026", "B200", "dense_fp4_flops"): "the table gives 9,000 and 10,000; one datasheet is taken (9,000)",
    ("bekman2026", "B300", "dense_fp4_flops"): "12,600 and 15,000 contradict the datasheet",
    ("bekman2026", "TPU v6e", "dense_fp8_flops"): "emulated at the BF16 rate",
    **{("epochhardware", f"V100 {form} {size}GB", "dense_bf16_flops"): "Volta has no BF16; the column holds FP16 here"
       for form in ("SXM", "PCIe") for size in (16, 32)},
    **{("epochhardware", f"TPU {version}", "dense_fp16_flops"): "TPUs multiply BF16, not FP16"
       for version in ("v2", "v3", "v4", "v5e", "v5p", "v6e")},
    **{("bekman2026", f"TPU {version}", "dense_fp16_flops"): "TPUs multiply BF16, not FP16" for version in ("v6e", "v7")},
}  # fmt: skip


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
            facts += [_fact(chip, quantity, data["gpu"][field], "aiconfigurator") for quantity in quantities if field in data["gpu"]]
        node = data["node"]
        if node["intra_node_bw"] < 250e9:  # PCIe cards: the node and its network are the tool's guess, not a product
            facts.append(_fact(chip, "scale_up_bytes_per_s", node["intra_node_bw"], "aiconfigurator", "over PCIe, no direct link between chips"))
            dropped.append(Dropped(f"{chip} / scale_out_bytes_per_s (aiconfigurator)", "a placeholder: PCIe cards have no reference node"))
            continue
        facts.append(_fact(chip, "scale_up_bytes_per_s", node["intra_node_bw"], "aiconfigurator"))
        facts.append(_fact(chip, "scale_up_chips", node.get("num_gpus_per_rack", node["num_gpus_per_node"]), "aiconfigurator"))
        facts.append(_fact(chip, "scale_out_bytes_per_s", node.get("inter_rack_bw", node["inter_node_bw"]), "aiconfigurator"))
    return facts, dropped


def _epoch(raw: Path) -> tuple[list[Row], list[Dropped]]:
    name, facts, dropped = "epoch/ml_hardware_ai_accelerators.csv", [], []
    for row in read_csv(raw / name, (*_EPOCH_COLUMNS, *_EPOCH_UNUSED)):
        model = row["Hardware name"]
        chip = EPOCH.get(model)
        if chip is None:
            reason = next((why for pattern, why in _EPOCH_OUT if re.search(pattern, model)), "the generation is covered by its variants")
            dropped.append(Dropped(f"{model} (epochhardware)", reason))
            continue
        if row["Memory size per board (Byte)"]:
            dropped.append(Dropped(f"{chip} / memory_bytes (epochhardware)", "marketed decimal GB, not the bytes a program gets"))
        for column, quantities in _EPOCH_COLUMNS.items():
            value = to_float(row[column], name, model, column)
            facts += [_fact(chip, quantity, value, "epochhardware") for quantity in quantities if value is not None]
    return facts, dropped


def _llm_analysis(raw: Path) -> tuple[list[Row], list[Dropped]]:
    name, facts, dropped = "accelerator_specs/llm_analysis_gpu_configs.csv", [], []
    columns = ("config", "name", "mem_per_GPU_in_GB", "hbm_bandwidth_in_GB_per_sec", "intra_node_bandwidth_in_GB_per_sec",
               "intra_node_min_message_latency", "peak_fp16_TFLOPS", "peak_i8_TFLOPS", "peak_i4_TFLOPS",
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
            dropped.append(Dropped(f"{chip} / integer rates (llmanalysis)", "assumed as multiples of FP16; CDNA 2 runs INT8 at the FP16 rate"))
            continue
        add("peak_i8_TFLOPS", "dense_int8_ops", 1e12)
        if chip.startswith("H100"):
            dropped.append(Dropped(f"{chip} / dense_int4_ops (llmanalysis)", "Hopper has no INT4 tensor rate"))
        else:
            add("peak_i4_TFLOPS", "dense_int4_ops", 1e12)
    return facts, dropped


def _tool_tables(raw: Path) -> tuple[list[Row], list[Dropped]]:
    name, facts, dropped = "accelerator_specs/tool_spec_tables_compared.csv", [], []
    columns = ("source", "accelerator", "bf16_or_headline_tflops", "mem_gb", "mem_bw_gb_s", "interconnect_gb_s", "dense_or_sparse")
    for row in read_csv(raw / name, columns):
        chip, label = TOOL_TABLES.get(row["accelerator"]), f"{row['source'].split()[0]} {row['accelerator']} (tooltables)"
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


QUOTED = {  # models of Epoch's price sheet whose single-unit quotes say what a card costs to buy
    "NVIDIA H100 SXM5 80GB": "H100 SXM", "NVIDIA H100 PCIe": "H100 PCIe", "NVIDIA A100 SXM4 80 GB": "A100 SXM 80GB",
    "NVIDIA A100 PCIe": "A100 PCIe 80GB", "NVIDIA A40 PCIe": "A40", "NVIDIA RTX A6000": "RTX A6000",
    "NVIDIA GeForce RTX 4090": "RTX 4090", "NVIDIA GeForce RTX 3090": "RTX 3090", "AMD Radeon Instinct MI250": "MI250",
    "AMD Instinct MI300A": "MI300A", "NVIDIA H800 SXM5": "H800 SXM", "NVIDIA A800 PCIe": "A800 PCIe 80GB",
    "AMD Instinct MI300X": "MI300X", "NVIDIA Tesla V100 PCIe 16 GB": "V100 PCIe 16GB", "NVIDIA H200 SXM": "H200 SXM",
}  # fmt: skip
CHIP_PRICES = {"A100": ("A100 SXM 40GB", "A100 PCIe 40GB", "A100 SXM 80GB", "A100 PCIe 80GB"), "H100": ("H100 SXM",),
               "GB200": ("GB200",), "GB300": ("GB300",), "H20": ("H20",)}  # fmt: skip
_PRICE_COLUMNS = (
    "Price source", "Price date", "Hardware model", "Manufacturer", "Vendor", "Location", "Price per chip-hour (on-demand)",
    "Price per chip-hour (1-year CUD)", "Price per chip-hour (3-year CUD)", "Price (hardware purchase)", "Notes",
    "Cloud GPU description", "Number of GPUs",
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
            price, kind = to_float(text, "epoch/hardware_prices.csv", model, "price"), "share of a board of eight" if board else "single-unit quote"
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
    """Latest (chip, low, high, year) of Epoch's yearly NVIDIA prices; the header repeats names, so it is read by position."""
    name = "epoch/ai_chip_counts/Nvidia_annual_prices.csv"
    lines = [line for line in _cells(read_text(raw / name)) if line]
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


def _cells(text: str) -> list[list[str]]:
    import csv

    return list(csv.reader(text.splitlines()))


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
        dropped.append(Dropped(f"{row['accelerator']} / {row['quantity']} (bekman2026)", f"the main table has it from {winner['source']}, which {verdict}"))
    good, wrong = split_wrong(facts)
    return good, dropped + wrong


_STAS_RATES = {"fp32": "dense_fp32_flops", "tf32": "dense_tf32_flops", "fp16": "dense_fp16_flops", "bf16": "dense_bf16_flops",
               "fp8": "dense_fp8_flops", "int8": "dense_int8_ops", "fp6": "dense_fp6_flops", "nvfp4": "dense_fp4_flops",
               "fp4": "dense_fp4_flops"}  # fmt: skip


def _stas_facts(raw: Path) -> list[Row]:
    folder, facts = raw / "accelerator_specs", {}

    def add(name: str, quantity: str, value: float | None, note: str = "") -> None:
        if value is None:
            return
        if name in STAS_OUT:
            return
        if name not in STAS:
            raise RefreshError(f"ml-engineering tables: unknown accelerator {name!r}; add it to the importer or leave it out by a rule")
        facts.setdefault((STAS[name], quantity), _fact(STAS[name], quantity, value, "bekman2026", note))

    for kind in ("bf16", "fp8"):
        path = f"stas_mamf_measured_{kind}.csv"
        for row in read_csv(folder / path, ("Accelerator", "MAMF", "Theory", "Efficiency", "Best Shape MxNxK", "torch version", "Notes")):
            value = to_float(row["MAMF"], path, row["Accelerator"], "MAMF")
            note = f"best of many shapes ({row['Best Shape MxNxK']}), torch {row['torch version']}" + (f"; {row['Notes']}" if row["Notes"] else "")
            add(row["Accelerator"], f"measured_{kind}_matmul_flops", value and value * 1e12, note)
            if "H200 is the same" in row["Notes"]:
                add("NVIDIA H200 SXM", f"measured_{kind}_matmul_flops", value and value * 1e12, f"as H100 SXM, says the source; {note}")
    for end in ("shipping", "announced"):
        path = f"stas_dense_tflops_{end}.csv"
        for row in read_csv(folder / path, ("Accelerator \\ TFLOPS", *_STAS_RATES, "Notes")):
            name = row["Accelerator \\ TFLOPS"]
            for column, quantity in _STAS_RATES.items():
                value = to_float(row[column], path, name, column)
                add(name, quantity, value and value * 1e12)
        path = f"stas_memory_bw_{end}.csv"
        for row in read_csv(folder / path, ("Accelerator", "Memory (GB)", "Type", "Peak Bandwidth (TBps)")):
            size, speed = (to_float(row[c], path, row["Accelerator"], c) for c in ("Memory (GB)", "Peak Bandwidth (TBps)"))
            add(row["Accelerator"], "memory_bytes", size and size * 2**30, "marketed size, read as GiB: the stacks are built in powers of two")
            add(row["Accelerator"], "memory_bytes_per_s", speed and speed * 1e12)
    for row in read_csv(folder / "stas_power_spec.csv", ("Accelerator", "Power<br>spec (W)", "Vendor term", "Notes")):
        watts = to_float(row["Power<br>spec (W)"], "stas_power_spec.csv", row["Accelerator"], "Power")
        if watts is not None:
            add(row["Accelerator"], "tdp_watts", watts, row["Vendor term"])
    return list(facts.values())
