"""What the raw spec tables call the book's chips, which of their rows are left out, and which values are wrong."""

from __future__ import annotations

AICONFIGURATOR = {
    "a100_pcie": "A100 PCIe 80GB", "a100_sxm": "A100 SXM 80GB", "a30": "A30", "b200_sxm": "B200", "b300_sxm": "B300",
    "b60": "Arc Pro B60", "gb200": "GB200", "gb300": "GB300", "h100_pcie": "H100 PCIe", "h100_sxm": "H100 SXM",
    "h200_sxm": "H200 SXM", "l4": "L4", "l40s": "L40S", "rtx_pro_6000_server": "RTX PRO 6000",
}  # fmt: skip
"""System files of aiconfigurator."""

EPOCH = {
    "NVIDIA B300": "B300", "Google TPU v7 Ironwood": "TPU v7", "Amazon Trainium2": "Trainium2",
    "NVIDIA H200 SXM": "H200 SXM", "AMD Instinct MI325X": "MI325X", "Intel Habana Gaudi3": "Gaudi 3",
    "NVIDIA GB200 NVL2": "GB200", "Google TPU v6e Trillium": "TPU v6e", "NVIDIA B200": "B200",
    "AMD Instinct MI300X": "MI300X", "Google TPU v5p": "TPU v5p", "NVIDIA HGX H20": "H20", "NVIDIA L20 PCle": "L20",
    "Google TPU v5e": "TPU v5e", "NVIDIA GH200": "GH200", "AWS Inferentia2": "Inferentia2",
    "NVIDIA H800 SXM5": "H800 SXM", "NVIDIA L4": "L4", "AMD Instinct MI300A": "MI300A",
    "NVIDIA A800 PCIe 80 GB": "A800 PCIe 80GB", "NVIDIA L40": "L40", "NVIDIA GeForce RTX 4090": "RTX 4090",
    "NVIDIA H100 PCIe": "H100 PCIe", "NVIDIA H100 SXM5 80GB": "H100 SXM", "NVIDIA A800 SXM": "A800 SXM 80GB",
    "Intel Habana Gaudi2": "Gaudi 2", "AMD Radeon Instinct MI250": "MI250", "AMD Radeon Instinct MI250X": "MI250X",
    "NVIDIA GeForce RTX 3080 Ti": "RTX 3080 Ti", "Google TPU v4": "TPU v4", "NVIDIA A10 PCIe": "A10",
    "NVIDIA A30 PCIe": "A30", "NVIDIA A100 SXM4 80 GB": "A100 SXM 80GB", "NVIDIA A40 PCIe": "A40",
    "NVIDIA GeForce RTX 3090": "RTX 3090", "NVIDIA A100 PCIe": "A100 PCIe 80GB",
    "NVIDIA A100 SXM4 40 GB": "A100 SXM 40GB", "Google TPU v3": "TPU v3",
    "NVIDIA Tesla V100 PCIe 32 GB": "V100 PCIe 32GB", "NVIDIA Tesla V100 SXM2 32 GB": "V100 SXM 32GB",
    "NVIDIA Tesla V100 PCIe 16 GB": "V100 PCIe 16GB", "NVIDIA Tesla V100 SXM2 16 GB": "V100 SXM 16GB",
    "Google TPU v2": "TPU v2",
}  # fmt: skip
"""Rows of Epoch's hardware sheet."""

EPOCH_OUT = (
    (
        r"^Apple|MTT|Kunlun|Cambricon|MLU|Biren|MetaX|Tianshu|Hanguang|Ascend|Sunrise",
        "not sold as a data-center accelerator outside one home market, or no bandwidth or power published",
    ),
    (
        r"Cerebras|Groq|Dojo|MTIA|Maia",
        "not on the market as a chip, or its working memory is on-chip SRAM, which the cost models do not describe",
    ),
    (
        r"GeForce|Tesla P4|A16|L2 |V100S|DGXS|SXM3|TPU v4i|B100|GH100|A800 PCIe 40|Max 1",
        "a variant outside the set of this book",
    ),
)
"""Why a chip of Epoch's sheet is not in this book's tables: a pattern of names, and the reason."""

LLM_ANALYSIS = {
    "a10-pcie-28gb": "A10", "a10g-pcie-24gb": "A10G", "a6000-48gb": "RTX A6000", "a100-pcie-40gb": "A100 PCIe 40GB",
    "a100-pcie-80gb": "A100 PCIe 80GB", "a100-sxm-40gb": "A100 SXM 40GB", "a100-sxm-80gb": "A100 SXM 80GB",
    "h100-pcie-80gb": "H100 PCIe", "h100-sxm-80gb": "H100 SXM", "mi100-32gb": "MI100", "mi210-64gb": "MI210",
    "mi250-128gb": "MI250", "mi250x-128gb": "MI250X", "v100-pcie-16gb": "V100 PCIe 16GB",
    "v100-pcie-32gb": "V100 PCIe 32GB", "v100-sxm-16gb": "V100 SXM 16GB", "v100-sxm-32gb": "V100 SXM 32GB",
}  # fmt: skip
"""Rows of llm-analysis."""

TOOL_TABLES = {
    "A100_40GB": "A100 SXM 40GB", "A100_80GB": "A100 SXM 80GB", "H100": "H100 SXM", "GH200": "GH200 144GB",
    "GB200": "GB200", "TPUv6e": "TPU v6e", "TPUv5e": "TPU v5e", "TPUv5p": "TPU v5p", "TPUv4": "TPU v4",
    "MI300X": "MI300X", "MI325X": "MI325X", "Gaudi3": "Gaudi 3", "V100": "V100 PCIe 16GB", "A6000": "RTX A6000",
    "A100_40G": "A100 SXM 40GB", "A100_80G": "A100 SXM 80GB", "A40": "A40", "H100_SXM": "H100 SXM",
    "H100_PCIe": "H100 PCIe", "L40": "L40", "TPU v3": "TPU v3", "TPU v4p": "TPU v4", "TPU v5p": "TPU v5p",
    "TPU v5e": "TPU v5e", "TPU v6e": "TPU v6e",
}  # fmt: skip
"""Rows of the tables of GenZ, LLM-Viewer and the scaling book."""

STAS = {
    "NVIDIA GB300 SXM": "GB300", "NVIDIA GB200 SXM": "GB200", "AMD MI355X": "MI355X", "Google TPU v7x": "TPU v7",
    "NVIDIA B300 SXM": "B300", "NVIDIA B200 SXM": "B200", "Intel Gaudi3": "Gaudi 3", "Intel Gaudi 3": "Gaudi 3",
    "AMD MI325X": "MI325X", "AMD MI300X": "MI300X", "NVIDIA H200 SXM": "H200 SXM", "NVIDIA H100 SXM": "H100 SXM",
    "NVIDIA GH200 SXM": "GH200 144GB", "NVIDIA GH200 SXM (1)": "GH200", "NVIDIA GH200 SXM (2)": "GH200 144GB",
    "Google TPU v6e": "TPU v6e", "NVIDIA H100 PCIe": "H100 PCIe", "AWS Trainium2 / Ultra": "Trainium2",
    "Google TPU v5p": "TPU v5p", "Intel Gaudi2": "Gaudi 2", "Intel Gaudi 2": "Gaudi 2", "AMD MI250X": "MI250X",
    "NVIDIA L40S": "L40S", "AMD MI250": "MI250", "NVIDIA A100 SXM": "A100 SXM 80GB",
    "NVIDIA A100 PCIe": "A100 PCIe 80GB", "Google TPU v4": "TPU v4", "Google TPU v5e": "TPU v5e",
    "AMD MI455X": "MI455X", "NVIDIA Rubin SXM": "Rubin", "Huawei Ascend 950DT": "Ascend 950DT", "AMD MI350X": "MI350X",
    "NVIDIA H200 NVL": "H200 NVL", "NVIDIA RTX PRO 6000": "RTX PRO 6000", "NVIDIA H100 NVL": "H100 NVL",
}  # fmt: skip
"""Rows of ml-engineering's tables."""

STAS_OUT = {
    "AMD MI350P": "only its power is given", "Google TPUs": "no figure given",
}  # fmt: skip
"""Rows of ml-engineering's tables that are left out, and why."""

QUOTED = {
    "NVIDIA H100 SXM5 80GB": "H100 SXM", "NVIDIA H100 PCIe": "H100 PCIe", "NVIDIA A100 SXM4 80 GB": "A100 SXM 80GB",
    "NVIDIA A100 PCIe": "A100 PCIe 80GB", "NVIDIA A40 PCIe": "A40", "NVIDIA RTX A6000": "RTX A6000",
    "NVIDIA GeForce RTX 4090": "RTX 4090", "NVIDIA GeForce RTX 3090": "RTX 3090", "AMD Radeon Instinct MI250": "MI250",
    "AMD Instinct MI300A": "MI300A", "NVIDIA H800 SXM5": "H800 SXM", "NVIDIA A800 PCIe": "A800 PCIe 80GB",
    "AMD Instinct MI300X": "MI300X", "NVIDIA Tesla V100 PCIe 16 GB": "V100 PCIe 16GB", "NVIDIA H200 SXM": "H200 SXM",
}  # fmt: skip
"""Models of Epoch's price sheet whose single-unit quotes say what a card costs to buy."""

CHIP_PRICES = {
    "A100": ("A100 SXM 40GB", "A100 PCIe 40GB", "A100 SXM 80GB", "A100 PCIe 80GB"), "H100": ("H100 SXM",),
    "GB200": ("GB200",), "GB300": ("GB300",), "H20": ("H20",),
}  # fmt: skip
"""Families of Epoch's yearly NVIDIA prices, and the chips they stand for."""

_FP16_ACCUMULATE = "the figure accumulates in FP16; with FP32 accumulate GeForce chips run at half of it"
WRONG = {  # (source, accelerator, quantity): why this value is not taken
    ("aiconfigurator", "B200", "scale_out_bytes_per_s"): "100 GB/s is twice the 400 Gb/s a DGX B200 gives each GPU",
    ("aiconfigurator", "GB200", "scale_out_bytes_per_s"):
        "the GB200 NVL72 has one 400 Gb/s ConnectX-7 a GPU; 800 Gb/s came with GB300",
    ("aiconfigurator", "Arc Pro B60", "dense_fp8_flops"):
        "the chip has no FP8 matrix unit; the file repeats the BF16 figure",
    ("aiconfigurator", "L4", "memory_bytes"): "24 GiB is the fitted memory; ECC leaves 23,034 MiB",
    ("aiconfigurator", "H200 SXM", "memory_bytes"): "141 read as GiB; the driver reports 143,771 MiB",
    ("aiconfigurator", "B200", "memory_bytes"): "180 read as GiB; the driver reports 183,359 MiB",
    ("epochhardware", "B300", "tdp_watts"):
        "1,750 W is a share of the whole DGX; the chip is configurable to 1,100 W",
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
    ("epochhardware", "GB200", "dense_fp32_flops"):
        "90 TFLOPS is half of an NVL2 board; the NVL72 datasheet gives 80 a GPU",
    ("epochhardware", "MI250", "dense_tf32_flops"):
        "CDNA 2 has no TF32; 90.5 TFLOPS is packed FP32 on the matrix unit",
    ("epochhardware", "MI250X", "dense_tf32_flops"):
        "CDNA 2 has no TF32; 95.7 TFLOPS is packed FP32 on the matrix unit",
    ("llmanalysis", "A10", "memory_bytes"): "28 GB is wrong: an A10 has 24",
    ("llmanalysis", "V100 SXM 16GB", "memory_bytes"): "32 GB is wrong: this is the 16 GB part",
    ("tooltables", "Gaudi 3", "dense_bf16_flops"): "1,835 TFLOPS is early marketing; the shipping part gives 1,677",
    ("tooltables", "H100 SXM", "memory_bytes_per_s"):
        "3,072 GB/s is too low and 3,400 rounded; the datasheet states 3,350",
    ("bekman2026", "B300", "dense_int8_ops"): "the chip cuts INT8 to about 154 TOPS; 4,500 is B200's",
    ("bekman2026", "GB300", "dense_int8_ops"): "the chip cuts INT8 to about 165 TOPS; 5,000 is GB200's",
    ("bekman2026", "B200", "dense_fp4_flops"): "the table gives 9,000 and 10,000; one datasheet is taken (9,000)",
    ("bekman2026", "B300", "dense_fp4_flops"): "12,600 and 15,000 contradict the datasheet",
    ("bekman2026", "TPU v6e", "dense_fp8_flops"): "no faster than BF16: the chip has no FP8 unit",
    **{("epochhardware", f"V100 {form} {size}GB", "dense_bf16_flops"): "Volta has no BF16; the column holds FP16 here"
       for form in ("SXM", "PCIe") for size in (16, 32)},
    **{("epochhardware", f"TPU {version}", "dense_fp16_flops"): "TPUs multiply BF16, not FP16"
       for version in ("v2", "v3", "v4", "v5e", "v5p", "v6e")},
    **{("bekman2026", f"TPU {version}", "dense_fp16_flops"): "TPUs multiply BF16, not FP16"
       for version in ("v6e", "v7")},
}  # fmt: skip
