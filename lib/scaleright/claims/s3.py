"""Recomputations of S3 (Navigating the High Cost of AI Compute): rules of thumb, time and money of GPT-3."""

from __future__ import annotations

from scaleright import catalog, transformer
from scaleright.claims.ledger import Condition, Recomputed, recomputes, stated
from scaleright.costs.rent import compute_usd
from scaleright.units import HOURS_PER_YEAR, SECONDS_PER_HOUR, SECONDS_PER_YEAR, WATTS_PER_KILOWATT

YEARS = 3.0
"""Life of a card in S3's power example."""


def _gpt3():
    return catalog.model("GPT-3 175B")


def _size() -> int:
    return transformer.parameters(_gpt3()).total


def _tokens() -> float:
    return catalog.fact("gpt3_prompt_tokens")


def _inference_flop() -> float:
    return transformer.inference_flop(_size(), _tokens())


def _training_flop() -> float:
    return transformer.training_flop(_size(), catalog.fact("gpt3_training_tokens"))


def _a100():
    return catalog.accelerator("A100 80GB SXM")


def _exact_per_parameter(context: int) -> float:
    return transformer.forward_flop(_gpt3(), context).total / _size()


GPT3 = f"GPT-3 = 96 layers x 12,288 (models, brown2020)"


@recomputes("S3-rule-inference")
def rule_inference() -> Recomputed:
    short, long = _exact_per_parameter(1), _exact_per_parameter(2048)
    return Recomputed(
        short, "transformer.forward_flop(GPT-3, context)", (GPT3, "context = 1 to 2,048 tokens"),
        "exact for GPT-3 within its own context; attention adds to it as the context grows", low=short, high=long,
    )


@recomputes("S3-rule-training")
def rule_training() -> Recomputed:
    value = transformer.training_flop_per_token(transformer.forward_flop(_gpt3(), 2048).total) / _size()
    return Recomputed(
        value, "transformer.training_flop_per_token(forward_flop(GPT-3, 2048))", (GPT3, "context = 2,048 tokens"),
        "three forward passes' worth of work; attention adds the rest", low=3 * _exact_per_parameter(1), high=value,
    )


@recomputes("S3-inference-flop")
def inference_flop() -> Recomputed:
    exact = transformer.forward_flop(_gpt3(), int(_tokens())).total * _tokens()
    return Recomputed(
        _inference_flop(), "transformer.inference_flop(parameters, 1024)", (GPT3, "tokens = 1,024 (S3)"),
        "2 x 174.6 billion x 1,024 is 358 TFLOP, with attention more", low=_inference_flop(), high=exact,
        conditions=(Condition("1,000 tokens instead of 1,024", *[transformer.inference_flop(_size(), 1000.0)] * 2),),
    )


@recomputes("S3-training-flop")
def training_flop() -> Recomputed:
    return Recomputed(
        _training_flop(), "transformer.training_flop(parameters, 300e9)", (GPT3, "tokens = 300e9 (brown2020)"),
        "6 x 174.6 billion x 300 billion tokens",
    )


@recomputes("S3-weights-fp32")
def weights_fp32() -> Recomputed:
    return Recomputed(
        transformer.weight_bytes(_size(), 4), "transformer.weight_bytes(parameters, 4)", (GPT3,), "4 bytes each",
    )


@recomputes("S3-weights-fit")
def weights_fit() -> Recomputed:
    memory = catalog.fact("a100_first_gpu_memory_2023_bytes")
    return Recomputed(memory, "catalog.fact", ("memory = 80 GiB (nvidia2020a100)",), "80 GiB was the most one GPU had in April 2023")


@recomputes("S3-extra-bytes")
def extra_bytes() -> Recomputed:
    return Recomputed(
        12.0, "gradient 4 B + two Adam moments 4 B each", ("Adam in FP32 = gradient and two moments (korthikanti2022)",),
        "a gradient and Adam's two moments are three more numbers of 4 bytes",
        conditions=(Condition("an optimizer with one moment, or Adam with gradients not stored", 8.0, 8.0),),
    )


@recomputes("S3-training-memory")
def training_memory() -> Recomputed:
    return Recomputed(
        transformer.weight_bytes(_size(), 16), "transformer.weight_bytes(parameters, 16)", (GPT3, "FP32 Adam = 16 B per parameter"),
        "16 bytes per parameter before any activation",
    )


@recomputes("S3-small-gpu")
def small_gpu() -> Recomputed:
    value = 12e9 / (4 + stated("S3-extra-bytes"))
    return Recomputed(
        value, "12e9 / (4 + 8)", ("bytes per parameter = 4 + 8 (S3 itself)",),
        "by its own 12 bytes per parameter, 12 GB train one billion; four billion need 48 GB", internal=True,
    )


@recomputes("S3-cpu-seconds")
def cpu_seconds() -> Recomputed:
    value = transformer.compute_seconds(stated("S3-inference-flop"), catalog.fact("cpu_clock_hz"), 1.0)
    return Recomputed(value, "transformer.compute_seconds(350e12, 3e9, 1)", ("clock = 3 GHz (S3)",), "the division is right", internal=True)


@recomputes("S3-cpu-hours")
def cpu_hours() -> Recomputed:
    clock, lanes = catalog.fact("cpu_clock_hz"), catalog.fact("cpu_fp32_flop_per_cycle")
    hours = transformer.compute_seconds(_inference_flop(), clock * lanes, 1.0) / SECONDS_PER_HOUR
    scalar = stated("S3-cpu-seconds") / SECONDS_PER_HOUR
    return Recomputed(
        hours, "transformer.compute_seconds(358e12, 3e9 x 32, 1)", ("FLOP per cycle = 32 (fog2024)",),
        "one core with two 256-bit multiply-add units does 32 operations a cycle, not one",
        conditions=(Condition("one operation a cycle, no vector units", scalar, scalar),),
    )


@recomputes("S3-tensor-cores")
def tensor_cores() -> Recomputed:
    full = catalog.fact("ga100_full_tensor_cores")
    return Recomputed(
        catalog.fact("a100_tensor_cores"), "catalog.fact", ("108 multiprocessors x 4 (nvidia2020a100)",), "the A100 has 108 multiprocessors of 4",
        conditions=(Condition("the full GA100 die, which is not sold", full, full),),
    )


@recomputes("S3-tensor-flop")
def tensor_flop() -> Recomputed:
    volta = catalog.fact("v100_tensor_core_flop_per_cycle")
    return Recomputed(
        catalog.fact("a100_tensor_core_flop_per_cycle"), "catalog.fact", ("256 FMA per core and cycle (nvidia2020a100)",), "256 multiply-adds a cycle",
        conditions=(Condition("the V100, one generation older", volta, volta),),
    )


@recomputes("S3-tensor-product")
def tensor_product() -> Recomputed:
    value = stated("S3-tensor-cores") * stated("S3-tensor-flop") * catalog.fact("a100_boost_clock_hz")
    return Recomputed(
        value, "512 x 128 x 1.41e9", ("clock = 1.41 GHz (nvidia2020a100)",),
        "512 cores of 128 operations make 92 TFLOPS; 432 of 512 make the 312", internal=True,
    )


@recomputes("S3-a100-peak")
def a100_peak() -> Recomputed:
    return Recomputed(_a100().peak_flops("bf16"), "catalog.accelerator('A100').peak_flops('bf16')", ("accelerators",), "dense BF16 peak")


@recomputes("S3-a100-second")
def a100_second() -> Recomputed:
    chip = _a100()
    prefill = transformer.compute_seconds(_inference_flop(), chip.peak_flops("bf16"), 1.0)
    decode = transformer.memory_seconds(transformer.weight_bytes(_size(), 2), chip.require("memory_bytes_per_s"), 1.0) * _tokens()
    return Recomputed(
        decode, "transformer.memory_seconds(weights, bandwidth, 1) x 1024", ("2 B per weight", "bandwidth (accelerators)"),
        "generating tokens one by one reads all weights each time: memory bandwidth, not arithmetic, sets the pace",
        conditions=(Condition("1,024 prompt tokens read in one pass at peak, weights held by enough GPUs", prefill, prefill),),
    )


@recomputes("S3-train-vs-infer")
def train_vs_infer() -> Recomputed:
    forward = transformer.forward_flop(_gpt3(), 2048).total
    return Recomputed(transformer.training_flop_per_token(forward) / forward, "training_flop_per_token / forward_flop", (GPT3,), "forward plus a backward of twice the work")


@recomputes("S3-dataset-ratio")
def dataset_ratio() -> Recomputed:
    return Recomputed(catalog.fact("gpt3_training_tokens") / _tokens(), "300e9 / 1024", ("tokens = 300e9 (brown2020)",), "300 billion over 1,024 tokens")


@recomputes("S3-billion-times")
def billion_times() -> Recomputed:
    return Recomputed(_training_flop() / _inference_flop(), "training_flop / inference_flop", (GPT3,), "three times 293 million")


def decades_on_one_a100() -> Recomputed:
    """GPT-3 on a single A100, from its peak to the utilization measured for this model and chip."""
    at = lambda mfu: transformer.compute_seconds(_training_flop(), _a100().peak_flops("bf16"), mfu) / SECONDS_PER_YEAR  # noqa: E731
    measured = catalog.fact("gpt3_size_mfu_a100")
    return Recomputed(
        at(measured), "transformer.compute_seconds(3.14e23, 312e12, mfu)", (f"mfu = {measured} (korthikanti2022) to 1",),
        "32 years at peak, twice that at the utilization measured for this model", low=at(1.0), high=at(measured),
    )


recomputes("S3-decades")(decades_on_one_a100)


@recomputes("S3-llama-more")
def llama_more() -> Recomputed:
    size = lambda name: transformer.parameters(catalog.model(name)).total  # noqa: E731
    big = transformer.training_flop(size("LLaMA-65B"), catalog.fact("llama_65b_training_tokens")) / _training_flop()
    small = transformer.training_flop(size("LLaMA-13B"), catalog.fact("llama_13b_training_tokens")) / _training_flop()
    return Recomputed(
        big, "training_flop(LLaMA) / training_flop(GPT-3)", ("tokens = 1.0e12 and 1.4e12 (touvron2023)",),
        "the largest LLaMA took 1.7 times GPT-3's compute, the 13B a quarter", low=small, high=big,
    )


@recomputes("S3-speed-bits")
def speed_bits() -> Recomputed:
    chip = _a100()
    ratio = chip.peak_flops("bf16") / chip.peak_flops("fp32")
    tensor = chip.peak_flops("bf16") / chip.peak_flops("tf32")
    return Recomputed(
        ratio, "A100 dense bf16 / fp32", ("accelerators",), "leaving FP32 also moves the work onto tensor cores",
        conditions=(Condition("both on tensor cores (TF32 to BF16), or bound by memory", tensor, tensor),),
    )


def _usd_per_thousand(usd_per_hour: float, mfu: float = 1.0) -> float:
    flop = transformer.inference_flop(_size(), 1000.0)
    return compute_usd(flop, _a100().peak_flops("bf16"), mfu, usd_per_hour)


def _a100_prices_2023() -> tuple[float, float, float]:
    listed = catalog.rental_prices()
    a100 = listed[listed["accelerator"].str.startswith("A100") & (listed["date"].dt.year == 2023)]["usd_per_accelerator_hour"]
    return float(a100.min()), float(a100.median()), float(a100.max())


def _token_cost(why: str) -> Recomputed:
    low, middle, high = _a100_prices_2023()
    return Recomputed(
        _usd_per_thousand(middle), "costs.rent.compute_usd(350e12, 312e12, 1, usd_per_hour)",
        (f"A100 = ${low:g} to ${high:g} an hour (rental_prices, 2023)",), why, low=_usd_per_thousand(low), high=_usd_per_thousand(high),
    )


@recomputes("S3-usd-low")
def usd_low() -> Recomputed:
    return _token_cost("at peak speed and the A100 prices listed in 2023")


@recomputes("S3-usd-high")
def usd_high() -> Recomputed:
    return _token_cost("at peak speed and the A100 prices listed in 2023")


@recomputes("S3-usd-spread")
def usd_spread() -> Recomputed:
    return Recomputed(
        stated("S3-usd-high") / stated("S3-usd-low"), "0.0014 / 0.0002", ("both ends from S3 itself",),
        "the same work spans seven times in cost, though prices span four", internal=True,
    )


@recomputes("S3-train-usd")
def train_usd() -> Recomputed:
    low, middle, high = _a100_prices_2023()
    mfu = catalog.fact("gpt3_size_mfu_a100")
    cost = lambda price, use: compute_usd(_training_flop(), _a100().peak_flops("bf16"), use, price)  # noqa: E731
    return Recomputed(
        cost(middle, mfu), "costs.rent.compute_usd(3.14e23, 312e12, mfu, usd_per_hour)",
        (f"mfu = {mfu} (korthikanti2022)", f"A100 = ${low:g} to ${high:g} an hour (rental_prices, 2023)"),
        "the best published run of this model reached 51 % of peak, so the bill doubles before failures and experiments",
        low=cost(low, mfu), high=cost(high, mfu),
        conditions=(Condition("100 % utilization at $2.00 an hour", cost(2.0, 1.0), cost(2.0, 1.0)),),
    )


def _v100_estimate() -> float:
    return compute_usd(_training_flop(), catalog.fact("gpt3_v100_achieved_flops"), 1.0, catalog.fact("gpt3_v100_usd_per_hour"))


@recomputes("S3-train-usd-range")
def train_usd_range() -> Recomputed:
    mfu = catalog.fact("gpt3_size_mfu_a100")
    value = compute_usd(_training_flop(), _a100().peak_flops("bf16"), mfu, _a100_prices_2023()[1])
    return Recomputed(value, "costs.rent.compute_usd", (f"mfu = {mfu} (korthikanti2022)",), "A100 with measured utilization lies inside")


@recomputes("S3-train-usd-top")
def train_usd_top() -> Recomputed:
    return Recomputed(
        _v100_estimate(), "costs.rent.compute_usd(3.14e23, 28e12, 1, 1.5)", ("28 TFLOPS and $1.50 an hour (lambda2020)",),
        "355 years of one V100 at 28 TFLOPS achieved",
    )


@recomputes("S3-two-3080ti")
def two_3080ti() -> Recomputed:
    card, big = catalog.accelerator("RTX 3080 Ti"), _a100()
    fp32 = 2 * card.peak_flops("fp16") / big.peak_flops("fp16")
    fp16 = 2 * fp32
    return Recomputed(
        fp32, "2 x dense fp16 (FP32 accumulate) / A100", ("accelerators",), "with the FP32 accumulation that training uses, two cards have 44 % of an A100",
        conditions=(Condition("FP16 accumulation, where the card does not halve its rate, within 15 %", fp16, 1.15 * fp16),),
    )


@recomputes("S3-700-watts")
def watts_cards() -> Recomputed:
    return Recomputed(2 * catalog.accelerator("RTX 3080 Ti").require("tdp_watts"), "2 x tdp_watts", ("accelerators",), "board power of two cards")


@recomputes("S3-300-watts")
def watts_a100() -> Recomputed:
    pcie, sxm = catalog.accelerator("A100 80GB PCIe").require("tdp_watts"), _a100().require("tdp_watts")
    return Recomputed(
        sxm, "tdp_watts", ("accelerators",), "the module in servers draws 400 W",
        conditions=(Condition("the PCIe card", pcie, pcie),),
    )


def _difference_kwh() -> float:
    return (stated("S3-700-watts") - stated("S3-300-watts")) / WATTS_PER_KILOWATT * HOURS_PER_YEAR * YEARS


@recomputes("S3-3500-kwh")
def difference_kwh() -> Recomputed:
    return Recomputed(
        _difference_kwh(), "(700 - 300) W x 8,766 h x 3 years", ("watts from S3 itself",),
        "400 W around the clock is 3,500 kWh in one year, 10,500 in three", slips=(("a year's energy given for three years", 3.0),), internal=True,
    )


@recomputes("S3-power-usd")
def difference_usd() -> Recomputed:
    return Recomputed(
        _difference_kwh() * 0.10, "10,519 kWh x $0.10", ("price = $0.10/kWh (S3)",),
        "three years at $0.10 cost $1,050, which only follows from 10,500 kWh", internal=True,
    )
